# exercise: AddNorm
# says: residual added again behind the norm
# kind: mistake
# breaks: values

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        out = self.ln(self.dropout(Y) + X)
        out = out + X
        return out
