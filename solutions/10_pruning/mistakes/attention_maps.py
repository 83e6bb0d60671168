"""Known mistakes in attention_maps; their pages are in attention_maps.md."""

from grader.authoring import edit, mistake

MISTAKES = [
    mistake(
        "maps-not-called",
        edit("    model(*inputs)\n", ""),
        says="your maps are those of an earlier call, or of none: the model was not called",
        asks=(
            "The weights that a model keeps belong to its latest call. Which call was that in your function?"
        ),
    ),
    mistake(
        "maps-heads-before-sentences",
        edit(
            "kept.reshape(batch_size, -1, *kept.shape[1:])",
            "kept.reshape(-1, batch_size, *kept.shape[1:]).transpose(0, 1)",
        ),
        says=(
            "rows were dealt to heads first and to sentences second, as if row h·B + b were head h of "
            "sentence b"
        ),
        asks=(
            "Row number one of (B·H, T, S): does it hold the second head of the first sentence, or the "
            "first of the second?"
        ),
    ),
    mistake(
        "maps-listed-stacked-in-front",
        edit("torch.stack(list(kept), dim=1)", "torch.stack(list(kept), dim=0)"),
        says="of a list with one tensor a head, your maps have the heads in front of the sentences",
        asks="Each tensor of the list has the sentences in front. Where must the new axis for the heads go?",
    ),
    mistake(
        "maps-cross-and-self-swapped",
        edit("to_itself, to_encoder =", "to_encoder, to_itself ="),
        says="the decoder's maps of itself and of the encoder are exchanged",
        asks="One of the two has a zero above every diagonal. Under which key does yours stand?",
    ),
    mistake(
        "maps-first-layer-only",
        edit("for kept in layers:", "for kept in layers[:1]:"),
        says="your maps hold the first layer alone",
        asks="How many entries should the list of a model with two layers have?",
    ),
    mistake(
        "maps-layers-from-last-to-first",
        edit("maps.append(kept)", "maps.insert(0, kept)"),
        says="your layers are listed from the last to the first",
        asks="Under which index does a reader look for the layer that sees the words first?",
    ),
    mistake(
        "maps-mean-over-heads",
        edit("maps.append(kept)", "maps.append(kept.mean(dim=1, keepdim=True))"),
        says="your maps are the mean over the heads",
        asks="What is left to be seen of heads that differ once they have been averaged?",
    ),
    mistake(
        "maps-first-sentence-only",
        edit("maps.append(kept)", "maps.append(kept[:1])"),
        says="your maps hold the first sentence of the batch alone",
        asks="Which axis became shorter between what the model keeps and what you return?",
    ),
    mistake(
        "maps-four-axes-not-expected",
        edit("if kept.dim() == 3:", "if True:"),
        says="weights that already have an axis for the heads are split once more",
        asks="One of the three layouts needs no change at all. What does your code do to it?",
    ),
    mistake(
        "maps-lists-not-expected",
        edit("if isinstance(kept, (list, tuple)):", "if False:"),
        says="a layer that keeps a list with one tensor a head is not expected",
        asks="Of the three layouts in the table, which one is not a tensor?",
    ),
    mistake(
        "maps-queries-and-keys-exchanged",
        edit("maps.append(kept)", "maps.append(kept.transpose(2, 3))"),
        says="queries and keys are exchanged in your maps",
        asks="Along which of the two last axes should the weights sum to one?",
    ),
    mistake(
        "maps-steps-taken-for-sentences",
        edit("inputs[0].shape[0]", "inputs[0].shape[1]"),
        says="the number of steps was taken for the number of sentences",
        asks="Tokens come as (B, T). Which of the two sizes says how many sentences there are?",
    ),
    mistake(
        "maps-no-cross",
        edit('"cross": by_head(to_encoder)', '"cross": by_head(to_itself)'),
        says="your cross-attention maps are those of the self-attention once more",
        asks="How many columns should a map have whose keys are the words of the source?",
    ),
]
