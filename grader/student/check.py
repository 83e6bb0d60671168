"""The work of `grader check`: find the files, grade them, save the outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from grader.bundle.files import load_all
from grader.bundle.model import Bundle
from grader.engine.devices import check_on_device, extra_devices, launcher_for
from grader.engine.engine import Engine
from grader.engine.grade_exercise import FOLDER
from grader.engine.grading import HIDDEN, PUBLIC, GradingOptions, of_strangers
from grader.engine.result import result_without_checks
from grader.engine.student_file import Part, earlier_parts
from grader.intake.course import BUNDLED, Course, find, find_for_file, wanted_exercises
from grader.intake.names import read_names
from grader.intake.read import Blocked, Submission, read_submission, with_neighbours
from grader.intake.syntax import Fault
from grader.lines.find import Source
from grader.report.model import ExerciseResult, Report
from grader.sandbox.base import Launcher
from grader.student import progress
from grader.student.not_graded import nothing_found, of_others
from grader.student.outlook import with_outlook
from grader.student.repeated import with_best
from grader.student.status_line import StatusLine, status_line
from grader.support.errors import GraderError
from grader.support.i18n import _, ngettext
from grader.support.sanitize import sanitize


def check(
    names: Sequence[str],
    launcher: Launcher,
    *,
    file: Path | None = None,
    course: Path | None = None,
    hidden: bool = False,
    sandbox: str = "auto",
    device: str = "cpu",
    quiet: bool = False,
    quick: bool = False,
    lines: bool = False,
    show: Callable[[Report, Callable[[], Report]], Report] | None = None,
) -> Report:
    """Grade the named exercises or assignments, or all of them.

    launcher: of the CPU's workers; the caller closes it. sandbox: the tier for other devices.
    file: grade this file instead of a course folder; if no names are given, the exercises that it defines.
    hidden: use hidden cases. device: as for `--device`.
    quick: skip costly cases: the longest training.
    quiet: show no status line.
    lines: if an exercise has not passed and the course allows it, search for lines to look at.
    show: shows the report before that search, calls its second argument, which searches, and returns what that gave.

    Raises SandboxError if the sandbox of another device is not available, UsageError outside a course, and GraderError
    for a wrong name, file or device, each with one sentence.
    """
    with ExitStack() as opened:
        where = find(course) if file is None else find_for_file(course)
        working = opened.enter_context(ExitStack())
        status = working.enter_context(status_line(quiet))
        wanted = wanted_exercises(names, where.bundles)
        bundles = _hidden(where, wanted, status) if hidden else where.bundles
        terms = HIDDEN if hidden else PUBLIC
        options = GradingOptions(
            terms=terms if file is None else of_strangers(terms),
            quick=quick,
            torch_version=version("torch"),
            cache=where.root / FOLDER if where.root != BUNDLED else None,
            on_exercise=status.grading,
            on_training=status.training,
        )
        engine = Engine(bundles, launcher, options)
        opened.callback(engine.close)
        others = []
        for name in extra_devices(device) if device != "cpu" else ():
            there = launcher_for(name, sandbox)
            opened.callback(there.close)
            others.append(Engine(bundles, there, GradingOptions(device=name, terms=terms, quick=quick)))
            opened.callback(others[-1].close)
        tasks = _tasks(where, bundles, wanted)
        if file is not None:
            tasks = iter([_Task(file, wanted if names else None)])
        report, sources = _graded(engine, others, where, tasks)
        if file is not None:
            report = replace(report, file=str(file))
        elif options.terms.saves_outcomes:
            progress.save(where.root, report.exercises)
            report = with_outlook(report, where)
        working.close()

        def with_lines() -> Report:
            if not (lines and where.settings.name_lines and report.exit_status):
                return report
            from grader.lines.find import add_lines  # most runs need no search

            with status_line(quiet) as searching:
                searching(_("searching for the line to look at"))
                return add_lines(engine, report, sources)

        return show(report, with_lines) if show else with_lines()


def _hidden(where: Course, wanted: Sequence[str], status: StatusLine) -> Sequence[Bundle]:
    solutions = where.require_solutions()
    from grader.authoring.hidden_cases import hidden_folder

    return where.rules.apply(load_all(hidden_folder(solutions, wanted, where.root, status.recorded)))


@dataclass(frozen=True)
class _Task:
    """A file to grade. wanted: exercises; None for those that it defines. bundle: its assignment, if it has one."""

    path: Path
    wanted: Sequence[str] | None
    bundle: Bundle | None = None
    remark: str = ""  # why this file was chosen


def _tasks(where: Course, bundles: Sequence[Bundle], wanted: Sequence[str]) -> Iterator[_Task]:
    """Yield one task per assignment of which exercises are wanted."""
    for bundle in bundles:
        mine = [exercise.name for exercise in bundle.exercises if exercise.name in wanted]
        if mine:
            path, remark = where.choose(bundle)
            yield _Task(path, mine, bundle, remark)


def _graded(
    engine: Engine, others: Sequence[Engine], where: Course, tasks: Iterable[_Task]
) -> tuple[Report, dict[str, Source]]:
    """Grade files on the CPU, then on each other device the exercises that `check_on_device` chooses.

    Return also what each exercise was graded from. Raises GraderError if a file without an assignment cannot be read,
    or has nothing to grade.
    """
    results: list[ExerciseResult] = []
    remarks: list[str] = []
    faulty, sources = False, dict[str, Source]()
    for task in tasks:
        remarks += filter(None, [task.remark])
        parts = parts_for(engine, where, task.bundle, task.wanted or ()) if task.bundle else ()
        try:
            submission = with_neighbours(read_submission(task.path))
        except Blocked as why:
            if task.bundle is None:
                raise GraderError(str(why)) from None
            results += [blocked(task.bundle, name, why) for name in task.wanted or ()]
            continue
        if task.bundle is None:
            submission = replace(submission, weights=submission.weights or None)
            submission, report = with_best(engine, submission, task.wanted)
        else:
            report = engine.grade(submission, task.wanted, parts)
        if task.wanted is None and not report.exercises:
            raise GraderError(nothing_found(engine, submission, task.path.name))
        graded = report.exercises
        for other in others:
            graded = tuple(check_on_device(other, submission, graded))
        results += graded
        remarks += (*_of_file(engine, submission, graded), *report.remarks)
        faulty = faulty or report.faulty
        sources.update({result.name: Source(submission, parts) for result in graded})
    return replace(engine.report(results), remarks=tuple(remarks), faulty=faulty), sources


def _of_file(engine: Engine, submission: Submission, graded: Sequence[ExerciseResult]) -> list[str]:
    """Return sentences on a file; none if that raises, because the exercises of such a file have failed already."""
    try:
        faults = _on_faults(read_names(submission).faults)
        lists_other_code = engine.options.terms.lists_other_code
        return [*faults, *(of_others(engine, submission, graded) if lists_other_code else [])]
    except Exception:
        return []


def _on_faults(faults: Sequence[Fault]) -> list[str]:
    """Return the sentence on the first syntax error, and one on the places of all others."""
    places = [_("{file}, line {line}").format(file=fault.unit, line=fault.line) for fault in faults[1:]]
    says = ngettext("{n} more syntax error: {places}", "{n} more syntax errors: {places}", len(places))
    others = [says.format(n=len(places), places="; ".join(places))] if places else []
    return [sanitize(text, 600) for text in (*(fault.sentence() for fault in faults[:1]), *others)]


def parts_for(engine: Engine, course: Course, bundle: Bundle, names: Sequence[str]) -> tuple[Part, ...]:
    """Return the student's code from earlier assignments, if one of the exercises is built from it."""
    built = [e for e in bundle.exercises if e.name in names and e.is_made_of_parts]
    wanted = {block for exercise in built for block in exercise.given}
    return earlier_parts(course, engine.context.course, bundle, wanted) if built else ()


def grade_assignment(
    engine: Engine, course: Course, bundle: Bundle, names: Sequence[str]
) -> tuple[Source, Report]:
    """Grade exercises in the student's file of an assignment. Return also what they were graded from.

    Raises Blocked if the file cannot be read.
    """
    parts = parts_for(engine, course, bundle, names)
    submission = with_neighbours(read_submission(course.file_for(bundle)))
    return Source(submission, parts), engine.grade(submission, names, parts)


def blocked(bundle: Bundle, name: str, why: Blocked) -> ExerciseResult:
    """Return the result of an exercise whose file cannot be read."""
    return result_without_checks(bundle.exercise(name), "blocked", str(why), why.place)
