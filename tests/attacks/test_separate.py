"""What one exercise leaves behind does not reach another, also if they share a worker.

An error of the worker costs points only if the submission causes it. The order of exercises needs few workers.
"""

from itertools import pairwise
from pathlib import Path
from textwrap import indent

import pytest
from attacks.forging import FORGE
from helpers.beginners import MASK as RIGHT_MASK
from helpers.beginners import SOFTMAX as RIGHT
from helpers.minimal import submission_of

from grader.engine.engine import Engine
from grader.engine.load_request import LoadRequest, order_for_worker_reuse, visible_blocks, with_requirements
from grader.worker.steps import Run

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"
SCORING = (SOLUTIONS / "03_scoring" / "scoring.py").read_text()


class CountingLauncher:
    """A launcher that counts the workers that it starts."""

    def __init__(self, launcher):
        self.launcher = launcher
        self.tier = launcher.tier
        self.count = 0

    def start(self, limits):
        self.count += 1
        return self.launcher.start(limits)


@pytest.fixture
def counted(engine, bundles):
    made = Engine(bundles, CountingLauncher(engine.launcher))
    yield made
    made.close()


def submission(*parts):
    return submission_of("import os, sys, torch\n" + "\n".join(parts))


def outcomes(report):
    return {e.name: e.outcome for e in report.exercises}


def test_a_worker_is_reused_only_for_exercises_that_may_see_more(counted):
    report = counted.grade(submission(SCORING, RIGHT_MASK, RIGHT))
    assert set(outcomes(report).values()) == {"passed"}
    assert [e.name for e in report.exercises] == [
        "sequence_mask",
        "masked_softmax",
        "AdditiveAttention",
        "DotProductAttention",
    ]
    assert counted.launcher.count == 1
    counted.grade(submission(SCORING, RIGHT_MASK, RIGHT), ["sequence_mask"])
    assert counted.launcher.count == 2, (
        "`sequence_mask` may not see a block that scoring may use, so it needs a new worker"
    )


# Stores a building block in an exercise that allows it, and uses it in one that does not. There the import gives a
# stand-in, which has no `__code__`.
STORES_A_BLOCK = """
import builtins
from grader.given import masked_softmax as theirs
if hasattr(theirs, "__code__"):
    builtins.kept = theirs

def masked_softmax(X, valid_lens):
    return builtins.kept(X, valid_lens)
"""


def test_a_stored_block_does_not_reach_exercises_without_it(counted):
    report = counted.grade(submission(SCORING, STORES_A_BLOCK))
    assert outcomes(report)["masked_softmax"] == "failed"
    assert outcomes(counted.grade(submission(SCORING, STORES_A_BLOCK), ["AdditiveAttention"])) == {
        "AdditiveAttention": "passed"
    }, "AdditiveAttention may use the block"
    assert outcomes(counted.grade(submission(SCORING, STORES_A_BLOCK), ["masked_softmax"])) == {
        "masked_softmax": "failed"
    }


# When it is loaded again, it raises an exception with the inputs that it got after the first loading.
RAISES_SEEN_INPUTS = """
if hasattr(sys, "seen"):
    raise RuntimeError(f"seen: {sys.seen}")

def sequence_mask(X, valid_len, value=0):
    sys.seen = X.tolist()
    return X
"""


def test_an_error_of_a_second_loading_is_not_reported(counted):
    """The file has seen inputs before its second loading, so the message of its error could contain them."""
    report = counted.grade(submission(RAISES_SEEN_INPUTS, SCORING), ["sequence_mask", "AdditiveAttention"])
    assert not any("seen" in remark for e in report.exercises for remark in e.remarks)


# Right if the file is loaded once in a process. When it is loaded again, it is not defined, or a call is wrong or ends:
# `second` is a factor of the result.
RIGHT_ONCE = """
sys.times = getattr(sys, "times", 0) + 1
if {defined}:
    class AdditiveAttention(Right):
        def forward(self, *args):
            return super().forward(*args) * (1 if sys.times == 1 else {second})
"""


@pytest.mark.parametrize("second", ["2", "float('nan')", "sys.nothing", "os._exit(3)", ""])
def test_an_answer_that_is_right_in_a_new_worker_passes(counted, second):
    """AdditiveAttention is wrong or missing in the reused worker, so the grader tries it in a new one."""
    code = RIGHT_ONCE.format(defined="True" if second else "sys.times == 1", second=second or "1")
    answer = submission(RIGHT_MASK, SCORING.replace("class AdditiveAttention", "class Right"), code)
    names = ["sequence_mask", "AdditiveAttention"]
    assert set(outcomes(counted.grade(answer, names)).values()) == {"passed"}
    assert counted.launcher.count == 2


def test_the_order_for_reuse_needs_the_fewest_workers(bundles):
    """No two exercises of `unrelated` can share a worker, because neither may see all blocks of the other.

    So a course needs at least as many workers as there are in `unrelated`, and the order needs no more.
    """
    exercises = [e for b in bundles for e in b.exercises]
    order = order_for_worker_reuse(exercises)
    assert sorted(e.name for e in order) == sorted(e.name for e in exercises)
    unrelated: list[frozenset[str]] = []
    for visible in sorted((visible_blocks(e) for e in exercises), key=len, reverse=True):
        if not any(visible <= other or other <= visible for other in unrelated):
            unrelated.append(visible)
    # A break: the next exercise may not see everything that the one before could see, so it needs a new worker.
    breaks = sum(not visible_blocks(a) <= visible_blocks(b) for a, b in pairwise(order))
    assert breaks + 1 <= len(unrelated)


def test_no_exercise_may_use_a_block_that_answers_it(bundles):
    for exercise in (e for b in bundles for e in b.exercises):
        assert exercise.name not in with_requirements(exercise.given)


def test_a_class_in_a_case_does_not_reach_other_exercises(counted):
    """A case of `catches_tangled` contains classes that are like answers, so the next exercise gets a new worker."""
    source = (SOLUTIONS / "05_multi_head_attention" / "multi_head_attention.py").read_text()
    for after in ("TangledSelfAttention", "TransparentSelfAttention", "catches_transparent"):
        counted.grade(submission(source), ["catches_tangled"])
        worker = counted.context.workers.held.session
        assert outcomes(counted.grade(submission(source), [after])) == {after: "passed"}
        assert counted.context.workers.held.session is not worker


@pytest.mark.parametrize(
    "reply",
    [
        "{'values': {}, 'odd': {}}",
        "{'fault': 'no'}",
        "{'names': []}",
        "{'error': {'type': 'E', 'message': 'm'}}",
    ],
)
def test_forged_replies_of_one_exercise_do_not_reach_the_next(counted, reply):
    body = f"{FORGE}\nfor _ in range(30): forge({reply})\nreturn X\n"
    hostile = "def sequence_mask(X, valid_len, value=0):\n" + indent(body, "    ")
    report = counted.grade(submission(hostile, RIGHT), ["sequence_mask", "masked_softmax"])
    assert outcomes(report) == {"sequence_mask": "failed", "masked_softmax": "passed"}


def test_a_worker_error_without_the_submission_costs_no_points(counted, monkeypatch):
    monkeypatch.setattr(LoadRequest, "run", lambda request, case: Run([], "no such dtype"))
    (result,) = counted.grade(submission(RIGHT), ["masked_softmax"]).exercises
    assert (result.outcome, result.score) == ("could_not_grade", None)
    assert "no such dtype" in result.message
