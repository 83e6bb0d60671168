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
        asks="What is the sum of all your weights, for all queries together?",
    ),
    mistake(
        "pool-not-normalised",
        edit("scores.softmax(dim=-1)", "scores.exp()"),
        says="the exponentials are not divided by their sum",
        asks="All keys are far from the query. What should its weights still sum to?",
    ),
    mistake(
        "pool-far-query-nan",
        edit("scores.softmax(dim=-1)", "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)"),
        says="the result is NaN for a query far from all keys, because all its exponentials are rounded to 0",
        asks="A query has a distance of 63 from every key. What are your exponentials, and what is their sum?",
    ),
    mistake(
        "pool-number-added-to-sum",
        edit("scores.softmax(dim=-1)", "scores.exp() / (scores.exp().sum(dim=-1, keepdim=True) + 1e-8)"),
        says="a small number is added to the sum of the exponentials, so the weights of a query far from all keys are zero",
        asks="A query is far from every key. What should its weights sum to, and what is 0 / (0 + 1e-8)?",
    ),
    mistake(
        "pool-divided-by-largest",
        edit("scores.softmax(dim=-1)", "(scores - scores.amax(dim=-1, keepdim=True)).exp()"),
        forms=[[edit("scores.softmax(dim=-1)", "scores.exp() / scores.exp().amax(dim=-1, keepdim=True)")]],
        says="the exponentials are divided by the largest of their row instead of by their sum",
        asks="Can the nearest key have a weight of exactly one when the other keys have weights above zero?",
    ),
    mistake(
        "pool-half-forgotten",
        edit("-((distances * w) ** 2) / 2", "-((distances * w) ** 2)"),
        says="the half in the score is missing, so the bell is too narrow",
        asks="What does the formula do with the square besides negating it?",
    ),
    mistake(
        "pool-half-squared",
        edit("-((distances * w) ** 2) / 2", "-((distances * w / 2) ** 2)"),
        says="the half is inside the square, so the bell is too wide",
        asks="Does the formula halve the distance or its square?",
    ),
    mistake(
        "pool-sign-forgotten",
        edit("-((distances * w) ** 2) / 2", "((distances * w) ** 2) / 2"),
        says="the minus sign is missing: the farther a key is, the larger its weight",
        asks="Which key should get the largest score, the nearest or the farthest?",
    ),
    mistake(
        "pool-absolute-distance",
        edit("-((distances * w) ** 2) / 2", "-(distances * w).abs() / 2"),
        says="the score uses the distance itself instead of its square",
        asks="Is your curve round at the top like a bell, or does it have a peak with a corner?",
        kind="different",
    ),
    mistake(
        "pool-signed-distance",
        edit("-((distances * w) ** 2) / 2", "-(distances * w) / 2"),
        says="the distance is not squared, so keys on one side of the query always get more weight",
        asks=(
            "What is the score of a key to the left, and what is the score of a key equally far to the right?"
        ),
    ),
    mistake(
        "pool-dot-product",
        edit("-((distances * w) ** 2) / 2", "queries[:, None] * keys[None, :] * w"),
        says="the score is the product of query and key instead of a function of their distance",
        asks="Is the nearest key always the one with the largest product?",
        kind="different",
    ),
    mistake(
        "pool-w-outside-the-square",
        edit("-((distances * w) ** 2) / 2", "-(distances**2) * w / 2"),
        says="the square is taken before the multiplication by w",
        asks="Does w scale the distance or the score?",
    ),
    mistake(
        "pool-w-divides",
        edit("distances * w", "distances / w"),
        says="the distances are divided by w, so a larger w makes the bell wider instead of narrower",
        asks="When w grows, should far keys get more weight or less?",
        kind="different",
    ),
    mistake(
        "pool-w-on-the-keys",
        edit("distances * w", "queries[:, None] - keys[None, :] * w"),
        says="w multiplies the keys instead of the distances",
        asks="If query and key are equal, what should their distance be for every w?",
    ),
    mistake(
        "pool-w-ignored",
        edit("(distances * w)", "distances"),
        says="w is not used",
        asks="Call your function with two different values of w. Do the weights differ?",
    ),
    mistake(
        "pool-w-cut-off",
        edit("distances * w", "distances * float(w)"),
        says="the weights are right, but w gets no gradient because it is converted to a plain number",
        asks="Can a plain Python number pass a gradient back to the tensor that it was read from?",
    ),
    mistake(
        "pool-queries-detached",
        edit("queries[:, None]", "queries.detach()[:, None]"),
        says="the weights are right, but no gradient reaches the queries",
        asks="In later lessons a layer computes the queries. How does that layer learn?",
    ),
    mistake(
        "pool-all-detached",
        edit("scores.softmax(dim=-1)", "scores.detach().softmax(dim=-1)"),
        says="the weights are right, but no gradient flows back through them",
        asks="Which tensors is your result still connected to when `backward` runs?",
    ),
    mistake(
        "pool-transposed",
        edit("queries[:, None] - keys[None, :]", "keys[:, None] - queries[None, :]"),
        edit("dim=-1", "dim=0"),
        says="the table is transposed: it has one row per key and one column per query",
        asks="Do the rows of your table belong to the queries or to the keys?",
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
        says="each query is repeated once per query instead of once per key",
        asks=(
            "Does a row of the table have as many entries as there are queries, or as many as there are keys?"
        ),
    ),
    mistake(
        "pool-no-table",
        edit("queries[:, None] - keys[None, :]", "queries - keys"),
        says="queries and keys are subtracted element by element, so query 0 is compared only with key 0",
        asks="How many pairs of a query and a key are there, and how many scores do you compute?",
    ),
    mistake(
        "pool-logarithms",
        edit("softmax", "log_softmax"),
        says="the result contains the logarithms of the weights",
        asks="Can a weight be negative?",
    ),
    mistake(
        "pool-exponential-twice",
        edit("scores.softmax(dim=-1)", "scores.exp().softmax(dim=-1)"),
        says="the exponential is applied twice: once directly, and once more inside the softmax",
        asks="Should the input of a softmax be scores or exponentials of scores?",
    ),
    mistake(
        "pool-softmax-twice",
        edit("scores.softmax(dim=-1)", "scores.softmax(dim=-1).softmax(dim=-1)"),
        says="the softmax is applied twice",
        asks="What does a softmax return for scores that are all between 0 and 1?",
    ),
    mistake(
        "pool-nearest-only",
        edit(
            "scores.softmax(dim=-1)",
            "torch.nn.functional.one_hot(scores.argmax(dim=-1), len(keys)).to(scores.dtype)",
        ),
        says="the nearest key gets all the weight",
        asks="Should the answer jump when the query passes the middle between two keys?",
    ),
    mistake(
        "pool-squares-added-up",
        edit("scores.softmax(dim=-1)", "scores / scores.sum(dim=-1, keepdim=True)"),
        says="the scores are divided by their sum without an exponential",
        asks="All scores are negative. Which key gets the largest share when you divide them by their sum?",
    ),
    dtype_mistake(
        "kernel-weights-in-single",
        edit("queries[:, None] - keys[None, :]", "queries[:, None].float() - keys[None, :].float()"),
        says="the weights are always in single precision, whatever the dtype of the inputs is",
        asks="In which dtype are the values that these weights are multiplied with?",
    ),
    mistake(
        "pool-pairs-mixed",
        edit(
            "distances = queries[:, None] - keys[None, :]  # (T, S)",
            """
            asked, offered = queries.repeat_interleave(len(keys)), keys.repeat_interleave(len(queries))
            distances = (asked - offered).reshape(len(queries), len(keys))
            """,
        ),
        says="queries and keys are both repeated one by one, so a query meets some keys several times and others never",
        asks="Write the repeated queries below the repeated keys. Which pairs occur, and which are missing?",
    ),
    mistake(
        "pool-difference-in-place",
        edit(
            "distances = queries[:, None] - keys[None, :]  # (T, S)",
            """
            distances = queries[:, None] * 1
            distances -= keys[None, :]
            """,
        ),
        says="the table of distances is written into a column of queries, which has no room for it",
        asks="Which shape does the tensor on the left have, and which shape does the difference have?",
    ),
    mistake(
        "pool-w-without-default",
        edit("w: float | torch.Tensor = 1.0", "w: float | torch.Tensor"),
        says="w has no default, so a call without it raises an error",
        asks="What does the text of the exercise say about a call that passes only queries and keys?",
    ),
]
