# exercise: AddNorm
# says: writes the sum into Y
# kind: mistake
# breaks: purity

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        Y = self.dropout(Y)
        Y += X
        return self.ln(Y)
