# exercise: TransformerDecoder
# says: tokens stored in the state, the whole prefix computed again at each step
# kind: same
# breaks:

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
