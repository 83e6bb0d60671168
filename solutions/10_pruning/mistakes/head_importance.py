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
        asks="In the example by hand, what is the sum of the two gradients of the first head?",
        seen="the most frequent slip in published pruning code",
    ),
    mistake(
        "importance-no-absolute-value",
        edit("total = total + slope.abs()", "total = total + slope"),
        says="there is no absolute value: samples with opposite signs cancel out",
        asks="Can an importance be negative, and what would that mean?",
    ),
    mistake(
        "importance-absolute-of-a-batch",
        edit("for loss in losses:", "for loss in [losses.mean()] * len(losses):"),
        says="the absolute value is taken once per batch, of the gradient of the batch's mean loss",
        asks="How many gradients does a batch need: one, or one per sample?",
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
        says="gradients are not cleared: each sample's gradient is added to those of the samples before it",
        asks="What does a second call of backward do with a gradient that is already there?",
        forms=[
            [
                edit(
                    "total, count = 0.0, 0",
                    "total, count = 0.0, 0\n    kept = torch.ones(num_heads, dtype=mha.W_o.weight.dtype, requires_grad=True)",
                ),
                edit("gates = queries.new_ones(num_heads, requires_grad=True)", "gates = kept"),
                edit(
                    "(slope,) = torch.autograd.grad(loss, gates, retain_graph=True)",
                    """
                    loss.backward(retain_graph=True)
                    slope = gates.grad
                    """,
                ),
            ]
        ],
    ),
    mistake(
        "importance-gates-from-zero",
        edit(
            "gates = queries.new_ones(num_heads, requires_grad=True)",
            "gates = queries.new_zeros(num_heads, requires_grad=True)",
        ),
        says="the gates start at zero, so the gradient is that of a model without any head",
        asks="At which value of the gates is the model unchanged?",
    ),
    mistake(
        "importance-squared",
        edit("slope.abs()", "slope.pow(2)"),
        says="the gradients are squared instead of taking their absolute value",
        asks="Both remove the sign. Which one gives more weight to a few samples with large gradients?",
        kind="different",
    ),
    mistake(
        "importance-sum-for-mean",
        edit("return total / count", "return total"),
        says="the function returns sums, not means",
        asks="Should a head become twice as important with twice as many samples?",
    ),
    mistake(
        "importance-mean-of-batch-means",
        edit("(silent - whole).sum()", "(silent - whole).mean()"),
        edit("count += len(queries)", "count += 1", times=2),
        edit("total + slope.abs()", "total + slope.abs() / len(queries)"),
        edit("largest.sum(dim=(0, 2))", "largest.mean(dim=(0, 2))"),
        edit("count += largest.shape[0] * largest.shape[2]", "count += 1"),
        says="the result is the mean of the batches' means: samples of a small batch count more",
        asks="In a batch of two and a batch of five, which weight should each sample have in the mean?",
    ),
    mistake(
        "importance-dropout-on",
        edit("mha.eval()  # dropout would measure chance", "pass"),
        says="the importance is measured while dropout is active",
        asks="Measure twice in a row. Do you get the same values?",
    ),
    mistake(
        "importance-left-in-evaluation",
        edit("    mha.train(was_training)\n", ""),
        says="the module is left in evaluation mode, so a training that goes on has no dropout",
        asks="In which mode is the module before your function is called, and in which mode afterwards?",
    ),
    mistake(
        "importance-left-in-training",
        edit("mha.train(was_training)", "mha.train()"),
        says="the module is always left in training mode, also if it was in evaluation mode",
        asks="In which mode is the module before your function is called, and in which mode afterwards?",
    ),
    mistake(
        "importance-module-frozen",
        edit("    mha.train(was_training)\n", "    mha.train(was_training).requires_grad_(False)\n"),
        says="the parameters of the module are frozen: they get no gradient afterwards",
        asks="Does your function undo every change that it makes to the module?",
    ),
    mistake(
        "importance-other-way-round",
        edit("(silent - whole)", "(whole - silent)"),
        says="ablation has the wrong sign: the loss of the whole model minus that of the smaller one",
        asks="If the loss rises without a head, is that head's importance positive or negative?",
    ),
    mistake(
        "importance-without-the-whole",
        edit("(silent - whole)", "silent"),
        says="the function returns the loss without the head, not its increase",
        asks="What is the importance of a head that changes nothing?",
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
        says="all heads but one are removed, instead of one head only",
        asks="How many gates should be zero when you measure head 2?",
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
        says="closed gates stay closed, so each head is measured in a model without the heads before it",
        asks="When you measure head 2, what is the gate of head 1?",
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
        says="heads are removed by zeros in the weights, and the weights are not restored",
        asks="Does the module have the same weights before and after your function?",
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
        asks="Does the result change when you leave out the first batch?",
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
        says="the lengths are ignored, so padding changes the importance",
        asks="A batch has five parts. Where do you use the fourth?",
    ),
    mistake(
        "importance-normalised",
        edit("return total / count", "return total / total.norm()"),
        says="the importances are scaled to a length of one",
        asks="Should your values be comparable with those of another layer?",
        kind="different",
    ),
    mistake(
        "importance-max-over-queries",
        edit(
            "attention_weights.max(dim=-1).values  # (B·H, T)",
            "attention_weights.max(dim=1).values  # (B·H, S)",
        ),
        says="the largest weight is taken over the queries, not over the keys",
        asks=(
            "The weights of one query belong to the keys. Along which axis is the largest weight of a query?"
        ),
    ),
    mistake(
        "importance-mean-weight",
        edit("attention_weights.max(dim=-1).values", "attention_weights.mean(dim=-1)"),
        says="the function uses the mean weight of each query, which is the same for every head",
        asks="The weights of a query sum to one. What is their mean?",
    ),
    mistake(
        "importance-heads-before-sentences",
        edit(
            "largest.reshape(len(queries), num_heads, -1)",
            "largest.reshape(num_heads, len(queries), -1).transpose(0, 1)",
        ),
        says="the rows are split in the wrong order, as if the head changed slowest",
        asks="In row b·H + h, which of the two indices changes from one row to the next?",
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
        says="only the most confident query of every sentence counts",
        asks="Is a head confident if only one of its queries has a large weight?",
    ),
    device_mistake(
        "importance-gates-made-on-the-cpu",
        edit("queries.new_ones(num_heads", "torch.ones(num_heads, dtype=queries.dtype", times=2),
        says="the gates are created on the CPU, whatever device the queries are on",
        asks="On which device is a new tensor by default?",
    ),
]
