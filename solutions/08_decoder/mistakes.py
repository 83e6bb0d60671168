"""Mistakes seen in decoder blocks and decoders."""

from grader.authoring.bank import mistake

# Ways to look, for the pages. `block`, `decoder`, `X`, `words` and `new_state` are those of the lesson's cells.

SEE_LAW = """

    >>> together, _ = block.train()(X, new_state())
    >>> state = new_state()
    >>> for t in range(5):
    ...     step = block.eval()(X[:, t : t + 1], state)[0]
    ...     print((together[:, t : t + 1] - step).abs().max())

Five numbers, one a step; each should be rounding, about 0.0000001.
"""

SEE_FUTURE = """

    >>> other = X.clone(); other[:, -1] = 0
    >>> left, right = (block.train()(x, new_state())[0] for x in (X, other))
    >>> (left - right).abs().amax(dim=(0, 2))

Only the last step was changed, so every number but the last should be exactly 0.
"""

SEE_WEIGHTS = """

    >>> block.train()(X, new_state());
    >>> block.attention1.attention.attention_weights[0]

Row t shows where query t looks: its weights stand in the columns 0 to t, with zeros behind them.
"""

SEE_CACHE = """

    >>> state = new_state()
    >>> for t in range(3): _, state = block.eval()(X[:, t : t + 1], state)
    >>> state[2]

After three steps, what layer 0 keeps should speak of three steps, and of nothing but what came into it.
"""

SEE_SOURCE = """

    >>> other = new_state(); other[0][0, 2] = 7.0
    >>> before = block.train()(X, new_state())[0]
    >>> after = block.train()(X, other)[0]
    >>> (before - after).abs().amax(dim=(1, 2))

Step 2 of sentence 0 is padding, and only it was changed: the first number should be exactly 0.
"""

SEE_CROSS = """

    >>> block.train()(X, new_state());
    >>> weights = block.attention2.attention.attention_weights
    >>> weights.shape, weights[0]

One row for each target step, one column for each source step, zeros where the source is padding.
"""

SEE_FLOW = """

    >>> block.train()(X, new_state())[0].pow(2).sum().backward()
    >>> def learns(p):
    ...     return p.grad is not None and p.grad.abs().max() > 0
    >>> {name: learns(p) for name, p in block.named_parameters()}

Every parameter of the block takes part in its result, so every entry should be true.
"""

SEE_ASKED = """

    >>> seen = []
    >>> def keep_output(part, given, out):
    ...     seen.append(out)
    >>> def keep_input(part, given):
    ...     seen.append(given[0])
    >>> block.addnorm1.register_forward_hook(keep_output)
    >>> block.attention2.register_forward_pre_hook(keep_input)
    >>> block.train()(X, new_state());
    >>> (seen[0] - seen[1]).abs().max()

What the source is asked with should be what the first add & norm made: the difference is 0.
"""

SEE_FED = """

    >>> seen = []
    >>> def keep_output(part, given, out):
    ...     seen.append(out)
    >>> def keep_input(part, given):
    ...     seen.append(given[0])
    >>> block.addnorm2.register_forward_hook(keep_output)
    >>> block.ffn.register_forward_pre_hook(keep_input)
    >>> block.train()(X, new_state());
    >>> (seen[0] - seen[1]).abs().max()

What the network is fed with should be what the second add & norm made: the difference is 0.
"""

SEE_RESIDUALS = """

    >>> seen, norms = [X], (block.addnorm1, block.addnorm2, block.addnorm3)
    >>> def keep(norm, given, out):
    ...     seen.extend((given[0], out))
    >>> for norm in norms:
    ...     norm.register_forward_hook(keep)
    >>> block.train()(X, new_state());
    >>> [(seen[i] - seen[i + 1]).abs().max() for i in (0, 2, 4)]

What each add & norm adds to should be what came out of the one before it, for the first one X: three times 0.
"""

SEE_ORDER = """

    >>> for name, part in block.named_children():
    ...     part.register_forward_hook(lambda *_, name=name: print(name))
    >>> block.train()(X, new_state());

The six parts tell their names in the order in which they run, which should be that of their numbers.
"""

SEE_NOTHING_DROPPED = """

    >>> block = DecoderBlock(8, 8, 8, 8, [8], 8, 16, 2, dropout=0.5, i=0)
    >>> last_layers = block.attention1.W_o, block.attention2.W_o, block.ffn.dense2
    >>> for layer in last_layers:
    ...     for p in layer.parameters():
    ...         nn.init.zeros_(p)
    >>> (block.train()(X, new_state())[0] - block(X, new_state())[0]).abs().max()

Dropout is for what the three parts add, and here they add nothing: two calls should agree.
"""

SEE_LAST_NORM = """

    >>> nn.init.zeros_(block.addnorm3.ln.weight);
    >>> block.train()(X, new_state())[0].abs().max()

The last thing that a block does is its third norm. With a scale of zero, nothing should come out of it.
"""

SEE_BEND = """

    >>> for p in block.ffn.parameters():
    ...     nn.init.zeros_(p);
    >>> silent = block.train()(X, new_state())[0]
    >>> nn.init.constant_(block.ffn.dense1.bias, -1.0);
    >>> nn.init.ones_(block.ffn.dense2.weight[0]);
    >>> (block(X, new_state())[0] - silent).abs().max()

All hidden features are -1, of which a ReLU leaves nothing: this should be 0.
"""

SEE_NORM = """

    >>> nn.init.zeros_(block.ffn.dense2.weight);
    >>> nn.init.zeros_(block.ffn.dense2.bias);
    >>> Y = block.train()(X, new_state())[0]
    >>> Y.mean(dim=-1), Y.std(dim=-1, unbiased=False)

With its network silenced, a fresh block gives rows of mean 0 and spread 1: the last thing it does is a norm.
"""

SEE_DROPOUT = """

    >>> block = DecoderBlock(8, 8, 8, 8, [8], 8, 16, 2, dropout=0.5, i=0)
    >>> parts = block.named_modules()
    >>> [(name, part.p) for name, part in parts if isinstance(part, nn.Dropout)]

There are five of them: two attentions, three add & norms. Each should show 0.5.
"""

SEE_DECODER = """

    >>> together, _ = decoder.train()(words, decoder.init_state(source, lens))
    >>> together.shape, together[0, 0], together[0, 0].exp().sum()

Scores are of any sign and size, one for each word of the vocabulary, and their exponentials sum to anything.
"""

SEE_PREDICTED = """

    >>> scores = decoder.eval()(words[:, :1], decoder.init_state(source, lens))[0]
    >>> scores.sum(dim=-1)

Scores may be of any sign and size. If every sum is 1, they are not scores any more.
"""

SEE_DENSE = """

    >>> nn.init.constant_(decoder.blks[-1].addnorm3.ln.weight, 3.0);
    >>> def look(dense, given):
    ...     print(given[0].std(dim=-1, unbiased=False))
    >>> decoder.dense.register_forward_pre_hook(look)
    >>> decoder.train()(words, decoder.init_state(source, lens));

The last norm of the last block has a scale of 3, so the scores should be made of vectors with a spread of 3.
"""

SEE_TWICE = """

    >>> first = decoder.eval()(words[:, :1], decoder.init_state(source, lens))[0]
    >>> again = decoder.eval()(words[:, :1], decoder.init_state(source, lens))[0]
    >>> (first - again).abs().max()

The same first word after a fresh state: the difference should be exactly 0.
"""

SEE_STACK = """

    >>> seen = []
    >>> def keep(b, given, out):
    ...     seen.append((given[0], out[0]))
    >>> for b in decoder.blks:
    ...     b.register_forward_hook(keep)
    >>> decoder.train()(words, decoder.init_state(source, lens));
    >>> len(seen), (seen[0][1] - seen[1][0]).abs().max()

Two blocks were asked, and what went into the second should be what came out of the first: the difference is 0.
"""

SEE_BLOCKS = """

    >>> for name, b in decoder.blks.named_children():
    ...     b.register_forward_hook(lambda *_, name=name: print(name))
    >>> decoder.train()(words, decoder.init_state(source, lens));

The blocks tell their names in the order in which they run.
"""

SEE_EMBEDDING = """

    >>> seen = []
    >>> def keep(positions, given, out):
    ...     seen.append(given[0])
    >>> decoder.pos_encoding.register_forward_hook(keep)
    >>> decoder.train()(words, decoder.init_state(source, lens));
    >>> seen[0][0, 0] / decoder.embedding(words)[0, 0]

What reaches the positions, over what the table holds: the same factor everywhere, the root of D.
"""

SEE_DECODER_DROPOUT = """

    >>> sizes = 11, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> decoder = TransformerDecoder(*sizes, num_layers=2, dropout=0.5)
    >>> parts = decoder.named_modules()
    >>> [(name, part.p) for name, part in parts if isinstance(part, nn.Dropout)]

One for the positions and five for each block; no other, and each with the rate that was asked for.
"""

SEE_PLACES_DROPPED = """

    >>> sizes = 11, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> decoder = TransformerDecoder(*sizes, num_layers=2, dropout=0.5).train()
    >>> nn.init.zeros_(decoder.embedding.weight);
    >>> def look(block, given):
    ...     print((given[0][:, 1:] == 0).float().mean())
    >>> decoder.blks[0].register_forward_pre_hook(look)
    >>> decoder(words, decoder.init_state(source, lens));

All words are zero, so only positions reach the first block, and about half of these numbers should have been dropped.
"""

SEE_SCORED = """

    >>> sizes = 11, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> decoder = TransformerDecoder(*sizes, num_layers=2, dropout=0.5).train()
    >>> def look(dense, given):
    ...     print((given[0] == 0).sum())
    >>> decoder.dense.register_forward_pre_hook(look)
    >>> decoder(words, decoder.init_state(source, lens));

Behind the last norm nothing is dropped any more: no number that the scores are made of should be 0.
"""

SELF = "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))"
CROSS = "Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))"
END = "return self.addnorm3(Z, self.ffn(Z)), state"
LENGTHS = "visible = torch.arange(earlier + 1, earlier + num_steps + 1, device=X.device)"
APPEND = "key_values = torch.cat((cache[self.i], X), dim=1)"
WRITE = "cache[self.i] = key_values"


def of_block(id, swap, says, asks, page, see, **more):
    return mistake(
        f"decblock-{id}", of="DecoderBlock", swap=swap, says=says, asks=asks, page=page.strip() + see, **more
    )


def of_decoder(id, swap, says, asks, page, see, **more):
    return mistake(
        f"decoder-{id}",
        of="TransformerDecoder",
        swap=swap,
        says=says,
        asks=asks,
        page=page.strip() + see,
        **more,
    )


MASKS = [
    of_block(
        "no-causal-mask",
        {"dec_valid_lens = visible.repeat(batch_size, 1)": "dec_valid_lens = None"},
        "in training, every step looks at all steps, the later ones included",
        "When the whole sentence goes through at once, what keeps step 0 from reading the word that it should predict?",
        """
Without a mask the block reads the answers while it learns to give them. The loss of training falls
wonderfully fast and means nothing; in prediction, where no later word exists, the model has learned nothing
that it could use. It is the most expensive of all mistakes here, since nothing looks wrong until the end.
""",
        SEE_FUTURE,
    ),
    of_block(
        "sees-next-step",
        {LENGTHS: "visible = torch.arange(earlier + 2, earlier + num_steps + 2, device=X.device)"},
        "in training, every step also looks at the step that follows it",
        "How many steps may the very first query see, itself included?",
        """
The mask is there and is one step too generous. The one step too many is the worst possible: it is the word
that the query is asked to predict. A model learns to copy it, and is lost as soon as it has to write alone.
""",
        SEE_FUTURE,
    ),
    of_block(
        "own-step-hidden",
        {
            LENGTHS: "visible = torch.arange(int(not self.training), num_steps + int(not self.training)) + earlier"
        },
        "in training, no step looks at itself, and the first one looks at nothing",
        "In this course a query may look at its own step. Which length does that give the first query?",
        """
A length of zero leaves the first query with no key at all. What a softmax makes of that is an accident:
NaN in one code, equal weights for every step, future ones included, in another. The other steps miss
the newest word, which in prediction they would have had.
""",
        SEE_WEIGHTS,
    ),
    of_block(
        "lengths-reversed",
        {"visible.repeat(": "visible.flip(0).repeat("},
        "in training, the first step looks at all steps, and the last one at the first step only",
        "Do your lengths grow or shrink from the first query to the last?",
        """
The lengths are right and stand in the wrong order. The early steps, which should know least, see the most,
the whole future with it; the last step, which may see everything, sees one word.
""",
        SEE_WEIGHTS,
    ),
    of_block(
        "wrong-triangle",
        {
            SELF: "Y = self.addnorm1(X, self.attention1(X, key_values.flip(1), key_values.flip(1), dec_valid_lens.flip(1)"
            " if self.training else None))"
        },
        "in training, every step looks at itself and at later steps, never at earlier ones",
        "Your mask is a triangle. Which of its two halves are the steps that have been written already?",
        """
The other triangle was kept. It is a causal mask for a language read backwards: each step sees the future and
not the past. Functions that make triangles, and functions that take masks, disagree about which half is kept
and about what true means, so that this is an easy slip; printing a mask of size 4 ends all doubt.
""",
        SEE_WEIGHTS,
    ),
    of_block(
        "lengths-not-repeated",
        {"visible.repeat(batch_size, 1)": "visible"},
        "the causal lengths have one entry a step and none for the batch, so that they are taken for one length a sentence",
        "What do lengths of shape (T,) mean to the attention, and which shape would mean one length for each query?",
        """
A vector of lengths means one length for each *sentence*. When the batch happens to be as large as the sentence
is long this even runs, and each sentence then has a limit that belongs to a step; otherwise it stops with an
error about shapes. The lengths of all queries are a table with a row for each sentence.
""",
        SEE_WEIGHTS,
    ),
    of_block(
        "lengths-while-decoding",
        {
            LENGTHS: "visible = torch.arange(1, num_steps + 1, device=X.device)",
            "visible.repeat(batch_size, 1)  # (B, T)": "visible.repeat(batch_size, 1)",  # not where prediction has no lengths
        },
        "in prediction, every new step looks at the oldest step only",
        "A call of prediction holds one query. How many steps does the mask of training allow it, and which are they?",
        """
The lengths count the queries of the call and forget those of earlier calls. In prediction there is one query,
its length is 1, and the one key that it may see is the oldest. Training is perfect, and what is written
afterwards is as if the model had lost all memory but that of the first word.
""",
        SEE_LAW,
    ),
    of_block(
        "decoding-misses-newest",
        {
            LENGTHS: "visible = torch.arange(1, num_steps + 1) + max(earlier - int(not self.training), 0)",
            "visible.repeat(batch_size, 1)  # (B, T)": "visible.repeat(batch_size, 1)",  # not where prediction has no lengths
        },
        "in prediction, a new step looks at the earlier steps but not at itself",
        "At the third step of a prediction, how many steps may be looked at, the new one included?",
        """
In prediction the limit is counted from what the cache held *before* the new step was laid behind it, so that
the newest word is left out. Training is not touched by it, and the text that comes out lags one word behind.
""",
        SEE_LAW,
    ),
    of_block(
        "source-lengths-on-target",
        {"dec_valid_lens = visible.repeat(batch_size, 1)": "dec_valid_lens = enc_valid_lens"},
        "the self-attention is masked with the lengths of the source instead of the causal ones",
        "The lengths that came with the encoder's outputs: whose words do they count?",
        """
There are two sequences here and two sets of lengths. Those of the source say which of *its* steps are real;
used on the target they hide some target words for no reason, and show the future otherwise.
""",
        SEE_WEIGHTS,
    ),
    of_block(
        "source-lengths-on-target-too",
        {
            "dec_valid_lens = visible.repeat(batch_size, 1)": "dec_valid_lens = visible.repeat(batch_size, 1)"
            " if enc_valid_lens is None else torch.minimum(visible, enc_valid_lens[:, None])"
        },
        "the self-attention is limited by the lengths of the source as well as by the causal ones",
        "The lengths that came with the encoder's outputs: whose words do they count?",
        """
No future is seen, but a long translation of a short sentence forgets its own later words: the self-attention stops
where the *source* ends. The two sequences have lengths of their own.
""",
        SEE_WEIGHTS,
    ),
    of_block(
        "mask-by-grad-mode",
        {"self.training": "torch.is_grad_enabled()"},
        "whether the block trains or predicts is decided by whether gradients are being recorded",
        "What happens to your block when somebody evaluates it without switching gradients off?",
        """
Most people do decode without gradients, so this works nearly always. But the two switches are independent:
`model.eval()` with gradients on, to explain a prediction say, would take the path of training, and a training
loss measured under `torch.no_grad()` the path of prediction. A module knows its mode from its own flag.

    >>> state = new_state()
    >>> block.eval()(X[:, :1], state); state[2][0] is None

Gradients are on, and the block predicts all the same: it should have kept its step.
""",
        "",
        kind="policy",
    ),
]

CACHE = [
    of_block(
        "cache-unused",
        {APPEND: "key_values = X"},
        "in prediction, every new step looks at nothing but itself: the earlier steps are not there",
        "After the second step of a prediction, what does the state hold for this layer, and who reads it?",
        """
Either nothing was kept, or what was kept was not read, or it was kept in a list that nobody got back. Each
call then begins from nothing, and the softmax has a single key, so that its weight is 1 whatever the query
asks. The text stays fluent from word to word and has no memory beyond one.
""",
        SEE_CACHE,
    ),
    of_block(
        "cache-first-step-only",
        {
            WRITE: "cache[self.i] = key_values if cache[self.i] is None else cache[self.i]",
        },
        "in prediction, a step looks at the first step and at itself: what came between was not kept",
        "Your cache is filled once. Which line lays the second step behind the first, for the third to see?",
        """
The cache is written while it is empty and never again. The second step still looks right, since the first one
is all that came before it; from the third on, words are missing in the middle. A test of two steps sees nothing.
""",
        SEE_CACHE,
    ),
    of_block(
        "cache-newest-only",
        {WRITE: "cache[self.i] = X"},
        "in prediction, a step looks at itself and at the one before it: older steps were overwritten",
        "Does the new step join what is kept, or take its place?",
        """
What is kept is the last step alone. The third step of a prediction sees the second and itself, and so on: a
memory of two words. Two steps are too few to notice.
""",
        SEE_CACHE,
    ),
    of_block(
        "cache-shared-by-layers",
        {"cache[self.i]": "cache[0]"},
        "all layers keep their steps in one place, so that a layer finds the steps of another among its own",
        "With two layers, how many places has the cache, and how does a layer know which is its own?",
        """
Every layer reads and writes the same place. The second layer finds what came into the first, appends its own
input, and the first layer finds that at the next step: the keys are a mixture of depths, and there are too
many of them. With a single layer everything is right, so test with two.
""",
        """

    >>> first = DecoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0, i=0).eval()
    >>> second = DecoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0, i=1).eval()
    >>> state = [*new_state()[:2], [None, None]]
    >>> for t in range(3):
    ...     Y, state = first(X[:, t : t + 1], state)
    ...     Y, state = second(Y, state)
    >>> [kept if kept is None else kept.shape for kept in state[2]]

Two layers have taken three steps, so each of the two places should hold three steps.
""",
    ),
    of_block(
        "cache-of-outputs",
        {
            f"            {WRITE}": "            pass",
            END: "out = self.addnorm3(Z, self.ffn(Z))\n"
            "        if not self.training:\n"
            "            cache[self.i] = out if cache[self.i] is None else torch.cat((cache[self.i], out), dim=1)\n"
            "        return out, state",
        },
        "what is kept of earlier steps is what left the block instead of what came into it",
        "In training, keys and values are made from the block's input. From what are they made for an earlier step in prediction?",
        """
The first step is right, because nothing is kept yet. At the second, its neighbour has been through the whole
block already, and the attention meets vectors of another kind than it was trained on. Shapes are the same, and
so nothing complains.
""",
        SEE_LAW,
    ),
    of_block(
        "cache-of-normed",
        {
            f"            {WRITE}": "            pass",
            CROSS: "if not self.training:\n"
            "            cache[self.i] = Y if cache[self.i] is None else torch.cat((cache[self.i], Y), dim=1)\n"
            f"        {CROSS}",
        },
        "what is kept of earlier steps is what left the first add & norm instead of what came into the block",
        "Which vector of a step would training use as its key: the one before or the one after the first add & norm?",
        """
The cache is written a few lines too late, when the step has been through the self-attention. Keys in training
are made from the input of the block, keys in prediction from something else, so step by step and all at once
disagree from the second step on.
""",
        SEE_LAW,
    ),
    of_block(
        "cache-on-module",
        {
            "self.i = i": "self.i = i\n        self.kept = {i: None}",
            "num_steps, _ = X.shape": "num_steps, _ = X.shape\n        cache = self.kept",
        },
        "earlier steps are kept in the module itself, so that a second sentence still sees the words of the first",
        "Two sentences are predicted one after the other. When does your memory of the first one end?",
        """
A module lives as long as the model, a state as long as a sentence. What is kept in the module is never
emptied, or only by luck, and two sentences predicted in turn get mixed. The first prediction after starting
the program is perfect.
""",
        """

    >>> first = block.eval()(X[:, :1], new_state())[0]
    >>> block(X[:, 1:2], new_state());
    >>> (block(X[:, :1], new_state())[0] - first).abs().max()

The same first step, and between the two another sentence, each with a fresh state: the difference should be exactly 0.
""",
    ),
    of_block(
        "values-from-cache-only",
        {SELF: SELF.replace("X, key_values, key_values", "X, X, key_values")},
        "the keys are the new step alone while the values are all steps so far",
        "Each weight belongs to a key and is multiplied with a value. How many of each do you hand over in prediction?",
        """
Keys and values come in pairs: the weight that a key earns falls on its value. Here the cache reached one of
them only, and the counts agree in training, where both are the whole sentence, and at the first step. At the
second there is one weight for two values, which is an error or, worse, broadcast.
""",
        SEE_LAW,
    ),
    of_block(
        "residual-of-oldest-step",
        {
            SELF: "Y = self.addnorm1(key_values[:, :num_steps], self.attention1(X, key_values, key_values, dec_valid_lens))"
        },
        "in prediction, the residual of the self-attention is the oldest step instead of the new one",
        "Which step should the result of the attention be added to: the newest, or the first that the cache holds?",
        """
Once the cache has been joined with the new step, the first row of the keys is the oldest step. A residual taken
from there adds every new result to the first word of the sentence. In training both are the same tensor.
""",
        SEE_LAW,
    ),
]

PARTS = [
    of_block(
        "cross-without-lengths",
        {"enc_outputs, enc_outputs, enc_valid_lens)": "enc_outputs, enc_outputs, None)"},
        "the cross-attention looks at all source steps, the padding included",
        "Some source sentences are shorter than others. Who tells the second attention where each of them ends?",
        """
The encoder's outputs at padded steps are numbers like any others, and the attention gives them their share.
What the model writes then depends on how long the *other* sentences of the batch are: translate one sentence
alone and in company, and compare.
""",
        SEE_SOURCE,
        seen="common in hand-written decoders, where only the first attention is given a mask",
    ),
    of_block(
        "cross-with-target-lengths",
        {
            "enc_outputs, enc_outputs, enc_valid_lens)": "enc_outputs, enc_outputs,"
            " dec_valid_lens if self.training else None)"
        },
        "in training, the cross-attention is masked with the causal lengths of the target",
        "Step 0 of the target asks the source. How many of its words may it look at?",
        """
The source has been read as a whole before the first word is written, so nothing in it is the future. With
causal lengths the first target step sees the first source word only, the second sees two, and the padding of a
long source is looked at in the end. The two attentions have lengths of their own.
""",
        SEE_CROSS,
    ),
    of_block(
        "cross-with-all-target-lengths",
        {
            "enc_outputs, enc_outputs, enc_valid_lens)": "enc_outputs, enc_outputs, visible.repeat(batch_size, 1))"
        },
        "the cross-attention is masked with the causal lengths of the target, in training and in prediction",
        "Step 0 of the target asks the source. How many of its words may it look at?",
        """
The source has been read as a whole before the first word is written, so nothing in it is the future. Here each
new target step opens one more source word, as if the translation had to keep the pace of the original, and
lengths of the source are not looked at at all.
""",
        SEE_CROSS,
    ),
    of_block(
        "cross-through-attention1",
        {"self.attention2(Y": "self.attention1(Y"},
        "the cross-attention is made with the weights of the self-attention",
        "The block has two attentions. Which one is never called?",
        """
One attention does both jobs and the other is never used. It runs, and even learns something, since the shapes
are the same; but looking at one's own words and looking at the source want different weights.
""",
        SEE_FLOW,
    ),
    of_block(
        "self-through-attention2",
        {"self.attention1(X": "self.attention2(X"},
        "the self-attention is made with the weights of the cross-attention",
        "The block has two attentions. Which one is never called?",
        """
One attention does both jobs and the other is never used. A parameter without a gradient is a sure sign:
an optimiser passes it by in silence.
""",
        SEE_FLOW,
    ),
    of_block(
        "attentions-exchanged",
        {"self.attention1(X": "self.attention2(X", "self.attention2(Y": "self.attention1(Y"},
        "each of the two attentions does the work of the other",
        "By the names of the contract, which attention looks at the target and which at the source?",
        """
Within one program this is only a matter of names: the block would train as well as any. But weights that were
trained elsewhere are loaded by name, and then each attention meets what the other was trained for.
""",
        SEE_CROSS,
    ),
    of_block(
        "attentions-are-one",
        {
            "self.attention2 = MultiHeadAttention(\n            key_size, query_size, value_size, num_hiddens, num_heads, dropout\n        )": "self.attention2 = self.attention1"
        },
        "the two attentions are one and the same object",
        "How many projections should a decoder block have in all, and how many different ones has yours?",
        """
Two names for one module: it is listed once among the parameters, and both jobs pull at the same weights. When
weights are loaded by name, the last one wins.
""",
        SEE_FLOW,
    ),
    of_block(
        "cross-roles-exchanged",
        {
            "self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)": "self.attention2(enc_outputs, Y, Y, None)"
        },
        "in the cross-attention the source asks and the target answers",
        "The result must have one row for each target step. Whose rows does an attention give: those of queries or of keys?",
        """
An attention gives one row for each query, so here one for each source step. Where source and target happen to
be equally long nobody notices; elsewhere the addition of the residual fails, or, with a single target step, is
quietly broadcast to the length of the source.
""",
        SEE_CROSS,
    ),
    of_block(
        "cross-asked-by-input",
        {"self.attention2(Y, enc": "self.attention2(X, enc"},
        "the cross-attention is asked with the block's input instead of the result of the first part",
        "What does the second part work on: what came into the block, or what the first part made of it?",
        """
The two attentions stand side by side instead of one behind the other. The question to the source is then put
without knowing the words written before, although they have just been gathered.
""",
        SEE_ASKED,
    ),
    of_block(
        "cross-keys-from-target",
        {
            "self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)": "self.attention2(Y, Y, Y, dec_valid_lens)"
        },
        "the second attention looks at the target once more; the source is never used",
        "Change the encoder's outputs: what changes in the result of your block?",
        """
Two self-attentions in a row: a fine block for a language model, and deaf to the source. A translator built from
it writes fluent sentences that have nothing to do with what it was given.
""",
        SEE_CROSS,
    ),
    of_block(
        "no-cross-attention",
        {CROSS: "Z = Y"},
        "the part that looks at the source is left out",
        "Change the encoder's outputs: what changes in the result of your block?",
        """
What remains is a block of a language model: causal self-attention and a network. It writes sentences, and they
have nothing to do with the source.
""",
        SEE_SOURCE.replace("other[0][0, 2]", "other[0][0, 0]").replace(
            "Step 2 of sentence 0 is padding, and only it was changed: the first number should be exactly 0.",
            "Step 0 of sentence 0 is a real word: the first number should *not* be 0.",
        ),
    ),
    of_block(
        "cross-attention-not-built",
        {
            "self.attention2 = MultiHeadAttention(\n            key_size, query_size, value_size, num_hiddens, num_heads, dropout\n        )": "",
            "self.addnorm2 = AddNorm(norm_shape, dropout)": "",
            CROSS: "Z = Y",
        },
        "the part that looks at the source was neither built nor used",
        "How many attentions does the block have by the contract, and how many has yours?",
        """
What remains is a block of the encoder with a causal mask: what language models are stacked from. It writes
sentences, and they have nothing to do with any source.

    >>> [name for name, _ in block.named_children()]
""",
        "",
    ),
    of_block(
        "no-self-attention",
        {SELF: "Y = X"},
        "the part that looks at the target's own steps is left out",
        "Change the first word of the target: what changes in the results of later steps?",
        """
Without it, no step knows of any other: each word is chosen from the word before it and the source. The cache
is filled and never asked.
""",
        SEE_FUTURE.replace("other[:, -1]", "other[:, 0]").replace(
            "Only the last step was changed, so every number but the last should be exactly 0.",
            "The first step was changed, and every later step may see it: no number should be 0.",
        ),
    ),
    of_block(
        "attentions-in-other-order",
        {
            SELF: "Y = self.addnorm1(X, self.attention2(X, enc_outputs, enc_outputs, enc_valid_lens))",
            CROSS: "Z = self.addnorm2(Y, self.attention1(Y, key_values, key_values, dec_valid_lens))",
        },
        "the source is looked at first and the target's own steps afterwards",
        "Of the two questions that a decoder asks, which comes first?",
        """
The source is asked before the step knows what has been written so far. The numbers have the right shape, and
such a model can even be trained; it is not the decoder of Vaswani et al. (2017), and weights of that one do not
fit it.
""",
        SEE_ASKED,
    ),
    of_block(
        "attentions-in-other-order-with-norms",
        {
            SELF: "Z = self.addnorm2(X, self.attention2(X, enc_outputs, enc_outputs, enc_valid_lens))",
            CROSS: "Z = self.addnorm1(Z, self.attention1(Z, key_values, key_values, dec_valid_lens))",
        },
        "the source is looked at first and the target's own steps afterwards, each attention with its own add & norm",
        "Of the two questions that a decoder asks, which comes first?",
        """
The source is asked before the step knows what has been written so far. Two whole parts have changed places. The
numbers have the right shape, and such a model can even be trained; it is not the decoder of Vaswani et al. (2017),
and weights of that one do not fit it.
""",
        SEE_ASKED,
    ),
    of_block(
        "encoder-detached",
        {"num_steps, _ = X.shape": "num_steps, _ = X.shape\n        enc_outputs = enc_outputs.detach()"},
        "the encoder's outputs are cut off from the gradient: the encoder cannot learn",
        "Only the decoder knows how wrong the translation is. By which road does the encoder hear of it?",
        """
The forward pass is right to the last digit. But the encoder learns only through the cross-attention, and that
road is closed: it stays as it was initialised, and the decoder learns to make do with random features.

    >>> state = new_state(); state[0].requires_grad_()
    >>> block.train()(X, state)[0].pow(2).sum().backward()
    >>> state[0].grad

There should be a gradient, with zeros where the source is padding.
""",
        "",
    ),
    of_block(
        "keys-detached",
        {"key_values = X  # (B, T, D)": "key_values = X.detach()"},
        "keys and values of the self-attention are cut off from the gradient",
        "A step is looked at by later ones. Does it learn from how useful it was to them?",
        """
The numbers are right, and what is learned is not: a step hears of its own result only, never of those that
looked back at it. This comes in with a cache that stores `.data` or detached copies, which is right in
prediction and wrong in training.

    >>> x = X.clone().requires_grad_()
    >>> block.train()(x, new_state())[0][:, -1].pow(2).sum().backward()
    >>> x.grad.abs().amax(dim=(0, 2))

The last step looks at all, so no number should be 0.
""",
        "",
    ),
    of_block(
        "second-residual-from-input",
        {"self.addnorm2(Y,": "self.addnorm2(X,"},
        "the residual of the second part is the block's input instead of the first part's result",
        "What does each add & norm add its sublayer's result to: the newest vector, or the oldest?",
        """
What the self-attention found is used as a question to the source and then forgotten, since the sum begins
again from the input of the block. Each residual must be what went into its own sublayer.
""",
        SEE_RESIDUALS,
    ),
    of_block(
        "third-residual-from-first-part",
        {"self.addnorm3(Z,": "self.addnorm3(Y,"},
        "the residual of the third part is the first part's result instead of the second's",
        "What went into the feed-forward network, and what do you add its result to?",
        """
What the source said passes through the network only, and not beside it. Each residual must be what went into
its own sublayer.
""",
        SEE_RESIDUALS,
    ),
    of_block(
        "third-residual-from-input",
        {"self.addnorm3(Z,": "self.addnorm3(X,"},
        "the residual of the third part is the block's input",
        "What went into the feed-forward network, and what do you add its result to?",
        """
A short cut round the whole block: what both attentions found passes through the network only. Each residual
must be what went into its own sublayer.
""",
        SEE_RESIDUALS,
    ),
    of_block(
        "first-residual-missing",
        {"self.addnorm1(X, ": "self.addnorm1(0 * X, "},
        "the self-attention's result is normalised without the block's input being added",
        "Silence the self-attention. What is left of the input behind the first add & norm?",
        """
Without the residual, a step keeps of itself only what its own weights let through, and the gradient has lost
its direct way down. Deep stacks of such blocks hardly train.
""",
        SEE_RESIDUALS,
    ),
    of_block(
        "second-residual-missing",
        {"self.addnorm2(Y, ": "self.addnorm2(0 * Y, "},
        "the cross-attention's result is normalised without that of the first part being added",
        "Silence the cross-attention. What is left of the target behind the second add & norm?",
        """
Behind this block a step is a mixture of source words and nothing else: what has been written so far decides
where to look, and is then gone.
""",
        SEE_RESIDUALS,
    ),
    of_block(
        "network-fed-by-first-part",
        {"self.ffn(Z)": "self.ffn(Y)"},
        "the feed-forward network is fed with the first part's result instead of the second's",
        "The three parts stand in a row. What comes into the third?",
        """
The network works on what it got before the source was asked. The residual still carries the source along, so
training succeeds, a little worse than it should.
""",
        SEE_FED,
    ),
    of_block(
        "network-missing",
        {END: "return self.addnorm3(Z, Z), state"},
        "the feed-forward network is left out",
        "Which parameters of your block never get a gradient?",
        """
Two attentions and three norms remain. An attention only mixes; the network is where each step works on what it
has gathered, and two thirds of a block's parameters live in it.
""",
        SEE_FLOW,
    ),
    of_block(
        "last-norm-missing",
        {END: "return Z + self.ffn(Z), state"},
        "the last sum is not normalised",
        "How many add & norms has the block, and which one do you call last?",
        """
The sum is there, the norm behind it is not. Each block then hands on numbers a little larger than it got, and
after six of them the softmax of the next attention is one-hot.
""",
        SEE_LAST_NORM,
    ),
    of_block(
        "last-residual-missing",
        {END: "return self.ffn(Z), state"},
        "the feed-forward network's result is returned as it is, without sum and norm",
        "How many add & norms has the block, and which one do you call last?",
        """
Everything must pass through the network, so that a step can lose what both attentions found, and the gradient
has lost its direct way down.
""",
        SEE_NORM,
    ),
    of_block(
        "first-norms-exchanged",
        {"self.addnorm1(X": "self.addnorm2(X", "self.addnorm2(Y": "self.addnorm1(Y"},
        "the first add & norm does the work of the second, and the second that of the first",
        "By their numbers, which add & norm stands behind which sublayer?",
        """
A fresh block cannot show it, since all norms begin alike. Trained weights are loaded by name, and then each
norm stretches the features of another place. The order of the names is the order of the parts.
""",
        SEE_ORDER,
    ),
    of_block(
        "last-norms-exchanged",
        {"self.addnorm2(Y": "self.addnorm3(Y", "self.addnorm3(Z": "self.addnorm2(Z"},
        "the second add & norm does the work of the third, and the third that of the second",
        "By their numbers, which add & norm stands behind which sublayer?",
        """
A fresh block cannot show it, since all norms begin alike. Trained weights are loaded by name, and then each
norm stretches the features of another place. The order of the names is the order of the parts.
""",
        SEE_ORDER,
    ),
    of_block(
        "first-norm-everywhere",
        {"self.addnorm2(Y": "self.addnorm1(Y", "self.addnorm3(Z": "self.addnorm1(Z"},
        "the first add & norm is used three times, the other two never",
        "Three add & norms are asked for. Which of yours ever does anything?",
        """
A norm has a scale and a shift of its own for each feature, and each of the three places wants others. Two of
the three get no gradient here.
""",
        SEE_FLOW,
    ),
    of_block(
        "norms-are-one",
        {
            "self.addnorm2 = AddNorm(norm_shape, dropout)": "self.addnorm2 = self.addnorm1",
            "self.addnorm3 = AddNorm(norm_shape, dropout)": "self.addnorm3 = self.addnorm1",
        },
        "the three add & norms are one and the same object",
        "How many scales and shifts should the block have, and how many different ones has yours?",
        """
Three names for one module. A norm has weights, and three places that share them are pulled in three directions.
When weights are loaded by name, the last one wins.
""",
        SEE_FLOW,
    ),
    of_block(
        "pre-norm",
        {
            SELF: "seen = self.addnorm1.ln(key_values)\n"
            "        Y = X + self.addnorm1.dropout(self.attention1(self.addnorm1.ln(X), seen, seen, dec_valid_lens))",
            CROSS: "Z = Y + self.addnorm2.dropout(self.attention2(self.addnorm2.ln(Y), enc_outputs, enc_outputs, enc_valid_lens))",
            END: "return Z + self.addnorm3.dropout(self.ffn(self.addnorm3.ln(Z))), state",
        },
        "each part is normalised before its sublayer instead of after the sum",
        "Where does the lesson put the norm: on the way into a sublayer, or behind the sum?",
        """
Normalising first is what most large models do today: it trains without a warm-up, and needs one more norm at
the end of the stack. Vaswani et al. (2017) normalise the sum, and that is what is asked for here, so weights of
the one do not fit the other.
""",
        SEE_NORM,
        kind="different",
    ),
    of_block(
        "gelu",
        {"self.ffn(Z)": "self.ffn.dense2(nn.functional.gelu(self.ffn.dense1(Z)))"},
        "the feed-forward network bends with a GELU instead of a ReLU",
        "Which function stands between the two layers of the network in assignment 07?",
        """
GELU is a smooth relative of ReLU and usual in later models. The original uses ReLU, and so does this course.
""",
        SEE_BEND,
        kind="different",
    ),
]

FORMS = [
    of_block(
        "state-not-returned",
        {END: "return self.addnorm3(Z, self.ffn(Z))"},
        "the block returns its output alone, without the state",
        "The next block, and the next call, want two things from this one. Which is missing?",
        """
The caller takes two things from the result: with an output alone, unpacking fails or, with a batch of two,
takes the first sentence for the output and the second for the state.

    >>> type(block.train()(X, new_state()))
""",
        "",
    ),
    of_block(
        "state-first",
        {END: "return state, self.addnorm3(Z, self.ffn(Z))"},
        "the state is returned before the output",
        "In which order does the contract name the two things that come back?",
        """
Both things come back and stand in the wrong order, so that the next block is fed with a list.

    >>> [type(part) for part in block.train()(X, new_state())]
""",
        "",
    ),
    of_block(
        "writes-into-input",
        {
            SELF: SELF.replace("self.addnorm1(X, ", "self.addnorm1(X.add_(").replace(
                "dec_valid_lens))", "dec_valid_lens)), torch.zeros_like(X))"
            )
        },
        "the attention's result is added into the caller's own tensor",
        "After the call, is X still what it was before?",
        """
An addition in place saves a tensor and changes one that belongs to somebody else. Here it is also the tensor
that the cache keeps, and one that the gradient needs unchanged.

    >>> before = X.clone()
    >>> block.eval()(X[:, :1], new_state()); (X - before).abs().max()
""",
        "",
    ),
    of_block(
        "add-norms-without-dropout",
        {"AddNorm(norm_shape, dropout)": "AddNorm(norm_shape, 0.0)"},
        "the add & norms drop nothing: the rate did not reach them",
        "The rate is handed to the block. To which of its parts do you hand it on?",
        """
Everything is right but that the sublayers' results are never dropped in training. The model learns its training
data a little too well, and nothing else will ever tell you.
""",
        SEE_DROPOUT,
    ),
    of_block(
        "attentions-without-dropout",
        {"num_heads, dropout": "num_heads, 0.0"},
        "the attentions drop none of their weights: the rate did not reach them",
        "The rate is handed to the block. To which of its parts do you hand it on?",
        """
Everything is right but that no attention weight is ever dropped in training. The model learns its training
data a little too well, and nothing else will ever tell you.
""",
        SEE_DROPOUT,
    ),
    of_block(
        "nothing-dropped",
        {"num_heads, dropout": "num_heads, 0.0", "AddNorm(norm_shape, dropout)": "AddNorm(norm_shape, 0.0)"},
        "nothing is dropped anywhere in the block: the rate is not used",
        "The rate is handed to the block. What do you do with it?",
        """
A block without any dropout. In evaluation nobody can tell it from a right one; in training two calls on the same
input give the same result, and they should not.
""",
        SEE_DROPOUT,
    ),
    of_block(
        "dropout-of-residual",
        {
            SELF: "Y = self.addnorm1(self.attention1(X, key_values, key_values, dec_valid_lens), X)",
            CROSS: "Z = self.addnorm2(self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens), Y)",
            END: "return self.addnorm3(self.ffn(Z), Z), state",
        },
        "the residuals are dropped, and the sublayers' results are not",
        "An add & norm takes two things and drops one of them. Which of the two did you hand over in which place?",
        """
The two arguments of each add & norm have changed places. The sum is the same, so that evaluation shows nothing;
in training the direct way through the block is cut at random, and the new part always passes.
""",
        SEE_NOTHING_DROPPED,
    ),
    of_block(
        "dropout-in-evaluation",
        {END: "return nn.functional.dropout(self.addnorm3(Z, self.ffn(Z)), self.addnorm3.dropout.p), state"},
        "something is dropped in evaluation too",
        "Functions of PyTorch that drop: how do they know that the model is not in training any more?",
        """
A layer for dropout knows its mode; a function does not unless it is told, and some of them drop by default. A
prediction then comes out differently each time, and worse.

    >>> block = DecoderBlock(8, 8, 8, 8, [8], 8, 16, 2, dropout=0.5, i=0).eval()
    >>> block(X[:, :1], new_state())[0] - block(X[:, :1], new_state())[0]

All zeros, if nothing is dropped.
""",
        "",
    ),
    of_block(
        "extra-dropout",
        {END: "return self.addnorm3.dropout(self.addnorm3(Z, self.ffn(Z))), state"},
        "what leaves the block is dropped once more",
        "How many places drop something in this block, and does any of them stand behind a norm?",
        """
One dropout too many, behind the last norm. What is dropped there is the step itself, residual and all, so that
later blocks see holes where the whole stack below has worked.
""",
        SEE_NOTHING_DROPPED,
    ),
]

DECODER = [
    of_decoder(
        "softmax",
        {"return self.dense(X), state": "return self.dense(X).softmax(dim=-1), state"},
        "the scores went through a softmax: they are probabilities already",
        "Which part of training applies the softmax, and what does a second one do to the first?",
        """
The loss of training has a softmax inside. Given numbers between 0 and 1 it sees hardly any difference between
the best word and the worst: with a vocabulary of ten thousand, the loss cannot fall much below its start.
""",
        SEE_DECODER,
    ),
    of_decoder(
        "log-softmax",
        {"return self.dense(X), state": "return self.dense(X).log_softmax(dim=-1), state"},
        "the scores are logarithms of probabilities",
        "What does the lesson ask for: scores of any size, or something that has been normalised?",
        """
Logarithms of probabilities suit a loss that expects them (`NLLLoss`), and a further softmax leaves them as they
are. Here the plain scores of the last layer are asked for, and those differ by a constant in every row.
""",
        SEE_DECODER,
        kind="different",
    ),
    of_decoder(
        "softmax-in-evaluation",
        {
            "return self.dense(X), state": "scores = self.dense(X)\n        return scores if self.training else scores.softmax(dim=-1), state"
        },
        "in evaluation the scores went through a softmax, in training they did not",
        "Does whoever calls the decoder have to know its mode to read its results?",
        """
The best word is the same either way, so that greedy decoding shows nothing. Beam search adds logarithms,
sampling divides by a temperature: both go wrong when scores are probabilities already.
""",
        SEE_PREDICTED,
    ),
    of_decoder(
        "softmax-over-steps",
        {"return self.dense(X), state": "return self.dense(X).softmax(dim=1), state"},
        "the scores went through a softmax over the steps",
        "Over which axis do the alternatives lie, and is a softmax asked for at all?",
        """
Each word of the vocabulary shares out one unit over the steps of the sentence: in training the steps compete
with each other and even see each other, in prediction every score is 1.
""",
        SEE_DECODER,
    ),
    of_decoder(
        "returns-words",
        {"return self.dense(X), state": "return self.dense(X).argmax(dim=-1), state"},
        "the best word of each step comes back instead of the scores",
        "What can a loss do with a word's number, and what can it do with scores?",
        """
Choosing is the caller's business: a loss needs all scores, beam search the best few. And a choice has no
gradient, so that nothing behind it can learn.
""",
        SEE_DECODER,
    ),
    of_decoder(
        "last-step-only",
        {"return self.dense(X), state": "return self.dense(X[:, -1:]), state"},
        "scores come back for the last step only",
        "In training all steps learn at once. How many rows of scores does that take?",
        """
In prediction the last step is all that matters, and there the shape is right by itself. In training each step is
an example of its own: with one row a sentence, most of what could be learned is thrown away.
""",
        SEE_DECODER,
    ),
    of_decoder(
        "no-dense",
        {"return self.dense(X), state": "return X, state"},
        "the vectors of the last block come back, without scores",
        "What turns a vector of D numbers into one number for each word?",
        """
The stack ends in vectors; the last linear layer that compares them with every word was left out.
""",
        SEE_DECODER,
    ),
    of_decoder(
        "dense-with-relu",
        {"return self.dense(X), state": "return self.dense(X).relu(), state"},
        "negative scores were set to zero",
        "May a score be negative, and what would it mean?",
        """
A score far below zero says that a word is out of the question. Cut off at zero, thousands of impossible words
keep a share of the probability, and get no gradient that could push them down further.
""",
        SEE_DECODER,
    ),
    of_decoder(
        "tied-output",
        {"return self.dense(X), state": "return X @ self.embedding.weight.T, state"},
        "the scores are made with the embedding table instead of the last linear layer",
        "The contract names a last layer of its own. Which of your parameters never gets a gradient?",
        """
Using one table at both ends is a good idea (Vaswani et al. do it, section 3.4) and saves many parameters. Here
the two ends have weights of their own, as in the book, and are loaded by name.
""",
        SEE_DECODER,
        kind="different",
    ),
    of_decoder(
        "final-norm",
        {
            "return self.dense(X), state": "return self.dense(nn.functional.layer_norm(X, X.shape[-1:])), state"
        },
        "the last block's result is normalised once more before the scores",
        "With what does each block end, and does anything come between the last one and the scores?",
        """
A norm at the end of the stack belongs to designs that normalise *before* each sublayer. Here every block ends with
one, so a second is one too many: it takes back the scale that the first has learned.
""",
        SEE_DENSE,
        kind="different",
    ),
    of_decoder(
        "not-scaled",
        {" * math.sqrt(self.num_hiddens)": ""},
        "the embedding is not scaled up before positions are added",
        "How large is a fresh embedding beside a sine, and what does the lesson do about it?",
        """
A sine lies between -1 and 1, and so does its share of the sum. Without the factor, words and positions weigh
otherwise than the weights were trained for. Shapes and ranges look innocent.
""",
        SEE_EMBEDDING,
    ),
    of_decoder(
        "scaled-by-d",
        {"math.sqrt(self.num_hiddens)": "self.num_hiddens"},
        "the embedding is multiplied by the number of hidden units instead of its root",
        "By which factor does the lesson multiply the embedding?",
        """
The words drown the positions: the order of a sentence hardly matters to the model any more.
""",
        SEE_EMBEDDING,
    ),
    of_decoder(
        "divided-by-root",
        {"* math.sqrt(self.num_hiddens)": "/ math.sqrt(self.num_hiddens)"},
        "the embedding is divided by the root of the number of hidden units",
        "Scores of an attention and embeddings both meet the same root. Which of them is divided, and which multiplied?",
        """
The positions drown the words: a model can hardly tell what stands at a place, only which place it is.
""",
        SEE_EMBEDDING,
    ),
    of_decoder(
        "positions-scaled",
        {
            "X = self.embedding(X) * math.sqrt(self.num_hiddens)": "X = self.embedding(X)",
            "X = self.pos_encoding(X)[:, earlier:]": "X = self.pos_encoding(X)[:, earlier:] * math.sqrt(self.num_hiddens)",
        },
        "the positions are scaled up together with the embedding",
        "Which comes first: the factor, or the positions?",
        """
The factor is meant for the words alone, to bring them up to the size of the sines. Applied to the sum it leaves
the proportion as it was.
""",
        SEE_EMBEDDING,
    ),
    of_decoder(
        "no-positions",
        {"X = self.pos_encoding(X)[:, earlier:]": "X = X[:, earlier:]"},
        "no positions are added to the words",
        'Without positions, how does the model tell "dog bites man" from "man bites dog"?',
        """
Attention does not care about order. A causal mask lets a model guess it roughly, since early steps see less, and
so training does not fail; it only stays behind.
""",
        SEE_EMBEDDING,
    ),
    of_decoder(
        "positions-from-one",
        {
            "X = nn.functional.pad(X, (0, 0, earlier, 0))  # (B, earlier + T, D)": "X = nn.functional.pad(X, (0, 0, earlier + 1, 0))",
            "self.pos_encoding(X)[:, earlier:]": "self.pos_encoding(X)[:, earlier + 1 :]",
        },
        "positions are counted from one instead of from zero",
        "Which row of the table does the first word of a sentence get?",
        """
Every word gets the position of its neighbour. A model that is trained and used like this does not mind; weights
that were trained with the usual count do.
""",
        SEE_EMBEDDING,
    ),
    of_decoder(
        "positions-in-every-block",
        {
            "for block in self.blks:": "for block in self.blks:\n            if block is not self.blks[0]:\n                X = self.pos_encoding(nn.functional.pad(X, (0, 0, earlier, 0)))[:, earlier:]"
        },
        "positions are added again before every block",
        "How often does a word get its position, and who carries it on from block to block?",
        """
Residuals carry the position through the whole stack, so once is enough. Added again behind a norm, the sines are
as large as everything else, and each block has to see past them.
""",
        SEE_STACK,
    ),
    of_decoder(
        "position-counter-on-module",
        {
            "self.attention_weights = [[], []]": "self.attention_weights = [[], []]\n        self.steps = 0",
            "earlier = 0 if self.training or cached is None else cached.shape[1]": "earlier = self.steps\n"
            "        self.steps += 0 if self.training else X.shape[1]",
        },
        "positions are counted in the module and never set back: a second sentence begins where the first one ended",
        "Two sentences are predicted one after the other. Who tells the counter of positions that a new one begins?",
        """
A module lives as long as the model, a state as long as a sentence. What must begin anew with each sentence
belongs into the state. The first prediction after starting the program is perfect.
""",
        SEE_TWICE,
    ),
    of_decoder(
        "blocks-reversed",
        {"for block in self.blks:": "for block in reversed(self.blks):"},
        "the blocks are run from the last to the first",
        "Which block meets the embedded words?",
        """
A fresh model cannot show it, since all blocks are alike. Trained weights are loaded by name, and the block that
was trained on words meets the results of another.
""",
        SEE_BLOCKS,
    ),
    of_decoder(
        "blocks-fed-with-embedding",
        {
            "X, state = block(X, state)": "out, state = block(X, state)",
            "return self.dense(X), state": "return self.dense(out), state",
        },
        "every block is fed with the embedded words, and only the last one's result is used",
        "What goes into the second block?",
        """
The blocks stand side by side, and only the last of them counts: a stack of one. The others get no gradient.
""",
        SEE_STACK,
    ),
    of_decoder(
        "last-block-skipped",
        {"for block in self.blks:": "for block in list(self.blks)[:-1]:"},
        "the last block is never run",
        "How many blocks are there, and how many of them did you run?",
        """
One block has weights and is never called: it gets no gradient, and the model is a layer flatter than it says.
""",
        SEE_STACK,
    ),
    of_decoder(
        "one-block-repeated",
        {"block = DecoderBlock(": "block = self.blks[0] if i else DecoderBlock("},
        "all blocks are one and the same object",
        "How many different blocks does the stack hold: is each of them built anew?",
        """
Many names for one module: it is listed once among the parameters, learns for all depths at once, and writes all
of them into one place of the cache.
""",
        SEE_STACK,
    ),
    of_decoder(
        "blocks-share-a-slot",
        {"dropout,\n                i,": "dropout,\n                0,"},
        "every block was given the same number, so that they share one place of the cache",
        "What does a block do with the number it is given?",
        """
The number says which place of the cache belongs to a block. With one number for all, a block finds the steps of
another among its own from the first prediction on. Training knows nothing of it.
""",
        """

    >>> [b.i for b in decoder.blks]

Each block should show a number of its own, from 0 on.
""",
    ),
    of_decoder(
        "one-place-for-all",
        {"[None] * self.num_layers": "[None]"},
        "a fresh state has one place in the cache instead of one for each block",
        "How many places does the cache of a stack need?",
        """
The first block finds its place and the second does not: an error about an index in prediction, or already in
training where a block looks at its place first.

    >>> len(decoder.init_state(source, lens)[2]), len(decoder.blks)
""",
        "",
    ),
    of_decoder(
        "state-shared",
        {
            "self.attention_weights = [[], []]": "self.attention_weights = [[], []]\n        self.cache = [None] * num_layers",
            "[enc_outputs, enc_valid_lens, [None] * self.num_layers]": "[enc_outputs, enc_valid_lens, self.cache]",
        },
        "every fresh state holds the same list, so that a second sentence still sees the words of the first",
        "Two calls for a fresh state: do you hand out two lists, or one list twice?",
        """
The list of the cache was made once, when the decoder was built (or when a default argument was read), and is
handed out for ever. The second sentence begins with the words of the first in its cache.
""",
        SEE_TWICE,
        seen="a list as a default argument of `init_state`, a common trap of the language",
    ),
    of_decoder(
        "cache-renewed",
        {
            "self_weights, cross_weights = [], []": "state = [state[0], state[1], [None] * self.num_layers]\n        self_weights, cross_weights = [], []"
        },
        "every call begins with an empty cache, so that each word is scored without those before it",
        "Which call makes the cache empty: the one that begins a sentence, or every one?",
        """
The state comes in with the earlier steps and is replaced before anybody reads it. Training shows nothing, since
it needs no cache; what is written has no memory beyond one word.
""",
        SEE_TWICE.replace("first =", "state = decoder.init_state(source, lens)\n    >>> first =")
        .replace("decoder.init_state(source, lens))[0]", "state)[0]")
        .replace(
            "The same first word after a fresh state: the difference should be exactly 0.",
            "The same word twice with one state: the second has the first in its memory, so there should be a difference.",
        ),
    ),
    of_decoder(
        "lengths-dropped",
        {"[enc_outputs, enc_valid_lens, [None]": "[enc_outputs, None, [None]"},
        "the lengths of the source are lost when the state is made: its padding is looked at",
        "Which of the things handed to `init_state` do the blocks need later on?",
        """
The blocks read the lengths from the state, and there are none. What the model writes then depends on how long the
other sentences of the batch are.

    >>> decoder.init_state(source, lens)[1]
""",
        "",
    ),
    of_decoder(
        "encoder-detached",
        {"return [enc_outputs, enc_valid_lens": "return [enc_outputs.detach(), enc_valid_lens"},
        "the encoder's outputs are cut off from the gradient when the state is made: the encoder cannot learn",
        "Only the decoder knows how wrong the translation is. By which road does the encoder hear of it?",
        """
The forward pass is right to the last digit. But the encoder learns only through the state, and that road is
closed: it stays as it was initialised.

    >>> source.requires_grad_()
    >>> scores, _ = decoder.train()(words, decoder.init_state(source, lens))
    >>> scores.sum().backward()
    >>> source.grad
""",
        "",
    ),
    of_decoder(
        "lower-blocks-frozen",
        {
            "X, state = block(X, state)": "X, state = block(X.detach() if block is self.blks[-1] else X, state)"
        },
        "the gradient stops below the last block: the others and the embedding cannot learn",
        "Which of your parameters get a gradient, and which do not?",
        """
The numbers are right, and only the last block and the scores learn. The others stay random features for ever,
which is often good enough for a loss that falls at first.

    >>> scores, _ = decoder.train()(words, decoder.init_state(source, lens))
    >>> scores.pow(2).sum().backward()
    >>> {name: p.grad is not None for name, p in decoder.named_parameters()}
""",
        "",
    ),
    of_decoder(
        "state-not-returned",
        {"return self.dense(X), state": "return self.dense(X)"},
        "the decoder returns its scores alone, without the state",
        "The next call wants two things from this one. Which is missing?",
        """
The caller takes two things from the result: with scores alone, unpacking fails or, with a batch of two, takes the
first sentence for the scores and the second for the state.

    >>> type(decoder.train()(words, decoder.init_state(source, lens)))
""",
        "",
    ),
    of_decoder(
        "state-first",
        {"return self.dense(X), state": "return state, self.dense(X)"},
        "the state is returned before the scores",
        "In which order does the contract name the two things that come back?",
        """
Both things come back and stand in the wrong order.

    >>> result = decoder.train()(words, decoder.init_state(source, lens))
    >>> [type(part) for part in result]
""",
        "",
    ),
    of_decoder(
        "blocks-without-dropout",
        {"dropout,\n                i,": "0.0,\n                i,"},
        "nothing is dropped inside the blocks: the rate did not reach them",
        "The rate is handed to the decoder. To which of its parts do you hand it on?",
        """
Everything is right but that the blocks never drop anything in training. The model learns its training data a
little too well, and nothing else will ever tell you.
""",
        SEE_DECODER_DROPOUT,
    ),
    of_decoder(
        "embedding-without-dropout",
        {"PositionalEncoding(num_hiddens, dropout)": "PositionalEncoding(num_hiddens, 0.0)"},
        "the sum of words and positions is not dropped: the rate did not reach it",
        "The rate is handed to the decoder. To which of its parts do you hand it on?",
        """
Everything is right but that nothing is dropped before the first block (Vaswani et al. 2017, section 5.4). The
model learns its training data a little too well, and nothing else will ever tell you.
""",
        SEE_DECODER_DROPOUT,
    ),
    of_decoder(
        "dropout-before-positions",
        {
            "X = self.pos_encoding(X)[:, earlier:]": "X = (self.pos_encoding.dropout(X) + self.pos_encoding.P[:, : X.shape[1]].to(X))[:, earlier:]"
        },
        "the words are dropped before the positions are added instead of after it",
        "What is dropped before the first block: the word alone, or the sum of word and position?",
        """
Positions always get through here. In evaluation nobody can tell; in training it is another kind of noise than the
one that was asked for (the sum is dropped in Vaswani et al. 2017, section 5.4).
""",
        SEE_PLACES_DROPPED,
    ),
    of_decoder(
        "dropout-before-scores",
        {"return self.dense(X), state": "return self.dense(self.pos_encoding.dropout(X)), state"},
        "the last block's result is dropped once more before the scores",
        "How many places drop something in this decoder, and does any of them stand behind the last block?",
        """
One dropout too many. What is lost here is lost for the scores at once, so that the loss of training looks worse
than that of evaluation, and stays so.
""",
        SEE_SCORED,
    ),
    of_decoder(
        "dropout-in-evaluation",
        {
            "return self.dense(X), state": "X = X if self.training else nn.functional.dropout(X, self.pos_encoding.dropout.p)\n        return self.dense(X), state"
        },
        "something is dropped in evaluation",
        "Functions of PyTorch that drop: how do they know that the model is not in training any more?",
        """
A layer for dropout knows its mode; a function does not unless it is told. A prediction then comes out differently
each time, and worse.
""",
        SEE_TWICE.replace(
            "first =",
            "sizes = 11, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads\n"
            "    >>> decoder = TransformerDecoder(*sizes, num_layers=2, dropout=0.5)\n"
            "    >>> first =",
        ),
    ),
]


def on_cpu(id, of, swap, says, asks, page, seen=""):
    """Right on the CPU; on an accelerator two devices meet."""
    return mistake(id, of=of, kind="policy", breaks=("device",), swap=swap, says=says, asks=asks, page=page, seen=seen)


DEVICE = [
    on_cpu(
        'causal-steps-on-the-cpu',
        'DecoderBlock',
        {
            ', device=X.device': '',
        },
        'the steps that a query may see are counted on the CPU',
        'What happens when the target lies on a graphics card?',
        """
What was not told where to live lives on the CPU. The mask compares these lengths with steps that lie on the
accelerator, and the comparison raises an error. On a machine without one nothing shows.
""",
    ),
    on_cpu(
        'cache-on-the-cpu',
        'DecoderBlock',
        {
            'cache[self.i] = key_values': 'cache[self.i] = key_values.cpu()',
        },
        'the cache is kept on the CPU',
        'What does the next step lay beside what it finds in the cache, and where does each lie?',
        """
To put a cache where there is more memory is a real technique; it has to be fetched again before it is used.
On an accelerator the second step fails, as soon as old and new steps are joined.
""",
    ),
    on_cpu(
        'decoder-scale-on-the-cpu',
        'TransformerDecoder',
        {
            'math.sqrt(self.num_hiddens)': 'torch.sqrt(torch.tensor([self.num_hiddens], dtype=self.embedding.weight.dtype))',
        },
        'the scale of the embedding is a tensor with an axis that is made on the CPU',
        'Does the square root of a size need to be a tensor?',
        """
A tensor with one axis is bound to its device, also when it holds a single number. A plain Python number goes
anywhere, and so does a tensor without axes.
""",
    ),
    on_cpu(
        'decoder-empty-rows-on-the-cpu',
        'TransformerDecoder',
        {
            'X = nn.functional.pad(X, (0, 0, earlier, 0))': 'X = torch.cat((torch.zeros(X.shape[0], earlier, X.shape[2], dtype=X.dtype), X), dim=1)',
        },
        'the rows that stand in for earlier steps are made on the CPU',
        'On which device are the rows that are laid in front, and on which the embedded words?',
        """
Joining tensors of two devices raises an error. New tensors take their device from one that is there:
`X.new_zeros(…)` does it in one word, and keeps the dtype as well.
""",
    ),
    on_cpu(
        'decoder-state-lens-on-the-cpu',
        'TransformerDecoder',
        {
            'return [enc_outputs, enc_valid_lens,': 'if enc_valid_lens is not None:\n            enc_valid_lens = torch.tensor(enc_valid_lens.tolist())\n        return [enc_outputs, enc_valid_lens,',
        },
        'the lengths of the source go through a Python list and come back on the CPU',
        'On which device are the lengths before that line, and after it?',
        """
What was not told where to live lives on the CPU. The mask compares these lengths with steps that lie on the
accelerator, and the comparison raises an error. On a machine without one nothing shows.
""",
    ),
]


def in_other_dtypes(id, of, swap, says, asks, page, seen=""):
    """Right in float32; in another dtype it stops, or comes back in the wrong one."""
    return mistake(id, of=of, kind="policy", breaks=("precision",), swap=swap, says=says, asks=asks, page=page, seen=seen)


PRECISION = [
    in_other_dtypes(
        "decoder-scale-in-float32",
        "TransformerDecoder",
        {
            "math.sqrt(self.num_hiddens)": "torch.tensor([self.num_hiddens], device=X.device).sqrt()",
        },
        "the embeddings are scaled by a tensor of single precision, and become so themselves",
        "What is the dtype of a half-precision tensor times a tensor of single precision, and what is it times a plain number?",
        """
A tensor with an axis brings its dtype along, and where two meet the wider one wins: the first layer of a model in half
precision is handed `float32` and stops. A plain Python number, or a tensor without axes, leaves the dtype alone.

    >>> sizes = 9, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> decoder = TransformerDecoder(*sizes, num_layers=1, dropout=0.0).half()
    >>> state = decoder.init_state(torch.ones(1, 4, 8).half(), torch.tensor([4]))
    >>> decoder(torch.tensor([[3, 4, 5]]), state)[0].dtype

It should go through, and what comes out should be `torch.float16`, as the weights are.
""",
    ),
]

MISTAKES = MASKS + CACHE + PARTS + FORMS + DECODER + DEVICE + PRECISION
