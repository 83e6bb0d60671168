# %% right_batched_gradients: rows of the identity as upstream gradients, in one go
# kind: same

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    ones.requires_grad_()
    losses = loss_fn(gated_attention(mha, ones, *inputs), target)
    eye = torch.eye(len(losses), device=losses.device)
    J = torch.autograd.grad(losses, ones, eye, is_grads_batched=True)[0]
    return J.abs()


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return scores / weight


# %% right_contributions: what each head adds to the output, computed once; the gradient by the chain rule
# kind: same

import torch
from torch.nn import functional as F


def contributions(mha, queries, keys, values, valid_lens):
    """What each head adds to the output (B, H, T, D), and the weights (B, H, T, S)."""
    H = mha.num_heads
    q, k, v = (layer(X).unflatten(-1, (H, -1)).transpose(1, 2)
               for layer, X in ((mha.W_q, queries), (mha.W_k, keys), (mha.W_v, values)))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if valid_lens is not None:
        seen = torch.arange(k.shape[2], device=k.device) < valid_lens.reshape(len(k), 1, -1, 1)
        scores = torch.where(seen, scores, -torch.inf)
    weights = F.softmax(scores, dim=-1)
    W = mha.W_o.weight.unflatten(1, (H, -1))  # (D, H, d)
    return torch.einsum("bhts,bhsd,ehd->bhte", weights, v, W), weights


def head_importance(mha, batches, loss_fn, method):
    sums = n = 0
    for queries, keys, values, valid_lens, target in batches:
        parts, weights = contributions(mha, queries, keys, values, valid_lens)
        bias = 0 if mha.W_o.bias is None else mha.W_o.bias
        full = parts.sum(1) + bias
        if method == "ablation":
            loss = loss_fn(full, target)
            each = [(loss_fn(full - parts[:, h], target) - loss).sum() for h in range(mha.num_heads)]
            sums, n = sums + torch.stack(each), n + len(target)
        elif method == "gradient":
            # d loss / d gate_h = <d loss / d output, what head h adds>
            leaf = full.detach().requires_grad_()
            upstream, = torch.autograd.grad(loss_fn(leaf, target).sum(), leaf)
            sums, n = sums + torch.einsum("bte,bhte->bh", upstream, parts).abs().sum(0), n + len(target)
        else:
            best = weights.max(-1).values  # (B, H, T)
            sums, n = sums + best.sum((0, 2)), n + best[:, 0].numel()
    return (sums / n).detach()


# %% right_deep_copies: copies whose columns of W_o are zero; head after head, number after number
# kind: same

import copy

import torch
from grader.given import gated_attention


def silenced(mha, h):
    d = mha.W_o.weight.shape[1] // mha.num_heads
    twin = copy.deepcopy(mha)
    with torch.no_grad():
        twin.W_o.weight[:, h * d:(h + 1) * d] = 0
    return twin


def head_importance(mha, batches, loss_fn, method):
    mha = copy.deepcopy(mha).eval()
    H = mha.num_heads
    result = []
    for h in range(H):
        numbers = []
        for q, k, v, lens, target in batches:
            if method == "ablation":
                with torch.no_grad():
                    numbers += (loss_fn(silenced(mha, h)(q, k, v, lens), target)
                                - loss_fn(mha(q, k, v, lens), target)).tolist()
            elif method == "gradient":
                xi = torch.ones(H, dtype=q.dtype, device=q.device, requires_grad=True)
                losses = loss_fn(gated_attention(mha, xi, q, k, v, lens), target)
                for i in range(len(losses)):
                    g, = torch.autograd.grad(losses[i], xi, retain_graph=True)
                    numbers.append(abs(g[h].item()))
            else:
                mha(q, k, v, lens)
                for row in mha.attention.attention_weights[h::H]:
                    for query in row:
                        numbers.append(query.max().item())
        result.append(sum(numbers) / len(numbers))
    return torch.tensor(result, dtype=mha.W_o.weight.dtype, device=mha.W_o.weight.device)


# %% right_gates_for_each_sample: one backward pass with a row of gates for every sample
# kind: same

import torch


def per_sample(mha, gates, queries, keys, values, valid_lens):
    """gates (B, H)"""
    def hook(module, args):
        X = args[0]
        return X * gates.repeat_interleave(X.shape[-1] // gates.shape[-1], dim=-1).unsqueeze(1)

    handle = mha.W_o.register_forward_pre_hook(hook)
    output = mha(queries, keys, values, valid_lens)
    handle.remove()
    return output


def head_importance(mha, batches, loss_fn, method):
    mode = mha.training
    mha.eval()
    rows = []
    for queries, keys, values, valid_lens, target in batches:
        gates = torch.ones(len(queries), mha.num_heads, dtype=queries.dtype, device=queries.device)
        if method == "gradient":
            gates.requires_grad_(True)
            loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target).sum().backward()
            rows.append(gates.grad.abs())  # (B, H)
        elif method == "ablation":
            with torch.no_grad():
                before = loss_fn(mha(queries, keys, values, valid_lens), target)
                columns = []
                for h in range(mha.num_heads):
                    gates[:] = 1
                    gates[:, h] = 0
                    after = loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target)
                    columns.append(after - before)
                rows.append(torch.stack(columns, dim=1))
        else:
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            best = mha.attention.attention_weights.amax(-1)  # (B*H, T)
            rows.append(best.unflatten(0, (-1, mha.num_heads)).transpose(1, 2).flatten(0, 1))
    mha.train(mode)
    return torch.cat(rows).mean(dim=0)


# %% right_jacobian: the losses' Jacobian by the gates; functions in a table
# kind: same

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.autograd.functional.jacobian(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target), ones)
    return J.abs()


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return scores / weight


# %% right_jacrev: torch.func.jacrev over the gates
# kind: same

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.func.jacrev(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target))(ones)
    return J.abs()


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return scores / weight


# %% right_loop_over_samples: a gradient for each sample in turn; sums and counts
# kind: same

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += (loss - base).sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            for loss in losses:
                grad = torch.autograd.grad(loss, gates, retain_graph=True)[0]
                total += grad.abs()
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            total += weights.max(dim=-1).values.sum(dim=(0, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    mha.train(was_training)
    return total / count


# %% right_sample_by_sample: every sentence as a batch of its own
# kind: same

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    training, H = mha.training, mha.num_heads
    mha.train(False)
    scores = []
    for queries, keys, values, valid_lens, target in batches:
        for i in range(len(queries)):
            one = slice(i, i + 1)
            lens = valid_lens[one] if valid_lens is not None else None
            args = queries[one], keys[one], values[one], lens
            gates = torch.ones(H, dtype=queries.dtype, device=queries.device, requires_grad=True)
            loss = loss_fn(gated_attention(mha, gates, *args), target[one])[0]
            if method == "gradient":
                gates.grad = None
                loss.backward(inputs=[gates])
                scores.append(gates.grad.abs())
            elif method == "ablation":
                row = torch.empty(H, dtype=queries.dtype, device=queries.device)
                for h in range(H):
                    silent = torch.ones_like(gates)
                    silent[h] = 0.0
                    row[h] = loss_fn(gated_attention(mha, silent, *args), target[one])[0].detach() - loss.detach()
                scores.append(row)
            elif method == "confidence":
                weights = mha.attention.attention_weights.detach()  # (H, T, S)
                scores.extend(weights.max(dim=2)[0].T)
    mha.train(training)
    return torch.stack(scores).mean(0)


# %% wrong_ablation_absolute: the size of the change, whichever way
# kind: mistake
# breaks: values
# equals: nothing

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += (loss - base).abs().sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            for loss in losses:
                grad = torch.autograd.grad(loss, gates, retain_graph=True)[0]
                total += grad.abs()
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            total += weights.max(dim=-1).values.sum(dim=(0, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    mha.train(was_training)
    return total / count


# %% wrong_ablation_adds_up: silenced heads stay silent for the next
# kind: mistake
# breaks: values
# equals: importance-never-opened-again

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                gates = ones.clone()
                for h in range(H):
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += (loss - base).sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            for loss in losses:
                grad = torch.autograd.grad(loss, gates, retain_graph=True)[0]
                total += grad.abs()
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            total += weights.max(dim=-1).values.sum(dim=(0, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    mha.train(was_training)
    return total / count


# %% wrong_ablation_keeps_only_head: all heads silent but the one
# kind: mistake
# breaks: values
# equals: importance-only-one-left

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.autograd.functional.jacobian(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target), ones)
    return J.abs()


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return scores / weight


# %% wrong_ablation_upside_down: loss of the whole model less loss without the head
# kind: mistake
# breaks: values
# equals: importance-other-way-round

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += (base - loss).sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            for loss in losses:
                grad = torch.autograd.grad(loss, gates, retain_graph=True)[0]
                total += grad.abs()
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            total += weights.max(dim=-1).values.sum(dim=(0, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    mha.train(was_training)
    return total / count


# %% wrong_ablation_without_base: the loss without the head alone
# kind: mistake
# breaks: values
# equals: importance-without-the-whole

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += loss.sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            for loss in losses:
                grad = torch.autograd.grad(loss, gates, retain_graph=True)[0]
                total += grad.abs()
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            total += weights.max(dim=-1).values.sum(dim=(0, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    mha.train(was_training)
    return total / count


# %% wrong_absolute_after_mean: the absolute value is taken of the mean
# kind: mistake
# breaks: values
# equals: importance-absolute-after-mean

import torch


def per_sample(mha, gates, queries, keys, values, valid_lens):
    """gates (B, H)"""
    def hook(module, args):
        X = args[0]
        return X * gates.repeat_interleave(X.shape[-1] // gates.shape[-1], dim=-1).unsqueeze(1)

    handle = mha.W_o.register_forward_pre_hook(hook)
    output = mha(queries, keys, values, valid_lens)
    handle.remove()
    return output


def head_importance(mha, batches, loss_fn, method):
    mode = mha.training
    mha.eval()
    rows = []
    for queries, keys, values, valid_lens, target in batches:
        gates = torch.ones(len(queries), mha.num_heads, dtype=queries.dtype, device=queries.device)
        if method == "gradient":
            gates.requires_grad_(True)
            loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target).sum().backward()
            rows.append(gates.grad)  # (B, H)
        elif method == "ablation":
            with torch.no_grad():
                before = loss_fn(mha(queries, keys, values, valid_lens), target)
                columns = []
                for h in range(mha.num_heads):
                    gates[:] = 1
                    gates[:, h] = 0
                    after = loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target)
                    columns.append(after - before)
                rows.append(torch.stack(columns, dim=1))
        else:
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            best = mha.attention.attention_weights.amax(-1)  # (B*H, T)
            rows.append(best.unflatten(0, (-1, mha.num_heads)).transpose(1, 2).flatten(0, 1))
    mha.train(mode)
    return torch.cat(rows).mean(dim=0).abs() if method == "gradient" else torch.cat(rows).mean(dim=0)


# %% wrong_confidence_best_of_sentence: the largest weight in a whole sentence
# kind: mistake
# breaks: values
# equals: importance-best-query-only

import copy

import torch
from grader.given import gated_attention


def silenced(mha, h):
    d = mha.W_o.weight.shape[1] // mha.num_heads
    twin = copy.deepcopy(mha)
    with torch.no_grad():
        twin.W_o.weight[:, h * d:(h + 1) * d] = 0
    return twin


def head_importance(mha, batches, loss_fn, method):
    mha = copy.deepcopy(mha).eval()
    H = mha.num_heads
    result = []
    for h in range(H):
        numbers = []
        for q, k, v, lens, target in batches:
            if method == "ablation":
                with torch.no_grad():
                    numbers += (loss_fn(silenced(mha, h)(q, k, v, lens), target)
                                - loss_fn(mha(q, k, v, lens), target)).tolist()
            elif method == "gradient":
                xi = torch.ones(H, dtype=q.dtype, device=q.device, requires_grad=True)
                losses = loss_fn(gated_attention(mha, xi, q, k, v, lens), target)
                for i in range(len(losses)):
                    g, = torch.autograd.grad(losses[i], xi, retain_graph=True)
                    numbers.append(abs(g[h].item()))
            else:
                mha(q, k, v, lens)
                for row in mha.attention.attention_weights[h::H]:
                    numbers.append(row.max().item())
        result.append(sum(numbers) / len(numbers))
    return torch.tensor(result, dtype=mha.W_o.weight.dtype, device=mha.W_o.weight.device)


# %% wrong_confidence_heads_outermost: rows of the stored weights read as h*B + b
# kind: mistake
# breaks: values
# equals: importance-heads-before-sentences

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += (loss - base).sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            for loss in losses:
                grad = torch.autograd.grad(loss, gates, retain_graph=True)[0]
                total += grad.abs()
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            weights = mha.attention.attention_weights.reshape(H, B, T, -1)
            total += weights.max(dim=-1).values.sum(dim=(1, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    mha.train(was_training)
    return total / count


# %% wrong_confidence_mean_weight: the mean weight, which is one over the number of keys
# kind: mistake
# breaks: values
# equals: importance-mean-weight

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += (loss - base).sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            for loss in losses:
                grad = torch.autograd.grad(loss, gates, retain_graph=True)[0]
                total += grad.abs()
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            total += weights.mean(dim=-1).sum(dim=(0, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    mha.train(was_training)
    return total / count


# %% wrong_confidence_over_queries: the largest weight that each key receives
# kind: mistake
# breaks: values
# equals: importance-max-over-queries

import copy

import torch
from grader.given import gated_attention


def silenced(mha, h):
    d = mha.W_o.weight.shape[1] // mha.num_heads
    twin = copy.deepcopy(mha)
    with torch.no_grad():
        twin.W_o.weight[:, h * d:(h + 1) * d] = 0
    return twin


def head_importance(mha, batches, loss_fn, method):
    mha = copy.deepcopy(mha).eval()
    H = mha.num_heads
    result = []
    for h in range(H):
        numbers = []
        for q, k, v, lens, target in batches:
            if method == "ablation":
                with torch.no_grad():
                    numbers += (loss_fn(silenced(mha, h)(q, k, v, lens), target)
                                - loss_fn(mha(q, k, v, lens), target)).tolist()
            elif method == "gradient":
                xi = torch.ones(H, dtype=q.dtype, device=q.device, requires_grad=True)
                losses = loss_fn(gated_attention(mha, xi, q, k, v, lens), target)
                for i in range(len(losses)):
                    g, = torch.autograd.grad(losses[i], xi, retain_graph=True)
                    numbers.append(abs(g[h].item()))
            else:
                mha(q, k, v, lens)
                for row in mha.attention.attention_weights[h::H]:
                    for key in row.T:
                        numbers.append(key.max().item())
        result.append(sum(numbers) / len(numbers))
    return torch.tensor(result, dtype=mha.W_o.weight.dtype, device=mha.W_o.weight.device)


# %% wrong_confidence_without_lens: asks for the weights without lengths
# kind: mistake
# breaks: values, masking
# equals: nothing

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += (loss - base).sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            for loss in losses:
                grad = torch.autograd.grad(loss, gates, retain_graph=True)[0]
                total += grad.abs()
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, None)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            total += weights.max(dim=-1).values.sum(dim=(0, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    mha.train(was_training)
    return total / count


# %% wrong_features_tiled: the gates repeated 0 1 2 0 1 2 over the features
# kind: mistake
# breaks: values
# equals: nothing

import torch


def per_sample(mha, gates, queries, keys, values, valid_lens):
    """gates (B, H)"""
    def hook(module, args):
        X = args[0]
        return X * gates.repeat(1, X.shape[-1] // gates.shape[-1]).unsqueeze(1)

    handle = mha.W_o.register_forward_pre_hook(hook)
    output = mha(queries, keys, values, valid_lens)
    handle.remove()
    return output


def head_importance(mha, batches, loss_fn, method):
    mode = mha.training
    mha.eval()
    rows = []
    for queries, keys, values, valid_lens, target in batches:
        gates = torch.ones(len(queries), mha.num_heads, dtype=queries.dtype, device=queries.device)
        if method == "gradient":
            gates.requires_grad_(True)
            loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target).sum().backward()
            rows.append(gates.grad.abs())  # (B, H)
        elif method == "ablation":
            with torch.no_grad():
                before = loss_fn(mha(queries, keys, values, valid_lens), target)
                columns = []
                for h in range(mha.num_heads):
                    gates[:] = 1
                    gates[:, h] = 0
                    after = loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target)
                    columns.append(after - before)
                rows.append(torch.stack(columns, dim=1))
        else:
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            best = mha.attention.attention_weights.amax(-1)  # (B*H, T)
            rows.append(best.unflatten(0, (-1, mha.num_heads)).transpose(1, 2).flatten(0, 1))
    mha.train(mode)
    return torch.cat(rows).mean(dim=0)


# %% wrong_gradient_at_zero: the gradient where all gates are shut
# kind: mistake
# breaks: values
# equals: importance-gates-from-zero

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.autograd.functional.jacobian(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target), 0 * ones)
    return J.abs()


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return scores / weight


# %% wrong_gradient_of_batch_loss: the gradient of each batch's mean loss, then the absolute value
# kind: mistake
# breaks: values
# equals: importance-absolute-of-a-batch

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += (loss - base).sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            losses.mean().backward()
            total += gates.grad.abs() * B
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            total += weights.max(dim=-1).values.sum(dim=(0, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    mha.train(was_training)
    return total / count


# %% wrong_last_batch_only: every batch overwrites the one before
# kind: mistake
# breaks: values
# equals: importance-last-batch-only

import torch


def per_sample(mha, gates, queries, keys, values, valid_lens):
    """gates (B, H)"""
    def hook(module, args):
        X = args[0]
        return X * gates.repeat_interleave(X.shape[-1] // gates.shape[-1], dim=-1).unsqueeze(1)

    handle = mha.W_o.register_forward_pre_hook(hook)
    output = mha(queries, keys, values, valid_lens)
    handle.remove()
    return output


def head_importance(mha, batches, loss_fn, method):
    mode = mha.training
    mha.eval()
    rows = []
    for queries, keys, values, valid_lens, target in batches:
        gates = torch.ones(len(queries), mha.num_heads, dtype=queries.dtype, device=queries.device)
        if method == "gradient":
            gates.requires_grad_(True)
            loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target).sum().backward()
            rows.append(gates.grad.abs())  # (B, H)
        elif method == "ablation":
            with torch.no_grad():
                before = loss_fn(mha(queries, keys, values, valid_lens), target)
                columns = []
                for h in range(mha.num_heads):
                    gates[:] = 1
                    gates[:, h] = 0
                    after = loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target)
                    columns.append(after - before)
                rows.append(torch.stack(columns, dim=1))
        else:
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            best = mha.attention.attention_weights.amax(-1)  # (B*H, T)
            rows.append(best.unflatten(0, (-1, mha.num_heads)).transpose(1, 2).flatten(0, 1))
    mha.train(mode)
    return rows[-1].mean(dim=0)


# %% wrong_left_in_eval: the module stays in evaluation mode
# kind: mistake
# breaks: purity
# equals: importance-left-in-evaluation

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += (loss - base).sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            for loss in losses:
                grad = torch.autograd.grad(loss, gates, retain_graph=True)[0]
                total += grad.abs()
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            total += weights.max(dim=-1).values.sum(dim=(0, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    return total / count


# %% wrong_mean_of_batch_means: every batch counts the same, however large
# kind: mistake
# breaks: values
# equals: importance-mean-of-batch-means

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.autograd.functional.jacobian(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target), ones)
    return J.abs()


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.mean(dim=0)
            weight += 1
    finally:
        mha.train(training)
    return scores / weight


# %% wrong_method_ignored: always ablation
# kind: mistake
# breaks: values
# equals: nothing

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.autograd.functional.jacobian(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target), ones)
    return J.abs()


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS["ablation"], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return scores / weight


# %% wrong_normalised: scores divided by their norm
# kind: different
# breaks: values
# equals: importance-normalised

import torch


def per_sample(mha, gates, queries, keys, values, valid_lens):
    """gates (B, H)"""
    def hook(module, args):
        X = args[0]
        return X * gates.repeat_interleave(X.shape[-1] // gates.shape[-1], dim=-1).unsqueeze(1)

    handle = mha.W_o.register_forward_pre_hook(hook)
    output = mha(queries, keys, values, valid_lens)
    handle.remove()
    return output


def head_importance(mha, batches, loss_fn, method):
    mode = mha.training
    mha.eval()
    rows = []
    for queries, keys, values, valid_lens, target in batches:
        gates = torch.ones(len(queries), mha.num_heads, dtype=queries.dtype, device=queries.device)
        if method == "gradient":
            gates.requires_grad_(True)
            loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target).sum().backward()
            rows.append(gates.grad.abs())  # (B, H)
        elif method == "ablation":
            with torch.no_grad():
                before = loss_fn(mha(queries, keys, values, valid_lens), target)
                columns = []
                for h in range(mha.num_heads):
                    gates[:] = 1
                    gates[:, h] = 0
                    after = loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target)
                    columns.append(after - before)
                rows.append(torch.stack(columns, dim=1))
        else:
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            best = mha.attention.attention_weights.amax(-1)  # (B*H, T)
            rows.append(best.unflatten(0, (-1, mha.num_heads)).transpose(1, 2).flatten(0, 1))
    mha.train(mode)
    scores = torch.cat(rows).mean(dim=0)
    return scores / scores.norm()


# %% wrong_ranks_returned: the order of the heads in place of their scores
# kind: mistake
# breaks: values
# equals: nothing

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.autograd.functional.jacobian(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target), ones)
    return J.abs()


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return (scores / weight).argsort().argsort().float()


# %% wrong_rows_of_w_o: zeroes rows of W_o
# kind: mistake
# breaks: values
# equals: nothing

import copy

import torch
from grader.given import gated_attention


def silenced(mha, h):
    d = mha.W_o.weight.shape[1] // mha.num_heads
    twin = copy.deepcopy(mha)
    with torch.no_grad():
        twin.W_o.weight[h * d:(h + 1) * d] = 0
    return twin


def head_importance(mha, batches, loss_fn, method):
    mha = copy.deepcopy(mha).eval()
    H = mha.num_heads
    result = []
    for h in range(H):
        numbers = []
        for q, k, v, lens, target in batches:
            if method == "ablation":
                with torch.no_grad():
                    numbers += (loss_fn(silenced(mha, h)(q, k, v, lens), target)
                                - loss_fn(mha(q, k, v, lens), target)).tolist()
            elif method == "gradient":
                xi = torch.ones(H, dtype=q.dtype, device=q.device, requires_grad=True)
                losses = loss_fn(gated_attention(mha, xi, q, k, v, lens), target)
                for i in range(len(losses)):
                    g, = torch.autograd.grad(losses[i], xi, retain_graph=True)
                    numbers.append(abs(g[h].item()))
            else:
                mha(q, k, v, lens)
                for row in mha.attention.attention_weights[h::H]:
                    for query in row:
                        numbers.append(query.max().item())
        result.append(sum(numbers) / len(numbers))
    return torch.tensor(result, dtype=mha.W_o.weight.dtype, device=mha.W_o.weight.device)


# %% wrong_signed_gradient: no absolute value
# kind: mistake
# breaks: values
# equals: importance-no-absolute-value

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.autograd.functional.jacobian(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target), ones)
    return J


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return scores / weight


# %% wrong_squared_gradient: the square in place of the absolute value
# kind: mistake
# breaks: values
# equals: importance-squared

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.autograd.functional.jacobian(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target), ones)
    return J ** 2


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return scores / weight


# %% wrong_sum_not_mean: summed over samples
# kind: mistake
# breaks: values
# equals: importance-sum-for-mean

import torch


def per_sample(mha, gates, queries, keys, values, valid_lens):
    """gates (B, H)"""
    def hook(module, args):
        X = args[0]
        return X * gates.repeat_interleave(X.shape[-1] // gates.shape[-1], dim=-1).unsqueeze(1)

    handle = mha.W_o.register_forward_pre_hook(hook)
    output = mha(queries, keys, values, valid_lens)
    handle.remove()
    return output


def head_importance(mha, batches, loss_fn, method):
    mode = mha.training
    mha.eval()
    rows = []
    for queries, keys, values, valid_lens, target in batches:
        gates = torch.ones(len(queries), mha.num_heads, dtype=queries.dtype, device=queries.device)
        if method == "gradient":
            gates.requires_grad_(True)
            loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target).sum().backward()
            rows.append(gates.grad.abs())  # (B, H)
        elif method == "ablation":
            with torch.no_grad():
                before = loss_fn(mha(queries, keys, values, valid_lens), target)
                columns = []
                for h in range(mha.num_heads):
                    gates[:] = 1
                    gates[:, h] = 0
                    after = loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target)
                    columns.append(after - before)
                rows.append(torch.stack(columns, dim=1))
        else:
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            best = mha.attention.attention_weights.amax(-1)  # (B*H, T)
            rows.append(best.unflatten(0, (-1, mha.num_heads)).transpose(1, 2).flatten(0, 1))
    mha.train(mode)
    return torch.cat(rows).sum(dim=0)


# %% wrong_w_o_zeroed_for_good: sets columns of the module's own W_o to zero
# kind: mistake
# breaks: purity, values
# equals: nothing

import torch
from grader.given import gated_attention


def silenced(mha, h):
    d = mha.W_o.weight.shape[1] // mha.num_heads
    twin = mha
    with torch.no_grad():
        twin.W_o.weight[:, h * d:(h + 1) * d] = 0
    return twin


def head_importance(mha, batches, loss_fn, method):
    mha.eval()
    H = mha.num_heads
    result = []
    for h in range(H):
        numbers = []
        for q, k, v, lens, target in batches:
            if method == "ablation":
                with torch.no_grad():
                    numbers += (loss_fn(silenced(mha, h)(q, k, v, lens), target)
                                - loss_fn(mha(q, k, v, lens), target)).tolist()
            elif method == "gradient":
                xi = torch.ones(H, dtype=q.dtype, device=q.device, requires_grad=True)
                losses = loss_fn(gated_attention(mha, xi, q, k, v, lens), target)
                for i in range(len(losses)):
                    g, = torch.autograd.grad(losses[i], xi, retain_graph=True)
                    numbers.append(abs(g[h].item()))
            else:
                mha(q, k, v, lens)
                for row in mha.attention.attention_weights[h::H]:
                    for query in row:
                        numbers.append(query.max().item())
        result.append(sum(numbers) / len(numbers))
    return torch.tensor(result, dtype=mha.W_o.weight.dtype, device=mha.W_o.weight.device)


# %% wrong_with_dropout: measured in the mode that the module comes in
# kind: mistake
# breaks: modes
# equals: importance-dropout-on

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.autograd.functional.jacobian(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target), ones)
    return J.abs()


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return scores / weight


# %% wrong_mean_of_means: the mean over batches of the mean of each batch, so samples of small batches count more
# kind: mistake
# breaks: modes, values
# equals: importance-mean-of-batch-means

import torch

from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    was_training = mha.training
    mha.eval()
    H = mha.num_heads
    like = mha.W_o.weight
    scores = []
    for q, k, v, lens, target in batches:
        ones = torch.ones(H, device=like.device, dtype=like.dtype)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, q, k, v, lens), target)
                row = []
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0.0
                    row.append((loss_fn(gated_attention(mha, gates, q, k, v, lens), target) - base).mean())
                scores.append(torch.stack(row))
        elif method == "gradient":
            ones.requires_grad_()
            loss = loss_fn(gated_attention(mha, ones, q, k, v, lens), target)
            grads = [torch.autograd.grad(l, ones, retain_graph=True)[0].abs() for l in loss]
            scores.append(torch.stack(grads).mean(dim=0))
        elif method == "confidence":
            with torch.no_grad():
                mha(q, k, v, lens)
            w = mha.attention.attention_weights.unflatten(0, (-1, H))  # (B, H, T, S)
            scores.append(w.amax(dim=-1).mean(dim=(0, 2)))
        else:
            raise ValueError(method)
    mha.train(was_training)
    return torch.stack(scores).mean(dim=0)


# %% wrong_sign_and_dropout: ablation is the loss minus the ablated loss, and dropout stays on in training mode
# kind: mistake
# breaks: defaults, modes, pruning, values
# equals: importance-other-way-round+importance-dropout-on

import torch

from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    """Importance of each head by one of three methods."""
    H = mha.num_heads
    ref = mha.W_o.weight
    total, n = torch.zeros(H, dtype=ref.dtype, device=ref.device), 0
    for (Q, K, V, lens, target) in batches:
        if method == "ablation":
            # how much does the loss change without the head?
            with torch.no_grad():
                gates = torch.ones_like(total)
                full = loss_fn(gated_attention(mha, gates, Q, K, V, lens), target)
                for h in range(H):
                    gates[h] = 0
                    without = loss_fn(gated_attention(mha, gates, Q, K, V, lens), target)
                    gates[h] = 1
                    total[h] += (full - without).sum()
                n += full.numel()
        if method == "gradient":
            gates = torch.ones_like(total).requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, Q, K, V, lens), target)
            for loss in losses:
                total += torch.autograd.grad(loss, gates, retain_graph=True)[0].abs()
            n += losses.numel()
        if method == "confidence":
            with torch.no_grad():
                mha(Q, K, V, lens)
            w = mha.attention.attention_weights
            w = w.view(Q.shape[0], H, w.shape[-2], w.shape[-1]).amax(-1)
            total += w.sum((0, 2))
            n += w.shape[0] * w.shape[2]
    return total / n


# %% wrong_means_stacked: the mean of the means of the batches
# kind: mistake
# breaks: modes, values
# equals: importance-mean-of-batch-means

import torch
from torch import nn

from grader.given import gated_attention


def head_importance(mha: nn.Module, batches: list, loss_fn, method: str) -> torch.Tensor:
    mode = mha.training
    mha.eval()
    H = mha.num_heads
    per_batch = []
    for q, k, v, lens, target in batches:
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, torch.ones(H), q, k, v, lens), target)
                closed = 1 - torch.eye(H)
                diffs = [loss_fn(gated_attention(mha, row, q, k, v, lens), target) - base for row in closed]
            per_batch.append(torch.stack([d.mean() for d in diffs]))
        elif method == "gradient":
            grads = []
            gates = torch.ones(H, requires_grad=True)
            losses = loss_fn(gated_attention(mha, gates, q, k, v, lens), target)
            for one in losses:
                (g,) = torch.autograd.grad(one, gates, retain_graph=True)
                grads.append(g.abs())
            per_batch.append(torch.stack(grads).mean(dim=0))
        else:  # confidence
            with torch.no_grad():
                mha(q, k, v, lens)
                top = mha.attention.attention_weights.amax(dim=-1)  # (B*H, T)
            per_batch.append(top.reshape(q.shape[0], H, -1).mean(dim=(0, 2)))
    mha.train(mode)
    return torch.stack(per_batch).mean(dim=0)


# %% wrong_sign_and_mode: two mistakes: ablation has the wrong sign, and the module stays in eval mode
# kind: mistake
# breaks: defaults, modes, pruning, purity, values
# equals: importance-other-way-round+importance-left-in-evaluation

import torch
from torch import nn

from grader.given import gated_attention


def head_importance(mha: nn.Module, batches: list, loss_fn, method: str) -> torch.Tensor:
    H = mha.num_heads
    mha.eval()
    scores = torch.zeros(H)
    n = 0
    for queries, keys, values, valid_lens, target in batches:
        if method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            w = mha.attention.attention_weights  # (B*H, T, S)
            best = w.max(dim=-1).values.reshape(-1, H, w.shape[1])  # (B, H, T)
            scores += best.sum(dim=(0, 2))
            n += best.shape[0] * best.shape[2]
        elif method == "gradient":
            # one sample at a time, so that I can take abs of every gradient
            for b in range(queries.shape[0]):
                gates = torch.ones(H, requires_grad=True)
                vl = None if valid_lens is None else valid_lens[b : b + 1]
                out = gated_attention(mha, gates, queries[b : b + 1], keys[b : b + 1], values[b : b + 1], vl)
                loss = loss_fn(out, target[b : b + 1]).sum()
                scores += torch.autograd.grad(loss, gates)[0].abs()
                n += 1
        elif method == "ablation":
            with torch.no_grad():
                full = loss_fn(gated_attention(mha, torch.ones(H), queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = torch.ones(H)
                    gates[h] = 0.0
                    without = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    scores[h] += (full - without).sum()
            n += len(full)
    return scores / n
