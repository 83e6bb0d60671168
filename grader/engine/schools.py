"""Forms of multi-head attention that other schools teach, and how a class in one of them is built and called.

A class of such a form is not graded in the course's interface: it takes a mask instead of lengths, has equal sizes, or
is causal self-attention. A row of SCHOOLS says what its parameters may mean, and which exercise has the cases for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from msgspec.structs import replace

from grader.bundle.model import Exercise, RecordedCase
from grader.intake.meanings import meaning
from grader.intake.names import Names, Signature, attributes_of, signature
from grader.worker.steps import Build, Form, Mode

GRADED = "MultiHeadAttention"  # the exercise as which all forms are graded


class School(NamedTuple):
    """built: what the parameters of the constructor may mean. called: what those of `forward` mean, "" for one input.
    cases: the exercise whose cases are used.
    """

    title: str
    built: str
    called: str
    cases: str


SCHOOLS = (
    School("The Annotated Transformer", "width heads dropout bias", "query key value mask", GRADED),
    School("torch.nn.MultiheadAttention", "width heads dropout bias", "query key value length", GRADED),
    School("nanoGPT", "config", "", "TangledSelfAttention"),
    School(
        "Build a Large Language Model (From Scratch)",
        "input output length dropout heads bias",
        "",
        "TangledSelfAttention",
    ),
    School("a class with a width and heads", "width heads dropout bias length", "", "TangledSelfAttention"),
)


def form_of(exercise: Exercise, alias: str, source: Names) -> tuple[School, Form] | None:
    """Return the school of a class, and how it is built and called; None if no row of SCHOOLS fits."""
    init, forward = signature(source, alias, "__init__"), signature(source, alias, "forward")
    if exercise.name != GRADED or init is None or forward is None:
        return None
    for school in SCHOOLS:
        built = _meant(init, school.built.split())
        wanted = school.called.split()
        called = _meant(forward, wanted) if wanted else _alone(forward)
        if built and called and {*wanted} <= {*called.values()}:
            config = next((name for name, means in built.items() if means == "config"), "")
            attributes = {name: meaning(name) for name in attributes_of(source, alias, config)}
            if wanted or _is_causal(alias, {*built.values(), *attributes.values()}):
                return school, Form(built, called, attributes)
    return None


def _is_causal(name: str, meanings: Set[str]) -> bool:
    """Whether self-attention is meant to be causal: its name says so, or its constructor takes the longest length."""
    return "length" in meanings or any(word in name.lower() for word in ("causal", "casual", "masked"))


def _meant(own: Signature, meanings: Sequence[str]) -> Mapping[str, str]:
    """Return parameter → its meaning, for these meanings; {} if two mean the same, or if a needed one means another."""
    found = {name: meaning(name) for name in own.positional if meaning(name) in meanings}
    return found if own.needed <= found.keys() and len({*found.values()}) == len(found) else {}


def _alone(own: Signature) -> Mapping[str, str]:
    """Return the only needed parameter; {} if there are several."""
    first = own.positional[:1]
    return dict.fromkeys(first, "all") if first and own.needed == {*first} else {}


def takes_dropout(form: Form) -> bool:
    return "dropout" in (*form.built.values(), *form.config.values())


def in_form(exercise: Exercise, exercises: Mapping[str, Exercise], school: School, form: Form) -> Exercise:
    """Return the exercise with the cases for a form: without names of mistakes, which are about the course's own.

    Causal self-attention is another task, so it gets no points. A class that takes no rate of dropout is not trained.
    """
    own = school.cases == exercise.name
    cases = tuple(filter(_has_equal_sizes, exercises[school.cases].cases))
    if not takes_dropout(form):
        cases = tuple(case for case in cases if not any(mode.train for mode in case.all_of(Mode)))
    points = exercise.points if own else 0.0
    return replace(exercise, cases=cases, mistakes=(), signatures=None, points=points)


def _has_equal_sizes(case: RecordedCase) -> bool:
    """Whether all inputs of its modules have as many features as the output, and no layer has a bias."""
    return all(
        len({size for name, size in build.kwargs.items() if name.endswith("_size") or name == "num_hiddens"})
        < 2
        and not build.kwargs.get("bias")
        for build in case.all_of(Build)
    )
