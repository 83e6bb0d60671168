"""Combine frequent mistakes in pairs, and say which of both the grader names. `diagnosis_report.py` and a test use it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from grader.authoring.bank import KnownAnswer, apply
from grader.authoring.content import read_all
from grader.authoring.observe import observe
from grader.bundle.model import Exercise
from grader.bundle.safetensors import Array
from grader.diagnosis.match import explanations
from grader.diagnosis.signature import named_by, signature
from grader.judge.verdict import JudgedCase, judge_all
from grader.support.code import definitions
from grader.support.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]

# The most frequent mistakes in public code, and those that books and courses warn about.
COMMONEST: dict[str, tuple[str, ...]] = {
    "masked_softmax": (
        "softmax-over-queries",
        "softmax-masked-too-late",
        "softmax-fills-zero",
        "softmax-one-key-too-many",
    ),
    "DotProductAttention": (
        "dot-not-scaled",
        "dot-scaled-up",
        "dot-keeps-no-weights",
        "dot-no-dropout",
    ),
    "MultiHeadAttention": (
        "mha-keys-through-wq",
        "mha-values-through-wq",
        "mha-values-through-wk",
        "mha-keys-and-values-through-wq",
        "mha-scaled-by-all-features",
        "mha-lens-tiled",
        "mha-no-output-layer",
        "mha-lens-not-repeated",
        "mha-no-dropout",
    ),
    "PositionalEncoding": (
        "pos-base-thousand",
        "pos-input-changed",
        "pos-sines-only",
        "pos-no-dropout",
        "pos-odd-crash",
    ),
    "DecoderBlock": (
        "decblock-wrong-triangle",
        "decblock-cache-unused",
        "decblock-cache-shared-by-layers",
        "decblock-cross-without-lengths",
    ),
}
SAME = 1e-5  # signatures whose numbers differ by less are equal


@dataclass(frozen=True)
class Pair:
    """Two mistakes in one answer, and the alternatives that the grader named."""

    exercise: str
    ids: frozenset[str]
    named: tuple[tuple[str, ...], ...]

    @property
    def both_named(self) -> bool:
        return any(set(names) == self.ids for names in self.named)

    @property
    def falsely(self) -> bool:
        """Whether the grader gives names, and each alternative contains a mistake that the answer does not have."""
        return bool(self.named) and not any(set(names) <= self.ids for names in self.named)


def pairs(exercises: Mapping[str, Exercise]) -> Iterator[Pair]:
    """Yield the pairs of mistakes in COMMONEST.

    A pair is left out if both mistakes change the same code, or if the results are those of one mistake in COMMONEST
    alone: then they do not show a second one.
    """
    assignments = {e.name: a for a in read_all(ROOT / "solutions") for e in a.exercises}
    for name, ids in COMMONEST.items():
        bank = {m.id: m for m in assignments[name].mistakes(name)}
        reference = definitions(assignments[name].source)
        yield from _pairs(exercises[name], [bank[id] for id in ids], reference)


def _pairs(exercise: Exercise, mistakes: list[KnownAnswer], reference: str) -> Iterator[Pair]:
    cases = named_by(exercise.cases)
    alone = {m.id: signature(cases, _judged(exercise, apply(m, reference))) for m in mistakes}
    for one, other in combinations(mistakes, 2):
        try:
            source = apply([one, other], reference, exactly=False)
            if source != apply([other, one], reference, exactly=False):
                continue
        except UsageError:  # both edits change the same code
            continue
        judged = _judged(exercise, source)
        found = signature(cases, judged)
        if any(_same(found, alone[known]) for known in alone):
            continue
        yield Pair(exercise.name, frozenset((one.id, other.id)), explanations(exercise, judged))


def _judged(exercise: Exercise, source: str) -> dict[str, JudgedCase]:
    """Run a source on the cases, each in its own dtype, and judge the results."""
    cases = named_by(exercise.cases)
    seen = {case.id: observe(source, exercise.given, [case], case.dtype)[case.id] for case in cases}
    return judge_all(cases, seen)


def _same(one: tuple[tuple[str, ...], Array], other: tuple[tuple[str, ...], Array]) -> bool:
    return one[0] == other[0] and bool(np.abs(one[1] - other[1]).max(initial=0.0) < SAME)
