# exercise: greedy_decode
# says: the best word of the first sentence is fed to all
# kind: mistake
# breaks: values

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    training = model.training
    model.eval()
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        words = torch.full((src.shape[0], 1), bos, dtype=torch.long, device=src.device)
        written = [[] for _ in range(src.shape[0])]
        over = [False] * src.shape[0]
        for _ in range(num_steps):
            scores, state = model.decoder(words, state)
            words = scores.argmax(dim=2)  # (B, 1)
            words = words[:1].expand(len(src), 1)
            for i, word in enumerate(words[:, 0].tolist()):
                if word == eos:
                    over[i] = True
                if not over[i]:
                    written[i].append(word)
            if all(over):
                break
    model.train(training)
    return written
