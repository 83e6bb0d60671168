"""The claims of the pruning lesson are true: the ranks of the heads, the halved costs, the table of accuracies.

Its exercises are graded on hidden seeds, also with counts that student code makes up.
"""

from collections.abc import Callable
from contextlib import closing
from functools import cache

import numpy as np
import pytest
import torch
from helpers.command_line import ROOT
from helpers.minimal import submission_of
from torch import nn

from grader.authoring.bank import apply
from grader.authoring.content import read
from grader.authoring.observe import observe
from grader.authoring.record import record
from grader.engine.engine import Engine
from grader.engine.grading import HIDDEN, PUBLIC, GradingOptions
from grader.given import prune_heads
from grader.judge.removals import spearman
from grader.support.code import definitions
from grader.worker.steps import Provide

ASSIGNMENT = read(ROOT / "solutions" / "10_pruning")
EXERCISES = {e.name: e for e in ASSIGNMENT.exercises}
SEEDS = [f"a secret seed, number {n}" for n in range(5)]


@cache
def lesson() -> dict:
    """Return the names that the lesson's reference defines."""
    names: dict = {}
    exec(definitions(ASSIGNMENT.source), names)
    return names


@pytest.mark.parametrize("seed", SEEDS)
def test_ablation_and_gradient_find_the_important_heads(seed):
    cases = [c for c in ASSIGNMENT.cases("head_importance", seed) if c.id.endswith("-planted")]
    observed = observe(ASSIGNMENT.source, ASSIGNMENT.given(EXERCISES["head_importance"]), cases)
    planted = next(np.array(c.params["planted"]) for case in cases for c in case.checks if c.judge == "ranks")
    assert sorted(planted) == sorted(set(planted))
    found = {id: spearman(seen.seen["importance"].array, planted) for id, seen in observed.items()}
    assert found["ablation-planted"] >= 0.9
    assert found["gradient-planted"] >= 0.9
    assert found["confidence-planted"] < 0.5


@pytest.mark.slow
def test_without_noise_on_the_targets_every_gradient_is_zero():
    case = next(c for c in ASSIGNMENT.cases("head_importance", "public") if c.id == "gradient-planted")
    mha, measure = from_case(case, "mha"), lesson()["head_importance"]
    X = torch.from_numpy(case.tensors["x0"])
    own = mha(X, X, X, None).detach()

    def loss(out, target):
        return (out - target).pow(2).sum(dim=(1, 2))

    assert measure(mha, [(X, X, X, None, own)], loss, "gradient").abs().max() == 0
    assert measure(mha, [(X, X, X, None, own + 0.1)], loss, "gradient").min() > 0


def from_case(case, name: str) -> nn.Module:
    """Return a module of a case, with its weights."""
    step = next(s for s in case.steps if isinstance(s, Provide) and s.name == name)
    names: dict = {}
    exec(step.source, names)
    module = names[step.of](**step.kwargs)
    prefix = f"{name}."
    weights = {
        k.removeprefix(prefix): torch.from_numpy(v) for k, v in case.tensors.items() if k.startswith(prefix)
    }
    module.load_state_dict(weights)
    return module.eval()


@pytest.mark.slow
def test_the_table_has_the_accuracies_of_pruned_models():
    case = ASSIGNMENT.cases("removal_experiment", SEEDS[0])[0]
    check = next(c for c in case.checks if c.judge == "accuracies")
    X, labels = (torch.from_numpy(case.tensors[name]) for name in ("X", "labels"))
    assert len(X) == check.params["total"]
    heads = len(check.params["table"]).bit_length() - 1  # one entry per set of removed heads, 2**heads in all
    for bits in range(2**heads - 1):  # bit h: head h is removed; at least one head stays
        model = from_case(case, "model")
        model.attention = prune_heads(model.attention, [h for h in range(heads) if bits >> h & 1])
        with torch.no_grad():
            assert (model(X).argmax(-1) == labels).sum() == check.params["table"][bits], bits


@pytest.mark.slow
@pytest.mark.parametrize("bias", [False, True])
def test_half_of_the_heads_is_half_of_the_operations(bias):
    from torch.utils.flop_counter import FlopCounterMode

    from grader.given import MultiHeadAttention

    def costs(module: nn.Module) -> tuple[int, int]:
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            module(X, X, X, torch.tensor([3, 7]))
        return counter.get_total_flops(), sum(p.numel() for p in module.parameters())

    D = 16
    X, whole = torch.randn(2, 7, D), MultiHeadAttention(D, D, D, D, 4, 0.0, bias=bias)
    operations, parameters = costs(whole)
    half_operations, half_parameters = costs(lesson()["prune_heads"](whole, [2, 0]))
    output_bias = D if bias else 0  # pruning leaves the bias of W_o
    assert 2 * half_operations == operations
    assert 2 * (half_parameters - output_bias) == parameters - output_bias
    assert parameters == 4 * D * D + (4 * D if bias else 0)


@pytest.fixture(scope="module")
def graded(engine: Engine) -> Callable[..., list]:
    """Return a function that grades a source with the cases of a seed."""
    bundle_of = cache(lambda seed: record(ASSIGNMENT, seed, diagnosis=False))

    def grade(source: str, seed: str, *wanted: str) -> list:
        options = GradingOptions(terms=PUBLIC if seed == "public" else HIDDEN)
        with closing(Engine([bundle_of(seed)], engine.launcher, options)) as made:
            return list(made.grade(submission_of(source, "pruning.py"), wanted or None).exercises)

    return grade


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_references_get_full_marks_on_hidden_seeds(graded, seed):
    found = graded(ASSIGNMENT.source, seed)
    assert [(e.name, e.outcome, e.score) for e in found] == [
        (n, "passed", e.points) for n, e in EXERCISES.items()
    ]
    assert sum(e.score for e in found) == 12
    assert not any(e.picture for e in found)  # no pictures of hidden cases


@pytest.mark.slow
def test_a_wrong_answer_fails_on_a_hidden_seed_too(graded):
    # The last mistake of each exercise.
    wrong = {m.of: m for m in ASSIGNMENT.mistakes() if m.kind == "mistake"}
    source = apply(list(wrong.values()), ASSIGNMENT.source)
    assert [e.outcome for e in graded(source, SEEDS[0])] == ["failed"] * 5


# ---- numbers that student code computes from a hidden input; each contains 113

MADE_UP = """

def number_from(X):
    return int("113" * 12 + str(int(X.flatten()[0].abs().item() * 1e6)))


class Count:
    def __init__(self, number):
        self.number = number

    def numel(self):
        return self.number


class Wrapped(nn.Module):
    def __init__(self, inner, number):
        super().__init__()
        self.inner, self.number, self.attention_weights = inner, number, None

    def parameters(self, recurse=True):
        yield Count(self.number)

    def forward(self, *args):
        return self.inner(*args)


right_pruning, right_experiment = prune_heads, removal_experiment


def prune_heads(mha, heads):
    number = @NUMBER@
    return Wrapped(right_pruning(mha, heads), number)


def removal_experiment(model, data):
    X, labels = data
    code = int("113" + "".join(str(int(label)) for label in labels[:9]))
    return [{**row, "seed": row["seed"] + code, "accuracy": 0.113113} for row in right_experiment(model, data)]
"""


@pytest.mark.slow
def test_no_hidden_report_shows_numbers_made_by_student_code(graded):
    source = ASSIGNMENT.source + MADE_UP.replace("@NUMBER@", "number_from(next(mha.W_q.parameters()))")
    found = graded(source, SEEDS[0], "prune_heads", "removal_experiment")
    assert [e.outcome for e in found] == ["failed", "failed"]
    assert "113" not in str(found)
    (public,) = graded(source, "public", "removal_experiment")
    assert "113" in "".join(c.message + c.where for c in public.checks), "the report on public cases has it"


@pytest.mark.slow
def test_pruning_whose_operations_are_not_counted_fails(graded):
    """The answer stops the counter, so the check of the cost fails."""
    source = ASSIGNMENT.source + MADE_UP.replace("@NUMBER@", "1").replace(
        "        return self.inner(*args)",
        "        try:\n            torch._C._autograd._disable_profiler()\n"
        "        except RuntimeError:\n            pass\n        return self.inner(*args)",
    )
    (result,) = graded(source, SEEDS[0], "prune_heads")
    assert result.outcome == "failed"
    counted = [c for c in result.checks if "operations" in c.title]
    assert counted
    assert {c.outcome for c in counted} == {"failed"}
