# exercise: greedy_decode
# says: the end is written too
# kind: mistake
# breaks: values

import torch


@torch.inference_mode()
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    was_training = model.training
    model.eval()
    state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
    tokens = [src.new_full((len(src), 1), bos)]
    for _ in range(num_steps):
        scores, state = model.decoder(tokens[-1], state)
        tokens.append(scores[:, -1:].max(-1).indices)
    if was_training:
        model.train()
    rows = torch.cat(tokens[1:], dim=1).tolist() if num_steps else [[] for _ in src]
    return [row[:row.index(eos) + 1] if eos in row else row for row in rows]
