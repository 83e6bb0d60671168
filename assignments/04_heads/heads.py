# %% [markdown]
# # 04 · Heads
#
# One attention gives every query *one* set of weights, and one set of weights gives one weighted sum. A word
# may need two things at once: its verb, which is far away, and its article, which is next to it. With one set
# of weights, both are averaged into one vector. So a Transformer runs several small attentions in parallel,
# called **heads**. Each head has its own share of the features, and the results of the heads are concatenated
# (Vaswani et al. 2017, section 3.2.2).
#
# After this lesson you can
#
# - split the features of a batch into heads, and merge the heads again;
# - say what reshape does to the order of elements, and what permute does;
# - choose test inputs that show a wrong order of axes.
#
# Several heads need no new formula. A head is an attention like any other, and an attention already
# treats the rows of a batch independently. So you split the features of each step into `H` parts and treat
# the parts as further sequences of the batch. `B` sequences become `B·H`, each with as many steps as before
# and fewer features. This lesson is about this rearrangement and its inverse. No element changes its value;
# only the positions change.
#
# Step $t$ of sequence $b$ has $D$ features. Head $h$ gets $d = D/H$ consecutive features, from $hd$ to
# $hd + d - 1$ (all counts start at 0). Its row in the new batch is $bH + h$:
#
# $$Y_{bH+h,t,j} = X_{b,t,hd+j} \qquad\text{for}\quad 0 \le j \le d - 1$$
#
# | name | shape | meaning |
# |---|---|---|
# | `X` in `transpose_qkv` | `(B, T, D)` | `D` features per step; `D` is a multiple of `H` |
# | its result | `(B·H, T, d)` | row `b·H + h` is head `h` of sequence `b` |
# | `X` in `transpose_output` | `(B·H, T, d)` | the result of the attention, one row per head |
# | its result | `(B, T, D)` | the heads of each step concatenated again |
#
# So the new batch holds all heads of the first sequence, then all heads of the second, and so on. Remember
# this order: in lesson 05 the length of each sequence must go to the `H` rows of that sequence.
#
# **By hand.** One sequence (`B = 1`) has two steps with four features each. There are two heads, so `d = 2`:
#
# | | feature 0 | feature 1 | feature 2 | feature 3 |
# |---|---|---|---|---|
# | step 0 | 1 | 2 | 3 | 4 |
# | step 1 | 5 | 6 | 7 | 8 |
#
# Head 0 takes the left half of *every* step, head 1 the right half. Each head still has two steps:
#
# | | head 0 | head 1 |
# |---|---|---|
# | step 0 | 1, 2 | 3, 4 |
# | step 1 | 5, 6 | 7, 8 |
#
# The result has the shape `(2, 2, 2)`. Head 0 comes first, `[[1, 2], [5, 6]]`, then head 1,
# `[[3, 4], [7, 8]]`.
#
# **Reshape and permute.** Memory holds the elements of a tensor one after the other, here `1 2 3 4 5 6 7 8`.
# The last axis changes fastest. *Reshape* keeps this order and only divides it in another way. It can split
# one axis into two adjacent ones, and it can merge two adjacent axes into one (*flatten*). *Permute* (or
# *transpose*, for two axes) changes the order of the axes, and so the order in which the elements are read.
# Reshape alone cannot put 5 after 2. Permute alone cannot create a new axis. After a permute use `reshape`,
# because `view` may raise an error (question 2).
#
# ![The values 1 to 8 of the example, those of head 0 in blue with a solid line, those of head 1 in orange
# with a dotted line. With reshape alone, result 0 holds 1 2 and 3 4, which is step 0 of both heads.
# After the axes are permuted the order is 1 2 5 6 3 4 7 8, and the same reshape gives result 0 the values 1 2
# and 5 6, which is head 0 at both steps.](pictures/memory.svg)
#
# **What goes wrong.** If you reshape straight to the final shape, "head 0" is `[[1, 2], [3, 4]]`. The shape
# is right and the content is wrong. This head holds all features of step 0 and none of step 1. So a step
# would attend to a part of itself as if it were another step. PyTorch raises no error. A model with this
# fault even trains, but badly. The same holds for the inverse. A test with `T = 1`, `H = 1` or equal elements
# does not show this fault. Another fault is to exchange two sizes in the last reshape: `(B·T, H, d)` instead
# of `(B·H, T, d)`. A test with `T = H` does not show it. Test with sizes that all differ, and with elements
# that show where they came from, like the numbers above.

# %%
import torch

# %% [markdown]
# ## Exercise: `transpose_qkv`
#
# Split the features into heads and merge the heads into the batch axis. The name comes from its use: queries,
# keys and values (q, k, v) all pass through it.
#
# `transpose_qkv(X, num_heads)`: `(B, T, D)` in, `(B·H, T, d)` out.
#
# **In plain Python.**
#
# ```python
# def transpose_qkv_plain(X, num_heads):  # B sequences of T steps with D features
#     d = len(X[0][0]) // num_heads
#     rows = []
#     for sequence in X:
#         for h in range(num_heads):
#             rows.append([step[h * d : h * d + d] for step in sequence])
#     return rows  # B·H rows of T steps with d features
# ```
#
# **In PyTorch, something similar.** Read a table column by column:
#
# ```python
# table = torch.arange(6).reshape(3, 2)  # (3, 2): [[0, 1], [2, 3], [4, 5]]
# table.permute(1, 0).reshape(6)  # (6,): [0, 2, 4, 1, 3, 5]
# ```


# %% exercise="transpose_qkv"
def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Split the features of every step into heads, one row of the batch per head.

    X: (B, T, D); num_heads: H, which divides D.
    Returns (B·H, T, D/H), same dtype; row b·H + h is head h of sequence b.
    """
    raise NotImplementedError("transpose_qkv is not written yet")


# %% [markdown]
# ## Exercise: `transpose_output`
#
# This is the inverse. Undo the operations of `transpose_qkv`, the last one first. Which of them is its own
# inverse, and which one needs the number of sequences?
#
# `transpose_output(X, num_heads)`: `(B·H, T, d)` in, `(B, T, D)` out.
#
# **In plain Python.**
#
# ```python
# def transpose_output_plain(X, num_heads):  # B·H rows of T steps with d features
#     sequences = []
#     for first in range(0, len(X), num_heads):
#         heads = X[first : first + num_heads]  # the rows of one sequence
#         steps = []
#         for t in range(len(heads[0])):
#             steps.append([x for head in heads for x in head[t]])
#         sequences.append(steps)
#     return sequences  # B sequences of T steps with D features
# ```
#
# **In PyTorch, something similar.** Only neighbouring axes can be merged, so the first one is brought to the
# last:
#
# ```python
# X = torch.arange(8).reshape(2, 2, 2)  # (2, 2, 2): [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
# X.movedim(0, 2).reshape(2, 4)  # (2, 4): [[0, 4, 1, 5], [2, 6, 3, 7]]
# ```


# %% exercise="transpose_output"
def transpose_output(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Concatenate the heads of every step again: the inverse of `transpose_qkv`.

    X: (B·H, T, d), where row b·H + h is head h of sequence b; num_heads: H.
    Returns (B, T, H·d), same dtype.
    """
    raise NotImplementedError("transpose_output is not written yet")


# %% [markdown]
# ## Try it
#
# Run this cell when both functions are written. The first output should be the two columns of the table
# above. The second should be the values 1 to 8 in their original order.

# %%
numbers = torch.arange(1, 9).reshape(1, 2, 4)  # (B=1, T=2, D=4)
try:
    heads = transpose_qkv(numbers, num_heads=2)  # (2, 2, 2)
    print(heads)
    print(transpose_output(heads, num_heads=2))
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Summary
#
# - Each head gets `d = D/H` consecutive features of every step, and attends on its own.
# - With heads as rows of the batch, the attention of lesson 03 needs no change. Row `b·H + h` is head `h` of
#   sequence `b`.
# - Reshape splits or merges adjacent axes and keeps the order of the elements. Permute changes the order.
# - A wrong order has the right shape. Test with different sizes and different elements.

# %% [markdown]
# ## Questions to think about
#
# 1. Head `h` could also take every `H`-th feature instead of `d` consecutive ones. Would a model trained that
#    way be worse? Why can a model that was trained with one split not use its parameters with the other?
# 2. After a permutation `view` may raise an error where `reshape` works. What does `reshape` do in that case,
#    and what does it cost?
# 3. With `H` heads each head has `D/H` features. How does the work for computing all scores grow with `H`,
#    and how does the memory for the attention weights grow?

# %% [markdown]
# ## Sources
#
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
