# %% [markdown]
# # 02 · Masking
#
# A batch holds several sentences in one tensor, a row for each. A tensor is a rectangle, sentences are not:
# the short ones are filled up with *padding*, and from then on every layer must be told which entries are
# real. In this course that information travels as **lengths**: `valid_lens[b]` says how many leading entries
# of row `b` count.
#
# Attention turns scores into weights with a softmax over the keys,
#
# $$\alpha_{ts} = \frac{\exp(x_{ts})}{\sum_{s'} \exp(x_{ts'})}$$
#
# and padding must get weight **zero** while the rest still sums to one. Setting weights to zero *after* the
# softmax is too late: the padding has already taken its share of the sum. So the mask goes in *before*: a
# score of minus infinity, or one so low that its exponential is zero, takes no share at all.
#
# | name | shape | meaning |
# |---|---|---|
# | `X` in `sequence_mask` | `(N, T, …)` | one sequence per row, any number of feature axes after it |
# | `valid_len` | `(N,)` | how many steps of each row are real |
# | `X` in `masked_softmax` | `(B, T, S)` | a score for every query `t` and key `s` |
# | `valid_lens` | `None`, `(B,)` or `(B, T)` | no mask; one length per sequence; one length per *query* |
#
# **By hand.** Scores `[1, 1, 5]` and the length 2: the third key is padding. Its score becomes
# $-\infty$, the exponentials are $e, e, 0$ and the weights $\tfrac12, \tfrac12, 0$. Without the mask the
# padding would have taken 96 % of the weight.
#
# **Why a length per query?** A model that writes a text from left to right may look back but not ahead:
# query `t` sees keys `0 … t`, so its length is `t + 1`. Such a mask is called *causal*. Here it is just the
# lengths `[1, 2, …, T]` in every row of `valid_lens`, and needs no code of its own.
#
# ![Two tables of scores, four queries by four keys, and the weights that a softmax makes of each row. With
# the length 3 for every query the last column is minus infinity, and its weights are 0. With the lengths 1 to
# 4 all that lies above the diagonal is minus infinity, and its weights are 0. Every row of weights sums to
# 1.](pictures/masks.svg)
#
# **What goes wrong.** Lengths count entries, positions start at 0: the last real position of a row of
# length 2 is 1. A mask laid along the wrong axis hides queries instead of keys, and when `T = S` no shape
# complains. And a mask built by `torch.arange` lives on the CPU, wherever the scores are, unless you say
# otherwise.

# %%
import torch

# %% [markdown]
# ## Exercise: `sequence_mask`
#
# Replace every step at or beyond a row's length by `value`. `X` may be `(N, T)` or carry further axes;
# a step is replaced as a whole. You may write into `X` or return a new tensor, as you like.

# %% exercise="sequence_mask"
def sequence_mask(X: torch.Tensor, valid_len: torch.Tensor, value: float = 0) -> torch.Tensor:
    """Keep the first `valid_len[n]` steps of row `n`, set the others to `value`.

    X: (N, T, …); valid_len: (N,) integers from 0 to T. Returns (N, T, …), same dtype.
    """
    ### BEGIN SOLUTION
    steps = torch.arange(X.shape[1], device=X.device)  # (T,)
    keep = steps[None, :] < valid_len[:, None]  # (N, T)
    keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))  # (N, T, 1, …)
    return X.masked_fill(~keep, value)
    ### END SOLUTION


# %% [markdown]
# ## Exercise: `masked_softmax`
#
# Softmax over the last axis, in which padded keys take no part. Think about what `(B,)` means for the
# queries of one sequence, and about which shape lets both kinds of lengths go the same way from there on.
# Here too you may write into `X` or leave it alone.

# %% exercise="masked_softmax"
def masked_softmax(X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
    """Softmax over the keys, with padded keys left out.

    X: (B, T, S) scores; valid_lens: None, (B,) or (B, T).
    Returns (B, T, S), same dtype, in half precision too; every row sums to one.
    """
    ### BEGIN SOLUTION
    if valid_lens is None:
        return X.softmax(dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]  # (B, 1): one length for all queries of a sequence
    keys = torch.arange(X.shape[-1], device=X.device)  # (S,)
    keep = keys < valid_lens[:, :, None]  # (B, 1 or T, S)
    lowest = torch.finfo(X.dtype).min  # its exponential is zero in every dtype
    return X.masked_fill(~keep, lowest).softmax(dim=-1)
    ### END SOLUTION


# %% [markdown]
# ## Try it
#
# Run this cell when both functions are written. Every row should sum to one, and the padded columns
# should be exactly zero.

# %%
scores = torch.tensor([[[1.0, 1.0, 5.0], [0.0, 2.0, 1.0]]])  # (B=1, T=2, S=3)
try:
    print(masked_softmax(scores.clone(), torch.tensor([2])))
    print(masked_softmax(scores.clone(), torch.tensor([[1, 3]])))
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Questions to think about
#
# 1. What should a row of length 0 give? Try yours, and say which answer you would defend.
# 2. Why does filling with `-1e9` work in `float32` and break in `float16`? (`torch.finfo` knows the smallest
#    and the largest number of each.)
# 3. A tensor of scores is large. What does it cost to leave `X` alone and mask a copy of it, and what may it
#    cost your caller if you write into `X`?
