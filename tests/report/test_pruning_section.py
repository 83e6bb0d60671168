"""The pruning section: the cost and the savings of removed heads, in a terminal and as HTML."""

from __future__ import annotations

import io

import numpy as np
import pytest
from helpers.html_reader import assert_fetches_nothing
from rich.cells import cell_len
from rich.console import Console

from grader.bundle.check import Check
from grader.bundle.model import Header, RecordedCase
from grader.engine.figures import figures
from grader.judge.observation import Observation, Seen
from grader.judge.verdict import judge_case
from grader.report.html import page
from grader.report.model import ExerciseResult, Report, to_json
from grader.report.pruning_pictures import advice, pictures, ranking
from grader.report.terminal import show

IMPORTANCE = {
    "planted": [0.4, 1.0, 0.1, 0.6],
    "ablation": [2.0, 9.0, -0.1, 4.0],
    "gradient": [1.0, 3.0, 0.2, 2.0],
    "confidence": [0.6, 0.3, 0.9, 0.4],
}
REMOVALS = {
    "whole": 0.9,
    "possible": [[0.5, 0.7, 0.9], [0.4, 0.6, 0.85], [0.3, 0.4, 0.7]],
    "importance": [[0.9, 0.9, 0.9], [0.85, 0.85, 0.85], [0.7, 0.7, 0.7]],
    "random": [[0.6, 0.7, 0.8], [0.5, 0.6, 0.7], [0.3, 0.5, 0.7]],
    "reverse": [[0.5, 0.5, 0.5], [0.4, 0.4, 0.4], [0.3, 0.3, 0.3]],
}
COSTS = {
    "kept": 2,
    "total": 4,
    "parameters": [1088, 552],
    "operations": [80864, 40432],
    "milliseconds": [[0.5, 0.75], [0.3, 0.45]],
}


def result(name="head_importance", assignment="10_pruning", **drawn):
    return ExerciseResult(name, assignment, "passed", 3.0, 3.0, figures=drawn)


def report(*results):
    return Report(results, sandbox="strict", torch="2", grader="0")


ALL = report(
    result(importance=IMPORTANCE),
    result("prune_heads", costs=COSTS),
    result("removal_experiment", removals=REMOVALS),
)


def printed(report, *, width=80, full=False, words=False):
    out = io.StringIO()
    show(report, Console(file=out, width=width, no_color=True, highlight=False), full=full, words=words)
    return out.getvalue()


def test_heads_are_ranked_and_the_advice_removes_the_weakest():
    assert ranking(IMPORTANCE) == [1, 3, 0, 2]
    assert "in this order: 2, 0." in advice(IMPORTANCE)
    by_confidence = {key: IMPORTANCE[key] for key in ("planted", "confidence")}
    assert ranking(by_confidence) == [2, 0, 3, 1]


def test_the_terminal_draws_all_parts_in_80_columns():
    text = printed(ALL)
    assert "\x1b" not in text
    assert max(map(cell_len, text.splitlines())) <= 80
    bars = [line for line in text.splitlines() if {"█", "░"} <= set(line) and "┤" not in line]
    assert [line.split()[0] for line in bars[:4]] == ["1", "3", "0", "2"]
    for part in (
        "in this order: 2, 0",
        "by importance",
        "heads removed",
        "1,088",
        "552",
        "50.7 %",
        "50.0 %",
        "0.30 – 0.45",
    ):
        assert part in text, part
    chart = [line for line in text.splitlines() if "┤" in line]
    assert len(chart) == 10
    # +: no head removed; A: removed by importance; V: in reverse
    assert "+" in chart[0]
    assert chart[0].index("A") > chart[0].index("+")
    assert sum(line.count("A") for line in chart) == sum(line.count("V") for line in chart) == 3


def test_words_say_what_the_pictures_draw():
    text = printed(ALL, words=True)
    assert not set(text) & set("█░┤")
    for part in (
        "1, ablation: 9.",
        "by importance: 0.90, 0.85, 0.70.",
        "parameters: before 1,088, after 552, left 50.7 %.",
    ):
        assert part in text, part


def test_the_terminal_shows_the_section_of_a_course_only_in_full():
    course = report(*ALL.exercises, result("masked_softmax", "02_masking"))
    assert "remove half of the heads" not in printed(course)
    assert "remove half of the heads" in printed(course, full=True)
    assert "remove half of the heads" in page(course)
    assert "Pruning" not in printed(report(result()))
    assert pictures([{}, {}]) == []


def test_the_page_draws_all_parts_without_script_or_link():
    text = page(ALL)
    lines = [value for tag, value in assert_fetches_nothing(text).classes if tag == "polyline"]
    # each curve, and its line in the legend
    assert lines == [f"hw-line{number}" for number in (1, 2, 3) for _ in range(2)]
    for part in ("in this order: 2, 0", "any choice of heads", "1,088", "never graded"):
        assert part in text, part


def test_json_has_figures_only_if_something_is_drawn():
    record = to_json(report(result(costs=COSTS), result("gated_attention")))
    assert record["exercises"][0]["figures"] == {"costs": COSTS}
    assert "figures" not in record["exercises"][1]


# ---- values from observations


def taken(check, seen=None, values=None):
    """Return the figures from an observation.

    The case also has the check `all_rows`: removals are drawn only if it passes.
    """
    rows = Check("rows", "shapes", "", "all_rows", check.of, {"heads": 2})
    case = RecordedCase("c", "f", "float32", (), (check, rows), {}, {"x": Header((2,), "float32")}, {})
    observation = Observation({} if seen is None else {"x": seen}, values=values or {})
    return figures([judge_case(case, observation)])


def of(array):
    return Seen(np.shape(array), "float64", np.array(array, dtype=float))


@pytest.mark.parametrize("bad", [None, of([1.0, np.nan]), of([1.0, 2.0, 3.0]), Seen(odd="None")])
def test_importances_are_drawn_if_whole_and_finite(bad):
    check = Check(
        "c", "values", "", "equal", ("x",), {"draw": "importance", "method": "ablation", "planted": [1, 2]}
    )
    assert taken(check, of([3.0, 4.0])) == {"importance": {"planted": [1.0, 2.0], "ablation": [3.0, 4.0]}}
    assert taken(check, bad) == {}


def test_costs_are_drawn_with_times_if_measured():
    check = Check("c", "pruning", "", "cost", ("a", "b"), {"draw": "costs", "kept": 1, "total": 2})
    counted = {"parameters before": 4, "parameters after": 2}
    assert taken(check, values=counted) == {"costs": {"kept": 1, "total": 2, "parameters": [4, 2]}}
    names = ("milliseconds before", "milliseconds after")
    timed = {**counted, **dict.fromkeys(names, 1.0), **{f"{n} at most": 2.0 for n in names}}
    assert taken(check, values=timed)["costs"]["milliseconds"] == [[1.0, 2.0], [1.0, 2.0]]
    assert "milliseconds" not in taken(check, values={**timed, "milliseconds after": float("inf")})["costs"]
    assert taken(check) == {}
    for bad in (0, -4, True, 4.0, float("nan"), float("inf"), 1 << 62, 10**400):
        for name in counted:
            assert taken(check, values={**counted, name: bad}) == {}
    largest = taken(check, values=dict.fromkeys(counted, (1 << 62) - 1))["costs"]
    assert "100.0 %" in printed(report(result("prune_heads", costs=largest)))


def test_removals_are_drawn_with_the_band_of_all_choices():
    # table: how many of 4 answers are right without no head, without head 0, head 1, and both.
    params = {"draw": "removals", "table": [4, 3, 1, 0], "total": 4}
    check = Check("c", "values", "", "accuracies", ("x",), params)
    # A row: seed, order, accuracy, and the removed heads, filled up with -1.
    rows = [[s, order, 0.75, 0, -1] for s in range(3) for order in range(3)]
    drawn = taken(check, of(rows))["removals"]
    assert drawn["whole"] == 1.0
    assert drawn["possible"] == [[0.25, 0.5, 0.75]]
    assert drawn["importance"] == drawn["random"] == [[0.75, 0.75, 0.75]]
    assert taken(check, of([[*row[:2], 75.0, *row[3:]] for row in rows])) == {}  # an accuracy in percent
    assert taken(check, of(rows[:-1])) == {}  # a row is missing
