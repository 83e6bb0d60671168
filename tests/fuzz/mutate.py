"""Change valid input as accidents and attackers do."""

import copy
import random

# Values of many types, for any field.
ODD = [
    None, True, -1, 0, 10**30, 1.5, float("nan"), float("inf"), "", "x" * 5000, "\ud800\x1b[2J\u202e", [], {}, [[]], [None] * 700, {"is": 5},
    {"is": "\x1b"}, {"shape": [1, "2", None]}, {"": {"": []}}, [["a"], ["b", "c"], 5], {"file": [], "line": -5, "text": {}},
]  # fmt: skip

# Pieces of source code that made a parser slow or recursive when they were repeated hundreds of times.
PIECES = [
    "(", "[", "{", ")", "a.", ".a", "a=", "a,", "a;", "-", "not ", "lambda:", "a if a else ", "f'{", "}'", "f'{a}'", "'''", "@a\n", "\\\n", "#\n", "\t", " ", "\x0c",
    "if a:\n ", "elif a:0\n", "async ", "await ", "*", "**", ":=", "0x", "9", "1e", "é", "\u202e", "\ud800", "\0", "import a\n", "from a import ", "try:0\n", "case a:0\n",
    "\\N{", "%", "%%time\n", "!ls\n", "?", "x = !a\n", "with a:\n", "class a:\n", "def f():\n",
]  # fmt: skip


def confused(rng: random.Random, value: object) -> object:
    """Return the value with one part replaced by a value of `ODD`, and sometimes with more keys."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        extra = {str(rng.choice(ODD)): 1} if rng.random() < 0.1 else {}
        return {**value, key: confused(rng, value[key]), **extra}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], confused(rng, value[at]), *value[at:]]
    return copy.deepcopy(rng.choice(ODD))


def changed_text(rng: random.Random, text: str) -> str:
    """Return a text with parts removed, repeated or exchanged, or with pieces of Python inserted."""
    for _ in range(rng.randrange(1, 4)):
        at, stop = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        stop = min(stop, at + 200)
        how = rng.randrange(5)
        if how == 0:
            text = text[:at] + text[stop:]
        elif how == 1:
            text = text[:at] + text[at:stop] * rng.choice([2, 3, 50]) + text[stop:]
        elif how == 2:
            text = text[:at] + rng.choice(PIECES) * rng.choice([1, 1, 2, 20, 300]) + text[at:]
        elif how == 3:
            text = text[:at] + "".join(rng.choice(PIECES) for _ in range(rng.randrange(30))) + text[stop:]
        else:
            text = text[stop:] + text[at:stop] + text[:at]
    return text


def changed_bytes(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with some replaced, removed, repeated or inserted."""
    out = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(out) + 1)
        how = rng.randrange(5)
        if how == 0 and at < len(out):
            out[at] = rng.randrange(256)
        elif how == 1:
            del out[at : at + rng.choice([1, 2, 8, 100])]
        elif how == 2:
            out[at:at] = rng.randbytes(rng.choice([1, 2, 8, 100]))
        elif how == 3 and at < len(out):
            out[at : at + 4] = rng.choice(
                [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80"]
            )
        else:
            out[at:at] = out[at : at + rng.choice([16, 512, 4096])]
    return bytes(out)
