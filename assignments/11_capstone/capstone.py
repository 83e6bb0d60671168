# %% [markdown]
# # 11 · Capstone: train it, let it write
#
# All the parts are there. An encoder reads, a decoder writes, and both are made of attention that you have
# written yourself. What is missing is the loop that turns random numbers into a model that can do something,
# and the loop that lets it speak. Both are a dozen lines. Both go wrong in ways that raise no error.
#
# When `grader check train` runs, the model that it hands to your loop is made of **your own parts** from the
# earlier assignments; where one is missing, or has a fault, the course's own takes its place, and the report
# says so. In this file everything is imported from `grader.given`, so that you can start at once.
#
# **Two small languages.** A batch is four tensors: `src, src_valid_len, tgt, tgt_valid_len`.
#
# | name | shape | meaning |
# |---|---|---|
# | `src` | `(B, S)` | source words, an end behind the last one, then padding |
# | `src_valid_len` | `(B,)` | how much of each source is real, the end included |
# | `tgt` | `(B, T + 1)` | a start, the target words, an end, then padding |
# | `tgt_valid_len` | `(B,)` | how much of each target is real, start and end included |
# | scores | `(B, T, V)` | what the model makes of the first `T` words of `tgt`: one number for every next word |
#
# In *reverse*, the target is the source backwards, and each word is looked up in a table that nobody tells the
# model: a toy translation. In *induction*, a few different words come, and then begin again; the target is how
# that goes on: after `7 4 9 5 7 4` comes `9 5`. Here no table helps. A model must find the word that it has
# just seen where it stood before, and look at what followed. That is what the *induction heads* do that have
# been found in large language models (Olsson et al. 2022).
#
# ![Two ideal heads. Reverse: in a table of target steps by source words nearly all weight lies on the line
# that runs backwards, step 0 on the last word, step 3 on the first. Induction: in 7 4 9 5 7 4 the last 4
# attends to the 9, which followed the same word before, and so 9 is written
# next.](pictures/what_heads_do.svg)
#
# **One step of training.** Take a batch, and go round to the first one when they are used up. Feed the decoder
# the true words, whatever it would have written itself (*teacher forcing*). Ask it at each step for the word
# that comes next. The loss is the cross-entropy between its scores and those words, over real words only:
# padding is no word, and a model that is rewarded for writing padding learns little else when sentences are
# short. Then the gradients flow back, the optimizer moves the weights a little, and the gradients are cleared,
# because PyTorch *adds* each new gradient to what is there.
#
# **By hand.** A target of three words, 5, 8 and 6, in a batch whose longest target has four words. Let 1 be
# the start, 2 the end, 0 padding.
#
# | | step 0 | step 1 | step 2 | step 3 | step 4 |
# |---|---|---|---|---|---|
# | `tgt` holds | 1 | 5 | 8 | 6 | 2 (and 0 behind it) |
# | the decoder is fed | 1 | 5 | 8 | 6 | 2 |
# | it is asked for | 5 | 8 | 6 | 2 | 0 |
# | it counts | yes | yes | yes | yes | no |
#
# The row that is fed is the target without its last column, the row that is asked for is the target without
# its first. `tgt_valid_len` is 5 here, and four steps count. The end is a word like any other and has to be
# learned. Padding does not.
#
# **Writing.** Nobody tells the true words any more. The first thing that is fed is the start. Each call
# gives scores for one next word; *greedy* decoding takes the best, writes it down, and feeds it to the next
# call, together with the state that came back, since that holds the cache. A sentence is over when its best
# word is the end; the sentences of a batch end at different steps, so the loop goes on until the last has
# ended or the steps are used up, and what a sentence wrote behind its end is dropped.
#
# | step | is fed | the cache holds | best word | written so far |
# |---|---|---|---|---|
# | 0 | 1 (start) | nothing | 5 | 5 |
# | 1 | 5 | 1 step | 8 | 5 8 |
# | 2 | 8 | 2 steps | 6 | 5 8 6 |
# | 3 | 6 | 3 steps | 2 (end) | 5 8 6 |
#
# Written this way, the model is right exactly where its training would have been without a fault: if every
# best word is the true one, what is fed is what teacher forcing would have fed.
#
# **What goes wrong.** Feed the same row that is asked for, and the loss falls to zero, since the answer stands
# in the input. Ask for the same row that is fed, and the model learns to repeat its input. Leave the model
# in evaluation mode, and its dropout never drops and its decoder keeps a cache that belongs to prediction.
# Forget to clear the gradients, and each step follows all gradients since the first. When writing: hand a
# fresh state to each call, and the model forgets what it wrote; hand it the whole sentence so far together with
# a cache that holds it already, and it sees everything twice.
#
# **What is graded.** A first case looks at what your loop does in 24 tiny steps. Then a small task is
# trained (seconds), and then both languages, 600 and 1000 steps (less than a minute; a line shows how far it
# is). The state dict that you return goes into the course's parts, and is measured on sentences that were in no
# batch. Half of them must come out right, word for word (two in five in the small task); good loops reach nearly
# all, and wrong ones hardly any. Only steps are counted, never seconds. `grader check` and `grader watch` keep what
# was found: there, the same files are not trained again. `grader check train --quick` stops after the small
# task.

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
# `model.encoder(src, src_valid_len)` reads, `model.decoder.init_state(enc_outputs, src_valid_len)` begins a
# state, and `model.decoder(words, state)` gives scores `(B, 1, V)` for words `(B, 1)`, and the state. Decode
# in evaluation mode, one new word a call.
#
# Return a list with one list of numbers for each sentence: what was written before the end. Neither start nor
# end belongs to it.

# %% exercise="greedy_decode"
def greedy_decode(
    model: nn.Module, src: torch.Tensor, src_valid_len: torch.Tensor, num_steps: int, bos: int, eos: int
) -> list[list[int]]:
    """Write at most `num_steps` words for each source, the best one at every step.

    src: (B, S) tokens; src_valid_len: (B,); bos, eos: the tokens of start and end. Returns B lists.
    """
    raise NotImplementedError("greedy_decode is not written yet")


# %% [markdown]
# ## Exercise: `train`
#
# `model(src, tgt_in, src_valid_len)` gives scores and a state, of which the scores are wanted here.
# `batches` is a list of batches as in the table above, and `steps` says how many times the weights are to be
# moved; there are more steps than batches. Take any optimizer that gets there in so many steps: Adam with a
# learning rate of 0.001 to 0.003 does, plain SGD does not.
#
# Return `model.state_dict()`.

# %% exercise="train"
def train(model: nn.Module, batches: list[tuple[torch.Tensor, ...]], steps: int) -> dict[str, torch.Tensor]:
    """Move the weights of `model` `steps` times, once a batch, and return its state dict.

    batches: (src (B, S), src_valid_len (B,), tgt (B, T + 1), tgt_valid_len (B,)) each.
    """
    raise NotImplementedError("train is not written yet")


# %% [markdown]
# ## Try it
#
# A small reverse task, 240 steps, some seconds. Before training nothing is right; after it nearly everything
# should be.

# %%
PAD, BOS, EOS = 0, 1, 2


def reverse_batch(size: int = 32) -> tuple[torch.Tensor, ...]:
    """Sentences of 2 to 4 words out of nine, and the same backwards."""
    lens = torch.randint(2, 5, (size,))
    src, tgt = torch.full((size, 5), PAD), torch.full((size, 6), PAD)
    for i, n in enumerate(lens.tolist()):
        words = torch.randint(3, 12, (n,))
        src[i, : n + 1] = torch.cat((words, torch.tensor([EOS])))
        tgt[i, : n + 2] = torch.cat((torch.tensor([BOS]), words.flip(0), torch.tensor([EOS])))
    return src, lens + 1, tgt, lens + 2


def new_model() -> EncoderDecoder:
    """One layer a side, four heads; embeddings so small that positions can be told beside them."""
    sizes = (12, 32, 32, 32, 32, [32], 32, 64, 4, 1, 0.0)
    model = EncoderDecoder(TransformerEncoder(*sizes), TransformerDecoder(*sizes))
    for part in (model.encoder, model.decoder):
        nn.init.normal_(part.embedding.weight, std=32**-0.5)
    return model


def share_right(model: nn.Module, batch: tuple[torch.Tensor, ...]) -> float:
    """How many of a batch's sentences are written without a fault."""
    src, src_valid_len, tgt, tgt_valid_len = batch
    written = greedy_decode(model, src, src_valid_len, 5, BOS, EOS)
    wanted = [row[1 : n - 1] for row, n in zip(tgt.tolist(), tgt_valid_len.tolist(), strict=True)]
    return sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)


if __name__ == "__main__":  # here and in a notebook, not while the file is checked
    torch.manual_seed(1)
    torch.set_num_threads(1)  # the tensors are tiny: more threads would only wait for each other
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
# Where does the decoder look while it writes? `attention_maps` of assignment 10 gathers the weights of every
# head. For a sentence in reverse, look at each head's row for a step, and at the column where it is largest:
# some heads run backwards over the source, and some do something else, or nothing.
#
# Then take heads away and count again. A head whose loss costs nothing was not needed, at least while the
# others are there. The gradient, the size of its weights and the look of its map are all guesses at this one
# number, which is what counts.

# %%
if __name__ == "__main__":
    try:
        src, src_valid_len, tgt, _ = (part[:1] for part in fresh)
        state = model.eval().decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        with torch.no_grad():
            maps = attention_maps(model.decoder, tgt[:, :-1], state)["cross"][0][0]  # (H, T, S)
        for head, weights in enumerate(maps):
            print(f"head {head} looks at source step", weights.argmax(dim=-1).tolist())
        print(f"all heads: {share_right(model, fresh):.0%} right")
        for head in range(4):
            smaller = copy.deepcopy(model)
            prune_heads(smaller.decoder.blks.block0.attention2, [head])
            print(f"without head {head}: {share_right(smaller, fresh):.0%} right")
    except NotImplementedError as unwritten:
        print(unwritten)

# %% [markdown]
# ## Questions to think about
#
# 1. Train for 50, 100, 200 and 400 steps and draw the share of right sentences. Does it grow evenly? What
#    does the loss do meanwhile?
# 2. With the causal mask taken out of the decoder the loss falls faster and nothing that is written is right.
#    Why? Which single number, looked at in time, would have told?
# 3. Greedy decoding takes the best word at every step. Give a case in which the best *sentence* begins with a
#    word that is not the best.
# 4. Train *reverse* on sentences of up to five words, then write one of seven. What happens, and which part of
#    the model would have to change?
# 5. Remove two heads, then train for 50 steps more. Is what comes out as good as before? Then what were the
#    other two for?

# %% [markdown]
# ## Sources
#
# - Olsson et al., [*In-context learning and induction heads*](https://arxiv.org/abs/2209.11895), 2022.
