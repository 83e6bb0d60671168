"""Cases for the encoder and its parts.

Values are compared without dropout. A separate case, built with dropout 0.5, checks that evaluation mode
drops nothing. The cases for dropout in training use three regions of features. In the output of a LayerNorm,
the other two regions show which elements of the first were dropped: see `dropped_regions` in
grader/judge/dropout.py.
"""

import numpy as np

from grader.authoring import Case, block_arguments, filled, weights, zeros

AXES = ("batch", "step", "feature")
D, H, HIDDEN, V = 6, 2, 7, 11
EPS = 1e-4  # the tolerance: the exercise does not prescribe LayerNorm's eps, so 1e-6 and 1e-5 are right
ONE = "axes of size one stay where they are"
FIRST_WORD = 2  # only the cases for dropout use tokens 0 and 1: an answer may treat either as padding

# The three regions of features in the cases for dropout: DROPPED passes through dropout, FLOOR is zero, and
# KEPT has the value that dropout gives to an element that it keeps, 1 / (1 - P).
P = 0.25
SCALE = 1 / (1 - P)
WIDE, DROPPED, FLOOR, KEPT = 128, (0, 64), (64, 96), (96, 128)
REGIONS = {"p": P, "dropped": DROPPED, "floor": FLOOR, "kept": KEPT}


def AddNorm(draw):
    name = "AddNorm"
    B, T = draw.sizes(2, low=3, high=5)
    size = 9

    def pair(case, grad=False):
        return tuple(case.input(n, draw.normal(B, T, size), grad=grad) for n in "XY")

    case = Case("numbers", name)
    module = case.build(normalized_shape=[size], dropout=0.0)
    case.load(module, weights.norm(draw, size))
    case.eval(module)
    X, Y = pair(case, grad=True)
    Z = case.call(X, Y, on=module, axes=AXES)
    case.check_shape(Z)
    case.check_values(Z, "the sum, normalised over the features of each position", tol=EPS)
    case.check_parameters()
    flow = case.gradients(Z, draw.normal(B, T, size), wrt=[X, Y], parameters=module)
    case.check_gradients(flow, "gradients of both inputs and of the parameters", tol=EPS)
    case.check_unchanged(X, Y)
    case.check_precision(Z, "result and dtype", tol=EPS)
    yield case

    for id, shape, sizes, title in (
        ("one-number", size, (size,), "normalized_shape is an integer"),
        ("two-axes", [T, size], (T, size), "normalized_shape has two axes"),
    ):
        case = Case(id, name)
        module = case.build(normalized_shape=shape, dropout=0.0)
        case.load(
            module, {"ln.weight": 1 + draw.normal(*sizes, std=0.3), "ln.bias": draw.normal(*sizes, std=0.5)}
        )
        case.eval(module)
        case.check_values(case.call(*pair(case), on=module, axes=AXES), title, caps=False, tol=EPS)
        yield case

    case = Case("one-position-of-one-sequence", name)
    module = case.build(normalized_shape=[size], dropout=0.0)
    case.load(module, weights.norm(draw, size))
    case.eval(module)
    X, Y = (case.input(n, draw.normal(1, 1, size)) for n in "XY")
    Z = case.call(X, Y, on=module, axes=AXES)
    case.check_shape(Z, ONE)
    case.check_values(Z, "a single position of a single sequence", caps=False, tol=EPS)
    yield case

    case = Case("each-position-alone", name)
    module = case.build(normalized_shape=[size], dropout=0.0)
    case.load(module, weights.norm(draw, size))
    case.eval(module)
    X, Y = draw.normal(B, T, size), draw.normal(B, T, size)
    same_positions(case, module, X, other_last(draw, X), Y, other_last(draw, Y))
    yield case

    case = Case("evaluation", name)
    module = case.build(normalized_shape=[size], dropout=0.5)
    case.load(module, weights.norm(draw, size))
    nothing_dropped(case, module, *pair(case))
    yield case

    case = Case("training-without-dropout", name)
    module = case.build(normalized_shape=[size], dropout=0.0)
    case.load(module, weights.norm(draw, size))
    case.train(module)
    case.check_values(
        case.call(*pair(case), on=module, axes=AXES),
        "with dropout 0, training gives the same result",
        "modes",
        tol=EPS,
    )
    yield case

    case = Case("dropout", name)
    module = case.build(normalized_shape=[WIDE], dropout=P)
    case.load(module, plain_norm())
    case.train(module)
    case.seed(2)
    X = wide_input(case, 8, 16)
    Y = case.join(
        [case.constant("part", (8, 16, 64)), case.constant("no_part", (8, 16, 64), 0.0)], dim=2, name="Y"
    )
    Z = case.call(X, Y, on=module)
    case.check(
        "modes",
        "dropped_regions",
        [case.see(Z)],
        "in training, dropout is applied to Y, not to X or the sum",
        **REGIONS,
    )
    yield case


def PositionWiseFFN(draw):
    name = "PositionWiseFFN"
    B, T, into, hidden, out = draw.sizes(5, low=3, high=8)

    def start(id, out=out):
        case = Case(id, name)
        module = case.build(ffn_num_input=into, ffn_num_hiddens=hidden, ffn_num_outputs=out)
        case.load(module, weights.ffn(draw, into, hidden, out))
        return case, module

    case, module = start("numbers")
    case.eval(module)
    X = case.input("X", draw.normal(B, T, into), grad=True)
    Y = case.call(X, on=module, axes=AXES)
    case.check_shape(Y)
    case.check_values(Y, "the result at every position")
    case.check_parameters("two layers with biases, with the right shapes")
    flow = case.gradients(Y, draw.normal(B, T, out), wrt=[X], parameters=module)
    case.check_gradients(flow, "gradients of the input and of both layers")
    case.check_unchanged(X)
    case.check_precision(Y, "result and dtype")
    X = draw.normal(B, T, into)
    same_positions(case, module, X, other_last(draw, X))
    X = case.input("X_one", draw.normal(1, T, into))
    first = case.part(X, (None, None), (0, 1), name="first")
    case.check_same(
        case.call(first, on=module, name="alone", axes=AXES),
        case.part(case.call(X, on=module, name="all"), (None, None), (0, 1), name="among_others", axes=AXES),
        "a position alone gives the same result as in a sequence",
        "values",
        "a position alone gives a different result than in a sequence",
        caps=False,
    )
    yield case

    case, module = start("as-wide-as-before", out=into)
    case.eval(module)
    case.check_values(
        case.call(case.input("X", draw.normal(B, T, into, std=10.0)), on=module, axes=AXES),
        "output size equal to input size, large values",
        tol=1e-4,  # a result may be small although the terms of its sum, which are rounded, are large
    )
    yield case

    case, module = start("training")
    case.train(module)
    case.seed(1)
    X = case.input("X", draw.normal(B, T, into))
    first, second = (case.call(X, on=module, axes=AXES) for _ in range(2))
    case.check_values(first, "training gives the same result as evaluation", "modes")
    case.check_same(
        first,
        second,
        "no dropout in training: this network has none",
        "modes",
        "two calls in training gave different results",
    )
    yield case


def EncoderBlock(draw):
    name = "EncoderBlock"
    B, T = draw.sizes(2, low=3, high=5)

    def start(id, dropout=0.0, heads=H, bias=None, norm_shape=None):
        case = Case(id, name)
        options = {} if bias is None else {"use_bias": bias}
        module = case.build(**block_arguments(D, heads, HIDDEN, dropout, norm_shape), **options)
        case.load(module, weights.encoder_block(draw, D, HIDDEN, bias=bool(bias)))
        return case, module

    for id, lens, title, facet in masks(draw, B, T):
        case, module = start(id)
        case.eval(module)
        case.stages(
            module,
            attention="the self-attention",
            addnorm1="the first AddNorm",
            ffn="the feed-forward network",
            addnorm2="the second AddNorm",
        )
        X = case.input("X", draw.normal(B, T, D), grad=True)
        valid_lens = None if lens is None else case.input("valid_lens", lens)
        Y = case.call(X, valid_lens, on=module, axes=AXES)
        case.check_shape(Y, f"shape and dtype of the result, {title}")
        case.check_values(Y, f"result, {title}", facet)
        if id != "per-query":
            flow = case.gradients(Y, draw.normal(B, T, D), wrt=[X], parameters=module)
            case.check_gradients(flow, f"gradients of the input and of all layers, {title}")
        if lens is None:
            case.check_parameters()
            case.check_unchanged(X)
        else:
            case.check_unchanged(X, valid_lens)
        if id == "per-sequence":
            case.check_precision(Y, "result and dtype")
        yield case

    case, module = start("with-bias", heads=3, bias=True, norm_shape=D)
    case.eval(module)
    Y = case.call(
        case.input("X", draw.normal(B, T, D)), case.input("valid_lens", draw.lens(B, T)), on=module, axes=AXES
    )
    case.check_values(Y, "three heads, and projections with a bias")
    case.check_parameters("with use_bias=True all four projections have a bias")
    yield case

    case, module = start("one-position-of-one-sequence")
    case.eval(module)
    Y = case.call(case.input("X", draw.normal(1, 1, D)), None, on=module, axes=AXES)
    case.check_shape(Y, ONE)
    case.check_values(Y, "a single position of a single sequence", caps=False)
    yield case

    case, module = start("zeros-are-words")
    case.eval(module)
    X = draw.normal(B, T, D)
    X[0, T - 1] = X[1, 0] = 0
    case.check_values(
        case.call(case.input("X", X), None, on=module, axes=AXES),
        "a vector of zeros is attended to like any other",
        "masking",
    )
    yield case

    case, module = start("padding-is-ignored")
    case.eval(module)
    X, lens = draw.normal(B, T, D), np.full(B, T - 1)
    valid_lens = case.input("valid_lens", lens)
    real = ((None, None), (0, T - 1))
    left = case.call(case.input("X", X), valid_lens, on=module, name="left")
    right = case.call(case.input("other_padding", other_last(draw, X)), valid_lens, on=module, name="right")
    case.check_same(
        case.part(left, *real, axes=AXES),
        case.part(right, *real, axes=AXES),
        "values in the padding do not change the results of real positions",
        "masking",
        "other values in the padding changed the results of real positions",
    )
    yield case

    case, module = start("order")
    case.eval(module)
    X = draw.normal(B, T, D)
    left = case.call(case.input("X", X), None, on=module, name="left")
    right = case.call(case.input("moved", np.roll(X, 1, axis=1)), None, on=module, name="right")
    case.check_same(
        case.part(left, (None, None), (0, T - 1), axes=AXES),
        case.part(right, (None, None), (1, T), axes=AXES),
        "reordered positions give the same results, reordered",
        "values",
        "reordered positions give other results, not only another order",
    )
    yield case

    case, module = start("evaluation", dropout=0.5)
    nothing_dropped(
        case, module, case.input("X", draw.normal(B, T, D)), case.input("valid_lens", draw.lens(B, T))
    )
    yield case

    # All attention weights are equal and all values are 1. So in the region DROPPED the attention returns the
    # mean over the heads of the sum of their weights after dropout; it returns zeros elsewhere. The
    # feed-forward network returns zeros.
    case = Case("dropout-around-attention", name)
    module = case.build(**block_arguments(WIDE, H, HIDDEN, P))
    case.load(module, attention_of_sums() | silent_ffn() | norms())
    case.train(module)
    case.seed(2)
    Y = case.call(wide_input(case, 64, 8), None, on=module)
    case.check(
        "modes",
        "dropped_regions",
        [case.see(Y)],
        "in training: dropout of the attention weights, then of the attention's output",
        keys=8 * H,  # each head has 8 weights per query
        **REGIONS,
    )
    yield case

    # The attention returns zeros, and the first normalisation returns `layout()` for every input.
    case = Case("dropout-around-network", name)
    module = case.build(**block_arguments(WIDE, H, HIDDEN, P))
    case.load(module, silent_attention() | ffn_of_ones() | norms(fixed=True))
    case.train(module)
    case.seed(3)
    Y = case.call(wide_input(case, 16, 8), None, on=module)
    case.check(
        "modes",
        "dropped_regions",
        [case.see(Y)],
        "in training: dropout of the network's output, and nowhere else",
        **REGIONS,
    )
    yield case


def TransformerEncoder(draw):
    name = "TransformerEncoder"
    B, T = draw.sizes(2, low=3, high=5)

    def start(id, dropout=0.0, layers=2, heads=H, bias=None):
        case = Case(id, name)
        options = {} if bias is None else {"use_bias": bias}
        module = case.build(
            vocab_size=V, **block_arguments(D, heads, HIDDEN, dropout), num_layers=layers, **options
        )
        # The standard deviation is 1/√D: times √D, the embeddings are about as large as the positions.
        loaded = {"embedding.weight": draw.normal(V, D, std=D**-0.5)}
        for i in range(layers):
            loaded |= weights.encoder_block(draw, D, HIDDEN, bias=bool(bias), prefix=f"blks.block{i}.")
        case.load(module, loaded)
        return case, module

    def words(case, name="X"):
        return case.input(name, draw.integers(FIRST_WORD, V - 1, B, T))

    for id, lens, title, facet in masks(draw, B, T):
        case, module = start(id)
        case.eval(module)
        X = words(case)
        valid_lens = None if lens is None else case.input("valid_lens", lens)
        Y = case.call(X, valid_lens, on=module, axes=AXES)
        case.check_shape(Y, f"shape and dtype of the result, {title}")
        case.check_values(Y, f"two layers, {title}", facet)
        if id != "per-query":
            flow = case.gradients(Y, draw.normal(B, T, D), parameters=module)
            case.check_gradients(flow, f"gradients of embedding and layers, {title}")
        if lens is None:
            case.check_parameters()
            again = case.call(X, None, on=module, axes=AXES)
            case.check_same(
                Y,
                again,
                "a second call gives the same result",
                "purity",
                "the first call changed the module: the second gives a different result",
            )
        else:
            case.check_unchanged(X, valid_lens)
        if id == "per-sequence":
            case.check_precision(Y, "result, in the dtype of the weights")
        yield case

    for id, layers, title in (("one-layer", 1, "one layer"), ("three-layers", 3, "three layers")):
        case, module = start(id, layers=layers)
        case.eval(module)
        case.check_values(case.call(words(case), None, on=module, axes=AXES), title)
        case.check_parameters(f"{title}: names and shapes of the parameters")
        yield case

    case, module = start("with-bias", heads=3, bias=True, layers=1)
    case.eval(module)
    Y = case.call(words(case), case.input("valid_lens", draw.lens(B, T)), on=module, axes=AXES)
    case.check_values(Y, "three heads, and projections with a bias")
    case.check_parameters("use_bias=True is passed to the blocks")
    yield case

    case, module = start("one-word", layers=1)
    case.eval(module)
    X = case.input("X", np.full((1, 1), V - 1))
    Y = case.call(X, None, on=module, axes=AXES)
    case.check_shape(Y, ONE)
    case.check_values(Y, "a single word of a single sentence", caps=False)
    yield case

    case, module = start("padding-is-ignored")
    case.eval(module)
    X, lens = draw.integers(FIRST_WORD, V - 2, B, T), np.full(B, T - 1)
    other = X.copy()
    other[:, T - 1] += 1
    valid_lens = case.input("valid_lens", lens)
    left = case.call(case.input("X", X), valid_lens, on=module, name="left")
    right = case.call(case.input("other_padding", other), valid_lens, on=module, name="right")
    case.check_same(
        case.part(left, (None, None), (0, T - 1), axes=AXES),
        case.part(right, (None, None), (0, T - 1), axes=AXES),
        "other words in the padding do not change the results of real positions",
        "masking",
        "other words in the padding changed the results of real positions",
    )
    kept = case.weights_of_layers(module, H)  # after the second call, which has other words in the padding
    case.check_weights_of_layers(kept, "the stored weights are those of every layer, of the latest call only")
    yield case

    case, module = start("evaluation", dropout=0.5)
    nothing_dropped(case, module, words(case), case.input("valid_lens", draw.lens(B, T)))
    yield case

    yield dropout_of_positions()
    yield dropout_of_blocks()


def dropout_of_positions():
    """Return a case whose blocks only normalise, so that the result shows the dropout before the first block."""
    case = Case("dropout-of-positions", "TransformerEncoder")
    module = case.build(vocab_size=V, **block_arguments(WIDE, H, HIDDEN, P), num_layers=2)
    loaded = {"embedding.weight": filled(1.0, V, WIDE)}  # times √D much larger than the positions
    for i in range(2):
        prefix = f"blks.block{i}."
        loaded |= silent_attention(prefix) | silent_ffn(prefix) | norms(prefix=prefix)
    case.load(module, loaded)
    case.train(module)
    case.seed(2)
    X = case.input("X", np.arange(16 * 16).reshape(16, 16) % V)
    left = case.call(X, None, on=module, name="left")
    right = case.call(X, None, on=module, name="right")
    case.check(
        "modes",
        "varies",
        [case.see(left), case.see(right)],
        "in training, dropout is applied to the sum of word and position",
    )
    case.check(
        "modes",
        "dropped_regions",
        [case.see(left)],
        "that dropout acts on the sum of word and position",
        p=P,
        dropped=(0, WIDE),
    )
    return case


def dropout_of_blocks():
    """Return a case that checks the dropout in the last block.

    The first block returns `layout()` for every input.
    """
    case = Case("dropout-of-blocks", "TransformerEncoder")
    module = case.build(vocab_size=V, **block_arguments(WIDE, H, HIDDEN, P), num_layers=2)
    loaded = {"embedding.weight": filled(1.0, V, WIDE)}
    first, last = "blks.block0.", "blks.block1."
    loaded |= silent_attention(first) | silent_ffn(first) | norms(prefix=first)
    loaded |= {f"{first}addnorm2.ln.weight": zeros(WIDE), f"{first}addnorm2.ln.bias": layout()}
    loaded |= attention_of_sums(last) | silent_ffn(last) | norms(prefix=last)
    case.load(module, loaded)
    case.train(module)
    case.seed(3)
    X = case.input("X", np.arange(64 * 8).reshape(64, 8) % V)
    Y = case.call(X, None, on=module)
    case.check(
        "modes",
        "dropped_regions",
        [case.see(Y)],
        "in training, the blocks apply dropout",
        keys=8 * H,  # each head has 8 weights per query
        **REGIONS,
    )
    return case


# ---- shared ----


def masks(draw, B, T):
    """Return (id, lengths, words for titles, facet) for no lengths, lengths (B,) and lengths (B, T)."""
    return (
        ("no-mask", None, "without a mask", "values"),
        ("per-sequence", draw.lens(B, T), "with one length per sequence (B,)", "masking"),
        ("per-query", draw.lens((B, T), T), "with one length per query (B, T)", "masking"),
    )


def nothing_dropped(case, module, *args):
    """Check that evaluation mode drops nothing. The seed fixes the random result of a wrong answer."""
    case.eval(module)
    case.seed(1)
    first, second = (case.call(*args, on=module, axes=AXES) for _ in range(2))
    case.check_values(first, "no dropout in evaluation")
    case.check_same(
        first,
        second,
        "every call in evaluation gives the same result",
        "modes",
        "two calls in evaluation gave different results",
    )


def other_last(draw, X):
    """Return a copy of X with another last position."""
    other = X.copy()
    other[:, -1] = draw.normal(*X[:, -1].shape)
    return other


def same_positions(case, module, *inputs):
    """Check that two calls whose inputs differ only in the last position agree in all other positions.

    `inputs`: X and its changed copy; for two inputs, also Y and its changed copy.
    """
    T = inputs[0].shape[1]
    args = [case.input(f"input{i}", a) for i, a in enumerate(inputs[::2])]
    others = [case.input(f"other{i}", a) for i, a in enumerate(inputs[1::2])]
    early = ((None, None), (0, T - 1))
    case.check_same(
        case.part(case.call(*args, on=module, name="left"), *early, axes=AXES),
        case.part(case.call(*others, on=module, name="right"), *early, axes=AXES),
        "each position is separate: changing one changes no other",
        "values",
        "changing the last position changed the result of another one",
    )


# ---- weights that make dropout visible ----


def wide_input(case, B, T):
    """Return an input (B, T, WIDE) of zeros, with 1 / (1 - P) in the region KEPT."""
    return case.join(
        [
            case.constant("zeros", (B, T, KEPT[0]), 0.0),
            case.constant("high", (B, T, KEPT[1] - KEPT[0]), SCALE),
        ],
        dim=2,
        name="X",
    )


def layout():
    """Return one row of `wide_input`: (WIDE,)."""
    row = np.zeros(WIDE)
    row[slice(*KEPT)] = SCALE
    return row


def plain_norm(prefix=""):
    return {f"{prefix}ln.weight": filled(1.0, WIDE), f"{prefix}ln.bias": zeros(WIDE)}


def norms(fixed=False, prefix=""):
    """Return the weights of both normalisations of a block.

    `fixed`: the first returns `layout()` for every input.
    """
    first = {f"{prefix}addnorm1.ln.weight": zeros(WIDE), f"{prefix}addnorm1.ln.bias": layout()}
    return (first if fixed else plain_norm(f"{prefix}addnorm1.")) | plain_norm(f"{prefix}addnorm2.")


def attention_of_sums(prefix=""):
    """Return weights for an input whose rows are `layout()`.

    All attention weights are equal, all values are 1, and W_o fills the region DROPPED.
    """
    value = 1 / (SCALE * (KEPT[1] - KEPT[0]))
    return {
        f"{prefix}attention.W_q.weight": zeros(WIDE, WIDE),
        f"{prefix}attention.W_k.weight": zeros(WIDE, WIDE),
        f"{prefix}attention.W_v.weight": filled(value, WIDE, WIDE),
        f"{prefix}attention.W_o.weight": filled(1 / WIDE, WIDE, WIDE, rows=DROPPED[1]),
    }


def silent_attention(prefix=""):
    """Return weights of an attention that returns zeros."""
    return {f"{prefix}attention.{name}.weight": zeros(WIDE, WIDE) for name in ("W_q", "W_k", "W_v", "W_o")}


def ffn_of_ones(prefix=""):
    """Return weights of a network that returns 1 in the region DROPPED and 0 elsewhere, for every input."""
    return {
        f"{prefix}ffn.dense1.weight": zeros(HIDDEN, WIDE),
        f"{prefix}ffn.dense1.bias": filled(1.0, HIDDEN),
        f"{prefix}ffn.dense2.weight": filled(1 / HIDDEN, WIDE, HIDDEN, rows=DROPPED[1]),
        f"{prefix}ffn.dense2.bias": zeros(WIDE),
    }


def silent_ffn(prefix=""):
    """Return weights of a network that returns zeros."""
    return {
        f"{prefix}ffn.dense1.weight": zeros(HIDDEN, WIDE),
        f"{prefix}ffn.dense1.bias": zeros(HIDDEN),
        f"{prefix}ffn.dense2.weight": zeros(WIDE, HIDDEN),
        f"{prefix}ffn.dense2.bias": zeros(WIDE),
    }
