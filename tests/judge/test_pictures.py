"""Pictures of failures mark only wrong places; those of right answers show the importance of heads, and accuracies."""

import io
import json

import msgspec
import numpy as np
import pytest
from judge.conftest import parts
from rich.console import Console

from grader.judge.observation import Seen, StudentError
from grader.judge.pictures import first_picture, passed_picture, picture
from grader.judge.verdict import decide, judge_case
from grader.report.html import page
from grader.report.model import ExerciseResult, Report
from grader.report.picture import Chain, Grids, in_words
from grader.report.terminal import plain, show
from grader.worker.steps import Input, Stage, Stages

WEIGHTS = ("batch", "query", "key")
RANDOM = np.random.default_rng(0)


def drawn(*args, **more):
    """Judge one check of one case, which must fail, and return the picture of the failure. Arguments: see `parts`."""
    check, case, observation = parts(*args, **more)
    finding = decide(check, case, observation)
    assert not finding.passed
    made = picture(check, case, observation, finding)
    json.dumps(msgspec.to_builtins(made))  # stores and `--format json` contain pictures
    return made


def wrong_cells(grids: Grids):
    """Return (row, column) of each cell that is marked as wrong."""
    return {
        (grids.rows[i], grids.columns[j])
        for panel in grids.panels
        for i, row in enumerate(panel.rows)
        for j, cell in enumerate(row)
        if cell.wrong
    }


# ---- shapes


INPUT = Input("X")
STAGES = Stages("m", [Stage("a", "the split heads"), Stage("b", "the joined heads")])


@pytest.mark.parametrize(
    ("split", "links"),
    [
        ((6, 4, 3), [("X", ""), ("the split heads", "(6, 4, 4)")]),
        # A stage may have another layout.
        (
            (2, 3, 4, 4),
            [("X", ""), ("the split heads", ""), ("the joined heads", ""), ("your result", "(2, 4, 12)")],
        ),
    ],
)
def test_a_chain_ends_with_the_first_stage_or_result_of_another_size(split, links):
    want = {"stage a": np.zeros((6, 4, 4)), "stage b": np.zeros((2, 4, 12)), "out": np.zeros((2, 4, 12))}
    got = {**want, "stage a": np.zeros(split), "out": np.zeros((2, 4))}
    tensors = {"X": np.zeros((2, 4, 12))}
    made = drawn("shape", want, got, of=("out",), steps=(INPUT, STAGES), tensors=tensors)
    assert isinstance(made.form, Chain)
    assert made.form.links[0].shape == "(2, 4, 12)"
    assert [(link.name, link.expected) for link in made.form.links] == links


# ---- masking


def softmaxed(lengths, keys=7, queries=5):
    """Return random attention weights that are 0 from the valid length on."""
    scores = RANDOM.standard_normal((len(lengths), queries, keys))
    keep = np.arange(keys) < np.asarray(lengths).reshape(len(lengths), -1, 1)
    exp = np.where(keep, np.exp(scores), 0)
    return exp / exp.sum(-1, keepdims=True)


@pytest.mark.parametrize("per_query", [False, True])
def test_the_grid_of_weights_marks_valid_lengths_and_wrong_cells(per_query):
    lengths = np.array([7, 3, 1])
    want = softmaxed(lengths)
    got = want.copy()
    got[1, 2, :4] = 0.25
    tensors = {"valid_lens": np.repeat(lengths[:, None], 5, 1) if per_query else lengths}
    made = drawn("equal", {"out": want}, {"out": got}, axes=WEIGHTS, facet="masking", tensors=tensors)
    assert made.title == "Attention weights, batch 1, rows: query, columns: key (showing 20 of 105)"
    assert wrong_cells(made.form) == {("2", str(key)) for key in range(4)}
    for panel in made.form.panels:  # `edge`: the valid part of the row ends before this cell
        assert [[cell.edge for cell in row].index(True) for row in panel.rows] == [3] * 4
    words = in_words(made)
    assert "query 2, key 3, padding: expected 0, got 0.25." in words
    assert sum("padding" in text for text in words) == 1


def test_weights_are_drawn_for_masking_instead_of_the_result():
    lengths = np.array([2, 3])
    weights = softmaxed(lengths, keys=4, queries=2)
    values = RANDOM.standard_normal((2, 4, 3))
    wrong = np.full_like(weights, 0.25)
    want = {"weights": weights, "out": weights @ values}
    got = {"weights": wrong, "out": wrong @ values}
    made = drawn(
        "equal", want, got, axes=WEIGHTS, of=("out",), facet="masking", tensors={"valid_lens": lengths}
    )
    assert made.title.startswith("Attention weights")
    made = drawn("equal", want, got, axes=WEIGHTS, of=("out",), facet="values")
    assert made.form.panels[0].rows[0][0].text == f"{want['out'][0, 0, 0]:.2f}"


def test_a_long_row_is_cut_to_keys_around_the_wrong_one():
    want = softmaxed([40], keys=40)
    got = want.copy()
    got[0, 4, 30] += 0.5
    made = drawn("equal", {"out": want}, {"out": got}, axes=WEIGHTS, facet="masking")
    assert wrong_cells(made.form) == {("4", "30")}
    assert len(made.form.columns) <= 5


def test_weights_have_two_decimals_unless_wrong_ones_would_look_right():
    want = np.full((1, 2, 2), 0.5)
    for off, texts in ((0.1, ("0.50", "0.60")), (0.001, ("0.5000", "0.5010"))):
        made = drawn("equal", {"out": want}, {"out": want + off}, axes=WEIGHTS, facet="masking")
        assert tuple(panel.rows[0][0].text for panel in made.form.panels) == texts


# ---- values


def test_a_slice_of_values_marks_and_names_differences():
    want = RANDOM.standard_normal((2, 3, 5, 6))
    got = want.copy()
    got[1, 1, 2, 3] += 0.5
    made = drawn("equal", {"out": want}, {"out": got}, axes=("batch", "head", "step", "feature"))
    assert made.title == "Values, batch 1, head 1, rows: step, columns: feature (showing 12 of 180)"
    assert wrong_cells(made.form) == {("2", "3")}


def test_two_results_that_must_agree_are_titled_as_two_calls():
    result = RANDOM.standard_normal((2, 3))
    got = {"out1": result, "out2": result + 1}
    made = drawn("same", {"out1": result, "out2": result}, got, says="they differ")
    assert [panel.title for panel in made.form.panels] == ["first call", "second call"]


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3), (1, 1, 1), (2, 2, 2, 2)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e38, 1.0])
def test_any_shape_and_any_value_can_be_drawn(shape, bad):
    want = np.zeros(shape)
    names = ("c", "d", "query", "key")
    for axes in ((), names[len(names) - len(shape) :]):
        made = drawn("equal", {"out": want}, {"out": np.full(shape, bad)}, axes=axes)
        # the panels: expected, actual
        assert any(cell.wrong for row in made.form.panels[1].rows for cell in row)
        assert not any(cell.wrong for row in made.form.panels[0].rows for cell in row)
        assert in_words(made)


# ---- gradients, cost, exceptions about sizes


def test_wrong_gradients_come_first():
    want = {f"grad {name}": RANDOM.standard_normal((2, 3)) for name in ("queries", "keys", "W_k.weight")}
    made = drawn("equal", want, {**want, "grad keys": np.zeros((2, 3)), "grad W_k.weight": Seen()})
    assert made.form.rows == ("keys", "W_k.weight", "queries")
    assert [row[0].text for row in made.form.panels[1].rows[:2]] == ["0", "none"]
    assert wrong_cells(made.form) == {("keys", ""), ("W_k.weight", "")}


def test_the_bars_of_a_cost_have_one_scale():
    counts = {"parameters before": 400, "parameters after": 400}
    made = drawn("cost", {}, {}, of=tuple(counts), values=counts, kept=3, total=4, fixed=0)
    assert [(name, bar.share, bar.text, bar.wrong) for name, (bar,) in made.form.rows] == [
        ("before", 1.0, "400", False),
        ("expected", 0.75, "300", False),
        ("got", 1.0, "400", True),
    ]


def test_a_gradient_as_large_as_expected_is_drawn_by_its_values():
    want = {"grad W": np.array([[1.0, 2.0], [0.0, 0.0]])}
    made = drawn("equal", want, {"grad W": np.array([[1.0, 2.0], [1.0, 0.5]])}, facet="gradients")
    assert made.title == "Gradient of W"
    assert wrong_cells(made.form) == {("1", "0"), ("1", "1")}


@pytest.mark.parametrize(
    ("message", "is_drawn"),
    [("The size of tensor a (4) must match", True), ("name 'Y' is not defined", False)],
)
def test_shapes_are_drawn_only_for_an_exception_about_sizes(message, is_drawn):
    tensors, error = {"X": np.zeros((5, 3))}, StudentError("RuntimeError", message, None, "call")
    want = {"out": np.zeros((5, 4))}
    _, case, seen = parts(
        "shape", want, {}, axes=("row", "step"), tensors=tensors, steps=(INPUT,), error=error
    )
    judged = judge_case(case, seen)
    made = first_picture(judged.checks, [judged])
    assert (made is not None) == is_drawn
    if is_drawn:
        assert [(link.name, link.shape) for link in made.form.links] == [
            ("X", "(5, 3)"),
            ("expected output", "(5, 4)  [row, step]"),
        ]


# ---- what a right answer measured


def measured(*asked, heads=4):
    """Return the picture of cases. asked: the parameters of a check, and what was observed for it."""
    cases = []
    for params, result in asked:
        judge, want = params.pop("judge", "equal"), {"x": np.zeros(heads)}
        _check, case, seen = parts(judge, want, {"x": np.array(result, dtype=float)}, **params)
        cases.append(judge_case(case, seen))
    return passed_picture(cases)


def importance(ablation=(2.0, 9.0, -0.1, 4.0), confidence=(0.6, 0.3, 0.9, 0.4)):
    return measured(
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
    one = measured(bad, ({"draw": "importance", "method": "ablation"}, [1.0, 2.0, 3.0, 4.0]))
    assert one.form.columns == ("ablation",)
    assert measured(bad) is measured(({}, [1.0, 2.0, 3.0, 4.0])) is None


def test_a_right_answer_is_drawn_by_the_attention_weights_of_its_first_head():
    weights = softmaxed([3, 3], keys=3, queries=2)
    _check, case, seen = parts("equal", {"out": weights}, {"out": weights}, axes=WEIGHTS)
    made = passed_picture([judge_case(case, seen)])
    (panel,) = made.form.panels
    assert [[cell.text for cell in row] for row in panel.rows] == [
        [f"{value:.2f}" for value in row] for row in weights[0]
    ]
    masked = softmaxed([2, 3], keys=3, queries=2)
    _check, case, seen = parts("equal", {"out": weights}, {"out": weights}, axes=WEIGHTS)
    _check, other, seen_masked = parts("equal", {"out": masked}, {"out": masked}, axes=WEIGHTS)
    made = passed_picture([judge_case(case, seen), judge_case(other, seen_masked)])
    assert [row[2].text for row in made.form.panels[0].rows] == ["0", "0"], "a masked one comes first"
    _check, case, seen = parts("equal", {"out": weights[:, :1]}, {"out": weights[:, :1]}, axes=WEIGHTS)
    assert passed_picture([judge_case(case, seen)]) is None, "a single query is no map"


def removals(rows):
    # table: how many of 4 answers are right without no head, without head 0, head 1, and both.
    params = {"draw": "removals", "table": [4, 3, 1, 0], "total": 4, "judge": "accuracies"}
    return measured((params, rows))


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
