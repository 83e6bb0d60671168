# %% [markdown]
# # 15 · Attention in tiles
#
# An attention with `T` queries and `S` keys has `T·S` scores. They are computed, written to memory, read once by the softmax, and
# thrown away. For long texts this table is the largest thing in the whole model, and writing and reading it takes most of the time.
# Can a row be summed without ever having all of it? It can. You compute the table in **tiles**, a block of queries by a block of keys, and
# keep three things per query. This is what *FlashAttention* does.
#
# After this lesson you can
#
# - merge the attention to some keys with the attention to other keys;
# - compute attention in tiles, with a causal mask and a window, and never hold all scores;
# - compute its gradients by hand, from one number per query.
#
# | name | shape | meaning |
# |---|---|---|
# | queries, keys | `(B, H, T, d)`, `(B, H, S, d)` | as in lesson 13 |
# | values | `(B, H, S, v)` | `v` may differ from `d` |
# | output | `(B, H, T, v)` | the weighted mean of the values |
# | lse | `(B, H, T)` | $\ln \sum \exp(\text{score})$ of each query, the *log-sum-exp* |
# | m, l, acc | `(B, H, t)` twice, `(B, H, t, v)` | of a block of `t` queries, see below |
#
# **A row, block by block.** Take one query. After some blocks of keys, keep
#
# - `m`, the largest score so far;
# - `l`, the sum of $\exp(\text{score} - m)$ so far;
# - `acc`, the sum of $\exp(\text{score} - m)$ times the value.
#
# A new block can only raise the maximum. If it goes from `m` to `m'`, then all that was summed up before shrinks by one factor,
# $\exp(m - m')$. Afterwards the new block is added. At the end, the output is `acc / l`, and the lse is `m + ln l`.
#
# ![Left, the table of seven queries and nine keys, cut into tiles. Right, the three sums of one query before and after a block
# with a larger maximum: all old bars shrink by the same factor, then the new ones are added.](pictures/tiles.svg)
#
# **By hand.** One query has the scores 1 and 2, then, in a second block, 4. The values are 10, 20 and 40.
#
# | | m | l | acc |
# |---|---|---|---|
# | after the first block | 2 | $e^{-1} + 1$ = 1.368 | 10·0.368 + 20·1 = 23.68 |
# | times $e^{2 - 4}$ = 0.135 | | 0.185 | 3.20 |
# | after the second block | 4 | 0.185 + 1 = 1.185 | 3.20 + 40·1 = 43.20 |
#
# So the output is 43.20 / 1.185 = 36.46, and the lse is 4 + ln 1.185 = 4.17. A softmax over all three scores gives the same.
#
# **Said better.** What is known about a set of keys is a *state*: the pair (output, lse). Two states of different keys can be
# **merged** into the state of all these keys, and the order does not matter. So any cutting gives the same answer: blocks,
# several devices, or a prefix that many prompts share and a suffix of each one.
#
# **No keys.** A set without a key has the lse −∞, and its output is 0. This really happens: with a mask, a block can hide all
# of its keys from a query before any key was seen. Then −∞ − (−∞) is near, and that is NaN.
#
# **What a query sees.** As in lessons 13 and 14: query $t$ has position $t + S - T$, so the last query sees the last key.
# With `causal=True`, a query at position $q$ sees the keys $k$ with $q - k \ge 0$; with a window $w$, only those with
# $0 \le q - k < w$. If there are more queries than keys, the first ones see nothing.
#
# **What goes wrong.**
#
# - When the maximum grows, the sum shrinks and the accumulator is forgotten, or the other way round.
# - The maximum starts at 0 instead of −∞. Then all weights are 0 if all scores are far below 0.
# - The last block is smaller than the others, and gets lost.
# - A tile counts its rows and columns from 0, and so its mask is that of the first tile.
# - A tile without any visible pair is computed all the same. The result is right, and half of the work is for nothing.

# %%
import math

import torch

# %% [markdown]
# ## Exercise: `merge_state`
#
# Let $a$ be the lse of some keys and $b$ that of others. The lse of all of them is $\ln(e^a + e^b)$, and their outputs are mixed in the
# proportion $e^a : e^b$. But $e^{1000}$ is infinite, so first subtract the larger of the two. If one state is empty, the other one comes back.
#
# `merge_state(out_a, lse_a, out_b, lse_b)`: twice `(…, T, v)` and `(…, T)` in, `(…, T, v)` and `(…, T)` out.
#
# **In plain Python.** One query, so an output has v numbers, and an lse is one:
#
# ```python
# import math
#
# def merge_state_plain(out_a, lse_a, out_b, lse_b):
#     top = max(lse_a, lse_b)
#     if top == -math.inf:
#         return [0.0] * len(out_a), -math.inf  # no keys in either
#     a, b = math.exp(lse_a - top), math.exp(lse_b - top)
#     out = [(a * x + b * y) / (a + b) for x, y in zip(out_a, out_b)]
#     return out, top + math.log(a + b)
# ```
#
# **In PyTorch, something similar.** Goals per game. Each team's row is divided by its own number of games, and a team
# without games gets 0:
#
# ```python
# goals = torch.tensor([[6.0, 2.0], [0.0, 0.0]])  # (2, 2)
# games = torch.tensor([2.0, 0.0])  # (2,)
# goals / games.masked_fill(games == 0, 1.0).unsqueeze(-1)  # (2, 2): [[3.0, 1.0], [0.0, 0.0]]
# ```


# %% exercise="merge_state"
def merge_state(
    out_a: torch.Tensor, lse_a: torch.Tensor, out_b: torch.Tensor, lse_b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Merge two states of attention to different keys into the state of all these keys.

    out_a, out_b: (..., T, v), the outputs; lse_a, lse_b: (..., T), the natural logarithms of the sums of exponentials. A state without
    keys has output 0 and lse -inf.
    Returns the output (..., T, v) in the dtype of out_a, and the lse (..., T) in the dtype of lse_a.
    """
    raise NotImplementedError("merge_state is not written yet")


# %% [markdown]
# ## Exercise: `tiled_attention`
#
# Go over blocks of queries, and for each one over blocks of keys. The last block of either may be smaller. Do not compute a tile in which no query sees
# any key. If there are many queries and keys, no tensor may have more values than a quarter of all scores; that includes masks. You may
# write the three sums yourself, or let `merge_state` do the work. `softmax` and `logsumexp` of a tile are fine; `scaled_dot_product_attention` costs half of the points.
# Sum in float32 if the inputs are in half precision.
#
# `tiled_attention(queries, keys, values, block_size)`: `(B, H, T, d)`, `(B, H, S, d)` and `(B, H, S, v)` in,
# `(B, H, T, v)` and `(B, H, T)` out.
#
# **In plain Python.** One head. The size of the tiles changes no number, so here a tile is one query and one key. Such a
# tile is a state, too: its output is the value, its lse is the score.
#
# ```python
# import math
#
# def tiled_attention_plain(queries, keys, values, causal=False, window=None):
#     output, lse = [], []
#     for t, query in enumerate(queries):
#         state = [0.0] * len(values[0]), -math.inf  # no key yet
#         for s, (key, value) in enumerate(zip(keys, values)):
#             distance = t + len(keys) - len(queries) - s
#             if causal and (distance < 0 or (window is not None and distance >= window)):
#                 continue
#             score = sum(a * b for a, b in zip(query, key)) / math.sqrt(len(query))
#             state = merge_state_plain(*state, value, score)
#         output.append(state[0])
#         lse.append(state[1])
#     return output, lse  # T rows of v numbers; T numbers
# ```
#
# **In PyTorch, something similar.** Sums of rows, two columns at a time. The last block has only one:
#
# ```python
# table, total = torch.arange(10).reshape(2, 5), torch.zeros(2, dtype=torch.int64)
# for first in range(0, 5, 2):
#     total += table[:, first : first + 2].sum(-1)
# total  # (2,): [10, 35]
# ```


# %% exercise="tiled_attention"
def tiled_attention(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    block_size: int,
    causal: bool = False,
    window: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return attention, computed in tiles of at most block_size queries and block_size keys.

    queries: (B, H, T, d); keys: (B, H, S, d); values: (B, H, S, v). Scores are divided by the root of d.
    causal: query t, at position t + S - T, sees the keys up to its position. window: only the last `window` of them, its own
    included; it comes only with causal.
    Returns the output (B, H, T, v) in the dtype of the queries, and the lse (B, H, T) in float32 or float64. A query that sees no
    key has output 0 and lse -inf.
    """
    raise NotImplementedError("tiled_attention is not written yet")


# %% [markdown]
# ## Try it: scores that overflow
#
# The scores are up to 940 in size. The cell compares your tiles with a softmax in double precision, and with exponentials without a maximum. Then
# all scores are near −1000. What becomes of the sum if the maximum starts at 0?

# %%
try:
    torch.manual_seed(3)
    q, k, v = 16 * torch.randn(3, 1, 2, 48, 16)  # (B=1, H=2, T=S=48, d=16) each
    scores = q @ k.mT / 4
    exact = (q.double() @ k.double().mT / 4).softmax(-1) @ v.double()
    naive = scores.exp() @ v / scores.exp().sum(-1, keepdim=True)
    output, _ = tiled_attention(q, k, v, block_size=16)
    print(f"scores up to {scores.abs().max():.0f}; NaN without a maximum: {naive.isnan().float().mean():.0%}")
    away = (output - exact).abs() / (1 + exact.abs())
    print(f"largest difference of the tiles, relative: {away.max():.0e}")
    low = torch.randn(48) - 1000
    for name, start in (("0", torch.zeros(())), ("-inf", low.max())):
        total = (low - torch.maximum(start, low.max())).exp().sum()
        print(f"scores near -1000, the maximum starts at {name}: the sum is {total:.2f}")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Try it: what is held, and in which order
#
# The cell prints the size of the largest tensor during a call: with all scores at once it grows with the square of the length, with tiles it
# is the input itself. Then it computes the states of eight blocks of keys, and merges them in three random orders.

# %%
try:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Largest(TorchDispatchMode):
        """Notes the size of the largest tensor that an operation returns."""

        size = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                self.size = max(self.size, result.numel())
            return result

    for T in (64, 512):
        q, k, v = torch.randn(3, 1, 1, T, 16)
        with Largest() as at_once:
            whole = (q @ k.mT / 4).softmax(-1) @ v
        with Largest() as in_tiles:
            tiled_attention(q, k, v, block_size=32)
        print(f"T = {T}: {at_once.size:,} values at once, {in_tiles.size:,} in tiles")

    blocks = zip(k.split(64, 2), v.split(64, 2), strict=True)
    states = [tiled_attention(q, *block, block_size=64) for block in blocks]
    for _ in range(3):
        order = torch.randperm(8).tolist()
        merged = states[order[0]]
        for place in order[1:]:
            merged = merge_state(*merged, *states[place])
        print(f"blocks in the order {order}: largest difference {(merged[0] - whole).abs().max():.0e}")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Exercise: `tiled_attention_backward`
#
# The gradients need the weights again. They were not kept, and with the lse they need not be: the weight of a pair is
# $p = \exp(\text{score} - \text{lse})$, which a tile can compute alone. Let $g$ be a row of `grad_output`, $o$ the same row of `output`, and $a$ the scores:
#
# $$\mathrm{d}v_s = \sum_t p_{ts} \cdot g_t \qquad \mathrm{d}a_{ts} = p_{ts} \cdot (g_t \cdot v_s - D_t) \qquad D_t = g_t \cdot o_t$$
#
# The gradient of a softmax subtracts a sum over the whole row. This sum is $D_t$: one number per query, known before the first tile. From the
# gradients of the scores follow those of queries and keys, as from any matrix product. Mind the root of `d`. Masks, tiles and dtypes are as in
# the forward. Write it by hand: `torch.autograd.grad` and `backward` cost half of the points.
#
# `tiled_attention_backward(grad_output, queries, keys, values, output, lse, block_size)`: gradients of queries, keys and
# values out, each in the shape of its tensor.
#
# **In plain Python.** One head. A gradient says how fast the sum of grad_output · output grows with each number. You can
# measure that: make the number a little larger, then a little smaller. It takes two whole attentions for each number, but
# needs no formula, and neither `output` nor `lse`.
#
# ```python
# def tiled_attention_backward_plain(grad_output, queries, keys, values, causal=False, window=None):
#     gradients = []
#     for rows in (queries, keys, values):
#         slopes = [[0.0] * len(row) for row in rows]
#         for r, row in enumerate(rows):
#             for i, number in enumerate(row):
#                 for step in (1e-5, -1e-5):
#                     row[i] = number + step
#                     output, _ = tiled_attention_plain(queries, keys, values, causal, window)
#                     total = sum(g * o for one, two in zip(grad_output, output) for g, o in zip(one, two))
#                     slopes[r][i] += total / (2 * step)
#                 row[i] = number
#         gradients.append(slopes)
#     return gradients  # three tables
# ```
#
# **In PyTorch, something similar.** The gradients of a sum of squares of a product, by hand, in tiles of two rows. It is
# 2 · w · (1 + 4 + 9):
#
# ```python
# x, w = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[2.0]])
# dw = torch.zeros_like(w)
# for first in range(0, 3, 2):
#     tile = x[first : first + 2]
#     dw += 2 * tile.T @ (tile @ w)
# dw  # (1, 1): [[56.0]]
# ```


# %% exercise="tiled_attention_backward"
def tiled_attention_backward(
    grad_output: torch.Tensor,
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    output: torch.Tensor,
    lse: torch.Tensor,
    block_size: int,
    causal: bool = False,
    window: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of the sum of grad_output * output with respect to queries, keys and values, in tiles.

    grad_output: (B, H, T, v); output, lse: what tiled_attention returned; the others are as there.
    Returns the gradients of queries (B, H, T, d), of keys (B, H, S, d) and of values (B, H, S, v), each in the dtype of its tensor.
    """
    raise NotImplementedError("tiled_attention_backward is not written yet")


# %% [markdown]
# ## Summary
#
# - A row of attention can be summed block by block: the maximum, the sum, and the weighted sum of values. When the maximum
#   grows, both sums shrink by one factor.
# - The state (output, lse) of two sets of keys can be merged, in any order.
# - A query without keys has output 0 and lse −∞. Take care of it wherever two lse are subtracted.
# - The backward recomputes each tile from the lse; $D$ replaces the sum over a row.
# - Hidden tiles are skipped. Nothing as large as the table of scores is ever held.

# %% [markdown]
# ## Questions to think about
#
# 1. Why is −∞ − (−∞) possible here, and not in an ordinary softmax of lesson 02?
# 2. The backward computes all scores a second time. Operations go up, and still the time goes down. Why?
# 3. Could `l` be computed without `m`? Up to which score, in float32 and in float16?
#
# ## Sources
#
# - Milakov and Gimelshein, [*Online Normalizer Calculation for Softmax*](https://arxiv.org/abs/1805.02867), 2018.
# - Rabe and Staats, [*Self-Attention Does Not Need O(n²) Memory*](https://arxiv.org/abs/2112.05682), 2021.
# - Dao et al., [*FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*](https://arxiv.org/abs/2205.14135), 2022.
