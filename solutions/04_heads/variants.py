"""Right answers written differently, and trivial answers."""

from grader.authoring import trivial, variant

VARIANTS = [
    variant(
        "loops",
        "transpose_qkv",
        """
        def transpose_qkv(X, num_heads):
            d = X.shape[-1] // num_heads
            return torch.stack([x[:, h * d : (h + 1) * d] for x in X for h in range(num_heads)])
        """,
    ),
    variant(
        "chunks",
        "transpose_qkv",
        """
        def transpose_qkv(X, num_heads):
            return torch.stack(X.chunk(num_heads, dim=2), dim=1).flatten(0, 1)
        """,
    ),
    variant(
        "unflatten",
        "transpose_qkv",
        """
        def transpose_qkv(X, num_heads):
            return X.unflatten(2, (num_heads, -1)).swapaxes(1, 2).flatten(0, 1)
        """,
    ),
    variant(
        "einsum",
        "transpose_qkv",
        """
        def transpose_qkv(X, num_heads):
            apart = torch.einsum("bthd->bhtd", X.unflatten(-1, (num_heads, -1)))
            return apart.reshape(-1, *apart.shape[2:])
        """,
    ),
    variant(
        "view",
        "transpose_qkv",
        """
        def transpose_qkv(X, num_heads):
            B, T, D = X.size()
            apart = X.view(B, T, num_heads, D // num_heads).transpose(1, 2).contiguous()
            return apart.view(B * num_heads, T, D // num_heads)
        """,
    ),
    variant(
        "index",
        "transpose_qkv",
        """
        def transpose_qkv(X, num_heads):
            d = X.shape[2] // num_heads
            row = torch.arange(X.shape[0] * num_heads)
            features = (row % num_heads)[:, None] * d + torch.arange(d)  # (B·H, d)
            steps = torch.arange(X.shape[1])
            return X[(row // num_heads)[:, None, None], steps[None, :, None], features[:, None, :]]
        """,
    ),
    trivial("input-returned", "transpose_qkv", "def transpose_qkv(X, num_heads):\n    return X"),
    trivial(
        "zeros",
        "transpose_qkv",
        "def transpose_qkv(X, num_heads):\n    return X.new_zeros(len(X) * num_heads, X.shape[1], X.shape[2] // num_heads)",
    ),
    variant(
        "loops",
        "transpose_output",
        """
        def transpose_output(X, num_heads):
            groups = X.split(num_heads)  # one sequence each
            return torch.stack([torch.cat(list(heads), dim=-1) for heads in groups])
        """,
    ),
    variant(
        "strides",
        "transpose_output",
        """
        def transpose_output(X, num_heads):
            return torch.cat([X[h::num_heads] for h in range(num_heads)], dim=2)
        """,
    ),
    variant(
        "unflatten",
        "transpose_output",
        """
        def transpose_output(X, num_heads):
            return X.unflatten(0, (-1, num_heads)).transpose(1, 2).flatten(2)
        """,
    ),
    variant(
        "einsum",
        "transpose_output",
        """
        def transpose_output(X, num_heads):
            beside = torch.einsum("bhtd->bthd", X.reshape(-1, num_heads, *X.shape[1:]))
            return beside.reshape(*beside.shape[:2], -1)
        """,
    ),
    variant(
        "written-in-place",
        "transpose_output",
        """
        def transpose_output(X, num_heads):
            d = X.shape[2]
            out = X.new_empty(X.shape[0] // num_heads, X.shape[1], num_heads * d)
            for row in range(X.shape[0]):
                h = row % num_heads
                out[row // num_heads, :, h * d : (h + 1) * d] = X[row]
            return out
        """,
    ),
    variant(
        "steps-in-front",
        "transpose_output",
        """
        def transpose_output(X, num_heads):
            T = X.shape[1]
            return X.transpose(0, 1).reshape(T, -1, num_heads * X.shape[2]).transpose(0, 1).contiguous()
        """,
    ),
    trivial("input-returned", "transpose_output", "def transpose_output(X, num_heads):\n    return X"),
    trivial(
        "zeros",
        "transpose_output",
        "def transpose_output(X, num_heads):\n    return X.new_zeros(len(X) // num_heads, X.shape[1], X.shape[2] * num_heads)",
    ),
]
