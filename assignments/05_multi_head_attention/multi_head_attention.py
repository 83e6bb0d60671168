# %% [markdown]
# # 05 · Multi-head attention
#
# All parts are on the table: scaled dot-product attention with masks (03), and heads that travel as rows of a
# batch (04). What is missing is the learning. Dot products compare vectors as they are, and nothing says that
# a word, as it is, is a good question, a good key and a good answer all at once. So three linear layers
# rewrite the inputs first, one for each role, and a fourth mixes what the heads have found (Vaswani et al.
# 2017, section 3.2.2). For the heads $h = 1, \dots, H$:
#
# $$Y_h = \mathrm{attention}(Q W_h^Q, K W_h^K, V W_h^V)$$
#
# $$\mathrm{multihead}(Q, K, V) = [Y_1, \dots, Y_H] W^O$$
#
# Here $Q$, $K$ and $V$ hold the queries, keys and values of one sequence as rows, and the brackets put the
# heads' answers side by side, feature next to feature. In the formula each head has three small matrices of
# its own. In code they lie side by side in one: a single linear layer with `num_hiddens` outputs *is* all `H`
# small ones, and `transpose_qkv` deals its outputs out to the heads. So there are four layers, whatever the
# number of heads.
#
# | name | shape | meaning |
# |---|---|---|
# | `queries` | `(B, T, query_size)` | who asks |
# | `keys` | `(B, S, key_size)` | what is compared with the question |
# | `values` | `(B, S, value_size)` | what is handed over |
# | `valid_lens` | `None`, `(B,)` or `(B, T)` | how many keys are real; the same for all heads |
# | after projection and split | `(B·H, T, d)`, `(B·H, S, d)` | $D$ = `num_hiddens`, $d = D/H$ |
# | result | `(B, T, D)` | one vector per query |
#
# Queries, keys and values may come from three places and have three sizes. When all three are the same tensor
# we speak of *self-attention*; when the queries come from one sequence and the rest from another, of
# *cross-attention*. The code is the same.
#
# ![The way of the data from top to bottom. Queries, keys and values pass through a layer each, W_q, W_k and
# W_v, to D features, and are split into heads, B·H rows with d features. Scaled dot-product attention with a
# mask treats each row by itself. Then the heads of a query stand side by side again, D features, and W_o
# mixes them into the result.](pictures/multi_head_attention.svg)
#
# **Lengths and heads.** There are `B` lengths (or rows of lengths) but `B·H` rows in the batch that the
# attention sees, and row `b·H + h` needs the length of sequence `b`. With two heads and the lengths `[2, 3]`:
#
# | row | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | sequence, head | 0, 0 | 0, 1 | 1, 0 | 1, 1 |
# | length it needs | 2 | 2 | 3 | 3 |
#
# **By hand.** Two features, two heads, so $d = 1$; let all four layers change nothing (identity matrices).
# One query $(1, 0)$; two keys $(\ln 3, 5)$ and $(0, -5)$ with the values $(8, 10)$ and $(0, 20)$.
#
# | | query | keys | scores | weights | values | answer |
# |---|---|---|---|---|---|---|
# | head 0 | 1 | ln 3, 0 | ln 3, 0 | 3/4, 1/4 | 8, 0 | 6 |
# | head 1 | 0 | 5, −5 | 0, 0 | 1/2, 1/2 | 10, 20 | 15 |
#
# The result is $(6, 15)$. The heads look at different places: the first prefers the first key, the second
# cannot decide. A single head over both features would have had one pair of weights for everything, 0.685 and
# 0.315, and the result $(5.48, 13.15)$.
#
# **What goes wrong.** Lengths repeated in the order `[2, 3, 2, 3]`: the shape fits, and sequences are cut at
# each other's lengths. Lengths *per query* have two axes, and only the first may be repeated. A layer that is
# made in `forward` starts from fresh random weights at each call and never learns. Layers that all take
# `num_hiddens` features work until the first input of another size. And `bias` is an argument: all four
# layers follow it.

# %%
import math

import torch
from torch import nn

from grader.given import DotProductAttention, transpose_output, transpose_qkv

# %% [markdown]
# ## Exercise: `MultiHeadAttention`
#
# Build the four layers and the attention in `__init__`; in `forward` project, split, attend, join, project.
# Any code with the right result counts; the blocks imported above make it short. (Only PyTorch's own
# `nn.MultiheadAttention` would leave nothing to do: the report remarks on its use.)

# %% exercise="MultiHeadAttention"
class MultiHeadAttention(nn.Module):
    """Several scaled dot-product attentions side by side (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,
    ) -> None:
        super().__init__()
        # Weights are loaded by these names: W_q, W_k, W_v and W_o, linear layers with or without bias;
        # `attention` is the DotProductAttention that all heads go through.
        raise NotImplementedError("MultiHeadAttention is not written yet")

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None,
    ) -> torch.Tensor:
        """Mix the values for every query, with weights of its own in every head.

        queries: (B, T, query_size); keys: (B, S, key_size); values: (B, S, value_size);
        valid_lens: None, (B,) or (B, T). Returns (B, T, num_hiddens) in the dtype of the inputs, in half
        precision too.
        """
        raise NotImplementedError("MultiHeadAttention.forward is not written yet")


# %% [markdown]
# ## Try it
#
# Run this cell when the class is written. It repeats the example from above: the result should be 6 and 15.

# %%
try:
    two_heads = MultiHeadAttention(
        key_size=2, query_size=2, value_size=2, num_hiddens=2, num_heads=2, dropout=0.0
    )
    for layer in (two_heads.W_q, two_heads.W_k, two_heads.W_v, two_heads.W_o):
        nn.init.eye_(layer.weight)
    query = torch.tensor([[[1.0, 0.0]]])  # (B=1, T=1, 2)
    two_keys = torch.tensor([[[math.log(3), 5.0], [0.0, -5.0]]])  # (B=1, S=2, 2)
    two_values = torch.tensor([[[8.0, 10.0], [0.0, 20.0]]])  # (B=1, S=2, 2)
    print(two_heads(query, two_keys, two_values, None).detach())
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# # Three repairs
#
# Most attention code that you will ever meet is not your own, and some of it is wrong while looking right.
# Below are three classes with faults that were found in real notebooks. Each text says what the class is
# *supposed* to do; what it does instead is for you to find out. Leave the handed-out class as it stands and
# write the mended one, under the same name, below it: the later definition is the one that counts. Change as
# little as you can, and keep the names of the layers.
#
# These are your patients. Each may have more than one fault, so do not stop at the first; and do not trust
# your eyes alone:
#
# | examination | what it can bring to light |
# |---|---|
# | sizes that are all different | axes that only fit by luck |
# | *Restart kernel and run all cells* | code that leans on what another cell left behind |
# | change one input, compare the outputs | who sees what, and who should not |
# | a backward pass, then `.grad` of each layer | which weights take part |
# | training mode and evaluation mode in turn | what dropout touches |
# | `torch.isfinite`, sums over rows | arithmetic that has broken down |
#
# After each repair you write a **test** for it: a function that takes one module, already built, and returns
# `True` when the module has the fault and `False` when it is sound. Such a test is worth more than the
# repair, since it also guards the next version. It must let *every* sound module pass, of any size, in
# training or evaluation mode (you may switch the mode). A module that raises an error on input that it ought
# to take is not sound. And it must judge by what the module *does*: the text of its code is out of bounds.

# %% [markdown]
# ## Repair 1: `MixedUpAttention`
#
# This class is to be multi-head attention, as in the exercise above, with the same arguments and the same
# layers. Queries, keys and values may have three different sizes, and each role has a projection of its own.
# With `valid_lens` given, per sequence or per query, the keys beyond the length get no weight in any head;
# with `None` all keys take part. Whatever else happens to exist in the notebook makes no difference.

# %% exercise="MixedUpAttention"
class MixedUpAttention(nn.Module):
    """Multi-head attention with one projection for each role."""

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None,
    ) -> torch.Tensor:
        """queries: (B, T, query_size); keys: (B, S, key_size); values: (B, S, value_size);
        valid_lens: None, (B,) or (B, T). Returns (B, T, num_hiddens).
        """
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_q(keys), self.num_heads)
        values = transpose_qkv(self.W_q(values), self.num_heads)
        if vaild_lens is not None:
            valid_lens = torch.repeat_interleave(vaild_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        return self.W_o(transpose_output(output, self.num_heads))


# Your version goes here.


# %% [markdown]
# ## Exercise: `catches_mixed_up`
#
# Write the test. The module has the four linear layers `W_q`, `W_k`, `W_v` and `W_o`; the shapes of their
# weights tell which sizes it takes.

# %% exercise="catches_mixed_up"
def catches_mixed_up(attention: nn.Module) -> bool:
    """Tell whether a built attention module is mixed up as the one above.

    attention: called as attention(queries, keys, values, valid_lens), with the shapes of the class above.
    Returns True for a faulty module and False for every sound one.
    """
    raise NotImplementedError("catches_mixed_up is not written yet")


# %% [markdown]
# ## Repair 2: `TangledSelfAttention`
#
# The heart of a small language model that reads from left to right. It is to be *causal* self-attention: step
# $t$ may look at the steps $0$ to $t$ and at nothing later. Queries, keys and values are all made from the
# one input `x`, and the heads keep an axis of their own, `(B, H, T, d)`, instead of joining the batch. In
# each head, with $T$ rows in $Q$, $K$ and $V$,
#
# $$Y = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d}} + M\right) V$$
#
# where the mask $M$ has a row for every query and a column for every key, with $0$ where the query may look
# and $-\infty$ where it may not (Vaswani et al. 2017, sections 3.2.1 and 3.2.3). The class is to take
# sequences of any length and give finite numbers for all of them.

# %% exercise="TangledSelfAttention"
class TangledSelfAttention(nn.Module):
    """Causal self-attention with the heads on an axis of their own."""

    def __init__(self, d_model: int, n_head: int) -> None:
        super().__init__()
        self.n_head = n_head
        self.d_head = d_model // n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """(B, T, d_model) to (B, H, T, d)."""
        batch, steps, _ = x.shape
        return x.reshape(batch, steps, self.n_head, self.d_head).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (B, T, d_model). Returns (B, T, d_model); step t depends on steps 0 to t alone."""
        q, k, v = self.split(self.w_q(x)), self.split(self.w_k(x)), self.split(self.w_v(x))
        scores = q @ k.transpose(2, 3) @ q / math.sqrt(self.d_head)
        future = torch.triu(torch.ones(self.d_head, self.d_head), diagonal=1)
        weights = torch.softmax(scores + future * float("-inf"), dim=-1)
        heads = weights @ v
        return self.fc_out(heads.transpose(1, 2).reshape(x.shape))


# Your version goes here.


# %% [markdown]
# ## Exercise: `catches_tangled`
#
# Write the test. The module has the four linear layers `w_q`, `w_k`, `w_v` and `fc_out`.

# %% exercise="catches_tangled"
def catches_tangled(attention: nn.Module) -> bool:
    """Tell whether a built causal self-attention is tangled as the one above.

    attention: called as attention(x), from (B, T, d_model) to (B, T, d_model). Returns True for a faulty
    module and False for every sound one.
    """
    raise NotImplementedError("catches_tangled is not written yet")


# %% [markdown]
# ## Repair 3: `TransparentSelfAttention`
#
# Causal self-attention again, now one that shows its work. It returns two things: the output `(B, T, D)`, and
# the attention weights `(B, H, T, T)` for drawing them as pictures. `attention[b, h, t]` is the row of
# weights with which head `h` of sequence `b` mixed the values for step `t`: no weight on any later step, and
# a sum of one, in training and in evaluation alike. In training, dropout keeps the model from leaning on
# single keys, as in assignment 03. The output is the heads' mixtures side by side, sent through `fc_out`.

# %% exercise="TransparentSelfAttention"
class TransparentSelfAttention(nn.Module):
    """Causal self-attention that hands out its weights."""

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """(B, T, embed_dim) to (B, H, T, d)."""
        batch, steps, _ = x.shape
        return x.reshape(batch, steps, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """x: (B, T, embed_dim). Returns the output (B, T, embed_dim) and the weights (B, H, T, T)."""
        q, k, v = self.split(self.W_Q(x)), self.split(self.W_K(x)), self.split(self.W_V(x))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.head_dim)
        attention = self.dropout(torch.softmax(scores, dim=-1))
        heads = attention @ v
        return self.fc_out(heads.reshape(x.shape)), attention


# Your version goes here.


# %% [markdown]
# ## Exercise: `catches_transparent`
#
# Write the test. The module has the four linear layers `W_Q`, `W_K`, `W_V` and `fc_out`, and a layer
# `dropout`. In evaluation mode a sound one returns the very weights that it mixes with, so part of its work
# can be done again outside and compared.

# %% exercise="catches_transparent"
def catches_transparent(attention: nn.Module) -> bool:
    """Tell whether a built self-attention misleads as the one above.

    attention: called as attention(x) with x of shape (B, T, embed_dim), returns the output (B, T, embed_dim)
    and the weights (B, H, T, T). Returns True for a faulty module and False for every sound one.
    """
    raise NotImplementedError("catches_transparent is not written yet")


# %% [markdown]
# ## Try it
#
# Each line says what your test thinks of the class as it stands now. Before the repair it should say `True`,
# after it `False`.

# %%
patients = [
    (
        catches_mixed_up,
        MixedUpAttention(key_size=4, query_size=6, value_size=5, num_hiddens=8, num_heads=2, dropout=0.1),
    ),
    (catches_tangled, TangledSelfAttention(d_model=12, n_head=3)),
    (catches_transparent, TransparentSelfAttention(embed_dim=12, num_heads=3)),
]
for catches, patient in patients:
    try:
        print(type(patient).__name__, catches(patient))
    except NotImplementedError as unwritten:
        print(unwritten)

# %% [markdown]
# ## Questions to think about
#
# 1. The values of a head pass through its parts of `W_v` and `W_o`, one after the other; its scores need its
#    parts of `W_q` and `W_k` only multiplied together. So on which two products of matrices does a head
#    really depend, and what could you change in the four layers without anyone noticing?
# 2. Exchange two heads: let them change places among the outputs of `W_q`, `W_k` and `W_v`. What must happen
#    to `W_o` so that the result stays as it was? What does that say about numbering heads before training?
# 3. For each of the three classes: with which sizes, lengths or modes would its faults have stayed hidden?
#    Which one test, run once, would have found most of them?

# %% [markdown]
# ## Sources
#
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
