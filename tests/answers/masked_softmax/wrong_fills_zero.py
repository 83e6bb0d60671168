# exercise: masked_softmax
# says: fills masked scores with 0
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        if valid_lens.ndim == 1:
            valid_lens = valid_lens.reshape(-1, 1)
        pad = torch.arange(X.size(-1), device=X.device) >= valid_lens.unsqueeze(-1)
        X = X.masked_fill(pad, 0)
    return torch.softmax(X, dim=-1)
