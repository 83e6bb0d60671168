# exercise: sequence_mask
# says: glues each valid part to a block of the filling value
# kind: same
# breaks:

import torch

def sequence_mask(X, valid_len, value=0):
    rows = []
    for x, n in zip(X, valid_len.tolist()):
        rows.append(torch.cat([x[:n], torch.full_like(x[n:], value)]))
    return torch.stack(rows)
