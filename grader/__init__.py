"""Headway: exercises on attention and Transformers, and a grader that says which mistake it is."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`from grader import check`, for notebooks; loaded when it is asked for, so that importing this costs nothing."""
    if name == "check":
        from grader.notebook import check

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
