"""The steps of a case: what to make, what to call, and what to observe.

`grader.cases.case.Case` writes them, a bundle stores them, and `grader.worker.program` carries them out. All that is
known of a kind of step without carrying it out is here: its fields, the stored tensors that it takes, and the
observations that it makes. In JSON, a step is an object whose `do` is the name of its kind, such as "see_value".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, field


class Ref(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A value that exists while a case runs: an input, a module, a result, or a part of one.

    at: the indices and keys that lead to the part.
    """

    name: str = field(name="ref")
    at: tuple[int | str, ...] = ()

    def __getitem__(self, index: int | str) -> Ref:
        return Ref(self.name, (*self.at, index))


class Callee(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a step calls: the student's function of an exercise, or a value, or a method of a value."""

    function: str = ""
    ref: str = ""
    at: tuple[int | str, ...] = ()
    method: str = ""


class Filled(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A large tensor of one value, or with one value on its diagonal, stored as its shape.

    rows: only the first `rows` rows have the value; the others are zero. std: of random numbers that are added, drawn by
    torch; see `Case.seed`.
    """

    shape: tuple[int, ...]
    value: float = 0.0
    diagonal: bool = False
    rows: int | None = None
    std: float = 0.0


class Stage(Struct, frozen=True, array_like=True):
    """A submodule to watch: its path, and its title in plain words. A path that ends in `.in0` is an argument."""

    path: str
    title: str

    @property
    def name(self) -> str:
        """The name of the observation."""
        return f"stage {self.path}"


def with_refs(value: Any) -> Any:
    """Return lists, dicts and plain values as JSON has them, but each {"ref": …} as a `Ref`."""
    if isinstance(value, dict):
        if "ref" in value:
            return msgspec.convert(value, Ref)
        return {key: with_refs(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [with_refs(item) for item in value]
    return value


def refs_in(value: Any) -> Iterator[str]:
    """Yield the names of the values to which a step, or a part of one, refers; "" for the student's function."""
    if isinstance(value, Ref):
        yield value.name
    elif isinstance(value, Callee):
        yield value.ref
    elif isinstance(value, _Step):
        yield from refs_in(msgspec.structs.asdict(value))
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from refs_in(item)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class _Step(Struct, frozen=True, tag_field="do", tag=_snake, omit_defaults=True, forbid_unknown_fields=True):
    @property
    def do(self) -> str:
        """The name of its kind."""
        return str(self.__struct_config__.tag)


class _WithValues(_Step, frozen=True):
    """Has values made of lists, dicts, numbers and references."""

    def __post_init__(self) -> None:
        for name in ("value", "args", "kwargs"):
            if name in self.__struct_fields__:
                msgspec.structs.force_setattr(self, name, with_refs(getattr(self, name)))


class _Named(_Step, frozen=True):
    """Makes one observation, of its own name."""

    name: str


# ---- what goes in


class Input(_Step, frozen=True):
    """A stored tensor. grad: whether it can be differentiated."""

    name: str
    grad: bool = False


class Tokens(_Step, frozen=True):
    """A stored tensor of bytes, passed as int64."""

    name: str


class Batches(_Step, frozen=True):
    """A list of tuples with `size` rows of every stored tensor in `of`, as int64."""

    name: str
    of: list[str]
    size: int


class Constant(_Step, frozen=True):
    """A floating tensor with one repeated value."""

    name: str
    shape: list[int]
    value: float
    grad: bool = False


class Value(_WithValues, frozen=True):
    """A Python value."""

    name: str
    value: Any


HANDED_IN = "handed in "  # begins the names of these tensors


class HandedIn(_Step, frozen=True):
    """The trained weights beside the submission, as a dict of tensors."""

    name: str


Given = Input | Tokens | Batches | Constant | Value | HandedIn


# ---- what happens


class Build(_WithValues, frozen=True):
    """Construct the student's class of the exercise `of`."""

    name: str
    of: str
    kwargs: dict[str, Any]


class Provide(_WithValues, frozen=True):
    """Construct the class `of` of a source that belongs to the case.

    own: the student's parts replace the building blocks of the same names.
    """

    name: str
    source: str
    of: str
    kwargs: dict[str, Any]
    own: bool = False


class Load(_Step, frozen=True):
    """Load weights: name → the stored tensor, or how to make it."""

    module: str
    weights: dict[str, str | Filled]

    def shapes(self, tensors: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
        """Return the shape of every weight."""
        return {
            name: tuple(tensors[recipe].shape) if isinstance(recipe, str) else recipe.shape
            for name, recipe in self.weights.items()
        }


class Mode(_Step, frozen=True):
    """Set a module to train() or eval()."""

    module: str
    train: bool


class Grad(_Step, frozen=True):
    """Turn the recording of gradients on or off."""

    on: bool


class Seed(_Step, frozen=True):
    """Seed the random numbers."""

    number: int


class Stages(_Step, frozen=True):
    """Watch submodules until the program ends."""

    module: str
    of: list[Stage]


class Call(_WithValues, frozen=True):
    """Call the student's function, a module, or a method. steps: of the training that a function carries out."""

    name: str
    on: Callee
    args: list[Any]
    kwargs: dict[str, Any]
    steps: int | None = None

    @property
    def arguments(self) -> list[Any]:
        """All that it passes, by position and by keyword."""
        return [*self.args, *self.kwargs.values()]


class Join(_Step, frozen=True):
    """Concatenate results, or the tensors of one result."""

    name: str
    parts: Ref | list[Ref]
    dim: int


class Part(_Step, frozen=True):
    """Take a slice of a result: one (start, stop) per axis."""

    name: str
    of: Ref
    slices: list[tuple[int | None, int | None]]


class Attribute(_Step, frozen=True):
    """A number that an object has under the first of `names` that exists: an attribute, or a method without arguments."""

    name: str
    of: Ref
    names: list[str]


class Student(_Step, frozen=True):
    """The student's function of an exercise, to pass on."""

    name: str
    of: str


class Descend(_Step, frozen=True):
    """Do one step of gradient descent on Σ (of · upstream)."""

    module: Ref
    of: Ref
    upstream: str
    rate: float


Running = Call | Join | Part | Attribute | Student | Descend
Happening = Build | Provide | Load | Mode | Grad | Seed | Stages | Running


# ---- what is observed


class See(_Named, frozen=True):
    """A tensor."""

    of: Ref


class SeeValue(_Named, frozen=True):
    """A bool, a number, None, or a tensor with one value."""

    of: Ref


class SeeNone(_Named, frozen=True, tag="none"):
    """Whether a value is None."""

    of: Ref


class After(_Named, frozen=True):
    """An input, once more."""

    of: str


class State(_Step, frozen=True):
    """The weights of a state dict by the names of the contract; they are loaded into the module."""

    module: str
    of: Ref


class Sentences(_Named, frozen=True):
    """Generated sentences of at most `steps` tokens, cut at `eos`."""

    of: Ref
    steps: int
    eos: int


class Weights(_Named, frozen=True):
    """The attention weights that a module stores, see `Case.weights` and `Case.weights_of_layers`."""

    of: Ref
    heads: int | None = None
    steps: int | None = None
    part: int | None = None
    layers: bool = False


class Gradients(_Step, frozen=True):
    """Gradients of Σ (of · upstream) for the inputs `wrt` and for the loaded weights of a module."""

    of: list[Ref]
    upstream: list[str]
    wrt: list[str]
    module: str | None = None


class ParameterCount(_Named, frozen=True):
    """The number of values in all parameters of a module."""

    of: Ref


class Attempt(_Named, _WithValues, frozen=True):
    """What a call raises: 1 for an exception of the class `type`, 2 for another, 0 for none. The case goes on."""

    on: Callee
    args: list[Any]
    type: str


class Count(_Named, _WithValues, frozen=True):
    """What one call costs, without gradients: its floating-point operations, or the values of its largest tensor."""

    what: Literal["operations", "largest"]
    on: Callee
    args: list[Any]
    kwargs: dict[str, Any]


class Kept(_Named, frozen=True):
    """The number of values in all tensors that an object keeps."""

    of: Ref


class Removals(_Named, frozen=True):
    """The rows of a removal experiment."""

    of: Ref
    heads: int


Measured = ParameterCount | Count | Kept | Attempt | Removals
Observing = See | SeeValue | SeeNone | After | State | Sentences | Weights | Gradients | Measured
Step = Given | Happening | Observing


def tensors_of(step: Step) -> Iterator[str]:
    """Yield the names of the stored tensors that a step takes."""
    match step:
        case Input() | Tokens():
            yield step.name
        case Batches():
            yield from step.of
        case Load():
            yield from (recipe for recipe in step.weights.values() if isinstance(recipe, str))
        case Descend():
            yield step.upstream
        case Gradients():
            yield from step.upstream


def observes(step: Step, name: str) -> bool:
    """Whether a step makes the observation of this name."""
    if isinstance(step, (Gradients, State)):
        return name.startswith("grad " if isinstance(step, Gradients) else "state ")
    return isinstance(step, Observing) and step.name == name


class Form(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a class of another school is built and called, see `engine.schools`.

    built, called: parameter of the constructor, of `forward` → what it means. config: attribute of the argument that
    means "config" → what it means.
    """

    built: Mapping[str, str]
    called: Mapping[str, str]
    config: Mapping[str, str] = {}


class Run(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a worker gets of a case, besides its tensors.

    aliases: exercise → its name in the submission. renamed: exercise → the course's keyword → the submission's.
    called: method, "" for a function → the submission's names of the course's positional arguments.
    form: of the class, if it is another than the course's.
    about: forbidden calls to watch for.
    """

    steps: Sequence[Step]
    dtype: str
    aliases: Mapping[str, str] = {}
    renamed: Mapping[str, Mapping[str, str]] = {}
    called: Mapping[str, Sequence[str]] = {}
    form: Form | None = None
    about: Sequence[str] = ()


class Asked(Struct, frozen=True, array_like=True):
    """A case as it is sent to a worker. tensors: its stored tensors as safetensors; b"" for none.

    The body of a request is a list of these, in MessagePack: JSON has no infinity, and takes longer to write and read.
    """

    run: Run
    tensors: bytes = b""


def to_body(asked: Sequence[Asked]) -> bytes:
    """Return the body of a request."""
    return msgspec.msgpack.encode(asked)


def from_body(body: bytes) -> list[Asked]:
    """Read the body of a request."""
    return msgspec.msgpack.decode(body, type=list[Asked])
