"""Cases for the recurrent decoder with attention: whole sequences, and word by word."""

import numpy as np

from grader.authoring import Case, Filled, filled, weights, zeros

WORDS = ("batch", "step", "word")
KEPT = ("step", "batch", "query", "key")
D, EMBED, VOCABULARY = 6, 4, 11
LAYERS = 2  # so the last layer is not the first, and the GRU has dropout between its layers

# The cases for dropout use three regions of features: `dropped` passes through dropout, `floor` is zero, and
# `kept` has the value that dropout gives to an element that it keeps. Values are small, so that tanh hardly
# changes them.
WIDE, P, SMALL = 24, 0.5, 1e-3
REGIONS = {"dropped": [0, 16], "floor": [16, 20], "kept": [20, 24]}


def Seq2SeqAttentionDecoder(draw):
    B, T, S = draw.sizes(3, low=3, high=7, avoid=(D, EMBED, LAYERS))

    for id, lens, title, facet in (
        ("whole-sequence", None, "a whole sequence in one call", "values"),
        (
            "with-padding",
            draw.lens(B, S),
            "encoder outputs beyond enc_valid_lens are ignored",
            "masking",
        ),
    ):
        case, module = start(id, draw)
        case.eval(module)
        words = case.input("words", draw.integers(2, VOCABULARY - 1, B, T))
        outputs, hidden = encoded(case, draw, B, S)
        enc_lens = None if lens is None else case.input("enc_valid_lens", lens)
        scores = case.call(words, state_of(case, module, outputs, hidden, enc_lens), on=module, name="out")[0]
        case.see(scores, axes=WORDS)
        case.check_shape(scores, f"shape and dtype: {title}")
        case.check_values(scores, title, facet)
        kept = case.weights(module, axes=KEPT, steps=T)
        case.check_weights(kept, "one tensor of attention weights per step")
        flow = case.gradients(scores, draw.normal(B, T, VOCABULARY), wrt=[outputs, hidden], parameters=module)
        case.check_gradients(flow, f"gradients: {title}")
        case.check_unchanged(words, outputs, hidden)
        if lens is None:
            case.check_parameters()
        else:
            case.check_precision(scores, "scores, in the dtype of the weights or a wider one", wider=True)
        yield case

    yield word_by_word(draw, B, T, S)
    yield two_calls(draw, B, T, S)
    yield square(draw)
    yield evaluation(draw, T, S)
    yield from dropout()


def start(id, draw=None, loaded=None, D=D, embed=EMBED, vocabulary=VOCABULARY, dropout=0.0, layers=LAYERS):
    case = Case(id, "Seq2SeqAttentionDecoder")
    module = case.build(
        vocab_size=vocabulary, embed_size=embed, num_hiddens=D, num_layers=layers, dropout=dropout
    )
    case.load(module, loaded or drawn(draw, layers))
    return case, module


def drawn(draw, layers):
    loaded = {"attention.W_k.weight": draw.linear(D, D), "attention.W_q.weight": draw.linear(D, D)}
    loaded |= {"attention.w_v.weight": draw.normal(1, D), "embedding.weight": draw.normal(VOCABULARY, EMBED)}
    return (
        loaded | weights.gru(draw, "rnn", D + EMBED, D, layers) | weights.linear(draw, "dense", VOCABULARY, D)
    )


def encoded(case, draw, B, S, layers=LAYERS):
    """Return the results of an encoder: outputs (S, B, D) and hidden state (layers, B, D)."""
    return (
        case.input("enc_outputs", draw.normal(S, B, D), grad=True),
        case.input("hidden", draw.normal(layers, B, D, std=0.5), grad=True),
    )


def state_of(case, module, outputs, hidden, lens):
    return case.method(module, "init_state", [outputs, hidden], lens)


def word_by_word(draw, B, T, S):
    case, module = start("word-by-word", draw)
    case.eval(module)
    case.grad(False)  # decoding needs no gradients
    outputs, hidden = (
        case.input("enc_outputs", draw.normal(S, B, D)),
        case.input("hidden", draw.normal(LAYERS, B, D, std=0.5)),
    )
    lens = case.input("enc_valid_lens", draw.lens(B, S))
    words = [case.input(f"word{t}", draw.integers(0, VOCABULARY - 1, B, 1)) for t in range(T)]
    runs = []
    for name in ("first", "again"):
        state, parts = state_of(case, module, outputs, hidden, lens), []
        for t, word in enumerate(words):
            out = case.call(word, state, on=module, name=f"{name}{t}")
            parts.append(out[0])
            state = out[1]
        runs.append(case.join(parts, dim=1, name=name, axes=WORDS))
    case.check_values(runs[0], "word by word gives the same scores as the whole sequence", "modes")
    case.check_same(
        *runs,
        "a new state contains no earlier steps",
        "modes",
        "decoding the same words a second time gave different scores",
    )
    case.check_unchanged(outputs, hidden, lens, title="decoding does not change the arguments")
    return case


def two_calls(draw, B, T, S):
    case, module = start("second-call", draw)
    case.train(module)  # the dropout rate is 0
    outputs, hidden = encoded(case, draw, B, S)
    for name in ("words", "other_words"):
        words = case.input(name, draw.integers(0, VOCABULARY - 1, B, T))
        out = case.call(
            words, state_of(case, module, outputs, hidden, None), on=module, name=f"scores of {name}"
        )
    case.see(out[0], axes=WORDS)
    case.check_values(out[0], "in training, a second sentence")
    kept = case.weights(module, axes=KEPT, steps=T)
    case.check_weights(kept, "after a second call, the stored weights are those of that call only")
    return case


def square(draw):
    """Return a case with equal sizes, where swapped axes raise no error and give wrong values instead."""
    size = 4
    case, module = start("equal-sizes", draw)
    case.eval(module)
    outputs, hidden = encoded(case, draw, size, size)
    words = case.input("words", draw.integers(0, VOCABULARY - 1, size, size))
    out = case.call(words, state_of(case, module, outputs, hidden, None), on=module, name="out")[0]
    case.see(out, axes=WORDS)
    case.check_values(out, "equal numbers of sentences, target steps and source steps")
    return case


def evaluation(draw, T, S):
    """Return a case with a single sentence and another number of layers than in the other cases."""
    B, layers = 1, 3
    case, module = start("evaluation", draw, dropout=P, layers=layers)
    case.eval(module)
    case.seed(11)  # fixes the values of a wrong answer with dropout
    outputs, hidden = encoded(case, draw, B, S, layers)
    words = case.input("words", draw.integers(0, VOCABULARY - 1, B, T))
    out = case.call(words, state_of(case, module, outputs, hidden, None), on=module, name="out")[0]
    case.see(out, axes=WORDS)
    case.check_values(out, "no dropout in evaluation", "modes")

    # Last, because it raises an exception if dropout has no default.
    sizes = {"vocab_size": VOCABULARY, "embed_size": EMBED, "num_hiddens": D, "num_layers": layers}
    plain = case.build("", "plain", **sizes)
    case.load(plain, drawn(draw, layers))
    case.train(plain)
    out = case.call(words, state_of(case, plain, outputs, hidden, None), on=plain, name="plain_out")[0]
    case.see(out, axes=WORDS)
    case.check_values(out, "in training, built without a dropout rate: nothing is dropped", caps=False)
    return case


def dropout():
    """Yield a case for the dropout of the attention and one for the dropout between the layers of the GRU.

    The first layer of the GRU returns the mean of the context plus the mean of the word, times SMALL. The
    second layer returns its input in the region `dropped`, zeros in `floor` and a constant in `kept`. `dense`
    divides by SMALL. All attention weights are equal.
    """
    B, T, S = 32, 16, 16

    case, out = small_signals("dropout-attention", B, T, S, context=1.0, word=0.0)
    case.check(
        "modes",
        "dropped_regions",
        [case.see(out)],
        "dropout of the attention weights",
        **REGIONS,
        p=P,
        keys=S,
    )
    yield case

    case, out = small_signals("dropout-rnn", B, T, S, context=0.0, word=1.0)
    case.check(
        "modes", "dropped_regions", [case.see(out)], "dropout between the layers of the GRU", **REGIONS, p=P
    )
    yield case


def small_signals(id, B, T, S, context, word):
    """Return a case and its scores. All values of the encoder's outputs are `context`, those of the words `word`."""
    loaded = {"attention.W_k.weight": zeros(WIDE, WIDE), "attention.W_q.weight": zeros(WIDE, WIDE)}
    loaded |= {"attention.w_v.weight": zeros(1, WIDE), "embedding.weight": filled(word, WIDE, WIDE)}
    # The gates of a GRU in their order: reset, update and new. The bias makes the update gate 0, so that the
    # GRU ignores its last state.
    shut = np.repeat([0.0, -40.0, 0.0], WIDE)
    pick = np.concatenate(
        [np.zeros((2 * WIDE, WIDE)), np.diag(np.arange(WIDE) < REGIONS["dropped"][1]).astype(float)]
    )
    level = shut.copy()
    level[2 * WIDE + REGIONS["kept"][0] :] = SMALL / (1 - P)
    for layer, weight, bias in ((0, filled(SMALL / WIDE, 3 * WIDE, 2 * WIDE), shut), (1, pick, level)):
        loaded |= {f"rnn.weight_ih_l{layer}": weight, f"rnn.weight_hh_l{layer}": zeros(3 * WIDE, WIDE)}
        loaded |= {f"rnn.bias_ih_l{layer}": bias, f"rnn.bias_hh_l{layer}": zeros(3 * WIDE)}
    loaded |= {"dense.weight": Filled((WIDE, WIDE), 1 / SMALL, diagonal=True), "dense.bias": zeros(WIDE)}

    case, module = start(id, loaded=loaded, D=WIDE, embed=WIDE, vocabulary=WIDE, dropout=P)
    words = case.input("words", np.zeros((B, T), dtype=np.int64))
    case.train(module)
    case.seed(7)
    outputs, hidden = (
        case.constant("enc_outputs", (S, B, WIDE), context),
        case.constant("hidden", (LAYERS, B, WIDE), 0.0),
    )
    return case, case.call(words, state_of(case, module, outputs, hidden, None), on=module, name="out")[0]
