"""The code that an exercise was graded from. Importing this module does not import the search."""

from __future__ import annotations

from dataclasses import dataclass

from grader.engine.student_parts import Part
from grader.intake.read import Submission


@dataclass(frozen=True)
class Source:
    """The submission that an exercise was graded from, and the parts of earlier assignments that it used."""

    submission: Submission
    parts: tuple[Part, ...] = ()
