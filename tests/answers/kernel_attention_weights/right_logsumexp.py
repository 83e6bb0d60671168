# exercise: kernel_attention_weights
# says: exp of the score minus its logsumexp
# kind: same
# breaks:

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    diff = queries.unsqueeze(-1) - keys
    logits = -0.5 * torch.pow(diff * w, 2)
    return torch.exp(logits - torch.logsumexp(logits, dim=-1, keepdim=True))
