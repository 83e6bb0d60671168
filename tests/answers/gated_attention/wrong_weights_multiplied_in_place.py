# exercise: gated_attention
# says: multiplies the stored weights through .data
# kind: mistake
# breaks: purity, gradients




def gated_attention(mha, gates, queries, keys, values, valid_lens):
    d = mha.W_o.in_features // mha.num_heads
    mha.W_o.weight.data *= gates.detach().repeat_interleave(d)
    return mha(queries, keys, values, valid_lens)
