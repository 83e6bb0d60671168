"""Cases for multi-head attention and for the repairs.

Modules are built with dropout 0.5 and judged in evaluation, so that dropout that stays on is seen at once.
"""

import numpy as np

from grader import weights
from grader.case import Case, eye, filled, zeros

AXES = ("batch", "query", "feature")
LEGACY = ("key_size", "query_size", "value_size")  # constructors with lazy layers do without these


def MultiHeadAttention(draw):
    yield from attention_cases(draw, "MultiHeadAttention")


def MixedUpAttention(draw):
    yield from attention_cases(draw, "MixedUpAttention")


def attention_cases(draw, exercise):
    H, d = 2, 4
    B, T, S = draw.sizes(3, low=3, high=7, avoid=(H, d))
    D = H * d

    for id, lens, title, facet in (
        ("no-mask", None, "without a mask", "values"),
        ("per-sequence", draw.lens(B, S), "one length a sequence (B,)", "masking"),
        ("per-query", draw.lens((B, T), S), "one length a query (B, T)", "masking"),
    ):
        case = Case(id, exercise)
        module = built(case, D, H)
        case.load(module, weights.multi_head(draw, D))
        case.eval(module)
        queries = case.input("queries", draw.normal(B, T, D), grad=True)
        keys = case.input("keys", draw.normal(B, S, D), grad=True)
        values = case.input("values", draw.normal(B, S, D), grad=True)
        valid_lens = None if lens is None else case.input("valid_lens", lens)
        Y = case.call(queries, keys, values, valid_lens, on=module, axes=AXES)
        case.check_shape(Y, f"shape and dtype of the result, {title}")
        case.check_values(Y, f"result {title}", facet)
        flow = case.gradients(Y, draw.normal(B, T, D), wrt=[queries, keys, values], parameters=module)
        case.check_gradients(flow, f"gradients of inputs and layers, {title}")
        if lens is None:
            case.check_parameters()
            case.check_weights(case.weights(module, heads=H), optional=True)
            again = case.call(queries, keys, values, valid_lens, on=module)
            case.check_same(Y, again, "in evaluation nothing is dropped", "modes", "two calls in evaluation gave two results")
        else:
            case.check_unchanged(queries, keys, values, valid_lens)
        yield case

    case = Case("own-sizes", exercise)
    q, k, v = draw.sizes(3, low=3, high=7)
    module = built(case, D, H, q, k, v)
    case.load(module, weights.multi_head(draw, D, query_size=q, key_size=k, value_size=v))
    case.eval(module)
    Y = case.call(
        case.input("queries", draw.normal(B, T, q)),
        case.input("keys", draw.normal(B, S, k)),
        case.input("values", draw.normal(B, S, v)),
        None,
        on=module,
        axes=AXES,
    )
    case.check_values(Y, "queries, keys and values of three different sizes")
    yield case

    case = Case("three-heads-with-bias", exercise)
    module = built(case, 9, 3, bias=True)
    case.load(module, weights.multi_head(draw, 9, bias=True))
    case.eval(module)
    Y = case.call(
        case.input("queries", draw.normal(B, T, 9)),
        case.input("keys", draw.normal(B, S, 9)),
        case.input("values", draw.normal(B, S, 9)),
        case.input("valid_lens", draw.lens(B, S)),
        on=module,
        axes=AXES,
    )
    case.check_values(Y, "three heads, all layers with a bias")
    case.check_parameters("with bias=True every layer has one")
    yield case

    case = Case("order-of-keys", exercise)
    module = built(case, D, H)
    case.load(module, weights.multi_head(draw, D))
    case.eval(module)
    order = np.roll(np.arange(S), 1)
    keys, values = draw.normal(B, S, D), draw.normal(B, S, D)
    queries = case.input("queries", draw.normal(B, T, D))
    left = case.call(queries, case.input("keys", keys), case.input("values", values), None, on=module, axes=AXES)
    right = case.call(
        queries, case.input("moved_keys", keys[:, order]), case.input("moved_values", values[:, order]), None, on=module, axes=AXES
    )
    case.check_same(
        left, right, "keys and values in another order change nothing", "values", "the order of the keys changed the result"
    )
    yield case

    yield kept_in_training(exercise, draw, D, H)
    yield dropout_case(exercise, D, H)


def built(case, D, H, query_size=0, key_size=0, value_size=0, bias=False, dropout=0.5):
    """The module, by keyword."""
    return case.build(
        _may_drop=LEGACY,
        key_size=key_size or D,
        query_size=query_size or D,
        value_size=value_size or D,
        num_hiddens=D,
        num_heads=H,
        dropout=dropout,
        bias=bias,
    )


def kept_in_training(exercise, draw, D, H):
    """What is kept is what the softmax gave, whatever dropout does to it afterwards."""
    case = Case("kept-in-training", exercise)
    module = built(case, D, H)
    case.load(module, weights.multi_head(draw, D))
    case.train(module)
    case.seed(3)
    x = case.input("x", draw.normal(3, 5, D))
    case.call(x, x, x, None, on=module)
    case.check_weights(case.weights(module, heads=H), "where weights are kept, they are those before dropout", optional=True)
    return case


def dropout_case(exercise, D, H):
    """All weights equal (no query asks for anything) and all values one: each head's output is the sum
    of its dropped weights."""
    B, T, S, p = 64, 32, 8, 0.5
    case = Case("dropout", exercise)
    module = built(case, D, H, dropout=p)
    even = filled(1 / D, D, D)
    case.load(module, {"W_q.weight": zeros(D, D), "W_k.weight": even, "W_v.weight": even, "W_o.weight": eye(D)})
    case.train(module)
    case.seed(5)
    Y = case.call(
        case.constant("queries", (B, T, D)), case.constant("keys", (B, S, D)), case.constant("values", (B, S, D)), None, on=module
    )
    case.check(
        "modes",
        "dropped_weights",
        [case.see(Y)],
        "in training, attention weights are dropped",
        p=p,
        keys=S,
        features=D // H,
    )
    return case
