"""Set files aside that nbgrader cannot copy: it would discard the submission, or copy what a link points to.

nbgrader copies everything beside a notebook before any preprocessor runs. `c.Autograde.pre_convert_hook` is
the only place before that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.utils import parse_utc
from traitlets.log import get_logger

from grader.nbgrader.renamed import add_expected
from grader.support.i18n import _

FOLDER = ".headway/set_aside"  # in the course folder, with the path that the file had
TIMESTAMP = "timestamp.txt"


def set_aside(notebooks: list[str], **_about: Any) -> None:
    """In `submitted/NAME/ASSIGNMENT/`, find what nbgrader cannot copy, and move it to FOLDER. Called per submission.

    notebooks: nbgrader's own list of the files that it grades; `add_expected` may change it.
    """
    for folder in sorted({Path(notebook).parent for notebook in notebooks}):
        course = folder.parents[2]
        source = course / "source" / folder.name
        for path in [*_uncopyable(folder, source)]:  # a list: moving a file must not change the walk
            kept = course / FOLDER / path.relative_to(course)
            kept.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, kept)
            said = _("{path} cannot be copied and was moved to {kept}.")
            get_logger().warning(said.format(path=path, kept=kept))
        add_expected(folder, notebooks)


def _uncopyable(folder: Path, source: Path) -> Iterator[Path]:
    """Yield what nbgrader cannot copy.

    These are links, devices and pipes; a timestamp that cannot be read; a folder where the assignment has a file,
    or a file where it has a folder. Links to notebooks stay: a preprocessor refuses them with a sentence.
    """
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
        text = path.read_text("utf-8").strip()
        if text:
            parse_utc(text)
    except Exception:  # dateutil raises more than it documents
        return False
    return True
