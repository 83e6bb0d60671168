"""A hidden report has no text that student code could have chosen: only sentences of the grader and the course."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from grader.report.finding import PUBLIC, CodeLine, Fact, Finding, Spot, Writer, placeholders
from grader.report.model import Advice, CheckResult, Diagnosis, ExerciseResult
from grader.report.sentences import ROWS, SAFE, Row

GRADER = Path(__file__).resolve().parents[2] / "grader"
SECRET = "SECRET7391"
HIDDEN = Writer(hidden=True, files={"a.py": 5})
# Add a new field here after you decide in `engine/result.py` what a hidden report may show of it.
HANDLED = {
    ExerciseResult: {
        *("name", "assignment", "outcome", "score", "points", "title", "message", "checks", "diagnosis"),
        *("advice", "remarks", "seconds", "content", "picture", "printed", "code", "partial"),
        *("fix_first", "replaced", "fingerprint", "file", "line", "second"),
    },
    CheckResult: {
        *("id", "facet", "title", "outcome", "device", "dtype", "visibility", "message"),
        *("expected", "got", "where", "policy", "rule", "file", "line"),
    },
    Diagnosis: {"kind", "alternatives", "says", "asks", "lines", "file", "line"},
    Advice: {"policy", "says", "asks", "reason", "where", "mistakes", "checks"},
}
LATE = [rule for rule, row in ROWS.items() if not row.early]


@pytest.mark.parametrize("kind", HANDLED, ids=lambda kind: kind.__name__)
def test_every_field_of_a_result_is_handled(kind):
    assert {field.name for field in fields(kind)} == HANDLED[kind]


def test_a_sentence_for_hidden_reports_has_only_placeholders_that_the_grader_or_the_course_fills():
    used = {rule: placeholders("".join(ROWS[rule].hidden)) for rule in LATE}
    assert {rule: names - SAFE for rule, names in used.items() if names - SAFE} == {}
    assert frozenset.union(*used.values()) == SAFE, "a name in SAFE that no sentence needs"


def full_of_secrets(rule: str) -> Finding:
    """Return a finding whose values, places and advice are all secret, except what the grader or the course chose."""
    names = {name for text in ROWS[rule].shown for name in placeholders(text)}
    formatted = {"largest", "sum", "found", "size", "value", "ratio", "seed", "share"}
    data = {name: 7391.0 if name in formatted else SECRET for name in names - SAFE}
    return Finding(
        rule,
        data | dict.fromkeys(SAFE, "chosen"),
        place=CodeLine(SECRET, 7391, SECRET),
        expected=SECRET,
        got=SECRET,
        advice=Fact("advice/near", {"near": SECRET}),
    )


@pytest.mark.parametrize("rule", LATE)
def test_a_hidden_report_has_no_value_that_student_code_could_choose(rule):
    finding = full_of_secrets(rule)
    visible = (
        HIDDEN.message(finding),
        HIDDEN.sentence(finding),
        HIDDEN.where(finding),
        *HIDDEN.line(finding),
    )
    assert "7391" not in str(visible)
    assert "…" not in str(visible), "a gap where a value was"
    assert HIDDEN.message(finding) or rule == "passed"
    assert HIDDEN.rule(finding) in ROWS or not ROWS[rule].hidden
    assert SECRET in PUBLIC.where(finding)


def test_a_hidden_sentence_gets_no_other_values(monkeypatch):
    monkeypatch.setitem(ROWS, "shape", Row(("{got}",), ("{got}",)))
    assert HIDDEN.message(Finding("shape", {"got": SECRET})) == "wrong result"
    monkeypatch.setitem(ROWS, "shape", Row(("{says}",), ("{says}",)))
    assert HIDDEN.message(Finding("shape", {"says": "chosen"})) == "chosen"


def test_the_rule_in_a_hidden_report_says_no_more_than_its_sentence():
    assert HIDDEN.rule(Fact("rate/weights")) == HIDDEN.rule(Fact("rate")) == "rate"
    assert HIDDEN.rule(Fact("advice/near")) == ""
    assert PUBLIC.rule(Fact("rate/weights")) == "rate/weights"


def test_a_rule_without_a_sentence_for_hidden_reports_is_left_out_or_replaced():
    assert HIDDEN.sentence(Fact("cause", {"cause": "a tensor of 3 and one of 5"})) == ""
    assert HIDDEN.message(Finding("at/sequence", {"n": 1})) == "wrong result"
    assert HIDDEN.where(Finding("accuracy", place=Fact("at/sequence", {"n": 1}))) == ""


def test_values_from_before_a_case_ran_are_shown():
    note = Fact("note", {"file": "b.py", "line": 9, "type": "NameError", "message": "no"})
    assert HIDDEN.sentence(note) == "b.py, line 9: NameError: no"
    assert HIDDEN.line(note) == ("b.py", 9)


@pytest.mark.parametrize(
    ("place", "shown", "line"),
    [
        (CodeLine("a.py", 3, "return SECRET"), "a.py, line 3", 3),  # without its text
        (CodeLine("a.py", 5), "a.py, line 5", 5),
        (CodeLine("a.py", 6), "", 0),  # the file has five lines
        (CodeLine("a.py", 12345678), "", 0),
        (CodeLine("b.py", 3), "", 0),
        (Spot((0, 12), ("batch", "query")), "batch 0, query 12", 0),
        (Spot((13, 2), ("batch·head/3", "step")), "batch 4, head 1, step 2", 0),
        (Spot((0, 1)), "[0, 1]", 0),
        (Spot((0,), ("row",), "grad W"), "grad W: row 0", 0),
        (Spot(of="grad W"), "grad W", 0),
        (None, "", 0),
    ],
)
def test_only_a_line_of_the_submission_or_a_place_on_the_axes_is_shown(place, shown, line):
    finding = Finding("exception", place=place)
    assert (HIDDEN.where(finding), HIDDEN.line(finding)[1]) == (shown, line)


@pytest.mark.parametrize(
    ("finding", "sentence"),
    [
        (
            Finding("lost/time", {"seconds": "10"}),
            "stopped after 10 seconds; is there a loop that never ends?",
        ),
        (Finding("lost/time"), "stopped: time limit exceeded"),
        (Finding("lost/died", {"detail": SECRET}), "the worker process ended twice while it ran your code"),
        (Finding("exception/debugger"), "the code starts a debugger: remove `breakpoint` or `set_trace`"),
        (Finding("exception", {"builtin": "TypeError", "what": SECRET}), "raised TypeError"),
        (Finding("exception", {"builtin": None, "what": SECRET}), "raised an exception"),
        (
            Finding("exception", {"builtin": "TypeError", "what": SECRET}, advice=Fact("advice/faulty")),
            "raised TypeError. The faulty module raised this inside your test. A test must return True then.",
        ),
    ],
)
def test_exceptions_and_a_time_limit_are_named_on_hidden_cases(finding, sentence):
    assert HIDDEN.sentence(finding) == sentence


# ---- the rules in the code


def rules_made(package: str = "") -> Iterator[tuple[str, str]]:
    """Yield the file and the rule of each `Fact("…")` and `Finding("…")` in the grader's code."""
    for path in sorted((GRADER / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "Fact",
                "Finding",
                "finding_where",
            ):
                for leaf in ast.walk(node.args[0]) if node.args else ():
                    if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str):
                        yield path.name, leaf.value


def test_every_rule_that_the_code_names_has_a_row():
    made = set(rules_made())
    assert len(made) > 60
    unknown = {(file, rule) for file, rule in made if not any(known.startswith(rule) for known in ROWS)}
    assert unknown == set()


def test_what_a_judge_or_the_diagnosis_finds_is_never_taken_for_text_from_before_a_case():
    late = {rule for package in ("judge", "diagnosis", "lines") for _file, rule in rules_made(package)}
    assert {rule for rule in late if rule in ROWS and ROWS[rule].early} == set()
