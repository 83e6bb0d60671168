# exercise: kernel_regression
# says: multiplies by broadcasting and sums over the keys
# kind: same
# breaks:

import torch
import torch.nn.functional as F

def kernel_regression(queries, keys, values, w=1.0):
    u = (keys - queries.unsqueeze(1)) * w
    a = F.softmax(u * u * -0.5, dim=-1)
    return (a * values).sum(dim=-1)
