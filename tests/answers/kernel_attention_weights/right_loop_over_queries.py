# exercise: kernel_attention_weights
# says: one softmax per query in a loop
# kind: same
# breaks:

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    rows = []
    for i in range(queries.shape[0]):
        s = -((queries[i] - keys) * w)
        s = -(s * s) / 2
        rows.append(torch.softmax(s, dim=0))
    return torch.stack(rows, dim=0)
