"""Replace one definition in a student's file by the original stub, and leave the rest alone."""

from __future__ import annotations

import ast
import io
import json

from grader.intake.syntax import CannotParse, parse
from grader.support.code import definition_span
from grader.support.errors import GraderError
from grader.support.i18n import _


class CannotRestore(GraderError, ValueError):
    """The definition cannot be restored in this file; the message says why."""


def restored(text: str, name: str, stub: str, *, notebook: bool) -> str:
    """Return the file's text with the stub's definition of `name` instead of its own. Raises CannotRestore.

    In a script, or in a cell, the first definition is replaced and others are removed. A script that has none gets
    the stub's at its end, and an empty script becomes the whole stub. A cell that does not parse, and whose metadata
    names the exercise, becomes the stub's definition.
    """
    start, stop = definition_span(stub, name)
    original = stub[start:stop]
    if not text.strip() and not notebook:
        return stub
    return _in_notebook(text, name, original) if notebook else _in_script(text, name, original)


def _in_script(text: str, name: str, original: str) -> str:
    try:
        spans = _spans(text, name)
    except CannotParse as error:
        says = _("the file does not parse ({reason}), so {name} cannot be found; fix or delete that line")
        raise CannotRestore(says.format(reason=error, name=name)) from None
    if not spans:
        return text.rstrip("\n") + "\n\n\n" + original
    for start, stop in reversed(spans[1:]):
        text = text[:start] + text[stop:]
    start, stop = spans[0]
    return text[:start] + original + text[stop:]


def _spans(text: str, name: str) -> list[tuple[int, int]]:
    # This ends lines where Python does; `splitlines` also ends them at a form feed.
    lines = list(io.StringIO(text, newline=""))
    out = []
    for node in parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            out.append((sum(map(len, lines[: first - 1])), sum(map(len, lines[: node.end_lineno]))))
    return out


def _in_notebook(text: str, name: str, original: str) -> str:
    try:
        book = json.loads(text)
        cells = [c for c in book["cells"] if c["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CannotRestore(_("the notebook cannot be read; take a fresh copy of it")) from None
    done = False
    for cell, source in zip(cells, sources, strict=True):
        try:
            holds = bool(_spans(source, name))
        except CannotParse:
            metadata = cell.get("metadata")
            holds = isinstance(metadata, dict) and metadata.get("headway") == name
            source = original if holds else source
        if holds:
            cell["source"] = _in_script(source, name, original).rstrip("\n")
            done = True
    if not done:
        raise CannotRestore(_("no cell defines {name}; take a fresh copy of the notebook").format(name=name))
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"
