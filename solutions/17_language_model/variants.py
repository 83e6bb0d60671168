"""Right answers to assignment 17, written differently, and answers that compute nothing."""

from grader.authoring import edit, trivial, variant

NORM = [
    variant(
        "norm-of-torch",
        "RMSNorm",
        """
        class RMSNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.eps = eps

            def forward(self, x):
                return nn.functional.rms_norm(x.float(), self.weight.shape, self.weight.float(), self.eps).to(x.dtype)
        """,
    ),
    variant(
        "norm-inside",
        "RMSNorm",
        """
        class RMSNorm(nn.RMSNorm):
            def __init__(self, d_model, eps=1e-5):
                super().__init__(d_model, eps=eps)
        """,
    ),
    variant(
        "norm-by-length",
        "RMSNorm",
        """
        class RMSNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(d_model))
                self.d, self.eps = d_model, eps

            def forward(self, x):
                y = x.double()
                squares = torch.einsum("...d,...d->...", y, y)[..., None]
                return (y / (squares / self.d + self.eps) ** 0.5 * self.scale.double()).to(x.dtype)
        """,
    ),
    trivial(
        "norm-zeros",
        "RMSNorm",
        edit("return (normed * self.weight).to(x.dtype)", "return torch.zeros_like(x)"),
    ),
    trivial("norm-input", "RMSNorm", edit("return (normed * self.weight).to(x.dtype)", "return x")),
]

FEED_FORWARD = [
    variant(
        "fused-gate",
        "SwiGLU",
        """
        class SwiGLU(nn.Module):
            def __init__(self, d_model, d_hidden):
                super().__init__()
                self.W_gate_up = nn.Linear(d_model, 2 * d_hidden, bias=False)
                self.W_down = nn.Linear(d_hidden, d_model, bias=False)

            def forward(self, x):
                gate, up = self.W_gate_up(x).chunk(2, dim=-1)
                return self.W_down(nn.functional.silu(gate) * up)
        """,
    ),
    variant(
        "numbered",
        "SwiGLU",
        """
        class SwiGLU(nn.Module):
            def __init__(self, d_model, d_hidden):
                super().__init__()
                self.w1 = nn.Linear(d_model, d_hidden, bias=False)
                self.w2 = nn.Linear(d_hidden, d_model, bias=False)
                self.w3 = nn.Linear(d_model, d_hidden, bias=False)

            def forward(self, x):
                return self.w2(nn.functional.silu(self.w1(x)) * self.w3(x))
        """,
    ),
    variant(
        "named-projections",
        "SwiGLU",
        """
        class SwiGLU(nn.Module):
            def __init__(self, d_model, d_hidden):
                super().__init__()
                self.down_proj = nn.Linear(d_hidden, d_model, bias=False)
                self.up_proj = nn.Linear(d_model, d_hidden, bias=False)
                self.gate_proj = nn.Linear(d_model, d_hidden, bias=False)
                self.act = nn.SiLU()

            def forward(self, x):
                return self.down_proj(self.up_proj(x) * self.act(self.gate_proj(x)))
        """,
    ),
    variant(
        "silu-by-hand",
        "SwiGLU",
        edit(
            "gate = nn.functional.silu(self.W_gate(x))",
            "gate = self.W_gate(x) / (1 + torch.exp(-self.W_gate(x)))",
        ),
    ),
    trivial(
        "feed-forward-zeros",
        "SwiGLU",
        edit("return self.W_down(gate * self.W_up(x))", "return torch.zeros_like(x)"),
    ),
    trivial("feed-forward-input", "SwiGLU", edit("return self.W_down(gate * self.W_up(x))", "return x")),
]

BLOCK = [
    variant(
        "attention-of-its-own",
        "LanguageModelBlock",
        """
        class Attention(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads):
                super().__init__()
                self.H, self.K = num_heads, num_kv_heads
                size = num_kv_heads * (d_model // num_heads)
                self.W_q = nn.Linear(d_model, d_model, bias=False)
                self.W_k = nn.Linear(d_model, size, bias=False)
                self.W_v = nn.Linear(d_model, size, bias=False)
                self.W_o = nn.Linear(d_model, d_model, bias=False)

            def forward(self, x, cache):
                B, T, D = x.shape
                begin = cache.length if cache is not None else 0
                at = torch.arange(T, device=x.device) + begin
                q = apply_rotary(self.W_q(x).view(B, T, self.H, -1).transpose(1, 2), at)
                k = apply_rotary(self.W_k(x).view(B, T, self.K, -1).transpose(1, 2), at)
                v = self.W_v(x).view(B, T, self.K, -1).transpose(1, 2)
                if cache is not None:
                    k, v = cache.append(k, v)
                mask = torch.arange(k.shape[2], device=x.device)[None] <= at[:, None]
                out = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
                return self.W_o(out.transpose(1, 2).reshape(B, T, D))


        class LanguageModelBlock(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads):
                super().__init__()
                if d_model % num_heads or (d_model // num_heads) % 2 or num_heads % num_kv_heads:
                    raise ValueError("sizes")
                self.norm1, self.norm2 = nn.RMSNorm(d_model, eps=1e-5), nn.RMSNorm(d_model, eps=1e-5)
                self.attention = Attention(d_model, num_heads, num_kv_heads)
                self.ffn = SwiGLU(d_model, int(8 * d_model / 3))

            def forward(self, x, cache=None):
                h = x + self.attention(self.norm1(x), cache)
                return h + self.ffn(self.norm2(h))
        """,
    ),
    variant(
        "group-axis",
        "LanguageModelBlock",
        edit(
            "k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)",
            "q, k, v = q.unflatten(1, (-1, self.n_rep)), k[:, :, None], v[:, :, None]",
        ),
        edit(
            "output = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=may_attend)",
            "scores = (q @ k.mT / self.d**0.5).masked_fill(~may_attend, float('-inf'))\n"
            "        output = (scores.softmax(-1) @ v).flatten(1, 2)",
        ),
        edit("torch.ones(T, k.shape[2],", "torch.ones(T, k.shape[3],"),
    ),
    variant(
        "other-names",
        "LanguageModelBlock",
        """
        class LanguageModelBlock(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads):
                super().__init__()
                if d_model % num_heads or (d_model // num_heads) % 2 or num_heads % num_kv_heads:
                    raise ValueError("sizes")
                self.H, self.K = num_heads, num_kv_heads
                size = num_kv_heads * (d_model // num_heads)
                self.attn_norm = RMSNorm(d_model)
                self.attn = nn.ModuleDict({
                    "q_proj": nn.Linear(d_model, d_model, bias=False),
                    "k_proj": nn.Linear(d_model, size, bias=False),
                    "v_proj": nn.Linear(d_model, size, bias=False),
                    "o_proj": nn.Linear(d_model, d_model, bias=False),
                })
                self.ffn_norm = RMSNorm(d_model)
                self.mlp = SwiGLU(d_model, 8 * d_model // 3)

            def forward(self, x, cache=None):
                B, T, D = x.shape
                y, begin = self.attn_norm(x), 0 if cache is None else cache.length
                at = torch.arange(begin, begin + T, device=x.device)
                split = lambda z, n: z.reshape(B, T, n, -1).permute(0, 2, 1, 3)
                q = apply_rotary(split(self.attn["q_proj"](y), self.H), at)
                k = apply_rotary(split(self.attn["k_proj"](y), self.K), at)
                v = split(self.attn["v_proj"](y), self.K)
                if cache is not None:
                    k, v = cache.append(k, v)
                heads = []
                for h in range(self.H):
                    own = h // (self.H // self.K)
                    scores = torch.einsum("btd,bsd->bts", q[:, h], k[:, own]) / math.sqrt(D // self.H)
                    late = torch.arange(k.shape[2], device=x.device) > at[:, None]
                    heads.append(scores.masked_fill(late, torch.finfo(scores.dtype).min).softmax(-1) @ v[:, own])
                x = x + self.attn["o_proj"](torch.cat(heads, -1))
                return x + self.mlp(self.ffn_norm(x))
        """,
    ),
    variant(
        "one-step-after-the-other",
        "LanguageModelBlock",
        edit(
            "        x = x + self.attend(self.norm1(x), cache)\n",
            "        cache = KVCache(x.shape[1]) if cache is None else cache\n"
            "        x = x + torch.cat([self.attend(self.norm1(one), cache) for one in x.split(1, dim=1)], dim=1)\n",
        ),
    ),
    trivial(
        "block-input",
        "LanguageModelBlock",
        """
        class LanguageModelBlock(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads):
                super().__init__()

            def forward(self, x, cache=None):
                return x
        """,
    ),
    trivial(
        "block-zeros",
        "LanguageModelBlock",
        """
        class LanguageModelBlock(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads):
                super().__init__()

            def forward(self, x, cache=None):
                return torch.zeros_like(x)
        """,
    ),
]

MODEL = [
    variant(
        "tied-layer",
        "LanguageModel",
        """
        class LanguageModel(nn.Module):
            def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
                super().__init__()
                self.num_layers, self.limit = num_layers, max_len
                self.wte = nn.Embedding(vocab_size, d_model)
                self.h = nn.ModuleList([LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)])
                self.ln_f = RMSNorm(d_model)
                self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
                self.lm_head.weight = self.wte.weight
                nn.init.normal_(self.wte.weight, std=0.02)

            def forward(self, tokens, caches=None):
                stored = 0 if caches is None else caches[0].length
                if stored + tokens.size(1) > self.limit:
                    raise ValueError("too long")
                if caches is None:
                    caches = [None] * self.num_layers
                x = self.wte(tokens)
                for block, cache in zip(self.h, caches):
                    x = block(x, cache)
                return self.lm_head(self.ln_f(x))
        """,
    ),
    variant(
        "linear-of-functional",
        "LanguageModel",
        edit(
            "return self.norm(x) @ self.embedding.weight.T",
            "return nn.functional.linear(self.norm(x), self.embedding.weight)",
        ),
        edit("x = self.embedding(tokens)", "x = nn.functional.embedding(tokens, self.embedding.weight)"),
        edit(
            "nn.init.normal_(self.embedding.weight, std=0.02)",
            "nn.init.trunc_normal_(self.embedding.weight, std=0.03)",
        ),
    ),
    variant(
        "always-with-caches",
        "LanguageModel",
        edit(
            "before = caches[0].length if caches else 0",
            "caches = caches or [KVCache(self.max_len) for _ in self.blocks]\n        before = caches[-1].length",
        ),
        edit("caches[i] if caches else None", "caches[i]"),
    ),
    variant(
        "zero-output-layers",
        "LanguageModel",
        edit(
            "self.norm = RMSNorm(d_model)",
            "self.norm = RMSNorm(d_model)\n        for block in self.blocks:\n"
            "            nn.init.zeros_(block.attention.W_o.weight), nn.init.zeros_(block.ffn.W_down.weight)",
        ),
        edit("std=0.02", "std=0.01"),
    ),
    trivial(
        "model-zeros",
        "LanguageModel",
        """
        class LanguageModel(nn.Module):
            def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
                super().__init__()
                self.V = vocab_size

            def forward(self, tokens, caches=None):
                return torch.zeros(*tokens.shape, self.V)
        """,
    ),
    trivial(
        "model-ones",
        "LanguageModel",
        """
        class LanguageModel(nn.Module):
            def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
                super().__init__()
                self.V = vocab_size

            def forward(self, tokens, caches=None):
                return torch.ones(*tokens.shape, self.V)
        """,
    ),
]

TRAINING = [
    variant(
        "plain-adam",
        "train_language_model",
        '''
        def train_language_model(model, batches, steps):
            """Count the steps, cut the whole row first, and take the loss over another order of axes."""
            adam = torch.optim.Adam(model.parameters(), lr=0.003)
            for _ in range(steps):
                rows = next(batches)
                inputs, targets = rows[:, :-1], rows[:, 1:]
                adam.zero_grad()
                nn.functional.cross_entropy(model(inputs).transpose(1, 2), targets).backward()
                adam.step()
            return model.state_dict()
        ''',
    ),
    variant(
        "whole-rows",
        "train_language_model",
        '''
        def train_language_model(model, batches, steps):
            """Feed whole rows and leave out the last logits; halves of a batch; a smoothed loss; clones returned."""
            optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.95))
            one_cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=steps + 1)
            for step, rows in zip(range(steps), batches):
                for half in rows.tensor_split(2):
                    logits = model(half)[:, :-1]
                    loss = nn.functional.cross_entropy(
                        logits.reshape(-1, logits.shape[-1]), half[:, 1:].reshape(-1), label_smoothing=0.01
                    )
                    (loss * len(half) / len(rows)).backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                one_cycle.step()
                optimizer.zero_grad(set_to_none=False)
            return {name: weight.detach().clone() for name, weight in model.state_dict().items()}
        ''',
    ),
    variant(
        "adam-by-hand",
        "train_language_model",
        '''
        def train_language_model(model, batches, steps):
            """Adam without an optimizer; log-probabilities by hand; returns the model itself."""
            weights = list(model.parameters())
            means, squares = ([torch.zeros_like(w) for w in weights] for _ in range(2))
            for step in range(1, steps + 1):
                rows = next(iter(batches))
                log = model(rows[:, :-1]).log_softmax(-1)
                loss = -log.gather(2, rows[:, 1:, None]).mean()
                for w in weights:
                    w.grad = None
                loss.backward()
                with torch.no_grad():
                    for w, m, s in zip(weights, means, squares):
                        m.lerp_(w.grad, 0.1)
                        s.lerp_(w.grad**2, 0.02)
                        w -= 0.003 * (m / (1 - 0.9**step)) / ((s / (1 - 0.98**step)).sqrt() + 1e-8)
            return model
        ''',
    ),
    trivial(
        "untrained",
        "train_language_model",
        """
        def train_language_model(model, batches, steps):
            return model.state_dict()
        """,
    ),
    trivial(
        "all-zero",
        "train_language_model",
        """
        def train_language_model(model, batches, steps):
            return {name: torch.zeros_like(weight) for name, weight in model.state_dict().items()}
        """,
    ),
]

WRITING = [
    variant(
        "filled-in",
        "write_text",
        """
        @torch.no_grad()
        def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
            B, P = prompt.shape
            out = prompt.new_zeros(B, P + max_new_tokens)
            out[:, :P] = prompt
            caches = [KVCache(P + max_new_tokens) for layer in range(model.num_layers)]
            begin = 0
            for at in range(P, P + max_new_tokens):
                logits, begin = model(out[:, begin:at], caches)[:, -1].double(), at
                if not temperature:
                    out[:, at] = logits.argmax(-1)
                    continue
                probs = top_k_top_p_filtering(logits / temperature, top_k, top_p).softmax(-1)
                for row in range(B):
                    out[row, at] = sample_token(probs[row], uniform())
            return out
        """,
    ),
    variant(
        "cut-by-hand",
        "write_text",
        """
        def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
            was = model.training
            model.eval()
            caches = [KVCache(prompt.shape[1] + max_new_tokens + 1) for _ in range(model.num_layers)]
            text, feed = [prompt], prompt
            with torch.inference_mode():
                for _ in range(max_new_tokens):
                    logits = model(feed, caches)[:, -1, :]
                    chosen = []
                    for row in logits.tolist():
                        if temperature == 0:
                            chosen.append(max(range(len(row)), key=row.__getitem__))
                            continue
                        order = sorted(range(len(row)), key=lambda i: -row[i])
                        weight = {i: math.exp((row[i] - row[order[0]]) / temperature) for i in order}
                        order = order[:top_k] if top_k else order
                        total, mass, kept = sum(weight[i] for i in order), 0.0, []
                        for i in order:
                            if not kept or mass < top_p * total:
                                kept.append(i)
                            mass += weight[i]
                        left = uniform() * sum(weight[i] for i in kept)
                        for i in sorted(kept):
                            if left < weight[i] or i == max(kept):
                                break
                            left -= weight[i]
                        chosen.append(i)
                    feed = torch.tensor(chosen, device=prompt.device)[:, None]
                    text.append(feed)
            model.train(was)
            return torch.cat(text, dim=1)
        """,
    ),
    variant(
        "draws-as-a-tensor",
        "write_text",
        edit(
            "chosen = sample_token(kept.softmax(-1), draws)",
            "chosen = sample_token(kept.double().softmax(-1), draws)",
        ),
        edit("if temperature == 0:", "if temperature < 1e-6:"),
        edit("caches = [", "if max_new_tokens == 0:\n        return prompt.clone()\n    caches = ["),
    ),
    trivial(
        "text-zeros",
        "write_text",
        """
        def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
            return torch.zeros(len(prompt), prompt.shape[1] + max_new_tokens, dtype=torch.int64)
        """,
    ),
    trivial(
        "text-ones",
        "write_text",
        """
        def write_text(model, prompt, max_new_tokens, uniform, temperature=1.0, top_k=0, top_p=1.0):
            return torch.ones(len(prompt), prompt.shape[1] + max_new_tokens, dtype=torch.int64)
        """,
    ),
]

VARIANTS = [*NORM, *FEED_FORWARD, *BLOCK, *MODEL, *TRAINING, *WRITING]
