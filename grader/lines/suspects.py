"""Estimate how likely each statement is to be wrong. This proves nothing; it only orders edits and suspected lines."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.bundle.model import RecordedCase
from grader.judge.observation import Observation, Seen
from grader.lines.places import DEFINES, Place, Statement
from grader.lines.statement_words import Words, words_by_line

# Log-likelihood ratios of a statement, fitted to the answers of the sample of line_report.py that are not held out: a
# softmax over the statements of an answer gives each a probability; the sum of those of the faulty ones is largest, with
# a penalty of 0.005 times the squares of the weights. RAISED is larger than fitted, because few answers show it: it
# outweighs RETURNS.
# ALIKE is multiplied by the likeness of its words to those of the named mistake, from 0 to 1.
# MOST_ALIKE is multiplied by this likeness divided by the largest one.
ALIKE, MOST_ALIKE = 1.6, 1.8
RAISED = 1.3  # a report names its line
RETURNS = 1.05
# The first edit that passes all cases is one of it. The share by which an edit of it reduces the distance.
REPAIRS, NEARER = 2.7, 1.8

FAR = 10.0  # the largest error of one observation in a distance
RAISES = 100.0  # the distance of an exception
LARGE = 1e3  # used in place of infinity and NaN


@dataclass
class Effects:
    """What edits did to the case on which they are tried first.

    at_first: the distance of the submission's own result from the expected output. nearest: the smallest distance after
    an edit of a statement.
    """

    at_first: float = 0.0
    nearest: dict[Statement, float] = field(default_factory=dict)

    def add(self, statement: Statement, distance: float) -> None:
        self.nearest[statement] = min(distance, self.nearest.get(statement, math.inf))


def prior(
    places: Iterable[Place],
    alike: Mapping[Statement, float],
    marked: Collection[Statement],
) -> dict[Statement, float]:
    """Return statement → score, before any edit was tried, without definitions.

    alike: see `likeness`. marked: lines that the report names.
    """
    most = max(alike.values(), default=0)
    scores = {}
    for place in places:
        for part in place.parts:
            statement = (place.unit, part.lineno)
            if statement in alike and not isinstance(part, DEFINES):
                scores[statement] = (
                    RAISED * (statement in marked)
                    + RETURNS * isinstance(part, ast.Return)
                    + (ALIKE + MOST_ALIKE / (most or 1.0)) * alike[statement]
                )
    return scores


def ranked(
    before: Mapping[Statement, float], effects: Effects, repaired: Sequence[Statement]
) -> list[Statement]:
    """Return the statements, the likeliest to be wrong first.

    before: the scores of `prior`. repaired: statements with an edit that passes every case, in the order in which the
    edits were tried.
    """
    at_first = effects.at_first

    def score(statement: Statement) -> float:
        nearest = min(effects.nearest.get(statement, math.inf), at_first)
        gain = NEARER * (at_first - nearest) / (at_first or 1.0)
        return before[statement] + gain + REPAIRS * (statement in repaired[:1])

    return sorted(before, key=score, reverse=True)


def likeness(places: Iterable[Place], named: Sequence[Words]) -> dict[Statement, float]:
    """Return, per statement, the largest cosine similarity of its words and those of a changed one, from 0 to 1.

    Rare words count most. named: the words of each statement that a known mistake changes, if the mistake may explain
    the answer.
    """
    words = {(place.unit, line): own for place in places for line, own in words_by_line(place.node).items()}
    counts = Counter(word for own in words.values() for word in own)

    def weight(of: Words) -> float:
        return sum(math.log((len(words) + 1) / (counts[word] + 0.5)) ** 2 for word in of)

    weights = [weight(one) for one in named]
    alike = {}
    for statement, mine in words.items():
        both = zip(named, weights, strict=True)
        own = weight(mine)
        cosines = [weight(mine & one) / (math.sqrt(own * other) or 1.0) for one, other in both]
        alike[statement] = max(cosines, default=0.0)
    return alike


def distance(case: RecordedCase, observation: Observation) -> float:
    """Return the mean error of what was observed, relative to the expected output."""
    if observation.error is not None:
        return RAISES
    judged = {name for check in case.checks for name in check.of}
    errors = [
        _error(observation.seen.get(name), expected)
        for name, expected in case.expected.items()
        if name in judged
    ]
    return sum(errors) / len(errors) if errors else 0.0


def _error(seen: Seen | None, expected: np.ndarray) -> float:
    if seen is None or seen.array is None or seen.array.shape != expected.shape:
        return 1.0
    if not expected.size:
        return 0.0
    if expected.dtype.kind != "f":
        return float((seen.array != expected).mean())
    mine, wanted = (np.nan_to_num(a, nan=LARGE, posinf=LARGE, neginf=-LARGE) for a in (seen.array, expected))
    return min(float(np.abs(mine - wanted).mean() / (np.abs(wanted).mean() + 1e-9)), FAR)
