"""Known mistakes in AddNorm; their pages are in AddNorm.md."""

from grader.authoring import dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "addnorm-norm-inside",
        edit("self.ln(self.dropout(Y) + X)", "X + self.dropout(self.ln(Y))"),
        says="only the output of the sublayer is normalised, not its sum with the input",
        asks="Which vector should have mean 0 and variance 1 at the end: the term that is added, or the sum?",
        kind="different",
    ),
    mistake(
        "addnorm-norm-inside-after-dropout",
        edit("self.ln(self.dropout(Y) + X)", "X + self.ln(self.dropout(Y))"),
        says=(
            "the output of the sublayer is normalised after its dropout, and the sum with the input is not "
            "normalised"
        ),
        asks="Which vector should have mean 0 and variance 1 at the end: the term that is added, or the sum?",
        kind="different",
    ),
    mistake(
        "addnorm-no-residual",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(self.dropout(Y))"),
        says="the input is never added: only the output of the sublayer is normalised",
        asks="If the output of the sublayer is zero, what should be returned, and what is?",
    ),
    mistake(
        "addnorm-no-norm",
        edit("self.ln(self.dropout(Y) + X)", "self.dropout(Y) + X"),
        says="the two terms are added, and the sum is never normalised",
        asks="What are the mean and the variance of one of your output vectors?",
    ),
    mistake(
        "addnorm-residual-twice",
        edit("self.ln(self.dropout(Y) + X)", "X + self.ln(self.dropout(Y) + X)"),
        says="the input is added a second time, after the normalisation",
        asks="How often should the input be added, and what should be the very last step?",
    ),
    mistake(
        "addnorm-normalised-apart",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(X) + self.ln(self.dropout(Y))"),
        says="both inputs are normalised separately and then added",
        asks=(
            "The output of the sublayer is small and its input is large. How large are both after your "
            "normalisation?"
        ),
    ),
    mistake(
        "addnorm-difference",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(self.dropout(Y) - X)"),
        says="the input is subtracted from the output of the sublayer instead of being added to it",
        asks="Which sign does the input have in your result when the output of the sublayer is zero?",
    ),
    mistake(
        "addnorm-dropout-on-sum",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(self.dropout(Y + X))"),
        says="dropout is applied to the sum, so it also drops parts of the residual connection",
        asks="Which of the two terms should never be dropped?",
        kind="different",
    ),
    mistake(
        "addnorm-dropout-on-residual",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(Y + self.dropout(X))"),
        says="dropout is applied to the input of the sublayer instead of its output",
        asks="Which of the two arguments is the output of the sublayer?",
    ),
    mistake(
        "addnorm-dropout-after-norm",
        edit("self.ln(self.dropout(Y) + X)", "self.dropout(self.ln(Y + X))"),
        says="dropout is applied to the result of the normalisation",
        asks=(
            "What are the mean and the variance of your result in training mode? Which step should be the "
            "last?"
        ),
    ),
    mistake(
        "addnorm-no-dropout",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(Y + X)"),
        says="dropout is never applied: training and evaluation give the same result",
        asks="Call it twice in training mode, on the same input. Should the results agree?",
    ),
    mistake(
        "addnorm-dropout-by-default",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(nn.functional.dropout(Y) + X)"),
        says="dropout is called without the rate and without the mode: it drops one half, also in evaluation mode",
        asks="Which rate does `nn.functional.dropout` use if you pass none, and how does it know the mode of your module?",
    ),
    mistake(
        "addnorm-dropout-in-evaluation",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(nn.functional.dropout(Y, self.dropout.p) + X)"),
        says="dropout is still active in evaluation",
        asks="How does a dropout function know whether the module is in training mode or in evaluation mode?",
    ),
    mistake(
        "addnorm-dropout-not-scaled",
        edit(
            "self.ln(self.dropout(Y) + X)",
            "self.ln(Y * (torch.rand_like(Y) >= self.dropout.p) + X if self.training else Y + X)",
        ),
        says="values are dropped, and the kept values are not scaled up",
        asks=(
            "If half of the values are dropped, how large is their sum on average, in training and in "
            "evaluation?"
        ),
    ),
    mistake(
        "addnorm-whole-steps-dropped",
        edit("nn.Dropout(", "nn.Dropout1d("),
        says="dropout drops whole positions instead of single features",
        asks="In one dropped vector, are some features zero, or all of them?",
    ),
    mistake(
        "addnorm-rate-is-kept-share",
        edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)"),
        says="the rate is treated as the share of values to keep, so a rate of 0 drops everything",
        asks="With a rate of 0.1, how many values in a hundred should be dropped?",
    ),
    mistake(
        "addnorm-over-steps",
        """
            class AddNorm(nn.Module):
                def __init__(self, normalized_shape, dropout):
                    super().__init__()
                    self.dropout = nn.Dropout(dropout)
                    self.ln = nn.LayerNorm(normalized_shape)

                def forward(self, X, Y):
                    Z = self.dropout(Y) + X
                    axes = tuple(range(-self.ln.weight.dim(), 0))
                    Z = (Z - Z.mean(1, keepdim=True)) / (Z.var(1, correction=0, keepdim=True) + 1e-5).sqrt()
                    return Z * self.ln.weight + self.ln.bias
            """,
        says=(
            "the mean and the variance are computed over the steps of a sentence, for each feature, instead "
            "of over the features"
        ),
        asks="Which axis disappears when you take the mean of one word's vector?",
    ),
    mistake(
        "addnorm-over-steps-and-features",
        edit(
            "self.ln(self.dropout(Y) + X)",
            "nn.functional.layer_norm(self.dropout(Y) + X, X.shape[1:]) * self.ln.weight + self.ln.bias",
        ),
        says="the mean and the variance are computed over all steps and features of a sentence together",
        asks="When one word of the sentence changes, which means should change?",
    ),
    mistake(
        "addnorm-over-batch",
        """
            class AddNorm(nn.Module):
                def __init__(self, normalized_shape, dropout):
                    super().__init__()
                    self.dropout = nn.Dropout(dropout)
                    self.ln = nn.LayerNorm(normalized_shape)

                def forward(self, X, Y):
                    Z = self.dropout(Y) + X
                    axes = tuple(range(-self.ln.weight.dim(), 0))
                    Z = (Z - Z.mean((0, 1), keepdim=True)) / (Z.var((0, 1), correction=0, keepdim=True) + 1e-5).sqrt()
                    return Z * self.ln.weight + self.ln.bias
            """,
        says="each feature is normalised over the whole batch and all steps, as in batch normalisation",
        asks="Should the result for one sentence depend on the other sentences of the batch?",
    ),
    mistake(
        "addnorm-annotated",
        """
            class AddNorm(nn.Module):
                def __init__(self, normalized_shape, dropout):
                    super().__init__()
                    self.dropout = nn.Dropout(dropout)
                    self.ln = nn.LayerNorm(normalized_shape)

                def forward(self, X, Y):
                    Z = self.dropout(Y) + X
                    axes = tuple(range(-self.ln.weight.dim(), 0))
                    Z = (Z - Z.mean(-1, keepdim=True)) / (Z.std(-1, keepdim=True) + 1e-6)
                    return Z * self.ln.weight + self.ln.bias
            """,
        says=(
            "the standard deviation divides by one less than the number of features, and epsilon is added "
            "outside the root"
        ),
        asks="In the lesson's example with two features, by what is the sum of squares divided?",
        kind="different",
        seen="The Annotated Transformer (Harvard NLP), class LayerNorm",
    ),
    mistake(
        "addnorm-variance-n-minus-one",
        """
            class AddNorm(nn.Module):
                def __init__(self, normalized_shape, dropout):
                    super().__init__()
                    self.dropout = nn.Dropout(dropout)
                    self.ln = nn.LayerNorm(normalized_shape)

                def forward(self, X, Y):
                    Z = self.dropout(Y) + X
                    axes = tuple(range(-self.ln.weight.dim(), 0))
                    Z = (Z - Z.mean(axes, keepdim=True)) / (Z.var(axes, keepdim=True) + 1e-5).sqrt()
                    return Z * self.ln.weight + self.ln.bias
            """,
        says="the variance is divided by one less than the number of features",
        asks="The default of PyTorch's variance divides by n-1. By what does the lesson divide?",
    ),
    mistake(
        "addnorm-divided-by-variance",
        """
            class AddNorm(nn.Module):
                def __init__(self, normalized_shape, dropout):
                    super().__init__()
                    self.dropout = nn.Dropout(dropout)
                    self.ln = nn.LayerNorm(normalized_shape)

                def forward(self, X, Y):
                    Z = self.dropout(Y) + X
                    axes = tuple(range(-self.ln.weight.dim(), 0))
                    Z = (Z - Z.mean(axes, keepdim=True)) / (Z.var(axes, correction=0, keepdim=True) + 1e-5)
                    return Z * self.ln.weight + self.ln.bias
            """,
        says="vectors are divided by their variance instead of its root",
        asks="A vector becomes ten times as long. By which factor does your result change?",
    ),
    mistake(
        "addnorm-not-centred",
        """
            class AddNorm(nn.Module):
                def __init__(self, normalized_shape, dropout):
                    super().__init__()
                    self.dropout = nn.Dropout(dropout)
                    self.ln = nn.LayerNorm(normalized_shape)

                def forward(self, X, Y):
                    Z = self.dropout(Y) + X
                    axes = tuple(range(-self.ln.weight.dim(), 0))
                    Z = Z / (Z.square().mean(axes, keepdim=True) + 1e-5).sqrt()
                    return Z * self.ln.weight + self.ln.bias
            """,
        says="vectors are scaled to unit size, but their mean is not subtracted",
        asks="What is the mean over the features of one of your outputs?",
        kind="different",
    ),
    mistake(
        "addnorm-large-eps",
        edit("nn.LayerNorm(normalized_shape)", "nn.LayerNorm(normalized_shape, eps=1e-2)"),
        says="epsilon is so large that it makes every vector visibly shorter",
        asks="How large may a term be that only prevents a division by zero?",
    ),
    mistake(
        "addnorm-no-affine",
        edit("nn.LayerNorm(normalized_shape)", "nn.LayerNorm(normalized_shape, elementwise_affine=False)"),
        says="the normalisation has neither of the two learned vectors",
        asks="What follows in the lesson's formula after a vector has mean 0 and variance 1?",
    ),
    mistake(
        "addnorm-affine-unused",
        edit(
            "self.ln(self.dropout(Y) + X)",
            "nn.functional.layer_norm(self.dropout(Y) + X, self.ln.normalized_shape)",
        ),
        says="the two learned vectors exist, but they are never used",
        asks="If you set the learned scale to 2, what should change, and does it?",
    ),
    mistake(
        "addnorm-residual-detached",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(self.dropout(Y) + X.detach())"),
        says="the residual connection is detached: no gradient reaches the input through it",
        asks="What is the gradient of the input, and what should it be?",
    ),
    mistake(
        "addnorm-statistics-detached",
        """
            class AddNorm(nn.Module):
                def __init__(self, normalized_shape, dropout):
                    super().__init__()
                    self.dropout = nn.Dropout(dropout)
                    self.ln = nn.LayerNorm(normalized_shape)

                def forward(self, X, Y):
                    Z = self.dropout(Y) + X
                    axes = tuple(range(-self.ln.weight.dim(), 0))
                    Z = (Z - Z.detach().mean(axes, keepdim=True)) / (Z.detach().var(axes, correction=0, keepdim=True) + 1e-5).sqrt()
                    return Z * self.ln.weight + self.ln.bias
            """,
        says="the gradient treats the mean and the variance as constants",
        asks=(
            "If a feature grows, the mean and the variance of its vector change too. Does your gradient "
            "include this?"
        ),
    ),
    mistake(
        "addnorm-sum-into-new-part",
        edit(
            "return self.ln(self.dropout(Y) + X)",
            """
            Y = self.dropout(Y)
            Y += X
            return self.ln(Y)
            """,
        ),
        says="the sum is written in place into the output of the sublayer",
        asks="Which other code may still need the tensor that you write into?",
    ),
    mistake(
        "addnorm-sum-into-input",
        edit(
            "return self.ln(self.dropout(Y) + X)",
            """
            X += self.dropout(Y)
            return self.ln(X)
            """,
        ),
        says="the sum is written in place into the input",
        asks="Does the caller's tensor still have the same values after the call?",
    ),
    dtype_mistake(
        "addnorm-comes-back-in-single",
        edit(
            "self.ln(self.dropout(Y) + X)",
            "nn.functional.layer_norm((self.dropout(Y) + X).float(), self.ln.normalized_shape, self.ln.weight.float(), self.ln.bias.float(), self.ln.eps)",
        ),
        says="the result is always in single precision, whatever dtype the input has",
        asks="In which dtype are the weights of the next layer?",
    ),
]
