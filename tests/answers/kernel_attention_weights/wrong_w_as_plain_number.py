# exercise: kernel_attention_weights
# says: turns w into a plain number, so it gets no gradient
# kind: mistake
# breaks: gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    width = float(w)   # so that numbers and tensors both work
    scores = -((queries[:, None] - keys[None, :]) * width) ** 2 / 2
    return scores.softmax(dim=-1)
