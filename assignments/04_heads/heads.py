# %% [markdown]
# # 04 · Heads
#
# One attention gives every query *one* set of weights, and one set of weights is one mixture. A word may need
# two things at once: its verb, which stands far away, and its article, which stands next to it. Mixed with
# one set of weights, both arrive as a blur. So a Transformer runs several small attentions side by side,
# called **heads**, each with its own share of the features, and puts their answers next to each other again
# (Vaswani et al. 2017, section 3.2.2).
#
# Nothing new has to be computed for that. A head is an attention like any other, and an attention already
# treats the rows of a batch independently. So we cut the features of each step into `H` pieces and hand the
# pieces to the attention as if they were further sequences of the batch: `B` sequences become `B·H`, each
# with as many steps as before and fewer features. This assignment is about that rearrangement and its way
# back. No number changes its value; all that changes is where it stands.
#
# Step $t$ of sequence $b$ has $D$ features. Head $h$ gets $d = D/H$ neighbours among them, from $hd$ up to
# $hd + d - 1$ (all counts start at 0), and its row in the new batch is $bH + h$:
#
# $$Y_{bH+h,t,j} = X_{b,t,hd+j} \qquad\text{for}\quad 0 \le j \le d - 1$$
#
# | name | shape | meaning |
# |---|---|---|
# | `X` in `transpose_qkv` | `(B, T, D)` | `D` features per step; `D` is a multiple of `H` |
# | its result | `(B·H, T, d)` | row `b·H + h` is head `h` of sequence `b` |
# | `X` in `transpose_output` | `(B·H, T, d)` | what the attention returned for every head |
# | its result | `(B, T, D)` | the heads of a step side by side again |
#
# So the new batch lists all heads of the first sequence, then all heads of the second, and so on. Remember
# this order: in assignment 05 each sequence's length must find its own `H` rows.
#
# **By hand.** One sequence (`B = 1`) of two steps with four features, and two heads, so `d = 2`:
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
# The result has shape `(2, 2, 2)`: first the column of head 0, `[[1, 2], [5, 6]]`, then that of head 1,
# `[[3, 4], [7, 8]]`.
#
# **Two different tools.** A tensor's numbers lie in memory in one long line, here `1 2 3 4 5 6 7 8`, with the
# last axis running fastest. *Reshaping* keeps that line and only cuts it up in another way: it can split one
# axis into two neighbours, or join two neighbours into one. *Permuting* (exchanging) axes changes the order
# in which the line is read. Reshaping alone can never make 5 follow 2; permuting alone can never make an axis
# that was not there.
#
# ![The numbers 1 to 8 of the example, those of head 0 in blue with a solid line, those of head 1 in orange
# with a dotted line. Cut as they lie in memory, result 0 holds 1 2 and 3 4, a piece of both heads from step 0
# alone. In the line 1 2 5 6 3 4 7 8 the same cut gives result 0 the numbers 1 2 and 5 6, which is head 0 at
# both steps.](pictures/memory.svg)
#
# **What goes wrong.** Cut the line straight into the final shape and you get `[[1, 2], [3, 4]]` as "head 0".
# The shape is right and the content is not: this head holds all features of step 0 and none of step 1, so a
# step would attend to a piece of itself as if it were another step. No error is raised, and a model built on
# it even trains, only badly. The same holds on the way back. Whoever tests with `T = H`, or with all numbers
# equal, will not notice either. Test with sizes that are all different, and with numbers that tell where they
# came from, like 1 to 8 above.

# %%
import torch

# %% [markdown]
# ## Exercise: `transpose_qkv`
#
# Split the features into heads and move the heads into the batch. The name comes from its use: queries, keys
# and values (q, k, v) all pass through it.

# %% exercise="transpose_qkv"
def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Split the features of every step into heads, and give each head a row of the batch.

    X: (B, T, D), D a multiple of num_heads. Returns (B·H, T, D/H), same dtype; row b·H + h is head h of
    sequence b.
    """
    raise NotImplementedError("transpose_qkv is not written yet")


# %% [markdown]
# ## Exercise: `transpose_output`
#
# The way back. Walk the steps of `transpose_qkv` in reverse: which of them undoes itself, and which needs to
# know how many sequences there were?

# %% exercise="transpose_output"
def transpose_output(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Put the heads of every step side by side again: the inverse of `transpose_qkv`.

    X: (B·H, T, d), row b·H + h being head h of sequence b. Returns (B, T, H·d), same dtype.
    """
    raise NotImplementedError("transpose_output is not written yet")


# %% [markdown]
# ## Try it
#
# Run this cell when both functions are written. The first output should be the two columns of the table
# above; the second should be the numbers 1 to 8 in their old order.

# %%
numbers = torch.arange(1, 9).reshape(1, 2, 4)  # (B=1, T=2, D=4)
try:
    heads = transpose_qkv(numbers, num_heads=2)  # (2, 2, 2)
    print(heads)
    print(transpose_output(heads, num_heads=2))
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Questions to think about
#
# 1. Head `h` could just as well take every `H`-th feature instead of `d` neighbours. Would a model trained
#    that way be worse? Why can weights trained with the one cut not be used with the other?
# 2. After a permutation `view` may refuse what `reshape` still does. What does `reshape` do in that case, and
#    what does it cost?
# 3. With `H` heads the features of each shrink to `D/H`. How does the work of computing all scores grow with
#    `H`, and how does the memory for the weights grow?

# %% [markdown]
# ## Sources
#
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
