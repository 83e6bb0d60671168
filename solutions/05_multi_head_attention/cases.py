"""Cases for multi-head attention, for the repairs, and for the students' tests of the repairs.

A repair is an exercise that gives students a faulty class; they correct it and write a test that finds its faults.
Outputs are compared with the reference in evaluation mode. Modules with dropout then have the rate 0.5, so
dropout that stays on is detected. A case may make several calls: one more call costs far less than one more case.
"""

from pathlib import Path

import numpy as np

from grader.authoring import Case, definition_span, eye, filled, stub, weights, zeros

AXES = ("batch", "query", "feature")


# The intermediate results in order, for answers whose layers have the names of the exercise text. `attention__in0`
# is the first argument of the layer `attention`.
STAGES = {
    "W_q": "the projection of the queries",
    "W_k": "the projection of the keys",
    "W_v": "the projection of the values",
    "attention__in0": "the queries split into heads",
    "attention__in1": "the keys split into heads",
    "attention__in2": "the values split into heads",
    "attention__in3": "the valid lengths, entry b·H + h for head h of sequence b",
    "attention": "the attention of the heads",
    "W_o__in0": "the concatenated heads",
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
        ("per-sequence", draw.lens(B, S), "with one length per sequence (B,)", "masking"),
        ("per-query", draw.lens((B, T), S), "with one length per query (B, T)", "masking"),
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
        case.check_values(Y, f"result, {title}", facet)
        flow = case.gradients(Y, draw.normal(B, T, D), wrt=[queries, keys, values], parameters=module)
        case.check_gradients(flow, f"gradients of inputs and layers, {title}")
        if lens is None:
            case.check_parameters()
            case.check_weights(case.weights(module, heads=H), optional=True)
            again = case.call(queries, keys, values, valid_lens, on=module)
            case.check_same(
                Y,
                again,
                "no dropout in evaluation mode",
                "modes",
                "two calls in evaluation mode returned different results",
            )
        else:
            case.check_unchanged(queries, keys, values, valid_lens)
        if id == "per-sequence":
            zeros_are_keys(case, draw, module, lens, T, D)
        # Not for MixedUpAttention: a repair fixes only the faults of the given class.
        if id == "per-query" and exercise == "MultiHeadAttention":
            case.check_precision(Y, "result and dtype")
        yield case

    yield own_sizes(exercise, draw, B, T, S)
    yield training(exercise, draw, D, H)
    yield other_numbers_of_vectors(exercise, draw, B, T, S, D, H)


def zeros_are_keys(case, draw, module, lens, T, D):
    """Check a real key of zeros, for answers that treat every key of zeros as padding."""
    B, S = len(lens), int(lens.max())  # one of the lengths is S
    keys, values = draw.normal(B, S, D), draw.normal(B, S, D)
    keys[:, 0] = values[:, 0] = 0
    Y = case.call(
        case.input("other_queries", draw.normal(B, T, D)),
        case.input("keys_with_zeros", keys),
        case.input("values_with_zeros", values),
        case.input("other_lens", lens),
        on=module,
        axes=AXES,
    )
    case.check_values(Y, "a key of zeros is a real key", "masking")


def own_sizes(exercise, draw, B, T, S):
    """Return a case with three different input sizes, three heads, and biases."""
    D, H = 9, 3
    q, k, v = draw.sizes(3, low=3, high=7)
    case = Case("own-sizes", exercise)
    module = built(case, D, H, q, k, v, bias=True)
    case.load(module, weights.multi_head(draw, D, query_size=q, key_size=k, value_size=v, bias=True))
    case.eval(module)
    Y = case.call(
        case.input("queries", draw.normal(B, T, q)),
        case.input("keys", draw.normal(B, S, k)),
        case.input("values", draw.normal(B, S, v)),
        case.input("valid_lens", draw.lens(B, S)),
        on=module,
        axes=AXES,
    )
    case.check_values(Y, "three heads, with bias=True, and inputs of three different sizes")
    case.check_parameters("every layer has the size of its own input, and a bias with bias=True")
    return case


def built(case, D, H, query_size=0, key_size=0, value_size=0, bias=False, dropout=0.5, name="module"):
    """Build the module, with arguments by keyword. A size of 0 stands for D."""
    return case.build(
        "",
        name,
        key_size=key_size or D,
        query_size=query_size or D,
        value_size=value_size or D,
        num_hiddens=D,
        num_heads=H,
        dropout=dropout,
        bias=bias,
    )


def other_numbers_of_vectors(exercise, draw, B, T, S, D, H):
    """Return a case with one query of one sequence.

    For MultiHeadAttention the case starts with as many queries as keys, because some answers raise an exception
    for other numbers, and with large scores.
    """
    case = Case("other-numbers", exercise)
    module = built(case, D, H)
    case.load(module, weights.multi_head(draw, D))
    case.eval(module)
    if exercise == "MultiHeadAttention":
        inputs = [case.input(name, draw.normal(B, S, D)) for name in ("queries", "keys", "values")]
        Y = case.call(*inputs, None, on=module, axes=AXES)
        case.check_values(Y, "as many queries as keys")
        large_scores(case, draw, B, T, S)  # not for a repaired class: it uses the softmax of a building block

    inputs = [
        case.input(f"one_{name}", draw.normal(1, n, D)) for name, n in zip("qkv", (1, S, S), strict=True)
    ]
    Y = case.call(*inputs, case.input("one_len", np.array([S - 1])), on=module, axes=AXES)
    case.check_shape(Y, "axes of size one stay where they are")
    if exercise == "MultiHeadAttention":
        by_default = case.build(
            "", "by_default", key_size=D, query_size=D, value_size=D, num_hiddens=D, num_heads=H, dropout=0.5
        )
        case.load(by_default, weights.multi_head(draw, D))
        case.eval(by_default)
        Y = case.call(*inputs, None, on=by_default)
        case.check_values(Y, "no biases unless they are asked for", caps=False)
    return case


def large_scores(case, draw, B, T, S):
    """Check scores near 120, for answers with their own softmax: the exponential of 89 overflows in float32.

    The tolerance is wider, because scores of this size are rounded to 8e-6.
    """
    D, H = 6, 3
    d = D // H
    module = built(case, D, H, name="large")
    loaded = weights.multi_head(draw, D)
    # The first feature of each head depends on the first input feature only.
    for name in ("W_q.weight", "W_k.weight"):
        loaded[name][::d] = 0
        loaded[name][::d, 0] = (120 * d**0.5) ** 0.5
    case.load(module, loaded)
    case.eval(module)
    queries, keys = draw.normal(B, T, D), draw.normal(B, S, D)
    queries[..., 0] = keys[..., 0] = 1
    inputs = (
        case.input("large_queries", queries),
        case.input("large_keys", keys),
        case.input("large_values", draw.normal(B, S, D)),
    )
    lens = case.input("large_lens", draw.lens(B, S))
    for valid_lens, title in ((None, "without a mask"), (lens, "with lengths (B,)")):
        Y = case.call(*inputs, valid_lens, on=module, axes=AXES)
        case.check_values(Y, f"large scores do not overflow, {title}", tol=3e-4)


def training(exercise, draw, D, H):
    """Return a case for training: every call drops other attention weights; stored weights are those before dropout.

    In the first call all attention weights are equal (W_q is zero) and all values are 1, so each head
    returns the sum of its weights after dropout.
    """
    case = Case("training", exercise)
    B, T, S, p = 64, 32, 8, 0.25
    module = built(case, D, H, dropout=p, name="even")
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
        "attention weights are dropped in training mode",
        p=p,
        keys=S,
        features=D // H,
    )

    module = built(case, D, H)
    case.load(module, weights.multi_head(draw, D))
    case.train(module)
    case.seed(3)
    x = case.input("x", draw.normal(3, 5, D))
    left, right = (case.call(x, x, x, None, on=module) for _ in range(2))
    case.check(
        "modes",
        "varies",
        [case.see(left), case.see(right)],
        "two calls in training mode return different results",
    )
    case.check_weights(
        case.weights(module, heads=H), "stored weights, if any, are the weights before dropout", optional=True
    )
    return case


# ---- the second repair: causal self-attention, heads on an axis of their own

STEPS = ("batch", "step", "feature")


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
        ("longer-than-a-head", T, "more steps than features per head"),
        ("as-long-as-a-head", d, "as many steps as features per head"),
        ("shorter-than-a-head", 3, "fewer steps than features per head"),
    ):
        case, module = start(id)
        x = case.input("x", draw.normal(B, steps, D), grad=True)
        Y = case.call(x, on=module, axes=STEPS)
        case.check_shape(Y, f"shape and dtype, {title}")
        case.check_values(Y, title)
        first = case.part(Y, (None, None), (0, 1), axes=STEPS)
        case.check_values(first, f"the first step sees only itself, {title}", "masking")
        flow = case.gradients(Y, draw.normal(B, steps, D), wrt=[x], parameters=module)
        case.check_gradients(flow, f"gradients, {title}")
        if steps == T:
            case.check_parameters()
        else:
            case.check_unchanged(x)
        yield case

    for id, heads, size, batch, steps, title in (
        ("one-step", H, D, 1, 1, "a single sequence of one step"),
        ("one-head", 1, 5, B, 4, "one head"),
        ("narrow-heads", 3, 6, B, 9, "two features per head, more steps than features"),
    ):
        case, module = start(id, heads, size)
        Y = case.call(case.input("x", draw.normal(batch, steps, size)), on=module, axes=STEPS)
        case.check_values(Y, title, caps=id == "narrow-heads")
        yield case

    for id, steps in (("no-future-longer", T), ("no-future-equal", d)):
        case, module = start(id)
        x = draw.normal(B, steps, D)
        left = case.call(case.input("x", x), on=module)
        right = case.call(case.input("other_last_step", last_step_changed(draw, x)), on=module)
        check_no_future(case, left, right, steps)
        yield case


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
        "no step sees a later step",
        "masking",
        "changing the last step changed the result of an earlier one",
    )


# ---- the third repair: causal self-attention that returns its weights

MAPS = ("batch", "head", "query", "key")


def TransparentSelfAttention(draw):
    H, d = 2, 4
    D = H * d
    B, T = draw.sizes(2, low=3, high=7, avoid=(H, d))

    def start(id, heads=H, size=D, train=False):
        case = Case(id, "TransparentSelfAttention")
        module = case.build(embed_dim=size, num_heads=heads, dropout=0.5)
        case.load(module, transparent_weights(draw, size))
        if train:
            case.train(module)
        else:
            case.eval(module)
        return case, module

    for id, heads, size, batch, steps, title in (
        ("two-heads", H, D, B, T, "two heads"),
        ("as-long-as-a-head", H, D, B, d, "as many steps as features per head"),
        ("three-heads", 3, 6, B, 9, "three heads, more steps than features"),
        ("one-head", 1, 5, 1, 4, "one head, one sequence"),
    ):
        case, module = start(id, heads, size)
        x = case.input("x", draw.normal(batch, steps, size), grad=True)
        out = case.call(x, on=module, name="out")
        Y, attention = out[0], out[1]
        case.see(Y, axes=STEPS)
        case.see(attention, axes=MAPS)
        case.check_shape(Y, f"shape and dtype of the output, {title}")
        case.check_shape(attention, f"shape and dtype of the weights, {title}")
        caps = heads > 1
        case.check_values(Y, f"output, {title}", caps=caps)
        case.check_values(attention, f"returned weights, {title}", "weights", caps=caps)
        first = case.part(Y, (None, None), (0, 1), axes=STEPS)
        case.check_values(first, f"the first step sees only itself, {title}", "masking", caps=caps)
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
        "no dropout in evaluation mode",
        "modes",
        "two calls in evaluation mode returned different results",
    )
    yield case

    case, module = start("weights-in-training", train=True)
    case.seed(4)
    x = case.input("x", draw.normal(B, T, D))
    left, right = (case.call(x, on=module, name=name) for name in ("left", "right"))
    case.check(
        "modes",
        "varies",
        [case.see(left[0]), case.see(right[0])],
        "two calls in training mode return different outputs",
    )
    case.see(left[1], axes=MAPS)
    case.check_values(left[1], "returned weights in training mode are the weights before dropout", "weights")
    case.check(
        "weights",
        "sums_to_one",
        [case.see(left[1])],
        "the returned weights of a step sum to one in training mode",
    )
    yield case

    yield transparent_dropout()


def transparent_weights(draw, D):
    return joined(weights.linear(draw, name, D, D) for name in ("W_Q", "W_K", "W_V", "fc_out"))


def transparent_dropout():
    """Return a case with equal attention weights and values of 1.

    The last step attends to all steps, so each of its features is the sum of a head's weights after dropout.
    """
    B, T, D, H, p = 2048, 8, 8, 2, 0.25  # many sequences, because only one step of each is checked
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
    title = "attention weights are dropped in training mode"
    case.check("modes", "dropped_weights", [case.see(last)], title, p=p, keys=T, features=D // H)
    return case


# ---- the students' tests: one module per case, faulty or correct
# Students may read these classes in the public bundle. Beside the given classes, they compute attention with building
# blocks or with PyTorch's own function, so they do not show how to repair the lines of the given classes.

REFERENCE = Path(__file__).with_name("multi_head_attention.py").read_text("utf-8")
IMPORTS = """import math

import torch
from torch import nn

from grader.given import DotProductAttention, transpose_output, transpose_qkv


"""
# A correct class: the building block under another name.
SOUND_MIXED_UP = """from grader.given import MultiHeadAttention


class MixedUpAttention(MultiHeadAttention):
    def forward(self, queries, keys, values, valid_lens):
        return super().forward(queries, keys, values, valid_lens)
"""
MIXED_UP = """
    def forward(self, queries, keys, values, valid_lens):
        layers, lens = (self.W_q, self.W_k, self.W_v), valid_lens
        inputs = zip(layers, (queries, keys, values))
        q, k, v = (transpose_qkv(layer(x), self.num_heads) for layer, x in inputs)
        if lens is not None:
            lens = lens.repeat_interleave(self.num_heads, dim=0)
        return self.W_o(transpose_output(self.attention(q, k, v, lens), self.num_heads))
"""
TANGLED = """
    def forward(self, x):
        q, k, v = (self.split(layer(x)) for layer in (self.w_q, self.w_k, self.w_v))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.fc_out(torch.cat(heads.unbind(1), dim=-1))
"""
# With the identity matrix as values, the result is the weights.
TRANSPARENT = """
    def forward(self, x):
        q, k, v = (self.split(layer(x)) for layer in (self.W_Q, self.W_K, self.W_V))
        identity = torch.eye(x.shape[1]).to(q).expand(*q.shape[:2], -1, -1)
        attention = nn.functional.scaled_dot_product_attention(q, k, identity, is_causal=True)
        heads = self.dropout(attention) @ v
        return self.fc_out(torch.cat(heads.unbind(1), dim=-1)), attention
"""


def given_class(name):
    """Return the faulty class that students get: the last definition of `name` in the stub."""
    source = stub(REFERENCE)
    start, stop = definition_span(source, name)
    return IMPORTS + source[start:stop]


def with_forward(name, forward, swap=()):
    """Return the given class with another `forward`. `swap` maps its code to faulty code."""
    for old, new in dict(swap).items():
        if old not in forward:
            raise ValueError(f"{name}: {old!r} does not occur in its new forward")
        forward = forward.replace(old, new)
    return given_class(name).partition("    def forward(")[0] + forward.lstrip("\n")


def shuffled(draw, cases):
    """Return the cases. Shuffle hidden cases, so that a test cannot pass by counting calls."""
    cases = list(cases)
    if not draw.hidden:
        return cases
    order = draw.sizes(len(cases), low=0, high=len(cases) - 1)  # distinct numbers: a permutation
    return [cases[i] for i in order]


def catching(exercise, id, source, name, kwargs, layers, title):
    """Return a case that passes a module of the class `name` to the student's test.

    The test must return False if the id begins with "sound", otherwise True.
    """
    case = Case(id, exercise)
    module = case.provide(source, name, **kwargs)
    case.load(module, layers)
    faulty = not id.startswith("sound")
    says = "your test accepts a faulty module" if faulty else "your test rejects a correct module"
    case.check_value(case.call(module), want=faulty, facet="values", title=title, says=says)
    return case


PARTLY = "rejects a class with some of the faults"


def catches_mixed_up(draw):
    yield from shuffled(draw, mixed_up_cases(draw))


def mixed_up_cases(draw):
    name, broken = "MixedUpAttention", given_class("MixedUpAttention")

    def tested(id, source, title, H=2, D=8, q=0, k=0, v=0):
        sizes = {"query_size": q or D, "key_size": k or D, "value_size": v or D}
        kwargs = {**sizes, "num_hiddens": D, "num_heads": H, "dropout": 0.5}
        layers = weights.multi_head(draw, D, **sizes)
        return catching("catches_mixed_up", id, source, name, kwargs, layers, title)

    # The given class reads a global variable with this misspelt name.
    left_over = "\n\nvaild_lens = torch.tensor([3, 1])\n"
    nothing = "\n\nvaild_lens = None\n"
    title = "rejects the given class when the notebook defines its global variable as"
    yield tested("given", broken, "rejects the given class")
    yield tested("given-none", broken + nothing, f"{title} None", H=1)
    yield tested("given-left-over", broken + left_over, f"{title} lengths", H=4)

    yield tested("sound", SOUND_MIXED_UP, "accepts a correct module")
    yield tested(
        "sound-sizes", SOUND_MIXED_UP, "accepts a correct module with three input sizes", q=5, k=6, v=7
    )
    yield tested("sound-one-head", SOUND_MIXED_UP, "accepts a correct module with one head", H=1, D=3)
    yield tested(
        "sound-three-heads", SOUND_MIXED_UP, "accepts a correct module with three heads", H=3, D=9, q=3, k=7
    )

    layers = "(self.W_q, self.W_k, self.W_v)"
    keys, values, both, lens = (
        with_forward(name, MIXED_UP, swap)
        for swap in (
            {layers: "(self.W_q, self.W_q, self.W_v)"},
            {layers: "(self.W_q, self.W_k, self.W_q)"},
            {layers: "(self.W_q, self.W_q, self.W_q)"},
            {", valid_lens\n": ", vaild_lens\n"},
        )
    )
    for number, (source, H) in enumerate(
        ((keys, 2), (values, 3), (both, 2), (lens, 2), (lens + left_over, 3)), 1
    ):
        yield tested(f"partly-corrected-{number}", source, PARTLY, H=H, D=6)


def catches_tangled(draw):
    yield from shuffled(draw, tangled_cases(draw))


def tangled_cases(draw):
    name, broken = "TangledSelfAttention", given_class("TangledSelfAttention")

    def tested(id, source, title, H, D):
        kwargs, layers = {"d_model": D, "n_head": H}, tangled_weights(draw, D)
        return catching("catches_tangled", id, source, name, kwargs, layers, title)

    sound = with_forward(name, TANGLED)
    for id, H, D, title in (
        ("", 3, 12, ""),
        ("-wide", 2, 14, " with wider heads"),
        ("-one-head", 1, 4, " with one head"),
    ):
        yield tested(f"given{id}", broken, f"rejects the given class{title}", H, D)
        yield tested(f"sound{id}", sound, f"accepts a correct module{title}", H, D)
    yield tested("sound-narrow", sound, "accepts a correct module with one feature per head", 4, 4)

    called = "(q, k, v, is_causal=True)"
    scores = {called: "(q @ k.mT, q.mT, v, is_causal=True, scale=self.d_head**-0.5)"}
    size = {called: "(q, k, v, attn_mask=torch.ones(self.d_head, self.d_head).tril().bool())"}
    product = {called: '(q, k, v, attn_mask=torch.ones_like(q @ k.mT).triu(1) * float("-inf"))'}
    partly_corrected = ((scores, 2, 8), (size, 3, 12), (size, 2, 14), (product, 3, 15), (product, 2, 10))
    for number, (swap, H, D) in enumerate(partly_corrected, 1):
        yield tested(f"partly-corrected-{number}", with_forward(name, TANGLED, swap), PARTLY, H, D)


def catches_transparent(draw):
    yield from shuffled(draw, transparent_cases(draw))


def transparent_cases(draw):
    name, broken = "TransparentSelfAttention", given_class("TransparentSelfAttention")

    def tested(id, source, title, H, D, dropout):
        kwargs, layers = {"embed_dim": D, "num_heads": H, "dropout": dropout}, transparent_weights(draw, D)
        return catching("catches_transparent", id, source, name, kwargs, layers, title)

    sound = with_forward(name, TRANSPARENT)
    for id, H, D, dropout, title in (
        ("", 3, 12, 0.1, ""),
        ("-one-head", 1, 5, 0.5, " with one head"),
        ("-no-dropout", 2, 8, 0.0, " with a dropout rate of 0"),
    ):
        yield tested(f"given{id}", broken, f"rejects the given class{title}", H, D, dropout)
        yield tested(f"sound{id}", sound, f"accepts a correct module{title}", H, D, dropout)
    yield tested("sound-narrow", sound, "accepts a correct module with one feature per head", 4, 4, 0.2)

    mask = {", is_causal=True": ""}
    dropped = {
        "attention = nn": "attention = self.dropout(nn",
        "is_causal=True)": "is_causal=True))",
        "self.dropout(attention)": "attention",
    }
    merge = {"torch.cat(heads.unbind(1), dim=-1)": "heads.reshape(x.shape)"}
    partly_corrected = ((mask, 2, 8, 0.1), (dropped, 3, 9, 0.3), (merge, 2, 10, 0.2), (merge, 3, 12, 0.0))
    for number, (swap, H, D, dropout) in enumerate(partly_corrected, 1):
        source = with_forward(name, TRANSPARENT, swap)
        yield tested(f"partly-corrected-{number}", source, PARTLY, H, D, dropout)
