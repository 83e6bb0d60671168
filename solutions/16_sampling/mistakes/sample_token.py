"""Known mistakes in sample_token; their pages are in sample_token.md."""

from grader.authoring import dtype_mistake, edit, mistake

EDGES = "edges = probs.double().cumsum(-1)"
TOKEN = "token = (edges <= u[..., None]).sum(-1)"
LAST = "last = (probs > 0).cumsum(-1).argmax(-1)"
RETURN = "return torch.minimum(token, last)"

MISTAKES = [
    mistake(
        "token-most-likely",
        edit(RETURN, "return probs.argmax(-1)"),
        says="the most likely token is chosen, whatever the draw is",
        asks="Where does your code use `u`?",
    ),
    mistake(
        "token-own-draw",
        edit(
            RETURN,
            "return torch.multinomial(probs.reshape(-1, probs.shape[-1]), 1).reshape(probs.shape[:-1])",
        ),
        forms=[[edit(TOKEN, "u = torch.rand_like(u)\n    " + TOKEN)]],
        says="a new random number is drawn inside, and `u` is not used",
        asks="Do the same draws choose the same token twice?",
        kind="different",
    ),
    mistake(
        "token-from-the-end",
        edit(TOKEN, "token = (edges <= 1 - u[..., None]).sum(-1)"),
        says="1 − u is used for u: each token is as frequent as it should be, but belongs to other draws",
        asks="Which token should a draw near 0 choose?",
        kind="different",
    ),
    mistake(
        "token-by-rank",
        edit(EDGES, "probs, order = probs.sort(descending=True)\n    " + EDGES),
        edit(RETURN, "return order.gather(-1, torch.minimum(token, last)[..., None])[..., 0]"),
        says="the pieces are laid out from the most likely token on: the frequencies are right, but belong to other draws",
        asks="Which token owns the piece that begins at 0?",
        kind="different",
    ),
    mistake(
        "token-rank-returned",
        edit(EDGES, "probs = probs.sort(descending=True).values\n    " + EDGES),
        says="the rank of the token is returned instead of the token",
        asks="Which token is at place 0 after you sort?",
    ),
    mistake(
        "token-left-edge",
        edit(TOKEN, "token = (edges < u[..., None]).sum(-1)"),
        says="the left edge of a piece belongs to the token before, so u = 0 can choose an impossible token",
        asks="Which token does u = 0 choose if the first one has probability 0?",
    ),
    mistake(
        "token-beyond-the-end",
        edit(RETURN, "return token"),
        says="if the sum is rounded to u or less, a token is returned that does not exist",
        asks="What does your code return if no sum is above `u`?",
    ),
    mistake(
        "token-last-of-all",
        edit(RETURN, "return token.clamp(max=probs.shape[-1] - 1)"),
        says="if the sum is rounded to u or less, the last token is chosen, even if it is impossible",
        asks="What is the probability of the last token of your row?",
    ),
    mistake(
        "token-first-instead",
        edit(RETURN, "return torch.where(token > last, 0, token)"),
        forms=[[edit(RETURN, "return (edges > u[..., None]).int().argmax(-1)")]],
        says="if the sum is rounded to u or less, the first token is chosen",
        asks="What is the index of the largest value if no sum is above `u`?",
    ),
    mistake(
        "token-one-too-far",
        edit(RETURN, "return torch.minimum(token + 1, last)"),
        says="the token after the right one is chosen",
        asks="How many sums are not above `u` if the first token is the right one?",
    ),
    mistake(
        "token-one-too-early",
        edit(RETURN, "return (torch.minimum(token, last) - 1).clamp(min=0)"),
        forms=[[edit(RETURN, "return (token - 1).clamp(min=0)")]],
        says="the token before the right one is chosen",
        asks="How many sums are not above `u` if the first token is the right one?",
    ),
    mistake(
        "token-not-summed",
        edit(EDGES, "edges = probs.double()"),
        says="the draw is compared with single probabilities instead of their sums",
        asks="Where on the line from 0 to 1 does the piece of the third token begin?",
    ),
    mistake(
        "token-summed-over-rows",
        edit(EDGES, "edges = probs.double().cumsum(0)"),
        says="the sums run over the rows instead of the tokens",
        asks="What is the last sum of each row?",
    ),
    mistake(
        "token-softmax-again",
        edit(EDGES, "edges = probs.double().softmax(-1).cumsum(-1)"),
        forms=[
            [
                edit(EDGES, "edges = probs.double().softmax(-1).cumsum(-1)"),
                edit(RETURN, "return token.clamp(max=probs.shape[-1] - 1)"),
            ]
        ],
        says="the probabilities go through softmax once more",
        asks="Which probability does softmax give a token with probability 0?",
    ),
    mistake(
        "token-first-draw-for-all",
        edit(TOKEN, "token = (edges <= u.reshape(-1)[0]).sum(-1)"),
        says="one draw decides all rows",
        asks="How many draws does your code use for five rows?",
    ),
    mistake(
        "token-draws-without-axis",
        edit("u[..., None]", "u"),
        says="the draws are compared with the sums without an axis for the tokens, so the axes do not fit",
        asks="Which shape have the draws of five rows, and which the sums?",
    ),
    mistake(
        "token-axis-kept",
        edit(RETURN, "return torch.minimum(token, last)[..., None]"),
        says="the result has one axis more than the draws",
        asks="Which shape has the result for five rows?",
    ),
    mistake(
        "token-number-only",
        edit(RETURN, "return int(torch.minimum(token, last).reshape(-1)[0])"),
        says="a number of Python is returned instead of a tensor",
        asks="What does your function return for five rows?",
    ),
    mistake(
        "token-one-hot",
        edit(RETURN, "return torch.nn.functional.one_hot(torch.minimum(token, last), probs.shape[-1])"),
        says="a row of zeros with a single one is returned instead of the token",
        asks="Which shape should the result have for five rows?",
    ),
    mistake(
        "token-floats",
        edit(RETURN, "return torch.minimum(token, last).to(probs.dtype)"),
        says="the tokens are floating-point numbers",
        asks="Which dtype does an index have?",
    ),
    mistake(
        "token-int32",
        edit(RETURN, "return torch.minimum(token, last).to(torch.int32)"),
        says="the tokens are int32",
        asks="Which dtype did the docstring ask for?",
    ),
    mistake(
        "token-sums-in-place",
        edit(
            EDGES,
            "with torch.no_grad():\n        probs.cumsum_(-1)\n    edges = probs",
        ),
        edit(
            LAST,
            "last = (probs.diff(dim=-1, prepend=torch.zeros_like(probs[..., :1])) > 0).cumsum(-1).argmax(-1)",
        ),
        says="the probabilities are overwritten by their sums",
        asks="What does the caller find in `probs` after the call?",
    ),
    dtype_mistake(
        "token-coarse-sums",
        edit("probs.double().cumsum(-1)", "probs.cumsum(-1)"),
        says="the probabilities are added up in their own dtype",
        asks="Which numbers between 0.5 and 1 can bfloat16 represent?",
    ),
]
