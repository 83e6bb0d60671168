"""Run references and known mistakes on cases, in float64, and write down what they give: a bundle.

Trusted code on trusted code: everything runs in this process, with the worker's own program runner, so
that reference and student are observed in the same way. Needs solutions/ and torch.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from grader.bank import apply
from grader.bundle import Bundle, Exercise, Header, KnownMistake, RecordedCase, Signatures
from grader.case import Case
from grader.content import DEFAULT_LIMITS, DEFAULT_WEIGHTS, Assignment, ContentError
from grader.engine import with_requirements
from grader.given import source as given_source
from grader.judge.finding import FLOATS
from grader.kept import arranged
from grader.observation import Observation, Seen, student_error
from grader.signature import signature, slots
from grader.stub import stub
from grader.tensors import Array
from grader.worker.load import load
from grader.worker.program import Program


def record(assignment: Assignment, seed: str, *, diagnosis: bool = True) -> Bundle:
    """The bundle of one assignment for a seed. Raises ContentError when a reference does not run."""
    manifest = assignment.manifest
    return Bundle(
        assignment=assignment.name,
        module=assignment.module,
        title=manifest["title"],
        summary=manifest["summary"],
        minutes=manifest["minutes"],
        difficulty=manifest["difficulty"],
        seed="public" if seed == "public" else "hidden",
        stub=stub(assignment.source),
        exercises=tuple(_exercise(assignment, fields, seed, diagnosis) for fields in assignment.exercises),
    )


def _exercise(assignment: Assignment, fields: Mapping[str, Any], seed: str, diagnosis: bool) -> Exercise:
    name = fields["name"]
    given = assignment.given(dict(fields))
    cases = assignment.cases(name, seed)
    reference = observe(assignment.source, given, cases)
    recorded = tuple(_recorded(case, reference[case.id]) for case in cases)
    mistakes = assignment.mistakes(name) if diagnosis else []
    bare = Exercise(
        name=name,
        assignment=assignment.name,
        title=fields["title"],
        points=float(fields["points"]),
        weights={**DEFAULT_WEIGHTS, **fields.get("facets", {})},
        limits={**DEFAULT_LIMITS, **fields.get("limits", {})},
        hints=tuple(fields["hints"]),
        needs=tuple(fields.get("needs", ())),
        given=given,
        forbids=tuple(fields.get("forbids", ())),
        level=int(fields.get("level", 1)),
        cases=recorded,
    )
    if not mistakes:
        return bare
    rows = [signature(recorded, observe(apply(m, assignment.source), given, cases)) for m in mistakes]
    known = tuple(KnownMistake(m.id, m.kind, m.says, m.asks, m.page, row) for row, m in enumerate(mistakes))
    table = Signatures(slots(recorded), tuple(states for states, _ in rows), np.array([n for _, n in rows], dtype=np.float32))
    return Exercise(**{**vars(bare), "mistakes": known, "signatures": table})


def observe(source: str, given: Sequence[str], cases: Sequence[Case | RecordedCase], dtype: str | None = None) -> dict[str, Observation]:
    """Run cases on a module's source in this process. Floating tensors are float64, unless told otherwise."""
    sources = {name: given_source(name) for name in with_requirements(given)}
    out = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        loaded = load([{"name": "reference.py", "source": source}], sources)
        for case in cases:
            tensors = {name: torch.from_numpy(np.array(array)) for name, array in case.tensors.items()}
            wanted = dtype or ("float64" if case.dtype in FLOATS else case.dtype)
            program = Program(loaded.names, {"steps": list(case.steps), "dtype": wanted}, tensors)
            program.run(loaded.files)
            out[case.id] = arranged(_observation(program, {wanted: case.dtype}), case.steps)
    return out


def _observation(program: Program, dtypes: Mapping[str, str]) -> Observation:
    """What a program saw. `dtypes`: the dtype it ran in → the one that the case asks for."""
    seen = {}
    for name, tensor in program.observed.items():
        dtype = str(tensor.dtype).removeprefix("torch.")
        seen[name] = Seen(tuple(tensor.shape), dtypes.get(dtype, dtype), _numbers(tensor))
    for name, what in program.told["odd"].items():
        seen.setdefault(name, Seen(shape=tuple(what["shape"]) if "shape" in what else None, odd=what["is"]))
    return Observation(
        seen=seen,
        error=student_error(program.told.get("error")),
        parameters=program.told.get("parameters"),
        values=program.told.get("values", {}),
        stacked=frozenset(program.told.get("stacked", ())),
    )


def _numbers(tensor: torch.Tensor) -> Array:
    return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()


def _recorded(case: Case, reference: Observation) -> RecordedCase:
    """A case with what the reference gave. Numbers are kept only where a check compares with them."""
    refuses = any(check.judge == "raises" for check in case.checks)
    if reference.error is not None and not refuses:
        where = f" (line {reference.error.where[1]}: {reference.error.where[2]})" if reference.error.where else ""
        raise ContentError(f"{case.exercise}, case {case.id}: the reference raised {reference.error.type}: {reference.error.message}{where}")
    headers = {name: Header((), "value") for name in reference.values}
    for name, seen in reference.seen.items():
        if seen.shape is None:
            raise ContentError(f"{case.exercise}, case {case.id}: the reference gives {seen.odd} for {name}")
        headers[name] = Header(seen.shape, case.dtype if seen.dtype in FLOATS else seen.dtype, case.axes.get(name, ()))
    compared = {n for c in case.checks if c.judge in ("equal", "kept_weights") for n in c.of}
    expected = {n: reference.seen[n].array for n in compared}
    return RecordedCase(
        id=case.id,
        exercise=case.exercise,
        dtype=case.dtype,
        steps=tuple(case.steps),
        checks=tuple(case.checks),
        tensors=case.tensors,
        headers=headers,
        expected={n: a for n, a in expected.items() if a is not None},
    )

