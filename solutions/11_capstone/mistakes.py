"""Mistakes seen in training loops and in loops that write."""

from grader.authoring.bank import mistake

# Ways to look, for the pages. `new_model` and `reverse_batch` are those of the lesson's cells. Nothing here needs a
# model that can do its task, so that a page helps before the first training, too.

SEE_STEP = """

    >>> model, fed, slopes = new_model(), [], []
    >>> def look(decoder, given, out):
    ...     fed.append(given[0])
    ...     out[0].register_hook(slopes.append)
    >>> hook = model.decoder.register_forward_hook(look)
    >>> src = torch.tensor([[6, 8, 5, 2, 0], [7, 9, 3, 4, 2]])
    >>> tgt = torch.tensor([[1, 5, 8, 6, 2, 0], [1, 4, 3, 9, 7, 2]])
    >>> src_valid_len, tgt_valid_len = torch.tensor([4, 5]), torch.tensor([5, 6])
    >>> weights = train(model, [(src, src_valid_len, tgt, tgt_valid_len)], 1)
    >>> fed[0], slopes[0].argmin(dim=-1), (slopes[0] < 0).any(dim=-1)

Three small tables: what the decoder is fed, what it is asked for, which steps count. The first row of each should be
that of the example by hand in the lesson. (The slope of the loss is below zero at the word that is asked for, and zero
everywhere at a step that does not count.)
"""

SEE_ROUNDS = """

    >>> model, sizes = new_model(), []
    >>> def look(decoder, given):
    ...     sizes.append(len(given[0]))
    >>> hook = model.decoder.register_forward_pre_hook(look)
    >>> batches = [reverse_batch(2), reverse_batch(4), reverse_batch(6)]
    >>> weights = train(model, batches, 7); sizes

Three batches, of two, four and six sentences, and seven steps: 2, 4, 6, 2, 4, 6, 2.
"""

SEE_MODE = """

    >>> model, modes = new_model().eval(), []
    >>> def look(decoder, given):
    ...     modes.append(decoder.training)
    >>> hook = model.decoder.register_forward_pre_hook(look)
    >>> weights = train(model, [reverse_batch(4)], 3); modes

The model comes from a measurement. In all three steps it should be in training mode: three times `True`.
"""

SEE_MOVED = """

    >>> model = new_model()
    >>> start = model.named_parameters()
    >>> before = {name: p.detach().clone() for name, p in start}
    >>> weights = train(model, [reverse_batch(4), reverse_batch(4)], 5)
    >>> [name for name in before if torch.equal(weights[name], before[name])]

Every weight takes part in the loss, so none that comes back should be what it was: the list should be empty.
"""

SEE_GRADIENT = """

    >>> model, new, there = new_model(), [], []; bias = model.decoder.dense.bias
    >>> hook = bias.register_hook(lambda slope: new.append(slope.clone()))
    >>> def look(bias):
    ...     there.append(bias.grad.clone())
    >>> hook = bias.register_post_accumulate_grad_hook(look)
    >>> weights = train(model, [reverse_batch(4)], 3)
    >>> [(a - b).abs().max() for a, b in zip(new, there)]

At each step: how far what the optimizer finds is from the gradient of this step alone. It should be 0 three times.
"""

SEE_TOLD = """

    >>> model, told = new_model(), []
    >>> def look(encoder, given):
    ...     told.append(given[1])
    >>> hook = model.encoder.register_forward_pre_hook(look)
    >>> src, src_valid_len, tgt, tgt_valid_len = batch = reverse_batch(4)
    >>> weights = train(model, [batch], 1); told[0], src_valid_len

What the encoder is told should be how long the sources are: twice the same four numbers.
"""

SEE_WRITING = """

    >>> class Counts(nn.Module):
    ...     def init_state(self, numbers, lens):
    ...         return numbers
    ...     def forward(self, word, numbers):
    ...         scores = nn.functional.one_hot(word + numbers, 99)
    ...         return scores.float(), numbers
    >>> model = nn.Module()
    >>> model.encoder, model.decoder = (lambda src, lens: src), Counts()
    >>> src, lens = torch.tensor([[3], [1], [2]]), torch.ones(3)
    >>> greedy_decode(model, src, lens, 5, bos=1, eos=7)

This model counts: its best word is always the one that it was fed plus the number in its source. It begins behind 1,
goes on for five words at most, and is done at 7: `[[4], [2, 3, 4, 5, 6], [3, 5]]`.
"""

SEE_STATE = """

    >>> model, seen = new_model(), []
    >>> def look(decoder, given):
    ...     words, (_, _, cache) = given
    ...     held = 0 if cache[0] is None else cache[0].shape[1]
    ...     seen.append((words.shape[1], held))
    >>> hook = model.decoder.register_forward_pre_hook(look)
    >>> written = greedy_decode(model, *reverse_batch(1)[:2], 4, BOS, eos=-1)
    >>> seen

For each call: how many words are fed, and how many the cache holds already. It should be one new word every time, on
top of 0, 1, 2 and 3 old ones.
"""

SEE_LENS = """

    >>> model, told = new_model(), []
    >>> def look_at_encoder(encoder, given):
    ...     told.append(given[1:])
    >>> def look_at_decoder(decoder, given):
    ...     told.append(given[1][1])
    >>> hook = model.encoder.register_forward_pre_hook(look_at_encoder)
    >>> hook = model.decoder.register_forward_pre_hook(look_at_decoder)
    >>> src, src_valid_len, _, _ = reverse_batch(1)
    >>> written = greedy_decode(model, src, src_valid_len, 1, BOS, EOS)
    >>> told, src_valid_len

What the encoder is told, what the decoder is told, and how long the sources are: three times the same number.
"""

FED = "tgt[:, :-1]"
LABELS = "labels = tgt[:, 1:]"
COUNTS = "(tgt_valid_len - 1)[:, None]"
LOSS = "scores[real], labels[real]"
ROUND = "batches[step % len(batches)]"
CALL = "scores, state = model.decoder(word, state)"
BEGIN = "model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)"
START = "torch.full((len(src), 1), bos, device=src.device)"
CUT = "[row[: row.index(eos)] if eos in row else row for row in written]"


def in_training(id, swap, says, asks, page, see, **more):
    return mistake(
        f"train-{id}", of="train", swap=swap, says=says, asks=asks, page=page.strip() + see, **more
    )


def in_writing(id, swap, says, asks, page, see, **more):
    return mistake(
        f"decode-{id}", of="greedy_decode", swap=swap, says=says, asks=asks, page=page.strip() + see, **more
    )


TARGETS = [
    in_training(
        "fed-the-answer",
        {FED: "tgt[:, 1:]"},
        "the decoder is fed the very words that it is asked for",
        "At step 0, which word stands in the input, and which one should the model find out?",
        """
The target goes in and the target is asked for, column by column the same. A model needs one step to learn to
copy. The loss falls to zero faster than in any sound training, and when nobody feeds the answer any more, nothing
that is written makes sense.
""",
        SEE_STEP,
    ),
    in_training(
        "target-not-shifted",
        {LABELS: "labels = tgt[:, :-1]"},
        "every step is asked for the word that it was just fed, not for the one that follows",
        "When the start is fed, which word should come out?",
        """
Input and labels are the same row, so the model learns to repeat its input. When it writes, it is fed the start,
repeats the start, is fed that, and so on for ever.
""",
        SEE_STEP,
    ),
    in_training(
        "start-left-out",
        {FED: "tgt[:, 1:-1]", LABELS: "labels = tgt[:, 2:]", COUNTS: "(tgt_valid_len - 2)[:, None]"},
        "the start is never fed, so that the first word is never asked for",
        "Writing begins with the start as its only input. When did your model ever see one?",
        """
Input and labels fit each other, one step apart, and the loss behaves well. But the pair that comes first, start
and first word, is missing. What the model does with a start is left to chance, and the first word decides about
all that follow.
""",
        SEE_STEP,
    ),
    in_training(
        "end-not-learned",
        {COUNTS: "(tgt_valid_len - 2)[:, None]"},
        "the end of a sentence never counts, so that the model does not learn to stop",
        "A target of three words is fed in four steps. What should come out at the fourth?",
        """
The start in front has been taken off the length, and the end with it. Every word is learned but the one that
says that there are no more. What is written begins right and does not know when it is done.
""",
        SEE_STEP,
    ),
]

PADDING = [
    in_training(
        "loss-on-padding",
        {LOSS: "scores.flatten(0, 1), labels.flatten()"},
        "padding counts in the loss like any word",
        "Which answer do your labels ask for behind the end of a short sentence?",
        """
Every step counts, those behind the end too, where the label is padding. In a batch of short sentences and a long
one most steps are of that kind: the loss looks small because padding is easy, and the gradient is spent on it. How
much is lost depends on who shares a batch with whom.
""",
        SEE_STEP,
    ),
    in_training(
        "one-padding-counts",
        {COUNTS: "tgt_valid_len[:, None]"},
        "one step too many counts: the one behind the end, where the label is padding",
        "The length counts start and end. How many of these words is the decoder asked for?",
        """
The labels are one word shorter than the target, because nobody asks for the start. With the length as it is, the
first padding behind the end counts as a word.
""",
        SEE_STEP,
    ),
    in_training(
        "only-padding-counts",
        {LOSS: "scores[~real], labels[~real]"},
        "only padding counts in the loss, and no real word does",
        "Your mask is true at some steps. Are these the ones that count, or the others?",
        """
The mask is the wrong way round, or is used the wrong way round. The loss falls to nothing at once, because the one
thing asked for is padding.
""",
        SEE_STEP,
    ),
    in_training(
        "source-lens-ignored",
        {f"model(src, {FED}, src_valid_len)": f"model(src, {FED})"},
        "the model is not told how long the sources are, and reads their padding",
        "Which of the four tensors of a batch does your loop never use?",
        """
Without lengths, padding is read like words. A model that is trained so gets used to it, and then depends on how
much padding there is: the same sentence in a longer batch comes out otherwise.
""",
        SEE_TOLD,
    ),
    in_training(
        "target-lens-for-source",
        {f"model(src, {FED}, src_valid_len)": f"model(src, {FED}, tgt_valid_len)"},
        "the sources are masked with the lengths of the targets",
        "There are two lengths in a batch. Whose padding should the encoder not read?",
        """
The two lengths have the same shape and nearly the same values, so nothing complains. Some sources lose their last
words, others are read with a piece of padding.
""",
        SEE_TOLD,
    ),
]

LOOPS = [
    in_training(
        "never-stepped",
        {"optimizer.step()": "optimizer.zero_grad()"},
        "gradients are computed, and the weights never move",
        "Who moves the weights, and when did you ask for it?",
        """
The gradients say in which direction to go. Going there is the optimizer's part, and it has to be told. The loss goes
up and down with the batches and stays where it was.
""",
        SEE_MOVED,
    ),
    in_training(
        "no-backward",
        {"loss.backward()": "loss.detach()"},
        "the loss is computed, and nothing flows back from it",
        "An optimizer follows gradients. Where do yours come from?",
        """
Without a backward pass there are no gradients, and an optimizer skips weights that have none. No error, no change.
""",
        SEE_MOVED,
    ),
    in_training(
        "gradients-pile-up",
        {"optimizer.zero_grad()": "loss = loss.clone()"},
        "gradients are never cleared, so that each step follows the sum of all since the first",
        "PyTorch adds a new gradient to what is there. What is there when your second step begins?",
        """
Gradients are added up so that one can compute them in pieces. Left uncleared, an old one weighs as much as the newest,
though the model has long moved on. Training starts well, becomes sluggish, and swings.
""",
        SEE_GRADIENT,
    ),
    in_training(
        "in-evaluation-mode",
        {"model.train()": "model.eval()"},
        "the model is in evaluation mode while it is trained",
        "In which mode does a model arrive that has just been measured, and who changes that?",
        """
In evaluation mode nothing is dropped, and a decoder keeps a cache and may leave out its causal mask, because it takes
the words for the next ones of a sentence. With parts that are strict about it, the model then sees the words that
it should find out.
""",
        SEE_MODE,
    ),
    in_training(
        "one-round-only",
        {"range(steps)": "range(min(steps, len(batches)))"},
        "the loop ends when the batches are used up, before the steps are",
        "There are more steps than batches. What does your loop do when the last batch is through?",
        """
One round over the data is seldom enough. Here the steps are the budget, and the batches are gone through again and
again until it is spent.
""",
        SEE_ROUNDS,
    ),
    in_training(
        "steps-for-every-batch",
        {"range(steps)": "range(steps * len(batches))"},
        "every batch is taken as many times as there are steps, so that the budget is exceeded",
        "How many times did your optimizer move the weights, and how many times was it asked to?",
        """
A step is one batch and one move of the weights. With two loops inside each other, over rounds and over batches, the
number of rounds has been taken for the number of steps.
""",
        SEE_ROUNDS,
    ),
    in_training(
        "first-batch-only",
        {ROUND: "batches[0]"},
        "every step takes the same batch",
        "How many different sentences has your model seen at the end?",
        """
A model that sees one batch learns it by heart. The loss is splendid, and fresh sentences come out wrong.
""",
        SEE_ROUNDS,
    ),
    in_training(
        "nothing-returned",
        {"return model.state_dict()": "return None"},
        "nothing comes back where the trained weights belong",
        "What does a function give back that ends without saying so?",
        """
The weights were trained and stayed inside. Here they travel to another process, which measures them, and for that
they must be handed over.
""",
        SEE_MOVED,
    ),
    in_training(
        "weights-of-before",
        {
            "model.train()\n": "model.train()\n    kept = copy.deepcopy(model.state_dict())\n",
            "return model.state_dict()": "return kept",
        },
        "what comes back are the weights of before the training",
        "When was the state dict made that you return?",
        """
A state dict refers to the weights, it does not hold a copy; but a copy that was made too early stays what it was.
""",
        SEE_MOVED,
    ),
]

WORDS = [
    in_writing(
        "end-not-heeded",
        {CUT: "written"},
        "a sentence goes on behind its end",
        "Which word says that a sentence is over, and what does your loop do when it comes?",
        """
The loop writes as many words as there are steps, whatever they are. The model did say when it was done. What it
writes behind that was never trained and means nothing.
""",
        SEE_WRITING,
    ),
    in_writing(
        "stops-with-the-first",
        {"words.append(word)\n": "words.append(word)\n            if (word == eos).any():\n                break\n"},
        "all sentences stop when the first of them has ended",
        "The sentences of a batch are not equally long. When may the loop stop?",
        """
One sentence of the batch has reached its end, and the others are cut off in the middle. With a batch of one nothing
shows.
""",
        SEE_WRITING,
    ),
    in_writing(
        "cut-like-the-first",
        {CUT: "[row[: written[0].index(eos)] if eos in written[0] else row for row in written]"},
        "all sentences are cut where the first of the batch ends",
        "Where does the second sentence of a batch end, and who told your code?",
        """
The end was looked for in one sentence and used for all. Each sentence has an end of its own.
""",
        SEE_WRITING,
    ),
    in_writing(
        "last-word-lost",
        {"row[: row.index(eos)]": "row[: max(0, row.index(eos) - 1)]"},
        "the last word before the end is lost",
        "If the end stands in place 3, how many words are before it?",
        """
Counting from zero, the place of the end is the number of words before it. One more was taken off.
""",
        SEE_WRITING,
    ),
    in_writing(
        "start-written-too",
        {"words = []": "words = [word]"},
        "the start is handed back as if it had been written",
        "Who chose the first word of what you return?",
        """
The start is what the decoder is fed so that it can begin. It is no part of the sentence.
""",
        SEE_WRITING,
    ),
    in_writing(
        "one-step-short",
        {"range(num_steps)": "range(num_steps - 1)"},
        "one step too few is made, so that the longest sentences lose a word",
        "For three words without an end, how many times must the decoder be called?",
        """
Each call gives one word, the first call too, whose input is the start. Counting the start as a step leaves one
too few.
""",
        SEE_WRITING,
    ),
]

FEEDING = [
    in_writing(
        "begins-with-end",
        {START: START.replace("bos", "eos")},
        "the decoder is first fed the end instead of the start",
        "What was the first thing that the decoder was fed in training, for every sentence?",
        """
Some models have one token for both, so the habit exists. A model that has been trained with a start has never seen a
sentence begin with an end.
""",
        SEE_WRITING,
    ),
    in_writing(
        "begins-with-padding",
        {START: START.replace("bos", "0")},
        "the decoder is first fed padding instead of the start",
        "What was the first thing that the decoder was fed in training, for every sentence?",
        """
Zeros are the handiest tensor, and here they mean padding. The decoder answers anyway, with something.
""",
        SEE_WRITING,
    ),
    in_writing(
        "fed-the-start-for-ever",
        {
            CALL: f"scores, state = model.decoder({START}, state)",
        },
        "every call is fed the start, and never the word that was just written",
        "At step 2, which word does the decoder get to see as the newest?",
        """
The best word is written down and not fed back. The decoder hears the start again and again and cannot know what it
has said.
""",
        SEE_WRITING,
    ),
    in_writing(
        "state-begun-anew",
        {CALL: f"scores, _ = model.decoder(word, {BEGIN})"},
        "every call begins with a fresh state, so that nothing written before is known",
        "Which object holds what earlier steps left in the cache, and which one goes into your next call?",
        """
The state that goes in is always that of a fresh sentence. The decoder knows the newest word and the source, takes
every word for the first, and has forgotten the rest.
""",
        SEE_STATE,
    ),
    in_writing(
        "prefix-into-cache",
        {
            "words = []": "words, prefix = [], word",
            CALL: "scores, state = model.decoder(prefix, state)",
            "words.append(word)\n": "words.append(word)\n            prefix = torch.cat((prefix, word), dim=1)\n",
        },
        "the whole sentence so far is fed at every step to a decoder whose cache holds it already",
        "After step 1 the cache holds one word. How many does it hold after step 2, if two are fed?",
        """
There are two sound ways to write: everything again at each step and no cache, or the newest word alone and a cache.
Mixed, the decoder sees the first word twice, then three times, and each time at another position.
""",
        SEE_STATE,
    ),
    in_writing(
        "everything-again",
        {
            "words = []": "words, prefix = [], word",
            CALL: f"scores, _ = model.decoder(prefix, {BEGIN})",
            "words.append(word)\n": "words.append(word)\n            prefix = torch.cat((prefix, word), dim=1)\n",
        },
        "the whole sentence so far goes through the decoder again at every step, without a cache",
        "How many words go through the decoder for a sentence of ten, your way and with a cache?",
        """
What is written is right. But step t does the work of all steps before it once more, so that the work grows with the
square of the length; that is what the cache was built for. (And a decoder in evaluation mode need not accept more
than one new word at a time.)
""",
        SEE_STATE,
        kind="different",
    ),
]

CHOOSING = [
    in_writing(
        "best-of-the-batch",
        {"scores[:, -1].argmax(dim=-1, keepdim=True)": "scores[:, -1].argmax(dim=0)[: len(src), None]"},
        "for each word the best sentence is looked for, not for each sentence the best word",
        "The scores of one step are a table. Do its rows stand for sentences or for words, and along which do you search?",
        """
The largest number was looked for along the batch. What comes out are numbers of sentences, and they are taken for words.
""",
        SEE_WRITING,
    ),
    in_writing(
        "worst-word",
        {"argmax": "argmin"},
        "the worst word is taken at every step",
        "Does a large score speak for a word or against it?",
        """
Scores are not losses: the larger, the likelier.
""",
        SEE_WRITING,
    ),
    in_writing(
        "drawn-by-chance",
        {
            "scores[:, -1].argmax(dim=-1, keepdim=True)": "torch.multinomial(scores[:, -1].softmax(dim=-1), 1)"
        },
        "words are drawn by chance instead of the best being taken",
        "Call it twice with the same sentence. Should it write the same?",
        """
Drawing is a way to write too, and for stories a better one. It is not greedy decoding: the same source comes out in
many ways.
""",
        SEE_WRITING,
        steady=False,
    ),
    in_writing(
        "in-training-mode",
        {"model.eval()": "model.train()"},
        "the model writes in training mode, where its decoder keeps no cache",
        "What does your decoder do with its cache while it trains?",
        """
In training all words come at once, so nothing is kept from call to call. Word by word in that mode, the decoder knows
the newest word only; and what is dropped makes it write something else each time.
""",
        SEE_STATE,
    ),
]

SOURCES = [
    in_writing(
        "source-lens-ignored",
        {BEGIN: "model.decoder.init_state(model.encoder(src), None)"},
        "the lengths of the sources are not used, so that their padding is read",
        "Which of your arguments is never used?",
        """
Encoder and decoder both look at the source, and both take padding for words unless they are told where it begins.
""",
        SEE_LENS,
    ),
    in_writing(
        "encoder-without-lens",
        {BEGIN: "model.decoder.init_state(model.encoder(src), src_valid_len)"},
        "the encoder is not told how long the sources are",
        "Who reads the source first, and does it know where the source ends?",
        """
The decoder does not look at padding, but the encoder did: every real word has been mixed with it already.
""",
        SEE_LENS,
    ),
    in_writing(
        "decoder-without-lens",
        {BEGIN: "model.decoder.init_state(model.encoder(src, src_valid_len), None)"},
        "the decoder is not told how long the sources are",
        "The encoder gives a vector for every place, padding too. Who must not look at those?",
        """
The encoder has done its part, and its outputs at places of padding are there all the same. The decoder's attention to
the source takes them for words.
""",
        SEE_LENS,
    ),
]

DEVICE = [
    in_writing(
        "start-stays-on-cpu",
        {", device=src.device": ""},
        "the start is made on the CPU, wherever the source lies",
        "On which device is a tensor made that is not told where?",
        """
A new tensor lies on the CPU unless it is told otherwise. Beside a GPU, the first call of the decoder stops with an
error about two devices. On a machine without one nothing shows.

    >>> model, devices = new_model().to("meta"), []
    >>> def look(decoder, given):
    ...     devices.append(str(given[0].device))
    >>> hook = model.decoder.register_forward_pre_hook(look)
    >>> src = torch.full((1, 5), 3, device="meta")
    >>> src_valid_len = torch.full((1,), 5, device="meta")
    >>> try:
    ...     greedy_decode(model, src, src_valid_len, 3, BOS, EOS)
    ... except RuntimeError as error:
    ...     print(error)
    >>> devices

The device "meta" holds no numbers, and every machine has it. What is fed should be there, as the source is. That it
stops when words are to be read is as it should be: there are none.
""",
        "",
        kind="policy",
        breaks=("device",),
    ),
]

MISTAKES = TARGETS + PADDING + LOOPS + WORDS + FEEDING + CHOOSING + SOURCES + DEVICE
