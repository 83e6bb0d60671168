"""Known mistakes in kernel_attention_weights; their pages are in kernel_attention_weights.md."""

from grader.authoring import dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "pool-softmax-over-queries",
        edit("dim=-1", "dim=0"),
        says="the softmax runs over the queries instead of the keys",
        asks="Add up one row and one column of your table. Which of the two should be one?",
    ),
    mistake(
        "pool-softmax-over-all",
        edit("scores.softmax(dim=-1)", "scores.flatten().softmax(dim=0).reshape(scores.shape)"),
        says="one softmax runs over the whole table",
        asks="What do all your weights add up to, for all queries together?",
    ),
    mistake(
        "pool-not-normalised",
        edit("scores.softmax(dim=-1)", "scores.exp()"),
        says="the exponentials are not divided by their sum",
        asks="If all keys are far from the query, should its weights be small, or still share out one whole?",
    ),
    mistake(
        "pool-divided-by-largest",
        edit("scores.softmax(dim=-1)", "(scores - scores.amax(dim=-1, keepdim=True)).exp()"),
        says="the exponentials are divided by the largest of their row instead of by their sum",
        asks="Can the nearest key have a weight of exactly one while the others get something, too?",
    ),
    mistake(
        "pool-half-forgotten",
        edit("-((distances * w) ** 2) / 2", "-((distances * w) ** 2)"),
        says="the half in the score is missing, so the bell is too narrow",
        asks="What does the formula do with the square before it is negated?",
    ),
    mistake(
        "pool-half-squared",
        edit("-((distances * w) ** 2) / 2", "-((distances * w / 2) ** 2)"),
        says="the half is squared along with the distance, so the bell is too wide",
        asks="Is it the distance that is halved, or its square?",
    ),
    mistake(
        "pool-sign-forgotten",
        edit("-((distances * w) ** 2) / 2", "((distances * w) ** 2) / 2"),
        says="the minus sign is missing: the farther a key, the larger its weight",
        asks="Which key should get the largest score, the nearest or the farthest?",
    ),
    mistake(
        "pool-absolute-distance",
        edit("-((distances * w) ** 2) / 2", "-(distances * w).abs() / 2"),
        says="half the distance itself is the score instead of half its square",
        asks="Is your curve round at the top like a bell, or does it have a point?",
        kind="different",
    ),
    mistake(
        "pool-signed-distance",
        edit("-((distances * w) ** 2) / 2", "-(distances * w) / 2"),
        says="the distance is not squared: keys on one side of the query always win",
        asks="What is the score of a key to the left, and what that of a key equally far to the right?",
    ),
    mistake(
        "pool-dot-product",
        edit("-((distances * w) ** 2) / 2", "queries[:, None] * keys[None, :] * w"),
        says="the score is the product of query and key instead of their distance",
        asks="Is the nearest key always the one with the largest product?",
        kind="different",
    ),
    mistake(
        "pool-w-outside-the-square",
        edit("-((distances * w) ** 2) / 2", "-(distances**2) * w / 2"),
        says="the square is taken before multiplying with w",
        asks="Does w stretch the distance, or the score?",
    ),
    mistake(
        "pool-w-divides",
        edit("distances * w", "distances / w"),
        says="the distances are divided by w: a large one makes the bell wide instead of narrow",
        asks="When w grows, should far keys get more weight or less?",
        kind="different",
    ),
    mistake(
        "pool-w-on-the-keys",
        edit("distances * w", "queries[:, None] - keys[None, :] * w"),
        says="w multiplies the keys instead of the distances",
        asks="If query and key are equal, what should their distance be, whatever w is?",
    ),
    mistake(
        "pool-w-ignored",
        edit("(distances * w)", "distances"),
        says="w is not used",
        asks="Call it with two different widths. Do the weights differ?",
    ),
    mistake(
        "pool-w-cut-off",
        edit("distances * w", "distances * float(w)"),
        says="the weights are right, but w gets no gradient: it was turned into a plain number",
        asks="What does a plain number remember about where it came from?",
    ),
    mistake(
        "pool-queries-detached",
        edit("queries[:, None]", "queries.detach()[:, None]"),
        says="the weights are right, but no gradient flows back to the queries",
        asks="In later assignments, who makes the queries, and how does it learn?",
    ),
    mistake(
        "pool-all-detached",
        edit("scores.softmax(dim=-1)", "scores.detach().softmax(dim=-1)"),
        says="the weights are right, but no gradient flows back through them at all",
        asks="What is the result still connected to when you ask for a gradient?",
    ),
    mistake(
        "pool-transposed",
        edit("queries[:, None] - keys[None, :]", "keys[:, None] - queries[None, :]"),
        edit("dim=-1", "dim=0"),
        says="the table lies on its side: one row a key, one column a query",
        asks="Which of the two counts rows in your table, queries or keys?",
    ),
    mistake(
        "pool-repeated-in-the-wrong-order",
        edit(
            "queries[:, None] - keys[None, :]",
            "queries.repeat(len(keys)).reshape(len(queries), len(keys)) - keys",
        ),
        says="the queries are repeated in the wrong order, so one row mixes several queries",
        asks="Along one row of the table, how often should the query change?",
    ),
    mistake(
        "pool-repeated-too-rarely",
        edit(
            "queries[:, None] - keys[None, :]",
            "queries.repeat_interleave(len(queries)).reshape(len(queries), -1) - keys",
        ),
        says="every query is repeated once for each query instead of once for each key",
        asks=(
            "How many entries has a row of the table: as many as there are queries, or as many as there are"
            " keys?"
        ),
    ),
    mistake(
        "pool-no-table",
        edit("queries[:, None] - keys[None, :]", "queries - keys"),
        says="queries and keys are subtracted entry by entry, so query 0 meets only key 0",
        asks="How many pairs of a query and a key are there, and how many did you score?",
    ),
    mistake(
        "pool-logarithms",
        edit("softmax", "log_softmax"),
        says="the logarithms of the weights came back",
        asks="Can a weight be negative?",
    ),
    mistake(
        "pool-exponential-twice",
        edit("scores.softmax(dim=-1)", "scores.exp().softmax(dim=-1)"),
        says="exponentials are taken twice: once by hand, and once more inside the softmax",
        asks="Does a softmax want scores, or the exponentials of scores?",
    ),
    mistake(
        "pool-softmax-twice",
        edit("scores.softmax(dim=-1)", "scores.softmax(dim=-1).softmax(dim=-1)"),
        says="a softmax is taken of weights that went through one already",
        asks="What happens to weights between 0 and 1 when they are taken for scores?",
    ),
    mistake(
        "pool-nearest-only",
        edit(
            "scores.softmax(dim=-1)",
            "torch.nn.functional.one_hot(scores.argmax(dim=-1), len(keys)).to(scores.dtype)",
        ),
        says="the nearest key gets all the weight",
        asks="Where the query passes the middle between two keys, should the answer jump?",
    ),
    mistake(
        "pool-squares-added-up",
        edit("scores.softmax(dim=-1)", "scores / scores.sum(dim=-1, keepdim=True)"),
        says="the scores are divided by their sum without taking exponentials",
        asks=(
            "Which key gets the largest share when all scores are negative and are divided by their "
            "negative sum?"
        ),
    ),
    dtype_mistake(
        "kernel-weights-in-single",
        edit("queries[:, None] - keys[None, :]", "queries[:, None].float() - keys[None, :].float()"),
        says="the weights come back in single precision whatever went in",
        asks="In which dtype are the values that these weights will be multiplied with?",
    ),
]
