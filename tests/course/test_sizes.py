"""Mistakes that appear only for some sizes: lost axes of size one, fixed numbers of heads and layers, large scores."""

import re
from pathlib import Path

import pytest
from helpers.lanes import first_of_each

from grader.authoring.content import read_all

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"
# exercise → its assignment, for 01 to 09
OF = {e.name: a for a in read_all(SOLUTIONS) if a.name < "10" for e in a.exercises}
# Without exercises whose result is a bool or a square matrix, which have no axis of size one.
RESULTS = [name for name in OF if not name.startswith("catches_") and name != "shift_matrix"]
SQUEEZED = """

def _squeezed(result):
    return (result[0].squeeze(), *result[1:]) if isinstance(result, tuple) else result.squeeze()

_right = {name}
"""
OF_FUNCTION = "def {name}(*args, **kwargs): return _squeezed(_right(*args, **kwargs))\n"
OF_CLASS = """class {name}(_right):
    def forward(self, *args, **kwargs): return _squeezed(super().forward(*args, **kwargs))
"""


@pytest.mark.parametrize("name", first_of_each(RESULTS))
def test_a_result_that_loses_axes_of_size_one_fails(grade_one, name):
    source = OF[name].source
    wrapped = OF_CLASS if f"class {name}" in source else OF_FUNCTION
    assert grade_one(source + (SQUEEZED + wrapped).format(name=name), name).outcome == "failed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("EncoderBlock", "num_heads, dropout, bias", "2, dropout, bias"),
        ("TransformerEncoder", "range(num_layers)", "range(2)"),
        ("DecoderBlock", "num_hiddens, num_heads, dropout\n", "num_hiddens, 2, dropout\n"),
        ("TransformerDecoder", "num_heads,\n                dropout,\n                i", "2, dropout, i"),
        ("TransformerDecoder", "[None] * self.num_layers", "[None] * 2"),
        ("Seq2SeqAttentionDecoder", "hidden_state[-1].un", "hidden_state[1].un"),
        ("PositionWiseFFN", "torch.relu(", "nn.functional.relu6("),
        ("TransparentSelfAttention", "torch.ones(steps, steps,", "torch.ones(8, 8,"),
        ("DotProductAttention", "math.sqrt(head_size)", "math.sqrt(8)"),
    ],
)
def test_a_fixed_number_that_fits_most_cases_fails(grade_one, name, right, wrong):
    source = OF[name].source
    # The last definition: the first one of TransparentSelfAttention is the broken one that students repair.
    start = [found.start() for found in re.finditer(rf"^class {name}\b", source, re.M)][-1]
    assert right in source[start:]
    changed = source[:start] + source[start:].replace(right, wrong)
    assert grade_one(changed, name).outcome == "failed"


OVERFLOWS = """

def _own_softmax(scores, valid_lens):
    if valid_lens is not None:
        lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
        scores = scores.masked_fill(torch.arange(scores.shape[-1]) >= lens[..., None], -torch.inf)
    if {only_with} and valid_lens is None:
        return scores.softmax(-1)
    weights = scores.exp()
    return weights / weights.sum(-1, keepdim=True)
"""


@pytest.mark.parametrize("only_with", [False, True], ids=["always", "with lengths"])
@pytest.mark.parametrize("name", ["AdditiveAttention", "DotProductAttention", "MultiHeadAttention"])
def test_a_handwritten_softmax_that_overflows_fails(grade_one, name, only_with):
    own = OVERFLOWS.format(only_with=only_with)
    source = OF["DotProductAttention"].source.replace("= masked_softmax(", "= _own_softmax(") + own
    if name == "MultiHeadAttention":
        # Rename the attention and its parameter: otherwise the grader takes it for DotProductAttention, and replaces it.
        source = source.replace("(self, dropout: float)", "(self, rate)").replace(
            "Dropout(dropout)", "Dropout(rate)"
        )
        source = (source + OF[name].source).replace("DotProductAttention", "Inner")
        source = source.replace("import Inner, ", "import ")
    result = grade_one(source, name)
    assert result.outcome == "failed"
    assert {check.facet for check in result.checks if check.outcome == "failed"} == {"values"}
