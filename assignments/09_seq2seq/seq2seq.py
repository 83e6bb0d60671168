# %% [markdown]
# # 09 · Sequence to sequence with attention
#
# Attention is older than the Transformer. It was invented to solve a problem of *recurrent* translation
# models. Their encoder reads the source word by word and updates a vector at every word, its *hidden state*.
# Their decoder wrote the translation from the last of these states alone. That is one vector for the whole
# source, and the longer the sentence, the worse the result. Bahdanau et al. (2015) let the decoder look back
# at the source. Before each word it compares its own state with all states of the encoder. Then it uses a
# weighted mean of them that is computed *for this word*. This assignment uses the additive attention of
# lesson 03 for the purpose for which it was invented.
#
# A **GRU** is a recurrent layer: at each step it takes an input and the hidden state of the previous step,
# and returns an output and a new hidden state. `nn.GRU` implements it. With `L` layers, each layer reads
# the output of the layer below, and there are `L` hidden states. The output is the new hidden state of the
# last layer.
#
# After this lesson you can
#
# - write a decoder loop that attends to the source before each word;
# - choose the right query: the state of the last layer after the previous step;
# - keep track of tensors with time first and with batch first.
#
# | name | shape | meaning |
# |---|---|---|
# | `outputs` of the encoder | `(S, B, D)` | one vector for each source step, time first |
# | `hidden` of the encoder | `(L, B, D)` | the hidden state of each layer after the last source step |
# | `enc_valid_lens` | `None` or `(B,)` | how many source steps are real |
# | `X` | `(B, T)` | target tokens |
# | embedded `X` | `(B, T, E)` | `E` is `embed_size` |
# | query | `(B, 1, D)` | one query per sentence |
# | context | `(B, 1, D)` | the result of the attention |
# | input of the GRU | `(1, B, D + E)` | one step, the context and the word concatenated |
# | scores | `(B, T, V)` | one for each word of the vocabulary, no softmax |
#
# **One step.** Let $s_{t-1}$ be the hidden state of the *last* layer after the previous step, and let
# $h_1, \dots, h_S$ be the outputs of the encoder. The context is their weighted sum (Bahdanau et al. 2015,
# section 3.1):
#
# $$c_t = \sum_{j=1}^{S} \alpha(s_{t-1}, h_j) h_j$$
#
# The weights $\alpha$ come from additive attention with $s_{t-1}$ as the query and the $h_j$ as keys and as
# values. Padding gets weight zero. Then the context $c_t$ and the embedded word $x_t$ are concatenated, in
# this order. They are the input of the GRU, which returns the next state. With one layer:
#
# $$s_t = \mathrm{GRU}\bigl([c_t, x_t], s_{t-1}\bigr)$$
#
# ![One step of the decoder. The query is the last layer's state before this step. Additive attention weighs
# the encoder's outputs, here 0.1, 0.6 and 0.3, and 0 for the padding; their weighted mean is the context.
# Context and word, concatenated, go into the GRU, which also gets the state before. Its output passes a
# linear layer and becomes scores; its new state is kept for the next step.](pictures/one_step.svg)
#
# With `L` layers the GRU takes and returns the states of all layers. A linear layer maps its output to
# scores. Why $s_{t-1}$ and not $s_t$? Because $s_t$ is computed *from* the context. The query can only use
# what is known before the context. Before the first word, use the encoder's state after its final step.
#
# **By hand.** One feature, two source steps, $h_1 = 2$ and $h_2 = 6$. Suppose that the additive attention
# gives them the scores 0 and $\ln 3$. The exponentials are 1 and 3, the weights are $\tfrac14$ and
# $\tfrac34$, and the context is $\tfrac14 \cdot 2 + \tfrac34 \cdot 6 = 5$. The step changes the hidden state
# and with it the next query. Suppose that both scores are equal now. Then the context is 4, in the middle.
# With a valid length of 1 the context is 2 at every step, whatever the scores.
#
# **A loop is necessary.** The Transformer processes all target steps at once. Here the query of step `t`
# needs the state after step `t - 1`. So the steps run one after another, even in training. That is one reason
# why the Transformer was invented. Another is the path between two words. In a recurrent layer it grows with
# their distance; in attention every word is one step away.
#
# **Two orders of axes.** By default `nn.GRU` expects time first, `(steps, B, features)`. Our attention expects
# the batch first. So you have to swap axes several times. If `B = S` or `B = T`, a missing swap raises no error
# and mixes sentences. Test your code with sizes that all differ.
#
# **What goes wrong.** These mistakes raise no error.
#
# - Every step starts from the encoder's hidden state instead of the state after step `t - 1`.
# - `forward` returns an old state. In prediction word by word, every call then starts from that old state.
# - With several layers, `hidden[0]` is used as the state of the last layer. It is that of the first.
#
# `AdditiveAttention(key_size, query_size, num_hiddens, dropout)` is given. After a call, it stores its weights
# in `.attention_weights`, of shape `(B, queries, keys)`.

# %%
import torch
from torch import nn

from grader.given import AdditiveAttention

# %% [markdown]
# ## Exercise: `Seq2SeqAttentionDecoder`
#
# Write the constructor, `init_state` and `forward`. `init_state` gets what the encoder returns, and the valid
# lengths of the source; it returns the state before the first word, in a form that your `forward` reads.
# `forward` computes the scores of all steps of its input, and returns them with the new state. Pass `dropout`
# to the attention and to the GRU. (With one layer the GRU has no place for dropout. PyTorch says so in a
# warning, which does no harm.) At each call, store the attention weights in `self.attention_weights`, a new
# list with one tensor `(B, 1, S)` for each target step.
#
# `Seq2SeqAttentionDecoder(…)(X, state)`: `(B, T)` and a state in, `(B, T, V)` and the new state out.
#
# **In plain Python.** One sentence. `outputs` has S rows, `hidden` one for each layer of the GRU. The parts
# are functions: `attend` is additive attention for one query, as in lesson 03; `gru` takes one input and
# the hidden states, and returns the output and the new hidden states; `embed` and `dense` return a row.
#
# ```python
# def seq2seq_attention_decoder_plain(tokens, outputs, hidden, valid_len, embed, attend, gru, dense):
#     scores = []
#     for token in tokens:
#         context = attend(hidden[-1], outputs[:valid_len])  # the rows are keys and values
#         output, hidden = gru(context + embed(token), hidden)  # two lists, joined
#         scores.append(dense(output))
#     return scores, hidden  # T rows of V numbers, and L rows of D numbers
# ```
#
# **In PyTorch, something similar.** A loop over time with a state, and without attention: each step adds
# its input to half of the state before.
#
# ```python
# X, state = torch.tensor([[4.0, 2.0, 8.0], [0.0, 4.0, 2.0]]), torch.zeros(2)
# states = []
# for x in X.T:
#     state = state / 2 + x
#     states.append(state)
# torch.stack(states, dim=1)  # (2, 3): [[4.0, 4.0, 10.0], [0.0, 4.0, 4.0]]
# ```


# %% exercise="Seq2SeqAttentionDecoder"
class Seq2SeqAttentionDecoder(nn.Module):
    """A GRU decoder that attends to the source before every word (Bahdanau et al. 2015).

    embed_size: the number E of features of an embedded word; num_hiddens: the number D of features of the
    encoder's outputs and of every hidden state; num_layers: the number L of layers of the GRU.
    After a call, `attention_weights` is a list with one tensor (B, 1, S) for each target step.
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        # The grader loads the weights by name: attention, embedding, rnn, dense.
        raise NotImplementedError("Seq2SeqAttentionDecoder is not written yet")

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args,
    ) -> tuple:
        """Return the state before the first word. Its layout is your choice: only your `forward` reads it.

        enc_outputs: outputs (S, B, D) and hidden (L, B, D) of the encoder; enc_valid_lens: None or (B,).
        *args: not used; code of the book passes more arguments.
        """
        raise NotImplementedError("Seq2SeqAttentionDecoder.init_state is not written yet")

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        """Compute the scores of the next word after each step.

        X: (B, T) tokens; state: from `init_state`, or as returned by the last call.
        Returns (B, T, V) in the dtype of the weights, without a softmax, and the state after the last step.
        """
        raise NotImplementedError("Seq2SeqAttentionDecoder.forward is not written yet")


# %% [markdown]
# ## Try it
#
# The cell decodes four target words at once, then word by word with the returned state. Both run the same
# loop, so the difference should be (almost) zero. It also prints the weights of the first step. The second
# source sentence has a valid length of 2, so its weights should be zero after the first two source words.

# %%
try:
    decoder = Seq2SeqAttentionDecoder(vocab_size=11, embed_size=4, num_hiddens=6, num_layers=2).eval()
    encoded = (
        torch.linspace(-1, 1, 60).reshape(5, 2, 6),
        torch.linspace(1, -1, 24).reshape(2, 2, 6),
    )  # (S, B, D), (L, B, D)
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
# ## Train it: numbers into words
#
# Now your decoder translates. A number comes in as digits, and leaves as words: `3 7 2` becomes "three
# hundred seventy two". Word for word would not do. "seventy" needs the digit 7 and its place, "seventeen"
# needs two digits, and nothing is written for a 0. The encoder is given: a GRU that reads one digit at a
# time. Of the 999 numbers, 800 are for the training. The others are new to the model when it writes them.
#
# The cell trains 400 steps in a few seconds, prints the loss, then translates greedily: each
# word is the input of the next step. About 195 of the 199 new numbers come
# out right.

# %%
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

SMALL = (
    "- one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
).split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
PAD, BOS, EOS = 0, 1, 2
WORDS = ["<pad>", "<bos>", "<eos>", *SMALL[1:], *TENS[2:], "hundred"]


def in_words(number: int) -> list[str]:
    """Return the words of a number from 1 to 999."""
    hundreds, rest = divmod(number, 100)
    tens, units = divmod(rest, 10) if rest >= 20 else (0, rest)
    words = [SMALL[hundreds], "hundred"] if hundreds else []
    return words + ([TENS[tens]] if tens else []) + ([SMALL[units]] if units else [])


def number_batch(numbers: list[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the digits (B, S), each plus one; how many there are (B,); and the words (B, T + 1)."""
    digits = [torch.tensor([int(digit) + 1 for digit in str(n)]) for n in numbers]
    words = [torch.tensor([BOS, *map(WORDS.index, in_words(n)), EOS]) for n in numbers]
    return pad_sequence(digits, True), torch.tensor([len(d) for d in digits]), pad_sequence(words, True)


class DigitEncoder(nn.Module):
    """A GRU that reads digits; it returns its outputs (S, B, D) and its last hidden state (1, B, D)."""

    def __init__(self, num_hiddens: int):
        super().__init__()
        self.embedding = nn.Embedding(11, num_hiddens)
        self.rnn = nn.GRU(num_hiddens, num_hiddens)

    def forward(self, digits: torch.Tensor, lens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        embedded = self.embedding(digits).transpose(0, 1)  # (S, B, D)
        outputs, hidden = self.rnn(pack_padded_sequence(embedded, lens, enforce_sorted=False))
        return pad_packed_sequence(outputs)[0], hidden


@torch.no_grad()
def translate(encoder: nn.Module, decoder: nn.Module, number: int) -> tuple[list[str], torch.Tensor]:
    """Return the words that the model writes for a number, at most six, and their attention weights (T, S)."""
    digits, lens, _ = number_batch([number])
    state = decoder.init_state(encoder(digits, lens), lens)
    word, words, weights = torch.tensor([[BOS]]), [], []
    while len(words) < 6 and (not words or words[-1] != "<eos>"):
        scores, state = decoder(word, state)
        word = scores.argmax(dim=-1)
        words.append(WORDS[word.item()])
        weights.append(decoder.attention_weights[0][0])  # (1, S)
    return words, torch.cat(weights)


if __name__ == "__main__":  # here and in a notebook, not while the file is checked
    try:
        torch.manual_seed(1)
        torch.set_num_threads(1)  # the tensors are tiny: more threads would only slow it down
        numbers = (torch.randperm(999) + 1).tolist()
        known, new = numbers[:800], numbers[800:]
        encoder, decoder = DigitEncoder(32), Seq2SeqAttentionDecoder(len(WORDS), 32, 32, 1)
        optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
        for step in range(401):
            digits, lens, words = number_batch([known[i] for i in torch.randint(800, (64,))])
            scores, _ = decoder(words[:, :-1], decoder.init_state(encoder(digits, lens), lens))
            labels = words[:, 1:]
            loss = nn.functional.cross_entropy(scores[labels != PAD], labels[labels != PAD])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 100 == 0:
                print(f"step {step}: loss {loss.item():.3f}")
        right = sum(translate(encoder, decoder, n)[0] == [*in_words(n), "<eos>"] for n in new)
        print(f"{right} of {len(new)} new numbers are right")
        for n in new[:3]:
            print(n, "→", " ".join(translate(encoder, decoder, n)[0]))
    except NotImplementedError as unwritten:
        print(unwritten)

# %% [markdown]
# ## Look at the alignment
#
# Which digit does your decoder look at while it writes a word? Here is the map of our model for 539:
#
# ![The attention weights of a trained decoder, with a row for each written word and a column for each of the
# three digits. The word five attends to the 5. The word hundred already attends to the 3, with 0.9, and
# the word thirty with 1. The word nine attends to the 9. The end token attends to the 3 and to the 9, with 0.7 and
# 0.3.](pictures/alignment.svg)
#
# Each digit gets its word, and nobody told the model which belongs to which. "hundred" needs no digit: that it
# comes after "five" is known from the state, and the decoder looks ahead. Do not read too much into a map,
# though. The column of the 3 is the encoder's state after 5 *and* 3. And the decoder begins with the
# encoder's last state, which has read all digits: trained without any context, it still writes about 187
# of the 199 numbers. The cell draws the map of your model. Try another number from 1 to 999, also with
# `grader draw 09 --words 417`, which makes a page.

# %%
if __name__ == "__main__":
    from grader.report.maps import sentence, show

    try:
        number = int("".join(sentence("539")))
        words, weights = translate(encoder, decoder, number)
        show({"cross": [weights[None, None]]}, words, list(str(number)))
    except (NameError, NotImplementedError):
        print("write the decoder and train it first")

# %% [markdown]
# ## Summary
#
# - A recurrent decoder with attention computes a new context for every target word.
# - The query is the last layer's hidden state of the step before. Keys and values are the encoder's outputs.
# - Context and embedded word are concatenated and form the input of the GRU.
# - The steps run one after another, because each query depends on the step before.

# %% [markdown]
# ## Questions to think about
#
# 1. The encoder's outputs are projected by `W_k` again at every step. Which work could be saved, and how
#    would the attention have to change?
# 2. Draw the weights of a translation as a picture: one row per target word, one column per source word. What
#    does a word-for-word translation look like? And one into a language that puts its verb last?
# 3. What would change if the query were the *new* hidden state? (Luong et al. 2015 did this. Where did their
#    context go?)
# 4. Here the context enters the GRU and reaches the scores only through its output. Bahdanau et al. also let
#    the scores depend on the context directly. What might that be good for?
# 5. Compare with assignment 08: what corresponds to the cache here, and how does its size grow with `T`?

# %% [markdown]
# ## Sources
#
# - Bahdanau, Cho, Bengio,
#   [*Neural machine translation by jointly learning to align and translate*](https://arxiv.org/abs/1409.0473), 2015.
# - Luong, Pham, Manning,
#   [*Effective approaches to attention-based neural machine translation*](https://arxiv.org/abs/1508.04025), 2015.
