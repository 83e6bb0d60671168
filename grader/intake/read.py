"""Read a file as a submission: units of Python source with names to show, or one sentence why that fails."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.intake.around_syntax_error import Fault, around_error
from grader.intake.limits import MAX_FILE_BYTES, MAX_SOURCE_BYTES, check_sources
from grader.intake.notebook import code_cells, plain_python
from grader.intake.notes import code_of_notes
from grader.support.errors import BadData, GraderError
from grader.support.files import read_regular
from grader.support.i18n import _
from grader.support.sanitize import sanitize

KINDS = (".py", ".ipynb")  # files that students submit
NOTES = (".md", ".txt")  # what `--file` reads as well


class Blocked(GraderError):
    """The file cannot be read as a submission; the message is a sentence for its author.

    place: the name of the file and the line that the message names; ("", 0) if it names none.
    """

    def __init__(self, message: str, place: tuple[str, int] = ("", 0)):
        super().__init__(message)
        self.place = place


@dataclass(frozen=True)
class Unit:
    """A piece of source with the name that messages call it by."""

    name: str
    source: str


@dataclass(frozen=True)
class Neighbour(Unit):
    """A module beside a submission, and the names that imports use for it.

    guessed: those of `modules` whose first parts name no folder of the file, such as `course.layers` for `layers.py`
    if the submission is not in a folder `course`.
    """

    modules: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Submission:
    """The source text that is graded, and where it came from."""

    path: Path
    units: tuple[Unit, ...]
    faults: tuple[Fault, ...] = ()  # syntax errors; `units` hold the code around them
    neighbours: tuple[Neighbour, ...] = ()  # for imports that fail, and the student's other exercises
    skipped: tuple[int, ...] = ()  # the first lines of definitions for other frameworks, in notes

    @cached_property
    def content(self) -> str:
        """Return a hash of all that can influence the outcome."""
        parts = hashlib.sha256()
        for unit in (*self.units, *self.neighbours):
            parts.update(unit.name.encode() + b"\0" + unit.source.encode("utf-8", "surrogatepass") + b"\0")
        parts.update(repr(self.faults).encode("utf-8", "backslashreplace") if self.faults else b"")
        return parts.hexdigest()


def read_submission(path: Path) -> Submission:
    """Read a script, a notebook or notes (`KINDS` and `NOTES`).

    Raises Blocked if the file does not exist, is no regular file, has another suffix, is a link out of its folder, is
    too large, is empty, or is not UTF-8.
    """
    name = shown(path)
    try:
        if path.is_dir():
            raise Blocked(_("{file} is a folder, not a file; name a file in it").format(file=name))
        if path.suffix not in (*KINDS, *NOTES):
            raise Blocked(_("{file}: only .py, .ipynb, .md and .txt files can be graded").format(file=name))
        if not path.exists():
            raise Blocked(_("{file} does not exist").format(file=sanitize(str(path))))
    except OSError as error:
        raise Blocked(_("{file} cannot be read: {reason}").format(file=name, reason=error.strerror)) from None
    return submission_from(path, read_own(path, MAX_FILE_BYTES + 1))


def submission_from(path: Path, data: bytes) -> Submission:
    """Read the bytes of a file. Of the path, only the name and the suffix are used. Raises Blocked."""
    name, text = shown(path), text_of(path, data)
    typed = [Unit(name, text)]
    if path.suffix == ".ipynb":
        try:
            typed = [Unit(f"{name} cell {number}", source) for number, source in code_cells(text)]
        except BadData as error:
            raise Blocked(_("{file} is not a notebook: {reason}").format(file=name, reason=error)) from None
    try:
        if path.suffix in NOTES:
            return _of_notes(path, name, text)
        check_sources(unit.source for unit in typed)
    except BadData as error:
        raise Blocked(_("{file}: {reason}").format(file=name, reason=error)) from None
    units, faults = [], []
    for unit in typed:
        source, fault = around_error(plain_python(unit.source), unit.name, alone=len(typed) == 1)
        units.append(Unit(unit.name, source))
        faults += [fault] if fault is not None else []
    return Submission(path, tuple(units), tuple(faults))


def text_of(path: Path, data: bytes) -> str:
    """Return the text of a file. Of the path, only the name and the suffix are used. Raises Blocked."""
    name, limit = shown(path), MAX_FILE_BYTES if path.suffix == ".ipynb" else MAX_SOURCE_BYTES
    if len(data) > limit:
        raise Blocked(_("{file} is larger than {limit} MiB").format(file=name, limit=limit >> 20))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        says = _("{file}, line {line}: not UTF-8 text; save the file with the encoding UTF-8")
        raise Blocked(says.format(file=name, line=line), (name, line)) from None
    if "\0" in text:
        raise Blocked(_("{file} holds null characters; it is not a text file").format(file=name))
    if not text.strip():
        raise Blocked(_("{file} is empty").format(file=name))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _of_notes(path: Path, name: str, text: str) -> Submission:
    source, faults, skipped = code_of_notes(text, name)
    if not source.strip():
        says = _("{file} has no code; code is read from blocks between ``` lines")
        raise Blocked(says.format(file=name))
    return Submission(path, (Unit(name, source),), faults, skipped=skipped)


def shown(path: Path) -> str:
    """Return a file's name for messages: on one line, and without control characters."""
    return sanitize(path.name).replace("\n", "\\n").replace("\t", "\\t")


def read_own(path: Path, most: int = -1) -> bytes:
    """Return the first `most` bytes of a student's file, by default all.

    Raises Blocked if it is a link out of its folder or no regular file, and if it cannot be read.
    """
    name = shown(path)
    try:
        if path.is_symlink() and path.resolve().parent != path.parent.resolve():
            says = _("{file} is a link that leads out of its folder; submit the file itself")
            raise Blocked(says.format(file=name))
        if not path.is_file():
            raise Blocked(_("{file} is not a regular file").format(file=name))
        return read_regular(path, most)
    except OSError as error:
        raise Blocked(_("{file} cannot be read: {reason}").format(file=name, reason=error.strerror)) from None


def read_bytes(path: Path) -> bytes:
    """Read a regular file, but at most one byte more than a submission may have. Raises OSError."""
    return read_regular(path, MAX_FILE_BYTES + 1)
