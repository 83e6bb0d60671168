"""Mistakes seen in splitting features into heads and in joining them again."""

from grader.authoring.bank import mistake

SEE_SPLIT = """

    >>> X = torch.arange(1, 13).reshape(1, 3, 4)
    >>> transpose_qkv(X, 2)

Every step has four numbers in a row. Its first two belong to head 0, its last two to head 1.
"""

SEE_SIX = """

    >>> X = torch.arange(1, 19).reshape(1, 3, 6)
    >>> transpose_qkv(X, 2)

Every step has six numbers in a row. Its first three belong to head 0, its last three to head 1.
"""

SEE_BATCH = """

    >>> X = torch.arange(2).reshape(2, 1, 1) * 10 + torch.arange(4)
    >>> transpose_qkv(X, 2)

The tens digit tells the sequence. Which of the four rows belong to the first one?
"""

SEE_JOIN = """

    >>> X = torch.arange(1, 13).reshape(2, 3, 2)
    >>> transpose_output(X, 2)

Row 0 is head 0 and row 1 is head 1 of a single sequence. The first step should read 1, 2 (from head 0) and
then 7, 8 (from head 1).
"""

SEE_JOIN_BATCH = """

    >>> X = torch.arange(4).reshape(4, 1, 1)
    >>> transpose_output(X, 2)

Rows 0 and 1 are the heads of the first sequence, rows 2 and 3 those of the second.
"""

SEE_THREE = """

    >>> X = torch.arange(6).reshape(6, 1, 1)
    >>> transpose_output(X, 2)

There are three sequences with two heads each: rows 0 and 1 are the heads of the first, and so on.
"""

SEE_FLOW = """

    >>> X = torch.randn(2, 3, 4, requires_grad=True)
    >>> joined = transpose_output(transpose_qkv(X, 2), 2)
    >>> (joined * torch.randn(2, 3, 4)).sum().backward()
    >>> X.grad
"""

SPLIT = [
    mistake(
        "heads-cut-straight",
        of="transpose_qkv",
        swap={
            "X.reshape(batch, steps, num_heads, head_size)": "X.reshape(batch, num_heads, steps, head_size)",
            "    X = X.permute(0, 2, 1, 3)  # (B, H, T, d)\n": "",
        },
        says="the numbers are cut up in the order in which they lie, so a head gets pieces of other steps' features",
        asks="Reshaping keeps numbers in their order. Do the steps of head 0 stand next to each other in the input?",
        page="""
The final shape is right and the content is not: what is called the second step of head 0 is really the other
half of the first step. Each head then attends among pieces of the same word, and the mask hides the wrong
things. A model built on it trains, only badly, and nothing ever crashes.
"""
        + SEE_SPLIT,
    ),
    mistake(
        "heads-interleaved",
        of="transpose_qkv",
        kind="different",
        swap={
            "X.reshape(batch, steps, num_heads, head_size)": "X.reshape(batch, steps, head_size, num_heads)",
            "permute(0, 2, 1, 3)": "permute(0, 3, 1, 2)",
        },
        says="every head takes every other feature (one in as many as there are heads) instead of neighbours",
        asks="Which features belong to head 0: the first few, or one from each group?",
        page="""
The features are dealt out like cards instead of being cut like a cake. A model trained so from the start is as
good as any, since the layers before it can learn any order. But trained weights of the usual layout give
nonsense, and so does a way back that expects neighbours.
"""
        + SEE_SPLIT,
    ),
    mistake(
        "heads-before-sequences",
        of="transpose_qkv",
        kind="different",
        swap={"X.permute(0, 2, 1, 3)": "X.permute(2, 0, 1, 3)"},
        says="the rows list head 0 of all sequences first, then head 1 of all sequences",
        asks="Of which sequence is the second row of your result, and of which should it be?",
        page="""
Some older code stacks the heads this way, and it works as long as everything else agrees: the way back, and
the lengths, which must then be repeated as a whole list. In this course the heads of one sequence stand
together; lengths repeated for that order would mask the wrong sequences.
"""
        + SEE_BATCH,
    ),
    mistake(
        "heads-left-on-an-axis",
        of="transpose_qkv",
        swap={"X.reshape(batch * num_heads, steps, head_size)": "X"},
        says="the heads are split off rightly, but stay on an axis of their own instead of joining the batch",
        asks="How many axes does the attention expect, and how many does your result have?",
        page="""
Four axes are a fine way to write attention, and many do. The attention of this course takes three: it treats
each head as one more sequence of the batch.

    >>> transpose_qkv(torch.randn(2, 3, 4), 2).shape
""",
    ),
    mistake(
        "heads-and-steps-exchanged",
        of="transpose_qkv",
        swap={"X.reshape(batch * num_heads, steps, head_size)": "X.reshape(batch * steps, num_heads, head_size)"},
        says="at the end the number of heads and the number of steps are exchanged",
        asks="Which two axes are to melt into one, and which one is to be left between the rows and the features?",
        page="""
After the axes have changed places, the sizes noted before no longer stand in their old order. The last cut
uses the old order, so an attention would run over the heads of a step instead of over the steps of a head.

    >>> transpose_qkv(torch.randn(2, 3, 4), 2).shape

The middle size should be the number of steps, 3.
""",
    ),
    mistake(
        "heads-count-for-size",
        of="transpose_qkv",
        swap={"X.reshape(batch, steps, num_heads, head_size)": "X.reshape(batch, steps, head_size, num_heads)"},
        says="the number of heads and the size of a head are exchanged when the features are cut",
        asks="With eight features and two heads, how many features does each head get?",
        page="""
The last axis is cut into as many pieces as a head has features, not into as many as there are heads. When both
numbers are equal all is well, which is why a test with two heads of two features says nothing.
"""
        + SEE_SIX,
    ),
    mistake(
        "heads-features-before-steps",
        of="transpose_qkv",
        swap={"X.permute(0, 2, 1, 3)": "X.permute(0, 2, 3, 1)"},
        says="within each head, steps and features are exchanged before the last cut",
        asks="In which order must the two last axes stand when the last reshaping begins?",
        page="""
Each head holds the right numbers, but as a table that lies on its side and is then cut up as if it stood
upright. A step becomes a mixture of one feature of several steps.
"""
        + SEE_SPLIT,
    ),
    mistake(
        "heads-lying-on-their-side",
        of="transpose_qkv",
        swap={
            "X.permute(0, 2, 1, 3)": "X.permute(0, 2, 3, 1)",
            "X.reshape(batch * num_heads, steps, head_size)": "X.reshape(batch * num_heads, head_size, steps)",
        },
        says="each head has its features as rows and its steps as columns",
        asks="In which order do the last two axes stand in your result, and in which should they?",
        page="""
The heads are right, but each lies on its side. The attention would take features for steps; with as many of
the one as of the other, nothing but the numbers would tell.
"""
        + SEE_SPLIT,
    ),
    mistake(
        "heads-split-the-steps",
        of="transpose_qkv",
        swap={
            "X.reshape(batch, steps, num_heads, head_size)": "X.reshape(batch, num_heads, steps // num_heads, num_hiddens)",
            "    X = X.permute(0, 2, 1, 3)  # (B, H, T, d)\n": "",
            "X.reshape(batch * num_heads, steps, head_size)": "X.reshape(batch * num_heads, steps // num_heads, num_hiddens)",
        },
        says="the steps are shared out among the heads instead of the features",
        asks="Should a head see a part of every step, or every part of some steps?",
        page="""
Each head gets a stretch of the sequence, with all features. Steps of different stretches can never attend to
each other, and a sequence whose length is no multiple of the number of heads does not fit at all.

    >>> transpose_qkv(torch.randn(2, 6, 4), 2).shape

There should still be six steps.
""",
    ),
    mistake(
        "heads-batch-and-steps-mixed",
        of="transpose_qkv",
        swap={"X.permute(0, 2, 1, 3)": "X.permute(2, 1, 0, 3)"},
        says="heads change places with the sequences instead of with the steps",
        asks="Which axis must stay where it is while the heads move?",
        page="""
The batch axis moved although only heads and steps should change places. An attention on this result mixes
different sentences, so the answer for one depends on which others are in the batch.
"""
        + SEE_BATCH,
    ),
    mistake(
        "heads-in-reverse",
        of="transpose_qkv",
        kind="different",
        swap={"X.permute(0, 2, 1, 3)": "X.flip(2).permute(0, 2, 1, 3)"},
        says="the heads come in reverse order: the last features make the first head",
        asks="Which features stand in row 0?",
        page="""
The cut is right and the numbering runs backwards. Heads are equals, so a model that also joins them backwards
is as good as any; trained weights of the usual order do not fit it.
"""
        + SEE_SPLIT,
    ),
    mistake(
        "heads-all-the-first",
        of="transpose_qkv",
        swap={"X.permute(0, 2, 1, 3)": "X[:, :, :1].expand_as(X).permute(0, 2, 1, 3)"},
        says="every head gets the features of head 0",
        asks="Where do the last features of a step end up in your result?",
        page="""
The start of each slice does not move on from head to head. All heads compute the same, the other features are
never read, and the layers that make them get no gradient: an expensive single head.
"""
        + SEE_SPLIT,
    ),
    mistake(
        "heads-repeated-not-split",
        of="transpose_qkv",
        swap={
            "X.reshape(batch, steps, num_heads, head_size)": "X[:, :, None].expand(batch, steps, num_heads, num_hiddens)",
            "steps, head_size)": "steps, num_hiddens)",
        },
        says="every head gets a copy of all features instead of its own share",
        asks="Adding heads should not add numbers. How many numbers go in, and how many come out?",
        page="""
Each head sees everything, and memory and time grow with the number of heads. The point of heads is that
each has a smaller space of its own.

    >>> transpose_qkv(torch.randn(2, 3, 4), 2).shape

The last size should be 2.
""",
    ),
    mistake(
        "heads-view-refused",
        of="transpose_qkv",
        swap={"return X.reshape(": "return X.view("},
        says="a view is asked for after the axes have changed places, which PyTorch refuses",
        asks="Do the numbers still lie in memory in the order in which you now want to read them?",
        page="""
A *view* shows the same memory under another shape and never copies. After axes have been exchanged the numbers
lie in another order than they are read, and two such axes cannot be melted into one without a copy. The error
names the two ways out.

    >>> torch.arange(6).reshape(2, 3).T.is_contiguous()
    >>> transpose_qkv(torch.randn(2, 3, 4), 2).shape
""",
    ),
    mistake(
        "heads-detached",
        of="transpose_qkv",
        swap={"X = X.permute": "X = X.detach().permute"},
        says="the numbers stand right, but no gradient flows back through them",
        asks="What tells the layers before the heads how to change?",
        page="""
Moving numbers about keeps their history, as long as it is done by tensor operations. A detour through NumPy,
`.data` or a new tensor cuts it: the forward pass is perfect, and the projections never learn.
"""
        + SEE_FLOW,
    ),
]

JOIN = [
    mistake(
        "heads-joined-straight",
        of="transpose_output",
        swap={"    X = X.permute(0, 2, 1, 3)  # (B, T, H, d)\n": ""},
        says="the heads are melted together without first standing side by side at each step",
        asks="After your joining, do the features of one step come from one head or from all of them?",
        page="""
The heads of a sequence are laid one behind the other and cut into steps as they lie. The first steps of the
result then hold nothing but head 0, at several times, and the last ones only the last head. The shape is
right, so nothing crashes; this is one of the most frequent faults in published attention code.
"""
        + SEE_JOIN,
    ),
    mistake(
        "heads-joined-interleaved",
        of="transpose_output",
        swap={"X.permute(0, 2, 1, 3)": "X.permute(0, 2, 3, 1)"},
        says="the features of the heads are shuffled into each other instead of standing side by side",
        asks="Behind the first feature of head 0, what comes next: its second feature, or one of head 1?",
        page="""
The features are joined like the teeth of a zip. If they were cut into neighbours on the way in, going there
and back changes the order of the features, and the output layer sees them in places it was not trained for.
"""
        + SEE_JOIN,
    ),
    mistake(
        "heads-averaged-and-repeated",
        of="transpose_output",
        swap={
            "return X.reshape(batch, steps, num_heads * head_size)": (
                "return X.mean(dim=2).repeat(1, 1, num_heads)"
            )
        },
        says="the heads are averaged and the average is repeated, instead of each head keeping its place",
        asks="After your joining, can the next layer still tell what head 0 said from what head 1 said?",
        page="""
The shape comes out right, because the average is copied once for each head. What the heads found separately is
lost, and that was the reason to have several.
"""
        + SEE_JOIN,
    ),
    mistake(
        "heads-summed",
        of="transpose_output",
        swap={"return X.reshape(batch, steps, num_heads * head_size)": "return X.sum(dim=2)"},
        says="the heads of a step are added up instead of being put side by side",
        asks="How many features does a step have after all its heads are joined?",
        page="""
Adding keeps the small size of one head. The heads were cut out of the features of a step, and together they
must make as many features as before.

    >>> transpose_output(torch.randn(4, 3, 2), 2).shape

The last size should be 4.
""",
    ),
    mistake(
        "heads-joined-across-sequences",
        of="transpose_output",
        swap={
            "X.reshape(batch, num_heads, steps, head_size)": "X.reshape(num_heads, batch, steps, head_size)",
            "permute(0, 2, 1, 3)": "permute(1, 2, 0, 3)",
        },
        says="rows are read as if they listed head 0 of all sequences first, so different sequences are joined",
        asks="Which rows belong to the first sequence, neighbours or rows far apart?",
        page="""
It fits a way in that lists the rows head by head, and only that. With rows listed sequence by sequence, the
first half of a sentence's features comes from another sentence.
"""
        + SEE_JOIN_BATCH,
    ),
    mistake(
        "heads-taken-for-sequences",
        of="transpose_output",
        swap={
            "X.reshape(batch, num_heads, steps, head_size)": "X.reshape(num_heads, batch, steps, head_size)",
            "X.reshape(batch, steps, num_heads * head_size)": "X.reshape(num_heads, steps, batch * head_size)",
        },
        says="the number of heads is taken for the number of sequences",
        asks="Which changes faster as you walk down the rows, the head or the sequence?",
        page="""
The rows are first cut into as many groups as there are heads. A group should be the heads of one sequence, so
there should be as many groups as sequences. With equally many of both, nothing is seen.
"""
        + SEE_THREE,
    ),
    mistake(
        "heads-split-again",
        of="transpose_output",
        swap={
            "X.reshape(batch, num_heads, steps, head_size)": "X.reshape(rows, steps, num_heads, head_size // num_heads)",
            "X.reshape(batch, steps, num_heads * head_size)": (
                "X.reshape(rows * num_heads, steps, head_size // num_heads)"
            ),
        },
        says="the heads are split once more instead of being joined",
        asks="After the way back, should there be more rows than before or fewer?",
        page="""
The way in was taken twice. Walking back means doing its steps in reverse order, and the cut at the beginning
must undo the melting at the end.

    >>> transpose_output(torch.randn(4, 3, 2), 2).shape
""",
    ),
    mistake(
        "heads-joined-in-reverse",
        of="transpose_output",
        kind="different",
        swap={"permute(0, 2, 1, 3)": "flip(1).permute(0, 2, 1, 3)"},
        says="the heads stand side by side in reverse order",
        asks="Whose features come first in a step of your result?",
        page="""
Each head keeps its features together, but the last one comes first. A layer trained behind it does not mind;
one that was trained with the usual order does.
"""
        + SEE_JOIN,
    ),
    mistake(
        "heads-first-repeated",
        of="transpose_output",
        swap={"permute(0, 2, 1, 3)": "permute(0, 2, 1, 3)[:, :, :1].expand(-1, -1, num_heads, -1)"},
        says="the first head fills the places of all others",
        asks="Change a number of the last row. Does anything in your result change?",
        page="""
The result has the right shape and shows head 0 again and again. The other heads are computed and thrown away,
and no gradient ever reaches them.
"""
        + SEE_JOIN,
    ),
    mistake(
        "heads-not-joined",
        of="transpose_output",
        swap={"X.reshape(batch, steps, num_heads * head_size)": "X"},
        says="the heads stand beside each other, but still on an axis of their own",
        asks="Which two axes are still to be melted into one?",
        page="""
One step is missing: heads and their features are to become a single axis again, or the next linear layer meets
a last axis that is too short for it.

    >>> transpose_output(torch.randn(4, 3, 2), 2).shape
""",
    ),
    mistake(
        "heads-joined-in-time",
        of="transpose_output",
        swap={
            "    X = X.permute(0, 2, 1, 3)  # (B, T, H, d)\n": "",
            "X.reshape(batch, steps, num_heads * head_size)": "X.reshape(batch, num_heads * steps, head_size)",
        },
        says="the heads are put one after the other in time instead of side by side",
        asks="Should joining heads make a sequence longer, or its steps wider?",
        page="""
Joining along the wrong axis gives a sequence with as many times more steps as there are heads. The sizes tell
at once.

    >>> transpose_output(torch.randn(4, 3, 2), 2).shape
""",
    ),
    mistake(
        "heads-joined-view-refused",
        of="transpose_output",
        swap={"return X.reshape(": "return X.view("},
        says="a view is asked for after the axes have changed places, which PyTorch refuses",
        asks="What must happen to the numbers in memory before these two axes can be melted into one?",
        page="""
Heads and features are neighbours as axes now, but not in memory: between the features of two heads lie all
other steps. A view cannot show that as one axis, a copy can.

    >>> torch.arange(6).reshape(2, 3).T.is_contiguous()
    >>> transpose_output(torch.randn(4, 3, 2), 2).shape
""",
    ),
    mistake(
        "heads-joined-detached",
        of="transpose_output",
        swap={"X = X.permute": "X = X.detach().permute"},
        says="the numbers stand right, but no gradient flows back to the heads",
        asks="On which way do the heads hear about the loss?",
        page="""
The forward pass is perfect and everything before the joining is cut off from the loss: the whole attention
stays as it was born, while the layers behind it learn around it.
"""
        + SEE_FLOW,
    ),
]


def in_other_dtypes(id, of, swap, says, asks, page, seen=""):
    """Right in float32; in another dtype it stops, or comes back in the wrong one."""
    return mistake(id, of=of, kind="policy", breaks=("precision",), swap=swap, says=says, asks=asks, page=page, seen=seen)


PRECISION = [
    in_other_dtypes(
        "split-into-float32",
        "transpose_qkv",
        {
            "return X.reshape(batch * num_heads, steps, head_size)": "rows = torch.zeros(batch * num_heads, steps, head_size, device=X.device)\n    rows[:] = X.reshape(batch * num_heads, steps, head_size)\n    return rows",
        },
        "the heads are written into a new tensor of single precision",
        "Which dtype does a new tensor have when nobody names one?",
        """
A new tensor has the default dtype, `float32`, unless it is told otherwise: what is written into it is converted
without a word. A model in half precision stops at the next layer, one in double precision loses half its digits.
`X.new_zeros(…)` has the dtype and the device of `X`.

    >>> transpose_qkv(torch.zeros(2, 3, 4).double(), 2).dtype

It should be `torch.float64`, as what went in was.
""",
    ),
    in_other_dtypes(
        "join-into-float32",
        "transpose_output",
        {
            "return X.reshape(batch, steps, num_heads * head_size)": "joined = torch.zeros(batch, steps, num_heads * head_size, device=X.device)\n    joined[:] = X.reshape(batch, steps, num_heads * head_size)\n    return joined",
        },
        "the joined features are written into a new tensor of single precision",
        "Which dtype does a new tensor have when nobody names one?",
        """
A new tensor has the default dtype, `float32`, unless it is told otherwise: what is written into it is converted
without a word. A model in half precision stops at the next layer, one in double precision loses half its digits.
`X.new_zeros(…)` has the dtype and the device of `X`.

    >>> transpose_output(torch.zeros(4, 3, 2).double(), 2).dtype

It should be `torch.float64`, as what went in was.
""",
    ),
]

MISTAKES = SPLIT + JOIN + PRECISION
