"""Read and write a bundle: `bundle.json` (text) and `bundle.safetensors` (tensors)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from grader.bundle.model import Bundle, Check, Exercise, Header, KnownMistake, RecordedCase, Signatures
from grader.bundle.safetensors import Array, decode, encode
from grader.bundle.steps import in_dtype, in_short
from grader.support.files import read_regular, write_atomically
from grader.worker.steps import Step

Arrays = Mapping[str, dict[str, Array]]  # folder → name → array; see `_by_folder`
SCHEMA = 3
MANIFEST_FILE, TENSORS_FILE = "bundle.json", "bundle.safetensors"
_BUNDLE_KEYS = ("assignment", "module", "title", "summary", "minutes", "seed", "stub")
# Fields of an exercise that are stored in another form, or only if they are set.
_APART = ("assignment", "cases", "mistakes", "signatures", "forbids_costs")


def digest(exercise: Exercise) -> str:
    """Return a hash of everything that a bundle stores about the exercise, also of its texts."""
    arrays: dict[str, Array] = {}
    return _digest(_exercise_fields(exercise, arrays), arrays)


def digest_of_cases(exercise: Exercise) -> str:
    """Return a hash of the steps and inputs of the cases, and of what their checks compare.

    If it changes, equal wrong answers may get another fingerprint. Titles, points and policies do not count.
    """
    arrays = {f"{case.id}/{name}": array for case in exercise.cases for name, array in case.tensors.items()}
    rows = [(c.id, c.dtype, c.steps, [(k.id, k.judge, k.of) for k in c.checks]) for c in exercise.cases]
    return _digest(rows, arrays)


def _digest(fields: Any, arrays: Mapping[str, Array]) -> str:
    return hashlib.sha256(
        json.dumps(fields, default=msgspec.to_builtins).encode() + encode(arrays)
    ).hexdigest()


def dump(bundle: Bundle) -> tuple[str, bytes]:
    """Return the contents of `bundle.json` and of `bundle.safetensors`."""
    arrays: dict[str, Array] = {}
    manifest = {
        "schema": SCHEMA,
        **{key: getattr(bundle, key) for key in _BUNDLE_KEYS},
        "exercises": [_exercise_fields(e, arrays) for e in bundle.exercises],
    }
    text = json.dumps(manifest, ensure_ascii=False, separators=(",", ":"), default=msgspec.to_builtins)
    return text + "\n", encode(arrays)


def save(bundle: Bundle, folder: Path) -> None:
    """Write both files, each whole or not at all."""
    manifest, data = dump(bundle)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / TENSORS_FILE, data)
    write_atomically(folder / MANIFEST_FILE, manifest.encode())


def loads(text: str, data: bytes, where: str = "this") -> Bundle:
    """Return the bundle in the contents of its two files.

    where: its name in the message. Raises ValueError if another version of the grader wrote it.
    """
    manifest = json.loads(text)
    if manifest.pop("schema", None) != SCHEMA:
        raise ValueError(f"{where} was written by another version of the grader")
    arrays, assignment = _by_folder(decode(data)), manifest["assignment"]
    exercises = tuple(_exercise(fields, assignment, arrays) for fields in manifest.pop("exercises"))
    return Bundle(**manifest, exercises=exercises)


def meaning(text: bytes) -> Any:
    """Return the contents of `bundle.json`; equal whether or not defaults of steps are written in it."""
    manifest = json.loads(text)
    for case in (case for exercise in manifest["exercises"] for case in exercise["cases"]):
        for one in (case, case.get("exam", {})):
            one["steps"] = msgspec.convert(one.get("steps", []), list[Step])
    return manifest


def load(folder: Path) -> Bundle:
    """Read a bundle. Raises ValueError as `loads` does, and OSError."""
    text = read_regular(folder / MANIFEST_FILE).decode()
    return loads(text, read_regular(folder / TENSORS_FILE), str(folder / MANIFEST_FILE))


def load_all(root: Path) -> list[Bundle]:
    """Return the bundles of every assignment folder below `root`, in order of their names."""
    return [load(path.parent) for path in sorted(root.glob(f"*/{MANIFEST_FILE}"))]


def _exercise_fields(exercise: Exercise, arrays: dict[str, Array]) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(exercise) if field.name not in _APART]
    fields: dict[str, Any] = {name: getattr(exercise, name) for name in names}
    if exercise.forbids_costs:
        fields["forbids_costs"] = exercise.forbids_costs
    fields["cases"] = [_case_fields(case, arrays) for case in exercise.cases]
    optional = ("policy", "statements")
    fields["mistakes"] = [
        {key: value for key, value in vars(m).items() if value or key not in optional}
        for m in exercise.mistakes
    ]
    if exercise.signatures is not None:
        fields["signatures"] = _signature_fields(exercise.name, exercise.signatures, arrays)
    return fields


def _signature_fields(name: str, table: Signatures, arrays: dict[str, Array]) -> dict[str, Any]:
    """Pack a table: states as indices into a vocabulary, values only where a row differs from the first row."""
    vocabulary, places = np.unique(table.states, return_inverse=True)
    near = np.abs(table.numbers - table.numbers[0]) <= 1e-9 * (1 + np.abs(table.numbers[0]))
    differs = ~near.all(axis=2)  # a value that is left open is NaN, and never near
    differs[0] = True
    arrays[f"{name}/signatures/states"] = places.reshape(table.states.shape).astype(np.int16)
    arrays[f"{name}/signatures/departs"] = differs
    arrays[f"{name}/signatures/numbers"] = table.numbers[differs].astype(np.float32)
    return {"slots": table.slots, "explains": table.explains, "vocabulary": vocabulary.tolist()}


def _signatures(name: str, fields: Mapping[str, Any], arrays: Arrays) -> Signatures:
    table = arrays[f"{name}/signatures"]
    places, differs, packed = table["states"], table["departs"], table["numbers"].astype(np.float64)
    # The first row is stored whole: start with it in every row.
    unpacked = np.broadcast_to(packed[: differs.shape[1]], (*differs.shape, packed.shape[1])).copy()
    unpacked[differs] = packed
    vocabulary = np.array(fields["vocabulary"], dtype=object)
    explains = tuple(map(tuple, fields["explains"]))
    return Signatures(tuple(fields["slots"]), explains, vocabulary[places], unpacked)


def _case_fields(case: RecordedCase, arrays: dict[str, Array]) -> dict[str, Any]:
    stem = f"{case.exercise}/{case.id}"
    if not case.like:
        arrays.update({f"{stem}/in/{name}": array for name, array in case.tensors.items()})
    arrays.update({f"{stem}/want/{name}": array for name, array in case.expected.items()})
    arrays.update({f"{stem}/judge/{name}": array for name, array in case.for_judge.items()})
    fields: dict[str, Any] = {
        "id": case.id,
        "dtype": case.dtype,
        **({"like": case.like} if case.like else {"steps": case.steps}),
        "checks": [
            [c.id, c.facet, c.title, c.judge, c.of, dict(c.params), *filter(None, [c.policy])]
            for c in case.checks
        ],
        "headers": {name: [h.shape, h.dtype, h.axes] for name, h in case.headers.items()},
    }
    if case.exam is not None:
        fields |= {"exam": _case_fields(case.exam, arrays), "costly": case.costly}
    return fields


def _exercise(fields: dict[str, Any], assignment: str, arrays: Arrays) -> Exercise:
    name = fields["name"]
    cases: dict[str, RecordedCase] = {}
    for case in fields.pop("cases"):
        cases[case["id"]] = _case(case, name, arrays, cases.get(case.get("like", "")))
    fields["mistakes"] = tuple(
        KnownMistake(**{**m, "statements": tuple(m.get("statements", ()))}) for m in fields["mistakes"]
    )
    if "signatures" in fields:
        fields["signatures"] = _signatures(name, fields["signatures"], arrays)
    for key in ("hints", "needs", "given", "forbids"):
        fields[key] = tuple(fields[key])
    return Exercise(**fields, assignment=assignment, cases=tuple(cases.values()))


def _case(fields: dict[str, Any], exercise: str, arrays: Arrays, base: RecordedCase | None) -> RecordedCase:
    """Return a case from its fields. base: the case that it repeats in another dtype; None if it repeats none."""
    stem = f"{exercise}/{fields['id']}"
    checks = tuple(
        Check(id, facet, title, judge, tuple(of), params, *policy)
        for id, facet, title, judge, of, params, *policy in fields["checks"]
    )
    if base is None:
        steps, tensors = msgspec.convert(fields["steps"], list[Step]), arrays[f"{stem}/in"]
    else:
        steps = in_short(base.steps, checks[0].of[0])  # such a case has one check of one observation
        tensors = in_dtype(base.tensors, steps, fields["dtype"])
    return RecordedCase(
        id=fields["id"],
        exercise=exercise,
        dtype=fields["dtype"],
        steps=tuple(steps),
        checks=checks,
        tensors=tensors,
        headers={n: Header(tuple(s), d, tuple(a)) for n, (s, d, a) in fields["headers"].items()},
        expected=arrays[f"{stem}/want"],
        for_judge=arrays[f"{stem}/judge"],
        like=fields.get("like", ""),
        exam=_case(fields["exam"], exercise, arrays, None) if "exam" in fields else None,
        costly=fields.get("costly", False),
    )


def _by_folder(arrays: Mapping[str, Array]) -> Arrays:
    """Group arrays by the folder in their names, such as "exercise/case/in". A missing folder is empty.

    All after the third slash is the name of the array, which may contain slashes.
    """
    found: defaultdict[str, dict[str, Array]] = defaultdict(dict)
    for path, array in arrays.items():
        *folder, name = path.split("/", 3)
        found["/".join(folder)][name] = array
    return found
