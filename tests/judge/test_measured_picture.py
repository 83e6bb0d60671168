"""What a right answer measured: the importance of heads, and the accuracy over removed heads."""

import io

import numpy as np
from judge.conftest import parts
from rich.console import Console

from grader.judge.pictures import measured_picture
from grader.judge.verdict import judge_case
from grader.report.html import page
from grader.report.model import ExerciseResult, Report
from grader.report.picture import in_words
from grader.report.terminal import plain, show


def drawn(*asked, heads=4):
    """Return the picture of cases. asked: the parameters of a check, and what was observed for it."""
    cases = []
    for params, result in asked:
        judge, want = params.pop("judge", "equal"), {"x": np.zeros(heads)}
        _check, case, seen = parts(judge, want, {"x": np.array(result, dtype=float)}, **params)
        cases.append(judge_case(case, seen))
    return measured_picture(cases)


def importance(ablation=(2.0, 9.0, -0.1, 4.0), confidence=(0.6, 0.3, 0.9, 0.4)):
    return drawn(
        ({"draw": "importance", "method": "confidence"}, confidence),
        ({"draw": "importance", "method": "ablation"}, ablation),
    )


def test_heads_are_ranked_and_the_weakest_are_to_be_removed():
    picture = importance()
    assert [name for name, _bars in picture.form.rows] == ["1", "3", "0", "2"]
    assert [bars[0].share for _name, bars in picture.form.rows] == [1.0, 4 / 9, 2 / 9, 0.0]
    assert "1, ablation: 9." in in_words(picture)
    assert in_words(picture)[-1].endswith("in this order: 2, 0.")


def test_a_method_without_values_of_the_right_shape_is_left_out():
    bad = ({"draw": "importance", "method": "gradient"}, [1.0, 2.0])
    one = drawn(bad, ({"draw": "importance", "method": "ablation"}, [1.0, 2.0, 3.0, 4.0]))
    assert one.form.columns == ("ablation",)
    assert drawn(bad) is drawn(({}, [1.0, 2.0, 3.0, 4.0])) is None


def removals(rows):
    # table: how many of 4 answers are right without no head, without head 0, head 1, and both.
    params = {"draw": "removals", "table": [4, 3, 1, 0], "total": 4, "judge": "accuracies"}
    return drawn((params, rows))


def test_accuracies_are_drawn_with_the_span_of_all_choices():
    # A row: seed, order, accuracy, and the removed heads, filled up with -1.
    rows = [[s, order, 0.75 if order < 2 else 0.25, order // 2, -1] for s in range(3) for order in range(3)]
    words = in_words(removals(rows))
    assert "0, reverse: 1.00." in words
    assert {"1, by importance: 0.75.", "1, random: 0.75.", "1, reverse: 0.25."} <= set(words)
    assert words[-1].endswith("any choice of heads gives 0.25 – 0.75.")


def report(*assignments):
    results = (ExerciseResult("f", name, "passed", 1.0, 1.0, picture=importance()) for name in assignments)
    return Report(tuple(results), sandbox="strict", torch="2", grader="0")


def test_a_report_on_a_course_shows_what_was_measured_only_in_full():
    def short(report):
        out = io.StringIO()
        show(report, Console(file=out, width=80))
        return out.getvalue()

    course = report("10_pruning", "02_masking")
    assert "remove half of the heads" not in short(course)
    assert "remove half of the heads" in plain(course)
    assert "remove half of the heads" in page(course)
    assert short(report("10_pruning", "10_pruning")).count("remove half of the heads") == 2
