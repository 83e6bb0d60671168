"""Use the grader as a student does, in processes that see another platform (see `other_platform.py`) or this one."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mypy
import nbclient
import nbformat

from helpers.command_line import HANGS_AFTER

# Typeshed says which names the standard library has on each platform.
TYPESHED = Path(mypy.__file__).parent / "typeshed" / "stdlib"
PLATFORMS = ("win32", "darwin")
COMMAND = "from grader.cli import run; run()"
PYTEST = "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
READY = "q quit"  # the last words that `grader watch` shows after a grading


def start(platform: str) -> str:
    """Return code that must run before the grader is imported. platform: "win32", "darwin", or "" for this one."""
    if not platform:
        return "import sys\n"
    helpers = str(Path(__file__).parent)
    return (
        f"import sys; sys.path.insert(0, {helpers!r}); import other_platform\n"
        f"other_platform.install({platform!r}, {str(TYPESHED)!r})\n"
    )


@dataclass(frozen=True)
class Student:
    """A student's Python interpreter with the grader, run in a course folder.

    platform: the platform that the grader sees, as in `start`. variables: added to the environment.
    """

    platform: str
    python: Path
    course: Path
    variables: dict[str, str]

    def run(self, *words: str, code: str = COMMAND) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._command(code, *words),
            cwd=self.course,
            env=self._environment(),
            capture_output=True,
            encoding="utf-8",
            timeout=HANGS_AFTER,
        )

    @contextlib.contextmanager
    def watch(self, exercise: str) -> Iterator[int]:
        """Run `grader watch` in a pseudo-terminal. Yield its master end after the first grading; then press `q`."""
        end, terminal = pty.openpty()
        watch = subprocess.Popen(
            self._command(COMMAND, "watch", exercise),
            cwd=self.course,
            env=self._environment(),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)
        try:
            until(end, READY)
            yield end
            os.write(end, b"q\n")  # with a newline: the stand-in for Windows' keyboard reads whole lines
            assert watch.wait(20) == 0
        finally:
            watch.kill()
            watch.wait()
            os.close(end)

    def execute(self, folder: Path, sources: list[str]) -> list[Any]:
        """Execute cells in a kernel that works in `folder`, without a notebook file. Return the outputs of each cell."""
        close = "from grader.student import notebook_check\nnotebook_check._grader.close()"
        cells = [nbformat.v4.new_code_cell(text) for text in (start(self.platform), *sources, close)]
        book = nbformat.v4.new_notebook(cells=cells)
        kernels = self.course.parent / "jupyter"
        spec = kernels / "kernels" / "student" / "kernel.json"
        spec.parent.mkdir(parents=True, exist_ok=True)
        kernel = [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec.write_text(
            json.dumps({"argv": kernel, "display_name": "student", "language": "python"}), "utf-8"
        )
        before = os.environ.get("JUPYTER_PATH")
        os.environ["JUPYTER_PATH"] = str(kernels)
        try:
            nbclient.NotebookClient(
                book,
                timeout=HANGS_AFTER,
                kernel_name="student",
                resources={"metadata": {"path": str(folder)}},
            ).execute(env=self._environment())
        finally:
            del os.environ["JUPYTER_PATH"]
            if before is not None:
                os.environ["JUPYTER_PATH"] = before
        return [cell.outputs for cell in book.cells[1:-1]]

    def _command(self, code: str, *words: str) -> list[str]:
        return [str(self.python), "-P", "-c", start(self.platform) + code, *words]

    def _environment(self) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "GITHUB", "PYTHON"))}
        return {**inherited, "PYTHONDONTWRITEBYTECODE": "1", **self.variables}


def points(outputs: Any) -> float:
    """Return the points that `check()` returned in a cell. outputs: the outputs of this cell."""
    return float(next(o for o in outputs if o.output_type == "execute_result")["data"]["text/plain"])


def until(end: int, text: str, seconds: float = HANGS_AFTER) -> str:
    """Read the output of a terminal until `text` appears. Return this output.

    Raises AssertionError if `text` does not appear in `seconds`.
    """
    shown, deadline = b"", time.monotonic() + seconds
    while text.encode() not in shown:
        assert time.monotonic() < deadline, shown.decode("utf-8", "replace")
        if select.select([end], [], [], 0.1)[0]:
            shown += os.read(end, 1 << 16)
    return shown.decode("utf-8", "replace")
