# exercise: kernel_attention_weights
# says: expands the square and drops the part that is the same for all keys
# kind: same
# breaks:

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    # (q-k)^2 = q^2 - 2qk + k^2, and q^2 cancels in the softmax
    scores = torch.outer(queries, keys) - keys.square() / 2
    return (scores * w * w).softmax(-1)
