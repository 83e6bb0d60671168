"""A program runs the steps of a case and records what it observes, whatever student code returns."""

import warnings

import pytest
import torch
from msgspec.structs import replace
from torch import nn

from grader.worker.program import Program
from grader.worker.results import MAX_VALUES
from grader.worker.steps import (
    Build,
    Call,
    Callee,
    Gradients,
    Input,
    Load,
    Mode,
    Provide,
    Ref,
    Run,
    See,
    SeeNone,
    SeeValue,
    Stage,
    Stages,
    Student,
    Weights,
)


def run(f, *steps, tensors=None, dtype="float32", **names):
    program = Program({"f": f, **names}, Run(steps, dtype), tensors or {})
    program.run(frozenset({__file__}))  # as if this file were the submission: errors name a line in it
    return program


TWICE = """
import torch

class Twice:
    def __call__(self, own):
        return torch.stack([own(torch.tensor(x), num_draft=2) for x in (3.0, 4.0)])
"""
OUT, X = Ref("out"), Ref("X")
CALL, CALL_X = (Call("out", Callee("f"), args, {}) for args in ([], [X]))
SEE = See("out", OUT)


def see(value):
    """Run a program that observes what `f` returns: `value`."""
    return run(lambda: value, CALL, SEE)


def test_a_tensor_is_observed_as_a_copy_with_its_dtype():
    value = torch.arange(6.0).reshape(2, 3).T
    program = see(value)
    value.zero_()
    assert program.observed["out"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert program.reply == {"odd": {}}


class Lying(torch.Tensor):
    """Returns false values from every method of torch that it can override."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return torch.ones(2)

    def detach(self):
        return "a lie"


class Claiming:
    """No tensor, although `isinstance` says so."""

    __class__ = property(lambda self: torch.Tensor)

    def detach(self):
        return self

    def __getattr__(self, name):
        return lambda *args, **kwargs: self


def test_a_tensor_subclass_is_observed_by_its_real_values():
    program = see(torch.zeros(3).as_subclass(Lying))
    assert program.observed["out"].tolist() == [0, 0, 0]
    assert type(program.observed["out"]) is torch.Tensor


def test_an_object_that_claims_to_be_a_tensor_is_described():
    program = see(Claiming())
    assert program.observed == {}
    assert program.reply["odd"]["out"]["is"] == "a Claiming"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "None"),
        ((1, 2), "a tuple of 2"),
        ([torch.ones(1)], "a list of 1"),
        ({}, "a dict of 0"),
        (5, "an int"),
        (torch.ones(2).to_sparse(), "a torch.sparse_coo tensor on cpu"),
        (torch.empty(2, device="meta"), "a torch.strided tensor on meta"),
        (torch.ones(2, dtype=torch.complex64), "a torch.strided tensor on cpu"),
        (torch.ones(2).to(torch.float8_e4m3fn), "a tensor of torch.float8_e4m3fn"),
        (torch.ones(2, dtype=torch.uint16), "a tensor of torch.uint16"),
        (torch.empty(2, dtype=torch.bits8), "a tensor of torch.bits8"),
    ],
)
def test_a_value_that_is_no_plain_tensor_is_described(value, sentence):
    program = see(value)
    assert program.observed == {}
    assert program.reply["odd"]["out"]["is"] == sentence


def test_only_the_shape_of_a_giant_tensor_is_reported():
    program = see(torch.zeros(1).expand(MAX_VALUES + 1))
    assert program.observed == {}
    assert program.reply["odd"]["out"] == {"is": "a tensor", "shape": [MAX_VALUES + 1]}


def test_what_was_seen_before_an_exception_stays():
    program = run(
        lambda: 1 / 0,
        Input("X"),
        See("X", X),
        CALL,
        SEE,
        tensors={"X": torch.ones(2)},
    )
    assert program.observed.keys() == {"X"}
    assert (program.reply["error"]["type"], program.reply["error"]["step"]) == ("ZeroDivisionError", "call")
    assert program.reply["error"]["where"]["file"] == __file__


def gradient(f, upstream):
    """Return the gradient of the input (1, 1, 1) of `f` for this gradient of its output."""
    steps = [
        Input("X", grad=True),
        CALL_X,
        Gradients([OUT], upstream=["g"], wrt=["X"]),
    ]
    program = run(f, *steps, tensors={"X": torch.ones(3), "g": torch.tensor(upstream)})
    return program.observed["grad X"].tolist()


def test_an_input_written_in_place_is_still_differentiated():
    assert gradient(lambda x: x.mul_(2), [1.0, 2.0, 3.0]) == [2, 4, 6]


@pytest.mark.parametrize("f", [lambda x: x.detach() * 2, lambda x: torch.ones(3), lambda x: x * 0])
def test_the_gradient_is_zero_where_nothing_flows_back(f):
    assert gradient(f, [1.0, 1.0, 1.0]) == [0, 0, 0]


def test_gradients_are_enabled_again_after_each_program():
    run(lambda: torch.set_grad_enabled(False), CALL)
    assert torch.is_grad_enabled()


def test_only_floating_tensors_get_the_dtype_of_the_case():
    program = run(
        lambda x, n: (x.dtype, n.dtype),
        Input("X"),
        Input("lens"),
        Call("out", Callee("f"), [X, Ref("lens")], {}),
        tensors={"X": torch.ones(2), "lens": torch.ones(2, dtype=torch.int64)},
        dtype="bfloat16",
    )
    assert program.env["out"] == (torch.bfloat16, torch.int64)


def see_weights(value, **options):
    """Run a program that observes the attention weights of a module, which has `value` in their place.

    NotImplemented: the module has a property that raises it, as that of a base class does.
    """

    class Module(nn.Module):
        if value is NotImplemented:

            @property
            def attention_weights(self):
                raise NotImplementedError

    module = Module()
    if value is not NotImplemented:
        module.attention_weights = value
    return run(lambda: module, CALL, Weights("w", OUT, **{"heads": 2, **options}))


def test_attention_weights_are_found_in_a_submodule():
    module = nn.Sequential(nn.Module())
    module[0].attention_weights = torch.ones(4, 2, 3)
    assert run(lambda: module, CALL, Weights("w", OUT, heads=2)).observed["w"].shape == (4, 2, 3)


SELF, CROSS = torch.ones(6, 4, 4), torch.zeros(6, 4, 5)
BY_HEAD = list(SELF.unflatten(0, (2, 3)).unbind(1))


def of_layers(part):
    """Return the options of a step that observes the attention weights of a stack of layers."""
    return {"heads": 3, "layers": True, "part": part}


@pytest.mark.parametrize(
    ("value", "options", "shape", "lists_of_heads"),
    [
        ([torch.zeros(2, 3), torch.ones(2, 3)], {}, (2, 2, 3), True),
        ([SELF, SELF], of_layers(None), (2, 6, 4, 4), False),
        (torch.stack([SELF, SELF]), of_layers(None), (2, 6, 4, 4), False),
        ([BY_HEAD, BY_HEAD], of_layers(None), (2, 3, 2, 4, 4), True),
        ([[SELF, SELF], [CROSS, CROSS]], of_layers(0), (2, 6, 4, 4), False),
        ([[SELF, SELF], [CROSS, CROSS]], of_layers(1), (2, 6, 4, 5), False),
        ([[BY_HEAD, BY_HEAD], []], of_layers(0), (2, 3, 2, 4, 4), True),
    ],
)
def test_lists_of_attention_weights_are_stacked(value, options, shape, lists_of_heads):
    program = see_weights(value, **options)
    assert program.observed["w"].shape == shape
    assert program.reply.get("stacked", []) == ["w"] * lists_of_heads


@pytest.mark.parametrize(
    ("value", "options", "sentence"),
    [
        (None, {}, "None"),
        ([], {}, "a list of 0"),
        ([1, 2], {}, "a list of 2"),
        ([torch.ones(2), torch.ones(3)], {}, "a list of 2"),
        (None, of_layers(None), "None"),
        ([None, None], of_layers(None), "None"),
        ([[], []], of_layers(1), "None"),
        (NotImplemented, of_layers(None), "None"),
        ([SELF, None], of_layers(None), "a list of 2"),
        ([[], [CROSS]], of_layers(0), "a list of 0"),
        ([[SELF, CROSS], [SELF, CROSS]], of_layers(0), "a list of 2"),
        ([SELF, CROSS, SELF, CROSS], of_layers(1), "a list of 4"),
    ],
)
def test_attention_weights_that_do_not_fit_are_described(value, options, sentence):
    program = see_weights(value, **options)
    assert "error" not in program.reply
    assert program.reply["odd"]["w"]["is"] == sentence


def see_value(value):
    """Return the reply of a program that observes a plain value which `f` returns."""
    return run(lambda: value, CALL, SeeValue("v", OUT)).reply


def test_plain_values_are_reported_and_others_described():
    copies = [(True, True), (3, 3), (None, None), (torch.tensor(True), True), (torch.tensor([2.5]), 2.5)]
    for value, copied in copies:
        found = see_value(value)["values"]["v"]
        assert (type(found), found) == (type(copied), copied)
    assert see_value("text")["odd"]["v"]["is"] == "a str"


@pytest.mark.parametrize(
    ("value", "observed"),
    [([None], {"none entry": 1.0}), ([0], {"none entry": 0.0}), ([], {}), (3, {}), (None, {})],
    ids=["None", "something", "too short", "no list", "nothing"],
)
def test_an_entry_is_none_or_not_or_is_not_observed(value, observed):
    """The step `none` observes 1.0 if the entry is None and 0.0 if it is not; nothing if there is no such entry."""
    program = run(lambda: value, CALL, SeeNone("none entry", OUT[0]))
    assert {name: tensor.item() for name, tensor in program.observed.items()} == observed
    assert "error" not in program.reply


def test_a_class_under_another_name_is_built_by_its_alias():
    case = Run([Build("m", "Net", {})], "float32", aliases={"Net": "my_net"})
    program = Program({"my_net": lambda: "mine"}, case, {})
    program.run(frozenset())
    assert program.env["m"] == "mine"


def test_warnings_are_printed_and_never_raised():
    def f():
        warnings.warn("loud", stacklevel=1)

    def run_after_a_strict_file():
        warnings.simplefilter("error")  # as a submission may do at its top level
        return run(f, CALL)

    with pytest.warns(UserWarning, match="loud"):
        program = run_after_a_strict_file()
    assert "error" not in program.reply


def test_a_result_without_the_wanted_entry_names_the_function_s_line():
    def f():
        return {}

    program = run(f, CALL, See("out", OUT["encoder"]))
    assert program.reply["error"]["type"] == "KeyError"
    assert program.reply["error"]["where"]["line"] == f.__code__.co_firstlineno


class Half(nn.Module):
    """Returns a pair."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1))

    def forward(self, X):
        return X * self.w, None


class Twice(nn.Module):
    """Has one layer under two names; its result depends on the mode."""

    def __init__(self):
        super().__init__()
        self.a = self.b = Half()

    def forward(self, X):
        return self.a(X)[0] * (2 if self.training else 1)


def test_a_module_is_loaded_under_all_its_names_switched_and_watched():
    steps = [
        Input("X"),
        Build("module", "Twice", {}),
        Load("module", {"a.w": "w", "b.w": "w"}),
        Mode("module", train=False),
        Stages("module", [Stage("a", "")]),
        Call("out", Callee(ref="module"), [X], {}),
        SEE,
    ]
    tensors = {"X": torch.tensor([1.0, 2.0]), "w": torch.tensor([3.0])}
    program = run(None, *steps, tensors=tensors, Twice=Twice)
    assert program.reply["parameters"]["shared"] == [["a.w", "b.w"]]
    assert program.observed["stage a"].tolist() == program.observed["out"].tolist() == [3, 6]


def test_code_of_the_case_calls_the_students_function_by_its_own_names():
    steps = (Provide("twice", TWICE, "Twice", {}), Student("own f", "f"))
    run_of = Run((*steps, Call("out", Callee(ref="twice"), [Ref("own f")], {}), SEE), "float32")
    run_of = replace(run_of, aliases={"f": "g"}, renamed={"f": {"num_draft": "gamma"}})
    program = Program({"g": lambda x, gamma: x * gamma}, run_of, {})
    program.run(frozenset({__file__}))
    assert program.observed["out"].tolist() == [6.0, 8.0]


def test_an_exception_of_the_function_that_code_of_the_case_calls_has_its_place():
    steps = (Provide("twice", TWICE, "Twice", {}), Student("own f", "f"))
    program = run(lambda x, num_draft: 1 / 0, *steps, Call("out", Callee(ref="twice"), [Ref("own f")], {}))
    assert program.reply["error"]["type"] == "ZeroDivisionError"
    assert "1 / 0" in program.reply["error"]["where"]["text"]
