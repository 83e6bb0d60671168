# %% right_rounds: a round drafts, calls the target once and verifies with draws made when needed
# kind: same

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(-1)
    return min(int((cdf <= u).sum()), int(probs.nonzero().max()))


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        start = tokens.numel()
        context, q = tokens, []
        for _ in range(num_draft):
            q.append(draft(context)[-1])
            context = torch.cat((context, context.new_tensor([sample_token(q[-1], uniform())])))
        p = target(context)[start - 1 :]
        for i in range(num_draft):
            x = context[start + i]
            if uniform() >= p[i, x] / q[i][x]:
                rest = (p[i] - q[i]).clamp(min=0)
                last = sample_token(rest / rest.sum(), uniform())
                break
        else:
            i = num_draft
            last = sample_token(p[-1], uniform())
        tokens = torch.cat((context[: start + i], context.new_tensor([last])))
    return tokens[:end]


# %% right_shorter_last_round: the last round drafts only what is still missing; one missing token needs no draft
# kind: same

import torch


def _pick(probs, u):
    edges = (probs / probs.sum()).cumsum(0)
    hit = (edges > u) & (probs > 0)
    return hit.nonzero()[0, 0] if hit.any() else probs.nonzero()[-1, 0]


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens, left = prompt, max_new_tokens
    while left > 0:
        k = min(num_draft, left - 1)
        n0 = len(tokens)
        rows = []
        for _ in range(k):
            row = draft(tokens)[-1]
            rows.append(row)
            tokens = torch.cat([tokens, _pick(row, uniform()).view(1)])
        probs = target(tokens)[n0 - 1 :]
        n = 0
        while n < k and uniform() * rows[n][tokens[n0 + n]] < probs[n, tokens[n0 + n]]:
            n += 1
        weights = probs[n] if n == k else torch.relu(probs[n] - rows[n])
        tokens = torch.cat([tokens[: n0 + n], _pick(weights, uniform()).view(1)])
        left -= n + 1
    return tokens if max_new_tokens > 0 else prompt.clone()


# %% right_with_verify_draft: all draws of a round in tensors, verification in a function of its own
# kind: same

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(-1)
    u = torch.as_tensor(u, dtype=cdf.dtype).unsqueeze(-1)
    token = torch.searchsorted(cdf, u, right=True).squeeze(-1)
    return torch.minimum(token, (probs > 0).long().cumsum(-1).argmax(-1))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    i = torch.arange(K)
    ratio = target_probs[i, draft_tokens] / draft_probs[i, draft_tokens]
    n = int((u_accept < ratio).long().cumprod(0).sum())
    row = target_probs[n]
    if n < K:
        row = (row - draft_probs[n]).clamp(min=0)
        row = row / row.sum()
    return torch.cat((draft_tokens[:n], sample_token(row, u_sample).view(1)))


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    out = prompt.clone()
    while out.numel() - prompt.numel() < max_new_tokens:
        guess = out.clone()
        for _ in range(num_draft):
            x = sample_token(draft(guess)[-1], uniform())
            guess = torch.cat((guess, x.view(1)))
        draft_probs = draft(guess[:-1])[-num_draft:]
        target_probs = target(guess)[-num_draft - 1 :]
        u_accept = torch.tensor([uniform() for _ in range(num_draft)], dtype=torch.float64)
        u_sample = torch.tensor(uniform(), dtype=torch.float64)
        new = verify_draft(target_probs, draft_probs, guess[out.numel() :], u_accept, u_sample)
        out = torch.cat((out, new))
    return out[: prompt.numel() + max_new_tokens]


# %% right_short_draft_context: the draft sees the last two tokens only
# kind: same

import torch


def _pick(probs, u):
    edges = probs.cumsum(0)
    return min(int((edges <= u * edges[-1]).sum()), int(probs.nonzero()[-1]))


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.tolist()
    goal = len(tokens) + max_new_tokens
    while len(tokens) < goal:
        q, guess = [], []
        for _ in range(num_draft):
            context = torch.tensor((tokens + guess)[-2:])
            q.append(draft(context)[-1])
            guess.append(_pick(q[-1], uniform()))
        p = target(torch.tensor(tokens + guess))[len(tokens) - 1 :]
        for row_p, row_q, x in zip(p, q, guess):
            if uniform() < row_p[x] / row_q[x]:
                tokens.append(x)
            else:
                tokens.append(_pick((row_p - row_q).clamp(min=0), uniform()))
                break
        else:
            tokens.append(_pick(p[-1], uniform()))
    return torch.tensor(tokens[:goal], dtype=prompt.dtype)


# %% right_recursive: one round, then the function again with what it wrote as the prompt
# kind: same

import torch


def _sample(weights, u):
    support = weights.nonzero().flatten()
    cdf = weights[support].cumsum(0)
    return support[(cdf <= u * cdf[-1]).sum().clamp(max=len(support) - 1)]


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    if max_new_tokens <= 0:
        return prompt[: prompt.numel() + max_new_tokens].clone()
    P = prompt.numel()
    guess = prompt
    q = []
    for _ in range(num_draft):
        q.append(draft(guess)[P - 1 + len(q)])
        guess = torch.cat((guess, _sample(q[-1], uniform())[None]))
    p = target(guess)
    n = 0
    for n, x in enumerate(guess[P:]):
        if not uniform() < p[P - 1 + n, x] / q[n][x]:
            weights = (p[P - 1 + n] - q[n]).clamp(min=0)
            break
    else:
        n, weights = num_draft, p[-1]
    longer = torch.cat((guess[: P + n], _sample(weights, uniform())[None]))
    return speculative_generate(target, draft, longer, max_new_tokens - n - 1, num_draft, uniform)


# %% right_buffer: one tensor of the full length plus room for a draft, and a position
# kind: same

import torch


def _choose(row, u):
    total = 0.0
    best = None
    for i, w in enumerate(row.tolist()):
        if w > 0:
            best, total = i, total + w
            if u < total:
                return i
    return best


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    P = prompt.size(0)
    buffer = torch.zeros(P + max_new_tokens + num_draft + 1, dtype=prompt.dtype)
    buffer[:P] = prompt
    pos = P
    while pos < P + max_new_tokens:
        q = None
        for j in range(num_draft):
            row = draft(buffer[: pos + j])[-1:]
            q = row if q is None else torch.cat((q, row))
            buffer[pos + j] = _choose(row[0], uniform())
        p = target(buffer[: pos + num_draft])[pos - 1 :]
        residual = p.clone()
        residual[:-1] -= q
        residual.clamp_(min=0)
        residual /= residual.sum(-1, keepdim=True).clamp(min=1e-300)
        j = 0
        while j < num_draft:
            x = buffer[pos + j]
            if uniform() >= min(1.0, float(p[j, x] / q[j, x])):
                break
            j += 1
        buffer[pos + j] = _choose(residual[j], uniform())
        pos += j + 1
    return buffer[: P + max_new_tokens].clone()


# %% right_generator: tokens from a generator that never ends, as many as were asked for
# kind: same

from itertools import islice

import torch


def _pick(p, u):
    cdf = torch.cumsum(p, 0)
    return min(int(torch.searchsorted(cdf, u, right=True)), int(p.nonzero()[-1]))


def _tokens(target, draft, prompt, num_draft, uniform):
    sequence = prompt.tolist()
    while True:
        guess, rows = list(sequence), []
        for _ in range(num_draft):
            rows.append(draft(torch.tensor(guess))[-1])
            guess.append(_pick(rows[-1], uniform()))
        p = target(torch.tensor(guess))
        position = len(sequence)
        for q in rows:
            x, here = guess[position], p[position - 1]
            if uniform() < here[x] / q[x]:
                sequence.append(x)
                yield x
                position += 1
            else:
                rest = torch.maximum(here - q, torch.zeros_like(q))
                x = _pick(rest / rest.sum(), uniform())
                break
        else:
            x = _pick(p[-1], uniform())
        sequence.append(x)
        yield x


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    new = list(islice(_tokens(target, draft, prompt, num_draft, uniform), max_new_tokens))
    return torch.cat((prompt, torch.tensor(new, dtype=prompt.dtype)))


# %% right_draft_of_what_is_missing: drafts at most the missing tokens and draws an extra one only if it is needed
# kind: same

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max())


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    result = prompt.clone()
    total = len(prompt) + max_new_tokens
    while len(result) < total:
        k = min(num_draft, total - len(result))
        candidate = result
        for _ in range(k):
            candidate = torch.cat((candidate, _sample(draft(candidate)[-1], uniform())[None]))
        q = draft(candidate[:-1])[len(result) - 1 :]
        p = target(candidate)[len(result) - 1 :]
        for i in range(k):
            x = candidate[len(result)]
            if uniform() >= p[i, x] / q[i, x]:
                result = torch.cat((result, _sample((p[i] - q[i]).clamp(min=0), uniform())[None]))
                break
            result = candidate[: len(result) + 1]
        else:
            if len(result) < total:
                result = torch.cat((result, _sample(p[k], uniform())[None]))
    return result


# %% wrong_no_extra_token: a full draft brings K tokens, and the target's last row is thrown away
# kind: mistake
# breaks: cost
# equals: spec-last-token-thrown-away

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() < p[i, x] / q[i][x]:
                tokens = torch.cat((tokens, x.view(1)))
            else:
                tokens = torch.cat((tokens, _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
    return tokens[:end]


# %% wrong_target_per_token: the target is called anew for each draft token
# kind: mistake
# breaks: cost
# equals: spec-target-call-per-guess

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        guess, q = tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        for row in q:
            p = target(tokens)[-1]
            x = guess[tokens.numel()]
            if uniform() < p[x] / row[x]:
                tokens = torch.cat((tokens, x.view(1)))
            else:
                tokens = torch.cat((tokens, _sample((p - row).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((tokens, _sample(target(tokens)[-1], uniform())))
    return tokens[:end]


# %% wrong_argmax_draft: the draft takes its most likely token, the verification divides by q
# kind: mistake
# breaks: values
# equals: spec-draft-most-likely

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, q[-1].argmax().view(1)))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_point_draft: the most likely draft token, judged as a sure one: the law holds, equal models reject
# kind: different
# breaks: cost
# equals: spec-sure-guesses

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess = tokens.numel(), tokens
        for _ in range(num_draft):
            guess = torch.cat((guess, draft(guess)[-1].argmax().view(1)))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x]:
                rest = p[i].clone()
                rest[x] = 0.0
                tokens = torch.cat((guess[: n + i], _sample(rest, uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_greedy_verification: draft tokens stay where the target's most likely token agrees
# kind: mistake
# breaks: values
# equals: spec-greedy-verdicts

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess = tokens.numel(), tokens
        for _ in range(num_draft):
            guess = torch.cat((guess, _sample(draft(guess)[-1], uniform())))
        choice = target(guess)[n - 1 :].argmax(-1)
        agree = (choice[:-1] == guess[n:]).long().cumprod(0).sum()
        tokens = torch.cat((guess[: n + agree], choice[agree].view(1)))
    return tokens[:end]


# %% wrong_target_rows_one_late: the target's rows begin after the first draft token, and the last is used twice
# kind: mistake
# breaks: values
# equals: spec-rows-too-late

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[-num_draft:]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_draft_rows_one_late: tokens are judged by the draft's rows after them
# kind: mistake
# breaks: values
# equals: spec-draft-rows-too-late

import torch


def _sample(p, u):
    p = p / p.sum() if p.sum() > 0 else torch.ones_like(p) / p.numel()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess = tokens.numel(), tokens
        for _ in range(num_draft):
            guess = torch.cat((guess, _sample(draft(guess)[-1], uniform())))
        q = draft(guess)[n:]
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i, x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_not_cut: the tokens of the last round beyond max_new_tokens are returned too
# kind: mistake
# breaks: shapes, values
# equals: spec-too-long

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    while tokens.numel() < prompt.numel() + max_new_tokens:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens


# %% wrong_without_prompt: only the new tokens are returned
# kind: mistake
# breaks: shapes, values
# equals: spec-without-prompt

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    new = prompt[:0]
    while new.numel() < max_new_tokens:
        guess, q = torch.cat((prompt, new)), []
        n = guess.numel()
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                guess = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            guess = torch.cat((guess, _sample(p[-1], uniform())))
        new = guess[prompt.numel() :]
    return new[:max_new_tokens]


# %% wrong_rejected_token_kept: the rejected token stays in front of its replacement
# kind: mistake
# breaks: values
# equals: spec-rejected-kept

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            tokens = torch.cat((tokens, x.view(1)))
            if uniform() >= p[i, x] / q[i][x]:
                tokens = torch.cat((tokens, _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((tokens, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_judged_after_rejection: a rejected token is replaced, and the rest of the draft is judged all the same
# kind: mistake
# breaks: values
# equals: spec-judged-after-rejection

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                guess[n + i] = _sample((p[i] - q[i]).clamp(min=0), uniform())
        tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_one_acceptance_draw: one draw judges all tokens of a round
# kind: mistake
# breaks: values
# equals: spec-one-verdict-draw

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        u = uniform()
        for i in range(num_draft):
            x = guess[n + i]
            if u >= p[i, x] / q[i][x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_draw_of_the_draft_again: the draw that chose a token also judges it
# kind: mistake
# breaks: values
# equals: spec-one-draw-for-guess-and-verdict

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        u = [uniform() for _ in range(num_draft)]
        for i in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], u[i])))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if u[i] >= p[i, x] / q[i][x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_target_alone: one token a call, the draft is never used
# kind: mistake
# breaks: cost
# equals: spec-no-draft

import torch


def _sample(p, u):
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    for _ in range(max_new_tokens):
        tokens = torch.cat((tokens, _sample(target(tokens)[-1], uniform())))
    return tokens


# %% wrong_resampled_from_target: the token after a rejection comes from p
# kind: mistake
# breaks: values
# equals: spec-from-target-again

import torch


def _sample(p, u):
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        accepted = 0
        while accepted < num_draft:
            x = guess[n + accepted]
            if uniform() >= p[accepted, x] / q[accepted][x]:
                break
            accepted += 1
        tokens = torch.cat((guess[: n + accepted], _sample(p[accepted], uniform())))
    return tokens[:end]


# %% wrong_extra_token_from_draft: after a full draft the draft model adds the last token
# kind: mistake
# breaks: values
# equals: spec-extra-from-draft

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(draft(guess)[-1], uniform())))
    return tokens[:end]


# %% wrong_rounds_counted: max_new_tokens rounds, then cut to the length: the calls are too many
# kind: mistake
# breaks: cost
# equals: spec-round-for-each-token

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    for _ in range(max_new_tokens):
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[: prompt.numel() + max_new_tokens]


# %% wrong_torch_rand: draws of torch, uniform is never called
# kind: different
# breaks: values
# equals: spec-own-draws

import torch


def _sample(p):
    return torch.multinomial(p / p.sum(), 1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform=None):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1])))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if torch.rand(()) >= p[i, x] / q[i][x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0))))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1])))
    return tokens[:end]


# %% wrong_draft_from_one_row: all draft tokens come from one row and are judged by it: the law holds, fewer are accepted
# kind: mistake
# breaks: cost
# equals: spec-guesses-judged-by-one-row

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n = tokens.numel()
        q = draft(tokens)[-1]
        guess = torch.cat([tokens] + [_sample(q, uniform()) for _ in range(num_draft)])
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_whole_draft_or_nothing: the product of the ratios accepts the draft as a whole
# kind: mistake
# breaks: values
# equals: spec-whole-round-or-nothing

import torch


def _sample(p, u):
    p = p / p.sum() if p.sum() > 0 else torch.ones_like(p) / p.numel()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        ratio = 1.0
        for i in range(num_draft):
            ratio = ratio * p[i, guess[n + i]] / q[i][guess[n + i]]
        if uniform() < ratio:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
        else:
            tokens = torch.cat((tokens, _sample((p[0] - q[0]).clamp(min=0), uniform())))
    return tokens[:end]


# %% wrong_growing_draft: begins with one draft token, two more after a full draft, one less after a rejection
# kind: different
# breaks: cost
# equals: spec-fewer-guesses

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    k = 1
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(k):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(k):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                k = max(1, k - 1)
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
            k = min(num_draft, k + 2)
    return tokens[:end]


# %% wrong_rejection_ends_the_round: no token after a rejection: the next round drafts again from there
# kind: mistake
# breaks: values
# equals: spec-nothing-for-the-rejected

import torch


def _sample(p, u):
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                tokens = guess[: n + i]
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_prompt_resized: the prompt itself is made longer and filled
# kind: mistake
# breaks: purity
# equals: nothing

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max())


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    n = prompt.numel()
    end = n + max_new_tokens
    tokens = prompt.resize_(end + num_draft + 1)
    while n < end:
        q = []
        for i in range(num_draft):
            q.append(draft(tokens[: n + i])[-1])
            tokens[n + i] = _sample(q[i], uniform())
        p = target(tokens[: n + num_draft])[n - 1 :]
        accepted = 0
        while accepted < num_draft:
            x = tokens[n + accepted]
            if uniform() >= p[accepted, x] / q[accepted][x]:
                break
            accepted += 1
        rest = p[accepted]
        if accepted < num_draft:
            rest = (rest - q[accepted]).clamp(min=0)
        tokens[n + accepted] = _sample(rest, uniform())
        n += accepted + 1
    return tokens[:end]


# %% right_target_rows_changed: q is subtracted inside the rows that the target returned for this call
# kind: same

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while tokens.numel() < end:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                rest = p[i].sub_(q[i]).clamp_(min=0)
                tokens = torch.cat((guess[: n + i], _sample(rest, uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
    return tokens[:end]


# %% wrong_round_for_nothing: a round is run before the length is looked at: max_new_tokens = 0 calls the models
# kind: mistake
# breaks: defaults
# equals: spec-at-least-one-round

import torch


def _sample(p, u):
    p = p / p.sum()
    return torch.minimum((p.cumsum(0) <= u).sum(), p.nonzero().max()).view(1)


def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens = prompt.clone()
    end = prompt.numel() + max_new_tokens
    while True:
        n, guess, q = tokens.numel(), tokens, []
        for _ in range(num_draft):
            q.append(draft(guess)[-1])
            guess = torch.cat((guess, _sample(q[-1], uniform())))
        p = target(guess)[n - 1 :]
        for i in range(num_draft):
            x = guess[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                tokens = torch.cat((guess[: n + i], _sample((p[i] - q[i]).clamp(min=0), uniform())))
                break
        else:
            tokens = torch.cat((guess, _sample(p[-1], uniform())))
        if tokens.numel() >= end:
            return tokens[:end]
