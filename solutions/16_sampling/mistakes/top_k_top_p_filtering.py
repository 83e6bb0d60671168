"""Known mistakes in top_k_top_p_filtering; their pages are in top_k_top_p_filtering.md."""

from grader.authoring import dtype_mistake, edit, mistake

BEFORE = "left_out = probs.cumsum(-1) - probs >= top_p"
SHAPE = "    if 0 < top_k < logits.shape[-1]:\n"
BACK = "left_out = left_out.scatter(-1, order, left_out)"
LEAST = "least = logits.topk(top_k).values[..., -1:]"
ONE_STAYS = "        left_out[..., 0] = False\n"

MISTAKES = [
    mistake(
        "filter-crossing-token-dropped",
        edit(BEFORE, "left_out = probs.cumsum(-1) >= top_p"),
        forms=[[edit(BEFORE, "left_out = probs.cumsum(-1) > top_p")]],
        says="the token that crosses top_p is left out, too",
        asks="How much mass do the tokens have together that you keep of 0.5, 0.3 and 0.2 for a top_p of 0.6?",
    ),
    mistake(
        "filter-one-token-too-many",
        edit(
            BEFORE,
            "left_out = torch.nn.functional.pad((probs.cumsum(-1) >= top_p)[..., :-2], (2, 0), value=False)",
        ),
        says="one token more than the one that crosses top_p stays",
        asks="Is the set that you keep the smallest one with this mass?",
    ),
    mistake(
        "filter-sorted-order",
        edit(BACK, "left_out = left_out"),
        says="the mask of the sorted tokens is used in the order of the vocabulary",
        asks="Which token of the row does the first entry of your mask belong to?",
    ),
    mistake(
        "filter-wrong-way-back",
        edit(BACK, "left_out = left_out.gather(-1, order)"),
        says="the mask is taken through the sorting once more instead of back",
        asks="If the best token is at place 5 of the row, where must the first entry of the sorted mask go?",
    ),
    mistake(
        "filter-sorted-returned",
        edit(BACK, "logits = ranked"),
        forms=[[edit("    return logits\n", "    return logits.sort(descending=True).values\n")]],
        says="the logits are returned in sorted order",
        asks="Which token does the first logit of your result belong to?",
    ),
    mistake(
        "filter-one-more-than-k",
        edit(LEAST, "least = logits.topk(top_k + 1).values[..., -1:]"),
        says="one token more than top_k stays",
        asks="How many tokens stay in each row for a top_k of 1?",
    ),
    mistake(
        "filter-one-less-than-k",
        edit("logits < least", "logits <= least"),
        says="one token less than top_k stays",
        asks="How many tokens stay in each row for a top_k of 1?",
    ),
    mistake(
        "filter-best-k-dropped",
        edit("logits < least", "logits >= least"),
        says="the best tokens are left out, and the rest stays",
        asks="Which tokens should stay, those above the limit or those below?",
    ),
    mistake(
        "filter-least-likely-k",
        edit(LEAST, "least = logits.topk(top_k, largest=False).values[..., -1:]"),
        edit("logits < least", "logits > least"),
        says="top-k keeps the least likely tokens",
        asks="What does your function keep of the logits 3, 2 and 1 for a top_k of 1?",
    ),
    mistake(
        "filter-k-of-all-rows",
        edit(LEAST, "least = logits.flatten().topk(top_k).values[-1:]"),
        says="the best tokens of all rows together are kept",
        asks="How many tokens should each single row keep?",
    ),
    mistake(
        "filter-k-of-first-row",
        edit(LEAST, "least = logits.reshape(-1, logits.shape[-1])[0].topk(top_k).values[-1:]"),
        forms=[[edit(LEAST, "least = logits.topk(top_k).values.min()")]],
        says="the limit of one row is used for all rows",
        asks="What is the k-th best logit of the second row?",
    ),
    mistake(
        "filter-p-before-k",
        edit(
            "ranked.softmax(-1, dtype=torch.float64)",
            "unfiltered.sort(descending=True).values.softmax(-1, dtype=torch.float64)",
        ),
        edit(SHAPE, "    unfiltered = logits\n" + SHAPE),
        says="top-p looks at the mass from before top-k, which is the same as top-p first; some libraries do so",
        asks="How much mass have the tokens together on which your top-p works?",
        kind="different",
    ),
    mistake(
        "filter-p-ignored-with-k",
        edit("    if top_p < 1:", "    elif top_p < 1:"),
        says="with a top_k, top_p is ignored",
        asks="What does your function do when both filters are on?",
    ),
    mistake(
        "filter-no-softmax",
        edit("probs = ranked.softmax(-1, dtype=torch.float64)", "probs = ranked"),
        says="the sums are of logits instead of probabilities",
        asks="What is the sum of one row of what you add up?",
    ),
    mistake(
        "filter-ascending",
        edit("logits.sort(descending=True)", "logits.sort()"),
        says="top-p begins with the least likely token",
        asks="Which token is the first whose mass you add?",
    ),
    mistake(
        "filter-least-likely-mass",
        edit("logits.sort(descending=True)", "logits.sort()"),
        edit(BEFORE, "left_out = probs.cumsum(-1) > top_p"),
        edit("left_out[..., 0] = False", "left_out[..., -1] = False"),
        says="the tail of mass top_p is kept, and the best token",
        asks="From which end do you add up, and which end is the tail?",
    ),
    mistake(
        "filter-tail-of-mass-p",
        edit(BEFORE, "left_out = probs.cumsum(-1) - probs >= 1 - top_p"),
        says="the set has the mass 1 − top_p instead of top_p",
        asks="For a top_p of 0.95, how much mass should be left out?",
    ),
    mistake(
        "filter-single-probabilities",
        edit(BEFORE, "left_out = probs < 1 - top_p"),
        says="each probability is compared with a limit by itself, and no mass is added up",
        asks="Is a token left out because it is rare, or because the better tokens have the mass already?",
    ),
    mistake(
        "filter-relative-to-best",
        edit(BEFORE, "left_out = probs < top_p * probs[..., :1]"),
        says="tokens stay whose probability is a share of the best one: this is the min-p filter",
        asks="Which sum should your filter compare with top_p?",
        kind="different",
    ),
    mistake(
        "filter-none-stays",
        edit(ONE_STAYS, ""),
        says="for a top_p of 0, no token stays",
        asks="What does softmax give for a row of −∞?",
    ),
    mistake(
        "filter-mask-rolled",
        edit(BEFORE, "left_out = (probs.cumsum(-1) >= top_p).roll(1, -1)"),
        edit(ONE_STAYS, ""),
        says="the mask is rolled by one place, so its last entry falls on the best token",
        asks="What does your mask say about the best token?",
    ),
    mistake(
        "filter-removed-in-all-rows",
        edit(BACK, "logits = logits.clone()"),
        edit(
            'logits = logits.masked_fill(left_out, float("-inf"))',
            'logits[..., order[left_out]] = float("-inf")',
        ),
        says="a token that top-p leaves out in one row is left out in all rows",
        asks="How many axes has the mask, and how many has the list of tokens that you leave out?",
    ),
    mistake(
        "filter-not-sorted",
        edit(
            "ranked, order = logits.sort(descending=True)",
            "ranked, order = logits, torch.arange(logits.shape[-1], device=logits.device).expand(logits.shape)",
        ),
        forms=[
            [
                edit(
                    "ranked, order = logits.sort(descending=True)",
                    "ranked, order = logits, torch.arange(logits.shape[-1], device=logits.device).expand(logits.shape)",
                ),
                edit("left_out[..., 0] = False", "left_out &= probs < probs.amax(-1, keepdim=True)"),
            ]
        ],
        says="the mass is added up in the order of the vocabulary instead of from the best token on",
        asks="Which token is the first whose mass you add?",
    ),
    mistake(
        "filter-zero-for-left-out",
        edit('logits.masked_fill(logits < least, float("-inf"))', "logits.masked_fill(logits < least, 0.0)"),
        edit('logits.masked_fill(left_out, float("-inf"))', "logits.masked_fill(left_out, 0.0)"),
        forms=[
            [edit("    return logits\n", "    return logits.masked_fill(logits.isinf(), 0.0)\n")],
            [
                edit(SHAPE, "    unfiltered = logits\n" + SHAPE),
                edit("    return logits\n", "    return unfiltered * logits.isfinite()\n"),
            ],
        ],
        says="what is left out becomes 0, and a logit of 0 still has a probability",
        asks="Which probability has a logit of 0 after softmax?",
    ),
    mistake(
        "filter-probabilities-returned",
        edit("    return logits\n", "    return logits.softmax(-1)\n"),
        says="probabilities are returned instead of logits",
        asks="What will the caller's softmax make of your result?",
    ),
    mistake(
        "filter-log-probabilities",
        edit("    return logits\n", "    return logits.log_softmax(-1)\n"),
        says="the kept logits are changed to log-probabilities: the same distribution, but not the same logits",
        asks="Are the logits that you keep those that came in?",
        kind="different",
    ),
    mistake(
        "filter-mask-inverted",
        edit("logits.masked_fill(left_out", "logits.masked_fill(~left_out"),
        says="what should be left out stays, and the rest is left out",
        asks="What does `True` mean in your mask?",
    ),
    mistake(
        "filter-k-zero-keeps-none",
        edit("if 0 < top_k < logits.shape[-1]:", "if top_k < logits.shape[-1]:"),
        edit(
            "logits = logits.masked_fill(logits < least",
            "logits = logits.masked_fill(torch.ones_like(logits) > 0 if top_k == 0 else logits < least",
        ),
        edit(LEAST, "least = logits.topk(max(top_k, 1)).values[..., -1:]"),
        says="a top_k of 0 leaves everything out instead of nothing",
        asks="What does top_k=0 mean here?",
    ),
    mistake(
        "filter-k-above-size",
        edit("if 0 < top_k < logits.shape[-1]:", "if top_k > 0:"),
        says="a top_k above the number of tokens fails",
        asks="How many tokens can you keep if there are five, and someone asks for nine?",
    ),
    mistake(
        "filter-overwrites",
        edit(
            'logits = logits.masked_fill(logits < least, float("-inf"))',
            'logits.masked_fill_(logits < least, float("-inf"))',
        ),
        edit(
            'logits = logits.masked_fill(left_out, float("-inf"))',
            'logits.masked_fill_(left_out, float("-inf"))',
        ),
        forms=[
            [
                edit(
                    'logits = logits.masked_fill(left_out, float("-inf"))',
                    'logits.masked_fill_(left_out, float("-inf"))',
                )
            ],
            [
                edit(
                    'logits = logits.masked_fill(logits < least, float("-inf"))',
                    'logits.masked_fill_(logits < least, float("-inf"))',
                )
            ],
        ],
        says="the argument is overwritten",
        asks="What does the caller find in the logits after the call?",
    ),
    mistake(
        "filter-only-the-kept",
        edit("least = logits.topk(top_k).values[..., -1:]  # (…, 1)", "return logits.topk(top_k).values"),
        edit('        logits = logits.masked_fill(logits < least, float("-inf"))\n', ""),
        says="only the kept logits are returned, so nobody knows which tokens they belong to",
        asks="What is the size of the last axis of your result?",
    ),
    dtype_mistake(
        "filter-coarse-sums",
        edit("ranked.softmax(-1, dtype=torch.float64)", "ranked.softmax(-1)"),
        says="the mass is added up in the dtype of the logits",
        asks="Which numbers near 0.9 can bfloat16 represent?",
    ),
    dtype_mistake(
        "filter-wide-result",
        edit(
            "    return logits\n", "    return logits.to(torch.promote_types(logits.dtype, torch.float32))\n"
        ),
        says="the result has a wider dtype than the logits",
        asks="Which dtype has the result for logits in bfloat16?",
    ),
]
