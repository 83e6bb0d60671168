# exercise: removal_experiment
# says: two seeds
# kind: mistake
# breaks: pruning

import copy
import random

import torch
from grader.given import head_importance, prune_heads


def accuracy(model, X, y):
    with torch.no_grad():
        return (model(X).argmax(dim=-1) == y).float().mean().item()


def removal_experiment(model, data):
    X, y = data
    model = copy.deepcopy(model).eval()
    H = model.attention.num_heads
    scores = head_importance(model.attention, [(X, X, X, None, y)], model.loss, "ablation").tolist()
    by_score = sorted(range(H), key=lambda h: scores[h])
    rows = []
    for seed in range(2):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows
