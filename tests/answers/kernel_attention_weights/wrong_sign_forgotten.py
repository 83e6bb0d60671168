# exercise: kernel_attention_weights
# says: forgets the minus sign, so far keys weigh most
# kind: mistake
# breaks: values, gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    d = queries[:, None] - keys[None, :]
    scores = (d * w).square() / 2
    e = scores.exp()
    return e / e.sum(dim=1, keepdim=True)
