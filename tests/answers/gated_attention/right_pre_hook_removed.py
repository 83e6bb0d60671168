# exercise: gated_attention
# says: a forward pre-hook on W_o, taken away again
# kind: same
# breaks:




def gated_attention(mha, gates, queries, keys, values, valid_lens):
    def scale(module, args):
        joined = args[0]
        parts = joined.unflatten(-1, (len(gates), -1)) * gates[:, None]
        return (parts.flatten(-2),)

    handle = mha.W_o.register_forward_pre_hook(scale)
    try:
        return mha(queries, keys, values, valid_lens)
    finally:
        handle.remove()
