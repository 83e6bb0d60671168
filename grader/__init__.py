"""Headway: exercises on attention and Transformers, and a grader that names known mistakes in wrong answers."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Load `check` and `__version__` on first use, so that `import grader` is fast."""
    if name == "check":
        from grader.student.notebook_check import check

        return check
    if name == "__version__":
        from grader.support.version import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
