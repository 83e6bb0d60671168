"""The draft of a result: what a try at an exercise found, as data, and its points. `result.py` writes it for a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from grader.bundle.model import Exercise
from grader.diagnosis.match import NOTHING, Diagnosed, diagnose
from grader.diagnosis.signature import fingerprint, named_by
from grader.engine.student_file import StudentFile
from grader.intake.uses import Use, uses
from grader.judge.compare import is_trivial
from grader.judge.observation import Observation
from grader.judge.pictures import first_picture, passed_picture
from grader.judge.verdict import (
    SKIPPED,
    UNJUDGED,
    JudgedCase,
    JudgedCheck,
    skipping,
    unseen_case,
    without_moot,
)
from grader.report.finding import EXCEPTION, Fact
from grader.report.model import Decided, Outcome
from grader.report.picture import Picture
from grader.report.shared_sentences import first_failure
from grader.support.sanitize import sanitize

PRINTED_LINES, PRINTED_COLUMNS = 5, 200  # that a report shows of what an answer printed


@dataclass(frozen=True)
class Draft:
    """What one try at an exercise found.

    message: why it is blocked or could not be graded, or the common cause of its failures. slip: a slip in the text
    that begins the diagnosis. draw: draws its picture. For the other fields see `ExerciseResult`.
    """

    outcome: Outcome
    message: Fact | None = None
    remarks: tuple[Fact, ...] = ()
    score: float = 0.0
    checks: tuple[JudgedCheck, ...] = ()
    diagnosed: Diagnosed = NOTHING
    slip: Fact | None = None
    draw: Callable[[], Picture | None] = lambda: None
    printed: str = ""
    partial: bool = False
    fingerprint: str = ""
    points: float | None = None  # of the exercise, if it is graded for others than its own


def unjudged(exercise: Exercise, remark: Fact) -> Draft:
    """Return a failed draft with no points.

    Use it if judging this submission raised an exception, and judging a plain file did not.
    """
    first, *others = exercise.cases
    skipped = (unseen_case(case, "skipped", SKIPPED) for case in others)
    return Draft(
        "failed", remarks=(remark,), checks=_checks([unseen_case(first, "failed", UNJUDGED), *skipped])
    )


def draft_of(
    file: StudentFile, exercise: Exercise, cases: Sequence[JudgedCase], remarks: tuple[Fact, ...] = ()
) -> Draft:
    """Return the draft of judged cases, without costly ones if these were left out.

    remarks: facts from before any case ran.
    """
    checks = _checks(cases)
    ungraded = next((c for c in checks if c.counts and c.outcome == "could_not_grade"), None)
    if ungraded is not None:
        return Draft("could_not_grade", Fact("ungraded", {"why": ungraded.finding}), checks=checks)
    passed = all(check.outcome == "passed" for check in checks if check.counts)
    by_id = {judged.case.id: judged for judged in cases if judged.observation is not None}
    observations = {id: judged.observation for id, judged in by_id.items() if judged.observation}
    used = _uses(file, exercise, observations.values())
    all_passed = all(check.outcome == "passed" for check in checks)  # also those that only give advice
    diagnosed = NOTHING if all_passed else diagnose(exercise, by_id, checks)
    shown, cause = (checks, None) if passed else _shown(exercise, cases, checks, diagnosed)
    observed = (*_layouts(observations.values()), *_measured(exercise, checks))
    reached = Fraction(1) if passed else _share(exercise, checks, observations)
    is_unknown = diagnosed.kind == "unknown" and bool(by_id)
    return Draft(
        "passed" if passed else "failed",
        cause,
        (*remarks, *_on_unjudged(shown), *observed, *used),
        score(exercise.points, reached * (1 - exact(exercise.forbids_costs)) if used else reached),
        shown,
        diagnosed,
        fingerprint=fingerprint(named_by(exercise.cases), by_id) if is_unknown else "",
        draw=partial(_drawn, passed, shown, list(by_id.values())),
        printed=_printed(shown, cases),
        partial=len(cases) < len(exercise.cases),
    )


def _share(
    exercise: Exercise, checks: Sequence[JudgedCheck], observations: Mapping[str, Observation]
) -> Fraction:
    """Return the share of the points of a failed answer: none if it computes nothing."""
    seen = [(case, observations[case.id]) for case in exercise.cases if case.id in observations]
    values_fail = any(c.counts and c.facet == "values" and c.outcome != "passed" for c in checks)
    return Fraction(0) if values_fail and is_trivial(seen) else share(exercise.weights, checks)


def _uses(file: StudentFile, exercise: Exercise, observations: Iterable[Observation]) -> list[Fact]:
    """Return remarks on forbidden calls: those in the text with their line, and those that were only observed."""
    found = uses(file.submission, file.alias(exercise), exercise.forbids)
    made = {call for observation in observations for call in observation.used} - {use.call for use in found}
    found = [*found, *(Use(call, "", 0) for call in exercise.forbids if call in made)]
    costs = exercise.forbids_costs or None
    return [
        Fact("uses", {"call": use.call, "share": costs, "file": use.unit or None, "line": use.line or None})
        for use in found
    ]


def _checks(cases: Iterable[JudgedCase]) -> tuple[JudgedCheck, ...]:
    return tuple(check for judged in cases for check in judged.checks)


def _drawn(passed: bool, checks: Sequence[JudgedCheck], cases: Sequence[JudgedCase]) -> Picture | None:
    """Return the picture of the first failure, or of what a right answer measured; None if there is none.

    Values that cannot be drawn must not change an outcome.
    """
    try:
        return passed_picture(cases) if passed else first_picture(checks, cases)
    except Exception:
        return None


def _printed(checks: Sequence[JudgedCheck], cases: Sequence[JudgedCase]) -> str:
    first = first_failure(checks)
    for judged in cases:
        if first is not None and any(check.id == first.id for check in judged.case.checks):
            text = (judged.observation.printed if judged.observation else judged.printed).strip("\n")
            lines = text.splitlines()
            kept = [sanitize(line, PRINTED_COLUMNS) for line in lines[:PRINTED_LINES]]
            return "\n".join([*kept, "…"] if len(lines) > PRINTED_LINES else kept)
    return ""


def _on_unjudged(checks: Iterable[JudgedCheck]) -> list[Fact]:
    """Return a remark on the checks whose judge raised an exception: they failed, and the grader may be at fault."""
    ids = ", ".join(check.id for check in checks if check.finding.rule == UNJUDGED.rule)
    return [Fact("instructor/checks", {"checks": ids})] if ids else []


def _layouts(observations: Iterable[Observation]) -> list[Fact]:
    loaded = sorted({o.parameters["layout"] for o in observations if o.parameters} - {""})
    return [Fact("layout", {"layout": sanitize(layout, 100)}) for layout in loaded]


MEASURED = {"accuracy": "measured", "loss": "measured/loss"}  # judge → the rule of its remark


def _measured(exercise: Exercise, checks: Sequence[JudgedCheck]) -> list[Fact]:
    """Return what a trained model reached as a remark. A failed check gets none: its message has the number."""
    of = {check.id: case.id for case in exercise.cases for check in case.checks}
    fine = (c for c in checks if c.check.judge in MEASURED and c.facet == "values" and c.outcome == "passed")
    return [Fact(MEASURED[c.check.judge], {"case": of[c.id], **c.finding.data}) for c in fine]


# ---- one cause instead of its many effects, if no known mistake was found

# The checks to show instead of the judged ones, and the cause.
Shown = tuple[tuple[JudgedCheck, ...], Fact | None]


def _shown(
    exercise: Exercise, cases: Sequence[JudgedCase], checks: tuple[JudgedCheck, ...], diagnosed: Diagnosed
) -> Shown:
    """Return the checks of a failed answer as the report shows them.

    If no known mistake was found, a common cause comes first, if there is one. Advice about a policy is skipped
    unless a known mistake explains it.
    """
    shown, cause = checks, None
    if not diagnosed.alternatives:
        shown, cause = _one_exception(cases, checks) or _weights(cases, checks) or (checks, None)
    return without_moot(exercise, shown, diagnosed.policies), cause


def _one_exception(judged: Sequence[JudgedCase], checks: tuple[JudgedCheck, ...]) -> Shown | None:
    """If every case raised the same exception, keep the first failed check and skip the other failed checks.

    Cases in which a check gave advice do not count.
    """
    counting = [one for one in judged if not any(check.outcome == "advice" for check in one.checks)]
    errors = [one.observation.error if one.observation else None for one in counting]
    same = {(e.type, e.message, e.where) if e else None for e in errors}
    if len(counting) < 2 or len(same) != 1 or None in same:
        return None
    failed = [check for check in checks if check.outcome == "failed"]
    if len(failed) < 2:
        return None
    cause = Fact("cause/exception") if failed[0].finding.kind == EXCEPTION else None
    return skipping(checks, [check.id for check in failed[1:]], "skipped/same"), cause


def _weights(judged: Sequence[JudgedCase], checks: tuple[JudgedCheck, ...]) -> Shown | None:
    """If weights could not be loaded, put the check of the parameters first and skip checks that saw random weights.

    A check that reports an exception keeps its outcome.
    """
    failed = {c.id for c in checks if c.outcome == "failed" and c.finding.kind != EXCEPTION}
    of_weights = {check.id for check in checks if check.check.judge == "parameters"} & failed
    if not of_weights:
        return None
    parameters = [(one, one.observation.parameters) for one in judged if one.observation]
    unmatched = [
        one for one, found in parameters if found and (found.get("missing") or found.get("misshapen"))
    ]
    on_random_weights = {c.id for one in unmatched for c in one.checks if c.facet != "shapes"} & failed
    first = tuple(check for check in checks if check.id in of_weights)
    rest = tuple(check for check in checks if check.id not in of_weights)
    return (*first, *skipping(rest, on_random_weights, "skipped/weights")), Fact("cause/weights")


# ---- points

FORM = frozenset(("shapes", "purity", "cost"))  # facets that pass even if all values are arbitrary
# The factor for FORM facets if the exercise has other facets and none of these passes.
FORM_ALONE = Fraction(1, 2)
# The largest share of the points if this facet fails.
CAPS = {
    "values": Fraction(1, 4),
    "masking": Fraction(1, 2),
    "modes": Fraction(1, 2),
    "training": Fraction(1, 2),
}


def share(weights: Mapping[str, float], checks: Sequence[Decided]) -> Fraction:
    """Return the share of the points that these checks give. weights: facet → weight; the default is 1.

    A failed facet in CAPS limits the share. If only facets in FORM pass, and the exercise has others, they count half.
    Checks of a policy do not count, nor does a facet with a check that could not be graded.
    """
    checks = [check for check in checks if check.counts]
    unknown = {c.facet for c in checks if c.outcome == "could_not_grade"}
    facets = {c.facet for c in checks} - unknown
    passed = {f for f in facets if all(c.outcome == "passed" for c in checks if c.facet == f)}
    weight = {f: exact(weights.get(f, 1.0)) for f in facets}
    total = sum(weight.values())
    if not total:
        return Fraction(0)
    found = sum((weight[f] for f in passed), Fraction(0)) / total
    if passed <= FORM and not facets <= FORM:
        found *= FORM_ALONE
    return min(found, *(most for facet, most in CAPS.items() if facet in facets - passed), Fraction(1))


def score(points: float, share: Fraction) -> float:
    """Return a share of the points, rounded half up to one decimal. The whole share is exactly the points.

    This is the only place where points are rounded. The arithmetic is exact: 2.25 gives 2.3.
    """
    tenths = int(exact(points) * share * 10 + Fraction(1, 2))
    return float(points) if share == 1 else min(float(points), tenths / 10)


def exact(number: float) -> Fraction:
    """Return a number as its decimal digits say: 0.1 is a tenth, which no binary number is."""
    return Fraction(str(number))
