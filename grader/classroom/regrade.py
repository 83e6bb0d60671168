"""Grade a class again and compare with earlier results: whose points change, by how much, and why.

The new results are in a store of their own until `publish`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from grader.classroom.class_run import exit_status
from grader.classroom.grade_folder import Classroom, GradeOptions, grade_class
from grader.classroom.groups import group_of
from grader.classroom.store import Store, default_store
from grader.report.model import ExerciseResult, total
from grader.report.shared_sentences import facet_name, outcome_name, plain_number
from grader.support.errors import UsageError
from grader.support.i18n import _

MOST_REASONS = 4  # checks that a sentence names


@dataclass(frozen=True)
class Change:
    """An earlier result of a student's exercise, None if there is none, and the new one."""

    student: str
    submission: str
    old: ExerciseResult | None
    new: ExerciseResult
    never_lower: bool = False

    @property
    def score(self) -> float | None:
        """Return the points to publish; None if the new grading failed."""
        if not self.never_lower or self.old is None or self.new.score is None:
            return self.new.score
        return max(self.new.score, min(self.old.score or 0.0, self.new.points))

    @property
    def difference(self) -> float:
        """Return the points gained, negative if lost; 0 if the new grading failed or there is no earlier result."""
        if self.score is None or self.old is None:
            return 0.0
        return total((self.score, -(self.old.score or 0.0)))

    @property
    def differs(self) -> bool:
        """Whether points, outcome or known mistake differ; fingerprints of unexplained answers change with the cases."""
        compared = attrgetter("score", "points", "outcome", "diagnosis.alternatives")
        return self.old is not None and compared(self.old) != compared(self.new)

    @property
    def why(self) -> str:
        return "; ".join(_why(self.old, self.new)) if self.old else ""

    @property
    def sentence(self) -> str:
        """Return the sentence for the student: titles of checks and names of mistakes, but no value of a hidden case."""
        if self.score is None:
            says = _("{exercise} could not be graded again. {why}")
        elif self.score != self.new.score:
            says = _(
                "{exercise} was graded again. You keep your {kept} points; the new grading gives {new}. {why}"
            )
        elif self.difference:
            says = _("{exercise} was graded again. Your {old} points became {new}. {why}")
        else:
            says = _("{exercise} was graded again. Your points stay {new}. {why}")
        old = _points(self.old.score) if self.old else ""
        points = {"old": old, "kept": _points(self.score), "new": _points(self.new.score)}
        return says.format(exercise=self.new.name, why=self.why, **points).strip()

    @property
    def published(self) -> ExerciseResult:
        """Return the result to publish, with the sentence if points changed or `--never-lower` kept them."""
        if not self.difference and self.score == self.new.score:
            return self.new
        return replace(self.new, score=self.score, remarks=(*self.new.remarks, self.sentence))


def side_store(root: Path) -> Path:
    """Return the store of results that are not published yet. An interrupted call continues from it."""
    return default_store(root).with_suffix(".regrade.sqlite")


def regrade(
    root: Path, room: Classroom, options: GradeOptions, never_lower: bool
) -> tuple[list[Change], bool]:
    """Grade again, and compare with the store that `options` names, or with that of the folder.

    Return one `Change` per result, by student, and whether something could not be graded. Of several earlier results,
    the newest under another `StoreKey` counts, else the one under this key. Raises UsageError if there is no such
    store, and what `grade_class` raises.
    """
    against = options.store or default_store(root)
    if not against.is_file():
        raise UsageError(
            _("{path} is no store of earlier results; grade the class first").format(path=against)
        )
    graded = grade_class(root, room, replace(options, store=side_store(root)))
    changes = []
    with closing(Store(against, room.key)) as store:
        for entry in graded:
            earlier = store.earlier(entry.report.extra["content"])
            for new in entry.report.exercises:
                old = earlier.get(new.name)
                changes.append(Change(entry.student, entry.submission, old, new, never_lower))
    return sorted(changes, key=lambda one: (one.student, one.new.name)), exit_status(graded) == 3


def publish(root: Path, room: Classroom, changes: Sequence[Change]) -> Path:
    """Write the results where `grader grade` and nbgrader look, in one step; delete the side store.

    Return the store that was written.
    """
    path = default_store(root)
    with closing(Store(path, room.key)) as store:
        store.put([one.published for one in changes if one.new.content])
    for suffix in ("", "-wal", "-shm"):
        place = side_store(root)
        place.with_name(place.name + suffix).unlink(missing_ok=True)
    return path


def _why(old: ExerciseResult, new: ExerciseResult) -> Iterator[str]:
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
