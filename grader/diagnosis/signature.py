"""The signature of an answer: a state and two values per slot. A slot is one observation, or one check, of one case.
And how far it is from the signatures of known mistakes and right answers, slot by slot.

Two answers that compute the same have the same signature, whatever their code is. A tensor is reduced to two fixed
random projections. So a signature is small, and a tensor with more than two values cannot be read back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from grader.bundle.model import Check, RecordedCase, Signatures
from grader.bundle.safetensors import Array
from grader.diagnosis.raised import raised
from grader.judge.observation import Observation
from grader.judge.properties import may_be_anything
from grader.judge.verdict import JudgedCase
from grader.report.finding import Finding

PROJECTIONS = 2
# A tensor with more values is not projected: the directions take twice its memory, and wrong answers may be huge.
MAX_PROJECTED = 1 << 17
# For checks of these judges, the state is that of the finding; see `state`.
_BY_FINDING = frozenset(
    [
        "parameters",
        "raises",
        "value",
        "unchanged",
        "shape",
        "same",
        "cost",
        "at_most",
        "attempted",
        "trained",
        "moved",
    ]
)
NUMBERS = "#"  # begins the state of a tensor without infinity and NaN
ANY = "*"  # agrees with every other state
# Begins the name of an observation that only tells apart mistakes which agree in everything else; see `Case.see_none`.
TELLS_APART = "none "


def named_by(cases: Sequence[RecordedCase]) -> tuple[RecordedCase, ...]:
    """Return the cases by which a mistake is named. Cases with an exam (trainings) are left out: their result depends
    on more than the mistake.
    """
    return tuple(case for case in cases if case.exam is None)


def tells_apart(slot: str) -> bool:
    """Whether a slot only tells apart mistakes that agree in everything else."""
    return slot.partition("|")[2].startswith(TELLS_APART)


def slots(cases: Sequence[RecordedCase]) -> tuple[str, ...]:
    """Return the names of the slots of a signature, in order.

    For each case: `case|observation`, then `case|check:id` for checks whose state is that of a finding.
    """
    return tuple(slot for slot, _case, _of in _slots(cases))


def _slots(cases: Sequence[RecordedCase]) -> Iterator[tuple[str, RecordedCase, str | Check]]:
    """Yield the name of each slot, its case, and its observation or check.

    Cases about precision come last: `authoring/signatures.py` records them after the others.
    """
    for case in sorted(cases, key=only_precision):
        for name in sorted(_numeric(case)):
            yield f"{case.id}|{name}", case, name
        for check in case.checks:
            if check.judge in _BY_FINDING or case.is_random or only_precision(case):
                yield f"{case.id}|check:{check.id}", case, check


def _numeric(case: RecordedCase) -> set[str]:
    """Return the names of the observations that have a slot: tensors that depend on the inputs only.

    Arguments after a call (`after …`), intermediate results (`stage …`) and trained weights (`state …`) have none.
    """
    if case.is_random or case.dtype not in ("float32", "float64") or only_precision(case):
        return set()
    tensors = {name for name, header in case.headers.items() if header.dtype != "value"} - {"parameters"}
    return {name for name in tensors if not name.startswith(("after ", "stage ", "state "))}


def only_precision(case: RecordedCase) -> bool:
    """Whether all checks of a case are about precision or the device, which says nothing about most mistakes."""
    return bool(case.checks) and all(check.facet in ("device", "precision") for check in case.checks)


def signature(
    cases: Sequence[RecordedCase], judged: Mapping[str, JudgedCase]
) -> tuple[tuple[str, ...], Array]:
    """Return the states (one text per slot) and the values (slots, PROJECTIONS) of one answer."""
    states: list[str] = []
    rows: list[Array] = []
    for _slot, case, of in _slots(cases):
        verdict = judged.get(case.id)
        observation = verdict.observation if verdict is not None else None
        if isinstance(of, Check):
            name = of.of[0] if of.of else ""
            state, row = _code(of, verdict), np.zeros(PROJECTIONS)
        else:
            name = of
            state, row = _of_tensor(name, observation)
        states.append(ANY if name and _left_open(name, case, observation) else state)
        rows.append(row)
    numbers = np.array(rows, dtype=np.float64).reshape(len(states), PROJECTIONS)
    return tuple(states), numbers


def fingerprint(cases: Sequence[RecordedCase], judged: Mapping[str, JudgedCase]) -> str:
    """Return a hash of the results of an answer. Values are rounded, so that two submissions with the same mistake
    have the same hash. Cases about precision do not count.
    """
    cases = [case for case in cases if not only_precision(case)]
    states, numbers = signature(cases, judged)
    coarse = [float(f"{x:.3g}") if abs(x) >= 1 else round(x, 2) for x in numbers.ravel().tolist()]
    observed = [judged[case.id].observation for case in cases if case.id in judged]
    errors = [f"{one.error.type}: {one.error.message}" for one in observed if one and one.error]
    text = repr((states, [x + 0.0 for x in coarse], errors))  # + 0.0 turns -0.0 into 0.0
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _left_open(name: str, case: RecordedCase, observation: Observation | None) -> bool:
    """Whether an observation does not count: stored weights that are not judged, or an observation that only tells
    mistakes apart and could not be read.
    """
    seen = None if observation is None else observation.seen.get(name)
    if name.startswith(TELLS_APART):
        return seen is None
    stored = (c for c in case.checks if c.judge == "kept_weights" and name in c.of)
    return any(may_be_anything(check, seen, case.headers[name]) for check in stored)


def _code(check: Check, judged: JudgedCase | None) -> str:
    if judged is None or judged.observation is None:
        return "gone"
    finding = next(
        (one.finding for one in (*judged.checks, *judged.off) if one.id == check.id and one.judged), None
    )
    if finding is not None:
        return state(finding)
    error = judged.observation.error
    return raised(error) if error is not None else "gone"


# Kinds of findings whose state has more than the kind; the values are those of the finding.
_STATES = {
    "shape": "shape {got}",
    "dtype": "dtype {got}",
    "changed": "changed {name}",
    "parameters": "parameters {missing} {misshapen} {unexpected} {shared}",
    "value": "value {got}",
    "raised": "raised {got}",
    "features": "features: {what}",
    "elsewhere": "elsewhere {regions}",
    "count": "count {got}",
    "cost": "cost {after}",
    "seeds": "seeds {order} {seeds}",
    "sizes": "sizes {sizes}",
    "accuracies": "accuracies {pattern}",
    "no-order": "none {order}",
    "order": "{order} {pattern}",
}


def state(finding: Finding) -> str:
    """Return a finding as a state. Two findings with the same state count as the same."""
    return _STATES.get(finding.kind, finding.kind.replace("-", " ")).format(**finding.data).rstrip()


def _of_tensor(name: str, observation: Observation | None) -> tuple[str, Array]:
    nothing = np.zeros(PROJECTIONS)
    if observation is None:
        return "gone", nothing
    seen = observation.seen.get(name)
    if seen is None:
        return raised(observation.error) if observation.error else "absent", nothing
    if seen.array is None:
        return f"odd {seen.odd} {seen.shape}", nothing
    array = seen.array.astype(np.float64)
    finite = np.isfinite(array)
    word = NUMBERS
    if not finite.all():
        word = "holes " + hashlib.sha256(np.packbits(finite).tobytes()).hexdigest()[:12]
    return f"{word}{'x'.join(map(str, seen.shape or ()))}", project(np.where(finite, array, 0.0))


def project(array: Array) -> Array:
    """Return fixed random projections of an array, each of unit variance for unit-variance input.

    They are 0 if the array is empty or has more than MAX_PROJECTED values.
    """
    if array.size == 0 or array.size > MAX_PROJECTED:
        return np.zeros(PROJECTIONS)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the end of the range may overflow
        return _directions(array.shape) @ array.ravel()


@lru_cache(maxsize=64)
def _directions(shape: tuple[int, ...]) -> Array:
    seed = int.from_bytes(hashlib.sha256(repr(shape).encode()).digest()[:8], "little")
    rng = np.random.Generator(np.random.PCG64(seed))
    return rng.standard_normal((PROJECTIONS, prod(shape))) / max(1, prod(shape)) ** 0.5


# ---- distances

# In float32 an answer is within about 1e-6 of its own mistake's row, and about 1e-2 from the nearest other row.
NEAR, FAR = 1e-4, 1e-2


def distances(
    table: Signatures, states: Sequence[str], numbers: Array, rows: list[int] | slice = slice(None)
) -> Array:
    """Return how far an answer is from each row of the table, per slot: (rows, slots).

    It is 0 if a state is ANY (any result fits, such as a random one), and infinite if the states differ otherwise.
    For equal states it is the largest difference of the numbers, divided by 1 + the row's largest absolute number; 0
    if one of the row's numbers is NaN.
    rows: indices of the rows to compare with.
    """
    mine = np.array(states, dtype=object)
    row_states, row_numbers = table.states[rows], table.numbers[rows]
    anything = (row_states == ANY) | (mine == ANY)
    is_open = anything | np.isnan(row_numbers).any(axis=2)
    difference = np.abs(row_numbers - numbers).max(axis=2, initial=0.0)
    difference = difference / (1 + np.abs(row_numbers).max(axis=2, initial=0.0))
    difference = np.where(is_open, 0.0, np.nan_to_num(difference, nan=np.inf))
    return np.where((row_states == mine) | anything, difference, np.inf)


@dataclass(frozen=True)
class Compared:
    """An answer compared with the table of known mistakes and right answers.

    states, numbers: the signature of the answer, (slots,) and (slots, projections). The computed arrays are
    (rows, slots); only `wrong` is (slots,).
    """

    table: Signatures
    states: Sequence[str]
    numbers: Array

    @cached_property
    def apart(self) -> Array:
        """Return the distances of the answer from each row."""
        return distances(self.table, self.states, self.numbers)

    @cached_property
    def wrong(self) -> Array:
        """Return per slot whether the answer differs from every right answer."""
        return np.asarray((self.apart[self._right] >= NEAR).all(axis=0))

    @cached_property
    def changed(self) -> Array:
        """Whether a mistake gives what no right answer gives."""
        table = self.table
        apart = [distances(table, table.states[row], table.numbers[row]) for row in self._right]
        return np.asarray((np.array(apart) >= NEAR).all(axis=0))

    @cached_property
    def shown(self) -> Array:
        """Whether the answer has a result that the mistake gives and that no right answer gives."""
        is_open = (self.table.states == ANY) | np.isnan(self.table.numbers).any(axis=2)
        return np.asarray(self.changed & (self.apart < NEAR) & ~is_open & self.wrong)

    @property
    def _right(self) -> list[int]:
        return [row for row, ids in enumerate(self.table.explains) if not ids]  # no mistake explains the row
