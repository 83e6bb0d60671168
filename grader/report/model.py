"""The report as plain data. Every output format is made from this and from nothing else; stores keep results as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from grader.report.picture import Picture, in_words
from grader.support.errors import BadData

Outcome = Literal["passed", "failed", "not_started", "blocked", "other_interface", "could_not_grade"]
CheckOutcome = Literal["passed", "failed", "advice", "skipped", "could_not_grade"]

# exact: one set of known mistakes explains the answer. one_of: each of several sets does. different: a valid design,
# but not the one that the exercise asks for. unknown: no known mistake explains it. none: the exercise has no
# recorded mistakes, or there is no diagnosis.
Kind = Literal["exact", "one_of", "different", "unknown", "none"]

Certainty = Literal["repaired", "suspected"]

SCHEMA = 1


class Decided(Protocol):
    """A check with its outcome: a line of a report, or what it is made of."""

    @property
    def facet(self) -> str: ...
    @property
    def outcome(self) -> CheckOutcome: ...
    @property
    def counts(self) -> bool: ...


@dataclass(frozen=True)
class CheckResult:
    """One check of an exercise.

    expected, got: the values as text; None for a hidden check. where: the line of the code or the place in the tensor.
    policy: for a check whose failure costs no points, the name of the policy; the outcome of a failure is then
    "advice". "" for a check that counts. rule: what was found, a row of `sentences.py`. file, line: the line of the
    submission that `where` names; "" and 0 if it names none.
    """

    id: str
    facet: str
    title: str
    outcome: CheckOutcome
    device: str = "cpu"
    dtype: str = "float32"
    visibility: Literal["public", "hidden"] = "public"
    message: str = ""
    expected: str | None = ""
    got: str | None = ""
    where: str = ""
    policy: str = ""
    rule: str = ""
    file: str = ""
    line: int = 0

    @property
    def counts(self) -> bool:
        return not self.policy


@dataclass(frozen=True)
class Advice:
    """A finding that costs no points.

    says, asks: the sentence and the question of the first known mistake that explains it; "" if none does. reason:
    the check that shows it, with its message. where: its line or place. mistakes: ids of the known mistakes. checks:
    ids of all checks that show it.
    """

    policy: str
    says: str
    asks: str
    reason: str
    where: str = ""
    mistakes: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A line of the submission to look at.

    certainty: "repaired" if one change there makes every case pass; "suspected" if it is only likely to be wrong.
    change: the kind of change in words. touched: the columns of `text` that the change touches, start and stop.
    `change` and `touched` are empty if the line is only suspected, if the diagnosis has a known mistake, or at
    level 1 of the diagnosis (see grader/bundle/model.py).
    """

    file: str
    line: int
    text: str
    certainty: Certainty
    change: str = ""
    touched: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Diagnosis:
    """The known mistakes that explain a wrong answer; if there are none, facts about it.

    alternatives: sets of known mistakes, the smallest first; each set explains the answer. says, asks: the
    sentence and the question of the first set; without any set, `says` has the facts. lines: the lines to
    look at, the likeliest first. file, line: the line of the submission with which `says` begins; "" and 0 for none.
    """

    kind: Kind
    alternatives: tuple[tuple[str, ...], ...] = ()
    says: str = ""
    asks: str = ""
    lines: tuple[Line, ...] = ()
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Code:
    """The lines of an exercise in a file of the submission.

    first: the number of the first line. marked: the numbers of the lines that the report names. entry: the function,
    the method `forward` or the class that is called, and the number of its line.
    """

    file: str
    first: int
    lines: tuple[str, ...]
    marked: tuple[int, ...] = ()
    entry: tuple[str, int] = ("", 0)

    @property
    def line(self) -> int:
        """Return the number of the line to look at first."""
        return self.marked[0] if self.marked else self.first


NO_DIAGNOSIS = Diagnosis("none")


@dataclass(frozen=True)
class ExerciseResult:
    """The outcome of one exercise. `score` is None if the grader could not grade it."""

    name: str
    assignment: str
    outcome: Outcome
    score: float | None
    points: float
    title: str = ""
    message: str = ""  # why it is blocked or could not be graded, or which other interface it has
    file: str = ""  # with `line`: the line of the submission that `message` names; "" and 0 if it names none
    line: int = 0
    checks: tuple[CheckResult, ...] = ()
    diagnosis: Diagnosis = NO_DIAGNOSIS
    advice: tuple[Advice, ...] = ()
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0
    content: str = ""  # hash of what was graded
    # Of the first failure, or of what a right answer measured; never of a hidden case.
    picture: Picture | None = None
    # The first lines that the answer printed in the first case that failed; never of a hidden case.
    printed: str = ""
    code: Code | None = None  # of an exercise that did not pass
    partial: bool = False  # a quick check that skipped something
    fix_first: tuple[str, ...] = ()  # exercises that this one uses and that have not passed
    replaced: tuple[str, ...] = ()  # the student's own building blocks that those of the grader replaced
    fingerprint: str = ""  # of an unexplained wrong answer; equal answers have equal fingerprints
    second: bool = False  # of the second half of the course, which is optional


class Points(NamedTuple):
    """The points of one half of the course, and those that could be reached."""

    score: float
    points: float
    second: bool = False


def points_of(exercises: Iterable[tuple[bool, float, float]]) -> tuple[Points, ...]:
    """Return the points of each half of the course that has exercises; of the first half if there are none.

    exercises: of each, whether it is of the second half, its score and its points.
    """
    halves: dict[bool, list[tuple[float, float]]] = {}
    for second, score, points in exercises:
        halves.setdefault(second, []).append((score, points))
    found = []
    for second in sorted(halves):
        scores, worth = zip(*halves[second], strict=True)
        found.append(Points(total(scores), total(worth), second))
    return tuple(found) or (Points(0.0, 0.0),)


@dataclass(frozen=True)
class Report:
    """The results of one submission."""

    exercises: tuple[ExerciseResult, ...]
    sandbox: str
    torch: str
    grader: str
    seed: str = "public"
    remarks: tuple[str, ...] = ()
    outlook: tuple[str, ...] = ()  # if all passed: what was built, and what comes next
    file: str = ""  # the file that was graded instead of a course folder
    faulty: bool = False  # a file would not run by itself, for example a syntax error; a remark says why
    extra: Mapping[str, str] = field(default_factory=dict)  # "student", "submission", … of a class report

    @property
    def halves(self) -> tuple[Points, ...]:
        """Return the points of each half of the course, without exercises that could not be graded."""
        return points_of((e.second, e.score, e.points) for e in self.exercises if e.score is not None)

    @property
    def score(self) -> float:
        """Return the points of the first half; of the second half if nothing else was graded."""
        return self.halves[0].score

    @property
    def points(self) -> float:
        """Return the points that could be reached for `score`."""
        return self.halves[0].points

    @property
    def exit_status(self) -> int:
        """Return 3 if an exercise could not be graded, 0 if all passed, 1 otherwise."""
        outcomes = {e.outcome for e in self.exercises}
        if "could_not_grade" in outcomes:
            return 3
        return 0 if outcomes <= {"passed"} else 1


def total(points: Iterable[float]) -> float:
    """Return the sum of points. It has no noise of binary numbers: 0.1 and 0.2 give 0.3."""
    return round(sum(points, 0.0), 6)


def to_json(report: Report) -> dict[str, Any]:
    """Return the report as a record for JSON. It lacks some fields, such as the titles of exercises."""
    return {
        "schema": SCHEMA,
        **_fields(report, "grader", "torch", "seed", "sandbox"),
        **report.extra,
        **_fields(report, "score", "points"),
        **({"second_half": _fields(report.halves[1], "score", "points")} if report.halves[1:] else {}),
        "exercises": [_exercise(e) for e in report.exercises],
        **_fields(report, "remarks"),
    }


def _exercise(result: ExerciseResult) -> dict[str, Any]:
    known = result.diagnosis
    lines = [_fields(line, "file", "line", "text", "certainty") for line in known.lines]
    record = {
        **_fields(result, "name", "assignment", "outcome", "score", "points", "message", "checks"),
        "diagnosis": {**_fields(known, "kind", "alternatives", "says", "asks"), "lines": lines},
        **_fields(result, "advice", "remarks", "fix_first"),
        "seconds": round(result.seconds, 4),
    }
    if result.picture:
        form = msgspec.to_builtins(result.picture.form)
        drawn = {"title": result.picture.title, form.pop("kind"): form}
        record["picture"] = {**drawn, **_fields(result.picture, "notes"), "words": in_words(result.picture)}
    return record | {name: value for name, value in _fields(result, "printed", "code").items() if value}


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: msgspec.to_builtins(getattr(value, name)) for name in names}


# Raise it if a field changes its meaning: results of another format are refused, or graded again.
FORMAT = 1


def to_text(result: ExerciseResult) -> str:
    """Return a result as JSON with all its fields."""
    return json.dumps(msgspec.to_builtins(result))  # msgspec writes NaN as null, and no lone surrogate


def from_text(text: str) -> ExerciseResult:
    """Return the result that `to_text` wrote. Raises BadData for any other text, or if it has a picture."""
    try:
        result = msgspec.json.decode(text, type=ExerciseResult)
    except (ValueError, RecursionError) as error:
        raise BadData(str(error)) from None
    no_score = result.score is None
    if no_score != (result.outcome == "could_not_grade") or not 0 <= (result.score or 0) <= result.points:
        raise BadData("no such score")
    if result.picture:
        raise BadData("a picture is never stored")
    return result
