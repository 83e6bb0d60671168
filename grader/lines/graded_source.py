"""What an exercise was graded from. Apart from the search, which only a failed exercise needs."""

from __future__ import annotations

from dataclasses import dataclass

from grader.engine.student_parts import Part
from grader.intake.read import Submission


@dataclass(frozen=True)
class Source:
    """The submission that an exercise was graded from, and the earlier parts that it used."""

    submission: Submission
    parts: tuple[Part, ...] = ()
