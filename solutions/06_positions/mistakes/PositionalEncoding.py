"""Known mistakes in PositionalEncoding; their pages are in PositionalEncoding.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "pos-exponent-counts-pairs",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions / 10000 ** (columns / 2 / num_hiddens)",
        ),
        says=(
            "the exponent counts the pairs instead of twice the pairs, so that slow hands are not slow enough"
        ),
        asks="How long does the slowest hand of your clock take to go round, and how long should it?",
    ),
    mistake(
        "pos-exponent-doubled",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions / 10000 ** (2 * columns / num_hiddens)",
        ),
        says="the exponent is doubled twice: columns that already go in steps of two are doubled again",
        asks="The exponent of the last pair of features should be a little below one: what is yours?",
    ),
    mistake(
        "pos-exponent-rounded",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions / 10000 ** (columns // num_hiddens)",
        ),
        says="the exponent is rounded down to zero, so that all hands turn with the same speed",
        asks=(
            "What does a division give that throws its remainder away, if the first number is the smaller "
            "one?"
        ),
    ),
    mistake(
        "pos-one-speed",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions.expand(-1, len(columns)) * 1e-4",
        ),
        says="all hands turn with the same slow speed",
        asks="Which positions can the fastest hand tell apart, and how fast is yours?",
    ),
    mistake(
        "pos-base-thousand",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions / 1000 ** (columns / num_hiddens)",
        ),
        says="the base of the frequencies is a thousand instead of ten thousand",
        asks="How many zeros does the base have in the lesson?",
    ),
    mistake(
        "pos-decimal-logarithm",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions * torch.exp(columns * (-4.0 / num_hiddens))",
        ),
        says=(
            "a decimal logarithm stands where the natural one belongs, so that the slow hands are much too "
            "fast"
        ),
        asks="The exponential function undoes one logarithm. Which?",
    ),
    mistake(
        "pos-degrees",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = torch.deg2rad(positions / 10000 ** (columns / num_hiddens))",
        ),
        says="angles are taken for degrees and turned into radians",
        asks="How many positions does your fastest hand need to go round once?",
    ),
    mistake(
        "pos-multiplied-by-power",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions * 10000 ** (columns / num_hiddens)",
        ),
        says="positions are multiplied by the powers instead of being divided by them",
        asks="Do your hands become slower or faster from pair to pair?",
    ),
    mistake(
        "pos-cosine-of-next-column",
        edit(
            "P[..., 1::2] = angles[:, : num_hiddens // 2].cos()",
            "P[..., 1::2] = (positions / 10000 ** ((columns + 1) / num_hiddens))[:, : num_hiddens // 2].cos()",
        ),
        says="the cosine of each pair turns slower than its sine: every column has a speed of its own",
        asks="Sine and cosine of one pair are one hand of the clock. Have they one speed?",
        seen="a frequent slip in hand-written encodings with a loop over columns",
    ),
    mistake(
        "pos-from-one",
        edit(
            "torch.arange(max_len, dtype=torch.float64)",
            "torch.arange(1, max_len + 1, dtype=torch.float64)",
        ),
        says="positions are counted from 1",
        asks="What should the first word of a sentence get added?",
    ),
    mistake(
        "pos-sine-cosine-exchanged",
        edit("P[..., 0::2] = angles.sin()", "P[..., 0::2] = angles.cos()"),
        edit(
            "P[..., 1::2] = angles[:, : num_hiddens // 2].cos()",
            "P[..., 1::2] = angles[:, : num_hiddens // 2].sin()",
        ),
        says="cosines stand in the even columns and sines in the odd ones",
        asks="What is the first number of the first row in the lesson's table?",
    ),
    mistake(
        "pos-halves",
        edit("P[..., 0::2] = angles.sin()", "P[..., : len(columns)] = angles.sin()"),
        edit(
            "P[..., 1::2] = angles[:, : num_hiddens // 2].cos()",
            "P[..., len(columns) :] = angles[:, : num_hiddens // 2].cos()",
        ),
        says="all sines come first and then all cosines, instead of in turn",
        asks="Which two features make up the first hand of your clock, and which in the lesson?",
        kind="different",
        seen="tensor2tensor, get_timing_signal_1d",
    ),
    mistake(
        "pos-sines-only",
        edit(
            "P[..., 1::2] = angles[:, : num_hiddens // 2].cos()",
            "P[..., 1::2] = angles[:, : num_hiddens // 2].sin()",
        ),
        says="both features of each pair hold the sine",
        asks="Can you read the time from a shadow of the hand on one wall only?",
    ),
    mistake(
        "pos-every-step-is-first",
        edit("P = self.P[:, : X.shape[1]].to(X.dtype)", "P = self.P[:, :1].to(X.dtype)"),
        says="every step gets the vector of position 0",
        asks="Are two rows of what you add ever different?",
    ),
    mistake(
        "pos-by-batch",
        edit("P = self.P[:, : X.shape[1]].to(X.dtype)", "P = self.P[0, : len(X), None].to(X.dtype)"),
        says="each sentence of the batch gets one position, the same for all its words",
        asks="Along which axis of your result does the position change: over words, or over sentences?",
    ),
    mistake(
        "pos-sliced-by-batch",
        edit("X.shape[1]", "X.shape[0]"),
        says="as many rows of the table are taken as there are sentences, not as there are words",
        asks="Which axis of the input is the length?",
    ),
    mistake(
        "pos-odd-crash",
        edit("angles[:, : num_hiddens // 2].cos()", "angles.cos()"),
        says="an odd number of features makes it fail",
        asks="With five features, how many columns are even, and how many odd?",
        seen="Dive into Deep Learning and the PyTorch tutorials, which ask for even sizes",
    ),
    mistake(
        "pos-max-len-ignored",
        edit("torch.arange(max_len", "torch.arange(1000"),
        edit("torch.zeros(1, max_len", "torch.zeros(1, 1000"),
        says="the table has a thousand rows, however many were asked for",
        asks="Which argument is read nowhere in your code?",
    ),
    mistake(
        "pos-counts-on",
        edit(
            "self.dropout = nn.Dropout(dropout)",
            """
            self.dropout = nn.Dropout(dropout)
            self.start = 0
            """,
        ),
        edit(
            "P = self.P[:, : X.shape[1]].to(X.dtype)",
            """
            P = self.P[:, self.start : self.start + X.shape[1]].to(X.dtype)
            self.start += X.shape[1]
            """,
        ),
        says="a second call goes on counting where the first one stopped",
        asks="A new batch begins. At which position does your encoding put its first word?",
    ),
    mistake(
        "pos-words-lost",
        edit("self.dropout(X + P)", "self.dropout(P.expand(X.shape))"),
        says="only the positions come back: the words are lost",
        asks="Put two different sentences in. What is the difference of what comes out?",
        kind="different",
    ),
    mistake(
        "pos-concatenated",
        edit("self.dropout(X + P)", "self.dropout(torch.cat([X, P.expand(X.shape)], dim=-1))"),
        says="positions are put beside the words instead of being added",
        asks="How many features come out, and how many went in?",
        kind="different",
    ),
    mistake(
        "pos-multiplied",
        edit("self.dropout(X + P)", "self.dropout(X * P)"),
        says="words are multiplied by the positions instead of positions being added",
        asks="At position 0 every sine is zero. What is left of the first word?",
    ),
    mistake(
        "pos-words-scaled",
        edit("self.dropout(X + P)", "self.dropout(X * X.shape[-1] ** 0.5 + P)"),
        says="the words are multiplied by the root of the number of features in here",
        asks="Whose task is it to make words as loud as positions, this module's or the encoder's?",
        kind="different",
    ),
    mistake(
        "pos-input-changed",
        edit(
            "return self.dropout(X + P)",
            """
            X += P
            return self.dropout(X)
            """,
        ),
        says="positions are added into the caller's own tensor",
        asks="Does the input still hold the same numbers after the call?",
    ),
    mistake(
        "pos-words-detached",
        edit("self.dropout(X + P)", "self.dropout(X.detach() + P)"),
        says="no gradient reaches the words through the sum",
        asks="After a backward pass, what is the gradient of the embedding in front of this module?",
    ),
    mistake(
        "pos-no-dropout",
        edit("self.dropout(X + P)", "X + P"),
        says="dropout is never applied: training and evaluation give the same",
        asks="The module is told a rate. Where is it used?",
    ),
    mistake(
        "pos-dropout-on-words",
        edit("self.dropout(X + P)", "self.dropout(X) + P"),
        says="dropout acts on the words before the positions are added",
        asks="Which of the module's steps comes last?",
    ),
    mistake(
        "pos-dropout-on-positions",
        edit("self.dropout(X + P)", "X + self.dropout(P.expand(X.shape))"),
        says="dropout acts on the positions only, and words always come through whole",
        asks="Which of the module's steps comes last?",
    ),
    mistake(
        "pos-dropout-of-words-as-a-whole",
        edit("nn.Dropout(dropout)", "nn.Dropout1d(dropout)"),
        says="dropout takes whole words at a time instead of single features",
        asks="In one dropped vector, are some features gone, or all of them?",
    ),
    mistake(
        "pos-dropout-in-evaluation",
        edit("self.dropout(X + P)", "nn.functional.dropout(X + P, self.dropout.p)"),
        says="dropout stays on in evaluation",
        asks="How does the function that drops learn whether the module is in training or in evaluation?",
    ),
    mistake(
        "pos-table-is-trained",
        edit('self.register_buffer("P", P, persistent=False)', "self.P = nn.Parameter(P)"),
        says="the table is a parameter, so that training changes it",
        asks="What does an optimiser do with every parameter that it is handed?",
    ),
    mistake(
        "pos-learned",
        edit('self.register_buffer("P", P, persistent=False)', "self.P = nn.Parameter(torch.randn_like(P))"),
        says="positions are learned vectors that start at random",
        asks="Does anything in what you add follow from the formula?",
        kind="different",
        steady=False,
    ),
    device_mistake(
        "pos-table-left-behind",
        edit('self.register_buffer("P", P, persistent=False)', "self.P = P"),
        says="the table is a plain attribute, which stays behind when the module moves to another device",
        asks="What does a module take along when it moves, and what does it not know about?",
        seen="Dive into Deep Learning, which moves the table in forward instead",
    ),
    dtype_mistake(
        "positions-table-in-float32",
        edit('self.register_buffer("P", P, persistent=False)', "self.P = P"),
        edit("P = self.P[:, : X.shape[1]].to(X.dtype)", "P = self.P[:, : X.shape[1]].to(X.device)"),
        says="the table stays in single precision, and so the sum is, whatever dtype the input has",
        asks="What is the dtype of a half-precision tensor plus one of single precision?",
        seen="the d2l book, which moves the table to the device of the input and leaves its dtype",
    ),
    dtype_mistake(
        "positions-counted-in-dtype",
        edit(
            "P = self.P[:, : X.shape[1]].to(X.dtype)",
            """
            steps = torch.arange(X.shape[1], dtype=X.dtype, device=X.device)[:, None]
            columns = torch.arange(0, X.shape[2], 2, dtype=X.dtype, device=X.device)
            angles = steps / 10000 ** (columns / X.shape[2])
            P = torch.zeros_like(X[:1])
            P[..., 0::2] = angles.sin()
            P[..., 1::2] = angles[:, : X.shape[2] // 2].cos()
            """,
        ),
        says=(
            "positions and angles are computed in the dtype of the input, which cannot count far in half "
            "precision"
        ),
        asks=(
            "Which is the first whole number that `bfloat16` cannot hold, and how large is the error of an "
            "angle there?"
        ),
    ),
]
