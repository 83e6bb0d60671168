"""The capstone trains a Transformer of the student's own parts. A wrong part is named and costs nothing.

Also the exam of the trained weights, and the figures in docs/capstone.md.
"""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from helpers.capstone import CAPSTONE, graded, part, solution
from helpers.command_line import ROOT, make_course
from helpers.minimal import submission_of

from grader.authoring.bank import apply
from grader.bundle.model import Bundle, Exercise
from grader.bundle.safetensors import encode
from grader.engine import grade_exercise as module
from grader.engine.attempt import attempt
from grader.engine.engine import Engine
from grader.engine.grade_exercise import grade_exercise
from grader.engine.grading import Grading, GradingOptions
from grader.engine.student_file import Part, StudentFile, earlier_parts, student_file
from grader.intake.course import Course
from grader.judge.observation import read_observation
from grader.support.errors import BadData

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def quick(engine: Engine) -> Iterator[Engine]:
    """Return an engine that skips the long trainings; `grader verify` runs them."""
    made = Engine(engine.bundles, engine.launcher, GradingOptions(quick=True, torch_version="tested"))
    yield made
    made.close()


def capstone(bundles: list[Bundle]) -> Exercise:
    return next(b for b in bundles if b.assignment == CAPSTONE).exercise("train")


def run(engine: Engine, *parts: Part) -> tuple[Grading, StudentFile]:
    submission = submission_of(solution(CAPSTONE).source, "capstone.py")
    return Grading(engine.context), student_file(engine.context.course, submission, parts)


@pytest.mark.parametrize(
    ("wrong", "name", "facet"),
    [
        (("08_decoder", "decblock-no-causal-mask"), "DecoderBlock", "values"),
        (("05_multi_head_attention", "mha-keys-through-wq"), "MultiHeadAttention", "values"),
        (("08_decoder", "decblock-cache-unused"), "DecoderBlock", "modes"),
    ],
    ids=["no causal mask", "mixed-up projections", "cache not read"],
)
def test_a_wrong_part_fails_the_training_is_named_and_costs_nothing(
    quick, bundles, monkeypatch, wrong, name, facet
):
    tries = []
    monkeypatch.setattr(module, "attempt", lambda *asked: tries.append(attempt(*asked)) or tries[-1])
    result = grade_exercise(*run(quick, part(*wrong)), capstone(bundles))
    first_try = tries[0]
    assert first_try.outcome == "failed"
    assert facet in {c.facet for c in first_try.checks if c.outcome == "failed"}
    assert (result.outcome, result.score) == ("passed", 5.0), result.remarks
    remark = f"your {name} has an error of its own, so the reference {name} was used here"
    assert remark in result.remarks


def test_parts_that_are_right_are_used_and_reported(quick, bundles):
    parts = part("05_multi_head_attention"), part("07_encoder"), part("08_decoder")
    result = attempt(*run(quick, *parts), capstone(bundles))
    assert result.outcome == "passed"
    remark_on_parts = next(remark for remark in result.remarks if remark.startswith("built"))
    assert remark_on_parts == (
        "built from your own MultiHeadAttention, AddNorm, PositionWiseFFN, EncoderBlock, TransformerEncoder, "
        "DecoderBlock, TransformerDecoder; the other parts are reference code"
    )


def test_reference_blocks_use_a_students_own_part(quick, bundles):
    """If the student wrote only the attention, the reference decoder uses it.

    This attention takes no arguments, so the decoder gets a TypeError.
    """
    name, source = "MultiHeadAttention", "class MultiHeadAttention:\n    def __init__(self): 1 / 0\n"
    broken = Part(submission_of(source), {name: name})
    result = attempt(*run(quick, broken), capstone(bundles))
    assert result.outcome == "failed"
    assert any("TypeError" in check.message for check in result.checks)


def test_parts_in_the_same_file_are_used(quick):
    decoder = solution("08_decoder")
    wrong = apply([m for m in decoder.mistakes() if m.id == "decblock-no-causal-mask"], decoder.source)
    # Without these imports, the capstone uses the classes of this file.
    last = re.sub(r"    Transformer(En|De)coder,\n", "", solution(CAPSTONE).source)
    result = graded(quick, wrong + "\n\n" + last)
    assert result.outcome == "passed", result
    assert any("reference DecoderBlock" in remark for remark in result.remarks)


def test_a_decoder_that_restarts_its_positions_costs_nothing(quick, bundles):
    """The decoder of Dive into Deep Learning passes its assignment. But step by step, it always adds position 0."""
    (book_decoder,) = [v for v in solution("08_decoder").variants("TransformerDecoder") if v.kind == "also"]
    exercise = capstone(bundles)
    this_run = run(quick, part("08_decoder", book_decoder.id, "variants"))
    result = grade_exercise(*this_run, exercise)
    assert (result.outcome, result.score) == ("passed", 5.0), result.remarks
    assert any("begins its positions at 0" in remark for remark in result.remarks)


# ---- which files have parts


def test_stubs_and_files_that_cannot_be_read_are_no_parts(tmp_path, bundles, engine):
    course = Course(make_course(tmp_path / "course"))
    last, wanted = next(b for b in bundles if b.assignment == CAPSTONE), capstone(bundles).given
    assert earlier_parts(course, engine.context.course, last, wanted) == ()
    (course.root / "08_decoder/decoder.py").write_text(solution("08_decoder").source, "utf-8")
    (course.root / "07_encoder/encoder.py").write_bytes(b"\xff\xfe")
    (found,) = earlier_parts(course, engine.context.course, last, wanted)
    assert found.names == {"DecoderBlock": "DecoderBlock", "TransformerDecoder": "TransformerDecoder"}


# ---- the exam: the case that evaluates trained weights, in a worker without student code


def test_a_training_is_skipped_after_an_earlier_failure(quick):
    source = solution(CAPSTONE).source.replace("labels = tgt[:, 1:]", "labels = tgt[:, :-1]")
    result = graded(quick, source)
    short = [c for c in result.checks if c.id.startswith("reverse/")]
    assert {c.outcome for c in short} == {"skipped"}
    assert result.diagnosis.alternatives == (("train-target-not-shifted",),)


def test_a_worker_with_student_code_cannot_send_exam_results(bundles):
    with_exam = [case for case in capstone(bundles).cases if case.exam is not None]
    assert with_exam
    for case in with_exam:
        forged = encode({name: np.ones((1, 1, 1)) for name in case.exam.asked})
        with pytest.raises(BadData):
            read_observation({}, forged, case.asked)


def test_weights_of_nan_fail_and_are_graded(quick):
    source = "def train(model, batches, steps):\n    return {n: t * float('nan') for n, t in model.state_dict().items()}\n"
    result = graded(quick, source)
    assert (result.outcome, result.score) == ("failed", pytest.approx(0, abs=1.25))  # at most a quarter of 5


# ---- figures


def test_the_figures_in_the_docs_leave_a_margin():
    text = (ROOT / "docs" / "capstone.md").read_text("utf-8")
    # The columns learning rate, seeds (first and last), task, required, least, median, most.
    cells = r"([\d.]+)(?:, (without \w+))? \| (\d+) to (\d+) \| (\w+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+)"
    rows = re.findall(rf"^\| {cells} \|", text, re.M)
    assert {task for _r, _w, _f, _t, task, *_shares in rows} == {"reverse", "induction"}
    assert {without for _r, without, *_rest in rows} == {"", "without positions", "without attention"}
    for rate, without, first, last, task, asked, least, median, most in rows:
        if without:  # a model that cannot look back does not learn induction, with any of ten seeds
            assert int(last) - int(first) >= 9
            assert float(most) < float(asked) or task == "reverse"
            continue
        assert float(least) > float(asked)
        if rate == "0.003":  # the rate of the reference solution: at least ten seeds
            assert int(last) - int(first) >= 9
            assert float(least) >= float(asked) + 0.1
            assert float(median) >= float(asked) + 0.4
