"""Known mistakes in kernel_regression; their pages are in kernel_regression.md."""

from grader.authoring import dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "pool-w-not-passed",
        edit("kernel_attention_weights(queries, keys, w)", "kernel_attention_weights(queries, keys)"),
        says="w is not passed on, so the default is always used",
        asks="Which line of your function uses w?",
    ),
    mistake(
        "pool-w-passed-as-number",
        edit(
            "kernel_attention_weights(queries, keys, w)",
            "kernel_attention_weights(queries, keys, float(w))",
        ),
        says="the answers are right, but w gets no gradient because it is converted to a plain number",
        asks="Can a plain Python number pass a gradient back to the tensor that it was read from?",
    ),
    mistake(
        "pool-mean-for-sum",
        edit("weights @ values", "(weights * values).mean(dim=-1)"),
        says=(
            "the weighted values are averaged instead of summed, so the answers are divided by the number "
            "of keys"
        ),
        asks="The weights of a query sum to one already. Is another division needed?",
    ),
    mistake(
        "pool-not-added-up",
        edit("weights @ values", "weights * values"),
        says="the weighted values are not added up: the result is a whole table",
        asks="How many answers should there be for one query?",
    ),
    mistake(
        "pool-added-up-over-queries",
        edit("weights @ values", "(weights * values).sum(dim=0)"),
        says="the weighted values are added up over the queries instead of the keys",
        asks="Should there be one answer per query or one per key?",
    ),
    mistake(
        "pool-column-of-answers",
        edit("weights @ values", "weights @ values[:, None]"),
        says="the result has one axis too many: it is a column of answers",
        asks="Which shape do the queries have, and which shape should the answers have?",
    ),
    mistake(
        "pool-keys-averaged",
        edit("weights @ values", "weights @ keys"),
        says="the keys are averaged instead of the values",
        asks="What was measured at each place, and which argument contains it?",
    ),
    mistake(
        "pool-queries-averaged",
        edit("weights @ values", "weights @ queries"),
        says="the queries are averaged instead of the values",
        asks="What was measured at each place, and which argument contains it?",
        forms=[
            [edit("weights @ values", "(weights * queries).sum(dim=-1)")],
            [edit("weights @ values", "(weights @ queries[:, None]).squeeze(-1)")],
        ],
    ),
    mistake(
        "pool-nearest-value",
        edit("weights @ values", "values[weights.argmax(dim=-1)]"),
        says="the result is the value of the nearest key instead of a weighted average",
        asks="Which other values have an effect on your answer?",
    ),
    mistake(
        "pool-weights-came-back",
        edit("return weights @ values", "return weights"),
        says="the weights are returned, and the values are not used",
        asks="Does your result change when the values change?",
    ),
    mistake(
        "pool-weights-returned-too",
        edit("return weights @ values", "return weights @ values, weights"),
        says="a pair is returned instead of the answers alone",
        asks="Can the calling code do arithmetic with your result?",
        kind="different",
    ),
    mistake(
        "pool-weights-transposed",
        edit("kernel_attention_weights(queries, keys, w)", "kernel_attention_weights(keys, queries, w).T"),
        says="the softmax of the weights runs over the queries instead of the keys",
        asks="Which weights should sum to one, those of a query or those of a key?",
    ),
    mistake(
        "pool-weights-on-their-side",
        edit("weights @ values", "weights.T @ values"),
        says="the table of weights is transposed before the product with the values",
        asks="Which axis of the weights has the same length as the values, and over which axis do you sum?",
    ),
    mistake(
        "pool-answers-not-normalised",
        edit(
            "kernel_attention_weights(queries, keys, w)",
            "torch.exp(-(((queries[:, None] - keys) * w) ** 2) / 2)",
        ),
        says="the weights of a query are not divided by their sum",
        asks="If all values are 7, what should every answer be?",
    ),
    mistake(
        "pool-far-answer-nan",
        edit(
            "weights = kernel_attention_weights(queries, keys, w)",
            """
            heights = torch.exp(-(((queries[:, None] - keys) * w) ** 2) / 2)
            weights = heights / heights.sum(dim=-1, keepdim=True)
            """,
        ),
        says="the answer is NaN for a query far from all keys, because all its exponentials are rounded to 0",
        asks="A query has a distance of 63 from every key. What are your exponentials, and what is their sum?",
    ),
    mistake(
        "pool-answers-half-forgotten",
        edit(
            "kernel_attention_weights(queries, keys, w)",
            "(-(((queries[:, None] - keys) * w) ** 2)).softmax(dim=-1)",
        ),
        says="the factor 1/2 in the score is missing, so distant keys have too little effect on the answers",
        asks="What does the formula do with the square besides negating it?",
    ),
    mistake(
        "pool-answers-w-outside-the-square",
        edit(
            "kernel_attention_weights(queries, keys, w)",
            "(-((queries[:, None] - keys) ** 2) * w / 2).softmax(dim=-1)",
        ),
        says="the weights are computed with w outside the square",
        asks="Does w scale the distance or the score?",
    ),
    mistake(
        "pool-values-detached",
        edit("weights @ values", "weights @ values.detach()"),
        says="the answers are right, but no gradient reaches the values",
        asks="The answers depend on the weights and on the values. Which of the two gets no gradient?",
    ),
    mistake(
        "pool-weights-detached",
        edit("weights @ values", "weights.detach() @ values"),
        says="the answers are right, but no gradient flows back through the weights",
        asks="How can w be learned if the weights pass no gradient back?",
    ),
    mistake(
        "pool-answers-detached",
        edit("weights @ values", "(weights @ values).detach()"),
        says="the answers are right, but no gradient flows back from them",
        asks="Which tensors are the answers still connected to when `backward` runs?",
    ),
    mistake(
        "pool-values-added-to-query",
        edit("weights @ values", "queries + weights @ values"),
        says="the query is added to its answer",
        asks="If all values are zero, what should the answer be?",
        kind="different",
    ),
    dtype_mistake(
        "kernel-answers-in-single",
        edit("weights @ values", "weights.float() @ values.float()"),
        says="the answers are always in single precision, whatever the dtype of the inputs is",
        asks="What should the dtype of the answers be when all inputs are in double precision?",
    ),
    mistake(
        "pool-single-query-loses-axis",
        edit("return weights @ values", "return (weights @ values).squeeze()"),
        says="for a single query the result has no axis left: all axes of size one are removed",
        asks="Which shape does the result have for one query, and which shape does squeeze leave?",
    ),
    mistake(
        "pool-queries-sorted",
        edit(
            "weights = kernel_attention_weights(queries, keys, w)",
            "weights = kernel_attention_weights(queries.sort().values, keys, w)",
        ),
        says="the queries are sorted first, so the answers come in another order than the queries",
        asks="Which query does the first answer belong to if the queries are not in order?",
    ),
    mistake(
        "pool-values-changed",
        edit(
            "return weights @ values",
            """
            middle = values.detach().mean()
            values -= middle
            return weights @ values + middle
            """,
        ),
        says="the answers are right, but the caller's values are changed in place",
        asks="What do the values hold after the call that the caller passed to it?",
    ),
    mistake(
        "pool-queries-and-keys-exchanged",
        edit("kernel_attention_weights(queries, keys, w)", "kernel_attention_weights(keys, queries, w)"),
        says="queries and keys are passed to the weights in each other's place",
        asks="How many rows should the table of weights have, and how many columns?",
    ),
    mistake(
        "pool-softmax-again",
        edit("return weights @ values", "return weights.softmax(dim=-1) @ values"),
        says="a second softmax is applied to the weights, which makes them nearly equal",
        asks="What does a softmax do to numbers that are all between zero and one?",
    ),
]
