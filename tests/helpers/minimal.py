"""The smallest exercise with one recorded case."""

from grader.bundle.model import Exercise, KnownMistake, RecordedCase


def exercise_of(case: RecordedCase, *mistakes: KnownMistake) -> Exercise:
    return Exercise("f", "01_a", "a title", 1.0, {}, {}, (), (), (), (), 1, cases=(case,), mistakes=mistakes)
