"""Right answers written differently, and trivial answers."""

from grader.authoring import edit, trivial, variant

ENCODING = [
    variant(
        "book",
        "PositionalEncoding",
        """
        class PositionalEncoding(nn.Module):
            def __init__(self, num_hiddens, dropout, max_len=1000):
                super().__init__()
                self.dropout = nn.Dropout(dropout)
                self.P = torch.zeros((1, max_len, num_hiddens))
                X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
                    10000, torch.arange(0, num_hiddens, 2, dtype=torch.float32) / num_hiddens
                )
                self.P[:, :, 0::2] = torch.sin(X)
                self.P[:, :, 1::2] = torch.cos(X)[:, : num_hiddens // 2]

            def forward(self, X):
                X = X + self.P[:, : X.shape[1], :].to(X)
                return self.dropout(X)
        """,
    ),
    variant(
        "logarithm",
        "PositionalEncoding",
        """
        class PositionalEncoding(nn.Module):
            def __init__(self, num_hiddens, dropout, max_len=1000):
                super().__init__()
                self.dropout = nn.Dropout(p=dropout)
                position = torch.arange(max_len).unsqueeze(1)
                div_term = torch.exp(torch.arange(0, num_hiddens, 2) * (-9.210340371976184 / num_hiddens))
                pe = torch.zeros(max_len, num_hiddens)
                pe[:, 0::2] = torch.sin(position * div_term)
                pe[:, 1::2] = torch.cos(position * div_term[: num_hiddens // 2])
                self.register_buffer("pe", pe)

            def forward(self, x):
                return self.dropout(x + self.pe[: x.size(1)])
        """,
    ),
    variant(
        "at-every-call",
        "PositionalEncoding",
        """
        class PositionalEncoding(nn.Module):
            def __init__(self, num_hiddens, dropout, max_len=1000):
                super().__init__()
                self.rate = dropout

            def forward(self, X):
                T, D = X.shape[1:]
                column = torch.arange(D, device=X.device)
                speed = 10000.0 ** -((column - column % 2).double() / D)
                angle = torch.arange(T, device=X.device)[:, None] * speed
                P = torch.where(column % 2 == 0, angle.sin(), angle.cos()).to(X.dtype)
                return nn.functional.dropout(X + P, self.rate, self.training)
        """,
    ),
    variant(
        "sines-with-a-phase",
        "PositionalEncoding",
        edit("P[..., 0::2] = angles.sin()", "both = angles.repeat_interleave(2, dim=1)[:, :num_hiddens]"),
        edit(
            "P[..., 1::2] = angles[:, : num_hiddens // 2].cos()  # one fewer when D is odd",
            """
            phase = torch.arange(num_hiddens) % 2 * (torch.pi / 2)
            P[:] = torch.sin(both + phase)
            """,
        ),
    ),
    variant(
        "frozen-parameter",
        "PositionalEncoding",
        edit(
            'self.register_buffer("P", P, persistent=False)',
            "self.P = nn.Parameter(P, requires_grad=False)",
        ),
    ),
    variant("saved-buffer", "PositionalEncoding", edit(", persistent=False", "")),
    trivial(
        "pos-zeros",
        "PositionalEncoding",
        """
        class PositionalEncoding(nn.Module):
            def __init__(self, num_hiddens, dropout, max_len=1000):
                super().__init__()

            def forward(self, X):
                return torch.zeros_like(X)
        """,
    ),
    trivial(
        "pos-input",
        "PositionalEncoding",
        """
        class PositionalEncoding(nn.Module):
            def __init__(self, num_hiddens, dropout, max_len=1000):
                super().__init__()
                self.dropout = nn.Dropout(dropout)

            def forward(self, X):
                return self.dropout(X)
        """,
    ),
]

EMBEDDING = [
    variant(
        "held-inside",
        "TokenEmbedding",
        """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=1)

            def forward(self, tokens):
                return self.embedding(tokens)
        """,
    ),
    variant(
        "own-table",
        "TokenEmbedding",
        """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                table = torch.randn(vocab_size, d_model)
                table[1] = 0
                self.table = nn.Parameter(table)

            def forward(self, tokens):
                return nn.functional.embedding(tokens, self.table, padding_idx=1)
        """,
    ),
    variant(
        "padding-blanked",
        "TokenEmbedding",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model)\n\n    def forward(self, tokens):\n        return super().forward(tokens) * (tokens != 1)[..., None]",
        ),
    ),
    variant(
        "one-hot",
        "TokenEmbedding",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        learns = torch.arange(self.num_embeddings, device=self.weight.device)[:, None] != 1\n        table = torch.where(learns, self.weight, self.weight.detach())\n        return nn.functional.one_hot(tokens, self.num_embeddings).to(table.dtype) @ table",
        ),
    ),
    variant(
        "own-start",
        "TokenEmbedding",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            """
            super().__init__(vocab_size, d_model, padding_idx=1)
            nn.init.normal_(self.weight, std=d_model**-0.5)
            nn.init.zeros_(self.weight[1])
            """,
        ),
    ),
    trivial(
        "emb-zeros",
        "TokenEmbedding",
        """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.size = d_model

            def forward(self, tokens):
                return torch.zeros(*tokens.shape, self.size)
        """,
    ),
    trivial(
        "emb-table",
        "TokenEmbedding",
        """
        class TokenEmbedding(nn.Embedding):
            def __init__(self, vocab_size, d_model):
                super().__init__(vocab_size, d_model, padding_idx=1)

            def forward(self, tokens):
                return self.weight
        """,
    ),
]

SHIFT = [
    variant(
        "blocks",
        "shift_matrix",
        """
        def shift_matrix(delta, num_hiddens):
            angles = delta * 10000.0 ** (-torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
            turns = torch.stack([angles.cos(), angles.sin(), -angles.sin(), angles.cos()], dim=1).reshape(-1, 2, 2)
            return torch.block_diag(*turns).float()
        """,
    ),
    variant(
        "loop",
        "shift_matrix",
        """
        def shift_matrix(delta, num_hiddens):
            M = torch.zeros(num_hiddens, num_hiddens)
            for j in range(0, num_hiddens, 2):
                angle = torch.tensor(delta / 10000 ** (j / num_hiddens))
                M[j, j] = M[j + 1, j + 1] = torch.cos(angle)
                M[j, j + 1], M[j + 1, j] = torch.sin(angle), -torch.sin(angle)
            return M
        """,
    ),
    variant(
        "double-precision",
        "shift_matrix",
        edit("return M.to(torch.get_default_dtype())", "return M"),
    ),
    variant(
        "step-by-step",
        "shift_matrix",
        """
        def shift_matrix(delta, num_hiddens):
            angles = 10000.0 ** (-torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
            step = torch.block_diag(*[torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]], dtype=torch.float64) for a in angles])
            return torch.linalg.matrix_power(step if delta >= 0 else step.T, abs(delta)).float()
        """,
    ),
    variant(
        "solved",
        "shift_matrix",
        """
        def shift_matrix(delta, num_hiddens):
            columns = torch.arange(0, num_hiddens, 2, dtype=torch.float64)

            def table(positions):
                angles = positions[:, None] / 10000 ** (columns / num_hiddens)
                return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

            positions = torch.arange(0, 3000, 7, dtype=torch.float64)
            return torch.linalg.lstsq(table(positions), table(positions + delta)).solution.T.float()
        """,
    ),
    trivial(
        "shift-zeros",
        "shift_matrix",
        """
        def shift_matrix(delta, num_hiddens):
            return torch.zeros(num_hiddens, num_hiddens)
        """,
    ),
    trivial(
        "shift-all-ones",
        "shift_matrix",
        """
        def shift_matrix(delta, num_hiddens):
            return torch.ones(num_hiddens, num_hiddens)
        """,
    ),
]

VARIANTS = [*ENCODING, *EMBEDDING, *SHIFT]
