"""Mistakes seen in residuals, normalisations, position-wise networks and in the stack made of them."""

from grader.authoring.bank import mistake

# ---- AddNorm ----

SEE_SUM = """

    >>> norm = AddNorm([3], dropout=0.0)
    >>> norm(torch.tensor([[[1.0, 2.0, 6.0]]]), torch.tensor([[[0.0, 3.0, 0.0]]]))

The sum is (1, 5, 6), its mean 4 and its variance 14/3, so this should be -1.389, 0.463 and 0.926.
"""

SEE_STATISTICS = """

    >>> Z = AddNorm([8], dropout=0.0)(torch.randn(2, 3, 8), torch.randn(2, 3, 8))
    >>> Z.mean(-1), Z.var(-1, correction=0)

A fresh normalisation should give means of 0 and variances of 1, at every position.
"""

SEE_ONE_POSITION = """

    >>> norm = AddNorm([8], dropout=0.0)
    >>> X, Y = torch.randn(2, 3, 8), torch.randn(2, 3, 8)
    >>> before = norm(X, Y)
    >>> X[:, 2] = 5 * torch.randn(2, 8)
    >>> norm(X, Y) - before

Only the last position was touched. Where is the difference zero?
"""

SEE_HOLES = """

    >>> norm = AddNorm([8], dropout=0.5).train()
    >>> X, Y = torch.zeros(1, 1, 8), torch.ones(1, 1, 8)
    >>> norm(X, Y), norm(Y, X)

One of the two should show two levels, and the other should not vary from call to call.
"""

SEE_GRADIENTS = """

    >>> X = torch.randn(1, 2, 4, requires_grad=True)
    >>> Y = torch.randn(1, 2, 4, requires_grad=True)
    >>> Z = AddNorm([4], dropout=0.0)(X, Y)
    >>> (Z * torch.randn(1, 2, 4)).sum().backward()
    >>> X.grad, Y.grad

Both enter as one sum, so the two should be equal.
"""

SEE_NO_DRIFT = """

    >>> X = torch.randn(1, 2, 4, requires_grad=True)
    >>> Z = AddNorm([4], dropout=0.0)(X, torch.zeros(1, 2, 4))
    >>> (Z * torch.randn(1, 2, 4)).sum().backward()
    >>> X.grad.sum(-1)

Both sums should be rounding, about 0.0000001.
"""

SEE_ARGUMENTS = """

    >>> X, Y = torch.ones(1, 2, 4), torch.ones(1, 2, 4)
    >>> AddNorm([4], 0.0).eval()(X, Y)
    >>> X, Y

Are they still ones?
"""

BY_HAND = """
class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        Z = self.dropout(Y) + X
        axes = tuple(range(-self.ln.weight.dim(), 0))
        {statistics}
        return Z * self.ln.weight + self.ln.bias
"""

SUM = "self.ln(self.dropout(Y) + X)"

ADD_NORM = [
    mistake(
        "addnorm-norm-inside",
        of="AddNorm",
        kind="different",
        swap={SUM: "X + self.dropout(self.ln(Y))"},
        says="only the new part is normalised, and the sum with what came in is left as it is",
        asks="What should have mean 0 and variance 1 in the end: the part that is added, or the whole?",
        page="""
This is close to what is called *pre-norm*: the way around the part stays free of any normalisation, and the
sums grow from layer to layer. Many newer models are built in this spirit and train well. But it is another
design with other numbers, and weights of the one do not fit the other.
"""
        + SEE_STATISTICS,
    ),
    mistake(
        "addnorm-norm-inside-after-dropout",
        of="AddNorm",
        kind="different",
        swap={SUM: "X + self.ln(self.dropout(Y))"},
        says="the new part is normalised after its dropout, and the sum with what came in is left as it is",
        asks="What should have mean 0 and variance 1 in the end: the part that is added, or the whole?",
        page="""
A relative of *pre-norm*: the way around the part stays free of any normalisation. Here dropout stands before the
normalisation of the part, which then makes up for what was dropped. It is another design with other numbers.
"""
        + SEE_STATISTICS,
    ),
    mistake(
        "addnorm-no-residual",
        of="AddNorm",
        swap={SUM: "self.ln(self.dropout(Y))"},
        says="what came in is never added: the new part alone is normalised",
        asks="If the new part were all zeros, what should come out, and what does?",
        page="""
The way around the part is missing. A part that has learned nothing yet now wipes out what the layers before it
found, and gradients reach those layers only through it. A model of two layers still trains; one of twelve
hardly does.
"""
        + SEE_SUM,
    ),
    mistake(
        "addnorm-no-norm",
        of="AddNorm",
        swap={SUM: "self.dropout(Y) + X"},
        says="the two are added and the sum is never normalised",
        asks="What are mean and variance of one of your output vectors?",
        page="""
Every layer adds something, so the numbers grow with depth. Scores of the attention grow with their square, its
softmax saturates, and training slows down or breaks off with infinities.
"""
        + SEE_STATISTICS,
    ),
    mistake(
        "addnorm-residual-twice",
        of="AddNorm",
        swap={SUM: "X + self.ln(self.dropout(Y) + X)"},
        says="what came in is added a second time, behind the normalisation",
        asks="How often should the input enter, and what should be the very last step?",
        page="""
The result is no longer normalised, and the input has twice the influence of the new part. Numbers grow from
layer to layer as if there were no normalisation at all.
"""
        + SEE_SUM,
    ),
    mistake(
        "addnorm-normalised-apart",
        of="AddNorm",
        swap={SUM: "self.ln(X) + self.ln(self.dropout(Y))"},
        says="both inputs are normalised by themselves and then added",
        asks="A small change to a large vector: how large is it after both have been brought to the same size?",
        page="""
A part that has little to say now speaks as loudly as everything before it, since its output is blown up to
variance 1. The network loses the freedom to change a vector only a bit. And the sum has variance 2, not 1.
"""
        + SEE_STATISTICS,
    ),
    mistake(
        "addnorm-difference",
        of="AddNorm",
        swap={SUM: "self.ln(self.dropout(Y) - X)"},
        says="the input is subtracted from the new part instead of being added to it",
        asks="Which sign does the input carry in your result when the new part is zero?",
        page="""
A network can learn to live with the wrong sign, since the layers before can turn theirs around, so nothing looks
broken in training. But a part that gives zero now turns every vector upside down instead of passing it on.
"""
        + SEE_SUM,
    ),
    mistake(
        "addnorm-dropout-on-sum",
        of="AddNorm",
        kind="different",
        swap={SUM: "self.ln(self.dropout(Y + X))"},
        says="dropout acts on the sum, so that it tears holes in the way around as well",
        asks="Which of the two terms should always arrive whole, even in training?",
        page="""
In evaluation nothing shows. In training, a feature that is dropped here is gone for all layers above, residual
or not. Some models are trained so, with a smaller rate. The one of this lesson drops only what is new.
"""
        + SEE_HOLES,
    ),
    mistake(
        "addnorm-dropout-on-residual",
        of="AddNorm",
        swap={SUM: "self.ln(Y + self.dropout(X))"},
        says="dropout acts on what came in and spares the new part: the wrong one of the two",
        asks="Which of the two arguments is the output of the part?",
        page="""
In evaluation nothing shows. In training the way around loses features at every layer while the part that should
be kept from relying on single features keeps all of its own. It is easily done: both arguments have one shape.
"""
        + SEE_HOLES,
    ),
    mistake(
        "addnorm-dropout-after-norm",
        of="AddNorm",
        swap={SUM: "self.dropout(self.ln(Y + X))"},
        says="dropout acts on the result of the normalisation",
        asks="What are mean and variance of a result of yours in training? Which step should be the last?",
        page="""
In evaluation nothing shows. In training the next layer receives vectors with holes whose mean and variance are
no longer what the normalisation promised, and the way around has holes too.
"""
        + SEE_HOLES,
    ),
    mistake(
        "addnorm-no-dropout",
        of="AddNorm",
        swap={SUM: "self.ln(Y + X)"},
        says="dropout is never applied: training and evaluation give the same",
        asks="Call it twice in training mode, on the same input. Should the results agree?",
        page="""
All numbers of an evaluation are right, so no comparison of outputs will ever find this. The model merely
overfits sooner, and somebody will tune the dropout rate for days without any effect.
"""
        + SEE_HOLES,
    ),
    mistake(
        "addnorm-dropout-in-evaluation",
        of="AddNorm",
        swap={SUM: "self.ln(nn.functional.dropout(Y, self.dropout.p) + X)"},
        says="dropout stays on in evaluation",
        asks="How does the function that drops learn whether the module is in training or in evaluation?",
        page="""
Predictions change from call to call and are worse than they need be. The function in `nn.functional` knows
nothing of your module's mode and drops unless it is told not to.

    >>> norm = AddNorm([4], dropout=0.5).eval()
    >>> X, Y = torch.zeros(1, 1, 4), torch.randn(1, 1, 4)
    >>> norm(X, Y) - norm(X, Y)
""",
    ),
    mistake(
        "addnorm-dropout-not-scaled",
        of="AddNorm",
        swap={SUM: "self.ln(Y * (torch.rand_like(Y) >= self.dropout.p) + X if self.training else Y + X)"},
        says="numbers are dropped, and the kept ones are not scaled up to make up for it",
        asks="With half of the numbers dropped, how large is the sum over them on average, in training and in evaluation?",
        page="""
In evaluation the new part is suddenly larger than it ever was in training: twice as large at a rate of one half.
The layers above have learned weights for the smaller one. The loss of validation is then worse than it should
be, for no reason that one sees.

    >>> X, Y = torch.eye(20)[:1] * 2, 1 - torch.eye(20)[:1]
    >>> AddNorm([20], dropout=0.5).train()(X, Y).round(decimals=3).unique()

X holds a 2, and Y ones at all other places. Ones that are kept become 2 as well: there should be two levels, not three.
""",
    ),
    mistake(
        "addnorm-whole-steps-dropped",
        of="AddNorm",
        swap={"nn.Dropout(": "nn.Dropout1d("},
        says="dropout takes whole positions at a time instead of single features",
        asks="In one dropped vector, are some features gone, or all of them?",
        page="""
The dropouts with a number in their names drop whole *channels* together. On a tensor of three axes the second
axis is taken for the channels, and here these are the positions: in training, whole words skip the layer. That
is a much harsher noise at the same rate. Look at the zeros of `nn.Dropout1d(0.5)(torch.ones(1, 5, 8))` and of
your own.
"""
        + SEE_HOLES,
    ),
    mistake(
        "addnorm-rate-is-kept-share",
        of="AddNorm",
        swap={"nn.Dropout(dropout)": "nn.Dropout(1 - dropout)"},
        says="the rate is taken for the share that is kept, so that with a rate of 0 everything is dropped",
        asks="A rate of 0.1: how many numbers in a hundred should be lost?",
        page="""
Older libraries wanted the share to *keep*. With the usual rate of 0.1 nine tenths of all new information is now
lost in training, and the model learns little more than what the residuals carry.

    >>> norm = AddNorm([4], dropout=0.0).train()
    >>> norm(torch.zeros(1, 1, 4), torch.randn(1, 1, 4))

With a rate of 0, what should be lost?
""",
    ),
    mistake(
        "addnorm-over-steps",
        of="AddNorm",
        code=BY_HAND.format(statistics="Z = (Z - Z.mean(1, keepdim=True)) / (Z.var(1, correction=0, keepdim=True) + 1e-5).sqrt()"),
        says="mean and variance are taken over the steps of a sentence, for each feature, instead of over the features",
        asks="Which axis disappears when you take the mean of one word's vector?",
        page="""
Every word's numbers now depend on all other words of the sentence, on padding, and in a decoder on words that
are still to come. A sentence of a single word gives zeros whatever the word is.
"""
        + SEE_ONE_POSITION,
    ),
    mistake(
        "addnorm-over-steps-and-features",
        of="AddNorm",
        swap={SUM: "nn.functional.layer_norm(self.dropout(Y) + X, X.shape[1:]) * self.ln.weight + self.ln.bias"},
        says="mean and variance are taken over all steps and features of a sentence together",
        asks="When one word of the sentence changes, whose mean should change with it?",
        page="""
The words of a sentence no longer have a mean and a variance each but share one. So they influence one another
past all masks, padding counts, and a decoder learns something about words that it must not see yet.
"""
        + SEE_ONE_POSITION,
    ),
    mistake(
        "addnorm-over-batch",
        of="AddNorm",
        code=BY_HAND.format(
            statistics="Z = (Z - Z.mean((0, 1), keepdim=True)) / (Z.var((0, 1), correction=0, keepdim=True) + 1e-5).sqrt()"
        ),
        says="each feature is normalised over the whole batch and all steps: batch normalisation",
        asks="Should the result for one sentence depend on which others happen to be in its batch?",
        page="""
Batch normalisation suits pictures. Sentences differ in length, padding enters the means, a batch of one sentence
behaves unlike a batch of sixty-four, and in evaluation the numbers depend on who else is being served.
"""
        + SEE_ONE_POSITION,
    ),
    mistake(
        "addnorm-annotated",
        of="AddNorm",
        kind="different",
        code=BY_HAND.format(statistics="Z = (Z - Z.mean(-1, keepdim=True)) / (Z.std(-1, keepdim=True) + 1e-6)"),
        says="the spread is the root of a sum divided by one less than the number of features",
        asks="By how many does the lesson's example divide the sum of squares, with two features?",
        page="""
This is the normalisation of *The Annotated Transformer*: spread with n-1, and the tiny number added outside the
root. It works as well as the other. The numbers differ by a few per cent when features are few, so weights
trained with one do not belong into the other.
"""
        + SEE_SUM,
        seen="The Annotated Transformer (Harvard NLP), class LayerNorm",
    ),
    mistake(
        "addnorm-variance-n-minus-one",
        of="AddNorm",
        code=BY_HAND.format(statistics="Z = (Z - Z.mean(axes, keepdim=True)) / (Z.var(axes, keepdim=True) + 1e-5).sqrt()"),
        says="the variance is divided by one less than the number of features",
        asks="PyTorch's variance divides by n-1 unless it is told otherwise. By what does the lesson divide?",
        page="""
Division by n-1 is for estimating the variance of a population from a sample. Here nothing is estimated: the
features *are* all there is. With 512 features the difference is a tenth of a per cent, with two it is 30 %.
"""
        + SEE_SUM,
    ),
    mistake(
        "addnorm-divided-by-variance",
        of="AddNorm",
        code=BY_HAND.format(statistics="Z = (Z - Z.mean(axes, keepdim=True)) / (Z.var(axes, correction=0, keepdim=True) + 1e-5)"),
        says="vectors are divided by their variance instead of by its root",
        asks="A vector that is ten times as long: how much longer is it after your normalisation, or shorter?",
        page="""
Double a vector, and what comes out is half as long. Large vectors become tiny and small ones huge, which is
worse than no normalisation at all.
"""
        + SEE_STATISTICS,
    ),
    mistake(
        "addnorm-not-centred",
        of="AddNorm",
        kind="different",
        code=BY_HAND.format(statistics="Z = Z / (Z.square().mean(axes, keepdim=True) + 1e-5).sqrt()"),
        says="vectors are brought to unit size and their mean is left in",
        asks="What is the mean over the features of one of your outputs?",
        page="""
This is *root mean square normalisation* (Zhang and Sennrich 2019), which large language models use because it is
cheaper. It keeps the mean that layer normalisation takes away, so it is another design with other numbers.
"""
        + SEE_STATISTICS,
    ),
    mistake(
        "addnorm-large-eps",
        of="AddNorm",
        swap={"nn.LayerNorm(normalized_shape)": "nn.LayerNorm(normalized_shape, eps=1e-2)"},
        says="the tiny number under the root is not tiny: it makes every vector visibly shorter",
        asks="How large may a number be that is only there to keep you from dividing by zero?",
        page="""
Vectors of small variance come out much too short, all others slightly. The number is there for one purpose, a
vector whose features are all equal, and must not be felt elsewhere.
"""
        + SEE_STATISTICS,
    ),
    mistake(
        "addnorm-no-affine",
        of="AddNorm",
        swap={"nn.LayerNorm(normalized_shape)": "nn.LayerNorm(normalized_shape, elementwise_affine=False)"},
        says="the normalisation has neither of the two learned vectors",
        asks="What follows in the lesson's formula once a vector has mean 0 and variance 1?",
        page="""
After the normalisation all features have the same size, for ever. The two vectors that are missing here let the
network decide which features should be loud, and which should not be centred.

    >>> [name for name, _ in AddNorm([4], 0.0).named_parameters()]

There should be two.
""",
    ),
    mistake(
        "addnorm-affine-unused",
        of="AddNorm",
        swap={SUM: "nn.functional.layer_norm(self.dropout(Y) + X, self.ln.normalized_shape)"},
        says="the two learned vectors are there and are never used",
        asks="If you set the learned scale to 2 by hand, what should change, and does it?",
        page="""
A fresh module gives the right numbers, since the vectors start as ones and zeros. They never get a gradient, so
they stay so. Loaded weights of a trained model are silently ignored.

    >>> norm = AddNorm([4], 0.0)
    >>> nn.init.constant_(norm.ln.bias, 100.0)
    >>> norm(torch.zeros(1, 1, 4), torch.randn(1, 1, 4))
""",
    ),
    mistake(
        "addnorm-residual-detached",
        of="AddNorm",
        swap={SUM: "self.ln(self.dropout(Y) + X.detach())"},
        says="the way around is cut off for gradients: none reaches the input that was added",
        asks="Residuals exist for the way back as much as for the way there. What does the input's gradient look like?",
        page="""
All outputs are right. But the gradient's shortcut past the part is closed, which is what residuals were invented
for. Deep stacks train slowly or not at all.
"""
        + SEE_GRADIENTS,
    ),
    mistake(
        "addnorm-statistics-detached",
        of="AddNorm",
        code=BY_HAND.format(
            statistics="Z = (Z - Z.detach().mean(axes, keepdim=True)) / (Z.detach().var(axes, correction=0, keepdim=True) + 1e-5).sqrt()"
        ),
        says="mean and variance are treated as fixed numbers by the gradient",
        asks="If a feature grows, its vector's mean and variance grow too. Does your gradient know?",
        page="""
All outputs are right, and the gradients point a little off: they believe that raising a feature raises the
result, although the normalisation takes part of it back. For the true gradient, the sum over the features of a
vector is zero while the learned scale is 1.
"""
        + SEE_NO_DRIFT,
    ),
    mistake(
        "addnorm-sum-into-new-part",
        of="AddNorm",
        swap={"        return " + SUM: "        Y = self.dropout(Y)\n        Y += X\n        return self.ln(Y)"},
        says="the sum is written into the tensor that was handed in as the new part",
        asks="Who else holds the tensor that you write into, and may still need it?",
        page="""
In evaluation dropout hands back the very tensor that it was given. Writing into it changes the caller's: an
output that somebody keeps for a picture or a second use is no longer what it was.
"""
        + SEE_ARGUMENTS,
    ),
    mistake(
        "addnorm-sum-into-input",
        of="AddNorm",
        swap={"        return " + SUM: "        X += self.dropout(Y)\n        return self.ln(X)"},
        says="the sum is written into the input that was handed in",
        asks="Does the caller's tensor still hold the same numbers after the call?",
        page="""
The caller's input changes under its feet. Inside a block it may go unnoticed; a test that calls the module twice
on the same tensor gets two different answers.
"""
        + SEE_ARGUMENTS,
    ),
]

# ---- PositionWiseFFN ----

SEE_ABSOLUTE = """

    >>> ffn = PositionWiseFFN(1, 2, 1)
    >>> W1, b1, W2, b2 = [[1.0], [-1.0]], [0.0, 0.0], [[1.0, 1.0]], [0.0]
    >>> for p, numbers in zip(ffn.parameters(), (W1, b1, W2, b2)):
    ...     p.data = torch.tensor(numbers)
    >>> ffn(torch.tensor([[[-3.0], [2.0]]]))

With these weights, the lesson's, the network computes the absolute value.
"""

SEE_ALONE = """

    >>> ffn, X = PositionWiseFFN(4, 8, 4), torch.randn(1, 3, 4)
    >>> ffn(X)[:, :1] - ffn(X[:, :1])

The first position, among others and alone. The difference should be zero.
"""

SEE_NAMES = """

    >>> for name, p in PositionWiseFFN(3, 5, 4).named_parameters():
    ...     print(name, tuple(p.shape))
"""

RELU = "torch.relu(self.dense1(X))"


def activation(id, new, name, page):
    """Another non-linear function between the layers: a good design, not the one asked for."""
    return mistake(
        id,
        of="PositionWiseFFN",
        kind="different",
        swap={RELU: new},
        says=f"between the layers stands {name}, not the maximum with zero",
        asks="What does the lesson's network do with a negative number between its layers?",
        page=page + SEE_ABSOLUTE,
    )


FFN = [
    mistake(
        "ffn-no-activation",
        of="PositionWiseFFN",
        swap={RELU: "self.dense1(X)"},
        says="nothing stands between the two layers, so together they are one linear layer",
        asks="What single layer could replace your two?",
        page="""
Two linear maps in a row are a linear map. The wide layer in the middle costs its time and memory and adds
nothing: attention mixes, the norms rescale, and nowhere in the block is anything *computed* any more.
"""
        + SEE_ABSOLUTE,
    ),
    activation(
        "ffn-gelu",
        "nn.functional.gelu(self.dense1(X))",
        "a smooth curve (GELU)",
        """
BERT and GPT use GELU: nearly the same function with a rounded corner. It trains at least as well. It is not the
function of the paper that this lesson follows, and trained weights expect the one that they grew up with.
""",
    ),
    activation(
        "ffn-silu",
        "nn.functional.silu(self.dense1(X))",
        "a smooth curve (SiLU, or swish)",
        """
SiLU multiplies each number by its own sigmoid. Newer models use it, often with a gate beside it. It dips below
zero for small negative numbers where the function of this lesson is flat.
""",
    ),
    activation(
        "ffn-leaky",
        "nn.functional.leaky_relu(self.dense1(X))",
        "a maximum that lets a hundredth of negative numbers through",
        """
A *leaky* ReLU keeps a small slope for negative numbers, so that no hidden feature can die for good. It differs
by a hundredth of the negative part, which is little to the eye and too much for weights of another network.
""",
    ),
    activation(
        "ffn-tanh",
        "torch.tanh(self.dense1(X))",
        "a hyperbolic tangent",
        """
Until about 2010 this was the usual choice. It flattens out on both sides, so gradients fade in deep stacks; and
its values stay between -1 and 1, where the function of this lesson lets large numbers through.
""",
    ),
    activation(
        "ffn-sigmoid",
        "torch.sigmoid(self.dense1(X))",
        "a logistic curve (sigmoid)",
        """
A logistic curve answers "how much", from 0 to 1, and belongs into gates. Between layers it flattens nearly
everything, never gives zero, and its gradient is at most a quarter.
""",
    ),
    mistake(
        "ffn-absolute",
        of="PositionWiseFFN",
        swap={RELU: "self.dense1(X).abs()"},
        says="negative numbers between the layers are turned positive instead of becoming zero",
        asks="What should become of -3 between the two layers?",
        page="""
A hidden feature now answers to both of two opposite patterns alike, and none can be silent. The network still is
non-linear and trains, only with other numbers.
"""
        + SEE_ABSOLUTE,
    ),
    mistake(
        "ffn-negative-part",
        of="PositionWiseFFN",
        swap={RELU: "self.dense1(X).clamp(max=0)"},
        says="between the layers the negative numbers are kept and the positive ones become zero",
        asks="Which side of zero should pass?",
        page="""
A minimum where the maximum belongs. With random weights this looks as good as the right one, since signs can be
learned; trained weights of other models give nonsense.
"""
        + SEE_ABSOLUTE,
    ),
    mistake(
        "ffn-relu-at-the-end-too",
        of="PositionWiseFFN",
        swap={"self.dense2(hidden)": "torch.relu(self.dense2(hidden))"},
        says="the maximum with zero is taken once more, behind the second layer",
        asks="Can your network ever lower a feature of the residual that it is added to?",
        page="""
The output cannot be negative, so the residual can only be raised. Features drift upwards until the normalisation
pulls them back; half of what the network could say is lost.
"""
        + SEE_ABSOLUTE.replace("[[1.0, 1.0]]", "[[-1.0, -1.0]]").replace("computes the", "computes minus the").replace(", the lesson's,", ""),
    ),
    mistake(
        "ffn-relu-at-the-end-only",
        of="PositionWiseFFN",
        swap={RELU: "self.dense1(X)", "self.dense2(hidden)": "torch.relu(self.dense2(hidden))"},
        says="the maximum with zero stands behind the second layer instead of between the two",
        asks="Which two things must something non-linear stand between?",
        page="""
The two layers are one linear layer after all, and the output is never negative. Both halves of the network's
purpose are lost while shapes and training look as usual.
"""
        + SEE_ABSOLUTE,
    ),
    mistake(
        "ffn-relu-on-input",
        of="PositionWiseFFN",
        swap={RELU: "self.dense1(torch.relu(X))"},
        says="the maximum with zero is taken before the first layer instead of behind it",
        asks="Half of what comes in is negative. Where in your network does it go?",
        page="""
What comes in has been normalised, so about half of its numbers are negative, and all of these are thrown away
before the network has looked at them. The two layers behind are one linear layer.
"""
        + SEE_ABSOLUTE,
    ),
    mistake(
        "ffn-input-overwritten",
        of="PositionWiseFFN",
        swap={RELU: "self.dense1(torch.relu_(X))"},
        says="negative numbers of the caller's input are overwritten with zeros before the first layer",
        asks="The residual still needs the input after the call. What does it find there?",
        page="""
A function whose name ends in an underscore writes into its argument. The residual that comes afterwards adds an
input whose negative half is gone.

    >>> X = torch.randn(1, 2, 4)
    >>> PositionWiseFFN(4, 8, 4)(X)
    >>> X
""",
    ),
    mistake(
        "ffn-no-bias",
        of="PositionWiseFFN",
        kind="different",
        swap={
            "nn.Linear(ffn_num_input, ffn_num_hiddens)": "nn.Linear(ffn_num_input, ffn_num_hiddens, bias=False)",
            "nn.Linear(ffn_num_hiddens, ffn_num_outputs)": "nn.Linear(ffn_num_hiddens, ffn_num_outputs, bias=False)",
        },
        says="the two layers have no biases",
        asks="What does the lesson's formula add after each multiplication?",
        page="""
Some large models leave biases out and lose nothing. Here they are part of the formula: without them the corner
of every hidden feature lies at zero, and the biases of trained weights have no place to go.
"""
        + SEE_NAMES,
    ),
    mistake(
        "ffn-back-to-input-size",
        of="PositionWiseFFN",
        swap={"nn.Linear(ffn_num_hiddens, ffn_num_outputs)": "nn.Linear(ffn_num_hiddens, ffn_num_input)"},
        says="the second layer goes back to the size of the input, whatever size was asked for",
        asks="Three sizes were handed in. Which of them is never used?",
        page="""
In a Transformer input and output have the same size, so this never shows there. The third argument is a promise
all the same, and the first who uses the network elsewhere gets a wrong shape.
"""
        + SEE_NAMES,
    ),
    mistake(
        "ffn-input-mixed",
        of="PositionWiseFFN",
        swap={RELU: "torch.relu(self.dense1(X + X.mean(dim=1, keepdim=True)))"},
        says="the mean over all positions is added to every input: positions influence one another",
        asks="Change one word: whose results may change in this network?",
        page="""
The network is called position-wise because each position goes through it alone. Mixing is the attention's task,
which knows about padding and about the future; a mean knows neither.
"""
        + SEE_ALONE,
    ),
    mistake(
        "ffn-hidden-mixed",
        of="PositionWiseFFN",
        swap={"self.dense2(hidden)": "self.dense2(hidden + hidden.mean(dim=1, keepdim=True))"},
        says="the mean over all positions is added between the layers: positions influence one another",
        asks="Change one word: whose hidden features may change?",
        page="""
Positions see one another behind the attention's back: padding counts, and a decoder sees what is still to come.
"""
        + SEE_ALONE,
    ),
    mistake(
        "ffn-result-mixed",
        of="PositionWiseFFN",
        swap={"return self.dense2(hidden)": "Y = self.dense2(hidden)\n        return Y + Y.mean(dim=1, keepdim=True)"},
        says="the mean over all positions is added to every result: positions influence one another",
        asks="Change one word: how many positions of the output may change?",
        page="""
Positions see one another behind the attention's back: padding counts, and a decoder sees what is still to come.
"""
        + SEE_ALONE,
    ),
    mistake(
        "ffn-neighbours-mixed",
        of="PositionWiseFFN",
        code="""
        class PositionWiseFFN(nn.Module):
            def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
                super().__init__()
                self.dense1 = nn.Conv1d(ffn_num_input, ffn_num_hiddens, kernel_size=3, padding=1)
                self.dense2 = nn.Conv1d(ffn_num_hiddens, ffn_num_outputs, kernel_size=3, padding=1)

            def forward(self, X):
                return self.dense2(self.dense1(X.transpose(1, 2)).relu()).transpose(1, 2)
        """,
        says="your convolutions look at three neighbouring positions at once",
        asks="How wide must a convolution be to see one position only?",
        page="""
The paper says that the network may be written as two convolutions of width 1. At width 3 each result depends on
its neighbours, and in a decoder on the next word.
"""
        + SEE_ALONE,
    ),
    mistake(
        "ffn-residual-inside",
        of="PositionWiseFFN",
        swap={"return self.dense2(hidden)": "Y = self.dense2(hidden)\n        return Y + X if Y.shape == X.shape else Y"},
        says="where sizes allow it, the input is added to the result: the residual is already inside",
        asks="Who adds the input to the result, and what if two do?",
        page="""
The add-and-normalise step around this network adds the input once more. It then counts twice, against once for
what the network has found.

    >>> ffn = PositionWiseFFN(4, 8, 4)
    >>> for p in ffn.parameters():
    ...     p.data.zero_()
    >>> ffn(torch.ones(1, 1, 4))

All weights are zero. What should come out?
""",
    ),
    mistake(
        "ffn-dropout-inside",
        of="PositionWiseFFN",
        kind="different",
        swap={"self.dense2(hidden)": "self.dense2(nn.functional.dropout(hidden, 0.1, self.training))"},
        says="in training something is dropped inside the network, at a rate that nobody asked for",
        asks="Is there a dropout rate among the arguments of this class?",
        page="""
Many versions drop between the two layers, and the rate is an argument there. Here it is not: all dropout of the
block is in its attention and in its add-and-normalise steps.

    >>> ffn, X = PositionWiseFFN(4, 8, 4).train(), torch.randn(9, 9, 4)
    >>> (ffn(X) - ffn(X)).abs().max()

The same input twice: this should be 0.
""",
    ),
    mistake(
        "ffn-hidden-detached",
        of="PositionWiseFFN",
        swap={"self.dense2(hidden)": "self.dense2(hidden.detach())"},
        says="gradients stop between the layers: the first one never learns",
        asks="After a backward pass, which of the two layers has a gradient?",
        page="""
All outputs are right. The first layer stays as random as it was born, and nothing in front of the network hears
from the loss through it.

    >>> ffn = PositionWiseFFN(4, 8, 4)
    >>> ffn(torch.randn(1, 2, 4)).square().sum().backward()
    >>> ffn.dense1.weight.grad, ffn.dense2.weight.grad
""",
    ),
    mistake(
        "ffn-relu-behind-gradients-back",
        of="PositionWiseFFN",
        swap={RELU: "self.dense1(X)\n        hidden = hidden + (torch.relu(hidden) - hidden).detach()"},
        says="gradients pass the maximum with zero as if it were not there",
        asks="A hidden number that was cut to zero: should a small change of it change the loss?",
        page="""
All outputs are right. Whoever sets negative numbers to zero behind autograd's back (in `.data`, under no_grad)
gets gradients for features that took no part, and the first layer is pushed in directions that do nothing.

    >>> ffn = PositionWiseFFN(1, 2, 1)
    >>> nn.init.constant_(ffn.dense1.bias, -100.0)
    >>> ffn(torch.ones(1, 1, 1)).sum().backward()
    >>> ffn.dense1.weight.grad

No hidden feature can be positive here, so the gradient should be zero.
""",
    ),
    mistake(
        "ffn-squeezed",
        of="PositionWiseFFN",
        swap={"return self.dense2(hidden)": "return self.dense2(hidden).squeeze()"},
        says="axes of length one are removed from the result",
        asks="What shape comes back for a sentence of a single word?",
        page="""
Squeezing without naming an axis removes whichever happens to have length one. In step-by-step decoding every
call has a single position, and the shapes fall apart there, far from this line.

    >>> PositionWiseFFN(4, 8, 4)(torch.randn(2, 1, 4)).shape
""",
    ),
    mistake(
        "ffn-features-before-steps",
        of="PositionWiseFFN",
        swap={"return self.dense2(hidden)": "return self.dense2(hidden).transpose(1, 2)"},
        says="the result comes back with features before positions",
        asks="In which order do the axes of the input stand, and in which those of your result?",
        page="""
Convolutions want features before positions, and the way back is forgotten easily. With as many features as
positions no shape complains.

    >>> PositionWiseFFN(4, 8, 4)(torch.randn(2, 3, 4)).shape
""",
    ),
]

# ---- EncoderBlock ----

SEE_PADDING = """

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0).eval()
    >>> X, lens = torch.randn(2, 5, 8), torch.tensor([5, 3])
    >>> before = block(X, lens)
    >>> X[1, 3:] = 9.0
    >>> (block(X, lens) - before)[1]

The real words are the first three rows. They should not notice.
"""

SEE_NORM = """

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0).eval()
    >>> Y = block(torch.randn(2, 5, 8), None)
    >>> Y.mean(-1), Y.var(-1, correction=0)

A fresh block should give means of 0 and variances of 1.
"""

SEE_PARTS = """

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0).eval()
    >>> X = torch.randn(1, 3, 8)
    >>> middle = block.addnorm1(X, block.attention(X, X, X, None))
    >>> def look(ffn, args):
    ...     print((args[0] - middle).abs().max())
    >>> block.ffn.register_forward_pre_hook(look)
    >>> block(X, None)

The hook prints how far the network's input is from what the first half made.
"""

SEE_TRAINING = """

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, dropout=0.5)
    >>> [part.p for part in block.modules() if isinstance(part, nn.Dropout)]

There should be three, one in the attention and one in each add-and-normalise step, with the same rate.
"""

SEE_BIASES = """

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0, use_bias=True)
    >>> [name for name, _ in block.attention.named_parameters()]
"""

SEE_SILENT = """

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0).eval()
    >>> X = torch.randn(1, 3, 8)
    >>> for p in block.ffn.dense2.parameters():
    ...     nn.init.zeros_(p)
    >>> middle = block.addnorm1(X, block.attention(X, X, X, None))
    >>> (block(X, None) - middle).abs().max()

The network adds nothing, so a fresh block hands on what its first half made: this should be (almost) 0.
"""

SEE_NOTHING_DROPPED = """

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, dropout=0.5).train()
    >>> X = torch.randn(1, 3, 8)
    >>> for p in (block.attention.W_o.weight, *block.ffn.dense2.parameters()):
    ...     nn.init.zeros_(p)
    >>> (block(X, None) - block(X, None)).abs().max()

Dropout is for what the two parts add, and here they add nothing: two calls should agree.
"""

SEE_LAST_NORM = """

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0).eval()
    >>> nn.init.zeros_(block.addnorm2.ln.weight)
    >>> block(torch.randn(1, 3, 8), None).abs().max()

The last thing that a block does is its second normalisation. With a scale of zero, nothing should come out of it.
"""

SEE_WHOLE = """

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, dropout=0.5).train()
    >>> X = torch.randn(1, 20, 8)
    >>> def look(addnorm, args):
    ...     print((args[1] == 0).sum())
    >>> block.addnorm1.register_forward_pre_hook(look)
    >>> block(X, None)

The hook counts zeros in what the attention adds, before the add-and-normalise step drops any: there should be none.
"""

FIRST = "Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))"
SECOND = "self.addnorm2(Y, self.ffn(Y))"

BLOCK = [
    mistake(
        "encblock-lens-not-passed",
        of="EncoderBlock",
        swap={"X, X, X, valid_lens": "X, X, X, None"},
        says="the attention is never told the lengths, so padding is looked at like any word",
        asks="Follow the lengths from the call to the softmax: where do they stop?",
        page="""
Results of short sentences depend on how much padding they were given, that is, on the longest sentence of their
batch. The model learns to cope a bit, and predicts differently alone than in company.
"""
        + SEE_PADDING,
    ),
    mistake(
        "encblock-lens-of-first",
        of="EncoderBlock",
        swap={"X, X, X, valid_lens": "X, X, X, None if valid_lens is None else valid_lens[:1].expand_as(valid_lens)"},
        says="the lengths of the first sentence are used for the whole batch",
        asks="How many lengths arrive, and how many of them do you use?",
        page="""
Sentences longer than the first lose their ends, shorter ones look at their padding. With a batch of one, or of
equal lengths, everything is right.
"""
        + SEE_PADDING,
    ),
    mistake(
        "encblock-mask-from-zeros",
        of="EncoderBlock",
        swap={FIRST: "valid_lens = X.any(dim=-1).sum(dim=1)\n        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))"},
        says="the lengths are guessed by counting the vectors that are not zero",
        asks="Is a vector of zeros always padding, and is padding always a vector of zeros?",
        page="""
Padding has an embedding, positions are added to it, and after one layer it is as colourful as any word. The guess
works on a first test with zeros behind the sentence, and nowhere else.
"""
        + SEE_PADDING,
    ),
    mistake(
        "encblock-causal",
        of="EncoderBlock",
        swap={"X, X, X, valid_lens": "X, X, X, torch.arange(1, X.shape[1] + 1).repeat(len(X), 1)"},
        says="each position looks back only, as in a decoder, and the lengths are ignored",
        asks="Is there a reason why the first word of a finished sentence should not see the last?",
        page="""
The mask of a decoder in an encoder. It costs the encoder half of what it could see, and the last words of a
sentence know more than the first.

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0).eval()
    >>> X = torch.randn(1, 3, 8)
    >>> before = block(X, None)
    >>> X[:, 2] += 1
    >>> block(X, None) - before

The first position should notice.
""",
    ),
    mistake(
        "encblock-causal-and-lens",
        of="EncoderBlock",
        swap={
            FIRST: "back = torch.arange(1, X.shape[1] + 1).repeat(len(X), 1)\n"
            "        if valid_lens is not None:\n"
            "            back = back.minimum(valid_lens.reshape(len(X), -1))\n"
            "        Y = self.addnorm1(X, self.attention(X, X, X, back))"
        },
        says="on top of the lengths, each position looks back only, as in a decoder",
        asks="Is there a reason why the first word of a finished sentence should not see the last?",
        page="""
The mask of a decoder in an encoder, beside the one for padding. The encoder loses half of what it could see, and
the last words of a sentence know more than the first.

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0).eval()
    >>> X = torch.randn(1, 3, 8)
    >>> before = block(X, None)
    >>> X[:, 2] += 1
    >>> block(X, None) - before

The first position should notice.
""",
    ),
    mistake(
        "encblock-mask-inverted",
        of="EncoderBlock",
        swap={
            FIRST: "ends = X.flip(1)\n"
            "        padding = None if valid_lens is None else X.shape[1] - valid_lens\n"
            "        Y = self.addnorm1(X, self.attention(X, ends, ends, padding))"
        },
        says="the mask is turned around: the padding is looked at, and the words are not",
        asks="In the mask that you made, does true mean look or look away, and what does the attention take it for?",
        page="""
Masks come in both senses: in one function true means *attend*, in another *ignore*. Turned around, every query
sees only padding, and a sentence without padding sees nothing at all.
"""
        + SEE_PADDING,
    ),
    mistake(
        "encblock-padding-blanked",
        of="EncoderBlock",
        swap={
            FIRST: "if valid_lens is not None:\n"
            "            lens = valid_lens if valid_lens.dim() == 1 else valid_lens.max(dim=1).values\n"
            "            X = X * (torch.arange(X.shape[1]) < lens[:, None])[:, :, None]\n"
            "        Y = self.addnorm1(X, self.attention(X, X, X, None))"
        },
        says="padding is set to zero in the input instead of being hidden from the attention",
        asks="A key of zeros gets a score of zero. Which weight does the softmax make of that?",
        page="""
Zeros are not invisible. Their scores are zero, the softmax gives them a share like any other, and all real words
get less. What stands in the padding no longer matters, how much of it there is still does.
"""
        + SEE_PADDING,
    ),
    mistake(
        "encblock-lens-changed",
        of="EncoderBlock",
        swap={
            FIRST: FIRST + "\n        if valid_lens is not None:\n            valid_lens.clamp_(max=X.shape[1] - 1)",
        },
        says="the caller's lengths are overwritten",
        asks="The next layer is handed the same lengths. What does it find in them?",
        page="""
One tensor of lengths serves all layers, the decoder, and the loss. Whoever writes into it changes the mask of
everybody who comes later, while the first layer looks perfect.

    >>> lens = torch.tensor([5, 3])
    >>> EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0)(torch.randn(2, 5, 8), lens)
    >>> lens
""",
    ),
    mistake(
        "encblock-network-sees-input",
        of="EncoderBlock",
        swap={"self.ffn(Y)": "self.ffn(X)"},
        says="the network works on what came into the block, not on what the attention gathered",
        asks="What is there to compute for the network, if it never sees what the attention found?",
        page="""
Attention and network stand side by side instead of one behind the other. Some large models do this on purpose
and for speed. Here the network should think about what attention has just brought together.
"""
        + SEE_PARTS,
    ),
    mistake(
        "encblock-second-residual-from-input",
        of="EncoderBlock",
        swap={"self.addnorm2(Y, ": "self.addnorm2(X, "},
        says="the second half adds the network's output to what came into the block: the attention's result is passed by",
        asks="Which vector goes around the network, the block's input or what the first half made of it?",
        page="""
What the attention found reaches the output through the network only, no longer directly. One letter, and no
shape complains.
"""
        + SEE_SILENT,
    ),
    mistake(
        "encblock-no-first-addnorm",
        of="EncoderBlock",
        swap={FIRST: "Y = self.attention(X, X, X, valid_lens)"},
        says="the attention's output goes straight into the network, without residual and normalisation",
        asks="If a word looks only at others, where is its own meaning kept?",
        page="""
Without the residual a position forgets itself: what goes on is a mixture of values, of which its own may be a
small part. The first normalisation has weights and never any gradient.
"""
        + SEE_PARTS,
    ),
    mistake(
        "encblock-no-second-addnorm",
        of="EncoderBlock",
        swap={SECOND: "self.ffn(Y)"},
        says="the network's output is handed on as it is, without residual and normalisation",
        asks="What goes around the network, and what is the last thing that a block does?",
        page="""
The next block receives vectors of any size, and all that this block knew must squeeze through its network.
"""
        + SEE_NORM,
    ),
    mistake(
        "encblock-not-normalised-at-end",
        of="EncoderBlock",
        swap={SECOND: "Y + self.ffn(Y)"},
        says="the second sum is never normalised, and nothing is dropped there",
        asks="Which of the four parts do you build and never call?",
        page="""
The residual is there, the normalisation behind it is not, so that vectors grow from block to block. The second
norm's weights never get a gradient, and the optimiser does not complain.
"""
        + SEE_NORM,
    ),
    mistake(
        "encblock-residual-of-itself",
        of="EncoderBlock",
        swap={FIRST: "Y = self.attention(X, X, X, valid_lens)\n        Y = self.addnorm1(Y, Y)"},
        says="the first half adds the attention's output to itself: what came in is lost",
        asks="Two things should meet in the first sum. Which two meet in yours?",
        page="""
A name that is used again holds something else than before. The input has been overwritten by the time that it
should be added, so it never is.
"""
        + SEE_PARTS,
    ),
    mistake(
        "encblock-addnorm-arguments-swapped",
        of="EncoderBlock",
        swap={FIRST: "Y = self.addnorm1(self.attention(X, X, X, valid_lens), X)", SECOND: "self.addnorm2(self.ffn(Y), Y)"},
        says="what came in and what is new are handed over in the wrong order, so that dropout hits the residual",
        asks="Addition does not mind the order of its terms. Which step in there does?",
        page="""
In evaluation the results are the same to the last digit. In training the way around loses features at both
places, while the new parts are never dropped.
"""
        + SEE_NOTHING_DROPPED,
    ),
    mistake(
        "encblock-one-norm-twice",
        of="EncoderBlock",
        swap={SECOND: "self.addnorm1(Y, self.ffn(Y))"},
        says="the first normalisation is used in both places, the second never",
        asks="After a backward pass, which of the block's weights have no gradient?",
        page="""
Both halves share one scale and one shift. It costs little quality, and loaded weights give wrong numbers. It
also is a sign of copied lines, where other things may have stayed behind.

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0)
    >>> block(torch.randn(1, 3, 8), None).square().sum().backward()
    >>> [name for name, p in block.named_parameters() if p.grad is None]
""",
    ),
    mistake(
        "encblock-one-norm-object",
        of="EncoderBlock",
        swap={"self.addnorm2 = AddNorm(norm_shape, dropout)": "self.addnorm2 = self.addnorm1"},
        says="both normalisations are one and the same object with one set of weights",
        asks="How many normalisations does the block have, and how many did you build?",
        page="""
Two names for one module. Its scale and shift are trained by both places at once, and of two loaded sets of
weights the second overwrites the first.

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0)
    >>> len(list(block.parameters()))

Four projections, two layers with biases, and two norms of two vectors each make twelve.
""",
    ),
    mistake(
        "encblock-norms-exchanged",
        of="EncoderBlock",
        swap={FIRST: "Y = self.addnorm2(X, self.attention(X, X, X, valid_lens))", SECOND: "self.addnorm1(Y, self.ffn(Y))"},
        says="the two normalisations have changed places",
        asks="Which of the two should follow the attention?",
        page="""
A model trained from the start like this is as good as any: the names mean nothing to it. But weights are loaded
by name, and here each set goes to the wrong place.
"""
        + SEE_LAST_NORM,
    ),
    mistake(
        "encblock-network-first",
        of="EncoderBlock",
        swap={FIRST: "Y = self.addnorm1(X, self.ffn(X))", SECOND: "self.addnorm2(Y, self.attention(Y, Y, Y, valid_lens))"},
        says="the network comes before the attention",
        asks="What should be thought about first: what a word is, or what it has gathered?",
        page="""
Stacked, the order matters less than one would think: all but the first and the last half are the same chain. But
it is another chain, and the last attention's mixture is never worked on.
"""
        + SEE_PARTS,
    ),
    mistake(
        "encblock-pre-norm",
        of="EncoderBlock",
        kind="different",
        code="""
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
        page="""
Pre-norm is what most models are built with today: gradients run along the sums undisturbed, and training needs
less care. It wants one more normalisation at the end of the stack. This lesson builds the older order, and
weights of one do not fit the other.
"""
        + SEE_NORM,
    ),
    mistake(
        "encblock-pre-norm-without-dropout",
        of="EncoderBlock",
        kind="different",
        swap={
            FIRST: "Y = self.addnorm1.ln(X)\n        X = X + self.attention(Y, Y, Y, valid_lens)",
            SECOND: "X + self.ffn(self.addnorm2.ln(X))",
        },
        says="each part is normalised in front and added behind (pre-norm), and what is added is never dropped",
        asks="In the block of 2017, does the normalisation come before a part, or after the sum?",
        page="""
Pre-norm is a good design and the usual one today, but another than that of this lesson. And by reaching past the
add-and-normalise steps for their norms only, the dropout in them has been lost.
"""
        + SEE_NORM,
    ),
    mistake(
        "encblock-input-overwritten",
        of="EncoderBlock",
        swap={FIRST: "X += self.addnorm1.dropout(self.attention(X, X, X, valid_lens))\n        Y = self.addnorm1.ln(X)"},
        says="the attention's output is added into the caller's input",
        asks="Does the caller's tensor still hold the same numbers after the call?",
        page="""
The input belongs to somebody else, who may still want it. And autograd, too: it has kept the input for the way
back, finds it changed, and refuses.

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0)
    >>> X = torch.zeros(1, 3, 8)
    >>> block(X, None)
    >>> X
""",
    ),
    mistake(
        "encblock-use-bias-not-passed",
        of="EncoderBlock",
        swap={", bias=use_bias": ""},
        says="the attention is never told about biases: its projections have none even if they are asked for",
        asks="Which argument of the block is read nowhere in your code?",
        page="""
With the default everything is right. Who asks for biases gets none, and loading weights that have them fails, or
worse, is told to ignore what is left over.
"""
        + SEE_BIASES,
    ),
    mistake(
        "encblock-use-bias-always",
        of="EncoderBlock",
        swap={"bias=use_bias": "bias=True"},
        says="the projections of the attention have biases even if none are asked for",
        asks="What does the default say about biases, and what do you hand on?",
        page="""
The block has four vectors too many. It trains as well; weights made by others do not fill it, and the four keep
their random start.
"""
        + SEE_BIASES.replace(", use_bias=True", "") + "\nFour weights, and no bias, since none was asked for.\n",
    ),
    mistake(
        "encblock-attention-without-dropout",
        of="EncoderBlock",
        swap={"num_heads, dropout, bias": "num_heads, 0.0, bias"},
        says="the rate of dropout is not handed on to the attention",
        asks="In how many places of a block is something dropped?",
        page="""
Evaluations are right, training merely overfits a little sooner: a fault that no comparison of outputs finds.
"""
        + SEE_TRAINING,
    ),
    mistake(
        "encblock-addnorms-without-dropout",
        of="EncoderBlock",
        swap={"AddNorm(norm_shape, dropout)": "AddNorm(norm_shape, 0.0)"},
        says="the rate of dropout is not handed on to the two add-and-normalise steps",
        asks="In how many places of a block is something dropped?",
        page="""
Evaluations are right, training merely overfits a little sooner: a fault that no comparison of outputs finds.
"""
        + SEE_TRAINING,
    ),
    mistake(
        "encblock-output-dropped",
        of="EncoderBlock",
        swap={"return " + SECOND: f"return nn.functional.dropout({SECOND}, self.addnorm2.dropout.p, self.training)"},
        says="the block's output is dropped once more, behind the last normalisation",
        asks="What should the next block receive in training: a normalised vector, or one with holes?",
        page="""
The holes reach the residuals of all later blocks. After a few of them, hardly any feature of a word has come
through whole, and the rate of dropout means something else than its number says.
"""
        + SEE_NOTHING_DROPPED,
    ),
    mistake(
        "encblock-dropped-twice",
        of="EncoderBlock",
        swap={
            FIRST: "attended = nn.functional.dropout(self.attention(X, X, X, valid_lens), self.addnorm1.dropout.p, self.training)\n"
            "        Y = self.addnorm1(X, attended)"
        },
        says="what the attention adds is dropped twice in a row",
        asks="Which part already drops what it is handed before it adds it?",
        page="""
At a rate of 0.5 three of four numbers are lost instead of two. Evaluations are right.
"""
        + SEE_WHOLE,
    ),
    mistake(
        "encblock-attention-detached",
        of="EncoderBlock",
        swap={"self.attention(X, X, X, valid_lens)": "self.attention(X, X, X, valid_lens).detach()"},
        says="no gradient flows through the attention: its projections never learn",
        asks="After a backward pass, which parts of the block have a gradient?",
        page="""
All outputs are right. Attention stays at its random start while the network around it learns to make the best of
it. Something like no_grad, detach or a trip through numpy cuts the way back.

    >>> block = EncoderBlock(8, 8, 8, 8, [8], 8, 16, 2, 0.0)
    >>> block(torch.randn(1, 3, 8), None).square().sum().backward()
    >>> block.attention.W_v.weight.grad
""",
    ),
    mistake(
        "encblock-one-head",
        of="EncoderBlock",
        swap={"num_hiddens, num_heads, dropout": "num_hiddens, 1, dropout"},
        says="the attention has a single head, however many were asked for",
        asks="The layers have the same sizes for any number of heads. How would you notice a wrong one?",
        page="""
Every query can look for one thing only. No shape and no number of weights tells: heads are a way of cutting the
same features.

    >>> EncoderBlock(8, 8, 8, 8, [8], 8, 16, 4, 0.0).attention.num_heads
""",
    ),
    mistake(
        "encblock-attention-only",
        of="EncoderBlock",
        swap={"return " + SECOND: "return Y"},
        says="the block ends after its first half: the network is never called",
        asks="Which of the four parts do you build and never call?",
        page="""
Attention alone only takes weighted means of projected vectors, layer after layer; most of the weights of a
Transformer, and most of what it knows, sit in the networks.
"""
        + SEE_PARTS,
    ),
]

# ---- TransformerEncoder ----

SEE_LAYERS = """

    >>> sizes = 20, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=3, dropout=0.0).eval()
    >>> def look(block, args, out):
    ...     print(args[0][0, 0, :3], "->", out[0, 0, :3])
    >>> for block in encoder.blks:
    ...     block.register_forward_hook(look)
    >>> encoder(torch.tensor([[5, 7, 2]]), None)

What a block gives should be what the next one gets.
"""

SEE_FRONT = """

    >>> sizes = 20, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=1, dropout=0.0).eval()
    >>> def look(block, args):
    ...     print(args[0][0])
    >>> encoder.blks[0].register_forward_pre_hook(look)
    >>> nn.init.ones_(encoder.embedding.weight)
    >>> encoder(torch.tensor([[5, 7, 2]]), None)

All embeddings are one. The first row should be 2.83 and 3.83 in turn: the root of 8, and a sine or a cosine of 0.
"""

SEE_SHORT = """

    >>> sizes = 20, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=2, dropout=0.0).eval()
    >>> words, lens = torch.tensor([[8, 3, 6, 1, 1]]), torch.tensor([3])
    >>> before = encoder(words, lens)
    >>> words[:, 3:] = 11
    >>> (encoder(words, lens) - before)[0, :3]
"""

SEE_ORDER = """

    >>> sizes = 20, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=3, dropout=0.0).eval()
    >>> for name, block in encoder.blks.named_children():
    ...     block.register_forward_hook(lambda *_, name=name: print(name))
    >>> encoder(torch.tensor([[5, 7, 2]]), None)

The blocks tell their names in the order in which they run.
"""

SEE_END = """

    >>> sizes = 20, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=2, dropout=0.0).eval()
    >>> nn.init.constant_(encoder.blks[-1].addnorm2.ln.weight, 3.0)
    >>> encoder(torch.tensor([[5, 7, 2]]), None).var(-1, correction=0)

The last normalisation of the last block has a scale of 3, so that each variance should be 9.
"""

SEE_OWN_WEIGHTS = """

    >>> sizes = 20, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=3, dropout=0.0)
    >>> len(encoder.blks), len(list(encoder.parameters()))

Each block has twelve tensors of weights, the embedding one.
"""

SEE_RATES = """

    >>> sizes = 20, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=1, dropout=0.5)
    >>> parts = encoder.named_modules()
    >>> [(name, part.p) for name, part in parts if isinstance(part, nn.Dropout)]

There should be four, all with the rate that was asked for.
"""

EMBED = "X = self.embedding(X) * math.sqrt(self.num_hiddens)"
PLACE = "X = self.pos_encoding(X)"
STEP = "X = block(X, valid_lens)"

ENCODER = [
    mistake(
        "encoder-not-scaled",
        of="TransformerEncoder",
        swap={EMBED: "X = self.embedding(X)"},
        says="the embedding is not multiplied by anything before the positions are added",
        asks="How large is an embedding of spread one over root D beside a cosine?",
        page="""
Shapes are right and training works. But where embeddings start small, or are loaded from a model that had the
factor, the positions drown the words.
"""
        + SEE_FRONT,
    ),
    mistake(
        "encoder-scaled-by-d",
        of="TransformerEncoder",
        swap={"math.sqrt(self.num_hiddens)": "self.num_hiddens"},
        says="the embedding is multiplied by the number of features, not by its root",
        asks="Variances add up over features. What does that make of the length of a vector?",
        page="""
Words are now so loud that positions hardly count: at 512 features the factor is 512 instead of 23. The model
sees a bag of words with a faint idea of order.
"""
        + SEE_FRONT,
    ),
    mistake(
        "encoder-divided-by-root",
        of="TransformerEncoder",
        swap={"self.embedding(X) * math.sqrt": "self.embedding(X) / math.sqrt"},
        says="the embedding is divided by the root of the number of features instead of multiplied",
        asks="Should words become louder or softer here, beside sines and cosines?",
        page="""
Attention divides by a root, the embedding multiplies by one; the two are easily mixed up. Words become so small
that mostly positions are left.
"""
        + SEE_FRONT,
    ),
    mistake(
        "encoder-scaled-by-head-size",
        of="TransformerEncoder",
        swap={"self.num_hiddens = num_hiddens": "self.num_hiddens = num_hiddens // num_heads"},
        says="the factor is the root of the size of one head, not of all features",
        asks="Which size does the attention divide by, and which one is meant here?",
        page="""
The root of the head size belongs into the attention's scores. In front of the first block there are no heads yet.
"""
        + SEE_FRONT,
    ),
    mistake(
        "encoder-positions-scaled",
        of="TransformerEncoder",
        swap={EMBED: "X = self.embedding(X)", PLACE: "X = self.pos_encoding(X) * math.sqrt(self.num_hiddens)"},
        says="positions are added before the scaling, so they are scaled too",
        asks="The factor should change how loud words are beside positions. Does it, in your order?",
        page="""
A common factor for both changes nothing about their balance, and the first normalisation takes it away again.
The line is there and has no effect.
"""
        + SEE_FRONT,
    ),
    mistake(
        "encoder-no-positions",
        of="TransformerEncoder",
        swap={PLACE: "pass"},
        says="no positions are added: the encoder cannot tell one order of the words from another",
        asks="Exchange two words of a sentence. Does anything but the order of the results change?",
        page="""
*Dog bites man* and *man bites dog* become the same. Nothing crashes, and on many tasks a bag of words gets quite
far, which is why this goes unnoticed.
"""
        + SEE_FRONT,
    ),
    mistake(
        "encoder-positions-in-each-block",
        of="TransformerEncoder",
        swap={STEP: "X = block(X if block is self.blks[0] else self.pos_encoding(X), valid_lens)"},
        says="positions are added again before every block",
        asks="How often does the lesson's stack add positions?",
        page="""
Some models do so on purpose, in particular for pictures. Here they are added once: the residuals carry them up
through all layers.
"""
        + SEE_LAYERS,
    ),
    mistake(
        "encoder-one-block-repeated",
        of="TransformerEncoder",
        swap={"block = EncoderBlock(": "block = self.blks[0] if i else EncoderBlock("},
        says="one and the same block stands in every place of the stack: all layers share one set of weights",
        asks="How many blocks do you build, and how many times do you add one?",
        page="""
A block that is made before the loop and added in it is *one* block. The depth is there, the weights are not: a
stack of six has a sixth of its parameters. Sharing can be a choice (Universal Transformers); then it is made on
purpose.
"""
        + SEE_OWN_WEIGHTS,
    ),
    mistake(
        "encoder-blocks-fed-embedding",
        of="TransformerEncoder",
        swap={PLACE: PLACE + "\n        embedded = X", STEP: "X = block(embedded, valid_lens)"},
        says="every block is fed the embedding, so that only the last one counts",
        asks="What does the second block receive, and what should it?",
        page="""
All blocks but the last are computed and thrown away. The model behaves like one of a single layer, at the price
of many, and more layers change nothing.
"""
        + SEE_LAYERS,
    ),
    mistake(
        "encoder-first-block-only",
        of="TransformerEncoder",
        swap={
            "            self.attention_weights.append(block.attention.attention.attention_weights)  # (B·H, T, T)\n": "            break\n",
        },
        says="the result is handed back after the first block: the others never run",
        asks="How far does the loop get before your result is handed back?",
        page="""
An indentation is enough. Everything looks right with one layer, and more layers change nothing.
"""
        + SEE_LAYERS,
    ),
    mistake(
        "encoder-blocks-reversed",
        of="TransformerEncoder",
        swap={"for block in self.blks": "for block in reversed(list(self.blks))"},
        says="the blocks run from the last to the first",
        asks="Which block should see the embedding?",
        page="""
From a fresh start the order of equal blocks means nothing. With loaded weights the last layer meets raw
embeddings, which it has never seen.
"""
        + SEE_ORDER,
    ),
    mistake(
        "encoder-residual-around-blocks",
        of="TransformerEncoder",
        swap={STEP: "X = X + block(X, valid_lens)"},
        says="another residual leads around every block",
        asks="Where do residuals already stand in a block, and what comes last in it?",
        page="""
The block has its residuals inside, each followed by a normalisation. One more around it adds without normalising
again, so that numbers grow with every layer.
"""
        + SEE_LAYERS,
    ),
    mistake(
        "encoder-outputs-added-up",
        of="TransformerEncoder",
        swap={
            PLACE: PLACE + "\n        total = 0",
            STEP: STEP + "\n            total = total + X",
            "return X": "return total",
        },
        says="the outputs of all blocks are added up instead of handing back the last one",
        asks="What does the lesson's stack give back, the sum of its layers or the top one?",
        page="""
Sums of layers are used to *read* from trained models. As the output of the stack it is no longer normalised, and
lower layers speak as loudly as the top.
"""
        + SEE_LAYERS,
    ),
    mistake(
        "encoder-final-norm",
        of="TransformerEncoder",
        kind="different",
        swap={"return X": "return nn.functional.layer_norm(X, X.shape[-1:])"},
        says="the result is normalised once more at the end of the stack",
        asks="What is the last step of the last block already?",
        page="""
A stack of pre-norm blocks needs this step, since nothing in it ends with a normalisation. These blocks do, so
a further one only takes the last block's learned scale and shift away again.
"""
        + SEE_END,
    ),
    mistake(
        "encoder-lens-not-passed",
        of="TransformerEncoder",
        swap={STEP: "X = block(X, None)"},
        says="the blocks are never told the lengths, so padding is looked at like any word",
        asks="Follow the lengths from the call to the blocks: where do they stop?",
        page="""
What the encoder says about a short sentence depends on how long the others in its batch are.
"""
        + SEE_SHORT,
    ),
    mistake(
        "encoder-lens-first-block-only",
        of="TransformerEncoder",
        swap={STEP: STEP + "\n            valid_lens = None"},
        says="only the first block is told the lengths; later ones look at the padding",
        asks="After the first block, what stands in the padded positions?",
        page="""
Padding is not zero after a layer: it has looked at the words and carries what it found. One block that looks at
it is enough to let it leak into everything.
"""
        + SEE_SHORT,
    ),
    mistake(
        "encoder-embedding-detached",
        of="TransformerEncoder",
        swap={"self.embedding(X)": "self.embedding(X).detach()"},
        says="no gradient reaches the embedding: words keep their random vectors for ever",
        asks="After a backward pass, what does the gradient of the embedding look like?",
        page="""
All outputs are right. The blocks learn to work with random word vectors, which goes surprisingly far and then
stops.

    >>> sizes = 20, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=1, dropout=0.0)
    >>> encoder(torch.tensor([[5, 7, 2]]), None).square().sum().backward()
    >>> encoder.embedding.weight.grad
""",
    ),
    mistake(
        "encoder-table-scaled-in-place",
        of="TransformerEncoder",
        swap={EMBED: "self.embedding.weight.data *= math.sqrt(self.num_hiddens)\n        X = self.embedding(X)"},
        says="the table of embeddings itself is multiplied, again at every call",
        asks="Call it twice on the same words. What has become of the table in between?",
        page="""
The first call is right. Each further one finds a table that has grown by the factor once more; after ten steps
of training with 64 features it is a billion times too large.

    >>> sizes = 20, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=1, dropout=0.0).eval()
    >>> words = torch.tensor([[5, 7, 2]])
    >>> encoder(words, None) - encoder(words, None)
""",
    ),
    mistake(
        "encoder-last-step-only",
        of="TransformerEncoder",
        swap={"return X": "return X[:, -1]"},
        says="only the vector of the last position is handed back",
        asks="How many vectors does a decoder want to look at, for a source of T words?",
        page="""
A recurrent encoder sums a sentence up in its last state. Here every word has its own vector in context, and
attention needs them all.

    >>> encoder = TransformerEncoder(20, 8, 8, 8, 8, [8], 8, 16, 2, 1, 0.0)
    >>> encoder(torch.tensor([[5, 7, 2]]), None).shape
""",
    ),
    mistake(
        "encoder-mean-of-steps",
        of="TransformerEncoder",
        swap={"return X": "return X.mean(dim=1)"},
        says="the mean over all positions is handed back instead of a vector for each",
        asks="How many vectors does a decoder want to look at, for a source of T words?",
        page="""
A mean serves a classifier of whole sentences (with padding left out of it). An encoder hands on a vector for each
word.

    >>> encoder = TransformerEncoder(20, 8, 8, 8, 8, [8], 8, 16, 2, 1, 0.0)
    >>> encoder(torch.tensor([[5, 7, 2]]), None).shape
""",
    ),
    mistake(
        "encoder-always-two-blocks",
        of="TransformerEncoder",
        swap={"range(num_layers)": "range(2)"},
        says="the stack has two blocks, however many were asked for",
        asks="Which argument is read nowhere in your code?",
        page="""
A number from a first try has stayed in the loop. Two layers work, and nobody can have three.
"""
        + SEE_OWN_WEIGHTS,
    ),
    mistake(
        "encoder-one-block-too-few",
        of="TransformerEncoder",
        swap={"range(num_layers)": "range(1, num_layers)", 'f"block{i}"': 'f"block{i - 1}"'},
        says="the stack has one block fewer than was asked for",
        asks="How many numbers are there from 1 up to, but not including, L?",
        page="""
Counting from one in a language that counts from zero. With one layer the stack is empty, and words leave as they
came.
"""
        + SEE_OWN_WEIGHTS,
    ),
    mistake(
        "encoder-use-bias-not-passed",
        of="TransformerEncoder",
        swap={"                use_bias,\n": ""},
        says="the blocks are never told about biases: there are none even if they are asked for",
        asks="Which argument is read nowhere in your code?",
        page="""
With the default everything is right. Who asks for biases gets none, and weights that have them do not fit.

    >>> sizes = 20, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, 1, 0.0, use_bias=True)
    >>> [name for name, _ in encoder.blks[0].attention.named_parameters()]
""",
    ),
    mistake(
        "encoder-blocks-without-dropout",
        of="TransformerEncoder",
        swap={"                dropout,\n": "                0.0,\n"},
        says="the rate of dropout is not handed on to the blocks",
        asks="Which parts of the encoder should know the rate?",
        page="""
Evaluations are right, and in training only the positions' dropout is left. The model overfits, and turning the
rate up helps little.
"""
        + SEE_RATES,
    ),
    mistake(
        "encoder-positions-without-dropout",
        of="TransformerEncoder",
        swap={"PositionalEncoding(num_hiddens, dropout)": "PositionalEncoding(num_hiddens, 0.0)"},
        says="the rate of dropout is not handed on to the positions",
        asks="Which parts of the encoder should know the rate?",
        page="""
Evaluations are right. In training the sum of word and position should be dropped as well, before it enters the
first block (Vaswani et al. 2017, section 5.4).
"""
        + SEE_RATES,
    ),
    mistake(
        "encoder-dropout-before-positions",
        of="TransformerEncoder",
        swap={
            "PositionalEncoding(num_hiddens, dropout)": "PositionalEncoding(num_hiddens, 0.0)\n        self.dropout = nn.Dropout(dropout)",
            EMBED: "X = self.dropout(self.embedding(X) * math.sqrt(self.num_hiddens))",
        },
        says="words are dropped before the positions are added, and the sum is not",
        asks="Should a dropped feature still tell its position?",
        page="""
Evaluations are right. In training positions always come through whole, so that the layers above may lean on them
more than on words.
"""
        + SEE_RATES,
    ),
]


def on_cpu(id, of, swap, says, asks, page, seen=""):
    """Right on the CPU; on an accelerator two devices meet."""
    return mistake(id, of=of, kind="policy", breaks=("device",), swap=swap, says=says, asks=asks, page=page, seen=seen)


DEVICE = [
    on_cpu(
        'block-full-lens-on-the-cpu',
        'EncoderBlock',
        {
            'Y = self.addnorm1(X, self.attention': 'if valid_lens is None:\n            valid_lens = torch.full((X.shape[0],), X.shape[1])\n        Y = self.addnorm1(X, self.attention',
        },
        'lengths that were not given are made up on the CPU',
        'Where does X live, and where the lengths made here?',
        """
What was not told where to live lives on the CPU. The mask compares these lengths with steps that lie on the
accelerator, and the comparison raises an error. On a machine without one nothing shows.
""",
    ),
    on_cpu(
        'encoder-scale-on-the-cpu',
        'TransformerEncoder',
        {
            'math.sqrt(self.num_hiddens)': 'torch.sqrt(torch.tensor([self.num_hiddens], dtype=self.embedding.weight.dtype))',
        },
        'the scale of the embedding is a tensor with an axis that is made on the CPU',
        'Does the square root of a size need to be a tensor?',
        """
A tensor with one axis is bound to its device, also when it holds a single number. A plain Python number goes
anywhere, and so does a tensor without axes.
""",
        'often seen in tutorials, with a `.to(device)` that reads a global name',
    ),
]


def in_other_dtypes(id, of, swap, says, asks, page, seen=""):
    """Right in float32; in another dtype it stops, or comes back in the wrong one."""
    return mistake(id, of=of, kind="policy", breaks=("precision",), swap=swap, says=says, asks=asks, page=page, seen=seen)


PRECISION = [
    in_other_dtypes(
        "addnorm-comes-back-in-single",
        "AddNorm",
        {
            SUM: (
                "nn.functional.layer_norm((self.dropout(Y) + X).float(), self.ln.normalized_shape, "
                "self.ln.weight.float(), self.ln.bias.float(), self.ln.eps)"
            ),
        },
        "the result comes back in single precision whatever went in",
        "In which dtype are the weights of the layer that comes next?",
        """
Computing in `float32` inside is wise in half precision. What is handed on should have the dtype of what came in:
the next product meets two dtypes and stops, and in `float64` the extra digits are gone.

    >>> X = torch.ones(1, 1, 2).half()
    >>> AddNorm([2], 0.0).half()(X, X).dtype

It should be `torch.float16`, as what went in was.
""",
    ),
    in_other_dtypes(
        "ffn-zeros-in-float32",
        "PositionWiseFFN",
        {
            RELU: "torch.maximum(self.dense1(X), torch.zeros(1, device=X.device))",
        },
        "the zeros that cut off what is negative are of single precision, and so the hidden features become",
        "What is the dtype of the larger of two numbers when the two have different dtypes?",
        """
Where tensors of two dtypes meet, the wider one wins: the hidden features become `float32`, and the second layer, whose
weights are in half precision, stops. A plain number, or `torch.relu`, leaves the dtype alone.

    >>> PositionWiseFFN(2, 4, 2).half()(torch.ones(1, 3, 2).half()).dtype

It should go through, and what comes out should be `torch.float16`, as what went in was.
""",
    ),
    in_other_dtypes(
        "encoder-scale-in-float32",
        "TransformerEncoder",
        {
            "math.sqrt(self.num_hiddens)": "torch.tensor([self.num_hiddens], device=X.device).sqrt()",
        },
        "the embeddings are scaled by a tensor of single precision, and become so themselves",
        "What is the dtype of a half-precision tensor times a tensor of single precision, and what is it times a plain number?",
        """
A tensor with an axis brings its dtype along, and where two meet the wider one wins: the first layer of a model in half
precision is handed `float32` and stops. A plain Python number, or a tensor without axes, leaves the dtype alone.

    >>> sizes = 9, 8, 8, 8, 8, [8], 8, 16, 2  # from vocab_size to num_heads
    >>> encoder = TransformerEncoder(*sizes, num_layers=1, dropout=0.0).half()
    >>> encoder(torch.tensor([[3, 4, 5]]), torch.tensor([3])).dtype

It should go through, and what comes out should be `torch.float16`, as the weights are.
""",
    ),
]

MISTAKES = [*ADD_NORM, *FFN, *BLOCK, *ENCODER, *DEVICE, *PRECISION]
