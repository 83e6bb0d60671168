"""Cases for lengths and masks. Sizes differ, lengths include 1 and full, no row has length 0."""

import numpy as np

from grader.authoring import Case

SEEN = ("batch", "query", "key")
LONG, LONG_LENS = 268, np.array([257, 261])  # bfloat16 counts 256, 256, 258, 260, 260, 260, …


def sequence_mask(draw):
    N, T, F = draw.sizes(3, low=3, high=7)
    for id, shape, title in (
        ("two-axes", (N, T), "input of shape (N, T)"),
        ("three-axes", (N, T, F), "input of shape (N, T, F)"),
    ):
        case = Case(id, "sequence_mask")
        X = case.input("X", draw.normal(*shape), grad=True)
        valid_len = case.input("valid_len", draw.lens(N, T))
        Y = case.call(X, valid_len, axes=("row", "step", "feature")[: len(shape)])
        case.check_shape(Y, f"shape and dtype, {title}")
        case.check_values(Y, f"padded steps are 0, {title}")
        grads = case.gradients(Y, draw.normal(*shape), wrt=[X])
        case.check_gradients(grads, f"gradient of the input, {title}")
        case.check_unchanged(valid_len, title="the lengths are unchanged")
        if id == "three-axes":
            case.check_precision(Y, "padded steps are 0, and dtype")
        yield case

    case = Case("value", "sequence_mask")
    X = draw.normal(N, T, F)
    X[:, 0, 0] = 0.0  # a real zero is not padding: the first step of every row is kept
    Y = case.call(
        case.input("X", X),
        case.input("valid_len", draw.lens(N, T)),
        value=-7.5,
        axes=("row", "step", "feature"),
    )
    case.check_values(Y, "padded steps get the value that was passed")
    yield case

    case = Case("four-axes", "sequence_mask")
    Y = case.call(
        case.input("X", draw.normal(N, T, 2, F)),
        case.input("valid_len", draw.lens(N, T)),
        axes=("row", "step", "group", "feature"),
    )
    case.check_values(Y, "input of shape (N, T, 2, F): whole steps are masked")
    yield case

    case = Case("one-step-of-one-row", "sequence_mask")
    X, valid_len = case.input("X", draw.normal(1, 1, 1)), case.input("valid_len", np.array([1]))
    case.check_shape(
        case.call(X, valid_len, axes=("row", "step", "feature")), "axes of size one stay where they are"
    )
    yield case

    case = Case("integers", "sequence_mask")
    Y = case.call(
        case.input("X", draw.integers(2, 9, N, T)),
        case.input("valid_len", draw.lens(N, T)),
        axes=("row", "step"),
    )
    case.check_values(Y, "input of integers (tokens)")
    yield case

    case = Case("long-row", "sequence_mask", dtype="bfloat16")
    X = case.input(
        "X", 2 + np.abs(draw.normal(2, LONG))
    )  # no value close to zero, which could be confused with padding
    Y = case.call(X, case.input("valid_len", LONG_LENS), axes=("row", "step"))
    case.check_precision(Y, "rows with more positions than bfloat16 can count exactly")
    yield case


def masked_softmax(draw):
    B, T, S = draw.sizes(3, low=3, high=7)
    for id, lens, title, facet in (
        ("no-mask", None, "without a mask", "values"),
        ("per-sequence", draw.lens(B, S), "with one length per sequence (B,)", "masking"),
        ("per-query", draw.lens((B, T), S), "with one length per query (B, T)", "masking"),
    ):
        case = Case(id, "masked_softmax")
        scores = draw.normal(B, T, S)
        scores[:, 0, 0] = 0.0  # a real score of zero is not padding
        X = case.input("X", scores, grad=True)
        valid_lens = None if lens is None else case.input("valid_lens", lens)
        Y = case.call(X, valid_lens, axes=SEEN)
        case.check_shape(Y, f"shape and dtype, {title}")
        case.check_values(Y, f"weights, {title}", facet)
        case.check(facet, "sums_to_one", [case.see(Y)], f"the weights of a query sum to one, {title}")
        case.check_gradients(
            case.gradients(Y, draw.normal(B, T, S), wrt=[X]), f"gradient of the scores, {title}"
        )
        if valid_lens is not None:
            case.check_unchanged(valid_lens, title="the lengths are unchanged")
        if id == "per-query":
            case.check_precision(Y, "weights and dtype")
        yield case

    case = Case("by-hand", "masked_softmax")
    X = np.array([[[1.0, 1.0, 5.0], [0.0, 2.0, 1.0]]])
    Y = case.call(case.input("X", X), case.input("valid_lens", np.array([2])), axes=SEEN)
    case.check_values(Y, "the example of the lesson: one half, one half, zero")
    yield case

    # Their exponentials overflow in float64 too, in which mistakes are recorded. The tolerance is wider, because
    # a sum of such a score and another number is rounded to 6e-5.
    for id, level, queries, lens, title in (
        ("large-scores", 800, T, None, "large scores do not overflow, without a mask"),
        (
            "large-scores-per-sequence",
            800,
            1,
            draw.lens(B, S),
            "large scores of one query do not overflow, with lengths (B,)",
        ),
        (
            "large-scores-per-query",
            -800,
            T,
            draw.lens((B, T), S),
            "scores far below zero are not taken for padding, with lengths (B, T)",
        ),
    ):
        case = Case(id, "masked_softmax")
        X = case.input("X", draw.normal(B, queries, S) * 3 + level)
        Y = case.call(X, None if lens is None else case.input("valid_lens", lens), axes=SEEN)
        case.check_values(Y, title, tol=1e-3)
        yield case

    case = Case("padding-is-ignored", "masked_softmax")
    lens = draw.lens(B, S)
    X = draw.normal(B, T, S)
    padded = np.arange(S)[None, None, :] >= lens[:, None, None]
    valid_lens = case.input("valid_lens", lens)
    left = case.call(case.input("X", X), valid_lens, axes=SEEN)
    right = case.call(
        case.input("other_padding", np.where(padded, draw.normal(B, T, S), X)), valid_lens, axes=SEEN
    )
    case.check_same(
        left,
        right,
        "the scores of padded keys make no difference",
        "masking",
        "other scores of padded keys changed the weights",
    )
    yield case

    case = Case("long-row", "masked_softmax", dtype="bfloat16")
    X = draw.normal(2, 1, LONG)
    for row, length in enumerate(LONG_LENS):  # the last real key and the first padded key outweigh all others
        X[row, 0, length - 1 : length + 1] = 6, 7
    Y = case.call(case.input("X", X), case.input("valid_lens", LONG_LENS), axes=SEEN)
    case.check_precision(Y, "rows with more positions than bfloat16 can count exactly")
    yield case
