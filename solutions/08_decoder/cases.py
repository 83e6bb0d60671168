"""Cases for the decoder: whole sequences in training, one step a call in prediction."""

from grader import weights
from grader.case import Case

AXES = ("batch", "step", "feature")
LAYER, LAYERS = 1, 2  # the block under test is the second of two: slot 0 of the cache is not its own


def DecoderBlock(draw):
    B, T, S = draw.sizes(3, low=3, high=5)
    D, H, hidden = 6, 2, 7

    def start(id, dropout=0.0, layer=LAYER, name="module"):
        case = Case(id, "DecoderBlock")
        return case, add_block(case, dropout, layer, name)

    def add_block(case, dropout, layer, name):
        module = case.build(
            _name=name,
            key_size=D,
            query_size=D,
            value_size=D,
            num_hiddens=D,
            norm_shape=[D],
            ffn_num_input=D,
            ffn_num_hiddens=hidden,
            num_heads=H,
            dropout=dropout,
            i=layer,
        )
        case.load(module, weights.decoder_block(draw, D, hidden))
        return module

    def state_of(case, enc, lens, name="state"):
        return case.value(name, [enc, lens, [None] * LAYERS])

    def stepwise(case, module, steps, state, name):
        """Decode one step a call; the state that came back goes in again."""
        parts = []
        for t, x in enumerate(steps):
            out = case.call(x, state, on=module, name=f"{name}{t}")
            parts.append(out[0])
            state = out[1]
        return case.join(parts, dim=1, name=name, axes=AXES)

    for id, lens, title, facet in (
        ("training", None, "a whole sequence in training", "values"),
        ("training-with-padding", draw.lens(B, S), "encoder outputs beyond enc_valid_lens are not looked at", "masking"),
    ):
        case, module = start(id)
        case.train(module)
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
        yield case

    case, module = start("no-future")
    case.train(module)
    X = draw.normal(B, T, D)
    other = X.copy()
    other[:, T - 1] = draw.normal(B, D)
    enc, lens = draw.normal(B, S, D), draw.lens(B, S)
    enc_ref, lens_ref = case.input("enc_outputs", enc), case.input("enc_valid_lens", lens)
    early = ((None, None), (0, T - 1))
    left = case.call(case.input("X", X), state_of(case, enc_ref, lens_ref, "state1"), on=module, name="left")
    right = case.call(case.input("other_last_token", other), state_of(case, enc_ref, lens_ref, "state2"), on=module, name="right")
    case.check_same(
        case.part(left[0], *early, axes=AXES),
        case.part(right[0], *early, axes=AXES),
        "in training no step looks at a later one",
        "masking",
        "changing the last token changed the result of an earlier step",
    )
    yield case

    case, module = start("step-by-step", dropout=0.5)
    case.eval(module)
    case.grad(False)  # as one decodes
    tokens = [case.input(f"x{t}", draw.normal(B, 1, D)) for t in range(T)]
    enc, enc_lens = case.input("enc_outputs", draw.normal(B, S, D)), case.input("enc_valid_lens", draw.lens(B, S))
    first = stepwise(case, module, tokens, state_of(case, enc, enc_lens, "state1"), "first")
    again = stepwise(case, module, tokens, state_of(case, enc, enc_lens, "state2"), "again")
    case.check_values(first, "one step a call gives what the whole sequence gives", "modes")
    case.check_same(
        first, again, "a fresh state starts afresh", "modes", "decoding the same sequence a second time gave another result"
    )
    yield case

    case, module = start("two-layers", layer=0)
    second = add_block(case, 0.0, 1, "second")
    case.eval(module)
    case.eval(second)
    case.grad(False)
    state = state_of(case, case.input("enc_outputs", draw.normal(B, S, D)), case.input("enc_valid_lens", draw.lens(B, S)))
    parts = []
    for t in range(T):
        middle = case.call(case.input(f"x{t}", draw.normal(B, 1, D)), state, on=module, name=f"middle{t}")
        top = case.call(middle[0], middle[1], on=second, name=f"top{t}")
        parts.append(top[0])
        state = top[1]
    case.check_values(case.join(parts, dim=1, axes=AXES), "two layers, each with a cache of its own", "modes")
    yield case

    case, module = start("dropout", dropout=0.5)
    case.train(module)
    enc = case.input("enc_outputs", draw.normal(B, S, D))
    X = case.input("X", draw.normal(B, T, D))
    case.seed(1)
    left = case.call(X, state_of(case, enc, None, "state1"), on=module, name="left")[0]
    right = case.call(X, state_of(case, enc, None, "state2"), on=module, name="right")[0]
    case.check("modes", "varies", [case.see(left), case.see(right)], "in training, dropout makes every call different")
    yield case
