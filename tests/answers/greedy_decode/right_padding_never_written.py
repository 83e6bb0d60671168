# exercise: greedy_decode
# says: word 0 is never allowed
# kind: policy
# breaks:

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    before = model.training
    model.train(False)
    B = src.size(0)
    out = torch.full((B, num_steps), eos, device=src.device)
    alive = torch.ones(B, dtype=torch.bool, device=src.device)
    lens = torch.zeros(B, dtype=torch.long, device=src.device)
    with torch.no_grad():
        memory = model.encoder(src, src_valid_len)
        state = model.decoder.init_state(memory, src_valid_len)
        last = torch.tensor([[bos]] * B, device=src.device)
        for t in range(num_steps):
            logits, state = model.decoder(last, state)
            logits[..., 0] = -torch.inf
            best = logits.log_softmax(-1)[:, 0].topk(1).indices  # (B, 1)
            alive &= best[:, 0] != eos
            if not alive.any():
                break
            out[:, t] = best[:, 0]
            lens += alive
            last = best
    model.train(before)
    return [out[b, :n].tolist() for b, n in enumerate(lens.tolist())]
