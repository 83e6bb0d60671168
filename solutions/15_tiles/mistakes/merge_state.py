"""Known mistakes in merge_state; their pages are in merge_state.md."""

from grader.authoring import dtype_mistake, edit, mistake

MIXED = "weight_a.unsqueeze(-1) * out_a + weight_b.unsqueeze(-1) * out_b"
DIVIDED = "out / total.masked_fill(total == 0, 1.0).unsqueeze(-1)"
WEIGHTS = "weight_a, weight_b = (lse_a - top).exp(), (lse_b - top).exp()"
TOP = "top = torch.maximum(lse_a, lse_b)"
GUARD = """
top = top.masked_fill(top == -math.inf, 0.0)  # two empty states
"""
LSE = "top + total.log()"

MISTAKES = [
    mistake(
        "merge-weights-exchanged",
        edit(MIXED, "weight_b.unsqueeze(-1) * out_a + weight_a.unsqueeze(-1) * out_b"),
        says="each output gets the weight of the other one",
        asks="If nearly all weight is in the first set of keys, which output should come back?",
    ),
    mistake(
        "merge-plain-mean",
        edit(WEIGHTS, f"{WEIGHTS}\n    out = (out_a + out_b) / 2"),
        edit(f"out = {MIXED}", "pass"),
        edit(f"out = {DIVIDED}", "pass"),
        says="the output is the plain mean of both outputs",
        asks="One set has a hundred keys and the other has one. Should both count the same?",
    ),
    mistake(
        "merge-not-divided",
        edit(f"out = {DIVIDED}", "pass"),
        says="the weights of the two outputs do not sum to one",
        asks="Let both outputs be 1. What should the merged one be, and what is yours?",
    ),
    mistake(
        "merge-outputs-added",
        edit(MIXED, "(out_a + out_b) * total.unsqueeze(-1)"),
        says="the outputs are added without weights",
        asks="Let both outputs be 1. What should the merged one be, and what is yours?",
    ),
    mistake(
        "merge-lse-as-sum",
        edit(WEIGHTS, "weight_a, weight_b = lse_a, lse_b"),
        edit(LSE, "total"),
        says="the lse is taken for the sum of the exponentials, and not for its logarithm",
        asks="What is the sum of the exponentials if the lse is 0?",
    ),
    mistake(
        "merge-lse-as-weights",
        edit(WEIGHTS, "weight_a, weight_b = lse_a, lse_b"),
        edit(LSE, "torch.logaddexp(lse_a, lse_b)"),
        forms=[
            [
                edit(WEIGHTS, "weight_a, weight_b = (x.masked_fill(x.isinf(), 0.0) for x in (lse_a, lse_b))"),
                edit(LSE, "torch.logaddexp(lse_a, lse_b)"),
            ]
        ],
        says="the outputs are mixed in the proportion of the lse, without an exponential",
        asks="What is the sum of the exponentials if the lse is 0?",
    ),
    mistake(
        "merge-lse-of-larger",
        edit(LSE, "torch.maximum(lse_a, lse_b)"),
        says="the lse that comes back is the larger of the two",
        asks="Two sets have the same lse. Is that of all keys together the same again?",
    ),
    mistake(
        "merge-lse-added",
        edit(LSE, "lse_a + lse_b"),
        says="the two lse are added",
        asks="Which two numbers must be added: the sums of exponentials, or their logarithms?",
    ),
    mistake(
        "merge-lse-mean",
        edit(LSE, "(lse_a + lse_b) / 2"),
        says="the lse that comes back is the mean of the two",
        asks="Can more keys make the sum of the exponentials smaller?",
    ),
    mistake(
        "merge-lse-without-larger",
        edit(LSE, "total.log()"),
        says="what was subtracted before the exponentials is not added to the lse again",
        asks="By which factor are your exponentials too small, and what does it do to the logarithm?",
    ),
    mistake(
        "merge-lse-without-log",
        edit(LSE, "top + total"),
        forms=[[edit(LSE, "torch.maximum(lse_a, lse_b) + total")]],
        says="the sum is added to the larger lse, without a logarithm",
        asks="What should come back for two sets with the lse 0?",
    ),
    mistake(
        "merge-no-maximum",
        edit(TOP, "top = torch.zeros_like(lse_a)"),
        forms=[[edit(TOP, "top = torch.zeros_like(lse_a)"), edit(DIVIDED, "out / total.unsqueeze(-1)")]],
        says="exponentials of the lse are taken without subtracting the larger one, so they overflow",
        asks="What is the exponential of 1000 on your machine, and of -1000?",
    ),
    mistake(
        "merge-first-subtracted",
        edit(TOP, "top = lse_a"),
        forms=[[edit(TOP, "top = lse_a"), edit(GUARD, ""), edit(DIVIDED, "out / total.unsqueeze(-1)")]],
        says="the first lse is subtracted, whichever is larger",
        asks="What happens if the first set is empty, or if its lse is far below the other one?",
    ),
    mistake(
        "merge-second-subtracted",
        edit(TOP, "top = lse_b"),
        says="the second lse is subtracted, whichever is larger",
        asks="What happens if the second set is empty, or if its lse is far below the other one?",
    ),
    mistake(
        "merge-smaller-subtracted",
        edit(TOP, "top = torch.minimum(lse_a, lse_b)"),
        says="the smaller lse is subtracted instead of the larger one",
        asks="Which of your exponentials can become larger than 1?",
    ),
    mistake(
        "merge-one-maximum",
        edit(TOP, "top = torch.maximum(lse_a, lse_b).amax().expand(lse_a.shape)"),
        forms=[
            [
                edit(TOP, "top = torch.maximum(lse_a, lse_b).amax().expand(lse_a.shape)"),
                edit(DIVIDED, "out / total.unsqueeze(-1)"),
            ]
        ],
        says="all queries share one maximum, so a query with a much smaller lse gets the sum 0",
        asks="What are the exponentials of a query whose lse is far below that of another query?",
    ),
    mistake(
        "merge-clamped",
        edit(TOP, "top = torch.zeros_like(lse_a)"),
        edit(
            WEIGHTS, "weight_a, weight_b = (x.clamp(-50, 50).exp() * (x > -math.inf) for x in (lse_a, lse_b))"
        ),
        says="the lse are cut off at a limit, so beyond it both states count the same",
        asks="How should the states mix if one lse is 1000 and the other 900?",
    ),
    mistake(
        "merge-both-empty-nan",
        edit(GUARD, ""),
        forms=[
            [edit(DIVIDED, "out / total.unsqueeze(-1)")],
            [edit(GUARD, ""), edit(LSE, "torch.logaddexp(lse_a, lse_b)")],
        ],
        says="two empty states give NaN",
        asks="What is minus infinity minus minus infinity, and zero by zero?",
    ),
    mistake(
        "merge-first-empty-nan",
        """
        def merge_state(out_a, lse_a, out_b, lse_b):
            share = torch.sigmoid(lse_b - lse_a)
            out = out_a - share.unsqueeze(-1) * (out_a - out_b)
            return out.to(out_a.dtype), lse_a - nn.functional.logsigmoid(lse_a - lse_b)
        """.replace("nn.", "torch.nn."),
        says="the difference to an empty first state is infinite, and gives NaN",
        asks="What does your formula subtract if the first lse is minus infinity?",
    ),
    mistake(
        "merge-one-empty-clears-both",
        edit(WEIGHTS, f"{WEIGHTS}\n    top = top.masked_fill(lse_a.isinf() | lse_b.isinf(), -math.inf)"),
        edit("return out.to", "out = out.masked_fill(top.isinf().unsqueeze(-1), 0.0)\n    return out.to"),
        says="if one state is empty, the result is empty, though the other has keys",
        asks="What should come back if one of the two sets has no keys?",
    ),
    mistake(
        "merge-larger-wins",
        edit(WEIGHTS, "weight_a, weight_b = (lse_a > lse_b).to(lse_a), (lse_a <= lse_b).to(lse_b)"),
        edit(LSE, "torch.logaddexp(lse_a, lse_b)"),
        says="the output of the state with the larger lse comes back alone",
        asks="Both sets have the same lse. Which part of the output should come from each?",
    ),
    mistake(
        "merge-softmax-over-queries",
        edit(WEIGHTS, "weight_a, weight_b = torch.stack([lse_a, lse_b]).softmax(-1).nan_to_num()"),
        edit(f"out = {DIVIDED}", "pass"),
        edit(LSE, "torch.logaddexp(lse_a, lse_b)"),
        says="the softmax runs over the queries instead of the two states",
        asks="Which two weights of one query must sum to one?",
    ),
    mistake(
        "merge-axis-missing",
        edit(MIXED, "weight_a * out_a + weight_b * out_b"),
        edit(DIVIDED, "out / total.masked_fill(total == 0, 1.0)"),
        says="the weights lack the axis of the features",
        asks="Which axes has a weight, and which has an output?",
    ),
    mistake(
        "merge-exchanged",
        edit(
            "return out.to(out_a.dtype), top + total.log()", "return top + total.log(), out.to(out_a.dtype)"
        ),
        says="the lse is returned first, and the output second",
        asks="In which order come the two results?",
    ),
    mistake(
        "merge-lse-overwritten",
        edit("weight_a, weight_b = (lse_a - top).exp(),", "weight_a, weight_b = lse_a.sub_(top).exp_(),"),
        says="the first lse is overwritten",
        asks="Which of your operations changes a tensor of the caller?",
    ),
    mistake(
        "merge-empty-lse-finite",
        edit(LSE, "torch.where(total == 0, 0.0, top + total.log())"),
        forms=[
            [edit(LSE, "torch.where(total == 0, -1e30, top + total.log())")],
            [edit(TOP, f"lse_a, lse_b = lse_a.clamp(min=-1e9), lse_b.clamp(min=-1e9)\n    {TOP}")],
        ],
        says="two empty states give an lse that is a number",
        asks="What is the logarithm of a sum without terms?",
    ),
    mistake(
        "merge-base-two",
        edit(WEIGHTS, "weight_a, weight_b = (lse_a - top).exp2(), (lse_b - top).exp2()"),
        edit(LSE, "top + total.log2()"),
        kind="different",
        says="the lse is read and written as a logarithm to base 2, as in FlashInfer; here it is the natural one",
        asks="Which logarithm does the exercise ask for?",
    ),
    mistake(
        "merge-base-two-in-mixing",
        edit(WEIGHTS, "weight_a, weight_b = (lse_a - top).exp2(), (lse_b - top).exp2()"),
        edit(LSE, "torch.logaddexp(lse_a, lse_b)"),
        says="the outputs are mixed by powers of 2",
        asks="To which base is the lse a logarithm?",
    ),
    mistake(
        "merge-first-overwritten",
        edit("weight_a.unsqueeze(-1) * out_a", "out_a.mul_(weight_a.unsqueeze(-1))"),
        forms=[
            [
                edit(MIXED, "out_a.mul_(weight_a.unsqueeze(-1)).add_(weight_b.unsqueeze(-1) * out_b)"),
                edit(DIVIDED, "out.div_(total.masked_fill(total == 0, 1.0).unsqueeze(-1))"),
            ]
        ],
        says="the first output is overwritten",
        asks="Which of your operations changes a tensor of the caller?",
    ),
    dtype_mistake(
        "merge-wide-result",
        edit("out.to(out_a.dtype)", "out.float()"),
        says="the output is float32, whatever the dtype of the outputs is",
        asks="Which dtype should come back for outputs in half precision?",
    ),
]
