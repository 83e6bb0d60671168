# exercise: kernel_attention_weights
# says: repeats every query once per key, as the book does
# kind: same
# breaks:

import torch
from torch import nn

def kernel_attention_weights(queries, keys, w=1.0):
    # Shape of queries after this: (no. of queries, no. of key-value pairs)
    queries = queries.repeat_interleave(keys.shape[0]).reshape((-1, keys.shape[0]))
    attention_weights = nn.functional.softmax(
        -((queries - keys) * w)**2 / 2, dim=1)
    return attention_weights
