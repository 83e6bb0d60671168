"""Known mistakes in cached_attention; their pages are in cached_attention.md."""

from grader.authoring import edit, mistake

MASK = ".tril(before)"
# Other ways to mask. They give zeros or NaN for a query that sees no key.
FUSED = edit(
    "return scores.softmax(-1) @ values",
    "return nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=may_attend)",
)
INFINITE = edit("torch.finfo(scores.dtype).min", "-math.inf")

MISTAKES = [
    mistake(
        "cache-mask-upper-left",
        edit(MASK, ".tril()"),
        says="the mask is aligned at the upper left corner: new steps see the first keys only",
        asks="Which keys does the single query of step 5 see in your mask?",
    ),
    mistake(
        "cache-upper-left-in-pieces",
        edit(MASK, ".tril(before if T == 1 else 0)"),
        says="the mask of several new steps is aligned at the upper left corner; only a single new step is right",
        asks="Which keys does the first of two new steps see if three steps are stored?",
    ),
    mistake(
        "cache-no-mask",
        edit(MASK, ""),
        says="new steps of one call see each other in both directions: no mask, or a length that already counts them",
        asks="May the first of two new steps see the second?",
    ),
    mistake(
        "cache-mask-one-more",
        edit(MASK, ".tril(before + 1)"),
        says="each new step sees one later step",
        asks="Which is the last key that the first new query may see?",
    ),
    mistake(
        "cache-mask-not-itself",
        edit(MASK, ".tril(before - 1)"),
        forms=[[edit(MASK, ".tril(before - 1)"), way] for way in (FUSED, INFINITE)],
        says="a new step does not see itself",
        asks="Which is the last key that the first new query may see?",
    ),
    mistake(
        "cache-new-steps-only",
        edit("keys, values = cache.append(keys, values)", "cache.append(keys, values)"),
        edit("    before = cache.length\n", "    before = 0\n"),
        says="queries attend to the new steps only, not to the stored ones",
        asks="What does append return, and where do you use it?",
    ),
    mistake(
        "cache-appended-twice",
        edit(
            "keys, values = cache.append(keys, values)",
            "cache.append(keys, values)\n    keys, values = cache.append(keys, values)",
        ),
        says="the new steps are appended twice",
        asks="How many steps does the cache have after one call with two new steps?",
    ),
    mistake(
        "cache-not-appended",
        edit(
            "keys, values = cache.append(keys, values)",
            "keys, values = cache.append(keys, values)\n    cache.crop(before)",
        ),
        says="the new steps are not in the cache after the call",
        asks="How many steps does the cache have after one call with two new steps?",
    ),
    mistake(
        "cache-not-scaled",
        edit("queries @ keys.mT / math.sqrt(queries.shape[-1])", "queries @ keys.mT"),
        says="scores are not divided by the square root of the size of a head",
        asks="How large are your scores if each head has 64 features?",
    ),
    mistake(
        "cache-scaled-by-steps",
        edit("math.sqrt(queries.shape[-1])", "math.sqrt(S)"),
        says="scores are divided by the root of the number of steps",
        asks="Over how many products does one score sum?",
    ),
    mistake(
        "cache-keys-as-values",
        edit("scores.softmax(-1) @ values", "scores.softmax(-1) @ keys"),
        says="the weights are applied to the keys instead of the values",
        asks="Of what is the output a weighted sum?",
    ),
    mistake(
        "cache-softmax-over-queries",
        edit("scores.softmax(-1)", "scores.softmax(-2)"),
        says="the softmax runs over the queries instead of the keys",
        asks="What should the weights of one query sum to?",
    ),
    mistake(
        "cache-mask-after-softmax",
        edit("scores = scores.masked_fill(~may_attend, torch.finfo(scores.dtype).min)\n    ", ""),
        edit("scores.softmax(-1) @ values", "(scores.softmax(-1) * may_attend) @ values"),
        says="the mask is applied after the softmax, so the weights of a query do not sum to one",
        asks="What do the weights of the first query sum to?",
    ),
    mistake(
        "cache-mask-for-prompt-only",
        edit(MASK, ".tril() if not before else torch.ones(T, S, dtype=torch.bool, device=scores.device)"),
        says="only the first call has a mask: new steps of a later call see each other in both directions",
        asks="May the first of two new steps see the second if three steps are stored?",
    ),
    mistake(
        "cache-mask-inverted",
        edit("masked_fill(~may_attend", "masked_fill(may_attend"),
        forms=[
            [
                edit(
                    "return scores.softmax(-1) @ values",
                    "return nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=~may_attend)",
                )
            ],
            [edit("masked_fill(~may_attend", "masked_fill(may_attend"), INFINITE],
        ],
        says="the mask is inverted: the steps that a query may see are hidden",
        asks="Does True in your mask mean visible or hidden?",
    ),
    mistake(
        "cache-scaled-without-root",
        edit("math.sqrt(queries.shape[-1])", "queries.shape[-1]"),
        says="scores are divided by the size of a head instead of its root",
        asks="Which power of the head size keeps the variance of the scores at one?",
    ),
]
