# exercise: gated_attention
# says: lengths repeated as a whole: 3 1 3 1
# kind: mistake
# breaks: masking

from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = valid_lens.repeat(H) if valid_lens.dim() == 1 else valid_lens.repeat(H, 1)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))
