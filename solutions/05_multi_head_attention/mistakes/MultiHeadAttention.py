"""Known mistakes in MultiHeadAttention; their pages are in MultiHeadAttention.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "mha-keys-through-wq",
        edit("self.W_k(keys)", "self.W_q(keys)"),
        says="your keys were made with the query weights",
        asks=(
            "Each role has a layer of its own. Which of your four layers has done nothing by the end of "
            "forward?"
        ),
    ),
    mistake(
        "mha-values-through-wq",
        edit("self.W_v(values)", "self.W_q(values)"),
        says="your values were made with the query weights",
        asks=(
            "What a key hands over and what a query asks for are different things. Where do yours become "
            "the same?"
        ),
    ),
    mistake(
        "mha-keys-and-values-through-wq",
        edit("self.W_k(keys)", "self.W_q(keys)"),
        edit("self.W_v(values)", "self.W_q(values)"),
        says="your keys and your values were both made with the query weights",
        asks=(
            "Three lines look almost alike. What should differ from one to the next, and what does differ "
            "in yours?"
        ),
        seen="a published course notebook: three lines copied, and only the left-hand sides changed",
    ),
    mistake(
        "mha-values-through-wk",
        edit("self.W_v(values)", "self.W_k(values)"),
        says="your values were made with the key weights",
        asks=(
            "What makes a key easy to find need not be what it has to say. Which layer decides what is said?"
        ),
    ),
    mistake(
        "mha-queries-through-wk",
        edit("self.W_q(queries)", "self.W_k(queries)"),
        says="your queries were made with the key weights",
        asks="After a backward pass, which of the layers has no gradient at all?",
    ),
    mistake(
        "mha-keys-through-wv",
        edit("self.W_k(keys)", "self.W_v(keys)"),
        says="your keys were made with the value weights",
        asks="By which numbers are the keys found, and by which layer should those have been made?",
    ),
    mistake(
        "mha-queries-through-wv",
        edit("self.W_q(queries)", "self.W_v(queries)"),
        says="your queries were made with the value weights",
        asks="Follow the queries from the first line on: which layer is the first that they meet?",
    ),
    mistake(
        "mha-keys-and-values-exchanged-layers",
        edit("self.W_k(keys)", "self.W_v(keys)"),
        edit("self.W_v(values)", "self.W_k(values)"),
        says="the layers for keys and for values have changed places",
        asks=(
            "All four layers learn. But would somebody who loads your weights find in each what its name "
            "promises?"
        ),
    ),
    mistake(
        "mha-queries-and-keys-exchanged-layers",
        edit("self.W_q(queries)", "self.W_k(queries)"),
        edit("self.W_k(keys)", "self.W_q(keys)"),
        says="the layers for queries and for keys have changed places",
        asks="Queries and keys of different sizes: which layer must take which?",
        kind="different",
    ),
    mistake(
        "mha-sizes-exchanged",
        edit("W_q = nn.Linear(query_size", "W_q = nn.Linear(key_size"),
        edit("W_k = nn.Linear(key_size", "W_k = nn.Linear(query_size"),
        says="the layers for queries and keys were given each other's input size",
        asks="Which of the size arguments speaks of the tensor that this layer will be handed?",
    ),
    mistake(
        "mha-square-projections",
        edit("nn.Linear(query_size", "nn.Linear(num_hiddens"),
        edit("nn.Linear(key_size", "nn.Linear(num_hiddens"),
        edit("nn.Linear(value_size", "nn.Linear(num_hiddens"),
        says="every layer takes as many features as it gives, whatever sizes were asked for",
        asks="Your constructor is told three input sizes. Where do you use them?",
    ),
    mistake(
        "mha-one-layer-under-three-names",
        edit("self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)", "self.W_k = self.W_q"),
        edit("self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)", "self.W_v = self.W_q"),
        says="queries, keys and values share a single layer that goes by three names",
        asks="How many different matrices does your module own, and how many roles are there?",
    ),
    mistake(
        "mha-values-read-from-keys",
        edit(
            "queries = transpose_qkv(",
            """
            asked = queries, keys
            queries = transpose_qkv(
            """,
        ),
        edit("self.W_v(values)", "self.W_v(asked[1])"),
        says="your values were made from the keys that came in, not from the values",
        asks="What happens to your result when only the values that you pass in change?",
    ),
    mistake(
        "mha-projected-keys-as-values",
        edit(
            "queries = transpose_qkv(",
            """
            asked = queries, keys
            queries = transpose_qkv(
            """,
        ),
        edit("self.W_v(values)", "self.W_k(asked[1])"),
        says="the projected keys stand where the projected values belong",
        asks="Change only the values that you pass in. Does anything about the result change?",
    ),
    mistake(
        "mha-keys-read-from-values",
        edit("self.W_k(keys)", "self.W_k(values)"),
        says="your keys were made from the values that came in, not from the keys",
        asks="What happens to your result when only the keys that you pass in change?",
    ),
    mistake(
        "mha-only-the-queries-are-read",
        edit(
            "queries = transpose_qkv(",
            """
            asked = queries, keys
            queries = transpose_qkv(
            """,
        ),
        edit("self.W_k(keys)", "self.W_k(asked[0])"),
        edit("self.W_v(values)", "self.W_v(asked[0])"),
        says=(
            "all three projections were made from the queries: the keys and values that came in are never "
            "read"
        ),
        asks="With which inputs would your module be right, and does the exercise promise those?",
    ),
    mistake(
        "mha-relu-on-projections",
        edit("self.W_q(queries)", "torch.relu(self.W_q(queries))"),
        edit("self.W_k(keys)", "torch.relu(self.W_k(keys))"),
        edit("self.W_v(values)", "torch.relu(self.W_v(values))"),
        says="negative numbers are cut off after each of the three projections",
        asks="Which scores can two vectors without negative numbers never have?",
        kind="different",
    ),
    mistake(
        "mha-no-output-layer",
        edit("self.W_o(transpose_output(heads, self.num_heads))", "transpose_output(heads, self.num_heads)"),
        says="the joined heads come back as they are: the output layer is built and never used",
        asks="Which layer lets one head's finding change what becomes of another's?",
    ),
    mistake(
        "mha-output-layer-not-built",
        edit("self.W_o(transpose_output(heads, self.num_heads))", "transpose_output(heads, self.num_heads)"),
        edit("        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)\n", ""),
        says="there is no output layer: the joined heads come back as they are",
        asks=(
            "Count the layers in the formula of the lesson, then those in your constructor. Which one is "
            "not there?"
        ),
    ),
    mistake(
        "mha-output-layer-made-per-call",
        edit("        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)\n", ""),
        edit(
            "return self.W_o(",
            "return nn.Linear(values.shape[-1] * self.num_heads, values.shape[-1] * self.num_heads, bias=False, dtype=values.dtype)(",
        ),
        says="the output layer is made afresh, with random weights, at every call",
        asks="Call your module twice on the same input, in evaluation. Why do the results differ?",
        steady=False,
    ),
    mistake(
        "mha-output-layer-twice",
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "self.W_o(self.W_o(transpose_output(heads, self.num_heads)))",
        ),
        says="the output layer was applied twice",
        asks="How often does the result pass through the last layer on its way out?",
    ),
    mistake(
        "mha-bias-always-on",
        edit(", bias=bias)", ")", times=4),
        says="every layer has a bias although none was asked for",
        asks="What does a linear layer do about a bias when it is told nothing?",
        kind="different",
    ),
    mistake(
        "mha-bias-always-off",
        edit("bias=bias", "bias=False", times=4),
        says="no layer has a bias, even when one was asked for",
        asks="Build your module with a bias and count its parameters. Where was the wish lost?",
    ),
    mistake(
        "mha-output-bias-missing",
        edit(
            "nn.Linear(num_hiddens, num_hiddens, bias=bias)",
            "nn.Linear(num_hiddens, num_hiddens, bias=False)",
        ),
        says="the first three layers follow the wish for a bias, the output layer does not",
        asks="To how many of the four layers does the wish for a bias belong?",
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
        says="the output layer follows the wish for a bias, the first three layers do not",
        asks="To how many of the four layers does the wish for a bias belong?",
    ),
    mistake(
        "mha-no-scaling",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            from grader.given import masked_softmax
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            scores = scores * math.sqrt(queries.shape[-1])
            self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the scores were not scaled",
        asks=(
            "How large is a dot product of two long random vectors, and what does a softmax make of large "
            "scores?"
        ),
    ),
    mistake(
        "mha-scaled-up",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            from grader.given import masked_softmax
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            scores = scores * queries.shape[-1]
            self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the scores were made larger by the scaling, not smaller",
        asks="Should a wide head have calmer or wilder scores after scaling?",
    ),
    mistake(
        "mha-scaled-by-all-features",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            from grader.given import masked_softmax
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            scores = scores / math.sqrt(self.num_heads)
            self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the scores were scaled by the size of the whole model, not of one head",
        asks="How many products are added up in one score of one head?",
    ),
    mistake(
        "mha-scaled-by-number-of-keys",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            from grader.given import masked_softmax
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            scores = scores * math.sqrt(queries.shape[-1] / keys.shape[1])
            self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the scores were scaled by the number of keys, not by the size of a head",
        asks="Does your scale change when a sentence gets longer? Should it?",
    ),
    mistake(
        "mha-scaled-by-number-of-queries",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            from grader.given import masked_softmax
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            scores = scores * math.sqrt(queries.shape[-1] / queries.shape[1])
            self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the scores were scaled by the number of queries, not by the size of a head",
        asks="Should the answer to one question depend on how many other questions were asked with it?",
    ),
    mistake(
        "mha-scaled-twice",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            from grader.given import masked_softmax
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            scores = scores / math.sqrt(queries.shape[-1])
            self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the scores were scaled twice",
        asks="You scale, and so does a block that you call. How can you tell from the weights?",
    ),
    mistake(
        "mha-scores-capped",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            from grader.given import masked_softmax
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            scores = torch.tanh(scores)
            self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the scores were squeezed between minus one and one before the softmax",
        asks="How strongly can one key be preferred to another if no score leaves a narrow band?",
        kind="different",
    ),
    mistake(
        "mha-queries-and-keys-change-roles",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            "heads = self.attention(keys, queries, values, valid_lens)",
        ),
        says="keys and queries were handed to the attention in each other's place",
        asks="Which of the two decides how many rows the result has?",
    ),
    mistake(
        "mha-softmax-over-queries",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = torch.softmax(scores.masked_fill(hidden, -1e6), dim=1)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the softmax runs over the queries, not over the keys",
        asks="For one query, what do the weights over all keys sum to? What should they?",
    ),
    mistake(
        "mha-softmax-over-queries-empty-columns",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=1)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says=(
            "the softmax runs over the queries, not over the keys, and a key that nobody may see gives no "
            "number at all"
        ),
        asks="For one query, what do the weights over all keys sum to? What should they?",
    ),
    mistake(
        "mha-softmax-over-heads",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = torch.softmax(scores.masked_fill(hidden, -1e6).unflatten(0, (-1, self.num_heads)), dim=1).flatten(0, 1)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the softmax runs over the heads, not over the keys",
        asks=(
            "Add up the weights of one query in one head. Add up those of one key over all heads. Which sum"
            " is one?"
        ),
    ),
    mistake(
        "mha-softmax-over-heads-empty-keys",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = torch.softmax(scores.masked_fill(hidden, -torch.inf).unflatten(0, (-1, self.num_heads)), dim=1).flatten(0, 1)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says=(
            "the softmax runs over the heads, not over the keys, and a key that no head may see gives no "
            "number at all"
        ),
        asks=(
            "Add up the weights of one query in one head. Add up those of one key over all heads. Which sum"
            " is one?"
        ),
    ),
    mistake(
        "mha-sigmoid-weights",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = torch.sigmoid(scores).masked_fill(hidden, 0.0)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="each key is weighed for itself: the weights of a query do not share a sum of one",
        asks="If all keys fit well, how large is the mixture of their values compared with a single value?",
        kind="different",
    ),
    mistake(
        "mha-linear-weights",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = scores.masked_fill(hidden, 0.0)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the scores themselves were used as weights: there is no softmax",
        asks="Can a weight be negative in your module? Should it?",
    ),
    mistake(
        "mha-single-head",
        edit("self.num_heads = num_heads", "self.num_heads = 1"),
        says="there is one head over all features, whatever number was asked for",
        asks="Does your result depend on the number of heads? With the same weights, should it?",
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
        says="the heads were cut out of memory as it lies, so that each head mixes steps",
        asks="Put the step's number into each feature and split. Which numbers stand in the first head?",
    ),
    mistake(
        "mha-merge-by-view",
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.reshape(-1, heads.shape[1], heads.shape[2] * self.num_heads)",
        ),
        says="the heads were joined in memory as it lies, so that steps and heads are shuffled",
        asks=(
            "Which features of the first query's result should come from the second head? Which do in yours?"
        ),
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
        says="the heads were split and joined in memory as it lies, without moving an axis",
        asks="Splitting and joining undo each other in yours. Is that enough for each head to see all steps?",
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
        says="the features are dealt out to the heads one by one, like cards, and not in blocks",
        asks="Which features belong to the first head: a block of neighbours, or every second one?",
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
        says="the features are dealt out to the heads one by one, but joined again in blocks",
        asks="Split a row that counts its features, join it again: does it come back in its old order?",
    ),
    mistake(
        "mha-heads-interleaved-at-the-end",
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.unflatten(0, (-1, self.num_heads)).permute(0, 2, 3, 1).flatten(2)",
        ),
        says="the heads' features were joined alternately, not head after head",
        asks="The first features of the result: do they all come from the first head?",
    ),
    mistake(
        "mha-heads-joined-backwards",
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.unflatten(0, (-1, self.num_heads)).flip(1).transpose(1, 2).flatten(2)",
        ),
        says="the heads were joined in reverse order",
        asks="Whose features come first in the joined row?",
        kind="different",
    ),
    mistake(
        "mha-heads-averaged",
        edit(
            "transpose_output(heads, self.num_heads)",
            "heads.unflatten(0, (-1, self.num_heads)).mean(1).repeat(1, 1, self.num_heads)",
        ),
        says="the heads were averaged and the average repeated, not set side by side",
        asks="After joining, can one still tell what the second head has found?",
    ),
    mistake(
        "mha-heads-share-query-slice",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            queries = queries.unflatten(0, (-1, self.num_heads))[:, :1].expand(-1, self.num_heads, -1, -1).flatten(0, 1)
            heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="every head asks the first head's question",
        asks="Which part of the query weights do your later heads depend on?",
    ),
    mistake(
        "mha-heads-share-all-slices",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            queries, keys, values = (x.unflatten(0, (-1, self.num_heads))[:, :1].expand(-1, self.num_heads, -1, -1).flatten(0, 1) for x in (queries, keys, values))
            heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="every head is a copy of the first",
        asks="Compare the weights of two heads. Can they ever differ in yours?",
    ),
    mistake(
        "mha-heads-before-batch",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            queries, keys, values = (x.unflatten(0, (-1, self.num_heads)).transpose(0, 1).flatten(0, 1) for x in (queries, keys, values))
            heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="the rows were laid out head by head, but lengths and joining count sequence by sequence",
        asks="In the tall batch, which row comes after head 0 of sequence 0 in each part of your code?",
    ),
    mistake(
        "mha-heads-before-batch-lengths-right",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            queries, keys, values = (x.unflatten(0, (-1, self.num_heads)).transpose(0, 1).flatten(0, 1) for x in (queries, keys, values))
            if valid_lens is not None:
                valid_lens = valid_lens.unflatten(0, (-1, self.num_heads)).transpose(0, 1).flatten(0, 1)
            heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="the rows were laid out head by head, but joined as if they came sequence by sequence",
        asks=(
            "When you join, which rows do you take for the heads of the first sequence, and what stands "
            "there?"
        ),
    ),
    mistake(
        "mha-lens-tiled",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = torch.cat([valid_lens] * self.num_heads)",
        ),
        says="the lengths were repeated as a whole, so that sequences are cut at each other's lengths",
        asks=(
            "Write down which sequence each row of the tall batch belongs to, and beside it the length it "
            "gets. Do they agree?"
        ),
    ),
    mistake(
        "mha-lens-tiled-per-sequence",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = torch.cat([valid_lens] * self.num_heads) if valid_lens.dim() == 1 else valid_lens.repeat_interleave(self.num_heads, dim=0)",
        ),
        says=(
            "lengths given per sequence were repeated as a whole, so that sequences are cut at each other's"
            " lengths"
        ),
        asks=(
            "Write down which sequence each row of the tall batch belongs to, and beside it the length it "
            "gets. Do they agree?"
        ),
    ),
    mistake(
        "mha-lens-repeated-on-all-axes",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = valid_lens.repeat_interleave(self.num_heads)",
        ),
        says=(
            "lengths per query were repeated number by number, so that queries get their neighbours' lengths"
        ),
        asks="Lengths may have two axes. Along which of them should there be more rows afterwards?",
    ),
    mistake(
        "mha-lens-not-repeated",
        edit(
            "        if valid_lens is not None:\n            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "",
        ),
        says="there is one length a sequence where one a head and sequence is needed, and the call fails",
        asks="How many rows does the batch have that the attention sees, and how many lengths does it get?",
    ),
    mistake(
        "mha-lens-truth-value",
        edit("if valid_lens is not None", "if valid_lens"),
        says="the lengths were asked whether they are true, which several numbers cannot answer",
        asks="You want to know whether lengths were given. Is that the question that your condition asks?",
    ),
    mistake(
        "mha-unknown-name",
        edit("if valid_lens is not None", "if vaild_lens is not None"),
        says="forward uses a name that does not exist",
        asks="The message shows the name. Where did you think that it gets its value?",
        seen="a published course notebook, where the misspelt name existed by chance as a global",
    ),
    mistake(
        "mha-lens-not-passed",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            "heads = self.attention(queries, keys, values, None)",
        ),
        says="the lengths do not reach the attention: padding takes part",
        asks="Change the padding. Why does your result change?",
    ),
    mistake(
        "mha-lens-first-query-only",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = valid_lens.reshape(len(valid_lens), -1)[:, 0].repeat_interleave(self.num_heads, dim=0)",
        ),
        says="where each query has a length of its own, all were cut at the first query's",
        asks="A decoder gives query number three a length of four. Which length does it get in yours?",
    ),
    mistake(
        "mha-lens-first-head-only",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            if valid_lens is not None:
                valid_lens = valid_lens.clone()
                later = torch.arange(len(valid_lens)) % self.num_heads > 0
                valid_lens[later] = keys.shape[1]
            heads = self.attention(queries, keys, values, valid_lens)
            """,
        ),
        says="only the first head respects the lengths, the others see the padding",
        asks="Print the weights of every head of a short sequence. Which of them look beyond its end?",
    ),
    mistake(
        "mha-lens-one-too-many",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0) + 1",
        ),
        says="one key too many is let through in every row",
        asks="A sequence of length two has the keys number zero and one. Which other does yours see?",
    ),
    mistake(
        "mha-masked-after-softmax",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = torch.softmax(scores, dim=-1).masked_fill(hidden, 0.0)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="the padding lost its weight only after the softmax, so that the rest sums to less than one",
        asks="What do the weights of one query sum to when half of the keys are padding?",
    ),
    mistake(
        "mha-masked-with-zero",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = torch.softmax(scores.masked_fill(hidden, 0.0), dim=-1)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="padded keys were given a score of zero, which is a score like any other",
        asks="Which weight does a softmax give to a score of zero?",
    ),
    mistake(
        "mha-mask-inverted",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
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
        says=(
            "the mask means the opposite of what the attention takes it for: the padding is seen and "
            "nothing else"
        ),
        asks=(
            "In the mask that you hand over, does a true entry mean look or look away? How could you find "
            "out?"
        ),
    ),
    mistake(
        "mha-always-causal",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = torch.softmax(scores.masked_fill(hidden | torch.ones_like(hidden).triu(diagonal=1), -torch.inf), dim=-1)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="later positions are always hidden, although nobody asked for it",
        asks="Who should decide what a query may see: this module, or the one that calls it?",
    ),
    mistake(
        "mha-mask-added-as-numbers",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = torch.softmax(scores + (~hidden).to(scores), dim=-1)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says=(
            "a mask of zeros and ones was added to the scores: padding is a little less liked, and that is "
            "all"
        ),
        asks="How much less weight does a key get whose score is lower by one?",
    ),
    mistake(
        "mha-mask-added-as-numbers-inverted",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            hidden = torch.zeros_like(scores, dtype=torch.bool)
            if valid_lens is not None:
                hidden = hidden | (torch.arange(scores.shape[2]) >= valid_lens.reshape(len(scores), -1, 1))
            self.attention.attention_weights = weights = torch.softmax(scores + hidden.to(scores), dim=-1)
            heads = torch.bmm(self.attention.dropout(weights), values)
            """,
        ),
        says="a mask of zeros and ones was added to the scores, so that padding is even preferred",
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
        says="other numbers stand in the caller's lengths after the call",
        asks="Print the lengths after the call. What will the next layer, which gets the same ones, do?",
    ),
    mistake(
        "mha-lens-changed-in-place",
        edit(
            "valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)",
            "valid_lens.data = valid_lens.repeat_interleave(self.num_heads, dim=0)",
        ),
        says="the caller's lengths have more rows after the call than before",
        asks="Print the lengths after the call. What will the next layer, which gets the same ones, do?",
    ),
    mistake(
        "mha-residual-inside",
        edit(
            "queries = transpose_qkv(",
            """
            asked = queries, keys
            queries = transpose_qkv(
            """,
        ),
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "self.W_o(transpose_output(heads, self.num_heads)) + asked[0]",
        ),
        says="the queries were added to the result",
        asks="Which block of a Transformer has the task of adding what went in to what came out?",
        kind="different",
    ),
    mistake(
        "mha-residual-where-it-fits",
        edit(
            "queries = transpose_qkv(",
            """
            asked = queries, keys
            queries = transpose_qkv(
            """,
        ),
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "self.W_o(transpose_output(heads, self.num_heads)) + (asked[0] if asked[0].shape[-1] == self.W_o.out_features else 0)",
        ),
        says="the queries were added to the result wherever their size allows it",
        asks="Which block of a Transformer has the task of adding what went in to what came out?",
        kind="different",
    ),
    mistake(
        "mha-returns-pair",
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "self.W_o(transpose_output(heads, self.num_heads)), self.attention.attention_weights",
        ),
        says="two things come back, the result and the weights, where one was asked for",
        asks="What does the docstring say comes back?",
        kind="different",
    ),
    mistake(
        "mha-normalised-inside",
        edit(
            "self.W_o(transpose_output(heads, self.num_heads))",
            "nn.functional.layer_norm(self.W_o(transpose_output(heads, self.num_heads)), (self.W_o.out_features,))",
        ),
        says="the result was normalised over its features",
        asks="What are the mean and the spread of one row of your result, whatever goes in?",
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
        says="nothing can be learned: gradients were switched off in forward",
        asks="Your numbers are right. What happens on the way back?",
    ),
    mistake(
        "mha-weights-cut-off",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            "heads = self.attention(queries.detach(), keys.detach(), values, valid_lens)",
        ),
        says="no gradient flows through the attention weights: the layers for queries and keys never learn",
        asks="After a backward pass, which layers have a gradient that is not zero?",
    ),
    mistake(
        "mha-keys-cut-off",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            "heads = self.attention(queries, keys.detach(), values, valid_lens)",
        ),
        says="no gradient flows through the keys",
        asks="After a backward pass, which layers have a gradient that is not zero?",
    ),
    mistake(
        "mha-queries-cut-off",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            "heads = self.attention(queries.detach(), keys, values, valid_lens)",
        ),
        says="no gradient flows through the queries",
        asks="After a backward pass, which layers have a gradient that is not zero?",
    ),
    mistake(
        "mha-values-cut-off",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            "heads = self.attention(queries, keys, values.detach(), valid_lens)",
        ),
        says="no gradient flows through the values",
        asks="After a backward pass, which layers have a gradient that is not zero?",
    ),
    mistake(
        "mha-no-dropout",
        edit("DotProductAttention(dropout)", "DotProductAttention(0.0)"),
        says="nothing is ever dropped, whatever rate was asked for",
        asks="Call your module twice in training on the same input. Should the results agree?",
    ),
    mistake(
        "mha-dropout-before-softmax",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            from grader.given import masked_softmax
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            scores = self.attention.dropout(scores)
            self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
            heads = torch.bmm(weights, values)
            """,
        ),
        says="scores were dropped before the softmax, so that no weight ever is",
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
        says="features of the result were dropped, not attention weights",
        asks="When a weight is dropped, which numbers of a head change together?",
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
        says="features of the values were dropped, not attention weights",
        asks="When a weight is dropped, which numbers of a head change together?",
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
        says="the result is dropped once more after the output layer",
        asks="Which block of a Transformer drops what comes out of a layer?",
        kind="different",
    ),
    mistake(
        "mha-dropout-not-made-up-for",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            from grader.given import masked_softmax
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            scores = scores
            self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
            heads = torch.bmm(self.attention.dropout(weights) * (1 - self.attention.dropout.p if self.training else 1), values)
            """,
        ),
        says="weights are dropped and the others are not scaled up to make up for it",
        asks="What is the mean of your result in training, over many calls, and what in evaluation?",
    ),
    mistake(
        "mha-dropout-share-inverted",
        edit("DotProductAttention(dropout)", "DotProductAttention(1 - dropout)"),
        says="the share that should be dropped is kept, and the share that should be kept is dropped",
        asks="Is the number that you are handed the share that stays or the share that goes?",
    ),
    mistake(
        "mha-dropout-in-evaluation",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            from grader.given import masked_softmax
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
            scores = scores
            self.attention.attention_weights = weights = masked_softmax(scores, valid_lens)
            heads = torch.bmm(nn.functional.dropout(weights, self.attention.dropout.p), values)
            """,
        ),
        says="weights are dropped in evaluation too",
        asks="Who tells a function, as opposed to a layer, whether the model is being trained?",
        steady=False,
    ),
    mistake(
        "mha-keeps-dropped-weights",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
            """
            heads = self.attention(queries, keys, values, valid_lens)
            drop, weights = self.attention.dropout, self.attention.attention_weights
            self.attention.attention_weights = drop(weights)
            heads = torch.bmm(self.attention.attention_weights, values)
            """,
        ),
        says="the weights that are kept are those after dropout",
        asks="Should a picture of the weights show holes that are there by chance?",
        kind="policy",
        breaks=["weights"],
    ),
    device_mistake(
        "mha-lens-through-a-list",
        edit(
            "valid_lens = valid_lens.repeat_interleave(",
            "valid_lens = torch.tensor(valid_lens.tolist()).repeat_interleave(",
        ),
        says="the lengths go through a Python list and come back on the CPU",
        asks="On which device are the lengths before that line, and after it?",
    ),
    dtype_mistake(
        "mha-fill-minus-1e9",
        edit(
            "heads = self.attention(queries, keys, values, valid_lens)",
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
        says="hidden scores are filled with a number that is too large for half precision",
        asks="Which is the lowest number that the dtype of the scores can hold?",
    ),
    dtype_mistake(
        "mha-joined-into-float32",
        edit("transpose_output(heads, self.num_heads)", "transpose_output(heads, self.num_heads).float()"),
        says=(
            "the joined heads are in single precision when they meet the output layer, whatever dtype its "
            "weights have"
        ),
        asks="In which dtype are the weights of the output layer?",
    ),
]
