"""Write a folder for students: the lessons and their exercises, the grader as a wheel, and `student_template/`.

`grader release` and `grader start` both do it with `fill`, in a folder that `new_folder` makes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader.authoring.content import PICTURES
from grader.bundle.answers import ANSWERS_FILE
from grader.bundle.files import MANIFEST_FILE, TENSORS_FILE
from grader.bundle.model import Bundle
from grader.engine.load_request import with_requirements
from grader.intake.course import MARK
from grader.release.wheels import WHEELS, write_wheel
from grader.support.errors import UsageError
from grader.support.files import make_folder, owned
from grader.support.i18n import _

_CLUTTER = shutil.ignore_patterns("__pycache__", ".DS_Store", ".ipynb_checkpoints", ".headway")


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Yield a folder that becomes `target`, which must be empty or missing, unless an exception is raised.

    Raises UsageError and CannotWrite. What a killed process leaves is removed by the next call with the same target.
    """
    target = target.resolve()  # a link stays, and the files get into the folder that it names
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(_("{folder} is not an empty folder: name a new one").format(folder=target))
    work = target.parent / (owned(target.parent, f".{target.name}.headway") + "new")
    make_folder(work)
    try:
        yield work
        if target.exists():  # it stays, because a shell may be in it
            for path in work.iterdir():
                shutil.move(path, target)
        else:
            work.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def blocks_of(bundles: Sequence[Bundle]) -> tuple[str, ...]:
    """Return the building blocks that the exercises may use, and those that these need."""
    return with_requirements([name for b in bundles for e in b.exercises for name in e.given])


def files_of_lesson(module: str) -> tuple[str, ...]:
    """Return the names of the files in an assignment's folder. Pictures and pages may come to them."""
    return "README.md", f"{module}.py", f"{module}.ipynb", MANIFEST_FILE, TENSORS_FILE


def fill(bundles: Sequence[Bundle], assignments: Path, target: Path, answers: bool = False) -> Path:
    """Fill the empty folder `target`. Return its wheel. Raises UsageError if `assignments` has no template beside it.

    answers: also copy the answers to the questions of the lessons.
    """
    template = assignments.parent / "student_template"
    if not template.is_dir():
        raise UsageError(_("{folder} is missing: install the grader again").format(folder=template))
    shutil.copytree(template, target, dirs_exist_ok=True, ignore=_CLUTTER)
    if (assignments / MARK).is_file():
        shutil.copyfile(assignments / MARK, target / MARK)  # it has the rules of the course, such as points
    packed = write_wheel(target / WHEELS, blocks_of(bundles), bundles[-1].assignment.split("_")[0])
    rows = [
        f"| [{b.assignment}]({b.assignment}/README.md) | {b.title} | {b.minutes} | {sum(e.points for e in b.exercises):g} |"
        for b in bundles
    ]
    for path in (p for p in target.rglob("*") if p.is_file() and p.suffix != ".whl"):
        text = path.read_text("utf-8")
        path.write_text(text.replace("@WHEEL@", packed.name).replace("@LESSONS@", "\n".join(rows)), "utf-8")
    for bundle in bundles:
        folder = target / bundle.assignment
        folder.mkdir()
        for name in files_of_lesson(bundle.module):
            shutil.copyfile(assignments / bundle.assignment / name, folder / name)
        if (pictures := assignments / bundle.assignment / PICTURES).is_dir():
            shutil.copytree(pictures, folder / PICTURES, ignore=_CLUTTER)
        for page in (assignments / bundle.assignment).glob("*.md"):  # README.md, and pages beside it
            if answers or page.name != ANSWERS_FILE:
                shutil.copyfile(page, folder / page.name)
    return packed
