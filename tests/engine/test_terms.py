"""What depends on the reader of a report, or on the author of a file, is decided once and asked in one place."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import pytest

from grader.engine.grading import FOREIGN, HIDDEN, PUBLIC, Terms, of_strangers

GRADER = Path(__file__).resolve().parents[2] / "grader"


def readers(field: str) -> set[str]:
    """Return the modules that read a field of `terms`."""
    found = set()
    for path in GRADER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            is_field = isinstance(node, ast.Attribute) and node.attr == field
            if is_field and ast.unparse(node.value).rpartition(".")[2] == "terms":
                found.add(path.relative_to(GRADER).as_posix())
    return found


@pytest.mark.parametrize("field", [field.name for field in fields(Terms)])
def test_each_field_is_read_in_one_module(field):
    assert len(readers(field)) == 1, readers(field)


def test_no_two_terms_are_equal():
    assert len({PUBLIC, HIDDEN, FOREIGN, of_strangers(HIDDEN)}) == 4
