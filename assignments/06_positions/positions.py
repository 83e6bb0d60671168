# %% [markdown]
# # 06 · Positions
#
# *Dog bites man* and *man bites dog* contain the same words. Attention computes weighted sums, and a sum does
# not depend on the order of its terms. If you shuffle the keys together with their values, every output stays
# the same. So the vectors themselves must carry the order. Vaswani et al. (2017, section 3.5) add a second
# vector to each word vector. It depends only on the position of the word. This is a **positional encoding**.
#
# After this lesson you can
#
# - compute the table of sines and cosines, for even and odd numbers of features;
# - say why a shift of the position is a linear map, and write down its matrix;
# - choose between a buffer, a parameter and a plain attribute for a fixed tensor in a module.
#
# | name | shape | meaning |
# |---|---|---|
# | tokens | `(B, T)` | the index of each word in a vocabulary of `V` words, from 0 to `V - 1` |
# | `X` | `(B, T, D)` | embedded words |
# | `P` | `(1, max_len, D)` | the table of positions; its row `i`, a vector, is written `P[i]` below |
# | `X` plus the first `T` rows | `(B, T, D)` | the same rows for every sentence of the batch |
# | `shift_matrix(delta, D)` | `(D, D)` | maps `P[i]` to `P[i + delta]` |
#
# **A clock with many hands.** The second hand of a clock separates moments that are close together. The hour
# hand separates moments that are far apart. Together they identify every moment. The table uses the
# same idea with sine waves of several **frequencies**. The features come in pairs, and pair $j$ has its own
# frequency $1 / 10000^{2j/D}$, like a hand with its own speed:
#
# $$P_{i,2j} = \sin\left(\frac{i}{10000^{2j/D}}\right)$$
#
# $$P_{i,2j+1} = \cos\left(\frac{i}{10000^{2j/D}}\right)$$
#
# The first pair ($j = 0$) repeats after $2\pi \approx 6$ positions. The last pair repeats after almost $10000
# \cdot 2\pi$ positions if $D$ is large. Both columns of a pair have the *same* frequency: the exponent has
# $2j$ in column $2j + 1$ too. If $D$ is odd, the last pair has a sine and no cosine.
#
# ![The table of positions for D = 8 and the positions 0 to 31, a strip for each column, with its curve. The
# sine and the cosine of pair 0 have five periods. Those of pair 1 make half a period. In pair 2 the sine has
# just begun to rise, and pair 3 hardly changes.](pictures/table_of_sines.svg)
#
# **By hand.** For $D = 4$ there are two pairs. The frequency of the first is 1, that of the second is
# $10000^{-2/4} = 0.01$. Angles are in radians.
#
# | position | $\sin i$ | $\cos i$ | $\sin 0.01i$ | $\cos 0.01i$ |
# |---|---|---|---|---|
# | 0 | 0 | 1 | 0 | 1 |
# | 1 | 0.841 | 0.540 | 0.010 | 1.000 |
# | 2 | 0.909 | -0.416 | 0.020 | 1.000 |
#
# **A shift is a rotation.** Why sines, and not just the index $i$? The authors hoped that the network learns
# to attend *three words back* equally easily at position 5 and at position 50. The addition theorems are
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b$$
#
# $$\cos(a + b) = \cos a \cos b - \sin a \sin b$$
#
# It follows, for even $D$, that a shift by `delta` positions is a *linear* map. One matrix maps `P[i]` to
# `P[i + delta]`, the same for every `i`. It rotates each pair by its own angle, and a projection such as
# `W_q` could learn it. Look at $\sin i$ and $\cos i$ in the table above. One matrix with two rows and two
# columns maps $(0, 1)$ to $(0.841, 0.540)$, and $(0.841, 0.540)$ to $(0.909, -0.416)$. You will write this
# matrix down.
#
# **Words before positions.** Before a position can be added, each token must become a vector. An
# **embedding** is a table whose row $k$ is the vector of token $k$. The token that pads short sentences has a
# row too, but the model should learn nothing from it. In this assignment token **1** is padding: its row
# starts as zeros and gets no gradient. Which token is padding is a convention of each vocabulary, and no
# layer can guess it. Many vocabularies use 0, and so does lesson 11. Published notebooks with a
# `TokenEmbedding` use 1, so we use 1 here.
#
# **What goes wrong.** Watch out in `PositionalEncoding`; on a CPU your output does not show the first two.
#
# - `X += P` writes into the caller's tensor, which the caller may still need. Return a new tensor.
# - A plain attribute does not move when the module moves to another device. A `Parameter` moves, but it would
#   be trained. A *buffer* (`self.register_buffer`) moves and is not trained. With `persistent=False` it is
#   also left out of the saved weights.
# - The rows are selected by the size of axis 0 of `X`. That is the batch size; the length `T` is axis 1.
# - Near position 1000, a `float32` angle is only exact to about 0.00003. Compute the table once in `float64`
#   and then round it. Every row is then as exact as its dtype allows.
# - Apply dropout last, to the sum.

# %%
import torch
from torch import nn

# %% [markdown]
# ## Exercise: `PositionalEncoding`
#
# It is enough to compute the table once, in `__init__`. In `forward`, add its first `T` rows to `X` in the
# dtype of `X`, then apply dropout to the sum.
#
# Odd numbers of features and the plain attribute are there for you to learn from, and cost no points on the CPU: an
# error for an odd number gives advice in the report, and `grader check --device sim` shows a table that does not move.
#
# `forward(X)`: `(B, T, D)` in, `(B, T, D)` out.
#
# **In plain Python.** For one sequence, without dropout:
#
# ```python
# import math
#
# def positional_encoding_plain(X):  # T vectors with D numbers
#     moved = []
#     for i, vector in enumerate(X):
#         D, out = len(vector), []
#         for column, x in enumerate(vector):
#             pair = column // 2
#             angle = i / 10000 ** (2 * pair / D)
#             out.append(x + (math.sin(angle) if column % 2 == 0 else math.cos(angle)))
#         moved.append(out)
#     return moved  # T vectors with D numbers
# ```
#
# **In PyTorch, something similar.** Write into every third column:
#
# ```python
# table = torch.zeros(2, 5)
# table[:, 1::3] = torch.tensor([[7.0], [8.0]])
# table  # (2, 5): [[0, 7, 0, 0, 7], [0, 8, 0, 0, 8]]
# ```


# %% exercise="PositionalEncoding"
class PositionalEncoding(nn.Module):
    """Add the sines and cosines of each position, then apply dropout (Vaswani et al. 2017, section 3.5).

    num_hiddens: the number D of features, even or odd; dropout: the dropout rate; max_len: the number of rows
    of the table.
    """

    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000):
        super().__init__()
        # This module has no weights. The book calls the table P, of shape (1, max_len, num_hiddens).
        raise NotImplementedError("PositionalEncoding is not written yet")

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return X plus the first T rows of the table, after dropout. X itself is not changed.

        X: (B, T, D), floating point, with T at most max_len. Returns (B, T, D) in the dtype of X.
        """
        raise NotImplementedError("PositionalEncoding.forward is not written yet")


# %% [markdown]
# ## Try it
#
# The input is zero, so the output is the table: you should see the three rows of the lesson.

# %%
try:
    rows = PositionalEncoding(4, dropout=0.0)(torch.zeros(1, 3, 4))  # (B=1, T=3, D=4)
    print(rows.round(decimals=3))
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Exercise: `TokenEmbedding`
#
# Write an embedding table in which every row is trained except the row of the padding. The class already *is*
# an `nn.Embedding`. You only have to call the constructor of the base class with the right arguments.
#
# Called with tokens `(B, T)`, it returns `(B, T, d_model)`.
#
# **In plain Python.** For one sentence, with a new table. It returns the vectors, and the rows that this
# sentence trains:
#
# ```python
# def token_embedding_plain(tokens, table):  # T numbers; a row with d_model numbers per word
#     table[1] = [0.0 for x in table[1]]
#     vectors, trained = [], set()
#     for token in tokens:
#         vectors.append(table[token])
#         if token != 1:
#             trained.add(token)
#     return vectors, trained  # T vectors; the tokens whose rows get a gradient
# ```
#
# **In PyTorch, something similar.** A class that only calls the constructor of its base class:
#
# ```python
# class Square(nn.Linear):
#     def __init__(self, size):
#         super().__init__(size, size, bias=False)
#
# Square(4).weight  # (4, 4)
# ```


# %% exercise="TokenEmbedding"
class TokenEmbedding(nn.Embedding):
    """Map tokens (B, T) to vectors (B, T, d_model).

    Token 1 is padding: its row starts as zeros and gets no gradient.
    """

    def __init__(self, vocab_size: int, d_model: int):
        # The grader loads the table by name: weight. nn.Embedding creates it.
        raise NotImplementedError("TokenEmbedding is not written yet")


# %% [markdown]
# ## Exercise: `shift_matrix`
#
# Return the matrix of 'A shift is a rotation', for an even number of features. It multiplies `P[i]` from the
# left, with `P[i]` as a column. (For rows and columns see the paragraph *Conventions* in lesson 03.) `delta`
# may be negative or zero.
#
# `shift_matrix(delta, num_hiddens)`: two integers in, `(D, D)` out.
#
# **In plain Python.** The matrix of that paragraph passes this test, and so does every right one. (Some wrong
# ones pass it, too: at low positions the slow pairs hardly differ.)
#
# ```python
# def shift_matrix_plain(M, delta):  # D rows with D numbers; an integer
#     zeros = [[0.0 for row in M] for i in range(20 + abs(delta))]
#     P = positional_encoding_plain(zeros)  # as above: the table
#     for i in range(len(P)):
#         if 0 <= i + delta < len(P):
#             for row, after in zip(M, P[i + delta]):
#                 moved = sum(m * before for m, before in zip(row, P[i]))
#                 if abs(moved - after) > 0.00001:
#                     return False
#     return True
# ```
#
# **In PyTorch, something similar.** Write one element into each row:
#
# ```python
# M = torch.zeros(3, 3)
# M[torch.arange(3), torch.tensor([1, 2, 0])] = torch.tensor([5.0, 6.0, 7.0])
# M  # (3, 3): [[0, 5, 0], [0, 0, 6], [7, 0, 0]]
# ```


# %% exercise="shift_matrix"
def shift_matrix(delta: int, num_hiddens: int) -> torch.Tensor:
    """Return the matrix M with `M @ P[i] = P[i + delta]` for every position i.

    P is the table of `PositionalEncoding`. delta: the shift in positions, positive, negative or zero;
    num_hiddens: the number D of features, even. Returns (D, D), floating point; float32 fits the table.
    """
    raise NotImplementedError("shift_matrix is not written yet")


# %% [markdown]
# ## Try it
#
# Shift each of the first 20 positions by 5, and compare with the table. Expect about 0.0000001.

# %%
try:
    P = PositionalEncoding(8, dropout=0.0)(torch.zeros(1, 25, 8))[0]  # (25, D=8)
    moved = (shift_matrix(5, 8) @ P[:20, :, None])[:, :, 0]  # (20, D)
    print(f"largest difference: {(moved - P[5:]).abs().max().item():.7f}")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Summary
#
# - Attention alone does not see the order of the keys, so a positional encoding is added to the embeddings.
# - Each pair of features is a sine and a cosine of one frequency. Fast pairs separate near positions, slow
#   pairs separate distant ones.
# - For even $D$, a shift by `delta` rotates every pair by a fixed angle, so it is a linear map.
# - The table is a buffer: it moves with the module and is not trained.
# - The embedding row of the padding token stays zero and gets no gradient.

# %% [markdown]
# ## Questions to think about
#
# 1. If $D$ is even, the dot product of `P[i]` and `P[j]` depends on `i - j` only. Can you see why, from the
#    clock or from the theorems? Why is this no longer true if $D$ is odd?
# 2. What is `shift_matrix(3, D) @ shift_matrix(-3, D)`? And what is the transpose of a shift?
# 3. The position is *added* to the word, in the same features. How might the network still separate the two?
#    What would it cost to concatenate them instead?
# 4. A table of *learned* positions is common, too. What can it not do when a sentence is longer than every
#    sentence of the training?
# 5. The mask hides padding from every query, but padded positions also have queries of their own. How could
#    gradients reach the embedding of the padding that way, and why should they not?

# %% [markdown]
# ## Sources
#
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
