"""Right answers to assignment 13, written differently, and answers that compute nothing."""

from grader.authoring import edit, trivial, variant

CACHE = [
    variant(
        "joined",
        "KVCache",
        """
        class KVCache:
            def __init__(self, max_len):
                self.max_len, self.k, self.v = max_len, None, None

            @property
            def length(self):
                return 0 if self.k is None else self.k.shape[2]

            def append(self, keys, values):
                if self.length + keys.shape[2] > self.max_len:
                    raise ValueError("full")
                if self.k is not None:
                    keys, values = torch.cat([self.k, keys], dim=2), torch.cat([self.v, values], dim=2)
                self.k, self.v = keys, values
                return keys, values

            def crop(self, length):
                if length < 0 or length > self.length:
                    raise ValueError("length")
                if self.k is not None:
                    self.k, self.v = self.k[:, :, :length], self.v[:, :, :length]
        """,
    ),
    variant(
        "list-of-steps",
        "KVCache",
        """
        class KVCache:
            def __init__(self, max_len):
                self.max_len = max_len
                self.steps = []

            def __len__(self):
                return len(self.steps)

            @property
            def length(self):
                return len(self)

            def append(self, keys, values):
                new = list(zip(keys.split(1, dim=2), values.split(1, dim=2)))
                if len(self.steps) + len(new) > self.max_len:
                    raise ValueError(f"more than {self.max_len} steps")
                self.steps.extend(new)
                return tuple(torch.cat(part, dim=2) for part in zip(*self.steps))

            def crop(self, length):
                if length not in range(len(self.steps) + 1):
                    raise ValueError(length)
                del self.steps[length:]
        """,
    ),
    variant(
        "module-with-buffers",
        "KVCache",
        """
        class KVCache(nn.Module):
            def __init__(self, max_len):
                super().__init__()
                self.max_len = max_len
                self.register_buffer("both", None, persistent=False)

            @property
            def length(self):
                return 0 if self.both is None else self.both.shape[3]

            def append(self, keys, values):
                new = torch.stack([keys, values])
                if self.length + keys.shape[2] > self.max_len:
                    raise ValueError("no room")
                self.both = new if self.both is None else torch.cat([self.both, new], dim=3)
                return self.both[0], self.both[1]

            def crop(self, length):
                if not (0 <= length <= self.length):
                    raise ValueError("no such length")
                self.both = self.both[:, :, :, :length] if self.both is not None else None
        """,
    ),
    variant(
        "length-as-a-method",
        "KVCache",
        edit("self.length", "self.n", times=8),
        edit("    def append(", "    def length(self):\n        return self.n\n\n    def append("),
    ),
    trivial(
        "cache-zeros",
        "KVCache",
        """
        class KVCache:
            def __init__(self, max_len):
                self.length = 0

            def append(self, keys, values):
                return torch.zeros_like(keys), torch.zeros_like(values)

            def crop(self, length):
                pass
        """,
    ),
    trivial(
        "cache-nothing",
        "KVCache",
        """
        class KVCache:
            def __init__(self, max_len):
                self.length = 0

            def append(self, keys, values):
                return keys, values

            def crop(self, length):
                pass
        """,
    ),
]

ATTENTION = [
    variant(
        "fused",
        "cached_attention",
        """
        def cached_attention(queries, keys, values, cache):
            keys, values = cache.append(keys, values)
            T, S = queries.shape[-2], keys.shape[-2]
            mask = torch.ones(T, S, dtype=torch.bool, device=queries.device).tril(S - T)
            return nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        """,
    ),
    variant(
        "one-query-after-the-other",
        "cached_attention",
        """
        def cached_attention(queries, keys, values, cache):
            begin = cache.length
            keys, values = cache.append(keys, values)
            out = []
            for t in range(queries.shape[2]):
                k, v = keys[:, :, : begin + t + 1], values[:, :, : begin + t + 1]
                weights = torch.einsum("bhd,bhsd->bhs", queries[:, :, t], k).div(queries.shape[-1] ** 0.5).softmax(-1)
                out.append(torch.einsum("bhs,bhsd->bhd", weights, v))
            return torch.stack(out, dim=2)
        """,
    ),
    variant(
        "positions-compared",
        "cached_attention",
        """
        def cached_attention(queries, keys, values, cache):
            n = cache.length
            all_keys, all_values = cache.append(keys, values)
            own = torch.arange(n, n + keys.shape[2], device=keys.device)
            later = torch.arange(all_keys.shape[2], device=keys.device)[None] > own[:, None]
            scores = torch.matmul(queries * queries.shape[-1] ** -0.5, all_keys.transpose(-1, -2))
            return torch.matmul(scores.masked_fill(later, float("-inf")).softmax(dim=-1), all_values)
        """,
    ),
    variant(
        "one-at-a-time",
        "cached_attention",
        """
        def cached_attention(queries, keys, values, cache):
            out = []
            for q, k, v in zip(queries.split(1, dim=2), keys.split(1, dim=2), values.split(1, dim=2)):
                all_k, all_v = cache.append(k, v)
                out.append(nn.functional.scaled_dot_product_attention(q, all_k, all_v))
            return torch.cat(out, dim=2)
        """,
    ),
    trivial(
        "attention-queries",
        "cached_attention",
        """
        def cached_attention(queries, keys, values, cache):
            cache.append(keys, values)
            return queries
        """,
    ),
    trivial(
        "attention-zeros",
        "cached_attention",
        """
        def cached_attention(queries, keys, values, cache):
            cache.append(keys, values)
            return torch.zeros_like(queries)
        """,
    ),
]

LAYER = [
    variant(
        "fused-layer",
        "CachedSelfAttention",
        """
        class CachedSelfAttention(nn.Module):
            def __init__(self, d_model, num_heads, base=10000.0):
                super().__init__()
                if d_model % num_heads or d_model // num_heads % 2:
                    raise ValueError("sizes")
                self.h, self.base = num_heads, base
                self.in_proj = nn.Linear(d_model, 3 * d_model, bias=False)
                self.W_o = nn.Linear(d_model, d_model, bias=False)

            def forward(self, x, cache=None):
                B, T, D = x.shape
                begin = 0 if cache is None else cache.length
                at = torch.arange(T, device=x.device) + begin
                q, k, v = self.in_proj(x).reshape(B, T, 3, self.h, -1).permute(2, 0, 3, 1, 4)
                q, k = apply_rotary(q, at, self.base), apply_rotary(k, at, self.base)
                if cache is not None:
                    k, v = cache.append(k, v)
                mask = torch.ones(T, k.shape[2], dtype=torch.bool, device=x.device).tril(begin)
                out = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
                return self.W_o(out.transpose(1, 2).reshape(B, T, D))
        """,
    ),
    variant(
        "keys-turned-on-reading",
        "CachedSelfAttention",
        edit(
            """
            q = apply_rotary(q, positions, self.base)  # (B, H, T, d)
            k = apply_rotary(k, positions, self.base)  # (B, H, T, d)
            output = cached_attention(q, k, v, cache)  # (B, H, T, d)
            """,
            """
            k, v = cache.append(k, v)
            q = apply_rotary(q, positions, self.base)
            k = apply_rotary(k, torch.arange(k.shape[2], device=x.device), self.base)
            mask = torch.ones(T, k.shape[2], dtype=torch.bool, device=x.device).tril(k.shape[2] - T)
            output = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            """,
        ),
    ),
    variant(
        "own-attention",
        "CachedSelfAttention",
        edit(
            "output = cached_attention(q, k, v, cache)  # (B, H, T, d)",
            """
            k, v = cache.append(k, v)
            mask = torch.arange(k.shape[2], device=x.device)[None] <= positions[:, None]
            output = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            """,
        ),
    ),
    trivial(
        "layer-zeros",
        "CachedSelfAttention",
        """
        class CachedSelfAttention(nn.Module):
            def __init__(self, d_model, num_heads, base=10000.0):
                super().__init__()

            def forward(self, x, cache=None):
                return torch.zeros_like(x)
        """,
    ),
    trivial(
        "layer-input",
        "CachedSelfAttention",
        """
        class CachedSelfAttention(nn.Module):
            def __init__(self, d_model, num_heads, base=10000.0):
                super().__init__()

            def forward(self, x, cache=None):
                return x
        """,
    ),
]

WRITING = [
    variant(
        "loop-over-chunks",
        "generate",
        """
        def generate(model, prompt, max_new_tokens, chunk_size=None):
            out = prompt.clone()
            if not max_new_tokens:
                return out
            caches = [KVCache(prompt.shape[1] + max_new_tokens) for layer in range(model.num_layers)]
            size = chunk_size or prompt.shape[1]
            feed = [prompt[:, i : i + size] for i in range(0, prompt.shape[1], size)]
            with torch.no_grad():
                while out.shape[1] < prompt.shape[1] + max_new_tokens:
                    for piece in feed:
                        last = model(piece, caches)[:, -1]
                    new = torch.argmax(last, dim=-1, keepdim=True)
                    out, feed = torch.cat((out, new), dim=1), [new]
            return out
        """,
    ),
    variant(
        "filled-in",
        "generate",
        """
        def generate(model, prompt, max_new_tokens, chunk_size=None):
            B, P = prompt.shape
            tokens = torch.zeros(B, P + max_new_tokens, dtype=prompt.dtype, device=prompt.device)
            tokens[:, :P] = prompt
            caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]
            at, step = 0, chunk_size if chunk_size is not None else P
            while at < P + max_new_tokens - 1 and max_new_tokens:
                stop = min(at + step, P) if at < P else at + 1
                logits = model(tokens[:, at:stop], caches)
                if stop >= P:
                    tokens[:, stop] = logits[:, -1].argmax(-1)
                at = stop
            return tokens
        """,
    ),
    variant(
        "no-split",
        "generate",
        edit(
            "for piece in prompt.split(chunk_size or P, dim=1):",
            "size = P if chunk_size is None else chunk_size\n"
            "    for piece in (prompt[:, i : i + size] for i in range(0, P, size)):",
        ),
    ),
    trivial(
        "generate-ones",
        "generate",
        """
        def generate(model, prompt, max_new_tokens, chunk_size=None):
            return torch.ones(len(prompt), prompt.shape[1] + max_new_tokens, dtype=torch.int64)
        """,
    ),
    trivial(
        "generate-zeros",
        "generate",
        """
        def generate(model, prompt, max_new_tokens, chunk_size=None):
            return torch.zeros(len(prompt), prompt.shape[1] + max_new_tokens, dtype=torch.int64)
        """,
    ),
]

VARIANTS = [*CACHE, *ATTENTION, *LAYER, *WRITING]
