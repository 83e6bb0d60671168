"""The source that an exercise was graded from.

It is not in `find`, so that a passing exercise does not import the search.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.engine.student_parts import Part
from grader.intake.read import Submission


@dataclass(frozen=True)
class Source:
    """The submission that an exercise was graded from, and the earlier parts that it used."""

    submission: Submission
    parts: tuple[Part, ...] = ()
