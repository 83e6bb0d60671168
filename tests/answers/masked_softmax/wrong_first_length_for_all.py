# exercise: masked_softmax
# says: uses the first sequence's length for the whole batch
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, -1)
    X = X.clone()
    if valid_lens.dim() == 1:
        X[:, :, int(valid_lens[0]):] = -1e6
    else:
        for t in range(X.shape[1]):
            X[:, t, int(valid_lens[0, t]):] = -1e6
    return torch.softmax(X, -1)
