"""What the names of parameters and of parts of a module show: a projection, a bias, a layer of torch, an order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

_PROJECTION = r"(^|[._])((to|w|linear|lin|proj|fc)_?)?{}(_?(proj|linear|lin|weights?|w|net|layer))?($|[._\d])"
_ROLES = (
    ("q", re.compile(_PROJECTION.format("q(s|uery|ueries)?(_?heads?)?"))),
    ("k", re.compile(_PROJECTION.format("k(s|ey|eys)?(_?heads?)?"))),
    ("v", re.compile(_PROJECTION.format("v(s|al|als|alue|alues)?(_?heads?)?"))),
    ("o", re.compile(_PROJECTION.format("o(ut|utput)?"))),
    ("o", re.compile(r"(^|\.)(c_)?proj($|[.\d])")),
    ("g", re.compile(_PROJECTION.format("gate") + r"|(^|\.)w_?1$")),
    ("u", re.compile(_PROJECTION.format("up") + r"|(^|\.)w_?3$")),
    ("d", re.compile(_PROJECTION.format("down") + r"|(^|\.)w_?2$")),
)
# Place of a part in the order in which a decoder block uses its parts → words in the part's name. (The block may
# create them in another order.) The first match counts: `enc_dec_attn` is cross-attention, which has place 1.
_PLACES = {
    1: re.compile(r"cross|inter_?att|memory|(^|_)(src|source|enc|encoder)(_|$|att)"),
    2: re.compile(r"ffn|(^|_)ff(_|$)|feed_?forward|mlp"),
    0: re.compile(r"self|masked|causal|(^|_)(dec|decoder|tgt|target)_?(attn|attention|mha)"),
}


def role(name: str) -> str:
    """Return the projection that a name refers to: q, k, v, o, those of a gated network g (gate), u (up), d (down), or ""."""
    plain = re.sub(r"(^|\.)(weight|bias)$", "", name.lower()).rstrip(".")
    found = {role for role, pattern in _ROLES if pattern.search(plain)}
    return found.pop() if len(found) == 1 else ""


def is_bias(name: str) -> bool:
    """Whether a name is that of a bias: bias, beta, shift, b_q, b_q.0, b2, b.W_q."""
    return bool(re.search(r"bias|(^|[._])(beta|shift|b_?[qkvo\d]?)(\.\d+)?$|(^|\.)b\.", name.lower()))


def is_bare(name: str) -> bool:
    """Return False if the name ends with `weight` or `bias`, like those of most layers of torch; otherwise True."""
    return not name.endswith(("weight", "bias"))


def as_used(parts: Mapping[str, T]) -> dict[str, T]:
    """Return the parts of a module; those whose names show a place come in the order of their use."""
    places = {part: place for part in parts if (place := _place(part)) is not None}
    in_order = iter(sorted(places, key=lambda part: places[part]))
    # A part with a place is replaced by the next one in the order of use.
    arranged = [next(in_order) if part in places else part for part in parts]
    return {part: parts[part] for part in arranged}


def _place(part: str) -> int | None:
    """Return the place in the order of use that a part's name shows; None if it shows none."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", part).lower()
    return next((place for place, words in _PLACES.items() if words.search(plain)), None)
