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
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from grader.bank import apply
from grader.bundle import RecordedCase
from grader.content import Assignment, read_all
from grader.intake.names import match, read_names
from grader.intake.read import Submission, Unit
from grader.judge import JUDGES
from grader.judge.finding import TOLERANCE
from grader.record import _recorded, definitions, observe

ROOT = Path(__file__).resolve().parents[1]
ANSWERS = ROOT / "tests" / "answers"
SEEDS = ("public", "precision-1", "precision-2", "precision-3")
ORDER = ("float64", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Measured:
    """One answer in one dtype: how far it is off at most, and what failed, if anything did."""

    exercise: str
    answer: str
    dtype: str
    worst: float
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


def _judged(
    assignment: Assignment, exercise: str, seed: str, given: Sequence[str]
) -> Iterator[RecordedCase]:
    """The cases about precision, and those that they repeat, with what the reference gives."""
    cases = assignment.cases(exercise, seed)
    wanted = {case.like or case.id for case in cases if any(c.judge == "precise" for c in case.checks)}
    cases = [case for case in cases if (case.like or case.id) in wanted]
    reference = observe(assignment.source, given, cases)
    for case in cases:
        yield _recorded(case, reference[case.id], {})


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
    worst, failed = 0.0, ""
    for case in cases:  # one at a time: the same id occurs for every seed
        seen = observe(source, given, [case], dtype)[case.id]
        for check in case.checks:
            if check.judge not in ("precise", "equal") or check.facet in ("gradients",):
                continue
            finding = JUDGES[check.judge](check, case, seen)
            if not finding.passed:
                failed = f"{case.id}: {seen.error.message if seen.error else finding.message}"
            for name in check.of:
                got = seen.seen.get(name)
                if got is not None and got.array is not None and got.shape == case.expected[name].shape:
                    worst = max(worst, _departure(got.array, case.expected[name]))
    return Measured(exercise, answer, dtype, worst, failed)


def _departure(got: np.ndarray, want: np.ndarray) -> float:
    """The largest departure, relative to 1 + |reference|, as the judge takes it."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(np.abs(got - want) / (1 + np.abs(want)), nan=np.inf).max(initial=0.0))


def measure_all(seeds: Sequence[str] = SEEDS) -> list[Measured]:
    jobs = [(a, f["name"]) for a in read_all(ROOT / "solutions") for f in a.exercises]
    with ProcessPoolExecutor() as pool:
        return [m for found in pool.map(partial(measure, seeds=seeds), *zip(*jobs, strict=True)) for m in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    found = measure_all()
    for m in found:
        if m.failed:
            print("FAILED", m)
    for ex in dict.fromkeys(m.exercise for m in found):
        line = f"{ex:26}"
        for d in ORDER:
            mine=[m for m in found if m.exercise==ex and m.dtype==d]
            if mine:
                w=max(mine,key=lambda m:m.worst)
                line += f" {d} {len(mine)} {w.worst:.1e} ({w.answer[:30]})"
        print(line)


if __name__ == "__main__":
    main()
