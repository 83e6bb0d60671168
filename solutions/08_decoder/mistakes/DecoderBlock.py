"""Known mistakes in DecoderBlock; their pages are in DecoderBlock.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "decblock-no-causal-mask",
        edit("dec_valid_lens = visible.repeat(batch_size, 1)", "dec_valid_lens = None"),
        says="in training, every step looks at all steps, the later ones included",
        asks=(
            "When the whole sentence goes through at once, what keeps step 0 from reading the word that it "
            "should predict?"
        ),
    ),
    mistake(
        "decblock-sees-next-step",
        edit(
            "visible = torch.arange(earlier + 1, earlier + num_steps + 1, device=X.device)",
            "visible = torch.arange(earlier + 2, earlier + num_steps + 2, device=X.device)",
        ),
        says="in training, every step also looks at the step that follows it",
        asks="How many steps may the very first query see, itself included?",
    ),
    mistake(
        "decblock-own-step-hidden",
        edit(
            "visible = torch.arange(earlier + 1, earlier + num_steps + 1, device=X.device)",
            "visible = torch.arange(int(not self.training), num_steps + int(not self.training)) + earlier",
        ),
        says="in training, no step looks at itself, and the first one looks at nothing",
        asks="In this course a query may look at its own step. Which length does that give the first query?",
    ),
    mistake(
        "decblock-lengths-reversed",
        edit("visible.repeat(", "visible.flip(0).repeat("),
        says="in training, the first step looks at all steps, and the last one at the first step only",
        asks="Do your lengths grow or shrink from the first query to the last?",
    ),
    mistake(
        "decblock-wrong-triangle",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Y = self.addnorm1(X, self.attention1(X, key_values.flip(1), key_values.flip(1), dec_valid_lens.flip(1) if self.training else None))",
        ),
        says="in training, every step looks at itself and at later steps, never at earlier ones",
        asks="Your mask is a triangle. Which of its two halves are the steps that have been written already?",
    ),
    mistake(
        "decblock-lengths-not-repeated",
        edit("visible.repeat(batch_size, 1)", "visible"),
        says=(
            "the causal lengths have one entry a step and none for the batch, so that they are taken for "
            "one length a sentence"
        ),
        asks=(
            "What do lengths of shape (T,) mean to the attention, and which shape would mean one length for"
            " each query?"
        ),
    ),
    mistake(
        "decblock-lengths-while-decoding",
        edit(
            "visible = torch.arange(earlier + 1, earlier + num_steps + 1, device=X.device)",
            "visible = torch.arange(1, num_steps + 1, device=X.device)",
        ),
        edit("visible.repeat(batch_size, 1)  # (B, T)", "visible.repeat(batch_size, 1)"),
        says="in prediction, every new step looks at the oldest step only",
        asks=(
            "A call of prediction holds one query. How many steps does the mask of training allow it, and "
            "which are they?"
        ),
    ),
    mistake(
        "decblock-decoding-misses-newest",
        edit(
            "visible = torch.arange(earlier + 1, earlier + num_steps + 1, device=X.device)",
            "visible = torch.arange(1, num_steps + 1) + max(earlier - int(not self.training), 0)",
        ),
        edit("visible.repeat(batch_size, 1)  # (B, T)", "visible.repeat(batch_size, 1)"),
        says="in prediction, a new step looks at the earlier steps but not at itself",
        asks="At the third step of a prediction, how many steps may be looked at, the new one included?",
    ),
    mistake(
        "decblock-source-lengths-on-target",
        edit("dec_valid_lens = visible.repeat(batch_size, 1)", "dec_valid_lens = enc_valid_lens"),
        says="the self-attention is masked with the lengths of the source instead of the causal ones",
        asks="The lengths that came with the encoder's outputs: whose words do they count?",
    ),
    mistake(
        "decblock-source-lengths-on-target-too",
        edit(
            "dec_valid_lens = visible.repeat(batch_size, 1)",
            "dec_valid_lens = visible.repeat(batch_size, 1) if enc_valid_lens is None else torch.minimum(visible, enc_valid_lens[:, None])",
        ),
        says="the self-attention is limited by the lengths of the source as well as by the causal ones",
        asks="The lengths that came with the encoder's outputs: whose words do they count?",
    ),
    mistake(
        "decblock-mask-by-grad-mode",
        edit("self.training", "torch.is_grad_enabled()"),
        says="whether the block trains or predicts is decided by whether gradients are being recorded",
        asks="What happens to your block when somebody evaluates it without switching gradients off?",
        kind="policy",
    ),
    mistake(
        "decblock-cache-unused",
        edit("key_values = torch.cat((cache[self.i], X), dim=1)", "key_values = X"),
        says="in prediction, every new step looks at nothing but itself: the earlier steps are not there",
        asks=(
            "After the second step of a prediction, what does the state hold for this layer, and who reads "
            "it?"
        ),
    ),
    mistake(
        "decblock-cache-first-step-only",
        edit(
            "cache[self.i] = key_values",
            "cache[self.i] = key_values if cache[self.i] is None else cache[self.i]",
        ),
        says="in prediction, a step looks at the first step and at itself: what came between was not kept",
        asks=(
            "Your cache is filled once. Which line lays the second step behind the first, for the third to "
            "see?"
        ),
    ),
    mistake(
        "decblock-cache-newest-only",
        edit("cache[self.i] = key_values", "cache[self.i] = X"),
        says="in prediction, a step looks at itself and at the one before it: older steps were overwritten",
        asks="Does the new step join what is kept, or take its place?",
    ),
    mistake(
        "decblock-cache-shared-by-layers",
        edit("cache[self.i]", "cache[0]", times=3),
        says=(
            "all layers keep their steps in one place, so that a layer finds the steps of another among its"
            " own"
        ),
        asks="With two layers, how many places has the cache, and how does a layer know which is its own?",
    ),
    mistake(
        "decblock-cache-of-outputs",
        edit("cache[self.i] = key_values", "pass"),
        edit(
            "return self.addnorm3(Z, self.ffn(Z)), state",
            """
            out = self.addnorm3(Z, self.ffn(Z))
            if not self.training:
                cache[self.i] = out if cache[self.i] is None else torch.cat((cache[self.i], out), dim=1)
            return out, state
            """,
        ),
        says="what is kept of earlier steps is what left the block instead of what came into it",
        asks=(
            "In training, keys and values are made from the block's input. From what are they made for an "
            "earlier step in prediction?"
        ),
    ),
    mistake(
        "decblock-cache-of-normed",
        edit("cache[self.i] = key_values", "pass"),
        edit(
            "Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))",
            """
            if not self.training:
                cache[self.i] = Y if cache[self.i] is None else torch.cat((cache[self.i], Y), dim=1)
            Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
            """,
        ),
        says=(
            "what is kept of earlier steps is what left the first add & norm instead of what came into the "
            "block"
        ),
        asks=(
            "Which vector of a step would training use as its key: the one before or the one after the "
            "first add & norm?"
        ),
    ),
    mistake(
        "decblock-cache-on-module",
        edit(
            "self.i = i",
            """
            self.i = i
            self.kept = {i: None}
            """,
        ),
        edit(
            "num_steps, _ = X.shape",
            """
            num_steps, _ = X.shape
            cache = self.kept
            """,
        ),
        says=(
            "earlier steps are kept in the module itself, so that a second sentence still sees the words of"
            " the first"
        ),
        asks="Two sentences are predicted one after the other. When does your memory of the first one end?",
    ),
    mistake(
        "decblock-values-from-cache-only",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Y = self.addnorm1(X, self.attention1(X, X, key_values, dec_valid_lens))",
        ),
        says="the keys are the new step alone while the values are all steps so far",
        asks=(
            "Each weight belongs to a key and is multiplied with a value. How many of each do you hand over"
            " in prediction?"
        ),
    ),
    mistake(
        "decblock-residual-of-oldest-step",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Y = self.addnorm1(key_values[:, :num_steps], self.attention1(X, key_values, key_values, dec_valid_lens))",
        ),
        says="in prediction, the residual of the self-attention is the oldest step instead of the new one",
        asks=(
            "Which step should the result of the attention be added to: the newest, or the first that the "
            "cache holds?"
        ),
    ),
    mistake(
        "decblock-cross-without-lengths",
        edit("enc_outputs, enc_outputs, enc_valid_lens)", "enc_outputs, enc_outputs, None)"),
        says="the cross-attention looks at all source steps, the padding included",
        asks=(
            "Some source sentences are shorter than others. Who tells the second attention where each of "
            "them ends?"
        ),
        seen="common in hand-written decoders, where only the first attention is given a mask",
    ),
    mistake(
        "decblock-cross-with-target-lengths",
        edit(
            "enc_outputs, enc_outputs, enc_valid_lens)",
            "enc_outputs, enc_outputs, dec_valid_lens if self.training else None)",
        ),
        says="in training, the cross-attention is masked with the causal lengths of the target",
        asks="Step 0 of the target asks the source. How many of its words may it look at?",
    ),
    mistake(
        "decblock-cross-with-all-target-lengths",
        edit(
            "enc_outputs, enc_outputs, enc_valid_lens)",
            "enc_outputs, enc_outputs, visible.repeat(batch_size, 1))",
        ),
        says=(
            "the cross-attention is masked with the causal lengths of the target, in training and in "
            "prediction"
        ),
        asks="Step 0 of the target asks the source. How many of its words may it look at?",
    ),
    mistake(
        "decblock-cross-through-attention1",
        edit("self.attention2(Y", "self.attention1(Y"),
        says="the cross-attention is made with the weights of the self-attention",
        asks="The block has two attentions. Which one is never called?",
    ),
    mistake(
        "decblock-self-through-attention2",
        edit("self.attention1(X", "self.attention2(X"),
        says="the self-attention is made with the weights of the cross-attention",
        asks="The block has two attentions. Which one is never called?",
    ),
    mistake(
        "decblock-attentions-exchanged",
        edit("self.attention1(X", "self.attention2(X"),
        edit("self.attention2(Y", "self.attention1(Y"),
        says="each of the two attentions does the work of the other",
        asks="By the names of the contract, which attention looks at the target and which at the source?",
    ),
    mistake(
        "decblock-attentions-are-one",
        edit(
            """
            self.attention2 = MultiHeadAttention(
                key_size, query_size, value_size, num_hiddens, num_heads, dropout
            )
            """,
            "self.attention2 = self.attention1",
        ),
        says="the two attentions are one and the same object",
        asks=(
            "How many projections should a decoder block have in all, and how many different ones has yours?"
        ),
    ),
    mistake(
        "decblock-cross-roles-exchanged",
        edit(
            "self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)",
            "self.attention2(enc_outputs, Y, Y, None)",
        ),
        says="in the cross-attention the source asks and the target answers",
        asks=(
            "The result must have one row for each target step. Whose rows does an attention give: those of"
            " queries or of keys?"
        ),
    ),
    mistake(
        "decblock-cross-asked-by-input",
        edit("self.attention2(Y, enc", "self.attention2(X, enc"),
        says="the cross-attention is asked with the block's input instead of the result of the first part",
        asks=(
            "What does the second part work on: what came into the block, or what the first part made of it?"
        ),
    ),
    mistake(
        "decblock-cross-keys-from-target",
        edit(
            "self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)",
            "self.attention2(Y, Y, Y, dec_valid_lens)",
        ),
        says="the second attention looks at the target once more; the source is never used",
        asks="Change the encoder's outputs: what changes in the result of your block?",
    ),
    mistake(
        "decblock-no-cross-attention",
        edit("Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))", "Z = Y"),
        says="the part that looks at the source is left out",
        asks="Change the encoder's outputs: what changes in the result of your block?",
    ),
    mistake(
        "decblock-cross-attention-not-built",
        edit(
            """
            self.attention2 = MultiHeadAttention(
                key_size, query_size, value_size, num_hiddens, num_heads, dropout
            )
            """,
            "",
        ),
        edit("self.addnorm2 = AddNorm(norm_shape, dropout)", ""),
        edit("Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))", "Z = Y"),
        says="the part that looks at the source was neither built nor used",
        asks="How many attentions does the block have by the contract, and how many has yours?",
    ),
    mistake(
        "decblock-no-self-attention",
        edit("Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))", "Y = X"),
        says="the part that looks at the target's own steps is left out",
        asks="Change the first word of the target: what changes in the results of later steps?",
    ),
    mistake(
        "decblock-attentions-in-other-order",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Y = self.addnorm1(X, self.attention2(X, enc_outputs, enc_outputs, enc_valid_lens))",
        ),
        edit(
            "Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))",
            "Z = self.addnorm2(Y, self.attention1(Y, key_values, key_values, dec_valid_lens))",
        ),
        says="the source is looked at first and the target's own steps afterwards",
        asks="Of the two questions that a decoder asks, which comes first?",
    ),
    mistake(
        "decblock-attentions-in-other-order-with-norms",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Z = self.addnorm2(X, self.attention2(X, enc_outputs, enc_outputs, enc_valid_lens))",
        ),
        edit(
            "Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))",
            "Z = self.addnorm1(Z, self.attention1(Z, key_values, key_values, dec_valid_lens))",
        ),
        says=(
            "the source is looked at first and the target's own steps afterwards, each attention with its "
            "own add & norm"
        ),
        asks="Of the two questions that a decoder asks, which comes first?",
    ),
    mistake(
        "decblock-encoder-detached",
        edit(
            "num_steps, _ = X.shape",
            """
            num_steps, _ = X.shape
            enc_outputs = enc_outputs.detach()
            """,
        ),
        says="the encoder's outputs are cut off from the gradient: the encoder cannot learn",
        asks=(
            "Only the decoder knows how wrong the translation is. By which road does the encoder hear of it?"
        ),
    ),
    mistake(
        "decblock-keys-detached",
        edit("key_values = X  # (B, T, D)", "key_values = X.detach()"),
        says="keys and values of the self-attention are cut off from the gradient",
        asks="A step is looked at by later ones. Does it learn from how useful it was to them?",
    ),
    mistake(
        "decblock-second-residual-from-input",
        edit("self.addnorm2(Y,", "self.addnorm2(X,"),
        says="the residual of the second part is the block's input instead of the first part's result",
        asks="What does each add & norm add its sublayer's result to: the newest vector, or the oldest?",
    ),
    mistake(
        "decblock-third-residual-from-first-part",
        edit("self.addnorm3(Z,", "self.addnorm3(Y,"),
        says="the residual of the third part is the first part's result instead of the second's",
        asks="What went into the feed-forward network, and what do you add its result to?",
    ),
    mistake(
        "decblock-third-residual-from-input",
        edit("self.addnorm3(Z,", "self.addnorm3(X,"),
        says="the residual of the third part is the block's input",
        asks="What went into the feed-forward network, and what do you add its result to?",
    ),
    mistake(
        "decblock-first-residual-missing",
        edit("self.addnorm1(X, ", "self.addnorm1(0 * X, "),
        says="the self-attention's result is normalised without the block's input being added",
        asks="Silence the self-attention. What is left of the input behind the first add & norm?",
    ),
    mistake(
        "decblock-second-residual-missing",
        edit("self.addnorm2(Y, ", "self.addnorm2(0 * Y, "),
        says="the cross-attention's result is normalised without that of the first part being added",
        asks="Silence the cross-attention. What is left of the target behind the second add & norm?",
    ),
    mistake(
        "decblock-network-fed-by-first-part",
        edit("self.ffn(Z)", "self.ffn(Y)"),
        says="the feed-forward network is fed with the first part's result instead of the second's",
        asks="The three parts stand in a row. What comes into the third?",
    ),
    mistake(
        "decblock-network-missing",
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return self.addnorm3(Z, Z), state"),
        says="the feed-forward network is left out",
        asks="Which parameters of your block never get a gradient?",
    ),
    mistake(
        "decblock-last-norm-missing",
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return Z + self.ffn(Z), state"),
        says="the last sum is not normalised",
        asks="How many add & norms has the block, and which one do you call last?",
    ),
    mistake(
        "decblock-last-residual-missing",
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return self.ffn(Z), state"),
        says="the feed-forward network's result is returned as it is, without sum and norm",
        asks="How many add & norms has the block, and which one do you call last?",
    ),
    mistake(
        "decblock-first-norms-exchanged",
        edit("self.addnorm1(X", "self.addnorm2(X"),
        edit("self.addnorm2(Y", "self.addnorm1(Y"),
        says="the first add & norm does the work of the second, and the second that of the first",
        asks="By their numbers, which add & norm stands behind which sublayer?",
    ),
    mistake(
        "decblock-last-norms-exchanged",
        edit("self.addnorm2(Y", "self.addnorm3(Y"),
        edit("self.addnorm3(Z", "self.addnorm2(Z"),
        says="the second add & norm does the work of the third, and the third that of the second",
        asks="By their numbers, which add & norm stands behind which sublayer?",
    ),
    mistake(
        "decblock-first-norm-everywhere",
        edit("self.addnorm2(Y", "self.addnorm1(Y"),
        edit("self.addnorm3(Z", "self.addnorm1(Z"),
        says="the first add & norm is used three times, the other two never",
        asks="Three add & norms are asked for. Which of yours ever does anything?",
    ),
    mistake(
        "decblock-norms-are-one",
        edit("self.addnorm2 = AddNorm(norm_shape, dropout)", "self.addnorm2 = self.addnorm1"),
        edit("self.addnorm3 = AddNorm(norm_shape, dropout)", "self.addnorm3 = self.addnorm1"),
        says="the three add & norms are one and the same object",
        asks="How many scales and shifts should the block have, and how many different ones has yours?",
    ),
    mistake(
        "decblock-pre-norm",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            """
            seen = self.addnorm1.ln(key_values)
            Y = X + self.addnorm1.dropout(self.attention1(self.addnorm1.ln(X), seen, seen, dec_valid_lens))
            """,
        ),
        edit(
            "Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))",
            "Z = Y + self.addnorm2.dropout(self.attention2(self.addnorm2.ln(Y), enc_outputs, enc_outputs, enc_valid_lens))",
        ),
        edit(
            "return self.addnorm3(Z, self.ffn(Z)), state",
            "return Z + self.addnorm3.dropout(self.ffn(self.addnorm3.ln(Z))), state",
        ),
        says="each part is normalised before its sublayer instead of after the sum",
        asks="Where does the lesson put the norm: on the way into a sublayer, or behind the sum?",
        kind="different",
    ),
    mistake(
        "decblock-gelu",
        edit("self.ffn(Z)", "self.ffn.dense2(nn.functional.gelu(self.ffn.dense1(Z)))"),
        says="the feed-forward network bends with a GELU instead of a ReLU",
        asks="Which function stands between the two layers of the network in assignment 07?",
        kind="different",
    ),
    mistake(
        "decblock-state-not-returned",
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return self.addnorm3(Z, self.ffn(Z))"),
        says="the block returns its output alone, without the state",
        asks="The next block, and the next call, want two things from this one. Which is missing?",
    ),
    mistake(
        "decblock-state-first",
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return state, self.addnorm3(Z, self.ffn(Z))"),
        says="the state is returned before the output",
        asks="In which order does the contract name the two things that come back?",
    ),
    mistake(
        "decblock-writes-into-input",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Y = self.addnorm1(X.add_(self.attention1(X, key_values, key_values, dec_valid_lens)), torch.zeros_like(X))",
        ),
        says="the attention's result is added into the caller's own tensor",
        asks="After the call, is X still what it was before?",
    ),
    mistake(
        "decblock-add-norms-without-dropout",
        edit("AddNorm(norm_shape, dropout)", "AddNorm(norm_shape, 0.0)", times=3),
        says="the add & norms drop nothing: the rate did not reach them",
        asks="The rate is handed to the block. To which of its parts do you hand it on?",
    ),
    mistake(
        "decblock-attentions-without-dropout",
        edit("num_heads, dropout", "num_heads, 0.0", times=2),
        says="the attentions drop none of their weights: the rate did not reach them",
        asks="The rate is handed to the block. To which of its parts do you hand it on?",
    ),
    mistake(
        "decblock-nothing-dropped",
        edit("num_heads, dropout", "num_heads, 0.0", times=2),
        edit("AddNorm(norm_shape, dropout)", "AddNorm(norm_shape, 0.0)", times=3),
        says="nothing is dropped anywhere in the block: the rate is not used",
        asks="The rate is handed to the block. What do you do with it?",
    ),
    mistake(
        "decblock-dropout-of-residual",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Y = self.addnorm1(self.attention1(X, key_values, key_values, dec_valid_lens), X)",
        ),
        edit(
            "Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))",
            "Z = self.addnorm2(self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens), Y)",
        ),
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return self.addnorm3(self.ffn(Z), Z), state"),
        says="the residuals are dropped, and the sublayers' results are not",
        asks=(
            "An add & norm takes two things and drops one of them. Which of the two did you hand over in "
            "which place?"
        ),
    ),
    mistake(
        "decblock-dropout-in-evaluation",
        edit(
            "return self.addnorm3(Z, self.ffn(Z)), state",
            "return nn.functional.dropout(self.addnorm3(Z, self.ffn(Z)), self.addnorm3.dropout.p), state",
        ),
        says="something is dropped in evaluation too",
        asks="Functions of PyTorch that drop: how do they know that the model is not in training any more?",
    ),
    mistake(
        "decblock-extra-dropout",
        edit(
            "return self.addnorm3(Z, self.ffn(Z)), state",
            "return self.addnorm3.dropout(self.addnorm3(Z, self.ffn(Z))), state",
        ),
        says="what leaves the block is dropped once more",
        asks="How many places drop something in this block, and does any of them stand behind a norm?",
    ),
    device_mistake(
        "causal-steps-on-the-cpu",
        edit(", device=X.device", ""),
        says="the steps that a query may see are counted on the CPU",
        asks="What happens when the target lies on a graphics card?",
    ),
    device_mistake(
        "cache-on-the-cpu",
        edit("cache[self.i] = key_values", "cache[self.i] = key_values.cpu()"),
        says="the cache is kept on the CPU",
        asks="What does the next step lay beside what it finds in the cache, and where does each lie?",
    ),
]
