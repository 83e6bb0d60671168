"""Right answers written differently, and trivial answers."""

from grader.authoring import trivial, variant

FOUR_LAYERS = """
        self.num_heads = num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)
"""

FOUR_AXES = '''
class NAME(nn.Module):
    """The heads keep an axis of their own; hidden scores become minus infinity."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()LAYERS
    def forward(self, queries, keys, values, valid_lens):
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer, x in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values))
        )
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            lens = valid_lens[:, None, None, None] if valid_lens.dim() == 1 else valid_lens[:, None, :, None]
            scores = scores.masked_fill(torch.arange(k.shape[2], device=k.device) >= lens, -torch.inf)
        self.attention_weights = scores.softmax(dim=-1)
        return self.W_o((self.dropout(self.attention_weights) @ v).transpose(1, 2).flatten(2))
'''

LOOP = '''
class NAME(nn.Module):
    """One head after the other, each on its slice of the features."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()LAYERS
    def forward(self, queries, keys, values, valid_lens):
        from grader.given import masked_softmax

        parts = [x.chunk(self.num_heads, dim=-1) for x in (self.W_q(queries), self.W_k(keys), self.W_v(values))]
        heads = []
        for q, k, v in zip(*parts):
            weights = masked_softmax(torch.bmm(q, k.mT) * q.shape[-1] ** -0.5, valid_lens)
            heads.append(torch.bmm(self.dropout(weights), v))
        return self.W_o(torch.cat(heads, dim=-1))
'''

EINSUM = '''
class NAME(nn.Module):
    """Sums over named axes; the queries are scaled, and the mask is added to the scores."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()LAYERS
    def forward(self, queries, keys, values, valid_lens):
        split = (self.num_heads, -1)
        q = self.W_q(queries).unflatten(2, split)
        q = q / q.shape[-1] ** 0.5
        k, v = self.W_k(keys).unflatten(2, split), self.W_v(values).unflatten(2, split)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k)
        if valid_lens is not None:
            lens = valid_lens.reshape(len(keys), 1, -1, 1)
            seen = torch.arange(keys.shape[1], device=keys.device) < lens
            scores = scores + seen.to(scores).log()
        weights = self.dropout(scores.softmax(-1))
        return self.W_o(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))
'''

READY_MADE = '''
class NAME(nn.Module):
    """PyTorch's own function does the attention."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()LAYERS
    def forward(self, queries, keys, values, valid_lens):
        q, k, v = (
            layer(x).view(x.shape[0], x.shape[1], self.num_heads, -1).transpose(1, 2)
            for layer, x in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values))
        )
        mask = None
        if valid_lens is not None:
            mask = torch.arange(keys.shape[1], device=keys.device) < valid_lens.reshape(len(keys), 1, -1, 1)
        p = self.dropout.p if self.training else 0.0
        heads = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
        return self.W_o(heads.transpose(1, 2).flatten(2))
'''


def attention(template, name):
    """Return a right multi-head attention under the name of an exercise."""
    return template.replace("NAME", name).replace("LAYERS", FOUR_LAYERS)


SMALL_LAYERS = '''
class MultiHeadAttention(nn.Module):
    """Every head has three small layers of its own."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        d = num_hiddens // num_heads
        self.W_q = nn.ModuleList(nn.Linear(query_size, d, bias=bias) for _ in range(num_heads))
        self.W_k = nn.ModuleList(nn.Linear(key_size, d, bias=bias) for _ in range(num_heads))
        self.W_v = nn.ModuleList(nn.Linear(value_size, d, bias=bias) for _ in range(num_heads))
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.attention = DotProductAttention(dropout)

    def forward(self, queries, keys, values, valid_lens):
        heads = [
            self.attention(to_q(queries), to_k(keys), to_v(values), valid_lens)
            for to_q, to_k, to_v in zip(self.W_q, self.W_k, self.W_v)
        ]
        return self.W_o(torch.cat(heads, dim=-1))
'''

LAZY = '''
class MultiHeadAttention(nn.Module):
    """The constructor of the book's later edition: the layers learn their input sizes when first used."""

    def __init__(self, num_hiddens, num_heads, dropout, bias=False, **kwargs):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.LazyLinear(num_hiddens, bias=bias) for _ in range(4))

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = (
            transpose_qkv(x, self.num_heads) for x in (self.W_q(queries), self.W_k(keys), self.W_v(values))
        )
        if valid_lens is not None:
            valid_lens = torch.stack([valid_lens] * self.num_heads, dim=1).flatten(0, 1)
        return self.W_o(transpose_output(self.attention(q, k, v, valid_lens), self.num_heads))
'''

TANGLED = """
class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.w_q, self.w_k, self.w_v, self.fc_out = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, D = x.shape
BODY
"""
TRANSPARENT = """
class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.W_Q, self.W_K, self.W_V, self.fc_out = (nn.Linear(embed_dim, embed_dim) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        B, T, D = x.shape
BODY
"""


def with_body(template, *lines):
    return template.replace("BODY", "\n".join(f"        {line}" for line in lines))


def tangled(id, *lines):
    return variant(id, "TangledSelfAttention", with_body(TANGLED, *lines))


def transparent(id, *lines):
    return variant(id, "TransparentSelfAttention", with_body(TRANSPARENT, *lines))


SPLIT_TANGLED = (
    "q, k, v = (w(x).view(B, T, self.n_head, -1).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))"
)
SPLIT_TRANSPARENT = (
    "q, k, v = (w(x).view(B, T, self.num_heads, -1).transpose(1, 2) for w in (self.W_Q, self.W_K, self.W_V))"
)


def predicate(name, *lines):
    """Return the source of a student's test. `lines` are its body."""
    return "\n".join((f"def {name}(attention):", *(f"    {line}" for line in lines)))


def crash_or(name, *lines):
    """Return a student's test that counts an exception as a fault. `lines` may raise one."""
    guarded = predicate("faulty", *lines)
    caller = predicate(
        name, "try:", "    return bool(faulty(attention))", "except Exception:", "    return True"
    )
    return f"{caller}\n\n\n{guarded}"


def constants(name):
    """Return student tests that return the same for every module of the cases."""
    return [
        trivial(f"{name}-always", name, predicate(name, "return True")),
        trivial(f"{name}-never", name, predicate(name, "return False")),
        trivial(
            f"{name}-by-class-name", name, predicate(name, "return 'Attention' in type(attention).__name__")
        ),
        trivial(f"{name}-no-answer", name, predicate(name, "return None")),
    ]


def mixed_case(source):
    """Change the names of two layers to lower case, as students often write them."""
    return source.replace("self.W_q", "self.w_q").replace("self.W_o", "self.w_o")


BARE = """
class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads, self.attention = num_heads, DotProductAttention(dropout)
        sizes = {"W_q": query_size, "W_k": key_size, "W_v": value_size, "W_o": num_hiddens}
        self.w = nn.ParameterDict({n: nn.Parameter(torch.randn(num_hiddens, s)) for n, s in sizes.items()})
        self.b = nn.ParameterDict({n: nn.Parameter(torch.zeros(num_hiddens)) for n in sizes if bias})

    def linear(self, name, x):
        return nn.functional.linear(x, self.w[name], self.b[name] if name in self.b else None)

    def forward(self, queries, keys, values, valid_lens):
        projected = zip(("W_q", "W_k", "W_v"), (queries, keys, values), strict=True)
        q, k, v = (transpose_qkv(self.linear(name, x), self.num_heads) for name, x in projected)
        lens = None if valid_lens is None else valid_lens.repeat_interleave(self.num_heads, dim=0)
        return self.linear("W_o", transpose_output(self.attention(q, k, v, lens), self.num_heads))
"""

VARIANTS = [
    *(
        variant(f"{prefix}-{id}", name, attention(template, name))
        for prefix, name in (("mha", "MultiHeadAttention"), ("mixed-up", "MixedUpAttention"))
        for id, template in (
            ("four-axes", FOUR_AXES),
            ("loop", LOOP),
            ("einsum", EINSUM),
            ("ready-made", READY_MADE),
        )
    ),
    variant("mha-small-layers", "MultiHeadAttention", SMALL_LAYERS),
    variant("mha-lazy", "MultiHeadAttention", LAZY),
    variant("mha-bare-matrices", "MultiHeadAttention", BARE),
    variant(
        "mha-names-in-mixed-case",
        "MultiHeadAttention",
        mixed_case(attention(FOUR_AXES, "MultiHeadAttention")),
    ),
    variant(
        "mixed-up-inherited", "MixedUpAttention", "class MixedUpAttention(MultiHeadAttention):\n    pass\n"
    ),
    # FOUR_AXES with an early `return`.
    *(
        trivial(
            f"{prefix}-{id}",
            name,
            attention(FOUR_AXES, name).replace(
                "        q, k, v = (", f"        return {what}\n        q, k, v = ("
            ),
        )
        for prefix, name in (("mha", "MultiHeadAttention"), ("mixed-up", "MixedUpAttention"))
        for id, what in (
            ("input-returned", "queries"),
            ("zeros", "queries.new_zeros(*queries.shape[:2], self.W_o.out_features)"),
            ("mean", "values.mean(1, keepdim=True).expand(-1, queries.shape[1], -1)"),
        )
    ),
    tangled(
        "tangled-where",
        SPLIT_TANGLED,
        "steps = torch.arange(T, device=x.device)",
        "allowed = steps[:, None] >= steps",
        "scores = q @ k.mT / q.shape[-1] ** 0.5",
        "weights = torch.where(allowed, scores, torch.finfo(x.dtype).min).softmax(-1)",
        "return self.fc_out((weights @ v).transpose(1, 2).flatten(2))",
    ),
    tangled(
        "tangled-prefixes",
        SPLIT_TANGLED,
        "steps = []",
        "for t in range(T):",
        "    scores = q[:, :, t : t + 1] @ k[:, :, : t + 1].mT / math.sqrt(q.shape[-1])",
        "    steps.append(scores.softmax(-1) @ v[:, :, : t + 1])",
        "return self.fc_out(torch.cat(steps, dim=2).transpose(1, 2).flatten(2))",
    ),
    tangled(
        "tangled-lengths",
        "q, k, v = (transpose_qkv(w(x), self.n_head) for w in (self.w_q, self.w_k, self.w_v))",
        "lens = torch.arange(1, T + 1, device=q.device).expand(len(q), T)",
        "return self.fc_out(transpose_output(DotProductAttention(0.0)(q, k, v, lens), self.n_head))",
    ),
    tangled(
        "tangled-additive",
        SPLIT_TANGLED,
        "mask = torch.full((T, T), -torch.inf, dtype=x.dtype, device=x.device).triu(1)",
        "weights = torch.baddbmm(mask.expand(B * self.n_head, T, T), q.flatten(0, 1) / q.shape[-1] ** 0.5, k.flatten(0, 1).mT)",
        "heads = weights.softmax(-1) @ v.flatten(0, 1)",
        "return self.fc_out(transpose_output(heads, self.n_head))",
    ),
    trivial("tangled-input-returned", "TangledSelfAttention", with_body(TANGLED, "return x")),
    trivial("tangled-zeros", "TangledSelfAttention", with_body(TANGLED, "return 0 * self.fc_out(x)")),
    transparent(
        "transparent-where",
        SPLIT_TRANSPARENT,
        "steps = torch.arange(T, device=x.device)",
        "scores = torch.where(steps[:, None] >= steps, q @ k.mT / q.shape[-1] ** 0.5, -torch.inf)",
        "attention = scores.softmax(-1)",
        "return self.fc_out((self.dropout(attention) @ v).transpose(1, 2).flatten(2)), attention.detach()",
    ),
    transparent(
        "transparent-einsum",
        "q, k, v = (w(x).view(B, T, self.num_heads, -1) for w in (self.W_Q, self.W_K, self.W_V))",
        "scores = torch.einsum('bqhd,bkhd->bhqk', q, k) * q.shape[-1] ** -0.5",
        "attention = (scores + torch.ones(T, T, device=x.device).tril().log()).softmax(-1)",
        "out = torch.einsum('bhqk,bkhd->bqhd', self.dropout(attention), v).reshape(B, T, D)",
        "return self.fc_out(out), attention",
    ),
    transparent(
        "transparent-lengths",
        "q, k, v = (transpose_qkv(w(x), self.num_heads) for w in (self.W_Q, self.W_K, self.W_V))",
        "block = DotProductAttention(self.dropout.p).train(self.training)",
        "heads = block(q, k, v, torch.arange(1, T + 1, device=q.device).expand(len(q), T))",
        "out = self.fc_out(transpose_output(heads, self.num_heads))",
        "return out, block.attention_weights.unflatten(0, (B, self.num_heads))",
    ),
    transparent(
        "transparent-loop",
        "parts = zip(*(w(x).chunk(self.num_heads, dim=-1) for w in (self.W_Q, self.W_K, self.W_V)))",
        "maps, outs = [], []",
        "for q, k, v in parts:",
        "    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(torch.ones(T, T, device=q.device).triu(1) == 1, -1e9)",
        "    maps.append(scores.softmax(-1))",
        "    outs.append(self.dropout(maps[-1]) @ v)",
        "return [self.fc_out(torch.cat(outs, dim=-1)), torch.stack(maps, dim=1)]",
    ),
    trivial(
        "transparent-input-returned",
        "TransparentSelfAttention",
        with_body(TRANSPARENT, "return x, x.new_zeros(B, self.num_heads, T, T)"),
    ),
    trivial(
        "transparent-zeros",
        "TransparentSelfAttention",
        with_body(TRANSPARENT, "return 0 * x, x.new_zeros(B, self.num_heads, T, T)"),
    ),
    variant(
        "catches-mixed-up-by-layers",
        "catches_mixed_up",
        crash_or(
            "catches_mixed_up",
            "attention.eval()",
            "names = ('W_q', 'W_k', 'W_v')",
            "inputs = [torch.randn(3, 4, getattr(attention, n).in_features) for n in names]",
            "lens = torch.tensor([1, 2, 4])",
            "before = attention(*inputs, lens)",
            "for name in names:  # setting a used layer to zero changes the output",
            "    weight = getattr(attention, name).weight",
            "    kept = weight.detach().clone()",
            "    with torch.no_grad():",
            "        weight.zero_()",
            "        after = attention(*inputs, lens)",
            "        weight.copy_(kept)",
            "    if torch.allclose(before, after, atol=1e-5):",
            "        return True",
            "return torch.allclose(before[0], attention(*inputs, None)[0], atol=1e-5)",
        ),
    ),
    variant(
        "catches-mixed-up-by-hooks",
        "catches_mixed_up",
        crash_or(
            "catches_mixed_up",
            "called = []",
            "for name in ('W_q', 'W_k', 'W_v', 'W_o'):",
            "    getattr(attention, name).register_forward_hook(lambda *_, name=name: called.append(name))",
            "attention.eval()",
            "sizes = [getattr(attention, n).in_features for n in ('W_q', 'W_k', 'W_v')]",
            "q, k, v = (torch.randn(2, n, size) for n, size in zip((3, 6, 6), sizes))",
            "short = attention(q, k, v, torch.tensor([1, 6]))",
            "alone = attention(q, k[:, :1], v[:, :1], None)",
            "return sorted(called[:4]) != ['W_k', 'W_o', 'W_q', 'W_v'] or not torch.allclose(short[0], alone[0], atol=1e-4)",
        ),
    ),
    variant(
        "catches-mixed-up-by-computing-again",
        "catches_mixed_up",
        crash_or(
            "catches_mixed_up",
            "attention.eval()",
            "layers = attention.W_q, attention.W_k, attention.W_v",
            "q, k, v = (torch.randn(2, n, layer.in_features) for n, layer in zip((1, 4, 4), layers))",
            "one_key = attention(q, k, v, torch.tensor([1, 1]))  # with one key its value is the answer",
            "if not torch.allclose(one_key, attention.W_o(attention.W_v(v[:, :1])), atol=1e-4):",
            "    return True",
            "loss = attention(q, k, v, None).pow(2).sum()",
            "return torch.autograd.grad(loss, attention.W_k.weight, allow_unused=True)[0] is None",
        ),
    ),
    variant(
        "catches-mixed-up-numbers",
        "catches_mixed_up",
        crash_or(
            "catches_mixed_up",
            "attention.eval().zero_grad()",
            "q, k, v = (torch.randn(4, 5, n.in_features) for n in (attention.W_q, attention.W_k, attention.W_v))",
            "per_query = torch.randint(1, 5, (4, 5))",
            "attention(q, k, v, per_query).sum().backward()",
            "if any(p.grad is None for p in attention.parameters()):",
            "    return True",
            "k2 = k.clone()",
            "k2[:, -1] += 5",
            "return not torch.allclose(attention(q, k, v, per_query), attention(q, k2, v, per_query), atol=1e-4)",
        ),
    ),
    *constants("catches_mixed_up"),
    variant(
        "catches-tangled-by-gradient",
        "catches_tangled",
        crash_or(
            "catches_tangled",
            "for T in (2, 3, 5, 9):",
            "    x = torch.randn(1, T, attention.w_q.in_features, requires_grad=True)",
            "    out = attention(x)",
            "    (gradient,) = torch.autograd.grad(out[0, 0].sum(), x)",
            "    if not out.isfinite().all() or gradient[0, 1:].abs().max() > 1e-6:",
            "        return True",
            "return False",
        ),
    ),
    variant(
        "catches-tangled-by-prefix",
        "catches_tangled",
        crash_or(
            "catches_tangled",
            "x = torch.randn(3, 8, attention.w_q.in_features)",
            "whole = attention(x)",
            "return any(not torch.allclose(attention(x[:, :t]), whole[:, :t], atol=1e-4) for t in range(1, 8))",
        ),
    ),
    variant(
        "catches-tangled-by-first-step",
        "catches_tangled",
        crash_or(
            "catches_tangled",
            "for T in (3, 6):",
            "    x = torch.randn(2, T, attention.w_v.in_features)",
            "    first = attention.fc_out(attention.w_v(x[:, 0]))",
            "    if not torch.allclose(attention(x)[:, 0], first, atol=1e-4):",
            "        return True",
            "return False",
        ),
    ),
    variant(
        "catches-tangled-tensor",
        "catches_tangled",
        predicate(
            "catches_tangled",
            "found = torch.tensor(False)",
            "with torch.no_grad():",
            "    for T in range(1, 10):",
            "        x = torch.randn(1, T, attention.w_q.weight.shape[1])",
            "        y = x.clone()",
            "        y[:, -1] = 7.0",
            "        try:",
            "            a, b = attention(x), attention(y)",
            "        except (RuntimeError, IndexError, ValueError):",
            "            return True",
            "        found = found | ~a.isfinite().all() | ((a - b)[:, :-1].abs() > 1e-4).any()",
            "return found",
        ),
    ),
    *constants("catches_tangled"),
    variant(
        "catches-transparent-step-by-step",
        "catches_transparent",
        predicate(
            "catches_transparent",
            "x = torch.randn(3, 5, attention.W_Q.in_features)",
            "_, drawn = attention.train()(x)",
            "out, weights = attention.eval()(x)",
            "if not torch.allclose(drawn, weights, atol=1e-5):",
            "    return True",
            "H, D = weights.shape[1], x.shape[-1]",
            "v = attention.W_V(x).view(3, 5, H, D // H)",
            "again = attention.fc_out(torch.einsum('bhts,bshd->bthd', weights.tril(), v).reshape(3, 5, D))",
            "return not torch.allclose(out, again, atol=1e-4)",
        ),
    ),
    variant(
        "catches-transparent-by-change",
        "catches_transparent",
        crash_or(
            "catches_transparent",
            "torch.manual_seed(0)",
            "x = torch.randn(2, 6, attention.W_Q.in_features)",
            "y = x.clone()",
            "y[:, 3:] = torch.randn_like(y[:, 3:])",
            "sums = attention.train()(x)[1].sum(-1)",
            "(a, _), (b, _) = attention.eval()(x), attention(y)",
            "return (sums - 1).abs().max() > 1e-4 or (a - b)[:, :3].abs().max() > 1e-4",
        ),
    ),
    variant(
        "catches-transparent-first-step",
        "catches_transparent",
        predicate(
            "catches_transparent",
            "x = torch.randn(2, 6, attention.W_Q.in_features)",
            "out, weights = attention.eval()(x)",
            "first = attention.fc_out(attention.W_V(x[:, 0]))",
            "whole = attention.train()(x)[1].sum(-1)",
            "alone = weights[:, :, 0, 0]",
            "fine = torch.allclose(out[:, 0], first, atol=1e-4) and torch.allclose(alone, torch.ones_like(alone))",
            "return not (fine and torch.allclose(whole, torch.ones_like(whole), atol=1e-4))",
        ),
    ),
    variant(
        "catches-transparent-by-prefix",
        "catches_transparent",
        predicate(
            "catches_transparent",
            "x = torch.randn(2, 7, attention.W_Q.in_features)",
            "rows = attention.train()(x)[1].sum(-1)",
            "attention.eval()",
            "whole = attention(x)[0]",
            "ok = all(torch.allclose(attention(x[:, :t])[0], whole[:, :t], atol=1e-4) for t in range(1, 7))",
            "return not (ok and torch.allclose(rows, torch.ones_like(rows), atol=1e-4))",
        ),
    ),
    *constants("catches_transparent"),
]
