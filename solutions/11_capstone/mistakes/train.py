"""Known mistakes in train; their pages are in train.md."""

from grader.authoring import edit, mistake

MISTAKES = [
    mistake(
        "train-fed-the-answer",
        edit("tgt[:, :-1]", "tgt[:, 1:]"),
        says="the input of the decoder contains the words that it should predict",
        asks="At step 0, which word is the input, and which word should the model predict?",
    ),
    mistake(
        "train-target-not-shifted",
        edit("labels = tgt[:, 1:]", "labels = tgt[:, :-1]"),
        says="the label of every step is its input word, not the word after it",
        asks="When the input is the start token, which word should the model predict?",
    ),
    mistake(
        "train-start-left-out",
        edit("tgt[:, :-1]", "tgt[:, 1:-1]"),
        edit("labels = tgt[:, 1:]", "labels = tgt[:, 2:]"),
        edit("(tgt_valid_len - 1)[:, None]", "(tgt_valid_len - 2)[:, None]"),
        says="the start token is never an input, so the first word is never predicted",
        asks="Decoding begins with the start token as its only input. Does the model see it in training?",
    ),
    mistake(
        "train-end-not-learned",
        edit("(tgt_valid_len - 1)[:, None]", "(tgt_valid_len - 2)[:, None]"),
        says="the end token is not part of the loss, so the model does not learn to stop",
        asks="A target of three words has four steps. Which token should the model predict at the fourth?",
    ),
    mistake(
        "train-loss-on-padding",
        edit("scores[real], labels[real]", "scores.flatten(0, 1), labels.flatten()"),
        says="padding counts in the loss like any word",
        asks="What are your labels after the end of a short sentence?",
    ),
    mistake(
        "train-one-padding-counts",
        edit("(tgt_valid_len - 1)[:, None]", "tgt_valid_len[:, None]"),
        says="one step too many counts in the loss: the one after the end, where the label is padding",
        asks=(
            "The length counts the start token and the end token. How many of these words should the decoder "
            "predict?"
        ),
    ),
    mistake(
        "train-only-padding-counts",
        edit("scores[real], labels[real]", "scores[~real], labels[~real]"),
        says="only padding counts in the loss, and no real word does",
        asks="At which steps is your mask true: at the steps that count, or at the others?",
    ),
    mistake(
        "train-source-lens-ignored",
        edit("model(src, tgt[:, :-1], src_valid_len)", "model(src, tgt[:, :-1])"),
        says="the lengths of the sources are not passed to the model, so it attends to their padding",
        asks="Which of the four tensors of a batch does your loop never use?",
    ),
    mistake(
        "train-target-lens-for-source",
        edit("model(src, tgt[:, :-1], src_valid_len)", "model(src, tgt[:, :-1], tgt_valid_len)"),
        says="the sources are masked with the lengths of the targets",
        asks="A batch has two tensors of lengths. Which one belongs to the source?",
    ),
    mistake(
        "train-never-stepped",
        edit("optimizer.step()", "optimizer.zero_grad()"),
        says="gradients are computed, but the weights are never updated",
        asks="Which call updates the weights, and where is it in your loop?",
    ),
    mistake(
        "train-optimizer-of-decoder",
        edit(
            "torch.optim.Adam(model.parameters(), lr=0.003)",
            "torch.optim.Adam(model.decoder.parameters(), lr=0.003)",
        ),
        says="the optimizer has the weights of the decoder only, so the encoder never learns",
        asks="Compare each weight with its value before the training: which of them does your optimizer update?",
    ),
    mistake(
        "train-no-backward",
        edit("loss.backward()", "loss.detach()"),
        says="the loss is computed, but there is no backward pass",
        asks="An optimizer needs gradients. Which call of yours computes them?",
    ),
    mistake(
        "train-gradients-pile-up",
        edit("optimizer.zero_grad()", "loss = loss.clone()"),
        says="gradients are never cleared, so each step follows the sum of all gradients since the first",
        asks=(
            "PyTorch adds a new gradient to the one that is there. What is there when your second step "
            "begins?"
        ),
    ),
    mistake(
        "train-in-evaluation-mode",
        edit("model.train()", "model.eval()"),
        says="the model is in evaluation mode while it is trained",
        asks="In which mode is a model after an evaluation, and which line of yours changes that?",
    ),
    mistake(
        "train-one-round-only",
        edit("range(steps)", "range(min(steps, len(batches)))"),
        says="the loop ends after the last batch, before all steps are done",
        asks="There are more steps than batches. What does your loop do after the last batch?",
    ),
    mistake(
        "train-steps-for-every-batch",
        edit("range(steps)", "range(steps * len(batches))"),
        says="every batch is used as many times as there are steps, so there are too many updates",
        asks="How many times did your optimizer update the weights, and how many times should it?",
    ),
    mistake(
        "train-first-batch-only",
        edit("batches[step % len(batches)]", "batches[0]"),
        says="every step uses the same batch",
        asks="How many different sentences has your model seen at the end?",
    ),
    mistake(
        "train-nothing-returned",
        edit("return model.state_dict()", "return None"),
        says="the function does not return the trained weights",
        asks="What does a Python function without a return statement return?",
    ),
    mistake(
        "train-weights-of-before",
        edit(
            """
            model.train()

            """,
            """
            model.train()
            kept = copy.deepcopy(model.state_dict())

            """,
        ),
        edit("return model.state_dict()", "return kept"),
        says="the returned weights are those from before the training",
        asks="When is the state dict created that you return?",
    ),
]
