"""Cases for splitting into heads and joining them again.

In the cases `small` and `other` all sizes differ (B, T, H, d), so that no axis can be confused with another.
"""

from grader.authoring import Case


def transpose_qkv(draw):
    yield from _rearranged(draw, "transpose_qkv", split=True)


def transpose_output(draw):
    yield from _rearranged(draw, "transpose_output", split=False)


def _rearranged(draw, exercise, split):
    for id, B, T, H, d in (
        ("small", *draw.sizes(4, low=2, high=5)),
        ("other", *draw.sizes(4, low=2, high=6)),
    ):
        case = Case(id, exercise)
        shape = (B, T, H * d) if split else (B * H, T, d)
        result = (B * H, T, d) if split else (B, T, H * d)
        X = case.input("X", draw.normal(*shape), grad=True)
        Y = case.call(X, H, axes=_axes(split, H))
        case.check_shape(Y, f"shape {result} from {shape}, {H} heads")
        case.check_values(Y, f"position of every value, {H} heads")
        case.check_gradients(
            case.gradients(Y, draw.normal(*result), wrt=[X]), f"gradient of the input, {H} heads"
        )
        case.check_unchanged(X)
        if id == "small":
            case.check_precision(Y, "position of every value, and dtype")
        yield case
    yield _special_sizes(exercise, draw, split)


def _axes(split, H):
    return (f"batch·head/{H}", "step", "head feature") if split else ("batch", "step", "feature")


def _special_sizes(exercise, draw, split):
    """Return a case with several calls, because a call costs far less than a case.

    With one sequence the number of steps is divisible by H, so that answers that split the wrong axis return
    values. With other sizes they may raise an exception.
    """
    case = Case("special-sizes", exercise)
    B, T, d = draw.sizes(3, low=2, high=6)
    H = 2
    shape = (B, T, H * 4) if split else (B * H, T, 4)
    wide = case.input("wide", draw.normal(*shape[:2], shape[2] + 3))
    X = case.part(wide, (None, None), (None, None), (0, shape[2]))
    case.check_values(case.call(X, H, axes=_axes(split, H)), "an input that is a slice of a wider tensor")

    H = 3
    steps = 2 * H
    X = draw.normal(1, steps, H * d) if split else draw.normal(H, steps, d)
    Y = case.call(case.input("X_one_sequence", X), H, axes=_axes(split, H))
    case.check_values(Y, "a batch of one sequence", caps=False)

    X = draw.normal(B, 1, H * d) if split else draw.normal(H * B, 1, d)
    Y = case.call(case.input("X_one_step", X), H, axes=_axes(split, H))
    case.check_values(Y, "a single step, as in decoding", caps=False)

    Y = case.call(case.input("X_one_head", draw.normal(1, T, d)), 1, axes=_axes(split, 1))
    case.check_values(Y, "a single head of a single sequence changes nothing", caps=False)
    return case
