"""Names and comments that an instructor gave to groups of equal wrong answers.

They are in `groups.json` beside `solutions/`. The file holds hashes of wrong values and the instructor's sentences:
no code and no names of students. The id of a group is the ids of its known mistakes, joined by "+". Without a known
mistake it is "exercise:fingerprint", where the fingerprint is a hash of the results. If the cases change, the wrong
values may change, and then an entry matches no answer. So each name has a digest of the cases of its exercise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from grader.bundle.files import digest_of_cases
from grader.bundle.model import Bundle
from grader.bundle.rules import NAME, PAGE, QUESTION
from grader.report.model import ExerciseResult
from grader.support.atomic_files import write_atomically
from grader.support.bounded_file import read_within
from grader.support.errors import UsageError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

FILE = "groups.json"
MAX_BYTES, MAX_TEXT = 1 << 20, 600
GROUP = re.compile(r"(\w{1,100}):([0-9a-f]{16})")
DIGEST = re.compile(r"([0-9a-f]{64})?")
ID = re.compile(r"(?=.{1,100}$)[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Named:
    """The instructor's name for a group: a short id, a sentence, and a question.

    cases: the digest of the exercise's cases when the group was adopted; "" if an earlier version of the grader
    wrote the file.
    """

    id: str
    says: str
    asks: str
    cases: str = ""


@dataclass(frozen=True)
class Groups:
    """The content of the file.

    named: group → its name. comments: a group, the id of its name, or the id of a known mistake → a comment for
    students.
    """

    named: Mapping[str, Named] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)

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
            if exercise is not None and named.cases and digest_of_cases(exercise) != named.cases:
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
    """Return the groups of the checkout `folder`; none if there is no file. Raises UsageError for a damaged file."""
    path = folder / FILE
    try:
        record = json.loads(read_within(path, MAX_BYTES).decode("utf-8"))
        named = {key: Named(**fields) for key, fields in record["named"].items()}
        pairs = [  # (group or id, text)
            *record["comments"].items(),
            *((key, text) for key, one in named.items() for text in (one.id, one.says, one.asks)),
        ]
        if not all(isinstance(text, str) and 0 < len(text) <= MAX_TEXT for pair in pairs for text in pair):
            raise ValueError(_("a text is empty or has more than {n} characters").format(n=MAX_TEXT))
        if not all(
            GROUP.fullmatch(key) and ID.fullmatch(one.id) and DIGEST.fullmatch(one.cases)
            for key, one in named.items()
        ):
            raise ValueError(_("a group or an id is not written as `grader adopt` writes it"))
        return Groups(named, dict(record["comments"]))
    except FileNotFoundError:
        return Groups()
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        says = _("{file} cannot be read: {why}; correct it, or remove it")
        raise UsageError(says.format(file=path, why=sanitize(str(error), 200))) from None


def write_groups(folder: Path, groups: Groups) -> Path:
    """Write the file of groups and return its path. Raises CannotWrite."""
    path = folder / FILE
    record = {"named": {k: asdict(v) for k, v in groups.named.items()}, "comments": dict(groups.comments)}
    write_atomically(path, (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode())
    return path


def text_of(value: str, option: str) -> str:
    """Return an option's text on one line, without control characters. Raises UsageError if it is empty or too long."""
    text = sanitize(" ".join(value.split()), MAX_TEXT)
    # 50 characters are left for `sanitize`, which makes a text longer if it has control characters.
    if not 0 < len(value.strip()) <= MAX_TEXT - 50 or len(text) > MAX_TEXT:
        raise UsageError(_("{option} takes 1 to {n} characters").format(option=option, n=MAX_TEXT - 50))
    return text
