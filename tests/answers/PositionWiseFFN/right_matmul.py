# exercise: PositionWiseFFN
# says: matrix products on flattened positions
# kind: same
# breaks:

import torch
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        rows = X.reshape(-1, X.shape[-1])
        hidden = torch.addmm(self.dense1.bias, rows, self.dense1.weight.t())
        hidden = torch.where(hidden > 0, hidden, 0)
        out = hidden @ self.dense2.weight.t() + self.dense2.bias
        return out.view(*X.shape[:-1], -1)
