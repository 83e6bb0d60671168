"""Known mistakes in train; their pages are in train.md."""

from grader.authoring import edit, mistake

MISTAKES = [
    mistake(
        "train-fed-the-answer",
        edit("tgt[:, :-1]", "tgt[:, 1:]"),
        says="the decoder is fed the very words that it is asked for",
        asks="At step 0, which word stands in the input, and which one should the model find out?",
    ),
    mistake(
        "train-target-not-shifted",
        edit("labels = tgt[:, 1:]", "labels = tgt[:, :-1]"),
        says="every step is asked for the word that it was just fed, not for the one that follows",
        asks="When the start is fed, which word should come out?",
    ),
    mistake(
        "train-start-left-out",
        edit("tgt[:, :-1]", "tgt[:, 1:-1]"),
        edit("labels = tgt[:, 1:]", "labels = tgt[:, 2:]"),
        edit("(tgt_valid_len - 1)[:, None]", "(tgt_valid_len - 2)[:, None]"),
        says="the start is never fed, so that the first word is never asked for",
        asks="Writing begins with the start as its only input. When did your model ever see one?",
    ),
    mistake(
        "train-end-not-learned",
        edit("(tgt_valid_len - 1)[:, None]", "(tgt_valid_len - 2)[:, None]"),
        says="the end of a sentence never counts, so that the model does not learn to stop",
        asks="A target of three words is fed in four steps. What should come out at the fourth?",
    ),
    mistake(
        "train-loss-on-padding",
        edit("scores[real], labels[real]", "scores.flatten(0, 1), labels.flatten()"),
        says="padding counts in the loss like any word",
        asks="Which answer do your labels ask for behind the end of a short sentence?",
    ),
    mistake(
        "train-one-padding-counts",
        edit("(tgt_valid_len - 1)[:, None]", "tgt_valid_len[:, None]"),
        says="one step too many counts: the one behind the end, where the label is padding",
        asks="The length counts start and end. How many of these words is the decoder asked for?",
    ),
    mistake(
        "train-only-padding-counts",
        edit("scores[real], labels[real]", "scores[~real], labels[~real]"),
        says="only padding counts in the loss, and no real word does",
        asks="Your mask is true at some steps. Are these the ones that count, or the others?",
    ),
    mistake(
        "train-source-lens-ignored",
        edit("model(src, tgt[:, :-1], src_valid_len)", "model(src, tgt[:, :-1])"),
        says="the model is not told how long the sources are, and reads their padding",
        asks="Which of the four tensors of a batch does your loop never use?",
    ),
    mistake(
        "train-target-lens-for-source",
        edit("model(src, tgt[:, :-1], src_valid_len)", "model(src, tgt[:, :-1], tgt_valid_len)"),
        says="the sources are masked with the lengths of the targets",
        asks="There are two lengths in a batch. Whose padding should the encoder not read?",
    ),
    mistake(
        "train-never-stepped",
        edit("optimizer.step()", "optimizer.zero_grad()"),
        says="gradients are computed, and the weights never move",
        asks="Who moves the weights, and when did you ask for it?",
    ),
    mistake(
        "train-no-backward",
        edit("loss.backward()", "loss.detach()"),
        says="the loss is computed, and nothing flows back from it",
        asks="An optimizer follows gradients. Where do yours come from?",
    ),
    mistake(
        "train-gradients-pile-up",
        edit("optimizer.zero_grad()", "loss = loss.clone()"),
        says="gradients are never cleared, so that each step follows the sum of all since the first",
        asks="PyTorch adds a new gradient to what is there. What is there when your second step begins?",
    ),
    mistake(
        "train-in-evaluation-mode",
        edit("model.train()", "model.eval()"),
        says="the model is in evaluation mode while it is trained",
        asks="In which mode does a model arrive that has just been measured, and who changes that?",
    ),
    mistake(
        "train-one-round-only",
        edit("range(steps)", "range(min(steps, len(batches)))"),
        says="the loop ends when the batches are used up, before the steps are",
        asks="There are more steps than batches. What does your loop do when the last batch is through?",
    ),
    mistake(
        "train-steps-for-every-batch",
        edit("range(steps)", "range(steps * len(batches))"),
        says="every batch is taken as many times as there are steps, so that the budget is exceeded",
        asks="How many times did your optimizer move the weights, and how many times was it asked to?",
    ),
    mistake(
        "train-first-batch-only",
        edit("batches[step % len(batches)]", "batches[0]"),
        says="every step takes the same batch",
        asks="How many different sentences has your model seen at the end?",
    ),
    mistake(
        "train-nothing-returned",
        edit("return model.state_dict()", "return None"),
        says="nothing comes back where the trained weights belong",
        asks="What does a function give back that ends without saying so?",
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
        says="what comes back are the weights of before the training",
        asks="When was the state dict made that you return?",
    ),
]
