# %% right_m_l_acc: FlashAttention-2: blocks of queries outside, (m, l, acc) over blocks of keys
# kind: same

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S, v_dim = values.shape[-2:]
    offset = S - T
    dtype = torch.float64 if queries.dtype == torch.float64 else torch.float32
    output = torch.zeros(B, H, T, v_dim, dtype=queries.dtype, device=queries.device)
    lse = torch.full((B, H, T), -math.inf, dtype=dtype, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dtype) / math.sqrt(d)
        rows = torch.arange(i, i + q.size(2), device=q.device) + offset
        m = torch.full(q.shape[:-1], -math.inf, dtype=dtype, device=q.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(*q.shape[:-1], v_dim, dtype=dtype, device=q.device)
        last_row = i + q.size(2) - 1 + offset
        for j in range(0, S, block_size):
            k = keys[:, :, j : j + block_size].to(dtype)
            v = values[:, :, j : j + block_size].to(dtype)
            if causal and j > last_row:
                break
            if window is not None and j + k.size(2) - 1 <= i + offset - window:
                continue
            s = q @ k.transpose(-1, -2)
            if causal:
                cols = torch.arange(j, j + k.size(2), device=q.device)
                gap = rows[:, None] - cols[None, :]
                visible = gap >= 0
                if window is not None:
                    visible &= gap < window
                s = s.masked_fill(~visible, -math.inf)
            m_new = torch.maximum(m, s.amax(dim=-1))
            m_safe = torch.where(m_new == -math.inf, 0.0, m_new)
            p = torch.exp(s - m_safe[..., None])
            alpha = torch.exp(m - m_safe)
            l = alpha * l + p.sum(dim=-1)
            acc = alpha[..., None] * acc + p @ v
            m = m_new
        output[:, :, i : i + block_size] = (acc / torch.where(l == 0, 1.0, l)[..., None]).to(queries.dtype)
        lse[:, :, i : i + block_size] = m + torch.log(l)
    return output, lse


# %% right_merging_states: each tile is a state, merged into the one so far
# kind: same

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    lse = torch.logaddexp(lse_a, lse_b)
    ref = lse.masked_fill(lse.isneginf(), 0.0)
    return torch.exp(lse_a - ref)[..., None] * out_a + torch.exp(lse_b - ref)[..., None] * out_b, lse


def tile(q, k, v, visible):
    s = torch.einsum("bhtd,bhsd->bhts", q, k) * q.shape[-1] ** -0.5
    if visible is not None:
        s = torch.where(visible, s, float("-inf"))
    return torch.softmax(s, dim=-1).nan_to_num(nan=0.0) @ v, torch.logsumexp(s, dim=-1)


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    work = torch.promote_types(queries.dtype, torch.float32)
    q_positions = torch.arange(S - T, S, device=queries.device)
    k_positions = torch.arange(S, device=queries.device)
    outs, lses = [], []
    for q, qp in zip(queries.split(block_size, 2), q_positions.split(block_size)):
        q = q.to(work)
        out = q.new_zeros(*q.shape[:3], values.shape[-1])
        lse = q.new_full(q.shape[:3], float("-inf"))
        for k, v, kp in zip(
            keys.split(block_size, 2), values.split(block_size, 2), k_positions.split(block_size)
        ):
            visible = None
            if causal:
                if kp[0] > qp[-1] or (window is not None and qp[0] - kp[-1] >= window):
                    continue
                visible = kp <= qp[:, None]
                if window is not None:
                    visible = visible & (kp > qp[:, None] - window)
            out, lse = merge_state(out, lse, *tile(q, k.to(work), v.to(work), visible))
        outs.append(out.to(queries.dtype))
        lses.append(lse)
    return torch.cat(outs, dim=2), torch.cat(lses, dim=2)


# %% right_row_at_a_time: each query with exactly the keys it sees
# kind: same

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    b, h, t, d = queries.shape
    s = keys.shape[2]
    compute = torch.float64 if queries.dtype == torch.float64 else torch.float32
    out = queries.new_zeros(b, h, t, values.shape[-1])
    lse = torch.full((b, h, t), float("-inf"), dtype=compute, device=queries.device)
    for i in range(t):
        end = i + 1 + s - t if causal else s
        start = max(0, end - window) if window is not None else 0
        if end <= start:
            continue
        q = queries[:, :, i, :, None].to(compute) / math.sqrt(d)
        row = (keys[:, :, start:end].to(compute) @ q).squeeze(-1)
        lse[:, :, i] = row.logsumexp(-1)
        p = row.softmax(-1).unsqueeze(-2)
        out[:, :, i] = (p @ values[:, :, start:end].to(compute)).squeeze(-2).to(out.dtype)
    return out, lse


# %% right_two_passes: lse over all tiles first, then the weighted sum
# kind: same

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S, d = queries.size(-2), keys.size(-2), queries.size(-1)
    wide = queries.dtype if queries.dtype == torch.float64 else torch.float32
    q_all, k_all, v_all = queries.to(wide), keys.to(wide), values.to(wide)

    def scores(i, j):
        """One tile, or None if nothing of it is visible."""
        qs = q_all[..., i : i + block_size, :]
        ks = k_all[..., j : j + block_size, :]
        first, last = i + S - T, i + S - T + qs.size(-2) - 1
        if causal and j > last:
            return None
        if window is not None and first - (j + ks.size(-2) - 1) >= window:
            return None
        tile = qs.matmul(ks.mT) / math.sqrt(d)
        if causal:
            r = torch.arange(first, last + 1, device=tile.device).view(-1, 1)
            c = torch.arange(j, j + ks.size(-2), device=tile.device).view(1, -1)
            hidden = c > r
            if window is not None:
                hidden = hidden | (c <= r - window)
            tile = tile.masked_fill(hidden, -torch.inf)
        return tile

    lse = torch.full(queries.shape[:-1], -torch.inf, dtype=wide, device=queries.device)
    out = torch.zeros(*queries.shape[:-1], values.size(-1), dtype=wide, device=queries.device)
    for i in range(0, T, block_size):
        rows = slice(i, i + block_size)
        for j in range(0, S, block_size):
            tile = scores(i, j)
            if tile is not None:
                lse[..., rows] = torch.logaddexp(lse[..., rows], tile.logsumexp(-1))
        finite = lse[..., rows].nan_to_num(neginf=0.0).unsqueeze(-1)
        for j in range(0, S, block_size):
            tile = scores(i, j)
            if tile is not None:
                out[..., rows, :] += (tile - finite).exp() @ v_all[..., j : j + block_size, :]
    return out.to(queries.dtype), lse


# %% right_padded_blocks: zero rows up to full blocks, cut off at the end
# kind: same

import torch
import torch.nn.functional as F


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S, V = keys.shape[2], values.shape[3]
    n = block_size
    compute = torch.double if queries.dtype == torch.double else torch.float
    q = F.pad(queries.to(compute), (0, 0, 0, -T % n)) * d**-0.5
    k = F.pad(keys.to(compute), (0, 0, 0, -S % n))
    v = F.pad(values.to(compute), (0, 0, 0, -S % n))
    outs, lses = [], []
    for i in range(q.shape[2] // n):
        qi = q[:, :, i * n : (i + 1) * n]
        row = torch.arange(i * n, (i + 1) * n, device=q.device)[:, None] + (S - T)
        m = torch.full((B, H, n, 1), -torch.inf, dtype=compute, device=q.device)
        l = torch.zeros_like(m)
        o = torch.zeros(B, H, n, V, dtype=compute, device=q.device)
        for j in range(k.shape[2] // n):
            col = torch.arange(j * n, (j + 1) * n, device=q.device)[None]
            ok = (col < S).expand(n, n)
            if causal:
                ok = ok & (col <= row)
            if window is not None:
                ok = ok & (row - col < window)
            if not ok.any():
                continue
            sij = (qi @ k[:, :, j * n : (j + 1) * n].mT).masked_fill(ok.logical_not(), -torch.inf)
            m_next = torch.maximum(m, sij.max(dim=-1, keepdim=True).values)
            shift = m_next.clone()
            shift[shift == -torch.inf] = 0
            pij = torch.exp(sij - shift)
            keep = torch.exp(m - shift)
            o = keep * o + pij @ v[:, :, j * n : (j + 1) * n]
            l = keep * l + pij.sum(-1, keepdim=True)
            m = m_next
        outs.append(o / l.masked_fill(l == 0, 1))
        lses.append((m + l.log()).squeeze(-1))
    return torch.cat(outs, 2)[:, :, :T].to(queries.dtype), torch.cat(lses, 2)[:, :, :T]


# %% right_blocks_of_keys: all queries that see something of a block of keys at once
# kind: same

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    f = torch.float64 if queries.dtype == torch.float64 else torch.float32
    numerator = torch.zeros(B, H, T, values.shape[-1], dtype=f, device=queries.device)
    denominator = torch.zeros(B, H, T, dtype=f, device=queries.device)
    maximum = torch.full((B, H, T), -math.inf, dtype=f, device=queries.device)
    for start in range(0, S, block_size):
        stop = min(start + block_size, S)
        lo, hi = 0, T
        if causal:
            lo = max(0, start - (S - T))
        if window is not None:
            hi = min(T, stop - 1 + window - (S - T))
        if lo >= hi:
            continue
        q = queries[:, :, lo:hi].to(f)
        scores = q @ keys[:, :, start:stop].to(f).transpose(2, 3) / math.sqrt(d)
        if causal:
            distance = torch.arange(lo + S - T, hi + S - T)[:, None] - torch.arange(start, stop)
            hidden = distance < 0 if window is None else (distance < 0) | (distance >= window)
            scores.masked_fill_(hidden.to(scores.device), -math.inf)
        old = maximum[:, :, lo:hi]
        new = torch.maximum(old, scores.amax(-1))
        reference = new.clamp(min=torch.finfo(f).min)
        e = torch.exp(scores - reference.unsqueeze(-1))
        factor = torch.exp(old - reference)
        denominator[:, :, lo:hi] = denominator[:, :, lo:hi] * factor + e.sum(-1)
        numerator[:, :, lo:hi] *= factor.unsqueeze(-1)
        numerator[:, :, lo:hi] += e @ values[:, :, start:stop].to(f)
        maximum[:, :, lo:hi] = new
    lse = maximum + denominator.log()
    denominator[denominator == 0] = 1
    return (numerator / denominator.unsqueeze(-1)).to(queries.dtype), lse


# %% right_keys_outside_normalised: FlashAttention-1: keys outside, the stored output is normalised and rescaled each time
# kind: same

import torch
from torch import einsum


def exists(x):
    return x is not None


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    device, diff = queries.device, keys.shape[-2] - queries.shape[-2]
    up = torch.float64 if queries.dtype == torch.float64 else torch.float32
    scale = queries.shape[-1] ** -0.5
    o = torch.zeros(*queries.shape[:-1], values.shape[-1], device=device, dtype=up)
    row_sums = torch.zeros(*queries.shape[:-1], 1, device=device, dtype=up)
    row_maxes = torch.full_like(row_sums, float("-inf"))

    cols = zip(keys.split(block_size, dim=-2), values.split(block_size, dim=-2))
    for col_index, (kc, vc) in enumerate(cols):
        k_start = col_index * block_size
        rows = zip(
            queries.split(block_size, dim=-2),
            o.split(block_size, dim=-2),
            row_sums.split(block_size, dim=-2),
            row_maxes.split(block_size, dim=-2),
        )
        for row_index, (qc, oc, lc, mc) in enumerate(rows):
            q_start = row_index * block_size + diff
            if causal and q_start + qc.shape[-2] - 1 < k_start:
                continue
            if exists(window) and q_start - (k_start + kc.shape[-2] - 1) >= window:
                continue
            weights = einsum("... i d, ... j d -> ... i j", qc.to(up), kc.to(up)) * scale
            if causal:
                qpos = torch.arange(q_start, q_start + qc.shape[-2], device=device)[:, None]
                kpos = torch.arange(k_start, k_start + kc.shape[-2], device=device)[None, :]
                mask = qpos >= kpos
                if exists(window):
                    mask = mask & (qpos - kpos < window)
                weights = weights.masked_fill(~mask, float("-inf"))
            block_max = weights.amax(dim=-1, keepdim=True)
            new_max = torch.maximum(block_max, mc)
            safe_max = torch.where(torch.isfinite(new_max), new_max, torch.zeros_like(new_max))
            exp_weights = torch.exp(weights - safe_max)
            exp_old = torch.exp(mc - safe_max)
            new_sum = exp_old * lc + exp_weights.sum(dim=-1, keepdim=True)
            update = exp_old * lc * oc + einsum("... i j, ... j d -> ... i d", exp_weights, vc.to(up))
            oc.copy_(update / torch.where(new_sum > 0, new_sum, torch.ones_like(new_sum)))
            lc.copy_(new_sum)
            mc.copy_(new_max)
    return o.to(queries.dtype), (row_maxes + row_sums.log()).squeeze(-1)


# %% right_class: a class with update and finish, on flattened heads
# kind: same

import torch


class OnlineSoftmax:
    def __init__(self, n, rows, size, like):
        self.m = torch.full((n, rows, 1), -torch.inf, dtype=like.dtype, device=like.device)
        self.l = like.new_zeros(n, rows, 1)
        self.acc = like.new_zeros(n, rows, size)

    def update(self, scores, values):
        m = torch.max(self.m, scores.max(-1, keepdim=True)[0])
        base = m.masked_fill(m == -torch.inf, 0.0)
        w = (scores - base).exp_()
        c = (self.m - base).exp_()
        self.l.mul_(c).add_(w.sum(-1, keepdim=True))
        self.acc.mul_(c).baddbmm_(w, values)
        self.m = m

    def finish(self):
        seen = self.l > 0
        out = torch.where(seen, self.acc / torch.where(seen, self.l, 1.0), 0.0)
        return out, (self.m + self.l.log())[..., 0]


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S, size = values.shape[2:]
    compute = torch.promote_types(torch.float32, queries.dtype)
    q = queries.reshape(B * H, T, d).to(compute)
    k = keys.reshape(B * H, S, d).to(compute)
    v = values.reshape(B * H, S, size).to(compute)
    out = torch.empty(B * H, T, size, dtype=queries.dtype, device=q.device)
    lse = torch.empty(B * H, T, dtype=compute, device=q.device)
    for i0 in range(0, T, block_size):
        i1 = min(i0 + block_size, T)
        state = OnlineSoftmax(B * H, i1 - i0, size, q)
        newest = i1 - 1 + S - T
        oldest = i0 + S - T - window + 1 if window is not None else 0
        j_first = max(oldest, 0) // block_size * block_size
        j_stop = min(S, newest + 1) if causal else S
        for j0 in range(j_first, j_stop, block_size):
            j1 = min(j0 + block_size, j_stop)
            s = torch.bmm(q[:, i0:i1], k[:, j0:j1].mT) * d**-0.5
            if causal:
                gap = (torch.arange(i0, i1) + S - T).unsqueeze(1) - torch.arange(j0, j1).unsqueeze(0)
                bad = (gap < 0) if window is None else ((gap < 0) | (gap > window - 1))
                s[:, bad.to(s.device)] = -torch.inf
            state.update(s, v[:, j0:j1])
        out[:, i0:i1], lse[:, i0:i1] = state.finish()
    return out.view(B, H, T, size), lse.view(B, H, T)


# %% right_double_everywhere: float64 inside, lse stays float64
# kind: same

import numpy as np
import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    Q, K, V = queries.double(), keys.double(), values.double()
    O, L = [], []
    for r0 in range(0, T, block_size):
        Qi = Q[:, :, r0 : r0 + block_size] / np.sqrt(Q.shape[-1])
        qi = np.arange(r0, r0 + Qi.shape[2])[:, None] + S - T
        Li = torch.full(Qi.shape[:-1], -np.inf, dtype=torch.float64, device=Q.device)
        Oi = torch.zeros(*Qi.shape[:-1], V.shape[-1], dtype=torch.float64, device=Q.device)
        for c0 in range(0, S, block_size):
            Kj, Vj = K[:, :, c0 : c0 + block_size], V[:, :, c0 : c0 + block_size]
            kj = np.arange(c0, c0 + Kj.shape[2])[None, :]
            see = np.ones((qi.shape[0], kj.shape[1]), dtype=bool)
            if causal:
                see &= kj <= qi
            if window is not None:
                see &= qi - kj < window
            if not see.any():
                continue
            Sij = Qi @ Kj.transpose(-2, -1)
            Sij[..., torch.from_numpy(~see).to(Q.device)] = -np.inf
            new = torch.logaddexp(Li, torch.logsumexp(Sij, -1))
            base = torch.where(new == -np.inf, 0.0, new)
            Oi = Oi * torch.exp(Li - base)[..., None] + torch.exp(Sij - base[..., None]) @ Vj
            Li = new
        O.append(Oi)
        L.append(Li)
    return torch.cat(O, 2).to(queries.dtype), torch.cat(L, 2)


# %% right_sigmoid_update: states merged with sigmoid and logsigmoid, as in ring attention
# kind: same

import torch
import torch.nn.functional as F


def tile_state(q, k, v, rows, cols, causal, window):
    s = torch.matmul(q, k.transpose(-1, -2)) * (q.shape[-1] ** -0.5)
    if causal:
        keep = cols[None, :].le(rows[:, None])
        if window is not None:
            keep = keep.logical_and(cols[None, :].gt(rows[:, None] - window))
        s = s.masked_fill(keep.logical_not(), float("-inf"))
    block_lse = s.logsumexp(dim=-1, keepdim=True)
    p = (s - block_lse.masked_fill(block_lse == float("-inf"), 0.0)).exp()
    return torch.matmul(p, v), block_lse


def update(out, lse, block_out, block_lse):
    diff = (block_lse - lse).nan_to_num(nan=0.0, posinf=float("inf"), neginf=float("-inf"))
    out = out - torch.sigmoid(diff) * (out - block_out)
    lse = torch.where(lse == float("-inf"), block_lse, lse - F.logsigmoid(-diff))
    return out, lse


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.float64 if queries.dtype == torch.float64 else torch.float32
    out = torch.zeros(*queries.shape[:-1], values.shape[-1], dtype=dt, device=queries.device)
    lse = torch.full((*queries.shape[:-1], 1), float("-inf"), dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt)
        rows = torch.arange(i, i + q.shape[2], device=q.device) + S - T
        o, z = out[:, :, i : i + block_size], lse[:, :, i : i + block_size]
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            cols = torch.arange(j, j + k.shape[2], device=q.device)
            if causal and (int(cols[0]) > int(rows[-1])):
                break
            if window is not None and int(cols[-1]) <= int(rows[0]) - window:
                continue
            o, z = update(o, z, *tile_state(q, k, v, rows, cols, causal, window))
        out[:, :, i : i + block_size] = o
        lse[:, :, i : i + block_size] = z
    return out.to(queries.dtype), lse.squeeze(-1)


# %% right_recursive_halves: keys are halved until they fit, halves are merged
# kind: same

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    compute = torch.float64 if queries.dtype == torch.float64 else torch.float32

    def attend(q, first, lo, hi):
        n = q.shape[2]
        hidden_by_time = causal and lo > first + n - 1
        hidden_by_window = window is not None and hi - 1 <= first - window
        if hidden_by_time or hidden_by_window or lo >= hi:
            return None
        if hi - lo > block_size:
            mid = lo + (hi - lo + 1) // 2
            return merged(attend(q, first, lo, mid), attend(q, first, mid, hi))
        s = q @ keys[:, :, lo:hi].to(compute).mT
        if causal:
            age = torch.arange(first, first + n, device=q.device)[:, None] - torch.arange(
                lo, hi, device=q.device
            )
            ok = age >= 0
            if window is not None:
                ok &= age < window
            s = s.masked_fill(~ok, -torch.inf)
        m = s.amax(-1, keepdim=True)
        e = torch.exp(s - m.nan_to_num(neginf=0.0))
        return m, e.sum(-1, keepdim=True), e @ values[:, :, lo:hi].to(compute)

    def merged(a, b):
        if a is None or b is None:
            return b if a is None else a
        m = torch.maximum(a[0], b[0])
        base = m.nan_to_num(neginf=0.0)
        x, y = torch.exp(a[0] - base), torch.exp(b[0] - base)
        return m, x * a[1] + y * b[1], x * a[2] + y * b[2]

    out = queries.new_zeros(*queries.shape[:3], values.shape[-1])
    lse = torch.full(queries.shape[:3], -torch.inf, dtype=compute, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(compute) * queries.shape[-1] ** -0.5
        state = attend(q, i + S - T, 0, S)
        if state is not None:
            m, l, acc = state
            out[:, :, i : i + block_size] = (acc / l.clamp(min=1e-30)).to(out.dtype)
            lse[:, :, i : i + block_size] = (m + l.log()).squeeze(-1)
    return out, lse


# %% wrong_accumulator_not_rescaled: the sum is rescaled, the accumulator is not
# kind: mistake
# breaks: cost, masking, values
# equals: tiles-acc-not-shrunk+tiles-before-window-computed

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S, d = queries.size(2), keys.size(2), queries.size(3)
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(*queries.shape[:3], values.size(3), dtype=queries.dtype, device=queries.device)
    lse = torch.zeros(queries.shape[:3], dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt)
        m = torch.full((*q.shape[:3], 1), -math.inf, dtype=dt, device=queries.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(*q.shape[:3], values.size(3), dtype=dt, device=queries.device)
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            r = torch.arange(i, i + q.size(2), device=queries.device).view(-1, 1) + S - T
            c = torch.arange(j, j + k.size(2), device=queries.device)
            if causal and c[0] > r[-1, 0]:
                continue
            s = q @ k.mT / math.sqrt(d)
            if causal:
                s = s.masked_fill(c > r, -math.inf)
            if window is not None:
                s = s.masked_fill(c <= r - window, -math.inf)
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            safe = torch.where(m_new == -math.inf, torch.zeros_like(m_new), m_new)
            p = torch.exp(s - safe)
            l = l * torch.exp(m - safe) + p.sum(-1, keepdim=True)
            acc = acc + p @ v
            m = m_new
        out[:, :, i : i + block_size] = acc / l.clamp(min=1e-30)
        lse[:, :, i : i + block_size] = (m + torch.log(l)).squeeze(-1)
    return out, lse


# %% wrong_sum_not_rescaled: the accumulator is rescaled, the sum is not
# kind: mistake
# breaks: masking, values
# later: device
# equals: tiles-sum-not-shrunk

import torch


class State:
    def __init__(self, rows, v_dim, dtype):
        self.max = torch.full(rows, float("-inf"), dtype=dtype)
        self.sum = torch.zeros(rows, dtype=dtype)
        self.acc = torch.zeros(*rows, v_dim, dtype=dtype)

    def add(self, s, v):
        new = torch.maximum(self.max, s.max(dim=-1).values)
        ref = new.masked_fill(new == float("-inf"), 0)
        p = torch.exp(s - ref.unsqueeze(-1))
        self.acc = self.acc * torch.exp(self.max - ref).unsqueeze(-1) + p @ v
        self.sum = self.sum + p.sum(dim=-1)
        self.max = new


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dtype = torch.promote_types(queries.dtype, torch.float32)
    outs, lses = [], []
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dtype) * queries.shape[-1] ** -0.5
        state = State(q.shape[:3], values.shape[-1], dtype)
        pos = torch.arange(i, i + q.shape[2])[:, None] + (S - T)
        for j in range(0, S, block_size):
            k = keys[:, :, j : j + block_size].to(dtype)
            cols = torch.arange(j, j + k.shape[2])[None]
            ok = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool)
            if causal:
                ok = ok & (cols <= pos)
            if window is not None:
                ok = ok & (pos - cols < window)
            if ok.any():
                state.add(
                    (q @ k.mT).masked_fill(~ok, float("-inf")), values[:, :, j : j + block_size].to(dtype)
                )
        total = state.sum.masked_fill(state.sum == 0, 1)
        outs.append((state.acc / total.unsqueeze(-1)).to(queries.dtype))
        lses.append(state.max + state.sum.log())
    return torch.cat(outs, dim=2), torch.cat(lses, dim=2)


# %% wrong_lse_without_log: lse = m + l
# kind: mistake
# breaks: masking, values
# equals: tiles-lse-without-log

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    b, h, n_q, d = queries.shape
    n_k = keys.shape[2]
    dt = torch.float64 if queries.dtype == torch.float64 else torch.float32
    o = torch.zeros((b, h, n_q, values.shape[3]), dtype=dt, device=queries.device)
    L = torch.zeros((b, h, n_q), dtype=dt, device=queries.device)
    for i in range(math.ceil(n_q / block_size)):
        lo, hi = i * block_size, min((i + 1) * block_size, n_q)
        m = torch.full((b, h, hi - lo), float("-inf"), dtype=dt, device=queries.device)
        l = torch.zeros_like(m)
        acc = torch.zeros_like(o[:, :, lo:hi])
        for j in range(math.ceil(n_k / block_size)):
            a, z = j * block_size, min((j + 1) * block_size, n_k)
            if causal and a > hi - 1 + n_k - n_q:
                break
            if window is not None and z - 1 <= lo + n_k - n_q - window:
                continue
            s = torch.einsum(
                "bhqd,bhkd->bhqk", queries[:, :, lo:hi].to(dt), keys[:, :, a:z].to(dt)
            ) / math.sqrt(d)
            if causal:
                gap = (
                    torch.arange(lo, hi, device=queries.device)[:, None]
                    + n_k
                    - n_q
                    - torch.arange(a, z, device=queries.device)[None]
                )
                s = s.masked_fill(gap < 0, float("-inf"))
                if window is not None:
                    s = s.masked_fill(gap >= window, float("-inf"))
            m_new = torch.maximum(m, s.amax(-1))
            m_use = m_new.clamp(min=-1e30)
            p = torch.exp(s - m_use[..., None])
            corr = torch.exp(m - m_use)
            l = corr * l + p.sum(-1)
            acc = corr[..., None] * acc + torch.einsum("bhqk,bhkv->bhqv", p, values[:, :, a:z].to(dt))
            m = m_new
        o[:, :, lo:hi] = acc / l.clamp(min=1e-20)[..., None]
        L[:, :, lo:hi] = m + l
    return o.to(queries.dtype), L


# %% wrong_no_maximum: exp of the scores is summed as it is
# kind: mistake
# breaks: masking, values
# equals: tiles-no-maximum

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[-2], keys.shape[-2]
    up = torch.promote_types(queries.dtype, torch.float32)
    q, k, v = queries.to(up), keys.to(up), values.to(up)
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=up, device=queries.device)
    lse = torch.full(q.shape[:-1], float("-inf"), dtype=up, device=queries.device)
    for i in range(0, T, block_size):
        qi = q[..., i : i + block_size, :]
        num, den = 0.0, torch.zeros(*qi.shape[:-1], 1, dtype=up, device=queries.device)
        for j in range(0, S, block_size):
            kj = k[..., j : j + block_size, :]
            gap = (torch.arange(qi.shape[-2], device=queries.device) + i + S - T)[:, None] - (
                torch.arange(kj.shape[-2], device=queries.device) + j
            )
            if causal and gap.max() < 0:
                break
            if window is not None and gap.min() >= window:
                continue
            e = torch.exp(qi @ kj.mT / q.shape[-1] ** 0.5)
            if causal:
                e = torch.where(gap >= 0, e, torch.zeros_like(e))
            if window is not None:
                e = torch.where(gap < window, e, torch.zeros_like(e))
            num = num + e @ v[..., j : j + block_size, :]
            den = den + e.sum(-1, keepdim=True)
        if isinstance(num, float):
            continue
        out[..., i : i + block_size, :] = torch.where(den > 0, num / den, torch.zeros_like(num))
        lse[..., i : i + block_size] = den.log().squeeze(-1)
    return out.to(queries.dtype), lse


# %% wrong_maximum_starts_at_zero: the running maximum starts at 0
# kind: mistake
# breaks: masking, values
# equals: tiles-maximum-from-zero

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    work = torch.float64 if queries.dtype == torch.float64 else torch.float32
    out = torch.zeros(B, H, T, values.shape[-1], dtype=queries.dtype, device=queries.device)
    lse = torch.zeros(B, H, T, dtype=work, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(work)
        m = torch.zeros(B, H, q.shape[2], 1, dtype=work, device=queries.device)
        l = torch.zeros(B, H, q.shape[2], 1, dtype=work, device=queries.device)
        acc = torch.zeros(B, H, q.shape[2], values.shape[-1], dtype=work, device=queries.device)
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(work), values[:, :, j : j + block_size].to(work)
            age = (
                torch.arange(i, i + q.shape[2], device=queries.device).unsqueeze(1)
                + S
                - T
                - torch.arange(j, j + k.shape[2], device=queries.device)
            )
            hidden = torch.zeros_like(age, dtype=torch.bool)
            if causal:
                hidden |= age < 0
            if window is not None:
                hidden |= age >= window
            if hidden.all():
                continue
            s = (q @ k.transpose(-2, -1) / math.sqrt(d)).masked_fill(hidden, -math.inf)
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.exp(s - m_new)
            alpha = torch.exp(m - m_new)
            l = alpha * l + p.sum(-1, keepdim=True)
            acc = alpha * acc + p @ v
            m = m_new
        out[:, :, i : i + block_size] = torch.where(l > 0, acc / l, 0.0).to(out.dtype)
        lse[:, :, i : i + block_size] = (m + l.log()).squeeze(-1)
    return out, lse


# %% wrong_finite_sentinel: -1e9 as the mask and as the first maximum
# kind: mistake
# breaks: masking
# equals: tiles-empty-mean

import torch

NEG = -1e9


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S, scale = queries.size(2), keys.size(2), queries.size(3) ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    outs, lses = [], []
    for q, rows in zip(
        queries.split(block_size, 2), torch.arange(S - T, S, device=queries.device).split(block_size)
    ):
        m = torch.full((*q.shape[:3], 1), NEG, dtype=dt, device=queries.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(*q.shape[:3], values.size(3), dtype=dt, device=queries.device)
        for k, v, cols in zip(
            keys.split(block_size, 2),
            values.split(block_size, 2),
            torch.arange(S, device=queries.device).split(block_size),
        ):
            if causal and cols[0] > rows[-1]:
                break
            if window is not None and cols[-1] <= rows[0] - window:
                continue
            s = q.to(dt) @ k.to(dt).mT * scale
            if causal:
                s = s.masked_fill(cols > rows[:, None], NEG)
            if window is not None:
                s = s.masked_fill(cols <= rows[:, None] - window, NEG)
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.exp(s - new)
            c = torch.exp(m - new)
            l = c * l + p.sum(-1, keepdim=True)
            acc = c * acc + p @ v.to(dt)
            m = new
        outs.append((acc / l.clamp(min=1e-30)).to(queries.dtype))
        lses.append((m + l.clamp(min=1e-30).log()).squeeze(-1))
    return torch.cat(outs, 2), torch.cat(lses, 2)


# %% wrong_last_block_lost: T // block_size and S // block_size blocks
# kind: mistake
# breaks: defaults, masking, values
# equals: tiles-last-blocks-lost

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    up = torch.float64 if queries.dtype == torch.float64 else torch.float32
    rows_per_tile, cols_per_tile = min(block_size, T), min(block_size, S)
    O = torch.zeros(B, H, T, values.shape[3], dtype=queries.dtype, device=queries.device)
    L = torch.full((B, H, T), -math.inf, dtype=up, device=queries.device)
    for i in range(T // rows_per_tile):
        r = slice(i * rows_per_tile, (i + 1) * rows_per_tile)
        q = queries[:, :, r].to(up)
        m = torch.full((B, H, rows_per_tile), -math.inf, dtype=up, device=queries.device)
        l = torch.zeros(B, H, rows_per_tile, dtype=up, device=queries.device)
        o = torch.zeros(B, H, rows_per_tile, values.shape[3], dtype=up, device=queries.device)
        for j in range(S // cols_per_tile):
            c = slice(j * cols_per_tile, (j + 1) * cols_per_tile)
            gap = (
                torch.arange(T, device=queries.device)[r][:, None]
                + (S - T)
                - torch.arange(S, device=queries.device)[c]
            )
            ok = torch.ones_like(gap, dtype=torch.bool)
            if causal:
                ok = gap >= 0 if window is None else (gap >= 0) & (gap < window)
            if not ok.any():
                continue
            s = (q @ keys[:, :, c].to(up).mT / math.sqrt(d)).masked_fill(~ok, -math.inf)
            mn = torch.maximum(m, s.amax(-1))
            ms = mn.nan_to_num(neginf=0.0)
            p, a = torch.exp(s - ms[..., None]), torch.exp(m - ms)
            l, o, m = a * l + p.sum(-1), a[..., None] * o + p @ values[:, :, c].to(up), mn
        O[:, :, r] = (o / torch.where(l > 0, l, 1.0)[..., None]).to(O.dtype)
        L[:, :, r] = m + l.log()
    return O, L


# %% wrong_first_block_lost: the first block gives only the first maximum
# kind: mistake
# breaks: cost, defaults, masking, values
# equals: tiles-before-window-computed+tiles-first-keys-lost

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    scale = queries.shape[-1] ** -0.5
    wide = torch.promote_types(queries.dtype, torch.float32)

    def scores(i, j):
        q, k = queries[:, :, i : i + block_size].to(wide), keys[:, :, j : j + block_size].to(wide)
        s = q @ k.mT * scale
        gap = (
            torch.arange(i, i + q.shape[2], device=queries.device)[:, None]
            + S
            - T
            - torch.arange(j, j + k.shape[2], device=queries.device)
        )
        if causal:
            s = s.masked_fill(gap < 0, -torch.inf)
        if window is not None:
            s = s.masked_fill(gap >= window, -torch.inf)
        return s

    out = torch.zeros(*queries.shape[:3], values.shape[-1], dtype=wide, device=queries.device)
    lse = torch.zeros(queries.shape[:3], dtype=wide, device=queries.device)
    for i in range(0, T, block_size):
        m = scores(i, 0).amax(-1, keepdim=True)
        l = torch.zeros_like(m)
        acc = torch.zeros_like(out[:, :, i : i + block_size])
        for j in range(block_size, S, block_size):
            if causal and j > min(i + block_size, T) - 1 + S - T:
                break
            s = scores(i, j)
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            ref = torch.where(m_new == -torch.inf, 0.0, m_new)
            p, alpha = torch.exp(s - ref), torch.exp(m - ref)
            l = alpha * l + p.sum(-1, keepdim=True)
            acc = alpha * acc + p @ values[:, :, j : j + block_size].to(wide)
            m = m_new
        out[:, :, i : i + block_size] = torch.where(l > 0, acc / l, 0.0)
        lse[:, :, i : i + block_size] = (m + l.log()).squeeze(-1)
    return out.to(queries.dtype), lse


# %% wrong_diagonal_block_lost: only tiles that lie wholly in the past are used
# kind: mistake
# breaks: masking
# equals: tiles-diagonal-lost

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    f = torch.float64 if queries.dtype == torch.float64 else torch.float32
    out = torch.zeros(B, H, T, values.shape[-1], dtype=f, device=queries.device)
    lse = torch.full((B, H, T), -math.inf, dtype=f, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(f) / math.sqrt(d)
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(f), values[:, :, j : j + block_size].to(f)
            if causal and j + k.shape[2] > i + S - T:
                continue
            s = q @ k.mT
            if window is not None:
                gap = (
                    torch.arange(i, i + q.shape[2], device=queries.device)[:, None]
                    + S
                    - T
                    - torch.arange(j, j + k.shape[2], device=queries.device)
                )
                s = s.masked_fill(gap >= window, -math.inf)
            old = lse[:, :, i : i + block_size]
            new = torch.logaddexp(old, s.logsumexp(-1))
            base = new.masked_fill(new == -math.inf, 0)
            out[:, :, i : i + block_size] *= torch.exp(old - base)[..., None]
            out[:, :, i : i + block_size] += torch.exp(s - base[..., None]) @ v
            lse[:, :, i : i + block_size] = new
    return out.to(queries.dtype), lse


# %% wrong_divided_in_the_loop: each step divides by the sum so far, nothing is multiplied back
# kind: mistake
# breaks: cost, defaults, masking, values
# equals: tiles-before-window-computed+tiles-divided-in-loop

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[-2], keys.shape[-2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    outputs, lses = [], []
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt) * queries.shape[-1] ** -0.5
        q_pos = torch.arange(i, i + q.shape[2], device=queries.device).unsqueeze(-1) + S - T
        m = torch.full(q.shape[:3], -torch.inf, dtype=dt, device=queries.device).unsqueeze(-1)
        l = torch.zeros_like(m)
        o = torch.zeros(*q.shape[:3], values.shape[-1], dtype=dt, device=queries.device)
        for j in range(0, S, block_size):
            k = keys[:, :, j : j + block_size].to(dt)
            k_pos = torch.arange(j, j + k.shape[2], device=queries.device)
            if causal and j > q_pos[-1]:
                break
            s = q @ k.mT
            if causal:
                s = s.masked_fill(k_pos > q_pos, -torch.inf)
            if window is not None:
                s = s.masked_fill(q_pos - k_pos >= window, -torch.inf)
            m_new = torch.maximum(m, s.max(-1, keepdim=True).values)
            ref = m_new.masked_fill(m_new.isinf(), 0.0)
            p = (s - ref).exp()
            alpha = (m - ref).exp()
            l = alpha * l + p.sum(-1, keepdim=True)
            o = alpha * o + p @ values[:, :, j : j + block_size].to(dt)
            o = o / l.masked_fill(l == 0, 1.0)
            m = m_new
        outputs.append(o.to(queries.dtype))
        lses.append((m + l.log())[..., 0])
    return torch.cat(outputs, 2), torch.cat(lses, 2)


# %% wrong_nan_in_empty_rows: rows and tiles without a key give -inf minus -inf
# kind: mistake
# breaks: masking
# equals: tiles-hidden-nan

import torch
from torch import Tensor


def tiled_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    block_size: int,
    causal: bool = False,
    window: int | None = None,
) -> tuple[Tensor, Tensor]:
    T, S = queries.shape[2], keys.shape[2]
    acc_dtype = torch.float64 if queries.dtype == torch.float64 else torch.float32
    out = queries.new_empty(*queries.shape[:3], values.shape[3])
    lse = torch.empty(queries.shape[:3], dtype=acc_dtype, device=queries.device)
    for q0 in range(0, T, block_size):
        q1 = min(q0 + block_size, T)
        q = queries[:, :, q0:q1].to(acc_dtype) * (queries.shape[3] ** -0.5)
        m = torch.full((*q.shape[:3], 1), float("-inf"), dtype=acc_dtype, device=q.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(*q.shape[:3], values.shape[3], dtype=acc_dtype, device=q.device)
        for k0 in range(0, S, block_size):
            k1 = min(k0 + block_size, S)
            if causal and k0 > q1 - 1 + S - T:
                break
            if window is not None and q0 + S - T - (k1 - 1) >= window:
                continue
            s = q @ keys[:, :, k0:k1].to(acc_dtype).mT
            if causal:
                gap = (
                    torch.arange(q0 + S - T, q1 + S - T, device=queries.device)[:, None]
                    - torch.arange(k0, k1, device=queries.device)[None]
                )
                visible = (gap >= 0) & (gap < (window or S + T))
                s = s.masked_fill(~visible, float("-inf"))
            m_new = torch.maximum(m, s.amax(dim=-1, keepdim=True))
            p = torch.exp(s - m_new)
            alpha = torch.exp(m - m_new)
            l = l * alpha + p.sum(dim=-1, keepdim=True)
            acc = acc * alpha + p @ values[:, :, k0:k1].to(acc_dtype)
            m = m_new
        out[:, :, q0:q1] = (acc / l).to(out.dtype)
        lse[:, :, q0:q1] = (m + l.log()).squeeze(-1)
    return out, lse


# %% wrong_empty_rows_get_the_mean: finfo.min as the mask: empty rows become the mean of the values
# kind: mistake
# breaks: cost, masking
# equals: nothing

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    low = torch.finfo(dt).min
    out = torch.zeros(*queries.shape[:3], values.shape[3], dtype=dt, device=queries.device)
    lse = torch.zeros(queries.shape[:3], dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt)
        rows = torch.arange(i, i + q.shape[2], device=queries.device)[:, None] + S - T
        m = torch.full((*q.shape[:3], 1), low, dtype=dt, device=queries.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(*q.shape[:3], values.shape[3], dtype=dt, device=queries.device)
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            cols = torch.arange(j, j + k.shape[2], device=queries.device)
            if causal and j > rows[-1] and rows[0] >= 0:
                break
            s = q @ k.mT / q.shape[-1] ** 0.5
            if causal:
                s = torch.where(cols <= rows, s, low)
            if window is not None:
                s = torch.where(cols > rows - window, s, low)
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.exp(s - m_new)
            alpha = torch.exp(m - m_new)
            l = alpha * l + p.sum(-1, keepdim=True)
            acc = alpha * acc + p @ v
            m = m_new
        out[:, :, i : i + block_size] = acc / l
        lse[:, :, i : i + block_size] = (m + torch.log(l))[..., 0]
    return out.to(queries.dtype), lse


# %% wrong_all_scores_at_once: the whole (T, S) matrix, then a loop over its tiles
# kind: mistake
# breaks: cost
# equals: tiles-all-at-once

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    scores = queries.to(dt) @ keys.to(dt).transpose(-1, -2) / math.sqrt(d)
    if causal:
        gap = (
            torch.arange(T, device=queries.device)[:, None]
            + S
            - T
            - torch.arange(S, device=queries.device)[None]
        )
        scores = scores.masked_fill(gap < 0, -math.inf)
        if window is not None:
            scores = scores.masked_fill(gap >= window, -math.inf)
    m = torch.full((B, H, T), -math.inf, dtype=dt, device=queries.device)
    l = torch.zeros(B, H, T, dtype=dt, device=queries.device)
    acc = torch.zeros(B, H, T, values.shape[-1], dtype=dt, device=queries.device)
    for s, v in zip(scores.split(block_size, -1), values.split(block_size, -2)):
        m_new = torch.maximum(m, s.amax(-1))
        ref = m_new.nan_to_num(neginf=0.0)
        p = torch.exp(s - ref[..., None])
        c = torch.exp(m - ref)
        l = c * l + p.sum(-1)
        acc = c[..., None] * acc + p @ v.to(dt)
        m = m_new
    return (acc / torch.where(l > 0, l, 1.0)[..., None]).to(queries.dtype), m + l.log()


# %% wrong_hidden_tiles_computed: every tile is computed, hidden ones too
# kind: mistake
# breaks: cost
# equals: tiles-hidden-computed

import torch


def logmerge(o1, z1, o2, z2):
    z = torch.logaddexp(z1, z2)
    r = torch.where(z.isneginf(), torch.zeros_like(z), z)
    return o1 * (z1 - r).exp()[..., None] + o2 * (z2 - r).exp()[..., None], z


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    outs, lses = [], []
    for i, q in enumerate(queries.to(dt).split(block_size, 2)):
        o = q.new_zeros(*q.shape[:3], values.shape[-1])
        z = q.new_full(q.shape[:3], -torch.inf)
        for j, (k, v) in enumerate(zip(keys.to(dt).split(block_size, 2), values.to(dt).split(block_size, 2))):
            s = q @ k.mT * q.shape[-1] ** -0.5
            if causal:
                r = i * block_size + torch.arange(q.shape[2], device=queries.device)[:, None] + S - T
                c = j * block_size + torch.arange(k.shape[2], device=queries.device)
                ok = c <= r
                if window is not None:
                    ok = ok & (c > r - window)
                s = s.masked_fill(~ok, -torch.inf)
            o, z = logmerge(o, z, s.softmax(-1).nan_to_num(0.0) @ v, s.logsumexp(-1))
        outs.append(o)
        lses.append(z)
    return torch.cat(outs, 2).to(queries.dtype), torch.cat(lses, 2)


# %% wrong_whole_mask: tiles of scores, but one mask of shape (T, S)
# kind: mistake
# breaks: cost
# equals: tiles-whole-mask

import math

import torch


def build_mask(T, S, causal, window, device):
    i = torch.arange(T, device=device).unsqueeze(1) + (S - T)
    j = torch.arange(S, device=device).unsqueeze(0)
    mask = torch.ones(T, S, dtype=torch.bool, device=device)
    if causal:
        mask &= j <= i
    if window is not None:
        mask &= j > i - window
    return mask


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.size(2)
    mask = build_mask(T, S, causal, window, queries.device)
    dt = torch.float64 if queries.dtype == torch.float64 else torch.float32
    out = torch.zeros(B, H, T, values.size(-1), dtype=queries.dtype, device=queries.device)
    lse = torch.full((B, H, T), -math.inf, dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt)
        m = torch.full((B, H, q.size(2)), -math.inf, dtype=dt, device=q.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(B, H, q.size(2), values.size(-1), dtype=dt, device=q.device)
        for j in range(0, S, block_size):
            tile = mask[i : i + block_size, j : j + block_size]
            if not tile.any():
                continue
            s = q @ keys[:, :, j : j + block_size].to(dt).mT / math.sqrt(d)
            s = s.masked_fill(~tile, -math.inf)
            m_new = torch.maximum(m, s.amax(-1))
            ref = torch.where(m_new == -math.inf, 0.0, m_new)
            p = torch.exp(s - ref.unsqueeze(-1))
            alpha = torch.exp(m - ref)
            l = alpha * l + p.sum(-1)
            acc = alpha.unsqueeze(-1) * acc + p @ values[:, :, j : j + block_size].to(dt)
            m = m_new
        out[:, :, i : i + block_size] = (acc / l.masked_fill(l == 0, 1).unsqueeze(-1)).to(out.dtype)
        lse[:, :, i : i + block_size] = m + l.log()
    return out, lse


# %% wrong_bfloat16_weights: p in bfloat16 before it meets the values
# kind: mistake
# breaks: defaults, masking, values
# equals: nothing

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S, scale = queries.shape[2], keys.shape[2], queries.shape[3] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(*queries.shape[:3], values.shape[3], dtype=dt, device=queries.device)
    m = torch.full(queries.shape[:3], -torch.inf, dtype=dt, device=queries.device)
    l = torch.zeros(queries.shape[:3], dtype=dt, device=queries.device)
    for j in range(0, S, block_size):
        k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size]
        for i in range(0, T, block_size):
            rows = slice(i, min(i + block_size, T))
            gap = (
                torch.arange(T, device=queries.device)[rows, None]
                + S
                - T
                - torch.arange(j, j + k.shape[2], device=queries.device)
            )
            hidden = torch.zeros(gap.shape, dtype=torch.bool, device=queries.device)
            if causal:
                hidden = (gap < 0) if window is None else (gap < 0) | (gap >= window)
            if hidden.all():
                continue
            s = (queries[:, :, rows].to(dt) @ k.mT * scale).masked_fill(hidden, -torch.inf)
            m_new = torch.maximum(m[:, :, rows], s.amax(-1))
            ref = m_new.nan_to_num(neginf=0.0)
            p = torch.exp(s - ref[..., None])
            a = torch.exp(m[:, :, rows] - ref)
            l[:, :, rows] = a * l[:, :, rows] + p.sum(-1)
            out[:, :, rows] = a[..., None] * out[:, :, rows] + (p.bfloat16() @ v.bfloat16()).to(dt)
            m[:, :, rows] = m_new
    return (out / torch.where(l > 0, l, 1.0)[..., None]).to(queries.dtype), m + l.log()


# %% wrong_mask_multiplied_after_exp: maximum over visible scores only, then exp of all times the mask
# kind: mistake
# breaks: masking
# equals: tiles-infinity-times-zero

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    outs, lses = [], []
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt)
        m = torch.full((B, H, q.shape[2], 1), -math.inf, dtype=dt, device=queries.device)
        l, o = (
            torch.zeros_like(m),
            torch.zeros(B, H, q.shape[2], values.shape[3], dtype=dt, device=queries.device),
        )
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            mask = torch.ones(q.shape[2], k.shape[2], dtype=dt, device=queries.device)
            if causal:
                mask = torch.tril(mask, diagonal=i + S - T - j)
            if window is not None:
                mask = torch.triu(mask, diagonal=i + S - T - j - window + 1)
            if mask.sum() == 0:
                continue
            s = q @ k.mT / math.sqrt(d)
            m_new = torch.maximum(m, s.masked_fill(mask == 0, -math.inf).amax(-1, keepdim=True))
            ref = torch.where(m_new == -math.inf, 0.0, m_new)
            p = torch.exp(s - ref) * mask
            alpha = torch.exp(m - ref)
            l = alpha * l + p.sum(-1, keepdim=True)
            o = alpha * o + p @ v
            m = m_new
        outs.append((o / torch.where(l == 0, 1.0, l)).to(queries.dtype))
        lses.append((m + l.log()).squeeze(-1))
    return torch.cat(outs, 2), torch.cat(lses, 2)


# %% wrong_scale_missing: scores are not divided
# kind: mistake
# breaks: defaults, masking, values
# equals: tiles-not-scaled

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    t, s = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(*queries.shape[:3], values.shape[-1], dtype=queries.dtype, device=queries.device)
    lse = torch.full(queries.shape[:3], -torch.inf, dtype=dt, device=queries.device)
    for n in range(t):
        stop = n + 1 + s - t if causal else s
        start = max(stop - window, 0) if window is not None else 0
        if stop <= 0:
            continue
        row = torch.einsum("bhd,bhsd->bhs", queries[:, :, n].to(dt), keys[:, :, start:stop].to(dt))
        lse[:, :, n] = row.logsumexp(-1)
        out[:, :, n] = torch.einsum("bhs,bhsv->bhv", row.softmax(-1), values[:, :, start:stop].to(dt)).to(
            out.dtype
        )
    return out, lse


# %% wrong_scaled_by_the_values: divided by the root of the size of the values
# kind: mistake
# breaks: masking, values
# equals: tiles-scaled-by-values

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, _ = queries.shape
    S, d = values.shape[2:]
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(B, H, T, d, dtype=dt, device=queries.device)
    lse = torch.full((B, H, T), -math.inf, dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        r = slice(i, min(i + block_size, T))
        for j in range(0, S, block_size):
            c = slice(j, min(j + block_size, S))
            gap = (
                torch.arange(r.start, r.stop, device=queries.device)[:, None]
                + S
                - T
                - torch.arange(c.start, c.stop, device=queries.device)
            )
            ok = torch.ones_like(gap).bool()
            if causal:
                ok = (gap >= 0) & (gap < window) if window is not None else gap >= 0
            if not ok.any():
                continue
            s = torch.where(ok, queries[:, :, r].to(dt) @ keys[:, :, c].to(dt).mT / math.sqrt(d), -math.inf)
            new = torch.logaddexp(lse[:, :, r], s.logsumexp(-1))
            ref = torch.where(new == -math.inf, 0, new)
            out[:, :, r] *= torch.exp(lse[:, :, r] - ref)[..., None]
            out[:, :, r] += torch.exp(s - ref[..., None]) @ values[:, :, c].to(dt)
            lse[:, :, r] = new
    return out.to(queries.dtype), lse


# %% wrong_queries_scaled_in_place: the argument is scaled
# kind: mistake
# breaks: masking, purity, values
# equals: tiles-queries-overwritten

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    dt = torch.float64 if queries.dtype == torch.float64 else torch.float32
    q, k, v = queries.to(dt), keys.to(dt), values.to(dt)
    q *= 1 / math.sqrt(q.size(-1))
    T, S = q.size(2), k.size(2)
    out = torch.zeros(*q.shape[:3], v.size(-1), dtype=dt, device=queries.device)
    lse = torch.zeros(q.shape[:3], dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        i2 = min(i + block_size, T)
        m = torch.full((*q.shape[:2], i2 - i), -math.inf, dtype=dt, device=queries.device)
        l = torch.zeros_like(m)
        o = torch.zeros(*m.shape, v.size(-1), dtype=dt, device=queries.device)
        for j in range(0, S, block_size):
            j2 = min(j + block_size, S)
            if causal and j >= i2 + S - T:
                break
            if window is not None and j2 + window <= i + S - T + 1:
                continue
            s = q[:, :, i:i2] @ k[:, :, j:j2].mT
            if causal:
                age = (
                    torch.arange(i, i2, device=queries.device).view(-1, 1)
                    + S
                    - T
                    - torch.arange(j, j2, device=queries.device).view(1, -1)
                )
                s = s.masked_fill(age < 0, -math.inf)
                if window is not None:
                    s = s.masked_fill(age >= window, -math.inf)
            new = torch.maximum(m, s.amax(-1))
            ref = new.masked_fill(new == -math.inf, 0)
            p, a = (s - ref[..., None]).exp(), (m - ref).exp()
            l, o, m = l * a + p.sum(-1), o * a[..., None] + p @ v[:, :, j:j2], new
        out[:, :, i:i2] = o / l.masked_fill(l == 0, 1)[..., None]
        lse[:, :, i:i2] = m + l.log()
    return out.to(queries.dtype), lse


# %% wrong_triangle_in_each_tile: the mask counts from the corner of the tile
# kind: mistake
# breaks: cost, masking
# later: device
# equals: tiles-mask-of-first-tile

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    outs, lses = [], []
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt) * queries.shape[-1] ** -0.5
        out = torch.zeros(*q.shape[:3], values.shape[-1], dtype=dt)
        lse = torch.full(q.shape[:3], -torch.inf, dtype=dt)
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            if causal and j >= i + q.shape[2] + S - T:
                break
            s = q @ k.mT
            if causal:
                gap = torch.arange(q.shape[2])[:, None] - torch.arange(k.shape[2])
                s = s.masked_fill(gap < 0, -torch.inf)
                if window is not None:
                    s = s.masked_fill(gap >= window, -torch.inf)
            z = s.logsumexp(-1)
            new = torch.logaddexp(lse, z)
            ref = new.nan_to_num(neginf=0)
            out = out * torch.exp(lse - ref)[..., None] + torch.exp(s - ref[..., None]) @ v
            lse = new
        outs.append(out.to(queries.dtype))
        lses.append(lse)
    return torch.cat(outs, 2), torch.cat(lses, 2)


# %% wrong_one_maximum_per_tile: a single maximum for all rows and heads of a tile
# kind: mistake
# breaks: masking, values
# equals: tiles-one-maximum

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(*queries.shape[:3], values.shape[3], dtype=dt, device=queries.device)
    lse = torch.full(queries.shape[:3], -torch.inf, dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt) / queries.shape[3] ** 0.5
        m = torch.tensor(-torch.inf, dtype=dt, device=queries.device)
        l = torch.zeros(*q.shape[:3], 1, dtype=dt, device=queries.device)
        o = torch.zeros(*q.shape[:3], values.shape[3], dtype=dt, device=queries.device)
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            r, c = (
                torch.arange(i, i + q.shape[2], device=queries.device)[:, None] + S - T,
                torch.arange(j, j + k.shape[2], device=queries.device),
            )
            ok = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=queries.device)
            if causal:
                ok = c <= r
            if window is not None:
                ok = ok & (r - c < window)
            if not ok.any():
                continue
            s = (q @ k.mT).masked_fill(~ok, -torch.inf)
            m_new = torch.maximum(m, s.max())
            p = torch.exp(s - m_new)
            alpha = torch.exp(m - m_new)
            l = alpha * l + p.sum(-1, keepdim=True)
            o = alpha * o + p @ v
            m = m_new
        out[:, :, i : i + block_size] = torch.where(l > 0, o / l, 0.0)
        lse[:, :, i : i + block_size] = torch.where(l > 0, m + l.log(), -torch.inf).squeeze(-1)
    return out.to(queries.dtype), lse


# %% wrong_window_ends_the_loop: a tile before the window breaks the loop instead of being skipped
# kind: mistake
# breaks: masking
# equals: tiles-window-ends-loop

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    outs, lses = [], []
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt) * queries.shape[-1] ** -0.5
        r = torch.arange(i, i + q.shape[2], device=queries.device)[:, None] + S - T
        m = torch.full((*q.shape[:3], 1), -torch.inf, dtype=dt, device=queries.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(*q.shape[:3], values.shape[-1], dtype=dt, device=queries.device)
        for j in range(0, S, block_size):
            k = keys[:, :, j : j + block_size].to(dt)
            c = torch.arange(j, j + k.shape[2], device=queries.device)[None]
            visible = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=queries.device)
            if causal:
                visible = c <= r
                if window is not None:
                    visible = visible & (r - c < window)
            if not visible.any():
                break
            s = (q @ k.mT).masked_fill(~visible, -torch.inf)
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            ref = m_new.masked_fill(m_new == -torch.inf, 0.0)
            p, alpha = torch.exp(s - ref), torch.exp(m - ref)
            l = alpha * l + p.sum(-1, keepdim=True)
            acc = alpha * acc + p @ values[:, :, j : j + block_size].to(dt)
            m = m_new
        outs.append((acc / l.masked_fill(l == 0, 1.0)).to(queries.dtype))
        lses.append((m + l.log()).squeeze(-1))
    return torch.cat(outs, dim=2), torch.cat(lses, dim=2)


# %% wrong_window_ignored: window is accepted and not used
# kind: mistake
# breaks: cost, masking
# later: device
# equals: tiles-no-window

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    shift = keys.shape[2] - queries.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(*queries.shape[:3], values.shape[3], dtype=dt)
    lse = torch.full(queries.shape[:3], -torch.inf, dtype=dt)
    for j in range(0, keys.shape[2], block_size):
        k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
        first = max(j - shift, 0) if causal else 0
        q = queries[:, :, first:].to(dt)
        if q.shape[2] == 0:
            continue
        s = q @ k.mT * q.shape[-1] ** -0.5
        if causal:
            p = torch.arange(first, first + q.shape[2])[:, None] + shift
            s = s.masked_fill(torch.arange(j, j + k.shape[2]) > p, -torch.inf)
        old = lse[:, :, first:]
        new = torch.logaddexp(old, s.logsumexp(-1))
        ref = new.masked_fill(new == -torch.inf, 0.0)
        out[:, :, first:] = out[:, :, first:] * (old - ref).exp()[..., None] + (s - ref[..., None]).exp() @ v
        lse[:, :, first:] = new
    return out.to(queries.dtype), lse


# %% wrong_window_without_offset: the window is counted from the row number, the causal mask is not
# kind: mistake
# breaks: cost, masking
# equals: tiles-before-window-computed+tiles-window-from-query-number

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(B, H, T, values.shape[-1], dtype=dt, device=queries.device)
    lse = torch.full((B, H, T), -math.inf, dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt) / math.sqrt(d)
        row = torch.arange(i, i + q.shape[2], device=queries.device)[:, None]
        m = torch.full((B, H, q.shape[2]), -math.inf, dtype=dt, device=queries.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(B, H, q.shape[2], values.shape[-1], dtype=dt, device=queries.device)
        for j in range(0, S, block_size):
            k = keys[:, :, j : j + block_size].to(dt)
            col = torch.arange(j, j + k.shape[2], device=queries.device)
            if causal and j > int(row[-1]) + S - T:
                break
            s = q @ k.mT
            if causal:
                s = s.masked_fill(col > row + S - T, -math.inf)
            if window is not None:
                s = s.masked_fill(row - col >= window, -math.inf)
            m_new = torch.maximum(m, s.amax(-1))
            ref = torch.where(m_new == -math.inf, 0.0, m_new)
            p, a = torch.exp(s - ref[..., None]), torch.exp(m - ref)
            l = a * l + p.sum(-1)
            acc = a[..., None] * acc + p @ values[:, :, j : j + block_size].to(dt)
            m = m_new
        out[:, :, i : i + block_size] = acc / torch.where(l > 0, l, 1.0)[..., None]
        lse[:, :, i : i + block_size] = m + l.log()
    return out.to(queries.dtype), lse


# %% wrong_accumulator_like_queries: zeros_like(queries): values must be as wide as keys
# kind: mistake
# breaks: cost, masking, shapes, values
# equals: tiles-sums-like-queries

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    out = torch.zeros_like(queries)
    lse = torch.zeros(B, H, T, dtype=torch.promote_types(queries.dtype, torch.float32), device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(lse.dtype)
        m = torch.full((B, H, q.shape[2], 1), -torch.inf, dtype=q.dtype, device=queries.device)
        l = torch.zeros_like(m)
        acc = torch.zeros_like(q)
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(q.dtype), values[:, :, j : j + block_size].to(q.dtype)
            gap = (
                torch.arange(i, i + q.shape[2], device=queries.device)[:, None]
                + S
                - T
                - torch.arange(j, j + k.shape[2], device=queries.device)[None, :]
            )
            if causal and bool((gap < 0).all()):
                break
            s = q @ k.transpose(-1, -2) / d**0.5
            if causal:
                s = s.masked_fill(gap < 0, -torch.inf)
            if window is not None:
                s = s.masked_fill(gap >= window, -torch.inf)
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            ref = m_new.masked_fill(m_new == -torch.inf, 0.0)
            p, alpha = torch.exp(s - ref), torch.exp(m - ref)
            l = alpha * l + p.sum(-1, keepdim=True)
            acc = alpha * acc + p @ v
            m = m_new
        out[:, :, i : i + block_size] = (acc / l.masked_fill(l == 0, 1.0)).to(out.dtype)
        lse[:, :, i : i + block_size] = (m + l.log()).squeeze(-1)
    return out, lse


# %% wrong_lse_of_unscaled_scores: the output uses scaled scores, the lse the others
# kind: mistake
# breaks: cost, masking, values
# equals: tiles-before-window-computed+tiles-lse-of-unscaled-scores

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    scale = queries.shape[-1] ** -0.5
    dt = torch.promote_types(queries.dtype, torch.float32)
    outs, lses = [], []
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt)
        rows = torch.arange(i, i + q.shape[2], device=queries.device)[:, None] + S - T
        m = torch.full((*q.shape[:3], 1), -torch.inf, dtype=dt, device=queries.device)
        l, acc = (
            torch.zeros_like(m),
            torch.zeros(*q.shape[:3], values.shape[-1], dtype=dt, device=queries.device),
        )
        for j in range(0, S, block_size):
            k = keys[:, :, j : j + block_size].to(dt)
            cols = torch.arange(j, j + k.shape[2], device=queries.device)
            if causal and j > rows[-1]:
                break
            s = q @ k.mT
            if causal:
                s = s.masked_fill(cols > rows, -torch.inf)
            if window is not None:
                s = s.masked_fill(cols <= rows - window, -torch.inf)
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            ref = m_new.masked_fill(m_new == -torch.inf, 0.0)
            p, alpha = torch.exp((s - ref) * scale), torch.exp((m - ref) * scale)
            l = alpha * l + p.sum(-1, keepdim=True)
            acc = alpha * acc + p @ values[:, :, j : j + block_size].to(dt)
            m = m_new
        outs.append((acc / l.masked_fill(l == 0, 1.0)).to(queries.dtype))
        lses.append((m + l.log()).squeeze(-1))
    return torch.cat(outs, 2), torch.cat(lses, 2)


# %% wrong_diagonal_hidden: a query does not see its own key
# kind: mistake
# breaks: masking
# equals: tiles-mask-not-itself

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    t, s = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(*queries.shape[:3], values.shape[-1], dtype=queries.dtype, device=queries.device)
    lse = torch.full(queries.shape[:3], -torch.inf, dtype=dt, device=queries.device)
    for n in range(t):
        stop = n + s - t if causal else s
        start = max(stop + 1 - window, 0) if window is not None else 0
        if stop <= start:
            continue
        row = (queries[:, :, n : n + 1].to(dt) * keys[:, :, start:stop].to(dt)).sum(-1) / queries.shape[
            -1
        ] ** 0.5
        lse[:, :, n] = torch.logsumexp(row, -1)
        weights = torch.exp(row - lse[:, :, n, None])
        out[:, :, n] = (weights.unsqueeze(-1) * values[:, :, start:stop].to(dt)).sum(-2).to(out.dtype)
    return out, lse


# %% wrong_upper_left: causal means row >= column whatever T and S are
# kind: different
# breaks: cost, masking
# equals: tiles-before-window-computed+tiles-upper-left

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(B, H, T, values.shape[-1], dtype=dt, device=queries.device)
    lse = torch.full((B, H, T), -math.inf, dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt) / math.sqrt(d)
        rows = torch.arange(i, i + q.shape[2], device=queries.device)[:, None]
        m = torch.full((B, H, q.shape[2], 1), -math.inf, dtype=dt, device=queries.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(B, H, q.shape[2], values.shape[-1], dtype=dt, device=queries.device)
        for j in range(0, S, block_size):
            if causal and j >= i + block_size:
                break
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            cols = torch.arange(j, j + k.shape[2], device=queries.device)
            s = q @ k.mT
            if causal:
                s = s.masked_fill(cols > rows, -math.inf)
            if window is not None:
                s = s.masked_fill(cols <= rows - window, -math.inf)
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            ref = torch.where(m_new == -math.inf, 0.0, m_new)
            p, alpha = torch.exp(s - ref), torch.exp(m - ref)
            l = alpha * l + p.sum(-1, keepdim=True)
            acc = alpha * acc + p @ v
            m = m_new
        out[:, :, i : i + block_size] = acc / torch.where(l > 0, l, 1.0)
        lse[:, :, i : i + block_size] = (m + l.log()).squeeze(-1)
    return out.to(queries.dtype), lse


# %% wrong_base_two: exp2 with log2(e) in the scale; lse to base 2
# kind: different
# breaks: cost, masking, values
# equals: tiles-before-window-computed+tiles-lse-base-two

import math

import torch

LOG2E = 1.4426950408889634


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    qk_scale = LOG2E / math.sqrt(queries.shape[-1])
    outs, lses = [], []
    for start_m in range(0, T, block_size):
        q = queries[:, :, start_m : start_m + block_size].to(dt) * qk_scale
        offs_m = start_m + torch.arange(q.shape[2], device=queries.device) + S - T
        m_i = torch.full(q.shape[:3], -math.inf, dtype=dt, device=queries.device)
        l_i = torch.zeros_like(m_i)
        acc = torch.zeros(*q.shape[:3], values.shape[-1], dtype=dt, device=queries.device)
        for start_n in range(0, S, block_size):
            k, v = (
                keys[:, :, start_n : start_n + block_size].to(dt),
                values[:, :, start_n : start_n + block_size],
            )
            offs_n = start_n + torch.arange(k.shape[2], device=queries.device)
            if causal and start_n > offs_m[-1]:
                break
            qk = q @ k.mT
            if causal:
                qk = qk.masked_fill(offs_m[:, None] < offs_n[None], -math.inf)
            if window is not None:
                qk = qk.masked_fill(offs_m[:, None] - offs_n[None] >= window, -math.inf)
            m_ij = torch.maximum(m_i, qk.amax(-1))
            safe = m_ij.masked_fill(m_ij == -math.inf, 0.0)
            p = torch.exp2(qk - safe[..., None])
            alpha = torch.exp2(m_i - safe)
            l_i = l_i * alpha + p.sum(-1)
            acc = acc * alpha[..., None] + p @ v.to(dt)
            m_i = m_ij
        outs.append((acc / l_i.masked_fill(l_i == 0, 1.0)[..., None]).to(queries.dtype))
        lses.append(m_i + torch.log2(l_i))
    return torch.cat(outs, 2), torch.cat(lses, 2)


# %% wrong_window_start_rounded_up: the first tile of the window is rounded up, so a tile seen in part is lost
# kind: mistake
# breaks: masking
# equals: tiles-window-start-lost

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    dt = torch.float64 if queries.dtype == torch.float64 else torch.float32
    out = torch.zeros(B, H, T, values.shape[3], dtype=dt, device=queries.device)
    lse = torch.full((B, H, T), -math.inf, dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt) / math.sqrt(d)
        rows = torch.arange(i, i + q.shape[2], device=q.device)[:, None] + S - T
        first = 0 if window is None else max(0, math.ceil((i + S - T - window + 1) / block_size))
        last = math.ceil(S / block_size)
        if causal:
            last = min(last, (i + q.shape[2] - 1 + S - T) // block_size + 1)
        o, z = out[:, :, i : i + block_size], lse[:, :, i : i + block_size]
        for n in range(first, last):
            k = keys[:, :, n * block_size : (n + 1) * block_size].to(dt)
            v = values[:, :, n * block_size : (n + 1) * block_size].to(dt)
            cols = n * block_size + torch.arange(k.shape[2], device=q.device)
            s = q @ k.mT
            if causal:
                s = s.masked_fill(cols > rows, -math.inf)
                if window is not None:
                    s = s.masked_fill(rows - cols >= window, -math.inf)
            new = torch.logaddexp(z, s.logsumexp(-1))
            base = torch.where(new == -math.inf, 0.0, new)
            o.mul_(torch.exp(z - base).unsqueeze(-1)).add_(torch.exp(s - base.unsqueeze(-1)) @ v)
            z.copy_(new)
    return out.to(queries.dtype), lse


# %% wrong_window_one_larger: q - k <= window, as in flash-attn
# kind: different
# breaks: masking
# equals: tiles-window-one-larger

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(*queries.shape[:3], values.shape[-1], dtype=queries.dtype, device=queries.device)
    lse = torch.full(queries.shape[:3], -torch.inf, dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt)
        q_idx = torch.arange(i, i + q.shape[2], device=queries.device)[:, None] + S - T
        parts = []
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            kv_idx = torch.arange(j, j + k.shape[2], device=queries.device)
            mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=queries.device)
            if causal:
                mask = q_idx >= kv_idx
                if window is not None:
                    mask = mask & (q_idx - kv_idx <= window)
            if mask.any():
                s = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf)
                parts.append((s.softmax(-1).nan_to_num(0.0) @ v, s.logsumexp(-1)))
        if parts:
            z = torch.stack([p[1] for p in parts])
            w = z.softmax(0).nan_to_num(0.0).unsqueeze(-1)
            out[:, :, i : i + block_size] = sum(w[n] * parts[n][0] for n in range(len(parts))).to(out.dtype)
            lse[:, :, i : i + block_size] = z.logsumexp(0)
    return out, lse


# %% wrong_time_before_heads: (B, T, H, d), as in flash_attn_func
# kind: different
# breaks: cost, defaults, masking, shapes, values
# equals: nothing

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, T, H, d = queries.shape
    S = keys.shape[1]
    dt = torch.promote_types(queries.dtype, torch.float32)
    out = torch.zeros(B, T, H, values.shape[-1], dtype=dt, device=queries.device)
    lse = torch.full((B, H, T), -torch.inf, dtype=dt, device=queries.device)
    for i in range(0, T, block_size):
        q = queries[:, i : i + block_size].to(dt) * d**-0.5
        n = q.shape[1]
        m = torch.full((B, H, n), -torch.inf, dtype=dt, device=queries.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(B, H, n, values.shape[-1], dtype=dt, device=queries.device)
        for j in range(0, S, block_size):
            k, v = keys[:, j : j + block_size].to(dt), values[:, j : j + block_size].to(dt)
            gap = (
                torch.arange(i, i + n, device=queries.device)[:, None]
                + S
                - T
                - torch.arange(j, j + k.shape[1], device=queries.device)
            )
            if causal and gap.max() < 0:
                break
            s = torch.einsum("bqhd,bkhd->bhqk", q, k)
            if causal:
                s = s.masked_fill(gap < 0, -torch.inf)
            if window is not None:
                s = s.masked_fill(gap >= window, -torch.inf)
            m_new = torch.maximum(m, s.amax(-1))
            ref = m_new.masked_fill(m_new == -torch.inf, 0.0)
            p, a = torch.exp(s - ref[..., None]), torch.exp(m - ref)
            l = a * l + p.sum(-1)
            acc = a[..., None] * acc + torch.einsum("bhqk,bkhv->bhqv", p, v)
            m = m_new
        out[:, i : i + block_size] = (acc / l.masked_fill(l == 0, 1.0)[..., None]).transpose(1, 2)
        lse[:, :, i : i + block_size] = m + l.log()
    return out.to(queries.dtype), lse


# %% wrong_output_only: no lse is returned
# kind: different
# breaks: cost, defaults, masking, shapes, values
# equals: tiles-before-window-computed+tiles-no-lse

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.promote_types(queries.dtype, torch.float32)
    outs = []
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size].to(dt) / queries.shape[-1] ** 0.5
        m = q.new_full((*q.shape[:3], 1), -torch.inf)
        l = torch.zeros_like(m)
        acc = q.new_zeros(*q.shape[:3], values.shape[-1])
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size].to(dt), values[:, :, j : j + block_size].to(dt)
            gap = (
                torch.arange(i, i + q.shape[2], device=queries.device)[:, None]
                + S
                - T
                - torch.arange(j, j + k.shape[2], device=queries.device)
            )
            if causal and gap.max() < 0:
                break
            s = q @ k.mT
            if causal:
                s = s.masked_fill(gap < 0, -torch.inf)
            if window is not None:
                s = s.masked_fill(gap >= window, -torch.inf)
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            ref = new.masked_fill(new == -torch.inf, 0.0)
            p = torch.exp(s - ref)
            l = l * torch.exp(m - ref) + p.sum(-1, keepdim=True)
            acc = acc * torch.exp(m - ref) + p @ v
            m = new
        outs.append(acc / l.masked_fill(l == 0, 1.0))
    return torch.cat(outs, dim=2).to(queries.dtype)


# %% right_sums_in_half: everything in the dtype of the inputs
# kind: same

import math

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    out = queries.new_zeros(B, H, T, values.shape[-1])
    lse = queries.new_full((B, H, T), -math.inf, dtype=torch.promote_types(queries.dtype, torch.float32))
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size] / math.sqrt(d)
        m = q.new_full(q.shape[:3], -math.inf)
        l = q.new_zeros(q.shape[:3])
        acc = q.new_zeros(*q.shape[:3], values.shape[-1])
        for j in range(0, S, block_size):
            k, v = keys[:, :, j : j + block_size], values[:, :, j : j + block_size]
            gap = (
                torch.arange(i, i + q.shape[2], device=queries.device)[:, None]
                + S
                - T
                - torch.arange(j, j + k.shape[2], device=queries.device)
            )
            hidden = torch.zeros_like(gap, dtype=torch.bool)
            if causal:
                hidden = gap < 0
                if window is not None:
                    hidden = hidden | (gap >= window)
            if hidden.all():
                continue
            s = (q @ k.mT).masked_fill(hidden.to(q.device), -math.inf)
            m_new = torch.maximum(m, s.amax(-1))
            ref = m_new.masked_fill(m_new == -math.inf, 0)
            p, alpha = torch.exp(s - ref[..., None]), torch.exp(m - ref)
            l = alpha * l + p.sum(-1)
            acc = alpha[..., None] * acc + p @ v
            m = m_new
        out[:, :, i : i + block_size] = acc / l.masked_fill(l == 0, 1)[..., None]
        lse[:, :, i : i + block_size] = m + l.log()
    return out, lse


# %% right_lse_in_half: computed in float32, but the lse is returned in the dtype of the inputs
# kind: same

import torch


def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
    T, S = queries.shape[2], keys.shape[2]
    dt = torch.float64 if queries.dtype == torch.float64 else torch.float32
    out = queries.new_zeros(*queries.shape[:3], values.shape[-1])
    lse = queries.new_full(queries.shape[:3], float("-inf"))
    for n in range(T):
        end = n + 1 + S - T if causal else S
        begin = 0 if window is None else max(end - window, 0)
        if end <= 0:
            continue
        q = queries[:, :, n].to(dt) * queries.shape[-1] ** -0.5
        row = torch.einsum("bhd,bhsd->bhs", q, keys[:, :, begin:end].to(dt))
        top = row.amax(-1, keepdim=True)
        e = torch.exp(row - top)
        z = e.sum(-1, keepdim=True)
        out[:, :, n] = torch.einsum("bhs,bhsv->bhv", e / z, values[:, :, begin:end].to(dt)).to(out.dtype)
        lse[:, :, n] = (top + z.log()).squeeze(-1).to(lse.dtype)
    return out, lse
