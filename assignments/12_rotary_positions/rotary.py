# %% [markdown]
# # 12 · Rotary positions
#
# Lesson 06 *added* a row of sines to each word. So word and position shared the same features, and the model
# had to learn by itself that only distances matter. This lesson adds nothing. It **turns** queries and keys:
# a query at position 7 by seven steps, a key at position 4 by four. In their product only the difference is
# left, three steps. These are **rotary positions** (Su et al. 2021), and most large language models use them.
#
# After this lesson you can
#
# - turn queries and keys, and say why values are not turned;
# - build a causal attention that sees distances and nothing else of the positions;
# - tell the two conventions for a *pair* apart, and convert weights from one to the other.
#
# | name | shape | meaning |
# |---|---|---|
# | `x` | `(B, H, T, d)` | queries or keys; each head has an axis of its own, with `d` features |
# | `positions` | `(T,)` or `(B, T)` | integers from 0, in any order, also with gaps |
# | angles | `(T, d/2)` or `(B, T, d/2)` | one angle for each pair of features |
# | input of `RotaryAttention` | `(B, T, D)` | `D = H·d` |
#
# In this second half of the course heads have their own axis, as in
# `torch.nn.functional.scaled_dot_product_attention`. Masks are `True` where a query may attend.
#
# **Hands of clocks.** Take two neighbouring features of a head, $(a, b)$, as a point in the plane: the tip of
# the hand of a clock. A head with $d$ features has $d/2$ such hands. At position $t$, hand $i$ is turned by
#
# $$\theta_i = t \cdot \text{base}^{-2i/d}$$
#
# The frequencies are those of lesson 06: the first hand is fast, the last one is slow. Turned by an angle
# $\theta$, a point $(a, b)$ becomes
#
# $$(a \cos\theta - b \sin\theta, a \sin\theta + b \cos\theta)$$
#
# This is `shift_matrix` of lesson 06 again, but for the direction of the turn. There it moved a row of the table from
# one position to another. Here it moves the query and the key themselves.
#
# **Why only the distance is left.** The dot product of two vectors does not change if you turn both by the same angle.
# So turn both back by the angle of the key. Then the key stands where it was, and the query is turned by the
# *difference* of the two angles, which belongs to the difference of the two positions.
#
# ![Six clocks in a row, one for each pair of a head with twelve features. A blue hand belongs to a query at position 7, an
# orange hand to a key at position 4. In a second row both are a hundred positions later: all hands have moved, but the
# angle between the two hands of each clock is the same.](pictures/clocks.svg)
#
# **By hand.** Let $d = 2$, so there is one hand, which turns by one radian per step. The query is $(1, 0)$ and the key is
# $(1, 0)$, too.
#
# | query at | key at | turned query | turned key | product |
# |---|---|---|---|---|
# | 0 | 0 | (1, 0) | (1, 0) | 1 |
# | 2 | 1 | (-0.416, 0.909) | (0.540, 0.841) | 0.540 |
# | 102 | 101 | (0.102, 0.995) | (0.892, 0.452) | 0.540 |
#
# The last two rows have the same distance, and so the same product: $\cos 1$.
#
# **Two conventions.** Which two features are a pair? In this course, as in the paper, *neighbours*: features $2i$ and
# $2i + 1$. Much other code pairs feature $i$ with feature $i + d/2$, so that all first members are in the first *half*.
# Both are right, and a model that is trained with one works as well as a model that is trained with the other. But weights
# that were trained with one give nonsense in code that uses the other, and no error says so. Permuting the rows of
# `W_q` and `W_k` converts them.
#
# **What goes wrong.**
#
# - Pairs are read as neighbours and written back as halves. Scores stay right, because query and key are permuted in the
#   same way; but the features are no longer where the next layer, or a stored key, expects them.
# - The exponent has the size of the model, or queries are turned before they are split into heads. Each head has the same
#   $d/2$ hands.
# - `positions` is ignored. Packed texts begin again at 0, and a cache continues at its length, so positions are
#   rarely 0 to T − 1.
# - The mask asks the positions instead of the order of the steps. In packed texts, a later step may have an earlier
#   position.
# - Angles in half precision: bfloat16 has no 257, so positions beyond 256 collide.

# %%
import math

import torch
from torch import nn

# %% [markdown]
# ## Exercise: `rotary_angles`
#
# Return one angle per position and pair. Positions are integers. In half precision, large ones are not exact, so
# compute in `float32` or wider. An odd `d` has no pairs: raise a `ValueError`.
#
# `rotary_angles(positions, d)`: `(…)` in, `(…, d/2)` out.
#
# **In plain Python.** The angles of one position:
#
# ```python
# def rotary_angles_plain(position, d, base=10000.0):  # three numbers
#     angles = []
#     for i in range(d // 2):
#         angles.append(position / base ** (2 * i / d))
#     return angles  # d/2 numbers
# ```
#
# **In PyTorch, something similar.** A new last axis, and a row that is added to each number:
#
# ```python
# tens = torch.tensor([[10, 20], [30, 40]])  # (2, 2)
# tens[..., None] + torch.arange(3)  # (2, 2, 3): [[[10, 11, 12], [20, 21, 22]], [[30, 31, 32], [40, 41, 42]]]
# ```


# %% exercise="rotary_angles"
def rotary_angles(positions: torch.Tensor, d: int, base: float = 10000.0) -> torch.Tensor:
    """Return the angle of every pair of features at every position, in radians (Su et al. 2021, section 3.2).

    positions: integers of any shape; d: the number of features of a head, even; base: sets how slow the last pair is.
    Returns (…, d/2), float32: the angles `position · base^(-2i/d)` for the pairs i = 0, 1, …, d/2 - 1.
    Raises ValueError if d is odd.
    """
    raise NotImplementedError("rotary_angles is not written yet")


# %% [markdown]
# ## Exercise: `apply_rotary`
#
# Turn each pair of neighbours by its angle, and write both features back to the places they came from. The result has the
# dtype of `x`. `positions` of shape `(B, T)` give each sequence its own positions, the same for all heads.
#
# `apply_rotary(x, positions)`: `(B, H, T, d)` and `(T,)` or `(B, T)` in, `(B, H, T, d)` out.
#
# **In plain Python.** One head:
#
# ```python
# import math
#
# def apply_rotary_plain(x, positions, base=10000.0):  # T rows of d numbers; T numbers; a number
#     turned = []
#     for row, position in zip(x, positions):
#         new = []
#         for i, angle in enumerate(rotary_angles_plain(position, len(row), base)):
#             a, b = row[2 * i], row[2 * i + 1]
#             new.append(a * math.cos(angle) - b * math.sin(angle))
#             new.append(a * math.sin(angle) + b * math.cos(angle))
#         turned.append(new)
#     return turned  # T rows of d numbers
# ```
#
# **In PyTorch, something similar.** Pairs of *rows*, and the sum and the difference of each pair in their places:
#
# ```python
# x = torch.tensor([[5, 6], [1, 2], [7, 7], [3, 4]])  # (4, 2)
# upper, lower = x[0::2], x[1::2]
# torch.stack([upper + lower, upper - lower], dim=1).flatten(0, 1)  # (4, 2): [[6, 8], [4, 4], [10, 11], [4, 3]]
# ```


# %% exercise="apply_rotary"
def apply_rotary(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Turn the pairs (0, 1), (2, 3), … of features by the angles of their positions. x itself is not changed.

    x: (B, H, T, d), floating point, with d even; positions: (T,) or (B, T), integers.
    Returns (B, H, T, d) in the dtype of x, also in float16 and bfloat16.
    """
    raise NotImplementedError("apply_rotary is not written yet")


# %% [markdown]
# ## Try it: only the distance counts
#
# The cell below computes the score of one query and one key at all positions from 0 to 9. Along each diagonal
# the distance is the same. How much do the scores of a diagonal differ? With turned vectors almost nothing, about
# 0.000001. With the added sines of lesson 06 it is several whole units.

# %%
try:
    torch.manual_seed(1)
    query, key = torch.randn(2, 16)  # (d=16,) each
    steps = torch.arange(10)
    turned = [apply_rotary(one.expand(1, 1, 10, 16), steps)[0, 0] for one in (query, key)]  # (10, d) each
    angles = rotary_angles(steps, 16)  # (10, d/2)
    table = torch.cat([angles.sin(), angles.cos()], dim=-1)  # (10, d), the sines first
    for name, (q, k) in {"turned": turned, "added": (query + table, key + table)}.items():
        scores = q @ k.T  # (10, 10)
        diagonals = [scores.diagonal(offset) for offset in range(-8, 9)]
        print(name, max((one.max() - one.min()).item() for one in diagonals))
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Exercise: `RotaryAttention`
#
# Self-attention with four layers. Split queries, keys and values into heads, turn queries and keys, and let each step
# attend to itself and to the steps before it. `positions=None` means 0 to T − 1. The mask goes by the order of the steps.
#
# `RotaryAttention(d_model, num_heads)(x, positions)`: `(B, T, D)` and `None`, `(T,)` or `(B, T)` in, `(B, T, D)` out.
#
# **In plain Python.** One sequence; `x` has T rows of D numbers. A layer is a function here. `heads` has three of them
# for each head, which map a row to d numbers. `W_o` maps the numbers of all heads, side by side, to D numbers.
#
# ```python
# def rotary_attention_plain(x, positions, heads, W_o):
#     seen = range(1, len(x) + 1)  # step 0 sees one step, step 1 sees two, …
#     outputs = []
#     for W_q, W_k, W_v in heads:
#         queries = apply_rotary_plain([W_q(row) for row in x], positions)
#         keys = apply_rotary_plain([W_k(row) for row in x], positions)
#         values = [W_v(row) for row in x]
#         outputs.append(dot_product_attention_plain(queries, keys, values, seen))  # as in lesson 03
#     joined = [sum((output[t] for output in outputs), []) for t in range(len(x))]
#     return [W_o(row) for row in joined]  # T rows of D numbers
# ```
#
# **In PyTorch, something similar.** Weights of steps that see all the others, but not themselves:
#
# ```python
# itself = torch.eye(3, dtype=torch.bool)  # (3, 3)
# torch.zeros(3, 3).masked_fill(itself, -torch.inf).softmax(-1)  # (3, 3), 0 on the diagonal and 0.5 beside it
# ```


# %% exercise="RotaryAttention"
class RotaryAttention(nn.Module):
    """Causal multi-head self-attention that sees positions only by turning queries and keys (Su et al. 2021)."""

    def __init__(self, d_model: int, num_heads: int, base: float = 10000.0) -> None:
        """Raise ValueError if num_heads does not divide d_model, or if a head has an odd number of features."""
        super().__init__()
        # The grader loads weights by these names: W_q, W_k, W_v and W_o, linear layers without bias.
        raise NotImplementedError("RotaryAttention is not written yet")

    def forward(self, x: torch.Tensor, positions: torch.Tensor | None = None) -> torch.Tensor:
        """Return one vector per step. A step attends to itself and to earlier steps, in the order of the axis T.

        x: (B, T, d_model); positions: None for 0 to T - 1, or integers (T,) or (B, T).
        Returns (B, T, d_model) in the dtype of x.
        """
        raise NotImplementedError("RotaryAttention.forward is not written yet")


# %% [markdown]
# ## Exercise: `interleaved_to_half`
#
# A published model pairs feature $i$ with feature $i + d/2$. You want to run *your* weights, which are for neighbours, in
# its code. Permute the rows of `W_q` (and, with the same function, of `W_k`), so that its code computes your
# scores. Each head is permuted by itself.
#
# `interleaved_to_half(weight, num_heads)`: `(H·d, n)` in, `(H·d, n)` out.
#
# **In plain Python.** The weight is a list of rows:
#
# ```python
# def interleaved_to_half_plain(weight, num_heads):  # H·d rows; H
#     d = len(weight) // num_heads
#     rows = []
#     for start in range(0, len(weight), d):  # a head
#         for member in (0, 1):  # all first members of its pairs, then all second ones
#             for i in range(d // 2):
#                 rows.append(weight[start + 2 * i + member])
#     return rows  # H·d rows
# ```
#
# **In PyTorch, something similar.** Rows in groups of three, and each group in another order:
#
# ```python
# rows = torch.tensor([[1], [2], [3], [4], [5], [6]])  # (6, 1)
# rows.unflatten(0, (2, 3)).flip(1).flatten(0, 1)  # (6, 1): [[3], [2], [1], [6], [5], [4]]
# ```


# %% exercise="interleaved_to_half"
def interleaved_to_half(weight: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Return a new weight whose rows 0, …, d/2 - 1 of each head are the first members of the pairs, then the second ones.

    weight: (H·d, n), the weight of a linear layer for queries or keys, with neighbours as pairs; num_heads: H.
    Returns (H·d, n): the same rows in another order.
    """
    raise NotImplementedError("interleaved_to_half is not written yet")


# %% [markdown]
# ## Try it: the other convention
#
# `turned_halves` turns feature $i$ with feature $i + d/2$, as much published code does. With your weights its scores differ from
# yours; after the permutation they are the same, up to about 0.000001.

# %%
try:

    def turned_halves(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        angles = rotary_angles(positions, x.shape[-1])  # (T, d/2)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1)

    torch.manual_seed(2)
    X, W_q, W_k = (
        torch.randn(9, 24),
        torch.randn(24, 24) / 5,
        torch.randn(24, 24) / 5,
    )  # (T=9, D=24), two heads

    def all_scores(weights: list, turn) -> torch.Tensor:
        q, k = (turn((X @ W.T).reshape(9, 2, 12).transpose(0, 1)[None], torch.arange(9)) for W in weights)
        return q @ k.mT  # (1, H, T, T)

    neighbours = all_scores([W_q, W_k], apply_rotary)
    for name, weights in {
        "as they are": [W_q, W_k],
        "permuted": [interleaved_to_half(W, num_heads=2) for W in (W_q, W_k)],
    }.items():
        print(name, (all_scores(weights, turned_halves) - neighbours).abs().max().item())
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Repair: `MixedRotary`
#
# This module keeps the cosines and sines of all positions in two tables. Its author took the table from one project and
# the rotation from another. It runs, and the first position is even right. Repair it: as in the whole lesson, pairs are
# neighbours.
#
# `MixedRotary(d)(x, positions)`: `(B, H, T, d)` and `(T,)` in, `(B, H, T, d)` out.
#
# **In plain Python.** The tables only save work. What comes out is the same as before, here for one head:
#
# ```python
# def mixed_rotary_plain(x, positions, base=10000.0):
#     return apply_rotary_plain(x, positions, base)
# ```
#
# **In PyTorch, something similar.** Rows of a table, looked up by their numbers:
#
# ```python
# table = torch.tensor([[10, 11], [20, 21], [30, 31]])  # (3, 2)
# table[torch.tensor([2, 0, 2])]  # (3, 2): [[30, 31], [10, 11], [30, 31]]
# ```


# %% exercise="MixedRotary"
class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = torch.cat([angles, angles], dim=-1)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin).to(x.dtype)


# Your version goes here.

# %% [markdown]
# ## Summary
#
# - Each pair of features of a query or a key is turned by an angle that grows with the position.
# - A product of two turned vectors depends on the difference of their positions only.
# - Nothing is added and nothing is learned, and no table has an end.
# - Values are not turned. The mask goes by the order of the steps.
# - A pair is two neighbours, or two features half a head apart. Weights fit one of the two.

# %% [markdown]
# ## Questions to think about
#
# 1. Why are values not turned? What would the weighted sum of turned values mean?
# 2. All positions of a text are larger by 100. What changes in the output of `RotaryAttention`? When would such an error
#    show?
# 3. What does `base` do? With a head of 64 features and base 10000, how many steps does the last hand need for one turn?
#
# ## Sources
#
# - Su et al., [*RoFormer: Enhanced Transformer with Rotary Position Embedding*](https://arxiv.org/abs/2104.09864), 2021.
