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

# Log-likelihood ratios of a statement, fitted with a listwise softmax to the answers of tests/answers and of the bank
# that are not held out.
# ALIKE is multiplied by the likeness of its words to those of the named mistake, from 0 to 1.
# MOST_ALIKE is multiplied by this likeness divided by the largest one.
ALIKE, MOST_ALIKE = 1.2, 2.1
RAISED = 0.3  # a report names its line
STORES = 3.0  # it stores the attention weights, and only these are wrong
CONSTRUCTOR, BLOCK = -0.45, -0.35  # the kind of the statement
# An edit of it passes all cases; passes only the case tried first; reduces the distance; more than halves it.
REPAIRS, PASSES_ONE, NEARER, MUCH_NEARER = 1.4, 0.7, 1.1, 0.9
NO_EFFECT = -0.4  # no edit of it that ran changed the distance

# An edit that removes an exception counts as this share of the way to the expected output.
CURES_EXCEPTION = 0.4
FAR = 10.0  # the largest error of one observation in a distance
LARGE = 1e3  # used in place of infinity and NaN


@dataclass
class Effects:
    """What edits of one statement did to the case on which candidates are tried first.

    distances: 0 is the expected output, infinity an exception. passed_one: how many edits pass it but not all cases.
    """

    distances: list[float] = field(default_factory=list)
    passed_one: int = 0


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
        inits = [one for one in place.parts if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        built = {part for init in inits for part in ast.walk(init)}
        for part in place.parts:
            statement = (place.unit, part.lineno)
            if statement in alike and not isinstance(part, DEFINES):
                scores[statement] = (
                    RAISED * (statement in marked)
                    + STORES * (only_weights and _stores_weights(part))
                    + CONSTRUCTOR * (part in built)
                    + BLOCK * hasattr(part, "body")
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
    before: Mapping[Statement, float],
    effects: Mapping[Statement, Effects],
    at_first: float,
    repaired: Collection[Statement],
) -> list[Statement]:
    """Return the statements, the likeliest to be wrong first.

    before: the scores of `prior`. at_first: the distance of the submission's own result. repaired: statements with an
    edit that passes every case.
    """

    def score(statement: Statement) -> float:
        one = effects.get(statement, Effects())
        reached = [distance for distance in one.distances if distance < math.inf]
        total = before[statement] + PASSES_ONE * math.log1p(one.passed_one)
        total += REPAIRS * (statement in repaired)
        if not reached or not at_first:
            return total
        if at_first == math.inf:  # an edit removed the exception
            return total + NEARER * CURES_EXCEPTION
        gain = max(0.0, 1 - min(reached) / at_first)
        still = all(math.isclose(distance, at_first, rel_tol=1e-6) for distance in reached)
        return total + NEARER * gain + MUCH_NEARER * (gain > 0.5) + NO_EFFECT * still

    return sorted(before, key=score, reverse=True)


def likeness(places: Iterable[Place], named: Sequence[Words]) -> dict[Statement, float]:
    """Return, per statement, the largest cosine similarity of its words and those of a known mistake, from 0 to 1.

    Rare words count most. named: the words of each known mistake that may explain the answer.
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
