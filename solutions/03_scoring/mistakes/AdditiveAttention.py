"""Known mistakes in AdditiveAttention; their pages are in AdditiveAttention.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "additive-no-tanh",
        edit("torch.tanh(queries + keys)", "queries + keys"),
        says="the sum of query and key is not bent, so every query gets the same weights",
        asks=(
            "If the score is one part from the query plus one part from the key, which part does a row's "
            "softmax not see?"
        ),
    ),
    mistake(
        "additive-bent-apart",
        edit("torch.tanh(queries + keys)", "torch.tanh(queries) + torch.tanh(keys)"),
        says=(
            "query and key do not meet before they are bent, so every query gets the weights of the keys "
            "alone"
        ),
        asks="Can the query still change which key is best, if it is bent before it meets the key?",
    ),
    mistake(
        "additive-tanh-too-late",
        edit("torch.tanh(queries + keys)", "queries + keys"),
        edit("self.w_v(features).squeeze(-1)", "torch.tanh(self.w_v(features).squeeze(-1))"),
        says="the score is bent instead of the hidden features",
        asks=(
            "How many numbers of each pair should go through the bend: one, or one for every hidden feature?"
        ),
    ),
    mistake(
        "additive-relu",
        edit("torch.tanh(", "torch.relu("),
        says="a ReLU bends the sums instead of a tanh",
        asks="Which function does the formula of Bahdanau and others bend with?",
        kind="different",
    ),
    mistake(
        "additive-sigmoid",
        edit("torch.tanh(", "torch.sigmoid("),
        says="a sigmoid bends the sums instead of a tanh",
        asks="Which function does the formula of Bahdanau and others bend with?",
        kind="different",
    ),
    mistake(
        "additive-axes-exchanged",
        edit("self.W_q(queries)[:, :, None, :]", "self.W_q(queries)[:, None, :, :]"),
        edit("self.W_k(keys)[:, None, :, :]", "self.W_k(keys)[:, :, None, :]"),
        says=(
            "queries and keys have changed places in the table of scores: keys down the side, queries along"
            " the top"
        ),
        asks="Which two sizes has your table of scores, and in which order should they stand?",
    ),
    mistake(
        "additive-squeeze-everything",
        edit(".squeeze(-1)", ".squeeze()"),
        says="all axes of size one are removed, not only the last: a batch of one loses its batch axis",
        asks="What shape have your scores for one sequence and one query?",
    ),
    mistake(
        "additive-sizes-exchanged",
        edit("nn.Linear(key_size, num_hiddens", "nn.Linear(size_of_queries, num_hiddens"),
        edit("nn.Linear(query_size, num_hiddens", "nn.Linear(key_size, num_hiddens"),
        edit(
            "super().__init__()",
            """
            super().__init__()
            size_of_queries = query_size
            """,
        ),
        says="the layer for the keys was built with the size of the queries, and the other way round",
        asks="Which layer will meet vectors of the size of a key?",
    ),
    mistake(
        "additive-layers-exchanged",
        edit("self.W_q(queries)", "self.W_k(queries)"),
        edit("self.W_k(keys)", "self.W_q(keys)"),
        says="the queries go through the layer of the keys, and the keys through that of the queries",
        asks="Which of the two layers is meant for what is asked, and which for what is compared with it?",
    ),
    mistake(
        "additive-one-layer-for-both",
        edit("self.W_k(keys)", "self.W_q(keys)"),
        says="the keys go through the layer of the queries",
        asks="Is any of your layers never called?",
    ),
    mistake(
        "additive-with-biases",
        edit("num_hiddens, bias=False)", "num_hiddens)", times=2),
        says="the layers for queries and keys have biases, which were not asked for",
        asks="How many numbers does each of your layers learn, and how many should it?",
        kind="different",
    ),
    mistake(
        "additive-multiplies",
        edit("torch.tanh(queries + keys)", "torch.tanh(queries * keys)"),
        says="query and key are multiplied before they are bent, instead of added",
        asks="What has given additive attention its name?",
        kind="different",
    ),
    mistake(
        "additive-features-summed",
        edit("self.w_v(features).squeeze(-1)", "features.sum(dim=-1)"),
        says="the hidden features are added up evenly, and the last layer is not used",
        asks="Which of your three layers gets no gradient?",
    ),
    mistake(
        "additive-mixes-projected-keys",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights) @ keys[:, 0]",
        ),
        says="the keys behind their layer are averaged instead of the values",
        asks="Does anything in your result change when the values change?",
    ),
    mistake(
        "additive-also-scaled",
        edit(".squeeze(-1)", ".squeeze(-1) / math.sqrt(features.shape[-1])"),
        says="the scores are divided by the square root of the number of hidden features",
        asks="Which of the two attentions needs a scale, and what takes care of it in the other?",
        kind="different",
    ),
    mistake(
        "additive-lens-ignored",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores, None)",
        ),
        says="the lengths are not used: queries look at padded keys too",
        asks="Which line of yours would run differently if the lengths were others?",
    ),
    mistake(
        "additive-query-lens-ignored",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            """
            if valid_lens is not None and valid_lens.dim() == 2:
                valid_lens = None
            self.attention_weights = masked_softmax(scores, valid_lens)
            """,
        ),
        says="with one length a query, nothing is masked",
        asks="In how many shapes may the lengths come, and what is the second one good for?",
    ),
    mistake(
        "additive-first-query-lens",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            """
            if valid_lens is not None and valid_lens.dim() == 2:
                valid_lens = valid_lens[:, 0]
            self.attention_weights = masked_softmax(scores, valid_lens)
            """,
        ),
        says="with one length a query, the length of the first query is used for all",
        asks="If the first query may see one key, how many may the last one see in your version?",
    ),
    mistake(
        "additive-softmax-over-queries",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = scores.masked_fill(masked_softmax(scores, valid_lens) == 0, -1e9).softmax(dim=1)",
        ),
        says="the softmax runs over the queries instead of the keys",
        asks="Add up one row of your weights. Does every query share out exactly one whole?",
    ),
    mistake(
        "additive-no-softmax",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = scores.masked_fill(masked_softmax(scores, valid_lens) == 0, -1e9).relu()",
        ),
        says="negative scores are cut off, and no softmax makes the scores into shares",
        asks="What do the weights of one query add up to?",
    ),
    mistake(
        "additive-averages-keys",
        edit("self.dropout(self.attention_weights) @ values", "self.dropout(self.attention_weights) @ keys"),
        says="the keys are averaged instead of the values",
        asks="What are keys for, and what are values for?",
    ),
    mistake(
        "additive-plain-average",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights.mean(dim=1, keepdim=True).expand_as(scores)) @ values",
        ),
        says="the weights of all queries are averaged, so every query gets the same answer",
        asks="Ask two very different queries. Do the two rows of your result differ?",
    ),
    mistake(
        "additive-no-dropout",
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says="nothing is dropped in training",
        asks="Who calls the dropout layer that you built?",
    ),
    mistake(
        "additive-dropout-on-result",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights @ values)",
        ),
        says="dropout acts on the features of the result instead of on the weights",
        asks="What should a query now and then do without: some of the keys, or some of its features?",
    ),
    mistake(
        "additive-dropout-on-scores",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(self.dropout(scores), valid_lens)",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says="dropout acts before the softmax, on the scores or on what they are made of",
        asks="What weight does a key get whose score was set to zero?",
    ),
    mistake(
        "additive-dropout-always",
        edit("self.dropout = nn.Dropout(dropout)", "self.rate = dropout"),
        edit(
            "self.dropout(self.attention_weights) @ values",
            "nn.functional.dropout(self.attention_weights, self.rate) @ values",
        ),
        says="weights are dropped in evaluation as well",
        asks="How does your dropout get to know whether the model is training?",
    ),
    mistake(
        "additive-dropout-not-scaled-up",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(self.dropout(self.attention_weights) * (1 - self.dropout.p if self.training else 1)) @ values",
        ),
        says="weights are dropped in training, but those that stay are not made larger to make up for it",
        asks="If half of the weights are dropped, what happens to the average of the result?",
    ),
    mistake(
        "additive-dropout-shared-out-again",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(lambda w: w / w.sum(-1, keepdim=True).clamp(min=1e-9))(self.dropout(self.attention_weights)) @ values",
        ),
        says="after dropout the weights are divided by their sum again",
        asks="What should a row of weights sum to in training, always one, or one on average?",
    ),
    mistake(
        "additive-dropout-rate-fixed",
        edit("nn.Dropout(dropout)", "nn.Dropout(min(dropout, 0.1))"),
        says="a fixed rate of dropout is used instead of the one asked for",
        asks="Where in your code does the number that the caller chose arrive?",
    ),
    mistake(
        "additive-keeps-dropped-weights",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = self.dropout(masked_softmax(scores, valid_lens))",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says="the weights that are kept are those after dropout",
        asks="When you look at the weights in training, should their rows sum to one?",
    ),
    mistake(
        "additive-keeps-no-weights",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "attention_weights = masked_softmax(scores, valid_lens)",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.dropout(attention_weights) @ values"),
        says="the weights are not kept for looking at",
        asks="After the call, how would somebody draw a picture of where each query looked?",
    ),
    mistake(
        "additive-keeps-scores",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(masked_softmax(scores, valid_lens)) @ values",
        ),
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = scores",
        ),
        says="the scores are kept instead of the weights",
        asks="Can a weight be negative, and what do the kept numbers of a row add up to?",
    ),
    mistake(
        "additive-scores-detached",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores.detach(), valid_lens)",
        ),
        says="the result is right, but no gradient flows back through the weights",
        asks="How are the layers that make queries and keys to learn where to look?",
    ),
    mistake(
        "additive-result-detached",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(self.dropout(self.attention_weights) @ values).detach()",
        ),
        says="the result is right, but no gradient flows back from it at all",
        asks="What is the result still connected to when the loss is computed?",
    ),
    mistake(
        "additive-values-detached",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights) @ values.detach()",
        ),
        says="the result is right, but no gradient flows back to the values",
        asks="By which two ways does the loss reach what stands before the attention, and which one is cut?",
    ),
    mistake(
        "additive-returns-pair",
        edit(
            "return self.dropout(self.attention_weights) @ values",
            "return self.dropout(self.attention_weights) @ values, self.attention_weights",
        ),
        says="the weights come back together with the result, as a pair",
        asks="Where should the weights be found after the call?",
        kind="different",
    ),
    mistake(
        "additive-also-causal",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            """
            ahead = torch.ones_like(scores[0]).triu(1).bool()
            self.attention_weights = masked_softmax(scores.masked_fill(ahead, -1e30), valid_lens)
            """,
        ),
        says="every query is kept from looking at keys behind its own position",
        asks="Who decides whether a query may look ahead: this module, or the lengths it is given?",
    ),
    device_mistake(
        "additive-full-lens-on-the-cpu",
        edit(
            "queries = self.W_q(queries)",
            """
            if valid_lens is None:
                valid_lens = torch.full((keys.shape[0],), keys.shape[1])
            queries = self.W_q(queries)
            """,
        ),
        says="lengths that were not given are made up on the CPU",
        asks="Where do the keys live, and where the lengths made here?",
    ),
    dtype_mistake(
        "additive-fill-minus-1e9",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            """
            hidden = masked_softmax(torch.zeros_like(scores), valid_lens) == 0
            self.attention_weights = scores.masked_fill(hidden, -1e9).softmax(dim=-1)
            """,
        ),
        says="hidden scores are filled with a number that is too large for half precision",
        asks="Which is the lowest number that the dtype of the scores can hold?",
    ),
    dtype_mistake(
        "additive-weights-in-single",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores.float(), valid_lens)",
        ),
        says="the weights are in single precision when they meet the values, whatever dtype those have",
        asks="In which dtype are the values, and in which are the weights that they are multiplied with?",
    ),
]
