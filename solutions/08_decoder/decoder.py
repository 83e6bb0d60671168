# %% [markdown]
# # 08 · The decoder
#
# The encoder reads, the decoder writes. It writes one token at a time, and before each one it asks two
# things: *what have I written so far?* and *what does the source say?* So its layer has three parts, where
# the encoder's has two (Vaswani et al. 2017, section 3.1):
#
# $$Y = \mathrm{AddNorm}_1\bigl(X, \mathrm{Attention}_1(X, C, C)\bigr)$$
#
# $$Z = \mathrm{AddNorm}_2\bigl(Y, \mathrm{Attention}_2(Y, E, E)\bigr)$$
#
# $$\mathrm{Block}(X) = \mathrm{AddNorm}_3\bigl(Z, \mathrm{FFN}(Z)\bigr)$$
#
# Each attention is given queries, keys and values, in that order. $X$ holds the steps of this call. $C$ holds
# the target steps that may be looked at, and is the subject of this lesson. $E$ holds the outputs of the
# encoder, some of which belong to padding. Attention within the target is called *self-attention*, attention
# from the target to the source *cross-attention*.
#
# ![The decoder block from top to bottom, three parts, each with dropout, a residual around it and a
# normalisation. 1, self-attention: queries from X, keys and values from C, which is X itself in training and
# the cache and X otherwise; masked by the target's lengths. 2, cross-attention: queries from Y, keys and
# values from E; masked by the source's lengths. 3, the position-wise network on Z.](pictures/block.svg)
#
# | name | shape | meaning |
# |---|---|---|
# | `X` | `(B, T, D)` | target steps: all of them in training, the next one (`T = 1`) in prediction |
# | `state[0]`, `enc_outputs` | `(B, S, D)` | what the encoder made of the source |
# | `state[1]`, `enc_valid_lens` | `None` or `(B,)` | how much of each source is real |
# | `state[2]`, the cache | `L` places, `None` at first | what each of the `L` layers keeps of earlier steps |
# | lengths for $C$ | `(B, T)` | how many of the target steps each query may see |
#
# **One block, two ways to run it.** In *training* the whole target sentence is known, so all steps go through
# at once, and each is given its true word, whatever the model would have written there itself (this is called
# *teacher forcing*). Step 0 holds a token that means *begin*. Step `t` learns to predict the word of step
# `t + 1`, so it must not see that one: query `t` sees the steps `0 … t`, itself included. That is the *causal*
# mask of assignment 02, with one length per query.
#
# | query | sees step 0 | sees step 1 | sees step 2 | its length |
# |---|---|---|---|---|
# | 0 | yes | no | no | 1 |
# | 1 | yes | yes | no | 2 |
# | 2 | yes | yes | yes | 3 |
#
# In *prediction* a word must be chosen before the next step can begin, so each call brings one new step. Its
# keys and values are all steps so far, and the earlier ones are no longer in `X`: the block must have kept
# them. That is the **cache**. Layer `i` keeps what came into it, in `state[2][i]`, and appends each new step
# to it. Nothing has to be hidden from the newest step: what follows it does not exist yet.
#
# ![Left, training: one call with four queries over the steps 0 to 3; query 0 sees step 0 only, query 3 sees
# all, and what lies ahead is hatched. Right, prediction: four calls with one new step each; call 0 has no
# cache, call 3 finds the steps 0 to 2 in the cache and brings step 3. The rows see the same steps on both
# sides.](pictures/cache.svg)
#
# Which of the two is meant, a module knows by `self.training`; `model.train()` and `model.eval()` set it.
#
# **Why a cache may be trusted.** With a causal mask, step `t` never depends on a later step. So what a layer
# computed for it when it was the newest is what it would compute for it today. Hence the law of every
# decoder: **step by step and all at once give the same numbers** (dropout aside). It is also the best test
# that a decoder can have.
#
# **By hand.** One head, one feature, and all scores equal, so that attention is the mean of the values that
# a query sees; leave out everything else. Let the inputs of the layer be 2, 4 and 9.
#
# | what is done | step 0 | step 1 | step 2 |
# |---|---|---|---|
# | training, causal | 2 | (2+4)/2 = 3 | (2+4+9)/3 = 5 |
# | prediction, with the cache | 2 | 3 | 5 |
# | training without the mask | 5 | 5 | 5 |
# | prediction, cache never read | 2 | 4 | 9 |
# | prediction, with the lengths `1 … T` of the call | 2 | 2 | 2 |
#
# In the third row step 0 has already read the 4 that it should learn to predict, and step 1 the 9: the
# training loss becomes wonderful, and the predictions useless. In the last row the call holds one query, its
# length is 1, and so it sees the oldest step only, for ever.
#
# **What goes wrong.** Every layer needs *its own* place in the cache; with one for all, a layer finds the
# inputs of another. What is kept is what comes *into* the block, not what leaves it. The two attentions have
# lengths of their own: those of the target are causal, those of the source count real words, and swapping
# them raises no error. And a `LayerNorm` over steps and features together (`norm_shape = [T, D]`)
# lets the future in through the mean; `norm_shape` is `[D]`, or simply `D`, here.
#
# These blocks of earlier assignments are ready to use. After a call, `MultiHeadAttention` keeps its weights
# in `.attention.attention_weights`, of shape `(B·H, T, S)`.

# %%
import math

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionalEncoding, PositionWiseFFN

# %% [markdown]
# ## Exercise: `DecoderBlock`
#
# The three parts above, and the cache. The number `i` says which place of `state[2]` is this layer's. Return
# the output and the state. In eval mode a block is always given a single step here; but see question 3.

# %% exercise="DecoderBlock"
class DecoderBlock(nn.Module):
    """One layer of the decoder, the `i`-th (Vaswani et al. 2017, section 3.1)."""

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        i: int,
    ):
        super().__init__()
        # Weights are loaded by name: attention1, addnorm1, attention2, addnorm2, ffn, addnorm3.
        # The attentions have no biases.
        ### BEGIN SOLUTION
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout
        )
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout
        )
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        ### END SOLUTION

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        """Training: all target steps at once. Prediction (eval): the next step, the earlier ones cached.

        X: (B, T, D); state: [enc_outputs (B, S, D), enc_valid_lens (B,) or None, cache of L places].
        Returns (B, T, D), same dtype, and the state, in which `state[2][i]` may have been replaced.
        """
        ### BEGIN SOLUTION
        enc_outputs, enc_valid_lens, cache = state
        batch_size, num_steps, _ = X.shape
        key_values = X  # (B, T, D)
        if not self.training:
            if cache[self.i] is not None:
                key_values = torch.cat((cache[self.i], X), dim=1)  # (B, earlier + T, D)
            cache[self.i] = key_values

        # Query t of this call sees every earlier step, and of this call the steps 0 … t.
        earlier = key_values.shape[1] - num_steps
        visible = torch.arange(earlier + 1, earlier + num_steps + 1, device=X.device)  # (T,)
        dec_valid_lens = visible.repeat(batch_size, 1)  # (B, T)

        Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))  # (B, T, D)
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))  # (B, T, D)
        return self.addnorm3(Z, self.ffn(Z)), state
        ### END SOLUTION


# %% [markdown]
# ## Try it
#
# The law of every decoder, put to your block: five steps at once in training mode, then one at a time in
# eval mode. The difference should be about 0.0000001, the rounding of `float32`.

# %%
def new_state() -> list:
    source = torch.linspace(-1, 1, 48).reshape(2, 3, 8).sin()  # (B=2, S=3, D=8)
    return [source, torch.tensor([2, 3]), [None]]


try:
    block = DecoderBlock(8, 8, 8, 8, [8], 8, 16, 2, dropout=0.0, i=0)
    X = torch.randn(2, 5, 8)  # (B, T, D)
    together, _ = block.train()(X, new_state())
    state, steps = new_state(), []
    for t in range(5):
        step, state = block.eval()(X[:, t : t + 1], state)
        steps.append(step)  # (B, 1, D)
    print(f"largest difference: {(together - torch.cat(steps, dim=1)).abs().max().item():.7f}")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## The stack
#
# `TransformerDecoder` is to `DecoderBlock` what the encoder is to its block. Tokens are embedded, the
# embedding is multiplied by $\sqrt{D}$, positions are added, and the blocks follow one another, the state
# passing through them all. A last linear layer, `dense`, turns each vector into `V` numbers, one for every
# word of the vocabulary. They are scores of any size (*logits*), not probabilities: the loss of training
# applies its own softmax, and a second one would flatten the first.
#
# `init_state` makes the state of a fresh sentence: the encoder's outputs, their lengths, and a new list of
# `L` empty places. It must be *new*: a list kept from the last sentence would hand its words to this one.
#
# **Which position is this?** In training, step `t` stands at row `t` of `X`, and `PositionalEncoding` gives
# it position `t`. In prediction `X` has one row, so the same call gives *every* word position 0. The decoder
# of *Dive into Deep Learning* lives with that: it was trained with positions 0, 1, 2, … and predicts with 0,
# 0, 0, …, which runs, and translates short sentences well enough to go unnoticed. Better is to count on: the
# position of a new step is the number of steps already in the cache. With the book's way the stack, unlike
# its blocks, breaks the law above. Both ways are accepted here; we suggest the one that keeps the law.
#
# ## Exercise: `TransformerDecoder`

# %% exercise="TransformerDecoder"
class TransformerDecoder(nn.Module):
    """Tokens of the target → a score for every next word.

    After a call, `attention_weights` holds two lists with one tensor per layer: the weights of the
    self-attentions (B·H, T, steps so far), then those of the cross-attentions (B·H, T, S).
    """

    def __init__(
        self,
        vocab_size: int,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_layers: int,
        dropout: float,
    ):
        super().__init__()
        # Weights are loaded by name: embedding, pos_encoding, blks.block0, blks.block1, …, dense.
        # The blocks get those names from self.blks = nn.Sequential() and its add_module(name, block).
        ### BEGIN SOLUTION
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            block = DecoderBlock(
                key_size,
                query_size,
                value_size,
                num_hiddens,
                norm_shape,
                ffn_num_input,
                ffn_num_hiddens,
                num_heads,
                dropout,
                i,
            )
            self.blks.add_module(f"block{i}", block)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = [[], []]
        ### END SOLUTION

    def init_state(self, enc_outputs: torch.Tensor, enc_valid_lens: torch.Tensor | None, *args) -> list:
        """The state of a fresh sentence.

        enc_outputs: (B, S, D); enc_valid_lens: None or (B,). Returns [enc_outputs, enc_valid_lens, cache].
        """
        ### BEGIN SOLUTION
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]
        ### END SOLUTION

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        """Score the next word after each step.

        X: (B, T) tokens; state: as made by `init_state` or returned by the last call.
        Returns (B, T, V) in the dtype of the weights, without a softmax, and the state.
        """
        ### BEGIN SOLUTION
        X = self.embedding(X) * math.sqrt(self.num_hiddens)  # (B, T, D)
        # Positions count on from the steps of earlier calls: empty rows in front stand in for those.
        cached = state[2][0]
        earlier = 0 if self.training or cached is None else cached.shape[1]
        X = nn.functional.pad(X, (0, 0, earlier, 0))  # (B, earlier + T, D)
        X = self.pos_encoding(X)[:, earlier:]  # (B, T, D)

        self_weights, cross_weights = [], []
        for block in self.blks:
            X, state = block(X, state)  # (B, T, D)
            self_weights.append(block.attention1.attention.attention_weights)  # (B·H, T, earlier + T)
            cross_weights.append(block.attention2.attention.attention_weights)  # (B·H, T, S)
        self.attention_weights = [self_weights, cross_weights]
        return self.dense(X), state
        ### END SOLUTION


# %% [markdown]
# ## Try it
#
# Five words at once, then word by word. With positions that count on, the difference is rounding; with
# positions that restart at 0 it is not, and only the first word agrees.

# %%
try:
    decoder = TransformerDecoder(11, 8, 8, 8, 8, [8], 8, 16, 2, num_layers=2, dropout=0.0)
    source, lens, _ = new_state()
    words = torch.tensor([[3, 7, 4, 8, 5], [9, 2, 6, 5, 3]])  # (B=2, T=5)
    together, _ = decoder.train()(words, decoder.init_state(source, lens))  # (B, T, V)
    state, steps = decoder.eval().init_state(source, lens), []
    for t in range(5):
        step, state = decoder(words[:, t : t + 1], state)
        steps.append(step)  # (B, 1, V)
    for t, gap in enumerate((together - torch.cat(steps, dim=1)).abs().amax(dim=(0, 2))):
        print(f"word {t}: largest difference {gap.item():.7f}")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Questions to think about
#
# 1. A sentence of `T` words is predicted with a cache, then without one, the whole prefix going through the
#    stack again for each word. How does the work grow with `T` in each case?
# 2. `MultiHeadAttention` projects the cached steps to keys and values at every call anew. What could be kept
#    instead, and what does that cost in memory?
# 3. Let three steps arrive in one call in eval mode, two being cached already. Which lengths would be right?
# 4. Beam search follows several half-written sentences at once, and drops some. What must the cache do?
# 5. Cross-attention needs no causal mask. Why not?

# %% [markdown]
# ## Sources
#
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
# - Zhang, Lipton, Li, Smola, [*Dive into Deep Learning*](https://d2l.ai), 2023.
