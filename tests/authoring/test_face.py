"""Cases, variants, mistakes and mutants import from the grader only `grader.authoring`, which has all they need."""

import ast
import subprocess
import sys

import pytest
from helpers.command_line import ROOT

import grader.authoring

WRITTEN = sorted(
    path
    for pattern in ("*/cases.py", "*/variants.py", "*/mistakes/*.py", "*/mutants/*.py")
    for path in (ROOT / "solutions").glob(pattern)
)


def test_every_kind_of_file_is_checked():
    assert {path.parent.name for path in WRITTEN} >= {"mistakes", "mutants", "02_masking"}


@pytest.mark.parametrize("path", WRITTEN, ids=[str(p.relative_to(ROOT / "solutions")) for p in WRITTEN])
def test_solutions_import_only_from_grader_authoring(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("grader"):
            assert node.module == "grader.authoring", ast.unparse(node)
            assert {alias.name for alias in node.names} <= set(grader.authoring.__all__)
        elif isinstance(node, ast.Import):
            assert not any(alias.name.startswith("grader") for alias in node.names), ast.unparse(node)


def test_every_exported_name_exists():
    for name in grader.authoring.__all__:
        assert getattr(grader.authoring, name) is not None


def test_grader_authoring_does_not_import_torch():
    code = "import sys, grader.authoring; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
