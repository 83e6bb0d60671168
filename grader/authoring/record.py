"""Record a bundle: run references and known mistakes on cases.

They run in float64. Only for signatures, cases about precision run in their own dtype (see signatures.py).

All of this code is trusted, so it runs in this process, with the worker's own program runner: reference and
student are observed in the same way. Needs solutions/ and torch.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from msgspec.structs import replace

from grader.authoring.assemble import Measured, bundle_of
from grader.authoring.bank import apply
from grader.authoring.content import Assignment, Described
from grader.authoring.observe import observe
from grader.authoring.signatures import signatures
from grader.bundle.files import unused_inputs, unused_tensors
from grader.bundle.model import Bundle, Header, RecordedCase
from grader.bundle.safetensors import Array
from grader.cases.case import Case
from grader.diagnosis.signature import named_by
from grader.judge.compare import FLOATS
from grader.judge.observation import Observation
from grader.support.errors import UsageError

# Judges that compare with the results of the reference alone; `one_of` also accepts the results of `also` answers.
COMPARED = ("equal", "law", "precise", "kept_weights", "sentences", "witnessed")


def record(assignment: Assignment, seed: str, *, diagnosis: bool = True) -> Bundle:
    """Record one assignment for a seed; without `diagnosis`, no mistakes. Raises UsageError if a reference fails."""
    found = {e.name: measure(assignment, e, seed, diagnosis=diagnosis) for e in assignment.exercises}
    return bundle_of(assignment, seed, found, diagnosis=diagnosis)


def measure(assignment: Assignment, exercise: Described, seed: str, *, diagnosis: bool = True) -> Measured:
    """Run the reference and the known mistakes of one exercise. Raises UsageError when the reference does not run."""
    torch.set_num_threads(1)  # the tensors are tiny
    name, given = exercise.name, assignment.given(exercise)
    cases = assignment.cases(name, seed)
    for case in cases:
        require_used(case)
    run = [case for case in cases if case.exam is None]
    reference = observe(assignment.source, given, run)
    others = {a.id: observe(apply(a, assignment.source), given, run) for a in assignment.alternatives(name)}
    recorded = tuple(
        _examined(case)
        if case.exam is not None
        else _recorded(case, reference[case.id], {id: seen[case.id] for id, seen in others.items()})
        for case in cases
    )
    mistakes = assignment.named_mistakes(exercise) if diagnosis else []
    if not mistakes:
        return Measured(recorded, None)
    return Measured(
        recorded, signatures(assignment, mistakes, named_by(recorded), given, paired=exercise.pairs)
    )


def require_used(case: Case) -> None:
    """Raise UsageError for a tensor that a worker would receive and no step needs."""
    unused = unused_inputs(case.steps) + unused_tensors(case.steps, case.tensors)
    if unused:
        raise UsageError(
            f"{case.exercise}, case {case.id}: no step uses {', '.join(dict.fromkeys(unused))}."
            " Remove the input, or keep it from the worker with case.hold_for_judge"
        )
    if case.exam is not None:
        require_used(case.exam)


def _examined(case: Case) -> RecordedCase:
    """Record an exam, or a case that has one, without training the reference: no judge compares with it."""
    headers = {n: Header(s, case.dtype, case.axes.get(n, ())) for n, s in case.shapes.items()}
    exam = None if case.exam is None else _examined(case.exam)
    return replace(_with(case, headers, {}), exam=exam, costly=case.costly)


def _with(case: Case, headers: Mapping[str, Header], expected: Mapping[str, Array]) -> RecordedCase:
    return RecordedCase(
        id=case.id,
        dtype=case.dtype,
        steps=tuple(case.steps),
        checks=tuple(case.checks),
        tensors=case.tensors,
        for_judge=case.for_judge,
        headers=headers,
        expected=expected,
    )


def _recorded(case: Case, reference: Observation, others: Mapping[str, Observation]) -> RecordedCase:
    """Store only values that a check compares, and stages. others: the results of answers made with `also`, by id."""
    refuses = any(check.judge == "raises" for check in case.checks)
    if reference.error is not None and not refuses:
        where = (
            f" (line {reference.error.where[1]}: {reference.error.where[2]})" if reference.error.where else ""
        )
        raise UsageError(
            f"{case.exercise}, case {case.id}: the reference raised {reference.error.type}: {reference.error.message}{where}"
        )
    headers = {name: Header((), "value") for name in reference.values}
    for name, seen in reference.seen.items():
        if seen.shape is None:
            raise UsageError(f"{case.exercise}, case {case.id}: the reference gives {seen.odd} for {name}")
        headers[name] = Header(
            seen.shape, case.dtype if seen.dtype in FLOATS else seen.dtype, case.axes.get(name, ())
        )
    compared = {n for c in case.checks if c.judge in COMPARED for n in c.of}
    compared |= {n for n in reference.seen if n.startswith("stage ")}
    expected = {n: reference.seen[n].array for n in compared}
    for n in {n for c in case.checks if c.judge == "one_of" for n in c.of}:
        expected[n] = reference.seen[n].array
        expected |= {f"{n}|{id}": seen.seen[n].array for id, seen in others.items()}
    # A case with `like` repeats another case in another dtype. Its tolerance is far above the error of float32, so
    # float32 is enough.
    stored = {
        n: a.astype(np.float32) if case.like and a.dtype.kind == "f" else a
        for n, a in expected.items()
        if a is not None
    }
    return replace(_with(case, headers, stored), like=case.like)
