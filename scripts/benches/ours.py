"""Measure `nbgrader autograde` on the notebooks of `stock.py`: with our preprocessors, before and after `grader grade`,
and without them.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benches import nine
from benches.measure import GRADER, Each, finished
from benches.stock import hand_in, require_full_marks, source

# Configuration of nbgrader without our preprocessors, and without the one that executes the notebook.
WITHOUT_OURS = """
c = get_config()
c.Autograde.exporter_class = "nbconvert.exporters.NotebookExporter"
c.Autograde.sanitize_preprocessors = [f"nbgrader.preprocessors.{name}" for name in (
    "ClearOutput", "DeduplicateIds", "OverwriteKernelspec", "OverwriteCells", "CheckCellMetadata")]
c.Autograde.autograde_preprocessors = [
    "nbgrader.preprocessors.IgnorePattern", "nbconvert.preprocessors.ClearMetadataPreprocessor",
    *(f"nbgrader.preprocessors.{name}" for name in (
        "LimitOutput", "SaveAutoGrades", "AssignLatePenalties", "CheckCellMetadata"))]
"""


@dataclass(frozen=True)
class Measured:
    """The cost per notebook of nine exercises, measured in four ways; all but `first` on one core."""

    alone: Each  # `nbgrader autograde` with our preprocessors, before there is a store of results
    first: Each  # `grader grade` on all cores, start included
    filled: Each  # `nbgrader autograde` with our preprocessors, after `grader grade`
    empty: Each  # `nbgrader autograde` without our preprocessors


def autograded(folder: Path, size: int) -> Measured:
    course = _Course(folder / "checkout")
    # One submission more than `size`: `autograde` subtracts a run over one submission.
    for number in range(size + 1):
        hand_in(course.folder / "submitted" / f"student{number:03}" / "nine", course.release, number)
    core = sorted(os.sched_getaffinity(0))[:1]
    alone = course.autograde(size, core)
    require_full_marks(course.folder, size + 1)
    first = course.run(str(GRADER), "grade", "course/submitted", "--format", "csv") / (size + 1)
    filled = course.autograde(size, core)
    require_full_marks(course.folder, size + 1)
    with (course.folder / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(WITHOUT_OURS)
    return Measured(alone, first, filled, course.autograde(size, core))


class _Course:
    """An nbgrader course with one assignment of nine exercises, whose hidden cases are recorded already."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = nine.course(checkout)
        self.folder = checkout / "course"
        self.release = self.folder / "release" / "nine"
        self.run(str(GRADER), "course", "course")
        place = self.folder / "source" / "nine"
        place.mkdir()
        (place / "nine.ipynb").write_text(source('check("{name}")', "from grader import check"), "utf-8")
        self.run(sys.executable, "-m", "nbgrader", "generate_assignment", "nine", cwd=self.folder)
        nine.class_of(1, checkout / "one")
        self.run(str(GRADER), "grade", "one", "--format", "csv")

    def autograde(self, size: int, cores: Sequence[int]) -> Each:
        """Return the cost per submission of `nbgrader autograde`.

        Without the start of nbgrader: a run over one submission is subtracted.
        """
        shutil.rmtree(self.folder / "autograded", ignore_errors=True)
        command = [sys.executable, "-m", "nbgrader", "autograde", "nine", "--student"]
        # "*" is every student, but nbgrader skips the one that it has graded.
        first, others = (
            self.run(*command, students, cwd=self.folder, cores=cores) for students in ("student000", "*")
        )
        return (others - first) / (size - 1)

    def run(self, *command: str, cwd: Path | None = None, cores: Sequence[int] = ()) -> Each:
        own = {"HEADWAY_COURSE": "assignments", "HEADWAY_SEED_FILE": "seed", "XDG_CACHE_HOME": "cache"}
        variables = {name: str(self.checkout / path) for name, path in own.items()}
        return Each(*finished(command, cwd or self.checkout, cores, **variables))
