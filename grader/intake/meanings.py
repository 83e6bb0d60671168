"""What a parameter means by its name, and which parameters of two signatures mean the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Meaning → what a name with this meaning contains; underscores are spaces. The first row that fits counts.
MEANINGS = (
    ("config", r"^(config|cfg|args)$"),
    ("flag", r"^(return|use|is|with) (?!bias)"),
    ("mask", r"masks?$"),
    ("dropout", r"drop|prob|rate|^p$"),
    ("length", r"len|steps|frames|max (pos|words|tokens)|(block|context) size"),
    ("width of a head", r"head (size|dim)|(size|dim) head|^d head"),
    ("heads", r"head|^h$"),
    ("layers", r"layer|block|blk|depth|^n$"),
    ("bias", r"bias"),
    ("eps", r"eps"),
    ("vocabulary", r"vocab"),
    ("key", r"\b(k|keys?|kdim)\b"),
    ("query", r"\b(q|query|queries|qdim)\b"),
    ("value", r"\b(v|values?|vdim)\b"),
    ("input", r"\bin(puts?)?\b"),
    ("output", r"\bout(puts?)?\b"),
    ("inner", r"\b(d f|d?ff\w*|inner|intermediate( size| dim)?)\b"),
    ("width", r"hid|model|emb|width|units|features|\bdims?\b|^size$|^d$"),
)
# What a size measures; "": its name does not say it.
SIZES = frozenset({"", "vocabulary", "key", "query", "value", "input", "output", "inner", "width"})


def meaning(name: str) -> str:
    """Return what a parameter means by its name, as in MEANINGS; "" if the name does not say it."""
    words = name.lower().replace("_", " ")
    return next((what for what, pattern in MEANINGS if re.search(pattern, words)), "")


def same(asked: Sequence[str], own: Sequence[str]) -> dict[str, str]:
    """Return asked name → own name, for equal names, and for two names that alone have one meaning."""
    pairs = {name: name for name in asked if name in own}
    left, free = ([name for name in names if name not in pairs] for names in (asked, own))
    meant = [meaning(name) for name in left]
    for name, means in zip(left, meant, strict=True):
        alike = [other for other in free if meaning(other) == means]
        if means and meant.count(means) == len(alike) == 1:
            pairs[name] = alike[0]
    return pairs


def counterparts(asked: Sequence[str], own: Sequence[str]) -> dict[str, str]:
    """Return asked name → own name: by meaning, and the others in their order.

    Return {} if a name has no counterpart, or if its counterpart means something else.
    """
    pairs = same(asked, own)
    left = [name for name in asked if name not in pairs]
    free = [name for name in own if name not in pairs.values()]
    fits = len(left) <= len(free) and all(map(_may_mean, left, free))
    return pairs | dict(zip(left, free, strict=False)) if fits else {}


def _may_mean(asked: str, own: str) -> bool:
    """Whether nothing speaks against it. A width, or a size without a meaning, may be any size."""
    means = {meaning(asked), meaning(own)}
    return len(means) == 1 or (means <= SIZES and not means.isdisjoint(("", "width")))
