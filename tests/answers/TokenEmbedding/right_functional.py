# exercise: TokenEmbedding
# says: own parameter, functional look-up
# kind: same
# breaks:

import torch
import torch.nn.functional as F
from torch import nn

class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight)
        with torch.no_grad():
            self.weight[1].fill_(0)

    def forward(self, tokens):
        return F.embedding(tokens, self.weight, padding_idx=1)
