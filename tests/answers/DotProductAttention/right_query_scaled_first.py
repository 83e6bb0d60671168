# exercise: DotProductAttention
# says: scales the queries before the product
# kind: same
# breaks:

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def forward(self, queries, keys, values, valid_lens=None) -> torch.Tensor:
        q = queries / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(q @ keys.mT, valid_lens)
        return self.dropout(self.attention_weights) @ values
