"""JUnit XML for CI systems: one suite per exercise, one case per check; one case for an exercise without checks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from grader.report.model import CheckResult, ExerciseResult, Report
from grader.support.i18n import _

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> str:
    """Return the report as one XML document."""
    return junit_of_many([("", report)])


def junit_of_many(reports: Iterable[tuple[str, Report]]) -> str:
    """Return several reports as one document. reports: pairs of a prefix for the names of suites, and a report."""
    root = ElementTree.Element("testsuites", name="headway")
    for prefix, report in reports:
        for result in report.exercises:
            suite = _suite(result)
            suite.set("name", _clean(prefix + suite.get("name", "")))
            if remarks := (*report.remarks, *result.remarks):
                ElementTree.SubElement(suite, "system-out").text = _clean("\n".join(remarks))
            root.append(suite)
        if not report.exercises:
            root.append(_nothing(_clean(prefix.rstrip(".")), _clean("; ".join(report.remarks))))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _nothing(name: str, why: str) -> ElementTree.Element:
    """Return the suite of a report without exercises: one case with an error."""
    suite = ElementTree.Element("testsuite", name=name, tests="1", failures="0", errors="1", skipped="0")
    _child(ElementTree.SubElement(suite, "testcase", classname=name, name=name), "error", why, why)
    return suite


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
    if check.outcome == "advice":
        note = _("advice, which costs no points: {message} {place}")
        out = ElementTree.SubElement(case, "system-out")
        out.text = _clean(note.format(message=check.message, place=check.where).rstrip())
    elif tag:
        details = [
            check.message,
            check.where,
            *(f"{k}:\n{v}" for k, v in (("expected", check.expected), ("got", check.got)) if v),
        ]
        _child(case, tag, check.message, "\n".join(filter(None, details)))
    return case


def _whole(result: ExerciseResult) -> ElementTree.Element:
    """Return the case of an exercise without checks, such as one that is not started or blocked."""
    case = ElementTree.Element("testcase", classname=f"{result.assignment}.{result.name}", name=result.name)
    tags = {
        "not_started": "skipped",
        "blocked": "failure",
        "other_interface": "failure",
        "could_not_grade": "error",
    }
    tag = tags.get(result.outcome)
    if tag:
        _child(case, tag, result.message or result.outcome, result.message)
    return case


def _child(case: ElementTree.Element, tag: str, message: str, text: str) -> None:
    child = ElementTree.SubElement(case, tag, message=_clean(message))
    child.text = _clean(text)


def _clean(text: str) -> str:
    """Replace the characters that XML 1.0 cannot represent."""
    return _NOT_XML.sub("�", text)
