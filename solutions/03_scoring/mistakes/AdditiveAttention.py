"""Known mistakes in AdditiveAttention; their pages are in AdditiveAttention.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

# torch.bmm takes tensors with three axes only; @ takes other numbers of axes, too.
BY_BMM = edit(
    "self.dropout(self.attention_weights) @ values",
    "torch.bmm(self.dropout(self.attention_weights), values)",
)

MISTAKES = [
    mistake(
        "additive-no-tanh",
        edit("torch.tanh(queries + keys)", "queries + keys"),
        says="there is no non-linearity, so every query gets the same weights",
        asks=(
            "The score is a query term plus a key term. Which of the two has no effect on the softmax of a "
            "row?"
        ),
    ),
    mistake(
        "additive-bent-apart",
        edit("torch.tanh(queries + keys)", "torch.tanh(queries) + torch.tanh(keys)"),
        says="tanh is applied to query and key separately, so every query gets the same weights",
        asks=(
            "If tanh is applied to the query alone, can the query still change which key gets the most "
            "weight?"
        ),
    ),
    mistake(
        "additive-tanh-too-late",
        edit("torch.tanh(queries + keys)", "queries + keys"),
        edit("self.w_v(features).squeeze(-1)", "torch.tanh(self.w_v(features).squeeze(-1))"),
        says="tanh is applied to the score instead of the hidden features",
        asks="Is tanh applied to one number per pair, or to every hidden feature?",
    ),
    mistake(
        "additive-relu",
        edit("torch.tanh(", "torch.relu("),
        says="a ReLU is used instead of tanh",
        asks="Which non-linearity does the formula of Bahdanau et al. use?",
        kind="different",
    ),
    mistake(
        "additive-sigmoid",
        edit("torch.tanh(", "torch.sigmoid("),
        says="a sigmoid is used instead of tanh",
        asks="Which non-linearity does the formula of Bahdanau et al. use?",
        kind="different",
    ),
    mistake(
        "additive-axes-exchanged",
        edit("self.W_q(queries)[:, :, None, :]", "self.W_q(queries)[:, None, :, :]"),
        edit("self.W_k(keys)[:, None, :, :]", "self.W_k(keys)[:, :, None, :]"),
        says="the table of scores is transposed: it has keys as rows and queries as columns",
        asks="Which two sizes does your table of scores have, and in which order should they be?",
    ),
    mistake(
        "additive-pairs-not-made",
        edit("self.W_q(queries)[:, :, None, :]", "self.W_q(queries)"),
        edit("self.W_k(keys)[:, None, :, :]", "self.W_k(keys)"),
        says="queries and keys are added without a new axis for each, so only equal positions could meet",
        asks="There is one score per pair. Which four axes does the sum of queries and keys have?",
        forms=[
            [
                edit("self.W_q(queries)[:, :, None, :]", "self.W_q(queries)"),
                edit("self.W_k(keys)[:, None, :, :]", "self.W_k(keys)"),
                BY_BMM,
            ]
        ],
    ),
    mistake(
        "additive-last-axis-kept",
        edit(".squeeze(-1)  # (B, T, S)", ""),
        says="the scores keep an axis of size one at the end",
        asks="Which shape does a linear layer with one output return, and which shape should the scores have?",
        forms=[[edit(".squeeze(-1)  # (B, T, S)", ""), BY_BMM]],
    ),
    mistake(
        "additive-squeeze-everything",
        edit(".squeeze(-1)", ".squeeze()"),
        says=(
            "all axes of size one are removed instead of only the last, so a batch of one loses its batch "
            "axis"
        ),
        asks="Which shape do your scores have for one sequence and one query?",
    ),
    mistake(
        "additive-sizes-exchanged",  # with a third name: after the first edit, query_size would occur twice
        edit("nn.Linear(key_size, num_hiddens", "nn.Linear(size_of_queries, num_hiddens"),
        edit("nn.Linear(query_size, num_hiddens", "nn.Linear(key_size, num_hiddens"),
        edit(
            "super().__init__()",
            """
            super().__init__()
            size_of_queries = query_size
            """,
        ),
        says="the layers for queries and keys are created with each other's input size",
        asks="Which layer gets vectors of the size of a key?",
    ),
    mistake(
        "additive-layers-exchanged",
        edit("self.W_q(queries)", "self.W_k(queries)"),
        edit("self.W_k(keys)", "self.W_q(keys)"),
        says="the queries are projected with W_k and the keys with W_q",
        asks="Which layer belongs to the queries, and which to the keys?",
    ),
    mistake(
        "additive-one-layer-for-both",
        edit("self.W_k(keys)", "self.W_q(keys)"),
        says="the keys are projected with W_q",
        asks="Is there a layer that your code never calls?",
    ),
    mistake(
        "additive-with-biases",
        edit("num_hiddens, bias=False)", "num_hiddens)", times=2),
        says="the layers for queries and keys have biases, which the exercise does not allow",
        asks="How many parameters does each of your layers have, and how many should it have?",
        kind="different",
    ),
    mistake(
        "additive-multiplies",
        edit("torch.tanh(queries + keys)", "torch.tanh(queries * keys)"),
        says="query and key are multiplied before tanh instead of added",
        asks="Why is additive attention called additive?",
        kind="different",
    ),
    mistake(
        "additive-features-summed",
        edit("self.w_v(features).squeeze(-1)", "features.sum(dim=-1)"),
        says="the hidden features are added up, and the last layer is not used",
        asks="Which of your three layers gets no gradient?",
    ),
    mistake(
        "additive-mixes-projected-keys",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights) @ keys[:, 0]",
        ),
        says="the projected keys are averaged instead of the values",
        asks="Does your result change when the values change?",
        forms=[
            [
                edit(
                    "self.dropout(self.attention_weights) @ values",
                    "self.dropout(self.attention_weights) @ keys",
                )
            ]
        ],
    ),
    mistake(
        "additive-also-scaled",
        edit(".squeeze(-1)", ".squeeze(-1) / math.sqrt(features.shape[-1])"),
        says="the scores are divided by the square root of the number of hidden features",
        asks="Which of the two attention modules needs a fixed scale, and why does the other one need none?",
        kind="different",
    ),
    mistake(
        "additive-lens-ignored",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores, None)",
        ),
        says="the lengths are not used, so queries also see padded keys",
        asks="Which line of your code would give another result with other lengths?",
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
        says="with one length per query, nothing is masked",
        asks="Lengths can have two shapes. What is the second one used for?",
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
        says="with one length per query, the length of the first query is used for all queries",
        asks="If the first query may see one key, how many keys does the last query see in your version?",
    ),
    mistake(
        "additive-softmax-over-queries",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = scores.masked_fill(masked_softmax(scores, valid_lens) == 0, -1e9).softmax(dim=1)",
        ),
        says="the softmax runs over the queries instead of the keys",
        asks="Add up one row of your weights. Do the weights of every query sum to one?",
    ),
    mistake(
        "additive-no-softmax",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = scores.masked_fill(masked_softmax(scores, valid_lens) == 0, -1e9).relu()",
        ),
        says="negative scores are set to zero, and there is no softmax",
        asks="What is the sum of the weights of one query?",
    ),
    mistake(
        "additive-averages-keys",
        edit("keys = self.W_k(keys)", "compared, keys = keys, self.W_k(keys)"),
        edit(
            "self.dropout(self.attention_weights) @ values", "self.dropout(self.attention_weights) @ compared"
        ),
        says="the keys are averaged instead of the values",
        asks="What are the keys for, and what are the values for?",
    ),
    mistake(
        "additive-averages-queries",
        edit("queries = self.W_q(queries)", "asked, queries = queries, self.W_q(queries)"),
        edit("self.dropout(self.attention_weights) @ values", "self.dropout(self.attention_weights) @ asked"),
        says="the queries are averaged instead of the values",
        asks="What are the queries for, and what are the values for?",
        forms=[
            [
                edit("queries = self.W_q(queries)", "asked, queries = queries, self.W_q(queries)"),
                edit(
                    "self.dropout(self.attention_weights) @ values",
                    'torch.einsum("bts,bsd->btd", self.dropout(self.attention_weights), asked)',
                ),
            ],
            [
                edit(
                    "self.dropout(self.attention_weights) @ values",
                    "self.dropout(self.attention_weights) @ queries[:, :, 0]",
                )
            ],
        ],
    ),
    mistake(
        "additive-plain-average",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights.mean(dim=1, keepdim=True).expand_as(scores)) @ values",
        ),
        says="the weights of all queries are averaged, so every query gets the same answer",
        asks="Call your module with two very different queries. Do the two rows of the result differ?",
    ),
    mistake(
        "additive-no-dropout",
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says="no dropout is applied in training mode",
        asks="Which line of your code calls the dropout layer?",
    ),
    mistake(
        "additive-dropout-on-result",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights @ values)",
        ),
        says="dropout is applied to the result instead of the attention weights",
        asks=(
            "What should dropout remove for a query: some of the keys, or some of the features of its result?"
        ),
    ),
    mistake(
        "additive-dropout-on-scores",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(self.dropout(scores), valid_lens)",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says=(
            "dropout is applied before the softmax, to the scores or to the tensors that they are computed "
            "from"
        ),
        asks="Which weight does a key get when its score is set to zero?",
    ),
    mistake(
        "additive-dropout-by-default",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "nn.functional.dropout(self.attention_weights) @ values",
        ),
        says="dropout is called without the rate and without the mode: it drops one half, also in evaluation mode",
        asks="Which rate does `nn.functional.dropout` use if you pass none, and how does it know the mode of your module?",
    ),
    mistake(
        "additive-dropout-always",
        edit("self.dropout = nn.Dropout(dropout)", "self.rate = dropout"),
        edit(
            "self.dropout(self.attention_weights) @ values",
            "nn.functional.dropout(self.attention_weights, self.rate) @ values",
        ),
        says="dropout is also applied in evaluation mode",
        asks="How does your dropout know whether the model is in training mode?",
    ),
    mistake(
        "additive-dropout-not-scaled-up",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(self.dropout(self.attention_weights) * (1 - self.dropout.p if self.training else 1)) @ values",
        ),
        says="the weights that dropout keeps are not scaled up",
        asks="If dropout removes half of the weights, what happens to the mean of the result?",
    ),
    mistake(
        "additive-dropout-shared-out-again",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(lambda w: w / w.sum(-1, keepdim=True).clamp(min=1e-9))(self.dropout(self.attention_weights)) @ values",
        ),
        says="the weights are divided by their sum again after dropout",
        asks="Should a row of weights always sum to one in training mode, or only on average?",
    ),
    mistake(
        "additive-dropout-rate-fixed",
        edit("nn.Dropout(dropout)", "nn.Dropout(min(dropout, 0.1))"),
        says="the dropout rate is fixed instead of the rate that was passed",
        asks="Where does your code use the rate that was passed to the constructor?",
    ),
    mistake(
        "additive-keeps-dropped-weights",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = self.dropout(masked_softmax(scores, valid_lens))",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says="the stored weights are the weights after dropout",
        asks="Should the rows of the stored weights sum to one in training mode?",
    ),
    mistake(
        "additive-keeps-no-weights",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "attention_weights = masked_softmax(scores, valid_lens)",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.dropout(attention_weights) @ values"),
        says="the attention weights are not stored",
        asks="How could you plot after the call which keys each query used?",
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
        says="the scores are stored instead of the weights",
        asks="Can a weight be negative, and what is the sum of a row of the stored values?",
    ),
    mistake(
        "additive-scores-detached",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores.detach(), valid_lens)",
        ),
        says="the result is right, but no gradient flows back through the weights",
        asks="How do the layers that compute queries and keys learn?",
    ),
    mistake(
        "additive-result-detached",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(self.dropout(self.attention_weights) @ values).detach()",
        ),
        says="the result is right, but no gradient flows back from it",
        asks="Which tensors is the result still connected to when `backward` runs?",
    ),
    mistake(
        "additive-values-detached",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights) @ values.detach()",
        ),
        says="the result is right, but no gradient reaches the values",
        asks="The result depends on the weights and on the values. Which of the two gets no gradient?",
    ),
    mistake(
        "additive-returns-pair",
        edit(
            "return self.dropout(self.attention_weights) @ values",
            "return self.dropout(self.attention_weights) @ values, self.attention_weights",
        ),
        says="a pair is returned instead of the result alone",
        asks="Where should the weights be stored after the call?",
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
        says="no query can see keys after its own position, although the lengths allow it",
        asks="Should this module decide that a query must not look ahead, or should the lengths?",
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
        says="the module creates missing lengths on the CPU",
        asks="On which device are the keys, and on which device are the lengths that you create?",
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
        says="the fill value for hidden scores is out of range for float16",
        asks="What is the lowest value that the dtype of the scores can represent?",
    ),
    dtype_mistake(
        "additive-weights-in-single",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores.float(), valid_lens)",
        ),
        says="the weights are always in single precision, whatever the dtype of the values is",
        asks=(
            "In which dtype are the values, and in which dtype are the weights that they are multiplied with?"
        ),
    ),
]
