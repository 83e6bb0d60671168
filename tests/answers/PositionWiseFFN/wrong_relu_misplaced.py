# exercise: PositionWiseFFN
# says: ReLU behind the second layer only
# kind: mistake
# breaks: values

import torch
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        return torch.relu(self.dense2(self.dense1(X)))
