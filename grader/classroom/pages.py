"""The class report as one HTML page, and one page per submission, as its author may see it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from grader.classroom.class_run import GradedSubmission
from grader.classroom.summary import Summary
from grader.report import html
from grader.support.files import make_folder, write_atomically

FOLDER = Path(__file__).parent
MAX_NAME = 50  # characters of a file's name: students choose the names of what they submit


def page(entries: Sequence[GradedSubmission]) -> str:
    """Return the class report as HTML: numbers per exercise and mistakes first, then a row per submission."""
    return html.render(
        "class.html.jinja",
        FOLDER,
        summary=Summary(entries),
        entries=[entry for entry in entries if entry.report.exercises],
        students=len({entry.student for entry in entries if entry.submission}),
        submissions=sum(bool(entry.submission) for entry in entries),
        first=entries[0].report if entries else None,
    )


def name_of(student: str) -> str:
    """Return the file name of a student's page without its number and suffix. No two students have the same.

    It is the student's id, if no other id can look like it. Otherwise it ends with a hash of the id: after signs that
    are left out, after MAX_NAME characters, and with capital letters, which some file systems do not tell apart.
    """
    if re.fullmatch(rf"\w{{1,{MAX_NAME}}}", student) and student == student.casefold():
        return student
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    readable = re.sub(r"[^\w]+", "_", student)[:MAX_NAME]
    return f"{readable}.{digest}"


def pages_of(student: str, folder: Path) -> list[Path]:
    """Return the pages of a student in a folder."""
    name = re.compile(re.escape(name_of(student)) + r"(-\d+)?\.html")
    return [path for path in sorted(folder.glob("*.html")) if name.fullmatch(path.name)]


def write_pages(folder: Path, entries: Sequence[GradedSubmission]) -> None:
    """Write `NAME.html` for the first entry of each student, `NAME-2.html` for the second, and so on.

    Raises CannotWrite.
    """
    make_folder(folder)
    seen: Counter[str] = Counter()
    for entry in entries:
        seen[entry.student] += 1
        number = f"-{seen[entry.student]}" if seen[entry.student] > 1 else ""
        path = folder / f"{name_of(entry.student)}{number}.html"
        write_atomically(path, html.page(entry.report).encode("utf-8", "backslashreplace"), 0o600)
