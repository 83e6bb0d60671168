# %% [markdown]
# # 17 · A small language model
#
# You have all the parts: rotary positions (12), a cache (13), grouped heads (14), sampling (16). Two are missing, a new norm and
# a new feed-forward network, and they are short. Then you build a language model as it is built today, train it for two
# minutes on one core, and let it write nursery rhymes.
#
# After this lesson you can
#
# - build a model of blocks that normalise before each part, with a gate in the feed-forward network;
# - start it so that it knows nothing, and read from the loss what it has learned;
# - write text with it, token by token, with a temperature and a cut tail.
#
# | name | shape | meaning |
# |---|---|---|
# | tokens | `(B, T)` | characters as numbers: the vocabulary has `V` = 59 |
# | input and output of a block | `(B, T, D)` | one vector per token, `D = H·d` |
# | logits | `(B, T, V)` | for the token *after* each |
# | a batch of the training | `(B, T + 1)` | each token but the last is an input, each but the first a target |

# %%
import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import nn

from grader.given import (
    ALPHABET,
    KVCache,
    apply_rotary,
    make_text,
    repeat_kv,
    sample_token,
    top_k_top_p_filtering,
    verse_batches,
)

# %% [markdown]
# ## Exercise: `RMSNorm`
#
# Divide each vector by the root of the mean of its squares, and multiply each feature by a learned weight.


# %% exercise="RMSNorm"
class RMSNorm(nn.Module):
    """Root mean square normalisation over the last axis."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        """d_model: the number of features; eps: is added to the mean square, so that nothing is divided by 0."""
        super().__init__()
        # The grader loads weights by this name: weight, (d_model,), ones at first.
        raise NotImplementedError("RMSNorm is not written yet")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalised vectors.

        x: (…, d_model). Returns (…, d_model) in the dtype of x. The mean is computed in float32 or wider.
        """
        raise NotImplementedError("RMSNorm.forward is not written yet")


# %% [markdown]
# ## Exercise: `SwiGLU`
#
# Two layers read the same vector. SiLU of the first is the gate: it says how much of the second comes through.


# %% exercise="SwiGLU"
class SwiGLU(nn.Module):
    """A feed-forward network with a gate."""

    def __init__(self, d_model: int, d_hidden: int) -> None:
        """d_model: features of input and output; d_hidden: features between them."""
        super().__init__()
        # The grader loads weights by these names: W_gate, W_up and W_down, linear layers without bias.
        raise NotImplementedError("SwiGLU is not written yet")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return W_down(SiLU(W_gate x) · W_up x).

        x: (…, d_model). Returns (…, d_model).
        """
        raise NotImplementedError("SwiGLU.forward is not written yet")


# %% [markdown]
# ## Exercise: `LanguageModelBlock`
#
# Two parts, each with a norm before it: attention, then the feed-forward network. The attention is `CachedSelfAttention` of lesson 13 with
# the grouped heads of lesson 14. Its four layers are in `attention`, which is a module: an `nn.ModuleDict`, or a class that you write.


# %% exercise="LanguageModelBlock"
class LanguageModelBlock(nn.Module):
    """Attention, then a feed-forward network. Each gets normalised vectors, and its result is added."""

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
        """Raise ValueError if the sizes do not fit: heads, key heads, or a head with an odd number of features.

        The feed-forward network has 8 · d_model // 3 features inside.
        """
        super().__init__()
        # The grader loads weights by these names: norm1, norm2, ffn, and attention with W_q, W_k, W_v and W_o, linear layers
        # without bias. W_k and W_v have num_kv_heads · d outputs.
        raise NotImplementedError("LanguageModelBlock is not written yet")

    def attend(self, x: torch.Tensor, cache: KVCache | None) -> torch.Tensor:
        """Return the causal attention of the new steps to the steps before and to themselves.

        x: (B, T, d_model), the new steps; cache: the steps before them, or None for none. Returns (B, T, d_model).
        """
        raise NotImplementedError("LanguageModelBlock.attend is not written yet")

    def forward(self, x: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
        """Return x + attention(norm1(x)), and to that add the feed-forward network of its norm2.

        x: (B, T, d_model), the new steps; cache: the keys and values of the steps before, or None for none.
        Returns (B, T, d_model).
        """
        raise NotImplementedError("LanguageModelBlock.forward is not written yet")


# %% [markdown]
# ## Exercise: `LanguageModel`
#
# An embedding, the blocks, a norm. The logits come from the embedding's own matrix: its row of each token is compared with the
# vector of the step.


# %% exercise="LanguageModel"
class LanguageModel(nn.Module):
    """Tokens to logits for the next token, after each token."""

    def __init__(
        self, vocab_size: int, d_model: int, num_heads: int, num_kv_heads: int, num_layers: int, max_len: int
    ) -> None:
        """max_len: the largest number of steps, cached ones included. Raise ValueError if the sizes do not fit."""
        super().__init__()
        # The grader loads weights by these names: embedding (nn.Embedding), blocks (nn.ModuleList), norm.
        # `write_text` reads num_layers.
        raise NotImplementedError("LanguageModel is not written yet")

    def forward(self, tokens: torch.Tensor, caches: Sequence[KVCache] | None = None) -> torch.Tensor:
        """Return the logits of the next token, after each token.

        tokens: (B, T), the new ones; caches: one per block, with the steps before, or None for none.
        Returns (B, T, vocab_size). Raises ValueError if there are more than max_len steps, cached ones included.
        """
        raise NotImplementedError("LanguageModel.forward is not written yet")


# %% [markdown]
# ## Exercise: `train_language_model`
#
# Take `steps` batches, one per update.


# %% exercise="train_language_model"
def train_language_model(
    model: nn.Module, batches: Iterator[torch.Tensor], steps: int
) -> dict[str, torch.Tensor]:
    """Update the weights of `model` `steps` times, with one batch each, and return its state dict.

    model: tokens (B, T) to logits (B, T, V); batches: yields tokens (B, T + 1) without end, and exactly `steps` are taken.
    """
    raise NotImplementedError("train_language_model is not written yet")


# %% [markdown]
# ## Exercise: `write_text`
#
# Feed the prompt at once, then each new token once.


# %% exercise="write_text"
def write_text(
    model: nn.Module,
    prompt: torch.Tensor,
    max_new_tokens: int,
    uniform: Callable[[], float],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> torch.Tensor:
    """Continue prompts with sampled tokens.

    model: has num_layers, and is called as model(tokens, caches); prompt: (B, P), P at least 1; max_new_tokens: may be 0;
    uniform: returns the next draw, a float in [0, 1): one per row and new token, the rows in order; temperature: divides the
    logits before top_k and top_p cut them; 0: the most likely token, without a draw.
    Returns (B, P + max_new_tokens): the prompt and the new tokens.
    """
    raise NotImplementedError("write_text is not written yet")
