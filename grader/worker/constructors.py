"""The constructors of the course's classes, and those of edition 1.x of Dive into Deep Learning.

A submission may define a class with either constructor, and may call a building block with the parameters of either.
The layers of edition 1.x are lazy: they take the sizes of their inputs from the first input, so its constructors do not
ask for these sizes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType, FunctionType, MappingProxyType
from typing import Any


def named(words: str) -> dict[str, str]:
    """Return other name → the course's name, for words "same" or "other=ours"."""
    pairs = (word.partition("=") for word in words.split())
    return {theirs: ours or theirs for theirs, _, ours in pairs}


# Class → the parameters of its constructor in edition 1.x, and the course's names for them.
EDITION_1 = {
    "AdditiveAttention": named("num_hiddens dropout"),
    "MultiHeadAttention": named("num_hiddens num_heads dropout bias"),
    "MixedUpAttention": named("num_hiddens num_heads dropout bias"),  # the course's own
    "AddNorm": named("norm_shape=normalized_shape dropout"),
    "PositionWiseFFN": named("ffn_num_hiddens ffn_num_outputs"),
    "EncoderBlock": named("num_hiddens ffn_num_hiddens num_heads dropout use_bias"),
    "TransformerEncoder": named(
        "vocab_size num_hiddens ffn_num_hiddens num_heads num_blks=num_layers dropout use_bias"
    ),
    "DecoderBlock": named("num_hiddens ffn_num_hiddens num_heads dropout i"),
    "TransformerDecoder": named(
        "vocab_size num_hiddens ffn_num_hiddens num_heads num_blks=num_layers dropout"
    ),
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
        forms.append({theirs: kwargs[ours] for theirs, ours in EDITION_1[name].items() if ours in kwargs})
    if defaults := DEFAULTS.get(name):
        forms += [defaults | form for form in forms]
    if renamed:
        forms += [{renamed.get(key, key): value for key, value in form.items()} for form in forms]
    return forms


def _parameters(build: Callable[..., Any]) -> dict[str, bool] | None:
    """Return parameter → whether it has no default; None if the signature is not known."""
    try:
        found = inspect.signature(build).parameters.values()
    except (TypeError, ValueError):
        return None
    return {p.name: p.default is p.empty for p in found if p.kind in _BY_NAME}


@lru_cache(maxsize=32)
def _once(build: Callable[..., Any], _code: CodeType, _defaults: int) -> dict[str, bool] | None:
    return _parameters(build)


def fitting_form(
    name: str,
    build: Callable[..., Any],
    kwargs: Mapping[str, Any],
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any] | None:
    """Return the first of the accepted keywords (see `accepted_forms`) that fit `build`; None if none of them fits.

    Keywords fit if `build` has a parameter for each of them, and if all its other parameters have defaults.
    """
    init = getattr(build, "__init__", None)
    code, defaults = getattr(init, "__code__", None), getattr(init, "__defaults__", None) or ()
    # Of a class that writes its constructor, each case asks again. Edits of a class change the code of its constructor.
    is_plain = type(build) is type and type(init) is FunctionType and "__init__" in vars(build)
    possible = _once(build, code, len(defaults)) if is_plain else _parameters(build)
    if possible is None:
        return None
    needed = {name for name, is_needed in possible.items() if is_needed}
    forms = accepted_forms(name, kwargs, renamed)
    return next((form for form in forms if needed <= form.keys() <= possible.keys()), None)
