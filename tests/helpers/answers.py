"""The independent answers in tests/answers: a file per exercise, a cell per answer. tests/answers/README.md has the format."""

import re
from dataclasses import dataclass
from pathlib import Path

from grader.intake.read import Submission
from helpers.minimal import submission_of

HERE = Path(__file__).parents[1] / "answers"


@dataclass(frozen=True)
class Answer:
    exercise: str
    name: str  # begins with right_ or wrong_
    says: str  # what the answer is
    kind: str  # mistake, different, policy or same
    breaks: frozenset[str]  # facets that fail
    later: frozenset[str]  # policies that the answer breaks, and `device` if it fails on a GPU
    equals: (
        tuple[frozenset[str], ...] | None
    )  # the known mistakes that it may be named as; None: not labelled
    source: str

    @property
    def id(self) -> str:
        return f"{self.exercise}/{self.name}"

    @property
    def is_right(self) -> bool:
        """Return whether the answer passes all facets on the CPU in float32."""
        return not self.breaks

    @property
    def submission(self) -> Submission:
        return submission_of(self.source, f"{self.name}.py")


def read(path: Path) -> list[Answer]:
    """Return the answers in a file."""
    cells = re.split(r"^# %% ", path.read_text("utf-8"), flags=re.M)[1:]
    return [_answer(path.stem, cell) for cell in cells]


def _answer(exercise: str, cell: str) -> Answer:
    head, source = cell.split("\n\n", 1)
    title, *lines = head.split("\n")
    name, says = title.split(": ", 1)
    fields = dict(line.removeprefix("# ").split(": ", 1) for line in lines)
    breaks, later, equals = (
        [one.strip() for one in fields.get(key, "").split(",") if one.strip()]
        for key in ("breaks", "later", "equals")
    )
    names = tuple(frozenset(one.split("+")) for one in equals if one != "nothing")
    return Answer(
        exercise,
        name,
        says,
        fields["kind"],
        frozenset(breaks),
        frozenset(later),
        names if equals else None,
        source.strip("\n") + "\n",
    )


ANSWERS = [answer for path in sorted(HERE.glob("*.py")) for answer in read(path)]
BY_ID = {answer.id: answer for answer in ANSWERS}
