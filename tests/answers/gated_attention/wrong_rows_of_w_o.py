# exercise: gated_attention
# says: the rows of W_o scaled in place of its columns
# kind: mistake
# breaks: values

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    W = mha.W_o.weight
    columns = gates.repeat_interleave(W.shape[1] // mha.num_heads)
    scaled = {"W_o.weight": W * columns[:, None]}
    return torch.func.functional_call(mha, scaled, (queries, keys, values, valid_lens))
