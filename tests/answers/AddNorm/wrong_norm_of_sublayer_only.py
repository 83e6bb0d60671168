# exercise: AddNorm
# says: normalises only the output of the sublayer: X + dropout(ln(Y))
# kind: different
# breaks: values

import torch.nn as nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        return X + self.dropout(self.ln(Y))
