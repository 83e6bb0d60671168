"""Find the files in a folder of submissions, and the student of each. Links are never followed.

Three layouts, which may be mixed: files (`ada.py`), one folder per student (`ada/heads.ipynb`), and a tree of
nbgrader (`submitted/ada/04_heads/heads.ipynb`). An archive counts as the folder it holds.

This process reads names and times. Everything that parses or unpacks a file runs in a BoundedReader.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path, PurePosixPath

from grader.bundle.model import Bundle
from grader.classroom.archives import MAX_GRADABLE, SUFFIXES, is_archive, members, read_member
from grader.classroom.bounded_reader import BoundedReader
from grader.intake.names import answers, is_changed
from grader.intake.read import KINDS, WEIGHTS, read_bytes
from grader.support.errors import GraderError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

Reader = Callable[[], bytes]


@dataclass(frozen=True)
class SubmittedFile:
    """One file that a student submitted.

    submission: its path below the folder of submissions, as reports show it; an archive counts as a folder.
    read: returns the content; it can be sent to another process. expected: the exercises of the assignment for which
    it was submitted; one that the file does not define counts as blocked. If empty, the known exercises that the file
    defines are graded. problem: why it cannot be graded at all. remark: which files beside it were not graded. beside:
    returns the modules and weights in its folder and below, by their path there; for a file that is not in a folder of
    its student, only weights of its name.
    """

    student: str
    submission: str
    read: Reader
    modified: float
    expected: tuple[str, ...] = ()
    problem: str = ""
    remark: str = ""
    beside: Callable[[], Mapping[str, Reader]] = dict  # called only for files that are graded

    @property
    def file(self) -> Path:
        return Path(PurePosixPath(self.submission).name)


@dataclass(frozen=True)
class _Candidate:
    read: Reader
    modified: float
    problem: str = ""


_Folders = dict[PurePosixPath, dict[str, _Candidate]]  # folder → name → file
MAX_NAMED = 20  # files in a remark


def discover(root: Path, bundles: Sequence[Bundle], student: str | None = None) -> list[SubmittedFile]:
    """Return everything that can be graded below `root`, or `root` itself if it is a file; by student and path.

    If there is anything, also return an entry with a problem for each folder of a student, or of an assignment in it,
    in which nothing can be graded.
    student: the name of a folder in `root`; only its files are returned.
    """
    with BoundedReader() as reader:
        found = list(_Discovery(root, bundles, reader, student).files())
    found.sort(key=lambda file: (file.student, file.submission))
    return [
        file for _student, files in groupby(found, lambda file: file.student) for file in _first(list(files))
    ]


def may_hold(file: SubmittedFile, only: Sequence[str], bundles: Sequence[Bundle]) -> bool:
    """Whether a file may have one of these exercises: not if it was submitted for another assignment."""
    named = {b.assignment for b in bundles}.intersection(PurePosixPath(file.submission).parts)
    wanted = {b.assignment for b in bundles if any(e.name in only for e in b.exercises)}
    return not (named and named.isdisjoint(wanted)) and (
        not file.expected or any(n in only for n in file.expected)
    )


def _first(found: list[SubmittedFile]) -> Iterator[SubmittedFile]:
    """Yield up to MAX_GRADABLE files of a student, preferably of assignments; one more entry says how many are left."""
    of_assignments_first = sorted(found, key=lambda file: not file.expected)
    rest = of_assignments_first[MAX_GRADABLE:]
    yield from sorted(of_assignments_first[:MAX_GRADABLE], key=lambda file: file.submission)
    if rest:
        why = _("{n} more files were not graded; the grader reads {limit} files per student")
        problem = why.format(n=len(rest), limit=MAX_GRADABLE)
        yield replace(rest[0], problem=problem, expected=(), beside=dict)


@dataclass(frozen=True)
class _Discovery:
    root: Path
    bundles: Sequence[Bundle]
    reader: BoundedReader
    student: str | None = None

    def files(self) -> Iterator[SubmittedFile]:
        folders: _Folders = {}
        homes, full = set[PurePosixPath](), set[PurePosixPath]()
        for path in [self.root] if self.root.is_file() else _walk(self.root, self.student):
            place = PurePosixPath(path.name if path == self.root else path.relative_to(self.root).as_posix())
            kind = path.suffix in (*KINDS, WEIGHTS) or is_archive(path)
            if not kind or not path.is_file() or path.is_symlink():
                named = any(bundle.assignment == place.name for bundle in self.bundles)
                # the folder of a student, or one with the name of an assignment, must hold a submission
                homes.update([place] if path.is_dir() and (len(place.parts) == 1 or named) else [])
                continue
            full.update(place.parents if path.suffix != WEIGHTS else [])
            if is_archive(path):
                yield from self._archive(path, place)
            else:
                read = partial(read_bytes, path)
                folders.setdefault(place.parent, {})[place.name] = _Candidate(read, path.stat().st_mtime)
        yield from self._graded(folders)
        empty = homes - full if full else set()  # `full` is empty only if nothing can be graded
        for home in empty:
            if not any(home in other.parents for other in empty):
                student, path = student_id(home.parts[0]), self.root / home
                time, why = path.stat().st_mtime, nothing_in(path)
                yield SubmittedFile(student, _shown(str(home)), bytes, time, problem=why)

    def _graded(self, folders: _Folders) -> Iterator[SubmittedFile]:
        for _student, places in groupby(sorted(folders), key=lambda place: place.parts[:1]):
            of_student = {place: folders[place] for place in places}
            for folder, files in of_student.items():
                code = {name: file for name, file in files.items() if not name.endswith(WEIGHTS)}
                for file in self._folder(folder, code):
                    main, of_file = file.file.name, of_student
                    if not folder.parts:  # files in the root are of several students
                        of_file = {folder: {n: f for n, f in files.items() if n == _stem(main) + WEIGHTS}}
                    yield replace(file, beside=partial(_beside, folder, of_file, main))

    def _archive(self, path: Path, place: PurePosixPath) -> Iterator[SubmittedFile]:
        modified = path.stat().st_mtime
        student = student_id(place.parts[0] if len(place.parts) > 1 else _stem(place.name))
        problem, inside = _("holds no .py and no .ipynb"), dict[PurePosixPath, str]()
        try:
            inside = self.reader.call(members, path)
        except GraderError as bad:
            problem = str(bad)
        if all(name.suffix == WEIGHTS for name in inside):
            why = f"{_shown(place.name)} {problem}"
            yield SubmittedFile(student, _shown(str(place)), bytes, modified, problem=why)
            return
        folders: _Folders = {}
        for name, problem in inside.items():
            file = _Candidate(partial(read_member, path, name), modified, problem)
            folders.setdefault(place / name.parent, {})[name.name] = file
        for submitted in self._graded(folders):
            yield replace(submitted, student=student)

    def _folder(self, folder: PurePosixPath, files: Mapping[str, _Candidate]) -> Iterator[SubmittedFile]:
        """Yield the submitted files of one folder.

        In or below a folder with an assignment's name, only one was submitted: a file named as the assignment or its
        module, else the only file, or the only one that answers an exercise. If none can be chosen, all were
        submitted. In any other folder, all were submitted; of several files named as one assignment, one is chosen.
        """
        named = next((b for b in self.bundles if b.assignment in folder.parts), None)
        possible = self.bundles if named is None else [named]
        # file → the assignment that it is named as
        mains = {name: b for name in files for b in possible if _stem(name) in (b.module, b.assignment)}
        if named is not None and not mains:
            possible_files = [
                name for name in files if len(files) == 1 or self._answers(name, files[name], named)
            ]
            mains = dict.fromkeys(possible_files, named) if len(possible_files) == 1 else {}
        problems = {name: candidate.problem for name, candidate in files.items()}
        chosen = [*self._newest(mains, files, problems)] if mains else [*files]
        others = [name for name in files if name not in mains] if named is None else []
        submitted = dict.fromkeys([*chosen, *others])
        left = _named(name for name in files if name not in submitted)
        remark = _("also in the folder, not graded: {files}").format(files=left) if left else ""
        for name in submitted:
            place = folder / name
            student = place.parts[0] if len(place.parts) > 1 else _stem(name)
            yield SubmittedFile(
                student=student_id(student),
                submission=_shown(str(place)),
                read=files[name].read,
                modified=files[name].modified,
                expected=tuple(e.name for e in mains[name].exercises) if name in mains else (),
                problem=f"{_shown(name)} {problems[name]}" if problems[name] else "",
                remark=remark if name in mains else "",
            )

    def _newest(
        self, mains: Mapping[str, Bundle], files: Mapping[str, _Candidate], problems: dict[str, str]
    ) -> Iterator[str]:
        """Yield one file per assignment: of several, the newest that differs from the stub, else the newest.

        A file that cannot be read counts as different. Add to `problems` why.
        """
        for assignment in dict.fromkeys(b.assignment for b in mains.values()):
            names = [name for name, b in mains.items() if b.assignment == assignment]
            changed = []
            for name in names if len(names) > 1 else []:  # a single file needs no comparison
                try:
                    if files[name].problem or self._ask(is_changed, name, files[name], mains[name]):
                        changed.append(name)
                except GraderError as unreadable:
                    problems[name] = str(unreadable)
                    changed.append(name)
            yield max(changed or names, key=lambda name: (files[name].modified, name))

    def _answers(self, name: str, candidate: _Candidate, bundle: Bundle) -> bool:
        try:
            return not candidate.problem and self._ask(answers, name, candidate, bundle)
        except GraderError:
            return False

    def _ask(self, question: Callable[..., bool], name: str, candidate: _Candidate, bundle: Bundle) -> bool:
        exercises = [exercise.name for exercise in bundle.exercises]
        return self.reader.call(question, Path(name), candidate.read, bundle.stub, exercises)


def _beside(folder: PurePosixPath, folders: _Folders, main: str) -> dict[str, Reader]:
    return {
        str((place / name).relative_to(folder)): file.read
        for place, files in folders.items()
        if place == folder or folder in place.parents
        for name, file in files.items()
        if name.endswith((".py", WEIGHTS)) and not file.problem and (place, name) != (folder, main)
    }


def _named(names: Iterable[str]) -> str:
    """Return the names in order, at most MAX_NAMED of them."""
    found = sorted(names)
    return ", ".join([*map(_shown, found[:MAX_NAMED]), *(["…"] if len(found) > MAX_NAMED else [])])


def nothing_in(folder: Path) -> str:
    """Return a sentence on a folder without a file that can be graded; it names what the folder holds."""
    if folder.is_symlink():
        return _("{file} is a symbolic link; submit the file itself").format(file=_shown(folder.name))
    if not folder.exists():
        return _("there is no folder {folder} here").format(folder=_shown(folder.name))
    held = [path for path in _walk(folder) if path.is_symlink() or not path.is_dir()]
    names = _named(
        _("{file} (a link)").format(file=path.name) if path.is_symlink() else path.name for path in held
    )
    if not names:
        return _("the folder {folder} is empty").format(folder=_shown(folder.name))
    says = _("the folder {folder} holds no .py, no .ipynb and no archive; it holds {files}")
    return says.format(folder=_shown(folder.name), files=names)


def _walk(root: Path, student: str | None = None) -> Iterator[Path]:
    """Yield files, links and folders below `root`, or below the student's folder in it. Links are not followed."""
    for here, inner, names in os.walk(root):
        if student is not None and Path(here) == root:
            inner[:], names = [name for name in inner if name == student], []
        else:
            inner[:] = sorted(name for name in inner if not name.startswith((".", "__")))
        yield from (Path(here, name) for name in (*inner, *sorted(names)) if not name.startswith("."))


def _stem(name: str) -> str:
    for suffix in (*SUFFIXES, *KINDS):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def student_id(name: str) -> str:
    """Return the student's id of a folder or file name.

    An id has é as one character; macOS and some archives use two.
    """
    return _shown(unicodedata.normalize("NFC", name))


def _shown(name: str) -> str:
    return sanitize(name).replace("\n", "\\n").replace("\t", "\\t")
