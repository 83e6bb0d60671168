"""Known mistakes in AddNorm; their pages are in AddNorm.md."""

from grader.authoring import dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "addnorm-norm-inside",
        edit("self.ln(self.dropout(Y) + X)", "X + self.dropout(self.ln(Y))"),
        says="only the new part is normalised, and the sum with what came in is left as it is",
        asks="What should have mean 0 and variance 1 in the end: the part that is added, or the whole?",
        kind="different",
    ),
    mistake(
        "addnorm-norm-inside-after-dropout",
        edit("self.ln(self.dropout(Y) + X)", "X + self.ln(self.dropout(Y))"),
        says="the new part is normalised after its dropout, and the sum with what came in is left as it is",
        asks="What should have mean 0 and variance 1 in the end: the part that is added, or the whole?",
        kind="different",
    ),
    mistake(
        "addnorm-no-residual",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(self.dropout(Y))"),
        says="what came in is never added: the new part alone is normalised",
        asks="If the new part were all zeros, what should come out, and what does?",
    ),
    mistake(
        "addnorm-no-norm",
        edit("self.ln(self.dropout(Y) + X)", "self.dropout(Y) + X"),
        says="the two are added and the sum is never normalised",
        asks="What are mean and variance of one of your output vectors?",
    ),
    mistake(
        "addnorm-residual-twice",
        edit("self.ln(self.dropout(Y) + X)", "X + self.ln(self.dropout(Y) + X)"),
        says="what came in is added a second time, behind the normalisation",
        asks="How often should the input enter, and what should be the very last step?",
    ),
    mistake(
        "addnorm-normalised-apart",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(X) + self.ln(self.dropout(Y))"),
        says="both inputs are normalised by themselves and then added",
        asks=(
            "A small change to a large vector: how large is it after both have been brought to the same size?"
        ),
    ),
    mistake(
        "addnorm-difference",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(self.dropout(Y) - X)"),
        says="the input is subtracted from the new part instead of being added to it",
        asks="Which sign does the input carry in your result when the new part is zero?",
    ),
    mistake(
        "addnorm-dropout-on-sum",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(self.dropout(Y + X))"),
        says="dropout acts on the sum, so that it tears holes in the way around as well",
        asks="Which of the two terms should always arrive whole, even in training?",
        kind="different",
    ),
    mistake(
        "addnorm-dropout-on-residual",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(Y + self.dropout(X))"),
        says="dropout acts on what came in and spares the new part: the wrong one of the two",
        asks="Which of the two arguments is the output of the part?",
    ),
    mistake(
        "addnorm-dropout-after-norm",
        edit("self.ln(self.dropout(Y) + X)", "self.dropout(self.ln(Y + X))"),
        says="dropout acts on the result of the normalisation",
        asks="What are mean and variance of a result of yours in training? Which step should be the last?",
    ),
    mistake(
        "addnorm-no-dropout",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(Y + X)"),
        says="dropout is never applied: training and evaluation give the same",
        asks="Call it twice in training mode, on the same input. Should the results agree?",
    ),
    mistake(
        "addnorm-dropout-in-evaluation",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(nn.functional.dropout(Y, self.dropout.p) + X)"),
        says="dropout stays on in evaluation",
        asks="How does the function that drops learn whether the module is in training or in evaluation?",
    ),
    mistake(
        "addnorm-dropout-not-scaled",
        edit(
            "self.ln(self.dropout(Y) + X)",
            "self.ln(Y * (torch.rand_like(Y) >= self.dropout.p) + X if self.training else Y + X)",
        ),
        says="numbers are dropped, and the kept ones are not scaled up to make up for it",
        asks=(
            "With half of the numbers dropped, how large is the sum over them on average, in training and "
            "in evaluation?"
        ),
    ),
    mistake(
        "addnorm-whole-steps-dropped",
        edit("nn.Dropout(", "nn.Dropout1d("),
        says="dropout takes whole positions at a time instead of single features",
        asks="In one dropped vector, are some features gone, or all of them?",
    ),
    mistake(
        "addnorm-rate-is-kept-share",
        edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)"),
        says="the rate is taken for the share that is kept, so that with a rate of 0 everything is dropped",
        asks="A rate of 0.1: how many numbers in a hundred should be lost?",
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
            "mean and variance are taken over the steps of a sentence, for each feature, instead of over "
            "the features"
        ),
        asks="Which axis disappears when you take the mean of one word's vector?",
    ),
    mistake(
        "addnorm-over-steps-and-features",
        edit(
            "self.ln(self.dropout(Y) + X)",
            "nn.functional.layer_norm(self.dropout(Y) + X, X.shape[1:]) * self.ln.weight + self.ln.bias",
        ),
        says="mean and variance are taken over all steps and features of a sentence together",
        asks="When one word of the sentence changes, whose mean should change with it?",
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
        says="each feature is normalised over the whole batch and all steps: batch normalisation",
        asks="Should the result for one sentence depend on which others happen to be in its batch?",
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
        says="the spread is the root of a sum divided by one less than the number of features",
        asks="By how many does the lesson's example divide the sum of squares, with two features?",
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
        asks="PyTorch's variance divides by n-1 unless it is told otherwise. By what does the lesson divide?",
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
        says="vectors are divided by their variance instead of by its root",
        asks=(
            "A vector that is ten times as long: how much longer is it after your normalisation, or shorter?"
        ),
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
        says="vectors are brought to unit size and their mean is left in",
        asks="What is the mean over the features of one of your outputs?",
        kind="different",
    ),
    mistake(
        "addnorm-large-eps",
        edit("nn.LayerNorm(normalized_shape)", "nn.LayerNorm(normalized_shape, eps=1e-2)"),
        says="the tiny number under the root is not tiny: it makes every vector visibly shorter",
        asks="How large may a number be that is only there to keep you from dividing by zero?",
    ),
    mistake(
        "addnorm-no-affine",
        edit("nn.LayerNorm(normalized_shape)", "nn.LayerNorm(normalized_shape, elementwise_affine=False)"),
        says="the normalisation has neither of the two learned vectors",
        asks="What follows in the lesson's formula once a vector has mean 0 and variance 1?",
    ),
    mistake(
        "addnorm-affine-unused",
        edit(
            "self.ln(self.dropout(Y) + X)",
            "nn.functional.layer_norm(self.dropout(Y) + X, self.ln.normalized_shape)",
        ),
        says="the two learned vectors are there and are never used",
        asks="If you set the learned scale to 2 by hand, what should change, and does it?",
    ),
    mistake(
        "addnorm-residual-detached",
        edit("self.ln(self.dropout(Y) + X)", "self.ln(self.dropout(Y) + X.detach())"),
        says="the way around is cut off for gradients: none reaches the input that was added",
        asks=(
            "Residuals exist for the way back as much as for the way there. What does the input's gradient "
            "look like?"
        ),
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
        says="mean and variance are treated as fixed numbers by the gradient",
        asks="If a feature grows, its vector's mean and variance grow too. Does your gradient know?",
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
        says="the sum is written into the tensor that was handed in as the new part",
        asks="Who else holds the tensor that you write into, and may still need it?",
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
        says="the sum is written into the input that was handed in",
        asks="Does the caller's tensor still hold the same numbers after the call?",
    ),
    dtype_mistake(
        "addnorm-comes-back-in-single",
        edit(
            "self.ln(self.dropout(Y) + X)",
            "nn.functional.layer_norm((self.dropout(Y) + X).float(), self.ln.normalized_shape, self.ln.weight.float(), self.ln.bias.float(), self.ln.eps)",
        ),
        says="the result comes back in single precision whatever went in",
        asks="In which dtype are the weights of the layer that comes next?",
    ),
]
