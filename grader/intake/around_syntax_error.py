"""Read a source around its first syntax error: the complete top-level statements before and after it count."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.intake.syntax import CannotParse, parse
from grader.support.i18n import _

# Lines that are tried as the end of the part before the error, and as many as the start of the part after it.
MAX_ATTEMPTS = 16

# A line that begins a top-level statement. A clause such as `else:` belongs to the statement above it.
_BEGINS = re.compile(r"(?!(?:else|elif|except|finally)\b)[^\s#)\]}]")
# A line at which the part after the error may start.
_GOES_ON = re.compile(r"(?:class|def|async def|import|from)\b|@")
# The header of a class or a function, see `defined_in`.
# With `\w+`, not `\w++`, `def f1(self)` would match as `f`.
_HEADER = re.compile(
    r"^ {0,3}(?:class[ \t]+(\w+)|(?:async[ \t]+)?def[ \t]+(\w++)(?![ \t]*\([ \t]*self\b))", re.M
)


@dataclass(frozen=True)
class Fault:
    """A syntax error in a unit, and the names whose definitions were lost with it.

    alone: the unit is the whole submission, not one of several cells or blocks. resumed: the line from which the
    code after the error is used; 0 if none is. caret: the line of code, and a caret below the place.
    """

    unit: str
    line: int  # 0 if it is not known
    reason: str
    lost: tuple[str, ...] = ()
    alone: bool = True
    resumed: int = 0
    caret: str = ""

    @property
    def with_code(self) -> str:
        """Return the reason, then the line of code with a caret below the place."""
        return f"{self.why}\n{self.caret}" if self.caret else self.why

    @property
    def why(self) -> str:
        """Return "line 14: invalid syntax", or only the reason if the line is not known."""
        if not self.line:
            return self.reason
        return _("line {line}: {reason}").format(line=self.line, reason=self.reason)

    def sentence(self) -> str:
        """Say which part was graded in spite of the error."""
        place = _("{file}, line {line}").format(file=self.unit, line=self.line) if self.line else self.unit
        if self.resumed:
            says = _(
                "{place} has a syntax error: {reason}; the code before it and from line {line} on was graded"
            )
        elif self.alone:
            says = _("{place} has a syntax error: {reason}; the code before it was graded")
        else:
            says = _("{place} has a syntax error: {reason}; the rest of this cell or block was skipped")
        return says.format(place=place, reason=self.reason, line=self.resumed)


@dataclass(frozen=True)
class Prefix:
    """The complete statements of a source around its first syntax error, and the error.

    source: the complete statements. rest: the text that was left out. resumed: the line from which the code after the
    error is used; 0 if none is.
    """

    source: str
    rest: str = ""
    error: CannotParse | None = None
    resumed: int = 0

    def fault(self, unit: str, alone: bool = True) -> Fault | None:
        """Return the error as a fault of the unit; None if there is none."""
        if self.error is None:
            return None
        error, lost = self.error, defined_in(self.rest)
        return Fault(unit, error.line, error.reason, lost, alone, self.resumed, error.caret)


def prefix(source: str) -> Prefix:
    """Return the source without the top-level statement that contains its first syntax error.

    The part after the error starts at the first definition or import from which on all code parses. If there is no
    such line, return only the part before the error.
    """
    try:
        parse(source)
    except CannotParse as error:
        return _before(source, error)
    return Prefix(source)


def _before(source: str, error: CannotParse) -> Prefix:
    """Cut the source at the statement with the error; further up, if the part before it does not parse either."""
    lines = source.split("\n")
    at = error.line if _is_indented_output(lines, error) else _beginning(lines, error.line)
    for _attempt in range(MAX_ATTEMPTS):
        kept = "\n".join(lines[: max(at - 1, 0)])
        try:
            parse(kept)
        except CannotParse as earlier:
            at = _beginning(lines, min(at - 1, earlier.line))
        else:
            return _resumed(lines, kept, max(at - 1, 0), error)
    return _resumed(lines, "", 0, error)


def _resumed(lines: list[str], kept: str, at: int, error: CannotParse) -> Prefix:
    """Return `kept` and the part after the error, which starts at a definition or import; lines keep their numbers.

    at: the number of lines in `kept`.
    """
    places = [n for n in range(max(error.line, at + 1), len(lines)) if _GOES_ON.match(lines[n])]
    for place in places[:MAX_ATTEMPTS]:
        after = "\n".join(lines[place:])
        try:
            parse(after)
        except CannotParse:
            continue
        gap = "\n" * (place - kept.count("\n"))
        return Prefix(kept + gap + after, "\n".join(lines[at:place]), error, place + 1)
    return Prefix(kept, "\n".join(lines[at:]), error)


def _is_indented_output(lines: list[str], error: CannotParse) -> bool:
    """Whether the error is an indented line below a complete statement without a block.

    Then it is probably the printed output of that statement.
    """
    if error.reason != "unexpected indent":
        return False
    above = _beginning(lines, error.line - 1)
    try:
        statements = parse("\n".join(lines[max(above - 1, 0) : error.line - 1])).body
    except CannotParse:
        return False
    return not any(hasattr(statement, "body") for statement in statements)


def _beginning(lines: list[str], at: int) -> int:
    """Return the number of the last line up to `at` that begins a top-level statement; 0 if there is none."""
    at = min(at, len(lines))
    while at > 0 and not _BEGINS.match(lines[at - 1]):
        at -= 1
    return at


def defined_in(text: str) -> tuple[str, ...]:
    """Return the names of the classes and functions whose headers are in a text that need not parse.

    A function whose first parameter is `self` is taken for a method and left out.
    """
    return tuple(dict.fromkeys(found[1] or found[2] for found in _HEADER.finditer(text)))
