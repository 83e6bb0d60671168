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
#
# These blocks of earlier lessons come from `grader.given`:
#
# | block | gets | returns |
# |---|---|---|
# | `KVCache(max_len)` | `append(k, v)`, each `(B, H_kv, T, d)` | all keys and all values so far; `length` counts the steps |
# | `apply_rotary(x, positions)` | `(B, H, T, d)` and `(T,)` | x, rotated at its positions |
# | `repeat_kv(x, n_rep)` | `(B, H_kv, S, d)` | `(B, H_kv · n_rep, S, d)` |
# | `top_k_top_p_filtering(logits, top_k, top_p)` | `(B, V)` | the logits, with minus infinity for what is cut |
# | `sample_token(probs, u)` | `(B, V)` and draws `(B,)` | tokens `(B,)` |
#
# **A path without layers.** In the blocks of lesson 07 the norm came after the sum. Here each part reads a normalised *copy* of x, and its
# result is added to x itself. So x goes from the embedding to the logits and no layer is on its way. Such models can be trained with
# many blocks and without much care. The price: x grows from block to block, so one more norm follows the last block.
#
# ![x goes straight from top to bottom. Twice, a copy leaves it, goes through a norm and then through the attention or the feed-forward
# network, and is added to x.](pictures/block.svg)
#
# **What is new inside.** *RMSNorm* divides a vector by the root of its mean square, and leaves the mean alone. *SwiGLU* is a feed-forward network
# with a gate: one layer says how much of another comes through. *Tied* weights: a token is written by the same row of the embedding by which
# it is read.
#
# **By hand.** RMSNorm of (3, 4): the squares are 9 and 16, their mean is 12.5, its root is 3.54. The result is (0.85, 1.13). Its mean square is 1. For
# the gate, SiLU(x) = x · sigmoid(x): SiLU(3) = 2.86, SiLU(0) = 0, SiLU(−3) = −0.14.
#
# **The text.** A small grammar writes nursery rhymes, as many as you like:
#
#     Ophelia was a grumpy stoat
#     who argued with a clever goat.
#     Ophelia painted the coat.
#     'Oh Ophelia,' they said, 'what a velvet stoat!'
#
# The name comes back in line 3 and mostly in line 4, the animal returns at the end, and three lines rhyme. To know this, your model must look
# back over whole lines. The grammar also adds up how much it chooses: a choice among n alternatives is log n. So for once you know the smallest loss
# that any model can have.
#
# **What goes wrong.**
#
# - The mean is subtracted in the norm, or `eps` is added after the root.
# - Gate and up change places: the shapes fit, the values do not.
# - The result is added to the norm of x instead of x.
# - `[block] * L` is one block, `L` times; one cache serves all blocks; positions begin at 0 in every call.
# - The embedding starts as PyTorch makes it. As a matrix for logits it is far too large, and a new model has a loss of 90.
# - Targets are not shifted. The loss falls to nothing, and the model repeats what it reads.

# %%
import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
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
# Divide each vector by the root of the mean of its squares, and multiply each feature by a learned weight. `eps` is added to
# the mean, under the root. Squares of half precision overflow soon, so compute them in float32 or wider.
#
# `RMSNorm(d_model)(x)`: `(…, D)` in, `(…, D)` out.
#
# **In plain Python.** One row of D numbers:
#
# ```python
# import math
#
# def rms_norm_plain(row, weight, eps=1e-5):
#     mean_square = sum(a * a for a in row) / len(row)
#     root = math.sqrt(mean_square + eps)
#     return [w * a / root for w, a in zip(weight, row)]
# ```
#
# **In PyTorch, something similar.** Each column is divided by its largest number:
#
# ```python
# x = torch.tensor([[1.0, 8.0], [2.0, 4.0]])  # (2, 2)
# x / x.amax(0, keepdim=True)  # (2, 2): [[0.5, 1.0], [1.0, 0.5]]
# ```


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
# Two layers read the same vector. SiLU of the first is the gate: it says how much of the second comes through. A third layer leads back.
# With three matrices instead of two, blocks have 8/3 · D features inside instead of 4 · D: as many parameters as before.
#
# `SwiGLU(d_model, d_hidden)(x)`: `(…, D)` in, `(…, D)` out.
#
# **In plain Python.** One row. The three layers are functions here, from a row to a row:
#
# ```python
# import math
#
# def swi_glu_plain(row, W_gate, W_up, W_down):
#     through = []
#     for a, b in zip(W_gate(row), W_up(row)):
#         sigmoid = 1 / (1 + math.exp(-a))
#         through.append(a * sigmoid * b)
#     return W_down(through)
# ```
#
# **In PyTorch, something similar.** Gates that are open or closed, without layers: a gate that is not positive lets
# nothing through.
#
# ```python
# gate, x = torch.tensor([3.0, -1.0, 2.0]), torch.tensor([5.0, 6.0, 7.0])
# (gate > 0) * x  # (3,): [5.0, 0.0, 7.0]
# ```


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
#
# `LanguageModelBlock(d_model, num_heads, num_kv_heads)(x, cache)`: `(B, T, D)` and a cache or `None` in, `(B, T, D)` out.
#
# **In plain Python.** One text, without a cache; `x` has T rows. All parts are functions, from a row to a row: `W_q` is a
# list with one for each query head, `W_k` and `W_v` have one for each key head. With a cache, a text in pieces gives the
# same rows.
#
# ```python
# def language_model_block_plain(x, norm1, W_q, W_k, W_v, W_o, norm2, ffn):
#     n_rep = len(W_q) // len(W_k)
#     heads = [(W_q[h], W_k[h // n_rep], W_v[h // n_rep]) for h in range(len(W_q))]
#     normed = [norm1(row) for row in x]
#     attended = rotary_attention_plain(normed, range(len(x)), heads, W_o)  # as in lesson 12
#     x = [[a + b for a, b in zip(row, new)] for row, new in zip(x, attended)]
#     return [[a + b for a, b in zip(row, ffn(norm2(row)))] for row in x]
# ```
#
# **In PyTorch, something similar.** One part, with another norm and a layer in place of the attention:
#
# ```python
# norm, layer = nn.LayerNorm(4), nn.Linear(4, 4)
# x = torch.randn(2, 3, 4)  # (2, 3, 4)
# x = x + layer(norm(x))  # (2, 3, 4)
# ```


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
# An embedding, the blocks, a norm. The logits come from the embedding's own matrix: the row of each token is compared with the vector of the
# step. No bias, no factor.
#
# A new model should know nothing: all tokens equally likely, a loss of log V. So the embedding must start small.
#
# `LanguageModel(…)(tokens, caches)`: `(B, T)` and a list of caches or `None` in, `(B, T, V)` out.
#
# **In plain Python.** One text. `embedding` is a table with one row for each token, `blocks` are functions from T rows to
# T rows, `norm` is one from a row to a row:
#
# ```python
# def language_model_plain(tokens, embedding, blocks, norm):
#     x = [embedding[token] for token in tokens]
#     for block in blocks:
#         x = block(x)
#     logits = []
#     for row in x:
#         last = norm(row)
#         logits.append([sum(a * b for a, b in zip(last, entry)) for entry in embedding])
#     return logits
# ```
#
# **In PyTorch, something similar.** There and back with one matrix: a layer makes three numbers of two, and its weight
# makes two of three.
#
# ```python
# layer = nn.Linear(2, 3, bias=False)
# code = layer(torch.ones(1, 2))  # (1, 3)
# code @ layer.weight  # (1, 2)
# ```


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
# ## Try it: the loss of a new model
#
# The cell starts a new model with embeddings of three sizes, and prints its loss on random tokens. Guessing among 59 tokens costs log 59 = 4.08. With
# a deviation of 0.02 you are there; with one over the root of D it is about 5; with PyTorch's default of 1 it is about 90.

# %%
SIZES = {"vocab_size": 59, "d_model": 96, "num_heads": 6, "num_kv_heads": 2, "num_layers": 2, "max_len": 512}

try:
    torch.manual_seed(1)
    rows = torch.randint(59, (8, 65))
    for deviation in (0.02, 96**-0.5, 1.0):
        model = LanguageModel(**SIZES)
        nn.init.normal_(model.embedding.weight, std=deviation)
        guesses = model(rows)[:, :-1].detach()
        print(f"deviation {deviation:.2f}: {nn.functional.cross_entropy(guesses.mT, rows[:, 1:]):.2f}")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Try it: what can be reached
#
# The information in the text is the smallest loss that any model can have. How far does one come by counting? The cell counts which
# character follows each group of n − 1, and measures on other text.

# %%
text, information = make_text(1)
other = "\n" + make_text(2, 20_000)[0]
print(f"information: {information:.3f} nats per character")
for n in (1, 2, 3, 4, 5):
    groups = Counter(text[i : i + n - 1] for i in range(len(text) - n + 1))
    followed = Counter(text[i : i + n] for i in range(len(text) - n + 1))
    loss = 0.0
    for i in range(n - 1, len(other)):
        seen, before = followed[other[i - n + 1 : i + 1]], groups[other[i - n + 1 : i]]
        loss -= math.log((seen + 0.01) / (before + 0.59))  # as if each character had followed 0.01 times more
    print(f"counting groups of {n}: {loss / (len(other) - n + 1):.2f}")

# %% [markdown]
# ## Exercise: `train_language_model`
#
# `batches` is an iterator without end; each batch has tokens `(B, T + 1)`. The inputs are all tokens but the last, the targets all but the first:
# at every step the model should say the next token. Take exactly `steps` batches, with one update for each. Optimizer, learning rate and schedule are
# up to you: Adam with a constant rate of 0.001 to 0.005 learns to spell within 150 steps. For the best result in 1000 steps let the rate grow over the
# first tenth to about 0.005, then fall along a cosine to nearly nothing, and cut the norm of the gradients at 1. A schedule spends most of its
# steps below its peak, so with one a peak of 0.001 is too slow.
#
# The grader watches 24 tiny steps, then trains *your* model for 150 steps on rows of 64 characters, which takes a few seconds. Its loss on new text
# must be at most 1.0; counting three characters does not get there. Last, it measures the model that you trained yourself: "Train it,
# let it write" below makes its weights.
#
# `train_language_model(model, batches, steps)`: a model and batches `(B, T + 1)` in, a state dict out.
#
# **In plain Python.** The loss of one row of T + 1 tokens. `next_scores` gets the tokens so far, and returns V numbers.
# The loss of a batch is the mean over its rows, and each update is a step that should make it smaller.
#
# ```python
# import math
#
# def train_language_model_plain(next_scores, row):
#     losses = []
#     for t in range(len(row) - 1):
#         scores = next_scores(row[: t + 1])
#         total = sum(math.exp(score) for score in scores)
#         losses.append(math.log(total) - scores[row[t + 1]])  # minus the log of the probability of the next token
#     return sum(losses) / len(losses)  # a number
# ```
#
# **In PyTorch, something similar.** One update of a line through the origin, with another loss:
#
# ```python
# line = nn.Linear(1, 1, bias=False)
# optimizer = torch.optim.SGD(line.parameters(), lr=0.1)
# away = line(torch.ones(4, 1)) - 3  # (4, 1)
# away.square().mean().backward()
# optimizer.step()
# optimizer.zero_grad()
# ```


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
# As `generate` in lesson 13, but with the sampling of lesson 16. The prompt comes in one call, then each new token once; the last new token is not needed as an
# input. For each new token: divide the logits by the temperature, cut with `top_k_top_p_filtering`, take the softmax, and draw with `sample_token`.
# Each row gets a draw of its own, the rows in order. Temperature 0 means the most likely token, without a draw.
#
# `write_text(model, prompt, max_new_tokens, uniform)`: a model and `(B, P)` in, `(B, P + max_new_tokens)` out.
#
# **In plain Python.** One prompt, without caches. `next_scores` gets all tokens so far, and returns V numbers:
#
# ```python
# def write_text_plain(next_scores, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
#     tokens = list(prompt)
#     for _ in range(max_new_tokens):
#         scores = next_scores(tokens)
#         if temperature == 0:
#             tokens.append(scores.index(max(scores)))
#         else:
#             scores = [score / temperature for score in scores]
#             scores = top_k_top_p_filtering_plain(scores, top_k, top_p)  # as in lesson 16
#             probs = masked_softmax_plain(scores, len(scores))  # as in lesson 02
#             tokens.append(sample_token_plain(probs, uniform()))  # as in lesson 16
#     return tokens
# ```
#
# **In PyTorch, something similar.** A function that is called once for each row, and text that grows by a column:
#
# ```python
# numbers = iter([0.5, 0.25])
# draws = torch.tensor([next(numbers) for _ in range(2)])  # (2,): [0.5, 0.25]
# torch.cat([torch.zeros(2, 3), draws[:, None]], dim=1)  # (2, 4): [[0.0, 0.0, 0.0, 0.5], [0.0, 0.0, 0.0, 0.25]]
# ```


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


# %% [markdown]
# ## Train it, let it write
#
# Set `STEPS` to 1000: two minutes on one core. The loss of every 50th batch is printed, at the end the loss on new text, and three
# verses. The weights go into the file `language_model.safetensors`. Keep it beside this one, and hand in both.
#
# The grader loads your weights into the course's own model and measures the loss on new text: at most 0.26 for all points of
# `train_language_model`, at most 0.35 for half of them. It also exchanges the name in line 3 for another one. That must cost
# your model something, because it has read line 1.
#
# ![The loss of 1000 steps on a logarithmic axis. It falls from 4.1, the loss of guessing, to 0.5 within 120 steps, then in two slower phases to
# 0.19, which is the floor. Counting reaches 2.1 with two characters, 1.0 with three, 0.44 with five.](pictures/loss.svg)
#
# Look at three phases. Within 150 steps the model learns to spell. Until about step 400 it learns to carry the name from line 1 to line 3. Rhymes and
# the returning animal come between 500 and 700, or later: they need two blocks that work together. Below 0.42 nobody comes by counting. What lies
# between there and the floor is attention across lines.

# %%
STEPS = 0  # 1000 takes two minutes


def noted(batches: Iterator[torch.Tensor], model: nn.Module) -> Iterator[torch.Tensor]:
    """Yield the batches, and print the loss of every 50th before the model learns from it."""
    for step, rows in enumerate(batches):
        if step % 50 == 0:
            print(f"step {step}: {loss_on(model, rows):.3f}")
        yield rows


@torch.no_grad()
def loss_on(model: nn.Module, rows: torch.Tensor) -> float:
    """Return the mean loss per character."""
    return nn.functional.cross_entropy(model(rows)[:, :-1].mT, rows[:, 1:]).item()


if __name__ == "__main__" and STEPS:  # here and in a notebook, not while the file is checked
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the tensors are small: more threads would hardly help
    try:
        model = LanguageModel(**SIZES)
        train_language_model(model, noted(verse_batches(1), model), STEPS)
        file = Path(globals().get("__file__", "notebook")).with_name(
            "language_model.safetensors"
        )  # beside this file
        save_file(model.state_dict(), file)
        print(f"the weights are in {file}")
        print(f"new text: {loss_on(model, next(verse_batches(2, rows=200))):.3f}")
        begin = torch.full((3, 1), ALPHABET.index("\n"))
        for row in write_text(model, begin, 159, random.Random(1).random, top_p=0.9).tolist():
            print("".join(ALPHABET[token] for token in row).split("\n\n")[0])
    except NotImplementedError as unwritten:
        print(unwritten)

# %% [markdown]
# Verses of a model after 1000 steps, with `top_p=0.9`:
#
#     Theodora was a velvet quail
#     who shouted at a tiny whale.
#     Theodora argued with the snail.
#     So Theodora went home and forgot the quail.
#
#     Leopold was a rusty bat
#     who argued with a sleepy cat.
#     Leopold fell in love with the bat.
#     And nobody saw Leopold the bat again.
#
# Nobody told it a rule of the grammar, or what a rhyme is.

# %% [markdown]
# ## Summary
#
# - Each part of a block reads a normalised copy of x, and its result is added to x. One more norm follows the last block.
# - RMSNorm divides by the root mean square; a gate is a product; the embedding also makes the logits, so it must start small.
# - Inputs and targets are the same row, one place apart. A loss near zero is a sign that they are not.
# - A known text has a known floor, and the loss says what a model has learned: spelling, names, rhymes.
# - Temperature, cut, softmax, draw: one draw per row and token.

# %% [markdown]
# ## Questions to think about
#
# 1. The information in whole verses is 0.160 nats per character, but on rows of 160 characters no model comes below 0.188. Why?
# 2. A model that was trained on rows of 128 characters is asked for 256, and its loss rises from 0.45 to 1.26. What has it never seen?
# 3. Exchange the name in line 3 for another one. What happens to the loss of a model that looks back, and of one that counts five characters?
#
# ## Sources
#
# - Zhang & Sennrich, [*Root Mean Square Layer Normalization*](https://arxiv.org/abs/1910.07467), 2019.
# - Shazeer, [*GLU Variants Improve Transformer*](https://arxiv.org/abs/2002.05202), 2020.
# - Press & Wolf, [*Using the Output Embedding to Improve Language Models*](https://arxiv.org/abs/1608.05859), 2017.
# - Touvron et al., [*LLaMA: Open and Efficient Foundation Language Models*](https://arxiv.org/abs/2302.13971), 2023.
