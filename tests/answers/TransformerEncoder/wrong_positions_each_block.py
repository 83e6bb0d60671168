# exercise: TransformerEncoder
# says: positions added before every block
# kind: mistake
# breaks: values

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
