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
    ("takes", "exercise"),
    [
        ("d_model, n_head", "TangledSelfAttention"),
        ("embed_dim, num_heads, dropout", "TransparentSelfAttention"),
    ],
)
@pytest.mark.parametrize("name", ["multi_head_attention", "MultiHeadAttention"])
def test_the_exercise_with_the_same_parameters_is_named(remarks, name, takes, exercise):
    text = a_class(name, takes) + ADD_NORM
    assert remarks(text) == [
        f"line 1: `{name}` was not graded as {exercise}, although it has the same parameters;"
        f" rename it to `{exercise}` to grade it"
    ]


def test_a_class_with_the_same_parameters_that_raises_is_explained(remarks):
    text = """
class causal(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.rows = d_model // n_head
    def forward(self, x):
        return x.sum(-1) + torch.zeros(self.rows, self.rows)
"""
    (remark,) = remarks(text + ADD_NORM)
    assert remark.startswith(
        "line 2: `causal` was not graded; called like TangledSelfAttention, which has the same parameters,"
        " it raised RuntimeError: "
    )
    assert "(notes.py, line 7: return x.sum(-1) + torch.zeros(self.rows, self.rows))" in remark
    assert remark.endswith("; sizes that do not match: 5 (axis 1 of `x`) and 4 (`d_model / n_head`)")


def test_a_class_of_another_kind_is_not_compared_by_parameters(remarks):
    text = a_class("SentenceEncoder", "d_model, n_head") + a_class("Classifier", "d_model, n_head", "x, y")
    (remark,) = remarks(text + ADD_NORM)
    assert (
        "`SentenceEncoder(d_model, n_head)` was not graded; the nearest name of an exercise is `Transform"
        in remark
    )


def test_the_nearest_name_is_reported_with_the_parameters_of_both(remarks):
    (remark,) = remarks(a_class("SelfAttention", "dim, dim_qk") + ADD_NORM)
    assert remark == (
        "line 1: `SelfAttention(dim, dim_qk)` was not graded; the nearest name of an exercise is"
        " `TangledSelfAttention(d_model, n_head)`"
    )


def test_a_class_whose_name_was_graded_is_not_listed(remarks):
    assert remarks(ADD_NORM) == []


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


def test_an_error_on_a_file_without_exercises_has_the_nearest_name(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(a_class("SelfAttention", "dim"))
    with pytest.raises(GraderError) as error:
        check((), file=file, quiet=True)
    assert "\nline 1: `SelfAttention(dim)` was not graded; the nearest name of an exercise is" in str(
        error.value
    )
