"""Known mistakes in prune_heads; their pages are in prune_heads.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "prune-rows-of-the-output-layer",
        edit("mha.W_o.weight[:, features]", "mha.W_o.weight[features]"),
        says="rows of the output layer are kept, but a head owns columns of it",
        asks="The output layer reads the concatenated heads. Are its inputs its rows or its columns?",
    ),
    mistake(
        "prune-rows-of-the-output-layer-turned",
        edit("mha.W_o.weight[:, features]", "mha.W_o.weight[features].T"),
        says="rows of the output layer are kept and transposed, so the shape fits and the values are wrong",
        asks="Which input of the output layer does column 0 of its matrix belong to?",
    ),
    mistake(
        "prune-num-heads-not-updated",
        edit("    mha.num_heads = len(kept)\n", ""),
        says="the module still splits its features into as many heads as before",
        asks="Which attribute of the module holds the number of heads?",
    ),
    mistake(
        "prune-strided-heads",
        edit(
            "features = [head * head_size + i for head in kept for i in range(head_size)]",
            "features = [i * mha.num_heads + head for head in kept for i in range(head_size)]",
        ),
        says="the features of a head are taken H apart, but they are neighbours",
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
        says="removed heads are set to zero but still exist: nothing is smaller",
        asks="How many parameters does your module have, before and after?",
        seen="torch.nn.utils.prune, which does just this",
    ),
    mistake(
        "prune-biases-lost",
        edit("bias = None if layer.bias is None else layer.bias[features]", "bias = None"),
        says="the biases of queries, keys and values are lost",
        asks="Which of the new layers have a bias, and which of the old ones had one?",
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
        says="the biases of the new layers are zero: the old values were not copied",
        asks="Which values should the bias of a new layer have, and which does it have?",
    ),
    mistake(
        "prune-biases-made-anew",
        edit("            if bias is not None:\n                layer.bias.copy_(bias)\n", ""),
        says="the biases of the new layers are random: the old values were not copied",
        asks="Which values should the bias of a new layer have, and which does it have?",
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
        says="the remaining parameters can no longer be trained",
        asks=(
            "After pruning a model is usually trained further. Which of your parameters would an optimiser "
            "update?"
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
        says="a second pruning uses the head numbers from before the first pruning",
        asks="Head 1 has been removed. Which head is number 1 now?",
    ),
    mistake(
        "prune-keeps-what-should-go",
        edit("if head not in set(heads)", "if head in set(heads)"),
        says="the function keeps the heads that it should remove",
        asks="How many heads should be left when one of four is removed?",
    ),
    mistake(
        "prune-all-heads-accepted",
        edit('    if not kept:\n        raise ValueError("at least one head must stay")\n', ""),
        says="the function does not refuse to remove all heads",
        asks="What would an attention without any head return?",
    ),
    mistake(
        "prune-repetitions-counted",
        edit("if not kept:", "if len(heads) >= mha.num_heads:"),
        says="a head that is named more than once is counted more than once",
        asks="How many heads are removed when one head is named three times?",
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
        says="heads are removed one after another, although each removal changes the numbers of the others",
        asks="You remove head 0 and then head 2 of four. Which head has number 2 after the first removal?",
    ),
    mistake(
        "prune-values-forgotten",
        edit('for name in ("W_q", "W_k", "W_v"):', 'for name in ("W_q", "W_k"):'),
        says="the layer of the values was not pruned",
        asks="Which three layers produce the heads?",
    ),
    mistake(
        "prune-another-order-in-the-output",
        edit(
            "mha.W_o.weight[:, features]",
            "mha.W_o.weight[:, [head * head_size + i for head in kept[::-1] for i in range(head_size)]]",
        ),
        says="the output layer has the heads in another order than the layers before it",
        asks="Any order of heads is allowed. What must be the same in all four layers?",
    ),
    mistake(
        "prune-returns-nothing",
        edit("    return mha\n", ""),
        says="the function returns nothing",
        asks="What does a Python function without a return statement return?",
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
        says="a module in evaluation mode is returned in training mode, and dropout is active",
        asks="In which mode is a new module?",
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
        says="the dropout rate is lost: in training nothing is dropped",
        asks="Which dropout rate does the new module have, and which did the old one have?",
    ),
    mistake(
        "prune-other-dropout-rate",
        edit(
            """
            return mha

            """,
            """
            mha.attention.dropout.p = 0.1
            return mha

            """,
        ),
        says="the pruned module has another dropout rate than the module that you got",
        asks="Which dropout rate does the new module have, and which did the old one have?",
    ),
    mistake(
        "prune-head-size-of-the-new-number",
        edit(
            "head_size = mha.W_o.in_features // mha.num_heads",
            "head_size = mha.W_o.in_features // len(kept)",
        ),
        says="the size of a head is computed with the number of heads that are left",
        asks="When two of four heads are removed, does the size of a head change?",
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
        says="the remaining heads are scaled up to compensate for the removed ones",
        asks=(
            "Should the smaller module give the same result as the gated one, or compensate for the closed "
            "gates?"
        ),
    ),
    device_mistake(
        "prune-new-layers-on-the-cpu",
        edit("layer = layer.to(weight)  # to its device and dtype", "layer = layer.to(weight.dtype)"),
        says="the new layers are created on the CPU, whatever device the old ones are on",
        asks="On which device is a new layer by default?",
    ),
    device_mistake(
        "prune-indices-on-the-cpu",
        edit("layer.weight[features]", "layer.weight.index_select(0, torch.tensor(features))"),
        edit("layer.bias[features]", "layer.bias.index_select(0, torch.tensor(features))"),
        edit("mha.W_o.weight[:, features]", "mha.W_o.weight.index_select(1, torch.tensor(features))"),
        says="the index is on the CPU, whatever device the weights are on",
        asks="On which device is a new tensor by default?",
    ),
    mistake(
        "prune-biases-invented",
        edit("bias=bias is not None)", "bias=True)"),
        says="the new layers have random biases, although the old ones had none",
        asks="How many parameters does a layer of your pruned module have, and how many did the old one have?",
    ),
    mistake(
        "prune-output-bias-cut",
        edit(
            "mha.W_o.weight[:, features], mha.W_o.bias)",
            "mha.W_o.weight[:, features], None if mha.W_o.bias is None else mha.W_o.bias[features])",
        ),
        edit("layer.bias.copy_(bias)", "layer.bias = nn.Parameter(bias.clone())"),
        says="the bias of the output layer is cut like its columns, but it belongs to no head",
        asks="How many features does the output layer give after pruning?",
    ),
    mistake(
        "prune-output-smaller-too",
        edit(
            "smaller(mha.W_o.weight[:, features], mha.W_o.bias)",
            "smaller(mha.W_o.weight[features][:, features], None if mha.W_o.bias is None else mha.W_o.bias[features])",
        ),
        says="the output has fewer features as well: the next layer would not fit any more",
        asks="Which of the sizes of the output layer belongs to the heads, and which to the model?",
    ),
    mistake(
        "prune-assertion",
        edit('if not kept:\n        raise ValueError("at least one head must stay")', "assert kept"),
        says="an assertion fails when no head is left, but a ValueError is asked for",
        asks="Which exception does a caller expect who wants to catch it?",
    ),
    mistake(
        "prune-heads-counted-as-listed",
        edit("mha.num_heads = len(kept)", "mha.num_heads = mha.num_heads - len(heads)"),
        says="the new number of heads is computed from the length of the list, in which a head may be named twice",
        asks="How many heads are left when one head is named twice?",
    ),
]
