# %% [markdown]
# # 14 · Fewer keys
#
# The cache of lesson 13 is what long texts cost. This lesson makes it smaller in both directions. *Heads*: several query
# heads share one key head. *Steps*: a step looks back at the newest `w` steps only, and older ones are forgotten.
#
# After this lesson you can
#
# - share key heads among query heads (grouped queries);
# - write a mask that goes by positions, with a window and with sinks;
# - keep a ring of the newest steps, and say why it must forget *after* the queries have used the old ones.
#
# | name | shape | meaning |
# |---|---|---|
# | queries | `(B, H, T, d)` | `H` query heads |
# | keys, values | `(B, H_kv, S, d)` | `H_kv` key heads, which divides `H` |
# | positions of keys | `(S,)` | integers; −1 is an empty place |
# | mask | `(T, S)` | True where a query may attend |
#
# **Groups of heads.** Query head $h$ uses key head $h // (H / H_{kv})$: with six query heads and three key heads, heads 0 and 1 share key head 0, heads
# 2 and 3 share key head 1. So the copies of a key head are *neighbours*. With as many key heads as query heads this is the attention that you know; with one
# key head it is called multi-query attention (Shazeer 2019).
#
# **A window.** With window $w$ a query at position $q$ sees the newest $w$ keys, its own included: those with $0 \le q - k < w$. Real models get worse if the very
# first tokens disappear, because they park weight there. So a few of them, the **sinks**, stay visible (Xiao et al. 2023): keys at positions below `sinks`, to all queries
# at or after them.
#
# **A ring.** Once steps are forgotten, the place of a key says nothing about its position any more. So positions are stored beside the keys, and the mask asks
# *them*. A place that is still empty has position −1, which no query sees.
#
# ![A ring with five places and two sinks after eleven steps. The sinks hold positions zero and one. The five places hold ten, six,
# seven, eight and nine, and an arrow shows that step eleven is written over six. Below is a row of the mask: with a window of five, the
# query at eleven sees zero, one, ten, seven, eight, nine and itself, but not six.](pictures/ring.svg)
#
# **By hand.** Window 3, one sink, and a query at position 7. It sees the keys at 5, 6 and 7, and the sink at 0.
#
# **What goes wrong.**
#
# - The key heads are repeated as a whole: 0, 1, 2, 0, 1, 2. With one key head, or as many as query heads, nobody notices.
# - The window is one key too large or too small, or the query's own key does not count.
# - The ring forgets first and answers then: the first queries of a piece miss keys that they may still see.
# - The mask uses the places of the keys instead of their positions.
# - A sink is visible to queries before it.

# %%
import math

import torch
from torch import nn

# %% [markdown]
# ## Exercise: `repeat_kv`
#
# Repeat each key head, so that there are as many as query heads. Copies of one head are neighbours.
#
# `repeat_kv(x, n_rep)`: `(B, H_kv, S, d)` in, `(B, H_kv · n_rep, S, d)` out.
#
# **In plain Python.** The key heads are a list:
#
# ```python
# def repeat_kv_plain(heads, n_rep):  # H_kv heads; a number
#     repeated = []
#     for head in heads:
#         for _ in range(n_rep):
#             repeated.append(head)
#     return repeated  # H_kv · n_rep heads
# ```
#
# **In PyTorch, something similar.** One row becomes three, without a copy:
#
# ```python
# row = torch.tensor([[5, 6, 7, 8]])  # (1, 4)
# row.expand(3, 4)  # (3, 4): [[5, 6, 7, 8], [5, 6, 7, 8], [5, 6, 7, 8]]
# ```


# %% exercise="repeat_kv"
def repeat_kv(x: torch.Tensor, n_rep: int) -> torch.Tensor:
    """Return each head `n_rep` times, one after the other.

    x: (B, H_kv, S, d); n_rep: H / H_kv. Returns (B, H_kv · n_rep, S, d).
    """
    raise NotImplementedError("repeat_kv is not written yet")


# %% [markdown]
# ## Exercise: `window_mask`
#
# Compare positions, not places. Rows and columns may come in any order.
#
# `window_mask(q_positions, k_positions)`: `(T,)` and `(S,)` in, `(T, S)` out.
#
# **In plain Python.** The position of one query and of one key:
#
# ```python
# def window_mask_plain(q, k, window=None, sinks=0):
#     if k == -1 or k > q:
#         return False  # an empty place, or a later step
#     return window is None or q - k < window or k < sinks
# ```
#
# **In PyTorch, something similar.** Which numbers are one apart, or both even?
#
# ```python
# row = torch.tensor([0, 1, 4])  # (3,)
# column = torch.tensor([[2], [5]])  # (2, 1)
# ((row - column).abs() == 1) | ((row % 2 == 0) & (column % 2 == 0))  # (2, 3): [[1, 1, 1], [0, 0, 1]]
# ```


# %% exercise="window_mask"
def window_mask(
    q_positions: torch.Tensor, k_positions: torch.Tensor, window: int | None = None, sinks: int = 0
) -> torch.Tensor:
    """Return which keys each query may attend to: itself and earlier ones, within the window or among the sinks.

    q_positions: (T,), integers from 0; k_positions: (S,), integers, −1 for an empty place; window: the number of newest keys that
    are visible, the query's own included; None: all; sinks: keys at positions below it are visible to all queries at or after them.
    Returns (T, S), bool, True where a query may attend.
    """
    raise NotImplementedError("window_mask is not written yet")


# %% [markdown]
# ## Exercise: `RingCache`
#
# `append` returns what was stored before and then all new steps, with their positions, and only then forgets. It keeps the sinks and the newest
# steps: at least `window - 1` and at most `window` of them.
#
# `RingCache(window, sinks).append(keys, values)`: `(B, H_kv, T, d)` twice in, `(B, H_kv, S, d)` twice and `(S,)` out.
#
# **In plain Python.** One head, and keys only. Each piece is a list of new keys. The function returns what each `append`
# returns, as pairs of a position and a key:
#
# ```python
# def ring_cache_plain(pieces, window, sinks=0):
#     stored, total, returned = [], 0, []
#     for piece in pieces:
#         seen = list(stored)
#         for key in piece:
#             seen.append((total, key))
#             total += 1
#         returned.append(seen)
#         stored = [pair for pair in seen if pair[0] < sinks or pair[0] >= total - window]
#     return returned
# ```
#
# **In PyTorch, something similar.** Those columns stay whose heading is even:
#
# ```python
# headings = torch.tensor([3, 4, 6, 7])  # (4,)
# table = torch.tensor([[1, 2, 3, 4], [10, 20, 30, 40]])  # (2, 4)
# table[:, headings % 2 == 0]  # (2, 2): [[2, 3], [20, 30]]
# ```


# %% exercise="RingCache"
class RingCache:
    """The keys and values of the newest steps, and of the sinks, for one layer and one batch."""

    def __init__(self, window: int, sinks: int = 0) -> None:
        """window: at least 1; sinks: how many of the very first steps are never forgotten."""
        raise NotImplementedError("RingCache is not written yet")

    def append(
        self, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Add T new steps, (B, H_kv, T, d) each. `total` grows by T.

        Returns keys and values of what was stored before and of all new steps, (B, H_kv, S, d) each, and their positions (S,). They may be in any
        order, and may contain empty places with position −1.
        """
        raise NotImplementedError("RingCache.append is not written yet")


# %% [markdown]
# ## Try it: forget first, or answer first
#
# A ring with a window of four has read eight steps, and four more come in one piece. The cell prints how much the results of the four new
# queries differ from those of the whole text: first with a ring that answers and then forgets, like yours, and then with only those four keys that
# are left when a ring forgets first. Which of the four queries should be hurt most? Expect about 0.0000001 everywhere in the first row.

# %%
try:

    def attend(queries, keys, values, q_positions, k_positions):
        scores = (queries @ keys.mT / 2).masked_fill(
            ~window_mask(q_positions, k_positions, window=4), -math.inf
        )
        return scores.softmax(-1) @ values

    torch.manual_seed(1)
    q, k, v = torch.randn(3, 1, 2, 12, 4)  # (B=1, H=2, T=12, d=4) each
    steps, new = torch.arange(12), torch.arange(8, 12)
    whole = attend(q, k, v, steps, steps)[:, :, 8:]
    ring = RingCache(window=4)
    ring.append(k[:, :, :8], v[:, :, :8])
    keys, values, positions = ring.append(k[:, :, 8:], v[:, :, 8:])
    for name, rows in (("answers first", positions >= 0), ("forgets first", positions >= 8)):
        cut = attend(q[:, :, 8:], keys[:, :, rows], values[:, :, rows], new, positions[rows])
        print(name, *(f"{one:.7f}" for one in (cut - whole).abs().amax((0, 1, 3))))
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Exercise: `GroupedQueryAttention`
#
# Causal self-attention with fewer key heads, a window and sinks, with a ring or without. There are no rotary positions here.
#
# `GroupedQueryAttention(d_model, num_heads, num_kv_heads)(x, cache)`: `(B, T, D)` and a ring or `None` in, `(B, T, D)`
# out.
#
# **In plain Python.** One sequence; `x` has T rows. Layers are functions: `W_q` has one for each query head, `W_k` and
# `W_v` have one for each key head. With a ring, a text in pieces gives the same rows.
#
# ```python
# def grouped_query_attention_plain(x, W_q, W_k, W_v, W_o, window=None, sinks=0):
#     joined = [[] for _ in x]
#     for h in range(len(W_q)):
#         g = h // (len(W_q) // len(W_k))  # its key head
#         queries, keys, values = ([W(row) for row in x] for W in (W_q[h], W_k[g], W_v[g]))
#         for t, query in enumerate(queries):
#             seen = [s for s in range(len(x)) if window_mask_plain(t, s, window, sinks)]
#             near = [keys[s] for s in seen], [values[s] for s in seen]
#             joined[t] += dot_product_attention_plain([query], *near, [None])[0]  # as in lesson 03
#     return [W_o(row) for row in joined]  # T rows of D numbers
# ```
#
# **In PyTorch, something similar.** Four rows of scores, of which each two share one row of prices:
#
# ```python
# amounts = torch.tensor([[[1, 0], [0, 1]], [[2, 2], [3, 0]]])  # (2, 2, 2), groups, members, goods
# prices = torch.tensor([[5, 7], [1, 10]])  # (2, 2), one row for each group
# (amounts * prices[:, None]).sum(-1)  # (2, 2): [[5, 7], [22, 3]]
# ```


# %% exercise="GroupedQueryAttention"
class GroupedQueryAttention(nn.Module):
    """Causal self-attention in which groups of query heads share a key head (Ainslie et al. 2023)."""

    def __init__(
        self, d_model: int, num_heads: int, num_kv_heads: int, window: int | None = None, sinks: int = 0
    ) -> None:
        """Raise ValueError if num_heads does not divide d_model, or num_kv_heads does not divide num_heads."""
        super().__init__()
        # The grader loads weights by these names: W_q, W_k, W_v and W_o, linear layers without bias. W_k and W_v have
        # num_kv_heads · d_model / num_heads outputs.
        raise NotImplementedError("GroupedQueryAttention is not written yet")

    def forward(self, x: torch.Tensor, cache: RingCache | None = None) -> torch.Tensor:
        """Return one vector per new step.

        x: (B, T, d_model), the new steps; cache: a ring whose window and sinks are at least the module's, or None.
        Returns (B, T, d_model) in the dtype of x.
        """
        raise NotImplementedError("GroupedQueryAttention.forward is not written yet")


# %% [markdown]
# ## Try it: what fewer key heads save, and what they cost
#
# The cell takes a module with eight key heads and averages the layers of neighbouring key heads, until four, two and one are left. It prints
# the bytes that a cache stores per step, and how much the results change. The saving is free, but the sharing must be trained.

# %%
try:
    torch.manual_seed(1)
    x, full = torch.randn(2, 11, 64), GroupedQueryAttention(64, 8, 8)
    with torch.no_grad():
        whole = full(x)
        for heads in (8, 4, 2, 1):
            few = GroupedQueryAttention(64, 8, heads)
            for name, weight in full.state_dict().items():
                if name in ("W_k.weight", "W_v.weight"):
                    weight = weight.reshape(heads, 8 // heads, 8, 64).mean(1).reshape(-1, 64)
                few.get_parameter(name).copy_(weight)
            stored = 2 * heads * 8 * x.element_size()
            changed = (few(x) - whole).norm() / whole.norm()
            print(f"{heads} of 8 key heads: {stored} bytes a step, results change by {changed:.0%}")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Summary
#
# - Groups of query heads share a key head. The copies of a key head are neighbours.
# - A window of w shows the newest w keys, the query's own included. Sinks stay visible.
# - A ring returns first and forgets then. The mask asks positions, never places.
# - The cache holds the few key heads, not their copies.

# %% [markdown]
# ## Questions to think about
#
# 1. Two key heads and four query heads: `repeat` or `repeat_interleave`? When is there no difference?
# 2. With window 4 in each of 3 layers, how far back can the last output depend?
# 3. How many old keys does a single new query need? Why may the ring still hold one more?
#
# ## Sources
#
# - Shazeer, [*Fast Transformer Decoding: One Write-Head is All You Need*](https://arxiv.org/abs/1911.02150), 2019.
# - Ainslie et al., [*GQA*](https://arxiv.org/abs/2305.13245), 2023.
# - Xiao et al., [*Efficient Streaming Language Models with Attention Sinks*](https://arxiv.org/abs/2309.17453), 2023.
