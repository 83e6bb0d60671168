"""Read and write a bundle: `bundle.json` (text) and `bundle.safetensors` (tensors)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from grader.bundle.model import SCHEMA, Arrays, Bundle, Exercise, RecordedCase
from grader.bundle.safetensors import Array, Later, encode, stored_folders
from grader.support.errors import BadData
from grader.support.files import read_regular, write_atomically
from grader.worker.steps import (
    After,
    Constant,
    Given,
    Gradients,
    Input,
    Load,
    See,
    SeeNone,
    SeeValue,
    Stages,
    Step,
    Weights,
    refs_in,
    tensors_of,
)

MANIFEST_FILE, TENSORS_FILE = "bundle.json", "bundle.safetensors"


class _Format(msgspec.Struct):
    schema: int = 0


def digest(exercise: Exercise) -> str:
    """Return a hash of everything that a bundle stores about the exercise, also of its texts."""
    return _digest(*_apart(exercise))


def digest_of_cases(exercise: Exercise) -> str:
    """Return a hash of the steps and inputs of the cases, and of what their checks compare.

    If it changes, equal wrong answers may get another fingerprint. Titles, points and policies do not count.
    """
    arrays = {f"{case.id}/{name}": array for case in exercise.cases for name, array in case.tensors.items()}
    rows = [(c.id, c.dtype, c.steps, [(k.id, k.judge, k.of) for k in c.checks]) for c in exercise.cases]
    return _digest(rows, arrays)


def _digest(fields: Any, arrays: dict[str, Array]) -> str:
    return hashlib.sha256(msgspec.json.encode(fields) + encode(arrays)).hexdigest()


def dump(bundle: Bundle) -> tuple[bytes, bytes]:
    """Return the contents of `bundle.json` and of `bundle.safetensors`."""
    texts, arrays = zip(*map(_apart, bundle.exercises), strict=True) if bundle.exercises else ((), ())
    text = msgspec.json.encode(replace(bundle, exercises=texts)) + b"\n"
    return text, encode({name: array for found in arrays for name, array in found.items()})


def save(bundle: Bundle, folder: Path) -> None:
    """Write both files, each whole or not at all."""
    text, data = dump(bundle)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / TENSORS_FILE, data)
    write_atomically(folder / MANIFEST_FILE, text)


def loads(text: bytes, data: bytes, where: str = "this") -> Bundle:
    """Return the bundle in the contents of its two files. Its tensors are decoded when they are asked for.

    where: the name of `bundle.json` in messages. Raises BadData if another version of the grader wrote it, for a wrong
    field, and for tensors in another format.
    """
    try:
        found = msgspec.json.decode(text, type=_Format).schema
        if found != SCHEMA:
            raise BadData(
                f"{where} has the format {found}, and this version of the grader reads the format {SCHEMA}"
            )
        bundle = msgspec.json.decode(text, type=Bundle)
    except msgspec.MsgspecError as error:
        raise BadData(f"{where}: {error}") from None
    stored = stored_folders(data)

    def complete(exercise: Exercise) -> Exercise:
        filled = _with_arrays(exercise, lambda folder, _: stored.get(folder, {}))
        cases = _with_repeated(filled.cases)
        return replace(filled, assignment=bundle.assignment, second=bundle.second, cases=cases)

    return replace(bundle, exercises=tuple(map(complete, bundle.exercises)))


def load(folder: Path) -> Bundle:
    """Read a bundle. Raises BadData as `loads` does, and OSError."""
    text = read_regular(folder / MANIFEST_FILE)
    return loads(text, read_regular(folder / TENSORS_FILE), str(folder / MANIFEST_FILE))


def load_all(root: Path) -> list[Bundle]:
    """Return the bundles of every assignment folder below `root`, in order of their names."""
    return [load(path.parent) for path in sorted(root.glob(f"*/{MANIFEST_FILE}"))]


# ---- what is in which file


def _with_arrays(exercise: Exercise, put: Callable[[str, Arrays], Arrays]) -> Exercise:
    """Return an exercise with other arrays: what `put` returns for a folder of names in the file, and its arrays now.

    A case that repeats another in another dtype has its steps and inputs from that case; see `_with_repeated`.
    """

    def case(one: RecordedCase) -> RecordedCase:
        stem = f"{exercise.name}/{one.id}"
        return replace(
            one,
            steps=() if one.like else one.steps,
            tensors={} if one.like else put(f"{stem}/in", one.tensors),
            expected=put(f"{stem}/want", one.expected),
            for_judge=put(f"{stem}/judge", one.for_judge),
            exam=one.exam and case(one.exam),
        )

    known = exercise.signatures
    signatures = known and replace(known, arrays=put(f"{exercise.name}/signatures", known.arrays))
    return replace(exercise, cases=tuple(map(case, exercise.cases)), signatures=signatures)


def _apart(exercise: Exercise) -> tuple[Exercise, dict[str, Array]]:
    """Return an exercise as `bundle.json` has it, and its arrays by their names in the other file."""
    arrays: dict[str, Array] = {}

    def take(folder: str, found: Arrays) -> Arrays:
        arrays.update({f"{folder}/{name}": array for name, array in found.items()})
        return {}

    return replace(_with_arrays(exercise, take), assignment="", second=False), arrays


def _with_repeated(cases: Sequence[RecordedCase]) -> tuple[RecordedCase, ...]:
    """Return the cases; those that repeat an earlier one get its steps and inputs."""
    found: dict[str, RecordedCase] = {}
    for case in cases:
        if base := found.get(case.like):
            steps = tuple(in_short(base.steps, case.checks[0].of[0]))  # it has one check of one observation
            tensors = Later(partial(in_dtype, base.tensors, steps, case.dtype))
            case = replace(case, steps=steps, tensors=tensors)
        found[case.id] = case
    return tuple(found.values())


# ---- steps in another dtype

# Steps that a result does not depend on.
_ASIDE = (Gradients, After, Weights, Stages, See, SeeValue, SeeNone)


def unused_inputs(steps: Sequence[Step]) -> list[str]:
    """Return the names of inputs that no step uses.

    A step `After` only observes an input again. It names the input without a reference, so it does not count.
    """
    used = {name for step in steps for name in refs_in(step)}
    return [step.name for step in steps if isinstance(step, Given) and step.name not in used]


def unused_tensors(steps: Sequence[Step], tensors: Mapping[str, Any]) -> list[str]:
    """Return the names of stored tensors that no step takes: inputs, batches, weights and upstream gradients."""
    return sorted(tensors.keys() - {name for step in steps for name in tensors_of(step)})


def in_short(steps: Sequence[Step], see: str) -> list[Step]:
    """Return the steps that lead to the observation `see`, and the step that makes it. No input requires a gradient."""
    last = next(i for i, step in enumerate(steps) if isinstance(step, See) and step.name == see)
    kept = [step for step in steps[:last] if not isinstance(step, _ASIDE)] + [steps[last]]
    unused = unused_inputs(kept)
    kept = [step for step in kept if not (isinstance(step, Given) and step.name in unused)]
    differentiable = (Input, Constant)
    return [msgspec.structs.replace(s, grad=False) if isinstance(s, differentiable) else s for s in kept]


def in_dtype(tensors: Mapping[str, Array], steps: Sequence[Step], dtype: str) -> dict[str, Array]:
    """Return the tensors of the steps `Input` and `Load`; the floating ones are rounded to the dtype."""
    names = {name for step in steps if isinstance(step, (Input, Load)) for name in tensors_of(step)}
    return {
        name: round_to(array, dtype) if array.dtype.kind == "f" else array
        for name, array in tensors.items()
        if name in names
    }


def round_to(array: Array, dtype: str) -> Array:
    """Return an array rounded to a torch dtype. Values of bfloat16, which numpy lacks, are returned as float32."""
    if dtype != "bfloat16":
        return array.astype(dtype)
    bits = np.ascontiguousarray(array, dtype="<f4").view("<u4")
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)  # to nearest, ties to even
    return (rounded & 0xFFFF0000).astype("<u4").view("<f4").reshape(array.shape)
