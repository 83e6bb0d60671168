# %% [markdown]
# # 06 · Positions
#
# *Dog bites man* and *man bites dog* hold the same words. Attention forms weighted sums, and a sum does not
# know in which order its terms came: shuffle the keys together with their values, and every output stays as
# it was. So the order must be put into the vectors themselves. Vaswani et al. (2017, section 3.5) add to the
# vector of each word a second vector that depends on its position alone.
#
# | name | shape | meaning |
# |---|---|---|
# | tokens | `(B, T)` | the number of each word in a vocabulary of `V` words, from 0 to `V - 1` |
# | `X` | `(B, T, D)` | embedded words |
# | `P` | `(1, max_len, D)` | the table of positions; its row `i`, a vector, is written `P[i]` below |
# | `X` plus the first `T` rows | `(B, T, D)` | the same rows for every sentence of the batch |
# | `shift_matrix(delta, D)` | `(D, D)` | takes `P[i]` to `P[i + delta]` |
#
# **A clock with many hands.** The second hand of a clock tells moments apart that are close, the hour hand
# those that are far; together they are never in doubt. The features come in pairs, and pair $j$ is a hand
# that turns with a speed of its own:
#
# $$P_{i,2j} = \sin\left(\frac{i}{10000^{2j/D}}\right)$$
#
# $$P_{i,2j+1} = \cos\left(\frac{i}{10000^{2j/D}}\right)$$
#
# The first hand ($j = 0$) goes round once in $2\pi \approx 6$ positions, the last one, if $D$ is large, in
# almost $10000 \cdot 2\pi$. Both columns of a pair have the *same* speed: the $2j$ in the exponent counts
# pairs, it is not the number of the column. If $D$ is odd, the last hand has a sine and no cosine.
#
# ![The table of positions for D = 8 and the positions 0 to 31, a strip for each column, with its curve. The
# sine and the cosine of pair 0 go round five times. Those of pair 1 make half a turn. In pair 2 the sine has
# just begun to rise, and pair 3 hardly moves.](pictures/table_of_sines.svg)
#
# **By hand.** For $D = 4$ there are two hands. The speed of the first is 1, that of the second
# $10000^{-2/4} = 0.01$. Angles are in radians.
#
# | position | $\sin i$ | $\cos i$ | $\sin 0.01i$ | $\cos 0.01i$ |
# |---|---|---|---|---|
# | 0 | 0 | 1 | 0 | 1 |
# | 1 | 0.841 | 0.540 | 0.010 | 1.000 |
# | 2 | 0.909 | -0.416 | 0.020 | 1.000 |
#
# **Moving is turning.** Why sines, and not just the number $i$? The authors hoped that the network would
# learn to look *three words back* just as easily at position 5 as at position 50. From the addition theorems
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b$$
#
# $$\cos(a + b) = \cos a \cos b - \sin a \sin b$$
#
# it follows that moving by `delta` positions is a *linear* map: there is one matrix that takes every `P[i]`
# to `P[i + delta]`, whatever `i` is. It turns each hand by an angle of its own, and a projection such as
# `W_q` could learn it. Look at the first two columns above: one matrix with two rows and two columns takes
# $(0, 1)$ to $(0.841, 0.540)$ and that to $(0.909, -0.416)$. You will write it down.
#
# **Words before positions.** Before a position can be added, a token must become a vector: row $k$ of a
# table for token $k$. The token that fills up short sentences has a row too, but nothing should ever be
# learned from it. In this assignment token **1** is padding: its row starts as zeros and gets no gradient.
#
# **What goes wrong.** Much in `PositionalEncoding` is not about numbers.
#
# - `X += P` writes into the caller's tensor, which the caller may still need. Make a new one.
# - A plain attribute stays behind when the module moves to another device. A `Parameter` moves along, but
#   would be trained. A *buffer* (`self.register_buffer`) moves and is not trained; with `persistent=False`
#   it also stays out of the saved weights.
# - The rows are chosen by the length `T`, which is axis 1 of `X`. Axis 0 is the batch.
# - Near position 1000, `float32` knows an angle to about 0.00003 only. Compute the table in `float64` once,
#   then round it, and every row is as good as its type allows.
# - Dropout comes last, on the sum.

# %%
import torch
from torch import nn

# %% [markdown]
# ## Exercise: `PositionalEncoding`
#
# Make the table once, in `__init__`; in `forward` add its first `T` rows, in the dtype of `X`, and drop out.

# %% exercise="PositionalEncoding"
class PositionalEncoding(nn.Module):
    """Adds to each position its sines and cosines, then drops out (Vaswani et al. 2017, section 3.5)."""

    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000):
        super().__init__()
        # There are no weights here. The table (1, max_len, num_hiddens) is called P.
        raise NotImplementedError("PositionalEncoding is not written yet")

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (B, T, D) with T at most max_len; D may be odd. Returns (B, T, D), same dtype."""
        raise NotImplementedError("PositionalEncoding.forward is not written yet")


# %% [markdown]
# ## Try it
#
# Added to zeros, the table shows itself: these should be the three rows of the lesson.

# %%
try:
    rows = PositionalEncoding(4, dropout=0.0)(torch.zeros(1, 3, 4))  # (B=1, T=3, D=4)
    print(rows.round(decimals=3))
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Exercise: `TokenEmbedding`
#
# A table of vectors that can be trained, save for the row of the padding. The class *is* an `nn.Embedding`
# already; what remains is to start it with the right arguments.

# %% exercise="TokenEmbedding"
class TokenEmbedding(nn.Embedding):
    """Tokens (B, T) → vectors (B, T, d_model). Token 1 is padding: zeros, and no gradient."""

    def __init__(self, vocab_size: int, d_model: int):
        # The table is loaded by name: weight, which nn.Embedding makes.
        raise NotImplementedError("TokenEmbedding is not written yet")


# %% [markdown]
# ## Exercise: `shift_matrix`
#
# The matrix of 'Moving is turning', for an even number of features. It multiplies `P[i]` from the left, as a
# column. `delta` may be negative, or zero.

# %% exercise="shift_matrix"
def shift_matrix(delta: int, num_hiddens: int) -> torch.Tensor:
    """The matrix M with `M @ P[i] = P[i + delta]` for every position i.

    P is the table of `PositionalEncoding`, num_hiddens its number D of features, even. Returns (D, D).
    """
    raise NotImplementedError("shift_matrix is not written yet")


# %% [markdown]
# ## Try it
#
# Move all of the first 20 positions by 5, and compare with the table. Expect about 0.0000001.

# %%
try:
    P = PositionalEncoding(8, dropout=0.0)(torch.zeros(1, 25, 8))[0]  # (25, D=8)
    moved = (shift_matrix(5, 8) @ P[:20, :, None])[:, :, 0]  # (20, D)
    print(f"largest difference: {(moved - P[5:]).abs().max().item():.7f}")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Questions to think about
#
# 1. If $D$ is even, the dot product of `P[i]` and `P[j]` depends on `i - j` only. Can you see why, from the
#    clock or from the theorems? What spoils it if $D$ is odd?
# 2. What does `shift_matrix(3, D) @ shift_matrix(-3, D)` give? And what is the transpose of a shift?
# 3. The position is *added* to the word, in the same features. How might the network still tell the two
#    apart, and what would it cost to put them side by side instead?
# 4. A table of *learned* positions is common, too. What can it not do when a sentence is longer than all that
#    it was trained on?
# 5. The mask hides padding from every query, but padded positions also ask queries of their own. How could
#    gradients reach the padding's embedding that way, and why should they not?

# %% [markdown]
# ## Sources
#
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
