"""Measure how much right answers differ from the reference solution in each dtype, and what the tolerances allow.

    python scripts/precision_report.py [--write]

Prints the report; with `--write` it also writes docs/precision.md. The script measures the reference solutions,
the right variants of the banks and the right answers in tests/answers, on the public cases and on the cases of
further seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from msgspec import structs
from shared import ANSWERS, ROOT, print_page

from grader.authoring.bank import apply
from grader.authoring.content import Assignment, read_all
from grader.authoring.observe import observe
from grader.authoring.record import _recorded
from grader.bundle.model import Check, RecordedCase
from grader.judge.compare import TOLERANCE
from grader.judge.verdict import decide
from grader.support.code import definitions

SEEDS = ("public", "precision-1", "precision-2", "precision-3")
ORDER = ("float64", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Measured:
    """One answer in one dtype: its largest difference, the largest share of a tolerance that it uses, and the last
    failure.
    """

    exercise: str
    answer: str
    dtype: str
    worst: float = 0.0
    used: float = 0.0
    failed: str = ""


def right_answers(assignment: Assignment, exercise: str) -> Iterator[tuple[str, str]]:
    """Yield the reference solution, the right variants, and the right answers of tests/answers.

    An answer that is right only in some dtypes is left out.
    """
    yield "reference", definitions(assignment.source)
    for variant in assignment.variants(exercise):
        if variant.kind != "trivial":
            yield f"variant {variant.id}", definitions(apply(variant, assignment.source))
    for answer in ANSWERS:
        if answer.exercise == exercise and answer.is_right and "precision" not in answer.later:
            yield f"answer {answer.name}", answer.source


def measure(assignment: Assignment, exercise: str, seeds: Sequence[str] = SEEDS) -> list[Measured]:
    """Measure every right answer to an exercise in every dtype, over the seeds."""
    given = assignment.given(assignment.exercise(exercise))
    recorded = [case for seed in seeds for case in _judged(assignment, exercise, seed, given)]
    if not recorded:  # no case of this exercise is about precision
        return []
    out = []
    for answer, source in right_answers(assignment, exercise):
        for dtype in ORDER:
            cases = [case for case in recorded if case.dtype == dtype]
            if cases:
                out.append(_of(exercise, answer, source, given, cases, dtype))
    return out


def _judged(assignment: Assignment, exercise: str, seed: str, given: Sequence[str]) -> Iterator[RecordedCase]:
    """Yield the cases about precision, and the cases that these repeat, with the expected output."""
    cases = assignment.cases(exercise, seed)
    wanted = {case.like or case.id for case in cases if any(c.judge == "precise" for c in case.checks)}
    cases = [case for case in cases if (case.like or case.id) in wanted]
    reference = observe(assignment.source, given, cases)
    for case in cases:
        yield structs.replace(_recorded(case, reference[case.id], {}), id=f"{seed}/{case.id}")


def _of(
    exercise: str, answer: str, source: str, given: Sequence[str], cases: Sequence[RecordedCase], dtype: str
) -> Measured:
    worst, used, failed = 0.0, 0.0, ""
    observed = observe(source, given, cases, dtype)
    for case in cases:
        seen = observed[case.id]
        for check in case.checks:
            if check.judge not in ("precise", "equal") or check.facet == "gradients":
                continue  # the report is about results
            finding = decide(check, case, seen)
            if not finding.passed:
                failed = f"{case.id}: {seen.error.message if seen.error else finding.rule}"
            for name in check.of:
                got = seen.seen.get(name)
                if got is not None and got.array is not None and got.shape == case.expected[name].shape:
                    off = _difference(got.array, case.expected[name])
                    worst, used = max(worst, off), max(used, off / tolerance_of(check, case))
    return Measured(exercise, answer, dtype, worst, used, failed)


def tolerance_of(check: Check, case: RecordedCase) -> float:
    """Return the tolerance as the judges use it. A case may widen it, and for the judge `equal` also narrow it."""
    asked = float(check.params.get("tol", 0.0))
    return max(TOLERANCE[case.dtype], asked) if check.judge == "precise" else asked or TOLERANCE[case.dtype]


def _difference(got: np.ndarray, want: np.ndarray) -> float:
    """Return the largest difference, relative to 1 + |expected value|, as the judges compute it."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(np.abs(got - want) / (1 + np.abs(want)), nan=np.inf).max(initial=0.0))


def measure_all(seeds: Sequence[str] = SEEDS) -> list[Measured]:
    jobs = [(a, f.name) for a in read_all(ROOT / "solutions") for f in a.exercises]
    assignments, exercises = zip(*jobs, strict=True)
    with ProcessPoolExecutor() as pool:
        found = pool.map(partial(measure, seeds=seeds), assignments, exercises)
        return [measured for of_exercise in found for measured in of_exercise]


def page(found: Sequence[Measured]) -> str:
    """Return the report. Raises SystemExit if a right answer fails."""
    failed = [f"{m.exercise}, {m.answer}, {m.dtype}: {m.failed}" for m in found if m.failed]
    if failed:
        raise SystemExit("\n".join(["right answers fail:", *failed]))
    lines = [PAGE.format(answers=len({(m.exercise, m.answer) for m in found}), seeds=len(SEEDS))]
    for dtype in ORDER:
        mine = [m for m in found if m.dtype == dtype]
        top = max(mine, key=lambda m: m.used)
        lines.append(
            f"| {dtype} | {TOLERANCE[dtype]:g} | {1 / top.used:.1f} times | {top.exercise}, {top.answer} |"
        )
    lines += ["", "The largest difference for each exercise:", ""]
    lines += [f"| exercise | right answers | {' | '.join(ORDER)} |", "|---" * (2 + len(ORDER)) + "|"]
    for exercise in dict.fromkeys(m.exercise for m in found):
        here = [m for m in found if m.exercise == exercise]
        worst = (f"{max(m.worst for m in here if m.dtype == dtype):.1e}" for dtype in ORDER)
        lines.append(f"| {exercise} | {len({m.answer for m in here})} | {' | '.join(worst)} |")
    return "\n".join(lines) + "\n"


PAGE = """# Precision

`python scripts/precision_report.py --write` writes this page; do not edit it.

A failure in the facet *precision* is advice and costs no points, unless the course says otherwise
([decision 22](decisions/22-policies-are-advice.md)). The facet runs one case of every exercise with floating-point results again in `float16`, `bfloat16`
and `float64`. The grader builds modules as usual and converts them with `.to(dtype)`. It rounds inputs and weights
to the dtype. The reference solution gets the same values in `float64`. Two things count: the values of the result,
and its dtype. The dtype inside the computation is free. The scores of a decoder may also have a wider dtype,
because losses are often computed in `float32`. The facet leaves out `shift_matrix` and the tests that catch faulty
modules, which have no floating-point input. It also leaves out the three repairs, whose code was written for
`float32`, and the exercises of assignments 10 and 11, which measure and train in `float32`.

The tolerances come from right answers written in many ways: {answers} answers (reference solutions, the variants
of the banks and the right answers in tests/answers) on the cases of {seeds} seeds. Differences are relative to
1 + |expected value|. Each tolerance is at least **four times the largest difference**, and in half precision at least
eight times, because some seeds give layers that normalise small values. So another processor or another order of
summation costs no points. A mistake in precision shows as a wrong dtype, an exception or values that are wrong by
more than a half. It does not show in the last digit.

"Tolerance" is the usual one. A case may have a wider one: positions near 1000, and AddNorm, where the small value
under the root of the normalisation is free. "Room" is the tolerance of a case divided by the difference that was
measured there, for the answer that uses most of its tolerance.

| dtype | tolerance | room | answer that uses most of its tolerance |
|---|---|---|---|"""


if __name__ == "__main__":
    print_page(__doc__, "precision.md", lambda: page(measure_all()))
