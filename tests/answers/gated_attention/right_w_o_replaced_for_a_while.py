# exercise: gated_attention
# says: W_o wrapped during the call and put back
# kind: same
# breaks:

import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, gates, layer):
        super().__init__()
        self.gates, self.layer = gates, layer

    def forward(self, X):
        d = X.shape[-1] // self.gates.numel()
        return self.layer(torch.cat([g * part for g, part in zip(self.gates, X.split(d, -1))], -1))


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    whole = mha.W_o
    mha.W_o = Gate(gates, whole)
    try:
        return mha(queries, keys, values, valid_lens)
    finally:
        mha.W_o = whole
