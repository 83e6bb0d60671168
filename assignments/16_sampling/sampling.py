# %% [markdown]
# # 16 · Sampling and speculating
#
# A language model does not write. It gives a distribution over the next token, and we choose. The lesson is about
# choosing well, and then about choosing *fast*: a small model guesses a few tokens, the large one judges all of them in one
# call, and the text that comes out has exactly the distribution of the large model. Not nearly: exactly.
#
# After this lesson you can
#
# - cut the tail of a distribution, with top-k and top-p;
# - draw a token with a number `u` that somebody hands you;
# - let a small model speculate without changing the law of the large one, and prove it with a loop.
#
# | name | shape | meaning |
# |---|---|---|
# | logits | `(…, V)` | one row of scores over `V` tokens, per place |
# | probs | `(…, V)` | rows that sum to 1 |
# | `u` | `(…)` | draws, uniform in [0, 1): one per row |
# | draft_tokens | `(K,)` | what the small model guessed |
# | draft_probs | `(K, V)` | row `i`: the distribution that guess `i` was drawn from |
# | target_probs | `(K + 1, V)` | row `i`: what the large model says at the same place; the last row follows all guesses |
#
# **Random numbers are arguments.** Usually sampling calls a random number generator somewhere inside, and nobody can say
# afterwards why a token was chosen. Here every draw is handed in. So the same draws give the same tokens, and because you can try
# *all* draws, you can check a law instead of trusting it.
#
# **From `u` to a token.** Put the probabilities side by side on the line from 0 to 1. Token `i` owns the piece from $c_{i-1}$ up to,
# but not including, $c_i$, where $c_i$ is the sum of the first probabilities up to its own. Where `u` falls, that token is it.
#
# **Speculating.** The large model is slow because it reads all its weights for each token. But it can judge many places in one call as
# fast as one. So a small model, the *draft*, guesses `K` tokens. At each guess $x$, let $q$ be the draft's distribution and $p$ the
# target's.
#
# - Keep $x$ with probability $\min(1, p(x)/q(x))$.
# - If it is not kept, draw a token from what of $p$ the draft did not cover, $(p - q)_+$, divided by its sum. Then stop: later guesses
#   followed a token that is not there.
# - If all are kept, the target's last row gives one more token for free.
#
# ![Two distributions over four tokens, drawn over each other. What both cover is filled: kept. What the target has above the draft is
# hatched: the rest that is drawn after a rejection. What the draft has above the target is crossed: rejected. The first two together are the
# target's distribution.](pictures/overlap.svg)
#
# **By hand.** Let $p$ = (2, 1, 1)/4 and $q$ = (1, 2, 1)/4. Guess 0 or 2 is always kept. Guess 1 is kept with
# probability 1/2. So a rejection happens with probability $\tfrac24 \cdot \tfrac12 = \tfrac14$, and then the rest (1, 0, 0)/4, divided by its sum, gives
# token 0. Together: token 0 has ¼ + ¼ = 2/4, token 1 has ¼, token 2 has ¼. That is $p$.
#
# **What goes wrong.** Text from a wrong sampler looks like text. No exception, no NaN: only another law.
#
# - The token that crosses `top_p` is cut away, or the mask is used in sorted order.
# - After a rejection the token is drawn from $p$ again. Common tokens become too common.
# - One draw decides two things: what was guessed, and whether it is kept.
# - Guess 3 is kept although guess 2 was not.

# %%
from collections.abc import Callable

import torch

# %% [markdown]
# ## Exercise: `top_k_top_p_filtering`
#
# Leave out the tail: the logit becomes −∞, so `softmax` gives the token probability 0. **Top-k** keeps the `top_k` best
# tokens of each row. Then **top-p** looks at what is left, as a distribution that sums to 1 again, and keeps the smallest
# set of best tokens whose mass is at least `top_p`. The token that crosses the limit stays, and one token stays always. What is kept is not changed.
#
# `top_k=0`, a `top_k` of V or more, and `top_p=1` switch a filter off.
#
# `top_k_top_p_filtering(logits, top_k, top_p)`: `(…, V)` in, `(…, V)` out.
#
# **In plain Python.** One row of V numbers:
#
# ```python
# import math
#
# def top_k_top_p_filtering_plain(logits, top_k=0, top_p=1.0):
#     best_first = sorted(range(len(logits)), key=lambda token: -logits[token])
#     if top_k > 0:
#         best_first = best_first[:top_k]
#     sizes = [math.exp(logits[token] - max(logits)) for token in best_first]
#     kept, mass = [], 0.0
#     for token, size in zip(best_first, sizes):
#         if kept and top_p < 1 and mass >= top_p:
#             break
#         kept.append(token)
#         mass += size / sum(sizes)
#     return [logits[token] if token in kept else -math.inf for token in range(len(logits))]
# ```
#
# **In PyTorch, something similar.** Who came in at which place? Sort, number, and write the numbers back to where each
# came from:
#
# ```python
# times = torch.tensor([[30, 10, 20]])  # (1, 3)
# order = times.argsort(-1)  # (1, 3): [[1, 2, 0]]
# torch.zeros_like(order).scatter(-1, order, torch.tensor([[1, 2, 3]]))  # (1, 3): [[3, 1, 2]]
# ```


# %% exercise="top_k_top_p_filtering"
def top_k_top_p_filtering(logits: torch.Tensor, top_k: int = 0, top_p: float = 1.0) -> torch.Tensor:
    """Return the logits with −inf for all tokens outside the best k, and then outside the best mass p.

    logits: (…, V), which stay as they are; top_k: how many tokens to keep, 0 for all; top_p: the mass to keep, 1 for all; 0 or
    less keeps one token. Sums of probabilities are float32 or wider.
    Returns (…, V) in the dtype of the logits.
    """
    raise NotImplementedError("top_k_top_p_filtering is not written yet")


# %% [markdown]
# ## Exercise: `sample_token`
#
# Turn each draw into a token: token `i` for `u` in $[c_{i-1}, c_i)$. A token of probability 0 is never chosen, also not for `u = 0`, and also not for
# the largest `u` below 1 when the sum of the probabilities was rounded to a little less than that.
#
# `sample_token(probs, u)`: `(…, V)` and `(…)` in, `(…)` out.
#
# **In plain Python.** One row and one draw:
#
# ```python
# def sample_token_plain(probs, u):
#     edge, last = 0.0, 0
#     for token, p in enumerate(probs):
#         edge += p
#         if u < edge:
#             return token
#         if p > 0:
#             last = token
#     return last  # the sum was rounded, and u is above it
# ```
#
# **In PyTorch, something similar.** How many students of each class have at least the marks that their class needs?
#
# ```python
# marks = torch.tensor([[5, 9, 7], [2, 3, 1]])  # (2, 3)
# needed = torch.tensor([6, 4])  # (2,)
# (marks >= needed[:, None]).sum(-1)  # (2,): [2, 0]
# ```


# %% exercise="sample_token"
def sample_token(probs: torch.Tensor, u: torch.Tensor | float) -> torch.Tensor:
    """Return the tokens that these draws choose.

    probs: (…, V), each row sums to 1 up to rounding; u: (…), float32 or float64, in [0, 1); for a single row also a float.
    Returns int64 (…).
    """
    raise NotImplementedError("sample_token is not written yet")


# %% [markdown]
# ## Exercise: `verify_draft`
#
# Judge one round. Guess `i` is kept if `u_accept[i]` is *below* p/q. At the first guess that is not kept, one token is drawn from
# $(p - q)_+$ with `u_sample`, and the round ends. If all are kept, `u_sample` draws one more from the last row of `target_probs`.
#
# `verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample)`: `(K + 1, V)`, `(K, V)`, `(K,)`, `(K,)` and
# one draw in, `(n + 1,)` out.
#
# **In plain Python.** The same on lists:
#
# ```python
# def verify_draft_plain(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
#     kept = []
#     for p, q, token, u in zip(target_probs, draft_probs, draft_tokens, u_accept):
#         if u >= p[token] / q[token]:
#             rest = [max(a - b, 0.0) for a, b in zip(p, q)]
#             rest = [r / sum(rest) for r in rest]
#             return [*kept, sample_token_plain(rest, u_sample)]
#         kept.append(token)
#     return [*kept, sample_token_plain(target_probs[-1], u_sample)]
# ```
#
# **In PyTorch, something similar.** One number of each row, and which rows come before the first negative one:
#
# ```python
# table = torch.tensor([[4, -1], [6, 7], [3, -5], [8, 9]])  # (4, 2)
# chosen = table[torch.arange(4), torch.tensor([0, 1, 1, 0])]  # (4,): [4, 7, -5, 8]
# (chosen < 0).cumsum(-1) == 0  # (4,): [1, 1, 0, 0]
# ```


# %% exercise="verify_draft"
def verify_draft(
    target_probs: torch.Tensor,
    draft_probs: torch.Tensor,
    draft_tokens: torch.Tensor,
    u_accept: torch.Tensor,
    u_sample: torch.Tensor | float,
) -> torch.Tensor:
    """Return the n guesses that are kept, and one more token.

    target_probs: (K + 1, V); draft_probs: (K, V); draft_tokens: int64 (K,), K at least 1, each with a positive draft
    probability; u_accept: (K,), draws in [0, 1); u_sample: one draw, a tensor () or a float.
    Returns int64 (n + 1,).
    """
    raise NotImplementedError("verify_draft is not written yet")


# %% [markdown]
# ## Try it: the law, to the last digit
#
# The cell tries every guess with all draws of a grid of quarters, and prints how much the law of the first token differs from $p$. Expect
# three zeros. Below are two rules that look reasonable: draw from $p$ again after a rejection, and keep a guess only if it is the target's
# favourite.

# %%
try:
    p, q = torch.tensor([2.0, 1.0, 1.0]) / 4, torch.tensor([1.0, 2.0, 1.0]) / 4
    grid, law = [1 / 8, 3 / 8, 5 / 8, 7 / 8], torch.zeros(3)
    for guess in range(3):
        for keep in grid:
            for sample in grid:
                draws = torch.tensor([keep]), torch.tensor(sample)
                new = verify_draft(torch.stack([p, p]), q[None], torch.tensor([guess]), *draws)
                law[new[0]] += q[guess] / 16
    kept = torch.minimum(p, q)
    again = kept + (1 - kept.sum()) * p
    favourite = torch.tensor([1.0, 0.0, 0.0])  # a guess of 0 is kept, any other is replaced by 0
    for rule, found in (("yours", law), ("draw from p again", again), ("favourite only", favourite)):
        print(f"{rule:>17}:", *(f"{x:+.4f}" for x in (found - p).tolist()))
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Exercise: `speculative_generate`
#
# Put the rounds together. A model is called with all tokens so far, `(n,)`, and returns probabilities `(n, V)`: row `i` is the distribution of the token
# *after* token `i`. In each round the draft writes `num_draft` tokens, one call each; the target gets the text with the guesses in **one** call; then verify.
# Each number from `uniform()` decides one thing: a token, or whether a guess is kept.
#
# `speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform)`: two models and `(P,)` in,
# `(P + max_new_tokens,)` out.
#
# **In plain Python.** Here `target` and `draft` get all tokens so far, and return the probabilities of the next one, a
# list of V numbers:
#
# ```python
# def speculative_generate_plain(target, draft, prompt, max_new_tokens, num_draft, uniform):
#     tokens, stop = list(prompt), len(prompt) + max_new_tokens
#     while len(tokens) < stop:
#         guesses, q = [], []
#         for _ in range(num_draft):
#             q.append(draft(tokens + guesses))
#             guesses.append(sample_token_plain(q[-1], uniform()))
#         p = [target(tokens + guesses[:n]) for n in range(num_draft + 1)]  # your target needs one call for all
#         u_accept = [uniform() for _ in guesses]
#         tokens += verify_draft_plain(p, q, guesses, u_accept, uniform())
#     return tokens[:stop]
# ```
#
# **In PyTorch, something similar.** A model that gives each token a row of its own. One call with the whole text gives
# the rows of all its places:
#
# ```python
# rows = torch.tensor([[0.5, 0.5], [1.0, 0.0]])  # (2, 2), for tokens 0 and 1
# text = torch.cat([torch.tensor([0, 1]), torch.tensor([1])])  # (3,): [0, 1, 1]
# rows[text]  # (3, 2): [[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]]
# ```


# %% exercise="speculative_generate"
def speculative_generate(
    target: Callable[[torch.Tensor], torch.Tensor],
    draft: Callable[[torch.Tensor], torch.Tensor],
    prompt: torch.Tensor,
    max_new_tokens: int,
    num_draft: int,
    uniform: Callable[[], float],
) -> torch.Tensor:
    """Continue a prompt with the law of the target, and few calls of it.

    target, draft: map tokens (n,) to float64 probabilities (n, V) of the token after each; prompt: int64 (P,), P at least 1;
    num_draft: how many tokens the draft writes in a round, at least 1; the last round may have fewer; uniform: returns the
    next draw, a float in [0, 1).
    Returns int64 (P + max_new_tokens,): the prompt and the new tokens. For max_new_tokens=0, nothing is called.
    """
    raise NotImplementedError("speculative_generate is not written yet")


# %% [markdown]
# ## Try it: how much does it save?
#
# The cell counts tokens for each call of the target, with a draft that agrees well and one that does not. Beside it stands what to expect if every
# guess were kept with the same probability $a$, the overlap: $(1 - a^{K+1})/(1 - a)$. Expect about 1.9, 2.8, 4.3 and 6.1 for the good draft, and never
# more than 1.7 for the poor one. From which `K` on does one more guess hardly pay?

# %%
try:
    torch.manual_seed(1)
    scores, noise = 2 * torch.randn(20, 20).double(), torch.randn(20, 20).double()
    p, calls = scores.softmax(-1), []

    def large(tokens: torch.Tensor) -> torch.Tensor:
        calls.append(len(tokens))
        return p[tokens]

    def small(tokens: torch.Tensor) -> torch.Tensor:
        return q[tokens]

    for name, error in (("good", 0.25), ("poor", 2.5)):
        q = (scores + error * noise).softmax(-1)
        a = torch.minimum(p, q).sum(-1).mean().item()
        print(f"{name} draft, overlap {a:.2f}")
        for K in (1, 2, 4, 8):
            calls.clear()
            speculative_generate(large, small, torch.tensor([0]), 300, K, lambda: torch.rand(()).item())
            expected = (1 - a ** (K + 1)) / (1 - a)
            print(f"  K = {K}: {300 / len(calls):.2f} tokens a call, {expected:.2f} expected")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Summary
#
# - A draw `u` chooses the token whose piece of the line from 0 to 1 it falls into.
# - Top-k comes first; top-p works on what is left, and the token that crosses the limit stays.
# - A guess is kept with probability $\min(1, p/q)$; a rejected one is replaced from $(p - q)_+$, and the round ends.
# - Then every token has the law of the target, whatever the draft is. A bad draft costs time only.
# - Each draw decides one thing.

# %% [markdown]
# ## Questions to think about
#
# 1. The draft is the target itself. How often is a guess rejected, and how many tokens does each call give?
# 2. The draft is terrible. What happens to the text?
# 3. After a rejection, the rest $(p - q)_+$ is never empty. Why? And when could it be empty all the same, on a real machine?
#
# ## Sources
#
# - Leviathan, Kalman and Matias, [*Fast Inference from Transformers via Speculative Decoding*](https://arxiv.org/abs/2211.17192), 2022.
# - Chen et al., [*Accelerating Large Language Model Decoding with Speculative Sampling*](https://arxiv.org/abs/2302.01318), 2023.
# - Holtzman et al., [*The Curious Case of Neural Text Degeneration*](https://arxiv.org/abs/1904.09751), 2019.
