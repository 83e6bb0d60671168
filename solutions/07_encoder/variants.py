"""Right answers written differently, and trivial answers.

`…-edition-1` is written as in edition 1 of *Dive into Deep Learning*, whose constructors take fewer sizes.
"""

from grader.authoring import edit, trivial, variant

ADD_NORM = [
    variant(
        "addnorm-edition-1",
        "AddNorm",
        """
        class AddNorm(nn.Module):
            def __init__(self, norm_shape, dropout):
                super().__init__()
                self.dropout, self.ln = nn.Dropout(dropout), nn.LayerNorm(norm_shape)

            def forward(self, X, Y):
                return self.ln(X + self.dropout(Y))
        """,
    ),
    variant(
        "functional",
        "AddNorm",
        """
        class AddNorm(nn.Module):
            def __init__(self, normalized_shape, dropout):
                super().__init__()
                self.rate = dropout
                self.ln = nn.LayerNorm(normalized_shape)

            def forward(self, X, Y):
                return self.ln(X + nn.functional.dropout(Y, self.rate, self.training))
        """,
    ),
    variant(
        "by-hand",
        "AddNorm",
        """
        class AddNorm(nn.Module):
            def __init__(self, normalized_shape, dropout):
                super().__init__()
                shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
                self.gamma = nn.Parameter(torch.ones(shape))
                self.beta = nn.Parameter(torch.zeros(shape))
                self.axes = tuple(range(-len(shape), 0))
                self.dropout = nn.Dropout(dropout)

            def forward(self, X, Y):
                Z = X + self.dropout(Y)
                centred = Z - Z.mean(self.axes, keepdim=True)
                variance = centred.square().mean(self.axes, keepdim=True)
                return self.gamma * centred / (variance + 1e-5).sqrt() + self.beta
        """,
    ),
    variant(
        "by-hand-shift-first",
        "AddNorm",
        """
        class AddNorm(nn.Module):
            def __init__(self, normalized_shape, dropout):
                super().__init__()
                shape = torch.Size([normalized_shape] if isinstance(normalized_shape, int) else normalized_shape)
                self.shift = nn.Parameter(torch.zeros(shape))
                self.scale = nn.Parameter(torch.ones(shape))
                self.dropout = nn.Dropout(dropout)

            def forward(self, X, Y):
                Z = self.dropout(Y) + X
                return nn.functional.layer_norm(Z, self.scale.shape, self.scale, self.shift)
        """,
    ),
    variant(
        "own-mask",
        "AddNorm",
        """
        class AddNorm(nn.Module):
            def __init__(self, normalized_shape, dropout):
                super().__init__()
                self.keep = 1 - dropout
                self.ln = nn.LayerNorm(normalized_shape)

            def forward(self, X, Y):
                if self.training and self.keep < 1:
                    Y = Y * torch.bernoulli(torch.full_like(Y, self.keep)) / self.keep
                return self.ln(X + Y)
        """,
    ),
    variant(
        "other-name",
        "AddNorm",
        """
        class AddNorm(nn.Module):
            def __init__(self, normalized_shape, dropout):
                super().__init__()
                self.norm = nn.LayerNorm(normalized_shape)
                self.drop = nn.Dropout(dropout)

            def forward(self, X, Y):
                return self.norm(torch.add(X, self.drop(Y)))
        """,
    ),
    variant(
        "tiny-eps",
        "AddNorm",
        edit("nn.LayerNorm(normalized_shape)", "nn.LayerNorm(normalized_shape, eps=1e-6)"),
    ),
    trivial(
        "addnorm-zeros",
        "AddNorm",
        """
        class AddNorm(nn.Module):
            def __init__(self, normalized_shape, dropout):
                super().__init__()
                self.ln = nn.LayerNorm(normalized_shape)

            def forward(self, X, Y):
                return torch.zeros_like(X)
        """,
    ),
    trivial(
        "addnorm-input",
        "AddNorm",
        """
        class AddNorm(nn.Module):
            def __init__(self, normalized_shape, dropout):
                super().__init__()

            def forward(self, X, Y):
                return X
        """,
    ),
    trivial(
        "addnorm-new-part",
        "AddNorm",
        """
        class AddNorm(nn.Module):
            def __init__(self, normalized_shape, dropout):
                super().__init__()
                self.ln = nn.LayerNorm(normalized_shape)

            def forward(self, X, Y):
                return Y.clone()
        """,
    ),
]

FFN = [
    variant(
        "ffn-edition-1",
        "PositionWiseFFN",
        """
        class PositionWiseFFN(nn.Module):
            def __init__(self, ffn_num_hiddens, ffn_num_outputs):
                super().__init__()
                self.dense1 = nn.LazyLinear(ffn_num_hiddens)
                self.dense2 = nn.LazyLinear(ffn_num_outputs)

            def forward(self, X):
                return self.dense2(self.dense1(X).relu())
        """,
    ),
    variant(
        "ffn-edition-1-own-names",
        "PositionWiseFFN",
        """
        class PositionWiseFFN(nn.Module):
            def __init__(self, ffn_num_hiddens, ffn_num_outputs):
                super().__init__()
                self.net = nn.Sequential(
                    nn.LazyLinear(ffn_num_hiddens), nn.ReLU(), nn.LazyLinear(ffn_num_outputs)
                )

            def forward(self, X):
                return self.net(X)
        """,
    ),
    variant(
        "convolutions",
        "PositionWiseFFN",
        """
        class PositionWiseFFN(nn.Module):
            def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
                super().__init__()
                self.dense1 = nn.Conv1d(ffn_num_input, ffn_num_hiddens, kernel_size=1)
                self.dense2 = nn.Conv1d(ffn_num_hiddens, ffn_num_outputs, kernel_size=1)

            def forward(self, X):
                return self.dense2(self.dense1(X.mT).relu()).mT
        """,
    ),
    variant(
        "sequential",
        "PositionWiseFFN",
        """
        class PositionWiseFFN(nn.Module):
            def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
                super().__init__()
                self.net = nn.Sequential(
                    nn.Linear(ffn_num_input, ffn_num_hiddens), nn.ReLU(), nn.Linear(ffn_num_hiddens, ffn_num_outputs)
                )

            def forward(self, X):
                return self.net(X)
        """,
    ),
    variant(
        "bare-matrices",
        "PositionWiseFFN",
        """
        class PositionWiseFFN(nn.Module):
            def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
                super().__init__()
                self.W1 = nn.Parameter(torch.randn(ffn_num_input, ffn_num_hiddens))
                self.b1 = nn.Parameter(torch.zeros(ffn_num_hiddens))
                self.W2 = nn.Parameter(torch.randn(ffn_num_hiddens, ffn_num_outputs))
                self.b2 = nn.Parameter(torch.zeros(ffn_num_outputs))

            def forward(self, X):
                return torch.clamp(X @ self.W1 + self.b1, min=0) @ self.W2 + self.b2
        """,
    ),
    variant(
        "one-position-at-a-time",
        "PositionWiseFFN",
        edit(
            "hidden = torch.relu(self.dense1(X))",
            """
            rows = [torch.relu(self.dense1(x)) for x in X.unbind(1)]
            hidden = torch.stack(rows, 1)
            """,
        ),
    ),
    variant("in-place-relu", "PositionWiseFFN", edit("torch.relu(", "torch.relu_(")),
    variant(
        "times-its-sign",
        "PositionWiseFFN",
        edit(
            "torch.relu(self.dense1(X))",
            """
            self.dense1(X)
            hidden = hidden * (hidden > 0)
            """,
        ),
    ),
    trivial(
        "ffn-zeros",
        "PositionWiseFFN",
        """
        class PositionWiseFFN(nn.Module):
            def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
                super().__init__()
                self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
                self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

            def forward(self, X):
                return torch.zeros(*X.shape[:2], self.dense2.out_features)
        """,
    ),
    trivial(
        "ffn-input",
        "PositionWiseFFN",
        """
        class PositionWiseFFN(nn.Module):
            def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
                super().__init__()

            def forward(self, X):
                return X
        """,
    ),
]

BLOCK = [
    variant(
        "block-edition-1",
        "EncoderBlock",
        """
        from d2l import torch as d2l

        class EncoderBlock(nn.Module):
            def __init__(self, num_hiddens, ffn_num_hiddens, num_heads, dropout, use_bias=False):
                super().__init__()
                self.attention = d2l.MultiHeadAttention(num_hiddens, num_heads, dropout, use_bias)
                self.addnorm1 = d2l.AddNorm(num_hiddens, dropout)
                self.ffn = d2l.PositionWiseFFN(ffn_num_hiddens, num_hiddens)
                self.addnorm2 = d2l.AddNorm(num_hiddens, dropout)

            def forward(self, X, valid_lens):
                X = self.addnorm1(X, self.attention(X, X, X, valid_lens))
                return self.addnorm2(X, self.ffn(X))
        """,
    ),
    variant(
        "in-a-loop",
        "EncoderBlock",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            "attend = lambda x: self.attention(x, x, x, valid_lens)",
        ),
        edit(
            "return self.addnorm2(Y, self.ffn(Y))",
            """
            for norm, part in ((self.addnorm1, attend), (self.addnorm2, self.ffn)):
                X = norm(X, part(X))
            return X
            """,
        ),
    ),
    variant(
        "one-sentence-at-a-time",
        "EncoderBlock",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            lens = [None] * len(X) if valid_lens is None else valid_lens.split(1)
            Y = torch.cat([self.addnorm1(x, self.attention(x, x, x, n)) for x, n in zip(X.split(1), lens)])
            """,
        ),
    ),
    variant(
        "all-lengths-per-query",
        "EncoderBlock",
        edit(
            "Y = self.addnorm1",
            """
            B, T, _ = X.shape
            if valid_lens is None:
                valid_lens = torch.full((B,), T, device=X.device)
            if valid_lens.dim() == 1:
                valid_lens = valid_lens[:, None].repeat(1, T)
            Y = self.addnorm1
            """,
        ),
    ),
    variant(
        "fused-and-convolved",
        "EncoderBlock",
        """
        class FusedAttention(nn.Module):
            def __init__(self, size, heads, dropout, bias):
                super().__init__()
                self.heads, self.rate = heads, dropout
                self.qkv = nn.Linear(size, 3 * size, bias=bias)
                self.W_o = nn.Linear(size, size, bias=bias)

            def forward(self, X, keep):
                q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(X).chunk(3, dim=-1))
                mask = None if keep is None else keep[:, None]
                heads = nn.functional.scaled_dot_product_attention(
                    q, k, v, attn_mask=mask, dropout_p=self.rate if self.training else 0.0
                )
                return self.W_o(heads.transpose(1, 2).flatten(2))


        class Network(nn.Module):
            def __init__(self, size, hidden):
                super().__init__()
                self.dense1 = nn.Conv1d(size, hidden, 1)
                self.dense2 = nn.Conv1d(hidden, size, 1)

            def forward(self, X):
                return self.dense2(self.dense1(X.mT).relu()).mT


        class Norm(nn.Module):
            def __init__(self, shape, dropout):
                super().__init__()
                self.ln = nn.LayerNorm(shape)
                self.dropout = nn.Dropout(dropout)

            def forward(self, old, new):
                return self.ln(old + self.dropout(new))


        class EncoderBlock(nn.Module):
            def __init__(
                self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                num_heads, dropout, use_bias=False,
            ):
                super().__init__()
                self.attention = FusedAttention(num_hiddens, num_heads, dropout, use_bias)
                self.addnorm1 = Norm(norm_shape, dropout)
                self.ffn = Network(num_hiddens, ffn_num_hiddens)
                self.addnorm2 = Norm(norm_shape, dropout)

            def forward(self, X, valid_lens):
                keep = None
                if valid_lens is not None:
                    lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
                    keep = (torch.arange(X.shape[1], device=X.device) < lens[:, :, None]).expand(-1, X.shape[1], -1)  # (B, T, T)
                X = self.addnorm1(X, self.attention(X, keep))
                return self.addnorm2(X, self.ffn(X))
        """,
    ),
    variant(
        "norms-at-hand",
        "EncoderBlock",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            "Y = self.addnorm1.ln(X + self.addnorm1.dropout(self.attention(X, X, X, valid_lens)))",
        ),
        edit(
            "return self.addnorm2(Y, self.ffn(Y))",
            "return self.addnorm2.ln(Y + self.addnorm2.dropout(self.ffn(Y)))",
        ),
    ),
    trivial(
        "encblock-zeros",
        "EncoderBlock",
        """
        class EncoderBlock(nn.Module):
            def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
                super().__init__()

            def forward(self, X, valid_lens):
                return torch.zeros_like(X)
        """,
    ),
    trivial(
        "encblock-input",
        "EncoderBlock",
        """
        class EncoderBlock(nn.Module):
            def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
                super().__init__()
                self.attention = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout, use_bias)

            def forward(self, X, valid_lens):
                return X
        """,
    ),
]

ENCODER = [
    variant(
        "scaled-table",
        "TransformerEncoder",
        edit(
            "X = self.embedding(X) * math.sqrt(self.num_hiddens)",
            "X = nn.functional.embedding(X, self.embedding.weight * self.num_hiddens**0.5)",
        ),
    ),
    variant(
        "one-hot",
        "TransformerEncoder",
        edit(
            "X = self.embedding(X) *",
            """
            X = nn.functional.one_hot(X, self.embedding.num_embeddings).to(self.embedding.weight.dtype)
            X = X @ self.embedding.weight *
            """,
        ),
    ),
    variant(
        "padding-never-learns",
        "TransformerEncoder",
        edit("nn.Embedding(vocab_size, num_hiddens)", "nn.Embedding(vocab_size, num_hiddens, padding_idx=1)"),
    ),
    variant(
        "blocks-numbered",
        "TransformerEncoder",
        edit("self.blks = nn.Sequential()", "self.blks = nn.ModuleList()", times=2),
        edit('self.blks.add_module(f"block{i}", block)', "self.blks.append(block)"),
    ),
    variant(
        "blocks-under-another-name",
        "TransformerEncoder",
        edit("self.blks = nn.Sequential()", "self.layers = nn.Sequential()", times=2),
        edit('self.blks.add_module(f"block{i}", block)', "self.layers.append(block)"),
        edit("for block in self.blks:", "for block in self.layers:"),
    ),
    variant(
        "encoder-edition-1",
        "TransformerEncoder",
        """
        from d2l import torch as d2l

        class TransformerEncoder(d2l.Encoder):
            def __init__(self, vocab_size, num_hiddens, ffn_num_hiddens, num_heads, num_blks, dropout, use_bias=False):
                super().__init__()
                self.num_hiddens = num_hiddens
                self.embedding = nn.Embedding(vocab_size, num_hiddens)
                self.pos_encoding = d2l.PositionalEncoding(num_hiddens, dropout)
                self.blks = nn.Sequential()
                for i in range(num_blks):
                    block = d2l.TransformerEncoderBlock(num_hiddens, ffn_num_hiddens, num_heads, dropout, use_bias)
                    self.blks.add_module(f"block{i}", block)

            def forward(self, X, valid_lens):
                X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
                self.attention_weights = []
                for block in self.blks:
                    X = block(X, valid_lens)
                    self.attention_weights.append(block.attention.attention.attention_weights)
                return X
        """,
    ),
    variant(
        "blocks-in-a-dict",
        "TransformerEncoder",
        edit("self.blks = nn.Sequential()", "self.blks = nn.ModuleDict()", times=2),
        edit('self.blks.add_module(f"block{i}", block)', 'self.blks[f"block{i}"] = block'),
        edit("for block in self.blks:", "for block in self.blks.values():"),
    ),
    variant(
        "no-weights-kept",
        "TransformerEncoder",
        edit(
            "            self.attention_weights.append(block.attention.attention.attention_weights)  # (B·H, T, T)\n",
            "",
        ),
    ),
    variant(
        "own-positions",
        "TransformerEncoder",
        edit(
            "self.pos_encoding = PositionalEncoding(num_hiddens, dropout)",
            "self.dropout = nn.Dropout(dropout)",
        ),
        edit(
            "X = self.pos_encoding(X)  # (B, T, D)",
            """
            column = torch.arange(X.shape[2], device=X.device)
            speed = 10000.0 ** -((column - column % 2).double() / X.shape[2])
            angle = torch.arange(X.shape[1], device=X.device)[:, None] * speed
            P = torch.where(column % 2 == 0, angle.sin(), angle.cos())
            X = self.dropout(X + P.to(X.dtype))
            """,
        ),
    ),
    trivial(
        "encoder-zeros",
        "TransformerEncoder",
        """
        class TransformerEncoder(nn.Module):
            def __init__(self, vocab_size, num_hiddens, **sizes):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, num_hiddens)

            def forward(self, X, valid_lens):
                return torch.zeros(*X.shape, self.embedding.embedding_dim)
        """,
    ),
    trivial(
        "encoder-ones",
        "TransformerEncoder",
        """
        class TransformerEncoder(nn.Module):
            def __init__(self, num_hiddens, **sizes):
                super().__init__()
                self.num_hiddens = num_hiddens

            def forward(self, X, valid_lens):
                return torch.ones(*X.shape, self.num_hiddens)
        """,
    ),
]

VARIANTS = [*ADD_NORM, *FFN, *BLOCK, *ENCODER]
