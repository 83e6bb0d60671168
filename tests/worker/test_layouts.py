"""Every accepted layout computes what the contract's module computes, and gives back the same gradients.

The module of the contract is the course's own `MultiHeadAttention`; each other one holds the same four
projections in its own way. Weights are loaded and gradients read by the worker's own program.
"""

import numpy as np
import pytest
import torch
from helpers.attentions import EVEN, LAYOUTS, SIZES, WITHOUT_BIAS_ONLY, B, D, Fused, H, Lazy, S, T, renamed
from torch import Tensor, nn

from grader.given import MultiHeadAttention
from grader.worker import layouts
from grader.worker.program import Program


def weights(sizes, bias, prefix=""):
    rng = np.random.default_rng(0)
    out = {}
    for name, size in zip(
        ("W_q", "W_k", "W_v", "W_o"),
        (*(sizes[s] for s in ("query_size", "key_size", "value_size")), D),
        strict=True,
    ):
        out[f"{prefix}{name}.weight"] = torch.from_numpy(rng.standard_normal((D, size)) / size**0.5)
        if bias:
            out[f"{prefix}{name}.bias"] = torch.from_numpy(rng.standard_normal(D))
    return out


def run(build, sizes, bias):
    """What the worker's program observes: the output, and the gradients of inputs and contract weights."""
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    shapes = {
        "q": (B, T, sizes["query_size"]),
        "k": (B, S, sizes["key_size"]),
        "v": (B, S, sizes["value_size"]),
        "up": (B, T, D),
    }
    tensors = {name: torch.from_numpy(rng.standard_normal(shape)) for name, shape in shapes.items()}
    loaded = weights(sizes, bias)
    steps = [
        *({"do": "input", "name": name, "grad": True} for name in "qkv"),
        {"do": "build", "name": "m", "of": "Answer", "kwargs": {}},
        {"do": "load", "module": "m", "weights": {name: name for name in loaded}},
        {
            "do": "call",
            "name": "out",
            "on": {"ref": "m"},
            "args": [{"ref": name} for name in "qkv"],
            "kwargs": {},
        },
        {"do": "see", "name": "out", "of": {"ref": "out"}},
        {"do": "gradients", "of": [{"ref": "out"}], "upstream": ["up"], "wrt": list("qkv"), "module": "m"},
    ]
    program = Program({"Answer": build}, {"steps": steps, "dtype": "float64"}, tensors | loaded)
    program.run(frozenset())
    return program


def reference(sizes, bias):
    return run(
        lambda: MultiHeadAttention(**sizes, num_hiddens=D, num_heads=H, dropout=0.0, bias=bias), sizes, bias
    )


@pytest.mark.parametrize("bias", [False, True], ids=["", "bias"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_gives_the_same_results_and_gradients(layout, bias):
    if bias and layout in WITHOUT_BIAS_ONLY:
        pytest.skip("it has none")
    build, sizes = LAYOUTS[layout]
    want = reference(sizes, bias)
    got = run(lambda: build(**sizes, bias=bias), sizes, bias)
    assert "error" not in got.reply, got.reply
    told = got.reply["parameters"]
    assert (told["missing"], told["unexpected"], told["misshapen"], told["shared"]) == ([], [], [], [])
    assert got.observed.keys() == want.observed.keys()
    assert len(got.observed) == 1 + 3 + len(weights(sizes, bias))
    for name, tensor in want.observed.items():
        assert tensor.abs().max() > 1e-3 or name == "grad W_k.bias", (
            f"{name} tells nothing"
        )  # softmax takes no notice of that one
        assert torch.allclose(got.observed[name], tensor, atol=1e-10), name


def test_only_another_layout_is_reported():
    def layout(name):
        build, sizes = LAYOUTS[name]
        return run(lambda: build(**sizes, bias=False), sizes, False).reply["parameters"]["layout"]

    assert layout("the contract's own") == ""
    assert layout("lazy") == ""
    assert layout("fused") == "one fused projection"
    assert layout("Linear per head") == "projections per head"
    assert layout("query") == "other names"
    assert layout("same order") == "other names, same order"


# ---- what fits nothing


def found(module, wanted):
    return layouts.fit(
        dict(module.named_parameters(remove_duplicate=False)), {n: tuple(t.shape) for n, t in wanted.items()}
    )


def test_parameters_that_do_not_fit_are_reported_with_shapes():
    program = run(lambda: nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 7)), SIZES, bias=False)
    told = program.reply["parameters"]
    assert told["missing"] == ["W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"]
    assert told["unexpected"] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert told["shapes"] == {"0.weight": [7, 5], "0.bias": [7], "1.weight": [7, 7], "1.bias": [7]}


def test_a_right_name_with_a_wrong_shape_is_told():
    module = renamed("W_q", "W_k", "W_v", "W_o")(**{**SIZES, "key_size": 9}, bias=False)
    assert found(module, weights(SIZES, False)).misshapen == ["W_k.weight"]


def test_a_bias_too_many_is_told():
    module = renamed("W_q", "W_k", "W_v", "W_o")(**SIZES, bias=True)
    assert found(module, weights(SIZES, False)).unexpected == ["W_q.bias", "W_k.bias", "W_v.bias", "W_o.bias"]


def test_one_layer_in_two_places_is_told():
    module = renamed("W_q", "W_k", "W_v", "W_o")(**EVEN, bias=False)
    module.W_k = module.W_q
    assert found(module, weights(EVEN, False)).shared == [["W_q.weight", "W_k.weight"]]


def test_a_shared_layer_under_other_names_is_reported():
    module = renamed("q_proj", "k_proj", "v_proj", "out_proj")(**EVEN, bias=False)
    module.k_proj = module.q_proj
    fit = found(module, weights(EVEN, False))
    assert fit.shared == [["W_q.weight", "W_k.weight"]]


def test_no_other_projection_replaces_a_missing_one():
    module = renamed("q_proj", "k_proj", "v_proj", "extra")(**EVEN, bias=False)
    del module.v_proj
    fit = found(module, weights(EVEN, False))
    assert not fit.complete
    assert set(fit.missing) == {"W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"}


def test_lazy_layers_with_unknown_names_are_reported():
    class Odd(Lazy):
        names = ("first", "second", "third", "last")

    program = run(lambda: Odd(**SIZES, bias=False), SIZES, bias=False)
    assert program.reply["parameters"]["missing"] == ["W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"]
    assert program.reply["parameters"]["unexpected"] == [
        "first.weight",
        "second.weight",
        "third.weight",
        "last.weight",
    ]


def test_unknown_parameters_get_the_same_values_in_every_run():
    first, second = (
        run(lambda: renamed("a", "b", "c", "e")(**{**SIZES, "key_size": 7}, bias=True), SIZES, False)
        for _ in range(2)
    )
    assert torch.equal(first.observed["out"], second.observed["out"])


def test_layouts_are_found_under_a_prefix_beside_other_layers():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = Fused(**EVEN, bias=False)
            self.norm = nn.LayerNorm(D)

    wanted: dict[str, Tensor] = weights(EVEN, False, "attention.") | {
        "ln.weight": torch.randn(D).double(),
        "ln.bias": torch.randn(D).double(),
    }
    module = Block().double()
    own = dict(module.named_parameters())
    fit = found(module, wanted)
    assert fit.complete
    layouts.write(fit, own, wanted)
    assert torch.equal(module.attention.qkv.weight[D : 2 * D], wanted["attention.W_k.weight"])
    assert torch.equal(module.norm.weight, wanted["ln.weight"])
