# exercise: kernel_attention_weights
# says: log_softmax instead of softmax
# kind: mistake
# breaks: values, gradients

import torch.nn.functional as F

def kernel_attention_weights(queries, keys, w=1.0):
    d = (queries[:, None] - keys[None, :]) * w
    return F.log_softmax(-d.pow(2) / 2, dim=-1)
