"""Preprocessors of `nbgrader autograde` that replace Execute and SaveAutoGrades; see `headway_config.py`.

nbgrader discards a submission if a preprocessor raises, so `Grade` raises nothing. Wrong or hostile code gets a score
with a reason. An exercise that could not be graded needs manual grading and costs no points.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor, SaveAutoGrades

from grader.classroom.class_run import GradedSubmission, one_of_each
from grader.classroom.discover import SubmittedFile
from grader.classroom.grade import Task
from grader.classroom.store import default_store
from grader.engine.draft import exact, score
from grader.intake.notebook import plain_python
from grader.intake.syntax import parse
from grader.nbgrader import engine_cache
from grader.nbgrader.engine_cache import CourseGrader, Headway
from grader.nbgrader.notebook_file import NOTES
from grader.nbgrader.submissions import submitted
from grader.report.html import fragment
from grader.report.model import Advice, ExerciseResult, Report
from grader.report.shared_sentences import advice_lines, outcome_name, reason
from grader.report.terminal import plain
from grader.support.code import BEGIN, stub
from grader.support.errors import UsageError
from grader.support.i18n import _
from grader.support.version import __version__

# In nbconvert's resources: grade_id of a graded cell → its score, None if a person has to grade it; and grade_id of a
# solution cell, which is the exercise's name → the comment on it.
VERDICTS = "headway"


class Grade(NbGraderPreprocessor):
    """Grade the submitted files in a worker in the sandbox, with hidden cases; no kernel is started."""

    grades = True  # by this, `TolerantExporter` recognises the second of its two readings

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        graded = {cell.metadata.nbgrader.grade_id: cell for cell in nb.cells if _is_ours_to_grade(cell)}
        named = {grade_id: exercise_of(cell.source) for grade_id, cell in graded.items()}
        try:
            report = self._report(nb, resources, [name for name in named.values() if name])
        except Exception as error:
            engine_cache.close()  # the next submission gets a new process
            said = f"{type(error).__name__}: {error}"
            if isinstance(error, UsageError):
                said = str(error)
            self.log.error("%s: %s", _about(resources), said)
            report = _nothing_graded(said)
        scores: dict[str, float | None] = {}
        comments: dict[str | None, str] = {}
        for grade_id, cell in graded.items():
            part = _part(report, named[grade_id], grade_id, float(cell.metadata.nbgrader.points))
            scores[grade_id] = part.exercises[0].score
            comments[named[grade_id]] = comment_on(part.exercises[0])
            cell.outputs, cell.execution_count = outputs(part), 1
        resources[VERDICTS] = scores, comments
        return nb, resources

    def _report(self, nb: NotebookNode, resources: Any, wanted: Sequence[str]) -> Report:
        about = resources["nbgrader"]
        notes = nb.metadata.pop(NOTES, ())
        if not wanted:
            return _nothing_graded(_no_exercise())
        course, settings = CourseDirectory(parent=self), Headway(parent=self)
        root = Path(course.root) / course.submitted_directory
        store = Path(settings.store) if settings.store else default_store(root)
        grader = engine_cache.course_grader(settings, wanted, store)
        known = tuple(name for name in wanted if name in grader.exercises)
        if not known:
            return _nothing_graded(_no_exercise())
        files = submitted(root / about["student"] / about["assignment"] / f"{about['notebook']}.ipynb")
        entries = [self._graded(grader, file, known) for file in files if not file.problem or file.expected]
        if not entries:
            return _nothing_graded(". ".join(file.problem for file in files))
        report = _merged(entries, grader.keep)
        for result in report.exercises:
            said = result.name, result.outcome, result.score, result.points
            self.log.info("%s: %s %s, %s of %s", _about(resources), *said)
        return replace(report, remarks=(*report.remarks, *notes))

    def _graded(self, grader: CourseGrader, file: SubmittedFile, known: tuple[str, ...]) -> GradedSubmission:
        if file.problem:
            report = grader.blocked(known, file.problem)
        else:
            task = Task(0, file.file, file.read, known, file.beside())
            report = grader.grade(task, self.log.warning)
        extra = {"student": file.student, "submission": file.submission, "content": ""}
        report = replace(report, extra=extra)
        return GradedSubmission(report, 0, "", grader_failed=False, new=True, modified=file.modified)


def _merged(entries: Sequence[GradedSubmission], keep: str) -> Report:
    """Return one report on the files of a student. Of several results of an exercise, that of `grader grade` counts."""
    # Each file has a result for every exercise: it is blocked where the file does not define it.
    results = {result.name: result for entry in reversed(entries) for result in entry.report.exercises}
    counted = one_of_each([_begun(entry) for entry in entries] if len(entries) > 1 else entries, keep)
    results |= {result.name: result for entry in counted for result in entry.report.exercises}
    remarks = dict.fromkeys(remark for entry in counted for remark in entry.report.remarks)
    return replace(entries[0].report, exercises=tuple(results.values()), remarks=tuple(remarks))


def _begun(entry: GradedSubmission) -> GradedSubmission:
    begun = tuple(result for result in entry.report.exercises if result.outcome != "blocked")
    return replace(entry, report=replace(entry.report, exercises=begun))


def exercise_of(source: str) -> str | None:
    """Return the exercise that a graded cell checks; None unless its last statement is `check("name")`."""
    try:
        body = parse(plain_python(source)).body
    except SyntaxError:
        return None
    call = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    match call:
        case ast.Call(func=ast.Name(id="check"), args=[ast.Constant(value=str(name))]):
            return name
    return None


def _is_ours_to_grade(cell: NotebookNode) -> bool:
    """Whether the grader grades a cell. A cell with a solution and a grade is graded by a person."""
    return bool(cell.cell_type == "code" and utils.is_grade(cell) and not utils.is_solution(cell))


def _about(resources: Any) -> str:
    about = resources.get("nbgrader", {})
    return f"{about.get('student')}, {about.get('notebook')}"


def _no_exercise() -> str:
    return _("this cell checks no exercise of the course, so a person has to grade it")


def _nothing_graded(why: str) -> Report:
    return Report(
        (), sandbox="none", torch=version("torch"), grader=__version__, seed="hidden", remarks=(why,)
    )


def _part(report: Report, name: str | None, grade_id: str, points: float) -> Report:
    """Return the report of one graded cell, in that cell's points.

    name: the exercise that the cell checks. A report without exercises has the reason as its first remark.
    """
    result = next((r for r in report.exercises if r.name == name), None)
    if result is None:
        why = report.remarks[0] if report.remarks and not report.exercises else ""
        why = why or _no_exercise()
        result = ExerciseResult(name or grade_id, "", "could_not_grade", None, points, message=why)
        return replace(report, exercises=(result,), remarks=report.remarks if report.exercises else ())
    reached = None if result.score is None else score(points, _share(result.score, result.points))
    return replace(report, exercises=(replace(result, score=reached, points=points),))


def _share(score: float, points: float) -> Fraction:
    """Return the share of the points, between 0 and 1. Never NaN, which nbgrader takes for full marks."""
    if not 0 < score <= points:
        return Fraction(score > points > 0)
    return exact(score) / exact(points)


class SaveGrades(SaveAutoGrades):
    """SaveAutoGrades that also marks the cells that a person has to grade, and stores comments on solutions."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        self._scores, self._comments = resources.pop(VERDICTS, ({}, {}))
        nb, resources = super().preprocess(nb, resources)
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: Any) -> None:
        super()._add_score(cell, resources)
        grade_id = cell.metadata.nbgrader.grade_id
        if grade_id in self._scores and self._scores[grade_id] is None:
            grade = self.gradebook.find_grade(grade_id, self.notebook_id, self.assignment_id, self.student_id)
            grade.auto_score = None
            grade.needs_manual_grade = True
            self.gradebook.db.commit()

    def _add_comment(self, cell: NotebookNode, resources: Any) -> None:
        super()._add_comment(cell, resources)
        grade_id = cell.metadata.nbgrader.grade_id
        if utils.is_task(cell) and cell.metadata.nbgrader.get("points") == 0:
            self._require_no_person(grade_id)
        said = self._comments.get(grade_id)
        if not said or not utils.is_solution(cell):
            return
        comment = self.gradebook.find_comment(grade_id, self.notebook_id, self.assignment_id, self.student_id)
        if comment.auto_comment is None:  # otherwise nbgrader has set "No response."
            comment.auto_comment = said
            self.gradebook.db.commit()

    def _require_no_person(self, grade_id: str) -> None:
        """Mark a task of 0 points as graded. So nbgrader asks for a person only where one is needed."""
        grade = self.gradebook.find_grade(grade_id, self.notebook_id, self.assignment_id, self.student_id)
        if grade.manual_score is None:
            grade.needs_manual_grade = False
            self.gradebook.db.commit()


class Stub(ClearSolutions):
    """ClearSolutions with the stubs of `grader build`, so that an answer that was not started is recognised.

    A solution at the top level, as in an exercise to repair code, becomes a comment: a `raise` would end the cell.
    """

    def _replace_solution_region(self, cell: NotebookNode, language: str) -> bool:
        if cell.cell_type != "code" or not any(line.strip() == BEGIN for line in cell.source.splitlines()):
            return bool(super()._replace_solution_region(cell, language))
        try:
            cell.source = stub(cell.source).rstrip("\n")
        except (UsageError, SyntaxError):
            return bool(super()._replace_solution_region(cell, language))
        return True


def outputs(report: Report) -> list[Any]:
    """Return the outputs of a graded cell: the report of its exercise, then the points as a plain float.

    nbgrader reads partial credit from that float. For an exercise that could not be graded, it is left out.
    """
    text = plain(report, full=False).rstrip()
    shown = new_output("display_data", {"text/html": fragment(report), "text/plain": text})
    score = report.exercises[0].score
    if score is None:
        return [shown]
    return [shown, new_output("execute_result", {"text/plain": repr(float(score))}, execution_count=1)]


def comment_on(result: ExerciseResult) -> str:
    """Return one paragraph for the student about a solution; "" for a right one without advice and remarks."""
    advice = [_advice(one) for one in result.advice]
    if result.outcome == "passed":
        return _shown([*advice, *result.remarks])
    why = reason(result)
    outcome = outcome_name(result.outcome)
    said = [f"{outcome}: {why}" if why else outcome, *advice, *result.remarks]
    if result.outcome == "could_not_grade":
        said.append(_("No points are deducted."))
    return _shown(said)


def _advice(advice: Advice) -> str:
    return _("advice, which costs no points: {advice}").format(advice=": ".join(advice_lines(advice)))


def _shown(said: Sequence[str]) -> str:
    return ". ".join(said).replace("<", "‹").replace(">", "›")
