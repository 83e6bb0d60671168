# exercise: gated_attention
# says: einsum over heads, gate and output at once
# kind: same
# breaks:

import torch
from grader.given import transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    lens = None if valid_lens is None else valid_lens.repeat_interleave(H, 0)
    Y = mha.attention(*(transpose_qkv(layer(X), H) for layer, X in
                        ((mha.W_q, queries), (mha.W_k, keys), (mha.W_v, values))), lens)
    Y = Y.reshape(-1, H, *Y.shape[1:])  # (B, H, T, d)
    W = mha.W_o.weight.reshape(mha.W_o.out_features, H, -1)  # (D, H, d)
    out = torch.einsum("bhtd,h,ehd->bte", Y, gates, W)
    return out if mha.W_o.bias is None else out + mha.W_o.bias
