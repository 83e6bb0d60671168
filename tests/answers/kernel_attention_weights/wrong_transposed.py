# exercise: kernel_attention_weights
# says: returns keys by queries instead of queries by keys
# kind: mistake
# breaks: shapes, values

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    scores = -((keys[:, None] - queries[None, :]) * w) ** 2 / 2
    return torch.softmax(scores, dim=0)
