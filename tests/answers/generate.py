# %% right_split_pieces: torch.split, argmax at the end of each call
# kind: same

import torch

from grader.given import KVCache


def generate(model, prompt, max_new_tokens, chunk_size=None):
    if max_new_tokens == 0:
        return prompt.clone()
    P = prompt.size(1)
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    with torch.no_grad():
        for piece in prompt.split(chunk_size or P, dim=1):
            logits = model(piece, caches)
        words = [prompt]
        for i in range(max_new_tokens):
            words.append(logits[:, -1:].argmax(dim=-1))
            if i + 1 < max_new_tokens:
                logits = model(words[-1], caches)
    return torch.cat(words, dim=1)


# %% right_queue: a queue of pieces that still have to be read
# kind: same

from collections import deque

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    B, P = prompt.shape
    text = prompt.new_zeros(B, P + max_new_tokens)
    text[:, :P] = prompt
    step = P if chunk_size is None else chunk_size
    todo = deque((a, min(a + step, P)) for a in range(0, P, step))
    caches = []
    for _ in range(model.num_layers):
        caches.append(KVCache(max_len=text.size(1)))
    written = P
    while written < text.size(1):
        start, stop = todo.popleft()
        logits = model(text[:, start:stop], caches)
        if not todo:
            text[:, written] = logits[:, -1].max(dim=-1).indices
            todo.append((written, written + 1))
            written += 1
    return text


# %% right_generator: a Python generator that yields columns
# kind: same

import itertools

import torch

from grader.given import KVCache


def columns(model, prompt, room, size):
    caches = [KVCache(room) for _ in range(model.num_layers)]
    for start in range(0, prompt.shape[1], size):
        best = model(prompt[:, start : start + size], caches)[:, -1].topk(1, dim=-1).indices
    while True:
        yield best
        best = model(best, caches)[:, -1].topk(1, dim=-1).indices


def generate(model, prompt, max_new_tokens, chunk_size=None):
    size = prompt.shape[1] if chunk_size is None else chunk_size
    with torch.no_grad():
        source = columns(model, prompt, prompt.shape[1] + max_new_tokens, size)
        return torch.cat([prompt, *itertools.islice(source, max_new_tokens)], dim=1)


# %% wrong_one_cache_for_all: [cache] * num_layers
# kind: mistake
# breaks: purity, values
# equals: gen-one-cache

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    if max_new_tokens == 0:
        return prompt
    caches = [KVCache((prompt.size(1) + max_new_tokens) * model.num_layers)] * model.num_layers
    for piece in prompt.split(chunk_size or prompt.size(1), dim=1):
        logits = model(piece, caches)
    out = torch.cat((prompt, logits[:, -1:].argmax(-1)), 1)
    for _ in range(max_new_tokens - 1):
        logits = model(out[:, -1:], caches)
        out = torch.cat((out, logits[:, -1:].argmax(-1)), 1)
    return out


# %% wrong_new_tokens_only: returns the new tokens without the prompt
# kind: different
# breaks: defaults, purity, shapes, values
# equals: gen-without-prompt

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    if max_new_tokens == 0:
        return prompt[:, prompt.size(1) :]
    n = prompt.size(1)
    caches = [KVCache(n + max_new_tokens) for _ in range(model.num_layers)]
    for i in range(0, n, chunk_size or n):
        logits = model(prompt[:, i : i + (chunk_size or n)], caches)
    new = [logits[:, -1].argmax(-1)]
    while len(new) < max_new_tokens:
        new.append(model(new[-1].unsqueeze(1), caches)[:, -1].argmax(-1))
    return torch.stack(new, dim=1)


# %% wrong_last_token_fed: the last new token is fed as well
# kind: mistake
# breaks: cost
# equals: gen-one-call-too-many

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    if max_new_tokens == 0:
        return prompt
    P = prompt.shape[1]
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    size = chunk_size if chunk_size is not None else P
    for start in range(0, P, size):
        logits = model(prompt[:, start : start + size], caches)
    tokens = prompt
    for _ in range(max_new_tokens):
        nxt = logits[:, -1, :].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, nxt], dim=1)
        logits = model(nxt, caches)
    return tokens


# %% wrong_prompt_fed_again: the whole text goes into the filled caches in every step
# kind: mistake
# breaks: cost, purity, values
# equals: gen-whole-text-again

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    caches = [KVCache(10_000) for _ in range(model.num_layers)]
    tokens = prompt
    for _ in range(max_new_tokens):
        for piece in tokens.split(chunk_size or tokens.size(1), dim=1):
            logits = model(piece, caches)
        tokens = torch.cat((tokens, logits[:, -1:].argmax(-1)), dim=1)
    return tokens


# %% wrong_fresh_caches: new caches and the whole text in every step
# kind: mistake
# breaks: cost, purity, values
# equals: gen-fresh-caches

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    text = prompt.clone()
    for _ in range(max_new_tokens):
        caches = [KVCache(text.size(1)) for _ in range(model.num_layers)]
        for piece in text.split(chunk_size or text.size(1), dim=1):
            logits = model(piece, caches)
        text = torch.cat((text, logits[:, -1].argmax(-1)[:, None]), dim=1)
    return text


# %% wrong_chunks_ignored: the prompt is read at once, whatever chunk_size says
# kind: mistake
# breaks: cost, values
# equals: gen-chunk-ignored

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    caches = [KVCache(prompt.size(1) + max_new_tokens) for _ in range(model.num_layers)]
    out, feed = [prompt], prompt
    for _ in range(max_new_tokens):
        feed = model(feed, caches)[:, -1].argmax(-1, keepdim=True)
        out.append(feed)
    return torch.cat(out, 1)


# %% wrong_rest_of_the_prompt_lost: the last, shorter piece is never read
# kind: mistake
# breaks: cost, values
# equals: gen-remainder-dropped

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    if max_new_tokens == 0:
        return prompt
    P = prompt.size(1)
    size = min(chunk_size or P, P)
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    for i in range(P // size):
        logits = model(prompt[:, i * size : (i + 1) * size], caches)
    result = [prompt]
    for i in range(max_new_tokens):
        result.append(logits[:, -1:].argmax(-1))
        if i < max_new_tokens - 1:
            logits = model(result[-1], caches)
    return torch.cat(result, dim=1)


# %% wrong_first_position: argmax of the logits at position 0
# kind: mistake
# breaks: purity, values
# equals: gen-first-token

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    if max_new_tokens == 0:
        return prompt
    caches = [KVCache(prompt.size(1) + max_new_tokens) for _ in range(model.num_layers)]
    for piece in prompt.split(chunk_size or prompt.size(1), dim=1):
        logits = model(piece, caches)
    tokens = prompt
    for i in range(max_new_tokens):
        tokens = torch.cat((tokens, logits[:, 0].argmax(-1).unsqueeze(-1)), dim=1)
        if i < max_new_tokens - 1:
            logits = model(tokens[:, -1:], caches)
    return tokens


# %% wrong_at_least_one: max_new_tokens=0 still writes a token
# kind: mistake
# breaks: defaults
# equals: gen-at-least-one

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    caches = [KVCache(prompt.size(1) + max_new_tokens) for _ in range(model.num_layers)]
    for piece in prompt.split(chunk_size or prompt.size(1), dim=1):
        logits = model(piece, caches)
    tokens = torch.cat((prompt, logits[:, -1:].argmax(-1)), dim=1)
    for _ in range(1, max_new_tokens):
        logits = model(tokens[:, -1:], caches)
        tokens = torch.cat((tokens, logits[:, -1:].argmax(-1)), dim=1)
    return tokens


# %% wrong_sampled: draws the next token instead of the most likely one
# kind: mistake
# breaks: purity, values

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    caches = [KVCache(prompt.size(1) + max_new_tokens) for _ in range(model.num_layers)]
    if max_new_tokens < 1:
        return prompt
    for piece in prompt.split(chunk_size or prompt.size(1), dim=1):
        logits = model(piece, caches)
    tokens = prompt
    while True:
        new = torch.multinomial(logits[:, -1].softmax(-1), 1)
        tokens = torch.cat((tokens, new), dim=1)
        max_new_tokens -= 1
        if max_new_tokens == 0:
            return tokens
        logits = model(new, caches)


# %% wrong_eval_left_on: calls model.eval() and leaves it there
# kind: mistake
# breaks: modes
# equals: gen-mode-changed

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    model.eval()
    if not max_new_tokens:
        return prompt
    caches = [KVCache(prompt.size(1) + max_new_tokens) for _ in range(model.num_layers)]
    for piece in torch.split(prompt, chunk_size or prompt.size(1), 1):
        logits = model(piece, caches)
    new = [logits[:, -1:].argmax(2)]
    for _ in range(max_new_tokens - 1):
        new.append(model(new[-1], caches)[:, -1:].argmax(2))
    return torch.cat([prompt] + new, 1)


# %% wrong_last_prompt_token_twice: the prompt is read, then its last token is fed again for the first word
# kind: mistake
# breaks: cost, purity, values
# equals: gen-prompt-end-twice

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    if max_new_tokens == 0:
        return prompt
    P = prompt.size(1)
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    for start in range(0, P, chunk_size or P):
        model(prompt[:, start : start + (chunk_size or P)], caches)
    tokens = prompt
    for _ in range(max_new_tokens):
        logits = model(tokens[:, -1:], caches)
        tokens = torch.cat((tokens, logits.argmax(-1)), dim=1)
    return tokens


# %% wrong_small_caches_and_first_row: the caches have room for the prompt only, and all rows follow the first
# kind: mistake
# breaks: shapes, values

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    if max_new_tokens == 0:
        return prompt
    caches = [KVCache(prompt.size(1)) for _ in range(model.num_layers)]
    for piece in prompt.split(chunk_size or prompt.size(1), dim=1):
        logits = model(piece, caches)
    tokens = prompt
    for i in range(max_new_tokens):
        new = logits[0, -1].argmax().expand(prompt.size(0), 1)
        tokens = torch.cat((tokens, new), dim=1)
        if i < max_new_tokens - 1:
            logits = model(new, caches)
    return tokens


# %% wrong_one_chunk_only: only the first chunk of the prompt is read in a piece, then one token a call
# kind: mistake
# breaks: cost

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    P = prompt.size(1)
    tokens = prompt
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    read, size = 0, P if chunk_size is None else chunk_size
    while tokens.size(1) < P + max_new_tokens:
        logits = model(tokens[:, read : read + size], caches)
        read = min(read + size, tokens.size(1))
        size = 1
        if read == tokens.size(1):
            tokens = torch.cat((tokens, logits[:, -1:].argmax(-1)), dim=1)
    return tokens


# %% wrong_one_column_early: the new tokens are written one column too early
# kind: mistake
# breaks: purity, values

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    P = prompt.size(1)
    text = torch.cat((prompt, prompt.new_zeros(prompt.size(0), max_new_tokens)), dim=1)
    if max_new_tokens == 0:
        return text
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    for piece in prompt.split(chunk_size or P, dim=1):
        logits = model(piece, caches)
    for i in range(P - 1, P - 1 + max_new_tokens):
        text[:, i] = logits[:, -1].argmax(-1)
        if i < P + max_new_tokens - 2:
            logits = model(text[:, i : i + 1], caches)
    return text


# %% wrong_one_cache_exact_room: [cache] * num_layers, with room for one layer
# kind: mistake
# breaks: purity, values
# equals: gen-one-cache

import torch

from grader.given import KVCache


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    if not max_new_tokens:
        return prompt
    P = prompt.size(1)
    caches = [KVCache(P + max_new_tokens)] * model.num_layers
    for a in range(0, P, chunk_size or P):
        logits = model(prompt[:, a : a + (chunk_size or P)], caches)
    text = torch.cat((prompt, logits[:, -1:].argmax(-1)), 1)
    while text.size(1) < P + max_new_tokens:
        text = torch.cat((text, model(text[:, -1:], caches)[:, -1:].argmax(-1)), 1)
    return text


# %% wrong_whole_text_exact_room: the whole text is fed again, its own cache fills, and its error is its own
# kind: mistake
# breaks: cost, purity, values
# equals: gen-whole-text-again

import torch


class KVCache:
    def __init__(self, max_len):
        self.room, self.k, self.v = max_len, None, None

    @property
    def length(self):
        return 0 if self.k is None else self.k.size(2)

    def append(self, keys, values):
        if self.length + keys.size(2) > self.room:
            raise ValueError("no room")
        self.k = keys if self.k is None else torch.cat((self.k, keys), 2)
        self.v = values if self.v is None else torch.cat((self.v, values), 2)
        return self.k, self.v

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("no such length")
        if self.k is not None:
            self.k, self.v = self.k[:, :, :length], self.v[:, :, :length]


@torch.no_grad()
def generate(model, prompt, max_new_tokens, chunk_size=None):
    if not max_new_tokens:
        return prompt
    P = prompt.size(1)
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    for a in range(0, P, chunk_size or P):
        logits = model(prompt[:, a : a + (chunk_size or P)], caches)
    text = torch.cat((prompt, logits[:, -1:].argmax(-1)), 1)
    while text.size(1) < P + max_new_tokens:
        text = torch.cat((text, model(text, caches)[:, -1:].argmax(-1)), 1)
    return text
