# exercise: masked_softmax
# says: scores detached (no gradient)
# kind: mistake
# breaks: gradients

import torch

def masked_softmax(X, valid_lens):
    scores = X.detach().clone()
    if valid_lens is not None:
        if valid_lens.dim() == 1:
            valid_lens = valid_lens.unsqueeze(1)
        mask = torch.arange(scores.shape[-1], device=X.device) >= valid_lens.unsqueeze(-1)
        scores[mask.expand_as(scores)] = -1e6
    return scores.softmax(dim=-1)
