"""Known mistakes in prune_heads; their pages are in prune_heads.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "prune-rows-of-the-output-layer",
        edit("mha.W_o.weight[:, features]", "mha.W_o.weight[features]"),
        says="you take rows of the output layer; a head owns columns of it",
        asks="The output layer reads the joined heads. Are its inputs its rows or its columns?",
    ),
    mistake(
        "prune-rows-of-the-output-layer-turned",
        edit("mha.W_o.weight[:, features]", "mha.W_o.weight[features].T"),
        says="you take rows of the output layer and turn them, so that the shape fits and the numbers do not",
        asks="What does row 0 of the output layer have to do with head 0?",
    ),
    mistake(
        "prune-num-heads-not-updated",
        edit("    mha.num_heads = len(kept)\n", ""),
        says="the module still splits its features into as many heads as before",
        asks="What else in the module knows how many heads there are?",
    ),
    mistake(
        "prune-strided-heads",
        edit(
            "features = [head * head_size + i for head in kept for i in range(head_size)]",
            "features = [i * mha.num_heads + head for head in kept for i in range(head_size)]",
        ),
        says="you take features that lie H apart for a head's; they lie side by side",
        asks="With four heads of three features each, which rows belong to head 1?",
    ),
    mistake(
        "prune-zeroed-and-not-removed",
        edit(
            'for name in ("W_q", "W_k", "W_v"):',
            """
            gone = [i for i in range(mha.W_o.in_features) if i not in features]
            with torch.no_grad():
                mha.W_o.weight[:, gone] = 0
            return mha
            for name in ("W_q", "W_k", "W_v"):
            """,
        ),
        says="removed heads are set to zero and still there: nothing has become smaller",
        asks="How many parameters does your module have, before and after?",
        seen="torch.nn.utils.prune, which does just this",
    ),
    mistake(
        "prune-biases-lost",
        edit("bias = None if layer.bias is None else layer.bias[features]", "bias = None"),
        says="the biases of queries, keys and values are lost",
        asks="Which of the new layers have a bias, and which of the old ones had?",
    ),
    mistake(
        "prune-output-bias-lost",
        edit(
            "smaller(mha.W_o.weight[:, features], mha.W_o.bias)",
            "smaller(mha.W_o.weight[:, features], None)",
        ),
        says="the bias of the output layer is lost",
        asks="Which heads does the bias of the output layer belong to?",
    ),
    mistake(
        "prune-biases-of-zeros",
        edit("layer.bias.copy_(bias)", "layer.bias.zero_()"),
        says="the new layers have biases of zero: the old numbers were not copied",
        asks="What should stand in the bias of a new layer, and what does?",
    ),
    mistake(
        "prune-biases-made-anew",
        edit("            if bias is not None:\n                layer.bias.copy_(bias)\n", ""),
        says="the new layers have fresh random biases: the old numbers were not copied",
        asks="What should stand in the bias of a new layer, and what does?",
        steady=False,
    ),
    mistake(
        "prune-frozen",
        edit(
            """
            return layer

            """,
            """
            return layer.requires_grad_(False)

            """,
        ),
        says="what is left can no longer be trained",
        asks=(
            "After pruning, a model is usually trained a little further. What would an optimiser find in "
            "yours?"
        ),
    ),
    mistake(
        "prune-numbered-as-at-first",
        edit(
            "kept = [head for head in range(mha.num_heads) if head not in set(heads)]",
            """
            names = getattr(mha, "names", list(range(mha.num_heads)))
            kept = [head for head in range(mha.num_heads) if names[head] not in set(heads)]
            mha.names = [names[head] for head in kept]
            """,
        ),
        says="a second pruning counts the heads as the first one did, before any was gone",
        asks="Head 1 is gone. Which head is number 1 now?",
    ),
    mistake(
        "prune-keeps-what-should-go",
        edit("if head not in set(heads)", "if head in set(heads)"),
        says="you keep the heads that should go",
        asks="How many heads should be left when one of four is removed?",
    ),
    mistake(
        "prune-all-heads-accepted",
        edit('    if not kept:\n        raise ValueError("at least one head must stay")\n', ""),
        says="removing all heads is not refused",
        asks="What would an attention without any head give?",
    ),
    mistake(
        "prune-repetitions-counted",
        edit("if not kept:", "if len(heads) >= mha.num_heads:"),
        says="heads that are named more than once are counted more than once",
        asks="How many heads go when the same one is named three times?",
    ),
    mistake(
        "prune-one-after-another",
        """
            def prune_heads(mha: nn.Module, heads: list[int]) -> nn.Module:
                if len(set(heads)) >= mha.num_heads:
                    raise ValueError("at least one head must stay")
                width = mha.W_o.in_features // mha.num_heads
                for head in dict.fromkeys(heads):
                    keep = [i for i in range(mha.W_o.in_features) if i // width != head]
                    with torch.no_grad():
                        for layer in (mha.W_q, mha.W_k, mha.W_v):
                            layer.weight = nn.Parameter(layer.weight[keep].clone())
                            if layer.bias is not None:
                                layer.bias = nn.Parameter(layer.bias[keep].clone())
                        mha.W_o.weight = nn.Parameter(mha.W_o.weight[:, keep].clone())
                    mha.W_o.in_features = len(keep)
                    mha.num_heads = len(keep) // width
                return mha
            """,
        says="heads are removed one after another, and the numbers of the others have moved by then",
        asks="Remove 0, then 2, from four heads. Which one is number 2 when its turn comes?",
    ),
    mistake(
        "prune-values-forgotten",
        edit('for name in ("W_q", "W_k", "W_v"):', 'for name in ("W_q", "W_k"):'),
        says="the layer of the values was not pruned",
        asks="Which three layers write heads?",
    ),
    mistake(
        "prune-another-order-in-the-output",
        edit(
            "mha.W_o.weight[:, features]",
            "mha.W_o.weight[:, [head * head_size + i for head in kept[::-1] for i in range(head_size)]]",
        ),
        says="the output layer holds the heads in another order than the layers before it",
        asks="Any order of heads is fine. What must be the same in all four layers?",
    ),
    mistake(
        "prune-returns-nothing",
        edit("    return mha\n", ""),
        says="the function returns nothing",
        asks="What does a function give that ends without a return?",
    ),
    mistake(
        "prune-left-in-training-mode",
        edit(
            """
            return mha

            """,
            """
            return mha.train()

            """,
        ),
        says="what was in evaluation mode comes back in training mode, and drops weights",
        asks="In which mode is a module that has just been built?",
    ),
    mistake(
        "prune-dropout-lost",
        edit(
            """
            return mha

            """,
            """
            mha.attention.dropout = nn.Dropout(0.0)
            return mha

            """,
        ),
        says="the rate of dropout is lost: in training nothing is dropped",
        asks="What did the old module do in training that the new one does not?",
    ),
    mistake(
        "prune-head-size-of-the-new-number",
        edit(
            "head_size = mha.W_o.in_features // mha.num_heads",
            "head_size = mha.W_o.in_features // len(kept)",
        ),
        says="the size of a head is computed with the number of heads that are left",
        asks="When two of four heads go, does a head become twice as wide?",
    ),
    mistake(
        "prune-counted-from-one",
        edit("if head not in set(heads)", "if head + 1 not in set(heads)"),
        says="heads are counted from one",
        asks="What is the number of the first head?",
    ),
    mistake(
        "prune-turned-up",
        edit("mha.W_o.weight[:, features]", "mha.W_o.weight[:, features] * mha.num_heads / len(kept)"),
        says="the heads that are left are turned up to make up for those that are gone",
        asks="Should the smaller module equal the gated one, or make up for it?",
    ),
    device_mistake(
        "prune-new-layers-on-the-cpu",
        edit("layer = layer.to(weight)  # to its device and dtype", "layer = layer.to(weight.dtype)"),
        says="the new layers are made on the CPU, wherever the old ones were",
        asks="On which device is a layer that has just been built?",
    ),
    device_mistake(
        "prune-indices-on-the-cpu",
        edit("layer.weight[features]", "layer.weight.index_select(0, torch.tensor(features))"),
        edit("layer.bias[features]", "layer.bias.index_select(0, torch.tensor(features))"),
        edit("mha.W_o.weight[:, features]", "mha.W_o.weight.index_select(1, torch.tensor(features))"),
        says="the index lies on the CPU, wherever the weights are",
        asks="On which device is a tensor that is made without naming one?",
    ),
]
