# exercise: greedy_decode
# says: stops, and looks at ends at all, only where all end in the same step
# kind: mistake
# breaks: values

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    model.eval()
    state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
    X = torch.full((len(src), 1), bos, device=src.device)
    words = []
    for _ in range(num_steps):
        scores, state = model.decoder(X, state)
        X = scores.argmax(-1)
        if (X == eos).all():
            break
        words.append(X)
    model.train(training)
    return torch.cat(words, 1).tolist() if words else [[] for _ in src]
