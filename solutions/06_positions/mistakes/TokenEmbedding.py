"""Known mistakes in TokenEmbedding; their pages are in TokenEmbedding.md."""

from grader.authoring import edit, mistake

MISTAKES = [
    mistake(
        "emb-no-padding",
        edit("super().__init__(vocab_size, d_model, padding_idx=1)", "super().__init__(vocab_size, d_model)"),
        says="the table has no padding token: the row of token 1 starts at random and is trained, but should stay zero",
        asks="Which argument says that token 1 is padding?",
    ),
    mistake(
        "emb-padding-is-zero",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=0)",
        ),
        says="token 0 is treated as padding instead of token 1",
        asks="Which token is padding in this assignment?",
    ),
    mistake(
        "emb-padding-is-last",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=-1)",
        ),
        says="the last token of the vocabulary is treated as padding",
        asks="Which row does a negative index select?",
    ),
    mistake(
        "emb-padding-zero-once",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            """
            super().__init__(vocab_size, d_model)
            with torch.no_grad():
                self.weight[1].zero_()
            """,
        ),
        says="the row of padding starts as zeros, but it gets a gradient and is trained",
        asks="After one step of training, is the row still zero?",
    ),
    mistake(
        "emb-padding-not-zero",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            """
            super().__init__(vocab_size, d_model, padding_idx=1)
            nn.init.normal_(self.weight)
            """,
        ),
        says="the row of padding gets no gradient, but it starts at random",
        asks="What happens to the row of zeros when you fill the whole table again?",
    ),
    mistake(
        "emb-sizes-swapped",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(d_model, vocab_size, padding_idx=1)",
        ),
        says=(
            "the two sizes are swapped: the table has as many rows as features and as many columns as tokens"
        ),
        asks="Which of the two sizes is the number of rows?",
    ),
    mistake(
        "emb-rows-shortened",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1, max_norm=1.0)",
        ),
        says="vectors with a norm above 1 are scaled to norm 1 when they are looked up",
        asks="Does looking up a token change the table?",
    ),
    mistake(
        "emb-gradient-by-frequency",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1, scale_grad_by_freq=True)",
        ),
        says="the gradient of each token is divided by how often the token occurs in the batch",
        asks="A word occurs twice. Should its row get the sum of both gradients, or their mean?",
    ),
    mistake(
        "emb-frozen",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            """
            super().__init__(vocab_size, d_model, padding_idx=1)
            self.weight.requires_grad_(False)
            """,
        ),
        says="the whole table is frozen: no token ever learns",
        asks="Only one row should not be trained. How many rows are not trained in your table?",
    ),
    mistake(
        "emb-detached",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        return super().forward(tokens).detach()",
        ),
        says="vectors are detached from the table: no gradient reaches it",
        asks="After a backward pass, does the table have a gradient?",
    ),
    mistake(
        "emb-scaled",
        edit(
            "    def __init__(",
            "    def forward(self, tokens):\n        return super().forward(tokens) * self.embedding_dim**0.5\n\n    def __init__(",
        ),
        says="vectors are multiplied by the square root of the number of features",
        asks="Which module applies that factor, the embedding or the encoder?",
        kind="different",
    ),
    mistake(
        "emb-next-row",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        return super().forward((tokens + 1) % self.num_embeddings)",
        ),
        says="each token gets the row of the token after it",
        asks="Which row belongs to token 0?",
    ),
    mistake(
        "emb-row-before",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        return super().forward((tokens - 1) % self.num_embeddings)",
        ),
        says="each token gets the row of the token before it",
        asks="Which row belongs to token 1?",
    ),
    mistake(
        "emb-steps-first",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        return super().forward(tokens).transpose(0, 1)",
        ),
        says="the axis of steps comes before the axis of sentences in the result",
        asks="In which order are the axes of the tokens, and in which order are those of your result?",
    ),
    mistake(
        "emb-features-before-steps",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        return super().forward(tokens).transpose(1, 2)",
        ),
        says="features come before steps in the result",
        asks="Which axis of your result is as long as a sentence?",
    ),
    mistake(
        "emb-flattened",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        return super().forward(tokens.reshape(-1))",
        ),
        says="all sentences are joined into one axis",
        asks="How many axes does your result have, and how many should it have?",
    ),
    mistake(
        "emb-tokens-changed",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        out = super().forward(tokens)\n        tokens[tokens == 1] = 0\n        return out",
        ),
        says="the padding in the caller's tokens is overwritten",
        asks="Are the tokens the same after the call?",
    ),
]
