"""Known mistakes in LanguageModelBlock; their pages are in LanguageModelBlock.md."""

from grader.authoring import edit, mistake

POSITIONS = "positions = torch.arange(before, before + T, device=x.device)"
BEFORE = "before = 0 if cache is None else cache.length"
TURN_Q = "q = apply_rotary(q, positions)"
TURN_K = "k = apply_rotary(k, positions)"
W_Q, W_K, W_V = (f'self.attention["W_{of}"]' for of in "qkv")
LAYERS = f"({W_Q}, {W_K}, {W_V})"
APPEND = "        if cache is not None:\n            k, v = cache.append(k, v)  # (B, H_kv, S, d) each\n"
REPEAT = "k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)"
MASK = "may_attend = torch.ones(T, k.shape[2], dtype=torch.bool, device=x.device).tril(before)"
OUTPUT = "output = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=may_attend)"
JOINED = 'return self.attention["W_o"](output.transpose(1, 2).flatten(2))'
ATTEND = "x = x + self.attend(self.norm1(x), cache)"
FEED = "return x + self.ffn(self.norm2(x))"
HALVES = "{0} = {0}.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)\n        "
HALVES_BACK = "\n        {0} = {0}.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)"
NORM2 = "self.norm2 = RMSNorm(d_model)"
FFN = "self.ffn = SwiGLU(d_model, 8 * d_model // 3)"

MISTAKES = [
    # ---- the block
    mistake(
        "lmb-post-norm",
        edit(ATTEND, "x = self.norm1(x + self.attend(x, cache))"),
        edit(FEED, "return self.norm2(x + self.ffn(x))"),
        says="the norms come after the sums, as in the first Transformer",
        asks="What does your block return if all output layers are zero?",
        kind="different",
    ),
    mistake(
        "lmb-norm-of-results",
        edit(ATTEND, "x = x + self.norm1(self.attend(x, cache))"),
        edit(FEED, "return x + self.norm2(self.ffn(x))"),
        says="the results are normalised instead of the inputs",
        asks="What does the attention read: x, or its norm?",
        kind="different",
    ),
    mistake(
        "lmb-residual-of-norm",
        edit(ATTEND, "x = self.norm1(x)\n        x = x + self.attend(x, cache)"),
        edit(FEED, "x = self.norm2(x)\n        return x + self.ffn(x)"),
        says="results are added to the normalised x instead of x itself",
        asks="What does your block return if all output layers are zero?",
    ),
    mistake(
        "lmb-first-residual-of-norm",
        edit(ATTEND, "x = self.norm1(x)\n        x = x + self.attend(x, cache)"),
        says="the result of the attention is added to the normalised x instead of x itself",
        asks="What does your block return if all output layers are zero?",
    ),
    mistake(
        "lmb-second-residual-of-norm",
        edit(FEED, "x = self.norm2(x)\n        return x + self.ffn(x)"),
        says="the result of the feed-forward network is added to the normalised x instead of x itself",
        asks="What does your block return if all output layers are zero?",
    ),
    mistake(
        "lmb-no-residual",
        edit(ATTEND, "x = self.attend(self.norm1(x), cache)"),
        edit(FEED, "return self.ffn(self.norm2(x))"),
        says="nothing is added to x: both results replace it",
        asks="What does your block return if all output layers are zero?",
    ),
    mistake(
        "lmb-no-first-residual",
        edit(ATTEND, "x = self.attend(self.norm1(x), cache)"),
        says="the result of the attention replaces x instead of being added to it",
        asks="What does your block return if all output layers are zero?",
    ),
    mistake(
        "lmb-no-second-residual",
        edit(FEED, "return self.ffn(self.norm2(x))"),
        says="the result of the feed-forward network replaces x instead of being added to it",
        asks="What does your block return if all output layers are zero?",
    ),
    mistake(
        "lmb-parallel",
        edit(ATTEND, "attended = self.attend(self.norm1(x), cache)"),
        edit(FEED, "return x + attended + self.ffn(self.norm2(x))"),
        says="attention and feed-forward network read the same x, side by side",
        asks="Does your feed-forward network see what the attention found?",
        kind="different",
    ),
    mistake(
        "lmb-second-reads-first-input",
        edit(ATTEND, "begin = x\n        x = x + self.attend(self.norm1(x), cache)"),
        edit(FEED, "return begin + self.ffn(self.norm2(x))"),
        says="the feed-forward network's result is added to the x that came in, so that of the attention is lost on the way",
        asks="Where does the result of the attention go?",
    ),
    mistake(
        "lmb-one-norm-twice",
        edit("self.ffn(self.norm2(x))", "self.ffn(self.norm1(x))"),
        says="both parts use the first norm",
        asks="Which gradient does the weight of the second norm get?",
    ),
    mistake(
        "lmb-norms-exchanged",
        edit("self.attend(self.norm1(x), cache)", "self.attend(self.norm2(x), cache)"),
        edit("self.ffn(self.norm2(x))", "self.ffn(self.norm1(x))"),
        says="the two norms are exchanged",
        asks="Which norm comes before the attention?",
    ),
    mistake(
        "lmb-norm-shared",
        edit(NORM2, "self.norm2 = self.norm1"),
        says="the two norms are one module with one weight",
        asks="How many parameters do two norms have?",
    ),
    mistake(
        "lmb-no-first-norm",
        edit("self.attend(self.norm1(x), cache)", "self.attend(x, cache)"),
        says="the attention gets x without its norm",
        asks="Which gradient does the weight of the first norm get?",
    ),
    mistake(
        "lmb-no-second-norm",
        edit("self.ffn(self.norm2(x))", "self.ffn(x)"),
        says="the feed-forward network gets x without its norm",
        asks="Which gradient does the weight of the second norm get?",
    ),
    mistake(
        "lmb-layer-norm",
        edit("self.norm1 = RMSNorm(d_model)", "self.norm1 = nn.LayerNorm(d_model, bias=False)"),
        edit(NORM2, "self.norm2 = nn.LayerNorm(d_model, bias=False)"),
        forms=[
            [
                edit("self.norm1 = RMSNorm(d_model)", "self.norm1 = nn.LayerNorm(d_model)"),
                edit(NORM2, "self.norm2 = nn.LayerNorm(d_model)"),
            ]
        ],
        says="the norms are LayerNorm, which subtracts the mean",
        asks="Which norm did you write for this block?",
        kind="different",
    ),
    mistake(
        "lmb-feed-forward-first",
        edit(ATTEND, "x = x + self.ffn(self.norm2(x))"),
        edit(FEED, "return x + self.attend(self.norm1(x), cache)"),
        says="the feed-forward network comes before the attention",
        asks="Which of the two parts comes first?",
    ),
    mistake(
        "lmb-in-place",
        edit(
            ATTEND,
            "y = self.attend(self.norm1(x), cache)\n        x.data += y.detach()\n        x = x + (y - y.detach())",
        ),
        forms=[
            [edit(ATTEND, "x += self.attend(self.norm1(x), cache)")],
            [
                edit(ATTEND, "x += self.attend(self.norm1(x), cache)"),
                edit(FEED, "x += self.ffn(self.norm2(x))\n        return x"),
            ],
        ],
        says="the input is overwritten",
        asks="Who else needs the x that your block got?",
    ),
    mistake(
        "lmb-other-hidden",
        edit("8 * d_model // 3", "4 * d_model"),
        says="the feed-forward network is four times as wide as the model",
        asks="How many parameters has a network of two layers with 4·D features inside, and how many has yours?",
        kind="different",
    ),
    mistake(
        "lmb-hidden-of-two-thirds",
        edit("8 * d_model // 3", "2 * d_model // 3"),
        says="the feed-forward network is narrower than the model",
        asks="How many features does the feed-forward network have inside if the model has 24?",
    ),
    mistake(
        "lmb-ffn-gelu",
        edit(
            FFN,
            "self.ffn = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))",
        ),
        says="the feed-forward network has no gate",
        asks="Which feed-forward network did you write for this block?",
        kind="different",
    ),
    # ---- cache and positions
    mistake(
        "lmb-cache-not-passed",
        edit("self.attend(self.norm1(x), cache)", "self.attend(self.norm1(x))"),
        says="the cache is not passed to the attention",
        asks="Which earlier steps does the second call see?",
    ),
    mistake(
        "lmb-positions-from-zero",
        edit(POSITIONS, "positions = torch.arange(T, device=x.device)"),
        says="positions begin at 0 in every call",
        asks="Which position has the first new step if four steps are stored?",
    ),
    mistake(
        "lmb-positions-doubled",
        edit(POSITIONS, "positions = torch.arange(2 * before, 2 * before + T, device=x.device)"),
        says="the number of stored steps is added to the positions twice",
        asks="Which position has the first new step if four steps are stored?",
    ),
    mistake(
        "lmb-positions-one-ahead",
        edit(POSITIONS, "positions = torch.arange(before, before + T, device=x.device) + (before > 0)"),
        says="after the first call, positions are one too many",
        asks="Which position has the first new step if four steps are stored?",
    ),
    mistake(
        "lmb-positions-one-behind",
        edit(POSITIONS, "positions = torch.arange(before, before + T, device=x.device) - (before > 0)"),
        says="after the first call, positions are one too few",
        asks="Which position has the first new step if four steps are stored?",
    ),
    mistake(
        "lmb-positions-of-first",
        edit(POSITIONS, "positions = torch.full((T,), before, device=x.device)"),
        says="all new steps of a call have the same position",
        asks="Which positions have two new steps if four are stored?",
    ),
    mistake(
        "lmb-queries-from-zero",
        edit(TURN_Q, "q = apply_rotary(q, positions - before)"),
        says="the positions of the queries begin at 0 in every call, those of the keys do not",
        asks="Which position has the query of the first new step if four steps are stored?",
    ),
    mistake(
        "lmb-queries-after-append",
        edit(TURN_Q, "q = apply_rotary(q, positions if cache is None else positions + T)"),
        says="with a cache, the queries are turned at positions that are read after the append",
        asks="Which position has the query of the first new step if four steps are stored?",
    ),
    mistake(
        "lmb-only-queries-turned",
        edit(TURN_K, "pass"),
        says="only the queries are turned",
        asks="What is left of the two positions if just one of the two vectors is turned?",
    ),
    mistake(
        "lmb-only-keys-turned",
        edit(TURN_Q, "pass"),
        says="only the keys are turned",
        asks="What is left of the two positions if just one of the two vectors is turned?",
    ),
    mistake(
        "lmb-not-turned",
        edit(TURN_Q, "pass"),
        edit(TURN_K, "pass"),
        says="nothing is turned, so the block knows no positions",
        asks="Where does your attention use the positions?",
    ),
    mistake(
        "lmb-values-turned",
        edit(TURN_K, TURN_K + "\n        v = apply_rotary(v, positions)"),
        says="values are turned, too",
        asks="Which two of queries, keys and values meet in a product of which only the distance should be left?",
    ),
    mistake(
        "lmb-halves",
        edit(TURN_Q, HALVES.format("q") + TURN_Q + HALVES_BACK.format("q")),
        edit(TURN_K, HALVES.format("k") + TURN_K + HALVES_BACK.format("k")),
        says="pairs are made of the two halves of a head instead of neighbours",
        asks="Which feature is turned together with feature 0?",
        kind="different",
    ),
    mistake(
        "lmb-turned-before-split",
        edit(
            "q, k, v = (layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2) for layer in layers)",
            "q, k, v = (layer(x) for layer in layers)\n"
            "        q, k = (apply_rotary(one[:, None], positions)[:, 0] for one in (q, k))\n"
            "        q, k, v = (one.unflatten(-1, (-1, self.d)).transpose(1, 2) for one in (q, k, v))",
        ),
        edit(TURN_Q, "pass"),
        edit(TURN_K, "pass"),
        says="queries and keys are turned before they are split into heads, so the heads turn at different speeds",
        asks="How many pairs has one head, and how fast should its first pair turn?",
    ),
    mistake(
        "lmb-turned-on-heads",
        edit(
            TURN_Q,
            "q = apply_rotary(q.transpose(1, 2), torch.arange(q.shape[1], device=x.device)).transpose(1, 2)",
        ),
        edit(
            TURN_K,
            "k = apply_rotary(k.transpose(1, 2), torch.arange(k.shape[1], device=x.device)).transpose(1, 2)",
        ),
        says="the angle grows with the number of the head instead of the step",
        asks="Which axis of the queries has the steps?",
    ),
    # ---- heads
    mistake(
        "lmb-heads-tiled",
        edit(REPEAT, "k, v = k.repeat(1, self.n_rep, 1, 1), v.repeat(1, self.n_rep, 1, 1)"),
        says="key heads are repeated as a whole: query heads that should share a key head do not",
        asks="Which key head does the second query head use?",
    ),
    mistake(
        "lmb-group-size",
        edit(REPEAT, "k, v = (repeat_kv(one, one.shape[1])[:, : q.shape[1]] for one in (k, v))"),
        says="each key head is repeated once per key head instead of once per query head of its group",
        asks="How many query heads share a key head if there are six and three?",
    ),
    mistake(
        "lmb-keys-not-values",
        edit(REPEAT, "k, v = repeat_kv(k, self.n_rep), v.repeat(1, self.n_rep, 1, 1)"),
        says="keys are repeated head by head, values as a whole",
        asks="Which key head and which value head does the second query head use?",
    ),
    mistake(
        "lmb-full-layers",
        edit(
            "nn.Linear(d_model, num_kv_heads * self.d, bias=False)",
            "nn.Linear(d_model, d_model, bias=False)",
            times=2,
        ),
        edit(REPEAT, "pass"),
        says="there are as many key heads as query heads",
        asks="How many outputs should W_k have?",
    ),
    mistake(
        "lmb-cache-of-copies",
        edit(APPEND, ""),
        edit(REPEAT + "  # (B, H, S, d) each\n", REPEAT + "\n" + APPEND),
        says="the cache stores the copies of the key heads",
        asks="How many heads does the cache hold if there are six query heads and three key heads?",
    ),
    mistake(
        "lmb-appended-twice",
        edit(
            "k, v = cache.append(k, v)",
            "cache.append(k, v)\n            k, v = (torch.cat([a[:, :, :before], b], dim=2) for a, b in zip(cache.append(k, v), (k, v)))",
        ),
        says="the new steps are appended twice",
        asks="What is the length of the cache after four new steps?",
    ),
    mistake(
        "lmb-not-appended",
        edit("k, v = cache.append(k, v)", "pass"),
        edit(MASK, "may_attend = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()"),
        says="nothing is appended to the cache, so every call begins anew",
        asks="Which earlier steps does the second call see?",
    ),
    # ---- mask
    mistake(
        "lmb-no-mask",
        edit(", attn_mask=may_attend)", ")"),
        says="there is no mask: each step sees later ones",
        asks="Which steps may the first step see?",
    ),
    mistake(
        "lmb-no-mask-with-cache",
        edit(", attn_mask=may_attend)", ", attn_mask=may_attend if cache is None else None)"),
        says="with a cache there is no mask, not even for the first piece: a step sees later ones",
        asks="May the first of two new steps see the second?",
    ),
    mistake(
        "lmb-no-mask-without-cache",
        edit(", attn_mask=may_attend)", ", attn_mask=None if cache is None else may_attend)"),
        says="without a cache there is no mask: each step sees later ones",
        asks="Which steps may the first step see if the whole text comes in one call?",
    ),
    mistake(
        "lmb-mask-upper-left",
        edit(".tril(before)", ".tril()"),
        says="the mask is aligned at the upper left corner, so a new step sees the oldest steps only",
        asks="Which keys does a single new step see if four are stored?",
    ),
    mistake(
        "lmb-mask-without-itself",
        edit(".tril(before)", ".tril(before - 1)"),
        edit(OUTPUT, "may_attend[:, 0] = True\n        " + OUTPUT),
        says="a step does not see itself",
        asks="Which keys does the second step see?",
    ),
    mistake(
        "lmb-mask-one-ahead",
        edit(".tril(before)", ".tril(before + 1)"),
        says="each step sees one step too many, the next one",
        asks="Which keys does the first step see?",
    ),
    # ---- attention
    mistake(
        "lmb-not-scaled",
        edit("attn_mask=may_attend)", "attn_mask=may_attend, scale=1.0)"),
        says="scores are not divided by the square root of the size of a head",
        asks="How large are your scores if each head has 64 features?",
    ),
    mistake(
        "lmb-scaled-by-model",
        edit("attn_mask=may_attend)", "attn_mask=may_attend, scale=x.shape[-1] ** -0.5)"),
        says="scores are divided by the root of the size of the model instead of a head",
        asks="Over how many products does one score sum?",
    ),
    mistake(
        "lmb-values-through-wk",
        edit(LAYERS, f"({W_Q}, {W_K}, {W_K})"),
        says="values are projected with W_k",
        asks="Which layer should the values go through?",
    ),
    mistake(
        "lmb-keys-and-values-exchanged",
        edit(LAYERS, f"({W_Q}, {W_V}, {W_K})"),
        says="keys go through W_v and values through W_k",
        asks="Which layer should the keys go through?",
    ),
    mistake(
        "lmb-no-output-layer",
        edit(JOINED, "return output.transpose(1, 2).flatten(2)"),
        says="the result of the attention does not go through W_o",
        asks="What combines the results of the heads?",
    ),
    mistake(
        "lmb-heads-not-moved-back",
        edit("output.transpose(1, 2).flatten(2)", "output.reshape(x.shape)"),
        says="heads and steps are mixed up when the heads are joined",
        asks="Which axis must stand next to the features before they are joined?",
    ),
    mistake(
        "lmb-split-by-view",
        edit(
            "layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)",
            "layer(x).reshape(len(x), -1, T, self.d)",
        ),
        says="heads and steps are mixed up when the heads are split",
        asks="Which features of a step belong to its first head?",
    ),
    mistake(
        "lmb-query-key-norm",
        edit(
            TURN_Q,
            "q, k = (nn.functional.rms_norm(one, (self.d,), eps=1e-5) for one in (q, k))\n        " + TURN_Q,
        ),
        says="queries and keys are normalised before they meet",
        asks="Which vectors of this block are normalised?",
        kind="different",
    ),
    mistake(
        "lmb-with-bias",
        edit(", bias=False)", ")", times=4),
        says="the layers of the attention have a bias",
        asks="How many parameters do four matrices have?",
    ),
    mistake(
        "lmb-any-sizes",
        edit("if d_model % num_heads or num_heads % num_kv_heads or d_model // num_heads % 2:", "if False:"),
        says="sizes that do not fit raise no ValueError",
        asks="How many query heads share a key head if there are four and three?",
    ),
    mistake(
        "lmb-no-mask-on-filled-cache",
        edit(", attn_mask=may_attend)", ", attn_mask=None if before else may_attend)"),
        says="once something is cached there is no mask: a step sees later ones of its piece",
        asks="May the first of two new steps see the second?",
    ),
    mistake(
        "lmb-length-after-append",
        edit(TURN_Q, TURN_Q.replace("positions)", "positions if cache is None else positions + T)")),
        edit(".tril(before)", ".tril(before if cache is None else before + T)"),
        says="the length of the cache is read after the append: queries are turned too far, and see later steps",
        asks="What is the length of the cache before and after four steps are appended?",
    ),
    mistake(
        "lmb-counts-calls",
        edit(
            POSITIONS,
            "calls = getattr(cache, 'calls', 0)\n"
            "        if cache is not None:\n            cache.calls = calls + 1\n"
            "        positions = torch.arange(calls, calls + T, device=x.device)",
        ),
        says="positions grow by one with each call instead of with each step",
        asks="Which position has the first new step after one call with four steps?",
    ),
    mistake(
        "lmb-hidden-rounded",
        edit("8 * d_model // 3", "(8 * d_model // 3 + 63) // 64 * 64"),
        says="the width of the feed-forward network is rounded up to a multiple of 64",
        asks="How many features does the feed-forward network have inside if the model has 20?",
        kind="different",
    ),
    mistake(
        "lmb-hidden-floored-first",
        edit("8 * d_model // 3", "8 * (d_model // 3)"),
        says="the division by 3 is rounded before the product with 8, so some widths are too small",
        asks="How many features does the feed-forward network have inside if the model has 20?",
    ),
]
