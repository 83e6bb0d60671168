"""The constructors of the course's classes, and those of edition 1.x of Dive into Deep Learning.

Both are accepted, from a submission that defines a class and from one that uses a building block. The layers of
edition 1.x are lazy: they take the sizes of their inputs from the first input, so its constructors do not ask
for these sizes.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from torch import nn

# Class → the parameters of its constructor in edition 1.x. "theirs=ours": the course has another name for it.
EDITION_1 = {
    "AdditiveAttention": "num_hiddens dropout",
    "MultiHeadAttention": "num_hiddens num_heads dropout bias",
    "MixedUpAttention": "num_hiddens num_heads dropout bias",
    "AddNorm": "norm_shape=normalized_shape dropout",
    "PositionWiseFFN": "ffn_num_hiddens ffn_num_outputs",
    "EncoderBlock": "num_hiddens ffn_num_hiddens num_heads dropout use_bias",
    "TransformerEncoder": "vocab_size num_hiddens ffn_num_hiddens num_heads num_blks=num_layers dropout use_bias",
    "DecoderBlock": "num_hiddens ffn_num_hiddens num_heads dropout i",
    "TransformerDecoder": "vocab_size num_hiddens ffn_num_hiddens num_heads num_blks=num_layers dropout",
}
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def accepted_forms(
    name: str, kwargs: Mapping[str, Any], renamed: Mapping[str, str] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Return the keywords for each accepted constructor of the class `name`, the course's first.

    kwargs: the course's keywords. The other forms have their values under the names that they use. renamed:
    keywords that have another name in this submission; the same forms follow with these names.
    """
    forms = [dict(kwargs)]
    if name in EDITION_1:
        forms.append({theirs: kwargs[ours] for theirs, ours in _edition_1(name).items() if ours in kwargs})
    if renamed:
        forms += [{renamed.get(key, key): value for key, value in form.items()} for form in forms]
    return forms


def fitting_form(
    name: str,
    build: Callable[..., Any],
    kwargs: Mapping[str, Any],
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any] | None:
    """Return the keywords of the first accepted constructor that `build` has; None if it has another one.

    A constructor fits if it names every keyword, and if all its other parameters have defaults.
    """
    try:
        parameters = [p for p in inspect.signature(build).parameters.values() if p.kind in _BY_NAME]
    except (TypeError, ValueError):
        return None
    named = {p.name for p in parameters}
    needed = {p.name for p in parameters if p.default is p.empty}
    return next(
        (form for form in accepted_forms(name, kwargs, renamed) if needed <= form.keys() <= named), None
    )


def accept_both(block: Any) -> Any:
    """Let the constructor of a building block accept the arguments of edition 1.x as well. Returns the block."""
    if getattr(block, "__name__", "") not in EDITION_1:
        return block
    build, forms = block.__init__, _edition_1(block.__name__)
    ours = inspect.signature(build)
    theirs = _signature(ours, forms)

    @functools.wraps(build)
    def either(self: Any, *args: Any, **kwargs: Any) -> None:
        given = None if _bound(ours, self, *args, **kwargs) else _bound(theirs, self, *args, **kwargs)
        if given is None:
            build(self, *args, **kwargs)
        else:
            _build_lazily(self, build, ours, {forms[n]: v for n, v in given.items() if n in forms})

    block.__init__ = either
    return block


def _edition_1(name: str) -> dict[str, str]:
    """The parameters of the constructor in edition 1.x, with the course's name for each."""
    pairs = (word.partition("=") for word in EDITION_1[name].split())
    return {theirs: ours or theirs for theirs, _, ours in pairs}


def _signature(ours: inspect.Signature, forms: Mapping[str, str]) -> inspect.Signature:
    """The signature of the constructor in edition 1.x, with the course's default values."""
    this = next(iter(ours.parameters.values()))
    return inspect.Signature(
        [this, *(ours.parameters[course].replace(name=name) for name, course in forms.items())]
    )


def _bound(signature: inspect.Signature, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
    """The arguments by name; None if the signature does not accept them."""
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None


def _build_lazily(
    module: nn.Module, build: Callable[..., None], ours: inspect.Signature, given: Mapping[str, Any]
) -> None:
    """Build a block without the sizes of its inputs: layers with these sizes take them from the first input."""
    needed = [name for name, p in ours.parameters.items() if p.default is p.empty][1:]
    unknown = {
        name: given["num_hiddens"] if name == "norm_shape" else 0 for name in needed if name not in given
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of layers without inputs
        build(module, **unknown, **given)
    for owner in list(module.modules()):
        for name, layer in list(owner.named_children()):
            if isinstance(layer, nn.Linear) and layer.in_features == 0:
                setattr(owner, name, nn.LazyLinear(layer.out_features, bias=layer.bias is not None))
