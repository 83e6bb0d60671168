"""Another interface is decided from the text and reported in one line; another name only is no obstacle."""

from __future__ import annotations

import pytest

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


def test_a_constructor_with_one_other_name_is_built_by_position(grade_one):
    result = grade_one(dot("drop_prob", "drop_prob"), "DotProductAttention")
    assert result.outcome == "passed"
    assert any("`drop_prob` (dropout)" in remark for remark in result.remarks)


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


def test_keywords_and_a_constructor_of_a_base_class_in_the_file_are_read(grade_one):
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
    assert "`value` has no default, and the course calls it without a value too" in result.remarks


def test_a_block_of_another_interface_is_not_replaced_in_others(grade_one):
    """What is built from it uses it as the file defines it."""
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


def test_a_default_that_is_nested_deeply_is_no_fault_of_the_grader(grade_one):
    deep = "d_k, n_heads=" + "+".join(["1"] * 400)
    result = grade_one(dot(deep, "0.0"), "DotProductAttention")
    assert result.outcome == "other_interface"
    assert "`DotProductAttention(d_k, n_heads)`" in result.message
