# exercise: prune_heads
# says: removes everything from the first to the last that is named
# kind: mistake
# breaks: values, pruning

import torch
from torch import nn
from grader.given import MultiHeadAttention


def prune_heads(mha, heads):
    stay = sorted(set(range(mha.num_heads)) - set(range(min(heads, default=0), max(heads, default=-1) + 1)))
    if len(stay) == 0:
        raise ValueError(f"heads {sorted(set(heads))} are all that there are")
    D = mha.W_o.out_features
    d = mha.W_q.out_features // mha.num_heads
    bias = mha.W_q.bias is not None
    small = MultiHeadAttention(mha.W_k.in_features, mha.W_q.in_features, mha.W_v.in_features,
                               len(stay) * d, len(stay), mha.attention.dropout.p, bias=bias)
    small.W_o = nn.Linear(len(stay) * d, D, bias=bias)
    state = {}
    for name, tensor in mha.state_dict().items():
        if name == "W_o.bias":
            state[name] = tensor
        elif name == "W_o.weight":
            state[name] = torch.cat([tensor[:, h * d:h * d + d] for h in stay], dim=1)
        else:
            state[name] = torch.cat([tensor[h * d:h * d + d] for h in stay], dim=0)
    small.load_state_dict(state)
    small.train(mha.training)
    return small.to(mha.W_q.weight.device, mha.W_q.weight.dtype)
