"""What `grader check` does, without its words: find the files, grade them, remember the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import click

from grader.bundle.model import Bundle
from grader.engine.devices import check_on_device, extra_devices, launcher_for
from grader.engine.engine import Engine
from grader.engine.options import GradingOptions
from grader.engine.result_cache import FOLDER, ResultCache
from grader.engine.student_parts import Part, earlier_parts
from grader.intake.course import Course, choose, find, wanted_exercises
from grader.intake.names import read_names
from grader.intake.read import Blocked, Submission, read_submission
from grader.report.model import ExerciseResult, Report
from grader.sandbox.base import Launcher
from grader.sandbox.choose import choose as choose_tier
from grader.student import progress, status_line
from grader.support.i18n import _


def check(
    names: Sequence[str],
    *,
    file: Path | None = None,
    course: Path | None = None,
    hidden: bool = False,
    sandbox: str = "auto",
    device: str = "cpu",
    quiet: bool = False,
    quick: bool = False,
) -> Report:
    """Grade the named exercises or assignments, or all; or whatever known ones `file` defines.

    `quick` leaves out trainings that take more than a few seconds.

    Raises SandboxError if the sandbox tier asked for cannot be had, NoCourse where there is no course, and
    click.UsageError for anything that cannot be meant, each with one sentence.
    """
    with ExitStack() as opened:
        launcher = choose_tier(sandbox)  # torch is imported over there while files are read over here
        opened.callback(launcher.close)
        where = find(course or Path.cwd())
        bundles = _bundles(where, hidden)
        extra = [
            Engine(bundles, other, GradingOptions(device=name, hidden=hidden, quick=quick))
            for name, other in _other_devices(device, sandbox, opened)
        ]
        for other_engine in extra:
            opened.callback(other_engine.close)
        wanted = wanted_exercises(names, where.bundles)
        tell = opened.enter_context(status_line.line(quiet))
        options = GradingOptions(
            hidden=hidden,
            quick=quick,
            torch_version=version("torch"),
            cache=ResultCache(where.root / FOLDER),
            on_exercise=tell,
            on_training=tell.training,
        )
        engine = Engine(bundles, launcher, options)
        opened.callback(engine.close)
        if file is not None:
            return _check_file(engine, extra, file, wanted if names else None)
        return _check_course(engine, extra, where, wanted)


def _other_devices(device: str, sandbox: str, opened: ExitStack) -> list[tuple[str, Launcher]]:
    try:
        names = extra_devices(device)
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from None
    found = [(name, launcher_for(name, sandbox)) for name in names]
    for _name, launcher in found:
        opened.callback(launcher.close)
    return found


def _bundles(where: Course, hidden: bool) -> Sequence[Bundle]:
    if not hidden:
        return where.bundles
    if where.solutions is None:
        raise click.UsageError(
            _("--hidden needs the folder solutions/ beside {root}; only instructors have it").format(
                root=where.root
            )
        )
    from grader.authoring.hidden_cases import hidden_bundles

    return hidden_bundles(where.solutions)


def _grade(
    engine: Engine,
    extra: Sequence[Engine],
    submission: Submission,
    wanted: Sequence[str] | None,
    parts: Sequence[Part] = (),
) -> list[ExerciseResult]:
    """Grade on the CPU, and what passes there once more on each other device."""
    results = list(engine.grade(submission, wanted, parts).exercises)
    for other in extra:
        results = check_on_device(other, submission, results)
    return results


def _check_file(engine: Engine, extra: Sequence[Engine], file: Path, wanted: Sequence[str] | None) -> Report:
    try:
        submission = read_submission(file)
    except Blocked as blocked:
        raise click.UsageError(str(blocked)) from None
    known = engine.known(submission)
    if not known and wanted is None:
        raise click.UsageError(
            _("{file} defines no exercise of this course; `grader` lists their names").format(file=file.name)
            + _because(read_names(submission).broken)
        )
    return engine.report(_grade(engine, extra, submission, wanted))


def _because(broken: Mapping[str, str]) -> str:
    for unit, why in broken.items():
        return _(" (it does not parse: {unit}, {why})").format(unit=unit, why=why)
    return ""


def _check_course(engine: Engine, extra: Sequence[Engine], where: Course, wanted: Sequence[str]) -> Report:
    results: list[ExerciseResult] = []
    remarks: list[str] = []
    for bundle in engine.bundles:
        mine = [e.name for e in bundle.exercises if e.name in wanted]
        if not mine:
            continue
        path, remark = choose(where.root / bundle.assignment, bundle)
        remarks += [remark] if remark else []
        try:
            parts = parts_for(engine, where, bundle, mine)
            results += _grade(engine, extra, read_submission(path), mine, parts)
        except Blocked as why:
            results += [blocked(bundle, name, str(why)) for name in mine]
    report = replace(engine.report(results), remarks=tuple(remarks))
    if not engine.options.hidden:
        progress.remember(where.root, results)
    return report


def parts_for(engine: Engine, course: Course, bundle: Bundle, names: Sequence[str]) -> tuple[Part, ...]:
    """What a student wrote for earlier assignments, if one of the exercises is made of it."""
    made_of = [e for e in bundle.exercises if e.name in names and e.is_made_of_parts]
    wanted = {block for exercise in made_of for block in exercise.given}
    return earlier_parts(course, bundle, wanted, engine.constructors) if made_of else ()


def blocked(bundle: Bundle, name: str, message: str) -> ExerciseResult:
    """The result of an exercise whose file cannot be read."""
    exercise = bundle.exercise(name)
    return ExerciseResult(
        name, bundle.assignment, "blocked", 0.0, exercise.points, _(exercise.title), message
    )
