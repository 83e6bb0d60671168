"""Cases for the key-value cache. Every text is cut in several ways, with single steps and with pieces.

A piece of two or more steps on a filled cache is the only thing that shows a missing mask; a single step shows a mask in the
upper left corner; any second call shows positions that begin again.
"""

from grader.authoring import Case, weights

AXES = ("batch", "head", "step", "feature")
OUT = ("batch", "step", "feature")
LENGTH = ("length", "get_seq_length", "num_items", "next_pos", "cur_pos", "size", "__len__")
CACHE = "from grader.given import KVCache"
B, H, D_HEAD = 2, 3, 4


def pieces(case, draw, name, sizes, grad=False):
    """Add a tensor (B, H, T, d) per piece."""
    arrays = (draw.normal(B, H, T, D_HEAD) for T in sizes)
    return [case.input(f"{name}{i}", array, grad=grad) for i, array in enumerate(arrays)]


def length_is(case, cache, want, when):
    case.check_value(
        case.attribute(cache, *LENGTH),
        want,
        "values",
        f"the length {when}",
        f"the length {when} is not {want}",
    )


def KVCache(draw):
    name = "KVCache"

    case = Case("steps", name)
    cache = case.build(max_len=12)
    case.grad(False)
    sizes = (3, 1, 1, 2)
    keys, values = pieces(case, draw, "keys", sizes), pieces(case, draw, "values", sizes)
    length_is(case, cache, 0, "at first")
    so_far = 0
    for k, v, T in zip(keys, values, sizes, strict=True):
        so_far += T
        both = case.method(cache, "append", k, v)
        for part, what in ((both[0], "keys"), (both[1], "values")):
            seen = case.see(part, axes=AXES)
            case.check("shapes", "shape", [seen], f"shape of all {what} after {so_far} steps")
            case.check("values", "equal", [seen], f"all {what} in order after {so_far} steps")
        length_is(case, cache, so_far, f"after {so_far} steps")
    case.check_unchanged(*keys, *values)
    case.check_precision(both[1], "all values, and their dtype")
    yield case

    case = Case("cropped", name)
    cache = case.build(max_len=9)
    case.grad(False)
    keys, values = pieces(case, draw, "keys", (5, 2, 3)), pieces(case, draw, "values", (5, 2, 3))
    case.method(cache, "append", keys[0], values[0])
    case.attempt(2, on=cache, method="crop", name="crop to 2")
    length_is(case, cache, 2, "after a crop to 2 steps")
    for i, kept in ((1, 2), (2, 0)):
        both = case.method(cache, "append", keys[i], values[i])
        for part, what in ((both[0], "keys"), (both[1], "values")):
            seen = case.see(part, axes=AXES)
            title = f"all {what} after a crop to {kept} steps and an append"
            case.check("values", "equal", [seen], title)
        if i == 1:
            case.attempt(0, on=cache, method="crop", name="crop to 0")
            length_is(case, cache, 0, "after a crop to 0 steps")
    yield case

    case = Case("full", name)
    cache = case.build(max_len=5)
    case.grad(False)
    sizes = (4, 2, 1, 1, 1)
    keys, values = pieces(case, draw, "keys", sizes), pieces(case, draw, "values", sizes)
    case.method(cache, "append", keys[0], values[0])
    tried = case.attempt(keys[1], values[1], on=cache, method="append", name="two too many")
    case.check_raises_in(tried, "a ValueError for more steps than max_len")
    length_is(case, cache, 4, "after steps that did not fit")
    for too, title in ((5, "above the length"), (-1, "below 0")):
        tried = case.attempt(too, on=cache, method="crop", name=f"crop to {too}")
        case.check_raises_in(tried, f"a ValueError for a crop {title}")
    length_is(case, cache, 4, "after crops that were refused")
    # No exception of a wrong answer ends the case: its message would be the student's own.
    case.attempt(keys[2], values[2], on=cache, method="append", name="exactly full")
    length_is(case, cache, 5, "of a cache that is exactly full")
    tried = case.attempt(keys[3], values[3], on=cache, method="append", name="one too many")
    case.check_raises_in(tried, "a ValueError for one step more than max_len")
    case.attempt(1, on=cache, method="crop", name="crop to 1")
    both = case.method(cache, "append", keys[4], values[4])
    for part, what in ((both[0], "keys"), (both[1], "values")):
        case.check("values", "equal", [case.see(part, axes=AXES)], f"all {what} after steps that did not fit")
    yield case

    case = Case("two-caches", name)
    first, second = case.build("", "first", max_len=6), case.build("", "second", max_len=6)
    case.grad(False)
    keys, values = pieces(case, draw, "keys", (3, 2)), pieces(case, draw, "values", (3, 2))
    case.method(first, "append", keys[0], values[0])
    both = case.method(second, "append", keys[1], values[1])
    case.check("purity", "equal", [case.see(both[0], axes=AXES)], "a second cache begins empty")
    length_is(case, first, 3, "of the first of two caches")
    yield case

    case = Case("kept", name)
    cache = case.build(max_len=9)
    case.grad(False)
    for i in range(8):
        step = [case.input(f"{what}{i}", draw.normal(1, 2, 1, 4)) for what in ("keys", "values")]
        case.method(cache, "append", *step)
    case.check_at_most(
        case.values_kept(cache, "kept"),
        "values that the cache keeps",
        "the cache keeps more than one key and one value per step",
        limit=int(1.25 * 2 * 9 * 8),
    )
    yield case


def cached_attention(draw):
    name = "cached_attention"
    for id, sizes in (("prompt-first", (4, 1, 2)), ("step-first", (1, 3, 2, 1)), ("at-once", (7,))):
        case = Case(id, name)
        case.grad(False)
        cache = case.provide(CACHE, "KVCache", "cache", max_len=8)
        inputs = [pieces(case, draw, what, sizes) for what in ("queries", "keys", "values")]
        so_far = 0
        for i, T in enumerate(sizes):
            Y = case.call(*(one[i] for one in inputs), cache, axes=AXES)
            title = f"{T} new, {so_far} stored"
            case.check_shape(Y, f"shape and dtype, {title}")
            if so_far or T > 1:  # a step that sees itself alone returns its value
                case.check_values(Y, f"result, {title}", "masking" if so_far else "values")
            so_far += T
            case.check_value(
                case.attribute(cache, "length"),
                so_far,
                "values",
                f"the new steps are appended once, {title}",
                f"the cache should have {so_far} steps",
            )
        case.check_unchanged(*inputs[0], *inputs[1], *inputs[2])
        if id == "at-once":
            case.check_precision(Y, "result and dtype")
        yield case

    case = Case("one-head", name, caps=False)
    case.grad(False)
    cache = case.provide(CACHE, "KVCache", "cache", max_len=3)
    for i in range(3):
        step = [case.input(f"{what}{i}", draw.normal(1, 1, 1, 2)) for what in ("queries", "keys", "values")]
        Y = case.call(*step, cache, axes=AXES)
        case.check_values(Y, f"a single head, step {i}")
    yield case


def CachedSelfAttention(draw):
    name = "CachedSelfAttention"
    H, d = 2, 6
    D = H * d
    B, T = 3, 7

    case = Case("without-cache", name)
    module = case.build(d_model=D, num_heads=H, base=500.0)
    case.load(module, weights.multi_head(draw, D))
    x = case.input("x", draw.normal(B, T, D), grad=True)
    Y = case.call(x, on=module, axes=OUT)
    case.check_shape(Y)
    case.check_values(Y, "a whole text without a cache, base 500")
    flow = case.gradients(Y, draw.normal(B, T, D), wrt=[x], parameters=module)
    case.check_gradients(flow, "gradients of input and layers, without a cache")
    case.check_unchanged(x)
    case.check_parameters()
    again = case.call(x, on=module, axes=OUT)
    case.check_same(
        Y,
        again,
        "a call without a cache leaves nothing behind",
        "purity",
        "a second call without a cache gives another result",
    )
    case.check_precision(Y, "result and dtype")
    yield case

    for id, sizes in (("prompt-first", (4, 1, 2)), ("step-first", (1, 3, 2, 1))):
        case = Case(id, name)
        module = case.build(d_model=D, num_heads=H)
        case.load(module, weights.multi_head(draw, D))
        case.grad(False)
        parts = [case.input(f"x{i}", draw.normal(B, T, D)) for i, T in enumerate(sizes)]
        for text in ("", " of a second text"):  # a second text with a new cache
            cache = case.provide(CACHE, "KVCache", f"cache{text}", max_len=9)
            so_far = 0
            for part, T in zip(
                parts if not text else parts[::-1], sizes if not text else sizes[::-1], strict=True
            ):
                Y = case.call(part, cache, on=module, axes=OUT)
                case.check_values(Y, f"{T} new, {so_far} stored{text}", "modes")
                so_far += T
        yield case

    case = Case("cost", name)
    module = case.build(d_model=D, num_heads=H)
    case.load(module, weights.multi_head(draw, D))
    case.grad(False)
    for n in (4, 30, 90):
        cache = case.provide(CACHE, "KVCache", f"cache{n}", max_len=n + 1)
        case.call(case.input(f"text{n}", draw.normal(1, n, D)), cache, on=module)
        count = case.operations(
            case.input(f"new{n}", draw.normal(1, 1, D)), cache, on=module, name=f"step after {n}"
        )
        case.check_at_most(
            count,
            f"operations of one step after {n} steps",
            "a new step costs more than its own projections and one row of scores",
            limit=int(1.5 * (8 * D * D + 4 * D * (n + 1))),
        )
    yield case

    for id, sizes, title in (
        (
            "indivisible",
            {"d_model": 10, "num_heads": 4},
            "a ValueError if the heads do not divide the features",
        ),
        ("odd", {"d_model": 9, "num_heads": 3}, "a ValueError for heads with an odd number of features"),
    ):
        case = Case(id, name)
        module = case.build(**sizes)
        case.call(case.input("x", draw.normal(1, 2, sizes["d_model"])), on=module)
        case.check("shapes", "raises", [], title, type="ValueError")
        yield case


# A model whose next token is a hash of all tokens that its caches hold, so no two logits are near each other. Each layer sees
# the tokens through its own cache, and counts what it is fed. A cache that is full is left out, and counted, so that no exception
# hides what went wrong.
MODEL = """
import torch
from torch import nn


class Hashing(nn.Module):
    def __init__(self, num_layers, vocab_size):
        super().__init__()
        self.num_layers, self.vocab_size = num_layers, vocab_size
        self.fed = self.calls = self.longest = self.full = 0

    def forward(self, tokens, caches):
        if len(caches) != self.num_layers:
            raise ValueError(f"{len(caches)} caches for {self.num_layers} layers")
        B, n = tokens.shape
        self.calls, self.fed, self.longest = self.calls + 1, self.fed + n, max(self.longest, n)
        state = torch.zeros(B, n, dtype=torch.int64, device=tokens.device)
        for layer, cache in enumerate(caches):
            before = cache.length
            steps = tokens[:, None, :, None].to(torch.get_default_dtype())
            try:
                seen = cache.append(steps, steps)[0][:, 0, :, 0].round().to(torch.int64)
            except ValueError:
                self.full += 1
                continue
            powers = torch.arange(1, seen.shape[1] + 1, device=tokens.device)
            running = (seen * (powers * powers + 3 * layer + 1)).cumsum(1)
            state = state + running[:, before : before + n] * (layer + 2) + powers[before : before + n] * layer
        chosen = state % self.vocab_size
        return torch.nn.functional.one_hot(chosen, self.vocab_size).to(torch.get_default_dtype())
"""


def generate(draw):
    name = "generate"
    V = 11
    for id, P, new, chunk, B, layers in (
        ("at-once", 5, 4, None, 2, 2),
        ("chunks", 7, 3, 3, 2, 3),
        ("wide-chunk", 4, 3, 9, 1, 2),
        ("one-by-one", 3, 2, 1, 2, 2),
        ("one-token", 5, 1, 2, 3, 2),
    ):
        case = Case(id, name)
        case.grad(False)
        model = case.provide(MODEL, "Hashing", "model", num_layers=layers, vocab_size=V)
        if id == "chunks":
            case.eval(model)
        prompt = case.input("prompt", draw.integers(1, V - 1, B, P))
        how = {"max_new_tokens": new} | ({} if chunk is None else {"chunk_size": chunk})
        Y = case.call(model, prompt, axes=("sentence", "step"), **how)
        what = f"{P} tokens and {new} new" + (f", in chunks of {chunk}" if chunk else "")
        case.check_shape(Y, f"the prompt and the new tokens: {what}")
        case.check_value(
            case.attribute(model, "full"),
            0,
            "values",
            f"the caches have room for all steps: {what}",
            "a cache gets more steps than it has room for",
        )
        case.check_values(Y, f"the most likely tokens: {what}")
        case.check_unchanged(prompt)
        width = min(chunk or P, P)
        for attribute, limit, title, says in (
            (
                "fed",
                P + new - 1,
                "tokens that the model is fed",
                "the model is fed tokens that it has seen before, or the last one",
            ),
            ("longest", width, "tokens of the longest call", "a call gets more tokens than it should"),
            (
                "calls",
                -(-P // width) + new - 1,
                "calls of the model",
                "the model is called more often than needed",
            ),
        ):
            case.check_value(case.attribute(model, attribute), limit, "cost", f"{title}: {what}", says)
        mode = case.attribute(model, "training")
        case.check_value(
            mode,
            id != "chunks",
            "modes",
            f"the mode of the model stays: {what}",
            "the model is left in another mode",
        )
        if id == "at-once":  # a second prompt with the same model
            Y = case.call(
                model, case.input("second", draw.integers(1, V - 1, B, P)), **how, axes=("sentence", "step")
            )
            case.check_values(Y, "a second batch of prompts gets new caches", "purity")
        yield case

    case = Case("nothing-new", name, caps=False)
    case.grad(False)
    model = case.provide(MODEL, "Hashing", "model", num_layers=2, vocab_size=V)
    prompt = case.input("prompt", draw.integers(1, V - 1, 2, 4))
    Y = case.call(model, prompt, max_new_tokens=0, axes=("sentence", "step"))
    case.check_same(
        Y, prompt, "no new tokens: the prompt", "values", "the prompt does not come back as it is"
    )
    yield case
