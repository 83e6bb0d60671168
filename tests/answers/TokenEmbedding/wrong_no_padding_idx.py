# exercise: TokenEmbedding
# says: no padding_idx
# kind: mistake
# breaks: gradients

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model)
