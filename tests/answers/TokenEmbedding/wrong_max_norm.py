# exercise: TokenEmbedding
# says: max_norm=1: rows shortened
# kind: mistake
# breaks: values

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1, max_norm=1.0)
