"""One page per submission, as its author may see it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from grader.classroom.class_run import GradedSubmission
from grader.report.html import page
from grader.support.atomic_files import make_folder, write_atomically

MAX_NAME = 80  # characters of a file's name: students choose the names of what they submit


def stem_of(student: str) -> str:
    """Return the file name of a student's page without its suffix."""
    return re.sub(r"[^\w]+", "_", student)[:MAX_NAME]


def write_pages(folder: Path, entries: Sequence[GradedSubmission]) -> None:
    """Write `STUDENT.html` for each entry, `STUDENT-2.html` for the second with this name, and so on.

    Entries of one student have the same name; so have those of students whose names differ only in case, in
    punctuation or after MAX_NAME characters.
    Raises CannotWrite.
    """
    make_folder(folder)
    seen: Counter[str] = Counter()
    for entry in entries:
        stem = stem_of(entry.student)
        seen[stem.casefold()] += 1
        number = seen[stem.casefold()]
        name = f"{stem}.html" if number == 1 else f"{stem}-{number}.html"
        write_atomically(folder / name, page(entry.report).encode("utf-8", "backslashreplace"), 0o600)
