# exercise: train
# says: NAdam on drawn batches, averaged weights returned
# kind: same
# breaks:

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
