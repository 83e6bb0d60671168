"""Multi-head attention in layouts that students write: the same four projections, stored in different ways.

tests/answers/MultiHeadAttention.py has more: convolutions, a list of heads, nn.MultiheadAttention.
"""

import torch
from torch import nn
from torch.nn import functional as F

# Batch size, queries, keys, heads, and features of all heads together.
B, T, S, H, D = 2, 3, 4, 2, 6
d = D // H  # features per head
SIZES = {"query_size": 5, "key_size": 7, "value_size": 8}
# Equal sizes: some layouts need them; with others, no shape shows the role (q, k, v, o) of a weight.
EVEN = {"query_size": D, "key_size": D, "value_size": D}


def attend(q, k, v):
    """Return the attention with joined heads: (B, T, D), (B, S, D), (B, S, D) → (B, T, D)."""
    q, k, v = (x.unflatten(-1, (H, d)).transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


class Renamed(nn.Module):
    """The four projections as `layer`s. names: the attributes of q, k, v, o. order: the order of their creation."""

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


class Bare(nn.Module):
    """`x @ W_q + b_q`: parameters of shape (in, out) without `nn.Linear`. names: those of the matrices of q, k, v, o."""

    names = ("W_q", "W_k", "W_v", "W_o")

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        sizes = (query_size, key_size, value_size, D)
        for role, name, size in zip("qkvo", self.names, sizes, strict=True):
            setattr(self, name, nn.Parameter(torch.randn(size, D)))
            setattr(self, f"b_{role}", nn.Parameter(torch.randn(D)) if bias else 0.0)

    def use(self, role, x):
        return x @ getattr(self, self.names["qkvo".index(role)]) + getattr(self, f"b_{role}")

    forward = Renamed.forward


class BareOfNoRole(Bare):
    """The names do not show the role, but the order does: q, k, v, o."""

    names = ("A", "B", "C", "E")


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


class Numbered(nn.Module):
    """`q0, k0, v0, q1, …`: an attribute for every projection of every head."""

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        for h in range(H):
            for role, size in zip("qkv", (query_size, key_size, value_size), strict=True):
                setattr(self, f"{role}{h}", nn.Linear(size, d, bias=bias))
        self.W_o = nn.Linear(D, D, bias=bias)

    def forward(self, *inputs):
        heads = (
            F.scaled_dot_product_attention(
                *(getattr(self, f"{r}{h}")(x) for r, x in zip("qkv", inputs, strict=True))
            )
            for h in range(H)
        )
        return self.W_o(torch.cat([*heads], -1))


class BareHeads(nn.Module):
    """`x @ W_q[h] + b_q[h]`: a list of parameters of shape (in, head size)."""

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        for role, size in zip("qkv", (query_size, key_size, value_size), strict=True):
            setattr(self, f"W_{role}", nn.ParameterList(torch.randn(size, d) for _ in range(H)))
            biases = [nn.Parameter(torch.randn(d)) for _ in range(H)]
            setattr(self, f"b_{role}", nn.ParameterList(biases) if bias else [0.0] * H)
        self.W_o = nn.Linear(D, D, bias=bias)

    def use(self, role, x):
        heads = zip(getattr(self, f"W_{role}"), getattr(self, f"b_{role}"), strict=True)
        return torch.cat([x @ weight + bias for weight, bias in heads], -1)

    def forward(self, q, k, v):
        return self.W_o(attend(self.use("q", q), self.use("k", k), self.use("v", v)))


class ThreeAxes(nn.Module):
    """Parameters with three axes, whose order is `shape` (H: heads, i: in, d: head size).

    bare_output: whether the output projection is also a parameter without `nn.Linear`, of shape (H, d, D).
    """

    shape, bare_output = "Hid", False

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
            projected = torch.einsum(f"bti,{self.shape.lower()}->bhtd", x, getattr(self, f"W_{role}"))
            return projected + getattr(self, f"b_{role}")[:, None]

        heads = F.scaled_dot_product_attention(split("q", q), split("k", k), split("v", v))  # (B, H, T, d)
        if self.bare_output:
            return torch.einsum("bhtd,hdo->bto", heads, self.W_o) + self.b_o
        return self.W_o(heads.transpose(1, 2).flatten(2))


def three_axes(shape, bare_output=False):
    return type("ThreeAxes", (ThreeAxes,), {"shape": shape, "bare_output": bare_output})


class QueriesAndKeys(Renamed):
    """One matrix for the joined (query, key): its columns are those of both projections."""

    names = ("W_q", "W_k", "W_v", "W_o")

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__(query_size, key_size, value_size, bias)
        del self.W_q, self.W_k
        self.W = nn.Linear(query_size + key_size, D, bias=False)

    def use(self, role, x):
        if role not in "qk":
            return super().use(role, x)
        columns = slice(-x.shape[-1], None) if role == "k" else slice(x.shape[-1])
        return x @ self.W.weight[:, columns].T


class Lazy(Renamed):
    names = ("W_q", "W_k", "W_v", "W_o")

    def layer(self, size, bias):
        return nn.LazyLinear(D, bias=bias)


# Name of the layout → (class, sizes of its inputs). The contract: the names and shapes of the reference's weights.
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
    "bare": (Bare, SIZES),
    "bare and square": (Bare, EVEN),
    "bare, square and in order": (BareOfNoRole, EVEN),
    "fused": (Fused, EVEN),
    "Linear per head": (Numbered, SIZES),
    "bare per head": (BareHeads, SIZES),
    "(H, in, d)": (three_axes("Hid"), SIZES),
    "(H, d, in)": (three_axes("Hdi"), SIZES),
    "(in, H, d)": (three_axes("iHd"), SIZES),
    "(H, in, d) and (H, d, out)": (three_axes("Hid", bare_output=True), SIZES),
    "queries and keys": (QueriesAndKeys, SIZES),
    "lazy": (Lazy, SIZES),
}
WITHOUT_BIAS_ONLY = {"bare, square and in order", "queries and keys"}
