# %% [markdown]
# # 03 · Scoring
#
# In lesson 01 a query and a key were numbers, and the score was fixed: the nearer, the higher. Now queries
# and keys are **vectors**, and the model *learns* which key fits which query. A word that looks for its verb
# is not close to the verb in any distance that you could write down beforehand. Everything else stays the
# same. There are scores for every query and key, a softmax over the keys, and a weighted sum of the values.
# The softmax is now the masked softmax of lesson 02. Only the score is new.
#
# After this lesson you can
#
# - compute additive and scaled dot-product scores for all pairs of queries and keys;
# - say why dot products are divided by $\sqrt{d}$;
# - apply dropout to attention weights, and keep the weights for inspection.
#
# With a score function $a$, the result for a query $q$, the keys $k_s$ and the values $v_s$ is
#
# $$f(q) = \sum_{s} \alpha_s v_s$$
#
# $$\alpha_s = \frac{\exp(a(q, k_s))}{\sum_{s'} \exp(a(q, k_{s'}))}$$
#
# Two score functions are common.
#
# **Additive attention** (Bahdanau et al. 2015, section 3.1 and appendix A.1.2) uses a small neural network
# with one hidden layer. It projects query and key to a common space of `num_hiddens` features, adds them,
# applies tanh, and computes one number from the result:
#
# $$a(q, k) = w_v^\top \tanh(W_q q + W_k k)$$
#
# The three layers are learned and have no bias. Query and key may have different sizes. The **non-linearity**
# matters: without tanh the score is a query term plus a key term. The query term is the same for all keys, so
# it has no effect on the softmax. Then all queries that see the same keys would get the same weights.
#
# **Scaled dot-product attention** (Vaswani et al. 2017, section 3.2.1) has no parameters. Query and key have
# the same size $d$, and the score is their dot product, divided by a fixed factor:
#
# $$a(q, k) = \frac{q^\top k}{\sqrt{d}}$$
#
# For all pairs at once this is a single matrix product, which computers do very fast, and no tensor with a
# hidden feature per pair has to be stored. Both are reasons why the **Transformer**, the model that this course
# builds, uses it. The learned parameters are in the layers that produce the queries and keys (lesson 05).
#
# **Why the square root?** Let the elements of $q$ and $k$ be independent, with mean 0 and variance 1. A product
# of two of them has variance 1 again. A sum of $d$ such products has variance $d$, so typical scores are of size
# $\sqrt{d}$. For $d = 64$ that is 8, and a softmax of the scores 8 and 0 gives 0.9997 and 0.0003. Such a
# softmax is *saturated*: nearly all weight is on one key, and the gradient is nearly zero. Dividing by
# $\sqrt{d}$ brings scores back to size 1 for every $d$.
#
# ![Bars of the weights that a softmax gives to eight random keys, from the largest to the smallest. Without
# the division the largest weight grows with d: 0.52 for d = 4, 0.88 for d = 64, 0.96 for d = 512, and little
# is left for the others. Divided by the square root of d it stays near 0.35 in all
# three.](pictures/square_root.svg)
#
# | name | shape | meaning |
# |---|---|---|
# | `queries` | `(B, T, q)` | `T` queries per sequence; `q` stands for `query_size` |
# | `keys` | `(B, S, k)` | `S` keys per sequence; `k` stands for `key_size`; for dot products `q = k = d` |
# | `values` | `(B, S, v)` | one value per key, of any size |
# | `valid_lens` | `None`, `(B,)` or `(B, T)` | the number of real keys, from 1 to `S`, as in lesson 02 |
# | scores and weights | `(B, T, S)` | one row per query, one column per key |
# | result | `(B, T, v)` | one weighted sum of values per query |
#
# Additive attention compares every pair, so the network works on a tensor with *four* axes: batch, query,
# key, hidden feature. This costs memory.
#
# **Conventions: columns and rows.** In a formula like $W_q q$ a single vector is a *column*. A tensor holds
# one vector per *row*, so for a whole sequence lesson 05 writes $Q W^Q$, where $W^Q$ is the transpose of
# $W_q$. `nn.Linear(n, m)` stores its weight with the shape `(m, n)`, which is (out, in). So the stored weight
# is the matrix $W_q$ of the column formula. The product `A @ B` multiplies the last two axes as matrices. All
# axes before them are batch axes, and they broadcast.
#
# **By hand.** There is one query $(1, 1, 1, 1)$ and two keys, $(1, 1, 0, 0)$ and $(0, 0, 0, 0)$, with the
# values 10 and 0. The dot products are 2 and 0, and $\sqrt{4} = 2$, so the scores are 1 and 0. The weights
# are $e/(e + 1) = 0.731$ and $0.269$, and the result is 7.31. Without the division the weights would be
# $0.881$ and $0.119$.
#
# Now the additive score with one hidden feature, where every entry of $W_q$, $W_k$ and $w_v$ is 1. For the
# query 1 and the keys $-1$ and $0$ the sums are 0 and 1. The scores are $\tanh 0 = 0$ and $\tanh 1 = 0.762$,
# and the attention weights are 0.318 and 0.682.
#
# **Dropout on the weights.** In training mode a *dropout* layer sets each of its inputs to zero with
# probability $p$. It multiplies the others by $1/(1-p)$, so that the mean stays the same. In evaluation mode
# (`eval`) it changes nothing. Here dropout acts on the attention weights: in training, some keys are randomly
# missing. Keep the weights *before* dropout in the attribute `attention_weights`. Their rows sum to one.
#
# **What goes wrong.**
#
# - $d$ is taken from the wrong axis. The number of keys is not the scale of a dot product.
# - Queries and keys are paired along the same axis, so that query 0 meets key 0 only. When `T = S` no error
#   is raised.
# - `squeeze()` without `dim` also removes the batch axis of a single sequence. Pass `dim`.
# - Dropout is applied to the result instead of the weights.
# - `key_size` is passed to the layer of the queries. A test with equal sizes does not show it. Note the order
#   of the arguments: the constructor takes `key_size, query_size`, and `forward` takes
#   `queries, keys, values`.
#
# `grader.given` contains a finished `masked_softmax`. Later lessons import the parts of earlier lessons from
# there. So you can go on even if one of your own parts does not work yet.

# %%
import math

import torch
from torch import nn

from grader.given import masked_softmax

# %% [markdown]
# ## Exercise: `AdditiveAttention`
#
# Create the three layers and the dropout layer in `__init__`, and compute the weighted sums in `forward`.
# Broadcasting adds all `T·S` pairs of a sequence at once, if queries and keys are on different axes. The
# grader loads its own weights into your layers by name, so use the names that the stub lists.
#
# `forward(queries, keys, values, valid_lens)`: `(B, T, q)`, `(B, S, k)`, `(B, S, v)` and lengths in,
# `(B, T, v)` out.
#
# **In plain Python.** For one sequence, with one length per query and without dropout:
#
# ```python
# import math
#
# def additive_attention_plain(queries, keys, values, valid_lens, W_q, W_k, w_v):
#     results = []
#     for query, valid_len in zip(queries, valid_lens):
#         scores = []
#         for key in keys:
#             score = 0.0
#             for row_q, row_k, weight in zip(W_q, W_k, w_v):  # one hidden feature after the other
#                 hidden = sum(w * x for w, x in zip(row_q, query)) + sum(w * x for w, x in zip(row_k, key))
#                 score += weight * math.tanh(hidden)
#             scores.append(score)
#         weights = masked_softmax_plain(scores, valid_len)  # as in lesson 02
#         results.append([sum(w * x for w, x in zip(weights, column)) for column in zip(*values)])
#     return results  # T vectors with v numbers
# ```
#
# **In PyTorch, something similar.** The distance of each point from each centre, along the axes of a city:
#
# ```python
# points = torch.tensor([[0.0, 0.0], [3.0, 4.0]])  # (2, 2)
# centres = torch.tensor([[0.0, 1.0], [3.0, 0.0], [0.0, 0.0]])  # (3, 2)
# pairs = points.unsqueeze(1) - centres  # (2, 3, 2)
# pairs.abs().sum(dim=-1)  # (2, 3): [[1, 3, 0], [6, 4, 7]]
# ```


# %% exercise="AdditiveAttention"
class AdditiveAttention(nn.Module):
    """Attention whose scores come from a network with one hidden layer (Bahdanau et al. 2015)."""

    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        # The grader loads weights by these names: W_k, W_q and w_v, linear layers without bias.
        raise NotImplementedError("AdditiveAttention is not written yet")

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return one weighted sum of the values per query.

        queries: (B, T, q); keys: (B, S, k); values: (B, S, v); valid_lens: None, (B,) or (B, T),
        integers from 1 to S.
        Returns (B, T, v) in the dtype of the inputs, also in float16 and bfloat16. Stores the weights before
        dropout, (B, T, S), in `self.attention_weights`.
        """
        raise NotImplementedError("AdditiveAttention.forward is not written yet")


# %% [markdown]
# ## Exercise: `DotProductAttention`
#
# The structure is the same, with another score. This score has no parameters, so `__init__` creates only
# the dropout layer. Write the formula yourself. PyTorch has this built in, as
# `scaled_dot_product_attention`: compare with it when yours works.
#
# `forward(queries, keys, values, valid_lens)`: `(B, T, d)`, `(B, S, d)`, `(B, S, v)` and lengths in,
# `(B, T, v)` out.
#
# **In plain Python.** For one sequence, with one length per query and without dropout:
#
# ```python
# import math
#
# def dot_product_attention_plain(queries, keys, values, valid_lens):
#     results = []
#     for query, valid_len in zip(queries, valid_lens):
#         scores = []
#         for key in keys:
#             score = 0.0
#             for x, y in zip(query, key):  # d features
#                 score += x * y
#             scores.append(score / math.sqrt(len(query)))
#         weights = masked_softmax_plain(scores, valid_len)  # as in lesson 02
#         results.append([sum(w * x for w, x in zip(weights, column)) for column in zip(*values)])
#     return results  # T vectors with v numbers
# ```
#
# **In PyTorch, something similar.** The products of all pairs of *columns*, for each table of a batch:
#
# ```python
# tables = torch.tensor([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [0.0, 1.0]]])  # (2, 2, 2)
# tables.mT @ tables  # (2, 2, 2): [[[1, 2], [2, 13]], [[1, 0], [0, 1]]]
# ```


# %% exercise="DotProductAttention"
class DotProductAttention(nn.Module):
    """Attention whose scores are scaled dot products (Vaswani et al. 2017, section 3.2.1)."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        # The grader loads no weights here: this attention has no parameters.
        raise NotImplementedError("DotProductAttention is not written yet")

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return one weighted sum of the values per query.

        queries: (B, T, d); keys: (B, S, d); values: (B, S, v); valid_lens: None, (B,) or (B, T),
        integers from 1 to S.
        Returns (B, T, v) in the dtype of the inputs, also in float16 and bfloat16. Stores the weights before
        dropout, (B, T, S), in `self.attention_weights`.
        """
        raise NotImplementedError("DotProductAttention.forward is not written yet")


# %% [markdown]
# ## Try it
#
# Run this cell when both classes are written. It repeats the two examples from above. It should print 7.31
# and then the weights 0.318 and 0.682.

# %%
try:
    attention = DotProductAttention(dropout=0.0)
    query = torch.ones(1, 1, 4)  # (B=1, T=1, d=4)
    two_keys = torch.tensor([[[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]])  # (B=1, S=2, d=4)
    two_values = torch.tensor([[[10.0], [0.0]]])  # (B=1, S=2, v=1)
    print(attention(query, two_keys, two_values))
except NotImplementedError as unwritten:
    print(unwritten)

try:
    attention = AdditiveAttention(key_size=1, query_size=1, num_hiddens=1, dropout=0.0)
    for weight in attention.parameters():
        nn.init.ones_(weight)
    attention(torch.tensor([[[1.0]]]), torch.tensor([[[-1.0], [0.0]]]), torch.zeros(1, 2, 1))
    print(attention.attention_weights.detach())
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Summary
#
# - A score function says how well a key fits a query. The softmax and the weighted sum never change.
# - Additive attention is a network with one hidden layer. Its non-linearity makes the weights depend on the
#   query.
# - Dot-product attention has no parameters. One matrix product computes all its scores.
# - Division by $\sqrt{d}$ keeps scores at size 1, so that the softmax does not saturate.
# - Dropout acts on the weights in training mode only. `attention_weights` holds the weights before dropout.

# %% [markdown]
# ## Questions to think about
#
# 1. The text says that without tanh all queries that see the same keys get the same weights. Prove it in two
#    lines. (What does a softmax do when you add the same number to all scores of a row?)
# 2. Compare the two attentions for long sequences. How many elements does each of them hold at once, in terms
#    of `B`, `T`, `S` and the number of features?
# 3. After dropout a row of weights no longer sums to one, and it is not divided by its new sum. Why not?
#    Think of a query that has almost all of its weight on one key.

# %% [markdown]
# ## Sources
#
# - Bahdanau, Cho, Bengio, [*Neural machine translation by jointly learning to align and
#   translate*](https://arxiv.org/abs/1409.0473), 2015.
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
