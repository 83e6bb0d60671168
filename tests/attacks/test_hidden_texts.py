"""Every text of a hidden report is a sentence for hidden reports, a text of the course, or a line of the submission."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, is_dataclass
from itertools import chain
from string import Formatter
from typing import Any, get_args

import pytest
from attacks.test_hidden import LEAKS, ROOT, hidden, hidden_bundle, leaking
from helpers.minimal import submission_of

from grader.authoring.bank import apply
from grader.authoring.content import read_all
from grader.bundle.model import FACETS, POLICIES, Exercise
from grader.engine.engine import Engine
from grader.engine.grading import HIDDEN, GradingOptions
from grader.report import model
from grader.report.sentences import ROWS, SAFE, WRONG_RESULT

__all__ = ["hidden", "hidden_bundle"]  # fixtures

FILE = "answer.py"
LINE = rf"{re.escape(FILE)}, line \d{{1,3}}"
ASSIGNMENTS = read_all(ROOT / "solutions")
WORDS = [*FACETS, *POLICIES, *chain(*map(get_args, (model.Outcome, model.CheckOutcome, model.Kind)))]
BUILTIN = [
    name
    for name, found in vars(builtins).items()
    if isinstance(found, type) and issubclass(found, BaseException)
]


def one_of(texts: Iterator[str] | list[str]) -> str:
    return f"(?:{'|'.join(dict.fromkeys(texts))})"


def literally(texts: Any) -> str:
    return one_of([re.escape(text) for text in texts])


class Allowed:
    """What the texts in a hidden report on one exercise may be: field → a regular expression."""

    def __init__(self, exercise: Exercise):
        cases = exercise.cases
        headers = [header for case in cases for header in case.headers.items()]
        checks = [check for case in cases for check in case.checks]
        stages = [stage.title for case in cases for stage in case.stages]
        self.safe = {
            "axis": literally(
                name
                for _name, header in headers
                for axis in header.axes
                for joined in [axis.partition("/")[0]]
                for name in (joined, *joined.split("·"))
            ),
            "builtin": literally(BUILTIN),
            "case": literally(case.id for case in cases),
            "says": literally(c.params["says"] for c in checks if c.params.get("says")),
            "seconds": r"\d{1,3}(?:\.\d)?",
            "stage": literally(stages),
        }
        assert self.safe.keys() == SAFE
        late = [self.filled(text) for row in ROWS.values() if not row.early for text in row.hidden]
        advice = [
            re.escape(text) for rule, row in ROWS.items() if rule.startswith("advice/") for text in row.hidden
        ]
        message = rf"(?:{one_of([*late, re.escape(WRONG_RESULT)])}(?:\. {one_of(advice)})?)?"
        # From before a case ran. "text" is a sentence about a sandbox that failed.
        early = [
            self.filled(text)
            for rule, row in ROWS.items()
            if row.early and rule != "text"
            for text in row.hidden
        ]
        remark = one_of([*late, *early])
        fact = one_of([rf"{self.filled(t[:1].upper() + t[1:])}\." for r in ROWS.values() for t in r.hidden])
        place = rf"{self.safe['axis']} \d{{1,5}}|\[[\d, ]+\]|(?:row|feature) \d{{1,5}}"
        name = literally(word for name, _header in headers for word in (name, name.removeprefix("state ")))
        where = rf"(?:{LINE}|{name}|(?:{name}: )?(?:{place})(?:, (?:{place}))*)?"
        says = literally(mistake.says for mistake in exercise.mistakes)
        known = rf"{says}(?:\. In addition: {says})*"
        title = literally([exercise.title, *(check.title for check in checks)])
        course = literally(
            [exercise.name, exercise.assignment, *(m.id for m in exercise.mistakes), *(c.id for c in checks)]
        )
        words = literally([*WORDS, "cpu", "sim", "float16", "bfloat16", "float32", "float64", "hidden", ""])
        asks = literally(["", *(mistake.asks for mistake in exercise.mistakes)])
        rules = literally(["", *(rule for rule, row in ROWS.items() if row.hidden)])
        self.fields = {
            **dict.fromkeys(("name", "assignment", "id", "alternatives", "mistakes", "checks"), course),
            **dict.fromkeys(("facet", "policy", "outcome", "kind", "device", "dtype", "visibility"), words),
            **dict.fromkeys(("content", "fingerprint"), r"[0-9a-f]{0,64}"),
            **dict.fromkeys(("printed", "got", "expected"), ""),
            "title": title,
            "CheckResult.message": message,
            "ExerciseResult.message": rf"(?:{remark})?",
            "reason": f"{title}: {message}",
            "remarks": remark,
            "where": where,
            "file": f"{re.escape(FILE)}|",
            "Diagnosis.says": rf"{known}|(?:{LINE}: [^;]*(?:; )?)?(?:{fact} ?)*",
            "Advice.says": f"(?:{known})?",
            "asks": asks,
            "rule": rules,
        }

    def filled(self, text: str) -> str:
        """Return what a sentence may be. What is not in SAFE comes from the text of the submission."""
        parts = Formatter().parse(text)
        known = {**self.safe, "file": re.escape(FILE), "line": r"\d{1,3}"}
        return "".join(
            re.escape(before) + (known.get(name, ".+") if name else "") for before, name, *_rest in parts
        )

    def forbidden(self, result: model.ExerciseResult) -> list[tuple[str, str]]:
        """Return the texts that a hidden report must not have, with their fields."""
        found = []
        for kind, field, text in texts(result):
            allowed = self.fields.get(f"{kind}.{field}") or self.fields.get(field)
            assert allowed is not None, f"what may be in {kind}.{field}?"
            if not re.fullmatch(allowed, text, re.DOTALL):
                found.append((f"{kind}.{field}", text))
        return found


def texts(value: Any, kind: str = "", field: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield every text in a result, with its class and its field."""
    if isinstance(value, str):
        yield kind, field, value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from texts(part, kind, field)
    elif is_dataclass(value):
        for one in fields(value):
            yield from texts(getattr(value, one.name), type(value).__name__, one.name)
    else:
        assert value is None or isinstance(value, bool | int | float), (kind, field, value)


KNOWN: dict[int, Allowed] = {}  # per exercise of an engine


def assert_only_allowed(engine: Engine, source: str, wanted: list[str]) -> list[model.ExerciseResult]:
    results = list(engine.grade(submission_of(source, FILE), wanted).exercises)
    for result in results:
        exercise = engine.exercises[result.name]
        allowed = KNOWN.setdefault(id(exercise), Allowed(exercise))
        assert allowed.forbidden(result) == []
        assert max((check.line for check in result.checks), default=0) <= len(source.splitlines())
    return results


def wrong_answers(name: str) -> Iterator[tuple[str, str]]:
    """Yield the exercise and the source of each wrong answer of an assignment's bank."""
    for assignment in ASSIGNMENTS:
        if assignment.name == name:
            for answer in (*assignment.mistakes(), *assignment.mutants()):
                yield answer.of, apply(answer, assignment.source)


def test_wrong_answers_on_a_hidden_seed(hidden):
    sources = list(wrong_answers("02_masking"))[::4]
    found = [assert_only_allowed(hidden, source, [exercise])[0] for exercise, source in sources]
    failed = [check for result in found for check in result.checks if check.outcome == "failed"]
    assert len({check.message for check in failed}) >= 5, "these answers fail in the same way"
    assert any(result.diagnosis.says for result in found)


@pytest.mark.parametrize("leak", ["printed", "raised", "name of an exception", "error", "layout"])
def test_answers_that_show_a_hidden_input(hidden, leak):
    for result in assert_only_allowed(hidden, leaking(LEAKS[leak]), ["sequence_mask", "masked_softmax"]):
        assert result.outcome == "failed"


@pytest.fixture(scope="module")
def closed(engine, bundles):
    """Return an engine that takes the recorded cases for hidden ones, and knows the mistakes of the bank."""
    with closing(Engine(bundles, engine.launcher, GradingOptions(terms=HIDDEN, quick=True))) as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize(("name", "of"), [(a.name, e.name) for a in ASSIGNMENTS for e in a.exercises])
def test_all_wrong_answers_of_the_bank(closed, name, of):
    sources = [source for exercise, source in wrong_answers(name) if exercise == of]
    assert sources
    for source in sources:
        assert_only_allowed(closed, source, [of])


@pytest.mark.slow
def test_all_ways_to_show_a_hidden_input(hidden):
    for leak in LEAKS.values():
        assert_only_allowed(hidden, leaking(leak), ["sequence_mask", "masked_softmax"])
