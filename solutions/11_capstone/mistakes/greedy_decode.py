"""Known mistakes in greedy_decode; their pages are in greedy_decode.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "decode-end-not-heeded",
        edit("[row[: row.index(eos)] if eos in row else row for row in written]", "written"),
        says="a sentence continues after its end token",
        asks="Which token marks the end of a sentence, and what does your loop do with it?",
    ),
    mistake(
        "decode-stops-with-the-first",
        edit(
            """
            words.append(word)

            """,
            """
            words.append(word)
            if (word == eos).any():
                break

            """,
        ),
        says="all sentences stop when the first of them has ended",
        asks="The sentences of a batch have different lengths. When may the loop stop?",
    ),
    mistake(
        "decode-cut-like-the-first",
        edit(
            "[row[: row.index(eos)] if eos in row else row for row in written]",
            "[row[: written[0].index(eos)] if eos in written[0] else row for row in written]",
        ),
        says="all sentences are cut where the first of the batch ends",
        asks="Where does the second sentence of a batch end, and where does your code look for it?",
    ),
    mistake(
        "decode-last-word-lost",
        edit("row[: row.index(eos)]", "row[: max(0, row.index(eos) - 1)]"),
        says="the last word before the end is lost",
        asks="If the end token has index 3, how many words are before it?",
    ),
    mistake(
        "decode-start-written-too",
        edit("words = []", "words = [word]"),
        says="the result contains the start token",
        asks="Did the model choose the first word of your result?",
    ),
    mistake(
        "decode-end-written-too",
        edit("row[: row.index(eos)]", "row[: row.index(eos) + 1]"),
        says="the result contains the end token",
        asks="Is the end token a word of the sentence, or does it say that there is no further word?",
    ),
    mistake(
        "decode-one-step-short",
        edit("range(num_steps)", "range(num_steps - 1)"),
        says="one step is missing, so the longest sentences lose a word",
        asks="How many calls of the decoder are needed for three words without an end token?",
    ),
    mistake(
        "decode-begins-with-end",
        edit(
            "torch.full((len(src), 1), bos, device=src.device)",
            "torch.full((len(src), 1), eos, device=src.device)",
        ),
        says="the first input of the decoder is the end token instead of the start token",
        asks="What was the first input of the decoder in training, for every sentence?",
    ),
    mistake(
        "decode-begins-with-padding",
        edit(
            "torch.full((len(src), 1), bos, device=src.device)",
            "torch.full((len(src), 1), 0, device=src.device)",
        ),
        says="the first input of the decoder is padding instead of the start token",
        asks="What was the first input of the decoder in training, for every sentence?",
    ),
    mistake(
        "decode-fed-the-start-for-ever",
        edit(
            "scores, state = model.decoder(word, state)",
            "scores, state = model.decoder(torch.full((len(src), 1), bos, device=src.device), state)",
        ),
        says="every call gets the start token, and never the word that was just written",
        asks="At step 2, which word does the decoder get as its input?",
    ),
    mistake(
        "decode-state-begun-anew",
        edit(
            "scores, state = model.decoder(word, state)",
            "scores, _ = model.decoder(word, model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len))",
        ),
        says="every call gets a new state, so the earlier words are lost",
        asks=(
            "Which object holds the cache of the earlier steps, and which object do you pass to the next "
            "call?"
        ),
    ),
    mistake(
        "decode-prefix-into-cache",
        edit("words = []", "words, prefix = [], word"),
        edit("scores, state = model.decoder(word, state)", "scores, state = model.decoder(prefix, state)"),
        edit(
            """
            words.append(word)

            """,
            """
            words.append(word)
            prefix = torch.cat((prefix, word), dim=1)

            """,
        ),
        says=(
            "the decoder gets the whole sentence so far at every step, although its cache already contains it"
        ),
        asks=(
            "After step 1 the cache holds one word. How many does it hold after step 2, if you pass two "
            "words?"
        ),
    ),
    mistake(
        "decode-everything-again",
        edit("words = []", "words, prefix = [], word"),
        edit(
            "scores, state = model.decoder(word, state)",
            "scores, _ = model.decoder(prefix, model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len))",
        ),
        edit(
            """
            words.append(word)

            """,
            """
            words.append(word)
            prefix = torch.cat((prefix, word), dim=1)

            """,
        ),
        says="the whole sentence so far goes through the decoder at every step, without a cache",
        asks=(
            "For a sentence of ten words, how many words go through your decoder, and how many with a cache?"
        ),
        kind="different",
    ),
    mistake(
        "decode-best-of-the-batch",
        edit("scores[:, -1].argmax(dim=-1, keepdim=True)", "scores[:, -1].argmax(dim=0)[: len(src), None]"),
        says="the maximum is taken over the sentences instead of the words",
        asks=(
            "The scores of one step are a table. Are its rows sentences or words, and along which axis do "
            "you take the maximum?"
        ),
    ),
    mistake(
        "decode-worst-word",
        edit("argmax", "argmin"),
        says="every step takes the word with the lowest score",
        asks="Does a large score mean that a word is likely or unlikely?",
    ),
    mistake(
        "decode-drawn-by-chance",
        edit(
            "scores[:, -1].argmax(dim=-1, keepdim=True)",
            "torch.multinomial(scores[:, -1].softmax(dim=-1), 1)",
        ),
        says="words are sampled at random instead of taking the best",
        asks="Call it twice with the same sentence. Should the results be equal?",
    ),
    mistake(
        "decode-in-training-mode",
        edit("model.eval()", "model.train()"),
        says="decoding runs in training mode, where the decoder uses no cache",
        asks="Does the decoder use its cache in training mode?",
    ),
    mistake(
        "decode-source-lens-ignored",
        edit(
            "model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)",
            "model.decoder.init_state(model.encoder(src), None)",
        ),
        says="the lengths of the sources are not used, so padding is attended to",
        asks="Which of your arguments is never used?",
    ),
    mistake(
        "decode-encoder-without-lens",
        edit(
            "model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)",
            "model.decoder.init_state(model.encoder(src), src_valid_len)",
        ),
        says="the lengths of the sources are not passed to the encoder",
        asks="Which module reads the source first, and does it get the lengths?",
    ),
    mistake(
        "decode-decoder-without-lens",
        edit(
            "model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)",
            "model.decoder.init_state(model.encoder(src, src_valid_len), None)",
        ),
        says="the lengths of the sources are not passed to the decoder",
        asks=(
            "The encoder returns a vector for every position, also for padding. Which module must not attend "
            "to those?"
        ),
    ),
    device_mistake(
        "decode-start-stays-on-cpu",
        edit(", device=src.device", ""),
        says="the start token is created on the CPU, whatever device the source is on",
        asks="On which device is a new tensor by default?",
    ),
]
