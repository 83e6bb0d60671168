"""The outcomes of a student's last checks, for `grader`, `grader hint` and `grader watch`."""

from __future__ import annotations

import contextlib
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from grader.report.model import ExerciseResult
from grader.support.files import read_regular, write_own

FILE = ".headway/progress.json"
CURRENT = ".headway/current"
SEED = ".headway/seed"


class LastCheck(msgspec.Struct, frozen=True):
    """What the last check of an exercise found; the defaults are those of an exercise that was never checked.

    content: a hash of what was graded. asks: the question about the known mistake, for `grader hint`. page: its id,
    for `grader explain`.
    """

    outcome: str = "not_started"
    score: float | None = 0.0
    content: str = ""
    asks: str = ""
    page: str = ""


def save(root: Path, results: Sequence[ExerciseResult]) -> None:
    """Save outcomes in the course folder; do nothing if it cannot be written."""
    known = dict(load(root))
    for result in results:
        if result.partial and result.outcome == "passed":
            continue  # a quick check is not a final score
        found = result.diagnosis
        page = found.alternatives[0][0] if found.alternatives else ""
        known[result.name] = LastCheck(result.outcome, result.score, result.content, found.asks, page)
    path = root / FILE
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        write_own(path, msgspec.json.format(msgspec.json.encode(known, order="sorted"), indent=1))


def load(root: Path) -> Mapping[str, LastCheck]:
    """Return what is known by exercise, with the defaults for all others and if the file is missing or damaged."""
    known: dict[str, LastCheck] = {}
    with contextlib.suppress(OSError, ValueError, RecursionError):
        known = msgspec.json.decode(read_regular(root / FILE), type=dict[str, LastCheck])
    return defaultdict(LastCheck, known)


def save_current(root: Path, name: str) -> None:
    """Save which exercise is being worked on; do nothing if it cannot be written."""
    with contextlib.suppress(OSError):
        (root / CURRENT).parent.mkdir(exist_ok=True)
        write_own(root / CURRENT, name.encode())


def load_current(root: Path) -> str:
    """Return the exercise that was worked on last; "" if it is not known."""
    try:
        return read_regular(root / CURRENT, 200).decode()
    except (OSError, ValueError):
        return ""


def seed(root: Path) -> str:
    """Return the student's own seed. It is drawn the first time, and stays the same if it can be written."""
    with contextlib.suppress(OSError, ValueError):
        return read_regular(root / SEED, 200).decode()
    drawn = secrets.token_hex(8)
    with contextlib.suppress(OSError):
        write_own(root / SEED, drawn.encode())  # the folder is there: exercises have passed
    return drawn


def next_to_do(root: Path, names: Sequence[str]) -> str:
    """Return the first of these exercises that has not passed; "" if all have. Exercises build only on earlier ones."""
    known = load(root)
    return next((name for name in names if known[name].outcome != "passed"), "")


def to_continue_with(root: Path, names: Sequence[str]) -> str:
    """Return the exercise that was worked on last if it has not passed, else the next to do, or the first of all."""
    last = load_current(root)
    return next_to_do(root, [last, *names] if last in names else names) or names[0]
