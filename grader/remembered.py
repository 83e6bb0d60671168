"""Results of exercises that take long, kept by all that they depend on: the same again is not run again."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.bundle import Exercise, digest
from grader.files import write_atomically
from grader.report.model import ExerciseResult, from_text

FOLDER = ".headway/kept"


@dataclass(frozen=True)
class Remembered:
    """A folder of results. One that cannot be read or written costs only the time to grade again."""

    folder: Path

    def find(self, key: str) -> ExerciseResult | None:
        try:
            return from_text((self.folder / f"{key}.json").read_text("utf-8"))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def keep(self, key: str, result: ExerciseResult) -> None:
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / f"{key}.json", json.dumps(asdict(result)).encode())


def key(exercise: Exercise, content: str, *circumstances: str) -> str:
    """One word for an exercise, what is graded, and the circumstances."""
    parts = (exercise.name, digest(exercise), content, *circumstances)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
