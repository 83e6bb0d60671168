# exercise: kernel_attention_weights
# says: multiplies by w after squaring
# kind: mistake
# breaks: values, gradients

import torch
import torch.nn.functional as F


def kernel_attention_weights(queries, keys, w=1.0):
    sq = (queries.unsqueeze(1) - keys.unsqueeze(0)).pow(2)     # (T, S)
    return F.softmax(-w * sq / 2, dim=1)
