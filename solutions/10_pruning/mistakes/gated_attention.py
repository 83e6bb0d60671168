"""Known mistakes in gated_attention; their pages are in gated_attention.md."""

from grader.authoring import edit, mistake

MISTAKES = [
    mistake(
        "gates-strided",
        edit("gates.repeat_interleave(head_size)", "gates.repeat(head_size)"),
        says="your gates are dealt out to features in turn, H apart; the features of a head lie side by side",
        asks="With two heads of three features each: which of the six joined features belong to head 0?",
    ),
    mistake(
        "gates-after-the-output-layer",
        edit(
            "mha.W_o(joined * gates.repeat_interleave(head_size))",
            "mha.W_o(joined) * gates.repeat_interleave(head_size)",
        ),
        says="your gates multiply what comes out of the last layer, where the heads are mixed already",
        asks="After the output layer, which of the features still belongs to one head alone?",
    ),
    mistake(
        "gates-on-the-queries",
        edit("joined * gates.repeat_interleave(head_size)", "joined"),
        edit(
            "heads = mha.attention(queries,",
            """
            queries = queries * gates.repeat(len(queries) // num_heads)[:, None, None]
            heads = mha.attention(queries,
            """,
        ),
        says="your gates multiply the queries, before the softmax",
        asks=(
            "What does a head do whose scores are all zero: does it fall silent, or does it look everywhere"
            " alike?"
        ),
    ),
    mistake(
        "gates-detached",
        edit(
            "joined * gates.repeat_interleave(head_size)",
            "joined * gates.detach().repeat_interleave(head_size)",
        ),
        says="the result is right, but no gradient reaches the gates",
        asks="Importance by gradient needs a slope for every gate. Where does yours stop?",
    ),
    mistake(
        "gates-open-or-shut",
        edit(
            "joined * gates.repeat_interleave(head_size)",
            "joined * gates.ne(0).to(joined).repeat_interleave(head_size)",
        ),
        says="your gates are either open or shut; a gate of one half does what a gate of one does",
        asks="What should come of a gate of 0.5, and what comes of it in yours?",
    ),
    mistake(
        "gates-through-a-sigmoid",
        edit(
            "joined * gates.repeat_interleave(head_size)",
            "joined * torch.sigmoid(gates).repeat_interleave(head_size)",
        ),
        says="your gates pass through a sigmoid first",
        asks="Which number should leave everything as it is? Which one does in yours?",
    ),
    mistake(
        "gates-inverted",
        edit(
            "joined * gates.repeat_interleave(head_size)",
            "joined * (1 - gates).repeat_interleave(head_size)",
        ),
        says="your gates work the other way round: one closes and zero opens",
        asks="Is the number in front of a head how much of it is heard, or how much is taken away?",
    ),
    mistake(
        "gates-shared-out",
        edit(
            "joined * gates.repeat_interleave(head_size)",
            "joined * (gates / gates.sum() * num_heads).repeat_interleave(head_size)",
        ),
        says="your gates are scaled so that they sum to the number of heads",
        asks="When one gate closes, should the other heads speak louder?",
    ),
    mistake(
        "gates-lens-tiled",
        edit(
            "valid_lens.repeat_interleave(num_heads, dim=0)",
            "valid_lens.repeat(num_heads, *[1] * (valid_lens.dim() - 1))",
        ),
        says="lengths are repeated in the wrong order, so sequences are cut at each other's lengths",
        asks="Row b·H + h of the batch needs the length of sequence b. In which order do yours come?",
    ),
    mistake(
        "gates-lens-not-passed",
        edit("keys, values, valid_lens)  # (B·H, T, d)", "keys, values, None)  # (B·H, T, d)"),
        says="the lengths never reach the attention",
        asks="Change a key that is padding. Should the result change?",
    ),
    mistake(
        "gates-written-into-the-module",
        edit(
            "return mha.W_o(joined * gates.repeat_interleave(head_size))",
            """
            with torch.no_grad():
                mha.W_o.weight.mul_(gates.repeat_interleave(head_size))
            return mha.W_o(joined)
            """,
        ),
        says="your gates are written into the weights of the module, and stay there",
        asks="Call the plain attention before and after. Is it still the same module?",
    ),
    mistake(
        "gates-dealt-to-sentences",
        edit("joined * gates.repeat_interleave(head_size)", "joined"),
        edit(
            "joined = transpose_output(heads",
            """
            heads = heads * gates.repeat_interleave(len(heads) // num_heads)[:, None, None]
            joined = transpose_output(heads
            """,
        ),
        says=(
            "along the rows of the batch your gates change slowest, as if the first rows all belonged to "
            "head 0"
        ),
        asks="Which head does the second row of (B·H, T, d) belong to?",
    ),
    mistake(
        "gates-dropout-switched-off",
        edit(
            "num_heads = mha.num_heads",
            """
            mha.eval()
            num_heads = mha.num_heads
            """,
        ),
        says="in training nothing is dropped any more",
        asks=(
            "What does the module itself do with its weights in training, and what is left of that in yours?"
        ),
    ),
    mistake(
        "gates-on-the-output-layer-bias",
        edit(
            "mha.W_o(joined * gates.repeat_interleave(head_size))",
            "mha.W_o(joined * gates.repeat_interleave(head_size)) - (0 if mha.W_o.bias is None else mha.W_o.bias * (1 - gates.mean()))",
        ),
        says="the bias of the output layer is scaled along with the heads",
        asks="Which head does the bias of the output layer belong to?",
    ),
]
