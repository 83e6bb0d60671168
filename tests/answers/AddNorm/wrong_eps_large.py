# exercise: AddNorm
# says: eps = 1e-2 instead of the default
# kind: mistake
# breaks: values

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape, eps=1e-2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)
