"""Screens of twelve typical wrong answers: one screen shows what is wrong, and where."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.lanes import first_of_each
from helpers.typical import NAMES, TYPICAL, source
from rich.cells import cell_len
from rich.console import Console

from grader.bundle.check import FACETS
from grader.intake.read import submission_from
from grader.lines.find import add_lines
from grader.lines.graded_source import Source
from grader.report.model import Report
from grader.report.terminal import show, show_lines

ROWS, COLUMNS, NARROW = 24, 80, 40
FILE = "answer.py"
ANSWERS = first_of_each(NAMES, lambda name: True, str)  # all but the first are slow tests


@pytest.fixture(scope="module")
def report_on(engine):
    """Return a function that returns the report on an answer, with the lines to look at."""
    found: dict[str, Report] = {}

    def of(name: str) -> Report:
        if name not in found:
            submission = submission_from(Path(FILE), source(name).encode())
            report = engine.grade(submission, [name.split("/")[0]])
            sources = {result.name: Source(submission) for result in report.exercises}
            found[name] = add_lines(engine, report, sources)
        return found[name]

    return of


def lines_of(report: Report, width: int) -> list[str]:
    """Return the printed lines: the report, then the lines to look at, as `grader check` prints them."""
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    show(report_without_lines(report), console, every=True)
    show_lines(report, console)
    return out.getvalue().splitlines()


def report_without_lines(report: Report) -> Report:
    """Return the report as it is before the search for lines."""
    before = (replace(e, diagnosis=replace(e.diagnosis, lines=())) for e in report.exercises)
    return replace(report, exercises=tuple(before))


def test_six_facets_have_two_answers_each():
    assert len(NAMES) == 12
    assert {len(pair) for pair in TYPICAL.values()} == {2}
    assert set(TYPICAL) <= set(FACETS)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_report_fits_below_its_command_on_one_screen(report_on, name):
    lines = lines_of(report_on(name), COLUMNS)
    assert len(lines) + 1 <= ROWS, "\n".join(lines)
    assert all(cell_len(line) <= COLUMNS for line in lines)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_report_names_the_mistake_and_the_definition(report_on, name):
    text = " ".join(" ".join(lines_of(report_on(name), COLUMNS)).split())
    (number, *_others) = re.findall(rf"where .*?{re.escape(FILE)}, line (\d+)", text)
    assert re.match(r"\s*(def|class) ", source(name).splitlines()[int(number) - 1])
    assert "known mistake: " in text or "a valid design, but" in text
    assert "problem " in text
    assert "Next: " in text


@pytest.mark.parametrize("name", ANSWERS)
def test_forty_columns_break_no_word(report_on, name):
    narrow = lines_of(report_on(name), NARROW)
    assert all(cell_len(line) <= NARROW for line in narrow)
    whole = words_of(lines_of(report_on(name), 400))
    assert words_of(narrow) <= whole


def words_of(lines: list[str]) -> set[str]:
    """Return the words without digits. In a narrow report, a colon separates a label from its text."""
    parts = (part.removesuffix(":") for part in " ".join(lines).split())
    return {part for part in parts if re.fullmatch(r"[A-Za-z`,.;_]+", part)}
