# exercise: TokenEmbedding
# says: keyword arguments
# kind: same
# breaks:

import torch.nn as nn

class TokenEmbedding(nn.Embedding):
    """Rows of a (V, D) table; row 1 stands for padding and is never trained."""

    PAD = 1

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__(num_embeddings=vocab_size, embedding_dim=d_model, padding_idx=self.PAD)
