"""Known mistakes in sequence_mask; their pages are in sequence_mask.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "mask-length-counts-one-more",
        edit("steps[None, :] < valid_len", "steps[None, :] <= valid_len"),
        says="one step too many is kept in every row",
        asks="A row of length 2 keeps the steps 0 and 1. Which other step does your comparison keep?",
    ),
    mistake(
        "mask-last-real-step-lost",
        edit("steps[None, :] < valid_len", "steps[None, :] + 1 < valid_len"),
        says="the last real step of every row is replaced, too",
        asks="How many steps are left in a row of length 1, and how many should be?",
    ),
    mistake(
        "mask-keeps-the-padding",
        edit("~keep", "keep"),
        says="the mask is inverted: the padding is kept and the real steps are replaced",
        asks=(
            "Is your mask true for real steps or for padding, and which of the two does your next line "
            "expect?"
        ),
    ),
    mistake(
        "mask-value-ignored",
        edit("masked_fill(~keep, value)", "masked_fill(~keep, 0)"),
        says="padded steps become 0, whatever value is passed",
        asks="When would the calling code pass a value other than 0?",
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
        says="the function returns its input unchanged, so nothing is masked",
        asks="Does the operation that fills in the value change its tensor, or does it return a new one?",
    ),
    mistake(
        "mask-first-length-for-all",
        edit("valid_len[:, None]", "valid_len[0]"),
        says="all rows are cut at the length of the first row",
        asks="Change only the second length. Which row of the result changes?",
    ),
    mistake(
        "mask-shortest-length-for-all",
        edit("valid_len[:, None]", "valid_len.min()"),
        says="all rows are cut at the shortest length of the batch",
        asks="How many steps of a long row are left when the batch also contains a short row?",
    ),
    mistake(
        "mask-keeps-the-end",
        edit("steps[None, :] < valid_len[:, None]", "steps[None, :] >= X.shape[1] - valid_len[:, None]"),
        says="the last steps of every row are kept instead of the first",
        asks="Is the padding at the start or at the end of a row in this course?",
    ),
    mistake(
        "mask-hides-features",
        edit("torch.arange(X.shape[1]", "torch.arange(X.shape[-1]"),
        edit(
            "keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))",
            "keep = keep.reshape(keep.shape[:1] + (1,) * (X.dim() - 2) + keep.shape[1:])",
        ),
        says="the lengths cut the last axis instead of the steps",
        asks="With a vector at every step, which of the three axes do the lengths refer to?",
    ),
    mistake(
        "mask-two-axes-only",
        edit("keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))  # (N, T, 1, …)", ""),
        says="the code fits inputs with two axes only; with a feature axis it raises an error or masks the wrong values",
        asks="Pass an X of shape (2, 3, 4). Which line assumes that X has two axes?",
        forms=[
            [
                edit(
                    "steps = torch.arange(X.shape[1], device=X.device)  # (T,)",
                    """
                    rows, columns = X.shape
                    steps = torch.arange(columns, device=X.device)  # (T,)
                    """,
                )
            ]
        ],
    ),
    mistake(
        "mask-adds-the-value",
        edit("X.masked_fill(~keep, value)", "X * keep + value"),
        says="the value is added to the real steps, too",
        asks="With a value of 5, what happens to a real element that was 2?",
    ),
    mistake(
        "mask-adds-onto-the-padding",
        edit("X.masked_fill(~keep, value)", "X + (~keep) * value"),
        says="the value is added to the padding instead of replacing it",
        asks="With the default value of 0, what do the padded steps of your result contain?",
    ),
    mistake(
        "mask-compares-row-numbers",
        edit(
            "torch.arange(X.shape[1], device=X.device)  # (T,)",
            "torch.arange(X.shape[0], device=X.device)",
        ),
        edit("steps[None, :] < valid_len[:, None]", "(steps < valid_len)[:, None].expand(X.shape[:2])"),
        says="the index of the row is compared with the length instead of the index of the step",
        asks="Are whole rows kept or replaced in your result, and should they be?",
    ),
    mistake(
        "mask-multiplies-the-padding",
        edit("X.masked_fill(~keep, value)", "torch.where(keep, X, X * value)"),
        says="the padding is multiplied by the value instead of replaced by it",
        asks="With a value of 1, which values should the padded steps have?",
    ),
    mistake(
        "mask-only-one-padded-step",
        edit("steps[None, :] < valid_len", "steps[None, :] != valid_len"),
        says="only the first padded step of every row is replaced",
        asks="A row has two real steps and four padded ones. How many of its elements should change?",
    ),
    mistake(
        "mask-detached",
        edit("X.masked_fill", "X.detach().masked_fill"),
        says="the values are right, but no gradient reaches the input",
        asks="Which layers come before this function, and how do they learn?",
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
        says="the result is right, but the function changes the caller's lengths",
        asks="What would a second call with the same lengths return?",
        forms=[
            [
                edit(
                    "keep = steps[None, :] < valid_len[:, None]  # (N, T)",
                    "keep = steps[None, :] < valid_len.unsqueeze_(1)  # (N, T)",
                )
            ]
        ],
    ),
    mistake(
        "mask-itself-returned",
        edit("keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))  # (N, T, 1, …)", ""),
        edit("X.masked_fill(~keep, value)", "keep"),
        says="the function returns the mask instead of the masked input",
        asks="Where does your result contain the values of the input?",
    ),
    mistake(
        "mask-also-returned",
        edit("return X.masked_fill(~keep, value)", "return X.masked_fill(~keep, value), keep"),
        says="a pair is returned instead of the masked input alone",
        asks="Can the calling code do arithmetic with your result?",
    ),
    mistake(
        "mask-guessed-from-zeros",
        edit("X.masked_fill(~keep, value)", "X.masked_fill(X == 0, value)"),
        says="zeros in the input are treated as padding, and the lengths are not used",
        asks="What happens if a real element is zero, or if the padding is not?",
    ),
    device_mistake(
        "mask-steps-on-the-cpu",
        edit(", device=X.device", ""),
        says="the tensor of step positions is always on the CPU, whatever the device of the input is",
        asks="What happens when the input is on a GPU?",
    ),
    device_mistake(
        "mask-value-on-the-cpu",
        edit(
            "return X.masked_fill(~keep, value)",
            "return torch.where(keep, X, torch.tensor([value], dtype=X.dtype))",
        ),
        says="the fill value is a tensor with one axis on the CPU",
        asks="On which device is the fill value, and on which device is the input?",
    ),
    dtype_mistake(
        "mask-steps-counted-in-dtype",
        edit("torch.arange(X.shape[1], device", "torch.arange(X.shape[1], dtype=X.dtype, device"),
        says=(
            "the step positions have the dtype of the data, which cannot represent large integers in half "
            "precision"
        ),
        asks="What is the first integer that `bfloat16` cannot represent?",
    ),
    mistake(
        "mask-last-step-never",
        edit(
            "keep = steps[None, :] < valid_len[:, None]  # (N, T)",
            "keep = (steps[None, :] < valid_len[:, None]) | (steps == steps.max())",
        ),
        says="the last step of a row is never replaced",
        asks="Which position does a slice leave out that ends at minus one?",
    ),
    mistake(
        "mask-blended",
        edit(
            "return X.masked_fill(~keep, value)",
            """
            real = keep.to(torch.get_default_dtype())
            return X * real + value * (1 - real)
            """,
        ),
        says="input and fill value are multiplied with a mask of numbers: whole numbers become fractions, and infinity becomes NaN",
        asks="What is infinity times zero, and which dtype does a whole number times a fraction have?",
    ),
    mistake(
        "mask-as-wide-as-longest",
        edit(
            "torch.arange(X.shape[1], device=X.device)", "torch.arange(int(valid_len.max()), device=X.device)"
        ),
        says="the mask is as wide as the longest length, not as the input",
        asks="What happens if no sequence of the batch is as long as the tensor?",
    ),
]
