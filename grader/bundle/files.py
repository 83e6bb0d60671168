"""Read and write a bundle: `bundle.json` (text) and `bundle.safetensors` (tensors)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grader.bundle.check import Check
from grader.bundle.model import Bundle, Exercise, Header, KnownMistake, RecordedCase, Signatures
from grader.bundle.repeat import in_dtype, in_short
from grader.bundle.safetensors import Array, decode, encode
from grader.support.atomic_files import write_atomically

SCHEMA = 2
WORDS, NUMBERS = "bundle.json", "bundle.safetensors"


def digest(exercise: Exercise) -> str:
    """Changes whenever anything changes by which the exercise is graded."""
    numbers: dict[str, Array] = {}
    words = json.dumps(_exercise_words(exercise, numbers))
    return hashlib.sha256(words.encode() + encode(numbers)).hexdigest()


def dump(bundle: Bundle) -> tuple[str, bytes]:
    """The two files' contents."""
    numbers: dict[str, Array] = {}
    words = {
        "schema": SCHEMA,
        **{
            key: getattr(bundle, key)
            for key in ("assignment", "module", "title", "summary", "minutes", "difficulty", "seed", "stub")
        },
        "exercises": [_exercise_words(e, numbers) for e in bundle.exercises],
    }
    return json.dumps(words, ensure_ascii=False, separators=(",", ":")) + "\n", encode(numbers)


def save(bundle: Bundle, folder: Path) -> None:
    """Write both files, each whole or not at all."""
    words, numbers = dump(bundle)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / NUMBERS, numbers)
    write_atomically(folder / WORDS, words.encode())


def undump(text: str, data: bytes, where: str = "this") -> Bundle:
    """The bundle of two files' contents. Raises ValueError with a sentence when it is not one of this version."""
    words = json.loads(text)
    if words.pop("schema", None) != SCHEMA:
        raise ValueError(f"{where} was written by another version of the grader")
    numbers = decode(data)
    exercises = tuple(_exercise(fields, words["assignment"], numbers) for fields in words.pop("exercises"))
    return Bundle(**words, exercises=exercises)


def load(folder: Path) -> Bundle:
    """Read a bundle. Raises ValueError as `undump` does."""
    text = (folder / WORDS).read_text("utf-8")
    return undump(text, (folder / NUMBERS).read_bytes(), str(folder / WORDS))


def load_all(root: Path) -> list[Bundle]:
    """The bundles of every assignment folder below `root`, in order of their names."""
    return [load(path.parent) for path in sorted(root.glob(f"*/{WORDS}"))]


def _exercise_words(exercise: Exercise, numbers: dict[str, Array]) -> dict[str, Any]:
    words: dict[str, Any] = {
        key: getattr(exercise, key)
        for key in (
            "name",
            "title",
            "points",
            "weights",
            "limits",
            "hints",
            "needs",
            "given",
            "forbids",
            "level",
        )
    }
    if exercise.forbids_costs:
        words["forbids_costs"] = exercise.forbids_costs
    words["cases"] = [_case_words(case, numbers) for case in exercise.cases]
    words["mistakes"] = [
        {key: getattr(m, key) for key in ("id", "kind", "says", "asks", "page")} for m in exercise.mistakes
    ]
    if exercise.signatures is not None:
        words["signatures"] = _signature_words(exercise.name, exercise.signatures, numbers)
    return words


def _signature_words(name: str, table: Signatures, numbers: dict[str, Array]) -> dict[str, Any]:
    """The table, packed: states as places in a vocabulary, numbers only where a row departs from the first."""
    vocabulary, places = np.unique(table.states, return_inverse=True)
    near = np.abs(table.numbers - table.numbers[0]) <= 1e-9 * (1 + np.abs(table.numbers[0]))
    departs = ~near.all(axis=2)  # a number that is left open is NaN, and never near
    departs[0] = True
    numbers[f"{name}/signatures/states"] = places.reshape(table.states.shape).astype(np.int16)
    numbers[f"{name}/signatures/departs"] = departs
    numbers[f"{name}/signatures/numbers"] = table.numbers[departs].astype(np.float32)
    return {"slots": table.slots, "explains": table.explains, "vocabulary": vocabulary.tolist()}


def _signatures(name: str, words: Mapping[str, Any], numbers: Mapping[str, Array]) -> Signatures:
    places, departs = numbers[f"{name}/signatures/states"], numbers[f"{name}/signatures/departs"]
    packed = numbers[f"{name}/signatures/numbers"].astype(np.float64)
    unpacked = np.broadcast_to(packed[: departs.shape[1]], (*departs.shape, packed.shape[1])).copy()
    unpacked[departs] = packed
    vocabulary = np.array(words["vocabulary"], dtype=object)
    return Signatures(
        tuple(words["slots"]), tuple(map(tuple, words["explains"])), vocabulary[places], unpacked
    )


def _case_words(case: RecordedCase, numbers: dict[str, Array]) -> dict[str, Any]:
    stem = f"{case.exercise}/{case.id}"
    if not case.like:
        numbers.update({f"{stem}/in/{name}": array for name, array in case.tensors.items()})
    numbers.update({f"{stem}/want/{name}": array for name, array in case.expected.items()})
    words: dict[str, Any] = {
        "id": case.id,
        "dtype": case.dtype,
        **({"like": case.like} if case.like else {"steps": case.steps}),
        "checks": [[c.id, c.facet, c.title, c.judge, c.of, dict(c.params)] for c in case.checks],
        "headers": {name: [h.shape, h.dtype, h.axes] for name, h in case.headers.items()},
    }
    if case.exam is not None:
        words |= {"exam": _case_words(case.exam, numbers), "costly": case.costly}
    return words


def _exercise(fields: dict[str, Any], assignment: str, numbers: Mapping[str, Array]) -> Exercise:
    name = fields["name"]
    cases: dict[str, RecordedCase] = {}
    for case in fields.pop("cases"):
        cases[case["id"]] = _case(case, name, numbers, cases.get(case.get("like", "")))
    mistakes = tuple(KnownMistake(**m) for m in fields.pop("mistakes"))
    packed = fields.pop("signatures", None)
    signatures = None if packed is None else _signatures(name, packed, numbers)
    for key in ("hints", "needs", "given", "forbids"):
        fields[key] = tuple(fields[key])
    return Exercise(
        **fields, assignment=assignment, cases=tuple(cases.values()), mistakes=mistakes, signatures=signatures
    )


def _case(
    fields: dict[str, Any], exercise: str, numbers: Mapping[str, Array], base: RecordedCase | None
) -> RecordedCase:
    """`base`: the case that this one repeats in another dtype, if it is one of those."""
    stem = f"{exercise}/{fields['id']}"
    checks = tuple(_checks(fields["checks"]))
    if base is None:
        steps, tensors = fields["steps"], _under(numbers, f"{stem}/in/")
    else:
        steps = in_short(base.steps, checks[0].of[0])
        tensors = in_dtype(base.tensors, steps, fields["dtype"])
    return RecordedCase(
        id=fields["id"],
        exercise=exercise,
        dtype=fields["dtype"],
        steps=tuple(steps),
        checks=checks,
        tensors=tensors,
        headers={n: Header(tuple(s), d, tuple(a)) for n, (s, d, a) in fields["headers"].items()},
        expected=_under(numbers, f"{stem}/want/"),
        like=fields.get("like", ""),
        exam=_case(fields["exam"], exercise, numbers, None) if "exam" in fields else None,
        costly=fields.get("costly", False),
    )


def _checks(rows: Iterable[Any]) -> Iterable[Check]:
    for id, facet, title, judge, of, params in rows:
        yield Check(id, facet, title, judge, tuple(of), params)


def _under(numbers: Mapping[str, Array], stem: str) -> dict[str, Array]:
    return {name[len(stem) :]: array for name, array in numbers.items() if name.startswith(stem)}
