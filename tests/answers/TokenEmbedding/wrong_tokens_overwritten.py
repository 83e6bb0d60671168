# exercise: TokenEmbedding
# says: padding tokens rewritten in the caller's tensor
# kind: mistake
# breaks: purity

import torch.nn.functional as F
from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1)

    def forward(self, tokens):
        out = F.embedding(tokens, self.weight, self.padding_idx)
        tokens[tokens == self.padding_idx] = 0
        return out
