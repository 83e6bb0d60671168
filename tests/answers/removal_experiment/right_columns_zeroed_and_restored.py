# exercise: removal_experiment
# says: columns of W_o set to zero and put back; its own ablation; five seeds
# kind: same
# breaks:

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
