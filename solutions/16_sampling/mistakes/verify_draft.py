"""Known mistakes in verify_draft; their pages are in verify_draft.md."""

from grader.authoring import edit, mistake

IF = "if u_accept[i] >= p[token] / q[token]:"
REST = "rest = (p - q).clamp(min=0)"
SAMPLE = "last = sample_token(rest / rest.sum(), u_sample)"
REJECTED = "return torch.cat([draft_tokens[:i], last[None]])"
BONUS = "last = sample_token(target_probs[-1], u_sample)"
ALL = "return torch.cat([draft_tokens, last[None]])"
LOOP = "for i, token in enumerate(draft_tokens):"

MISTAKES = [
    mistake(
        "verify-favourite-only",
        edit(IF, "if token != p.argmax():"),
        says="a guess is kept only if it is the target's favourite",
        asks="How often should a guess be kept that the target gives a probability of 0.4 and the draft 0.5?",
    ),
    mistake(
        "verify-kept-if-likelier",
        edit(IF, "if p[token] < q[token]:"),
        says="a guess is kept if the target finds it as likely as the draft does, and otherwise never; the draw is not used",
        asks="Where does your code use `u_accept`?",
    ),
    mistake(
        "verify-all-kept",
        edit(IF, "if False:"),
        says="every guess is kept",
        asks="What happens to a guess that the target never gives?",
    ),
    mistake(
        "verify-none-kept",
        edit(IF, "if True:"),
        says="no guess is kept",
        asks="How often is a guess kept if both models are equal?",
    ),
    mistake(
        "verify-only-possible",
        edit(IF, "if p[token] == 0:"),
        says="a guess is kept whenever the target can give it at all",
        asks="How often should a guess be kept with a ratio p/q of one half?",
    ),
    mistake(
        "verify-target-alone",
        edit(IF, "if u_accept[i] >= p[token]:"),
        says="the draw is compared with p instead of p/q",
        asks="How often is a guess kept if both models are equal?",
    ),
    mistake(
        "verify-ratio-upside-down",
        edit("p[token] / q[token]", "q[token] / p[token]"),
        says="the ratio is upside down: q/p instead of p/q",
        asks="Which guesses should always be kept: those that the target finds likelier, or those that the draft finds likelier?",
    ),
    mistake(
        "verify-draw-inverted",
        edit(IF, "if u_accept[i] < p[token] / q[token]:"),
        says="a guess is kept when it should be rejected, and the other way round",
        asks="For a ratio of 0.9, should a draw of 0.1 keep the guess?",
    ),
    mistake(
        "verify-kept-at-zero",
        edit("u_accept[i] >= p", "u_accept[i] > p"),
        says="a draw that equals the ratio keeps the guess, so a draw of 0 keeps an impossible token",
        asks="Is 0 below a ratio of 0?",
    ),
    mistake(
        "verify-from-target-again",
        edit(REST, "rest = p"),
        says="after a rejection, the token is drawn from p again",
        asks="How often does a token appear that was often kept already?",
    ),
    mistake(
        "verify-rejected-removed-only",
        edit(REST, "rest = p.clone()\n            rest[token] = 0"),
        says="after a rejection, the token is drawn from p without the rejected token",
        asks="What has the draft covered already of the other tokens?",
    ),
    mistake(
        "verify-from-draft",
        edit(REST, "rest = q"),
        says="after a rejection, the token is drawn from the draft",
        asks="Whose law should the text have?",
    ),
    mistake(
        "verify-absolute-rest",
        edit(REST, "rest = (p - q).abs()"),
        says="the rest is |p − q|, which also has what the draft covers too much",
        asks="Which tokens has the draft given too often, and should they appear once more?",
    ),
    mistake(
        "verify-rest-of-draft",
        edit(REST, "rest = (q - p).clamp(min=0)"),
        says="the rest is (q − p)₊ instead of (p − q)₊",
        asks="Which tokens are missing after the guesses that are kept?",
    ),
    mistake(
        "verify-rest-softmax",
        edit("sample_token(rest / rest.sum(), u_sample)", "sample_token(rest.softmax(-1), u_sample)"),
        forms=[
            [edit("sample_token(rest / rest.sum(), u_sample)", "sample_token((p - q).softmax(-1), u_sample)")]
        ],
        says="the rest goes through softmax instead of being divided by its sum",
        asks="Which probability does softmax give a token with a rest of 0?",
    ),
    mistake(
        "verify-rest-not-divided",
        edit("sample_token(rest / rest.sum(), u_sample)", "sample_token(rest, u_sample)"),
        says="the rest is not divided by its sum, so it is no distribution",
        asks="What do the probabilities that you draw from sum to?",
    ),
    mistake(
        "verify-rest-most-likely",
        edit(SAMPLE, "last = rest.argmax()"),
        says="after a rejection, the token with the largest rest is taken instead of a draw",
        asks="Where does your code use `u_sample` after a rejection?",
    ),
    mistake(
        "verify-rejected-kept",
        edit(REJECTED, "return torch.cat([draft_tokens[: i + 1], last[None]])"),
        says="the rejected guess is kept, too",
        asks="How many tokens should come back if the first guess is rejected?",
    ),
    mistake(
        "verify-later-kept",
        edit(
            LOOP,
            """
            ratios = [target_probs[i, x] / draft_probs[i, x] for i, x in enumerate(draft_tokens)]
            kept = torch.stack([u < ratio for u, ratio in zip(u_accept, ratios)])
            if not kept.all():
                i = int((~kept).nonzero()[0])
                rest = (target_probs[i] - draft_probs[i]).clamp(min=0)
                last = sample_token(rest / rest.sum(), u_sample)
                return torch.cat([draft_tokens[kept], last[None]])
            for i, token in enumerate(draft_tokens):
            """,
        ),
        says="guesses after a rejected one are kept",
        asks="Which token did guess 3 follow when the draft wrote it?",
    ),
    mistake(
        "verify-counts-all-kept",
        edit(
            LOOP,
            """
            ratios = torch.stack([target_probs[i, x] / draft_probs[i, x] for i, x in enumerate(draft_tokens)])
            n = int((u_accept < ratios).sum())
            if n < len(draft_tokens):
                rest = (target_probs[n] - draft_probs[n]).clamp(min=0)
                rest = rest if rest.any() else target_probs[n]
                last = sample_token(rest / rest.sum(), u_sample)
                return torch.cat([draft_tokens[:n], last[None]])
            for i, token in enumerate(draft_tokens):
            """,
        ),
        says="all verdicts are counted, also those after the first rejection",
        asks="How many guesses are kept if the verdicts are yes, no, yes?",
    ),
    mistake(
        "verify-rejections-skipped",
        edit(
            REJECTED,
            """
            if i + 1 == len(draft_tokens):
                return torch.cat([draft_tokens[:i], last[None]])
            draft_tokens = torch.cat([draft_tokens[:i], last[None], draft_tokens[i + 1 :]])
            """,
        ),
        forms=[
            [
                edit(
                    REJECTED,
                    "draft_tokens = torch.cat([draft_tokens[:i], last[None], draft_tokens[i + 1 :]])",
                )
            ]
        ],
        says="after a rejection the token is replaced, and the later guesses are judged as if nothing had happened",
        asks="Which token did guess 2 follow when the draft wrote it?",
    ),
    mistake(
        "verify-all-or-none",
        edit(REJECTED, "return torch.cat([draft_tokens[:0], last[None]])"),
        says="after a rejection, the kept guesses before it are thrown away",
        asks="What was wrong with the guesses before the rejected one?",
    ),
    mistake(
        "verify-nothing-for-the-rejected",
        edit(REJECTED, "return draft_tokens[:i]"),
        says="nothing comes in place of a rejected guess",
        asks="How many tokens should come back if the first guess is rejected?",
    ),
    mistake(
        "verify-no-extra-token",
        edit(ALL, "return draft_tokens"),
        says="if all guesses are kept, the extra token is missing",
        asks="How many rows does `target_probs` have, and which one did you not use?",
    ),
    mistake(
        "verify-extra-from-row-before",
        edit(BONUS, "last = sample_token(target_probs[-2], u_sample)"),
        says="if all guesses are kept, the extra token is drawn from the row of the last guess",
        asks="Which row follows the last guess?",
    ),
    mistake(
        "verify-extra-from-rest",
        edit(
            BONUS,
            "rest = (target_probs[-1] - draft_probs[-1]).clamp(min=0)\n    " + SAMPLE,
        ),
        says="if all guesses are kept, the extra token is drawn from a rest, although nothing was rejected",
        asks="What did the draft say at the place of the extra token?",
    ),
    mistake(
        "verify-extra-most-likely",
        edit(BONUS, "last = target_probs[-1].argmax()"),
        says="if all guesses are kept, the extra token is the most likely one instead of a draw",
        asks="Where does your code use `u_sample` if all guesses are kept?",
    ),
    mistake(
        "verify-rest-draft-first-row",
        edit(REST, "rest = (p - draft_probs[0]).clamp(min=0)\n            rest = rest if rest.any() else p"),
        says="the rest is made with the draft's first row, whichever guess is rejected",
        asks="Which row of `draft_probs` belongs to the second guess?",
    ),
    mistake(
        "verify-rest-first-rows",
        edit(
            REST,
            "rest = (target_probs[0] - draft_probs[0]).clamp(min=0)\n            rest = rest if rest.any() else p",
        ),
        says="the rest is made with the first rows, whichever guess is rejected",
        asks="Which rows belong to the second guess?",
    ),
    mistake(
        "verify-rest-last-row",
        edit(
            REST, "rest = (target_probs[-1] - q).clamp(min=0)\n            rest = rest if rest.any() else p"
        ),
        says="the rest is made with the target's last row, whichever guess is rejected",
        asks="Which row of `target_probs` belongs to the rejected guess?",
    ),
    mistake(
        "verify-rest-next-row",
        edit(
            REST,
            "rest = (target_probs[i + 1] - q).clamp(min=0)\n            rest = rest if rest.any() else p",
        ),
        says="the rest is made with the target's next row",
        asks="Which row of `target_probs` belongs to the first guess?",
    ),
    mistake(
        "verify-next-target-row",
        edit("p, q = target_probs[i], draft_probs[i]", "p, q = target_probs[i + 1], draft_probs[i]"),
        edit(REST, REST + "\n            rest = rest if rest.any() else p"),
        says="each guess is judged with the target's next row",
        asks="Which row of `target_probs` is the distribution of the first guess?",
    ),
    mistake(
        "verify-first-draw-for-all",
        edit("u_accept[i]", "u_accept[0]"),
        says="the first draw decides about all guesses",
        asks="How many draws does your code use for three guesses?",
    ),
    mistake(
        "verify-one-draw-for-two",
        edit(SAMPLE, "last = sample_token(rest / rest.sum(), u_accept[i])"),
        says="the draw that rejected the guess also chooses the token in its place",
        asks="Which values can the draw still have once the guess is rejected?",
    ),
    mistake(
        "verify-sample-draw-accepts",
        edit("u_accept[i]", "u_sample"),
        says="`u_sample` decides whether guesses are kept, too",
        asks="How many things does each draw decide?",
    ),
    mistake(
        "verify-product-of-ratios",
        edit(LOOP, "ratio = 1.0\n    " + LOOP),
        edit(IF, "ratio = ratio * p[token] / q[token]\n        if u_accept[i] >= ratio:"),
        says="the ratios of all guesses so far are multiplied",
        asks="What do the earlier guesses say about the next one, once they are kept?",
    ),
    mistake(
        "verify-product-of-bounded-ratios",
        edit(LOOP, "ratio = 1.0\n    " + LOOP),
        edit(IF, "ratio = ratio * min(1.0, p[token] / q[token])\n        if u_accept[i] >= ratio:"),
        says="the probabilities to be kept of all guesses so far are multiplied",
        asks="What do the earlier guesses say about the next one, once they are kept?",
    ),
    mistake(
        "verify-accept-from-the-end",
        edit("u_accept[i] >= p", "1 - u_accept[i] > p"),
        says="1 − u is used for the draws that keep: the law is right, but other draws keep",
        asks="Should a small draw keep the guess, or a large one?",
        kind="different",
    ),
    mistake(
        "verify-sample-from-the-end",
        edit(SAMPLE, "last = sample_token(rest / rest.sum(), 1 - 2**-30 - u_sample)"),
        edit(BONUS, "last = sample_token(target_probs[-1], 1 - 2**-30 - u_sample)"),
        says="1 − u is used for the draw of the last token: the law is right, but other draws choose",
        asks="Which token should a draw near 0 choose?",
        kind="different",
    ),
    mistake(
        "verify-both-from-the-end",
        edit("u_accept[i] >= p", "1 - u_accept[i] > p"),
        edit(SAMPLE, "last = sample_token(rest / rest.sum(), 1 - 2**-30 - u_sample)"),
        edit(BONUS, "last = sample_token(target_probs[-1], 1 - 2**-30 - u_sample)"),
        says="1 − u is used for all draws: the law is right, but other draws keep and choose",
        asks="Which token should a draw near 0 choose?",
        kind="different",
    ),
    mistake(
        "verify-own-draws",
        edit("u_accept[i] >=", "torch.rand(()) >="),
        says="new random numbers are drawn inside to keep a guess, and `u_accept` is not used",
        asks="Do the same draws give the same tokens twice?",
        kind="different",
    ),
    mistake(
        "verify-own-last-draw",
        edit("sample_token(rest / rest.sum(), u_sample)", "torch.multinomial(rest / rest.sum(), 1)[0]"),
        edit("sample_token(target_probs[-1], u_sample)", "torch.multinomial(target_probs[-1], 1)[0]"),
        forms=[
            [
                edit("u_accept[i] >=", "torch.rand(()) >="),
                edit(
                    "sample_token(rest / rest.sum(), u_sample)", "torch.multinomial(rest / rest.sum(), 1)[0]"
                ),
                edit("sample_token(target_probs[-1], u_sample)", "torch.multinomial(target_probs[-1], 1)[0]"),
            ]
        ],
        says="a new random number is drawn inside for the last token, and `u_sample` is not used",
        asks="Do the same draws give the same tokens twice?",
        kind="different",
    ),
    mistake(
        "verify-padded",
        edit(
            REJECTED,
            "return torch.cat([draft_tokens[:i], last[None], torch.full_like(draft_tokens[i:], -1)])",
        ),
        says="the result is filled up with −1 to K + 1 tokens, as servers do for batches",
        asks="How many tokens should come back if the first guess is rejected?",
        kind="different",
    ),
    mistake(
        "verify-pair-returned",
        edit(REJECTED, "return draft_tokens[:i], last"),
        edit(ALL, "return draft_tokens, last"),
        says="the kept guesses and the last token are returned apart",
        asks="What does your function return: one tensor or two things?",
        kind="different",
    ),
    mistake(
        "verify-last-token-only",
        edit(REJECTED, "return last[None]"),
        edit(ALL, "return last[None]"),
        says="only the last token is returned, without the guesses that are kept",
        asks="Which tokens does the text go on with?",
    ),
    mistake(
        "verify-floats",
        edit(REJECTED, REJECTED + ".to(target_probs.dtype)"),
        edit(ALL, ALL + ".to(target_probs.dtype)"),
        says="the tokens are floating-point numbers",
        asks="Which dtype does an index have?",
    ),
    mistake(
        "verify-overwrites",
        edit(REST, "rest = p.sub_(q).clamp(min=0)"),
        forms=[
            [edit(REST, "rest = p.sub_(q).clamp_(min=0)")],
            [edit(REST, "draft_probs.mul_(-1).add_(target_probs[:-1]).clamp_(min=0)\n            rest = q")],
        ],
        says="the rest is written into the argument",
        asks="What does the caller find in the probabilities after the call?",
    ),
]
