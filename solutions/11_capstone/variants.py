"""Right answers written differently, and trivial answers."""

from grader.authoring import trivial, variant

VARIANTS = [
    variant(
        "as-in-the-book",
        "train",
        '''
def train(net, data, num_steps):
    """Weight the loss of each word by a mask, clip gradients, and put the start token in front."""
    from itertools import cycle, islice

    optimizer = torch.optim.AdamW(net.parameters(), lr=0.005, weight_decay=0.0)
    entropy = nn.CrossEntropyLoss(reduction="none")
    net.train()
    for X, X_len, Y, Y_len in islice(cycle(data), num_steps):
        optimizer.zero_grad()
        decoder_input = torch.cat([Y[:, :1], Y[:, 1:-1]], dim=1)
        Y_hat, _ = net(X, decoder_input, X_len)
        label = Y[:, 1:]
        weights = torch.zeros_like(label, dtype=Y_hat.dtype)
        for row, n in zip(weights, Y_len.tolist()):
            row[: n - 1] = 1
        loss = (entropy(Y_hat.permute(0, 2, 1), label) * weights).sum() / weights.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1)
        optimizer.step()
    return {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}
''',
    ),
    variant(
        "parts-called-apart",
        "train",
        '''
def train(model, batches, steps):
    """Call encoder and decoder separately, recognise padding by its token, and return the module itself."""
    losses, step = [], 0
    adam = torch.optim.Adam(model.parameters(), lr=2e-3, betas=(0.9, 0.98))
    while step < steps:
        for src, src_valid_len, tgt, _ in batches:
            if step == steps:
                break
            model.encoder.train(), model.decoder.train(), model.train()
            state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
            scores = model.decoder(tgt[:, :-1], state)[0]
            loss = nn.functional.cross_entropy(scores.transpose(1, 2), tgt[:, 1:], ignore_index=0)
            loss.backward()
            adam.step()
            adam.zero_grad(set_to_none=False)
            losses.append(loss.item())
            step += 1
    return model
''',
    ),
    variant(
        "warmed-up-in-halves",
        "train",
        '''
def train(model, batches, steps):
    """Shuffle the batches, add the gradients of two halves, smooth the labels, and warm up the learning rate."""
    model.train()
    chance = torch.Generator().manual_seed(3)
    adam = torch.optim.Adam(model.parameters(), lr=0.004)
    rate = torch.optim.lr_scheduler.LambdaLR(adam, lambda n: min(n / 20, 1.0))
    order = []
    for _ in range(steps):
        order = order or torch.randperm(len(batches), generator=chance).tolist()
        batch = batches[order.pop()]
        model.zero_grad()
        words = (batch[3] - 1).sum()
        for half in (slice(None, len(batch[0]) // 2), slice(len(batch[0]) // 2, None)):
            src, lens, tgt, tgt_lens = (column[half] for column in batch)
            log = model(src, tgt[:, :-1], lens)[0].log_softmax(-1)
            right = -log.gather(2, tgt[:, 1:, None])[..., 0]
            smooth = 0.95 * right - 0.05 * log.mean(-1)
            counts = torch.arange(right.shape[1])[None] + 1 < tgt_lens[:, None]
            ((smooth * counts).sum() / words).backward()
        adam.step()
        rate.step()
    return model.state_dict()
''',
    ),
    trivial(
        "untrained",
        "train",
        """
def train(model, batches, steps):
    return model.state_dict()
""",
    ),
    trivial(
        "all-zero",
        "train",
        """
def train(model, batches, steps):
    return {name: torch.zeros_like(tensor) for name, tensor in model.state_dict().items()}
""",
    ),
    variant(
        "as-a-tensor",
        "greedy_decode",
        '''
@torch.no_grad()
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    """Return a tensor (B, num_steps): after its end, a sentence is filled with end tokens."""
    model.eval()
    state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
    word = src.new_full((src.shape[0], 1), bos)
    out = src.new_full((src.shape[0], num_steps), eos)
    over = torch.zeros_like(word, dtype=torch.bool)
    for t in range(num_steps):
        scores, state = model.decoder(word, state)
        word = torch.where(over, eos, scores.argmax(-1))
        over = over | (word == eos)
        out[:, t] = word[:, 0]
        if over.all():
            break
    return out
''',
    ),
    variant(
        "one-by-one",
        "greedy_decode",
        '''
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    """Decode one sentence after the other, each without the padding of its source."""
    was = model.training
    model.eval()
    sentences = []
    with torch.no_grad():
        for source, n in zip(src, src_valid_len):
            source = source[None, : int(n)]
            state = model.decoder.init_state(model.encoder(source, None), None)
            sentence, newest = [], bos
            while len(sentence) < num_steps:
                scores, state = model.decoder(torch.tensor([[newest]], device=src.device), state)
                newest = int(scores[0, 0].argmax())
                if newest == eos:
                    break
                sentence.append(newest)
            sentences.append(sentence)
    model.train(was)
    return sentences
''',
    ),
    variant(
        "one-tensor-per-sentence",
        "greedy_decode",
        '''
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    """Return one tensor per sentence, and record gradients that are not needed."""
    model.eval()
    outputs = model.encoder(src, src_valid_len)
    state = model.decoder.init_state(outputs, src_valid_len)
    sentences, words = [[] for _ in src], torch.tensor([[bos]] * len(src), device=src.device)
    for _ in range(num_steps):
        log, state = model.decoder(words, state)
        words = log.log_softmax(dim=2).max(dim=2).indices
        for sentence, word in zip(sentences, words[:, 0]):
            if eos not in sentence:
                sentence.append(int(word))
    ended = [sentence[:-1] if eos in sentence else sentence for sentence in sentences]
    return tuple(torch.tensor(sentence, device=src.device) for sentence in ended)
''',
    ),
    variant(
        "filled-with-padding",
        "greedy_decode",
        '''
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    """Replace the end token and everything after it by padding."""
    model.eval()
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        words = [torch.full_like(src[:, :1], bos)]
        for _ in range(num_steps):
            scores, state = model.decoder(words[-1], state)
            words.append(torch.topk(scores[:, -1], 1).indices)
        words = torch.hstack(words[1:])
        return words * ((words == eos).cumsum(dim=1) == 0)
''',
    ),
    trivial(
        "nothing",
        "greedy_decode",
        """
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    return [[] for _ in src]
""",
    ),
    trivial(
        "the-source",
        "greedy_decode",
        """
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    return [row[:num_steps] for row in src.tolist()]
""",
    ),
]
