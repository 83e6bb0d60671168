"""What a new process loads: the worker no other package of the grader, its parent no torch and no notebook library.

test_architecture.py says which packages a package may use.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

GRADER = Path(__file__).resolve().parents[1] / "grader"
NOTEBOOKS = {"nbformat", "jupytext", "nbgrader", "hypothesis", "IPython"}


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a new Python process has loaded after a statement."""
    code = f"{statement}; import sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_worker_loads_only_its_own_package():
    loaded = {m for m in loaded_by("import grader.worker.main") if m.startswith("grader.")}
    assert {m.split(".")[1] for m in loaded} == {"worker"}


@pytest.mark.parametrize(
    "module",
    [
        "cli.check",
        "student.check",
        "report.terminal",
        "student.pytest_plugin",
        "cli.overview",
        "release.folder",
    ],
)
def test_a_module_of_the_parent_imports_no_torch_and_no_notebook_library(module):
    assert not loaded_by(f"import grader.{module}") & {"torch", *NOTEBOOKS}


def test_a_report_in_a_terminal_imports_no_jinja2():
    assert "jinja2" not in loaded_by("import grader.report.terminal")


def test_importing_the_package_loads_none_of_its_modules():
    assert not [m for m in loaded_by("import grader") if m.startswith("grader.")]
    assert not loaded_by("from grader import check") & {"torch", *NOTEBOOKS}


def imported(path: Path) -> set[str]:
    """Return the top-level packages that a file imports."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names}


def test_only_the_package_nbgrader_imports_nbgrader():
    outside = [path for path in GRADER.rglob("*.py") if "nbgrader" not in path.relative_to(GRADER).parts]
    assert [path for path in outside if imported(path) & {"nbgrader", "nbconvert", "traitlets"}] == []
