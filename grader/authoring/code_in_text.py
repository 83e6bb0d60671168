"""Find code in a hint, or in the sentence (level 1) or question (level 2) about a mistake: it is not allowed there."""

from __future__ import annotations

import re

CODE = re.compile(
    r"\b(torch|self|F|np|math)\.\w|\bnn\.\w+\(|\w\([^)]*\)\s*[.\[]|==|->|:=|\*\*|\w @ \w|\blambda\b|\breturn \w+\(|"
    r"`[^`]*[(=][^`]*`|\w\.\w+\(|\w\[[^\]]*:|\w+\(\w+=|\w_?\(\w|\$|\\[a-z]+"
)


def code_in(text: str) -> str:
    """Return the first piece of code in a text; "" if there is none."""
    found = CODE.search(text)
    return found[0] if found else ""
