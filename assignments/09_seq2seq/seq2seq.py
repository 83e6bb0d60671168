# %% [markdown]
# # 09 · Sequence to sequence with attention
#
# Attention did not begin with the Transformer. It began as a cure. Translators used to be *recurrent*: the
# encoder walked through the source word by word and carried a vector along, its *hidden state*, which it
# renewed at every word. The decoder wrote the translation from the last of these states alone: one vector for
# the whole source, and the longer the sentence, the worse the result. Bahdanau et al. (2015) let the decoder
# look back: before each word it compares its own state with all states of the encoder, and works with a
# weighted mean of them that is made *for this word*. This assignment puts your additive attention to the use
# for which it was invented.
#
# A **GRU** is a recurrent layer: at each step it takes an input and its last hidden state, and gives an
# output and a new hidden state. Here `nn.GRU` does that; with `L` layers, each reads the output of the one
# below, and there are `L` hidden states. The output is the new hidden state of the last layer.
#
# | name | shape | meaning |
# |---|---|---|
# | `outputs` of the encoder | `(S, B, D)` | one vector for each source step, time first |
# | `hidden` of the encoder | `(L, B, D)` | the hidden state of each layer after the last source step |
# | `enc_valid_lens` | `None` or `(B,)` | how many source steps are real |
# | `X` | `(B, T)` | target tokens |
# | embedded `X` | `(B, T, E)` | `E` is `embed_size` |
# | query | `(B, 1, D)` | one question per sentence |
# | context | `(B, 1, D)` | the answer |
# | input of the GRU | `(1, B, D + E)` | one step, context and word side by side |
# | scores | `(B, T, V)` | one for each word of the vocabulary, no softmax |
#
# **One step.** Let $s_{t-1}$ be the hidden state of the *last* layer after the step before, and
# $h_1, \dots, h_S$ the outputs of the encoder. Bahdanau et al. (2015, section 3.1) weigh and sum them:
#
# $$c_t = \sum_{j=1}^{S} \alpha(s_{t-1}, h_j) h_j$$
#
# The weights $\alpha$ come from additive attention with $s_{t-1}$ as the query and the $h_j$ as keys and as
# values; padding gets none. Then the context $c_t$ and the embedded word $x_t$, in this order, form the
# input of the GRU, which moves on to the next state, and a linear layer turns its output into scores:
#
# $$s_t = \mathrm{GRU}\bigl([c_t, x_t], s_{t-1}\bigr)$$
#
# ![One step of the decoder. The query is the last layer's state before this step. Additive attention weighs
# the encoder's outputs, here 0.1, 0.6 and 0.3, and 0 for the padding; their weighted mean is the context.
# Context and word, side by side, go into the GRU, which also gets the state before. Its output passes a
# linear layer and becomes scores; its new state is kept for the next step.](pictures/one_step.svg)
#
# Why $s_{t-1}$ and not $s_t$? Because $s_t$ is made *from* the context. The question must be asked with what
# is known before the answer. Before the first word, the state is the encoder's last one.
#
# **By hand.** One feature, two source steps, $h_1 = 2$ and $h_2 = 6$. Suppose that the additive attention
# gives them the scores 0 and $\ln 3$. The exponentials are 1 and 3, the weights $\tfrac14$ and $\tfrac34$,
# and the context is $\tfrac14 \cdot 2 + \tfrac34 \cdot 6 = 5$. The step changes the hidden state and with it
# the next query. Suppose that both scores are equal now: then the context is 4, half-way. With a valid length
# of 1 the context is 2 at every step, whatever the scores.
#
# **A loop that cannot be avoided.** The Transformer handles all target steps at once. Here the query of step
# `t` needs the state after step `t - 1`, so the steps must go one after another, even in training. That
# is one reason why the Transformer was invented; another is that a word far away is as near to attention as
# the next one.
#
# **Two orders of axes.** `nn.GRU` wants time first, `(steps, B, features)`, unless it is told otherwise;
# attention wants the batch first. So axes change places several times. When `B = S` or `B = T`, a forgotten
# exchange raises no error and mixes sentences: try your code with sizes that all differ.
#
# **What goes wrong.** The hidden state that goes into step `t` must be the one that came out of step
# `t - 1`, not the encoder's again; and the state that is returned must be the newest, or else a prediction
# word by word stands still. With several layers, `hidden[0]` is the first layer, not the last.
#
# `AdditiveAttention(key_size, query_size, num_hiddens, dropout)` is given. After a call, it keeps its
# weights in `.attention_weights`, of shape `(B, queries, keys)`.

# %%
import torch
from torch import nn

from grader.given import AdditiveAttention

# %% [markdown]
# ## Exercise: `Seq2SeqAttentionDecoder`
#
# Give `dropout` to the attention and to the GRU. (With one layer the GRU has no place for it, and PyTorch
# says so in a warning, which does no harm.)

# %% exercise="Seq2SeqAttentionDecoder"
class Seq2SeqAttentionDecoder(nn.Module):
    """A GRU decoder that looks back at the source before every word (Bahdanau et al. 2015).

    After a call, `attention_weights` is a list with one tensor (B, 1, S) for each target step.
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        # Weights are loaded by name: attention, embedding, rnn, dense.
        raise NotImplementedError("Seq2SeqAttentionDecoder is not written yet")

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args,
    ) -> tuple:
        """The state before the first word, in whatever form your `forward` likes.

        enc_outputs: outputs (S, B, D) and hidden (L, B, D) of the encoder; enc_valid_lens: None or (B,).
        """
        raise NotImplementedError("Seq2SeqAttentionDecoder.init_state is not written yet")

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        """Score the next word after each step.

        X: (B, T) tokens; state: as made by `init_state` or returned by the last call.
        Returns (B, T, V) in the dtype of the weights, without a softmax, and the state after the last step.
        """
        raise NotImplementedError("Seq2SeqAttentionDecoder.forward is not written yet")


# %% [markdown]
# ## Try it
#
# Four words at once, then word by word with the state handed on: both go through the same loop, so the
# difference should be (almost) zero. The weights of the second sentence should be zero beyond its two words.

# %%
try:
    decoder = Seq2SeqAttentionDecoder(vocab_size=11, embed_size=4, num_hiddens=6, num_layers=2).eval()
    encoded = torch.linspace(-1, 1, 60).reshape(5, 2, 6), torch.linspace(1, -1, 24).reshape(2, 2, 6)  # (S, B, D), (L, B, D)
    lens = torch.tensor([5, 2])
    words = torch.tensor([[3, 7, 4, 8], [9, 2, 6, 5]])  # (B=2, T=4)
    together, _ = decoder(words, decoder.init_state(encoded, lens))  # (B, T, V)
    print("weights of the first step:", decoder.attention_weights[0].detach().squeeze(1))  # (B, S)
    state, steps = decoder.init_state(encoded, lens), []
    for t in range(4):
        step, state = decoder(words[:, t : t + 1], state)
        steps.append(step)  # (B, 1, V)
    print(f"largest difference: {(together - torch.cat(steps, dim=1)).abs().max().item():.7f}")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Questions to think about
#
# 1. The encoder's outputs are projected by `W_k` anew at every step. Which step could be saved, and how would
#    the attention have to change?
# 2. Draw the weights of a translation as a picture: one row per target word, one column per source word. What
#    would a word-for-word translation look like? And one into a language that puts its verb last?
# 3. What would change if the query were the *new* hidden state? (Luong et al. 2015 did just that; where did
#    their context go?)
# 4. Here the context enters the GRU and reaches the scores only through its output. Bahdanau et al. also let
#    the scores see the context directly. What might that be good for?
# 5. Compare with assignment 08: what plays the part of the cache here, and how does its size grow with `T`?

# %% [markdown]
# ## Sources
#
# - Bahdanau, Cho, Bengio,
#   [*Neural machine translation by jointly learning to align and translate*](https://arxiv.org/abs/1409.0473), 2015.
# - Luong, Pham, Manning,
#   [*Effective approaches to attention-based neural machine translation*](https://arxiv.org/abs/1508.04025), 2015.
