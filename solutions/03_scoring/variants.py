"""Right answers written differently, and trivial answers.

`edition-1` is written as in edition 1 of *Dive into Deep Learning*, whose constructors take fewer sizes.
"""

from grader.authoring import edit, trivial, variant

ADDITIVE_INIT = """
    def __init__(self, key_size, query_size, num_hiddens, dropout, **kwargs):
        super().__init__(**kwargs)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)
"""

DOT_INIT = """
    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)
"""


def additive(body):
    return f"class AdditiveAttention(nn.Module):{ADDITIVE_INIT}{body}"


def dot(body):
    return f"class DotProductAttention(nn.Module):{DOT_INIT}{body}"


VARIANTS = [
    variant(
        "edition-1",
        "AdditiveAttention",
        """
        class AdditiveAttention(nn.Module):
            def __init__(self, num_hiddens, dropout, **kwargs):
                super().__init__(**kwargs)
                self.W_k, self.W_q = (nn.LazyLinear(num_hiddens, bias=False) for _ in range(2))
                self.w_v = nn.LazyLinear(1, bias=False)
                self.dropout = nn.Dropout(dropout)

            def forward(self, queries, keys, values, valid_lens):
                pairs = self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None]
                scores = self.w_v(pairs.tanh())[..., 0]
                self.attention_weights = masked_softmax(scores, valid_lens)
                return self.dropout(self.attention_weights) @ values
        """,
    ),
    variant(
        "step-by-step",
        "AdditiveAttention",
        additive("""
    def forward(self, queries, keys, values, valid_lens=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        rows = [self.w_v(torch.tanh(queries[:, t : t + 1] + keys))[..., 0] for t in range(queries.shape[1])]
        self.attention_weights = masked_softmax(torch.stack(rows, dim=1), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
"""),
    ),
    variant(
        "names-in-mixed-case",
        "AdditiveAttention",
        """
        class AdditiveAttention(nn.Module):
            def __init__(self, key_size, query_size, num_hiddens, dropout):
                super().__init__()
                self.W_v = nn.Linear(num_hiddens, 1, bias=False)
                self.w_q = nn.Linear(query_size, num_hiddens, bias=False)
                self.w_k = nn.Linear(key_size, num_hiddens, bias=False)
                self.dropout = nn.Dropout(dropout)

            def forward(self, queries, keys, values, valid_lens):
                pairs = self.w_q(queries)[:, :, None] + self.w_k(keys)[:, None]
                self.attention_weights = masked_softmax(self.W_v(pairs.tanh()).squeeze(-1), valid_lens)
                return torch.bmm(self.dropout(self.attention_weights), values)
        """,
    ),
    variant(
        "bare-matrices",
        "AdditiveAttention",
        """
        class AdditiveAttention(nn.Module):
            def __init__(self, key_size, query_size, num_hiddens, dropout):
                super().__init__()
                self.W_k = nn.Parameter(torch.randn(num_hiddens, key_size))
                self.W_q = nn.Parameter(torch.randn(num_hiddens, query_size))
                self.w_v = nn.Parameter(torch.randn(num_hiddens))
                self.dropout = nn.Dropout(dropout)

            def forward(self, queries, keys, values, valid_lens=None):
                pairs = (queries @ self.W_q.T)[:, :, None] + (keys @ self.W_k.T)[:, None]
                self.attention_weights = masked_softmax(pairs.tanh() @ self.w_v, valid_lens)
                return self.dropout(self.attention_weights) @ values
        """,
    ),
    variant(
        "pairs-joined",
        "AdditiveAttention",
        additive("""
    def forward(self, queries, keys, values, valid_lens=None):
        T, S = queries.shape[1], keys.shape[1]
        q = queries.repeat_interleave(S, dim=1)  # (B, T·S, q)
        k = keys.repeat(1, T, 1)  # (B, T·S, k)
        both = torch.cat([self.W_q.weight, self.W_k.weight], dim=1)
        hidden = torch.tanh(torch.cat([q, k], dim=-1) @ both.T)
        self.attention_weights = masked_softmax(self.w_v(hidden).reshape(-1, T, S), valid_lens)
        return self.dropout(self.attention_weights) @ values
"""),
    ),
    variant(
        "functional-dropout",
        "AdditiveAttention",
        additive("""
    def forward(self, queries, keys, values, valid_lens=None):
        hidden = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        weights = masked_softmax(torch.einsum("btsh,oh->bts", hidden, self.w_v.weight), valid_lens)
        self.attention_weights = weights.detach()
        dropped = nn.functional.dropout(weights, self.dropout.p, self.training)
        return torch.einsum("bts,bsv->btv", dropped, values)
"""),
    ),
    # The bias adds the same value to all scores, so the softmax does not change.
    variant(
        "bias-before-softmax",
        "AdditiveAttention",
        edit("self.w_v = nn.Linear(num_hiddens, 1, bias=False)", "self.w_v = nn.Linear(num_hiddens, 1)"),
    ),
    variant(
        "keys-first",
        "AdditiveAttention",
        additive("""
    def forward(self, queries, keys, values, valid_lens=None):
        table = self.W_k(keys)[:, :, None] + self.W_q(queries)[:, None]  # (B, S, T, D)
        scores = self.w_v(table.tanh()).squeeze(-1).transpose(1, 2)
        self.attention_weights = masked_softmax(scores.contiguous(), valid_lens)
        return self.dropout(self.attention_weights) @ values
"""),
    ),
    trivial(
        "zeros",
        "AdditiveAttention",
        additive("""
    def forward(self, queries, keys, values, valid_lens=None):
        return queries.new_zeros(*queries.shape[:2], values.shape[-1])
"""),
    ),
    trivial(
        "mean-of-values",
        "AdditiveAttention",
        additive("""
    def forward(self, queries, keys, values, valid_lens=None):
        return values.mean(dim=1, keepdim=True).expand(-1, queries.shape[1], -1)
"""),
    ),
    trivial(
        "values-input-returned",
        "AdditiveAttention",
        additive("""
    def forward(self, queries, keys, values, valid_lens=None):
        return values
"""),
    ),
    variant(
        "bmm",
        "DotProductAttention",
        dot("""
    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.permute(0, 2, 1)) / queries.shape[-1] ** 0.5
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
"""),
    ),
    variant(
        "queries-scaled-first",
        "DotProductAttention",
        dot("""
    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.einsum("btd,bsd->bts", queries * keys.size(2) ** -0.5, keys)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.einsum("bts,bsv->btv", self.dropout(self.attention_weights), values)
"""),
    ),
    variant(
        "sequence-by-sequence",
        "DotProductAttention",
        dot("""
    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.stack([q @ k.T for q, k in zip(queries, keys)]) / math.sqrt(queries.shape[2])
        self.attention_weights = weights = masked_softmax(scores, valid_lens)
        return torch.stack([self.dropout(w) @ v for w, v in zip(weights, values)])
"""),
    ),
    variant(
        "own-dropout",
        "DotProductAttention",
        dot("""
    def forward(self, queries, keys, values, valid_lens=None):
        scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
        self.attention_weights = weights = masked_softmax(scores, valid_lens)
        if self.training:
            kept = torch.rand_like(weights) >= self.dropout.p
            weights = weights * kept / (1 - self.dropout.p)
        return weights @ values
"""),
    ),
    variant(
        "broadcast",
        "DotProductAttention",
        dot("""
    def forward(self, queries, keys, values, valid_lens=None):
        scores = (queries[:, :, None] * keys[:, None]).sum(-1) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return (self.dropout(self.attention_weights)[..., None] * values[:, None]).sum(2)
"""),
    ),
    trivial(
        "zeros",
        "DotProductAttention",
        dot("""
    def forward(self, queries, keys, values, valid_lens=None):
        return queries.new_zeros(*queries.shape[:2], values.shape[-1])
"""),
    ),
    trivial(
        "mean-of-values",
        "DotProductAttention",
        dot("""
    def forward(self, queries, keys, values, valid_lens=None):
        return values.mean(dim=1, keepdim=True).expand(-1, queries.shape[1], -1)
"""),
    ),
    trivial(
        "queries-input-returned",
        "DotProductAttention",
        dot("""
    def forward(self, queries, keys, values, valid_lens=None):
        return queries
"""),
    ),
    variant(
        "lengths-as-in-the-book",
        "AdditiveAttention",
        edit("valid_lens: torch.Tensor | None = None,", "valid_lens: torch.Tensor | None,"),
    ),
]
