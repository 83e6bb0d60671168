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

# The same, without `verify_draft`: draws are made when they are needed.
LAZY = """
def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
    tokens, end = prompt, len(prompt) + max_new_tokens
    while len(tokens) < end:
        n, text, q = len(tokens), tokens, []
        for _ in range(num_draft):
            q.append(draft(text)[-1])
            text = torch.cat([text, sample_token(q[-1], uniform())[None]])
        p = target(text)[n - 1 :]
        for i in range(num_draft):
            x = text[n + i]
            if uniform() >= p[i, x] / q[i][x]:
                rest = (p[i] - q[i]).clamp(min=0)
                tokens = torch.cat([text[: n + i], sample_token(rest / rest.sum(), uniform())[None]])
                break
        else:
            tokens = torch.cat([text, sample_token(p[-1], uniform())[None]])
    return tokens[:end]
"""


def lazily(*changes: tuple[str, str]) -> list[str]:
    """Return LAZY with each pair's first text replaced by its second."""
    code = LAZY
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return [code]


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
        forms=[lazily(("while len(tokens) < end:", "for _round in range(max_new_tokens):"))],
        says="there are as many rounds as new tokens, although a round may give several",
        asks="How often do you call the target if both models are equal?",
    ),
    mistake(
        "spec-one-token-more",
        edit(LOOP, "while len(tokens) < len(prompt) + max_new_tokens + 1:"),
        edit(RETURN, "return tokens[: len(prompt) + max_new_tokens + 1]"),
        forms=[lazily(("+ max_new_tokens\n", "+ max_new_tokens + 1\n"))],
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
        forms=[lazily(("target(text)[n - 1 :]", "target(text)[-num_draft:]"))],
        says="the target's rows begin one token too late",
        asks="After which token does the distribution of the first guess stand?",
    ),
    mistake(
        "spec-rows-too-early",
        edit(TARGET, "target_probs = target(text)[max(len(tokens) - 2, 0) :][: num_draft + 1]"),
        forms=[lazily(("target(text)[n - 1 :]", "target(text)[max(n - 2, 0) :][: num_draft + 1]"))],
        says="the target's rows begin one token too early",
        asks="After which token does the distribution of the first guess stand?",
    ),
    mistake(
        "spec-first-rows",
        edit(TARGET, "target_probs = target(text)[: num_draft + 1]"),
        forms=[lazily(("target(text)[n - 1 :]", "target(text)[: num_draft + 1]"))],
        says="the target's first rows are used, which belong to the prompt",
        asks="Which row of the target follows the last token of the prompt?",
    ),
    mistake(
        "spec-target-sees-guesses-only",
        edit(TARGET, "target_probs = target(text[len(tokens) - 1 :])"),
        forms=[lazily(("target(text)[n - 1 :]", "target(text[n - 1 :])"))],
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
        forms=[
            lazily(
                ("p = target(text)[n - 1 :]", "q, p = draft(text)[n:], target(text)[n - 1 :]"),
                (
                    "(min=0)\n",
                    "(min=0)\n                rest = rest if rest.any() else torch.ones_like(rest)\n",
                ),
            )
        ],
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
    mistake(
        "spec-greedy-verdicts",
        *lazily(
            ("if uniform() >= p[i, x] / q[i][x]:", "if x != p[i].argmax():"),
            ("sample_token(rest / rest.sum(), uniform())", "p[i].argmax()"),
            ("sample_token(p[-1], uniform())", "p[-1].argmax()"),
        ),
        says="a guess is kept only if it is the target's favourite, and the favourite is written otherwise",
        asks="Where does your code compare p with q?",
    ),
    mistake(
        "spec-from-target-again",
        *lazily(("rest = (p[i] - q[i]).clamp(min=0)", "rest = p[i]")),
        says="after a rejection, the token is drawn from p again",
        asks="How often does a token appear that was often kept already?",
    ),
    mistake(
        "spec-judged-after-rejection",
        *lazily(
            (
                "                tokens = torch.cat([text[: n + i], sample_token(rest / rest.sum(), uniform())[None]])\n"
                "                break\n"
                "        else:\n"
                "            tokens = torch.cat([text, sample_token(p[-1], uniform())[None]])\n",
                "                text[n + i] = sample_token(rest / rest.sum(), uniform())\n"
                "        tokens = torch.cat([text, sample_token(p[-1], uniform())[None]])\n",
            )
        ),
        says="after a rejection the token is replaced, and the later guesses are judged as if nothing had happened",
        asks="Which token did guess 2 follow when the draft wrote it?",
    ),
    mistake(
        "spec-nothing-for-the-rejected",
        edit(JOIN, "tokens = torch.cat([tokens, new if len(new) > num_draft else new[:-1]])"),
        forms=[
            lazily(
                (
                    "tokens = torch.cat([text[: n + i], sample_token(rest / rest.sum(), uniform())[None]])",
                    "tokens = text[: n + i]",
                )
            )
        ],
        says="nothing comes in place of a rejected guess, so a round may give no token at all",
        asks="How many tokens does a round give at least?",
    ),
    mistake(
        "spec-extra-from-draft",
        edit(
            VERIFY,
            "target_probs = torch.cat([target_probs[:-1], draft(text)[-1:]])\n        " + VERIFY,
        ),
        forms=[lazily(("sample_token(p[-1], uniform())", "sample_token(draft(text)[-1], uniform())"))],
        says="if all guesses are kept, the draft writes the extra token",
        asks="Whose law should the extra token have?",
    ),
    mistake(
        "spec-whole-round-or-nothing",
        *lazily(
            (
                "        for i in range(num_draft):\n"
                "            x = text[n + i]\n"
                "            if uniform() >= p[i, x] / q[i][x]:\n",
                "        ratio = 1.0\n"
                "        for i in range(num_draft):\n"
                "            ratio = ratio * p[i, text[n + i]] / q[i][text[n + i]]\n"
                "        for i in [0]:\n"
                "            if uniform() >= ratio:\n",
            ),
            (
                "rest = (p[i] - q[i]).clamp(min=0)\n",
                "rest = (p[i] - q[i]).clamp(min=0)\n                rest = rest if rest.any() else torch.ones_like(rest)\n",
            ),
        ),
        says="all guesses of a round are kept or rejected together, by the product of their ratios",
        asks="What do you know about the first guess if the second one is rejected?",
    ),
    mistake(
        "spec-sure-guesses",
        *lazily(
            ("sample_token(q[-1], uniform())", "q[-1].argmax()"),
            (
                "q.append(draft(text)[-1])\n",
                "row = draft(text)[-1]\n            q.append(torch.nn.functional.one_hot(row.argmax(), len(row)).double())\n",
            ),
        ),
        says="the draft's most likely token is guessed, and judged as certain: the law is right, but equal models reject",
        asks="How often is a guess rejected if both models are equal?",
        kind="different",
    ),
    mistake(
        "spec-guesses-judged-by-one-row",
        edit(ROW, "rows.append(draft(tokens)[-1])"),
        forms=[lazily(("q.append(draft(text)[-1])", "q.append(draft(tokens)[-1])"))],
        says="all guesses of a round come from the same row of the draft: the law is right, but more guesses are rejected",
        asks="Which tokens does the draft see when it writes the second guess?",
    ),
    mistake(
        "spec-fewer-guesses",
        edit("tokens = prompt\n", "tokens, K = prompt, 1\n"),
        edit("for _ in range(num_draft):", "for _ in range(K):"),
        edit(JOIN, JOIN + "\n        K = min(num_draft, K + 2) if len(new) > K else max(1, K - 1)"),
        says="a round has fewer guesses than were asked for: the law is right, but the target is called more often",
        asks="How many guesses does the draft write in the first round?",
        kind="different",
    ),
]
