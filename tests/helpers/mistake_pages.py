"""Run the example of a mistake's page at a Python prompt, with the reference or with the mistake."""

import ast
import contextlib
import doctest
import warnings
from typing import Any

import torch

SEEDS = range(2)  # weights, inputs and dropout are random, as they are for a student
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.FAIL_FAST


def examples(page: str) -> list[doctest.Example]:
    """Return the statements of a page's example, each with what a right answer prints."""
    return doctest.DocTestParser().get_examples(page)


def names(source: str, page: str) -> dict[str, Any]:
    """Return what the module of a lesson imports and defines, and the values that a page's example uses from it."""
    statements: list[ast.stmt] = []
    for node in ast.parse(source).body:
        # A demonstration is in a `try`, which catches the NotImplementedError of an empty stub.
        statements += node.body if isinstance(node, ast.Try) else [node]
    wanted = _read(ast.parse("".join(e.source for e in examples(page))))
    needed: list[ast.stmt] = []
    for node in reversed(statements):
        if isinstance(node, ast.Assign):
            # An assignment without calls is always needed, because functions may read its names.
            calls = any(isinstance(part, ast.Call) for part in ast.walk(node.value))
            if calls and not wanted & set().union(*map(_read, node.targets)):
                continue
            wanted |= _read(node.value)
        elif not isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
            continue
        needed.append(node)
    defined: dict[str, Any] = {}
    for node in reversed(needed):
        with contextlib.suppress(Exception):  # a mistake may raise one in a demonstration
            exec(compile(ast.Module([node], []), "lesson", "exec"), defined)
    return defined


def _read(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def prints_what_the_page_says(page: str, source: str) -> list[bool]:
    """Run the example of a page after the code of a lesson, once per seed: does it print what the page says?"""
    results = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        defined = names(source, page)
        test = doctest.DocTestParser().get_doctest(page, defined, "example", None, None)
        test.globs = defined  # not a copy: the functions of the lesson read the same names
        runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append(not runner.run(test, out=lambda text: None).failed)
    return results
