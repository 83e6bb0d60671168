"""Known mistakes in generate; their pages are in generate.md."""

from grader.authoring import edit, mistake

CACHES = "caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]"
WIDE = edit(CACHES, CACHES.replace("(P + max_new_tokens)", "((P + max_new_tokens) ** 2)"))
WHOLE = edit("logits = model(new, caches)", "logits = model(tokens, caches)")
WHOLE_IN_PIECES = edit(
    "            logits = model(new, caches)",
    "            for piece in tokens.split(chunk_size or P + step + 1, dim=1):\n"
    "                logits = model(piece, caches)",
)
LOOP = "for piece in prompt.split(chunk_size or P, dim=1):"

MISTAKES = [
    mistake(
        "gen-one-cache",
        edit(CACHES, "caches = [KVCache(P + max_new_tokens)] * model.num_layers"),
        forms=[
            [edit(CACHES, "caches = [KVCache(model.num_layers * (P + max_new_tokens))] * model.num_layers")]
        ],
        says="all layers share one cache",
        asks="How many caches does your list hold, and how many entries?",
    ),
    mistake(
        "gen-whole-text-again",
        WHOLE,
        forms=[[WIDE, WHOLE], [WHOLE_IN_PIECES], [WIDE, WHOLE_IN_PIECES]],
        says="each new token is fed together with the whole text before it, which the caches already hold",
        asks="Which tokens are in the caches before the second new token is chosen?",
    ),
    mistake(
        "gen-remainder-dropped",
        edit(LOOP, "for piece in prompt[:, : P - P % (chunk_size or P) or P].split(chunk_size or P, dim=1):"),
        says="the last, shorter chunk of the prompt is left out",
        asks="How many tokens does the model see of a prompt of seven in chunks of three?",
    ),
    mistake(
        "gen-chunk-ignored",
        edit(LOOP, "for piece in prompt.split(P, dim=1):"),
        says="the chunk size is ignored",
        asks="How many tokens does the first call get?",
    ),
    mistake(
        "gen-one-call-too-many",
        edit(
            "        if step < max_new_tokens - 1:\n            logits = model(new, caches)",
            "        logits = model(new, caches)",
        ),
        says="the last new token is fed to the model, although nothing follows it",
        asks="What do you do with the logits after the last new token?",
    ),
    mistake(
        "gen-first-token",
        edit("logits[:, -1:]", "logits[:, :1]"),
        says="the next token is chosen after the first token of a call instead of the last",
        asks="After which token of the prompt should the first new token be chosen?",
    ),
    mistake(
        "gen-least-likely",
        edit(".argmax(-1)", ".argmin(-1)"),
        says="the least likely token is chosen",
        asks="Which logit belongs to the token that you choose?",
    ),
    mistake(
        "gen-without-prompt",
        edit("    return tokens\n", "    return tokens[:, P:]\n"),
        edit("        return prompt\n", "        return prompt[:, P:]\n"),
        says="the new tokens are returned without the prompt",
        asks="How many tokens should the result have?",
        kind="different",
    ),
    mistake(
        "gen-one-token-less",
        edit("for step in range(max_new_tokens):", "for step in range(max_new_tokens - 1):"),
        says="one new token is missing",
        asks="How many tokens should the result have?",
    ),
    mistake(
        "gen-one-token-more",
        edit("for step in range(max_new_tokens):", "for step in range(max_new_tokens + 1):"),
        edit("KVCache(P + max_new_tokens)", "KVCache(P + max_new_tokens + 2)"),
        edit("if step < max_new_tokens - 1:", "if step < max_new_tokens:"),
        says="there is one new token too many",
        asks="How many tokens should the result have?",
    ),
    mistake(
        "gen-caches-too-small",
        edit("KVCache(P + max_new_tokens)", "KVCache(P)"),
        says="the caches have room for the prompt only",
        asks="How many steps must a cache hold at the end?",
    ),
    mistake(
        "gen-caches-kept",
        edit(
            CACHES,
            "caches = model.__dict__.setdefault('kept', [KVCache(1000) for _ in range(model.num_layers)])",
        ),
        says="a new prompt continues in the caches of the one before",
        asks="What is in the caches when a new prompt begins?",
    ),
    mistake(
        "gen-last-chunk-only",
        edit(LOOP, "for piece in prompt.split(chunk_size or P, dim=1)[-1:]:"),
        says="only the last chunk of the prompt is read",
        asks="Which tokens does the model see before the first new token?",
    ),
    mistake(
        "gen-fresh-caches",
        edit(
            "logits = model(new, caches)",
            "logits = model(tokens, [KVCache(P + max_new_tokens) for _ in range(model.num_layers)])",
        ),
        forms=[
            [
                edit(
                    "            logits = model(new, caches)",
                    "            caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]\n"
                    "            for piece in tokens.split(chunk_size or P + step + 1, dim=1):\n"
                    "                logits = model(piece, caches)",
                )
            ]
        ],
        says="each step begins with empty caches and reads the whole text again",
        asks="What do the caches save you if they are empty in every step?",
    ),
    mistake(
        "gen-at-least-one",
        edit(
            "    if max_new_tokens == 0:\n        return prompt\n",
            "    max_new_tokens = max(max_new_tokens, 1)\n",
        ),
        says="at least one new token is written, also if none was asked for",
        asks="What should the function return for no new tokens?",
    ),
    mistake(
        "gen-mode-changed",
        edit("    P = prompt.shape[1]\n", "    P = prompt.shape[1]\n    model.eval()\n"),
        says="the model is left in another mode than it was",
        asks="In which mode is the model after the call?",
    ),
    mistake(
        "gen-prompt-end-twice",
        edit(CACHES, CACHES.replace("max_new_tokens", "max_new_tokens + 1")),
        edit(
            "    for step in range(max_new_tokens):",
            "    logits = model(prompt[:, -1:], caches)\n    for step in range(max_new_tokens):",
        ),
        says="the last token of the prompt is fed twice",
        asks="Which logits choose the first new token, and do you have them already?",
    ),
]
