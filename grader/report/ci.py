"""The report for CI systems: GitHub's annotations and summary, and JUnit XML."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from grader.report import shared_sentences as shared
from grader.report.code_frame import code_frame
from grader.report.model import Advice, CheckResult, ExerciseResult, Report
from grader.support.errors import CannotWrite
from grader.support.i18n import _

SUMMARY = "GITHUB_STEP_SUMMARY"  # names the file that GitHub shows as the summary of a step

# Outcome of an exercise or a check → level of a GitHub annotation ("" for none), mark, JUnit element ("" for none).
_OUTCOMES = {
    "passed": ("", "✅", ""),
    "failed": ("error", "❌", "failure"),
    "blocked": ("error", "❌", "failure"),
    "other_interface": ("error", "❌", "failure"),
    "could_not_grade": ("warning", "⚠️", "error"),
    "not_started": ("", "⬜", "skipped"),
    "skipped": ("", "", "skipped"),
}
# Text from a student's code is escaped, so that it is no workflow command: what ends a message, and what ends a property.
_OF_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_OF_PROPERTY = _OF_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# ---- GitHub


def github(report: Report) -> str:
    """Return a workflow command per exercise that was begun and did not pass, one per advice and one per remark on a
    file, then the points.
    """
    lines = []
    for result in report.exercises:
        if level := _OUTCOMES[result.outcome][0]:
            name = shared.outcome_name(result.outcome)
            lines.append(_command(level, result, name, _problem(result) or name, _places(result)))
    for result in report.exercises:
        for one in result.advice:
            places = ((check.file, check.line) for check in result.checks if check.id in one.checks)
            lines.append(_command("notice", result, _("advice"), _said(one), places))
    lines += [f"::notice::{remark.translate(_OF_MESSAGE)}" for remark in report.remarks]
    return "\n".join([*lines, shared.total_points(report.halves)])


def _places(result: ExerciseResult) -> Iterator[tuple[str, int]]:
    """Yield the lines that the report names, the one to look at first."""
    if frame := code_frame(result):
        yield frame.file, frame.line
    yield result.file, result.line
    yield from ((check.file, check.line) for check in result.checks)
    if result.code is not None:
        yield result.code.file, result.code.line


def exit_status(report: Report) -> int:
    """Return the exit status for a push: exercises that are not started yet are no failure."""
    begun = tuple(result for result in report.exercises if result.outcome != "not_started")
    return replace(report, exercises=begun).exit_status


def markdown(report: Report) -> str:
    """Return a table in Markdown: one row per exercise, with its first problem."""
    rows = [[_("exercise"), _("outcome"), _("points"), _("problem")]]
    for result in report.exercises:
        outcome = f"{_OUTCOMES[result.outcome][1]} {shared.outcome_name(result.outcome)}"
        name = f"{result.assignment[:2]} {result.name}"
        rows.append([name, outcome, shared.points(result.score, result.points), _problem(result)])
    head, *lines = (f"| {' | '.join(map(_cell, row))} |" for row in rows)
    remarks = map(_cell, report.remarks)
    table = [f"**{shared.total_points(report.halves)}**", "", head, "|---|---|--:|---|", *lines, "", *remarks]
    return "\n".join(table).rstrip() + "\n"


def add_to_summary(report: Report) -> None:
    """Append the table to the summary of the workflow step; do nothing outside a workflow. Raises CannotWrite."""
    path = os.environ.get(SUMMARY)
    if path:
        try:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(markdown(report))
        except OSError as error:
            says = _("{file}, which ${name} names, cannot be written: {reason}")
            raise CannotWrite(says.format(file=path, name=SUMMARY, reason=error.strerror)) from None


def _problem(result: ExerciseResult) -> str:
    return shared.reason(result) or " ".join(map(_said, result.advice))


def _said(advice: Advice) -> str:
    return _("advice: {advice}").format(advice=": ".join(shared.advice_lines(advice)))


def _command(
    level: str, result: ExerciseResult, title: str, said: str, places: Iterable[tuple[str, int]]
) -> str:
    """Return a workflow command at the first of the places that is in the exercise's file."""
    module = f"{result.assignment.split('_', 1)[-1]}.py"
    place = {
        "file": f"{result.assignment}/{module}",
        "line": next((str(line) for file, line in places if file == module and line), ""),
        "title": f"{result.name}: {title}",
    }
    fields = ",".join(f"{name}={value.translate(_OF_PROPERTY)}" for name, value in place.items() if value)
    return f"::{level} {fields}::{said.translate(_OF_MESSAGE)}"


def _cell(text: str) -> str:
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.split()))


# ---- JUnit XML


def junit(report: Report) -> str:
    """Return the report as one XML document."""
    return junit_of_many([("", report)])


def junit_of_many(reports: Iterable[tuple[str, Report]]) -> str:
    """Return reports as one XML document: a suite per exercise, a case per check; one case without checks.

    reports: pairs of a prefix for the names of suites, and a report.
    """
    root = Element("testsuites", name="headway")
    for prefix, report in reports:
        root.extend(_of_exercise(prefix, result, report.remarks) for result in report.exercises)
        if not report.exercises:
            name, why = prefix.rstrip("."), "; ".join(report.remarks)
            root.append(_suite(name, [_case(name, name, "error", why, why)]))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _of_exercise(prefix: str, result: ExerciseResult, remarks: Sequence[str]) -> Element:
    name, says = f"{result.assignment}.{result.name}", result.message
    cases = [_of_check(name, check) for check in result.checks]
    if not cases:
        cases = [_case(name, result.name, _OUTCOMES[result.outcome][2], says or result.outcome, says)]
    suite = _suite(prefix + name, cases, time=f"{result.seconds:.3f}")
    if remarks := (*remarks, *result.remarks):
        SubElement(suite, "system-out").text = _clean("\n".join(remarks))
    return suite


def _suite(name: str, cases: Sequence[Element], **attributes: str) -> Element:
    suite = Element("testsuite", name=_clean(name), tests=str(len(cases)))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(sum(case.find(tag) is not None for case in cases)))
    suite.attrib.update(attributes)
    suite.extend(cases)
    return suite


def _of_check(classname: str, check: CheckResult) -> Element:
    name = f"{check.id}: {check.title}"
    if check.outcome == "advice":
        note = _("advice, which costs no points: {message} {place}")
        said = note.format(message=check.message, place=check.where).rstrip()
        return _case(classname, name, "system-out", "", said)
    values = [
        f"{key}:\n{value}" for key, value in (("expected", check.expected), ("got", check.got)) if value
    ]
    text = "\n".join(filter(None, [check.message, check.where, *values]))
    return _case(classname, name, _OUTCOMES[check.outcome][2], check.message, text)


def _case(classname: str, name: str, tag: str, message: str, text: str) -> Element:
    case = Element("testcase", classname=_clean(classname), name=_clean(name))
    if tag:
        attributes = {} if tag == "system-out" else {"message": _clean(message)}
        SubElement(case, tag, attributes).text = _clean(text)
    return case


def _clean(text: str) -> str:
    return _NOT_XML.sub("�", text)
