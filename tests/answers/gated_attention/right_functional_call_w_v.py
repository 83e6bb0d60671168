# exercise: gated_attention
# says: called with a W_v whose rows are scaled: attention is linear in its values
# kind: same
# breaks:

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    D = mha.W_v.weight.shape[0]
    rows = gates.unsqueeze(1).expand(-1, D // mha.num_heads).reshape(-1)  # (D,)
    swapped = {"W_v.weight": rows[:, None] * mha.W_v.weight}
    if mha.W_v.bias is not None:
        swapped["W_v.bias"] = rows * mha.W_v.bias
    return torch.func.functional_call(mha, swapped, (queries, keys, values, valid_lens))
