"""Known mistakes in CachedSelfAttention; their pages are in CachedSelfAttention.md."""

from grader.authoring import edit, mistake

POSITIONS = "positions = torch.arange(cache.length, cache.length + T, device=x.device)"
TURN_Q = "q = apply_rotary(q, positions, self.base)"
TURN_K = "k = apply_rotary(k, positions, self.base)"
SPLITTING = """
q, k, v = (layer(x).unflatten(-1, heads).transpose(1, 2) for layer in (self.W_q, self.W_k, self.W_v))
"""
SPLIT = "(self.W_q, self.W_k, self.W_v)"

MISTAKES = [
    mistake(
        "csa-positions-from-zero",
        edit(POSITIONS, "positions = torch.arange(T, device=x.device)"),
        says="positions begin at 0 in every call",
        asks="Which position has the first new step if four steps are stored?",
    ),
    mistake(
        "csa-positions-one-ahead",
        edit(
            POSITIONS,
            "begin = cache.length + 1 if cache.length else 0\n        positions = torch.arange(begin, begin + T, device=x.device)",
        ),
        says="after the first call, positions are one too many",
        asks="Which position has the first new step if four steps are stored?",
    ),
    mistake(
        "csa-positions-doubled",
        edit(POSITIONS, "positions = torch.arange(2 * cache.length, 2 * cache.length + T, device=x.device)"),
        says="the number of stored steps is added to the positions twice",
        asks="Which position has the first new step if four steps are stored?",
    ),
    mistake(
        "csa-positions-of-last",
        edit(POSITIONS, "positions = torch.full((T,), cache.length, device=x.device)"),
        says="all new steps of a call have the same position",
        asks="Which positions have two new steps if four are stored?",
    ),
    mistake(
        "csa-only-queries",
        edit(TURN_K, "pass"),
        says="only the queries are turned",
        asks="What is left of the two positions if just one of the two vectors is turned?",
    ),
    mistake(
        "csa-only-keys",
        edit(TURN_Q, "pass"),
        says="only the keys are turned",
        asks="What is left of the two positions if just one of the two vectors is turned?",
    ),
    mistake(
        "csa-queries-from-zero",
        edit(TURN_Q, "q = apply_rotary(q, positions - positions[0], self.base)"),
        says="the positions of the queries begin at 0 in every call, those of the keys do not",
        asks="Which position has the query of the first new step if four steps are stored?",
    ),
    mistake(
        "csa-not-turned",
        edit(TURN_Q, "pass"),
        edit(TURN_K, "pass"),
        says="nothing is turned, so the module knows no positions",
        asks="Where does your module use the positions?",
    ),
    mistake(
        "csa-values-turned",
        edit(TURN_K, f"{TURN_K}\n        v = apply_rotary(v, positions, self.base)"),
        says="values are turned, too",
        asks="Which two of queries, keys and values meet in a product of which only the distance should be left?",
    ),
    mistake(
        "csa-base-not-passed",
        edit("positions, self.base)", "positions)", times=2),
        says="the base is not passed on",
        asks="Which base do your angles have if the constructor got 500?",
    ),
    mistake(
        "csa-cache-ignored",
        edit("cache = KVCache(T) if cache is None else cache", "cache = KVCache(T)"),
        says="the cache that was passed is not used",
        asks="Which earlier steps does the second call see?",
    ),
    mistake(
        "csa-own-cache-kept",
        edit(
            "cache = KVCache(T) if cache is None else cache",
            "self.kept = getattr(self, 'kept', None) or KVCache(1000)\n        cache = self.kept if cache is None else cache",
        ),
        says="a call without a cache continues the call before",
        asks="What should a second call without a cache see of the first one?",
    ),
    mistake(
        "csa-values-through-wk",
        edit(SPLIT, "(self.W_q, self.W_k, self.W_k)"),
        says="values are projected with W_k",
        asks="Which layer should the values go through?",
    ),
    mistake(
        "csa-keys-through-wq",
        edit(SPLIT, "(self.W_q, self.W_q, self.W_v)"),
        says="keys are projected with W_q",
        asks="Which layer should the keys go through?",
    ),
    mistake(
        "csa-no-output-layer",
        edit("self.W_o(output.transpose(1, 2).flatten(2))", "output.transpose(1, 2).flatten(2)"),
        says="the result does not go through W_o",
        asks="What combines the results of the heads?",
    ),
    mistake(
        "csa-heads-not-moved-back",
        edit("output.transpose(1, 2).flatten(2)", "output.reshape(x.shape)"),
        says="heads and steps are mixed up when the heads are joined",
        asks="Which axis must stand next to the features before they are joined?",
    ),
    mistake(
        "csa-any-heads",
        edit("if d_model % num_heads or d_model // num_heads % 2:", "if False:"),
        says="sizes that do not fit raise no ValueError",
        asks="How many features would each head have if four heads share ten features?",
    ),
    mistake(
        "csa-queries-after-append",
        edit(TURN_Q, "q = apply_rotary(q, positions + T, self.base)"),
        says="queries are turned at positions that are read after the append",
        asks="Which position has the query of the first new step if four steps are stored?",
    ),
    mistake(
        "csa-positions-one-behind",
        edit(
            POSITIONS,
            "begin = max(cache.length - 1, 0)\n        positions = torch.arange(begin, begin + T, device=x.device)",
        ),
        says="after the first call, positions are one too few",
        asks="Which position has the first new step if four steps are stored?",
    ),
    mistake(
        "csa-inputs-stored",
        edit(
            "cache = KVCache(T) if cache is None else cache",
            "if cache is not None:\n            text = cache.append(x[:, None], x[:, None])[0][:, 0]\n"
            "            return self.forward(text)[:, -T:]\n        cache = KVCache(T)",
        ),
        says="the cache holds the inputs, and every step projects all of them again",
        asks="How many rows go through W_k when one step is new and a hundred are stored?",
    ),
    mistake(
        "csa-no-mask-without-cache",
        edit(
            "cache = KVCache(T) if cache is None else cache",
            "alone = cache is None\n        cache = cache or KVCache(T)",
        ),
        edit(
            "output = cached_attention(q, k, v, cache)",
            "output = nn.functional.scaled_dot_product_attention(q, k, v) if alone else cached_attention(q, k, v, cache)",
        ),
        says="without a cache there is no mask: each step sees later ones",
        asks="Which steps may the first step see if the whole text comes in one call?",
    ),
    mistake(
        "csa-turned-before-split",
        edit(
            SPLITTING,
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
]
