# exercise: TokenEmbedding
# says: padding row set to zero once, but trained
# kind: mistake
# breaks: gradients

import torch
from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model)
        with torch.no_grad():
            self.weight[1] = 0.
