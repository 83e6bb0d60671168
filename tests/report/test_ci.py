"""GitHub's commands and JUnit XML stay well-formed whatever a student wrote. `test_snapshots.py` has whole reports."""

from xml.etree import ElementTree

from grader.report.ci import github, junit, markdown
from grader.report.model import CheckResult, ExerciseResult, Report

HOSTILE = (
    "a\x00\x1b[31m]]></failure><!-- & \"quoted\" 'x' \ud800 \uffff \u202e 注意 \n\t [/foo] ::error::b %0A"
)


def report(**check):
    checks = (CheckResult("c/values", "values", "values", "failed", **check),)
    failed = ExerciseResult("f", "02_masking", "failed", 0.0, 1.0, checks=checks)
    blocked = ExerciseResult("g", "02_masking", "blocked", 0.0, 1.0, message=check["message"])
    return Report((failed, blocked), "basic", "2.13.0", "0.1.0")


def test_hostile_text_stays_text_in_xml():
    found = ElementTree.fromstring(
        junit(report(message=HOSTILE, where=HOSTILE, expected=HOSTILE, got=HOSTILE)).encode()
    )
    assert len(found.findall(".//failure")) == 2
    assert "]]></failure>" in found[0][0][0].text
    assert "注意" in found[1][0][0].attrib["message"]


def test_hidden_checks_show_neither_expected_nor_got():
    found = ElementTree.fromstring(junit(report(message="m", expected=None, got=None)))
    assert found[0][0][0].text == "m"


def test_hostile_text_becomes_no_workflow_command_and_no_row():
    lines = github(
        report(message=HOSTILE, where="masking.py, line 3: \n::error::c", file="masking.py", line=3)
    ).splitlines()
    assert [line.partition("=")[0] for line in lines[:-1]] == ["::error file"] * 2
    assert ",line=3,title=f%3A failed::" in lines[0]
    assert "%0A" in lines[0]
    assert "%250A" in lines[0]
    rows = [line for line in markdown(report(message="a | b\nc")).splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert "a \\| b c" in rows[2]
