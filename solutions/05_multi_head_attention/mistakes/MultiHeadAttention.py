"""Known mistakes in MultiHeadAttention; their pages are in MultiHeadAttention.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

ATTENTION = "heads = self.attention(queries, keys, values, valid_lens)"
SCORES = "scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])"

KEEP_ARGUMENTS = edit(
    "queries = transpose_qkv(",
    """
    asked = queries, keys
    queries = transpose_qkv(
    """,
)


def with_scores(change="scores = scores", values_with="self.attention.dropout(weights)"):
    """Return an edit that writes the attention out.

    `change`: a statement that changes `scores`. `values_with`: what the values are multiplied with.
    """
    return edit(
        ATTENTION,
        f"""
        from grader.given import masked_softmax
        {SCORES}
        {change}
        self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
        heads = torch.bmm({values_with}, values)
        """,
    )


def with_weights(weights):
    """Return an edit that writes the attention out. `weights` is an expression of `scores` and of `hidden`.

    `hidden` is true at padded keys.
    """
    return edit(
        ATTENTION,
        f"""
        {SCORES}
        hidden = torch.zeros_like(scores, dtype=torch.bool)
        if valid_lens is not None:
            hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
        self.attention.attention_weights = weights = {weights}
        heads = torch.bmm(self.attention.dropout(weights), values)
        """,
    )


# Scores and weights as many files compute them: rows of the scores are masked through an index.
BY_INDEX = edit(
    ATTENTION,
    """
    scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
    rows = scores.reshape(-1, scores.shape[-1]) * 1
    if valid_lens is not None:
        lens = valid_lens.repeat_interleave(scores.shape[1]) if valid_lens.dim() == 1 else valid_lens.reshape(-1)
        rows[torch.arange(rows.shape[1])[None] >= lens[:, None]] = -1e6
    self.attention.attention_weights = weights = rows.reshape(scores.shape).softmax(dim=-1)
    heads = torch.bmm(self.attention.dropout(weights), values)
    """,
)
# Heads on an axis of their own: scores (B, H, T, S), mask (B, 1, T or 1, S).
FOUR_AXES = """
    q, k, v = (x.unflatten(0, (-1, self.num_heads)) for x in (queries, keys, values))
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    if valid_lens is not None:
        lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
        mask = (torch.arange(k.shape[2]) >= lens[:, :, None])[:, None]
        scores = scores.masked_fill(mask, -1e6)
    weights = scores.softmax(dim=-1)
    self.attention.attention_weights = weights.flatten(0, 1)
    heads = (self.attention.dropout(weights) @ v).flatten(0, 1)
"""


def four_axes(old, new):
    """Return edits that compute with the heads on an axis of their own, with one change in this code."""
    return [
        edit(
            "        if valid_lens is not None:\n            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "",
        ),
        edit(ATTENTION, FOUR_AXES.replace(old, new)),
    ]


MISTAKES = [
    mistake(
        "mha-keys-through-wq",
        edit("self.W_k(keys)", "self.W_q(keys)"),
        says="your keys are projected with W_q",
        asks="Each role has its own layer. Which of your four layers is not used in forward?",
    ),
    mistake(
        "mha-values-through-wq",
        edit("self.W_v(values)", "self.W_q(values)"),
        says="your values are projected with W_q",
        asks="Each role has its own layer. Which tensors do you project with the same layer?",
    ),
    mistake(
        "mha-keys-and-values-through-wq",
        edit("self.W_k(keys)", "self.W_q(keys)"),
        edit("self.W_v(values)", "self.W_q(values)"),
        says="your keys and your values are both projected with W_q",
        asks="Compare your three projections line by line. What should differ between them?",
        seen="a published course notebook: three lines copied, and only the left-hand sides changed",
    ),
    mistake(
        "mha-values-through-wk",
        edit("self.W_v(values)", "self.W_k(values)"),
        says="your values are projected with W_k",
        asks="Which layer should determine what a key contributes to the result?",
    ),
    mistake(
        "mha-queries-through-wk",
        edit("self.W_q(queries)", "self.W_k(queries)"),
        says="your queries are projected with W_k",
        asks="After a backward pass, which of the layers has no gradient?",
    ),
    mistake(
        "mha-keys-through-wv",
        edit("self.W_k(keys)", "self.W_v(keys)"),
        says="your keys are projected with W_v",
        asks="Which layer should compute the vectors that the queries are compared with?",
    ),
    mistake(
        "mha-queries-through-wv",
        edit("self.W_q(queries)", "self.W_v(queries)"),
        says="your queries are projected with W_v",
        asks="Follow the queries from the first line on. Which layer do they pass through first?",
    ),
    mistake(
        "mha-keys-and-values-exchanged-layers",
        edit("self.W_k(keys)", "self.W_v(keys)"),
        edit("self.W_v(values)", "self.W_k(values)"),
        says="the layers for keys and values are swapped",
        asks="All four layers learn. But does each layer get the tensor that its name says?",
    ),
    mistake(
        "mha-queries-and-keys-exchanged-layers",
        edit("self.W_q(queries)", "self.W_k(queries)"),
        edit("self.W_k(keys)", "self.W_q(keys)"),
        says="the layers for queries and keys are swapped",
        asks="Queries and keys have different sizes. Which layer must take which size?",
        kind="different",
    ),
    mistake(
        "mha-sizes-exchanged",
        edit("W_q = nn.Linear(query_size", "W_q = nn.Linear(key_size"),
        edit("W_k = nn.Linear(key_size", "W_k = nn.Linear(query_size"),
        says="the layers for queries and keys are created with each other's input size",
        asks="Which size does the input of each layer have?",
    ),
    mistake(
        "mha-square-projections",
        edit("nn.Linear(query_size", "nn.Linear(num_hiddens"),
        edit("nn.Linear(key_size", "nn.Linear(num_hiddens"),
        edit("nn.Linear(value_size", "nn.Linear(num_hiddens"),
        says="every layer takes num_hiddens features, whatever input sizes are passed",
        asks="Your constructor gets three input sizes. Where do you use them?",
    ),
    mistake(
        "mha-one-layer-under-three-names",
        edit("self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)", "self.W_k = self.W_q"),
        edit("self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)", "self.W_v = self.W_q"),
        says="queries, keys and values share a single layer with three names",
        asks="How many different matrices does your module have, and how many roles are there?",
    ),
    mistake(
        "mha-values-read-from-keys",
        KEEP_ARGUMENTS,
        edit("self.W_v(values)", "self.W_v(asked[1])"),
        says="the value layer projects the keys instead of the values",
        asks="What happens to your result when only the values that you pass in change?",
    ),
    mistake(
        "mha-projected-keys-as-values",
        KEEP_ARGUMENTS,
        edit("self.W_v(values)", "self.W_k(asked[1])"),
        says="the projected keys are used as values",
        asks="Change only the values that you pass in. Does the result change?",
    ),
    mistake(
        "mha-values-read-from-queries",
        edit(
            "queries = transpose_qkv(self.W_q(queries)",
            "asked, queries = queries, transpose_qkv(self.W_q(queries)",
        ),
        edit("self.W_v(values)", "self.W_v(asked)"),
        says="the value layer projects the queries instead of the values",
        asks="What happens to your result when only the values that you pass in change?",
    ),
    mistake(
        "mha-projected-queries-as-values",
        edit(
            "self.attention(queries, keys, values, valid_lens)",
            "self.attention(queries, keys, queries, valid_lens)",
        ),
        says="the projected queries are used as values",
        asks="Change only the values that you pass in. Does the result change?",
    ),
    mistake(
        "mha-keys-read-from-values",
        edit("self.W_k(keys)", "self.W_k(values)"),
        says="the key layer projects the values instead of the keys",
        asks="What happens to your result when only the keys that you pass in change?",
    ),
    mistake(
        "mha-only-the-queries-are-read",
        KEEP_ARGUMENTS,
        edit("self.W_k(keys)", "self.W_k(asked[0])"),
        edit("self.W_v(values)", "self.W_v(asked[0])"),
        says="all three projections use the queries: the keys and values have no effect",
        asks="For which inputs is your module right, and are all inputs like that?",
    ),
    mistake(
        "mha-relu-on-projections",
        edit("self.W_q(queries)", "torch.relu(self.W_q(queries))"),
        edit("self.W_k(keys)", "torch.relu(self.W_k(keys))"),
        edit("self.W_v(values)", "torch.relu(self.W_v(values))"),
        says="a ReLU is applied after each of the three projections",
        asks="Which scores are impossible for two vectors without negative elements?",
        kind="different",
    ),
    mistake(
        "mha-no-output-layer",
        edit("self.W_o(transpose_output(heads, self.num_heads))", "transpose_output(heads, self.num_heads)"),
        says="the output layer is created but not used: the concatenated heads are returned directly",
        asks="Which layer combines the results of different heads?",
    ),
    mistake(
        "mha-output-layer-not-built",
        edit("self.W_o(transpose_output(heads, self.num_heads))", "transpose_output(heads, self.num_heads)"),
        edit("        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)\n", ""),
        says="there is no output layer: the concatenated heads are returned directly",
        asks=(
            "Count the layers in the formula of the lesson, then those in your constructor. Which one is "
            "missing?"
        ),
    ),
    mistake(
        "mha-output-layer-made-per-call",
        edit("        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)\n", ""),
        edit(
            "return self.W_o(",
            "return nn.Linear(values.shape[-1] * self.num_heads, values.shape[-1] * self.num_heads, bias=False, dtype=values.dtype)(",
        ),
        says="the output layer is created with new random weights at every call",
        asks="Call your module twice on the same input in evaluation mode. Why do the results differ?",
    ),
    mistake(
        "mha-output-layer-twice",
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "self.W_o(self.W_o(transpose_output(heads, self.num_heads)))",
        ),
        says="the output layer is applied twice",
        asks="How often does the result pass through the last layer?",
    ),
    mistake(
        "mha-bias-always-on",
        edit(", bias=bias)", ")", times=4),
        says="every layer has a bias, even without bias=True",
        asks="Which default does a linear layer use for its bias?",
        kind="different",
    ),
    mistake(
        "mha-bias-always-off",
        edit("bias=bias", "bias=False", times=4),
        says="no layer has a bias, even when one is requested",
        asks="Build your module with a bias and count its parameters. Which line ignores the argument?",
    ),
    mistake(
        "mha-output-bias-missing",
        edit(
            "nn.Linear(num_hiddens, num_hiddens, bias=bias)",
            "nn.Linear(num_hiddens, num_hiddens, bias=False)",
        ),
        says="the first three layers follow the argument bias, but the output layer does not",
        asks="For how many of the four layers does the argument bias hold?",
    ),
    mistake(
        "mha-input-biases-missing",
        edit(
            "nn.Linear(query_size, num_hiddens, bias=bias)",
            "nn.Linear(query_size, num_hiddens, bias=False)",
        ),
        edit("nn.Linear(key_size, num_hiddens, bias=bias)", "nn.Linear(key_size, num_hiddens, bias=False)"),
        edit(
            "nn.Linear(value_size, num_hiddens, bias=bias)",
            "nn.Linear(value_size, num_hiddens, bias=False)",
        ),
        says="the output layer follows the argument bias, but the first three layers do not",
        asks="For how many of the four layers does the argument bias hold?",
    ),
    mistake(
        "mha-no-scaling",
        with_scores("scores = scores * math.sqrt(queries.shape[-1])"),
        says="the scores are not scaled",
        asks=(
            "How large is a dot product of two long random vectors, and which weights does a softmax "
            "compute from large scores?"
        ),
    ),
    mistake(
        "mha-scaled-up",
        with_scores("scores = scores * queries.shape[-1]"),
        says="the scores are multiplied by the scale instead of divided by it",
        asks="Should the scale make the scores of a wide head larger or smaller?",
    ),
    mistake(
        "mha-scaled-by-all-features",
        with_scores("scores = scores / math.sqrt(self.num_heads)"),
        says="the scores are scaled by the number of all features instead of the features of one head",
        asks="How many products are added up in one score of one head?",
    ),
    mistake(
        "mha-scaled-by-number-of-keys",
        with_scores("scores = scores * math.sqrt(queries.shape[-1] / keys.shape[1])"),
        says="the scores are scaled by the number of keys instead of the size of a head",
        asks="Does your scale change when a sentence gets longer, and should it?",
    ),
    mistake(
        "mha-scaled-by-number-of-queries",
        with_scores("scores = scores * math.sqrt(queries.shape[-1] / queries.shape[1])"),
        says="the scores are scaled by the number of queries instead of the size of a head",
        asks="Should the answer to one query depend on the number of other queries?",
    ),
    mistake(
        "mha-scaled-twice",
        with_scores("scores = scores / math.sqrt(queries.shape[-1])"),
        says="the scores are scaled twice",
        asks="Which blocks that you call already scale the scores?",
    ),
    mistake(
        "mha-scores-capped",
        with_scores("scores = torch.tanh(scores)"),
        says="the scores are limited to the range from minus one to one before the softmax",
        asks="How much more weight can one key get than another if all scores are in a narrow range?",
        kind="different",
    ),
    mistake(
        "mha-keys-not-transposed",
        *four_axes("k.transpose(2, 3)", "k"),
        says="the queries are multiplied by the keys as they are, without exchanging the last two axes of the keys",
        asks="Write down the shapes of both factors. Which two sizes must be equal in a matrix product?",
    ),
    mistake(
        "mha-queries-and-keys-change-roles",
        edit(
            ATTENTION,
            "heads = self.attention(keys, queries, values, valid_lens)",
        ),
        says="keys and queries are swapped in the call of the attention",
        asks="Which of the two determines how many rows the result has?",
    ),
    mistake(
        "mha-softmax-over-queries",
        with_weights("torch.softmax(scores.masked_fill(hidden, -1e6), dim=1)"),
        says="the softmax runs over the queries instead of the keys",
        asks="For one query, what is the sum of the weights over all keys, and what should it be?",
    ),
    mistake(
        "mha-softmax-over-queries-empty-columns",
        with_weights("torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=1)"),
        says="the softmax runs over the queries instead of the keys, and padded keys become NaN",
        asks="For one query, what is the sum of the weights over all keys, and what should it be?",
    ),
    mistake(
        "mha-softmax-over-heads",
        with_weights(
            "torch.softmax(scores.masked_fill(hidden, -1e6).unflatten(0, (-1, self.num_heads)), dim=1).flatten(0, 1)"
        ),
        says="the softmax runs over the heads instead of the keys",
        asks=(
            "Add up the weights of one query in one head. Add up the weights of one key over all heads. "
            "Which sum is one?"
        ),
    ),
    mistake(
        "mha-softmax-over-heads-empty-keys",
        with_weights(
            "torch.softmax(scores.masked_fill(hidden, -torch.inf).unflatten(0, (-1, self.num_heads)), dim=1).flatten(0, 1)"
        ),
        says="the softmax runs over the heads instead of the keys, and padded keys become NaN",
        asks=(
            "Add up the weights of one query in one head. Add up the weights of one key over all heads. "
            "Which sum is one?"
        ),
    ),
    mistake(
        "mha-sigmoid-weights",
        with_weights("torch.sigmoid(scores).masked_fill(hidden, 0.0)"),
        says="a sigmoid is used instead of the softmax, so the weights of a query do not sum to one",
        asks="All keys fit well. How large is the weighted sum of their values compared with a single value?",
        kind="different",
    ),
    mistake(
        "mha-linear-weights",
        with_weights("scores.masked_fill(hidden, 0.0)"),
        says="the scores are used as weights, and there is no softmax",
        asks="Can a weight be negative in your module, and should it?",
    ),
    mistake(
        "mha-single-head",
        edit("self.num_heads = num_heads", "self.num_heads = 1"),
        says="there is one head over all features, whatever number of heads is passed",
        asks="Does your result depend on the number of heads, and should it?",
    ),
    mistake(
        "mha-heads-by-view",
        edit(
            "transpose_qkv(self.W_q(queries), self.num_heads)",
            "self.W_q(queries).reshape(-1, queries.shape[1], self.W_q.out_features // self.num_heads)",
        ),
        edit(
            "transpose_qkv(self.W_k(keys), self.num_heads)",
            "self.W_k(keys).reshape(-1, keys.shape[1], self.W_k.out_features // self.num_heads)",
        ),
        edit(
            "transpose_qkv(self.W_v(values), self.num_heads)",
            "self.W_v(values).reshape(-1, values.shape[1], self.W_v.out_features // self.num_heads)",
        ),
        says="the tensor is reshaped to heads without moving the head axis, so each head mixes steps",
        asks="Fill each feature with the number of its step and split. Which values are in the first head?",
    ),
    mistake(
        "mha-merge-by-view",
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.reshape(-1, heads.shape[1], heads.shape[2] * self.num_heads)",
        ),
        says="the heads are reshaped to features without moving the head axis next to them first",
        asks=(
            "Which features of the first query's result should come from the second head, and which do in "
            "your code?"
        ),
    ),
    mistake(
        "mha-joined-with-length-of-keys",
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.unflatten(0, (-1, self.num_heads)).transpose(1, 2).reshape(len(heads) // self.num_heads, keys.shape[1], self.W_o.in_features)",
        ),
        says="rows of the queries are reshaped with the number of keys, which works only if both numbers are equal",
        asks="How many rows does the result have: one per query, or one per key?",
        seen="common in code that was written for self-attention",
        forms=[
            [
                edit(
                    "transpose_output(heads, self.num_heads)",
                    "heads.unflatten(0, (-1, self.num_heads)).transpose(1, 2).reshape(len(heads) // self.num_heads, keys.shape[1], -1)",
                )
            ]
        ],
    ),
    mistake(
        "mha-keys-split-with-length-of-queries",
        edit(
            "keys = transpose_qkv(self.W_k(keys), self.num_heads)  # (B·H, S, d)",
            "keys = transpose_qkv(self.W_k(keys).reshape(len(keys), queries.shape[1], self.W_k.out_features), self.num_heads)",
        ),
        says="rows of the keys are reshaped with the number of queries, which works only if both numbers are equal",
        asks="Pass three queries and five keys. Which of the two numbers do you use to split the keys into heads?",
        seen="common in code that was written for self-attention",
    ),
    mistake(
        "mha-split-and-merge-by-view",
        edit(
            "transpose_qkv(self.W_q(queries), self.num_heads)",
            "self.W_q(queries).reshape(-1, queries.shape[1], self.W_q.out_features // self.num_heads)",
        ),
        edit(
            "transpose_qkv(self.W_k(keys), self.num_heads)",
            "self.W_k(keys).reshape(-1, keys.shape[1], self.W_k.out_features // self.num_heads)",
        ),
        edit(
            "transpose_qkv(self.W_v(values), self.num_heads)",
            "self.W_v(values).reshape(-1, values.shape[1], self.W_v.out_features // self.num_heads)",
        ),
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.reshape(-1, heads.shape[1], heads.shape[2] * self.num_heads)",
        ),
        says="the heads are split and joined by reshaping alone, without moving an axis",
        asks="Your joining undoes your splitting. Does each head also see all steps in between?",
    ),
    mistake(
        "mha-heads-interleaved",
        edit(
            "transpose_qkv(self.W_q(queries), self.num_heads)",
            "self.W_q(queries).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
        ),
        edit(
            "transpose_qkv(self.W_k(keys), self.num_heads)",
            "self.W_k(keys).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
        ),
        edit(
            "transpose_qkv(self.W_v(values), self.num_heads)",
            "self.W_v(values).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
        ),
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.unflatten(0, (-1, self.num_heads)).permute(0, 2, 3, 1).flatten(2)",
        ),
        says="each head gets features at regular intervals instead of a block of features",
        asks="Are the features of the first head a block of neighbours, or every second one?",
        kind="different",
    ),
    mistake(
        "mha-heads-interleaved-at-the-start",
        edit(
            "transpose_qkv(self.W_q(queries), self.num_heads)",
            "self.W_q(queries).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
        ),
        edit(
            "transpose_qkv(self.W_k(keys), self.num_heads)",
            "self.W_k(keys).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
        ),
        edit(
            "transpose_qkv(self.W_v(values), self.num_heads)",
            "self.W_v(values).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2).flatten(0, 1)",
        ),
        says="the features are split at regular intervals but joined in blocks",
        asks="Split a row of numbered features and join it again. Is the order the same?",
    ),
    mistake(
        "mha-heads-interleaved-at-the-end",
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.unflatten(0, (-1, self.num_heads)).permute(0, 2, 3, 1).flatten(2)",
        ),
        says="the features of the heads are interleaved instead of concatenated",
        asks="Do the first features of the result all come from the first head?",
    ),
    mistake(
        "mha-heads-joined-backwards",
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.unflatten(0, (-1, self.num_heads)).flip(1).transpose(1, 2).flatten(2)",
        ),
        says="the heads are joined in reverse order",
        asks="Which head do the first features of a joined row come from?",
        kind="different",
    ),
    mistake(
        "mha-heads-averaged",
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.unflatten(0, (-1, self.num_heads)).mean(1).repeat(1, 1, self.num_heads)",
        ),
        says="the heads are averaged and the mean is repeated instead of concatenating the heads",
        asks="After joining, can the output layer distinguish the results of the heads?",
    ),
    mistake(
        "mha-heads-share-query-slice",
        edit(
            ATTENTION,
            """
            queries = queries.unflatten(0, (-1, self.num_heads))[:, :1].expand(-1, self.num_heads, -1, -1).flatten(0, 1)
            heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="every head uses the queries of the first head",
        asks="Which part of the query weights do your later heads depend on?",
    ),
    mistake(
        "mha-heads-share-all-slices",
        edit(
            ATTENTION,
            """
            queries, keys, values = (x.unflatten(0, (-1, self.num_heads))[:, :1].expand(-1, self.num_heads, -1, -1).flatten(0, 1) for x in (queries, keys, values))
            heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="every head is a copy of the first head",
        asks="Compare the weights of two heads. Can they differ in your code?",
    ),
    mistake(
        "mha-heads-before-batch",
        edit(
            ATTENTION,
            """
            queries, keys, values = (x.unflatten(0, (-1, self.num_heads)).transpose(0, 1).flatten(0, 1) for x in (queries, keys, values))
            heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="the rows are ordered head by head, but the lengths and the joining expect sequence by sequence",
        asks="Which row comes after head 0 of sequence 0 in each part of your code?",
    ),
    mistake(
        "mha-heads-before-batch-lengths-right",
        edit(
            ATTENTION,
            """
            queries, keys, values = (x.unflatten(0, (-1, self.num_heads)).transpose(0, 1).flatten(0, 1) for x in (queries, keys, values))
            if valid_lens is not None:
                valid_lens = valid_lens.unflatten(0, (-1, self.num_heads)).transpose(0, 1).flatten(0, 1)
            heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="the rows are ordered head by head, but the joining expects sequence by sequence",
        asks="Which rows does your joining use as the heads of the first sequence, and what do they contain?",
    ),
    mistake(
        "mha-lens-tiled",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = torch.cat([valid_lens] * self.num_heads)",
        ),
        says="the list of lengths is repeated as a whole, so sequences get the lengths of other sequences",
        asks=(
            "Write down the sequence of each row of the attention's batch, and the length that the row "
            "gets. Do they match?"
        ),
    ),
    mistake(
        "mha-lens-tiled-per-sequence",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = torch.cat([valid_lens] * self.num_heads) if valid_lens.dim() == 1 else valid_lens.repeat_interleave(self.num_heads, dim=0)",
        ),
        says=(
            "the list of lengths per sequence is repeated as a whole, so sequences get the lengths of other "
            "sequences"
        ),
        asks=(
            "Write down the sequence of each row of the attention's batch, and the length that the row "
            "gets. Do they match?"
        ),
    ),
    mistake(
        "mha-lens-repeated-on-all-axes",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = valid_lens.repeat_interleave(self.num_heads)",
        ),
        says="lengths per query are repeated element by element, so queries get the lengths of other queries",
        asks="Lengths may have two axes. Which of the two should get longer?",
        forms=[
            [
                edit(
                    "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
                    "valid_lens = valid_lens.repeat_interleave(self.num_heads)",
                ),
                BY_INDEX,
            ]
        ],
    ),
    mistake(
        "mha-lens-repeated-along-queries",
        edit("repeat_interleave(self.num_heads, dim=0)", "repeat_interleave(self.num_heads, dim=1)"),
        says="the lengths are repeated along the axis of the queries instead of the axis of the sequences",
        asks="Lengths of shape (B,) have one axis only. Which axis gets longer when there are more heads?",
    ),
    mistake(
        "mha-lens-not-repeated",
        edit(
            "        if valid_lens is not None:\n            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "",
        ),
        says="the lengths are not repeated for the heads, so the call raises an error",
        asks="How many rows does the batch of the attention have, and how many lengths does it get?",
        forms=[
            [
                edit(
                    "        if valid_lens is not None:\n            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
                    "",
                ),
                BY_INDEX,
            ]
        ],
    ),
    mistake(
        "mha-mask-without-head-axis",
        *four_axes("[:, None]\n        scores", "\n        scores"),
        says="the scores have an axis for the heads, but the mask has none, so the shapes do not fit",
        asks="Which four axes do your scores have, and where does the mask need an axis of size one?",
    ),
    mistake(
        "mha-lens-truth-value",
        edit("if valid_lens is not None", "if valid_lens"),
        says="the lengths are used as a condition, but a tensor with several elements has no truth value",
        asks="Do you want to know whether the lengths are true, or whether there are any?",
    ),
    mistake(
        "mha-unknown-name",
        edit("if valid_lens is not None", "if vaild_lens is not None"),
        says="forward uses a name that does not exist",
        asks="The error message contains the name. Where should it get its value?",
        seen="a published course notebook, where the misspelt name existed by chance as a global",
    ),
    mistake(
        "mha-lens-not-passed",
        edit(
            ATTENTION,
            "heads = self.attention(queries, keys, values, None)",
        ),
        says="the lengths are not passed to the attention, so the padding gets weight",
        asks="Change the padding. Why does your result change?",
    ),
    mistake(
        "mha-lens-first-query-only",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = valid_lens.reshape(len(valid_lens), -1)[:, 0].repeat_interleave(self.num_heads, dim=0)",
        ),
        says="with one length per query, the length of the first query is used for all queries",
        asks=(
            "A decoder passes the length four for its fourth query. Which length does this query get in "
            "your code?"
        ),
    ),
    mistake(
        "mha-lens-first-head-only",
        edit(
            ATTENTION,
            """
            if valid_lens is not None:
                valid_lens = valid_lens.clone()
                later = torch.arange(len(valid_lens)) % self.num_heads > 0
                valid_lens[later] = keys.shape[1]
            heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="only the first head uses the lengths, and the other heads see the padding",
        asks="Print the weights of every head for a short sequence. Which heads see keys beyond its end?",
    ),
    mistake(
        "mha-lens-one-too-many",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0) + 1",
        ),
        says="one padded key of every row still gets weight",
        asks="A sequence of length two has the keys 0 and 1. Which other key does your code allow?",
    ),
    mistake(
        "mha-masked-after-softmax",
        with_weights("torch.softmax(scores, dim=-1).masked_fill(hidden, 0.0)"),
        says=(
            "the weights of the padding are set to zero after the softmax, "
            "so the weights of a query no longer sum to 1"
        ),
        asks="Which scores does your softmax see at the padding?",
    ),
    mistake(
        "mha-masked-with-zero",
        with_weights("torch.softmax(scores.masked_fill(hidden, 0.0), dim=-1)"),
        says="padded scores are set to zero instead of a very low value",
        asks="Which weight does a softmax give to a score of zero?",
    ),
    mistake(
        "mha-mask-inverted",
        edit(
            ATTENTION,
            """
            hidden = None
            if valid_lens is not None:
                hidden = torch.arange(keys.shape[1]) >= valid_lens.reshape(len(keys), -1, 1)
                hidden = hidden.expand(-1, queries.shape[1], -1)
            heads = nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=hidden, dropout_p=0.0)
            if self.training:
                heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="the mask is inverted: only the padding gets weight",
        asks="Does a true element of your mask mean keep or hide, and what does the attention expect?",
    ),
    mistake(
        "mha-always-causal",
        with_weights(
            "torch.softmax(scores.masked_fill(hidden | torch.ones_like(hidden).triu(diagonal=1), -torch.inf), dim=-1)"
        ),
        says="no query can see keys after its own position, although the lengths allow it",
        asks="Should this module decide what a query may see, or should the calling code?",
    ),
    mistake(
        "mha-mask-added-as-numbers",
        with_weights("torch.softmax(scores + (~hidden).to(scores), dim=-1)"),
        says="a mask of zeros and ones is added to the scores, so the padding gets only a little less weight",
        asks="How much less weight does a key get when its score is lower by one?",
    ),
    mistake(
        "mha-mask-added-as-numbers-inverted",
        with_weights("torch.softmax(scores + hidden.to(scores), dim=-1)"),
        says="a mask of zeros and ones is added to the scores, so the padding gets more weight",
        asks="Which score of a key leads to a weight of zero?",
    ),
    mistake(
        "mha-lens-overwritten",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            """
            caller, valid_lens = valid_lens, valid_lens.repeat_interleave(self.num_heads, dim=0)
            caller.zero_()
            """,
        ),
        says="the result is right, but the function overwrites the caller's lengths",
        asks="Print the lengths after the call. What will the next layer do with them?",
    ),
    mistake(
        "mha-lens-changed-in-place",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens.data = valid_lens.repeat_interleave(self.num_heads, dim=0)",
        ),
        says="the result is right, but the caller's lengths have more rows after the call",
        asks="Print the lengths after the call. What will the next layer do with them?",
    ),
    mistake(
        "mha-squeeze-everything",
        edit(
            "return self.W_o(transpose_output(heads, self.num_heads))",
            "return self.W_o(transpose_output(heads, self.num_heads)).squeeze()",
        ),
        says="all axes of size one are removed, so a batch of one loses its batch axis",
        asks="Which shape does your result have for one sequence and one query?",
    ),
    mistake(
        "mha-residual-inside",
        KEEP_ARGUMENTS,
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "self.W_o(transpose_output(heads, self.num_heads)) + asked[0]",
        ),
        says="the queries are added to the result",
        asks="Which block of a Transformer adds the input to the output?",
        kind="different",
    ),
    mistake(
        "mha-residual-where-it-fits",
        KEEP_ARGUMENTS,
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "self.W_o(transpose_output(heads, self.num_heads)) + (asked[0] if asked[0].shape[-1] == self.W_o.out_features else 0)",
        ),
        says="the queries are added to the result if their size allows it",
        asks="Which block of a Transformer adds the input to the output?",
        kind="different",
    ),
    mistake(
        "mha-returns-pair",
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "self.W_o(transpose_output(heads, self.num_heads)), self.attention.attention_weights",
        ),
        says="a pair is returned instead of the result alone",
        asks="What should the function return, according to its docstring?",
        kind="different",
    ),
    mistake(
        "mha-normalised-inside",
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "nn.functional.layer_norm(self.W_o(transpose_output(heads, self.num_heads)), (self.W_o.out_features,))",
        ),
        says="the result is normalised over its features",
        asks="What are the mean and the standard deviation of one row of your result?",
        kind="different",
    ),
    mistake(
        "mha-no-grad",
        edit(
            "def forward(",
            """
            @torch.no_grad()
            def forward(
            """,
        ),
        says="gradients are switched off in forward, so nothing can learn",
        asks="Your values are right. What happens in the backward pass?",
    ),
    mistake(
        "mha-weights-cut-off",
        edit(
            ATTENTION,
            "heads = self.attention(queries.detach(), keys.detach(), values, valid_lens)",
        ),
        says=(
            "no gradient flows through the attention weights, so the layers for queries and keys never learn"
        ),
        asks="After a backward pass, which layers have a gradient other than zero?",
    ),
    mistake(
        "mha-keys-cut-off",
        edit(
            ATTENTION,
            "heads = self.attention(queries, keys.detach(), values, valid_lens)",
        ),
        says="no gradient flows through the keys",
        asks="After a backward pass, which layers have a gradient other than zero?",
    ),
    mistake(
        "mha-queries-cut-off",
        edit(
            ATTENTION,
            "heads = self.attention(queries.detach(), keys, values, valid_lens)",
        ),
        says="no gradient flows through the queries",
        asks="After a backward pass, which layers have a gradient other than zero?",
    ),
    mistake(
        "mha-values-cut-off",
        edit(
            ATTENTION,
            "heads = self.attention(queries, keys, values.detach(), valid_lens)",
        ),
        says="no gradient flows through the values",
        asks="After a backward pass, which layers have a gradient other than zero?",
    ),
    mistake(
        "mha-no-dropout",
        edit("DotProductAttention(dropout)", "DotProductAttention(0.0)"),
        says="no dropout is applied, whatever rate is passed",
        asks="Call your module twice in training mode on the same input. Should the results be equal?",
    ),
    mistake(
        "mha-dropout-before-softmax",
        with_scores("scores = self.attention.dropout(scores)", values_with="weights"),
        says="dropout is applied to the scores before the softmax instead of the weights",
        asks="Which weight does a softmax give to a dropped score?",
    ),
    mistake(
        "mha-dropout-on-heads",
        edit(
            "DotProductAttention(dropout)",
            """
            DotProductAttention(0.0)
            self.drop = nn.Dropout(dropout)
            """,
        ),
        edit("transpose_output(heads, self.num_heads)", "self.drop(transpose_output(heads, self.num_heads))"),
        says="dropout is applied to the result of the heads instead of the attention weights",
        asks="When a weight is dropped, which elements of a head change together?",
    ),
    mistake(
        "mha-dropout-on-values",
        edit(
            "DotProductAttention(dropout)",
            """
            DotProductAttention(0.0)
            self.drop = nn.Dropout(dropout)
            """,
        ),
        edit("self.attention(queries, keys, values,", "self.attention(queries, keys, self.drop(values),"),
        says="dropout is applied to the values instead of the attention weights",
        asks="When a weight is dropped, which elements of a head change together?",
    ),
    mistake(
        "mha-dropout-on-result-too",
        edit(
            "DotProductAttention(dropout)",
            """
            DotProductAttention(dropout)
            self.drop = nn.Dropout(dropout)
            """,
        ),
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "self.drop(self.W_o(transpose_output(heads, self.num_heads)))",
        ),
        says="dropout is also applied after the output layer",
        asks="Which block of a Transformer applies dropout to the output of a layer?",
        kind="different",
    ),
    mistake(
        "mha-dropout-not-made-up-for",
        with_scores(
            values_with="self.attention.dropout(weights) * (1 - self.attention.dropout.p if self.training else 1)"
        ),
        says="the weights that dropout keeps are not scaled up",
        asks=(
            "What is the mean of your result over many calls in training mode, and what is it in evaluation "
            "mode?"
        ),
    ),
    mistake(
        "mha-dropout-share-inverted",
        edit("DotProductAttention(dropout)", "DotProductAttention(1 - dropout)"),
        says="the dropout rate is used as the share to keep instead of the share to drop",
        asks="Is the rate the share of weights that is kept or the share that is dropped?",
    ),
    mistake(
        "mha-dropout-by-default",
        with_scores(values_with="nn.functional.dropout(weights)"),
        says="dropout is called without the rate and without the mode: it drops one half, also in evaluation mode",
        asks="Which rate does `nn.functional.dropout` use if you pass none, and how does it know the mode of your module?",
    ),
    mistake(
        "mha-dropout-in-evaluation",
        with_scores(values_with="nn.functional.dropout(weights, self.attention.dropout.p)"),
        says="dropout is also applied in evaluation mode",
        asks="How does a function, which has no mode, know whether the model is in training mode?",
    ),
    mistake(
        "mha-keeps-dropped-weights",
        edit(
            ATTENTION,
            """
            heads = self.attention(queries, keys, values, valid_lens)
            drop, weights = self.attention.dropout, self.attention.attention_weights
            self.attention.attention_weights = drop(weights)
            heads = torch.bmm(self.attention.attention_weights, values)
            """,
        ),
        says="the stored weights are the weights after dropout",
        asks="Should a plot of the weights contain random zeros?",
    ),
    device_mistake(
        "mha-lens-through-a-list",
        edit(
            "valid_lens = valid_lens.repeat_interleave(",
            "valid_lens = torch.tensor(valid_lens.tolist()).repeat_interleave(",
        ),
        says="the lengths are converted to a Python list and back, which moves them to the CPU",
        asks="On which device are the lengths before that line, and on which device after it?",
    ),
    dtype_mistake(
        "mha-fill-minus-1e9",
        edit(
            ATTENTION,
            """
            scores = queries @ keys.transpose(1, 2) / math.sqrt(queries.shape[-1])
            if valid_lens is not None:
                lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
                hidden = torch.arange(keys.shape[1], device=keys.device) >= lens[:, :, None]
                scores = scores.masked_fill(hidden, -1e9)
            self.attention.attention_weights = scores.softmax(dim=-1)
            heads = self.attention.dropout(self.attention.attention_weights) @ values
            """,
        ),
        says="the fill value for hidden scores is out of range for float16",
        asks="What is the lowest value that the dtype of the scores can represent?",
    ),
    dtype_mistake(
        "mha-joined-into-float32",
        edit("transpose_output(heads, self.num_heads)", "transpose_output(heads, self.num_heads).float()"),
        says="the concatenated heads are always in single precision, whatever the dtype of the output layer is",
        asks="In which dtype are the weights of the output layer?",
    ),
    mistake(
        "mha-keys-and-values-swapped",
        edit(
            "self.attention(queries, keys, values, valid_lens)",
            "self.attention(queries, values, keys, valid_lens)",
        ),
        says="keys and values are passed to the attention in each other's place",
        asks="Which of your tensors are the queries compared with, and which are averaged?",
    ),
    mistake(
        "mha-one-small-layer-for-all-heads",
        edit(
            "nn.Linear(query_size, num_hiddens, bias=bias)",
            "nn.Linear(query_size, num_hiddens // num_heads, bias=bias)",
        ),
        edit(
            "nn.Linear(key_size, num_hiddens, bias=bias)",
            "nn.Linear(key_size, num_hiddens // num_heads, bias=bias)",
        ),
        edit(
            "nn.Linear(value_size, num_hiddens, bias=bias)",
            "nn.Linear(value_size, num_hiddens // num_heads, bias=bias)",
        ),
        edit("self.W_q(queries)", "self.W_q(queries).repeat(1, 1, self.num_heads)"),
        edit("self.W_k(keys)", "self.W_k(keys).repeat(1, 1, self.num_heads)"),
        edit("self.W_v(values)", "self.W_v(values).repeat(1, 1, self.num_heads)"),
        says="one projection of the size of a head serves all heads, so they all compute the same",
        asks="How many features do all heads together need, and how many does your projection give?",
    ),
    mistake(
        "mha-every-head-as-wide-as-the-model",
        edit(
            "nn.Linear(query_size, num_hiddens, bias=bias)",
            "nn.Linear(query_size, num_hiddens * num_heads, bias=bias)",
        ),
        edit(
            "nn.Linear(key_size, num_hiddens, bias=bias)",
            "nn.Linear(key_size, num_hiddens * num_heads, bias=bias)",
        ),
        edit(
            "nn.Linear(value_size, num_hiddens, bias=bias)",
            "nn.Linear(value_size, num_hiddens * num_heads, bias=bias)",
        ),
        edit(
            "nn.Linear(num_hiddens, num_hiddens, bias=bias)",
            "nn.Linear(num_hiddens * num_heads, num_hiddens, bias=bias)",
        ),
        says="every head is as wide as the whole model",
        asks="How is the number of features shared out over the heads?",
        kind="different",
    ),
    mistake(
        "mha-lens-for-first-sequence-only",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = valid_lens[:1].repeat_interleave(queries.shape[0], dim=0)",
        ),
        says="the lengths of the first sequence are used for the whole batch",
        asks="Whose length does the last sequence of the batch get?",
    ),
    mistake(
        "mha-query-lens-ignored",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0) if valid_lens.dim() == 1 else None",
        ),
        says="with one length per query, nothing is masked",
        asks="Which two shapes can the lengths have, and what happens to each?",
    ),
    mistake(
        "mha-projections-remembered",
        edit(
            "keys = transpose_qkv(self.W_k(keys), self.num_heads)  # (B·H, S, d)\n        values = transpose_qkv(self.W_v(values), self.num_heads)  # (B·H, S, d)",
            """
            kept = getattr(self, "kept", None)
            if self.training or kept is None or kept[0].shape[0] != queries.shape[0] or kept[2] != keys.shape:
                split = [transpose_qkv(layer(x), self.num_heads) for layer, x in ((self.W_k, keys), (self.W_v, values))]
                self.kept = kept = (*split, keys.shape)
            keys, values, _ = kept
            """,
        ),
        says="projected keys and values of an earlier call are used again, although the inputs are others",
        asks="Call your module twice with different keys of the same shape. Which keys does the second call use?",
    ),
    mistake(
        "mha-heads-not-before-steps",
        edit(
            "queries = transpose_qkv(self.W_q(queries), self.num_heads)",
            "queries = self.W_q(queries).unflatten(2, (self.num_heads, -1))",
        ),
        edit(
            "keys = transpose_qkv(self.W_k(keys), self.num_heads)",
            "keys = self.W_k(keys).unflatten(2, (self.num_heads, -1))",
        ),
        edit(
            "values = transpose_qkv(self.W_v(values), self.num_heads)",
            "values = self.W_v(values).unflatten(2, (self.num_heads, -1))",
        ),
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            "heads = (queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[-1])).softmax(dim=-1) @ values",
        ),
        edit("transpose_output(heads, self.num_heads)", "heads.flatten(2)"),
        says="the head axis is not moved before the steps, so the heads of one step attend to each other",
        asks="Which two axes come last when queries and keys are multiplied, and which should?",
    ),
    mistake(
        "mha-number-of-heads-as-dropout",
        edit("DotProductAttention(dropout)", "DotProductAttention(num_heads)"),
        says="the attention gets the number of heads as its dropout rate",
        asks="Which argument does the constructor of the attention take?",
    ),
    mistake(
        "mha-bias-by-default",
        edit("bias: bool = False", "bias: bool = True"),
        says="the layers have biases unless the caller turns them off",
        asks="How many parameters does your module have if the caller says nothing about biases?",
    ),
]
