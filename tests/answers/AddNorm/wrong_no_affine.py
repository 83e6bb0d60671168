# exercise: AddNorm
# says: LayerNorm without affine parameters
# kind: mistake
# breaks: values

import torch.nn.functional as F
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape, elementwise_affine=False)
        self.p = dropout

    def forward(self, X, Y):
        return self.ln(X + F.dropout(Y, self.p, self.training))
