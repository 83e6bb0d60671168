# exercise: AddNorm
# says: X + LN twice: LN(X) + LN(Y)
# kind: mistake
# breaks: values

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln, self.dropout = nn.LayerNorm(normalized_shape), nn.Dropout(dropout)

    def forward(self, X, Y):
        return self.ln(X) + self.ln(self.dropout(Y))
