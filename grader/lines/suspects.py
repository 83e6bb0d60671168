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
# a penalty of 0.005 times the squares of the weights. RAISED and STORES are larger than fitted, because few answers show
# them: they outweigh RETURNS.
# ALIKE is multiplied by the likeness of its words to those of the named mistake, from 0 to 1.
# MOST_ALIKE is multiplied by this likeness divided by the largest one.
ALIKE, MOST_ALIKE = 1.6, 1.8
RAISED = 1.3  # a report names its line
STORES = 4.2  # it stores the attention weights, and only these are wrong
RETURNS = 1.05
# The first edit that passes all cases is one of it. An edit of it passes only the case tried first. The share by which
# an edit of it reduces the distance. An edit of it removes an exception.
REPAIRS, PASSES_ONE, NEARER, CURES = 2.7, 0.3, 1.8, 0.85

FAR = 10.0  # the largest error of one observation in a distance
LARGE = 1e3  # used in place of infinity and NaN


@dataclass
class Effects:
    """What edits did to the case on which they are tried first.

    at_first: the distance of the submission's own result from the expected output; infinity for an exception. nearest:
    the smallest distance after an edit of a statement. passed_one: how many edits of it pass this case but not all.
    """

    at_first: float = 0.0
    nearest: dict[Statement, float] = field(default_factory=dict)
    passed_one: Counter[Statement] = field(default_factory=Counter)

    def add(self, statement: Statement, distance: float) -> None:
        self.nearest[statement] = min(distance, self.nearest.get(statement, math.inf))


def prior(
    places: Iterable[Place],
    alike: Mapping[Statement, float],
    marked: Collection[Statement],
    only_weights: bool = False,
) -> dict[Statement, float]:
    """Return statement → score, before any edit was tried, without definitions.

    alike: see `likeness`. marked: lines that the report names. only_weights: the results are right, and the stored
    attention weights are wrong.
    """
    most = max(alike.values(), default=0)
    scores = {}
    for place in places:
        for part in place.parts:
            statement = (place.unit, part.lineno)
            if statement in alike and not isinstance(part, DEFINES):
                scores[statement] = (
                    RAISED * (statement in marked)
                    + STORES * (only_weights and _stores_weights(part))
                    + RETURNS * isinstance(part, ast.Return)
                    + (ALIKE + MOST_ALIKE / (most or 1.0)) * alike[statement]
                )
    return scores


def _stores_weights(statement: ast.stmt) -> bool:
    """Whether the statement assigns one tensor to an attribute `attention_weights`, as far as can be read."""
    match statement:
        case ast.Assign([ast.Attribute(attr="attention_weights")], ast.Call() | ast.BinOp() | ast.Name()):
            return True
    return False


def ranked(
    before: Mapping[Statement, float], effects: Effects, repaired: Sequence[Statement]
) -> list[Statement]:
    """Return the statements, the likeliest to be wrong first.

    before: the scores of `prior`. repaired: statements with an edit that passes every case, in the order in which the
    edits were tried.
    """
    at_first = effects.at_first

    def score(statement: Statement) -> float:
        nearest = effects.nearest.get(statement, math.inf)
        if at_first == math.inf:
            gain = CURES * (nearest < math.inf)
        else:
            gain = NEARER * max(0.0, 1 - nearest / at_first) if at_first else 0.0
        passed_one = PASSES_ONE * math.log1p(effects.passed_one[statement])
        return before[statement] + gain + passed_one + REPAIRS * (statement in repaired[:1])

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


def agreement(alike: Mapping[Statement, float], statements: Iterable[Statement]) -> float:
    """Return the largest likeness of some statements, divided by the largest of all; 1.0 if none has any."""
    most = max(alike.values(), default=0.0)
    return max(alike.get(one, 0.0) for one in statements) / most if most else 1.0


def distance(case: RecordedCase, observation: Observation) -> float:
    """Return the mean error of what was observed, relative to the expected output; infinite after an exception."""
    if observation.error is not None:
        return math.inf
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
