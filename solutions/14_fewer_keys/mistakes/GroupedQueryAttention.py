"""Known mistakes in GroupedQueryAttention; their pages are in GroupedQueryAttention.md."""

from grader.authoring import edit, mistake

REPEAT = "repeat_kv(one, self.num_heads // self.num_kv_heads)"
MASK = "may_attend = window_mask(q_positions, k_positions, self.window, self.sinks)"
BEGIN = "begin = 0 if cache is None else cache.total"
APPEND = "k, v, k_positions = cache.append(k, v)"

MISTAKES = [
    mistake(
        "gqa-heads-tiled",
        edit(REPEAT, "one.repeat(1, self.num_heads // self.num_kv_heads, 1, 1)"),
        says="key heads are repeated as a whole: query heads that should share a key head do not",
        asks="Which key head does the second query head use?",
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
        says="with a ring there is no mask",
        asks="May the first of two new steps see the second?",
    ),
    mistake(
        "gqa-positions-from-zero",
        edit(BEGIN, "begin = 0"),
        says="the positions of the queries begin at 0 in every call",
        asks="Which position has the first new step if four were seen before?",
    ),
    mistake(
        "gqa-total-after-append",
        edit(BEGIN, "begin = 0 if cache is None else cache.total + T"),
        says="the number of steps is read after the append, so queries are too far ahead",
        asks="Which position has the first new step if four were seen before?",
    ),
    mistake(
        "gqa-places-for-positions",
        edit(
            APPEND,
            "k, v, _ = cache.append(k, v)\n            k_positions = torch.arange(begin + T - k.shape[2], begin + T, device=x.device)",
        ),
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
        says="there are as many key heads as query heads",
        asks="How many outputs should W_k have?",
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
        says="sizes that do not fit raise no ValueError",
        asks="How many query heads share a key head if there are four and three?",
    ),
]
