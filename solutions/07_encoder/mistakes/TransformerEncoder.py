"""Known mistakes in TransformerEncoder; their pages are in TransformerEncoder.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "encoder-not-scaled",
        edit("X = self.embedding(X) * math.sqrt(self.num_hiddens)", "X = self.embedding(X)"),
        says="the embedding is not scaled before the positions are added",
        asks="How large is an embedding with standard deviation one over root D, compared with a cosine?",
    ),
    mistake(
        "encoder-scaled-by-d",
        edit("math.sqrt(self.num_hiddens)", "self.num_hiddens"),
        says="the embedding is multiplied by the number of features, not by its square root",
        asks="By which factor does the lesson multiply the embedding?",
    ),
    mistake(
        "encoder-divided-by-root",
        edit("self.embedding(X) * math.sqrt", "self.embedding(X) / math.sqrt"),
        says="the embedding is divided by the square root of the number of features instead of multiplied",
        asks="Should the embedding become larger or smaller here, compared with sines and cosines?",
    ),
    mistake(
        "encoder-scaled-by-head-size",
        edit("self.num_hiddens = num_hiddens", "self.num_hiddens = num_hiddens // num_heads"),
        says="the factor is the square root of the size of one head, not of all features",
        asks="By which size does the attention divide, and which size is meant here?",
    ),
    mistake(
        "encoder-positions-scaled",
        edit("X = self.embedding(X) * math.sqrt(self.num_hiddens)", "X = self.embedding(X)"),
        edit("X = self.pos_encoding(X)", "X = self.pos_encoding(X) * math.sqrt(self.num_hiddens)"),
        says="positions are added before the scaling, so they are scaled too",
        asks="The factor should make words larger compared with positions. Does it, in your order?",
    ),
    mistake(
        "encoder-no-positions",
        edit("X = self.pos_encoding(X)", "pass"),
        says="no positions are added: the results do not depend on the order of the words",
        asks="Swap two words of a sentence. Does anything but the order of the results change?",
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
        says="one block is used in every place of the stack: all layers share one set of weights",
        asks="How many blocks do you create, and how many times do you add one?",
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
        says="every block gets the embedding, so only the last one has an effect",
        asks="What is the input of the second block, and what should it be?",
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
        says="the result is returned after the first block: the others never run",
        asks="How many blocks does the loop run before your function returns?",
    ),
    mistake(
        "encoder-blocks-reversed",
        edit("for block in self.blks", "for block in reversed(list(self.blks))"),
        says="the blocks run from the last to the first",
        asks="Which block should get the embedding?",
    ),
    mistake(
        "encoder-residual-around-blocks",
        edit("X = block(X, valid_lens)", "X = X + block(X, valid_lens)"),
        says="there is one more residual connection around every block",
        asks="Where are the residual connections of a block, and what is its last step?",
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
        says="the outputs of all blocks are summed instead of returning the last one",
        asks="What does the lesson's stack return: the sum of its layers, or the last one?",
    ),
    mistake(
        "encoder-final-norm",
        edit("return X", "return nn.functional.layer_norm(X, X.shape[-1:])"),
        says="the result is normalised once more at the end of the stack",
        asks="What is the last step of the last block?",
        kind="different",
    ),
    mistake(
        "encoder-lens-not-passed",
        edit("X = block(X, valid_lens)", "X = block(X, None)"),
        says="the lengths are not passed to the blocks, so they attend to padding like to any word",
        asks="Follow the lengths from the call to the blocks. Where are they lost?",
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
        says="only the first block gets the lengths; the later blocks attend to the padding",
        asks="After the first block, which values are at the padded positions?",
    ),
    mistake(
        "encoder-embedding-detached",
        edit("self.embedding(X)", "self.embedding(X).detach()"),
        says="no gradient reaches the embedding: words keep their random vectors",
        asks="After a backward pass, what is the gradient of the embedding?",
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
        says="the embedding table itself is multiplied, again at every call",
        asks="Call the encoder twice on the same words. Does the table change between the calls?",
    ),
    mistake(
        "encoder-last-step-only",
        edit("return X", "return X[:, -1]"),
        says="only the vector of the last position is returned",
        asks="How many vectors does a decoder attend to, for a source of T words?",
    ),
    mistake(
        "encoder-mean-of-steps",
        edit("return X", "return X.mean(dim=1)"),
        says="the mean over all positions is returned instead of one vector per position",
        asks="How many vectors does a decoder attend to, for a source of T words?",
    ),
    mistake(
        "encoder-always-two-blocks",
        edit("range(num_layers)", "range(2)"),
        says="the stack always has two blocks: the number of layers is ignored",
        asks="Which argument is never used in your code?",
    ),
    mistake(
        "encoder-one-block-too-few",
        edit("range(num_layers)", "range(1, num_layers)"),
        edit('f"block{i}"', 'f"block{i - 1}"'),
        says="the stack has one block too few",
        asks="How many integers are there from 1 up to, but not including, L?",
    ),
    mistake(
        "encoder-use-bias-not-passed",
        edit("                use_bias,\n", ""),
        says="the blocks never get the option for biases: they have none even if the caller wants them",
        asks="Which argument is never used in your code?",
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
        says="the dropout rate is not passed to the blocks",
        asks="Which modules of the encoder need the rate?",
    ),
    mistake(
        "encoder-positions-without-dropout",
        edit("PositionalEncoding(num_hiddens, dropout)", "PositionalEncoding(num_hiddens, 0.0)"),
        says="the dropout rate is not passed to the positional encoding",
        asks="Which modules of the encoder need the rate?",
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
        says="dropout is applied to the words before the positions are added, not to the sum",
        asks="Should a dropped feature still carry its position?",
    ),
    mistake(
        "encoder-weights-of-one-layer",
        edit("self.attention_weights.append(", "self.attention_weights = [("),
        edit("attention.attention_weights)  # (B·H, T, T)", "attention.attention_weights)]"),
        says="each layer replaces the stored weights of the layer before, so only those of the last layer are left",
        asks="How many tensors does the list hold after a call, and how many layers are there?",
    ),
    mistake(
        "encoder-weights-pile-up",
        edit(
            """
            X = self.pos_encoding(X)  # (B, T, D)
            self.attention_weights = []
            """,
            "X = self.pos_encoding(X)  # (B, T, D)",
        ),
        says="the list of stored weights is never emptied: it grows with every call",
        asks="How many tensors does the list hold after the second call?",
    ),
    mistake(
        "encoder-weights-last-first",
        edit("self.attention_weights.append(", "self.attention_weights.insert(0, "),
        says="the stored weights of the last layer come first",
        asks="Which layer adds its weights first, and where in the list are they after the call?",
    ),
    device_mistake(
        "encoder-scale-on-the-cpu",
        edit(
            "math.sqrt(self.num_hiddens)",
            "torch.sqrt(torch.tensor([self.num_hiddens], dtype=self.embedding.weight.dtype))",
        ),
        says="the scale of the embedding is a tensor with an axis that is created on the CPU",
        asks="Does the square root of a size need to be a tensor?",
        seen="often seen in tutorials, with a `.to(device)` that reads a global name",
    ),
    dtype_mistake(
        "encoder-scale-in-float32",
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
]
