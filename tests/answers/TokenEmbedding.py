# %% right_book: a subclass with padding_idx=1
# kind: same

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super(TokenEmbedding, self).__init__(vocab_size, d_model, padding_idx=1)


# %% right_functional: own parameter, functional look-up
# kind: same

import torch
import torch.nn.functional as F
from torch import nn

class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight)
        with torch.no_grad():
            self.weight[1].fill_(0)

    def forward(self, tokens):
        return F.embedding(tokens, self.weight, padding_idx=1)


# %% right_hook: padding gradient blanked by a hook
# kind: same

import torch
from torch import nn

class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        start = torch.randn(vocab_size, d_model)
        start[1] = 0.
        self.weight = nn.Parameter(start)
        self.weight.register_hook(self.blank)

    @staticmethod
    def blank(grad):
        grad = grad.clone()
        grad[1] = 0
        return grad

    def forward(self, tokens):
        return self.weight[tokens]


# %% right_keyword: keyword arguments
# kind: same

import torch.nn as nn

class TokenEmbedding(nn.Embedding):
    """Rows of a (V, D) table; row 1 stands for padding and is never trained."""

    PAD = 1

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__(num_embeddings=vocab_size, embedding_dim=d_model, padding_idx=self.PAD)


# %% right_one_hot: one-hot product, padding looked up without gradient
# kind: same

import torch
import torch.nn.functional as F
from torch import nn

class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.vocab_size = vocab_size
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.weight.data[1] = 0

    def forward(self, tokens):
        is_pad = (torch.arange(self.vocab_size, device=tokens.device) == 1).unsqueeze(1)
        table = torch.where(is_pad, self.weight.detach(), self.weight)
        return F.one_hot(tokens, self.vocab_size).to(table.dtype) @ table


# %% wrong_detached: looked up in weight.data: no gradient
# kind: mistake
# breaks: gradients
# equals: emb-detached

import torch
from torch import nn

class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        w = torch.randn(vocab_size, d_model)
        w[1] = 0
        self.weight = nn.Parameter(w)

    def forward(self, x):
        return self.weight.data[x]


# %% wrong_flattened: batch and steps flattened
# kind: mistake
# breaks: shapes, values
# equals: emb-flattened

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1)

    def forward(self, tokens):
        return super().forward(tokens.reshape(-1))


# %% wrong_max_norm: max_norm=1: rows shortened
# kind: mistake
# breaks: values
# equals: emb-rows-shortened

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1, max_norm=1.0)


# %% wrong_no_padding_idx: no padding_idx
# kind: mistake
# breaks: gradients
# equals: emb-no-padding

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model)


# %% wrong_padding_idx_last: padding_idx=-1: the last token
# kind: mistake
# breaks: gradients
# equals: emb-padding-is-last

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        nn.Embedding.__init__(self, vocab_size, d_model, padding_idx=-1)


# %% wrong_padding_idx_zero: padding_idx=0
# kind: mistake
# breaks: gradients
# equals: emb-padding-is-zero

from torch import nn

class TokenEmbedding(nn.Embedding):
    """Token embedding; token 0 is the padding."""
    def __init__(self, vocab_size, d_model):
        super(TokenEmbedding, self).__init__(vocab_size, d_model, padding_idx=0)


# %% wrong_scale_grad_by_freq: gradients divided by the token counts
# kind: mistake
# breaks: gradients
# equals: emb-gradient-by-frequency

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1, scale_grad_by_freq=True)


# %% wrong_scaled: scaled by the root of d_model
# kind: different
# breaks: values
# equals: emb-scaled

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1)
        self.scale = d_model ** 0.5

    def forward(self, tokens):
        return super().forward(tokens) * self.scale


# %% wrong_shifted_ids: looks up the token after the one asked for
# kind: mistake
# breaks: values
# equals: emb-next-row

import torch.nn.functional as F
from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1)

    def forward(self, tokens):
        # ids start at 1
        return F.embedding((tokens + 1) % self.num_embeddings, self.weight, padding_idx=1)


# %% wrong_sizes_swapped: vocab_size and d_model swapped
# kind: mistake
# breaks: values
# equals: emb-sizes-swapped

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(d_model, vocab_size, padding_idx=1)


# %% wrong_tokens_overwritten: padding tokens rewritten in the caller's tensor
# kind: mistake
# breaks: purity
# equals: emb-tokens-changed

import torch.nn.functional as F
from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1)

    def forward(self, tokens):
        out = F.embedding(tokens, self.weight, self.padding_idx)
        tokens[tokens == self.padding_idx] = 0
        return out


# %% wrong_transposed_output: features before steps
# kind: mistake
# breaks: shapes, values
# equals: emb-features-before-steps

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1)

    def forward(self, tokens):
        return super().forward(tokens).transpose(-1, -2)


# %% wrong_zeroed_once: padding row set to zero once, but trained
# kind: mistake
# breaks: gradients
# equals: emb-padding-zero-once

import torch
from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model)
        with torch.no_grad():
            self.weight[1] = 0.


# %% wrong_swapped_sizes: the two sizes are handed to the base class in the wrong order
# kind: mistake
# breaks: gradients, purity, shapes, values
# equals: emb-sizes-swapped

import torch
from torch import nn


class TokenEmbedding(nn.Embedding):
    """Token embedding with token 1 as padding."""

    def __init__(self, vocab_size: int, d_model: int):
        super(TokenEmbedding, self).__init__(d_model, vocab_size, padding_idx=1)


# %% wrong_times_sqrt: forward multiplies the vectors by the square root of d_model
# kind: mistake
# breaks: gradients, values
# equals: emb-scaled

import math

import torch
from torch import nn


class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1)
        self.emb_size = d_model

    def forward(self, tokens):
        return super().forward(tokens.long()) * math.sqrt(self.emb_size)


# %% wrong_only_zeroed: the row of padding is set to zero once, without padding_idx
# kind: mistake
# breaks: gradients
# equals: emb-padding-zero-once

import torch
from torch import nn


class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size: int, d_model: int):
        super().__init__(num_embeddings=vocab_size, embedding_dim=d_model)
        # token 1 is padding -> zero row
        with torch.no_grad():
            self.weight[1].zero_()
