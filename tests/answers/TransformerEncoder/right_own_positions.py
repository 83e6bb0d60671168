# exercise: TransformerEncoder
# says: embedding by one-hot product, positions made on the fly
# kind: same
# breaks:

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
