"""The outcomes of a student's last checks, for `grader`, `grader hint` and `grader watch`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.report.model import ExerciseResult
from grader.support.files import read_regular, write_own

FILE = ".headway/progress.json"
CURRENT = ".headway/current"


def save(root: Path, results: Sequence[ExerciseResult]) -> None:
    """Save outcomes in the course folder; do nothing if it cannot be written."""
    known = load(root)
    for result in results:
        if result.partial and result.outcome == "passed":
            continue  # a quick check is not a final score
        found = result.diagnosis
        known[result.name] = {
            "outcome": result.outcome,
            "score": result.score,
            "content": result.content,  # a hash of what was graded
            "asks": found.asks,  # for `grader hint`
            # The id of the known mistake, for `grader explain`.
            "page": found.alternatives[0][0] if found.alternatives else "",
        }
    path = root / FILE
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        write_own(path, json.dumps(known, indent=1, sort_keys=True).encode())


def load(root: Path) -> dict[str, dict[str, Any]]:
    """Return the known outcomes by exercise; {} if the file is missing or damaged."""
    try:
        known = json.loads(read_regular(root / FILE))
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {name: row for name, row in known.items() if isinstance(row, dict)}


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
