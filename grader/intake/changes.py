"""Find out whether a file differs from the original stub, and which of several files answers an assignment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from grader.intake.names import Names, read_names
from grader.intake.read import Blocked, Submission, Unit, submission_from


def is_changed(path: Path, read: Callable[[], bytes], stub: str, exercises: Sequence[str]) -> bool:
    """Whether a file defines any of the exercises otherwise than the stub. A file that cannot be read counts as changed."""
    original = read_names(Submission(path, (Unit(path.name, stub),)))
    try:
        found = read_names(submission_from(path, read()))
    except (Blocked, OSError):
        return True
    return bool(found.faults) or any(_tree(found, name) != _tree(original, name) for name in exercises)


def answers(path: Path, read: Callable[[], bytes], stub: str, exercises: Sequence[str]) -> bool:
    """Whether a file defines one of the exercises, and not as the stub does."""
    original = read_names(Submission(path, (Unit(path.name, stub),)))
    try:
        found = read_names(submission_from(path, read()))
    except (Blocked, OSError):
        return False
    return any(
        name in found.definitions and _tree(found, name) != _tree(original, name) for name in exercises
    )


def only_answer(names: Sequence[str], answers: Callable[[str], bool]) -> str | None:
    """The file that was submitted, where none has the name of the assignment.

    It is the only file that there is, or the only one that answers an exercise; None if that decides nothing.
    """
    if len(names) == 1:
        return names[0]
    found = [name for name in names if answers(name)]
    return found[0] if len(found) == 1 else None


def _tree(names: Names, name: str) -> str | None:
    definition = names.definitions.get(name)
    return definition.tree if definition else None
