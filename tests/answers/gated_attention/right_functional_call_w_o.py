# exercise: gated_attention
# says: called with a W_o whose columns are scaled
# kind: same
# breaks:

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    W = mha.W_o.weight
    columns = gates.repeat_interleave(W.shape[1] // mha.num_heads)
    scaled = {"W_o.weight": W * columns}
    return torch.func.functional_call(mha, scaled, (queries, keys, values, valid_lens))
