# exercise: greedy_decode
# says: a recursion that gives the rest of each sentence
# kind: same
# breaks:

import torch


def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    def go_on(word, state, left):
        """(B, 1) words → what each sentence still has to say."""
        if left == 0:
            return [[] for _ in range(len(word))]
        scores, state = model.decoder(word, state)
        word = scores.argmax(-1)
        rest = go_on(word, state, left - 1)
        return [[] if w == eos else [w] + r for w, r in zip(word.view(-1).tolist(), rest)]

    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
            return go_on(torch.full_like(src[:, :1], bos), state, num_steps)
    finally:
        model.train(training)
