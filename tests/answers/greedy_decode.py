# %% right_cut_afterwards: all steps, cut at the first end
# kind: same

import torch


@torch.inference_mode()
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    was_training = model.training
    model.eval()
    state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
    tokens = [src.new_full((len(src), 1), bos)]
    for _ in range(num_steps):
        scores, state = model.decoder(tokens[-1], state)
        tokens.append(scores[:, -1:].max(-1).indices)
    if was_training:
        model.train()
    rows = torch.cat(tokens[1:], dim=1).tolist() if num_steps else [[] for _ in src]
    return [row[:row.index(eos)] if eos in row else row for row in rows]


# %% right_flags: a flag for every sentence, stops when all are over
# kind: same

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    model.eval()
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        words = torch.full((src.shape[0], 1), bos, dtype=torch.long, device=src.device)
        written = [[] for _ in range(src.shape[0])]
        over = [False] * src.shape[0]
        for _ in range(num_steps):
            scores, state = model.decoder(words, state)
            words = scores.argmax(dim=2)  # (B, 1)
            for i, word in enumerate(words[:, 0].tolist()):
                if word == eos:
                    over[i] = True
                if not over[i]:
                    written[i].append(word)
            if all(over):
                break
    model.train(training)
    return written


# %% right_generator: a generator of steps, then takewhile
# kind: same

from itertools import takewhile

import torch


def steps(model, src, src_valid_len, bos):
    """One best word for each sentence, again and again."""
    enc = model.encoder(src, src_valid_len)
    state = model.decoder.init_state(enc, src_valid_len)
    X = torch.full((src.shape[0], 1), bos, device=src.device)
    while True:
        Y, state = model.decoder(X, state)
        X = Y.sort(dim=-1, descending=True)[1][:, :, 0]
        yield X.flatten().tolist()


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    with torch.no_grad():
        columns = [words for _, words in zip(range(num_steps), steps(model, src, src_valid_len, bos))]
    for module, training in modes:
        module.training = training
    return [list(takewhile(lambda word: word != eos, row)) for row in zip(*columns)]


# %% right_padding_never_written: word 0 is never allowed
# kind: policy

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    before = model.training
    model.train(False)
    B = src.size(0)
    out = torch.full((B, num_steps), eos, device=src.device)
    alive = torch.ones(B, dtype=torch.bool, device=src.device)
    lens = torch.zeros(B, dtype=torch.long, device=src.device)
    with torch.no_grad():
        memory = model.encoder(src, src_valid_len)
        state = model.decoder.init_state(memory, src_valid_len)
        last = torch.tensor([[bos]] * B, device=src.device)
        for t in range(num_steps):
            logits, state = model.decoder(last, state)
            logits[..., 0] = -torch.inf
            best = logits.log_softmax(-1)[:, 0].topk(1).indices  # (B, 1)
            alive &= best[:, 0] != eos
            if not alive.any():
                break
            out[:, t] = best[:, 0]
            lens += alive
            last = best
    model.train(before)
    return [out[b, :n].tolist() for b, n in enumerate(lens.tolist())]


# %% right_recursive: a recursion that gives the rest of each sentence
# kind: same

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    def go_on(word, state, left):
        """(B, 1) words → what each sentence still has to say."""
        if left == 0:
            return [[] for _ in range(len(word))]
        scores, state = model.decoder(word, state)
        word = scores.argmax(-1)
        rest = go_on(word, state, left - 1)
        return [[] if w == eos else [w] + r for w, r in zip(word.view(-1).tolist(), rest)]

    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
            return go_on(torch.full_like(src[:, :1], bos), state, num_steps)
    finally:
        model.train(training)


# %% right_sentence_by_sentence: one sentence at a time
# kind: same

import torch


def _sentence(model, src, valid_len, num_steps, bos, eos):
    state = model.decoder.init_state(model.encoder(src, valid_len), valid_len)
    sentence, word = [], bos
    while len(sentence) < num_steps:
        scores, state = model.decoder(torch.tensor([[word]], device=src.device), state)
        word = int(torch.argmax(scores.squeeze()))
        if word == eos:
            break
        sentence.append(word)
    return sentence


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    mode, result = model.training, []
    model.eval()
    for b in range(len(src)):
        result.append(_sentence(model, src[b:b + 1], src_valid_len[b:b + 1], num_steps, bos, eos))
    model.train(mode)
    return result


# %% right_table_and_lengths: a table of words and a length for each row
# kind: same

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    before = model.training
    model.train(False)
    B = src.size(0)
    out = torch.full((B, num_steps), eos, device=src.device)
    alive = torch.ones(B, dtype=torch.bool, device=src.device)
    lens = torch.zeros(B, dtype=torch.long, device=src.device)
    with torch.no_grad():
        memory = model.encoder(src, src_valid_len)
        state = model.decoder.init_state(memory, src_valid_len)
        last = torch.tensor([[bos]] * B, device=src.device)
        for t in range(num_steps):
            logits, state = model.decoder(last, state)
            best = logits.log_softmax(-1)[:, 0].topk(1).indices  # (B, 1)
            alive &= best[:, 0] != eos
            if not alive.any():
                break
            out[:, t] = best[:, 0]
            lens += alive
            last = best
    model.train(before)
    return [out[b, :n].tolist() for b, n in enumerate(lens.tolist())]


# %% wrong_all_must_end_together: stops, and looks at ends at all, only where all end in the same step
# kind: mistake
# breaks: values
# equals: decode-end-not-heeded

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    model.eval()
    state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
    X = torch.full((len(src), 1), bos, device=src.device)
    words = []
    for _ in range(num_steps):
        scores, state = model.decoder(X, state)
        X = scores.argmax(-1)
        if (X == eos).all():
            break
        words.append(X)
    model.train(training)
    return torch.cat(words, 1).tolist() if words else [[] for _ in src]


# %% wrong_best_sentence_for_all: the best word of the first sentence is fed to all
# kind: mistake
# breaks: values
# equals: nothing

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    model.eval()
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        words = torch.full((src.shape[0], 1), bos, dtype=torch.long, device=src.device)
        written = [[] for _ in range(src.shape[0])]
        over = [False] * src.shape[0]
        for _ in range(num_steps):
            scores, state = model.decoder(words, state)
            words = scores.argmax(dim=2)  # (B, 1)
            words = words[:1].expand(len(src), 1)
            for i, word in enumerate(words[:, 0].tolist()):
                if word == eos:
                    over[i] = True
                if not over[i]:
                    written[i].append(word)
            if all(over):
                break
    model.train(training)
    return written


# %% wrong_decoder_without_lens: the decoder looks at the padding
# kind: mistake
# breaks: masking
# equals: decode-decoder-without-lens

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    before = model.training
    model.train(False)
    B = src.size(0)
    out = torch.full((B, num_steps), eos, device=src.device)
    alive = torch.ones(B, dtype=torch.bool, device=src.device)
    lens = torch.zeros(B, dtype=torch.long, device=src.device)
    with torch.no_grad():
        memory = model.encoder(src, src_valid_len)
        state = model.decoder.init_state(memory, None)
        last = torch.tensor([[bos]] * B, device=src.device)
        for t in range(num_steps):
            logits, state = model.decoder(last, state)
            best = logits.log_softmax(-1)[:, 0].topk(1).indices  # (B, 1)
            alive &= best[:, 0] != eos
            if not alive.any():
                break
            out[:, t] = best[:, 0]
            lens += alive
            last = best
    model.train(before)
    return [out[b, :n].tolist() for b, n in enumerate(lens.tolist())]


# %% wrong_encoder_in_training_mode: only the decoder is put into evaluation mode
# kind: mistake
# breaks: modes
# equals: nothing

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    model.decoder.eval()
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        words = torch.full((src.shape[0], 1), bos, dtype=torch.long, device=src.device)
        written = [[] for _ in range(src.shape[0])]
        over = [False] * src.shape[0]
        for _ in range(num_steps):
            scores, state = model.decoder(words, state)
            words = scores.argmax(dim=2)  # (B, 1)
            for i, word in enumerate(words[:, 0].tolist()):
                if word == eos:
                    over[i] = True
                if not over[i]:
                    written[i].append(word)
            if all(over):
                break
    model.train(training)
    return written


# %% wrong_encoder_without_lens: the encoder reads the padding
# kind: mistake
# breaks: masking
# equals: decode-encoder-without-lens

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    model.eval()
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, None), src_valid_len)
        words = torch.full((src.shape[0], 1), bos, dtype=torch.long, device=src.device)
        written = [[] for _ in range(src.shape[0])]
        over = [False] * src.shape[0]
        for _ in range(num_steps):
            scores, state = model.decoder(words, state)
            words = scores.argmax(dim=2)  # (B, 1)
            for i, word in enumerate(words[:, 0].tolist()):
                if word == eos:
                    over[i] = True
                if not over[i]:
                    written[i].append(word)
            if all(over):
                break
    model.train(training)
    return written


# %% wrong_end_kept: the end is written too
# kind: mistake
# breaks: values
# equals: decode-end-written-too

import torch


@torch.inference_mode()
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    was_training = model.training
    model.eval()
    state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
    tokens = [src.new_full((len(src), 1), bos)]
    for _ in range(num_steps):
        scores, state = model.decoder(tokens[-1], state)
        tokens.append(scores[:, -1:].max(-1).indices)
    if was_training:
        model.train()
    rows = torch.cat(tokens[1:], dim=1).tolist() if num_steps else [[] for _ in src]
    return [row[:row.index(eos) + 1] if eos in row else row for row in rows]


# %% wrong_filled_up_with_ends: every row as long as num_steps
# kind: mistake
# breaks: values
# equals: decode-end-not-heeded

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    before = model.training
    model.train(False)
    B = src.size(0)
    out = torch.full((B, num_steps), eos, device=src.device)
    alive = torch.ones(B, dtype=torch.bool, device=src.device)
    lens = torch.zeros(B, dtype=torch.long, device=src.device)
    with torch.no_grad():
        memory = model.encoder(src, src_valid_len)
        state = model.decoder.init_state(memory, src_valid_len)
        last = torch.tensor([[bos]] * B, device=src.device)
        for t in range(num_steps):
            logits, state = model.decoder(last, state)
            best = logits.log_softmax(-1)[:, 0].topk(1).indices  # (B, 1)
            alive &= best[:, 0] != eos
            if not alive.any():
                break
            out[:, t] = best[:, 0]
            lens += alive
            last = best
    model.train(before)
    return [out[b].tolist() for b, n in enumerate(lens.tolist())]


# %% wrong_first_sentence_only: the first sentence alone
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch


def _sentence(model, src, valid_len, num_steps, bos, eos):
    state = model.decoder.init_state(model.encoder(src, valid_len), valid_len)
    sentence, word = [], bos
    while len(sentence) < num_steps:
        scores, state = model.decoder(torch.tensor([[word]], device=src.device), state)
        word = int(torch.argmax(scores.squeeze()))
        if word == eos:
            break
        sentence.append(word)
    return sentence


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    mode, result = model.training, []
    model.eval()
    for b in range(1):
        result.append(_sentence(model, src[b:b + 1], src_valid_len[b:b + 1], num_steps, bos, eos))
    model.train(mode)
    return result


# %% wrong_fresh_state_each_call: a new state for every word
# kind: mistake
# breaks: values
# equals: decode-state-begun-anew

import torch


def _sentence(model, src, valid_len, num_steps, bos, eos):
    state = model.decoder.init_state(model.encoder(src, valid_len), valid_len)
    sentence, word = [], bos
    while len(sentence) < num_steps:
        state = model.decoder.init_state(model.encoder(src, valid_len), valid_len)
        scores, state = model.decoder(torch.tensor([[word]], device=src.device), state)
        word = int(torch.argmax(scores.squeeze()))
        if word == eos:
            break
        sentence.append(word)
    return sentence


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    mode, result = model.training, []
    model.eval()
    for b in range(len(src)):
        result.append(_sentence(model, src[b:b + 1], src_valid_len[b:b + 1], num_steps, bos, eos))
    model.train(mode)
    return result


# %% wrong_goes_on_behind_the_end: only the end itself is left out
# kind: mistake
# breaks: values
# equals: nothing

import torch


@torch.inference_mode()
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    was_training = model.training
    model.eval()
    state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
    tokens = [src.new_full((len(src), 1), bos)]
    for _ in range(num_steps):
        scores, state = model.decoder(tokens[-1], state)
        tokens.append(scores[:, -1:].max(-1).indices)
    if was_training:
        model.train()
    rows = torch.cat(tokens[1:], dim=1).tolist() if num_steps else [[] for _ in src]
    return [[word for word in row if word != eos] for row in rows]


# %% wrong_one_step_long: one word too many
# kind: mistake
# breaks: values
# equals: nothing

import torch


def _sentence(model, src, valid_len, num_steps, bos, eos):
    state = model.decoder.init_state(model.encoder(src, valid_len), valid_len)
    sentence, word = [], bos
    while len(sentence) <= num_steps:
        scores, state = model.decoder(torch.tensor([[word]], device=src.device), state)
        word = int(torch.argmax(scores.squeeze()))
        if word == eos:
            break
        sentence.append(word)
    return sentence


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    mode, result = model.training, []
    model.eval()
    for b in range(len(src)):
        result.append(_sentence(model, src[b:b + 1], src_valid_len[b:b + 1], num_steps, bos, eos))
    model.train(mode)
    return result


# %% wrong_one_step_short: one word too few
# kind: mistake
# breaks: values
# equals: decode-one-step-short

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    model.eval()
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        words = torch.full((src.shape[0], 1), bos, dtype=torch.long, device=src.device)
        written = [[] for _ in range(src.shape[0])]
        over = [False] * src.shape[0]
        for _ in range(1, num_steps):
            scores, state = model.decoder(words, state)
            words = scores.argmax(dim=2)  # (B, 1)
            for i, word in enumerate(words[:, 0].tolist()):
                if word == eos:
                    over[i] = True
                if not over[i]:
                    written[i].append(word)
            if all(over):
                break
    model.train(training)
    return written


# %% wrong_sampled: draws words by their probability
# kind: mistake
# breaks: values
# equals: decode-drawn-by-chance

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    model.eval()
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        words = torch.full((src.shape[0], 1), bos, dtype=torch.long, device=src.device)
        written = [[] for _ in range(src.shape[0])]
        over = [False] * src.shape[0]
        for _ in range(num_steps):
            scores, state = model.decoder(words, state)
            words = torch.multinomial(scores[:, 0].softmax(-1), 1)
            for i, word in enumerate(words[:, 0].tolist()):
                if word == eos:
                    over[i] = True
                if not over[i]:
                    written[i].append(word)
            if all(over):
                break
    model.train(training)
    return written


# %% wrong_source_fed: feeds the words of the source in place of what was written
# kind: mistake
# breaks: values
# equals: nothing

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    before = model.training
    model.train(False)
    B = src.size(0)
    out = torch.full((B, num_steps), eos, device=src.device)
    alive = torch.ones(B, dtype=torch.bool, device=src.device)
    lens = torch.zeros(B, dtype=torch.long, device=src.device)
    with torch.no_grad():
        memory = model.encoder(src, src_valid_len)
        state = model.decoder.init_state(memory, src_valid_len)
        last = torch.tensor([[bos]] * B, device=src.device)
        for t in range(num_steps):
            logits, state = model.decoder(last, state)
            best = logits.log_softmax(-1)[:, 0].topk(1).indices  # (B, 1)
            alive &= best[:, 0] != eos
            if not alive.any():
                break
            out[:, t] = best[:, 0]
            lens += alive
            last = src[:, min(t, src.size(1) - 1)][:, None]
    model.train(before)
    return [out[b, :n].tolist() for b, n in enumerate(lens.tolist())]


# %% wrong_start_at_every_step: always feeds the start
# kind: mistake
# breaks: values
# equals: decode-fed-the-start-for-ever

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    before = model.training
    model.train(False)
    B = src.size(0)
    out = torch.full((B, num_steps), eos, device=src.device)
    alive = torch.ones(B, dtype=torch.bool, device=src.device)
    lens = torch.zeros(B, dtype=torch.long, device=src.device)
    with torch.no_grad():
        memory = model.encoder(src, src_valid_len)
        state = model.decoder.init_state(memory, src_valid_len)
        last = torch.tensor([[bos]] * B, device=src.device)
        for t in range(num_steps):
            logits, state = model.decoder(last, state)
            best = logits.log_softmax(-1)[:, 0].topk(1).indices  # (B, 1)
            alive &= best[:, 0] != eos
            if not alive.any():
                break
            out[:, t] = best[:, 0]
            lens += alive
    model.train(before)
    return [out[b, :n].tolist() for b, n in enumerate(lens.tolist())]


# %% wrong_start_kept: the start is written too
# kind: mistake
# breaks: values
# equals: decode-start-written-too

import torch


@torch.inference_mode()
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    was_training = model.training
    model.eval()
    state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
    tokens = [src.new_full((len(src), 1), bos)]
    for _ in range(num_steps):
        scores, state = model.decoder(tokens[-1], state)
        tokens.append(scores[:, -1:].max(-1).indices)
    if was_training:
        model.train()
    rows = torch.cat(tokens, dim=1).tolist() if num_steps else [[] for _ in src]
    return [row[:row.index(eos)] if eos in row else row for row in rows]


# %% wrong_steps_outermost: a list of steps, each with a word for every sentence
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch


def steps(model, src, src_valid_len, bos):
    """One best word for each sentence, again and again."""
    enc = model.encoder(src, src_valid_len)
    state = model.decoder.init_state(enc, src_valid_len)
    X = torch.full((src.shape[0], 1), bos, device=src.device)
    while True:
        Y, state = model.decoder(X, state)
        X = Y.sort(dim=-1, descending=True)[1][:, :, 0]
        yield X.flatten().tolist()


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    with torch.no_grad():
        columns = [words for _, words in zip(range(num_steps), steps(model, src, src_valid_len, bos))]
    for module, training in modes:
        module.training = training
    return [[word for word in column if word != eos] for column in columns]


# %% wrong_stops_with_the_first: stops when the first sentence is over
# kind: mistake
# breaks: values
# equals: decode-stops-with-the-first

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    model.eval()
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        words = torch.full((src.shape[0], 1), bos, dtype=torch.long, device=src.device)
        written = [[] for _ in range(src.shape[0])]
        over = [False] * src.shape[0]
        for _ in range(num_steps):
            scores, state = model.decoder(words, state)
            words = scores.argmax(dim=2)  # (B, 1)
            for i, word in enumerate(words[:, 0].tolist()):
                if word == eos:
                    over[i] = True
                if not over[i]:
                    written[i].append(word)
            if any(over):
                break
    model.train(training)
    return written


# %% wrong_tensor_returned: a tensor with the end behind
# kind: mistake
# breaks: shapes, values
# equals: decode-end-not-heeded

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    before = model.training
    model.train(False)
    B = src.size(0)
    out = torch.full((B, num_steps), eos, device=src.device)
    alive = torch.ones(B, dtype=torch.bool, device=src.device)
    lens = torch.zeros(B, dtype=torch.long, device=src.device)
    with torch.no_grad():
        memory = model.encoder(src, src_valid_len)
        state = model.decoder.init_state(memory, src_valid_len)
        last = torch.tensor([[bos]] * B, device=src.device)
        for t in range(num_steps):
            logits, state = model.decoder(last, state)
            best = logits.log_softmax(-1)[:, 0].topk(1).indices  # (B, 1)
            alive &= best[:, 0] != eos
            if not alive.any():
                break
            out[:, t] = best[:, 0]
            lens += alive
            last = best
    model.train(before)
    return out


# %% wrong_training_mode: stays in the mode that the model is in
# kind: mistake
# breaks: modes
# equals: decode-in-training-mode

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        words = torch.full((src.shape[0], 1), bos, dtype=torch.long, device=src.device)
        written = [[] for _ in range(src.shape[0])]
        over = [False] * src.shape[0]
        for _ in range(num_steps):
            scores, state = model.decoder(words, state)
            words = scores.argmax(dim=2)  # (B, 1)
            for i, word in enumerate(words[:, 0].tolist()):
                if word == eos:
                    over[i] = True
                if not over[i]:
                    written[i].append(word)
            if all(over):
                break
    model.train(training)
    return written


# %% wrong_whole_prefix_with_cache: the sentence so far, fed again beside the cache
# kind: mistake
# breaks: values
# equals: decode-prefix-into-cache

import torch


@torch.inference_mode()
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    was_training = model.training
    model.eval()
    state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
    tokens = [src.new_full((len(src), 1), bos)]
    for _ in range(num_steps):
        scores, state = model.decoder(torch.cat(tokens, dim=1), state)
        tokens.append(scores[:, -1:].max(-1).indices)
    if was_training:
        model.train()
    rows = torch.cat(tokens[1:], dim=1).tolist() if num_steps else [[] for _ in src]
    return [row[:row.index(eos)] if eos in row else row for row in rows]


# %% wrong_end_always_expected: row.index(eos) also where no end was written
# kind: mistake
# breaks: defaults, masking, modes, purity, values
# equals: nothing

import torch
from torch import nn


def greedy_decode(
    model: nn.Module, src: torch.Tensor, src_valid_len: torch.Tensor, num_steps: int, bos: int, eos: int
) -> list[list[int]]:
    model.eval()
    state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
    tokens = torch.full((src.size(0), 1), bos, device=src.device)
    with torch.no_grad():
        for i in range(num_steps):
            # only the newest word, the cache has the rest
            scores, state = model.decoder(tokens[:, -1:], state)
            best = scores.argmax(dim=2)
            tokens = torch.cat((tokens, best), dim=1)
    tokens = tokens[:, 1:].tolist()
    # cut at the end token
    return [row[: row.index(eos)] for row in tokens]


# %% wrong_any_for_all: stops when any sentence has ended
# kind: mistake
# breaks: masking, modes, values
# equals: decode-stops-with-the-first

import torch
from torch import nn


def greedy_decode(
    model: nn.Module, src: torch.Tensor, src_valid_len: torch.Tensor, num_steps: int, bos: int, eos: int
) -> list[list[int]]:
    model.eval()
    with torch.no_grad():
        enc_outputs = model.encoder(src, src_valid_len)
        state = model.decoder.init_state(enc_outputs, src_valid_len)
        words = torch.full((src.shape[0], 1), bos, device=src.device)
        written = []
        for _ in range(num_steps):
            scores, state = model.decoder(words, state)
            words = scores.argmax(dim=-1)  # (B, 1)
            written.append(words)
            # finished?
            if (words == eos).any():
                break
    result = []
    for row in torch.cat(written, dim=1).tolist():
        sentence = []
        for w in row:
            if w == eos:
                break
            sentence.append(w)
        result.append(sentence)
    return result


# %% wrong_never_eval: never says in which mode
# kind: mistake
# breaks: masking, modes, values
# equals: decode-in-training-mode

import torch
from torch import nn


def greedy_decode(
    model: nn.Module, src: torch.Tensor, src_valid_len: torch.Tensor, num_steps: int, bos: int, eos: int
) -> list[list[int]]:
    sentences = [[] for _ in src]
    finished = torch.zeros(len(src), dtype=torch.bool, device=src.device)
    with torch.no_grad():
        memory = model.encoder(src, src_valid_len)
        state = model.decoder.init_state(memory, src_valid_len)
        token = torch.full((len(src), 1), bos, dtype=torch.long, device=src.device)
        while not finished.all() and num_steps > 0:
            num_steps -= 1
            logits, state = model.decoder(token, state)
            token = logits.argmax(-1)
            finished |= token[:, 0] == eos
            for s, t, f in zip(sentences, token[:, 0].tolist(), finished.tolist(), strict=True):
                if not f:
                    s.append(t)
    return sentences


# %% wrong_words_without_step_axis: after the first step the words have no axis of steps
# kind: mistake
# breaks: defaults, masking, modes, purity, values
# equals: nothing

import torch
from torch import nn


def greedy_decode(
    model: nn.Module, src: torch.Tensor, src_valid_len: torch.Tensor, num_steps: int, bos: int, eos: int
) -> list[list[int]]:
    B = src.shape[0]
    out = [[] for _ in range(B)]
    done = [False] * B
    model.eval()
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        x = torch.tensor([[bos]] * B, device=src.device)
        for step in range(num_steps):
            scores, state = model.decoder(x, state)
            x = scores[:, -1].argmax(dim=-1)
            for b, w in enumerate(x.tolist()):
                if w == eos:
                    done[b] = True
                if not done[b]:
                    out[b].append(w)
            if all(done):
                break
    return out
