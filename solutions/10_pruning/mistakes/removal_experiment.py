"""Known mistakes in removal_experiment; their pages are in removal_experiment.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "removal-most-important-first",
        edit("importance.argsort()", "importance.argsort(descending=True)"),
        says="the order `importance` removes the most important heads first, but should remove them last",
        asks="Which head should be removed first if the accuracy should stay high?",
    ),
    mistake(
        "removal-ranks-for-heads",
        edit("importance.argsort()", "importance.argsort().argsort()"),
        says="the order holds the rank of each head instead of the heads sorted by rank",
        asks="Is the first entry of your order the head that is removed first, or the rank of head 0?",
    ),
    mistake(
        "removal-by-confidence",
        edit('"ablation"', '"confidence"'),
        says="heads are removed by confidence, which does not measure the effect on the loss",
        asks="Which of the three measures in the lesson does not use the loss?",
    ),
    mistake(
        "removal-one-random-order",
        edit("manual_seed(seed)", "manual_seed(0)"),
        says="the random order is the same with every seed",
        asks="What should change from one seed to the next?",
    ),
    mistake(
        "removal-unshuffled",
        edit("torch.randperm(num_heads, generator=chance).tolist()", "list(range(num_heads))"),
        says="the random order is 0, 1, 2, …, with every seed",
        asks="Which line shuffles your random order?",
    ),
    mistake(
        "removal-drawn-for-every-row",
        edit(
            "removed = heads[:count]",
            'removed = heads[:count] if order != "random" else torch.randperm(num_heads, generator=chance).tolist()[:count]',
        ),
        says="a new random order is drawn for every row, so removed heads reappear",
        asks="Compare two neighbouring rows: which heads should both lists contain?",
    ),
    mistake(
        "removal-one-head-a-row",
        edit("removed = heads[:count]", "removed = heads[max(0, count - 1) : count]"),
        says="each row removes a single head only; those of the rows before it are restored",
        asks="In the row with three removed heads, how many heads does your list contain?",
    ),
    mistake(
        "removal-never-restored",
        edit(
            "rows = []",
            """
            rows = []
            gates = X.new_ones(num_heads)
            """,
        ),
        edit(
            """
            gates = X.new_ones(num_heads)
            gates[removed] = 0
            """,
            "gates[removed] = 0",
        ),
        says="heads that were removed in one order are still missing in the next",
        asks="When the second order begins, how many heads does the model have?",
        seen="an in-place pruning, on the model itself, inside the loop",
    ),
    mistake(
        "removal-the-others",
        edit(
            "gates[removed] = 0",
            """
            gates[removed] = 0
            gates = 1 - gates
            """,
        ),
        says="the accuracies are those of the removed heads, not of the remaining ones",
        asks="In a row with no head removed, which gates are open in your code?",
    ),
    mistake(
        "removal-last-one-alone",
        edit("gates[removed] = 0", "gates[removed[-1:]] = 0"),
        says="only the last head of each list is removed when the accuracy is measured",
        asks="The list names three heads. How many gates are closed?",
    ),
    mistake(
        "removal-whole-model-measured",
        edit("model.read(output).argmax(dim=-1)", "model(X).argmax(dim=-1)"),
        says="all accuracies are those of the whole model",
        asks="Does your accuracy change from row to row?",
    ),
    mistake(
        "removal-percent",
        edit('"accuracy": accuracy}', '"accuracy": 100 * accuracy}'),
        says="the accuracies are in percent",
        asks="Between which two values should an accuracy be here?",
    ),
    mistake(
        "removal-errors",
        edit("(answers == labels)", "(answers != labels)"),
        says="wrong answers are counted, not right ones",
        asks="Should an accuracy rise or fall when heads are removed?",
    ),
    mistake(
        "removal-loss-for-accuracy",
        edit(
            "accuracy = (answers == labels).float().mean().item()",
            "accuracy = model.loss(output, labels).mean().item()",
        ),
        says="the function returns the mean loss instead of the accuracy",
        asks="Can an accuracy be larger than one?",
    ),
    mistake(
        "removal-dropout-on",
        edit("model.eval()", "pass"),
        says="accuracies are measured in training mode, with dropout",
        asks="Run it twice on a model in training mode. Do you get the same accuracies?",
    ),
    mistake(
        "removal-too-few-seeds",
        edit("range(3)", "range(2)"),
        says="there are fewer than three seeds",
        asks="Is one random order enough to compare with?",
    ),
    mistake(
        "removal-no-reverse",
        edit('            "reverse": least_first[::-1],\n', ""),
        says="the order reverse is missing",
        asks="Which three curves should the figure have?",
    ),
    mistake(
        "removal-stops-too-early",
        edit("for count in range(num_heads):", "for count in range(num_heads - 1):"),
        says="the last row, with a single head left, is missing",
        asks="Of eight heads, how many can be removed at most?",
    ),
    device_mistake(
        "removal-gates-made-on-the-cpu",
        edit("X.new_ones(num_heads)", "torch.ones(num_heads, dtype=X.dtype)"),
        says="the gates are created on the CPU, whatever device the data is on",
        asks="On which device is a new tensor by default?",
    ),
    mistake(
        "removal-one-list-for-all-rows",
        edit(
            "for count in range(num_heads):\n                removed = heads[:count]",
            "removed = []\n            for count in range(num_heads):\n                removed += heads[count - 1 : count] if count else []",
        ),
        says="all rows of an order share one list of removed heads, so in the end every row lists the same",
        asks="Is the list in a row a copy, or does it grow after the row was written?",
    ),
]
