"""Right answers to assignment 14, written differently, and answers that compute nothing."""

from grader.authoring import edit, trivial, variant

REPEAT = "return x.repeat_interleave(n_rep, dim=1)"

HEADS = [
    variant(
        "expanded",
        "repeat_kv",
        edit(
            REPEAT,
            "B, H, S, d = x.shape\n    return x[:, :, None].expand(B, H, n_rep, S, d).reshape(B, H * n_rep, S, d)",
        ),
    ),
    variant(
        "by-index", "repeat_kv", edit(REPEAT, "return x[:, [h // n_rep for h in range(x.shape[1] * n_rep)]]")
    ),
    variant("stacked", "repeat_kv", edit(REPEAT, "return torch.stack([x] * n_rep, dim=2).flatten(1, 2)")),
    variant(
        "head-by-head",
        "repeat_kv",
        edit(REPEAT, "return torch.cat([head for head in x.split(1, dim=1) for _ in range(n_rep)], dim=1)"),
    ),
    trivial(
        "repeat-zeros",
        "repeat_kv",
        """
        def repeat_kv(x, n_rep):
            return torch.zeros(x.shape[0], x.shape[1] * n_rep, *x.shape[2:])
        """,
    ),
    trivial(
        "repeat-ones",
        "repeat_kv",
        """
        def repeat_kv(x, n_rep):
            return torch.ones(x.shape[0], x.shape[1] * n_rep, *x.shape[2:])
        """,
    ),
]

MASKS = [
    variant(
        "distances",
        "window_mask",
        """
        def window_mask(q_positions, k_positions, window=None, sinks=0):
            distance = q_positions.unsqueeze(1) - k_positions.unsqueeze(0)
            seen = distance.ge(0)
            if window is not None:
                seen &= distance.lt(window) | (k_positions < sinks)
            return seen & (k_positions != -1)
        """,
    ),
    variant(
        "query-by-query",
        "window_mask",
        """
        def window_mask(q_positions, k_positions, window=None, sinks=0):
            rows = []
            for q in q_positions.tolist():
                rows.append([0 <= k <= q and (window is None or q - k < window or k < sinks) for k in k_positions.tolist()])
            return torch.tensor(rows, dtype=torch.bool, device=q_positions.device).reshape(len(q_positions), len(k_positions))
        """,
    ),
    variant(
        "infinite-window",
        "window_mask",
        """
        def window_mask(q_positions, k_positions, window=None, sinks=0):
            width = math.inf if window is None else window
            q, k = torch.meshgrid(q_positions, k_positions, indexing="ij")
            return torch.where(k < sinks, q >= k, (q >= k) & (k > q - width)) & (k >= 0)
        """,
    ),
    trivial(
        "mask-all",
        "window_mask",
        """
        def window_mask(q_positions, k_positions, window=None, sinks=0):
            return torch.ones(len(q_positions), len(k_positions), dtype=torch.bool)
        """,
    ),
    trivial(
        "mask-none",
        "window_mask",
        """
        def window_mask(q_positions, k_positions, window=None, sinks=0):
            return torch.zeros(len(q_positions), len(k_positions), dtype=torch.bool)
        """,
    ),
]

RINGS = [
    variant(
        "list-of-steps",
        "RingCache",
        """
        class RingCache:
            def __init__(self, window, sinks=0):
                self.window, self.sinks, self.total, self.steps = window, sinks, 0, []

            def append(self, keys, values):
                for t in range(keys.shape[2]):
                    self.steps.append((keys[:, :, t], values[:, :, t], self.total))
                    self.total += 1
                k, v, at = zip(*self.steps)
                self.steps = [s for s in self.steps if s[2] < self.sinks or self.total - s[2] < self.window]
                return torch.stack(k, 2), torch.stack(v, 2), torch.tensor(at, device=keys.device)
        """,
    ),
    variant(
        "two-parts",
        "RingCache",
        """
        class RingCache:
            def __init__(self, window, sinks=0):
                self.window, self.sinks, self.total = window, sinks, 0
                self.first = self.newest = None

            def append(self, keys, values):
                T = keys.shape[2]
                at = torch.arange(self.total, self.total + T, device=keys.device)
                new = (keys, values, at)
                old = [part for part in (self.first, self.newest) if part is not None]
                seen = tuple(torch.cat([part[i] for part in (*old, new)], dim=2 if i < 2 else 0) for i in range(3))
                self.total += T
                sinks = seen[2] < self.sinks
                near = ~sinks & (seen[2] >= self.total - self.window)
                self.first, self.newest = (
                    (seen[0][:, :, which].clone(), seen[1][:, :, which].clone(), seen[2][which]) for which in (sinks, near)
                )
                return seen
        """,
    ),
    variant(
        "places-of-a-ring",
        "RingCache",
        """
        class RingCache:
            def __init__(self, window, sinks=0):
                self.window, self.sinks, self.total = window, sinks, 0
                self.size = window + sinks
                self.k = self.v = self.at = None

            def append(self, keys, values):
                B, H, T, d = keys.shape
                if self.k is None:
                    self.k, self.v = keys.new_zeros(B, H, self.size, d), values.new_zeros(B, H, self.size, d)
                    self.at = torch.full((self.size,), -1, device=keys.device)
                new = torch.arange(self.total, self.total + T, device=keys.device)
                out = torch.cat([self.k, keys], 2), torch.cat([self.v, values], 2), torch.cat([self.at, new])
                for t in range(T):
                    step = self.total + t
                    place = step if step < self.sinks else self.sinks + (step - self.sinks) % self.window
                    self.k[:, :, place], self.v[:, :, place], self.at[place] = keys[:, :, t], values[:, :, t], step
                self.total += T
                return out
        """,
    ),
    variant(
        "one-less",
        "RingCache",
        edit("(seen[2] >= self.total - self.window)", "(seen[2] > self.total - self.window)"),
    ),
    trivial(
        "ring-zeros",
        "RingCache",
        """
        class RingCache:
            def __init__(self, window, sinks=0):
                self.total = 0

            def append(self, keys, values):
                return torch.zeros_like(keys), torch.zeros_like(values), torch.arange(keys.shape[2])
        """,
    ),
    trivial(
        "ring-ones",
        "RingCache",
        """
        class RingCache:
            def __init__(self, window, sinks=0):
                self.total = 0

            def append(self, keys, values):
                self.total += keys.shape[2]
                return torch.ones_like(keys), torch.ones_like(values), torch.arange(keys.shape[2])
        """,
    ),
]

ATTENTION = [
    variant(
        "fused-attention",
        "GroupedQueryAttention",
        edit(
            """
            scores = q @ k.mT / math.sqrt(d)  # (B, H, T, S)
            scores = scores.masked_fill(~may_attend, torch.finfo(scores.dtype).min)
            output = scores.softmax(-1) @ v  # (B, H, T, d)
            """,
            "\noutput = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=may_attend)\n",
        ),
    ),
    variant(
        "enable-gqa",
        "GroupedQueryAttention",
        edit(
            "        k, v = (repeat_kv(one, self.num_heads // self.num_kv_heads) for one in (k, v))  # (B, H, S, d)\n",
            "",
        ),
        edit(
            """
            scores = q @ k.mT / math.sqrt(d)  # (B, H, T, S)
            scores = scores.masked_fill(~may_attend, torch.finfo(scores.dtype).min)
            output = scores.softmax(-1) @ v  # (B, H, T, d)
            """,
            "\noutput = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=may_attend, enable_gqa=True)\n",
        ),
    ),
    variant(
        "an-axis-for-the-group",
        "GroupedQueryAttention",
        """
        class GroupedQueryAttention(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
                super().__init__()
                if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
                    raise ValueError("sizes")
                self.g, self.kv, self.d = num_heads // num_kv_heads, num_kv_heads, d_model // num_heads
                self.window, self.sinks = window, sinks
                self.W_q = nn.Linear(d_model, d_model, bias=False)
                self.W_k = nn.Linear(d_model, self.kv * self.d, bias=False)
                self.W_v = nn.Linear(d_model, self.kv * self.d, bias=False)
                self.W_o = nn.Linear(d_model, d_model, bias=False)

            def forward(self, x, cache=None):
                B, T, D = x.shape
                own = torch.arange(T, device=x.device) + (cache.total if cache is not None else 0)
                q = self.W_q(x).view(B, T, self.kv, self.g, self.d)
                k, v = (layer(x).view(B, T, self.kv, self.d).transpose(1, 2) for layer in (self.W_k, self.W_v))
                at = own
                if cache is not None:
                    k, v, at = cache.append(k, v)
                scores = torch.einsum("btkgd,bksd->bkgts", q, k) / self.d**0.5
                hidden = ~window_mask(own, at, window=self.window, sinks=self.sinks)
                weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
                return self.W_o(torch.einsum("bkgts,bksd->btkgd", weights, v).reshape(B, T, D))
        """,
    ),
    trivial(
        "gqa-input",
        "GroupedQueryAttention",
        """
        class GroupedQueryAttention(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
                super().__init__()

            def forward(self, x, cache=None):
                return x
        """,
    ),
    trivial(
        "gqa-zeros",
        "GroupedQueryAttention",
        """
        class GroupedQueryAttention(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
                super().__init__()

            def forward(self, x, cache=None):
                return torch.zeros_like(x)
        """,
    ),
]

VARIANTS = [*HEADS, *MASKS, *RINGS, *ATTENTION]
