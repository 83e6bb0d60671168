"""The code that a student wrote: its hash, to find equal answers; copies of building blocks; how it is undone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from functools import cache, lru_cache

from grader import given
from grader.intake.names import read_names, stub_names
from grader.intake.read import Submission
from grader.intake.syntax import fault_of, parse, syntax_error
from grader.support.code import definition_span, definition_spans
from grader.support.errors import UsageError
from grader.support.i18n import _

LEAST_LINES = 4  # shorter answers are often equal by chance


def own_tree(submission: Submission, stubs: tuple[str, ...]) -> str:
    """Return a hash of the functions and classes that a student wrote; "" if they have fewer than LEAST_LINES lines.

    The hash is equal for files that differ only in comments, layout and order. Definitions that are equal to one in a
    stub do not count.
    """
    defined = read_names(submission).definitions.values()
    own = [d for d in defined if d.kind != "name" and d.tree not in _trees(stubs)]
    if sum(d.end - d.line + 1 for d in own) < LEAST_LINES:
        return ""
    return hashlib.sha256("".join(sorted(d.tree for d in own)).encode()).hexdigest()


def copied_blocks(submission: Submission, exercises: Collection[str]) -> list[str]:
    """Return the exercises whose building block a file holds, under any name and with any comments and docstrings."""
    names = read_names(submission)
    found = {definition.tree for definition in (*names.definitions.values(), *names.replaced)}
    return [name for name in exercises if name in given.BLOCKS and _of_block(name) in found]


@cache
def _of_block(name: str) -> str:
    return stub_names(given.source(name)).definitions[name].tree


@lru_cache(maxsize=1)
def _trees(stubs: tuple[str, ...]) -> frozenset[str]:
    return frozenset(d.tree for stub in stubs for d in stub_names(stub).definitions.values())


def restored(text: str, name: str, stub: str, *, notebook: bool) -> str:
    """Return the file's text with the stub's definition of `name` instead of its own.

    In a script, or in a cell, the first definition is replaced and others are removed. A script that has none gets
    the stub's at its end, and an empty script becomes the whole stub. A cell that does not parse, and whose metadata
    names the exercise, becomes the stub's definition.

    Raises UsageError if the file cannot be read as Python or as a notebook, or if no cell defines `name`.
    """
    start, stop = definition_span(stub, name)
    original = stub[start:stop]
    if notebook:
        return _in_notebook(text, name, original)
    try:
        return _in_script(text, name, original) if text.strip() else stub
    except SyntaxError as error:
        says = _("the file does not parse ({reason}), so {name} cannot be found; fix or delete that line")
        raise UsageError(says.format(reason=fault_of(error, "", "").why, name=name)) from None


def _in_script(text: str, name: str, original: str) -> str:
    spans = definition_spans(text, parse(text), name)
    for start, stop in reversed(spans):
        text = text[:start] + (original if start == spans[0][0] else "") + text[stop:]
    return text if spans else text.rstrip("\n") + "\n\n\n" + original


def _in_notebook(text: str, name: str, original: str) -> str:
    try:
        book = json.loads(text)
        cells = [c for c in book["cells"] if c["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(_("the notebook cannot be read; take a fresh copy of it")) from None
    done = False
    for cell, source in zip(cells, sources, strict=True):
        metadata, error = cell.get("metadata"), syntax_error(source)
        if error and isinstance(metadata, dict) and metadata.get("headway") == name:
            cell["source"], done = original.rstrip("\n"), True
        elif not error and definition_spans(source, parse(source), name):
            cell["source"], done = _in_script(source, name, original).rstrip("\n"), True
    if not done:
        raise UsageError(_("no cell defines {name}; take a fresh copy of the notebook").format(name=name))
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"
