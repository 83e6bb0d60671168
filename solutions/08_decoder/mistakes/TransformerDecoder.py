"""Known mistakes in TransformerDecoder; their pages are in TransformerDecoder.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "decoder-softmax",
        edit("return self.dense(X), state", "return self.dense(X).softmax(dim=-1), state"),
        says="the scores went through a softmax: they are probabilities already",
        asks="Which part of training applies the softmax, and what does a second one do to the first?",
    ),
    mistake(
        "decoder-log-softmax",
        edit("return self.dense(X), state", "return self.dense(X).log_softmax(dim=-1), state"),
        says="the scores are logarithms of probabilities",
        asks="What does the lesson ask for: scores of any size, or something that has been normalised?",
        kind="different",
    ),
    mistake(
        "decoder-softmax-in-evaluation",
        edit(
            "return self.dense(X), state",
            """
            scores = self.dense(X)
            return scores if self.training else scores.softmax(dim=-1), state
            """,
        ),
        says="in evaluation the scores went through a softmax, in training they did not",
        asks="Does whoever calls the decoder have to know its mode to read its results?",
    ),
    mistake(
        "decoder-softmax-over-steps",
        edit("return self.dense(X), state", "return self.dense(X).softmax(dim=1), state"),
        says="the scores went through a softmax over the steps",
        asks="Over which axis do the alternatives lie, and is a softmax asked for at all?",
    ),
    mistake(
        "decoder-returns-words",
        edit("return self.dense(X), state", "return self.dense(X).argmax(dim=-1), state"),
        says="the best word of each step comes back instead of the scores",
        asks="What can a loss do with a word's number, and what can it do with scores?",
    ),
    mistake(
        "decoder-last-step-only",
        edit("return self.dense(X), state", "return self.dense(X[:, -1:]), state"),
        says="scores come back for the last step only",
        asks="In training all steps learn at once. How many rows of scores does that take?",
    ),
    mistake(
        "decoder-no-dense",
        edit("return self.dense(X), state", "return X, state"),
        says="the vectors of the last block come back, without scores",
        asks="What turns a vector of D numbers into one number for each word?",
    ),
    mistake(
        "decoder-dense-with-relu",
        edit("return self.dense(X), state", "return self.dense(X).relu(), state"),
        says="negative scores were set to zero",
        asks="May a score be negative, and what would it mean?",
    ),
    mistake(
        "decoder-tied-output",
        edit("return self.dense(X), state", "return X @ self.embedding.weight.T, state"),
        says="the scores are made with the embedding table instead of the last linear layer",
        asks="The contract names a last layer of its own. Which of your parameters never gets a gradient?",
        kind="different",
    ),
    mistake(
        "decoder-final-norm",
        edit(
            "return self.dense(X), state",
            "return self.dense(nn.functional.layer_norm(X, X.shape[-1:])), state",
        ),
        says="the last block's result is normalised once more before the scores",
        asks="With what does each block end, and does anything come between the last one and the scores?",
        kind="different",
    ),
    mistake(
        "decoder-not-scaled",
        edit(" * math.sqrt(self.num_hiddens)", ""),
        says="the embedding is not scaled up before positions are added",
        asks="How large is a fresh embedding beside a sine, and what does the lesson do about it?",
    ),
    mistake(
        "decoder-scaled-by-d",
        edit("math.sqrt(self.num_hiddens)", "self.num_hiddens"),
        says="the embedding is multiplied by the number of hidden units instead of its root",
        asks="By which factor does the lesson multiply the embedding?",
    ),
    mistake(
        "decoder-divided-by-root",
        edit("* math.sqrt(self.num_hiddens)", "/ math.sqrt(self.num_hiddens)"),
        says="the embedding is divided by the root of the number of hidden units",
        asks=(
            "Scores of an attention and embeddings both meet the same root. Which of them is divided, and "
            "which multiplied?"
        ),
    ),
    mistake(
        "decoder-positions-scaled",
        edit("X = self.embedding(X) * math.sqrt(self.num_hiddens)", "X = self.embedding(X)"),
        edit(
            "X = self.pos_encoding(X)[:, earlier:]",
            "X = self.pos_encoding(X)[:, earlier:] * math.sqrt(self.num_hiddens)",
        ),
        says="the positions are scaled up together with the embedding",
        asks="Which comes first: the factor, or the positions?",
    ),
    mistake(
        "decoder-no-positions",
        edit("X = self.pos_encoding(X)[:, earlier:]", "X = X[:, earlier:]"),
        says="no positions are added to the words",
        asks='Without positions, how does the model tell "dog bites man" from "man bites dog"?',
    ),
    mistake(
        "decoder-positions-from-one",
        edit(
            "X = nn.functional.pad(X, (0, 0, earlier, 0))  # (B, earlier + T, D)",
            "X = nn.functional.pad(X, (0, 0, earlier + 1, 0))",
        ),
        edit("self.pos_encoding(X)[:, earlier:]", "self.pos_encoding(X)[:, earlier + 1 :]"),
        says="positions are counted from one instead of from zero",
        asks="Which row of the table does the first word of a sentence get?",
    ),
    mistake(
        "decoder-positions-in-every-block",
        edit(
            "for block in self.blks:",
            """
            for block in self.blks:
                if block is not self.blks[0]:
                    X = self.pos_encoding(nn.functional.pad(X, (0, 0, earlier, 0)))[:, earlier:]
            """,
        ),
        says="positions are added again before every block",
        asks="How often does a word get its position, and who carries it on from block to block?",
    ),
    mistake(
        "decoder-position-counter-on-module",
        edit(
            "self.attention_weights = [[], []]",
            """
            self.attention_weights = [[], []]
            self.steps = 0
            """,
        ),
        edit(
            "earlier = 0 if self.training or cached is None else cached.shape[1]",
            """
            earlier = self.steps
            self.steps += 0 if self.training else X.shape[1]
            """,
        ),
        says=(
            "positions are counted in the module and never set back: a second sentence begins where the "
            "first one ended"
        ),
        asks=(
            "Two sentences are predicted one after the other. Who tells the counter of positions that a new"
            " one begins?"
        ),
    ),
    mistake(
        "decoder-blocks-reversed",
        edit("for block in self.blks:", "for block in reversed(self.blks):"),
        says="the blocks are run from the last to the first",
        asks="Which block meets the embedded words?",
    ),
    mistake(
        "decoder-blocks-fed-with-embedding",
        edit("X, state = block(X, state)", "out, state = block(X, state)"),
        edit("return self.dense(X), state", "return self.dense(out), state"),
        says="every block is fed with the embedded words, and only the last one's result is used",
        asks="What goes into the second block?",
    ),
    mistake(
        "decoder-last-block-skipped",
        edit("for block in self.blks:", "for block in list(self.blks)[:-1]:"),
        says="the last block is never run",
        asks="How many blocks are there, and how many of them did you run?",
    ),
    mistake(
        "decoder-one-block-repeated",
        edit("block = DecoderBlock(", "block = self.blks[0] if i else DecoderBlock("),
        says="all blocks are one and the same object",
        asks="How many different blocks does the stack hold: is each of them built anew?",
    ),
    mistake(
        "decoder-blocks-share-a-slot",
        edit(
            """
            dropout,
            i,
            """,
            """
            dropout,
            0,
            """,
        ),
        says="every block was given the same number, so that they share one place of the cache",
        asks="What does a block do with the number it is given?",
    ),
    mistake(
        "decoder-one-place-for-all",
        edit("[None] * self.num_layers", "[None]"),
        says="a fresh state has one place in the cache instead of one for each block",
        asks="How many places does the cache of a stack need?",
    ),
    mistake(
        "decoder-state-shared",
        edit(
            "self.attention_weights = [[], []]",
            """
            self.attention_weights = [[], []]
            self.cache = [None] * num_layers
            """,
        ),
        edit(
            "[enc_outputs, enc_valid_lens, [None] * self.num_layers]",
            "[enc_outputs, enc_valid_lens, self.cache]",
        ),
        says=(
            "every fresh state holds the same list, so that a second sentence still sees the words of the "
            "first"
        ),
        asks="Two calls for a fresh state: do you hand out two lists, or one list twice?",
        seen="a list as a default argument of `init_state`, a common trap of the language",
    ),
    mistake(
        "decoder-cache-renewed",
        edit(
            "self_weights, cross_weights = [], []",
            """
            state = [state[0], state[1], [None] * self.num_layers]
            self_weights, cross_weights = [], []
            """,
        ),
        says="every call begins with an empty cache, so that each word is scored without those before it",
        asks="Which call makes the cache empty: the one that begins a sentence, or every one?",
    ),
    mistake(
        "decoder-lengths-dropped",
        edit("[enc_outputs, enc_valid_lens, [None]", "[enc_outputs, None, [None]"),
        says="the lengths of the source are lost when the state is made: its padding is looked at",
        asks="Which of the things handed to `init_state` do the blocks need later on?",
    ),
    mistake(
        "decoder-encoder-detached",
        edit("return [enc_outputs, enc_valid_lens", "return [enc_outputs.detach(), enc_valid_lens"),
        says=(
            "the encoder's outputs are cut off from the gradient when the state is made: the encoder cannot"
            " learn"
        ),
        asks=(
            "Only the decoder knows how wrong the translation is. By which road does the encoder hear of it?"
        ),
    ),
    mistake(
        "decoder-lower-blocks-frozen",
        edit(
            "X, state = block(X, state)",
            "X, state = block(X.detach() if block is self.blks[-1] else X, state)",
        ),
        says="the gradient stops below the last block: the others and the embedding cannot learn",
        asks="Which of your parameters get a gradient, and which do not?",
    ),
    mistake(
        "decoder-state-not-returned",
        edit("return self.dense(X), state", "return self.dense(X)"),
        says="the decoder returns its scores alone, without the state",
        asks="The next call wants two things from this one. Which is missing?",
    ),
    mistake(
        "decoder-state-first",
        edit("return self.dense(X), state", "return state, self.dense(X)"),
        says="the state is returned before the scores",
        asks="In which order does the contract name the two things that come back?",
    ),
    mistake(
        "decoder-blocks-without-dropout",
        edit(
            """
            dropout,
            i,
            """,
            """
            0.0,
            i,
            """,
        ),
        says="nothing is dropped inside the blocks: the rate did not reach them",
        asks="The rate is handed to the decoder. To which of its parts do you hand it on?",
    ),
    mistake(
        "decoder-embedding-without-dropout",
        edit("PositionalEncoding(num_hiddens, dropout)", "PositionalEncoding(num_hiddens, 0.0)"),
        says="the sum of words and positions is not dropped: the rate did not reach it",
        asks="The rate is handed to the decoder. To which of its parts do you hand it on?",
    ),
    mistake(
        "decoder-dropout-before-positions",
        edit(
            "X = self.pos_encoding(X)[:, earlier:]",
            "X = (self.pos_encoding.dropout(X) + self.pos_encoding.P[:, : X.shape[1]].to(X))[:, earlier:]",
        ),
        says="the words are dropped before the positions are added instead of after it",
        asks="What is dropped before the first block: the word alone, or the sum of word and position?",
    ),
    mistake(
        "decoder-dropout-before-scores",
        edit("return self.dense(X), state", "return self.dense(self.pos_encoding.dropout(X)), state"),
        says="the last block's result is dropped once more before the scores",
        asks=(
            "How many places drop something in this decoder, and does any of them stand behind the last "
            "block?"
        ),
    ),
    mistake(
        "decoder-dropout-in-evaluation",
        edit(
            "return self.dense(X), state",
            """
            X = X if self.training else nn.functional.dropout(X, self.pos_encoding.dropout.p)
            return self.dense(X), state
            """,
        ),
        says="something is dropped in evaluation",
        asks="Functions of PyTorch that drop: how do they know that the model is not in training any more?",
    ),
    device_mistake(
        "decoder-scale-on-the-cpu",
        edit(
            "math.sqrt(self.num_hiddens)",
            "torch.sqrt(torch.tensor([self.num_hiddens], dtype=self.embedding.weight.dtype))",
        ),
        says="the scale of the embedding is a tensor with an axis that is made on the CPU",
        asks="Does the square root of a size need to be a tensor?",
    ),
    device_mistake(
        "decoder-empty-rows-on-the-cpu",
        edit(
            "X = nn.functional.pad(X, (0, 0, earlier, 0))",
            "X = torch.cat((torch.zeros(X.shape[0], earlier, X.shape[2], dtype=X.dtype), X), dim=1)",
        ),
        says="the rows that stand in for earlier steps are made on the CPU",
        asks="On which device are the rows that are laid in front, and on which the embedded words?",
    ),
    device_mistake(
        "decoder-state-lens-on-the-cpu",
        edit(
            "return [enc_outputs, enc_valid_lens,",
            """
            if enc_valid_lens is not None:
                enc_valid_lens = torch.tensor(enc_valid_lens.tolist())
            return [enc_outputs, enc_valid_lens,
            """,
        ),
        says="the lengths of the source go through a Python list and come back on the CPU",
        asks="On which device are the lengths before that line, and after it?",
    ),
    dtype_mistake(
        "decoder-scale-in-float32",
        edit("math.sqrt(self.num_hiddens)", "torch.tensor([self.num_hiddens], device=X.device).sqrt()"),
        says="the embeddings are scaled by a tensor of single precision, and become so themselves",
        asks=(
            "What is the dtype of a half-precision tensor times a tensor of single precision, and what is "
            "it times a plain number?"
        ),
    ),
]
