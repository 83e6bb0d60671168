"""What lies in a folder of submissions, and whose it is. Reads names only; links are never followed.

Three layouts, which may be mixed: files (`ada.py`), a folder a student (`ada/heads.ipynb`), and a tree of
nbgrader (`submitted/ada/04_heads/heads.ipynb`). An archive counts as the folder it holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from grader.bundle.model import Bundle
from grader.classroom.archives import SUFFIXES, BadArchive, Reader, is_archive, members
from grader.support.sanitize import sanitize

KINDS = (".py", ".ipynb")


@dataclass(frozen=True)
class SubmittedFile:
    """One file that somebody handed in.

    `expected` are the exercises that its place calls for: one that is not defined counts as blocked. Without
    any, whatever known exercises it defines are graded. `problem` says why it cannot be read at all.
    """

    student: str
    submission: str
    read: Reader
    modified: float
    expected: tuple[str, ...] = ()
    problem: str = ""

    @property
    def file(self) -> Path:
        return Path(PurePosixPath(self.submission).name)


def discover(root: Path, bundles: Sequence[Bundle]) -> list[SubmittedFile]:
    """Everything that can be graded below `root`, or `root` itself if it is a file; in order of place."""
    if root.is_file():
        return list(_file(root, PurePosixPath(root.name), bundles))
    folders: dict[PurePosixPath, dict[str, tuple[Reader, float]]] = {}
    out: list[SubmittedFile] = []
    for path in _walk(root):
        place = PurePosixPath(path.relative_to(root).as_posix())
        if is_archive(path):
            out += _file(path, place, bundles)
        else:
            folders.setdefault(place.parent, {})[place.name] = (partial(_bytes, path), path.stat().st_mtime)
    for folder, files in folders.items():
        out += _folder(folder, files, bundles)
    return sorted(out, key=lambda handed: (handed.student, handed.submission))


def _walk(root: Path) -> Iterator[Path]:
    for here, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if not name.startswith((".", "__")))
        for name in sorted(names):
            path = Path(here, name)
            plain = not name.startswith(".") and not path.is_symlink() and path.is_file()
            if plain and (path.suffix in KINDS or is_archive(path)):
                yield path


def _bytes(path: Path) -> bytes:
    from grader.intake.limits import MAX_FILE_BYTES

    with path.open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _file(path: Path, place: PurePosixPath, bundles: Sequence[Bundle]) -> Iterator[SubmittedFile]:
    """A single file, or all that an archive holds."""
    modified = path.stat().st_mtime
    if not is_archive(path):
        yield from _folder(place.parent, {place.name: (partial(_bytes, path), modified)}, bundles)
        return
    student = place.parts[0] if len(place.parts) > 1 else _stem(place.name)
    try:
        inside = members(path)
    except BadArchive as bad:
        yield SubmittedFile(
            _named(student), _named(str(place)), bytes, modified, problem=f"{_named(place.name)} {bad}"
        )
        return
    folders: dict[PurePosixPath, dict[str, tuple[Reader, float]]] = {}
    for name, reader in inside.items():
        if name.suffix in KINDS and not any(part.startswith((".", "__")) for part in name.parts):
            folders.setdefault(place / name.parent, {})[name.name] = (reader, modified)
    for folder, files in folders.items():
        for handed in _folder(folder, files, bundles):
            yield _of(handed, student)


def _of(handed: SubmittedFile, student: str) -> SubmittedFile:
    return replace(handed, student=_named(student))


def _folder(
    folder: PurePosixPath, files: Mapping[str, tuple[Reader, float]], bundles: Sequence[Bundle]
) -> Iterator[SubmittedFile]:
    """The files of one folder. In one that bears an assignment's name, the file that bears it too, or the only
    one there is, is what was handed in for it; files beside it are helpers."""
    named = next((b for b in bundles if b.assignment in folder.parts), None)
    mains = {
        name: b
        for name in files
        for b in bundles
        if _stem(name) in (b.module, b.assignment) and named in (None, b)
    }
    if named is not None and not mains and len(files) == 1:
        mains = dict.fromkeys(files, named)
    chosen = [*_newest(mains, files)] if mains else [*files]
    beside = [name for name in files if name not in mains] if named is None else []
    for name in dict.fromkeys([*chosen, *beside]):
        reader, modified = files[name]
        expected = tuple(e.name for e in mains[name].exercises) if name in mains else ()
        place = folder / name
        student = place.parts[0] if len(place.parts) > 1 else _stem(name)
        yield SubmittedFile(_named(student), _named(str(place)), reader, modified, expected)


def _newest(mains: Mapping[str, Bundle], files: Mapping[str, tuple[Reader, float]]) -> Iterator[str]:
    """One file an assignment: of script and notebook the one that was changed, else the newer."""
    for bundle in dict.fromkeys(b.assignment for b in mains.values()):
        names = [name for name, b in mains.items() if b.assignment == bundle]
        touched = [name for name in names if _changed(name, files[name][0], mains[name])] or names
        yield max(touched, key=lambda name: (files[name][1], name))


def _changed(name: str, read: Callable[[], bytes], bundle: Bundle) -> bool:
    from grader.intake.names import read_names, untouched
    from grader.intake.read import Blocked, Submission, Unit, submission_from

    handed_out = read_names(Submission(Path(name), (Unit(name, bundle.stub),)))
    try:
        mine = read_names(submission_from(Path(name), read()))
    except (Blocked, OSError):
        return True
    return not all(untouched(e.name, mine, handed_out) for e in bundle.exercises)


def _stem(name: str) -> str:
    for suffix in (*SUFFIXES, *KINDS):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def _named(name: str) -> str:
    """A name to show: on one line, and no terminal obeys it."""
    return sanitize(name).replace("\n", "\\n").replace("\t", "\\t")
