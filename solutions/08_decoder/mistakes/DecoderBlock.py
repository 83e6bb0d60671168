"""Known mistakes in DecoderBlock; their pages are in DecoderBlock.md."""

from grader.authoring import device_mistake, edit, mistake

MISTAKES = [
    mistake(
        "decblock-no-causal-mask",
        edit("dec_valid_lens = visible.repeat(batch_size, 1)", "dec_valid_lens = None"),
        says="in training, every step attends to all steps, including later ones",
        asks=(
            "In training all steps go through at once. What keeps step 0 from attending to the word that it "
            "should predict?"
        ),
    ),
    mistake(
        "decblock-sees-next-step",
        edit(
            "visible = torch.arange(earlier + 1, earlier + num_steps + 1, device=X.device)",
            "visible = torch.arange(earlier + 2, earlier + num_steps + 2, device=X.device)",
        ),
        says="in training, every step also attends to the next step",
        asks="How many steps may the first query see, itself included?",
    ),
    mistake(
        "decblock-own-step-hidden",
        edit(
            "visible = torch.arange(earlier + 1, earlier + num_steps + 1, device=X.device)",
            "visible = torch.arange(int(not self.training), num_steps + int(not self.training)) + earlier",
        ),
        says="in training, no step attends to itself, and the first one attends to nothing",
        asks=(
            "In this course a query may attend to its own step. Which length does the first query then have?"
        ),
    ),
    mistake(
        "decblock-lengths-reversed",
        edit("visible.repeat(", "visible.flip(0).repeat("),
        says="in training, the first step attends to all steps, and the last one to the first step only",
        asks="Do your lengths grow or shrink from the first query to the last?",
    ),
    mistake(
        "decblock-wrong-triangle",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Y = self.addnorm1(X, self.attention1(X, key_values.flip(1), key_values.flip(1), dec_valid_lens.flip(1) if self.training else None))",
        ),
        says="in training, every step attends to itself and to later steps, never to earlier ones",
        asks="Your mask is a triangle. Which of its two halves holds the earlier steps?",
    ),
    mistake(
        "decblock-lengths-not-repeated",
        edit("visible.repeat(batch_size, 1)", "visible"),
        says=(
            "the causal lengths have one entry per step and no batch axis, so they are used as one length "
            "per sentence"
        ),
        asks=(
            "What do lengths of shape (T,) mean to the attention, and which shape means one length per query?"
        ),
    ),
    mistake(
        "decblock-lengths-while-decoding",
        edit(
            "visible = torch.arange(earlier + 1, earlier + num_steps + 1, device=X.device)",
            "visible = torch.arange(1, num_steps + 1, device=X.device)",
        ),
        edit("visible.repeat(batch_size, 1)  # (B, T)", "visible.repeat(batch_size, 1)"),
        says="in prediction, every new step attends to the oldest step only",
        asks=(
            "A prediction call has one query. How many steps does the training mask allow it, and which ones?"
        ),
    ),
    mistake(
        "decblock-decoding-misses-newest",
        edit(
            "visible = torch.arange(earlier + 1, earlier + num_steps + 1, device=X.device)",
            "visible = torch.arange(1, num_steps + 1) + max(earlier - int(not self.training), 0)",
        ),
        edit("visible.repeat(batch_size, 1)  # (B, T)", "visible.repeat(batch_size, 1)"),
        says="in prediction, a new step attends to the earlier steps but not to itself",
        asks="At the third step of a prediction, how many steps may be attended to, the new one included?",
    ),
    mistake(
        "decblock-source-lengths-on-target",
        edit("dec_valid_lens = visible.repeat(batch_size, 1)", "dec_valid_lens = enc_valid_lens"),
        says="the self-attention is masked with the lengths of the source instead of the causal ones",
        asks="The state holds lengths beside the encoder's outputs. Which words do they count?",
    ),
    mistake(
        "decblock-source-lengths-on-target-too",
        edit(
            "dec_valid_lens = visible.repeat(batch_size, 1)",
            "dec_valid_lens = visible.repeat(batch_size, 1) if enc_valid_lens is None else torch.minimum(visible, enc_valid_lens[:, None])",
        ),
        says="the self-attention is limited by the lengths of the source as well as by the causal ones",
        asks="The state holds lengths beside the encoder's outputs. Which words do they count?",
    ),
    mistake(
        "decblock-mask-by-grad-mode",
        edit("self.training", "torch.is_grad_enabled()"),
        says="the block decides between training and prediction by whether gradients are recorded",
        asks="What does your block do in evaluation mode when gradients are recorded?",
        kind="policy",
        breaks="grad-mode",
    ),
    mistake(
        "decblock-cache-unused",
        edit("key_values = torch.cat((cache[self.i], X), dim=1)", "key_values = X"),
        says=(
            "in prediction, every new step attends only to itself: "
            "what is stored in this layer's entry of the state is not used"
        ),
        asks=(
            "After the second step of a prediction, what is in the state for this layer, and which code "
            "reads it?"
        ),
    ),
    mistake(
        "decblock-cache-not-written",
        edit("cache[self.i] = key_values", "pass"),
        says=(
            "in prediction, nothing is stored in this layer's entry of the state: it stays `None`, so every "
            "new step attends only to itself"
        ),
        asks="Which line of your code puts the new step into the state, so that the next call finds it there?",
    ),
    mistake(
        "decblock-cache-first-step-only",
        edit(
            "cache[self.i] = key_values",
            "cache[self.i] = key_values if cache[self.i] is None else cache[self.i]",
        ),
        says=(
            "in prediction, a step attends to the first step and to itself: the steps between were not stored"
        ),
        asks="Your cache is written once. Which line appends the second step to the first?",
    ),
    mistake(
        "decblock-cache-newest-only",
        edit("cache[self.i] = key_values", "cache[self.i] = X"),
        says="in prediction, a step attends to itself and to the one before it: older steps were overwritten",
        asks="Is the new step appended to the cache, or does it replace it?",
    ),
    mistake(
        "decblock-cache-shared-by-layers",
        edit("cache[self.i]", "cache[0]", times=3),
        says="all layers use the same entry of the cache, so each layer reads the inputs of the others",
        asks="With two layers, how many entries does the cache have, and how does a layer find its own?",
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
        says="the cache stores the outputs of the block instead of its inputs",
        asks=(
            "In training, keys and values come from the block's input. Where do they come from for an "
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
        says="the cache stores the output of the first AddNorm instead of the block's input",
        asks=(
            "Which vector of a step is its key in training: the one before or the one after the first "
            "AddNorm?"
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
        says="earlier steps are stored in the module, so a second sentence attends to the words of the first",
        asks="You predict two sentences one after the other. When are the steps of the first one removed?",
    ),
    mistake(
        "decblock-values-from-cache-only",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Y = self.addnorm1(X, self.attention1(X, X, key_values, dec_valid_lens))",
        ),
        says="the keys are the new step alone while the values are all steps so far",
        asks=(
            "Each weight belongs to a key and is multiplied by a value. How many of each do you pass in "
            "prediction?"
        ),
    ),
    mistake(
        "decblock-residual-of-oldest-step",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Y = self.addnorm1(key_values[:, :num_steps], self.attention1(X, key_values, key_values, dec_valid_lens))",
        ),
        says=(
            "in prediction, the residual connection of the self-attention adds the oldest step instead of "
            "the new one"
        ),
        asks="Which step should the attention's result be added to: the newest, or the first in the cache?",
    ),
    mistake(
        "decblock-cross-without-lengths",
        edit("enc_outputs, enc_outputs, enc_valid_lens)", "enc_outputs, enc_outputs, None)"),
        says="the cross-attention attends to all source steps, including the padding",
        asks=(
            "Some source sentences are shorter than others. Which argument gives the second attention their "
            "lengths?"
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
        asks="How many source words may step 0 of the target attend to?",
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
        asks="How many source words may step 0 of the target attend to?",
    ),
    mistake(
        "decblock-cross-through-attention1",
        edit("self.attention2(Y", "self.attention1(Y"),
        says="the cross-attention uses the weights of the self-attention",
        asks="The block has two attentions. Which one is never called?",
    ),
    mistake(
        "decblock-self-through-attention2",
        edit("self.attention1(X", "self.attention2(X"),
        says="the self-attention uses the weights of the cross-attention",
        asks="The block has two attentions. Which one is never called?",
    ),
    mistake(
        "decblock-attentions-exchanged",
        edit("self.attention1(X", "self.attention2(X"),
        edit("self.attention2(Y", "self.attention1(Y"),
        says="the two attentions are swapped: the first is used for the source, the second for the target",
        asks="Which of the two attentions is for the target, and which for the source?",
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
        says="the two attentions are the same module",
        asks="How many projections should a decoder block have, and how many different ones has yours?",
    ),
    mistake(
        "decblock-cross-roles-exchanged",
        edit(
            "self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)",
            "self.attention2(enc_outputs, Y, Y, None)",
        ),
        says=(
            "in the cross-attention the queries come from the source, and the keys and values from the target"
        ),
        asks=(
            "The result must have one row per target step. Does an attention return one row per query or per "
            "key?"
        ),
    ),
    mistake(
        "decblock-cross-asked-by-input",
        edit("self.attention2(Y, enc", "self.attention2(X, enc"),
        says=(
            "the cross-attention gets its queries from the block's input instead of the first sublayer's "
            "result"
        ),
        asks=(
            "What is the input of the second sublayer: the block's input, or the result of the first "
            "sublayer?"
        ),
    ),
    mistake(
        "decblock-cross-keys-from-target",
        edit(
            "self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens)",
            "self.attention2(Y, Y, Y, dec_valid_lens)",
        ),
        says="the second attention attends to the target again; the source is never used",
        asks="If the encoder's outputs change, what changes in the result of your block?",
    ),
    mistake(
        "decblock-no-cross-attention",
        edit("Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))", "Z = Y"),
        says="the cross-attention is left out",
        asks="If the encoder's outputs change, what changes in the result of your block?",
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
        says="the cross-attention was neither created nor used",
        asks="How many attentions should the block have, and how many does yours have?",
    ),
    mistake(
        "decblock-no-self-attention",
        edit("Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))", "Y = X"),
        says="the self-attention is left out",
        asks="If the first word of the target changes, what changes in the results of later steps?",
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
        says="the cross-attention comes before the self-attention",
        asks="Which of the two attentions comes first in the lesson's formulas?",
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
        says="the cross-attention comes before the self-attention, each with its own AddNorm",
        asks="Which of the two attentions comes first in the lesson's formulas?",
        forms=[
            [
                edit(
                    "enc_outputs, enc_valid_lens, cache = state",
                    """
                    enc_outputs, enc_valid_lens, cache = state
                    X = self.addnorm2(X, self.attention2(X, enc_outputs, enc_outputs, enc_valid_lens))
                    """,
                ),
                edit(
                    "Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))",
                    "Z = Y",
                ),
            ]
        ],
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
        says="the encoder's outputs are detached: the encoder cannot learn",
        asks=(
            "The loss is computed from the decoder's scores. Through which tensor does its gradient reach "
            "the encoder?"
        ),
    ),
    mistake(
        "decblock-keys-detached",
        edit("key_values = X  # (B, T, D)", "key_values = X.detach()"),
        says="the keys and values of the self-attention are detached",
        asks="Later steps attend to this step. Does it get a gradient from their results?",
    ),
    mistake(
        "decblock-second-residual-from-input",
        edit("self.addnorm2(Y,", "self.addnorm2(X,"),
        says="the second residual connection adds the block's input instead of the first sublayer's result",
        asks="What should each AddNorm add to its sublayer's result?",
    ),
    mistake(
        "decblock-third-residual-from-first-part",
        edit("self.addnorm3(Z,", "self.addnorm3(Y,"),
        says="the third residual connection adds the first sublayer's result instead of the second's",
        asks="What is the input of the feed-forward network, and what do you add to its result?",
    ),
    mistake(
        "decblock-third-residual-from-input",
        edit("self.addnorm3(Z,", "self.addnorm3(X,"),
        says="the third residual connection adds the block's input",
        asks="What is the input of the feed-forward network, and what do you add to its result?",
    ),
    mistake(
        "decblock-first-residual-missing",
        edit("self.addnorm1(X, ", "self.addnorm1(0 * X, "),
        says="the self-attention's result is normalised without adding the block's input",
        asks="Suppose the self-attention returns zero. What is left of the input after the first AddNorm?",
    ),
    mistake(
        "decblock-second-residual-missing",
        edit("self.addnorm2(Y, ", "self.addnorm2(0 * Y, "),
        says="the cross-attention's result is normalised without adding the first sublayer's result",
        asks="Suppose the cross-attention returns zero. What is left of the target after the second AddNorm?",
    ),
    mistake(
        "decblock-network-fed-by-first-part",
        edit("self.ffn(Z)", "self.ffn(Y)"),
        says="the feed-forward network gets the first sublayer's result instead of the second's",
        asks="What is the input of the third sublayer?",
    ),
    mistake(
        "decblock-network-missing",
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return self.addnorm3(Z, Z), state"),
        says="the feed-forward network is left out",
        asks="Which parameters of your block never get a gradient?",
    ),
    mistake(
        "decblock-ffn-ends-in-hidden-size",
        edit(
            "PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)",
            "PositionWiseFFN(ffn_num_input, ffn_num_hiddens, ffn_num_hiddens)",
        ),
        says="the last layer of the feed-forward network has the size of its hidden layer",
        asks="The output of the network is added to its input. Which size must it have?",
    ),
    mistake(
        "decblock-last-norm-missing",
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return Z + self.ffn(Z), state"),
        says="the last sum is not normalised",
        asks="How many AddNorms does the block have, and which one do you call last?",
    ),
    mistake(
        "decblock-last-residual-missing",
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return self.ffn(Z), state"),
        says="the feed-forward network's result is returned directly, without sum and norm",
        asks="How many AddNorms does the block have, and which one do you call last?",
    ),
    mistake(
        "decblock-first-norms-exchanged",
        edit("self.addnorm1(X", "self.addnorm2(X"),
        edit("self.addnorm2(Y", "self.addnorm1(Y"),
        says="the first AddNorm and the second are swapped",
        asks="Which AddNorm follows which sublayer, by their numbers?",
    ),
    mistake(
        "decblock-last-norms-exchanged",
        edit("self.addnorm2(Y", "self.addnorm3(Y"),
        edit("self.addnorm3(Z", "self.addnorm2(Z"),
        says="the second AddNorm and the third are swapped",
        asks="Which AddNorm follows which sublayer, by their numbers?",
    ),
    mistake(
        "decblock-first-norm-everywhere",
        edit("self.addnorm2(Y", "self.addnorm1(Y"),
        edit("self.addnorm3(Z", "self.addnorm1(Z"),
        says="the first AddNorm is used three times, the other two never",
        asks="The block should have three AddNorms. Which of yours are called?",
    ),
    mistake(
        "decblock-norms-are-one",
        edit("self.addnorm2 = AddNorm(norm_shape, dropout)", "self.addnorm2 = self.addnorm1"),
        edit("self.addnorm3 = AddNorm(norm_shape, dropout)", "self.addnorm3 = self.addnorm1"),
        says="the three AddNorms are the same module",
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
        says="the input of each sublayer is normalised instead of the sum (pre-norm)",
        asks="Where does the lesson put the norm: before a sublayer, or after the sum?",
        kind="different",
    ),
    mistake(
        "decblock-gelu",
        edit("self.ffn(Z)", "self.ffn.dense2(nn.functional.gelu(self.ffn.dense1(Z)))"),
        says="the feed-forward network uses GELU instead of ReLU as its non-linearity",
        asks="Which function is between the two layers of the network in assignment 07?",
        kind="different",
    ),
    mistake(
        "decblock-state-not-returned",
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return self.addnorm3(Z, self.ffn(Z))"),
        says="the block returns its output alone, without the state",
        asks="The next block and the next call need two values from this one. Which is missing?",
    ),
    mistake(
        "decblock-state-first",
        edit("return self.addnorm3(Z, self.ffn(Z)), state", "return state, self.addnorm3(Z, self.ffn(Z))"),
        says="the state is returned before the output",
        asks="In which order does the docstring name the two returned values?",
    ),
    mistake(
        "decblock-writes-into-input",
        edit(
            "Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))",
            "Y = self.addnorm1(X.add_(self.attention1(X, key_values, key_values, dec_valid_lens)), torch.zeros_like(X))",
        ),
        says="the attention's result is added to the caller's tensor in place",
        asks="After the call, does X still have the same values?",
    ),
    mistake(
        "decblock-add-norms-without-dropout",
        edit("AddNorm(norm_shape, dropout)", "AddNorm(norm_shape, 0.0)", times=3),
        says="the AddNorms do not get the dropout rate and drop nothing",
        asks="The block gets the dropout rate. To which of its modules do you pass it?",
    ),
    mistake(
        "decblock-attentions-without-dropout",
        edit("num_heads, dropout", "num_heads, 0.0", times=2),
        says="the attentions do not get the dropout rate and drop none of their weights",
        asks="The block gets the dropout rate. To which of its modules do you pass it?",
    ),
    mistake(
        "decblock-nothing-dropped",
        edit("num_heads, dropout", "num_heads, 0.0", times=2),
        edit("AddNorm(norm_shape, dropout)", "AddNorm(norm_shape, 0.0)", times=3),
        says="dropout is applied nowhere in the block: the rate is not used",
        asks="The block gets the dropout rate. Where do you use it?",
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
        says="dropout is applied to the residual connections, not to the sublayers' outputs",
        asks="An AddNorm drops one of its two arguments. In which order did you pass them?",
    ),
    mistake(
        "decblock-dropout-in-evaluation",
        edit(
            "return self.addnorm3(Z, self.ffn(Z)), state",
            "return nn.functional.dropout(self.addnorm3(Z, self.ffn(Z)), self.addnorm3.dropout.p), state",
        ),
        says="dropout is applied in evaluation too",
        asks="How does a dropout function know that the model is not in training mode?",
    ),
    mistake(
        "decblock-extra-dropout",
        edit(
            "return self.addnorm3(Z, self.ffn(Z)), state",
            "return self.addnorm3.dropout(self.addnorm3(Z, self.ffn(Z))), state",
        ),
        says="dropout is applied once more to the block's output",
        asks="In how many places does this block apply dropout, and is any of them after a norm?",
    ),
    device_mistake(
        "causal-steps-on-the-cpu",
        edit(", device=X.device", ""),
        says="the causal lengths are created on the CPU",
        asks="What happens when the target is on a GPU?",
    ),
    device_mistake(
        "cache-on-the-cpu",
        edit("cache[self.i] = key_values", "cache[self.i] = key_values.cpu()"),
        says="the cache is stored on the CPU",
        asks="On which device is the cache, and on which device is the new step?",
    ),
    mistake(
        "decblock-cache-along-batch",
        edit("torch.cat((cache[self.i], X), dim=1)", "torch.cat((cache[self.i], X), dim=0)"),
        says="the cache is joined along the batch axis instead of the steps, so the second step raises an error",
        asks="Which axis grows when a sentence gets one more word?",
    ),
    mistake(
        "decblock-truth-of-cache",
        edit("if cache[self.i] is not None:", "if cache[self.i]:"),
        says="the cache entry itself is the condition, but a tensor with several elements has no truth value",
        asks="Which question do you want to ask: is something stored, or is its value true?",
    ),
]
