"""Forms of classes that other schools teach, and how a class in one of them is built and called.

A class of such a form is not graded in the course's interface: it takes a mask instead of lengths, has equal sizes, or
is causal self-attention. A row of SCHOOLS says what its parameters may mean, and which exercise has the cases for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from msgspec.structs import replace

from grader.bundle.model import Exercise, RecordedCase
from grader.diagnosis.signature import named_by, slots
from grader.intake.meanings import meaning
from grader.intake.names import Names, Signature, attributes_of, signature
from grader.report.finding import Fact
from grader.worker.steps import Build, Form, Mode


class School(NamedTuple):
    """exercise: as which its class is graded. built: what the parameters of the constructor may mean. called: what those
    of `forward` mean, "" for one input. cases: the exercise whose cases are used. says: the rule of the remark.
    """

    title: str
    exercise: str
    built: str
    called: str
    cases: str
    says: str

    @property
    def is_causal(self) -> bool:
        return self.cases == _CAUSAL


_ATTENTION, _CAUSAL = "MultiHeadAttention", "TangledSelfAttention"
_SIZES = "width heads dropout bias"
_ANNOTATED, _FROM_SCRATCH = "The Annotated Transformer", "Build a Large Language Model (From Scratch)"
SCHOOLS = (
    School(_ANNOTATED, _ATTENTION, _SIZES, "query key value mask", _ATTENTION, "mask"),
    School("torch.nn.MultiheadAttention", _ATTENTION, _SIZES, "query key value length", _ATTENTION, "length"),
    School("nanoGPT", _ATTENTION, "config", "", _CAUSAL, "causal"),
    School(_FROM_SCRATCH, _ATTENTION, "input output length dropout heads bias", "", _CAUSAL, "causal"),
    School("a class with a width and heads", _ATTENTION, f"{_SIZES} length", "", _CAUSAL, "causal"),
    School(_ANNOTATED, "PositionWiseFFN", "width inner dropout", "", "PositionWiseFFN", "network"),
    School(_ANNOTATED, "PositionalEncoding", "width length dropout", "", "PositionalEncoding", "positions"),
)


# What School.says of classes that are also looked at in training mode.
TRAINED = ("mask", "length", "positions")
# The sizes that a width stands for.
_EQUAL = frozenset(
    {"key_size", "query_size", "value_size", "num_hiddens", "ffn_num_input", "ffn_num_outputs"}
)


def form_of(exercise: Exercise, alias: str, source: Names) -> tuple[School, Form] | None:
    """Return the school of a class, and how it is built and called; None if no row of SCHOOLS fits."""
    init, forward = signature(source, alias, "__init__"), signature(source, alias, "forward")
    if init is None or forward is None:
        return None
    for school in (school for school in SCHOOLS if school.exercise == exercise.name):
        built = _meant(init, school.built.split())
        wanted = school.called.split()
        called = _meant(forward, wanted) if wanted else _alone(forward)
        if built and called and {*wanted} <= {*called.values()}:
            config = next((name for name, means in built.items() if means == "config"), "")
            attributes = {name: meaning(name) for name in attributes_of(source, alias, config)}
            if not school.is_causal or _is_causal(alias, {*built.values(), *attributes.values()}):
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
    """Return the exercise with the cases for a form. A class that takes no rate of dropout is not trained.

    Causal self-attention is another task, so it gets no points, and no name of a mistake.
    """
    cases = tuple(filter(_has_equal_sizes, exercises[school.cases].cases))
    if not takes_dropout(form):
        cases = tuple(case for case in cases if not any(mode.train for mode in case.all_of(Mode)))
    if school.is_causal:
        return replace(exercise, cases=cases, mistakes=(), signatures=None, points=0.0)
    known = exercise.signatures
    return replace(exercise, cases=cases, signatures=known and known.only(slots(named_by(cases))))


def _has_equal_sizes(case: RecordedCase) -> bool:
    """Whether all inputs of its modules have as many features as the output, and no layer has a bias."""
    return all(
        len({size for name, size in build.kwargs.items() if name in _EQUAL}) < 2
        and not build.kwargs.get("bias")
        for build in case.all_of(Build)
    )


def small_layers(name: str, exercise: Exercise, loaded: Mapping[str, Any] | None) -> Fact | None:
    """Return the reason if the weights do not fit a class because it has small layers that all heads share; else None.

    name: of the class. loaded: how the weights of a case fit, as in `Observation.parameters`.
    """
    built = [build.kwargs for case in exercise.cases for build in case.all_of(Build)]
    of_a_head = {size["num_hiddens"] // size["num_heads"] for size in built if "num_heads" in size}
    shapes = {tuple(shape) for shape in loaded["shapes"].values()} if loaded else set()
    if loaded and len(loaded["misshapen"]) == 3 and shapes in [{(size, size)} for size in of_a_head]:
        return Fact("school/small-layers", {"name": name, "shape": str(*shapes)})
    return None
