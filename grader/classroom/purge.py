"""Remove what the grader stored about one student: results, results that are not published yet, pages, and files
that it moved aside because nbgrader cannot copy them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from grader.bundle.model import Bundle
from grader.classroom.bounded_reader import BoundedReader
from grader.classroom.discover import SubmittedFile, discover, student_id
from grader.classroom.pages import pages_of
from grader.classroom.regrade import side_store
from grader.classroom.store import Store, StoreKey, default_store
from grader.intake.read import Blocked, Files, submission_from, with_neighbours
from grader.support.errors import GraderError, UsageError
from grader.support.i18n import _

SET_ASIDE = Path(".headway", "set_aside")  # in an nbgrader course, see grader/nbgrader/set_aside.py
NBGRADER = ("submitted", "autograded", "feedback")  # in an nbgrader course, with a folder per student


@dataclass(frozen=True)
class StudentData:
    """The stored data of a student.

    stores: store → hashes of files whose results are deleted. paths: files of the grader to delete.
    theirs: submissions and files of nbgrader, which are only listed.
    """

    stores: dict[Path, list[str]]
    paths: tuple[Path, ...]
    theirs: tuple[Path, ...]

    def __bool__(self) -> bool:
        return any(self.stores.values()) or bool(self.paths)


def find_stored(
    student: str, root: Path, bundles: Sequence[Bundle], store: Path | None, pages: Path | None
) -> StudentData:
    """Find what is stored about a student of the class in `root`. Nothing is changed.

    A store has no names, so this finds all results except those of files that other students have in `root`. It also
    finds the results of deleted files, of any student.
    store: the one that `--store` named, besides those in the cache. pages: the folder of `grader grade --pages`.
    Raises UsageError if `root` is no folder, `student` cannot be the name of a folder, or nothing of this student is
    found. Raises GraderError if a file of another student cannot be read, since its results would be lost.
    """
    if not root.is_dir():
        raise UsageError(_("{path} is no folder of submissions").format(path=root))
    if Path(student).name != student or student in ("", ".", ".."):
        raise UsageError(_("{student} cannot be the name of a student's folder").format(student=student))
    root = root.resolve()  # "." has no parent
    files = discover(root, bundles)
    theirs = [root / file.submission for file in files if file.student == student_id(student)]
    theirs += [path for folder in NBGRADER if (path := root.parent / folder / student).is_dir()]
    aside = root.parent / SET_ASIDE / root.name / student
    ours = [aside] if aside.is_dir() else []
    if pages is not None:
        ours += pages_of(student_id(student), pages)
    if not theirs and not ours:
        says = _("no file of {student} is in {path}; nothing was removed")
        raise UsageError(says.format(student=student, path=root))
    with BoundedReader() as reader:
        others = {_content(file, reader) for file in files if file.student != student_id(student)}
    stores = {}
    for path in (default_store(root), side_store(root), *([store] if store else [])):
        if path.is_file():
            with closing(Store(path, _NO_KEY)) as opened:
                stores[path] = [content for content in opened.contents() if content not in others]
    return StudentData(stores, tuple(ours), tuple(dict.fromkeys(theirs)))


def remove(found: StudentData) -> None:
    """Delete what was found."""
    for path, contents in found.stores.items():
        with closing(Store(path, _NO_KEY)) as store:
            store.delete(contents)
    for path in found.paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


_NO_KEY = StoreKey("", "", "")  # no result is read


def _content(file: SubmittedFile, reader: BoundedReader) -> str:
    """Return the hash by which a store has the results of a file; "" if it can have none."""
    if file.problem:
        return ""
    try:
        return reader.call(content_of, file.file, file.read, file.beside())
    except Blocked:  # a file that is no submission has no stored results
        return ""
    except GraderError as error:
        says = _(
            "{file} {why}, so it is not clear which results belong to it; nothing was removed. Move that file elsewhere, run the"
            " command again, and move it back: it is then graded again."
        )
        raise GraderError(says.format(file=file.submission, why=error)) from None


def content_of(path: Path, read: Callable[[], bytes], beside: Files) -> str:
    """Return the hash by which `grader grade` stores the results of a file. Raises Blocked."""
    return with_neighbours(submission_from(path, read()), beside).content
