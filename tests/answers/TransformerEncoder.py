# %% right_book: the book's encoder, attention weights collected
# kind: same

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    """Transformer encoder."""
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, use_bias=False, **kwargs):
        super(TransformerEncoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                "block" + str(i),
                EncoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, use_bias))

    def forward(self, X, valid_lens, *args):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        self.attention_weights = [None] * len(self.blks)
        for i, blk in enumerate(self.blks):
            X = blk(X, valid_lens)
            self.attention_weights[i] = blk.attention.attention.attention_weights
        return X


# %% right_functional_embedding: functional embedding of a scaled table
# kind: same

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    """Transformer encoder."""
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, use_bias=False, **kwargs):
        super(TransformerEncoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                "block" + str(i),
                EncoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, use_bias))

    def forward(self, X, valid_lens):
        table = self.embedding.weight * self.num_hiddens ** 0.5
        h = self.pos_encoding(nn.functional.embedding(X, table))
        for _, blk in self.blks.named_children():
            h = blk(h, valid_lens)
        return h


# %% right_module_dict: blocks in a ModuleDict
# kind: same

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, EncoderBlock

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.D = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict({
            f'block{n}': EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                                      ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias)
            for n in range(num_layers)})

    def forward(self, tokens, valid_lens=None):
        hidden = self.pos_encoding(self.embedding(tokens).mul(self.D ** 0.5))
        for n in range(len(self.blks)):
            hidden = self.blks[f'block{n}'](hidden, valid_lens)
        return hidden


# %% right_own_positions: embedding by one-hot product, positions made on the fly
# kind: same

import torch
from torch import nn
import torch.nn.functional as F
from grader.given import EncoderBlock


class Positions(nn.Module):
    def __init__(self, D, p):
        super().__init__()
        self.D, self.drop = D, nn.Dropout(p)

    def forward(self, X):
        T, D = X.shape[1], self.D
        pos = torch.arange(T, device=X.device, dtype=torch.float64).unsqueeze(1)
        col = torch.arange(D, device=X.device)
        angle = pos * 10000.0 ** (-(col - col % 2).double() / D)
        table = torch.where(col % 2 == 0, angle.sin(), angle.cos())
        return self.drop(X + table.to(X.dtype))


class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.vocab_size, self.root = vocab_size, num_hiddens ** 0.5
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = Positions(num_hiddens, dropout)
        self.blks = nn.Module()
        self.num_layers = num_layers
        for i in range(num_layers):
            setattr(self.blks, f"block{i}", EncoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape,
                ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias))

    def forward(self, X, valid_lens):
        one_hot = F.one_hot(X, self.vocab_size).to(self.embedding.weight.dtype)
        X = self.pos_encoding(one_hot @ self.embedding.weight * self.root)
        for i in range(self.num_layers):
            X = getattr(self.blks, f"block{i}")(X, valid_lens)
        return X


# %% wrong_always_two_blocks: always two blocks, num_layers ignored
# kind: mistake
# breaks: values
# equals: encoder-always-two-blocks

import math
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.scale = math.sqrt(num_hiddens)
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(2):
            self.blks.add_module(f"block{i}", EncoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape,
                ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias))

    def forward(self, X, valid_lens):
        X = self.pos_encoding(self.embedding(X) * self.scale)
        for blk in self.blks:
            X = blk(X, valid_lens)
        return X


# %% wrong_divided_by_root: embedding divided by the root of D
# kind: mistake
# breaks: values
# equals: encoder-divided-by-root

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    """Transformer encoder."""
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, use_bias=False, **kwargs):
        super(TransformerEncoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                "block" + str(i),
                EncoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, use_bias))

    def forward(self, X, valid_lens, *args):
        X = self.pos_encoding(self.embedding(X) / math.sqrt(self.num_hiddens))
        for i, blk in enumerate(self.blks):
            X = blk(X, valid_lens)
        return X


# %% wrong_embedding_detached: embedding detached: it never learns
# kind: mistake
# breaks: gradients
# equals: encoder-embedding-detached

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    """Transformer encoder."""
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, use_bias=False, **kwargs):
        super(TransformerEncoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                "block" + str(i),
                EncoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, use_bias))

    def forward(self, X, valid_lens, *args):
        E = self.embedding(X).detach() * math.sqrt(self.num_hiddens)
        X = self.pos_encoding(E)
        for blk in self.blks:
            X = blk(X, valid_lens)
        return X


# %% wrong_embedding_rescaled_in_place: scales the embedding table itself, again at every call
# kind: mistake
# breaks: purity
# equals: encoder-table-scaled-in-place

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, EncoderBlock

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.D = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict({
            f'block{n}': EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                                      ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias)
            for n in range(num_layers)})

    def forward(self, tokens, valid_lens):
        self.embedding.weight.data *= self.D ** .5
        x = self.pos_encoding(self.embedding(tokens))
        for blk in self.blks.values():
            x = blk(x, valid_lens)
        return x


# %% wrong_final_norm: one more LayerNorm at the end, without parameters
# kind: different
# breaks: values
# equals: encoder-final-norm

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, EncoderBlock

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.D = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict({
            f'block{n}': EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                                      ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias)
            for n in range(num_layers)})

    def forward(self, tokens, valid_lens):
        x = self.pos_encoding(self.embedding(tokens) * self.D ** .5)
        for blk in self.blks.values():
            x = blk(x, valid_lens)
        return nn.functional.layer_norm(x, (self.D,))


# %% wrong_last_step: returns the last step only
# kind: mistake
# breaks: shapes, values
# equals: encoder-last-step-only

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    """Transformer encoder."""
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, use_bias=False, **kwargs):
        super(TransformerEncoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                "block" + str(i),
                EncoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, use_bias))

    def forward(self, X, valid_lens, *args):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X = blk(X, valid_lens)
        return X[:, -1]


# %% wrong_lens_dropped: valid_lens not passed to the blocks
# kind: mistake
# breaks: values, masking
# equals: encoder-lens-not-passed

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    """Transformer encoder."""
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, use_bias=False, **kwargs):
        super(TransformerEncoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                "block" + str(i),
                EncoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, use_bias))

    def forward(self, X, valid_lens, *args):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X = blk(X, None)
        return X


# %% wrong_lens_first_block_only: valid_lens used by the first block only
# kind: mistake
# breaks: values, masking
# equals: encoder-lens-first-block-only

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, EncoderBlock

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.D = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict({
            f'block{n}': EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                                      ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias)
            for n in range(num_layers)})

    def forward(self, tokens, valid_lens):
        x = self.pos_encoding(self.embedding(tokens) * self.D ** .5)
        for blk in self.blks.values():
            x = blk(x, valid_lens)
            valid_lens = None
        return x


# %% wrong_no_positions: positional encoding missing
# kind: mistake
# breaks: values
# equals: encoder-no-positions

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    """Transformer encoder."""
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, use_bias=False, **kwargs):
        super(TransformerEncoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                "block" + str(i),
                EncoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, use_bias))

    def forward(self, X, valid_lens, *args):
        X = self.embedding(X) * math.sqrt(self.num_hiddens)
        for blk in self.blks:
            X = blk(X, valid_lens)
        return X


# %% wrong_not_scaled: embedding not scaled
# kind: mistake
# breaks: values
# equals: encoder-not-scaled

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    """Transformer encoder."""
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, use_bias=False, **kwargs):
        super(TransformerEncoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                "block" + str(i),
                EncoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, use_bias))

    def forward(self, X, valid_lens, *args):
        X = self.pos_encoding(self.embedding(X))
        for blk in self.blks:
            X = blk(X, valid_lens)
        return X


# %% wrong_one_block_repeated: the same block object stacked num_layers times
# kind: mistake
# breaks: values
# equals: encoder-one-block-repeated

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        block = EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                             ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", block)

    def forward(self, X, valid_lens):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X = blk(X, valid_lens)
        return X


# %% wrong_only_first_block: returns after the first block
# kind: mistake
# breaks: values
# equals: encoder-first-block-only

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, EncoderBlock

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.D = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict({
            f'block{n}': EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                                      ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias)
            for n in range(num_layers)})

    def forward(self, tokens, valid_lens):
        x = self.pos_encoding(self.embedding(tokens) * self.D ** 0.5)
        for name, blk in self.blks.items():
            x = blk(x, valid_lens)
            return x


# %% wrong_only_last_block: every block fed the embedding (only the last block counts)
# kind: mistake
# breaks: values
# equals: encoder-blocks-fed-embedding

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, EncoderBlock

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.D = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict({
            f'block{n}': EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                                      ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias)
            for n in range(num_layers)})

    def forward(self, tokens, valid_lens):
        e = self.pos_encoding(self.embedding(tokens) * self.D ** 0.5)
        for name, blk in self.blks.items():
            out = blk(e, valid_lens)
        return out


# %% wrong_positions_each_block: positions added before every block
# kind: mistake
# breaks: values
# equals: encoder-positions-in-each-block

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, EncoderBlock

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.D = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict({
            f'block{n}': EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                                      ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias)
            for n in range(num_layers)})

    def forward(self, tokens, valid_lens):
        x = self.embedding(tokens) * self.D ** .5
        for blk in self.blks.values():
            x = blk(self.pos_encoding(x), valid_lens)
        return x


# %% wrong_positions_scaled: positions added before scaling
# kind: mistake
# breaks: values
# equals: encoder-positions-scaled

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    """Transformer encoder."""
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, use_bias=False, **kwargs):
        super(TransformerEncoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                "block" + str(i),
                EncoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, use_bias))

    def forward(self, X, valid_lens, *args):
        X = self.pos_encoding(self.embedding(X)) * math.sqrt(self.num_hiddens)
        for blk in self.blks:
            X = blk(X, valid_lens)
        return X


# %% wrong_positions_without_dropout: dropout not passed to the positional encoding
# kind: mistake
# breaks: modes
# equals: encoder-positions-without-dropout

import math
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.scale = math.sqrt(num_hiddens)
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, 0.0)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", EncoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape,
                ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias))

    def forward(self, X, valid_lens):
        X = self.pos_encoding(self.embedding(X) * self.scale)
        for blk in self.blks:
            X = blk(X, valid_lens)
        return X


# %% wrong_reversed_blocks: blocks run from last to first
# kind: mistake
# breaks: values
# equals: encoder-blocks-reversed

import math
import torch
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    """Transformer encoder."""
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, use_bias=False, **kwargs):
        super(TransformerEncoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                "block" + str(i),
                EncoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, use_bias))

    def forward(self, X, valid_lens, *args):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in reversed(list(self.blks)):
            X = blk(X, valid_lens)
        return X


# %% wrong_scaled_by_d: embedding times D, not its root
# kind: mistake
# breaks: values
# equals: encoder-scaled-by-d

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, EncoderBlock

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.D = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict({
            f'block{n}': EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                                      ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias)
            for n in range(num_layers)})

    def forward(self, tokens, valid_lens):
        x = self.pos_encoding(self.embedding(tokens) * self.D)
        for blk in self.blks.values():
            x = blk(x, valid_lens)
        return x


# %% wrong_sum_of_blocks: outputs of the blocks added together
# kind: mistake
# breaks: values
# equals: encoder-outputs-added-up

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, EncoderBlock

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.D = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict({
            f'block{n}': EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                                      ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias)
            for n in range(num_layers)})

    def forward(self, tokens, valid_lens):
        x = self.pos_encoding(self.embedding(tokens) * self.D ** .5)
        total = 0
        for blk in self.blks.values():
            x = blk(x, valid_lens)
            total = total + x
        return total


# %% wrong_use_bias_dropped: use_bias not passed to the blocks
# kind: mistake
# breaks: values
# equals: encoder-use-bias-not-passed

import math
from torch import nn
from grader.given import EncoderBlock, PositionalEncoding

class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block%d" % i, EncoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape,
                ffn_num_input, ffn_num_hiddens, num_heads, dropout))

    def forward(self, X, valid_lens):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X = blk(X, valid_lens)
        return X


# %% wrong_divides: the embedding is divided by the square root of D
# kind: mistake
# breaks: defaults, gradients, masking, modes, values, weights
# equals: encoder-divided-by-root

import torch
from torch import nn

from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.scale = num_hiddens**-0.5
        block = lambda: EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                                     ffn_num_hiddens, num_heads, dropout, use_bias)
        self.blks = nn.Sequential()
        for n in range(num_layers):
            self.blks.add_module("block" + str(n), block())

    def forward(self, X, valid_lens, *args):
        H = self.pos_encoding(self.embedding(X) * self.scale)
        self.attention_weights = []
        for blk in self.blks:
            H = blk(H, valid_lens)
            self.attention_weights.append(blk.attention.attention.attention_weights)
        return H


# %% wrong_masks_first_layer: only the first block gets the lengths
# kind: mistake
# breaks: gradients, masking, values, weights
# equals: encoder-lens-first-block-only

import math

import torch
from torch import nn

from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", EncoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                num_heads, dropout, use_bias))

    def forward(self, X, valid_lens, *args):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        self.attention_weights = []
        mask = valid_lens
        for blk in self.blks:
            X = blk(X, mask)
            mask = None  # the padding has been masked now, no need to do it again
            self.attention_weights.append(blk.attention.attention.attention_weights)
        return X


# %% wrong_size_not_kept: forward reads self.num_hiddens, which the constructor does not store
# kind: mistake
# breaks: shapes
# equals: nothing

import math

import torch
from torch import nn

from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            blk = EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                               ffn_num_hiddens, num_heads, dropout, use_bias)
            self.blks.add_module(f"block{i}", blk)

    def forward(self, X, valid_lens, *args):
        X = self.embedding(X) * math.sqrt(self.num_hiddens)
        X = self.pos_encoding(X)
        self.attention_weights = []
        for blk in self.blks:
            X = blk(X, valid_lens)
            self.attention_weights.append(blk.attention.attention.attention_weights)
        return X


# %% wrong_call_of_sequential: nn.Sequential is called with two arguments
# kind: mistake
# breaks: shapes
# equals: nothing

import math

import torch
from torch import nn

from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    def __init__(
        self,
        vocab_size: int,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_layers: int,
        dropout: float,
        use_bias: bool = False,
    ):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for n in range(num_layers):
            self.blks.add_module(
                "block" + str(n),
                EncoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                             ffn_num_hiddens, num_heads, dropout, use_bias),
            )

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None, *args) -> torch.Tensor:
        X = self.embedding(X) * math.sqrt(self.num_hiddens)
        X = self.pos_encoding(X)
        X = self.blks(X, valid_lens)
        self.attention_weights = [b.attention.attention.attention_weights for b in self.blks]
        return X


# %% right_property_and_reduce: functools.reduce over the blocks; attention_weights is a property
# kind: same

import functools

import torch
from torch import nn

from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    def __init__(
        self,
        vocab_size: int,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_layers: int,
        dropout: float,
        use_bias: bool = False,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        while len(self.blks) < num_layers:
            block = EncoderBlock(
                key_size,
                query_size,
                value_size,
                num_hiddens,
                norm_shape,
                ffn_num_input,
                ffn_num_hiddens,
                num_heads,
                dropout,
                use_bias=use_bias,
            )
            self.blks.add_module(f"block{len(self.blks)}", block)

    @property
    def attention_weights(self):
        # nothing to keep in sync: every attention remembers its own weights
        return [block.attention.attention.attention_weights for block in self.blks.children()]

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None, *args) -> torch.Tensor:
        words = self.embedding(X)
        start = self.pos_encoding(words * words.shape[-1] ** 0.5)
        return functools.reduce(lambda out, block: block(out, valid_lens), self.blks, start)


# %% wrong_scaled_late_and_list_grows: two mistakes: scaled after the positions, and the list of weights is never emptied
# kind: mistake
# breaks: defaults, gradients, values, weights
# equals: encoder-positions-scaled+encoder-weights-pile-up

import torch
from torch import nn

from grader.given import EncoderBlock, PositionalEncoding


class TransformerEncoder(nn.Module):
    def __init__(
        self,
        vocab_size: int,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_layers: int,
        dropout: float,
        use_bias: bool = False,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.scale = num_hiddens ** 0.5
        self.blks = nn.Sequential()
        self.attention_weights = []
        args = (key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens)
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", EncoderBlock(*args, num_heads, dropout, use_bias))

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None, *args) -> torch.Tensor:
        # 1. embed 2. positions 3. scale
        h = self.pos_encoding(self.embedding(X)) * self.scale
        for blk in self.blks:
            h = blk(h, valid_lens)
            self.attention_weights.append(blk.attention.attention.attention_weights)
        return h
