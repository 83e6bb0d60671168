"""Mistakes seen in multi-head attention, and ways to mend the repairs by half.

Nothing is ever named for the repairs and their tests (level 0): those at the end must fail, and no more.
"""

from textwrap import dedent

from grader.authoring.bank import mistake

OF = "MultiHeadAttention"
ATTEND = "heads = self.attention(queries, keys, values, valid_lens)"
REPEAT = "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)"
JOINED = "transpose_output(heads, self.num_heads)"


def in_place_of(piece, *lines):
    """The swap that puts several lines of `forward` in the place of one piece."""
    return {piece: "\n        ".join(lines)}


def attend(scores="scores", weights="masked_softmax(scores, valid_lens)", drop="self.attention.dropout(weights)", values="values"):
    """The swap that spells the attention out, so that a mistake can sit inside it. All are (B·H, …)."""
    return in_place_of(
        ATTEND,
        "from grader.given import masked_softmax",
        "scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])",
        f"scores = {scores}",
        f"self.attention.attention_weights = weights = {weights}",
        f"heads = torch.bmm({drop}, {values})",
    )


def mask_first(weights):
    """The attention spelled out with a mask `hidden` (B·H, 1 or T, S), True for keys that must not be seen."""
    return in_place_of(
        ATTEND,
        "scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])",
        "hidden = torch.zeros_like(scores, dtype=torch.bool)",
        "if valid_lens is not None:",
        "    hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))",
        f"self.attention.attention_weights = weights = {weights}",
        "heads = torch.bmm(self.attention.dropout(weights), values)",
    )


def with_inputs_kept(swap):
    """The swap, with the inputs as they came at hand: `asked[0]` the queries, `asked[1]` the keys."""
    first = "        queries = transpose_qkv("
    return {first: f"        asked = queries, keys\n{first}", **swap}


SIZES = "sizes = dict(key_size=8, query_size=8, value_size=8, num_hiddens=8)"


def page(text, *look):
    """A page of `grader explain`: what it is and does, then lines to try at a prompt."""
    code = "\n".join(
        (
            SIZES,
            "mha = MultiHeadAttention(**sizes, num_heads=2, dropout=0.5).eval()",
            "q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8)",
            *look,
        )
    )
    return f"{dedent(text).strip()}\n\nSee it yourself:\n\n```python\n{code}\n```\n"


WHO_LEARNS = "mha(q, k, v, None).sum().backward()\nprint([name for name, p in mha.named_parameters() if p.grad is None])"
PADDING = "k2 = k.clone(); k2[0, 2:] = 9.0  # beyond the length of the first sequence"
SAME_BEFORE_AND_AFTER = "lens = torch.tensor([2, 5])\nprint((mha(q, k, v, lens) - mha(q, k2, v, lens)).abs().amax(dim=(1, 2)))"

PLAIN = "for p in mha.parameters():\n    nn.init.eye_(p)  # every layer hands on what it gets"
ITSELF = (
    PLAIN,
    "x = 20 * torch.eye(4).repeat(1, 2)[None]",
    "v = torch.arange(32.0).reshape(1, 4, 8)",
    "print(mha(x, x, v, None) - v)  # each head sees its own step alone: all 0",
)
WEIGHED = (
    PLAIN,
    "k = torch.stack((torch.zeros(1, 8), torch.ones(1, 8)), dim=1)",
    "mha(torch.ones(1, 1, 8), k, k, None)",
    "print(mha.attention.attention_weights)  # scores 0 and 2: 0.119 and 0.881",
)
DROPPED = (
    "mha = MultiHeadAttention(**sizes, num_heads=2, dropout=0.2).train()",
    PLAIN,
    "q, k, v = torch.zeros(1, 9, 8), torch.zeros(1, 999, 8), torch.ones(1, 999, 8)",
    "y = mha(q, k, v, None)  # each number sums up what was kept",
    "print(y.mean(), y.std())  # near 1 and near 0.016",
    "print((y[..., :4].amax(-1) - y[..., :4].amin(-1)).max())  # 0 within a head",
)

PROJECTIONS = [
    mistake(
        "mha-keys-through-wq",
        of=OF,
        swap={"self.W_k(keys)": "self.W_q(keys)"},
        says="your keys were made with the query weights",
        asks="Each role has a layer of its own. Which of your four layers has done nothing by the end of forward?",
        page=page(
            """
            The keys pass through the layer that is meant for the queries. Both sides of every comparison then use
            one and the same matrix, so how much A attends to B is tied to how much B attends to A: a word cannot
            look for something that it is not itself. The key layer exists, is saved, counts as parameters, and
            never learns. With inputs of equal size no shape complains.
            """,
            WHO_LEARNS,
        ),
    ),
    mistake(
        "mha-values-through-wq",
        of=OF,
        swap={"self.W_v(values)": "self.W_q(values)"},
        says="your values were made with the query weights",
        asks="What a key hands over and what a query asks for are different things. Where do yours become the same?",
        page=page(
            """
            The values pass through the query layer. What is handed over is then bound to what is asked for: the
            model cannot improve its questions without changing all its answers. The value layer gets no gradient.
            """,
            WHO_LEARNS,
        ),
    ),
    mistake(
        "mha-keys-and-values-through-wq",
        of=OF,
        swap={"self.W_k(keys)": "self.W_q(keys)", "self.W_v(values)": "self.W_q(values)"},
        says="your keys and your values were both made with the query weights",
        asks="Three lines look almost alike. What should differ from one to the next, and what does differ in yours?",
        seen="a published course notebook: three lines copied, and only the left-hand sides changed",
        page=page(
            """
            One layer does the work of three. It happens when a line is copied twice and only its left half is
            changed. Training still goes down a little, since one matrix and the output layer do learn, so nothing
            but the quality of the model gives it away. Two of the four layers keep their first random numbers.
            """,
            WHO_LEARNS,
        ),
    ),
    mistake(
        "mha-values-through-wk",
        of=OF,
        swap={"self.W_v(values)": "self.W_k(values)"},
        says="your values were made with the key weights",
        asks="What makes a key easy to find need not be what it has to say. Which layer decides what is said?",
        page=page(
            """
            The values pass through the key layer, as if a book held nothing but the words on its spine. What is
            handed over is exactly what was compared. The value layer never learns.
            """,
            WHO_LEARNS,
        ),
    ),
    mistake(
        "mha-queries-through-wk",
        of=OF,
        swap={"self.W_q(queries)": "self.W_k(queries)"},
        says="your queries were made with the key weights",
        asks="After a backward pass, which of the layers has no gradient at all?",
        page=page(
            """
            The queries pass through the key layer, so in self-attention every step is most like itself and tends to
            attend to itself. The query layer never learns.
            """,
            WHO_LEARNS,
        ),
    ),
    mistake(
        "mha-keys-through-wv",
        of=OF,
        swap={"self.W_k(keys)": "self.W_v(keys)"},
        says="your keys were made with the value weights",
        asks="By which numbers are the keys found, and by which layer should those have been made?",
        page=page(
            """
            The keys pass through the value layer: they are found by what they hand over. The key layer is idle.
            """,
            WHO_LEARNS,
        ),
    ),
    mistake(
        "mha-queries-through-wv",
        of=OF,
        swap={"self.W_q(queries)": "self.W_v(queries)"},
        says="your queries were made with the value weights",
        asks="Follow the queries from the first line on: which layer is the first that they meet?",
        page=page("The queries pass through the value layer, and the query layer is idle.", WHO_LEARNS),
    ),
    mistake(
        "mha-keys-and-values-exchanged-layers",
        of=OF,
        swap={"self.W_k(keys)": "self.W_v(keys)", "self.W_v(values)": "self.W_k(values)"},
        says="the layers for keys and for values have changed places",
        asks="All four layers learn. But would somebody who loads your weights find in each what its name promises?",
        page=page(
            """
            Keys go through the value layer and values through the key layer. Trained from nothing, this model is as
            good as any: only the names are wrong. It breaks when weights come from elsewhere, or when keys and
            values have different sizes.
            """,
            "nn.init.zeros_(mha.W_v.weight)",
            "print(mha(q, k, v, None).abs().max())  # no value gets through: 0",
        ),
    ),
    mistake(
        "mha-queries-and-keys-exchanged-layers",
        of=OF,
        kind="different",
        swap={"self.W_q(queries)": "self.W_k(queries)", "self.W_k(keys)": "self.W_q(keys)"},
        says="the layers for queries and for keys have changed places",
        asks="Queries and keys of different sizes: which layer must take which?",
        page=page(
            """
            The layer called W_k makes the queries and the other way round. As a model this is sound, the two names
            are free to choose; but weights that come by name land in the wrong place.
            """,
            "sizes = dict(key_size=8, query_size=6, value_size=8, num_hiddens=8)",
            "mha = MultiHeadAttention(**sizes, num_heads=2, dropout=0.0)",
            "q = torch.randn(2, 3, 6)  # queries of six features, keys of eight",
            "print(mha(q, k, v, None).shape)",
        ),
    ),
    mistake(
        "mha-sizes-exchanged",
        of=OF,
        swap={"W_q = nn.Linear(query_size": "W_q = nn.Linear(key_size", "W_k = nn.Linear(key_size": "W_k = nn.Linear(query_size"},
        says="the layers for queries and keys were given each other's input size",
        asks="Which of the size arguments speaks of the tensor that this layer will be handed?",
        page=page(
            """
            The query layer takes as many features as a key has. While all sizes are equal nothing happens; in
            cross-attention between two models of different width the first call fails.
            """,
            "sizes = dict(key_size=4, query_size=6, value_size=5, num_hiddens=8)",
            "print(MultiHeadAttention(**sizes, num_heads=2, dropout=0.0))",
        ),
    ),
    mistake(
        "mha-square-projections",
        of=OF,
        swap={
            "nn.Linear(query_size": "nn.Linear(num_hiddens",
            "nn.Linear(key_size": "nn.Linear(num_hiddens",
            "nn.Linear(value_size": "nn.Linear(num_hiddens",
        },
        says="every layer takes as many features as it gives, whatever sizes were asked for",
        asks="Your constructor is told three input sizes. Where do you use them?",
        page=page(
            """
            All projections go from the hidden size to the hidden size. That is right for inputs that already have
            this width and for no others.
            """,
            "sizes = dict(key_size=4, query_size=6, value_size=5, num_hiddens=8)",
            "print(MultiHeadAttention(**sizes, num_heads=2, dropout=0.0))",
        ),
    ),
    mistake(
        "mha-one-layer-under-three-names",
        of=OF,
        swap={
            "self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)": "self.W_k = self.W_q",
            "self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)": "self.W_v = self.W_q",
        },
        says="queries, keys and values share a single layer that goes by three names",
        asks="How many different matrices does your module own, and how many roles are there?",
        page=page(
            """
            Three names, one layer: whatever one role learns, the other two must live with.
            """,
            "print(mha.W_q is mha.W_k, len(list(mha.parameters())))",
        ),
    ),
    mistake(
        "mha-values-read-from-keys",
        of=OF,
        swap=with_inputs_kept({"self.W_v(values)": "self.W_v(asked[1])"}),
        says="your values were made from the keys that came in, not from the values",
        asks="What happens to your result when only the values that you pass in change?",
        page=page(
            """
            The value layer is used, on the wrong tensor. In self-attention both are the same and nothing shows;
            with keys and values of their own, the values are never read.
            """,
            "print((mha(q, k, v, None) - mha(q, k, v + 1, None)).abs().max())",
        ),
    ),
    mistake(
        "mha-projected-keys-as-values",
        of=OF,
        swap=with_inputs_kept({"self.W_v(values)": "self.W_k(asked[1])"}),
        says="the projected keys stand where the projected values belong",
        asks="Change only the values that you pass in. Does anything about the result change?",
        page=page(
            """
            The keys are projected twice, and their mixture is what comes out. The values that were passed in and
            the value layer play no part.
            """,
            WHO_LEARNS,
        ),
    ),
    mistake(
        "mha-keys-read-from-values",
        of=OF,
        swap={"self.W_k(keys)": "self.W_k(values)"},
        says="your keys were made from the values that came in, not from the keys",
        asks="What happens to your result when only the keys that you pass in change?",
        page=page(
            """
            The key layer is used, on the wrong tensor: the keys that were passed in are never read.
            """,
            "other = k + torch.randn_like(k)",
            "print((mha(q, k, v, None) - mha(q, other, v, None)).abs().max())",
        ),
    ),
    mistake(
        "mha-only-the-queries-are-read",
        of=OF,
        swap=with_inputs_kept({"self.W_k(keys)": "self.W_k(asked[0])", "self.W_v(values)": "self.W_v(asked[0])"}),
        says="all three projections were made from the queries: the keys and values that came in are never read",
        asks="With which inputs would your module be right, and does the exercise promise those?",
        page=page(
            """
            This is self-attention whatever was asked for. A decoder built on it cannot see the encoder.
            """,
            "print((mha(q, k, v, None) - mha(q, 0 * k, 0 * v, None)).abs().max())",
        ),
    ),
    mistake(
        "mha-relu-on-projections",
        of=OF,
        kind="different",
        swap={
            "self.W_q(queries)": "torch.relu(self.W_q(queries))",
            "self.W_k(keys)": "torch.relu(self.W_k(keys))",
            "self.W_v(values)": "torch.relu(self.W_v(values))",
        },
        says="negative numbers are cut off after each of the three projections",
        asks="Which scores can two vectors without negative numbers never have?",
        page=page(
            """
            The projections are made non-linear. Some models do this on purpose, but then no two vectors can point
            away from each other, and no score can be negative.
            """,
            PLAIN,
            "v = -torch.ones(2, 5, 8)  # a mean of values that are all -1 is -1",
            "print(mha(q, k, v, None))",
        ),
    ),
    mistake(
        "mha-no-output-layer",
        of=OF,
        swap={f"self.W_o({JOINED})": JOINED},
        says="the joined heads come back as they are: the output layer is built and never used",
        asks="Which layer lets one head's finding change what becomes of another's?",
        page=page(
            """
            Without the last layer the heads' answers only lie side by side: the first features of the result come
            from the first head alone. The layer stands in the module, costs memory and learns nothing.
            """,
            WHO_LEARNS,
        ),
    ),
    mistake(
        "mha-output-layer-not-built",
        of=OF,
        swap={f"self.W_o({JOINED})": JOINED, "        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)\n": ""},
        says="there is no output layer: the joined heads come back as they are",
        asks="Count the layers in the formula of the lesson, then those in your constructor. Which one is not there?",
        page=page(
            """
            Without a last layer the heads' answers only lie side by side: the first features of the result come
            from the first head alone, and nothing mixes them.
            """,
            "print([name for name, _ in mha.named_parameters()])",
        ),
    ),
    mistake(
        "mha-output-layer-made-per-call",
        of=OF,
        steady=False,
        swap={
            "        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)\n": "",
            "return self.W_o(": "return nn.Linear(values.shape[-1] * self.num_heads, values.shape[-1] * self.num_heads, bias=False, dtype=values.dtype)(",
        },
        says="the output layer is made afresh, with random weights, at every call",
        asks="Call your module twice on the same input, in evaluation. Why do the results differ?",
        page=page(
            """
            A layer that is born inside forward is unknown to the module: it is not saved, not moved to another
            device, not given to the optimizer, and it is a different one each time.
            """,
            "print((mha(q, k, v, None) - mha(q, k, v, None)).abs().max())",
            "print([name for name, _ in mha.named_parameters()])",
        ),
    ),
    mistake(
        "mha-output-layer-twice",
        of=OF,
        swap={f"self.W_o({JOINED})": f"self.W_o(self.W_o({JOINED}))"},
        says="the output layer was applied twice",
        asks="How often does the result pass through the last layer on its way out?",
        page=page(
            "The same matrix is applied a second time to what it has just made.",
            PLAIN,
            "mha.W_o.weight.data *= 2",
            "print(mha(q, k, torch.ones(2, 5, 8), None))  # values of 1, doubled once",
        ),
    ),
    mistake(
        "mha-bias-always-on",
        of=OF,
        kind="different",
        swap={", bias=bias)": ")"},
        says="every layer has a bias although none was asked for",
        asks="What does a linear layer do about a bias when it is told nothing?",
        page=page(
            """
            The argument does not reach the layers, and their own default is to have a bias. Harmless for a model,
            but weights from elsewhere do not fit.
            """,
            "print([name for name, _ in mha.named_parameters()])",
        ),
    ),
    mistake(
        "mha-bias-always-off",
        of=OF,
        swap={"bias=bias": "bias=False"},
        says="no layer has a bias, even when one was asked for",
        asks="Build your module with a bias and count its parameters. Where was the wish lost?",
        page=page(
            "The argument is accepted and forgotten.",
            "print(MultiHeadAttention(8, 8, 8, 8, 2, 0.0, bias=True))",
        ),
    ),
    mistake(
        "mha-output-bias-missing",
        of=OF,
        swap={"nn.Linear(num_hiddens, num_hiddens, bias=bias)": "nn.Linear(num_hiddens, num_hiddens, bias=False)"},
        says="the first three layers follow the wish for a bias, the output layer does not",
        asks="To how many of the four layers does the wish for a bias belong?",
        page=page(
            "The output layer was overlooked when the argument was handed on.",
            "print(MultiHeadAttention(8, 8, 8, 8, 2, 0.0, bias=True))",
        ),
    ),
    mistake(
        "mha-input-biases-missing",
        of=OF,
        swap={
            "nn.Linear(query_size, num_hiddens, bias=bias)": "nn.Linear(query_size, num_hiddens, bias=False)",
            "nn.Linear(key_size, num_hiddens, bias=bias)": "nn.Linear(key_size, num_hiddens, bias=False)",
            "nn.Linear(value_size, num_hiddens, bias=bias)": "nn.Linear(value_size, num_hiddens, bias=False)",
        },
        says="the output layer follows the wish for a bias, the first three layers do not",
        asks="To how many of the four layers does the wish for a bias belong?",
        page=page(
            "Only the last layer was given the argument.",
            "print(MultiHeadAttention(8, 8, 8, 8, 2, 0.0, bias=True))",
        ),
    ),
]

SCORES = [
    mistake(
        "mha-no-scaling",
        of=OF,
        swap=attend(scores="scores * math.sqrt(queries.shape[-1])"),
        says="the scores were not scaled",
        asks="How large is a dot product of two long random vectors, and what does a softmax make of large scores?",
        page=page(
            """
            A dot product of two random vectors grows with their length. Unscaled scores push the softmax towards
            one single key, where its gradient is almost zero: wide heads hardly learn (Vaswani et al. 2017,
            section 3.2.1).
            """,
            *WEIGHED,
        ),
    ),
    mistake(
        "mha-scaled-up",
        of=OF,
        swap=attend(scores="scores * queries.shape[-1]"),
        says="the scores were made larger by the scaling, not smaller",
        asks="Should a wide head have calmer or wilder scores after scaling?",
        page=page(
            "The scale was multiplied where it should divide. Every row of weights is close to a single one.",
            "mha(q, k, v, None); print(mha.attention.attention_weights.amax(dim=-1))",
        ),
    ),
    mistake(
        "mha-scaled-by-all-features",
        of=OF,
        swap=attend(scores="scores / math.sqrt(self.num_heads)"),
        says="the scores were scaled by the size of the whole model, not of one head",
        asks="How many products are added up in one score of one head?",
        page=page(
            """
            The scale should undo the growth of a sum, and a head sums over its own few features. Scaling by all of
            them makes the weights too even, and the more so the more heads there are.
            """,
            *WEIGHED,
        ),
    ),
    mistake(
        "mha-scaled-by-number-of-keys",
        of=OF,
        swap=attend(scores="scores * math.sqrt(queries.shape[-1] / keys.shape[1])"),
        says="the scores were scaled by the number of keys, not by the size of a head",
        asks="Does your scale change when a sentence gets longer? Should it?",
        page=page(
            "The scale was read from the wrong axis: a longer sentence gets more even weights.",
            *WEIGHED,
        ),
    ),
    mistake(
        "mha-scaled-by-number-of-queries",
        of=OF,
        swap=attend(scores="scores * math.sqrt(queries.shape[-1] / queries.shape[1])"),
        says="the scores were scaled by the number of queries, not by the size of a head",
        asks="Should the answer to one question depend on how many other questions were asked with it?",
        page=page(
            "The scale was read from the wrong axis: a query gets another answer in other company.",
            "print(mha(q, k, v, None)[:, 0] - mha(q[:, :1], k, v, None)[:, 0])",
        ),
    ),
    mistake(
        "mha-scaled-twice",
        of=OF,
        swap=attend(scores="scores / math.sqrt(queries.shape[-1])"),
        says="the scores were scaled twice",
        asks="You scale, and so does a block that you call. How can you tell from the weights?",
        page=page(
            """
            The queries were scaled although the attention scales too, or the root was forgotten, which comes to the
            same. The weights are too even.
            """,
            *WEIGHED,
        ),
    ),
    mistake(
        "mha-scores-capped",
        of=OF,
        kind="different",
        swap=attend(scores="torch.tanh(scores)"),
        says="the scores were squeezed between minus one and one before the softmax",
        asks="How strongly can one key be preferred to another if no score leaves a narrow band?",
        page=page(
            "Some large models cap their scores, far more gently than this. It was not asked for here.",
            *WEIGHED,
        ),
    ),
    mistake(
        "mha-queries-and-keys-change-roles",
        of=OF,
        swap=in_place_of(ATTEND, "heads = self.attention(keys, queries, values, valid_lens)"),
        says="keys and queries were handed to the attention in each other's place",
        asks="Which of the two decides how many rows the result has?",
        page=page(
            """
            Each key asks which queries it likes. With as many queries as keys the shapes fit, and the weights are
            those of the reversed question.
            """,
            "print(mha(q, k, v, None).shape)",
        ),
    ),
    mistake(
        "mha-softmax-over-queries",
        of=OF,
        swap=mask_first("torch.softmax(scores.masked_fill(hidden, -1e6), dim=1)"),
        says="the softmax runs over the queries, not over the keys",
        asks="For one query, what do the weights over all keys sum to? What should they?",
        page=page(
            """
            Each key shares itself out among the queries. A query may get far more than one or next to nothing in
            total, and what it gets depends on which other queries are asked with it.
            """,
            "mha(q, k, v, None); print(mha.attention.attention_weights.sum(dim=-1))",
        ),
    ),
    mistake(
        "mha-softmax-over-queries-empty-columns",
        of=OF,
        swap=mask_first("torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=1)"),
        says="the softmax runs over the queries, not over the keys, and a key that nobody may see gives no number at all",
        asks="For one query, what do the weights over all keys sum to? What should they?",
        page=page(
            """
            Each key shares itself out among the queries. A key in the padding has nobody to go to, and the softmax of
            nothing but minus infinity is not a number.
            """,
            "mha(q, k, v, None); print(mha.attention.attention_weights.sum(dim=-1))",
        ),
    ),
    mistake(
        "mha-softmax-over-heads",
        of=OF,
        swap=mask_first(
            "torch.softmax(scores.masked_fill(hidden, -1e6).unflatten(0, (-1, self.num_heads)), dim=1).flatten(0, 1)"
        ),
        says="the softmax runs over the heads, not over the keys",
        asks="Add up the weights of one query in one head. Add up those of one key over all heads. Which sum is one?",
        page=page(
            """
            The heads compete for each pair of query and key, and no head decides between keys. With an axis of their
            own for the heads it takes one wrong axis number.
            """,
            "mha(q, k, v, None); print(mha.attention.attention_weights.sum(dim=-1))",
        ),
    ),
    mistake(
        "mha-softmax-over-heads-empty-keys",
        of=OF,
        swap=mask_first(
            "torch.softmax(scores.masked_fill(hidden, -torch.inf).unflatten(0, (-1, self.num_heads)), dim=1).flatten(0, 1)"
        ),
        says="the softmax runs over the heads, not over the keys, and a key that no head may see gives no number at all",
        asks="Add up the weights of one query in one head. Add up those of one key over all heads. Which sum is one?",
        page=page(
            """
            The heads compete for each pair of query and key. A key in the padding is hidden from all heads alike,
            and the softmax of nothing but minus infinity is not a number.
            """,
            "print(mha(q, k, v, torch.tensor([2, 5])))",
        ),
    ),
    mistake(
        "mha-sigmoid-weights",
        of=OF,
        kind="different",
        swap=mask_first("torch.sigmoid(scores).masked_fill(hidden, 0.0)"),
        says="each key is weighed for itself: the weights of a query do not share a sum of one",
        asks="If all keys fit well, how large is the mixture of their values compared with a single value?",
        page=page(
            "Weights without a common sum grow with the number of keys. A design that exists, and not this one.",
            "mha(q, k, v, None); print(mha.attention.attention_weights.sum(dim=-1))",
        ),
    ),
    mistake(
        "mha-linear-weights",
        of=OF,
        swap=mask_first("scores.masked_fill(hidden, 0.0)"),
        says="the scores themselves were used as weights: there is no softmax",
        asks="Can a weight be negative in your module? Should it?",
        page=page(
            "Without a softmax, weights may be negative and sum to anything.",
            "mha(q, k, v, None); print(mha.attention.attention_weights)",
        ),
    ),
]

HEADS = [
    mistake(
        "mha-single-head",
        of=OF,
        swap={"self.num_heads = num_heads": "self.num_heads = 1"},
        says="there is one head over all features, whatever number was asked for",
        asks="Does your result depend on the number of heads? With the same weights, should it?",
        page=page(
            """
            One head has one opinion: a single row of weights for each query. The point of several heads is that they
            may look at different places.
            """,
            "mha(q, k, v, None); print(mha.attention.attention_weights.shape)",
        ),
    ),
    mistake(
        "mha-heads-by-view",
        of=OF,
        swap={
            "transpose_qkv(self.W_q(queries), self.num_heads)": "self.W_q(queries).reshape(-1, queries.shape[1], self.W_q.out_features // self.num_heads)",
            "transpose_qkv(self.W_k(keys), self.num_heads)": "self.W_k(keys).reshape(-1, keys.shape[1], self.W_k.out_features // self.num_heads)",
            "transpose_qkv(self.W_v(values), self.num_heads)": "self.W_v(values).reshape(-1, values.shape[1], self.W_v.out_features // self.num_heads)",
        },
        says="the heads were cut out of memory as it lies, so that each head mixes steps",
        asks="Put the step's number into each feature and split. Which numbers stand in the first head?",
        page=page(
            """
            Reshaping straight to the split form keeps the order in memory, in which one step's features stand
            together. So the first head gets all features of the first steps and nothing of the later ones, while it
            should get some features of all steps.
            """,
            *ITSELF,
        ),
    ),
    mistake(
        "mha-merge-by-view",
        of=OF,
        swap={JOINED: "heads.reshape(-1, heads.shape[1], heads.shape[2] * self.num_heads)"},
        says="the heads were joined in memory as it lies, so that steps and heads are shuffled",
        asks="Which features of the first query's result should come from the second head? Which do in yours?",
        page=page(
            """
            The heads lie one after the other. Reshaping without moving the axis of the heads next to their features
            fills the first rows of the result from the first head alone.
            """,
            *ITSELF,
        ),
    ),
    mistake(
        "mha-split-and-merge-by-view",
        of=OF,
        swap={
            "transpose_qkv(self.W_q(queries), self.num_heads)": "self.W_q(queries).reshape(-1, queries.shape[1], self.W_q.out_features // self.num_heads)",
            "transpose_qkv(self.W_k(keys), self.num_heads)": "self.W_k(keys).reshape(-1, keys.shape[1], self.W_k.out_features // self.num_heads)",
            "transpose_qkv(self.W_v(values), self.num_heads)": "self.W_v(values).reshape(-1, values.shape[1], self.W_v.out_features // self.num_heads)",
            JOINED: "heads.reshape(-1, heads.shape[1], heads.shape[2] * self.num_heads)",
        },
        says="the heads were split and joined in memory as it lies, without moving an axis",
        asks="Splitting and joining undo each other in yours. Is that enough for each head to see all steps?",
        page=page(
            """
            The two mistakes undo each other's shapes but not what happens between them: the first head looks at the
            first steps only, with all their features.
            """,
            *ITSELF,
        ),
    ),
    mistake(
        "mha-heads-interleaved",
        of=OF,
        kind="different",
        swap={
            "transpose_qkv(self.W_q(queries), self.num_heads)": "self.W_q(queries).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
            "transpose_qkv(self.W_k(keys), self.num_heads)": "self.W_k(keys).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
            "transpose_qkv(self.W_v(values), self.num_heads)": "self.W_v(values).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
            JOINED: "heads.unflatten(0, (-1, self.num_heads)).permute(0, 2, 3, 1).flatten(2)",
        },
        says="the features are dealt out to the heads one by one, like cards, and not in blocks",
        asks="Which features belong to the first head: a block of neighbours, or every second one?",
        page=page(
            """
            Each head owns every second (third, …) feature. A model trained so is as good as any other, since the
            order of features is free; but weights of the usual order give something else.
            """,
            *ITSELF,
        ),
    ),
    mistake(
        "mha-heads-interleaved-at-the-start",
        of=OF,
        swap={
            "transpose_qkv(self.W_q(queries), self.num_heads)": "self.W_q(queries).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
            "transpose_qkv(self.W_k(keys), self.num_heads)": "self.W_k(keys).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
            "transpose_qkv(self.W_v(values), self.num_heads)": "self.W_v(values).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
        },
        says="the features are dealt out to the heads one by one, but joined again in blocks",
        asks="Split a row that counts its features, join it again: does it come back in its old order?",
        page=page(
            "Splitting and joining follow two different orders, so the features come back shuffled.",
            *ITSELF,
        ),
    ),
    mistake(
        "mha-heads-interleaved-at-the-end",
        of=OF,
        swap={JOINED: "heads.unflatten(0, (-1, self.num_heads)).permute(0, 2, 3, 1).flatten(2)"},
        says="the heads' features were joined alternately, not head after head",
        asks="The first features of the result: do they all come from the first head?",
        page=page(
            "The axis of the heads ended up behind the features instead of in front of them.",
            *ITSELF,
        ),
    ),
    mistake(
        "mha-heads-joined-backwards",
        of=OF,
        kind="different",
        swap={JOINED: "heads.unflatten(0, (-1, self.num_heads)).flip(1).transpose(1, 2).flatten(2)"},
        says="the heads were joined in reverse order",
        asks="Whose features come first in the joined row?",
        page=page(
            "The last head comes first. The output layer could learn this order as well as the other.",
            *ITSELF,
        ),
    ),
    mistake(
        "mha-heads-averaged",
        of=OF,
        swap={JOINED: "heads.unflatten(0, (-1, self.num_heads)).mean(1).repeat(1, 1, self.num_heads)"},
        says="the heads were averaged and the average repeated, not set side by side",
        asks="After joining, can one still tell what the second head has found?",
        page=page(
            "What the heads have found is stirred together before the output layer can choose among it.",
            *ITSELF,
        ),
    ),
    mistake(
        "mha-heads-share-query-slice",
        of=OF,
        swap=in_place_of(
            ATTEND,
            "queries = queries.unflatten(0, (-1, self.num_heads))[:, :1].expand(-1, self.num_heads, -1, -1).flatten(0, 1)",
            ATTEND,
        ),
        says="every head asks the first head's question",
        asks="Which part of the query weights do your later heads depend on?",
        page=page(
            "All heads read the same slice of the queries; the rest of the query layer has no effect.",
            "mha(q, k, v, None).sum().backward()",
            "print(mha.W_q.weight.grad.abs().sum(dim=1))",
        ),
    ),
    mistake(
        "mha-heads-share-all-slices",
        of=OF,
        swap=in_place_of(
            ATTEND,
            "queries, keys, values = (x.unflatten(0, (-1, self.num_heads))[:, :1].expand(-1, self.num_heads, -1, -1).flatten(0, 1) for x in (queries, keys, values))",
            ATTEND,
        ),
        says="every head is a copy of the first",
        asks="Compare the weights of two heads. Can they ever differ in yours?",
        page=page(
            "Only the first slice of each projection is ever read.",
            "mha(q, k, v, None)",
            "first, second = mha.attention.attention_weights[:2]",
            "print(first - second)",
        ),
    ),
    mistake(
        "mha-heads-before-batch",
        of=OF,
        swap=in_place_of(
            ATTEND,
            "queries, keys, values = (x.unflatten(0, (-1, self.num_heads)).transpose(0, 1).flatten(0, 1) for x in (queries, keys, values))",
            ATTEND,
        ),
        says="the rows were laid out head by head, but lengths and joining count sequence by sequence",
        asks="In the tall batch, which row comes after head 0 of sequence 0 in each part of your code?",
        page=page(
            """
            Two orders of rows are in use: all sequences of one head together, and all heads of one sequence
            together. Sequences get each other's heads.
            """,
            "print((mha(q, k, v, None)[:1] - mha(q[:1], k[:1], v[:1], None)).abs().max())",
        ),
    ),
    mistake(
        "mha-heads-before-batch-lengths-right",
        of=OF,
        swap=in_place_of(
            ATTEND,
            "queries, keys, values = (x.unflatten(0, (-1, self.num_heads)).transpose(0, 1).flatten(0, 1) for x in (queries, keys, values))",
            "if valid_lens is not None:",
            "    valid_lens = valid_lens.unflatten(0, (-1, self.num_heads)).transpose(0, 1).flatten(0, 1)",
            ATTEND,
        ),
        says="the rows were laid out head by head, but joined as if they came sequence by sequence",
        asks="When you join, which rows do you take for the heads of the first sequence, and what stands there?",
        page=page(
            "The lengths follow the rows, the joining does not: sequences get each other's heads.",
            "print((mha(q, k, v, None)[:1] - mha(q[:1], k[:1], v[:1], None)).abs().max())",
        ),
    ),
]

LENGTHS = [
    mistake(
        "mha-lens-tiled",
        of=OF,
        swap={REPEAT: "valid_lens = torch.cat([valid_lens] * self.num_heads)"},
        says="the lengths were repeated as a whole, so that sequences are cut at each other's lengths",
        asks="Write down which sequence each row of the tall batch belongs to, and beside it the length it gets. Do they agree?",
        page=page(
            """
            The rows come sequence by sequence, with all heads of a sequence together; the repeated lengths come
            round after round. The shape is right and nothing complains: some heads see padding, others lose words.
            With equal lengths, or a batch of one, it does not show.
            """,
            PADDING,
            SAME_BEFORE_AND_AFTER,
        ),
    ),
    mistake(
        "mha-lens-tiled-per-sequence",
        of=OF,
        swap={REPEAT: "valid_lens = torch.cat([valid_lens] * self.num_heads) if valid_lens.dim() == 1 else " + REPEAT.split(" = ")[1]},
        says="lengths given per sequence were repeated as a whole, so that sequences are cut at each other's lengths",
        asks="Write down which sequence each row of the tall batch belongs to, and beside it the length it gets. Do they agree?",
        page=page(
            """
            Lengths per query come out right, lengths per sequence do not: those are repeated round after round while
            the rows come sequence by sequence.
            """,
            PADDING,
            SAME_BEFORE_AND_AFTER,
        ),
    ),
    mistake(
        "mha-lens-repeated-on-all-axes",
        of=OF,
        swap={REPEAT: "valid_lens = valid_lens.repeat_interleave(self.num_heads)"},
        says="lengths per query were repeated number by number, so that queries get their neighbours' lengths",
        asks="Lengths may have two axes. Along which of them should there be more rows afterwards?",
        page=page(
            """
            Without an axis, repeating first unrolls the table of lengths. Each number stands there several times in
            a row, and what should be the next head's length becomes the next query's. Lengths per sequence have one
            axis only and come out right.
            """,
            "lens = torch.tensor([[1, 2, 3], [4, 5, 5]])",
            "print(lens.repeat_interleave(2), lens.repeat_interleave(2, dim=0))",
            "mha(q, k, v, lens)",
            "seen = mha.attention.attention_weights > 0",
            "print(seen.sum(-1))  # twice 1, 2, 3, then twice 4, 5, 5",
        ),
    ),
    mistake(
        "mha-lens-not-repeated",
        of=OF,
        swap={f"        if valid_lens is not None:\n            {REPEAT}": ""},
        says="there is one length a sequence where one a head and sequence is needed, and the call fails",
        asks="How many rows does the batch have that the attention sees, and how many lengths does it get?",
        page=page(
            "The attention sees a batch with a row for every head of every sequence, and the lengths are too few.",
            "print(mha(q, k, v, torch.tensor([2, 5])))",
        ),
    ),
    mistake(
        "mha-lens-truth-value",
        of=OF,
        swap={"if valid_lens is not None": "if valid_lens"},
        says="the lengths were asked whether they are true, which several numbers cannot answer",
        asks="You want to know whether lengths were given. Is that the question that your condition asks?",
        page=page(
            "A tensor of several numbers has no truth value; one of a single zero would even count as none given.",
            "print(mha(q, k, v, torch.tensor([2, 5])))",
        ),
    ),
    mistake(
        "mha-unknown-name",
        of=OF,
        swap={"if valid_lens is not None": "if vaild_lens is not None"},
        says="forward uses a name that does not exist",
        asks="The message shows the name. Where did you think that it gets its value?",
        seen="a published course notebook, where the misspelt name existed by chance as a global",
        page=page(
            """
            A misspelt name is an error only when its line runs, and not even then where a notebook happens to hold
            something under it: it works until the kernel is restarted.
            """,
            "print(mha(q, k, v, None))",
        ),
    ),
    mistake(
        "mha-lens-not-passed",
        of=OF,
        swap=in_place_of(ATTEND, "heads = self.attention(queries, keys, values, None)"),
        says="the lengths do not reach the attention: padding takes part",
        asks="Change the padding. Why does your result change?",
        page=page(
            "The lengths are prepared and then left behind. Each result depends on what the batch was padded with.",
            PADDING,
            SAME_BEFORE_AND_AFTER,
        ),
    ),
    mistake(
        "mha-lens-first-query-only",
        of=OF,
        swap={REPEAT: "valid_lens = valid_lens.reshape(len(valid_lens), -1)[:, 0].repeat_interleave(self.num_heads, dim=0)"},
        says="where each query has a length of its own, all were cut at the first query's",
        asks="A decoder gives query number three a length of four. Which length does it get in yours?",
        page=page(
            "Only one length a sequence is read. A decoder's causal mask becomes: everybody sees the first token alone.",
            "lens = torch.tensor([[1, 2, 3]] * 2)",
            "mha(q, k, v, lens)",
            "print(mha.attention.attention_weights[0])",
        ),
    ),
    mistake(
        "mha-lens-first-head-only",
        of=OF,
        swap=in_place_of(
            ATTEND,
            "if valid_lens is not None:",
            "    valid_lens = valid_lens.clone()",
            "    later = torch.arange(len(valid_lens)) % self.num_heads > 0",
            "    valid_lens[later] = keys.shape[1]",
            ATTEND,
        ),
        says="only the first head respects the lengths, the others see the padding",
        asks="Print the weights of every head of a short sequence. Which of them look beyond its end?",
        page=page(
            "The mask covers one head and was not spread over the others.",
            "mha(q, k, v, torch.tensor([2, 5]))",
            "print(mha.attention.attention_weights[:2])",
        ),
    ),
    mistake(
        "mha-lens-one-too-many",
        of=OF,
        swap={REPEAT: f"{REPEAT} + 1"},
        says="one key too many is let through in every row",
        asks="A sequence of length two has the keys number zero and one. Which other does yours see?",
        page=page(
            "Lengths count, positions start at zero: the first padded position equals the length.",
            "mha(q, k, v, torch.tensor([2, 5]))",
            "print(mha.attention.attention_weights[0])",
        ),
    ),
    mistake(
        "mha-masked-after-softmax",
        of=OF,
        swap=mask_first("torch.softmax(scores, dim=-1).masked_fill(hidden, 0.0)"),
        says="the padding lost its weight only after the softmax, so that the rest sums to less than one",
        asks="What do the weights of one query sum to when half of the keys are padding?",
        page=page(
            "The padding has already taken its share of the sum. Short sequences get small results.",
            "mha(q, k, v, torch.tensor([2, 5]))",
            "print(mha.attention.attention_weights.sum(dim=-1))",
        ),
    ),
    mistake(
        "mha-masked-with-zero",
        of=OF,
        swap=mask_first("torch.softmax(scores.masked_fill(hidden, 0.0), dim=-1)"),
        says="padded keys were given a score of zero, which is a score like any other",
        asks="Which weight does a softmax give to a score of zero?",
        page=page(
            "A score of zero is neither low nor absent: where other scores are negative, padding even wins.",
            "mha(q, k, v, torch.tensor([2, 5]))",
            "print(mha.attention.attention_weights[0])",
        ),
    ),
    mistake(
        "mha-mask-inverted",
        of=OF,
        swap=in_place_of(
            ATTEND,
            "hidden = None",
            "if valid_lens is not None:",
            "    hidden = torch.arange(keys.shape[1]) >= valid_lens.reshape(len(keys), -1, 1)",
            "    hidden = hidden.expand(-1, queries.shape[1], -1)",
            "heads = nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=hidden, dropout_p=0.0)",
            "if self.training:",
            ATTEND.replace("heads", "    heads"),
        ),
        says="the mask means the opposite of what the attention takes it for: the padding is seen and nothing else",
        asks="In the mask that you hand over, does a true entry mean look or look away? How could you find out?",
        page=page(
            """
            PyTorch's own function takes a mask of what may be seen; some of its layers take one of what to ignore.
            With the wrong one, attention goes to the padding alone.
            """,
            PADDING,
            SAME_BEFORE_AND_AFTER,
        ),
    ),
    mistake(
        "mha-always-causal",
        of=OF,
        swap=mask_first(
            "torch.softmax(scores.masked_fill(hidden | torch.ones_like(hidden).triu(diagonal=1), -torch.inf), dim=-1)"
        ),
        says="later positions are always hidden, although nobody asked for it",
        asks="Who should decide what a query may see: this module, or the one that calls it?",
        page=page(
            "A decoder hides the future by passing lengths. Here it is hidden from encoders and from cross-attention too.",
            "mha(q, k, v, None); print(mha.attention.attention_weights[0])",
        ),
    ),
    mistake(
        "mha-mask-added-as-numbers",
        of=OF,
        swap=mask_first("torch.softmax(scores + (~hidden).to(scores), dim=-1)"),
        says="a mask of zeros and ones was added to the scores: padding is a little less liked, and that is all",
        asks="How much less weight does a key get whose score is lower by one?",
        page=page(
            "To take a key out, its score must become so low that nothing is left of it; one less is hardly less.",
            PADDING,
            SAME_BEFORE_AND_AFTER,
        ),
    ),
    mistake(
        "mha-mask-added-as-numbers-inverted",
        of=OF,
        swap=mask_first("torch.softmax(scores + hidden.to(scores), dim=-1)"),
        says="a mask of zeros and ones was added to the scores, so that padding is even preferred",
        asks="Which score of a key leads to a weight of zero?",
        page=page(
            "To take a key out, its score must become so low that nothing is left of it. Here it rises by one.",
            PADDING,
            SAME_BEFORE_AND_AFTER,
        ),
    ),
    mistake(
        "mha-lens-overwritten",
        of=OF,
        swap={REPEAT: "caller, valid_lens = valid_lens, valid_lens.repeat_interleave(self.num_heads, dim=0)\n            caller.zero_()"},
        says="other numbers stand in the caller's lengths after the call",
        asks="Print the lengths after the call. What will the next layer, which gets the same ones, do?",
        page=page(
            "The result is right, once. The next layer is handed lengths that are not those of the batch.",
            "lens = torch.tensor([2, 5]); mha(q, k, v, lens); print(lens)",
        ),
    ),
    mistake(
        "mha-lens-changed-in-place",
        of=OF,
        swap={REPEAT: "valid_lens.data = valid_lens.repeat_interleave(self.num_heads, dim=0)"},
        says="the caller's lengths have more rows after the call than before",
        asks="Print the lengths after the call. What will the next layer, which gets the same ones, do?",
        page=page(
            "The result is right, once. The next layer is handed lengths that have already been repeated.",
            "lens = torch.tensor([2, 5]); mha(q, k, v, lens); print(lens)",
        ),
    ),
]

FLOW = [
    mistake(
        "mha-residual-inside",
        of=OF,
        kind="different",
        swap=with_inputs_kept({f"self.W_o({JOINED})": f"self.W_o({JOINED}) + asked[0]"}),
        says="the queries were added to the result",
        asks="Which block of a Transformer has the task of adding what went in to what came out?",
        page=page(
            "The addition belongs to a block of its own, around the attention; with both it happens twice.",
            "mha = MultiHeadAttention(8, 6, 8, 8, 2, 0.0)",
            "print(mha(torch.randn(2, 3, 6), k, v, None))",
        ),
    ),
    mistake(
        "mha-residual-where-it-fits",
        of=OF,
        kind="different",
        swap=with_inputs_kept(
            {f"self.W_o({JOINED})": f"self.W_o({JOINED}) + (asked[0] if asked[0].shape[-1] == self.W_o.out_features else 0)"}
        ),
        says="the queries were added to the result wherever their size allows it",
        asks="Which block of a Transformer has the task of adding what went in to what came out?",
        page=page(
            "The addition belongs to a block of its own, around the attention; with both it happens twice.",
            "print(mha(q, k, v, None) - mha.W_o(torch.zeros(8)))",
        ),
    ),
    mistake(
        "mha-returns-pair",
        of=OF,
        kind="different",
        swap={f"self.W_o({JOINED})": f"self.W_o({JOINED}), self.attention.attention_weights"},
        says="two things come back, the result and the weights, where one was asked for",
        asks="What does the docstring say comes back?",
        page=page(
            "Some libraries return the weights too. The caller here expects a tensor.",
            "print(type(mha(q, k, v, None)))",
        ),
    ),
    mistake(
        "mha-normalised-inside",
        of=OF,
        kind="different",
        swap={f"self.W_o({JOINED})": f"nn.functional.layer_norm(self.W_o({JOINED}), (self.W_o.out_features,))"},
        says="the result was normalised over its features",
        asks="What are the mean and the spread of one row of your result, whatever goes in?",
        page=page(
            "Normalising belongs to a block of its own, around the attention.",
            "print(mha(q, k, v, None).mean(dim=-1))",
        ),
    ),
    mistake(
        "mha-no-grad",
        of=OF,
        swap={"    def forward(": "    @torch.no_grad()\n    def forward("},
        says="nothing can be learned: gradients were switched off in forward",
        asks="Your numbers are right. What happens on the way back?",
        page=page(
            "The module computes and never learns, nor does anything before it.",
            "print(mha(q, k, v, None).requires_grad)",
        ),
    ),
    mistake(
        "mha-weights-cut-off",
        of=OF,
        swap=in_place_of(ATTEND, "heads = self.attention(queries.detach(), keys.detach(), values, valid_lens)"),
        says="no gradient flows through the attention weights: the layers for queries and keys never learn",
        asks="After a backward pass, which layers have a gradient that is not zero?",
        page=page(
            "The numbers are right and the model learns what to hand over, but never where to look.",
            WHO_LEARNS,
        ),
    ),
    mistake(
        "mha-keys-cut-off",
        of=OF,
        swap=in_place_of(ATTEND, "heads = self.attention(queries, keys.detach(), values, valid_lens)"),
        says="no gradient flows through the keys",
        asks="After a backward pass, which layers have a gradient that is not zero?",
        page=page("The numbers are right, and the key layer never learns.", WHO_LEARNS),
    ),
    mistake(
        "mha-queries-cut-off",
        of=OF,
        swap=in_place_of(ATTEND, "heads = self.attention(queries.detach(), keys, values, valid_lens)"),
        says="no gradient flows through the queries",
        asks="After a backward pass, which layers have a gradient that is not zero?",
        page=page("The numbers are right, and the query layer never learns.", WHO_LEARNS),
    ),
    mistake(
        "mha-values-cut-off",
        of=OF,
        swap=in_place_of(ATTEND, "heads = self.attention(queries, keys, values.detach(), valid_lens)"),
        says="no gradient flows through the values",
        asks="After a backward pass, which layers have a gradient that is not zero?",
        page=page("The numbers are right, and the value layer never learns.", WHO_LEARNS),
    ),
]

TRAIN = "mha = mha.train(); print(mha(q, k, v, None)[0, 0], mha(q, k, v, None)[0, 0])"

DROPOUT = [
    mistake(
        "mha-no-dropout",
        of=OF,
        swap={"DotProductAttention(dropout)": "DotProductAttention(0.0)"},
        says="nothing is ever dropped, whatever rate was asked for",
        asks="Call your module twice in training on the same input. Should the results agree?",
        page=page("The rate does not reach the attention. The model leans on single keys as it likes.", TRAIN),
    ),
    mistake(
        "mha-dropout-before-softmax",
        of=OF,
        swap=attend(scores="self.attention.dropout(scores)", drop="weights"),
        says="scores were dropped before the softmax, so that no weight ever is",
        asks="Which weight does a softmax give to a dropped score?",
        page=page(
            "A dropped score is zero, which is a score like any other: its key stays, and may even gain.",
            "mha.train()(q, k, v, None); print(mha.attention.attention_weights)",
        ),
    ),
    mistake(
        "mha-dropout-on-heads",
        of=OF,
        swap={"DotProductAttention(dropout)": "DotProductAttention(0.0)\n        self.drop = nn.Dropout(dropout)", JOINED: f"self.drop({JOINED})"},
        says="features of the result were dropped, not attention weights",
        asks="When a weight is dropped, which numbers of a head change together?",
        page=page(
            "Dropping features teaches a model to spread its findings, dropping weights to spread its attention.",
            *DROPPED,
        ),
    ),
    mistake(
        "mha-dropout-on-values",
        of=OF,
        swap={
            "DotProductAttention(dropout)": "DotProductAttention(0.0)\n        self.drop = nn.Dropout(dropout)",
            "self.attention(queries, keys, values,": "self.attention(queries, keys, self.drop(values),",
        },
        says="features of the values were dropped, not attention weights",
        asks="When a weight is dropped, which numbers of a head change together?",
        page=page("All queries lose the same features of a value, and none loses a key.", *DROPPED),
    ),
    mistake(
        "mha-dropout-on-result-too",
        of=OF,
        kind="different",
        swap={
            "DotProductAttention(dropout)": "DotProductAttention(dropout)\n        self.drop = nn.Dropout(dropout)",
            f"self.W_o({JOINED})": f"self.drop(self.W_o({JOINED}))",
        },
        says="the result is dropped once more after the output layer",
        asks="Which block of a Transformer drops what comes out of a layer?",
        page=page("Many models do this, in the block around the attention. Here it would happen twice.", TRAIN),
    ),
    mistake(
        "mha-dropout-not-made-up-for",
        of=OF,
        swap=attend(drop="self.attention.dropout(weights) * (1 - self.attention.dropout.p if self.training else 1)"),
        says="weights are dropped and the others are not scaled up to make up for it",
        asks="What is the mean of your result in training, over many calls, and what in evaluation?",
        page=page("The layers after it meet smaller numbers in training than in evaluation.", *DROPPED),
    ),
    mistake(
        "mha-dropout-share-inverted",
        of=OF,
        swap={"DotProductAttention(dropout)": "DotProductAttention(1 - dropout)"},
        says="the share that should be dropped is kept, and the share that should be kept is dropped",
        asks="Is the number that you are handed the share that stays or the share that goes?",
        page=page("With a rate of one half nothing shows; with the usual small rate almost everything is dropped.", *DROPPED),
    ),
    mistake(
        "mha-dropout-in-evaluation",
        of=OF,
        steady=False,
        swap=attend(drop="nn.functional.dropout(weights, self.attention.dropout.p)"),
        says="weights are dropped in evaluation too",
        asks="Who tells a function, as opposed to a layer, whether the model is being trained?",
        page=page(
            "A layer knows its mode, a function must be told. Every prediction comes out differently.",
            "print((mha(q, k, v, None) - mha(q, k, v, None)).abs().max())",
        ),
    ),
    mistake(
        "mha-keeps-dropped-weights",
        of=OF,
        kind="policy",
        breaks=("weights",),
        swap=in_place_of(
            ATTEND,
            ATTEND,
            "drop, weights = self.attention.dropout, self.attention.attention_weights",
            "self.attention.attention_weights = drop(weights)",
            "heads = torch.bmm(self.attention.attention_weights, values)",
        ),
        says="the weights that are kept are those after dropout",
        asks="Should a picture of the weights show holes that are there by chance?",
        page=page(
            "The result is right. A picture drawn in training shows rows that do not sum to one.",
            "mha.train()(q, k, v, None)",
            "print(mha.attention.attention_weights.sum(dim=-1))",
        ),
    ),
]


def half_mended(id, of, swap, says):
    """A repair or a test that still has a fault. It must fail; nothing is said about it to the student."""
    return mistake(id, of=of, swap=swap, says=says, asks="Does each promise of the story hold now?")


ALL_THROUGH_WQ = {"self.W_k(keys)": "self.W_q(keys)", "self.W_v(values)": "self.W_q(values)"}
MISSPELT = {"if valid_lens is not None": "if vaild_lens is not None", "repeat_interleave(valid_lens": "repeat_interleave(vaild_lens"}
MASKED = 'scores.masked_fill(future, float("-inf"))'
TANGLED_SIZE = {"torch.ones(steps, steps,": "torch.ones(self.d_head, self.d_head,"}
TANGLED_SCORES = {"q @ k.transpose(2, 3) / math": "q @ k.transpose(2, 3) @ q / math"}
TANGLED_PRODUCT = {MASKED: 'scores + future * float("-inf")'}
MERGED_BY_RESHAPE = {"heads.transpose(1, 2).reshape": "heads.reshape"}
DROPPED_COMES_BACK = {"torch.softmax(": "self.dropout(torch.softmax(", "dim=-1)  #": "dim=-1))  #", "self.dropout(attention) @": "attention @"}

REPAIRS = [
    half_mended("mixedup-only-renamed", "MixedUpAttention", {**ALL_THROUGH_WQ, **MISSPELT, "output": "out"}, "every fault is still there"),
    half_mended("mixedup-keys-left", "MixedUpAttention", {"self.W_k(keys)": "self.W_q(keys)"}, "keys still go through the query layer"),
    half_mended("mixedup-values-left", "MixedUpAttention", {"self.W_v(values)": "self.W_q(values)"}, "values still go through the query layer"),
    half_mended("mixedup-layers-left", "MixedUpAttention", ALL_THROUGH_WQ, "all three still go through the query layer"),
    half_mended("mixedup-values-through-wk", "MixedUpAttention", {"self.W_v(values)": "self.W_k(values)"}, "values go through the key layer"),
    half_mended("mixedup-layers-exchanged", "MixedUpAttention", {"self.W_k(keys)": "self.W_v(keys)", "self.W_v(values)": "self.W_k(values)"}, "two layers have changed places"),
    half_mended("mixedup-name-left", "MixedUpAttention", MISSPELT, "the name is still misspelt"),
    half_mended("mixedup-mask-gone", "MixedUpAttention", {"keys, values, valid_lens)": "keys, values, None)"}, "the lengths are left out"),
    half_mended("mixedup-none-made", "MixedUpAttention", {**MISSPELT, "        queries = tr": "        vaild_lens = valid_lens = None\n        queries = tr"}, "the misspelt name is always None"),
    half_mended("mixedup-lens-tiled", "MixedUpAttention", {"torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)": "torch.cat([valid_lens] * self.num_heads)"}, "the lengths are repeated as a whole"),
    half_mended("mixedup-no-axis", "MixedUpAttention", {", dim=0)": ")"}, "the lengths are repeated on all axes"),
    half_mended("tangled-only-renamed", "TangledSelfAttention", {**TANGLED_SCORES, **TANGLED_SIZE, **TANGLED_PRODUCT, "future": "later"}, "every fault is still there"),
    half_mended("tangled-scores-left", "TangledSelfAttention", TANGLED_SCORES, "the scores are multiplied by the queries once more"),
    half_mended("tangled-size-left", "TangledSelfAttention", TANGLED_SIZE, "the mask has the size of a head"),
    half_mended("tangled-product-left", "TangledSelfAttention", TANGLED_PRODUCT, "nothing times infinity is not a number"),
    half_mended("tangled-mask-left", "TangledSelfAttention", {**TANGLED_SIZE, **TANGLED_PRODUCT}, "only the scores are mended"),
    half_mended("tangled-mask-gone", "TangledSelfAttention", {MASKED: "scores"}, "the mask was taken out"),
    half_mended("tangled-mask-added", "TangledSelfAttention", {MASKED: "scores - future.to(scores)"}, "later steps lose a score of one"),
    half_mended("tangled-mask-of-zero", "TangledSelfAttention", {MASKED: "scores.masked_fill(future, 0.0)"}, "later steps have a score of zero"),
    half_mended("tangled-past-hidden", "TangledSelfAttention", {".triu(diagonal=1)": ".tril(diagonal=-1)"}, "the past is hidden"),
    half_mended("tangled-next-seen", "TangledSelfAttention", {"diagonal=1": "diagonal=2"}, "the next step is seen"),
    half_mended("tangled-self-hidden", "TangledSelfAttention", {"diagonal=1": "diagonal=0", 'float("-inf")': "-1e9"}, "no step sees itself"),
    half_mended("tangled-scale-gone", "TangledSelfAttention", {" / math.sqrt(self.d_head)": ""}, "the scores are not scaled"),
    half_mended("tangled-merge", "TangledSelfAttention", MERGED_BY_RESHAPE, "the heads are joined in memory as it lies"),
    half_mended("tangled-softmax-axis", "TangledSelfAttention", {"dim=-1)": "dim=-2)"}, "the softmax runs over the queries"),
    half_mended("transparent-only-renamed", "TransparentSelfAttention", {MASKED: "scores", **DROPPED_COMES_BACK, **MERGED_BY_RESHAPE, "future": "later"}, "every fault is still there"),
    half_mended("transparent-mask-left", "TransparentSelfAttention", {MASKED: "scores"}, "there is no mask"),
    half_mended("transparent-dropped-left", "TransparentSelfAttention", DROPPED_COMES_BACK, "the weights come back dropped"),
    half_mended("transparent-merge-left", "TransparentSelfAttention", MERGED_BY_RESHAPE, "the heads are joined in memory as it lies"),
    half_mended("transparent-no-dropout", "TransparentSelfAttention", {"self.dropout(attention) @": "attention @"}, "nothing is dropped"),
    half_mended("transparent-dropout-on-output", "TransparentSelfAttention", {"self.dropout(attention) @ v": "self.dropout(attention @ v)"}, "the heads are dropped, not the weights"),
    half_mended("transparent-dropout-before", "TransparentSelfAttention", {"torch.softmax(scores.": "torch.softmax(self.dropout(scores).", "self.dropout(attention) @": "attention @"}, "the scores are dropped"),
    half_mended("transparent-scores-back", "TransparentSelfAttention", {"reshape(x.shape)), attention": "reshape(x.shape)), scores"}, "the scores come back"),
    half_mended("transparent-order", "TransparentSelfAttention", {"return self.fc_out(heads.transpose(1, 2).reshape(x.shape)), attention": "return attention, self.fc_out(heads.transpose(1, 2).reshape(x.shape))"}, "the weights come first"),
    half_mended("transparent-averaged", "TransparentSelfAttention", {"reshape(x.shape)), attention": "reshape(x.shape)), attention.mean(1)"}, "the heads' weights are averaged"),
    half_mended("transparent-next-seen", "TransparentSelfAttention", {"diagonal=1": "diagonal=2"}, "the next step is seen"),
    half_mended("transparent-self-hidden", "TransparentSelfAttention", {"diagonal=1": "diagonal=0", 'float("-inf")': "-1e9"}, "no step sees itself"),
    half_mended("transparent-masked-late", "TransparentSelfAttention", {f"torch.softmax({MASKED}, dim=-1)": "torch.softmax(scores, dim=-1).masked_fill(future, 0.0)"}, "the future loses its weight after the softmax"),
]

TESTS = [
    half_mended("catches-mixed-up-only-crashes", "catches_mixed_up", {"any(gradient is None for gradient in gradients)": "False"}, "layers without a part are not seen"),
    half_mended("catches-mixed-up-no-guard", "catches_mixed_up", {"except Exception": "except ZeroDivisionError"}, "an error of the module is an error of the test"),
    half_mended("catches-mixed-up-one-size", "catches_mixed_up", {"randn(2, 5, key_size)": "randn(2, 5, query_size)"}, "sound modules of several sizes are rejected"),
    half_mended("catches-mixed-up-in-training", "catches_mixed_up", {"attention.eval()": "attention.train()"}, "dropout is taken for a fault"),
    half_mended("catches-tangled-no-guard", "catches_tangled", {"except Exception": "except ZeroDivisionError"}, "an error of the module is an error of the test"),
    half_mended("catches-tangled-too-strict", "catches_tangled", {"past = steps // 2": "past = steps // 2 + 1", "[:, past:]": "[:, past - 1:]"}, "sound modules are rejected"),
    half_mended("catches-tangled-all-alike", "catches_tangled", {"[:, :past]": ""}, "steps that may change are held against each other"),
    half_mended("catches-tangled-inverted", "catches_tangled", {"return True": "return bool(0)", "return False": "return True"}, "the answer is turned round"),
    half_mended("catches-transparent-in-training", "catches_transparent", {"attention.eval()": "attention.train()"}, "dropout is taken for a fault"),
    half_mended("catches-transparent-heads-late", "catches_transparent", {"torch.cat(heads, dim=-1)": "torch.stack(heads, dim=-1).flatten(2)"}, "sound modules are rejected"),
    half_mended("catches-transparent-no-output-layer", "catches_transparent", {"attention.fc_out(torch.cat(heads, dim=-1))": "torch.cat(heads, dim=-1)"}, "sound modules are rejected"),
    half_mended("catches-transparent-inverted", "catches_transparent", {"return True": "return bool(0)", "return not": "return"}, "the answer is turned round"),
]


def on_cpu(id, of, swap, says, asks, page, seen=""):
    """Right on the CPU; on an accelerator two devices meet."""
    return mistake(id, of=of, kind="policy", breaks=("device",), swap=swap, says=says, asks=asks, page=page, seen=seen)


DEVICE = [
    on_cpu(
        'mha-lens-through-a-list',
        'MultiHeadAttention',
        {
            'valid_lens = valid_lens.repeat_interleave(': 'valid_lens = torch.tensor(valid_lens.tolist()).repeat_interleave(',
        },
        'the lengths go through a Python list and come back on the CPU',
        'On which device are the lengths before that line, and after it?',
        """
What was not told where to live lives on the CPU. The mask compares these lengths with steps that lie on the
accelerator, and the comparison raises an error. On a machine without one nothing shows.
""",
    ),
    on_cpu(
        'tangled-mask-on-the-cpu',
        'TangledSelfAttention',
        {
            ', device=x.device': '',
        },
        'the causal mask is made on the CPU, wherever the input lives',
        'What happens when the input lies on a graphics card?',
        """
What was not told where to live lives on the CPU. The mask meets scores that lie on the
accelerator, and that raises an error. On a machine without one nothing shows.
""",
    ),
    on_cpu(
        'transparent-mask-on-the-cpu',
        'TransparentSelfAttention',
        {
            ', device=x.device': '',
        },
        'the causal mask is made on the CPU, wherever the input lives',
        'What happens when the input lies on a graphics card?',
        """
What was not told where to live lives on the CPU. The mask meets scores that lie on the
accelerator, and that raises an error. On a machine without one nothing shows.
""",
    ),
]


def in_other_dtypes(id, of, swap, says, asks, page, seen=""):
    """Right in float32; in another dtype it stops, or comes back in the wrong one."""
    return mistake(id, of=of, kind="policy", breaks=("precision",), swap=swap, says=says, asks=asks, page=page, seen=seen)


PRECISION = [
    in_other_dtypes(
        "mha-fill-minus-1e9",
        "MultiHeadAttention",
        in_place_of(
            ATTEND,
            "scores = queries @ keys.transpose(1, 2) / math.sqrt(queries.shape[-1])",
            "if valid_lens is not None:",
            "    lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens",
            "    hidden = torch.arange(keys.shape[1], device=keys.device) >= lens[:, :, None]",
            "    scores = scores.masked_fill(hidden, -1e9)",
            "self.attention.attention_weights = scores.softmax(dim=-1)",
            "heads = self.attention.dropout(self.attention.attention_weights) @ values",
        ),
        "hidden scores are filled with a number that is too large for half precision",
        "Which is the lowest number that the dtype of the scores can hold?",
        """
In `float32` the number does its work. Half precision ends at 65504, so PyTorch refuses to write it there. The lowest
number that a dtype holds is `torch.finfo(scores.dtype).min`, and minus infinity exists in all of them.

    >>> sizes = dict(key_size=2, query_size=2, value_size=2, num_hiddens=4)
    >>> attention = MultiHeadAttention(**sizes, num_heads=2, dropout=0.0).half()
    >>> X = torch.ones(1, 3, 2).half()
    >>> attention(X, X, X, torch.tensor([2])).dtype

It should go through, and what comes out should be `torch.float16`, as what went in was.
""",
    ),
    in_other_dtypes(
        "mha-joined-into-float32",
        "MultiHeadAttention",
        {
            JOINED: "transpose_output(heads, self.num_heads).float()",
        },
        "the joined heads are in single precision when they meet the output layer, whatever dtype its weights have",
        "In which dtype are the weights of the output layer?",
        """
Attention in `float32` is wise in half precision. A layer wants its input in the dtype of its weights, though: what was
widened inside must be narrowed again before the output layer, or the model stops there.

    >>> sizes = dict(key_size=2, query_size=2, value_size=2, num_hiddens=4)
    >>> attention = MultiHeadAttention(**sizes, num_heads=2, dropout=0.0).half()
    >>> X = torch.ones(1, 3, 2).half()
    >>> attention(X, X, X, torch.tensor([2])).dtype

It should go through, and what comes out should be `torch.float16`, as what went in was.
""",
    ),
]

MISTAKES = [*PROJECTIONS, *SCORES, *HEADS, *LENGTHS, *FLOW, *DROPOUT, *REPAIRS, *TESTS, *DEVICE, *PRECISION]
