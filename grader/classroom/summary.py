"""Count the results of a class for its reports, and choose the entries and sentences that the reports list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from grader.classroom.class_run import GradedSubmission
from grader.classroom.groups import group_of
from grader.report.model import ExerciseResult
from grader.report.shared_sentences import reason
from grader.support.i18n import _

K = TypeVar("K")
T = TypeVar("T")

OUTCOMES = ("passed", "failed", "not_started", "blocked", "other_interface", "could_not_grade")


@dataclass
class ExerciseSummary:
    """The counts of one exercise."""

    name: str
    assignment: str
    points: float
    outcomes: Counter[str] = field(default_factory=Counter)
    scores: list[float] = field(default_factory=list)
    failed_checks: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # (facet, title) → who
    seen: int = 0  # results of this exercise

    @property
    def mean(self) -> float | None:
        return sum(self.scores) / len(self.scores) if self.scores else None

    def by_share(self) -> list[tuple[str, str, list[str]]]:
        """Return (facet, title, who) of each check that fails; those that fail for most students come first."""
        rows = sorted(self.failed_checks.items(), key=lambda row: -len(row[1]))
        return [(facet, title, who) for (facet, title), who in rows]


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
    """Students who wrote code with the same syntax tree.

    `unnamed`: exercises in which they share a wrong answer without a name.
    """

    who: tuple[str, ...]
    unnamed: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """The students of one section: how many there are, how many submitted something, and their mean points."""

    name: str
    students: int
    submitted: int
    mean: float


@dataclass(frozen=True)
class Summary:
    """The counts of the class report.

    Exercises are sorted by assignment; mistakes, clusters and advice, the commonest first.
    """

    exercises: tuple[ExerciseSummary, ...]
    mistakes: tuple[Shared, ...]
    clusters: tuple[Shared, ...]
    advice: tuple[Shared, ...]
    alike: tuple[Alike, ...]
    sections: tuple[Section, ...]

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
        return [one for one in self.exercises if one.failed_checks]


def summarise(entries: Sequence[GradedSubmission]) -> Summary:
    """Return the counts of the class report."""
    everything = [(entry, result) for entry in entries for result in entry.report.exercises]
    mistakes = _shared(
        ((r.name, r.diagnosis.alternatives[0]), group_of(r), entry, r.diagnosis.says)
        for entry, r in everything
        if r.diagnosis.alternatives
    )
    clusters = _shared(
        ((r.name, r.fingerprint), group_of(r), entry, r.diagnosis.says)
        for entry, r in everything
        if r.fingerprint
    )
    advice = _shared(
        ((r.name, one.policy, one.says), one.policy, entry, one.says or one.reason)
        for entry, r in everything
        for one in r.advice
    )
    exercises: dict[str, ExerciseSummary] = {}
    for entry, result in everything:
        exercise = exercises.setdefault(
            result.name, ExerciseSummary(result.name, result.assignment, result.points)
        )
        exercise.seen += 1
        exercise.outcomes[result.outcome] += 1
        if result.score is not None:
            exercise.scores.append(result.score)
        failed = ((check.facet, check.title) for check in result.checks if check.outcome == "failed")
        for facet_and_title in dict.fromkeys(failed):  # once, also if several checks have this title
            exercise.failed_checks.setdefault(facet_and_title, []).append(entry.student)
    in_order = sorted(exercises.values(), key=lambda exercise: exercise.assignment)
    return Summary(
        tuple(in_order),
        tuple(sorted(mistakes, key=lambda mistake: (-len(mistake.who), mistake.name))),
        tuple(cluster for cluster in clusters if len(cluster.who) > 1),
        tuple(advice),
        tuple(_alike(entries)),
        tuple(_sections(entries)),
    )


def _grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _shared(found: Iterable[tuple[tuple[Any, ...], str, GradedSubmission, str]]) -> list[Shared]:
    """Return what is found in submissions, the commonest first, then by exercise.

    found: what is equal in all of a group, beginning with the exercise; its name; a submission that has it; a sentence.
    """
    out = []
    for (exercise, *_rest), group in _grouped(
        (key, (name, entry, says)) for key, name, entry, says in found
    ).items():
        entries = [entry for _name, entry, _says in group]
        smallest = min(entries, key=lambda entry: (entry.size, entry.submission)).submission
        who = tuple(entry.student for entry in entries)
        out.append(Shared(group[0][0], exercise, group[0][2], who, smallest))
    return sorted(out, key=lambda one: (-len(one.who), one.exercise))


def _alike(entries: Sequence[GradedSubmission]) -> list[Alike]:
    found = _grouped((entry.tree, entry) for entry in entries if entry.tree and entry.report.exercises)
    groups = [(group, tuple(dict.fromkeys(entry.student for entry in group))) for group in found.values()]
    out = [
        Alike(who, tuple(r.name for r in group[0].report.exercises if r.fingerprint))
        for group, who in groups
        if len(who) > 1
    ]
    return sorted(out, key=lambda alike: (not alike.unnamed, alike.who))


def _sections(entries: Sequence[GradedSubmission]) -> list[Section]:
    """Return the sections in the class list, sorted by name; none without a column `section`. A student without files
    has 0 points.
    """
    points: dict[str, dict[str, float]] = {}
    submitted: dict[str, set[str]] = {}
    for entry in entries:
        if entry.person is None or not entry.person.section:
            continue
        by_student = points.setdefault(entry.person.section, {})
        by_student[entry.student] = by_student.get(entry.student, 0.0) + entry.report.score
        submitted.setdefault(entry.person.section, set()).update([entry.student] if entry.submission else [])
    return [
        Section(name, len(by_student), len(submitted[name]), sum(by_student.values()) / len(by_student))
        for name, by_student in sorted(points.items())
    ]


def addresses(entries: Sequence[GradedSubmission], who: Collection[str]) -> list[str]:
    """Return names to copy: one line per section, "A: ada, bob", with e-mail addresses if the class list has them."""
    lines: dict[str, dict[str, str]] = {}
    for entry in entries:
        if entry.student in who:
            person = entry.person
            section = person.section if person else ""
            lines.setdefault(section, {})[entry.student] = (person.email if person else "") or entry.student
    return [
        f"{name}: {', '.join(of.values())}" if name else ", ".join(of.values())
        for name, of in sorted(lines.items())
    ]


def unread(entries: Sequence[GradedSubmission]) -> list[GradedSubmission]:
    """Return students without files, and entries whose whole file could not be graded; not those of grader errors."""
    return [entry for entry in entries if entry.problem and not entry.grader_failed]


def remarks(entries: Sequence[GradedSubmission]) -> list[str]:
    """Return remarks for the instructor on graded submissions, one line each."""
    return [f"{e.submission}: {remark}" for e in entries if e.report.exercises for remark in e.report.remarks]


def reasons(entries: Sequence[GradedSubmission]) -> list[tuple[GradedSubmission, ExerciseResult, str]]:
    """Return the exercises that did not pass and have no named mistake, each with its reason.

    Exercises that were not started or could not be graded are left out.
    """
    return [
        (entry, result, reason(result))
        for entry in entries
        for result in entry.report.exercises
        if result.outcome in ("failed", "blocked", "other_interface") and not result.diagnosis.alternatives
    ]


def could_not(entries: Sequence[GradedSubmission]) -> list[tuple[GradedSubmission, str]]:
    """Return the submissions that could not be graded, at least in part, and why: a row per exercise."""
    out = []
    for entry in entries:
        ungraded = [r for r in entry.report.exercises if r.outcome == "could_not_grade"]
        whole = not ungraded and entry.grader_failed
        out += [(entry, entry.problem)] if whole else []
        says = _("{exercise}: {why}")
        out += [(entry, says.format(exercise=r.name, why=r.message or entry.problem)) for r in ungraded]
    return out
