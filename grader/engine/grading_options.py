"""The options of an engine. They are set when it is made and never change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.engine.session import Training


def _ignore(*_progress: object) -> None:
    """Discard progress."""


@dataclass(frozen=True)
class GradingOptions:
    """Options of one engine.

    device: "cpu", "sim" or "cuda".
    hidden: the cases are hidden; results are redacted before anyone sees them.
    quick: skip costly cases (the longest training).
    foreign: the file was not written for the course, and its points are not recorded.
    reuse_worker: all sources are trusted, so one worker may serve them all.
    torch_version: the version of torch that the report names.
    cache: the folder of cached results of exercises that take long; None grades every time.
    on_exercise: called with the name of each exercise before the exercise is graded.
    on_training: called with a title and the state of a training while it runs.
    """

    device: str = "cpu"
    hidden: bool = False
    quick: bool = False
    foreign: bool = False
    reuse_worker: bool = False
    torch_version: str = ""
    cache: Path | None = None
    on_exercise: Callable[[str], None] = _ignore
    on_training: Callable[[str, Training], None] = _ignore


DEFAULTS = GradingOptions()
