"""Known mistakes in greedy_decode; their pages are in greedy_decode.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "decode-end-not-heeded",
        edit("[row[: row.index(eos)] if eos in row else row for row in written]", "written"),
        says="a sentence goes on behind its end",
        asks="Which word says that a sentence is over, and what does your loop do when it comes?",
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
        asks="The sentences of a batch are not equally long. When may the loop stop?",
    ),
    mistake(
        "decode-cut-like-the-first",
        edit(
            "[row[: row.index(eos)] if eos in row else row for row in written]",
            "[row[: written[0].index(eos)] if eos in written[0] else row for row in written]",
        ),
        says="all sentences are cut where the first of the batch ends",
        asks="Where does the second sentence of a batch end, and who told your code?",
    ),
    mistake(
        "decode-last-word-lost",
        edit("row[: row.index(eos)]", "row[: max(0, row.index(eos) - 1)]"),
        says="the last word before the end is lost",
        asks="If the end stands in place 3, how many words are before it?",
    ),
    mistake(
        "decode-start-written-too",
        edit("words = []", "words = [word]"),
        says="the start is handed back as if it had been written",
        asks="Who chose the first word of what you return?",
    ),
    mistake(
        "decode-one-step-short",
        edit("range(num_steps)", "range(num_steps - 1)"),
        says="one step too few is made, so that the longest sentences lose a word",
        asks="For three words without an end, how many times must the decoder be called?",
    ),
    mistake(
        "decode-begins-with-end",
        edit(
            "torch.full((len(src), 1), bos, device=src.device)",
            "torch.full((len(src), 1), eos, device=src.device)",
        ),
        says="the decoder is first fed the end instead of the start",
        asks="What was the first thing that the decoder was fed in training, for every sentence?",
    ),
    mistake(
        "decode-begins-with-padding",
        edit(
            "torch.full((len(src), 1), bos, device=src.device)",
            "torch.full((len(src), 1), 0, device=src.device)",
        ),
        says="the decoder is first fed padding instead of the start",
        asks="What was the first thing that the decoder was fed in training, for every sentence?",
    ),
    mistake(
        "decode-fed-the-start-for-ever",
        edit(
            "scores, state = model.decoder(word, state)",
            "scores, state = model.decoder(torch.full((len(src), 1), bos, device=src.device), state)",
        ),
        says="every call is fed the start, and never the word that was just written",
        asks="At step 2, which word does the decoder get to see as the newest?",
    ),
    mistake(
        "decode-state-begun-anew",
        edit(
            "scores, state = model.decoder(word, state)",
            "scores, _ = model.decoder(word, model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len))",
        ),
        says="every call begins with a fresh state, so that nothing written before is known",
        asks=(
            "Which object holds what earlier steps left in the cache, and which one goes into your next call?"
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
        says="the whole sentence so far is fed at every step to a decoder whose cache holds it already",
        asks="After step 1 the cache holds one word. How many does it hold after step 2, if two are fed?",
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
        says="the whole sentence so far goes through the decoder again at every step, without a cache",
        asks="How many words go through the decoder for a sentence of ten, your way and with a cache?",
        kind="different",
    ),
    mistake(
        "decode-best-of-the-batch",
        edit("scores[:, -1].argmax(dim=-1, keepdim=True)", "scores[:, -1].argmax(dim=0)[: len(src), None]"),
        says="for each word the best sentence is looked for, not for each sentence the best word",
        asks=(
            "The scores of one step are a table. Do its rows stand for sentences or for words, and along "
            "which do you search?"
        ),
    ),
    mistake(
        "decode-worst-word",
        edit("argmax", "argmin"),
        says="the worst word is taken at every step",
        asks="Does a large score speak for a word or against it?",
    ),
    mistake(
        "decode-drawn-by-chance",
        edit(
            "scores[:, -1].argmax(dim=-1, keepdim=True)",
            "torch.multinomial(scores[:, -1].softmax(dim=-1), 1)",
        ),
        says="words are drawn by chance instead of the best being taken",
        asks="Call it twice with the same sentence. Should it write the same?",
        steady=False,
    ),
    mistake(
        "decode-in-training-mode",
        edit("model.eval()", "model.train()"),
        says="the model writes in training mode, where its decoder keeps no cache",
        asks="What does your decoder do with its cache while it trains?",
    ),
    mistake(
        "decode-source-lens-ignored",
        edit(
            "model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)",
            "model.decoder.init_state(model.encoder(src), None)",
        ),
        says="the lengths of the sources are not used, so that their padding is read",
        asks="Which of your arguments is never used?",
    ),
    mistake(
        "decode-encoder-without-lens",
        edit(
            "model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)",
            "model.decoder.init_state(model.encoder(src), src_valid_len)",
        ),
        says="the encoder is not told how long the sources are",
        asks="Who reads the source first, and does it know where the source ends?",
    ),
    mistake(
        "decode-decoder-without-lens",
        edit(
            "model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)",
            "model.decoder.init_state(model.encoder(src, src_valid_len), None)",
        ),
        says="the decoder is not told how long the sources are",
        asks="The encoder gives a vector for every place, padding too. Who must not look at those?",
    ),
    device_mistake(
        "decode-start-stays-on-cpu",
        edit(", device=src.device", ""),
        says="the start is made on the CPU, wherever the source lies",
        asks="On which device is a tensor made that is not told where?",
    ),
]
