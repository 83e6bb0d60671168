"""Cases for kernel weights and kernel regression, nearly all with unequal numbers of queries and keys."""

import numpy as np

from grader.authoring import Case

TABLE = ("query", "key")
FAR = "a query far from all keys, and one near them"


def kernel_attention_weights(draw):
    T, S = draw.sizes(2, low=3, high=8)
    for id, w, title in _widths(draw):
        case = Case(id, "kernel_attention_weights", caps=w is not None)
        queries, keys = _places(case, draw, T, S)
        width = _given(case, w)
        Y = case.call(queries, keys, *width, axes=TABLE)
        case.check_shape(Y, f"shape and dtype, {title}")
        case.check_values(Y, f"weights, {title}")
        case.check("values", "sums_to_one", [case.see(Y)], f"the weights of a query sum to one, {title}")
        if w is None:
            yield case
            continue
        learned = [ref for ref in width if not isinstance(ref, float)]
        flow = case.gradients(Y, draw.normal(T, S), wrt=[queries, keys, *learned])
        inputs = "queries, keys and w" if learned else "queries and keys"
        case.check_gradients(flow, f"gradients of {inputs}, {title}")
        case.check_unchanged(queries, keys, *learned)
        if id == "number":
            case.check_precision(Y, "weights and dtype")
        yield case

    case = Case("one-query", "kernel_attention_weights")
    Y = case.call(
        case.input("queries", draw.normal(1)), case.input("keys", draw.normal(S)), _number(draw), axes=TABLE
    )
    case.check_shape(Y, "a single query gives a table with one row")
    case.check_values(Y, "a single query", caps=False)
    key = case.input("key", draw.normal(1))
    alone = case.call(case.input("all_queries", draw.normal(T)), key, axes=TABLE)
    case.check_shape(alone, "a single key gives a table with one column")
    yield case

    case = Case("as-many-queries-as-keys", "kernel_attention_weights")
    Y = case.call(
        case.input("queries", draw.normal(S)), case.input("keys", draw.normal(S)), _number(draw), axes=TABLE
    )
    case.check_values(Y, "as many queries as keys")
    yield case

    case = Case("moved-together", "kernel_attention_weights")
    queries, keys = draw.normal(T), draw.normal(S)
    left = case.call(case.input("queries", queries), case.input("keys", keys), axes=TABLE)
    right = case.call(
        case.input("moved_queries", queries + 2), case.input("moved_keys", keys + 2), axes=TABLE
    )
    case.check_same(
        left,
        right,
        "the weights depend only on distances",
        "values",
        "moving all queries and keys by the same distance changed the weights",
    )
    yield case

    case = Case("far", "kernel_attention_weights")
    queries, keys = _far_places(case, draw, S)
    Y = case.call(queries, keys, 1.0, axes=TABLE)
    case.check_values(Y, FAR, tol=1e-3)
    yield case


def kernel_regression(draw):
    T, S = draw.sizes(2, low=3, high=8)
    for id, w, title in _widths(draw):
        case = Case(id, "kernel_regression", caps=w is not None)
        queries, keys = _places(case, draw, T, S)
        values = case.input("values", draw.normal(S), grad=True)
        width = _given(case, w)
        Y = case.call(queries, keys, values, *width, axes=("query",))
        case.check_shape(Y, f"shape and dtype, {title}")
        case.check_values(Y, f"answers, {title}")
        if w is None:
            yield case
            continue
        learned = [ref for ref in width if not isinstance(ref, float)]
        flow = case.gradients(Y, draw.normal(T), wrt=[queries, keys, values, *learned])
        inputs = "queries, keys, values and w" if learned else "queries, keys and values"
        case.check_gradients(flow, f"gradients of {inputs}, {title}")
        case.check_unchanged(queries, keys, values, *learned)
        if id == "number":
            case.check_precision(Y, "answers and dtype")
        yield case

    case = Case("one-query", "kernel_regression")
    Y = case.call(
        case.input("queries", draw.normal(1)),
        case.input("keys", draw.normal(S)),
        case.input("values", draw.normal(S)),
        _number(draw),
        axes=("query",),
    )
    case.check_shape(Y, "a single query gives one answer, of shape (1,)")
    case.check_values(Y, "a single query", caps=False)
    yield case

    case = Case("as-many-queries-as-keys", "kernel_regression")
    Y = case.call(
        case.input("queries", draw.normal(S)),
        case.input("keys", draw.normal(S)),
        case.input("values", draw.normal(S)),
        _number(draw),
        axes=("query",),
    )
    case.check_values(Y, "as many queries as keys")
    yield case

    case = Case("order-of-keys", "kernel_regression")
    order = np.roll(np.arange(S), 1)
    keys, values = draw.normal(S), draw.normal(S)
    queries = case.input("queries", draw.normal(T))
    left = case.call(queries, case.input("keys", keys), case.input("values", values), axes=("query",))
    right = case.call(
        queries,
        case.input("moved_keys", keys[order]),
        case.input("moved_values", values[order]),
        axes=("query",),
    )
    case.check_same(
        left,
        right,
        "the order of the key-value pairs makes no difference",
        "values",
        "another order of the key-value pairs changed the answers",
    )
    yield case

    case = Case("far", "kernel_regression")
    queries, keys = _far_places(case, draw, S)
    Y = case.call(queries, keys, case.input("values", draw.normal(S)), 1.0, axes=("query",))
    case.check_values(Y, FAR, tol=1e-3)
    yield case


def _widths(draw):
    """Yield the id, the w and the title of each case: a number, an array for a learned tensor, or no w."""
    yield "number", _number(draw), "w is a number"
    yield "learned", np.array([_number(draw)]), "w is a tensor of shape (1,)"
    below_one = _number(draw) - 1  # 0.3 to 0.9: the other numbers are above 1
    yield "learned-scalar", np.array(below_one), "w is a tensor of shape ()"
    # Without gradients, so that a wrong gradient fails *gradients* alone. Last, so that a report shows the failure
    # of a usual call first.
    yield "default-w", None, "without w"


def _number(draw):
    """Return a number from 1.3 to 1.9, so that w differs from its square, and from half of its square."""
    return float(draw.integers(13, 19, 1)[0] / 10)


def _places(case, draw, T, S):
    return case.input("queries", draw.normal(T), grad=True), case.input("keys", draw.normal(S), grad=True)


def _far_places(case, draw, S):
    """Return one query so far from all keys that every exponential is 0, also in float64, and one near the keys.

    The scores are near -1984, which float32 rounds to 6e-5. Right answers round several times, so the tolerance is 1e-3.
    """
    queries = case.input("queries", np.array([63.0, 0.125]))
    return queries, case.input("keys", draw.integers(-9, 9, S) / 64)


def _given(case, w):
    """Return the arguments for w: none, the number, or an input with a gradient."""
    if w is None:
        return ()
    return (w,) if isinstance(w, float) else (case.input("w", w, grad=True),)
