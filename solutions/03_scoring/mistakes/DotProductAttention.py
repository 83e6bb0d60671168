"""Known mistakes in DotProductAttention; their pages are in DotProductAttention.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "dot-not-scaled",
        edit(" / math.sqrt(head_size)", ""),
        says="the scores are not scaled",
        asks=(
            "How large is a typical dot product of two vectors with 64 elements, and which weights does a "
            "softmax compute from it?"
        ),
    ),
    mistake(
        "dot-scaled-up",
        edit("/ math.sqrt(head_size)", "* math.sqrt(head_size)"),
        says="the scores are multiplied by the scale instead of divided by it",
        asks="Should the scale make scores larger or smaller?",
    ),
    mistake(
        "dot-scaled-without-root",
        edit("math.sqrt(head_size)", "head_size"),
        says="the scores are divided by the size of a key instead of its square root",
        asks="Is the size of a typical score its variance or its standard deviation?",
    ),
    mistake(
        "dot-scaled-by-half",
        edit("math.sqrt(head_size)", "(head_size / 2)"),
        says="the scores are divided by half the size of a key instead of its square root: Python computes a power before a division",
        asks="Which does Python compute first, a power or the division that comes after it?",
    ),
    mistake(
        "dot-scaled-by-number-of-keys",
        edit("queries.shape[-1]", "keys.shape[1]"),
        says="the scale is computed from the number of keys instead of their size",
        asks="How many products are added up in one score?",
    ),
    mistake(
        "dot-scaled-by-number-of-queries",
        edit("queries.shape[-1]", "queries.shape[1]"),
        says="the scale is computed from the number of queries instead of their size",
        asks="Should the answer to one query change when you pass another query along with it?",
    ),
    mistake(
        "dot-scaled-by-values",
        edit("queries.shape[-1]", "values.shape[-1]"),
        says="the scale is computed from the size of the values",
        asks="Which vectors are in the dot product?",
    ),
    mistake(
        "dot-scaled-by-batch",
        edit("queries.shape[-1]", "queries.shape[0]"),
        says="the scale is computed from the size of the batch",
        asks="Should the answer for a sentence change when the batch contains more sentences?",
    ),
    mistake(
        "dot-scaled-after-softmax",
        edit(" / math.sqrt(head_size)", ""),
        edit(
            "masked_softmax(scores, valid_lens)",
            "masked_softmax(scores, valid_lens) / math.sqrt(head_size)",
        ),
        says="the weights are scaled instead of the scores",
        asks="What should the weights of one query still sum to?",
    ),
    mistake(
        "dot-scores-transposed",
        edit("queries @ keys.transpose(1, 2)", "keys @ queries.transpose(1, 2)"),
        says="the table of scores is transposed: it has keys as rows and queries as columns",
        asks="Which two sizes does your table of scores have, and in which order should they be?",
    ),
    mistake(
        "dot-keys-not-transposed",
        edit("queries @ keys.transpose(1, 2)", "torch.bmm(queries, keys)"),
        says="the queries are multiplied by the keys as they are, without exchanging the last two axes of the keys",
        asks="Write down the shapes of both factors. Which two sizes must be equal in a matrix product?",
    ),
    mistake(
        "dot-keys-transposed-over-the-batch",
        edit("keys.transpose(1, 2)", "keys.transpose(0, 1)"),
        says="the batch axis of the keys is exchanged with the axis of the keys, instead of the last two axes",
        asks="Which axes do the keys have, and which two of them does the product need in the other order?",
        forms=[[edit("queries @ keys.transpose(1, 2)", "torch.bmm(queries, keys.transpose(0, 1))")]],
    ),
    mistake(
        "dot-values-first",
        edit(
            "self.dropout(self.attention_weights) @ values", "values @ self.dropout(self.attention_weights)"
        ),
        says="the product has the values on the left and the weights on the right",
        asks="Each row of the result is a sum of values. Which factor holds the weights of one row?",
    ),
    mistake(
        "dot-softmax-arguments-swapped",
        edit("masked_softmax(scores, valid_lens)", "masked_softmax(valid_lens, scores)"),
        says="the lengths are passed to masked_softmax as its scores, and the scores as its lengths",
        asks="In which order does masked_softmax take its two arguments?",
        forms=[
            [
                edit(
                    "self.attention_weights = masked_softmax(scores, valid_lens)",
                    """
                    rows = valid_lens.reshape(-1, valid_lens.shape[-1])
                    rows[torch.arange(rows.shape[1])[None] >= scores.reshape(-1)[:, None]] = -1e6
                    self.attention_weights = rows.softmax(dim=-1)
                    """,
                )
            ]
        ],
    ),
    mistake(
        "dot-keys-reshaped",
        edit("keys.transpose(1, 2)", "keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1])"),
        says="the axes of the keys are reshaped instead of transposed",
        asks="Does reshaping a table with 2 rows and 3 columns into 3 rows and 2 columns transpose it?",
    ),
    mistake(
        "dot-keys-ask",
        edit("queries @ keys.transpose(1, 2)", "queries @ queries.transpose(1, 2)"),
        says="the queries are compared with the queries, and the keys are not used",
        asks="Do your scores change when the keys change?",
    ),
    mistake(
        "dot-cosine",
        edit(
            "queries @ keys.transpose(1, 2) / math.sqrt(head_size)",
            "nn.functional.normalize(queries, dim=-1) @ nn.functional.normalize(keys, dim=-1).transpose(1, 2)",
        ),
        says="the scores are cosines, so the lengths of queries and keys have no effect",
        asks="Should a key that is twice as long get another score?",
        kind="different",
    ),
    mistake(
        "dot-distance",
        edit("queries @ keys.transpose(1, 2) / math.sqrt(head_size)", "-torch.cdist(queries, keys) ** 2 / 2"),
        says="the scores are negative squared distances, as in lesson 01",
        asks="Two vectors are equal and long. What is their distance, and what is their dot product?",
        kind="different",
    ),
    mistake(
        "dot-changes-the-queries",
        edit(
            "scores = queries @ keys.transpose(1, 2) / math.sqrt(head_size)",
            """
            queries /= math.sqrt(head_size)
            scores = queries @ keys.transpose(1, 2)
            """,
        ),
        says="the result is right, but the caller's queries are scaled in place",
        asks="What does a second call with the same queries return?",
    ),
    mistake(
        "dot-lens-ignored",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores, None)",
        ),
        says="the lengths are not used, so queries also see padded keys",
        asks="Which line of your code would give another result with other lengths?",
    ),
    mistake(
        "dot-query-lens-ignored",
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
        "dot-first-query-lens",
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
        "dot-softmax-over-queries",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = scores.masked_fill(masked_softmax(scores, valid_lens) == 0, -1e9).softmax(dim=1)",
        ),
        says="the softmax runs over the queries instead of the keys",
        asks="Add up one row of your weights. Do the weights of every query sum to one?",
    ),
    mistake(
        "dot-no-softmax",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = scores.masked_fill(masked_softmax(scores, valid_lens) == 0, -1e9).relu()",
        ),
        says="negative scores are set to zero, and there is no softmax",
        asks="What is the sum of the weights of one query?",
    ),
    mistake(
        "dot-averages-keys",
        edit("self.dropout(self.attention_weights) @ values", "self.dropout(self.attention_weights) @ keys"),
        says="the keys are averaged instead of the values",
        asks="What are the keys for, and what are the values for?",
    ),
    mistake(
        "dot-averages-queries",
        edit(
            "self.dropout(self.attention_weights) @ values", "self.dropout(self.attention_weights) @ queries"
        ),
        says="the queries are averaged instead of the values",
        asks="What are the queries for, and what are the values for?",
        forms=[
            [
                edit(
                    "self.dropout(self.attention_weights) @ values",
                    'torch.einsum("bts,bsd->btd", self.dropout(self.attention_weights), queries)',
                )
            ]
        ],
    ),
    mistake(
        "dot-plain-average",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights.mean(dim=1, keepdim=True).expand_as(scores)) @ values",
        ),
        says="the weights of all queries are averaged, so every query gets the same answer",
        asks="Call your module with two very different queries. Do the two rows of the result differ?",
    ),
    mistake(
        "dot-no-dropout",
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says="no dropout is applied in training mode",
        asks="Which line of your code calls the dropout layer?",
    ),
    mistake(
        "dot-dropout-on-result",
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
        "dot-dropout-on-scores",
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
        "dot-dropout-by-default",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "nn.functional.dropout(self.attention_weights) @ values",
        ),
        says="dropout is called without the rate and without the mode: it drops one half, also in evaluation mode",
        asks="Which rate does `nn.functional.dropout` use if you pass none, and how does it know the mode of your module?",
    ),
    mistake(
        "dot-dropout-always",
        edit("self.dropout = nn.Dropout(dropout)", "self.rate = dropout"),
        edit(
            "self.dropout(self.attention_weights) @ values",
            "nn.functional.dropout(self.attention_weights, self.rate) @ values",
        ),
        says="dropout is also applied in evaluation mode",
        asks="How does your dropout know whether the model is in training mode?",
    ),
    mistake(
        "dot-dropout-not-scaled-up",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(self.dropout(self.attention_weights) * (1 - self.dropout.p if self.training else 1)) @ values",
        ),
        says="the weights that dropout keeps are not scaled up",
        asks="If dropout removes half of the weights, what happens to the mean of the result?",
    ),
    mistake(
        "dot-dropout-shared-out-again",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(lambda w: w / w.sum(-1, keepdim=True).clamp(min=1e-9))(self.dropout(self.attention_weights)) @ values",
        ),
        says="the weights are divided by their sum again after dropout",
        asks="Should a row of weights always sum to one in training mode, or only on average?",
    ),
    mistake(
        "dot-dropout-rate-fixed",
        edit("nn.Dropout(dropout)", "nn.Dropout(min(dropout, 0.1))"),
        says="the dropout rate is fixed instead of the rate that was passed",
        asks="Where does your code use the rate that was passed to the constructor?",
    ),
    mistake(
        "dot-keeps-dropped-weights",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = self.dropout(masked_softmax(scores, valid_lens))",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says="the stored weights are the weights after dropout",
        asks="Should the rows of the stored weights sum to one in training mode?",
    ),
    mistake(
        "dot-keeps-no-weights",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "attention_weights = masked_softmax(scores, valid_lens)",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.dropout(attention_weights) @ values"),
        says="the attention weights are not stored",
        asks="How could you plot after the call which keys each query used?",
    ),
    mistake(
        "dot-keeps-scores",
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
        "dot-scores-detached",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores.detach(), valid_lens)",
        ),
        says="the result is right, but no gradient flows back through the weights",
        asks="How do the layers that compute queries and keys learn?",
    ),
    mistake(
        "dot-result-detached",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(self.dropout(self.attention_weights) @ values).detach()",
        ),
        says="the result is right, but no gradient flows back from it",
        asks="Which tensors is the result still connected to when `backward` runs?",
    ),
    mistake(
        "dot-values-detached",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights) @ values.detach()",
        ),
        says="the result is right, but no gradient reaches the values",
        asks="The result depends on the weights and on the values. Which of the two gets no gradient?",
    ),
    mistake(
        "dot-returns-pair",
        edit(
            "return self.dropout(self.attention_weights) @ values",
            "return self.dropout(self.attention_weights) @ values, self.attention_weights",
        ),
        says="a pair is returned instead of the result alone",
        asks="Where should the weights be stored after the call?",
        kind="different",
    ),
    mistake(
        "dot-also-causal",
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
    mistake(
        "dot-lens-required",
        edit("valid_lens: torch.Tensor | None = None,", "valid_lens: torch.Tensor | None,"),
        says="the lengths have no default, so a call without lengths raises an error",
        asks="How does the calling code use your module when all sentences have the same length?",
    ),
    device_mistake(
        "dot-scale-on-the-cpu",
        edit("math.sqrt(head_size)", "torch.sqrt(torch.tensor([head_size], dtype=queries.dtype))"),
        says="the scale is a tensor with one axis on the CPU",
        asks="Does the square root of a size have to be a tensor?",
        seen="often seen in tutorials, with a `.to(device)` that reads a global name",
    ),
    dtype_mistake(
        "dot-fill-minus-1e9",
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
        "dot-weights-in-single",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores.float(), valid_lens)",
        ),
        says="the weights are always in single precision, whatever the dtype of the values is",
        asks=(
            "In which dtype are the values, and in which dtype are the weights that they are multiplied with?"
        ),
    ),
    mistake(
        "dot-scaled-by-number-of-axes",
        edit("queries.shape[-1]", "queries.dim()"),
        says="the scale is computed from the number of axes instead of the size of the last axis",
        asks="How many axes do the queries have, and how long is the last one? Which of the two do you use?",
    ),
    mistake(
        "dot-mask-of-torch-inverted",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)  # (B, T, S)\n        return self.dropout(self.attention_weights) @ values",
            """
            mask = None
            if valid_lens is not None:
                lens = valid_lens.reshape(len(scores), -1, 1)
                mask = (torch.arange(scores.shape[2]) >= lens).expand(scores.shape)
            self.attention_weights = None
            return torch.nn.functional.scaled_dot_product_attention(
                queries, keys, values, mask, self.dropout.p if self.training else 0.0
            )
            """,
        ),
        says="scaled_dot_product_attention keeps what is True in a mask, and this mask is True at the padding; it also gives no weights to store",
        asks="Which keys does your mask mark with True, and what does the function do with them?",
    ),
    mistake(
        "dot-lens-remembered",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            """
            valid_lens = getattr(self, "kept", None) if valid_lens is None else valid_lens
            self.kept = valid_lens
            self.attention_weights = masked_softmax(scores, valid_lens)
            """,
        ),
        says="the lengths of an earlier call are stored and used again in a call without lengths",
        asks="What should a call without lengths mask, whatever was called before?",
    ),
]
