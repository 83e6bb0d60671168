"""Points of the course: what facets hold and weigh, and what known mistakes keep."""

import re
from pathlib import Path

import pytest
from helpers.command_line import ROOT

from grader.authoring.bank import apply
from grader.authoring.content import Described, read_all
from grader.intake.read import Submission, Unit
from grader.support.errors import UsageError

ASSIGNMENTS = {e.name: a for a in read_all(ROOT / "solutions") for e in a.exercises}
PAGE = (ROOT / "docs" / "points.md").read_text("utf-8")


def test_the_subject_of_each_exercise_has_a_third_of_its_weights(bundles):
    for exercise in (e for bundle in bundles for e in bundle.exercises):
        facets = {check.facet for case in exercise.cases for check in case.checks} | {"device"}
        weights = {facet: exercise.weights.get(facet, 1.0) for facet in facets}
        assert 3 * weights[ASSIGNMENTS[exercise.name].exercise(exercise.name).about] >= sum(
            weights.values()
        ), exercise.name


def described(**fields):
    return Described("f", "a title", 1.0, 1, "", (), **fields)


def test_a_low_weight_of_the_subject_is_raised_and_a_high_one_stays():
    masking, facets = ASSIGNMENTS["masked_softmax"], ("shapes", "values", "masking")  # others, with device: 6

    def weights(weight):
        return masking.weights(described(about="masking", facets={"masking": weight}), facets)

    assert [weights(w)["masking"] for w in (1, 2.9, 3.1, 9)] == [3, 3, 3.1, 9]
    assert weights(1)["values"] == masking.weights(described(), facets)["values"] == 4


def test_a_subject_that_no_check_is_about_is_refused():
    with pytest.raises(UsageError, match="f: it is about modes, but has no check of this facet"):
        ASSIGNMENTS["masked_softmax"].weights(described(about="modes"), ("shapes", "values"))


def test_the_facet_shapes_holds_shapes_dtypes_and_refused_sizes_only(bundles):
    of_shapes = (c for b in bundles for e in b.exercises for case in e.cases for c in case.checks)
    assert {check.judge for check in of_shapes if check.facet == "shapes"} == {
        "shape",
        "trained",
        "raises",
        "attempted",
    }


@pytest.mark.parametrize(
    ("exercise", "mistake", "kept"),
    [
        ("DecoderBlock", "decblock-cache-not-written", 3.0),
        ("DecoderBlock", "decblock-cache-shared-by-layers", 3.0),
        ("DecoderBlock", "decblock-lengths-while-decoding", 3.0),
        ("Seq2SeqAttentionDecoder", "seq2seq-old-hidden-returned", 2.5),
        ("MultiHeadAttention", "mha-no-dropout", 4.5),
        ("masked_softmax", "softmax-lens-tiled", 2.3),  # masking 5 and gradients 2 of 13 fail: 30/13
        ("MultiHeadAttention", "mha-lens-overwritten", 8.4),  # purity 1 of 14 fails: 9 · 13/14
    ],
)
def test_a_mistake_keeps_the_points_that_the_page_says(exercise, mistake, kept, engine):
    assignment = ASSIGNMENTS[exercise]
    (answer,) = (m for m in assignment.mistakes(exercise) if m.id == mistake)
    source = Unit(f"{assignment.module}.py", apply(answer, assignment.source))
    (result,) = engine.grade(Submission(Path(source.name), (source,)), [exercise]).exercises
    assert result.score == kept
    assert f"\n| `{mistake}` | {kept:g} / {result.points:g} |" in PAGE


def test_the_page_on_points_lists_every_known_mistake(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    from points_table import answers

    known = [answer.id for name, a in ASSIGNMENTS.items() for answer in answers(a, name)]
    listed = re.findall(r"^\| `([a-z0-9-]+)` \| [\d.]+ /", PAGE, re.M)
    assert listed == known, "run: python scripts/points_table.py --write EXERCISE"
