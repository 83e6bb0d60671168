"""A worker measures what a module costs, does a step of gradient descent, and observes a removal experiment."""

import pytest
import torch
from torch import nn

from grader.worker.counts import NotCountedError, counted, values_kept
from grader.worker.program import Program
from grader.worker.results import ORDERS
from grader.worker.steps import (
    Attempt,
    Attribute,
    Callee,
    Count,
    Descend,
    Kept,
    ParameterCount,
    Ref,
    Removals,
    Run,
    SeeValue,
)

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


def count(what, *args):
    return Count("n", what, Callee(ref="module"), list(args), {})


def test_each_product_counts_as_two_operations():
    program = run(nn.Linear(3, 4), count("operations", Ref("x")), x=torch.ones(5, 3))
    assert program.reply["values"] == {"n": 2 * 5 * 3 * 4}


Q, K = torch.ones(2, 3, 7, 4), torch.ones(2, 3, 9, 4)


@pytest.mark.parametrize(
    ("call", "operations", "largest"),
    [
        (lambda: Q @ K.mT, 2 * 6 * 7 * 9 * 4, 6 * 7 * 9),  # its result is viewed once more
        (lambda: torch.einsum("bhtd,bhsd->bhts", Q, K).sum(), 2 * 6 * 7 * 9 * 4, 6 * 7 * 9),
        (lambda: nn.functional.scaled_dot_product_attention(Q, K, K), 2 * 6 * 7 * 9 * 8, 6 * 9 * 4),
        (lambda: nn.Conv1d(4, 6, 1)(torch.ones(2, 4, 5)), 2 * 2 * 5 * 4 * 6, 2 * 6 * 5),
        # Products of elements do not count.
        (lambda: (Q[:, :, :, None] * K[:, :, None]).sum(), 0, 6 * 7 * 9 * 4),
        (lambda: [torch.zeros(50, 50).add_(1)[:2], None], 0, 2500),
    ],
)
def test_operations_and_the_largest_tensor_are_counted(call, operations, largest):
    assert counted(call) == (operations, largest)


def test_a_mode_of_student_code_neither_hides_nor_doubles_operations():
    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    def call():
        with torch.utils._python_dispatch._disable_current_modes():
            Q @ K.mT

    with Mode():
        assert counted(lambda: Q @ K.mT)[0] == counted(call)[0] == 2 * 6 * 7 * 9 * 4


def test_a_call_that_stops_the_profiler_is_not_counted():
    with pytest.raises((NotCountedError, RuntimeError)):
        counted(torch._C._autograd._disable_profiler)


class Holder:
    """Holds tensors, and claims to hold none."""

    __slots__ = ("__dict__", "slot")

    def __getattribute__(self, name):
        raise AttributeError(name)

    def __init__(self):
        object.__setattr__(self, "slot", torch.ones(5))
        enclosed = torch.ones(7)
        object.__setattr__(self, "more", [{"a": torch.ones(2)}, (torch.ones(3),), lambda: enclosed])


def test_values_are_counted_wherever_an_object_keeps_them():
    layer, view = nn.Linear(3, 4), torch.ones(9)[:2]
    assert values_kept(Holder()) == 5 + 2 + 3 + 7
    assert values_kept([layer, layer, view]) == 12 + 4 + 2  # each once, and a view with its own size
    assert run(None, Kept("n", Ref("x")), x=[torch.ones(2, 3)]).reply["values"] == {"n": 6}
    with pytest.raises(NotCountedError, match="too many objects"):
        values_kept([[i] for i in range(100_001)])


def test_what_a_call_raises_is_observed_and_the_case_goes_on():
    class Odd(ValueError):
        pass

    def raises(error):
        if error:
            raise error

    def tried(error):
        program = run(raises, Attempt("n", Callee(ref="module"), [Ref("error")], "ValueError"), error=error)
        assert "error" not in program.reply
        return program.reply["values"]["n"]

    assert [tried(error) for error in (Odd(), KeyError(), None)] == [1, 2, 0]


@pytest.mark.parametrize("named", ["attribute", "property", "method", "second"])
def test_a_number_is_read_from_an_attribute_a_property_or_a_method(named):
    class Counting:
        attribute = 3
        property = property(lambda self: 3)

        def method(self):
            return 3

    names = ["no such", "attribute"] if named == "second" else [named]
    program = run(Counting(), Attribute("x", MODULE, names), SeeValue("n", Ref("x")))
    assert program.reply["values"] == {"n": 3}


@pytest.mark.parametrize(
    "step",
    [ParameterCount("n", MODULE), count("operations"), Descend(MODULE, of=MODULE, upstream="g", rate=0.5)],
    ids=["parameter_count", "operations", "descend"],
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
