"""Cases for sampling and speculating.

A law is exact: code of the case calls the student's function for every draw (i + ½)/N and adds up. All probabilities, all ratios
p/q below 1 and all rests are multiples of 1/N, so N draws stand for all between 0 and 1.
"""

import numpy as np

from grader.authoring import Case

ROW = ("row", "token")

# ---- top_k_top_p_filtering

# What is left out may be any value of −1e8 or less; float16 ends before that.
LEFT_OUT = """
import torch


class LeftOut:
    def __call__(self, logits):
        if not isinstance(logits, torch.Tensor) or not logits.is_floating_point():
            return logits
        limit = max(-1e8, torch.finfo(logits.dtype).min)
        return logits.masked_fill(logits <= limit, float("-inf"))
"""
V = 11


def kept(row, top_k, top_p):
    """Return how many tokens of one row stay, and how near a mass is to top_p."""
    best = np.sort(row[np.isfinite(row)])[::-1][: top_k or None]
    masses = np.cumsum(np.exp(best - best[0])) / np.exp(best - best[0]).sum()
    return int((masses < top_p).sum()) + 1, np.abs(masses - top_p).min()


def logits_for(draw, *shape, top_k=0, top_p=1.0, order_matters=False, make=None):
    """Return logits without a mass near top_p. order_matters: top-p before top-k would keep other tokens."""
    while True:
        logits = (make or draw.normal)(*shape) * (1.0 if make else 1.5)
        rows = logits.reshape(-1, shape[-1])
        both = [kept(row, top_k, top_p) for row in rows]
        others = [min(kept(row, 0, top_p)[0], top_k) for row in rows]
        if all(gap > 1e-3 for _count, gap in both) and (
            not order_matters or any(count < other for (count, _gap), other in zip(both, others, strict=True))
        ):
            return logits


def filtered(case, logits, axes, **how):
    """Call the function; the result has −inf for whatever stands for a token that is left out."""
    return case.call(case.call(logits, **how), on=case.provide(LEFT_OUT, "LeftOut", "marked"), axes=axes)


def spread(draw):
    """Return a maker of rows whose values differ and are exact in every dtype."""

    def make(rows, size):
        choices = np.arange(-96, 97)
        order = np.argsort(draw.normal(rows, len(choices)), axis=1)[:, :size]
        return choices[order] / 32

    return make


def top_k_top_p_filtering(draw):
    name = "top_k_top_p_filtering"

    case = Case("top-k", name)
    logits = case.input("logits", draw.normal(5, V))
    for k in (3, 1):
        Y = filtered(case, logits, ROW, top_k=k)
        case.check_shape(Y, f"shape and dtype, top_k={k}")
        case.check_values(Y, f"the best {k}" if k > 1 else "the best token alone")
    case.check_unchanged(logits)
    yield case

    case = Case("top-p", name)
    for i, p in enumerate((0.6, 0.95)):
        logits = case.input(f"logits{i}", logits_for(draw, 5, V, top_p=p))
        Y = filtered(case, logits, ROW, top_p=p)
        case.check_shape(Y, f"shape and dtype, top_p={p}")
        case.check_values(Y, f"the smallest set with mass {p}")
    case.check_unchanged(logits)
    yield case

    case = Case("one-stays", name)
    logits = case.input("logits", logits_for(draw, 5, V, top_p=0.01))
    for p in (0.01, 0.0):
        case.check_values(filtered(case, logits, ROW, top_p=p), f"one token stays, top_p={p}")
    yield case

    case = Case("both", name)
    how = {"top_k": 5, "top_p": 0.6}
    logits = case.input("logits", logits_for(draw, 2, 3, V, **how, order_matters=True))
    Y = filtered(case, logits, ("batch", *ROW), **how)
    case.check_shape(Y, "shape and dtype with both filters and another axis")
    case.check_values(Y, "top-k first, then top-p on what is left")
    case.check_unchanged(logits)
    yield case

    case = Case("impossible", name)
    array = logits_for(draw, 3, V, top_p=0.8)
    array[:, [1, 4, 5, 8]] = -np.inf
    while any(kept(row, 9, 0.8)[1] < 1e-3 for row in array):
        array[:, 0] += 0.1
    logits = case.input("logits", array)
    case.check_values(filtered(case, logits, ROW, top_k=9, top_p=0.8), "tokens that are −inf already stay so")
    yield case

    case = Case("one-row", name, caps=False)
    how = {"top_k": 6, "top_p": 0.7}
    Y = filtered(case, case.input("logits", logits_for(draw, V, **how)), ("token",), **how)
    case.check_values(Y, "a single row")
    yield case

    case = Case("off", name, caps=False)
    logits = case.input("logits", draw.normal(3, V))
    for how, title in (
        ({}, "without arguments nothing is left out"),
        ({"top_k": 0, "top_p": 1.0}, "top_k=0 and top_p=1 leave nothing out"),
        ({"top_k": V}, "top_k=V leaves nothing out"),
        ({"top_k": V + 4}, "a top_k above V leaves nothing out"),
    ):
        Y = filtered(case, logits, ROW, **how)
        case.check_same(Y, logits, title, "values", "the logits do not come back as they are")
    yield case

    case = Case("many", name, caps=False)
    logits = case.input("logits", logits_for(draw, 12, 150, top_p=0.9, make=spread(draw)))
    Y = filtered(case, logits, ROW, top_p=0.9)
    case.check_values(Y, "150 tokens")
    case.check_precision(Y, "150 tokens")
    yield case


# ---- sample_token

# The law of one token, over all draws of a grid.
EVERY_TOKEN = """
import torch


class EveryToken:
    def __init__(self, N):
        self.N = N

    def __call__(self, own, probs):
        law = [0.0] * len(probs)
        for i in range(self.N):
            token = own(probs, probs.new_tensor((i + 0.5) / self.N))
            if isinstance(token, torch.Tensor) and token.numel() == 1 and 0 <= token < len(law):
                law[int(token)] += 1 / self.N
        return torch.tensor(law, dtype=torch.float64).to(probs.device)
"""


def pieces(draw, rows, size, total=64):
    """Return probabilities (rows, size), multiples of 1/total, with a zero in each row, and the sums before each token."""
    counts = np.ones((rows, size), dtype=np.int64)
    for row in counts:
        row[draw.choice(range(1, size - 1))] = 0
        for _ in range(total - row.sum()):
            free = np.flatnonzero(row)
            row[free[draw.choice(range(len(free)))]] += 1
    probs = counts / total
    return probs, probs.cumsum(1) - probs


def inside(draw, probs, before):
    """Return one draw per row in the piece of a possible token; 1 − u is on no edge either."""
    chosen = [draw.choice(np.flatnonzero(row)) for row in probs]
    rows = np.arange(len(probs))
    return before[rows, chosen] + 0.3 * probs[rows, chosen]


def sample_token(draw):
    name = "sample_token"
    size = 7

    case = Case("rows", name)
    probs, before = pieces(draw, 31, size)
    P = case.input("probs", probs)
    u = case.input("u", inside(draw, probs, before))
    token = case.call(P, u, axes=("row",))
    case.check_shape(token)
    case.check_values(token, "one token for each row")
    case.check_unchanged(P, u)
    again = case.call(P, u, axes=("row",))
    title = "the same draws choose the same tokens"
    case.check_same(token, again, title, "purity", "the same draws choose other tokens the second time")
    yield case

    case = Case("batches", name)
    probs, before = pieces(draw, 6, size)
    P = case.input("probs", probs.reshape(2, 3, size))
    token = case.call(P, case.input("u", inside(draw, probs, before).reshape(2, 3)), axes=("batch", "row"))
    case.check_shape(token, "shape and dtype with another axis")
    case.check_values(token, "one token for each row, with another axis")
    yield case

    case = Case("first", name)
    probs = np.array([[0, 0, 4, 0, 2, 1, 1], [2, 1, 1, 0, 2, 1, 1], [0, 8, 0, 0, 0, 0, 0]]) / 8
    token = case.call(case.input("probs", probs), case.input("u", np.zeros(3)), axes=("row",))
    case.check_values(token, "u = 0: the first token that is possible")
    yield case

    case = Case("last", name)
    # The sum of the third row is 1 − 1e-6, as rounding may leave it.
    probs = np.array([[1, 1, 2, 0, 2, 1, 1], [4, 0, 0, 2, 2, 0, 0], [0, 0, 0, 0, 0, 0, 0]]) / 8
    probs[2, :4] = 0.3, 0.3, 0.3, 0.099999
    token = case.call(case.input("probs", probs), case.input("u", np.full(3, 1 - 2**-24)), axes=("row",))
    case.check_values(token, "the largest u below 1: the last token that is possible")
    yield case

    case = Case("one-row", name, caps=False)
    probs, before = pieces(draw, 1, size)
    P = case.input("probs", probs[0])
    middle = inside(draw, probs, before)[0]
    u = case.input("u", np.array(middle))
    token = case.call(P, u, axes=())
    case.check_shape(token, "shape and dtype for a single row")
    case.check_values(token, "a single row")
    case.check_values(case.call(P, float(middle), axes=()), "a single row, and u as a float")
    yield case

    case = Case("law", name)
    driver = case.provide(EVERY_TOKEN, "EveryToken", "every draw", N=8)
    P = case.input("probs", np.array([2, 0, 4, 2, 0]) / 8)
    law = case.call(case.student(name), P, on=driver)
    case.check("values", "law", [case.see(law)], "how often each token is chosen, over all draws")
    yield case

    case = Case("many", name, caps=False)
    # All numbers are exact in every dtype. Sums are 2 mod 4 and draws 0 mod 4, in units of 1/1024: none are near each other.
    counts = 4 * draw.integers(0, 4, 40, 90)
    counts[:, 0] = 2
    counts[:, -1] = 1024 - counts[:, :-1].sum(1)
    P = case.input("probs", counts / 1024)
    token = case.call(P, case.input("u", draw.integers(128, 170, 40) / 256), axes=("row",))
    case.check_values(token, "90 tokens")
    case.check_precision(token, "90 tokens")
    yield case


# ---- verify_draft

# All possible guesses and all draws of a grid. Returns what the function returns for each, with −1 after its end, and the law
# of K + 1 tokens: what a round leaves open is drawn from the target's rows.
EVERY_ROUND = """
from itertools import product
from math import prod

import torch


class EveryRound:
    def __init__(self, N):
        self.N = N

    def __call__(self, own, target, draft):
        K, V = draft.shape
        p, q = target.double().cpu().clone(), draft.tolist()
        grid = [(i + 0.5) / self.N for i in range(self.N)]
        results, law = [], torch.zeros([V] * (K + 1), dtype=torch.float64)
        for guesses in product(*[[x for x in range(V) if row[x]] for row in q]):
            weight = prod(row[x] for row, x in zip(q, guesses)) / self.N ** (K + 1)
            tokens = torch.tensor(guesses, device=draft.device)
            for *accept, sample in product(grid, repeat=K + 1):
                new = own(target, draft, tokens, target.new_tensor(accept), target.new_tensor(sample))
                new = new.reshape(-1).long().tolist() if isinstance(new, torch.Tensor) else []
                results.append((new + [-1] * (K + 1))[: K + 1])
                if len(new) <= K + 1 and all(0 <= x < V for x in new):
                    rest = torch.tensor(weight, dtype=torch.float64)
                    for row in p[len(new) :]:
                        rest = rest[..., None] * row
                    law[tuple(new)] += rest
        shape = [-1] + [self.N] * (K + 1) + [K + 1]
        return torch.tensor(results).reshape(shape).to(draft.device), law.to(draft.device)
"""
# Quarters of p and q: a guess may be kept always, half of the time or never, and the rest may have one token or two.
ONE_GUESS = (
    ((2, 1, 1), (1, 2, 1), "p = 2 1 1 and q = 1 2 1"),
    ((1, 2, 1), (2, 2, 0), "p = 1 2 1 and q = 2 2 0"),
    ((3, 0, 1), (2, 2, 0), "p = 3 0 1 and q = 2 2 0"),
    ((2, 2, 0), (0, 0, 4), "p = 2 2 0 and q = 0 0 4"),
)
# The rest of the second guess is another one if it is made with any other row.
TARGET = ((2, 0, 1, 1), (0, 1, 2, 1), (2, 1, 0, 1))
DRAFT = ((2, 0, 2, 0), (1, 2, 1, 0))


def round_of(draw, K, size, rejected):
    """Return the arguments of one round: `rejected` is the first guess that is not kept, or K."""
    while True:
        p, q = (pieces(draw, rows, size)[0] for rows in (K + 1, K))
        guesses = np.array([draw.choice(np.flatnonzero(row)) for row in q])
        ratios = p[np.arange(K), guesses] / q[np.arange(K), guesses]
        keeps = np.arange(K) != rejected  # after a rejection, too: such a guess must not count
        if (ratios[keeps] > 0.1).all() and (ratios[~keeps] < 0.9).all():
            break
    u_accept = np.where(keeps, np.minimum(ratios, 1) / 2, (1 + ratios) / 2)
    rest = p[K] if rejected == K else np.maximum(p[rejected] - q[rejected], 0)
    rest = rest / rest.sum()
    u_sample = inside(draw, rest[None], rest.cumsum()[None] - rest[None])[0]
    return {"target": p, "draft": q, "guesses": guesses, "u_accept": u_accept, "u_sample": np.array(u_sample)}


def verify_draft(draw):
    name = "verify_draft"
    K, size = 3, 5

    for rejected, title in (
        (0, "the first of three guesses is rejected"),
        (1, "the second of three guesses is rejected"),
        (2, "the last of three guesses is rejected"),
        (3, "all three guesses are kept"),
    ):
        case = Case(f"kept-{rejected}", name)
        arguments = [case.input(*item) for item in round_of(draw, K, size, rejected).items()]
        new = case.call(*arguments, axes=("token",))
        case.check_shape(new, f"number of tokens and dtype: {title}")
        case.check_values(new, title)
        case.check_unchanged(*arguments)
        yield case

    for p, q, title in ONE_GUESS:
        case = Case("".join(map(str, (*p, "-", *q))), name)
        driver = case.provide(EVERY_ROUND, "EveryRound", "every draw", N=4)
        target = case.input("target", np.array([p, (1, 1, 2)]) / 4)
        both = case.call(case.student(name), target, case.input("draft", np.array([q]) / 4), on=driver)
        case.check("values", "law", [case.see(both[1])], f"the law of the target, {title}")
        yield case

    case = Case("two-guesses", name)
    driver = case.provide(EVERY_ROUND, "EveryRound", "every draw", N=4)
    tables = case.input("target", np.array(TARGET) / 4), case.input("draft", np.array(DRAFT) / 4)
    own = case.student(name)
    both = case.call(own, *tables, on=driver)
    axes = ("guesses", "first u_accept", "second u_accept", "u_sample", "token")
    case.see(both[0], axes=axes)
    case.check_one_of(both[0], "two guesses, every draw: the tokens", "values")
    case.check("values", "law", [case.see(both[1])], "two guesses: the law of the target")
    case.check_same(
        both[0],
        case.call(own, *tables, on=driver)[0],
        "the same draws give the same tokens",
        "purity",
        "the same draws give other tokens the second time",
    )
    yield case

    case = Case("never", name)
    arguments = {
        "target": np.array([(0, 3, 1), (1, 2, 1)]) / 4,
        "draft": np.array([(2, 1, 1)]) / 4,
        "guesses": np.array([0]),
        "u_accept": np.zeros(1),
    }
    new = case.call(*(case.input(*item) for item in arguments.items()), 0.3, axes=("token",))
    case.check_values(new, "u_accept = 0 rejects a guess that the target never gives; u_sample as a float")
    yield case


# ---- speculative_generate

# A model whose row of probabilities after a token depends on all tokens so far and on their number, or on this token alone.
MODEL = """
import torch


class Table:
    def __init__(self, rows, near=False):
        rows = torch.tensor(rows, dtype=torch.float64)
        self.rows, self.calls, self.near = rows / rows.sum(1, keepdim=True), 0, near
        self.known = {}  # one law takes thousands of texts, with few beginnings

    def __call__(self, tokens):
        self.calls += 1
        text = str(tokens.tolist())
        if text not in self.known:
            self.known[text] = self.rows[self.places(tokens) % len(self.rows)]
        return self.known[text].clone()

    def places(self, tokens):
        return tokens if self.near else tokens.cumsum(0) + 2 * torch.arange(len(tokens))
"""
DRAWS = """
class Draws:
    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls > 1000:
            raise RuntimeError("more than 1000 draws for a few tokens")
        return self.calls * 0.6180339887498949 % 1
"""
# Whether the same draws write the same text; whether equal models, with chance, need no call of the target that can be saved.
TWICE = (
    MODEL
    + DRAWS
    + """

class Twice:
    def __init__(self, rows, near=False):
        self.rows, self.near = rows, near

    def __call__(self, own, prompt, max_new_tokens, num_draft):
        how = {"max_new_tokens": max_new_tokens, "num_draft": num_draft}
        texts, calls = [], []
        for _ in range(2):
            target, draft = Table(self.rows, self.near), Table(self.rows[:: 1 if self.near else -1], self.near)
            texts.append(own(target, draft, prompt, uniform=Draws(), **how))
            calls.append(target.calls)
        if self.near:
            return calls[0] <= -(-max_new_tokens // (num_draft + 1))
        return all(isinstance(text, torch.Tensor) for text in texts) and torch.equal(*texts)
"""
)
# The law of a text over all draws of a grid, in any number and order. Each draw that a run asks for beyond its beginning
# begins with the first of the grid; the next run takes the next one for the last draw.
EVERY_TEXT = """
import torch


class Draws:
    def __init__(self, chosen, N):
        self.chosen, self.N, self.asked = chosen, N, 0

    def __call__(self):
        if self.asked == 100:
            raise RuntimeError("more than 100 draws for a text of a few tokens")
        self.asked += 1
        if self.asked > len(self.chosen):
            self.chosen.append(0)
        return (self.chosen[self.asked - 1] + 0.5) / self.N


class EveryText:
    def __init__(self, N, V):
        self.N, self.V = N, V

    def __call__(self, own, target, draft, prompt, max_new_tokens, num_draft):
        law = torch.zeros([self.V] * max_new_tokens, dtype=torch.float64)
        given, chosen = prompt.tolist(), []
        for _ in range(5000):
            draws = Draws(chosen, self.N)
            text = own(
                target, draft, prompt, max_new_tokens=max_new_tokens, num_draft=num_draft, uniform=draws
            )
            text = text.reshape(-1).long().tolist() if isinstance(text, torch.Tensor) else []
            new = text[len(given) :]
            fits = text[: len(given)] == given and len(new) == max_new_tokens
            if fits and all(0 <= x < self.V for x in new):
                law[tuple(new)] += self.N**-draws.asked
            del chosen[draws.asked :]
            while chosen and chosen[-1] == self.N - 1:
                chosen.pop()
            if not chosen:
                return law
            chosen[-1] += 1
        raise RuntimeError(
            "too many draws to try them all: a round needs 2 * num_draft + 1, and no round comes after the last new token"
        )
"""
QUARTERS = ((3, 1, 0), (3, 0, 1), (0, 2, 2)), ((2, 2, 0), (2, 2, 0), (2, 1, 1))
HALVES = (
    ((1, 1, 0), (1, 0, 1), (0, 1, 1), (0, 1, 1), (1, 1, 0)),
    ((2, 0, 0), (0, 1, 1), (0, 2, 0), (0, 1, 1), (1, 1, 0)),
)
# A draft that says the same everywhere: with the others, three tokens would take too many runs for a draft that sees less.
SAME_DRAFT = ((1, 1, 0), (0, 1, 1), (0, 2, 0), (1, 0, 1), (0, 1, 1)), ((1, 1, 0),) * 5
# Both verdicts of "even" are even odds, so one draw for both shows. In "rest", a guess may be kept after a rejected one.
LAWS = (
    ("one-guess", QUARTERS, 4, (0, 1), {"max_new_tokens": 2, "num_draft": 1}),
    ("even", HALVES, 2, (1, 2), {"max_new_tokens": 2, "num_draft": 2}),
    ("rest", SAME_DRAFT, 2, (2, 2), {"max_new_tokens": 3, "num_draft": 2}),
    ("cut", HALVES, 2, (2, 1, 0), {"max_new_tokens": 1, "num_draft": 3}),
)


def certain(draw, rows, size):
    """Return a table with one possible token per row; neighbouring rows differ."""
    first = draw.choice(range(size))
    return np.eye(size, dtype=np.int64)[(first + 3 * np.arange(rows)) % size].tolist()


def speculative_generate(draw):
    name = "speculative_generate"
    size = 7

    for id, P, new, K in (("equal-models", 3, 7, 2), ("two-calls", 1, 8, 3), ("one-token", 2, 1, 4)):
        case = Case(id, name)
        # The models are equal also for an answer whose draft sees less of the text. No token follows itself.
        table = np.roll(np.eye(size, dtype=np.int64), draw.choice(range(1, size)), axis=1).tolist()
        target, draft = (
            case.provide(MODEL, "Table", model, rows=table, near=True)
            for model in ("the target", "the draft")
        )
        prompt = case.input("prompt", draw.integers(0, size - 1, P))
        uniform = case.provide(DRAWS, "Draws", "uniform")
        how = {"max_new_tokens": new, "num_draft": K, "uniform": uniform}
        text = case.call(target, draft, prompt, **how, axes=("token",))
        what = f"{P} tokens and {new} new, {K} guesses a round, equal models"
        case.check_shape(text, f"length and dtype: {what}")
        case.check_values(text, f"the text: {what}")
        case.check_unchanged(prompt)
        case.check_value(
            case.attribute(target, "calls"),
            -(-new // (K + 1)),
            "cost",
            f"calls of the target: {what}",
            "the target is called more often than needed: equal models give num_draft + 1 tokens a call",
        )
        yield case

    case = Case("other-models", name)
    table = certain(draw, 5, size)
    target = case.provide(MODEL, "Table", "the target", rows=table)
    draft = case.provide(MODEL, "Table", "the draft", rows=table[1:] + table[:1])
    prompt = case.input("prompt", draw.integers(0, size - 1, 3))
    uniform = case.provide(DRAWS, "Draws", "uniform")
    text = case.call(target, draft, prompt, max_new_tokens=5, num_draft=3, uniform=uniform, axes=("token",))
    case.check_shape(text, "length and dtype: every guess is wrong")
    case.check_values(text, "the text of the target, although every guess is wrong")
    yield case

    for id, (p, q), N, start, how in LAWS:
        case = Case(f"law-{id}", name)
        driver = case.provide(EVERY_TEXT, "EveryText", "every draw", N=N, V=3)
        target = case.provide(MODEL, "Table", "the target", rows=p)
        draft = case.provide(MODEL, "Table", "the draft", rows=q)
        prompt = case.input("prompt", np.array(start))
        law = case.call(case.student(name), target, draft, prompt, on=driver, **how)
        tokens, guesses = how["max_new_tokens"], how["num_draft"]
        what = f"{tokens} new token{'s'[: tokens - 1]}, {guesses} guess{'es' if guesses > 1 else ''} a round"
        case.check("values", "law", [case.see(law)], f"the law of the target, over all draws: {what}")
        yield case

    rows = draw.integers(1, 9, 5, size).tolist()
    prompt = draw.integers(0, size - 1, 3)
    case = Case("repeated", name)
    twice = case.provide(TWICE, "Twice", "two texts", rows=rows)
    same = case.call(
        case.student(name), case.input("prompt", prompt), on=twice, max_new_tokens=40, num_draft=3
    )
    title = "the same draws write the same text"
    case.check_value(same, True, "purity", title, "the same draws write another text the second time")
    yield case

    case = Case("equal-chances", name)
    twice = case.provide(TWICE, "Twice", "two texts", rows=rows, near=True)
    least = case.call(
        case.student(name), case.input("prompt", prompt), on=twice, max_new_tokens=40, num_draft=3
    )
    title = "calls of the target: 40 tokens, 3 guesses a round, equal models that leave much to chance"
    case.check_value(least, True, "cost", title, "guesses of a draft that equals the target are rejected")
    yield case

    case = Case("nothing-new", name, caps=False)
    target, draft = (case.provide(MODEL, "Table", model, rows=table) for model in ("the target", "the draft"))
    prompt = case.input("prompt", draw.integers(0, size - 1, 3))
    uniform = case.provide(DRAWS, "Draws", "uniform")
    text = case.call(target, draft, prompt, max_new_tokens=0, num_draft=2, uniform=uniform, axes=("token",))
    case.check_same(
        text, prompt, "no new tokens: the prompt", "values", "the prompt does not come back as it is"
    )
    for ref, what in ((target, "the target"), (draft, "the draft"), (uniform, "uniform")):
        calls = case.attribute(ref, "calls")
        case.check_value(calls, 0, "values", f"no new tokens: {what} is not called", f"{what} is called")
    yield case
