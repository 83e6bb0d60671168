"""The report for a terminal: plain words first, colour second, 80 columns enough."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.report import pruning
from grader.report.model import CheckResult, ExerciseResult, Report
from grader.support.i18n import _, ngettext

_WORDS = {
    "passed": ("✓", "green"),
    "failed": ("✗", "red"),
    "not_started": ("·", "dim"),
    "blocked": ("!", "red"),
    "could_not_grade": ("?", "magenta"),
    "skipped": ("-", "dim"),
}


def word(outcome: str) -> str:
    """The outcome as a word in the reader's language."""
    return {
        "passed": _("passed"),
        "failed": _("failed"),
        "not_started": _("not started"),
        "blocked": _("blocked"),
        "could_not_grade": _("could not be graded"),
        "skipped": _("skipped"),
    }[outcome]


def render(report: Report, *, full: bool = False) -> RenderableType:
    """Tables of all exercises, then the first one that needs work in full (with `full`, all of them)."""
    parts: list[RenderableType] = [
        _assignment(list(group)) for _key, group in groupby(report.exercises, lambda e: e.assignment)
    ]
    open_ones = [e for e in report.exercises if e.outcome in ("failed", "blocked", "could_not_grade")]
    for result in open_ones if full else open_ones[:1]:
        parts += [Text(), _in_full(result)]
    for result in report.exercises if full else ():
        if result.outcome == "passed" and result.remarks:
            parts += [Text(), Text.assemble((result.name, "bold"), f" · {result.title}"), *_notes(result)]
    drawn = pruning.section([e.figures for e in report.exercises])
    if drawn is not None and (full or len({e.assignment for e in report.exercises}) == 1):
        parts += [Text(), drawn]
    parts += [Text(), *(Text(remark) for remark in report.remarks), _summary(report, open_ones, full)]
    return Group(*parts)


def show(report: Report, console: Console, *, full: bool = False) -> None:
    console.print(render(report, full=full))


def points(score: float | None, of: float) -> str:
    return f"– / {_plain(of)}" if score is None else f"{_plain(score)} / {_plain(of)}"


def _plain(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def sign(outcome: str) -> Text:
    """A mark and the word for an outcome."""
    mark, style = _WORDS[outcome]
    return Text(f"{mark} {word(outcome)}", style=style)


def _assignment(results: Sequence[ExerciseResult]) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=26)
    table.add_column(min_width=13)  # the one that gives way where the terminal is narrow
    table.add_column(no_wrap=True, justify="right")
    for result in results:
        table.add_row(
            Text(f"  {result.name}"), sign(result.outcome), Text(points(result.score, result.points))
        )
    return Group(Text(results[0].assignment, style="bold"), table)


def _in_full(result: ExerciseResult) -> RenderableType:
    parts: list[RenderableType] = [Text.assemble((result.name, "bold"), f" · {result.title}")]
    if result.message:
        parts.append(Padding(Text(result.message), (0, 0, 0, 2)))
    parts += [
        Padding(_check_line(check), (0, 0, 0, 2)) for check in result.checks if check.outcome != "skipped"
    ]
    skipped = sum(check.outcome == "skipped" for check in result.checks)
    if skipped:
        text = ngettext(
            "{n} check was not looked at after that", "{n} checks were not looked at after that", skipped
        )
        parts.append(Padding(Text(f"- {text.format(n=skipped)}", style="dim"), (0, 0, 0, 2)))
    first = next((c for c in result.checks if c.outcome in ("failed", "could_not_grade")), None)
    if first is not None:
        parts += [Text(), Padding(_first_failure(first), (0, 0, 0, 2))]
    if result.diagnosis.says:
        parts += [Text(), Padding(_diagnosis(result), (0, 0, 0, 2))]
    return Group(*parts, *_notes(result))


def _notes(result: ExerciseResult) -> list[RenderableType]:
    return [Padding(Text(f"{_('note')}: {remark}", style="dim"), (0, 0, 0, 2)) for remark in result.remarks]


def _check_line(check: CheckResult) -> RenderableType:
    mark, style = _WORDS[check.outcome]
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(width=9, no_wrap=True)
    line.add_column(width=10, no_wrap=True)
    line.add_column()
    line.add_row(Text(f"{mark} {word(check.outcome)[:7]}", style=style), Text(check.facet), Text(check.title))
    return line


def _first_failure(check: CheckResult) -> RenderableType:
    """What, where, expected and got."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    table.add_row(_("what"), Text(check.message))
    if check.where:
        table.add_row(_("where"), Text(check.where))
    if check.expected:
        table.add_row(_("expected"), Text(check.expected))
    if check.got:
        table.add_row(_("got"), Text(check.got))
    return table


def _diagnosis(result: ExerciseResult) -> RenderableType:
    begins = lead(result.diagnosis.kind)
    return Group(Text.assemble((f"{begins}: " if begins else "", "bold"), result.diagnosis.says))


def lead(kind: str) -> str:
    """How a sentence about a diagnosis of this kind begins; "" where it stands for itself."""
    return {
        "exact": _("this equals a known mistake"),
        "one_of": _("this equals one of several known mistakes, perhaps"),
        "different": _("a valid design, not the one asked for"),
    }.get(kind, "")


def where_checked(report: Report) -> str:
    """A sentence about the devices besides the CPU; "" where there were none."""
    return {
        (): "",
        ("sim",): _("checked on the simulated accelerator"),
        ("cuda",): _("checked on a GPU"),
    }.get(report.devices, _("checked on the simulated accelerator and on a GPU"))


def _summary(report: Report, open_ones: Sequence[ExerciseResult], full: bool) -> RenderableType:
    total = Text.assemble((_("{score} points").format(score=points(report.score, report.points)), "bold"))
    lines = [total, *([Text(checked)] if (checked := where_checked(report)) else [])]
    failing = [e for e in open_ones if e.outcome == "failed"]
    if any(e.outcome == "could_not_grade" for e in report.exercises):
        lines.append(
            Text(_("Something could not be graded. That costs no points; please tell your instructor."))
        )
    if not full and len(open_ones) > 1:
        rest = len(open_ones) - 1
        more = ngettext("{n} more exercise needs work", "{n} more exercises need work", rest).format(n=rest)
        lines.append(Text(_("{more}: grader check NAME shows it in full").format(more=more)))
    if failing:
        lines.append(Text(_("next: mend {name}, save, and run the check again").format(name=failing[0].name)))
    elif any(e.outcome == "not_started" for e in report.exercises) and not open_ones:
        name = next(e.name for e in report.exercises if e.outcome == "not_started")
        lines.append(Text(_("next: {name} is waiting to be written").format(name=name)))
    elif report.exit_status == 0:
        lines.append(Text(_("all passed")))
    return Group(*lines)
