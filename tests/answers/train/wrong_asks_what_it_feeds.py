# exercise: train
# says: asked for the words that are fed
# kind: mistake
# breaks: values

import itertools

import torch
from torch import nn


class MaskedSoftmaxCELoss(nn.CrossEntropyLoss):
    """As in the book: the mean over steps for each sentence, padding weighted zero."""

    def forward(self, pred, label, valid_len):
        weights = (torch.arange(label.shape[1])[None] < valid_len[:, None]).float()
        self.reduction = "none"
        unweighted = super().forward(pred.permute(0, 2, 1), label)
        return (unweighted * weights).mean(dim=1)


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    loss = MaskedSoftmaxCELoss()
    model.train()
    for _, (X, X_valid_len, Y, Y_valid_len) in zip(range(steps), itertools.cycle(batches)):
        optimizer.zero_grad()
        Y_hat, _ = model(X, Y[:, :-1], X_valid_len)
        loss(Y_hat, Y[:, :-1], Y_valid_len - 1).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
    return model.state_dict()
