"""Known mistakes in attention_maps; their pages are in attention_maps.md."""

from grader.authoring import edit, mistake

MISTAKES = [
    mistake(
        "maps-not-called",
        edit("    model(*inputs)\n", ""),
        says="the maps are those of an earlier call, or of none: the model was not called",
        asks="The weights in a model belong to its latest call. Which call is that in your function?",
    ),
    mistake(
        "maps-heads-before-sentences",
        edit(
            "kept.reshape(batch_size, -1, *kept.shape[1:])",
            "kept.reshape(-1, batch_size, *kept.shape[1:]).transpose(0, 1)",
        ),
        says=(
            "the rows are split into heads first and sentences second, as if row h·B + b belonged to head h "
            "of sentence b"
        ),
        asks=(
            "Row 1 of (B·H, T, S): does it hold the second head of the first sentence, or the first of the "
            "second?"
        ),
    ),
    mistake(
        "maps-listed-stacked-in-front",
        edit("torch.stack(list(kept), dim=1)", "torch.stack(list(kept), dim=0)"),
        says="if a layer keeps one tensor per head, the maps have the axis of heads before that of sentences",
        asks=(
            "In each tensor of the list the sentences are axis 0. At which index should the new axis for the "
            "heads be?"
        ),
    ),
    mistake(
        "maps-cross-and-self-swapped",
        edit("to_itself, to_encoder =", "to_encoder, to_itself ="),
        says="the maps of the self-attention and of the cross-attention are swapped",
        asks="One of the two has zeros above every diagonal. Which key does it have in your dictionary?",
    ),
    mistake(
        "maps-first-layer-only",
        edit("for kept in layers:", "for kept in layers[:1]:"),
        says="the maps hold the first layer only",
        asks="How many entries should the list of a model with two layers have?",
    ),
    mistake(
        "maps-layers-from-last-to-first",
        edit("maps.append(kept)", "maps.insert(0, kept)"),
        says="the layers are listed from the last to the first",
        asks="Which index should the first layer have?",
    ),
    mistake(
        "maps-mean-over-heads",
        edit("maps.append(kept)", "maps.append(kept.mean(dim=1, keepdim=True))"),
        says="the maps are the mean over the heads",
        asks="Can you see from the mean of all heads how they differ?",
    ),
    mistake(
        "maps-first-sentence-only",
        edit("maps.append(kept)", "maps.append(kept[:1])"),
        says="the maps hold the first sentence of the batch only",
        asks="Which axis is shorter in your result than in the model's weights?",
    ),
    mistake(
        "maps-four-axes-not-expected",
        edit("if kept.dim() == 3:", "if True:"),
        says="weights that already have an axis for the heads are split once more",
        asks="One of the three layouts needs no change. What does your code do with it?",
    ),
    mistake(
        "maps-lists-not-expected",
        edit("if isinstance(kept, (list, tuple)):", "if False:"),
        says="a layer that keeps a list with one tensor per head is not handled",
        asks="Which of the three layouts in the table is not a tensor?",
    ),
    mistake(
        "maps-queries-and-keys-exchanged",
        edit("maps.append(kept)", "maps.append(kept.transpose(2, 3))"),
        says="queries and keys are swapped in the maps",
        asks="Along which of the last two axes should the weights sum to one?",
    ),
    mistake(
        "maps-steps-taken-for-sentences",
        edit("inputs[0].shape[0]", "inputs[0].shape[1]"),
        says="the number of steps is used as the number of sentences",
        asks="The tokens have the shape (B, T). Which of the two sizes is the number of sentences?",
    ),
    mistake(
        "maps-no-cross",
        edit('"cross": by_head(to_encoder)', '"cross": by_head(to_itself)'),
        says="the maps of the cross-attention are those of the self-attention",
        asks="How many columns should a map have if its keys are the words of the source?",
    ),
    mistake(
        "maps-cross-among-decoder",
        edit('"decoder": by_head(to_itself)', '"decoder": by_head([*to_itself, *to_encoder])'),
        says="the list of the self-attentions holds the maps of the cross-attentions too",
        asks="How many tensors should the list under `decoder` have, for a model of L layers?",
    ),
]
