# %% right_averaged: NAdam on drawn batches, averaged weights returned
# kind: same

import random

import torch


def train(model, batches, steps):
    """The weights of the last third are averaged and go back into the model."""
    model.train()
    torch.manual_seed(5)
    optimizer = torch.optim.NAdam(model.parameters(), lr=0.002)
    average = torch.optim.swa_utils.AveragedModel(model)
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = random.Random(step).choice(batches)
        real = torch.arange(1, tgt.shape[1]) < tgt_valid_len[:, None]  # (B, T)
        scores, _ = model(src, tgt[:, :-1], src_valid_len)
        log_p = scores[real].log_softmax(dim=-1)  # words that count, V
        loss = -log_p.gather(1, tgt[:, 1:][real][:, None]).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        if step >= 2 * steps // 3:
            average.update_parameters(model)
    model.load_state_dict(average.module.state_dict())
    return model.state_dict()


# %% right_book: the book's loss and clipped gradients
# kind: same

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
        loss(Y_hat, Y[:, 1:], Y_valid_len - 1).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
    return model.state_dict()


# %% right_by_hand: Adam written out; a loss for each sentence
# kind: same

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


# %% right_shuffled_schedule: shuffled batches, AdamW, a schedule, smoothed labels
# kind: same

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
        loss = F.cross_entropy(scores.transpose(1, 2), labels, label_smoothing=0.05)
        model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    return model.state_dict()


# %% wrong_asks_what_it_feeds: asked for the words that are fed
# kind: mistake
# breaks: values
# equals: train-target-not-shifted

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


# %% wrong_cleared_too_late: gradients cleared between backward and step
# kind: mistake
# breaks: gradients, values
# equals: train-never-stepped

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
    return model.state_dict()


# %% wrong_decoder_only: only the decoder's parameters are trained
# kind: mistake
# breaks: gradients, values
# equals: train-optimizer-of-decoder

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.decoder.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_end_not_learned: the end is left out of the loss
# kind: mistake
# breaks: masking, values
# equals: train-end-not-learned

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 2).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_evaluation_mode: trains in evaluation mode
# kind: mistake
# breaks: modes
# equals: train-in-evaluation-mode

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.eval()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_feeds_what_it_asks: the words that are asked for are fed
# kind: mistake
# breaks: values
# equals: train-fed-the-answer

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, 1:], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_first_batch_only: always the first batch
# kind: mistake
# breaks: values
# equals: train-first-batch-only

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[0]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_first_weights_returned: a copy of the weights from before the training
# kind: mistake
# breaks: values, gradients
# equals: train-weights-of-before

import copy

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    weights = copy.deepcopy(model.state_dict())
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return weights


# %% wrong_gradients_add_up: gradients never cleared
# kind: mistake
# breaks: gradients
# equals: train-gradients-pile-up

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_mode_as_it_comes: never says in which mode
# kind: mistake
# breaks: modes
# equals: train-in-evaluation-mode

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
    for _, (X, X_valid_len, Y, Y_valid_len) in zip(range(steps), itertools.cycle(batches)):
        optimizer.zero_grad()
        Y_hat, _ = model(X, Y[:, :-1], X_valid_len)
        loss(Y_hat, Y[:, 1:], Y_valid_len - 1).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
    return model.state_dict()


# %% wrong_never_steps: the optimizer is never asked to step
# kind: mistake
# breaks: gradients, values
# equals: train-never-stepped

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
        loss(Y_hat, Y[:, 1:], Y_valid_len - 1).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
    return model.state_dict()


# %% wrong_once_through: one pass over the batches, whatever steps says
# kind: mistake
# breaks: values, gradients
# equals: train-one-round-only

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for src, src_valid_len, tgt, tgt_valid_len in batches:
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_one_padding_counts: the first padding behind the end counts
# kind: mistake
# breaks: masking
# equals: train-one-padding-counts

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < tgt_valid_len.unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_padding_counts: padding is a word like any other
# kind: mistake
# breaks: masking
# equals: train-loss-on-padding

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = loss.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_plain_sgd: plain gradient descent with a small step
# kind: mistake
# breaks: values
# equals: nothing

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_scores_reshaped: scores reshaped to (B, V, T) in place of transposed
# kind: mistake
# breaks: values
# equals: nothing

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


# %% wrong_source_lens_for_loss: the source's lengths say which target words count
# kind: mistake
# breaks: masking
# equals: nothing

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (src_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_source_lens_missing: the model is called without source lengths
# kind: mistake
# breaks: masking
# equals: train-source-lens-ignored

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_steps_for_every_batch: takes steps for a number of epochs
# kind: mistake
# breaks: values, gradients
# equals: train-steps-for-every-batch

import torch
from torch.nn import functional as F


def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for src, src_valid_len, tgt, tgt_valid_len in batches * min(steps, 30):
        tgt_in, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        loss = F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)
        counts = torch.arange(wanted.shape[1]) < (tgt_valid_len - 1).unsqueeze(1)
        loss = (loss * counts).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_target_lens_for_source: target lengths passed instead of source lengths
# kind: mistake
# breaks: masking
# equals: train-target-lens-for-source

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


# %% wrong_classes_on_last_axis: the classes stay on the last axis of the scores
# kind: mistake
# breaks: values
# equals: nothing

import torch
from torch import nn


def train(model: nn.Module, batches: list[tuple[torch.Tensor, ...]], steps: int) -> dict[str, torch.Tensor]:
    model.train()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    it = 0
    while it < steps:
        for src, src_valid_len, tgt, tgt_valid_len in batches:
            if it == steps:
                break
            opt.zero_grad()
            scores = model(src, tgt[:, :-1], src_valid_len)[0]
            y = tgt[:, 1:]
            l = nn.functional.cross_entropy(scores, y, reduction="none")
            m = torch.arange(y.shape[1], device=y.device) < (tgt_valid_len - 1).unsqueeze(1)
            l = l[m].mean()
            l.backward()
            opt.step()
            it += 1
    return model.state_dict()


# %% right_gather_and_autograd_grad: the loss gathered from log_softmax, gradients from autograd.grad
# kind: same

import itertools
import random

import torch
from torch import nn


def train(model: nn.Module, batches: list[tuple[torch.Tensor, ...]], steps: int) -> dict[str, torch.Tensor]:
    model.train()
    weights = [p for p in model.parameters() if p.requires_grad]
    adam = torch.optim.Adam(weights, lr=2e-3)

    def forever():
        while True:
            yield from random.sample(batches, k=len(batches))

    for src, src_valid_len, tgt, tgt_valid_len in itertools.islice(forever(), steps):
        given, wanted = tgt[:, :-1], tgt[:, 1:]
        scores, _state = model(src, given, src_valid_len)
        log_p = scores.log_softmax(dim=-1).gather(2, wanted.unsqueeze(2)).squeeze(2)  # (B, T)
        step = torch.ones_like(wanted).cumsum(dim=1)  # 1, 2, 3, ...
        padding = step >= tgt_valid_len.unsqueeze(1)
        loss = -log_p.masked_fill(padding, 0.0).sum() / (~padding).sum()
        # fresh gradients, nothing to clear
        for p, g in zip(weights, torch.autograd.grad(loss, weights, allow_unused=True), strict=True):
            p.grad = g
        adam.step()
    return model.state_dict()


# %% wrong_mask_one_too_long: the mask counts one label too many
# kind: mistake
# breaks: masking
# equals: train-one-padding-counts

import torch
from torch import nn


def train(model: nn.Module, batches: list[tuple[torch.Tensor, ...]], steps: int) -> dict[str, torch.Tensor]:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
    loss_fn = nn.CrossEntropyLoss(reduction="none")
    model.train()
    for step in range(steps):
        src, src_valid_len, tgt, tgt_valid_len = batches[step % len(batches)]
        tgt_in, labels = tgt[:, :-1], tgt[:, 1:]
        scores, _ = model(src, tgt_in, src_valid_len)
        losses = loss_fn(scores.permute(0, 2, 1), labels)  # (B, T)
        # real words only
        positions = torch.arange(labels.shape[1], device=labels.device)
        mask = positions[None, :] < tgt_valid_len[:, None]
        loss = (losses * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_new_adam_and_old_mode: two mistakes: a new Adam at every step, and the mode as it comes
# kind: mistake
# breaks: modes
# equals: train-in-evaluation-mode

import torch
from torch import nn


def train(model: nn.Module, batches: list[tuple[torch.Tensor, ...]], steps: int) -> dict[str, torch.Tensor]:
    def loss_of(batch):
        src, src_valid_len, tgt, tgt_valid_len = batch
        scores, _ = model(src, tgt[:, :-1], src_valid_len)
        real = torch.arange(tgt.shape[1] - 1, device=tgt.device)[None] < tgt_valid_len[:, None] - 1
        return nn.functional.cross_entropy(scores[real], tgt[:, 1:][real])

    for i in range(steps):
        batch = batches[i % len(batches)]
        optim = torch.optim.Adam(model.parameters(), lr=0.002)
        optim.zero_grad()
        loss = loss_of(batch)
        loss.backward()
        optim.step()
    return model.state_dict()
