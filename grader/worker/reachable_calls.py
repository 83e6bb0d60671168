"""Find the forbidden calls to watch for. Watching slows down each call of torch, so impossible calls are not watched.

A call in `_NAMES` is watched if the sources name it, or import a package that may make it, or can look up names at run
time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

# Call → names. A source that contains none of them cannot make torch run the call. Calls that are not in this table
# are always watched.
_NAMES = {
    "nn.MultiheadAttention": ("MultiheadAttention", "Transformer"),
    "nn.Transformer*": ("Transformer",),
    "scaled_dot_product_attention": (
        "scaled_dot_product_attention",
        "MultiheadAttention",
        "multi_head_attention_forward",
        "Transformer",
    ),
}
_AT_RUN_TIME = re.compile(  # `.eval` is a method of modules
    r"getattr|__subclasses__|(?<!\.)\beval\b|\bexec\b|__dict__|__import__|__builtins__|\bvars\b|\bglobals\b"
)
_IMPORT = re.compile(r"\bfrom[\s\\]+([\w.]+)[\s\\]+import\b|\bimport\b([^\n;#]*)")
# Packages that make no such call by themselves, and that look up no names at run time. Calls in `grader.given` do not
# count.
_KNOWN = frozenset(
    [
        "__future__",
        "abc",
        "collections",
        "copy",
        "d2l",
        "d2lzh_pytorch",
        "dataclasses",
        "functools",
        "grader",
        "itertools",
        "math",
        "matplotlib",
        "numpy",
        "random",
        "time",
        "torch",
        "typing",
        "warnings",
    ]
)


def reachable(calls: Sequence[str], sources: tuple[str, ...]) -> list[str]:
    """Return those of `calls` that code with these sources may make."""
    return [call for call in calls if _may_be_made(call, sources)]


@lru_cache(maxsize=256)
def _may_be_made(call: str, sources: tuple[str, ...]) -> bool:
    if call not in _NAMES or _finds_names_at_run_time(sources):
        return True
    return any(name in text for text in map(_normal, sources) for name in _NAMES[call])


@lru_cache(maxsize=64)
def _finds_names_at_run_time(sources: tuple[str, ...]) -> bool:
    return any(_AT_RUN_TIME.search(text) or _imports_others(text) for text in map(_normal, sources))


def _imports_others(text: str) -> bool:
    """Return whether a source may import another package than the known ones."""
    for module, modules in _IMPORT.findall(text):
        names = [module] if module else modules.split(",")
        packages = [name.strip().partition(" ")[0].partition(".")[0] for name in names]  # of "a.b as c": "a"
        if not _KNOWN.issuperset(packages):
            return True
    return False


def _normal(text: str) -> str:
    """Return a source with its identifiers as Python reads them."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)
