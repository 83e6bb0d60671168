"""A plain file to grade after an exception of the grader. If the grader can grade it, the submission is the cause."""

from __future__ import annotations

import traceback
from pathlib import Path

from grader.bundle.model import Exercise
from grader.intake.read import Submission, Unit


def plain_file(exercise: Exercise) -> Submission:
    """Return a submission that loads and fails in the simplest way. It has code, so its cases run."""
    source = f"def {exercise.name}(*args, **kwargs):\n    raise ValueError\n"
    return Submission(Path("plain.py"), (Unit("plain.py", source),))


def raised_at(error: Exception) -> str:
    """Return the type of an exception, and the file and line that raised it. A submission can choose none of them."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return type(error).__name__ + place
