"""Known mistakes in TokenEmbedding; their pages are in TokenEmbedding.md."""

from grader.authoring import edit, mistake

MISTAKES = [
    mistake(
        "emb-no-padding",
        edit("super().__init__(vocab_size, d_model, padding_idx=1)", "super().__init__(vocab_size, d_model)"),
        says="no token is padding: its row starts at random and is trained like any other",
        asks="What do you tell the table about token 1?",
    ),
    mistake(
        "emb-padding-is-zero",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=0)",
        ),
        says="token 0 is taken for padding instead of token 1",
        asks="Which token is padding in this course?",
    ),
    mistake(
        "emb-padding-is-last",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=-1)",
        ),
        says="the last token of the vocabulary is taken for padding",
        asks="Which row does a negative number mean?",
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
        asks="What happens to the zeros when the whole table is filled anew?",
    ),
    mistake(
        "emb-sizes-swapped",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(d_model, vocab_size, padding_idx=1)",
        ),
        says="the two sizes have changed places: as many rows as features, as many features as tokens",
        asks="Which of the two sizes is the number of rows?",
    ),
    mistake(
        "emb-rows-shortened",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1, max_norm=1.0)",
        ),
        says="rows longer than one are cut down to length one when they are looked up",
        asks="Does looking something up change the table?",
    ),
    mistake(
        "emb-gradient-by-frequency",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1, scale_grad_by_freq=True)",
        ),
        says="gradients are divided by how often each token stands in the batch",
        asks=(
            "A word occurs twice. Should it learn twice as much from the batch, or as much as if it stood "
            "there once?"
        ),
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
        asks="Only one row should be spared from learning. How many are?",
    ),
    mistake(
        "emb-detached",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        return super().forward(tokens).detach()",
        ),
        says="vectors are cut off from the table: no gradient reaches it",
        asks="After a backward pass, does the table have a gradient?",
    ),
    mistake(
        "emb-scaled",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        return super().forward(tokens) * self.embedding_dim**0.5",
        ),
        says="vectors are multiplied by the root of their length",
        asks="Whose task is that factor, the table's or the encoder's?",
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
        says="steps come before sentences in the result",
        asks="In which order do the axes of the tokens stand, and in which those of your result?",
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
        says="sentences are laid end to end: the result no longer knows where one stops",
        asks="How many axes has your result, and how many should it have?",
    ),
    mistake(
        "emb-tokens-changed",
        edit(
            "super().__init__(vocab_size, d_model, padding_idx=1)",
            "super().__init__(vocab_size, d_model, padding_idx=1)\n\n    def forward(self, tokens):\n        out = super().forward(tokens)\n        tokens[tokens == 1] = 0\n        return out",
        ),
        says="padding is rewritten in the caller's tokens",
        asks="Are the tokens the same after the call?",
    ),
]
