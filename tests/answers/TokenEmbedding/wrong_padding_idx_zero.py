# exercise: TokenEmbedding
# says: padding_idx=0
# kind: mistake
# breaks: gradients

from torch import nn

class TokenEmbedding(nn.Embedding):
    """Token embedding; token 0 is the padding."""
    def __init__(self, vocab_size, d_model):
        super(TokenEmbedding, self).__init__(vocab_size, d_model, padding_idx=0)
