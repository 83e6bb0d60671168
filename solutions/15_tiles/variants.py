"""Right answers to assignment 15, written differently, and answers that compute nothing."""

from grader.authoring import trivial, variant

MERGING = [
    variant(
        "logaddexp",
        "merge_state",
        """
        def merge_state(out_a, lse_a, out_b, lse_b):
            lse = torch.logaddexp(lse_a, lse_b)
            empty = torch.isneginf(lse)
            a = torch.where(empty, 0.0, torch.exp(lse_a - lse))[..., None]
            b = torch.where(empty, 0.0, torch.exp(lse_b - lse))[..., None]
            return (a * out_a + b * out_b).to(out_a.dtype), lse
        """,
    ),
    variant(
        "softmax-of-two",
        "merge_state",
        """
        def merge_state(out_a, lse_a, out_b, lse_b):
            both = torch.stack([lse_a, lse_b])
            weights = both.softmax(0).nan_to_num(0.0).unsqueeze(-1)
            out = (weights * torch.stack([out_a, out_b])).sum(0)
            return out.type_as(out_a), torch.logsumexp(both, dim=0)
        """,
    ),
    variant(
        "share-of-the-second",
        "merge_state",
        """
        def merge_state(out_a, lse_a, out_b, lse_b):
            difference = lse_b - lse_a
            difference = torch.where(torch.isnan(difference), torch.zeros_like(difference), difference)
            share = torch.sigmoid(difference).to(out_a.dtype).unsqueeze(-1)
            smaller = torch.exp(-difference.abs())
            return out_a + share * (out_b - out_a), torch.maximum(lse_a, lse_b) + torch.log1p(smaller)
        """,
    ),
    variant(
        "empty-states-apart",
        "merge_state",
        """
        def merge_state(out_a, lse_a, out_b, lse_b):
            m = torch.max(lse_a, lse_b)
            s_a, s_b = torch.exp(lse_a - m), torch.exp(lse_b - m)
            out = (out_a * s_a[..., None] + out_b * s_b[..., None]) / (s_a + s_b)[..., None]
            lse = m + torch.log(s_a + s_b)
            no_a, no_b = lse_a == float("-inf"), lse_b == float("-inf")
            out = torch.where(no_a[..., None], out_b, torch.where(no_b[..., None], out_a, out))
            return out.to(out_a.dtype), torch.where(no_a, lse_b, torch.where(no_b, lse_a, lse))
        """,
    ),
    trivial(
        "merge-zeros",
        "merge_state",
        """
        def merge_state(out_a, lse_a, out_b, lse_b):
            return torch.zeros_like(out_a), torch.zeros_like(lse_a)
        """,
    ),
    trivial(
        "merge-first",
        "merge_state",
        """
        def merge_state(out_a, lse_a, out_b, lse_b):
            return out_a, lse_a
        """,
    ),
]

FORWARD = [
    variant(
        "merged-states",
        "tiled_attention",
        """
        def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
            T, S = queries.shape[-2], keys.shape[-2]
            wide = torch.float64 if queries.dtype == torch.float64 else torch.float32
            outs, lses = [], []
            for i in range(0, T, block_size):
                q = queries[..., i : i + block_size, :].to(wide)
                pos = torch.arange(i, min(i + block_size, T), device=q.device)[:, None] + (S - T)
                out = torch.zeros(*q.shape[:-1], values.shape[-1], dtype=wide, device=q.device)
                lse = torch.full(q.shape[:-1], float("-inf"), dtype=wide, device=q.device)
                for j in range(0, S, block_size):
                    stop = min(j + block_size, S)
                    if causal and j > S - T + min(i + block_size, T) - 1:
                        break
                    if window is not None and stop - 1 <= S - T + i - window:
                        continue
                    s = q @ keys[..., j:stop, :].to(wide).transpose(-1, -2) * q.shape[-1] ** -0.5
                    if causal:
                        at = torch.arange(j, stop, device=q.device)
                        seen = at <= pos
                        if window:
                            seen &= at > pos - window
                        s = s.masked_fill(~seen, float("-inf"))
                    part = torch.logsumexp(s, -1)
                    weights = torch.softmax(s, -1).masked_fill(torch.isneginf(part)[..., None], 0.0)
                    out, lse = merge_state(out, lse, weights @ values[..., j:stop, :].to(wide), part)
                outs.append(out)
                lses.append(lse)
            return torch.cat(outs, -2).to(queries.dtype), torch.cat(lses, -1)
        """,
    ),
    variant(
        "row-by-row",
        "tiled_attention",
        """
        def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
            B, H, T, d = queries.shape
            S = keys.shape[2]
            wide = torch.promote_types(queries.dtype, torch.float32)
            output = torch.zeros(B, H, T, values.shape[3], dtype=wide, device=queries.device)
            lse = torch.full((B, H, T), -math.inf, dtype=wide, device=queries.device)
            for t in range(T):
                low, high = 0, S
                if causal:
                    high = max(0, t + S - T + 1)
                    low = 0 if window is None else max(0, high - window)
                m, l, acc = lse[:, :, t].clone(), torch.zeros_like(lse[:, :, t]), output[:, :, t].clone()
                for j in range(low, high, block_size):
                    k, v = (x[:, :, j : min(j + block_size, high)].to(wide) for x in (keys, values))
                    s = torch.einsum("bhd,bhsd->bhs", queries[:, :, t].to(wide), k) / d**0.5
                    new = torch.maximum(m, s.max(-1).values)
                    p, old = torch.exp(s - new[..., None]), torch.exp(m - new)
                    l, acc, m = old * l + p.sum(-1), old[..., None] * acc + torch.einsum("bhs,bhsv->bhv", p, v), new
                if high > low:
                    output[:, :, t], lse[:, :, t] = acc / l[..., None], m + torch.log(l)
            return output.to(queries.dtype), lse
        """,
    ),
    variant(
        "two-passes",
        "tiled_attention",
        """
        def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
            T, S = queries.shape[2], keys.shape[2]
            wide = torch.promote_types(queries.dtype, torch.float32)
            q, k, v = (x.to(wide) for x in (queries, keys, values))

            def tile(i, j):
                rows = torch.arange(i, min(i + block_size, T), device=q.device).unsqueeze(1) + S - T
                columns = torch.arange(j, min(j + block_size, S), device=q.device)
                seen = torch.ones(len(rows), len(columns), dtype=torch.bool, device=q.device)
                if causal:
                    seen = columns <= rows
                if window is not None:
                    seen = seen & (rows - columns < window)
                if not seen.any():
                    return None
                scores = q[:, :, i : i + block_size] @ k[:, :, j : j + block_size].mT / math.sqrt(q.shape[-1])
                return scores.masked_fill(~seen, -math.inf)

            outputs, lses = [], []
            for i in range(0, T, block_size):
                lse = torch.full((*q.shape[:2], min(block_size, T - i)), -math.inf, dtype=wide, device=q.device)
                for j in range(0, S, block_size):
                    scores = tile(i, j)
                    if scores is not None:
                        lse = torch.logaddexp(lse, scores.logsumexp(-1))
                base = lse.masked_fill(lse == -math.inf, 0.0)
                out = torch.zeros(*lse.shape, v.shape[-1], dtype=wide, device=q.device)
                for j in range(0, S, block_size):
                    scores = tile(i, j)
                    if scores is not None:
                        out = out + (scores - base.unsqueeze(-1)).exp() @ v[:, :, j : j + block_size]
                outputs.append(out)
                lses.append(lse)
            return torch.cat(outputs, 2).to(queries.dtype), torch.cat(lses, 2)
        """,
    ),
    variant(
        "blocks-of-keys",
        "tiled_attention",
        """
        def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
            T, S = queries.shape[2], keys.shape[2]
            wide = torch.promote_types(queries.dtype, torch.float32)
            m = torch.full(queries.shape[:3], torch.finfo(wide).min, dtype=wide, device=queries.device)
            l, acc = torch.zeros_like(m), torch.zeros(*m.shape, values.shape[3], dtype=wide, device=m.device)
            for j in range(0, S, block_size):
                end = min(j + block_size, S)
                low = max(0, j - (S - T)) if causal else 0
                high = T if window is None else min(T, end - 1 + window - (S - T))
                if low >= high:
                    continue
                rows = slice(low, high)
                s = queries[:, :, rows].to(wide) @ keys[:, :, j:end].to(wide).mT / math.sqrt(queries.shape[3])
                if causal:
                    q_at = torch.arange(low, high, device=m.device)[:, None] + S - T
                    k_at = torch.arange(j, end, device=m.device)[None]
                    out_of_sight = k_at > q_at
                    if window is not None:
                        out_of_sight |= k_at <= q_at - window
                    s.masked_fill_(out_of_sight, -math.inf)
                new = torch.maximum(m[:, :, rows], s.amax(-1))
                p, alpha = (s - new[..., None]).exp(), (m[:, :, rows] - new).exp()
                l[:, :, rows] = l[:, :, rows] * alpha + p.sum(-1)
                acc[:, :, rows] = acc[:, :, rows] * alpha[..., None] + p @ values[:, :, j:end].to(wide)
                m[:, :, rows] = new
            output = acc / torch.where(l > 0, l, 1.0)[..., None]
            return output.to(queries.dtype), torch.where(l > 0, m + l.log(), -math.inf)
        """,
    ),
    variant(
        "padded-blocks",
        "tiled_attention",
        """
        def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
            T, S = queries.shape[2], keys.shape[2]
            wide = torch.promote_types(queries.dtype, torch.float32)
            size = min(block_size, max(T, S))

            def blocks(x):
                return torch.nn.functional.pad(x.to(wide), (0, 0, 0, -x.shape[2] % size)).split(size, dim=2)

            step = torch.arange(size, device=queries.device)
            outputs, lses = [], []
            for i, q in enumerate(blocks(queries)):
                state = None
                for j, (k, v) in enumerate(zip(blocks(keys), blocks(values))):
                    at = (i * size + step + S - T)[:, None]
                    key = (j * size + step)[None]
                    seen = (key < S) & (at < S)
                    if causal:
                        seen = seen & (key <= at)
                    if window is not None:
                        seen = seen & (key > at - window)
                    if not seen.any():
                        continue
                    s = torch.where(seen, q @ k.transpose(-2, -1) * queries.shape[-1] ** -0.5, -math.inf)
                    lse = s.logsumexp(-1)
                    new = (torch.nan_to_num(s.softmax(-1)) @ v, lse)
                    state = new if state is None else merge_state(*state, *new)
                if state is None:
                    zeros = q.new_zeros(*q.shape[:3], values.shape[-1])
                    state = zeros, torch.full_like(zeros[..., 0], -math.inf)
                outputs.append(state[0])
                lses.append(state[1])
            return torch.cat(outputs, dim=2)[:, :, :T].to(queries.dtype), torch.cat(lses, dim=2)[:, :, :T]
        """,
    ),
    trivial(
        "forward-zeros",
        "tiled_attention",
        """
        def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
            lse = queries.new_zeros(queries.shape[:3])
            return queries.new_zeros(*queries.shape[:3], values.shape[-1]), lse
        """,
    ),
    trivial(
        "forward-nothing-seen",
        "tiled_attention",
        """
        def tiled_attention(queries, keys, values, block_size, causal=False, window=None):
            lse = queries.new_full(queries.shape[:3], -math.inf)
            return queries.new_zeros(*queries.shape[:3], values.shape[-1]), lse
        """,
    ),
]

BACKWARD = [
    variant(
        "keys-outside",
        "tiled_attention_backward",
        """
        def tiled_attention_backward(grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None):
            T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
            wide = torch.float64 if queries.dtype == torch.float64 else torch.float32
            dq = torch.zeros(queries.shape, dtype=wide, device=queries.device)
            dk, dv = [], []
            D = torch.einsum("bhtv,bhtv->bht", grad_output.to(wide), output.to(wide))
            for j in range(0, S, block_size):
                k, v = keys[:, :, j : j + block_size].to(wide), values[:, :, j : j + block_size].to(wide)
                dk_j, dv_j = torch.zeros_like(k), torch.zeros_like(v)
                for i in range(0, T, block_size):
                    rows = slice(i, min(i + block_size, T))
                    at = torch.arange(i, rows.stop, device=k.device)[:, None] + S - T
                    key = torch.arange(j, j + k.shape[2], device=k.device)[None, :]
                    seen = (key <= at) if causal else torch.ones_like(key <= at)
                    if window is not None:
                        seen = seen & (at - key < window)
                    if not seen.any():
                        continue
                    q, g = queries[:, :, rows].to(wide) * d**-0.5, grad_output[:, :, rows].to(wide)
                    p = torch.where(seen, torch.matmul(q, k.transpose(2, 3)) - lse[:, :, rows, None], -math.inf).exp()
                    dv_j = dv_j + torch.matmul(p.transpose(2, 3), g)
                    ds = p * (torch.matmul(g, v.transpose(2, 3)) - D[:, :, rows, None])
                    dk_j = dk_j + torch.matmul(ds.transpose(2, 3), q)
                    dq[:, :, rows] += torch.matmul(ds, k) * d**-0.5
                dk.append(dk_j)
                dv.append(dv_j)
            return dq.to(queries.dtype), torch.cat(dk, 2).to(keys.dtype), torch.cat(dv, 2).to(values.dtype)
        """,
    ),
    variant(
        "backward-row-by-row",
        "tiled_attention_backward",
        """
        def tiled_attention_backward(grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None):
            T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
            wide = torch.promote_types(queries.dtype, torch.float32)
            dq, dk, dv = (torch.zeros_like(x, dtype=wide) for x in (queries, keys, values))
            for t in range(T):
                end = t + S - T + 1 if causal else S
                begin = max(0, end - window) if window else 0
                for j in range(begin, end, block_size):
                    cut = slice(j, min(j + block_size, end))
                    q, g, o = (x[:, :, t].to(wide) for x in (queries, grad_output, output))
                    k, v = keys[:, :, cut].to(wide), values[:, :, cut].to(wide)
                    p = ((q.unsqueeze(2) * k).sum(-1) / math.sqrt(d) - lse[:, :, t, None]).exp()
                    ds = p * ((g.unsqueeze(2) * v).sum(-1) - (g * o).sum(-1, keepdim=True)) / math.sqrt(d)
                    dv[:, :, cut] += p.unsqueeze(-1) * g.unsqueeze(2)
                    dk[:, :, cut] += ds.unsqueeze(-1) * q.unsqueeze(2)
                    dq[:, :, t] += (ds.unsqueeze(-1) * k).sum(2)
            return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)
        """,
    ),
    variant(
        "row-term-of-its-own",
        "tiled_attention_backward",
        """
        def tiled_attention_backward(grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None):
            T, S = queries.shape[2], keys.shape[2]
            wide = torch.promote_types(queries.dtype, torch.float32)
            root = math.sqrt(queries.shape[-1])

            def tiles(i):
                q, g = queries[:, :, i : i + block_size].to(wide), grad_output[:, :, i : i + block_size].to(wide)
                top = lse[:, :, i : i + block_size].to(wide).unsqueeze(-1)
                for j in range(0, S, block_size):
                    k, v = (x[:, :, j : j + block_size].to(wide) for x in (keys, values))
                    ago = torch.arange(i, i + q.shape[2]).unsqueeze(1) + S - T - torch.arange(j, j + k.shape[2])
                    ago = ago.to(q.device)
                    seen = (ago >= 0) & (ago < (window or S + T)) if causal else ago == ago
                    if seen.any():
                        p = (q @ k.mT / root).masked_fill(~seen, -math.inf).sub(top.nan_to_num(neginf=0.0)).exp()
                        yield slice(j, j + block_size), q, k, g, p, g @ v.mT

            grads = [torch.zeros(x.shape, dtype=wide, device=x.device) for x in (queries, keys, values)]
            for i in range(0, T, block_size):
                rows = slice(i, i + block_size)
                D = sum((p * dp).sum(-1, keepdim=True) for *_, p, dp in tiles(i))
                for cut, q, k, g, p, dp in tiles(i):
                    ds = p * (dp - D) / root
                    for grad, place, more in zip(grads, (rows, cut, cut), (ds @ k, ds.mT @ q, p.mT @ g)):
                        grad[:, :, place] += more
            return tuple(grad.to(x.dtype) for grad, x in zip(grads, (queries, keys, values)))
        """,
    ),
    trivial(
        "backward-zeros",
        "tiled_attention_backward",
        """
        def tiled_attention_backward(grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None):
            return torch.zeros_like(queries), torch.zeros_like(keys), torch.zeros_like(values)
        """,
    ),
    trivial(
        "backward-inputs",
        "tiled_attention_backward",
        """
        def tiled_attention_backward(grad_output, queries, keys, values, output, lse, block_size, causal=False, window=None):
            return queries, keys, values
        """,
    ),
]

VARIANTS = [*MERGING, *FORWARD, *BACKWARD]
