"""The report on a file with syntax errors, missing imports, or slips such as a misspelt attribute."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader.engine.grade_once import code
from grader.intake.names import read_names
from grader.intake.read import submission_from
from grader.report.model import Diagnosis, ExerciseResult
from grader.report.shared_sentences import all_passed

MASKED = """def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens if valid_lens.dim() == 2 else valid_lens[:, None]
        real = torch.arange(X.shape[-1], device=X.device) < lens[..., None]
        X = torch.where(real, X, -1e6)
    return F.softmax(X, dim=-1)
"""


def graded(engine, name, text):
    return engine.grade(submission_from(Path(name), text.encode())).exercises


def test_missing_imports_are_added_and_reported(engine):
    report = engine.grade(submission_from(Path("masking.py"), MASKED.encode()))
    assert report.exercises[0].outcome == "passed"
    assert report.remarks == (
        "masking.py uses names that it does not import: add at the top `import torch` (line 4),"
        " `import torch.nn.functional as F` (line 6); the grader did so for this check",
    )
    assert all_passed(report) == "All checks passed."


def test_one_missing_import_is_added_and_reported_with_its_line(engine):
    (remark,) = engine.grade(submission_from(Path("masking.py"), f"import torch\n{MASKED}".encode())).remarks
    assert remark == (
        "masking.py, line 7 uses `F`: add `import torch.nn.functional as F` at the top; the grader did so for this check"
    )


@pytest.mark.parametrize(
    ("before", "says"),
    [
        (
            "",
            "the statement in masking.py, line 10 raised an exception and was skipped:"
            " NameError: name 'relu_of' is not defined (masking.py, line 9)",
        ),
        (
            "from mine import relu_of",
            "1 statement needs code that is not available here and was skipped: masking.py, line 10 needs `relu_of`",
        ),
    ],
)
def test_only_a_name_of_a_failed_import_is_not_available(engine, before, says):
    misspelt = "import torch\nimport torch.nn.functional as F\n" + MASKED.replace("F.softmax(X", "relu_of(X")
    source = f"{before}\n{misspelt}masked_softmax(torch.ones(1, 2, 3), None)\n"
    report = engine.grade(submission_from(Path("masking.py"), source.encode()))
    assert report.remarks == (says,)


def test_a_missing_import_in_a_notebook_is_reported_with_its_cell(engine):
    cells = [{"cell_type": "code", "source": text} for text in ("x = 1", MASKED)]
    notebook = json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    (remark,) = engine.grade(submission_from(Path("masking.ipynb"), notebook.encode())).remarks
    assert "`import torch` (cell 2, line 4)" in remark


def test_a_definition_in_a_block_that_did_not_run_has_a_message(engine):
    source = "if __name__ == '__main__':\n    " + MASKED.replace("\n", "\n    ")
    (result,) = graded(engine, "masking.py", source)
    assert (result.outcome, result.message) == (
        "blocked",
        "masking.py, line 2 defines masked_softmax in a block that did not run: put it at the top level",
    )


def test_a_file_that_imports_its_names_gets_no_remark(engine):
    (result,) = graded(engine, "masking.py", f"import torch\nfrom torch.nn import functional as F\n{MASKED}")
    assert (result.outcome, result.remarks) == ("passed", ())


def test_with_file_a_missing_import_is_reported_without_advice(engine):
    """With `--file`, the reader of the report may not be the author of the file, so the remark gives no advice."""
    foreign = engine.with_options(foreign=True)
    source = SCORING.replace("from grader.given import masked_softmax\n", "")
    (remark,) = foreign.grade(submission_from(Path("scoring.py"), source.encode())).remarks
    assert "uses `masked_softmax`, which the file does not import" in remark
    assert remark.endswith("the grader used `from grader.given import masked_softmax`")
    assert "add" not in remark


def test_code_before_a_syntax_error_is_graded(engine):
    text = f"import torch\nimport torch.nn.functional as F\n\n{MASKED}\n\ndef sequence_mask(X, valid_len:\n    return X\n"
    before, after = sorted(graded(engine, "masking.py", text), key=lambda result: result.name)
    assert (before.name, before.outcome) == ("masked_softmax", "passed")
    assert (after.name, after.outcome) == ("sequence_mask", "blocked")
    assert after.message.startswith("Python cannot read sequence_mask: masking.py, line 12: ")


def test_notes_and_scripts_with_magics_are_graded(engine):
    # The last block has a full-width ＝: a syntax error in one block does not stop the others.
    notes = f"# Masking\n\n```python\nimport torch, torch.nn.functional as F\n```\nand\n```\n{MASKED}```\n```python\nx ＝ 1\n```\n"
    script = f"# %%\n%matplotlib inline\nimport torch\nimport torch.nn.functional as F\n# %%\n{MASKED}!ls\n"
    for name, text in (("notes.md", notes), ("masking.py", script)):
        (result,) = graded(engine, name, text)
        assert result.outcome == "passed", name


def test_a_line_of_a_markdown_file_has_its_number_in_the_file(engine):
    text = "# Masking\n\n```python\nimport torch\n\ndef masked_softmax(X, valid_lens):\n    return X.softmaxx(-1)\n```\n"
    (result,) = graded(engine, "notes.md", text)
    assert result.outcome == "failed"
    assert any("notes.md, line 7" in check.where for check in result.checks)


SCORING = """import math
import torch
from torch import nn
from grader.given import masked_softmax


class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = queries @ keys.transpose(1, 2) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.dropout(self.attention_weights) @ values
"""


def test_a_slip_begins_the_diagnosis_of_an_exception(engine):
    (result,) = graded(engine, "scoring.py", SCORING.replace("keys.transpose", "keys.tranpose"))
    assert result.outcome == "failed"
    slip = "scoring.py, line 13: there is no `.tranpose`; did you mean `.transpose`?"
    assert result.diagnosis.says.startswith(slip)
    assert slip not in result.remarks


def test_a_slip_is_a_remark_if_the_failure_is_no_exception(engine):
    source = SCORING.replace(
        " / math.sqrt(queries.shape[-1])", "\n        if False:\n            keys.tranpose(1, 2)"
    )
    (result,) = graded(engine, "scoring.py", source)
    assert result.outcome == "failed"
    assert "scoring.py, line 15: there is no `.tranpose`; did you mean `.transpose`?" in result.remarks


def test_a_slip_is_not_shown_if_the_exercise_passes(engine):
    source = SCORING.replace(
        "        scores", "        if False:\n            keys.tranpose(1, 2)\n        scores"
    )
    (result,) = graded(engine, "scoring.py", source)
    assert result.outcome == "passed"
    assert not any("tranpose" in remark for remark in result.remarks)


def test_a_constructor_under_another_name_is_explained(engine):
    (result,) = graded(engine, "scoring.py", SCORING.replace("def __init__", "def init__"))
    assert result.outcome in ("failed", "other_interface")
    assert "the method is called `init__`; Python calls `__init__`" in " ".join(
        (result.diagnosis.says, *result.remarks)
    )


def test_a_class_that_is_no_module_is_not_asked_for_its_attributes(engine):
    source = """from torch import nn
class AddNorm:
    def __init__(self, normalized_shape, dropout):
        self.ln, self.dropout = nn.LayerNorm(normalized_shape), nn.Dropout(dropout)
    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)
"""
    (result,) = graded(engine, "encoder.py", source)
    says = "encoder.py, line 2: the class does not inherit from nn.Module; write `class AddNorm(nn.Module)`"
    assert result.diagnosis.says.startswith(says)
    assert not any("has no attribute" in check.message for check in result.checks)


def test_a_missing_import_of_a_building_block_is_added_and_reported(engine):
    source = SCORING.replace("from grader.given import masked_softmax\n", "")
    report = engine.grade(submission_from(Path("scoring.py"), source.encode()))
    assert (report.exercises[0].outcome, report.exercises[0].remarks) == ("passed", ())
    (remark,) = report.remarks
    assert "uses `masked_softmax`: add `from grader.given import masked_softmax` at the top" in remark


def test_the_line_of_a_slip_is_not_marked_for_a_known_mistake():
    source = "x = 1\ndef f():\n    return 2\n"
    submission = submission_from(Path("a.py"), source.encode())
    definition = read_names(submission).definitions["f"]
    bare = ExerciseResult("f", "a", "failed", 0.0, 1.0, remarks=("a.py, line 3: a slip",))
    known = replace(bare, diagnosis=Diagnosis("exact", (("m",),), "says"))
    assert code(bare, submission, definition).marked == (3,)
    assert code(known, submission, definition).marked == ()


def test_a_named_line_is_marked_unless_it_begins_the_definition():
    submission = submission_from(Path("a.py"), b"def f():\n    return 2\n")
    definition = read_names(submission).definitions["f"]
    result = ExerciseResult("f", "a", "failed", 0.0, 1.0, message="a.py, line 1: an exception")
    assert code(result, submission, definition).marked == ()
    assert code(result, submission, None).marked == (1,)
