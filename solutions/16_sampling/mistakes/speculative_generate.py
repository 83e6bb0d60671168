"""Known mistakes in speculative_generate; their pages are in speculative_generate.md."""

from grader.authoring import edit, mistake

GUESS = "text = torch.cat([text, sample_token(rows[-1], uniform())[None]])"
ROW = "rows.append(draft(text)[-1])  # (V,)"
TARGET = "target_probs = target(text)[len(tokens) - 1 :]"
ACCEPT = "u_accept = target_probs.new_tensor([uniform() for _ in rows])"
VERIFY = "new = verify_draft(target_probs, torch.stack(rows), guesses, u_accept, uniform())"
JOIN = "tokens = torch.cat([tokens, new])"
RETURN = "return tokens[: len(prompt) + max_new_tokens]"
LOOP = "while len(tokens) < len(prompt) + max_new_tokens:"

MISTAKES = [
    mistake(
        "spec-too-long",
        edit(RETURN, "return tokens"),
        says="the last round may give more tokens than were asked for, and they are all returned",
        asks="How many tokens should the result have if one is missing and a round gives four?",
    ),
    mistake(
        "spec-without-prompt",
        edit(RETURN, "return tokens[len(prompt) : len(prompt) + max_new_tokens]"),
        says="the new tokens are returned without the prompt",
        asks="How many tokens should the result have?",
        kind="different",
    ),
    mistake(
        "spec-prompt-counts",
        edit(LOOP, "while len(tokens) < max_new_tokens:"),
        edit(RETURN, "return tokens[: max(len(prompt), max_new_tokens)]"),
        says="the prompt is counted as if it were new tokens",
        asks="How many tokens should the result have for three tokens of prompt and seven new ones?",
    ),
    mistake(
        "spec-one-round",
        edit(LOOP, "for _round in range(min(1, max_new_tokens)):"),
        says="there is only one round",
        asks="How many tokens does one round give at most?",
    ),
    mistake(
        "spec-round-for-each-token",
        edit(LOOP, "for _round in range(max_new_tokens):"),
        says="there are as many rounds as new tokens, although a round may give several",
        asks="How often do you call the target if both models are equal?",
    ),
    mistake(
        "spec-one-token-more",
        edit(LOOP, "while len(tokens) < len(prompt) + max_new_tokens + 1:"),
        edit(RETURN, "return tokens[: len(prompt) + max_new_tokens + 1]"),
        says="there is one new token too many",
        asks="How many tokens should the result have?",
    ),
    mistake(
        "spec-at-least-one-round",
        edit(LOOP, "while len(tokens) < len(prompt) + max_new_tokens or tokens is prompt:"),
        says="the models are called, although no new token was asked for",
        asks="What should happen for no new tokens?",
    ),
    mistake(
        "spec-rows-too-late",
        edit(TARGET, "target_probs = target(text)[len(tokens) :]"),
        edit(VERIFY, "target_probs = torch.cat([target_probs, target_probs[-1:]])\n        " + VERIFY),
        says="the target's rows begin one token too late",
        asks="After which token does the distribution of the first guess stand?",
    ),
    mistake(
        "spec-rows-too-early",
        edit(TARGET, "target_probs = target(text)[max(len(tokens) - 2, 0) :][: num_draft + 1]"),
        says="the target's rows begin one token too early",
        asks="After which token does the distribution of the first guess stand?",
    ),
    mistake(
        "spec-first-rows",
        edit(TARGET, "target_probs = target(text)[: num_draft + 1]"),
        says="the target's first rows are used, which belong to the prompt",
        asks="Which row of the target follows the last token of the prompt?",
    ),
    mistake(
        "spec-target-sees-guesses-only",
        edit(TARGET, "target_probs = target(text[len(tokens) - 1 :])"),
        says="the target sees the guesses without the text before them",
        asks="Which tokens must the target know to judge the first guess?",
    ),
    mistake(
        "spec-target-forgets-prompt",
        edit(TARGET, "target_probs = target(text[len(prompt) - 1 :])[len(tokens) - len(prompt) :]"),
        says="the target does not see the prompt",
        asks="Which tokens must the target know to judge the first guess?",
    ),
    mistake(
        "spec-draft-most-likely",
        edit(GUESS, "text = torch.cat([text, rows[-1].argmax()[None]])"),
        says="the draft's most likely token is guessed, but judged as if it had been drawn",
        asks="How often is each token guessed, and which q does the ratio use?",
    ),
    mistake(
        "spec-one-draw-for-guess-and-verdict",
        edit(ROW, ROW + "\n            draws = [*draws, uniform()] if len(rows) > 1 else [uniform()]"),
        edit(GUESS, "text = torch.cat([text, sample_token(rows[-1], draws[-1])[None]])"),
        edit(ACCEPT, "u_accept = target_probs.new_tensor(draws)"),
        says="the draw that chose a guess also decides whether it is kept",
        asks="Which draws can have led to this guess, and are they all equally likely to keep it?",
    ),
    mistake(
        "spec-one-draw-for-verdict-and-token",
        edit(VERIFY, VERIFY.replace("uniform()", "float(u_accept[-1])")),
        says="the draw of the last verdict also chooses the token after it",
        asks="How many things does each draw decide?",
    ),
    mistake(
        "spec-one-draw-for-guess-and-token",
        edit(ROW, ROW + "\n            drawn = uniform()"),
        edit(GUESS, GUESS.replace("uniform()", "drawn")),
        edit(VERIFY, VERIFY.replace("uniform()", "drawn")),
        says="the draw of the last guess also chooses the token in its place",
        asks="How many things does each draw decide?",
    ),
    mistake(
        "spec-one-verdict-draw",
        edit(ACCEPT, "u_accept = target_probs.new_tensor([uniform()] * len(rows))"),
        says="one draw decides about all guesses of a round",
        asks="How many draws does a round with two guesses need?",
    ),
    mistake(
        "spec-one-draw-for-all-guesses",
        edit("text, rows = tokens, []", "text, rows, drawn = tokens, [], uniform()"),
        edit(GUESS, GUESS.replace("uniform()", "drawn")),
        says="one draw chooses all guesses of a round",
        asks="How many draws does a round with two guesses need?",
    ),
    mistake(
        "spec-own-draws",
        edit(ACCEPT, "u_accept = torch.rand(len(rows), dtype=target_probs.dtype)"),
        edit(GUESS, GUESS.replace("uniform()", "float(torch.rand(()))")),
        edit(VERIFY, VERIFY.replace("uniform()", "float(torch.rand(()))")),
        forms=[
            [edit(ACCEPT, "u_accept = torch.rand(len(rows), dtype=target_probs.dtype)")],
            [
                edit(
                    GUESS,
                    GUESS.replace("sample_token(rows[-1], uniform())", "torch.multinomial(rows[-1], 1)[0]"),
                )
            ],
        ],
        says="random numbers are drawn inside, and not all draws come from `uniform`",
        asks="Do the same draws write the same text twice?",
        kind="different",
    ),
    mistake(
        "spec-all-kept",
        edit(JOIN, "tokens = torch.cat([tokens, guesses, sample_token(target_probs[-1], uniform())[None]])"),
        edit("        " + VERIFY + "\n", ""),
        edit("        " + ACCEPT + "\n", ""),
        says="all guesses are kept without a verdict",
        asks="What does the target say about the guesses?",
    ),
    mistake(
        "spec-rejected-kept",
        edit(JOIN, "tokens = torch.cat([text[: len(tokens) + min(len(new), num_draft)], new[-1:]])"),
        says="a rejected guess is kept, and the token that should replace it follows",
        asks="Which tokens does the text go on with after a rejection?",
    ),
    mistake(
        "spec-last-token-thrown-away",
        edit(JOIN, "tokens = torch.cat([tokens, new[: max(num_draft, 1)]])"),
        says="the extra token after a round in which all guesses are kept is thrown away",
        asks="How many tokens does a call of the target give if all guesses are kept?",
    ),
    mistake(
        "spec-last-token-only-replaces",
        edit(JOIN, "tokens = torch.cat([tokens, new[:-1] if len(new) > 1 else new])"),
        says="the last token of a round is thrown away unless it is the only one",
        asks="How many tokens does a round give at least, and what are they?",
    ),
    mistake(
        "spec-target-call-per-guess",
        edit(
            TARGET,
            "target_probs = torch.stack([target(text[: len(tokens) + i])[-1] for i in range(num_draft + 1)])",
        ),
        says="the target is called once for each guess",
        asks="How many rows does one call of the target give?",
    ),
    mistake(
        "spec-no-draft",
        edit(
            "        text, rows = tokens, []",
            "        tokens = torch.cat([tokens, sample_token(target(tokens)[-1], uniform())[None]])\n"
            "        continue\n"
            "        text, rows = tokens, []",
        ),
        says="the draft is not used: the target writes each token by itself",
        asks="How often do you call the target for seven tokens?",
    ),
    mistake(
        "spec-target-most-likely",
        edit(
            "        text, rows = tokens, []",
            "        tokens = torch.cat([tokens, target(tokens)[-1].argmax()[None]])\n"
            "        continue\n"
            "        text, rows = tokens, []",
        ),
        says="the draft is not used, and the target's most likely token is written",
        asks="Where does your code use `uniform`?",
    ),
    mistake(
        "spec-guesses-from-one-row",
        edit(ROW, "rows.append(draft(text)[-1])\n            row = rows[0]"),
        edit(GUESS, GUESS.replace("rows[-1]", "row")),
        says="all guesses are drawn from the draft's first row, but judged by the row of their place",
        asks="Which distribution was the second guess drawn from, and which q does its ratio use?",
    ),
    mistake(
        "spec-draft-rows-too-late",
        edit(
            VERIFY,
            "rows = [*rows[1:], draft(text)[-1]]\n        " + VERIFY,
        ),
        edit(TARGET, TARGET + ".clone()"),
        says="the draft's rows are those after the guesses instead of before them",
        asks="Which distribution was the first guess drawn from?",
    ),
    mistake(
        "spec-text-with-guesses-kept",
        edit("text, rows = tokens, []", "text, rows = (tokens if tokens is prompt else kept), []"),
        edit(JOIN, "kept = tokens = torch.cat([text, new[-1:]])"),
        edit(TARGET, "start = len(text) - num_draft\n        target_probs = target(text)[start - 1 :]"),
        edit("guesses = text[len(tokens) :]", "guesses = text[start:]"),
        says="a rejected guess is kept, and the token that should replace it follows",
        asks="Which tokens does the text go on with after a rejection?",
    ),
    mistake(
        "spec-draft-wins",
        edit(
            VERIFY,
            VERIFY.replace(
                "target_probs, torch.stack(rows)",
                "torch.cat([torch.stack(rows), target_probs[-1:]]), target_probs[:-1]",
            ),
        ),
        says="the draft judges the target: the two distributions are swapped",
        asks="Which of the two laws should the text have?",
    ),
]
