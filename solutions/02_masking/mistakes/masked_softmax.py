"""Known mistakes in masked_softmax; their pages are in masked_softmax.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

_EXP_WITHOUT_LENGTHS = edit("return X.softmax(dim=-1)", "return X.exp() / X.exp().sum(dim=-1, keepdim=True)")


def _exp_with_lengths(powers):
    """Return the edit to a softmax by hand, whose powers are this expression."""
    return edit(
        "return X.masked_fill(~keep, lowest).softmax(dim=-1)",
        f"""
        powers = {powers}
        return powers / powers.sum(dim=-1, keepdim=True)
        """,
    )


MISTAKES = [
    mistake(
        "softmax-over-queries",
        edit("softmax(dim=-1)", "softmax(dim=1)", times=2),
        says="the softmax runs over the queries instead of the keys",
        asks="Add up one row of your weights, then one column. Which of the two sums should be one?",
    ),
    mistake(
        "softmax-over-batch",
        edit("softmax(dim=-1)", "softmax(dim=0)", times=2),
        says="the softmax runs over the sequences of the batch",
        asks="Does the result for one sentence change when you replace another sentence of the batch?",
    ),
    mistake(
        "softmax-over-everything",
        edit(".softmax(dim=-1)", ".flatten(1).softmax(dim=-1).reshape(X.shape)", times=2),
        says="one softmax runs over all queries and keys of a sequence together",
        asks="What is the sum of all weights of one sequence, and what should it be?",
    ),
    mistake(
        "softmax-fills-zero",
        edit("lowest = torch.finfo(X.dtype).min", "lowest = 0.0"),
        says="padded scores are set to zero instead of a very low value",
        asks="What is the exponential of zero, and which weight does it lead to?",
    ),
    mistake(
        "softmax-fills-high",
        edit("torch.finfo(X.dtype).min", "1e6"),
        says="padded scores are set very high, so the padding gets all the weight",
        asks="Should a padded key have a very high or a very low score?",
    ),
    mistake(
        "softmax-masked-too-late",
        edit("X.masked_fill(~keep, lowest).softmax(dim=-1)", "X.softmax(dim=-1) * keep"),
        says="the weights of the padding are set to zero after the softmax, so the weights of a row no longer sum to 1",
        asks="Which scores does your softmax see at the padding?",
    ),
    mistake(
        "softmax-one-key-too-many",
        edit("keep = keys < valid_lens", "keep = keys <= valid_lens"),
        says="one padded key of every row still gets weight",
        asks="Which position is the last key of a row with length 2?",
    ),
    mistake(
        "softmax-last-real-key-hidden",
        edit("keep = keys < valid_lens", "keep = keys + 1 < valid_lens"),
        says="the last real key of every row is hidden together with the padding",
        asks="A row of length 1 has one real key. How many keys are left in your version?",
    ),
    mistake(
        "softmax-keeps-the-padding",
        edit("~keep", "keep"),
        says="the mask is inverted: the real keys are hidden and the padding gets the weight",
        asks="Is your mask true for the keys to keep or for the keys to hide?",
    ),
    mistake(
        "softmax-keeps-last-keys",
        edit("keep = keys < valid_lens[:, :, None]", "keep = keys >= X.shape[-1] - valid_lens[:, :, None]"),
        says="the last keys of every row are kept instead of the first",
        asks="Is the padding before or after the real keys in this course?",
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
        says="the lengths have no effect: padded keys get weights like all other keys",
        asks="Is the input of your softmax the tensor in which the padding was replaced?",
    ),
    mistake(
        "softmax-guesses-from-zeros",
        edit("X.masked_fill(~keep, lowest)", "X.masked_fill(X == 0, lowest)"),
        says="scores of zero are treated as padding, and the lengths are not used",
        asks="Can a real key have a score of exactly zero, and does padding always have this score?",
    ),
    mistake(
        "softmax-first-query-length",
        edit("valid_lens[:, :, None]", "valid_lens[:, :1, None]"),
        says="with one length per query, the first length of each sequence is used for all its queries",
        asks=(
            "In a decoder the first query may see one key. How many keys does the last query see in your "
            "version?"
        ),
    ),
    mistake(
        "softmax-first-sequence-lengths",
        edit("valid_lens[:, :, None]", "valid_lens[:1, :, None]"),
        says="the lengths of the first sequence are used for the whole batch",
        asks="Swap two sequences of the batch together with their lengths. Are the results swapped, too?",
    ),
    mistake(
        "softmax-longest-query-length",
        edit("valid_lens[:, :, None]", "valid_lens.amax(dim=1, keepdim=True)[:, :, None]"),
        says="with one length per query, the largest length of each sequence is used for all its queries",
        asks="If the last query may see all keys, how many keys does the first one see in your version?",
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
        says="with one length per sequence, the mask has no axis for the queries",
        asks="Which three axes do the scores have, and which two axes does your mask have?",
        forms=[
            [
                edit(
                    "    if valid_lens.dim() == 1:\n        valid_lens = valid_lens[:, None]  # (B, 1): one length for all queries of a sequence\n",
                    "",
                ),
                edit("valid_lens[:, :, None]", "valid_lens[:, None]"),
            ]
        ],
    ),
    mistake(
        "softmax-lens-not-repeated",
        edit(
            "    if valid_lens.dim() == 1:\n        valid_lens = valid_lens[:, None]  # (B, 1): one length for all queries of a sequence\n",
            "",
        ),
        edit("valid_lens[:, :, None]", "valid_lens.reshape(-1)[:, None]"),
        edit(
            "X.masked_fill(~keep, lowest).softmax(dim=-1)",
            "X.flatten(0, 1).masked_fill(~keep, lowest).softmax(dim=-1).reshape(X.shape)",
        ),
        says="the scores have one row per query, but lengths of shape (B,) are not repeated for the queries",
        asks="How many rows do your scores have after the reshape, and how many lengths do you have?",
        forms=[
            [
                edit(
                    "    if valid_lens.dim() == 1:\n        valid_lens = valid_lens[:, None]  # (B, 1): one length for all queries of a sequence\n",
                    "",
                ),
                edit("valid_lens[:, :, None]", "valid_lens.reshape(-1)[:, None]"),
                edit(
                    "return X.masked_fill(~keep, lowest).softmax(dim=-1)",
                    """
                    rows = (X * 1).flatten(0, 1)
                    rows[~keep] = lowest
                    return rows.softmax(dim=-1).reshape(X.shape)
                    """,
                ),
            ],
        ],
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
        asks="Does this exercise require a scale?",
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
        says="with one length per query, nothing is masked",
        asks="Lengths can have two shapes. With which of them did you run your function?",
    ),
    mistake(
        "softmax-lens-tiled",
        edit("valid_lens[:, None]  #", "valid_lens.repeat(X.shape[1]).reshape(X.shape[:2])  #"),
        says="the lengths are repeated in the wrong order, so queries get the lengths of other sequences",
        asks="Each length is needed for three queries. Should the list be 1 2 1 2 1 2 or 1 1 1 2 2 2?",
    ),
    mistake(
        "softmax-lens-read-by-columns",
        edit("valid_lens[:, :, None]", "valid_lens.T.reshape(valid_lens.shape)[:, :, None]"),
        says="with one length per query, the table of lengths is read column by column",
        asks="Does the second length in your order belong to the next query or to the next sequence?",
    ),
    mistake(
        "softmax-masks-queries",
        edit("keep = keys < valid_lens", "keep = torch.arange(X.shape[1])[None, :, None] < valid_lens"),
        says="queries beyond the length are hidden instead of keys",
        asks="Should the last rows or the last columns of your weights be zero?",
    ),
    mistake(
        "softmax-truth-of-lens",
        edit("if valid_lens is None", "if not valid_lens"),
        says="the lengths are used as a condition, but a tensor with several elements has no truth value",
        asks="Do you want to know whether the lengths are zero, or whether there are any?",
    ),
    mistake(
        "softmax-zero-times-infinity",
        edit("X.masked_fill(~keep, lowest)", "(X + (~keep) * -float('inf'))"),
        says="a mask of zeros and ones is multiplied by infinity, so the scores of real keys become NaN",
        asks="What is zero times infinity?",
    ),
    mistake(
        "softmax-logarithms",
        edit(".softmax(dim=-1)", ".log_softmax(dim=-1)", times=2),
        edit("torch.finfo(X.dtype).min", "-1e6"),
        says="the result contains the logarithms of the weights",
        asks="Can a weight be negative?",
    ),
    mistake(
        "softmax-detached",
        edit("X.masked_fill", "X.detach().masked_fill"),
        edit("return X.softmax", "return X.detach().softmax"),
        says="the weights are right, but no gradient reaches the scores",
        asks="How do the layers that compute the scores learn?",
    ),
    mistake(
        "softmax-twice",
        edit(".softmax(dim=-1)", ".softmax(dim=-1).softmax(dim=-1)", times=2),
        says="the softmax is applied twice",
        asks=(
            "Which score does a hidden key have after the first softmax, and which weight does the second "
            "one give it?"
        ),
    ),
    mistake(
        "softmax-not-normalised",
        edit(".softmax(dim=-1)", ".exp()", times=2),
        says="the exponentials are not divided by their sum",
        asks="By which number must you divide the exponentials of a row so that they sum to one?",
    ),
    mistake(
        "softmax-no-exponential",
        edit("return X.softmax(dim=-1)", "return X / X.sum(dim=-1, keepdim=True)"),
        edit(
            "X.masked_fill(~keep, lowest).softmax(dim=-1)",
            "X * keep / (X * keep).sum(dim=-1, keepdim=True)",
        ),
        says="the scores are divided by their sum without an exponential",
        asks="Which weight does a negative score get in your version?",
    ),
    mistake(
        "softmax-none-gives-scores",
        edit("return X.softmax(dim=-1)", "return X"),
        says="without lengths the function returns the scores without a softmax",
        asks="Without lengths no key is hidden. Which of the two steps is still needed?",
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
        says="no query can see keys after its own position, although the lengths allow it",
        asks="Should this function decide that a query must not look ahead, or should the lengths?",
    ),
    mistake(
        "softmax-uniform-over-real-keys",
        edit("return X.", "return (X * 0).", times=2),
        says="all keys get the same weight, so the scores have no effect",
        asks="If you raise one score, which of your weights changes?",
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
        says="the weights are right, but the function changes the caller's lengths",
        asks="What happens in the second layer, which gets the same lengths?",
    ),
    dtype_mistake(
        "softmax-fill-minus-1e9",
        edit("torch.finfo(X.dtype).min", "-1e9"),
        says="the fill value is out of range for float16",
        asks="What is the lowest value that the dtype of the scores can represent?",
    ),
    dtype_mistake(
        "softmax-fill-minus-1e6",
        edit("torch.finfo(X.dtype).min", "-1e6"),
        says="the fill value is out of range for float16",
        asks="What is the lowest value that the dtype of the scores can represent?",
        seen="the d2l book writes this number",
    ),
    mistake(
        "softmax-overflows",
        _EXP_WITHOUT_LENGTHS,
        _exp_with_lengths("X.masked_fill(~keep, lowest).exp()"),
        says="the exponential of a large score is too large for its dtype, so the weights become NaN",
        asks="A softmax does not change when you subtract the same number from every score. Which number helps?",
        forms=[
            [_EXP_WITHOUT_LENGTHS, _exp_with_lengths("X.exp().masked_fill(~keep, 0)")],
            [_EXP_WITHOUT_LENGTHS, _exp_with_lengths("X.exp() * keep")],
        ],
    ),
    mistake(
        "softmax-overflows-with-lengths",
        edit(
            "return X.masked_fill(~keep, lowest).softmax(dim=-1)",
            """
            X = X.masked_fill(~keep, lowest).exp()
            return X / X.sum(dim=-1, keepdim=True)
            """,
        ),
        says="with lengths, the exponential of a large score is too large for its dtype, so the weights become NaN",
        asks="Without lengths your weights are right for large scores. What does that branch do differently?",
    ),
    dtype_mistake(
        "softmax-returns-float32",
        edit("return X.", "return X.float().", times=2),
        edit("torch.finfo(X.dtype).min", "-1e30"),
        says="the weights are always in single precision, whatever the dtype of the scores is",
        asks="In which dtype are the values that the weights are multiplied with?",
    ),
    device_mistake(
        "softmax-keys-counted-on-the-cpu",
        edit(", device=X.device", ""),
        says="the tensor of key positions is always on the CPU, whatever the device of the scores is",
        asks="What happens when the scores are on a GPU?",
    ),
    dtype_mistake(
        "softmax-keys-counted-in-dtype",
        edit("torch.arange(X.shape[-1], device", "torch.arange(X.shape[-1], dtype=X.dtype, device"),
        says=(
            "the key positions have the dtype of the scores, which cannot represent large integers in half "
            "precision"
        ),
        asks="What is the first integer that `bfloat16` cannot represent?",
    ),
    mistake(
        "softmax-over-queries-without-lengths",
        edit("return X.softmax(dim=-1)", "return X.softmax(dim=1)"),
        says="without lengths the softmax runs over the queries instead of the keys",
        asks="Your function has two softmaxes. Do both run over the same axis?",
    ),
    mistake(
        "softmax-none-not-handled",
        edit(
            """
            if valid_lens is None:
                return X.softmax(dim=-1)
            """,
            "",
        ),
        says="the function fails without lengths, because it uses None as a tensor",
        asks="What should the function return when no lengths are passed?",
    ),
    mistake(
        "softmax-flat-mask",
        edit(
            "return X.masked_fill(~keep, lowest).softmax(dim=-1)",
            """
            X = X * 1
            X[~keep.expand(X.shape).flatten(0, 1)] = lowest
            return X.softmax(dim=-1)
            """,
        ),
        says="the mask has one row per query of the whole batch, but the scores still have three axes",
        asks="Which shape does your mask have, and which shape do your scores have?",
        forms=[
            [
                edit(
                    "X.masked_fill(~keep, lowest)",
                    "X.masked_fill(~keep.expand(X.shape).flatten(0, 1), lowest)",
                )
            ],
        ],
    ),
    mistake(
        "softmax-over-batch-without-lengths",
        edit(
            "if valid_lens is None:\n        return X.softmax(dim=-1)",
            "if valid_lens is None:\n        return X.softmax(dim=0)",
        ),
        says="without lengths the softmax runs over the sequences of the batch",
        asks="Which axis does a softmax without a number choose for a tensor with three axes?",
    ),
]
