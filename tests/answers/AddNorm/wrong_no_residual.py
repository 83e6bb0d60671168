# exercise: AddNorm
# says: no residual
# kind: mistake
# breaks: values

from torch import nn

class AddNorm(nn.Module):
    """Normalise what the sub-layer gave."""
    def __init__(self, normalized_shape, dropout, **kwargs):
        super(AddNorm, self).__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y))
