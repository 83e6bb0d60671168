"""The class report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.classroom.class_run import GradedSubmission
from grader.classroom.summary import (
    OUTCOMES,
    AdviceGiven,
    Alike,
    Cluster,
    ExerciseSummary,
    Mistake,
    Section,
    could_not,
    reasons,
    remarks,
    summarise,
    unread,
)
from grader.report.shared_sentences import outcome_name
from grader.support.i18n import _, ngettext

MOST_NAMES = 5
MOST_ROWS = 12


def show(entries: Sequence[GradedSubmission], console: Console) -> None:
    """Who passes what, which checks fail for whom, which mistakes are common, and which are unknown."""
    console.print(Group(*_parts(entries)))


def _parts(entries: Sequence[GradedSubmission]) -> Iterator[RenderableType]:
    summary = summarise(entries)
    if summary.exercises:
        yield _exercises(summary.exercises)
    failing = [of for of in summary.exercises if of.failed_checks]
    if failing:
        yield _heading(_("checks that fail, and for whom"))
        yield from map(_checks, failing)
    if summary.mistakes:
        yield _heading(_("known mistakes, the commonest first"))
        yield from map(_mistake, summary.mistakes[:MOST_ROWS])
        yield from _more(len(summary.mistakes) - MOST_ROWS)
    if summary.clusters:
        yield _heading(_("wrong answers without a name that several submissions share"))
        yield from map(_cluster, summary.clusters[:MOST_ROWS])
        yield from _more(len(summary.clusters) - MOST_ROWS)
    if summary.advice:
        yield _heading(_("advice, which costs no points"))
        yield from map(_advice, summary.advice[:MOST_ROWS])
        yield from _more(len(summary.advice) - MOST_ROWS)
    if summary.alike:
        yield _heading(
            _("the same syntax tree: worth a conversation; short answers are often equal by chance")
        )
        yield from map(_alike, summary.alike[:MOST_ROWS])
        yield from _more(len(summary.alike) - MOST_ROWS)
    if summary.sections:
        yield _heading(_("sections"))
        yield from map(_section, summary.sections)
    yield from _reasons(entries)
    yield from _troubles(entries)
    yield Text()
    yield _totals(entries)


def _heading(text: str) -> RenderableType:
    return Group(Text(), Text(text, style="bold"))


def _more(rest: int) -> Iterator[RenderableType]:
    if rest > 0:
        yield Text("  " + _("… and {n} more").format(n=rest), style="dim")


def _exercises(exercises: Sequence[ExerciseSummary]) -> RenderableType:
    shown = [
        outcome
        for outcome in OUTCOMES
        if outcome in ("passed", "failed") or any(of.outcomes[outcome] for of in exercises)
    ]
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column(_("exercise"), no_wrap=True)
    for outcome in shown:
        table.add_column(outcome_name(outcome), justify="right")
    table.add_column(_("mean points"), justify="right", no_wrap=True)
    for of in exercises:
        mean = "–" if of.mean is None else f"{of.mean:.2f}"
        table.add_row(
            Text(f"{of.assignment[:2]} {of.name}"),
            *(str(of.outcomes[o] or "·") for o in shown),
            f"{mean} / {of.points:g}",
        )
    return table


def _checks(of: ExerciseSummary) -> RenderableType:
    rows = sorted(of.failed_checks.items(), key=lambda row: -len(row[1]))
    lines: list[RenderableType] = [Text(f"  {of.name}")]
    for (facet, title), who in rows:
        line = _("{n} of {all}  {facet}: {title}").format(n=len(who), all=of.seen, facet=facet, title=title)
        lines.append(Padding(Text.assemble(f"{line}  ", (names(who), "dim")), (0, 0, 0, 4)))
    return Group(*lines)


def _mistake(mistake: Mistake) -> RenderableType:
    head = Text.assemble(
        f"  {len(mistake.who)}  ",
        (" + ".join(mistake.ids), "bold"),
        f"  {mistake.exercise}  ",
        (names(mistake.who), "dim"),
    )
    return Group(head, Padding(Text(mistake.says), (0, 0, 0, 5)))


def _advice(advice: AdviceGiven) -> RenderableType:
    head = Text.assemble(
        f"  {len(advice.who)}  ",
        (advice.policy, "bold"),
        f"  {advice.exercise}  ",
        (names(advice.who), "dim"),
    )
    return Group(head, Padding(Text(advice.says), (0, 0, 0, 5)))


def _cluster(cluster: Cluster) -> RenderableType:
    words = _("{n} submissions share this in {exercise}; the smallest is {submission}")
    head = words.format(n=len(cluster.who), exercise=cluster.exercise, submission=cluster.smallest)
    return Group(
        Text.assemble("  ", (cluster.group, "bold"), f"  {head}  ", (names(cluster.who), "dim")),
        *([Padding(Text(cluster.says), (0, 0, 0, 5))] if cluster.says else []),
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


def _reasons(entries: Sequence[GradedSubmission]) -> Iterator[RenderableType]:
    found = reasons(entries)
    if found:
        yield _heading(_("why the others did not pass"))
    for entry, result, why in found[:MOST_ROWS]:
        name = Text.assemble(
            (f"  {entry.student}  ", "dim"), f"{result.name}  {outcome_name(result.outcome)}"
        )
        yield Group(name, Padding(Text(why), (0, 0, 0, 5)))
    yield from _more(len(found) - MOST_ROWS)


def _troubles(entries: Sequence[GradedSubmission]) -> Iterator[RenderableType]:
    if empty := unread(entries):
        yield _heading(_("nothing to grade in these"))
        yield from (Text(f"  {entry.submission or entry.student}: {entry.problem}") for entry in empty)
    if found := remarks(entries):
        yield _heading(_("remarks"))
        yield from (Text(f"  {line}") for line in found)
    if ours := could_not(entries):
        yield _heading(
            _("could not be graded by a fault of the grader; no points are lost; run the command again")
        )
        yield from (Text(f"  {entry.submission}: {why}", style="magenta") for entry, why in ours)


def _totals(entries: Sequence[GradedSubmission]) -> RenderableType:
    n, students, fresh = (
        sum(bool(entry.submission) for entry in entries),
        len({entry.student for entry in entries if entry.submission}),
        sum(entry.new for entry in entries),
    )
    words = ngettext("{n} submission", "{n} submissions", n).format(n=n)
    by = ngettext("{students} student", "{students} students", students).format(students=students)
    tier = next((entry.report.sandbox for entry in entries), "")
    lines = [
        _("{words} by {by}; {fresh} graded now, the others from the store; sandbox {tier}").format(
            words=words, by=by, fresh=fresh, tier=tier
        )
    ]
    if tier == "basic":
        lines.append(_("The basic sandbox stops no determined attacker: these submissions were trusted."))
    return Group(*map(Text, lines))


def names(who: Sequence[str]) -> str:
    """A few names and how many more."""
    unique = list(dict.fromkeys(who))
    rest = len(unique) - MOST_NAMES
    return ", ".join(unique[:MOST_NAMES]) + (_(" and {n} more").format(n=rest) if rest > 0 else "")
