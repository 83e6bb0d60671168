"""Cache results of exercises that take long, by everything that they depend on.

A student can write into the folder. So only results of public cases are cached, and they count nowhere: in CI and
with `--quick` every exercise is graded. If a result cannot be read or written, its exercise is graded again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import replace
from pathlib import Path

from grader.bundle.files import digest
from grader.bundle.model import Exercise
from grader.engine.grading import Context
from grader.engine.visibility import with_requirements
from grader.given import source
from grader.report.model import FORMAT, ExerciseResult, from_text, to_text
from grader.support.files import read_regular, write_own
from grader.support.i18n import _, language
from grader.support.version import __version__

FOLDER = ".headway/kept"  # in a course folder
NEWEST = 20  # the number of results that are kept per exercise


def read_cached(context: Context, content: str, exercise: Exercise) -> ExerciseResult | None:
    """Return the cached result of an exercise; None if there is none, or if it may not be cached.

    content: a hash of the submission.
    """
    path = _path(context, content, exercise)
    try:
        result = from_text(read_regular(path).decode()) if path else None
    except (OSError, ValueError):
        return None
    if result is None or result.name != exercise.name:
        return None
    remark = _("cached result: the files have not changed since an earlier check")
    return replace(result, remarks=(*result.remarks, remark), seconds=0.0)


def keep(context: Context, content: str, exercise: Exercise, result: ExerciseResult) -> None:
    """Cache the result of an exercise without its picture and code, if this is allowed."""
    path = _path(context, content, exercise)
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_own(path, to_text(replace(result, picture=None, code=None)).encode())
        files = path.parent.glob(f"{exercise.name}-*.json")
        for old in sorted(files, key=lambda file: file.stat().st_mtime_ns)[:-NEWEST]:
            old.unlink(missing_ok=True)


def _path(context: Context, content: str, exercise: Exercise) -> Path | None:
    """Return the file of a result, named by a hash of all that it depends on; None if it may not be cached."""
    options = context.options
    if options.cache is None or not options.terms.caches or options.quick or os.environ.get("CI"):
        return None
    if not any(case.costly for case in exercise.cases):
        return None
    blocks = (text for name in with_requirements(exercise.given) for text in (name, source(name)))
    tier = context.workers.launcher.tier
    circumstances = (__version__, str(FORMAT), options.torch_version, tier, options.device, language())
    parts = (exercise.name, digest(exercise), content, *blocks, *circumstances)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    return options.cache / f"{exercise.name}-{key}.json"
