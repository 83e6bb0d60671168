"""Find code in a hint, or in the sentence or question about a mistake: these texts must not contain code."""

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
