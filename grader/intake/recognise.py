"""Recognise the exercises that a submission defines, under their own names or similar ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from grader.intake.around_syntax_error import Fault
from grader.intake.names import Definition, Names, Parameters, plain

# Much other code uses these names: they mean an exercise only together with its parameters.
COMMON = frozenset({"train", "greedy_decode", "TokenEmbedding"})
# Broken classes that a lesson shows. A class with another name is never taken for one of them.
REPAIRS = frozenset({"MixedUpAttention", "TangledSelfAttention", "TransparentSelfAttention"})
# Words that say what a class is for.
FAMILIES = ("attention", "encoding", "embedding", "norm", "ffn", "encoder", "decoder")
NEAR = 0.9  # how similar two names have to be

_OFTEN_THERE = frozenset({"bias", "debug", "device"})  # keywords that any constructor may have or lack


@dataclass(frozen=True)
class Contract:
    """How an exercise is called.

    keywords: the keywords that every case passes to the constructor; None for a function. parameters: those of the
    function or constructor in the original stub; None if it defines no constructor. forward: the number of
    arguments of `forward` in the stub; None if it has none.
    """

    keywords: frozenset[str] | None = None
    parameters: Parameters | None = None
    forward: int | None = None


def contract(keywords: frozenset[str] | None, stub: Definition | None) -> Contract:
    """Return the contract of an exercise. stub: its definition in the original stub."""
    if stub is None:
        return Contract(keywords)
    return Contract(keywords, stub.parameters, len(stub.forward.names) if stub.forward else None)


def match(contracts: Mapping[str, Contract], names: Names) -> dict[str, str]:
    """Return exercise → its name in the submission: the exercise's own name, else a near one.

    A class under another name is taken for an exercise if its constructor takes the keywords of that exercise and few
    others, and if either its name is nearly the same or its `forward` takes as many arguments. For the exercises that
    are left, a name that is nearly that of the exercise is enough: `MultiHeadedAttention`, `mask_softmax`.
    """
    out = {name: found for name, wanted in contracts.items() if (found := _by_name(name, wanted, names))}
    known = {plain(name) for name in contracts}
    others = [d for d in names.definitions.values() if d.kind != "name" and plain(d.name) not in known]
    for rule in (_by_keywords, _by_near_name):
        for name, wanted in contracts.items():
            if name not in out and name not in REPAIRS:
                left = [d for d in others if _kind_fits(wanted, d) and d.name not in out.values()]
                found = next(rule(name, wanted, left), None)
                if found:
                    out[name] = found
    return out


def lost_exercises(contracts: Mapping[str, Contract], names: Names) -> dict[str, str]:
    """Return exercise → its name, for those whose definitions Python cannot read."""
    found = {exercise: lost_name(exercise, names) for exercise in contracts}
    return {exercise: name for exercise, name in found.items() if name}


def lost(exercise: str, names: Names) -> Fault | None:
    """Return the syntax error in the definition of an exercise; None if there is none."""
    return names.lost.get(lost_name(exercise, names))


def lost_name(exercise: str, names: Names) -> str:
    """Return the name of an exercise in code that Python cannot read; "" if it is not there."""
    if exercise in COMMON:
        return ""
    return next((name for name in names.lost if plain(name) == plain(exercise)), "")


def _by_name(exercise: str, wanted: Contract, names: Names) -> str | None:
    candidates = [
        name
        for name in names.by_plain_name.get(plain(exercise), ())
        if name == exercise or _kind_fits(wanted, names.definitions[name])
    ]
    if exercise in COMMON:
        candidates = [name for name in candidates if _parameters_fit(wanted, names.definitions[name])]
    fitting = [name for name in candidates if _keywords_fit(wanted, names.definitions[name])]
    choice = fitting or candidates
    if not choice:
        return None
    return exercise if exercise in choice else choice[-1]  # of several, the last definition counts


def _kind_fits(wanted: Contract, found: Definition) -> bool:
    """Whether a definition is a class where the exercise asks for one, and a function otherwise."""
    return found.kind == ("def" if wanted.keywords is None else "class")


def _keywords_fit(wanted: Contract, found: Definition) -> bool:
    return wanted.keywords is None or found.takes is None or wanted.keywords <= found.takes


def _parameters_fit(wanted: Contract, found: Definition) -> bool:
    """Whether the number of parameters fits, and for a function at least half of their names."""
    if wanted.parameters is None or (found.kind == "class" and found.parameters is None):
        return True
    if found.parameters is None or not found.parameters.accept(len(wanted.parameters.names)):
        return False
    same = set(wanted.parameters.names) & set(found.parameters.names)
    return found.kind == "class" or 2 * len(same) >= len(wanted.parameters.names)


def _by_keywords(exercise: str, wanted: Contract, classes: list[Definition]) -> Iterator[str]:
    """Yield the classes that take the keywords of an exercise, few others, and fit by name or by `forward`."""
    if not wanted.keywords:
        return
    needed = wanted.keywords - _OFTEN_THERE
    allowed = wanted.keywords | _OFTEN_THERE | set(wanted.parameters.names if wanted.parameters else ())
    for found in classes:
        takes = found.takes
        if takes is None or not needed <= takes <= allowed:
            continue
        if not other_family(exercise, found.name) and (
            is_near(exercise, found.name) or forward_fits(wanted, found)
        ):
            yield found.name


def _by_near_name(exercise: str, wanted: Contract, others: list[Definition]) -> Iterator[str]:
    for found in others:
        if exercise in COMMON or not is_near(exercise, found.name) or other_family(exercise, found.name):
            continue
        if plain(exercise) in plain(found.name):
            continue  # a name with one more word, such as `TransformerEncoderOnly`, means something else
        if found.kind == "class" or _parameters_fit(wanted, found):
            yield found.name


def is_near(exercise: str, name: str) -> bool:
    """Whether a name is nearly that of the exercise: `MultiHeadedAttention`, `MutliHeadAttention`."""
    return likeness(exercise, name, NEAR) >= NEAR


def likeness(exercise: str, name: str, least: float = 0.0) -> float:
    """Return the similarity of two names, from 0 to 1.

    If it is below `least`, the result may be an upper bound instead, also below `least`: that is quicker to compute.
    """
    one, other = plain(exercise), plain(name[:100])
    at_most = 2 * min(len(one), len(other)) / (len(one) + len(other) or 1)
    if at_most < least:
        return at_most
    matcher = SequenceMatcher(None, one, other)
    at_most = matcher.quick_ratio()
    return matcher.ratio() if at_most >= least else at_most


def forward_fits(wanted: Contract, found: Definition) -> bool:
    return wanted.forward is not None and found.forward is not None and found.forward.accept(wanted.forward)


def other_family(exercise: str, name: str) -> bool:
    """Whether both names say what the classes are for, and say different things."""
    wanted, found = family(exercise), family(name)
    return bool(wanted and found) and wanted != found


def family(name: str) -> frozenset[str]:
    """Return the words of a name that say what a class is for: of `Seq2SeqDecoder` only "decoder"."""
    return frozenset(word for word in FAMILIES if word in plain(name))
