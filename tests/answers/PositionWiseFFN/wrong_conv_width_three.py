# exercise: PositionWiseFFN
# says: convolution over three neighbouring positions
# kind: mistake
# breaks: values

import torch
from torch import nn
import torch.nn.functional as F

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Conv1d(ffn_num_input, ffn_num_hiddens, kernel_size=3, padding=1)
        self.dense2 = nn.Conv1d(ffn_num_hiddens, ffn_num_outputs, kernel_size=3, padding=1)

    def forward(self, X):
        X = X.transpose(1, 2)
        X = self.dense2(F.relu(self.dense1(X)))
        return X.transpose(1, 2)
