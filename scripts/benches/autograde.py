"""Measure `nbgrader autograde` on a class of nine exercises: stock nbgrader, and with our preprocessors.

Stock nbgrader has the grader's public cases in its test cells, of these the checks that compare values (the judge
`equal`). Ours is measured before and after `grader grade`, and without our preprocessors.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from benches.measure import GRADER, ROOT, Each, finished
from benches.nine import EXERCISES, IMPORTS, class_of, definitions
from benches.nine import course as course_of_nine
from grader.bundle.files import load_all
from grader.bundle.safetensors import encode
from grader.worker.steps import Run

# The module that test cells import. It runs the cases on the notebook's definitions, and compares in numpy.
CHECKS = """
import json, pathlib
import msgspec, numpy as np, safetensors.numpy, safetensors.torch
from grader.worker.program import Program
from grader.worker.steps import Run

HERE = pathlib.Path(__file__).parent
CASES = json.loads((HERE / "cases.json").read_text())
INPUTS = safetensors.torch.load_file(HERE / "inputs.safetensors")
WANTED = safetensors.numpy.load_file(HERE / "wanted.safetensors")


def check(exercise, names):
    for number, case, judged in CASES[exercise]:
        stem, run = f"{number}/", msgspec.convert(case, Run)
        program = Program(names, run, {k[len(stem):]: v for k, v in INPUTS.items() if k.startswith(stem)})
        program.run(())
        for name, tensor in program.observed.items():
            if stem + name in WANTED and name in judged:
                np.testing.assert_allclose(tensor.double().numpy(), WANTED[stem + name], rtol=1e-4, atol=1e-4)
"""


def stock(folder: Path, size: int, cores: Sequence[int] = ()) -> Each:
    """Return the cost per submission of `nbgrader autograde`.

    Without the start of nbgrader: a run over one submission is subtracted.
    """
    course = folder / "stock"
    (course / "source" / "nine").mkdir(parents=True)
    (course / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.CourseDirectory.course_id = 'bench'\nc.CourseDirectory.root = {str(course)!r}\n",
        "utf-8",
    )
    _write_checks(course / "source" / "nine")
    (course / "source" / "nine" / "nine.ipynb").write_text(
        source("from checks import check\ncheck('{name}', globals())"), "utf-8"
    )
    _nbgrader(course, (), "generate_assignment", "nine")
    times = []
    for numbers in (range(1), range(1, size + 1)):
        for number in numbers:
            hand_in(
                course / "submitted" / f"student{number:03}" / "nine", course / "release" / "nine", number
            )
        times.append(_nbgrader(course, cores, "autograde", "nine"))  # it skips submissions that it has graded
    require_full_marks(course, size + 1)
    return (times[1] - times[0]) / (size - 1)


def _nbgrader(course: Path, cores: Sequence[int], *arguments: str) -> Each:
    return Each(*finished([sys.executable, "-m", "nbgrader", *arguments], course, cores))


def _write_checks(folder: Path) -> None:
    exercises = [e for bundle in load_all(ROOT / "assignments") for e in bundle.exercises]
    cases, inputs, wanted = {}, {}, {}
    for exercise in exercises:
        name = exercise.name
        if name not in EXERCISES:
            continue
        cases[name] = []
        for case in exercise.cases:
            stem = f"{name}.{case.id}"
            judged = [n for check in case.checks if check.judge == "equal" for n in check.of]
            cases[name].append([stem, msgspec.to_builtins(Run(case.steps, case.dtype)), judged])
            inputs |= {f"{stem}/{key}": array for key, array in case.tensors.items()}
            wanted |= {f"{stem}/{key}": array for key, array in case.expected.items()}
    (folder / "cases.json").write_text(json.dumps(cases), "utf-8")
    (folder / "inputs.safetensors").write_bytes(encode(inputs))
    (folder / "wanted.safetensors").write_bytes(encode(wanted))
    (folder / "checks.py").write_text(CHECKS, "utf-8")


def source(test: str, imports: str = "") -> str:
    """Return the instructor's notebook: a solution cell and a test cell per exercise.

    test: the source of a test cell, with {name} for the exercise. imports: put before IMPORTS.
    """
    cells = [_cell(f"{imports}\n{IMPORTS}".strip(), "imports")]
    for name, answer in definitions().items():
        cells.append(_cell(f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION", name, solution=True))
        cells.append(_cell(test.format(name=name), f"test-{name}", points=1))
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.writes(new_notebook(cells=cells, metadata=kernel))


def _cell(source: str, id: str, solution: bool = False, points: int = 0) -> nbformat.NotebookNode:
    about = {"grade_id": id, "solution": solution, "grade": bool(points), "locked": not solution}
    about |= {"schema_version": 3, "task": False} | ({"points": points} if points else {})
    return new_code_cell(source, id=id.replace("_", "-"), metadata={"nbgrader": about})


def hand_in(folder: Path, release: Path, mark: int) -> None:
    """Write the submission of one student: the released folder with all answers. `mark` differs per student."""
    folder.mkdir(parents=True)
    for file in release.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    answers = definitions()
    book = json.loads((release / "nine.ipynb").read_text("utf-8"))
    for cell in book["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("solution"):
            cell["source"] = f"{answers[about['grade_id']]}\n# submitted by {mark}"
    (folder / "nine.ipynb").write_text(json.dumps(book), "utf-8")


def require_full_marks(course: Path, size: int) -> None:
    """Exit if a submission does not have all points: failing answers are graded faster, so the time would be wrong."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        scores = [submission.score for submission in gradebook.assignment_submissions("nine")]
    if scores != [len(EXERCISES)] * size:
        raise SystemExit(f"nbgrader gave {scores}")


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


def ours(folder: Path, size: int) -> Measured:
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
        self.checkout = course_of_nine(checkout)
        self.folder = checkout / "course"
        self.release = self.folder / "release" / "nine"
        self.run(str(GRADER), "course", "course")
        place = self.folder / "source" / "nine"
        place.mkdir()
        (place / "nine.ipynb").write_text(source('check("{name}")', "from grader import check"), "utf-8")
        self.run(sys.executable, "-m", "nbgrader", "generate_assignment", "nine", cwd=self.folder)
        class_of(1, checkout / "one")
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
