# exercise: kernel_attention_weights
# says: kernel over the sum of kernels, relative to the nearest key
# kind: same
# breaks:

import torch

def kernel_attention_weights(queries: torch.Tensor, keys: torch.Tensor, w=1.0) -> torch.Tensor:
    u = w * (queries.view(-1, 1) - keys.view(1, -1))
    scores = -0.5 * u ** 2
    K = torch.exp(scores - scores.max(dim=1, keepdim=True)[0].detach())
    return K / K.sum(dim=1, keepdim=True)
