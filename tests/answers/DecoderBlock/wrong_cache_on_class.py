# exercise: DecoderBlock
# says: cache stored in an attribute of the class, shared by all layers
# kind: mistake
# breaks: modes

import torch
from torch import Tensor, nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size: int, query_size: int, value_size: int, num_hiddens: int,
                 norm_shape, ffn_num_input: int, ffn_num_hiddens: int, num_heads: int,
                 dropout: float, i: int) -> None:
        super().__init__()
        self.i = i
        mha = lambda: MultiHeadAttention(
            key_size=key_size, query_size=query_size, value_size=value_size,
            num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout)
        self.attention1, self.attention2 = mha(), mha()
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    memory = []

    def forward(self, X: Tensor, state: list):
        enc, enc_lens = state[0], state[1]
        if self.training:
            kv = X
            lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1)
        else:
            DecoderBlock.memory.append(X)
            kv, lens = torch.cat(DecoderBlock.memory, dim=1), None
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, enc_lens))
        return self.addnorm3(Z, self.ffn(Z)), state
