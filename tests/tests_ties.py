"""Mistakes that no case can tell apart, by exercise. A new one fails the tests: mostly the answer to it is a
better case, and only where the two really compute the same is it an entry here."""

TIES: dict[str, list[tuple[str, str]]] = {}
