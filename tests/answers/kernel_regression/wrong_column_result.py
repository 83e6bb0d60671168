# exercise: kernel_regression
# says: returns (T, 1) instead of (T,)
# kind: mistake
# breaks: shapes

import torch
from torch import nn

def kernel_regression(queries, keys, values, w=1.0):
    attention_weights = nn.functional.softmax(
        -((queries.unsqueeze(1) - keys.unsqueeze(0)) * w)**2 / 2, dim=1)
    return torch.mm(attention_weights, values.unsqueeze(-1))
