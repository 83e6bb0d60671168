# exercise: TransformerEncoder
# says: dropout not passed to the positional encoding
# kind: mistake
# breaks: modes

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
