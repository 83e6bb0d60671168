# %% [markdown]
# # 13 · The key-value cache
#
# A language model writes one token at a time, and each new token attends to all earlier ones. In lesson 08 the decoder kept
# the *inputs* of a layer and projected them again in every step. But the keys and values of a step never change once the step
# is past. So keep those. A **key-value cache** stores them: a new token needs one new key and one new value, and
# attends to everything stored.
#
# After this lesson you can
#
# - keep keys and values, and forget the last of them again;
# - write one attention that reads a whole prompt, a piece of it, or a single token;
# - count what a step costs with a cache and without.
#
# | name | shape | meaning |
# |---|---|---|
# | queries, keys, values | `(B, H, T, d)` | of the `T` new steps |
# | the stored keys or values | `(B, H, S, d)` | of all `S` steps so far, the new ones included |
# | input of `CachedSelfAttention` | `(B, T, D)` | `D = H·d` |
# | prompt | `(B, P)` | token indices; all prompts of a batch have the same length |
#
# **One call, any number of steps.** The first call reads the whole prompt: `T` is its length, and nothing is stored
# yet. This is called *prefill*. Later calls bring one token each. In between, a long prompt may come in pieces of several
# tokens. The same code must serve all of these. Two numbers decide everything: how many steps are stored, and how many are new.
#
# Let `n` steps be stored before the call. New step $t$ (counted from 0) is step $n + t$ of the text. It attends to all `n` stored
# steps and to the new steps up to itself. In the whole triangle of a causal mask, this is a strip: the last `T` rows.
#
# ![The causal triangle of seven steps. The first four rows are one square: the prompt. Row five is a single step. Rows
# six and seven are a piece of two steps. All three strips end at the right edge of their own last step.](pictures/strips.svg)
#
# **By hand.** Three steps are stored and two are new. So there are two queries and five keys, and the mask is
#
# | | step 0 | step 1 | step 2 | step 3 | step 4 |
# |---|---|---|---|---|---|
# | query of step 3 | ✓ | ✓ | ✓ | ✓ | |
# | query of step 4 | ✓ | ✓ | ✓ | ✓ | ✓ |
#
# The corner to align is the *lower right* one: the last query sees the last key. If you align the upper left corner, as
# `is_causal=True` does in PyTorch, the query of step 3 sees step 0 only.
#
# **What goes wrong.** Nearly every error is one of the two numbers in the wrong place.
#
# - The mask of a single new step is row 0 of a triangle: it sees only the first key. The output is then `v[0]`.
# - There is no mask inside a piece: step 3 sees step 4. A single step hides this.
# - Positions start at 0 in every call, or the length is read *after* the new steps were stored.
# - Two layers share one cache. `[KVCache(n)] * L` is one cache, `L` times.
# - A cache that is full takes the new step all the same, or stores a part of it and then fails.

# %%
import math

import torch
from torch import nn

from grader.given import apply_rotary

# %% [markdown]
# ## Exercise: `KVCache`
#
# A cache belongs to one layer and to one batch. It counts its steps: the next step has position `length`. How it stores them is up to
# you: a list, one tensor that grows, or room for `max_len` steps from the start. What is appended beyond `max_len`, and a `crop` to a
# length that the cache does not have, is a `ValueError`; the cache is then as before.
#
# `KVCache(max_len)`: `append` gets keys and values, `(B, H, T, d)` each, and returns those of all steps, `(B, H, S, d)`
# each; `crop` gets a number.
#
# **In plain Python.** One head. `calls` says what is done with a new cache, one after the other. The function returns
# what each `append` returns:
#
# ```python
# def kv_cache_plain(calls, max_len):
#     keys, values, returned = [], [], []
#     for name, *given in calls:
#         if name == "append":
#             new_keys, new_values = given  # T rows of d numbers each
#             if len(keys) + len(new_keys) > max_len:
#                 raise ValueError("the cache is full")
#             keys, values = keys + new_keys, values + new_values
#             returned.append((keys, values))
#         if name == "crop":
#             if not 0 <= given[0] <= len(keys):
#                 raise ValueError("no such length")
#             keys, values = keys[: given[0]], values[: given[0]]
#     return returned  # pairs of S keys and S values
# ```
#
# **In PyTorch, something similar.** A week with room for seven days, of which three are written, in two calls:
#
# ```python
# week = torch.zeros(2, 7)  # (2, 7)
# week[:, 0:2] = torch.tensor([[5.0, 6.0], [7.0, 8.0]])
# week[:, 2:3] = torch.tensor([[1.0], [2.0]])
# week[:, :3]  # (2, 3): [[5.0, 6.0, 1.0], [7.0, 8.0, 2.0]]
# ```


# %% exercise="KVCache"
class KVCache:
    """The keys and values of all steps so far, for one layer and one batch."""

    def __init__(self, max_len: int) -> None:
        """max_len: the largest number of steps."""
        raise NotImplementedError("KVCache is not written yet")

    def append(self, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store the keys and values of T new steps, each (B, H, T, d) with T at least 1. `length` grows by T.

        Returns the keys and the values of all steps in order, each (B, H, S, d). Raises ValueError if there would be more
        than max_len steps.
        """
        raise NotImplementedError("KVCache.append is not written yet")

    def crop(self, length: int) -> None:
        """Forget all steps but the first `length`. Raises ValueError if length is below 0 or above `self.length`."""
        raise NotImplementedError("KVCache.crop is not written yet")


# %% [markdown]
# ## Exercise: `cached_attention`
#
# Append the new keys and values, then let each new query attend to all stored steps and to the new steps up to its own. Scores are divided by
# $\sqrt d$. `scaled_dot_product_attention` is allowed: give it a mask.
#
# `cached_attention(queries, keys, values, cache)`: three times `(B, H, T, d)` and a cache in, `(B, H, T, d)` out.
#
# **In plain Python.** One head. T rows are new; `old_keys` and `old_values` are the rows in the cache:
#
# ```python
# def cached_attention_plain(queries, keys, values, old_keys, old_values):
#     all_keys, all_values = old_keys + keys, old_values + values  # these are in the cache afterwards
#     seen = []
#     for t in range(len(queries)):
#         seen.append(len(old_keys) + t + 1)
#     return dot_product_attention_plain(queries, all_keys, all_values, seen)  # as in lesson 03
# ```
#
# **In PyTorch, something similar.** Attention with a mask, in which each query sees every second key:
#
# ```python
# q, k = torch.zeros(1, 1, 2, 3), torch.zeros(1, 1, 4, 3)
# v = torch.tensor([[[[1.0], [2.0], [3.0], [4.0]]]])  # (1, 1, 4, 1)
# seen = torch.arange(4) % 2 == torch.arange(2)[:, None]  # (2, 4): [[1, 0, 1, 0], [0, 1, 0, 1]]
# nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)  # (1, 1, 2, 1): [[[[2.0], [3.0]]]]
# ```


# %% exercise="cached_attention"
def cached_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, cache: KVCache
) -> torch.Tensor:
    """Return the causal attention of the new steps to all steps of the cache and to themselves.

    queries, keys, values: (B, H, T, d), of T new steps; cache: has `append` and `length`; the new steps are appended once.
    Returns (B, H, T, d) in the dtype of the queries.
    """
    raise NotImplementedError("cached_attention is not written yet")


# %% [markdown]
# ## Try it: any cut gives the same
#
# Seven steps can be cut in 64 ways: after each step, or not. The cell computes all of them and prints the largest difference to the
# whole sequence in one call. Expect less than 0.000001. With `is_causal=True` for single steps it would be 2 to 3.

# %%
try:
    torch.manual_seed(1)
    q, k, v = torch.randn(3, 1, 2, 7, 4)  # (B=1, H=2, T=7, d=4) each
    whole = cached_attention(q, k, v, KVCache(7))
    largest = 0.0
    for cuts in range(64):
        ends = [t + 1 for t in range(6) if cuts >> t & 1] + [7]
        cache, parts = KVCache(7), []
        for start, stop in zip([0, *ends], ends, strict=False):
            parts.append(cached_attention(*(x[:, :, start:stop] for x in (q, k, v)), cache))
        largest = max(largest, (torch.cat(parts, dim=2) - whole).abs().max().item())
    print(f"largest difference: {largest:.7f}")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Exercise: `CachedSelfAttention`
#
# Self-attention with four layers, rotary positions (lesson 12) and a cache. New step $t$ of a call has position `cache.length + t`, with the
# length *before* the new steps are appended. Without a cache, a call is a whole text from position 0, and nothing is left behind.
#
# `CachedSelfAttention(d_model, num_heads)(x, cache)`: `(B, T, D)` and a cache or `None` in, `(B, T, D)` out.
#
# **In plain Python.** A cache saves work and changes no number. `before` has the rows of all earlier calls, `x` the new
# ones; `heads` and `W_o` are the layers, as functions:
#
# ```python
# def cached_self_attention_plain(x, before, heads, W_o):
#     text = before + x
#     whole = rotary_attention_plain(text, range(len(text)), heads, W_o)  # as in lesson 12
#     return whole[len(before) :]  # the rows of x
# ```
#
# **In PyTorch, something similar.** Running totals, for which one number per row is kept until the next call:
#
# ```python
# total = torch.tensor([[6], [60]])  # (2, 1), of the days before
# new = torch.tensor([[1, 2], [10, 20]])  # (2, 2)
# days = total + new.cumsum(dim=1)  # (2, 2): [[7, 9], [70, 90]]
# total = days[:, -1:]  # (2, 1): [[9], [90]]
# ```


# %% exercise="CachedSelfAttention"
class CachedSelfAttention(nn.Module):
    """Causal multi-head self-attention with rotary positions, which can continue where a cache ends."""

    def __init__(self, d_model: int, num_heads: int, base: float = 10000.0) -> None:
        """Raise ValueError if num_heads does not divide d_model, or if a head has an odd number of features."""
        super().__init__()
        # The grader loads weights by these names: W_q, W_k, W_v and W_o, linear layers without bias.
        raise NotImplementedError("CachedSelfAttention is not written yet")

    def forward(self, x: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
        """Return one vector per new step.

        x: (B, T, d_model), the new steps; cache: the steps before them, or None for none.
        Returns (B, T, d_model) in the dtype of x.
        """
        raise NotImplementedError("CachedSelfAttention.forward is not written yet")


# %% [markdown]
# ## Try it: what a step costs
#
# The cell counts the operations of the step after `n` steps: with the cache, and without, where the whole text is computed again.

# %%
try:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    layer = CachedSelfAttention(d_model=64, num_heads=4)
    for n in (100, 400):
        text, cache, counts = torch.randn(1, n + 1, 64), KVCache(n + 1), []
        with torch.no_grad(), sdpa_kernel(SDPBackend.MATH):  # the counter does not see inside other backends
            layer(text[:, :n], cache)
            for new, kept in ((text[:, n:], cache), (text, None)):
                with FlopCounterMode(display=False) as counter:
                    layer(new, kept)
                counts.append(counter.get_total_flops())
        print(f"after {n} steps: {counts[0]:,} operations with the cache, {counts[1]:,} without")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Exercise: `generate`
#
# Let a model continue prompts, always with the most likely token. It is called as `model(tokens, caches)` with tokens `(B, n)` and one cache
# per layer, and returns logits `(B, n, V)`. First it reads the prompt, in pieces of `chunk_size` if one is given. Then it
# gets each new token once. The last new token is not needed as an input any more.
#
# `generate(model, prompt, max_new_tokens)`: a model and `(B, P)` in, `(B, P + max_new_tokens)` out.
#
# **In plain Python.** One prompt, without caches. `next_scores` gets all tokens so far, and returns a number for each
# token of the vocabulary:
#
# ```python
# def generate_plain(next_scores, prompt, max_new_tokens):
#     tokens = list(prompt)
#     for _ in range(max_new_tokens):
#         scores = next_scores(tokens)
#         tokens.append(scores.index(max(scores)))
#     return tokens  # P + max_new_tokens of them
# ```
#
# **In PyTorch, something similar.** Pieces of three, and the places of the smallest number in each row:
#
# ```python
# [len(piece) for piece in torch.arange(7).split(3)]  # [3, 3, 1]
# table = torch.tensor([[4, 1, 5], [0, 2, 3]])  # (2, 3)
# table.argmin(-1, keepdim=True)  # (2, 1): [[1], [0]]
# ```


# %% exercise="generate"
def generate(
    model: nn.Module, prompt: torch.Tensor, max_new_tokens: int, chunk_size: int | None = None
) -> torch.Tensor:
    """Continue prompts with the most likely tokens (greedy decoding).

    model: has `num_layers`, and is called as model(tokens, caches), with tokens (B, n) and a list of num_layers caches; it
    returns logits (B, n, V). prompt: (B, P), P at least 1; max_new_tokens: may be 0; chunk_size: how many tokens of the prompt a call
    may get; None: all.
    Returns (B, P + max_new_tokens): the prompt and the new tokens.
    """
    raise NotImplementedError("generate is not written yet")


# %% [markdown]
# ## Summary
#
# - Keys and values of past steps do not change, so they are stored. Queries are used once.
# - New step $t$ of a call is step $n + t$ of the text: that is its position, and its row of the mask.
# - The strip of the mask is aligned at the lower right corner.
# - Each layer has its own cache. A new prompt gets new caches.
# - A step with a cache costs the four projections of one step and one row of scores, not a whole text.

# %% [markdown]
# ## Questions to think about
#
# 1. Why are queries not cached?
# 2. A server has 40 GB for caches. A model has 32 layers and 4096 features, and stores keys and values in two bytes per number. How many
#    tokens fit?
# 3. Why does training need no cache?
#
# ## Sources
#
# - Shazeer, [*Fast Transformer Decoding: One Write-Head is All You Need*](https://arxiv.org/abs/1911.02150), 2019.
# - Pope et al., [*Efficiently Scaling Transformer Inference*](https://arxiv.org/abs/2211.05102), 2022.
