"""Start commands in a process that sees another platform; see `other_platform.py`."""

from __future__ import annotations

from pathlib import Path

import mypy

TYPESHED = Path(mypy.__file__).parent / "typeshed" / "stdlib"
PLATFORMS = ("win32", "darwin")
COMMAND = "from grader.cli import run; run()"
PYTEST = "import pytest; sys.exit(pytest.main(sys.argv[1:]))"


def start(platform: str) -> str:
    """Return code that must run before the grader is imported."""
    helpers = str(Path(__file__).parent)
    return (
        f"import sys; sys.path.insert(0, {helpers!r}); import other_platform\n"
        f"other_platform.install({platform!r}, {str(TYPESHED)!r})\n"
    )
