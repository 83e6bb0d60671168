"""A file from elsewhere: sentences say which definitions were not graded, and why."""

from __future__ import annotations

import pytest

from grader.student.check import check
from grader.support.errors import GraderError

CLASS = "class {name}(nn.Module):\n    def __init__(self, {takes}): super().__init__()\n    def forward(self, {forward}): return x\n"
# Added to a file, so that it defines an exercise; otherwise `check` raises an exception.
ADD_NORM = "class AddNorm:\n    x = 1\n"


def a_class(name, takes, forward="x"):
    return CLASS.format(name=name, takes=takes, forward=forward)


@pytest.fixture
def remarks(tmp_path, shared_launcher):
    """Return a function that returns the remarks on a file with the given text, without those on imports."""

    def of(text, name="notes.py"):
        file = tmp_path / name
        file.write_text(text)
        return [r for r in check((), file=file, quiet=True).remarks if "import" not in r]

    return of


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            a_class("Attention", "dropout", "q, k, v, mask"),
            "`Attention` was not graded, because no exercise has this name; if it is meant as DotProductAttention, rename it",
        ),
        (
            a_class("MLPAttention", "units, dropout", "q, k, v, lens"),
            "`MLPAttention` was not graded, because no exercise has this name; if it is meant as one of these, rename it:"
            " AdditiveAttention, DotProductAttention, MultiHeadAttention",
        ),
        (
            a_class("TokenEmbedding", "embedding_name"),
            "`TokenEmbedding` was not graded; the exercise of this name is `TokenEmbedding(vocab_size, d_model)`",
        ),
    ],
)
def test_the_exercises_that_a_class_may_be_meant_as_are_named(remarks, text, says):
    assert remarks(text + ADD_NORM) == [f"line 1: {says}"]


@pytest.mark.parametrize("takes", ["d_model, n_head", "embed_dim, num_heads, dropout"])
def test_code_like_a_class_to_repair_is_not_called_one(remarks, takes):
    assert (
        remarks(a_class("MultiHeadAttention", takes) + ADD_NORM) == []
    )  # the report has it: another interface
    assert remarks(a_class("CausalSelfAttention", takes) + ADD_NORM) == [
        "not recognised as exercises, so not graded: `CausalSelfAttention` (line 1)"
    ]


def test_a_class_with_the_same_parameters_that_raises_is_explained(remarks):
    text = """
class causal(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.rows = d_model // n_head
    def forward(self, x):
        return x @ x.mT + torch.zeros(self.rows, self.rows)
"""
    (remark,) = remarks(text + ADD_NORM)
    assert remark.startswith(
        "line 2: `causal` was not graded; with inputs of this course, it raised RuntimeError: "
    )
    assert "(notes.py, line 7: return x @ x.mT + torch.zeros(self.rows, self.rows))" in remark
    assert remark.endswith("; sizes that do not match: 5 (axis 1 of `x`) and 4 (`d_model / n_head`)")


def test_a_class_whose_name_was_graded_is_not_listed(remarks):
    assert remarks(ADD_NORM) == []


@pytest.mark.slow
def test_a_class_in_whose_place_another_was_graded_is_reported(remarks):
    assert remarks("class add_norm:\n    x = 1\n" + ADD_NORM) == [
        "line 1: `add_norm` was not graded; `AddNorm` of the same file was used for the exercise AddNorm"
    ]


def test_the_last_definition_of_a_repeated_name_is_reported(remarks):
    assert remarks("class AddNorm:\n    x = 2\n" + ADD_NORM) == [
        "defined more than once, and the last definition was graded: `AddNorm` (line 3)"
    ]


def test_many_definitions_are_listed_in_one_sentence(remarks):
    text = "".join(a_class(f"Attn{n}", "x") for n in range(9)) + ADD_NORM
    (remark,) = remarks(text)
    assert remark.startswith("not recognised as exercises, so not graded: `Attn0` (line 1), ")
    assert remark.endswith("`Attn5` (line 16), and 3 more")


def test_skipped_definitions_of_another_framework_are_reported(remarks):
    text = "```python\nclass AddNorm(nn.Block): pass\n```\n```python\n#@tab pytorch\n" + ADD_NORM + "```\n"
    assert remarks(text, "chapter.md") == [
        "the definitions in lines 2 are for another framework and were skipped"
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            a_class("SelfAttention", "dim"),
            "; the exercises are kernel_attention_weights, kernel_regression, ",
        ),
        (
            a_class("AttentionOverHeads", "dim"),
            "\nnot recognised as exercises, so not graded: `AttentionOverHeads` (line 1)",
        ),
        (
            a_class("DotProductAttentionDistance", "dropout"),
            "\nline 1: `DotProductAttentionDistance` was not graded, ",
        ),
    ],
)
def test_an_error_on_a_file_without_exercises_names_what_is_near(tmp_path, text, says):
    file = tmp_path / "own.py"
    file.write_text(text)
    with pytest.raises(GraderError) as error:
        check((), file=file, quiet=True)
    start = "no exercise of this course found in own.py"
    assert str(error.value).startswith(start)
    assert says in str(error.value)
