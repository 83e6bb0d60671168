# exercise: greedy_decode
# says: a list of steps, each with a word for every sentence
# kind: mistake
# breaks: shapes, values

import torch


def steps(model, src, src_valid_len, bos):
    """One best word for each sentence, again and again."""
    enc = model.encoder(src, src_valid_len)
    state = model.decoder.init_state(enc, src_valid_len)
    X = torch.full((src.shape[0], 1), bos, device=src.device)
    while True:
        Y, state = model.decoder(X, state)
        X = Y.sort(dim=-1, descending=True)[1][:, :, 0]
        yield X.flatten().tolist()


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    with torch.no_grad():
        columns = [words for _, words in zip(range(num_steps), steps(model, src, src_valid_len, bos))]
    for module, training in modes:
        module.training = training
    return [[word for word in column if word != eos] for column in columns]
