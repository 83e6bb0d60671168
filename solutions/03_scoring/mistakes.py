"""Mistakes seen in additive and in dot-product attention."""

from grader.authoring.bank import mistake

TRY_ADDITIVE = """

    >>> sizes = dict(key_size=4, query_size=5, num_hiddens=6)
    >>> attention = AdditiveAttention(**sizes, dropout=0.0)
    >>> queries = torch.randn(2, 3, 5)
    >>> keys, values = torch.randn(2, 7, 4), torch.randn(2, 7, 8)
    >>> attention(queries, keys, values).shape
    >>> attention.attention_weights.sum(-1)

The result should be `(2, 3, 8)`, and every sum 1.
"""

TRY_DOT = """

    >>> attention = DotProductAttention(dropout=0.0)
    >>> queries = torch.randn(2, 3, 4)
    >>> keys, values = torch.randn(2, 7, 4), torch.randn(2, 7, 8)
    >>> attention(queries, keys, values).shape
    >>> attention.attention_weights.sum(-1)

The result should be `(2, 3, 8)`, and every sum 1.
"""

TRY_SCALE = """

    >>> attention = DotProductAttention(dropout=0.0)
    >>> keys = torch.tensor([[[1., 1, 0, 0], [0, 0, 0, 0]]])
    >>> attention(torch.ones(1, 1, 4), keys, torch.tensor([[[10.], [0]]]))

The lesson does this by hand and gets 7.31.
"""

TRY_LONG = """

    >>> attention = DotProductAttention(dropout=0.0)
    >>> keys = torch.tensor([[[1., 1, 1, 1], [3, 3, 3, 3]]])
    >>> attention(torch.ones(1, 1, 4), keys, torch.tensor([[[0.], [10]]]))

Both keys point where the query points, and the second is longer. Its scores are 2 and 6, so 9.82 should come out.
"""

TRY_QUERIES = """

    >>> sizes = dict(key_size=4, query_size=4, num_hiddens=6)
    >>> attention = AdditiveAttention(**sizes, dropout=0.0)
    >>> queries = torch.randn(1, 3, 4)
    >>> keys, values = torch.randn(1, 5, 4), torch.randn(1, 5, 2)
    >>> attention(queries, keys, values)
    >>> attention.attention_weights

The three rows belong to three different queries. Should they be alike?
"""

TRY_BEND = """

    >>> sizes = dict(key_size=1, query_size=1, num_hiddens=2)
    >>> attention = AdditiveAttention(**sizes, dropout=0.0)
    >>> for p in attention.parameters():
    ...     p.data.fill_(1.0)
    >>> keys = torch.tensor([[[-3.0], [0.0], [1.0]]])
    >>> attention(torch.ones(1, 1, 1), keys, torch.ones(1, 3, 1))
    >>> attention.attention_weights

All layers add up what they get, so a score is twice the tanh of 1 and the key: -1.928, 1.523 and 1.928. The weights
should be 0.0125, 0.3951 and 0.5924.
"""

TRY_LEARNING = """

    >>> sizes = dict(key_size=4, query_size=4, num_hiddens=6)
    >>> attention = AdditiveAttention(**sizes, dropout=0.0)
    >>> queries = torch.randn(1, 3, 4)
    >>> keys, values = torch.randn(1, 5, 4), torch.randn(1, 5, 2)
    >>> attention(queries, keys, values).square().sum().backward()
    >>> [name for name, p in attention.named_parameters() if p.grad is None]

Every layer takes part, so the list should be empty.
"""

TRY_TRAINING = """

{made}
    >>> ones = torch.ones(1, 6, 4)
    >>> attention(ones, ones, ones), attention.attention_weights

All weights are alike here, so each result is the sum of the weights that were not dropped. The sums should
differ from row to row and be the same along a row, and the kept weights should all be one sixth.
"""

TRAIN_DOT = TRY_TRAINING.format(made="    >>> attention = DotProductAttention(dropout=0.5).train()")
TRAIN_ADDITIVE = TRY_TRAINING.format(
    made="    >>> sizes = dict(key_size=4, query_size=4, num_hiddens=6)\n"
    "    >>> attention = AdditiveAttention(**sizes, dropout=0.5).train()"
)

MADE_ADDITIVE = """

    >>> sizes = dict(key_size=4, query_size=4, num_hiddens=6)
    >>> attention = AdditiveAttention(**sizes, dropout=0.0)
    >>> queries = torch.randn(2, 3, 4)
    >>> keys, values = torch.randn(2, 7, 4), torch.randn(2, 7, 8)
"""

MADE_DOT = """

    >>> attention = DotProductAttention(dropout=0.0)
    >>> queries = torch.randn(2, 3, 4)
    >>> keys, values = torch.randn(2, 7, 4), torch.randn(2, 7, 8)
"""

TRY_LENS = """\
    >>> attention(queries, keys, values, torch.tensor([1, 3]))
    >>> attention.attention_weights

Columns beyond each length should be exactly 0.
"""

TRY_ALL_SEEN = """\
    >>> attention(queries, keys, values)
    >>> attention.attention_weights

No lengths are given, so no weight should be exactly 0.
"""

TRY_MEAN = """\
    >>> ones = torch.ones(1, 1000, 4)
    >>> result = attention.train()(ones, ones, ones)
    >>> result.mean(), result.std()

Every result is the sum of a thousand equal weights, of which half were dropped and the others doubled: it should be
1 in the mean, and not always, with a spread of about 0.03.
"""

MADE_TO_DROP = {
    "DotProductAttention": """

    >>> attention = DotProductAttention(dropout=0.5)
""",
    "AdditiveAttention": """

    >>> sizes = dict(key_size=4, query_size=4, num_hiddens=6)
    >>> attention = AdditiveAttention(**sizes, dropout=0.5)
""",
}

# Pieces that stand in both references.
WEIGHTS = "self.attention_weights = masked_softmax(scores, valid_lens)"
RESULT = "self.dropout(self.attention_weights) @ values"
HIDDEN = "scores.masked_fill(masked_softmax(scores, valid_lens) == 0, -1e9)"


def frame_mistakes(prefix, of, training):
    """Mistakes in what the two attentions share: mask, softmax, dropout, average, what is kept."""
    made = MADE_DOT if prefix == "dot" else MADE_ADDITIVE
    return [
        mistake(
            f"{prefix}-lens-ignored",
            of=of,
            swap={WEIGHTS: "self.attention_weights = masked_softmax(scores, None)"},
            says="the lengths are not used: queries look at padded keys too",
            asks="Which line of yours would run differently if the lengths were others?",
            page="""
The lengths come in and stop there. Nothing crashes, and without padding all is right. In a batch of sentences
of different length the short ones are mixed with their padding, and the same sentence gives another answer in
another batch.
"""
            + made
            + TRY_LENS,
        ),
        mistake(
            f"{prefix}-query-lens-ignored",
            of=of,
            swap={
                WEIGHTS: (
                    "if valid_lens is not None and valid_lens.dim() == 2:\n            valid_lens = None\n        " + WEIGHTS
                )
            },
            says="with one length a query, nothing is masked",
            asks="In how many shapes may the lengths come, and what is the second one good for?",
            page="""
Lengths per sequence work. Lengths per query, which make the causal mask of a decoder, are let fall, so every
step sees those behind it: a perfect training loss and useless predictions.
"""
            + made
            + TRY_LENS.replace("[1, 3]", "[[1, 2, 3], [3, 2, 1]]"),
        ),
        mistake(
            f"{prefix}-first-query-lens",
            of=of,
            swap={
                WEIGHTS: (
                    "if valid_lens is not None and valid_lens.dim() == 2:\n            valid_lens = valid_lens[:, 0]\n        "
                    + WEIGHTS
                )
            },
            says="with one length a query, the length of the first query is used for all",
            asks="If the first query may see one key, how many may the last one see in your version?",
            page="""
Where there is one length a query, only the first of each sequence arrives at the mask. In a decoder, whose
first step may see a single key, no step ever sees more than that.
"""
            + made
            + TRY_LENS.replace("[1, 3]", "[[1, 2, 3], [3, 2, 1]]"),
        ),
        mistake(
            f"{prefix}-softmax-over-queries",
            of=of,
            swap={WEIGHTS: f"self.attention_weights = {HIDDEN}.softmax(dim=1)"},
            says="the softmax runs over the queries instead of the keys",
            asks="Add up one row of your weights. Does every query share out exactly one whole?",
            page="""
Each key shares itself out among the queries. Some queries get several times the values, others next to
nothing, and a query's answer depends on which other queries are asked along with it.
"""
            + (TRY_DOT if prefix == "dot" else TRY_ADDITIVE),
        ),
        mistake(
            f"{prefix}-no-softmax",
            of=of,
            swap={WEIGHTS: f"self.attention_weights = {HIDDEN}.relu()"},
            says="negative scores are cut off, and no softmax makes the scores into shares",
            asks="What do the weights of one query add up to?",
            page="""
Cutting off negative scores makes them look like weights, but nobody divides by their sum. The size of the
result grows with the number of keys, and a query that fits nothing gets nothing at all.
"""
            + (TRY_DOT if prefix == "dot" else TRY_ADDITIVE),
        ),
        mistake(
            f"{prefix}-averages-keys",
            of=of,
            swap={RESULT: "self.dropout(self.attention_weights) @ keys"},
            says="the keys are averaged instead of the values",
            asks="What are keys for, and what are values for?",
            page="""
The keys tell where to look, the values what to take from there. In self-attention, where both come from the
same place, a model with this mistake still learns something, and only loses a third of its layers.
"""
            + (TRY_DOT if prefix == "dot" else TRY_ADDITIVE),
        ),
        mistake(
            f"{prefix}-plain-average",
            of=of,
            swap={RESULT: "self.dropout(self.attention_weights.mean(dim=1, keepdim=True).expand_as(scores)) @ values"},
            says="the weights of all queries are averaged, so every query gets the same answer",
            asks="Ask two very different queries. Do the two rows of your result differ?",
            page="""
Somewhere an average over the queries was taken. The kept weights look fine; the results of all queries of a
sequence are one and the same vector.
"""
            + made
            + """\
    >>> attention(queries, keys, values)

Three different queries were asked of each sequence. Are its three rows alike?
""",
        ),
        mistake(
            f"{prefix}-no-dropout",
            of=of,
            swap={RESULT: "self.attention_weights @ values"},
            says="nothing is dropped in training",
            asks="Who calls the dropout layer that you built?",
            page="""
Building a layer and calling it are two things. In evaluation the two versions agree to the last digit; in
training the model misses what was to keep it from leaning on single keys, and overfits earlier.
"""
            + training,
        ),
        mistake(
            f"{prefix}-dropout-on-result",
            of=of,
            swap={RESULT: "self.dropout(self.attention_weights @ values)"},
            says="dropout acts on the features of the result instead of on the weights",
            asks="What should a query now and then do without: some of the keys, or some of its features?",
            page="""
Dropping a weight hides one key from one query, with all its features. Dropping in the result punches holes
into single features instead, and every key always takes part. In evaluation both are the same.
"""
            + training,
        ),
        mistake(
            f"{prefix}-dropout-on-scores",
            of=of,
            swap={WEIGHTS: WEIGHTS.replace("(scores,", "(self.dropout(scores),"), RESULT: "self.attention_weights @ values"},
            says="dropout acts before the softmax, on the scores or on what they are made of",
            asks="What weight does a key get whose score was set to zero?",
            page="""
A score of zero is not a weight of zero: it is a middling score. The softmax behind it makes every row sum to
one again, so no key is really dropped; the scores are only made noisy.
"""
            + training,
        ),
        mistake(
            f"{prefix}-dropout-always",
            of=of,
            swap={
                "self.dropout = nn.Dropout(dropout)": "self.rate = dropout",
                RESULT: "nn.functional.dropout(self.attention_weights, self.rate) @ values",
            },
            says="weights are dropped in evaluation as well",
            asks="How does your dropout get to know whether the model is training?",
            page="""
The function form of dropout knows nothing of the module around it and drops unless it is told not to. Every
prediction is then a throw of the dice: call it twice and compare.
"""
            + made.replace("0.0", "0.5")
            + """\
    >>> attention.eval();
    >>> attention(queries, keys, values) == attention(queries, keys, values)
""",
        ),
        mistake(
            f"{prefix}-dropout-not-scaled-up",
            of=of,
            swap={RESULT: "(self.dropout(self.attention_weights) * (1 - self.dropout.p if self.training else 1)) @ values"},
            says="weights are dropped in training, but those that stay are not made larger to make up for it",
            asks="If half of the weights are dropped, what happens to the average of the result?",
            page="""
Without the scaling, results are smaller in training than in evaluation. The layers behind get used to the
small ones and meet the large ones when it counts.
"""
            + MADE_TO_DROP[of]
            + TRY_MEAN,
        ),
        mistake(
            f"{prefix}-dropout-shared-out-again",
            of=of,
            swap={
                RESULT: (
                    "(lambda w: w / w.sum(-1, keepdim=True).clamp(min=1e-9))(self.dropout(self.attention_weights)) @ values"
                )
            },
            says="after dropout the weights are divided by their sum again",
            asks="What should a row of weights sum to in training, always one, or one on average?",
            page="""
It looks like tidying up. But then the keys that stay share out the whole each time, the scaling that dropout
does itself is undone, and a row with everything dropped has nothing to divide by.
"""
            + MADE_TO_DROP[of]
            + TRY_MEAN,
        ),
        mistake(
            f"{prefix}-dropout-rate-fixed",
            of=of,
            swap={"nn.Dropout(dropout)": "nn.Dropout(min(dropout, 0.1))"},
            says="a fixed rate of dropout is used instead of the one asked for",
            asks="Where in your code does the number that the caller chose arrive?",
            page="""
The argument comes in and is not handed on. Tuning the rate then changes nothing, and a rate of 0 still drops.
"""
            + made.replace("0.0", "0.7")
            + """\
    >>> attention.dropout

The rate should be 0.7, as asked for.
""",
        ),
        mistake(
            f"{prefix}-keeps-dropped-weights",
            of=of,
            swap={
                WEIGHTS: "self.attention_weights = self.dropout(masked_softmax(scores, valid_lens))",
                RESULT: "self.attention_weights @ values",
            },
            says="the weights that are kept are those after dropout",
            asks="When you look at the weights in training, should their rows sum to one?",
            page="""
The result is right in every respect. Whoever looks at the kept weights while the model trains sees holes in
them that say nothing about the model, and rows that do not sum to one.
"""
            + training,
        ),
        mistake(
            f"{prefix}-keeps-no-weights",
            of=of,
            swap={WEIGHTS: WEIGHTS.replace("self.", ""), RESULT: RESULT.replace("self.attention", "attention")},
            says="the weights are not kept for looking at",
            asks="After the call, how would somebody draw a picture of where each query looked?",
            page="""
The result is right. The weights are gone as soon as the call is over, and with them the one thing about
attention that a person can look at.
"""
            + made
            + """\
    >>> attention(queries, keys, values);
    >>> attention.attention_weights
""",
        ),
        mistake(
            f"{prefix}-keeps-scores",
            of=of,
            swap={RESULT: RESULT.replace("self.attention_weights", "masked_softmax(scores, valid_lens)"), WEIGHTS: "self.attention_weights = scores"},
            says="the scores are kept instead of the weights",
            asks="Can a weight be negative, and what do the kept numbers of a row add up to?",
            page="""
What is kept are the scores before mask and softmax. As a picture they look much like weights, but padding
shows up in them, and no row sums to one.
"""
            + made
            + """\
    >>> attention(queries, keys, values);
    >>> attention.attention_weights.sum(-1)
""",
        ),
        mistake(
            f"{prefix}-scores-detached",
            of=of,
            swap={WEIGHTS: WEIGHTS.replace("(scores,", "(scores.detach(),")},
            says="the result is right, but no gradient flows back through the weights",
            asks="How are the layers that make queries and keys to learn where to look?",
            page="""
Only the values learn. Queries and keys stay as they were born, so the model looks in random places for ever
and makes the best of it; the loss goes down, only not far.
"""
            + made
            + """\
    >>> queries.requires_grad_();
    >>> attention(queries, keys, values).square().sum().backward()
    >>> queries.grad
""",
        ),
        mistake(
            f"{prefix}-result-detached",
            of=of,
            swap={RESULT: f"({RESULT}).detach()"},
            says="the result is right, but no gradient flows back from it at all",
            asks="What is the result still connected to when the loss is computed?",
            page="""
Numbers without a history: a step under `no_grad`, a `.detach()` or a `.data` at the end. Everything before the
attention stops learning.
"""
            + made
            + """\
    >>> attention(queries.requires_grad_(), keys, values).requires_grad

This should be `True`.
""",
        ),
        mistake(
            f"{prefix}-values-detached",
            of=of,
            swap={RESULT: f"{RESULT}.detach()"},
            says="the result is right, but no gradient flows back to the values",
            asks="By which two ways does the loss reach what stands before the attention, and which one is cut?",
            page="""
Where to look is learned, what to take from there is not: the layer that makes the values stays as it was born.
"""
            + made
            + """\
    >>> values.requires_grad_();
    >>> attention(queries, keys, values).sum().backward()
    >>> values.grad
""",
        ),
        mistake(
            f"{prefix}-returns-pair",
            of=of,
            swap={f"return {RESULT}": f"return {RESULT}, self.attention_weights"},
            says="the weights come back together with the result, as a pair",
            asks="Where should the weights be found after the call?",
            page="""
Many libraries return both, and it is a fine custom. Here the weights are kept on the module, and whoever calls
it goes on computing with what comes back.
"""
            + made
            + """\
    >>> type(attention(queries, keys, values))
""",
            kind="different",
        ),
        mistake(
            f"{prefix}-also-causal",
            of=of,
            swap={
                WEIGHTS: (
                    "ahead = torch.ones_like(scores[0]).triu(1).bool()\n        "
                    + WEIGHTS.replace("(scores,", "(scores.masked_fill(ahead, -1e30),")
                )
            },
            says="every query is kept from looking at keys behind its own position",
            asks="Who decides whether a query may look ahead: this module, or the lengths it is given?",
            page="""
A decoder needs this in its self-attention and asks for it through lengths per query. Built in here, it also
blinds the encoder, and in cross-attention it compares positions of two different sentences.
"""
            + made
            + TRY_ALL_SEEN,
        ),
    ]


ADDITIVE = [
    mistake(
        "additive-no-tanh",
        of="AdditiveAttention",
        swap={"torch.tanh(queries + keys)": "queries + keys"},
        says="the sum of query and key is not bent, so every query gets the same weights",
        asks="If the score is one part from the query plus one part from the key, which part does a row's softmax not see?",
        page="""
Without the bend the network has only one layer. The query adds the same number to all scores of its row, and
a softmax does not see that: all queries look at the same keys.
"""
        + TRY_QUERIES,
    ),
    mistake(
        "additive-bent-apart",
        of="AdditiveAttention",
        swap={"torch.tanh(queries + keys)": "torch.tanh(queries) + torch.tanh(keys)"},
        says="query and key do not meet before they are bent, so every query gets the weights of the keys alone",
        asks="Can the query still change which key is best, if it is bent before it meets the key?",
        page="""
The bend must come after query and key have met. Bent apart and added afterwards, their scores are again one
part from each, and the query's part is the same for all keys. The same comes out when the query is left out
of the scores altogether: a learned average, but no attention.
"""
        + TRY_QUERIES,
    ),
    mistake(
        "additive-tanh-too-late",
        of="AdditiveAttention",
        swap={"torch.tanh(queries + keys)": "queries + keys", "self.w_v(features).squeeze(-1)": "torch.tanh(self.w_v(features).squeeze(-1))"},
        says="the score is bent instead of the hidden features",
        asks="How many numbers of each pair should go through the bend: one, or one for every hidden feature?",
        page="""
Bending one number at the end squeezes all scores between -1 and 1, and the hidden layer is a plain linear map
again. No key can be much preferred to another.
"""
        + TRY_BEND,
    ),
    mistake(
        "additive-relu",
        of="AdditiveAttention",
        kind="different",
        swap={"torch.tanh(": "torch.relu("},
        says="a ReLU bends the sums instead of a tanh",
        asks="Which function does the formula of Bahdanau and others bend with?",
        page="""
Any bend makes a network of it, and a ReLU learns as well. Weights trained with a tanh do not fit it.
"""
        + TRY_BEND,
    ),
    mistake(
        "additive-sigmoid",
        of="AdditiveAttention",
        kind="different",
        swap={"torch.tanh(": "torch.sigmoid("},
        says="a sigmoid bends the sums instead of a tanh",
        asks="Which function does the formula of Bahdanau and others bend with?",
        page="""
A sigmoid is a tanh moved and squeezed, so the network can learn the same scores with other weights. With
given weights they differ: the scores come out half as far apart, and taken at half the slope.
"""
        + TRY_BEND,
    ),
    mistake(
        "additive-axes-exchanged",
        of="AdditiveAttention",
        swap={
            "self.W_q(queries)[:, :, None, :]": "self.W_q(queries)[:, None, :, :]",
            "self.W_k(keys)[:, None, :, :]": "self.W_k(keys)[:, :, None, :]",
        },
        says="queries and keys have changed places in the table of scores: keys down the side, queries along the top",
        asks="Which two sizes has your table of scores, and in which order should they stand?",
        page="""
The new axes were put in at each other's place. Scores come out with keys as rows, so that the softmax runs
over the queries and the product with the values does not fit. With as many queries as keys it all fits, and
is wrong.
"""
        + TRY_ADDITIVE,
    ),
    mistake(
        "additive-squeeze-everything",
        of="AdditiveAttention",
        swap={".squeeze(-1)": ".squeeze()"},
        says="all axes of size one are removed, not only the last: a batch of one loses its batch axis",
        asks="What shape have your scores for one sequence and one query?",
        page="""
With larger sizes nothing happens. When a model decodes, it asks one query of one sentence, and suddenly axes
are missing that the next lines count on.

    >>> sizes = dict(key_size=4, query_size=4, num_hiddens=6)
    >>> attention = AdditiveAttention(**sizes, dropout=0.0)
    >>> query = torch.randn(1, 1, 4)
    >>> keys, values = torch.randn(1, 5, 4), torch.randn(1, 5, 2)
    >>> attention(query, keys, values).shape

One query of one sentence: the shape should be `(1, 1, 2)`.
""",
    ),
    mistake(
        "additive-sizes-exchanged",
        of="AdditiveAttention",
        swap={
            "nn.Linear(key_size, num_hiddens": "nn.Linear(size_of_queries, num_hiddens",
            "nn.Linear(query_size, num_hiddens": "nn.Linear(key_size, num_hiddens",
            "super().__init__()": "super().__init__()\n        size_of_queries = query_size",
        },
        says="the layer for the keys was built with the size of the queries, and the other way round",
        asks="Which layer will meet vectors of the size of a key?",
        page="""
When queries and keys are equally long nobody sees it, and they often are. With two sizes, the first product
does not fit.
"""
        + TRY_ADDITIVE,
    ),
    mistake(
        "additive-layers-exchanged",
        of="AdditiveAttention",
        swap={"self.W_q(queries)": "self.W_k(queries)", "self.W_k(keys)": "self.W_q(keys)"},
        says="the queries go through the layer of the keys, and the keys through that of the queries",
        asks="Which of the two layers is meant for what is asked, and which for what is compared with it?",
        page="""
Trained from the start, a model with exchanged names would be none the worse, as long as both sizes are equal.
With weights from elsewhere, or with two sizes, it fails.
"""
        + TRY_ADDITIVE,
    ),
    mistake(
        "additive-one-layer-for-both",
        of="AdditiveAttention",
        swap={"self.W_k(keys)": "self.W_q(keys)"},
        says="the keys go through the layer of the queries",
        asks="Is any of your layers never called?",
        page="""
One layer serves both, the other gets no gradient and never changes. A query then looks for keys like itself
in the same sense for both, and cannot learn to look for something else.
"""
        + TRY_ADDITIVE,
    ),
    mistake(
        "additive-with-biases",
        of="AdditiveAttention",
        kind="different",
        swap={"num_hiddens, bias=False)": "num_hiddens)"},
        says="the layers for queries and keys have biases, which were not asked for",
        asks="How many numbers does each of your layers learn, and how many should it?",
        page="""
One bias in front of the bend is a sensible part of a network (the original paper leaves it out of its
formula). Two are one too many, since they are added to each other. Here neither was asked for.

    >>> [name for name, _ in attention.named_parameters()]
""",
    ),
    mistake(
        "additive-multiplies",
        of="AdditiveAttention",
        kind="different",
        swap={"torch.tanh(queries + keys)": "torch.tanh(queries * keys)"},
        says="query and key are multiplied before they are bent, instead of added",
        asks="What has given additive attention its name?",
        page="""
Multiplying the features is a score of another family, halfway to the dot product. It can learn; it is not the
one of this exercise.
"""
        + TRY_BEND,
    ),
    mistake(
        "additive-features-summed",
        of="AdditiveAttention",
        swap={"self.w_v(features).squeeze(-1)": "features.sum(dim=-1)"},
        says="the hidden features are added up evenly, and the last layer is not used",
        asks="Which of your three layers gets no gradient?",
        page="""
The sum counts every hidden feature alike. The last layer is there to learn which of them speak for a fit and
which against it.
"""
        + TRY_LEARNING,
    ),
    mistake(
        "additive-mixes-projected-keys",
        of="AdditiveAttention",
        swap={RESULT: "self.dropout(self.attention_weights) @ keys[:, 0]"},
        says="the keys behind their layer are averaged instead of the values",
        asks="Does anything in your result change when the values change?",
        page="""
After the line that projects them, the name for the keys stands for something else. The result has
`num_hiddens` features, and the values are not used at all.
"""
        + TRY_ADDITIVE,
    ),
    mistake(
        "additive-also-scaled",
        of="AdditiveAttention",
        kind="different",
        swap={".squeeze(-1)": ".squeeze(-1) / math.sqrt(features.shape[-1])"},
        says="the scores are divided by the square root of the number of hidden features",
        asks="Which of the two attentions needs a scale, and what takes care of it in the other?",
        page="""
The scale belongs to the dot product, whose size grows with the number of features. Here the last layer learns
its own scale; dividing makes all weights more even than they should be with given weights.
"""
        + TRY_BEND,
    ),
    *frame_mistakes("additive", "AdditiveAttention", TRAIN_ADDITIVE),
]

DOT = [
    mistake(
        "dot-not-scaled",
        of="DotProductAttention",
        swap={" / math.sqrt(head_size)": ""},
        says="the scores are not scaled",
        asks="How large is a typical dot product of two vectors with 64 entries, and what does the softmax make of it?",
        page="""
With long vectors the scores are large, the softmax puts all weight on one key, and hardly any gradient is
left to change its mind. Small models get away with it, large ones do not start to learn.
"""
        + TRY_SCALE,
    ),
    mistake(
        "dot-scaled-up",
        of="DotProductAttention",
        swap={" / math.sqrt(head_size)": " * math.sqrt(head_size)"},
        says="the scores are multiplied by the scale instead of divided by it",
        asks="Should the scale make scores larger or smaller?",
        page="""
The wrong direction makes things worse than no scale at all: weights are all or nothing from the first step,
and the gradient is gone.
"""
        + TRY_SCALE,
    ),
    mistake(
        "dot-scaled-without-root",
        of="DotProductAttention",
        swap={"math.sqrt(head_size)": "head_size"},
        says="the scores are divided by the full size of a key instead of by its square root",
        asks="Variances add up, standard deviations do not. Which of the two is the size of a typical score?",
        page="""
Dividing by the full size makes scores shrink as vectors get longer, and all weights nearly even. The model
begins close to a plain average and has a long way to go. Scaling twice, once the queries and once the scores,
comes to the same.
"""
        + TRY_SCALE,
    ),
    mistake(
        "dot-scaled-by-number-of-keys",
        of="DotProductAttention",
        swap={"queries.shape[-1]": "keys.shape[1]"},
        says="the scale is taken from the number of keys instead of from their size",
        asks="How many products are added up in one score?",
        page="""
The same word then gets other weights in a longer sentence, for no reason. The axis that is summed over in a
dot product is the last one, and its length is what the scale is about.
"""
        + TRY_SCALE,
    ),
    mistake(
        "dot-scaled-by-number-of-queries",
        of="DotProductAttention",
        swap={"queries.shape[-1]": "queries.shape[1]"},
        says="the scale is taken from the number of queries instead of from their size",
        asks="Should the answer to one query change when another one is asked along with it?",
        page="""
When a decoder asks one query at a time there is no scale at all, and in training, with all steps at once,
there is a large one: the same weights behave like two different models.
"""
        + TRY_SCALE,
    ),
    mistake(
        "dot-scaled-by-values",
        of="DotProductAttention",
        swap={"queries.shape[-1]": "values.shape[-1]"},
        says="the scale is taken from the size of the values",
        asks="Which vectors take part in the dot product?",
        page="""
Values often have the size of the keys, and then nobody notices. The scale belongs to the dot product, and the
values have no part in that.
"""
        + TRY_SCALE,
    ),
    mistake(
        "dot-scaled-by-batch",
        of="DotProductAttention",
        swap={"queries.shape[-1]": "queries.shape[0]"},
        says="the scale is taken from the size of the batch",
        asks="Should the answer for a sentence change when more sentences are put into the batch?",
        page="""
The first axis is the batch. A model trained with this scale behaves differently for every batch size, most of
all when it is used on a single sentence.
"""
        + TRY_SCALE,
    ),
    mistake(
        "dot-scaled-after-softmax",
        of="DotProductAttention",
        swap={
            " / math.sqrt(head_size)": "",
            "masked_softmax(scores, valid_lens)": "masked_softmax(scores, valid_lens) / math.sqrt(head_size)",
        },
        says="the weights are scaled instead of the scores",
        asks="What should the weights of one query still add up to after every step?",
        page="""
The scale is there to keep the softmax from making up its mind too early. Behind the softmax it only makes the
result smaller, and rows no longer sum to one.
"""
        + TRY_DOT,
    ),
    mistake(
        "dot-scores-transposed",
        of="DotProductAttention",
        swap={"queries @ keys.transpose(1, 2)": "keys @ queries.transpose(1, 2)"},
        says="the table of scores lies on its side: keys down the side, queries along the top",
        asks="Which two sizes has your table of scores, and in which order should they stand?",
        page="""
With as many queries as keys everything fits, and each query uses the weights that belong to a key. With two
sizes the product with the values fails, which is the lucky case.
"""
        + TRY_DOT,
    ),
    mistake(
        "dot-keys-reshaped",
        of="DotProductAttention",
        swap={"keys.transpose(1, 2)": "keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1])"},
        says="the keys are cut up anew where their axes should change places",
        asks="Does reshaping a table of 2 rows and 3 columns into 3 rows and 2 columns turn it on its side?",
        page="""
The shape fits, the content does not: each column now holds pieces of several keys. Reshaping keeps the order
in which numbers lie, exchanging axes changes the order in which they are read.

    >>> attention = DotProductAttention(dropout=0.0)
    >>> keys = torch.tensor([[[0.0, 9], [9, 0], [0, 9]]])
    >>> values = torch.tensor([[[1.0], [2], [3]]])
    >>> attention(torch.tensor([[[9.0, 0]]]), keys, values)

The query points to the second key alone, so the second value, 2, should come out.
""",
    ),
    mistake(
        "dot-keys-ask",
        of="DotProductAttention",
        swap={"queries @ keys.transpose(1, 2)": "queries @ queries.transpose(1, 2)"},
        says="queries are compared with queries, and the keys are not used",
        asks="Does anything in your scores change when the keys change?",
        page="""
In self-attention queries and keys are near relatives, and this can go unnoticed there. With keys from another
sentence even the sizes do not fit.
"""
        + TRY_DOT,
    ),
    mistake(
        "dot-cosine",
        of="DotProductAttention",
        kind="different",
        swap={
            "queries @ keys.transpose(1, 2) / math.sqrt(head_size)": (
                "nn.functional.normalize(queries, dim=-1) @ nn.functional.normalize(keys, dim=-1).transpose(1, 2)"
            )
        },
        says="the scores are cosines: the lengths of queries and keys make no difference",
        asks="Should a key that is twice as long get another score?",
        page="""
Dividing by the lengths of both vectors keeps all scores between -1 and 1. Some models do so, with a learned
scale behind it. In scaled dot-product attention a long key may shout.
"""
        + TRY_SCALE,
    ),
    mistake(
        "dot-distance",
        of="DotProductAttention",
        kind="different",
        swap={"queries @ keys.transpose(1, 2) / math.sqrt(head_size)": "-torch.cdist(queries, keys) ** 2 / 2"},
        says="the scores are squared distances, as in the kernel of the first assignment",
        asks="When two vectors are alike but long, what is their distance, and what their dot product?",
        page="""
A good score, and for keys of equal length it gives the same order. A dot product also rewards long keys.
"""
        + TRY_LONG,
    ),
    mistake(
        "dot-changes-the-queries",
        of="DotProductAttention",
        swap={
            "scores = queries @ keys.transpose(1, 2) / math.sqrt(head_size)": (
                "queries /= math.sqrt(head_size)\n        scores = queries @ keys.transpose(1, 2)"
            )
        },
        says="the result is right, but the caller's queries are scaled in place",
        asks="What does a second call with the same queries give?",
        page="""
The queries belong to the caller, who may need them again: for a residual connection, say, or because the same
tensor holds the keys. An assignment operator writes into the tensor itself.

    >>> attention = DotProductAttention(dropout=0.0)
    >>> queries = torch.ones(1, 2, 4)
    >>> keys, values = torch.randn(1, 5, 4), torch.randn(1, 5, 8)
    >>> attention(queries, keys, values)
    >>> queries
""",
    ),
    *frame_mistakes("dot", "DotProductAttention", TRAIN_DOT),
]

# The book's additive attention wants its lengths, so this one is a mistake only here.
LENS_REQUIRED =         mistake(
            "dot-lens-required",
            of="DotProductAttention",
            swap={"valid_lens: torch.Tensor | None = None,": "valid_lens: torch.Tensor | None,"},
            says="it cannot be called without lengths",
            asks="What is a caller to do whose sentences are all of the same length?",
            page="""
The lengths may be left out, and then nothing is masked. Without a default the call raises an error before the
first line of the body is reached.

    >>> attention = DotProductAttention(dropout=0.0)
    >>> queries = torch.randn(2, 3, 4)
    >>> keys, values = torch.randn(2, 7, 4), torch.randn(2, 7, 8)
    >>> attention(queries, keys, values).shape
""",
        )


def on_cpu(id, of, swap, says, asks, page, seen=""):
    """Right on the CPU; on an accelerator two devices meet."""
    return mistake(id, of=of, kind="policy", breaks=("device",), swap=swap, says=says, asks=asks, page=page, seen=seen)


DEVICE = [
    on_cpu(
        'additive-full-lens-on-the-cpu',
        'AdditiveAttention',
        {
            'queries = self.W_q(queries)': 'if valid_lens is None:\n            valid_lens = torch.full((keys.shape[0],), keys.shape[1])\n        queries = self.W_q(queries)',
        },
        'lengths that were not given are made up on the CPU',
        'Where do the keys live, and where the lengths made here?',
        """
What was not told where to live lives on the CPU. The mask compares these lengths with steps that lie on the
accelerator, and the comparison raises an error. On a machine without one nothing shows.
""",
    ),
    on_cpu(
        'dot-scale-on-the-cpu',
        'DotProductAttention',
        {
            'math.sqrt(head_size)': 'torch.sqrt(torch.tensor([head_size], dtype=queries.dtype))',
        },
        'the scale is a tensor with an axis that is made on the CPU',
        'Does the square root of a size need to be a tensor?',
        """
A tensor with one axis is bound to its device, also when it holds a single number. A plain Python number goes
anywhere, and so does a tensor without axes.
""",
        'often seen in tutorials, with a `.to(device)` that reads a global name',
    ),
]


def in_other_dtypes(id, of, swap, says, asks, page, seen=""):
    """Right in float32; in another dtype it stops, or comes back in the wrong one."""
    return mistake(id, of=of, kind="policy", breaks=("precision",), swap=swap, says=says, asks=asks, page=page, seen=seen)


PRECISION = [
    in_other_dtypes(
        "additive-fill-minus-1e9",
        "AdditiveAttention",
        {
            WEIGHTS: "hidden = masked_softmax(torch.zeros_like(scores), valid_lens) == 0\n        self.attention_weights = scores.masked_fill(hidden, -1e9).softmax(dim=-1)",
        },
        "hidden scores are filled with a number that is too large for half precision",
        "Which is the lowest number that the dtype of the scores can hold?",
        """
In `float32` the number does its work. Half precision ends at 65504, so PyTorch refuses to write it there. The lowest
number that a dtype holds is `torch.finfo(scores.dtype).min`, and minus infinity exists in all of them.

    >>> sizes = dict(key_size=2, query_size=2, num_hiddens=4)
    >>> attention = AdditiveAttention(**sizes, dropout=0.0).half()
    >>> X = torch.ones(1, 3, 2).half()
    >>> attention(X, X, X, torch.tensor([2])).dtype

It should go through, and what comes out should be `torch.float16`, as what went in was.
""",
    ),
    in_other_dtypes(
        "additive-weights-in-single",
        "AdditiveAttention",
        {
            WEIGHTS: "self.attention_weights = masked_softmax(scores.float(), valid_lens)",
        },
        "the weights are in single precision when they meet the values, whatever dtype those have",
        "In which dtype are the values, and in which are the weights that they are multiplied with?",
        """
A softmax in `float32` is wise in half precision, and PyTorch does so inside by itself. Weights that stay in `float32`
meet values in another dtype in the next product, which wants both alike.

    >>> sizes = dict(key_size=2, query_size=2, num_hiddens=4)
    >>> attention = AdditiveAttention(**sizes, dropout=0.0).half()
    >>> X = torch.ones(1, 3, 2).half()
    >>> attention(X, X, X, torch.tensor([2])).dtype

It should go through, and what comes out should be `torch.float16`, as what went in was.
""",
    ),
    in_other_dtypes(
        "dot-fill-minus-1e9",
        "DotProductAttention",
        {
            WEIGHTS: "hidden = masked_softmax(torch.zeros_like(scores), valid_lens) == 0\n        self.attention_weights = scores.masked_fill(hidden, -1e9).softmax(dim=-1)",
        },
        "hidden scores are filled with a number that is too large for half precision",
        "Which is the lowest number that the dtype of the scores can hold?",
        """
In `float32` the number does its work. Half precision ends at 65504, so PyTorch refuses to write it there. The lowest
number that a dtype holds is `torch.finfo(scores.dtype).min`, and minus infinity exists in all of them.

    >>> attention = DotProductAttention(dropout=0.0)
    >>> X = torch.ones(1, 3, 2).half()
    >>> attention(X, X, X, torch.tensor([2])).dtype

It should go through, and what comes out should be `torch.float16`, as what went in was.
""",
    ),
    in_other_dtypes(
        "dot-weights-in-single",
        "DotProductAttention",
        {
            WEIGHTS: "self.attention_weights = masked_softmax(scores.float(), valid_lens)",
        },
        "the weights are in single precision when they meet the values, whatever dtype those have",
        "In which dtype are the values, and in which are the weights that they are multiplied with?",
        """
A softmax in `float32` is wise in half precision, and PyTorch does so inside by itself. Weights that stay in `float32`
meet values in another dtype in the next product, which wants both alike.

    >>> attention = DotProductAttention(dropout=0.0)
    >>> X = torch.ones(1, 3, 2).half()
    >>> attention(X, X, X, torch.tensor([2])).dtype

It should go through, and what comes out should be `torch.float16`, as what went in was.
""",
    ),
]

MISTAKES = [*ADDITIVE, *DOT, LENS_REQUIRED, *DEVICE, *PRECISION]
