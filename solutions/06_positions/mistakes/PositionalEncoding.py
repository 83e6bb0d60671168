"""Known mistakes in PositionalEncoding; their pages are in PositionalEncoding.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "pos-exponent-counts-pairs",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions / 10000 ** (columns / 2 / num_hiddens)",
        ),
        says="the exponent counts the pairs instead of twice the pairs, so the slow frequencies are too high",
        asks="After how many positions does your slowest pair repeat, and after how many should it?",
    ),
    mistake(
        "pos-exponent-doubled",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions / 10000 ** (2 * columns / num_hiddens)",
        ),
        says="the exponent is doubled twice: the column indices already go in steps of two",
        asks="The exponent of the last pair of features should be a little below 1. What is yours?",
    ),
    mistake(
        "pos-exponent-rounded",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions / 10000 ** (columns // num_hiddens)",
        ),
        says="the exponent is rounded down to zero, so all pairs of columns have the same frequency",
        asks="What does an integer division return if the first number is smaller than the second?",
    ),
    mistake(
        "pos-one-speed",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions.expand(-1, len(columns)) * 1e-4",
        ),
        says="all pairs of columns have the same low frequency",
        asks="Which positions can the highest frequency separate, and what is your highest frequency?",
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
            "the decimal logarithm is used instead of the natural one, so the slow frequencies are much too "
            "high"
        ),
        asks="The exponential function is the inverse of one logarithm. Which one?",
    ),
    mistake(
        "pos-degrees",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = torch.deg2rad(positions / 10000 ** (columns / num_hiddens))",
        ),
        says="the angles are treated as degrees and converted into radians",
        asks="How many positions does one period of your fastest pair have?",
    ),
    mistake(
        "pos-multiplied-by-power",
        edit(
            "angles = positions / 10000 ** (columns / num_hiddens)",
            "angles = positions * 10000 ** (columns / num_hiddens)",
        ),
        says="positions are multiplied by the powers instead of being divided by them",
        asks="Do your frequencies become lower or higher from pair to pair?",
    ),
    mistake(
        "pos-cosine-of-next-column",
        edit(
            "P[..., 1::2] = angles[:, : num_hiddens // 2].cos()",
            "P[..., 1::2] = (positions / 10000 ** ((columns + 1) / num_hiddens))[:, : num_hiddens // 2].cos()",
        ),
        says=(
            "the cosine of each pair has a lower frequency than its sine: every column has a frequency of "
            "its own"
        ),
        asks="Do the sine and the cosine of one pair have the same frequency?",
        seen="a frequent slip in hand-written encodings with a loop over columns",
    ),
    mistake(
        "pos-from-one",
        edit(
            "torch.arange(max_len, dtype=torch.float64)",
            "torch.arange(1, max_len + 1, dtype=torch.float64)",
        ),
        says="positions are counted from 1",
        asks="Which position does the first word of a sentence have?",
    ),
    mistake(
        "pos-sine-cosine-exchanged",
        edit("P[..., 0::2] = angles.sin()", "P[..., 0::2] = angles.cos()"),
        edit(
            "P[..., 1::2] = angles[:, : num_hiddens // 2].cos()",
            "P[..., 1::2] = angles[:, : num_hiddens // 2].sin()",
        ),
        says="cosines are in the even columns and sines in the odd ones",
        asks="What is the first value of the first row in the lesson's table?",
    ),
    mistake(
        "pos-halves",
        edit("P[..., 0::2] = angles.sin()", "P[..., : len(columns)] = angles.sin()"),
        edit(
            "P[..., 1::2] = angles[:, : num_hiddens // 2].cos()",
            "P[..., len(columns) :] = angles[:, : num_hiddens // 2].cos()",
        ),
        says="all sines come first and then all cosines, instead of alternating",
        asks="Which two features form the first pair in your table, and which in the lesson?",
        kind="different",
        seen="tensor2tensor, get_timing_signal_1d",
    ),
    mistake(
        "pos-sines-only",
        edit(
            "P[..., 1::2] = angles[:, : num_hiddens // 2].cos()",
            "P[..., 1::2] = angles[:, : num_hiddens // 2].sin()",
        ),
        says="both features of each pair are the sine",
        asks="Two angles have the same sine. Which value separates them?",
    ),
    mistake(
        "pos-every-step-is-first",
        edit("P = self.P[:, : X.shape[1]].to(X.dtype)", "P = self.P[:, :1].to(X.dtype)"),
        says="every step gets the vector of position 0",
        asks="Are any two rows of what you add different?",
    ),
    mistake(
        "pos-by-batch",
        edit("P = self.P[:, : X.shape[1]].to(X.dtype)", "P = self.P[0, : len(X), None].to(X.dtype)"),
        says="each sentence of the batch gets one position, the same for all its words",
        asks="Along which axis of your result does the position change: over words or over sentences?",
    ),
    mistake(
        "pos-sliced-by-batch",
        edit("X.shape[1]", "X.shape[0]"),
        says=(
            "the size of the batch, not the length of the sentences, decides how many rows of the table are "
            "used"
        ),
        asks="Which axis of the input is the length?",
    ),
    mistake(
        "pos-odd-crash",
        edit("angles[:, : num_hiddens // 2].cos()", "angles.cos()"),
        says="an odd number of features raises an error",
        asks="With five features, how many columns are even, and how many odd?",
        kind="policy",
        breaks="odd-width",
        seen="Dive into Deep Learning and the PyTorch tutorials, which ask for even sizes",
    ),
    mistake(
        "pos-max-len-ignored",
        edit("torch.arange(max_len", "torch.arange(1000"),
        edit("torch.zeros(1, max_len", "torch.zeros(1, 1000"),
        says="the table always has a thousand rows: the argument for its length is ignored",
        asks="Which argument is never used in your code?",
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
        says="a second call continues to count positions where the first one stopped",
        asks="A new batch begins. Which position does your encoding give to its first word?",
    ),
    mistake(
        "pos-words-lost",
        edit("self.dropout(X + P)", "self.dropout(P.expand(X.shape))"),
        says="only the positions are returned: the words are lost",
        asks="Pass two different sentences. What is the difference between the two outputs?",
        kind="different",
    ),
    mistake(
        "pos-concatenated",
        edit("self.dropout(X + P)", "self.dropout(torch.cat([X, P.expand(X.shape)], dim=-1))"),
        says="positions are concatenated to the words instead of being added",
        asks="How many features does the output have, and how many does the input have?",
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
        says="this module multiplies the words by the square root of the number of features",
        asks="Which module scales the embeddings, this one or the encoder?",
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
        says="positions are added to the caller's tensor in place",
        asks="Does the input still have the same values after the call?",
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
        says="dropout is never applied: training and evaluation give the same result",
        asks="The module gets a dropout rate. Where is it used?",
    ),
    mistake(
        "pos-dropout-on-words",
        edit("self.dropout(X + P)", "self.dropout(X) + P"),
        says="dropout is applied to the words before the positions are added",
        asks="Which of the module's steps comes last?",
    ),
    mistake(
        "pos-dropout-on-positions",
        edit("self.dropout(X + P)", "X + self.dropout(P.expand(X.shape))"),
        says="dropout is applied to the positions only, and the words are never dropped",
        asks="Which of the module's steps comes last?",
    ),
    mistake(
        "pos-dropout-of-words-as-a-whole",
        edit("nn.Dropout(dropout)", "nn.Dropout1d(dropout)"),
        says="dropout drops whole words instead of single features",
        asks="In one dropped vector, are some features zero, or all of them?",
    ),
    mistake(
        "pos-dropout-by-default",
        edit("self.dropout(X + P)", "nn.functional.dropout(X + P)"),
        says="dropout is called without the rate and without the mode: it drops one half, also in evaluation mode",
        asks="Which rate does `nn.functional.dropout` use if you pass none, and how does it know the mode of your module?",
    ),
    mistake(
        "pos-dropout-in-evaluation",
        edit("self.dropout(X + P)", "nn.functional.dropout(X + P, self.dropout.p)"),
        says="dropout is still active in evaluation",
        asks="How does a dropout function know whether the module is in training mode or in evaluation mode?",
    ),
    mistake(
        "pos-table-is-trained",
        edit('self.register_buffer("P", P, persistent=False)', "self.P = nn.Parameter(P)"),
        says="the table is a parameter, so training changes it",
        asks="What does an optimiser do with every parameter that it gets?",
    ),
    mistake(
        "pos-learned",
        edit('self.register_buffer("P", P, persistent=False)', "self.P = nn.Parameter(torch.randn_like(P))"),
        says="positions are learned vectors with random initial values",
        asks="Does anything in what you add follow from the formula?",
        kind="different",
    ),
    device_mistake(
        "pos-table-left-behind",
        edit('self.register_buffer("P", P, persistent=False)', "self.P = P"),
        says="the table is a plain attribute, so it does not move with the module to another device",
        asks="Which kinds of attributes does a module move to a new device, and which does it ignore?",
        seen="Dive into Deep Learning, which moves the table in forward instead",
    ),
    dtype_mistake(
        "positions-table-in-float32",
        edit('self.register_buffer("P", P, persistent=False)', "self.P = P"),
        edit("P = self.P[:, : X.shape[1]].to(X.dtype)", "P = self.P[:, : X.shape[1]].to(X.device)"),
        says="the table stays in single precision, and so does the sum, whatever dtype the input has",
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
            "positions and angles are computed in the dtype of the input, which cannot represent large "
            "integers exactly in half precision"
        ),
        asks=(
            "Which is the first integer that `bfloat16` cannot represent, and how large is the error of an "
            "angle there?"
        ),
    ),
    mistake(
        "pos-table-stays-zero",
        edit("P[..., 0::2] = angles.sin()", "sines = angles.sin()"),
        edit("P[..., 1::2] = angles[:, : num_hiddens // 2].cos()", "cosines = angles.cos()"),
        says="the table is never filled, so every position is zero",
        asks="After you compute the angles, which line writes their sines into the table?",
    ),
    mistake(
        "pos-cosines-over-sines",
        edit("P[..., 1::2] = angles[:, : num_hiddens // 2].cos()", "P[..., 0::2] = angles.cos()"),
        says="the cosines are written over the sines, and the odd columns stay zero",
        asks="Which columns does `0::2` select, and which does `1::2` select?",
    ),
    mistake(
        "pos-frequencies-per-step",
        edit("torch.arange(0, num_hiddens, 2, ", "torch.arange(0, max_len, 2, "),
        says="the frequencies are computed for the steps of the table instead of its features",
        asks="How many columns does the table have, and how many frequencies do you compute?",
    ),
]
