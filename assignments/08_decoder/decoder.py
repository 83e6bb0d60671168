# %% [markdown]
# # 08 · The decoder
#
# The encoder reads; the decoder writes. It writes one token at a time, and for each it asks two things:
# *what have I written so far?* and *what does the source say?* So a decoder layer has three sublayers,
# where an encoder layer has two (Vaswani et al. 2017, section 3.1):
#
# $$Y = \mathrm{AddNorm}_1\bigl(X, \mathrm{Attention}_1(X, C, C)\bigr)$$
#
# $$Z = \mathrm{AddNorm}_2\bigl(Y, \mathrm{Attention}_2(Y, E, E)\bigr)$$
#
# $$\mathrm{Block}(X) = \mathrm{AddNorm}_3\bigl(Z, \mathrm{FFN}(Z)\bigr)$$
#
# The arguments of each attention are queries, keys and values, in that order. $X$ holds the target steps
# that one call of the block gets: all steps in training, only the newest one in prediction. $C$ holds the
# steps that give the keys and values. In training $C$ is simply $X$. In prediction it is the steps so far:
# the earlier ones, which the block has stored, then the newest. How the block gets $C$ is what this lesson
# is about. $E$ holds the outputs of the encoder, some of which belong to padding. Attention within the
# target is called *self-attention*, attention from the target to the source *cross-attention*.
#
# After this lesson you can
#
# - mask the future in training, with one length per query;
# - cache earlier steps in prediction, and say why the results stay the same;
# - test a decoder: one step at a time and all steps at once must give the same values.
#
# ![The decoder block from top to bottom, three sublayers, each with dropout, a residual connection and a
# normalisation. 1, self-attention: queries from X, keys and values from C, which is X in training, and
# the cache followed by X in prediction; masked by the target's lengths. 2, cross-attention: queries from Y, keys and
# values from E; masked by the source's lengths. 3, the position-wise network on Z.](pictures/block.svg)
#
# | name | shape | meaning |
# |---|---|---|
# | `X` | `(B, T, D)` | target steps: all of them in training, the next one (`T = 1`) in prediction |
# | `state[0]`, `enc_outputs` | `(B, S, D)` | the encoder's outputs for the source |
# | `state[1]`, `enc_valid_lens` | `None` or `(B,)` | how many source positions are real |
# | `state[2]`, the cache | a list of `L` entries; each is `None` at first | the earlier steps, one entry per layer |
# | lengths for $C$ | `(B, T)` | how many of the target steps each query may attend to |
#
# **One block, two ways to run it.** In *training* you know the whole target sentence, so all steps go
# through at once. Every step gets its true word, whatever the model would have written there (this is
# called *teacher forcing*). Step 0 holds a token that means *begin*. Step `t` learns to predict the word of
# step `t + 1`, so it must not see that step: query `t` sees the steps `0 … t`, itself included. That is the
# *causal* mask of assignment 02, with one length per query.
#
# | query | sees step 0 | sees step 1 | sees step 2 | its length |
# |---|---|---|---|---|
# | 0 | yes | no | no | 1 |
# | 1 | yes | yes | no | 2 |
# | 2 | yes | yes | yes | 3 |
#
# In *prediction* you must choose a word before the next step can begin, so each call brings one new step.
# Its keys and values come from all steps so far, but the earlier steps are no longer in `X`. So the block
# remembers them in a **cache**: layer `i` stores its inputs in `state[2][i]` and appends each new step. The
# newest step needs no mask over the future, because the future does not exist yet.
#
# Training needs no cache. Every training call gets a fresh state, in which each entry is `None`, so there
# is nothing to read. The method `init_state` of the whole decoder (see below) makes a fresh state; call it
# before every new batch or sentence, or old steps stay in the state. (In training your block can write to
# its entry, as in *Dive into Deep Learning*, or leave it alone.)
#
# ![Left, training: one call with four queries over the steps 0 to 3; query 0 sees step 0 only, query 3 sees
# all, and the masked steps are hatched. Right, prediction: four calls with one new step each; call 0 has no
# cache, call 3 finds the steps 0 to 2 in the cache and brings step 3. The rows see the same steps on both
# sides.](pictures/cache.svg)
#
# **Which mode is it?** Your block decides by `self.training`, which `model.train()` and `model.eval()` set:
# training mode means all steps with a causal mask, `eval()` means one step at a time with the cache.
# (Question 3 goes further.) Careful: this is a convention of *Dive into Deep Learning* and of this course,
# not a rule. `eval()` only means "no dropout, no update of statistics". A *validation loss*, for example,
# passes all true steps at once in `eval()`, and it needs the causal mask too. With the book's block this
# call has *no* mask: each step attends to the words that it should predict, and the loss is far too good.
# So other libraries do not tie decoding to the mode. They have separate arguments, such as `use_cache` and
# `past_key_values` in Hugging Face Transformers or `is_causal` in PyTorch. Then why use the convention
# here? So that a block written for the book works here, too.
#
# **Why the cache is correct.** With a causal mask, step `t` never depends on a later step. So what a layer
# computed for a step when it was the newest is still right later. This gives you a test for every decoder
# block: **one step at a time and all steps at once must give the same values** (without dropout).
#
# **By hand.** Take one head, one feature, and equal scores, so that attention is the mean of the values
# that a query sees. Leave out everything else. Let the inputs of the layer be 2, 4 and 9.
#
# | what is done | step 0 | step 1 | step 2 |
# |---|---|---|---|
# | training, causal | 2 | (2+4)/2 = 3 | (2+4+9)/3 = 5 |
# | prediction, with the cache | 2 | 3 | 5 |
# | training without the mask | 5 | 5 | 5 |
# | prediction, cache never read | 2 | 4 | 9 |
# | prediction, with the lengths 1 to `T` of training (here `T = 1`) | 2 | 2 | 2 |
#
# Look at the third row: step 0 has already read the 4 that it should learn to predict, and step 1 the 9.
# The training loss becomes very small, and the predictions are useless. In the last row the call holds one
# query with length 1, so every step sees only the oldest step.
#
# **What goes wrong.** Most of these mistakes raise no error, so look for them.
#
# - Every layer needs *its own* entry in the cache. With one entry for all, a layer reads the inputs of
#   another.
# - The cache stores the *inputs* of the block, not its outputs.
# - The two attentions have separate lengths. Those of the target are causal, those of the source count real
#   words. Do not swap them.
# - A `LayerNorm` over steps and features together (`norm_shape = [T, D]`) leaks the future through the
#   mean. Here `norm_shape` is `[D]`, or simply `D`.
#
# You do not start from nothing: `AddNorm`, `MultiHeadAttention`, `PositionalEncoding` and `PositionWiseFFN`
# of earlier assignments are ready to use. After a call, `MultiHeadAttention` has stored its weights in
# `.attention.attention_weights`, of shape `(B·H, queries, keys)`.

# %%
import math

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionalEncoding, PositionWiseFFN

# %% [markdown]
# ## Exercise: `DecoderBlock`
#
# Write the three sublayers and the cache. Your layer uses the entry `state[2][i]`; return the output and
# the state. The constructor arguments are those of `EncoderBlock`, without `use_bias` and with `i`. Get
# training right first. Then add the cache, and let the test below compare the two.
#
# `forward(X, state)`: `(B, T, D)` and the state in, `(B, T, D)` and the state out.
#
# **In plain Python.** For one sentence, without dropout. The parts are functions, as in lesson 07. Training
# and prediction give the same:
#
# ```python
# def decoder_block_plain(X, E, valid_len, attention1, addnorm1, attention2, addnorm2, ffn, addnorm3):
#     outputs, cache = [], []
#     for x in X:  # T target steps, one after the other
#         cache.append(x)
#         (found,) = attention1([x], cache, cache, [len(cache)])  # no later step is in there yet
#         y = addnorm1(x, found)
#         (found,) = attention2([y], E, E, [valid_len])  # E: S steps of the source
#         z = addnorm2(y, found)
#         outputs.append(addnorm3(z, ffn(z)))
#     return outputs  # T vectors with D numbers
# ```
#
# **In PyTorch, something similar.** Put a row below a table:
#
# ```python
# table = torch.tensor([[1, 2, 3], [4, 5, 6]])
# torch.cat((table, torch.tensor([[7, 8, 9]])), dim=0)  # (3, 3): [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
# ```


# %% exercise="DecoderBlock"
class DecoderBlock(nn.Module):
    """One layer of the decoder (Vaswani et al. 2017, section 3.1).

    i: the index of this layer, from 0; its entry in the cache is `state[2][i]`.
    """

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
        # The grader loads the weights by name: attention1, addnorm1, attention2, addnorm2, ffn, addnorm3.
        # The projections of the attentions have no biases.
        raise NotImplementedError("DecoderBlock is not written yet")

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        """Apply the block to all target steps (training), or to the next one (eval, T = 1).

        X: (B, T, D); state: [enc_outputs (B, S, D), enc_valid_lens (B,) or None, a list of L cache entries].
        In eval, `state[2][i]` is None at the first step; later it holds what this block stored there.
        In training, every call gets a fresh state, and nothing is read from it.
        Returns (B, T, D), same dtype, and the state, in which `state[2][i]` may have been replaced.
        """
        raise NotImplementedError("DecoderBlock.forward is not written yet")


# %% [markdown]
# ## Try it
#
# The test that every decoder must pass, for your block: five steps at once in training mode, then one at a
# time in eval mode. The difference should be about 0.0000001, which is the rounding of `float32`.


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
# `TransformerDecoder` stacks your decoder blocks as `TransformerEncoder` stacks encoder blocks. Tokens are
# embedded, the embedding is multiplied by $\sqrt{D}$, positions are added, and the blocks follow one
# another, all with the same state. A last linear layer, `dense`, turns each vector into `V` scores, one for
# every word of the vocabulary. These are *logits*: scores of any size, not probabilities. The training loss
# applies its own softmax, and a second softmax would flatten the first.
#
# `init_state` creates the state for a new sentence: the encoder's outputs, their lengths, and a new list of
# `L` entries, all `None`. It has to be a *new* list: one from the last sentence still contains its steps.
#
# **Which position is this?** In training `X` holds all steps, and `PositionalEncoding` adds position `t` to
# step `t`. In prediction `X` holds one step (`T = 1`), so the same call adds position 0 to *every* word.
# The decoder of *Dive into Deep Learning* does this: it is trained with the positions 0, 1, 2, … and
# predicts with 0, 0, 0, … It runs, and it translates short sentences well enough that you hardly notice.
# Better let the positions go on: the position of a new step is the number of steps already in the cache. If
# positions restart at 0, your blocks still pass the test above, but the stack does not. (The grader accepts
# both.)
#
# ## Exercise: `TransformerDecoder`
#
# Write three methods.
#
# - `__init__` creates the embedding, the positional encoding, `L` blocks with `i` from 0 to `L - 1`, and
#   `dense`, a linear layer with a bias.
# - `init_state(enc_outputs, enc_valid_lens)` returns a new list of three entries, as described above.
# - `forward(X, state)` returns the scores `(B, T, V)`, without a softmax, and the state. In `eval()` each
#   call brings one new step (`T = 1`). The first call gets the state from `init_state`, every later call
#   the state that the call before returned.
#
# At each call, store the attention weights in `self.attention_weights`, so that you can look at them in
# lesson 10: a list of two lists, each with one tensor per layer, first layer first. The first list holds
# the weights of the self-attentions, of shape `(B·H, T, steps so far)`; in training that is `(B·H, T, T)`.
# The second holds the weights of the cross-attentions, of shape `(B·H, T, S)`. (If you store lists, the
# grader compares them; a decoder without them loses no points.)
#
# **In plain Python.** For one sentence, without dropout. `blocks` is a list of functions, each with its own
# weights and the outputs of the encoder:
#
# ```python
# import math
#
# def transformer_decoder_plain(tokens, embedding, blocks, weight, bias):  # embedding: (V, D)
#     X = []
#     for token in tokens:
#         row = embedding[token]
#         X.append([math.sqrt(len(row)) * x for x in row])
#     X = positional_encoding_plain(X)  # as in lesson 06: step t is at position t
#     for block in blocks:
#         X = block(X)
#     scores = []
#     for x in X:
#         scores.append([sum(w * a for w, a in zip(row, x)) + b for row, b in zip(weight, bias)])
#     return scores  # T rows with V numbers
# ```
#
# **In PyTorch, something similar.** The next rows of a table, after those that are done:
#
# ```python
# table = torch.arange(12).reshape(6, 2)
# done, new = 3, 2
# table[done : done + new]  # (2, 2): [[6, 7], [8, 9]]
# ```


# %% exercise="TransformerDecoder"
class TransformerDecoder(nn.Module):
    """Map target tokens to scores for the next word.

    After a call, `attention_weights` is a list of two lists with one tensor per layer: the weights of the
    self-attentions (B·H, T, target steps so far), then those of the cross-attentions (B·H, T, S).
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
        dropout: float = 0.0,
    ):
        super().__init__()
        # The grader loads the weights by name: embedding, pos_encoding, blks.block0, blks.block1, …, dense.
        # The blocks get these names from self.blks = nn.Sequential() and its method add_module(name, block).
        raise NotImplementedError("TransformerDecoder is not written yet")

    def init_state(self, enc_outputs: torch.Tensor, enc_valid_lens: torch.Tensor | None, *args) -> list:
        """Create the state for a new sentence.

        enc_outputs: (B, S, D); enc_valid_lens: None or (B,); *args: not used; code of the book
        passes more arguments.
        Returns [enc_outputs, enc_valid_lens, cache], where cache is a new list of L times None.
        """
        raise NotImplementedError("TransformerDecoder.init_state is not written yet")

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        """Compute the scores of the next word after each step.

        X: (B, T) tokens, all steps in training, the next one (T = 1) in eval;
        state: from `init_state`, or as returned by the last call.
        Returns (B, T, V) in the dtype of the weights, without a softmax, and the state.
        """
        raise NotImplementedError("TransformerDecoder.forward is not written yet")


# %% [markdown]
# ## Try it
#
# Five words at once, then word by word. If your positions go on, the difference is rounding. If they
# restart at 0, only the first word agrees.

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
# ## Summary
#
# - A decoder block has three sublayers: causal self-attention, cross-attention to the encoder's outputs,
#   and a feed-forward network.
# - In training all steps go through at once, with the lengths 1, 2, …, `T` as a causal mask.
# - In prediction each call brings one step, and each layer caches its own inputs.
# - One step at a time and all steps at once must give the same values: test every block that you write so.
# - `eval()` is not the same as decoding. In this course it selects the cache, but a validation loss in
#   `eval()` needs the causal mask too.

# %% [markdown]
# ## Questions to think about
#
# 1. A sentence of `T` words is predicted with a cache, then without one, so that the whole prefix goes
#    through the stack again for each word. How does the work grow with `T` in each case?
# 2. `MultiHeadAttention` projects the cached steps to keys and values again at every call. What could be
#    cached instead, and how much memory does it need?
# 3. Let three steps arrive in one call in eval mode, with two steps in the cache already. Which lengths would
#    be right?
# 4. Beam search follows several half-written sentences at once, and drops some. What must happen to the
#    cache?
# 5. Cross-attention needs no causal mask. Why not?

# %% [markdown]
# ## Sources
#
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
# - Zhang, Lipton, Li, Smola, [*Dive into Deep Learning*](https://d2l.ai), 2023.
