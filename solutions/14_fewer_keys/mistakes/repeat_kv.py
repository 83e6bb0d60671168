"""Known mistakes in repeat_kv; their pages are in repeat_kv.md."""

from grader.authoring import edit, mistake

RETURN = "return x.repeat_interleave(n_rep, dim=1)"

MISTAKES = [
    mistake(
        "rep-tiled",
        edit(RETURN, "return x.repeat(1, n_rep, 1, 1)"),
        says="all heads are repeated as a whole, so the copies of a head are not neighbours",
        asks="Which key head does the second query head get?",
    ),
    mistake(
        "rep-steps",
        edit(RETURN, "return x.repeat_interleave(n_rep, dim=2).reshape(x.shape[0], -1, *x.shape[2:])"),
        says="steps are repeated instead of heads",
        asks="Which axis of x holds the heads?",
    ),
    mistake(
        "rep-steps-longer",
        edit(RETURN, "return x.repeat_interleave(n_rep, dim=2)"),
        says="the axis of the steps gets longer instead of that of the heads",
        asks="Which axis of x holds the heads?",
    ),
    mistake(
        "rep-batch",
        edit(RETURN, "return x.repeat_interleave(n_rep, dim=0)"),
        says="sequences are repeated instead of heads",
        asks="Which axis of x holds the heads?",
    ),
    mistake(
        "rep-not",
        edit(RETURN, "return x"),
        says="nothing is repeated",
        asks="How many heads should the result have?",
    ),
    mistake(
        "rep-steps-and-heads-exchanged",
        edit(
            RETURN,
            "return x[:, :, :, None].expand(-1, -1, -1, n_rep, -1).reshape(len(x), -1, *x.shape[2:])",
        ),
        says="the new axis is behind the steps, so heads and steps are mixed",
        asks="Next to which axis must the axis of the copies be before the two are joined?",
    ),
    mistake(
        "rep-once-too-often",
        edit(RETURN, "return x.repeat_interleave(n_rep + 1, dim=1)"),
        says="there is one copy too many of each head",
        asks="How many copies of each head should there be, the head itself included?",
    ),
    mistake(
        "rep-detached",
        edit(RETURN, "return x.detach().repeat_interleave(n_rep, dim=1)"),
        says="no gradient flows back to the heads",
        asks="Which copies pass their gradient back to a head?",
    ),
]
