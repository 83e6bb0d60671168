# %% [markdown]
# # 05 · Multi-head attention
#
# You have attention with masks (lesson 03), and you can split features into heads (lesson 04). What is
# missing is something to learn: dot-product attention has no parameters and compares vectors as they are.
# But why should one vector of a word be a good query, a good key and a good value at the same time? Give
# each role a linear layer of its own, which *projects* the input first. A fourth layer combines what the
# heads have found (Vaswani et al. 2017, section 3.2.2). The encoder, the decoder and the model that you
# will train are all built on these four layers. How their weights begin, and how to find, freeze and save
# them, is on the page [parameters.md](parameters.md).
#
# After this lesson you can
#
# - build multi-head attention for self-attention and cross-attention;
# - give every head of every sequence the right valid length;
# - find faults in attention code, fix them, and write tests that detect them.
#
# For the heads $h = 0, \dots, H - 1$ (the paper counts from 1):
#
# $$Y_h = \mathrm{attention}(Q W_h^Q, K W_h^K, V W_h^V)$$
#
# $$\mathrm{multihead}(Q, K, V) = [Y_0, \dots, Y_{H-1}] W^O$$
#
# $Q$, $K$ and $V$ hold the queries, keys and values of one sequence as rows, and the brackets put the
# results of the heads side by side. The attention is the scaled dot-product attention of lesson 03.
# (Additive attention would work, too.)
#
# Let $D$ be `num_hiddens` and $d = D/H$. In the formula each head has three small matrices: $W_h^Q$ has the
# shape `(query_size, d)`, $W_h^K$ has `(key_size, d)`, and $W_h^V$ has `(value_size, d)`. In code you put
# the matrices of all heads side by side, for example $W^Q = [W_0^Q, \dots, W_{H-1}^Q]$. One linear layer
# with `num_hiddens` outputs then contains them all, and `transpose_qkv` gives each head its outputs. So you
# need only four layers, for any number of heads. The columns of $W_h^Q$ are $d$ rows of `W_q.weight` (see
# the conventions in lesson 03). And heads are cheap: because $d = D/H$, all heads together have as many
# parameters as a single head with $D$ features, and their scores need as many multiplications.
#
# | name | shape | meaning |
# |---|---|---|
# | `queries` | `(B, T, query_size)` | the vectors that search for information, one per output |
# | `keys` | `(B, S, key_size)` | the vectors that each query is compared with |
# | `values` | `(B, S, value_size)` | the vectors that are averaged |
# | `valid_lens` | `None`, `(B,)` or `(B, T)` | the number of real keys, from 1 to `S`; the same for all heads |
# | after projection and split | `(B·H, T, d)`, `(B·H, S, d)` | $D$ = `num_hiddens`, $d = D/H$ |
# | result | `(B, T, D)` | one vector per query |
#
# Queries, keys and values may come from three sources and have three sizes. When all three are the same
# tensor, you have *self-attention*. When the queries come from one sequence, and the keys and values from
# another, you have *cross-attention*. The code is the same.
#
# Watch the order of the arguments: the constructor takes `key_size, query_size, value_size`, with the key
# first, and `forward` takes `queries, keys, values`, with the query first. Pass the sizes by keyword, and
# you cannot mix them up.
#
# ![The data flow from top to bottom. Queries, keys and values pass through one layer each, W_q, W_k and W_v,
# to D features, and are split into heads, B·H rows with d features. Scaled dot-product attention with a mask
# treats each row separately. Then the heads of a query are concatenated to D features, and W_o combines them
# into the result.](pictures/multi_head_attention.svg)
#
# **Lengths and heads.** You get `B` lengths (or rows of lengths), but the attention sees a batch of `B·H`
# rows. Row `b·H + h` needs the length of sequence `b`. With two heads and the lengths `[2, 3]`:
#
# | row | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | sequence, head | 0, 0 | 0, 1 | 1, 0 | 1, 1 |
# | length it needs | 2 | 2 | 3 | 3 |
#
# **One layer, or one per head?** It is the same: `H` small layers side by side give the same numbers as one
# large layer, whose weight contains theirs as rows. Even all three projections can be one layer with $3D$
# outputs, as in the `in_proj_weight` of `nn.MultiheadAttention`. $W^O$ comes after the heads are merged. It
# is a part of the attention (`out_proj` in PyTorch), and the only place where the heads' results are mixed.
#
# **Code without a mask.** Often you will see `scaled_dot_product_attention(q, k, v, is_causal=True)` and no
# mask anywhere. The mask is there: `is_causal` makes it inside. It knows nothing of padding, and it fits
# only if queries and keys are the same steps (lesson 13 has the other case). For anything else pass
# `attn_mask`, where `True` means *may attend*. In the masks of `nn.MultiheadAttention` it means the
# opposite. With neither, every query sees every key.
#
# **By hand.** Take two features and two heads, so $d = 1$, and let all four layers be identity matrices.
# There is one query $(1, 0)$, and there are two keys $(\ln 3, 5)$ and $(0, -5)$ with the values $(8, 10)$
# and $(0, 20)$.
#
# | | query | keys | scores | weights | values | answer |
# |---|---|---|---|---|---|---|
# | head 0 | 1 | ln 3, 0 | ln 3, 0 | 3/4, 1/4 | 8, 0 | 6 |
# | head 1 | 0 | 5, −5 | 0, 0 | 1/2, 1/2 | 10, 20 | 15 |
#
# The result is $(6, 15)$. Each head looks at the same two keys in its own way: the first prefers the first
# key, the second gives both the same weight. One head over both features cannot do that. It has $d = 2$,
# the scores $(\ln 3)/\sqrt2$ and 0, the weights 0.685 and 0.315, and the result $(5.48, 13.15)$.
#
# **What goes wrong.**
#
# - The lengths are repeated in the order `[2, 3, 2, 3]`. The shape fits, but sequences get each other's
#   lengths.
# - Lengths of shape `(B, T)` are repeated along both axes. Repeat only the first axis.
# - A layer is created in `forward`. Then it has new random weights at each call and never learns.
# - All layers take `num_hiddens` features. This works until an input has another size.
# - `bias` is passed to some layers only. It is an argument for all four.

# %%
import math

import torch
from torch import nn

from grader.given import DotProductAttention, transpose_output, transpose_qkv

# %% [markdown]
# ## Exercise: `MultiHeadAttention`
#
# Create the four layers and the attention in `__init__`. In `forward`: project, split, attend, merge,
# project. There is more than one right way; `DotProductAttention`, `transpose_qkv` and `transpose_output`
# from `grader.given` make it short. PyTorch has all of this built in, as `nn.MultiheadAttention`. Compare
# with it when yours works. (The grader accepts it as an answer, and then reminds you to write your own.)
#
# `forward(queries, keys, values, valid_lens)`: `(B, T, query_size)`, `(B, S, key_size)`, `(B, S, value_size)`
# and lengths in, `(B, T, D)` out.
#
# **In plain Python.** For one sequence, one head after the other, without biases and dropout:
#
# ```python
# def multi_head_attention_plain(queries, keys, values, valid_lens, W_q, W_k, W_v, W_o, num_heads):
#     def project(rows, W):  # what `nn.Linear` computes, with the weight W
#         return [[sum(w * x for w, x in zip(outputs, row)) for outputs in W] for row in rows]
#
#     d = len(W_q) // num_heads
#     merged = [[] for query in queries]
#     for h in range(num_heads):
#         own = slice(h * d, h * d + d)  # the rows of each weight that belong to head h
#         q, k, v = project(queries, W_q[own]), project(keys, W_k[own]), project(values, W_v[own])
#         head = dot_product_attention_plain(q, k, v, valid_lens)  # as in lesson 03
#         for vector, features in zip(merged, head):
#             vector.extend(features)
#     return project(merged, W_o)  # T vectors with D numbers
# ```
#
# **In PyTorch, something similar.** One linear layer contains two smaller ones:
#
# ```python
# large = nn.Linear(4, 5, bias=False)
# x = torch.randn(3, 4)
# small = x @ large.weight[3:].T  # (3, 2), the last two of the five outputs
# torch.allclose(large(x)[:, 3:], small, atol=1e-6)  # True
# ```


# %% exercise="MultiHeadAttention"
class MultiHeadAttention(nn.Module):
    """Several scaled dot-product attentions in parallel (Vaswani et al. 2017, section 3.2.2)."""

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
        # The grader loads weights by these names: W_q, W_k, W_v and W_o, linear layers, all with or all
        # without bias. `attention` is the DotProductAttention of all heads.
        raise NotImplementedError("MultiHeadAttention is not written yet")

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None,
    ) -> torch.Tensor:
        """Return one vector per query. Every head has its own attention weights.

        queries: (B, T, query_size); keys: (B, S, key_size); values: (B, S, value_size);
        valid_lens: None, (B,) or (B, T), integers from 1 to S.
        Returns (B, T, num_hiddens) in the dtype of the inputs, also in float16 and bfloat16.
        """
        raise NotImplementedError("MultiHeadAttention.forward is not written yet")


# %% [markdown]
# ## Try it
#
# Run this cell when the class is written. It does the example from above. Do you get 6 and 15?

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
# ## Try it with a padded batch
#
# Now a batch with padding, in the sizes of a well-known book example: 100 features, 5 heads, 4 queries, 6
# keys, and the valid lengths 3 and 2. You see the layers and the shape of the result, `(2, 4, 100)`. Then
# the cell changes keys and values beyond both lengths. Your result should not care, so the last line should
# be `True`.

# %%
try:
    five_heads = MultiHeadAttention(
        key_size=100, query_size=100, value_size=100, num_hiddens=100, num_heads=5, dropout=0.5
    )
    five_heads.eval()  # without dropout, two calls can be compared
    print(five_heads)
    X = torch.randn(2, 4, 100)  # (B=2, T=4, 100): the queries
    Y = torch.randn(2, 6, 100)  # (B=2, S=6, 100): the keys and values
    lengths = torch.tensor([3, 2])  # (B=2,)
    result = five_heads(X, Y, Y, lengths)
    print(result.shape)
    other = Y.clone()
    other[:, 3:] = 1.0
    print(torch.allclose(five_heads(X, other, other, lengths), result, atol=1e-5))
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Look at your heads
#
# A map of the attention weights of each head: a row for each query, a column for each key. The weights of the
# layers are random, so the maps mean nothing yet. But look at the two rows of "the": they are equal, because
# attention does not know where a word stands (lesson 06). `grader draw 05` makes a page of the maps, and
# `grader draw 05 --words "to be or not to be"` draws another sentence. After lesson 11 you can lay the maps of a
# trained model beside them.

# %%
if __name__ == "__main__":  # here and in a notebook, not while the file is checked
    from grader.report.maps import sentence, show

    try:
        torch.manual_seed(1)
        words = sentence("the cat sat on the mat")
        vectors = {word: torch.randn(12) for word in dict.fromkeys(words)}
        X = torch.stack([vectors[word] for word in words])[None]  # (B=1, T, 12)
        three_heads = MultiHeadAttention(12, 12, 12, 12, num_heads=3, dropout=0.0).eval()
        with torch.no_grad():
            three_heads(X, X, X, None)
        weights = three_heads.attention.attention_weights  # (B·H, T, T)
        show({"encoder": [weights.reshape(1, 3, len(words), len(words))]}, words, title="untrained")
    except (NotImplementedError, AttributeError) as unwritten:
        print(unwritten)

# %% [markdown]
# # Three repairs
#
# You will often work with attention code that other people wrote, and some of it looks right and is wrong.
# Now you are the detective. Below are three classes with faults that were found in real notebooks or
# adapted from them. Each text says what the class *should* do. Find out what it does instead.
#
# Leave the given class as it is. Write your corrected class under the same name, below the comment
# `Your version goes here` in the same cell: Python uses the later definition. Change as little as you can,
# and keep the names of the layers.
#
# A class can have more than one fault, so do not stop at the first one. Besides reading the code, try these
# checks:
#
# | check | what it can show |
# |---|---|
# | sizes that all differ | axes that match only by chance |
# | *Restart kernel and run all cells* | code that depends on variables of other cells |
# | change one input and compare the outputs | which outputs depend on which inputs, and which should not |
# | a backward pass, then `.weight.grad` of each layer | which weights are used |
# | training mode and evaluation mode | what dropout acts on |
# | `torch.isfinite`, sums over rows | NaN, infinite values, wrong sums |
#
# For each class you also write a **test**, before or after the repair, as you like. It is a function that
# takes one module and returns `True` if the module has a fault, `False` if it is correct. Your test will
# outlive the repair, because it also checks the next version.
#
# - Never accuse an innocent module: return `False` for *every* correct one, of any size, in training or
#   evaluation mode. (You can call `.eval()` first.)
# - A module that raises an error for a valid input is faulty: return `True` for it.
# - Judge what the module *does*, not how its source code looks.
#
# The grader shows your test one module at a time; it does not use your corrected class. Some modules are
# correct, in several sizes. Some are faulty: the given class, and classes with only some of its faults. A
# false alarm is as bad as a missed fault. Finding every fault is the harder part, so each test is worth two
# points and each repair one.

# %% [markdown]
# ## Repair 1: `MixedUpAttention`
#
# This class should be the multi-head attention that you have just built, with the same arguments and the
# same layers. Queries, keys and values may have three different sizes, and each role has its own
# projection. With `valid_lens`, per sequence or per query, the keys beyond the length get no weight in any
# head. With `None`, no key is masked. And other variables of the notebook have no effect on the result.
#
# `forward(queries, keys, values, valid_lens)`: `(B, T, query_size)`, `(B, S, key_size)`, `(B, S, value_size)`
# and lengths in, `(B, T, num_hiddens)` out.
#
# **In plain Python.** It is the attention above, and each role has its own weight:
#
# ```python
# def mixed_up_attention_plain(queries, keys, values, valid_lens, W_q, W_k, W_v, W_o, num_heads):
#     if valid_lens is None:
#         valid_lens = [len(keys) for query in queries]
#     return multi_head_attention_plain(queries, keys, values, valid_lens, W_q, W_k, W_v, W_o, num_heads)
# ```
#
# **In PyTorch, something similar.** Which of two layers is used?
#
# ```python
# first, second = nn.Linear(2, 1), nn.Linear(2, 1)
# first(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
# first.weight.grad  # (1, 2): [[4, 6]]
# second.weight.grad is None  # True
# ```


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
# Write the test. The module has the four linear layers `W_q`, `W_k`, `W_v` and `W_o`, and the shapes of
# their weights tell you which input sizes it takes.
#
# `catches_mixed_up(attention)`: a module in, `True` or `False` out.
#
# **In plain Python.** What "has a fault" means: for some valid input, the module raises an error, or computes
# something else than the class should. Which inputs show that, you choose.
#
# ```python
# def catches_mixed_up_plain(attention, inputs, weights):  # a function on lists, some inputs, its weights
#     for queries, keys, values, valid_lens in inputs:
#         right = mixed_up_attention_plain(queries, keys, values, valid_lens, *weights)
#         try:
#             result = attention(queries, keys, values, valid_lens)
#         except Exception:
#             return True
#         for vector, right_vector in zip(result, right):
#             for x, y in zip(vector, right_vector):
#                 if not abs(x - y) < 0.0001:  # true for NaN, too
#                     return True
#     return False
# ```
#
# **In PyTorch, something similar.** The sizes of a layer, and a comparison that ignores rounding:
#
# ```python
# nn.Linear(3, 5).weight  # (5, 3)
# torch.allclose(torch.tensor([0.1]) * 3, torch.tensor([0.3]))  # True
# ```


# %% exercise="catches_mixed_up"
def catches_mixed_up(attention: nn.Module) -> bool:
    """Return True if the module, a multi-head attention, has a fault of the kind that the given class above has.

    attention: a module, called as attention(queries, keys, values, valid_lens) with the shapes of that class.
    Returns False for every correct module.
    """
    raise NotImplementedError("catches_mixed_up is not written yet")


# %% [markdown]
# ## Repair 2: `TangledSelfAttention`
#
# This class is the heart of a small language model that reads from left to right. It should be *causal*
# self-attention: step $t$ may attend to the steps $0$ to $t$ and to no later step. Queries, keys and values
# are all computed from the input `x`. The heads have their own axis, `(B, H, T, d)`, and are not merged
# into the batch. In each head, with $T$ rows in $Q$, $K$ and $V$,
#
# $$Y = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d}} + M\right) V$$
#
# where the mask $M$ has one row per query and one column per key. It is $0$ where the query may attend to the
# key and $-\infty$ where it may not (Vaswani et al. 2017, sections 3.2.1 and 3.2.3). The class should take
# sequences of any length and return finite values for all of them.
#
# `forward(x)`: `(B, T, d_model)` in, `(B, T, d_model)` out.
#
# **In plain Python.** For one sequence, with the weights of the four layers:
#
# ```python
# def tangled_self_attention_plain(x, w_q, w_k, w_v, fc_out, n_head):
#     lengths = []
#     for t in range(len(x)):
#         lengths.append(t + 1)  # step t attends to the steps 0 to t
#     return multi_head_attention_plain(x, x, x, lengths, w_q, w_k, w_v, fc_out, n_head)
# ```
#
# **In PyTorch, something similar.** A triangle in a table that is not square:
#
# ```python
# torch.ones(2, 4).tril(diagonal=1)  # (2, 4): [[1, 1, 0, 0], [1, 1, 1, 0]]
# ```


# %% exercise="TangledSelfAttention"
class TangledSelfAttention(nn.Module):
    """Causal self-attention with the heads on their own axis."""

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
#
# `catches_tangled(attention)`: a module in, `True` or `False` out.
#
# **In plain Python.** A step that computes something else than it should, or no finite number:
#
# ```python
# def catches_tangled_plain(attention, inputs, weights):  # a function on lists, some sequences, its weights
#     for x in inputs:
#         right = tangled_self_attention_plain(x, *weights)
#         try:
#             result = attention(x)
#         except Exception:
#             return True
#         for step, right_step in zip(result, right):
#             if not all(abs(a - b) < 0.0001 for a, b in zip(step, right_step)):  # NaN is not close
#                 return True
#     return False
# ```
#
# **In PyTorch, something similar.** Which sums depend on the second number?
#
# ```python
# x = torch.tensor([1.0, 2.0, 3.0])
# other = torch.tensor([1.0, 9.0, 3.0])
# x.cumsum(dim=0) == other.cumsum(dim=0)  # (3,): [True, False, False]
# ```


# %% exercise="catches_tangled"
def catches_tangled(attention: nn.Module) -> bool:
    """Return True if the module, a causal self-attention, has a fault of the kind that the given class above has.

    attention: a module, called as attention(x), from (B, T, d_model) to (B, T, d_model).
    Returns False for every correct module.
    """
    raise NotImplementedError("catches_tangled is not written yet")


# %% [markdown]
# ## Repair 3: `TransparentSelfAttention`
#
# Causal self-attention again, and this class also shows you where it looks. It should return two tensors:
# the output `(B, T, D)`, and the attention weights `(B, H, T, T)`, so that you can draw them. Call the
# second tensor `attention`: the row `attention[b, h, t]` holds the weights of head `h` for step `t` of
# sequence `b`, before dropout. Every row has no weight on a later step and sums to one, in training mode
# and in evaluation mode. In training, dropout acts on the weights with which the values are averaged, as in
# lesson 03. The output is the concatenated results of the heads, passed through `fc_out`.
#
# `forward(x)`: `(B, T, D)` in, `(B, T, D)` and `(B, H, T, T)` out.
#
# **In plain Python.** For one sequence and one head, in evaluation mode. `q`, `k` and `v` are the features of
# this head after `W_Q`, `W_K` and `W_V`. Put the results of all heads side by side for `fc_out`.
#
# ```python
# import math
#
# def transparent_self_attention_plain(q, k, v):  # T vectors with d numbers each
#     results, attention = [], []
#     for t in range(len(q)):
#         scores = [sum(a * b for a, b in zip(q[t], key)) / math.sqrt(len(key)) for key in k]
#         weights = masked_softmax_plain(scores, t + 1)  # as in lesson 02: no weight on a later step
#         attention.append(weights)
#         results.append([sum(w * x for w, x in zip(weights, column)) for column in zip(*v)])
#     return results, attention  # T vectors with d numbers, T rows of T weights
# ```
#
# **In PyTorch, something similar.** A function that returns two tensors:
#
# ```python
# values, places = torch.tensor([[3.0, 1.0], [2.0, 5.0]]).max(dim=-1)
# values  # (2,): [3, 5]
# places  # (2,): [0, 1]
# ```


# %% exercise="TransparentSelfAttention"
class TransparentSelfAttention(nn.Module):
    """Causal self-attention that also returns its weights."""

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
# `dropout`. In evaluation mode a correct module returns the very weights that it uses. So your test can do
# a part of the computation again and compare.
#
# `catches_transparent(attention)`: a module in, `True` or `False` out.
#
# **In plain Python.** For one sequence, one head and its results before `fc_out`. The weights must be right
# in both modes, the results in evaluation mode: in training, dropout changes them at random.
#
# ```python
# def catches_transparent_plain(results, attention, q, k, v, training):  # what the head gave, and for what
#     right_results, right_attention = transparent_self_attention_plain(q, k, v)
#     pairs = list(zip(attention, right_attention))
#     if not training:
#         pairs += zip(results, right_results)
#     for row, right_row in pairs:
#         for x, y in zip(row, right_row):
#             if not abs(x - y) < 0.0001:
#                 return True
#     return False
# ```
#
# **In PyTorch, something similar.** Dropout in the two modes:
#
# ```python
# layer = nn.Dropout(0.5)
# layer.training  # True
# layer.eval()(torch.ones(3))  # (3,): [1, 1, 1]
# layer.training  # False
# ```


# %% exercise="catches_transparent"
def catches_transparent(attention: nn.Module) -> bool:
    """Return True if the module, a self-attention, has a fault of the kind that the given class above has.

    attention: a module, called as attention(x) with x of shape (B, T, embed_dim); it returns the output
    (B, T, embed_dim) and the weights (B, H, T, T).
    Returns False for every correct module.
    """
    raise NotImplementedError("catches_transparent is not written yet")


# %% [markdown]
# ## Try it
#
# Write the tests first. Then run this cell before and after each repair: each line is the answer of one of
# your tests about the class in this file. Watch it change from `True` (faulty) to `False`.

# %%
built = [
    (
        catches_mixed_up,
        MixedUpAttention(key_size=4, query_size=6, value_size=5, num_hiddens=8, num_heads=2, dropout=0.1),
    ),
    (catches_tangled, TangledSelfAttention(d_model=12, n_head=3)),
    (catches_transparent, TransparentSelfAttention(embed_dim=12, num_heads=3)),
]
for catches, module in built:
    try:
        print(type(module).__name__, catches(module))
    except NotImplementedError as unwritten:
        print(unwritten)

# %% [markdown]
# ## Summary
#
# - Three layers project queries, keys and values, one per role. A fourth layer combines the heads.
# - One linear layer contains the projections of all heads. The heads run in parallel as rows of the batch.
# - Row `b·H + h` of the batch needs the length of sequence `b`.
# - Wrong attention code often runs without an error. Your tests with different sizes, changed inputs and
#   both modes show the faults.

# %% [markdown]
# ## Questions to think about
#
# 1. Let all layers be without bias. The values of a head pass through its parts of `W_v` and `W_o`, one after
#    the other. Its scores depend only on the product of its parts of `W_q` and `W_k`. So on which two products of
#    matrices does a head really depend? What could you change in the four layers without changing the output?
# 2. Swap two heads in the outputs of `W_q`, `W_k` and `W_v`. What must happen to `W_o` so that the result
#    stays the same? Does the number of a head have a meaning before training?
# 3. For each of the three classes: with which sizes, lengths or modes would its faults stay hidden? Which
#    single test, run once, would find most of them?

# %% [markdown]
# ## Sources
#
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
