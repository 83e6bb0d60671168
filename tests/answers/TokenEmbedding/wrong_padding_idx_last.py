# exercise: TokenEmbedding
# says: padding_idx=-1: the last token
# kind: mistake
# breaks: gradients

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        nn.Embedding.__init__(self, vocab_size, d_model, padding_idx=-1)
