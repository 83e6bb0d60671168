"""An answer may have other names of parameters than the course, but no other parameters.

Other parameters are another interface. The grader finds it without running the code, and reports one line.
A `mask` instead of lengths is not found from the text. With `--file`, it is another interface if the cases fail; in a
course, the answer fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.intake.read import Submission, Unit

HEAD = "import math\nimport torch\nfrom torch import nn\nfrom grader.given import masked_softmax\n"

DOT = """
class DotProductAttention(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        self.dropout = nn.Dropout({rate})

    def forward(self, {inputs}):
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        self.attention_weights = masked_softmax(scores, lens)
        return self.dropout(self.attention_weights) @ v
"""


def dot(parameters="dropout", rate="dropout", inputs="q, k, v, lens=None"):
    return HEAD + DOT.format(parameters=parameters, rate=rate, inputs=inputs)


def test_a_constructor_with_a_renamed_parameter_is_called_by_position(grade_one):
    result = grade_one(dot("drop_prob", "drop_prob"), "DotProductAttention")
    assert result.outcome == "passed"
    assert any("`drop_prob` (dropout)" in remark for remark in result.remarks)


# As in edition 1.x of Dive into Deep Learning, which adds methods to a class later.
CHAPTER = """
import torch
from torch import nn
from d2l import torch as d2l

class MultiHeadAttention(d2l.Module):
    def __init__(self, num_hiddens, num_heads, dropout, bias=False, **kwargs):
        super().__init__()
        self.num_heads = num_heads
        self.attention = d2l.DotProductAttention(dropout)
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.LazyLinear(num_hiddens, bias=bias))

    def forward(self, queries, keys, values, valid_lens):
        split = self.transpose_qkv
        queries, keys, values = split(self.W_q(queries)), split(self.W_k(keys)), split(self.W_v(values))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        return self.W_o(self.transpose_output(self.attention(queries, keys, values, valid_lens)))

@d2l.add_to_class(MultiHeadAttention)
def transpose_qkv(self, X):
    return X.unflatten(2, (self.num_heads, -1)).transpose(1, 2).flatten(0, 1)

@d2l.add_to_class(MultiHeadAttention)
def transpose_output(self, X):
    return X.unflatten(0, (-1, self.num_heads)).transpose(1, 2).flatten(2)

attention = MultiHeadAttention(100, 5, 0.5)
X = torch.ones((2, 4, 100))
d2l.check_shape(attention(X, X, X, torch.tensor([3, 2])), (2, 4, 100))
"""


def test_methods_added_to_a_class_of_edition_1_are_found(engine):
    report = engine.grade(Submission(Path("chapter.py"), (Unit("chapter.py", CHAPTER),)))
    assert [(e.name, e.outcome) for e in report.exercises] == [("MultiHeadAttention", "passed")]
    assert report.remarks == ()


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (dot("d_k, n_heads", "0.0"), "this file builds it as `DotProductAttention(d_k, n_heads)`"),
        (dot("d_k", "0.0"), "the course asks for `DotProductAttention(dropout)`"),
        (dot(inputs="q, lens"), "this file defines `DotProductAttention.forward(q, lens)`"),
    ],
    ids=["more parameters", "another meaning", "forward"],
)
def test_another_interface_is_one_line_without_checks(grade_one, source, says):
    result = grade_one(source, "DotProductAttention")
    assert (result.outcome, result.score, result.checks) == ("other_interface", 0, ())
    assert says in result.message


def test_keywords_and_an_inherited_constructor_are_read(grade_one):
    anything = dot("**options", "options['dropout']")
    assert grade_one(anything, "DotProductAttention").outcome == "passed"
    derived = (
        dot("size").replace("DotProductAttention", "Base") + "\nclass DotProductAttention(Base):\n    pass\n"
    )
    assert grade_one(derived, "DotProductAttention").outcome == "other_interface"


def test_a_type_error_inside_the_code_is_no_other_interface(grade_one):
    source = dot().replace("math.sqrt(q.shape[-1])", "math.sqrt(q.shape[-1], 2)")
    assert grade_one(source, "DotProductAttention").outcome == "failed"


def test_a_missing_default_gets_one_sentence(grade_one):
    source = """
import torch
def sequence_mask(X, valid_len, value):
    keep = torch.arange(X.shape[1], device=X.device)[None, :] < valid_len[:, None]
    return X.masked_fill(~keep.reshape(keep.shape + (1,) * (X.dim() - 2)), value)
"""
    result = grade_one(source, "sequence_mask")
    assert result.outcome == "failed"
    assert "`value` has no default, but some calls of the course leave it out" in result.remarks


def test_a_block_of_another_interface_is_not_replaced_in_others(grade_one):
    """Another class of the file uses the block as the file defines it."""
    source = (
        dot("d_k, rate", "rate")
        + """
class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.h = num_heads
        self.attention = DotProductAttention(num_hiddens // num_heads, dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.h, -1).transpose(1, 2).flatten(0, 1)

    def forward(self, queries, keys, values, valid_lens):
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.h, dim=0)
        q, k, v = self.split(self.W_q(queries)), self.split(self.W_k(keys)), self.split(self.W_v(values))
        out = self.attention(q, k, v, valid_lens)
        return self.W_o(out.unflatten(0, (-1, self.h)).transpose(1, 2).flatten(2))
"""
    )
    result = grade_one(source, "MultiHeadAttention")
    assert result.outcome == "passed"
    assert not any("reference" in remark for remark in result.remarks)


def test_a_deeply_nested_default_is_read(grade_one):
    deep = "d_k, n_heads=" + "+".join(["1"] * 400)
    result = grade_one(dot(deep, "0.0"), "DotProductAttention")
    assert result.outcome == "other_interface"
    assert "`DotProductAttention(d_k, n_heads)`" in result.message


MASK = """
import torch
def sequence_mask(x, lens, {last}):
    keep = torch.arange(x.shape[1], device=x.device)[None, :] < lens[:, None]
    return x.masked_fill(~keep.reshape(keep.shape + (1,) * (x.dim() - 2)), {name})
"""


def test_a_keyword_of_a_function_may_have_another_name(grade_one):
    result = grade_one(MASK.format(last="mask_value=0", name="mask_value"), "sequence_mask")
    assert result.outcome == "passed"
    assert any("`mask_value` (value)" in remark for remark in result.remarks)


def test_the_parameter_for_a_shape_may_be_named_after_the_input(grade_one):
    source = (
        HEAD
        + """
class AddNorm(nn.Module):
    def __init__(self, input_shape, dropout):
        super().__init__()
        self.ln, self.dropout = nn.LayerNorm(input_shape), nn.Dropout(dropout)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)
"""
    )
    assert grade_one(source, "AddNorm").outcome == "passed"


def test_a_parameter_with_another_meaning_is_not_a_renamed_one(grade_one):
    source = MASK.format(last="dropout=0", name="dropout")
    assert grade_one(source, "sequence_mask").outcome == "failed"


FFN = """
class PositionWiseFFN(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        self.dense1, self.relu, self.dense2 = nn.Linear({a}, {b}), nn.ReLU(), nn.Linear({b}, {c})

    def forward(self, x):
        return self.dense2(self.relu(self.dense1(x)))
"""


@pytest.mark.parametrize(
    ("parameters", "outcome"),
    [
        (("n_in", "d_ff", "n_out"), "passed"),
        (("d_model", "d_inner", "last"), "passed"),
        (("n_in", "output_size", "d_ff"), "other_interface"),
    ],
)
def test_sizes_in_another_order_are_another_interface(grade_one, parameters, outcome):
    """In the last case, the output size comes before the hidden size."""
    inputs, hidden, outputs = parameters
    if outcome != "passed":
        hidden, outputs = outputs, hidden
    source = HEAD + FFN.format(parameters=", ".join(parameters), a=inputs, b=hidden, c=outputs)
    assert grade_one(source, "PositionWiseFFN").outcome == outcome


ADDITIVE = """
class AdditiveAttention(nn.Module):
    def __init__(self, {first}_size, {second}_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(k_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(q_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        scores = self.w_v(torch.tanh(self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None]))
        self.attention_weights = masked_softmax(scores.squeeze(-1), valid_lens)
        return self.dropout(self.attention_weights) @ values
"""


@pytest.mark.parametrize(
    ("first", "second", "outcome"), [("k", "q", "passed"), ("q", "k", "other_interface")]
)
def test_short_names_of_sizes_must_be_in_the_order_of_the_course(grade_one, first, second, outcome):
    source = HEAD + ADDITIVE.format(first=first, second=second)
    assert grade_one(source, "AdditiveAttention").outcome == outcome


def test_a_parameter_that_is_left_out_is_named(grade_one):
    source = HEAD + FFN.format(parameters="ffn_num_input, ffn_num_outputs", a=1, b=2, c=3)
    result = grade_one(source, "PositionWiseFFN")
    assert "without `ffn_num_hiddens`; the course asks for" in result.message


@pytest.mark.parametrize("layer", ["Linear", "LazyLinear"])
def test_a_constructor_without_input_sizes_needs_lazy_layers(grade_one, layer):
    """Otherwise all inputs have one size by design, which is another interface."""
    sizes = {"Linear": "embed_dim, embed_dim", "LazyLinear": "embed_dim"}[layer]
    source = CHAPTER.replace("nn.LazyLinear(num_hiddens", f"nn.{layer}({sizes}")
    source = source.replace("num_hiddens", "embed_dim")
    result = grade_one(source, "MultiHeadAttention")
    assert result.outcome == {"Linear": "other_interface", "LazyLinear": "passed"}[layer]
    says = "this file builds it as `MultiHeadAttention(embed_dim, num_heads, dropout, bias=False, **kwargs)`"
    assert result.message.startswith(says if layer == "Linear" else "")


def test_two_sizes_where_the_course_has_three_are_another_interface(grade_one):
    source = HEAD + FFN.format(parameters="d_model, d_ff", a="d_model", b="d_ff", c="d_model")
    assert grade_one(source, "PositionWiseFFN").outcome == "other_interface"


@pytest.mark.parametrize("base", ["nn.Module", "Half", "d2l.Decoder"])
def test_a_class_without_code_is_not_started(grade_one, base):
    source = "from d2l import torch as d2l\nclass Half(nn.Module):\n    def __init__(self, **kw):\n        super().__init__(**kw)\n"
    source = HEAD + source + f"class AddNorm({base}):\n    '''To do.'''\n"
    result = grade_one(source, "AddNorm")
    assert (result.outcome, result.message) == ("not_started", "AddNorm has no code yet")


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "# To do\n        ...",
        "'To do.'",
        "raise NotImplementedError",
        "raise NotImplementedError('To do')",
    ],
)
def test_a_forward_without_code_is_not_started(grade_one, body):
    source = dot().replace(
        "        scores = ", f"        {body}\n\n    def other(self, q, k):\n        scores = "
    )
    result = grade_one(source, "DotProductAttention")
    assert (result.outcome, result.message) == ("not_started", "DotProductAttention.forward has no code yet")


def test_a_class_that_inherits_everything_is_graded(grade_one):
    source = dot().replace("DotProductAttention", "Mine") + "class DotProductAttention(Mine):\n    pass\n"
    assert grade_one(source, "DotProductAttention").outcome == "passed"


MASKED = HEAD + DOT.format(parameters="dropout", rate="dropout", inputs="q, k, v, mask=None").replace(
    "masked_softmax(scores, lens)",
    "(scores if mask is None else scores.masked_fill(mask == 0, -1e9)).softmax(-1)",
)


@pytest.mark.parametrize("name", ["DotProductAttention", "DotproductAttention"])
def test_with_file_a_mask_instead_of_lengths_is_another_interface(engine, name):
    source = MASKED.replace("DotProductAttention", name)
    submission = Submission(Path("theirs.py"), (Unit("theirs.py", source),))
    foreign = engine.with_options(foreign=True)
    (result,) = foreign.grade(submission, ["DotProductAttention"]).exercises
    assert (result.outcome, result.score) == ("other_interface", 0.0)
    assert result.message.startswith(f"this file defines `{name}.forward(q, k, v, mask=None)`; the course")
    if name == "DotProductAttention":
        assert result.remarks == ()
    else:
        assert result.remarks == (
            f"theirs.py, line 6 defines {name}; it was graded as DotProductAttention, the name in the course",
        )
    (in_the_course,) = engine.grade(submission, ["DotProductAttention"]).exercises
    assert in_the_course.outcome == "failed"
