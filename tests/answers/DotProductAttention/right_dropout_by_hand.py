# exercise: DotProductAttention
# says: dropout with a Bernoulli mask of its own
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.keep = 1.0 - dropout

    def _drop(self, w):
        if not self.training or self.keep == 1.0:
            return w
        coin = torch.bernoulli(torch.full_like(w, self.keep))
        return w * coin / self.keep

    def forward(self, queries, keys, values, valid_lens=None):
        d = keys.shape[2]
        scores = (queries * d ** -0.25) @ (keys * d ** -0.25).transpose(1, 2)
        w = masked_softmax(scores, valid_lens)
        self.attention_weights = w.detach()
        return self._drop(w) @ values
