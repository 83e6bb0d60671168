"""The results of checks, and which answers are trivial.

On hidden cases, results have no text of the student and no expected value.
"""

import json
import re
import warnings

import numpy as np
import pytest
from helpers.minimal import exercise_of

from grader.bundle.model import Check, Header, RecordedCase
from grader.diagnosis.facts import of_numbers
from grader.diagnosis.signature import project
from grader.engine.draft import Draft
from grader.engine.result import written
from grader.judge.compare import is_trivial
from grader.judge.observation import Observation, Seen, StudentError
from grader.judge.verdict import JUDGES, Budget, JudgingTimeoutError, judge_case, unseen_case
from grader.report.finding import Finding, Writer
from grader.report.model import ExerciseResult, Report, to_json
from grader.worker.steps import Filled, Load

WANT = np.random.default_rng(0).standard_normal((2, 3))
SECRET = "0.1234567"
HEADERS = {
    "out": Header((2, 3), "float64", ("batch", "query")),
    "flag": Header((), "value"),
    "parameters": Header((), "value"),
}
CHECKS = {
    "shape": Check("c/shapes", "shapes", "shape", "shape", ("out",)),
    "equal": Check("c/values", "values", "values", "equal", ("out",)),
    "value": Check("c/flag", "values", "flag", "value", ("flag",), {"want": 1234567}),
    "parameters": Check("c/purity", "purity", "names", "parameters", ("parameters",)),
    "raises": Check("c/raises", "values", "refuses", "raises", ("out",), {"type": "ValueError"}),
    "sums_to_one": Check("c/sums", "weights", "sums", "sums_to_one", ("out",)),
    "kept_weights": Check("c/kept", "weights", "kept", "kept_weights", ("out",)),
}
# Parameters for every other judge.
OF_DROPOUT = {"p": 0.5, "keys": 3, "features": 3, "dropped": [0, 2]}
OF_HEADS = {"heads": 2, "table": [4, 3, 1, 0], "kept": 1, "total": 4, "fixed": 0, "planted": [1.0, 2.0]}
OF_TEXTS = {"labels": "a", "lens": "b", "least": 0.9, "rows": "a", "images": "b", "says": "no"}
PARAMS = OF_DROPOUT | OF_HEADS | OF_TEXTS
# What these judges compare, if it is not the result.
OF = {
    "cost": ("flag", "whole"),
    "trained": ("out", "state W"),
    **dict.fromkeys(("varies", "dropped_elements"), ("out", "out")),
    "same": ("out", "other"),
}
STEPS = (Load("m", {"W": Filled((2, 2))}),)


def check_of(judge):
    return CHECKS.get(judge) or Check("c/x", "values", "", judge, OF.get(judge, ("out",)), PARAMS)


def case_for(*judges):
    headers = {**HEADERS, "other": HEADERS["out"]}
    checks = tuple(check_of(j) for j in judges)
    tensors = {"a": np.zeros((2, 3)), "b": np.zeros((2, 2))}
    return RecordedCase("c", "float64", checks, headers, STEPS, tensors=tensors, expected={"out": WANT})


def judged(observation, *judges, hidden=False):
    found = judge_case(case_for(*judges), observation)
    draft, exercise = Draft("failed", checks=found.checks), exercise_of(found.case)
    return written(draft, exercise, Writer(hidden, {"a.py": 100})).checks


def seen(array):
    return {"out": Seen(array.shape, str(array.dtype), array)}


def test_a_right_answer_passes_every_check():
    assert [r.outcome for r in judged(Observation(seen(WANT)), "shape", "equal")] == ["passed", "passed"]


def test_the_first_check_reports_an_exception_others_are_skipped_results_before_it_are_judged():
    error = StudentError("TypeError", "unsupported", ("a.py", 3, "x + y"), "call")
    first, second = judged(Observation({}, error), "shape", "equal")
    assert (first.outcome, first.message) == ("failed", "raised TypeError: unsupported")
    assert first.where == "a.py, line 3: x + y"
    assert (second.outcome, second.message) == ("skipped", "skipped: earlier checks failed")
    assert [r.outcome for r in judged(Observation(seen(WANT), error), "equal", "value")] == [
        "passed",
        "failed",
    ]


def test_only_the_first_check_of_a_lost_case_fails():
    case = RecordedCase("c", "float64", tuple(CHECKS.values()), HEADERS)
    lost = unseen_case(case, "failed", Finding("lost/time")).checks
    assert [r.outcome for r in lost] == ["failed"] + ["skipped"] * (len(CHECKS) - 1)
    unknown = unseen_case(case, "could_not_grade", Finding("fault/case", {"why": "no worker"})).checks
    assert {r.outcome for r in unknown} == {"could_not_grade"}


def test_judging_stops_when_its_budget_is_spent():
    case = case_for("equal")
    with pytest.raises(JudgingTimeoutError):
        judge_case(case, Observation(seen(WANT)), budget=Budget(seconds=-1.0))
    assert judge_case(case, Observation(seen(WANT)), budget=Budget()).checks[0].outcome == "passed"


HOSTILE = "\x1b[2J\u202e" + SECRET
# Rows of a removal experiment: seed, order, accuracy, removed heads.
REMOVED = [[1234567.0, order, 0.1234567, *gone] for order in range(3) for gone in ([-1, -1], [0, -1])]
# Observations with text of the student (HOSTILE) or numbers with the digits 1234, which no hidden check may show.
LEAKS = {
    "message of an exception": Observation(
        {}, StudentError("ValueError", HOSTILE, ("a.py", 3, HOSTILE), "call")
    ),
    "name of an exception": Observation({}, StudentError(HOSTILE, "", None, "call")),
    "name of a type": Observation({"out": Seen(odd=f"a {HOSTILE}"), "flag": Seen(odd=HOSTILE)}),
    "shape": Observation(seen(np.empty((0, 1234567)))),
    "dtype": Observation({"out": Seen((2, 3), HOSTILE, WANT)}),
    "numbers": Observation(seen(np.full((2, 3), float(SECRET)))),
    "plain value": Observation(seen(WANT), values={"flag": 71234567}),
    "counts": Observation(seen(WANT), values={"flag": 1234, "whole": 1230}),
    "a huge count": Observation(seen(WANT), values={"flag": 1234 * 10**400, "whole": 1234 * 10**400}),
    "rows": Observation(seen(np.array(REMOVED))),
    "rows of three seeds": Observation(
        seen(np.array([[1234567.0 + seed, *row[1:]] for seed in range(3) for row in REMOVED]))
    ),
    "rows of no heads": Observation(
        seen(np.array([[1234567.0 + seed, *row[1:3], 1234, 1] for seed in range(3) for row in REMOVED]))
    ),
    "many places": Observation(seen(np.where(np.arange(6).reshape(2, 3) < 4, np.nan, WANT))),
    "names of parameters": Observation(
        {},
        parameters={
            "missing": [HOSTILE],
            "unexpected": [HOSTILE],
            "misshapen": [],
            "shared": [[HOSTILE, "x"]],
            "layout": "",
            "shapes": {HOSTILE: [1234567]},
        },
    ),
}


# Judges whose findings contain a place on the recorded axes.
PLACED = {"equal", "one_of", "precise", "same", "unchanged", "sums_to_one", "carries", "kept_weights"}


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("way", LEAKS)
def test_hidden_checks_hold_no_student_text_and_no_expected_value(way, judge):
    for result in judged(LEAKS[way], judge, hidden=True):
        if result.outcome == "passed":
            continue
        assert (result.expected, result.got, result.visibility) == (None, None, "hidden")
        report = Report((ExerciseResult("f", "a", "failed", 0.0, 1.0, checks=(result,)),), "basic", "", "")
        visible = json.dumps(to_json(report))
        assert "1234" not in visible
        assert f"{float(SECRET):.4f}"[2:] not in visible
        assert result.message
        # A fixed sentence says that rows do not sum "to 1".
        assert not re.search(r"\d", result.message.replace("to 1", ""))
        assert result.where == "a.py, line 3" or judge in PLACED or not re.search(r"\d", result.where)
    for result in judged(LEAKS[way], judge):
        shown = "".join(filter(None, (result.message, result.expected, result.got, result.where)))
        assert not {"\x1b", "\u202e"} & set(shown), "no report contains control characters"


@pytest.mark.parametrize("judge", ["cost", "value"])
@pytest.mark.parametrize(
    "number", [float("nan"), float("inf"), -float("inf"), 10**400, -(10**400), -4, 0, True]
)
def test_an_unusual_number_is_judged_and_fails(judge, number):
    for values in (
        {"flag": number, "whole": number},
        {"flag": 1234, "whole": number},
        {"flag": number, "whole": 1234},
    ):
        if judge == "value" and values["flag"] == 1234:
            continue  # `value` does not read "whole"
        for hidden in (True, False):
            (result,) = judged(Observation(seen(WANT), values=values), judge, hidden=hidden)
            assert result.outcome == "failed"


# ---- trivial answers


X = np.random.default_rng(1).standard_normal((2, 3))


def trivial(got, want=WANT):
    case = RecordedCase("c", "float64", (CHECKS["equal"],), HEADERS, tensors={"X": X}, expected={"out": want})
    return is_trivial([(case, Observation(seen(got)))])


@pytest.mark.parametrize(
    ("got", "is_trivial"),
    [
        pytest.param(np.zeros((2, 3)), True, id="zeros"),
        pytest.param(np.full((2, 3), 7.0), True, id="a constant"),
        pytest.param(np.full((2, 3), np.nan), True, id="NaN"),
        pytest.param(X, True, id="an input"),
        pytest.param(X.reshape(3, 2), True, id="an input reshaped"),
        pytest.param(np.repeat(X.mean(0, keepdims=True), 2, 0), True, id="a mean"),
        pytest.param(WANT, False, id="right"),
        pytest.param(WANT * 2, False, id="scaled"),
        pytest.param(X * 2, False, id="an input scaled"),
        pytest.param(-X, False, id="an input negated"),
    ],
)
def test_a_result_without_a_computation_is_trivial(got, is_trivial):
    assert trivial(got) == is_trivial


def test_no_result_is_trivial_if_the_expected_output_is_constant():
    assert not trivial(np.zeros((2, 3)), want=np.ones((2, 3)))


# ---- large values


def test_values_near_the_float_limit_raise_no_warning():
    huge, want = np.full((2, 3), 1.7e308), np.full((2, 3), 0.1)
    huge[0] *= -1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_numbers(huge, want, (), 1e-5)
        project(huge)
