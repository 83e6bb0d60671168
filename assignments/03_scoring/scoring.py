# %% [markdown]
# # 03 · Scoring
#
# In assignment 01 a query and a key were numbers, and the score was fixed: the nearer, the better. Now they
# are **vectors**, and what fits what is to be *learned*. A word that looks for its verb is not near to the
# verb in any sense that we could write down beforehand. Everything else stays: scores for every query and
# key, a softmax over the keys (now the masked one from assignment 02), and a weighted sum of the values. Only
# the score is new. Two kinds of score are worth knowing.
#
# **Additive attention** (Bahdanau et al. 2015, section 3.1 and appendix A.1.2) asks a small neural network
# with one hidden layer. It takes query and key to a common space of `num_hiddens` features, adds them there,
# bends the sum by a tanh, and reads off one number:
#
# $$a(q, k) = w_v^\top \tanh(W_q q + W_k k)$$
#
# Three learned layers without bias, so the query and the key may have different sizes. *Bending* matters:
# without the tanh the score would be one part from the query plus one part from the key. The query's part is
# then the same for all keys, the softmax does not see it, and every query would get the same weights.
#
# **Scaled dot-product attention** (Vaswani et al. 2017, section 3.2.1) has nothing to learn of its own. Query
# and key have the same size $d$, and the score is their dot product, made smaller by a fixed factor:
#
# $$a(q, k) = \frac{q^\top k}{\sqrt{d}}$$
#
# For all pairs at once that is a single matrix product, which computers are very good at. This is why the
# **Transformer** uses it, the model that this course builds up to. What there is to learn sits in the layers
# that make the queries and keys (assignment 05).
#
# **Why the square root?** Take entries that are independent, with mean 0 and variance 1. A product of two of
# them has variance 1 again, and a sum of $d$ such products has variance $d$: typical scores are of size
# $\sqrt{d}$. For $d = 64$ that is 8, and a softmax of the scores 8 and 0 gives 0.9997 and 0.0003. It has made
# up its mind, and it hardly has a gradient left to change it. Dividing by $\sqrt{d}$ brings scores back to
# size 1, whatever $d$ is.
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
# | `values` | `(B, S, v)` | one value for every key, of any size |
# | `valid_lens` | `None`, `(B,)` or `(B, T)` | how many keys are real, as in assignment 02 |
# | scores and weights | `(B, T, S)` | one row per query, one column per key |
# | result | `(B, T, v)` | one mixture of values per query |
#
# The network of additive attention looks at every pair, so inside it there is a tensor with *four* axes:
# batch, query, key, hidden feature. That is its price in memory.
#
# **By hand.** One query $(1, 1, 1, 1)$ with two keys, $(1, 1, 0, 0)$ and $(0, 0, 0, 0)$, and the values 10
# and 0. The dot products are 2 and 0, and $\sqrt{4} = 2$, so the scores are 1 and 0. The weights are
# $e/(e + 1) = 0.731$ and $0.269$, and the result is 7.31. Without the division the weights would be $0.881$
# and $0.119$: more decided, on no better grounds.
#
# The additive score with one hidden feature and all weights equal to 1: for the query 1 and the keys $-1$ and
# $0$ the sums are 0 and 1, the scores $\tanh 0 = 0$ and $\tanh 1 = 0.762$, the weights 0.318 and 0.682.
#
# **Dropout on the weights.** While a model trains, a *dropout* layer sets each of its inputs to zero with
# probability $p$ and multiplies the others by $1/(1-p)$, so that the mean stays the same; when the model is
# used (`eval`), it lets everything through. Here it acts on the attention weights: now and then a query must
# do without a key. The weights that you *keep* for looking at, in `attention_weights`, are those before
# dropout, whose rows sum to one.
#
# **What goes wrong.** Taking $d$ from the wrong axis: the number of keys is no scale for a dot product.
# Pairing queries with keys along the same axis, so that query 0 meets only key 0: with `T = S` this even
# runs. Removing axes of size 1 without saying which: a batch of one then loses its batch axis too. Dropping
# out the result instead of the weights. And handing `key_size` to the layer of the queries, which no test
# with equal sizes sees.
#
# A finished `masked_softmax` stands ready in `grader.given`, where later assignments find the parts that you
# have built before: being stuck on one does not keep you from the next.

# %%
import math

import torch
from torch import nn

from grader.given import masked_softmax

# %% [markdown]
# ## Exercise: `AdditiveAttention`
#
# Build the three layers and the dropout in `__init__`, and mix the values in `forward`. All `T·S` pairs of a
# sequence can be added in one go if the two tensors keep different axes for queries and keys. The grader
# loads weights of its own into your layers, by name: so give them the names that the stub lists.

# %% exercise="AdditiveAttention"
class AdditiveAttention(nn.Module):
    """Attention whose scores come from a network with one hidden layer (Bahdanau et al. 2015)."""

    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        # Weights are loaded by these names: W_k, W_q and w_v, linear layers without bias.
        raise NotImplementedError("AdditiveAttention is not written yet")

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Mix the values for every query; keep the weights before dropout in `self.attention_weights`.

        queries: (B, T, q); keys: (B, S, k); values: (B, S, v); valid_lens: None, (B,) or (B, T).
        Returns (B, T, v), same dtype, in half precision too; the kept weights are (B, T, S).
        """
        raise NotImplementedError("AdditiveAttention.forward is not written yet")


# %% [markdown]
# ## Exercise: `DotProductAttention`
#
# The same frame around another score. No layer has weights here, so the only thing to build is the dropout.
# Write the formula yourself; if you leave it to PyTorch's own attention, the report remarks on it.

# %% exercise="DotProductAttention"
class DotProductAttention(nn.Module):
    """Attention whose scores are scaled dot products (Vaswani et al. 2017, section 3.2.1)."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        # There are no weights to load: this attention has no parameters.
        raise NotImplementedError("DotProductAttention is not written yet")

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Mix the values for every query; keep the weights before dropout in `self.attention_weights`.

        queries: (B, T, d); keys: (B, S, d); values: (B, S, v); valid_lens: None, (B,) or (B, T).
        Returns (B, T, v), same dtype, in half precision too; the kept weights are (B, T, S).
        """
        raise NotImplementedError("DotProductAttention.forward is not written yet")


# %% [markdown]
# ## Try it
#
# Run this cell when both classes are written. It repeats the two examples from above: look for 7.31, and for
# the weights 0.318 and 0.682.

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
# ## Questions to think about
#
# 1. The text says that without the tanh all queries get the same weights. Prove it in two lines. (What does a
#    softmax do when the same number is added to all scores of a row?)
# 2. Compare the two attentions for long sequences: how many numbers does each of them hold at once, in terms
#    of `B`, `T`, `S` and the number of features?
# 3. After dropout a row of weights no longer sums to one, and nobody divides it by its new sum. Why not?
#    Think of a query that has almost all of its weight on one key.

# %% [markdown]
# ## Sources
#
# - Bahdanau, Cho, Bengio,
#   [*Neural machine translation by jointly learning to align and translate*](https://arxiv.org/abs/1409.0473), 2015.
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
