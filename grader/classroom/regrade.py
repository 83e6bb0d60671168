"""Grade a class again and compare with earlier results: whose points change, by how much, and why.

The new results count only after `publish`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.class_run import GradedSubmission
from grader.classroom.grade_folder import Classroom, GradeOptions, folder_of, grade_class
from grader.classroom.groups import group_of
from grader.classroom.store import Store, default_store
from grader.report.model import ExerciseResult, total
from grader.report.shared_sentences import facet_name, outcome_name, plain_number
from grader.support.errors import UsageError
from grader.support.i18n import _

MOST_REASONS = 4  # checks that a sentence names


@dataclass(frozen=True)
class Change:
    """An earlier and a new result of a student's exercise. final: the result to publish. why: how the two differ."""

    student: str
    submission: str
    old: ExerciseResult
    new: ExerciseResult
    final: ExerciseResult
    why: tuple[str, ...]

    @property
    def difference(self) -> float:
        """Return the points gained, negative if lost, after `--never-lower`; 0 if the new grading failed."""
        if self.final.score is None:
            return 0.0
        return total((self.final.score, -(self.old.score or 0.0)))

    @property
    def sentence(self) -> str:
        """Return the sentence for the student: titles of checks and names of mistakes, but no value of a hidden case."""
        fields = {
            "exercise": self.new.name,
            "old": _points(self.old.score),
            "kept": _points(self.final.score),
            "new": _points(self.new.score),
            "why": "; ".join(self.why),
        }
        if self.new.score is None:
            says = _("{exercise} could not be graded again. {why}")
        elif self.final.score != self.new.score:
            says = _(
                "{exercise} was graded again. You keep your {kept} points; the new grading gives {new}. {why}"
            )
        elif self.difference:
            says = _("{exercise} was graded again. Your {old} points became {new}. {why}")
        else:
            says = _("{exercise} was graded again. Your points stay {new}. {why}")
        return says.format(**fields).strip()


@dataclass(frozen=True)
class Regraded:
    """Everything about one call. changes: results whose points, outcome or known mistake differ. results: to publish.

    compared, unknown: number of results with and without an earlier one. lost: number of results and files that could
    not be graded.
    """

    changes: tuple[Change, ...]
    results: tuple[ExerciseResult, ...]
    compared: int
    unknown: int
    lost: int


def side_store(root: Path) -> Path:
    """Return the store of results that are not published yet. An interrupted call continues from it."""
    return default_store(folder_of(root)).with_suffix(".regrade.sqlite")


def regrade(root: Path, room: Classroom, options: GradeOptions, never_lower: bool) -> Regraded:
    """Grade again, and compare with the store that `options` names, or with that of the folder.

    Of several earlier results, the newest under another `StoreKey` counts, else the one under this key. Raises
    UsageError if there is no such store, and what `grade_class` raises.
    """
    against = options.store or default_store(folder_of(root))
    if not against.is_file():
        raise UsageError(
            _("{path} is no store of earlier results; grade the class first").format(path=against)
        )
    graded = grade_class(root, room, replace(options, store=side_store(root)))
    pairs = list(_pairs(graded, against, room))
    changes = [_change(entry, old, new, never_lower) for entry, old, new in pairs if old is not None]
    final = {(c.new.content, c.new.name): _published(c) for c in changes}
    return Regraded(
        changes=tuple(sorted((c for c in changes if _differs(c)), key=lambda c: (c.student, c.new.name))),
        results=tuple(final.get((new.content, new.name), new) for _entry, _old, new in pairs),
        compared=len(changes),
        unknown=sum(old is None for _entry, old, _new in pairs),
        lost=sum(new.score is None for _entry, _old, new in pairs)
        + sum(entry.grader_failed and not entry.report.exercises for entry in graded),
    )


def publish(root: Path, room: Classroom, done: Regraded) -> Path:
    """Write the results where `grader grade` and nbgrader look, in one step; delete the side store.

    Return the store that was written.
    """
    path = default_store(folder_of(root))
    with closing(Store(path, room.key)) as store:
        store.put([result for result in done.results if result.content])
    for suffix in ("", "-wal", "-shm"):
        place = side_store(root)
        place.with_name(place.name + suffix).unlink(missing_ok=True)
    return path


def _pairs(
    graded: Sequence[GradedSubmission], against: Path, room: Classroom
) -> Iterator[tuple[GradedSubmission, ExerciseResult | None, ExerciseResult]]:
    with closing(Store(against, room.key)) as store:
        for entry in graded:
            earlier = store.earlier(entry.report.extra["content"])
            for result in entry.report.exercises:
                yield entry, earlier.get(result.name), result


def _change(entry: GradedSubmission, old: ExerciseResult, new: ExerciseResult, never_lower: bool) -> Change:
    final = new
    if never_lower and old.score is not None and new.score is not None and old.score > new.score:
        final = replace(new, score=min(old.score, new.points))
    return Change(entry.student, entry.submission, old, new, final, tuple(_why(old, new)))


def _differs(change: Change) -> bool:
    """Whether points, outcome or known mistake differ.

    The fingerprint (a hash of the results of an unexplained answer) does not count: it changes with the cases.
    """
    return any(
        getattr(change.old, name) != getattr(change.new, name) for name in ("score", "points", "outcome")
    ) or (change.old.diagnosis.alternatives != change.new.diagnosis.alternatives)


def _published(change: Change) -> ExerciseResult:
    """Return the result to publish, with a sentence for the student if points changed or `--never-lower` kept them."""
    if change.difference or change.final.score != change.new.score:
        return replace(change.final, remarks=(*change.final.remarks, change.sentence))
    return change.final


def _why(old: ExerciseResult, new: ExerciseResult) -> Iterator[str]:
    """Yield the differences between two results, the most important first."""
    if old.points != new.points:
        yield _("it is worth {new} points, was {old}").format(
            new=_points(new.points), old=_points(old.points)
        )
    before, after = ({c.id: c for c in result.checks if c.counts} for result in (old, new))
    checks = []
    for id, check in after.items():
        title = f"{facet_name(check.facet)}: {check.title}"
        outcome = outcome_name(check.outcome)
        if id not in before:
            checks.append(_("new check: {title} ({outcome})").format(title=title, outcome=outcome))
        elif before[id].outcome != check.outcome:
            was = outcome_name(before[id].outcome)
            checks.append(_("{title}: {outcome}, was {was}").format(title=title, outcome=outcome, was=was))
    checks += [
        _("no longer checked: {title}").format(title=f"{facet_name(c.facet)}: {c.title}")
        for id, c in before.items()
        if id not in after
    ]
    yield from checks[:MOST_REASONS]
    if len(checks) > MOST_REASONS:
        yield _("{n} more checks differ").format(n=len(checks) - MOST_REASONS)
    if old.diagnosis.alternatives != new.diagnosis.alternatives:
        yield _("known mistake: {new}, was {old}").format(new=_named(new), old=_named(old))
    if not checks and old.outcome != new.outcome:
        yield _("{new}, was {old}").format(new=outcome_name(new.outcome), old=outcome_name(old.outcome))


def _named(result: ExerciseResult) -> str:
    return group_of(result) if result.diagnosis.alternatives else _("none")


def _points(score: float | None) -> str:
    return "–" if score is None else plain_number(score)
