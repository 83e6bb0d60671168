"""Cases for fewer keys. With six query heads and three key heads, no wrong grouping is right by chance.

A ring is filled with single steps until it has forgotten twice, and with pieces that are longer than the ring.
"""

import numpy as np

from grader.authoring import Case

AXES = ("batch", "head", "step", "feature")
OUT = ("batch", "step", "feature")
TOTAL = ("total", "seen", "length", "num_seen")
RING = "from grader.given import RingCache"


def repeat_kv(draw):
    name = "repeat_kv"
    for id, heads, n_rep, caps in (
        ("three-heads", 3, 2, True),
        ("two-heads", 2, 3, True),
        ("one-each", 4, 1, False),
    ):
        case = Case(id, name, caps=caps)
        x = case.input("x", draw.normal(2, heads, 5, 4), grad=True)
        Y = case.call(x, n_rep=n_rep, axes=AXES)
        what = f"{heads} heads, {n_rep} times"
        case.check_shape(Y, f"shape and dtype, {what}")
        case.check_values(Y, f"copies of a head are neighbours, {what}")
        case.check_gradients(
            case.gradients(Y, draw.normal(2, heads * n_rep, 5, 4), wrt=[x]), f"gradient of x, {what}"
        )
        case.check_unchanged(x)
        if id == "three-heads":
            case.check_precision(Y, "copies, and dtype")
        yield case


def window_mask(draw):
    name = "window_mask"
    for id, q, k, more, title in (
        ("causal", [0, 1, 2, 3], [0, 1, 2, 3], {}, "without a window"),
        (
            "continued",
            [5, 6, 7],
            [0, 1, 2, 3, 4, 5, 6, 7],
            {"window": 3},
            "a window of 3, queries not from 0",
        ),
        ("ring", [9, 10], [8, 9, 10, 6, 7], {"window": 4}, "keys in the order of a ring"),
        (
            "sinks",
            [1, 6, 7],
            [0, 1, 5, 6, 7, 2],
            {"window": 2, "sinks": 3},
            "a window of 2 and 3 sinks, a query before a sink",
        ),
        ("empty", [2, 3], [-1, 2, -1, 3, 0], {"window": 2, "sinks": 1}, "empty places"),
        ("empty-causal", [2, 3], [-1, 2, -1, 3, 0], {}, "empty places without a window"),
        ("one", [0, 1, 2], [0, 1, 2], {"window": 1}, "a window of 1"),
        ("wide", [0, 1, 2], [0, 1, 2], {"window": 9, "sinks": 1}, "a window wider than the text"),
        ("only-sinks", [4, 5], [0, 1, 2, 3, 4, 5], {"sinks": 2}, "sinks without a window"),
    ):
        case = Case(id, name)
        Y = case.call(
            case.input("q_positions", np.array(q)),
            case.input("k_positions", np.array(k)),
            axes=("query", "key"),
            **more,
        )
        case.check_shape(Y, f"a bool mask (T, S), {title}")
        case.check_values(Y, f"who sees whom, {title}")
        yield case


def RingCache(draw):
    name = "RingCache"
    # What a ring returns may be in any order, so it is observed through attention.
    for id, window, sinks, sizes in (
        ("single-steps", 3, 0, (1,) * 9),
        ("sinks", 3, 2, (1,) * 11),
        ("pieces", 4, 1, (5, 2, 2, 1, 4)),
        ("long-piece", 2, 1, (2, 6, 1)),
        ("sinks-in-two-pieces", 2, 3, (2, 2, 3, 1)),
        ("window-of-one", 1, 0, (1, 2, 1)),
    ):
        case = Case(id, name)
        case.grad(False)
        ring = case.build(window=window, sinks=sinks)
        driver = case.provide(DRIVER, "Attending", "driver", window=window, sinks=sinks)
        total = 0
        for i, T in enumerate(sizes):
            q, k, v = (
                case.input(f"{what}{i}", draw.normal(2, 2, T, 4)) for what in ("queries", "keys", "values")
            )
            Y = case.call(q, k, v, ring, on=driver, axes=AXES)
            what = f"{T} new after {total}"
            case.check_values(Y, f"what queries see, {what}")
            total += T
            case.check_value(
                case.attribute(ring, *TOTAL), total, "values", f"total, {what}", f"total should be {total}"
            )
            case.check_value(
                case.attribute(driver, "twice"),
                0,
                "values",
                f"no position twice, {what}",
                "a position is returned twice",
            )
            if i == 1:
                case.check_unchanged(k, v)
        yield case

    case = Case("kept", name)
    case.grad(False)
    ring = case.build(window=4, sinks=2)
    for i in range(17):
        case.method(
            ring,
            "append",
            *(case.input(f"{what}{i}", draw.normal(1, 2, 1, 4)) for what in ("keys", "values")),
        )
    case.check_at_most(
        case.values_kept(ring, "kept"),
        "values that the ring keeps after 17 steps",
        "the ring keeps more than the window and the sinks",
        limit=int(1.25 * 2 * 2 * (4 + 2) * 4) + 17,
    )
    case.check_value(case.attribute(ring, *TOTAL), 17, "values", "total after 17 steps", "total should be 17")
    yield case

    case = Case("two-rings", name)
    case.grad(False)
    first, second = case.build("", "first", window=3, sinks=1), case.build("", "second", window=3, sinks=1)
    for ring, T in ((first, 3), (second, 2)):
        keys = case.input(f"keys {ring.name}", draw.normal(2, 2, T, 4))
        case.method(ring, "append", keys, keys)
    case.check_value(
        case.attribute(second, *TOTAL),
        2,
        "purity",
        "a second ring begins empty",
        "a second ring is not empty at first",
    )
    yield case


# Attends to what a ring returns, by positions. It counts positions that occur twice.
DRIVER = """
import torch
from torch import nn


class Attending(nn.Module):
    def __init__(self, window, sinks):
        super().__init__()
        self.window, self.sinks, self.twice, self.at = window, sinks, 0, 0

    def forward(self, queries, keys, values, ring):
        T = queries.shape[2]
        own = torch.arange(self.at, self.at + T, device=queries.device)
        self.at += T
        keys, values, positions = ring.append(keys, values)
        full = positions[positions >= 0]
        self.twice += full.numel() - full.unique().numel()
        q, k = own[:, None], positions.to(own)[None]
        visible = (k >= 0) & (k <= q) & ((q - k < self.window) | (k < self.sinks))
        scores = (queries @ keys.mT / queries.shape[-1] ** 0.5).masked_fill(~visible, float("-inf"))
        return scores.softmax(-1) @ values
"""


# A ring that returns two empty places, too, and everything in an order of its own.
SHUFFLED = """
import torch
from grader.given import RingCache


class Shuffled(RingCache):
    def append(self, keys, values):
        keys, values, positions = super().append(keys, values)
        empty = torch.full_like(keys[:, :, :1].repeat(1, 1, 2, 1), 2)
        keys, values = torch.cat([keys, empty], dim=2), torch.cat([values, empty], dim=2)
        positions = torch.cat([positions, positions.new_full((2,), -1)])
        order = (positions * 7 % 11).argsort()
        return keys[:, :, order], values[:, :, order], positions[order]
"""


def grouped(draw, D, H, H_kv):
    d = D // H
    sizes = {"W_q": (D, D), "W_k": (H_kv * d, D), "W_v": (H_kv * d, D), "W_o": (D, D)}
    return {f"{name}.weight": draw.linear(*size) for name, size in sizes.items()}


def GroupedQueryAttention(draw):
    name = "GroupedQueryAttention"
    H, H_kv, d = 6, 3, 4
    D, B, T = H * d, 2, 7
    for id, kv, more, title in (
        ("groups", H_kv, {}, "six heads, three key heads"),
        ("two-key-heads", 2, {}, "six heads, two key heads"),
        ("window", H_kv, {"window": 3, "sinks": 1}, "a window of 3 and one sink"),
    ):
        case = Case(id, name)
        module = case.build(d_model=D, num_heads=H, num_kv_heads=kv, **more)
        case.load(module, grouped(draw, D, H, kv))
        x = case.input("x", draw.normal(B, T, D), grad=True)
        Y = case.call(x, on=module, axes=OUT)
        case.check_shape(Y, f"shape and dtype, {title}")
        case.check_values(Y, f"result, {title}", "masking" if more else "values")
        flow = case.gradients(Y, draw.normal(B, T, D), wrt=[x], parameters=module)
        case.check_gradients(flow, f"gradients of input and layers, {title}")
        case.check_parameters(f"names and shapes of the parameters, {title}")
        case.check_unchanged(x)
        if id == "groups":
            case.check_precision(Y, "result and dtype")
        yield case

    for id, kv, caps in (("one-key-head", 1, False), ("all-key-heads", 6, False)):
        case = Case(id, name, caps=caps)
        module = case.build(d_model=D, num_heads=H, num_kv_heads=kv)
        case.load(module, grouped(draw, D, H, kv))
        Y = case.call(case.input("x", draw.normal(B, T, D)), on=module, axes=OUT)
        case.check_values(Y, f"{kv} of six key heads")
        yield case

    for id, window, sinks, sizes, code, kind in (
        ("ring", 3, 1, (4, 1, 2, 3), RING, "RingCache"),
        ("ring-in-steps", 2, 0, (1, 1, 3, 1, 2), RING, "RingCache"),
        ("ring-in-any-order", 3, 1, (3, 1, 2, 1, 1), SHUFFLED, "Shuffled"),
    ):
        case = Case(id, name)
        module = case.build(d_model=D, num_heads=H, num_kv_heads=H_kv, window=window, sinks=sinks)
        case.load(module, grouped(draw, D, H, H_kv))
        case.grad(False)
        cache = case.provide(
            code, kind, "cache", window=window + 1, sinks=sinks + 1
        )  # more than the module sees
        so_far = 0
        for i, T in enumerate(sizes):
            Y = case.call(case.input(f"x{i}", draw.normal(B, T, D)), cache, on=module, axes=OUT)
            case.check_values(Y, f"{T} new, {so_far} before, window {window}", "modes")
            so_far += T
        case.check_value(
            case.attribute(cache, "total"),
            so_far,
            "modes",
            "steps are appended once",
            f"the ring should have seen {so_far} steps",
        )
        if id == "ring":
            case.check_at_most(
                case.values_kept(cache, "kept"),
                "values that the ring keeps",
                "the ring keeps more than its few key heads",
                limit=int(1.25 * 2 * B * H_kv * (window + 1 + sinks + 1) * d) + so_far,
            )
        yield case

    case = Case("no-window-ring", name)
    module = case.build(d_model=D, num_heads=H, num_kv_heads=H_kv)
    case.load(module, grouped(draw, D, H, H_kv))
    case.grad(False)
    cache = case.provide(RING, "RingCache", "cache", window=99)
    for i, T in enumerate((3, 2, 1)):
        Y = case.call(case.input(f"x{i}", draw.normal(B, T, D)), cache, on=module, axes=OUT)
        case.check_values(Y, f"piece {i} of a text without a window", "modes")
    yield case

    for id, sizes, title in (
        (
            "indivisible",
            {"d_model": 10, "num_heads": 4, "num_kv_heads": 2},
            "the heads do not divide the features",
        ),
        (
            "groups-indivisible",
            {"d_model": 12, "num_heads": 4, "num_kv_heads": 3},
            "the key heads do not divide the heads",
        ),
    ):
        case = Case(id, name)
        module = case.build(**sizes)
        case.call(case.input("x", draw.normal(1, 2, sizes["d_model"])), on=module)
        case.check("shapes", "raises", [], f"a ValueError if {title}", type="ValueError")
        yield case
