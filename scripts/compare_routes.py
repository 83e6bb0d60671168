"""Grade the answers of tests/answers as classes by `nbgrader autograde` and by `grader grade`; compare the marks.

    python scripts/compare_routes.py                       all assignments: hours
    python scripts/compare_routes.py 02_masking            one assignment: minutes
    python scripts/compare_routes.py --every 10            each tenth answer

Each answer is a student. The students submit in turn: the notebook with the answer in its cell, one notebook cell as
Colab saves it, a script, an archive, and a script in a folder of another name. Both routes grade the same folder with
the same hidden cases, and neither sees a result of the other. The exit status is 1 if a mark differs.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from nbgrader.api import Gradebook
from shared import ANSWERS, ROOT, Answer, parser

from grader.bundle.files import load
from grader.bundle.model import Bundle

BIN = Path(sys.executable).parent
Marks = dict[tuple[str, str], float | None]  # (student, exercise) → points; None: a person has to grade it
WAYS = ("notebook", "colab", "script", "archive", "folder")


def submit(course: Path, bundle: Bundle, answers: Sequence[Answer]) -> None:
    """Write a class in which each answer is a student."""
    released = (course / "release" / bundle.assignment / f"{bundle.assignment}.ipynb").read_text("utf-8")
    for number, answer in enumerate(answers):
        way = WAYS[number % len(WAYS)]
        student = course / "submitted" / f"{answer.exercise}-{answer.name}-{way}"
        name, data = _file(way, bundle, json.loads(released), answer)
        folder = student / ("homework" if way == "folder" else bundle.assignment)
        folder.mkdir(parents=True)
        (folder / name).write_bytes(data)


def _file(way: str, bundle: Bundle, book: dict, answer: Answer) -> tuple[str, bytes]:
    """Return the name of a submitted file and its content. book: the released notebook, which is changed."""
    source = answer.source
    if way == "notebook":
        marks = {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell for cell in book["cells"]}
        marks[answer.exercise]["source"] = source
        return f"{bundle.assignment}.ipynb", json.dumps(book).encode()
    if way == "colab":
        cell = {"cell_type": "code", "metadata": {"id": "x"}, "outputs": [], "source": source}
        cells = [cell | {"execution_count": None}]
        colab = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 0}
        return "Untitled0.ipynb", json.dumps(colab).encode()
    if way == "archive":
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(f"homework/{bundle.module}.py", source)
        return "homework.zip", packed.getvalue()
    return f"{bundle.module}.py" if way == "script" else "answer.py", source.encode()


def by_nbgrader(course: Path, assignment: str) -> Marks:
    _run("nbgrader", "autograde", assignment, cwd=course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            (submission.student_id, grade.name.removeprefix("check-")): None
            if grade.needs_manual_grade
            else grade.auto_score
            for submission in gradebook.assignment_submissions(assignment)
            for notebook in submission.notebooks
            for grade in notebook.grades
            if grade.name.startswith("check-")
        }


def by_grader(course: Path, assignment: str) -> Marks:
    command = ("grader", "grade", course / "submitted", "--only", assignment, "--format", "jsonl")
    printed = _run(*command, "--store", course / "own-store", cwd=ROOT, statuses=(0, 1, 3))
    records = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return {(one["student"], e["name"]): e["score"] for one in records for e in one["exercises"]}


def _run(name: str, *arguments: object, cwd: Path, statuses: Sequence[int] = (0,)) -> str:
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    words = [str(BIN / name), *map(str, arguments)]
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode not in statuses:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}\n{done.stderr[-3000:]}")
    return done.stdout


def compare(assignment: str, every: int) -> Counter[str]:
    """Grade a class by both routes, print the marks that differ, and return how many are equal, manual, different."""
    bundle = load(ROOT / "assignments" / assignment)
    answers = [a for exercise in bundle.exercises for a in ANSWERS if a.exercise == exercise.name][::every]
    counts: Counter[str] = Counter(answers=len(answers))
    if not answers:
        return counts
    with tempfile.TemporaryDirectory() as made:
        course = Path(made, "course")
        _run("grader", "course", course, "--only", assignment, cwd=ROOT)
        with (course / "nbgrader_config.py").open("a", encoding="utf-8") as file:
            file.write(f"\nc.Headway.store = {str(course / 'no-store')!r}\n")
        _run("nbgrader", "generate_assignment", assignment, cwd=course)
        submit(course, bundle, answers)
        ours, theirs = by_grader(course, assignment), by_nbgrader(course, assignment)
    students = sorted({student for student, _exercise in (*ours, *theirs)})
    if len(students) != len(answers):
        raise SystemExit(f"{len(students)} students of {len(answers)} were graded")
    for student in students:
        for exercise in (e.name for e in bundle.exercises):
            # A file that does not define an exercise has no row in `grader grade`, and 0 points in nbgrader.
            one, other = ours.get((student, exercise), 0.0), theirs.get((student, exercise), "no row")
            kind = "manual" if one is None and other is None else "equal" if one == other else "different"
            counts[kind] += 1
            if kind == "different":
                print(f"{student} {exercise}: grader grade {one}, nbgrader {other}", flush=True)
    return counts


def main() -> None:
    options = parser(__doc__)
    options.add_argument("assignments", nargs="*")
    options.add_argument("--every", type=int, default=1, metavar="N")
    arguments = options.parse_args()
    every = sorted(path.parent.name for path in (ROOT / "assignments").glob("*/bundle.json"))
    total: Counter[str] = Counter()
    for assignment in arguments.assignments or every:
        counts = compare(assignment, arguments.every)
        total += counts
        print(f"{assignment}: {_said(counts)}", flush=True)
    print(f"all: {_said(total)}")
    sys.exit(bool(total["different"]))


def _said(counts: Counter[str]) -> str:
    kinds = f"{counts['equal']} equal marks, {counts['different']} different, {counts['manual']} manual by both routes"
    return f"{counts['answers']} answers; {kinds}"


if __name__ == "__main__":
    main()
