"""Known mistakes in TransformerEncoder; their pages are in TransformerEncoder.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "encoder-not-scaled",
        edit("X = self.embedding(X) * math.sqrt(self.num_hiddens)", "X = self.embedding(X)"),
        says="the embedding is not multiplied by anything before the positions are added",
        asks="How large is an embedding of spread one over root D beside a cosine?",
    ),
    mistake(
        "encoder-scaled-by-d",
        edit("math.sqrt(self.num_hiddens)", "self.num_hiddens"),
        says="the embedding is multiplied by the number of features, not by its root",
        asks="Variances add up over features. What does that make of the length of a vector?",
    ),
    mistake(
        "encoder-divided-by-root",
        edit("self.embedding(X) * math.sqrt", "self.embedding(X) / math.sqrt"),
        says="the embedding is divided by the root of the number of features instead of multiplied",
        asks="Should words become louder or softer here, beside sines and cosines?",
    ),
    mistake(
        "encoder-scaled-by-head-size",
        edit("self.num_hiddens = num_hiddens", "self.num_hiddens = num_hiddens // num_heads"),
        says="the factor is the root of the size of one head, not of all features",
        asks="Which size does the attention divide by, and which one is meant here?",
    ),
    mistake(
        "encoder-positions-scaled",
        edit("X = self.embedding(X) * math.sqrt(self.num_hiddens)", "X = self.embedding(X)"),
        edit("X = self.pos_encoding(X)", "X = self.pos_encoding(X) * math.sqrt(self.num_hiddens)"),
        says="positions are added before the scaling, so they are scaled too",
        asks="The factor should change how loud words are beside positions. Does it, in your order?",
    ),
    mistake(
        "encoder-no-positions",
        edit("X = self.pos_encoding(X)", "pass"),
        says="no positions are added: the encoder cannot tell one order of the words from another",
        asks="Exchange two words of a sentence. Does anything but the order of the results change?",
    ),
    mistake(
        "encoder-positions-in-each-block",
        edit(
            "X = block(X, valid_lens)",
            "X = block(X if block is self.blks[0] else self.pos_encoding(X), valid_lens)",
        ),
        says="positions are added again before every block",
        asks="How often does the lesson's stack add positions?",
    ),
    mistake(
        "encoder-one-block-repeated",
        edit("block = EncoderBlock(", "block = self.blks[0] if i else EncoderBlock("),
        says="one and the same block stands in every place of the stack: all layers share one set of weights",
        asks="How many blocks do you build, and how many times do you add one?",
    ),
    mistake(
        "encoder-blocks-fed-embedding",
        edit(
            "X = self.pos_encoding(X)",
            """
            X = self.pos_encoding(X)
            embedded = X
            """,
        ),
        edit("X = block(X, valid_lens)", "X = block(embedded, valid_lens)"),
        says="every block is fed the embedding, so that only the last one counts",
        asks="What does the second block receive, and what should it?",
    ),
    mistake(
        "encoder-first-block-only",
        edit(
            """
            self.attention_weights.append(block.attention.attention.attention_weights)  # (B·H, T, T)

            """,
            """
            break

            """,
        ),
        says="the result is handed back after the first block: the others never run",
        asks="How far does the loop get before your result is handed back?",
    ),
    mistake(
        "encoder-blocks-reversed",
        edit("for block in self.blks", "for block in reversed(list(self.blks))"),
        says="the blocks run from the last to the first",
        asks="Which block should see the embedding?",
    ),
    mistake(
        "encoder-residual-around-blocks",
        edit("X = block(X, valid_lens)", "X = X + block(X, valid_lens)"),
        says="another residual leads around every block",
        asks="Where do residuals already stand in a block, and what comes last in it?",
    ),
    mistake(
        "encoder-outputs-added-up",
        edit(
            "X = self.pos_encoding(X)",
            """
            X = self.pos_encoding(X)
            total = 0
            """,
        ),
        edit(
            "X = block(X, valid_lens)",
            """
            X = block(X, valid_lens)
            total = total + X
            """,
        ),
        edit("return X", "return total"),
        says="the outputs of all blocks are added up instead of handing back the last one",
        asks="What does the lesson's stack give back, the sum of its layers or the top one?",
    ),
    mistake(
        "encoder-final-norm",
        edit("return X", "return nn.functional.layer_norm(X, X.shape[-1:])"),
        says="the result is normalised once more at the end of the stack",
        asks="What is the last step of the last block already?",
        kind="different",
    ),
    mistake(
        "encoder-lens-not-passed",
        edit("X = block(X, valid_lens)", "X = block(X, None)"),
        says="the blocks are never told the lengths, so padding is looked at like any word",
        asks="Follow the lengths from the call to the blocks: where do they stop?",
    ),
    mistake(
        "encoder-lens-first-block-only",
        edit(
            "X = block(X, valid_lens)",
            """
            X = block(X, valid_lens)
            valid_lens = None
            """,
        ),
        says="only the first block is told the lengths; later ones look at the padding",
        asks="After the first block, what stands in the padded positions?",
    ),
    mistake(
        "encoder-embedding-detached",
        edit("self.embedding(X)", "self.embedding(X).detach()"),
        says="no gradient reaches the embedding: words keep their random vectors for ever",
        asks="After a backward pass, what does the gradient of the embedding look like?",
    ),
    mistake(
        "encoder-table-scaled-in-place",
        edit(
            "X = self.embedding(X) * math.sqrt(self.num_hiddens)",
            """
            self.embedding.weight.data *= math.sqrt(self.num_hiddens)
            X = self.embedding(X)
            """,
        ),
        says="the table of embeddings itself is multiplied, again at every call",
        asks="Call it twice on the same words. What has become of the table in between?",
    ),
    mistake(
        "encoder-last-step-only",
        edit("return X", "return X[:, -1]"),
        says="only the vector of the last position is handed back",
        asks="How many vectors does a decoder want to look at, for a source of T words?",
    ),
    mistake(
        "encoder-mean-of-steps",
        edit("return X", "return X.mean(dim=1)"),
        says="the mean over all positions is handed back instead of a vector for each",
        asks="How many vectors does a decoder want to look at, for a source of T words?",
    ),
    mistake(
        "encoder-always-two-blocks",
        edit("range(num_layers)", "range(2)"),
        says="the stack has two blocks, however many were asked for",
        asks="Which argument is read nowhere in your code?",
    ),
    mistake(
        "encoder-one-block-too-few",
        edit("range(num_layers)", "range(1, num_layers)"),
        edit('f"block{i}"', 'f"block{i - 1}"'),
        says="the stack has one block fewer than was asked for",
        asks="How many numbers are there from 1 up to, but not including, L?",
    ),
    mistake(
        "encoder-use-bias-not-passed",
        edit("                use_bias,\n", ""),
        says="the blocks are never told about biases: there are none even if they are asked for",
        asks="Which argument is read nowhere in your code?",
    ),
    mistake(
        "encoder-blocks-without-dropout",
        edit(
            """
            dropout,

            """,
            """
            0.0,

            """,
        ),
        says="the rate of dropout is not handed on to the blocks",
        asks="Which parts of the encoder should know the rate?",
    ),
    mistake(
        "encoder-positions-without-dropout",
        edit("PositionalEncoding(num_hiddens, dropout)", "PositionalEncoding(num_hiddens, 0.0)"),
        says="the rate of dropout is not handed on to the positions",
        asks="Which parts of the encoder should know the rate?",
    ),
    mistake(
        "encoder-dropout-before-positions",
        edit(
            "PositionalEncoding(num_hiddens, dropout)",
            """
            PositionalEncoding(num_hiddens, 0.0)
            self.dropout = nn.Dropout(dropout)
            """,
        ),
        edit(
            "X = self.embedding(X) * math.sqrt(self.num_hiddens)",
            "X = self.dropout(self.embedding(X) * math.sqrt(self.num_hiddens))",
        ),
        says="words are dropped before the positions are added, and the sum is not",
        asks="Should a dropped feature still tell its position?",
    ),
    device_mistake(
        "encoder-scale-on-the-cpu",
        edit(
            "math.sqrt(self.num_hiddens)",
            "torch.sqrt(torch.tensor([self.num_hiddens], dtype=self.embedding.weight.dtype))",
        ),
        says="the scale of the embedding is a tensor with an axis that is made on the CPU",
        asks="Does the square root of a size need to be a tensor?",
        seen="often seen in tutorials, with a `.to(device)` that reads a global name",
    ),
    dtype_mistake(
        "encoder-scale-in-float32",
        edit("math.sqrt(self.num_hiddens)", "torch.tensor([self.num_hiddens], device=X.device).sqrt()"),
        says="the embeddings are scaled by a tensor of single precision, and become so themselves",
        asks=(
            "What is the dtype of a half-precision tensor times a tensor of single precision, and what is "
            "it times a plain number?"
        ),
    ),
]
