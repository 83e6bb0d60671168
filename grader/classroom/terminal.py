"""The class report for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.classroom.class_run import GradedSubmission
from grader.classroom.summary import (
    Alike,
    ExerciseSummary,
    Section,
    Shared,
    Summary,
    could_not,
    reasons,
    remarks,
    summarise,
    unread,
)
from grader.report.model import ExerciseResult
from grader.report.shared_sentences import outcome_name
from grader.support.i18n import _, ngettext

T = TypeVar("T")

MOST_NAMES = 5
MOST_ROWS = 12


def show(entries: Sequence[GradedSubmission], console: Console) -> None:
    """Print the class report."""
    console.print(Group(*_parts(entries)))


def _parts(entries: Sequence[GradedSubmission]) -> Iterator[RenderableType]:
    summary = summarise(entries)
    if summary.exercises:
        yield _exercises(summary)
    alike = _("the same syntax tree: talk to these students; short answers are often equal by chance")
    shared = _("wrong answers without a name that several submissions share")
    yield from _listed(_("checks that fail, and for whom"), summary.failing, _checks, all_rows=True)
    yield from _listed(_("known mistakes, the commonest first"), summary.mistakes, _shared)
    yield from _listed(shared, summary.clusters, _cluster)
    yield from _listed(_("advice, which costs no points"), summary.advice, _shared)
    yield from _listed(alike, summary.alike, _alike)
    yield from _listed(_("sections"), summary.sections, _section, all_rows=True)
    yield from _listed(_("why exercises without a known mistake did not pass"), reasons(entries), _reason)
    yield from _troubles(entries)
    yield Text()
    yield _totals(entries)


def _listed(
    heading: str, found: Sequence[T], show_one: Callable[[T], RenderableType], *, all_rows: bool = False
) -> Iterator[RenderableType]:
    if not found:
        return
    yield Group(Text(), Text(heading, style="bold"))
    rows = len(found) if all_rows else MOST_ROWS
    yield from map(show_one, found[:rows])
    if len(found) > rows:
        yield Text("  " + _("… and {n} more").format(n=len(found) - rows), style="dim")


def _exercises(summary: Summary) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column(_("exercise"), no_wrap=True)
    for outcome in summary.outcomes:
        table.add_column(outcome_name(outcome), justify="right")
    table.add_column(_("mean points"), justify="right", no_wrap=True)
    for exercise in summary.exercises:
        mean = "–" if exercise.mean is None else f"{exercise.mean:.2f}"
        table.add_row(
            Text(f"{exercise.assignment[:2]} {exercise.name}"),
            *(str(exercise.outcomes[outcome] or "·") for outcome in summary.outcomes),
            f"{mean} / {exercise.points:g}",
        )
    return table


def _checks(exercise: ExerciseSummary) -> RenderableType:
    lines: list[RenderableType] = [Text(f"  {exercise.name}")]
    for facet, title, who in exercise.by_share():
        says = _("{n} of {all}  {facet}: {title}")
        line = says.format(n=len(who), all=exercise.seen, facet=facet, title=title)
        lines.append(Padding(Text.assemble(f"{line}  ", (names(who), "dim")), (0, 0, 0, 4)))
    return Group(*lines)


def _shared(found: Shared) -> RenderableType:
    who, name = (names(found.who), "dim"), found.name.replace("+", " + ")
    head = Text.assemble(f"  {len(found.who)}  ", (name, "bold"), f"  {found.exercise}  ", who)
    return Group(head, _below(found.says))


def _below(text: str) -> RenderableType:
    return Padding(Text(text), (0, 0, 0, 5))


def _cluster(cluster: Shared) -> RenderableType:
    words = _("{n} submissions share this in {exercise}; the smallest is {submission}")
    head = words.format(n=len(cluster.who), exercise=cluster.exercise, submission=cluster.smallest)
    return Group(
        Text.assemble("  ", (cluster.name, "bold"), f"  {head}  ", (names(cluster.who), "dim")),
        *([_below(cluster.says)] if cluster.says else []),
    )


def _alike(alike: Alike) -> RenderableType:
    says = _("also the same wrong answer without a name in {exercises}").format(
        exercises=", ".join(alike.unnamed)
    )
    return Text.assemble(
        f"  {len(alike.who)}  ", (names(alike.who), "dim"), f"  {says}" if alike.unnamed else ""
    )


def _section(section: Section) -> RenderableType:
    says = _("{name}: {submitted} of {students} submitted something; mean points {mean:.2f}")
    return Text("  " + says.format(**vars(section)))


def _reason(found: tuple[GradedSubmission, ExerciseResult, str]) -> RenderableType:
    entry, result, why = found
    name = f"{result.name}  {outcome_name(result.outcome)}"
    return Group(Text.assemble((f"  {entry.student}  ", "dim"), name), _below(why))


def _troubles(entries: Sequence[GradedSubmission]) -> Iterator[RenderableType]:
    empty = [f"  {entry.submission or entry.student}: {entry.problem}" for entry in unread(entries)]
    ours = [Text(f"  {entry.submission}: {why}", style="magenta") for entry, why in could_not(entries)]
    open_points = _(
        "could not be graded, so these points are open: add what is missing and run the command again, or type a score"
    )
    yield from _listed(_("nothing to grade in these"), empty, Text, all_rows=True)
    yield from _listed(_("remarks"), [f"  {line}" for line in remarks(entries)], Text, all_rows=True)
    yield from _listed(open_points, ours, lambda line: line, all_rows=True)


def _totals(entries: Sequence[GradedSubmission]) -> RenderableType:
    n = sum(bool(entry.submission) for entry in entries)
    students = len({entry.student for entry in entries if entry.submission})
    fresh = sum(entry.new for entry in entries)
    stored = sum(bool(entry.submission) and not entry.new and not entry.problem for entry in entries)
    words = ngettext("{n} submission", "{n} submissions", n).format(n=n)
    by = ngettext("{students} student", "{students} students", students).format(students=students)
    tier = next((entry.report.sandbox for entry in entries), "")
    lines = [
        _("{words} by {by}; {fresh} graded now, {stored} from the store; sandbox {tier}").format(
            words=words, by=by, fresh=fresh, stored=stored, tier=tier
        )
    ]
    if tier == "basic":
        lines.append(_("The basic sandbox stops no determined attacker: these submissions were trusted."))
    return Group(*map(Text, lines))


def names(who: Sequence[str]) -> str:
    """Return a few names and the number of further names."""
    unique = list(dict.fromkeys(who))
    rest = len(unique) - MOST_NAMES
    return ", ".join(unique[:MOST_NAMES]) + (_(" and {n} more").format(n=rest) if rest > 0 else "")
