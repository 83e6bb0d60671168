"""An exercise with one recorded case, and a submission with one file."""

from pathlib import Path

from grader.bundle.model import Exercise, KnownMistake, RecordedCase
from grader.intake.read import Submission, Unit


def submission_of(source: str, name: str = "answer.py") -> Submission:
    return Submission(Path(name), (Unit(name, source),))


def exercise_of(case: RecordedCase, *mistakes: KnownMistake) -> Exercise:
    return Exercise(
        "f",
        "a title",
        points=1.0,
        minutes=10,
        built="",
        weights={},
        limits={},
        hints=(),
        needs=(),
        given=(),
        forbids=(),
        level=1,
        cases=(case,),
        mistakes=mistakes,
        assignment="01_a",
    )
