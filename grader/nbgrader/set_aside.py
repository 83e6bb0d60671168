"""What happens before nbgrader converts: find all submissions, and set aside files that would end its run.

nbgrader looks for notebooks, reads timestamps and copies everything beside a notebook before any preprocessor runs.
It has no hook before the first two, so `Autograde.init_notebooks` is replaced when it loads this module for
`c.Autograde.pre_convert_hook`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatch
from glob import glob
from itertools import count
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde
from nbgrader.utils import parse_utc
from traitlets.log import get_logger

from grader.nbgrader.submissions import is_ours, is_submitted_elsewhere, released
from grader.support.files import read_within
from grader.support.i18n import _

FOLDER = ".headway/set_aside"  # in the course folder, with the path that the file had
TIMESTAMP = "timestamp.txt"
MAX_TIMESTAMP = 64  # bytes; the time to parse a timestamp is quadratic in its length


def set_aside(notebooks: list[str], **_about: Any) -> None:
    """In `submitted/NAME/ASSIGNMENT/`, find what nbgrader cannot copy, and move it to FOLDER. Called per submission."""
    for folder in sorted({Path(notebook).parent for notebook in notebooks}):
        course = folder.parents[2]
        source = course / "source" / folder.name
        link = next((place for place in (folder.parent, folder) if place.is_symlink()), None)
        # A list: moving a file must not change the walk.
        for path in [link] if link is not None else [*_uncopyable(folder, source)]:
            try:
                kept = _moved(path, course)
            except OSError:
                get_logger().exception("%s", path)
                continue
            said = (
                _("{path} holds no time that nbgrader can read, and was moved to {kept}.")
                if path.name == TIMESTAMP and kept.is_file()
                else _("{path} cannot be copied and was moved to {kept}.")
            )
            get_logger().warning(said.format(path=path, kept=kept))


def _moved(path: Path, course: Path) -> Path:
    """Move a file, folder or link to FOLDER, beside what was moved there before; return its new path."""
    place = course / FOLDER / path.relative_to(course)
    if path.is_symlink():
        place = place / "link"  # so that no later file is moved through it
    place.parent.mkdir(parents=True, exist_ok=True)
    names = (place if not n else place.with_name(f"{place.name}.{n}") for n in count())
    kept = next(name for name in names if not os.path.lexists(name))
    os.replace(path, kept)
    return kept


_init_notebooks = Autograde.init_notebooks


def init_notebooks(self: Autograde) -> None:
    """Find all submissions of an assignment of the grader, also those without a notebook, and call `set_aside`.

    For any other assignment, do what nbgrader does.
    """
    self.notebooks, self.assignments = [], {}
    course, assignment = self.coursedir, self.coursedir.assignment_id
    for student in glob(os.path.dirname(self._format_source(assignment, course.student_id))):
        folder = Path(student, assignment)
        expected = folder / f"{assignment}.ipynb"
        if not is_ours(expected) or not fnmatch(assignment, course.notebook_id):
            continue
        try:
            is_submitted = folder.is_dir() or is_submitted_elsewhere(expected)
        except Exception:
            self.log.exception("%s", student)
            continue
        if is_submitted:
            notebooks = {expected, *(path for path in released(folder) if path.exists())}
            self.assignments[str(folder)] = [str(path) for path in sorted(notebooks)]
            set_aside(self.assignments[str(folder)])
    if not self.assignments:
        _init_notebooks(self)


Autograde.init_notebooks = init_notebooks


def _uncopyable(folder: Path, source: Path) -> Iterator[Path]:
    """Yield what nbgrader cannot copy; links to notebooks stay, for a preprocessor refuses them with a sentence."""
    for here, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(here, name)
            mode = path.lstat().st_mode
            other = source / path.relative_to(folder)
            if stat.S_ISDIR(mode):
                wrong = other.is_file()
            else:
                plain = stat.S_ISREG(mode) or (stat.S_ISLNK(mode) and path.suffix == ".ipynb")
                wrong = not plain or other.is_dir() or (name == TIMESTAMP and not _is_timestamp(path))
            if wrong:
                yield path
        # Do not walk folders that are moved as a whole.
        folders[:] = [
            name for name in folders if not (source / Path(here, name).relative_to(folder)).is_file()
        ]


def _is_timestamp(path: Path) -> bool:
    """Whether nbgrader can read the timestamp in a file. If it cannot, its whole run ends."""
    try:
        text = read_within(path, MAX_TIMESTAMP).decode("utf-8").strip()
        if text:
            parse_utc(text)
    except Exception:  # dateutil raises more than it documents
        return False
    return True
