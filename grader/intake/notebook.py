"""The code of notebooks, and of notes: fenced blocks of Markdown, and cells that were copied as text below `In [3]:`.

Every line of code keeps its line number; lines of notes that are no code become empty.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from grader.intake.syntax import Fault, around_error, check_sources, parse, syntax_error
from grader.support.errors import BadData
from grader.support.i18n import _

# A line that only IPython understands: a magic, a shell line, help; also behind `files =`, and with the lines that a
# backslash adds to it.
_MAGIC = re.compile(
    r"^(?P<kept>[ \t]*(?:[A-Za-z_][\w, ]*=[ \t]*(?=!|%[A-Za-z_]))?)"
    r"(?:%{1,2}[A-Za-z_]|!|\?|[A-Za-z_][\w.\[\]]*\?{1,2}[ \t]*$).*(?:(?<=\\)\n.*)*",
    re.M,
)
# A cell of another language, or one that writes another file than one of Python. Any other cell that begins with a `%%`
# magic counts only if it parses as Python; the magics that this pattern excludes are always followed by Python.
_OTHER_CELL = re.compile(
    r"%%(?!(?:time|timeit|capture|prun)\b|(?:writefile|file)\b.*\.py\W*$)"
    r"(?P<foreign>(?:bash|sh|script|html|javascript|js|latex|markdown|perl|ruby|svg|cmd|R|writefile|file)\b)?"
)
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which JSON can express and UTF-8 cannot encode
MAX_MAGICS = 16  # lines of one cell that are replaced one by one; the cell is parsed again for each
CHECKS = re.compile(r"\s*(?:check\([^()]*\)[\s;]*)+")  # a cell that only checks: it is no part of an answer


def cells_of(text: str) -> list[tuple[int, str, str]]:
    """Return number, source and type of every cell in order; the type is "" for code. Numbers count all cells from 1.

    The source is as it was typed: see `plain_python`. Cells that only call `check` are left out.
    Raises BadData if the text is no notebook.
    """
    cells = [(number, cell) for number, cell in enumerate(_cells(text), 1) if isinstance(cell, dict)]
    found = [(number, _source(cell), _kind(cell)) for number, cell in cells]
    return [one for one in found if one[2] or not CHECKS.fullmatch(one[1])]


def _cells(text: str) -> list[object]:
    try:
        book = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)  # there is none for a number of thousands of digits
        why = _("line {line} is not JSON").format(line=line) if line else _("it is not JSON")
        if isinstance(error, RecursionError):
            why = _("it is nested too deeply")
        raise BadData(why) from None
    match book:
        case {"cells": list(cells)}:
            return cells
        case {"worksheets": list(sheets)} if book.get("cells") is None:  # format 3
            parts = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
            return [cell for part in parts if isinstance(part, list) for cell in part]
    raise BadData(_("it has no list of cells"))


def _kind(cell: dict[str, object]) -> str:
    """Return "" for a cell of code, or one that was released as code for the student to write; its type may have changed."""
    match cell:
        case {"cell_type": "code"} | {"metadata": {"nbgrader": {"solution": True, "cell_type": "code"}}}:
            return ""
    return "markdown" if cell.get("cell_type") == "markdown" else "raw"


def _source(cell: dict[str, object]) -> str:
    source = cell.get("source", cell.get("input", ""))  # "input" in format 3
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return SURROGATE.sub("\ufffd", source) if isinstance(source, str) else ""


def plain_python(source: str) -> str:
    """Replace the syntax that only IPython understands; keep every line in its place.

    Only lines at which Python cannot go on are replaced, so that a line in a string that looks like a magic stays. If
    Python stops at a line that is not a magic, the cell has a syntax error, and all magics are replaced.
    A cell in another language, such as `%%bash`, becomes empty lines.
    """
    # Python ends a line at \r, too.
    source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    first, blank = source.lstrip().partition("\n")[0], "\n" * source.count("\n")
    other = _OTHER_CELL.match(first)
    if other and other["foreign"]:
        return blank
    plain = _one_by_one(source) or _MAGIC.sub(_plain, source)
    return blank if other and syntax_error(plain) else plain


def _one_by_one(source: str) -> str | None:
    """Replace one magic after another until the cell parses; return None if it never does."""
    magics = {source.count("\n", 0, magic.start()) + 1: magic for magic in _MAGIC.finditer(source)}
    lines = source.split("\n")
    for _attempt in range(MAX_MAGICS):
        error = syntax_error("\n".join(lines))
        if error is None:
            return "\n".join(lines)
        magic = magics.pop(error.lineno or 0, None)
        if magic is None:
            return None
        at, plain = (error.lineno or 0) - 1, _plain(magic).split("\n")
        lines[at : at + len(plain)] = plain
    return None


def _plain(magic: re.Match[str]) -> str:
    return f"{magic['kept']}{'None' if '=' in magic['kept'] else 'pass'}" + "\n" * magic[0].count("\n")


_QUOTE = r"[ \t]{0,3}> ?"
# The possessive quantifiers keep the time linear; `tests/test_patterns.py` measures it.
_FENCE = re.compile(r"(?P<quotes>(?:[ \t]{0,4}>)*)[ \t]*(?P<mark>`{3,}+|~{3,}+)(?P<info>[^`\n]*)$")
_CELL = re.compile(r"In ?\[(?:None|[\d *]{0,9})\]:[ \t]*(?P<source>.*)$")
_OUTPUT = re.compile(r"Out ?\[\d{1,9}\]:")
_LANGUAGE = re.compile(r"\{?\.?(?:code-cell\}?[ \t]*)?(?P<name>[\w+#-]*)")
_TAB = re.compile(r"\s*(?:#@tab|%%tab)[^\S\n]++([^\n]*)\n")  # a first line such as `#@tab pytorch`
_PROMPT = re.compile(r"(?:>>>|\.\.\.)(?: |$)")
_PYTHON = re.compile(r"(?:jupyter-|i)?python3?|py3?|pycon|doctest")
MAX_QUOTES = 8  # nested quotations
_FIRST_WORDS = re.compile(r"^(?:class|def|import|from)\b", re.M)


@dataclass
class Block:
    """Lines that may be code: a fenced block or a copied cell."""

    first: int  # the number of its first line, from 0
    language: str | None  # as the block names it, "" if it names none; None for a copied cell
    fence: str = ""  # the mark that ends it; "" for a copied cell
    quotes: int = 0  # how many marks `>` are in front of each line
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The code; of what was typed at Python's prompt, with empty lines for its output."""
        text = textwrap.dedent("\n".join(self.lines))
        if not text.lstrip("\n").startswith(">>> "):
            return text
        return "\n".join(line[4:] if _PROMPT.match(line) else "" for line in text.split("\n"))


def code_of_notes(text: str, unit: str) -> tuple[str, tuple[Fault, ...], str]:
    """Return the code of a document as one source, its syntax errors, and the text without its code.

    If a block has a tab for pytorch, fenced blocks without a tab for pytorch or for all are neither code nor text.
    An error in a block does not affect other blocks. Raises BadData.
    """
    blocks = [*_blocks(text)]
    check_sources(block.text for block in blocks)
    tabs = [found[1] if (found := _TAB.match(block.text)) else "" for block in blocks]
    several = any("pytorch" in tab for tab in tabs)
    rest, faults = text.split("\n"), []
    source = [""] * len(rest)
    for block, tab in zip(blocks, tabs, strict=True):
        code, fault = around_error(plain_python(block.text), unit)
        is_fenced = block.language is not None
        is_of_another = several and is_fenced and not re.search(r"\b(?:pytorch|all)\b", tab)
        if not is_of_another and not _is_python(block, code, fault):
            continue
        kept = code.split("\n")
        lines = slice(block.first, block.first + len(kept))
        rest[lines] = [""] * len(kept)
        source[lines] = rest[lines] if is_of_another else kept
        # Text below a copied cell that does not parse is probably its output, or prose.
        if fault is not None and not is_of_another and (is_fenced or fault.lost):
            line, resumed = (place and place + block.first for place in (fault.line, fault.resumed))
            faults.append(replace(fault, line=line, resumed=resumed))
    return "\n".join(source), tuple(faults), "\n".join(rest)


def _blocks(text: str) -> Iterator[Block]:
    block: Block | None = None
    for number, line in enumerate(text.split("\n")):
        begins, ends = _begin(line, number), bool(_OUTPUT.match(line))
        if block is not None and block.fence:
            if quoted := re.match(_QUOTE * block.quotes, line):
                line = line[quoted.end() :]
                mark = _FENCE.match(line)
                begins = None  # no block begins inside a fence
                ends = bool(mark and mark["mark"].startswith(block.fence) and not mark["info"].strip())
            else:
                ends = True  # a block in a quotation also ends where the quotation ends
        if block and not begins and not ends:
            block.lines.append(line)
        else:
            yield from [block] if block else []
            block = begins
    yield from [block] if block else []


def _begin(line: str, number: int) -> Block | None:
    """Return the block that begins in a line; None if no block begins."""
    fence, cell = _FENCE.match(line), _CELL.match(line)
    if fence:
        named = _LANGUAGE.match(fence["info"].strip())
        quotes = min(fence["quotes"].count(">"), MAX_QUOTES)
        return Block(number + 1, named["name"].lower() if named else "", fence["mark"], quotes)
    return Block(number, None, lines=[cell["source"]]) if cell else None


def _is_python(block: Block, code: str, fault: Fault | None) -> bool:
    """Whether a block is Python: by its language; without one, by a statement or, with a syntax error, its first words."""
    if block.language is None or block.language:
        return block.language is None or bool(_PYTHON.fullmatch(block.language))
    if fault is not None:
        return bool(_FIRST_WORDS.search(block.text))
    return any(not isinstance(node, ast.Expr) for node in parse(code).body)
