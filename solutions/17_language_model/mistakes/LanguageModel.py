"""Known mistakes in LanguageModel; their pages are in LanguageModel.md."""

from grader.authoring import edit, mistake

EMBED = "x = self.embedding(tokens)  # (B, T, D)"
LOOP = "for i, block in enumerate(self.blocks):"
CALL = "x = block(x, caches[i] if caches else None)"
LOGITS = "return self.norm(x) @ self.embedding.weight.T"
START = "nn.init.normal_(self.embedding.weight, std=0.02)"
BLOCKS = """
self.blocks = nn.ModuleList(
    LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)
)
"""
BEFORE = "before = caches[0].length if caches else 0"
TOO_LONG = "if before + tokens.shape[1] > self.max_len:"

MISTAKES = [
    mistake(
        "lm-no-final-norm",
        edit(LOGITS, "return x @ self.embedding.weight.T"),
        says="the norm after the last block is missing",
        asks="Which gradient does the weight of the last norm get?",
    ),
    mistake(
        "lm-norm-first",
        edit(EMBED, "x = self.norm(self.embedding(tokens))"),
        edit(LOGITS, "return x @ self.embedding.weight.T"),
        says="the norm comes before the first block instead of after the last",
        asks="What is compared with the rows of the embedding: the result of the last block, or its norm?",
    ),
    mistake(
        "lm-norm-in-each-block",
        edit(CALL, CALL + "\n            x = self.norm(x)"),
        edit(LOGITS, "return x @ self.embedding.weight.T"),
        says="the last norm is applied after every block",
        asks="How often is the last norm used in one call?",
    ),
    mistake(
        "lm-layer-norm",
        edit("self.norm = RMSNorm(d_model)", "self.norm = nn.LayerNorm(d_model, bias=False)"),
        forms=[[edit("self.norm = RMSNorm(d_model)", "self.norm = nn.LayerNorm(d_model)")]],
        says="the last norm is LayerNorm, which subtracts the mean",
        asks="Which norm did you write for this model?",
        kind="different",
    ),
    mistake(
        "lm-own-head",
        edit(START, START + "\n        self.head = nn.Linear(d_model, vocab_size, bias=False)"),
        edit(LOGITS, "return self.head(self.norm(x))"),
        forms=[
            [
                edit(START, START + f"\n        self.{name} = nn.Linear(d_model, vocab_size, bias=False)"),
                edit(LOGITS, f"return self.{name}(self.norm(x))"),
            ]
            for name in ("lm_head", "output", "out")
        ],
        says="the logits come from a matrix of their own instead of the embedding's",
        asks="How many parameters has your model, and which of them have one row per token?",
        kind="different",
    ),
    mistake(
        "lm-head-bias",
        edit(START, START + "\n        self.bias = nn.Parameter(torch.zeros(vocab_size))"),
        edit(LOGITS, LOGITS + " + self.bias"),
        forms=[
            [
                edit(START, START + f"\n        self.{name} = nn.Parameter(torch.zeros(vocab_size))"),
                edit(LOGITS, LOGITS + f" + self.{name}"),
            ]
            for name in ("head_bias", "output_bias")
        ],
        says="the logits get a bias",
        asks="What is added to the product of the vectors and the embedding?",
    ),
    mistake(
        "lm-head-detached",
        edit(LOGITS, "return self.norm(x) @ self.embedding.weight.T.detach()"),
        says="no gradient flows from the logits to the embedding's matrix",
        asks="In how many places does the matrix take part, and from how many does it get a gradient?",
    ),
    mistake(
        "lm-inputs-detached",
        edit(EMBED, "x = self.embedding(tokens).detach()"),
        says="no gradient flows from the inputs to the embedding's matrix",
        asks="In how many places does the matrix take part, and from how many does it get a gradient?",
    ),
    mistake(
        "lm-embedding-scaled",
        edit(EMBED, "x = self.embedding(tokens) * self.embedding.embedding_dim**0.5"),
        says="the embedding is multiplied by the root of its size, as in the first Transformer",
        asks="What does the first block read for token 0, compared with the first row of the embedding?",
        kind="different",
    ),
    mistake(
        "lm-logits-scaled",
        edit(LOGITS, LOGITS + " / self.embedding.embedding_dim**0.5"),
        says="the logits are divided by the root of the size of the model",
        asks="Which factor stands before the product of the vectors and the embedding?",
    ),
    mistake(
        "lm-probabilities",
        edit(LOGITS, "return (self.norm(x) @ self.embedding.weight.T).softmax(-1)"),
        says="probabilities are returned instead of logits",
        asks="What does the cross-entropy do with its input first?",
    ),
    mistake(
        "lm-log-probabilities",
        edit(LOGITS, "return (self.norm(x) @ self.embedding.weight.T).log_softmax(-1)"),
        says="logarithms of probabilities are returned instead of logits",
        asks="Do your logits add up to anything, after the exponential?",
        kind="different",
    ),
    mistake(
        "lm-last-only",
        edit(LOGITS, "return self.norm(x[:, -1:]) @ self.embedding.weight.T"),
        says="there are logits for the last token only",
        asks="How many predictions does a text of seven tokens give in training?",
    ),
    mistake(
        "lm-start-default",
        edit(START, "pass"),
        says="the embedding starts as PyTorch makes it, with deviation 1, which is far too large for a matrix that also makes the logits",
        asks="How large is the loss of a new model, and how large is that of guessing?",
    ),
    mistake(
        "lm-start-root",
        edit(START, "nn.init.normal_(self.embedding.weight, std=d_model**-0.5)"),
        says="the embedding starts with a deviation of one over the root of its size, which is too large for a matrix that also makes the logits",
        asks="How large is the loss of a new model, and how large is that of guessing?",
    ),
    mistake(
        "lm-start-zero",
        edit(START, "nn.init.zeros_(self.embedding.weight)"),
        says="the embedding starts with zeros, so all logits are zero and so is every gradient",
        asks="Which gradient does a row of the embedding get, if all rows are zero?",
    ),
    mistake(
        "lm-one-block",
        edit(
            BLOCKS,
            "self.blocks = nn.ModuleList([LanguageModelBlock(d_model, num_heads, num_kv_heads)] * num_layers)",
        ),
        says="all blocks are one block with one set of weights",
        asks="How many parameters should three blocks have?",
    ),
    mistake(
        "lm-first-block-again",
        edit("x = block(x, ", "x = self.blocks[0](x, "),
        says="the first block is applied again and again, and the others never",
        asks="Which gradient does the second block get?",
    ),
    mistake(
        "lm-one-block-less",
        edit(LOOP, "for i, block in enumerate(self.blocks[:-1]):"),
        says="the last block is left out",
        asks="Which gradient does the last block get?",
    ),
    mistake(
        "lm-blocks-backwards",
        edit(LOOP, "for i, block in reversed(list(enumerate(self.blocks))):"),
        says="the blocks are applied in reverse order",
        asks="Which block reads the embedding?",
    ),
    mistake(
        "lm-blocks-side-by-side",
        edit(LOOP, "begin = x\n        " + LOOP),
        edit(CALL, "x = x + block(begin, caches[i] if caches else None) - begin"),
        says="every block reads the embedding instead of the result of the block before",
        asks="What does the second block read?",
    ),
    mistake(
        "lm-embedding-added-again",
        edit(LOOP, "begin = x\n        " + LOOP),
        edit(CALL, "x = begin + block(x, caches[i] if caches else None)"),
        says="the embedding is added again after every block",
        asks="What does a block return if its output layers are zero, and what do you add to that?",
    ),
    mistake(
        "lm-one-cache",
        edit("caches[i] if caches", "caches[0] if caches"),
        says="all blocks use the first cache",
        asks="What is the length of the first cache after a text of four tokens, with three blocks?",
    ),
    mistake(
        "lm-caches-not-passed",
        edit(CALL, "x = block(x)"),
        says="the caches are not passed to the blocks",
        asks="Which earlier tokens does the second call see?",
    ),
    mistake(
        "lm-first-cache-only",
        edit("caches[i] if caches else None", "caches[i] if caches and i == 0 else None"),
        says="only the first block gets its cache",
        asks="Which earlier steps does the second block see in a later call?",
    ),
    mistake(
        "lm-last-block-without-cache",
        edit("caches[i] if caches else None", "caches[i] if caches and i < len(self.blocks) - 1 else None"),
        says="the last block does not get its cache",
        asks="Which earlier steps does the last block see in a later call?",
    ),
    mistake(
        "lm-positions-added",
        edit(
            EMBED,
            EMBED.replace("  # (B, T, D)", "")
            + "\n        at = torch.arange(before, before + tokens.shape[1], device=x.device)[:, None]\n"
            "        angle = at / 10000 ** (torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1])\n"
            "        x = x + torch.stack((angle.sin(), angle.cos()), -1).flatten(-2).to(x)",
        ),
        says="positions are added to the embedding, although the blocks know them already",
        asks="Where does your model use the positions?",
    ),
    mistake(
        "lm-any-length",
        edit(TOO_LONG, "if False:"),
        says="more steps than max_len raise no ValueError",
        asks="What happens to a text that is longer than max_len?",
    ),
    mistake(
        "lm-length-of-call",
        edit(TOO_LONG, "if tokens.shape[1] > self.max_len:"),
        says="only the new tokens are compared with max_len, not those in the caches",
        asks="How long may a piece be if five of eleven steps are stored?",
    ),
    mistake(
        "lm-length-one-less",
        edit(TOO_LONG, "if before + tokens.shape[1] >= self.max_len:"),
        says="a text of exactly max_len steps is refused",
        asks="How many steps does a model for eleven steps take?",
    ),
    mistake(
        "lm-no-num-layers",
        edit("self.num_layers, self.max_len = num_layers, max_len", "self.max_len = max_len"),
        says="there is no attribute num_layers, which writing needs",
        asks="How does a loop that writes know how many caches your model needs?",
    ),
    mistake(
        "lm-key-heads-not-passed",
        edit(
            "LanguageModelBlock(d_model, num_heads, num_kv_heads)",
            "LanguageModelBlock(d_model, num_heads, num_heads)",
        ),
        says="the number of key heads is not passed on",
        asks="How many key heads do your blocks have?",
    ),
    mistake(
        "lm-padding",
        edit("nn.Embedding(vocab_size, d_model)", "nn.Embedding(vocab_size, d_model, padding_idx=0)"),
        says="token 0 is treated as padding: it gets no gradient as an input",
        asks="What is token 0 in this text?",
    ),
    mistake(
        "lm-no-blocks-without-caches",
        edit(LOOP, "for i, block in list(enumerate(self.blocks))[: len(caches or ())]:"),
        says="without caches no block is applied",
        asks="How often does your loop run if there are no caches?",
    ),
    mistake(
        "lm-residual-around-blocks",
        edit(CALL, CALL.replace("x = ", "x = x + ")),
        says="x is added to what each block returns, although the block adds it already",
        asks="What does a block return if its output layers are zero, and what do you add to that?",
    ),
    mistake(
        "lm-norm-in-front-too",
        edit(EMBED, "x = self.norm(self.embedding(tokens))"),
        says="the last norm is also applied to the embedding, before the first block",
        asks="What does the first block read: the embedding, or its norm?",
    ),
    mistake(
        "lm-assertion",
        edit(TOO_LONG, "assert before + tokens.shape[1] <= self.max_len\n        " + TOO_LONG),
        says="more steps than max_len raise an AssertionError instead of a ValueError",
        asks="Which exception does the description ask for?",
    ),
    mistake(
        "lm-own-caches-kept",
        edit(
            BEFORE,
            "self.kept = getattr(self, 'kept', None) or [KVCache(self.max_len) for _ in self.blocks]\n"
            "        caches = caches or self.kept\n        " + BEFORE,
        ),
        says="a call without caches continues the call before",
        asks="What should a second call without caches see of the first one?",
    ),
]
