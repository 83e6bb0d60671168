"""A worker measures what a module costs, does a step of gradient descent, and observes a removal experiment."""

import pytest
import torch
from torch import nn

from grader.worker.program import Program
from grader.worker.results import ORDERS
from grader.worker.steps import Descend, Flops, ParameterCount, Ref, Removals, Run

MODULE = Ref("module")


def run(module, *steps, tensors=None, **env):
    program = Program({}, Run(steps, "float32"), tensors or {})
    program.env.update(module=module, **env)
    program.run(frozenset({__file__}))
    return program


def test_shared_parameters_are_counted_once():
    layer = nn.Linear(3, 4)
    program = run(nn.Sequential(layer, nn.ReLU(), layer), ParameterCount("n", MODULE))
    assert program.reply["values"] == {"n": 16}


def test_each_product_counts_as_two_operations():
    program = run(nn.Linear(3, 4), Flops("n", MODULE, [Ref("x")]), x=torch.ones(5, 3))
    assert program.reply["values"] == {"n": 2 * 5 * 3 * 4}


@pytest.mark.parametrize(
    "step",
    [ParameterCount("n", MODULE), Flops("n", MODULE, []), Descend(MODULE, of=MODULE, upstream="g", rate=0.5)],
    ids=["parameter_count", "flops", "descend"],
)
def test_a_value_that_is_no_module_has_a_message(step):
    assert (
        run(None, step, tensors={"g": torch.ones(1)}).reply["error"]["message"]
        == "NoneType was returned where a module was expected"
    )


def descended(layer):
    """Do one step of gradient descent: rate 0.5, upstream gradient 2, and inputs of 1. Return the layer."""
    step = Descend(MODULE, Ref("y"), upstream="g", rate=0.5)
    y = layer(torch.ones(1, 2))
    program = run(layer, step, tensors={"g": torch.full((1, 1), 2.0)}, y=y)
    assert "error" not in program.reply
    return layer


def test_a_frozen_layer_is_unchanged_and_no_error():
    layer = nn.Linear(2, 1).requires_grad_(False)
    before = layer.weight.clone()
    assert torch.equal(descended(layer).weight, before)


ROW = {"seed": 7, "order": "reverse", "removed": [2, 0], "accuracy": 0.25}
STEP = Removals("r", Ref("rows"), heads=3)


def test_rows_become_a_table():
    """A row has the seed, the index of the order in ORDERS, the accuracy, and the removed heads, padded with -1."""
    for removed in ([2, 0], (2, 0), torch.tensor([2, 0])):
        row = {**ROW, "removed": removed, "accuracy": torch.tensor(0.25)}
        assert run(None, STEP, rows=[row]).observed["r"].tolist() == [[7, 2, 0.25, 2, 0, -1]]
    assert run(None, STEP, rows=[]).observed["r"].shape == (0, 6)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (None, "NoneType instead of a list of rows"),
        ([3], "a list that holds int instead of rows"),
        ([{"seed": 1}], "a row without 'order'"),
        ([{**ROW, "order": "best"}], "a row of another order than importance, random and reverse"),
        ([{**ROW, "removed": 2}], "a row whose 'removed' is not a list of heads"),
        ([{**ROW, "removed": ["a"]}], "a row whose 'removed' is not a number"),
        ([{**ROW, "removed": [0, 1, 2, 0]}], "a row that removes more heads than there are"),
        ([{**ROW, "accuracy": "high"}], "a row whose 'accuracy' is not a number"),
        ([{**ROW, "accuracy": 10**400}], "a row whose 'accuracy' is not a number"),
        ([ROW] * 10_001, "a list of more than 10,000 rows"),
    ],
)
def test_a_value_that_is_no_row_is_described(rows, says):
    assert run(None, STEP, rows=rows).reply["odd"]["r"] == {"is": says}


def test_judge_and_worker_have_the_same_orders():
    from grader.judge.removals import ORDERS as JUDGED

    assert ORDERS == JUDGED


def test_only_the_parameters_that_are_not_frozen_change():
    layer = nn.Linear(2, 1)
    layer.weight.requires_grad_(False)
    weight, bias = layer.weight.clone(), layer.bias.detach().clone()
    descended(layer)
    assert torch.equal(layer.weight, weight)
    assert torch.allclose(layer.bias, bias - 0.5 * 2.0)
