"""The steps of a case: its inputs, what happens to them, and what is observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np

from grader.bundle.files import round_to
from grader.bundle.model import Check
from grader.bundle.safetensors import Array
from grader.worker import steps as do
from grader.worker.steps import Callee, Filled, Ref, Step


class Steps:
    """Steps that run one after the other, with the tensors that they take. `Case` adds the checks."""

    def __init__(self, id: str, exercise: str, dtype: str):
        self.id = id
        self.exercise = exercise
        self.dtype = dtype
        self.steps: list[Step] = []
        self.tensors: dict[str, Array] = {}
        self.axes: dict[str, tuple[str, ...]] = {}  # of observations
        self.shapes: dict[str, tuple[int, ...]] = {}  # of observations, if the reference is not run
        self._fresh = 0  # how many names `_name` has made
        self._axes: dict[Ref, tuple[str, ...]] = {}  # of results

    # ---- what goes in -------------------------------------------------------------------------------

    def input(self, name: str, values: Array, grad: bool = False) -> Ref:
        """Add a tensor that the student's code receives. A floating one can be differentiated (`grad=True`)."""
        self._hold(name, values)
        self._add(do.Input(name, grad))
        return Ref(name)

    def tokens(self, name: str, values: Array) -> Ref:
        """Add whole numbers from 0 to 255: stored in a byte each, passed as int64."""
        self._hold(name, _bytes(values))
        self._add(do.Tokens(name))
        return Ref(name)

    def batches(self, name: str, columns: Sequence[Array], size: int) -> Ref:
        """Add a list of batches, each a tuple with `size` rows of every column as int64; the last may have fewer.

        All values are whole numbers from 0 to 255.
        """
        names = [f"{name} {i}" for i in range(len(columns))]
        for column, values in zip(names, columns, strict=True):
            self._hold(column, _bytes(values))
        self._add(do.Batches(name, names, size))
        return Ref(name)

    def constant(self, name: str, shape: Sequence[int], value: float = 1.0, grad: bool = False) -> Ref:
        """Add a floating tensor with one repeated value, stored as its shape."""
        self._add(do.Constant(name, list(shape), value, grad))
        return Ref(name)

    def value(self, name: str, value: Any) -> Ref:
        """Add a Python value made of lists, dicts, numbers and references."""
        self._add(do.Value(name, value))
        return Ref(name)

    def handed_in(self, name: str = "weights") -> Ref:
        """Add the trained weights that the student handed in: a dict of tensors. The case is not recorded with any."""
        self._add(do.HandedIn(name))
        return Ref(name)

    # ---- what happens -------------------------------------------------------------------------------

    def build(self, of: str = "", name: str = "module", /, **kwargs: Any) -> Ref:
        """Construct the exercise's class, or the class `of` of the submission, by keyword.

        `grader.worker.constructors` lists the classes for which a second constructor is accepted.
        """
        self._add(do.Build(name, of or self.exercise, kwargs))
        return Ref(name)

    def load(self, module: Ref, weights: Mapping[str, Array | Filled]) -> None:
        """Load weights into a module, by these names or into another known layout.

        Their names and shapes are the *contract* of the module. The observation `parameters` says which parameters
        were found; `check_parameters` judges it.
        """
        recipes: dict[str, str | Filled] = {}
        for name, values in weights.items():
            if isinstance(values, Filled):
                recipes[name] = values
            else:
                recipes[name] = f"{module.name}.{name}"
                self._hold(f"{module.name}.{name}", values)
        self._add(do.Load(module.name, recipes))

    def provide(self, source: str, of: str, name: str = "module", /, **kwargs: Any) -> Ref:
        """Construct a class from source code that belongs to the case, not to the submission.

        For exercises that take a module as their argument. The code is in the bundle, so it must not contain an
        answer to a public exercise.
        """
        self._add(do.Provide(name, source, of, kwargs))
        return Ref(name)

    def provide_with_parts(self, source: str, of: str, name: str = "module", /, **kwargs: Any) -> Ref:
        """Build a module like `provide`.

        Blocks that the code imports from `grader.given` are the student's own, if the student wrote them.
        """
        self._add(do.Provide(name, source, of, kwargs, own=True))
        return Ref(name)

    def train(self, module: Ref) -> None:
        self._add(do.Mode(module.name, train=True))

    def eval(self, module: Ref) -> None:
        self._add(do.Mode(module.name, train=False))

    def grad(self, on: bool) -> None:
        """Turn the recording of gradients on or off for the next steps, like `torch.set_grad_enabled`.

        It is on at the start.
        """
        self._add(do.Grad(on))

    def seed(self, number: int) -> None:
        """Seed torch before something random. Judge such a result by its structure, for example with `varies`.

        Its values are not the same on every machine.
        """
        self._add(do.Seed(number))

    def call(
        self, *args: Any, on: Ref | None = None, name: str = "", axes: Sequence[str] = (), **kwargs: Any
    ) -> Ref:
        """Call the exercise's function, or the module `on`, with these arguments. `axes` name those of the result."""
        name = name or self._name("out")
        self._add(do.Call(name, self._callee(on), list(args), kwargs))
        return self._named(name, axes)

    def call_training(self, steps: int, *args: Any, name: str = "") -> Ref:
        """Call the exercise's function, which trains for `steps` steps; the worker reports each while it runs."""
        name = name or self._name("out")
        self._add(do.Call(name, Callee(self.exercise), list(args), {}, steps))
        return Ref(name)

    def method(self, module: Ref, method: str, *args: Any, name: str = "") -> Ref:
        """Call a method of a module, such as `init_state`."""
        name = name or self._name(method)
        self._add(do.Call(name, Callee(ref=module.name, method=method), list(args), {}))
        return Ref(name)

    def attribute(self, of: Ref, *names: str) -> Ref:
        """Read a number of an object: the first of these attributes, properties or methods without arguments."""
        name = self._name(names[0])
        self._add(do.Attribute(name, of, list(names)))
        return Ref(name)

    def student(self, of: str) -> Ref:
        """The student's function of an exercise, for code that the case provides: it can be called as a step calls it."""
        self._add(do.Student(f"own {of}", of))
        return Ref(f"own {of}")

    def join(self, parts: Sequence[Ref] | Ref, dim: int, name: str = "", axes: Sequence[str] = ()) -> Ref:
        """Concatenate results, so that a sequence decoded step by step becomes one tensor.

        `parts` may also be a single result that is a list of tensors.
        """
        name = name or self._name("joined")
        self._add(do.Join(name, parts if isinstance(parts, Ref) else list(parts), dim))
        return self._named(name, axes)

    def part(
        self, whole: Ref, *slices: tuple[int | None, int | None], name: str = "", axes: Sequence[str] = ()
    ) -> Ref:
        """Take a slice of a result: one `(start, stop)` per axis."""
        name = name or self._name("part")
        self._add(do.Part(name, whole, list(slices)))
        return self._named(name, axes or self._axes.get(whole, ()))

    def stages(self, module: Ref, **titles: str) -> None:
        """Watch submodules during the first call that reaches them, for diagnosis only.

        A keyword is a path with `__` for dots, such as `attention` or `blks__block0`, and watches the output;
        `attention__in0` watches the first argument, `attention__in1` the second. The value names the stage in plain
        words. A module with another structure has no such stage.
        """
        watched = [do.Stage(path.replace("__", "."), title) for path, title in titles.items()]
        self._add(do.Stages(module.name, watched))

    # ---- what is observed ---------------------------------------------------------------------------

    def state(self, module: Ref, returned: Ref) -> tuple[str, ...]:
        """Observe the weights of a state dict by the contract's names, and load them into the module.

        An exam takes them over with `load_state`. Returns the names of the observations.
        """
        shapes = self._loaded(module).shapes(self.tensors)
        found = {f"state {name}": shape for name, shape in shapes.items()}
        self.shapes |= found
        self._add(do.State(module.name, returned))
        return tuple(found)

    def load_state(self, module: Ref, names: Sequence[str]) -> None:
        """Load the weights that `state` of the examined case observed."""
        self._add(do.Load(module.name, {name.removeprefix("state "): name for name in names}))

    def sentences(self, ref: Ref, steps: int, eos: int, name: str = "sentences") -> str:
        """Observe generated sentences in any accepted layout: at most `steps` tokens each, cut at `eos`."""
        self._add(do.Sentences(name, ref, steps, eos))
        self.axes[name] = ("sentence", "step")
        return name

    def see(self, ref: Ref, name: str = "", axes: Sequence[str] = (), shape: Sequence[int] = ()) -> str:
        """Observe a tensor. Returns the name of the observation. `shape`: only where the reference is not run."""
        name = name or spelled(ref)
        if shape:
            self.shapes[name] = tuple(shape)
        if not any(isinstance(step, do.See) and step.name == name for step in self.steps):
            self._add(do.See(name, ref))
            self.axes[name] = tuple(axes) or self._axes.get(ref, ())
        return name

    def see_none(self, ref: Ref, name: str) -> None:
        """Observe 1 if a value is None, 0 if it is not, and nothing if it cannot be read.

        For diagnosis only: it tells mistakes apart that agree in everything else. A right answer may store the value
        elsewhere.
        """
        self._add(do.SeeNone(f"none {name}", ref))

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
        self._add(do.Weights(name, module, heads, steps))
        usual = ("batch", "query", "key") if heads is None else ("batch", "head", "query", "key")
        self.axes[name] = tuple(axes) or usual
        return name

    def weights_of_layers(self, module: Ref, heads: int, part: int | None = None) -> str:
        """Observe the attention weights that a stack of layers stores; the judge compares (L, B, H, T, S).

        `part`: which of the two lists of a decoder.
        """
        name = "weights" if part is None else f"weights {part}"
        self._add(do.Weights(name, module, heads, part=part, layers=True))
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
            seen += [f"grad {name}" for name in self._loaded(parameters).weights]
        module = parameters.name if parameters is not None else None
        self._add(do.Gradients(outs, names, [ref.name for ref in wrt], module))
        return tuple(seen)

    # ---- what is measured ---------------------------------------------------------------------------

    def parameter_count(self, module: Ref, name: str) -> str:
        """Observe the number of values in all parameters of a module. Returns the name of the observation."""
        self._add(do.ParameterCount(name, module))
        return name

    def operations(
        self, *args: Any, name: str, on: Ref | None = None, method: str = "", **kwargs: Any
    ) -> str:
        """Observe the number of floating-point operations of one call, as torch.utils.flop_counter counts them: two
        for each multiplication in a matrix product, a convolution or fused attention, and nothing else. The call is of
        the exercise's function, of `on`, or of a method of it; no gradient is recorded. Returns the name of the
        observation.
        """
        self._add(do.Count(name, "operations", self._callee(on, method), list(args), kwargs))
        return name

    def largest_tensor(
        self, *args: Any, name: str, on: Ref | None = None, method: str = "", **kwargs: Any
    ) -> str:
        """Observe the number of values of the largest tensor that an operation of one call takes; see `operations`."""
        self._add(do.Count(name, "largest", self._callee(on, method), list(args), kwargs))
        return name

    def values_kept(self, of: Ref, name: str) -> str:
        """Observe the number of values in all tensors that an object keeps. Returns the name of the observation."""
        self._add(do.Kept(name, of))
        return name

    def attempt(
        self, *args: Any, name: str, on: Ref | None = None, method: str = "", type: str = "ValueError"
    ) -> str:
        """Observe whether a call raises an exception of the class `type`, and go on. Returns the name of the observation."""
        self._add(do.Attempt(name, self._callee(on, method), list(args), type))
        return name

    def descend(self, module: Ref, of: Ref, upstream: Array, rate: float) -> None:
        """Minimise Σ (`of` · `upstream`) by one step of gradient descent on all parameters that the module trains now.

        A later output of the module then depends on the gradients, whatever its parameters are called.
        """
        name = self._name("upstream")
        self._hold(name, upstream)
        self._add(do.Descend(module, of, name, rate))

    def removals(self, rows: Ref, heads: int) -> str:
        """Observe the rows of a removal experiment as a tensor (rows, 3 + heads): seed, order, accuracy, and the
        removed heads, padded with -1. Returns the name of the observation.
        """
        self._add(do.Removals("removals", rows, heads))
        self.axes["removals"] = ("row", "column")
        return "removals"

    # ---- inside -------------------------------------------------------------------------------------

    def _callee(self, on: Ref | None, method: str = "") -> Callee:
        return Callee(self.exercise) if on is None else Callee(ref=on.name, at=on.at, method=method)

    def _add(self, step: Step) -> None:
        self.steps.append(as_stored(step))

    def _hold(self, name: str, values: Array) -> None:
        array = np.asarray(values)
        if array.dtype.kind == "f":
            array = round_to(array, self.dtype)
        if name in self.tensors and not np.array_equal(self.tensors[name], array):
            raise ValueError(f"case {self.id}: {name!r} is already another tensor")
        self.tensors[name] = array

    def _name(self, stem: str) -> str:
        self._fresh += 1
        return f"{stem}{self._fresh}"

    def _named(self, name: str, axes: Sequence[str]) -> Ref:
        self._axes[Ref(name)] = tuple(axes)
        return Ref(name)

    def _loaded(self, module: Ref) -> do.Load:
        """Return the step that loads the weights of a module."""
        return next(s for s in self.steps if isinstance(s, do.Load) and s.module == module.name)


T = TypeVar("T", bound=Step | Check)


def as_stored(described: T) -> T:
    """Return a step or a check as it is read from a bundle: with numbers of Python, and lists for tuples.

    Raises ValueError for a value of another type than its field has.
    """
    return msgspec.convert(msgspec.to_builtins(described, enc_hook=_number), type(described))


def _number(value: Any) -> Any:
    """Return a number of numpy as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be stored in a case")


def _bytes(values: Array) -> Array:
    array = np.asarray(values)
    if array.min(initial=0) < 0 or array.max(initial=0) > 255:
        raise ValueError("tokens are whole numbers from 0 to 255")
    return array.astype(np.uint8)


def spelled(ref: Ref) -> str:
    return ref.name + "".join(f"[{i}]" for i in ref.at)
