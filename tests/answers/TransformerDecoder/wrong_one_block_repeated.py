# exercise: TransformerDecoder
# says: blocks share one object
# kind: mistake
# breaks: values

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
