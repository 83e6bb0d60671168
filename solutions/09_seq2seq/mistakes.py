"""Mistakes seen in recurrent decoders with attention."""

from grader.authoring.bank import mistake

# Ways to look, for the pages. `decoder`, `encoded`, `lens` and `words` are those of the lesson's last cell.

SEE_LAW = """

    >>> together, _ = decoder(words, decoder.init_state(encoded, lens))
    >>> state = decoder.init_state(encoded, lens)
    >>> for t in range(4):
    ...     step, state = decoder(words[:, t : t + 1], state)
    ...     print((together[:, t : t + 1] - step).abs().max())

Four numbers, one a word; each should be rounding, about 0.0000001.
"""

SEE_WEIGHTS = """

    >>> decoder(words, decoder.init_state(encoded, lens))
    >>> [w.squeeze(1) for w in decoder.attention_weights]

One table for each word, a row for each sentence. The second sentence has two words: its last three columns are 0.
"""

SEE_SOURCE = """

    >>> other = encoded[0].clone(); other[2, 1] = 7.0
    >>> before, _ = decoder(words, decoder.init_state(encoded, lens))
    >>> after, _ = decoder(words, decoder.init_state((other, encoded[1]), lens))
    >>> (before - after).abs().amax(dim=(1, 2))

Only padding of sentence 1 was changed, so both numbers should be exactly 0.
"""

SEE_QUERY = """

    >>> seen = []
    >>> def keep(attention, given, out):
    ...     seen.append(given[0])
    >>> decoder.attention.register_forward_hook(keep)
    >>> decoder(words, decoder.init_state(encoded, lens));
    >>> (seen[0][:, 0] - encoded[1][-1]).abs().max(), [q.norm() for q in seen]

The questions of four steps: the first should be the encoder's last hidden state (a difference of 0), the others new ones.
"""

SEE_HIDDEN = """

    >>> seen = []
    >>> def keep(rnn, given, out):
    ...     seen.append(given[1])
    >>> decoder.rnn.register_forward_hook(keep)
    >>> decoder(words, decoder.init_state(encoded, lens));
    >>> (seen[0] - encoded[1]).abs().max()

Each layer of the GRU should begin with the hidden state of its own layer of the encoder: the difference is 0.
"""

SEE_WORDS = """

    >>> other = words.clone(); other[:, 2] = (other[:, 2] + 1) % 11
    >>> before, _ = decoder(words, decoder.init_state(encoded, lens))
    >>> after, _ = decoder(other, decoder.init_state(encoded, lens))
    >>> (before - after).abs().amax(dim=(0, 2))

Word 2 was changed: the scores of steps 0 and 1 must not move, those of steps 2 and 3 must.
"""

SEE_INPUT = """

    >>> seen = []
    >>> def keep(rnn, given, out):
    ...     seen.append(given[0])
    >>> decoder.rnn.register_forward_hook(keep)
    >>> decoder(words, decoder.init_state(encoded, lens));
    >>> first_words = decoder.embedding(words[:, 0])
    >>> (seen[0][0, :, 6:] - first_words).abs().max()

Context and word side by side, six features of the one and then four of the other: the difference should be 0.
"""

SEE_SCORES = """

    >>> scores, _ = decoder(words, decoder.init_state(encoded, lens))
    >>> scores.shape, scores.sum(dim=-1)

One row for each word of each sentence. Scores may be of any size and sign, and their sums of any size and sign.
"""

SEE_FLOW = """

    >>> scores, _ = decoder(words, decoder.init_state(encoded, lens))
    >>> scores.pow(2).sum().backward()
    >>> {name: p.grad.abs().max() for name, p in decoder.named_parameters()}

Every parameter takes part, so each of these should be larger than 0.
"""

SEE_SCORED = """

    >>> seen = []
    >>> def keep_output(rnn, given, out):
    ...     seen.append(out[0])
    >>> def keep_input(dense, given):
    ...     seen.append(given[0])
    >>> decoder.rnn.register_forward_hook(keep_output)
    >>> decoder.dense.register_forward_pre_hook(keep_input)
    >>> decoder(words, decoder.init_state(encoded, lens));
    >>> (seen[-1] - torch.cat(seen[:-1])).abs().max()

The scores should be made of what left the GRU and of nothing else: the difference is 0.
"""

SEE_KEPT = """

    >>> sizes = dict(vocab_size=11, embed_size=4, num_hiddens=6, num_layers=2)
    >>> decoder = Seq2SeqAttentionDecoder(**sizes, dropout=0.5).train()
    >>> def look_at_words(rnn, given, out):
    ...     print((given[0][..., 6:] == 0).sum())
    >>> def look_at_scored(dense, given):
    ...     print((given[0] == 0).sum())
    >>> decoder.rnn.register_forward_hook(look_at_words)
    >>> decoder.dense.register_forward_pre_hook(look_at_scored)
    >>> decoder(words, decoder.init_state(encoded, lens));

Zeros among the words that enter the GRU, and among what the scores are made of: none should have been dropped.
"""

SEE_DROPOUT = """

    >>> decoder = Seq2SeqAttentionDecoder(11, 4, 6, num_layers=2, dropout=0.5)
    >>> decoder.rnn.dropout, decoder.attention.dropout.p

Two places, and the rate that was asked for in both.
"""

QUERY = "query = hidden_state[-1].unsqueeze(1)  # (B, 1, D): the last layer, after the step before"
CONTEXT = "context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)"
STEP = "step = torch.cat((context, x.unsqueeze(1)), dim=-1)"
RNN = "output, hidden_state = self.rnn(step.permute(1, 0, 2), hidden_state)"
SCORES = "scores = self.dense(torch.cat(outputs, dim=0))"
END = "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)"
ENC = "return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens"
BEFORE_LOOP = "self.attention_weights = []\n        for x in embedded:"


def of_decoder(id, swap, says, asks, page, see="", **more):
    return mistake(
        f"seq2seq-{id}",
        of="Seq2SeqAttentionDecoder",
        swap=swap,
        says=says,
        asks=asks,
        page=page.strip() + see,
        **more,
    )


STATE = [
    of_decoder(
        "query-first-layer",
        {"hidden_state[-1].unsqueeze(1)": "hidden_state[0].unsqueeze(1)"},
        "the query is the hidden state of the first layer of the GRU instead of the last",
        "The hidden state has one entry for each layer. Which of them is nearest to the output?",
        """
With one layer there is no difference. With more, the first layer knows the word that was read and the last one
what the sentence has come to; the encoder's outputs, which are asked, are those of a last layer too.
""",
        SEE_QUERY,
    ),
    of_decoder(
        "query-never-changes",
        {QUERY: "query = state[1][-1].unsqueeze(1)"},
        "every step asks with the hidden state from before the first word: the context is always the same",
        "After each word the hidden state is another one. Which of them does your query come from?",
        """
The question is asked once for the whole sentence, so all steps look at the same place. That is the translator
with one vector for the source, which attention was invented to replace. Word by word it comes out differently,
because there each call begins with a newer state.
""",
        SEE_QUERY,
    ),
    of_decoder(
        "query-from-the-word",
        {QUERY: "query = nn.functional.pad(x, (0, hidden_state.shape[-1] - x.shape[-1])).unsqueeze(1)"},
        "the query is made from the word that was just read instead of from the hidden state",
        "What knows what the sentence still needs: the word before, or all that was written so far?",
        """
The same word then always looks at the same place, wherever it stands. A second "the" in a sentence would look at
the source just as the first one did.
""",
        SEE_QUERY,
    ),
    of_decoder(
        "query-after-the-step",
        {
            QUERY: "ahead, _ = self.rnn(torch.cat((torch.zeros_like(hidden_state[-1]), x), dim=-1)[None], hidden_state)\n"
            "            query = ahead.permute(1, 0, 2)"
        },
        "the query is a hidden state that has already read the current word, without a context",
        "The question is asked before the GRU moves on. Which hidden state is there at that time?",
        """
Luong et al. (2015) ask with the new state, and put the context behind the GRU. Here the new state is made *from*
the context, so the question has to come from the state before.
""",
        SEE_QUERY,
        kind="different",
    ),
    of_decoder(
        "hidden-not-carried",
        {RNN: "output, _ = self.rnn(step.permute(1, 0, 2), hidden_state)"},
        "every step begins, and asks, with the hidden state from before the first word: the new ones are thrown away",
        "Three things go round the loop. Which of yours comes in at the top as it went in the first time?",
        """
The GRU forgets everything between two steps, and all steps look at the same place. A word is then chosen from the
word before it alone.
""",
        SEE_QUERY,
    ),
    of_decoder(
        "hidden-carried-between-calls-only",
        {
            RNN: RNN.replace("hidden_state =", "newest ="),
            END: END.replace("hidden_state", "newest"),
        },
        "within a call every step begins, and asks, with the hidden state from before the first word",
        "The newest hidden state goes back to the caller. Does the next step of the same call get it too?",
        """
Word by word all is right, because the caller carries the state. In a call with a whole sentence, as in training, the
GRU forgets everything between two steps.
""",
        SEE_LAW,
    ),
    of_decoder(
        "rnn-starts-over",
        {"self.rnn(step.permute(1, 0, 2), hidden_state)": "self.rnn(step.permute(1, 0, 2), state[1])"},
        "the GRU begins every step of a call with the hidden state from before the first word; only the query moves on",
        "Two things in a step want the hidden state. Do both of yours get the newest one?",
        """
The GRU forgets everything between two steps but what the query carries over. With a single step a call it is right,
so compare both ways.
""",
        SEE_LAW,
    ),
    of_decoder(
        "old-hidden-returned",
        {END: "return scores.permute(1, 0, 2), (enc_outputs, state[1], enc_valid_lens)"},
        "the state that comes back holds the hidden state from before the call",
        "Hand the state you got back into the next call: where does that call begin?",
        """
Within one call all is well. A prediction word by word stands still: each call begins where the first one began,
and the same word is written again and again.
""",
        SEE_LAW,
    ),
    of_decoder(
        "only-last-layer-returned",
        {
            END: "return scores.permute(1, 0, 2), (enc_outputs, hidden_state[-1:].expand_as(hidden_state), enc_valid_lens)"
        },
        "the state that comes back holds the last layer's hidden state in the place of every layer's",
        "How many hidden states does a GRU with several layers want back at the next call?",
        """
With one layer there is no difference. With more, the first layer goes on from a state of the last one, which it
has never seen in training. Only prediction word by word shows it.
""",
        SEE_LAW,
    ),
    of_decoder(
        "hidden-zero",
        {
            "outputs, hidden_state = enc_outputs": "outputs, hidden_state = enc_outputs[0], torch.zeros_like(enc_outputs[1])"
        },
        "the decoder begins with zeros instead of the encoder's hidden state",
        "What does the decoder know of the source before its first look?",
        """
The first question is the same for every sentence, so the first look goes to an average place, and the GRU has to
gather from the contexts what it could have had for nothing.
""",
        SEE_QUERY,
    ),
    of_decoder(
        "hidden-layers-alike",
        {
            "outputs, hidden_state = enc_outputs": "outputs, hidden_state = enc_outputs[0], enc_outputs[1][-1:].expand_as(enc_outputs[1]).contiguous()"
        },
        "every layer begins with the hidden state of the encoder's last layer",
        "The encoder hands over one hidden state a layer. Which layer of the decoder should begin with which?",
        """
Layer goes with layer: the encoder's first hidden state was made by a first layer. With one layer there is no
difference.
""",
        SEE_HIDDEN,
    ),
    of_decoder(
        "hidden-detached",
        {RNN: f"{RNN}\n            hidden_state = hidden_state.detach()"},
        "the hidden state is cut off from the gradient between steps",
        "An error at the fourth word: which earlier steps hear of it?",
        """
The numbers are right, and each step learns for itself: what an early step should have kept in mind for a later one is
never taught. Cutting the gradient is right *between* long pieces of text, not between the steps of one sentence.
""",
        """

    >>> numbers = torch.tensor([[3, 1, 4, 5], [3, 1, 4, 5]])
    >>> decoder.zero_grad()
    >>> scores, _ = decoder(numbers, decoder.init_state(encoded, lens))
    >>> scores[:, -1].square().sum().backward()
    >>> decoder.embedding.weight.grad[numbers[0]].abs().amax(dim=1)

Only the scores of the last word were asked, and all four words have a part in them: no number should be 0.
""",
    ),
    of_decoder(
        "encoder-detached",
        {ENC: "return outputs.permute(1, 0, 2).detach(), hidden_state, enc_valid_lens"},
        "the encoder's outputs are cut off from the gradient when the state is made",
        "By which two roads does the encoder hear how wrong the translation is?",
        """
The numbers are right. The encoder still learns through its last hidden state, which is the narrow road that
attention was meant to widen.

    >>> outputs = encoded[0].clone().requires_grad_()
    >>> state = decoder.init_state((outputs, encoded[1]), lens)
    >>> decoder(words, state)[0].sum().backward()
    >>> outputs.grad
""",
    ),
]

LOOKING = [
    of_decoder(
        "without-lengths",
        {CONTEXT: CONTEXT.replace("enc_valid_lens", "None")},
        "padding is looked at: the lengths of the source are not used",
        "Some source sentences are shorter than others. Who tells the attention where each of them ends?",
        """
The encoder's outputs at padded steps are numbers like any others and get their share. What is written then depends
on how long the other sentences of the batch are.
""",
        SEE_SOURCE,
    ),
    of_decoder(
        "outputs-time-first",
        {ENC: "return outputs, hidden_state, enc_valid_lens"},
        "the encoder's outputs were left with time first where the attention wants the batch first",
        "In which order do the axes of the encoder's outputs arrive, and in which does the attention want them?",
        """
Where a batch is as large as its sentences are long, nothing fails, and each sentence looks at one step of all the
others. With unequal sizes it stops with an error about shapes. Test with sizes that all differ.
""",
        SEE_SOURCE,
    ),
    of_decoder(
        "outputs-reshaped",
        {ENC: "return outputs.reshape(outputs.shape[1], outputs.shape[0], -1), hidden_state, enc_valid_lens"},
        "the encoder's outputs were reshaped to batch first, which mixes sentences, instead of having two axes exchanged",
        "After your change of axes, does row 0 hold the steps of one sentence?",
        """
A reshape keeps the numbers in their order and only counts them anew. The shape is the right one, and each row holds
steps of several sentences. Exchanging two axes is another thing.
""",
        SEE_SOURCE,
    ),
    of_decoder(
        "last-output-as-context",
        {CONTEXT: f"{CONTEXT}\n            context = enc_outputs[:, -1:]"},
        "the context is the encoder's last output: nothing is weighed",
        "What becomes of the attention's result in your step?",
        """
The attention is called and its result is not used. What remains is a translator that hands the last state of the
source to every step.
""",
        SEE_FLOW,
    ),
    of_decoder(
        "mean-as-context",
        {CONTEXT: f"{CONTEXT}\n            context = enc_outputs.mean(dim=1, keepdim=True)"},
        "the context is the plain mean of all encoder outputs: the weights are not used",
        "What becomes of the attention's weights in your step?",
        """
Every word of the source counts the same, padding included, at every step. The weights that are kept look fine and
have no influence.
""",
        SEE_FLOW,
    ),
    of_decoder(
        "attends-to-itself",
        {CONTEXT: "context = self.attention(query, query, query, None)"},
        "the query is looked at instead of the source: the context is the query itself",
        "Which of the three things handed to the attention come from the encoder?",
        """
With a single key its weight is 1 whatever the scores are, and its value comes back. The source is known through
the first hidden state only.
""",
        SEE_SOURCE.replace("other[2, 1] = 7.0", "other[0] = 7.0").replace(
            "Only padding of sentence 1 was changed, so both numbers should be exactly 0.",
            "A real step of both sentences was changed: neither number should be 0.",
        ),
    ),
    of_decoder(
        "roles-exchanged",
        {CONTEXT: "context = self.attention(enc_outputs, query, query, None)"},
        "the source asks and the hidden state answers",
        "One context a sentence is wanted. Does an attention give one row for each query, or one for each key?",
        """
An attention gives one row for each query, so here one for each source step, all alike because there is a single
key. The shapes then disagree at the next line.
""",
        SEE_WEIGHTS,
    ),
]

STEPS = [
    of_decoder(
        "word-before-context",
        {STEP: "step = torch.cat((x.unsqueeze(1), context), dim=-1)"},
        "the input of the GRU is word and context instead of context and word",
        "In which order does the lesson put the two parts of the GRU's input?",
        """
A GRU that is trained this way is as good as the other. But its input weights have their columns in another order, so
weights of the one do not fit the other.
""",
        SEE_INPUT,
        kind="different",
    ),
    of_decoder(
        "first-word-always",
        {"for x in embedded:": "for x in embedded[:1].expand_as(embedded):"},
        "every step reads the first word",
        "Which word does step 3 read?",
        """
The loop runs once for each word and reads the same one each time. In prediction word by word all is right, since
each call has a single word, so compare both ways.
""",
        SEE_WORDS,
    ),
    of_decoder(
        "own-words-read",
        {
            BEFORE_LOOP: "self.attention_weights = []\n        said = None\n        for x in embedded:",
            "query = hidden": "x = x if said is None else self.embedding(said)\n            query = hidden",
            "outputs.append(output)": "outputs.append(output)\n            said = self.dense(output[0]).argmax(dim=-1)",
        },
        "each step reads the word that the step before chose, not the one that was handed over",
        "In one call with all words, who chooses what step 3 reads: the caller, or your step 2?",
        """
Feeding a model its own words is what prediction does, one call a word, under the caller's control. In training the
true words are given (*teacher forcing*), and they must be read.
""",
        SEE_WORDS,
    ),
    of_decoder(
        "words-backwards",
        {"for x in embedded:": "for x in embedded.flip(0):"},
        "the words are read from the last to the first",
        "Which word does the first step read?",
        """
Reading backwards is a fine idea for an encoder. A decoder that does it reads the end of the sentence before it writes
the beginning.
""",
        SEE_WORDS,
    ),
    of_decoder(
        "walks-over-batch",
        {"self.embedding(X).permute(1, 0, 2)": "self.embedding(X)"},
        "the loop goes over the sentences of the batch instead of the steps",
        "When you go through a tensor in a loop, which axis do you go along?",
        """
A loop over a tensor goes along its first axis. That was the batch here, so a "step" is a sentence, and its words are
taken for a batch. Only unequal sizes make it fail.
""",
        SEE_INPUT,
    ),
    of_decoder(
        "embedding-scaled",
        {
            "self.embedding(X).permute(1, 0, 2)": "self.embedding(X).permute(1, 0, 2) * self.embedding.embedding_dim**0.5"
        },
        "the embedded words are multiplied by the root of their size",
        "In which assignment is the embedding scaled up, and what was it to be added to there?",
        """
The factor belongs to the Transformer, where words are added to sines. Here they stand beside the context, and nothing
is to be brought into proportion.
""",
        SEE_INPUT,
        kind="different",
    ),
    of_decoder(
        "scores-from-first-layer",
        {"outputs.append(output)": "outputs.append(hidden_state[:1])"},
        "the scores are made from the first layer's hidden state instead of the last layer's",
        "What comes out of a GRU with several layers: the state of which of them?",
        """
With one layer there is no difference. With more, the layers above the first have no influence on the step's scores.
""",
        SEE_FLOW,
    ),
    of_decoder(
        "scores-from-context",
        {"outputs.append(output)": "outputs.append(context.permute(1, 0, 2))"},
        "the scores are made from the context instead of the GRU's output",
        "What goes into the last linear layer?",
        """
The mean of some source steps, without any word that was written, decides on the next one. The GRU is left with the
choice of where to look.
""",
        SEE_FLOW,
    ),
    of_decoder(
        "scores-see-context",
        {"outputs.append(output)": "outputs.append(output + context.permute(1, 0, 2))"},
        "the scores are made from the sum of the GRU's output and the context",
        "By which way does the lesson let the context reach the scores?",
        """
Bahdanau et al. do let their scores see the context directly, through a layer of its own. Here it takes its way
through the GRU alone.
""",
        SEE_SCORED,
        kind="different",
    ),
    of_decoder(
        "no-dense",
        {SCORES: "scores = torch.cat(outputs, dim=0)"},
        "the GRU's outputs come back, without scores",
        "What turns a vector of D numbers into one number for each word?",
        """
The last linear layer, which compares the output with every word of the vocabulary, was left out.
""",
        SEE_SCORES,
    ),
    of_decoder(
        "softmax",
        {SCORES: f"{SCORES}.softmax(dim=-1)"},
        "the scores went through a softmax: they are probabilities already",
        "Which part of training applies the softmax, and what does a second one do to the first?",
        """
The loss of training has a softmax inside. Given numbers between 0 and 1 it sees hardly any difference between the best
word and the worst, and hardly falls.
""",
        SEE_SCORES,
    ),
    of_decoder(
        "log-softmax",
        {SCORES: f"{SCORES}.log_softmax(dim=-1)"},
        "the scores are logarithms of probabilities",
        "What does the contract ask for: scores of any size, or something that has been normalised?",
        """
Logarithms of probabilities suit a loss that expects them (`NLLLoss`), and a further softmax leaves them as they are.
Here the plain scores of the last layer are asked for, and those differ by a constant in every row.
""",
        SEE_SCORES,
        kind="different",
    ),
    of_decoder(
        "last-step-only",
        {SCORES: "scores = self.dense(outputs[-1])"},
        "scores come back for the last step only",
        "In training all steps learn. How many rows of scores does that take?",
        """
In prediction there is one step and all is right. In training each step is an example of its own, and all but the last
are thrown away.
""",
        SEE_SCORES,
    ),
    of_decoder(
        "scores-time-first",
        {END: "return scores, (enc_outputs, hidden_state, enc_valid_lens)"},
        "the scores come back with the steps first instead of the batch",
        "In which order does the contract name the axes of the result?",
        """
Inside the loop time comes first, outside the batch does. Where both are equally large nothing fails, and each
sentence is graded with the scores of one step of all.
""",
        SEE_SCORES,
    ),
    of_decoder(
        "scores-reshaped",
        {
            END: "return scores.reshape(X.shape[0], X.shape[1], -1), (enc_outputs, hidden_state, enc_valid_lens)"
        },
        "the scores were reshaped to batch first, which mixes sentences, instead of having two axes exchanged",
        "After your change of axes, does row 0 hold the steps of one sentence?",
        """
A reshape keeps the numbers in their order and only counts them anew. The shape is the right one, and each row holds
steps of several sentences.
""",
        SEE_WORDS,
    ),
    of_decoder(
        "state-not-returned",
        {END: "return scores.permute(1, 0, 2)"},
        "the decoder returns its scores alone, without the state",
        "The next call wants two things from this one. Which is missing?",
        """
The caller takes two things from the result: with scores alone, unpacking fails or, with a batch of two, takes the
first sentence for the scores and the second for the state.

    >>> type(decoder(words, decoder.init_state(encoded, lens)))
""",
    ),
]

KEEPING = [
    of_decoder(
        "weights-of-last-step",
        {
            "self.attention_weights.append(self.attention.attention_weights)": "self.attention_weights = self.attention.attention_weights"
        },
        "only the attention weights of the last step can be found after a call",
        "How many steps has a call, and how many tables of weights are kept after it?",
        """
The scores are right. But the picture of an alignment wants one row of weights for each word that was written, and all
but the last are gone.
""",
        SEE_WEIGHTS,
        kind="policy",
        breaks=("weights",),
    ),
    of_decoder(
        "weights-pile-up",
        {
            BEFORE_LOOP: "for x in embedded:",
        },
        "the attention weights of all calls pile up in one list",
        "After a second sentence, how many tables of weights are kept?",
        """
The list was made once, when the decoder was built. After an epoch it holds the weights of every step of every
sentence, with all that the gradient needs of them: memory grows until it is full.

    >>> for _ in range(2): decoder(words, decoder.init_state(encoded, lens))
    >>> len(decoder.attention_weights)

Four words went in, the second time as well: there should be four tables.
""",
        "",
        kind="policy",
        breaks=("weights",),
    ),
    of_decoder(
        "weights-list-of-one",
        {
            "self.attention_weights.append(self.attention.attention_weights)": "self.attention_weights = [self.attention.attention_weights]"
        },
        "the list of attention weights holds those of the last step alone",
        "How many steps has a call, and how many tables of weights are kept after it?",
        """
The list is made anew at every step, so that all but the last table are gone. It belongs before the loop.
""",
        SEE_WEIGHTS,
        kind="policy",
        breaks=("weights",),
    ),
    of_decoder(
        "weights-list-empty",
        {"self.attention_weights.append(self.attention.attention_weights)": "pass"},
        "the list of attention weights is empty",
        "After a call, where can one read which source words each step looked at?",
        """
The scores are right, and nobody can see where the model looks. The weights of each step stand in the attention for a
moment, until the next step overwrites them.
""",
        SEE_WEIGHTS,
        kind="policy",
        breaks=("weights",),
    ),
    of_decoder(
        "attention-without-dropout",
        {
            "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)": "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, 0)"
        },
        "the attention drops none of its weights: the rate did not reach it",
        "The rate is handed to the decoder. To which two of its parts do you hand it on?",
        """
Everything is right but that no attention weight is ever dropped in training. The model learns its training data a
little too well, and nothing else will ever tell you.
""",
        SEE_DROPOUT,
    ),
    of_decoder(
        "rnn-without-dropout",
        {"num_layers, dropout=dropout)": "num_layers)"},
        "nothing is dropped between the layers of the GRU: the rate did not reach it",
        "The rate is handed to the decoder. To which two of its parts do you hand it on?",
        """
Everything is right but that nothing is ever dropped between the layers in training. The model learns its training data
a little too well, and nothing else will ever tell you.
""",
        SEE_DROPOUT,
    ),
    of_decoder(
        "nothing-dropped",
        {
            "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)": "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, 0)",
            "num_layers, dropout=dropout)": "num_layers)",
        },
        "nothing is dropped anywhere: the rate is not used",
        "The rate is handed to the decoder. What do you do with it?",
        """
A decoder without any dropout. In evaluation nobody can tell it from a right one; in training two calls on the same
input give the same scores, and they should not.
""",
        SEE_DROPOUT,
    ),
    of_decoder(
        "words-dropped",
        {
            "embedded = self.embedding(X).permute(1, 0, 2)": "embedded = nn.functional.dropout(self.embedding(X), self.rnn.dropout, self.training).permute(1, 0, 2)"
        },
        "the embedded words are dropped as well",
        "Which two parts does the contract give the rate to?",
        """
Many recurrent models do drop their embeddings. Here two places are named, the attention weights and the layers of the
GRU, and this is a third one.
""",
        SEE_KEPT,
        kind="different",
    ),
    of_decoder(
        "outputs-dropped",
        {
            SCORES: "scores = self.dense(nn.functional.dropout(torch.cat(outputs, dim=0), self.rnn.dropout, self.training))"
        },
        "the GRU's outputs are dropped before the scores as well",
        "Which two parts does the contract give the rate to?",
        """
Many recurrent models do drop what leaves the last layer; `nn.GRU` itself drops only between layers. Here two places
are named, and this is a third one.
""",
        SEE_KEPT,
        kind="different",
    ),
    of_decoder(
        "dropout-in-evaluation",
        {
            SCORES: "scores = self.dense(nn.functional.dropout(torch.cat(outputs, dim=0), 0.0 if self.training else self.rnn.dropout))"
        },
        "something is dropped in evaluation",
        "Functions of PyTorch that drop: how do they know that the model is not in training any more?",
        """
A layer for dropout knows its mode; a function does not unless it is told. A prediction then comes out differently each
time, and worse.

    >>> sizes = dict(vocab_size=11, embed_size=4, num_hiddens=6, num_layers=2)
    >>> decoder = Seq2SeqAttentionDecoder(**sizes, dropout=0.5).eval()
    >>> first, _ = decoder(words, decoder.init_state(encoded, lens))
    >>> again, _ = decoder(words, decoder.init_state(encoded, lens))
    >>> (first - again).abs().max()
""",
    ),
]


def on_cpu(id, of, swap, says, asks, page, seen=""):
    """Right on the CPU; on an accelerator two devices meet."""
    return mistake(id, of=of, kind="policy", breaks=("device",), swap=swap, says=says, asks=asks, page=page, seen=seen)


DEVICE = [
    on_cpu(
        'seq2seq-outputs-kept-on-the-cpu',
        'Seq2SeqAttentionDecoder',
        {
            'outputs.append(output)': 'outputs.append(output.cpu())',
        },
        'the outputs of the steps are collected on the CPU',
        'Where do the weights of the last layer live, and where what it is handed?',
        """
What is only looked at may move to the CPU. These outputs go on, into a layer whose weights lie on the
accelerator, and there two devices meet.
""",
    ),
    on_cpu(
        'seq2seq-lens-through-a-list',
        'Seq2SeqAttentionDecoder',
        {
            'return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens': 'if enc_valid_lens is not None:\n            enc_valid_lens = torch.tensor(enc_valid_lens.tolist())\n        return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens',
        },
        'the lengths of the source go through a Python list and come back on the CPU',
        'On which device are the lengths before that line, and after it?',
        """
What was not told where to live lives on the CPU. The mask compares these lengths with steps that lie on the
accelerator, and the comparison raises an error. On a machine without one nothing shows.
""",
    ),
]


def in_other_dtypes(id, of, swap, says, asks, page, seen=""):
    """Right in float32; in another dtype it stops, or comes back in the wrong one."""
    return mistake(id, of=of, kind="policy", breaks=("precision",), swap=swap, says=says, asks=asks, page=page, seen=seen)


PRECISION = [
    in_other_dtypes(
        "recurrent-step-in-float32",
        "Seq2SeqAttentionDecoder",
        {
            STEP: "step = torch.zeros(len(x), 1, context.shape[-1] + x.shape[-1], device=x.device)\n            step = step + torch.cat((context, x.unsqueeze(1)), dim=-1)",
        },
        "what goes into the GRU is put together in single precision, whatever dtype its weights have",
        "Which dtype does a new tensor have when nobody names one?",
        """
A new tensor has the default dtype, `float32`, unless it is told otherwise: what is written into it is converted
without a word. A model in half precision stops at the next layer, one in double precision loses half its digits.
`X.new_zeros(…)` has the dtype and the device of `X`.

    >>> sizes = dict(vocab_size=9, embed_size=4, num_hiddens=8, num_layers=1)
    >>> decoder = Seq2SeqAttentionDecoder(**sizes).half()
    >>> outputs, hidden = torch.ones(5, 2, 8).half(), torch.ones(1, 2, 8).half()
    >>> state = decoder.init_state((outputs, hidden), None)
    >>> decoder(torch.tensor([[3, 4], [5, 6]]), state)[0].dtype

It should go through, and what comes out should be `torch.float16`, as the weights are.
""",
    ),
]

MISTAKES = STATE + LOOKING + STEPS + KEEPING + DEVICE + PRECISION
