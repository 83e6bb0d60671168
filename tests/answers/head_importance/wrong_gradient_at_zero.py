# exercise: head_importance
# says: the gradient where all gates are shut
# kind: mistake
# breaks: values

import torch
from grader.given import gated_attention


def _ablation(mha, inputs, target, loss_fn):
    gates = 1 - torch.eye(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    full = loss_fn(mha(*inputs), target)
    return torch.stack([loss_fn(gated_attention(mha, xi, *inputs), target) - full for xi in gates], 1)


def _gradient(mha, inputs, target, loss_fn):
    ones = torch.ones(mha.num_heads, dtype=mha.W_o.weight.dtype, device=target.device)
    J = torch.autograd.functional.jacobian(lambda xi: loss_fn(gated_attention(mha, xi, *inputs), target), 0 * ones)
    return J.abs()


def _confidence(mha, inputs, target, loss_fn):
    mha(*inputs)
    W = mha.attention.attention_weights
    W = W.view(-1, mha.num_heads, W.shape[1], W.shape[2])
    return W.max(-1)[0].permute(0, 2, 1).reshape(-1, mha.num_heads)


METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}


def head_importance(mha, batches, loss_fn, method):
    measure, training = METHODS[method], mha.training
    mha.eval()
    scores, weight = 0, 0
    try:
        for *inputs, target in batches:
            found = measure(mha, inputs, target, loss_fn).detach()
            scores = scores + found.sum(dim=0)
            weight += found.shape[0]
    finally:
        mha.train(training)
    return scores / weight
