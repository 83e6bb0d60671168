"""The constructors of the course's classes, and those of edition 1.x of Dive into Deep Learning.

A submission may define a class with either constructor, and may call a building block with the parameters of either.
The layers of edition 1.x are lazy: they take the sizes of their inputs from the first input, so its constructors do not
ask for these sizes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

# Class → the parameters of its constructor in edition 1.x. "theirs=ours": the course calls the parameter `ours`.
EDITION_1 = {
    "AdditiveAttention": "num_hiddens dropout",
    "MultiHeadAttention": "num_hiddens num_heads dropout bias",
    "MixedUpAttention": "num_hiddens num_heads dropout bias",  # the course's own: as MultiHeadAttention
    "AddNorm": "norm_shape=normalized_shape dropout",
    "PositionWiseFFN": "ffn_num_hiddens ffn_num_outputs",
    "EncoderBlock": "num_hiddens ffn_num_hiddens num_heads dropout use_bias",
    "TransformerEncoder": "vocab_size num_hiddens ffn_num_hiddens num_heads num_blks=num_layers dropout use_bias",
    "DecoderBlock": "num_hiddens ffn_num_hiddens num_heads dropout i",
    "TransformerDecoder": "vocab_size num_hiddens ffn_num_hiddens num_heads num_blks=num_layers dropout",
}
# Class → the defaults of its parameters, for a submission in which they have none.
DEFAULTS: Mapping[str, dict[str, Any]] = {
    "MultiHeadAttention": {"bias": False},
    "PositionalEncoding": {"max_len": 1000},
}
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def accepted_forms(
    name: str, kwargs: Mapping[str, Any], renamed: Mapping[str, str] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Return the keywords for each accepted constructor of the class `name`, the course's first.

    kwargs: the course's keywords and their values. The constructor of edition 1.x gets the same values under its own
    names, and each form is repeated with the course's defaults. renamed: keyword → its name in this submission. If given,
    each form is repeated with these names.
    """
    forms = [dict(kwargs)]
    if name in EDITION_1:
        forms.append({theirs: kwargs[ours] for theirs, ours in edition_1(name).items() if ours in kwargs})
    if defaults := DEFAULTS.get(name):
        forms += [defaults | form for form in forms]
    if renamed:
        forms += [{renamed.get(key, key): value for key, value in form.items()} for form in forms]
    return forms


def fitting_form(
    name: str,
    build: Callable[..., Any],
    kwargs: Mapping[str, Any],
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any] | None:
    """Return the first of the accepted keywords (see `accepted_forms`) that fit `build`; None if none of them fits.

    Keywords fit if `build` has a parameter for each of them, and if all its other parameters have defaults.
    """
    try:
        named, needed = _parameters(build)
    except (TypeError, ValueError):
        return None
    if needed <= kwargs.keys() <= named:  # the usual case: the other forms are not needed
        return dict(kwargs)
    return next(
        (form for form in accepted_forms(name, kwargs, renamed) if needed <= form.keys() <= named), None
    )


@lru_cache(maxsize=64)  # each case builds the same class
def _parameters(build: Callable[..., Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the parameters, and of those without a default. Raises TypeError or ValueError."""
    parameters = [p for p in inspect.signature(build).parameters.values() if p.kind in _BY_NAME]
    needed = [p for p in parameters if p.default is p.empty]
    return frozenset(p.name for p in parameters), frozenset(p.name for p in needed)


def edition_1(name: str) -> dict[str, str]:
    """Return the parameters of the constructor of a class: name in edition 1.x → the course's name."""
    pairs = (word.partition("=") for word in EDITION_1[name].split())
    return {theirs: ours or theirs for theirs, _, ours in pairs}
