# exercise: TokenEmbedding
# says: scaled by the root of d_model
# kind: different
# breaks: values

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1)
        self.scale = d_model ** 0.5

    def forward(self, tokens):
        return super().forward(tokens) * self.scale
