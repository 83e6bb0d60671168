"""The independent answers in tests/answers, and what their headers say: which exercise, and which facets fail."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[1] / "answers"


@dataclass(frozen=True)
class Answer:
    path: Path
    exercise: str
    says: str  # what the answer is
    kind: str  # mistake, different, policy or same; tests/answers/README.md explains them
    breaks: frozenset[str]  # facets that fail
    later: frozenset[str] = frozenset()  # policies that the answer breaks, and `device` if it fails on a GPU

    @property
    def is_right(self) -> bool:
        """Return whether the answer passes all facets on the CPU in float32."""
        return not self.breaks


def read(path: Path) -> Answer:
    head = path.read_text("utf-8").split("\n\n")[0]
    fields = dict(re.findall(r"^# (exercise|says|kind|breaks|later): *(.*)$", head, re.M))
    breaks, later = (
        frozenset(filter(None, (facet.strip() for facet in fields.get(name, "").split(","))))
        for name in ("breaks", "later")
    )
    return Answer(path, fields["exercise"], fields["says"], fields["kind"], breaks, later)


ANSWERS = [read(path) for path in sorted(HERE.glob("*/*.py"))]
