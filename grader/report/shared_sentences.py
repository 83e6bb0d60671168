"""The words and sentences that several formats of a report share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from grader.report.finding import EXCEPTION
from grader.report.model import (
    Advice,
    CheckOutcome,
    CheckResult,
    Code,
    Decided,
    ExerciseResult,
    Points,
    Report,
)
from grader.support.i18n import _, ngettext


class Look(NamedTuple):
    """How a report shows an outcome: by a mark, a name, and, in a terminal, by a style of rich."""

    mark: str
    name: str
    style: str


LOOKS = {
    "passed": Look("✓", "passed", "green"),
    "failed": Look("✗", "failed", "red"),
    "not_started": Look("○", "not started", "dim"),
    "not_checked": Look("◐", "not checked yet", "dim"),
    "blocked": Look("!", "blocked", "red"),
    "other_interface": Look("≠", "other interface", "red"),
    "could_not_grade": Look("?", "could not be graded", "magenta"),
    "skipped": Look("-", "skipped", "dim"),
    "advice": Look("i", "advice", "yellow"),
}


def outcome_name(outcome: str) -> str:
    """Return the name of an outcome in the reader's language."""
    return _(LOOKS[outcome].name)


def short_outcome_name(outcome: str) -> str:
    """Return a name of a check's outcome that fits in a narrow column."""
    return _("error") if outcome == "could_not_grade" else outcome_name(outcome)


def facet_name(facet: str) -> str:
    """Return the name of a facet in the reader's language."""
    return _(facet)


def points(score: float | None, of: float) -> str:
    """Return "1.5 / 2", or "– / 2" for an exercise without a score."""
    return f"– / {plain_number(of)}" if score is None else f"{plain_number(score)} / {plain_number(of)}"


def total_points(halves: Sequence[Points]) -> str:
    """Return the points of each half of the course that was graded."""
    first, *second = (points(half.score, half.points) for half in halves)
    if not second:
        return _("{score} points").format(score=first)
    return _("{first} points; second half: {second} points").format(first=first, second=second[0])


def diagnosis_lead(kind: str) -> str:
    """Return the words before a diagnosis of this kind; "" if it needs none."""
    return {
        "exact": _("known mistake"),
        "one_of": _("matches several known mistakes, for example"),
        "different": _("this works too, but the exercise asks for something else"),
    }.get(kind, "")


def advice_lines(advice: Advice) -> list[str]:
    """Return the lines of an advice: the problem, its reason and its place. An advice costs no points."""
    why = _("{reason} ({place})").format(reason=advice.reason, place=advice.where)
    return [*filter(None, [advice.says]), why if advice.where else advice.reason]


def advice_given(results: Sequence[ExerciseResult]) -> list[tuple[str, list[str]]]:
    """Return the advice of a report: for each entry, the names of the exercises and the lines of the advice.

    Exercises with the same advice for the same line share an entry.
    """
    found: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for result in results:
        for one in result.advice:
            key = (one.policy, one.where or result.name)
            names, _lines = found.setdefault(key, ([], advice_lines(one)))
            names.append(result.name)
    return [(", ".join(names), lines) for names, lines in found.values()]


def all_passed(report: Report) -> str:
    """Return a sentence for a report without a failure."""
    if report.faulty:
        return _("What was checked passed, but the file has an error: see the note.")
    advised = any(result.advice for result in report.exercises)
    return _("All checks that count passed.") if advised else _("All checks passed.")


AnyCheck = TypeVar("AnyCheck", bound=Decided)
WORST: tuple[CheckOutcome, ...] = ("failed", "could_not_grade", "skipped", "advice", "passed")


def first_failure(checks: Sequence[AnyCheck]) -> AnyCheck | None:
    """Return the first check that failed or could not be graded."""
    return next((c for c in checks if c.outcome in ("failed", "could_not_grade")), None)


class FacetCount(NamedTuple):
    """The checks of one facet: the worst outcome, how many passed, were skipped, and there are in all (`of`)."""

    facet: str
    outcome: CheckOutcome
    passed: int
    skipped: int
    of: int


def facet_counts(checks: Sequence[CheckResult]) -> list[FacetCount]:
    """Return the facets in the order of their first checks."""
    found: dict[str, list[CheckOutcome]] = {}
    for check in checks:
        found.setdefault(check.facet, []).append(check.outcome)
    return [
        FacetCount(facet, min(seen, key=WORST.index), seen.count("passed"), seen.count("skipped"), len(seen))
        for facet, seen in found.items()
    ]


def facet_with_mark(count: FacetCount) -> str:
    """Return "shapes ✓ 6": all six checks passed; "values ✗ 2/5": two of five; "precision skipped": no check ran.

    "modes ✗ 2/5 (1 skipped)": one of the others was skipped. "purity 2/4 (2 skipped)": both of the others were.
    """
    facet = facet_name(count.facet)
    if count.outcome == "passed":
        return f"{facet} {LOOKS[count.outcome].mark} {count.of}"
    if count.skipped == count.of:
        return _("{facet} skipped").format(facet=facet)
    mark = "" if count.outcome == "skipped" else f" {LOOKS[count.outcome].mark}"
    skipped = " " + _("({n} skipped)").format(n=count.skipped) if count.skipped else ""
    return f"{facet}{mark} {count.passed}/{count.of}{skipped}"


def facet_in_words(count: FacetCount) -> str:
    """Return "values: 2 of 5 checks passed.", or "precision: skipped."."""
    if count.skipped == count.of:
        return _("{facet}: skipped.").format(facet=facet_name(count.facet))
    says = _("{facet}: {passed} of {all} checks passed.")
    return says.format(facet=facet_name(count.facet), passed=count.passed, all=count.of)


def problem(result: ExerciseResult, first: CheckResult) -> str:
    """Return what the first failure says; "" if a known mistake says it, unless it is an exception."""
    is_said = result.diagnosis.alternatives and not first.rule.startswith(EXCEPTION)
    return "" if is_said else first.message


def spot(result: ExerciseResult, first: CheckResult) -> str:
    """Return the place of the first failure in a tensor; "" if it is a line, or if a grid shows it."""
    is_drawn = result.picture is not None and result.picture.kind == "grids"
    return "" if first.line or is_drawn else first.where


def place(result: ExerciseResult) -> str:
    """Return the line of the submission's code, and the place in the tensor, as far as they are known."""
    first, code = first_failure(result.checks), result.code
    where = first.where if first is not None else ""
    if code is None:
        return where
    if result.outcome == "other_interface" and code.entry[0]:
        return _line_with_text(code, code.entry[1])
    if first is not None and first.file == code.file:  # the line of an exception, or where code was stopped
        has_text = where != _line_in(first.file, first.line)
        return where if has_text or first.line not in code.marked else _line_with_text(code, first.line)
    line = ""
    if code.marked:
        is_named = (result.file, result.line) == (code.file, code.line)
        line = "" if is_named else _line_with_text(code, code.line)
    # The title and the marks of a grid name the place in the tensor.
    is_drawn = result.picture is not None and result.picture.kind == "grids"
    return " · ".join(filter(None, (line, "" if is_drawn and line else where)))


def _line_with_text(code: Code, number: int) -> str:
    return f"{_line_in(code.file, number)}: {code.lines[number - code.first].strip()}"


def _line_in(file: str, line: object) -> str:
    return _("{file}, line {line}").format(file=file, line=line)


def reason(result: ExerciseResult) -> str:
    """Return in one line why an exercise did not pass; "" if it passed or is not started.

    The known mistake, else the first check that failed and its place, else why no check ran.
    """
    if result.outcome in ("passed", "not_started"):
        return ""
    lead, says = diagnosis_lead(result.diagnosis.kind), result.diagnosis.says
    if result.diagnosis.alternatives:
        return f"{lead}: {says}" if lead else says
    first = first_failure(result.checks)
    if first is None or result.outcome != "failed":
        return result.message.partition("\n")[0]
    where = f" ({place(result)})" if place(result) else ""
    return f"{first.title}: {first.message}{where}" + (f". {says}" if says else "")


def skipped_checks(count: int) -> str:
    return ngettext("{n} more check skipped", "{n} more checks skipped", count).format(n=count)


def grader_error(results: Sequence[ExerciseResult]) -> str:
    """Return what to do if the grader could not grade some exercises; "" if it graded all."""
    if all(result.outcome != "could_not_grade" for result in results):
        return ""
    return _(
        "Some exercises could not be graded, for the reasons above. No points are deducted."
        " If the reason is an error in the grader, please report it to your instructor."
    )


def devices_checked(report: Report) -> str:
    """Name the devices that the cases ran on besides the CPU; "" if there were none."""
    devices = {check.device for result in report.exercises for check in result.checks}
    if devices >= {"sim", "cuda"}:
        return _("checked on the simulated accelerator and on a GPU")
    if "sim" in devices:
        return _("checked on the simulated accelerator")
    return _("checked on a GPU") if "cuda" in devices else ""


def plain_number(number: float) -> str:
    """Return a number of points with at most two decimals and no needless zeros."""
    return f"{round(number, 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # + 0.0: never "-0"
