"""Known mistakes in DotProductAttention; their pages are in DotProductAttention.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "dot-not-scaled",
        edit(" / math.sqrt(head_size)", ""),
        says="the scores are not scaled",
        asks=(
            "How large is a typical dot product of two vectors with 64 entries, and what does the softmax "
            "make of it?"
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
        says="the scores are divided by the full size of a key instead of by its square root",
        asks="Variances add up, standard deviations do not. Which of the two is the size of a typical score?",
    ),
    mistake(
        "dot-scaled-by-number-of-keys",
        edit("queries.shape[-1]", "keys.shape[1]"),
        says="the scale is taken from the number of keys instead of from their size",
        asks="How many products are added up in one score?",
    ),
    mistake(
        "dot-scaled-by-number-of-queries",
        edit("queries.shape[-1]", "queries.shape[1]"),
        says="the scale is taken from the number of queries instead of from their size",
        asks="Should the answer to one query change when another one is asked along with it?",
    ),
    mistake(
        "dot-scaled-by-values",
        edit("queries.shape[-1]", "values.shape[-1]"),
        says="the scale is taken from the size of the values",
        asks="Which vectors take part in the dot product?",
    ),
    mistake(
        "dot-scaled-by-batch",
        edit("queries.shape[-1]", "queries.shape[0]"),
        says="the scale is taken from the size of the batch",
        asks="Should the answer for a sentence change when more sentences are put into the batch?",
    ),
    mistake(
        "dot-scaled-after-softmax",
        edit(" / math.sqrt(head_size)", ""),
        edit(
            "masked_softmax(scores, valid_lens)",
            "masked_softmax(scores, valid_lens) / math.sqrt(head_size)",
        ),
        says="the weights are scaled instead of the scores",
        asks="What should the weights of one query still add up to after every step?",
    ),
    mistake(
        "dot-scores-transposed",
        edit("queries @ keys.transpose(1, 2)", "keys @ queries.transpose(1, 2)"),
        says="the table of scores lies on its side: keys down the side, queries along the top",
        asks="Which two sizes has your table of scores, and in which order should they stand?",
    ),
    mistake(
        "dot-keys-reshaped",
        edit("keys.transpose(1, 2)", "keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1])"),
        says="the keys are cut up anew where their axes should change places",
        asks="Does reshaping a table of 2 rows and 3 columns into 3 rows and 2 columns turn it on its side?",
    ),
    mistake(
        "dot-keys-ask",
        edit("queries @ keys.transpose(1, 2)", "queries @ queries.transpose(1, 2)"),
        says="queries are compared with queries, and the keys are not used",
        asks="Does anything in your scores change when the keys change?",
    ),
    mistake(
        "dot-cosine",
        edit(
            "queries @ keys.transpose(1, 2) / math.sqrt(head_size)",
            "nn.functional.normalize(queries, dim=-1) @ nn.functional.normalize(keys, dim=-1).transpose(1, 2)",
        ),
        says="the scores are cosines: the lengths of queries and keys make no difference",
        asks="Should a key that is twice as long get another score?",
        kind="different",
    ),
    mistake(
        "dot-distance",
        edit("queries @ keys.transpose(1, 2) / math.sqrt(head_size)", "-torch.cdist(queries, keys) ** 2 / 2"),
        says="the scores are squared distances, as in the kernel of the first assignment",
        asks="When two vectors are alike but long, what is their distance, and what their dot product?",
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
        asks="What does a second call with the same queries give?",
    ),
    mistake(
        "dot-lens-ignored",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores, None)",
        ),
        says="the lengths are not used: queries look at padded keys too",
        asks="Which line of yours would run differently if the lengths were others?",
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
        says="with one length a query, nothing is masked",
        asks="In how many shapes may the lengths come, and what is the second one good for?",
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
        says="with one length a query, the length of the first query is used for all",
        asks="If the first query may see one key, how many may the last one see in your version?",
    ),
    mistake(
        "dot-softmax-over-queries",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = scores.masked_fill(masked_softmax(scores, valid_lens) == 0, -1e9).softmax(dim=1)",
        ),
        says="the softmax runs over the queries instead of the keys",
        asks="Add up one row of your weights. Does every query share out exactly one whole?",
    ),
    mistake(
        "dot-no-softmax",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = scores.masked_fill(masked_softmax(scores, valid_lens) == 0, -1e9).relu()",
        ),
        says="negative scores are cut off, and no softmax makes the scores into shares",
        asks="What do the weights of one query add up to?",
    ),
    mistake(
        "dot-averages-keys",
        edit("self.dropout(self.attention_weights) @ values", "self.dropout(self.attention_weights) @ keys"),
        says="the keys are averaged instead of the values",
        asks="What are keys for, and what are values for?",
    ),
    mistake(
        "dot-plain-average",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights.mean(dim=1, keepdim=True).expand_as(scores)) @ values",
        ),
        says="the weights of all queries are averaged, so every query gets the same answer",
        asks="Ask two very different queries. Do the two rows of your result differ?",
    ),
    mistake(
        "dot-no-dropout",
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says="nothing is dropped in training",
        asks="Who calls the dropout layer that you built?",
    ),
    mistake(
        "dot-dropout-on-result",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights @ values)",
        ),
        says="dropout acts on the features of the result instead of on the weights",
        asks="What should a query now and then do without: some of the keys, or some of its features?",
    ),
    mistake(
        "dot-dropout-on-scores",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(self.dropout(scores), valid_lens)",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says="dropout acts before the softmax, on the scores or on what they are made of",
        asks="What weight does a key get whose score was set to zero?",
    ),
    mistake(
        "dot-dropout-always",
        edit("self.dropout = nn.Dropout(dropout)", "self.rate = dropout"),
        edit(
            "self.dropout(self.attention_weights) @ values",
            "nn.functional.dropout(self.attention_weights, self.rate) @ values",
        ),
        says="weights are dropped in evaluation as well",
        asks="How does your dropout get to know whether the model is training?",
    ),
    mistake(
        "dot-dropout-not-scaled-up",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(self.dropout(self.attention_weights) * (1 - self.dropout.p if self.training else 1)) @ values",
        ),
        says="weights are dropped in training, but those that stay are not made larger to make up for it",
        asks="If half of the weights are dropped, what happens to the average of the result?",
    ),
    mistake(
        "dot-dropout-shared-out-again",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(lambda w: w / w.sum(-1, keepdim=True).clamp(min=1e-9))(self.dropout(self.attention_weights)) @ values",
        ),
        says="after dropout the weights are divided by their sum again",
        asks="What should a row of weights sum to in training, always one, or one on average?",
    ),
    mistake(
        "dot-dropout-rate-fixed",
        edit("nn.Dropout(dropout)", "nn.Dropout(min(dropout, 0.1))"),
        says="a fixed rate of dropout is used instead of the one asked for",
        asks="Where in your code does the number that the caller chose arrive?",
    ),
    mistake(
        "dot-keeps-dropped-weights",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = self.dropout(masked_softmax(scores, valid_lens))",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.attention_weights @ values"),
        says="the weights that are kept are those after dropout",
        asks="When you look at the weights in training, should their rows sum to one?",
    ),
    mistake(
        "dot-keeps-no-weights",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "attention_weights = masked_softmax(scores, valid_lens)",
        ),
        edit("self.dropout(self.attention_weights) @ values", "self.dropout(attention_weights) @ values"),
        says="the weights are not kept for looking at",
        asks="After the call, how would somebody draw a picture of where each query looked?",
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
        says="the scores are kept instead of the weights",
        asks="Can a weight be negative, and what do the kept numbers of a row add up to?",
    ),
    mistake(
        "dot-scores-detached",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores.detach(), valid_lens)",
        ),
        says="the result is right, but no gradient flows back through the weights",
        asks="How are the layers that make queries and keys to learn where to look?",
    ),
    mistake(
        "dot-result-detached",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "(self.dropout(self.attention_weights) @ values).detach()",
        ),
        says="the result is right, but no gradient flows back from it at all",
        asks="What is the result still connected to when the loss is computed?",
    ),
    mistake(
        "dot-values-detached",
        edit(
            "self.dropout(self.attention_weights) @ values",
            "self.dropout(self.attention_weights) @ values.detach()",
        ),
        says="the result is right, but no gradient flows back to the values",
        asks="By which two ways does the loss reach what stands before the attention, and which one is cut?",
    ),
    mistake(
        "dot-returns-pair",
        edit(
            "return self.dropout(self.attention_weights) @ values",
            "return self.dropout(self.attention_weights) @ values, self.attention_weights",
        ),
        says="the weights come back together with the result, as a pair",
        asks="Where should the weights be found after the call?",
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
        says="every query is kept from looking at keys behind its own position",
        asks="Who decides whether a query may look ahead: this module, or the lengths it is given?",
    ),
    mistake(
        "dot-lens-required",
        edit("valid_lens: torch.Tensor | None = None,", "valid_lens: torch.Tensor | None,"),
        says="it cannot be called without lengths",
        asks="What is a caller to do whose sentences are all of the same length?",
    ),
    device_mistake(
        "dot-scale-on-the-cpu",
        edit("math.sqrt(head_size)", "torch.sqrt(torch.tensor([head_size], dtype=queries.dtype))"),
        says="the scale is a tensor with an axis that is made on the CPU",
        asks="Does the square root of a size need to be a tensor?",
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
        says="hidden scores are filled with a number that is too large for half precision",
        asks="Which is the lowest number that the dtype of the scores can hold?",
    ),
    dtype_mistake(
        "dot-weights-in-single",
        edit(
            "self.attention_weights = masked_softmax(scores, valid_lens)",
            "self.attention_weights = masked_softmax(scores.float(), valid_lens)",
        ),
        says="the weights are in single precision when they meet the values, whatever dtype those have",
        asks="In which dtype are the values, and in which are the weights that they are multiplied with?",
    ),
]
