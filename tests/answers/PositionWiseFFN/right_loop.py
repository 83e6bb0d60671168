# exercise: PositionWiseFFN
# says: one position at a time
# kind: same
# breaks:

import torch
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def one(self, x):
        h = self.dense1(x)
        h = torch.maximum(h, torch.zeros_like(h))
        return self.dense2(h)

    def forward(self, X):
        res = []
        for t in range(X.shape[1]):
            res.append(self.one(X[:, t]))
        return torch.stack(res, dim=1)
