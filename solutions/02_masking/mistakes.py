"""Mistakes seen in masks and masked softmaxes."""

from grader.authoring.bank import mistake

SEE_MASK = """

    >>> X = torch.arange(1.0, 9.0).reshape(2, 4)
    >>> sequence_mask(X.clone(), torch.tensor([1, 3]))

Count the numbers that are left in each row: there should be one in the first and three in the second.
"""

SEE_VECTORS = """

    >>> X = torch.arange(1.0, 25.0).reshape(2, 3, 4)
    >>> sequence_mask(X.clone(), torch.tensor([1, 2]))

A step is a whole row of four numbers here: each of them must be kept as a whole or go as a whole.
"""

SEE_ROWS = """

    >>> scores = torch.randn(2, 3, 4)
    >>> weights = masked_softmax(scores.clone(), torch.tensor([1, 3]))
    >>> weights, weights.sum(-1)

Every sum should be 1, and the last columns of each sequence should be exactly 0.
"""

SEE_SHARES = """

    >>> scores = torch.tensor([[[1.0, 2.0, 3.0]]]).log()
    >>> without_lens = masked_softmax(scores, None)
    >>> with_lens = masked_softmax(scores.clone(), torch.tensor([2]))
    >>> without_lens, with_lens

The scores are the logarithms of 1, 2 and 3. The weights should be 1/6, 1/3 and 1/2, and 1/3, 2/3 and 0.
"""

SEE_SIGNS = """

    >>> masked_softmax(torch.tensor([[[-1.0, 0.0, 3.0]]]), None)

No weight can be negative, and the second is not 0 either: about 0.017, 0.047 and 0.936.
"""

SEE_LENS = """

    >>> scores = torch.zeros(2, 3, 4)
    >>> masked_softmax(scores.clone(), torch.tensor([[1, 2, 3], [4, 3, 2]]))

All scores are equal, so each row shares itself out evenly among as many keys as its own length says.
"""

SEE_FLOW = """

    >>> scores = torch.randn(2, 3, 4, requires_grad=True)
    >>> weights = masked_softmax(scores * 1, torch.tensor([2, 4]))
    >>> (weights * torch.randn(2, 3, 4)).sum().backward()
    >>> scores.grad

The gradient should be there, with zeros in the padded columns only.
"""

SEE_HALF = """

    >>> scores = torch.randn(2, 3, 4, dtype=torch.float16)
    >>> masked_softmax(scores, torch.tensor([2, 4])).dtype

It should go through, and the weights should be `torch.float16`, as the scores were.
"""

MASK = [
    mistake(
        "mask-length-counts-one-more",
        of="sequence_mask",
        swap={"steps[None, :] < valid_len": "steps[None, :] <= valid_len"},
        says="one step too many is kept in every row",
        asks="A row of length 2 keeps the steps 0 and 1. Which step does your comparison let through as well?",
        page="""
Lengths count from one, positions from zero, and the step whose number equals the length is already padding.
A model with this mask reads one padded entry of every sequence as if it were data. Nothing crashes, and only
the rows that have no padding at all come out right.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-last-real-step-lost",
        of="sequence_mask",
        swap={"steps[None, :] < valid_len": "steps[None, :] + 1 < valid_len"},
        says="the last real step of every row is blanked out as well",
        asks="How many steps are left of a row of length 1, and how many should be?",
        page="""
One step too few is kept: the mask is off by one in the careful direction. A model loses the end of every
sentence, which in many tasks is the most telling part, and a row of length 1 is lost altogether.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-keeps-the-padding",
        of="sequence_mask",
        swap={"~keep": "keep"},
        says="the padding is kept and the real steps are blanked out",
        asks="Is your mask true where a step is real or where it is padding, and which of the two does the filling want?",
        page="""
The mask is turned round. Half of the functions that take a mask want to know what to keep, the others what to
replace, and both read well in code. A model behind this mask sees nothing but padding.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-value-ignored",
        of="sequence_mask",
        swap={"masked_fill(~keep, value)": "masked_fill(~keep, 0)"},
        says="masked steps become 0, whatever value was asked for",
        asks="Who calls this function with another value than 0, and what for?",
        page="""
The default happens to be right, so every test without a value passes. As soon as the mask is used before a
softmax, where a very low number is asked for, the padding gets a score of 0 instead and takes its share.

    >>> sequence_mask(torch.ones(2, 3), torch.tensor([1, 2]), value=-7)

There should be three entries of -7.
""",
    ),
    mistake(
        "mask-result-thrown-away",
        of="sequence_mask",
        swap={"return X.masked_fill(~keep, value)": "X.masked_fill(~keep, value)\n    return X"},
        says="the input comes back as it went in: nothing is masked",
        asks="Does the operation that fills in the value change its tensor, or hand you a new one?",
        page="""
Most tensor methods leave their tensor alone and return a new one; those that write in place end in an
underscore. If the new tensor is not caught, the work is lost without a word. A model then treats all padding
as data, and gives other answers for the same sentence in another batch.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-first-length-for-all",
        of="sequence_mask",
        swap={"valid_len[:, None]": "valid_len[0]"},
        says="all rows are cut at the length of the first one",
        asks="Change the second length only. Which row of the result changes?",
        page="""
One length is used for the whole batch. In a test whose rows are equally long nobody notices; in real batches
long sentences lose their end, and short ones keep their padding.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-shortest-length-for-all",
        of="sequence_mask",
        swap={"valid_len[:, None]": "valid_len.min()"},
        says="all rows are cut at the shortest length of the batch",
        asks="What is left of a long row when a short one stands in the same batch?",
        page="""
Cutting everything at the shortest length removes all padding, and most of the data with it. What a model sees
of a sentence then depends on which other sentences it was packed with.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-keeps-the-end",
        of="sequence_mask",
        swap={"steps[None, :] < valid_len[:, None]": "steps[None, :] >= X.shape[1] - valid_len[:, None]"},
        says="the last steps of every row are kept instead of the first",
        asks="On which side of a sentence does the padding of this course stand?",
        page="""
Some data sets put the padding in front, and for them this mask is right. Here sequences start at step 0 and
the padding follows, so the mask keeps padding and drops the beginning.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-hides-features",
        of="sequence_mask",
        swap={
            "torch.arange(X.shape[1]": "torch.arange(X.shape[-1]",
            "keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))": (
                "keep = keep.reshape(keep.shape[:1] + (1,) * (X.dim() - 2) + keep.shape[1:])"
            ),
        },
        says="the lengths cut the last axis instead of the steps",
        asks="With vectors at every step, which of the three axes is it that the lengths speak about?",
        page="""
For `(N, T)` the last axis *is* the axis of steps, and all is well. With features behind it, the same code
blanks out the last features of every step and leaves all padded steps in place.
"""
        + SEE_VECTORS,
    ),
    mistake(
        "mask-two-axes-only",
        of="sequence_mask",
        swap={"keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))  # (N, T, 1, …)": ""},
        says="rows of numbers are masked, rows of vectors do not fit the mask",
        asks="Shapes are matched from the last axis backwards. What must the mask have where X has its features?",
        page="""
The mask has two axes, and the input may have more. Broadcasting (the matching of shapes of different rank)
compares the last axes first, so steps meet features. With `T` equal to the number of features there would not
even be an error.
"""
        + SEE_VECTORS,
    ),
    mistake(
        "mask-adds-the-value",
        of="sequence_mask",
        swap={"X.masked_fill(~keep, value)": "X * keep + value"},
        says="the value is added to the real steps too",
        asks="With a value of 5, what happens to a real entry that was 2?",
        page="""
Multiplying by the mask and adding the value is a fine way if the value is added to masked entries only. With
a value of 0 the difference cannot be seen; with any other all real entries are shifted.

    >>> sequence_mask(torch.ones(2, 3), torch.tensor([1, 2]), value=5)

Real entries should still be 1.
""",
    ),
    mistake(
        "mask-adds-onto-the-padding",
        of="sequence_mask",
        swap={"X.masked_fill(~keep, value)": "X + (~keep) * value"},
        says="the value is added to the padding instead of replacing it",
        asks="With the default value of 0, what stands in the padded steps of your result?",
        page="""
Adding a very low number is enough when a softmax follows. Here the masked steps must *be* the value: with the
default of 0 nothing is changed at all, and the padding passes as it is.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-compares-row-numbers",
        of="sequence_mask",
        swap={
            "torch.arange(X.shape[1], device=X.device)  # (T,)": "torch.arange(X.shape[0], device=X.device)",
            "steps[None, :] < valid_len[:, None]": "(steps < valid_len)[:, None].expand(X.shape[:2])",
        },
        says="the number of the row, not that of the step, is compared with the length",
        asks="Are rows kept and blanked out as a whole in your result, and should they be?",
        page="""
A length says how many *steps* of its row are real. Compared with the numbers of the rows, it lets a whole
sequence through or blanks it out, depending on where in the batch it stands.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-multiplies-the-padding",
        of="sequence_mask",
        swap={"X.masked_fill(~keep, value)": "torch.where(keep, X, X * value)"},
        says="the padding is multiplied by the value instead of replaced by it",
        asks="With a value of 1, what should be left of what stood in the padding?",
        page="""
With the default of 0 the product is 0, and so is the replacement: no difference. With any other value the
padding keeps a trace of what stood there, and nobody may rely on it being the same everywhere.

    >>> X = torch.arange(6.0).reshape(2, 3)
    >>> sequence_mask(X, torch.tensor([1, 2]), value=-7)

There should be three entries of exactly -7.
""",
    ),
    mistake(
        "mask-only-one-padded-step",
        of="sequence_mask",
        swap={"steps[None, :] < valid_len": "steps[None, :] != valid_len"},
        says="only the first padded step of every row is blanked out",
        asks="A row has two steps and four padded ones. How many entries should change?",
        page="""
The step at the length is replaced and those after it are not. In a batch where sentences differ by at most
one step this looks right; in all others most padding stays.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-detached",
        of="sequence_mask",
        swap={"X.masked_fill": "X.detach().masked_fill"},
        says="the numbers are right, but no gradient flows back to the input",
        asks="Which layers stand before this function, and how are they to learn?",
        page="""
Cutting a tensor off from its history (through `detach`, `.data`, NumPy or a new tensor made from its numbers)
leaves the forward pass untouched. Everything before the mask stops learning, and no message says so.

    >>> X = torch.randn(2, 3, requires_grad=True)
    >>> sequence_mask(X * 1, torch.tensor([1, 2])).requires_grad

This should be `True`.
""",
    ),
    mistake(
        "mask-changes-the-lengths",
        of="sequence_mask",
        swap={
            "keep = steps[None, :] < valid_len[:, None]  # (N, T)": (
                "valid_len -= 1\n    keep = steps[None, :] <= valid_len[:, None]"
            )
        },
        says="the result is right once, but the caller's lengths are changed on the way",
        asks="What would a second call with the same lengths give?",
        page="""
The lengths belong to the caller, who will use them again: in the next layer, in the loss, in the next epoch.
Arithmetic with an assignment operator writes into the tensor itself, so that every call shortens all
sequences by one more step.

    >>> lens = torch.tensor([1, 2])
    >>> sequence_mask(torch.ones(2, 3), lens)
    >>> lens
""",
    ),
    mistake(
        "mask-itself-returned",
        of="sequence_mask",
        swap={
            "keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))  # (N, T, 1, …)": "",
            "X.masked_fill(~keep, value)": "keep",
        },
        says="the mask came back, true and false, instead of the masked input",
        asks="Where in your result can you still see the numbers of the input?",
        page="""
The mask is a step on the way, and a useful one: it tells which entries are real. The function is asked for the
input with its padding replaced.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-handed-out-too",
        of="sequence_mask",
        swap={"return X.masked_fill(~keep, value)": "return X.masked_fill(~keep, value), keep"},
        says="the mask comes back together with the masked input, as a pair",
        asks="What does the code that calls this function do with its result?",
        page="""
Whoever calls the function goes on computing with what comes back, and a pair of tensors cannot be added,
multiplied or put through a softmax.

    >>> type(sequence_mask(torch.ones(2, 3), torch.tensor([1, 2])))
""",
    ),
    mistake(
        "mask-guessed-from-zeros",
        of="sequence_mask",
        swap={"X.masked_fill(~keep, value)": "X.masked_fill(X == 0, value)"},
        says="zeros in the input are taken for padding, and the lengths are not used",
        asks="What if a real entry happens to be zero, or padding is not?",
        page="""
Padding is often filled with zeros, so it is tempting to look for them. But after the first layer padding is
zero no more, and real entries can be (behind a ReLU, half of them are). Only the lengths know.
"""
        + SEE_MASK,
    ),
    mistake(
        "mask-steps-on-the-cpu",
        of="sequence_mask",
        kind="policy",
        breaks=("device",),
        swap={", device=X.device": ""},
        says="the step numbers are made on the CPU, wherever the input lives",
        asks="What happens when the input lies on a graphics card?",
        page="""
New tensors are born on the CPU unless they are told otherwise. On a machine without a graphics card this is
right; on one with it, comparing two tensors from two places raises an error.

    >>> X = torch.ones(2, 3, device="meta")
    >>> sequence_mask(X, torch.tensor([1, 2], device="meta"))

The device "meta" holds no numbers, and every machine has it: a good place to look for tensors left behind.
""",
    ),
]

SOFTMAX = [
    mistake(
        "softmax-over-queries",
        of="masked_softmax",
        swap={"softmax(dim=-1)": "softmax(dim=1)"},
        says="the softmax runs over the queries instead of the keys",
        asks="Add up one row of your weights, then one column. Which of the two should be one?",
        page="""
Each key shares itself out among the queries, so a query may end up with a total weight of almost nothing, or
of several. Outputs change their size with the number of queries. No shape complains, since every shape is
right.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-over-batch",
        of="masked_softmax",
        swap={"softmax(dim=-1)": "softmax(dim=0)"},
        says="the softmax runs over the sequences of the batch",
        asks="Does the result for one sentence change when another one of the batch is exchanged?",
        page="""
The weights of one position add up to one over the *batch*. Sentences that have nothing to do with each other
compete, and the answer for one of them depends on its neighbours.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-over-everything",
        of="masked_softmax",
        swap={".softmax(dim=-1)": ".flatten(1).softmax(dim=-1).reshape(X.shape)"},
        says="one softmax runs over all queries and keys of a sequence together",
        asks="What do all the weights of one sequence add up to, and what should they?",
        page="""
The whole table of a sequence sums to one instead of each of its rows, so the weights shrink with the number
of queries. A later LayerNorm hides part of the damage, which makes it hard to find.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-fills-zero",
        of="masked_softmax",
        swap={"lowest = torch.finfo(X.dtype).min": "lowest = 0.0"},
        says="padded scores are set to zero, which is a score like any other",
        asks="What is the exponential of zero, and how much weight does it claim?",
        page="""
Zero looks like nothing, but a score of zero has the exponential 1: as much as any middling key. With many
padded keys the padding takes most of the weight. The same comes out when scores are multiplied by a mask of
ones and zeros.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-fills-high",
        of="masked_softmax",
        swap={"torch.finfo(X.dtype).min": "1e6"},
        says="padded scores are set very high, so the padding takes all the weight",
        asks="Should a key that must not be looked at have a very high or a very low score?",
        page="""
A lost minus sign. Wherever there is padding, all the weight goes there and the real keys get exactly zero;
sequences without padding are right. A model still trains, on its padding.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-masked-too-late",
        of="masked_softmax",
        swap={"X.masked_fill(~keep, lowest).softmax(dim=-1)": "X.softmax(dim=-1) * keep"},
        says="the padding is blanked out after the softmax, when it has already taken its share",
        asks="What does a row with padding add up to in your result?",
        page="""
The softmax shares out the whole weight among all keys; setting some shares to zero afterwards does not give
them to the others. Rows with padding sum to less than one, and what stands in the padding still changes the
result.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-one-key-too-many",
        of="masked_softmax",
        swap={"keep = keys < valid_lens": "keep = keys <= valid_lens"},
        says="one padded key of every row still gets weight",
        asks="Which is the number of the last key that a length of 2 allows?",
        page="""
The key whose number equals the length is the first one to hide. In a decoder, where lengths make the causal
mask, this one step is the next token: the model reads the answer and learns nothing else.
"""
        + SEE_LENS,
    ),
    mistake(
        "softmax-last-real-key-hidden",
        of="masked_softmax",
        swap={"keep = keys < valid_lens": "keep = keys + 1 < valid_lens"},
        says="the last real key of every row is hidden together with the padding",
        asks="A row of length 1 has one key to look at. What can it look at in your version?",
        page="""
One key too few. A row of length 1 has nothing left, and its weights become uniform or not a number. In a
decoder each step is forbidden to look at itself.
"""
        + SEE_LENS,
    ),
    mistake(
        "softmax-keeps-the-padding",
        of="masked_softmax",
        swap={"~keep": "keep"},
        says="the real keys are hidden and the padding gets the weight",
        asks="Is your mask true for what is to be kept or for what is to be hidden?",
        page="""
The mask is turned round. PyTorch itself has both customs (some functions want to know what to attend to,
others what to ignore), so this happens to everybody once.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-keeps-last-keys",
        of="masked_softmax",
        swap={"keep = keys < valid_lens[:, :, None]": "keep = keys >= X.shape[-1] - valid_lens[:, :, None]"},
        says="the last keys of every row are kept instead of the first",
        asks="Where does the padding stand in this course, before or behind the real keys?",
        page="""
The right number of keys is kept, from the wrong end. Rows sum to one and the count is right, so that only a
look at *which* columns are zero shows it.
"""
        + SEE_LENS,
    ),
    mistake(
        "softmax-fill-thrown-away",
        of="masked_softmax",
        swap={
            "return X.masked_fill(~keep, lowest).softmax(dim=-1)": (
                "X.masked_fill(~keep, lowest)\n    return X.softmax(dim=-1)"
            )
        },
        says="the lengths make no difference: padded keys get weight like all others",
        asks="Is the tensor that goes into your softmax the one in which the padding was replaced?",
        page="""
A plain softmax. Often the mask was made with care and then its result was not caught, since filling returns a
new tensor. A model looks at padding, and its answers depend on how much of it the batch brings along.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-guesses-from-zeros",
        of="masked_softmax",
        swap={"X.masked_fill(~keep, lowest)": "X.masked_fill(X == 0, lowest)"},
        says="scores of zero are taken for padding, and the lengths are not used",
        asks="May a real key have a score of exactly zero, and does padding always have one?",
        page="""
A score is the result of a computation; that of a padded key is hardly ever zero, and a real one may be. The
mask must come from the lengths.
"""
        + SEE_LENS,
    ),
    mistake(
        "softmax-first-query-length",
        of="masked_softmax",
        swap={"valid_lens[:, :, None]": "valid_lens[:, :1, None]"},
        says="with one length a query, the first length of each sequence is used for all its queries",
        asks="In a decoder the first query may see one key. How many would the last query see in your version?",
        page="""
Lengths per sequence work, and so does a test in which all queries have the same length. In a decoder, where
lengths run from 1 to T, every step would see the first token and nothing else.
"""
        + SEE_LENS,
    ),
    mistake(
        "softmax-first-sequence-lengths",
        of="masked_softmax",
        swap={"valid_lens[:, :, None]": "valid_lens[:1, :, None]"},
        says="the lengths of the first sequence are used for the whole batch",
        asks="Exchange two sequences of the batch together with their lengths. Is your result exchanged too?",
        page="""
Every sequence is cut like the first one. With equal lengths nobody notices. In a shuffled data set the same
sentence gives another answer each time.
"""
        + SEE_LENS,
    ),
    mistake(
        "softmax-longest-query-length",
        of="masked_softmax",
        swap={"valid_lens[:, :, None]": "valid_lens.amax(dim=1, keepdim=True)[:, :, None]"},
        says="with one length a query, the longest of each sequence is used for all its queries",
        asks="If the last query may see everything, what may the first one see in your version?",
        page="""
One length a sequence is all that reaches the mask. In a decoder the longest length is that of the last step,
so every step sees everything: the causal mask is gone.
"""
        + SEE_LENS,
    ),
    mistake(
        "softmax-mask-without-queries",
        of="masked_softmax",
        swap={
            "keys = torch": "one_each = valid_lens.shape[1] == 1\n    keys = torch",
            "keep = keys < valid_lens[:, :, None]": "keep = keys < (valid_lens if one_each else valid_lens[:, :, None])",
        },
        says="with one length a sequence, the mask has no axis for the queries and does not fit the scores",
        asks="Which three axes do the scores have, and which two has your mask?",
        page="""
A mask of batch and keys meets scores of batch, queries and keys. Shapes are matched from the last axis
backwards, so the batch axis of the mask meets the queries. That raises an error, or, with as many queries as
sequences, masks the wrong ones in silence.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-scaled-by-keys",
        of="masked_softmax",
        swap={"    if valid_lens is None": "    X = X / X.shape[-1] ** 0.5\n    if valid_lens is None"},
        says="the scores are divided by the square root of the number of keys",
        asks="Does the softmax of this exercise ask for any scale, and if one is wanted later, who knows it?",
        page="""
Scaling scores is the business of the attention that makes them, and its scale is the size of a key, not the
number of keys. Here it makes all weights more even than they should be, the more so the longer the sequence.
"""
        + SEE_SHARES,
    ),
    mistake(
        "softmax-query-lengths-ignored",
        of="masked_softmax",
        swap={"    keys = torch": "    if valid_lens.shape[1] > 1:\n        return X.softmax(dim=-1)\n    keys = torch"},
        says="with one length a query, nothing is masked at all",
        asks="Which of the two shapes of lengths did you try, and which did you not?",
        page="""
Lengths may come as one number a sequence or one a query. Here only the first kind is used. The second kind
makes the causal mask of a decoder; without it each step sees the whole answer.
"""
        + SEE_LENS,
    ),
    mistake(
        "softmax-lens-tiled",
        of="masked_softmax",
        swap={"valid_lens[:, None]  #": "valid_lens.repeat(X.shape[1]).reshape(X.shape[:2])  #"},
        says="the lengths are repeated in the wrong order, so queries get the lengths of other sequences",
        asks="When each length is to be used for three queries, should the list read 1 2 1 2 1 2 or 1 1 1 2 2 2?",
        page="""
There are two ways to repeat a list: as a whole, or entry by entry. The scores are flattened sequence by
sequence, so all queries of the first sequence come first, and its length must come as often before the next.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-lens-read-by-columns",
        of="masked_softmax",
        swap={"valid_lens[:, :, None]": "valid_lens.T.reshape(valid_lens.shape)[:, :, None]"},
        says="with one length a query, the table of lengths is read down its columns",
        asks="Whose length is the second one in your order: that of the next query, or of the next sequence?",
        page="""
Flattening a table that was transposed gives its columns. Every length is used exactly once, by the wrong
query, and with lengths that are the same in each column nothing is seen.
"""
        + SEE_LENS,
    ),
    mistake(
        "softmax-masks-queries",
        of="masked_softmax",
        swap={"keep = keys < valid_lens": "keep = torch.arange(X.shape[1])[None, :, None] < valid_lens"},
        says="whole queries beyond the length are hidden instead of keys",
        asks="In your table of weights, is it the last rows or the last columns that should be zero?",
        page="""
The mask lies along the wrong axis. Padded queries lose their scores (and get uniform weights), while every
real query still looks at padded keys. When there are as many queries as keys, no shape complains.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-truth-of-lens",
        of="masked_softmax",
        swap={"if valid_lens is None": "if not valid_lens"},
        says="a whole tensor of lengths is asked whether it is true, which it cannot answer",
        asks="What do you really want to know about the lengths there: whether they are zero, or whether there are any?",
        page="""
A tensor with several entries has no single truth value, so Python raises an error as soon as lengths come in.
With a batch of one it is worse: the test runs, and a length of 0 would be taken for no lengths.

    >>> masked_softmax(torch.zeros(2, 1, 3), torch.tensor([2, 3]))

There should be two halves and then three thirds.
""",
    ),
    mistake(
        "softmax-zero-times-infinity",
        of="masked_softmax",
        swap={"X.masked_fill(~keep, lowest)": "(X + (~keep) * -float('inf'))"},
        says="a mask of zeros and ones is multiplied by infinity, which makes every real score not a number",
        asks="What is zero times infinity?",
        page="""
Adding minus infinity to padded scores is right; making it by a product is not. For the real keys the product
is zero times infinity, which is not a number (NaN), and a single NaN spreads over its whole row.

    >>> 0 * torch.tensor(float("inf"))
    >>> masked_softmax(torch.zeros(1, 1, 3), torch.tensor([2]))

The second should be one half, one half and 0.
""",
    ),
    mistake(
        "softmax-logarithms",
        of="masked_softmax",
        swap={".softmax(dim=-1)": ".log_softmax(dim=-1)", "torch.finfo(X.dtype).min": "-1e6"},
        says="the logarithms of the weights came back",
        asks="Can a weight be negative?",
        page="""
A loss function often wants logarithms, an average wants the weights themselves. All numbers are negative, and
for hidden keys they are enormous.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-detached",
        of="masked_softmax",
        swap={"X.masked_fill": "X.detach().masked_fill", "return X.softmax": "return X.detach().softmax"},
        says="the weights are right, but no gradient flows back to the scores",
        asks="How would the layers that made the scores learn where to look?",
        page="""
The forward pass is perfect, and the layers that make queries and keys never change again: the model keeps the
attention it was born with and learns around it. It shows as a loss that stalls, not as an error.
"""
        + SEE_FLOW,
    ),
    mistake(
        "softmax-twice",
        of="masked_softmax",
        swap={".softmax(dim=-1)": ".softmax(dim=-1).softmax(dim=-1)"},
        says="a softmax is taken of weights that went through a softmax already",
        asks="After the first softmax, what score do hidden keys have, and what does a second one make of it?",
        page="""
Weights between 0 and 1 are nearly equal as scores, so the second softmax makes everything almost uniform, and
a weight of 0 becomes an ordinary score: the padding is back.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-not-normalised",
        of="masked_softmax",
        swap={".softmax(dim=-1)": ".exp()"},
        says="the exponentials were not divided by their sum",
        asks="By what must the exponentials of a row be divided so that they become shares of one whole?",
        page="""
The order of the weights is right, their size is not: rows sum to whatever their exponentials sum to, so
outputs grow with the number of keys and with every confident score.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-no-exponential",
        of="masked_softmax",
        swap={
            "return X.softmax(dim=-1)": "return X / X.sum(dim=-1, keepdim=True)",
            "X.masked_fill(~keep, lowest).softmax(dim=-1)": "X * keep / (X * keep).sum(dim=-1, keepdim=True)",
        },
        says="scores are divided by their sum without taking exponentials first",
        asks="What weight does a negative score get in your version?",
        page="""
Rows do sum to one, but scores may be negative, and so are the weights then; where a row's scores nearly
cancel, the weights explode. The exponential is what makes any number a positive share.
"""
        + SEE_SIGNS,
    ),
    mistake(
        "softmax-none-gives-scores",
        of="masked_softmax",
        swap={"return X.softmax(dim=-1)": "return X"},
        says="without lengths the bare scores come back",
        asks="If nothing is to be hidden, which of the two steps is still to be done?",
        page="""
No lengths means no mask; it does not mean no softmax. The mistake sleeps until somebody calls the attention
without lengths, for instance when all sentences are equally long.

    >>> masked_softmax(torch.randn(1, 2, 3), None).sum(-1)
""",
    ),
    mistake(
        "softmax-also-causal",
        of="masked_softmax",
        swap={
            "if valid_lens is None:": "X = X.masked_fill(torch.ones_like(X[0]).triu(1).bool(), -1e30)\n    if valid_lens is None:"
        },
        says="every query is also kept from looking at keys behind its own position",
        asks="Who decides whether a query may look ahead: this function, or the lengths it is given?",
        page="""
A causal mask belongs to a decoder, which asks for it through its lengths. Built in here, it blinds the encoder
too: words cannot see what follows them, and in cross-attention the limit means nothing at all.
"""
        + SEE_ROWS,
    ),
    mistake(
        "softmax-uniform-over-real-keys",
        of="masked_softmax",
        swap={"return X.": "return (X * 0)."},
        says="all keys get the same weight: the scores make no difference",
        asks="If one score is raised, which weight of yours changes?",
        page="""
The mask works and the scores are lost on the way. What comes out is a plain average, which trains surprisingly
far in some tasks and never learns where to look.
"""
        + SEE_FLOW,
    ),
    mistake(
        "softmax-changes-the-lengths",
        of="masked_softmax",
        swap={"keys = torch": "valid_lens -= 1\n    keys = torch", "keys < valid_lens": "keys <= valid_lens"},
        says="the weights are right once, but the caller's lengths are changed on the way",
        asks="What happens in the second layer, which gets the same lengths?",
        page="""
Every layer of a Transformer is handed the same tensor of lengths. If each call makes it smaller by one, deeper
layers see less and less, and after some batches nothing at all.

    >>> lens = torch.tensor([2, 3])
    >>> masked_softmax(torch.randn(2, 3, 4), lens)
    >>> lens
""",
    ),
    mistake(
        "softmax-fill-minus-1e9",
        of="masked_softmax",
        kind="policy",
        breaks=("precision",),
        swap={"torch.finfo(X.dtype).min": "-1e9"},
        says="the filling number is too large for half precision",
        asks="Which is the lowest number that the dtype of the scores can hold?",
        page="""
In `float32` the number does its work. Half precision ends at 65504, so PyTorch refuses to write it there, and
mixed-precision training stops with an error.
"""
        + SEE_HALF,
    ),
    mistake(
        "softmax-fill-minus-1e6",
        of="masked_softmax",
        kind="policy",
        breaks=("precision",),
        swap={"torch.finfo(X.dtype).min": "-1e6"},
        says="the filling number is too large for half precision",
        asks="Which is the lowest number that the dtype of the scores can hold?",
        page="""
A fixed number is chosen for one dtype. This one is fine in `float32`, and half precision cannot hold it.
"""
        + SEE_HALF,
        seen="the d2l book writes this number",
    ),
    mistake(
        "softmax-fill-minus-infinity",
        of="masked_softmax",
        kind="policy",
        swap={"torch.finfo(X.dtype).min": "-float('inf')"},
        says="a row with nothing but padding becomes not a number",
        asks="What does a softmax give when every score of a row is minus infinity?",
        page="""
For rows with at least one real key this is exactly right. A row without any is zero divided by zero, and the
NaN travels through every later layer and back through the gradient. Some prefer that loud failure to a silent
uniform row.

    >>> masked_softmax(torch.zeros(1, 1, 3), torch.tensor([0]))
""",
    ),
    mistake(
        "softmax-writes-into-scores",
        of="masked_softmax",
        kind="policy",
        breaks=("purity",),
        swap={"X.masked_fill(~keep, lowest)": "X.masked_fill_(~keep, lowest)"},
        says="the filling is written into the caller's scores",
        asks="Would somebody want to look at the scores after the call?",
        page="""
Writing in place saves memory, and the scores of a large model take much of it. The price: the caller's tensor
is not what it was, and a leaf that asks for a gradient cannot be written into at all.

    >>> scores = torch.randn(1, 2, 3)
    >>> masked_softmax(scores, torch.tensor([1]))
    >>> scores
""",
        seen="the d2l book does so, through its sequence_mask",
    ),
    mistake(
        "softmax-returns-float32",
        of="masked_softmax",
        kind="policy",
        breaks=("precision",),
        swap={"return X.": "return X.float().", "torch.finfo(X.dtype).min": "-1e30"},
        says="the weights come back in single precision whatever went in",
        asks="In which dtype are the values that the weights will be multiplied with?",
        page="""
Computing a softmax in `float32` is wise in half precision. What comes back should have the dtype of what went
in, or the product with the values fails.
"""
        + SEE_HALF,
    ),
    mistake(
        "softmax-keys-counted-on-the-cpu",
        of="masked_softmax",
        kind="policy",
        breaks=("device",),
        swap={", device=X.device": ""},
        says="the key numbers are made on the CPU, wherever the scores live",
        asks="What happens when the scores lie on a graphics card?",
        page="""
New tensors are born on the CPU unless they are told otherwise. With scores and lengths on a graphics card, the
comparison meets two devices and raises an error.

    >>> scores = torch.zeros(2, 3, 4, device="meta")
    >>> masked_softmax(scores, torch.tensor([2, 4], device="meta"))

The device "meta" holds no numbers, and every machine has it: a good place to look for tensors left behind.
""",
    ),
]


def on_cpu(id, of, swap, says, asks, page, seen=""):
    """Right on the CPU; on an accelerator two devices meet."""
    return mistake(id, of=of, kind="policy", breaks=("device",), swap=swap, says=says, asks=asks, page=page, seen=seen)


DEVICE = [
    on_cpu(
        'mask-value-on-the-cpu',
        'sequence_mask',
        {
            'return X.masked_fill(~keep, value)': 'return torch.where(keep, X, torch.tensor([value], dtype=X.dtype))',
        },
        'the filling is a tensor with an axis that is made on the CPU',
        'On which device is the filling made, and on which is what it is put into?',
        """
A tensor with one axis is bound to its device, also when it holds a single number. A plain Python number goes
anywhere, and so does a tensor without axes.
""",
    ),
]


def in_other_dtypes(id, of, swap, says, asks, page, seen=""):
    """Right in float32; in another dtype it stops, or comes back in the wrong one."""
    return mistake(id, of=of, kind="policy", breaks=("precision",), swap=swap, says=says, asks=asks, page=page, seen=seen)


PRECISION = [
    in_other_dtypes(
        "mask-steps-counted-in-dtype",
        "sequence_mask",
        {
            "torch.arange(X.shape[1], device": "torch.arange(X.shape[1], dtype=X.dtype, device",
        },
        "steps are numbered in the dtype of the data, which cannot count far in half precision",
        "Which is the first whole number that `bfloat16` cannot hold?",
        """
A number of `bfloat16` has eight binary digits: behind 256 it counts 256, 258, 260, and two neighbours become one. In
`float16` that begins at 2048. Rows that are longer get a mask that is off by one, here and there, without a word.
Whole numbers count in an integer dtype, which is what `torch.arange` makes when it is not told otherwise.

    >>> X = torch.ones(1, 300, dtype=torch.bfloat16)
    >>> (sequence_mask(X, torch.tensor([257])) == 1).sum()

Count: 257 steps should be left, not one fewer.
""",
    ),
    in_other_dtypes(
        "softmax-keys-counted-in-dtype",
        "masked_softmax",
        {
            "torch.arange(X.shape[-1], device": "torch.arange(X.shape[-1], dtype=X.dtype, device",
        },
        "keys are numbered in the dtype of the scores, which cannot count far in half precision",
        "Which is the first whole number that `bfloat16` cannot hold?",
        """
A number of `bfloat16` has eight binary digits: behind 256 it counts 256, 258, 260, and two neighbours become one. In
`float16` that begins at 2048. Rows that are longer get a mask that is off by one, here and there, without a word.
Whole numbers count in an integer dtype, which is what `torch.arange` makes when it is not told otherwise.

    >>> scores = torch.zeros(1, 1, 300, dtype=torch.bfloat16)
    >>> (masked_softmax(scores, torch.tensor([257])) > 0).sum()

Count: 257 keys should have a weight, not one fewer.
""",
    ),
]

MISTAKES = MASK + SOFTMAX + DEVICE + PRECISION
