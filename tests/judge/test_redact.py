"""A redacted result has no text that student code could have chosen: only sentences of the grader and the course."""

from dataclasses import fields, replace

import numpy as np
import pytest
from helpers.minimal import exercise_of

from grader.bundle.model import Check, Exercise, Header, KnownMistake, RecordedCase
from grader.judge import JUDGES
from grader.judge.redact import Evidence, redact
from grader.report.model import Advice, CheckResult, Diagnosis, ExerciseResult, Line

SECRET = "SECRET7391"
OUTCOMES = ("passed", "failed", "advice", "skipped", "could_not_grade")
# Codes of findings: "!" and an exception, "lost" and why a worker was lost, or words of a judge.
CODES = (
    "",
    "values",
    "absent",
    "odd",
    "differ",
    "value",
    "changed x",
    "!ValueError",
    "lost time",
    "lost died",
)
# Add a new field here after you decide in `redact` what a hidden report may show of it.
HANDLED = {
    ExerciseResult: {
        *("name", "assignment", "outcome", "score", "points", "title", "message", "checks", "diagnosis"),
        *("advice", "remarks", "seconds", "content", "picture", "printed", "code", "partial"),
        *("fix_first", "replaced", "fingerprint"),
    },
    CheckResult: {
        *("id", "facet", "title", "outcome", "device", "dtype", "visibility", "message"),
        *("expected", "got", "where", "policy"),
    },
    Diagnosis: {"kind", "alternatives", "says", "asks", "lines"},
    Advice: {"policy", "says", "asks", "reason", "where", "mistakes", "checks"},
}


def exercise_with(judge: str) -> Exercise:
    headers = {"out": Header((2, 3), "float64", ("batch", "query"))}
    check = Check("c/values", "values", "the values", judge, ("out",))
    case = RecordedCase("c", "float64", (check,), headers, expected={"out": np.zeros((2, 3))})
    mistake = KnownMistake("m", "wrong", "it is transposed", "which axis?", "")
    return exercise_of(case, mistake)


def full_of_secrets(outcome: str) -> ExerciseResult:
    """Return a result with the secret in each text but outcomes, kinds and one id, also in new fields."""
    check = CheckResult(**{**_secrets(CheckResult), "id": "c/values", "outcome": outcome})
    known = {"outcome": "failed", "score": 0.0, "points": 1.0, "seconds": 0.0, "partial": False}
    nested = {
        "checks": (check, replace(check, id=SECRET)),
        "diagnosis": Diagnosis(
            "unknown", ((SECRET,),), SECRET, SECRET, (Line(SECRET, 1, SECRET, "repaired"),)
        ),
        "advice": (Advice(**{**_secrets(Advice), "mistakes": (SECRET,), "checks": (SECRET,)}),),
        "remarks": (SECRET,),
        "replaced": (SECRET,),
    }
    return ExerciseResult(**{**_secrets(ExerciseResult), **known, **nested})


def _secrets(kind: type) -> dict[str, str]:
    return {field.name: SECRET for field in fields(kind)}


@pytest.mark.parametrize("kind", HANDLED, ids=lambda kind: kind.__name__)
def test_every_field_of_a_result_is_handled(kind):
    assert {field.name for field in fields(kind)} == HANDLED[kind]


@pytest.mark.parametrize("judge", [*JUDGES, "a_new_one"])
def test_a_redacted_result_has_no_text_of_the_result(judge):
    exercise = exercise_with(judge)
    for outcome in OUTCOMES:
        for code in (*CODES, f"!{SECRET}", f"{SECRET} x", f"lost {SECRET}"):
            evidence = Evidence(
                exercise,
                {"c/values": code},
                facts=(SECRET, f"axis {SECRET}", f"stage {SECRET}", "ratio"),
                observed=(SECRET, f"measured {SECRET}", "layout"),
                files={"a.py": 5},
            )
            visible = repr(redact(full_of_secrets(outcome), evidence))
            assert SECRET not in visible, (judge, outcome, code)


def test_sentences_of_a_diagnosis_come_from_the_course():
    exercise = exercise_with("equal")
    forged = replace(full_of_secrets("failed"), diagnosis=Diagnosis("exact", (("m",),), SECRET, SECRET))
    diagnosis = redact(forged, Evidence(exercise)).diagnosis
    assert (diagnosis.says, diagnosis.asks) == ("it is transposed", "which axis?")
    forged = replace(forged, diagnosis=Diagnosis("exact", ((SECRET,),), SECRET, SECRET))
    assert redact(forged, Evidence(exercise)).diagnosis.kind == "none"


def test_sentences_that_are_safe_stay():
    result = replace(full_of_secrets("failed"), message="f is not defined", remarks=("line 3 is skipped",))
    safe = frozenset({"f is not defined", "line 3 is skipped"})
    shown = redact(result, Evidence(exercise_with("equal"), safe=safe))
    assert (shown.message, shown.remarks) == ("f is not defined", ("line 3 is skipped",))


def shown_check(code: str, **fields: str) -> CheckResult:
    """Return the redacted check with this code."""
    check = CheckResult("c/values", "values", "", "failed", **fields)
    result = ExerciseResult("f", "01_a", "failed", 0.0, 1.0, checks=(check,))
    return redact(result, Evidence(exercise_with("equal"), {"c/values": code}, files={"a.py": 5})).checks[0]


@pytest.mark.parametrize(
    ("codes", "where", "shown"),
    [
        # A line of the submission, without its text.
        (("!ValueError", "lost time 10"), "a.py, line 3: return SECRET", "a.py, line 3"),
        (("!ValueError", "lost time 10"), "a.py, line 5", "a.py, line 5"),
        (("!ValueError", "lost time 10"), "a.py, line 6", ""),  # the file has five lines
        (("!ValueError", "lost time 10"), "a.py, line 12345678", ""),
        (("!ValueError", "lost time 10"), "b.py, line 3", ""),
        (("!ValueError", "lost time 10"), "SECRET", ""),
        # A place on the recorded axes.
        (("values",), "batch 0, query 12", "batch 0, query 12"),
        (("values",), "batch 0, LEAK 3", ""),
        (("values",), "[0, 123456789]", ""),
    ],
)
def test_only_a_line_of_the_submission_or_a_place_on_the_axes_is_shown(codes, where, shown):
    assert {shown_check(code, where=where).where for code in codes} == {shown}


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("lost time 10", "stopped after 10 seconds; is there a loop that never ends?"),
        ("!BdbQuit", "the code starts a debugger: remove `breakpoint` or `set_trace`"),
        ("!TypeError", "raised TypeError"),
        ("!MyError", "raised an exception"),
    ],
)
def test_exceptions_and_a_time_limit_are_named_on_hidden_cases(code, sentence):
    assert shown_check(code, message=SECRET).message == sentence


@pytest.mark.parametrize("judge", JUDGES)
def test_a_hidden_report_leaves_no_gap_where_a_number_was(judge):
    exercise = exercise_with(judge)
    for code in CODES:
        evidence = Evidence(exercise, {"c/values": code}, facts=("ratio", "axis x"))
        result = redact(full_of_secrets("failed"), evidence)
        texts = [result.message, result.diagnosis.says, *(check.message for check in result.checks)]
        assert not any("…" in text or "..." in text for text in texts), (judge, code)
