"""Classes that students repair: a report gives no fault away. Tests of such classes: every fault must be found."""

import re
from pathlib import Path
from textwrap import dedent

import pytest

from grader.authoring.bank import apply
from grader.authoring.content import read
from grader.report.formats import written

ASSIGNMENT = read(Path(__file__).resolve().parents[2] / "solutions" / "05_multi_head_attention")
MUTANTS = {mutant.id: mutant for mutant in ASSIGNMENT.mutants()}


@pytest.mark.parametrize(
    "id",
    [
        "mixedup-keys-left",  # other values
        "mixedup-name-left",  # an exception
        "mixedup-no-axis",  # an exception about sizes
        "tangled-size-unfixed",
        "transparent-merge-left",
    ],
)
def test_no_report_on_a_repair_names_a_line_or_an_inner_result(grade, id):
    source = apply(MUTANTS[id], ASSIGNMENT.source)
    report = grade(source, [MUTANTS[id].of])
    assert report.exercises[0].outcome == "failed"
    for text in (written(form, report) for form in ("text", "json", "html")):
        assert not re.search(r"answer\.py, line \d|answer\.py:\d|ntermediate|sizes that do not match", text)


@pytest.mark.parametrize("name", ["catches_mixed_up", "catches_tangled", "catches_transparent"])
def test_a_test_passes_before_its_class_is_repaired(bundles, grade_one, name):
    stub = next(bundle.stub for bundle in bundles if bundle.assignment == ASSIGNMENT.name)
    test = next(v for v in ASSIGNMENT.variants(name) if v.kind == "same")
    result = grade_one(f"{stub}\n\n{dedent(test.code)}", name)
    assert (result.outcome, result.score) == ("passed", result.points)


CALLS = """
def catches_tangled(attention):
    return not attention(torch.randn({shape})).isfinite().all()
"""


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        (
            "2, 7, attention.w_q.in_features",
            "The faulty module raised this inside your test. A test must return True then.",
        ),
        ("2, 7", "A correct module raised this inside your test. Check what the test passes to it."),
    ],
)
def test_an_exception_of_a_module_says_what_a_test_must_do(grade_one, shape, says):
    result = grade_one("import torch\n" + CALLS.format(shape=shape), "catches_tangled")
    raised = {check.message: check.where for check in result.checks if check.message.startswith("raised")}
    (where,) = {where for message, where in raised.items() if message.endswith(says)}
    assert where.startswith("answer.py, line 4")
