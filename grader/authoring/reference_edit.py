"""An edit: a piece of the reference, and what takes its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent

from grader.support.errors import GraderError


class EditError(GraderError, ValueError):
    """An edit does not match as often as it says. The message names the piece and the count."""


@dataclass(frozen=True)
class Edit:
    """Replace `old` by `new`. `old` must occur exactly `times` times.

    A text that begins with a line break is a block: its common indentation does not count, and its lines are
    indented like the line of the reference in which `old` begins. Any other text is taken as it is.
    """

    old: str
    new: str
    times: int = 1

    def apply(self, text: str, *, exactly: bool = True) -> str:
        """Return the text with every match replaced.

        Raises EditError where nothing matches, and, if `exactly`, where the count is not `times`.
        """
        matches = list(self._matches(text))
        if not matches:
            raise EditError(f"{_plain(self.old)!r} does not occur in the reference")
        if exactly and len(matches) != self.times:
            raise EditError(
                f"{_plain(self.old)!r} occurs {len(matches)} times, not {self.times}: if all are meant,"
                f" add times={len(matches)}"
            )
        for start, stop in reversed(matches):
            text = text[:start] + _indented(self.new, _indent_at(text, start)) + text[stop:]
        return text

    def _matches(self, text: str) -> list[tuple[int, int]]:
        """Return where each match starts and stops, in order. A block may match at each indentation of the text."""
        is_block = self.old.startswith("\n")
        indents = sorted(set(re.findall(r"^ *", text, re.M))) if is_block else [""]
        return sorted(
            (match.start(), match.end())
            for indent in indents
            for match in re.finditer(re.escape(_indented(self.old, indent)), text)
            if not is_block or _indent_at(text, match.start()) == indent
        )


def edit(old: str, new: str, times: int = 1) -> Edit:
    """Replace a piece of the reference; see `Edit`."""
    return Edit(old, new, times)


def _plain(text: str) -> str:
    """Return a block without its common indentation and its first and last line break; other texts as they are."""
    return dedent(text).strip("\n").rstrip(" ") if text.startswith("\n") else text


def _indented(text: str, indent: str) -> str:
    """Indent the lines of a block after its first line; return other texts as they are."""
    if not text.startswith("\n"):
        return text
    return re.sub(r"\n(?!\n|$)", "\n" + indent, _plain(text))


def _indent_at(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 :]
    return line[: len(line) - len(line.lstrip(" "))]
