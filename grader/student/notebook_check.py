"""`from grader import check` in a notebook: grade what its kernel has executed, and show the report in the cell.

The student controls the kernel, so nothing here is secret: cases are public, and the code runs again in a
worker that has no expected outputs.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.intake.neighbours import inside, with_neighbours
from grader.intake.read import Submission
from grader.report.model import Report
from grader.support.errors import UsageError
from grader.support.i18n import _

if TYPE_CHECKING:
    from grader.intake.course import Course
import ast
import re

from grader.intake.notebook import plain_python
from grader.intake.read import Unit
from grader.intake.syntax import parse

EXECUTION = "NBGRADER_EXECUTION"  # set by nbgrader's own commands


def check(exercise: object = None) -> float:
    """Grade an exercise as this notebook defines it, show a report, and return the points as a plain float.

    exercise: its name, or the function or class itself; None for every exercise that the notebook defines.

    Never raises for a wrong answer and prints nothing to stderr, because nbgrader counts either as a failure.
    If the grader cannot grade the exercise, the cell shows why, and the result is 0.0.
    """
    name = exercise if isinstance(exercise, str) else str(getattr(exercise, "__name__", exercise or ""))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = _grader.grade(name)
    except UsageError as why:
        return _show_message(str(why))
    except Exception as error:
        _grader.close()
        says = _("{name} could not be graded: {why}")
        return _show_message(says.format(name=name, why=f"{type(error).__name__}: {error}"))
    except BaseException:  # interrupted: the worker may be in the middle of a request
        _grader.close()
        raise
    _show(report)
    return _points(report)


class _NotebookGrader:
    """One launcher and one engine for all calls, so that only the first call waits for torch."""

    def __init__(self) -> None:
        self._engine: Any = None
        self._launcher: Any = None
        self._course: Course | None = None

    def grade(self, name: str) -> Report:
        """Grade one exercise, or all that are defined. Raises UsageError if there is nothing to grade."""
        units = executed_units(_history())
        course = self._course_here()
        engine = self._ready(course)
        known = {e.name: e for bundle in engine.bundles for e in bundle.exercises}
        submission = with_neighbours(Submission(Path(_("this notebook")), units), inside(Path.cwd()))
        names = [name] if name else list(engine.known(submission))
        if not names:
            raise UsageError(_("this notebook defines no exercise yet; execute the cells that define them"))
        if name and name not in known:
            raise UsageError(_unknown(name, list(known)))
        report: Report = engine.grade(submission, names, self._parts(engine, course, names))
        if name and report.exercises[0].outcome == "blocked" and name not in engine.known(submission):
            remark = _("Run the cell that defines {name}, then this cell again.").format(name=name)
            report = replace(report, remarks=(*report.remarks, remark))
        if os.environ.get(EXECUTION) == "autograde":
            remark = _("Graded with public cases only; hidden cases were not used.")
            report = replace(report, remarks=(*report.remarks, remark))
        return report

    def _course_here(self) -> Course:
        from grader.intake.course import find

        course = find()
        if self._course is None or course.root != self._course.root:
            self.close()
            self._course = course
        return self._course

    def _ready(self, course: Course) -> Any:
        from grader.engine.engine import Engine
        from grader.engine.submission_run import GradingOptions
        from grader.sandbox.choose import choose

        if self._engine is None:
            bundles = course.bundles  # before anything is started: it may raise UsageError
            self._launcher = choose(warm="full")
            self._engine = Engine(bundles, self._launcher, GradingOptions(torch_version=version("torch")))
        return self._engine

    def _parts(self, engine: Any, course: Course, names: Sequence[str]) -> Any:
        from grader.student.check import parts_for

        # Of several assignments, take the last one that is built from parts: it may use code of the most earlier ones.
        found = (parts_for(engine, course, bundle, names) for bundle in reversed(course.bundles))
        return next(filter(None, found), ())

    def close(self) -> None:
        """Stop the worker and the launcher. Safe to call twice."""
        engine, launcher = self._engine, self._launcher
        self._engine = self._launcher = None
        for part in (engine, launcher):
            if part is not None:
                with contextlib.suppress(Exception):
                    part.close()


_grader = _NotebookGrader()
atexit.register(_grader.close)


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _history() -> Sequence[str]:
    shell = _shell()
    if shell is None:
        raise UsageError(_("check() works only inside a notebook; in a terminal, run `grader check NAME`"))
    return list(shell.history_manager.input_hist_raw)


def _unknown(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    for near in get_close_matches(name, known, n=1):
        return _("there is no exercise {name}; did you mean {near}?").format(name=name, near=near)
    says = _("there is no exercise {name}; the exercises here are {known}")
    return says.format(name=name, known=", ".join(known))


def _points(report: Report) -> float:
    """Return the points, from 0 to the maximum: nbgrader counts NaN as full marks."""
    score = float(report.score)
    return min(max(score, 0.0), float(report.points)) if score == score else 0.0


def _show(report: Report) -> None:
    from grader.report.html import fragment
    from grader.report.terminal import plain

    _display(fragment(report), plain(report).rstrip())


def _show_message(message: str) -> float:
    from grader.report.html import sentence
    from grader.support.sanitize import sanitize

    clean = sanitize(message, 600)
    _display(sentence(clean), clean)
    return 0.0


def _display(html: str, plain: str) -> None:
    if _shell() is None:
        print(plain)
        return
    from IPython.display import publish_display_data

    publish_display_data({"text/html": html, "text/plain": plain})


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def executed_units(history: Sequence[str]) -> tuple[Unit, ...]:
    """Return the cells of a session in the order of execution, named by their execution counts.

    history: sources as typed, by execution count; entry 0 is empty. A cell that does not parse never ran.
    """
    cells = [(number, plain_python(source)) for number, source in enumerate(history)]
    parsed = [(number, source, _parsed(source)) for number, source in cells]
    ran = [(number, source, tree) for number, source, tree in parsed if tree is not None and tree.body]
    ran = _first_and_last_runs(ran)
    kept = [cell for place, cell in enumerate(ran) if not _is_replaced(cell[2], ran[place + 1 :])]
    return tuple(Unit(f"cell [{number}]", source) for number, source, _tree in kept)


def _parsed(source: str) -> ast.Module | None:
    try:
        return parse(source)
    except SyntaxError:
        return None


Cell = tuple[int, str, ast.Module]  # execution count, source, and its syntax tree


def _first_and_last_runs(cells: Sequence[Cell]) -> list[Cell]:
    """Keep the first and the last run of each cell: of definitions, the last replaces those in between."""
    first = {source: number for number, source, _tree in reversed(cells)}
    last = {source: number for number, source, _tree in cells}
    return [cell for cell in cells if cell[0] in (first[cell[1]], last[cell[1]])]


def _is_replaced(tree: ast.Module, later: Sequence[Cell]) -> bool:
    """Return whether a later cell defines the same names again before any other cell mentions them.

    Cells that only call `check` do not count. Both cells must consist of definitions; the later one may also import.
    """
    names = {node.name for node in tree.body if isinstance(node, _DEFINITIONS)}
    if not names or not all(isinstance(node, _DEFINITIONS) for node in tree.body):
        return False
    mentions = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    for _number, source, other in later:
        defined = {node.name for node in other.body if isinstance(node, _DEFINITIONS)}
        if names <= defined:
            return all(isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom)) for node in other.body)
        if mentions.search(source) and not _is_check(other):
            return False
    return False


def _is_check(tree: ast.Module) -> bool:
    node = tree.body[0] if len(tree.body) == 1 else None
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"
