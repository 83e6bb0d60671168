"""Decide what a report on hidden cases may show: no text that student code could write.

Code that has seen a hidden input could write it into a shape, a name or a value that a report would quote. So
`redact` makes a new result from texts of the course, from fixed sentences chosen by a finding's code, and from
values that the grader computed. Of an exception, it adds the file, the line number and the name of a built-in class.
Any other text is replaced by a general sentence, or left out.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.bundle.model import Check, Exercise, RecordedCase
from grader.judge.advice import advice, says_and_asks
from grader.judge.exceptions import debugger_message, from_module, lost_message, out_of_memory_message
from grader.judge.finding import earlier_failed
from grader.report.model import NO_DIAGNOSIS, CheckResult, Diagnosis, ExerciseResult
from grader.support.i18n import _
from grader.support.sanitize import sanitize


@dataclass(frozen=True)
class Evidence:
    """What `redact` uses to decide. It never becomes part of a report.

    codes: check id → the code of its finding. facts: codes of the facts in the diagnosis. safe: sentences that may be
    shown, because they contain no text that code could choose after it saw a case. observed: codes of remarks about
    observations. files: name of a file of the submission → its number of lines.
    """

    exercise: Exercise
    codes: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[str, ...] = ()
    safe: frozenset[str] = frozenset()
    observed: tuple[str, ...] = ()
    files: Mapping[str, int] = field(default_factory=dict)


def redact(result: ExerciseResult, evidence: Evidence) -> ExerciseResult:
    """Return the result without any text that student code could have written after it saw a case."""
    exercise = evidence.exercise
    recorded = {check.id: (case, check) for case in exercise.cases for check in case.checks}
    checks = tuple(_check(c, *recorded[c.id], evidence) for c in result.checks if c.id in recorded)
    known = [id for one in result.advice for id in one.mistakes]
    shows_message = not result.message or result.message in evidence.safe
    message = result.message if shows_message else _("a hidden case could not be graded")
    return ExerciseResult(
        name=exercise.name,
        assignment=exercise.assignment,
        outcome=result.outcome,
        score=result.score,
        points=exercise.points,
        title=_(exercise.title),
        message=message,
        checks=checks,
        diagnosis=_diagnosis(result.diagnosis, evidence),
        advice=advice(exercise, checks, evidence.codes, known),
        remarks=(*(r for r in result.remarks if r in evidence.safe), *_observed(evidence)),
        seconds=result.seconds,
        content=_hash(result.content),
        partial=result.partial,
        fix_first=(),  # added afterwards by grader/engine/grade_exercise.py: names of the course
        fingerprint=_hash(result.fingerprint),
    )


def _hash(text: str) -> str:
    return text if re.fullmatch(r"[0-9a-f]{0,64}", text) else ""


# ---- one check

_DEVICES = ("cpu", "sim", "cuda")


def _check(result: CheckResult, case: RecordedCase, check: Check, evidence: Evidence) -> CheckResult:
    code = evidence.codes.get(check.id, "")
    passed = _("enough test sequences are correct") if check.judge == "accuracy" else ""
    return CheckResult(
        id=check.id,
        facet=check.facet,
        title=_(check.title),
        outcome=result.outcome,
        device=result.device if result.device in _DEVICES else "",
        dtype=case.dtype,
        visibility="hidden",
        message=passed if result.outcome == "passed" else _message(check, code, result.message),
        expected=None,
        got=None,
        where="" if result.outcome == "passed" else _where(result.where, case, check, code, evidence.files),
        policy=check.policy,
    )


def _message(check: Check, code: str, message: str) -> str:
    word, _space, rest = code.partition(" ")
    if word == "!BdbQuit":
        return debugger_message()
    if word.startswith("!"):
        what = _("raised {what}").format(what=word[1:]) if _is_builtin(word[1:]) else _("raised an exception")
        faulty = check.params.get("want")
        return f"{what}. {from_module(faulty)}" if rest == "provided" and faulty is not None else what
    if word == "lost":
        why, _space, seconds = rest.partition(" ")  # seconds only if `why` is "time"
        return lost_message(why, seconds)
    says = check.params.get("says")
    if says and (
        (check.judge in ("same", "carries", "witnessed") and word == "differ")
        or word == check.judge == "value"
    ):
        return _(says)
    if check.judge in ("equal", "one_of", "precise") and word == "values":
        return _values(message)
    # The finding's own sentence only helps to choose a fixed one.
    sentences = _of_judge().get(check.judge, {})
    return sentences.get(word) or _of_any_judge().get(word) or _("wrong result")


def _is_builtin(name: str) -> bool:
    """Whether an exception is one of Python's own. A student could choose any other name."""
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, BaseException)


def _values(message: str) -> str:
    if "NaN" in message:
        return _("the result contains NaN")
    if "inf" in message:
        return _("the result contains inf")
    return _("values differ from the expected output")


def _of_any_judge() -> dict[str, str]:
    return {
        "absent": _("no output was observed"),
        "shape": _("wrong shape"),
        "dtype": _("wrong dtype"),
        "odd": _("unexpected type"),
        "unjudged": _("the result could not be checked"),
        "skipped": earlier_failed(),
        "skipped-timeouts": _("skipped: earlier cases did not finish"),
        "skipped-failed": earlier_failed(),
        "skipped-weights": _("skipped: the weights of the case could not be loaded"),
        "no-memory": out_of_memory_message(),
        "fault": _("a hidden case could not be graded"),
    }


def _of_judge() -> dict[str, dict[str, str]]:
    no_effect = _("dropout has no effect in training mode")
    wrong_place = _("dropout is applied at the wrong place")
    rate = _("wrong dropout rate")
    rows = _("whole rows are dropped instead of single elements")
    scale = _("kept values are not scaled to compensate for the dropped ones")
    return {
        "unchanged": {"changed": _("an argument was modified in place")},
        "parameters": {
            "absent": _("the parameters could not be loaded"),
            "parameters": _("the parameters do not have the expected names and shapes"),
        },
        "same": {"differ": _("two results that must be equal differ")},
        "value": {"value": _("wrong value")},
        "raises": {
            "accepted": _("an exception should be raised, but nothing was raised"),
            "raised": _("the wrong exception was raised"),
        },
        "sums_to_one": {"sums": _("attention weights of a query do not sum to 1")},
        "kept_weights": {
            "absent": _("the attribute `attention_weights` is missing"),
            "values": _("`attention_weights` differs from the expected weights"),
        },
        "dropped_weights": {
            "none": _("no attention weight is dropped in training mode"),
            "constant": _("all outputs are identical in training mode"),
            "features:": _("dropout is applied to the output instead of the attention weights"),
            "scale": scale,
            "rate": rate,
            "not": _("NaN or inf in training mode"),
        },
        "dropped_elements": {"none": no_effect, "structure": wrong_place, "rate": rate, "together": rows},
        "dropped_regions": {
            "none": no_effect,
            "structure": wrong_place,
            "rate": rate,
            "together": rows,
            "scale": scale,
            "levels": _("outputs that should differ are equal"),
            "elsewhere": _("dropout is applied where it should not be"),
            "no": _("no attention weight is dropped in training mode"),
            "not": _("NaN or inf in training mode"),
        },
        "varies": {"none": no_effect},
        "accuracy": {"accuracy": _("too few test sequences are correct")},
        "sentences": {
            "count": _("wrong number of sentences"),
            "values": _("some sentences are wrong"),
        },
        "trained": {"absent": _("the returned state dict is incomplete")},
        "moved": {
            "absent": _("the returned state dict is incomplete"),
            "as": _("the returned weights are unchanged by training"),
            "not": _("the returned weights contain NaN or inf"),
            "other": _("the returned weights are not those of this model after training"),
        },
        "cost": {
            "whole": _("the model did not get smaller"),
            "cost": _("too many parameters or operations remain"),
            "little": _("too few parameters or operations remain"),
        },
        "ranks": {"ranks": _("wrong ranking of heads")},
        "all_rows": {
            "seeds": _("too few seeds for an order"),
            "no": _("'removed' must list different heads"),
            "sizes": _("a number of removed heads has no row"),
            "not": _("a removed head reappears in the next row"),
        },
        "accuracies": {
            "empty": _("the table has no rows"),
            "accuracies": _("some accuracies are wrong"),
        },
        "in_order": {
            "none": _("an order is missing"),
            "importance": _("the order `importance` removes important heads first"),
            "reverse": _("the order `reverse` removes unimportant heads first"),
        },
        "drawn": {"one": _("the random order does not depend on the seed")},
    }


# Judges whose findings have as `where` a place on the recorded axes, or the recorded name of a weight.
_PLACED = frozenset(
    ("equal", "one_of", "precise", "same", "unchanged", "sums_to_one", "carries", "kept_weights", "trained")
)


def _where(where: str, case: RecordedCase, check: Check, code: str, files: Mapping[str, int]) -> str:
    if code.startswith(("!", "lost")):
        return next((place for file, lines in files.items() if (place := _line(where, file, lines))), "")
    return where if check.judge in _PLACED and _is_place(where, case) else ""


def _line(where: str, file: str, lines: int) -> str:
    """Return "masking.py, line 3" without the line's text, if the file has this line; "" otherwise.

    Student code can forge a number. Numbers beyond the end of the file could carry more of a hidden input.
    """
    shown = sanitize(file)
    start = _("{file}, line {line}").format(file=shown, line="")
    number = re.match(r"\d{1,7}\b", where.removeprefix(start)) if where.startswith(start) else None
    return start + number[0] if number and int(number[0]) <= lines else ""


def _is_place(where: str, case: RecordedCase) -> bool:
    names = {word for name, header in case.headers.items() for word in (*header.axes, *_words(name))}
    allowed = names | {"row", "feature", "grad"}  # words of `carries`, and of gradients
    return all(word in allowed or (word.isdigit() and len(word) < 6) for word in _words(where))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\s,:\[\]]+", text)


# ---- the rest


def _diagnosis(diagnosis: Diagnosis, evidence: Evidence) -> Diagnosis:
    known = {mistake.id: mistake for mistake in evidence.exercise.mistakes}
    ids = diagnosis.alternatives
    if diagnosis.kind in ("exact", "one_of", "different") and ids:
        if not all(id in known for names in ids for id in names):
            return NO_DIAGNOSIS
        says, asks = says_and_asks([known[id] for id in ids[0]])
        return Diagnosis(diagnosis.kind, ids, says, asks)
    facts = [fact for code in evidence.facts if (fact := _fact(code, evidence.exercise))]
    return Diagnosis("unknown" if diagnosis.kind == "unknown" else "none", (), " ".join(facts))


def _fact(code: str, exercise: Exercise) -> str:
    word, _space, rest = code.partition(" ")
    axes = {axis for case in exercise.cases for header in case.headers.values() for axis in header.axes}
    if word == "axis":
        if rest not in axes:
            return _("The result is wrong only in a part.")
        return _("The result is wrong only in a part of the axis {axis}.").format(axis=rest)
    stages = {stage.title for case in exercise.cases for stage in case.stages}
    if word == "stage" and rest in stages:
        return _("The first intermediate result that differs: {stage}.").format(stage=_(rest))
    return {
        "constant": _("All values are the same, and should not be."),
        "ratio": _("All values are the same multiple of the expected values."),
        "positions": _("The values are right but in the wrong positions."),
        "padding": _("The result is wrong only where there is padding."),
        "masking": _("The result is right without a mask and wrong with a mask."),
        "some-masks": _("The result is right without a mask and with some masks, and wrong with others."),
        "gradients": _("The outputs are right; the gradients are wrong."),
        "modes": _(
            "The result is right in one mode only: compare train(), eval() and step-by-step decoding."
        ),
        "weights": _("The outputs are right; `attention_weights` is wrong."),
    }.get(word, "")


def _observed(evidence: Evidence) -> list[str]:
    ids = {case.id for case in evidence.exercise.cases}
    out = []
    for code in evidence.observed:
        word, _space, rest = code.partition(" ")
        if word == "layout":
            out.append(_("The parameters were matched by shape, not by name."))
        elif word == "measured" and rest in ids:
            out.append(f"{rest}: {_('enough test sequences are correct')}")
    return out
