# exercise: PositionWiseFFN
# says: residual added inside
# kind: mistake
# breaks: values

import torch.nn.functional as F
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        Y = self.dense2(F.relu(self.dense1(X)))
        return X + Y if X.shape == Y.shape else Y
