# exercise: gated_attention
# says: switches the module to evaluation mode
# kind: mistake
# breaks: modes, purity

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    mha.eval()
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))
