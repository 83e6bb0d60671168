# exercise: gated_attention
# says: the hook is never removed
# kind: mistake
# breaks: purity




def gated_attention(mha, gates, queries, keys, values, valid_lens):
    def scale(module, args):
        joined = args[0]
        parts = joined.unflatten(-1, (len(gates), -1)) * gates[:, None]
        return (parts.flatten(-2),)

    mha.W_o.register_forward_pre_hook(scale)
    return mha(queries, keys, values, valid_lens)
