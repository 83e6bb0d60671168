"""The folder for results that the grader can compute again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Return the grader's folder in the user's cache: `$XDG_CACHE_HOME/headway`, or the platform's default."""
    named = os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named) / "headway"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "headway"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "headway"
    return Path.home() / ".cache" / "headway"
