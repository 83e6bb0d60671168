# %% right_columns_zeroed_and_restored: columns of W_o set to zero and put back; its own ablation; five seeds
# kind: same

import random

import numpy as np
import torch


def removal_experiment(model, data):
    inputs, labels = data
    was = model.training
    model.eval()
    attention = model.attention
    heads = attention.num_heads
    d = attention.W_o.weight.shape[1] // heads
    whole = attention.W_o.weight.detach().clone()

    def losses():
        return model.loss(attention(inputs, inputs, inputs, None), labels)

    def silence(removed):
        attention.W_o.weight.copy_(whole)
        for h in removed:
            attention.W_o.weight[:, h * d:(h + 1) * d] = 0

    rows = []
    with torch.no_grad():
        base = losses().mean()
        importance = []
        for h in range(heads):
            silence([h])
            importance.append((losses().mean() - base).item())
        ranking = np.argsort(importance)
        for seed in range(5):
            orders = {"importance": ranking, "reverse": ranking[::-1],
                      "random": np.random.default_rng(seed).permutation(heads)}
            for n in range(heads):
                for name in orders:
                    removed = [int(h) for h in orders[name][:n]]
                    silence(removed)
                    right = (model(inputs).argmax(-1) == labels).sum().item()
                    rows.append({"seed": seed, "order": name, "removed": removed, "accuracy": right / len(labels)})
        silence([])
    model.train(was)
    return rows


# %% right_gates: gates, sorted heads, another order of rows, importance by gradient
# kind: same

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
                table.append(dict(seed=seed, order=name, removed=sorted(removed), accuracy=accuracy(removed)))
    model.train(training)
    return table


# %% right_pruned_copies: a pruned copy for every row
# kind: same

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
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% right_shares_of_heads: scores as a sum of shares; accuracies looked up
# kind: same

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


# %% right_starts_with_one_head_removed: starts with one head removed
# kind: policy

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
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(1, H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% wrong_confidence: importance by confidence
# kind: mistake
# breaks: pruning
# equals: removal-by-confidence

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
    scores = head_importance(model.attention, [(X, X, X, None, y)], model.loss, "confidence").tolist()
    by_score = sorted(range(H), key=lambda h: scores[h])
    rows = []
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% wrong_dropout_on: accuracy in training mode
# kind: mistake
# breaks: modes, values
# equals: nothing

import copy
import random

import torch
from grader.given import head_importance, prune_heads


def accuracy(model, X, y):
    with torch.no_grad():
        return (model.train()(X).argmax(dim=-1) == y).float().mean().item()


def removal_experiment(model, data):
    X, y = data
    model = copy.deepcopy(model)
    H = model.attention.num_heads
    scores = head_importance(model.attention, [(X, X, X, None, y)], model.loss, "ablation").tolist()
    by_score = sorted(range(H), key=lambda h: scores[h])
    rows = []
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% wrong_heads_not_put_back: what one order removed stays away in the next
# kind: mistake
# breaks: values, purity
# equals: removal-never-restored

import random

import numpy as np
import torch


def removal_experiment(model, data):
    inputs, labels = data
    was = model.training
    model.eval()
    attention = model.attention
    heads = attention.num_heads
    d = attention.W_o.weight.shape[1] // heads
    whole = attention.W_o.weight.detach().clone()

    def losses():
        return model.loss(attention(inputs, inputs, inputs, None), labels)

    def silence(removed):
        for h in removed:
            attention.W_o.weight[:, h * d:(h + 1) * d] = 0

    rows = []
    with torch.no_grad():
        base = losses().mean()
        importance = []
        for h in range(heads):
            silence([h])
            without = losses().mean()
            attention.W_o.weight.copy_(whole)
            importance.append((without - base).item())
        ranking = np.argsort(importance)
        for seed in range(5):
            orders = {"importance": ranking, "reverse": ranking[::-1],
                      "random": np.random.default_rng(seed).permutation(heads)}
            for n in range(heads):
                for name in orders:
                    removed = [int(h) for h in orders[name][:n]]
                    silence(removed)
                    right = (model(inputs).argmax(-1) == labels).sum().item()
                    rows.append({"seed": seed, "order": name, "removed": removed, "accuracy": right / len(labels)})
        silence([])
    model.train(was)
    return rows


# %% wrong_importance_of_a_random_set: sorts by which head is tried, not by score
# kind: mistake
# breaks: pruning
# equals: nothing

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
    by_score = sorted(range(H))
    rows = []
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% wrong_latest_head_only: removed holds only the head that went last
# kind: mistake
# breaks: values
# equals: nothing

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
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[n - 1:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% wrong_no_reverse: two orders
# kind: mistake
# breaks: pruning
# equals: removal-no-reverse

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
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% wrong_one_list_for_all_rows: every row holds the same list, which goes on growing
# kind: mistake
# breaks: values
# equals: nothing

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


# %% wrong_orders_swapped: the most important head goes first
# kind: mistake
# breaks: pruning
# equals: removal-most-important-first

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
    by_score = sorted(range(H), key=lambda h: -scores[h])
    rows = []
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% wrong_percent: accuracy from 0 to 100
# kind: mistake
# breaks: values
# equals: removal-percent

import copy
import random

import torch
from grader.given import head_importance, prune_heads


def accuracy(model, X, y):
    with torch.no_grad():
        return (model(X).argmax(dim=-1) == y).float().mean().item() * 100


def removal_experiment(model, data):
    X, y = data
    model = copy.deepcopy(model).eval()
    H = model.attention.num_heads
    scores = head_importance(model.attention, [(X, X, X, None, y)], model.loss, "ablation").tolist()
    by_score = sorted(range(H), key=lambda h: scores[h])
    rows = []
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% wrong_renumbered: heads as the pruned module numbers them
# kind: mistake
# breaks: values
# equals: nothing

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


# %% wrong_same_chance_every_seed: the same random order with every seed
# kind: mistake
# breaks: pruning
# equals: removal-one-random-order

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
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(0).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% wrong_share_of_errors: the share of wrong answers
# kind: mistake
# breaks: values
# equals: removal-errors

import copy
import random

import torch
from grader.given import head_importance, prune_heads


def accuracy(model, X, y):
    with torch.no_grad():
        return (model(X).argmax(dim=-1) != y).float().mean().item()


def removal_experiment(model, data):
    X, y = data
    model = copy.deepcopy(model).eval()
    H = model.attention.num_heads
    scores = head_importance(model.attention, [(X, X, X, None, y)], model.loss, "ablation").tolist()
    by_score = sorted(range(H), key=lambda h: scores[h])
    rows = []
    for seed in range(3):
        shuffled = list(range(H))
        random.Random(seed).shuffle(shuffled)
        orders = {"importance": by_score, "random": shuffled, "reverse": by_score[::-1]}
        for order, heads in orders.items():
            for n in range(H):
                smaller = copy.deepcopy(model)
                smaller.attention = prune_heads(smaller.attention, heads[:n])
                rows.append({"seed": seed, "order": order, "removed": heads[:n], "accuracy": accuracy(smaller, X, y)})
    return rows


# %% wrong_the_model_itself_changed: the given model is left without heads
# kind: mistake
# breaks: pruning
# equals: nothing

import random

import numpy as np
import torch


def removal_experiment(model, data):
    inputs, labels = data
    was = model.training
    model.eval()
    attention = model.attention
    heads = attention.num_heads
    d = attention.W_o.weight.shape[1] // heads
    whole = attention.W_o.weight.detach().clone()

    def losses():
        return model.loss(attention(inputs, inputs, inputs, None), labels)

    def silence(removed):
        attention.W_o.weight.copy_(whole)
        for h in removed:
            attention.W_o.weight[:, h * d:(h + 1) * d] = 0

    rows = []
    with torch.no_grad():
        base = losses().mean()
        importance = []
        for h in range(heads):
            silence([h])
            importance.append((losses().mean() - base).item())
        ranking = np.argsort(importance)
        for seed in range(5):
            orders = {"importance": ranking, "reverse": ranking[::-1],
                      "random": np.random.default_rng(seed).permutation(heads)}
            for n in range(heads):
                for name in orders:
                    removed = [int(h) for h in orders[name][:n]]
                    silence(removed)
                    right = (model(inputs).argmax(-1) == labels).sum().item()
                    rows.append({"seed": seed, "order": name, "removed": removed, "accuracy": right / len(labels)})
    model.train(was)
    return rows


# %% wrong_two_seeds: two seeds
# kind: mistake
# breaks: pruning
# equals: removal-too-few-seeds

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


# %% wrong_highest_first: the order "importance" removes the most important head first, "reverse" the least
# kind: mistake
# breaks: pruning
# equals: removal-most-important-first

import torch

from grader.given import gated_attention, head_importance


def removal_experiment(model, data):
    inputs, labels = data
    was_training = model.training
    model.eval()
    num_heads = model.attention.num_heads
    batch = (inputs, inputs, inputs, None, labels)
    importance = head_importance(model.attention, [batch], model.loss, "gradient")
    ranked = importance.argsort(descending=True).tolist()

    def accuracy(removed):
        gates = torch.tensor([float(h not in removed) for h in range(num_heads)]).to(inputs)
        with torch.no_grad():
            output = gated_attention(model.attention, gates, inputs, inputs, inputs, None)
            predicted = model.read(output).argmax(dim=-1)
        return (predicted == labels).double().mean().item()

    results = []
    for seed in (0, 1, 2):
        generator = torch.Generator().manual_seed(seed)
        orders = {
            "importance": ranked,
            "random": torch.randperm(num_heads, generator=generator).tolist(),
            "reverse": list(reversed(ranked)),
        }
        for name, order in orders.items():
            for k in range(num_heads):
                results.append(
                    {"seed": seed, "order": name, "removed": order[:k], "accuracy": accuracy(order[:k])}
                )
    model.train(was_training)
    return results


# %% wrong_same_removed_list: all rows of an order hold the same growing list
# kind: mistake
# breaks: modes, pruning, values
# equals: removal-one-list-for-all-rows

import torch
from torch import nn

from grader.given import gated_attention, head_importance


def removal_experiment(model: nn.Module, data: tuple) -> list[dict]:
    X, labels = data
    mha = model.attention
    H = mha.num_heads
    importance = head_importance(mha, [(X, X, X, None, labels)], model.loss, "ablation")
    ranking = importance.argsort().tolist()

    was_training = model.training
    model.eval()
    rows = []
    for seed in range(3):
        gen = torch.Generator().manual_seed(seed)
        orders = {
            "importance": ranking,
            "random": torch.randperm(H, generator=gen).tolist(),
            "reverse": ranking[::-1],
        }
        for name, order in orders.items():
            removed = []
            gates = torch.ones(H)
            for n in range(H):
                with torch.no_grad():
                    scores = model.read(gated_attention(mha, gates, X, X, X, None))
                acc = (scores.argmax(dim=1) == labels).float().mean().item()
                rows.append({"seed": seed, "order": name, "removed": removed, "accuracy": acc})
                # remove the next one
                removed.append(order[n])
                gates[order[n]] = 0
    model.train(was_training)
    return rows
