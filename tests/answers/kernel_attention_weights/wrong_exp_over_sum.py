# exercise: kernel_attention_weights
# says: Nadaraya-Watson as written: kernel over the sum of kernels, NaN far from all keys
# kind: mistake
# breaks: values

import torch

def gaussian_kernel(u):
    return torch.exp(-0.5 * u ** 2)

def kernel_attention_weights(queries: torch.Tensor, keys: torch.Tensor, w=1.0) -> torch.Tensor:
    K = gaussian_kernel(w * (queries.view(-1, 1) - keys.view(1, -1)))
    return K / K.sum(dim=1, keepdim=True)
