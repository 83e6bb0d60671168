"""Known mistakes in TransformerDecoder; their pages are in TransformerDecoder.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "decoder-softmax",
        edit("return self.dense(X), state", "return self.dense(X).softmax(dim=-1), state"),
        says="a softmax is applied to the scores: they are probabilities already",
        asks="Which part of training applies the softmax, and what does a second softmax do?",
    ),
    mistake(
        "decoder-log-softmax",
        edit("return self.dense(X), state", "return self.dense(X).log_softmax(dim=-1), state"),
        says="the scores are log-probabilities",
        asks="Should the decoder return scores of any size, or normalised ones?",
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
        says="a softmax is applied to the scores in evaluation, but not in training",
        asks="Should the meaning of the results depend on the mode of the decoder?",
    ),
    mistake(
        "decoder-softmax-over-steps",
        edit("return self.dense(X), state", "return self.dense(X).softmax(dim=1), state"),
        says="a softmax over the steps is applied to the scores",
        asks="Over which axis do you apply the softmax, and should there be one at all?",
    ),
    mistake(
        "decoder-returns-words",
        edit("return self.dense(X), state", "return self.dense(X).argmax(dim=-1), state"),
        says="the best word of each step is returned instead of the scores",
        asks="What can a loss compute from the index of a word, and what from the scores?",
    ),
    mistake(
        "decoder-last-step-only",
        edit("return self.dense(X), state", "return self.dense(X[:, -1:]), state"),
        says="scores are returned for the last step only",
        asks="In training all steps learn at once. How many rows of scores are needed?",
    ),
    mistake(
        "decoder-no-dense",
        edit("return self.dense(X), state", "return X, state"),
        says="the vectors of the last block are returned, without scores",
        asks="What maps a vector of D features to one score per word?",
    ),
    mistake(
        "decoder-dense-with-relu",
        edit("return self.dense(X), state", "return self.dense(X).relu(), state"),
        says="negative scores are set to zero",
        asks="May a score be negative, and what would it mean?",
    ),
    mistake(
        "decoder-tied-output",
        edit("return self.dense(X), state", "return X @ self.embedding.weight.T, state"),
        says="the scores are computed with the embedding table instead of the last linear layer",
        asks="The decoder has a last linear layer. Which of your parameters never get a gradient?",
        kind="different",
        forms=[
            [
                edit(
                    "self.attention_weights = [[], []]",
                    "self.dense.weight = self.embedding.weight\n        self.attention_weights = [[], []]",
                )
            ]
        ],
    ),
    mistake(
        "decoder-final-norm",
        edit(
            "return self.dense(X), state",
            "return self.dense(nn.functional.layer_norm(X, X.shape[-1:])), state",
        ),
        says="the last block's result is normalised once more before the scores",
        asks=(
            "What is the last step of each block, and is there any step between the last block and the "
            "scores?"
        ),
        kind="different",
    ),
    mistake(
        "decoder-not-scaled",
        edit(" * math.sqrt(self.num_hiddens)", ""),
        says="the embedding is not scaled before positions are added",
        asks="Which step of the lesson is between the embedding and the positions?",
    ),
    mistake(
        "decoder-scaled-by-d",
        edit("math.sqrt(self.num_hiddens)", "self.num_hiddens"),
        says="the embedding is multiplied by the number of hidden units instead of its square root",
        asks="By which factor does the lesson multiply the embedding?",
    ),
    mistake(
        "decoder-divided-by-root",
        edit("* math.sqrt(self.num_hiddens)", "/ math.sqrt(self.num_hiddens)"),
        says="the embedding is divided by the square root of the number of hidden units",
        asks="Attention scores are divided by a square root. What does the lesson do with the embedding?",
    ),
    mistake(
        "decoder-positions-scaled",
        edit("X = self.embedding(X) * math.sqrt(self.num_hiddens)", "X = self.embedding(X)"),
        edit(
            "X = self.pos_encoding(X)[:, earlier:]",
            "X = self.pos_encoding(X)[:, earlier:] * math.sqrt(self.num_hiddens)",
        ),
        says="the positions are scaled together with the embedding",
        asks="Which comes first: the factor, or the positions?",
    ),
    mistake(
        "decoder-no-positions",
        edit("X = self.pos_encoding(X)[:, earlier:]", "X = X[:, earlier:]"),
        says="no positions are added to the words",
        asks='How could the model distinguish "dog bites man" from "man bites dog" without positions?',
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
        asks="How often does the lesson's stack add positions?",
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
            "positions are counted in the module and never reset: a second sentence continues the count of "
            "the first"
        ),
        asks="You predict two sentences one after the other. Where is the counter of positions reset?",
    ),
    mistake(
        "decoder-blocks-reversed",
        edit("for block in self.blks:", "for block in reversed(self.blks):"),
        says="the blocks run from the last to the first",
        asks="Which block should get the embedded words?",
    ),
    mistake(
        "decoder-blocks-fed-with-embedding",
        edit("X, state = block(X, state)", "out, state = block(X, state)"),
        edit("return self.dense(X), state", "return self.dense(out), state"),
        says="every block gets the embedded words, and only the last one's result is used",
        asks="What is the input of the second block?",
    ),
    mistake(
        "decoder-last-block-skipped",
        edit("for block in self.blks:", "for block in list(self.blks)[:-1]:"),
        says="the last block is never run",
        asks="How many blocks are there, and how many of them do you call?",
    ),
    mistake(
        "decoder-one-block-repeated",
        edit("block = DecoderBlock(", "block = self.blks[0] if i else DecoderBlock("),
        says="all blocks are the same module",
        asks="How many different blocks does the stack hold? Do you create each of them anew?",
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
        says="every block has the same index, so all share one entry of the cache",
        asks="What does a block use its index for?",
    ),
    mistake(
        "decoder-one-place-for-all",
        edit("[None] * self.num_layers", "[None]"),
        says="a fresh state has one entry in the cache instead of one per block",
        asks="How many entries does the cache of a stack need?",
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
        says="every fresh state holds the same list, so a second sentence attends to the words of the first",
        asks="If you create two states, do they hold two lists, or one list twice?",
        seen="a list as a default argument of `init_state`: Python creates it only once",
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
        says="every call begins with an empty cache, so each word is scored without those before it",
        asks="When should the cache be emptied: at the start of a sentence, or at every call?",
    ),
    mistake(
        "decoder-lengths-dropped",
        edit("[enc_outputs, enc_valid_lens, [None]", "[enc_outputs, None, [None]"),
        says="the state does not contain the lengths of the source, so its padding is attended to",
        asks="Which arguments of `init_state` do the blocks need later?",
    ),
    mistake(
        "decoder-encoder-detached",
        edit("return [enc_outputs, enc_valid_lens", "return [enc_outputs.detach(), enc_valid_lens"),
        says="the encoder's outputs are detached when the state is created: the encoder cannot learn",
        asks=(
            "The loss is computed from the decoder's scores. Through which tensor does its gradient reach "
            "the encoder?"
        ),
    ),
    mistake(
        "decoder-lower-blocks-frozen",
        edit(
            "X, state = block(X, state)",
            "X, state = block(X.detach() if block is self.blks[-1] else X, state)",
        ),
        says="the gradient stops below the last block: the other blocks and the embedding cannot learn",
        asks="Which of your parameters get a gradient, and which do not?",
    ),
    mistake(
        "decoder-state-not-returned",
        edit("return self.dense(X), state", "return self.dense(X)"),
        says="the decoder returns its scores alone, without the state",
        asks="The next call needs two values from this one. Which is missing?",
    ),
    mistake(
        "decoder-state-first",
        edit("return self.dense(X), state", "return state, self.dense(X)"),
        says="the state is returned before the scores",
        asks="In which order does the docstring name the two returned values?",
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
        says="the blocks do not get the dropout rate and drop nothing",
        asks="The decoder gets the dropout rate. To which of its modules do you pass it?",
    ),
    mistake(
        "decoder-embedding-without-dropout",
        edit("PositionalEncoding(num_hiddens, dropout)", "PositionalEncoding(num_hiddens, 0.0)"),
        says="dropout is not applied to the sum of words and positions: the rate is not passed on",
        asks="The decoder gets the dropout rate. To which of its modules do you pass it?",
    ),
    mistake(
        "decoder-dropout-before-positions",
        edit(
            "X = self.pos_encoding(X)[:, earlier:]",
            "X = (self.pos_encoding.dropout(X) + self.pos_encoding.P[:, : X.shape[1]].to(X))[:, earlier:]",
        ),
        says="dropout is applied to the words before the positions are added, not to the sum",
        asks=(
            "To what does the lesson apply dropout before the first block: the word alone, or the sum of "
            "word and position?"
        ),
    ),
    mistake(
        "decoder-dropout-before-scores",
        edit("return self.dense(X), state", "return self.dense(self.pos_encoding.dropout(X)), state"),
        says="dropout is applied once more to the last block's result before the scores",
        asks="In how many places does this decoder apply dropout, and is any of them after the last block?",
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
        says="dropout is applied in evaluation",
        asks="How does a dropout function know that the model is not in training mode?",
    ),
    mistake(
        "decoder-weights-exchanged",
        edit("[self_weights, cross_weights]", "[cross_weights, self_weights]"),
        says="the stored weights are exchanged: those of the cross-attentions come first",
        asks="The two lists hold tensors of different shapes. Which shape should the first list have?",
    ),
    mistake(
        "decoder-weights-in-one-list",
        edit("self_weights, cross_weights = [], []", "self_weights = cross_weights = []"),
        says="both lists of stored weights are the same list, so it holds the weights of both attentions",
        asks="How many lists does this line create: two, or one with two names?",
        seen="`[[]] * 2`, which is one list twice",
    ),
    mistake(
        "decoder-weights-pile-up",
        edit("self_weights, cross_weights = [], []", "self_weights, cross_weights = self.attention_weights"),
        says="the lists of stored weights are not emptied at each call, so they grow",
        asks="How many tensors does each list hold after the second call?",
        forms=[
            (
                edit(
                    "return [enc_outputs, enc_valid_lens, [None]",
                    """
                    self.attention_weights = [[], []]
                    return [enc_outputs, enc_valid_lens, [None]
                    """,
                ),
                edit(
                    "self_weights, cross_weights = [], []",
                    "self_weights, cross_weights = self.attention_weights",
                ),
            )
        ],
    ),
    mistake(
        "decoder-weights-by-layer",
        edit(
            "self.attention_weights = [self_weights, cross_weights]",
            "self.attention_weights = list(zip(self_weights, cross_weights, strict=True))",
        ),
        says="the stored weights are one pair per layer, not one list per attention",
        asks="What is the first entry of your list: the weights of one layer, or those of all self-attentions?",
    ),
    device_mistake(
        "decoder-scale-on-the-cpu",
        edit(
            "math.sqrt(self.num_hiddens)",
            "torch.sqrt(torch.tensor([self.num_hiddens], dtype=self.embedding.weight.dtype))",
        ),
        says="the scale of the embedding is a tensor with an axis that is created on the CPU",
        asks="Does the square root of a size need to be a tensor?",
    ),
    device_mistake(
        "decoder-empty-rows-on-the-cpu",
        edit(
            "X = nn.functional.pad(X, (0, 0, earlier, 0))",
            "X = torch.cat((torch.zeros(X.shape[0], earlier, X.shape[2], dtype=X.dtype), X), dim=1)",
        ),
        says="the rows for the earlier steps are created on the CPU",
        asks="On which device are the rows that you prepend, and on which device are the embedded words?",
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
        says="the lengths of the source are converted to a Python list and back, so they end up on the CPU",
        asks="On which device are the lengths before that line, and after it?",
    ),
    dtype_mistake(
        "decoder-scale-in-float32",
        edit("math.sqrt(self.num_hiddens)", "torch.tensor([self.num_hiddens], device=X.device).sqrt()"),
        says=(
            "the embeddings are multiplied by a tensor of single precision and become single precision "
            "themselves"
        ),
        asks=(
            "What is the dtype of a half-precision tensor times a single-precision tensor, and what is it "
            "times a Python number?"
        ),
    ),
    mistake(
        "decoder-scaled-by-vocabulary",
        edit("math.sqrt(self.num_hiddens)", "math.sqrt(self.embedding.num_embeddings)"),
        says="the embedding is multiplied by the root of the size of the vocabulary",
        asks="Which number does the scale depend on: how many words there are, or how many features a word has?",
    ),
    mistake(
        "decoder-starts-from-the-source",
        edit(
            "self_weights, cross_weights = [], []",
            "self_weights, cross_weights = [], []\n        X = state[0]",
        ),
        says="the first block gets the outputs of the encoder instead of the words of the target",
        asks="Which two things does a decoder read, and in which argument does each block get them?",
    ),
]
