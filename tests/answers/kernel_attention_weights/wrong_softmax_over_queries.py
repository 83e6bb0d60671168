# exercise: kernel_attention_weights
# says: normalises each column, over the queries
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn

def kernel_attention_weights(queries, keys, w=1.0):
    # queries down, keys across
    scores = -((queries.reshape(-1, 1) - keys.reshape(1, -1)) * w)**2 / 2
    return nn.functional.softmax(scores, dim=0)
