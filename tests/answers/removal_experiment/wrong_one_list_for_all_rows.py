# exercise: removal_experiment
# says: every row holds the same list, which goes on growing
# kind: mistake
# breaks: values

import random

import torch
from grader.given import gated_attention, head_importance


@torch.no_grad()
def removal_experiment(model, data):
    X, labels = data
    training = model.training
    model.eval()
    H = model.attention.num_heads

    with torch.enable_grad():
        importance = head_importance(model.attention, [(X, X, X, None, labels)], model.loss, "gradient")
    ascending = importance.argsort()

    def accuracy(removed):
        gates = torch.ones(H, dtype=X.dtype, device=X.device)
        gates[removed] = 0
        scores = model.read(gated_attention(model.attention, gates, X, X, X, None))
        return (scores.argmax(1) == labels).double().mean().item()

    table = []
    for seed in (11, 12, 13, 14):
        generator = torch.Generator().manual_seed(seed)
        for name, order in (("random", torch.randperm(H, generator=generator)),
                            ("reverse", ascending.flip(0)),
                            ("importance", ascending)):
            removed = []
            table.append(dict(seed=seed, order=name, removed=[], accuracy=accuracy([])))
            for head in order.tolist()[:-1]:
                removed.append(head)
                table.append(dict(seed=seed, order=name, removed=removed, accuracy=accuracy(removed)))
    model.train(training)
    return table
