"""Python source as syntax trees: within limits, and around its first syntax error.

The limits are checked before a parser or another costly reader sees a source.

| limit | value | why |
|---|---|---|
| source | 1 MiB | any file but a notebook; also all code cells of a notebook, or all blocks of notes, together |
| words and symbols | 100,000 | Python's parser needs up to 2 KiB for each |
| names joined by dots | 100 | the parser copies an imported name once for each dot |

Everything else (lines, names per statement, depth) is linear in these, so it needs no limit of its own.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from rich.cells import cell_len

from grader.support.errors import BadData
from grader.support.i18n import _

MAX_SOURCE_BYTES = 1 << 20
MAX_TOKENS = 100_000
MAX_DOTTED_NAMES = 100

# A run of #, = or * counts as one, because comments use such lines as separators.
_TOKEN = re.compile(r"\w+|#+|=+|\*+|[^\w\s]")
# The inner quantifiers are possessive, so that a search without a match takes linear time.
_CHAIN = re.compile(rf"(?:\.[\s\\]*+[^\W\d]\w*+[\s\\]*+){{{MAX_DOTTED_NAMES}}}")


def check_sources(sources: Iterable[str]) -> int:
    """Check all sources of one submission together. Raises BadData.

    Return their number of words and symbols, also in strings and comments.
    """
    size = tokens = 0
    for source in sources:
        size += len(source.encode("utf-8", "surrogatepass"))
        if size > MAX_SOURCE_BYTES:
            raise BadData(_("the code is larger than {limit} MiB").format(limit=MAX_SOURCE_BYTES >> 20))
        tokens += _TOKEN.subn("", source)[1]
        if tokens > MAX_TOKENS:
            raise BadData(_("the code has more than {limit} words and symbols").format(limit=MAX_TOKENS))
        if _CHAIN.search(source):
            raise BadData(_("the code joins more than {limit} names by dots").format(limit=MAX_DOTTED_NAMES))
    return tokens


_trees: dict[str, tuple[int, ast.Module]] = {}  # source → its cost, and its tree: several readers ask for it
_lock = Lock()


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a source. It is cached: do not change it.

    The sources of all cached trees together have at most MAX_TOKENS words and symbols.
    Raises SyntaxError, and nothing else. Its `lineno` is None if the line is not known.
    """
    found = _trees.get(source)
    if found is None:
        found = _parsed(source)
        with _lock:
            _trees[source] = found
            while sum(cost for cost, _tree in _trees.values()) > MAX_TOKENS:
                del _trees[next(iter(_trees))]
    return found[1]


def _parsed(source: str) -> tuple[int, ast.Module]:
    try:
        tokens = check_sources([source])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a string such as "\d"
            return max(tokens, len(source) // 10), ast.parse(source)  # blank text costs as well
    except UnicodeEncodeError:
        raise SyntaxError(_("contains a character that is not valid Unicode")) from None
    except (RecursionError, MemoryError):
        raise SyntaxError(_("too deeply nested to read")) from None
    except ValueError as error:  # it is beyond a limit, or raised by the parser
        raise SyntaxError(str(error)) from None


def syntax_error(source: str) -> SyntaxError | None:
    """Return the first syntax error of a source; None if it has none."""
    try:
        parse(source)
    except SyntaxError as error:
        return error
    return None


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield top-level statements, and those inside `if`, `try` and `with` at the top level, in their order."""
    waiting: list[ast.AST] = [*reversed(body)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            waiting += reversed([*ast.iter_child_nodes(node)])


def dotted(node: ast.expr) -> str:
    """Return a name, or names joined by dots such as "nn.Linear"; "" for any other expression."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


MAX_CODE = 120  # characters of a line that is shown with a caret
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

    resumed: the line from which the code after the error is used; 0 if none is. caret: the line of code, and a caret
    below the place.
    """

    unit: str
    line: int  # 0 if it is not known
    reason: str
    lost: tuple[str, ...] = ()
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
        else:
            says = _("{place} has a syntax error: {reason}; the rest of this file, cell or block was skipped")
        return says.format(place=place, reason=self.reason, line=self.resumed)


def fault_of(error: SyntaxError, unit: str, rest: str, resumed: int = 0) -> Fault:
    """Return an error of `parse` as a fault. rest: the text that is left out because of it."""
    lost = defined_in(rest)
    return Fault(unit, error.lineno or 0, error.msg, lost, resumed, _caret(error))


def _caret(error: SyntaxError) -> str:
    """Return the line of code with a caret below the place of the error; "" if the line is not known or too long."""
    code = (error.text or "").rstrip().replace("\t", " ")
    indent = len(code) - len(code.lstrip())
    column = (error.offset or 0) - 1 - indent
    if not code or len(code) > MAX_CODE:
        return ""
    if not 0 <= column <= len(code) - indent:  # the error is in the indentation
        return code[indent:]
    return f"{code[indent:]}\n{' ' * cell_len(code[indent : indent + column])}^"


def defined_in(text: str) -> tuple[str, ...]:
    """Return the classes and functions, but not the methods, whose headers are in a text that need not parse."""
    return tuple(dict.fromkeys(found[1] or found[2] for found in _HEADER.finditer(text)))


def around_error(source: str, unit: str) -> tuple[str, Fault | None]:
    """Return the source without the top-level statement that contains its first syntax error, and the error.

    Lines keep their numbers. The part after the error starts at the first definition or import from which on all
    code parses. If there is no such line, return only the part before the error.
    """
    error = syntax_error(source)
    if error is None:
        return source, None
    lines = source.split("\n")
    end = _end_of_the_part_before(lines, error)
    kept = "\n".join(lines[:end])
    after = max(error.lineno or 0, end + 1)
    places = [n for n in range(after, len(lines)) if _GOES_ON.match(lines[n])]
    for place in places[:MAX_ATTEMPTS]:
        rest = "\n".join(lines[place:])
        if syntax_error(rest) is None:
            left_out, gap = "\n".join(lines[end:place]), "\n" * (place - kept.count("\n"))
            return kept + gap + rest, fault_of(error, unit, left_out, place + 1)
    return kept, fault_of(error, unit, "\n".join(lines[end:]))


def _end_of_the_part_before(lines: list[str], error: SyntaxError) -> int:
    """Return the number of lines before the statement with the error; fewer, if these do not parse either."""
    line = error.lineno or 0
    at = line if _is_indented_output(lines, error) else _beginning(lines, line)
    for _attempt in range(MAX_ATTEMPTS):
        earlier = syntax_error("\n".join(lines[: max(at - 1, 0)]))
        if earlier is None:
            return max(at - 1, 0)
        at = _beginning(lines, min(at - 1, earlier.lineno or 0))
    return 0


def _is_indented_output(lines: list[str], error: SyntaxError) -> bool:
    """Whether the error is an indented line below a complete statement without a block: probably its printed output."""
    line = error.lineno or 0
    if error.msg != "unexpected indent":
        return False
    above = "\n".join(lines[max(_beginning(lines, line - 1) - 1, 0) : line - 1])
    return syntax_error(above) is None and not any(hasattr(part, "body") for part in parse(above).body)


def _beginning(lines: list[str], at: int) -> int:
    """Return the number of the last line up to `at` that begins a top-level statement; 0 if there is none."""
    at = min(at, len(lines))
    while at > 0 and not _BEGINS.match(lines[at - 1]):
        at -= 1
    return at
