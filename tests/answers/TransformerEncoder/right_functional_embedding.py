# exercise: TransformerEncoder
# says: functional embedding of a scaled table
# kind: same
# breaks:

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
