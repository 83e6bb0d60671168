"""The report for a terminal: readable without colour, and in 40 columns."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.report import pruning
from grader.report.model import CheckResult, ExerciseResult, Report
from grader.report.words import (
    MARKS,
    advice_given,
    all_passed,
    devices_checked,
    diagnosis_lead,
    facet_name,
    first_failure,
    first_to_fix,
    grader_error,
    outcome_name,
    passed_checks,
    points,
    short_outcome_name,
    skipped_checks,
    total_points,
)
from grader.support.i18n import _, ngettext

NARROW = 50  # columns that a row of the overview needs

_STYLES = {
    "passed": "green",
    "failed": "red",
    "not_started": "dim",
    "blocked": "red",
    "other_interface": "red",
    "could_not_grade": "magenta",
    "advice": "yellow",
    "skipped": "dim",
}


def show(report: Report, console: Console, *, every: bool = False, full: bool = False) -> None:
    """Print the report. See `render`."""
    console.print(render(report, every=every, full=full))


def plain(report: Report) -> str:
    """Return the whole report as text, 80 columns wide and without colour."""
    text = StringIO()
    # Without these settings rich would use the colours of a kernel, and display by itself in a notebook.
    console = Console(
        file=text, width=80, color_system=None, force_terminal=False, force_jupyter=False, highlight=False
    )
    show(report, console, full=True)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().rstrip().splitlines())


def render(report: Report, *, every: bool = False, full: bool = False) -> RenderableType:
    """Return a table of all exercises, then details of one that needs work: if possible, with a known mistake.

    every: details of every exercise.
    full: passed and skipped checks one by one too, and details of every exercise.
    """
    every = every or full
    parts: list[RenderableType] = [*(Text(remark) for remark in report.remarks), _Overview(report.exercises)]
    unsolved = _named_first([e for e in report.exercises if e.outcome not in ("passed", "not_started")])
    for result in unsolved if every else unsolved[:1]:
        parts += [Text(), _details(result, full)]
    for result in report.exercises if every else ():
        if result.outcome == "passed" and result.remarks:
            parts += [Text(), _title(result), *_remarks(result)]
    if advice := advice_given(report.exercises):
        parts += [Text(), _advice(advice)]
    drawn = pruning.section([e.figures for e in report.exercises])
    if drawn is not None and (every or len({e.assignment for e in report.exercises}) == 1):
        parts += [Text(), drawn]
    parts += [Text(), _summary(report, unsolved, every)]
    return Group(*parts)


def _named_first(results: Sequence[ExerciseResult]) -> list[ExerciseResult]:
    """Return the exercises with a known mistake, then the other failed ones, then the rest."""
    return sorted(results, key=lambda e: (not e.diagnosis.alternatives, e.outcome != "failed"))


def outcome_text(outcome: str) -> Text:
    """Return the mark and the name of an outcome."""
    return Text(f"{MARKS[outcome]} {outcome_name(outcome)}", style=_STYLES[outcome])


@dataclass(frozen=True)
class _Overview:
    """One row per exercise, below the names of the assignments; two rows in a narrow terminal."""

    results: Sequence[ExerciseResult]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column()
        table.add_column(no_wrap=True, justify="right")
        for assignment, group in groupby(self.results, lambda result: result.assignment):
            table.add_row(Text(assignment, style="bold"))
            for result in group:
                name, score = Text(f"  {result.name}"), points(result.score, result.points)
                outcome = outcome_text(result.outcome)
                if options.max_width >= NARROW:
                    table.add_row(name, outcome, score)
                else:
                    table.add_row(name)
                    table.add_row(Text.assemble("    ", outcome, f"  {score}"))
        yield table


def _details(result: ExerciseResult, full: bool) -> RenderableType:
    parts: list[RenderableType] = [_title(result)]
    if result.message:
        parts.append(_indented(Text(result.message)))
    parts += [_indented(line) for line in (_all_checks if full else _open_checks)(result.checks)]
    first = first_failure(result.checks)
    if first is not None:
        parts += [Text(), _indented(_failure(first))]
    if result.diagnosis.says:
        parts += [Text(), _indented(_diagnosis(result))]
    return Group(*parts, *_remarks(result))


def _title(result: ExerciseResult) -> Text:
    return Text.assemble((result.name, "bold"), f" · {result.title}")


def _indented(part: RenderableType) -> RenderableType:
    return Padding(part, (0, 0, 0, 2), expand=False)


def _remarks(result: ExerciseResult) -> list[RenderableType]:
    return [
        _indented(Text(_("note: {remark}").format(remark=remark), style="dim")) for remark in result.remarks
    ]


def _all_checks(checks: Sequence[CheckResult]) -> list[RenderableType]:
    return [_check_line(check) for check in checks]


def _open_checks(checks: Sequence[CheckResult]) -> list[RenderableType]:
    """Return one line per check that did not pass; passed and skipped ones are only counted."""
    lines = [_check_line(check) for check in checks if check.outcome in ("failed", "could_not_grade")]
    for outcome, words in (("skipped", skipped_checks), ("passed", passed_checks)):
        count = sum(check.outcome == outcome for check in checks)
        if count:
            lines.append(Text(f"{MARKS[outcome]} {words(count)}", style=_STYLES[outcome]))
    return lines


def _check_line(check: CheckResult) -> RenderableType:
    line = Table.grid(padding=(0, 2, 0, 0))
    line.add_column(no_wrap=True, min_width=8)
    line.add_column(no_wrap=True, min_width=9)
    line.add_column()
    outcome = f"{MARKS[check.outcome]} {short_outcome_name(check.outcome)}"
    line.add_row(
        Text(outcome, style=_STYLES[check.outcome]), Text(facet_name(check.facet)), Text(check.title)
    )
    return line


def _failure(check: CheckResult) -> RenderableType:
    """Return what is wrong with a check and where, with the expected and the actual values."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    table.add_row(_("problem"), Text(check.message))
    if check.where:
        table.add_row(_("where"), Text(check.where))
    if check.expected:
        table.add_row(_("expected"), _values(check.expected))
    if check.got:
        table.add_row(_("got"), _values(check.got))
    return table


def _values(text: str) -> Text:
    """Cut the rows of a tensor at the edge of a narrow terminal; wrap any other text."""
    return Text(text, no_wrap=True, overflow="ellipsis") if "\n" in text else Text(text)


def _diagnosis(result: ExerciseResult) -> RenderableType:
    lead = diagnosis_lead(result.diagnosis.kind)
    return Text.assemble((f"{lead}: " if lead else "", "bold"), result.diagnosis.says)


def _advice(advice: Sequence[tuple[str, Sequence[str]]]) -> RenderableType:
    """Return what costs no points, after all verdicts."""
    parts: list[RenderableType] = [
        Text(f"{MARKS['advice']} {_('advice, which costs no points')}", style=_STYLES["advice"])
    ]
    for names, (first, *rest) in advice:
        parts.append(_indented(Text.assemble((f"{names}: ", "bold"), first)))
        parts += [Padding(Text(line), (0, 0, 0, 4), expand=False) for line in rest]
    return Group(*parts)


def _summary(report: Report, unsolved: Sequence[ExerciseResult], every: bool) -> RenderableType:
    total = Text(total_points(report), style="bold")
    lines = [devices_checked(report), grader_error(report.exercises)]
    if not every and len(unsolved) > 1:
        rest = len(unsolved) - 1
        command = (
            f"grader check --file {shlex.quote(report.file)} NAME" if report.file else "grader check NAME"
        )
        lines.append(
            ngettext(
                "{n} more exercise did not pass. Run `{command}` for details.",
                "{n} more exercises did not pass. Run `{command}` for details.",
                rest,
            ).format(n=rest, command=command)
        )
    lines.append(_next_step(report, unsolved))
    return Group(total, *(Text(line) for line in lines if line))


def _next_step(report: Report, unsolved: Sequence[ExerciseResult]) -> str:
    """Return the one thing to do next; "" if the student can do nothing, or the file is not of the course."""
    if report.file:
        return all_passed(report) if report.exit_status == 0 else ""
    first = first_to_fix(report.exercises)
    if first:
        return _("Next: write or fix {name} and run the check again.").format(name=first)
    to_fix = next((e.name for e in unsolved if e.outcome in ("failed", "blocked", "other_interface")), "")
    if to_fix:
        return _("Next: fix {name} and run the check again.").format(name=to_fix)
    not_started = next((e.name for e in report.exercises if e.outcome == "not_started"), "")
    if not_started and not unsolved:
        return _("Next: implement {name}.").format(name=not_started)
    return all_passed(report) if report.exit_status == 0 else ""
