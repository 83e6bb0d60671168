"""Right answers to assignment 12, written differently, and answers that compute nothing."""

from grader.authoring import edit, trivial, variant

ANGLES = [
    variant("double", "rotary_angles", edit("* speeds).float()", "* speeds)")),
    variant(
        "outer",
        "rotary_angles",
        """
        def rotary_angles(positions, d, base=10000.0):
            if d % 2 != 0:
                raise ValueError("odd")
            frequencies = 1.0 / torch.pow(base, torch.arange(0, d, 2, dtype=torch.float32, device=positions.device) / d)
            return torch.outer(positions.flatten().float(), frequencies).reshape(*positions.shape, d // 2)
        """,
    ),
    variant(
        "exponential",
        "rotary_angles",
        """
        def rotary_angles(positions, d, base=10000.0):
            if d & 1:
                raise ValueError("d must be even")
            pair = torch.arange(d // 2, device=positions.device, dtype=torch.float64)
            return torch.einsum("...,i->...i", positions.double(), torch.exp(-2 * pair * math.log(base) / d)).float()
        """,
    ),
    variant(
        "loop",
        "rotary_angles",
        """
        def rotary_angles(positions, d, base=10000.0):
            if d % 2:
                raise ValueError("odd")
            return torch.stack([positions.float() * base ** (-2 * i / d) for i in range(d // 2)], dim=-1)
        """,
    ),
    trivial(
        "angles-ones",
        "rotary_angles",
        """
        def rotary_angles(positions, d, base=10000.0):
            return torch.ones(*positions.shape, d // 2)
        """,
    ),
    trivial(
        "angles-zeros",
        "rotary_angles",
        """
        def rotary_angles(positions, d, base=10000.0):
            return torch.zeros(*positions.shape, d // 2)
        """,
    ),
]

TURN = [
    variant(
        "complex",
        "apply_rotary",
        """
        def apply_rotary(x, positions, base=10000.0):
            angles = rotary_angles(positions, x.shape[-1], base)
            if positions.dim() == 2:
                angles = angles.unsqueeze(1)
            wide = x.double() if x.dtype == torch.float64 else x.float()
            pairs = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2))
            turned = pairs * torch.polar(torch.ones_like(angles), angles).to(pairs.dtype)
            return torch.view_as_real(turned).flatten(-2).type_as(x)
        """,
    ),
    variant(
        "table-of-2048",
        "apply_rotary",
        """
        def apply_rotary(x, positions, base=10000.0):
            d = x.shape[-1]
            speeds = 1.0 / base ** (torch.arange(0, d, 2, device=x.device).float() / d)
            table = torch.outer(torch.arange(2048, device=x.device).float(), speeds)
            cos, sin = table.cos()[positions], table.sin()[positions]
            if positions.dim() == 2:
                cos, sin = cos[:, None], sin[:, None]
            out = torch.empty_like(x)
            out[..., ::2] = (x[..., ::2] * cos - x[..., 1::2] * sin).to(x.dtype)
            out[..., 1::2] = (x[..., 1::2] * cos + x[..., ::2] * sin).to(x.dtype)
            return out
        """,
    ),
    variant(
        "blocks",
        "apply_rotary",
        """
        def apply_rotary(x, positions, base=10000.0):
            angles = rotary_angles(positions, x.shape[-1], base)
            cos, sin = angles.cos(), angles.sin()
            turn = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)  # (…, d/2, 2, 2)
            if positions.dim() == 2:
                turn = turn[:, None]
            pairs = x.unflatten(-1, (-1, 2)).to(turn)[..., None]
            return (turn @ pairs).squeeze(-1).flatten(-2).to(x.dtype)
        """,
    ),
    variant(
        "halves-and-back",
        "apply_rotary",
        """
        def apply_rotary(x, positions, base=10000.0):
            angles = rotary_angles(positions, x.shape[-1], base)
            if positions.dim() == 2:
                angles = angles[:, None]
            half = x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)
            cos, sin = torch.cat([angles.cos()] * 2, -1), torch.cat([angles.sin()] * 2, -1)
            a, b = half.chunk(2, dim=-1)
            half = half * cos + torch.cat([-b, a], dim=-1) * sin
            return half.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2).to(x.dtype)
        """,
    ),
    variant(
        "one-sequence-after-the-other",
        "apply_rotary",
        """
        def apply_rotary(x, positions, base=10000.0):
            if positions.dim() == 1:
                positions = positions.expand(len(x), -1)
            out = []
            for row, at in zip(x, positions):
                angles = rotary_angles(at, x.shape[-1], base)
                even, odd = row[..., 0::2], row[..., 1::2]
                new = [even * angles.cos() - odd * angles.sin(), odd * angles.cos() + even * angles.sin()]
                out.append(torch.stack(new, dim=-1).reshape(row.shape).to(x.dtype))
            return torch.stack(out)
        """,
    ),
    trivial(
        "turn-nothing",
        "apply_rotary",
        """
        def apply_rotary(x, positions, base=10000.0):
            return x
        """,
    ),
    trivial(
        "turn-zeros",
        "apply_rotary",
        """
        def apply_rotary(x, positions, base=10000.0):
            return torch.zeros_like(x)
        """,
    ),
]

ATTENTION = [
    variant(
        "fused-attention",
        "RotaryAttention",
        edit(
            """
            scores = q @ k.mT / math.sqrt(q.shape[-1])  # (B, H, T, T)
            may_attend = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
            scores = scores.masked_fill(~may_attend, torch.finfo(scores.dtype).min)
            output = scores.softmax(-1) @ v  # (B, H, T, d)
            """,
            "\noutput = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)\n",
        ),
    ),
    variant(
        "minus-infinity",
        "RotaryAttention",
        edit("torch.finfo(scores.dtype).min", 'float("-inf")'),
    ),
    variant(
        "both-one-step-ahead",
        "RotaryAttention",
        edit("positions, self.base)", "positions + 1, self.base)", times=2),
    ),
    variant(
        "one-fused-layer",
        "RotaryAttention",
        """
        class RotaryAttention(nn.Module):
            def __init__(self, d_model, num_heads, base=10000.0):
                super().__init__()
                self.H, self.base = num_heads, base
                if d_model % num_heads != 0 or (d_model // num_heads) % 2 != 0:
                    raise ValueError("sizes")
                self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
                self.W_o = nn.Linear(d_model, d_model, bias=False)

            def forward(self, x, positions=None):
                B, T, D = x.shape
                at = torch.arange(T, device=x.device) if positions is None else positions
                q, k, v = self.qkv(x).view(B, T, 3, self.H, D // self.H).permute(2, 0, 3, 1, 4)
                q, k = (apply_rotary(one, at, base=self.base) for one in (q, k))
                scores = torch.einsum("bhtd,bhsd->bhts", q, k) * (D // self.H) ** -0.5
                later = torch.triu(torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype), 1)
                out = torch.einsum("bhts,bhsd->bthd", (scores + later).softmax(-1), v)
                return self.W_o(out.reshape(B, T, D))
        """,
    ),
    variant(
        "one-head-after-the-other",
        "RotaryAttention",
        """
        class RotaryAttention(nn.Module):
            def __init__(self, d_model, num_heads, base=10000.0):
                super().__init__()
                self.num_heads, self.head, self.base = num_heads, d_model // num_heads, base
                self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

            def forward(self, x, positions=None):
                if x.shape[-1] != self.head * self.num_heads or self.head % 2:
                    raise ValueError("sizes")
                if positions is None:
                    positions = torch.arange(x.shape[1], device=x.device)
                q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
                out = []
                for h in range(self.num_heads):
                    part = slice(h * self.head, (h + 1) * self.head)
                    a, b = (apply_rotary(one[:, None, :, part], positions, self.base)[:, 0] for one in (q, k))
                    scores = a @ b.transpose(1, 2) / self.head**0.5
                    hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)
                    out.append(scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v[..., part])
                return self.W_o(torch.cat(out, dim=-1))
        """,
    ),
    trivial(
        "attention-zeros",
        "RotaryAttention",
        """
        class RotaryAttention(nn.Module):
            def __init__(self, d_model, num_heads, base=10000.0):
                super().__init__()

            def forward(self, x, positions=None):
                return torch.zeros_like(x)
        """,
    ),
    trivial(
        "attention-input",
        "RotaryAttention",
        """
        class RotaryAttention(nn.Module):
            def __init__(self, d_model, num_heads, base=10000.0):
                super().__init__()

            def forward(self, x, positions=None):
                return x
        """,
    ),
]

PERMUTATION = [
    variant(
        "indices",
        "interleaved_to_half",
        """
        def interleaved_to_half(weight, num_heads):
            d = weight.shape[0] // num_heads
            order = [*range(0, d, 2), *range(1, d, 2)]
            return weight[[h * d + i for h in range(num_heads) for i in order]]
        """,
    ),
    variant(
        "heads-joined",
        "interleaved_to_half",
        """
        def interleaved_to_half(weight, num_heads):
            heads = weight.chunk(num_heads)
            return torch.cat([torch.cat([head[0::2], head[1::2]]) for head in heads])
        """,
    ),
    variant(
        "rearranged",
        "interleaved_to_half",
        """
        def interleaved_to_half(weight, num_heads):
            return weight.view(num_heads, -1, 2, weight.size(1)).permute(0, 2, 1, 3).reshape(weight.shape)
        """,
    ),
    trivial(
        "permutation-zeros",
        "interleaved_to_half",
        """
        def interleaved_to_half(weight, num_heads):
            return torch.zeros_like(weight)
        """,
    ),
    trivial(
        "permutation-none",
        "interleaved_to_half",
        """
        def interleaved_to_half(weight, num_heads):
            return weight
        """,
    ),
]

REPAIR = [
    variant(
        "stacked",
        "MixedRotary",
        edit(
            "angles = angles.repeat_interleave(2, dim=-1)",
            "angles = torch.stack([angles, angles], dim=-1).flatten(1)",
        ),
    ),
    variant(
        "from-lesson",
        "MixedRotary",
        """
        class MixedRotary(nn.Module):
            def __init__(self, d, base=10000.0, max_len=512):
                super().__init__()
                self.d, self.base = d, base

            def forward(self, x, positions):
                speeds = self.base ** (-torch.arange(0, self.d, 2, device=x.device).double() / self.d)
                angles = (positions[:, None] * speeds).float()
                a, b = x[..., 0::2], x[..., 1::2]
                new = [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()]
                return torch.stack(new, dim=-1).flatten(-2).to(x.dtype)
        """,
    ),
    variant(
        "copied-pairs",
        "MixedRotary",
        edit(
            "angles = angles.repeat_interleave(2, dim=-1)",
            "angles = angles[:, [i // 2 for i in range(d)]]",
        ),
    ),
    trivial(
        "repair-zeros",
        "MixedRotary",
        """
        class MixedRotary(nn.Module):
            def __init__(self, d, base=10000.0, max_len=512):
                super().__init__()

            def forward(self, x, positions):
                return torch.zeros_like(x)
        """,
    ),
    trivial(
        "repair-input",
        "MixedRotary",
        """
        class MixedRotary(nn.Module):
            def __init__(self, d, base=10000.0, max_len=512):
                super().__init__()

            def forward(self, x, positions):
                return x
        """,
    ),
]

VARIANTS = [*ANGLES, *TURN, *ATTENTION, *PERMUTATION, *REPAIR]
