"""Mistakes seen in kernel weights and kernel regression."""

from grader.authoring.bank import mistake

TRY_WEIGHTS = """

    >>> keys = torch.tensor([0., 1., 2.])
    >>> kernel_attention_weights(torch.tensor([1., 0.]), keys, 1.1774)

The lesson does this by hand: 0.25, 0.5, 0.25 and then 0.64, 0.32, 0.04.
"""

TRY_SUMS = """

    >>> weights = kernel_attention_weights(torch.randn(3), torch.randn(5))
    >>> weights.shape, weights.sum(dim=1)

There should be three rows of five, and every sum should be 1.
"""

TRY_W = """

    >>> queries, keys = torch.tensor([1.]), torch.tensor([1., 2.])
    >>> for w in (0.0, 0.5, 2.0):
    ...     print(kernel_attention_weights(queries, keys, w))

The larger `w`, the less weight the far key should get; with 0 both should get one half.
"""

TRY_GRADIENT = """

    >>> w = torch.ones(1, requires_grad=True)
    >>> queries, keys = torch.randn(3), torch.randn(5)
    >>> weights = kernel_attention_weights(queries, keys, w)
    >>> weights.square().sum().backward()
    >>> w.grad

There should be a number, and not 0.
"""

TRY_ANSWERS = """

    >>> keys, values = torch.tensor([0., 1., 2.]), torch.tensor([10., 20., 0.])
    >>> kernel_regression(torch.tensor([1., 0.]), keys, values, 1.1774)

The lesson does this by hand: 12.5 and 12.8.
"""

TRY_LEARNING = """

    >>> w = torch.ones(1, requires_grad=True)
    >>> queries, keys, values = torch.randn(3), torch.randn(5), torch.randn(5)
    >>> kernel_regression(queries, keys, values, w).sum().backward()
    >>> w.grad

There should be a number, and not 0.
"""

SCORES = "-((distances * w) ** 2) / 2"
SHARES = "scores.softmax(dim=-1)"
CALL = "kernel_attention_weights(queries, keys, w)"
ANSWER = "weights @ values"

WEIGHTS = [
    mistake(
        "pool-softmax-over-queries",
        of="kernel_attention_weights",
        swap={"dim=-1": "dim=0"},
        says="the softmax runs over the queries instead of the keys",
        asks="Add up one row and one column of your table. Which of the two should be one?",
        page="""
Each key shares itself out among the queries, instead of each query sharing out one whole among the keys. The
answer to one query then depends on which others are asked along with it, and its weights may sum to anything.
"""
        + TRY_SUMS,
    ),
    mistake(
        "pool-softmax-over-all",
        of="kernel_attention_weights",
        swap={SHARES: "scores.flatten().softmax(dim=0).reshape(scores.shape)"},
        says="one softmax runs over the whole table",
        asks="What do all your weights add up to, for all queries together?",
        page="""
The whole table sums to one instead of each row. The more queries are asked at once, the smaller every answer.
"""
        + TRY_SUMS,
    ),
    mistake(
        "pool-not-normalised",
        of="kernel_attention_weights",
        swap={SHARES: "scores.exp()"},
        says="the exponentials are not divided by their sum",
        asks="If all keys are far from the query, should its weights be small, or still share out one whole?",
        page="""
These are the heights of the bell, not shares. Where keys are dense the answers become too large, and far from
all keys they fade to zero, as if nothing were known there.
"""
        + TRY_SUMS,
    ),
    mistake(
        "pool-divided-by-largest",
        of="kernel_attention_weights",
        swap={SHARES: "(scores - scores.amax(dim=-1, keepdim=True)).exp()"},
        says="the exponentials are divided by the largest of their row instead of by their sum",
        asks="Can the nearest key have a weight of exactly one while the others get something, too?",
        page="""
Taking away the largest score before the exponential is a good habit against overflow. It does not replace the
division by the sum: the nearest key always gets 1, and the rest comes on top.
"""
        + TRY_SUMS,
    ),
    mistake(
        "pool-half-forgotten",
        of="kernel_attention_weights",
        swap={SCORES: "-((distances * w) ** 2)"},
        says="the half in the score is missing, so the bell is too narrow",
        asks="What does the formula do with the square before it is negated?",
        page="""
Without the half the bell is narrower by the root of two. A learned `w` makes up for it and comes out smaller;
with a given one all weights are too decided.
"""
        + TRY_WEIGHTS,
    ),
    mistake(
        "pool-half-squared",
        of="kernel_attention_weights",
        swap={SCORES: "-((distances * w / 2) ** 2)"},
        says="the half is squared along with the distance, so the bell is too wide",
        asks="Is it the distance that is halved, or its square?",
        page="""
Half of a square and the square of a half differ by a factor of two. The bell is too wide by the root of two,
and answers lean more on far keys than they should.
"""
        + TRY_WEIGHTS,
    ),
    mistake(
        "pool-sign-forgotten",
        of="kernel_attention_weights",
        swap={SCORES: SCORES[1:]},
        says="the minus sign is missing: the farther a key, the larger its weight",
        asks="Which key should get the largest score, the nearest or the farthest?",
        page="""
A softmax gives the most weight to the highest score. Without the sign, the highest score belongs to the
largest distance, and each query asks those keys that know least about it.
"""
        + TRY_W,
    ),
    mistake(
        "pool-absolute-distance",
        of="kernel_attention_weights",
        kind="different",
        swap={SCORES: "-(distances * w).abs() / 2"},
        says="half the distance itself is the score instead of half its square",
        asks="Is your curve round at the top like a bell, or does it have a point?",
        page="""
This kernel has a name (Laplace) and a point at the top where the bell is round. It is a fine one, with more
weight for far keys; it is not the Gaussian one of this exercise.
"""
        + TRY_WEIGHTS,
    ),
    mistake(
        "pool-signed-distance",
        of="kernel_attention_weights",
        swap={SCORES: "-(distances * w) / 2"},
        says="the distance is not squared: keys on one side of the query always win",
        asks="What is the score of a key to the left, and what that of a key equally far to the right?",
        page="""
A difference has a sign. Without the square, the largest key (or the smallest) has the highest score whatever
is asked, and the query itself drops out of the softmax: all rows are alike.
"""
        + TRY_WEIGHTS,
    ),
    mistake(
        "pool-dot-product",
        of="kernel_attention_weights",
        kind="different",
        swap={SCORES: "queries[:, None] * keys[None, :] * w"},
        says="the score is the product of query and key instead of their distance",
        asks="Is the nearest key always the one with the largest product?",
        page="""
The product is the score of later assignments, for vectors. For places on a line it says that large keys fit
every positive query best, however far away they are.
"""
        + TRY_WEIGHTS,
    ),
    mistake(
        "pool-w-outside-the-square",
        of="kernel_attention_weights",
        swap={SCORES: "-(distances**2) * w / 2"},
        says="the square is taken before multiplying with w",
        asks="Does w stretch the distance, or the score?",
        page="""
With `w = 1` there is no difference, so tests with the default pass. Elsewhere the bell has another width than
asked for, and a negative `w` turns it upside down, which a squared one cannot.
"""
        + TRY_WEIGHTS,
    ),
    mistake(
        "pool-w-divides",
        of="kernel_attention_weights",
        kind="different",
        swap={"distances * w": "distances / w"},
        says="the distances are divided by w: a large one makes the bell wide instead of narrow",
        asks="When w grows, should far keys get more weight or less?",
        page="""
Statistics calls this number a bandwidth and divides by it; both customs are in use. Here `w` multiplies, so
that 0 is allowed and means the plain average.
"""
        + TRY_W,
    ),
    mistake(
        "pool-w-on-the-keys",
        of="kernel_attention_weights",
        swap={"distances * w": "queries[:, None] - keys[None, :] * w"},
        says="w multiplies the keys instead of the distances",
        asks="If query and key are equal, what should their distance be, whatever w is?",
        page="""
A missing pair of brackets. Scaling only the keys moves them away from their places, so that even a key that
stands exactly where the query is gets a distance.
"""
        + TRY_W,
    ),
    mistake(
        "pool-w-ignored",
        of="kernel_attention_weights",
        swap={"(distances * w)": "distances"},
        says="w is not used",
        asks="Call it with two different widths. Do the weights differ?",
        page="""
With the default of 1 nobody notices. A learned `w` would get no gradient, and the width of the bell stays
what it happens to be.
"""
        + TRY_W,
    ),
    mistake(
        "pool-w-cut-off",
        of="kernel_attention_weights",
        swap={"distances * w": "distances * float(w)"},
        says="the weights are right, but w gets no gradient: it was turned into a plain number",
        asks="What does a plain number remember about where it came from?",
        page="""
Turning a tensor into a number (by `float`, `.item()`, or by making a new tensor of it) cuts its history. The
forward pass is perfect, and `w` stays at its first value for ever.
"""
        + TRY_GRADIENT,
    ),
    mistake(
        "pool-queries-detached",
        of="kernel_attention_weights",
        swap={"queries[:, None]": "queries.detach()[:, None]"},
        says="the weights are right, but no gradient flows back to the queries",
        asks="In later assignments, who makes the queries, and how does it learn?",
        page="""
Here the queries are data, and nobody misses their gradient. Later they come out of a layer, which would never
learn.

    >>> queries = torch.randn(3, requires_grad=True)
    >>> weights = kernel_attention_weights(queries, torch.randn(5))
    >>> weights.square().sum().backward()
    >>> queries.grad
""",
    ),
    mistake(
        "pool-all-detached",
        of="kernel_attention_weights",
        swap={SHARES: SHARES.replace("scores", "scores.detach()")},
        says="the weights are right, but no gradient flows back through them at all",
        asks="What is the result still connected to when you ask for a gradient?",
        page="""
A detour through NumPy, a `.detach()`, a `.data` or a surrounding `no_grad`: the numbers are right and have
forgotten where they came from.
"""
        + TRY_GRADIENT,
    ),
    mistake(
        "pool-transposed",
        of="kernel_attention_weights",
        swap={"queries[:, None] - keys[None, :]": "keys[:, None] - queries[None, :]", "dim=-1": "dim=0"},
        says="the table lies on its side: one row a key, one column a query",
        asks="Which of the two counts rows in your table, queries or keys?",
        page="""
All numbers are right and stand in the wrong corner. With as many queries as keys the shape does not tell, and
the product with the values then averages along the wrong axis.
"""
        + TRY_SUMS,
    ),
    mistake(
        "pool-repeated-in-the-wrong-order",
        of="kernel_attention_weights",
        swap={"queries[:, None] - keys[None, :]": "queries.repeat(len(keys)).reshape(len(queries), len(keys)) - keys"},
        says="the queries are repeated in the wrong order, so one row mixes several queries",
        asks="Along one row of the table, how often should the query change?",
        page="""
There are two ways to repeat a list: as a whole, or entry by entry. A row of the table belongs to one query,
so its entries must stand next to each other.

    >>> torch.tensor([1, 2]).repeat(3), torch.tensor([1, 2]).repeat_interleave(3)
    >>> queries, keys = torch.tensor([0., 9.]), torch.tensor([0., 0., 9.])
    >>> kernel_attention_weights(queries, keys)

Query 0 stands at the first two keys, which should share its weight; query 1 at the third, which should get it all.
""",
    ),
    mistake(
        "pool-repeated-too-rarely",
        of="kernel_attention_weights",
        swap={"queries[:, None] - keys[None, :]": "queries.repeat_interleave(len(queries)).reshape(len(queries), -1) - keys"},
        says="every query is repeated once for each query instead of once for each key",
        asks="How many entries has a row of the table: as many as there are queries, or as many as there are keys?",
        page="""
With as many queries as keys all is right. Otherwise the repeated queries do not fit the keys, and the
subtraction raises an error.

    >>> kernel_attention_weights(torch.randn(3), torch.randn(5))
""",
    ),
    mistake(
        "pool-no-table",
        of="kernel_attention_weights",
        swap={"queries[:, None] - keys[None, :]": "queries - keys"},
        says="queries and keys are subtracted entry by entry, so query 0 meets only key 0",
        asks="How many pairs of a query and a key are there, and how many did you score?",
        page="""
Two rows of numbers give one row of differences if they are equally long, and an error if they are not. Every
query is to meet every key: that takes two axes.

    >>> kernel_attention_weights(torch.randn(3), torch.randn(5)).shape

There should be three rows of five.
""",
    ),
    mistake(
        "pool-logarithms",
        of="kernel_attention_weights",
        swap={"softmax": "log_softmax"},
        says="the logarithms of the weights came back",
        asks="Can a weight be negative?",
        page="""
Logarithms are what a loss wants. An average wants the weights themselves.
"""
        + TRY_SUMS,
    ),
    mistake(
        "pool-exponential-twice",
        of="kernel_attention_weights",
        swap={SHARES: "scores.exp().softmax(dim=-1)"},
        says="exponentials are taken twice: once by hand, and once more inside the softmax",
        asks="Does a softmax want scores, or the exponentials of scores?",
        page="""
The bell curve's heights lie between 0 and 1, and as scores they are nearly equal: the weights come out almost
uniform, and even the farthest key keeps its share.
"""
        + TRY_WEIGHTS,
    ),
    mistake(
        "pool-softmax-twice",
        of="kernel_attention_weights",
        swap={SHARES: "scores.softmax(dim=-1).softmax(dim=-1)"},
        says="a softmax is taken of weights that went through one already",
        asks="What happens to weights between 0 and 1 when they are taken for scores?",
        page="""
After the second softmax nearly all weights are alike. Rows still sum to one, so only the numbers tell.
"""
        + TRY_WEIGHTS,
    ),
    mistake(
        "pool-nearest-only",
        of="kernel_attention_weights",
        swap={SHARES: "torch.nn.functional.one_hot(scores.argmax(dim=-1), len(keys)).to(scores.dtype)"},
        says="the nearest key gets all the weight",
        asks="Where the query passes the middle between two keys, should the answer jump?",
        page="""
The nearest neighbour is where the bell ends when `w` grows without bound. It jumps, has no gradient, and does
not listen to `w`.
"""
        + TRY_WEIGHTS,
    ),
    mistake(
        "pool-squares-added-up",
        of="kernel_attention_weights",
        swap={SHARES: "scores / scores.sum(dim=-1, keepdim=True)"},
        says="the scores are divided by their sum without taking exponentials",
        asks="Which key gets the largest share when all scores are negative and are divided by their negative sum?",
        page="""
Rows do sum to one. But a key at distance 0 has a score of 0 and gets nothing, and the farthest gets the most.
"""
        + TRY_WEIGHTS,
    ),
]

REGRESSION = [
    mistake(
        "pool-w-not-handed-on",
        of="kernel_regression",
        swap={CALL: "kernel_attention_weights(queries, keys)"},
        says="w is not handed on, so the default is always used",
        asks="Which of your lines would notice if w were another number?",
        page="""
The argument comes in and stops there. With the default everything is right; a learned `w` gets no gradient
and changes nothing.
"""
        + TRY_LEARNING,
    ),
    mistake(
        "pool-w-handed-on-as-number",
        of="kernel_regression",
        swap={CALL: "kernel_attention_weights(queries, keys, float(w))"},
        says="the answers are right, but w gets no gradient: it was turned into a plain number",
        asks="What does a plain number remember about where it came from?",
        page="""
The forward pass is perfect, and `w` stays at its first value for ever, because the number that is handed on
knows nothing of the tensor it was read from.
"""
        + TRY_LEARNING,
    ),
    mistake(
        "pool-mean-for-sum",
        of="kernel_regression",
        swap={ANSWER: "(weights * values).mean(dim=-1)"},
        says="after weighting, a mean is taken where a sum belongs: answers are too small by the number of keys",
        asks="The weights of a query sum to one already. By what do you divide again?",
        page="""
The weights *are* the division: they share out one whole. A further mean shrinks all answers, the more so the
more keys there are.
"""
        + TRY_ANSWERS,
    ),
    mistake(
        "pool-not-added-up",
        of="kernel_regression",
        swap={ANSWER: "weights * values"},
        says="the weighted values are not added up: a whole table comes back",
        asks="How many answers should there be for one query?",
        page="""
Each entry is one key's part of one query's answer. What is missing is adding up the parts of each row.

    >>> kernel_regression(torch.randn(3), torch.randn(5), torch.randn(5)).shape
""",
    ),
    mistake(
        "pool-added-up-over-queries",
        of="kernel_regression",
        swap={ANSWER: "(weights * values).sum(dim=0)"},
        says="the parts are added up over the queries instead of over the keys",
        asks="Should there be one answer for each query or for each key?",
        page="""
Adding up the columns of the table gives one number a key: how much of its value all queries took together.

    >>> kernel_regression(torch.randn(3), torch.randn(5), torch.randn(5)).shape

There should be three answers.
""",
    ),
    mistake(
        "pool-column-of-answers",
        of="kernel_regression",
        swap={ANSWER: "weights @ values[:, None]"},
        says="the answers are right, but come as a column with an axis too many",
        asks="What shape have the queries, and what shape should the answers have?",
        page="""
A column looks harmless, and then a loss compares it with a row: broadcasting makes a whole table of all
differences, without a word, and the model learns the mean.

    >>> queries, keys, values = torch.randn(3), torch.randn(5), torch.randn(5)
    >>> answers = kernel_regression(queries, keys, values)
    >>> answers.shape, (answers - torch.zeros(3)).shape

Three answers and three differences: both should have one axis.
""",
    ),
    mistake(
        "pool-keys-averaged",
        of="kernel_regression",
        swap={ANSWER: "weights @ keys"},
        says="the keys are averaged instead of the values",
        asks="What was measured at each place, and which of your arguments holds it?",
        page="""
The answer says which places were near, not what was found there. It comes out close to the query itself.
"""
        + TRY_ANSWERS,
    ),
    mistake(
        "pool-nearest-value",
        of="kernel_regression",
        swap={ANSWER: "values[weights.argmax(dim=-1)]"},
        says="the value of the nearest key comes back instead of an average",
        asks="Which other values does your answer listen to?",
        page="""
The nearest neighbour is a method of its own. It jumps between two keys, and nothing can be learned about `w`,
since small changes of the weights change nothing.
"""
        + TRY_ANSWERS,
    ),
    mistake(
        "pool-weights-came-back",
        of="kernel_regression",
        swap={f"return {ANSWER}": "return weights"},
        says="the weights came back, and the values are not used",
        asks="Does anything in your result change when the values change?",
        page="""
Half of the way is done: one row of weights a query. The other half is to average the values under them.
"""
        + TRY_ANSWERS,
    ),
    mistake(
        "pool-weights-returned-too",
        of="kernel_regression",
        kind="different",
        swap={f"return {ANSWER}": f"return {ANSWER}, weights"},
        says="the weights come back together with the answers, as a pair",
        asks="What does the code that calls this function do with its result?",
        page="""
Handing out the weights is a fine custom, and many libraries have it. Here only the answers are asked for, and
whoever calls goes on computing with them.
""",
    ),
    mistake(
        "pool-weights-transposed",
        of="kernel_regression",
        swap={CALL: "kernel_attention_weights(keys, queries, w).T"},
        says="the softmax of the weights ran over the queries: each key shares itself out among them",
        asks="Whose weights should sum to one, those of a query or those of a key?",
        page="""
This comes out when queries and keys are exchanged in the call and the table is turned afterwards: that mends
its shape and not its contents, since the softmax has already run along the other side.
"""
        + TRY_ANSWERS,
    ),
    mistake(
        "pool-weights-on-their-side",
        of="kernel_regression",
        swap={ANSWER: "weights.T @ values"},
        says="the table of weights is turned on its side before it meets the values",
        asks="Which axis of the weights has the length of the values, and which one is summed over?",
        page="""
A product of a table with a row of numbers sums along the rows of the table. On its side, rows belong to keys;
that does not fit unless there are as many queries as keys, and then each answer adds up what one key gave
away.
"""
        + TRY_ANSWERS,
    ),
    mistake(
        "pool-answers-not-normalised",
        of="kernel_regression",
        swap={CALL: "torch.exp(-(((queries[:, None] - keys) * w) ** 2) / 2)"},
        says="the weights of a query are not divided by their sum",
        asks="If all values are 7, what should every answer be?",
        page="""
With all values equal, an average must give that value back. Without the division the answer also counts how
many keys are near.

    >>> kernel_regression(torch.randn(3), torch.randn(5), torch.full((5,), 7.0))
""",
    ),
    mistake(
        "pool-answers-half-forgotten",
        of="kernel_regression",
        swap={CALL: "(-(((queries[:, None] - keys) * w) ** 2)).softmax(dim=-1)"},
        says="the half in the score is missing, so answers listen too little to far keys",
        asks="What does the formula do with the square before it is negated?",
        page="""
The bell is too narrow by the root of two. Whoever builds the weights once more instead of calling the function
that makes them can make a new mistake.
"""
        + TRY_ANSWERS,
    ),
    mistake(
        "pool-answers-w-outside-the-square",
        of="kernel_regression",
        swap={CALL: "(-((queries[:, None] - keys) ** 2) * w / 2).softmax(dim=-1)"},
        says="the weights were made with w outside the square",
        asks="Does w stretch the distance, or the score?",
        page="""
With `w = 1` there is no difference. Elsewhere the bell has another width than asked for.
"""
        + TRY_ANSWERS,
    ),
    mistake(
        "pool-values-detached",
        of="kernel_regression",
        swap={ANSWER: "weights @ values.detach()"},
        says="the answers are right, but no gradient flows back to the values",
        asks="By which two ways can a loss reach back through an average, and which one is cut?",
        page="""
Here the values are data. In later assignments they come out of a layer, which would never learn.

    >>> values = torch.randn(5, requires_grad=True)
    >>> kernel_regression(torch.randn(3), torch.randn(5), values).sum().backward()
    >>> values.grad
""",
    ),
    mistake(
        "pool-weights-detached",
        of="kernel_regression",
        swap={ANSWER: "weights.detach() @ values"},
        says="the answers are right, but no gradient flows back through the weights",
        asks="How is w to learn what a good width is?",
        page="""
The values would learn, and where to look would not: `w`, the queries and the keys get no gradient.
"""
        + TRY_LEARNING,
    ),
    mistake(
        "pool-answers-detached",
        of="kernel_regression",
        swap={ANSWER: "(weights @ values).detach()"},
        says="the answers are right, but no gradient flows back from them at all",
        asks="What are the answers still connected to when the loss is computed?",
        page="""
A detour through NumPy, a `.detach()` or a `no_grad`: right numbers without a history, and nothing learns.
"""
        + TRY_LEARNING,
    ),
    mistake(
        "pool-values-added-to-query",
        of="kernel_regression",
        kind="different",
        swap={ANSWER: "queries + weights @ values"},
        says="the query is added to its answer",
        asks="What should a query be answered if all values are zero?",
        page="""
Adding the input back (a residual connection) will be useful in an encoder. An average of values has no place
for it: the answer leaves the range of the values.
"""
        + TRY_ANSWERS,
    ),
]


def in_other_dtypes(id, of, swap, says, asks, page, seen=""):
    """Right in float32; in another dtype it stops, or comes back in the wrong one."""
    return mistake(id, of=of, kind="policy", breaks=("precision",), swap=swap, says=says, asks=asks, page=page, seen=seen)


PRECISION = [
    in_other_dtypes(
        "kernel-weights-in-single",
        "kernel_attention_weights",
        {
            "queries[:, None] - keys[None, :]": "queries[:, None].float() - keys[None, :].float()",
        },
        "the weights come back in single precision whatever went in",
        "In which dtype are the values that these weights will be multiplied with?",
        """
Computing in `float32` inside is wise in half precision. What is handed on should have the dtype of what came in:
the next product meets two dtypes and stops, and in `float64` the extra digits are gone.

    >>> queries, keys = torch.zeros(2).double(), torch.ones(3).double()
    >>> kernel_attention_weights(queries, keys).dtype

It should be `torch.float64`, as what went in was.
""",
    ),
    in_other_dtypes(
        "kernel-answers-in-single",
        "kernel_regression",
        {
            ANSWER: "weights.float() @ values.float()",
        },
        "the answers come back in single precision whatever went in",
        "What is the dtype of the answers when all inputs are in double precision?",
        """
Computing in `float32` inside is wise in half precision. What is handed on should have the dtype of what came in:
the next product meets two dtypes and stops, and in `float64` the extra digits are gone.

    >>> x = torch.ones(3).double(); kernel_regression(x, x, x).dtype

It should be `torch.float64`, as what went in was.
""",
    ),
]

MISTAKES = WEIGHTS + REGRESSION + PRECISION
