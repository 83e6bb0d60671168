"""Known mistakes in removal_experiment; their pages are in removal_experiment.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "removal-most-important-first",
        edit("importance.argsort()", "importance.argsort(descending=True)"),
        says="by importance you remove the strongest heads first",
        asks="Which head should go first if you want to keep as much as possible?",
    ),
    mistake(
        "removal-ranks-for-heads",
        edit("importance.argsort()", "importance.argsort().argsort()"),
        says="your order holds the rank of each head where it should hold heads by rank",
        asks="The first entry of your order: is it the head that goes first, or the place of head 0?",
    ),
    mistake(
        "removal-by-confidence",
        edit('"ablation"', '"confidence"'),
        says="heads are removed by confidence, which says nothing about the loss",
        asks="What did the lesson say about heads that are sure where to look?",
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
        asks="Who shuffled your random order?",
    ),
    mistake(
        "removal-drawn-for-every-row",
        edit(
            "removed = heads[:count]",
            'removed = heads[:count] if order != "random" else torch.randperm(num_heads, generator=chance).tolist()[:count]',
        ),
        says="the random order is drawn anew for every row, so heads that were gone come back",
        asks="Hold two neighbouring rows together: what should the second have kept of the first?",
    ),
    mistake(
        "removal-one-head-a-row",
        edit("removed = heads[:count]", "removed = heads[max(0, count - 1) : count]"),
        says="each row removes a single head; those before it are back",
        asks="In the row where three heads are gone, how many does your list name?",
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
        says="the accuracies are those of the heads that were to be removed",
        asks="With no head removed, which gates are open in yours?",
    ),
    mistake(
        "removal-last-one-alone",
        edit("gates[removed] = 0", "gates[removed[-1:]] = 0"),
        says="the accuracies are those of the model without the last head of the list alone",
        asks="The list names three heads. How many gates are closed?",
    ),
    mistake(
        "removal-whole-model-measured",
        edit("model.read(output).argmax(dim=-1)", "model(X).argmax(dim=-1)"),
        says="the accuracies are all those of the whole model",
        asks="Does your accuracy change at all from row to row?",
    ),
    mistake(
        "removal-percent",
        edit('"accuracy": accuracy}', '"accuracy": 100 * accuracy}'),
        says="accuracies are told in percent",
        asks="Between which two numbers should an accuracy lie here?",
    ),
    mistake(
        "removal-errors",
        edit("(answers == labels)", "(answers != labels)"),
        says="you count wrong answers, not right ones",
        asks="Should your number rise or fall as heads go?",
    ),
    mistake(
        "removal-loss-for-accuracy",
        edit(
            "accuracy = (answers == labels).float().mean().item()",
            "accuracy = model.loss(output, labels).mean().item()",
        ),
        says="you return the mean loss in place of the accuracy",
        asks="Can an accuracy be larger than one?",
    ),
    mistake(
        "removal-dropout-on",
        edit("model.eval()", "pass"),
        says="accuracies are measured in training mode, with dropout on",
        asks="Run it twice on a model in training mode. Do you get the same accuracies?",
    ),
    mistake(
        "removal-too-few-seeds",
        edit("range(3)", "range(2)"),
        says="there are fewer than three seeds",
        asks="How many random orders does it take to see that one was lucky?",
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
        says="the last row is missing, in which a single head is left",
        asks="Of eight heads, how many can be removed at most?",
    ),
    device_mistake(
        "removal-gates-made-on-the-cpu",
        edit("X.new_ones(num_heads)", "torch.ones(num_heads, dtype=X.dtype)"),
        says="gates are made on the CPU, wherever the data are",
        asks="On which device is a tensor that is made without naming one?",
    ),
]
