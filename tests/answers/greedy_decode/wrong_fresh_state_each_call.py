# exercise: greedy_decode
# says: a new state for every word
# kind: mistake
# breaks: values

import torch


def _sentence(model, src, valid_len, num_steps, bos, eos):
    state = model.decoder.init_state(model.encoder(src, valid_len), valid_len)
    sentence, word = [], bos
    while len(sentence) < num_steps:
        state = model.decoder.init_state(model.encoder(src, valid_len), valid_len)
        scores, state = model.decoder(torch.tensor([[word]], device=src.device), state)
        word = int(torch.argmax(scores.squeeze()))
        if word == eos:
            break
        sentence.append(word)
    return sentence


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    mode, result = model.training, []
    model.eval()
    for b in range(len(src)):
        result.append(_sentence(model, src[b:b + 1], src_valid_len[b:b + 1], num_steps, bos, eos))
    model.train(mode)
    return result
