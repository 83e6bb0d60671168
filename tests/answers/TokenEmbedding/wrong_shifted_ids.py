# exercise: TokenEmbedding
# says: looks up the token after the one asked for
# kind: mistake
# breaks: values

import torch.nn.functional as F
from torch import nn

class TokenEmbedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=1)

    def forward(self, tokens):
        # ids start at 1
        return F.embedding((tokens + 1) % self.num_embeddings, self.weight, padding_idx=1)
