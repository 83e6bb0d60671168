"""Cache results of exercises that take long, by everything that they depend on.

A student can write into the folder. So a cached result is checked as if it came from outside, and it is never read
where points are recorded (see `when_to_cache`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from grader.bundle.files import digest
from grader.bundle.model import Exercise
from grader.engine.visibility import with_requirements
from grader.given import source
from grader.report.model import ExerciseResult
from grader.report.stored import from_text
from grader.support.atomic_files import write_own
from grader.support.bounded_file import read_regular

FOLDER = ".headway/kept"
NEWEST = 20  # the number of results that are kept per exercise


@dataclass(frozen=True)
class ResultCache:
    """A folder of results. If a result cannot be read or written, the exercise is graded again."""

    folder: Path

    def get(self, key: str, exercise: Exercise) -> ExerciseResult | None:
        """Return the result under a key, if this exercise can have such a result; None otherwise."""
        try:
            result = from_text(read_regular(self._path(key, exercise)).decode())
        except (OSError, ValueError):
            return None
        same = (result.name, result.assignment, result.points) == (
            exercise.name,
            exercise.assignment,
            exercise.points,
        )
        return result if same and result.outcome in ("passed", "failed") and not result.partial else None

    def put(self, key: str, exercise: Exercise, result: ExerciseResult) -> None:
        """Store a result without its picture and code.

        A result with figures (values to draw) is not stored: its exercise runs again.
        """
        if result.figures:
            return
        result = replace(result, picture=None, code=None)
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_own(self._path(key, exercise), json.dumps(asdict(result)).encode())
            _remove_oldest(self.folder.glob(f"{exercise.name}-*.json"))

    def _path(self, key: str, exercise: Exercise) -> Path:
        return self.folder / f"{exercise.name}-{key}.json"


def _remove_oldest(files: Iterable[Path]) -> None:
    for old in sorted(files, key=lambda path: path.stat().st_mtime_ns, reverse=True)[NEWEST:]:
        old.unlink(missing_ok=True)


def key(exercise: Exercise, content: str, *circumstances: str) -> str:
    """Return a hash of an exercise, the graded files, the building blocks that it may use, and the circumstances."""
    blocks = (text for name in with_requirements(exercise.given) for text in (name, source(name)))
    parts = (exercise.name, digest(exercise), content, *blocks, *circumstances)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
