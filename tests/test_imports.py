"""Who may know whom: the worker knows nothing of the answer side, and the parent needs no torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

GRADER = Path(__file__).resolve().parents[1] / "grader"


def imported(path: Path) -> set[str]:
    out = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            out |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return out


@pytest.mark.parametrize("path", sorted((GRADER / "worker").glob("*.py")), ids=lambda p: p.stem)
def test_the_worker_imports_nothing_of_the_answer_side(path):
    ours = {name for name in imported(path) if name.startswith("grader.")}
    assert all(name.startswith("grader.worker") for name in ours), ours


def test_the_worker_has_none_of_it_in_memory_either():
    code = (
        "import grader.worker.main, sys; print(' '.join(m for m in sys.modules if m.startswith('grader.')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert loaded
    assert not [m for m in loaded if m.split(".")[1] != "worker"]


@pytest.mark.parametrize(
    "module",
    [
        "grader.cli.check",
        "grader.student.check",
        "grader.report.terminal",
        "grader.student.pytest_plugin",
        "grader.cli.overview",
    ],
)
def test_the_parent_needs_no_torch(module):
    code = f"import {module}, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("module", ["nbformat", "jupytext", "nbgrader", "hypothesis"])
def test_a_check_imports_no_notebook_library(module):
    code = f"import grader.student.check, sys; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_importing_the_package_costs_nothing():
    code = "import grader, sys; sys.exit(any(m.startswith('grader.') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("module", ["torch", "nbformat", "IPython", "nbgrader"])
def test_check_in_a_notebook_brings_nothing_along(module):
    code = f"from grader import check; import sys; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_only_its_own_room_knows_nbgrader():
    outside = [path for path in GRADER.rglob("*.py") if "nbgrader" not in path.relative_to(GRADER).parts]
    assert [
        path
        for path in outside
        if any(name.split(".")[0] in ("nbgrader", "nbconvert", "traitlets") for name in imported(path))
    ] == []
