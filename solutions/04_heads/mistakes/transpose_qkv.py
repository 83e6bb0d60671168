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
            "the numbers are cut up in the order in which they lie, so a head gets pieces of other steps' "
            "features"
        ),
        asks=(
            "Reshaping keeps numbers in their order. Do the steps of head 0 stand next to each other in the"
            " input?"
        ),
    ),
    mistake(
        "heads-interleaved",
        edit(
            "X.reshape(batch, steps, num_heads, head_size)",
            "X.reshape(batch, steps, head_size, num_heads)",
        ),
        edit("permute(0, 2, 1, 3)", "permute(0, 3, 1, 2)"),
        says="every head takes every other feature (one in as many as there are heads) instead of neighbours",
        asks="Which features belong to head 0: the first few, or one from each group?",
        kind="different",
    ),
    mistake(
        "heads-before-sequences",
        edit("X.permute(0, 2, 1, 3)", "X.permute(2, 0, 1, 3)"),
        says="the rows list head 0 of all sequences first, then head 1 of all sequences",
        asks="Of which sequence is the second row of your result, and of which should it be?",
        kind="different",
    ),
    mistake(
        "heads-left-on-an-axis",
        edit("X.reshape(batch * num_heads, steps, head_size)", "X"),
        says="the heads are split off rightly, but stay on an axis of their own instead of joining the batch",
        asks="How many axes does the attention expect, and how many does your result have?",
    ),
    mistake(
        "heads-and-steps-exchanged",
        edit(
            "X.reshape(batch * num_heads, steps, head_size)",
            "X.reshape(batch * steps, num_heads, head_size)",
        ),
        says="at the end the number of heads and the number of steps are exchanged",
        asks=(
            "Which two axes are to melt into one, and which one is to be left between the rows and the "
            "features?"
        ),
    ),
    mistake(
        "heads-count-for-size",
        edit(
            "X.reshape(batch, steps, num_heads, head_size)",
            "X.reshape(batch, steps, head_size, num_heads)",
        ),
        says="the number of heads and the size of a head are exchanged when the features are cut",
        asks="With eight features and two heads, how many features does each head get?",
    ),
    mistake(
        "heads-features-before-steps",
        edit("X.permute(0, 2, 1, 3)", "X.permute(0, 2, 3, 1)"),
        says="within each head, steps and features are exchanged before the last cut",
        asks="In which order must the two last axes stand when the last reshaping begins?",
    ),
    mistake(
        "heads-lying-on-their-side",
        edit("X.permute(0, 2, 1, 3)", "X.permute(0, 2, 3, 1)"),
        edit(
            "X.reshape(batch * num_heads, steps, head_size)",
            "X.reshape(batch * num_heads, head_size, steps)",
        ),
        says="each head has its features as rows and its steps as columns",
        asks="In which order do the last two axes stand in your result, and in which should they?",
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
        says="the steps are shared out among the heads instead of the features",
        asks="Should a head see a part of every step, or every part of some steps?",
    ),
    mistake(
        "heads-batch-and-steps-mixed",
        edit("X.permute(0, 2, 1, 3)", "X.permute(2, 1, 0, 3)"),
        says="heads change places with the sequences instead of with the steps",
        asks="Which axis must stay where it is while the heads move?",
    ),
    mistake(
        "heads-in-reverse",
        edit("X.permute(0, 2, 1, 3)", "X.flip(2).permute(0, 2, 1, 3)"),
        says="the heads come in reverse order: the last features make the first head",
        asks="Which features stand in row 0?",
        kind="different",
    ),
    mistake(
        "heads-all-the-first",
        edit("X.permute(0, 2, 1, 3)", "X[:, :, :1].expand_as(X).permute(0, 2, 1, 3)"),
        says="every head gets the features of head 0",
        asks="Where do the last features of a step end up in your result?",
    ),
    mistake(
        "heads-repeated-not-split",
        edit(
            "X.reshape(batch, steps, num_heads, head_size)",
            "X[:, :, None].expand(batch, steps, num_heads, num_hiddens)",
        ),
        edit("steps, head_size)", "steps, num_hiddens)"),
        says="every head gets a copy of all features instead of its own share",
        asks="Adding heads should not add numbers. How many numbers go in, and how many come out?",
    ),
    mistake(
        "heads-view-refused",
        edit("return X.reshape(", "return X.view("),
        says="a view is asked for after the axes have changed places, which PyTorch refuses",
        asks="Do the numbers still lie in memory in the order in which you now want to read them?",
    ),
    mistake(
        "heads-detached",
        edit("X = X.permute", "X = X.detach().permute"),
        says="the numbers stand right, but no gradient flows back through them",
        asks="What tells the layers before the heads how to change?",
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
        says="the heads are written into a new tensor of single precision",
        asks="Which dtype does a new tensor have when nobody names one?",
    ),
]
