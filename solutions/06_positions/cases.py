"""Cases for positional encoding, token embedding and the shift matrix.

The cases for the positional encoding check what the table adds to an input, never the name or layout of the table.
"""

import numpy as np

from grader.authoring import Case

AXES = ("batch", "step", "feature")
P = 0.25  # the dropout rate in training


def PositionalEncoding(draw):
    name = "PositionalEncoding"
    B, T = draw.sizes(2, low=3, high=5)
    D = 8

    case = Case("numbers", name)
    module = case.build(num_hiddens=D, dropout=0.0)
    case.eval(module)
    X = case.input("X", draw.normal(B, T, D), grad=True)
    Y = case.call(X, on=module, axes=AXES)
    case.check_shape(Y)
    case.check_values(Y, "the input plus the sine or cosine of its position")
    case.check_gradients(
        case.gradients(Y, draw.normal(B, T, D), wrt=[X]), "the gradient passes to the input as it is"
    )
    case.check_unchanged(X)
    again = case.call(X, on=module, axes=AXES)
    case.check_same(
        Y,
        again,
        "positions start at 0 in every call",
        "purity",
        "a second call on the same input gives a different result",
    )
    case.load(module, {})  # last, because it overwrites parameters; a right module has none
    case.check_parameters("the module has no parameters")
    yield case

    case = Case("other-lengths", name)
    module = case.build(num_hiddens=D - 2, dropout=0.0)
    case.eval(module)
    Y = case.call(case.input("X", draw.normal(1, 1, D - 2)), on=module, axes=AXES)
    case.check_shape(Y, "axes of size one stay where they are")
    case.check_values(Y, "a single step of a single sequence", caps=False)
    # Longer than the default of 1000. A right table may have angles in float32, which round to 6e-5 there.
    module = case.build("", "longer", num_hiddens=4, dropout=0.0, max_len=1203)
    case.eval(module)
    Y = case.call(case.constant("X_longer", (2, 1203, 4), 0.5), on=module, name="all")
    last = case.part(Y, (1, 2), (1180, 1203), (None, None), name="last", axes=AXES)
    case.check_values(last, "the last of max_len positions", caps=False, tol=1e-4)
    yield case

    case = Case("odd", name)
    module = case.build(num_hiddens=5, dropout=0.0)
    case.eval(module)
    Y = case.call(case.input("X", draw.normal(B, T, 5)), on=module, axes=AXES)
    case.check_shape(Y, "an odd number of features", policy="odd-width")
    title = "odd D: the last feature is a sine without a cosine"
    case.check_values(Y, title, caps=False, policy="odd-width")
    yield case

    case = Case("far", name)
    module = case.build(num_hiddens=4, dropout=0.0)
    case.eval(module)
    Y = case.call(case.constant("X", (2, 1000, 4), 0.5), on=module, name="all")
    last = case.part(Y, (1, 2), (970, 1000), (None, None), name="last", axes=AXES)
    case.check_values(last, "positions up to 999", tol=1e-4)
    case.check_precision(last, "positions up to 999, and dtype", tol=1e-4)
    yield case

    case = Case("dropout", name)
    module = case.build(num_hiddens=D, dropout=0.5)
    case.eval(module)
    case.seed(1)  # for wrong answers that apply dropout here
    X = case.input("X", draw.normal(B, T, D))
    first, second = (case.call(X, on=module, axes=AXES) for _ in range(2))
    case.check_values(first, "no dropout in evaluation")
    case.check_same(
        first,
        second,
        "every call in evaluation gives the same result",
        "modes",
        "two calls in evaluation gave different results",
    )
    module = case.build("", "wide", num_hiddens=40, dropout=P)
    for id, value, title in (
        ("twos", 2.0, "in training, dropout is applied to the sum of input and position"),
        ("zeros", 0.0, "in training, dropout is applied to positions where the input is 0"),
    ):
        X = case.constant(id, (8, 50, 40), value)
        case.eval(module)
        still = case.call(X, on=module, name=f"still_{id}")
        case.train(module)
        case.seed(2)
        dropped = case.call(X, on=module, name=f"dropped_{id}")
        case.check("modes", "dropped_elements", [case.see(dropped), case.see(still)], title, p=P)
    yield case


def TokenEmbedding(draw):
    name = "TokenEmbedding"
    V, D, B, T = draw.sizes(4, low=3, high=7)
    tokens = draw.integers(0, V - 1, B, T)
    tokens[0, :3] = 1, V - 1, 0
    tokens[1, :2] = 1, V - 1  # these tokens occur more than once, so that their gradients add up
    table = draw.normal(V, D)
    table[1] = 0  # the row of padding: zeros, without a gradient

    case = Case("numbers", name)
    module = case.build(vocab_size=V, d_model=D)
    case.load(module, {"weight": table})
    X = case.input("X", tokens)
    Y = case.call(X, on=module, axes=AXES)
    case.check_shape(Y)
    case.check_values(Y, "each token's row of the table")
    case.check_parameters()
    flow = case.gradients(Y, draw.normal(B, T, D), parameters=module)
    case.check_gradients(
        flow, "gradient of the table: rows that are used get a gradient, the padding row gets none"
    )
    case.check_unchanged(X)
    case.check_precision(Y, "each token's row, and dtype")
    yield case

    case = Case("other-sizes", name)
    module = case.build(vocab_size=D + 9, d_model=V)
    case.load(module, {"weight": np.concatenate([np.zeros((2, V)), draw.normal(D + 7, V)])})
    Y = case.call(case.input("X", draw.integers(2, D + 8, T, B)), on=module, axes=AXES)
    case.check_values(Y, "a vocabulary of another size")
    yield case

    case = Case("one-token", name)
    module = case.build(vocab_size=V, d_model=D)
    case.load(module, {"weight": table})
    Y = case.call(case.input("X", np.array([[V - 1]])), on=module, axes=AXES)
    case.check_shape(Y, "axes of size one stay where they are")
    yield case

    case = Case("padding", name)
    case.seed(1)  # the initial table is random
    module = case.build(vocab_size=V, d_model=D)
    Y = case.call(case.input("X", np.ones((B, T), dtype=np.int64)), on=module, axes=AXES)
    case.check_values(Y, "the row of padding starts as zeros", "purity")
    yield case


def shift_matrix(draw):
    name = "shift_matrix"
    for id, delta, D, title, tol in (
        ("one-step", 1, 4, "one step, four features", 1e-5),
        ("several", draw.choice([2, 3, 4, 5]), 6, "several steps, six features", 1e-5),
        ("back", -draw.choice([2, 3, 4, 5]), 8, "several steps back", 1e-5),
        ("nowhere", 0, 6, "a shift of zero", 1e-5),
        ("far", draw.choice([117, 128, 139]), 10, "many steps", 1e-4),
        ("one-pair", draw.choice([2, 3]), 2, "a single pair of features", 1e-5),
    ):
        case = Case(id, name)
        M = case.call(delta, D, axes=("row", "column"))
        case.check(
            "shapes", "shape", [case.see(M)], f"a floating-point matrix (D, D): {title}", any_float=True
        )
        case.check_values(M, f"the matrix: {title}", caps=D > 2, tol=tol)
        positions = np.array([7, 8, 11, 30, 500])  # also not negative after a shift by -5
        case.hold_for_judge("P", table(positions, D))
        case.hold_for_judge("moved", table(positions + delta, D))
        case.check(
            "values",
            "carries",
            [case.see(M)],
            f"it maps P[i] to P[i + delta] for every i: {title}",
            caps=D > 2,
            rows="P",
            images="moved",
            tol=10 * tol,
            says="the matrix times P[i] is not P[i + delta]",
        )
        yield case


def table(positions, D):
    """Return the rows of the table of sines and cosines for these positions: (positions, D), D even."""
    angles = positions[:, None] / 10000 ** (np.arange(0, D, 2) / D)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(positions), D)
