"""Every accepted layout computes what the contract's module computes, and gives back the same gradients.

The module of the contract is the course's own `MultiHeadAttention`; each other one holds the same four
projections in its own way. Weights are loaded and gradients read by the worker's own program.
"""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grader.given import MultiHeadAttention
from grader.worker import layouts
from grader.worker.program import Program

B, T, S, H, D = 2, 3, 4, 2, 6
d = D // H
SIZES = {"query_size": 5, "key_size": 7, "value_size": 8}
EVEN = {"query_size": D, "key_size": D, "value_size": D}


def attend(q, k, v):
    """(B, T, D), (B, S, D), (B, S, D) → (B, T, D), heads joined."""
    q, k, v = (x.unflatten(-1, (H, d)).transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


class Renamed(nn.Module):
    """The four projections under names of the student's choosing."""

    names = ("q_proj", "k_proj", "v_proj", "out_proj")
    order = "qkvo"

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        sizes = {"q": query_size, "k": key_size, "v": value_size, "o": D}
        for role in self.order:
            setattr(self, self.names["qkvo".index(role)], self.layer(sizes[role], bias))

    def layer(self, size, bias):
        return nn.Linear(size, D, bias=bias)

    def use(self, role, x):
        return getattr(self, self.names["qkvo".index(role)])(x)

    def forward(self, q, k, v):
        return self.use("o", attend(self.use("q", q), self.use("k", k), self.use("v", v)))


def renamed(*names, order="qkvo"):
    return type("Renamed", (Renamed,), {"names": names, "order": order})


class Convolutions(Renamed):
    def layer(self, size, bias):
        return nn.Conv1d(size, D, kernel_size=1, bias=bias)

    def use(self, role, x):
        return super().use(role, x.transpose(1, 2)).transpose(1, 2)


class Bare(nn.Module):
    """`x @ W_q + b_q`: parameters (in, out)."""

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        for role, size in zip("qkvo", (query_size, key_size, value_size, D), strict=True):
            setattr(self, f"W_{role}", nn.Parameter(torch.randn(size, D)))
            setattr(self, f"b_{role}", nn.Parameter(torch.randn(D)) if bias else 0.0)

    def use(self, role, x):
        return x @ getattr(self, f"W_{role}") + getattr(self, f"b_{role}")

    forward = Renamed.forward


class BareOfNoRole(Bare):
    """The same under names that say nothing, in the contract's order."""

    def __init__(self, query_size, key_size, value_size, bias):
        nn.Module.__init__(self)
        self.A = nn.Parameter(torch.randn(query_size, D))
        self.B = nn.Parameter(torch.randn(key_size, D))
        self.C = nn.Parameter(torch.randn(value_size, D))
        self.E = nn.Parameter(torch.randn(D, D))

    def use(self, role, x):
        return x @ getattr(self, {"q": "A", "k": "B", "v": "C", "o": "E"}[role])


class Fused(nn.Module):
    """One matrix for queries, keys and values."""

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        self.qkv = nn.Linear(query_size, 3 * D, bias=bias)
        self.proj = nn.Linear(D, D, bias=bias)

    def forward(self, q, k, v):
        weights = self.qkv.weight.chunk(3)
        biases = self.qkv.bias.chunk(3) if self.qkv.bias is not None else (None,) * 3
        return self.proj(
            attend(*(F.linear(x, w, b) for x, w, b in zip((q, k, v), weights, biases, strict=True)))
        )


class PerHead(nn.Module):
    """A small Linear for every head: `heads.0.query`, …"""

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        sizes = {"query": query_size, "key": key_size, "value": value_size}
        self.heads = nn.ModuleList(
            nn.ModuleDict({n: nn.Linear(s, d, bias=bias) for n, s in sizes.items()}) for _ in range(H)
        )
        self.fc_out = nn.Linear(D, D, bias=bias)

    def forward(self, q, k, v):
        one = [F.scaled_dot_product_attention(h["query"](q), h["key"](k), h["value"](v)) for h in self.heads]
        return self.fc_out(torch.cat(one, -1))


class ListPerRole(nn.Module):
    """`W_q = ModuleList([Linear, Linear])`."""

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        for role, size in zip("qkv", (query_size, key_size, value_size), strict=True):
            setattr(self, f"W_{role}", nn.ModuleList(nn.Linear(size, d, bias=bias) for _ in range(H)))
        self.W_o = nn.Linear(D, D, bias=bias)

    def forward(self, q, k, v):
        triples = zip(self.W_q, self.W_k, self.W_v, strict=True)
        return self.W_o(
            torch.cat([F.scaled_dot_product_attention(a(q), b(k), c(v)) for a, b, c in triples], -1)
        )


class Numbered(ListPerRole):
    """`q0, k0, v0, q1, …`: heads that are attributes."""

    def __init__(self, query_size, key_size, value_size, bias):
        nn.Module.__init__(self)
        for h in range(H):
            for role, size in zip("qkv", (query_size, key_size, value_size), strict=True):
                setattr(self, f"{role}{h}", nn.Linear(size, d, bias=bias))
        self.W_o = nn.Linear(D, D, bias=bias)

    W_q = property(lambda self: [self.q0, self.q1])
    W_k = property(lambda self: [self.k0, self.k1])
    W_v = property(lambda self: [self.v0, self.v1])


class ThreeAxes(nn.Module):
    """Parameters of three axes; `shape` tells in which order, `path` how they are used."""

    shape, path, bare_output = "Hid", "bti,hid->bhtd", False

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        for role, size in zip("qkv", (query_size, key_size, value_size), strict=True):
            sizes = {"H": H, "i": size, "d": d}
            setattr(self, f"W_{role}", nn.Parameter(torch.randn([sizes[axis] for axis in self.shape])))
            setattr(self, f"b_{role}", nn.Parameter(torch.randn(H, d)) if bias else torch.zeros(H, d))
        if self.bare_output:
            self.W_o = nn.Parameter(torch.randn(H, d, D))
            self.b_o = nn.Parameter(torch.randn(D)) if bias else 0.0
        else:
            self.W_o = nn.Linear(D, D, bias=bias)

    def forward(self, q, k, v):
        def split(role, x):
            return (
                torch.einsum(self.path, x, getattr(self, f"W_{role}")) + getattr(self, f"b_{role}")[:, None]
            )

        heads = F.scaled_dot_product_attention(split("q", q), split("k", k), split("v", v))  # (B, H, T, d)
        if self.bare_output:
            return torch.einsum("bhtd,hdo->bto", heads, self.W_o) + self.b_o
        return self.W_o(heads.transpose(1, 2).flatten(2))


def three_axes(shape, path, bare_output=False):
    return type("ThreeAxes", (ThreeAxes,), {"shape": shape, "path": path, "bare_output": bare_output})


class Wrapped(nn.Module):
    """PyTorch's own, whose query size is D."""

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        self.mha = nn.MultiheadAttention(
            query_size, H, bias=bias, kdim=key_size, vdim=value_size, batch_first=True
        )

    def forward(self, q, k, v):
        return self.mha(q, k, v, need_weights=False)[0]


class Lazy(Renamed):
    names = ("W_q", "W_k", "W_v", "W_o")

    def layer(self, size, bias):
        return nn.LazyLinear(D, bias=bias)


LAYOUTS = {
    "the contract's own": (renamed("W_q", "W_k", "W_v", "W_o"), SIZES),
    "q_proj": (renamed("q_proj", "k_proj", "v_proj", "out_proj"), SIZES),
    "q_proj, in another order": (renamed("q_proj", "k_proj", "v_proj", "out_proj", order="ovkq"), EVEN),
    "query": (renamed("query", "key", "value", "fc_out"), EVEN),
    "queries, in another order": (renamed("queries", "keys", "values", "output", order="kvqo"), EVEN),
    "to_q": (renamed("to_q", "to_k", "to_v", "to_out", order="vkqo"), EVEN),
    "linear_q": (renamed("linear_q", "linear_k", "linear_v", "linear_out", order="kqvo"), EVEN),
    "Wq": (renamed("Wq", "Wk", "Wv", "Wo", order="kqvo"), EVEN),
    "q_linear": (renamed("q_linear", "k_linear", "v_linear", "proj", order="kqvo"), EVEN),
    "same order": (renamed("first", "second", "third", "last"), EVEN),
    "convolutions": (Convolutions, SIZES),
    "bare": (Bare, SIZES),
    "bare and square": (Bare, EVEN),
    "bare, square and in order": (BareOfNoRole, EVEN),
    "fused": (Fused, EVEN),
    "Linear per head": (PerHead, SIZES),
    "list per role": (ListPerRole, SIZES),
    "numbered": (Numbered, SIZES),
    "(H, in, d)": (three_axes("Hid", "bti,hid->bhtd"), SIZES),
    "(H, d, in)": (three_axes("Hdi", "bti,hdi->bhtd"), SIZES),
    "(in, H, d)": (three_axes("iHd", "bti,ihd->bhtd"), SIZES),
    "(H, in, d) and (H, d, out)": (three_axes("Hid", "bti,hid->bhtd", bare_output=True), SIZES),
    "nn.MultiheadAttention": (Wrapped, EVEN),
    "nn.MultiheadAttention with kdim and vdim": (Wrapped, {**EVEN, "key_size": 7, "value_size": 8}),
    "lazy": (Lazy, SIZES),
}
WITHOUT_BIAS_ONLY = {"bare, square and in order"}


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
def test_a_layout_computes_the_same_and_gives_back_the_same_gradients(layout, bias):
    if bias and layout in WITHOUT_BIAS_ONLY:
        pytest.skip("it has none")
    build, sizes = LAYOUTS[layout]
    want = reference(sizes, bias)
    got = run(lambda: build(**sizes, bias=bias), sizes, bias)
    assert "error" not in got.told, got.told
    told = got.told["parameters"]
    assert (told["missing"], told["unexpected"], told["misshapen"], told["shared"]) == ([], [], [], [])
    assert got.observed.keys() == want.observed.keys()
    assert len(got.observed) == 1 + 3 + len(weights(sizes, bias))
    for name, tensor in want.observed.items():
        assert tensor.abs().max() > 1e-3 or name == "grad W_k.bias", (
            f"{name} tells nothing"
        )  # softmax takes no notice of that one
        assert torch.allclose(got.observed[name], tensor, atol=1e-10), name


def test_a_layout_is_told_and_the_contracts_own_is_not():
    def layout(name):
        build, sizes = LAYOUTS[name]
        return run(lambda: build(**sizes, bias=False), sizes, False).told["parameters"]["layout"]

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


def test_what_fits_nothing_is_told_with_names_and_shapes():
    program = run(lambda: nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 7)), SIZES, bias=False)
    told = program.told["parameters"]
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


def test_one_layer_under_other_names_in_two_places_is_told():
    module = renamed("q_proj", "k_proj", "v_proj", "out_proj")(**EVEN, bias=False)
    module.k_proj = module.q_proj
    fit = found(module, weights(EVEN, False))
    assert fit.shared == [["W_q.weight", "W_k.weight"]]


def test_a_projection_that_is_missing_is_never_made_up_for_by_another():
    module = renamed("q_proj", "k_proj", "v_proj", "extra")(**EVEN, bias=False)
    del module.v_proj
    fit = found(module, weights(EVEN, False))
    assert not fit.complete
    assert set(fit.missing) == {"W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"}


def test_lazy_layers_under_names_that_fit_nothing_are_told():
    class Odd(Lazy):
        names = ("first", "second", "third", "last")

    program = run(lambda: Odd(**SIZES, bias=False), SIZES, bias=False)
    assert program.told["parameters"]["missing"] == ["W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"]
    assert program.told["parameters"]["unexpected"] == [
        "first.weight",
        "second.weight",
        "third.weight",
        "last.weight",
    ]


def test_what_fits_nothing_holds_the_same_numbers_in_every_run():
    first, second = (
        run(lambda: renamed("a", "b", "c", "e")(**{**SIZES, "key_size": 7}, bias=True), SIZES, False)
        for _ in range(2)
    )
    assert torch.equal(first.observed["out"], second.observed["out"])


def test_layouts_are_found_below_a_prefix_and_beside_other_layers():
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
