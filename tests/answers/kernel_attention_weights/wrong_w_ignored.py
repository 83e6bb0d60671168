# exercise: kernel_attention_weights
# says: never uses w
# kind: mistake
# breaks: values, gradients

import torch
from torch.nn import functional as F

def kernel_attention_weights(queries, keys, w=1.0):
    X_repeat = queries.repeat_interleave(len(keys)).reshape((-1, len(keys)))
    return F.softmax(-(X_repeat - keys)**2 / 2, dim=1)
