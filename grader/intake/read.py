"""Read a file as a submission: units of Python source with names to show, and the modules beside it that it imports."""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import islice
from os.path import isdir
from pathlib import Path, PurePosixPath

from grader.intake.notebook import cells_of, code_of_notes, plain_python
from grader.intake.syntax import MAX_SOURCE_BYTES, Fault, around_error, check_sources, parse, statements
from grader.support.errors import BadData, GraderError
from grader.support.files import read_regular
from grader.support.i18n import _
from grader.support.sanitize import sanitize

KINDS = (".py", ".ipynb")  # files that students submit
NOTES = (".md", ".txt")  # what `--file` reads as well
WEIGHTS = ".safetensors"  # a file of trained weights, handed in beside the code
OF_THE_GRADER = ("bundle", "case_")  # begin the names of other such files in a student's folder
# Of a notebook: it may have pictures; JSON of this size needs less than 300 MiB to read.
MAX_FILE_BYTES = 8 << 20


class Blocked(GraderError):
    """The file cannot be read as a submission; the message is a sentence for its author."""

    def __init__(self, message: str, place: tuple[str, int] = ("", 0)):
        super().__init__(message)
        self.place = place  # the file and the line that the message names, if it names one


@dataclass(frozen=True)
class Unit:
    """A piece of source with the name that messages call it by.

    modules: of a module beside a submission, the names that imports use for it. place: of a text that is not read as
    code, a row of the table in `elsewhere.py`.
    """

    name: str
    source: str
    modules: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True)
class Submission:
    """The source text that is graded, and where it came from.

    weights: the file of trained weights beside it; b"" if there is none, None if it need not have any.
    """

    path: Path
    units: tuple[Unit, ...]
    faults: tuple[Fault, ...] = ()  # syntax errors; `units` hold the code around them
    neighbours: tuple[Unit, ...] = ()  # for imports that fail, and the student's other exercises
    unread: tuple[Unit, ...] = ()  # text that is not read as code
    weights: bytes | None = None

    @cached_property
    def content(self) -> str:
        """Return a hash of all that can influence the outcome."""
        parts = hashlib.sha256()
        for unit in (*self.units, *self.neighbours):
            parts.update(unit.name.encode() + b"\0" + unit.source.encode("utf-8", "surrogatepass") + b"\0")
        parts.update(repr(self.faults).encode("utf-8", "backslashreplace") if self.faults else b"")
        parts.update(self.weights or b"")
        return parts.hexdigest()


def read_submission(path: Path) -> Submission:
    """Read a script, a notebook or notes (`KINDS` and `NOTES`).

    Raises Blocked as `read_own`, and if the file has another suffix, is too large, is empty, or is not UTF-8.
    """
    if path.suffix not in (*KINDS, *NOTES) and not isdir(path):
        says = _("{file}: only .py, .ipynb, .md and .txt files can be graded")
        raise Blocked(says.format(file=shown(path)))
    return submission_from(path, read_own(path, MAX_FILE_BYTES + 1))


def submission_from(path: Path, data: bytes) -> Submission:
    """Read the bytes of a file. Of the path, only the name and the suffix are used. Raises Blocked."""
    name, text = shown(path), text_of(path, data)
    cells, says = [Unit(name, text)], _("{file} is not a notebook: {reason}")
    try:
        if path.suffix == ".ipynb":
            cells = [Unit(f"{name} cell {at}", code, place=place) for at, code, place in cells_of(text)]
        says = _("{file}: {reason}")
        if path.suffix in NOTES:
            source, errors, rest = code_of_notes(text, name)
            return Submission(path, (Unit(name, source),), errors, unread=(Unit(name, rest, place="notes"),))
        check_sources(cell.source for cell in cells if not cell.place)
    except BadData as error:
        raise Blocked(says.format(file=name, reason=error)) from None
    units, faults, unread = list[Unit](), list[Fault](), [cell for cell in cells if cell.place]
    for cell in cells:
        if not cell.place:
            code = plain_python(cell.source)
            source, fault = around_error(code, cell.name)
            units.append(Unit(cell.name, source))
            faults += [fault] if fault is not None else []
            unread += [] if code.strip() else [replace(cell, place="magic")]
    return Submission(path, tuple(units), tuple(faults), unread=tuple(unread))


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


def shown(path: Path) -> str:
    """Return a file's name for messages: on one line, and without control characters."""
    return sanitize(path.name).replace("\n", "\\n").replace("\t", "\\t")


def read_own(path: Path, most: int = -1) -> bytes:
    """Return the first `most` bytes of a student's file, by default all.

    Raises Blocked if it does not exist, is a link out of its folder, is no regular file, or cannot be read.
    """
    name = shown(path)
    try:
        if path.is_dir():
            raise Blocked(_("{file} is a folder, not a file; name a file in it").format(file=name))
        if not path.exists():
            raise Blocked(_("{file} does not exist").format(file=sanitize(str(path))))
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


MAX_NEIGHBOURS = 20
# The package d2l has a file for each framework, such as `tensorflow.py`; `import tensorflow` does not mean this file.
OTHER_FRAMEWORKS = frozenset({"flax", "jax", "keras", "mxnet", "paddle", "tensorflow"})
MAX_IMPORTS = 200  # of one file that are looked up
MAX_PARTS = 8  # of a dotted name that is looked up
MAX_LENGTH = 4096  # of the name of a module: no path is longer
Files = Mapping[str, Callable[[], bytes]]  # path in the submitted folder → reads the file


def with_neighbours(submission: Submission, files: Files | None = None) -> Submission:
    """Return the submission with the modules of its folder that it imports, with those that these import, and with weights.

    At most MAX_NEIGHBOURS modules are added. A worker uses one only if the import of that name fails.
    files: those of the folder; by default, they are read from the folder of the submission's path.
    """
    weights = _weights(submission.path, files)
    return replace(submission, neighbours=_neighbours(submission, files), weights=weights)


def _neighbours(submission: Submission, files: Files | None) -> tuple[Unit, ...]:
    text = cache(partial(_text, submission.path.parent, files))
    found: dict[PurePosixPath, Unit] = {}
    size, waiting = 0, [(PurePosixPath(), unit) for unit in submission.units]
    while waiting:
        folder, unit = waiting.pop(0)
        for module in islice(dict.fromkeys(imported_modules([unit])), MAX_IMPORTS):
            place = next((p for p in _places(module, folder) if text(p) is not None), None)
            if place is None or place == PurePosixPath(submission.path.name):
                continue
            if place not in found:
                size += len((text(place) or "").encode("utf-8", "surrogatepass"))
                if len(found) >= MAX_NEIGHBOURS or size > MAX_SOURCE_BYTES:
                    return tuple(found.values())
                found[place] = Unit(str(place), text(place) or "")
                waiting.append((place.parent, found[place]))
            modules = dict.fromkeys((*found[place].modules, module))
            found[place] = replace(found[place], modules=tuple(modules))
    return tuple(found.values())


def _weights(path: Path, files: Files | None) -> bytes:
    """Return the weights in the folder of a file: those named as the file, otherwise the only ones; b"" for none."""
    names = os.listdir(path.parent) if files is None else files
    found = [name for name in names if name.endswith(WEIGHTS) and not name.startswith(OF_THE_GRADER)]
    named = [name for name in found if name == path.stem + WEIGHTS] or found
    try:
        (name,) = named
        return _of_folder(path.parent, PurePosixPath(name)) if files is None else files[name]()
    except (OSError, ValueError, GraderError):
        return b""


def imported_modules(units: Iterable[Unit]) -> Iterator[str]:
    """Yield the modules that import statements name, as they are written: "attention", ".layers.norm".

    `from a import b` names "a" and, since b may be a module, "a.b". Skip a module whose name is too long for a file: each
    name imported from it would repeat it.
    """
    for node in (node for _unit, tree in trees(units) for node in statements(tree.body)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and len(node.module or "") <= MAX_LENGTH:
            module = "." * node.level + (node.module or "")
            yield from ([module] if node.module else [])
            stem = module if module.endswith(".") else f"{module}."
            yield from (stem + alias.name for alias in node.names if alias.name != "*")


def trees(units: Iterable[Unit]) -> Iterator[tuple[str, ast.Module]]:
    """Yield the name and the syntax tree of each unit that can be parsed."""
    for unit in units:
        with suppress(SyntaxError):
            yield unit.name, parse(unit.source)


def _places(module: str, folder: PurePosixPath) -> Iterator[PurePosixPath]:
    """Yield where the file of a module may be: in `folder` (that of the importing file) or in the submitted folder.

    The whole dotted name comes first; then its first parts are left out, one after another.
    """
    parts = module.lstrip(".").split(".")
    if module.split(".")[0] in OTHER_FRAMEWORKS or len(parts) > MAX_PARTS:
        return
    for first in range(len(parts)):
        for base in dict.fromkeys((folder, PurePosixPath())):
            whole = base.joinpath(*parts[first:])
            yield from (whole.with_name(f"{whole.name}.py"), whole / "__init__.py")


def _text(root: Path, files: Files | None, place: PurePosixPath) -> str | None:
    """Return the text of a file; None if it is missing, not text, or beyond the limits of a submission."""
    try:
        data = _of_folder(root, place) if files is None else files[str(place)]()
        source = text_of(Path(place), data)
        check_sources([source])
    except (OSError, ValueError, KeyError, GraderError):
        return None
    return source


def _of_folder(root: Path, place: PurePosixPath) -> bytes:
    """Read a plain file of a folder, without following links. Raises OSError."""
    path = root / place
    steps = [path, *(p for p in path.parents if p != root and root in p.parents)]
    if not path.is_file() or root not in path.parents or any(step.is_symlink() for step in steps):
        raise FileNotFoundError(path)
    return read_bytes(path)
