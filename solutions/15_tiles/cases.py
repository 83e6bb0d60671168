"""Cases for attention in tiles. Blocks divide no length, and there are more queries than keys as often as fewer.

Where scores are about 1000, features are multiples of 1/4 and a head has 16 of them. So every score is exact in
float32, however it is summed and scaled: what is left is the rounding of an lse near 1000.
"""

import numpy as np

from grader.authoring import Case, round_to

ROWS = ("batch", "head", "query", "feature")
KEYS = ("batch", "head", "key", "feature")
LSE = ("batch", "head", "query")
B, H, D, V = 2, 3, 6, 5
LARGE, GRADIENTS = 3e-4, 3e-3  # tolerances: of results of scores near 1000, and of their gradients


def merge_state(draw):
    name = "merge_state"

    def state(case, which, lse):
        out = draw.normal(*lse.shape, V)
        out[np.isneginf(lse)] = 0
        return case.input(f"out_{which}", out), case.input(f"lse_{which}", lse)

    def checked(case, what, title, facet="values", shape=False, **params):
        out, lse = what[0], what[1]
        case.see(out, axes=ROWS)
        case.see(lse, axes=LSE)
        if shape:
            case.check_shape(out, f"shape and dtype of the output, {title}")
            case.check_shape(lse, f"shape and dtype of the lse, {title}")
        case.check_values(out, f"output, {title}", facet, **params)
        case.check_values(lse, f"lse, {title}", facet, **params)

    case = Case("two", name)
    case.grad(False)
    a, b = (state(case, which, draw.normal(B, H, 7)) for which in "ab")
    Y = case.call(*a, *b)
    checked(case, Y, "two states", shape=True)
    case.check_unchanged(*a, *b)
    case.check_precision(Y[0], "output of two states, and dtype")
    yield case

    case = Case("three", name)
    case.grad(False)
    a, b, c = (state(case, which, draw.normal(B, H, 7, std=2.0)) for which in "abc")
    left = case.call(*a, *b)
    Y = case.call(left[0], left[1], *c)
    checked(case, Y, "three states, one after the other")
    right = case.call(*b, *c)
    Z = case.call(*a, right[0], right[1])
    case.see(Z[0], axes=ROWS)
    case.check_same(Y[0], Z[0], "the order of merging makes no difference", "values")
    yield case

    case = Case("large", name)
    case.grad(False)
    turns = 950 * signs(7)  # each query has a maximum of its own
    for i, (first, second, title) in enumerate(
        (
            (950, 950, "both near 950"),
            (-950, -950, "both near -950"),
            (turns, turns, "both near 950 and -950 in turns"),
            (turns, -turns, "one near 950 and one near -950"),
        )
    ):
        a, b = (
            state(case, f"{which}{i}", lse + draw.normal(B, H, 7))
            for which, lse in (("a", first), ("b", second))
        )
        checked(case, case.call(*a, *b), f"lse {title}", tol=1e-4)
    yield case

    # Every second query has no keys. If all had none, the result would be the other state.
    for id, empty, title in (
        ("left-empty", "a", "the first state is empty for some queries"),
        ("right-empty", "b", "the second state is empty for some queries"),
        ("both-empty", "ab", "both states are empty for some queries"),
    ):
        case = Case(id, name)
        case.grad(False)
        first, second = (draw.normal(B, H, 5) for _ in "ab")
        for which, lse in (("a", first), ("b", second)):
            if which in empty:
                lse[:, :, ::2] = -np.inf
        Y = case.call(*state(case, "a", first), *state(case, "b", second))
        checked(case, Y, title, "masking")
        yield case

    case = Case("without-batch", name, caps=False)
    case.grad(False)
    Y = case.call(*state(case, "a", draw.normal(7)), *state(case, "b", draw.normal(7)))
    case.see(Y[0], axes=ROWS[2:])
    case.check_values(Y[0], "output of states without batch and heads")
    yield case


def signs(S, run=1):
    """Return 1 and -1 in turns, `run` of each at a time."""
    return 1.0 - 2 * (np.arange(S) // run % 2)


def exact(draw, T, S, sign):
    """Return queries (B, H, T, 16), keys and values, with scores near 1000 · `sign` that are exact in float32.

    sign: 1 or -1 per key, (S,).
    """
    q, k = (np.round(draw.normal(B, H, n, 16) * 4) / 4 for n in (T, S))
    q[..., 0], k[..., 0] = 64.0, 62.5 * sign
    return q, k, draw.normal(B, H, S, V)


# Masks: what is passed, and T and S. With 11 queries and 7 keys, four queries see nothing.
MASKED = (
    ("causal-tall", 11, 7, (4, 3), {"causal": True}, "causal, 11 queries and 7 keys"),
    ("causal-wide", 5, 11, (4, 1), {"causal": True}, "causal, 5 queries and 11 keys"),
    ("window", 11, 13, (4, 2), {"causal": True, "window": 3}, "a window of 3, 11 queries and 13 keys"),
    ("window-tall", 13, 7, (4, 64), {"causal": True, "window": 2}, "a window of 2, 13 queries and 7 keys"),
)


def tiled_attention(draw):
    name = "tiled_attention"

    def checked(case, Y, title, facet="values", shape=False, **params):
        case.see(Y[0], axes=ROWS)
        case.see(Y[1], axes=LSE)
        if shape:
            case.check_shape(Y[0], f"shape and dtype of the output, {title}")
            case.check("shapes", "shape", [case.see(Y[1])], f"shape of the lse, {title}", any_float=True)
        case.check_values(Y[0], f"output, {title}", facet, **params)
        case.check_values(Y[1], f"lse, {title}", facet, **params)

    def inputs(case, T, S):
        shapes = {"queries": (B, H, T, D), "keys": (B, H, S, D), "values": (B, H, S, V)}
        return [case.input(which, draw.normal(*shape)) for which, shape in shapes.items()]

    for id, T, S, sizes in (("wide", 7, 13, (4,)), ("tall", 13, 7, (3, 1, 64))):
        case = Case(id, name)
        case.grad(False)
        args = inputs(case, T, S)
        for size in sizes:
            Y = case.call(*args, block_size=size)
            checked(case, Y, f"{T} queries, {S} keys, blocks of {size}", shape=size == sizes[0])
        case.check_unchanged(*args)
        if id == "wide":
            case.check_precision(Y[0], "output and dtype")
        yield case

    for id, sign, title in (
        ("large", signs(13), "scores near 1000 and -1000"),
        ("low", np.full(13, -1.0), "all scores near -1000"),
    ):
        case = Case(id, name)
        case.grad(False)
        args = [
            case.input(*one)
            for one in zip(("queries", "keys", "values"), exact(draw, 7, 13, sign), strict=True)
        ]
        checked(case, case.call(*args, block_size=4), title, tol=LARGE)
        yield case

    case = Case("lowest", name)  # far apart, so each row is the value of one key
    case.grad(False)
    q, k, v = exact(draw, 7, 13, -1.0)
    q[..., 0], k[..., 0] = 1024.0, -8192.0 + 64 * draw.integers(0, 60, B, H, 13) - 4 * np.arange(13)
    args = [case.input("queries", q), case.input("keys", k), case.input("values", v)]
    checked(case, case.call(*args, block_size=4), "all scores below -1 000 000")
    yield case

    for id, T, S, sizes, how, title in MASKED:
        case = Case(id, name)
        case.grad(False)
        args = inputs(case, T, S)
        for size in sizes:
            Y = case.call(*args, block_size=size, **how)
            checked(case, Y, f"{title}, blocks of {size}", "masking")
        if id == "window":
            case.check_precision(Y[0], "output with a window, and dtype")
        yield case

    case = Case("hidden-large", name)
    case.grad(False)
    q, k, v = exact(draw, 7, 11, signs(11, 3))
    args = [case.input("queries", q), case.input("keys", k), case.input("values", v)]
    Y = case.call(*args, block_size=4, causal=True, window=2)
    checked(case, Y, "hidden scores near 1000, a window of 2", "masking", tol=LARGE)
    yield case

    case = Case("one", name, caps=False)
    case.grad(False)
    args = [
        case.input(which, draw.normal(1, 1, n, 2))
        for which, n in (("queries", 1), ("keys", 3), ("values", 3))
    ]
    Y = case.call(*args, block_size=2)
    case.see(Y[0], axes=ROWS)
    case.check_values(Y[0], "a single query and a single head")
    yield case

    case = Case("cost", name)
    case.grad(False)
    sizes = {"queries": 4, "keys": 4, "values": 3}
    args = [case.input(which, draw.normal(1, 1, 40, n)) for which, n in sizes.items()]
    costs(case, args)
    yield case


def costs(case, args):
    """Check the size of the largest tensor, and that hidden tiles are skipped, for 40 queries and keys in blocks of 8."""
    causal, window = {"causal": True}, {"causal": True, "window": 8}
    for how, title in (({}, "no mask"), (causal, "causal")):
        case.check_at_most(
            case.largest_tensor(*args, block_size=8, name=f"largest {title}", **how),
            f"values of the largest tensor, {title}",
            "a tensor has more values than a quarter of all scores",
            limit=40 * 40 // 4,
        )
    whole = case.operations(*args, block_size=8, name="operations")
    for how, title, share in ((causal, "causal", 0.7), (window, "a window of 8", 0.5)):
        case.check_at_most(
            case.operations(*args, block_size=8, name=f"operations {title}", **how),
            f"operations, {title}",
            "tiles in which everything is hidden are computed all the same",
            of=whole,
            share=share,
        )


def attended(q, k, v, causal=False, window=None):
    """Return the output and the lse of attention, as the backward gets them."""
    T, S = q.shape[2], k.shape[2]
    distance = np.arange(T)[:, None] + S - T - np.arange(S)
    seen = (distance >= 0) & (distance < (window or S + T)) if causal else np.full((T, S), True)
    scores = np.where(seen, q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[-1]), -np.inf)
    top = np.where(seen.any(-1), scores.max(-1), 0.0)
    weights = np.exp(scores - top[..., None])
    total = weights.sum(-1)
    with np.errstate(divide="ignore"):
        lse = top + np.log(total)
    return weights @ v / np.where(total == 0, 1.0, total)[..., None], lse


def tiled_attention_backward(draw):
    name = "tiled_attention_backward"
    parts = ("queries", ROWS), ("keys", KEYS), ("values", KEYS)

    def inputs(case, q, k, v, **how):
        q, k, v = (round_to(x, "float32") for x in (q, k, v))
        output, lse = attended(*(x.astype(np.float64) for x in (q, k, v)), **how)
        g = draw.normal(*output.shape)
        names = ("grad_output", "queries", "keys", "values", "output", "lse")
        return [case.input(*one) for one in zip(names, (g, q, k, v, output, lse), strict=True)]

    def normal(T, S):
        return draw.normal(B, H, T, D), draw.normal(B, H, S, D), draw.normal(B, H, S, V)

    def checked(case, Y, title, facet="values", shape=False, **params):
        for i, (which, axes) in enumerate(parts):
            case.see(Y[i], axes=axes)
            if shape:
                case.check_shape(Y[i], f"shape and dtype of the gradient of {which}, {title}")
            case.check_values(Y[i], f"gradient of {which}, {title}", facet, **params)

    for id, T, S, sizes in (("wide", 7, 13, (4,)), ("tall", 13, 7, (3, 1, 64))):
        case = Case(id, name)
        case.grad(False)
        args = inputs(case, *normal(T, S))
        for size in sizes:
            Y = case.call(*args, block_size=size)
            checked(case, Y, f"{T} queries, {S} keys, blocks of {size}", shape=size == sizes[0])
        case.check_unchanged(*args)
        if id == "wide":
            case.check_precision(Y[0], "gradient of queries, and dtype")
        yield case

    case = Case("large", name)
    case.grad(False)
    args = inputs(case, *exact(draw, 7, 13, signs(13)))
    checked(case, case.call(*args, block_size=4), "scores near 1000 and -1000", tol=GRADIENTS)
    yield case

    for id, T, S, sizes, how, title in MASKED:
        case = Case(id, name)
        case.grad(False)
        args = inputs(case, *normal(T, S), **how)
        for size in sizes:
            Y = case.call(*args, block_size=size, **how)
            checked(case, Y, f"{title}, blocks of {size}", "masking")
        if how == {"causal": True}:
            case.check_unchanged(args[-1])  # with -inf, if there are more queries than keys
        else:
            i, which = (1, "keys") if id == "window" else (2, "values")
            case.check_precision(Y[i], f"gradient of {which} with a window, and dtype")
        yield case

    case = Case("hidden-large", name)
    case.grad(False)
    how = {"causal": True, "window": 2}
    args = inputs(case, *exact(draw, 7, 11, signs(11, 3)), **how)
    Y = case.call(*args, block_size=4, **how)
    checked(case, Y, "hidden scores near 1000, a window of 2", "masking", tol=GRADIENTS)
    yield case

    case = Case("one", name, caps=False)
    case.grad(False)
    args = inputs(case, draw.normal(1, 1, 1, 2), draw.normal(1, 1, 3, 2), draw.normal(1, 1, 3, 2))
    checked(case, case.call(*args, block_size=2), "a single query and a single head")
    yield case

    case = Case("cost", name)
    case.grad(False)
    args = inputs(case, *(draw.normal(1, 1, 40, n) for n in (4, 4, 3)))
    costs(case, args)
    yield case
