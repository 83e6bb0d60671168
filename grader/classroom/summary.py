"""What the reports of a class count and list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from grader.classroom.class_run import GradedSubmission
from grader.classroom.groups import group_of
from grader.report.model import ExerciseResult
from grader.report.shared_sentences import reason
from grader.support.i18n import _

K = TypeVar("K")
T = TypeVar("T")

OUTCOMES = ("passed", "failed", "not_started", "blocked", "other_interface", "could_not_grade")


@dataclass(frozen=True)
class ExerciseSummary:
    """The counts of one exercise. failed: (facet, title, who) of each check that fails; the commonest first."""

    name: str
    assignment: str
    points: float
    seen: int  # results of this exercise
    outcomes: Counter[str]
    mean: float | None  # of the points; None if nothing was graded
    failed: list[tuple[str, str, list[str]]]


@dataclass(frozen=True)
class Shared:
    """A known mistake, a wrong answer that equals no known mistake, or advice that costs no points, and who has it.

    name: of the group, as commands take it; of advice, the policy. smallest: the submission with the fewest characters.
    """

    name: str
    exercise: str
    says: str
    who: tuple[str, ...]
    smallest: str


@dataclass(frozen=True)
class Alike:
    """Students who wrote code with the same syntax tree. unnamed: where they share a wrong answer without a name."""

    who: tuple[str, ...]
    unnamed: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """The students of one section: how many there are, how many submitted something, and their mean points."""

    name: str
    students: int
    submitted: int
    mean: float


class Summary:
    """The lists of the class report, each made when it is asked for."""

    def __init__(self, entries: Sequence[GradedSubmission]):
        self.entries = entries
        self._results = [(entry, result) for entry in entries for result in entry.report.exercises]

    @cached_property
    def exercises(self) -> list[ExerciseSummary]:
        """Return the exercises, by assignment."""
        by_name = _grouped((result.name, (entry, result)) for entry, result in self._results)
        return sorted(map(_exercise, by_name.values()), key=lambda exercise: exercise.assignment)

    @property
    def outcomes(self) -> list[str]:
        """Return the columns of the table of exercises. A rare outcome has a column only if it occurs."""
        return [
            outcome
            for outcome in OUTCOMES
            if outcome in ("passed", "failed") or any(one.outcomes[outcome] for one in self.exercises)
        ]

    @property
    def failing(self) -> list[ExerciseSummary]:
        """Return the exercises with a check that fails for a student."""
        return [one for one in self.exercises if one.failed]

    @property
    def mistakes(self) -> list[Shared]:
        """Return the known mistakes, the commonest first, then by name."""
        found = _shared(
            ((r.name, r.diagnosis.alternatives[0]), group_of(r), entry, r.diagnosis.says)
            for entry, r in self._results
            if r.diagnosis.alternatives
        )
        return sorted(found, key=lambda mistake: (-len(mistake.who), mistake.name))

    @property
    def clusters(self) -> list[Shared]:
        """Return wrong answers without a name that several submissions share."""
        found = _shared(
            ((r.name, r.fingerprint), group_of(r), entry, r.diagnosis.says)
            for entry, r in self._results
            if r.fingerprint
        )
        return [cluster for cluster in found if len(cluster.who) > 1]

    @property
    def advice(self) -> list[Shared]:
        return _shared(
            ((r.name, one.policy, one.says), one.policy, entry, one.says or one.reason)
            for entry, r in self._results
            for one in r.advice
        )

    @property
    def alike(self) -> list[Alike]:
        """Return who submitted the same code; first those who share a wrong answer without a name."""
        by_tree = _grouped((e.tree, e) for e in self.entries if e.tree and e.report.exercises)
        out = []
        for group in by_tree.values():
            who = tuple(dict.fromkeys(entry.student for entry in group))
            if len(who) > 1:
                out.append(Alike(who, tuple(r.name for r in group[0].report.exercises if r.fingerprint)))
        return sorted(out, key=lambda alike: (not alike.unnamed, alike.who))

    @property
    def sections(self) -> list[Section]:
        """Return the sections in the class list, by name. A student without files has 0 points."""
        by_section = _grouped((e.person.section, e) for e in self.entries if e.person and e.person.section)
        out = []
        for name, group in sorted(by_section.items()):
            students = len({entry.student for entry in group})
            submitted = len({entry.student for entry in group if entry.submission})
            mean = sum(entry.report.score for entry in group) / students
            out.append(Section(name, students, submitted, mean))
        return out

    def addresses(self, who: Collection[str]) -> list[str]:
        """Return names to copy: one line per section, "A: ada, bob", with e-mail addresses if the class list has them."""
        people = {entry.student: entry.person for entry in self.entries if entry.student in who}
        by_section = _grouped(
            (person.section if person else "", (person.email if person else "") or student)
            for student, person in people.items()
        )
        lines = ((name, ", ".join(addresses)) for name, addresses in sorted(by_section.items()))
        return [f"{name}: {line}" if name else line for name, line in lines]

    @property
    def unread(self) -> list[GradedSubmission]:
        """Return students without files, and entries whose whole file could not be graded; not by the grader's fault."""
        return [entry for entry in self.entries if entry.problem and not entry.grader_failed]

    @property
    def remarks(self) -> list[str]:
        """Return remarks for the instructor on graded submissions, one line each."""
        graded = (entry for entry in self.entries if entry.report.exercises)
        return [f"{entry.submission}: {remark}" for entry in graded for remark in entry.report.remarks]

    @property
    def reasons(self) -> list[tuple[GradedSubmission, ExerciseResult, str]]:
        """Return the exercises that were begun, did not pass and have no named mistake, each with its reason."""
        return [
            (entry, result, reason(result))
            for entry, result in self._results
            if result.outcome in ("failed", "blocked", "other_interface")
            and not result.diagnosis.alternatives
        ]

    @property
    def could_not(self) -> list[tuple[GradedSubmission, str]]:
        """Return the submissions that could not be graded, at least in part, and why: a row per exercise."""
        out, says = [], _("{exercise}: {why}")
        for entry in self.entries:
            ungraded = [r for r in entry.report.exercises if r.outcome == "could_not_grade"]
            if entry.grader_failed and not ungraded:
                out.append((entry, entry.problem))
            out += [(entry, says.format(exercise=r.name, why=r.message or entry.problem)) for r in ungraded]
        return out


def _grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _exercise(found: Sequence[tuple[GradedSubmission, ExerciseResult]]) -> ExerciseSummary:
    results = [result for _entry, result in found]
    scores = [result.score for result in results if result.score is not None]
    mean = sum(scores) / len(scores) if scores else None
    checks = _grouped(
        (facet_and_title, entry.student)
        for entry, result in found
        # Once, also if several checks have this title.
        for facet_and_title in dict.fromkeys(
            (c.facet, c.title) for c in result.checks if c.outcome == "failed"
        )
    )
    rows = sorted(checks.items(), key=lambda row: -len(row[1]))
    failed = [(facet, title, who) for (facet, title), who in rows]
    outcomes = Counter[str](result.outcome for result in results)
    one = results[0]
    return ExerciseSummary(one.name, one.assignment, one.points, len(results), outcomes, mean, failed)


def _shared(found: Iterable[tuple[tuple[Any, ...], str, GradedSubmission, str]]) -> list[Shared]:
    """Return what is found in submissions, the commonest first, then by exercise.

    found: what is equal in all of a group, beginning with the exercise; its name; a submission that has it; a sentence.
    """
    groups = _grouped((key, (name, entry, says)) for key, name, entry, says in found)
    out = []
    for (exercise, *_rest), group in groups.items():
        name, _entry, says = group[0]
        entries = [entry for _name, entry, _says in group]
        smallest = min(entries, key=lambda entry: (entry.size, entry.submission)).submission
        out.append(Shared(name, exercise, says, tuple(entry.student for entry in entries), smallest))
    return sorted(out, key=lambda one: (-len(one.who), one.exercise))
