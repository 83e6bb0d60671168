# exercise: TokenEmbedding
# says: features before steps
# kind: mistake
# breaks: shapes, values

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1)

    def forward(self, tokens):
        return super().forward(tokens).transpose(-1, -2)
