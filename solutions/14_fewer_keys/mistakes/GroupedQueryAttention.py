"""Known mistakes in GroupedQueryAttention; their pages are in GroupedQueryAttention.md."""

from grader.authoring import edit, mistake

TWICE = "k, v = (repeat_kv(one, self.num_heads // self.num_kv_heads) for one in (k, v))"
PLACES = "k_positions = torch.arange(k.shape[2], device=x.device)"
REPEAT = "repeat_kv(one, self.num_heads // self.num_kv_heads)"
MASK = "may_attend = window_mask(q_positions, k_positions, self.window, self.sinks)"
BEGIN = "begin = 0 if cache is None else cache.total"
APPEND = "k, v, k_positions = cache.append(k, v)"
LAST_ROWS = f"{APPEND}\n            q_positions = k_positions[-T:]"
# Other ways to mask. They give zeros or NaN for a query that sees no key.
FUSED = edit(
    """
    scores = q @ k.mT / math.sqrt(d)  # (B, H, T, S)
    scores = scores.masked_fill(~may_attend, torch.finfo(scores.dtype).min)
    output = scores.softmax(-1) @ v  # (B, H, T, d)
    """,
    "\noutput = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=may_attend)\n",
)
INFINITE = edit("torch.finfo(scores.dtype).min", "-math.inf")


def in_all_ways(*edits):
    return [[*edits, way] for way in (FUSED, INFINITE)]


MISTAKES = [
    mistake(
        "gqa-heads-tiled",
        edit(REPEAT, "one.repeat(1, self.num_heads // self.num_kv_heads, 1, 1)"),
        says="key heads are repeated as a whole: query heads that should share a key head do not",
        asks="Which key head does the second query head use?",
    ),
    mistake(
        "gqa-values-tiled",
        edit(
            TWICE,
            f"{TWICE}\n        v = v[:, :: self.num_heads // self.num_kv_heads].repeat(1, self.num_heads // self.num_kv_heads, 1, 1)",
        ),
        says="the values are repeated in another order than the keys",
        asks="Whose key and whose value does the second query head use?",
    ),
    mistake(
        "gqa-one-key-head-used",
        edit(REPEAT, "one[:, :1]"),
        says="all query heads use the first key head",
        asks="Which key head does the last query head use?",
    ),
    mistake(
        "gqa-group-size",
        edit(REPEAT, "repeat_kv(one, self.num_kv_heads)"),
        edit("for one in (k, v))", "[:, : self.num_heads] for one in (k, v))"),
        says="each key head is repeated once per key head instead of once per query head of its group",
        asks="How many query heads share a key head if there are six and three?",
    ),
    mistake(
        "gqa-cache-of-copies",
        edit(
            "        if cache is not None:\n            k, v, k_positions = cache.append(k, v)\n",
            "",
        ),
        edit(
            "        may_attend =",
            "        if cache is not None:\n            k, v, k_positions = cache.append(k, v)\n        may_attend =",
        ),
        says="the ring stores the copies of the key heads",
        asks="How many heads does the ring hold if there are six query heads and three key heads?",
    ),
    mistake(
        "gqa-window-ignored",
        edit(MASK, "may_attend = window_mask(q_positions, k_positions)"),
        says="the window is ignored",
        asks="How far back may a query look?",
    ),
    mistake(
        "gqa-window-ignored-with-cache",
        edit(MASK, MASK + " if cache is None else window_mask(q_positions, k_positions)"),
        says="with a ring the window is ignored: a ring may hold more than the window",
        asks="Who decides what a query sees, the ring or the mask?",
    ),
    mistake(
        "gqa-sinks-ignored",
        edit(MASK, "may_attend = window_mask(q_positions, k_positions, self.window)"),
        says="the sinks are ignored",
        asks="Where does your module use the sinks?",
    ),
    mistake(
        "gqa-no-mask-with-cache",
        edit(
            MASK,
            "may_attend = window_mask(q_positions, k_positions, self.window, self.sinks)\n        if cache is not None:\n            may_attend = (k_positions >= 0).expand_as(may_attend)",
        ),
        forms=[[edit(MASK, f"{MASK} | (cache is not None)")]],
        says="with a ring there is no mask",
        asks="May the first of two new steps see the second?",
    ),
    mistake(
        "gqa-no-mask-without-window",
        edit(MASK, f"{MASK} | (self.window is None and cache is None)"),
        forms=[[edit(MASK, f"{MASK} | (self.window is None)")]],
        says="a text without a window gets no mask, so later steps are visible",
        asks="May the first step see the second if there is no window?",
    ),
    mistake(
        "gqa-masked-after-softmax",
        edit("        scores = scores.masked_fill(~may_attend, torch.finfo(scores.dtype).min)\n", ""),
        edit("scores.softmax(-1) @ v", "(scores.softmax(-1) * may_attend) @ v"),
        says="the mask comes after the softmax, so the weights do not sum to one",
        asks="What is the sum of the weights of the first step?",
    ),
    mistake(
        "gqa-hidden-scores-zero",
        edit("scores.masked_fill(~may_attend, torch.finfo(scores.dtype).min)", "scores * may_attend"),
        says="hidden keys get the score zero",
        asks="What is the exponential of zero?",
    ),
    mistake(
        "gqa-empty-visible",
        edit(MASK, f"{MASK} | (k_positions < 0)"),
        says="empty places of the ring are visible",
        asks="Which position has an empty place, and who may see it?",
    ),
    mistake(
        "gqa-positions-from-zero",
        edit(BEGIN, "begin = 0"),
        forms=in_all_ways(edit(BEGIN, "begin = 0")),
        says="the positions of the queries begin at 0 in every call",
        asks="Which position has the first new step if four were seen before?",
    ),
    mistake(
        "gqa-total-after-append",
        edit(BEGIN, "begin = 0 if cache is None else cache.total + T"),
        forms=in_all_ways(edit(BEGIN, "begin = 0 if cache is None else cache.total + T")),
        says="the number of steps is read after the append, so queries are too far ahead",
        asks="Which position has the first new step if four were seen before?",
    ),
    mistake(
        "gqa-last-rows-are-new",
        edit(APPEND, LAST_ROWS),
        forms=in_all_ways(edit(APPEND, LAST_ROWS)),
        says="the last rows that the ring returns are taken for the new steps, but a ring may return its rows in any order",
        asks="Where do the positions of the queries come from if the ring returns its newest row first?",
    ),
    mistake(
        "gqa-places-for-positions",
        edit(
            APPEND,
            "k, v, _ = cache.append(k, v)\n            k_positions = torch.arange(begin + T - k.shape[2], begin + T, device=x.device)",
        ),
        forms=[
            [edit(APPEND, f"k, v, _ = cache.append(k, v)\n            {PLACES}")],
            *in_all_ways(edit(APPEND, f"k, v, _ = cache.append(k, v)\n            {PLACES}")),
            [
                edit(
                    APPEND,
                    f"k, v, _ = cache.append(k, v)\n            {PLACES}\n            q_positions = k_positions[-T:]",
                )
            ],
        ],
        says="the positions that the ring returns are not used",
        asks="At which position is the sink, and where does your mask think that it is?",
    ),
    mistake(
        "gqa-not-scaled",
        edit("q @ k.mT / math.sqrt(d)", "q @ k.mT"),
        says="scores are not divided by the square root of the size of a head",
        asks="How large are your scores if each head has 64 features?",
    ),
    mistake(
        "gqa-scaled-by-model",
        edit("math.sqrt(d)", "math.sqrt(x.shape[2])"),
        says="scores are divided by the root of the size of the model instead of a head",
        asks="Over how many products does one score sum?",
    ),
    mistake(
        "gqa-values-through-wk",
        edit("v = self.W_v(x)", "v = self.W_k(x)"),
        says="values are projected with W_k",
        asks="Which layer should the values go through?",
    ),
    mistake(
        "gqa-full-layers",
        edit(
            "self.W_k = nn.Linear(d_model, num_kv_heads * d, bias=False)",
            "self.W_k = nn.Linear(d_model, d_model, bias=False)",
        ),
        edit(
            "self.W_v = nn.Linear(d_model, num_kv_heads * d, bias=False)",
            "self.W_v = nn.Linear(d_model, d_model, bias=False)",
        ),
        edit("(self.num_kv_heads, d)", "(self.num_heads, d)", times=2),
        edit(REPEAT, "one"),
        forms=[
            [
                edit(
                    "self.W_k = nn.Linear(d_model, num_kv_heads * d, bias=False)",
                    "self.W_k = nn.Linear(d_model, d_model, bias=False)",
                ),
                edit(
                    "self.W_v = nn.Linear(d_model, num_kv_heads * d, bias=False)",
                    "self.W_v = nn.Linear(d_model, d_model, bias=False)",
                ),
                edit(
                    "unflatten(-1, (self.num_kv_heads, d))",
                    "unflatten(-1, (self.num_kv_heads, -1, d)).mean(3)",
                    times=2,
                ),
            ]
        ],
        says="the layers of the keys and values have as many heads as that of the queries",
        asks="How many outputs should W_k have?",
    ),
    mistake(
        "gqa-heads-from-view",
        edit("unflatten(-1, (self.num_heads, d)).transpose(1, 2)", "reshape(len(x), self.num_heads, T, d)"),
        edit(
            "unflatten(-1, (self.num_kv_heads, d)).transpose(1, 2)",
            "reshape(len(x), self.num_kv_heads, T, d)",
            times=2,
        ),
        says="heads and steps are mixed up when the heads are split",
        asks="Which axis does the split of the features make, and where should it go?",
    ),
    mistake(
        "gqa-heads-not-moved-back",
        edit("output.transpose(1, 2).flatten(2)", "output.reshape(x.shape)"),
        says="heads and steps are mixed up when the heads are joined",
        asks="Which axis must stand next to the features before they are joined?",
    ),
    mistake(
        "gqa-no-output-layer",
        edit("self.W_o(output.transpose(1, 2).flatten(2))", "output.transpose(1, 2).flatten(2)"),
        says="the result does not go through W_o",
        asks="What combines the results of the heads?",
    ),
    mistake(
        "gqa-any-sizes",
        edit("if d_model % num_heads or num_heads % num_kv_heads:", "if False:"),
        forms=[
            [edit("if d_model % num_heads or num_heads % num_kv_heads:", "if d_model % num_heads:")],
            [
                edit("if d_model % num_heads or num_heads % num_kv_heads:", "if False:"),
                edit(
                    "        d = d_model // num_heads\n",
                    "        assert d_model % num_heads == num_heads % num_kv_heads == 0\n        d = d_model // num_heads\n",
                ),
            ],
        ],
        says="sizes that do not fit raise no ValueError",
        asks="How many query heads share a key head if there are four and three?",
    ),
]
