"""Attention in the forms of other schools: with `--file`, right answers pass and wrong ones do not.

A form is a head, which splits the inputs into (B, heads, steps, features per head), and how it masks. CORE is the same
in all forms, so a mistake is an edit of it. A form of one input is causal.
"""

from contextlib import closing

import pytest
from helpers.minimal import submission_of

from grader.bundle.model import Rules
from grader.engine.engine import Engine
from grader.engine.grading import FOREIGN, HIDDEN, PUBLIC, GradingOptions

IMPORTS = "import math\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\n"
CORE = """
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        {mask}
        weights = scores.softmax(dim=-1)
        out = self.dropout(weights) @ v
        out = out.transpose(1, 2).reshape(b, t, -1)
        return self.last(out)
"""
LAYERS = """
        self.dropout = nn.Dropout({p})
        self.w_q, self.w_k, self.w_v, self.last = (nn.Linear({d}, {d}) for _ in range(4))
        self.h = {h}
"""
SPLIT = """
        b, t = {q}.shape[:2]
        split = lambda x: x.view(b, -1, self.h, x.shape[-1] // self.h).transpose(1, 2)
        q, k, v = split(self.w_q({q})), split(self.w_k({k})), split(self.w_v({v}))
"""
CAUSAL = "scores = scores.masked_fill(torch.ones(t, t).triu(1).bool(), -torch.inf)"


def a_class(name, takes, inputs, layers, split, mask):
    head = f"class {name}(nn.Module):\n    def __init__(self, {takes}):\n        super().__init__()"
    forward = f"    def forward(self, {inputs}):"
    return IMPORTS + "\n".join(
        [head, layers.strip("\n"), forward, split.strip("\n"), CORE.format(mask=mask).strip("\n")]
    )


def of_three(name, takes, inputs, mask, p="dropout", d="d_model", h="h"):
    """Return the source of a class whose `forward` takes queries, keys, values and a mask or lengths."""
    q, k, v, *_mask = (one.split("=")[0].strip() for one in inputs.split(","))
    return a_class(name, takes, inputs, LAYERS.format(p=p, d=d, h=h), SPLIT.format(q=q, k=k, v=v), mask)


def of_one(name, takes, p, d, h, layers="", split=""):
    """Return the source of a class of causal self-attention."""
    split = split or SPLIT.format(q="x", k="x", v="x")
    return a_class(name, takes, "x", layers or LAYERS.format(p=p, d=d, h=h), split, CAUSAL)


FUSED = """
        self.dropout = nn.Dropout(config.dropout)
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.last = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.h = config.n_head
        self.register_buffer("bias", torch.ones(config.block_size, config.block_size).tril())
"""
SPLIT_FUSED = """
        b, t = x.shape[:2]
        split = lambda x: x.view(b, -1, self.h, x.shape[-1] // self.h).transpose(1, 2)
        q, k, v = (split(part) for part in self.c_attn(x).chunk(3, dim=2))
"""
IF_GIVEN = "scores = scores if mask is None else "
FORMS = {
    "annotated": of_three(
        "MultiHeadedAttention",
        "h, d_model, dropout=0.1",
        "query, key, value, mask=None",
        IF_GIVEN + "scores.masked_fill(mask.unsqueeze(1) == 0, -1e9)",
    ),
    "mask with an axis of heads": of_three(
        "MultiHeadAttention", "d_model, h, dropout", "q, k, v, mask", IF_GIVEN + "scores.masked_fill(mask == 0, -1e9)"
    ),
    "keys first": of_three(
        "MultiHeadAttention",
        "d_model, h, dropout",
        "values, keys, query, mask",
        IF_GIVEN + "scores.masked_fill(mask == 0, -1e9)",
    ).replace("self.w_q(values)), split(self.w_k(keys)), split(self.w_v(query)", "self.w_q(query)), split(self.w_k(keys)), split(self.w_v(values)").replace("b, t = values", "b, t = query"),
    "mask that hides": of_three(
        "MultiHeadAttention",
        "embed_dim, num_heads, dropout=0.0",
        "query, key, value, attn_mask=None",
        "scores = scores if attn_mask is None else scores.masked_fill(attn_mask.unsqueeze(1), -torch.inf)",
        d="embed_dim",
        h="num_heads",
    ),
    "mask of numbers": of_three(
        "MultiHeadAttention",
        "d_model, h, dropout",
        "q, k, v, mask=None",
        IF_GIVEN + "scores - (1 - mask) * 1e9",
    ),
    "added mask": of_three(
        "MultiHeadAttention", "d_model, h, dropout", "q, k, v, mask=None", IF_GIVEN + "scores + mask.unsqueeze(1)"
    ),
    "equal sizes and lengths": of_three(
        "MultiHeadAttention",
        "embed_dim, num_heads, dropout=0.0, bias=False",
        "query, key, value, valid_lens=None",
        "lens = torch.full((b,), scores.shape[-1]) if valid_lens is None else valid_lens\n"
        "        scores = scores.masked_fill(torch.arange(scores.shape[-1]) >= lens.reshape(b, 1, -1, 1), -1e9)",
        d="embed_dim",
        h="num_heads",
    ),
    "nanoGPT": of_one("CausalSelfAttention", "config", "", "", "", FUSED, SPLIT_FUSED),
    "from scratch": of_one(
        "MultiHeadAttention", "d_in, d_out, context_length, dropout, num_heads, qkv_bias=False", "dropout", "d_out", "num_heads"
    ),
    "without dropout": of_three(
        "MultiHeadAttention", "d_model, n_head", "q, k, v, mask=None", IF_GIVEN + "scores.masked_fill(mask == 0, -10000)", p="0.1", h="n_head"
    ),
    "causal": of_one("CausalSelfAttention", "embed_dim, num_heads, dropout=0.1", "dropout", "embed_dim", "num_heads"),
}  # fmt: skip
IS_CAUSAL = {"nanoGPT", "from scratch", "causal"}
UNTRAINED = {*IS_CAUSAL, "without dropout"}
MISTAKES = {
    "no scaling": (" / math.sqrt(q.shape[-1])", ""),
    "scaled up": ("/ math.sqrt", "* math.sqrt"),
    "scaled by all features": ("math.sqrt(q.shape[-1])", "math.sqrt(q.shape[-1] * q.shape[1])"),
    "softmax over the queries": ("softmax(dim=-1)", "softmax(dim=-2)"),
    "softmax over the heads": ("softmax(dim=-1)", "softmax(dim=1)"),
    "heads by view": ("x.view(b, -1, self.h, x.shape[-1] // self.h).transpose(1, 2)", "x.reshape(b, self.h, -1, x.shape[-1] // self.h)"),
    "merge by view": ("out.transpose(1, 2).reshape", "out.reshape"),
    "keys as values": ("self.dropout(weights) @ v", "self.dropout(weights) @ k"),
    "no output layer": ("return self.last(out)", "return out"),
    "residual inside": ("return self.last(out)", "return self.last(out) + out"),
    "normalised inside": ("return self.last(out)", "return F.layer_norm(self.last(out), out.shape[-1:])"),
    "squeezed": ("return self.last(out)", "return self.last(out).squeeze()"),
    "no gradient": ("    def forward(", "    @torch.no_grad()\n    def forward("),
    "weights cut off": ("@ k.transpose(-2, -1)", "@ k.transpose(-2, -1).detach()"),
    "dropout in evaluation": ("self.dropout(weights)", "F.dropout(weights, 0.5)"),
    "masked after the softmax": ("weights = scores.softmax(dim=-1)", "weights = before.softmax(dim=-1) * (scores > -1e8)"),
    "no mask": ("weights = scores.softmax(dim=-1)", "weights = before.softmax(dim=-1)"),
    "first head only": ("weights = scores.softmax(dim=-1)", "weights = torch.cat([scores[:, :1], before[:, 1:]], 1).softmax(dim=-1)"),
}  # fmt: skip
OF_TRAINING = {  # not looked at in all forms
    "no dropout": ("self.dropout(weights)", "weights"),
    "dropout on the heads": ("self.dropout(weights) @ v", "self.dropout(weights @ v)"),
    "dropout before the softmax": (
        "weights = scores.softmax(dim=-1)\n        out = self.dropout(weights) @ v",
        "weights = self.dropout(scores).softmax(dim=-1)\n        out = weights @ v",
    ),
}

NAMES = {
    "no scaling": "mha-no-scaling",
    "scaled up": "mha-scaled-up",
    "scaled by all features": "mha-scaled-by-all-features",
    "softmax over the queries": "mha-softmax-over-queries",
    "softmax over the heads": "mha-softmax-over-heads",
    "heads by view": "mha-heads-by-view",
    "merge by view": "mha-merge-by-view",
    "keys as values": "mha-projected-keys-as-values",
    "no output layer": "mha-no-output-layer",
    "normalised inside": "mha-normalised-inside",
    "squeezed": "mha-squeeze-everything",
    "weights cut off": "mha-keys-cut-off",
    "dropout in evaluation": "mha-dropout-by-default",
    "masked after the softmax": "mha-masked-after-softmax",
    "no mask": "mha-lens-not-passed",
    "first head only": "mha-lens-first-head-only",
    "no dropout": "mha-no-dropout",
    "dropout on the heads": "mha-dropout-on-heads",
    "dropout before the softmax": "mha-dropout-before-softmax",
}  # what a mistake is called, if its form is graded as multi-head attention


@pytest.fixture(scope="module")
def graded(engine):
    """Return a function: a source → the result of MultiHeadAttention, by default as with `--file`."""
    options = GradingOptions(terms=FOREIGN, torch_version="tested", reuse_worker=True)
    with closing(Engine(engine.bundles, engine.launcher, options)) as grader:

        def grade(source, terms=FOREIGN, names=()):
            found = grader.with_options(terms=terms).grade(
                submission_of(source), names or ["MultiHeadAttention"]
            )
            return found.exercises if names else found.exercises[0]

        yield grade


@pytest.mark.parametrize("form", FORMS)
def test_a_right_class_passes_with_a_file_only(graded, form):
    found = graded(FORMS[form])
    assert found.outcome == "passed", (found.message, found.remarks)
    assert bool(found.points) == (form not in IS_CAUSAL)
    assert graded(FORMS[form], PUBLIC).outcome != "passed"


def test_a_course_may_count_forms_for_the_same_task(engine):
    counted = Rules(other_forms=True).apply(engine.bundles)
    options = GradingOptions(terms=HIDDEN, torch_version="tested", reuse_worker=True)
    with closing(Engine(counted, engine.launcher, options)) as grader:

        def outcome(form):
            found = grader.grade(submission_of(FORMS[form]), ["MultiHeadAttention"]).exercises[0]
            return found.outcome, found.score

        assert outcome("annotated") == ("passed", grader.exercises["MultiHeadAttention"].points)
        assert outcome("causal") == ("other_interface", 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_no_wrong_class_passes(graded, form):
    passed, misnamed = [], []
    for mistake, (old, new) in (MISTAKES if form in UNTRAINED else MISTAKES | OF_TRAINING).items():
        source = FORMS[form].replace("\n        scores = q @", "\n        before = scores = q @")
        assert old in source
        found = graded(source.replace(old, new))
        named = {name for names in found.diagnosis.alternatives for name in names}
        passed += [mistake] if found.outcome == "passed" else []
        # With a fill value of -10000, the mask of this mistake hides nothing.
        right = {NAMES.get(mistake), "mha-lens-not-passed" if "-10000" in source else None}
        misnamed += [(mistake, named)] if not named <= right else []
    assert not passed
    assert not misnamed


def test_self_attention_that_is_not_called_causal_is_not_graded(graded):
    assert graded(FORMS["causal"].replace("CausalSelfAttention", "SelfAttention")).outcome == "blocked"


def test_a_mask_without_an_effect_is_a_mistake(graded):
    ignored = FORMS["annotated"].replace("mask.unsqueeze(1) == 0", "mask.unsqueeze(1) != mask.unsqueeze(1)")
    assert graded(ignored).diagnosis.alternatives == (("mha-lens-not-passed",),)


def test_a_slip_that_raises_with_and_without_a_mask_is_a_mistake(graded):
    found = graded(FORMS["annotated"].replace("k.transpose(-2, -1)", "k.tranpose(-2, -1)"))
    assert found.outcome == "failed"
    assert "tranpose" in found.checks[0].message


def test_small_layers_that_all_heads_share_are_named(graded):
    source = FORMS["annotated"].replace(
        "self.last = (nn.Linear(d_model, d_model) for _ in range(4))",
        "_ = (nn.Linear(d_model // h, d_model // h) for _ in range(4))\n        self.last = nn.Linear(d_model, d_model)",
    )
    for layer in "qkv":
        source = source.replace(f"split(self.w_{layer}(", f"self.w_{layer}(split(")
    found = graded(source)
    assert found.outcome == "other_interface"
    assert "layers of (4, 4), which all heads share" in found.message
    of_no_head = graded(source.replace("d_model // h, d_model // h", "3, 3"))
    assert of_no_head.outcome == "other_interface"
    assert "share" not in of_no_head.message


def test_a_mask_of_another_shape_is_another_interface(graded):
    of_keys = FORMS["annotated"].replace("mask.unsqueeze(1) == 0", "mask[:, None, None, :] == 0")
    assert graded(of_keys).outcome == "other_interface"


def test_a_causal_class_with_a_mask_is_another_interface(graded):
    also = (
        "scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -1e9)\n        weights ="
    )
    assert graded(FORMS["annotated"].replace("weights =", also)).outcome == "other_interface"


def test_positions_with_the_steps_first_are_another_interface(graded):
    source = (
        IMPORTS
        + """
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout, max_len=5000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        at = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        self.register_buffer("pe", torch.stack([at.sin(), at.cos()], 2).flatten(1)[:, None, :d_model])

    def forward(self, x):
        return self.dropout(x + self.pe[: x.size(0)])
"""
    )
    (found,) = graded(source, names=["PositionalEncoding"])
    assert found.outcome == "other_interface"
    assert "(T, B, D)" in found.message
    assert graded(source, PUBLIC, ["PositionalEncoding"])[0].outcome == "failed"


@pytest.mark.parametrize("takes", ["d_model, max_len=500", "d_model, dropout, max_len"])
def test_positions_and_networks_of_a_school(graded, takes):
    positions = f"""
class PositionalEncoding(nn.Module):
    def __init__(self, {takes}):
        super().__init__()
        at = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        self.register_buffer("pe", torch.stack([at.sin(), at.cos()], 2).flatten(1)[None, :, :d_model])
        self.drop = nn.Dropout({"dropout" if "dropout" in takes else 0.0})

    def forward(self, x):
        return self.drop(x + self.pe[:, : x.shape[1]])
"""
    network = """
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model))

    def forward(self, x):
        return self.net(x)
"""
    asked = ["PositionalEncoding", "PositionWiseFFN"]
    outcomes = [one.outcome for one in graded(IMPORTS + positions + network, names=asked)]
    assert outcomes == ["passed", "passed"]
    wrong = (positions + network).replace("at.sin(), at.cos()", "at.cos(), at.sin()").replace("ReLU", "GELU")
    results = {one.name: one for one in graded(IMPORTS + wrong, names=asked)}
    assert results["PositionalEncoding"].diagnosis.alternatives == (("pos-sine-cosine-exchanged",),)
    assert results["PositionWiseFFN"].outcome == "failed"


def test_a_mask_with_two_meanings_is_another_interface(graded):
    either = (
        "        if mask is not None and mask.dtype == torch.bool:\n"
        "            scores = scores.masked_fill(mask.unsqueeze(1), -1e9)\n"
        "        elif mask is not None:\n"
        "            scores = scores + mask.unsqueeze(1)\n"
        "        weights ="
    )
    source = FORMS["annotated"].replace("mask.unsqueeze(1) == 0", "mask.unsqueeze(1) != mask.unsqueeze(1)")
    assert graded(source.replace("        weights =", either)).outcome == "other_interface"
