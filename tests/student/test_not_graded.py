"""A file from elsewhere: sentences say which definitions were not graded, and why."""

import pytest

from grader.student.check import check
from grader.support.errors import GraderError

CLASS = "class {name}(nn.Module):\n    def __init__(self, {takes}): super().__init__()\n    def forward(self, {forward}): return x\n"
# Added to a file, so that it defines an exercise; otherwise `check` raises an exception.
ADD_NORM = "class AddNorm:\n    x = 1\n"


def a_class(name, takes, forward="x"):
    return CLASS.format(name=name, takes=takes, forward=forward)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", None),  # a class whose name was graded is not listed
        (
            a_class("Attention", "dropout", "q, k, v, mask"),
            "`Attention` (line 1), if it is meant as DotProductAttention: this file … `Attention(dropout=dropout)`",
        ),
        (
            a_class("MLPAttention", "units, dropout", "q, k, v, lens"),
            "`MLPAttention` (line 1), if it is meant as AdditiveAttention: this file … `query_size`",
        ),
        (
            a_class("DotAttention", "dropout", "q, k, v, lens=None"),
            "`DotAttention` (line 1; rename it if it is meant as DotProductAttention)",
        ),
        (
            a_class("TokenEmbedding", "embedding_name"),
            "`TokenEmbedding` (line 1; the exercise of this name is `TokenEmbedding(vocab_size, d_model)`)",
        ),
        (a_class("MultiHeadAttention", "d_model, n_head"), None),  # the report has it: another interface
        # Code like a class to repair is not called one.
        (a_class("LatentQueryAttention", "d_model, n_head"), "`LatentQueryAttention` (line 1)"),
        (
            "class add_norm:\n    x = 1\n",
            "`add_norm` (line 1; `AddNorm` was used for the exercise AddNorm)",
        ),
        (
            "".join(a_class(f"Attn{n}", "x") for n in range(9)),
            "`Attn0` (line 1), … `Attn5` (line 16), and 3 more",
        ),
    ],
)
def test_one_sentence_lists_the_definitions_that_were_not_graded(tmp_path, shared_launcher, text, says):
    file = tmp_path / "notes.py"
    file.write_text(text + ADD_NORM, "utf-8")
    remarks = [r for r in check((), shared_launcher, file=file, quiet=True).remarks if "import" not in r]
    assert len(remarks) == (says is not None)
    for remark in remarks:
        remark = remark.removeprefix("not graded: ")
        start, _dots, end = says.partition("… ")
        assert (remark.startswith(start) and remark.endswith(end)) if end else remark == start


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            a_class("Network", "dim"),
            "; the exercises are kernel_attention_weights, kernel_regression, ",
        ),
        (
            a_class("AttentionOverHeads", "dim"),
            "\nnot graded: `AttentionOverHeads` (line 1)",
        ),
        (
            a_class("DotProductAttentionDistance", "dropout", "q, k, v, lens=None"),
            "\nnot graded: `DotProductAttentionDistance` (line 1; rename it",
        ),
    ],
)
def test_an_error_on_a_file_without_exercises_names_what_is_near(tmp_path, shared_launcher, text, says):
    file = tmp_path / "own.py"
    file.write_text(text)
    with pytest.raises(GraderError) as error:
        check((), shared_launcher, file=file, quiet=True)
    assert str(error.value).startswith("no exercise of this course found in own.py")
    assert says in str(error.value)
