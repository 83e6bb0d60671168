"""Known mistakes in Seq2SeqAttentionDecoder; their pages are in Seq2SeqAttentionDecoder.md."""

from grader.authoring import device_mistake, dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "seq2seq-query-first-layer",
        edit("hidden_state[-1].unsqueeze(1)", "hidden_state[0].unsqueeze(1)"),
        says="the query is the hidden state of the first layer of the GRU instead of the last",
        asks=(
            "The hidden state has one entry per layer. Which entry belongs to the layer that gives the "
            "output?"
        ),
    ),
    mistake(
        "seq2seq-query-never-changes",
        edit(
            "query = hidden_state[-1].unsqueeze(1)  # (B, 1, D): the last layer, after the step before",
            "query = state[1][-1].unsqueeze(1)",
        ),
        says=(
            "every step uses the hidden state from before the first word as its query, so the context is "
            "always the same"
        ),
        asks="The hidden state changes after each word. Which state do you use as the query?",
    ),
    mistake(
        "seq2seq-query-from-the-word",
        edit(
            "query = hidden_state[-1].unsqueeze(1)  # (B, 1, D): the last layer, after the step before",
            "query = nn.functional.pad(x, (0, hidden_state.shape[-1] - x.shape[-1])).unsqueeze(1)",
        ),
        says="the query is the embedded word instead of the hidden state",
        asks="Which vector depends on all words so far: the last word, or the hidden state?",
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
        asks="The query is needed before the GRU runs. Which hidden state is available at that time?",
        kind="different",
    ),
    mistake(
        "seq2seq-hidden-not-carried",
        edit(
            "output, hidden_state = self.rnn(step.permute(1, 0, 2), hidden_state)",
            "output, _ = self.rnn(step.permute(1, 0, 2), hidden_state)",
        ),
        says=(
            "every step starts from the hidden state before the first word, and uses it as its query: the "
            "new states are lost"
        ),
        asks=(
            "Which tensors must change from one step of the loop to the next, and which of yours stays the "
            "same?"
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
        says=(
            "within a call every step starts from the hidden state before the first word, and uses it as its "
            "query"
        ),
        asks=(
            "You return the newest hidden state to the caller. Does the next step of the same call get it "
            "too?"
        ),
    ),
    mistake(
        "seq2seq-rnn-starts-over",
        edit("self.rnn(step.permute(1, 0, 2), hidden_state)", "self.rnn(step.permute(1, 0, 2), state[1])"),
        says=(
            "the GRU starts every step of a call from the hidden state before the first word; only the query "
            "uses the new one"
        ),
        asks="Two operations of a step use the hidden state. Do both of yours get the newest one?",
    ),
    mistake(
        "seq2seq-old-hidden-returned",
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores.permute(1, 0, 2), (enc_outputs, state[1], enc_valid_lens)",
        ),
        says="the returned state holds the hidden state from before the call",
        asks="If you pass the returned state to the next call, from which step does that call continue?",
    ),
    mistake(
        "seq2seq-only-last-layer-returned",
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state[-1:].expand_as(hidden_state), enc_valid_lens)",
        ),
        says="the returned state holds the last layer's hidden state for every layer",
        asks="How many hidden states does a GRU with several layers need at the next call?",
    ),
    mistake(
        "seq2seq-hidden-zero",
        edit(
            "outputs, hidden_state = enc_outputs",
            "outputs, hidden_state = enc_outputs[0], torch.zeros_like(enc_outputs[1])",
        ),
        says="the decoder starts with zeros instead of the encoder's hidden state",
        asks="Which hidden state does the decoder use before the first word?",
    ),
    mistake(
        "seq2seq-hidden-layers-alike",
        edit(
            "outputs, hidden_state = enc_outputs",
            "outputs, hidden_state = enc_outputs[0], enc_outputs[1][-1:].expand_as(enc_outputs[1]).contiguous()",
        ),
        says="every layer starts with the hidden state of the encoder's last layer",
        asks=(
            "The encoder returns one hidden state per layer. Which layer of the decoder should start from "
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
        says="the hidden state is detached between steps",
        asks="The loss of the fourth word has a gradient. Which earlier steps does it reach?",
        forms=[
            [
                edit(
                    "query = hidden_state[-1].unsqueeze(1)",
                    "hidden_state = hidden_state.detach()\n            query = hidden_state[-1].unsqueeze(1)",
                )
            ]
        ],
    ),
    mistake(
        "seq2seq-encoder-detached",
        edit(
            "return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens",
            "return outputs.permute(1, 0, 2).detach(), hidden_state, enc_valid_lens",
        ),
        says="the encoder's outputs are detached when the state is created",
        asks="Through which two tensors should the gradient reach the encoder?",
    ),
    mistake(
        "seq2seq-without-lengths",
        edit(
            "context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)",
            "context = self.attention(query, enc_outputs, enc_outputs, None)",
        ),
        says="padding is attended to: the lengths of the source are not used",
        asks=(
            "Some source sentences are shorter than others. Which argument gives the attention their lengths?"
        ),
    ),
    mistake(
        "seq2seq-outputs-time-first",
        edit(
            "return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens",
            "return outputs, hidden_state, enc_valid_lens",
        ),
        says="the encoder's outputs have time first, while the attention needs the batch first",
        asks=(
            "In which order are the axes of the encoder's outputs, and in which order does the attention "
            "need them?"
        ),
    ),
    mistake(
        "seq2seq-outputs-reshaped",
        edit(
            "return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens",
            "return outputs.reshape(outputs.shape[1], outputs.shape[0], -1), hidden_state, enc_valid_lens",
        ),
        says=(
            "the encoder's outputs were reshaped to batch first, which mixes sentences, instead of swapping "
            "two axes"
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
        says="the context is always the encoder's last output: the attention has no effect",
        asks="Where is the attention's result used in your step?",
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
        asks="Where are the attention's weights used in your step?",
    ),
    mistake(
        "seq2seq-attends-to-itself",
        edit(
            "context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)",
            "context = self.attention(query, query, query, None)",
        ),
        says="the query attends to itself instead of the source: the context is the query",
        asks="Which of the three tensors that you pass to the attention come from the encoder?",
    ),
    mistake(
        "seq2seq-roles-exchanged",
        edit(
            "context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)",
            "context = self.attention(enc_outputs, query, query, None)",
        ),
        says="the queries come from the source, and the hidden state is the key and the value",
        asks=(
            "There should be one context per sentence. Does an attention return one row per query, or per "
            "key?"
        ),
    ),
    mistake(
        "seq2seq-word-before-context",
        edit(
            "step = torch.cat((context, x.unsqueeze(1)), dim=-1)",
            "step = torch.cat((x.unsqueeze(1), context), dim=-1)",
        ),
        says="the input of the GRU is word and context instead of context and word",
        asks="In which order does the lesson concatenate the two parts of the GRU's input?",
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
        says="each step reads the word that the step before chose, not the word that was passed",
        asks=(
            "In one call with all words, which word should step 3 read: the one that was passed, or the "
            "choice of step 2?"
        ),
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
        asks="Along which axis does a loop over a tensor go?",
    ),
    mistake(
        "seq2seq-embedding-scaled",
        edit(
            "self.embedding(X).permute(1, 0, 2)",
            "self.embedding(X).permute(1, 0, 2) * self.embedding.embedding_dim**0.5",
        ),
        says="the embedded words are multiplied by the square root of their size",
        asks="In which assignment is the embedding scaled, and what is added to it there?",
        kind="different",
    ),
    mistake(
        "seq2seq-scores-from-first-layer",
        edit("outputs.append(output)", "outputs.append(hidden_state[:1])"),
        says="the scores are computed from the first layer's hidden state instead of the last layer's",
        asks="The output of a GRU with several layers is the state of which layer?",
    ),
    mistake(
        "seq2seq-scores-from-context",
        edit("outputs.append(output)", "outputs.append(context.permute(1, 0, 2))"),
        says="the scores are computed from the context instead of the GRU's output",
        asks="What is the input of the last linear layer?",
    ),
    mistake(
        "seq2seq-scores-see-context",
        edit("outputs.append(output)", "outputs.append(output + context.permute(1, 0, 2))"),
        says="the scores are computed from the sum of the GRU's output and the context",
        asks="In the lesson, through which layer does the context reach the scores?",
        kind="different",
    ),
    mistake(
        "seq2seq-no-dense",
        edit("scores = self.dense(torch.cat(outputs, dim=0))", "scores = torch.cat(outputs, dim=0)"),
        says="the GRU's outputs are returned, without scores",
        asks="What maps a vector of D features to one score per word?",
    ),
    mistake(
        "seq2seq-softmax",
        edit(
            "scores = self.dense(torch.cat(outputs, dim=0))",
            "scores = self.dense(torch.cat(outputs, dim=0)).softmax(dim=-1)",
        ),
        says="a softmax is applied to the scores: they are probabilities already",
        asks="Which part of training applies the softmax, and what does a second softmax do?",
    ),
    mistake(
        "seq2seq-log-softmax",
        edit(
            "scores = self.dense(torch.cat(outputs, dim=0))",
            "scores = self.dense(torch.cat(outputs, dim=0)).log_softmax(dim=-1)",
        ),
        says="the scores are log-probabilities",
        asks="Should the decoder return scores of any size, or normalised ones?",
        kind="different",
    ),
    mistake(
        "seq2seq-last-step-only",
        edit("scores = self.dense(torch.cat(outputs, dim=0))", "scores = self.dense(outputs[-1])"),
        says="scores are returned for the last step only",
        asks="In training all steps learn. How many rows of scores are needed?",
    ),
    mistake(
        "seq2seq-scores-time-first",
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores, (enc_outputs, hidden_state, enc_valid_lens)",
        ),
        says="the word scores have the steps on the first axis, where the batch should be",
        asks="In which order does the table of the lesson name the axes of the scores?",
    ),
    mistake(
        "seq2seq-scores-reshaped",
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores.reshape(X.shape[0], X.shape[1], -1), (enc_outputs, hidden_state, enc_valid_lens)",
        ),
        says="the scores were reshaped to batch first, which mixes sentences, instead of swapping two axes",
        asks="After your change of axes, does row 0 hold the steps of one sentence?",
    ),
    mistake(
        "seq2seq-state-not-returned",
        edit(
            "return scores.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)",
            "return scores.permute(1, 0, 2)",
        ),
        says="the decoder returns its scores alone, without the state",
        asks="The next call needs two values from this one. Which is missing?",
    ),
    mistake(
        "seq2seq-weights-of-last-step",
        edit(
            "self.attention_weights.append(self.attention.attention_weights)",
            "self.attention_weights = self.attention.attention_weights",
        ),
        says="only the attention weights of the last step are stored after a call",
        asks="How many steps does a call have, and how many weight tensors are stored after it?",
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
        says="one list collects the attention weights of all calls",
        asks="After a second sentence, how many weight tensors are stored?",
    ),
    mistake(
        "seq2seq-weights-list-of-one",
        edit(
            "self.attention_weights.append(self.attention.attention_weights)",
            "self.attention_weights = [self.attention.attention_weights]",
        ),
        says="the list of attention weights holds those of the last step only",
        asks="How many steps does a call have, and how many weight tensors are stored after it?",
    ),
    mistake(
        "seq2seq-weights-list-empty",
        edit("self.attention_weights.append(self.attention.attention_weights)", "pass"),
        says="the list of attention weights is empty",
        asks="After a call, where are the weights of each step stored?",
    ),
    mistake(
        "seq2seq-attention-without-dropout",
        edit(
            "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)",
            "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, 0)",
        ),
        says="the attention does not get the dropout rate and drops none of its weights",
        asks="The decoder gets the dropout rate. To which two of its modules do you pass it?",
    ),
    mistake(
        "seq2seq-rnn-without-dropout",
        edit("num_layers, dropout=dropout)", "num_layers)"),
        says="the GRU does not get the dropout rate and drops nothing between its layers",
        asks="The decoder gets the dropout rate. To which two of its modules do you pass it?",
    ),
    mistake(
        "seq2seq-nothing-dropped",
        edit(
            "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)",
            "AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, 0)",
        ),
        edit("num_layers, dropout=dropout)", "num_layers)"),
        says="dropout is applied nowhere: the rate is not used",
        asks="The decoder gets the dropout rate. Where do you use it?",
    ),
    mistake(
        "seq2seq-words-dropped",
        edit(
            "embedded = self.embedding(X).permute(1, 0, 2)",
            "embedded = nn.functional.dropout(self.embedding(X), self.rnn.dropout, self.training).permute(1, 0, 2)",
        ),
        says="dropout is also applied to the embedded words",
        asks="To which two modules does the lesson pass the rate?",
        kind="different",
    ),
    mistake(
        "seq2seq-outputs-dropped",
        edit(
            "scores = self.dense(torch.cat(outputs, dim=0))",
            "scores = self.dense(nn.functional.dropout(torch.cat(outputs, dim=0), self.rnn.dropout, self.training))",
        ),
        says="dropout is also applied to the GRU's outputs before the scores",
        asks="To which two modules does the lesson pass the rate?",
        kind="different",
    ),
    mistake(
        "seq2seq-dropout-in-evaluation",
        edit(
            "scores = self.dense(torch.cat(outputs, dim=0))",
            "scores = self.dense(nn.functional.dropout(torch.cat(outputs, dim=0), 0.0 if self.training else self.rnn.dropout))",
        ),
        says="dropout is applied in evaluation",
        asks="How does a dropout function know that the model is not in training mode?",
    ),
    mistake(
        "seq2seq-dropout-without-default",
        edit("num_layers: int, dropout: float = 0", "num_layers: int, dropout: float"),
        says="the dropout rate has no default, so a decoder cannot be built without one",
        asks="Which argument of the constructor may the caller leave out?",
    ),
    mistake(
        "seq2seq-dropout-with-another-default",
        edit("num_layers: int, dropout: float = 0", "num_layers: int, dropout: float = 0.5"),
        says="the default dropout rate is not zero",
        asks="What does the decoder drop if it is built without a dropout rate?",
    ),
    device_mistake(
        "seq2seq-outputs-kept-on-the-cpu",
        edit("outputs.append(output)", "outputs.append(output.cpu())"),
        says="the outputs of the steps are collected on the CPU",
        asks="On which device are the weights of the last layer, and on which is its input?",
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
        says="the lengths of the source are converted to a Python list and back, so they end up on the CPU",
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
        says="the input of the GRU is in single precision, whatever dtype its weights have",
        asks="Which dtype does a new tensor have by default?",
    ),
    mistake(
        "seq2seq-rnn-without-state",
        edit("self.rnn(step.permute(1, 0, 2), hidden_state)", "self.rnn(step.permute(1, 0, 2))"),
        says="the GRU gets no state, so it starts from zeros at every step",
        asks="Which two arguments does the GRU take, and what is the second if you leave it out?",
    ),
    mistake(
        "seq2seq-query-mean-of-layers",
        edit("query = hidden_state[-1].unsqueeze(1)", "query = hidden_state.mean(dim=0).unsqueeze(1)"),
        says="the query is the mean of the hidden states of all layers instead of the last layer's",
        asks="Which layer of the encoder do the keys come from?",
    ),
    mistake(
        "seq2seq-hidden-on-module",
        edit(
            "return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens  # (B, S, D), (L, B, D), (B,)",
            """
            if getattr(self, "hidden", None) is None or self.hidden.shape != hidden_state.shape:
                self.hidden = hidden_state
            return outputs.permute(1, 0, 2), self.hidden, enc_valid_lens
            """,
        ),
        edit(
            "enc_outputs, hidden_state, enc_valid_lens = state",
            "enc_outputs, hidden_state, enc_valid_lens = state\n        hidden_state = self.hidden",
        ),
        edit(
            "scores = self.dense(torch.cat(outputs, dim=0))",
            "self.hidden = hidden_state\n        scores = self.dense(torch.cat(outputs, dim=0))",
        ),
        says="the hidden state lives in the module, so a new sentence starts where the one before ended",
        asks="Decode one sentence twice. What does init_state set back for the second time?",
    ),
    mistake(
        "seq2seq-padding-wiped",
        edit(
            "return outputs.permute(1, 0, 2), hidden_state, enc_valid_lens  # (B, S, D), (L, B, D), (B,)",
            """
            outputs = outputs.permute(1, 0, 2)
            if enc_valid_lens is not None:
                outputs[torch.arange(outputs.shape[1]) >= enc_valid_lens[:, None]] = 0
            return outputs, hidden_state, enc_valid_lens
            """,
        ),
        says="the scores are right, but the caller's encoder outputs are set to zero at the padding",
        asks="Does permute copy a tensor, or is the result another view of the same memory?",
    ),
    mistake(
        "seq2seq-dot-product",
        edit(
            "self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)",
            """
            from grader.given import masked_softmax

            class Dot(nn.Module):
                def forward(self, queries, keys, values, valid_lens):
                    scores = queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5
                    self.attention_weights = masked_softmax(scores, valid_lens)
                    return nn.functional.dropout(self.attention_weights, dropout, self.training) @ values

            self.attention = Dot()
            """,
        ),
        says="the attention is a dot product; the exercise asks for additive attention, which has layers of its own",
        asks="Which parameters does the attention of this exercise have, and which has a dot product?",
        kind="different",
    ),
]
