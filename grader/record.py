"""Run references and known mistakes on cases, in float64, and write down what they give: a bundle.

Trusted code on trusted code: everything runs in this process, with the worker's own program runner, so
that reference and student are observed in the same way. Needs solutions/ and torch.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch

from grader.bank import KnownAnswer, apply
from grader.bundle import Bundle, Exercise, Header, KnownMistake, RecordedCase, Signatures
from grader.case import Case
from grader.content import DEFAULT_LIMITS, DEFAULT_WEIGHTS, Assignment, ContentError
from grader.given import source as given_source
from grader.judge.finding import FLOATS
from grader.kept import arranged
from grader.observation import Observation, Seen, student_error
from grader.pool import pool
from grader.shown import with_requirements
from grader.signature import ANY, named_by, only_precision, signature, slots
from grader.stub import stub
from grader.tensors import Array
from grader.worker.load import load
from grader.worker.program import Program
from grader.worker.standins import install

LOOKS = 4  # at a mistake that draws: what it gives every time is what it is known by
VARIES = 1e-6  # above the rounding of float64


def record_all(assignments: Sequence[Assignment], seed: str, *, diagnosis: bool = True) -> list[Bundle]:
    """The bundles of several assignments, as many at a time as there are processors."""
    with pool(min(os.cpu_count() or 1, len(assignments))) as processes:
        recorded = partial(record, diagnosis=diagnosis)
        return list(processes.map(recorded, assignments, [seed] * len(assignments)))


def record(assignment: Assignment, seed: str, *, diagnosis: bool = True) -> Bundle:
    """The bundle of one assignment for a seed. Raises ContentError when a reference does not run."""
    torch.set_num_threads(1)  # the tensors are tiny
    assignment.check_pairs()
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
    run = [case for case in cases if case.exam is None]
    reference = observe(assignment.source, given, run)
    others = {a.id: observe(apply(a, assignment.source), given, run) for a in assignment.alternatives(name)}
    recorded = tuple(
        _unrun(case)
        if case.exam is not None
        else _recorded(case, reference[case.id], {id: seen[case.id] for id, seen in others.items()})
        for case in cases
    )
    # At level 0 nothing may name a mistake, so nothing that names one goes into the bundle.
    mistakes = assignment.mistakes(name) if diagnosis and _level(assignment, fields) else []
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
        forbids_costs=float(fields.get("forbids_costs", 0)),
        level=_level(assignment, fields),
        cases=recorded,
    )
    if not mistakes:
        return bare
    known = tuple(KnownMistake(m.id, m.kind, m.says, m.asks, m.page) for m in mistakes)
    table = signatures(assignment, mistakes, named_by(recorded), given, paired=fields.get("pairs", ()))
    return replace(bare, mistakes=known, signatures=table)


def _level(assignment: Assignment, fields: Mapping[str, Any]) -> int:
    """How much a diagnosis may say at most: 0 facts, 1 what the answer equals, 2 a question, 3 a page."""
    return int(fields.get("level", assignment.manifest.get("level", 3)))


def signatures(
    assignment: Assignment,
    mistakes: Sequence[KnownAnswer],
    cases: Sequence[RecordedCase],
    given: Sequence[str],
    *,
    paired: Sequence[str],
) -> Signatures:
    """What the reference (the first row), each mistake, and each pair of independent ones among `paired` give."""
    reference = definitions(assignment.source)
    others = assignment.alternatives(mistakes[0].of)
    rows: list[tuple[tuple[str, ...], str]] = [((), reference)]
    for one in mistakes:
        rows += [((one.id,), source) for source in _forms([one], reference, others)]
    for one, other in combinations([m for m in mistakes if m.steady and m.id in paired], 2):
        if _independent(one, other, reference):
            rows += [((one.id, other.id), source) for source in _forms([one, other], reference, others)]
    unseen = {(m.id,) for m in mistakes if m.kind == "policy" and m.breaks == ("precision",)}
    drawing = {(m.id,) for m in mistakes if not m.steady}
    known: list[_Row] = []
    for ids, source in rows:
        looks = [
            _row(ids, source, cases, given, known[0] if known else None, ids in unseen, look)
            for look in range(LOOKS if ids in drawing else 1)
        ]
        known.append(_in_common(looks))
    kept = list(_told_apart(known))
    return Signatures(
        slots=slots(cases),
        explains=tuple(row.explains for row in kept),
        states=np.array([row.states + row.elsewhere for row in kept], dtype=object),
        numbers=np.array(
            [np.pad(row.numbers, ((0, len(row.elsewhere)), (0, 0))) for row in kept], dtype=np.float64
        ),
    )


class _Row(NamedTuple):
    """What one way to be wrong gives; `elsewhere`: its states in the cases about precision, which come last."""

    explains: tuple[str, ...]
    states: tuple[str, ...]
    numbers: Array
    elsewhere: tuple[str, ...] = ()


def _row(
    ids: tuple[str, ...],
    source: str,
    cases: Sequence[RecordedCase],
    given: Sequence[str],
    reference: _Row | None,
    unseen: bool,
    look: int,
) -> _Row:
    """`unseen`: float32 tells nothing of it. (It would stop in the float64 that everything is recorded in.)

    What float32 does tell keeps its name whatever it does in other dtypes: there it is left open.
    """
    here = [case for case in cases if not only_precision(case)]
    there = [case for case in cases if only_precision(case)]
    if reference is not None and unseen:
        row = reference._replace(explains=ids)
    else:
        row = _Row(ids, *signature(here, observe(source, given, here, look=look)))
    if reference is not None and not _alike(row, reference):
        return row._replace(elsewhere=(ANY,) * sum(len(case.checks) for case in there))
    seen = {case.id: observe(source, given, [case], case.dtype, look)[case.id] for case in there}
    return row._replace(elsewhere=signature(there, seen)[0])


def _in_common(looks: Sequence[_Row]) -> _Row:
    """What several looks at an answer that draws agree in; what varies is left open: any state, no number."""
    first = looks[0]
    numbers = np.array([row.numbers for row in looks])  # (looks, slots, projections)
    varies = (np.abs(numbers - numbers[0]) > VARIES * (1 + np.abs(numbers[0]))).any(axis=(0, 2))
    return first._replace(
        states=_states_in_common([row.states for row in looks]),
        elsewhere=_states_in_common([row.elsewhere for row in looks]),
        numbers=np.where(varies[:, None], np.nan, first.numbers),
    )


def _states_in_common(looks: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(slot[0] if len(set(slot)) == 1 else ANY for slot in zip(*looks, strict=True))


def _alike(one: _Row, other: _Row) -> bool:
    return one.states == other.states and bool(np.abs(one.numbers - other.numbers).max(initial=0.0) < 1e-6)


def _independent(one: KnownAnswer, other: KnownAnswer, source: str) -> bool:
    """Whether two mistakes change different places: then their order does not matter."""
    if one.code or other.code or "mistake" not in (one.kind, other.kind):
        return False
    try:
        return apply([one, other], source) == apply([other, one], source)
    except ValueError:
        return False


def _told_apart(rows: Sequence[_Row]) -> Iterator[_Row]:
    """All single mistakes, and the pairs that give something else than the reference and than each single."""
    singles = [row for row in rows if len(row.explains) < 2]
    for row in rows:
        if len(row.explains) < 2 or not any(_alike(row, single) for single in singles):
            yield row


def _forms(mistakes: Sequence[KnownAnswer], source: str, others: Sequence[KnownAnswer]) -> list[str]:
    """The mistakes in the reference, and in each answer on an equal footing that holds the same pieces."""
    forms = [apply(mistakes, source)]
    for other in others if all(m.swap for m in mistakes) else ():
        with contextlib.suppress(ValueError):  # a piece that is not there: the mistake is about it
            forms.append(apply([other, *mistakes], source))
    return forms


def definitions(source: str) -> str:
    """A module's imports and definitions without its lesson and its demos, which take time and show nothing."""
    kept = [
        n
        for n in ast.parse(source).body
        if isinstance(n, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign))
    ]
    return "\n\n".join(ast.get_source_segment(source, node) or "" for node in kept) + "\n"


def blocks(*names: str) -> list[Any]:
    """Building blocks themselves, for a generator of cases that must know what a model gives."""
    install({name: given_source(name) for name in with_requirements(names)})
    return [getattr(sys.modules["grader.given"], name) for name in names]


def observe(
    source: str,
    given: Sequence[str],
    cases: Sequence[Case | RecordedCase],
    dtype: str | None = None,
    look: int = 0,
) -> dict[str, Observation]:
    """Run cases on a module's source in this process. Floating tensors are float64, unless told otherwise.

    look: where chance begins in each case that does not say so itself.
    """
    sources = {name: given_source(name) for name in with_requirements(given)}
    out = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        loaded = load([{"name": "reference.py", "source": source}], sources)
        for case in cases:
            tensors = {name: torch.from_numpy(np.array(array)) for name, array in case.tensors.items()}
            wanted = dtype or ("float64" if case.dtype in FLOATS else case.dtype)
            torch.manual_seed(look)
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


def _unrun(case: Case) -> RecordedCase:
    """A case that is measured by an exam: training the reference would tell nothing that a judge compares with."""
    return RecordedCase(
        id=case.id,
        exercise=case.exercise,
        dtype=case.dtype,
        steps=tuple(case.steps),
        checks=tuple(case.checks),
        tensors=case.tensors,
        headers={n: Header(s, case.dtype, case.axes.get(n, ())) for n, s in case.shapes.items()},
        expected={},
        exam=None if case.exam is None else _unrun(case.exam),
        costly=case.costly,
    )


def _recorded(case: Case, reference: Observation, others: Mapping[str, Observation]) -> RecordedCase:
    """A case with what the reference gave. Numbers are kept only where a check compares with them.

    `others`: what answers on an equal footing gave, by their ids.
    """
    refuses = any(check.judge == "raises" for check in case.checks)
    if reference.error is not None and not refuses:
        where = (
            f" (line {reference.error.where[1]}: {reference.error.where[2]})" if reference.error.where else ""
        )
        raise ContentError(
            f"{case.exercise}, case {case.id}: the reference raised {reference.error.type}: {reference.error.message}{where}"
        )
    headers = {name: Header((), "value") for name in reference.values}
    for name, seen in reference.seen.items():
        if seen.shape is None:
            raise ContentError(f"{case.exercise}, case {case.id}: the reference gives {seen.odd} for {name}")
        headers[name] = Header(
            seen.shape, case.dtype if seen.dtype in FLOATS else seen.dtype, case.axes.get(name, ())
        )
    compared = {
        n for c in case.checks if c.judge in ("equal", "precise", "kept_weights", "sentences") for n in c.of
    }
    compared |= {n for n in reference.seen if n.startswith("stage ")}
    expected = {n: reference.seen[n].array for n in compared}
    for n in {n for c in case.checks if c.judge == "one_of" for n in c.of}:
        expected[n] = reference.seen[n].array
        expected |= {f"{n}|{id}": seen.seen[n].array for id, seen in others.items()}
    return RecordedCase(
        id=case.id,
        exercise=case.exercise,
        dtype=case.dtype,
        steps=tuple(case.steps),
        checks=tuple(case.checks),
        tensors=case.tensors,
        headers=headers,
        # Another dtype's tolerance is far above what single precision holds of the reference.
        expected={
            n: a.astype(np.float32) if case.like and a.dtype.kind == "f" else a
            for n, a in expected.items()
            if a is not None
        },
        like=case.like,
    )
