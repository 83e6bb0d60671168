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
from benches.nine import EXERCISES, IMPORTS, answers, class_of, definitions, variables
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


NBGRADER = (sys.executable, "-m", "nbgrader")


def stock(folder: Path, size: int, cores: Sequence[int] = ()) -> Each:
    """Return the cost per submission of stock `nbgrader autograde`."""
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
    finished([*NBGRADER, "generate_assignment", "nine"], course)
    hand_in(course, size + 1)
    cost = autograded(course, size, cores)
    require_full_marks(course, size + 1)
    return cost


def autograded(course: Path, size: int, cores: Sequence[int], **environment: str) -> Each:
    """Return the cost per submission of `nbgrader autograde`, for a class of `size` + 1.

    Without the start of nbgrader: a run over one submission is subtracted.
    """
    shutil.rmtree(course / "autograded", ignore_errors=True)
    # "*" is every student, but nbgrader skips the one that it has graded.
    first, others = (
        finished([*NBGRADER, "autograde", "nine", "--student", students], course, cores, **environment)
        for students in ("student000", "*")
    )
    return (others - first) / (size - 1)


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


def hand_in(course: Path, size: int) -> None:
    """Write a class of `size` students: each hands in the released folder with answers of their own."""
    for number in range(size):
        own = answers(number)
        folder = course / "submitted" / f"student{number:03}" / "nine"
        shutil.copytree(course / "release" / "nine", folder, copy_function=shutil.copyfile)
        book = json.loads((folder / "nine.ipynb").read_text("utf-8"))
        for cell in book["cells"]:
            about = cell["metadata"].get("nbgrader", {})
            if about.get("solution"):
                cell["source"] = own[about["grade_id"]]
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
    checkout = course_of_nine(folder / "checkout")
    course, own = checkout / "course", variables(checkout)
    finished([GRADER, "course", "course"], checkout, **own)
    (course / "source" / "nine").mkdir()
    notebook = source('check("{name}")', "from grader import check")
    (course / "source" / "nine" / "nine.ipynb").write_text(notebook, "utf-8")
    finished([*NBGRADER, "generate_assignment", "nine"], course, **own)
    grade = [GRADER, "grade", "--format", "csv"]
    finished([*grade, class_of(1, checkout / "one")], checkout, **own)  # records the hidden cases
    hand_in(course, size + 1)
    core = sorted(os.sched_getaffinity(0))[:1]
    alone = autograded(course, size, core, **own)
    require_full_marks(course, size + 1)
    first = finished([*grade, "course/submitted"], checkout, **own) / (size + 1)
    filled = autograded(course, size, core, **own)
    require_full_marks(course, size + 1)
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(WITHOUT_OURS)
    return Measured(alone, first, filled, autograded(course, size, core, **own))
