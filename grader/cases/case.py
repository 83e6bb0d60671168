"""A case is data: what to construct, with which weights, what to call, and what to observe and check.

An author writes a case as if calling the student's code. It is stored as a list of steps and a list of checks. A
worker runs the steps and receives no expected value (grader/worker/program.py). The judge decides the checks and runs
no student code (grader/judge/).

    case = Case("per-sequence", "masked_softmax")
    X = case.input("X", draw.normal(2, 3, 5), grad=True)
    Y = case.call(X, case.input("valid_lens", np.array([2, 5])), axes=("batch", "query", "key"))
    case.check_shape(Y)
    case.check_values(Y, title="weights of every query")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from grader.bundle.model import OTHER_DTYPES, PRECISION, Check
from grader.bundle.safetensors import Array
from grader.bundle.steps import in_dtype, in_short
from grader.cases.checks import Again, Checks
from grader.cases.measures import Measures
from grader.cases.ref import Filled, Json, Ref, plain


class Case(Measures, Checks):
    """A case: its author adds steps and checks with these methods.

    `id` is unique within its exercise. `dtype` is that of every floating tensor in it. `caps`: False if every check
    is about an optional argument that is left out, or about an unusual size; see `check`.
    """

    def __init__(self, id: str, exercise: str, dtype: str = "float32", caps: bool = True):
        self.id = id
        self.exercise = exercise
        self.dtype = dtype
        self.caps = caps
        self.steps: list[Json] = []
        self.checks: list[Check] = []
        self.tensors: dict[str, Array] = {}
        self.for_judge: dict[str, Array] = {}
        self.axes: dict[str, tuple[str, ...]] = {}
        self.again: list[Again] = []
        self.like = ""  # the id of the case that this one repeats in another dtype
        self.exam: Case | None = None
        self.costly = False
        self.shapes: dict[str, tuple[int, ...]] = {}  # of observations, if the reference is not run
        self._fresh = 0
        for made in _collecting:
            made.append(self)

    # ---- what goes in -------------------------------------------------------------------------------

    def input(self, name: str, values: Array, grad: bool = False) -> Ref:
        """Add a tensor that the student's code receives. A floating one can be differentiated (`grad=True`)."""
        self._hold(name, values)
        self._step("input", name=name, grad=grad)
        return Ref(name)

    def tokens(self, name: str, values: Array) -> Ref:
        """Add whole numbers from 0 to 255: stored in a byte each, passed as int64."""
        self._hold(name, _bytes(values))
        self._step("tokens", name=name)
        return Ref(name)

    def batches(self, name: str, columns: Sequence[Array], size: int) -> Ref:
        """Add a list of batches, each a tuple with `size` rows of every column as int64; the last may have fewer.

        All values are whole numbers from 0 to 255.
        """
        names = [f"{name} {i}" for i in range(len(columns))]
        for column, values in zip(names, columns, strict=True):
            self._hold(column, _bytes(values))
        self._step("batches", name=name, of=names, size=size)
        return Ref(name)

    def hold_for_judge(self, name: str, values: Array) -> str:
        """Store a tensor for a judge only: no worker ever receives it. Returns the name."""
        self.for_judge[name] = np.asarray(values)
        return name

    def constant(self, name: str, shape: Sequence[int], value: float = 1.0, grad: bool = False) -> Ref:
        """Add a floating tensor with one repeated value, stored as its shape."""
        self._step("constant", name=name, shape=list(shape), value=value, grad=grad)
        return Ref(name)

    def value(self, name: str, value: Any) -> Ref:
        """Add a Python value made of lists, dicts, numbers and references."""
        self._step("value", name=name, value=plain(value))
        return Ref(name)

    # ---- what happens -------------------------------------------------------------------------------

    def build(self, of: str = "", name: str = "module", /, **kwargs: Any) -> Ref:
        """Construct the exercise's class, or the class `of` of the submission, by keyword.

        `grader.worker.constructors` lists the classes for which a second constructor is accepted.
        """
        self._step("build", name=name, of=of or self.exercise, kwargs=plain(kwargs))
        return Ref(name)

    def load(self, module: Ref, weights: Mapping[str, Array | Filled]) -> None:
        """Load weights into a module, by these names or into another known layout.

        Their names and shapes are the *contract* of the module. The observation `parameters` says which parameters
        were found; `check_parameters` judges it.
        """
        names: dict[str, Json] = {}
        for name, values in weights.items():
            if isinstance(values, Filled):
                names[name] = vars(values) | {"shape": list(values.shape)}
            else:
                self._hold(f"{module.name}.{name}", values)
                names[name] = f"{module.name}.{name}"
        self._step("load", module=module.name, weights=names)

    def provide(self, source: str, of: str, name: str = "module", /, **kwargs: Any) -> Ref:
        """Construct a class from source code that belongs to the case, not to the submission.

        For exercises that take a module as their argument. The code is in the bundle, so it must not contain an
        answer to a public exercise.
        """
        self._step("provide", name=name, source=source, of=of, kwargs=plain(kwargs))
        return Ref(name)

    def provide_with_parts(self, source: str, of: str, name: str = "module", /, **kwargs: Any) -> Ref:
        """Build a module like `provide`.

        Blocks that the code imports from `grader.given` are the student's own, if the student wrote them.
        """
        self._step("provide", name=name, source=source, of=of, kwargs=plain(kwargs), own=True)
        return Ref(name)

    def train(self, module: Ref) -> None:
        self._step("mode", module=module.name, train=True)

    def eval(self, module: Ref) -> None:
        self._step("mode", module=module.name, train=False)

    def grad(self, on: bool) -> None:
        """Turn the recording of gradients on or off for the next steps, like `torch.set_grad_enabled`.

        It is on at the start.
        """
        self._step("grad", on=on)

    def seed(self, number: int) -> None:
        """Seed torch before something random. Judge such a result by its structure, for example with `varies`.

        Its values are not the same on every machine.
        """
        self._step("seed", number=number)

    def call(
        self, *args: Any, on: Ref | None = None, name: str = "", axes: Sequence[str] = (), **kwargs: Any
    ) -> Ref:
        """Call the exercise's function, or the module `on`, with these arguments. `axes` name those of the result."""
        name = name or self._name("out")
        callee = {"function": self.exercise} if on is None else on.to_json()
        self._step("call", name=name, on=callee, args=plain(args), kwargs=plain(kwargs))
        return self._axes(Ref(name), axes)

    def call_training(self, steps: int, *args: Any, name: str = "") -> Ref:
        """Call the exercise's function, which trains for `steps` steps; the worker reports each while it runs."""
        called = self.call(*args, name=name)
        self.steps[-1]["steps"] = steps
        return called

    def method(self, module: Ref, method: str, *args: Any, name: str = "") -> Ref:
        """Call a method of a module, such as `init_state`."""
        name = name or self._name(method)
        self._step("call", name=name, on={"ref": module.name, "method": method}, args=plain(args), kwargs={})
        return Ref(name)

    def join(self, parts: Sequence[Ref] | Ref, dim: int, name: str = "", axes: Sequence[str] = ()) -> Ref:
        """Concatenate results, so that a sequence decoded step by step becomes one tensor.

        `parts` may also be a single result that is a list of tensors.
        """
        name = name or self._name("joined")
        self._step("join", name=name, parts=plain(parts if isinstance(parts, Ref) else list(parts)), dim=dim)
        return self._axes(Ref(name), axes)

    def part(
        self, whole: Ref, *slices: tuple[int | None, int | None], name: str = "", axes: Sequence[str] = ()
    ) -> Ref:
        """Take a slice of a result: one `(start, stop)` per axis."""
        name = name or self._name("part")
        self._step("part", name=name, of=whole.to_json(), slices=[list(s) for s in slices])
        return self._axes(Ref(name), axes or whole.axes)

    def stages(self, module: Ref, **titles: str) -> None:
        """Watch submodules during the first call that reaches them, for diagnosis only.

        A keyword is a path with `__` for dots, such as `attention` or `blks__block0`, and watches the output;
        `attention__in0` watches the first argument, `attention__in1` the second. The value names the stage in plain
        words. A module with another structure has no such stage.
        """
        watched = [[path.replace("__", "."), title] for path, title in titles.items()]
        self._step("stages", module=module.name, of=watched)

    def examined(self, exam: Case, costly: bool = True) -> None:
        """Measure the result of this case with the case `exam`, which runs in a worker without student code.

        The reference is not run when such a case is recorded, so `see` must get the shapes. `costly`: the examined
        case takes a few seconds, and a quick check leaves it out.
        """
        self.exam, self.costly = exam, costly

    # ---- what is observed ---------------------------------------------------------------------------

    def state(self, module: Ref, returned: Ref) -> tuple[str, ...]:
        """Observe the weights of a state dict by the contract's names, and load them into the module.

        An exam takes them over with `load_state`. Returns the names of the observations.
        """
        loaded = next(s for s in self.steps if s["do"] == "load" and s["module"] == module.name)
        for name, key in loaded["weights"].items():
            self.shapes[f"state {name}"] = self.tensors[key].shape
        self._step("state", module=module.name, of=returned.to_json())
        return tuple(f"state {name}" for name in loaded["weights"])

    def load_state(self, module: Ref, names: Sequence[str]) -> None:
        """Load the weights that `state` of the examined case observed."""
        self._step("load", module=module.name, weights={name.removeprefix("state "): name for name in names})

    def sentences(self, ref: Ref, steps: int, eos: int, name: str = "sentences") -> str:
        """Observe generated sentences in any accepted layout: at most `steps` tokens each, cut at `eos`."""
        self._step("sentences", name=name, of=ref.to_json(), steps=steps, eos=eos)
        self.axes[name] = ("sentence", "step")
        return name

    def see(self, ref: Ref, name: str = "", axes: Sequence[str] = (), shape: Sequence[int] = ()) -> str:
        """Observe a tensor. Returns the name of the observation. `shape`: only where the reference is not run."""
        name = name or ref.name + "".join(f"[{i}]" for i in ref.at)
        if shape:
            self.shapes[name] = tuple(shape)
        if not any(step["do"] == "see" and step["name"] == name for step in self.steps):
            self._step("see", name=name, of=ref.to_json())
            self.axes[name] = tuple(axes) or ref.axes
        return name

    def see_value(self, ref: Ref, name: str = "") -> str:
        """Observe a bool, a number, None, or a tensor with one value. Returns the name of the observation.

        Of any other value, only its kind is observed.
        """
        name = name or ref.name + "".join(f"[{i}]" for i in ref.at)
        self._step("see_value", name=name, of=ref.to_json())
        return name

    def see_none(self, ref: Ref, name: str) -> None:
        """Observe 1 if a value is None, 0 if it is not, and nothing if it cannot be read.

        For diagnosis only: it tells mistakes apart that agree in everything else. A right answer may store the value
        elsewhere.
        """
        self._step("none", name=f"none {name}", of=ref.to_json())

    def weights(
        self,
        module: Ref,
        heads: int | None = None,
        name: str = "weights",
        axes: Sequence[str] = (),
        steps: int | None = None,
    ) -> str:
        """Observe the attention weights that a module stores, in any accepted layout.

        `heads`: the number of heads; the judge then compares in the layout (B, H, T, S). `steps`: the number of
        steps of a recurrent decoder with one query each; the layout is then (steps, B, 1, S).
        """
        self._step("weights", name=name, of=module.to_json(), heads=heads, steps=steps)
        usual = ("batch", "query", "key") if heads is None else ("batch", "head", "query", "key")
        self.axes[name] = tuple(axes) or usual
        return name

    def weights_of_layers(self, module: Ref, heads: int, part: int | None = None) -> str:
        """Observe the attention weights that a stack of layers stores; the judge compares (L, B, H, T, S).

        `part`: which of the two lists of a decoder.
        """
        name = "weights" if part is None else f"weights {part}"
        self._step("weights", name=name, of=module.to_json(), heads=heads, part=part, layers=True)
        self.axes[name] = ("layer", "batch", "head", "query", "key")
        return name

    def gradients(
        self,
        of: Ref | Sequence[Ref],
        upstream: Array | Sequence[Array],
        wrt: Sequence[Ref] = (),
        parameters: Ref | None = None,
    ) -> tuple[str, ...]:
        """Observe gradients of the scalar Σ (y · g): each y in `of` has its fixed g in `upstream`.

        `wrt`: inputs made with `grad=True`. `parameters`: a module; its loaded weights are differentiated too.
        Returns the names of the observations.
        """
        outs = [of] if isinstance(of, Ref) else list(of)
        ups = [upstream] if isinstance(upstream, np.ndarray) else list(upstream)
        names = []
        for i, array in enumerate(ups):
            names.append(self._name(f"upstream{i}"))
            self._hold(names[-1], array)
        seen = [f"grad {ref.name}" for ref in wrt]
        if parameters is not None:
            loaded = next(s for s in self.steps if s["do"] == "load" and s["module"] == parameters.name)
            seen += [f"grad {name}" for name in loaded["weights"]]
        self._step(
            "gradients",
            of=[ref.to_json() for ref in outs],
            upstream=names,
            wrt=[ref.name for ref in wrt],
            module=parameters.name if parameters is not None else None,
        )
        return tuple(seen)

    def after(self, *inputs: Ref) -> tuple[str, ...]:
        """Observe inputs again, after the calls."""
        for ref in inputs:
            self._step("after", name=f"after {ref.name}", of=ref.name)
        return tuple(f"after {ref.name}" for ref in inputs)

    # ---- inside -------------------------------------------------------------------------------------

    def in_other_dtypes(self) -> Iterator[Case]:
        """Yield the case in each other dtype, once for each result whose precision its author asked for.

        Values and dtype of the result are checked. Which dtype an answer uses inside is not.
        """
        for asked in self.again:
            for dtype in OTHER_DTYPES:
                again = Case(f"{self.id}-{dtype}", self.exercise, dtype)
                again.like, again.steps = self.id, in_short(self.steps, asked.see)
                again.tensors = in_dtype(self.tensors, again.steps, dtype)
                again.axes = {asked.see: self.axes[asked.see]}
                title = f"{dtype}: {asked.title}"
                again.check("precision", "precise", [asked.see], title, policy=PRECISION, **asked.params)
                yield again

    def _axes(self, ref: Ref, axes: Sequence[str]) -> Ref:
        return Ref(ref.name, ref.at, tuple(axes))


_collecting: list[list[Case]] = []  # one list per open block of `collected`


@contextmanager
def collected() -> Iterator[list[Case]]:
    """Collect every case that is constructed in the block."""
    made: list[Case] = []
    _collecting.append(made)
    try:
        yield made
    finally:
        _collecting.remove(made)


def _bytes(values: Array) -> Array:
    array = np.asarray(values)
    if array.min(initial=0) < 0 or array.max(initial=0) > 255:
        raise ValueError("tokens are whole numbers from 0 to 255")
    return array.astype(np.uint8)
