"""Student sources as syntax trees, each parsed once: several readers ask for the same."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache


@lru_cache(maxsize=128)
def parsed(source: str) -> ast.Module:
    """The tree, to be read only. Raises what `ast.parse` raises: SyntaxError, ValueError, RecursionError, MemoryError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a string such as "\d"
        return ast.parse(source)
