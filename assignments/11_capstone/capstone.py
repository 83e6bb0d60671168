# %% [markdown]
# # 11 · Capstone: train it, let it write
#
# You have all the parts: an encoder that reads, a decoder that writes, and inside both the attention that
# you wrote yourself. Two loops bring them to life. One trains the model, from random weights to a model
# that solves a task. The other lets it write. Each has about a dozen lines, and mistakes in them often
# raise no error, so take your time.
#
# After this lesson you can
#
# - write a training loop with teacher forcing and a loss over real words only;
# - decode greedily, with a cache, for a batch of sentences that end at different steps;
# - measure what a trained model has learned, on sentences that it has never seen.
#
# The moment that you have worked for is `grader check train`. It takes **your own parts** from the earlier
# assignments, builds a model of them, and trains it with your loop on two small tasks. If a part is missing
# or wrong, the grader uses the part of the course instead and tells you. In this file everything is
# imported from `grader.given`, so you can start at once.
#
# **The two tasks.** A batch is four tensors: `src, src_valid_len, tgt, tgt_valid_len`.
#
# | name | shape | meaning |
# |---|---|---|
# | `src` | `(B, S)` | source words, then an end token, then padding |
# | `src_valid_len` | `(B,)` | how many source tokens are real, the end included |
# | `tgt` | `(B, T + 1)` | a start token, the target words, an end token, then padding |
# | `tgt_valid_len` | `(B,)` | how many target tokens are real, start and end included |
# | scores | `(B, T, V)` | the output of the model for `T` target tokens: at each step, one score per word of the vocabulary |
#
# In *reverse*, the target is the source backwards, and each word is replaced according to a fixed table.
# Your model does not see the table and has to learn it: a toy translation.
#
# In *induction*, the source is a sentence, and at its end one of its words comes again. From this word on,
# the sentence is to be repeated: after `7 4 9 7 5` and then `4` comes `4 9 7 5`. Words may repeat,
# mostly with different followers: the first `7` is followed by `4`, the second by `5`. So no table helps, and it is not
# enough to know which words occur. Your model has to find the earlier place of the word and go on from there.
# Heads that look for the word after an earlier place were found in language models, which read one sequence.
# They are called *induction heads* (Olsson et al. 2022). Your model has two sequences. It can do the same with
# the attention from decoder to encoder: the decoder asks with the words that it has just written, and the
# encoder gives each source word a key that says where it stands and what stood before it. We took away
# one thing at a time, in ten trainings each. Without positions in the encoder, 0 to 4 % of the sentences were
# right. With the same weight for every source word in the attention of the decoder, 23 to 38 % were, because the
# encoder's own attention still finds the place. Neither reaches the share that is required.
#
# ![The attention from decoder to encoder of a trained model, a map for each of four heads. The source is
# 7 4 9 7 5 and again 4. When the decoder reads the start, heads 0, 2 and 3 look at this last 4, head 1 at the
# earlier one. When it reads 4, head 0 looks at the 9, which followed the earlier 4; at 9, heads 0 and 1 look at
# the second 7; at 7, heads 1 and 3 look at the 5 after it.](pictures/induction.svg)
#
# **One step of training.** Take the next batch; after the last one, start again with the first. Pass the
# true words to the decoder, whatever it would have written itself (*teacher forcing*). At each step it must
# predict the next word. The loss is the cross-entropy between its scores and those words, over real words
# only. Padding is not a word: if you reward a model for writing padding and your sentences are short, it
# learns little else. Then compute the gradients, let the optimizer update the weights, and clear the
# gradients, because PyTorch *adds* each new gradient to the one that is there.
#
# **By hand.** Take a target of three words, 5, 8 and 6, in a batch whose longest target has four words. Let
# 1 be the start, 2 the end, 0 padding. (In assignment 06 the padding was token 1. These are different
# vocabularies.)
#
# | | step 0 | step 1 | step 2 | step 3 | step 4 |
# |---|---|---|---|---|---|
# | `tgt` contains | 1 | 5 | 8 | 6 | 2 (and 0 after it) |
# | input of the decoder | 1 | 5 | 8 | 6 | 2 |
# | label: the word to predict | 5 | 8 | 6 | 2 | 0 |
# | counts in the loss | yes | yes | yes | yes | no |
#
# The input is the target without its last column. The labels are the target without its first column.
# `tgt_valid_len` is 5 here, and four steps count. Your model has to learn the end token, a word like any
# other, but not the padding.
#
# **Where is the shift?** In the two slices of your training loop, and nowhere else. The model does not
# shift, and its mask does not either: step `t` may see its own input, because its label is the word *after*
# that. If you shift a second time, in the mask or in the loss, the model learns to predict two words ahead,
# or never sees the newest word.
#
# **Writing.** Now there are no true words: your model is on its own. The first input is the start token.
# Each call gives scores for one next word. *Greedy* decoding takes the word with the highest score, appends
# it, and passes it to the next call. Pass the state that the call returned, too: it holds the cache. A
# sentence ends when its best word is the end token, and the sentences of a batch end at different steps. So
# go on until the last one has ended or `num_steps` words are written, and drop everything that a sentence
# wrote after its end.
#
# | step | input | the cache holds | best word | written so far |
# |---|---|---|---|---|
# | 0 | 1 (start) | nothing | 5 | 5 |
# | 1 | 5 | 1 step | 8 | 5 8 |
# | 2 | 8 | 2 steps | 6 | 5 8 6 |
# | 3 | 6 | 3 steps | 2 (end) | 5 8 6 |
#
# A written sentence is right exactly when every prediction with teacher forcing is right. For then every
# best word is the true one, and both loops pass the same words to the decoder. (This needs a decoder that
# computes the same step by step as for the whole sequence, as in lesson 08. A decoder that starts its
# positions at 0 in each call does not.)
#
# **What goes wrong.** Most of these mistakes raise no error. The model just learns badly, or seems to learn
# wonderfully.
#
# - Both the input and the labels are the target without its *first* column. Then each input is the word to
#   predict, and the loss falls to zero.
# - Both the input and the labels are the target without its *last* column. Then each label is the input of the
#   same step, and the model learns to repeat its input.
# - The model trains in evaluation mode. Then there is no dropout, and the decoder uses its cache as in
#   prediction. The decoder of *Dive into Deep Learning* also leaves out the causal mask in evaluation mode,
#   so each step sees the word that it should predict (lesson 08). Call `model.train()` first.
# - If the gradients are not cleared, each step follows the sum of all gradients since the first.
# - A new state for each call of the decoder makes the model forget what it wrote. If you pass the whole
#   sentence so far together with a cache that contains it, the model sees the earlier words several times.
#
# **What is graded.** First the grader looks at what your loop does in 24 tiny steps, with a model of its
# own. Then it trains *reverse* for 200 steps (two seconds) and *induction* for 1200 (ten seconds or more; a
# line shows the progress), and lets the trained model write 128 sentences that were in no batch. In
# *reverse*, 35 % of them must be right, word for word, in *induction* 45 %. Ours never got less than 55 % and
# 75 %, so there is room. Each training can take its time, up to three minutes. `grader check train --quick`
# leaves out *induction*. (The grader loads the state dict that you return into the parts of the course and
# tests that model. `grader check` and
# `grader watch` cache the result, so they do not train the same files again.)

# %%
import copy

import torch
from torch import nn

from grader.given import (
    EncoderDecoder,
    TransformerDecoder,
    TransformerEncoder,
    attention_maps,
    prune_heads,
)

# %% [markdown]
# ## Exercise: `greedy_decode`
#
# You need three calls. `model.encoder(src, src_valid_len)` returns the encoder's outputs.
# `model.decoder.init_state(enc_outputs, src_valid_len)` returns a new state. `model.decoder(words, state)`
# returns scores `(B, 1, V)` for words `(B, 1)`, and the state. Decode in evaluation mode, one new word per
# call.
#
# Return a list with one list of integers for each sentence: the words before the end token, without the
# start and the end token.
#
# `greedy_decode(model, src, src_valid_len, num_steps, bos, eos)`: `(B, S)` and `(B,)` in, `B` lists of
# integers out.
#
# **In plain Python.** One source, without a cache. `next_scores` is the decoder for this source: it gets
# all words so far, and returns one score for each word of the vocabulary.
#
# ```python
# def greedy_decode_plain(next_scores, num_steps, bos, eos):
#     words = [bos]
#     for _ in range(num_steps):
#         scores = next_scores(words)
#         best = scores.index(max(scores))
#         if best == eos:
#             break
#         words.append(best)
#     return words[1:]
# ```
#
# **In PyTorch, something similar.** A batch that counts down to 0. Rows that are done go on, and are cut
# afterwards:
#
# ```python
# number, columns = torch.tensor([[2], [4]]), []
# while (number > 0).any():
#     columns.append(number)
#     number = number - 1
# rows = torch.cat(columns, dim=1).tolist()  # [[2, 1, 0, -1], [4, 3, 2, 1]]
# [[n for n in row if n > 0] for row in rows]  # [[2, 1], [4, 3, 2, 1]]
# ```


# %% exercise="greedy_decode"
def greedy_decode(
    model: nn.Module, src: torch.Tensor, src_valid_len: torch.Tensor, num_steps: int, bos: int, eos: int
) -> list[list[int]]:
    """Write at most `num_steps` words for each source, the word with the highest score at every step.

    model: an EncoderDecoder; src: (B, S) tokens; src_valid_len: (B,); bos, eos: the start and the end token.
    Returns B lists of integers, without the start token, the end token and everything after it.
    """
    raise NotImplementedError("greedy_decode is not written yet")


# %% [markdown]
# ## Exercise: `train`
#
# `model(src, tgt_in, src_valid_len)` returns scores and a state; you need only the scores. `batches` is a
# list of batches as in the table above. `steps` says how many times to update the weights, with one batch
# each time. There are more steps than batches. Choose an optimizer that learns the task in this number of
# steps: Adam with a learning rate of 0.001 (its default) to 0.005 does; plain SGD learns neither task.
#
# Return `model.state_dict()`.
#
# `train(model, batches, steps)`: a model and batches of `(B, S)`, `(B,)`, `(B, T + 1)` and `(B,)` in, a
# state dict out.
#
# **In plain Python.** The losses of one sentence. `next_scores` is as above; `tgt` begins with the start
# token. The loss of a batch is the mean of all losses of all its sentences, and each update is a step
# that should make it smaller.
#
# ```python
# import math
#
# def train_plain(next_scores, tgt, tgt_valid_len):
#     losses = []
#     for t in range(tgt_valid_len - 1):
#         scores = next_scores(tgt[: t + 1])  # the true words so far
#         total = sum(math.exp(score) for score in scores)
#         losses.append(math.log(total) - scores[tgt[t + 1]])  # minus the log of the probability of the true word
#     return losses
# ```
#
# **In PyTorch, something similar.** One update of a line through the origin. Its loss looks at two of three
# numbers:
#
# ```python
# line, x = nn.Linear(1, 1, bias=False), torch.tensor([[1.0], [2.0], [99.0]])
# optimizer = torch.optim.SGD(line.parameters(), lr=0.1)
# away = line(x[torch.tensor([True, True, False])]) - 3  # (2, 1)
# away.square().mean().backward()
# optimizer.step()
# optimizer.zero_grad()
# ```


# %% exercise="train"
def train(model: nn.Module, batches: list[tuple[torch.Tensor, ...]], steps: int) -> dict[str, torch.Tensor]:
    """Update the weights of `model` `steps` times, with one batch per step, and return its state dict.

    model: an EncoderDecoder, in any mode; batches: a list of tuples
    (src (B, S), src_valid_len (B,), tgt (B, T + 1), tgt_valid_len (B,)), to be used again and again, in this
    order or shuffled.
    """
    raise NotImplementedError("train is not written yet")


# %% [markdown]
# ## Try it
#
# Let your model write. This is a small reverse task, 240 steps, a few seconds. Before the training no
# sentence is right. Afterwards nearly all should be.

# %%
PAD, BOS, EOS = 0, 1, 2


def reverse_batch(size: int = 32) -> tuple[torch.Tensor, ...]:
    """Draw sentences of 2 to 4 words out of nine, and the same sentences backwards."""
    lens = torch.randint(2, 5, (size,))
    src, tgt = torch.full((size, 5), PAD), torch.full((size, 6), PAD)
    for i, n in enumerate(lens.tolist()):
        words = torch.randint(3, 12, (n,))
        src[i, : n + 1] = torch.cat((words, torch.tensor([EOS])))
        tgt[i, : n + 2] = torch.cat((torch.tensor([BOS]), words.flip(0), torch.tensor([EOS])))
    return src, lens + 1, tgt, lens + 2


def new_model() -> EncoderDecoder:
    """Create a model with one layer per side, four heads, and small embeddings, to which positions are added."""
    sizes = (12, 32, 32, 32, 32, [32], 32, 64, 4, 1, 0.0)
    model = EncoderDecoder(TransformerEncoder(*sizes), TransformerDecoder(*sizes))
    for part in (model.encoder, model.decoder):
        nn.init.normal_(part.embedding.weight, std=32**-0.5)
    return model


def share_right(model: nn.Module, batch: tuple[torch.Tensor, ...]) -> float:
    """Return the share of a batch's sentences that the model writes without a mistake."""
    src, src_valid_len, tgt, tgt_valid_len = batch
    written = greedy_decode(model, src, src_valid_len, 5, BOS, EOS)
    wanted = [row[1 : n - 1] for row, n in zip(tgt.tolist(), tgt_valid_len.tolist(), strict=True)]
    return sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)


if __name__ == "__main__":  # here and in a notebook, not while the file is checked
    torch.manual_seed(1)
    torch.set_num_threads(1)  # the tensors are tiny: more threads would only slow it down
    model, fresh = new_model(), reverse_batch(200)
    try:
        print(f"before: {share_right(model, fresh):.0%} right")
        train(model, [reverse_batch() for _ in range(60)], 240)
        print(f"after: {share_right(model, fresh):.0%} right")
        first = greedy_decode(model, fresh[0][:1], fresh[1][:1], 5, BOS, EOS)[0]
        print("source", fresh[0][0].tolist(), "written", first)
    except NotImplementedError as unwritten:
        print(unwritten)

# %% [markdown]
# ## Look, prune, compare
#
# Where does your decoder look while it writes? Train a second model, on *induction*, and draw the attention
# from decoder to encoder: rows are the words that the decoder reads, columns those of the source. Below
# it are the same heads with random weights. The training takes about ten seconds; then the cell prints what
# the model writes.
#
# `grader draw 11` makes a page of these maps, and `grader draw 11 --words "5 8 3 5 4 8"` draws a sentence of
# your own: five numbers from 3 to 9, neighbours different, then again one of the first three that occurs only
# once. Other sentences are not what the model has learned.


# %%
def induction_batch(size: int = 32) -> tuple[torch.Tensor, ...]:
    """Draw sentences of five words out of seven, neighbours different, and one of the words again."""
    src, tgt = torch.full((size, 7), EOS), torch.full((size, 7), PAD)
    lens = torch.empty(size, dtype=torch.long)
    for i in range(size):
        once: list[int] = []
        while not once:
            steps = torch.cat((torch.randint(7, (1,)), torch.randint(1, 7, (4,))))
            words = (steps.cumsum(0) % 7 + 3).tolist()
            once = [place for place in range(3) if words.count(words[place]) == 1]
        place = once[torch.randint(len(once), ()).item()]
        rest = words[place:]
        src[i, :6] = torch.tensor([*words, words[place]])
        tgt[i, : len(rest) + 2] = torch.tensor([BOS, *rest, EOS])
        lens[i] = len(rest) + 2
    return src, torch.full((size,), 7), tgt, lens


if __name__ == "__main__":
    from grader.report.maps import sentence, show

    try:
        torch.manual_seed(2)
        untrained, fresh = new_model(), induction_batch(200)
        model = copy.deepcopy(untrained)
        train(model, [induction_batch() for _ in range(300)], 1200)
        print(f"all heads: {share_right(model, fresh):.0%} right")
        words = sentence("7 4 9 7 5 4")
        src, lens = torch.tensor([[*map(int, words), EOS]]), torch.tensor([len(words) + 1])
        written = greedy_decode(model, src, lens, 5, BOS, EOS)[0]
        print("source", " ".join(words), "written", *written)
        read = torch.tensor([[BOS, *written]])
        for name, made in (("trained", model), ("untrained", untrained)):
            with torch.no_grad():
                state = made.eval().decoder.init_state(made.encoder(src, lens), lens)
                maps = {"cross": attention_maps(made.decoder, read, state)["cross"]}
            show(maps, ["start", *map(str, written)], [*words, "end"], title=name)
    except NotImplementedError as unwritten:
        print(unwritten)

# %% [markdown]
# Then remove heads and count again. If the share of right sentences stays the same without a head, you did
# not need it, at least while the others are there. Assignment 10 ranks heads by ablation, by gradients and
# by confidence. These measures use the loss or the attention weights, so they only estimate how much the
# share falls without a head. Here you can simply look.

# %%
if __name__ == "__main__":
    try:
        for head in range(4):
            smaller = copy.deepcopy(model)
            prune_heads(smaller.decoder.blks.block0.attention2, [head])
            print(f"without head {head}: {share_right(smaller, fresh):.0%} right")
    except (NotImplementedError, NameError) as unwritten:
        print(unwritten)

# %% [markdown]
# ## Summary
#
# - The decoder's input is the target without its last column; the labels are the target without its first.
# - The loss counts real words only, the end token included.
# - Train in training mode: teacher forcing needs the causal mask and no cache.
# - Greedy decoding passes one new word and the returned state to each call, until every sentence has ended.
# - Measure a trained model on data that it has not seen.

# %% [markdown]
# ## Questions to think about
#
# 1. Train for 50, 100, 200 and 400 steps and draw the share of right sentences. Does it grow evenly? What
#    does the loss do meanwhile?
# 2. Without the causal mask in the decoder, the loss falls faster and few written sentences are right.
#    Why? Which single measurement would have shown it early?
# 3. Greedy decoding takes the best word at every step. Give a case in which the best *sentence* begins with a
#    word that is not the best.
# 4. Train *reverse* on sentences of up to five words, then write one of seven. What happens, and which part
#    of the model would have to change?
# 5. Remove two of the four heads of each attention, then train for 50 more steps. Is the result as good as
#    before? If so, what were the removed heads for?

# %% [markdown]
# ## Sources
#
# - Olsson et al., [*In-context learning and induction heads*](https://arxiv.org/abs/2209.11895), 2022.
