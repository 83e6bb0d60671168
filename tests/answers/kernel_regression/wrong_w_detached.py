# exercise: kernel_regression
# says: detaches w, so it gets no gradient
# kind: mistake
# breaks: gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    with torch.no_grad():
        c = torch.as_tensor(w, dtype=queries.dtype, device=queries.device).clone()
    alpha = torch.softmax(-((queries[:, None] - keys[None, :]) * c) ** 2 / 2, dim=-1)
    return (alpha * values).sum(-1)
