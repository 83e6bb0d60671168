# %% right_keys_outside: FlashAttention-2: dk and dv of a block are finished before the next block, dq is added to
# kind: same

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    device = queries.device
    dt = torch.float64 if queries.dtype == torch.float64 else torch.float32
    scale = 1 / math.sqrt(d)
    dq = torch.zeros(B, H, T, d, dtype=dt, device=device)
    dk = torch.zeros(B, H, S, d, dtype=dt, device=device)
    dv = torch.zeros(B, H, S, values.shape[-1], dtype=dt, device=device)
    D = (grad_output.to(dt) * output.to(dt)).sum(dim=-1, keepdim=True)
    for j in range(0, S, block_size):
        c = slice(j, min(j + block_size, S))
        k, v = keys[:, :, c].to(dt), values[:, :, c].to(dt)
        for i in range(0, T, block_size):
            r = slice(i, min(i + block_size, T))
            if causal and c.start > r.stop - 1 + S - T:
                continue
            if window is not None and r.start + S - T - (c.stop - 1) >= window:
                continue
            q, do = queries[:, :, r].to(dt), grad_output[:, :, r].to(dt)
            p = torch.exp(q @ k.mT * scale - lse[:, :, r, None])
            if causal:
                gap = torch.arange(r.start, r.stop, device=device)[:, None] + S - T
                gap = gap - torch.arange(c.start, c.stop, device=device)[None]
                visible = gap >= 0
                if window is not None:
                    visible = visible & (gap < window)
                p = torch.where(visible, p, 0.0)
            dv[:, :, c] += p.mT @ do
            ds = p * (do @ v.mT - D[:, :, r])
            dq[:, :, r] += ds @ k * scale
            dk[:, :, c] += ds.mT @ q * scale
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% right_queries_outside: queries outside, chunks from split, scores masked before exp
# kind: same

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S = queries.size(2), keys.size(2)
    wide = torch.promote_types(queries.dtype, torch.float32)
    q_pos = torch.arange(S - T, S, device=queries.device)
    k_pos = torch.arange(S, device=queries.device)
    scale = queries.size(-1) ** -0.5
    # exp(score - inf) = 0 in empty rows
    lse = torch.where(lse == -torch.inf, torch.inf, lse)

    grads_q = []
    grads_k = [torch.zeros_like(k, dtype=wide) for k in keys.split(block_size, 2)]
    grads_v = [torch.zeros_like(v, dtype=wide) for v in values.split(block_size, 2)]
    tiles = [x.split(block_size, 2) for x in (queries, grad_output, output, lse)]
    for q, do, o, z, qp in zip(*tiles, q_pos.split(block_size)):
        q, do, o = q.to(wide), do.to(wide), o.to(wide)
        delta = (do * o).sum(-1, keepdim=True)
        dq = torch.zeros_like(q)
        kv = zip(
            keys.split(block_size, 2), values.split(block_size, 2), k_pos.split(block_size), grads_k, grads_v
        )
        for k, v, kp, dk, dv in kv:
            if causal and kp[0] > qp[-1]:
                break
            if window is not None and kp[-1] <= qp[0] - window:
                continue
            k, v = k.to(wide), v.to(wide)
            s = torch.einsum("bhid,bhjd->bhij", q, k) * scale
            if causal:
                s = s.masked_fill(kp > qp[:, None], -torch.inf)
            if window is not None:
                s = s.masked_fill(kp <= qp[:, None] - window, -torch.inf)
            p = torch.exp(s - z.unsqueeze(-1))
            dp = torch.einsum("bhiv,bhjv->bhij", do, v)
            ds = p * (dp - delta) * scale
            dq += torch.einsum("bhij,bhjd->bhid", ds, k)
            dk += torch.einsum("bhij,bhid->bhjd", ds, q)
            dv += torch.einsum("bhij,bhiv->bhjv", p, do)
        grads_q.append(dq.to(queries.dtype))
    return torch.cat(grads_q, 2), torch.cat(grads_k, 2).to(keys.dtype), torch.cat(grads_v, 2).to(values.dtype)


# %% right_row_at_a_time: one query with the keys it sees
# kind: same

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.float64 if queries.dtype == torch.float64 else torch.float32
    dq, dk, dv = (torch.zeros(x.shape, dtype=dt, device=x.device) for x in (queries, keys, values))
    for t in range(T):
        end = t + 1 + S - T if causal else S
        begin = max(0, end - window) if window is not None else 0
        if end <= begin:
            continue
        seen = slice(begin, end)
        q, g, o = (x[:, :, t : t + 1].to(dt) for x in (queries, grad_output, output))
        k, v = keys[:, :, seen].to(dt), values[:, :, seen].to(dt)
        p = torch.exp((k @ q.mT) / math.sqrt(d) - lse[:, :, t, None, None])
        dv[:, :, seen] += p * g
        ds = p * (v @ g.mT - (g * o).sum(-1, keepdim=True)) / math.sqrt(d)
        dq[:, :, t] = (ds.mT @ k).squeeze(2)
        dk[:, :, seen] += ds * q
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% right_two_sweeps: one sweep over rows for dq, one over columns for dk and dv
# kind: same

import torch


def visible_mask(rows, cols, causal, window):
    if not causal:
        return None
    gap = rows.unsqueeze(1) - cols.unsqueeze(0)
    return (gap >= 0) if window is None else ((gap >= 0) & (gap < window))


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S = queries.shape[2], keys.shape[2]
    compute = torch.promote_types(queries.dtype, torch.float32)
    q, k, v, do, o = (x.to(compute) for x in (queries, keys, values, grad_output, output))
    scale = q.shape[-1] ** -0.5
    delta = torch.linalg.vecdot(do, o)
    safe_lse = lse.to(compute).nan_to_num(neginf=0.0)

    def tile(i, j):
        r, c = slice(i, min(i + block_size, T)), slice(j, min(j + block_size, S))
        rows = torch.arange(r.start, r.stop, device=q.device) + (S - T)
        cols = torch.arange(c.start, c.stop, device=q.device)
        mask = visible_mask(rows, cols, causal, window)
        if mask is not None and not mask.any():
            return None
        s = q[:, :, r] @ k[:, :, c].mT * scale
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        p = torch.exp(s - safe_lse[:, :, r].unsqueeze(-1))
        ds = p * (do[:, :, r] @ v[:, :, c].mT - delta[:, :, r].unsqueeze(-1))
        return r, c, p, ds

    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(0, T, block_size):
        for j in range(0, S, block_size):
            found = tile(i, j)
            if found is not None:
                r, c, _, ds = found
                dq[:, :, r] += scale * (ds @ k[:, :, c])
    for j in range(0, S, block_size):
        for i in range(0, T, block_size):
            found = tile(i, j)
            if found is not None:
                r, c, p, ds = found
                dk[:, :, c] += scale * (ds.mT @ q[:, :, r])
                dv[:, :, c] += p.mT @ do[:, :, r]
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% right_padded_blocks: zero rows up to full blocks; D is the last column of one product
# kind: same

import torch
import torch.nn.functional as F


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    B, H, T, d = queries.shape
    S, n = keys.shape[2], block_size
    compute = torch.double if queries.dtype == torch.double else torch.float
    to_rows = lambda x: F.pad(x.to(compute), (0, 0, 0, -T % n))
    to_cols = lambda x: F.pad(x.to(compute), (0, 0, 0, -S % n))
    D = (grad_output.to(compute) * output.to(compute)).sum(-1, keepdim=True)
    q, g = to_rows(queries), to_rows(torch.cat((grad_output.to(compute), -D), dim=-1))
    k, v = to_cols(keys), to_cols(torch.cat((values.to(compute), torch.ones_like(values[..., :1])), dim=-1))
    z = to_rows(torch.nan_to_num(lse.to(compute), neginf=0.0).unsqueeze(-1))
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for a in range(0, q.shape[2], n):
        row = torch.arange(a, a + n, device=q.device).unsqueeze(1)
        for b in range(0, k.shape[2], n):
            col = torch.arange(b, b + n, device=q.device).unsqueeze(0)
            ok = (row < T) & (col < S)
            if causal:
                ok = ok & (col <= row + S - T)
            if window is not None:
                ok = ok & (col > row + S - T - window)
            if not ok.any():
                continue
            qa, ga, kb, vb = q[:, :, a : a + n], g[:, :, a : a + n], k[:, :, b : b + n], v[:, :, b : b + n]
            p = (qa @ kb.mT * d**-0.5 - z[:, :, a : a + n]).masked_fill(~ok, -torch.inf).exp()
            ds = p * (ga @ vb.mT) * d**-0.5
            dq[:, :, a : a + n] += ds @ kb
            dk[:, :, b : b + n] += ds.mT @ qa
            dv[:, :, b : b + n] += p.mT @ ga
    return dq[:, :, :T].to(queries.dtype), dk[:, :, :S].to(keys.dtype), dv[:, :, :S, :-1].to(values.dtype)


# %% right_blocks_of_keys: all queries that see something of a block of keys
# kind: same

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    f = torch.float64 if queries.dtype == torch.float64 else torch.float32
    dq = torch.zeros(queries.shape, dtype=f, device=queries.device)
    dk, dv = [], []
    delta = torch.einsum("bhtv,bhtv->bht", grad_output.to(f), output.to(f))
    for start in range(0, S, block_size):
        stop = min(S, start + block_size)
        k, v = keys[:, :, start:stop].to(f), values[:, :, start:stop].to(f)
        lo = max(0, start - (S - T)) if causal else 0
        hi = min(T, stop - 1 + window - (S - T)) if window is not None else T
        if lo >= hi:
            dk.append(torch.zeros_like(k))
            dv.append(torch.zeros_like(v))
            continue
        q, go = queries[:, :, lo:hi].to(f), grad_output[:, :, lo:hi].to(f)
        s = q @ k.transpose(-1, -2) / math.sqrt(d)
        if causal:
            age = torch.arange(lo + S - T, hi + S - T, device=s.device)[:, None] - torch.arange(
                start, stop, device=s.device
            )
            s.masked_fill_(age < 0, -math.inf)
            if window is not None:
                s.masked_fill_(age >= window, -math.inf)
        p = s.sub_(lse[:, :, lo:hi].nan_to_num(neginf=0.0).unsqueeze(-1)).exp_()
        dv.append(p.transpose(-1, -2) @ go)
        ds = (go @ v.transpose(-1, -2)).sub_(delta[:, :, lo:hi].unsqueeze(-1)).mul_(p).div_(math.sqrt(d))
        dk.append(ds.transpose(-1, -2) @ q)
        dq[:, :, lo:hi] += ds @ k
    return dq.to(queries.dtype), torch.cat(dk, 2).to(keys.dtype), torch.cat(dv, 2).to(values.dtype)


# %% right_class_flat_heads: a class of sums on (B·H, T, d) with baddbmm
# kind: same

import torch


class Sums:
    def __init__(self, q, k, v, scale):
        self.q, self.k, self.v, self.scale = q, k, v, scale
        self.dq, self.dk, self.dv = q.new_zeros(q.shape), k.new_zeros(k.shape), v.new_zeros(v.shape)

    def add_tile(self, r, c, do, lse, delta, hidden):
        q, k, v = self.q[:, r], self.k[:, c], self.v[:, c]
        s = torch.baddbmm(-lse[:, r, None], q, k.mT, alpha=self.scale)
        p = s.masked_fill(hidden, -torch.inf).exp()
        ds = p * torch.baddbmm(-delta[:, r, None], do[:, r], v.mT)
        self.dv[:, c].baddbmm_(p.mT, do[:, r])
        self.dq[:, r].baddbmm_(ds, k, alpha=self.scale)
        self.dk[:, c].baddbmm_(ds.mT, q, alpha=self.scale)


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    compute = torch.promote_types(queries.dtype, torch.float32)
    q, k, v, do, o = (x.flatten(0, 1).to(compute) for x in (queries, keys, values, grad_output, output))
    z = lse.flatten(0, 1).to(compute)
    z = z.masked_fill(torch.isneginf(z), 0.0)
    sums = Sums(q, k, v, d**-0.5)
    delta = (do * o).sum(-1)
    for i in range(0, T, block_size):
        rows = range(i + S - T, min(i + block_size, T) + S - T)
        for j in range(0, S, block_size):
            cols = range(j, min(j + block_size, S))
            hidden = torch.tensor(
                [[causal and (c > r or (window is not None and r - c >= window)) for c in cols] for r in rows]
            )
            if hidden.all():
                continue
            sums.add_tile(
                slice(i, min(i + block_size, T)),
                slice(j, min(j + block_size, S)),
                do,
                z,
                delta,
                hidden.to(q.device),
            )
    grads = (sums.dq, sums.dk, sums.dv)
    return tuple(g.view(x.shape).to(x.dtype) for g, x in zip(grads, (queries, keys, values)))


# %% right_softmax_in_the_tile: a softmax within the tile, times exp(lse of the tile - lse)
# kind: same

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S = queries.shape[-2], keys.shape[-2]
    wide = torch.float64 if queries.dtype == torch.float64 else torch.float32
    dq, dk, dv = (torch.zeros_like(x, dtype=wide) for x in (queries, keys, values))
    D = torch.sum(grad_output.to(wide) * output.to(wide), dim=-1)
    full = lse.to(wide).masked_fill(lse == float("-inf"), 0.0)
    for i in range(0, T, block_size):
        q, g = queries[..., i : i + block_size, :].to(wide), grad_output[..., i : i + block_size, :].to(wide)
        oldest, newest = i + S - T, i + S - T + q.shape[-2] - 1
        begin = 0 if window is None else max(0, oldest - window + 1) // block_size * block_size
        end = min(S, newest + 1) if causal else S
        for j in range(begin, end, block_size):
            k, v = keys[..., j : j + block_size, :].to(wide), values[..., j : j + block_size, :].to(wide)
            s = torch.matmul(q, k.transpose(-2, -1)) / q.shape[-1] ** 0.5
            if causal:
                hidden = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu(oldest - j + 1)
                if window is not None:
                    hidden |= torch.ones_like(hidden).tril(oldest - j - window)
                s = s.masked_fill(hidden, float("-inf"))
            part = torch.logsumexp(s, -1) - full[..., i : i + block_size]
            p = torch.nan_to_num(torch.softmax(s, -1), nan=0.0) * torch.exp(part).unsqueeze(-1)
            dS = (
                p
                * (torch.matmul(g, v.transpose(-2, -1)) - D[..., i : i + block_size, None])
                / q.shape[-1] ** 0.5
            )
            dq[..., i : i + block_size, :] += torch.matmul(dS, k)
            dk[..., j : j + block_size, :] += torch.matmul(dS.transpose(-2, -1), q)
            dv[..., j : j + block_size, :] += torch.matmul(p.transpose(-2, -1), g)
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% right_delta_from_the_tiles: D as the mean of dp with the weights p over all tiles, in a pass of its own; the output is not read
# kind: same

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (x.new_zeros(x.shape, dtype=dt) for x in (queries, keys, values))
    reference = torch.where(lse == -torch.inf, torch.zeros_like(lse), lse).to(dt)

    def tiles(i):
        q, g = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
        rows = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            cols = torch.arange(j, j + k.shape[2], device=q.device)
            ok = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
            if causal:
                ok = cols <= rows
            if window is not None:
                ok = ok & (rows - cols < window)
            if ok.any():
                s = (q @ k.mT * d**-0.5).masked_fill(~ok, -torch.inf)
                yield j, q, k, g, torch.exp(s - reference[:, :, i : i + block_size, None]), g @ v.mT

    for i in range(0, T, block_size):
        delta, total = 0.0, 0.0
        for _, _, _, _, p, dp in tiles(i):
            delta = delta + (p * dp).sum(-1, keepdim=True)
            total = total + p.sum(-1, keepdim=True)
        for j, q, k, g, p, dp in tiles(i):
            ds = p * (dp - delta / torch.where(total > 0, total, 1.0)) * d**-0.5
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% right_double_everywhere: float64 inside, indices with numpy, each gradient rounded once
# kind: same

import numpy as np
import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    Q, K, V, dO, O, L = [x.double() for x in (queries, keys, values, grad_output, output, lse)]
    n_q, n_k, root = Q.shape[2], K.shape[2], np.sqrt(Q.shape[-1])
    dQ, dK, dV = torch.zeros_like(Q), torch.zeros_like(K), torch.zeros_like(V)
    P_dot_dP = (dO * O).sum(3)[..., None]
    L = torch.where(torch.isinf(L), torch.zeros_like(L), L)[..., None]
    for i in np.arange(0, n_q, block_size):
        for j in np.arange(0, n_k, block_size):
            I, J = slice(i, min(i + block_size, n_q)), slice(j, min(j + block_size, n_k))
            ii, jj = np.ogrid[I.start : I.stop, J.start : J.stop]
            age = ii + (n_k - n_q) - jj
            see = np.ones_like(age, dtype=bool)
            if causal:
                see = age >= 0
            if window is not None:
                see = see & (age < window)
            if not see.any():
                continue
            Sij = Q[:, :, I] @ K[:, :, J].transpose(2, 3) / root - L[:, :, I]
            Pij = torch.exp(torch.where(torch.as_tensor(see, device=Q.device), Sij, -np.inf))
            dSij = Pij * (dO[:, :, I] @ V[:, :, J].transpose(2, 3) - P_dot_dP[:, :, I]) / root
            dQ[:, :, I] += dSij @ K[:, :, J]
            dK[:, :, J] += dSij.transpose(2, 3) @ Q[:, :, I]
            dV[:, :, J] += Pij.transpose(2, 3) @ dO[:, :, I]
    return dQ.to(queries.dtype), dK.to(keys.dtype), dV.to(values.dtype)


# %% wrong_delta_missing: ds = p * dp
# kind: mistake
# breaks: cost, defaults, masking, values
# equals: back-before-window-computed+back-no-row-term

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    for j in range(0, S, block_size):
        k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
        for i in range(0, T, block_size):
            q, do = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
            gap = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
            gap = gap - torch.arange(j, j + k.shape[2], device=q.device)
            if causal and gap.max() < 0:
                continue
            p = torch.exp(q @ k.mT / math.sqrt(d) - lse[:, :, i : i + block_size, None])
            if causal:
                p = p.masked_fill(gap < 0, 0.0)
            if window is not None:
                p = p.masked_fill(gap >= window, 0.0)
            dp = do @ v.mT
            ds = p * dp / math.sqrt(d)
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ do
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_scale_missing: the scale is in the scores, not in dq and dk
# kind: mistake
# breaks: cost, defaults, masking, values
# equals: back-before-window-computed+back-gradients-not-scaled

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    softmax_scale = queries.shape[-1] ** -0.5
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    delta = (grad_output.to(dt) * output.to(dt)).sum(-1)
    lse = lse.masked_fill(lse == -torch.inf, torch.inf)
    for i in range(0, T, block_size):
        q, do = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
        row = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            col = torch.arange(j, j + k.shape[2], device=q.device)[None]
            if causal and col[0, 0] > row[-1, 0]:
                break
            s = torch.einsum("bhqd,bhkd->bhqk", q, k) * softmax_scale
            if causal:
                s = s.masked_fill(col > row, -torch.inf)
                if window is not None:
                    s = s.masked_fill(row - col >= window, -torch.inf)
            p = torch.exp(s - lse[:, :, i : i + block_size, None])
            dv[:, :, j : j + block_size] += torch.einsum("bhqk,bhqv->bhkv", p, do)
            dp = torch.einsum("bhqv,bhkv->bhqk", do, v)
            ds = p * (dp - delta[:, :, i : i + block_size, None])
            dq[:, :, i : i + block_size] += torch.einsum("bhqk,bhkd->bhqd", ds, k)
            dk[:, :, j : j + block_size] += torch.einsum("bhqk,bhqd->bhkd", ds, q)
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_dk_scaled_twice: the queries are scaled before the loop and dk is scaled again
# kind: mistake
# breaks: defaults, masking, values
# equals: back-keys-scaled-twice

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S = queries.shape[2], keys.shape[2]
    up = torch.float64 if queries.dtype == torch.float64 else torch.float32
    scale = 1.0 / math.sqrt(queries.shape[-1])
    q = queries.to(up) * scale
    k, v, g = keys.to(up), values.to(up), grad_output.to(up)
    D = (g * output.to(up)).sum(dim=-1, keepdim=True)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for t in range(T):
        end = t + 1 + S - T if causal else S
        start = max(end - window, 0) if window is not None else 0
        if end <= 0:
            continue
        s = q[:, :, t : t + 1] @ k[:, :, start:end].mT
        p = torch.exp(s - lse[:, :, t, None, None])
        ds = p * (g[:, :, t : t + 1] @ v[:, :, start:end].mT - D[:, :, t : t + 1])
        dq[:, :, t : t + 1] = ds @ k[:, :, start:end] * scale
        dk[:, :, start:end] += ds.mT @ q[:, :, t : t + 1] * scale
        dv[:, :, start:end] += p.mT @ g[:, :, t : t + 1]
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_dk_overwritten: dk and dv are set by each block of queries, not added to
# kind: mistake
# breaks: masking, values
# equals: back-keys-and-values-overwritten

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    scale = queries.shape[-1] ** -0.5
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    for i in range(0, T, block_size):
        rows = slice(i, min(i + block_size, T))
        q, do = queries[:, :, rows].to(dt), grad_output[:, :, rows].to(dt)
        z = lse[:, :, rows].nan_to_num(neginf=0.0).unsqueeze(-1)
        dq_i = torch.zeros_like(q)
        for j in range(0, S, block_size):
            cols = slice(j, min(j + block_size, S))
            k, v = keys[:, :, cols].to(dt), values[:, :, cols].to(dt)
            gap = torch.arange(rows.start, rows.stop, device=q.device)[:, None] + S - T
            gap = gap - torch.arange(cols.start, cols.stop, device=q.device)
            ok = torch.ones_like(gap, dtype=torch.bool)
            if causal:
                ok = (gap >= 0) if window is None else (gap >= 0) & (gap < window)
            if not ok.any():
                continue
            p = torch.exp((q @ k.mT * scale).masked_fill(~ok, -torch.inf) - z)
            ds = p * (do @ v.mT - D[:, :, rows]) * scale
            dq_i += ds @ k
            dk[:, :, cols] = ds.mT @ q
            dv[:, :, cols] = p.mT @ do
        dq[:, :, rows] = dq_i
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_dq_overwritten: dq is set by each block of keys, not added to
# kind: mistake
# breaks: defaults, masking, values
# equals: back-queries-overwritten

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    scale = queries.shape[-1] ** -0.5
    dq = torch.zeros(queries.shape, dtype=dt, device=queries.device)
    dks, dvs = [], []
    D = torch.einsum("bhtv,bhtv->bht", grad_output.to(dt), output.to(dt)).unsqueeze(-1)
    for j in range(0, S, block_size):
        k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
        dk, dv = torch.zeros_like(k), torch.zeros_like(v)
        for i in range(0, T, block_size):
            q, do = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
            r = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
            c = torch.arange(j, j + k.shape[2], device=q.device)
            if causal and c[0] > r[-1]:
                continue
            if window is not None and c[-1] <= r[0] - window:
                continue
            p = torch.exp(q @ k.mT * scale - lse[:, :, i : i + block_size, None])
            if causal:
                p = torch.where(c <= r, p, 0.0)
            if window is not None:
                p = torch.where(r - c < window, p, 0.0)
            ds = p * (do @ v.mT - D[:, :, i : i + block_size]) * scale
            dv += p.mT @ do
            dk += ds.mT @ q
            dq[:, :, i : i + block_size] = ds @ k
        dks.append(dk)
        dvs.append(dv)
    return dq.to(queries.dtype), torch.cat(dks, 2).to(keys.dtype), torch.cat(dvs, 2).to(values.dtype)


# %% wrong_delta_of_the_output: D = sum of output squared
# kind: mistake
# breaks: defaults, masking, values
# equals: back-row-term-of-output

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    delta = output.to(dt).square().sum(dim=-1, keepdim=True)
    for i in range(0, T, block_size):
        qi, gi = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
        for j in range(0, S, block_size):
            kj, vj = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            gap = (i - j + S - T) + torch.arange(qi.shape[2], device=qi.device)[:, None]
            gap = gap - torch.arange(kj.shape[2], device=qi.device)
            hidden = torch.zeros_like(gap, dtype=torch.bool)
            if causal:
                hidden |= gap < 0
            if window is not None:
                hidden |= gap >= window
            if hidden.all():
                continue
            pij = torch.exp(qi @ kj.mT / math.sqrt(d) - lse[:, :, i : i + block_size, None]).masked_fill(
                hidden, 0
            )
            dsij = pij * (gi @ vj.mT - delta[:, :, i : i + block_size]) / math.sqrt(d)
            dq[:, :, i : i + block_size] += dsij @ kj
            dk[:, :, j : j + block_size] += dsij.mT @ qi
            dv[:, :, j : j + block_size] += pij.mT @ gi
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_delta_of_the_tile: D from p·dp within the tile only
# kind: mistake
# breaks: defaults, masking, values
# equals: back-row-term-of-tile

import torch


def softmax_backward(p, dp):
    return p * (dp - (p * dp).sum(dim=-1, keepdim=True))


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    z = torch.where(torch.isneginf(lse), torch.zeros_like(lse), lse).unsqueeze(-1)
    for j in range(0, S, block_size):
        c = slice(j, min(j + block_size, S))
        for i in range(0, T, block_size):
            r = slice(i, min(i + block_size, T))
            rows = torch.arange(r.start, r.stop, device=lse.device)[:, None] + S - T
            cols = torch.arange(c.start, c.stop, device=lse.device)
            mask = torch.ones(rows.shape[0], cols.shape[0], dtype=torch.bool, device=lse.device)
            if causal:
                mask = cols <= rows
            if window is not None:
                mask = mask & (cols > rows - window)
            if not mask.any():
                continue
            s = torch.where(mask, queries[:, :, r].to(dt) @ keys[:, :, c].to(dt).mT * scale, -torch.inf)
            p = torch.exp(s - z[:, :, r])
            ds = softmax_backward(p, grad_output[:, :, r].to(dt) @ values[:, :, c].to(dt).mT) * scale
            dq[:, :, r] += ds @ keys[:, :, c].to(dt)
            dk[:, :, c] += ds.mT @ queries[:, :, r].to(dt)
            dv[:, :, c] += p.mT @ grad_output[:, :, r].to(dt)
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_delta_over_all_rows: one number for all rows of a head
# kind: mistake
# breaks: masking, values
# equals: back-row-term-of-all-rows

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    q_all, k_all, v_all = queries.to(dt), keys.to(dt), values.to(dt)
    g_all = grad_output.to(dt)
    rowsum = (g_all * output.to(dt)).sum(dim=(-2, -1), keepdim=True)
    dq, dk, dv = torch.zeros_like(q_all), torch.zeros_like(k_all), torch.zeros_like(v_all)
    for start in range(0, S, block_size):
        stop = min(start + block_size, S)
        lo = max(0, start - S + T) if causal else 0
        hi = T if window is None else min(T, stop - 1 + window - S + T)
        if hi <= lo:
            continue
        q, k, v, g = q_all[:, :, lo:hi], k_all[:, :, start:stop], v_all[:, :, start:stop], g_all[:, :, lo:hi]
        p = torch.exp(q @ k.mT / d**0.5 - lse[:, :, lo:hi, None])
        if causal:
            gap = (
                torch.arange(lo, hi, device=q.device)[:, None]
                + S
                - T
                - torch.arange(start, stop, device=q.device)
            )
            p = torch.where(gap < 0, 0.0, p)
            if window is not None:
                p = torch.where(gap >= window, 0.0, p)
        ds = p * (g @ v.mT - rowsum) / d**0.5
        dq[:, :, lo:hi] += ds @ k
        dk[:, :, start:stop] = ds.mT @ q
        dv[:, :, start:stop] = p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_delta_added: dp + D
# kind: mistake
# breaks: defaults, masking, values
# equals: back-row-term-added

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    b, h, t, d = queries.shape
    s = keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    for n in range(t):
        end = s if not causal else n + 1 + s - t
        start = 0 if window is None else max(0, end - window)
        if end <= 0:
            continue
        q, g = queries[:, :, n].to(dt), grad_output[:, :, n].to(dt)
        k, v = keys[:, :, start:end].to(dt), values[:, :, start:end].to(dt)
        p = torch.exp(torch.einsum("bhd,bhsd->bhs", q, k) * d**-0.5 - lse[:, :, n, None])
        delta = torch.einsum("bhv,bhv->bh", g, output[:, :, n].to(dt))
        ds = p * (torch.einsum("bhv,bhsv->bhs", g, v) + delta[..., None]) * d**-0.5
        dq[:, :, n] = torch.einsum("bhs,bhsd->bhd", ds, k)
        dk[:, :, start:end] += torch.einsum("bhs,bhd->bhsd", ds, q)
        dv[:, :, start:end] += torch.einsum("bhs,bhv->bhsv", p, g)
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_softmax_of_the_tile: the weights are the softmax within the tile; lse is not read
# kind: mistake
# breaks: defaults, masking, values
# equals: back-weights-of-tile

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    for i in range(0, T, block_size):
        q, go = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            r = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
            c = torch.arange(j, j + k.shape[2], device=q.device)[None]
            hidden = torch.zeros(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
            if causal:
                hidden = c > r
            if window is not None:
                hidden = hidden | (c <= r - window)
            if hidden.all():
                continue
            p = torch.softmax((q @ k.mT / d**0.5).masked_fill(hidden, -torch.inf), dim=-1).nan_to_num(0.0)
            ds = p * (go @ v.mT - D[:, :, i : i + block_size]) / d**0.5
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ go
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_divided_by_exp_lse: exp(score) / exp(lse)
# kind: mistake
# breaks: cost, masking, values
# equals: back-before-window-computed+back-divided-by-exp

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    delta = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    norm = torch.exp(lse.to(dt)).unsqueeze(-1)
    for i in range(0, T, block_size):
        q, g = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            age = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
            age = age - torch.arange(j, j + k.shape[2], device=q.device)
            if causal and age.max() < 0:
                break
            e = torch.exp(q @ k.mT / math.sqrt(d))
            p = e / norm[:, :, i : i + block_size]
            if causal:
                p = torch.where(age >= 0, p, torch.zeros_like(p))
            if window is not None:
                p = torch.where(age < window, p, torch.zeros_like(p))
            ds = p * (g @ v.mT - delta[:, :, i : i + block_size]) / math.sqrt(d)
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_mask_forgotten: hidden tiles are skipped, but the diagonal tile is not masked
# kind: mistake
# breaks: masking
# equals: back-not-masked

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    z = lse.masked_fill(lse == -torch.inf, torch.inf).unsqueeze(-1)
    for i in range(0, T, block_size):
        i_end = min(i + block_size, T)
        for j in range(0, S, block_size):
            j_end = min(j + block_size, S)
            if causal and j > i_end - 1 + S - T:
                break
            if window is not None and i + S - T - j_end + 1 >= window:
                continue
            q, g = queries[:, :, i:i_end].to(dt), grad_output[:, :, i:i_end].to(dt)
            k, v = keys[:, :, j:j_end].to(dt), values[:, :, j:j_end].to(dt)
            p = torch.exp(q @ k.mT * d**-0.5 - z[:, :, i:i_end])
            ds = p * (g @ v.mT - D[:, :, i:i_end]) * d**-0.5
            dq[:, :, i:i_end] += ds @ k
            dk[:, :, j:j_end] += ds.mT @ q
            dv[:, :, j:j_end] += p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_mask_multiplied_after_exp: exp of hidden scores, then times 0
# kind: mistake
# breaks: masking
# equals: back-mask-after-exp

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    z = lse.to(dt).clamp(min=-1e30).unsqueeze(-1)
    z = torch.where(z < -1e29, torch.zeros_like(z), z)
    for j in range(0, S, block_size):
        k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
        for i in range(0, T, block_size):
            q, g = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
            mask = torch.ones(q.shape[2], k.shape[2], dtype=dt, device=q.device)
            if causal:
                mask = mask.tril(i + S - T - j)
            if window is not None:
                mask = mask.triu(i + S - T - j - window + 1)
            if not mask.any():
                continue
            p = mask * torch.exp(q @ k.mT / d**0.5 - z[:, :, i : i + block_size])
            ds = p * (g @ v.mT - D[:, :, i : i + block_size]) / d**0.5
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_nan_in_empty_rows: hidden scores are -inf and so is the lse of an empty row
# kind: mistake
# breaks: cost, masking
# equals: back-before-window-computed+back-empty-nan

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = torch.sum(grad_output.to(dt) * output.to(dt), dim=-1)
    for i in range(0, T, block_size):
        r = slice(i, min(i + block_size, T))
        q, do = queries[:, :, r].to(dt), grad_output[:, :, r].to(dt)
        for j in range(0, S, block_size):
            c = slice(j, min(j + block_size, S))
            if causal and c.start > r.stop - 1 + S - T:
                break
            k, v = keys[:, :, c].to(dt), values[:, :, c].to(dt)
            s = q @ k.mT / math.sqrt(d)
            if causal:
                row = torch.arange(r.start, r.stop, device=s.device)[:, None] + S - T
                col = torch.arange(c.start, c.stop, device=s.device)
                keep = col <= row
                if window is not None:
                    keep = keep & (row - col < window)
                s = s.masked_fill(~keep, -math.inf)
            p = torch.exp(s - lse[:, :, r, None])
            ds = p * (do @ v.mT - D[:, :, r, None]) / math.sqrt(d)
            dq[:, :, r] += ds @ k
            dk[:, :, c] += ds.mT @ q
            dv[:, :, c] += p.mT @ do
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_last_block_lost: whole blocks only
# kind: mistake
# breaks: defaults, masking, values
# equals: back-last-blocks-lost

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    n, m = min(block_size, T), min(block_size, S)
    for i in range(T // n):
        r = slice(i * n, i * n + n)
        q, g = queries[:, :, r].to(dt), grad_output[:, :, r].to(dt)
        for j in range(S // m):
            c = slice(j * m, j * m + m)
            k, v = keys[:, :, c].to(dt), values[:, :, c].to(dt)
            gap = (
                torch.arange(n, device=q.device)[:, None]
                + r.start
                + S
                - T
                - torch.arange(m, device=q.device)
                - c.start
            )
            ok = torch.ones_like(gap, dtype=torch.bool)
            if causal:
                ok = gap >= 0
            if window is not None:
                ok = ok & (gap < window)
            if not ok.any():
                continue
            p = torch.where(ok, torch.exp(q @ k.mT / d**0.5 - lse[:, :, r, None]), 0.0)
            ds = p * (g @ v.mT - D[:, :, r]) / d**0.5
            dq[:, :, r] += ds @ k
            dk[:, :, c] += ds.mT @ q
            dv[:, :, c] += p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_all_weights_at_once: the whole (T, S) matrices, block_size is not used
# kind: mistake
# breaks: cost
# equals: back-all-at-once

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    q, k, v, do = queries.to(dt), keys.to(dt), values.to(dt), grad_output.to(dt)
    s = q @ k.transpose(-2, -1) / math.sqrt(d)
    if causal:
        gap = torch.arange(T, device=q.device)[:, None] + S - T - torch.arange(S, device=q.device)
        visible = gap >= 0
        if window is not None:
            visible &= gap < window
        s = s.masked_fill(~visible, -math.inf)
    p = torch.exp(s - lse.nan_to_num(neginf=0.0).unsqueeze(-1))
    dv = p.transpose(-2, -1) @ do
    dp = do @ v.transpose(-2, -1)
    D = (do * output.to(dt)).sum(-1, keepdim=True)
    ds = p * (dp - D) / math.sqrt(d)
    return (ds @ k).to(queries.dtype), (ds.transpose(-2, -1) @ q).to(keys.dtype), dv.to(values.dtype)


# %% wrong_hidden_tiles_computed: every tile is computed and masked
# kind: mistake
# breaks: cost
# equals: back-hidden-computed

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    for i in range(0, T, block_size):
        q, g = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
        q_idx = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            k_idx = torch.arange(j, j + k.shape[2], device=q.device)[None, :]
            p = torch.exp(q @ k.mT * scale - lse[:, :, i : i + block_size, None])
            if causal:
                p = p.masked_fill(k_idx > q_idx, 0.0)
            if window is not None:
                p = p.masked_fill(q_idx - k_idx >= window, 0.0)
            ds = p * (g @ v.mT - D[:, :, i : i + block_size]) * scale
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_bfloat16_weights: p and ds in bfloat16 before the products
# kind: mistake
# breaks: defaults, masking, values
# equals: nothing

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    low = torch.bfloat16
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    for j in range(0, S, block_size):
        k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
        for i in range(0, T, block_size):
            q, g = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
            gap = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
            gap = gap - torch.arange(j, j + k.shape[2], device=q.device)
            ok = torch.ones_like(gap, dtype=torch.bool)
            if causal:
                ok = gap >= 0 if window is None else (gap >= 0) & (gap < window)
            if not ok.any():
                continue
            p = torch.where(ok, torch.exp(q @ k.mT * scale - lse[:, :, i : i + block_size, None]), 0.0)
            ds = (p * (g @ v.mT - D[:, :, i : i + block_size]) * scale).to(low)
            dv[:, :, j : j + block_size] += (p.to(low).mT @ g.to(low)).to(dt)
            dq[:, :, i : i + block_size] += (ds @ k.to(low)).to(dt)
            dk[:, :, j : j + block_size] += (ds.mT @ q.to(low)).to(dt)
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_grad_output_in_place: D is made by multiplying grad_output in place
# kind: mistake
# breaks: cost, masking, purity, values
# equals: back-before-window-computed+back-gradient-changed

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    g_all = grad_output.clone().to(dt)
    D = grad_output.mul_(output).sum(-1, keepdim=True, dtype=dt)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    for i in range(0, T, block_size):
        q, g = queries[:, :, i : i + block_size].to(dt), g_all[:, :, i : i + block_size]
        row = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            col = torch.arange(j, j + k.shape[2], device=q.device)
            if causal and j > row[-1]:
                break
            p = torch.exp(q @ k.mT * scale - lse[:, :, i : i + block_size, None])
            if causal:
                p = torch.where(col > row, 0.0, p)
            if window is not None:
                p = torch.where(row - col >= window, 0.0, p)
            ds = p * (g @ v.mT - D[:, :, i : i + block_size]) * scale
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_lse_in_place: the lse of empty rows is replaced in the argument
# kind: mistake
# breaks: purity
# equals: back-lse-changed

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    lse[lse == -torch.inf] = torch.inf
    q, k, v, g = queries.to(dt), keys.to(dt), values.to(dt), grad_output.to(dt)
    D = torch.linalg.vecdot(g, output.to(dt))
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(0, T, block_size):
        for j in range(0, S, block_size):
            r, c = slice(i, min(i + block_size, T)), slice(j, min(j + block_size, S))
            gap = torch.arange(r.start, r.stop, device=q.device)[:, None] + S - T
            gap = gap - torch.arange(c.start, c.stop, device=q.device)[None]
            hidden = torch.zeros_like(gap, dtype=torch.bool)
            if causal:
                hidden |= gap < 0
            if window is not None:
                hidden |= gap >= window
            if hidden.all():
                continue
            s = (q[:, :, r] @ k[:, :, c].mT * scale).masked_fill(hidden, -torch.inf)
            p = torch.exp(s - lse[:, :, r].unsqueeze(-1))
            ds = p * (g[:, :, r] @ v[:, :, c].mT - D[:, :, r].unsqueeze(-1)) * scale
            dq[:, :, r] += ds @ k[:, :, c]
            dk[:, :, c] += ds.mT @ q[:, :, r]
            dv[:, :, c] += p.mT @ g[:, :, r]
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_dv_from_output: dv = pᵀ output
# kind: mistake
# breaks: defaults, masking, values
# equals: back-values-from-output

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    for t in range(T):
        stop = t + 1 + S - T if causal else S
        start = max(stop - window, 0) if window is not None else 0
        if stop <= 0:
            continue
        q, g, o = (x[:, :, t : t + 1].to(dt) for x in (queries, grad_output, output))
        k, v = keys[:, :, start:stop].to(dt), values[:, :, start:stop].to(dt)
        p = torch.exp(q @ k.mT * scale - lse[:, :, t : t + 1, None])
        ds = p * (g @ v.mT - (g * o).sum(-1, keepdim=True)) * scale
        dq[:, :, t : t + 1] = ds @ k
        dk[:, :, start:stop] += ds.mT @ q
        dv[:, :, start:stop] += p.mT @ o
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_ds_without_weights: ds = dp - D
# kind: mistake
# breaks: defaults, masking, values
# equals: back-not-weighted

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    for i in range(0, T, block_size):
        q, g = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
        row = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            col = torch.arange(j, j + k.shape[2], device=q.device)
            ok = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
            if causal:
                ok = col <= row
            if window is not None:
                ok = ok & (row - col < window)
            if not ok.any():
                continue
            p = torch.where(ok, torch.exp(q @ k.mT * scale - lse[:, :, i : i + block_size, None]), 0.0)
            ds = torch.where(ok, g @ v.mT - D[:, :, i : i + block_size], 0.0) * scale
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_window_ignored: the backward knows causal only
# kind: mistake
# breaks: cost, masking
# equals: back-no-window

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    for j in range(0, S, block_size):
        k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
        first = max(0, j - (S - T)) if causal else 0
        q, g = queries[:, :, first:].to(dt), grad_output[:, :, first:].to(dt)
        p = torch.exp(torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(d) - lse[:, :, first:, None])
        if causal:
            rows = torch.arange(first, T, device=q.device) + S - T
            p = p.masked_fill(rows[:, None] < torch.arange(j, j + k.shape[2], device=q.device), 0.0)
        ds = p * (torch.einsum("bhiv,bhjv->bhij", g, v) - D[:, :, first:]) / math.sqrt(d)
        dq[:, :, first:] += torch.einsum("bhij,bhjd->bhid", ds, k)
        dk[:, :, j : j + block_size] = torch.einsum("bhij,bhid->bhjd", ds, q)
        dv[:, :, j : j + block_size] = torch.einsum("bhij,bhiv->bhjv", p, g)
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_gradients_like_queries: dk and dv have the shape of the queries
# kind: mistake
# breaks: cost, defaults, masking, shapes, values
# equals: back-gradients-like-queries

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(queries, dtype=dt) for _ in range(3))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    for i in range(0, T, block_size):
        q, g = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
        row = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            col = torch.arange(j, j + k.shape[2], device=q.device)
            if causal and j > row[-1]:
                break
            p = torch.exp(q @ k.mT * scale - lse[:, :, i : i + block_size, None])
            if causal:
                p = p.masked_fill(col > row, 0.0)
            if window is not None:
                p = p.masked_fill(row - col >= window, 0.0)
            ds = p * (g @ v.mT - D[:, :, i : i + block_size]) * scale
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ g
    return dq.to(queries.dtype), dk.to(queries.dtype), dv.to(queries.dtype)


# %% wrong_order_of_results: (dk, dq, dv)
# kind: mistake
# breaks: defaults, masking, shapes, values
# equals: back-exchanged

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    gq, gk, gv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    for t in range(T):
        stop = t + 1 + S - T if causal else S
        start = max(stop - window, 0) if window is not None else 0
        if stop <= 0:
            continue
        q, g, o = (x[:, :, t, None].to(dt) for x in (queries, grad_output, output))
        k, v = keys[:, :, start:stop].to(dt), values[:, :, start:stop].to(dt)
        p = torch.exp(q @ k.mT / d**0.5 - lse[:, :, t, None, None])
        ds = p * ((g @ v.mT) - (g * o).sum(-1, keepdim=True)) / d**0.5
        gq[:, :, t, None] = ds @ k
        gk[:, :, start:stop] += ds.mT @ q
        gv[:, :, start:stop] += p.mT @ g
    return gk.to(keys.dtype), gq.to(queries.dtype), gv.to(values.dtype)


# %% wrong_first_rows_rounded_up: the first block of queries for a block of keys is rounded up
# kind: mistake
# breaks: cost, masking
# equals: back-before-window-computed+back-skipped-by-first-query

import torch


def cdiv(a, b):
    return -(-a // b)


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    delta = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    for j in range(0, S, block_size):
        k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
        first = max(0, cdiv(j - (S - T), block_size)) if causal else 0
        for n in range(first, cdiv(T, block_size)):
            i = n * block_size
            q, g = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
            gap = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
            gap = gap - torch.arange(j, j + k.shape[2], device=q.device)[None, :]
            p = torch.exp(torch.matmul(q, k.mT) * scale - lse[:, :, i : i + block_size, None])
            if causal:
                p = torch.where(gap >= 0, p, torch.zeros_like(p))
                if window is not None:
                    p = torch.where(gap < window, p, torch.zeros_like(p))
            ds = p * (torch.matmul(g, v.mT) - delta[:, :, i : i + block_size]) * scale
            dq[:, :, i : i + block_size] += torch.matmul(ds, k)
            dk[:, :, j : j + block_size] += torch.matmul(ds.mT, q)
            dv[:, :, j : j + block_size] += torch.matmul(p.mT, g)
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_autograd: the forward again, then torch.autograd.grad
# kind: mistake
# breaks: cost
# equals: back-all-at-once

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    with torch.enable_grad():
        q, k, v = (x.detach().clone().requires_grad_() for x in (queries, keys, values))
        s = q @ k.mT * scale
        if causal:
            gap = torch.arange(T, device=q.device)[:, None] + S - T - torch.arange(S, device=q.device)
            ok = (gap >= 0) if window is None else (gap >= 0) & (gap < window)
            s = s.masked_fill(~ok, torch.finfo(s.dtype).min)
            out = s.softmax(-1).masked_fill(~ok, 0.0) @ v
        else:
            out = s.softmax(-1) @ v
        return torch.autograd.grad(out, (q, k, v), grad_output)


# %% wrong_upper_left: the causal mask of the upper left corner
# kind: different
# breaks: cost, masking
# equals: back-before-window-computed+back-upper-left

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    z = lse.masked_fill(lse == -torch.inf, torch.inf).unsqueeze(-1)
    for j in range(0, S, block_size):
        k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
        for i in range(j // block_size * block_size if causal else 0, T, block_size):
            q, g = queries[:, :, i : i + block_size].to(dt), grad_output[:, :, i : i + block_size].to(dt)
            gap = torch.arange(i, i + q.shape[2], device=q.device)[:, None]
            gap = gap - torch.arange(j, j + k.shape[2], device=q.device)[None, :]
            p = torch.exp(q @ k.mT * scale - z[:, :, i : i + block_size])
            if causal:
                p = torch.where(gap >= 0, p, 0.0)
            if window is not None:
                p = torch.where(gap < window, p, 0.0)
            ds = p * (g @ v.mT - D[:, :, i : i + block_size]) * scale
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_lse_base_two: exp2(score · log2(e) - lse), lse to base 2
# kind: different
# breaks: cost, defaults, masking, values
# equals: back-before-window-computed+back-lse-base-two

import math

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    dt = torch.promote_types(queries.dtype, torch.float32)
    sm_scale, qk_scale = d**-0.5, d**-0.5 / math.log(2)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    Di = (output.to(dt) * grad_output.to(dt)).sum(-1)
    for start_n in range(0, S, block_size):
        k, v = (
            keys[:, :, start_n : start_n + block_size].to(dt),
            values[:, :, start_n : start_n + block_size].to(dt),
        )
        offs_n = torch.arange(start_n, start_n + k.shape[2], device=k.device)
        for start_m in range(0, T, block_size):
            q, do = (
                queries[:, :, start_m : start_m + block_size].to(dt),
                grad_output[:, :, start_m : start_m + block_size].to(dt),
            )
            offs_m = torch.arange(start_m, start_m + q.shape[2], device=q.device) + S - T
            if causal and offs_n[0] > offs_m[-1]:
                continue
            p = torch.exp2(q @ k.mT * qk_scale - lse[:, :, start_m : start_m + block_size, None])
            if causal:
                p = torch.where(offs_m[:, None] >= offs_n, p, 0.0)
            if window is not None:
                p = torch.where(offs_m[:, None] - offs_n < window, p, 0.0)
            dv[:, :, start_n : start_n + block_size] += p.mT @ do
            ds = p * (do @ v.mT - Di[:, :, start_m : start_m + block_size, None]) * sm_scale
            dk[:, :, start_n : start_n + block_size] += ds.mT @ q
            dq[:, :, start_m : start_m + block_size] += ds @ k
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% wrong_window_one_larger: q - k <= window
# kind: different
# breaks: masking
# equals: back-window-one-larger

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    dq, dk, dv = (torch.zeros_like(x, dtype=dt) for x in (queries, keys, values))
    D = (grad_output.to(dt) * output.to(dt)).sum(-1, keepdim=True)
    for i in range(T):
        right = i + S - T + 1 if causal else S
        left = max(right - 1 - window, 0) if window is not None else 0
        for j in range(left, right, block_size):
            c = slice(j, min(j + block_size, right))
            q, g = queries[:, :, i : i + 1].to(dt), grad_output[:, :, i : i + 1].to(dt)
            k, v = keys[:, :, c].to(dt), values[:, :, c].to(dt)
            p = torch.exp(q @ k.mT * scale - lse[:, :, i : i + 1, None])
            ds = p * (g @ v.mT - D[:, :, i : i + 1]) * scale
            dq[:, :, i : i + 1] += ds @ k
            dk[:, :, c] += ds.mT @ q
            dv[:, :, c] += p.mT @ g
    return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)


# %% right_sums_in_half: the gradients are summed in the dtype of the inputs
# kind: same

import torch


def tiled_attention_backward(
    grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None
):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dq, dk, dv = torch.zeros_like(queries), torch.zeros_like(keys), torch.zeros_like(values)
    D = (grad_output * output).sum(-1, keepdim=True)
    for j in range(0, S, block_size):
        k, v = keys[:, :, j : j + block_size], values[:, :, j : j + block_size]
        for i in range(0, T, block_size):
            q, g = queries[:, :, i : i + block_size], grad_output[:, :, i : i + block_size]
            gap = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
            gap = gap - torch.arange(j, j + k.shape[2], device=q.device)
            ok = torch.ones_like(gap, dtype=torch.bool)
            if causal:
                ok = gap >= 0 if window is None else (gap >= 0) & (gap < window)
            if not ok.any():
                continue
            p = (
                torch.exp(q @ k.mT * scale - lse[:, :, i : i + block_size, None])
                .masked_fill(~ok, 0.0)
                .to(q.dtype)
            )
            ds = p * (g @ v.mT - D[:, :, i : i + block_size]) * scale
            dq[:, :, i : i + block_size] += ds @ k
            dk[:, :, j : j + block_size] += ds.mT @ q
            dv[:, :, j : j + block_size] += p.mT @ g
    return dq, dk, dv
