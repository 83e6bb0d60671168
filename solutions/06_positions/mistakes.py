"""Mistakes seen in positions, in the embedding of tokens, and in the matrix that moves positions."""

from grader.authoring.bank import mistake

# ---- PositionalEncoding ----

SEE_ROWS = """

    >>> PositionalEncoding(4, dropout=0.0)(torch.zeros(1, 3, 4))

Hold the three rows against the table in the lesson.
"""

SEE_AGAIN = """

    >>> encoding, X = PositionalEncoding(4, dropout=0.0), torch.zeros(1, 3, 4)
    >>> encoding(X) - encoding(X)

The same sentence twice: should anything differ?
"""

SEE_WAVES = """

    >>> rows = PositionalEncoding(8, dropout=0.0)(torch.zeros(1, 60, 8))[0]
    >>> (rows[1:].sign() != rows[:-1].sign()).sum(0)

How often each feature changes its sign in 60 positions: both features of a pair about equally often, and pair 1
about a tenth as often as pair 0, since with eight features each speed is a tenth of the one before.
"""

SEE_SHAPES = """

    >>> for B, T, D in ((2, 5, 4), (5, 2, 4), (2, 5, 3)):
    ...     print(PositionalEncoding(D, 0.0)(torch.zeros(B, T, D)).shape)
"""

SEE_TRAINING = """

    >>> encoding = PositionalEncoding(8, dropout=0.5)
    >>> encoding.eval()(torch.ones(1, 2, 8))
    >>> encoding.train()(torch.ones(1, 2, 8))

Every number of the second is either zero or twice that of the first.
"""

SEE_INPUT = """

    >>> X = torch.zeros(1, 2, 4)
    >>> PositionalEncoding(4, 0.0)(X)
    >>> X
"""

SEE_MOVED = """

    >>> encoding = PositionalEncoding(4, 0.0).to("meta")
    >>> encoding(torch.zeros(1, 2, 4, device="meta"))

The device "meta" holds no numbers, and every machine has it: a good place to look for tensors left behind.
"""

SPEEDS = "angles = positions / 10000 ** (columns / num_hiddens)"
SINE = "P[..., 0::2] = angles.sin()"
COSINE = "P[..., 1::2] = angles[:, : num_hiddens // 2].cos()"
ROWS = "P = self.P[:, : X.shape[1]].to(X.dtype)"
SUM = "self.dropout(X + P)"


def frequencies(id, new, says, asks, page, kind="mistake", see=SEE_WAVES):
    """Hands of the clock that turn with other speeds."""
    return mistake(id, of="PositionalEncoding", kind=kind, swap={SPEEDS: new}, says=says, asks=asks, page=page + see)


ENCODING = [
    frequencies(
        "pos-exponent-counts-pairs",
        "angles = positions / 10000 ** (columns / 2 / num_hiddens)",
        says="the exponent counts the pairs instead of twice the pairs, so that slow hands are not slow enough",
        asks="How long does the slowest hand of your clock take to go round, and how long should it?",
        page="""
The exponents go from 0 to one half instead of from 0 to 1. The slowest hand goes round in about 600 positions,
not in 60000; far positions are told apart less well, and the model works nearly as well on short sentences.
""",
    ),
    frequencies(
        "pos-exponent-doubled",
        "angles = positions / 10000 ** (2 * columns / num_hiddens)",
        says="the exponent is doubled twice: columns that already go in steps of two are doubled again",
        asks="The exponent of the last pair of features should be a little below one: what is yours?",
        page="""
Half of all hands hardly move at all: their features are 0 and 1 for every position a sentence has. Half of the
place for positions is wasted.
""",
    ),
    frequencies(
        "pos-exponent-rounded",
        "angles = positions / 10000 ** (columns // num_hiddens)",
        says="the exponent is rounded down to zero, so that all hands turn with the same speed",
        asks="What does a division give that throws its remainder away, if the first number is the smaller one?",
        page="""
All pairs are copies of the first. Positions repeat about every six steps, and words seven apart get almost the
same vector.
""",
    ),
    frequencies(
        "pos-one-speed",
        "angles = positions.expand(-1, len(columns)) * 1e-4",
        says="all hands turn with the same slow speed",
        asks="Which positions can the fastest hand tell apart, and how fast is yours?",
        page="""
With slow hands only, neighbouring positions have nearly equal vectors: the order of two words next to each other
is lost in the noise.
""",
    ),
    frequencies(
        "pos-base-thousand",
        "angles = positions / 1000 ** (columns / num_hiddens)",
        says="the base of the frequencies is a thousand instead of ten thousand",
        asks="How many zeros does the base have in the lesson?",
        page="""
A zero too few. The slow hands turn up to ten times too fast. A model trained so is as good as another on short
sentences, and does not understand the weights of others.
""",
    ),
    frequencies(
        "pos-decimal-logarithm",
        "angles = positions * torch.exp(columns * (-4.0 / num_hiddens))",
        says="a decimal logarithm stands where the natural one belongs, so that the slow hands are much too fast",
        asks="The exponential function undoes one logarithm. Which?",
        page="""
Powers are often computed through a logarithm and an exponential. The two must belong together. With the decimal
logarithm the base is in truth 55 instead of 10000.
""",
    ),
    frequencies(
        "pos-degrees",
        "angles = torch.deg2rad(positions / 10000 ** (columns / num_hiddens))",
        says="angles are taken for degrees and turned into radians",
        asks="How many positions does your fastest hand need to go round once?",
        page="""
The fastest hand needs 360 positions for a turn instead of six, so that neighbours are almost alike. Sine and
cosine of PyTorch take radians, and the formula gives radians.
""",
        see=SEE_ROWS,
    ),
    frequencies(
        "pos-multiplied-by-power",
        "angles = positions * 10000 ** (columns / num_hiddens)",
        says="positions are multiplied by the powers instead of being divided by them",
        asks="Do your hands become slower or faster from pair to pair?",
        page="""
All hands but the first turn hundreds of times between two positions. What they show then is as good as random:
different for each position, and without any sense of near and far.
""",
        see=SEE_ROWS,
    ),
    mistake(
        "pos-cosine-of-next-column",
        of="PositionalEncoding",
        swap={
            COSINE: "P[..., 1::2] = (positions / 10000 ** ((columns + 1) / num_hiddens))[:, : num_hiddens // 2].cos()",
        },
        says="the cosine of each pair turns slower than its sine: every column has a speed of its own",
        asks="Sine and cosine of one pair are one hand of the clock. Have they one speed?",
        page="""
The two numbers of a pair no longer lie on a circle, so there is no matrix any more that moves all positions by
the same amount. It is a popular slip: the number of the column is put in the place of the number of the pair.
"""
        + SEE_WAVES,
        seen="a frequent slip in hand-written encodings with a loop over columns",
    ),
    mistake(
        "pos-from-one",
        of="PositionalEncoding",
        swap={"torch.arange(max_len, dtype=torch.float64)": "torch.arange(1, max_len + 1, dtype=torch.float64)"},
        says="positions are counted from 1",
        asks="What should the first word of a sentence get added?",
        page="""
Everything is moved by one step. A model that is trained so never notices. One that is loaded does, a little, at
every word.
"""
        + SEE_ROWS,
    ),
    mistake(
        "pos-sine-cosine-exchanged",
        of="PositionalEncoding",
        swap={
            SINE: "P[..., 0::2] = angles.cos()",
            COSINE: "P[..., 1::2] = angles[:, : num_hiddens // 2].sin()",
        },
        says="cosines stand in the even columns and sines in the odd ones",
        asks="What is the first number of the first row in the lesson's table?",
        page="""
Nothing is lost: the same numbers stand in another order. But weights trained with the usual order meet a feature
that is 1 where they expect 0.
"""
        + SEE_ROWS,
    ),
    mistake(
        "pos-halves",
        of="PositionalEncoding",
        kind="different",
        swap={
            SINE: "P[..., : len(columns)] = angles.sin()",
            COSINE: "P[..., len(columns) :] = angles[:, : num_hiddens // 2].cos()",
        },
        says="all sines come first and then all cosines, instead of in turn",
        asks="Which two features make up the first hand of your clock, and which in the lesson?",
        page="""
The first implementation of the Transformer (tensor2tensor) did it so, and no model is worse for it: a layer that
follows can learn any order. It is another order than that of the formula, and weights know only one.
"""
        + SEE_ROWS,
        seen="tensor2tensor, get_timing_signal_1d",
    ),
    mistake(
        "pos-sines-only",
        of="PositionalEncoding",
        swap={COSINE: "P[..., 1::2] = angles[:, : num_hiddens // 2].sin()"},
        says="both features of each pair hold the sine",
        asks="Can you read the time from a shadow of the hand on one wall only?",
        page="""
A sine takes each value twice in a turn, so a hand is shown in one of two places without saying which. Half of the
features repeat the other half.
"""
        + SEE_ROWS,
    ),
    mistake(
        "pos-every-step-is-first",
        of="PositionalEncoding",
        swap={ROWS: "P = self.P[:, :1].to(X.dtype)"},
        says="every step gets the vector of position 0",
        asks="Are two rows of what you add ever different?",
        page="""
One row is added everywhere, and broadcasting makes it fit. The model is back at a bag of words.
"""
        + SEE_ROWS,
    ),
    mistake(
        "pos-by-batch",
        of="PositionalEncoding",
        swap={ROWS: "P = self.P[0, : len(X), None].to(X.dtype)"},
        says="each sentence of the batch gets one position, the same for all its words",
        asks="Along which axis of your result does the position change: over words, or over sentences?",
        page="""
The table has been turned so that it counts sentences. Words of one sentence cannot be told apart by place; and
the same sentence gets another encoding in another batch.

    >>> rows = PositionalEncoding(4, dropout=0.0)(torch.zeros(2, 3, 4))
    >>> rows[0] - rows[1]

Should two equal sentences differ?
""",
    ),
    mistake(
        "pos-sliced-by-batch",
        of="PositionalEncoding",
        swap={"X.shape[1]": "X.shape[0]"},
        says="as many rows of the table are taken as there are sentences, not as there are words",
        asks="Which axis of the input is the length?",
        page="""
With a batch of one, every word gets position 0, without a word of warning; with as many sentences as words
everything is right; otherwise shapes clash.
"""
        + SEE_SHAPES,
    ),
    mistake(
        "pos-odd-crash",
        of="PositionalEncoding",
        swap={"angles[:, : num_hiddens // 2].cos()": "angles.cos()"},
        says="an odd number of features makes it fail",
        asks="With five features, how many columns are even, and how many odd?",
        page="""
There is one cosine fewer than there are sines when the number of features is odd. Most models use even numbers
only; many well-known implementations fail here.
"""
        + SEE_SHAPES,
        seen="Dive into Deep Learning and the PyTorch tutorials, which ask for even sizes",
    ),
    mistake(
        "pos-max-len-ignored",
        of="PositionalEncoding",
        swap={"torch.arange(max_len": "torch.arange(1000", "torch.zeros(1, max_len": "torch.zeros(1, 1000"},
        says="the table has a thousand rows, however many were asked for",
        asks="Which argument is read nowhere in your code?",
        page="""
The default hides it. Longer sentences fail, at a line that speaks of shapes and not of lengths, and whoever asked
for fewer rows carries the others along.

    >>> PositionalEncoding(4, 0.0, max_len=1500)(torch.zeros(1, 1200, 4)).shape
""",
    ),
    mistake(
        "pos-counts-on",
        of="PositionalEncoding",
        swap={
            "self.dropout = nn.Dropout(dropout)": "self.dropout = nn.Dropout(dropout)\n        self.start = 0",
            ROWS: "P = self.P[:, self.start : self.start + X.shape[1]].to(X.dtype)\n        self.start += X.shape[1]",
        },
        says="a second call goes on counting where the first one stopped",
        asks="A new batch begins. At which position does your encoding put its first word?",
        page="""
The module remembers earlier calls. In training the first batch is right; every later one stands at other
positions, until the table ends.
"""
        + SEE_AGAIN,
    ),
    mistake(
        "pos-words-lost",
        of="PositionalEncoding",
        kind="different",
        swap={SUM: "self.dropout(P.expand(X.shape))"},
        says="only the positions come back: the words are lost",
        asks="Put two different sentences in. What is the difference of what comes out?",
        page="""
Some libraries hand back the table and leave the sum to the caller. Here the sum is asked for; without it, every
sentence becomes the same.

    >>> encoding = PositionalEncoding(4, dropout=0.0)
    >>> encoding(torch.zeros(1, 2, 4)) - encoding(torch.ones(1, 2, 4))
""",
    ),
    mistake(
        "pos-concatenated",
        of="PositionalEncoding",
        kind="different",
        swap={SUM: "self.dropout(torch.cat([X, P.expand(X.shape)], dim=-1))"},
        says="positions are put beside the words instead of being added",
        asks="How many features come out, and how many went in?",
        page="""
Side by side, word and position could not disturb each other, and every layer above would be twice as wide. Sums
turn out to be good enough: in many features there is room for both.
"""
        + SEE_SHAPES,
    ),
    mistake(
        "pos-multiplied",
        of="PositionalEncoding",
        swap={SUM: "self.dropout(X * P)"},
        says="words are multiplied by the positions instead of positions being added",
        asks="At position 0 every sine is zero. What is left of the first word?",
        page="""
Half of the first word's features are wiped out, and later words lose others. What is zero cannot be brought back.
"""
        + SEE_ROWS,
    ),
    mistake(
        "pos-words-scaled",
        of="PositionalEncoding",
        kind="different",
        swap={SUM: "self.dropout(X * X.shape[-1] ** 0.5 + P)"},
        says="the words are multiplied by the root of the number of features in here",
        asks="Whose task is it to make words as loud as positions, this module's or the encoder's?",
        page="""
The factor is right, but it belongs to the embedding. If the encoder applies it as well, words are scaled twice.

    >>> PositionalEncoding(4, dropout=0.0)(torch.ones(1, 1, 4))

Ones come in and the row of position 0 is added: 1, 2, 1, 2 should come out.
""",
    ),
    mistake(
        "pos-input-changed",
        of="PositionalEncoding",
        swap={"return " + SUM: "X += P\n        return self.dropout(X)"},
        says="positions are added into the caller's own tensor",
        asks="Does the input still hold the same numbers after the call?",
        page="""
A plus before the equals sign writes in place. Whoever uses the words again, for a residual or for a second call,
finds positions in them.
"""
        + SEE_INPUT,
    ),
    mistake(
        "pos-words-detached",
        of="PositionalEncoding",
        swap={SUM: "self.dropout(X.detach() + P)"},
        says="no gradient reaches the words through the sum",
        asks="After a backward pass, what is the gradient of the embedding in front of this module?",
        page="""
All outputs are right, and the embedding never learns. `.data` and `.detach()` both cut the way back.

    >>> X = torch.zeros(1, 2, 4, requires_grad=True)
    >>> PositionalEncoding(4, 0.0)(X).sum().backward()
    >>> X.grad
""",
    ),
    mistake(
        "pos-no-dropout",
        of="PositionalEncoding",
        swap={SUM: "X + P"},
        says="dropout is never applied: training and evaluation give the same",
        asks="The module is told a rate. Where is it used?",
        page="""
Evaluations are right, so nothing that compares outputs finds this. Training lacks the noise that was asked for.
"""
        + SEE_TRAINING,
    ),
    mistake(
        "pos-dropout-on-words",
        of="PositionalEncoding",
        swap={SUM: "self.dropout(X) + P"},
        says="dropout acts on the words before the positions are added",
        asks="Which of the module's steps comes last?",
        page="""
A dropped feature still carries its position. The paper drops the *sum* of the two (section 5.4).
"""
        + SEE_TRAINING,
    ),
    mistake(
        "pos-dropout-on-positions",
        of="PositionalEncoding",
        swap={SUM: "X + self.dropout(P.expand(X.shape))"},
        says="dropout acts on the positions only, and words always come through whole",
        asks="Which of the module's steps comes last?",
        page="""
Words are never dropped, only where they stand becomes uncertain. The paper drops the *sum* of the two
(section 5.4).
"""
        + SEE_TRAINING,
    ),
    mistake(
        "pos-dropout-of-words-as-a-whole",
        of="PositionalEncoding",
        swap={"nn.Dropout(dropout)": "nn.Dropout1d(dropout)"},
        says="dropout takes whole words at a time instead of single features",
        asks="In one dropped vector, are some features gone, or all of them?",
        page="""
The dropouts with a number in their names drop whole *channels*, and on a tensor of three axes the second one is
taken for the channels. Here these are the words: each is there in full, or not at all.
"""
        + SEE_TRAINING,
    ),
    mistake(
        "pos-dropout-in-evaluation",
        of="PositionalEncoding",
        swap={SUM: "nn.functional.dropout(X + P, self.dropout.p)"},
        says="dropout stays on in evaluation",
        asks="How does the function that drops learn whether the module is in training or in evaluation?",
        page="""
Predictions change from call to call. The function in `nn.functional` knows nothing of your module's mode and drops
unless it is told not to.
"""
        + SEE_TRAINING,
    ),
    mistake(
        "pos-table-is-trained",
        of="PositionalEncoding",
        swap={'self.register_buffer("P", P, persistent=False)': "self.P = nn.Parameter(P)"},
        says="the table is a parameter, so that training changes it",
        asks="What does an optimiser do with every parameter that it is handed?",
        page="""
The table starts out right, and after the first step of training it is no longer what the formula says. Positions
that no sentence has reached stay as they were, which makes long sentences behave strangely.

    >>> list(PositionalEncoding(4, 0.0).parameters())
""",
    ),
    mistake(
        "pos-learned",
        of="PositionalEncoding",
        kind="different",
        swap={'self.register_buffer("P", P, persistent=False)': "self.P = nn.Parameter(torch.randn_like(P))"},
        says="positions are learned vectors that start at random",
        asks="Does anything in what you add follow from the formula?",
        page="""
BERT and GPT-2 learn their positions, with as much success. There is no vector for a position beyond the longest
sentence of the training, and no matrix that moves them all.

    >>> list(PositionalEncoding(4, 0.0).parameters())
""",
        steady=False,
    ),
    mistake(
        "pos-table-left-behind",
        of="PositionalEncoding",
        kind="policy",
        swap={'self.register_buffer("P", P, persistent=False)': "self.P = P"},
        says="the table is a plain attribute, which stays behind when the module moves to another device",
        asks="What does a module take along when it moves, and what does it not know about?",
        page="""
On the processor everything is right. On an accelerator the sum fails, since its two terms lie in different
memories. A buffer moves along.
"""
        + SEE_MOVED,
        breaks=("device",),
        seen="Dive into Deep Learning, which moves the table in forward instead",
    ),
]

# ---- TokenEmbedding ----

SEE_PADDING = """

    >>> embedding = TokenEmbedding(5, 3)
    >>> embedding(torch.tensor([[1, 2]]))
    >>> embedding(torch.tensor([[1, 2]])).sum().backward()
    >>> embedding.weight.grad

The row of token 1 should be zero in both.
"""

SEE_SIZES = """

    >>> embedding = TokenEmbedding(5, 3)
    >>> embedding.weight.shape, embedding(torch.tensor([[2, 4]])).shape

Five tokens and three features: the shapes should be `(5, 3)` and `(1, 2, 3)`.
"""

SEE_TABLE = """

    >>> embedding = TokenEmbedding(5, 3)
    >>> embedding.weight.data = torch.arange(15.0).reshape(5, 3)
    >>> embedding(torch.tensor([[2, 4]]))

Rows 2 and 4 of this table are 6, 7, 8 and 12, 13, 14.
"""

MADE = "super().__init__(vocab_size, d_model, padding_idx=1)"
LOOK = "\n\n    def forward(self, tokens):\n        "


def padding(id, new, says, asks, page):
    """Another row, or none, stands for padding."""
    return mistake(id, of="TokenEmbedding", swap={MADE: new}, says=says, asks=asks, page=page + SEE_PADDING)


def look_up(id, forward, says, asks, page, see=SEE_TABLE, kind="mistake"):
    """The table is right, what is read from it is not."""
    return mistake(id, of="TokenEmbedding", kind=kind, swap={MADE: MADE + LOOK + forward}, says=says, asks=asks, page=page + see)


EMBEDDING = [
    padding(
        "emb-no-padding",
        "super().__init__(vocab_size, d_model)",
        says="no token is padding: its row starts at random and is trained like any other",
        asks="What do you tell the table about token 1?",
        page="""
Padding stands in nearly every batch, more often than any word. If it is not hidden everywhere, its row learns, and
in any case it starts as something that looks like a word.
""",
    ),
    padding(
        "emb-padding-is-zero",
        "super().__init__(vocab_size, d_model, padding_idx=0)",
        says="token 0 is taken for padding instead of token 1",
        asks="Which token is padding in this course?",
        page="""
Many vocabularies do put padding first; this one does not. A real token never learns, and padding does.
""",
    ),
    padding(
        "emb-padding-is-last",
        "super().__init__(vocab_size, d_model, padding_idx=-1)",
        says="the last token of the vocabulary is taken for padding",
        asks="Which row does a negative number mean?",
        page="""
Negative numbers count from the end here too. The last word of the vocabulary never learns, and padding does.
""",
    ),
    padding(
        "emb-padding-zero-once",
        "super().__init__(vocab_size, d_model)\n        with torch.no_grad():\n            self.weight[1].zero_()",
        says="the row of padding starts as zeros, but it gets a gradient and is trained",
        asks="After one step of training, is the row still zero?",
        page="""
Zero at the start is only half of the wish. The first step of training moves the row like any other.
""",
    ),
    padding(
        "emb-padding-not-zero",
        "super().__init__(vocab_size, d_model, padding_idx=1)\n        nn.init.normal_(self.weight)",
        says="the row of padding gets no gradient, but it starts at random",
        asks="What happens to the zeros when the whole table is filled anew?",
        page="""
The table sets the row to zero when it is made. Whoever fills it afterwards with numbers of their own must do so
again, or padding keeps a random vector for ever.
""",
    ),
    mistake(
        "emb-sizes-swapped",
        of="TokenEmbedding",
        swap={MADE: "super().__init__(d_model, vocab_size, padding_idx=1)"},
        says="the two sizes have changed places: as many rows as features, as many features as tokens",
        asks="Which of the two sizes is the number of rows?",
        page="""
Where both sizes are equal nothing shows. Otherwise high tokens are out of range, and vectors have a wrong length.
"""
        + SEE_SIZES,
    ),
    mistake(
        "emb-rows-shortened",
        of="TokenEmbedding",
        swap={MADE: "super().__init__(vocab_size, d_model, padding_idx=1, max_norm=1.0)"},
        says="rows longer than one are cut down to length one when they are looked up",
        asks="Does looking something up change the table?",
        page="""
The option rewrites the table during the forward pass. Loaded vectors lose their lengths, and with these, what the
training knew about how important a word is.
"""
        + SEE_TABLE,
    ),
    mistake(
        "emb-gradient-by-frequency",
        of="TokenEmbedding",
        swap={MADE: "super().__init__(vocab_size, d_model, padding_idx=1, scale_grad_by_freq=True)"},
        says="gradients are divided by how often each token stands in the batch",
        asks="A word occurs twice. Should it learn twice as much from the batch, or as much as if it stood there once?",
        page="""
It is an option of PyTorch's table, and not asked for. Frequent words then learn more slowly than the loss says.

    >>> embedding = TokenEmbedding(5, 3)
    >>> embedding(torch.tensor([[2, 2, 2, 4]])).sum().backward()
    >>> embedding.weight.grad
""",
    ),
    mistake(
        "emb-frozen",
        of="TokenEmbedding",
        swap={MADE: MADE + "\n        self.weight.requires_grad_(False)"},
        says="the whole table is frozen: no token ever learns",
        asks="Only one row should be spared from learning. How many are?",
        page="""
All outputs are right. Words keep their random vectors, and the layers above make the best of it.
"""
        + SEE_PADDING,
    ),
    look_up(
        "emb-detached",
        "return super().forward(tokens).detach()",
        says="vectors are cut off from the table: no gradient reaches it",
        asks="After a backward pass, does the table have a gradient?",
        page="""
All outputs are right. Words keep their random vectors, and the layers above make the best of it.
""",
        see=SEE_PADDING,
    ),
    look_up(
        "emb-scaled",
        "return super().forward(tokens) * self.embedding_dim**0.5",
        says="vectors are multiplied by the root of their length",
        asks="Whose task is that factor, the table's or the encoder's?",
        page="""
Some libraries do it here. In this course the encoder does, and twice would be too much.
""",
        kind="different",
    ),
    look_up(
        "emb-next-row",
        "return super().forward((tokens + 1) % self.num_embeddings)",
        says="each token gets the row of the token after it",
        asks="Which row belongs to token 0?",
        page="""
Counting from one, in a table that counts from zero. Trained so, a model does not mind; padding is now another
token, and loaded tables are off by one.
""",
    ),
    look_up(
        "emb-row-before",
        "return super().forward((tokens - 1) % self.num_embeddings)",
        says="each token gets the row of the token before it",
        asks="Which row belongs to token 1?",
        page="""
Off by one: token 0 gets the last row, and the row of padding goes to token 2.
""",
    ),
    look_up(
        "emb-steps-first",
        "return super().forward(tokens).transpose(0, 1)",
        says="steps come before sentences in the result",
        asks="In which order do the axes of the tokens stand, and in which those of your result?",
        page="""
Recurrent networks want steps first. Everything in this course wants sentences first, and with as many sentences
as steps nothing complains.

    >>> TokenEmbedding(5, 3)(torch.zeros(2, 4, dtype=torch.long)).shape
""",
        see="",
    ),
    look_up(
        "emb-features-before-steps",
        "return super().forward(tokens).transpose(1, 2)",
        says="features come before steps in the result",
        asks="Which axis of your result is as long as a sentence?",
        page="""
Convolutions want features before steps. Attention takes the last axis for the features, so that it would now look
from feature to feature instead of from word to word.

    >>> TokenEmbedding(5, 3)(torch.zeros(2, 4, dtype=torch.long)).shape
""",
        see="",
    ),
    look_up(
        "emb-flattened",
        "return super().forward(tokens.reshape(-1))",
        says="sentences are laid end to end: the result no longer knows where one stops",
        asks="How many axes has your result, and how many should it have?",
        page="""
A table with one axis for all words of the batch. Nothing later can tell sentences apart, and a mask with a
length for each of them has nothing to lie on.

    >>> TokenEmbedding(5, 3)(torch.zeros(2, 4, dtype=torch.long)).shape
""",
        see="",
    ),
    look_up(
        "emb-tokens-changed",
        "out = super().forward(tokens)\n        tokens[tokens == 1] = 0\n        return out",
        says="padding is rewritten in the caller's tokens",
        asks="Are the tokens the same after the call?",
        page="""
The tokens belong to the caller, who still needs them, for lengths, for a mask, or for the loss.

    >>> tokens = torch.tensor([[3, 1, 1]])
    >>> TokenEmbedding(5, 3)(tokens)
    >>> tokens
""",
        see="",
    ),
]

# ---- shift_matrix ----

SEE_TURN = """

    >>> shift_matrix(1, 2) @ torch.tensor([0.8415, 0.5403])

Position 1 of two features is (0.841, 0.540). One step further it should be 0.909 and -0.416.
"""

SEE_PAIRS = """

    >>> shift_matrix(1, 6).round(decimals=3)

There should be three blocks of two by two along the diagonal, each closer to the identity than the one before.
"""

SEE_BACK = """

    >>> shift_matrix(3, 4) @ shift_matrix(-3, 4)

There and back again: what should that be?
"""

SEE_ALL = """

    >>> P = PositionalEncoding(4, dropout=0.0)(torch.zeros(1, 9, 4))[0]
    >>> for i in range(6):
    ...     print(i, (shift_matrix(3, 4) @ P[i] - P[i + 3]).abs().max())
"""

ANGLES = "angles = delta / 10000 ** (even.double() / num_hiddens)"
PLUS = "M[even, odd] = angles.sin()"
MINUS = "M[odd, even] = -angles.sin()"


def speeds(id, new, says, asks, page, see=SEE_ALL):
    """Pairs that are turned by other angles."""
    return mistake(id, of="shift_matrix", swap={ANGLES: new}, says=says, asks=asks, page=page + see)


SHIFT = [
    mistake(
        "shift-backwards",
        of="shift_matrix",
        swap={PLUS: "M[even, odd] = -angles.sin()", MINUS: "M[odd, even] = angles.sin()"},
        says="your matrix moves back by as many steps as it should move on",
        asks="Which of the two sines carries the minus sign in the second theorem?",
        page="""
Turned the other way, or, what is the same, multiplied from the other side: the transpose of a rotation turns back.
At zero steps nothing shows.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-no-minus",
        of="shift_matrix",
        swap={MINUS: "M[odd, even] = angles.sin()"},
        says="both sines carry the same sign: this is no turn",
        asks="In one of the two theorems there is a minus. Where is it in your matrix?",
        page="""
Without the minus the matrix stretches along one diagonal and squeezes along the other. Points leave the circle,
further with every step.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-mirrored",
        of="shift_matrix",
        swap={MINUS: "M[odd, even] = angles.sin()", "M[odd, odd] = angles.cos()": "M[odd, odd] = -angles.cos()"},
        says="each pair is mirrored instead of turned",
        asks="Apply your matrix twice with one step each. Are you two steps further, or back where you were?",
        page="""
Lengths are kept, so that points stay on the circle. But a mirror applied twice does nothing, while two steps
should be two steps.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-sine-cosine-exchanged",
        of="shift_matrix",
        swap={
            "M[even, even] = angles.cos()": "M[even, even] = angles.sin()",
            "M[odd, odd] = angles.cos()": "M[odd, odd] = angles.sin()",
            PLUS: "M[even, odd] = angles.cos()",
            MINUS: "M[odd, even] = -angles.cos()",
        },
        says="sine and cosine have changed places",
        asks="With no step at all, which matrix should come out?",
        page="""
For zero steps this is not the identity but a quarter of a turn. Begin with that case, it is the easiest.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-rows-exchanged",
        of="shift_matrix",
        swap={
            "M[even, even] = angles.cos()": "M[even, even] = -angles.sin()",
            PLUS: "M[even, odd] = angles.cos()",
            MINUS: "M[odd, even] = angles.cos()",
            "M[odd, odd] = angles.cos()": "M[odd, odd] = angles.sin()",
        },
        says="the two rows of each pair have changed places: new cosines land where sines should stand",
        asks="Which feature should the first row of a pair produce?",
        page="""
Both theorems are there, each in the other's row. With no step at all, the matrix should change nothing; this one
exchanges the two features of each pair.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-columns-exchanged",
        of="shift_matrix",
        swap={
            "M[even, even] = angles.cos()": "M[even, even] = angles.sin()",
            PLUS: "M[even, odd] = angles.cos()",
            MINUS: "M[odd, even] = angles.cos()",
            "M[odd, odd] = angles.cos()": "M[odd, odd] = -angles.sin()",
        },
        says="the two columns of each pair have changed places: sines are read where cosines stand",
        asks="With which feature of the old position is the first column of a pair multiplied?",
        page="""
The rows expect a cosine first and a sine second, the table has them the other way round. With no step at all, the
matrix should change nothing; this one exchanges the two features of each pair.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-layout-exchanged",
        of="shift_matrix",
        swap={"even = torch.arange(0, num_hiddens, 2)": "even = torch.arange(1, num_hiddens, 2)", "odd = even + 1": "odd = even - 1", "(even.double()": "(odd.double()"},
        says="cosines are taken to stand in the even columns, and sines in the odd ones",
        asks="What does position 0 look like in the table: zeros and ones in which columns?",
        page="""
The matrix fits a table whose pairs are the other way round. On this one it moves back instead of on.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-halves",
        of="shift_matrix",
        kind="different",
        swap={
            "odd = even + 1": "odd = even // 2 + num_hiddens // 2",
            "M = torch.zeros": "even = even // 2\n    M = torch.zeros",
        },
        says="the matrix fits a table with all sines first and then all cosines",
        asks="Which two features make up the first hand of the clock in this course?",
        page="""
The same turns, laid out for another order of features: sines in the first half, cosines in the second. With two
features there is no difference.
"""
        + SEE_PAIRS,
    ),
    speeds(
        "shift-exponent-counts-pairs",
        "angles = delta / 10000 ** (even.double() / 2 / num_hiddens)",
        says="the exponent counts the pairs instead of twice the pairs: slow hands turn too far",
        asks="For the last pair, what is your exponent?",
        page="""
The first pair is right, so that a test with two features passes. The others are turned too far.
""",
    ),
    speeds(
        "shift-base-thousand",
        "angles = delta / 1000 ** (even.double() / num_hiddens)",
        says="the base of the frequencies is a thousand instead of ten thousand",
        asks="How many zeros does the base have in the lesson?",
        page="""
A zero too few. The first pair is right, the others are turned too far.
""",
    ),
    speeds(
        "shift-one-speed",
        "angles = torch.full((num_hiddens // 2,), float(delta), dtype=torch.float64)",
        says="every pair is turned by the angle of the first one",
        asks="Do all hands of the clock turn equally far in one step?",
        page="""
The matrix is right for two features. With more, each pair has a speed of its own.
""",
        see=SEE_PAIRS,
    ),
    speeds(
        "shift-always-one-step",
        "angles = 1 / 10000 ** (even.double() / num_hiddens)",
        says="the matrix moves by one step, however many were asked for",
        asks="Where does the number of steps enter?",
        page="""
Right for a single step. All matrices are the same.
""",
    ),
    speeds(
        "shift-never-back",
        "angles = abs(delta) / 10000 ** (even.double() / num_hiddens)",
        says="a negative number of steps is taken for a positive one",
        asks="What should three steps on and then three steps back give?",
        page="""
Moving back is moving on, in this matrix. Only negative numbers show it.
""",
        see=SEE_BACK,
    ),
    speeds(
        "shift-degrees",
        "angles = torch.deg2rad(delta / 10000 ** (even.double() / num_hiddens))",
        says="angles are taken for degrees and turned into radians",
        asks="By how much does the first hand turn in one step?",
        page="""
Sine and cosine of PyTorch take radians, and the formula gives radians. The turns are sixty times too small.
""",
        see=SEE_TURN,
    ),
    mistake(
        "shift-small-angles",
        of="shift_matrix",
        swap={
            "M[even, even] = angles.cos()": "M[even, even] = 1",
            "M[odd, odd] = angles.cos()": "M[odd, odd] = 1",
            PLUS: "M[even, odd] = angles",
            MINUS: "M[odd, even] = -angles",
        },
        says="angles are taken to be so small that the sine is the angle and the cosine is one",
        asks="How large is the angle of the first pair after one step?",
        page="""
That is good for the slow hands and wrong for the first, which turns by a whole radian. And errors add up.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-only-cosines",
        of="shift_matrix",
        swap={PLUS: "pass", MINUS: "pass"},
        says="every feature is multiplied by a cosine, and the two of a pair never meet",
        asks="At position 0 all sines are zero. How could multiplying them make them anything else?",
        page="""
A matrix with numbers on its diagonal only scales features. A turn mixes the two of a pair.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-stands-still",
        of="shift_matrix",
        code="""
        def shift_matrix(delta, num_hiddens):
            return torch.eye(num_hiddens)
        """,
        says="the matrix is the identity: it moves nothing",
        asks="What do position 0 and position 1 look like? What must happen to the one to become the other?",
        page="""
Right for zero steps, and for nothing else.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-moves-features",
        of="shift_matrix",
        code="""
        def shift_matrix(delta, num_hiddens):
            return torch.eye(num_hiddens).roll(delta, dims=0)
        """,
        says="the features are moved along the vector, instead of the position along the table",
        asks="What is moved by some steps: the numbers within a row, or the row's place in the table?",
        page="""
A permutation: each feature takes the place of another. Position 0 consists of zeros and ones, and so would every
other position.
"""
        + SEE_TURN,
    ),
    mistake(
        "shift-fits-first-position",
        of="shift_matrix",
        code="""
        def shift_matrix(delta, num_hiddens):
            speeds = 10000 ** (-torch.arange(0, num_hiddens, 2).double() / num_hiddens)
            start = torch.stack([torch.zeros_like(speeds), torch.ones_like(speeds)], dim=1).flatten()
            there = torch.stack([(delta * speeds).sin(), (delta * speeds).cos()], dim=1).flatten()
            return torch.outer(there, start)
        """,
        says="the matrix is made of two positions, and is good for the first one only, up to its length",
        asks="Try it on position 7. Which position comes out?",
        page="""
An outer product sends everything in one direction: whichever position goes in, a multiple of the same vector comes
out. One matrix should serve all positions.
"""
        + SEE_ALL,
    ),
    mistake(
        "shift-one-number-per-pair",
        of="shift_matrix",
        code="""
        def shift_matrix(delta, num_hiddens):
            return torch.diag(torch.cos(delta / 10000 ** (torch.arange(0, num_hiddens, 2).double() / num_hiddens)))
        """,
        says="the matrix has one row for each pair, instead of one for each feature",
        asks="Which shape must a matrix have to be multiplied with a row of the table?",
        page="""
There are half as many hands as features, and each needs two rows and two columns: one for its sine and one for its
cosine. A single number could stretch a hand, never turn it.

    >>> shift_matrix(1, 6).shape
""",
    ),
]


def in_other_dtypes(id, of, swap, says, asks, page, seen=""):
    """Right in float32; in another dtype it stops, or comes back in the wrong one."""
    return mistake(id, of=of, kind="policy", breaks=("precision",), swap=swap, says=says, asks=asks, page=page, seen=seen)


PRECISION = [
    in_other_dtypes(
        "positions-table-in-float32",
        "PositionalEncoding",
        {
            "self.register_buffer(\"P\", P, persistent=False)": "self.P = P",
            ROWS: "P = self.P[:, : X.shape[1]].to(X.device)",
        },
        "the table stays in single precision, and so the sum is, whatever dtype the input has",
        "What is the dtype of a half-precision tensor plus one of single precision?",
        """
A table that is a plain attribute is not converted with the module, and a sum takes the wider of two dtypes. A model in
half precision is handed `float32` and stops at its next layer.

    >>> PositionalEncoding(4, 0.0).half()(torch.zeros(1, 3, 4).half()).dtype

It should be `torch.float16`, as what went in was.
""",
        seen="the d2l book, which moves the table to the device of the input and leaves its dtype",
    ),
    in_other_dtypes(
        "positions-counted-in-dtype",
        "PositionalEncoding",
        {
            ROWS: (
                "steps = torch.arange(X.shape[1], dtype=X.dtype, device=X.device)[:, None]\n"
                "        columns = torch.arange(0, X.shape[2], 2, dtype=X.dtype, device=X.device)\n"
                "        angles = steps / 10000 ** (columns / X.shape[2])\n"
                "        P = torch.zeros_like(X[:1])\n"
                "        P[..., 0::2] = angles.sin()\n"
                "        P[..., 1::2] = angles[:, : X.shape[2] // 2].cos()"
            ),
        },
        "positions and angles are computed in the dtype of the input, which cannot count far in half precision",
        "Which is the first whole number that `bfloat16` cannot hold, and how large is the error of an angle there?",
        """
A number of `bfloat16` has eight binary digits: behind 256 it counts in twos, behind 512 in fours, and an angle that is
off by one or two turns a sine into noise. In `float16` angles of several hundred are off by a quarter. The table is
computed once, in single or double precision, and only its rows are converted.

    >>> encoding, X = PositionalEncoding(4, 0.0), torch.zeros(1, 600, 4)
    >>> fine = encoding(X); coarse = encoding.bfloat16()(X.bfloat16())
    >>> (coarse - fine).abs().max()

A sine that is rounded to `bfloat16` is off by less than 0.01, at step 600 too.
""",
    ),
]

MISTAKES = [*ENCODING, *EMBEDDING, *SHIFT, *PRECISION]
