"""Every page is made from templates that escape: no HTML in Python code, and nothing marked as safe."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from grader.report.html import FOLDER, environment, sentence

GRADER = FOLDER.parent
TEMPLATES = sorted(GRADER.rglob("*.jinja"))
TAG = re.compile(r"</?(a|b|body|code|div|h[1-6]|html|p|pre|span|style|svg|strong|table|t[dhr])( [a-z-]+=|>)")


def strings(path: Path) -> list[str]:
    """Return the string constants of a module, with those of f-strings."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_no_module_writes_html():
    modules = sorted(GRADER.rglob("*.py"))
    assert len(modules) > 100
    assert [(p.name, text) for p in modules for text in strings(p) if TAG.search(text)] == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_turns_escaping_off(path):
    assert not re.search(r"\|\s*safe|autoescape|Markup", path.read_text("utf-8"))


def test_values_are_escaped():
    assert "&lt;b&gt;" in sentence("<b>")


def test_a_misspelt_name_in_a_template_raises():
    with pytest.raises(UndefinedError):
        environment(FOLDER).from_string("{{ reprot }}").render()


def test_a_report_in_a_terminal_imports_no_jinja2():
    code = "import grader.report.terminal, grader.report.html, sys; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
