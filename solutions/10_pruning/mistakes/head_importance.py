"""Known mistakes in head_importance; their pages are in head_importance.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "importance-absolute-after-mean",
        edit("total = total + slope.abs()", "total = total + slope"),
        edit(
            "return total / count",
            'return (total / count).abs() if method == "gradient" else total / count',
        ),
        says="the absolute value is taken after the mean, when the samples have cancelled out",
        asks="In the example by hand, what do the two gradients of the first head sum to?",
        seen="the most frequent slip in published pruning code",
    ),
    mistake(
        "importance-no-absolute-value",
        edit("total = total + slope.abs()", "total = total + slope"),
        says="there is no absolute value: samples that pull in opposite directions cancel out",
        asks="Can an importance be negative? What would that say?",
    ),
    mistake(
        "importance-absolute-of-a-batch",
        edit("for loss in losses:", "for loss in [losses.mean()] * len(losses):"),
        says="the absolute value is taken once a batch, of the gradient of the batch's mean loss",
        asks="How many gradients are there in a batch: one, or one for every sample?",
        seen="one call of backward for each batch",
    ),
    mistake(
        "importance-gradients-piled-up",
        edit(
            "(slope,) = torch.autograd.grad(loss, gates, retain_graph=True)",
            """
            loss.backward(retain_graph=True)
            slope = gates.grad
            """,
        ),
        says="gradients pile up: each sample's is added to those of the samples before it",
        asks="What does a second call of backward do to a gradient that is already there?",
    ),
    mistake(
        "importance-gates-from-zero",
        edit(
            "gates = queries.new_ones(num_heads, requires_grad=True)",
            "gates = queries.new_zeros(num_heads, requires_grad=True)",
        ),
        says="your gates start at zero, so the slope is that of a model without any head",
        asks="At which value of its gates is the model the one whose heads you want to weigh?",
    ),
    mistake(
        "importance-squared",
        edit("slope.abs()", "slope.pow(2)"),
        says="you take the square of the gradient where the absolute value is asked for",
        asks="Both throw the sign away. Which one lets a few samples decide?",
        kind="different",
    ),
    mistake(
        "importance-sum-for-mean",
        edit("return total / count", "return total"),
        says="you return sums, not means",
        asks="Should a head become twice as important when there are twice as many samples?",
    ),
    mistake(
        "importance-mean-of-batch-means",
        edit("(silent - whole).sum()", "(silent - whole).mean()"),
        edit("count += len(queries)", "count += 1", times=2),
        edit("total + slope.abs()", "total + slope.abs() / len(queries)"),
        edit("largest.sum(dim=(0, 2))", "largest.mean(dim=(0, 2))"),
        edit("count += largest.shape[0] * largest.shape[2]", "count += 1"),
        says="you take the mean of the batches' means: samples of a small batch count more",
        asks="A batch of two and a batch of five: how much should each sample weigh in the mean?",
    ),
    mistake(
        "importance-dropout-on",
        edit("mha.eval()  # dropout would measure chance", "pass"),
        says="heads are weighed while dropout is on",
        asks="Measure twice in a row. Do you get the same numbers?",
    ),
    mistake(
        "importance-other-way-round",
        edit("(silent - whole)", "(whole - silent)"),
        says="ablation has the wrong sign: the loss of the whole model less that of the smaller one",
        asks="If the loss rises without a head, is that head's importance positive or negative?",
    ),
    mistake(
        "importance-without-the-whole",
        edit("(silent - whole)", "silent"),
        says="you return the loss without the head, not how much it rises",
        asks="What is the importance of a head that changes nothing at all?",
    ),
    mistake(
        "importance-only-one-left",
        edit(
            """
            gates = queries.new_ones(num_heads)
            gates[head] = 0
            """,
            """
            gates = queries.new_zeros(num_heads)
            gates[head] = 1
            """,
        ),
        says="all heads but one are silenced, where one alone should be",
        asks="How many gates are zero while head 2 is being weighed?",
    ),
    mistake(
        "importance-never-opened-again",
        edit(
            """
            for head in range(num_heads):
                gates = queries.new_ones(num_heads)

            """,
            """
            gates = queries.new_ones(num_heads)
            for head in range(num_heads):

            """,
        ),
        says="gates that were closed stay closed, so each head is weighed in a model without those before it",
        asks="When head 2 is being weighed, what is the gate of head 1?",
    ),
    mistake(
        "importance-zeros-left-in-the-module",
        edit(
            "silent = loss_fn(gated_attention(mha, gates, *inputs), target)",
            """
            width = mha.W_o.in_features // num_heads
            mha.W_o.weight[:, head * width : (head + 1) * width] = 0
            silent = loss_fn(mha(*inputs), target)
            """,
        ),
        says="heads are silenced by zeros in the weights, which stay there",
        asks="After your function has run, what is left of the module that it was given?",
    ),
    mistake(
        "importance-last-batch-only",
        edit(
            """
            for *inputs, target in batches:

            """,
            """
            for *inputs, target in batches:
                total, count = 0.0, 0

            """,
        ),
        says="only the last batch counts",
        asks="Do the numbers change when the first batch is left out?",
    ),
    mistake(
        "importance-lens-not-passed",
        edit(
            "queries = inputs[0]",
            """
            inputs = [*inputs[:3], None]
            queries = inputs[0]
            """,
        ),
        says="the lengths are ignored: heads are weighed on padding too",
        asks="A batch has five parts. What became of the fourth?",
    ),
    mistake(
        "importance-normalised",
        edit("return total / count", "return total / total.norm()"),
        says="your numbers are scaled to a length of one",
        asks="Could your numbers be held against those of another layer?",
        kind="different",
    ),
    mistake(
        "importance-max-over-queries",
        edit(
            "attention_weights.max(dim=-1).values  # (B·H, T)",
            "attention_weights.max(dim=1).values  # (B·H, S)",
        ),
        says="the largest weight is looked for among the queries, not among the keys",
        asks="A query deals its weight out over the keys. Along which axis is one query's largest weight?",
    ),
    mistake(
        "importance-mean-weight",
        edit("attention_weights.max(dim=-1).values", "attention_weights.mean(dim=-1)"),
        says="you take the mean weight of each query, which is the same for every head",
        asks="The weights of a query sum to one. What is their mean, whatever the head does?",
    ),
    mistake(
        "importance-heads-before-sentences",
        edit(
            "largest.reshape(len(queries), num_heads, -1)",
            "largest.reshape(num_heads, len(queries), -1).transpose(0, 1)",
        ),
        says="rows are taken for head h of sentence b in the wrong order, as if heads changed slowest",
        asks="Row b·H + h: which of the two numbers changes from one row to the next?",
    ),
    mistake(
        "importance-best-query-only",
        edit(
            "total = total + largest.sum(dim=(0, 2))",
            """
            largest = largest.max(dim=2, keepdim=True).values
            total = total + largest.sum(dim=(0, 2))
            """,
        ),
        says="of every sentence only the surest query counts",
        asks="Is a head confident that is sure once and at a loss elsewhere?",
    ),
    device_mistake(
        "importance-gates-made-on-the-cpu",
        edit("queries.new_ones(num_heads", "torch.ones(num_heads, dtype=queries.dtype", times=2),
        says="gates are made on the CPU, wherever the queries are",
        asks="On which device is a tensor that is made without naming one?",
    ),
]
