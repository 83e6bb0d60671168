# exercise: PositionWiseFFN
# says: hidden layer computed without gradient
# kind: mistake
# breaks: gradients

import torch
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        with torch.no_grad():
            hidden = self.dense1(X).relu()
        return self.dense2(hidden)
