"""The class report for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.classroom.class_run import GradedSubmission
from grader.classroom.summary import Alike, ExerciseSummary, Shared, Summary
from grader.report.shared_sentences import outcome_name
from grader.support.i18n import _, ngettext

MOST_NAMES = 5
MOST_ROWS = 12


def show(entries: Sequence[GradedSubmission], console: Console) -> None:
    """Print the class report."""
    console.print(Group(*_parts(Summary(entries))))


def _parts(summary: Summary) -> Iterator[RenderableType]:
    if summary.exercises:
        yield _exercises(summary)
    alike = _("the same syntax tree: talk to these students; short answers are often equal by chance")
    shared = _("wrong answers without a name that several submissions share")
    yield from _listed(_("checks that fail, and for whom"), map(_checks, summary.failing))
    yield from _listed(_("known mistakes, the commonest first"), map(_shared, summary.mistakes), MOST_ROWS)
    yield from _listed(shared, map(_cluster, summary.clusters), MOST_ROWS)
    yield from _listed(_("advice, which costs no points"), map(_shared, summary.advice), MOST_ROWS)
    yield from _listed(alike, map(_alike, summary.alike), MOST_ROWS)
    of_section = _("{name}: {submitted} of {students} submitted something; mean points {mean:.2f}")
    sections = (_row(of_section.format(**vars(section))) for section in summary.sections)
    yield from _listed(_("sections"), sections)
    reasons = (
        _row((f"{entry.student}  ", "dim"), f"{result.name}  {outcome_name(result.outcome)}", below=why)
        for entry, result, why in summary.reasons
    )
    yield from _listed(_("why exercises without a known mistake did not pass"), reasons, MOST_ROWS)
    unread = (_row(f"{entry.submission or entry.student}: {entry.problem}") for entry in summary.unread)
    yield from _listed(_("nothing to grade in these"), unread)
    yield from _listed(_("remarks"), map(_row, summary.remarks))
    open_points = _(
        "could not be graded, so these points are open: add what is missing and run the command again, or type a score"
    )
    could_not = (_row((f"{entry.submission}: {why}", "magenta")) for entry, why in summary.could_not)
    yield from _listed(open_points, could_not)
    yield Text()
    yield from _totals(summary.entries)


def _listed(
    heading: str, rows: Iterable[RenderableType], most: int | None = None
) -> Iterator[RenderableType]:
    """Yield rows under a heading, `most` of them (None: all); nothing if there are none."""
    found = list(rows)
    if found:
        yield Text()
        yield Text(heading, style="bold")
        yield from found[:most]
    if most is not None and len(found) > most:
        yield Text("  " + _("… and {n} more").format(n=len(found) - most), style="dim")


def _row(*parts: str | tuple[str, str], below: str = "") -> RenderableType:
    """Return a line and the text below it. parts: texts, or texts with a style."""
    line = Text.assemble("  ", *parts)
    return Group(line, Padding(Text(below), (0, 0, 0, 5))) if below else line


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
    says = _("{n} of {all}  {facet}: {title}")
    lines = [_row(exercise.name)]
    for facet, title, who in exercise.failed:
        line = says.format(n=len(who), all=exercise.seen, facet=facet, title=title)
        lines.append(Padding(Text.assemble(f"{line}  ", _names(who)), (0, 0, 0, 4)))
    return Group(*lines)


def _shared(found: Shared) -> RenderableType:
    name = (found.name.replace("+", " + "), "bold")
    return _row(f"{len(found.who)}  ", name, f"  {found.exercise}  ", _names(found.who), below=found.says)


def _cluster(cluster: Shared) -> RenderableType:
    words = _("{n} submissions share this in {exercise}; the smallest is {submission}")
    head = words.format(n=len(cluster.who), exercise=cluster.exercise, submission=cluster.smallest)
    return _row((cluster.name, "bold"), f"  {head}  ", _names(cluster.who), below=cluster.says)


def _alike(alike: Alike) -> RenderableType:
    says = _("also the same wrong answer without a name in {exercises}")
    same = says.format(exercises=", ".join(alike.unnamed)) if alike.unnamed else ""
    return _row(f"{len(alike.who)}  ", _names(alike.who), f"  {same}".rstrip())


def _totals(entries: Sequence[GradedSubmission]) -> Iterator[RenderableType]:
    n = sum(bool(entry.submission) for entry in entries)
    students = len({entry.student for entry in entries if entry.submission})
    fresh = sum(entry.new for entry in entries)
    stored = sum(bool(entry.submission) and not entry.new and not entry.problem for entry in entries)
    words = ngettext("{n} submission", "{n} submissions", n).format(n=n)
    by = ngettext("{students} student", "{students} students", students).format(students=students)
    tier = next((entry.report.sandbox for entry in entries), "")
    says = _("{words} by {by}; {fresh} graded now, {stored} from the store; sandbox {tier}")
    yield Text(says.format(words=words, by=by, fresh=fresh, stored=stored, tier=tier))
    if tier == "basic":
        yield Text(_("The basic sandbox stops no determined attacker: these submissions were trusted."))


def _names(who: Sequence[str]) -> tuple[str, str]:
    """Return a few names and the number of further names, dimmed."""
    unique = list(dict.fromkeys(who))
    rest = len(unique) - MOST_NAMES
    more = _(" and {n} more").format(n=rest) if rest > 0 else ""
    return ", ".join(unique[:MOST_NAMES]) + more, "dim"
