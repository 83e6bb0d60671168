# exercise: TokenEmbedding
# says: a subclass with padding_idx=1
# kind: same
# breaks:

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super(TokenEmbedding, self).__init__(vocab_size, d_model, padding_idx=1)
