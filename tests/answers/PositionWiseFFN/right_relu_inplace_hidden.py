# exercise: PositionWiseFFN
# says: in-place ReLU on the hidden layer
# kind: same
# breaks:

import torch.nn.functional as F
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        return self.dense2(F.relu_(self.dense1(X)))
