"""Grade everything that a kit lets one import against every exercise of it. Run with the kit's own package:

    PYTHONPATH=UNPACKED_WHEEL python -P trial.py KIT PARENT_PID < references.json

This file is not part of a kit; all that it imports is. It tells what it saw as JSON.

A callable is tried as a student would use it: a file that imports it and calls it by the exercise's name,
graded on the public cases with nothing but the building blocks that the exercise allows. What cannot be
called with the arguments of the exercise at all is not tried. Each exercise ends with its reference in the
same worker: unless that passes, something tried before has damaged the worker, and the trials are made again
in smaller groups. What passes the first case is graded on all of them, in a worker of its own.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import grader
from grader.bundle.files import load_all
from grader.bundle.model import Bundle, Exercise
from grader.engine.engine import Engine
from grader.engine.grading_options import GradingOptions
from grader.engine.submission_run import SubmissionRun
from grader.intake.names import Names
from grader.intake.read import Submission, Unit, read_submission
from grader.sandbox.basic import ColdLauncher
from grader.worker.constructors import accepted_forms

_NAME = "TRIED"  # stands for the name that a candidate gets
SECONDS = 20.0  # for one request, the loading of everything included

# Among the callables are those that end processes. They get to know that it is not allowed. Where temporary files go
# is found out before: torch asks for it late, and could not close the file that it tries with.
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
    """One callable of the kit: its name for messages, the code that gets hold of it, what it takes."""

    title: str
    code: str
    takes: ast.arguments | None  # None: it cannot be told without calling it
    setup: str = ""  # what must have run before


@dataclass
class Seen:
    """What the trials showed."""

    package: str = ""
    callables: int = 0
    trials: int = 0
    passing: list[str] = field(default_factory=list)
    unsound: list[str] = field(default_factory=list)  # exercises whose reference did not pass
    started: list[str] = field(default_factory=list)  # files that are not as they were handed out


def main(kit: Path, references: dict[str, str]) -> Seen:
    """Try everything. `references`: the source that answers each assignment."""
    bundles = load_all(kit)
    seen = Seen(package=str(Path(grader.__file__).parent))
    candidates = [*_package(Path(grader.__file__).parent), *_stubs(bundles)]
    seen.callables = len(candidates)
    launcher = ColdLauncher()
    # Quick: a training that takes longer gives nothing away.
    full = Engine(bundles, launcher, GradingOptions(reuse_worker=True, quick=True))
    quick = Engine([_quick(b) for b in bundles], launcher, GradingOptions(reuse_worker=True))
    try:
        seen.started = list(_started(full, kit))
        for bundle in bundles:
            reference = references[bundle.assignment]
            seen.unsound += _failing(full, bundle, reference)
            for exercise in bundle.exercises:
                trials = [c for c in candidates if _can_be_called(c, exercise)]
                seen.trials += len(trials)
                found, sound = _tried(quick, bundle, exercise, trials, reference)
                seen.passing += [
                    f"{c.title} as {exercise.name}" for c in found if _passes(full, bundle, exercise, c)
                ]
                seen.unsound += [] if sound else [exercise.name]
    finally:
        full.close()
        quick.close()
    return seen


# ---- what there is to try


def _package(package: Path) -> Iterator[Candidate]:
    """Everything that is defined at the top level of a module; blocks also by way of `grader.given`."""
    for path in sorted(package.rglob("*.py")):
        parts = ("grader", *path.relative_to(package).with_suffix("").parts)
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for name, takes in _defined(ast.parse(path.read_text("utf-8"))):
            yield Candidate(f"{module}.{name}", f"from {module} import {name} as {_NAME}", takes)
            if module.startswith("grader.given."):
                yield Candidate(f"grader.given.{name}", f"from grader.given import {name} as {_NAME}", takes)


def _stubs(bundles: Sequence[Bundle]) -> Iterator[Candidate]:
    """Everything that a handed-out file defines, such as the classes to repair."""
    for bundle in bundles:
        module = f"apart_{bundle.module}"
        setup = f"import types\n{module} = types.ModuleType('{module}')\nexec({bundle.stub!r}, {module}.__dict__)\n"
        for name, takes in _defined(ast.parse(bundle.stub)):
            yield Candidate(f"{bundle.module}.{name}", f"{_NAME} = {module}.{name}", takes, setup)


def _defined(tree: ast.Module) -> Iterator[tuple[str, ast.arguments | None]]:
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, None if node.decorator_list else node.args
        elif isinstance(node, ast.ClassDef):
            yield node.name, _constructor(node)
        elif isinstance(node, ast.Assign):
            yield from (
                (target.id, None)
                for target in node.targets
                if isinstance(target, ast.Name) and not _is_data(node.value)
            )


def _constructor(node: ast.ClassDef) -> ast.arguments | None:
    """What a class is built with, if its own `__init__` says so."""
    own = [
        part
        for part in node.body
        if isinstance(part, ast.FunctionDef) and part.name in ("__init__", "__new__")
    ]
    if node.decorator_list or node.keywords or len(own) != 1 or own[0].decorator_list or not own[0].args.args:
        return None
    args = own[0].args
    return ast.arguments(
        args.posonlyargs,
        args.args[1:],
        args.vararg,
        args.kwonlyargs,
        args.kw_defaults,
        args.kwarg,
        args.defaults,
    )


def _is_data(value: ast.expr) -> bool:
    return isinstance(value, (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.JoinedStr))


def _can_be_called(candidate: Candidate, exercise: Exercise) -> bool:
    """Python would accept the arguments of the first call; whatever cannot be told is tried."""
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
    by_place = [*takes.posonlyargs, *takes.args]
    if count > len(by_place) and takes.vararg is None:
        return False
    free = {a.arg for a in (*takes.args, *takes.kwonlyargs)} - {a.arg for a in by_place[:count]}
    if keywords - free and takes.kwarg is None:
        return False
    needed = {a.arg for a in by_place[count : len(by_place) - len(takes.defaults)]}
    needed |= {
        a.arg for a, default in zip(takes.kwonlyargs, takes.kw_defaults, strict=True) if default is None
    }
    return needed <= keywords


# ---- the trials


def _quick(bundle: Bundle) -> Bundle:
    """The first case of every exercise, undiagnosed: what fails it need not see the others."""
    return replace(bundle, exercises=tuple(_first_case(e) for e in bundle.exercises))


def _first_case(exercise: Exercise) -> Exercise:
    return replace(
        exercise, cases=exercise.cases[:1], level=0, limits={**exercise.limits, "wall_seconds": SECONDS}
    )


def _tried(
    engine: Engine, bundle: Bundle, exercise: Exercise, trials: Sequence[Candidate], reference: str
) -> tuple[list[Candidate], bool]:
    """Those that pass the first case, and whether the reference still does after them."""
    found = [trials[number] for number in _all_in_one_file(engine, bundle.exercise(exercise.name), trials)]
    if _passes_as(engine, bundle, exercise.name, reference):
        return found, True
    engine.close()
    if len(trials) <= 1:
        return found, _passes_as(engine, bundle, exercise.name, reference)
    half = len(trials) // 2
    parts = [_tried(engine, bundle, exercise, part, reference) for part in (trials[:half], trials[half:])]
    return [c for found, _sound in parts for c in found], all(sound for _found, sound in parts)


def _all_in_one_file(engine: Engine, exercise: Exercise, trials: Sequence[Candidate]) -> Iterator[int]:
    """One file that imports them all; each is graded as if it bore the exercise's name. Numbers of those that pass."""
    exercise = _first_case(exercise)
    setup = "".join(dict.fromkeys(c.setup for c in trials))
    # Run one by one: some cannot be had.
    lines = "\n".join(_bound(c, f"tried_{n}") for n, c in enumerate(trials))
    file = Submission(Path("tried.py"), (Unit("tried.py", f"{_TAME}{setup}{lines}"),))
    for number in range(len(trials)):
        run = SubmissionRun(engine.context, file, Names({}))
        run.aliases[exercise.name] = f"tried_{number}"
        if run.grade(exercise).outcome == "passed":
            yield number


def _bound(candidate: Candidate, name: str) -> str:
    return candidate.code.replace(_NAME, name)


def _passes(engine: Engine, bundle: Bundle, exercise: Exercise, candidate: Candidate) -> bool:
    """All cases, in a worker of its own."""
    passed = _passes_as(
        engine,
        bundle,
        exercise.name,
        f"{_TAME}{candidate.setup}{_bound(candidate, _NAME)}\n{exercise.name} = {_NAME}\n",
    )
    engine.close()
    return passed


def _passes_as(engine: Engine, bundle: Bundle, name: str, source: str) -> bool:
    return engine.grade(_file(bundle, source), [name]).exercises[0].outcome == "passed"


def _failing(engine: Engine, bundle: Bundle, reference: str) -> list[str]:
    """Exercises whose reference does not pass with the kit's bundle."""
    report = engine.grade(_file(bundle, reference), [e.name for e in bundle.exercises])
    return [e.name for e in report.exercises if e.outcome != "passed"]


def _file(bundle: Bundle, source: str) -> Submission:
    name = f"{bundle.module}.py"
    return Submission(Path(name), (Unit(name, source),))


def _started(engine: Engine, kit: Path) -> Iterator[str]:
    """Exercises that are anything but *not started*, in the file or in the notebook."""
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
