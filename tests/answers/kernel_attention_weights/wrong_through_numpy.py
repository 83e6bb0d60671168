# exercise: kernel_attention_weights
# says: goes through numpy and loses every gradient, NaN far from all keys
# kind: mistake
# breaks: gradients, values

import numpy as np
import torch

def kernel_attention_weights(queries, keys, w=1.0):
    q = queries.detach().numpy()
    k = keys.detach().numpy()
    w = w.detach().numpy() if torch.is_tensor(w) else w
    K = np.exp(-((q[:, None] - k[None, :]) * w) ** 2 / 2)
    return torch.from_numpy(K / K.sum(axis=1, keepdims=True)).to(queries.dtype)
