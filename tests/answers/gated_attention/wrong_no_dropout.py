# exercise: gated_attention
# says: the weights are never dropped
# kind: mistake
# breaks: modes

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    B, T, _ = queries.shape
    S, H = keys.shape[1], mha.num_heads

    def split(X):
        return X.reshape(B, -1, H, X.shape[-1] // H).permute(0, 2, 1, 3)  # (B, H, ., d)

    q, k, v = split(mha.W_q(queries)), split(mha.W_k(keys)), split(mha.W_v(values))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5  # (B, H, T, S)
    if valid_lens is not None:
        lens = valid_lens.view(B, 1, -1, 1)
        hidden = torch.arange(S, device=keys.device) >= lens
        scores = scores.masked_fill(hidden, float("-inf"))
    weights = scores.softmax(-1)
    Y = weights @ v  # (B, H, T, d)
    Y = Y * gates.view(1, H, 1, 1)
    return mha.W_o(Y.transpose(1, 2).reshape(B, T, -1))
