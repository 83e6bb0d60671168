# exercise: PositionWiseFFN
# says: normalises/mixes over positions (mean over T added)
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
        H = torch.relu(self.dense1(X))
        H = H + H.mean(dim=1, keepdim=True)
        return self.dense2(H)
