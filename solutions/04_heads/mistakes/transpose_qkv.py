"""Known mistakes in transpose_qkv; their pages are in transpose_qkv.md."""

from grader.authoring import dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "heads-cut-straight",
        edit(
            "X.reshape(batch, steps, num_heads, head_size)",
            "X.reshape(batch, num_heads, steps, head_size)",
        ),
        edit("    X = X.permute(0, 2, 1, 3)  # (B, H, T, d)\n", ""),
        says=(
            "the tensor is reshaped to heads without moving the head axis, so a head gets features of the "
            "wrong steps"
        ),
        asks=(
            "Reshaping keeps the elements in their order. Are the features of head 0 of all steps next to "
            "each other in the input?"
        ),
    ),
    mistake(
        "heads-interleaved",
        edit(
            "X.reshape(batch, steps, num_heads, head_size)",
            "X.reshape(batch, steps, head_size, num_heads)",
        ),
        edit("permute(0, 2, 1, 3)", "permute(0, 3, 1, 2)"),
        says="each head gets features at regular intervals instead of neighbouring features",
        asks="Are the features of head 0 the first few features, or one from each group?",
        kind="different",
    ),
    mistake(
        "heads-before-sequences",
        edit("X.permute(0, 2, 1, 3)", "X.permute(2, 0, 1, 3)"),
        says="the rows contain head 0 of all sequences first, then head 1 of all sequences",
        asks="Which sequence does the second row of your result belong to, and which should it belong to?",
        kind="different",
    ),
    mistake(
        "heads-left-on-an-axis",
        edit("X.reshape(batch * num_heads, steps, head_size)", "X"),
        says="the heads are split correctly, but stay on an axis of their own instead of joining the batch",
        asks="How many axes does the attention expect, and how many does your result have?",
    ),
    mistake(
        "heads-and-steps-exchanged",
        edit(
            "X.reshape(batch * num_heads, steps, head_size)",
            "X.reshape(batch * steps, num_heads, head_size)",
        ),
        says="the number of heads and the number of steps are swapped in the last reshape",
        asks="Which two axes do you merge, and which one should remain between the rows and the features?",
    ),
    mistake(
        "heads-count-for-size",
        edit(
            "X.reshape(batch, steps, num_heads, head_size)",
            "X.reshape(batch, steps, head_size, num_heads)",
        ),
        says="the number of heads and the size of a head are swapped when the features are split",
        asks="With eight features and two heads, how many features does each head get?",
    ),
    mistake(
        "heads-features-before-steps",
        edit("X.permute(0, 2, 1, 3)", "X.permute(0, 2, 3, 1)"),
        says="steps and features of each head are swapped before the last reshape",
        asks="In which order should the last two axes be before the last reshape?",
    ),
    mistake(
        "heads-lying-on-their-side",
        edit("X.permute(0, 2, 1, 3)", "X.permute(0, 2, 3, 1)"),
        edit(
            "X.reshape(batch * num_heads, steps, head_size)",
            "X.reshape(batch * num_heads, head_size, steps)",
        ),
        says="each head is transposed: it has features as rows and steps as columns",
        asks="In which order are the last two axes of your result, and in which order should they be?",
    ),
    mistake(
        "heads-split-the-steps",
        edit(
            "X.reshape(batch, steps, num_heads, head_size)",
            "X.reshape(batch, num_heads, steps // num_heads, num_hiddens)",
        ),
        edit("    X = X.permute(0, 2, 1, 3)  # (B, H, T, d)\n", ""),
        edit(
            "X.reshape(batch * num_heads, steps, head_size)",
            "X.reshape(batch * num_heads, steps // num_heads, num_hiddens)",
        ),
        says="the steps are divided among the heads instead of the features",
        asks="Should a head see some features of every step, or all features of some steps?",
    ),
    mistake(
        "heads-batch-and-steps-mixed",
        edit("X.permute(0, 2, 1, 3)", "X.permute(2, 1, 0, 3)"),
        says="the head axis is swapped with the batch axis instead of the step axis",
        asks="Which axis must keep its position when the heads move?",
    ),
    mistake(
        "heads-in-reverse",
        edit("X.permute(0, 2, 1, 3)", "X.flip(2).permute(0, 2, 1, 3)"),
        says="the heads are in reverse order: the last features become the first head",
        asks="Which features are in row 0?",
        kind="different",
    ),
    mistake(
        "heads-all-the-first",
        edit("X.permute(0, 2, 1, 3)", "X[:, :, :1].expand_as(X).permute(0, 2, 1, 3)"),
        says="every head gets the features of head 0",
        asks="Where are the last features of a step in your result?",
    ),
    mistake(
        "heads-repeated-not-split",
        edit(
            "X.reshape(batch, steps, num_heads, head_size)",
            "X[:, :, None].expand(batch, steps, num_heads, num_hiddens)",
        ),
        edit("steps, head_size)", "steps, num_hiddens)"),
        says="every head gets a copy of all features instead of its own part",
        asks="How many elements does your input have, and how many does your result have?",
    ),
    mistake(
        "heads-view-refused",
        edit("return X.reshape(", "return X.view("),
        says="view is called after the axes were swapped, which raises an error",
        asks="Are the elements still in memory in the order in which you want to read them?",
    ),
    mistake(
        "heads-detached",
        edit("X = X.permute", "X = X.detach().permute"),
        says="the values are right, but no gradient reaches the input",
        asks="Which tensors is your result still connected to when `backward` runs?",
    ),
    dtype_mistake(
        "split-into-float32",
        edit(
            "return X.reshape(batch * num_heads, steps, head_size)",
            """
            rows = torch.zeros(batch * num_heads, steps, head_size, device=X.device)
            rows[:] = X.reshape(batch * num_heads, steps, head_size)
            return rows
            """,
        ),
        says="the heads are written into a new tensor in single precision",
        asks="Which dtype does a new tensor have when you do not pass one?",
    ),
    mistake(
        "heads-pieces-of-num-heads",
        edit(
            "X = X.reshape(batch, steps, num_heads, head_size)  # (B, T, H, d)\n    X = X.permute(0, 2, 1, 3)  # (B, H, T, d)\n    return X.reshape(batch * num_heads, steps, head_size)",
            "return torch.stack(X.split(num_heads, dim=-1), dim=1).flatten(0, 1)",
        ),
        says="the features are split into pieces of num_heads features, not into num_heads pieces",
        asks="Does the number that you pass to split mean how many pieces, or how large a piece is?",
    ),
    mistake(
        "heads-overlapping-slices",
        edit(
            "X = X.reshape(batch, steps, num_heads, head_size)  # (B, T, H, d)",
            "X = torch.stack([X[..., h : h + head_size] for h in range(num_heads)], dim=2)",
        ),
        says="the slice of head h begins at feature h, so the heads overlap",
        asks="Which features does head 0 take, and which is the first feature that is left for head 1?",
    ),
    mistake(
        "heads-of-one-sequence",
        edit(
            "X = X.reshape(batch, steps, num_heads, head_size)",
            "X = X.reshape(1, steps, num_heads, head_size)",
        ),
        says="the reshape has no place for the batch, so it fits a single sequence only",
        asks="How many values come in, and how many does the new shape hold?",
    ),
]
