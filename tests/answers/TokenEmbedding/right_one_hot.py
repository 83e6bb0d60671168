# exercise: TokenEmbedding
# says: one-hot product, padding looked up without gradient
# kind: same
# breaks:

import torch
import torch.nn.functional as F
from torch import nn

class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.vocab_size = vocab_size
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.weight.data[1] = 0

    def forward(self, tokens):
        is_pad = (torch.arange(self.vocab_size, device=tokens.device) == 1).unsqueeze(1)
        table = torch.where(is_pad, self.weight.detach(), self.weight)
        return F.one_hot(tokens, self.vocab_size).to(table.dtype) @ table
