"""Known mistakes in Seq2SeqAttentionDecoder; their pages are in Seq2SeqAttentionDecoder.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "seq2seq-query-first-layer",
        edit("hidden_state[-1].unsqueeze(1)", "hidden_state[0].unsqueeze(1)"),
        says="the query is the hidden state of the first layer of the GRU instead of the last",
        asks="The hidden state has one entry for each layer. Which of them is nearest to the output?",
    ),
    mistake(
        "seq2seq-query-never-changes",
        edit(
            "query = hidden_state[-1].unsqueeze(1)  # (B, 1, D): the last layer, after the step before",
            "query = state[1][-1].unsqueeze(1)",
        ),
        says=(
            "every step asks with the hidden state from before the first word: the context is always the same"
        ),
        asks="After each word the hidden state is another one. Which of them does your query come from?",
    ),
    mistake(
        "seq2seq-query-from-the-word",
        edit(
            "query = hidden_state[-1].unsqueeze(1)  # (B, 1, D): the last layer, after the step before",
            "query = nn.functional.pad(x, (0, hidden_state.shape[-1] - x.shape[-1])).unsqueeze(1)",
        ),
        says="the query is made from the word that was just read instead of from the hidden state",
        asks="What knows what the sentence still needs: the word before, or all that was written so far?",
    ),
    mistake(
        "seq2seq-query-after-the-step",
        edit(
            "query = hidden_state[-1].unsqueeze(1)  # (B, 1, D): the last layer, after the step before",
            """
            ahead, _ = self.rnn(torch.cat((torch.zeros_like(hidden_state[-1]), x), dim=-1)[None], hidden_state)
            query = ahead.permute(1, 0, 2)
            """,
        ),
        says="the query is a hidden state that has already read the current word, without a context",
        asks="The question is asked before the GRU moves on. Which hidden state is there at that time?",
        kind="different",
    ),
    mistake(
        "seq2seq-hidden-not-carried",
        edit(
            "output, hidden_state = self.rnn(step.permute(1, 0, 2), hidden_state)",
            "output, _ = self.rnn(step.permute(1, 0, 2), hidden_state)",
        ),
        says=(
            "every step begins, and asks, with the hidden state from before the first word: the new ones "
            "are thrown away"
        ),
        asks=(
            "Three things go round the loop. Which of yours comes in at the top as it went in the first time?"
        ),
    ),
    mistake(
        "seq2seq-hidden-carried-between-calls-only",
        edit(
            "output, hidden_state = self.rnn(step.permute(1, 0, 2), hidden_state)",
            "output, newest = self.rnn(step.permute(1, 0, 2), hidden_state)",
        ),
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores.permute(1, 0, 2), (enc_outputs, newest, enc_valid_lens)",
        ),
        says="within a call every step begins, and asks, with the hidden state from before the first word",
        asks=(
            "The newest hidden state goes back to the caller. Does the next step of the same call get it too?"
        ),
    ),
    mistake(
        "seq2seq-rnn-starts-over",
        edit("self.rnn(step.permute(1, 0, 2), hidden_state)", "self.rnn(step.permute(1, 0, 2), state[1])"),
        says=(
            "the GRU begins every step of a call with the hidden state from before the first word; only the"
            " query moves on"
        ),
        asks="Two things in a step want the hidden state. Do both of yours get the newest one?",
    ),
    mistake(
        "seq2seq-old-hidden-returned",
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores.permute(1, 0, 2), (enc_outputs, state[1], enc_valid_lens)",
        ),
        says="the state that comes back holds the hidden state from before the call",
        asks="Hand the state you got back into the next call: where does that call begin?",
    ),
    mistake(
        "seq2seq-only-last-layer-returned",
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state[-1:].expand_as(hidden_state), enc_valid_lens)",
        ),
        says="the state that comes back holds the last layer's hidden state in the place of every layer's",
        asks="How many hidden states does a GRU with several layers want back at the next call?",
    ),
    mistake(
        "seq2seq-hidden-zero",
        edit(
            "outputs, hidden_state = enc_outputs",
            "outputs, hidden_state = enc_outputs[0], torch.zeros_like(enc_outputs[1])",
        ),
        says="the decoder begins with zeros instead of the encoder's hidden state",
        asks="What does the decoder know of the source before its first look?",
    ),
    mistake(
        "seq2seq-hidden-layers-alike",
        edit(
            "outputs, hidden_state = enc_outputs",
            "outputs, hidden_state = enc_outputs[0], enc_outputs[1][-1:].expand_as(enc_outputs[1]).contiguous()",
        ),
        says="every layer begins with the hidden state of the encoder's last layer",
        asks=(
            "The encoder hands over one hidden state a layer. Which layer of the decoder should begin with "
            "which?"
        ),
    ),
    mistake(
        "seq2seq-hidden-detached",
        edit(
            "output, hidden_state = self.rnn(step.permute(1, 0, 2), hidden_state)",
            """
            output, hidden_state = self.rnn(step.permute(1, 0, 2), hidden_state)
            hidden_state = hidden_state.detach()
            """,
        ),
        says="the hidden state is cut off from the gradient between steps",
        asks="An error at the fourth word: which earlier steps hear of it?",
    ),
    mistake(
        "seq2seq-encoder-detached",
        edit(
            "return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens",
            "return outputs.permute(1, 0, 2).detach(), hidden_state, enc_valid_lens",
        ),
        says="the encoder's outputs are cut off from the gradient when the state is made",
        asks="By which two roads does the encoder hear how wrong the translation is?",
    ),
    mistake(
        "seq2seq-without-lengths",
        edit(
            "context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)",
            "context = self.attention(query, enc_outputs, enc_outputs, None)",
        ),
        says="padding is looked at: the lengths of the source are not used",
        asks=(
            "Some source sentences are shorter than others. Who tells the attention where each of them ends?"
        ),
    ),
    mistake(
        "seq2seq-outputs-time-first",
        edit(
            "return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens",
            "return outputs, hidden_state, enc_valid_lens",
        ),
        says="the encoder's outputs were left with time first where the attention wants the batch first",
        asks=(
            "In which order do the axes of the encoder's outputs arrive, and in which does the attention "
            "want them?"
        ),
    ),
    mistake(
        "seq2seq-outputs-reshaped",
        edit(
            "return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens",
            "return outputs.reshape(outputs.shape[1], outputs.shape[0], -1), hidden_state, enc_valid_lens",
        ),
        says=(
            "the encoder's outputs were reshaped to batch first, which mixes sentences, instead of having "
            "two axes exchanged"
        ),
        asks="After your change of axes, does row 0 hold the steps of one sentence?",
    ),
    mistake(
        "seq2seq-last-output-as-context",
        edit(
            "context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)",
            """
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            context = enc_outputs[:, -1:]
            """,
        ),
        says="the context is the encoder's last output: nothing is weighed",
        asks="What becomes of the attention's result in your step?",
    ),
    mistake(
        "seq2seq-mean-as-context",
        edit(
            "context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)",
            """
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            context = enc_outputs.mean(dim=1, keepdim=True)
            """,
        ),
        says="the context is the plain mean of all encoder outputs: the weights are not used",
        asks="What becomes of the attention's weights in your step?",
    ),
    mistake(
        "seq2seq-attends-to-itself",
        edit(
            "context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)",
            "context = self.attention(query, query, query, None)",
        ),
        says="the query is looked at instead of the source: the context is the query itself",
        asks="Which of the three things handed to the attention come from the encoder?",
    ),
    mistake(
        "seq2seq-roles-exchanged",
        edit(
            "context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)",
            "context = self.attention(enc_outputs, query, query, None)",
        ),
        says="the source asks and the hidden state answers",
        asks=(
            "One context a sentence is wanted. Does an attention give one row for each query, or one for "
            "each key?"
        ),
    ),
    mistake(
        "seq2seq-word-before-context",
        edit(
            "step = torch.cat((context, x.unsqueeze(1)), dim=-1)",
            "step = torch.cat((x.unsqueeze(1), context), dim=-1)",
        ),
        says="the input of the GRU is word and context instead of context and word",
        asks="In which order does the lesson put the two parts of the GRU's input?",
        kind="different",
    ),
    mistake(
        "seq2seq-first-word-always",
        edit("for x in embedded:", "for x in embedded[:1].expand_as(embedded):"),
        says="every step reads the first word",
        asks="Which word does step 3 read?",
    ),
    mistake(
        "seq2seq-own-words-read",
        edit(
            """
            self.attention_weights = []
            for x in embedded:
            """,
            """
            self.attention_weights = []
            said = None
            for x in embedded:
            """,
        ),
        edit(
            "query = hidden",
            """
            x = x if said is None else self.embedding(said)
            query = hidden
            """,
        ),
        edit(
            "outputs.append(output)",
            """
            outputs.append(output)
            said = self.dense(output[0]).argmax(dim=-1)
            """,
        ),
        says="each step reads the word that the step before chose, not the one that was handed over",
        asks="In one call with all words, who chooses what step 3 reads: the caller, or your step 2?",
    ),
    mistake(
        "seq2seq-words-backwards",
        edit("for x in embedded:", "for x in embedded.flip(0):"),
        says="the words are read from the last to the first",
        asks="Which word does the first step read?",
    ),
    mistake(
        "seq2seq-walks-over-batch",
        edit("self.embedding(X).permute(1, 0, 2)", "self.embedding(X)"),
        says="the loop goes over the sentences of the batch instead of the steps",
        asks="When you go through a tensor in a loop, which axis do you go along?",
    ),
    mistake(
        "seq2seq-embedding-scaled",
        edit(
            "self.embedding(X).permute(1, 0, 2)",
            "self.embedding(X).permute(1, 0, 2) * self.embedding.embedding_dim**0.5",
        ),
        says="the embedded words are multiplied by the root of their size",
        asks="In which assignment is the embedding scaled up, and what was it to be added to there?",
        kind="different",
    ),
    mistake(
        "seq2seq-scores-from-first-layer",
        edit("outputs.append(output)", "outputs.append(hidden_state[:1])"),
        says="the scores are made from the first layer's hidden state instead of the last layer's",
        asks="What comes out of a GRU with several layers: the state of which of them?",
    ),
    mistake(
        "seq2seq-scores-from-context",
        edit("outputs.append(output)", "outputs.append(context.permute(1, 0, 2))"),
        says="the scores are made from the context instead of the GRU's output",
        asks="What goes into the last linear layer?",
    ),
    mistake(
        "seq2seq-scores-see-context",
        edit("outputs.append(output)", "outputs.append(output + context.permute(1, 0, 2))"),
        says="the scores are made from the sum of the GRU's output and the context",
        asks="By which way does the lesson let the context reach the scores?",
        kind="different",
    ),
    mistake(
        "seq2seq-no-dense",
        edit("scores = self.dense(torch.cat(outputs, dim=0))", "scores = torch.cat(outputs, dim=0)"),
        says="the GRU's outputs come back, without scores",
        asks="What turns a vector of D numbers into one number for each word?",
    ),
    mistake(
        "seq2seq-softmax",
        edit(
            "scores = self.dense(torch.cat(outputs, dim=0))",
            "scores = self.dense(torch.cat(outputs, dim=0)).softmax(dim=-1)",
        ),
        says="the scores went through a softmax: they are probabilities already",
        asks="Which part of training applies the softmax, and what does a second one do to the first?",
    ),
    mistake(
        "seq2seq-log-softmax",
        edit(
            "scores = self.dense(torch.cat(outputs, dim=0))",
            "scores = self.dense(torch.cat(outputs, dim=0)).log_softmax(dim=-1)",
        ),
        says="the scores are logarithms of probabilities",
        asks="What does the contract ask for: scores of any size, or something that has been normalised?",
        kind="different",
    ),
    mistake(
        "seq2seq-last-step-only",
        edit("scores = self.dense(torch.cat(outputs, dim=0))", "scores = self.dense(outputs[-1])"),
        says="scores come back for the last step only",
        asks="In training all steps learn. How many rows of scores does that take?",
    ),
    mistake(
        "seq2seq-scores-time-first",
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores, (enc_outputs, hidden_state, enc_valid_lens)",
        ),
        says="the scores come back with the steps first instead of the batch",
        asks="In which order does the contract name the axes of the result?",
    ),
    mistake(
        "seq2seq-scores-reshaped",
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores.reshape(X.shape[0], X.shape[1], -1), (enc_outputs, hidden_state, enc_valid_lens)",
        ),
        says=(
            "the scores were reshaped to batch first, which mixes sentences, instead of having two axes "
            "exchanged"
        ),
        asks="After your change of axes, does row 0 hold the steps of one sentence?",
    ),
    mistake(
        "seq2seq-state-not-returned",
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores.permute(1, 0, 2)",
        ),
        says="the decoder returns its scores alone, without the state",
        asks="The next call wants two things from this one. Which is missing?",
    ),
    mistake(
        "seq2seq-weights-of-last-step",
        edit(
            "self.attention_weights.append(self.attention.attention_weights)",
            "self.attention_weights = self.attention.attention_weights",
        ),
        says="only the attention weights of the last step can be found after a call",
        asks="How many steps has a call, and how many tables of weights are kept after it?",
        kind="policy",
        breaks=["weights"],
    ),
    mistake(
        "seq2seq-weights-pile-up",
        edit(
            """
            self.attention_weights = []
            for x in embedded:
            """,
            "for x in embedded:",
        ),
        says="the attention weights of all calls pile up in one list",
        asks="After a second sentence, how many tables of weights are kept?",
        kind="policy",
        breaks=["weights"],
    ),
    mistake(
        "seq2seq-weights-list-of-one",
        edit(
            "self.attention_weights.append(self.attention.attention_weights)",
            "self.attention_weights = [self.attention.attention_weights]",
        ),
        says="the list of attention weights holds those of the last step alone",
        asks="How many steps has a call, and how many tables of weights are kept after it?",
        kind="policy",
        breaks=["weights"],
    ),
    mistake(
        "seq2seq-weights-list-empty",
        edit("self.attention_weights.append(self.attention.attention_weights)", "pass"),
        says="the list of attention weights is empty",
        asks="After a call, where can one read which source words each step looked at?",
        kind="policy",
        breaks=["weights"],
    ),
    mistake(
        "seq2seq-attention-without-dropout",
        edit(
            "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)",
            "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, 0)",
        ),
        says="the attention drops none of its weights: the rate did not reach it",
        asks="The rate is handed to the decoder. To which two of its parts do you hand it on?",
    ),
    mistake(
        "seq2seq-rnn-without-dropout",
        edit("num_layers, dropout=dropout)", "num_layers)"),
        says="nothing is dropped between the layers of the GRU: the rate did not reach it",
        asks="The rate is handed to the decoder. To which two of its parts do you hand it on?",
    ),
    mistake(
        "seq2seq-nothing-dropped",
        edit(
            "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)",
            "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, 0)",
        ),
        edit("num_layers, dropout=dropout)", "num_layers)"),
        says="nothing is dropped anywhere: the rate is not used",
        asks="The rate is handed to the decoder. What do you do with it?",
    ),
    mistake(
        "seq2seq-words-dropped",
        edit(
            "embedded = self.embedding(X).permute(1, 0, 2)",
            "embedded = nn.functional.dropout(self.embedding(X), self.rnn.dropout, self.training).permute(1, 0, 2)",
        ),
        says="the embedded words are dropped as well",
        asks="Which two parts does the contract give the rate to?",
        kind="different",
    ),
    mistake(
        "seq2seq-outputs-dropped",
        edit(
            "scores = self.dense(torch.cat(outputs, dim=0))",
            "scores = self.dense(nn.functional.dropout(torch.cat(outputs, dim=0), self.rnn.dropout, self.training))",
        ),
        says="the GRU's outputs are dropped before the scores as well",
        asks="Which two parts does the contract give the rate to?",
        kind="different",
    ),
    mistake(
        "seq2seq-dropout-in-evaluation",
        edit(
            "scores = self.dense(torch.cat(outputs, dim=0))",
            "scores = self.dense(nn.functional.dropout(torch.cat(outputs, dim=0), 0.0 if self.training else self.rnn.dropout))",
        ),
        says="something is dropped in evaluation",
        asks="Functions of PyTorch that drop: how do they know that the model is not in training any more?",
    ),
    device_mistake(
        "seq2seq-outputs-kept-on-the-cpu",
        edit("outputs.append(output)", "outputs.append(output.cpu())"),
        says="the outputs of the steps are collected on the CPU",
        asks="Where do the weights of the last layer live, and where what it is handed?",
    ),
    device_mistake(
        "seq2seq-lens-through-a-list",
        edit(
            "return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens",
            """
            if enc_valid_lens is not None:
                enc_valid_lens = torch.tensor(enc_valid_lens.tolist())
            return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens
            """,
        ),
        says="the lengths of the source go through a Python list and come back on the CPU",
        asks="On which device are the lengths before that line, and after it?",
    ),
    dtype_mistake(
        "recurrent-step-in-float32",
        edit(
            "step = torch.cat((context, x.unsqueeze(1)), dim=-1)",
            """
            step = torch.zeros(len(x), 1, context.shape[-1] + x.shape[-1], device=x.device)
            step = step + torch.cat((context, x.unsqueeze(1)), dim=-1)
            """,
        ),
        says="what goes into the GRU is put together in single precision, whatever dtype its weights have",
        asks="Which dtype does a new tensor have when nobody names one?",
    ),
]
