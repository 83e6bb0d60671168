"""Right answers written differently, and trivial answers."""

from grader.authoring import trivial, variant

VARIANTS = [
    variant(
        "in-place",
        "sequence_mask",
        """
        def sequence_mask(X, valid_len, value=0):
            padding = torch.arange(X.size(1), dtype=torch.float32, device=X.device)[None, :] >= valid_len[:, None]
            X[padding] = value
            return X
        """,
    ),
    variant(
        "row-by-row",
        "sequence_mask",
        """
        def sequence_mask(X, valid_len, value=0):
            out = torch.full_like(X, value)
            for row, length in enumerate(valid_len.tolist()):
                out[row, :length] = X[row, :length]
            return out
        """,
    ),
    variant(
        "where",
        "sequence_mask",
        """
        def sequence_mask(X, valid_len, value=0):
            flat = X.flatten(2) if X.dim() > 2 else X.unsqueeze(-1)
            steps = torch.arange(X.shape[1], device=X.device).reshape(1, -1, 1)
            filling = torch.tensor(value, dtype=X.dtype, device=X.device)
            return torch.where(steps < valid_len.reshape(-1, 1, 1), flat, filling).reshape(X.shape)
        """,
    ),
    variant(
        "steps-first",
        "sequence_mask",
        """
        def sequence_mask(X, valid_len, value=0):
            steps = torch.arange(X.shape[1], device=X.device)[:, None]
            swapped = X.clone().transpose(0, 1)  # (T, N, …)
            swapped[steps >= valid_len] = value
            return swapped.transpose(0, 1)
        """,
    ),
    variant(
        "ones-and-zeros",
        "sequence_mask",
        """
        def sequence_mask(X, valid_len, value=0):
            ones = torch.ones(X.shape[1], X.shape[1], dtype=X.dtype, device=X.device).tril()
            keep = torch.cat([torch.zeros(1, X.shape[1], dtype=X.dtype, device=X.device), ones])[valid_len]
            while keep.dim() < X.dim():
                keep = keep[..., None]
            return X * keep + value * (1 - keep)
        """,
    ),
    trivial(
        "zeros", "sequence_mask", "def sequence_mask(X, valid_len, value=0):\n    return torch.zeros_like(X)"
    ),
    trivial("input-returned", "sequence_mask", "def sequence_mask(X, valid_len, value=0):\n    return X"),
    trivial(
        "all-filled",
        "sequence_mask",
        "def sequence_mask(X, valid_len, value=0):\n    return torch.full_like(X, value)",
    ),
    variant(
        "minus-infinity",
        "masked_softmax",
        """
        def masked_softmax(X, valid_lens):
            if valid_lens is not None:
                lens = valid_lens.view(X.shape[0], -1, 1)
                X = X.masked_fill(torch.arange(X.shape[2], device=X.device) >= lens, -torch.inf)
            return torch.softmax(X, dim=2)
        """,
    ),
    variant(
        "additive-mask",
        "masked_softmax",
        """
        def masked_softmax(X, valid_lens):
            bias = torch.zeros_like(X)
            if valid_lens is not None:
                lens = valid_lens if valid_lens.dim() == 2 else valid_lens[:, None].expand(X.shape[:2])
                bias[torch.arange(X.shape[-1], device=X.device) >= lens[..., None]] = -1e9
            return (X + bias).softmax(-1)
        """,
    ),
    variant(
        "renormalised",
        "masked_softmax",
        """
        def masked_softmax(X, valid_lens):
            weights = X.softmax(-1)
            if valid_lens is None:
                return weights
            lens = valid_lens.reshape(len(X), -1, 1)
            weights = weights * (torch.arange(X.shape[-1], device=X.device) < lens)
            return weights / weights.sum(-1, keepdim=True)
        """,
    ),
    variant(
        "prefixes",
        "masked_softmax",
        """
        def masked_softmax(X, valid_lens):
            B, T, S = X.shape
            out = X.new_zeros(B, T, S)
            for b in range(B):
                for t in range(T):
                    n = S if valid_lens is None else valid_lens[b] if valid_lens.dim() == 1 else valid_lens[b, t]
                    out[b, t, :n] = X[b, t, :n].softmax(0)
            return out
        """,
    ),
    variant(
        "exponentials",
        "masked_softmax",
        """
        def masked_softmax(X, valid_lens):
            exponentials = (X - X.amax(-1, keepdim=True)).exp()
            if valid_lens is not None:
                lens = valid_lens.reshape(X.shape[0], -1, 1)
                exponentials = torch.where(torch.arange(X.shape[-1], device=X.device) < lens, exponentials, 0)
            return exponentials / exponentials.sum(-1, keepdim=True)
        """,
    ),
    variant(
        "through-rows",
        "masked_softmax",
        """
        def masked_softmax(X, valid_lens):
            if valid_lens is None:
                return X.softmax(-1)
            rows = X.reshape(-1, X.shape[-1])
            lens = valid_lens.repeat_interleave(X.shape[1]) if valid_lens.dim() == 1 else valid_lens.reshape(-1)
            return sequence_mask(rows, lens, value=-torch.inf).softmax(-1).reshape(X.shape)
        """,
    ),
    variant(
        "as-the-book",  # the fill value -1e6 is minus infinity in float16
        "masked_softmax",
        """
        from d2l import torch as d2l
        from torch import nn

        def masked_softmax(X, valid_lens):
            if valid_lens is None:
                return nn.functional.softmax(X, dim=-1)
            sizes = X.shape
            per_row = torch.repeat_interleave(valid_lens, sizes[1]) if valid_lens.dim() == 1 else valid_lens.reshape(-1)
            filled = d2l.sequence_mask(X.reshape(-1, sizes[-1]), per_row, value=-1e6)
            return nn.functional.softmax(filled.reshape(sizes), dim=-1)
        """,
    ),
    variant(
        "mask-of-numbers",
        "masked_softmax",
        """
        def masked_softmax(X, valid_lens):
            if valid_lens is None:
                return torch.softmax(X, dim=-1)
            lens = valid_lens.reshape(len(X), -1, 1)
            mask = (torch.arange(X.shape[-1], device=X.device) < lens).to(X.dtype)
            return torch.softmax(X * mask + torch.finfo(X.dtype).min * (1 - mask), dim=-1)
        """,
    ),
    variant(
        "helper-inside",
        "masked_softmax",
        """
        def masked_softmax(X, valid_lens):
            def _sequence_mask(X, valid_len, value=0):
                mask = torch.arange(X.size(1), device=X.device)[None, :] < valid_len[:, None]
                X[~mask] = value
                return X

            if valid_lens is None:
                return torch.softmax(X, dim=-1)
            shape = X.shape
            if valid_lens.dim() == 1:
                valid_lens = torch.repeat_interleave(valid_lens, shape[1])
            else:
                valid_lens = valid_lens.reshape(-1)
            X = _sequence_mask(X.clone().reshape(-1, shape[-1]), valid_lens, value=-1e6)
            return torch.softmax(X.reshape(shape), dim=-1)
        """,
    ),
    variant(
        "in-double",
        "masked_softmax",
        """
        def masked_softmax(X, valid_lens):
            wide = X.double()
            if valid_lens is not None:
                lens = valid_lens.reshape(X.shape[0], -1, 1)
                wide = wide + (torch.arange(X.shape[-1], device=X.device) < lens).double().log()
            return (wide - wide.logsumexp(-1, keepdim=True)).exp().to(X.dtype)
        """,
    ),
    trivial("zeros", "masked_softmax", "def masked_softmax(X, valid_lens):\n    return torch.zeros_like(X)"),
    trivial("input-returned", "masked_softmax", "def masked_softmax(X, valid_lens):\n    return X"),
    trivial(
        "uniform",
        "masked_softmax",
        "def masked_softmax(X, valid_lens):\n    return torch.full_like(X, 1 / X.shape[-1])",
    ),
]
