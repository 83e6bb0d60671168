# exercise: gated_attention
# says: lengths of the batch given to the heads
# kind: mistake
# breaks: masking, values, shapes

from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))
