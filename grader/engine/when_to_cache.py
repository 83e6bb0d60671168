"""Decide when a result is cached: only for public cases, because a student can write into the folder of the cache.

Only results of exercises with a costly case are cached, and none with `--quick` or in CI.
"""

from __future__ import annotations

import os
from dataclasses import replace

from grader.bundle.model import Exercise
from grader.engine.context import Context
from grader.engine.result_cache import key
from grader.report.model import ExerciseResult
from grader.support.i18n import _, language
from grader.support.version import __version__


def cached(context: Context, content: str, exercise: Exercise) -> ExerciseResult | None:
    """Return the cached result of an exercise; None if there is none, or if it may not be cached.

    content: a hash of the submission.
    """
    cache = context.options.cache
    if cache is None or not _may_be_cached(context, exercise):
        return None
    found = cache.get(_key(context, content, exercise), exercise)
    if found is None:
        return None
    remark = _("cached result: the files have not changed since an earlier check")
    return replace(found, remarks=(*found.remarks, remark), seconds=0.0)


def keep(context: Context, content: str, exercise: Exercise, result: ExerciseResult) -> None:
    """Cache the result of an exercise, if this is allowed."""
    if context.options.cache is not None and _may_be_cached(context, exercise):
        context.options.cache.put(_key(context, content, exercise), exercise, result)


def _key(context: Context, content: str, exercise: Exercise) -> str:
    tier = context.slot.launcher.tier
    circumstances = (__version__, context.options.torch_version, tier, context.options.device, language())
    return key(exercise, content, *circumstances)


def _may_be_cached(context: Context, exercise: Exercise) -> bool:
    if context.options.hidden or context.options.quick or os.environ.get("CI"):
        return False
    return any(case.costly for case in exercise.cases)
