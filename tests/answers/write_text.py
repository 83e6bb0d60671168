# %% right_given_parts: filter and sampler of lesson 16, one row of logits at a time
# kind: same

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    if max_new_tokens == 0:
        return prompt
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text, fed = prompt, prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            new = logits.argmax(dim=-1)
        else:
            logits = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p)
            probs = torch.softmax(logits, dim=-1)
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64, device=prompt.device)
            new = sample_token(probs, u)
        fed = new[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% right_filled_table: a table that is filled, rows sampled one after the other with a float
# kind: same

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


def choose(row, uniform, temperature, top_k, top_p):
    if temperature == 0:
        return int(torch.argmax(row))
    row = top_k_top_p_filtering(row / temperature, top_k=top_k, top_p=top_p)
    return int(sample_token(row.double().softmax(-1), torch.tensor(uniform(), dtype=torch.float64)))


def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    text = torch.zeros(B, P + max_new_tokens, dtype=prompt.dtype, device=prompt.device)
    text[:, :P] = prompt
    caches = []
    for _ in range(model.num_layers):
        caches.append(KVCache(P + max_new_tokens))
    start = 0
    with torch.no_grad():
        for end in range(P, P + max_new_tokens):
            logits = model(text[:, start:end], caches)
            for b in range(B):
                text[b, end] = choose(logits[b, -1], uniform, temperature, top_k, top_p)
            start = end
    return text


# %% right_by_hand: filters and sampling written here, with sorted probabilities and searchsorted
# kind: same

import torch

from grader.given import KVCache


def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    mode = model.training
    model.eval()
    words = [prompt]
    caches = [KVCache(prompt.size(1) + max_new_tokens) for _ in range(model.num_layers)]
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(words[-1], caches)[:, -1, :].double()
            if temperature == 0:
                words.append(logits.argmax(-1, keepdim=True))
                continue
            logits = logits / temperature
            if 0 < top_k < logits.size(-1):
                least = logits.topk(top_k).values[:, -1:]
                logits = logits.masked_fill(logits < least, float("-inf"))
            probs = logits.softmax(-1)
            if top_p < 1:
                ordered, order = probs.sort(dim=-1, descending=True)
                before = ordered.cumsum(-1) - ordered
                drop = before >= top_p
                drop[:, 0] = False
                probs = probs.scatter(-1, order, ordered.masked_fill(drop, 0.0))
                probs = probs / probs.sum(-1, keepdim=True)
            edges = probs.cumsum(-1)
            u = torch.tensor([[uniform()] for _ in range(len(prompt))], dtype=edges.dtype, device=edges.device)
            new = torch.searchsorted(edges, u * edges[:, -1:], right=True)
            last = probs.size(-1) - 1 - (probs > 0).flip(-1).int().argmax(-1, keepdim=True)
            words.append(torch.minimum(new, last))
    model.train(mode)
    return torch.cat(words, dim=1)


# %% right_picker_chosen_once: the rule for the next word is made before the loop, inference_mode
# kind: same

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    def greedy(logits):
        return logits.max(dim=-1).indices

    def sampled(logits):
        kept = top_k_top_p_filtering(logits.div(temperature), top_k=top_k, top_p=top_p)
        draws = [uniform() for _ in logits]
        return sample_token(kept.softmax(dim=-1), kept.new_tensor(draws, dtype=torch.float64))

    pick = sampled if temperature > 0 else greedy
    text = prompt.clone()
    if max_new_tokens < 1:
        return text
    with torch.no_grad():
        caches = [KVCache(text.size(1) + max_new_tokens - 1) for _ in range(model.num_layers)]
        logits = model(text, caches)
        while True:
            new = pick(logits[:, -1]).unsqueeze(1)
            text = torch.cat([text, new], dim=1)
            if text.size(1) == prompt.size(1) + max_new_tokens:
                return text
            logits = model(new, caches)


# %% right_prompt_in_two_parts: the prompt but its last token is read first; a generator yields columns
# kind: same

from itertools import islice

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


def columns(model, prompt, room, uniform, temperature, top_k, top_p):
    caches = [KVCache(room) for _ in range(model.num_layers)]
    if prompt.size(1) > 1:
        model(prompt[:, :-1], caches)
    word = prompt[:, -1:]
    while True:
        scores = model(word, caches).squeeze(1)
        if temperature == 0:
            word = scores.topk(1).indices
        else:
            scores = top_k_top_p_filtering(scores / temperature, top_k=top_k, top_p=top_p)
            u = torch.tensor([uniform() for _ in range(scores.size(0))], dtype=torch.float64).to(scores.device)
            word = sample_token(torch.softmax(scores.double(), -1), u).view(-1, 1)
        yield word


def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    with torch.no_grad():
        source = columns(model, prompt, prompt.size(1) + max_new_tokens, uniform, temperature, top_k, top_p)
        return torch.cat([prompt, *islice(source, max_new_tokens)], dim=1)


# %% wrong_temperature_last: temperature divides what the filters have left
# kind: mistake
# breaks: values
# equals: wt-temperature-after-cut

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            logits = top_k_top_p_filtering(logits, top_k=top_k, top_p=top_p) / temperature
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
            fed = sample_token(logits.softmax(-1), u)[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_one_draw_for_all_rows: a draw a step, which all rows share
# kind: mistake
# breaks: values
# equals: wt-one-draw-a-batch

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            fed = sample_token(probs, torch.full((B,), uniform(), dtype=torch.float64))[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_draws_row_by_row: all draws are taken in advance, those of the first row first
# kind: mistake
# breaks: values
# equals: wt-row-after-row

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    if temperature > 0:
        draws = torch.tensor([[uniform() for _ in range(max_new_tokens)] for _ in range(B)], dtype=torch.float64)
    text = fed = prompt
    for i in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            fed = sample_token(probs, draws[:, i])[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_greedy_draws_too: temperature 0 chooses the most likely token, but takes draws all the same
# kind: mistake
# breaks: values
# equals: wt-greedy-draws

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    if temperature == 0:
        temperature, top_k = 1.0, 1
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
        u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
        fed = sample_token(probs, u)[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_divides_by_zero: temperature 0 is a division like any other
# kind: mistake
# breaks: values
# equals: wt-temperature-zero-divides

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1] / temperature
        probs = top_k_top_p_filtering(logits, top_k=top_k, top_p=top_p).softmax(-1)
        u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
        fed = sample_token(probs, u).clamp(0, logits.size(-1) - 1)[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_times_temperature: logits times the temperature
# kind: mistake
# breaks: values
# equals: wt-temperature-multiplied

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    words = [prompt]
    for _ in range(max_new_tokens):
        logits = model(words[-1], caches)[:, -1]
        if temperature == 0:
            words.append(logits.argmax(dim=-1, keepdim=True))
            continue
        kept = top_k_top_p_filtering(logits * temperature, top_k=top_k, top_p=top_p)
        u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
        words.append(sample_token(kept.softmax(-1), u)[:, None])
    return torch.cat(words, dim=1)


# %% wrong_top_p_before_top_k: top-p is applied first, top-k to what is left
# kind: different
# breaks: values
# equals: wt-top-p-first

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    words = [prompt]
    for _ in range(max_new_tokens):
        logits = model(words[-1], caches)[:, -1]
        if temperature == 0:
            words.append(logits.argmax(dim=-1, keepdim=True))
            continue
        kept = top_k_top_p_filtering(logits / temperature, top_k=0, top_p=top_p)
        kept = top_k_top_p_filtering(kept, top_k=top_k, top_p=1.0)
        u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
        words.append(sample_token(kept.softmax(-1), u)[:, None])
    return torch.cat(words, dim=1)


# %% wrong_probabilities_filtered: softmax comes first, and probabilities are filtered as if they were logits
# kind: mistake
# breaks: values
# equals: wt-probabilities-cut

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            probs = torch.softmax(logits / temperature, dim=-1)
            probs = top_k_top_p_filtering(probs, top_k=top_k, top_p=top_p).clamp(min=0)
            probs = probs / probs.sum(-1, keepdim=True)
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
            fed = sample_token(probs, u)[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_filters_forgotten: top_k and top_p are arguments that nobody reads
# kind: mistake
# breaks: values
# equals: wt-no-cut

import torch

from grader.given import KVCache, sample_token


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
            fed = sample_token((logits / temperature).softmax(-1), u)[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_last_token_fed: the model is called once more after the last token
# kind: mistake
# breaks: cost
# equals: wt-one-call-too-many

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    if max_new_tokens == 0:
        return prompt
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = prompt
    logits = model(prompt, caches)
    for _ in range(max_new_tokens):
        last = logits[:, -1]
        if temperature == 0:
            new = last.argmax(dim=-1, keepdim=True)
        else:
            probs = top_k_top_p_filtering(last / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
            new = sample_token(probs, u)[:, None]
        text = torch.cat((text, new), dim=1)
        logits = model(new, caches)
    return text


# %% wrong_no_caches: the whole text is read again for every token
# kind: mistake
# breaks: cost
# equals: wt-new-caches-each-step

import torch

from grader.given import sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    text = prompt
    for _ in range(max_new_tokens):
        logits = model(text)[:, -1]
        if temperature == 0:
            new = logits.argmax(dim=-1)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            new = sample_token(probs, torch.tensor([uniform() for _ in text], dtype=torch.float64))
        text = torch.cat((text, new.unsqueeze(1)), dim=1)
    return text


# %% wrong_whole_text_into_caches: the whole text goes into filled caches in every step
# kind: mistake
# breaks: cost, values
# equals: wt-whole-text-again

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    caches = [KVCache(100_000) for _ in range(model.num_layers)]
    text = prompt
    for _ in range(max_new_tokens):
        logits = model(text, caches)[:, -1]
        if temperature == 0:
            new = logits.argmax(dim=-1)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            new = sample_token(probs, torch.tensor([uniform() for _ in text], dtype=torch.float64))
        text = torch.cat((text, new.unsqueeze(1)), dim=1)
    return text


# %% wrong_one_cache_for_all: [KVCache(...)] * num_layers
# kind: mistake
# breaks: values
# equals: wt-one-cache

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache((P + max_new_tokens) * model.num_layers)] * model.num_layers
    text = fed = prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            fed = sample_token(probs, torch.tensor([uniform() for _ in range(B)], dtype=torch.float64))[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_eval_left_on: calls model.eval() and leaves it so
# kind: mistake
# breaks: modes
# equals: wt-evaluation-mode

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    model.eval()
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
            fed = sample_token(probs, u)[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_train_left_on: evaluation while writing, then always train(), whatever the mode was
# kind: mistake
# breaks: modes
# equals: wt-training-mode

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    model.eval()
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    words = [prompt]
    for _ in range(max_new_tokens):
        logits = model(words[-1], caches)[:, -1]
        if temperature == 0:
            words.append(logits.argmax(dim=-1, keepdim=True))
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
            words.append(sample_token(probs, u).view(B, 1))
    model.train()
    return torch.cat(words, dim=1)


# %% wrong_gradients_on: the graph of all steps is recorded
# kind: mistake
# breaks: cost
# equals: wt-gradients-recorded

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
            fed = sample_token(probs.detach(), u)[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_new_tokens_only: returns what is new, without the prompt
# kind: different
# breaks: shapes, values
# equals: wt-without-prompt

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    new, fed = [prompt[:, :0]], prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
            fed = sample_token(probs, u)[:, None]
        new.append(fed)
    return torch.cat(new, dim=1)


# %% wrong_at_least_one: max_new_tokens=0 still writes a token
# kind: mistake
# breaks: defaults
# equals: wt-at-least-one

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]

    def next_column(tokens):
        logits = model(tokens, caches)[:, -1]
        if temperature == 0:
            return logits.argmax(dim=-1, keepdim=True)
        probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
        u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
        return sample_token(probs, u)[:, None]

    new = next_column(prompt)
    text = torch.cat((prompt, new), dim=1)
    for _ in range(max_new_tokens - 1):
        new = next_column(new)
        text = torch.cat((text, new), dim=1)
    return text


# %% wrong_multinomial: torch.multinomial draws, and uniform is never called
# kind: different
# breaks: values
# equals: nothing

import torch

from grader.given import KVCache, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            fed = torch.multinomial(probs, num_samples=1)
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_first_position: logits of the first position
# kind: mistake
# breaks: values
# equals: wt-first-token

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, 0]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
            fed = sample_token(probs, u)[:, None]
        text = torch.cat((text, fed), dim=1)
    return text


# %% wrong_stops_when_all_rows_have_an_empty_line: writing ends with the verse, so the text may be too short
# kind: different
# breaks: shapes, values
# equals: wt-stops-at-empty-line

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
    text = fed = prompt
    ended = torch.zeros(B, dtype=torch.bool, device=prompt.device)
    for _ in range(max_new_tokens):
        logits = model(fed, caches)[:, -1]
        if temperature == 0:
            fed = logits.argmax(dim=-1, keepdim=True)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            u = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64)
            fed = sample_token(probs, u)[:, None]
        text = torch.cat((text, fed), dim=1)
        ended |= (text[:, -2:] == 0).all(dim=1)
        if ended.all():
            break
    return text


# %% wrong_prompt_read_twice: the prompt is read, then its last token is fed again
# kind: mistake
# breaks: cost, values
# equals: wt-prompt-read-twice

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering


@torch.no_grad()
def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
    if max_new_tokens == 0:
        return prompt
    B, P = prompt.shape
    caches = [KVCache(P + max_new_tokens + 1) for _ in range(model.num_layers)]
    model(prompt, caches)
    text = prompt
    for _ in range(max_new_tokens):
        logits = model(text[:, -1:], caches)[:, -1]
        if temperature == 0:
            new = logits.argmax(dim=-1)
        else:
            probs = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p).softmax(-1)
            new = sample_token(probs, torch.tensor([uniform() for _ in range(B)], dtype=torch.float64))
        text = torch.cat((text, new[:, None]), dim=1)
    return text
