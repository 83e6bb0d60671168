# exercise: TransformerDecoder
# says: blocks in a ModuleDict, no attention weights stored
# kind: same
# breaks:

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
