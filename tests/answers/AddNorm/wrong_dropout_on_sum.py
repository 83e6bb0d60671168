# exercise: AddNorm
# says: dropout on the sum
# kind: mistake
# breaks: modes

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, X, Y):
        total = X + Y
        return self.ln(self.drop(total))
