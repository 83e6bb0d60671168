"""JUnit XML, as CI systems read it: a suite an exercise, a case a check."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from grader.report.model import CheckResult, ExerciseResult, Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> str:
    """The report as one XML document."""
    return junit_of_many([("", report)])


def junit_of_many(reports: Iterable[tuple[str, Report]]) -> str:
    """Several reports as one document; the text before each marks the names of its suites."""
    root = ElementTree.Element("testsuites", name="headway")
    for mark, report in reports:
        for result in report.exercises:
            suite = _suite(result)
            suite.set("name", _clean(mark + suite.get("name", "")))
            root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(result: ExerciseResult) -> ElementTree.Element:
    cases = [_case(result, check) for check in result.checks] or [_whole(result)]
    suite = ElementTree.Element(
        "testsuite",
        name=f"{result.assignment}.{result.name}",
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        time=f"{result.seconds:.3f}",
    )
    suite.extend(cases)
    return suite


def _case(result: ExerciseResult, check: CheckResult) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase", classname=f"{result.assignment}.{result.name}", name=f"{check.id}: {check.title}"
    )
    tag = {"failed": "failure", "skipped": "skipped", "could_not_grade": "error"}.get(check.outcome)
    if tag:
        details = [
            check.message,
            check.where,
            *(f"{k}:\n{v}" for k, v in (("expected", check.expected), ("got", check.got)) if v),
        ]
        _child(case, tag, check.message, "\n".join(filter(None, details)))
    return case


def _whole(result: ExerciseResult) -> ElementTree.Element:
    """An exercise without checks: not started, blocked, or not graded at all."""
    case = ElementTree.Element("testcase", classname=f"{result.assignment}.{result.name}", name=result.name)
    tag = {"not_started": "skipped", "blocked": "failure", "could_not_grade": "error"}.get(result.outcome)
    if tag:
        _child(case, tag, result.message or result.outcome, result.message)
    return case


def _child(case: ElementTree.Element, tag: str, message: str, text: str) -> None:
    child = ElementTree.SubElement(case, tag, message=_clean(message))
    child.text = _clean(text)


def _clean(text: str) -> str:
    """XML 1.0 has no way to say some characters."""
    return _NOT_XML.sub("�", text)
