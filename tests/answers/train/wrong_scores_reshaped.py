# exercise: train
# says: scores reshaped to (B, V, T) in place of transposed
# kind: mistake
# breaks: values

import torch
from torch import nn
from torch.nn import functional as F


def train(model, batches, steps):
    """Shuffled batches, AdamW with warmup and decay, smoothed labels."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=steps)
    generator = torch.Generator().manual_seed(0)
    order = []
    for _ in range(steps):
        if not order:
            order = torch.randperm(len(batches), generator=generator).tolist()
        src, src_len, tgt, tgt_len = batches[order.pop()]
        scores = model(src, tgt[:, :-1], src_len)[0]
        labels = tgt[:, 1:].clone()
        positions = torch.arange(labels.size(1)).expand_as(labels)
        labels[positions >= tgt_len[:, None] - 1] = -100
        loss = F.cross_entropy(scores.reshape(len(src), -1, labels.size(1)), labels, label_smoothing=0.05)
        model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    return model.state_dict()
