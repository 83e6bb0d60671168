# exercise: gated_attention
# says: no lengths passed on
# kind: mistake
# breaks: masking

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))
