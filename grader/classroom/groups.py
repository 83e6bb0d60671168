"""Names and comments that an instructor gave to groups of equal wrong answers.

They are in `groups.toml` beside `solutions/`: `grader adopt` and `grader comment` write it, and you may edit it. The
file holds hashes of wrong values and the instructor's sentences: no code and no names of students. The id of a group
is the ids of its known mistakes, joined by "+". Without a known mistake it is "exercise:fingerprint", where the
fingerprint is a hash of the results. If the cases change, the wrong values may change, and then an entry matches no
answer. So each name has a digest of the cases of its exercise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec

from grader.authoring.bank import apply
from grader.authoring.content import read
from grader.bundle.files import digest_of_cases
from grader.bundle.model import NAME, PAGE, QUESTION, Bundle, bundle_of
from grader.engine.engine import Engine
from grader.engine.grading import HIDDEN, GradingOptions
from grader.intake.course import Course, one_exercise
from grader.intake.read import submission_from
from grader.report.model import ExerciseResult
from grader.sandbox.choose import choose
from grader.support.errors import GraderError, UsageError
from grader.support.files import write_atomically
from grader.support.i18n import _
from grader.support.sanitize import sanitize

FILE = "groups.toml"
MAX_TEXT = 550
GROUP = re.compile(r"^(\w{1,100}):([0-9a-f]{16})\Z")
ID = re.compile(r"^(?=.{1,100}\Z)[a-z0-9]+(-[a-z0-9]+)*\Z")
Group = Annotated[str, msgspec.Meta(pattern=GROUP.pattern)]
Id = Annotated[str, msgspec.Meta(pattern=ID.pattern)]


class Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The instructor's name for a group: a short id, a sentence, and a question.

    cases: the digest of the exercise's cases when the group was adopted.
    """

    id: Id
    says: str
    asks: str
    cases: str


class Groups(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file.

    named: group → its name. comments: a group, the id of its name, or the id of a known mistake → a comment for
    students.
    """

    named: Mapping[Group, Named] = {}
    comments: Mapping[str, str] = {}

    def apply(self, results: Sequence[ExerciseResult], level: int = PAGE) -> tuple[ExerciseResult, ...]:
        """Name wrong answers that have no name yet, and add the comments. level: see `Rules`."""
        return tuple(self._result(result, level) for result in results)

    def stale(self, bundles: Iterable[Bundle]) -> list[str]:
        """Return a sentence for each group that was adopted with other cases than those of the bundles."""
        exercises = {exercise.name: exercise for bundle in bundles for exercise in bundle.exercises}
        says = _(
            "{group} was adopted as {id}, and the cases of {exercise} have changed since, so it may match no answer"
            " now: adopt it again, or remove it with `grader adopt {group} --remove`"
        )
        sentences = []
        for group, named in self.named.items():
            exercise = exercises.get(group.partition(":")[0])
            if exercise is not None and digest_of_cases(exercise) != named.cases:
                sentences.append(says.format(group=group, id=named.id, exercise=exercise.name))
        return sentences

    def _result(self, result: ExerciseResult, level: int) -> ExerciseResult:
        group = group_of(result)
        named = self.named.get(group) if level >= NAME else None
        comment = self.comments.get(group) or (self.comments.get(named.id) if named else None)
        if named is not None:
            asks = named.asks if level >= QUESTION else ""
            diagnosis = replace(
                result.diagnosis, kind="exact", alternatives=((named.id,),), says=named.says, asks=asks
            )
            result = replace(result, diagnosis=diagnosis, fingerprint="")
        return replace(result, remarks=(*result.remarks, comment)) if comment else result


def group_of(result: ExerciseResult) -> str:
    """Return the id of the group of a wrong answer, as commands and reports show it; "" if it has no group."""
    if result.diagnosis.alternatives:
        return "+".join(result.diagnosis.alternatives[0])
    return f"{result.name}:{result.fingerprint}" if result.fingerprint else ""


def read_groups(folder: Path) -> Groups:
    """Return the groups of the checkout `folder`; none if there is no file. Raises UsageError for a wrong file."""
    path = folder / FILE
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Groups)
    except FileNotFoundError:
        return Groups()
    except (OSError, ValueError, RecursionError) as error:
        says = _("{file} cannot be read: {why}; correct it, or remove it")
        raise UsageError(says.format(file=path, why=sanitize(str(error), 200))) from None


def write_groups(folder: Path, groups: Groups) -> Path:
    """Write the file of groups and return its path. Raises CannotWrite."""
    path = folder / FILE
    lines = [_("# Names and comments of groups, as `grader adopt` and `grader comment` write them.")]
    for group, named in groups.named.items():
        lines += ["", f"[named.{_quoted(group)}]"]
        lines += [f"{key} = {_quoted(text)}" for key, text in msgspec.structs.asdict(named).items()]
    lines += ["", "[comments]"]
    lines += [f"{_quoted(group)} = {_quoted(text)}" for group, text in groups.comments.items()]
    write_atomically(path, ("\n".join(lines) + "\n").encode())
    return path


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def adopt(
    solutions: Path, bundles: Sequence[Bundle], tier: str, group: str, id: str, says: str, asks: str
) -> tuple[Path, int]:
    """Write the group's name into the file of groups, if every right answer passes: then none is in the group.

    tier: the sandbox in which the right answers are graded. Return the file's path, and their number. Raises UsageError
    for a malformed group or id, or an id that is in use, and GraderError if a right answer does not pass.
    """
    exercise = exercise_of(group, bundles)
    groups = read_groups(solutions.parent)
    if not ID.fullmatch(id):
        wrong = _(
            "--id takes lower-case words joined by dashes that name no other mistake, such as scaled-twice; not {id}"
        )
        raise UsageError(wrong.format(id=id))
    if id in known_ids(bundles) | {one.id for key, one in groups.named.items() if key != group}:
        raise UsageError(_("a mistake is called {id} already; choose another --id").format(id=id))
    passed = _pass_all_right_answers(solutions, bundles, tier, exercise)
    cases = digest_of_cases(bundle_of(bundles, exercise).exercise(exercise))
    named = {**groups.named, group: Named(id, says, asks, cases)}
    return write_groups(solutions.parent, Groups(named, groups.comments)), passed


def _pass_all_right_answers(solutions: Path, bundles: Sequence[Bundle], tier: str, exercise: str) -> int:
    """Grade the reference and every variant that must pass, with hidden cases. Return their number."""
    bundle = bundle_of(bundles, exercise)
    assignment = read(solutions / bundle.assignment)
    variants = [v for v in assignment.variants(exercise) if v.kind in ("same", "also")]
    answers = [(_("the reference"), assignment.source)]
    answers += [(v.id, apply(v, assignment.source)) for v in variants]
    with (
        closing(choose(tier)) as launcher,
        closing(Engine(bundles, launcher, GradingOptions(terms=HIDDEN))) as engine,
    ):
        for name, source in answers:
            submission = submission_from(Path(f"{bundle.module}.py"), source.encode())
            (result,) = engine.grade(submission, [exercise]).exercises
            if result.outcome != "passed":
                says = _(
                    "{name} is a right answer and does not pass, so it may be in this group; nothing was adopted"
                )
                raise GraderError(says.format(name=name))
    return len(answers)


def forget(course: Course, group: str) -> Path:
    """Remove a group's name from the file. Return its path. Raises UsageError if the group has no name."""
    home = course.require_solutions().parent
    exercise_of(group, course.bundles)
    groups = read_groups(home)
    if group not in groups.named:
        raise UsageError(_("{group} has no name in {folder}").format(group=group, folder=home))
    named = {key: one for key, one in groups.named.items() if key != group}
    return write_groups(home, Groups(named, groups.comments))


def comment(course: Course, group: str, text: str) -> Path:
    """Write the comment that the students of a group read; "" removes it. Return the file's path.

    group: ids of mistakes joined by "+", or "exercise:fingerprint". Raises UsageError for an unknown id and for a
    malformed group.
    """
    home = course.require_solutions().parent
    groups = read_groups(home)
    known = known_ids(course.bundles) | {one.id for one in groups.named.values()}
    if not set(group.split("+")) <= known:
        exercise_of(group, course.bundles)
    comments = {key: old for key, old in groups.comments.items() if key != group}
    return write_groups(home, Groups(groups.named, comments | ({group: text} if text else {})))


def exercise_of(group: str, bundles: Sequence[Bundle]) -> str:
    """Return the exercise of a group without a name. Raises UsageError for any other text."""
    found = GROUP.fullmatch(group)
    if not found:
        says = _(
            "{group} is no group; copy one from the class report, such as masked_softmax:0123456789abcdef"
        )
        raise UsageError(says.format(group=group))
    return one_exercise(found[1], bundles).name


def known_ids(bundles: Sequence[Bundle]) -> set[str]:
    """Return the ids of the known mistakes of the course."""
    return {mistake.id for bundle in bundles for e in bundle.exercises for mistake in e.mistakes}


def text_of(value: str, option: str) -> str:
    """Return an option's text on one line, without control characters. Raises UsageError if it is empty or too long."""
    text = " ".join(value.split())
    if not 0 < len(text) <= MAX_TEXT:
        raise UsageError(_("{option} takes 1 to {n} characters").format(option=option, n=MAX_TEXT))
    return sanitize(text)
