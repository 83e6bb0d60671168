"""Find definitions of exercises at places that are not graded: in comments, in text, inside a function.

A line that begins a definition is found in the same way everywhere: marks in front of it (`#`, `>`, a prompt) do not
count, and the lines below it must be the rest of the definition. Where it stands decides what is to change:

| place | it stands in |
|---|---|
| comments | comments of code |
| string | a string of code |
| inside | a function or class; `where` is its name |
| markdown, raw | a cell of this type |
| magic | a cell of another language; `where` is its first line |
| notes | the text of notes, not in a block of Python |
| book | code, as the class of the book that stands for the function of the course |
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice, takewhile

from grader.intake.names import Names, plain
from grader.intake.read import Submission
from grader.intake.recognise import COMMON
from grader.intake.syntax import parse, syntax_error

BOOK = {"NWKernelRegression": "kernel_regression"}
MOST_TRIED = 20  # lines that are tried as the first of a definition
_MARKS = re.compile(r"[ \t]*(?:#+|(?:>[ \t]?)+|>>>|\.\.\.:?|In ?\[[\d *]{0,9}\]:)[ \t]?")
_HEADER = re.compile(
    rf"^(?P<marks>(?:{_MARKS.pattern})?)[ \t]*(?:class|(?:async[ \t]+)?def)[ \t]+(?P<name>\w++)[ \t]*[(:]",
    re.M,
)


@dataclass(frozen=True)
class Elsewhere:
    """A definition of an exercise that is not graded. line, end: its first and last line. place, where: see above."""

    exercise: str
    name: str
    file: str
    line: int
    end: int
    place: str
    where: str = ""


def elsewhere(submission: Submission, names: Names, exercises: Collection[str]) -> list[Elsewhere]:
    """Return where definitions of these exercises stand; of an exercise, only the first place.

    names: the definitions of the submission.
    """
    wanted = {plain(name): name for name in exercises if name not in COMMON}
    texts = (*submission.units, *submission.unread)
    headers = ((text, header) for text in texts for header in _HEADER.finditer(text.source))
    tried = ((text, header) for text, header in headers if plain(header["name"]) in wanted)
    found: dict[str, Elsewhere] = {}
    for text, header in islice(tried, MOST_TRIED):
        line = text.source.count("\n", 0, header.start()) + 1
        end = line + _lines_below(text.source, header)
        place, where = (text.place, "") if text.place else _around(text.source, line, header)
        if place == "magic":
            where = text.source.strip().partition("\n")[0]
        if place and end > line:
            exercise = wanted[plain(header["name"])]
            here = Elsewhere(exercise, header["name"], text.name, line, end, place, where)
            found.setdefault(exercise, here)
    for name, exercise in BOOK.items():
        if exercise in exercises and (one := names.definitions.get(name)):
            found.setdefault(exercise, Elsewhere(exercise, name, one.unit, one.line, one.end, "book"))
    return list(found.values())


def _lines_below(source: str, header: re.Match[str]) -> int:
    """Return how many lines below a header belong to its definition; 0 if they are not the rest of a definition."""
    lines, marks = source[header.start() :].split("\n"), header["marks"].strip()
    if marks.startswith("#"):
        lines = [*takewhile(lambda line: not line.strip() or line.lstrip().startswith("#"), lines)]
    if marks:
        lines = [line[found.end() :] if (found := _MARKS.match(line)) else line for line in lines]
    first, *rest = lines
    deeper = len(first) - len(first.lstrip()) + 1
    body = takewhile(lambda line: not line[:deeper].strip() or line.lstrip().startswith(")"), rest)
    code = textwrap.dedent("\n".join((first, *body))).rstrip()
    return code.count("\n") if syntax_error(code) is None else 0


def _around(source: str, line: int, header: re.Match[str]) -> tuple[str, str]:
    """Return the place of a header in code, and the name of what it is in; "" for one at the top level."""
    if header["marks"].strip().startswith("#"):
        return "comments", ""
    ends = ((node, getattr(node, "end_lineno", 0) or 0) for node in ast.walk(parse(source)))
    around = [node for node, end in ends if getattr(node, "lineno", line) < line <= end]
    if any(isinstance(node, ast.Constant) and isinstance(node.value, str) for node in around):
        return "string", ""
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    outer = (node for node in around if isinstance(node, definitions))
    return next((("inside", node.name) for node in outer), ("", ""))
