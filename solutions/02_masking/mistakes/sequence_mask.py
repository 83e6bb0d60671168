"""Known mistakes in sequence_mask; their pages are in sequence_mask.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "mask-length-counts-one-more",
        edit("steps[None, :] < valid_len", "steps[None, :] <= valid_len"),
        says="one step too many is kept in every row",
        asks=(
            "A row of length 2 keeps the steps 0 and 1. Which step does your comparison let through as well?"
        ),
    ),
    mistake(
        "mask-last-real-step-lost",
        edit("steps[None, :] < valid_len", "steps[None, :] + 1 < valid_len"),
        says="the last real step of every row is blanked out as well",
        asks="How many steps are left of a row of length 1, and how many should be?",
    ),
    mistake(
        "mask-keeps-the-padding",
        edit("~keep", "keep"),
        says="the padding is kept and the real steps are blanked out",
        asks=(
            "Is your mask true where a step is real or where it is padding, and which of the two does the "
            "filling want?"
        ),
    ),
    mistake(
        "mask-value-ignored",
        edit("masked_fill(~keep, value)", "masked_fill(~keep, 0)"),
        says="masked steps become 0, whatever value was asked for",
        asks="Who calls this function with another value than 0, and what for?",
    ),
    mistake(
        "mask-result-thrown-away",
        edit(
            "return X.masked_fill(~keep, value)",
            """
            X.masked_fill(~keep, value)
            return X
            """,
        ),
        says="the input comes back as it went in: nothing is masked",
        asks="Does the operation that fills in the value change its tensor, or hand you a new one?",
    ),
    mistake(
        "mask-first-length-for-all",
        edit("valid_len[:, None]", "valid_len[0]"),
        says="all rows are cut at the length of the first one",
        asks="Change the second length only. Which row of the result changes?",
    ),
    mistake(
        "mask-shortest-length-for-all",
        edit("valid_len[:, None]", "valid_len.min()"),
        says="all rows are cut at the shortest length of the batch",
        asks="What is left of a long row when a short one stands in the same batch?",
    ),
    mistake(
        "mask-keeps-the-end",
        edit("steps[None, :] < valid_len[:, None]", "steps[None, :] >= X.shape[1] - valid_len[:, None]"),
        says="the last steps of every row are kept instead of the first",
        asks="On which side of a sentence does the padding of this course stand?",
    ),
    mistake(
        "mask-hides-features",
        edit("torch.arange(X.shape[1]", "torch.arange(X.shape[-1]"),
        edit(
            "keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))",
            "keep = keep.reshape(keep.shape[:1] + (1,) * (X.dim() - 2) + keep.shape[1:])",
        ),
        says="the lengths cut the last axis instead of the steps",
        asks="With vectors at every step, which of the three axes is it that the lengths speak about?",
    ),
    mistake(
        "mask-two-axes-only",
        edit("keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))  # (N, T, 1, …)", ""),
        says="rows of numbers are masked, rows of vectors do not fit the mask",
        asks=(
            "Shapes are matched from the last axis backwards. What must the mask have where X has its "
            "features?"
        ),
    ),
    mistake(
        "mask-adds-the-value",
        edit("X.masked_fill(~keep, value)", "X * keep + value"),
        says="the value is added to the real steps too",
        asks="With a value of 5, what happens to a real entry that was 2?",
    ),
    mistake(
        "mask-adds-onto-the-padding",
        edit("X.masked_fill(~keep, value)", "X + (~keep) * value"),
        says="the value is added to the padding instead of replacing it",
        asks="With the default value of 0, what stands in the padded steps of your result?",
    ),
    mistake(
        "mask-compares-row-numbers",
        edit(
            "torch.arange(X.shape[1], device=X.device)  # (T,)",
            "torch.arange(X.shape[0], device=X.device)",
        ),
        edit("steps[None, :] < valid_len[:, None]", "(steps < valid_len)[:, None].expand(X.shape[:2])"),
        says="the number of the row, not that of the step, is compared with the length",
        asks="Are rows kept and blanked out as a whole in your result, and should they be?",
    ),
    mistake(
        "mask-multiplies-the-padding",
        edit("X.masked_fill(~keep, value)", "torch.where(keep, X, X * value)"),
        says="the padding is multiplied by the value instead of replaced by it",
        asks="With a value of 1, what should be left of what stood in the padding?",
    ),
    mistake(
        "mask-only-one-padded-step",
        edit("steps[None, :] < valid_len", "steps[None, :] != valid_len"),
        says="only the first padded step of every row is blanked out",
        asks="A row has two steps and four padded ones. How many entries should change?",
    ),
    mistake(
        "mask-detached",
        edit("X.masked_fill", "X.detach().masked_fill"),
        says="the numbers are right, but no gradient flows back to the input",
        asks="Which layers stand before this function, and how are they to learn?",
    ),
    mistake(
        "mask-changes-the-lengths",
        edit(
            "keep = steps[None, :] < valid_len[:, None]  # (N, T)",
            """
            valid_len -= 1
            keep = steps[None, :] <= valid_len[:, None]
            """,
        ),
        says="the result is right once, but the caller's lengths are changed on the way",
        asks="What would a second call with the same lengths give?",
    ),
    mistake(
        "mask-itself-returned",
        edit("keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))  # (N, T, 1, …)", ""),
        edit("X.masked_fill(~keep, value)", "keep"),
        says="the mask came back, true and false, instead of the masked input",
        asks="Where in your result can you still see the numbers of the input?",
    ),
    mistake(
        "mask-handed-out-too",
        edit("return X.masked_fill(~keep, value)", "return X.masked_fill(~keep, value), keep"),
        says="the mask comes back together with the masked input, as a pair",
        asks="What does the code that calls this function do with its result?",
    ),
    mistake(
        "mask-guessed-from-zeros",
        edit("X.masked_fill(~keep, value)", "X.masked_fill(X == 0, value)"),
        says="zeros in the input are taken for padding, and the lengths are not used",
        asks="What if a real entry happens to be zero, or padding is not?",
    ),
    device_mistake(
        "mask-steps-on-the-cpu",
        edit(", device=X.device", ""),
        says="the step numbers are made on the CPU, wherever the input lives",
        asks="What happens when the input lies on a graphics card?",
    ),
    device_mistake(
        "mask-value-on-the-cpu",
        edit(
            "return X.masked_fill(~keep, value)",
            "return torch.where(keep, X, torch.tensor([value], dtype=X.dtype))",
        ),
        says="the filling is a tensor with an axis that is made on the CPU",
        asks="On which device is the filling made, and on which is what it is put into?",
    ),
    dtype_mistake(
        "mask-steps-counted-in-dtype",
        edit("torch.arange(X.shape[1], device", "torch.arange(X.shape[1], dtype=X.dtype, device"),
        says="steps are numbered in the dtype of the data, which cannot count far in half precision",
        asks="Which is the first whole number that `bfloat16` cannot hold?",
    ),
]
