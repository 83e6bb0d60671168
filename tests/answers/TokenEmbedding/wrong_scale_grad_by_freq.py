# exercise: TokenEmbedding
# says: gradients divided by the token counts
# kind: mistake
# breaks: gradients

from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1, scale_grad_by_freq=True)
