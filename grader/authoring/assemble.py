"""Put a bundle together from the texts of solutions/ and from what was recorded. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import asdict

from grader.authoring.bank import KnownAnswer, apply
from grader.authoring.content import Assignment, Described
from grader.bundle.model import Bundle, Exercise, KnownMistake, RecordedCase, Signatures
from grader.cases.draw import PUBLIC_SEED
from grader.lines.statement_words import changed_words
from grader.support.code import definitions, stub
from grader.support.errors import UsageError


class Measured(NamedTuple):
    """The slow part of recording an exercise: the results of the reference and of known mistakes."""

    cases: tuple[RecordedCase, ...]
    signatures: Signatures | None


def bundle_of(
    assignment: Assignment, seed: str, measured: Mapping[str, Measured], *, diagnosis: bool = True
) -> Bundle:
    """Return the bundle of an assignment: its texts, and what was measured of each exercise. Raises UsageError."""
    assignment.check_pairs()
    manifest = assignment.manifest
    return Bundle(
        assignment=assignment.name,
        module=assignment.module,
        title=manifest.title,
        summary=manifest.summary,
        seed="public" if seed == PUBLIC_SEED else "hidden",
        stub=stub(assignment.source),
        second=manifest.second,
        exercises=tuple(
            _exercise(assignment, exercise, measured[exercise.name], diagnosis)
            for exercise in assignment.exercises
        ),
    )


def _exercise(assignment: Assignment, described: Described, measured: Measured, diagnosis: bool) -> Exercise:
    mistakes = assignment.named_mistakes(described) if diagnosis else []
    facets = {check.facet for case in measured.cases for check in case.checks}
    exercise = Exercise(
        name=described.name,
        assignment=assignment.name,
        second=assignment.manifest.second,
        title=described.title,
        points=described.points,
        minutes=described.minutes,
        built=described.built,
        weights=assignment.weights(described, facets),
        limits=asdict(described.limits),
        hints=described.hints,
        needs=described.needs,
        given=assignment.given(described),
        forbids=described.forbids,
        forbids_costs=described.forbids_costs,
        level=assignment.level(described),
        cases=measured.cases,
        mistakes=tuple(_known(assignment, mistake) for mistake in mistakes),
        signatures=measured.signatures,
    )
    if not any(exercise.counts(c.facet) for case in exercise.cases for c in case.checks):
        raise UsageError(
            f"{exercise.name}: every facet that it checks has weight 0, so nothing would be graded"
        )
    return exercise


def _known(assignment: Assignment, mistake: KnownAnswer) -> KnownMistake:
    right = definitions(assignment.source)
    words = changed_words(apply(mistake, right), right)
    return KnownMistake(
        mistake.id, mistake.kind, mistake.says, mistake.asks, mistake.page, mistake.policy, words
    )
