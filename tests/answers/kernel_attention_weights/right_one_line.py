# exercise: kernel_attention_weights
# says: softmax over keys of the negative half square
# kind: same
# breaks:

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    return torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
