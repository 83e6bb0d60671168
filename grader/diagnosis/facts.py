"""Plain facts about a wrong answer, for when no known mistake fits.

They are about the facets that failed, the first wrong values (their pattern, else the padding, else their places), the
first wrong stage, the cause of an exception, and the kinds of lengths with which the answer raises.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from grader.bundle.model import Exercise, RecordedCase
from grader.bundle.safetensors import Array
from grader.diagnosis.causes import causes
from grader.judge.compare import TOLERANCE, differs, tolerance_of, wrong_form
from grader.judge.observation import Observation
from grader.judge.verdict import JudgedCase, JudgedCheck
from grader.report.finding import EXCEPTION, Fact
from grader.worker.steps import Mode


def facts_about(
    exercise: Exercise, judged: Mapping[str, JudgedCase], checks: Sequence[JudgedCheck]
) -> list[Fact]:
    """Return the facts about a failed answer. checks: those that count; the other arguments are those of `diagnose`."""
    failed = {check.facet for check in checks if check.outcome != "passed"}
    passed = {check.facet for check in checks if check.outcome == "passed"}
    seen = [(case, judged[case.id].observation) for case in exercise.cases if case.id in judged]
    observed = [(case, found) for case, found in seen if found is not None]
    # The failure that a report shows is the first. If it is an exception, no value of another case explains it.
    raised_first = next(one.finding.kind for one in checks if one.outcome != "passed") == EXCEPTION
    return [
        *of_facets(failed, passed, any(case.all_of(Mode) for case in exercise.cases)),
        *([] if raised_first else _of_first_wrong(observed)),
        *_first_stage(observed),
        *(_of_shown_exception(observed, checks) if exercise.level else ()),
    ]


_Observed = Sequence[tuple[RecordedCase, Observation]]


def _of_first_wrong(observed: _Observed) -> list[Fact]:
    for case, observation in observed:
        compared = [check for check in case.checks if check.judge == "equal" and not check.policy]
        for tolerance, name in ((tolerance_of(check, case), name) for check in compared for name in check.of):
            seen, header, want = observation.seen.get(name), case.headers[name], case.expected[name]
            if seen is None or wrong_form(seen, header) is not None or seen.array is None:
                continue
            if differs(seen.array, want, tolerance).any():
                lens = [tensor for name, tensor in case.tensors.items() if "valid_len" in name]
                known = lens[0] if len(lens) == 1 else None
                return of_numbers(seen.array, want, header.axes, tolerance, known)
    return []


def _first_stage(observed: _Observed) -> list[Fact]:
    """Return a fact about the first wrong stage: an intermediate result that a case watches.

    Stages that were not observed are skipped.
    """
    for case, observation in observed:
        for stage in case.stages:
            seen = observation.seen.get(stage.name)
            if seen is None or stage.name not in case.expected:
                continue
            want, tolerance = case.expected[stage.name], 10 * TOLERANCE[case.dtype]
            if seen.array is None or seen.shape != want.shape or differs(seen.array, want, tolerance).any():
                return [Fact("stage", {"stage": stage.title})]
    return []


def _of_shown_exception(observed: _Observed, checks: Sequence[JudgedCheck]) -> list[Fact]:
    """Say why the case of the first failed check raised, and with which kinds of lengths other cases raise."""
    first = next((check.id for check in checks if check.outcome == "failed"), "")
    shown = (found.error for case, found in observed if any(check.id == first for check in case.checks))
    error = next(shown, None)
    return [] if error is None else [*causes(error), *of_lengths(observed)]


def of_lengths(observed: _Observed) -> list[Fact]:
    """Return a fact about the kinds of lengths with which every case raises, if with another kind none does."""
    raised: dict[int, set[bool]] = {}
    for case, found in observed:
        axes = [tensor.ndim for name, tensor in case.tensors.items() if "valid_len" in name]
        raised.setdefault(max(axes, default=0), set()).add(found.error is not None)
    kinds = [Fact(f"lengths/{axes}") for axes, found in sorted(raised.items()) if found == {True}]
    return [Fact("raises-with", {"kinds": tuple(kinds)})] if kinds and {False} in raised.values() else []


def of_numbers(
    got: Array, want: Array, axes: Sequence[str], tolerance: float, lens: Array | None = None
) -> list[Fact]:
    """Describe how two different arrays of one shape differ.

    lens: the valid lengths of the case, (B,) or (B, T); the longest sequence has no padding.
    """
    wrong = differs(got, want, tolerance)
    if not wrong.any() or got.shape != want.shape:
        return []
    pattern = _pattern(got, want, tolerance) if np.isfinite(got).all() else []
    return pattern or _padding(wrong, lens) or _where(wrong, axes)


def _pattern(got: Array, want: Array, tolerance: float) -> list[Fact]:
    """One value everywhere, where there should be several; the right values in other positions; every value the same
    multiple of the expected one, and not about once.
    """
    facts = []
    several = got.size >= 4
    if several and (got == got.flat[0]).all() and (want != want.flat[0]).any():
        facts.append(Fact("one-value", {"value": float(got.flat[0]) + 0.0}))  # + 0.0 turns -0.0 into 0.0
    if several and got.dtype != bool and _is_reordered(got, want, 10 * tolerance):
        facts.append(Fact("positions"))
    big = np.abs(want) > 1e-2
    if big.sum() >= 3:
        with np.errstate(over="ignore", invalid="ignore"):  # numbers near the end of the range may overflow
            ratio = float(np.median(got[big].astype(np.float64) / want[big]))
            is_other = abs(ratio - 1) >= 1e-3  # otherwise it would read as 1
            if (
                is_other
                and 1e-6 <= abs(ratio) < np.inf
                and not differs(got, ratio * want, 10 * tolerance).any()
            ):
                facts.append(Fact("ratio", {"ratio": ratio}))
    return facts


def _is_reordered(got: Array, want: Array, tolerance: float) -> bool:
    """Whether sorting both removes most of their difference. Otherwise it is rounding, not another order."""
    one, other = np.sort(got.ravel()), np.sort(want.ravel())
    if differs(one, other, tolerance).any():
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # inf - inf is no difference
        left, before = (np.nan_to_num(np.abs(a - b), nan=0.0).max() for a, b in ((one, other), (got, want)))
    return bool(left <= before / 10)


def _padding(wrong: Array, lens: Array | None) -> list[Fact]:
    """All wrong values are in rows with padding."""
    if lens is None or wrong.shape[: lens.ndim] != lens.shape or wrong.ndim == lens.ndim:
        return []
    rows = wrong.any(axis=tuple(range(lens.ndim, wrong.ndim)))
    if (rows & (lens == lens.max())).any():
        return []
    return [Fact("padding")]


def _where(wrong: Array, axes: Sequence[str]) -> list[Fact]:
    """Say along which axes only some positions are wrong."""
    names: Sequence[str | None] = axes if len(axes) == wrong.ndim else [None] * wrong.ndim
    facts = []
    for axis, name in enumerate(names):
        others = tuple(a for a in range(wrong.ndim) if a != axis)
        hit = wrong.any(axis=others)
        if hit.all() or hit.size < 2:
            continue
        wrong_at = np.flatnonzero(hit).tolist()
        places = {"first": wrong_at[0], "last": wrong_at[-1], "before": wrong_at[0] - 1}
        data = {
            "axis": name and name.partition("/")[0],
            "n": axis,
            **places,
            "places": ", ".join(map(str, wrong_at)),
        }
        facts.append(Fact(f"only/{_places(wrong_at, hit.size)}", data))
    return facts


def _places(hit: Sequence[int], size: int) -> str:
    """Return which positions along an axis are wrong. `hit` is neither empty nor complete."""
    if len(hit) == 1:
        return "one"
    if len(hit) != hit[-1] - hit[0] + 1:
        return "some"
    return "from" if hit[-1] == size - 1 else "between"


def of_facets(failed: Collection[str], passed: Collection[str], trains: bool = True) -> list[Fact]:
    """Say what the outcomes of the facets mean together.

    failed, passed: the facets of which at least one check failed, or passed. One that was not checked is in neither.
    trains: whether a case calls train() or eval(). Otherwise the modes are one call and several.
    """
    if "values" in failed or "values" not in passed:
        return []
    if "masking" in failed and "masking" in passed:
        return [Fact("facets/some-masks")]
    worst = next((facet for facet in ("masking", "gradients", "modes", "weights") if facet in failed), None)
    if worst == "modes" and not trains:
        return [Fact("facets/calls")]
    return [Fact(f"facets/{worst}")] if worst else []
