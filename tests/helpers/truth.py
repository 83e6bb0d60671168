"""Check the report on a wrong answer that no known mistake explains, with code that is independent of the grader.

Three statements of the report are computed again. The place of the first wrong element comes from the actual and the
expected tensor, element by element; so do the facts. The stage (the first intermediate result that differs) comes
from running the reference and the answer in float64, with separate hooks.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn

from grader.authoring.content import read_all
from grader.authoring.observe import definitions
from grader.bundle.model import Exercise, RecordedCase
from grader.judge.observation import Observation
from grader.report.model import CheckResult

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENTS = {e["name"]: a for a in read_all(ROOT / "solutions") for e in a.exercises}
STAGED = ("MultiHeadAttention", "EncoderBlock", "DecoderBlock")
# Relative to 1 + |expected value|.
LIMITS = {"float64": 1e-9, "float32": 1e-5, "float16": 5e-3, "bfloat16": 4e-2}
STAGE_LIMIT = 1e-4  # the limit for a stage: ten times that of a float32 result


# ---- the place of the first wrong element


def wrong(got: np.ndarray, want: np.ndarray, limit: float) -> np.ndarray:
    """Return a boolean array of the elements that differ between two arrays of the same shape."""
    with np.errstate(invalid="ignore"):
        near = np.abs(got.astype(float) - want) <= limit + limit * np.abs(want)
    return np.logical_not(near | (got == want) | (np.isnan(got) & np.isnan(want)))


def first_wrong(got: np.ndarray, want: np.ndarray, limit: float) -> tuple[int, ...] | None:
    """Return the index of the first element that differs, in row-major order; None if none differs."""
    flat = wrong(got, want, limit).ravel()
    return tuple(map(int, np.unravel_index(flat.argmax(), want.shape))) if flat.any() else None


def true_place(case: RecordedCase, seen: Observation, result: CheckResult) -> str | None:
    """Return the place that a failed check should name; None if the values of the tensors do not decide it."""
    check = next(c for c in case.checks if c.id == result.id)
    if check.judge not in ("equal", "one_of", "kept_weights"):
        return None
    for name in check.of:
        header, tensor = case.headers[name], seen.seen.get(name)
        if tensor is None or tensor.array is None or tensor.array.shape != header.shape:
            return None  # the check fails because of the shape or type
        # If several outputs are right, the others have names such as "NAME|ID".
        wanted = [a for n, a in case.expected.items() if n == name or n.startswith(f"{name}|")]
        limit = check.params.get("tol", LIMITS[case.dtype])
        nearest = min(wanted, key=lambda want: wrong(tensor.array, want, limit).sum())
        index = first_wrong(tensor.array, nearest, limit)
        if index is None:
            continue
        if name.startswith("grad ") and not tensor.array.any():
            return name  # all elements are 0, so the report names the whole gradient
        place = _shown(index, header.axes)
        if name.startswith("grad "):
            return f"{name}: {place}" if place else name
        return place
    return None


def _shown(index: tuple[int, ...], axes: Sequence[str]) -> str:
    """Return an index as a report shows it: with the names of the axes if there is a name for each."""
    if len(axes) == len(index):
        return ", ".join(f"{axis} {i}" for axis, i in zip(axes, index, strict=True))
    return f"[{', '.join(map(str, index))}]" if index else ""


def assert_places_are_true(
    exercise: Exercise, observations: Mapping[str, Observation], checks: Sequence[CheckResult]
) -> int:
    """Assert that each failed check names the first wrong element, where `true_place` finds one.

    Also assert that the first check that did not pass has a place, a value or a message.
    Return the number of places compared.
    """
    compared = 0
    for case in exercise.cases:
        ids = {check.id for check in case.checks}
        for result in checks:
            if result.outcome != "failed" or result.id not in ids or case.id not in observations:
                continue
            place = true_place(case, observations[case.id], result)
            if place is not None:
                assert result.where == place, f"{result.id}: {result.title}"
                compared += 1
    first = next(c for c in checks if c.outcome not in ("passed", "skipped"))
    assert first.where or first.got or first.message
    return compared


# ---- the facts, from the two tensors


def assert_facts_are_true(exercise: Exercise, observations: Mapping[str, Observation], says: str) -> None:
    """Assert that the patterns in the report hold for the first result that differs."""
    for case in exercise.cases:
        if case.id not in observations:
            continue
        compared = [name for check in case.checks if check.judge == "equal" for name in check.of]
        for name in compared:
            tensor = observations[case.id].seen.get(name)
            if tensor is None or tensor.array is None or tensor.array.shape != case.headers[name].shape:
                continue
            got, want = tensor.array.astype(float), case.expected[name]
            where = wrong(got, want, LIMITS[case.dtype])
            if where.any():
                return patterns_are_true(says, got, want, where, case.headers[name].axes)
    return None


def patterns_are_true(
    says: str, got: np.ndarray, want: np.ndarray, where: np.ndarray, axes: Sequence[str]
) -> None:
    """Assert that the patterns named in `says` hold, as far as the tensors show. where: which elements are wrong."""
    if found := re.search(r"all values are (\S+) ×", says, re.I):
        assert np.allclose(got, float(found[1]) * want, rtol=1e-3, atol=1e-3)
    if "in the wrong positions" in says:
        assert np.allclose(np.sort(got.ravel()), np.sort(want.ravel()), atol=1e-3)
    # The lengths are not known here, so this tests only that some elements are wrong, but not all.
    if "only rows with padding are wrong" in says.lower():
        assert where.any()
        assert not where.reshape(where.shape[0], -1).all()
    names = axes if len(axes) == where.ndim else [f"axis {n}" for n in range(where.ndim)]
    for number, axis in enumerate(names):
        hit = [bool(where.take(i, number).any()) for i in range(where.shape[number])]
        if found := re.search(rf"differences only at {axis} (\d+)\.", says, re.I):
            assert hit == [i == int(found[1]) for i in range(len(hit))]
        if found := re.search(rf"right up to {axis} (\d+), wrong from {axis} (\d+) on", says, re.I):
            last, first = int(found[1]), int(found[2])
            assert last + 1 == first
            assert hit == [i >= first for i in range(len(hit))]
        if found := re.search(rf"differences only from {axis} (\d+) to (\d+)", says, re.I):
            assert hit == [int(found[1]) <= i <= int(found[2]) for i in range(len(hit))]
        if found := re.search(rf"differences only at {axis} ([\d, ]+)", says, re.I):
            assert hit == [i in map(int, found[1].split(", ")) for i in range(len(hit))]


# ---- the stage, in float64 and with separate hooks


def stages_of(case: RecordedCase) -> list[tuple[str, str]]:
    """Return (path, title) of each stage of a case."""
    return [(path, title) for step in case.steps if step["do"] == "stages" for path, title in step["of"]]


def watched(space: Mapping[str, object], case: RecordedCase) -> dict[str, np.ndarray]:
    """Run a case up to the end of its first call, without `worker/program.py`. Return path → value of each stage.

    space: the global names of the code.
    The value is the output of the submodule at the path; a path that ends in `.in0` means its first argument.
    """
    tensors = {n: torch.from_numpy(np.array(a)) for n, a in case.tensors.items()}
    tensors = {n: t.double() if t.is_floating_point() else t for n, t in tensors.items()}
    known: dict[str, object] = {}
    out: dict[str, np.ndarray] = {}

    def keep(path: str, value: object) -> None:
        first = value[0] if isinstance(value, tuple | list) else value
        if isinstance(first, torch.Tensor):
            out.setdefault(path, first.detach().clone().numpy())

    def find(value: object) -> object:
        if isinstance(value, dict):
            return known[value["ref"]]
        return [find(v) for v in value] if isinstance(value, list) else value

    for step in case.steps:
        if step["do"] == "input":
            known[step["name"]] = tensors[step["name"]].clone()
        elif step["do"] == "value":
            known[step["name"]] = find(step["value"])
        elif step["do"] == "build":
            module = known[step["name"]] = space[step["of"]](**step["kwargs"]).double()  # type: ignore[operator]
        elif step["do"] == "load":
            assert isinstance(module, nn.Module)
            module.load_state_dict({n: tensors[key] for n, key in step["weights"].items()}, strict=False)
        elif step["do"] == "mode":
            module.train(step["train"])
        elif step["do"] == "stages":
            parts = dict(module.named_modules())
            for path, _title in step["of"]:
                owner, _, which = path.partition(".in")
                if owner in parts and which:
                    parts[owner].register_forward_pre_hook(
                        lambda m, given, path=path, which=int(which): keep(path, given[which])
                    )
                elif owner in parts:
                    parts[owner].register_forward_hook(lambda m, given, value, path=path: keep(path, value))
        elif step["do"] == "call":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    module(*(find(a) for a in step["args"]))
                except Exception:
                    return out  # the stages up to the exception
            return out
    raise AssertionError(f"{case.id} calls nothing")


def names_of(source: str) -> dict[str, object]:
    """Run source code and return its global names."""
    space: dict[str, object] = {}
    exec(compile(source, "answer.py", "exec"), space)
    return space


REFERENCES: dict[tuple[str, str], dict[str, np.ndarray]] = {}  # (exercise, case) → its stages


def right_stages(exercise: str, case: RecordedCase) -> dict[str, np.ndarray]:
    """Return the stages of the reference solution, which are computed once per case."""
    if (exercise, case.id) not in REFERENCES:
        REFERENCES[exercise, case.id] = watched(names_of(definitions(ASSIGNMENTS[exercise].source)), case)
    return REFERENCES[exercise, case.id]


def true_stage(exercise: Exercise, source: str) -> str | None:
    """Return the title of the first stage that differs from the reference, in the first case in which one differs.

    Return "" if no stage differs. Return None if the answer cannot load the reference's weights because its layers have
    other sizes.
    """
    answer = names_of(source)
    for case in filter(stages_of, exercise.cases):
        try:
            right, mine = right_stages(exercise.name, case), watched(answer, case)
        except RuntimeError as error:
            if "size mismatch" not in str(error):
                raise
            return None
        for path, title in stages_of(case):
            if path not in mine or path not in right:
                continue
            same = mine[path].shape == right[path].shape
            if not same or wrong(mine[path], right[path], STAGE_LIMIT).any():
                return title
    return ""


def reported_stage(says: str) -> str:
    """Return the title of the stage that the text of a diagnosis names; "" if it names none."""
    found = re.search(r"the first intermediate result that differs: ([^.]*)", says, re.I)
    return found[1] if found else ""
