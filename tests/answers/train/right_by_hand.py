# exercise: train
# says: Adam written out; a loss for each sentence
# kind: same
# breaks:

import torch
from torch.nn import functional as F


def train(model, batches, steps, lr=0.002, beta1=0.9, beta2=0.99):
    """Adam written out, gradients from autograd.grad, a loop over sentences for the loss."""
    model.train()
    parameters = list(model.parameters())
    m = [torch.zeros_like(p) for p in parameters]
    v = [torch.zeros_like(p) for p in parameters]
    for t in range(1, steps + 1):
        src, src_valid_len, tgt, tgt_valid_len = batches[(t - 1) % len(batches)]
        scores, _state = model(src, tgt[:, :-1], src_valid_len)
        losses = []
        for row, words, n in zip(scores, tgt, tgt_valid_len.tolist()):
            losses.append(F.cross_entropy(row[:n - 1], words[1:n]))
        grads = torch.autograd.grad(sum(losses) / len(losses), parameters)
        with torch.no_grad():
            for p, g, a, b in zip(parameters, grads, m, v):
                a.mul_(beta1).add_(g, alpha=1 - beta1)
                b.mul_(beta2).addcmul_(g, g, value=1 - beta2)
                p -= lr * (a / (1 - beta1 ** t)) / ((b / (1 - beta2 ** t)).sqrt() + 1e-8)
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}
