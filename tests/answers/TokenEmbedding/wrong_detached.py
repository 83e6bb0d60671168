# exercise: TokenEmbedding
# says: looked up in weight.data: no gradient
# kind: mistake
# breaks: gradients

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
