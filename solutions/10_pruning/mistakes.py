"""Mistakes seen where heads are looked at, weighed, and taken out."""

from grader.authoring.bank import mistake

# Ways to look, for the pages. Names are those of the lesson's cells.

SEE_MAPS = """

    >>> sizes = 9, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=3, dropout=0.0)
    >>> tokens = torch.randint(0, 9, (4, 6))
    >>> maps = attention_maps(encoder, tokens, torch.tensor([6, 3, 1, 2]))
    >>> [m.shape for m in maps["encoder"]], maps["encoder"][0][1, :, 0]

Three layers of (4, 2, 6, 6); the rows shown belong to a sentence of three words: zeros behind the third key.
"""

SEE_LAYOUTS = """

    >>> model, kept = nn.Identity(), torch.rand(4, 2, 6, 6)
    >>> per_head = [kept[:, 0], kept[:, 1]]
    >>> model.attention_weights = [kept.flatten(0, 1), kept, per_head]
    >>> [m.shape for m in attention_maps(model, torch.zeros(4, 6))["encoder"]]

A model that only keeps weights: four sentences and two heads, once in each of the three layouts. All three should
come out as (4, 2, 6, 6).
"""

SEE_LAYERS = """

    >>> sizes = 9, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=3, dropout=0.0)
    >>> tokens = torch.randint(0, 9, (4, 6))
    >>> maps = attention_maps(encoder, tokens, None)["encoder"]
    >>> pairs = zip(maps, encoder.attention_weights)
    >>> [torch.equal(a.flatten(), b.flatten()) for a, b in pairs]

Each layer should be where the model keeps it: three times `True`.
"""

SEE_DECODER = """

    >>> from grader.given import TransformerDecoder
    >>> sizes = 9, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> decoder = TransformerDecoder(*sizes, num_layers=1, dropout=0.0)
    >>> state = decoder.init_state(torch.randn(4, 5, 8), None)
    >>> maps = attention_maps(decoder, torch.randint(0, 9, (4, 3)), state)
    >>> maps["decoder"][0].shape, maps["cross"][0].shape

Three words are written and five were read: (4, 2, 3, 3), then (4, 2, 3, 5).
"""

SEE_GATES = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=2, dropout=0.0, bias=True)
    >>> mha.W_o.weight.data = torch.eye(8)
    >>> X, lens = torch.randn(3, 5, 8), torch.tensor([5, 2, 1])
    >>> gates = torch.tensor([2.0, 3.0], requires_grad=True)
    >>> gated = gated_attention(mha, gates, X, X, X, lens)
    >>> plain = mha(X, X, X, lens)
    >>> ((gated - mha.W_o.bias) / (plain - mha.W_o.bias))[:, 0].round(decimals=2)
    >>> torch.autograd.grad(gated.sum(), gates)

This output layer hands on what it gets, so the heads can be seen behind it: for each sentence four times 2 and four
times 3. The gradient should be there, two numbers that are not zero.
"""

SEE_DROPPED = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=2, dropout=0.5)
    >>> X, gates = torch.randn(2, 9, 8), torch.ones(2)
    >>> once = gated_attention(mha, gates, X, X, X, None)
    >>> again = gated_attention(mha, gates, X, X, X, None)
    >>> mha.training, torch.equal(once, again)

The module comes in training mode and should be left in it: `True`. What is dropped differs from call to call: `False`.
"""

SEE_IMPORTANCE = """

    >>> mha = MultiHeadAttention(2, 2, 2, 2, num_heads=2, dropout=0.0)
    >>> mha.W_v.weight.data = torch.diag(torch.tensor([3.0, 1.0]))
    >>> mha.W_o.weight.data = torch.eye(2)
    >>> loss = lambda output, target: (output.sum(dim=(1, 2)) - target).pow(2)
    >>> X = torch.ones(3, 1, 2)
    >>> one = X[:1], X[:1], X[:1], None, torch.tensor([5.0])
    >>> three = X, X, X, None, torch.tensor([3.0, 5.0, 3.0])
    >>> head_importance(mha, [one, three], loss, "METHOD")

This is the example by hand in the lesson, with each sample twice, cut into a batch of one and a batch of three. It
should be RESULT.
"""

SEE_TWICE = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=4, dropout=0.5)
    >>> X = torch.randn(6, 5, 8)
    >>> loss = lambda output, target: (output - target).pow(2).mean(dim=(1, 2))
    >>> once = head_importance(mha, [(X, X, X, None, X)], loss, "ablation")
    >>> again = head_importance(mha, [(X, X, X, None, X)], loss, "ablation")
    >>> (once - again).abs().max()

The module comes in training mode, and is measured without dropout all the same: exactly 0.
"""

SEE_PADDING = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=4, dropout=0.0)
    >>> X, lens = torch.randn(6, 5, 8), torch.full((6,), 2)
    >>> noisy = X.clone(); noisy[:, 2:] = 9.0
    >>> loss = lambda output, target: (output - target).pow(2).mean(dim=(1, 2))
    >>> a = head_importance(mha, [(X, X, X, lens, X)], loss, "ablation")
    >>> b = head_importance(mha, [(X, noisy, noisy, lens, X)], loss, "ablation")
    >>> (a - b).abs().max()

Only padding has changed, so the importances should not: 0, or about 0.0000001.
"""

SEE_CONFIDENCE = """

    >>> mha = MultiHeadAttention(2, 2, 2, 2, num_heads=2, dropout=0.0)
    >>> W = torch.diag(torch.tensor([0.0, 9.0]))
    >>> mha.W_q.weight.data = mha.W_k.weight.data = W
    >>> loss = lambda output, target: output.sum(dim=(1, 2)) - target
    >>> queries = torch.tensor([[0.0, 1.0], [0.0, 0.0]]).expand(2, 2, 2)
    >>> keys = torch.eye(4, 2).expand(2, 4, 2)
    >>> batches = [(queries, keys, keys, None, torch.zeros(2))]
    >>> head_importance(mha, batches, loss, "confidence")

Two sentences, two queries, four keys. The first head deals its weight out evenly, 0.25 for each key. The second puts
all of it on one key for the first query and deals it out for the other: (1 + 0.25) / 2. So it should be 0.25 and 0.625.
"""

SEE_IMPORTANCE_ON_META = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=4, dropout=0.0).to("meta")
    >>> X = torch.zeros(2, 5, 8, device="meta")
    >>> loss = lambda output, target: output.sum(dim=(1, 2))
    >>> head_importance(mha, [(X, X, X, None, X)], loss, "gradient").device

The device "meta" holds no numbers, and every machine has it: a good place to look for tensors left behind. It should
go through, and say `meta`.
"""

SEE_PRUNED = """

    >>> sizes = 8, 8, 8, 8, 4  # from key_size to num_heads
    >>> mha = MultiHeadAttention(*sizes, dropout=0.0, bias=True).eval()
    >>> X, gates = torch.randn(2, 5, 8), torch.tensor([1.0, 0, 1, 0])
    >>> gated = gated_attention(mha, gates, X, X, X, None)
    >>> small = prune_heads(mha, [3, 1])
    >>> (small(X, X, X, None) - gated).abs().max()
    >>> weights = small.named_parameters()
    >>> {name: (tuple(p.shape), p.requires_grad) for name, p in weights}

The difference should be about 0.0000001; rows of W_q, W_k, W_v and columns of W_o are half as many, all trainable.
"""

SEE_PRUNED_TWICE = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=4, dropout=0.0)
    >>> once = prune_heads(mha, [0]); once.num_heads
    >>> again = prune_heads(once, [0]); again.num_heads

Both times the first head of those that are there goes: 3 are left, then 2.
"""

SEE_REFUSED = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=4, dropout=0.0)
    >>> try:
    ...     print(prune_heads(mha, [0, 1, 2, 3]))
    ... except ValueError as error:
    ...     print("refused:", error)

The answer should begin with "refused".
"""

SEE_REPEATED = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=4, dropout=0.0)
    >>> prune_heads(mha, [1, 1, 1, 1]).num_heads

One head was named, so 3 should be left.
"""

SEE_FIRST_AND_THIRD = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=4, dropout=0.0)
    >>> X, gates = torch.randn(2, 5, 8), torch.tensor([0.0, 1.0, 0.0, 1.0])
    >>> gated = gated_attention(mha, gates, X, X, X, None)
    >>> (prune_heads(mha, [0, 2])(X, X, X, None) - gated).abs().max()

The numbers are those of the whole module, for both heads: the difference should be about 0.0000001.
"""

SEE_STILL_EVALUATED = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=4, dropout=0.5).eval()
    >>> prune_heads(mha, [1]).training

It came in evaluation mode, so this should be `False`.
"""

SEE_STILL_DROPPED = """

    >>> mha = MultiHeadAttention(8, 8, 8, 8, num_heads=4, dropout=0.5)
    >>> X = torch.randn(2, 5, 8)
    >>> small = prune_heads(mha, [1])
    >>> torch.equal(small(X, X, X, None), small(X, X, X, None))

In training mode two calls drop different weights: `False`.
"""

SEE_PRUNED_ON_META = """

    >>> sizes = 8, 8, 8, 8, 4  # from key_size to num_heads
    >>> mha = MultiHeadAttention(*sizes, dropout=0.0, bias=True).to("meta")
    >>> {p.device for p in prune_heads(mha, [1]).parameters()}

The device "meta" holds no numbers, and every machine has it: a good place to look for tensors left behind. It should
be the only device in the set. (A mask of heads in brackets, and a layer that is filled on the CPU and moved then, stop
here as well, though a graphics card would let them pass.)
"""

SEE_INDICES = """

    >>> class Watch(torch.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, done, types, given=(), named=None):
    ...         if done.__name__ in ("index_select", "gather"):
    ...             print([getattr(x, "device", x) for x in given])
    ...         return done(*given, **(named or {}))
    >>> sizes = 8, 8, 8, 8, 4  # from key_size to num_heads
    >>> mha = MultiHeadAttention(*sizes, dropout=0.0, bias=True).to("meta")
    >>> with Watch():
    ...     small = prune_heads(mha, [1])

Where one of the two is used, what it was given is shown: weights and index should both lie on "meta". Square
brackets show nothing, and need not.
"""

SEE_ROWS = """

    >>> model = Classifier(num_hiddens=8, num_heads=4, num_classes=3)
    >>> X = torch.randn(60, 3, 8)
    >>> heard = torch.tensor([50.0, 0.0, 0.0, 0.0]).repeat_interleave(2)
    >>> model.attention.W_o.weight.data *= heard
    >>> with torch.no_grad():
    ...     labels = model(X).argmax(dim=-1)
    >>> rows = removal_experiment(model, (X, labels))
    >>> for row in rows:
    ...     print(row["seed"], row["order"], row["removed"], row["accuracy"])

Only head 0 is heard here, and the labels are the model's own answers. So each order begins at 1.0 and falls in the row
where head 0 goes, to stay there: never by importance, at once in reverse. Three orders of four rows, for three seeds or
more.
"""

SEE_RISING = """

    >>> model = Classifier(num_hiddens=16, num_heads=8, num_classes=3)
    >>> X, labels = torch.randn(60, 3, 16), torch.arange(60) % 3
    >>> mha, batches = model.attention, [(X, X, X, None, labels)]
    >>> importance = head_importance(mha, batches, model.loss, "ablation")
    >>> rows = removal_experiment(model, (X, labels))
    >>> rows = [row for row in rows if row["order"] == "importance"]
    >>> importance[list(rows[-1]["removed"])].diff() > 0

Seven heads in the order in which they went. Each should matter more than the one before it: `True` six times. (Put
"gradient" there if your experiment measures so.)
"""

SEE_UNSURE = """

    >>> model = Classifier(num_hiddens=8, num_heads=4, num_classes=3)
    >>> X = torch.randn(60, 3, 8)
    >>> heard = torch.tensor([50.0, 0.0, 0.0, 0.0]).repeat_interleave(2)
    >>> model.attention.W_o.weight.data *= heard
    >>> model.attention.W_q.weight.data[:2] = 0
    >>> with torch.no_grad():
    ...     labels = model(X).argmax(dim=-1)
    >>> rows = removal_experiment(model, (X, labels))
    >>> [row["removed"] for row in rows if row["order"] == "importance"][-1]

Head 0 looks everywhere alike, and is the only one that is heard. It should not be among the three that went.
"""

SEE_RANDOM = """

    >>> model = Classifier(num_hiddens=16, num_heads=8, num_classes=3)
    >>> data = torch.randn(9, 3, 16), torch.arange(9) % 3
    >>> for row in removal_experiment(model, data):
    ...     if row["order"] == "random": print(row["seed"], row["removed"])

Every row should hold the heads of the row above it and one more, and no two seeds should go the same way.
"""

SEE_SAME_AGAIN = """

    >>> model = Classifier(8, 4, 3, dropout=0.5)
    >>> data = 9 * torch.randn(60, 3, 8), torch.arange(60) % 3
    >>> once = removal_experiment(model.train(), data)
    >>> again = removal_experiment(model.train(), data)
    >>> once == again

Nothing is left to chance but the random orders, and those belong to their seeds: `True`, if yours are drawn from them.
"""

SEE_REMOVAL_ON_META = """

    >>> from unittest import mock
    >>> model = Classifier(num_hiddens=8, num_heads=4, num_classes=3).to("meta")
    >>> X = torch.zeros(6, 3, 8, device="meta")
    >>> made_up = lambda *_: torch.arange(4.0)
    >>> with mock.patch.dict(globals(), head_importance=made_up):
    ...     try:
    ...         removal_experiment(model, (X, X[:, 0, 0].long()))
    ...     except RuntimeError as error:
    ...         print(error)

The device "meta" holds no numbers, and every machine has it; the importances are made up, since none can be measured
there. Where it stops, it should be because there is no number to read, and not because two devices have met.
"""


def of(exercise, prefix, see):
    """A maker of mistakes of one exercise, whose pages end with the same way to look if they have none of their own."""

    def made(id, swap, says, asks, page, see=see, **more):
        code = {"code": swap} if isinstance(swap, str) else {"swap": swap}
        return mistake(f"{prefix}-{id}", of=exercise, says=says, asks=asks, page=page.strip() + see, **code, **more)

    return made


maps = of("attention_maps", "maps", SEE_MAPS)
gates = of("gated_attention", "gates", SEE_GATES)
ablation = of("head_importance", "importance", SEE_IMPORTANCE.replace("METHOD", "ablation").replace("RESULT", "9 and 1"))
gradient = of("head_importance", "importance", SEE_IMPORTANCE.replace("METHOD", "gradient").replace("RESULT", "6 and 2"))
confidence = of("head_importance", "importance", SEE_CONFIDENCE)
prune = of("prune_heads", "prune", SEE_PRUNED)
removal = of("removal_experiment", "removal", SEE_ROWS)

LOOKS = [
    maps(
        "not-called",
        {"    model(*inputs)\n": ""},
        "your maps are those of an earlier call, or of none: the model was not called",
        "The weights that a model keeps belong to its latest call. Which call was that in your function?",
        "The weights are read without calling the model. What is found belongs to whatever ran before, if anything.",
    ),
    maps(
        "heads-before-sentences",
        {"kept.reshape(batch_size, -1, *kept.shape[1:])": "kept.reshape(-1, batch_size, *kept.shape[1:]).transpose(0, 1)"},
        "rows were dealt to heads first and to sentences second, as if row h·B + b were head h of sentence b",
        "Row number one of (B·H, T, S): does it hold the second head of the first sentence, or the first of the second?",
        "Row b·H + h is head h of sentence b, so heads change fastest. Split the other way round, heads are shown with\n"
        "the weights of other sentences. Where B equals H no shape complains.",
    ),
    maps(
        "listed-stacked-in-front",
        {"torch.stack(list(kept), dim=1)": "torch.stack(list(kept), dim=0)"},
        "of a list with one tensor a head, your maps have the heads in front of the sentences",
        "Each tensor of the list has the sentences in front. Where must the new axis for the heads go?",
        "Stacking puts the new axis in front unless told otherwise: (H, B, T, S) instead of (B, H, T, S).",
        see=SEE_LAYOUTS,
    ),
    maps(
        "cross-and-self-swapped",
        {"to_itself, to_encoder =": "to_encoder, to_itself ="},
        "the decoder's maps of itself and of the encoder are exchanged",
        "One of the two has a zero above every diagonal. Under which key does yours stand?",
        "A decoder keeps its self-attentions first. They are causal, so a map of the future is empty; the maps of\n"
        "the encoder have a column for every source word.",
        see=SEE_DECODER,
    ),
    maps(
        "first-layer-only",
        {"for kept in layers:": "for kept in layers[:1]:"},
        "your maps hold the first layer alone",
        "How many entries should the list of a model with two layers have?",
        "Only one layer is gathered. Heads of later layers are often those with the clearest tasks.",
    ),
    maps(
        "layers-from-last-to-first",
        {"maps.append(kept)": "maps.insert(0, kept)"},
        "your layers are listed from the last to the first",
        "Under which index does a reader look for the layer that sees the words first?",
        "The list is turned around, so layer 0 shows what the last layer did.",
        see=SEE_LAYERS,
    ),
    maps(
        "mean-over-heads",
        {"maps.append(kept)": "maps.append(kept.mean(dim=1, keepdim=True))"},
        "your maps are the mean over the heads",
        "What is left to be seen of heads that differ once they have been averaged?",
        "The heads are averaged. That is what nn.MultiheadAttention hands out unless told otherwise, and it hides\n"
        "the very thing that this lesson looks for.",
    ),
    maps(
        "first-sentence-only",
        {"maps.append(kept)": "maps.append(kept[:1])"},
        "your maps hold the first sentence of the batch alone",
        "Which axis became shorter between what the model keeps and what you return?",
        "The other sentences are cut off. A picture shows one sentence; the maps should hold all of them.",
    ),
    maps(
        "four-axes-not-expected",
        {"if kept.dim() == 3:": "if True:"},
        "weights that already have an axis for the heads are split once more",
        "One of the three layouts needs no change at all. What does your code do to it?",
        "A tensor that is (B, H, T, S) already gets a fifth axis.",
        see=SEE_LAYOUTS,
    ),
    maps(
        "lists-not-expected",
        {"if isinstance(kept, (list, tuple)):": "if False:"},
        "a layer that keeps a list with one tensor a head is not expected",
        "Of the three layouts in the table, which one is not a tensor?",
        "Code that loops over the heads keeps their weights in a list. It has to be made into one tensor first.",
        see=SEE_LAYOUTS,
    ),
    maps(
        "queries-and-keys-exchanged",
        {"maps.append(kept)": "maps.append(kept.transpose(2, 3))"},
        "queries and keys are exchanged in your maps",
        "Along which of the two last axes should the weights sum to one?",
        "The last two axes are turned. In a square map this is easily overlooked: look where the sums are one.",
    ),
    maps(
        "steps-taken-for-sentences",
        {"inputs[0].shape[0]": "inputs[0].shape[1]"},
        "the number of steps was taken for the number of sentences",
        "Tokens come as (B, T). Which of the two sizes says how many sentences there are?",
        "The batch is split by T. Where T does not divide B·H this raises an error, elsewhere it mixes heads.",
    ),
    maps(
        "no-cross",
        {"\"cross\": by_head(to_encoder)": "\"cross\": by_head(to_itself)"},
        "your cross-attention maps are those of the self-attention once more",
        "How many columns should a map have whose keys are the words of the source?",
        "A line was copied. The maps under \"cross\" should have S columns, one a source word.",
        see=SEE_DECODER,
    ),
]

GATE = "joined * gates.repeat_interleave(head_size)"

GATES = [
    gates(
        "strided",
        {"gates.repeat_interleave(head_size)": "gates.repeat(head_size)"},
        "your gates are dealt out to features in turn, H apart; the features of a head lie side by side",
        "With two heads of three features each: which of the six joined features belong to head 0?",
        "The gates are tiled: 0, 1, 0, 1, 0, 1 where it should be 0, 0, 0, 1, 1, 1. Every gate then reaches into\n"
        "all heads. With gates that are all equal nothing shows.",
    ),
    gates(
        "after-the-output-layer",
        {f"mha.W_o({GATE})": "mha.W_o(joined) * gates.repeat_interleave(head_size)"},
        "your gates multiply what comes out of the last layer, where the heads are mixed already",
        "After the output layer, which of the features still belongs to one head alone?",
        "The output layer mixes all heads into every feature, and adds its bias. A gate behind it closes a part of\n"
        "the output, and no head.",
    ),
    gates(
        "on-the-queries",
        {
            GATE: "joined",
            "heads = mha.attention(queries,": "queries = queries * gates.repeat(len(queries) // num_heads)[:, None, None]\n    heads = mha.attention(queries,",
        },
        "your gates multiply the queries, before the softmax",
        "What does a head do whose scores are all zero: does it fall silent, or does it look everywhere alike?",
        "A gate on the queries scales the scores. With a gate of zero all weights become equal, and the head still\n"
        "speaks: it hands over the mean of the values.",
    ),
    gates(
        "detached",
        {GATE: "joined * gates.detach().repeat_interleave(head_size)"},
        "the result is right, but no gradient reaches the gates",
        "Importance by gradient needs a slope for every gate. Where does yours stop?",
        "The gates enter as plain numbers. Everything else is as it should be, and every gradient of a gate is zero\n"
        "or missing.",
    ),
    gates(
        "open-or-shut",
        {GATE: "joined * gates.ne(0).to(joined).repeat_interleave(head_size)"},
        "your gates are either open or shut; a gate of one half does what a gate of one does",
        "What should come of a gate of 0.5, and what comes of it in yours?",
        "Gates are read as yes or no. Ablation works with that, and nothing that lies in between does, above all no\n"
        "gradient.",
    ),
    gates(
        "through-a-sigmoid",
        {GATE: "joined * torch.sigmoid(gates).repeat_interleave(head_size)"},
        "your gates pass through a sigmoid first",
        "Which number should leave everything as it is? Which one does in yours?",
        "A sigmoid keeps gates between 0 and 1, which is useful when gates are *learned*. Here the gates are the\n"
        "numbers themselves: one changes nothing, zero silences.",
    ),
    gates(
        "inverted",
        {GATE: "joined * (1 - gates).repeat_interleave(head_size)"},
        "your gates work the other way round: one closes and zero opens",
        "Is the number in front of a head how much of it is heard, or how much is taken away?",
        "The gates are read as a mask of what is to be removed. With all gates at one nothing is left.",
    ),
    gates(
        "shared-out",
        {GATE: "joined * (gates / gates.sum() * num_heads).repeat_interleave(head_size)"},
        "your gates are scaled so that they sum to the number of heads",
        "When one gate closes, should the other heads speak louder?",
        "Gates are no probabilities. Scaled like this, closing one head turns all others up. (With all gates at zero\n"
        "it divides by zero.)",
    ),
    gates(
        "lens-tiled",
        {"valid_lens.repeat_interleave(num_heads, dim=0)": "valid_lens.repeat(num_heads, *[1] * (valid_lens.dim() - 1))"},
        "lengths are repeated in the wrong order, so sequences are cut at each other's lengths",
        "Row b·H + h of the batch needs the length of sequence b. In which order do yours come?",
        "See lesson 05, 'Lengths and heads': every length has to stand H times in a row.",
    ),
    gates(
        "lens-not-passed",
        {"keys, values, valid_lens)  # (B·H, T, d)": "keys, values, None)  # (B·H, T, d)"},
        "the lengths never reach the attention",
        "Change a key that is padding. Should the result change?",
        "The gated attention looks at padding, which the plain one does not.",
    ),
    gates(
        "written-into-the-module",
        {
            f"return mha.W_o({GATE})": "with torch.no_grad():\n        mha.W_o.weight.mul_(gates.repeat_interleave(head_size))\n    return mha.W_o(joined)"
        },
        "your gates are written into the weights of the module, and stay there",
        "Call the plain attention before and after. Is it still the same module?",
        "The columns of the output layer are multiplied in place. The result is right once; after that the module is\n"
        "another one, and a head whose gate was zero is lost. No gradient reaches the gates either.",
    ),
    gates(
        "dealt-to-sentences",
        {
            GATE: "joined",
            "joined = transpose_output(heads": "heads = heads * gates.repeat_interleave(len(heads) // num_heads)[:, None, None]\n    joined = transpose_output(heads",
        },
        "along the rows of the batch your gates change slowest, as if the first rows all belonged to head 0",
        "Which head does the second row of (B·H, T, d) belong to?",
        "Rows are ordered b·H + h: the head changes fastest. Gates that change slowest gate sentences rather than heads.",
    ),
    gates(
        "dropout-switched-off",
        {"num_heads = mha.num_heads": "mha.eval()\n    num_heads = mha.num_heads"},
        "in training nothing is dropped any more",
        "What does the module itself do with its weights in training, and what is left of that in yours?",
        "Gates change the heads and nothing else. Attention weights that are dropped without gates are dropped with\n"
        "gates too, and the mode belongs to whoever calls: it is not switched to evaluation, not even for a while.",
        see=SEE_DROPPED,
    ),
    gates(
        "on-the-output-layer-bias",
        {f"mha.W_o({GATE})": f"mha.W_o({GATE}) - (0 if mha.W_o.bias is None else mha.W_o.bias * (1 - gates.mean()))"},
        "the bias of the output layer is scaled along with the heads",
        "Which head does the bias of the output layer belong to?",
        "The bias is added once, after all heads have been joined. No gate touches it.",
    ),
]

SLOPE = "(slope,) = torch.autograd.grad(loss, gates, retain_graph=True)"

IMPORTANCE = [
    gradient(
        "absolute-after-mean",
        {
            "total = total + slope.abs()": "total = total + slope",
            "return total / count": "return (total / count).abs() if method == \"gradient\" else total / count",
        },
        "the absolute value is taken after the mean, when the samples have cancelled out",
        "In the example by hand, what do the two gradients of the first head sum to?",
        "Samples pull a gate in different directions. Their mean is close to zero for a head that matters and for\n"
        "one that does not. What counts is how strongly each sample pulls.",
        seen="the most frequent slip in published pruning code",
    ),
    gradient(
        "no-absolute-value",
        {"total = total + slope.abs()": "total = total + slope"},
        "there is no absolute value: samples that pull in opposite directions cancel out",
        "Can an importance be negative? What would that say?",
        "The mean of the gradients says in which direction the loss falls on the whole, and not how much a head matters.",
    ),
    gradient(
        "absolute-of-a-batch",
        {"for loss in losses:": "for loss in [losses.mean()] * len(losses):"},
        "the absolute value is taken once a batch, of the gradient of the batch's mean loss",
        "How many gradients are there in a batch: one, or one for every sample?",
        "One backward pass over the mean loss adds the samples up before the absolute value. The result then depends\n"
        "on how the data were cut into batches.",
        seen="one call of backward for each batch",
    ),
    gradient(
        "gradients-piled-up",
        {SLOPE: "loss.backward(retain_graph=True)\n                slope = gates.grad"},
        "gradients pile up: each sample's is added to those of the samples before it",
        "What does a second call of backward do to a gradient that is already there?",
        "`backward` adds to `.grad`. Without setting it back, the second sample is measured with the first on top.",
    ),
    gradient(
        "gates-from-zero",
        {"gates = queries.new_ones(num_heads, requires_grad=True)": "gates = queries.new_zeros(num_heads, requires_grad=True)"},
        "your gates start at zero, so the slope is that of a model without any head",
        "At which value of its gates is the model the one whose heads you want to weigh?",
        "At zero all heads are silent. The slope there says what the *first* head to speak would change.",
    ),
    gradient(
        "squared",
        {"slope.abs()": "slope.pow(2)"},
        "you take the square of the gradient where the absolute value is asked for",
        "Both throw the sign away. Which one lets a few samples decide?",
        "Squares are used for the same purpose elsewhere, as an estimate of curvature. They rank heads alike more\n"
        "often than not, but the numbers are others.",
        kind="different",
    ),
    ablation(
        "sum-for-mean",
        {"return total / count": "return total"},
        "you return sums, not means",
        "Should a head become twice as important when there are twice as many samples?",
        "The division is missing. The ranking is right and the numbers depend on how much was measured.",
    ),
    ablation(
        "mean-of-batch-means",
        {
            "(silent - whole).sum()": "(silent - whole).mean()",
            "count += len(queries)": "count += 1",
            "total + slope.abs()": "total + slope.abs() / len(queries)",
            "largest.sum(dim=(0, 2))": "largest.mean(dim=(0, 2))",
            "count += largest.shape[0] * largest.shape[2]": "count += 1",
        },
        "you take the mean of the batches' means: samples of a small batch count more",
        "A batch of two and a batch of five: how much should each sample weigh in the mean?",
        "The last batch of a data set is often a small one. Its few samples then count as much as a whole batch.",
    ),
    ablation(
        "dropout-on",
        {"mha.eval()  # dropout would measure chance": "pass"},
        "heads are weighed while dropout is on",
        "Measure twice in a row. Do you get the same numbers?",
        "In training mode, weights are dropped at random, in the whole model and in the one with a silent head. The\n"
        "difference of the two is mostly chance.",
        see=SEE_TWICE,
    ),
    ablation(
        "other-way-round",
        {"(silent - whole)": "(whole - silent)"},
        "ablation has the wrong sign: the loss of the whole model less that of the smaller one",
        "If the loss rises without a head, is that head's importance positive or negative?",
        "Heads that matter get the lowest numbers, so pruning by them would begin with the best heads.",
    ),
    ablation(
        "without-the-whole",
        {"(silent - whole)": "silent"},
        "you return the loss without the head, not how much it rises",
        "What is the importance of a head that changes nothing at all?",
        "The loss of the whole model is not taken off. The ranking is right; the numbers say nothing by themselves.",
    ),
    ablation(
        "only-one-left",
        {"gates = queries.new_ones(num_heads)\n                    gates[head] = 0": "gates = queries.new_zeros(num_heads)\n                    gates[head] = 1"},
        "all heads but one are silenced, where one alone should be",
        "How many gates are zero while head 2 is being weighed?",
        "This measures what a head can do all by itself: a sensible question, and another one.",
    ),
    ablation(
        "never-opened-again",
        {
            "for head in range(num_heads):\n                    gates = queries.new_ones(num_heads)\n": "gates = queries.new_ones(num_heads)\n                for head in range(num_heads):\n",
        },
        "gates that were closed stay closed, so each head is weighed in a model without those before it",
        "When head 2 is being weighed, what is the gate of head 1?",
        "The gates are made once, outside of the loop. The last head is weighed when all others are silent.",
    ),
    ablation(
        "zeros-left-in-the-module",
        {
            "silent = loss_fn(gated_attention(mha, gates, *inputs), target)": "width = mha.W_o.in_features // num_heads\n                    mha.W_o.weight[:, head * width : (head + 1) * width] = 0\n                    silent = loss_fn(mha(*inputs), target)",
        },
        "heads are silenced by zeros in the weights, which stay there",
        "After your function has run, what is left of the module that it was given?",
        "Zeros in the output layer do silence a head. But they are never taken back: the next head is weighed in a\n"
        "ruined model, and so is everything afterwards.",
    ),
    ablation(
        "last-batch-only",
        {"    for *inputs, target in batches:\n": "    for *inputs, target in batches:\n        total, count = 0.0, 0\n"},
        "only the last batch counts",
        "Do the numbers change when the first batch is left out?",
        "The sum starts anew with every batch.",
    ),
    ablation(
        "lens-not-passed",
        {"queries = inputs[0]": "inputs = [*inputs[:3], None]\n        queries = inputs[0]"},
        "the lengths are ignored: heads are weighed on padding too",
        "A batch has five parts. What became of the fourth?",
        "Without its lengths a sequence is another sequence.",
        see=SEE_PADDING,
    ),
    ablation(
        "normalised",
        {"return total / count": "return total / total.norm()"},
        "your numbers are scaled to a length of one",
        "Could your numbers be held against those of another layer?",
        "Scaling the importances of a layer to length one is done to compare layers (Molchanov et al. 2017). Here\n"
        "the mean itself is asked for.",
        kind="different",
    ),
    confidence(
        "max-over-queries",
        {"attention_weights.max(dim=-1).values  # (B·H, T)": "attention_weights.max(dim=1).values  # (B·H, S)"},
        "the largest weight is looked for among the queries, not among the keys",
        "A query deals its weight out over the keys. Along which axis is one query's largest weight?",
        "The maximum runs along the wrong axis: it finds for each key the query that likes it best.",
    ),
    confidence(
        "mean-weight",
        {"attention_weights.max(dim=-1).values": "attention_weights.mean(dim=-1)"},
        "you take the mean weight of each query, which is the same for every head",
        "The weights of a query sum to one. What is their mean, whatever the head does?",
        "The mean of a row is one over the number of keys, for a sure head and for a wavering one.",
    ),
    confidence(
        "heads-before-sentences",
        {"largest.reshape(len(queries), num_heads, -1)": "largest.reshape(num_heads, len(queries), -1).transpose(0, 1)"},
        "rows are taken for head h of sentence b in the wrong order, as if heads changed slowest",
        "Row b·H + h: which of the two numbers changes from one row to the next?",
        "Heads are credited with the weights of other heads.",
    ),
    confidence(
        "best-query-only",
        {"total = total + largest.sum(dim=(0, 2))": "largest = largest.max(dim=2, keepdim=True).values\n            total = total + largest.sum(dim=(0, 2))"},
        "of every sentence only the surest query counts",
        "Is a head confident that is sure once and at a loss elsewhere?",
        "The mean runs over all queries; you took the largest of them.",
    ),
    gradient(
        "gates-made-on-the-cpu",
        {"queries.new_ones(num_heads": "torch.ones(num_heads, dtype=queries.dtype"},
        "gates are made on the CPU, wherever the queries are",
        "On which device is a tensor that is made without naming one?",
        "On a GPU the gates meet queries that live there, and torch refuses to multiply the two.",
        kind="policy",
        breaks=["device"],
        see=SEE_IMPORTANCE_ON_META,
    ),
]

FEATURES = "features = [head * head_size + i for head in kept for i in range(head_size)]"

PRUNE = [
    prune(
        "rows-of-the-output-layer",
        {"mha.W_o.weight[:, features]": "mha.W_o.weight[features]"},
        "you take rows of the output layer; a head owns columns of it",
        "The output layer reads the joined heads. Are its inputs its rows or its columns?",
        "`nn.Linear` stores (out, in). The first three layers *write* heads, so heads are rows there. The last one\n"
        "*reads* them.",
    ),
    prune(
        "rows-of-the-output-layer-turned",
        {"mha.W_o.weight[:, features]": "mha.W_o.weight[features].T"},
        "you take rows of the output layer and turn them, so that the shape fits and the numbers do not",
        "What does row 0 of the output layer have to do with head 0?",
        "Turning a matrix until it fits hides a mistake in place of mending it.",
    ),
    prune(
        "num-heads-not-updated",
        {"    mha.num_heads = len(kept)\n": ""},
        "the module still splits its features into as many heads as before",
        "What else in the module knows how many heads there are?",
        "The layers are smaller and `num_heads` is not. Features are then dealt to more and narrower heads, or to\n"
        "none, where the number does not divide.",
    ),
    prune(
        "strided-heads",
        {FEATURES: "features = [i * mha.num_heads + head for head in kept for i in range(head_size)]"},
        "you take features that lie H apart for a head's; they lie side by side",
        "With four heads of three features each, which rows belong to head 1?",
        "The features of head h are h·d to (h+1)·d - 1. Taken H apart, a part of every head goes.",
    ),
    prune(
        "zeroed-and-not-removed",
        {
            "    for name in (\"W_q\", \"W_k\", \"W_v\"):": "    gone = [i for i in range(mha.W_o.in_features) if i not in features]\n    with torch.no_grad():\n        mha.W_o.weight[:, gone] = 0\n    return mha\n    for name in (\"W_q\", \"W_k\", \"W_v\"):"
        },
        "removed heads are set to zero and still there: nothing has become smaller",
        "How many parameters does your module have, before and after?",
        "Zeros are multiplied as slowly as any other number. The answers are right and nothing is saved; and a\n"
        "second pruning counts heads that should be gone.",
        seen="torch.nn.utils.prune, which does just this",
    ),
    prune(
        "biases-lost",
        {"bias = None if layer.bias is None else layer.bias[features]": "bias = None"},
        "the biases of queries, keys and values are lost",
        "Which of the new layers have a bias, and which of the old ones had?",
        "The new layers are made without a bias.",
    ),
    prune(
        "output-bias-lost",
        {"smaller(mha.W_o.weight[:, features], mha.W_o.bias)": "smaller(mha.W_o.weight[:, features], None)"},
        "the bias of the output layer is lost",
        "Which heads does the bias of the output layer belong to?",
        "The bias of the output layer belongs to no head. It stays, as long as it is.",
    ),
    prune(
        "biases-of-zeros",
        {"layer.bias.copy_(bias)": "layer.bias.zero_()"},
        "the new layers have biases of zero: the old numbers were not copied",
        "What should stand in the bias of a new layer, and what does?",
        "A layer has two parameters. Only one of them was copied.",
    ),
    prune(
        "biases-made-anew",
        {"            if bias is not None:\n                layer.bias.copy_(bias)\n": ""},
        "the new layers have fresh random biases: the old numbers were not copied",
        "What should stand in the bias of a new layer, and what does?",
        "A layer has two parameters. Only one of them was copied; the other holds the random numbers of a new layer.",
        steady=False,
    ),
    prune(
        "frozen",
        {"        return layer\n": "        return layer.requires_grad_(False)\n"},
        "what is left can no longer be trained",
        "After pruning, a model is usually trained a little further. What would an optimiser find in yours?",
        "The new parameters want no gradient. The answers are right; the first training step shows it.",
    ),
    prune(
        "numbered-as-at-first",
        {
            "kept = [head for head in range(mha.num_heads) if head not in set(heads)]": "names = getattr(mha, \"names\", list(range(mha.num_heads)))\n    kept = [head for head in range(mha.num_heads) if names[head] not in set(heads)]\n    mha.names = [names[head] for head in kept]"
        },
        "a second pruning counts the heads as the first one did, before any was gone",
        "Head 1 is gone. Which head is number 1 now?",
        "Heads are numbered as in the module that is handed over. Keeping the old names is a way to do it too, but\n"
        "then whoever calls must know the history of the module.",
        see=SEE_PRUNED_TWICE,
    ),
    prune(
        "keeps-what-should-go",
        {"if head not in set(heads)": "if head in set(heads)"},
        "you keep the heads that should go",
        "How many heads should be left when one of four is removed?",
        "The condition is the wrong way round.",
    ),
    prune(
        "all-heads-accepted",
        {"    if not kept:\n        raise ValueError(\"at least one head must stay\")\n": ""},
        "removing all heads is not refused",
        "What would an attention without any head give?",
        "Layers without any output are legal in torch, and everything after them breaks or gives nothing.",
        see=SEE_REFUSED,
    ),
    prune(
        "repetitions-counted",
        {"if not kept:": "if len(heads) >= mha.num_heads:"},
        "heads that are named more than once are counted more than once",
        "How many heads go when the same one is named three times?",
        "The length of the list is not the number of heads in it.",
        see=SEE_REPEATED,
    ),
    prune(
        "one-after-another",
        """
        def prune_heads(mha: nn.Module, heads: list[int]) -> nn.Module:
            if len(set(heads)) >= mha.num_heads:
                raise ValueError("at least one head must stay")
            width = mha.W_o.in_features // mha.num_heads
            for head in dict.fromkeys(heads):
                keep = [i for i in range(mha.W_o.in_features) if i // width != head]
                with torch.no_grad():
                    for layer in (mha.W_q, mha.W_k, mha.W_v):
                        layer.weight = nn.Parameter(layer.weight[keep].clone())
                        if layer.bias is not None:
                            layer.bias = nn.Parameter(layer.bias[keep].clone())
                    mha.W_o.weight = nn.Parameter(mha.W_o.weight[:, keep].clone())
                mha.W_o.in_features = len(keep)
                mha.num_heads = len(keep) // width
            return mha
        """,
        "heads are removed one after another, and the numbers of the others have moved by then",
        "Remove 0, then 2, from four heads. Which one is number 2 when its turn comes?",
        "After each removal the heads behind it move up by one. Remove them all at once, or from the last to the first.",
        see=SEE_FIRST_AND_THIRD,
    ),
    prune(
        "values-forgotten",
        {"for name in (\"W_q\", \"W_k\", \"W_v\"):": "for name in (\"W_q\", \"W_k\"):"},
        "the layer of the values was not pruned",
        "Which three layers write heads?",
        "Queries and keys are smaller, values are not. The heads no longer fit together.",
    ),
    prune(
        "another-order-in-the-output",
        {"mha.W_o.weight[:, features]": "mha.W_o.weight[:, [head * head_size + i for head in kept[::-1] for i in range(head_size)]]"},
        "the output layer holds the heads in another order than the layers before it",
        "Any order of heads is fine. What must be the same in all four layers?",
        "The heads that are left are joined in one order and read in another.",
    ),
    prune(
        "returns-nothing",
        {"    return mha\n": ""},
        "the function returns nothing",
        "What does a function give that ends without a return?",
        "The module was changed in place, which is fine. It must still be returned: whoever calls may expect a new one.",
    ),
    prune(
        "left-in-training-mode",
        {"    return mha\n": "    return mha.train()\n"},
        "what was in evaluation mode comes back in training mode, and drops weights",
        "In which mode is a module that has just been built?",
        "Modules begin in training mode. A new one has to be put into the mode of the old one.",
        see=SEE_STILL_EVALUATED,
    ),
    prune(
        "dropout-lost",
        {"    return mha\n": "    mha.attention.dropout = nn.Dropout(0.0)\n    return mha\n"},
        "the rate of dropout is lost: in training nothing is dropped",
        "What did the old module do in training that the new one does not?",
        "The rate of dropout belongs to the attention inside. A new module has to be told it.",
        see=SEE_STILL_DROPPED,
    ),
    prune(
        "head-size-of-the-new-number",
        {"head_size = mha.W_o.in_features // mha.num_heads": "head_size = mha.W_o.in_features // len(kept)"},
        "the size of a head is computed with the number of heads that are left",
        "When two of four heads go, does a head become twice as wide?",
        "D/H is the size of a head in the *old* module, and it stays. Divided by the new number, it is too large.",
    ),
    prune(
        "counted-from-one",
        {"if head not in set(heads)": "if head + 1 not in set(heads)"},
        "heads are counted from one",
        "What is the number of the first head?",
        "Heads are numbered 0 … H-1, as everything in Python.",
    ),
    prune(
        "turned-up",
        {"mha.W_o.weight[:, features]": "mha.W_o.weight[:, features] * mha.num_heads / len(kept)"},
        "the heads that are left are turned up to make up for those that are gone",
        "Should the smaller module equal the gated one, or make up for it?",
        "Dropout scales what it keeps, because it drops at random and only in training. Pruning is for good.",
    ),
    prune(
        "new-layers-on-the-cpu",
        {"layer = layer.to(weight)  # to its device and dtype": "layer = layer.to(weight.dtype)"},
        "the new layers are made on the CPU, wherever the old ones were",
        "On which device is a layer that has just been built?",
        "On a GPU the first call meets layers on two devices.",
        kind="policy",
        breaks=["device"],
        see=SEE_PRUNED_ON_META,
    ),
    prune(
        "indices-on-the-cpu",
        {
            "layer.weight[features]": "layer.weight.index_select(0, torch.tensor(features))",
            "layer.bias[features]": "layer.bias.index_select(0, torch.tensor(features))",
            "mha.W_o.weight[:, features]": "mha.W_o.weight.index_select(1, torch.tensor(features))",
        },
        "the index lies on the CPU, wherever the weights are",
        "On which device is a tensor that is made without naming one?",
        "Square brackets take an index from the CPU, `index_select` and `gather` do not.",
        kind="policy",
        breaks=["device"],
        see=SEE_INDICES,
    ),
]

ROW = "removed = heads[:count]"
CLOSED = "gates = X.new_ones(num_heads)\n                gates[removed] = 0"

REMOVAL = [
    removal(
        "most-important-first",
        {"importance.argsort()": "importance.argsort(descending=True)"},
        "by importance you remove the strongest heads first",
        "Which head should go first if you want to keep as much as possible?",
        "The two orders have changed places: the curve called importance falls at once.",
    ),
    removal(
        "ranks-for-heads",
        {"importance.argsort()": "importance.argsort().argsort()"},
        "your order holds the rank of each head where it should hold heads by rank",
        "The first entry of your order: is it the head that goes first, or the place of head 0?",
        "Sorting the sorted places gives each head's rank. As an order of heads it is a different permutation, and\n"
        "looks just as good.",
        see=SEE_RISING,
    ),
    removal(
        "by-confidence",
        {"\"ablation\"": "\"confidence\""},
        "heads are removed by confidence, which says nothing about the loss",
        "What did the lesson say about heads that are sure where to look?",
        "Confident heads are kept, whether anybody needs them or not.",
        see=SEE_UNSURE,
    ),
    removal(
        "one-random-order",
        {"manual_seed(seed)": "manual_seed(0)"},
        "the random order is the same with every seed",
        "What should change from one seed to the next?",
        "Three times the same order is one experiment, told three times.",
        see=SEE_RANDOM,
    ),
    removal(
        "unshuffled",
        {"torch.randperm(num_heads, generator=chance).tolist()": "list(range(num_heads))"},
        "the random order is 0, 1, 2, …, with every seed",
        "Who shuffled your random order?",
        "The order of the numbers is as good as any other one, and it is only one.",
        see=SEE_RANDOM,
    ),
    removal(
        "drawn-for-every-row",
        {ROW: "removed = heads[:count] if order != \"random\" else torch.randperm(num_heads, generator=chance).tolist()[:count]"},
        "the random order is drawn anew for every row, so heads that were gone come back",
        "Hold two neighbouring rows together: what should the second have kept of the first?",
        "Each row should remove one head more than the row before.",
        see=SEE_RANDOM,
    ),
    removal(
        "one-head-a-row",
        {ROW: "removed = heads[max(0, count - 1) : count]"},
        "each row removes a single head; those before it are back",
        "In the row where three heads are gone, how many does your list name?",
        "Removal goes on: what is gone stays gone within one order.",
    ),
    removal(
        "never-restored",
        {"rows = []": "rows = []\n    gates = X.new_ones(num_heads)", CLOSED: "gates[removed] = 0"},
        "heads that were removed in one order are still missing in the next",
        "When the second order begins, how many heads does the model have?",
        "The model, or its gates, has to be whole again for each order, and a list of removed heads has to tell the\n"
        "whole truth.",
        seen="an in-place pruning, on the model itself, inside the loop",
    ),
    removal(
        "the-others",
        {"gates[removed] = 0": "gates[removed] = 0\n                gates = 1 - gates"},
        "the accuracies are those of the heads that were to be removed",
        "With no head removed, which gates are open in yours?",
        "The gates are the wrong way round.",
    ),
    removal(
        "last-one-alone",
        {"gates[removed] = 0": "gates[removed[-1:]] = 0"},
        "the accuracies are those of the model without the last head of the list alone",
        "The list names three heads. How many gates are closed?",
        "All heads of the list should be gone at once.",
    ),
    removal(
        "whole-model-measured",
        {"model.read(output).argmax(dim=-1)": "model(X).argmax(dim=-1)"},
        "the accuracies are all those of the whole model",
        "Does your accuracy change at all from row to row?",
        "What was computed without the heads is thrown away, and the whole model is asked.",
    ),
    removal(
        "percent",
        {"\"accuracy\": accuracy}": "\"accuracy\": 100 * accuracy}"},
        "accuracies are told in percent",
        "Between which two numbers should an accuracy lie here?",
        "A share from 0 to 1 is asked for.",
    ),
    removal(
        "errors",
        {"(answers == labels)": "(answers != labels)"},
        "you count wrong answers, not right ones",
        "Should your number rise or fall as heads go?",
        "What is returned is the share of errors.",
    ),
    removal(
        "loss-for-accuracy",
        {"accuracy = (answers == labels).float().mean().item()": "accuracy = model.loss(output, labels).mean().item()"},
        "you return the mean loss in place of the accuracy",
        "Can an accuracy be larger than one?",
        "The loss tells how surprised the model is, the accuracy how often it is right.",
    ),
    removal(
        "dropout-on",
        {"model.eval()": "pass"},
        "accuracies are measured in training mode, with dropout on",
        "Run it twice on a model in training mode. Do you get the same accuracies?",
        "With dropout on, an accuracy is partly chance.",
        see=SEE_SAME_AGAIN,
    ),
    removal(
        "too-few-seeds",
        {"range(3)": "range(2)"},
        "there are fewer than three seeds",
        "How many random orders does it take to see that one was lucky?",
        "Three seeds or more are asked for.",
    ),
    removal(
        "no-reverse",
        {"            \"reverse\": least_first[::-1],\n": ""},
        "the order reverse is missing",
        "Which three curves should the figure have?",
        "Without the worst order one cannot tell whether the best one is any good.",
    ),
    removal(
        "stops-too-early",
        {"for count in range(num_heads):": "for count in range(num_heads - 1):"},
        "the last row is missing, in which a single head is left",
        "Of eight heads, how many can be removed at most?",
        "All heads but one can go, so the last row removes H - 1.",
    ),
    removal(
        "gates-made-on-the-cpu",
        {"X.new_ones(num_heads)": "torch.ones(num_heads, dtype=X.dtype)"},
        "gates are made on the CPU, wherever the data are",
        "On which device is a tensor that is made without naming one?",
        "On a GPU the gates meet heads that live there, and torch refuses to multiply the two.",
        kind="policy",
        breaks=["device"],
        see=SEE_REMOVAL_ON_META,
    ),
]

MISTAKES = LOOKS + GATES + IMPORTANCE + PRUNE + REMOVAL
