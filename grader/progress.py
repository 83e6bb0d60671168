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
from grader.session import Training

FILE = ".headway/progress.json"
BAR = 24  # characters


class Line:
    """One line on the screen: which exercise is being graded and, while something trains, how far it is."""

    def __init__(self, show: Callable[[str], None]):
        self._show = show

    def __call__(self, name: str) -> None:
        self._show(_("grading {name}").format(name=name))

    def training(self, title: str, training: Training) -> None:
        self._show(bar(title, training))


def bar(title: str, training: Training) -> str:
    """ "train, reverse ━━━━━━───── 250/500 loss 0.312"."""
    full = BAR * training.done // max(1, training.steps)
    loss = "" if training.loss is None else _(" loss {loss:.3f}").format(loss=training.loss)
    return f"{title} {'━' * full}{'─' * (BAR - full)} {training.done}/{training.steps}{loss}"


@contextlib.contextmanager
def line(quiet: bool) -> Iterator[Line]:
    """Yield what shows how far the grading is; nothing is left on the screen."""
    if quiet or not sys.stderr.isatty():
        yield Line(lambda text: None)
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    with console.status(_("starting")) as status:
        yield Line(status.update)


def remember(root: Path, results: Sequence[ExerciseResult]) -> None:
    """Keep outcomes for `grader`; a course folder that cannot be written costs only that."""
    kept = recall(root)
    for result in results:
        if result.partial and result.outcome == "passed":
            continue  # a quick check is no verdict
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
