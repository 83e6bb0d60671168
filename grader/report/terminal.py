"""The report for a terminal: readable without colour, and in 40 columns."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.report.line_to_look_at import lines_to_look_at
from grader.report.model import CheckResult, ExerciseResult, Report
from grader.report.picture_terminal import drawn
from grader.report.shared_sentences import (
    MARKS,
    advice_given,
    all_passed,
    devices_checked,
    diagnosis_lead,
    facet_counts,
    facet_in_words,
    facet_name,
    facet_with_mark,
    first_failure,
    grader_error,
    outcome_name,
    place,
    points,
    short_outcome_name,
    total_points,
    why_skipped,
)
from grader.support.i18n import _, ngettext

NARROW = 50  # columns that a row of the overview needs
LONGEST_NAME = 9  # columns of a name beside its text

_STYLES = {
    "passed": "green",
    "failed": "red",
    "not_started": "dim",
    "not_checked": "dim",
    "blocked": "red",
    "other_interface": "red",
    "could_not_grade": "magenta",
    "advice": "yellow",
    "skipped": "dim",
}


def show(
    report: Report, console: Console, *, every: bool = False, full: bool = False, words: bool = False
) -> None:
    """Print the report. See `render`. A terminal that cannot draw gets words."""
    words = words or console.is_dumb_terminal
    console.print(render(report, every=every, full=full, words=words))


def show_lines(report: Report, console: Console) -> None:
    """Print the lines to look at, each in one row if the terminal is wide enough for code."""
    width = console.width if console.width >= NARROW else 0
    for line in lines_to_look_at(report.exercises, width):
        console.print(line)


def plain(report: Report, *, full: bool = True) -> str:
    """Return the report as text, 80 columns wide and without colour. full: see `render`."""
    text = StringIO()
    # Without these settings rich would use the colours of a kernel, and display by itself in a notebook.
    console = Console(
        file=text, width=80, color_system=None, force_terminal=False, force_jupyter=False, highlight=False
    )
    show(report, console, full=full)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().rstrip().splitlines())


def render(report: Report, *, every: bool = False, full: bool = False, words: bool = False) -> RenderableType:
    """Return the report: for one exercise its details, for several a table and the details of the first unsolved one.

    Unsolved exercises have been started and have not passed. Those that failed come first.
    every: the details of every unsolved exercise.
    full: the details of every exercise, with all checks one by one.
    words: sentences instead of marks and pictures.
    """
    every = every or full
    parts: list[RenderableType] = [_Overview(report.exercises)] if len(report.exercises) > 1 else []
    parts += [Text(remark) for remark in report.remarks]
    unsolved = [e for e in report.exercises if e.outcome not in ("passed", "not_started")]
    unsolved.sort(key=lambda e: e.outcome != "failed")  # both parts in the order of the course
    if len(report.exercises) == 1 or full:
        detailed: Sequence[ExerciseResult] = report.exercises
    elif unsolved:
        detailed = unsolved if every else unsolved[:1]
    else:  # what right answers measured, unless the report is about several assignments
        is_one = len({e.assignment for e in report.exercises}) == 1
        detailed = [e for e in report.exercises if e.picture is not None and (every or is_one)]
    for result in detailed:
        parts += [*([Text()] if parts else []), exercise_screen(result, full=full, words=words)]
    if report.file:
        says = _("note on {name}: {remark}")
        passed = [e for e in report.exercises if e not in detailed and e.outcome == "passed"]
        notes = (says.format(name=e.name, remark=remark) for e in passed for remark in e.remarks)
        parts += [Text(note, style="dim") for note in notes]
    if advice := advice_given(report.exercises):
        parts += [Text(), _advice(advice)]
    parts += [Text(), _summary(report, unsolved, every)]
    return Group(*parts)


def outcome_text(outcome: str) -> Text:
    """Return the mark and the name of an outcome."""
    return Text(f"{MARKS[outcome]} {outcome_name(outcome)}", style=_STYLES[outcome])


@dataclass(frozen=True)
class _Overview:
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


def exercise_screen(result: ExerciseResult, *, full: bool, words: bool) -> RenderableType:
    """Return outcome and points, the facets, the mistake, the place and one picture.

    Without `full`, 24 rows of 80 columns are enough. full: every check, one by one.
    words: sentences instead of marks and pictures.
    """
    parts: list[RenderableType] = [_Title(result, words)]
    if result.checks:
        parts.append(_all_checks(result.checks) if full else _Facets(result.checks, words))
    found = _findings(result)
    if found is not None:
        parts += [Text(), found]
    if result.picture is not None:
        parts += [Text(), _indented(drawn(result.picture, words))]
    remarks = (_("note: {remark}").format(remark=remark) for remark in result.remarks)
    return Group(*parts, *(Text(remark, style="dim") for remark in remarks))


@dataclass(frozen=True)
class _Title:
    """Outcome, name and points; beside the name, what the exercise is about, if it fits in the line."""

    result: ExerciseResult
    words: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        result = self.result
        outcome = Text(outcome_name(result.outcome)) if self.words else outcome_text(result.outcome)
        score = _("{score} points").format(score=points(result.score, result.points))
        head, about = Text.assemble(outcome, "  ", (result.name, "bold")), f" ({result.title})"
        if result.title and head.cell_len + cell_len(about) + 2 + cell_len(score) <= options.max_width:
            head.append(about, style="dim")
        yield head.append(f"  {score}")


@dataclass(frozen=True)
class _Facets:
    """The facets with the number of checks that passed, as many in a line as fit; why checks were skipped."""

    checks: Sequence[CheckResult]
    words: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text() if self.words else Text(_("checks passed:"))
        for count in facet_counts(self.checks):
            text = facet_in_words(count) if self.words else facet_with_mark(count)
            if line and line.cell_len + 3 + cell_len(text) > options.max_width:
                yield line
                line = Text()
            line.append("   " if line else "").append(text, style=_STYLES[count.outcome])
        known = why_skipped(self.checks)
        why = f"({known})" if known else ""
        fits = line.cell_len + 3 + cell_len(why) <= options.max_width
        if why and fits:
            line.append(f"   {why}", style="dim")
        yield line
        if why and not fits:
            yield Text(why, style="dim")


def _all_checks(checks: Sequence[CheckResult]) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=8)
    table.add_column(no_wrap=True, min_width=9)
    table.add_column()
    for check in checks:
        outcome = f"{MARKS[check.outcome]} {short_outcome_name(check.outcome)}"
        table.add_row(
            Text(outcome, style=_STYLES[check.outcome]), Text(facet_name(check.facet)), Text(check.title)
        )
    return table


@dataclass(frozen=True)
class _Rows:
    """Names with their texts in two columns; first, in paragraphs, long names, or all in a narrow terminal."""

    rows: Sequence[tuple[str, Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        is_narrow = options.max_width < NARROW
        inline = [row for row in self.rows if is_narrow or cell_len(row[0]) > LONGEST_NAME]
        for name, text in inline:
            yield Text.assemble((f"{name}:" if name else "", "bold"), " " * bool(name), text)
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for row in self.rows:
            if row not in inline:
                table.add_row(*row)
        if table.row_count:
            yield table


def _findings(result: ExerciseResult) -> RenderableType | None:
    first = first_failure(result.checks)
    # The message about a syntax error has a sentence, then lines with the code.
    rows = [
        (_("reason"), result.message.partition("\n")[0]),
        (_("code"), result.message.partition("\n")[2]),
        (diagnosis_lead(result.diagnosis.kind) or _("noticed"), result.diagnosis.says),
        (_("problem"), first.message if first else ""),
        (_("where"), place(result)),
        (_("checked"), first.title if first else ""),
    ]
    if first is not None and result.picture is None:
        rows += [(_("expected"), first.expected or ""), (_("got"), first.got or "")]
    look = lines_to_look_at([result])
    rows += [("", look[0].plain if look else ""), (_("printed"), result.printed)]
    tensor = Text(no_wrap=True, overflow="ellipsis")  # its rows are cut at the edge of a narrow terminal
    found = [
        (name, tensor.copy().append(text) if "\n" in text else Text(text)) for name, text in rows if text
    ]
    return _Rows(found) if found else None


def _advice(advice: Sequence[tuple[str, Sequence[str]]]) -> RenderableType:
    says = f"{MARKS['advice']} {_('advice, which costs no points')}"
    parts: list[RenderableType] = [Text(says, style=_STYLES["advice"])]
    for names, (first, *rest) in advice:
        parts.append(_indented(Text.assemble((f"{names}: ", "bold"), first)))
        parts += [_indented(Text(line), 4) for line in rest]
    return Group(*parts)


def _indented(part: RenderableType, columns: int = 2) -> RenderableType:
    return Padding(part, (0, 0, 0, columns), expand=False)


def _summary(report: Report, unsolved: Sequence[ExerciseResult], every: bool) -> RenderableType:
    total = [Text(total_points(report), style="bold")] if len(report.exercises) > 1 else []
    lines = [devices_checked(report), grader_error(report.exercises)]
    if not every and len(unsolved) > 1:
        rest = len(unsolved) - 1
        command = f"grader check{f' --file {shlex.quote(report.file)}' if report.file else ''} NAME"
        says = ngettext(
            "{n} more exercise did not pass. Run `{command}` for details.",
            "{n} more exercises did not pass. Run `{command}` for details.",
            rest,
        )
        lines.append(says.format(n=rest, command=command))
    lines.append(_next_step(report, unsolved))
    return Group(*total, *(Text(line) for line in lines if line))


def _next_step(report: Report, unsolved: Sequence[ExerciseResult]) -> str:
    """Return the next thing to do; for a file that is not of the course, only that all checks passed, or ""."""
    if report.file:
        return all_passed(report) if report.exit_status == 0 else ""
    to_fix = next((e for e in unsolved if e.outcome in ("failed", "blocked", "other_interface")), None)
    needed = (name for e in ([to_fix] if to_fix else report.exercises) for name in e.fix_first)
    if first := next(needed, ""):
        return _("Next: write or fix {name} and check again.").format(name=first)
    if to_fix is not None:
        return _("Next: fix {name}. Hint: `grader hint {name}`.").format(name=to_fix.name)
    not_started = next((e.name for e in report.exercises if e.outcome == "not_started"), "")
    if not_started and not unsolved:
        return _("Next: implement {name}.").format(name=not_started)
    return all_passed(report) if report.exit_status == 0 else ""
