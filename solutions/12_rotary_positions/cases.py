"""Cases for rotary positions. Positions have gaps and are not sorted, and no base is the default alone.

`apply_rotary` is judged by itself: through attention, a permutation of the features would not show.
"""

import numpy as np

from grader.authoring import Case, weights

AXES = ("batch", "head", "step", "feature")
OUT = ("batch", "step", "feature")


def rotary_angles(draw):
    name = "rotary_angles"

    case = Case("small", name)
    positions = case.input("positions", np.array([0, 1, 5, 2]))
    Y = case.call(positions, d=6, axes=("step", "pair"))
    case.check("shapes", "shape", [case.see(Y)], "one angle per position and pair", any_float=True)
    case.check_values(Y, "positions 0, 1, 5 and 2, three pairs")
    case.check_unchanged(positions)
    yield case

    case = Case("own-positions", name)
    positions = case.input("positions", np.array([[7, 3, 40], [0, 11, 2]]))
    Y = case.call(positions, d=10, base=500.0, axes=("batch", "step", "pair"))
    case.check("shapes", "shape", [case.see(Y)], "positions of shape (B, T)", any_float=True)
    case.check_values(Y, "positions of shape (B, T), base 500", tol=1e-4)
    yield case

    case = Case("far", name)
    Y = case.call(case.input("positions", np.array([1000, 257, 640])), d=8, axes=("step", "pair"))
    case.check_values(Y, "positions up to 1000", tol=1e-4)
    Y = case.call(case.input("one", np.array([9])), d=2, axes=("step", "pair"))
    case.check_values(Y, "a single pair", caps=False, tol=1e-4)
    yield case

    case = Case("odd", name)
    case.call(case.input("positions", np.array([0, 1])), d=5)
    case.check("shapes", "raises", [], "a ValueError for an odd number of features", type="ValueError")
    yield case


def apply_rotary(draw):
    name = "apply_rotary"
    B, H, T = draw.sizes(3, low=2, high=5)
    d = 6
    for id, positions, more, title in (
        ("gaps", np.array([3, 0, 40, 7, 1][:T]), {}, "positions with gaps, not in order"),
        (
            "own-positions",
            draw.integers(0, 60, B, T),
            {"base": 500.0},
            "positions of each sequence, base 500",
        ),
    ):
        case = Case(id, name)
        x = case.input("x", draw.normal(B, H, T, d), grad=True)
        at = case.input("positions", positions)
        Y = case.call(x, at, axes=AXES, **more)
        case.check_shape(Y, f"shape and dtype, {title}")
        case.check_values(Y, f"turned pairs, {title}")
        flow = case.gradients(Y, draw.normal(B, H, T, d), wrt=[x])
        case.check_gradients(flow, f"gradient of x, {title}")
        case.check_unchanged(x, at)
        yield case

    case = Case("first", name)
    x = case.input("x", draw.normal(1, H, 1, 4))
    Y = case.call(x, case.input("positions", np.array([0])), axes=AXES)
    case.check_shape(Y, "axes of size one stay where they are")
    Y = case.call(x, case.input("later", np.array([2])), axes=AXES)
    case.check_values(Y, "a single step at position 2")
    yield case

    case = Case("far", name)
    at = case.input("positions", np.array([257, 999, 3, 640]))
    Y = case.call(case.input("x", draw.normal(B, H, 4, d)), at, axes=AXES)
    case.check_values(Y, "positions up to 999", tol=2e-4)
    case.check_precision(Y, "positions up to 999, and dtype", tol=2e-4)
    yield case


def RotaryAttention(draw):
    name = "RotaryAttention"
    H, d = 2, 6
    D = H * d
    B, T = draw.sizes(2, low=3, high=7, avoid=(H, d))
    for id, positions, base, title, facet in (
        ("plain", None, 10000.0, "without positions", "values"),
        (
            "restart",
            np.array([0, 1, 2, 0, 1, 2, 3]),
            10000.0,
            "positions that begin again",
            "masking",
        ),
        (
            "own-positions",
            draw.integers(0, 60, B, T),
            500.0,
            "positions of each sequence, base 500",
            "values",
        ),
    ):
        steps = T if positions is None else positions.shape[-1]
        case = Case(id, name)
        module = case.build(d_model=D, num_heads=H, base=base)
        case.load(module, weights.multi_head(draw, D))
        case.stages(
            module, W_q="the projection of the queries", W_k="the projection of the keys",
            W_v="the projection of the values",
        )  # fmt: skip
        x = case.input("x", draw.normal(B, steps, D), grad=True)
        at = () if positions is None else (case.input("positions", positions),)
        Y = case.call(x, *at, on=module, axes=OUT)
        case.check_shape(Y, f"shape and dtype, {title}")
        case.check_values(Y, f"result, {title}", facet)
        flow = case.gradients(Y, draw.normal(B, steps, D), wrt=[x], parameters=module)
        case.check_gradients(flow, f"gradients of input and layers, {title}")
        case.check_unchanged(x, *at)
        if positions is None:
            case.check_parameters()
            case.check_precision(Y, "result and dtype")
        yield case

    case = Case("later", name)
    module = case.build(d_model=15 * 2, num_heads=3)
    case.load(module, weights.multi_head(draw, 30))
    values = draw.normal(B, T, 30)
    other = values.copy()
    other[:, 2:] = draw.normal(B, T - 2, 30)
    Y, Z = (case.call(case.input(id, x), on=module, axes=OUT) for id, x in (("x", values), ("other", other)))
    early, also = (case.part(one, (None, None), (0, 2), (None, None), axes=OUT) for one in (Y, Z))
    case.check_same(
        early,
        also,
        "later steps make no difference to earlier ones",
        "masking",
        "other later steps changed the result",
    )
    case.check_values(Y, "three heads of ten features")
    yield case

    for id, sizes, title in (
        (
            "indivisible",
            {"d_model": 10, "num_heads": 4},
            "a ValueError if the heads do not divide the features",
        ),
        ("odd", {"d_model": 9, "num_heads": 3}, "a ValueError for heads with an odd number of features"),
    ):
        case = Case(id, name)
        module = case.build(**sizes)
        case.call(case.input("x", draw.normal(1, 2, sizes["d_model"])), on=module)
        case.check("shapes", "raises", [], title, type="ValueError")
        yield case


def interleaved_to_half(draw):
    name = "interleaved_to_half"
    for id, H, d, n, caps in (
        ("three-heads", 3, 6, 4, True),
        ("two-heads", 2, 10, 7, True),
        ("one-head", 1, 8, 5, False),
    ):
        case = Case(id, name, caps=caps)
        weight = case.input("weight", draw.normal(H * d, n))
        Y = case.call(weight, num_heads=H, axes=("row", "column"))
        case.check_shape(Y, f"shape and dtype, {id.replace('-', ' ')}")
        case.check_values(Y, f"the rows in their new order, {id.replace('-', ' ')}")
        case.check_unchanged(weight)
        if id == "three-heads":
            case.check_precision(Y, "the rows in their new order, and dtype")
        yield case


def MixedRotary(draw):
    name = "MixedRotary"
    B, H, T = draw.sizes(3, low=2, high=5)

    case = Case("pairs", name)
    module = case.build(d=6)
    values = draw.normal(B, H, T, 6)
    other = values.copy()
    other[..., 2:] = draw.normal(B, H, T, 4)
    at = case.input("positions", draw.integers(1, 80, T))
    Y, Z = (
        case.call(case.input(id, x), at, on=module, axes=AXES) for id, x in (("x", values), ("other", other))
    )
    case.check_same(
        *(case.part(one, *[(None, None)] * 3, (0, 2), axes=AXES) for one in (Y, Z)),
        "the first two features are a pair",
        "values",
        "the first two features depend on others: in this course, the two of a pair are neighbours",
    )
    yield case

    for id, d, more, title in (
        ("gaps", 6, {}, "positions with gaps, not in order"),
        ("own-base", 10, {"base": 500.0, "max_len": 90}, "base 500, a table of 90 positions"),
    ):
        case = Case(id, name)
        module = case.build(d=d, **more)
        case.eval(module)
        x = case.input("x", draw.normal(B, H, T, d), grad=True)
        at = case.input("positions", draw.integers(1, 80, T))
        Y = case.call(x, at, on=module, axes=AXES)
        case.check_shape(Y, f"shape and dtype, {title}")
        case.check_values(Y, f"turned pairs, {title}")
        case.check_gradients(case.gradients(Y, draw.normal(B, H, T, d), wrt=[x]), f"gradient of x, {title}")
        case.check_unchanged(x, at)
        case.load(module, {})  # last, because it overwrites parameters; a right module has none
        case.check_parameters("the module has no parameters")
        yield case

    case = Case("far", name)
    module = case.build(d=4)
    Y = case.call(
        case.input("x", draw.normal(1, 2, 3, 4)),
        case.input("positions", np.array([511, 0, 300])),
        on=module,
        axes=AXES,
    )
    case.check_values(Y, "positions up to 511", tol=2e-4)
    yield case
