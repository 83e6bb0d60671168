"""Known answers, right and wrong: each a few edits of the reference, or a definition that takes its place.

In `solutions/NN_name/`, mistakes are in `mistakes/<Exercise>.py`, mutants (see `mutant`) in `mutants/<Exercise>.py`.
Right and trivial answers are in `variants.py` and name their exercise in `of`. A mistake's page for `grader explain`
is the section of its id in `mistakes/<Exercise>.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from textwrap import dedent

from grader.bundle.model import POLICIES, PRECISION
from grader.support.code import definition_span
from grader.support.errors import UsageError


@dataclass(frozen=True)
class Edit:
    """Replace `old` by `new`. `old` must occur exactly `times` times.

    A text that begins with a line break is a block: its common indentation does not count, and its lines are
    indented like the line of the reference in which `old` begins. Any other text is taken as it is.
    """

    old: str
    new: str
    times: int = 1

    def apply(self, text: str, *, exactly: bool = True) -> str:
        """Return the text with every match replaced.

        Raises UsageError where nothing matches, and, if `exactly`, where the count is not `times`.
        """
        matches = list(self._matches(text))
        if not matches:
            raise UsageError(f"{_plain(self.old)!r} does not occur in the reference")
        if exactly and len(matches) != self.times:
            raise UsageError(
                f"{_plain(self.old)!r} occurs {len(matches)} times, not {self.times}: if all are meant,"
                f" add times={len(matches)}"
            )
        for start, stop in reversed(matches):
            text = text[:start] + _indented(self.new, _indent_at(text, start)) + text[stop:]
        return text

    def _matches(self, text: str) -> list[tuple[int, int]]:
        """Return where each match starts and stops, in order. A block may match at each indentation of the text."""
        is_block = self.old.startswith("\n")
        indents = sorted(set(re.findall(r"^ *", text, re.M))) if is_block else [""]
        return sorted(
            (match.start(), match.end())
            for indent in indents
            for match in re.finditer(re.escape(_indented(self.old, indent)), text)
            if not is_block or _indent_at(text, match.start()) == indent
        )


edit = Edit  # what files of mistakes call it: they say what to do


def _plain(text: str) -> str:
    """Return a block without its common indentation and outer line breaks; other texts as they are."""
    return dedent(text).strip("\n").rstrip(" ") if text.startswith("\n") else text


def _indented(text: str, indent: str) -> str:
    if not text.startswith("\n"):
        return text
    return re.sub(r"\n(?!\n|$)", "\n" + indent, _plain(text))


def _indent_at(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 :]
    return line[: len(line) - len(line.lstrip(" "))]


DEVICE = "device"  # not in POLICIES: a check of the facet `device` costs points
Change = Edit | str  # an edit of the reference, or the whole definition


@dataclass(frozen=True)
class KnownAnswer:
    """One known answer to one exercise.

    of: the exercise; for mistakes and mutants, `Assignment` sets it from the name of their file.
    kind:
        "mistake" fails.
        "different" fails: it is a valid design, but not the required one.
        "policy" passes, with advice about the policy that it `breaks`. If it breaks `device`, it gets no advice, and
        fails on another device.
        "mutant" fails, and no report names it.
        "same" and "also" are right; see `variant` and `also`.
        "trivial" gets no points.
    edits or code: the changes, or the whole definition. says: what the answer does, in one sentence without code.
    asks: a question that helps to find the mistake. page: what the mistake does to a model and how to see it, for
    `grader explain`. seen: where real code has it. forms: the same mistake written in other ways, which give another
    exception.
    """

    id: str
    of: str
    kind: str = "mistake"
    edits: tuple[Edit, ...] = ()
    code: str = ""
    says: str = ""
    asks: str = ""
    page: str = ""
    seen: str = ""
    breaks: str = ""
    forms: tuple[KnownAnswer, ...] = ()

    @property
    def policy(self) -> str:
        """Return the policy that the answer breaks; "" if it breaks none, or only `device`."""
        return "" if self.breaks == DEVICE else self.breaks


def mistake(
    id: str,
    *change: Change,
    says: str,
    asks: str,
    kind: str = "mistake",
    breaks: str = "",
    seen: str = "",
    forms: Iterable[Sequence[Change]] = (),
) -> KnownAnswer:
    """Describe a wrong answer to the exercise that the file is named after. Raises ValueError for a wrong field."""
    fields = {"says": says, "asks": asks, "breaks": breaks, "seen": seen}
    answer = _answer(id, "", kind, change, **fields)
    answer = replace(answer, forms=tuple(_answer(id, "", kind, tuple(form), **fields) for form in forms))
    _require(kind in ("mistake", "different", "policy"), answer, f"unknown kind {kind!r}")
    _require(bool(says and asks), answer, "a mistake needs `says` and `asks`")
    known = (*POLICIES, DEVICE) if kind == "policy" else ("",)
    _require(breaks in known, answer, f"a {kind} cannot break {breaks!r}")
    _require(bool(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", id)), answer, "an id is words-with-dashes")
    return answer


# An answer that is right on the CPU; on a GPU it mixes tensors of two devices.
device_mistake = partial(mistake, kind="policy", breaks=DEVICE)
# An answer that is right in float32; in another dtype it raises, or gives a wrong value or dtype.
dtype_mistake = partial(mistake, kind="policy", breaks=PRECISION)


def mutant(id: str, *change: Change, says: str) -> KnownAnswer:
    """Describe a wrong answer to an exercise that asks for a repair or a test. It must fail; no report names it."""
    return _answer(id, "", "mutant", change, says=says)


def variant(id: str, of: str, *change: Change) -> KnownAnswer:
    """Describe a right answer written differently."""
    return _answer(id, of, "same", change)


def also(id: str, of: str, *change: Change) -> KnownAnswer:
    """Describe a right answer that differs from the reference on purpose: students may build on either of the two.

    If it gives other values, a check by the judge `one_of` accepts both. If the edits of a mistake also match this
    answer, the mistake is recorded twice: made in the reference, and made in this answer.
    """
    return _answer(id, of, "also", change)


def trivial(id: str, of: str, *change: Change) -> KnownAnswer:
    """Describe a trivial answer, such as a constant or an input: it must get no points."""
    return _answer(id, of, "trivial", change)


def _answer(id: str, of: str, kind: str, change: tuple[Change, ...], **fields: object) -> KnownAnswer:
    edits = tuple(one for one in change if isinstance(one, Edit))
    code = "".join(one for one in change if isinstance(one, str))
    answer = KnownAnswer(id, of, kind, edits, code, **fields)  # type: ignore[arg-type]
    _require(bool(edits) != bool(code), answer, "give either edits or the whole definition")
    return answer


def _require(truth: bool, answer: KnownAnswer, sentence: str) -> None:
    if not truth:
        raise ValueError(f"{answer.of}: {answer.id}: {sentence}" if answer.of else f"{answer.id}: {sentence}")


def apply(answers: KnownAnswer | Iterable[KnownAnswer], source: str, *, exactly: bool = True) -> str:
    """Return the module's source with the changes of these answers.

    Raises UsageError if an edit does not match as often as it says. If `exactly` is false, raises it only if an edit
    matches nothing: after another change, or in an answer made with `also`, the count may differ.
    """
    for answer in [answers] if isinstance(answers, KnownAnswer) else answers:
        start, stop = definition_span(source, answer.of)
        definition = dedent(answer.code).strip("\n") + "\n" if answer.code else source[start:stop]
        try:
            for one in answer.edits:
                definition = one.apply(definition, exactly=exactly)
            compile(definition, answer.of, "exec")  # also finds a `return` that left its function
        except (UsageError, SyntaxError) as error:
            raise UsageError(f"{answer.of}: {answer.id}: {error}") from None
        source = source[:start] + definition + source[stop:]
    return source
