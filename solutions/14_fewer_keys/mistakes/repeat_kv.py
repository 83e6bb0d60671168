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
        says="each step is repeated instead of each head, so heads and steps are mixed",
        asks="Next to which axis must the copies of a head stand?",
    ),
    mistake(
        "rep-steps-longer",
        edit(RETURN, "return x.repeat_interleave(n_rep, dim=2)"),
        says="the copies lie on the axis of the steps (the third) instead of that of the heads",
        asks="Which axis of x holds the heads?",
        seen="Llama's own code, in which the steps come before the heads",
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
        "rep-features",
        edit(RETURN, "return x.repeat_interleave(n_rep, dim=3).reshape(x.shape[0], -1, *x.shape[2:])"),
        forms=[[edit(RETURN, "return x.repeat_interleave(n_rep, dim=3)")]],
        says="each single number is repeated instead of each head",
        asks="Which axis of x holds the heads?",
    ),
    mistake(
        "rep-group-axis-kept",
        edit(RETURN, "return x[:, :, None].repeat(1, 1, n_rep, 1, 1)"),
        says="the copies have an axis of their own that is not joined with the heads",
        asks="How many axes should the result have?",
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
