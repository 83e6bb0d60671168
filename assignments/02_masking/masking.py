# %% [markdown]
# # 02 · Masking
#
# A batch holds several sentences in one tensor, one row per sentence. All rows of a tensor have the same
# length, but sentences do not. Short sentences are filled up with *padding*, and every layer must know which
# elements are real. In this course **valid lengths** carry this information: `valid_lens[b]` is the number of
# real elements at the start of row `b`.
#
# After this lesson you can
#
# - replace padding in a batch of sequences, given their lengths;
# - compute a softmax in which padded keys get no weight;
# - express a padding mask and a causal mask by valid lengths.
#
# Attention turns scores into weights with a softmax over the keys; $x_{ts}$ is the score of query $t$ and key $s$:
#
# $$\alpha_{ts} = \frac{\exp(x_{ts})}{\sum_{s'} \exp(x_{ts'})}$$
#
# Padding must get weight **zero**, and the other weights must still sum to one. Setting weights to zero
# *after* the softmax is not enough: the padding is already part of the sum in the denominator. So the mask is
# applied *before* the softmax. The score of a padded key becomes minus infinity, or a value so low that its
# exponential is zero. The lowest finite value depends on the dtype: `torch.finfo(dtype).min`.
#
# | name | shape | meaning |
# |---|---|---|
# | `X` in `sequence_mask` | `(N, T, …)` | one sequence of T steps per row, then any number of feature axes |
# | `valid_len` | `(N,)` | the number of real steps in each row, from 1 to `T` |
# | `X` in `masked_softmax` | `(B, T, S)` | one score per query `t` and key `s` |
# | `valid_lens` | `None`, `(B,)` or `(B, T)` | no mask; one length per sequence; one length per *query*. Every length is from 1 to `S` |
#
# **By hand.** The scores are `[1, 1, 5]` and the length is 2, so the third key is padding. Its score becomes
# $-\infty$. The exponentials are $e, e, 0$, and the weights are $\tfrac12, \tfrac12, 0$. Without the mask the
# padding would get 96 % of the weight.
#
# **Why one length per query?** A model that writes a text from left to right may use earlier words but no
# later ones. Query `t` sees the keys `0 … t`, so its length is `t + 1`. Such a mask is called *causal*. Here
# it is simply the lengths `[1, 2, …, T]` in every row of `valid_lens`, and it needs no code of its own.
#
# ![Two tables of scores, four queries by four keys, and the weights that a softmax makes of each row. With
# the length 3 for every query the last column is minus infinity, and its weights are 0. With the lengths 1 to
# 4 all scores above the diagonal are minus infinity, and their weights are 0. Every row of weights sums to
# 1.](pictures/masks.svg)
#
# **Must padded queries be masked, too?** No. A padded query gets weights and a result like any other, and
# nobody reads it: later layers hide padded keys again, and the loss leaves padding out. If you hid every
# key from such a query, its weights would all be equal, or NaN. So mask keys only.
#
# **Broadcasting** (lesson 01) compares all positions with the limits of all rows in one operation:
#
# ```python
# limit = torch.tensor([[10], [20]])  # (2, 1)
# position = torch.tensor([5, 15, 25])  # (3,)
# position > limit  # (2, 3): [[False, True, True], [False, False, True]]
# ```
#
# PyTorch aligns axes from the right. So it matches a mask of shape `(N, T)` with the *last* two axes of a
# tensor of shape `(N, T, F)`. Give the mask a further axis of size 1 at the end.
#
# **What goes wrong.**
#
# - Lengths count elements, but positions start at 0: the last real position of a row of length 2 is 1.
# - The mask runs along the wrong axis and hides queries instead of keys. When `T = S`, all shapes match
#   and no error is raised.
# - `torch.arange` creates its tensor on the CPU, unless you pass the device of the scores.

# %%
import torch

# %% [markdown]
# ## Exercise: `sequence_mask`
#
# Replace every step at or beyond the length of its row by `value`. `X` has the shape `(N, T)`, or
# `(N, T, …)` with axes of features. Replace all features of a step. (Changing `X` itself is fine here, and
# so is returning a new tensor.)
#
# `sequence_mask(X, valid_len, value)`: `(N, T, …)` and `(N,)` in, `(N, T, …)` out.
#
# **In plain Python.** For one row with features:
#
# ```python
# def sequence_mask_plain(row, valid_len, value):  # T steps, each a list of features; a number; a number
#     out = []
#     for t, step in enumerate(row):
#         if t < valid_len:
#             out.append(step)
#         else:
#             out.append([value for feature in step])
#     return out  # T steps
# ```
#
# **In PyTorch, something similar.** A comparison of all pairs:
#
# ```python
# torch.arange(2)[:, None] < torch.arange(3)  # (2, 3): [[False, True, True], [False, False, True]]
# ```


# %% exercise="sequence_mask"
def sequence_mask(X: torch.Tensor, valid_len: torch.Tensor, value: float = 0) -> torch.Tensor:
    """Keep the first `valid_len[n]` steps of row `n` and set the others to `value`.

    X: (N, T, …), floating point or integers; valid_len: (N,), integers from 1 to T. The grader tests no
    length 0.
    Returns (N, T, …) in the dtype of X.
    """
    raise NotImplementedError("sequence_mask is not written yet")


# %% [markdown]
# ## Exercise: `masked_softmax`
#
# Compute a softmax over the last axis in which padded keys get no weight. Lengths of shape `(B,)` apply to
# all queries of a sequence. Give both kinds of lengths the same number of axes. Then one
# piece of code works for both.
#
# Call your `sequence_mask` or build the mask here, as you like. (Changing `X` is fine here, too.)
#
# `masked_softmax(X, valid_lens)`: `(B, T, S)` and lengths in, `(B, T, S)` out.
#
# **In plain Python.** For one query:
#
# ```python
# import math
#
# def masked_softmax_plain(row, valid_len):  # S scores; how many of them are real, or None for all
#     if valid_len is None:
#         valid_len = len(row)
#     real = row[:valid_len]
#     exps = [math.exp(x - max(real)) for x in real]  # without `max`, a large score would overflow
#     weights = [e / sum(exps) for e in exps]
#     return weights + [0.0 for padded in row[valid_len:]]  # S weights, their sum is one
# ```
#
# **In PyTorch, something similar.** The largest element of each row, without those that do not count:
#
# ```python
# grades = torch.tensor([[3.0, 9.0], [4.0, 5.0]])
# missing = torch.tensor([[False, True], [False, False]])
# grades.masked_fill(missing, -torch.inf).amax(dim=-1)  # (2,): [3, 5]
# ```


# %% exercise="masked_softmax"
def masked_softmax(X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
    """Return the softmax of the scores over the keys; padded keys get weight zero.

    X: (B, T, S), scores; valid_lens: None for no mask, (B,) for one length per sequence, or (B, T) for one
    length per query, integers from 1 to S. The grader tests no length 0.
    Returns (B, T, S) in the dtype of X, also in float16 and bfloat16; every row sums to one.
    """
    raise NotImplementedError("masked_softmax is not written yet")


# %% [markdown]
# ## Try it
#
# Run this cell when both functions are written. Every row should sum to one, and the weights of padded keys
# should be exactly zero.

# %%
scores = torch.tensor([[[1.0, 1.0, 5.0], [0.0, 2.0, 1.0]]])  # (B=1, T=2, S=3)
try:
    print(masked_softmax(scores.clone(), torch.tensor([2])))
    print(masked_softmax(scores.clone(), torch.tensor([[1, 3]])))
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Summary
#
# - Padding makes all rows of a batch equally long. Valid lengths say which elements are real.
# - A mask acts before the softmax. Then the remaining weights sum to one. If you zero weights after the
#   softmax, you have to divide by their new sum, and that is 0/0 where all real weights are too small.
# - A length per sequence hides padding. The lengths 1 to `T`, one per query, make a causal mask.
# - The fill value must fit the dtype of the scores.

# %% [markdown]
# ## Questions to think about
#
# 1. What should `masked_softmax` give for a length of 0? Try your function. Which result is best, and why?
# 2. Why does `masked_fill` with `-1e9` work in `float32` and raise an exception in `float16`?
#    (`torch.finfo(dtype).min` is the lowest finite value of a dtype.)
# 3. A tensor of scores is large. What does it cost to leave `X` unchanged and mask a copy? What may it cost
#    your caller if you write into `X`?
