"""Cases for splitting into heads and joining them again. All sizes differ: no axis can be confused with another."""

from grader.authoring import Case


def transpose_qkv(draw):
    yield from _rearranged(draw, "transpose_qkv", split=True)


def transpose_output(draw):
    yield from _rearranged(draw, "transpose_output", split=False)


def _rearranged(draw, exercise, split):
    joined, apart = ("batch", "step", "feature"), ("row b·H + h", "step", "head feature")
    for id, B, T, H, d in (
        ("small", *draw.sizes(4, low=2, high=5)),
        ("other", *draw.sizes(4, low=2, high=6)),
    ):
        case = Case(id, exercise)
        shape = (B, T, H * d) if split else (B * H, T, d)
        result = (B * H, T, d) if split else (B, T, H * d)
        X = case.input("X", draw.normal(*shape), grad=True)
        Y = case.call(X, H, axes=apart if split else joined)
        case.check_shape(Y, f"shape {result} from {shape}, {H} heads")
        case.check_values(Y, f"position of every value, {H} heads")
        case.check_gradients(
            case.gradients(Y, draw.normal(*result), wrt=[X]), f"gradient of the input, {H} heads"
        )
        case.check_unchanged(X)
        if id == "small":
            case.check_precision(Y, "position of every value, and dtype")
        yield case

    B, T, d = draw.sizes(3, low=2, high=6)
    case = Case("one-head", exercise)
    Y = case.call(case.input("X", draw.normal(1, T, d)), 1, axes=apart if split else joined)
    case.check_values(Y, "a single head of a single sequence changes nothing")
    yield case

    case = Case("one-step", exercise)
    X = case.input("X", draw.normal(B, 1, 3 * d) if split else draw.normal(3 * B, 1, d))
    case.check_values(case.call(X, 3, axes=apart if split else joined), "a single step, as in decoding")
    yield case

    case = Case("no-batch-to-speak-of", exercise)
    H = 3
    T = 2 * H  # a multiple: cutting the steps instead of the features would fit, too
    X = case.input("X", draw.normal(1, T, H * d) if split else draw.normal(H, T, d))
    case.check_values(case.call(X, H, axes=apart if split else joined), "a batch of one sequence")
    yield case

    case = Case("not-contiguous", exercise)
    H, d = 2, 4
    shape = (B, T, H * d) if split else (B * H, T, d)
    wide = case.input("wide", draw.normal(*shape[:2], shape[2] + 3))
    X = case.part(wide, (None, None), (None, None), (0, shape[2]))
    case.check_values(
        case.call(X, H, axes=apart if split else joined), "an input that is a slice of a wider tensor"
    )
    yield case
