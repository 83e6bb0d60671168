"""Find attention and Transformer code that is none of the exercises, and the exercises that it may be meant as."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from grader.given import BLOCKS
from grader.intake.names import Definition, Names, plain
from grader.intake.recognise import COMMON, misspelt

# Broken classes that a lesson shows. Other code is never meant as one of them.
REPAIRS = frozenset({"MixedUpAttention", "TangledSelfAttention", "TransparentSelfAttention"})
# Words that say what a class is for.
FAMILIES = ("attention", "encoding", "embedding", "norm", "ffn", "encoder", "decoder")
WORDS = ("attention", "attn", "transformer", "softmax", "mask", "position", "feedforward")
MOST_COMPARED = 100  # definitions of one file that are compared with the exercises


@dataclass(frozen=True)
class NotGraded:
    """A definition that was not graded.

    like: an exercise with the same parameters; "" if there is none.
    meant: the exercises that the definition may be meant as.
    taken: the other definition of the file that was taken for the exercise `meant`, if this definition has the name of
    the exercise, too; "" if none was taken; None if the definition has another name.
    """

    definition: Definition
    like: str = ""
    meant: tuple[str, ...] = ()
    taken: str | None = None


def not_graded(
    found: Mapping[str, str], graded: Collection[str], contracts: Mapping[str, Definition], names: Names
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
    definition: Definition, found: Mapping[str, str], contracts: Mapping[str, Definition]
) -> NotGraded | None:
    """Return a definition with what it may be meant as.

    The exercise that the definition was taken for does not count, because the report has its result. Without the same
    parameters, return None for such a definition, for a building block, and for code that is no attention or
    Transformer code.
    """
    name = definition.name
    exercise_of = {alias: exercise for exercise, alias in found.items()}
    others = (e for e in contracts if e != exercise_of.get(name))
    like = next((e for e in others if _is_like(e, contracts[e], definition)), "")
    if like or name in exercise_of:
        meant = (like,) if like and like not in REPAIRS else ()
        return NotGraded(definition, like, meant) if like else None
    same_name = next((exercise for exercise in contracts if plain(exercise) == plain(name)), "")
    if same_name in found:
        return NotGraded(definition, "", (same_name,), taken=found[same_name])
    if not _is_of_the_kind(name) or (name in BLOCKS and name not in contracts):
        return None
    if same_name:
        return NotGraded(definition, "", (same_name,), taken="")
    return NotGraded(definition, "", _meant(definition, contracts))


def _is_like(exercise: str, stub: Definition, found: Definition) -> bool:
    """Whether a class takes exactly the parameters of an exercise, and its `forward` as many arguments."""
    if found.takes is None or stub.parameters is None or _other_family(exercise, found.name):
        return False
    return found.takes == frozenset(stub.parameters.names) and _forward_fits(stub, found)


def _meant(found: Definition, contracts: Mapping[str, Definition]) -> tuple[str, ...]:
    """Return the exercises whose name is part of the name; else a similar name; else those with the same job."""
    others = {
        exercise: stub
        for exercise, stub in contracts.items()
        if stub.kind == found.kind and exercise not in COMMON | REPAIRS
    }
    part = tuple(exercise for exercise in others if plain(exercise) in plain(found.name))
    similar = misspelt(found.name, others)
    if part or similar:
        return part or (similar,)
    words = _family(found.name)
    return tuple(
        e for e, stub in others.items() if words and _family(e) == words and _forward_fits(stub, found)
    )


def _forward_fits(stub: Definition, found: Definition) -> bool:
    """Whether `forward` takes as many arguments as in the stub."""
    return (
        stub.forward is not None
        and found.forward is not None
        and found.forward.accept(len(stub.forward.names))
    )


def _other_family(exercise: str, name: str) -> bool:
    """Whether both names say what the classes are for, and say different things."""
    wanted, found = _family(exercise), _family(name)
    return bool(wanted and found) and wanted != found


def _family(name: str) -> frozenset[str]:
    """Return the words of a name that say what a class is for: of `Seq2SeqDecoder` only "decoder"."""
    return frozenset(word for word in FAMILIES if word in plain(name))


def _is_of_the_kind(name: str) -> bool:
    """Whether a name contains a word of attention or Transformer code."""
    return bool(_family(name)) or any(word in plain(name) for word in WORDS)
