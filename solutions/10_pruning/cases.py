"""Cases for attention maps, gates, the importance of heads, pruning, and the removal experiment.

Attentions are built with dropout 0.5 and most are compared in evaluation mode, so that dropout that stays on
changes the values. In a *planted* model, the weights are constructed so that each head has a known strength.
The parameter `draw=` of a check names a picture of `grader/judge/pictures.py`; the argument `draw` of a
function draws random values.
"""

from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path

import numpy as np

from grader.authoring import (
    Case,
    block_arguments,
    definition_span,
    eye,
    filled,
    round_to,
    spearman,
    weights,
    zeros,
)

AXES = ("batch", "query", "feature")
MAPS = ("batch", "head", "query", "key")
ATTENTION = "from grader.given import MultiHeadAttention\n"
# An attention that shows what a function may leave changed: modes, frozen parameters, hooks, buffers.
WATCHED = """from grader.given import MultiHeadAttention


class Watched(MultiHeadAttention):
    def state(self):
        parts, frozen = list(self.modules()), [not p.requires_grad for p in self.parameters()]
        hooks = sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in parts)
        state = [*(part.training for part in parts), *frozen, hooks, len(list(self.buffers()))]
        return self.W_q.weight.new_tensor([float(value) for value in state])
"""
REFERENCE = Path(__file__).with_name("pruning.py").read_text("utf-8")
TITLES = {
    "None": "without a mask",
    "(B,)": "one length per sequence (B,)",
    "(B, T)": "one length per query (B, T)",
}

SQUARED_ERROR = """from torch import nn


class SquaredError(nn.Module):
    def forward(self, output, target):
        return (output - target).pow(2).sum(dim=(1, 2))  # a sum, so that the importances are about 1
"""


def attention(
    case, draw, H, d, *, name="mha", loaded=None, bias=False, dropout=0.5, train=False, watched=False, **sizes
):
    """Return the module that the student's function gets. `sizes`: query_size, key_size, value_size."""
    D = H * d
    sizes = {key: sizes.get(key, D) for key in ("query_size", "key_size", "value_size")}
    kwargs = {**sizes, "num_hiddens": D, "num_heads": H, "dropout": dropout, "bias": bias}
    source, of = (WATCHED, "Watched") if watched else (ATTENTION, "MultiHeadAttention")
    module = case.provide(source, of, name, **kwargs)
    case.load(module, loaded or weights.multi_head(draw, D, bias=bias, **sizes))
    (case.train if train else case.eval)(module)
    return module


@contextmanager
def left_as_it_was(case, mha, title):
    """Check that the calls in the block leave the state of a watched attention as it was."""
    before = case.method(mha, "state")
    yield
    after = case.method(mha, "state")
    says = (
        "after the call, the module is in another mode, or has other hooks or buffers, or frozen parameters"
    )
    case.check_same(before, after, f"the module is left as it was: {title}", "purity", says)


def asked(case, draw, B, T, S, q, k, v, lens=None, grad=False, suffix=""):
    """Return the inputs of an attention: queries (B, T, q), keys (B, S, k), values (B, S, v) and lengths."""
    return (
        case.input(f"queries{suffix}", draw.normal(B, T, q), grad=grad),
        case.input(f"keys{suffix}", draw.normal(B, S, k), grad=grad),
        case.input(f"values{suffix}", draw.normal(B, S, v), grad=grad),
        None if lens is None else case.input(f"valid_lens{suffix}", lens),
    )


# ---- attention_maps


# Layout → code that brings the attention weights `w` of a layer, (B·H, T, S), into this layout.
LAYOUTS = {
    "flat": "w",
    "by-head": "w.unflatten(0, (X.shape[0], -1))",
    "listed": "list(w.unflatten(0, (X.shape[0], -1)).unbind(1))",
}
# Layout → its description in the titles of checks.
KEPT_IN = {
    "flat": "heads inside the batch, (B·H, T, S)",
    "by-head": "heads on a separate axis, (B, H, T, S)",
    "listed": "a list with one tensor per head",
}
ENCODER = """from grader.given import TransformerEncoder


class Encoder(TransformerEncoder):
    def forward(self, X, *args):
        out = super().forward(X, *args)
        self.attention_weights = [LAYOUT for w in self.attention_weights]
        return out
"""
DECODER = """from grader.given import TransformerDecoder


class Decoder(TransformerDecoder):
    def forward(self, X, *args):
        out = super().forward(X, *args)
        self.attention_weights = [[LAYOUT for w in part] for part in self.attention_weights]
        return out
"""
D_MODEL, HIDDEN, VOCABULARY, LAYERS = 6, 7, 11, 2


def attention_maps(draw):
    for layout, kind in product(LAYOUTS, (encoder_maps, decoder_maps)):
        B, H, T, S = (2, 3, *draw.sizes(2, low=4, high=7))
        yield kind(draw, layout, layout, B, H, T, S, KEPT_IN[layout])
    T, S = draw.sizes(2, low=4, high=7)
    yield encoder_maps(
        draw, "as-many-sentences-as-heads", "flat", 2, 2, T, S, "equal numbers of sentences and heads"
    )
    yield decoder_maps(draw, "one-sentence", "flat", 1, 2, T, S, "one sentence")
    yield encoder_maps(draw, "one-head", "by-head", 3, 1, T, S, "one head", called_before=True)
    yield decoder_maps(
        draw, "first-step", "flat", 2, 3, 1, S, "the first step of a sentence, in evaluation", train=False
    )


def encoder_maps(draw, id, layout, B, H, T, S, title, called_before=False):
    case = Case(f"encoder-{id}", "attention_maps")
    model = stack(case, "Encoder", ENCODER, layout, H)
    blocks = [weights.encoder_block(draw, D_MODEL, HIDDEN, prefix=f"blks.block{i}.") for i in range(LAYERS)]
    case.load(model, embedding(draw) | blocks[0] | blocks[1])
    case.eval(model)
    if called_before:
        case.call(case.input("earlier", draw.integers(0, VOCABULARY - 1, B, T + 1)), None, on=model)
    tokens = case.input("tokens", draw.integers(0, VOCABULARY - 1, B, T))
    lens = case.input("valid_lens", draw.lens(B, T))
    maps = case.call(model, tokens, lens, name="maps")
    check_maps(case, maps, ("encoder",), f"encoder, {title}", caps=H > 1)
    case.check_unchanged(tokens, lens)
    if called_before:
        check_lengths(case, maps, ("encoder",), f"encoder, {title}")
    return case


def decoder_maps(draw, id, layout, B, H, T, S, title, train=True):
    case = Case(f"decoder-{id}", "attention_maps")
    model = stack(case, "Decoder", DECODER, layout, H)
    case.load(model, weights.transformer_decoder(draw, VOCABULARY, D_MODEL, HIDDEN, LAYERS))
    # In training mode a call gets all steps. The exercise does not say what such a call returns in evaluation
    # mode.
    (case.train if train else case.eval)(model)
    tokens = case.input("tokens", draw.integers(0, VOCABULARY - 1, B, T))
    enc = case.input("enc_outputs", draw.normal(B, S, D_MODEL))
    state = case.method(model, "init_state", enc, case.input("enc_valid_lens", draw.lens(B, S)), name="state")
    maps = case.call(model, tokens, state, name="maps")
    check_maps(case, maps, ("decoder", "cross"), f"decoder, {title}", caps=B > 1 and T > 1)
    if not train:
        check_lengths(case, maps, ("decoder", "cross"), f"decoder, {title}")
    return case


def stack(case, name, source, layout, H):
    return case.provide(
        source.replace("LAYOUT", LAYOUTS[layout]),
        name,
        "model",
        vocab_size=VOCABULARY,
        **block_arguments(D_MODEL, H, HIDDEN),
        num_layers=LAYERS,
    )


def embedding(draw):
    return {"embedding.weight": draw.normal(VOCABULARY, D_MODEL, std=D_MODEL**-0.5)}


def check_maps(case, maps, parts, title, caps):
    layers = [(part, i) for part in parts for i in range(LAYERS)]
    for part, i in layers:
        case.see(maps[part][i], axes=MAPS)
    case.check(
        "shapes",
        "shape",
        [f"maps[{part}][{i}]" for part, i in layers],
        f"one tensor (B, H, T, S) per layer: {title}",
    )
    case.check(
        "values",
        "equal",
        [f"maps[{part}][{i}]" for part, i in layers],
        f"the attention weights: {title}",
        caps=caps,
    )


def check_lengths(case, maps, parts, title):
    """Check that no list holds more than one tensor per layer. Tensors of other shapes cannot be joined."""
    for part in parts:
        joined = case.join(maps[part], dim=0, name=f"all of {part}")
        case.check_shape(joined, f"exactly one tensor per layer: {title}")


# ---- gated_attention


def gated_attention(draw):
    H, d = 3, 4
    D = H * d
    B, T, S = draw.sizes(3, low=2, high=7, avoid=(H, d))
    q, k, v = draw.sizes(3, low=5, high=9)
    sizes = {"query_size": q, "key_size": k, "value_size": v}
    lengths = {"None": None, "(B,)": draw.lens(B, S), "(B, T)": draw.lens((B, T), S)}

    for number, (form, lens) in enumerate(lengths.items()):
        case = Case(f"gates-{number}", "gated_attention")
        mha = attention(case, draw, H, d, bias=number == 1, **sizes)
        gates = case.input("gates", 1 + draw.normal(H, std=0.6), grad=True)
        given = asked(case, draw, B, T, S, q, k, v, lens, grad=True)
        Y = case.call(mha, gates, *given, axes=AXES)
        case.check_shape(Y, f"shape and dtype, {TITLES[form]}")
        case.check_values(Y, f"one gate per head, {TITLES[form]}", "values" if lens is None else "masking")
        flow = case.gradients(Y, draw.normal(B, T, D), wrt=[gates, *given[:3]], parameters=mha)
        case.check_gradients(flow, f"gradients of gates, inputs and layers, {TITLES[form]}")
        case.check_unchanged(gates, *(x for x in given if x is not None))
        yield case

    for id, gates, title in (
        ("ones", np.ones(H), "all gates at one: the plain attention"),
        ("one-closed", np.array([1.0, 0.0, 1.0]), "one gate at zero"),
        ("all-closed", np.zeros(H), "all gates at zero"),
    ):
        case = Case(id, "gated_attention")
        mha = attention(case, draw, H, d, bias=True)
        given = asked(case, draw, B, T, S, D, D, D, draw.lens(B, S))
        before = case.call(*given, on=mha, axes=AXES)
        Y = case.call(mha, case.input("gates", gates), *given, axes=AXES)
        case.check_values(Y, title)
        after = case.call(*given, on=mha, axes=AXES)
        says = "after the call the attention gives a different result"
        case.check_same(before, after, f"the attention is unchanged: {title}", "purity", says)
        yield case

    case = Case("training", "gated_attention")
    mha = attention(case, draw, H, d, train=True, watched=True)
    case.seed(3)
    given = asked(case, draw, 4, 6, 8, D, D, D)
    gates = case.input("gates", np.ones(H))
    with left_as_it_was(case, mha, "in training"):
        left, right = (case.call(mha, gates, *given) for _ in range(2))
    case.check(
        "modes",
        "varies",
        [case.see(left), case.see(right)],
        "in training, attention weights are dropped as without gates",
    )
    yield case


# ---- head_importance


METHODS = ("ablation", "gradient", "confidence")
H, HEAD = 4, 3  # heads, and features per head


def head_importance(draw):
    q, k, v = draw.sizes(3, low=5, high=9)
    model = planted_model(draw)
    for method in METHODS:
        yield measured(draw, method, method, q, k, v)
        yield measured(draw, f"{method}-in-training", method, q, k, v, train=True)
        yield measured(draw, f"{method}-one-sample", method, q, k, v, batches=((1, 3, 4, True),))
        yield planted(draw, method, *model)


def measured(draw, id, method, q, k, v, train=False, batches=((2, 3, 5, False), (5, 4, 6, True))):
    """Return a case that measures importance on batches of different sizes.

    `batches`: (B, T, S, with lengths).
    """
    case = Case(id, "head_importance")
    sizes = {"query_size": q, "key_size": k, "value_size": v}
    mha = attention(case, draw, H, HEAD, bias=True, train=train, watched=True, **sizes)
    loss = case.provide(SQUARED_ERROR, "SquaredError", "loss")
    if train:
        case.seed(5)  # for answers that leave dropout on
    listed = []
    for number, (B, T, S, masked) in enumerate(batches):
        given = asked(case, draw, B, T, S, q, k, v, draw.lens(B, S) if masked else None, suffix=str(number))
        listed.append([*given, case.input(f"target{number}", draw.normal(B, T, H * HEAD))])
    mode = "training" if train else "evaluation"
    with nullcontext() if len(batches) == 1 else left_as_it_was(case, mha, f"{method}, in {mode} mode"):
        found = case.call(mha, listed, loss, method, axes=("head",), name="importance")
    if train:
        case.check_values(found, f"{method}, measured without dropout", "modes")
        return case
    case.check_shape(found, f"one value per head: {method}")
    sizes = "batches of unequal size" if len(batches) > 1 else "one sample"
    case.check_values(found, f"{method}, {sizes}", caps=len(batches) > 1)
    again = case.call(mha, listed, loss, method, name="again")
    says = "measuring the same module again gave different values"
    case.check_same(found, again, f"measuring does not change the module: {method}", "purity", says)
    inputs = [x for batch in listed for x in batch if x is not None]
    case.check_unchanged(*inputs, title=f"batches are unchanged: {method}")
    return case


PLANTED = tuple(0.62**rank for rank in range(6))  # the size of what each head adds to the output


def planted_model(draw):
    """Return the strengths of the heads, the weights of an attention, and batches of (input, target).

    The strength scales a head's part of `W_o`. The scores of weak heads are larger, and so are their largest
    attention weights: `confidence` ranks the heads in the wrong order. A target is the model's output plus
    noise.
    """
    heads, d, T = len(PLANTED), 2, 5
    D = heads * d
    order = draw.sizes(heads, low=0, high=heads - 1)  # distinct, so 0 … heads - 1 in a random order
    strength = np.array(PLANTED)[order]
    layers = weights.multi_head(draw, D)
    layers["W_q.weight"] = layers["W_q.weight"] * np.repeat(0.5 / strength, d)[:, None]
    size = np.sqrt((answers(draw.normal(200, T, D), layers, heads) ** 2).mean(axis=(0, 1, 3)))  # (heads,)
    layers["W_o.weight"] = layers["W_o.weight"] * np.repeat(strength / size, d)[None, :]
    layers = {name: round_to(array, "float32") for name, array in layers.items()}
    batches = []
    for B in (22, 38):
        X = round_to(draw.normal(B, T, D), "float32")
        batches.append((X, answers(X, layers, heads).sum(axis=2) + draw.normal(B, T, D, std=0.5)))
    return strength, layers, batches


def planted(draw, method, strength, layers, batches):
    case = Case(f"{method}-planted", "head_importance")
    mha = attention(case, draw, len(strength), 2, loaded=layers)
    loss = case.provide(SQUARED_ERROR, "SquaredError", "loss")
    listed = []
    for number, (X, target) in enumerate(batches):
        x = case.input(f"x{number}", X)
        listed.append([x, x, x, None, case.input(f"target{number}", target)])
    found = case.call(mha, listed, loss, method, axes=("head",), name="importance")
    says = f"{method}, on heads of known strength"
    case.check_values(found, says, draw="importance", method=method)
    if method != "confidence":  # which ranks the heads in another order: see `planted_model`
        ranked = {"planted": strength.tolist(), "least": 0.9}
        case.check(
            "pruning",
            "ranks",
            [case.see(found)],
            f"heads are ranked by their known strength, by {method}",
            **ranked,
        )
    return case


def answers(X, layers, heads):
    """Return what each head of a self-attention adds to the output: X (N, T, D) → (N, T, heads, D)."""
    q, k, v = (
        split(X @ layers[f"{name}.weight"].astype(np.float64).T, heads) for name in ("W_q", "W_k", "W_v")
    )
    scores = np.einsum("nthd,nshd->nhts", q, k) / q.shape[-1] ** 0.5
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    heard = np.einsum("nhts,nshd->nthd", scores / scores.sum(axis=-1, keepdims=True), v)
    out = layers["W_o.weight"].astype(np.float64).reshape(-1, heads, heard.shape[-1])  # (D, heads, d)
    return np.einsum("nthd,ohd->ntho", heard, out)


def split(X, heads):
    return X.reshape(*X.shape[:2], heads, -1)


# ---- prune_heads


def prune_heads(draw):
    q, k, v = draw.sizes(3, low=5, high=9)
    B, T, S = draw.sizes(3, low=2, high=7, avoid=(H, HEAD))
    sizes = {"query_size": q, "key_size": k, "value_size": v}

    def start(id, **more):
        case = Case(id, "prune_heads")
        return case, attention(case, draw, H, HEAD, **{**sizes, **more})

    for id, heads, title, bias in (
        ("one", [1], "one head removed", False),
        ("unsorted", [3, 0], "two heads removed, in any order", True),
        ("repeated", [2, 0, 2, 2], "a removed head is named more than once", True),
        ("none", [], "no head removed", True),
        ("one-left", [3, 1, 0], "all heads but one removed", False),
    ):
        case, mha = start(id, bias=bias)
        kept = H - len(set(heads))
        given = asked(case, draw, B, T, S, q, k, v, grad=True)
        before = costs(case, mha, given, "before")
        pruned = case.call(mha, heads, name="pruned")
        after = costs(case, pruned, given, "after")
        case.eval(pruned)
        Y = case.call(*given, on=pruned, axes=AXES, name="out")
        case.check_shape(Y, f"shape and dtype: {title}")
        case.check_values(Y, f"equal to the gated attention: {title}")
        case.check_weights(
            case.weights(pruned, heads=kept),
            f"attention weights of the remaining heads: {title}",
            optional=True,
        )
        case.check_gradients(
            case.gradients(Y, draw.normal(B, T, H * HEAD), wrt=list(given[:3])),
            f"gradients of the inputs: {title}",
        )
        stays = {"kept": kept, "total": H}
        fixed = H * HEAD if bias else 0  # the bias of W_o keeps its size
        case.check("pruning", "cost", [before[0], after[0]], f"parameters: {title}", **stays, fixed=fixed)
        case.check("pruning", "cost", [before[1], after[1]], f"counted operations: {title}", **stays, fixed=0)
        yield case

    for id, lens, title in (
        ("per-sequence", draw.lens(B, S), TITLES["(B,)"]),
        ("per-query", draw.lens((B, T), S), TITLES["(B, T)"]),
    ):
        case, mha = start(id)
        given = asked(case, draw, B, T, S, q, k, v, lens)
        pruned = case.call(mha, [0, 2], name="pruned")
        case.eval(pruned)
        case.check_values(case.call(*given, on=pruned, axes=AXES), f"half of the heads, {title}", "masking")
        yield case

    yield same_call_again(draw, B, T, S, sizes)

    for id, first, second, bias in (("twice", [1], [1], True), ("twice-unsorted", [3, 0], [1], False)):
        case, mha = start(id, bias=bias)
        given = asked(case, draw, B, T, S, q, k, v)
        smaller = case.call(mha, first, name="smaller")
        pruned = case.call(smaller, second, name="pruned")
        case.eval(pruned)
        case.check_values(
            case.call(*given, on=pruned, axes=AXES), f"heads {first}, then {second} of the remaining ones"
        )
        yield case

    case, mha = start("learns", bias=True)
    given = asked(case, draw, B, T, S, q, k, v)
    pruned = case.call(mha, [2], name="pruned")
    case.eval(pruned)
    Y = case.call(*given, on=pruned)
    case.descend(pruned, Y, draw.normal(B, T, H * HEAD), rate=0.05)
    case.check_values(
        case.call(*given, on=pruned, axes=AXES),
        "after one step of gradient descent on the remaining parameters",
        "gradients",
    )
    yield case

    for id, heads, title in (
        ("all", [0, 1, 2, 3], "all heads"),
        ("all-and-more", [1, 0, 3, 2, 1, 1], "all heads, some of them twice"),
    ):
        case, mha = start(id)
        case.call(mha, heads)
        case.check("values", "raises", [], f"a ValueError for {title}", type="ValueError")
        yield case

    case, mha = start("still-in-evaluation")
    case.seed(5)  # for answers that turn dropout on
    given = asked(case, draw, B, T, S, q, k, v)
    pruned = case.call(mha, [0], name="pruned")
    case.check_values(case.call(*given, on=pruned, axes=AXES), "evaluation mode is kept", "modes")
    yield case

    yield still_in_training()

    yield half(draw)


def still_in_training():
    """Return a case whose weights are all equal before dropout, and whose values are 1: see `dropped_weights`.

    `W_o` hands the heads on, so the result shows the sum of the dropped weights of each remaining head.
    """
    D, p = H * HEAD, 0.3
    case = Case("still-in-training", "prune_heads")
    layers = {"W_q.weight": zeros(D, D), "W_k.weight": zeros(D, D), "W_v.weight": filled(1 / D, D, D)}
    mha = attention(case, None, H, HEAD, loaded=layers | {"W_o.weight": eye(D)}, dropout=p, train=True)
    case.seed(5)
    x = case.constant("x", (32, 16, D))
    pruned = case.call(mha, [0], name="pruned")
    out = case.call(x, x, x, None, on=pruned, name="whole")
    rest = case.part(out, (None, None), (None, None), (HEAD, D), name="rest")
    title = "training mode is kept, with its dropout rate"
    case.check("modes", "dropped_weights", [case.see(rest)], title, p=p, keys=16, features=HEAD)
    return case


def same_call_again(draw, B, T, S, sizes):
    """Return a case with two equal attentions, because `prune_heads` may change the module that it gets."""
    case = Case("same-call-again", "prune_heads")
    layers = weights.multi_head(draw, H * HEAD, bias=True, **sizes)
    twins = [
        attention(case, draw, H, HEAD, name=name, loaded=layers, bias=True, **sizes)
        for name in ("mha", "twin")
    ]
    given = asked(case, draw, B, T, S, *sizes.values())
    pruned = [case.call(mha, [2]) for mha in twins]
    for module in pruned:
        case.eval(module)
    left, right = (case.call(*given, on=module, axes=AXES) for module in pruned)
    says = "removing the same heads from two equal attentions gave different results"
    case.check_same(left, right, "pruning is deterministic", "purity", says)
    return case


def half(draw):
    """Return a case that removes half of the heads."""
    heads, d, B, T = 8, 8, 4, 48
    D = heads * d
    case = Case("half", "prune_heads")
    layers = {f"W_{of}.weight": filled(1 / D, D, D) for of in "qkvo"} | {
        f"W_{of}.bias": filled(0.1, D) for of in "qkvo"
    }
    whole = attention(case, draw, heads, d, name="whole", loaded=layers, bias=True)
    mha = attention(case, draw, heads, d, loaded=layers, bias=True)
    x = case.constant("x", (B, T, D))
    before = costs(case, whole, (x, x, x, None), "before")
    pruned = case.call(mha, [6, 1, 4, 3], name="pruned")
    case.eval(pruned)
    after = costs(case, pruned, (x, x, x, None), "after")
    stays = {"kept": heads // 2, "total": heads}
    case.check(
        "pruning",
        "cost",
        [before[0], after[0]],
        "half of the heads: half of the parameters",
        **stays,
        fixed=D,
    )
    case.check(
        "pruning",
        "cost",
        [before[1], after[1]],
        "half of the heads: half of the operations",
        **stays,
        fixed=0,
    )
    return case


def costs(case, module, given, when):
    return (
        case.parameter_count(module, f"parameters {when}"),
        case.operations(*given, on=module, name=f"operations {when}"),
    )


# ---- removal_experiment


CLASSES, STEPS, SAMPLES, HEADS, HEAD_SIZE = 4, 2, 240, 8, 2
CLASSIFIER = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\nfrom grader.given import MultiHeadAttention\n\n\n"
STRENGTHS = tuple(1.1 * 0.75**rank for rank in range(HEADS))  # how strongly a head's features show the class


def removal_experiment(draw):
    for id, train in (("planted", False), ("planted-in-training", True)):
        yield experiment(draw, id, train)


def experiment(draw, id, train):
    D = HEADS * HEAD_SIZE
    case = Case(id, "removal_experiment")
    strength, layers, (X, labels, right) = planted_classifier(draw, case.dtype)
    start, stop = definition_span(REFERENCE, "Classifier")
    model = case.provide(
        CLASSIFIER + REFERENCE[start:stop],
        "Classifier",
        "model",
        num_hiddens=D,
        num_heads=HEADS,
        num_classes=CLASSES,
        dropout=0.5,
    )
    case.load(model, layers)
    (case.train if train else case.eval)(model)
    case.seed(1)  # for answers that use the global random generator
    data = [case.input("X", X), case.input("labels", labels)]
    if not train:
        case.grad(False)  # with a graph, a module that stores its attention weights cannot be copied
        before = case.call(data[0], on=model, name="before")
        case.grad(True)
    rows = case.removals(case.call(model, data, name="rows"), HEADS)
    where = ", on a model in training mode" if train else ""
    known = {"table": right, "total": SAMPLES} | ({} if train else {"draw": "removals"})
    facet = "modes" if train else "values"
    case.check(facet, "accuracies", [rows], f"accuracies without the removed heads{where}", **known)
    if not train:
        case.check(
            "pruning",
            "all_rows",
            [rows],
            "three orders, three seeds or more, one more head in each row",
            heads=HEADS,
        )
        ranked = {"planted": strength.tolist(), "least": 0.9}
        case.check(
            "pruning",
            "in_order",
            [rows],
            "the order `importance` removes unimportant heads first, the order `reverse` important heads first",
            **ranked,
        )
        case.check("pruning", "drawn", [rows], "the random order depends on the seed")
        after = case.call(data[0], on=model, name="after")
        says = "after the experiment the model gives a different result"
        case.check_same(before, after, "the model has all its heads again", "pruning", says)
    return case


def planted_classifier(draw, dtype):
    """Return strengths, weights and samples. Draw them until the samples show which heads are strong."""
    for _ in range(100):
        order = draw.sizes(HEADS, low=0, high=HEADS - 1)  # distinct, so 0 … HEADS - 1 in a random order
        strength = np.array(STRENGTHS)[order]
        layers = {name: round_to(array, dtype) for name, array in classifier_weights(draw, strength).items()}
        X, labels, right, rises = samples(draw, strength, layers, dtype)
        if spearman(rises, strength) > 0.96:  # well above the 0.9 that the check requires of an answer
            return strength, layers, (X, labels, right)
    raise ValueError("no samples show the strength of the heads")


def classifier_weights(draw, strength):
    """Return the weights of a classifier.

    Head h turns the h-th pair of features; `dense` turns it back, times the strength.
    """
    D = HEADS * HEAD_SIZE
    out = {"dense.bias": np.zeros(CLASSES)}
    W_v, W_o, dense = np.zeros((D, D)), np.zeros((D, D)), np.zeros((CLASSES, D))
    for h, (turn, back) in enumerate(zip(draw.normal(HEADS), draw.normal(HEADS), strict=True)):
        own = slice(HEAD_SIZE * h, HEAD_SIZE * (h + 1))
        W_v[own, own], W_o[own, own] = rotation(turn), rotation(back)
        dense[:, own] = strength[h] * directions() @ (rotation(back) @ rotation(turn)).T
    for name in ("W_q", "W_k"):
        out[f"attention.{name}.weight"] = draw.linear(D, D) * 0.5
    return out | {"attention.W_v.weight": W_v, "attention.W_o.weight": W_o, "dense.weight": dense}


def samples(draw, strength, layers, dtype):
    """Return sequences, classes, the number of right answers without each set of heads, and the rise of the loss
    without each head.

    The features of a head are its strength times the direction of the class, plus noise. Sequences come in
    pairs with opposite noise, so that the noise favours no head. A pair is left out if the two best scores
    almost agree after the removal of some set of heads, so that rounding changes no answer.
    """
    count = 3 * SAMPLES
    labels = np.tile(draw.integers(0, CLASSES - 1, count // 2), 2)
    signal = strength[:, None] * directions()[labels][:, None, :]  # (count, heads, 2)
    noise = draw.normal(count // 2, STEPS, HEADS * HEAD_SIZE, std=1.2)
    X = np.repeat(signal.reshape(count, 1, -1), STEPS, axis=1) + np.concatenate([noise, -noise])
    X = round_to(X, dtype)
    attended = {name.removeprefix("attention."): array for name, array in layers.items()}
    heads = (
        answers(X, attended, HEADS).mean(axis=1) @ layers["dense.weight"].astype(np.float64).T
    )  # (count, heads, C)
    sets = np.arange(2**HEADS - 1)  # bit masks of the removed heads; all but the one that removes every head
    kept = 1 - (sets[:, None] >> np.arange(HEADS) & 1)  # (sets, heads): 1 if the head is not removed
    scores = np.einsum("sh,nhc->nsc", kept, heads)
    best = np.sort(scores, axis=-1)
    decided = ((best[..., -1] - best[..., -2]).min(axis=1) > 1e-4).reshape(2, -1).all(axis=0)  # (pairs,)
    pairs = np.flatnonzero(decided)[: SAMPLES // 2]
    sure = np.concatenate([pairs, pairs + count // 2])
    if len(sure) < SAMPLES:
        raise ValueError(f"only {len(sure)} sequences are decided by every set of heads")
    scores, labels = scores[sure], labels[sure]  # (SAMPLES, sets, C), (SAMPLES,)
    right = (scores.argmax(axis=-1) == labels[:, None]).sum(axis=0)  # (sets,)
    losses = (
        np.log(np.exp(scores).sum(axis=-1))
        - np.take_along_axis(scores, labels[:, None, None], axis=-1)[..., 0]
    )
    # Set 0 removes no head, set 1 << h only head h.
    rises = losses.mean(axis=0)[1 << np.arange(HEADS)] - losses[:, 0].mean()  # (heads,)
    return X[sure], labels, [*map(int, right), 0], rises  # 0: for the set of all heads, which no row removes


def directions():
    """Return a unit vector for each class: (CLASSES, 2)."""
    angles = 2 * np.pi * np.arange(CLASSES) / CLASSES
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
