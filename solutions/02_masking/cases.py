"""Cases for lengths and masks. Drawn sizes differ; drawn lengths include 1 and the full length, never 0.

A case may make several calls: one more call costs far less than one more case. Each call has its own X, because
an answer may write into it. The picture of a failure shows the lengths only if exactly one input of the case has
`valid_len` in its name.
"""

import numpy as np

from grader.authoring import Case

SEEN = ("batch", "query", "key")
# From 256 on, bfloat16 represents only every second integer, and rounds the others.
LONG, LONG_LENS = 268, np.array([257, 261])
LONG_TITLE = "rows with more positions than bfloat16 can count exactly"


def sequence_mask(draw):
    N, T, F = draw.sizes(3, low=3, high=7)
    for id, shape, title, more in (
        ("two-axes", (N, T), "input of shape (N, T)", _integers),
        ("three-axes", (N, T, F), "input of shape (N, T, F)", _other_shapes),
    ):
        case = Case(id, "sequence_mask")
        X = case.input("X", draw.normal(*shape), grad=True)
        lens = draw.lens(N, T)
        valid_len = case.input("valid_len", lens)
        Y = case.call(X, valid_len, axes=("batch", "step", "feature")[: len(shape)])
        case.check_shape(Y, f"shape and dtype, {title}")
        case.check_values(Y, f"padded steps are 0, {title}")
        grads = case.gradients(Y, draw.normal(*shape), wrt=[X])
        case.check_gradients(grads, f"gradient of the input, {title}")
        case.check_unchanged(valid_len, title="the lengths are unchanged")
        if id == "three-axes":
            case.check_precision(Y, "padded steps are 0, and dtype")
        more(case, draw, lens, N, T, F)
        yield case

    case = Case("long-row", "sequence_mask", dtype="bfloat16")
    # No value is close to zero, so that none can be confused with padding.
    X = case.input("X", 2 + np.abs(draw.normal(2, LONG)))
    Y = case.call(X, case.input("valid_len", LONG_LENS), axes=("batch", "step"))
    case.check_precision(Y, LONG_TITLE)
    yield case


def _integers(case, draw, lens, N, T, _F):
    X = case.input("tokens", draw.integers(2, 9, N, T))
    Y = case.call(X, case.input("tokens_len", lens), axes=("batch", "step"))
    case.check_values(Y, "input of integers (tokens)")


def _other_shapes(case, draw, _lens, N, T, F):
    axes = ("batch", "step", "feature")
    X, valid_len = case.input("X_one", draw.normal(1, 1, 1)), case.input("one_len", np.array([1]))
    case.check_shape(case.call(X, valid_len, axes=axes), "axes of size one stay where they are")

    X = draw.normal(N, T, F)
    X[:, 0, 0] = 0.0  # a real zero is not padding: the first step of every row is kept
    # No row is full: a mask is as wide as the input, not as the longest length.
    X, valid_len = case.input("X_value", X), case.input("value_valid_len", np.minimum(draw.lens(N, T), T - 1))
    Y = case.call(X, valid_len, value=-7.5, axes=axes)
    case.check_values(Y, "padded steps get the value that was passed")

    X, valid_len = (
        case.input("X_groups", draw.normal(N, T, 2, F)),
        case.input("groups_valid_len", draw.lens(N, T)),
    )
    Y = case.call(X, valid_len, axes=("batch", "step", "group", "feature"))
    case.check_values(Y, "input of shape (N, T, 2, F): whole steps are masked")


def masked_softmax(draw):
    B, T, S = draw.sizes(3, low=3, high=7)
    for id, lens, title, facet, more in (
        ("no-mask", None, "without a mask", "values", None),
        ("per-sequence", draw.lens(B, S), "with one length per sequence (B,)", "masking", _other_padding),
        ("per-query", draw.lens((B, T), S), "with one length per query (B, T)", "masking", None),
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
        if more is not None:
            more(case, draw, Y, scores, lens, valid_lens)
        yield case

    yield _other_scores(draw, B, T, S)

    case = Case("long-row", "masked_softmax", dtype="bfloat16")
    X = draw.normal(2, 1, LONG)
    for row, length in enumerate(LONG_LENS):  # the last real key and the first padded key outweigh all others
        X[row, 0, length - 1 : length + 1] = 6, 7
    Y = case.call(case.input("X", X), case.input("valid_lens", LONG_LENS), axes=SEEN)
    case.check_precision(Y, LONG_TITLE)
    yield case


def _other_scores(draw, B, T, S):
    """Return a case with the scores of the lesson's example and with scores far from zero.

    All its checks are of the facet *values*.
    """
    case = Case("other-scores", "masked_softmax")
    X = np.array([[[1.0, 1.0, 5.0], [0.0, 2.0, 1.0]]])
    Y = case.call(case.input("by_hand", X), case.input("by_hand_lens", np.array([2])), axes=SEEN)
    case.check_values(Y, "the example of the lesson: one half, one half, zero")

    # The exponentials of scores near 800 and -800 overflow or vanish in float64 too, in which mistakes are recorded.
    # The tolerance is wider, because float32 rounds these scores to multiples of 6e-5.
    for name, level, queries, lens, title in (
        ("large", 800, T, None, "large scores do not overflow, without a mask"),
        (
            "large_per_sequence",
            800,
            1,
            draw.lens(B, S),
            "large scores of one query do not overflow, with lengths (B,)",
        ),
        (
            "small_per_query",
            -800,
            T,
            draw.lens((B, T), S),
            "scores far below zero are not taken for padding, with lengths (B, T)",
        ),
    ):
        X = case.input(name, draw.normal(B, queries, S) * 3 + level)
        Y = case.call(X, None if lens is None else case.input(f"{name}_lens", lens), axes=SEEN)
        case.check_values(Y, title, tol=1e-3)
    return case


def _other_padding(case, draw, Y, scores, lens, valid_lens):
    """Call again with other scores of padded keys and the same lengths.

    An answer that changed the lengths in place now returns other weights.
    """
    padded = np.arange(scores.shape[-1])[None, None, :] >= lens[:, None, None]
    other = case.input("other_padding", np.where(padded, draw.normal(*scores.shape), scores))
    case.check_same(
        Y,
        case.call(other, valid_lens, axes=SEEN),
        "the scores of padded keys make no difference",
        "masking",
        "other scores of padded keys changed the weights",
    )
