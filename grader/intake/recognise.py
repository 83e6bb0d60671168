"""Recognise the exercises that a submission defines, under their own names or customary aliases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import islice

from grader.intake.around_syntax_error import Fault
from grader.intake.names import Definition, Names, plain

# Exercise → other names that much code uses for it, as `plain` writes them.
ALIASES = {"MultiHeadAttention": ("multiheadedattention",)}
# Much other code uses these names: they mean an exercise only together with its parameters.
COMMON = frozenset({"train", "greedy_decode", "TokenEmbedding"})
MOST_COMPARED = 1000  # names that `misspelt` compares


def match(contracts: Mapping[str, Definition], names: Names) -> dict[str, str]:
    """Return exercise → its name in the submission: its own name, else one that differs only in case and underscores,
    else a customary alias.

    contracts: exercise → its definition in the original stub.
    """
    found = {exercise: _name_of(exercise, stub, names) for exercise, stub in contracts.items()}
    return {exercise: name for exercise, name in found.items() if name}


def _name_of(exercise: str, stub: Definition, names: Names) -> str:
    for spelling in (plain(exercise), *ALIASES.get(exercise, ())):
        fitting = [
            name
            for name in names.by_plain_name.get(spelling, ())
            if _fits(exercise, stub, names.definitions[name])
        ]
        if fitting:
            return exercise if exercise in fitting else fitting[-1]  # of several, the last definition counts
    return ""


def _fits(exercise: str, stub: Definition, found: Definition) -> bool:
    """Whether a definition of the right name is of the same kind as the stub; a common name also needs its parameters."""
    if exercise in COMMON and not _parameters_fit(stub, found):
        return False
    return found.name == exercise or found.kind == stub.kind


def _parameters_fit(stub: Definition, found: Definition) -> bool:
    """Whether the number of parameters fits, and for a function at least half of their names."""
    if stub.parameters is None or (found.kind == "class" and found.parameters is None):
        return True
    if found.parameters is None or not found.parameters.accept(len(stub.parameters.names)):
        return False
    same = set(stub.parameters.names) & set(found.parameters.names)
    return found.kind == "class" or 2 * len(same) >= len(stub.parameters.names)


def misspelt(name: str, names: Iterable[str]) -> str:
    """Return the one of `names` that is nearly `name`, for a hint; "" if there is none."""
    found = get_close_matches(name[:100], islice(names, MOST_COMPARED), n=1, cutoff=0.9)
    return found[0] if found else ""


def lost_exercises(exercises: Iterable[str], names: Names) -> dict[str, str]:
    """Return exercise → its name, for those whose definitions Python cannot read."""
    found = {exercise: _lost_name(exercise, names) for exercise in exercises}
    return {exercise: name for exercise, name in found.items() if name}


def lost(exercise: str, names: Names) -> Fault | None:
    """Return the syntax error in the definition of an exercise; None if there is none."""
    return names.lost.get(_lost_name(exercise, names))


def _lost_name(exercise: str, names: Names) -> str:
    """Return the name of an exercise in code that Python cannot read; "" if it is not there."""
    if exercise in COMMON:
        return ""
    return next((name for name in names.lost if plain(name) == plain(exercise)), "")
