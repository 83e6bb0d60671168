"""The signature of an answer: a state and two values per slot. A slot is one observation, or one check, of one case.

Two answers that compute the same have the same signature, whatever their code is. A tensor is reduced to two fixed
random projections. So a signature is small, and a tensor with more than two values cannot be read back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.observation import Observation, StudentError
from grader.judge.properties import may_be_anything
from grader.judge.verdict import JudgedCase
from grader.report.finding import Finding

PROJECTIONS = 2
# A tensor with more values is not projected: the directions take twice its memory, and wrong answers may be huge.
MAX_PROJECTED = 1 << 17
# For checks of these judges, the state is that of the finding; see `state`.
_BY_FINDING = ("parameters", "raises", "value", "unchanged", "shape", "same", "cost", "trained", "moved")
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
    out = []
    for case in _in_order(cases):
        out += [f"{case.id}|{name}" for name in sorted(_numeric(case))]
        out += [f"{case.id}|check:{c.id}" for c in case.checks if _by_finding(c, case)]
    return tuple(out)


def _in_order(cases: Sequence[RecordedCase]) -> list[RecordedCase]:
    """Put cases about precision last: `authoring/signatures.py` records them after the others."""
    return sorted(cases, key=only_precision)


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


def _by_finding(check: Check, case: RecordedCase) -> bool:
    return check.judge in _BY_FINDING or case.is_random or only_precision(case)


def signature(
    cases: Sequence[RecordedCase], judged: Mapping[str, JudgedCase]
) -> tuple[tuple[str, ...], Array]:
    """Return the states (one text per slot) and the values (slots, PROJECTIONS) of one answer."""
    states: list[str] = []
    rows: list[Array] = []
    for case in _in_order(cases):
        verdict = judged.get(case.id)
        observation = verdict.observation if verdict is not None else None
        for name in sorted(_numeric(case)):
            state, row = _of_tensor(name, observation)
            states.append(ANY if _left_open(name, case, observation) else state)
            rows.append(row)
        for check in case.checks:
            if _by_finding(check, case):
                is_open = bool(check.of) and _left_open(check.of[0], case, observation)
                states.append(ANY if is_open else _code(check, verdict))
                rows.append(np.zeros(PROJECTIONS))
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
    return _raised(error) if error is not None else "gone"


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
        return _raised(observation.error) if observation.error else "absent", nothing
    if seen.array is None:
        return f"odd {seen.odd} {seen.shape}", nothing
    array = seen.array.astype(np.float64)
    finite = np.isfinite(array)
    word = NUMBERS
    if not finite.all():
        word = "holes " + hashlib.sha256(np.packbits(finite).tobytes()).hexdigest()[:12]
    return f"{word}{'x'.join(map(str, seen.shape or ()))}", project(np.where(finite, array, 0.0))


# The messages of the mistake bank name float64, those of a student float32.
_DTYPES = re.compile(r"torch\.\w*Tensor|\b(Float|Double|float|double)\b")
# Names that the code chose, in messages of Python.
_NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|\b\w+(\.<?\w+>?)*\(\)")
# The requested shape depends on how an answer is written; the number of values does not.
_FORM = re.compile(r"shape '\[[^]]*\]' is invalid for input of size (\d+)")
# Messages of torch about two sizes that do not match. The operation that raises depends on how a product is written.
_SIZES = (
    re.compile(r"to be: \[(\d+), \d+\] but got: \[(?!\1,)(\d+), \d+\]"),
    re.compile(r"to be: \[(\d+), (\d+)\] but got: \[\1, (\d+)\]"),
    re.compile(r"has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)"),
    re.compile(r"shape of the mask \[(\d++)[^\]]*\] at index 0 does not match .*tensor \[(\d+)"),
    re.compile(r"size[^(]*\((\d+)\) must match the (?:existing )?size[^(]*\((\d+)\)"),
)


def _raised(error: StudentError) -> str:
    """Return an exception as a state: its type, the step that raised it, and its message."""
    words = _words(error)
    return f"!{error.type} {error.step} {hashlib.sha256(words.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def _words(error: StudentError) -> str:
    """Return the message of an exception without sizes, and without names or dtypes (see `_said`).

    Two sizes that do not match stay, and the number of values of a tensor that cannot be reshaped.
    """
    words = _said(error)
    if sizes := sizes_in(error):
        return "sizes " + " ".join(sorted(sizes))
    if form := _FORM.search(words):
        return f"reshape {form[1]}"
    return re.sub(r"\d+", "#", words)


def sizes_in(error: StudentError) -> tuple[str, ...]:
    """Return the two sizes that do not match, in the order of the message; () if the exception is about none."""
    for sizes in _SIZES:
        if found := sizes.search(_said(error)):
            return found.groups()[-2:]  # one pattern has a group before them
    return ()


def _said(error: StudentError) -> str:
    """Return the first line of the message: of a RuntimeError without dtypes, of others without names."""
    # Older versions of torch write at:: in the name of a dtype.
    first = error.message.split("\n")[0].replace(" at::", " c10::")
    return _DTYPES.sub("", first) if error.type == "RuntimeError" else _NAMES.sub("", first)


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
