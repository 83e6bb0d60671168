"""Known mistakes in write_text; their pages are in write_text.md."""

from grader.authoring import edit, mistake

CACHES = "caches = [KVCache(P + max_new_tokens) for _ in range(model.num_layers)]"
LOGITS = "logits = model(new, caches)[:, -1]  # (B, V)"
KEPT = "kept = top_k_top_p_filtering(logits / temperature, top_k=top_k, top_p=top_p)"
DRAWS = "draws = torch.tensor([uniform() for _ in range(B)], dtype=torch.float64, device=kept.device)"
CHOSEN = "chosen = sample_token(kept.softmax(-1), draws)"
GREEDY = "if temperature == 0:"

MISTAKES = [
    mistake(
        "wt-temperature-multiplied",
        edit("logits / temperature", "logits * temperature"),
        says="logits are multiplied by the temperature instead of divided",
        asks="Does a high temperature make your text wilder or tamer?",
    ),
    mistake(
        "wt-temperature-ignored",
        edit("logits / temperature", "logits"),
        says="the temperature changes nothing",
        asks="Where does your code use the temperature: on logits, or on something that is made to add up to one afterwards?",
    ),
    mistake(
        "wt-temperature-after-cut",
        edit(KEPT, "kept = top_k_top_p_filtering(logits, top_k=top_k, top_p=top_p) / temperature"),
        says="the temperature comes after the cut, so the cut sees another distribution",
        asks="At temperature 2, how much mass do the best two tokens have when you cut?",
    ),
    mistake(
        "wt-no-cut",
        edit(KEPT, "kept = logits / temperature"),
        says="top_k and top_p are ignored",
        asks="Which tokens can your code choose with top_k 1?",
    ),
    mistake(
        "wt-no-top-k",
        edit("top_k=top_k, ", ""),
        says="top_k is ignored",
        asks="Which tokens can your code choose with top_k 1?",
    ),
    mistake(
        "wt-no-top-p",
        edit(", top_p=top_p)", ")"),
        says="top_p is ignored",
        asks="Which tokens can your code choose with a tiny top_p?",
    ),
    mistake(
        "wt-top-p-first",
        edit(
            KEPT,
            "kept = top_k_top_p_filtering(logits / temperature, top_p=top_p)\n"
            "                kept = top_k_top_p_filtering(kept, top_k=top_k)",
        ),
        says="top_p cuts before top_k",
        asks="On which distribution does top_p measure its mass: on all tokens, or on the best k?",
        kind="different",
    ),
    mistake(
        "wt-no-softmax",
        edit("kept.softmax(-1)", "kept"),
        says="logits are drawn from as if they were probabilities",
        asks="Do the numbers that you draw from add up to one?",
    ),
    mistake(
        "wt-one-draw-a-batch",
        edit(DRAWS, "draws = torch.full((B,), uniform(), dtype=torch.float64, device=kept.device)"),
        says="one draw serves all rows",
        asks="How many draws do two rows and three new tokens need?",
    ),
    mistake(
        "wt-rows-backwards",
        edit("[uniform() for _ in range(B)]", "[uniform() for _ in range(B)][::-1]"),
        says="the draws go to the rows in reverse order",
        asks="Which row gets the first draw?",
    ),
    mistake(
        "wt-row-after-row",
        edit(
            "caches = [",
            "line = [uniform() for _ in range(B * max_new_tokens)] if temperature else []\n    caches = [",
        ),
        edit("for _ in range(max_new_tokens):", "for at in range(max_new_tokens):"),
        edit("[uniform() for _ in range(B)]", "line[at::max_new_tokens]"),
        says="the first row gets its draws for all tokens before the second row gets any",
        asks="Which row gets the second draw?",
    ),
    mistake(
        "wt-draws-of-torch",
        edit("[uniform() for _ in range(B)]", "[0.5 for _ in range(B)]"),
        says="the draws that are passed are not used",
        asks="Where do your random numbers come from?",
    ),
    mistake(
        "wt-one-minus-draw",
        edit("[uniform() for _ in range(B)]", "[1 - uniform() for _ in range(B)]"),
        says="one minus the draw takes the place of the draw",
        asks="Which token does a draw of 0 choose?",
        kind="different",
    ),
    mistake(
        "wt-greedy-always",
        edit(CHOSEN, "chosen = kept.argmax(-1)"),
        says="the most likely token is chosen at every temperature",
        asks="Where does your code use the draws?",
    ),
    mistake(
        "wt-greedy-draws",
        edit(GREEDY, "if temperature == 0 and [uniform() for _ in range(B)]:"),
        says="draws are taken at temperature 0, although nothing is drawn",
        asks="How many draws does greedy decoding need?",
    ),
    mistake(
        "wt-temperature-zero-divides",
        edit(GREEDY, "if False:"),
        says="at temperature 0 logits are divided by zero",
        asks="What does your code divide by at temperature 0?",
    ),
    mistake(
        "wt-greedy-at-one",
        edit(GREEDY, "if temperature == 1:"),
        edit("logits / temperature", "logits / max(temperature, 0.001)"),
        says="the most likely token is chosen at temperature 1 instead of 0",
        asks="Which temperature leaves the distribution as it is?",
    ),
    mistake(
        "wt-first-token",
        edit("model(new, caches)[:, -1]", "model(new, caches)[:, 0]"),
        says="the next token is chosen after the first token of a call instead of the last",
        asks="After which token of the prompt should the first new token be chosen?",
    ),
    mistake(
        "wt-one-cache",
        edit(CACHES, "caches = [KVCache(model.num_layers * (P + max_new_tokens))] * model.num_layers"),
        says="all layers share one cache",
        asks="How many caches does your list hold, and how many entries?",
    ),
    mistake(
        "wt-caches-kept",
        edit(
            CACHES,
            "caches = vars(model).setdefault('kept', [KVCache(1000) for _ in range(model.num_layers)])",
        ),
        says="the caches are kept for the next prompt",
        asks="What should a second prompt see of the first one?",
    ),
    mistake(
        "wt-caches-too-small",
        edit("KVCache(P + max_new_tokens)", "KVCache(P)"),
        says="the caches have room for the prompt only",
        asks="How many steps do the caches hold at the end?",
    ),
    mistake(
        "wt-whole-text-again",
        edit("KVCache(P + max_new_tokens)", "KVCache((P + max_new_tokens) ** 2)"),
        edit("model(new, caches)", "model(tokens, caches)"),
        says="each new token is fed together with the whole text before it, which the caches already hold",
        asks="Which tokens are in the caches before the second new token is chosen?",
    ),
    mistake(
        "wt-new-caches-each-step",
        edit(LOGITS, CACHES + "\n            logits = model(tokens, caches)[:, -1]"),
        says="every step begins with new caches and reads the whole text again",
        asks="How many tokens is the model fed for a prompt of three and five new tokens?",
    ),
    mistake(
        "wt-no-context",
        edit(LOGITS, CACHES + "\n            logits = model(new, caches)[:, -1]"),
        says="every step begins with new caches, so the model forgets what it wrote",
        asks="What does the model know of the prompt when it chooses the second new token?",
    ),
    mistake(
        "wt-one-call-too-many",
        edit("    return tokens\n", "        model(new, caches)\n    return tokens\n"),
        says="the last new token is fed to the model, although nothing follows it",
        asks="What do you do with the logits after the last new token?",
    ),
    mistake(
        "wt-gradients-recorded",
        edit("with torch.no_grad():", "with torch.enable_grad():"),
        says="gradients are recorded while text is written",
        asks="Who needs a gradient of a text?",
    ),
    mistake(
        "wt-without-prompt",
        edit("    return tokens\n", "    return tokens[:, P:]\n"),
        says="the new tokens are returned without the prompt",
        asks="How many tokens should the result have?",
        kind="different",
    ),
    mistake(
        "wt-one-token-less",
        edit("for _ in range(max_new_tokens):", "for _ in range(max_new_tokens - 1):"),
        says="one new token is missing",
        asks="How many tokens should the result have?",
    ),
    mistake(
        "wt-one-token-more",
        edit("for _ in range(max_new_tokens):", "for _ in range(max_new_tokens + 1):"),
        edit("KVCache(P + max_new_tokens)", "KVCache(P + max_new_tokens + 1)"),
        says="there is one new token too many",
        asks="How many tokens should the result have?",
    ),
    mistake(
        "wt-up-to-length",
        edit("for _ in range(max_new_tokens):", "for _ in range(max_new_tokens - P):"),
        says="the number of new tokens is taken as the length of the whole text",
        asks="How many tokens should the result have?",
    ),
    mistake(
        "wt-stops-at-line-break",
        edit(
            "    return tokens\n",
            "            if (new == 0).all():\n                break\n    return tokens\n",
        ),
        edit("tokens = torch.cat([tokens, new], dim=1)\n", "tokens = torch.cat([tokens, new], dim=1)\n"),
        says="writing stops at a line break",
        asks="How many tokens should the result have?",
    ),
    mistake(
        "wt-evaluation-mode",
        edit("with torch.no_grad():", "model.eval()\n    with torch.no_grad():"),
        says="the model is left in evaluation mode",
        asks="In which mode was the model when you got it?",
    ),
    mistake(
        "wt-training-mode",
        edit("    return tokens\n", "    model.train()\n    return tokens\n"),
        says="the model is left in training mode, whatever it was before",
        asks="In which mode was the model when you got it?",
    ),
    mistake(
        "wt-prompt-changed",
        edit("    return tokens\n", "    prompt[:, -1] = new[:, 0]\n    return tokens\n"),
        says="the prompt is overwritten",
        asks="Who else needs the prompt that your function got?",
    ),
    mistake(
        "wt-same-token-for-all",
        edit("new = chosen[:, None]  # (B, 1)", "new = chosen[:1, None].expand(B, 1)"),
        says="all rows get the token of the first row",
        asks="How many tokens are chosen for two rows in one step?",
    ),
    mistake(
        "wt-least-likely",
        edit("logits.argmax(-1)", "logits.argmin(-1)"),
        says="at temperature 0 the least likely token is chosen",
        asks="Which logit belongs to the token that you choose?",
    ),
    mistake(
        "wt-probabilities-cut",
        edit(
            KEPT,
            "kept = top_k_top_p_filtering((logits / temperature).softmax(-1), top_k=top_k, top_p=top_p)",
        ),
        edit("kept.softmax(-1)", "kept.clamp(min=0) / kept.clamp(min=0).sum(-1, keepdim=True)"),
        says="probabilities are cut as if they were logits, so the mass is measured on another distribution",
        asks="What does the function of lesson 16 do with its input first?",
    ),
    mistake(
        "wt-at-least-one",
        edit("for _ in range(max_new_tokens):", "for _ in range(max(max_new_tokens, 1)):"),
        edit("KVCache(P + max_new_tokens)", "KVCache(P + max(max_new_tokens, 1))"),
        says="there is a new token even if none is asked for",
        asks="What should come back for no new tokens?",
    ),
    mistake(
        "wt-prompt-read-twice",
        edit("KVCache(P + max_new_tokens)", "KVCache(P + max_new_tokens + 1)"),
        edit(
            "    with torch.no_grad():\n",
            "    with torch.no_grad():\n        model(prompt, caches)\n        new = prompt[:, -1:]\n",
        ),
        says="the last token of the prompt is fed twice",
        asks="Which tokens are in the caches after the prompt, and which token do you feed next?",
    ),
    mistake(
        "wt-stops-at-empty-line",
        edit(
            "    return tokens\n",
            "            if (tokens[:, -2:] == 0).all():\n                break\n    return tokens\n",
        ),
        says="writing stops at an empty line",
        asks="How many tokens should the result have?",
        kind="different",
    ),
]
