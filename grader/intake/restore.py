"""Put one definition of a student's file back to how it was handed out, and leave the rest alone."""

from __future__ import annotations

import ast
import io
import json

from grader.support.i18n import _
from grader.support.source import definition_span


class CannotRestore(ValueError):
    """The file does not allow it; the message says why."""


def restored(text: str, name: str, stub: str, *, notebook: bool) -> str:
    """The file's text with every definition of `name` replaced by the stub's. Raises CannotRestore."""
    start, stop = definition_span(stub, name)
    handed_out = stub[start:stop]
    if not text.strip() and not notebook:
        return stub
    return _in_notebook(text, name, handed_out) if notebook else _in_script(text, name, handed_out)


def _in_script(text: str, name: str, handed_out: str) -> str:
    try:
        spans = _spans(text, name)
    except SyntaxError as error:
        raise CannotRestore(
            _("line {line} does not parse, so {name} cannot be found; mend or delete it first").format(
                line=error.lineno, name=name
            )
        ) from None
    if not spans:
        return text.rstrip("\n") + "\n\n\n" + handed_out
    for start, stop in reversed(spans[1:]):
        text = text[:start] + text[stop:]
    start, stop = spans[0]
    return text[:start] + handed_out + text[stop:]


def _spans(text: str, name: str) -> list[tuple[int, int]]:
    """Where the top-level definitions of a name stand, as offsets."""
    lines = list(io.StringIO(text))  # as Python counts lines; `splitlines` also ends them at a form feed
    out = []
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            out.append((sum(map(len, lines[: first - 1])), sum(map(len, lines[: node.end_lineno]))))
    return out


def _in_notebook(text: str, name: str, handed_out: str) -> str:
    try:
        book = json.loads(text)
        cells = [c for c in book["cells"] if c["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError):
        raise CannotRestore(_("the notebook cannot be read; take a fresh copy of it")) from None
    done = False
    for cell, source in zip(cells, sources, strict=True):
        try:
            holds = bool(_spans(source, name))
        except SyntaxError:
            holds = cell.get("metadata", {}).get("headway") == name
            source = handed_out if holds else source
        if holds:
            cell["source"] = _in_script(source, name, handed_out).rstrip("\n")
            done = True
    if not done:
        raise CannotRestore(_("no cell defines {name}; take a fresh copy of the notebook").format(name=name))
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"
