"""Known mistakes in tiled_attention_backward; their pages are in tiled_attention_backward.md."""

from grader.authoring import dtype_mistake, edit, mistake

SIZES = "T, S = queries.shape[2], keys.shape[2]"
SCALE = "scale = 1 / math.sqrt(queries.shape[-1])"
D = "D = (grad_output.to(wide) * output.to(wide)).sum(-1)"
NO_KEYS = """
lse = lse.masked_fill(lse == -math.inf, 0.0)  # of a query that sees no key: all its scores are -inf
"""
ROWS = "rows = torch.arange(start, start + q.shape[2], device=q.device) + S - T"
COLUMNS = "columns = torch.arange(first, first + k.shape[2], device=q.device)"
LATER = "hidden = (distance < 0) & causal"
AGO = "hidden | (distance >= window)"
SKIP = """
if hidden.all():
    continue
"""
SCORES = "(q @ k.mT * scale).masked_fill(hidden, -math.inf)"
WEIGHTS = "weights = (scores - lse[:, :, tile].unsqueeze(-1)).exp()"
DV = "dv[:, :, part] += weights.mT @ g"
DSCORES = "dscores = weights * (g @ v.mT - D[:, :, tile].unsqueeze(-1))"
DQ = "dq[:, :, tile] += dscores @ k * scale"
DK = "dk[:, :, part] += dscores.mT @ q * scale"
RETURN = "return dq.to(queries.dtype), dk.to(keys.dtype), dv.to(values.dtype)"

FULL = "T // min(block_size, T) * min(block_size, T)"
WHOLE = "table = torch.arange(T, device=keys.device)[:, None] + S - T - torch.arange(S, device=keys.device)"
TILE = "table[start : start + block_size, first : first + block_size]"
# Another way to give a query that sees no key the weights 0.
NO_WEIGHT = edit(NO_KEYS, "\nlse = lse.masked_fill(lse == -math.inf, math.inf)")

MISTAKES = [
    mistake(
        "back-all-at-once",
        edit(SIZES, f"{SIZES}\n    block_size = max(T, S)"),
        says="all scores are computed at once",
        asks="How many scores are in memory at the same time if there are 1000 queries and keys?",
    ),
    mistake(
        "back-whole-mask",
        edit(SIZES, f"{SIZES}\n    {WHOLE}"),
        edit("rows.unsqueeze(1) - columns", TILE),
        says="the mask is made for all pairs at once, and is as large as the table of scores",
        asks="How many values has your mask if there are 1000 queries and keys?",
    ),
    mistake(
        "back-hidden-computed",
        edit(SKIP, ""),
        says="tiles in which everything is hidden are computed all the same",
        asks="In which tiles of a causal mask does no query see any key?",
    ),
    mistake(
        "back-before-window-computed",
        edit("if hidden.all():", "if hidden.all() and (distance < 0).any():"),
        says="tiles that lie wholly before the window are computed all the same",
        asks="In which tiles are all keys too old for all queries?",
    ),
    mistake(
        "back-no-row-term",
        edit(DSCORES, "dscores = weights * (g @ v.mT)"),
        says="the term that a softmax gradient subtracts from every row is missing",
        asks="All scores of a row grow by 1. How does the output change, and what do the gradients of the scores sum to?",
    ),
    mistake(
        "back-row-term-mean",
        edit(D, D.replace(".sum(-1)", ".mean(-1)")),
        says="the number per query is a mean over the features instead of a sum",
        asks="What do the gradients of all scores of one query sum to?",
    ),
    mistake(
        "back-row-term-of-output",
        edit(D, "D = output.to(wide).square().sum(-1)"),
        says="the number per query is made from the output alone, without its gradient",
        asks="What do the gradients of all scores of one query sum to?",
    ),
    mistake(
        "back-row-term-of-all-rows",
        edit(D, "D = (grad_output.to(wide) * output.to(wide)).sum((-2, -1)).unsqueeze(-1).expand(lse.shape)"),
        says="all queries share one number, a sum over all rows",
        asks="What do the gradients of all scores of one query sum to?",
    ),
    mistake(
        "back-row-term-of-tile",
        edit(
            DSCORES,
            "dscores = g @ v.mT\n            dscores = weights * (dscores - (weights * dscores).sum(-1, keepdim=True))",
        ),
        says="the sum over a row is taken over one tile only",
        asks="Over which keys does the softmax of a query run?",
    ),
    mistake(
        "back-row-term-added",
        edit(DSCORES, DSCORES.replace("v.mT - D", "v.mT + D")),
        says="the number per query is added instead of subtracted",
        asks="What do the gradients of all scores of one query sum to?",
    ),
    mistake(
        "back-row-term-not-weighted",
        edit(DSCORES, "dscores = weights * (g @ v.mT) - D[:, :, tile].unsqueeze(-1)"),
        says="the number per query is subtracted without the weight of the key",
        asks="What should the gradient of the score of a key without weight be?",
    ),
    mistake(
        "back-not-weighted",
        edit(DSCORES, "dscores = g @ v.mT - D[:, :, tile].unsqueeze(-1)"),
        forms=[[edit(DSCORES, "dscores = (g @ v.mT - D[:, :, tile].unsqueeze(-1)) * ~hidden")]],
        says="the gradients of the scores lack the weights",
        asks="What should the gradient of the score of a key without weight be?",
    ),
    mistake(
        "back-weights-of-tile",
        edit(WEIGHTS, "weights = scores.softmax(-1).nan_to_num()"),
        forms=[[edit(WEIGHTS, "weights = scores.softmax(-1)")]],
        says="each tile has a softmax of its own, instead of weights from the lse",
        asks="What do all the weights of one query sum to if there are three blocks of keys?",
    ),
    mistake(
        "back-without-lse",
        edit(WEIGHTS, "weights = scores.exp()"),
        says="the lse is not subtracted from the scores",
        asks="What do the weights of one query sum to?",
    ),
    mistake(
        "back-divided-by-exp",
        edit(SCORES, "q @ k.mT * scale"),
        edit(
            WEIGHTS, "weights = (scores.exp() / lse[:, :, tile].unsqueeze(-1).exp()).masked_fill(hidden, 0.0)"
        ),
        says="the exponential of a score is divided by that of the lse, and both overflow",
        asks="What is the exponential of 1000 on your machine, and of -1000?",
    ),
    mistake(
        "back-lse-base-two",
        edit(
            WEIGHTS,
            "weights = (scores / math.log(2) - lse[:, :, tile].unsqueeze(-1)).exp2().float().to(wide)",
        ),
        # In float32, as most answers compute, these overflow where a score is near 1000; in float64 they do not.
        kind="different",
        says="the lse is read as a logarithm to base 2, as in FlashInfer; here it is the natural one",
        asks="Which logarithm does the exercise ask for?",
    ),
    mistake(
        "back-power-of-two",
        edit(WEIGHTS, "weights = (scores - lse[:, :, tile].unsqueeze(-1)).exp2()"),
        says="the weights are powers of 2",
        asks="To which base is the lse a logarithm?",
    ),
    mistake(
        "back-scores-not-scaled",
        edit(SCORES, SCORES.replace(" * scale", "")),
        says="the scores are not divided by the root of the number of features",
        asks="What do the weights of one query sum to?",
    ),
    mistake(
        "back-gradients-not-scaled",
        edit(DQ, DQ.replace(" * scale", "")),
        edit(DK, DK.replace(" * scale", "")),
        says="the root of the number of features is missing in the gradients of queries and keys",
        asks="How much does a score change if one product in it grows by 1?",
    ),
    mistake(
        "back-queries-not-scaled",
        edit(DQ, DQ.replace(" * scale", "")),
        says="the root of the number of features is missing in the gradient of the queries",
        asks="How much does a score change if one product in it grows by 1?",
    ),
    mistake(
        "back-keys-not-scaled",
        edit(DK, DK.replace(" * scale", "")),
        says="the root of the number of features is missing in the gradient of the keys",
        asks="How much does a score change if one product in it grows by 1?",
    ),
    mistake(
        "back-keys-scaled-twice",
        edit(DK, DK + " * scale"),
        says="the gradient of the keys is divided by the root of the number of features twice",
        asks="Are the queries in your product divided already?",
    ),
    mistake(
        "back-queries-scaled-twice",
        edit(DQ, DQ + " * scale"),
        says="the gradient of the queries is divided by the root of the number of features twice",
        asks="Are the keys in your product divided already?",
    ),
    mistake(
        "back-never-scaled",
        edit(SCALE, "scale = 1.0"),
        says="nothing is divided by the root of the number of features",
        asks="How were the scores computed from which the lse comes?",
    ),
    mistake(
        "back-scaled-without-root",
        edit(SCALE, "scale = 1 / queries.shape[-1]"),
        says="scores and gradients are divided by the number of features instead of its root",
        asks="How were the scores computed from which the lse comes?",
    ),
    mistake(
        "back-scaled-by-values",
        edit(SCALE, "scale = 1 / math.sqrt(values.shape[-1])"),
        says="scores and gradients are divided by the root of the number of features of a value",
        asks="Over how many products does one score sum?",
    ),
    mistake(
        "back-queries-overwritten",
        edit(DQ, DQ.replace("+=", "=")),
        says="the gradient of a query is that of the last block of keys alone",
        asks="Which tiles add something to the gradient of one query?",
    ),
    mistake(
        "back-keys-overwritten",
        edit(DK, DK.replace("+=", "=")),
        says="the gradient of a key is that of the last block of queries alone",
        asks="Which tiles add something to the gradient of one key?",
    ),
    mistake(
        "back-values-overwritten",
        edit(DV, DV.replace("+=", "=")),
        says="the gradient of a value is that of the last block of queries alone",
        asks="Which tiles add something to the gradient of one value?",
    ),
    mistake(
        "back-keys-and-values-overwritten",
        edit(DK, DK.replace("+=", "=")),
        edit(DV, DV.replace("+=", "=")),
        says="the gradients of keys and values are those of the last block of queries alone",
        asks="Which tiles add something to the gradient of one key?",
    ),
    mistake(
        "back-last-keys-lost",
        edit("range(0, S, block_size)", "range(0, S // block_size * block_size, block_size)"),
        forms=[[edit("range(0, S, block_size)", f"range(0, {FULL.replace('T', 'S')}, block_size)")]],
        says="keys after the last full block are lost",
        asks="Which keys are in the last block if there are 13 keys and blocks of 4?",
    ),
    mistake(
        "back-last-queries-lost",
        edit("range(0, T, block_size)", "range(0, T // block_size * block_size, block_size)"),
        forms=[[edit("range(0, T, block_size)", f"range(0, {FULL}, block_size)")]],
        says="queries after the last full block are lost",
        asks="Which queries are in the last block if there are 13 queries and blocks of 4?",
    ),
    mistake(
        "back-last-blocks-lost",
        edit("range(0, T, block_size)", f"range(0, {FULL}, block_size)"),
        edit("range(0, S, block_size)", f"range(0, {FULL.replace('T', 'S')}, block_size)"),
        says="queries and keys after the last full block are lost",
        asks="Which keys are in the last block if there are 13 keys and blocks of 4?",
    ),
    mistake(
        "back-first-keys-lost",
        edit("range(0, S, block_size)", "range(block_size, S, block_size)"),
        says="the first block of keys is lost",
        asks="At which key does your loop begin?",
    ),
    mistake(
        "back-diagonal-lost",
        edit("if hidden.all():", "if hidden.all() or (causal and first >= start + S - T):"),
        forms=[
            [edit("if hidden.all():", "if hidden.all() or (causal and first + k.shape[2] > start + S - T):")]
        ],
        says="tiles on the diagonal are left out, though their queries see some of their keys",
        asks="May a query see its own key?",
    ),
    mistake(
        "back-partly-hidden-lost",
        edit("if hidden.all():", "if hidden.any():"),
        forms=[[edit("if hidden.all():", "if hidden.all() or ((distance < 0) & causal).any():")]],
        says="tiles in which something is hidden are left out",
        asks="What about the keys of such a tile that some query does see?",
    ),
    mistake(
        "back-skipped-by-first-query",
        edit("if hidden.all():", "if hidden.all() or (causal and first > start + S - T):"),
        says="a tile is left out if its first query comes before its first key, though later queries see it",
        asks="Which of the queries of a block sees the most keys?",
    ),
    mistake(
        "back-skipped-upper-left",
        edit("if hidden.all():", "if hidden.all() or (causal and first >= start + q.shape[2]):"),
        says="tiles are left out as if query and key counted from the same corner",
        asks="Which position has the first query if there are 5 queries and 11 keys?",
    ),
    mistake(
        "back-mask-after-exp",
        edit(SCORES, "q @ k.mT * scale"),
        edit(WEIGHTS, f"{WEIGHTS} * ~hidden"),
        says="the mask is multiplied after the exponential, and infinity times 0 is NaN",
        asks="How large can a hidden score be, compared with the lse of its query?",
    ),
    mistake(
        "back-not-masked",
        NO_WEIGHT,
        edit(SCORES, "q @ k.mT * scale"),
        forms=[[edit(SCORES, "q @ k.mT * scale")]],
        says="tiles that are hidden in part are not masked",
        asks="Which keys of a tile on the diagonal does its first query see?",
    ),
    mistake(
        "back-empty-nan",
        edit(NO_KEYS, ""),
        says="queries that see no key give NaN",
        asks="What is minus infinity minus minus infinity?",
    ),
    mistake(
        "back-hidden-zero",
        edit(SCORES, "(q @ k.mT * scale).masked_fill(hidden, 0.0)"),
        says="hidden scores are set to 0, and still get weight",
        asks="Which weight does a score of 0 get?",
    ),
    mistake(
        "back-not-causal",
        edit(LATER, "hidden = (distance < 0) & False"),
        forms=[[edit(LATER, "hidden = (distance < 0) & False"), NO_WEIGHT]],
        says="later keys are not hidden",
        asks="Which keys may the first query see if the mask is causal?",
    ),
    mistake(
        "back-no-window",
        edit(AGO, "hidden"),
        says="the window is ignored",
        asks="How many keys does the last query see if the window is 3?",
    ),
    mistake(
        "back-no-mask",
        edit(LATER, "hidden = (distance < 0) & False"),
        edit(AGO, "hidden"),
        forms=[[edit(LATER, "hidden = (distance < 0) & False"), edit(AGO, "hidden"), NO_WEIGHT]],
        says="nothing is hidden, neither later keys nor those before the window",
        asks="Which weights does the forward give to hidden keys?",
    ),
    mistake(
        "back-upper-left",
        edit(ROWS, ROWS.removesuffix(" + S - T")),
        forms=[[edit(ROWS, ROWS.removesuffix(" + S - T")), NO_WEIGHT]],
        kind="different",
        says="the causal mask begins in the upper left corner, as for is_causal in PyTorch; here the last query sees the last key",
        asks="Which keys does the last query see if there are 5 queries and 11 keys?",
    ),
    mistake(
        "back-mask-of-first-tile",
        edit(ROWS, "rows = torch.arange(q.shape[2], device=q.device)"),
        edit(COLUMNS, "columns = torch.arange(k.shape[2], device=q.device)"),
        forms=[
            [
                edit(ROWS, "rows = torch.arange(q.shape[2], device=q.device)"),
                edit(COLUMNS, "columns = torch.arange(k.shape[2], device=q.device)"),
                edit("if hidden.all():", "if causal and first >= start + q.shape[2] + S - T:"),
            ]
        ],
        says="each tile counts its rows and columns from 0, so its mask is that of the first tile",
        asks="Which query of the whole text is the first row of the second tile?",
    ),
    mistake(
        "back-window-from-query-number",
        edit(AGO, "hidden | (distance - (S - T) >= window)"),
        says="the window counts from the number of the query instead of its position",
        asks="Which position has the first query if there are 5 queries and 11 keys?",
    ),
    mistake(
        "back-window-ends-loop",
        edit("continue", "break"),
        says="a tile before the window ends the loop, so the tiles in the window are never reached",
        asks="Which tiles come after one that is hidden because it is too old?",
    ),
    mistake(
        "back-window-start-lost",
        edit(
            "if hidden.all():", "if hidden.all() or (window and first < max(0, start + S - T - window + 1)):"
        ),
        says="a tile that begins before the window is left out, though its last keys are in it",
        asks="Which keys of a tile are in the window if its first key is too old?",
    ),
    mistake(
        "back-window-one-larger",
        edit(AGO, "hidden | (distance > window)"),
        kind="different",
        says="the window does not count the key of the query itself, as in flash-attn; here it does",
        asks="How many keys does the last query see if the window is 3?",
    ),
    mistake(
        "back-window-one-smaller",
        edit(AGO, "hidden | (distance >= window - 1)"),
        says="the window is one key too small",
        asks="How many keys does the last query see if the window is 3?",
    ),
    mistake(
        "back-mask-one-more",
        edit(LATER, "hidden = (distance < -1) & causal"),
        forms=[[edit(LATER, "hidden = (distance < -1) & causal"), NO_WEIGHT]],
        says="a query sees the key after its own",
        asks="Which is the last key that the last but one query may see?",
    ),
    mistake(
        "back-mask-not-itself",
        edit(LATER, "hidden = (distance <= 0) & causal"),
        says="a query does not see its own key",
        asks="Which is the last key that the last query may see?",
    ),
    mistake(
        "back-exchanged",
        edit(RETURN, "return dk.to(keys.dtype), dq.to(queries.dtype), dv.to(values.dtype)"),
        says="the gradients of queries and keys are returned in the wrong order",
        asks="Which shape has the first of your three results?",
    ),
    mistake(
        "back-values-from-output",
        edit(DV, "dv[:, :, part] += weights.mT @ output[:, :, tile].to(wide)"),
        says="the gradient of the values sums the output instead of its gradient",
        asks="How does the output change if one value grows by 1, and what does that do to the loss?",
    ),
    mistake(
        "back-values-not-weighted",
        edit(DV, "dv[:, :, part] += (~hidden).to(wide).expand(weights.shape).mT @ g"),
        says="the gradient of a value sums the gradients of all queries that see it, without the weights",
        asks="How does the output change if the value of a key with little weight grows by 1?",
    ),
    mistake(
        "back-grad-output-ignored",
        edit(SIZES, f"{SIZES}\n    grad_output = torch.ones_like(grad_output)"),
        says="the gradient of the output is not used",
        asks="What should your gradients be if that of the output is 0 everywhere?",
    ),
    mistake(
        "back-gradients-like-queries",
        edit("for x in (queries, keys, values))", "for x in (queries, queries, queries))"),
        says="the gradients of keys and values have the shape of the queries",
        asks="Which shape has the gradient of the keys?",
    ),
    mistake(
        "back-gradient-changed",
        edit(
            D,
            "given = grad_output\n    grad_output = given.clone()\n    D = given.mul_(output).to(wide).sum(-1)",
        ),
        says="the gradient of the caller is overwritten",
        asks="Which of your operations changes a tensor of the caller?",
    ),
    mistake(
        "back-queries-changed",
        edit(SIZES, f"{SIZES}\n    queries.div_(math.sqrt(queries.shape[-1]))"),
        edit(SCORES, SCORES.replace(" * scale", "")),
        edit(DK, DK.replace(" * scale", "")),
        says="the queries of the caller are overwritten",
        asks="Which of your operations changes a tensor of the caller?",
    ),
    mistake(
        "back-lse-changed",
        edit("lse = lse.masked_fill(", "lse = lse.masked_fill_("),
        says="the lse of the caller is overwritten",
        asks="Which of your operations changes a tensor of the caller?",
    ),
    dtype_mistake(
        "back-wide-result",
        edit(RETURN, "return dq, dk, dv"),
        says="the gradients are float32, whatever the dtype of the inputs is",
        asks="Which dtype has the gradient of queries in half precision?",
    ),
]
