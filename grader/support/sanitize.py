"""Make text safe to show: limit its length, escape characters that could hide or reorder it, and replace those that an
output cannot print."""

from __future__ import annotations

import codecs
import io
import re
import sys
import unicodedata

# Marks that reorder text, so that shown code differs from the code that runs (https://trojansource.codes).
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LINES = {ord(char): None for char in "\n\t"}
# What GitHub Actions takes for a command at the start of a line; text may be wrapped anywhere. Not `c10::Error: …`.
_COMMANDS = (
    "error|warning|notice|debug|group|endgroup|echo|(?:add|set|save|remove|stop|internal)-[a-z-]{1,40}"
)
_WORKFLOW = re.compile(rf"::(?=(?:{_COMMANDS})(?:\s|::|$))|##(?=\[)", re.IGNORECASE)
MAX_SHOWN = 2000


def sanitize(text: str, limit: int = MAX_SHOWN) -> str:
    """Return at most `limit` characters of the text; a cut text ends with " …".

    Control characters except newline and tab, marks that reorder text, line separators, surrogates, and
    private and unassigned characters become escapes such as `\\u001b`. A blank breaks commands of GitHub Actions.
    """
    cut = text if len(text) <= limit else text[:limit] + " …"
    cut = _WORKFLOW.sub(lambda found: f"{found[0][0]} {found[0][1]}", cut)
    if cut.isascii() and cut.translate(_LINES).isprintable():  # most texts of a report: nothing to replace
        return cut
    return "".join(map(_shown, cut))


def _shown(char: str) -> str:
    if char in "\n\t":
        return char
    if char in _BIDI or unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"\\u{ord(char):04x}"
    return char


# Each character, followed by the one to print instead.
_SIGNS = "✓+ ✗x ○o ≠# −- –- ·- ×x •* ━= ─- │| █# ▇# “\" ”\" ‘' ’' ‹< ›>"
NEAR = {pair[0]: pair[1] for pair in _SIGNS.split()} | {"…": "...", "→": "->"}
HANDLER = "grader.near"


def tolerate_any_encoding() -> None:
    """Make standard output and standard error replace characters that their encoding lacks."""
    codecs.register_error(HANDLER, _near)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def _near(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(NEAR.get(sign, "?") for sign in lost), error.end
