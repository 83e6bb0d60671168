"""Known mistakes in RotaryAttention; their pages are in RotaryAttention.md."""

from grader.authoring import edit, mistake

SPLIT = """
q, k, v = (layer(x).unflatten(-1, heads).transpose(1, 2) for layer in (self.W_q, self.W_k, self.W_v))
"""
TURN_Q = "q = apply_rotary(q, positions, self.base)"
TURN_K = "k = apply_rotary(k, positions, self.base)"

MISTAKES = [
    mistake(
        "ra-values-turned",
        edit(TURN_K, f"{TURN_K}\n        v = apply_rotary(v, positions, self.base)"),
        says="values are turned, too",
        asks="Which two of queries, keys and values meet in a product of which only the distance should be left?",
    ),
    mistake(
        "ra-only-queries",
        edit(TURN_K, "pass"),
        says="only the queries are turned",
        asks="What is left of the two positions if just one of the two vectors is turned?",
    ),
    mistake(
        "ra-only-keys",
        edit(TURN_Q, "pass"),
        says="only the keys are turned",
        asks="What is left of the two positions if just one of the two vectors is turned?",
    ),
    mistake(
        "ra-not-turned",
        edit(TURN_Q, "pass"),
        edit(TURN_K, "pass"),
        says="nothing is turned, so the module knows no positions",
        asks="What changes in your output if the positions change?",
    ),
    mistake(
        "ra-turned-before-split",
        edit(
            SPLIT,
            """
            q, k = (apply_rotary(layer(x)[:, None], positions, self.base)[:, 0] for layer in (self.W_q, self.W_k))
            q, k, v = (one.unflatten(-1, heads).transpose(1, 2) for one in (q, k, self.W_v(x)))
            """,
        ),
        edit(TURN_Q, "pass"),
        edit(TURN_K, "pass"),
        says="queries and keys are turned before they are split into heads, so the heads turn at different speeds",
        asks="How many pairs has one head, and how fast should its first pair turn?",
    ),
    mistake(
        "ra-keys-backwards",
        edit(TURN_K, "k = apply_rotary(k, -positions, self.base)"),
        says="keys are turned the other way than queries: their positions add up",
        asks="What is left in the product if query and key are turned in opposite directions?",
    ),
    mistake(
        "ra-positions-ignored",
        edit("if positions is None:", "if True:"),
        says="the positions are ignored: the steps are always 0 to T − 1",
        asks="When does your module use the positions that were passed?",
    ),
    mistake(
        "ra-first-sequence-for-all",
        edit(
            "heads = (self.num_heads",
            "positions = positions[:1] if positions.dim() == 2 else positions\n        heads = (self.num_heads",
        ),
        says="all sequences have the positions of the first one",
        asks="What should happen if two sequences of a batch have different positions?",
    ),
    mistake(
        "ra-base-not-passed",
        edit("positions, self.base)", "positions)", times=2),
        says="the base is not passed on",
        asks="Which base do your angles have if the constructor got 500?",
    ),
    mistake(
        "ra-mask-by-positions",
        edit(
            "may_attend = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()",
            "may_attend = (positions[..., :, None] >= positions[..., None, :]).reshape(-1, 1, T, T)",
        ),
        says="the mask compares positions instead of the order of the steps",
        asks="If positions begin again at 0 in the middle, which steps come before the new 0?",
    ),
    mistake(
        "ra-no-mask",
        edit(".tril()", ""),
        says="there is no mask: each step attends to later steps",
        asks="Which steps may the first step attend to?",
    ),
    mistake(
        "ra-mask-reversed",
        edit(".tril()", ".triu()"),
        says="the mask is the wrong way round: each step attends to itself and to later steps",
        asks="Which steps may the last step attend to?",
    ),
    mistake(
        "ra-mask-one-more",
        edit(".tril()", ".tril(1)"),
        says="each step attends to one later step",
        asks="How many steps may the first step attend to?",
    ),
    mistake(
        "ra-mask-after-softmax",
        edit("scores = scores.masked_fill(~may_attend, torch.finfo(scores.dtype).min)", "pass"),
        edit("scores.softmax(-1) @ v", "(scores.softmax(-1) * may_attend) @ v"),
        says="the mask is applied after the softmax, so the weights of a step do not sum to one",
        asks="What do the weights of the first step sum to?",
    ),
    mistake(
        "ra-not-scaled",
        edit("q @ k.mT / math.sqrt(q.shape[-1])", "q @ k.mT"),
        says="scores are not divided by the square root of the size of a head",
        asks="How large are your scores if each head has 64 features?",
    ),
    mistake(
        "ra-scaled-by-model",
        edit("math.sqrt(q.shape[-1])", "math.sqrt(x.shape[-1])"),
        says="scores are divided by the root of the size of the model instead of a head",
        asks="Over how many products does one score sum?",
    ),
    mistake(
        "ra-scaled-without-root",
        edit("math.sqrt(q.shape[-1])", "q.shape[-1]"),
        says="scores are divided by the size of a head instead of its root",
        asks="Which power of the head size keeps the variance of the scores at one?",
    ),
    mistake(
        "ra-keys-through-wq",
        edit("(self.W_q, self.W_k, self.W_v)", "(self.W_q, self.W_q, self.W_v)"),
        says="keys are projected with W_q",
        asks="Which layer should the keys go through?",
    ),
    mistake(
        "ra-values-through-wk",
        edit("(self.W_q, self.W_k, self.W_v)", "(self.W_q, self.W_k, self.W_k)"),
        says="values are projected with W_k",
        asks="Which layer should the values go through?",
    ),
    mistake(
        "ra-no-output-layer",
        edit("self.W_o(output.transpose(1, 2).flatten(2))", "output.transpose(1, 2).flatten(2)"),
        says="the result does not go through W_o",
        asks="What combines the results of the heads?",
    ),
    mistake(
        "ra-heads-not-moved-back",
        edit("output.transpose(1, 2).flatten(2)", "output.reshape(x.shape)"),
        says="heads and steps are mixed up when the heads are joined",
        asks="Which axis must stand next to the features before they are joined?",
    ),
    mistake(
        "ra-heads-of-steps",
        edit(
            "layer(x).unflatten(-1, heads).transpose(1, 2)", "layer(x).reshape(len(x), self.num_heads, T, -1)"
        ),
        says="heads and steps are mixed up when the features are split",
        asks="Which features of a step belong to the first head?",
    ),
    mistake(
        "ra-any-heads",
        edit("if d_model % num_heads or d_model // num_heads % 2:", "if False:"),
        says="sizes that do not fit raise no ValueError",
        asks="How many features would each head have if four heads share ten features?",
    ),
    mistake(
        "ra-halves",
        edit(
            TURN_Q,
            "q, k = (one.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2) for one in (q, k))\n        "
            + TURN_Q,
        ),
        says="pairs are halves: feature i turns with feature i + d/2; a valid convention, for which these weights do not fit",
        asks="Which two features form the first pair in this course?",
        kind="different",
    ),
    mistake(
        "ra-mask-not-itself",
        edit(".tril()", ".tril(-1)"),
        edit("scores.softmax(-1) @ v", "(scores.softmax(-1) * may_attend) @ v"),
        forms=[[edit(".tril()", ".tril(-1)"), edit("torch.finfo(scores.dtype).min", "-math.inf")]],
        says="a step does not see itself",
        asks="Which is the last step that a step may attend to?",
    ),
    mistake(
        "ra-queries-one-ahead",
        edit(TURN_Q, "q = apply_rotary(q, positions + 1, self.base)"),
        says="queries are turned one step further than keys",
        asks="By which angles should the query and the key of the same step differ?",
    ),
    mistake(
        "ra-input-turned",
        edit(
            SPLIT,
            """
            turned = apply_rotary(x.unflatten(-1, heads).transpose(1, 2), positions, self.base).transpose(1, 2).flatten(2)
            pairs = ((self.W_q, turned), (self.W_k, turned), (self.W_v, x))
            q, k, v = (layer(one).unflatten(-1, heads).transpose(1, 2) for layer, one in pairs)
            """,
        ),
        edit(TURN_Q, "pass"),
        edit(TURN_K, "pass"),
        says="the input is turned before it is projected to queries and keys",
        asks="Which two vectors meet in the product in which only the distance should be left?",
    ),
    mistake(
        "ra-softmax-over-queries",
        edit("scores.softmax(-1)", "scores.softmax(-2)"),
        says="the softmax runs over the queries instead of the keys",
        asks="What should the weights of one query sum to?",
    ),
    mistake(
        "ra-odd-heads",
        edit("if d_model % num_heads or d_model // num_heads % 2:", "if d_model % num_heads:"),
        edit(
            "q = apply_rotary(q, positions, self.base)",
            "q = q if q.shape[-1] % 2 else apply_rotary(q, positions, self.base)",
        ),
        edit(
            "k = apply_rotary(k, positions, self.base)",
            "k = k if k.shape[-1] % 2 else apply_rotary(k, positions, self.base)",
        ),
        says="heads with an odd number of features raise no ValueError",
        asks="What would the last feature of a head be paired with?",
    ),
]
