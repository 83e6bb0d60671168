"""Measure stock `nbgrader autograde` on the exercises of `nine.py`, with the grader's public cases in the test cells.

The test cells have only the checks that compare values (the judge `equal`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benches.measure import ROOT, Each, finished
from benches.nine import EXERCISES, IMPORTS, definitions
from grader.bundle.files import load_all
from grader.bundle.safetensors import encode

# The module that test cells import. It runs the cases on the notebook's definitions, and compares in numpy.
CHECKS = """
import json, pathlib
import numpy as np, safetensors.numpy, safetensors.torch
from grader.worker.program import Program

HERE = pathlib.Path(__file__).parent
CASES = json.loads((HERE / "cases.json").read_text())
INPUTS = safetensors.torch.load_file(HERE / "inputs.safetensors")
WANTED = safetensors.numpy.load_file(HERE / "wanted.safetensors")


def check(exercise, names):
    for number, case in CASES[exercise]:
        stem = f"{number}/"
        program = Program(names, case, {k[len(stem):]: v for k, v in INPUTS.items() if k.startswith(stem)})
        program.run(())
        for name, tensor in program.observed.items():
            if stem + name in WANTED and name in case["judged"]:
                np.testing.assert_allclose(tensor.double().numpy(), WANTED[stem + name], rtol=1e-4, atol=1e-4)
"""


def autograded(folder: Path, size: int, cores: Sequence[int] = ()) -> Each:
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
    exercises = {
        e.name: e
        for bundle in load_all(ROOT / "assignments")
        for e in bundle.exercises
        if e.name in EXERCISES
    }
    cases, inputs, wanted = {}, {}, {}
    for name, exercise in exercises.items():
        cases[name] = []
        for case in exercise.cases:
            stem = f"{name}.{case.id}"
            judged = [n for check in case.checks if check.judge == "equal" for n in check.of]
            cases[name].append([stem, {"steps": case.steps, "dtype": case.dtype, "judged": judged}])
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
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def _cell(source: str, id: str, solution: bool = False, points: int = 0) -> dict[str, object]:
    about: dict[str, object] = {
        "schema_version": 3,
        "grade_id": id,
        "solution": solution,
        "grade": bool(points),
        "locked": not solution,
        "task": False,
    }
    if points:
        about["points"] = points
    return {
        "cell_type": "code",
        "id": id.replace("_", "-"),
        "metadata": {"nbgrader": about},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }


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
