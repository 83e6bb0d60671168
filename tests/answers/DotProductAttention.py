# %% right_baddbmm: scores by baddbmm with alpha, mask added as beta term
# kind: same

import torch
from torch import nn

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, d = queries.shape
        S = keys.shape[1]
        bias = queries.new_zeros(B, T, S)
        if valid_lens is not None:
            lens = valid_lens.reshape(B, -1, 1)
            bias = bias.masked_fill(torch.arange(S, device=queries.device) >= lens, float('-inf'))
        scores = torch.baddbmm(bias, queries, keys.transpose(1, 2), alpha=d ** -0.5)
        self.attention_weights = scores.softmax(-1)
        return self.dropout(self.attention_weights).bmm(values)


# %% right_book: the book's scaled dot product attention
# kind: same

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    """Scaled dot product attention."""
    def __init__(self, dropout, **kwargs):
        super(DotProductAttention, self).__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    # Shape of queries: (batch_size, no. of queries, d)
    # Shape of keys: (batch_size, no. of key-value pairs, d)
    # Shape of values: (batch_size, no. of key-value pairs, value dimension)
    # Shape of valid_lens: (batch_size,) or (batch_size, no. of queries)
    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        # Swap the last two dimensions of keys with keys.transpose(1, 2)
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(d)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% right_dropout_by_hand: dropout with a Bernoulli mask of its own
# kind: same

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.keep = 1.0 - dropout

    def _drop(self, w):
        if not self.training or self.keep == 1.0:
            return w
        coin = torch.bernoulli(torch.full_like(w, self.keep))
        return w * coin / self.keep

    def forward(self, queries, keys, values, valid_lens=None):
        d = keys.shape[2]
        scores = (queries * d ** -0.25) @ (keys * d ** -0.25).transpose(1, 2)
        w = masked_softmax(scores, valid_lens)
        self.attention_weights = w.detach()
        return self._drop(w) @ values


# %% right_einsum: attention by einsum
# kind: same

import torch
import torch.nn.functional as F
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.p = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.einsum('bqd,bkd->bqk', queries, keys) * queries.size(-1) ** -0.5
        self.attention_weights = masked_softmax(scores, valid_lens)
        w = F.dropout(self.attention_weights, self.p, training=self.training)
        return torch.einsum('bqk,bkv->bqv', w, values)


# %% right_loop_over_batch: one sequence at a time
# kind: same

import math
import torch
from torch import nn

class DotProductAttention(nn.Module):
    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def one(self, q, k, lens):
        s = torch.mm(q, k.t()) / math.sqrt(q.shape[1])
        if lens is not None:
            cols = torch.arange(k.shape[0], device=k.device).unsqueeze(0)
            s = torch.where(cols < lens.reshape(-1, 1), s, torch.full_like(s, float('-inf')))
        return torch.softmax(s, dim=1)

    def forward(self, queries, keys, values, valid_lens=None):
        weights, outputs = [], []
        for b in range(queries.shape[0]):
            w = self.one(queries[b], keys[b], None if valid_lens is None else valid_lens[b])
            weights.append(w)
            outputs.append(self.dropout(w) @ values[b])
        self.attention_weights = torch.stack(weights)
        return torch.stack(outputs)


# %% right_online_softmax: a tiled online softmax over blocks of keys
# kind: same

import torch
from torch import nn

class DotProductAttention(nn.Module):
    """Goes over the keys in blocks and keeps a running maximum and sum."""
    BLOCK = 2

    def __init__(self, dropout):
        super().__init__()
        self.p = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, d = queries.shape
        S = keys.shape[1]
        if valid_lens is None:
            valid_lens = torch.full((B,), S, device=queries.device)
        lens = valid_lens.reshape(B, -1, 1)
        low = torch.finfo(queries.dtype).min
        m = queries.new_full((B, T, 1), low)
        total = queries.new_zeros(B, T, 1)
        acc = queries.new_zeros(B, T, values.shape[-1])
        kept = []
        for start in range(0, S, self.BLOCK):
            stop = min(S, start + self.BLOCK)
            s = queries @ keys[:, start:stop].transpose(1, 2) / d ** 0.5
            cols = torch.arange(start, stop, device=queries.device)
            hidden = cols >= lens
            s = s.masked_fill(hidden, low)
            new_m = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.exp(s - new_m).masked_fill(hidden, 0)
            shrink = torch.exp(m - new_m)
            total = total * shrink + p.sum(-1, keepdim=True)
            drop = torch.nn.functional.dropout(p, self.p, self.training)
            acc = acc * shrink + drop @ values[:, start:stop]
            m = new_m
            kept.append(s)
        with torch.no_grad():
            everything = torch.cat(kept, dim=-1)
            self.attention_weights = torch.exp(everything - m) / total
        return acc / total


# %% right_query_scaled_first: scales the queries before the product
# kind: same

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def forward(self, queries, keys, values, valid_lens=None) -> torch.Tensor:
        q = queries / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(q @ keys.mT, valid_lens)
        return self.dropout(self.attention_weights) @ values


# %% right_scaled_dot_product_attention: calls F.scaled_dot_product_attention
# kind: same

import torch
import torch.nn.functional as F
from torch import nn

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout_p = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, d = queries.shape
        S = keys.shape[1]
        attn_mask = None
        if valid_lens is not None:
            lens = valid_lens.reshape(B, -1, 1)
            attn_mask = (torch.arange(S, device=queries.device) < lens).expand(B, T, S)   # True: attend
        # the fused call does not show the weights, so they are computed once more for looking at
        with torch.no_grad():
            scores = queries @ keys.transpose(1, 2) / d ** 0.5
            if attn_mask is not None:
                scores = scores.masked_fill(~attn_mask, float('-inf'))
            self.attention_weights = scores.softmax(-1)
        return F.scaled_dot_product_attention(
            queries, keys, values, attn_mask=attn_mask,
            dropout_p=self.dropout_p if self.training else 0.0)


# %% wrong_cosine_similarity: scores by cosine similarity
# kind: different
# breaks: values, gradients
# equals: dot-cosine

import torch
import torch.nn.functional as F
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        q = F.normalize(queries, dim=-1)
        k = F.normalize(keys, dim=-1)
        self.attention_weights = masked_softmax(torch.bmm(q, k.transpose(1, 2)), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_divides_by_d: divides by d instead of its root
# kind: mistake
# breaks: values, gradients
# equals: dot-scaled-without-root

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout: float):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / queries.shape[-1]
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_dropout_before_softmax: dropout on the scores, before softmax
# kind: mistake
# breaks: modes
# equals: dot-dropout-on-scores

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(self.dropout(scores), valid_lens)
        return torch.bmm(self.attention_weights, values)


# %% wrong_dropout_fixed_at_tenth: ignores the dropout argument and always drops a tenth
# kind: mistake
# breaks: modes
# equals: dot-dropout-rate-fixed

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(0.1)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_dropout_in_eval_too: F.dropout without training flag (active in eval)
# kind: mistake
# breaks: modes
# equals: dot-dropout-always

import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.p = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.permute(0, 2, 1)) / math.sqrt(keys.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(F.dropout(self.attention_weights, self.p), values)


# %% wrong_dropout_not_rescaled: drops weights without dividing by 1 - p
# kind: mistake
# breaks: modes
# equals: dot-dropout-not-scaled-up

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        weights = self.attention_weights
        if self.training:
            weights = weights * (torch.rand_like(weights) >= self.dropout)
        return torch.bmm(weights, values)


# %% wrong_dropout_on_output: dropout on the output instead of the weights
# kind: mistake
# breaks: modes
# equals: dot-dropout-on-result

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.drop = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = queries.matmul(keys.mT) / math.sqrt(queries.size(-1))
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.drop(self.attention_weights.matmul(values))


# %% wrong_fixed_causal_mask: adds a fixed head_dim x head_dim causal mask
# kind: mistake
# breaks: values
# equals: nothing

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(d)
        mask = torch.triu(torch.full((d, d), -1e6, device=scores.device), diagonal=1)
        scores = scores + mask
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_keeps_dropped_weights: stores the dropped-out weights
# kind: policy
# breaks: weights
# equals: dot-keeps-dropped-weights

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = self.dropout(masked_softmax(scores, valid_lens))
        return torch.bmm(self.attention_weights, values)


# %% wrong_keeps_scores: keeps the scores, not the weights, in attention_weights
# kind: mistake
# breaks: weights
# equals: dot-keeps-scores

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        self.attention_weights = queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5
        A = masked_softmax(self.attention_weights.clone(), valid_lens)
        return self.dropout(A) @ values


# %% wrong_lens_ignored: never uses valid_lens
# kind: mistake
# breaks: masking
# equals: dot-lens-ignored

import math
import torch
import torch.nn.functional as F
from torch import nn

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = F.softmax(scores, dim=-1)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_lens_per_query_ignored: takes only lengths per sequence; per query it uses the first
# kind: mistake
# breaks: masking
# equals: dot-first-query-lens

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        if valid_lens is not None and valid_lens.dim() > 1:
            valid_lens = valid_lens[:, 0]
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_multiplies_by_root: multiplies by sqrt(d)
# kind: mistake
# breaks: values, gradients
# equals: dot-scaled-up

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super(DotProductAttention, self).__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        scores = queries @ keys.transpose(-2, -1) * math.sqrt(d)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.dropout(self.attention_weights) @ values


# %% wrong_no_dropout: dropout is made but never applied
# kind: mistake
# breaks: modes
# equals: dot-no-dropout

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.attention_weights, values)


# %% wrong_no_scaling: no scaling
# kind: mistake
# breaks: values, gradients
# equals: dot-not-scaled

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2))
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_pools_keys: multiplies weights with keys, not values
# kind: mistake
# breaks: shapes, values
# equals: dot-averages-keys

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), keys)


# %% wrong_renormalised_after_dropout: makes the dropped weights sum to one again
# kind: mistake
# breaks: modes
# equals: dot-dropout-shared-out-again

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        w = self.dropout(self.attention_weights)
        if self.training:
            w = w / (w.sum(dim=-1, keepdim=True) + 1e-12)
        return torch.bmm(w, values)


# %% wrong_returns_pair: returns (output, weights) tuple
# kind: different
# breaks: shapes
# equals: dot-returns-pair

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values), self.attention_weights


# %% wrong_scale_after_softmax: divides the weights, not the scores, by sqrt(d)
# kind: mistake
# breaks: values, gradients
# equals: dot-scaled-after-softmax

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2))
        self.attention_weights = masked_softmax(scores, valid_lens) / math.sqrt(queries.shape[-1])
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_scale_from_length: scale taken from sequence length
# kind: mistake
# breaks: values, gradients
# equals: dot-scaled-by-number-of-keys

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scale = keys.shape[1] ** 0.5
        scores = torch.einsum('btd,bsd->bts', queries, keys) / scale
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.einsum('bts,bsv->btv', self.dropout(self.attention_weights), values)


# %% wrong_scale_from_queries_length: takes the number of queries for d
# kind: mistake
# breaks: values, gradients
# equals: dot-scaled-by-number-of-queries

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    """Scaled dot product attention."""
    def __init__(self, dropout, **kwargs):
        super(DotProductAttention, self).__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[1]
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(d)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_scale_from_values: takes the size of the values for d
# kind: mistake
# breaks: values, gradients
# equals: dot-scaled-by-values

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(values.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_scales_queries_in_place: scales the caller's queries in place
# kind: mistake
# breaks: purity
# equals: dot-changes-the-queries

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        queries /= queries.shape[-1] ** 0.5
        self.attention_weights = masked_softmax(torch.bmm(queries, keys.transpose(1, 2)), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_scores_detached: scores detached: output right, W_q and W_k get no gradient
# kind: mistake
# breaks: gradients
# equals: dot-scores-detached

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        with torch.no_grad():
            scores = torch.matmul(queries, keys.transpose(-1, -2)) / (queries.size(-1) ** 0.5)
            self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.matmul(self.dropout(self.attention_weights), values)


# %% wrong_scores_transposed: scores = K Q^T (transposed)
# kind: mistake
# breaks: values, gradients
# equals: dot-scores-transposed

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        scores = torch.bmm(keys, queries.transpose(1, 2)) / math.sqrt(d)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_softmax_over_queries: normalises over the queries
# kind: mistake
# breaks: values, gradients
# equals: nothing

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        A = torch.softmax(scores, dim=1)
        if valid_lens is not None:
            A = A * (masked_softmax(scores, valid_lens) > 0)
        self.attention_weights = A
        return torch.bmm(self.dropout(A), values)


# %% wrong_transposes_whole_batch: transposes batch and keys instead of keys and features
# kind: mistake
# breaks: values, gradients
# equals: dot-keys-reshaped

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1]))
        self.attention_weights = masked_softmax(scores / math.sqrt(queries.shape[-1]), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_weights_not_kept: attention_weights not stored
# kind: policy
# breaks: weights
# equals: dot-keeps-no-weights

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        weights = masked_softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, valid_lens)
        return self.dropout(weights) @ values


# %% wrong_scaled_after_softmax: division by the root after the softmax
# kind: mistake
# breaks: defaults, gradients, masking, modes, values, weights
# equals: dot-scaled-after-softmax

import torch
from torch import nn

from grader.given import masked_softmax


class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scale = queries.size(-1) ** 0.5
        self.attention_weights = masked_softmax(queries @ keys.mT, valid_lens) / scale
        return self.dropout(self.attention_weights) @ values


# %% wrong_queries_in_place: queries divided in place, the argument is changed
# kind: mistake
# breaks: gradients, masking, modes, purity, values
# equals: dot-changes-the-queries

import math

import torch
from torch import nn

from grader.given import masked_softmax


class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        # scale the queries: there are fewer of them than scores
        queries /= math.sqrt(queries.shape[-1])
        scores = torch.bmm(queries, keys.transpose(1, 2))
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_torch_sqrt_of_int: torch.sqrt of an int
# kind: mistake
# breaks: shapes
# equals: nothing

import torch
from torch import nn

from grader.given import masked_softmax


class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        scores = torch.bmm(queries, keys.transpose(1, 2)) / torch.sqrt(d)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_always_causal: a causal mask always added
# kind: mistake
# breaks: defaults, gradients, masking, modes, values, weights
# equals: dot-also-causal

import math

import torch
from torch import nn

from grader.given import masked_softmax


class DotProductAttention(nn.Module):
    """softmax(QK^T / sqrt(d)) V as in the Transformer."""

    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        T, S = queries.size(1), keys.size(1)
        scores = torch.matmul(queries, keys.transpose(1, 2)) / math.sqrt(queries.size(2))
        # a query must not look into the future
        causal = torch.ones(T, S, dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~causal, -1e9)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.matmul(self.dropout(self.attention_weights), values)


# %% wrong_functional_dropout: F.dropout without the mode
# kind: mistake
# breaks: gradients, modes, values
# equals: dot-dropout-always

import math

import torch
from torch import nn

from grader.given import masked_softmax


class DotProductAttention(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.p = dropout

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        B, T, d = queries.shape
        # scores[b, t, s] = <q_t, k_s> / sqrt(d)
        scores = torch.einsum("btd,bsd->bts", queries, keys) / math.sqrt(d)
        w = masked_softmax(scores, valid_lens)
        self.attention_weights = w
        return torch.einsum("bts,bsv->btv", nn.functional.dropout(w, self.p), values)


# %% wrong_keys_not_transposed: bmm of the queries and the keys as they are
# kind: mistake
# breaks: modes, shapes, values, weights
# equals: dot-keys-not-transposed

import math

import torch
from torch import nn

from grader.given import masked_softmax


class DotProductAttention(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        scale = 1 / math.sqrt(keys.size(-1))
        raw = torch.bmm(queries, keys)  # bmm = batched matrix product
        self.attention_weights = masked_softmax(raw * scale, valid_lens)
        out = torch.bmm(self.drop(self.attention_weights), values)
        return out


# %% wrong_no_mask_and_dropped_weights: two mistakes: the lengths are not passed on, and the stored weights are those after dropout
# kind: mistake
# breaks: gradients, masking, values, weights
# equals: dot-lens-ignored+dot-keeps-dropped-weights

import torch
from torch import nn

from grader.given import masked_softmax


class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = keys.shape[2]
        scores = torch.matmul(queries, keys.permute(0, 2, 1)) / d**0.5
        self.attention_weights = self.dropout(masked_softmax(scores, None))
        return torch.matmul(self.attention_weights, values)


# %% wrong_power_before_division: d ** 1 / 2 is half of d, not its root
# kind: mistake
# breaks: defaults, gradients, values, weights
# equals: dot-scaled-by-half

import torch
from torch import nn

from grader.given import masked_softmax


class DotProductAttention(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        d = queries.shape[-1]
        root = d ** 1 / 2
        scores = queries @ keys.transpose(1, 2) / root
        # gives 7.31 for the example, so it should be ok
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.dropout(self.attention_weights) @ values
