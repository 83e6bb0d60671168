# exercise: removal_experiment
# says: heads as the pruned module numbers them
# kind: mistake
# breaks: values

import copy
import random

from grader.given import head_importance, prune_heads


def removal_experiment(model, data):
    X, y = data
    model = copy.deepcopy(model).eval()
    H = model.attention.num_heads
    scores = head_importance(model.attention, [(X, X, X, None, y)], model.loss, "ablation").tolist()
    by_score = sorted(range(H), key=lambda h: scores[h])
    rows = []
    for seed in range(3):
        shuffled = random.Random(seed).sample(range(H), H)
        for order, heads in (("importance", by_score), ("random", shuffled), ("reverse", by_score[::-1])):
            smaller, removed = copy.deepcopy(model), []
            for n in range(H):
                right = (smaller(X).argmax(-1) == y).float().mean().item()
                rows.append({"seed": seed, "order": order, "removed": list(removed), "accuracy": right})
                if n < H - 1:
                    head = heads[n] % smaller.attention.num_heads
                    smaller.attention = prune_heads(smaller.attention, [head])
                    removed.append(heads[n])
    return rows
