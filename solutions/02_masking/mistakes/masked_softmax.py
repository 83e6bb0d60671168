"""Known mistakes in masked_softmax; their pages are in masked_softmax.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "softmax-over-queries",
        edit("softmax(dim=-1)", "softmax(dim=1)", times=2),
        says="the softmax runs over the queries instead of the keys",
        asks="Add up one row of your weights, then one column. Which of the two should be one?",
    ),
    mistake(
        "softmax-over-batch",
        edit("softmax(dim=-1)", "softmax(dim=0)", times=2),
        says="the softmax runs over the sequences of the batch",
        asks="Does the result for one sentence change when another one of the batch is exchanged?",
    ),
    mistake(
        "softmax-over-everything",
        edit(".softmax(dim=-1)", ".flatten(1).softmax(dim=-1).reshape(X.shape)", times=2),
        says="one softmax runs over all queries and keys of a sequence together",
        asks="What do all the weights of one sequence add up to, and what should they?",
    ),
    mistake(
        "softmax-fills-zero",
        edit("lowest = torch.finfo(X.dtype).min", "lowest = 0.0"),
        says="padded scores are set to zero, which is a score like any other",
        asks="What is the exponential of zero, and how much weight does it claim?",
    ),
    mistake(
        "softmax-fills-high",
        edit("torch.finfo(X.dtype).min", "1e6"),
        says="padded scores are set very high, so the padding takes all the weight",
        asks="Should a key that must not be looked at have a very high or a very low score?",
    ),
    mistake(
        "softmax-masked-too-late",
        edit("X.masked_fill(~keep, lowest).softmax(dim=-1)", "X.softmax(dim=-1) * keep"),
        says="the padding is blanked out after the softmax, when it has already taken its share",
        asks="What does a row with padding add up to in your result?",
    ),
    mistake(
        "softmax-one-key-too-many",
        edit("keep = keys < valid_lens", "keep = keys <= valid_lens"),
        says="one padded key of every row still gets weight",
        asks="Which is the number of the last key that a length of 2 allows?",
    ),
    mistake(
        "softmax-last-real-key-hidden",
        edit("keep = keys < valid_lens", "keep = keys + 1 < valid_lens"),
        says="the last real key of every row is hidden together with the padding",
        asks="A row of length 1 has one key to look at. What can it look at in your version?",
    ),
    mistake(
        "softmax-keeps-the-padding",
        edit("~keep", "keep"),
        says="the real keys are hidden and the padding gets the weight",
        asks="Is your mask true for what is to be kept or for what is to be hidden?",
    ),
    mistake(
        "softmax-keeps-last-keys",
        edit("keep = keys < valid_lens[:, :, None]", "keep = keys >= X.shape[-1] - valid_lens[:, :, None]"),
        says="the last keys of every row are kept instead of the first",
        asks="Where does the padding stand in this course, before or behind the real keys?",
    ),
    mistake(
        "softmax-fill-thrown-away",
        edit(
            "return X.masked_fill(~keep, lowest).softmax(dim=-1)",
            """
            X.masked_fill(~keep, lowest)
            return X.softmax(dim=-1)
            """,
        ),
        says="the lengths make no difference: padded keys get weight like all others",
        asks="Is the tensor that goes into your softmax the one in which the padding was replaced?",
    ),
    mistake(
        "softmax-guesses-from-zeros",
        edit("X.masked_fill(~keep, lowest)", "X.masked_fill(X == 0, lowest)"),
        says="scores of zero are taken for padding, and the lengths are not used",
        asks="May a real key have a score of exactly zero, and does padding always have one?",
    ),
    mistake(
        "softmax-first-query-length",
        edit("valid_lens[:, :, None]", "valid_lens[:, :1, None]"),
        says="with one length a query, the first length of each sequence is used for all its queries",
        asks=(
            "In a decoder the first query may see one key. How many would the last query see in your version?"
        ),
    ),
    mistake(
        "softmax-first-sequence-lengths",
        edit("valid_lens[:, :, None]", "valid_lens[:1, :, None]"),
        says="the lengths of the first sequence are used for the whole batch",
        asks="Exchange two sequences of the batch together with their lengths. Is your result exchanged too?",
    ),
    mistake(
        "softmax-longest-query-length",
        edit("valid_lens[:, :, None]", "valid_lens.amax(dim=1, keepdim=True)[:, :, None]"),
        says="with one length a query, the longest of each sequence is used for all its queries",
        asks="If the last query may see everything, what may the first one see in your version?",
    ),
    mistake(
        "softmax-mask-without-queries",
        edit(
            "keys = torch",
            """
            one_each = valid_lens.shape[1] == 1
            keys = torch
            """,
        ),
        edit(
            "keep = keys < valid_lens[:, :, None]",
            "keep = keys < (valid_lens if one_each else valid_lens[:, :, None])",
        ),
        says="with one length a sequence, the mask has no axis for the queries and does not fit the scores",
        asks="Which three axes do the scores have, and which two has your mask?",
    ),
    mistake(
        "softmax-scaled-by-keys",
        edit(
            "if valid_lens is None",
            """
            X = X / X.shape[-1] ** 0.5
            if valid_lens is None
            """,
        ),
        says="the scores are divided by the square root of the number of keys",
        asks="Does the softmax of this exercise ask for any scale, and if one is wanted later, who knows it?",
    ),
    mistake(
        "softmax-query-lengths-ignored",
        edit(
            "keys = torch",
            """
            if valid_lens.shape[1] > 1:
                return X.softmax(dim=-1)
            keys = torch
            """,
        ),
        says="with one length a query, nothing is masked at all",
        asks="Which of the two shapes of lengths did you try, and which did you not?",
    ),
    mistake(
        "softmax-lens-tiled",
        edit("valid_lens[:, None]  #", "valid_lens.repeat(X.shape[1]).reshape(X.shape[:2])  #"),
        says="the lengths are repeated in the wrong order, so queries get the lengths of other sequences",
        asks=(
            "When each length is to be used for three queries, should the list read 1 2 1 2 1 2 or 1 1 1 2 "
            "2 2?"
        ),
    ),
    mistake(
        "softmax-lens-read-by-columns",
        edit("valid_lens[:, :, None]", "valid_lens.T.reshape(valid_lens.shape)[:, :, None]"),
        says="with one length a query, the table of lengths is read down its columns",
        asks="Whose length is the second one in your order: that of the next query, or of the next sequence?",
    ),
    mistake(
        "softmax-masks-queries",
        edit("keep = keys < valid_lens", "keep = torch.arange(X.shape[1])[None, :, None] < valid_lens"),
        says="whole queries beyond the length are hidden instead of keys",
        asks="In your table of weights, is it the last rows or the last columns that should be zero?",
    ),
    mistake(
        "softmax-truth-of-lens",
        edit("if valid_lens is None", "if not valid_lens"),
        says="a whole tensor of lengths is asked whether it is true, which it cannot answer",
        asks=(
            "What do you really want to know about the lengths there: whether they are zero, or whether "
            "there are any?"
        ),
    ),
    mistake(
        "softmax-zero-times-infinity",
        edit("X.masked_fill(~keep, lowest)", "(X + (~keep) * -float('inf'))"),
        says="a mask of zeros and ones is multiplied by infinity, which makes every real score not a number",
        asks="What is zero times infinity?",
    ),
    mistake(
        "softmax-logarithms",
        edit(".softmax(dim=-1)", ".log_softmax(dim=-1)", times=2),
        edit("torch.finfo(X.dtype).min", "-1e6"),
        says="the logarithms of the weights came back",
        asks="Can a weight be negative?",
    ),
    mistake(
        "softmax-detached",
        edit("X.masked_fill", "X.detach().masked_fill"),
        edit("return X.softmax", "return X.detach().softmax"),
        says="the weights are right, but no gradient flows back to the scores",
        asks="How would the layers that made the scores learn where to look?",
    ),
    mistake(
        "softmax-twice",
        edit(".softmax(dim=-1)", ".softmax(dim=-1).softmax(dim=-1)", times=2),
        says="a softmax is taken of weights that went through a softmax already",
        asks=(
            "After the first softmax, what score do hidden keys have, and what does a second one make of it?"
        ),
    ),
    mistake(
        "softmax-not-normalised",
        edit(".softmax(dim=-1)", ".exp()", times=2),
        says="the exponentials were not divided by their sum",
        asks="By what must the exponentials of a row be divided so that they become shares of one whole?",
    ),
    mistake(
        "softmax-no-exponential",
        edit("return X.softmax(dim=-1)", "return X / X.sum(dim=-1, keepdim=True)"),
        edit(
            "X.masked_fill(~keep, lowest).softmax(dim=-1)",
            "X * keep / (X * keep).sum(dim=-1, keepdim=True)",
        ),
        says="scores are divided by their sum without taking exponentials first",
        asks="What weight does a negative score get in your version?",
    ),
    mistake(
        "softmax-none-gives-scores",
        edit("return X.softmax(dim=-1)", "return X"),
        says="without lengths the bare scores come back",
        asks="If nothing is to be hidden, which of the two steps is still to be done?",
    ),
    mistake(
        "softmax-also-causal",
        edit(
            "if valid_lens is None:",
            """
            X = X.masked_fill(torch.ones_like(X[0]).triu(1).bool(), -1e30)
            if valid_lens is None:
            """,
        ),
        says="every query is also kept from looking at keys behind its own position",
        asks="Who decides whether a query may look ahead: this function, or the lengths it is given?",
    ),
    mistake(
        "softmax-uniform-over-real-keys",
        edit("return X.", "return (X * 0).", times=2),
        says="all keys get the same weight: the scores make no difference",
        asks="If one score is raised, which weight of yours changes?",
    ),
    mistake(
        "softmax-changes-the-lengths",
        edit(
            "keys = torch",
            """
            valid_lens -= 1
            keys = torch
            """,
        ),
        edit("keys < valid_lens", "keys <= valid_lens"),
        says="the weights are right once, but the caller's lengths are changed on the way",
        asks="What happens in the second layer, which gets the same lengths?",
    ),
    dtype_mistake(
        "softmax-fill-minus-1e9",
        edit("torch.finfo(X.dtype).min", "-1e9"),
        says="the filling number is too large for half precision",
        asks="Which is the lowest number that the dtype of the scores can hold?",
    ),
    dtype_mistake(
        "softmax-fill-minus-1e6",
        edit("torch.finfo(X.dtype).min", "-1e6"),
        says="the filling number is too large for half precision",
        asks="Which is the lowest number that the dtype of the scores can hold?",
        seen="the d2l book writes this number",
    ),
    mistake(
        "softmax-fill-minus-infinity",
        edit("torch.finfo(X.dtype).min", "-float('inf')"),
        says="a row with nothing but padding becomes not a number",
        asks="What does a softmax give when every score of a row is minus infinity?",
        kind="policy",
    ),
    mistake(
        "softmax-writes-into-scores",
        edit("X.masked_fill(~keep, lowest)", "X.masked_fill_(~keep, lowest)"),
        says="the filling is written into the caller's scores",
        asks="Would somebody want to look at the scores after the call?",
        kind="policy",
        breaks=["purity"],
        seen="the d2l book does so, through its sequence_mask",
    ),
    dtype_mistake(
        "softmax-returns-float32",
        edit("return X.", "return X.float().", times=2),
        edit("torch.finfo(X.dtype).min", "-1e30"),
        says="the weights come back in single precision whatever went in",
        asks="In which dtype are the values that the weights will be multiplied with?",
    ),
    device_mistake(
        "softmax-keys-counted-on-the-cpu",
        edit(", device=X.device", ""),
        says="the key numbers are made on the CPU, wherever the scores live",
        asks="What happens when the scores lie on a graphics card?",
    ),
    dtype_mistake(
        "softmax-keys-counted-in-dtype",
        edit("torch.arange(X.shape[-1], device", "torch.arange(X.shape[-1], dtype=X.dtype, device"),
        says="keys are numbered in the dtype of the scores, which cannot count far in half precision",
        asks="Which is the first whole number that `bfloat16` cannot hold?",
    ),
]
