# exercise: PositionWiseFFN
# says: GELU instead of ReLU
# kind: different
# breaks: values

import torch.nn as nn
import torch.nn.functional as F

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, x):
        return self.dense2(F.gelu(self.dense1(x)))
