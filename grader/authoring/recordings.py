"""Record bundles with a cache: an exercise is recorded again only if something changed that its cases depend on.

Titles, hints, points, and the sentences of mistakes are read anew every time; the text of the lesson is not recorded.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from grader.authoring.assemble import Measured, bundle_of
from grader.authoring.bank import KnownAnswer
from grader.authoring.content import Assignment, Described
from grader.bundle import files as bundle_files
from grader.bundle.model import Bundle
from grader.support.files import cache_folder

# The files and folders below grader/ on whose code a recording depends.
CODE: tuple[str, ...] = (
    "authoring",
    "bundle",
    "cases",
    "diagnosis",
    "engine/load_request.py",
    "given",
    "judge",
    "lines/__init__.py",
    "lines/statement_words.py",
    "report/model.py",
    "support",
    "worker",
)
KEPT = 400  # the number of recordings in the cache; each is of one exercise
Tell = Callable[[str, int, int], None]  # an exercise that was recorded; how many so far, and in all


def record_all(assignments: Sequence[Assignment], seed: str, tell: Tell | None = None) -> list[Bundle]:
    """Return the bundles of several assignments. Record what is not cached, as many at a time as there are processors.

    Raises UsageError when a reference does not run.
    """
    for assignment in assignments:
        assignment.check_pairs()
    missing = [
        (assignment, exercise.name)
        for assignment in assignments
        for exercise in assignment.exercises
        if not _is_cached(_folder(assignment, exercise, seed))
    ]
    if missing:
        from grader.engine.process_pool import ProcessPool

        with ProcessPool(min(os.cpu_count() or 1, len(missing)), _recording, seed) as processes:
            for done, ((_assignment, name), _nothing) in enumerate(processes.results(missing), 1):
                if tell is not None:
                    tell(name, done, len(missing))
    # Before `_remove_old`: reading the recordings marks them as new.
    recorded = [_bundle(assignment, seed) for assignment in assignments]
    if missing:
        _remove_old(cache_folder() / "recorded")
    return recorded


def key(assignment: Assignment, exercise: Described, seed: str) -> str:
    """Return a hash of what the cases of an exercise and their signatures depend on."""
    answers = [*assignment.named_mistakes(exercise), *assignment.alternatives(exercise.name)]
    cases = (assignment.folder / "cases.py").read_text("utf-8")
    parts = (
        version("torch"),
        version("numpy"),
        _code(),
        seed,
        assignment.name,
        exercise.name,
        _without_text(assignment.source),
        cases,
        repr((assignment.given(exercise), exercise.pairs, [*map(_change, answers)])),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _change(answer: KnownAnswer) -> KnownAnswer:
    """Return what an answer does, without its texts."""
    forms = tuple(_change(form) for form in answer.forms)
    return replace(answer, says="", asks="", page="", seen="", forms=forms)


def _without_text(source: str) -> str:
    """Leave out the lesson: comments that begin a line, except the marks of cells."""
    return "\n".join(
        line for line in source.splitlines() if not line.startswith("#") or line.startswith("# %%")
    )


@cache
def _code() -> str:
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for name in CODE:
        in_folder = sorted((root / name).rglob("*.py"))  # empty if `name` is a file
        for path in in_folder or [root / name]:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _folder(assignment: Assignment, exercise: Described, seed: str) -> Path:
    return cache_folder() / "recorded" / f"{exercise.name}-{key(assignment, exercise, seed)}"


def _is_cached(folder: Path) -> bool:
    return (folder / bundle_files.MANIFEST_FILE).exists()  # written last


@contextmanager
def _recording(seed: str) -> Iterator[Callable[[tuple[Assignment, str]], None]]:
    from grader.authoring.record import measure

    def record_one(task: tuple[Assignment, str]) -> None:
        assignment, name = task
        alone = assignment.only(name)
        (exercise,) = alone.exercises
        folder = _folder(assignment, exercise, seed)
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        bundle_files.save(bundle_of(alone, seed, {name: measure(alone, exercise, seed)}), folder)

    yield record_one


def _remove_old(root: Path) -> None:
    with suppress(OSError):
        for old in sorted(root.iterdir(), key=lambda folder: folder.stat().st_mtime, reverse=True)[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)


def _bundle(assignment: Assignment, seed: str) -> Bundle:
    found = {}
    for described in assignment.exercises:
        folder = _folder(assignment, described, seed)
        (exercise,) = bundle_files.load(folder).exercises
        with suppress(OSError):
            os.utime(folder)  # the newest are kept
        found[described.name] = Measured(exercise.cases, exercise.signatures)
    return bundle_of(assignment, seed, found)
