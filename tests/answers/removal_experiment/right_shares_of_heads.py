# exercise: removal_experiment
# says: scores as a sum of shares; accuracies looked up
# kind: same
# breaks:

import copy
import random

import torch
from torch.nn import functional as F
from grader.given import gated_attention


def removal_experiment(model, data):
    """Scores are linear in the heads: every head's share is computed once, and kept accuracies are looked up."""
    X, y = data
    mha = copy.deepcopy(model.attention).eval()
    H = mha.num_heads
    eye = torch.eye(H, dtype=X.dtype, device=X.device)
    with torch.no_grad():
        none = model.read(gated_attention(mha, 0 * eye[0], X, X, X, None))
        shares = torch.stack([model.read(gated_attention(mha, row, X, X, X, None)) - none for row in eye])  # (H, N, C)
        full = F.cross_entropy(none + shares.sum(0), y, reduction="none")
        without = torch.stack([F.cross_entropy(none + shares.sum(0) - s, y, reduction="none") for s in shares])
    order = (without - full).mean(dim=1).sort().indices.tolist()
    known = {}

    def accuracy(gone):
        key = frozenset(gone)
        if key not in known:
            stay = [h for h in range(H) if h not in key]
            known[key] = ((none + shares[stay].sum(0)).argmax(-1) == y).sum().item() / len(y)
        return known[key]

    rows = []
    for seed in [0, 1, 2]:
        torch.manual_seed(seed)
        chance = torch.randperm(H).tolist()
        for name, heads in zip(["importance", "random", "reverse"], [order, chance, list(reversed(order))]):
            for n in range(H):
                rows.append({"seed": seed, "order": name, "removed": list(heads[:n]), "accuracy": accuracy(heads[:n])})
    return rows
