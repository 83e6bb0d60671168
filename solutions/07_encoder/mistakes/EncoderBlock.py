"""Known mistakes in EncoderBlock; their pages are in EncoderBlock.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "encblock-lens-not-passed",
        edit("X, X, X, valid_lens", "X, X, X, None"),
        says="the lengths are not passed to the attention, so it attends to padding like to any word",
        asks="Follow the lengths from the call to the softmax. Where are they lost?",
    ),
    mistake(
        "encblock-lens-of-first",
        edit(
            "X, X, X, valid_lens",
            "X, X, X, None if valid_lens is None else valid_lens[:1].expand_as(valid_lens)",
        ),
        says="the lengths of the first sentence are used for the whole batch",
        asks="How many lengths are passed, and how many of them do you use?",
    ),
    mistake(
        "encblock-mask-from-zeros",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            valid_lens = X.any(dim=-1).sum(dim=1)
            Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
            """,
        ),
        says="the lengths are guessed by counting the vectors that are not zero",
        asks="Is a vector of zeros always padding, and is padding always a vector of zeros?",
    ),
    mistake(
        "encblock-causal",
        edit("X, X, X, valid_lens", "X, X, X, torch.arange(1, X.shape[1] + 1).repeat(len(X), 1)"),
        says="each position attends to earlier positions only, as in a decoder, and the lengths are ignored",
        asks="Is there a reason why the first word of a complete sentence should not attend to the last?",
    ),
    mistake(
        "encblock-causal-and-lens",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            back = torch.arange(1, X.shape[1] + 1).repeat(len(X), 1)
            if valid_lens is not None:
                back = back.minimum(valid_lens.reshape(len(X), -1))
            Y = self.addnorm1(X, self.attention(X, X, X, back))
            """,
        ),
        says="in addition to the lengths, each position attends to earlier positions only, as in a decoder",
        asks="Is there a reason why the first word of a complete sentence should not attend to the last?",
    ),
    mistake(
        "encblock-mask-inverted",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            ends = X.flip(1)
            padding = None if valid_lens is None else X.shape[1] - valid_lens
            Y = self.addnorm1(X, self.attention(X, ends, ends, padding))
            """,
        ),
        says="the mask is inverted: the padding is attended to, and the words are not",
        asks=(
            'Does true mean "attend" in the mask that you create, and what does it mean for the attention?'
        ),
    ),
    mistake(
        "encblock-padding-blanked",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            if valid_lens is not None:
                lens = valid_lens if valid_lens.dim() == 1 else valid_lens.max(dim=1).values
                X = X * (torch.arange(X.shape[1]) < lens[:, None])[:, :, None]
            Y = self.addnorm1(X, self.attention(X, X, X, None))
            """,
        ),
        says="padding is set to zero in the input instead of being masked in the attention",
        asks="A key of zeros gets a score of zero. Which weight does the softmax give it?",
    ),
    mistake(
        "encblock-lens-changed",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
            if valid_lens is not None:
                valid_lens.clamp_(max=X.shape[1] - 1)
            """,
        ),
        forms=[
            [
                edit(
                    "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
                    """
                    Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
                    if valid_lens is not None:
                        valid_lens -= 1
                    """,
                )
            ]
        ],
        says="the caller's lengths are overwritten",
        asks="The next layer gets the same tensor of lengths. Which values does it find there?",
    ),
    mistake(
        "encblock-network-sees-input",
        edit("self.ffn(Y)", "self.ffn(X)"),
        says="the network gets the input of the block, not the result of the first sublayer",
        asks="Which tensor does the network get in the lesson's second formula?",
    ),
    mistake(
        "encblock-second-residual-from-input",
        edit("self.addnorm2(Y, ", "self.addnorm2(X, "),
        says=(
            "the second residual connection starts from the input of the block, so it skips the attention's "
            "result"
        ),
        asks=(
            "Which vector should the second residual connection add: the block's input, or the result of the "
            "first sublayer?"
        ),
    ),
    mistake(
        "encblock-no-first-addnorm",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            "Y = self.attention(X, X, X, valid_lens)",
        ),
        says=(
            "the attention's output goes straight into the network, without residual connection and "
            "normalisation"
        ),
        asks="If a word attends only to other words, where is its own vector kept?",
    ),
    mistake(
        "encblock-no-second-addnorm",
        edit("self.addnorm2(Y, self.ffn(Y))", "self.ffn(Y)"),
        says="the network's output is returned directly, without residual connection and normalisation",
        asks="What does the second residual connection add, and what is the last step of a block?",
    ),
    mistake(
        "encblock-not-normalised-at-end",
        edit("self.addnorm2(Y, self.ffn(Y))", "Y + self.ffn(Y)"),
        says="the second sum is never normalised, and dropout is not applied there",
        asks="Which of the four modules do you create and never call?",
    ),
    mistake(
        "encblock-residual-of-itself",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            Y = self.attention(X, X, X, valid_lens)
            Y = self.addnorm1(Y, Y)
            """,
        ),
        says="the first residual connection adds the attention's output to itself: the input is lost",
        asks="Which two tensors should be added in the first sum, and which two do you add?",
    ),
    mistake(
        "encblock-addnorm-arguments-swapped",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            "Y = self.addnorm1(self.attention(X, X, X, valid_lens), X)",
        ),
        edit("self.addnorm2(Y, self.ffn(Y))", "self.addnorm2(self.ffn(Y), Y)"),
        says=(
            "the two arguments of each AddNorm are swapped, so dropout is applied to the residual connection"
        ),
        asks="The order of the terms does not matter for a sum. For which step of AddNorm does it matter?",
    ),
    mistake(
        "encblock-one-norm-twice",
        edit("self.addnorm2(Y, self.ffn(Y))", "self.addnorm1(Y, self.ffn(Y))"),
        says="the first normalisation is used in both places, the second never",
        asks="After a backward pass, which parameters of the block have no gradient?",
    ),
    mistake(
        "encblock-one-norm-object",
        edit("self.addnorm2 = AddNorm(norm_shape, dropout)", "self.addnorm2 = self.addnorm1"),
        says="both normalisations are the same module with one set of parameters",
        asks="How many normalisations does the block have, and how many did you create?",
    ),
    mistake(
        "encblock-norms-exchanged",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            "Y = self.addnorm2(X, self.attention(X, X, X, valid_lens))",
        ),
        edit("self.addnorm2(Y, self.ffn(Y))", "self.addnorm1(Y, self.ffn(Y))"),
        says="the two normalisations are swapped",
        asks="Which of the two should follow the attention?",
    ),
    mistake(
        "encblock-network-first",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            "Y = self.addnorm1(X, self.ffn(X))",
        ),
        edit("self.addnorm2(Y, self.ffn(Y))", "self.addnorm2(Y, self.attention(Y, Y, Y, valid_lens))"),
        says="the network comes before the attention",
        asks="Which sublayer comes first in the lesson's formulas?",
    ),
    mistake(
        "encblock-pre-norm",
        """
            class EncoderBlock(nn.Module):
                def __init__(
                    self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                    num_heads, dropout, use_bias=False,
                ):
                    super().__init__()
                    self.attention = MultiHeadAttention(
                        key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=use_bias
                    )
                    self.addnorm1 = AddNorm(norm_shape, dropout)
                    self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
                    self.addnorm2 = AddNorm(norm_shape, dropout)

                def forward(self, X, valid_lens):
                    before = self.addnorm1.ln(X)
                    X = X + self.addnorm1.dropout(self.attention(before, before, before, valid_lens))
                    return X + self.addnorm2.dropout(self.ffn(self.addnorm2.ln(X)))
            """,
        says="the input of each sublayer is normalised, inside the residual connection: pre-norm",
        asks="In the design of 2017, does the normalisation come before a sublayer, or after the sum?",
        kind="different",
    ),
    mistake(
        "encblock-pre-norm-without-dropout",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            Y = self.addnorm1.ln(X)
            X = X + self.attention(Y, Y, Y, valid_lens)
            """,
        ),
        edit("self.addnorm2(Y, self.ffn(Y))", "X + self.ffn(self.addnorm2.ln(X))"),
        says=(
            "the input of each sublayer is normalised (pre-norm), and the output of the sublayer is never "
            "dropped"
        ),
        asks="In the design of 2017, does the normalisation come before a sublayer, or after the sum?",
        kind="different",
    ),
    mistake(
        "encblock-input-overwritten",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            X += self.addnorm1.dropout(self.attention(X, X, X, valid_lens))
            Y = self.addnorm1.ln(X)
            """,
        ),
        says="the attention's output is added to the caller's input in place",
        asks="Does the caller's tensor still have the same values after the call?",
    ),
    mistake(
        "encblock-use-bias-not-passed",
        edit(", bias=use_bias", ""),
        says=(
            "the attention never gets the option for biases: its projections have none even if the caller "
            "wants them"
        ),
        asks="Which argument of the block is never used in your code?",
    ),
    mistake(
        "encblock-use-bias-always",
        edit("bias=use_bias", "bias=True"),
        says="the projections of the attention have biases even if the caller wants none",
        asks="What is the default for biases, and what do you pass on?",
    ),
    mistake(
        "encblock-attention-without-dropout",
        edit("num_heads, dropout, bias", "num_heads, 0.0, bias"),
        says="the dropout rate is not passed to the attention",
        asks="In how many places of a block is dropout applied?",
    ),
    mistake(
        "encblock-addnorms-without-dropout",
        edit("AddNorm(norm_shape, dropout)", "AddNorm(norm_shape, 0.0)", times=2),
        says="the dropout rate is not passed to the two add-and-normalise steps",
        asks="In how many places of a block is dropout applied?",
    ),
    mistake(
        "encblock-output-dropped",
        edit(
            "return self.addnorm2(Y, self.ffn(Y))",
            "return nn.functional.dropout(self.addnorm2(Y, self.ffn(Y)), self.addnorm2.dropout.p, self.training)",
        ),
        says="dropout is applied once more to the block's output, after the last normalisation",
        asks="What should the next block get in training: a normalised vector, or one with dropped features?",
    ),
    mistake(
        "encblock-dropped-twice",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            attended = nn.functional.dropout(self.attention(X, X, X, valid_lens), self.addnorm1.dropout.p, self.training)
            Y = self.addnorm1(X, attended)
            """,
        ),
        says="the attention's output is dropped twice in a row",
        asks="Which module already applies dropout to the attention's output?",
    ),
    mistake(
        "encblock-attention-detached",
        edit("self.attention(X, X, X, valid_lens)", "self.attention(X, X, X, valid_lens).detach()"),
        says="no gradient flows through the attention: its projections never learn",
        asks="After a backward pass, which modules of the block have a gradient?",
    ),
    mistake(
        "encblock-one-head",
        edit("num_hiddens, num_heads, dropout", "num_hiddens, 1, dropout"),
        says="the attention always has a single head: the number of heads is ignored",
        asks="The layers have the same sizes for any number of heads. How can you check the number of heads?",
    ),
    mistake(
        "encblock-attention-only",
        edit("return self.addnorm2(Y, self.ffn(Y))", "return Y"),
        says="the block ends after its first sublayer: the network is never called",
        asks="Which of the four modules do you create and never call?",
    ),
    device_mistake(
        "block-full-lens-on-the-cpu",
        edit(
            "Y = self.addnorm1(X, self.attention",
            """
            if valid_lens is None:
                valid_lens = torch.full((X.shape[0],), X.shape[1])
            Y = self.addnorm1(X, self.attention
            """,
        ),
        says="if no lengths are passed, the block creates them on the CPU",
        asks="On which device is X, and on which device are the lengths that you create?",
    ),
    mistake(
        "encblock-ffn-ends-in-hidden-size",
        edit(
            "PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)",
            "PositionWiseFFN(ffn_num_input, ffn_num_hiddens, ffn_num_hiddens)",
        ),
        says="the last layer of the feed-forward network has the size of its hidden layer",
        asks="The output of the network is added to its input. Which size must it have?",
    ),
    mistake(
        "encblock-residual-detached",
        edit("self.addnorm1(X, self.attention(", "self.addnorm1(X.detach(), self.attention("),
        says="the outputs are right, but no gradient flows through the first residual connection",
        asks="How does the gradient reach the layers before this block, apart from the attention?",
    ),
    mistake(
        "encblock-residual-of-normed",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            """
            X = self.addnorm1.ln(X)
            Y = X + self.addnorm1.dropout(self.attention(X, X, X, valid_lens))
            Y = self.addnorm2.ln(Y)
            """,
        ),
        edit("self.addnorm2(Y, self.ffn(Y))", "Y + self.addnorm2.dropout(self.ffn(Y))"),
        says="the residual connection starts from the normalised input instead of the input",
        asks="What is added to the output of a sublayer: its input before or after the norm?",
    ),
    mistake(
        "encblock-only-queries-normed",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            "Y = X + self.addnorm1.dropout(self.attention(self.addnorm1.ln(X), X, X, valid_lens))",
        ),
        edit("self.addnorm2(Y, self.ffn(Y))", "Y + self.addnorm2.dropout(self.ffn(self.addnorm2.ln(Y)))"),
        says="only the queries are normalised, not the keys and values",
        asks="In self-attention all three come from one tensor. Do yours?",
    ),
]
