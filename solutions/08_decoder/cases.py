"""Cases for the decoder: whole sequences in training, one step per call in prediction."""

import numpy as np

from grader.authoring import Case, Ref, block_arguments, eye, filled, weights, zeros

AXES = ("batch", "step", "feature")
WORDS = ("batch", "step", "word")
LAYER, LAYERS = 1, 2  # the block under test is the second of two, so its cache entry is not entry 0
D, H, HIDDEN = 8, 2, 9
VOCABULARY = 11

# The cases for dropout use a larger D and three regions of features: `dropped` passes through dropout,
# `floor` is zero, and `kept` has the value that dropout gives to an element that it keeps, 1 / (1 - P).
WIDE, P = 24, 0.5
REGIONS = {"dropped": [0, 16], "floor": [16, 20], "kept": [20, 24]}


def sizes(draw):
    """Return B < T < S, all other than H and D / H. So T is at least 5: faults of the cache show from step 3 on."""
    return sorted(draw.sizes(3, low=3, high=7, avoid=(H, D // H)))


# ---- DecoderBlock


def DecoderBlock(draw):
    B, T, S = sizes(draw)

    for id, lens, title, facet in (
        ("training", None, "a whole sequence in training", "values"),
        (
            "training-with-padding",
            draw.lens(B, S),
            "encoder outputs beyond enc_valid_lens are ignored",
            "masking",
        ),
    ):
        case = Case(id, "DecoderBlock")
        module = add_block(case, weights.decoder_block(draw, D, HIDDEN))
        case.train(module)
        case.stages(
            module,
            attention1="the self-attention",
            addnorm1="the first AddNorm",
            attention2="the cross-attention",
            addnorm2="the second AddNorm",
            ffn="the feed-forward network",
            addnorm3="the third AddNorm",
        )
        X = case.input("X", draw.normal(B, T, D), grad=True)
        enc = case.input("enc_outputs", draw.normal(B, S, D), grad=True)
        enc_lens = None if lens is None else case.input("enc_valid_lens", lens)
        Y = case.call(X, state_of(case, enc, enc_lens), on=module, name="out")[0]
        case.see(Y, axes=AXES)
        case.check_shape(Y, f"shape and dtype: {title}")
        case.check_values(Y, title, facet)
        flow = case.gradients(Y, draw.normal(B, T, D), wrt=[X, enc], parameters=module)
        case.check_gradients(flow, f"gradients: {title}")
        case.check_unchanged(X, enc)
        if lens is None:
            case.check_parameters()
        else:
            case.check_precision(Y, "result and dtype")
        yield case

    yield block_no_future(draw, B, T, S)
    yield block_step_by_step(draw, B, T, S)
    yield block_two_layers(draw, T, S)
    yield block_evaluation(draw, B, T, S)
    yield from block_dropout()
    yield block_with_gradients(draw, B, T, S)


def add_block(case, loaded, D=D, hidden=HIDDEN, dropout=0.0, layer=LAYER, name="module", heads=H):
    module = case.build(
        "DecoderBlock",
        name,
        **block_arguments(D, heads, hidden, dropout),
        i=layer,
    )
    case.load(module, loaded)
    return module


def state_of(case, enc, lens, name="state"):
    return case.value(name, [enc, lens, [None] * LAYERS])


def stepwise(case, module, steps, state, name):
    """Decode one step per call, with the returned state."""
    parts = []
    for t, x in enumerate(steps):
        out = case.call(x, state, on=module, name=f"{name}{t}")
        parts.append(out[0])
        state = out[1]
    return case.join(parts, dim=1, name=name, axes=AXES)


def block_no_future(draw, B, T, S):
    case = Case("no-future", "DecoderBlock")
    module = add_block(case, weights.decoder_block(draw, D, HIDDEN))
    case.train(module)
    X = draw.normal(B, T, D)
    other = X.copy()
    other[:, T - 1] = draw.normal(B, D)
    enc, lens = case.input("enc_outputs", draw.normal(B, S, D)), case.input("enc_valid_lens", draw.lens(B, S))
    early = ((None, None), (0, T - 1))
    left = case.call(case.input("X", X), state_of(case, enc, lens, "state1"), on=module, name="left")
    right = case.call(
        case.input("other_last_token", other), state_of(case, enc, lens, "state2"), on=module, name="right"
    )
    case.check_same(
        case.part(left[0], *early, axes=AXES),
        case.part(right[0], *early, axes=AXES),
        "in training no step attends to a later one",
        "masking",
        "changing the last token changed the result of an earlier step",
    )
    return case


def block_step_by_step(draw, B, T, S):
    case = Case("step-by-step", "DecoderBlock")
    module = add_block(case, weights.decoder_block(draw, D, HIDDEN))
    case.eval(module)
    case.grad(False)  # decoding needs no gradients
    steps = [case.input(f"x{t}", draw.normal(B, 1, D)) for t in range(T)]
    enc, lens = case.input("enc_outputs", draw.normal(B, S, D)), case.input("enc_valid_lens", draw.lens(B, S))
    first = stepwise(case, module, steps, state_of(case, enc, lens, "state1"), "first")
    again = stepwise(case, module, steps, state_of(case, enc, lens, "state2"), "again")
    case.check_values(first, "one step per call gives the same result as the whole sequence", "modes")
    case.check_same(
        first,
        again,
        "a new state contains no earlier steps",
        "modes",
        "decoding the same sequence a second time gave a different result",
    )
    case.check_unchanged(enc, *steps, title="decoding does not change the arguments")
    # Result 1 of the first step is the state; entry 2 of the state is the cache.
    case.see_none(Ref("first0", (1, 2, LAYER)), "this layer's entry after a step")
    return case


def block_with_gradients(draw, B, T, S):
    case = Case("evaluation-with-gradients", "DecoderBlock")
    module = add_block(case, weights.decoder_block(draw, D, HIDDEN))
    case.eval(module)
    steps = [case.input(f"x{t}", draw.normal(B, 1, D)) for t in range(T)]
    state = state_of(case, case.input("enc_outputs", draw.normal(B, S, D)), None)
    title = "one step per call in evaluation mode, while gradients are recorded"
    case.check_values(stepwise(case, module, steps, state, "out"), title, "modes", policy="grad-mode")
    return case


def block_two_layers(draw, T, S):
    """Return a case with two blocks, a single sequence, and another number of heads than in the other cases."""
    B = 1
    case = Case("two-layers", "DecoderBlock")
    lower = add_block(case, weights.decoder_block(draw, D, HIDDEN), layer=0, heads=4)
    upper = add_block(case, weights.decoder_block(draw, D, HIDDEN), layer=1, name="second", heads=4)
    case.eval(lower)
    case.eval(upper)
    case.grad(False)
    state = state_of(case, case.input("enc_outputs", draw.normal(B, S, D)), None)
    parts = []
    for t in range(T):
        middle = case.call(case.input(f"x{t}", draw.normal(B, 1, D)), state, on=lower, name=f"middle{t}")
        top = case.call(middle[0], middle[1], on=upper, name=f"top{t}")
        parts.append(top[0])
        state = top[1]
    case.check_values(
        case.join(parts, dim=1, axes=AXES), "two layers, each with its own cache entry", "modes"
    )
    return case


def block_evaluation(draw, B, T, S):
    case = Case("evaluation", "DecoderBlock")
    module = add_block(case, weights.decoder_block(draw, D, HIDDEN), dropout=P)
    case.eval(module)
    case.grad(False)
    case.seed(11)  # fixes the values of a wrong answer with dropout
    steps = [case.input(f"x{t}", draw.normal(B, 1, D)) for t in range(T)]
    state = state_of(case, case.input("enc_outputs", draw.normal(B, S, D)), None)
    case.check_values(stepwise(case, module, steps, state, "out"), "no dropout in evaluation", "modes")
    return case


def block_dropout():
    """Yield a case for each part of the block that has dropout.

    The part returns 1 in the region `dropped` and 0 elsewhere; the other parts return 0. In an attention,
    all weights are equal and all values are 1, so each head returns the sum of its weights after dropout.
    """
    B, T, S = 16, 16, 8
    # 1 / (1 - P) in the region `kept`, 0 before it
    residual = np.repeat([0.0, 1 / (1 - P)], [REGIONS["kept"][0], WIDE - REGIONS["kept"][0]])
    ones_on_region = filled(1 / WIDE, WIDE, WIDE, rows=REGIONS["dropped"][1])

    case, module = wide_block(
        "dropout-self-attention",
        {
            "attention1.W_v.weight": filled(1 / residual.sum(), WIDE, WIDE),
            "attention1.W_o.weight": ones_on_region,
        },
    )
    # Only the last step attends to S steps. So this case checks only that step, of T times as many sentences.
    quiet = case.constant("zeros", (T * B, S, REGIONS["kept"][0]), 0.0)
    level = case.constant("levels", (T * B, S, WIDE - REGIONS["kept"][0]), 1 / (1 - P))
    X = case.join([quiet, level], dim=2, name="X")
    Y = case.call(
        X, state_of(case, case.constant("enc_outputs", (T * B, 1, WIDE)), None), on=module, name="out"
    )[0]
    last = case.part(Y, (None, None), (S - 1, S), name="last_step")
    check_dropped(case, last, "dropout of the self-attention: its weights, then its output", H * S)
    yield case

    case, module = wide_block(
        "dropout-cross-attention",
        {
            "addnorm1.ln.weight": zeros(WIDE),
            "addnorm1.ln.bias": residual,
            "attention2.W_v.weight": filled(1 / WIDE, WIDE, WIDE),
            "attention2.W_o.weight": ones_on_region,
        },
    )
    X, enc = case.constant("X", (B, T, WIDE)), case.constant("enc_outputs", (B, S, WIDE))
    Y = case.call(X, state_of(case, enc, None), on=module, name="out")[0]
    check_dropped(case, Y, "dropout of the cross-attention: its weights, then its output", H * S)
    yield case

    norm = {"addnorm2.ln.weight": zeros(WIDE), "addnorm2.ln.bias": residual}
    case, module = wide_block("dropout-ffn", {**norm, **ones_from_ffn()})
    X, enc = case.constant("X", (B, T, WIDE)), case.constant("enc_outputs", (B, 1, WIDE))
    Y = case.call(X, state_of(case, enc, None), on=module, name="out")[0]
    check_dropped(case, Y, "dropout of the feed-forward network's output")
    yield case


def wide_block(id, loaded):
    """Return a case and a block in training mode with dropout.

    The sublayers without weights in `loaded` return zeros.
    """
    case = Case(id, "DecoderBlock")
    module = add_block(case, {**silent_block(), **loaded}, D=WIDE, hidden=2, dropout=P)
    case.train(module)
    case.seed(7)
    return case, module


def silent_block(prefix=""):
    """Return the weights of a wide block that only normalises its input."""
    out = {}
    for attention in ("attention1", "attention2"):
        out |= {f"{prefix}{attention}.{W}.weight": zeros(WIDE, WIDE) for W in ("W_q", "W_k", "W_v", "W_o")}
    for norm in ("addnorm1", "addnorm2", "addnorm3"):
        out |= {f"{prefix}{norm}.ln.weight": filled(1.0, WIDE), f"{prefix}{norm}.ln.bias": zeros(WIDE)}
    out |= {f"{prefix}ffn.dense1.weight": zeros(2, WIDE), f"{prefix}ffn.dense1.bias": zeros(2)}
    return out | {f"{prefix}ffn.dense2.weight": zeros(WIDE, 2), f"{prefix}ffn.dense2.bias": zeros(WIDE)}


def ones_from_ffn(prefix=""):
    """Return weights of a network that returns 1 in the region `dropped`, for every input."""
    return {
        f"{prefix}ffn.dense1.bias": filled(1.0, 2),
        f"{prefix}ffn.dense2.weight": filled(0.5, WIDE, 2, rows=REGIONS["dropped"][1]),
    }


def check_dropped(case, Y, title, keys=None):
    params = {**REGIONS, "p": P} | ({"keys": keys} if keys else {})
    case.check("modes", "dropped_regions", [case.see(Y)], title, **params)


# ---- TransformerDecoder


def TransformerDecoder(draw):
    B, T, S = sizes(draw)

    for id, lens, title, facet in (
        ("training", None, "a whole sequence in training", "values"),
        (
            "training-with-padding",
            draw.lens(B, S),
            "encoder outputs beyond enc_valid_lens are ignored",
            "masking",
        ),
    ):
        case = Case(id, "TransformerDecoder")
        module = add_decoder(case, weights.transformer_decoder(draw, VOCABULARY, D, HIDDEN, LAYERS))
        case.train(module)
        # Without tokens 0 and 1: an answer may use either for padding.
        words = draw.integers(2, VOCABULARY - 1, B, T)
        tokens = case.input("tokens", words)
        enc = case.input("enc_outputs", draw.normal(B, S, D), grad=True)
        enc_lens = None if lens is None else case.input("enc_valid_lens", lens)
        state = case.method(module, "init_state", enc, enc_lens)
        next_state = case.method(module, "init_state", enc, enc_lens) if lens is None else None
        Y = case.call(tokens, state, on=module, name="out")[0]
        case.see(Y, axes=WORDS)
        case.check_shape(Y, f"shape and dtype: {title}")
        case.check_values(Y, title, facet)
        flow = case.gradients(
            Y, draw.normal(B, T, VOCABULARY), wrt=[enc], parameters=module if lens is None else None
        )
        case.check_gradients(flow, f"gradients: {title}")
        case.check_unchanged(tokens, enc)
        if lens is None:
            case.check_parameters()
            # The weights of a second call. In evaluation they are not judged: positions may restart, and the order of
            # the steps in a cache is free.
            case.call(case.input("next_tokens", np.roll(words, 1, axis=1)), next_state, on=module)
            for part, whose in enumerate(("self-attentions come first", "cross-attentions come second")):
                kept = case.weights_of_layers(module, H, part)
                case.check_weights_of_layers(kept, f"stored weights of the latest call: the {whose}")
        else:
            case.check_precision(Y, "scores, in the dtype of the weights or a wider one", wider=True)
        yield case

    yield decoder_step_by_step(draw, B, T, S)
    yield decoder_evaluation(draw, S)
    yield from decoder_dropout(draw)


def add_decoder(case, loaded, D=D, hidden=HIDDEN, vocabulary=VOCABULARY, dropout=0.0, heads=H, layers=LAYERS):
    arguments = block_arguments(D, heads, hidden, dropout)
    module = case.build(vocab_size=vocabulary, **arguments, num_layers=layers)
    case.load(module, loaded)
    return module


def decoder_step_by_step(draw, B, T, S):
    case = Case("step-by-step", "TransformerDecoder")
    module = add_decoder(case, weights.transformer_decoder(draw, VOCABULARY, D, HIDDEN, LAYERS))
    case.eval(module)
    case.grad(False)
    words = [case.input(f"word{t}", draw.integers(0, VOCABULARY - 1, B, 1)) for t in range(T)]
    enc, lens = case.input("enc_outputs", draw.normal(B, S, D)), case.input("enc_valid_lens", draw.lens(B, S))
    first = stepwise(case, module, words, case.method(module, "init_state", enc, lens), "first")
    again = stepwise(case, module, words, case.method(module, "init_state", enc, lens), "again")
    case.check_one_of(first, "one word per call, with the returned state", "modes")
    case.check_same(
        first,
        again,
        "a new state contains no earlier steps",
        "modes",
        "decoding the same words a second time gave different scores",
    )
    case.check_unchanged(enc, *words, title="decoding does not change the arguments")
    return case


def decoder_evaluation(draw, S):
    """Return a case with a single sequence and other numbers of heads and layers than in the other cases."""
    B, layers = 1, 3
    case = Case("evaluation", "TransformerDecoder")
    loaded = weights.transformer_decoder(draw, VOCABULARY, D, HIDDEN, layers)
    module = add_decoder(case, loaded, dropout=P, heads=4, layers=layers)
    case.eval(module)
    case.grad(False)
    case.seed(11)
    words = [case.input(f"word{t}", draw.integers(0, VOCABULARY - 1, B, 1)) for t in range(3)]
    state = case.method(module, "init_state", case.input("enc_outputs", draw.normal(B, S, D)), None)
    case.check_one_of(stepwise(case, module, words, state, "out"), "no dropout in evaluation", "modes")
    return case


def decoder_dropout(draw):
    """Yield a case for each place with dropout, and one for the last result, which has none.

    The blocks only normalise and `dense` returns its input, except where a case changes that.
    """
    case, left, right = wide_decoder("dropout-embedding", 16, 16, {})
    title = "dropout of the sum of embedding and positions"
    case.check("modes", "varies", [case.see(left), case.see(right)], f"{title}: different in each call")
    case.check("modes", "dropped_regions", [case.see(left)], title, dropped=[0, WIDE], p=P)
    yield case

    residual = np.repeat([0.0, 1 / (1 - P)], [REGIONS["kept"][0], WIDE - REGIONS["kept"][0]])
    for i, which in enumerate(("first", "last")):
        block = f"blks.block{i}."
        norm = {f"{block}addnorm2.ln.weight": zeros(WIDE), f"{block}addnorm2.ln.bias": residual}
        case, out, _ = wide_decoder(f"dropout-{which}-block", 16, 16, {**norm, **ones_from_ffn(block)})
        check_dropped(case, out, f"dropout in the {which} block")
        yield case

    norm = f"blks.block{LAYERS - 1}.addnorm3.ln."
    case, out, _ = wide_decoder(
        "dropout-last", 3, 5, {f"{norm}weight": zeros(WIDE), f"{norm}bias": draw.normal(WIDE)}
    )
    case.check_values(out, "no dropout after the last block", "modes")
    yield case


def wide_decoder(id, B, T, loaded):
    """Return a case and the results of two equal calls of a decoder in training mode with dropout."""
    case = Case(id, "TransformerDecoder")
    quiet = silent_block("blks.block0.") | silent_block("blks.block1.")
    ends = {
        "embedding.weight": filled(0.75, WIDE, WIDE),
        "dense.weight": eye(WIDE),
        "dense.bias": zeros(WIDE),
    }
    module = add_decoder(case, {**quiet, **ends, **loaded}, D=WIDE, hidden=2, vocabulary=WIDE, dropout=P)
    case.train(module)
    case.seed(7)
    tokens = case.input("tokens", np.zeros((B, T), dtype=np.int64))
    enc = case.constant("enc_outputs", (B, 1, WIDE))
    left, right = (
        case.call(tokens, case.method(module, "init_state", enc, None), on=module)[0] for _ in range(2)
    )
    return case, left, right
