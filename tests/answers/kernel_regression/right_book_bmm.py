# exercise: kernel_regression
# says: the book's forward with bmm and reshape
# kind: same
# breaks:

import torch
from torch import nn

def kernel_regression(queries, keys, values, w=1.0):
    # Shape of queries and attention_weights: (no. of queries, no. of key-value pairs)
    n = keys.shape[0]
    queries = queries.repeat_interleave(n).reshape((-1, n))
    attention_weights = nn.functional.softmax(-((queries - keys) * w)**2 / 2, dim=1)
    rows = values.repeat(queries.shape[0], 1)
    return torch.bmm(attention_weights.unsqueeze(1), rows.unsqueeze(-1)).reshape(-1)
