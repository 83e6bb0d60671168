"""Grade files in processes with limits. Each has its own launcher and engine; none stores a result."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from grader.bundle.files import load_all
from grader.bundle.model import NO_RULES, Bundle, Exercise, Rules
from grader.classroom.store import Store, StoreKey
from grader.engine.engine import Engine, known
from grader.engine.grading import HIDDEN, MAX_ENDLESS, PUBLIC, GradingOptions
from grader.engine.load_request import case_timeout, limits, load_timeout
from grader.engine.process_pool import Lost, ProcessPool
from grader.engine.result import result_without_checks
from grader.intake.names import Definition, read_names
from grader.intake.own_code import copied_blocks, own_tree
from grader.intake.read import Blocked, Files, Submission, shown, submission_from, with_neighbours
from grader.lines.find import Source, add_lines
from grader.report.model import ExerciseResult, Outcome
from grader.sandbox.base import Warm
from grader.sandbox.choose import choose, server_to_share
from grader.support.errors import BadData
from grader.support.i18n import _
from grader.support.sanitize import sanitize

READ_SECONDS = 60.0  # to read a file and find its exercises
GRADER_SECONDS = 120.0  # to read, judge and diagnose a file, besides the time of its workers
MEMORY = 1 << 30  # bytes that reading, judging and diagnosing may take beyond what the process starts with


@dataclass(frozen=True)
class RunConfig:
    """The settings that all processes of a run share."""

    bundles: Path  # the folder of the recorded cases
    store: Path | None  # None: no stored results are used
    key: StoreKey
    only: tuple[str, ...] = ()  # the exercises to grade; empty: all
    rules: Rules = NO_RULES  # of the course
    warm: Warm = ""  # what the worker server imports beside torch
    public: Path | None = None  # the folder of the public cases, if lines to look at are wanted


@dataclass(frozen=True)
class Task:
    """One file to grade.

    number: identifies the task for the caller. read: returns the content; called in the process that grades. expected:
    as in `SubmittedFile`. beside: see `intake.read.Files`. is_plain: a plain file is graded instead, and the result
    says only whether the grader failed.
    """

    number: int
    file: Path
    read: Callable[[], bytes]
    expected: tuple[str, ...] = ()
    beside: Files = field(default_factory=dict, hash=False)
    is_plain: bool = False


@dataclass(frozen=True)
class TaskResult:
    """The results of a task; `new` are those to store: the exercises that were graded now.

    wanted: the exercises to grade; before they are graded, `results` has those with a stored result.
    content: the hash by which results are stored. defines: the exercises that a graded file defines, wanted or not.
    tree: a hash of the syntax tree of what the student wrote, see `own_tree`.
    problem: why the file as a whole could not be graded. remarks: sentences for the instructor.
    grader_failed: the problem is a fault of the grader or the machine. lost: why there is no result; whose fault that
    is, is not known yet.
    """

    results: tuple[ExerciseResult, ...] = ()
    new: tuple[ExerciseResult, ...] = ()
    content: str = ""
    size: int = 0  # characters of source; bytes of the file if its source could not be read
    problem: str = ""
    remarks: tuple[str, ...] = ()
    grader_failed: bool = False
    defines: tuple[str, ...] = ()
    tree: str = ""
    wanted: tuple[str, ...] = ()
    lost: str = ""
    to_send: Task | None = None  # what is to be graded on another machine

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the wanted exercises without a result."""
        have = {result.name for result in self.results}
        return tuple(name for name in self.wanted if name not in have)

    def completed(self, new: Sequence[ExerciseResult]) -> TaskResult:
        """Add the results of the missing exercises, in the order of the course."""
        by_name = {result.name: result for result in (*self.results, *new)}
        return replace(self, results=tuple(by_name[name] for name in self.wanted), new=tuple(new))


class BoundedGrading(ProcessPool[Task, TaskResult]):
    """Up to `jobs` processes that grade. A file that ends its process affects no other file.

    Each process has a time limit per file and, on Linux and except in the basic tier, a memory limit. The processes share
    one worker server; if it dies, each starts its own.
    """

    def __init__(self, bundles: Sequence[Bundle], config: RunConfig, jobs: int):
        self._server = server_to_share(config.key.sandbox, config.warm) if jobs > 1 else None
        lend = self._server.share if self._server else lambda: None
        super().__init__(jobs, grading, config, seconds=self._time_for, lend=lend)
        self._bundles, self._only = bundles, config.only

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self._server:
            self._server.close()

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, TaskResult]]:
        """Yield each task with its result, as soon as it is ready; those that were lost come last.

        A task whose process exited, or that made the grader raise, is graded once more. If it is lost again, or exceeded
        its time, a plain file decides whose fault that is. Raises SandboxError if the tier is not available.
        """
        lost = []
        for task, result in super().run(tasks):
            if isinstance(result, Lost) or result.lost:
                lost.append((task, result))
            else:
                yield task, self._excused(task, result)
        for task, result in lost:
            yield task, self.again(task, result)

    def again(self, task: Task, result: TaskResult | Lost) -> TaskResult:
        """Grade a lost task once more; if it is lost again, let a plain file decide. result: what was lost."""
        return self._excused(task, self._again(task, result))

    def _again(self, task: Task, result: TaskResult | Lost) -> TaskResult:
        if result != Lost("timeout"):
            ((_task, result),) = super().run([task])
        why, found = _why_lost(result), TaskResult() if isinstance(result, Lost) else result
        if not why:
            return found
        wanted = found.wanted or self._expected(task)
        names = wanted or tuple(e.name for bundle in self._bundles for e in bundle.exercises)
        ((_task, plain),) = super().run([replace(task, expected=names, is_plain=True)])
        if isinstance(plain, Lost) or plain.grader_failed:
            problem = _("the grader failed: {error}").format(error=why)
            return replace(found, problem=problem, grader_failed=True, lost="")
        return unjudged_file(self._bundles, wanted, found.content, found.size, why)

    def _excused(self, task: Task, result: TaskResult) -> TaskResult:
        if not result.grader_failed:
            return result
        names = self._expected(task)
        results = results_without_grading(self._bundles, names, "could_not_grade", result.problem)
        return replace(result, results=tuple(results))

    def _expected(self, task: Task) -> tuple[str, ...]:
        return names_to_grade(self._bundles, self._only, task.expected)

    def _time_for(self, task: Task) -> float:
        exercises = [exercise for bundle in self._bundles for exercise in bundle.exercises]
        return seconds_for([e for e in exercises if not task.expected or e.name in task.expected])


def _why_lost(result: TaskResult | Lost) -> str:
    """Return why a task has no result; "" if it has one."""
    if isinstance(result, TaskResult):
        return result.lost
    if result.why == "timeout":
        return _("it took much longer than the time limits of its exercises")
    return _("the process that graded it exited {n} times").format(n=2)


def seconds_for(exercises: Sequence[Exercise]) -> float:
    """Return the seconds after which grading a file is stopped: far more than the limits of its exercises allow."""
    # Once: an endless statement is left out when the file is loaded for the next exercise.
    loading = max((load_timeout(limits(exercise)) for exercise in exercises), default=0.0)
    cases = sum(case_timeout(exercise, case) for exercise in exercises for case in exercise.cases)
    return GRADER_SECONDS + (MAX_ENDLESS + 1) * loading + 2 * cases


def unjudged_file(
    bundles: Sequence[Bundle], wanted: Sequence[str], content: str, size: int, why: str
) -> TaskResult:
    """Return the results of a file that the grader cannot judge, although it judges a plain file.

    The exercises fail. why: shown to the instructor.
    """
    message = _("the grader could not judge this file; a plain file was graded without a problem")
    remark = _("The grader could not judge this file ({why}). A person should look at it.").format(why=why)
    results = results_without_grading(bundles, wanted, "failed", message)
    problem = "" if results else message
    # The results are not in `new`, so no store holds them.
    return TaskResult(tuple(results), content=content, size=size, problem=problem, remarks=(remark,))


# ---- in the process


@contextmanager
def grading(config: RunConfig, shared: int | None = None) -> Iterator[Callable[[Task], TaskResult]]:
    """Set a process of the pool up to grade tasks; yield the function that grades one.

    shared: see `SandboxLauncher`. Raises SandboxError if the tier is not available.
    """
    with ExitStack() as opened:
        launcher = opened.enter_context(closing(choose(config.key.sandbox, warm=config.warm, shared=shared)))
        options = GradingOptions(terms=HIDDEN, torch_version=version("torch"))

        def engine(folder: Path, options: GradingOptions) -> Engine:
            made = Engine(config.rules.apply(load_all(folder)), launcher, options)
            return opened.enter_context(closing(made))

        hidden = engine(config.bundles, options)
        public = engine(config.public, replace(options, terms=PUBLIC, quick=True)) if config.public else None
        store = opened.enter_context(closing(Store(config.store, config.key))) if config.store else None
        if config.key.sandbox != "basic":  # workers of that tier are children and would inherit the limit
            limit_memory(MEMORY)
        gc.freeze()  # otherwise searching these objects for garbage takes 2 % of the time of grading a class
        yield lambda task: grade(hidden, store, config, task, public)


@contextmanager
def ends_if_stuck(seconds: float) -> Iterator[None]:
    """End this process if the block takes longer, also within one call of C, such as Python's parser.

    The time limit of a file allows for all cases of its exercises, so it is much too long for reading alone.
    """
    with open(os.devnull, "w") as nothing:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nothing)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def limit_memory(more: int) -> None:
    """Limit this process to `more` bytes of address space beyond what it has now (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    import resource

    with contextlib.suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = pages * os.sysconf("SC_PAGE_SIZE") + more
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def grade(
    engine: Engine, store: Store | None, config: RunConfig, task: Task, public: Engine | None = None
) -> TaskResult:
    """Return the results of a file. Raises nothing.

    Only exercises without a stored result are graded.
    public: grades public cases, if lines to look at are wanted. The store never holds lines.
    """
    if task.is_plain:
        return TaskResult(grader_failed=not engine.grades_a_plain_file(task.expected))
    try:
        with ends_if_stuck(READ_SECONDS):
            data = task.read()
    except (OSError, BadData, MemoryError):
        problem = _("{file} cannot be read").format(file=shown(task.file))
        return TaskResult(problem=problem, grader_failed=True)
    found = TaskResult(content=hashlib.sha256(data).hexdigest(), size=len(data), wanted=task.expected)
    try:
        with ends_if_stuck(READ_SECONDS):
            found, submission = look_up(engine.bundles, engine.contracts, store, config, task, data)
        if submission is None:
            return found
        if found.missing:
            new = engine.grade(submission, found.missing).exercises
            found = found.completed(engine.with_imports(submission, new))
        if public is not None:
            found = replace(found, results=with_public_lines(public, submission, found.results))
        return found
    except Exception as error:
        engine.close()
        said = sanitize(f"{type(error).__name__}: {error}", 300)
        return TaskResult(content=found.content, size=found.size, wanted=found.wanted, lost=said)


def look_up(
    bundles: Sequence[Bundle],
    contracts: Mapping[str, Definition],
    store: Store | None,
    config: RunConfig,
    task: Task,
    data: bytes,
) -> tuple[TaskResult, Submission | None]:
    """Return the stored results of a file with this content, and its submission; None if it has no exercise to grade.

    contracts: see `CourseTables`.
    """
    try:
        submission = with_neighbours(submission_from(task.file, data), task.beside)
    except Blocked as blocked:
        wanted = names_to_grade(bundles, config.only, task.expected)
        blank = tuple(results_without_grading(bundles, wanted, "blocked", str(blocked)))
        content = hashlib.sha256(data).hexdigest()
        return TaskResult(blank, content=content, size=len(data), problem=str(blocked)), None
    content, size = submission.content, sum(len(unit.source) for unit in submission.units)
    defines = tuple(known(contracts, read_names(submission)))
    tree = own_tree(submission, tuple(bundle.stub for bundle in bundles))
    wanted = names_to_grade(bundles, config.only, task.expected or defines)
    if not wanted:
        return TaskResult(content=content, size=size, problem=_why_nothing(submission)), None
    stored, damaged = ({}, ()) if store is None else store.get(content, wanted)
    results = tuple(stored[name] for name in wanted if name in stored)
    says = _(
        "{name} has the syntax tree of the grader's building block; a short answer may have it by chance"
    )
    copied = (says.format(name=name) for name in copied_blocks(submission, wanted))
    remarks = (*damaged, *copied)
    found = TaskResult(results, (), content, size, "", remarks, False, defines, tree, wanted)
    return found, submission


def with_public_lines(
    engine: Engine, submission: Submission, results: Sequence[ExerciseResult]
) -> tuple[ExerciseResult, ...]:
    """Return the results with lines to look at, for exercises that also fail on public cases.

    The search takes at most 2 s per file. engine: grades public cases, so the lines show nothing of hidden ones.
    """
    failed = [result.name for result in results if result.outcome == "failed"]
    if not failed:
        return tuple(results)
    searched = add_lines(engine, engine.grade(submission, failed), dict.fromkeys(failed, Source(submission)))
    lines = {result.name: result.diagnosis.lines for result in searched.exercises}
    return tuple(
        replace(one, diagnosis=replace(one.diagnosis, lines=lines.get(one.name, ()))) for one in results
    )


def results_without_grading(
    bundles: Sequence[Bundle], names: Sequence[str], outcome: Outcome, why: str
) -> list[ExerciseResult]:
    """Return a result with this outcome and message for each exercise in `names`.

    Its score is None for "could_not_grade", otherwise 0.
    """
    return [result_without_checks(e, outcome, why) for b in bundles for e in b.exercises if e.name in names]


def _why_nothing(submission: Submission) -> str:
    name = shown(submission.path)
    for fault in read_names(submission).faults:
        says = _("{file} defines no exercise that is graded here; it does not parse ({unit}, {why})")
        return says.format(file=name, unit=sanitize(fault.unit), why=sanitize(fault.why))
    return _("{file} defines no exercise that is graded here").format(file=name)


def names_to_grade(bundles: Sequence[Bundle], only: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the exercises of `names` to grade, in the order of the course.

    only: if it is not empty, exercises that it does not name are left out.
    """
    known = [e.name for bundle in bundles for e in bundle.exercises]
    return tuple(name for name in known if name in names and (not only or name in only))
