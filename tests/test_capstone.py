"""A Transformer of the student's own parts is trained and measured; a wrong part is named and costs nothing here."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader import progress
from grader.bank import apply
from grader.bundle import Bundle, Exercise
from grader.content import Assignment, read
from grader.engine import Engine
from grader.exams import examined
from grader.intake.names import read_names
from grader.intake.read import Submission, Unit
from grader.observation import BadReply, Observation, Seen, read_observation
from grader.parts import Part, earlier_parts
from grader.remembered import NEWEST, Remembered
from grader.report.model import CheckResult, ExerciseResult
from grader.run import Run
from grader.sandbox.base import Limits
from grader.session import Training
from grader.tensors import encode

ROOT = Path(__file__).resolve().parents[1]
CAPSTONE = "11_capstone"


def solution(name: str) -> Assignment:
    return read(ROOT / "solutions" / name)


def file(assignment: Assignment, source: str) -> Submission:
    name = f"{assignment.module}.py"
    return Submission(Path(name), (Unit(name, source),))


def part(name: str, mistake: str = "", kind: str = "mistakes") -> Part:
    """An earlier file with all its exercises, right but for one known answer."""
    assignment = solution(name)
    known = [a for a in getattr(assignment, kind)() if a.id == mistake]
    assert len(known) == bool(mistake), mistake
    source = apply(known, assignment.source)
    names = {e["name"]: e["name"] for e in assignment.exercises}
    return Part(file(assignment, source), names)


@pytest.fixture(scope="module")
def quick(engine: Engine) -> Iterator[Engine]:
    """What takes longer is left out: `grader verify` trains it."""
    made = Engine(engine.bundles, engine.launcher, quick=True, torch_version="tested")
    yield made
    made.close()


def capstone(bundles: list[Bundle]) -> Exercise:
    return next(b for b in bundles if b.assignment == CAPSTONE).exercise("train")


def run(engine: Engine, *parts: Part) -> Run:
    submission = file(solution(CAPSTONE), solution(CAPSTONE).source)
    return Run(engine, submission, read_names(submission), parts)


def test_the_capstone_has_eight_points():
    assert sum(e["points"] for e in solution(CAPSTONE).exercises) == 8


@pytest.mark.parametrize(
    ("wrong", "name", "facet"),
    [
        (("08_decoder", "decblock-no-causal-mask"), "DecoderBlock", "values"),
        (("05_multi_head_attention", "mha-keys-through-wq"), "MultiHeadAttention", "values"),
        (("08_decoder", "decblock-cache-unused"), "DecoderBlock", "modes"),
    ],
    ids=["no causal mask", "mixed-up projections", "cache not written"],
)
def test_a_wrong_part_fails_the_training_is_named_and_costs_nothing(quick, bundles, wrong, name, facet):
    exercise, here = capstone(bundles), run(quick, part(*wrong))
    with_it = here._once(exercise, ())
    assert with_it.outcome == "failed"
    assert facet in {c.facet for c in with_it.checks if c.outcome == "failed"}
    result = here._without_inherited_faults(exercise, with_it)
    assert (result.outcome, result.score) == ("passed", 5.0), result.remarks
    assert (
        f"graded with the course's own {name}: yours has a fault of its own, reported there" in result.remarks
    )


def test_parts_that_are_right_are_used_and_told(quick, bundles):
    result = run(quick, part("05_multi_head_attention"), part("07_encoder"), part("08_decoder"))._once(
        capstone(bundles), ()
    )
    assert result.outcome == "passed"
    told = next(remark for remark in result.remarks if remark.startswith("made of"))
    assert told == (
        "made of your own MultiHeadAttention, AddNorm, PositionWiseFFN, EncoderBlock, TransformerEncoder, "
        "DecoderBlock, TransformerDecoder; the rest are the course's"
    )


def test_a_part_is_met_inside_of_the_courses_blocks_too(quick, bundles):
    """The course's decoder is made of the student's attention where that is all there is."""
    broken = Part(
        Submission(
            Path("multi_head_attention.py"),
            (Unit("multi_head_attention.py", "class MultiHeadAttention:\n    def __init__(self): 1 / 0\n"),),
        ),
        {"MultiHeadAttention": "MultiHeadAttention"},
    )
    result = run(quick, broken)._once(capstone(bundles), ())
    assert result.outcome == "failed"
    assert any("TypeError" in check.message for check in result.checks)


def test_parts_in_the_same_file_count(quick, bundles):
    decoder = solution("08_decoder")
    wrong = apply([m for m in decoder.mistakes() if m.id == "decblock-no-causal-mask"], decoder.source)
    mine = re.sub(r"    Transformer(En|De)coder,\n", "", solution(CAPSTONE).source)  # not those of the course
    source = wrong + "\n\n" + mine
    submission = Submission(Path("all.py"), (Unit("all.py", source),))
    result = quick.grade(submission, ["train"]).exercises[0]
    assert result.outcome == "passed", result
    assert any("course's own DecoderBlock" in remark for remark in result.remarks)


def test_a_decoder_that_passes_alone_and_restarts_its_positions_costs_nothing(quick, bundles):
    """The book's decoder is right in its own assignment; trained with positions, it cannot write without them."""
    (books,) = [v for v in solution("08_decoder").variants("TransformerDecoder") if v.kind == "also"]
    exercise = capstone(bundles)
    here = run(quick, part("08_decoder", books.id, "variants"))
    result = here._without_inherited_faults(exercise, here._once(exercise, ()))
    assert (result.outcome, result.score) == ("passed", 5.0), result.remarks
    assert any("restarts its positions" in remark for remark in result.remarks)


# ---- which parts there are


class _Course:
    def __init__(self, root: Path, bundles: list[Bundle]):
        self.root, self.bundles = root, bundles


def test_stubs_are_no_parts_and_files_that_cannot_be_read_neither(tmp_path, bundles, engine):
    for bundle in bundles:
        (tmp_path / bundle.assignment).mkdir()
        (tmp_path / bundle.assignment / f"{bundle.module}.py").write_text(bundle.stub, "utf-8")
    last, wanted = next(b for b in bundles if b.assignment == CAPSTONE), capstone(bundles).given
    course = _Course(tmp_path, bundles)
    assert earlier_parts(course, last, wanted, engine.constructors) == ()
    (tmp_path / "08_decoder/decoder.py").write_text(solution("08_decoder").source, "utf-8")
    (tmp_path / "07_encoder/encoder.py").write_bytes(b"\xff\xfe")
    (found,) = earlier_parts(course, last, wanted, engine.constructors)
    assert found.names == {"DecoderBlock": "DecoderBlock", "TransformerDecoder": "TransformerDecoder"}


# ---- what takes long is remembered


class _Counting:
    def __init__(self, launcher):
        self.launcher, self.tier, self.count = launcher, launcher.tier, 0

    def start(self, limits):
        self.count += 1
        return self.launcher.start(limits)


@pytest.fixture
def keeping(bundles, engine, tmp_path, monkeypatch) -> Iterator[Engine]:
    """Only the small task, as if it took long."""
    monkeypatch.delenv("CI", raising=False)
    last = next(b for b in bundles if b.assignment == CAPSTONE)
    small = [replace(c, costly=True) for c in last.exercise("train").cases if c.id == "small"]
    bare = replace(last.exercise("train"), cases=tuple(small), signatures=None, level=0)
    only = replace(last, exercises=(bare,))
    made = Engine([only], _Counting(engine.launcher), remembered=Remembered(tmp_path / "kept"))
    yield made
    made.close()


def graded(engine: Engine, source: str, *parts: Part) -> ExerciseResult:
    submission = Submission(Path("capstone.py"), (Unit("capstone.py", source),))
    return engine.grade(submission, ["train"], parts).exercises[0]


def test_the_same_files_are_not_trained_twice_and_the_report_says_so(keeping):
    source = solution(CAPSTONE).source
    first = graded(keeping, source)
    started = keeping.launcher.count
    again = graded(keeping, source)
    assert keeping.launcher.count == started, "no worker was needed"
    assert first.outcome == again.outcome == "passed"
    assert (again.score, again.checks) == (first.score, first.checks)
    assert not any("kept" in remark for remark in first.remarks)
    assert again.remarks[-1] == "kept from an earlier check of the same files: nothing was run again"


def test_other_files_other_parts_and_spoilt_memories_are_graded_anew(keeping):
    source = "def train(model, batches, steps): return None\n"
    assert graded(keeping, source).outcome == "failed"
    started = keeping.launcher.count
    graded(keeping, source)
    assert keeping.launcher.count == started, "what failed is remembered too"
    graded(keeping, source + "\n# another text\n")
    assert keeping.launcher.count > started
    started = keeping.launcher.count
    graded(keeping, source, part("08_decoder"))
    assert keeping.launcher.count > started
    for path in keeping.remembered.folder.iterdir():
        path.write_text('{"diagnosis": 3}', "utf-8")
    started = keeping.launcher.count
    assert graded(keeping, source).outcome == "failed"
    assert keeping.launcher.count > started


WRONG = "def train(model, batches, steps): return None\n"


def check(kept: dict[str, Any]) -> dict[str, Any]:
    return kept["checks"][0]


SPOILT = {
    "score of text": lambda kept: kept.update(score="5"),
    "score above the points": lambda kept: kept.update(score=999.0),
    "score below nothing": lambda kept: kept.update(score=-1.0),
    "score that is no number": lambda kept: kept.update(score=float("nan")),
    "score that is a truth": lambda kept: kept.update(score=True),
    "other points": lambda kept: kept.update(points=4.0),
    "no points": lambda kept: kept.update(points=None),
    "odd outcome": lambda kept: kept.update(outcome="splendid"),
    "outcome of a list": lambda kept: kept.update(outcome=[]),
    "outcome that is not kept": lambda kept: kept.update(outcome="blocked"),
    "another exercise": lambda kept: kept.update(name="greedy_decode"),
    "another assignment": lambda kept: kept.update(assignment="10_pruning"),
    "figures": lambda kept: kept.update(figures={"importance": {"planted": "no"}}),
    "figures of a list": lambda kept: kept.update(figures=[]),
    "a quick one": lambda kept: kept.update(partial=True),
    "remarks": lambda kept: kept.update(remarks=[1]),
    "a field less": lambda kept: kept.pop("message"),
    "a field more": lambda kept: kept.update(bonus=1),
    "checks": lambda kept: kept.update(checks={"id": 1}),
    "a check's outcome": lambda kept: check(kept).update(outcome="fine"),
    "a check's message": lambda kept: check(kept).update(message=None),
    "a diagnosis": lambda kept: kept.update(diagnosis=None),
    "alternatives": lambda kept: kept["diagnosis"].update(alternatives=[3]),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_nothing_is_believed_that_could_not_have_been_kept(keeping, kept_file, spoil):
    words = json.loads(kept_file.read_text("utf-8"))
    exercise = keeping.exercises["train"]
    name = kept_file.stem.removeprefix("train-")
    assert keeping.remembered.find(name, exercise) is not None
    spoil(words)
    kept_file.write_text(json.dumps(words), "utf-8")
    assert keeping.remembered.find(name, exercise) is None


@pytest.mark.parametrize("text", ["", "[" * 200_000, "[]", "3", "null", '{"diagnosis": 3}', "\ud800"])
def test_what_is_no_result_is_forgotten(keeping, kept_file, text):
    kept_file.write_text(text, "utf-8", "surrogatepass")
    name = kept_file.stem.removeprefix("train-")
    assert keeping.remembered.find(name, keeping.exercises["train"]) is None


@pytest.fixture
def kept_file(keeping) -> Path:
    """What is kept of a wrong answer, made without a worker."""
    exercise = keeping.exercises["train"]
    checks = (CheckResult("small/values", "values", "small", "failed"),)
    result = ExerciseResult("train", CAPSTONE, "failed", 1.25, exercise.points, checks=checks)
    keeping.remembered.keep("word", exercise, result)
    (path,) = keeping.remembered.folder.iterdir()
    return path


@pytest.mark.parametrize("grading", ["CI", "hidden"])
def test_where_a_grade_is_given_nothing_kept_is_read(keeping, monkeypatch, grading):
    graded(keeping, WRONG)
    assert is_kept(graded(keeping, WRONG))
    if grading == "CI":
        monkeypatch.setenv("CI", "true")
    keeping.hidden = grading == "hidden"
    assert not is_kept(graded(keeping, WRONG))


def is_kept(result: ExerciseResult) -> bool:
    return any("kept from an earlier check" in remark for remark in result.remarks)


def test_other_blocks_and_another_language_are_graded_anew(keeping, monkeypatch):
    graded(keeping, WRONG)
    for name, other in (("grader.run.language", lambda: "xx"), ("grader.remembered.source", lambda name: "")):
        with monkeypatch.context() as patched:
            patched.setattr(name, other)
            assert not is_kept(graded(keeping, WRONG)), name
        assert is_kept(graded(keeping, WRONG))


def test_the_newest_results_of_an_exercise_are_kept(keeping, kept_file):
    exercise = keeping.exercises["train"]
    result = keeping.remembered.find("word", exercise)
    os.utime(kept_file, (1, 1))
    (other := keeping.remembered.folder / "other-1.json").write_text("{}", "utf-8")
    os.utime(other, (1, 1))
    for n in range(NEWEST):
        keeping.remembered.keep(f"{n}", exercise, result)
    names = {path.name for path in keeping.remembered.folder.iterdir()}
    assert names == {"other-1.json", *(f"train-{n}.json" for n in range(NEWEST))}


def test_what_may_be_chance_in_a_part_is_not_kept(keeping, bundles, monkeypatch):
    """A worker lost over a part of an earlier file, now or before, makes the training's result unsteady."""
    parts = (part("08_decoder"),)
    keeping.exercises |= {e.name: e for b in bundles for e in b.exercises if b.assignment == "08_decoder"}
    exercise = keeping.exercises["train"]
    failed = ExerciseResult("train", CAPSTONE, "failed", 0.0, exercise.points)

    def once(self, asked, replaced):
        if asked.name in lossy:
            self.loading.lost += 1
        return replace(failed, name=asked.name)

    monkeypatch.setattr(Run, "_once", once)
    monkeypatch.setattr("grader.run._by_parts", lambda *_: True)
    for lossy, before, kept in (((), False, 1), (("DecoderBlock",), False, 0), (("DecoderBlock",), True, 0)):
        submission = Submission(Path("capstone.py"), (Unit("capstone.py", WRONG),))
        run = Run(keeping, submission, read_names(submission), parts)
        if before:
            ((_name, earlier), *_more) = run._own(exercise)
            earlier.grade(keeping.exercises["DecoderBlock"])
        run.grade(exercise)
        assert run._lost() == len(lossy)
        files = list(keeping.remembered.folder.glob("train-*"))
        assert len(files) == kept
        for path in files:
            path.unlink()


def test_an_endless_training_is_told_with_its_line(keeping, monkeypatch):
    monkeypatch.setattr("grader.workplace.SHORT_SECONDS", 4.0)
    (case,) = keeping.exercises["train"].cases
    keeping.exercises["train"] = replace(keeping.exercises["train"], cases=(replace(case, costly=False),))
    result = graded(keeping, "def train(model, batches, steps):\n    while True:\n        steps += 1\n")
    said = next(c.message for c in result.checks if c.outcome == "failed")
    assert re.fullmatch(r"stopped: its time ran out at capstone.py, line [23]", said)


def test_a_quick_check_says_so_and_is_no_verdict(keeping, tmp_path):
    keeping.quick = True
    result = graded(keeping, solution(CAPSTONE).source)
    assert result.partial
    assert any("quick check" in remark for remark in result.remarks)
    progress.remember(tmp_path, [replace(result, outcome="passed")])
    assert progress.recall(tmp_path) == {}
    keeping.quick = False
    assert not any("kept" in remark for remark in graded(keeping, "def train(*a): return None").remarks)


def test_a_training_that_cannot_help_any_more_is_left_out(quick):
    source = solution(CAPSTONE).source.replace("labels = tgt[:, 1:]", "labels = tgt[:, :-1]")
    result = graded(quick, source)
    small = [c for c in result.checks if c.id.startswith("small/")]
    assert {c.outcome for c in small} == {"skipped"}
    assert result.diagnosis.alternatives == (("train-target-not-shifted",),)


# ---- the exam


def test_a_worker_with_student_code_cannot_hand_in_its_own_exam(bundles):
    for case in capstone(bundles).cases:
        if case.exam is not None:
            forged = encode({name: np.ones((1, 1, 1)) for name in case.exam.asked})
            with pytest.raises(BadReply):
                read_observation({}, forged, case.asked, 0.1)


def test_nothing_is_examined_that_is_not_all_there(bundles):
    case = next(c for c in capstone(bundles).cases if c.id == "small")
    weights = {
        n: Seen(h.shape, "float32", np.zeros(h.shape)) for n, h in case.headers.items() if "state" in n
    }
    first = next(iter(weights))
    for broken in (
        {n: s for n, s in weights.items() if n != first},
        weights | {first: Seen((1,), "float32", np.zeros(1))},
        weights | {first: Seen(odd="None")},
    ):
        observation = Observation(broken)
        assert examined(case, observation, None, Limits(), {}) is observation  # no worker is even asked for


def test_weights_that_are_no_numbers_are_wrong_and_break_nothing(quick):
    source = "def train(model, batches, steps):\n    return {n: t * float('nan') for n, t in model.state_dict().items()}\n"
    result = graded(quick, source)
    assert (result.outcome, result.score) == ("failed", pytest.approx(0, abs=1.25))


@pytest.mark.parametrize(
    ("training", "shown"),
    [
        (Training(0, 300, None), f"t {'─' * 24} 0/300"),
        (Training(150, 300, 0.51234), f"t {'━' * 12}{'─' * 12} 150/300 loss 0.512"),
        (Training(300, 300, 1e5), f"t {'━' * 24} 300/300 loss 100000.000"),
        (Training(0, 0, 0.0), f"t {'─' * 24} 0/0 loss 0.000"),
    ],
)
def test_a_bar_shows_how_far_a_training_is(training, shown):
    assert progress.bar("t", training) == shown


# ---- figures


def test_the_figures_in_the_docs_leave_wide_margins():
    text = (ROOT / "docs" / "capstone.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| (\d+) \| (\w+) \| ([\d.]+) \| ([\d.]+) \|", text, re.M)
    assert {task for _r, _n, task, _a, _l in rows} == {"small", "reverse", "induction"}
    for rate, seeds, _task, asked, least in rows:
        assert float(least) > float(asked)
        if rate == "0.003":
            assert int(seeds) >= 10
            assert float(least) >= float(asked) + 0.2
