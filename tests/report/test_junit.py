"""JUnit XML: its suites and cases. It is well-formed whatever a student wrote."""

from xml.etree import ElementTree

import pytest

from grader.report.ci import junit
from grader.report.model import CheckResult, ExerciseResult, Report

HOSTILE = "a\x00\x1b[31m]]></failure><!-- & \"quoted\" 'x' \ud800 \uffff \u202e 注意 \n\t [/foo]"


def check(outcome, **more):
    return CheckResult("c/values", "values", "values", outcome, **more)


def tree(*results):
    text = junit(Report(results, "basic", "2.13.0", "0.1.0"))
    return ElementTree.fromstring(text.encode())


def test_one_suite_per_exercise_and_one_case_per_check():
    checks = (
        check("passed"),
        check("failed", message="m", where="w", expected="e", got="g"),
        check("skipped"),
        check("could_not_grade"),
        check("advice", policy="precision", message="m", where="w"),
    )
    (suite,) = tree(ExerciseResult("f", "02_masking", "failed", 0.0, 1.0, checks=checks, seconds=1.5))
    assert suite.attrib == {
        "name": "02_masking.f",
        "tests": "5",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
        "time": "1.500",
    }
    assert [[child.tag for child in case] for case in suite] == [
        [],
        ["failure"],
        ["skipped"],
        ["error"],
        ["system-out"],
    ]
    assert suite[1][0].attrib["message"] == "m"
    assert suite[1][0].text == "m\nw\nexpected:\ne\ngot:\ng"


@pytest.mark.parametrize(
    ("outcome", "tag"),
    [
        ("not_started", "skipped"),
        ("blocked", "failure"),
        ("other_interface", "failure"),
        ("could_not_grade", "error"),
    ],
)
def test_an_exercise_without_checks_is_one_case(outcome, tag):
    (suite,) = tree(ExerciseResult("f", "02_masking", outcome, 0.0, 1.0, message="why"))
    assert [(child.tag, child.attrib["message"]) for child in suite[0]] == [(tag, "why")]


def test_hidden_checks_show_neither_expected_nor_got():
    (suite,) = tree(
        ExerciseResult(
            "f", "a", "failed", 0.0, 1.0, checks=(check("failed", message="m", expected=None, got=None),)
        )
    )
    assert suite[0][0].text == "m"


def test_hostile_text_stays_text():
    checks = (check("failed", message=HOSTILE, where=HOSTILE, expected=HOSTILE, got=HOSTILE),)
    results = (
        ExerciseResult("f", "a", "failed", 0.0, 1.0, checks=checks),
        ExerciseResult("g", "a", "blocked", 0.0, 1.0, message=HOSTILE),
    )
    found = tree(*results)
    assert len(found.findall(".//failure")) == 2
    assert "]]></failure>" in found[0][0][0].text
    assert "注意" in found[1][0][0].attrib["message"]
