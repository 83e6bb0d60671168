# %% right_bias_on_score_layer: a bias on w_v, which adds the same number to every score
# kind: same

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1)      # its bias cancels in the softmax
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(f).squeeze(-1), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% right_book: the book's additive attention
# kind: same

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    """Additive attention."""
    def __init__(self, key_size, query_size, num_hiddens, dropout, **kwargs):
        super(AdditiveAttention, self).__init__(**kwargs)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        # After dimension expansion, shape of queries:
        # (batch_size, no. of queries, 1, num_hiddens), of keys:
        # (batch_size, 1, no. of key-value pairs, num_hiddens)
        features = queries.unsqueeze(2) + keys.unsqueeze(1)
        features = torch.tanh(features)
        scores = self.w_v(features).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% right_concatenated_inputs: joins query and key and multiplies by the joined matrix
# kind: same

import torch
import torch.nn.functional as F
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    """W_q q + W_k k is [W_q W_k] applied to the concatenation."""
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.p = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, _ = queries.shape
        S = keys.shape[1]
        pairs = torch.cat([queries[:, :, None].expand(B, T, S, -1),
                           keys[:, None].expand(B, T, S, -1)], dim=-1)
        W = torch.cat([self.W_q.weight, self.W_k.weight], dim=1)
        scores = self.w_v(F.linear(pairs, W).tanh()).view(B, T, S)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return F.dropout(self.attention_weights, self.p, self.training) @ values


# %% right_einsum: broadcast, tanh, einsum with the vector of w_v
# kind: same

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        q = torch.einsum('btq,hq->bth', queries, self.W_q.weight)
        k = torch.einsum('bsk,hk->bsh', keys, self.W_k.weight)
        h = torch.tanh(q[:, :, None, :] + k[:, None, :, :])
        scores = torch.einsum('btsh,h->bts', h, self.w_v.weight[0])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.einsum('bts,bsv->btv', self.dropout(self.attention_weights), values)


# %% right_loop_over_queries: scores one query at a time
# kind: same

import torch
from torch import nn

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        K = self.W_k(keys)                                     # (B, S, h)
        columns = torch.arange(keys.shape[1], device=keys.device)
        weights = []
        for t in range(queries.shape[1]):
            q = self.W_q(queries[:, t:t + 1])                  # (B, 1, h)
            s = self.w_v(torch.tanh(K + q)).squeeze(2)         # (B, S)
            if valid_lens is not None:
                n = valid_lens if valid_lens.dim() == 1 else valid_lens[:, t]
                s = s.masked_fill(columns >= n.unsqueeze(1), float('-inf'))
            weights.append(torch.softmax(s, dim=1))
        self.attention_weights = torch.stack(weights, dim=1)   # (B, T, S)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% right_own_softmax: own mask and softmax, tanh written with exponentials
# kind: same

import torch
from torch import nn

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.drop = nn.Dropout(dropout)

    @staticmethod
    def my_tanh(x):
        return 2 * torch.sigmoid(2 * x) - 1

    def forward(self, queries, keys, values, valid_lens=None):
        scores = self.w_v(self.my_tanh(self.W_q(queries).unsqueeze(-2) + self.W_k(keys).unsqueeze(-3)))[..., 0]
        if valid_lens is not None:
            valid_lens = valid_lens.reshape(len(queries), -1, 1)
            hidden = torch.arange(keys.shape[1], device=keys.device) >= valid_lens
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        self.attention_weights = scores.softmax(dim=-1)
        return self.drop(self.attention_weights) @ values


# %% wrong_axes_swapped: unsqueeze axes swapped
# kind: mistake
# breaks: values, gradients
# equals: additive-axes-exchanged

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = torch.tanh(queries.unsqueeze(1) + keys.unsqueeze(2))
        scores = self.w_v(features).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_bias_left_on: bias left on
# kind: different
# breaks: values, gradients
# equals: additive-with-biases

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens)
        self.W_q = nn.Linear(query_size, num_hiddens)
        self.w_v = nn.Linear(num_hiddens, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(f).squeeze(-1), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_dropout_on_features: dropout on the tanh features instead of the weights
# kind: mistake
# breaks: modes
# equals: additive-dropout-on-scores

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(self.dropout(f)).squeeze(-1), valid_lens)
        return torch.bmm(self.attention_weights, values)


# %% wrong_dropout_on_output: dropout on the output instead of the weights
# kind: mistake
# breaks: modes
# equals: additive-dropout-on-result

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(f).squeeze(-1), valid_lens)
        return self.dropout(torch.bmm(self.attention_weights, values))


# %% wrong_extra_scaling: extra 1/sqrt(d) scaling
# kind: different
# breaks: values, gradients
# equals: additive-also-scaled

import math
import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.scale = math.sqrt(num_hiddens)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        scores = self.w_v(f).squeeze(-1) / self.scale
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_keeps_dropped_weights: stores the dropped-out weights
# kind: policy
# breaks: weights
# equals: additive-keeps-dropped-weights

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = self.dropout(masked_softmax(self.w_v(f).squeeze(-1), valid_lens))
        return self.attention_weights @ values


# %% wrong_lens_not_passed: valid_lens not passed to the softmax
# kind: mistake
# breaks: masking
# equals: additive-lens-ignored

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(f).squeeze(-1), None)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_mixes_projected_keys: returns a mix of projected keys, values ignored
# kind: mistake
# breaks: shapes, values
# equals: additive-mixes-projected-keys

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(features).squeeze(-1), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), keys)


# %% wrong_no_tanh: tanh missing
# kind: mistake
# breaks: values, gradients
# equals: additive-no-tanh

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout, **kwargs):
        super(AdditiveAttention, self).__init__(**kwargs)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = queries.unsqueeze(2) + keys.unsqueeze(1)
        scores = self.w_v(features).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_product_of_features: multiplies query and key features instead of adding them
# kind: mistake
# breaks: values, gradients
# equals: additive-multiplies

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries)[:, :, None] * self.W_k(keys)[:, None])
        self.attention_weights = masked_softmax(self.w_v(f)[..., 0], valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_queries_not_used: scores depend on the keys only
# kind: mistake
# breaks: values, gradients
# equals: additive-bent-apart

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        T = self.W_q(queries).shape[1]
        k = self.W_k(keys).unsqueeze(1).repeat(1, T, 1, 1)
        scores = self.w_v(torch.tanh(k)).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_relu: ReLU instead of tanh
# kind: different
# breaks: values, gradients
# equals: additive-relu

import torch
import torch.nn.functional as F
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        hidden = F.relu(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(hidden).squeeze(-1), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_sigmoid: sigmoid instead of tanh
# kind: different
# breaks: values, gradients
# equals: additive-sigmoid

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.act = nn.Sigmoid()

    def forward(self, queries, keys, values, valid_lens=None):
        hidden = self.act(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(hidden).squeeze(-1), valid_lens)
        return self.dropout(self.attention_weights) @ values


# %% wrong_sizes_swapped: key_size and query_size swapped
# kind: mistake
# breaks: values
# equals: additive-sizes-exchanged

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(f).squeeze(-1), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_softmax_over_queries: normalises over the queries
# kind: mistake
# breaks: values, gradients
# equals: nothing

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        scores = self.w_v(f).squeeze(-1)
        self.attention_weights = torch.softmax(scores, dim=1)
        if valid_lens is not None:
            self.attention_weights = self.attention_weights * (masked_softmax(scores, valid_lens) > 0)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_squeeze_without_dim: squeeze() without a dim
# kind: mistake
# breaks: shapes
# equals: additive-squeeze-everything

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        q = self.W_q(queries)[:, :, None, :]
        k = self.W_k(keys)[:, None, :, :]
        scores = self.w_v(torch.tanh(q + k)).squeeze()
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_sum_instead_of_w_v: adds the features up and never uses w_v
# kind: mistake
# breaks: values, gradients
# equals: additive-features-summed

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(f.sum(dim=-1), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_tanh_each_side: tanh on queries and keys before they are added
# kind: mistake
# breaks: values, gradients
# equals: additive-bent-apart

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        q, k = torch.tanh(self.W_q(queries)), torch.tanh(self.W_k(keys))
        scores = self.w_v(q.unsqueeze(2) + k.unsqueeze(1)).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_tanh_outside: tanh around the score instead of inside
# kind: mistake
# breaks: values, gradients
# equals: additive-tanh-too-late

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        features = self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1)
        scores = torch.tanh(self.w_v(features)).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_weights_detached: detaches the weights, so only the values get a gradient
# kind: mistake
# breaks: gradients
# equals: additive-scores-detached

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        f = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(f).squeeze(-1), valid_lens).detach()
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_squeeze_all: squeeze() without dim
# kind: mistake
# breaks: shapes
# equals: additive-squeeze-everything

import torch
from torch import nn

from grader.given import masked_softmax


class AdditiveAttention(nn.Module):
    """Additive attention."""

    def __init__(self, key_size, query_size, num_hiddens, dropout, **kwargs):
        super(AdditiveAttention, self).__init__(**kwargs)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = queries.unsqueeze(2) + keys.unsqueeze(1)
        features = torch.tanh(features)
        scores = self.w_v(features).squeeze()
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_bias: layers with bias (bias=False forgotten)
# kind: mistake
# breaks: defaults, gradients, masking, purity, values, weights
# equals: additive-with-biases

import torch
import torch.nn as nn

from grader.given import masked_softmax


class AdditiveAttention(nn.Module):
    """Bahdanau attention: w_v^T tanh(W_q q + W_k k)."""

    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens)
        self.W_q = nn.Linear(query_size, num_hiddens)
        self.w_v = nn.Linear(num_hiddens, 1)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        # (B, T, 1, h) + (B, 1, S, h) -> (B, T, S, h)
        pre_activation = self.W_q(queries).unsqueeze(-2) + self.W_k(keys).unsqueeze(-3)
        energies = self.w_v(pre_activation.tanh()).squeeze(-1)
        self.attention_weights = masked_softmax(energies, valid_lens)
        context = torch.einsum("bts,bsv->btv", self.dropout(self.attention_weights), values)
        return context


# %% wrong_mask_in_training_only: padding masked in training mode only
# kind: mistake
# breaks: defaults, gradients, masking, values, weights
# equals: additive-lens-ignored

import torch
from torch import nn

from grader.given import masked_softmax


class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        q = self.W_q(queries).unsqueeze(2)
        k = self.W_k(keys).unsqueeze(1)
        scores = self.w_v(torch.tanh(q + k)).squeeze(-1)
        if self.training:
            # batches of training data contain padding
            weights = masked_softmax(scores, valid_lens)
        else:
            weights = torch.softmax(scores, dim=-1)
        self.attention_weights = weights
        return torch.bmm(self.dropout(weights), values)


# %% wrong_detached_weights: the detached weights kept for inspection are used for the result, gradients cut
# kind: mistake
# breaks: gradients
# equals: additive-scores-detached

import torch
from torch import nn

from grader.given import masked_softmax


class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        queries = self.W_q(queries)
        keys = self.W_k(keys)
        features = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))
        scores = self.w_v(features).squeeze(-1)
        # keep the weights for plotting; detach, so that no graph is kept alive
        self.attention_weights = masked_softmax(scores, valid_lens).detach()
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_axes_exchanged: queries and keys on exchanged axes, scores (B, S, T)
# kind: mistake
# breaks: modes, shapes, values
# equals: additive-axes-exchanged

import torch
from torch import nn

from grader.given import masked_softmax


class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        # expand dims, then sum up with broadcasting
        features = queries.unsqueeze(1) + keys.unsqueeze(2)
        features = torch.tanh(features)
        scores = self.w_v(features).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_three_biases: the three layers keep their default bias
# kind: different
# breaks: defaults, gradients, purity, values, weights
# equals: additive-with-biases

import torch
from torch import nn

from grader.given import masked_softmax


class AdditiveAttention(nn.Module):
    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens)
        self.W_q = nn.Linear(query_size, num_hiddens)
        self.w_v = nn.Linear(num_hiddens, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        queries, keys = self.W_q(queries), self.W_k(keys)
        hidden = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))  # (B, T, S, h)
        scores = self.w_v(hidden).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% wrong_dropout_without_self: the dropout layer is a local variable of the constructor
# kind: mistake
# breaks: shapes
# equals: nothing

import torch
from torch import nn

from grader.given import masked_softmax


class AdditiveAttention(nn.Module):
    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        linear = lambda n, m: nn.Linear(n, m, bias=False)
        self.W_k = linear(key_size, num_hiddens)
        self.W_q = linear(query_size, num_hiddens)
        self.w_v = linear(num_hiddens, 1)
        dropout = nn.Dropout(dropout)

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        Q = self.W_q(queries).unsqueeze(2)
        K = self.W_k(keys).unsqueeze(1)
        scores = self.w_v(torch.tanh(Q + K)).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


# %% right_concatenated_pairs: query and key are concatenated, and so are the weights of their layers
# kind: same

import torch
from torch import nn

from grader.given import masked_softmax


class AdditiveAttention(nn.Module):
    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        B, T, q = queries.shape
        S, k = keys.shape[1:]
        # Bahdanau draws it as [q; k] going into one hidden layer, so do exactly that
        pairs = torch.cat(
            [queries[:, :, None, :].expand(B, T, S, q), keys[:, None, :, :].expand(B, T, S, k)], dim=-1
        )
        big_W = torch.cat([self.W_q.weight, self.W_k.weight], dim=1)  # (h, q + k)
        hidden = torch.tanh(nn.functional.linear(pairs, big_W))
        self.attention_weights = masked_softmax((hidden * self.w_v.weight[0]).sum(-1), valid_lens)
        return self.dropout(self.attention_weights).matmul(values)


# %% wrong_query_and_key_axes_swapped: the new axes of queries and keys are exchanged
# kind: mistake
# breaks: modes, shapes, values
# equals: additive-axes-exchanged

import torch
from torch import nn

from grader.given import masked_softmax


class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.drop = nn.Dropout(dropout)
        self.attention_weights = None

    def forward(self, queries, keys, values, valid_lens=None):
        q = self.W_q(queries)[:, None, :, :]
        k = self.W_k(keys)[:, :, None, :]
        features = torch.tanh(q + k)
        scores = self.w_v(features)[..., 0]
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.drop(self.attention_weights) @ values


# %% wrong_tanh_before_the_sum: tanh on each projection instead of on their sum
# kind: mistake
# breaks: defaults, gradients, values, weights
# equals: additive-bent-apart

import torch
from torch import nn

from grader.given import masked_softmax


class AdditiveAttention(nn.Module):
    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(p=dropout)

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        # hidden layer for both inputs
        hidden_q = self.W_q(queries).tanh()
        hidden_k = self.W_k(keys).tanh()
        pairs = hidden_q.unsqueeze(2) + hidden_k.unsqueeze(1)
        a = self.w_v(pairs).squeeze(dim=3)
        self.attention_weights = masked_softmax(a, valid_lens)
        return torch.einsum("bts,bsv->btv", self.dropout(self.attention_weights), values)
