"""Known mistakes in gated_attention; their pages are in gated_attention.md."""

from grader.authoring import edit, mistake

MISTAKES = [
    mistake(
        "gates-strided",
        edit("gates.repeat_interleave(head_size)", "gates.repeat(head_size)"),
        says="each gate multiplies features that are H apart, but the features of a head are neighbours",
        asks="With two heads of three features each, which of the six joined features belong to head 0?",
    ),
    mistake(
        "gates-after-the-output-layer",
        edit(
            "mha.W_o(joined * gates.repeat_interleave(head_size))",
            "mha.W_o(joined) * gates.repeat_interleave(head_size)",
        ),
        says="the gates multiply the output of the last layer, where the heads are already mixed",
        asks="After the output layer, which features still belong to one head alone?",
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
        says="the gates multiply the queries, before the softmax",
        asks="If all scores of a head are zero, what are its weights, and what is its output?",
    ),
    mistake(
        "gates-detached",
        edit(
            "joined * gates.repeat_interleave(head_size)",
            "joined * gates.detach().repeat_interleave(head_size)",
        ),
        says="the result is right, but no gradient reaches the gates",
        asks="Importance by gradient needs a gradient for every gate. Where does yours stop?",
    ),
    mistake(
        "gates-open-or-shut",
        edit(
            "joined * gates.repeat_interleave(head_size)",
            "joined * gates.ne(0).to(joined).repeat_interleave(head_size)",
        ),
        says="the gates are rounded: a gate of one half has the effect of a gate of one",
        asks="Which effect should a gate of 0.5 have, and which does it have in your code?",
    ),
    mistake(
        "gates-through-a-sigmoid",
        edit(
            "joined * gates.repeat_interleave(head_size)",
            "joined * torch.sigmoid(gates).repeat_interleave(head_size)",
        ),
        says="the gates pass through a sigmoid first",
        asks="Which value of a gate should change nothing? Which value does so in your code?",
    ),
    mistake(
        "gates-inverted",
        edit(
            "joined * gates.repeat_interleave(head_size)",
            "joined * (1 - gates).repeat_interleave(head_size)",
        ),
        says="the gates are inverted: a gate of one removes its head, and a gate of zero keeps it",
        asks="Which value of a gate removes its head, zero or one?",
    ),
    mistake(
        "gates-shared-out",
        edit(
            "joined * gates.repeat_interleave(head_size)",
            "joined * (gates / gates.sum() * num_heads).repeat_interleave(head_size)",
        ),
        says="the gates are scaled so that they sum to the number of heads",
        asks="If one gate is closed, should the other heads change?",
    ),
    mistake(
        "gates-lens-tiled",
        edit(
            "valid_lens.repeat_interleave(num_heads, dim=0)",
            "valid_lens.repeat(num_heads, *[1] * (valid_lens.dim() - 1))",
        ),
        says="lengths are repeated in the wrong order, so sequences get the lengths of other sequences",
        asks="Row b·H + h of the batch needs the length of sequence b. In which order are yours?",
    ),
    mistake(
        "gates-lens-not-passed",
        edit("keys, values, valid_lens)  # (B·H, T, d)", "keys, values, None)  # (B·H, T, d)"),
        says="the lengths are not passed to the attention",
        asks="If a key in the padding changes, should the result change?",
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
        says="the gates are multiplied into the weights of the module, and stay there",
        asks="Call the plain attention before and after. Does it give the same result?",
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
            "the gates are repeated in the wrong order, as if the first rows of the batch all belonged to "
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
        forms=[
            [
                edit(
                    "heads = mha.attention(queries, keys, values, valid_lens)",
                    """
                    mode = mha.training
                    mha.eval()
                    heads = mha.attention(queries, keys, values, valid_lens)
                    mha.train(mode)
                    """,
                )
            ]
        ],
        says="in training, dropout has no effect",
        asks=(
            "What does the module do with its attention weights in training mode, and does your code do it "
            "too?"
        ),
    ),
    mistake(
        "gates-hook-left-behind",
        edit(
            "return mha.W_o(joined * gates.repeat_interleave(head_size))",
            """
            gated = joined * gates.repeat_interleave(head_size)
            mha.W_o.register_forward_hook(lambda layer, given, out: None)
            return mha.W_o(gated)
            """,
        ),
        says="a hook stays in the module after the call",
        asks="How many hooks does the module have after ten calls of your function?",
    ),
    mistake(
        "gates-on-the-output-layer-bias",
        edit(
            "mha.W_o(joined * gates.repeat_interleave(head_size))",
            "mha.W_o(joined * gates.repeat_interleave(head_size)) - (0 if mha.W_o.bias is None else mha.W_o.bias * (1 - gates.mean()))",
        ),
        says="the gates also scale the bias of the output layer",
        asks="Which head does the bias of the output layer belong to?",
    ),
    mistake(
        "gates-without-output-bias",
        edit(
            "return mha.W_o(joined * gates.repeat_interleave(head_size))",
            "return torch.nn.functional.linear(joined * gates.repeat_interleave(head_size), mha.W_o.weight)",
        ),
        says="the bias of the output layer is left out",
        asks="Which two parameters can the output layer have?",
    ),
]
