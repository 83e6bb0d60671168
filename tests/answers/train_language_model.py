# %% right_adamw_cosine: AdamW, a warm-up and a cosine, clipped gradients
# kind: same

import math

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=6e-3, betas=(0.9, 0.99))
    warm = max(1, min(30, steps // 15))

    def factor(step):
        if step < warm:
            return (step + 1) / warm
        done = (step - warm) / max(1, steps - warm)
        return 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * done))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    model.train()
    for _, tokens in zip(range(steps), batches):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.state_dict()


# %% right_plain_adam: Adam with one learning rate
# kind: same

import torch
from torch import nn


def train_language_model(model, batches, steps):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    source = iter(batches)
    for step in range(steps):
        rows = next(source)
        x, y = rows[:, :-1], rows[:, 1:]
        out = model(x)
        loss = criterion(out.transpose(1, 2), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return model.state_dict()


# %% right_one_cycle: islice, log_softmax and gather, one cycle of the learning rate
# kind: same

from itertools import islice

import torch


def train_language_model(model, batches, steps):
    if steps == 0:
        return model.state_dict()
    optimiser = torch.optim.NAdam(model.parameters(), lr=4e-3)
    cycle = torch.optim.lr_scheduler.OneCycleLR(
        optimiser,
        max_lr=4e-3,
        total_steps=steps + 1,
        pct_start=0.1,
        anneal_strategy="linear",
        cycle_momentum=False,
        div_factor=4,
        final_div_factor=2,
    )
    for tokens in islice(batches, steps):
        inputs, targets = tokens[..., :-1], tokens[..., 1:]
        log_probs = model(inputs).log_softmax(dim=-1)
        loss = -log_probs.gather(-1, targets.unsqueeze(-1)).mean()
        model.zero_grad()
        loss.backward()
        optimiser.step()
        cycle.step()
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


# %% right_adam_by_hand: Adam written out, gradients by torch.autograd.grad
# kind: same

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    params = [p for p in model.parameters() if p.requires_grad]
    first = [torch.zeros_like(p) for p in params]
    second = [torch.zeros_like(p) for p in params]
    feed = iter(batches)
    for t in range(1, steps + 1):
        tokens = next(feed)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), tokens[:, 1:].reshape(-1))
        grads = torch.autograd.grad(loss, params)
        lr = 4e-3 * min(1.0, t / 20) * (1 - 0.7 * t / steps)
        with torch.no_grad():
            for p, g, m, v in zip(params, grads, first, second):
                m.lerp_(g, 0.1)
                v.lerp_(g * g, 0.02)
                p -= lr * (m / (1 - 0.9**t)) / ((v / (1 - 0.98**t)).sqrt() + 1e-8)
    return model.state_dict()


# %% right_moving_average: a moving average of the weights is loaded into the model at the end
# kind: same

import copy

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    average = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    for step, tokens in zip(range(1, steps + 1), batches):
        optimizer.zero_grad()
        scores = model(tokens[:, :-1])
        F.cross_entropy(scores.permute(0, 2, 1), tokens[:, 1:]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        keep = min(0.98, step / (step + 5))
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), model.parameters()):
                slow.copy_(keep * slow + (1 - keep) * fast)
    model.load_state_dict(average.state_dict())
    return model.state_dict()


# %% right_two_microbatches: every batch in two halves whose gradients are added, RMSprop with momentum
# kind: same

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    was_training = model.training
    model.train()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.98, momentum=0.5)
    source = iter(batches)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * min(1.0, (step + 1) / 30) * min(1.0, 3 * (steps - step) / steps)
        tokens = next(source)
        total = tokens[:, 1:].numel()
        for half in tokens.chunk(2):
            logits = model(half[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, -2), half[:, 1:].flatten(), reduction="sum") / total
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    model.train(was_training)
    return model.state_dict()


# %% wrong_not_shifted: the targets are the tokens that are fed
# kind: mistake
# breaks: values
# equals: tlm-not-shifted

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _, tokens in zip(range(steps), batches):
        inputs = tokens[:, :-1]
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), inputs.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_shifted_twice: the data are shifted, and the loss shifts again
# kind: mistake
# breaks: values
# equals: tlm-shifted-twice

import torch
import torch.nn.functional as F


def loss_of(logits, labels):
    shift_logits = logits[:, :-1].contiguous()
    shift_labels = labels[:, 1:].contiguous()
    return F.cross_entropy(shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1))


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    batches = iter(batches)
    for _ in range(steps):
        tokens = next(batches)
        loss = loss_of(model(tokens[:, :-1]), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.state_dict()


# %% wrong_backwards: asked for the token before
# kind: mistake
# breaks: values
# equals: tlm-backwards

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _, tokens in zip(range(steps), batches):
        logits = model(tokens[:, 1:])
        loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, :-1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_gradients_add_up: gradients are never cleared
# kind: mistake
# breaks: gradients
# equals: tlm-gradients-pile-up

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    source = iter(batches)
    for _ in range(steps):
        tokens = next(source)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_one_batch_more: zip takes a batch before it sees that the steps are over
# kind: mistake
# breaks: values
# equals: tlm-one-batch-too-many

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for tokens, _ in zip(batches, range(steps)):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_four_batches_a_step: gradients of four batches are collected for every step
# kind: mistake
# breaks: values
# equals: tlm-four-batches-a-step

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps, accumulate=4):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    source = iter(batches)
    for _ in range(steps):
        optimizer.zero_grad()
        for _ in range(accumulate):
            tokens = next(source)
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
            (loss / accumulate).backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_steps_minus_one: starts to count at 1
# kind: mistake
# breaks: values, gradients
# equals: tlm-one-step-less

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    source = iter(batches)
    for step in range(1, steps):
        tokens = next(source)
        loss = F.cross_entropy(model(tokens[:, :-1]).mT, tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_first_batch_only: one batch is taken and trained on again and again
# kind: mistake
# breaks: cost, values
# equals: tlm-one-batch-again

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    tokens = next(iter(batches))
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_first_weights_returned: a copy of the weights from before the training
# kind: mistake
# breaks: purity, values
# equals: tlm-weights-of-before

import copy

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    best, best_loss = copy.deepcopy(model.state_dict()), 0.0
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _, tokens in zip(range(steps), batches):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < best_loss:
            best, best_loss = copy.deepcopy(model.state_dict()), loss.item()
    return best


# %% wrong_copy_trained: a copy of the model is trained, the model itself stays new
# kind: mistake
# breaks: values
# equals: tlm-copy-trained

import copy

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    net = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for _, tokens in zip(range(steps), batches):
        loss = F.cross_entropy(net(tokens[:, :-1]).transpose(-1, -2), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net.state_dict()


# %% wrong_never_steps: the optimizer is never asked to step
# kind: mistake
# breaks: values
# equals: tlm-never-stepped

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=max(1, steps))
    for _, tokens in zip(range(steps), batches):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        schedule.step()
    return model.state_dict()


# %% wrong_cleared_too_late: gradients are cleared between backward and step
# kind: mistake
# breaks: values
# equals: tlm-never-stepped

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    source = iter(batches)
    for _ in range(steps):
        tokens = next(source)
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
    return model.state_dict()


# %% wrong_scores_reshaped: (B, T, V) is viewed as (B, V, T)
# kind: mistake
# breaks: values
# equals: tlm-scores-reshaped

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _, tokens in zip(range(steps), batches):
        logits = model(tokens[:, :-1])
        B, T, V = logits.shape
        loss = F.cross_entropy(logits.reshape(B, V, T), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_last_step_only: the loss is taken at the last position only
# kind: mistake
# breaks: values
# equals: tlm-last-token-only

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _, tokens in zip(range(steps), batches):
        logits = model(tokens[:, :-1])[:, -1]
        loss = F.cross_entropy(logits, tokens[:, -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_softmax_twice: probabilities go into cross_entropy
# kind: mistake
# breaks: values
# equals: tlm-softmax-twice

import torch
from torch import nn


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    for _, tokens in zip(range(steps), batches):
        probs = model(tokens[:, :-1]).softmax(dim=-1)
        loss = criterion(probs.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% wrong_line_break_ignored: token 0 is taken for padding
# kind: mistake
# breaks: values
# equals: tlm-line-breaks-left-out

import torch
from torch import nn


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    for _, tokens in zip(range(steps), batches):
        loss = criterion(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% right_whole_rows: whole rows are fed and the last logits dropped
# kind: same

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _, tokens in zip(range(steps), batches):
        logits = model(tokens)[:, :-1]
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


# %% right_model_returned: the model instead of its state dict
# kind: same

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _, tokens in zip(range(steps), batches):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# %% wrong_embedding_not_trained: the optimizer gets the blocks only
# kind: mistake
# breaks: gradients
# equals: tlm-optimizer-of-blocks

import torch
import torch.nn.functional as F


def train_language_model(model, batches, steps):
    learned = [p for name, p in model.named_parameters() if name.startswith("blocks")]
    optimizer = torch.optim.AdamW(learned, lr=3e-3)
    for _, tokens in zip(range(steps), batches):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()
