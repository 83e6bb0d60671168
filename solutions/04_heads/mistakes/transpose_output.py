"""Known mistakes in transpose_output; their pages are in transpose_output.md."""

from grader.authoring import dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "heads-joined-straight",
        edit("    X = X.permute(0, 2, 1, 3)  # (B, T, H, d)\n", ""),
        says="the heads are melted together without first standing side by side at each step",
        asks="After your joining, do the features of one step come from one head or from all of them?",
    ),
    mistake(
        "heads-joined-interleaved",
        edit("X.permute(0, 2, 1, 3)", "X.permute(0, 2, 3, 1)"),
        says="the features of the heads are shuffled into each other instead of standing side by side",
        asks="Behind the first feature of head 0, what comes next: its second feature, or one of head 1?",
    ),
    mistake(
        "heads-averaged-and-repeated",
        edit(
            "return X.reshape(batch, steps, num_heads * head_size)",
            "return X.mean(dim=2).repeat(1, 1, num_heads)",
        ),
        says="the heads are averaged and the average is repeated, instead of each head keeping its place",
        asks="After your joining, can the next layer still tell what head 0 said from what head 1 said?",
    ),
    mistake(
        "heads-summed",
        edit("return X.reshape(batch, steps, num_heads * head_size)", "return X.sum(dim=2)"),
        says="the heads of a step are added up instead of being put side by side",
        asks="How many features does a step have after all its heads are joined?",
    ),
    mistake(
        "heads-joined-across-sequences",
        edit(
            "X.reshape(batch, num_heads, steps, head_size)",
            "X.reshape(num_heads, batch, steps, head_size)",
        ),
        edit("permute(0, 2, 1, 3)", "permute(1, 2, 0, 3)"),
        says=(
            "rows are read as if they listed head 0 of all sequences first, so different sequences are joined"
        ),
        asks="Which rows belong to the first sequence, neighbours or rows far apart?",
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
        says="the number of heads is taken for the number of sequences",
        asks="Which changes faster as you walk down the rows, the head or the sequence?",
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
        says="the heads are split once more instead of being joined",
        asks="After the way back, should there be more rows than before or fewer?",
    ),
    mistake(
        "heads-joined-in-reverse",
        edit("permute(0, 2, 1, 3)", "flip(1).permute(0, 2, 1, 3)"),
        says="the heads stand side by side in reverse order",
        asks="Whose features come first in a step of your result?",
        kind="different",
    ),
    mistake(
        "heads-first-repeated",
        edit("permute(0, 2, 1, 3)", "permute(0, 2, 1, 3)[:, :, :1].expand(-1, -1, num_heads, -1)"),
        says="the first head fills the places of all others",
        asks="Change a number of the last row. Does anything in your result change?",
    ),
    mistake(
        "heads-not-joined",
        edit("X.reshape(batch, steps, num_heads * head_size)", "X"),
        says="the heads stand beside each other, but still on an axis of their own",
        asks="Which two axes are still to be melted into one?",
    ),
    mistake(
        "heads-joined-in-time",
        edit("    X = X.permute(0, 2, 1, 3)  # (B, T, H, d)\n", ""),
        edit(
            "X.reshape(batch, steps, num_heads * head_size)",
            "X.reshape(batch, num_heads * steps, head_size)",
        ),
        says="the heads are put one after the other in time instead of side by side",
        asks="Should joining heads make a sequence longer, or its steps wider?",
    ),
    mistake(
        "heads-joined-view-refused",
        edit("return X.reshape(", "return X.view("),
        says="a view is asked for after the axes have changed places, which PyTorch refuses",
        asks="What must happen to the numbers in memory before these two axes can be melted into one?",
    ),
    mistake(
        "heads-joined-detached",
        edit("X = X.permute", "X = X.detach().permute"),
        says="the numbers stand right, but no gradient flows back to the heads",
        asks="On which way do the heads hear about the loss?",
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
        says="the joined features are written into a new tensor of single precision",
        asks="Which dtype does a new tensor have when nobody names one?",
    ),
]
