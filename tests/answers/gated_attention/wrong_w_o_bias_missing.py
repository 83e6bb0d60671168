# exercise: gated_attention
# says: the bias of W_o is forgotten
# kind: mistake
# breaks: values




def gated_attention(mha, gates, queries, keys, values, valid_lens):
    Q, K, V = mha.W_q(queries), mha.W_k(keys), mha.W_v(values)
    d = Q.shape[-1] // mha.num_heads
    output = 0
    for h in range(mha.num_heads):
        mine = slice(h * d, (h + 1) * d)
        Y = mha.attention(Q[..., mine], K[..., mine], V[..., mine], valid_lens)  # (B, T, d)
        output = output + gates[h] * (Y @ mha.W_o.weight[:, mine].T)
    return output
