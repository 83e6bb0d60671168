"""Grade everything that can be imported from a kit as an answer to each of its exercises.

Run with the kit's own package:

    PYTHONPATH=UNPACKED_WHEEL python -P trial.py KIT PARENT_PID < references.json

This file is not part of a kit, but all that it imports is. It prints its findings as JSON.

A callable is tried as a student would use it: a file imports it and gives it the exercise's name. The file is graded
on the public cases, with the building blocks that the exercise allows. A callable that cannot take the arguments of
the exercise is not tried.

The trials of an exercise use its first case and share a worker; its reference comes last. If the reference fails, a
trial has damaged the worker, and the trials run again in smaller groups. A callable that passes the first case is
graded on all cases except long trainings, in a fresh worker.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import grader
from grader.bundle.files import load_all
from grader.bundle.model import Bundle, Exercise
from grader.engine.engine import Engine
from grader.engine.grade_exercise import grade_exercise
from grader.engine.grading_options import GradingOptions
from grader.engine.submission_run import SubmissionRun
from grader.intake.names import Names
from grader.intake.read import Submission, Unit, read_submission
from grader.sandbox.basic import ColdLauncher
from grader.worker.constructors import accepted_forms

_NAME = "TRIED"  # in `Candidate.code`; `_bound` replaces it by the name in the tried file
SECONDS = 20.0  # for one request; the first one loads everything

# Some callables would end or damage the process, so the functions below raise. `gettempdir` runs first: it needs
# `os.close`, and torch calls it only later.
_TAME = """
import ctypes, os, resource, signal, tempfile
tempfile.gettempdir()
def _refused(*args, **kwargs):
    raise PermissionError("not while it is tried")
class _Refusing:
    def __init__(self, *args, **kwargs): pass
    def __getattr__(self, name): return _refused
for _name in ("kill", "killpg", "_exit", "abort", "fork", "forkpty", "execv", "execve", "system", "posix_spawn",
              "close", "closerange", "dup2", "setuid", "setgid", "setresuid", "setresgid", "setgroups", "chroot", "chdir"):
    if hasattr(os, _name): setattr(os, _name, _refused)
resource.setrlimit = signal.signal = signal.alarm = signal.setitimer = _refused
ctypes.CDLL = ctypes.PyDLL = _Refusing
"""


@dataclass(frozen=True)
class Candidate:
    """One callable of the kit: its name in messages, the code that imports it, and its parameters."""

    title: str
    code: str
    takes: ast.arguments | None  # None: unknown without a call
    setup: str = ""  # code that runs first


@dataclass
class Seen:
    """The findings of all trials."""

    package: str = ""  # the folder of the package that ran
    callables: int = 0
    trials: int = 0
    passing: list[str] = field(default_factory=list)
    unsound: list[str] = field(default_factory=list)  # exercises whose reference did not pass
    started: list[str] = field(default_factory=list)  # sentences: an exercise of the kit counts as started


def main(kit: Path, references: dict[str, str]) -> Seen:
    """Try every callable. references: assignment → source of its reference."""
    bundles = load_all(kit)
    seen = Seen(package=str(Path(grader.__file__).parent))
    candidates = [*_package(Path(grader.__file__).parent), *_stubs(bundles)]
    seen.callables = len(candidates)
    launcher = ColdLauncher()
    # quick=True skips long trainings; they give no answer away.
    full = Engine(bundles, launcher, GradingOptions(reuse_worker=True, quick=True))
    first_cases = Engine([_first_cases(b) for b in bundles], launcher, GradingOptions(reuse_worker=True))
    try:
        seen.started = list(_started(full, kit))
        for bundle in bundles:
            reference = references[bundle.assignment]
            seen.unsound += _failing(full, bundle, reference)
            for exercise in bundle.exercises:
                trials = [c for c in candidates if _can_be_called(c, exercise)]
                seen.trials += len(trials)
                found, sound = _tried(first_cases, bundle, exercise, trials, reference)
                seen.passing += [
                    f"{c.title} as {exercise.name}" for c in found if _passes(full, bundle, exercise, c)
                ]
                if not sound:
                    seen.unsound.append(exercise.name)
    finally:
        full.close()
        first_cases.close()
    return seen


# ---- the callables


def _package(package: Path) -> Iterator[Candidate]:
    """Yield what each module defines at its top level; building blocks also from `grader.given`."""
    for path in sorted(package.rglob("*.py")):
        parts = ("grader", *path.relative_to(package).with_suffix("").parts)
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for name, takes in _defined(ast.parse(path.read_text("utf-8"))):
            yield Candidate(f"{module}.{name}", f"from {module} import {name} as {_NAME}", takes)
            if module.startswith("grader.given."):
                yield Candidate(f"grader.given.{name}", f"from grader.given import {name} as {_NAME}", takes)


def _stubs(bundles: Sequence[Bundle]) -> Iterator[Candidate]:
    """Yield what the stubs define, such as the classes to repair.

    Each stub runs in a module of its own, so that its names do not collide with those of the tried file.
    """
    for bundle in bundles:
        module = f"apart_{bundle.module}"
        setup = f"import types\n{module} = types.ModuleType('{module}')\nexec({bundle.stub!r}, {module}.__dict__)\n"
        for name, takes in _defined(ast.parse(bundle.stub)):
            yield Candidate(f"{bundle.module}.{name}", f"{_NAME} = {module}.{name}", takes, setup)


def _defined(tree: ast.Module) -> Iterator[tuple[str, ast.arguments | None]]:
    """Yield the names that a module defines, and what they take; see `Candidate.takes`."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            takes = None if node.decorator_list else node.args
            yield node.name, takes
        elif isinstance(node, ast.ClassDef):
            yield node.name, _constructor(node)
        elif isinstance(node, ast.Assign):
            yield from (
                (target.id, None)
                for target in node.targets
                if isinstance(target, ast.Name) and not _is_data(node.value)
            )


def _constructor(node: ast.ClassDef) -> ast.arguments | None:
    """Return the parameters of a class's `__init__` or `__new__`, without the first; None if they are unknown."""
    makers = ("__init__", "__new__")
    own = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name in makers]
    if node.decorator_list or node.keywords or len(own) != 1 or own[0].decorator_list or not own[0].args.args:
        return None
    takes = copy(own[0].args)
    takes.args = takes.args[1:]
    return takes


def _is_data(value: ast.expr) -> bool:
    return isinstance(value, (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.JoinedStr))


def _can_be_called(candidate: Candidate, exercise: Exercise) -> bool:
    """Whether a callable takes the arguments of the first call. True if its parameters are unknown."""
    if candidate.takes is None:
        return True
    for step in exercise.cases[0].steps:
        if step["do"] == "build" and step["of"] == exercise.name:
            forms = accepted_forms(step["of"], step["kwargs"])
            return any(_accepts(candidate.takes, 0, set(form)) for form in forms)
        if step["do"] == "call" and step["on"] == {"function": exercise.name}:
            return _accepts(candidate.takes, len(step["args"]), set(step["kwargs"]))
    return True


def _accepts(takes: ast.arguments, count: int, keywords: set[str]) -> bool:
    """Whether these parameters take `count` positional arguments and these keywords."""
    by_place = [*takes.posonlyargs, *takes.args]
    if count > len(by_place) and takes.vararg is None:
        return False
    free = {a.arg for a in (*takes.args, *takes.kwonlyargs)} - {a.arg for a in by_place[:count]}
    if keywords - free and takes.kwarg is None:
        return False
    without_default = by_place[: len(by_place) - len(takes.defaults)]
    needed = {a.arg for a in without_default[count:]}
    by_name = zip(takes.kwonlyargs, takes.kw_defaults, strict=True)
    needed |= {a.arg for a, default in by_name if default is None}
    return needed <= keywords


# ---- the trials


def _first_cases(bundle: Bundle) -> Bundle:
    """Reduce every exercise to its first case, which most callables fail, and switch off known mistakes."""
    return replace(bundle, exercises=tuple(_first_case(e) for e in bundle.exercises))


def _first_case(exercise: Exercise) -> Exercise:
    return replace(
        exercise, cases=exercise.cases[:1], level=0, limits={**exercise.limits, "wall_seconds": SECONDS}
    )


def _tried(
    engine: Engine, bundle: Bundle, exercise: Exercise, trials: Sequence[Candidate], reference: str
) -> tuple[list[Candidate], bool]:
    """Return the callables that pass the first case, and whether the reference passes after them.

    If the reference does not pass, close the worker and try each half of the callables. After a single callable, the
    reference may also pass in a fresh worker.
    """
    found = [trials[number] for number in _all_in_one_file(engine, bundle.exercise(exercise.name), trials)]
    if _passes_as(engine, bundle, exercise.name, reference):
        return found, True
    engine.close()
    if len(trials) <= 1:
        return found, _passes_as(engine, bundle, exercise.name, reference)
    half = len(trials) // 2
    parts = [_tried(engine, bundle, exercise, part, reference) for part in (trials[:half], trials[half:])]
    return [c for passing, _sound in parts for c in passing], all(sound for _passing, sound in parts)


def _all_in_one_file(engine: Engine, exercise: Exercise, trials: Sequence[Candidate]) -> Iterator[int]:
    """Import all callables in one file, and grade each as the exercise. Yield the numbers of those that pass."""
    exercise = _first_case(exercise)
    setup = "".join(dict.fromkeys(c.setup for c in trials))
    lines = "\n".join(_bound(c, f"tried_{n}") for n, c in enumerate(trials))
    file = Submission(Path("tried.py"), (Unit("tried.py", f"{_TAME}{setup}{lines}"),))
    for number in range(len(trials)):
        run = SubmissionRun(engine.context, file, Names({}))
        run.aliases[exercise.name] = f"tried_{number}"
        if grade_exercise(run, exercise).outcome == "passed":
            yield number


def _bound(candidate: Candidate, name: str) -> str:
    return candidate.code.replace(_NAME, name)


def _passes(engine: Engine, bundle: Bundle, exercise: Exercise, candidate: Candidate) -> bool:
    """Whether a callable passes all cases except long trainings, in a fresh worker."""
    source = f"{_TAME}{candidate.setup}{_bound(candidate, _NAME)}\n{exercise.name} = {_NAME}\n"
    engine.close()
    passed = _passes_as(engine, bundle, exercise.name, source)
    engine.close()
    return passed


def _passes_as(engine: Engine, bundle: Bundle, name: str, source: str) -> bool:
    return engine.grade(_file(bundle, source), [name]).exercises[0].outcome == "passed"


def _failing(engine: Engine, bundle: Bundle, reference: str) -> list[str]:
    """Return the exercises whose reference does not pass with the kit's bundle."""
    report = engine.grade(_file(bundle, reference), [e.name for e in bundle.exercises])
    return [e.name for e in report.exercises if e.outcome != "passed"]


def _file(bundle: Bundle, source: str) -> Submission:
    name = f"{bundle.module}.py"
    return Submission(Path(name), (Unit(name, source),))


def _started(engine: Engine, kit: Path) -> Iterator[str]:
    """Yield a sentence per exercise whose outcome in the kit's file or notebook is not "not_started"."""
    for bundle in engine.bundles:
        for suffix in (".py", ".ipynb"):
            path = kit / bundle.assignment / f"{bundle.module}{suffix}"
            report = engine.grade(read_submission(path), [e.name for e in bundle.exercises])
            yield from (
                f"{e.name} in {path.name} is {e.outcome}"
                for e in report.exercises
                if e.outcome != "not_started"
            )


def _main(arguments: Sequence[str]) -> None:
    kit, parent = arguments
    if sys.platform == "linux":
        from grader.sandbox import kernel

        kernel.die_with_parent(int(parent))
    references: Any = json.load(sys.stdin)
    json.dump(asdict(main(Path(kit), references)), sys.stdout)


if __name__ == "__main__":
    _main(sys.argv[1:])
