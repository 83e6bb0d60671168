# exercise: train
# says: target lengths passed instead of source lengths
# kind: mistake
# breaks: masking

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, tgt_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()
