"""Authors write a case as calls of `Case`. The result is plain data."""

import re

import msgspec
import numpy as np
import pytest
import torch
from helpers.command_line import ROOT

from grader.authoring.content import read
from grader.authoring.scaffold import scaffold
from grader.bundle.files import round_to
from grader.cases import draw
from grader.cases.case import Case
from grader.cases.draw import Draw, eye, filled, zeros
from grader.support.errors import UsageError
from grader.worker.steps import Call, Callee, Step


def test_the_steps_of_a_case_can_be_written_as_json():
    case = Case("one", "MultiHeadAttention")
    X = case.input("X", np.ones((2, 3)), grad=True)
    module = case.build(num_hiddens=8, bias=False)
    values = {"W_q": np.ones((2, 2)), "W_k": zeros(2, 2), "W_v": eye(3), "W_o": filled(2.0, 4)}
    case.load(module, {f"{name}.weight": value for name, value in values.items()})
    case.train(module)
    case.seed(3)
    Y = case.call(X, [X, {"state": X}], on=module, axes=("batch", "query"))
    case.method(module, "init_state", X, None)
    case.join([Y, Y[0]], dim=1)
    case.part(Y, (None, None), (1, 2))
    case.gradients(Y, np.ones((2, 3)), wrt=[X], parameters=module)
    assert msgspec.json.decode(msgspec.json.encode(case.steps), type=list[Step]) == case.steps
    done = [step.do for step in case.steps]
    assert done == ["input", "build", "load", "mode", "seed", "call", "call", "join", "part", "gradients"]


def test_gradients_name_the_inputs_and_the_loaded_weights():
    case = Case("one", "Head")
    X = case.input("X", np.ones(2), grad=True)
    module = case.build()
    case.load(module, {"W.weight": np.ones(2)})
    assert case.gradients(case.call(X, on=module), np.ones(2), [X], module) == ("grad X", "grad W.weight")


def test_ids_of_checks_are_distinct():
    case = Case("one", "f")
    Y = case.call()
    for _ in range(3):
        case.check_values(Y, "values")
    case.check_shape(Y)
    assert [check.id for check in case.checks] == ["one/values", "one/values#2", "one/values#3", "one/shapes"]


def test_a_check_that_caps_nothing_is_of_the_facet_defaults():
    one, all_of_it = Case("one", "f"), Case("all", "f", caps=False)
    for case, caps in ((one, False), (one, True), (all_of_it, True)):
        Y = case.call()
        case.check_values(Y, "values", caps=caps)
        case.check_same(Y, Y, "the same", "masking", caps=caps)
    facets = ["defaults", "defaults", "values", "masking", "defaults", "defaults"]
    assert [check.facet for check in (*one.checks, *all_of_it.checks)] == facets
    assert all("caps" not in check.params for check in one.checks)


def test_an_unknown_facet_is_refused():
    with pytest.raises(ValueError, match="unknown facet 'looks'"):
        Case("one", "f").check("looks", "equal", ["out"], "title")


def test_two_different_tensors_under_one_name_are_refused():
    case = Case("one", "f")
    case.input("X", np.ones(2))
    case.input("X", np.ones(2))
    with pytest.raises(ValueError, match="'X' is already another tensor"):
        case.input("X", np.zeros(2))


def test_only_floating_inputs_take_the_dtype_of_the_case():
    case = Case("one", "f", dtype="float16")
    case.input("X", np.array([1 / 3]))
    case.input("lens", np.array([2, 5]))
    assert case.tensors["X"].dtype == np.float16
    assert case.tensors["lens"].dtype == np.int64


def test_rounding_to_bfloat16_is_that_of_torch():
    numbers = np.random.default_rng(0).standard_normal(5000) * np.logspace(-30, 30, 5000)
    ties = np.array([1.00390625, 1.01171875, -1.00390625], dtype=np.float32)  # halfway between two neighbours
    for array in (numbers.astype(np.float32), ties, np.array(2.5, dtype=np.float32)):
        assert np.array_equal(round_to(array, "bfloat16"), torch.from_numpy(array).bfloat16().float().numpy())


def test_large_tensors_of_one_value_are_not_stored():
    case = Case("one", "Head")
    case.load(case.build(), {"W.weight": filled(0.5, 1000, 1000)})
    case.constant("X", (4000, 4000))
    assert case.tensors == {}


def test_a_training_is_called_with_its_number_of_steps():
    case = Case("one", "train")
    case.call_training(30, 5, name="returned")
    assert case.steps[-1] == Call("returned", Callee("train"), [5], {}, steps=30)


def test_a_module_may_be_made_of_the_students_parts():
    case = Case("one", "train")
    case.provide("class Model: ...", "Model")
    case.provide_with_parts("class Model: ...", "Model", "own")
    assert [step.own for step in case.steps] == [False, True]


def test_a_case_that_is_never_yielded_is_an_error(tmp_path):
    scaffold(tmp_path, "12_normalising", "f")
    path = tmp_path / "12_normalising/cases.py"
    assert len(read(path.parent).cases("f", "public")) == 2
    path.write_text(
        path.read_text("utf-8").replace(
            "        yield case", "        if id != 'other':\n            yield case"
        )
    )
    with pytest.raises(UsageError, match="f makes the case other and never yields it"):
        read(path.parent).cases("f", "public")


def test_the_guide_has_a_row_for_every_method_of_a_case_and_its_examples_run():
    """The examples run from top to bottom, on one case. CONTRIBUTING.md repeats some rows."""
    guide, short = ((ROOT / file).read_text("utf-8") for file in ("docs/cases.md", "CONTRIBUTING.md"))
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| .+ \| `(.+)` \|$", guide, re.M)
    methods = {name for name in dir(Case) if not name.startswith("_")}
    assert methods == {name for names, _example in rows for name in re.findall(r"\w+", names)}
    case = Case("one", "MultiHeadAttention")
    names = {"case": case, "Case": Case, "draw": Draw("public", "guide"), "weights": draw}
    for name, example in rows:
        assert f"case.{name.rpartition('`, `')[2].strip('`')}(" in example
        exec(example, names)
    assert len(case.checks) > 10
    repeated = [line for line in short.splitlines() if " | `" in line and "case." in line]
    assert len(repeated) > 10
    assert set(repeated) <= set(guide.splitlines())
