"""The modules beside a submitted file that it imports: text only, inside its folder, and bounded."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path, PurePosixPath

from grader.intake.limits import MAX_SOURCE_BYTES, check_sources
from grader.intake.names import statements
from grader.intake.read import Neighbour, Submission, Unit, read_bytes, submission_from, text_of
from grader.intake.syntax import parse
from grader.support.errors import GraderError

MAX_NEIGHBOURS = 20
# The package d2l has a file for each framework, such as `tensorflow.py`; `import tensorflow` does not mean this file.
OTHER_FRAMEWORKS = frozenset({"flax", "jax", "keras", "mxnet", "paddle", "tensorflow"})
MAX_IMPORTS = 200  # of one file that are looked up
MAX_PARTS = 8  # of a dotted name that is looked up
MAX_LENGTH = 4096  # of the name of a module: no path is longer
ReadFile = Callable[[PurePosixPath], bytes | None]


def inside(root: Path) -> ReadFile:
    """Return a function that reads plain files of a folder, without following links. It can be pickled."""
    return partial(_of_folder, root)


def _of_folder(root: Path, place: PurePosixPath) -> bytes | None:
    path = root / place
    try:
        steps = [path, *(p for p in path.parents if p != root and root in p.parents)]
        has_link = any(step.is_symlink() for step in steps)
        is_inside = path.is_file() and root in path.parents and not has_link
    except (OSError, ValueError):
        return None
    return read_bytes(path) if is_inside else None


def among(files: Mapping[str, Callable[[], bytes]]) -> ReadFile:
    """Return a function that reads `files` by their path in the submitted folder. It can be pickled if `files` can."""
    return partial(_of_files, files)


def _of_files(files: Mapping[str, Callable[[], bytes]], place: PurePosixPath) -> bytes | None:
    found = files.get(str(place))
    return found() if found is not None else None


def with_neighbours(submission: Submission, read: ReadFile | None = None) -> Submission:
    """Return the submission with the modules of its folder that it imports, and with those that these import.

    At most MAX_NEIGHBOURS modules are added. A worker uses one only if the import of that name fails.
    read: returns the bytes of a file by its path in the folder, None if there is none; by default, it reads the folder
    of the submission's path.
    """
    text = cache(partial(_text, read or inside(submission.path.parent)))
    found: dict[PurePosixPath, Neighbour] = {}
    size = 0
    waiting = [(PurePosixPath(), unit) for unit in submission.units]
    while waiting:
        folder, unit = waiting.pop(0)
        for module in islice(dict.fromkeys(imported_modules([unit])), MAX_IMPORTS):
            place, source, above = _module(module, folder, text)
            if place is None or place == PurePosixPath(submission.path.name):
                continue
            # A guess, unless the parts of the name that were left out name the folder of the submission.
            folders = submission.path.absolute().parent.parts
            guessed = () if not above or folders[-len(above) :] == above else (module,)
            if place in found:
                modules = tuple(dict.fromkeys((*found[place].modules, module)))
                guessed = tuple(dict.fromkeys((*found[place].guessed, *guessed)))
                found[place] = replace(found[place], modules=modules, guessed=guessed)
                continue
            size += len(source.encode("utf-8", "surrogatepass"))
            if len(found) >= MAX_NEIGHBOURS or size > MAX_SOURCE_BYTES:
                return replace(submission, neighbours=tuple(found.values()))
            found[place] = Neighbour(str(place), source, (module,), guessed)
            waiting.append((place.parent, Unit(str(place), source)))
    return replace(submission, neighbours=tuple(found.values()))


def content_of(path: Path, data: bytes, beside: ReadFile) -> str:
    """Return the hash by which `grader grade` stores the results of a file.

    Raises Blocked if it cannot be read as a submission.
    """
    return with_neighbours(submission_from(path, data), beside).content


def imported_modules(units: Iterable[Unit]) -> Iterator[str]:
    """Yield the modules that import statements name, as they are written: "attention", ".layers.norm".

    `from a import b` names "a" and, since b may be a module, "a.b". Skip a module whose name is too long for a file: each
    name imported from it would repeat it.
    """
    for unit in units:
        try:
            body = parse(unit.source).body
        except SyntaxError:
            continue
        for node in statements(body):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and len(node.module or "") <= MAX_LENGTH:
                module = "." * node.level + (node.module or "")
                yield from ([module] if node.module else [])
                stem = module if module.endswith(".") else f"{module}."
                yield from (stem + alias.name for alias in node.names if alias.name != "*")


def _module(
    module: str, folder: PurePosixPath, text: Callable[[PurePosixPath], str | None]
) -> tuple[PurePosixPath | None, str, tuple[str, ...]]:
    """Find the file of a module in `folder` (that of the importing file) or in the submitted folder.

    Look for the whole dotted name first; then leave out its first parts, one after another.
    Return its path in the submitted folder, its text, and the parts that were left out; None, "", () if no file fits.
    """
    parts = module.lstrip(".").split(".")
    if module.split(".")[0] in OTHER_FRAMEWORKS or len(parts) > MAX_PARTS:
        return None, "", ()
    for first in range(len(parts)):
        for base in dict.fromkeys((folder, PurePosixPath())):
            whole = base.joinpath(*parts[first:])
            for place in (whole.with_name(f"{whole.name}.py"), whole / "__init__.py"):
                source = text(place)
                if source is not None:
                    return place, source, tuple(parts[:first])
    return None, "", ()


def _text(read: ReadFile, place: PurePosixPath) -> str | None:
    """Return the text of a file; None if it is missing, not text, or beyond the limits of a submission."""
    try:
        data = read(place)
        source = None if data is None else text_of(Path(place), data)
        check_sources([source or ""])
    except (OSError, ValueError, GraderError):
        return None
    return source
