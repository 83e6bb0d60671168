"""What a student has reached so far, and the line that shows that something is going on."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.files import write_atomically
from grader.i18n import _
from grader.report.model import ExerciseResult

FILE = ".headway/progress.json"


@contextlib.contextmanager
def line(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows which exercise is being graded; nothing is left on the screen."""
    if quiet or not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    with console.status(_("starting")) as status:
        yield lambda name: status.update(_("grading {name}").format(name=name))


def remember(root: Path, results: Sequence[ExerciseResult]) -> None:
    """Keep outcomes for `grader`; a course folder that cannot be written costs only that."""
    kept = recall(root)
    for result in results:
        found = result.diagnosis
        kept[result.name] = {
            "outcome": result.outcome,
            "score": result.score,
            "content": result.content,
            "asks": found.asks,  # for `grader hint`, one level more at a time
            "page": found.alternatives[0][0] if found.alternatives else "",
        }
    path = root / FILE
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, json.dumps(kept, indent=1, sort_keys=True).encode())


def recall(root: Path) -> dict[str, dict[str, Any]]:
    """Outcomes by exercise, as far as they are known."""
    try:
        kept = json.loads((root / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in kept.items() if isinstance(v, dict)} if isinstance(kept, dict) else {}
