# %% right_loop: one draft token after the other, a return at the first rejection
# kind: same

import torch


def _sample(probs, u):
    cdf = probs.double().cumsum(-1)
    token = int((cdf <= float(u)).sum())
    return min(token, int(probs.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    accepted = []
    for i, x in enumerate(draft_tokens.tolist()):
        p, q = target_probs[i], draft_probs[i]
        if u_accept[i] < p[x] / q[x]:
            accepted.append(x)
            continue
        residual = (p - q).clamp(min=0)
        accepted.append(_sample(residual / residual.sum(), u_sample))
        return torch.tensor(accepted, dtype=torch.int64, device=draft_tokens.device)
    accepted.append(_sample(target_probs[len(draft_tokens)], u_sample))
    return torch.tensor(accepted, dtype=torch.int64, device=draft_tokens.device)


# %% right_cumprod: all acceptances at once, the length by a running product
# kind: same

import torch


def sample_token(probs, u):
    cdf = probs.cumsum(-1, dtype=torch.float64)
    token = torch.searchsorted(cdf, torch.as_tensor(u, dtype=cdf.dtype, device=cdf.device).view(1), right=True)
    return token.clamp(max=probs.nonzero()[-1, 0])


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    p = target_probs[:K].gather(1, draft_tokens[:, None]).squeeze(1)
    q = draft_probs.gather(1, draft_tokens[:, None]).squeeze(1)
    n = int((u_accept < p / q).long().cumprod(0).sum())
    row = target_probs[n]
    if n < K:
        row = torch.relu(row - draft_probs[n])
        row = row / row.sum()
    return torch.cat((draft_tokens[:n], sample_token(row, u_sample)))


# %% right_zero_row: the draft gets a row of zeros, so that the last row needs no case of its own
# kind: same

import torch
import torch.nn.functional as F


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.size(0)
    i = torch.arange(K, device=draft_tokens.device)
    ok = u_accept * draft_probs[i, draft_tokens] < target_probs[i, draft_tokens]
    n = int(F.pad(ok.long(), (0, 1)).argmin())
    rest = (target_probs[n] - F.pad(draft_probs, (0, 0, 0, 1))[n]).clamp_min(0).double()
    edges = rest.cumsum(0)
    hit = (edges > u_sample * edges[-1]) & (rest > 0)
    return torch.cat((draft_tokens[:n], hit.long().argmax().unsqueeze(0)))


# %% right_logarithms: the ratio as a difference of logarithms
# kind: same

import torch


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = len(draft_tokens)
    rows = torch.arange(K, device=draft_tokens.device)
    log_ratio = target_probs[rows, draft_tokens].log() - draft_probs[rows, draft_tokens].log()
    rejected = torch.nonzero(~(u_accept.log() < log_ratio)).flatten()
    if rejected.numel() == 0:
        n, weights = K, target_probs[K]
    else:
        n = rejected[0].item()
        weights = torch.maximum(target_probs[n] - draft_probs[n], torch.zeros_like(draft_probs[n]))
    support = weights.nonzero().flatten()
    cdf = weights[support].double().cumsum(0)
    place = (cdf / cdf[-1] <= u_sample).sum().clamp(max=support.numel() - 1)
    return torch.cat((draft_tokens[:n], support[place].reshape(1)))


# %% right_recursive: the first token, then the rest of the draft
# kind: same

import torch


def _draw(p, u):
    p = p / p.sum()
    inside = (p > 0) & (p.double().cumsum(0) > u)
    if not inside.any():
        return p.nonzero()[-1]
    return inside.nonzero()[0]


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    if draft_tokens.numel() == 0:
        return _draw(target_probs[0], u_sample)
    x = draft_tokens[0]
    if u_accept[0] >= target_probs[0, x] / draft_probs[0, x]:
        return _draw((target_probs[0] - draft_probs[0]).clamp(min=0), u_sample)
    tail = verify_draft(target_probs[1:], draft_probs[1:], draft_tokens[1:], u_accept[1:], u_sample)
    return torch.cat((x.view(1), tail))


# %% right_minimum: acceptance with min(1, p/q); the rest is p minus the overlap
# kind: same

import torch


def sample_token(probs, u):
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device)
    token = (probs.double().cumsum(-1) <= u[..., None]).sum(-1)
    last = (probs > 0).long().cumsum(-1).argmax(-1)
    return torch.minimum(token, last)


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_probs.shape[0]
    n = 0
    while n < K:
        x = draft_tokens[n]
        a = min(1.0, (target_probs[n, x] / draft_probs[n, x]).item())
        if not u_accept[n].item() < a:
            break
        n += 1
    out = torch.empty(n + 1, dtype=torch.long, device=draft_tokens.device)
    out[:n] = draft_tokens[:n]
    if n == K:
        out[n] = sample_token(target_probs[-1], u_sample)
    else:
        rest = target_probs[n] - torch.minimum(target_probs[n], draft_probs[n])
        out[n] = sample_token(rest / rest.sum(), u_sample)
    return out


# %% right_lists: Python numbers only
# kind: same

import torch


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    P, Q = target_probs.tolist(), draft_probs.tolist()
    out, weights = [], P[-1]
    for p, q, x, u in zip(P, Q, draft_tokens.tolist(), u_accept.tolist()):
        if u < p[x] / q[x]:
            out.append(x)
        else:
            weights = [max(a - b, 0.0) for a, b in zip(p, q)]
            break
    left = float(u_sample) * sum(weights)
    choice = None
    for token, w in enumerate(weights):
        if w > 0:
            choice = token
            left -= w
            if left < 0:
                break
    return torch.tensor(out + [choice], device=draft_tokens.device)


# %% right_all_candidates: the last token for each possible length, then one of them
# kind: same

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(-1)
    u = torch.as_tensor(u, dtype=cdf.dtype, device=cdf.device).expand(cdf.shape[:-1])
    hit = (cdf > u.unsqueeze(-1) * cdf[..., -1:]) & (probs > 0)
    return hit.to(torch.int64).argmax(-1)


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.size(0)
    residual = (target_probs[:-1] - draft_probs).clamp(min=0)
    last = sample_token(torch.cat((residual, target_probs[-1:])), u_sample)
    index = draft_tokens.unsqueeze(-1)
    ratio = torch.take_along_dim(target_probs[:-1], index, -1) / torch.take_along_dim(draft_probs, index, -1)
    failed = (u_accept >= ratio.squeeze(-1)).cumsum(0)
    n = (failed == 0).sum()
    tokens = torch.cat((draft_tokens, draft_tokens.new_zeros(1)))
    place = torch.arange(K + 1, device=tokens.device)
    return torch.where(place == n, last, tokens)[: n + 1]


# %% wrong_greedy_acceptance: a draft token stays if it is the most likely one
# kind: mistake
# breaks: values
# equals: verify-favourite-only

import torch


def _sample(p, u):
    p = p / p.sum()
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    n = 0
    while n < K and target_probs[n].argmax() == draft_tokens[n]:
        n += 1
    row = target_probs[n] if n == K else (target_probs[n] - draft_probs[n]).clamp(min=0)
    if row.sum() == 0:
        row = target_probs[n]
    return torch.cat((draft_tokens[:n], draft_tokens.new_tensor([_sample(row, u_sample)])))


# %% wrong_resampled_from_target: after a rejection the token comes from p itself
# kind: mistake
# breaks: values
# equals: verify-from-target-again

import torch


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    i = torch.arange(K)
    ratio = target_probs[i, draft_tokens] / draft_probs[i, draft_tokens]
    n = int((u_accept < ratio).long().cumprod(0).sum())
    p = target_probs[n]
    token = (p.double().cumsum(0) <= u_sample).sum().clamp(max=p.nonzero().max())
    return torch.cat((draft_tokens[:n], token.view(1)))


# %% wrong_all_accepted: every draft token stays
# kind: mistake
# breaks: shapes, values
# equals: verify-all-kept

import torch


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    p = target_probs[-1]
    token = (p.double().cumsum(0) <= u_sample).sum().clamp(max=p.nonzero().max())
    return torch.cat((draft_tokens, token.view(1)))


# %% wrong_absolute_difference: the rest is |p - q|
# kind: mistake
# breaks: values
# equals: verify-absolute-rest

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    for i, x in enumerate(draft_tokens.tolist()):
        if u_accept[i] < target_probs[i, x] / draft_probs[i, x]:
            out.append(x)
        else:
            rest = (target_probs[i] - draft_probs[i]).abs()
            return torch.tensor(out + [_sample(rest / rest.sum(), u_sample)])
    return torch.tensor(out + [_sample(target_probs[-1], u_sample)])


# %% wrong_ratio_upside_down: accepts with q/p
# kind: mistake
# breaks: values
# equals: verify-ratio-upside-down

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    for i, x in enumerate(draft_tokens.tolist()):
        p, q = target_probs[i], draft_probs[i]
        if u_accept[i] < q[x] / p[x]:
            out.append(x)
        else:
            rest = (p - q).clamp(min=0)
            rest = rest / rest.sum() if rest.sum() > 0 else p
            return torch.tensor(out + [_sample(rest, u_sample)])
    return torch.tensor(out + [_sample(target_probs[-1], u_sample)])


# %% wrong_rejected_kept: the rejected token stays, and the new one follows it
# kind: mistake
# breaks: shapes, values
# equals: verify-rejected-kept

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    rest = target_probs[-1]
    for i, x in enumerate(draft_tokens.tolist()):
        out.append(x)
        if u_accept[i] >= target_probs[i, x] / draft_probs[i, x]:
            rest = (target_probs[i] - draft_probs[i]).clamp(min=0)
            break
    out.append(_sample(rest / rest.sum(), u_sample))
    return torch.tensor(out)


# %% wrong_later_tokens_kept: goes on after a rejection with the rest of the draft
# kind: mistake
# breaks: shapes, values
# equals: verify-rejections-skipped

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = draft_tokens.clone()
    for i, x in enumerate(draft_tokens.tolist()):
        if u_accept[i] >= target_probs[i, x] / draft_probs[i, x]:
            rest = (target_probs[i] - draft_probs[i]).clamp(min=0)
            out[i] = _sample(rest / rest.sum(), u_sample)
    return torch.cat((out, torch.tensor([_sample(target_probs[-1], u_sample)])))


# %% wrong_accepted_are_counted: the length is the number of accepted tokens anywhere in the draft
# kind: mistake
# breaks: shapes, values
# equals: verify-counts-all-kept

import torch


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    i = torch.arange(K)
    accepted = u_accept < target_probs[i, draft_tokens] / draft_probs[i, draft_tokens]
    n = int(accepted.sum())
    p = target_probs[n]
    if n < K:
        rest = (p - draft_probs[n]).clamp(min=0)
        if rest.sum() > 0:
            p = rest / rest.sum()
    token = (p.double().cumsum(0) <= u_sample).sum().clamp(max=p.nonzero().max())
    return torch.cat((draft_tokens[:n], token.view(1)))


# %% wrong_accepted_are_selected: accepted tokens behind a rejected one close the gap
# kind: mistake
# breaks: shapes, values
# equals: verify-later-kept

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    i = torch.arange(len(draft_tokens))
    accepted = u_accept < target_probs[i, draft_tokens] / draft_probs[i, draft_tokens]
    if accepted.all():
        row = target_probs[-1]
    else:
        first = int((~accepted).nonzero()[0])
        row = (target_probs[first] - draft_probs[first]).clamp(min=0)
    token = _sample(row / row.sum(), u_sample)
    return torch.cat((draft_tokens[accepted], torch.tensor([token])))


# %% wrong_acceptance_draw_again: the draw that rejected also picks the new token
# kind: mistake
# breaks: values
# equals: verify-one-draw-for-two

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    for i, x in enumerate(draft_tokens.tolist()):
        p, q, u = target_probs[i], draft_probs[i], u_accept[i]
        if u < p[x] / q[x]:
            out.append(x)
        else:
            rest = (p - q).clamp(min=0)
            out.append(_sample(rest / rest.sum(), u))
            break
    else:
        out.append(_sample(target_probs[-1], u_sample))
    return torch.tensor(out)


# %% wrong_last_draft_row: the extra token comes from the row before the last
# kind: mistake
# breaks: values
# equals: verify-extra-from-row-before

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = len(draft_tokens)
    out = []
    for i in range(K):
        x = int(draft_tokens[i])
        if u_accept[i] < target_probs[i, x] / draft_probs[i, x]:
            out.append(x)
        else:
            rest = (target_probs[i] - draft_probs[i]).clamp(min=0)
            out.append(_sample(rest / rest.sum(), u_sample))
            break
    if len(out) == K and out == draft_tokens.tolist():
        out.append(_sample(target_probs[K - 1], u_sample))
    return torch.tensor(out)


# %% wrong_no_extra_token: nothing is added if all tokens were accepted
# kind: mistake
# breaks: shapes, values
# equals: verify-no-extra-token

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    for i, x in enumerate(draft_tokens.tolist()):
        if u_accept[i] < target_probs[i, x] / draft_probs[i, x]:
            out.append(x)
            continue
        rest = (target_probs[i] - draft_probs[i]).clamp(min=0)
        out.append(_sample(rest / rest.sum(), u_sample))
        break
    return torch.tensor(out)


# %% wrong_nothing_for_the_rejected: the accepted tokens only, no new one after a rejection
# kind: mistake
# breaks: shapes, values
# equals: verify-nothing-for-the-rejected

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.size(0)
    n = K
    for i in range(K):
        x = draft_tokens[i]
        if u_accept[i] >= target_probs[i, x] / draft_probs[i, x]:
            n = i
            break
    if n < K:
        return draft_tokens[:n].clone()
    return torch.cat((draft_tokens, torch.tensor([_sample(target_probs[K], u_sample)])))


# %% wrong_rest_not_normalised: the draw is compared with the sums of p - q, which end below 1
# kind: mistake
# breaks: values
# equals: verify-rest-not-divided

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    i = torch.arange(K)
    n = int((u_accept < target_probs[i, draft_tokens] / draft_probs[i, draft_tokens]).long().cumprod(0).sum())
    row = target_probs[n] if n == K else (target_probs[n] - draft_probs[n]).clamp(min=0)
    return torch.cat((draft_tokens[:n], torch.tensor([_sample(row, u_sample)])))


# %% wrong_softmax_of_the_rest: the positive differences go through a softmax
# kind: mistake
# breaks: values
# equals: verify-rest-softmax

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), p.numel() - 1)


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    i = torch.arange(K)
    n = int((u_accept < target_probs[i, draft_tokens] / draft_probs[i, draft_tokens]).long().cumprod(0).sum())
    row = target_probs[n]
    if n < K:
        row = torch.relu(row - draft_probs[n]).softmax(-1)
    return torch.cat((draft_tokens[:n], torch.tensor([_sample(row, u_sample)])))


# %% wrong_difference_reversed: the rest is q - p where that is positive
# kind: mistake
# breaks: values
# equals: verify-rest-of-draft

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    for i, x in enumerate(draft_tokens.tolist()):
        if u_accept[i] < target_probs[i, x] / draft_probs[i, x]:
            out.append(x)
        else:
            rest = torch.clamp(draft_probs[i] - target_probs[i], min=0)
            return torch.tensor(out + [_sample(rest / rest.sum(), u_sample)])
    return torch.tensor(out + [_sample(target_probs[-1], u_sample)])


# %% wrong_no_division: accepts with p alone
# kind: mistake
# breaks: values
# equals: verify-target-alone

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    p_x = target_probs[:K].gather(1, draft_tokens.unsqueeze(1)).squeeze(1)
    n = int((u_accept < p_x).long().cumprod(0).sum())
    row = target_probs[n]
    if n < K:
        rest = (row - draft_probs[n]).clamp(min=0)
        row = rest / rest.sum() if rest.sum() > 0 else row
    return torch.cat((draft_tokens[:n], torch.tensor([_sample(row, u_sample)])))


# %% wrong_overlap_of_rows: accepts with the sum of min(p, q), the same for each token
# kind: mistake
# breaks: values
# equals: nothing

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    beta = torch.minimum(target_probs[:K], draft_probs).sum(-1)
    n = int((u_accept < beta).long().cumprod(0).sum())
    row = target_probs[n]
    if n < K:
        row = (row - draft_probs[n]).clamp(min=0)
        row = row / row.sum()
    return torch.cat((draft_tokens[:n], torch.tensor([_sample(row, u_sample)])))


# %% wrong_one_minus_u: accepts if the draw is above 1 - p/q
# kind: different
# breaks: values
# equals: verify-accept-from-the-end

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    for i, x in enumerate(draft_tokens.tolist()):
        reject = 1 - target_probs[i, x] / draft_probs[i, x]
        if u_accept[i] >= reject:
            out.append(x)
        else:
            rest = (target_probs[i] - draft_probs[i]).clamp(min=0)
            return torch.tensor(out + [_sample(rest / rest.sum(), u_sample)])
    return torch.tensor(out + [_sample(target_probs[-1], u_sample)])


# %% wrong_own_draws: torch.rand and multinomial inside, no draws passed
# kind: different
# breaks: values
# equals: verify-own-draws, verify-own-last-draw

import torch


def verify_draft(target_probs, draft_probs, draft_tokens, *unused):
    accepted = []
    for i, x in enumerate(draft_tokens.tolist()):
        if torch.rand(()) < target_probs[i, x] / draft_probs[i, x]:
            accepted.append(x)
        else:
            rest = torch.clamp(target_probs[i] - draft_probs[i], min=0)
            accepted.append(torch.multinomial(rest / rest.sum(), 1).item())
            return torch.tensor(accepted)
    accepted.append(torch.multinomial(target_probs[-1], 1).item())
    return torch.tensor(accepted)


# %% wrong_padded: always K + 1 places, -1 after the last token
# kind: different
# breaks: shapes, values
# equals: verify-padded

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.size(0)
    out = torch.full((K + 1,), -1, dtype=torch.int64)
    for i in range(K):
        x = draft_tokens[i]
        if u_accept[i] >= target_probs[i, x] / draft_probs[i, x]:
            rest = (target_probs[i] - draft_probs[i]).clamp(min=0)
            out[i] = _sample(rest / rest.sum(), u_sample)
            return out
        out[i] = x
    out[K] = _sample(target_probs[K], u_sample)
    return out


# %% wrong_pair: the number of accepted tokens and the new token
# kind: different
# breaks: shapes, values
# equals: verify-pair-returned

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    i = torch.arange(K)
    n = int((u_accept < target_probs[i, draft_tokens] / draft_probs[i, draft_tokens]).long().cumprod(0).sum())
    row = target_probs[n] if n == K else (target_probs[n] - draft_probs[n]).clamp(min=0)
    return n, _sample(row / row.sum(), u_sample)


# %% wrong_in_place: the rest is computed inside the caller's target_probs
# kind: mistake
# breaks: purity
# equals: verify-overwrites

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    for i, x in enumerate(draft_tokens.tolist()):
        if u_accept[i] < target_probs[i, x] / draft_probs[i, x]:
            out.append(x)
        else:
            rest = target_probs[i].sub_(draft_probs[i]).clamp_(min=0)
            rest /= rest.sum()
            return torch.tensor(out + [_sample(rest, u_sample)])
    return torch.tensor(out + [_sample(target_probs[-1], u_sample)])


# %% wrong_extra_token_greedy: the token after a full draft is the most likely one
# kind: mistake
# breaks: values
# equals: verify-extra-most-likely

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    for p, q, x, u in zip(target_probs, draft_probs, draft_tokens, u_accept):
        if u < p[x] / q[x]:
            out.append(int(x))
        else:
            rest = (p - q).clamp(min=0)
            return torch.tensor(out + [_sample(rest / rest.sum(), u_sample)])
    return torch.tensor(out + [int(target_probs[-1].argmax())])


# %% wrong_rows_one_late: the target's rows are read one position too late
# kind: mistake
# breaks: values
# equals: verify-next-target-row

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    for i, x in enumerate(draft_tokens.tolist()):
        p, q = target_probs[i + 1], draft_probs[i]
        if u_accept[i] < p[x] / q[x]:
            out.append(x)
        else:
            rest = (p - q).clamp(min=0)
            return torch.tensor(out + [_sample(rest / rest.sum(), u_sample)])
    return torch.tensor(out + [_sample(target_probs[-1], u_sample)])


# %% wrong_same_draw_for_all: all tokens are judged by the first acceptance draw
# kind: mistake
# breaks: values
# equals: verify-first-draw-for-all

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    K = draft_tokens.numel()
    i = torch.arange(K)
    n = int((u_accept[0] < target_probs[i, draft_tokens] / draft_probs[i, draft_tokens]).long().cumprod(0).sum())
    row = target_probs[n] if n == K else (target_probs[n] - draft_probs[n]).clamp(min=0)
    return torch.cat((draft_tokens[:n], torch.tensor([_sample(row / row.sum(), u_sample)])))


# %% wrong_rejected_token_banned: the rejected token is removed from p instead of subtracting q
# kind: mistake
# breaks: values
# equals: verify-rejected-removed-only

import torch


def _sample(p, u):
    return min(int((p.double().cumsum(0) <= float(u)).sum()), int(p.nonzero().max()))


def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
    out = []
    for i, x in enumerate(draft_tokens.tolist()):
        if u_accept[i] < target_probs[i, x] / draft_probs[i, x]:
            out.append(x)
        else:
            rest = target_probs[i].clone()
            rest[x] = 0
            return torch.tensor(out + [_sample(rest / rest.sum(), u_sample)])
    return torch.tensor(out + [_sample(target_probs[-1], u_sample)])
