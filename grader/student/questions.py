"""Questions about a student's own code, with numbers drawn from a seed: what a call returns, and wrong answers.

The right option is what the student's file computes, a wrong one what it would compute for a call with a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import partial
from itertools import chain, permutations, zip_longest
from math import prod
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor

from grader.support.i18n import _
from grader.worker import steps as do
from grader.worker.program import Program

MOST, TRIES, LETTERS = 3, 20, "ABCD"  # questions, draws for one until options differ, their letters
Names = Mapping[str, Any]  # of a student's module


class Question(NamedTuple):
    """A question with the call that it is about, as code, and the options, of which the one at `right` is right."""

    text: str
    options: Sequence[str]
    right: int


class Call(NamedTuple):
    """A call of the exercise `of`. build: the arguments of its constructor; {} for a function. weights: of its layers."""

    of: str
    build: Mapping[str, Any]
    args: Mapping[str, Any]
    weights: Mapping[str, Tensor]

    def run(self, names: Names) -> Tensor:
        """Return the result. Raises ValueError if the code raises, or has other weights."""
        build: list[do.Step] = [do.Build("module", self.of, dict(self.build))] * bool(self.build)
        load = [do.Load("module", {name: name for name in self.weights})] * bool(self.weights)
        callee = do.Callee(ref="module") if self.build else do.Callee(self.of)
        call = do.Call("out", callee, [do.Ref(name) for name in self.args], {})
        program = Program(names, do.Run([*build, *load, call], "float32"), self.weights)
        program.env.update(self.args)
        program.run(())
        loaded, out = program.reply.get("parameters", {}), program.env.get("out")
        out = out[0] if isinstance(out, tuple) else out
        if not isinstance(out, Tensor) or loaded.get("missing") or loaded.get("misshapen"):
            raise ValueError(f"{self.of} cannot be asked about")
        return out


class Drawn:
    """Draws what a call needs: a size for each letter, `s.B`, which all differ, and tensors.

    small: sizes that are known; tensors hold whole numbers then. masked: whether sequences have lengths.
    """

    def __init__(self, draw: Random, masked: bool, small: Mapping[str, int]) -> None:
        self.draw, self.masked, self.is_small, self.sizes = draw, masked, bool(small), dict(small)
        self.left = draw.sample(range(3, 12), 9)

    def __getattr__(self, letter: str) -> int:
        if letter not in self.sizes:
            self.sizes[letter] = self.left.pop()
        return self.sizes[letter]

    def randn(self, *shape: int) -> Tensor:
        if self.is_small:
            return torch.tensor(self.draw.sample(range(-3, 6), prod(shape))).float().reshape(*shape)
        return torch.randn(*shape, generator=torch.Generator().manual_seed(self.draw.getrandbits(32)))

    def lens(self, B: int, T: int, S: int) -> Tensor | None:
        """Return lengths up to S, of shape (B,) or, if T is more than 1, perhaps (B, T)."""
        shape = (B, T) if T > 1 and self.draw.random() < 0.5 else (B,)
        lens = torch.tensor([self.draw.randint(1, S) for _one in range(prod(shape))])
        return lens.reshape(*shape) if self.masked else None

    def attended(self, q: int, k: int) -> dict[str, Any]:
        B, T, S = self.B, self.T, self.S
        drawn = {
            "queries": self.randn(B, T, q),
            "keys": self.randn(B, S, k),
            "values": self.randn(B, S, self.v),
        }
        return drawn | {"valid_lens": self.lens(B, T, S)}

    def block(self) -> dict[str, Any]:
        names = ("key_size", "query_size", "value_size", "num_hiddens", "norm_shape", "ffn_num_input")
        own = {"ffn_num_hiddens": self.f, "num_heads": self.H, "dropout": 0}
        return dict.fromkeys(names, self.H * self.d) | own


Arguments = Mapping[str, Callable[[Drawn], dict[str, Any]]]
# Exercise → the arguments of its constructor, and of its call, with what `s` draws.
BUILDS: Arguments = {
    "AdditiveAttention": lambda s: {"key_size": s.k, "query_size": s.q, "num_hiddens": s.h, "dropout": 0},
    "DotProductAttention": lambda s: {"dropout": 0},
    "MultiHeadAttention": lambda s: (
        {"key_size": s.k, "query_size": s.q, "value_size": s.v}
        | {"num_hiddens": s.H * s.d, "num_heads": s.H, "dropout": 0}
    ),
    "PositionalEncoding": lambda s: {"num_hiddens": s.d, "dropout": 0},
    "AddNorm": lambda s: {"normalized_shape": s.d, "dropout": 0},
    "PositionWiseFFN": lambda s: {"ffn_num_input": s.i, "ffn_num_hiddens": s.h, "ffn_num_outputs": s.o},
    "EncoderBlock": lambda s: s.block(),
    "DecoderBlock": lambda s: s.block() | {"i": 0},
}
CALLS: Arguments = {
    "kernel_attention_weights": lambda s: {"queries": s.randn(s.T), "keys": s.randn(s.S)},
    "kernel_regression": lambda s: {"queries": s.randn(s.T), "keys": s.randn(s.S), "values": s.randn(s.S)},
    "sequence_mask": lambda s: {"X": s.randn(s.B, s.S), "valid_len": s.lens(s.B, 1, s.S)},
    "masked_softmax": lambda s: {"X": s.randn(s.B, s.T, s.S), "valid_lens": s.lens(s.B, s.T, s.S)},
    "AdditiveAttention": lambda s: s.attended(s.q, s.k),
    "DotProductAttention": lambda s: s.attended(s.k, s.k),
    "transpose_qkv": lambda s: {"X": s.randn(s.B, s.T, s.H * s.d), "num_heads": s.H},
    "transpose_output": lambda s: {"X": s.randn(s.B * s.H, s.T, s.d), "num_heads": s.H},
    "MultiHeadAttention": lambda s: s.attended(s.q, s.k),
    "PositionalEncoding": lambda s: {"X": s.randn(s.B, s.T, s.d)},
    "shift_matrix": lambda s: {"delta": s.T, "num_hiddens": 2 * s.d},
    "AddNorm": lambda s: {"X": s.randn(s.B, s.T, s.d), "Y": s.randn(s.B, s.T, s.d)},
    "PositionWiseFFN": lambda s: {"X": s.randn(s.B, s.T, s.i)},
    "EncoderBlock": lambda s: {"X": s.randn(s.B, s.S, s.H * s.d), "valid_lens": s.lens(s.B, 1, s.S)},
    "DecoderBlock": lambda s: {
        "X": s.randn(s.B, s.T, s.H * s.d),
        "state": [s.randn(s.B, s.S, s.H * s.d), s.lens(s.B, 1, s.S), [None]],
    },
}
# Not asked for a shape: the result has that of an input.
SAME = ("sequence_mask", "masked_softmax", "PositionalEncoding", "AddNorm", "EncoderBlock")
_ALL = _("How many of the {total} weights of query {t} in sequence {b} (from 0) are zero?")
_SELF = _("How many of the {total} self-attention weights of query {t} in sequence {b} (from 0) are zero?")
_CROSS = _("How many of the {total} cross-attention weights of query {t} in sequence {b} (from 0) are zero?")
# Exercise, the argument on whose rows the result depends if their weights are not zero, and the question.
ZEROS = (
    *((of, "values", _ALL) for of in ("AdditiveAttention", "DotProductAttention", "MultiHeadAttention")),
    *(("masked_softmax", "X", _ALL), ("EncoderBlock", "X", _SELF)),
    *(("DecoderBlock", "X", _SELF), ("DecoderBlock", "state", _CROSS)),
)


class Small(NamedTuple):
    """Small sizes for a question about the result, and what mistakes would return.

    `m` is the call with its result `m.out`; called with other arguments or weights, it returns another result.
    """

    sizes: Mapping[str, int]
    mistakes: Callable[[Any], Sequence[Tensor]]
    weights: Sequence[str] = ()  # each of shape (2, 2)


class Known:
    """A call with its arguments and weights as attributes, and its result `out`."""

    def __init__(self, call: Call, names: Names) -> None:
        self.call, self.names = call, names
        vars(self).update({k.replace(".", "_"): v for k, v in {**call.args, **call.weights}.items()})
        self.out = self()

    def __call__(self, **others: Any) -> Tensor:
        """Return the result of the student's code for other arguments or weights."""
        of, build, *own = self.call
        args, weights = ({k: others.get(k.replace(".", "_"), v) for k, v in one.items()} for one in own)
        new = deepcopy(Call(of, build, args, weights))  # the code may change an argument in place
        return new.run(self.names).detach()


OUTPUTS = {
    "kernel_regression": Small(
        {"T": 1, "S": 3},
        lambda m: [m(queries=m.queries / 2, keys=m.keys / 2), m.values.mean()[None], m(keys=m.keys.flip(0))],
    ),
    "sequence_mask": Small(
        {"B": 2, "S": 4},
        lambda m: [m(valid_len=m.valid_len % 4 + 1), m(valid_len=m.valid_len.flip(0)), m.X - m.out],
    ),
    "masked_softmax": Small(
        {"B": 1, "T": 1, "S": 4},
        lambda m: [m(valid_lens=None), m.X.softmax(-1) * (m.out > 0), m(valid_lens=m.valid_lens // 2 + 1)],
    ),
    "DotProductAttention": Small(
        {"B": 1, "T": 1, "S": 2, "k": 4, "v": 2},
        lambda m: [m(queries=2 * m.queries), m(queries=m.queries / 2), m(values=m.values.flip(1))],
    ),
    "transpose_qkv": Small(
        {"B": 1, "T": 2, "H": 2, "d": 2},
        lambda m: [m.X.reshape(2, 2, 2), m.X.reshape(2, 2, 2).permute(2, 0, 1), m.out.flip(0)],
    ),
    "MultiHeadAttention": Small(
        {"B": 1, "T": 1, "S": 2, "q": 2, "k": 2, "v": 2, "H": 1, "d": 2},
        lambda m: [
            m(W_k_weight=m.W_q_weight),
            m(W_k_weight=m.W_q_weight, W_v_weight=m.W_q_weight),
            m(W_k_weight=m.W_v_weight, W_v_weight=m.W_k_weight),
            m(W_q_weight=m.W_k_weight),
        ],
        ("W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"),
    ),
    "PositionalEncoding": Small(
        {"B": 1, "T": 2, "d": 4},
        lambda m: [m.X + (m.out - m.X)[..., order] for order in ([0, 2, 1, 3], [1, 0, 3, 2], [3, 2, 1, 0])],
    ),
    "shift_matrix": Small({"d": 1}, lambda m: [m(delta=-m.delta), m(delta=2 * m.delta), m.out.flip(0)]),
    "AddNorm": Small({"B": 1, "T": 1, "d": 4}, lambda m: [m(X=0 * m.X), m(Y=0 * m.Y), m.X + m.Y, m(Y=-m.Y)]),
}


def _call(draw: Random, of: str, masked: bool, small: Small | None = None) -> tuple[Call, Collection[int]]:
    """Return a call, and the sizes that are in it. masked: with lengths."""
    s = Drawn(draw, masked, small.sizes if small else {})
    build, args = BUILDS[of](s) if of in BUILDS else {}, CALLS[of](s)
    weights = {name: s.randn(2, 2) for name in (small.weights if small else ())}
    shapes = (arg.shape for arg in args.values() if isinstance(arg, Tensor))
    return Call(of, build, args, weights), sorted({*s.sizes.values(), *chain(*shapes)})


def _code(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_code, value))}]"
    if isinstance(value, Tensor) and value.is_floating_point() and value.detach().frac().any():
        return f"torch.randn({', '.join(map(str, value.shape))})"
    return f"torch.tensor({value.tolist()})" if isinstance(value, Tensor) else str(value)


def _shape(of: str, draw: Random, names: Names) -> Question:
    """Ask for the shape of the result. All sizes differ."""
    call, sizes = _call(draw, of, False)
    right = tuple(call.run(names).shape)
    others = [(*right[:n], size, *right[n + 1 :]) for n in range(len(right)) for size in sizes]
    others += [(*right, size) for size in sizes] if len(right) == 1 else [right[1:]]
    others += draw.sample([*permutations(right)] * 3, 3)
    return _question(draw, _("What is the shape of the result?"), call, str(right), map(str, others))


def _zeros(of: str, wrt: str, says: str, draw: Random, names: Names) -> Question:
    """Ask how many weights of a row are exactly zero."""
    call, _sizes = _call(draw, of, True)
    leaf = (call.args[wrt][0] if wrt == "state" else call.args[wrt]).requires_grad_(of != "masked_softmax")
    out = call.run(names)
    b, t = draw.randrange(out.shape[0]), draw.randrange(out.shape[1])
    t *= of != "EncoderBlock"  # there a step in the padding depends on itself, with weight zero
    zero = out[b, t] == 0
    if of != "masked_softmax":
        (slopes,) = torch.autograd.grad((out[b, t] * torch.arange(1.0, out.shape[2] + 1).sqrt()).sum(), leaf)
        zero = (slopes[b] == 0).all(dim=-1)
    n, right = len(zero), int(zero.sum())
    near = sorted({right + 1, right - 1, n - right, n - right - 1, right + 2, right - 2} & {*range(n + 1)})
    return _question(draw, says.format(total=n, t=t, b=b), call, str(right), map(str, near))


def _output(of: str, draw: Random, names: Names) -> Question:
    """Ask which result small inputs give."""
    small = OUTPUTS[of]
    call, _sizes = _call(draw, of, not small.weights, small)
    known, says = Known(call, names), _("Which is the result, rounded to two decimals?")
    return _question(draw, says, call, _rounded(known.out), map(_rounded, small.mistakes(known)))


def _rounded(out: Tensor) -> str:
    def shown(value: Any) -> str:
        return f"[{', '.join(map(shown, value))}]" if isinstance(value, list) else f"{value:.2f}"

    return shown(((out * 100).round() / 100 + 0.0).tolist())  # no -0.00


def _question(draw: Random, says: str, call: Call, right: str, wrong: Iterable[str]) -> Question:
    """Return a question with some of the wrong options. Raises ValueError if too few differ."""
    differ = [one for one in dict.fromkeys(wrong) if one != right]
    options = [right, *draw.sample(differ, min(max(2, len(differ)), len(LETTERS) - 1))]  # ValueError: too few
    draw.shuffle(options)
    lines = [f"{name} = {_code(value)}" for name, value in call.args.items()]
    if call.build:
        lines.append(f"module = {call.of}({', '.join(f'{k}={v}' for k, v in call.build.items())})")
    lines += [f"module.{name}.data = {_code(value)}" for name, value in call.weights.items()]
    lines.append(f"{'module' if call.build else call.of}({', '.join(call.args)})")
    return Question("\n    ".join([f"{says}\n", *lines]), options, options.index(right))


def questions(exercises: Collection[str], names: Names, seed: str) -> list[Question]:
    """Return three questions, the same for the same seed, one of each kind if there are enough; fewer if calls raise."""
    kinds: list[list[Callable[[Random, Names], Question]]] = [
        [partial(_shape, of) for of in CALLS if of in exercises and of not in SAME],
        [partial(_zeros, *row) for row in ZEROS if row[0] in exercises],
        [partial(_output, of) for of in OUTPUTS if of in exercises],
    ]
    draw, found = Random(seed), list[Question]()
    for kind in filter(None, chain(*zip_longest(*(draw.sample(of, len(of)) for of in kinds)))):
        for _try in range(TRIES if len(found) < MOST else 0):
            with suppress(ValueError, RuntimeError):  # RuntimeError: of torch, without a gradient
                found.append(kind(draw, names))
                break
    return found
