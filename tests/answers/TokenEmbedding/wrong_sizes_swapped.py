# exercise: TokenEmbedding
# says: vocab_size and d_model swapped
# kind: mistake
# breaks: values

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(d_model, vocab_size, padding_idx=1)
