"""Known mistakes in kernel_regression; their pages are in kernel_regression.md."""

from grader.authoring import dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "pool-w-not-handed-on",
        edit("kernel_attention_weights(queries, keys, w)", "kernel_attention_weights(queries, keys)"),
        says="w is not handed on, so the default is always used",
        asks="Which of your lines would notice if w were another number?",
    ),
    mistake(
        "pool-w-handed-on-as-number",
        edit(
            "kernel_attention_weights(queries, keys, w)",
            "kernel_attention_weights(queries, keys, float(w))",
        ),
        says="the answers are right, but w gets no gradient: it was turned into a plain number",
        asks="What does a plain number remember about where it came from?",
    ),
    mistake(
        "pool-mean-for-sum",
        edit("weights @ values", "(weights * values).mean(dim=-1)"),
        says=(
            "after weighting, a mean is taken where a sum belongs: answers are too small by the number of "
            "keys"
        ),
        asks="The weights of a query sum to one already. By what do you divide again?",
    ),
    mistake(
        "pool-not-added-up",
        edit("weights @ values", "weights * values"),
        says="the weighted values are not added up: a whole table comes back",
        asks="How many answers should there be for one query?",
    ),
    mistake(
        "pool-added-up-over-queries",
        edit("weights @ values", "(weights * values).sum(dim=0)"),
        says="the parts are added up over the queries instead of over the keys",
        asks="Should there be one answer for each query or for each key?",
    ),
    mistake(
        "pool-column-of-answers",
        edit("weights @ values", "weights @ values[:, None]"),
        says="the answers are right, but come as a column with an axis too many",
        asks="What shape have the queries, and what shape should the answers have?",
    ),
    mistake(
        "pool-keys-averaged",
        edit("weights @ values", "weights @ keys"),
        says="the keys are averaged instead of the values",
        asks="What was measured at each place, and which of your arguments holds it?",
    ),
    mistake(
        "pool-nearest-value",
        edit("weights @ values", "values[weights.argmax(dim=-1)]"),
        says="the value of the nearest key comes back instead of an average",
        asks="Which other values does your answer listen to?",
    ),
    mistake(
        "pool-weights-came-back",
        edit("return weights @ values", "return weights"),
        says="the weights came back, and the values are not used",
        asks="Does anything in your result change when the values change?",
    ),
    mistake(
        "pool-weights-returned-too",
        edit("return weights @ values", "return weights @ values, weights"),
        says="the weights come back together with the answers, as a pair",
        asks="What does the code that calls this function do with its result?",
        kind="different",
    ),
    mistake(
        "pool-weights-transposed",
        edit("kernel_attention_weights(queries, keys, w)", "kernel_attention_weights(keys, queries, w).T"),
        says="the softmax of the weights ran over the queries: each key shares itself out among them",
        asks="Whose weights should sum to one, those of a query or those of a key?",
    ),
    mistake(
        "pool-weights-on-their-side",
        edit("weights @ values", "weights.T @ values"),
        says="the table of weights is turned on its side before it meets the values",
        asks="Which axis of the weights has the length of the values, and which one is summed over?",
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
        "pool-answers-half-forgotten",
        edit(
            "kernel_attention_weights(queries, keys, w)",
            "(-(((queries[:, None] - keys) * w) ** 2)).softmax(dim=-1)",
        ),
        says="the half in the score is missing, so answers listen too little to far keys",
        asks="What does the formula do with the square before it is negated?",
    ),
    mistake(
        "pool-answers-w-outside-the-square",
        edit(
            "kernel_attention_weights(queries, keys, w)",
            "(-((queries[:, None] - keys) ** 2) * w / 2).softmax(dim=-1)",
        ),
        says="the weights were made with w outside the square",
        asks="Does w stretch the distance, or the score?",
    ),
    mistake(
        "pool-values-detached",
        edit("weights @ values", "weights @ values.detach()"),
        says="the answers are right, but no gradient flows back to the values",
        asks="By which two ways can a loss reach back through an average, and which one is cut?",
    ),
    mistake(
        "pool-weights-detached",
        edit("weights @ values", "weights.detach() @ values"),
        says="the answers are right, but no gradient flows back through the weights",
        asks="How is w to learn what a good width is?",
    ),
    mistake(
        "pool-answers-detached",
        edit("weights @ values", "(weights @ values).detach()"),
        says="the answers are right, but no gradient flows back from them at all",
        asks="What are the answers still connected to when the loss is computed?",
    ),
    mistake(
        "pool-values-added-to-query",
        edit("weights @ values", "queries + weights @ values"),
        says="the query is added to its answer",
        asks="What should a query be answered if all values are zero?",
        kind="different",
    ),
    dtype_mistake(
        "kernel-answers-in-single",
        edit("weights @ values", "weights.float() @ values.float()"),
        says="the answers come back in single precision whatever went in",
        asks="What is the dtype of the answers when all inputs are in double precision?",
    ),
]
