# exercise: TokenEmbedding
# says: padding gradient blanked by a hook
# kind: same
# breaks:

import torch
from torch import nn

class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        start = torch.randn(vocab_size, d_model)
        start[1] = 0.
        self.weight = nn.Parameter(start)
        self.weight.register_hook(self.blank)

    @staticmethod
    def blank(grad):
        grad = grad.clone()
        grad[1] = 0
        return grad

    def forward(self, tokens):
        return self.weight[tokens]
