"""Find attention and Transformer code that is none of the exercises, and name the exercise that comes nearest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from grader.given import BLOCKS
from grader.intake.names import Definition, Names, plain
from grader.intake.recognise import Contract, family, forward_fits, likeness, other_family

WORDS = ("attention", "attn", "transformer", "softmax", "mask", "position", "feedforward")
MOST_COMPARED = 100  # definitions of one file whose nearest exercise is looked for
ALIKE = 0.6  # how similar a name has to be for an exercise to be called near


@dataclass(frozen=True)
class NotGraded:
    """A definition that was not graded.

    exercise: one with the same parameters (`same`), else the one with the nearest name; "" if there is none.
    taken: the other definition of the file that was taken for that exercise, if the name of this definition differs
    from the exercise's only in case and underscores; "" otherwise.
    """

    definition: Definition
    exercise: str = ""
    same: bool = False
    taken: str = ""


def not_graded(
    found: Mapping[str, str], graded: Collection[str], contracts: Mapping[str, Contract], names: Names
) -> list[NotGraded]:
    """Return attention and Transformer code that was not graded, in the order of the file.

    A class with the parameters of an exercise counts, too, also without a word of attention code in its name.

    found: what `match` returns. graded: the exercises in `found` whose interface is that of the course.
    """
    taken = {found[name] for name in graded}
    others = [d for d in names.definitions.values() if d.kind != "name" and d.name not in taken]
    out: list[NotGraded] = []
    for definition in others:
        one = _compared(definition, found, contracts if len(out) < MOST_COMPARED else {})
        if one is not None:
            out.append(one)
    return out


def _compared(
    definition: Definition, found: Mapping[str, str], contracts: Mapping[str, Contract]
) -> NotGraded | None:
    """Return a definition with the nearest exercise: one with the same parameters, else one with a near name.

    The exercise that the definition was taken for does not count, because the report has its result. Without the same
    parameters, return None for such a definition, for a building block, and for code that is no attention or
    Transformer code.
    """
    name = definition.name
    exercise_of = {alias: exercise for exercise, alias in found.items()}
    others = (e for e in contracts if e != exercise_of.get(name))
    same = next((e for e in others if _is_same(e, contracts[e], definition)), "")
    if same:
        return NotGraded(definition, same, same=True)
    if name in exercise_of:
        return None
    for exercise, alias in found.items():
        if plain(exercise) == plain(name):
            return NotGraded(definition, exercise, taken=alias)
    if not _is_of_the_kind(name) or (name in BLOCKS and name not in contracts):
        return None
    near = [e for e, c in contracts.items() if _is_near(e, c, definition)]
    return NotGraded(definition, max(near, key=lambda e: likeness(e, name), default=""))


def _is_same(exercise: str, wanted: Contract, found: Definition) -> bool:
    """Whether a class takes exactly the parameters of an exercise, and its `forward` as many arguments."""
    if found.takes is None or wanted.parameters is None or other_family(exercise, found.name):
        return False
    return found.takes == frozenset(wanted.parameters.names) and forward_fits(wanted, found)


def _is_near(exercise: str, wanted: Contract, found: Definition) -> bool:
    """Whether a class has a similar name, or a function the same name except for case and underscores."""
    is_class = found.kind == "class"
    same_kind = is_class == (wanted.keywords is not None)
    if not same_kind or (not is_class and plain(exercise) != plain(found.name)):
        return False
    return likeness(exercise, found.name, ALIKE) >= ALIKE


def _is_of_the_kind(name: str) -> bool:
    """Whether a name contains a word of attention or Transformer code."""
    return bool(family(name)) or any(word in plain(name) for word in WORDS)
