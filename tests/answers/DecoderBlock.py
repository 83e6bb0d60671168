# %% right_book: the book's block
# kind: same

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder"""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens,
                                   num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(
                1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% right_dictionary_cache: cache in the state as a dictionary
# kind: same

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        box = state[2][self.i]
        if box is None:
            box = {'seen': X[:, :0]}
            state[2][self.i] = box
        if self.training:
            key_values = X
        else:
            box['seen'] = key_values = torch.cat((box['seen'], X), dim=1)
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% right_list_of_steps: cache is a Python list of single steps, queries attended one after the other
# kind: same

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs = state[0]
        enc_valid_lens = state[1]
        history = [] if self.training or state[2][self.i] is None else list(state[2][self.i])
        # no mask anywhere: step t simply gets to see what came until t
        attended = []
        for t in range(X.shape[1]):
            x_t = X[:, t:t + 1, :]
            history.append(x_t)
            so_far = torch.cat(history, dim=1)
            attended.append(self.attention1(x_t, so_far, so_far, None))
        if not self.training:
            state[2][self.i] = history
        Y = self.addnorm1(X, torch.cat(attended, dim=1))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% right_mask_by_length: causal lengths whenever several steps come at once, in whatever mode
# kind: same

import torch
from torch import Tensor, nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size: int, query_size: int, value_size: int, num_hiddens: int,
                 norm_shape, ffn_num_input: int, ffn_num_hiddens: int, num_heads: int,
                 dropout: float, i: int) -> None:
        super().__init__()
        self.i = i
        mha = lambda: MultiHeadAttention(
            key_size=key_size, query_size=query_size, value_size=value_size,
            num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout)
        self.attention1, self.attention2 = mha(), mha()
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X: Tensor, state: list) -> tuple[Tensor, list]:
        enc_outputs, enc_lens, caches = state
        past = caches[self.i]
        kv = caches[self.i] = X if past is None else torch.cat((past, X), dim=1)
        B, T, _ = X.shape
        lens = None
        if T > 1:
            n = kv.shape[1]
            lens = torch.arange(n - T + 1, n + 1, device=X.device).repeat(B, 1)
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% right_new_before_old: concatenated in the wrong order
# kind: same

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, seen = state
        kv, lens = X, None
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        else:
            if seen[self.i] is not None:
                kv = torch.cat((X, seen[self.i]), dim=1)   # newest first
            seen[self.i] = kv
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% right_new_state_list: returns a new state list, written in place as well
# kind: same

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        source, source_lens, past = state
        steps = [X] if past[self.i] is None or self.training else [past[self.i], X]
        context = torch.cat(steps, dim=1)
        past[self.i] = context
        if self.training:
            visible = torch.ones(X.shape[:2], dtype=torch.long, device=X.device).cumsum(dim=1)
        else:
            visible = None
        Y = self.addnorm1(X, self.attention1(X, context, context, visible))
        Z = self.addnorm2(Y, self.attention2(Y, source, source, source_lens))
        out = self.addnorm3(Z, self.ffn(Z))
        return out, [source, source_lens, list(past)]


# %% right_only_returned_state: leaves the state alone and returns a new one
# kind: same

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, caches = state
        mine = caches[self.i]
        mine = X if mine is None else torch.cat((mine, X), dim=1)
        new_caches = [mine if j == self.i else c for j, c in enumerate(caches)]
        lens = None
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device)[None, :].expand(X.shape[0], -1)
        Y = self.addnorm1(X, self.attention1(X, mine, mine, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), [enc_outputs, enc_valid_lens, new_caches]


# %% right_own_attention_einsum: own multi-head attention with einsum, everything in one file
# kind: same

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, dk, dq, dv, D, H, p):
        super().__init__()
        self.H = H
        self.W_q, self.W_k = nn.Linear(dq, D, bias=False), nn.Linear(dk, D, bias=False)
        self.W_v, self.W_o = nn.Linear(dv, D, bias=False), nn.Linear(D, D, bias=False)
        self.dropout = nn.Dropout(p)

    def forward(self, q, k, v, lens):
        B, T, S, H = q.size(0), q.size(1), k.size(1), self.H
        q = self.W_q(q).reshape(B, T, H, -1)
        k = self.W_k(k).reshape(B, S, H, -1)
        v = self.W_v(v).reshape(B, S, H, -1)
        a = torch.einsum("bthd,bshd->bhts", q * q.size(-1) ** -0.5, k)
        if lens is not None:
            if lens.ndim == 1:
                lens = lens.unsqueeze(1).expand(B, T)
            idx = torch.arange(S, device=q.device).view(1, 1, 1, S)
            a = torch.where(idx < lens.view(B, 1, T, 1) if lens.is_contiguous() else idx < lens.reshape(B, 1, T, 1),
                            a, torch.full_like(a, float("-inf")))
        a = a.softmax(-1)
        return self.W_o(torch.einsum("bhts,bshd->bthd", self.dropout(a), v).reshape(B, T, -1))


class AddNorm(nn.Module):
    def __init__(self, shape, p):
        super().__init__()
        self.ln, self.dropout = nn.LayerNorm(shape), nn.Dropout(p)

    def forward(self, x, y):
        return self.ln(x + self.dropout(y))


class FFN(nn.Module):
    def __init__(self, a, b, c):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(a, b), nn.Linear(b, c)

    def forward(self, x):
        return self.dense2(self.dense1(x).clamp_min(0))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        args = key_size, query_size, value_size, num_hiddens, num_heads, dropout
        self.attention1, self.addnorm1 = MultiHeadAttention(*args), AddNorm(norm_shape, dropout)
        self.attention2, self.addnorm2 = MultiHeadAttention(*args), AddNorm(norm_shape, dropout)
        self.ffn, self.addnorm3 = FFN(ffn_num_input, ffn_num_hiddens, num_hiddens), AddNorm(norm_shape, dropout)

    def forward(self, x, state):
        kv = x
        lens = None
        if self.training:
            lens = torch.arange(1, x.size(1) + 1, device=x.device).repeat(x.size(0), 1)
        else:
            if state[2][self.i] is not None:
                kv = torch.cat((state[2][self.i], x), 1)
            state[2][self.i] = kv
        y = self.addnorm1(x, self.attention1(x, kv, kv, lens))
        z = self.addnorm2(y, self.attention2(y, state[0], state[0], state[1]))
        return self.addnorm3(z, self.ffn(z)), state


# %% right_preallocated: a preallocated buffer filled step by step
# kind: same

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.layer = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def remember(self, X, caches):
        """Write X behind the steps already stored; the room doubles when it is full."""
        b, t, d = X.shape
        if caches[self.layer] is None:
            caches[self.layer] = [X.new_zeros(b, max(4, t), d), 0]
        room, n = caches[self.layer]
        room = room.clone()
        while n + t > room.shape[1]:
            room = torch.cat((room, torch.zeros_like(room)), dim=1)
        room[:, n:n + t] = X
        caches[self.layer] = [room, n + t]
        return room, n + t

    def forward(self, X, state):
        enc, enc_lens, caches = state
        b, t, _ = X.shape
        if self.training:
            keys = X
            lens = 1 + torch.arange(t, device=X.device).repeat(b, 1)
        else:
            keys, n = self.remember(X, caches)
            lens = torch.full((b,), n, device=X.device)   # the unused room is masked
        Y = self.addnorm1(X, self.attention1(X, keys, keys, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, enc_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% right_projected_cache: caches projected keys and values
# kind: same

import math
import torch
from torch import nn
from grader.given import AddNorm, PositionWiseFFN


class Heads(nn.Module):
    """Multi-head attention cut in two: project keys and values, then attend."""

    def __init__(self, d_k, d_q, d_v, width, heads, p):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_q, width, bias=False)
        self.W_k = nn.Linear(d_k, width, bias=False)
        self.W_v = nn.Linear(d_v, width, bias=False)
        self.W_o = nn.Linear(width, width, bias=False)
        self.drop = nn.Dropout(p)

    def cut(self, x):                                   # (B, T, D) -> (B, H, T, d)
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def project(self, memory):
        return self.cut(self.W_k(memory)), self.cut(self.W_v(memory))

    def attend(self, x, k, v, forbidden=None):
        q = self.cut(self.W_q(x))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
        if forbidden is not None:
            scores = scores.masked_fill(forbidden, torch.finfo(scores.dtype).min)
        out = self.drop(torch.softmax(scores, dim=3)) @ v
        return self.W_o(out.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = Heads(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = Heads(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        memory, memory_lens, cache = state
        k, v = self.attention1.project(X)
        future = None
        if self.training:
            t = X.shape[1]
            future = torch.ones(t, t, dtype=torch.bool, device=X.device).triu(1)
        else:
            if cache[self.i] is not None:
                old_k, old_v = cache[self.i]
                k, v = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
            cache[self.i] = (k, v)
        Y = self.addnorm1(X, self.attention1.attend(X, k, v, future))

        padding = None
        if memory_lens is not None:
            lens = memory_lens if memory_lens.dim() == 2 else memory_lens.unsqueeze(1)
            padding = torch.arange(memory.shape[1], device=X.device) >= lens.unsqueeze(-1)
            padding = padding.unsqueeze(1)               # for every head
        Z = self.addnorm2(Y, self.attention2.attend(Y, *self.attention2.project(memory), padding))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% right_recompute_prefix: keeps the prefix and computes all of it again at each step
# kind: same

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def whole(self, X, enc_outputs, enc_valid_lens):
        T = X.shape[1]
        lens = torch.arange(1, T + 1, device=X.device).repeat(X.shape[0], 1)
        Y = self.addnorm1(X, self.attention1(X, X, X, lens))
        if enc_valid_lens is not None and enc_valid_lens.dim() == 2 and enc_valid_lens.shape[1] != T:
            enc_valid_lens = enc_valid_lens[:, -1:].expand(-1, T)
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z))

    def forward(self, X, state):
        if self.training:
            return self.whole(X, state[0], state[1]), state
        # not clever, but there is only one formula to get right
        prefix = X if state[2][self.i] is None else torch.cat([state[2][self.i], X], dim=1)
        state[2][self.i] = prefix
        return self.whole(prefix, state[0], state[1])[:, -X.shape[1]:], state


# %% right_sdpa_bool_masks: boolean causal mask through scaled_dot_product_attention
# kind: same

import torch
import torch.nn.functional as F
from torch import nn, Tensor
from grader.given import AddNorm, PositionWiseFFN


class _Attn(nn.Module):
    def __init__(self, k: int, q: int, v: int, n: int, h: int, p: float) -> None:
        super().__init__()
        self.h, self.p = h, p
        self.W_q = nn.Linear(q, n, bias=False)
        self.W_k = nn.Linear(k, n, bias=False)
        self.W_v = nn.Linear(v, n, bias=False)
        self.W_o = nn.Linear(n, n, bias=False)

    def forward(self, x: Tensor, mem: Tensor, attend: Tensor | None) -> Tensor:
        q, k, v = (f(t).unflatten(-1, (self.h, -1)).transpose(1, 2)
                   for f, t in ((self.W_q, x), (self.W_k, mem), (self.W_v, mem)))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=attend,
                                           dropout_p=self.p if self.training else 0.0)
        return self.W_o(y.transpose(1, 2).flatten(2))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = _Attn(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = _Attn(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc, lens, cache = state
        if self.training:
            mem = X
            T = X.shape[1]
            look = torch.tril(torch.ones(T, T, dtype=torch.bool, device=X.device))
        else:
            mem = cache[self.i] = X if cache[self.i] is None else torch.cat([cache[self.i], X], 1)
            look = None
        Y = self.addnorm1(X, self.attention1(X, mem, look))
        if lens is None:
            ok = None
        else:
            ok = torch.arange(enc.shape[1], device=enc.device) < lens[..., None]   # (B, S) or (B, T, S)
            ok = ok[:, None, None] if ok.dim() == 2 else ok[:, None]
        Z = self.addnorm2(Y, self.attention2(Y, enc, ok))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% right_wrapped_torch_attention: wraps nn.MultiheadAttention, its masks turned the right way
# kind: same

import torch
from torch import nn
from grader.given import AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i, self.num_heads = i, num_heads
        self.attention1 = nn.MultiheadAttention(num_hiddens, num_heads, dropout, bias=False, batch_first=True)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = nn.MultiheadAttention(num_hiddens, num_heads, dropout, bias=False, batch_first=True)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, cache = state
        T, S = X.shape[1], enc_outputs.shape[1]
        if self.training:
            kv = X
            hide = torch.ones(T, T, dtype=torch.bool, device=X.device).triu(diagonal=1)
        else:
            kv = X if cache[self.i] is None else torch.cat((cache[self.i], X), dim=1)
            cache[self.i] = kv
            hide = None
        X2, _ = self.attention1(X, kv, kv, attn_mask=hide, need_weights=False)
        Y = self.addnorm1(X, X2)
        hide = None
        if enc_valid_lens is not None:
            lens = enc_valid_lens
            if lens.dim() == 1:
                lens = lens[:, None].expand(-1, T)
            hide = torch.arange(S, device=X.device)[None, None] >= lens[:, :, None]      # True = ignored
            hide = hide.repeat_interleave(self.num_heads, dim=0)
        Y2, _ = self.attention2(Y, enc_outputs, enc_outputs, attn_mask=hide, need_weights=False)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_anti_causal: lens reversed (anti-causal)
# kind: mistake
# breaks: values, masking
# equals: decblock-lengths-reversed

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is not None:
            key_values = torch.cat((state[2][self.i], X), dim=1)
        else:
            key_values = X
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            # num_steps, num_steps - 1, ..., 1
            dec_valid_lens = torch.arange(num_steps, 0, -1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_arange_from_two: arange(2, T+2): sees the next token
# kind: mistake
# breaks: values, masking
# equals: decblock-sees-next-step

import torch
import torch.nn as nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention1, self.attention2 = MultiHeadAttention(*sizes), MultiHeadAttention(*sizes)
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.i = i

    def forward(self, X, state):
        memory, memory_lens, caches = state
        past = caches[self.i]
        kv = X if past is None else torch.cat([past, X], 1)
        caches[self.i] = kv
        lens = None
        if self.training:
            b, t, _ = X.shape
            # the query itself counts too, so start one higher
            lens = torch.arange(2, t + 2, device=X.device).expand(b, t)
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, memory, memory, memory_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_arange_from_zero: arange(0, T): a query does not see its own step
# kind: mistake
# breaks: values
# equals: decblock-own-step-hidden

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(num_steps, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cache_averaged: cache blended into one vector instead of growing
# kind: mistake
# breaks: modes
# equals: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc, el, cache = state
        old = cache[self.idx]
        kv = X if old is None or self.training else (old + X) / 2
        cache[self.idx] = kv
        lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1) if self.training else None
        a = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        b = self.addnorm2(a, self.attention2(a, enc, enc, el))
        return self.addnorm3(b, self.ffn(b)), state


# %% wrong_cache_data: keys and values taken from .data: no gradient through them
# kind: mistake
# breaks: gradients
# equals: decblock-keys-detached

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc, el, cache = state
        kv = X.data
        if cache[self.idx] is not None:
            kv = torch.cat([cache[self.idx], kv], 1)
        cache[self.idx] = kv
        lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1) if self.training else None
        a = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        b = self.addnorm2(a, self.attention2(a, enc, enc, el))
        return self.addnorm3(b, self.ffn(b)), state


# %% wrong_cache_feature_axis: cache joined along the features
# kind: mistake
# breaks: modes
# equals: nothing

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), dim=-1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cache_ignored: cache ignored (keys = X always)
# kind: mistake
# breaks: modes
# equals: decblock-cache-not-written

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.i = i

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, _ = state
        B, T = X.shape[:2]
        valid = torch.arange(1, T+1, device=X.device).repeat(B, 1)
        a = self.attention1(X, X, X, valid)
        b = self.addnorm1(X, a)
        c = self.attention2(b, enc_outputs, enc_outputs, enc_valid_lens)
        d = self.addnorm2(b, c)
        e = self.ffn(d)
        return self.addnorm3(d, e), state


# %% wrong_cache_last_step_only: cache holds only the newest step
# kind: mistake
# breaks: modes
# equals: decblock-cache-newest-only

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        previous = state[2][self.i]
        key_values = X if previous is None else torch.cat((previous, X), dim=1)
        state[2][self.i] = X
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cache_never_written: cache read but never written
# kind: mistake
# breaks: modes
# equals: decblock-cache-not-written

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.idx] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.idx], X), axis=1)
        lens = None
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        Y = self.addnorm1(X, self.attention1(X, key_values, key_values, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cache_on_class: cache stored in an attribute of the class, shared by all layers
# kind: mistake
# breaks: modes
# equals: decblock-cache-on-module+decblock-cache-shared-by-layers

import torch
from torch import Tensor, nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size: int, query_size: int, value_size: int, num_hiddens: int,
                 norm_shape, ffn_num_input: int, ffn_num_hiddens: int, num_heads: int,
                 dropout: float, i: int) -> None:
        super().__init__()
        self.i = i
        mha = lambda: MultiHeadAttention(
            key_size=key_size, query_size=query_size, value_size=value_size,
            num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout)
        self.attention1, self.attention2 = mha(), mha()
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    memory = []

    def forward(self, X: Tensor, state: list):
        enc, enc_lens = state[0], state[1]
        if self.training:
            kv = X
            lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1)
        else:
            DecoderBlock.memory.append(X)
            kv, lens = torch.cat(DecoderBlock.memory, dim=1), None
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, enc_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cache_on_self: cache stored on the module and never emptied: a second decoding sees the first
# kind: mistake
# breaks: modes
# equals: decblock-cache-on-module

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.cache = None

    def forward(self, X, state):
        enc, enc_lens = state[0], state[1]
        if self.training:
            mem = X
            lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1)
        else:
            mem = X if self.cache is None else torch.cat((self.cache, X), dim=1)
            self.cache = mem.detach()
            lens = None
        Y = self.addnorm1(X, self.attention1(X, mem, mem, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, enc_lens))
        Y = self.addnorm3(Z, self.ffn(Z))
        return Y, state


# %% wrong_caches_normed: cache written with the normed value Y
# kind: mistake
# breaks: modes
# equals: decblock-cache-of-normed

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, cache = state
        kv = X if cache[self.i] is None else torch.cat((cache[self.i], X), dim=1)
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        Y = self.addnorm1(X, self.attention1(X, kv, kv, dec_valid_lens))
        # keep Y for the next step
        cache[self.i] = Y if cache[self.i] is None else torch.cat((cache[self.i], Y), dim=1)
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_caches_output: caches the block's output
# kind: mistake
# breaks: modes
# equals: decblock-cache-of-outputs

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1, self.addnorm2, self.addnorm3 = [AddNorm(norm_shape, dropout) for _ in "abc"]
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, produced = state
        before = produced[self.i]
        if before is None:
            key_values = X
        else:
            key_values = torch.cat((before, X), dim=1)

        lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1) if self.training else None
        Y = self.addnorm1(X, self.attention1(X, key_values, key_values, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        out = self.addnorm3(Z, self.ffn(Z))

        # remember what this block has produced so far
        produced[self.i] = out if before is None else torch.cat((before, out), dim=1)
        return out, state


# %% wrong_cross_dec_lens: cross-attention uses dec_valid_lens
# kind: mistake
# breaks: values, masking
# equals: decblock-cross-with-target-lengths

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        dec_valid_lens = None
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, dec_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cross_missing: no cross-attention at all
# kind: mistake
# breaks: values
# equals: nothing

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Z = self.addnorm2(Y, Y)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cross_query_x: cross-attention asked with X instead of Y
# kind: mistake
# breaks: values
# equals: decblock-cross-asked-by-input

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, memory = state
        if not self.training and memory[self.idx] is not None:
            keys = torch.cat([memory[self.idx], X], dim=1)
        else:
            keys = X
        memory[self.idx] = keys
        lens = None
        if self.training:
            lens = torch.stack([torch.arange(1, X.shape[1] + 1)] * X.shape[0]).to(X.device)
        Y = self.addnorm1(X, self.attention1(X, keys, keys, lens))
        Z = self.addnorm2(Y, self.attention2(X, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cross_reuses_attention1: cross-attention reuses attention1
# kind: mistake
# breaks: values
# equals: decblock-cross-through-attention1

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        prev = state[2][self.i]
        key_values = X if prev is None else torch.cat((prev, X), dim=1)
        state[2][self.i] = key_values
        dec_valid_lens = None
        if self.training:
            dec_valid_lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))
        Z = self.addnorm2(Y, self.attention1(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cross_swapped: cross-attention with the encoder as queries and the decoder as keys
# kind: mistake
# breaks: shapes, values
# equals: decblock-cross-roles-exchanged

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(enc_outputs, Y, Y, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cross_without_lens: cross-attention without enc_valid_lens
# kind: mistake
# breaks: values, masking
# equals: decblock-cross-without-lengths

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        kw = dict(key_size=key_size, query_size=query_size, value_size=value_size,
                  num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout)
        self.attention1 = MultiHeadAttention(**kw)
        self.attention2 = MultiHeadAttention(**kw)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def causal_lens(self, X):
        if not self.training:
            return None
        return torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)

    def forward(self, X, state):
        enc_outputs = state[0]
        old = state[2][self.i]
        state[2][self.i] = X if old is None else torch.cat([old, X], dim=1)
        kv = state[2][self.i]
        X = self.addnorm1(X, self.attention1(X, kv, kv, self.causal_lens(X)))
        X = self.addnorm2(X, self.attention2(X, enc_outputs, enc_outputs, None))
        X = self.addnorm3(X, self.ffn(X))
        return X, state


# %% wrong_dropout_in_eval: dropout passed to scaled_dot_product_attention without self.training: dropout in eval
# kind: mistake
# breaks: modes
# equals: nothing

import math
import torch
from torch import nn
import torch.nn.functional as F
from grader.given import AddNorm, PositionWiseFFN


class SelfMadeAttention(nn.Module):
    def __init__(self, kd, qd, vd, D, H, p):
        super().__init__()
        self.H, self.p = H, p
        self.W_q = nn.Linear(qd, D, bias=False)
        self.W_k = nn.Linear(kd, D, bias=False)
        self.W_v = nn.Linear(vd, D, bias=False)
        self.W_o = nn.Linear(D, D, bias=False)

    def heads(self, x):
        B, T, D = x.shape
        return x.reshape(B, T, self.H, D // self.H).permute(0, 2, 1, 3)

    def forward(self, q, kv, mask=None):
        Q, K, V = self.heads(self.W_q(q)), self.heads(self.W_k(kv)), self.heads(self.W_v(kv))
        y = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask, dropout_p=self.p)
        return self.W_o(y.permute(0, 2, 1, 3).reshape(q.shape[0], q.shape[1], -1))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, x, state):
        memory, lens, past = state
        if self.training:
            kv = x
            mask = torch.ones(x.shape[1], x.shape[1], device=x.device, dtype=torch.bool).tril()
        else:
            kv = x if past[self.i] is None else torch.cat((past[self.i], x), 1)
            past[self.i] = kv
            mask = None
        y = self.addnorm1(x, self.attention1(x, kv, mask))
        mmask = None
        if lens is not None:
            mmask = torch.arange(memory.shape[1], device=x.device) < lens.unsqueeze(-1)
            mmask = mmask[:, None, None, :] if lens.dim() == 1 else mmask[:, None]
        z = self.addnorm2(y, self.attention2(y, memory, mmask))
        return self.addnorm3(z, self.ffn(z)), state


# %% wrong_dropout_not_forwarded: dropout not passed to the add & norms
# kind: mistake
# breaks: modes
# equals: decblock-add-norms-without-dropout

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, 0.0)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, 0.0)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, 0.0)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_enc_detached: encoder outputs detached: the encoder gets no gradient
# kind: mistake
# breaks: gradients
# equals: decblock-encoder-detached

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        memory = enc_outputs.detach()   # the encoder is finished
        Y2 = self.attention2(Y, memory, memory, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_enc_lens_in_self_attention: encoder lengths used in self-attention too
# kind: mistake
# breaks: values, masking
# equals: decblock-source-lengths-on-target-too

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        if dec_valid_lens is not None and enc_valid_lens is not None:
            lens = enc_valid_lens if enc_valid_lens.dim() == 2 else enc_valid_lens[:, None]
            dec_valid_lens = torch.minimum(dec_valid_lens, lens)
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_ffn_of_y: feed-forward applied to Y, not to Z
# kind: mistake
# breaks: values
# equals: decblock-network-fed-by-first-part

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc, vl = state[0], state[1]
        T = X.shape[1]
        if self.training:
            mem, lens = X, torch.arange(1, T + 1, device=X.device).tile((X.shape[0], 1))
        else:
            mem, lens = X, None
            if state[2][self.idx] is not None:
                mem = torch.cat([state[2][self.idx], X], dim=-2)
            state[2][self.idx] = mem
        Y = self.addnorm1(X, self.attention1(X, mem, mem, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, vl))
        out = self.addnorm3(Z, self.ffn(Y))
        return out, state


# %% wrong_gelu: GELU in the feed-forward
# kind: different
# breaks: values
# equals: decblock-gelu

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc, el, cache = state
        kv = X if cache[self.idx] is None else torch.cat([cache[self.idx], X], 1)
        cache[self.idx] = kv
        lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1) if self.training else None
        a = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        b = self.addnorm2(a, self.attention2(a, enc, enc, el))
        c = self.ffn.dense2(F.gelu(self.ffn.dense1(b)))
        return self.addnorm3(b, c), state


# %% wrong_inverted_masks: its boolean mask means attend: inverted masks leak the future
# kind: mistake
# breaks: values, masking
# equals: nothing

import math
import torch
from torch import nn
import torch.nn.functional as F
from grader.given import AddNorm, PositionWiseFFN


class SelfMadeAttention(nn.Module):
    def __init__(self, kd, qd, vd, D, H, p):
        super().__init__()
        self.H, self.p = H, p
        self.W_q = nn.Linear(qd, D, bias=False)
        self.W_k = nn.Linear(kd, D, bias=False)
        self.W_v = nn.Linear(vd, D, bias=False)
        self.W_o = nn.Linear(D, D, bias=False)

    def heads(self, x):
        B, T, D = x.shape
        return x.reshape(B, T, self.H, D // self.H).permute(0, 2, 1, 3)

    def forward(self, q, kv, hide=None):
        Q, K, V = self.heads(self.W_q(q)), self.heads(self.W_k(kv)), self.heads(self.W_v(kv))
        p = self.p if self.training else 0.
        y = F.scaled_dot_product_attention(Q, K, V, attn_mask=hide, dropout_p=p)
        return self.W_o(y.permute(0, 2, 1, 3).reshape(q.shape[0], q.shape[1], -1))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, x, state):
        memory, lens, past = state
        hide = None
        kv = x
        if self.training:
            n = x.shape[1]
            # True where a step must not look
            hide = torch.ones(n, n, device=x.device, dtype=torch.bool).triu(1)
        else:
            if past[self.i] is not None:
                kv = torch.cat((past[self.i], x), 1)
            past[self.i] = kv
        y = self.addnorm1(x, self.attention1(x, kv, hide))
        mmask = None
        if lens is not None:
            mmask = torch.arange(memory.shape[1], device=x.device) < lens.unsqueeze(-1)
            mmask = mmask[:, None, None, :] if lens.dim() == 1 else mmask[:, None]
        z = self.addnorm2(y, self.attention2(y, memory, mmask))
        return self.addnorm3(z, self.ffn(z)), state


# %% wrong_is_causal_decoding: scaled_dot_product_attention(is_causal=True) with fewer queries than keys: a decoding step sees only key 0
# kind: mistake
# breaks: modes
# equals: decblock-lengths-while-decoding

import math
import torch
from torch import nn
import torch.nn.functional as F
from grader.given import AddNorm, PositionWiseFFN


class SelfMadeAttention(nn.Module):
    def __init__(self, kd, qd, vd, D, H, p):
        super().__init__()
        self.H, self.p = H, p
        self.W_q = nn.Linear(qd, D, bias=False)
        self.W_k = nn.Linear(kd, D, bias=False)
        self.W_v = nn.Linear(vd, D, bias=False)
        self.W_o = nn.Linear(D, D, bias=False)

    def heads(self, x):
        B, T, D = x.shape
        return x.reshape(B, T, self.H, D // self.H).permute(0, 2, 1, 3)

    def forward(self, q, kv, mask=None, causal=False):
        Q, K, V = self.heads(self.W_q(q)), self.heads(self.W_k(kv)), self.heads(self.W_v(kv))
        p = self.p if self.training else 0.
        y = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask, dropout_p=p, is_causal=causal)
        return self.W_o(y.permute(0, 2, 1, 3).reshape(q.shape[0], q.shape[1], -1))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, x, state):
        memory, lens, past = state
        kv = x
        if not self.training:
            if past[self.i] is not None:
                kv = torch.cat((past[self.i], x), 1)
            past[self.i] = kv
        y = self.addnorm1(x, self.attention1(x, kv, causal=True))
        mmask = None
        if lens is not None:
            mmask = torch.arange(memory.shape[1], device=x.device) < lens.unsqueeze(-1)
            mmask = mmask[:, None, None, :] if lens.dim() == 1 else mmask[:, None]
        z = self.addnorm2(y, self.attention2(y, memory, mmask))
        return self.addnorm3(z, self.ffn(z)), state


# %% wrong_keys_x_values_cache: self-attention only over X while training is off by using X as keys with cache in values
# kind: mistake
# breaks: modes
# equals: decblock-values-from-cache-only

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            values = X
        else:
            values = torch.cat((state[2][self.i], X), dim=1)
        state[2][self.i] = values
        if self.training:
            keys = values
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        else:
            keys, lens = X, None
        Y = self.addnorm1(X, self.attention1(X, keys, values, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_lens_not_repeated: causal lengths (T,) taken as one length per sequence
# kind: mistake
# breaks: values, masking
# equals: nothing

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        dec_valid_lens = None
        if self.training:
            # row b may look at b + 1 steps
            dec_valid_lens = torch.arange(1, X.shape[0] + 1, device=X.device)
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_lens_while_decoding: same lens also used while decoding token by token
# kind: mistake
# breaks: modes
# equals: decblock-lengths-while-decoding

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        mha = lambda: MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        norm = lambda: AddNorm(norm_shape, dropout)
        self.attention1, self.addnorm1 = mha(), norm()
        self.attention2, self.addnorm2 = mha(), norm()
        self.ffn, self.addnorm3 = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens), norm()

    def forward(self, X, state):
        enc, enc_lens = state[0], state[1]
        cache = state[2][self.i]
        kv = X if cache is None else torch.cat((cache, X), dim=1)
        state[2][self.i] = kv
        # causal mask
        steps = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1)
        Y = self.addnorm1(X, self.attention1(X, kv, kv, steps))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, enc_lens))
        out = self.addnorm3(Z, self.ffn(Z))
        return out, state


# %% wrong_mask_by_grad_mode: mask decided by grad mode, not self.training
# kind: policy
# later: grad-mode
# equals: nothing

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, cache = state
        kv = X if cache[self.i] is None else torch.cat((cache[self.i], X), dim=1)
        cache[self.i] = kv
        learning = torch.is_grad_enabled()
        if learning or kv.shape[1] == X.shape[1]:
            n = X.shape[1]
            mask_lens = torch.arange(1, n + 1, device=X.device).repeat(len(X), 1)
        else:
            mask_lens = None
        Y = self.addnorm1(X, self.attention1(X, kv, kv, mask_lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_mask_first_entry: causal mask written for the first batch entry only
# kind: mistake
# breaks: values, masking
# equals: nothing

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        memory, memory_len, cache = state
        B, T, _ = X.shape
        keys = X if cache[self.idx] is None else torch.cat([cache[self.idx], X], dim=1)
        cache[self.idx] = keys
        if self.training:
            lens = torch.full((B, T), T, device=X.device)
            lens[0] = torch.arange(1, T + 1)
        else:
            lens = None
        h = self.addnorm1(X, self.attention1(X, keys, keys, lens))
        h2 = self.addnorm2(h, self.attention2(h, memory, memory, memory_len))
        return self.addnorm3(h2, self.ffn(h2)), state


# %% wrong_mask_off_by_cache: lengths counted from the end of the cache, one too few
# kind: mistake
# breaks: modes
# equals: decblock-decoding-misses-newest

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc, el, cache = state
        kv = X if cache[self.idx] is None else torch.cat([cache[self.idx], X], 1)
        cache[self.idx] = kv
        B, T = X.shape[:2]
        if self.training:
            lens = torch.arange(1, T + 1, device=X.device).repeat(B, 1)
        else:
            lens = torch.full((B,), max(1, kv.shape[1] - 1), device=X.device)   # without the newest
        a = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        b = self.addnorm2(a, self.attention2(a, enc, enc, el))
        return self.addnorm3(b, self.ffn(b)), state


# %% wrong_new_state_dropped: new cache put into a new list that is not returned
# kind: mistake
# breaks: modes
# equals: decblock-cache-not-written

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, cache = state
        cache = list(cache)          # do not touch the caller's list
        if cache[self.i] is not None:
            key_values = torch.cat((cache[self.i], X), dim=1)
        else:
            key_values = X
        cache[self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_no_causal_mask: no causal mask in training
# kind: mistake
# breaks: values, masking
# equals: decblock-no-causal-mask

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """Decoder block: self-attention, encoder-decoder attention, feed-forward."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        X2 = self.attention1(X, key_values, key_values, None)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_no_last_addnorm: last add & norm forgotten
# kind: mistake
# breaks: values
# equals: decblock-last-residual-missing

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.ffn(Z), state


# %% wrong_no_state_returned: returns Y alone, without the state
# kind: mistake
# breaks: shapes
# equals: decblock-state-not-returned

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc, el, cache = state
        kv = X if cache[self.idx] is None else torch.cat([cache[self.idx], X], 1)
        cache[self.idx] = kv
        lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1) if self.training else None
        a = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        b = self.addnorm2(a, self.attention2(a, enc, enc, el))
        return self.addnorm3(b, self.ffn(b))


# %% wrong_norm_shared: one add & norm object used for all three sub-layers
# kind: mistake
# breaks: values
# equals: decblock-first-norm-everywhere

import torch
from torch import Tensor, nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size: int, query_size: int, value_size: int, num_hiddens: int,
                 norm_shape, ffn_num_input: int, ffn_num_hiddens: int, num_heads: int,
                 dropout: float, i: int) -> None:
        super().__init__()
        self.i = i
        mha = lambda: MultiHeadAttention(
            key_size=key_size, query_size=query_size, value_size=value_size,
            num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout)
        self.attention1, self.attention2 = mha(), mha()
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X: Tensor, state: list):
        enc, enc_lens, cache = state
        kv = X if cache[self.i] is None else torch.cat((cache[self.i], X), 1)
        cache[self.i] = kv
        lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1) if self.training else None
        norm = self.addnorm1
        h = norm(X, self.attention1(X, kv, kv, lens))
        h = norm(h, self.attention2(h, enc, enc, enc_lens))
        return norm(h, self.ffn(h)), state


# %% wrong_norms_exchanged: addnorm1 and addnorm2 exchanged
# kind: mistake
# breaks: values
# equals: decblock-first-norms-exchanged

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc, enc_lens, cache = state
        kv = X if cache[self.idx] is None else torch.cat((cache[self.idx], X), 1)
        cache[self.idx] = kv
        lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1) if self.training else None
        h = self.addnorm2(X, self.attention1(X, kv, kv, lens))
        h = self.addnorm1(h, self.attention2(h, enc, enc, enc_lens))
        h = self.addnorm3(h, self.ffn(h))
        return h, state


# %% wrong_order_of_attentions: cross-attention before self-attention
# kind: mistake
# breaks: values
# equals: decblock-attentions-in-other-order-with-norms

import torch
from torch import Tensor, nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size: int, query_size: int, value_size: int, num_hiddens: int,
                 norm_shape, ffn_num_input: int, ffn_num_hiddens: int, num_heads: int,
                 dropout: float, i: int) -> None:
        super().__init__()
        self.i = i
        mha = lambda: MultiHeadAttention(
            key_size=key_size, query_size=query_size, value_size=value_size,
            num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout)
        self.attention1, self.attention2 = mha(), mha()
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X: Tensor, state: list):
        enc, enc_lens, cache = state
        Y = self.addnorm2(X, self.attention2(X, enc, enc, enc_lens))
        kv = cache[self.i] = Y if cache[self.i] is None else torch.cat((cache[self.i], Y), 1)
        lens = None
        if self.training:
            lens = torch.arange(1, Y.size(1) + 1, device=Y.device).repeat(Y.size(0), 1)
        Z = self.addnorm1(Y, self.attention1(Y, kv, kv, lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_pre_norm: pre-norm block: normalises before each sub-layer
# kind: different
# breaks: values
# equals: decblock-add-norms-without-dropout+decblock-pre-norm

import torch
from torch import Tensor, nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size: int, query_size: int, value_size: int, num_hiddens: int,
                 norm_shape, ffn_num_input: int, ffn_num_hiddens: int, num_heads: int,
                 dropout: float, i: int) -> None:
        super().__init__()
        self.i = i
        mha = lambda: MultiHeadAttention(
            key_size=key_size, query_size=query_size, value_size=value_size,
            num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout)
        self.attention1, self.attention2 = mha(), mha()
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X: Tensor, state: list):
        enc, enc_lens, cache = state
        n1, n2, n3 = self.addnorm1.ln, self.addnorm2.ln, self.addnorm3.ln
        h = n1(X)
        kv = cache[self.i] = h if cache[self.i] is None else torch.cat((cache[self.i], h), dim=1)
        lens = None
        if self.training:
            lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1)
        X = X + self.attention1(h, kv, kv, lens)
        X = X + self.attention2(n2(X), enc, enc, enc_lens)
        X = X + self.ffn(n3(X))
        return X, state


# %% wrong_residual_x_in_addnorm2: second residual from X instead of Y
# kind: mistake
# breaks: values
# equals: decblock-second-residual-from-input

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(X, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_residual_y_in_addnorm3: third residual from Y instead of Z
# kind: mistake
# breaks: values
# equals: decblock-third-residual-from-first-part

import torch
from torch import Tensor, nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size: int, query_size: int, value_size: int, num_hiddens: int,
                 norm_shape, ffn_num_input: int, ffn_num_hiddens: int, num_heads: int,
                 dropout: float, i: int) -> None:
        super().__init__()
        self.i = i
        mha = lambda: MultiHeadAttention(
            key_size=key_size, query_size=query_size, value_size=value_size,
            num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout)
        self.attention1, self.attention2 = mha(), mha()
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X: Tensor, state: list):
        enc_outputs, enc_lens, caches = state
        past = caches[self.i]
        kv = caches[self.i] = X if past is None else torch.cat((past, X), dim=1)
        lens = None
        if self.training:
            lens = torch.arange(1, X.size(1) + 1, device=X.device).expand(X.size(0), -1)
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_lens))
        return self.addnorm3(Y, self.ffn(Z)), state


# %% wrong_self_attention_is_cross: keys of the self-attention from X, values from the encoder
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        Y = self.addnorm1(X, self.attention1(X, key_values, enc_outputs, dec_valid_lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_slot_zero: all layers share cache slot 0
# kind: mistake
# breaks: modes
# equals: decblock-cache-shared-by-layers

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        for n in (1, 2, 3):
            setattr(self, f'addnorm{n}', AddNorm(norm_shape, dropout))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        (enc, lens, cache) = state
        if self.training:
            kv = X
            causal = torch.arange(1, X.shape[1] + 1, device=X.device).unsqueeze(0).expand(X.shape[0], -1)
        else:
            kv = X if cache[0] is None else torch.cat((cache[0], X), 1)
            cache[0] = kv
            causal = None
        Y = self.addnorm1(X, self.attention1(X, kv, kv, causal))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_state_first: returns (state, Y)
# kind: mistake
# breaks: shapes, values
# equals: decblock-state-first

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None:
            key_values = X
        else:
            key_values = torch.cat((state[2][self.i], X), axis=1)
        state[2][self.i] = key_values
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return state, self.addnorm3(Z, self.ffn(Z))


# %% wrong_triangle: upper triangle used instead of the lower one
# kind: mistake
# breaks: values, masking
# equals: decblock-wrong-triangle

import math
import torch
from torch import nn
import torch.nn.functional as F
from grader.given import AddNorm, PositionWiseFFN


class SelfMadeAttention(nn.Module):
    def __init__(self, kd, qd, vd, D, H, p):
        super().__init__()
        self.H, self.p = H, p
        self.W_q = nn.Linear(qd, D, bias=False)
        self.W_k = nn.Linear(kd, D, bias=False)
        self.W_v = nn.Linear(vd, D, bias=False)
        self.W_o = nn.Linear(D, D, bias=False)

    def heads(self, x):
        B, T, D = x.shape
        return x.reshape(B, T, self.H, D // self.H).permute(0, 2, 1, 3)

    def forward(self, q, kv, mask=None):
        Q, K, V = self.heads(self.W_q(q)), self.heads(self.W_k(kv)), self.heads(self.W_v(kv))
        att = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e9)
        att = F.dropout(F.softmax(att, dim=-1), self.p, self.training)
        y = (att @ V).permute(0, 2, 1, 3)
        return self.W_o(y.reshape(q.shape[0], q.shape[1], -1))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, x, state):
        memory, lens, past = state
        if self.training:
            kv = x
            mask = torch.triu(torch.ones(x.shape[1], x.shape[1], device=x.device))
        else:
            kv = x if past[self.i] is None else torch.cat((past[self.i], x), 1)
            past[self.i] = kv
            mask = None
        y = self.addnorm1(x, self.attention1(x, kv, mask))
        mmask = None
        if lens is not None:
            mmask = torch.arange(memory.shape[1], device=x.device) < lens.unsqueeze(-1)
            mmask = mmask[:, None, None, :] if lens.dim() == 1 else mmask[:, None]
        z = self.addnorm2(y, self.attention2(y, memory, mmask))
        return self.addnorm3(z, self.ffn(z)), state


# %% wrong_window: causal, but only the three newest steps are seen
# kind: mistake
# breaks: values, masking
# equals: nothing

import math
import torch
from torch import nn
import torch.nn.functional as F
from grader.given import AddNorm, PositionWiseFFN


class SelfMadeAttention(nn.Module):
    def __init__(self, kd, qd, vd, D, H, p):
        super().__init__()
        self.H, self.p = H, p
        self.W_q = nn.Linear(qd, D, bias=False)
        self.W_k = nn.Linear(kd, D, bias=False)
        self.W_v = nn.Linear(vd, D, bias=False)
        self.W_o = nn.Linear(D, D, bias=False)

    def heads(self, x):
        B, T, D = x.shape
        return x.reshape(B, T, self.H, D // self.H).permute(0, 2, 1, 3)

    def forward(self, q, kv, mask=None):
        Q, K, V = self.heads(self.W_q(q)), self.heads(self.W_k(kv)), self.heads(self.W_v(kv))
        att = Q @ K.mT / math.sqrt(Q.shape[-1])
        if mask is not None:
            att = att.masked_fill(~mask, torch.finfo(att.dtype).min)
        att = F.dropout(F.softmax(att, dim=-1), self.p, self.training)
        return self.W_o((att @ V).permute(0, 2, 1, 3).reshape(q.shape[0], q.shape[1], -1))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, x, state):
        memory, lens, past = state
        if self.training:
            kv, n = x, x.shape[1]
            mask = torch.ones(n, n, device=x.device, dtype=torch.bool).tril().triu(-2)
        else:
            kv = x if past[self.i] is None else torch.cat((past[self.i], x), 1)[:, -3:]
            past[self.i] = kv
            mask = None
        y = self.addnorm1(x, self.attention1(x, kv, mask))
        mmask = None
        if lens is not None:
            mmask = torch.arange(memory.shape[1], device=x.device) < lens.unsqueeze(-1)
            mmask = mmask[:, None, None, :] if lens.dim() == 1 else mmask[:, None]
        z = self.addnorm2(y, self.attention2(y, memory, mmask))
        return self.addnorm3(z, self.ffn(z)), state


# %% wrong_writes_into_x: adds the attention into X in place
# kind: mistake
# breaks: purity
# equals: nothing

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    """The `i`-th block in the decoder."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, i, **kwargs):
        super(DecoderBlock, self).__init__(**kwargs)
        self.i = i
        self.attention1 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.drop = nn.Dropout(dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        kv = X.clone() if state[2][self.i] is None else torch.cat((state[2][self.i], X), dim=1)
        state[2][self.i] = kv
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            dec_valid_lens = None
        X += self.drop(self.attention1(X.clone(), kv, kv, dec_valid_lens))
        Y = self.addnorm1.ln(X.clone())
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_lens_per_step: the causal lengths have the shape (T,) and are taken as one length per sentence
# kind: mistake
# breaks: masking, modes, shapes
# equals: decblock-lengths-not-repeated

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    """Decoder block; masks the future while training."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention1 = MultiHeadAttention(*sizes)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(*sizes)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, cache = state
        if self.training:
            context = X
            lens = torch.arange(1, X.shape[1] + 1, device=X.device)
        else:
            context = X if cache[self.i] is None else torch.cat([cache[self.i], X], dim=1)
            cache[self.i] = context
            lens = None
        Y = self.addnorm1(X, self.attention1(X, context, context, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_cross_query_x_too: the queries of the cross-attention are the inputs of the block
# kind: mistake
# breaks: gradients, masking, modes, values
# equals: decblock-cross-asked-by-input

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        memory, memory_lens = state[0], state[1]
        past = state[2][self.i]
        C = X if past is None or self.training else torch.cat([past, X], 1)
        state[2][self.i] = C
        lens = None
        if self.training:
            lens = torch.arange(1, X.size(1) + 1, device=X.device).expand(X.size(0), -1)
        self_attended = self.attention1(X, C, C, lens)
        Y = self.addnorm1(X, self_attended)
        cross = self.attention2(X, memory, memory, memory_lens)
        Z = self.addnorm2(Y, cross)
        out = self.addnorm3(Z, self.ffn(Z))
        return out, state


# %% wrong_truth_of_tensor: the cache entry is tested with "if", which has no answer for a tensor
# kind: mistake
# breaks: modes
# equals: decblock-truth-of-cache

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, caches = state[0], state[1], state[2]
        if caches[self.i]:
            kv = torch.cat([caches[self.i], X], dim=1)
        else:
            kv = X
        caches[self.i] = kv
        lens = None
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_detached_cache: keys and values come from the detached cache, in training too
# kind: mistake
# breaks: gradients
# equals: decblock-keys-detached

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        i = self.i
        # the cache needs no graph
        if state[2][i] is None:
            state[2][i] = X.detach()
        else:
            state[2][i] = torch.cat((state[2][i], X.detach()), dim=1)
        dec_valid_lens = None
        if self.training:
            dec_valid_lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        X2 = self.attention1(X, state[2][i], state[2][i], dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_mode_at_birth: the mode is read once, in the constructor
# kind: mistake
# breaks: modes
# equals: decblock-cache-not-written

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.is_train = self.training
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        if self.is_train:
            key_values = X
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        else:
            if state[2][self.i] is None:
                key_values = X
            else:
                key_values = torch.cat((state[2][self.i], X), dim=1)
            state[2][self.i] = key_values
            dec_valid_lens = None
        X2 = self.attention1(X, key_values, key_values, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% right_cache_of_single_steps: a tuple of single steps as cache entry, in a new state
# kind: same

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        i: int,
    ):
        super().__init__()
        self.i = i  # which entry of the cache is mine
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention1 = MultiHeadAttention(*sizes)
        self.attention2 = MultiHeadAttention(*sizes)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        source, source_lens, entries = state
        past = () if self.training else (entries[self.i] or ())
        seen = (*past, *X.split(1, dim=1))
        C = torch.cat(seen, dim=1)
        # len(past) old steps, then 1, 2, 3, ... new ones. In eval with T = 1 this is just "everything"
        lens = torch.ones(X.shape[:2], dtype=torch.int64, device=X.device).cumsum(1) + len(past)
        attend = (
            (self.addnorm1, lambda q: self.attention1(q, C, C, lens)),
            (self.addnorm2, lambda q: self.attention2(q, source, source, source_lens)),
            (self.addnorm3, self.ffn),
        )
        for addnorm, sublayer in attend:
            X = addnorm(X, sublayer(X))
        if not self.training:
            entries = [*entries[: self.i], seen, *entries[self.i + 1 :]]
        return X, [source, source_lens, entries]


# %% wrong_cat_on_batch_axis: torch.cat without dim joins the cache along the batch
# kind: mistake
# breaks: modes
# equals: decblock-cache-along-batch

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        i: int,
    ):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        enc_outputs, enc_valid_lens = state[0], state[1]
        if state[2][self.i] is None or self.training:
            C = X
        else:
            C = torch.cat((state[2][self.i], X))
        state[2][self.i] = C
        if self.training:
            # one row per sentence: 1, 2, ..., T
            lengths = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        else:
            lengths = None
        Y = self.addnorm1(X, self.attention1(X, C, C, lengths))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_lengths_without_batch: causal lengths of shape (T,)
# kind: mistake
# breaks: masking, modes, shapes
# equals: decblock-lengths-not-repeated

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        i: int,
    ):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        enc_outputs, enc_valid_lens, cache = state[0], state[1], state[2]
        num_steps = X.shape[1]

        if self.training:
            # training: all steps at once, with mask
            keys = X
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device)
        else:
            # prediction
            keys = X
            if cache[self.i] is not None:
                keys = torch.cat((cache[self.i], X), axis=1)
            cache[self.i] = keys
            dec_valid_lens = None

        X2 = self.attention1(X, keys, keys, dec_valid_lens)
        Y = self.addnorm1(X, X2)
        Y2 = self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state


# %% wrong_mask_one_short: causal lengths 0, 1, …, T - 1
# kind: mistake
# breaks: gradients, masking, values
# equals: decblock-own-step-hidden

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        i: int,
    ):
        super().__init__()
        self.i = i  # which entry of the cache is mine
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention1 = MultiHeadAttention(*sizes)
        self.attention2 = MultiHeadAttention(*sizes)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        memory, memory_lens, cache = state
        batch, steps = X.shape[0], X.shape[1]
        if self.training:
            # query t sees the steps up to t
            dec_lens = torch.arange(steps, device=X.device).expand(batch, steps)
            key_values = X
        else:
            dec_lens = None
            old = cache[self.i]
            key_values = X if old is None else torch.cat([old, X], dim=1)
            cache[self.i] = key_values

        Y = self.attention1(X, key_values, key_values, dec_lens)
        Y = self.addnorm1(X, Y)
        Z = self.attention2(Y, memory, memory, memory_lens)
        Z = self.addnorm2(Y, Z)
        out = self.addnorm3(Z, self.ffn(Z))
        return out, state


# %% wrong_source_padding_seen: None as lengths of the cross-attention
# kind: mistake
# breaks: gradients, masking, modes
# equals: decblock-cross-without-lengths

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        i: int,
    ):
        super().__init__()
        self.i = i  # which entry of the cache is mine
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention1 = MultiHeadAttention(*sizes)
        self.attention2 = MultiHeadAttention(*sizes)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        E = state[0]
        T = X.size(1)
        if self.training:
            C = X
            causal = torch.ones(X.size(0), T, dtype=torch.long, device=X.device).cumsum(dim=1)
            Y = self.attention1(X, C, C, causal)
        else:
            if state[2][self.i] is not None:
                C = torch.cat((state[2][self.i], X), 1)
            else:
                C = X
            state[2][self.i] = C
            Y = self.attention1(X, C, C, None)
        Y = self.addnorm1(X, Y)
        # no mask: the target may look at the whole source, there is no future in it
        Z = self.addnorm2(Y, self.attention2(Y, E, E, None))
        return self.addnorm3(Z, self.ffn(Z)), state
