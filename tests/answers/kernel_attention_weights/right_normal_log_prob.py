# exercise: kernel_attention_weights
# says: takes the log density of a standard normal as score
# kind: same
# breaks:

import torch
from torch.distributions import Normal

def kernel_attention_weights(queries, keys, w=1.0):
    zero = torch.zeros((), dtype=queries.dtype, device=queries.device)
    std_normal = Normal(zero, zero + 1, validate_args=False)
    return std_normal.log_prob((queries.unsqueeze(1) - keys.unsqueeze(0)) * w).softmax(dim=1)
