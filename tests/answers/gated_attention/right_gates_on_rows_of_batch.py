# exercise: gated_attention
# says: gates repeated over the batch, on (B*H, T, d)
# kind: same
# breaks:

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    xi = gates.repeat(queries.shape[0])[:, None, None]  # (B*H, 1, 1)
    return mha.W_o(transpose_output(xi * heads, H))
