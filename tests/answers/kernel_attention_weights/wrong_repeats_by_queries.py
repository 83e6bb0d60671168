# exercise: kernel_attention_weights
# says: repeats each query T times, so only T = S works
# kind: mistake
# breaks: shapes, values

import torch
from torch import nn

def kernel_attention_weights(queries, keys, w=1.0):
    n = queries.shape[0]
    queries = queries.repeat_interleave(n).reshape((-1, n))
    return nn.functional.softmax(-((queries - keys) * w)**2 / 2, dim=1)
