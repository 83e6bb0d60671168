"""Known mistakes in EncoderBlock; their pages are in EncoderBlock.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "encblock-lens-not-passed",
        edit("X, X, X, valid_lens", "X, X, X, None"),
        says="the attention is never told the lengths, so padding is looked at like any word",
        asks="Follow the lengths from the call to the softmax: where do they stop?",
    ),
    mistake(
        "encblock-lens-of-first",
        edit(
            "X, X, X, valid_lens",
            "X, X, X, None if valid_lens is None else valid_lens[:1].expand_as(valid_lens)",
        ),
        says="the lengths of the first sentence are used for the whole batch",
        asks="How many lengths arrive, and how many of them do you use?",
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
        says="each position looks back only, as in a decoder, and the lengths are ignored",
        asks="Is there a reason why the first word of a finished sentence should not see the last?",
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
        says="on top of the lengths, each position looks back only, as in a decoder",
        asks="Is there a reason why the first word of a finished sentence should not see the last?",
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
        says="the mask is turned around: the padding is looked at, and the words are not",
        asks=(
            "In the mask that you made, does true mean look or look away, and what does the attention take "
            "it for?"
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
        says="padding is set to zero in the input instead of being hidden from the attention",
        asks="A key of zeros gets a score of zero. Which weight does the softmax make of that?",
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
        says="the caller's lengths are overwritten",
        asks="The next layer is handed the same lengths. What does it find in them?",
    ),
    mistake(
        "encblock-network-sees-input",
        edit("self.ffn(Y)", "self.ffn(X)"),
        says="the network works on what came into the block, not on what the attention gathered",
        asks="What is there to compute for the network, if it never sees what the attention found?",
    ),
    mistake(
        "encblock-second-residual-from-input",
        edit("self.addnorm2(Y, ", "self.addnorm2(X, "),
        says=(
            "the second half adds the network's output to what came into the block: the attention's result "
            "is passed by"
        ),
        asks="Which vector goes around the network, the block's input or what the first half made of it?",
    ),
    mistake(
        "encblock-no-first-addnorm",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            "Y = self.attention(X, X, X, valid_lens)",
        ),
        says="the attention's output goes straight into the network, without residual and normalisation",
        asks="If a word looks only at others, where is its own meaning kept?",
    ),
    mistake(
        "encblock-no-second-addnorm",
        edit("self.addnorm2(Y, self.ffn(Y))", "self.ffn(Y)"),
        says="the network's output is handed on as it is, without residual and normalisation",
        asks="What goes around the network, and what is the last thing that a block does?",
    ),
    mistake(
        "encblock-not-normalised-at-end",
        edit("self.addnorm2(Y, self.ffn(Y))", "Y + self.ffn(Y)"),
        says="the second sum is never normalised, and nothing is dropped there",
        asks="Which of the four parts do you build and never call?",
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
        says="the first half adds the attention's output to itself: what came in is lost",
        asks="Two things should meet in the first sum. Which two meet in yours?",
    ),
    mistake(
        "encblock-addnorm-arguments-swapped",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            "Y = self.addnorm1(self.attention(X, X, X, valid_lens), X)",
        ),
        edit("self.addnorm2(Y, self.ffn(Y))", "self.addnorm2(self.ffn(Y), Y)"),
        says=(
            "what came in and what is new are handed over in the wrong order, so that dropout hits the "
            "residual"
        ),
        asks="Addition does not mind the order of its terms. Which step in there does?",
    ),
    mistake(
        "encblock-one-norm-twice",
        edit("self.addnorm2(Y, self.ffn(Y))", "self.addnorm1(Y, self.ffn(Y))"),
        says="the first normalisation is used in both places, the second never",
        asks="After a backward pass, which of the block's weights have no gradient?",
    ),
    mistake(
        "encblock-one-norm-object",
        edit("self.addnorm2 = AddNorm(norm_shape, dropout)", "self.addnorm2 = self.addnorm1"),
        says="both normalisations are one and the same object with one set of weights",
        asks="How many normalisations does the block have, and how many did you build?",
    ),
    mistake(
        "encblock-norms-exchanged",
        edit(
            "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))",
            "Y = self.addnorm2(X, self.attention(X, X, X, valid_lens))",
        ),
        edit("self.addnorm2(Y, self.ffn(Y))", "self.addnorm1(Y, self.ffn(Y))"),
        says="the two normalisations have changed places",
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
        asks="What should be thought about first: what a word is, or what it has gathered?",
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
        says="each part is normalised in front and added behind: pre-norm",
        asks="In the block of 2017, does the normalisation come before a part, or after the sum?",
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
            "each part is normalised in front and added behind (pre-norm), and what is added is never dropped"
        ),
        asks="In the block of 2017, does the normalisation come before a part, or after the sum?",
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
        says="the attention's output is added into the caller's input",
        asks="Does the caller's tensor still hold the same numbers after the call?",
    ),
    mistake(
        "encblock-use-bias-not-passed",
        edit(", bias=use_bias", ""),
        says="the attention is never told about biases: its projections have none even if they are asked for",
        asks="Which argument of the block is read nowhere in your code?",
    ),
    mistake(
        "encblock-use-bias-always",
        edit("bias=use_bias", "bias=True"),
        says="the projections of the attention have biases even if none are asked for",
        asks="What does the default say about biases, and what do you hand on?",
    ),
    mistake(
        "encblock-attention-without-dropout",
        edit("num_heads, dropout, bias", "num_heads, 0.0, bias"),
        says="the rate of dropout is not handed on to the attention",
        asks="In how many places of a block is something dropped?",
    ),
    mistake(
        "encblock-addnorms-without-dropout",
        edit("AddNorm(norm_shape, dropout)", "AddNorm(norm_shape, 0.0)", times=2),
        says="the rate of dropout is not handed on to the two add-and-normalise steps",
        asks="In how many places of a block is something dropped?",
    ),
    mistake(
        "encblock-output-dropped",
        edit(
            "return self.addnorm2(Y, self.ffn(Y))",
            "return nn.functional.dropout(self.addnorm2(Y, self.ffn(Y)), self.addnorm2.dropout.p, self.training)",
        ),
        says="the block's output is dropped once more, behind the last normalisation",
        asks="What should the next block receive in training: a normalised vector, or one with holes?",
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
        says="what the attention adds is dropped twice in a row",
        asks="Which part already drops what it is handed before it adds it?",
    ),
    mistake(
        "encblock-attention-detached",
        edit("self.attention(X, X, X, valid_lens)", "self.attention(X, X, X, valid_lens).detach()"),
        says="no gradient flows through the attention: its projections never learn",
        asks="After a backward pass, which parts of the block have a gradient?",
    ),
    mistake(
        "encblock-one-head",
        edit("num_hiddens, num_heads, dropout", "num_hiddens, 1, dropout"),
        says="the attention has a single head, however many were asked for",
        asks="The layers have the same sizes for any number of heads. How would you notice a wrong one?",
    ),
    mistake(
        "encblock-attention-only",
        edit("return self.addnorm2(Y, self.ffn(Y))", "return Y"),
        says="the block ends after its first half: the network is never called",
        asks="Which of the four parts do you build and never call?",
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
        says="lengths that were not given are made up on the CPU",
        asks="Where does X live, and where the lengths made here?",
    ),
]
