"""How far right answers lie from the reference in each dtype, and what room the tolerances leave them.

    python scripts/precision_report.py [--write]

Prints the report; with `--write` it goes to docs/precision.md. Measured are the references, the right variants
of the banks and the right answers of tests/answers, on the public cases and on those of further seeds.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from grader.authoring.bank import apply
from grader.authoring.content import Assignment, read_all
from grader.authoring.observe import definitions, observe
from grader.authoring.record import _recorded
from grader.bundle.check import Check
from grader.bundle.model import RecordedCase
from grader.intake.names import match, read_names
from grader.intake.read import Submission, Unit
from grader.judge import decide
from grader.judge.finding import TOLERANCE

ROOT = Path(__file__).resolve().parents[1]
ANSWERS = ROOT / "tests" / "answers"
SEEDS = ("public", "precision-1", "precision-2", "precision-3")
ORDER = ("float64", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Measured:
    """One answer in one dtype: how far it is off at most, how much of its tolerance that is, what failed."""

    exercise: str
    answer: str
    dtype: str
    worst: float = 0.0
    used: float = 0.0
    failed: str = ""


def right_answers(assignment: Assignment, exercise: str) -> Iterator[tuple[str, str]]:
    """The reference, the right variants, and those of tests/answers that no facet counts against."""
    yield "reference", definitions(assignment.source)
    for variant in assignment.variants(exercise):
        if variant.kind != "trivial":
            yield f"variant {variant.id}", definitions(apply(variant, assignment.source))
    for path in sorted((ANSWERS / exercise).glob("*.py")):
        source = path.read_text("utf-8")
        fields = dict(re.findall(r"^# (breaks|later): *(.*)$", source.split("\n\n")[0], re.M))
        if not fields["breaks"] and "precision" not in fields.get("later", ""):
            yield f"answer {path.stem}", source


def measure(assignment: Assignment, exercise: str, seeds: Sequence[str] = SEEDS) -> list[Measured]:
    """Every right answer to an exercise in every dtype, over the seeds."""
    fields = next(fields for fields in assignment.exercises if fields["name"] == exercise)
    given = assignment.given(fields)
    recorded = [case for seed in seeds for case in _judged(assignment, exercise, seed, given)]
    out = []
    for answer, source in right_answers(assignment, exercise) if recorded else ():
        named = source + _alias(source, exercise, recorded)
        for dtype in ORDER:
            cases = [case for case in recorded if case.dtype == dtype]
            if cases:
                out.append(_of(exercise, answer, named, given, cases, dtype))
    return out


def _judged(assignment: Assignment, exercise: str, seed: str, given: Sequence[str]) -> Iterator[RecordedCase]:
    """The cases about precision, and those that they repeat, with what the reference gives."""
    cases = assignment.cases(exercise, seed)
    wanted = {case.like or case.id for case in cases if any(c.judge == "precise" for c in case.checks)}
    cases = [case for case in cases if (case.like or case.id) in wanted]
    reference = observe(assignment.source, given, cases)
    for case in cases:
        yield replace(_recorded(case, reference[case.id], {}), id=f"{seed}/{case.id}")


def _alias(source: str, exercise: str, cases: Sequence[RecordedCase]) -> str:
    """A line that gives an answer under a near name the name that the cases call."""
    built = [step for case in cases for step in case.steps if step["do"] == "build"]
    keywords = (
        frozenset.intersection(*(frozenset(s["kwargs"]) - frozenset(s["may_drop"]) for s in built))
        if built
        else None
    )
    names = read_names(Submission(Path("answer.py"), (Unit("answer.py", source),)))
    found = match({exercise: keywords}, names).get(exercise, exercise)
    return "" if found == exercise else f"\n\n{exercise} = {found}\n"


def _of(
    exercise: str, answer: str, source: str, given: Sequence[str], cases: Sequence[RecordedCase], dtype: str
) -> Measured:
    worst, used, failed = 0.0, 0.0, ""
    observed = observe(source, given, cases, dtype)
    for case in cases:
        seen = observed[case.id]
        for check in case.checks:
            if check.judge not in ("precise", "equal") or check.facet == "gradients":
                continue
            finding = decide(check, case, seen)
            if not finding.passed:
                failed = f"{case.id}: {seen.error.message if seen.error else finding.message}"
            for name in check.of:
                got = seen.seen.get(name)
                if got is not None and got.array is not None and got.shape == case.expected[name].shape:
                    off = _departure(got.array, case.expected[name])
                    worst, used = max(worst, off), max(used, off / tolerance_of(check, case))
    return Measured(exercise, answer, dtype, worst, used, failed)


def tolerance_of(check: Check, case: RecordedCase) -> float:
    """As the judges take it: a case may widen it."""
    asked = float(check.params.get("tol", 0.0))
    return max(TOLERANCE[case.dtype], asked) if check.judge == "precise" else asked or TOLERANCE[case.dtype]


def _departure(got: np.ndarray, want: np.ndarray) -> float:
    """The largest departure, relative to 1 + |reference|, as the judges take it."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(np.abs(got - want) / (1 + np.abs(want)), nan=np.inf).max(initial=0.0))


def measure_all(seeds: Sequence[str] = SEEDS) -> list[Measured]:
    jobs = [(a, f["name"]) for a in read_all(ROOT / "solutions") for f in a.exercises]
    with ProcessPoolExecutor() as pool:
        return [
            m for found in pool.map(partial(measure, seeds=seeds), *zip(*jobs, strict=True)) for m in found
        ]


def page(found: Sequence[Measured]) -> str:
    """The report. Raises SystemExit where a right answer fails."""
    failed = [f"{m.exercise}, {m.answer}, {m.dtype}: {m.failed}" for m in found if m.failed]
    if failed:
        raise SystemExit("\n".join(["right answers fail:", *failed]))
    lines = [PAGE.format(answers=len({(m.exercise, m.answer) for m in found}), seeds=len(SEEDS))]
    for dtype in ORDER:
        mine = [m for m in found if m.dtype == dtype]
        top = max(mine, key=lambda m: m.used)
        lines.append(
            f"| {dtype} | {TOLERANCE[dtype]:g} | {max(m.worst for m in mine):.1e} | {1 / top.used:.1f} times | {top.exercise}, {top.answer} |"
        )
    lines += ["", f"| exercise | right answers | {' | '.join(ORDER)} |", "|---|---|" + "---|" * len(ORDER)]
    for exercise in dict.fromkeys(m.exercise for m in found):
        here = [m for m in found if m.exercise == exercise]
        worst = (f"{max(m.worst for m in here if m.dtype == dtype):.1e}" for dtype in ORDER)
        lines.append(f"| {exercise} | {len({m.answer for m in here})} | {' | '.join(worst)} |")
    return "\n".join(lines) + "\n"


PAGE = """# Precision

Written by `python scripts/precision_report.py --write`; do not edit.

The facet *precision* runs a case of every exercise with floating results once more in `float16`, `bfloat16` and
`float64`: modules are built as ever and converted with `.to(dtype)`, inputs and weights are rounded to the dtype, and
the reference gets the same numbers, widened to `float64`. Two things count: the numbers of the result, and its dtype.
In which dtype an answer computes inside is its own business. The scores of a decoder may also come back in a wider
dtype, since a loss is often taken of `float32`. Not looked at are `shift_matrix` and the tests that catch (nothing
floating goes in) and the three repairs (the task is to mend what is listed, in code written for `float32`).

The tolerances were set from right answers written in many ways: {answers} answers (references, the banks' variants and
those of tests/answers), on the cases of {seeds} seeds. Departures are relative to 1 + |reference|. The rule is **four
times the worst at least**, and in half precision eight, since further seeds give layers that normalise small numbers:
so another processor, or an order of summation nobody thought of, is no fault. What breaks precision is caught by a
dtype, an exception or numbers that are off by more than a half, not by the last digit.
A case may widen its tolerance: distant positions, and the tiny number under the root of a normalisation, which nobody
prescribes. "Room" is the tolerance over the departure of the answer that uses most of it.

| dtype | tolerance | worst | room | which uses most of it |
|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    text = page(measure_all())
    print(text)
    if write:
        (ROOT / "docs" / "precision.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
