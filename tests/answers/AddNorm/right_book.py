# exercise: AddNorm
# says: the book's AddNorm
# kind: same
# breaks:

from torch import nn

class AddNorm(nn.Module):
    """Residual connection followed by layer normalization"""
    def __init__(self, normalized_shape, dropout, **kwargs):
        super(AddNorm, self).__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)
