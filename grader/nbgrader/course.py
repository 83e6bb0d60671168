"""Make an nbgrader course from solutions/: notebooks with their solutions, pictures, public cases, configuration.

Every call updates `headway_config.py` and the chosen assignments in `source/`. It never changes an existing
`nbgrader_config.py`, the gradebook, submissions, or anything that nbgrader makes from them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.authoring.build import _cells
from grader.authoring.content import Assignment
from grader.bundle.answers import answers
from grader.bundle.files import MANIFEST_FILE, TENSORS_FILE
from grader.intake.course import MARK
from grader.support.code import BEGIN
from grader.support.errors import UsageError
from grader.support.files import write_atomically
from grader.support.i18n import _

OWN_CONFIG, OUR_CONFIG = "nbgrader_config.py", "headway_config.py"  # the instructor's file, and the grader's
LOADS = f'load_subconfig("{OUR_CONFIG}")'
KEPT = ".headway/replaced"  # earlier versions of overwritten notebooks; nbgrader does not release this folder
QUESTIONS = "## Questions"


@dataclass(frozen=True)
class CourseOptions:
    """The options of `grader course`."""

    course_id: str
    solutions: Path
    assignments: Path
    seed_file: Path
    sandbox: str = "auto"
    # exercise → points, where the course changes them
    points: Mapping[str, float] = field(default_factory=dict)
    question_points: float = 0.0


def make(folder: Path, chosen: Sequence[Assignment], options: CourseOptions) -> list[Path]:
    """Write the course. Return the files that changed. Raises UsageError."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(_("{folder} is a file, not a folder").format(folder=folder))
    if options.seed_file.resolve().is_relative_to(folder.resolve()):
        says = _("the secret seed {seed} is in the course folder, which students may see; keep it elsewhere")
        raise UsageError(says.format(seed=options.seed_file))
    folder.mkdir(parents=True, exist_ok=True)
    return [path for path, data in _files(folder, chosen, options) if _written(folder, path, data)]


def lacks_our_config(folder: Path) -> bool:
    """Return whether `nbgrader_config.py` does not name `headway_config.py`."""
    return OUR_CONFIG not in (folder / OWN_CONFIG).read_text("utf-8")


def _files(
    folder: Path, chosen: Sequence[Assignment], options: CourseOptions
) -> Iterator[tuple[Path, bytes]]:
    if not (folder / OWN_CONFIG).exists():
        yield folder / OWN_CONFIG, own_config(options.course_id).encode()
    yield folder / OUR_CONFIG, our_config(options).encode()
    for assignment in chosen:
        place = folder / "source" / assignment.name
        text = notebook(assignment, options.question_points, options.points)
        yield place / f"{assignment.name}.ipynb", text.encode()
        for name in (MANIFEST_FILE, TENSORS_FILE):
            public = options.assignments / assignment.name / name
            if not public.is_file():
                raise UsageError(_("{path} is missing; `grader build` makes it").format(path=public))
            yield place / name, public.read_bytes()
        # So that students see the points of the course.
        yield place / MARK, (options.assignments / MARK).read_bytes()
        for name, data in {**assignment.pictures, **assignment.pages}.items():
            yield place / name, data


def _written(folder: Path, path: Path, data: bytes) -> bool:
    """Write a file unless it has this content, and keep the old version of a notebook."""
    if path.exists() and path.read_bytes() == data:
        return False
    if path.exists() and path.suffix == ".ipynb":
        old = path.read_bytes()
        kept = folder / KEPT / f"{path.stem}-{hashlib.sha256(old).hexdigest()[:8]}.ipynb"
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, old)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data)
    return True


# ---- notebooks


def notebook(
    assignment: Assignment, question_points: float = 0.0, changed: Mapping[str, float] | None = None
) -> str:
    """Return the instructor's version of an assignment: solutions between their markers, and one graded cell per
    exercise.

    question_points: of each task cell with questions. changed: exercise → points, where the course changes them.
    The `grade_id` of a solution cell is the exercise's name; that of its graded cell is `check-` and the
    name. These must not change: nbgrader refuses to add or remove cells once there are submissions.
    """
    import nbformat

    points = {exercise.name: exercise.points for exercise in assignment.exercises}
    points |= changed or {}
    code, words = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    cells = [code("from grader import check", metadata=_role("headway", locked=True))]
    questions = 0
    for cell in _cells(assignment.source):
        name = cell.metadata.get("exercise")
        if cell.cell_type == "markdown" and cell.source.startswith(QUESTIONS):
            questions += 1
            role = _role(f"questions-{questions}", task=True, locked=True, points=question_points)
            cells.append(words(cell.source + _rubric(assignment, question_points), metadata=role))
        elif cell.cell_type == "markdown":
            cells.append(words(cell.source))
        elif name is None and BEGIN in cell.source:
            says = _("{name}: a solution is in a cell that belongs to no exercise")
            raise UsageError(says.format(name=assignment.name))
        elif name is None:
            cells.append(code(cell.source))
        else:
            cells.append(code(cell.source, metadata=_role(name, solution=True)))
            role = _role(f"check-{name}", grade=True, locked=True, points=points[name])
            cells.append(code(f'check("{name}")', metadata=role))
    # The ids are the same at every call, so that an unchanged notebook is not written again.
    for place, cell in enumerate(cells):
        cell.id = hashlib.sha256(f"nbgrader/{assignment.name}/{place}".encode()).hexdigest()[:12]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}}
    )
    return str(nbformat.writes(book)) + "\n"


def _rubric(assignment: Assignment, points: float) -> str:
    """Return what graders see below the questions: their answers, between marks where nbgrader cuts the release."""
    found = [one for text in assignment.answers.values() for one in answers(text.decode()).items()]
    if not found or not points:
        return ""
    says = _("Question {n}, up to {points:g} points.")
    parts = [f"**{says.format(n=number, points=points / len(found))}** {text}" for number, text in found]
    return "\n\n".join(["", "=== BEGIN MARK SCHEME ===", *parts, "=== END MARK SCHEME ==="])


def _role(grade_id: str, **roles: Any) -> dict[str, Any]:
    roles = {"grade": False, "solution": False, "locked": False, "task": False, **roles}
    return {"nbgrader": {"schema_version": 3, "grade_id": grade_id, **roles}}


# ---- configuration


def own_config(course_id: str) -> str:
    return f"""\
# This file is yours: `grader course` writes it once and never changes it.
c = get_config()

c.CourseDirectory.course_id = {course_id!r}

{LOADS}  # `grader course` writes that file again; your settings below take precedence
"""


def our_config(options: CourseOptions) -> str:
    return f"""\
# `grader course` overwrites this file at every call. Put your settings in {OWN_CONFIG}, after the line that loads this.
c = get_config()

# Where the hidden cases come from. Keep the seed outside this folder: it gives all hidden cases.
c.Headway.solutions = {str(options.solutions.resolve())!r}
c.Headway.seed_file = {str(options.seed_file.resolve())!r}

# The sandbox in which submissions run: auto (the best one available), strict, landlock or basic.
# `basic` stops no determined attacker. The grader refuses it unless you trust these submissions.
c.Headway.sandbox = {options.sandbox!r}
c.Headway.trusted_submissions = False

# The folder whose {MARK} has the points, weights and other rules of the course.
c.Headway.course = {str(options.assignments.resolve())!r}

# `zip_collect` also takes the weights that lesson 17 asks for.
c.FileNameCollectorPlugin.valid_ext = [".ipynb", ".safetensors"]

# Students get the stubs of the course, which say what is not written yet.
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.InstantiateTests",
    "nbgrader.preprocessors.LockCells",
    "grader.nbgrader.preprocessors.Stub",  # replaces ClearSolutions
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# All that a student submitted is found, as `grader grade` finds it, and nothing of it is lost.
c.Autograde.pre_convert_hook = "grader.nbgrader.set_aside.set_aside"
c.Autograde.exporter_class = "grader.nbgrader.notebook_file.TolerantExporter"
c.Autograde.sanitize_preprocessors = [
    "grader.nbgrader.repair_cells.RepairCells",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "grader.nbgrader.repair_cells.RepairCells",
    "grader.nbgrader.preprocessors.Grade",  # replaces Execute: hidden cases, no kernel
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "grader.nbgrader.preprocessors.SaveGrades",  # replaces SaveAutoGrades: reasons as comments
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
"""
