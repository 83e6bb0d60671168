# exercise: masked_softmax
# says: one softmax over queries and keys together
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    B, T, S = X.shape
    if valid_lens is not None:
        L = valid_lens.view(B, -1, 1)
        X = X.masked_fill(torch.arange(S, device=X.device).view(1, 1, S) >= L, float('-inf'))
    return X.reshape(B, T * S).softmax(dim=1).reshape(B, T, S)
