"""Known answers, right and wrong, as a few lines that differ from the reference.

A mistake is written as what it changes: `swap` replaces pieces of the reference's definition (each must
occur there), `code` replaces the whole definition. Nothing else makes a mistake, so that a teacher can
read a bank from top to bottom like a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from textwrap import dedent

from grader.support.source import definition_span

KINDS = ("mistake", "different", "policy", "same", "also", "trivial")


@dataclass(frozen=True)
class KnownAnswer:
    """One known answer to one exercise.

    kind: "mistake" fails; "different" is a valid design, not the one asked for; "policy" passes on CPU
    in float32 and may fail only the facets it `breaks`; "same" is right; "also" is right too, see `also`;
    "trivial" gets nothing.
    says: what the answer equals, one sentence, no code. asks: a question that leads on. page: what it
    does to a model and how to see it, for `grader explain`. seen: where real code did it. steady: gives
    the same numbers at every call; one that does not is named by what it always does.
    """

    id: str
    of: str
    kind: str = "mistake"
    swap: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    says: str = ""
    asks: str = ""
    page: str = ""
    seen: str = ""
    breaks: tuple[str, ...] = ()
    steady: bool = True


def mistake(
    id: str, of: str, *, kind: str = "mistake", breaks: Iterable[str] = (), **fields: object
) -> KnownAnswer:
    """A wrong answer. Raises ValueError if it is not complete."""
    answer = KnownAnswer(id, of, kind, breaks=tuple(breaks), **fields)  # type: ignore[arg-type]
    _require(answer.kind in ("mistake", "different", "policy"), answer, f"unknown kind {answer.kind!r}")
    _require(bool(answer.says and answer.asks), answer, "a mistake needs `says` and `asks`")
    _require(bool(answer.swap) != bool(answer.code), answer, "give either `swap` or `code`")
    _require(bool(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", answer.id)), answer, "an id is words-with-dashes")
    return answer


def variant(id: str, of: str, code: str = "", swap: Mapping[str, str] | None = None) -> KnownAnswer:
    """A right answer written differently."""
    return KnownAnswer(id, of, "same", swap=swap or {}, code=code)


def also(id: str, of: str, swap: Mapping[str, str]) -> KnownAnswer:
    """A right answer on an equal footing with the reference, because students build on either of the two.

    Where it gives other numbers, a check by the judge `one_of` accepts both; and every mistake whose pieces
    occur in it as well is known in both forms.
    """
    return KnownAnswer(id, of, "also", swap=swap)


def trivial(id: str, of: str, code: str) -> KnownAnswer:
    """An answer that computes nothing: it must get no points at all."""
    return KnownAnswer(id, of, "trivial", code=code)


def _require(truth: bool, answer: KnownAnswer, sentence: str) -> None:
    if not truth:
        raise ValueError(f"{answer.of}: {answer.id}: {sentence}")


def apply(answers: KnownAnswer | Iterable[KnownAnswer], source: str) -> str:
    """The module's source with its definition changed as the answers say.

    Raises ValueError when a piece to be replaced does not occur in the definition.
    """
    for answer in [answers] if isinstance(answers, KnownAnswer) else answers:
        start, stop = definition_span(source, answer.of)
        source = source[:start] + _changed(answer, source[start:stop]) + source[stop:]
    return source


def _changed(answer: KnownAnswer, definition: str) -> str:
    if answer.code:
        return dedent(answer.code).strip("\n") + "\n"
    for old, new in answer.swap.items():
        if old not in definition:
            raise ValueError(f"{answer.of}: {answer.id}: {old!r} does not occur in the reference")
        definition = definition.replace(old, new)
    return definition
