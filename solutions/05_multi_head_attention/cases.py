"""Cases for multi-head attention, for the repairs, and for the tests that catch what they mend.

Modules are built with dropout 0.5 and judged in evaluation, so that dropout that stays on is seen at once.
"""

from pathlib import Path

import numpy as np

from grader.authoring import Case, definition_span, eye, filled, if_accepted, stub, weights, zeros

AXES = ("batch", "query", "feature")


# Where the work passes by, in order, for answers that use the contract's names.
STAGES = {
    "W_q": "the projection of the queries",
    "W_k": "the projection of the keys",
    "W_v": "the projection of the values",
    "attention__in0": "the queries split into heads",
    "attention__in1": "the keys split into heads",
    "attention__in2": "the values split into heads",
    "attention__in3": "the lengths handed to the heads",
    "attention": "the attention of the heads",
    "W_o__in0": "joining the heads",
    "W_o": "the output projection",
}


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
        case.stages(module, **STAGES)
        Y = case.call(queries, keys, values, valid_lens, on=module, axes=AXES)
        case.check_shape(Y, f"shape and dtype of the result, {title}")
        case.check_values(Y, f"result {title}", facet)
        flow = case.gradients(Y, draw.normal(B, T, D), wrt=[queries, keys, values], parameters=module)
        case.check_gradients(flow, f"gradients of inputs and layers, {title}")
        if lens is None:
            case.check_parameters()
            case.check_weights(case.weights(module, heads=H), optional=True)
            again = case.call(queries, keys, values, valid_lens, on=module)
            case.check_same(
                Y,
                again,
                "in evaluation nothing is dropped",
                "modes",
                "two calls in evaluation gave two results",
            )
        else:
            case.check_unchanged(queries, keys, values, valid_lens)
        if id == "per-query" and exercise == "MultiHeadAttention":  # a repair mends what it is told to mend
            case.check_precision(Y, "the result, and its dtype")
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
    case.check_parameters("every layer takes the size of its own input")
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

    case = Case("zeros-are-keys", exercise)
    module = built(case, D, H)
    case.load(module, weights.multi_head(draw, D))
    case.eval(module)
    keys, values = draw.normal(B, S, D), draw.normal(B, S, D)
    keys[:, 0] = values[:, 0] = 0
    Y = case.call(
        case.input("queries", draw.normal(B, T, D)),
        case.input("keys", keys),
        case.input("values", values),
        case.input("valid_lens", draw.lens(B, S)),
        on=module,
        axes=AXES,
    )
    case.check_values(Y, "a key of zeros is a key like any other", "masking")
    yield case

    case = Case("order-of-keys", exercise)
    module = built(case, D, H)
    case.load(module, weights.multi_head(draw, D))
    case.eval(module)
    order = np.roll(np.arange(S), 1)
    keys, values = draw.normal(B, S, D), draw.normal(B, S, D)
    queries = case.input("queries", draw.normal(B, T, D))
    left = case.call(
        queries, case.input("keys", keys), case.input("values", values), None, on=module, axes=AXES
    )
    right = case.call(
        queries,
        case.input("moved_keys", keys[:, order]),
        case.input("moved_values", values[:, order]),
        None,
        on=module,
        axes=AXES,
    )
    case.check_same(
        left,
        right,
        "keys and values in another order change nothing",
        "values",
        "the order of the keys changed the result",
    )
    yield case

    yield kept_in_training(exercise, draw, D, H)
    yield dropout_case(exercise, D, H)


def built(case, D, H, query_size=0, key_size=0, value_size=0, bias=False, dropout=0.5):
    """The module, by keyword."""
    return case.build(
        key_size=if_accepted(key_size or D),  # constructors with lazy layers do without these
        query_size=if_accepted(query_size or D),
        value_size=if_accepted(value_size or D),
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
    left, right = (case.call(x, x, x, None, on=module) for _ in range(2))
    case.check("modes", "varies", [case.see(left), case.see(right)], "in training two calls give two results")
    case.check_weights(
        case.weights(module, heads=H), "where weights are kept, they are those before dropout", optional=True
    )
    return case


def dropout_case(exercise, D, H):
    """All weights equal (no query asks for anything) and all values one: each head's output is the sum
    of its dropped weights."""
    B, T, S, p = 64, 32, 8, 0.25
    case = Case("dropout", exercise)
    module = built(case, D, H, dropout=p)
    even = filled(1 / D, D, D)
    case.load(
        module, {"W_q.weight": zeros(D, D), "W_k.weight": even, "W_v.weight": even, "W_o.weight": eye(D)}
    )
    case.train(module)
    case.seed(5)
    Y = case.call(
        case.constant("queries", (B, T, D)),
        case.constant("keys", (B, S, D)),
        case.constant("values", (B, S, D)),
        None,
        on=module,
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


# ---- the second repair: causal self-attention, heads on an axis of their own


def TangledSelfAttention(draw):
    H, d = 3, 4
    D = H * d
    B, T = draw.sizes(2, low=5, high=7)

    def start(id, heads=H, size=D):
        case = Case(id, "TangledSelfAttention")
        module = case.build(d_model=size, n_head=heads)
        case.load(module, tangled_weights(draw, size))
        return case, module

    for id, steps, title in (
        ("longer-than-a-head", T, "a sequence longer than a head is wide"),
        ("as-long-as-a-head", d, "a sequence as long as a head is wide"),
        ("shorter-than-a-head", 3, "a sequence shorter than a head is wide"),
    ):
        case, module = start(id)
        x = case.input("x", draw.normal(B, steps, D), grad=True)
        Y = case.call(x, on=module, axes=STEPS)
        case.check_shape(Y, f"shape and dtype: {title}")
        case.check_values(Y, title)
        first = case.part(Y, (None, None), (0, 1), axes=STEPS)
        case.check_values(first, f"the first step has only itself to look at: {title}", "masking")
        flow = case.gradients(Y, draw.normal(B, steps, D), wrt=[x], parameters=module)
        case.check_gradients(flow, f"gradients: {title}")
        if steps == T:
            case.check_parameters()
        else:
            case.check_unchanged(x)
        yield case

    for id, heads, size, steps, title in (
        ("one-step", H, D, 1, "a sequence of one step"),
        ("one-head", 1, 5, 4, "one head"),
        ("narrow-heads", 3, 6, 5, "heads two features wide"),
    ):
        case, module = start(id, heads, size)
        Y = case.call(case.input("x", draw.normal(B, steps, size)), on=module, axes=STEPS)
        case.check_values(Y, title)
        yield case

    for steps in (T, d):
        case, module = start(f"no-future-{'longer' if steps == T else 'equal'}")
        x = draw.normal(B, steps, D)
        left = case.call(case.input("x", x), on=module)
        right = case.call(case.input("other_last_step", last_step_changed(draw, x)), on=module)
        check_no_future(case, left, right, steps)
        yield case


STEPS = ("batch", "step", "feature")


def tangled_weights(draw, D):
    return joined(weights.linear(draw, name, D, D, bias=False) for name in ("w_q", "w_k", "w_v", "fc_out"))


def joined(parts):
    return {name: array for part in parts for name, array in part.items()}


def last_step_changed(draw, x):
    other = x.copy()
    other[:, -1] = draw.normal(*other[:, -1].shape)
    return other


def check_no_future(case, left, right, steps):
    early = ((None, None), (0, steps - 1))
    case.check_same(
        case.part(left, *early, axes=STEPS),
        case.part(right, *early, axes=STEPS),
        "no step looks at a later one",
        "masking",
        "changing the last step changed the result of an earlier one",
    )


# ---- the third repair: causal self-attention that hands out its weights

MAPS = ("batch", "head", "query", "key")


def TransparentSelfAttention(draw):
    H, d = 2, 4
    D = H * d
    B, T = draw.sizes(2, low=3, high=7, avoid=(H, d))

    def start(id, heads=H, size=D, train=False):
        case = Case(id, "TransparentSelfAttention")
        module = case.build(embed_dim=size, num_heads=heads, dropout=0.5)
        case.load(module, transparent_weights(draw, size))
        (case.train if train else case.eval)(module)
        return case, module

    for id, heads, size, steps, title in (
        ("two-heads", H, D, T, "two heads"),
        ("as-long-as-a-head", H, D, d, "a sequence as long as a head is wide"),
        ("three-heads", 3, 6, 5, "three heads"),
        ("one-head", 1, 5, 4, "one head"),
    ):
        case, module = start(id, heads, size)
        x = case.input("x", draw.normal(B, steps, size), grad=True)
        out = case.call(x, on=module, name="out")
        Y, attention = out[0], out[1]
        case.see(Y, axes=STEPS)
        case.see(attention, axes=MAPS)
        case.check_shape(Y, f"shape and dtype of the output, {title}")
        case.check_shape(attention, f"shape and dtype of the weights, {title}")
        case.check_values(Y, f"output, {title}")
        case.check_values(attention, f"weights that come back, {title}", "weights")
        first = case.part(Y, (None, None), (0, 1), axes=STEPS)
        case.check_values(first, f"the first step has only itself to look at, {title}", "masking")
        if id in ("two-heads", "three-heads"):
            flow = case.gradients(Y, draw.normal(B, steps, size), wrt=[x], parameters=module)
            case.check_gradients(flow, f"gradients of the input and the layers, {title}")
            case.check_parameters()
            case.check_unchanged(x)
        yield case

    case, module = start("no-future")
    x = draw.normal(B, T, D)
    left = case.call(case.input("x", x), on=module, name="left")
    right = case.call(case.input("other_last_step", last_step_changed(draw, x)), on=module, name="right")
    check_no_future(case, left[0], right[0], T)
    yield case

    case, module = start("twice")
    x = case.input("x", draw.normal(B, T, D))
    left, right = (case.call(x, on=module, name=name) for name in ("left", "right"))
    case.check_same(
        left[0],
        right[0],
        "in evaluation nothing is dropped",
        "modes",
        "two calls in evaluation gave two results",
    )
    yield case

    case, module = start("weights-in-training", train=True)
    case.seed(4)
    x = case.input("x", draw.normal(B, T, D))
    left, right = (case.call(x, on=module, name=name) for name in ("left", "right"))
    case.check(
        "modes", "varies", [case.see(left[0]), case.see(right[0])], "in training two calls give two outputs"
    )
    case.see(left[1], axes=MAPS)
    case.check_values(left[1], "in training, too, whole weights come back", "weights")
    case.check(
        "weights", "sums_to_one", [case.see(left[1])], "in training, too, weights of a step sum to one"
    )
    yield case

    yield transparent_dropout()


def transparent_weights(draw, D):
    return joined(weights.linear(draw, name, D, D) for name in ("W_Q", "W_K", "W_V", "fc_out"))


def transparent_dropout():
    """All weights equal and all values one: the last step, which sees all others, shows the sum of its
    dropped weights in every feature of a head."""
    B, T, D, H, p = 2048, 8, 8, 2, 0.25
    case = Case("dropout", "TransparentSelfAttention")
    module = case.build(embed_dim=D, num_heads=H, dropout=p)
    even = filled(1 / D, D, D)
    layers = {"W_Q": zeros(D, D), "W_K": even, "W_V": even, "fc_out": eye(D)}
    case.load(
        module,
        joined({f"{name}.weight": matrix, f"{name}.bias": zeros(D)} for name, matrix in layers.items()),
    )
    case.train(module)
    case.seed(6)
    out = case.call(case.constant("x", (B, T, D)), on=module, name="out")
    last = case.part(out[0], (None, None), (T - 1, T))
    title = "in training, attention weights are dropped"
    case.check("modes", "dropped_weights", [case.see(last)], title, p=p, keys=T, features=D // H)
    return case


# ---- tests that catch: one built module a case, faulty or sound

REFERENCE = Path(__file__).with_name("multi_head_attention.py").read_text("utf-8")
IMPORTS = """import math

import torch
from torch import nn

from grader.given import DotProductAttention, transpose_output, transpose_qkv


"""
GIVEN_MIXED_UP = """from grader.given import MultiHeadAttention


class MixedUpAttention(MultiHeadAttention):
    pass
"""


def handed_out(name):
    """The broken class as the student gets it: the last definition of the stub."""
    return IMPORTS + definition(stub(REFERENCE), name)


def mended(name, swap=()):
    """The mended class, for hidden cases alone. `swap`: pieces in which a fault comes back."""
    source = definition(REFERENCE, name)
    for old, new in dict(swap).items():
        if old not in source:
            raise ValueError(f"{name}: {old!r} does not occur in the reference")
        source = source.replace(old, new)
    return IMPORTS + source


def definition(source, name):
    start, stop = definition_span(source, name)
    return source[start:stop]


def shuffled(draw, cases):
    """Hidden cases come in an order of their own, so that counting calls is no answer."""
    cases = list(cases)
    order = draw.sizes(len(cases), low=0, high=len(cases) - 1) if draw.hidden else range(len(cases))
    return [cases[i] for i in order]


def catching(exercise, id, module_of, layers, faulty, title):
    """A case in which the student's test is given one module. `module_of` makes it in the case."""
    case = Case(id, exercise)
    module = module_of(case)
    case.load(module, layers)
    says = "your test lets a faulty module pass" if faulty else "your test rejects a sound module"
    if id.startswith("own"):
        says = "your test rejects your own class: one of the two has a fault left"
    case.check_value(case.call(module), want=faulty, facet="values", title=title, says=says)
    return case


def catches_mixed_up(draw):
    yield from shuffled(draw, mixed_up_patients(draw))


def mixed_up_patients(draw):
    name, broken = "MixedUpAttention", handed_out("MixedUpAttention")

    def patient(id, source, faulty, title, H=2, D=8, q=0, k=0, v=0):
        sizes = {"query_size": q or D, "key_size": k or D, "value_size": v or D}
        kwargs = {**sizes, "num_hiddens": D, "num_heads": H, "dropout": 0.5}
        layers = weights.multi_head(draw, D, **sizes)

        def module_of(case):
            return case.provide(source, name, **kwargs) if source else case.build(name, **kwargs)

        return catching("catches_mixed_up", id, module_of, layers, faulty, title)

    left_over = broken + "\n\nvaild_lens = torch.tensor([3, 1])\n"
    nothing = broken + "\n\nvaild_lens = None\n"
    yield patient("handed-out", broken, True, "catches the class as it was handed out")
    yield patient("sound", GIVEN_MIXED_UP, False, "lets a sound module pass")
    yield patient(
        "handed-out-none", nothing, True, "catches it where a notebook holds a None it leans on", H=1
    )
    yield patient(
        "sound-sizes", GIVEN_MIXED_UP, False, "lets a sound module of three input sizes pass", q=5, k=6, v=7
    )
    yield patient(
        "handed-out-left-over", left_over, True, "catches it where a notebook holds lengths it leans on", H=4
    )
    yield patient("sound-one-head", GIVEN_MIXED_UP, False, "lets a sound module with one head pass", H=1, D=3)
    if not draw.hidden:
        yield patient("own", "", False, "lets your own mended class pass")
        return

    keys = {"self.W_k(keys)": "self.W_q(keys)"}
    values = {"self.W_v(values)": "self.W_q(values)"}
    lens = {
        "if valid_lens is not None": "if vaild_lens is not None",
        "repeat_interleave(valid_lens": "repeat_interleave(vaild_lens",
    }
    stale = "\n\nvaild_lens = torch.tensor([3, 1])\n"
    for id, source, H in (
        ("half-mended-1", mended(name, keys), 2),
        ("half-mended-2", mended(name, values), 3),
        ("half-mended-3", mended(name, {**keys, **values}), 2),
        ("half-mended-4", mended(name, lens), 2),
        ("half-mended-5", mended(name, lens) + stale, 3),
    ):
        yield patient(id, source, True, "catches a half-mended class", H=H, D=6)
    for id, H, D in (("mended-1", 2, 6), ("mended-2", 3, 9), ("mended-3", 1, 4)):
        yield patient(id, mended(name), False, "lets a mended class pass", H=H, D=D)
    yield patient(
        "mended-sizes", mended(name), False, "lets a mended class of three input sizes pass", q=3, k=7, v=5
    )


def catches_tangled(draw):
    yield from shuffled(draw, tangled_patients(draw))


def tangled_patients(draw):
    name, broken = "TangledSelfAttention", handed_out("TangledSelfAttention")

    def patient(id, source, faulty, title, H, D):
        def module_of(case):
            return (
                case.provide(source, name, d_model=D, n_head=H)
                if source
                else case.build(name, d_model=D, n_head=H)
            )

        return catching("catches_tangled", id, module_of, tangled_weights(draw, D), faulty, title)

    yield patient("handed-out", broken, True, "catches the class as it was handed out", 3, 12)
    yield patient("handed-out-wide", broken, True, "catches it with wider heads", 2, 14)
    yield patient("handed-out-one-head", broken, True, "catches it with one head", 1, 4)
    if not draw.hidden:
        yield patient("own", "", False, "lets your own mended class pass", 3, 12)
        yield patient("own-wide", "", False, "lets your own mended class pass, with wider heads", 2, 14)
        yield patient("own-one-head", "", False, "lets your own mended class pass, with one head", 1, 4)
        return

    scores = {"q @ k.transpose(2, 3) / math": "q @ k.transpose(2, 3) @ q / math"}
    size = {"torch.ones(steps, steps,": "torch.ones(self.d_head, self.d_head,"}
    product = {'scores.masked_fill(future, float("-inf"))': 'scores + future * float("-inf")'}
    half_mended = (
        (scores, 2, 8),
        (size, 3, 12),
        (size, 2, 14),
        (product, 3, 15),
        ({**scores, **size}, 2, 10),
    )
    for number, (swap, H, D) in enumerate(half_mended, 1):
        yield patient(f"half-mended-{number}", mended(name, swap), True, "catches a half-mended class", H, D)
    for number, (H, D) in enumerate(((3, 12), (2, 14), (1, 5), (4, 4), (2, 8)), 1):
        yield patient(f"mended-{number}", mended(name), False, "lets a mended class pass", H, D)


def catches_transparent(draw):
    yield from shuffled(draw, transparent_patients(draw))


def transparent_patients(draw):
    name, broken = "TransparentSelfAttention", handed_out("TransparentSelfAttention")

    def patient(id, source, faulty, title, H, D, dropout):
        kwargs = {"embed_dim": D, "num_heads": H, "dropout": dropout}

        def module_of(case):
            return case.provide(source, name, **kwargs) if source else case.build(name, **kwargs)

        return catching("catches_transparent", id, module_of, transparent_weights(draw, D), faulty, title)

    yield patient("handed-out", broken, True, "catches the class as it was handed out", 3, 12, 0.1)
    yield patient("handed-out-one-head", broken, True, "catches it with one head", 1, 5, 0.5)
    yield patient("handed-out-no-dropout", broken, True, "catches it where nothing is dropped", 2, 8, 0.0)
    if not draw.hidden:
        yield patient("own", "", False, "lets your own mended class pass", 3, 12, 0.1)
        yield patient("own-one-head", "", False, "lets your own mended class pass, with one head", 1, 5, 0.5)
        yield patient(
            "own-no-dropout",
            "",
            False,
            "lets your own mended class pass, where nothing is dropped",
            2,
            8,
            0.0,
        )
        return

    masked = 'scores.masked_fill(future, float("-inf"))'
    mask = {masked: "scores"}
    dropped = {
        "self.dropout(attention)": "attention",
        f"torch.softmax({masked}, dim=-1)": f"self.dropout(torch.softmax({masked}, dim=-1))",
    }
    merge = {"heads.transpose(1, 2).reshape": "heads.reshape"}
    half_mended = ((mask, 2, 8, 0.1), (dropped, 3, 9, 0.3), (merge, 2, 10, 0.2), (merge, 3, 12, 0.0))
    for number, (swap, H, D, dropout) in enumerate(half_mended, 1):
        yield patient(
            f"half-mended-{number}", mended(name, swap), True, "catches a half-mended class", H, D, dropout
        )
    for number, (H, D, dropout) in enumerate(((2, 8, 0.1), (3, 12, 0.5), (1, 4, 0.2), (4, 4, 0.0)), 1):
        yield patient(f"mended-{number}", mended(name), False, "lets a mended class pass", H, D, dropout)
