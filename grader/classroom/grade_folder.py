"""The work of `grader grade` except printing results: check options, find files, grade them, return the class."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.authoring.hidden_cases import hidden_folder
from grader.bundle.files import load_all
from grader.bundle.model import Bundle
from grader.classroom.class_run import (
    WARM_FROM,
    GradedSubmission,
    grade_found,
    one_of_each,
    store_key,
    without_helpers,
)
from grader.classroom.discover import discover, may_hold
from grader.classroom.grade import BoundedGrading, RunConfig
from grader.classroom.groups import read_groups
from grader.classroom.roster import Roster, read_roster
from grader.classroom.store import Store, StoreKey, default_store
from grader.intake.course import Course, wanted_exercises
from grader.intake.course import find as find_course
from grader.report.model import Report
from grader.sandbox.base import AUTO, TIERS, Warm
from grader.sandbox.choose import best_tier
from grader.student.status_line import status_line
from grader.support.errors import UsageError
from grader.support.i18n import _

EVERY = 5.0  # seconds between lines about the progress, where there is no terminal


@dataclass(frozen=True)
class GradeOptions:
    """The options of one call. `grader grade --help` describes those without a comment."""

    only: Sequence[str] = ()
    jobs: int | None = None
    store: Path | None = None
    course: Path | None = None
    sandbox: str = "auto"
    trusted: bool = False  # the submissions are trusted, so the basic tier is allowed
    students: Path | None = None
    keep: str | None = None  # which submission counts, "newest" or "best"; None: as the course file says
    lines: bool = False  # search lines to look at, on public cases
    cluster: str | None = None  # where to grade: the address of a scheduler, or local:N
    certificate: Path | None = None  # of the cluster


@dataclass(frozen=True)
class Classroom:
    """The instructor's side of a class: the course, its hidden cases, and the key of results."""

    course: Course
    solutions: Path
    cases: Path
    bundles: Sequence[Bundle]
    key: StoreKey


def classroom(options: GradeOptions) -> Classroom:
    """Find the course, and the hidden cases of the exercises or assignments in `only`; of all if it is empty.

    Cases that are not cached are recorded. Raises UsageError without solutions/, for a wrong course file, for an
    unknown name, and for the basic tier without `trusted`; and SandboxError if the sandbox tier is not available.
    """
    found = find_course(options.course)
    solutions = found.require_solutions()
    asked = wanted_exercises(options.only, found.bundles)
    tier = _tier(options)
    with status_line(quiet=False) as status:
        cases = hidden_folder(solutions, asked, found.root, status.recorded)
    bundles = found.rules.apply(load_all(cases))
    return Classroom(found, solutions, cases, bundles, store_key(cases, tier, found.rules))


def grade_folder(root: Path, options: GradeOptions, warn: Callable[[str], None]) -> list[GradedSubmission]:
    """Grade every submission below `root`. Add the names of groups, comments, and the students of the class list; keep
    one result per student and exercise.

    warn: called with a sentence for each group whose cases have changed since it was adopted.
    Raises UsageError for options that exclude each other, and what `classroom` and `grade_class` raise.
    """
    roster = read_roster(options.students) if options.students is not None else {}
    if options.lines and options.cluster is not None:
        raise UsageError(
            _(
                "--lines needs the public cases, which the workers of a cluster do not have; leave out --lines or --cluster"
            )
        )
    room = classroom(options)
    groups = read_groups(room.solutions.parent)
    for sentence in groups.stale(room.bundles):
        warn(sentence)
    graded = [
        replace(
            one,
            report=replace(one.report, exercises=groups.apply(one.report.exercises, room.course.rules.level)),
        )
        for one in grade_class(root, room, options)
    ]
    return _with_roster(one_of_each(graded, options.keep or room.course.settings.keep), roster)


def grade_class(root: Path, room: Classroom, options: GradeOptions) -> list[GradedSubmission]:
    """Grade every submission below `root`.

    Raises UsageError for wrong use, BadData for a store that cannot be used, and SandboxError if the sandbox tier is not
    available or the cluster is lost.
    """
    if not root.exists():
        raise UsageError(_("{path} does not exist").format(path=root))
    only = tuple(wanted_exercises(options.only, room.course.bundles)) if options.only else ()
    found = [f for f in discover(root, room.bundles) if not only or may_hold(f, only, room.bundles)]
    if not found:
        says = _("{path} holds nothing to grade: no .py, no .ipynb, no archive")
        raise UsageError(says.format(path=root))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    jobs = min(options.jobs or cores, len(found))
    store = options.store or default_store(root)
    config = RunConfig(
        bundles=room.cases,
        store=store,
        key=room.key,
        rules=room.course.rules,
        only=only,
        warm=_warm(only or {name for file in found for name in file.expected}, room.bundles)
        if options.cluster or len(found) >= WARM_FROM * jobs
        else "",
        public=room.course.root if options.lines and room.course.settings.name_lines else None,
    )
    Store(store, room.key).close()  # raise BadData before anything is started
    if options.cluster is None:
        pool: BoundedGrading | ClusterGrading = BoundedGrading(room.bundles, config, jobs)
    else:
        from grader.classroom.cluster import ClusterGrading

        pool = ClusterGrading(room.bundles, config, options.cluster, options.certificate)
    with _progress(len(found)) as show, pool as grading:
        return without_helpers(grade_found(found, room.bundles, config, grading.run, show))


def _warm(expected: Collection[str], bundles: Sequence[Bundle]) -> Warm:
    """Return what the workers of a class need: parts of torch for trainings, if an exercise of it has one.

    expected: the exercises of the class; empty for any.
    """
    exercises = [exercise for bundle in bundles for exercise in bundle.exercises]
    graded = [exercise for exercise in exercises if exercise.name in expected] or exercises
    return "training" if any(case.exam for exercise in graded for case in exercise.cases) else "cases"


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that shows how many submissions are done: a bar in a terminal, otherwise lines."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        columns = (_("grading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=total)
            yield lambda done: bar.update(task, completed=done)
        return
    printed = time.monotonic()

    def print_line(done: int) -> None:
        nonlocal printed
        if done >= total or time.monotonic() - printed >= EVERY:
            printed = time.monotonic()
            says = _("{done} of {total}")
            print(says.format(done=done, total=total), file=sys.stderr, flush=True)

    yield print_line


def _with_roster(entries: Sequence[GradedSubmission], roster: Roster) -> list[GradedSubmission]:
    if not roster:
        return list(entries)
    out = []
    for one in entries:
        remarks = one.report.remarks
        if one.student not in roster:
            remarks += (_("{student} is not in the list of students").format(student=one.student),)
        report = replace(one.report, remarks=remarks)
        out.append(replace(one, report=report, person=roster.get(one.student)))
    submitted = {one.student for one in entries}
    like = entries[0].report if entries else Report((), sandbox="", torch="", grader="", seed="hidden")
    says = _("nothing was submitted")
    for person in roster.values():
        if person.id not in submitted:
            extra = {"student": person.id, "submission": "", "content": ""}
            report = replace(like, exercises=(), remarks=(says,), extra=extra)
            out.append(GradedSubmission(report, 0, says, grader_failed=False, new=False, person=person))
    return out


def _tier(options: GradeOptions) -> str:
    """Choose the sandbox tier. On a cluster, a tier that is named need not work on this machine."""
    asked = options.sandbox
    if options.cluster is not None and asked != AUTO and (TIERS[asked].confined or options.trusted):
        return asked
    says = _(
        "the basic sandbox does not stop a determined attacker: use a better one (see grader doctor), or add --trusted-submissions"
    )
    return best_tier(asked, "" if options.trusted else says)
