"""`from grader import check` in a notebook: grade what its kernel has executed, and show the report in the cell.

The student controls the kernel, so nothing here is secret: cases are public, and the code runs again in a
worker that has no expected outputs.
"""

from __future__ import annotations

import ast
import atexit
import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grader.engine.engine import Engine
from grader.engine.grading import GradingOptions
from grader.engine.student_file import Part
from grader.intake.course import Course, find
from grader.intake.notebook import CHECKS, plain_python
from grader.intake.read import Submission, Unit, with_neighbours
from grader.intake.syntax import parse
from grader.lines.find import Source, add_lines
from grader.report.html import fragment, sentence
from grader.report.model import Report
from grader.report.terminal import plain
from grader.sandbox.base import Launcher
from grader.sandbox.choose import choose
from grader.student import progress
from grader.student.check import parts_for
from grader.student.outlook import with_outlook
from grader.support.errors import UsageError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

EXECUTION = "NBGRADER_EXECUTION"  # set by nbgrader's own commands


def check(exercise: object = None) -> float:
    """Grade an exercise as this notebook defines it, show the report, and return the points: a `Score`.

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
    score = float(report.score)  # nbgrader counts NaN as full marks
    score = min(max(score, 0.0), float(report.points)) if score == score else 0.0
    return _shown(score, fragment(report), plain(report, full=False).rstrip())


class Score(float):
    """Points that show their report when a notebook displays them, unless the cell shows it already."""

    html = text = ""
    cell: int | None = None  # the execution count of the cell that shows the report

    def show(self) -> None:
        """Show the report in the cell that runs, or print it where there is no notebook."""
        shell = _shell()
        if shell is None:
            print(self.text)
            return
        from IPython.display import publish_display_data

        publish_display_data({"text/html": self.html, "text/plain": self.text})
        self.cell = shell.execution_count

    def _ipython_display_(self) -> None:
        if _shell().execution_count != self.cell:
            self.show()


def _shown(points: float, html: str, text: str) -> float:
    """Show a report at once, because the call may be in the middle of a cell. Return the points.

    nbgrader reads partial credit from the number that a cell displays, so it gets a plain float.
    """
    score = Score(points)
    score.html, score.text = html, text
    score.show()
    return points if EXECUTION in os.environ else score


class _NotebookGrader:
    """One launcher and one engine for all calls, so that only the first call waits for torch."""

    def __init__(self) -> None:
        self._opened: tuple[Course, Launcher, Engine] | None = None

    def grade(self, name: str) -> Report:
        """Grade one exercise, or all that are defined. Raises UsageError if there is nothing to grade."""
        units = executed_units(_history())
        course, engine = self._open()
        submission = with_neighbours(Submission(Path(_("this notebook")), units))
        names = [name] if name else list(engine.known(submission))
        if not names:
            raise UsageError(_("this notebook defines no exercise yet; execute the cells that define them"))
        known = [e.name for bundle in engine.bundles for e in bundle.exercises]
        if name and name not in known:
            raise UsageError(_unknown(name, known))
        parts = self._parts(engine, course, names)
        report = engine.grade(submission, names, parts)
        remarks = []
        if name and report.exercises[0].outcome == "blocked" and name not in engine.known(submission):
            remarks.append(_("Run the cell that defines {name}, then this cell again.").format(name=name))
        if os.environ.get(EXECUTION) == "autograde":
            remarks.append(_("Graded with public cases only; hidden cases were not used."))
        report = replace(report, remarks=(*report.remarks, *remarks))
        if EXECUTION in os.environ:
            return report
        if name and course.settings.name_lines:
            report = add_lines(engine, report, {name: Source(submission, parts)})
        progress.save(course.root, report.exercises)
        return with_outlook(report, course)

    def _open(self) -> tuple[Course, Engine]:
        course = find()
        if self._opened is None or course.root != self._opened[0].root:
            self.close()
            bundles = course.bundles  # before anything is started: it may raise UsageError
            launcher = choose(warm="training")
            engine = Engine(bundles, launcher, GradingOptions(torch_version=version("torch")))
            self._opened = course, launcher, engine
        course, _launcher, engine = self._opened
        return course, engine

    def _parts(self, engine: Engine, course: Course, names: Sequence[str]) -> tuple[Part, ...]:
        # Of several assignments, take the last one that is built from parts: it may use code of the most earlier ones.
        found = (parts_for(engine, course, bundle, names) for bundle in reversed(course.bundles))
        return next(filter(None, found), ())

    def close(self) -> None:
        """Stop the worker and the launcher. Safe to call twice."""
        opened, self._opened = self._opened, None
        if opened is not None:
            _course, launcher, engine = opened
            with suppress(Exception):
                engine.close()
            with suppress(Exception):
                launcher.close()


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
    for near in get_close_matches(name, known, n=1):
        return _("there is no exercise {name}; did you mean {near}?").format(name=name, near=near)
    says = _("there is no exercise {name}; the exercises here are {known}")
    return says.format(name=name, known=", ".join(known))


def _show_message(message: str) -> float:
    clean = sanitize(message, 600)
    return _shown(0.0, sentence(clean), clean)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Cell = tuple[int, str, ast.Module]  # execution count, source, and its syntax tree


def executed_units(history: Sequence[str]) -> tuple[Unit, ...]:
    """Return the cells of a session in the order of execution, named by their execution counts.

    history: sources as typed, by execution count; entry 0 is empty. A cell that does not parse never ran.
    Cells that only call `check` are left out.
    """
    ran: list[Cell] = []
    for number, typed in enumerate(history):
        source = plain_python(typed)
        with suppress(SyntaxError):
            tree = parse(source)
            ran += [(number, source, tree)] if tree.body and not CHECKS.fullmatch(source) else []
    # Of the runs of one cell, the first and the last: of definitions, the last replaces those in between.
    first = {source: number for number, source, _tree in reversed(ran)}
    last = {source: number for number, source, _tree in ran}
    ran = [cell for cell in ran if cell[0] in (first[cell[1]], last[cell[1]])]
    kept = [cell for place, cell in enumerate(ran) if not _is_replaced(cell[2], ran[place + 1 :])]
    return tuple(Unit(f"cell [{number}]", source) for number, source, _tree in kept)


def _is_replaced(tree: ast.Module, later: Sequence[Cell]) -> bool:
    """Return whether a later cell defines the same names again before any other cell mentions them.

    Both cells must consist of definitions; the later one may also import.
    """
    names = {node.name for node in tree.body if isinstance(node, _DEFINITIONS)}
    if not names or not all(isinstance(node, _DEFINITIONS) for node in tree.body):
        return False
    mentions = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    for _number, source, other in later:
        if names <= {node.name for node in other.body if isinstance(node, _DEFINITIONS)}:
            return all(isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom)) for node in other.body)
        if mentions.search(source):
            return False
    return False
