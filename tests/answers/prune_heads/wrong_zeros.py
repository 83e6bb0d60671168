# exercise: prune_heads
# says: fills with zeros in place of making smaller
# kind: mistake
# breaks: pruning

import torch


def prune_heads(mha, heads):
    if len(set(heads)) == mha.num_heads:
        raise ValueError("no heads left")
    d = mha.W_q.out_features // mha.num_heads
    with torch.no_grad():
        for h in heads:
            mha.W_o.weight[:, h * d:(h + 1) * d] = 0
    return mha
