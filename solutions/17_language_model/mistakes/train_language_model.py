"""Known mistakes in train_language_model; their pages are in train_language_model.md."""

from grader.authoring import edit, mistake

INPUTS = "logits = model(tokens[:, :-1])  # (B, T, V)"
TARGETS = "targets = tokens[:, 1:]  # (B, T)"
LOSS = "loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())"
LOOP = "for tokens in itertools.islice(batches, steps):"
CLEAR = "optimizer.zero_grad()"
STEP = "optimizer.step()"
CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
RETURN = "return model.state_dict()"

MISTAKES = [
    mistake(
        "tlm-not-shifted",
        edit(TARGETS, "targets = tokens[:, :-1]"),
        says="the target of every step is its own input, not the token after it",
        asks="Write the first row of the inputs and of the targets below each other. What should the model say after the first letter?",
    ),
    mistake(
        "tlm-fed-the-answer",
        edit(INPUTS, "logits = model(tokens[:, 1:])"),
        says="the inputs begin one token late: they contain the tokens that the model should predict",
        asks="Write the first row of the inputs and of the targets below each other. What should the model say after the first letter?",
    ),
    mistake(
        "tlm-shifted-by-two",
        edit(INPUTS, "logits = model(tokens[:, :-2])"),
        edit(TARGETS, "targets = tokens[:, 2:]"),
        says="the target is the token after the next one",
        asks="How many places lie between an input and its target?",
    ),
    mistake(
        "tlm-shifted-twice",
        edit(INPUTS, "logits = model(tokens[:, :-1])[:, :-1]"),
        edit(TARGETS, "targets = tokens[:, 2:]"),
        says="inputs and targets are shifted twice: the target is the token after the next one, and the last input gets none",
        asks="How many places lie between an input and its target?",
    ),
    mistake(
        "tlm-backwards",
        edit(INPUTS, "logits = model(tokens[:, 1:])"),
        edit(TARGETS, "targets = tokens[:, :-1]"),
        says="the model learns to say the token before each one",
        asks="In which direction does your model write?",
    ),
    mistake(
        "tlm-last-token-only",
        edit(LOSS, "loss = nn.functional.cross_entropy(logits[:, -1], targets[:, -1])"),
        says="only the last token of each row counts in the loss",
        asks="How many predictions does a row of 160 characters give?",
    ),
    mistake(
        "tlm-first-token-only",
        edit(LOSS, "loss = nn.functional.cross_entropy(logits[:, 0], targets[:, 0])"),
        says="only the first token of each row counts in the loss",
        asks="How many predictions does a row of 160 characters give?",
    ),
    mistake(
        "tlm-last-left-out",
        edit(INPUTS, "logits = model(tokens[:, :-2])"),
        edit(TARGETS, "targets = tokens[:, 1:-1]"),
        says="the last token of each row is never predicted",
        asks="How many predictions does a row of six tokens give?",
    ),
    mistake(
        "tlm-first-left-out",
        edit(INPUTS, "logits = model(tokens[:, 1:-1])"),
        edit(TARGETS, "targets = tokens[:, 2:]"),
        says="the first token of each row is never an input",
        asks="Writing begins with a line break. Does the model see it in training?",
    ),
    mistake(
        "tlm-line-breaks-left-out",
        edit(
            LOSS,
            "loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)",
        ),
        says="token 0 does not count in the loss, as if it were padding",
        asks="What is token 0 in this text, and who should say when a line ends?",
    ),
    mistake(
        "tlm-softmax-twice",
        edit(LOSS, "loss = nn.functional.cross_entropy(logits.softmax(-1).flatten(0, 1), targets.flatten())"),
        says="the cross-entropy gets probabilities, so a softmax is taken twice",
        asks="What does the cross-entropy do with its input first?",
    ),
    mistake(
        "tlm-rows-and-steps-mixed",
        edit(LOSS, "loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.T.flatten())"),
        says="the targets are in another order than the logits",
        asks="Which step of which row is the second row of the flattened logits?",
    ),
    mistake(
        "tlm-gradients-pile-up",
        edit(CLEAR, "pass"),
        says="gradients are never cleared, so each step follows the sum of all gradients since the first",
        asks="PyTorch adds a new gradient to the one that is there. What is there when your second step begins?",
    ),
    mistake(
        "tlm-never-stepped",
        edit(STEP, "pass"),
        says="gradients are computed, but the weights are never updated",
        asks="Which call updates the weights, and what do the gradients hold when it comes?",
    ),
    mistake(
        "tlm-no-backward",
        edit("loss.backward()", "loss.detach()"),
        says="the loss is computed, but there is no backward pass",
        asks="An optimizer needs gradients. Which call of yours computes them?",
    ),
    mistake(
        "tlm-one-update-only",
        edit("        " + STEP, "        pass"),
        edit("    " + RETURN, "    optimizer.step()\n    " + RETURN),
        says="the weights are updated once, after the last batch",
        asks="How many updates are there for how many batches?",
    ),
    mistake(
        "tlm-optimizer-of-matrices",
        edit('[{"params": matrices}, {"params": others, "weight_decay": 0.0}]', "matrices"),
        says="the optimizer has the matrices only, so the weights of the norms never learn",
        asks="Compare each weight with its value before the training: which of them does your optimizer update?",
    ),
    mistake(
        "tlm-one-batch-too-many",
        edit(LOOP, "for step, tokens in enumerate(batches):\n        if step == steps:\n            break"),
        says="one batch more is taken than there are steps",
        asks="When does your loop notice that it is done: before it takes a batch, or after?",
    ),
    mistake(
        "tlm-one-step-more",
        edit("itertools.islice(batches, steps)", "itertools.islice(batches, steps + 1)"),
        says="there is one step too many",
        asks="How many batches does your loop take for three steps?",
    ),
    mistake(
        "tlm-one-step-less",
        edit("itertools.islice(batches, steps)", "itertools.islice(batches, steps - 1)"),
        says="there is one step too few",
        asks="How many batches does your loop take for three steps?",
    ),
    mistake(
        "tlm-one-batch-again",
        edit(LOOP, "first = next(batches)\n    for tokens in [first] * steps:"),
        says="every step uses the same batch",
        asks="How much text has your model seen at the end?",
    ),
    mistake(
        "tlm-first-row-only",
        edit(INPUTS, "tokens = tokens[:1]\n        " + INPUTS),
        says="only the first row of each batch is used",
        asks="How many rows of each batch does your model see?",
    ),
    mistake(
        "tlm-two-steps-a-batch",
        edit(STEP, "optimizer.step()\n        optimizer.step()"),
        says="the weights are updated twice for each batch",
        asks="How many updates are there for how many batches?",
    ),
    mistake(
        "tlm-copy-trained",
        edit("model.train()", "import copy\n    model = copy.deepcopy(model)"),
        says="a copy is trained, and the model that was passed stays as it was",
        asks="Which model does whoever called your function have afterwards?",
    ),
    mistake(
        "tlm-nothing-returned",
        edit(RETURN, "return None"),
        says="the function does not return the trained weights",
        asks="What does a Python function without a return statement return?",
    ),
    mistake(
        "tlm-loss-returned",
        edit(RETURN, "return loss.detach()"),
        says="the last loss is returned instead of the weights",
        asks="What does whoever called your function need to load the trained model?",
    ),
    mistake(
        "tlm-weights-of-before",
        edit("model.train()", "kept = {name: p.clone() for name, p in model.state_dict().items()}"),
        edit(RETURN, "return kept"),
        says="the returned weights are those from before the training",
        asks="When is the state dict created that you return?",
    ),
    mistake(
        "tlm-uphill",
        edit("loss.backward()", "(-loss).backward()"),
        says="the loss is made larger instead of smaller",
        asks="Does your loss fall?",
    ),
    mistake(
        "tlm-optimizer-of-blocks",
        edit(
            "[p for p in model.parameters() if p.dim() > 1]",
            "[p for name, p in model.named_parameters() if p.dim() > 1 and name.startswith('blocks')]",
        ),
        edit(
            "[p for p in model.parameters() if p.dim() < 2]",
            "[p for name, p in model.named_parameters() if p.dim() < 2 and name.startswith('blocks')]",
        ),
        forms=[
            [
                edit(
                    "[p for p in model.parameters() if p.dim() > 1]",
                    "[p for name, p in model.named_parameters() if p.dim() > 1 and name.startswith('blocks')]",
                ),
                edit(
                    "[p for p in model.parameters() if p.dim() < 2]",
                    "[p for name, p in model.named_parameters() if p.dim() < 2 and name.startswith('blocks')]",
                ),
                edit(CLIP, "pass"),
            ]
        ],
        says="the optimizer has the weights of the blocks only, so the embedding never learns",
        asks="Compare each weight with its value before the training: which of them does your optimizer update?",
    ),
    mistake(
        "tlm-four-batches-a-step",
        edit(LOOP, "for number, tokens in enumerate(itertools.islice(batches, 4 * steps)):"),
        edit("        " + CLEAR, "        if number % 4 == 0:\n            optimizer.zero_grad()"),
        edit("        " + STEP, "        if number % 4 == 3:\n            optimizer.step()"),
        edit(CLIP, "pass"),
        says="four batches are taken for each update",
        asks="How many batches may three steps take?",
    ),
    mistake(
        "tlm-scores-reshaped",
        edit(
            LOSS,
            "loss = nn.functional.cross_entropy(logits.reshape(len(logits), -1, logits.shape[1]), targets)",
        ),
        says="the logits are reshaped instead of transposed, so steps and tokens are mixed up",
        asks="What is in the first column of your reshaped logits?",
    ),
]
