# %% right_book: positions restart at 0 at every decoding step
# kind: same

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        self._attention_weights = [[None] * len(self.blks) for _ in range (2)]
        for i, blk in enumerate(self.blks):
            X, state = blk(X, state)
            # Decoder self-attention weights
            self._attention_weights[0][i] = blk.attention1.attention.attention_weights
            # Encoder-decoder attention weights
            self._attention_weights[1][i] = blk.attention2.attention.attention_weights
        return self.dense(X), state

    @property
    def attention_weights(self):
        return self._attention_weights


# %% right_counter_in_state: positions continue, a counter rides as a fourth entry of the state
# kind: same

import torch
from torch import nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN, PositionalEncoding


class Block(nn.Module):
    def __init__(self, sizes, norm_shape, ffn_num_input, ffn_num_hiddens, i):
        super().__init__()
        D, dropout = sizes[3], sizes[5]
        self.i = i
        self.attention1, self.attention2 = MultiHeadAttention(*sizes), MultiHeadAttention(*sizes)
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, D)

    def forward(self, X, state):
        lens, kv = None, X
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        else:
            if state[2][self.i] is not None:
                kv = torch.cat((state[2][self.i], X), dim=1)
            state[2][self.i] = kv
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, state[0], state[0], state[1]))
        return self.addnorm3(Z, self.ffn(Z)), state


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.num_layers, self.D = num_layers, num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", Block(sizes, norm_shape, ffn_num_input, ffn_num_hiddens, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers, 0]

    def forward(self, tokens, state):
        n = state[3]
        e = nn.functional.embedding(tokens, self.embedding.weight) * self.D ** 0.5
        x = nn.functional.pad(e, (0, 0, n, 0))
        x = self.pos_encoding(x)[:, n:]
        for blk in self.blks:
            x, state = blk(x, state)
        if not self.training:
            state[3] = n + tokens.shape[1]
        return nn.functional.linear(x, self.dense.weight, self.dense.bias), state


# %% right_module_dict: blocks in a ModuleDict, no attention weights stored
# kind: same

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, DecoderBlock

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.L, self.root = num_layers, num_hiddens ** 0.5
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict()
        for n in range(num_layers):
            self.blks[f'block{n}'] = DecoderBlock(
                key_size=key_size, query_size=query_size, value_size=value_size, num_hiddens=num_hiddens,
                norm_shape=norm_shape, ffn_num_input=ffn_num_input, ffn_num_hiddens=ffn_num_hiddens,
                num_heads=num_heads, dropout=dropout, i=n)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None for _ in range(self.L)]]

    def forward(self, tokens, state):
        x = self.pos_encoding(self.embedding(tokens) * self.root)
        for blk in self.blks.values():
            x, state = blk(x, state)
        return self.dense(x), state


# %% right_positions_continue: positions continue while decoding, read off the cache
# kind: same

import torch
from torch import nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN, PositionalEncoding


class Block(nn.Module):
    def __init__(self, sizes, norm_shape, ffn_num_input, ffn_num_hiddens, i):
        super().__init__()
        D, dropout = sizes[3], sizes[5]
        self.i = i
        self.attention1, self.attention2 = MultiHeadAttention(*sizes), MultiHeadAttention(*sizes)
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, D)

    def forward(self, X, state):
        lens, kv = None, X
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        else:
            if state[2][self.i] is not None:
                kv = torch.cat((state[2][self.i], X), dim=1)
            state[2][self.i] = kv
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, state[0], state[0], state[1]))
        return self.addnorm3(Z, self.ffn(Z)), state


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.num_layers, self.D = num_layers, num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", Block(sizes, norm_shape, ffn_num_input, ffn_num_hiddens, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.embedding(X) * self.D ** 0.5
        past = state[2][0]
        n = 0 if self.training or past is None else past.shape[1]
        X = self.pos_encoding(torch.cat((X.new_zeros(X.shape[0], n, X.shape[2]), X), dim=1))[:, n:]
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


# %% right_whole_prefix: tokens stored in the state, the whole prefix computed again at each step
# kind: same

import torch
from torch import nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN, PositionalEncoding


class Block(nn.Module):
    def __init__(self, sizes, norm_shape, ffn_num_input, ffn_num_hiddens, i):
        super().__init__()
        D, dropout = sizes[3], sizes[5]
        self.i = i
        self.attention1, self.attention2 = MultiHeadAttention(*sizes), MultiHeadAttention(*sizes)
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, D)

    def forward(self, X, state):
        lens, kv = None, X
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        else:
            if state[2][self.i] is not None:
                kv = torch.cat((state[2][self.i], X), dim=1)
            state[2][self.i] = kv
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, state[0], state[0], state[1]))
        return self.addnorm3(Z, self.ffn(Z)), state


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.num_layers, self.D = num_layers, num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", Block(sizes, norm_shape, ffn_num_input, ffn_num_hiddens, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers, None]

    def run(self, tokens, enc_outputs, enc_valid_lens):
        X = self.pos_encoding(self.embedding(tokens) * self.D ** 0.5)
        causal = torch.arange(1, tokens.shape[1] + 1, device=tokens.device).repeat(len(tokens), 1)
        for blk in self.blks:
            Y = blk.addnorm1(X, blk.attention1(X, X, X, causal))
            Z = blk.addnorm2(Y, blk.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
            X = blk.addnorm3(Z, blk.ffn(Z))
        return self.dense(X)

    def forward(self, tokens, state):
        enc_outputs, enc_valid_lens, unused, prefix = state
        if self.training:
            return self.run(tokens, enc_outputs, enc_valid_lens), state
        prefix = tokens if prefix is None else torch.cat((prefix, tokens), dim=1)
        logits = self.run(prefix, enc_outputs, enc_valid_lens)[:, -tokens.shape[1]:]
        return logits, [enc_outputs, enc_valid_lens, unused, prefix]


# %% wrong_all_slot_zero: every block built with i=0
# kind: mistake
# breaks: modes
# equals: decoder-blocks-share-a-slot

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.num_hiddens, self.num_layers = num_hiddens, num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for n in range(num_layers):
            self.blks.add_module(f"block{n}", DecoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape,
                ffn_num_input, ffn_num_hiddens, num_heads, dropout, i=0))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            if self.training:
                X, _ = blk(X, [state[0], state[1], [None]])
            else:
                X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_argmax: returns the chosen tokens instead of the logits
# kind: mistake
# breaks: shapes, values
# equals: decoder-returns-words

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, DecoderBlock

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.L, self.root = num_layers, num_hiddens ** 0.5
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict()
        for n in range(num_layers):
            self.blks[f'block{n}'] = DecoderBlock(
                key_size=key_size, query_size=query_size, value_size=value_size, num_hiddens=num_hiddens,
                norm_shape=norm_shape, ffn_num_input=ffn_num_input, ffn_num_hiddens=ffn_num_hiddens,
                num_heads=num_heads, dropout=dropout, i=n)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None for _ in range(self.L)]]

    def forward(self, tokens, state):
        x = self.pos_encoding(self.embedding(tokens) * self.root)
        for blk in self.blks.values():
            x, state = blk(x, state)
        return self.dense(x).argmax(-1), state


# %% wrong_cache_renewed: forward empties the caches at every call, so decoding step by step forgets earlier tokens
# kind: mistake
# breaks: modes
# equals: decoder-cache-renewed

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        state = self.init_state(state[0], state[1])
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_default_argument_cache: cache list as a default argument, stored between calls
# kind: mistake
# breaks: modes
# equals: decoder-state-shared

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, cache={}):
        layers = cache.setdefault(id(self), [None] * self.num_layers)
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers if self.training else layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_encoder_detached: init_state detaches the encoder outputs
# kind: mistake
# breaks: gradients
# equals: decoder-encoder-detached

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs.detach(), enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_extra_dropout: dropout of the hidden states before dense
# kind: mistake
# breaks: modes
# equals: decoder-dropout-before-scores

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.dropout = nn.Dropout(dropout)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(self.dropout(X)), state


# %% wrong_last_step_only: logits of the last step only
# kind: mistake
# breaks: shapes, values
# equals: decoder-last-step-only

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, DecoderBlock

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.L, self.root = num_layers, num_hiddens ** 0.5
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict()
        for n in range(num_layers):
            self.blks[f'block{n}'] = DecoderBlock(
                key_size=key_size, query_size=query_size, value_size=value_size, num_hiddens=num_hiddens,
                norm_shape=norm_shape, ffn_num_input=ffn_num_input, ffn_num_hiddens=ffn_num_hiddens,
                num_heads=num_heads, dropout=dropout, i=n)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None for _ in range(self.L)]]

    def forward(self, tokens, state):
        x = self.pos_encoding(self.embedding(tokens) * self.root)
        for blk in self.blks.values():
            x, state = blk(x, state)
        return self.dense(x[:, -1:]), state


# %% wrong_lens_dropped: init_state forgets enc_valid_lens
# kind: mistake
# breaks: values, masking
# equals: decoder-lengths-dropped

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, None, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_log_softmax: applies log_softmax before returning logits
# kind: different
# breaks: values
# equals: decoder-log-softmax

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, DecoderBlock

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.L, self.root = num_layers, num_hiddens ** 0.5
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict()
        for n in range(num_layers):
            self.blks[f'block{n}'] = DecoderBlock(
                key_size=key_size, query_size=query_size, value_size=value_size, num_hiddens=num_hiddens,
                norm_shape=norm_shape, ffn_num_input=ffn_num_input, ffn_num_hiddens=ffn_num_hiddens,
                num_heads=num_heads, dropout=dropout, i=n)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None for _ in range(self.L)]]

    def forward(self, tokens, state):
        x = self.pos_encoding(self.root * self.embedding(tokens))
        for blk in self.blks.values():
            x, state = blk(x, state)
        return self.dense(x).log_softmax(-1), state


# %% wrong_no_dense: final dense layer missing
# kind: mistake
# breaks: shapes, values
# equals: decoder-no-dense

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, state)
        return X, state


# %% wrong_no_grad_blocks: lower blocks run without gradient, only the last one learns
# kind: mistake
# breaks: gradients
# equals: decoder-lower-blocks-frozen

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for i, blk in enumerate(self.blks):
            with torch.set_grad_enabled(torch.is_grad_enabled() and i == self.num_layers - 1):
                X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_no_positions: positional encoding missing
# kind: mistake
# breaks: values
# equals: decoder-no-positions

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, DecoderBlock

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.L, self.root = num_layers, num_hiddens ** 0.5
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict()
        for n in range(num_layers):
            self.blks[f'block{n}'] = DecoderBlock(
                key_size=key_size, query_size=query_size, value_size=value_size, num_hiddens=num_hiddens,
                norm_shape=norm_shape, ffn_num_input=ffn_num_input, ffn_num_hiddens=ffn_num_hiddens,
                num_heads=num_heads, dropout=dropout, i=n)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None for _ in range(self.L)]]

    def forward(self, tokens, state):
        x = self.embedding(tokens) * self.root
        for blk in self.blks.values():
            x, state = blk(x, state)
        return self.dense(x), state


# %% wrong_not_scaled: embedding not scaled
# kind: mistake
# breaks: values
# equals: decoder-not-scaled

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X))
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_one_block_repeated: blocks share one object
# kind: mistake
# breaks: values
# equals: decoder-one-block-repeated

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.num_hiddens, self.num_layers = num_hiddens, num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        blk = DecoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape,
                           ffn_num_input, ffn_num_hiddens, num_heads, dropout, 0)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", blk)
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, [state[0], state[1], [None] * self.num_layers] if self.training else state)
        return self.dense(X), state


# %% wrong_one_slot: init_state makes a single cache slot
# kind: mistake
# breaks: modes
# equals: decoder-one-place-for-all

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None]]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_only_last_block: every block fed the embedding
# kind: mistake
# breaks: values
# equals: decoder-blocks-fed-with-embedding

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, DecoderBlock

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.L, self.root = num_layers, num_hiddens ** 0.5
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict()
        for n in range(num_layers):
            self.blks[f'block{n}'] = DecoderBlock(
                key_size=key_size, query_size=query_size, value_size=value_size, num_hiddens=num_hiddens,
                norm_shape=norm_shape, ffn_num_input=ffn_num_input, ffn_num_hiddens=ffn_num_hiddens,
                num_heads=num_heads, dropout=dropout, i=n)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None for _ in range(self.L)]]

    def forward(self, tokens, state):
        e = self.pos_encoding(self.embedding(tokens) * self.root)
        for blk in self.blks.values():
            y, state = blk(e, state)
        return self.dense(y), state


# %% wrong_position_counter_never_reset: step counter on the module, never reset: a second decoding starts at later positions
# kind: mistake
# breaks: modes
# equals: decoder-position-counter-on-module

import torch
from torch import nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN, PositionalEncoding


class Block(nn.Module):
    def __init__(self, sizes, norm_shape, ffn_num_input, ffn_num_hiddens, i):
        super().__init__()
        D, dropout = sizes[3], sizes[5]
        self.i = i
        self.attention1, self.attention2 = MultiHeadAttention(*sizes), MultiHeadAttention(*sizes)
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, D)

    def forward(self, X, state):
        lens, kv = None, X
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        else:
            if state[2][self.i] is not None:
                kv = torch.cat((state[2][self.i], X), dim=1)
            state[2][self.i] = kv
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, state[0], state[0], state[1]))
        return self.addnorm3(Z, self.ffn(Z)), state


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.num_layers, self.D = num_layers, num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", Block(sizes, norm_shape, ffn_num_input, ffn_num_hiddens, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.steps = 0

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.embedding(X) * self.D ** 0.5
        if self.training:
            X = self.pos_encoding(X)
        else:
            shift = X.new_zeros(X.shape[0], self.steps, X.shape[2])
            X = self.pos_encoding(torch.cat((shift, X), dim=1))[:, self.steps:]
            self.steps += 1
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_positions_after_source: positions while decoding counted on from the end of the source
# kind: mistake
# breaks: modes
# equals: nothing

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, DecoderBlock

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.L, self.root = num_layers, num_hiddens ** 0.5
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict()
        for n in range(num_layers):
            self.blks[f'block{n}'] = DecoderBlock(
                key_size=key_size, query_size=query_size, value_size=value_size, num_hiddens=num_hiddens,
                norm_shape=norm_shape, ffn_num_input=ffn_num_input, ffn_num_hiddens=ffn_num_hiddens,
                num_heads=num_heads, dropout=dropout, i=n)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None for _ in range(self.L)]]

    def forward(self, tokens, state):
        x = self.embedding(tokens) * self.root
        if self.training:
            x = self.pos_encoding(x)
        else:
            n = state[0].shape[1]
            room = torch.zeros(x.shape[0], n, x.shape[2], device=x.device, dtype=x.dtype)
            x = self.pos_encoding(torch.cat((room, x), 1))[:, n:]
        for blk in self.blks.values():
            x, state = blk(x, state)
        return self.dense(x), state


# %% wrong_positions_scaled: positions added before scaling
# kind: mistake
# breaks: values
# equals: decoder-positions-scaled

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, DecoderBlock

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.L, self.root = num_layers, num_hiddens ** 0.5
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict()
        for n in range(num_layers):
            self.blks[f'block{n}'] = DecoderBlock(
                key_size=key_size, query_size=query_size, value_size=value_size, num_hiddens=num_hiddens,
                norm_shape=norm_shape, ffn_num_input=ffn_num_input, ffn_num_hiddens=ffn_num_hiddens,
                num_heads=num_heads, dropout=dropout, i=n)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None for _ in range(self.L)]]

    def forward(self, tokens, state):
        x = self.pos_encoding(self.embedding(tokens)) * self.root
        for blk in self.blks.values():
            x, state = blk(x, state)
        return self.dense(x), state


# %% wrong_reversed: blocks run from last to first
# kind: mistake
# breaks: values
# equals: decoder-blocks-reversed

import torch
import torch.nn as nn
from grader.given import PositionalEncoding, DecoderBlock

class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.L, self.root = num_layers, num_hiddens ** 0.5
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.ModuleDict()
        for n in range(num_layers):
            self.blks[f'block{n}'] = DecoderBlock(
                key_size=key_size, query_size=query_size, value_size=value_size, num_hiddens=num_hiddens,
                norm_shape=norm_shape, ffn_num_input=ffn_num_input, ffn_num_hiddens=ffn_num_hiddens,
                num_heads=num_heads, dropout=dropout, i=n)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None for _ in range(self.L)]]

    def forward(self, tokens, state):
        x = self.pos_encoding(self.embedding(tokens) * self.root)
        for n in reversed(range(self.L)):
            x, state = self.blks[f'block{n}'](x, state)
        return self.dense(x), state


# %% wrong_scaled_by_d: embedding times D
# kind: mistake
# breaks: values
# equals: decoder-scaled-by-d

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * self.num_hiddens)
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_shared_state_list: state list built as one shared list object for all calls
# kind: mistake
# breaks: modes
# equals: decoder-state-shared

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.caches = [None] * num_layers

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, self.caches]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        if self.training:
            state = [state[0], state[1], [None] * self.num_layers]
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


# %% wrong_softmax: applies softmax before returning logits
# kind: mistake
# breaks: values
# equals: decoder-softmax

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for i, blk in enumerate(self.blks):
            X, state = blk(X, state)
        return torch.softmax(self.dense(X), dim=-1), state


# %% wrong_softmax_in_eval: softmax in eval only
# kind: mistake
# breaks: modes
# equals: decoder-softmax-in-evaluation

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, state)
        Y = self.dense(X)
        if not self.training:
            Y = Y.softmax(dim=-1)
        return Y, state


# %% wrong_state_not_returned: logits only, no state
# kind: mistake
# breaks: shapes
# equals: decoder-state-not-returned

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X)


# %% wrong_tied_output: output through the embedding table instead of dense
# kind: different
# breaks: values
# equals: decoder-tied-output

import math
import torch
from torch import nn
from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size,
                 num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                 num_heads, num_layers, dropout, **kwargs):
        super(TransformerDecoder, self).__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i),
                DecoderBlock(key_size, query_size, value_size, num_hiddens,
                             norm_shape, ffn_num_input, ffn_num_hiddens,
                             num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        for blk in self.blks:
            X, state = blk(X, state)
        return X @ self.embedding.weight.T, state


# %% wrong_one_cache_forever: the cache is one list of the module, handed out for every sentence
# kind: mistake
# breaks: modes
# equals: decoder-state-shared

import math

import torch
from torch import nn

from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i), DecoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.cache = [None] * num_layers

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, self.cache]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        selfs, crosses = [], []
        for blk in self.blks:
            X, state = blk(X, state)
            selfs.append(blk.attention1.attention.attention_weights)
            crosses.append(blk.attention2.attention.attention_weights)
        self.attention_weights = [selfs, crosses]
        return self.dense(X), state


# %% wrong_last_step_only_too: scores only for the last step, (B, V)
# kind: mistake
# breaks: gradients, masking, modes, shapes, values
# equals: decoder-last-step-only

import math

import torch
from torch import nn

from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.num_hiddens, self.num_layers = num_hiddens, num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", DecoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        self.attention_weights = [[None] * len(self.blks) for _ in range(2)]
        for i, blk in enumerate(self.blks):
            X, state = blk(X, state)
            self.attention_weights[0][i] = blk.attention1.attention.attention_weights
            self.attention_weights[1][i] = blk.attention2.attention.attention_weights
        # only the next word is needed
        return self.dense(X[:, -1]), state


# %% wrong_use_bias_copied: the blocks are built with use_bias, which a DecoderBlock does not have
# kind: mistake
# breaks: shapes
# equals: nothing

import math

import torch
from torch import nn

from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, num_layers, dropout, use_bias=False):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", DecoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                num_heads, dropout, use_bias=use_bias, i=i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        self.attention_weights = [[], []]
        for blk in self.blks:
            X, state = blk(X, state)
            self.attention_weights[0].append(blk.attention1.attention.attention_weights)
            self.attention_weights[1].append(blk.attention2.attention.attention_weights)
        return self.dense(X), state


# %% wrong_no_unpack: the result of a block, a pair, goes into the next layer as it is
# kind: mistake
# breaks: shapes
# equals: nothing

import math

import torch
from torch import nn

from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.scale = math.sqrt(num_hiddens)
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", DecoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * self.scale)
        for blk in self.blks:
            X = blk(X, state)
        self.attention_weights = [
            [blk.attention1.attention.attention_weights for blk in self.blks],
            [blk.attention2.attention.attention_weights for blk in self.blks],
        ]
        return self.dense(X), state


# %% wrong_no_factor_and_same_weights: two mistakes: not scaled, and the second list has the weights of the self-attention again
# kind: mistake
# breaks: gradients, values, weights
# equals: decoder-not-scaled

import torch
from torch import nn

from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
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
    ):
        super().__init__()
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                f"block{i}",
                DecoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                             ffn_num_hiddens, num_heads, dropout, i),
            )
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs: torch.Tensor, enc_valid_lens: torch.Tensor | None, *args) -> list:
        cache = [None] * self.num_layers
        return [enc_outputs, enc_valid_lens, cache]

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        # how many steps were there already? (positions go on in prediction)
        first = state[2][0]
        offset = 0 if self.training or first is None else first.shape[1]
        emb = self.embedding(X)
        front = emb.new_zeros(emb.shape[0], offset, emb.shape[2])
        out = self.pos_encoding(torch.cat((front, emb), dim=1))[:, offset:]
        weights1, weights2 = [], []
        for blk in self.blks:
            out, state = blk(out, state)
            weights1.append(blk.attention1.attention.attention_weights)
            weights2.append(blk.attention1.attention.attention_weights)
        self.attention_weights = [weights1, weights2]
        return self.dense(out), state


# %% wrong_one_cache_for_all_sentences: the cache is created in the constructor
# kind: mistake
# breaks: modes
# equals: decoder-state-shared

import math

import torch
from torch import nn

from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
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
    ):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                f"block{i}",
                DecoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                             ffn_num_hiddens, num_heads, dropout, i),
            )
        self.dense = nn.Linear(num_hiddens, vocab_size)

        self.cache = [None] * num_layers
        self.attention_weights = [[], []]

    def init_state(self, enc_outputs: torch.Tensor, enc_valid_lens: torch.Tensor | None, *args) -> list:
        return [enc_outputs, enc_valid_lens, self.cache]

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        self.attention_weights = [[], []]
        for blk in self.blks:
            X, state = blk(X, state)
            self.attention_weights[0].append(blk.attention1.attention.attention_weights)
            self.attention_weights[1].append(blk.attention2.attention.attention_weights)
        return self.dense(X), state


# %% wrong_tuple_not_unpacked: the pair that a block returns goes into the next block
# kind: mistake
# breaks: shapes
# equals: nothing

import math

import torch
from torch import nn

from grader.given import DecoderBlock, PositionalEncoding


class TransformerDecoder(nn.Module):
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
    ):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(
                f"block{i}",
                DecoderBlock(key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                             ffn_num_hiddens, num_heads, dropout, i),
            )
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs: torch.Tensor, enc_valid_lens: torch.Tensor | None, *args) -> list:
        return [enc_outputs, enc_valid_lens, [None for _ in range(self.num_layers)]]

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        h = self.embedding(X) * math.sqrt(self.num_hiddens)
        h = self.pos_encoding(h)
        selfs, crosses = [], []
        for block in self.blks:
            h = block(h, state)
            selfs.append(block.attention1.attention.attention_weights)
            crosses.append(block.attention2.attention.attention_weights)
        self.attention_weights = [selfs, crosses]
        return self.dense(h), state
