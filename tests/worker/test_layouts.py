"""Every accepted layout of weights gives the same outputs and gradients as the contract's layout.

The contract is the names and shapes of the weights that a case loads: those of the course's `MultiHeadAttention`.
Each layout has the same four projections. The worker's own program loads the weights and reads the gradients.
Parameters that do not fit are reported.
"""

from functools import partial

import numpy as np
import pytest
import torch
from helpers.attentions import EVEN, LAYOUTS, SIZES, WITHOUT_BIAS_ONLY, B, D, Fused, H, Lazy, S, T, renamed
from torch import Tensor, nn

from grader.given import EncoderBlock, MultiHeadAttention, PositionWiseFFN, TransformerEncoder
from grader.worker import layouts
from grader.worker.program import Program
from grader.worker.steps import Build, Call, Callee, Gradients, Input, Load, Ref, Run, See, Tokens


def weights(sizes, bias, prefix=""):
    rng = np.random.default_rng(0)
    out = {}
    inputs = {"W_q": sizes["query_size"], "W_k": sizes["key_size"], "W_v": sizes["value_size"], "W_o": D}
    for name, size in inputs.items():
        out[f"{prefix}{name}.weight"] = torch.from_numpy(rng.standard_normal((D, size)) / size**0.5)
        if bias:
            out[f"{prefix}{name}.bias"] = torch.from_numpy(rng.standard_normal(D))
    return out


def called(build, loaded, tensors, inputs, make, *more):
    """Build a module, load these weights, and observe its output for these inputs. Return the program.

    make: returns the step that makes an input of a name. more: steps that follow.
    """
    steps = [
        *map(make, inputs),
        Build("m", "Answer", {}),
        Load("m", {name: name for name in loaded}),
        Call("out", Callee(ref="m"), [*map(Ref, inputs)], {}),
        See("out", Ref("out")),
        *more,
    ]
    program = Program({"Answer": build}, Run(steps, "float64"), tensors | loaded)
    program.run(frozenset())
    return program


def run(build, sizes, bias):
    """Return the program after it observed the output, and the gradients of inputs and contract weights."""
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    shapes = {
        "q": (B, T, sizes["query_size"]),
        "k": (B, S, sizes["key_size"]),
        "v": (B, S, sizes["value_size"]),
        "up": (B, T, D),
    }
    tensors = {name: torch.from_numpy(rng.standard_normal(shape)) for name, shape in shapes.items()}
    steps = [Gradients([Ref("out")], upstream=["up"], wrt=list("qkv"), module="m")]
    return called(build, weights(sizes, bias), tensors, "qkv", partial(Input, grad=True), *steps)


def reference(sizes, bias):
    return run(
        lambda: MultiHeadAttention(**sizes, num_hiddens=D, num_heads=H, dropout=0.0, bias=bias), sizes, bias
    )


ROWS = [
    (name, bias) for name in LAYOUTS for bias in (False, True) if not (bias and name in WITHOUT_BIAS_ONLY)
]


@pytest.mark.parametrize(("layout", "bias"), ROWS)
def test_a_layout_gives_the_same_results_and_gradients(layout, bias):
    build, sizes = LAYOUTS[layout]
    want = reference(sizes, bias)
    got = run(lambda: build(**sizes, bias=bias), sizes, bias)
    assert "error" not in got.reply, got.reply
    parameters = got.reply["parameters"]
    assert not any(parameters[key] for key in ("missing", "unexpected", "misshapen", "shared"))
    assert got.observed.keys() == want.observed.keys()
    # the output, and the gradients of q, k, v and of the weights
    assert len(got.observed) == 1 + 3 + len(weights(sizes, bias))
    for name, tensor in want.observed.items():
        # Zeros would show nothing. Softmax does not depend on the bias of the keys, so its gradient is zero.
        assert tensor.abs().max() > 1e-3 or name == "grad W_k.bias"
        assert torch.allclose(got.observed[name], tensor, atol=1e-10), name


def test_only_another_layout_is_reported():
    def layout(name):
        build, sizes = LAYOUTS[name]
        return run(lambda: build(**sizes, bias=False), sizes, False).reply["parameters"]["layout"]

    assert layout("the contract's own") == ""
    assert layout("lazy") == ""
    assert layout("fused") == "one fused projection"
    assert layout("queries and keys") == "one layer over the joined queries and keys"
    assert layout("Linear per head") == "projections per head"
    assert layout("query") == "other names"
    assert layout("same order") == "other names, same order"


def test_exchanged_shapes_under_the_right_names_are_not_other_names():
    wanted = {"W_k.weight": (6, 3), "W_q.weight": (6, 4), "w_v.weight": (1, 6)}
    exchanged = dict(zip(wanted, [(6, 4), (6, 3), (1, 6)], strict=True))
    own = {name: torch.zeros(shape) for name, shape in exchanged.items()}
    assert layouts.fit(own, wanted).layout == ""
    own["v.weight"] = own.pop("w_v.weight")
    assert layouts.fit(own, wanted).layout == "other names"


SwiGLU = {"W_gate.weight": (7, 5), "W_up.weight": (7, 5), "W_down.weight": (5, 7)}


@pytest.mark.parametrize(
    "names",
    [
        {"w1": "W_gate", "w2": "W_down", "w3": "W_up"},
        {"down_proj": "W_down", "up_proj": "W_up", "gate_proj": "W_gate"},
    ],
)
def test_a_gate_is_found_by_its_name(names):
    """Gate and up have the same shape, and only names tell them apart."""
    own = {f"{mine}.weight": torch.zeros(SwiGLU[f"{name}.weight"]) for mine, name in names.items()}
    slots = layouts.fit(own, SwiGLU).slots
    assert {slot.own: slot.contract for slot in slots} == {
        f"{a}.weight": f"{b}.weight" for a, b in names.items()
    }


@pytest.mark.parametrize(
    ("own", "wanted", "layout"),
    [
        (
            {"w12": (14, 5), "w3": (5, 7)},
            {"W_gate": (7, 5), "W_up": (7, 5), "W_down": (5, 7)},
            "one layer for gate and up",
        ),
        (
            {"q": (6, 6), "kv": (6, 6), "o": (6, 6)},
            {"W_q": (6, 6), "W_k": (3, 6), "W_v": (3, 6), "W_o": (6, 6)},
            "one projection of keys and values",
        ),
    ],
)
def test_two_layers_may_be_one(own, wanted, layout):
    own = {f"{name}.weight": torch.arange(float(a * b)).view(a, b) for name, (a, b) in own.items()}
    fit = layouts.fit(own, {f"{name}.weight": shape for name, shape in wanted.items()})
    assert fit.complete and fit.layout == layout
    two = [slot.view(own[slot.own]) for slot in fit.slots if slot.layout]
    whole = next(own[slot.own] for slot in fit.slots if slot.layout)
    assert torch.equal(torch.cat(two), whole)


def test_a_tied_weight_may_have_a_second_name():
    """An extra name is no further parameter. Two weights of the contract that are one parameter are an error."""
    tied = torch.zeros(9, 4)
    own = {"wte.weight": tied, "ln.weight": torch.zeros(4), "head.weight": tied}
    assert layouts.fit(own, {"embedding.weight": (9, 4), "norm.weight": (4,)}).complete
    both = layouts.fit(own, {"wte.weight": (9, 4), "ln.weight": (4,), "head.weight": (9, 4)})
    assert both.shared == [["wte.weight", "head.weight"]]


# ---- parameters that do not fit


def found(module, wanted):
    return layouts.fit(
        dict(module.named_parameters(remove_duplicate=False)), {n: tuple(t.shape) for n, t in wanted.items()}
    )


def test_parameters_that_do_not_fit_are_reported_with_shapes():
    program = run(lambda: nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 7)), SIZES, bias=False)
    parameters = program.reply["parameters"]
    assert parameters["missing"] == ["W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"]
    assert parameters["unexpected"] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert parameters["shapes"] == {"0.weight": [7, 5], "0.bias": [7], "1.weight": [7, 7], "1.bias": [7]}


def test_a_wrong_shape_and_a_bias_that_the_contract_does_not_have_are_reported():
    module = renamed("W_q", "W_k", "W_v", "W_o")(**{**SIZES, "key_size": 9}, bias=True)
    fit = found(module, weights(SIZES, False))
    assert [*fit.misshapen] == ["W_k.weight"]
    assert fit.unexpected == ["W_q.bias", "W_k.bias", "W_v.bias", "W_o.bias"]


def test_a_transposed_weight_under_the_name_of_the_contract_is_reported():
    wanted = {n: torch.zeros(p.shape) for n, p in nn.GRU(4, 5).named_parameters()}
    fit = found(nn.GRU(4, 5), wanted | {"weight_ih_l0": torch.zeros(4, 15)})
    assert [*fit.misshapen] == ["weight_ih_l0"]


def test_a_parameter_is_reported_if_there_is_nothing_to_load():
    assert layouts.fit({"P": torch.zeros(2)}, {}).unexpected == ["P"]


def test_heads_that_do_not_fill_the_matrix_are_reported():
    own = {f"q{h}.weight": torch.zeros(2, 5) for h in range(3)}
    assert layouts.fit(own, {"W_q.weight": (6, 5)}).layout == "projections per head"
    assert layouts.fit(own, {"W_q.weight": (7, 5)}).missing == ["W_q.weight"]


def test_missing_biases_are_reported():
    fit = found(renamed("W_q", "W_k", "W_v", "W_o")(**EVEN, bias=False), weights(EVEN, True))
    assert fit.missing == ["W_q.bias", "W_k.bias", "W_v.bias", "W_o.bias"]


@pytest.mark.parametrize("names", [("W_q", "W_k", "W_v", "W_o"), ("q_proj", "k_proj", "v_proj", "out_proj")])
def test_one_layer_in_two_places_is_reported(names):
    module = renamed(*names)(**EVEN, bias=False)
    setattr(module, names[1], getattr(module, names[0]))
    assert found(module, weights(EVEN, False)).shared == [["W_q.weight", "W_k.weight"]]


def test_no_other_projection_replaces_a_missing_projection():
    module = renamed("q_proj", "k_proj", "v_proj", "extra")(**EVEN, bias=False)
    del module.v_proj
    fit = found(module, weights(EVEN, False))
    assert not fit.complete
    assert set(fit.missing) == {"W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"}


class Unnamed(Lazy):
    names = ("first", "second", "third", "last")


def test_lazy_layers_with_unknown_names_are_filled_in_their_order():
    got, want = run(lambda: Unnamed(**SIZES, bias=False), SIZES, bias=False), reference(SIZES, bias=False)
    assert got.reply["parameters"]["missing"] == []
    torch.testing.assert_close(got.observed["out"], want.observed["out"])


def test_an_extra_lazy_layer_is_reported():
    class Extra(Unnamed):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.more = nn.LazyLinear(3)

    parameters = run(lambda: Extra(**SIZES, bias=False), SIZES, bias=False).reply["parameters"]
    assert parameters["missing"] == ["W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"]
    assert parameters["unexpected"] == [*(f"{n}.weight" for n in Unnamed.names), "more.weight", "more.bias"]


def test_parameters_that_do_not_fit_get_the_same_values_in_every_run():
    def build(seed):
        torch.manual_seed(seed)  # other initial values in each run
        return renamed("a", "b", "c", "e")(**{**SIZES, "key_size": 7}, bias=True)

    first, second = (run(lambda seed=seed: build(seed), SIZES, False) for seed in (1, 2))
    assert torch.equal(first.observed["out"], second.observed["out"])


def test_a_layout_is_found_in_a_submodule_beside_other_layers():
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


# ---- modules in modules

# Positional arguments: 6 is the size of everything, except the vocabulary (9) and the hidden layer of the FFN (5).
# Then come the number of heads, in ENCODER the number of layers, and the dropout.
ENCODER = (9, 6, 6, 6, 6, [6], 6, 5, 2, 2, 0.0)
BLOCK = (6, 6, 6, 6, [6], 6, 5, 2, 0.0)


class Block(nn.Module):
    """An encoder block with names of its own, and a normalisation without a module around it."""

    def __init__(self, *sizes):
        super().__init__()
        block = EncoderBlock(*sizes)
        self.norm1, self.norm2 = block.addnorm1.ln, block.addnorm2.ln
        self.self_attn, self.mlp = block.attention, nn.Sequential()
        self.mlp.append(block.ffn.dense1).append(nn.ReLU()).append(block.ffn.dense2)

    def forward(self, X, valid_lens):
        X = self.norm1(X + self.self_attn(X, X, X, valid_lens))
        return self.norm2(X + self.mlp(X))


class Encoder(TransformerEncoder):
    """The course's encoder with its blocks in the list `attribute`; without one, in the attributes block0 and block1."""

    def __init__(self, block_class=EncoderBlock, attribute="blks"):
        super().__init__(*ENCODER)
        del self.blks
        self.order = blocks = [block_class(*BLOCK) for _ in range(2)]
        if attribute:
            setattr(self, attribute, nn.ModuleList(blocks))
        else:
            self.block0, self.block1 = blocks

    def forward(self, X, valid_lens):
        X = self.pos_encoding(self.embedding(X) * self.num_hiddens**0.5)
        for block in self.order:
            X = block(X, valid_lens)
        return X


class Renamed(Encoder):
    """An encoder with other names of the embedding, the blocks and their parts."""

    def __init__(self):
        super().__init__(Block, "layers")
        self.token_embedding = self.embedding
        del self.embedding

    def forward(self, X, valid_lens):
        self.embedding = self.token_embedding  # the course's `forward` reads this name
        try:
            return super().forward(X, valid_lens)
        finally:
            del self.embedding


def encoded(build):
    """Build a module, load the same weights by the contract's names, run it, and return the program."""
    torch.manual_seed(3)
    contract = TransformerEncoder(*ENCODER)
    weights = {name: torch.randn(p.shape, dtype=torch.float64) for name, p in contract.named_parameters()}
    tokens = {"X": torch.randint(9, (3, 4)).double(), "lens": torch.tensor([2, 4, 3]).double()}
    program = called(build, weights, tokens, ["X", "lens"], Tokens)
    assert "error" not in program.reply, program.reply
    return program


@pytest.mark.parametrize(
    "build",
    [Encoder, lambda: Encoder(attribute=""), lambda: Encoder(Block, ""), Renamed],
    ids=["blks.0", "block0", "parts without a list", "all names"],
)
def test_blocks_are_found_by_structure(build):
    want = encoded(lambda: TransformerEncoder(*ENCODER)).observed["out"]
    got = encoded(build)
    parameters = got.reply["parameters"]
    assert (parameters["missing"], parameters["unexpected"], parameters["misshapen"]) == ([], [], [])
    torch.testing.assert_close(got.observed["out"], want)


def test_only_the_wrong_size_inside_a_numbered_block_is_reported():
    class Wrong(nn.Module):
        def __init__(self, *sizes):
            super().__init__()
            block = EncoderBlock(*sizes)
            self.attention, self.addnorm1, self.addnorm2 = block.attention, block.addnorm1, block.addnorm2
            self.ffn = PositionWiseFFN(6, 5, 6)
            self.ffn.dense1 = nn.Linear(6, 7)

        def forward(self, X, valid_lens):
            return X

    parameters = encoded(lambda: Encoder(Wrong)).reply["parameters"]
    wrong = [f"blks.block{i}.ffn.dense1.{leaf}" for i in (0, 1) for leaf in ("weight", "bias")]
    assert (parameters["missing"], parameters["unexpected"], parameters["misshapen"]) == ([], [], wrong)
    assert parameters["shapes"][wrong[0]] == [7, 6]


def test_a_missing_block_is_reported():
    class Short(Encoder):
        def __init__(self):
            super().__init__()
            self.blks = self.blks[:1]
            self.order = self.order[:1]

    assert encoded(Short).reply["parameters"]["missing"]
