"""Read a source around its first syntax error: the complete top-level statements before and after it count."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.intake.syntax import caret, parse
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


def fault_of(error: SyntaxError, unit: str, rest: str, *, alone: bool = True, resumed: int = 0) -> Fault:
    """Return an error of `parse` as a fault. rest: the text that is left out because of it."""
    lost = defined_in(rest)
    return Fault(unit, error.lineno or 0, error.msg, lost, alone, resumed, caret(error))


def defined_in(text: str) -> tuple[str, ...]:
    """Return the names of the classes and functions whose headers are in a text that need not parse.

    A function whose first parameter is `self` is taken for a method and left out.
    """
    return tuple(dict.fromkeys(found[1] or found[2] for found in _HEADER.finditer(text)))


def around_error(source: str, unit: str, *, alone: bool = True) -> tuple[str, Fault | None]:
    """Return the source without the top-level statement that contains its first syntax error, and the error.

    Lines keep their numbers. The part after the error starts at the first definition or import from which on all
    code parses. If there is no such line, return only the part before the error.
    """
    try:
        parse(source)
    except SyntaxError as found:
        error = found
    else:
        return source, None
    lines = source.split("\n")
    end = _end_of_the_part_before(lines, error)
    kept = "\n".join(lines[:end])
    after = max(error.lineno or 0, end + 1)
    places = [n for n in range(after, len(lines)) if _GOES_ON.match(lines[n])]
    for place in places[:MAX_ATTEMPTS]:
        rest = "\n".join(lines[place:])
        if _parses(rest):
            left_out, gap = "\n".join(lines[end:place]), "\n" * (place - kept.count("\n"))
            return kept + gap + rest, fault_of(error, unit, left_out, alone=alone, resumed=place + 1)
    return kept, fault_of(error, unit, "\n".join(lines[end:]), alone=alone)


def _end_of_the_part_before(lines: list[str], error: SyntaxError) -> int:
    """Return the number of lines before the statement with the error; fewer, if these do not parse either."""
    line = error.lineno or 0
    at = line if _is_indented_output(lines, error) else _beginning(lines, line)
    for _attempt in range(MAX_ATTEMPTS):
        try:
            parse("\n".join(lines[: max(at - 1, 0)]))
        except SyntaxError as earlier:
            at = _beginning(lines, min(at - 1, earlier.lineno or 0))
        else:
            return max(at - 1, 0)
    return 0


def _is_indented_output(lines: list[str], error: SyntaxError) -> bool:
    """Whether the error is an indented line below a complete statement without a block.

    Then it is probably the printed output of that statement.
    """
    line = error.lineno or 0
    if error.msg != "unexpected indent":
        return False
    above = "\n".join(lines[max(_beginning(lines, line - 1) - 1, 0) : line - 1])
    return _parses(above) and not any(hasattr(statement, "body") for statement in parse(above).body)


def _parses(source: str) -> bool:
    try:
        parse(source)
    except SyntaxError:
        return False
    return True


def _beginning(lines: list[str], at: int) -> int:
    """Return the number of the last line up to `at` that begins a top-level statement; 0 if there is none."""
    at = min(at, len(lines))
    while at > 0 and not _BEGINS.match(lines[at - 1]):
        at -= 1
    return at
