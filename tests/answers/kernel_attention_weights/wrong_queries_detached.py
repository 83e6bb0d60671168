# exercise: kernel_attention_weights
# says: works on queries.data, which get no gradient
# kind: mistake
# breaks: gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    q = queries.data[:, None]
    k = keys.data[None, :]
    return torch.softmax(-((q - k) * w) ** 2 / 2, dim=-1)
