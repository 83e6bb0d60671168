# exercise: masked_softmax
# says: softmax over the batch axis
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        X = X.masked_fill(torch.arange(X.shape[2], device=X.device) >= lens, -1e6)
    return torch.nn.Softmax(dim=0)(X)
