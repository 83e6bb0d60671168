"""Questions about a student's own code, with numbers drawn from a seed: what a call returns, and wrong answers.

The right option is what the student's file computes, a wrong one what it would compute for a call with a mistake.
"""

from __future__ import annotations

import re
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


def _code(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_code, value))}]"
    if isinstance(value, Tensor) and value.is_floating_point() and value.detach().frac().any():
        return f"torch.randn{tuple(value.shape)}"
    return f"torch.tensor({value.tolist()})" if isinstance(value, Tensor) else str(value)


_INPUTS = "key_size=k query_size=q value_size=v"
_QKV = "queries:B,T,q keys:B,S,k values:B,S,v valid_lens?B,T,S"
_BLOCK = "key_size=H*d query_size=H*d value_size=H*d num_hiddens=H*d norm_shape=H*d ffn_num_input=H*d"
_ARGUMENT = re.compile(r"([\w.]+)([=:?~])(\S+)")
# Exercise → how it is built and called, where s is the size drawn for the letter s, and * is a product: name=s is a
# number, name:s,t a random tensor, name?s,t,u lengths up to u, one per sequence or per query, and
# name~s,t,u the state of a decoder.
CALLS = {
    "kernel_attention_weights": ("", "queries:T keys:S"),
    "kernel_regression": ("", "queries:T keys:S values:S"),
    "sequence_mask": ("", "X:B,S valid_len?B,1,S"),
    "masked_softmax": ("", "X:B,T,S valid_lens?B,T,S"),
    "AdditiveAttention": ("key_size=k query_size=q num_hiddens=h dropout=0", _QKV),
    "DotProductAttention": ("dropout=0", _QKV.replace("q ", "k ")),
    "transpose_qkv": ("", "X:B,T,H*d num_heads=H"),
    "transpose_output": ("", "X:B*H,T,d num_heads=H"),
    "MultiHeadAttention": (f"{_INPUTS} num_hiddens=H*d num_heads=H dropout=0", _QKV),
    "PositionalEncoding": ("num_hiddens=d dropout=0", "X:B,T,d"),
    "shift_matrix": ("", "delta=T num_hiddens=2*d"),
    "AddNorm": ("normalized_shape=d dropout=0", "X:B,T,d Y:B,T,d"),
    "PositionWiseFFN": ("ffn_num_input=i ffn_num_hiddens=h ffn_num_outputs=o", "X:B,T,i"),
    "EncoderBlock": (f"{_BLOCK} ffn_num_hiddens=f num_heads=H dropout=0", "X:B,S,H*d valid_lens?B,1,S"),
    "DecoderBlock": (f"{_BLOCK} ffn_num_hiddens=f num_heads=H dropout=0 i=0", "X:B,T,H*d state~B,S,H*d"),
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
# Exercise → small sizes | weights with their axes | what mistakes do: expressions of the arguments, the weights and the
# result `out`, for another result, or for a dict of other arguments and weights.
OUTPUTS = {
    "kernel_regression": "T1 S3 | | dict(queries=queries / 2, keys=keys / 2) | values.mean()[None] | dict(values=values.flip(0))",
    "sequence_mask": "B2 S4 | | dict(valid_len=valid_len % 4 + 1) | dict(valid_len=valid_len.flip(0)) | X - out",
    "masked_softmax": "B1 T1 S4 | | dict(valid_lens=None) | X.softmax(-1) * (out > 0) | dict(valid_lens=valid_lens // 2 + 1)",
    "DotProductAttention": "B1 T1 S2 k4 v2 | | dict(queries=2 * queries) | dict(queries=queries / 2) | dict(values=values.flip(1))",
    "transpose_qkv": "B1 T2 H2 d2 | | X.reshape(2, 2, 2) | X.reshape(2, 2, 2).permute(2, 0, 1) | out.flip(0)",
    "transpose_output": "B1 T2 H2 d2 | | X.reshape(1, 2, 4) | X.permute(1, 2, 0).reshape(1, 2, 4) | dict(X=X.flip(0))",
    "MultiHeadAttention": "B1 T1 S2 q2 k2 v2 H1 d2 | W_q.weight:d,q W_k.weight:d,k W_v.weight:d,v W_o.weight:d,d"
    " | dict(W_k_weight=W_q_weight) | dict(W_k_weight=W_q_weight, W_v_weight=W_q_weight) | dict(W_k_weight=W_v_weight, W_v_weight=W_k_weight) | dict(W_q_weight=W_k_weight)",
    "PositionalEncoding": "B1 T2 d4 | | X + (out - X)[..., [0, 2, 1, 3]] | X + (out - X)[..., [1, 0, 3, 2]] | X + (out - X).flip(1)",
    "shift_matrix": "d1 | | dict(delta=-delta) | dict(delta=2 * delta) | out.flip(0)",
    "AddNorm": "B1 T1 d4 | | dict(X=0 * X) | dict(Y=0 * Y) | X + Y | dict(Y=-Y)",
    "PositionWiseFFN": "B1 T1 i2 h2 o2 | dense1.weight:h,i dense1.bias:h dense2.weight:o,h dense2.bias:o"
    " | (X @ dense1_weight.T + dense1_bias) @ dense2_weight.T + dense2_bias | out.relu() | dict(dense1_bias=0 * dense1_bias)",
}


def _call(draw: Random, of: str, masked: bool, small: str = "", weights: str = "") -> tuple[Call, list[int]]:
    """Return a call, and the sizes, which differ. small: the sizes; tensors hold whole numbers. masked: with lengths."""
    specs = [_ARGUMENT.findall(spec) for spec in (*CALLS[of], weights)]
    axes = {axis for _name, _kind, words in chain(*specs) for axis in words.split(",")} - {"0", "1"}
    letters = sorted(set("".join(axes)) - set("*2"))

    def size(axis: str) -> int:
        return prod(sizes.get(letter) or int(letter) for letter in axis.split("*"))

    def value(kind: str, *shape: int) -> Any:
        if kind == "=":
            return shape[0]
        if kind == "~":
            return [value(":", *shape), value("?", shape[0], 1, shape[1]), [None]]
        if kind == "?":
            each = shape[:2] if shape[1] > 1 and draw.random() < 0.5 else shape[:1]
            lens = [draw.randint(1, shape[2]) for _one in range(prod(each))]
            return torch.tensor(lens).reshape(*each) if masked else None
        if small:
            return torch.tensor(draw.sample(range(-3, 6), prod(shape))).float().reshape(*shape)
        return torch.randn(*shape, generator=torch.Generator().manual_seed(draw.getrandbits(32)))

    found = [0, 0]
    while len(set(found)) < len(found):
        sizes = dict(zip(letters, draw.sample(range(3, 12), len(letters)), strict=True))
        sizes |= {name: int(n) for name, n in re.findall(r"(\D)(\d)", small)}
        found = [] if small else [size(axis) for axis in sorted({*axes, *letters})]
    made = ({name: value(kind, *map(size, words.split(","))) for name, kind, words in spec} for spec in specs)
    return Call(of, *made), found


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
    small, weights, *mistakes = OUTPUTS[of].split("|")
    call, _sizes = _call(draw, of, not weights.strip(), small, weights)
    out, wrong = deepcopy(call).run(names).detach(), []  # code may change an argument in place
    values = {n.replace(".", "_"): v for n, v in {**call.args, **call.weights, "out": out}.items()}
    for mistake in mistakes:
        other = eval(mistake.strip(), {"dict": dict}, values)
        if isinstance(other, dict):
            new = [{k: other.get(k.replace(".", "_"), v) for k, v in own.items()} for own in call[2:]]
            other = deepcopy(Call(*call[:2], *new)).run(names)
        wrong.append(_rounded(other))
    return _question(draw, _("Which is the result, rounded to two decimals?"), call, _rounded(out), wrong)


def _rounded(out: Tensor) -> str:
    numbers = ((out.detach() * 100).round() / 100 + 0.0).double().tolist()  # no -0.00
    return re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda n: f"{float(n[0]):.2f}", str(numbers))


def _question(draw: Random, says: str, call: Call, right: str, wrong: Iterable[str]) -> Question:
    """Return a question with some of the wrong options. Raises ValueError if too few differ."""
    differ = [one for one in dict.fromkeys(wrong) if one != right]
    options = [right, *draw.sample(differ, min(max(2, len(differ)), len(LETTERS) - 1))]  # ValueError: too few
    draw.shuffle(options)
    lines = [f"{name} = {_code(value)}" for name, value in call.args.items()]
    if call.build:
        lines.append(f"module = {call.of}({', '.join(f'{k}={v}' for k, v in call.build.items())})")
    lines += [f"module.{name} = {_code(value)}" for name, value in call.weights.items()]
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
