# exercise: masked_softmax
# says: takes softmax of each valid prefix and pads with zeros
# kind: same
# breaks:

import torch

def masked_softmax(X, valid_lens):
    B, T, S = X.shape
    if valid_lens is None:
        lens = [[S] * T for _ in range(B)]
    elif valid_lens.dim() == 1:
        lens = [[n] * T for n in valid_lens.tolist()]
    else:
        lens = valid_lens.tolist()
    out = []
    for b in range(B):
        rows = []
        for t in range(T):
            n = int(lens[b][t])
            p = torch.softmax(X[b, t, :n], dim=0)
            rows.append(torch.cat([p, X.new_zeros(S - n)]))
        out.append(torch.stack(rows))
    return torch.stack(out)
