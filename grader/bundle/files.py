"""Read and write a bundle: `bundle.json` (text) and `bundle.safetensors` (tensors)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from grader.bundle.model import SCHEMA, Bundle, Exercise, RecordedCase
from grader.bundle.safetensors import Array, Later, StoredTensors, encode
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
    return _digest(_text(exercise), _arrays(exercise))


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
    text = replace(bundle, exercises=tuple(map(_text, bundle.exercises)))
    arrays = {name: array for e in bundle.exercises for name, array in _arrays(e).items()}
    return msgspec.json.encode(text) + b"\n", encode(arrays)


def save(bundle: Bundle, folder: Path) -> None:
    """Write both files, each whole or not at all."""
    text, data = dump(bundle)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / TENSORS_FILE, data)
    write_atomically(folder / MANIFEST_FILE, text)


def read_text(text: bytes, where: str) -> Bundle:
    """Return the bundle in `bundle.json`, without any array.

    where: the file's name in the message. Raises BadData if another version of the grader wrote it, or for a wrong
    field.
    """
    try:
        found = msgspec.json.decode(text, type=_Format).schema
        if found != SCHEMA:
            raise BadData(
                f"{where} has the format {found}, and this version of the grader reads the format {SCHEMA}"
            )
        return msgspec.json.decode(text, type=Bundle)
    except msgspec.MsgspecError as error:
        raise BadData(f"{where}: {error}") from None


def loads(text: bytes, data: bytes, where: str = "this") -> Bundle:
    """Return the bundle in the contents of its two files. Its tensors are decoded when they are asked for.

    Raises BadData as `read_text` does, and for tensors in another format.
    """
    bundle, stored = read_text(text, where), StoredTensors(data)
    return replace(
        bundle, exercises=tuple(_with_arrays(e, bundle.assignment, stored) for e in bundle.exercises)
    )


def load(folder: Path) -> Bundle:
    """Read a bundle. Raises BadData as `loads` does, and OSError."""
    text = read_regular(folder / MANIFEST_FILE)
    return loads(text, read_regular(folder / TENSORS_FILE), str(folder / MANIFEST_FILE))


def load_all(root: Path) -> list[Bundle]:
    """Return the bundles of every assignment folder below `root`, in order of their names."""
    return [load(path.parent) for path in sorted(root.glob(f"*/{MANIFEST_FILE}"))]


# ---- which arrays are in which folder of the names in `bundle.safetensors`


def _text(exercise: Exercise) -> Exercise:
    """Return an exercise as `bundle.json` has it: without its arrays, and without what they determine."""
    signatures = exercise.signatures and replace(exercise.signatures, arrays={})
    cases = tuple(map(_case_text, exercise.cases))
    return replace(exercise, assignment="", cases=cases, signatures=signatures)


def _case_text(case: RecordedCase) -> RecordedCase:
    steps = () if case.like else case.steps
    exam = case.exam and _case_text(case.exam)
    return replace(case, steps=steps, exam=exam, tensors={}, expected={}, for_judge={})


def _arrays(exercise: Exercise) -> dict[str, Array]:
    """Return the arrays of an exercise by their names in the file."""
    folders: dict[str, Mapping[str, Array]] = {}
    for case in exercise.cases:
        for one in (case, case.exam):
            if one is not None:
                stem = f"{exercise.name}/{one.id}"
                folders |= {f"{stem}/want": one.expected, f"{stem}/judge": one.for_judge}
                folders |= {} if one.like else {f"{stem}/in": one.tensors}
    if exercise.signatures is not None:
        folders[f"{exercise.name}/signatures"] = exercise.signatures.arrays
    return {f"{folder}/{name}": array for folder, found in folders.items() for name, array in found.items()}


def _with_arrays(exercise: Exercise, assignment: str, stored: StoredTensors) -> Exercise:
    """Return an exercise of `bundle.json` with its arrays."""
    name, cases = exercise.name, dict[str, RecordedCase]()
    for case in exercise.cases:
        cases[case.id] = _case(case, name, stored, cases.get(case.like))
    arrays = stored.folder(f"{name}/signatures")
    signatures = exercise.signatures and replace(exercise.signatures, arrays=arrays)
    return replace(exercise, assignment=assignment, cases=tuple(cases.values()), signatures=signatures)


def _case(
    case: RecordedCase, exercise: str, stored: StoredTensors, base: RecordedCase | None
) -> RecordedCase:
    """Return a case with its arrays. base: the case that it repeats in another dtype; None if it repeats none."""
    stem = f"{exercise}/{case.id}"
    steps, tensors = case.steps, stored.folder(f"{stem}/in")
    if base is not None:
        steps = tuple(
            in_short(base.steps, case.checks[0].of[0])
        )  # such a case has one check of one observation
        tensors = Later(partial(in_dtype, base.tensors, steps, case.dtype))
    return replace(
        case,
        steps=steps,
        tensors=tensors,
        expected=stored.folder(f"{stem}/want"),
        for_judge=stored.folder(f"{stem}/judge"),
        exam=case.exam and _case(case.exam, exercise, stored, None),
    )


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
    kept = {name: array for name, array in tensors.items() if name in names}
    return {
        name: round_to(array, dtype) if array.dtype.kind == "f" else array for name, array in kept.items()
    }


def round_to(array: Array, dtype: str) -> Array:
    """Return an array rounded to a torch dtype. Values of bfloat16, which numpy lacks, are returned as float32."""
    if dtype != "bfloat16":
        return array.astype(dtype)
    bits = np.ascontiguousarray(array, dtype="<f4").view("<u4")
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)  # to nearest, ties to even
    return (rounded & 0xFFFF0000).astype("<u4").view("<f4").reshape(array.shape)
