# exercise: gated_attention
# says: scales the columns of W_o in place and leaves them so
# kind: mistake
# breaks: purity




def gated_attention(mha, gates, queries, keys, values, valid_lens):
    d = mha.W_o.weight.shape[1] // mha.num_heads
    W = mha.W_o.weight * gates.repeat_interleave(d)
    del mha.W_o.weight
    mha.W_o.weight = W
    return mha(queries, keys, values, valid_lens)
