"""The worker imports no other package of the grader; the parent of workers imports no torch and no notebook library.

Only the package `nbgrader/` imports nbgrader and the libraries nbconvert and traitlets.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

GRADER = Path(__file__).resolve().parents[1] / "grader"


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports, and the dotted names that it imports from modules."""
    out = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            out |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return out


def loaded_by(statement: str) -> list[str]:
    """Return the modules that a new Python process has loaded after a statement."""
    code = f"{statement}; import sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("path", sorted((GRADER / "worker").glob("*.py")), ids=lambda p: p.stem)
def test_the_worker_imports_only_its_own_package(path):
    ours = {name for name in imported(path) if name.startswith("grader.")}
    assert all(name.startswith("grader.worker") for name in ours), ours


def test_the_worker_loads_only_its_own_package():
    loaded = [m for m in loaded_by("import grader.worker.main") if m.startswith("grader.")]
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
def test_a_module_of_the_parent_imports_no_torch(module):
    assert "torch" not in loaded_by(f"import {module}")


@pytest.mark.parametrize("module", ["nbformat", "jupytext", "nbgrader", "hypothesis"])
def test_a_check_imports_no_notebook_library(module):
    assert module not in loaded_by("import grader.student.check")


def test_importing_the_package_loads_none_of_its_modules():
    assert not [m for m in loaded_by("import grader") if m.startswith("grader.")]


@pytest.mark.parametrize("module", ["torch", "nbformat", "IPython", "nbgrader"])
def test_importing_check_for_a_notebook_loads_no_library(module):
    assert module not in loaded_by("from grader import check")


def test_only_the_package_nbgrader_imports_nbgrader():
    outside = [path for path in GRADER.rglob("*.py") if "nbgrader" not in path.relative_to(GRADER).parts]
    assert [
        path
        for path in outside
        if any(name.split(".")[0] in ("nbgrader", "nbconvert", "traitlets") for name in imported(path))
    ] == []
