"""Nursery rhymes from a small grammar: the text of a seed is the same everywhere, and its information is known."""

import math
import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

import torch

__all__ = ["ALPHABET", "SIZES", "make_text", "verse_batches"]

Item = TypeVar("Item")
ALPHABET = (
    "\n ,.!?'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  # the index of a character is its token
)
# The arguments of the course's `LanguageModel`: about 203,000 parameters.
SIZES = {
    "vocab_size": len(ALPHABET),
    "d_model": 96,
    "num_heads": 6,
    "num_kv_heads": 2,
    "num_layers": 2,
    "max_len": 512,
}
NAMES = (  # 26 initials: one letter tells the name
    "Agatha Bruno Clementine Dudley Esmeralda Ferdinand Griselda Humphrey Isolde Jasper Kunigunde Leopold Matilda "
    "Nepomuk Ophelia Percival Quentin Rosalind Sigmund Theodora Ulysses Violetta Wilfred Xenia Yorick Zelda"
)
RHYMES = (  # animals, then things
    "cat rat bat gnat: hat mat; frog dog hog: log fog bog; bee flea chimpanzee: tree pea sea key; "
    "fox ox: box clocks socks rocks; snake drake: cake lake rake; goat stoat: boat coat moat; "
    "mouse grouse: house blouse; bear hare mare: chair pear stair; snail whale quail: pail tail sail; "
    "raccoon baboon: moon spoon balloon"
)
KINDS = "sleepy grumpy tiny purple clever muddy noisy polite rusty velvet hungry wobbly"
DOINGS = (
    "danced with|sang to|looked after|shouted at|slept beside|painted|was afraid of|fell over|wrote to|"
    "argued with|went to sea with|fell in love with"
)
ENDS = (
    "And {n} never came back to the {a}.|So {n} went home and forgot the {a}.|'Oh {n},' they said, 'what a {k} {a}!'|"
    "And nobody saw {n} the {a} again.|'Good night,' said {n}, and blew out the {a}."
)


def make_text(seed: int, size: int = 200_000) -> tuple[str, float]:
    """Return verses of at least `size` characters, and their information in nats per character.

    Each verse ends with an empty line. The information is the sum of log n over all choices among n alternatives: no
    model can have a smaller loss on whole verses.
    """
    draw, nats = random.Random(seed).random, 0.0

    names, kinds, doings, ends = NAMES.split(), KINDS.split(), DOINGS.split("|"), ENDS.split("|")
    families = [[half.split() for half in family.split(":")] for family in RHYMES.split(";")]

    def pick(items: Sequence[Item]) -> Item:
        nonlocal nats
        nats += math.log(len(items))
        return items[int(draw() * len(items))]

    text = ""
    while len(text) < size:
        n, (animals, things) = pick(names), pick(families)
        a = pick(animals)
        b = pick([word for word in animals + things if word != a])
        c = pick([word for word in animals + things if word not in (a, b)])
        lines = [
            f"{n} was a {pick(kinds)} {a}",
            f"who {pick(doings)} a {pick(kinds)} {b}.",
            f"{n} {pick(doings)} the {c}.",
            pick(ends),
        ]
        kind = pick(kinds) if "{k}" in lines[3] else ""
        text += "\n".join(lines).format(n=n, a=a, k=kind) + "\n\n"
    return text, nats / len(text)


def verse_batches(seed: int, rows: int = 16, length: int = 160) -> Iterator[torch.Tensor]:
    """Yield batches without end: tokens (rows, length + 1) that begin with the line break before a verse."""
    text = "\n" + make_text(seed)[0]
    tokens = torch.tensor([ALPHABET.index(character) for character in text])
    begins = [0] + [i + 1 for i in range(len(text)) if text.startswith("\n\n", i)]
    begins = [begin for begin in begins if begin + length < len(text)]
    choose = random.Random(seed).sample
    while True:
        yield torch.stack([tokens[begin : begin + length + 1] for begin in choose(begins, rows)])
