"""Known mistakes in tiled_attention; their pages are in tiled_attention.md."""

from grader.authoring import dtype_mistake, edit, mistake

SIZES = "T, S = queries.shape[2], keys.shape[2]"
SCALED = "/ math.sqrt(queries.shape[-1])"
START = "m = q.new_full(q.shape[:3], -math.inf)"
ROWS = "rows = torch.arange(start, start + q.shape[2], device=q.device) + S - T"
COLUMNS = "columns = torch.arange(first, first + k.shape[2], device=q.device)"
LATER = "hidden = (distance < 0) & causal"
AGO = "hidden | (distance >= window)"
SKIP = """
if hidden.all():
    continue
"""
SCORES = "(q @ k.mT).masked_fill(hidden, -math.inf)"
TOP = "torch.maximum(m, scores.amax(-1))"
BASE = "base = top.masked_fill(top == -math.inf, 0.0)"
WEIGHTS = "weights = (scores - base.unsqueeze(-1)).exp()"
SUM = "l = l * shrink + weights.sum(-1)"
ACC = "acc = acc * shrink.unsqueeze(-1) + weights @ v"
MEAN = "acc / l.masked_fill(l == 0, 1.0).unsqueeze(-1)"
LSE = "= m + l.log()"
PADDED = """
more = (0, 0, 0, -S % block_size)
keys, values = torch.nn.functional.pad(keys, more), torch.nn.functional.pad(values, more)
output = queries.new_zeros
"""
WHOLE = "table = torch.arange(T, device=keys.device)[:, None] + S - T - torch.arange(S, device=keys.device)"
TILE = "table[start : start + block_size, first : first + block_size]"
FULL = "T // min(block_size, T) * min(block_size, T)"
NO_GUARD = edit(MEAN, "acc / l.unsqueeze(-1)")

MISTAKES = [
    mistake(
        "tiles-all-at-once",
        edit(SIZES, f"{SIZES}\n    block_size = max(T, S)"),
        says="all scores are computed at once",
        asks="How many scores are in memory at the same time if there are 1000 queries and keys?",
    ),
    mistake(
        "tiles-whole-mask",
        edit(SIZES, f"{SIZES}\n    {WHOLE}"),
        edit("rows.unsqueeze(1) - columns", TILE),
        says="the mask is made for all pairs at once, and is as large as the table of scores",
        asks="How many values has your mask if there are 1000 queries and keys?",
    ),
    mistake(
        "tiles-hidden-computed",
        edit(SKIP, ""),
        says="tiles in which everything is hidden are computed all the same",
        asks="In which tiles of a causal mask does no query see any key?",
    ),
    mistake(
        "tiles-before-window-computed",
        edit("if hidden.all():", "if hidden.all() and (distance < 0).any():"),
        says="tiles that lie wholly before the window are computed all the same",
        asks="In which tiles are all keys too old for all queries?",
    ),
    mistake(
        "tiles-acc-not-shrunk",
        edit(ACC, "acc = acc + weights @ v"),
        says="the weighted sum of the values does not shrink when the maximum grows",
        asks="Relative to which maximum are the weights in your accumulator, and in your sum?",
    ),
    mistake(
        "tiles-sum-not-shrunk",
        edit(SUM, "l = l + weights.sum(-1)"),
        says="the sum of the exponentials does not shrink when the maximum grows",
        asks="Relative to which maximum are the weights in your accumulator, and in your sum?",
    ),
    mistake(
        "tiles-nothing-shrunk",
        edit(SUM, "l = l + weights.sum(-1)"),
        edit(ACC, "acc = acc + weights @ v"),
        says="what was summed up before stays as it is when the maximum grows",
        asks="By which factor do earlier weights change if the maximum grows by 1?",
    ),
    mistake(
        "tiles-divided-in-loop",
        edit(ACC, f"acc = (acc * shrink.unsqueeze(-1) + weights @ v) / {MEAN[6:]}"),
        edit(f"mean = {MEAN}", "mean = acc"),
        says="the accumulator is divided by the sum after each block, and then summed up further",
        asks="How often is the value of the first key divided if there are three blocks?",
    ),
    mistake(
        "tiles-softmax-of-each",
        edit(ACC, "acc = acc + (weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)) @ v"),
        edit(f"mean = {MEAN}", "mean = acc"),
        says="each block has a softmax of its own, and the results are added",
        asks="What do all the weights of one query sum to if there are three blocks?",
    ),
    mistake(
        "tiles-not-divided",
        edit(f"mean = {MEAN}", "mean = acc"),
        says="the accumulator is never divided by the sum",
        asks="What do the weights of one query sum to?",
    ),
    mistake(
        "tiles-sum-of-last-block",
        edit(SUM, "l = weights.sum(-1)"),
        says="the sum is that of the last block",
        asks="By the sum over which keys must the accumulator be divided?",
    ),
    mistake(
        "tiles-lse-without-log",
        edit(LSE, "= m + l"),
        says="the lse is the maximum plus the sum, without a logarithm",
        asks="What is the lse of a single key with score 5?",
    ),
    mistake(
        "tiles-lse-without-maximum",
        edit(LSE, "= l.log()"),
        says="the lse lacks the maximum that was subtracted",
        asks="What is the lse of a single key with score 5?",
    ),
    mistake(
        "tiles-lse-is-maximum",
        edit(LSE, "= m"),
        says="the maximum is returned as the lse",
        asks="What is the lse of two keys with score 0?",
    ),
    mistake(
        "tiles-lse-is-sum",
        edit(LSE, "= l"),
        says="the sum is returned as the lse",
        asks="What is the lse of a single key with score 5?",
    ),
    mistake(
        "tiles-lse-of-unscaled-scores",
        edit(LSE, "= m * math.sqrt(queries.shape[-1]) + l.log()"),
        says="the maximum in the lse is that of scores before they are divided",
        asks="Which scores should the exponential of the lse sum up?",
    ),
    mistake(
        "tiles-lse-base-two",
        edit(LSE, "= (m + l.log()) / math.log(2)"),
        kind="different",
        says="the lse is a logarithm to base 2, as in FlashInfer; here it is the natural one",
        asks="Which logarithm does the exercise ask for?",
    ),
    mistake(
        "tiles-no-maximum",
        edit(TOP, "torch.zeros_like(m)"),
        forms=[[edit(TOP, "torch.zeros_like(m)"), NO_GUARD]],
        says="exponentials of the scores are taken without a maximum, so they overflow",
        asks="What is the exponential of 1000 on your machine, and of -1000?",
    ),
    mistake(
        "tiles-maximum-from-zero",
        edit(START, "m = q.new_zeros(q.shape[:3])"),
        forms=[[edit(START, "m = q.new_zeros(q.shape[:3])"), NO_GUARD]],
        says="the maximum starts at 0, so all weights are 0 if all scores are far below",
        asks="What is the largest of the scores -1000 and -1001 in your code?",
    ),
    mistake(
        "tiles-maximum-from-number",
        edit(START, "m = q.new_full(q.shape[:3], -10000.0)"),
        forms=[[edit(START, "m = q.new_full(q.shape[:3], -10000.0)"), NO_GUARD]],
        says="the maximum starts at a number, so all weights are 0 if all scores are far below",
        asks="Is there a number below all scores that a query may have?",
    ),
    mistake(
        "tiles-one-maximum",
        edit(TOP, "torch.maximum(m, scores.amax())"),
        forms=[[edit(TOP, "torch.maximum(m, scores.amax())"), NO_GUARD]],
        says="all queries of a tile share one maximum, so a query with much smaller scores gets the sum 0",
        asks="What are the exponentials of a query whose scores are far below those of another query?",
    ),
    mistake(
        "tiles-maximum-of-block",
        edit(TOP, "torch.where(hidden.all(-1), m, scores.amax(-1))"),
        says="the maximum is that of the newest block alone, so earlier weights can overflow",
        asks="By which factor do earlier weights change if a block has much smaller scores?",
    ),
    mistake(
        "tiles-last-keys-lost",
        edit("range(0, S, block_size)", "range(0, S // block_size * block_size, block_size)"),
        forms=[[edit("range(0, S, block_size)", f"range(0, {FULL.replace('T', 'S')}, block_size)")]],
        says="keys after the last full block are lost",
        asks="Which keys are in the last block if there are 13 keys and blocks of 4?",
    ),
    mistake(
        "tiles-last-queries-lost",
        edit("range(0, T, block_size)", "range(0, T // block_size * block_size, block_size)"),
        forms=[[edit("range(0, T, block_size)", f"range(0, {FULL}, block_size)")]],
        says="queries after the last full block get no result",
        asks="Which queries are in the last block if there are 13 queries and blocks of 4?",
    ),
    mistake(
        "tiles-last-blocks-lost",
        edit("range(0, T, block_size)", f"range(0, {FULL}, block_size)"),
        edit("range(0, S, block_size)", f"range(0, {FULL.replace('T', 'S')}, block_size)"),
        forms=[
            [
                edit("range(0, T, block_size)", f"range(0, {FULL}, block_size)"),
                edit("range(0, S, block_size)", f"range(0, {FULL.replace('T', 'S')}, block_size)"),
                edit(
                    "queries.new_zeros(queries.shape[:3], dtype",
                    "queries.new_full(queries.shape[:3], -math.inf, dtype",
                ),
            ]
        ],
        says="queries and keys after the last full block are lost",
        asks="Which keys are in the last block if there are 13 keys and blocks of 4?",
    ),
    mistake(
        "tiles-first-keys-lost",
        edit("range(0, S, block_size)", "range(block_size, S, block_size)"),
        says="the first block of keys is lost",
        asks="At which key does your loop begin?",
    ),
    mistake(
        "tiles-diagonal-lost",
        edit("if hidden.all():", "if hidden.all() or (causal and first >= start + S - T):"),
        forms=[
            [edit("if hidden.all():", "if hidden.all() or (causal and first + k.shape[2] > start + S - T):")]
        ],
        says="tiles on the diagonal are left out, though their queries see some of their keys",
        asks="May a query see its own key?",
    ),
    mistake(
        "tiles-partly-hidden-lost",
        edit("if hidden.all():", "if hidden.any():"),
        forms=[[edit("if hidden.all():", "if hidden.all() or ((distance < 0) & causal).any():")]],
        says="tiles in which something is hidden are left out",
        asks="What about the keys of such a tile that some query does see?",
    ),
    mistake(
        "tiles-skipped-by-first-query",
        edit("if hidden.all():", "if hidden.all() or (causal and first > start + S - T):"),
        says="a tile is left out if its first query comes before its first key, though later queries see it",
        asks="Which of the queries of a block sees the most keys?",
    ),
    mistake(
        "tiles-skipped-upper-left",
        edit("if hidden.all():", "if hidden.all() or (causal and first >= start + q.shape[2]):"),
        says="tiles are left out as if query and key counted from the same corner",
        asks="Which position has the first query if there are 5 queries and 11 keys?",
    ),
    mistake(
        "tiles-padded-keys-seen",
        edit("\noutput = queries.new_zeros", PADDED),
        says="the last block is filled up with zeros, and these are seen like keys",
        asks="Which score does a key of zeros have, and which weight?",
    ),
    mistake(
        "tiles-hidden-nan",
        edit(BASE, "base = top"),
        forms=[[edit(BASE, "base = top"), NO_GUARD]],
        says="a query that has seen no key yet gives NaN, and keeps it",
        asks="What is minus infinity minus minus infinity?",
    ),
    mistake(
        "tiles-empty-nan",
        NO_GUARD,
        says="the output of a query that sees no key is NaN",
        asks="By which number do you divide if a query sees no key?",
    ),
    mistake(
        "tiles-empty-mean",
        edit(SCORES, "(q @ k.mT).masked_fill(hidden, -1e9)"),
        forms=[
            [edit(SCORES, "(q @ k.mT).masked_fill(hidden, -1e9)"), edit(SKIP, "")],
            [
                edit(START, "m = q.new_full(q.shape[:3], -1e9)"),
                edit(SCORES, "(q @ k.mT).masked_fill(hidden, -1e9)"),
                edit(LSE, "= m + l.clamp(min=1e-30).log()"),
            ],
            [
                edit(START, "m = q.new_full(q.shape[:3], -1e9)"),
                edit(SCORES, "(q @ k.mT).masked_fill(hidden, -1e9)"),
            ],
        ],
        says="a query that sees no key gets the mean of values that are hidden from it",
        asks="What is the largest score of a query from which all keys are hidden, in your code?",
    ),
    mistake(
        "tiles-empty-lse-finite",
        edit(LSE, "= torch.where(l == 0, 0.0, m + l.log())"),
        forms=[[edit(LSE, "= torch.where(l == 0, -1e30, m + l.log())")]],
        says="the lse of a query that sees no key is a number",
        asks="What is the logarithm of a sum without terms?",
    ),
    mistake(
        "tiles-upper-left",
        edit(ROWS, ROWS.removesuffix(" + S - T")),
        kind="different",
        says="the causal mask begins in the upper left corner, as for is_causal in PyTorch; here the last query sees the last key",
        asks="Which keys does the last query see if there are 5 queries and 11 keys?",
    ),
    mistake(
        "tiles-mask-of-first-tile",
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
        "tiles-not-causal",
        edit(LATER, "hidden = (distance < 0) & False"),
        says="later keys are not hidden",
        asks="Which keys may the first query see if the mask is causal?",
    ),
    mistake(
        "tiles-no-window",
        edit(AGO, "hidden"),
        says="the window is ignored",
        asks="How many keys does the last query see if the window is 3?",
    ),
    mistake(
        "tiles-window-from-query-number",
        edit(AGO, "hidden | (distance - (S - T) >= window)"),
        says="the window counts from the number of the query instead of its position",
        asks="Which position has the first query if there are 5 queries and 11 keys?",
    ),
    mistake(
        "tiles-window-ends-loop",
        edit("continue", "break"),
        says="a tile before the window ends the loop, so the tiles in the window are never reached",
        asks="Which tiles come after one that is hidden because it is too old?",
    ),
    mistake(
        "tiles-window-start-lost",
        edit(
            "if hidden.all():", "if hidden.all() or (window and first < max(0, start + S - T - window + 1)):"
        ),
        says="a tile that begins before the window is left out, though its last keys are in it",
        asks="Which keys of a tile are in the window if its first key is too old?",
    ),
    mistake(
        "tiles-window-one-larger",
        edit(AGO, "hidden | (distance > window)"),
        kind="different",
        says="the window does not count the key of the query itself, as in flash-attn; here it does",
        asks="How many keys does the last query see if the window is 3?",
    ),
    mistake(
        "tiles-window-one-smaller",
        edit(AGO, "hidden | (distance >= window - 1)"),
        says="the window is one key too small",
        asks="How many keys does the last query see if the window is 3?",
    ),
    mistake(
        "tiles-mask-one-more",
        edit(LATER, "hidden = (distance < -1) & causal"),
        says="a query sees the key after its own",
        asks="Which is the last key that the last but one query may see?",
    ),
    mistake(
        "tiles-mask-not-itself",
        edit(LATER, "hidden = (distance <= 0) & causal"),
        says="a query does not see its own key",
        asks="Which is the last key that the last query may see?",
    ),
    mistake(
        "tiles-mask-inverted",
        edit(SCORES, "(q @ k.mT).masked_fill(~hidden, -math.inf)"),
        says="the mask is inverted: keys that a query may see are hidden",
        asks="Does True in your mask mean visible or hidden?",
    ),
    mistake(
        "tiles-hidden-zero",
        edit(SCORES, "(q @ k.mT).masked_fill(hidden, 0.0)"),
        says="hidden scores are set to 0, and still get weight",
        asks="Which weight does a score of 0 get?",
    ),
    mistake(
        "tiles-mask-after-exp",
        edit(SCORES, "q @ k.mT"),
        edit(WEIGHTS, f"{WEIGHTS} * ~hidden"),
        forms=[[edit(SCORES, "q @ k.mT"), edit(WEIGHTS, f"{WEIGHTS} * ~hidden"), NO_GUARD]],
        says="the mask comes after the exponential, so a large hidden score makes all visible weights 0",
        asks="Which scores should the maximum of a query run over?",
    ),
    mistake(
        "tiles-infinity-times-zero",
        edit(SCORES, "q @ k.mT"),
        edit(TOP, "torch.maximum(m, scores.masked_fill(hidden, -math.inf).amax(-1))"),
        edit(WEIGHTS, f"{WEIGHTS} * ~hidden"),
        says="the mask is multiplied after the exponential, and infinity times 0 is NaN",
        asks="How large can a hidden score be, compared with the largest visible one?",
    ),
    mistake(
        "tiles-not-masked",
        edit(SCORES, "q @ k.mT"),
        says="tiles that are hidden in part are not masked",
        asks="Which keys of a tile on the diagonal does its first query see?",
    ),
    mistake(
        "tiles-hidden-in-sum",
        edit(SCORES, "q @ k.mT"),
        edit(ACC, "acc = acc * shrink.unsqueeze(-1) + (weights * ~hidden) @ v"),
        says="hidden keys count in the sum, though not in the output",
        asks="What do the weights of the visible keys sum to?",
    ),
    mistake(
        "tiles-not-scaled",
        edit(SCALED, ""),
        says="scores are not divided by the root of the number of features",
        asks="How large are your scores if each head has 64 features?",
    ),
    mistake(
        "tiles-scaled-without-root",
        edit(SCALED, "/ queries.shape[-1]"),
        says="scores are divided by the number of features, or by its root twice",
        asks="Which power of the number of features keeps the variance of the scores at one?",
    ),
    mistake(
        "tiles-scaled-by-values",
        edit(SCALED, "/ math.sqrt(values.shape[-1])"),
        says="scores are divided by the root of the number of features of a value",
        asks="Over how many products does one score sum?",
    ),
    mistake(
        "tiles-scaled-by-one-less",
        edit(SCALED, "/ math.sqrt(queries.shape[-1] - 1)"),
        says="scores are divided by the root of one less than the number of features",
        asks="Over how many products does one score sum?",
    ),
    mistake(
        "tiles-no-lse",
        edit("return output, lse", "return output"),
        says="only the output is returned, without the lse",
        asks="What does the backward need besides the output?",
    ),
    mistake(
        "tiles-lse-with-axis",
        edit("return output, lse", "return output, lse.unsqueeze(-1)"),
        says="the lse has a last axis of size one",
        asks="How many axes does one number per query need?",
    ),
    mistake(
        "tiles-sums-like-queries",
        edit("acc = q.new_zeros(*q.shape[:3], values.shape[-1])", "acc = torch.zeros_like(q)"),
        edit(
            "output = queries.new_zeros(*queries.shape[:3], values.shape[-1])",
            "output = torch.zeros_like(queries)",
        ),
        says="output and accumulator have as many features as the queries",
        asks="Of what is the output a weighted mean?",
    ),
    mistake(
        "tiles-queries-overwritten",
        edit(SIZES, f"{SIZES}\n    queries.div_(math.sqrt(queries.shape[-1]))"),
        edit(f".to(wide) {SCALED}", ".to(wide)"),
        says="the queries of the caller are overwritten",
        asks="Which of your operations changes a tensor of the caller?",
    ),
    dtype_mistake(
        "tiles-wide-result",
        edit("values.shape[-1])  # (B, H, T, v)", "values.shape[-1], dtype=wide)  # (B, H, T, v)"),
        says="the output is float32, whatever the dtype of the queries is",
        asks="Which dtype should come back for queries in half precision?",
    ),
]
