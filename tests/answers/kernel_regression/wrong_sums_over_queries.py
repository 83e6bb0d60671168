# exercise: kernel_regression
# says: sums over the queries instead of the keys
# kind: mistake
# breaks: shapes, values

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    return torch.einsum('ts,s->s', a, values)
