"""Edited versions of a submission's statement, and what a worker observed of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.engine.session import WorkerGone
from grader.judge.observation import BadReply, Observation, StudentError, read_observation


@dataclass(frozen=True)
class EditedStatement:
    """A top-level statement that takes the place of another: the name of its file, and its source.

    function: if the edit changes the code of one function alone, its name, such as `Attention.forward`. The source
    then defines only this function, in a class if it is in one.
    """

    file: str
    source: str
    function: str = ""


@dataclass(frozen=True)
class Tried:
    """The observations of a worker, one per edit in their order, and the CPU seconds that it reports.

    lines: the lines that ran, as it reports, if it was asked.
    """

    observations: tuple[Observation, ...]
    cpu: float
    lines: frozenset[tuple[str, int]] = frozenset()


def tried(words: Mapping[str, Any], body: bytes, asked: frozenset[str], files: frozenset[str]) -> Tried:
    """Read the reply of a worker. An impossible observation is replaced by that of an edit that raised.

    Raises WorkerGone for a reply in another format. asked, files: as for `read_observation`.
    """
    try:
        found, start = [], 0
        for one in words["tries"]:
            stop = start + one["bytes"]
            found.append(_observation(one, body[start:stop], asked, files))
            start = stop
        lines = frozenset((str(file), int(line)) for file, line in words["lines"])
        return Tried(tuple(found), float(words["cpu"]), lines)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise WorkerGone("reply", type(error).__name__) from None


def _observation(
    words: Mapping[str, Any], body: bytes, asked: frozenset[str], files: frozenset[str]
) -> Observation:
    try:
        return read_observation(words, body, asked, files)
    except BadReply:
        return Observation({}, StudentError("Exception", "", None, ""))
