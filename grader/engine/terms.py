"""The terms of a grading: what it may do, and what its report may show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Terms:
    """What depends on who reads a report, and on who wrote the file. One module reads each field.

    seed: which cases are used, as the report names it.
    redacts: the report shows nothing that code could choose after it saw a case.
    believes_exceptions: an exception may decide which missing name a report shows.
    keeps_prints: a report shows what a failed case printed.
    skips_after_timeout: one timeout is enough, because a second one shows a student nothing new.
    caches: the results of long trainings may be cached.
    tries_other_code: definitions that are no exercise may run on the cases of one, to name their exceptions.
    searches_lines: edits of a failed answer may be tried, to find the lines to look at.
    saves_outcomes: the outcomes are saved in the course folder.
    asks_author: the reader wrote the file, so the report asks to change it.
    may_lack_gpu: code that raises because there is no GPU could not be graded.
    may_take_masks: a class whose `forward` has a mask where the course passes lengths has another interface.
    lists_other_code: the report says which code was not graded.
    """

    seed: Literal["public", "hidden"] = "public"
    redacts: bool = False
    believes_exceptions: bool = True
    keeps_prints: bool = True
    skips_after_timeout: bool = True
    caches: bool = True
    tries_other_code: bool = True
    searches_lines: bool = True
    saves_outcomes: bool = True
    asks_author: bool = True
    may_lack_gpu: bool = False
    may_take_masks: bool = False
    lists_other_code: bool = False


def of_strangers(terms: Terms) -> Terms:
    """Return the terms for a file that was not written for the course; its points are not recorded."""
    return replace(terms, asks_author=False, may_lack_gpu=True, may_take_masks=True, lists_other_code=True)


PUBLIC = Terms()
HIDDEN = Terms(
    seed="hidden",
    redacts=True,
    believes_exceptions=False,
    keeps_prints=False,
    skips_after_timeout=False,
    caches=False,
    tries_other_code=False,
    searches_lines=False,
    saves_outcomes=False,
)
FOREIGN = of_strangers(PUBLIC)
