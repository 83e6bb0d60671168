"""Known mistakes in transpose_output; their pages are in transpose_output.md."""

from grader.authoring import dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "heads-joined-straight",
        edit("    X = X.permute(0, 2, 1, 3)  # (B, T, H, d)\n", ""),
        says="the heads are reshaped to features without moving the head axis next to them first",
        asks="After joining, do the features of one step come from one head or from all heads?",
    ),
    mistake(
        "heads-joined-interleaved",
        edit("X.permute(0, 2, 1, 3)", "X.permute(0, 2, 3, 1)"),
        says="the features of the heads are interleaved instead of concatenated",
        asks="Is the element after the first feature of head 0 its second feature, or a feature of head 1?",
    ),
    mistake(
        "heads-averaged-and-repeated",
        edit(
            "return X.reshape(batch, steps, num_heads * head_size)",
            "return X.mean(dim=2).repeat(1, 1, num_heads)",
        ),
        says="the heads are averaged and the mean is repeated instead of concatenating the heads",
        asks="Can the next layer distinguish the result of head 0 from the result of head 1?",
    ),
    mistake(
        "heads-summed",
        edit("return X.reshape(batch, steps, num_heads * head_size)", "return X.sum(dim=2)"),
        says="the heads of a step are added up instead of concatenated",
        asks="How many features does a step have after all its heads are joined?",
    ),
    mistake(
        "heads-joined-across-sequences",
        edit(
            "X.reshape(batch, num_heads, steps, head_size)",
            "X.reshape(num_heads, batch, steps, head_size)",
        ),
        edit("permute(0, 2, 1, 3)", "permute(1, 2, 0, 3)"),
        says="the rows are read as if head 0 of all sequences came first, so different sequences are joined",
        asks="Are the rows of the first sequence next to each other or far apart?",
    ),
    mistake(
        "heads-taken-for-sequences",
        edit(
            "X.reshape(batch, num_heads, steps, head_size)",
            "X.reshape(num_heads, batch, steps, head_size)",
        ),
        edit(
            "X.reshape(batch, steps, num_heads * head_size)",
            "X.reshape(num_heads, steps, batch * head_size)",
        ),
        says="the number of heads is used as the number of sequences",
        asks="From one row to the next, does the head change faster or the sequence?",
    ),
    mistake(
        "heads-split-again",
        edit(
            "X.reshape(batch, num_heads, steps, head_size)",
            "X.reshape(rows, steps, num_heads, head_size // num_heads)",
        ),
        edit(
            "X.reshape(batch, steps, num_heads * head_size)",
            "X.reshape(rows * num_heads, steps, head_size // num_heads)",
        ),
        says="the heads are split a second time instead of being joined",
        asks="Should your result have more rows than the input or fewer?",
    ),
    mistake(
        "heads-joined-in-reverse",
        edit("permute(0, 2, 1, 3)", "flip(1).permute(0, 2, 1, 3)"),
        says="the heads are joined in reverse order",
        asks="Which head do the first features of a step come from?",
        kind="different",
    ),
    mistake(
        "heads-first-repeated",
        edit("permute(0, 2, 1, 3)", "permute(0, 2, 1, 3)[:, :, :1].expand(-1, -1, num_heads, -1)"),
        says="head 0 is repeated in the places of all other heads",
        asks="Change a value in the last row of the input. Does your result change?",
    ),
    mistake(
        "heads-not-joined",
        edit("X.reshape(batch, steps, num_heads * head_size)", "X"),
        says="the heads are next to their features, but still on an axis of their own",
        asks="Which two axes do you still have to merge?",
    ),
    mistake(
        "heads-joined-in-time",
        edit("    X = X.permute(0, 2, 1, 3)  # (B, T, H, d)\n", ""),
        edit(
            "X.reshape(batch, steps, num_heads * head_size)",
            "X.reshape(batch, num_heads * steps, head_size)",
        ),
        says="the heads are concatenated along the steps instead of the features",
        asks="Should joining heads add steps or features?",
    ),
    mistake(
        "heads-joined-view-refused",
        edit("return X.reshape(", "return X.view("),
        says="view is called after the axes were swapped, which raises an error",
        asks="Are the elements that you want to merge next to each other in memory?",
    ),
    mistake(
        "heads-joined-detached",
        edit("X = X.permute", "X = X.detach().permute"),
        says="the values are right, but no gradient reaches the heads",
        asks="Through which tensor does the loss reach the heads?",
    ),
    dtype_mistake(
        "join-into-float32",
        edit(
            "return X.reshape(batch, steps, num_heads * head_size)",
            """
            joined = torch.zeros(batch, steps, num_heads * head_size, device=X.device)
            joined[:] = X.reshape(batch, steps, num_heads * head_size)
            return joined
            """,
        ),
        says="the joined features are written into a new tensor in single precision",
        asks="Which dtype does a new tensor have when you do not pass one?",
    ),
    mistake(
        "heads-averaged",
        edit(
            "X = X.permute(0, 2, 1, 3)  # (B, T, H, d)\n    return X.reshape(batch, steps, num_heads * head_size)",
            "return X.mean(dim=1)",
        ),
        says="the heads are averaged instead of put next to each other",
        asks="How many features should a step have after joining, and how many does a mean leave?",
    ),
    mistake(
        "heads-joined-from-neighbouring-rows",
        edit(
            "X = X.reshape(batch, num_heads, steps, head_size)  # (B, H, T, d)",
            "X = torch.stack([X[b : b + num_heads] for b in range(batch)])",
        ),
        says="sequence b takes the rows from b on, so only the first sequence gets its own heads",
        asks="At which row do the heads of the second sequence begin?",
    ),
    mistake(
        "heads-counted-as-sequences",
        edit(
            "return X.reshape(batch, steps, num_heads * head_size)",
            "return X.reshape(rows, steps, head_size)",
        ),
        says="the last reshape uses the number of rows from before the split, so the heads stay apart",
        asks="How many sequences are there, and how many rows came in?",
    ),
    mistake(
        "heads-single-sequence-squeezed",
        edit(
            "return X.reshape(batch, steps, num_heads * head_size)",
            "return X.reshape(batch, steps, num_heads * head_size).squeeze(0)",
        ),
        says="a batch of a single sequence loses its batch axis",
        asks="Which shape should the result have for one sequence?",
    ),
]
