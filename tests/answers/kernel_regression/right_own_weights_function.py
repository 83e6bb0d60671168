# exercise: kernel_regression
# says: builds on its own weights function
# kind: same
# breaks:

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    d = queries.view(-1, 1) - keys.view(1, -1)
    e = torch.exp(-((d * w) ** 2) / 2)
    return e / e.sum(-1, keepdim=True)

def kernel_regression(queries, keys, values, w=1.0):
    return torch.einsum('ts,s->t', kernel_attention_weights(queries, keys, w), values)
