"""Run the steps of one case with a submission's names, and record what can be observed.

The steps are data (grader/worker/steps.py). An exception of the student's code becomes part of the observation,
together with everything seen before.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from types import MappingProxyType
from typing import Any, assert_never

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from grader.worker import counts, forms, layouts, modules, random_seeds
from grader.worker import steps as do
from grader.worker.constructors import fitting_form
from grader.worker.errors import PROVIDED, definition, describe
from grader.worker.forbidden_calls import watching
from grader.worker.orientation import held_as_linear
from grader.worker.results import NotRows, attention_weights, in_rows, kind_of, plain_copy, removals
from grader.worker.stand_in_modules import Switch
from grader.worker.steps import Ref, Run, Step
from grader.worker.training_progress import Progress, ignore_progress, report_progress


class Program:
    """One run of one case. `observed` holds tensors by name, `reply` the fields that go with them.

    with_own: makes a context in which the student's parts replace the building blocks of the same names.
    removed: see `load.Loaded`.
    """

    def __init__(
        self,
        names: Mapping[str, Any],
        case: Run,
        tensors: Mapping[str, Tensor],
        device: str = "cpu",
        with_own: Switch = nullcontext,
        progress: Progress = ignore_progress,
        removed: Mapping[str, tuple[str, int]] = MappingProxyType({}),
    ):
        self.names = names
        self.removed = removed
        self.aliases, self.renamed, self.called_by = case.aliases, case.renamed, case.called
        self.about, self.form = case.about, case.form
        self.steps: Sequence[Step] = case.steps
        self.dtype: torch.dtype = getattr(torch, case.dtype)
        self.device = torch.device(device)
        self.with_own, self.progress = with_own, progress
        self.tensors = {name: self._cast(tensor) for name, tensor in tensors.items()}
        self.env: dict[str, Any] = {}  # name in the case → inputs, modules and results so far
        self.built: set[str] = set()  # names of the modules of the student's class
        self.called: object = None  # the student's function that was called last
        self.leaves: dict[str, Tensor] = {}  # name of an input → the tensor that gets its gradient
        self.fits: dict[str, layouts.Fit] = {}  # module → which parameters have which names of the contract
        self.as_linear: dict[str, Collection[str]] = {}  # see `held_as_linear`
        self.observed: dict[str, Tensor] = {}
        self.watched: dict[str, Tensor] = {}  # see `_watch_stages`
        self.reply: dict[str, Any] = {"odd": {}}

    def run(self, files: Collection[str], rng_seed: int = 0) -> None:
        """Carry out every step; stop at the first that raises.

        files: names of the submission's files. rng_seed: of random numbers that are drawn before a step sets a seed.
        """
        random_seeds.start(rng_seed, self.device.type)
        used: set[str] = set()
        with warnings.catch_warnings(), watching(self.about, used):
            # A warning is printed, not raised, even if the file turns warnings into exceptions.
            warnings.simplefilter("default")
            for step in self.steps:
                try:
                    self._do(step)
                except BaseException as error:
                    self.reply["error"] = self._described(error, files) | {"step": step.do}
                    break
        if used:
            self.reply["used"] = sorted(used)
        torch.set_grad_enabled(True)
        for name, tensor in self.watched.items():
            self._observe(name, tensor)

    def _described(self, error: BaseException, files: Collection[str]) -> dict[str, Any]:
        described = describe(error, files)
        described["where"] = described["where"] or definition(self.called, files)
        name = str(error.name) if type(error) is NameError else ""
        if name in self.removed:
            file, line = self.removed[name]
            described["set_by"] = {"name": name, "file": file, "line": line}
        return described

    def _do(self, step: Step) -> None:
        match step:
            case do.Input():
                self._offer(step.name, self.tensors[step.name].clone(), step.grad)
            case do.Tokens():
                self.env[step.name] = self.tensors[step.name].long()
            case do.Batches():
                columns = [self.tensors[name].long().split(step.size) for name in step.of]
                self.env[step.name] = list(zip(*columns, strict=True))
            case do.Constant():
                full = torch.full(step.shape, step.value, dtype=self.dtype, device=self.device)
                self._offer(step.name, full, step.grad)
            case do.Value():
                self.env[step.name] = self._value(step.value)
            case do.HandedIn():
                begin = do.HANDED_IN
                found = {n.removeprefix(begin): t for n, t in self.tensors.items() if n.startswith(begin)}
                self.env[step.name] = found
            case do.Build():
                self.env[step.name] = self._build(step)
            case do.Provide():
                self.env[step.name] = self._provide(step)
            case do.Load():
                self._load(step)
            case do.Mode():
                self.env[step.module].train(step.train)
            case do.Grad():
                torch.set_grad_enabled(step.on)
            case do.Seed():
                random_seeds.start(step.number, self.device.type)
            case do.Stages():
                self._watch_stages(step)
            case do.Call():
                self.env[step.name] = self._call(step)
            case do.Join():
                self.env[step.name] = torch.cat(list(self._value(step.parts)), dim=step.dim)
            case do.Part():
                slices = tuple(slice(start, stop) for start, stop in step.slices)
                self.env[step.name] = self._value(step.of)[slices]
            case do.Attribute():
                self.env[step.name] = self._attribute(step)
            case do.Student():
                self.env[step.name] = partial(self._call_student, step.of)
            case do.Descend():
                upstream = self.tensors[step.upstream]
                modules.descend(self._value(step.module), self._value(step.of), upstream, step.rate)
            case _:
                self._look(step)

    def _look(self, step: do.Observing) -> None:
        match step:
            case do.See():
                self._see(step)
            case do.SeeValue():
                self._see_value(step)
            case do.SeeNone():
                # Nothing is observed if the value cannot be read.
                with suppress(Exception):
                    self._observe(step.name, torch.tensor(float(self._value(step.of) is None)))
            case do.After():
                self._observe(step.name, self.env[step.of])
            case do.State():
                self._see_state(step)
            case do.Sentences():
                self._see_sentences(step)
            case do.Weights():
                self._see_weights(step)
            case do.Gradients():
                self._see_gradients(step)
            case do.ParameterCount():
                self._report(step.name, modules.parameter_count(self._value(step.of)))
            case do.Count() | do.Kept():
                self._count(step)
            case do.Attempt():
                self._report(step.name, self._attempt(step))
            case do.Removals():
                try:
                    self._observe(step.name, removals(self._value(step.of), step.heads))
                except NotRows as odd:
                    self.reply["odd"][step.name] = {"is": str(odd)}
            case _:
                assert_never(step)

    # ---- what goes in

    def _cast(self, tensor: Tensor) -> Tensor:
        if tensor.dtype != self.dtype and tensor.is_floating_point():
            tensor = tensor.to(self.dtype)
        return tensor if self.device.type == "cpu" else tensor.to(self.device)

    def _offer(self, name: str, tensor: Tensor, grad: bool) -> None:
        """Store an input under its name. With `grad`, store `leaf * 1`: code may change that in place."""
        if grad:
            self.leaves[name] = tensor.requires_grad_()
            tensor = tensor * 1
        self.env[name] = tensor

    def _value(self, value: Any) -> Any:
        """Return a value of a step, with what its references stand for."""
        if isinstance(value, Ref):
            found = self.env[value.name]
            for index in value.at:
                found = found[index]
            return found
        if isinstance(value, dict):
            return {key: self._value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return value

    # ---- what happens

    def _student(self, name: str) -> Any:
        return self.names[self.aliases.get(name, name)]

    def _build(self, step: do.Build) -> Any:
        kwargs, build = self._value(step.kwargs), partial(self._built, step.of)
        module = build(kwargs)
        self.built.add(step.name)
        if isinstance(module, nn.Module):
            self.as_linear[step.name] = held_as_linear(module, build, kwargs)
            modules.move(module, self.dtype, self.device)
        return module

    def _built(self, of: str, kwargs: Mapping[str, Any]) -> Any:
        """Construct the student's class with the course's arguments, under the student's names for them."""
        build, renamed = self._student(of), self.renamed.get(of, {})
        if self.form is not None:
            return forms.build(self.form, build, kwargs)
        fitting = fitting_form(of, build, kwargs, renamed)
        if fitting is None:
            fitting = {renamed.get(name, name): value for name, value in kwargs.items()}
        return build(**fitting)

    def _load(self, step: do.Load) -> None:
        module = self.env[step.module]
        wanted = {name: self._weight(recipe) for name, recipe in step.weights.items()}
        everything = modules.parameters(module)
        if any(map(is_lazy, everything.values())):
            layouts.fill_lazy_layers(module, wanted)
            modules.move(module, self.dtype, self.device)  # the parameters that loading has just created
            everything = modules.parameters(module)
        # Still lazy, because no weight has this name.
        shapeless = [n for n, p in everything.items() if is_lazy(p)]
        # A parameter that is not trained counts only if it has a name of the contract.
        own = {n: p for n, p in everything.items() if (p.requires_grad or n in wanted) and n not in shapeless}
        shapes = {name: tuple(t.shape) for name, t in wanted.items()}
        found = layouts.fit(own, shapes, self.as_linear.get(step.module, frozenset()))
        layouts.write(found, own, wanted)
        self.fits[step.module] = found
        misplaced = {name: name for name in found.unexpected} | found.misshapen
        self.reply["parameters"] = {
            "missing": found.missing,
            "unexpected": found.unexpected + shapeless,
            "misshapen": list(found.misshapen),
            "shared": found.shared,
            "layout": found.layout,
            "shapes": {name: list(own[mine].shape) for name, mine in misplaced.items()},
        }

    def _weight(self, recipe: str | do.Filled) -> Tensor:
        if isinstance(recipe, str):
            return self.tensors[recipe]
        if recipe.diagonal:
            return torch.eye(*recipe.shape, dtype=self.dtype, device=self.device) * recipe.value
        full = torch.full(recipe.shape, recipe.value, dtype=self.dtype, device=self.device)
        if recipe.rows is not None:
            full[recipe.rows :] = 0
        if recipe.std:
            full += torch.randn(recipe.shape, device=self.device, dtype=self.dtype) * recipe.std
        return full

    def _provide(self, step: do.Provide) -> Any:
        """Construct a class whose source comes with the case; it may import torch and the allowed building blocks."""
        namespace: dict[str, Any] = {"__name__": PROVIDED}
        with self.with_own() if step.own else nullcontext():
            exec(compile(step.source, PROVIDED, "exec"), namespace)
            module = namespace[step.of](**self._value(step.kwargs))
        return module.to(device=self.device, dtype=self.dtype) if isinstance(module, nn.Module) else module

    def _watch_stages(self, step: do.Stages) -> None:
        """Watch submodules with hooks; the first value of each is observed when the program ends.

        The value of a path is the submodule's output. With `.in0` at the end, it is the first positional argument.
        """
        parts = dict(self.env[step.module].named_modules())
        for stage in step.of:
            owner, _, argument = stage.path.rpartition(".in")
            if argument.isdigit() and owner in parts:
                parts[owner].register_forward_pre_hook(partial(self._watch, stage.name, int(argument)))
            elif stage.path in parts:
                parts[stage.path].register_forward_hook(partial(self._watch, stage.name, 0))

    def _watch(self, name: str, index: int, _module: nn.Module, args: Sequence[Any], *result: Any) -> None:
        """Store the argument with this index; for a hook that gets a result, the part of the result."""
        if result:
            args = result[0] if isinstance(result[0], (tuple, list)) else result
        if index < len(args) and isinstance(args[index], Tensor):
            self.watched.setdefault(name, args[index].detach().clone())

    def _call(self, step: do.Call) -> Any:
        on = step.on
        if on.function:
            self.called = callee = self._student(on.function)
        else:
            callee = self._value(Ref(on.ref, on.at))
        if on.method:
            callee = getattr(callee, on.method)
        renamed = self.renamed.get(on.function, {})
        keywords = {renamed.get(name, name): value for name, value in self._value(step.kwargs).items()}
        arguments = self._value(step.args)
        if on.function or (on.ref in self.built and not on.at):
            names = self.called_by.get("" if on.function else on.method or "forward", ())
            keywords |= dict(zip(names, arguments, strict=False))
            arguments = arguments[len(names) :]
        watched = nullcontext() if step.steps is None else report_progress(self.progress, step.steps)
        with watched:
            return callee(*arguments, **keywords)

    def _call_student(self, of: str, *args: Any, **kwargs: Any) -> Any:
        """Call the student's function from code of the case: its parameters may have other names, as in a step."""
        return self._call(do.Call("", do.Callee(of), list(args), kwargs))

    def _attribute(self, step: do.Attribute) -> Any:
        owner = self._value(step.of)
        name = next((name for name in step.names if hasattr(owner, name)), step.names[0])
        found = getattr(owner, name)
        return found() if callable(found) else found

    # ---- what is observed

    def _attempt(self, step: do.Attempt) -> int:
        try:
            self._call(do.Call("", step.on, step.args, {}))
        except Exception as error:
            return 1 if step.type in [kind.__name__ for kind in type(error).__mro__] else 2
        return 0

    def _count(self, step: do.Count | do.Kept) -> None:
        try:
            if isinstance(step, do.Kept):
                self._report(step.name, counts.values_kept(self._value(step.of)))
                return
            if step.on.ref and not step.on.method:
                modules.as_module(self._value(Ref(step.on.ref, step.on.at)))
            operations, largest = counts.counted(
                lambda: self._call(do.Call("", step.on, step.args, step.kwargs))
            )
            self._report(step.name, operations if step.what == "operations" else largest)
        except counts.NotCountedError as odd:
            self.reply["odd"][step.name] = {"is": str(odd)}

    def _see(self, step: do.See) -> None:
        value = self._value(step.of)
        if self._is_elsewhere(value):
            self.reply["odd"][step.name] = {"is": f"a tensor on the {value.device.type}"}
        else:
            self._observe(step.name, value)

    def _is_elsewhere(self, value: Any) -> bool:
        if (
            self.device.type == "cpu"
            or not isinstance(value, Tensor)
            or value.device.type == self.device.type
        ):
            return False
        return any(
            isinstance(v, nn.Module) or (isinstance(v, Tensor) and v.device.type == self.device.type)
            for v in self.env.values()
        )

    def _see_value(self, step: do.SeeValue) -> None:
        value = self._value(step.of)
        if isinstance(value, Tensor) and value.numel() == 1:
            value = value.item()
        if isinstance(value, (bool, int, float)) or value is None:
            self._report(step.name, value)
        else:
            self.reply["odd"][step.name] = {"is": kind_of(value)}

    def _see_state(self, step: do.State) -> None:
        """Observe the weights of a state dict under the contract's names, then load it into the step's module.

        A returned module counts as its state dict. Any other value is itself observed, under each name; so is a weight of
        another shape.
        """
        returned, module = self._value(step.of), self.env[step.module]
        found = self.fits[step.module]
        if isinstance(returned, nn.Module):
            returned = returned.state_dict()
        own = returned if isinstance(returned, Mapping) else {}
        for name in dict.fromkeys(slot.contract for slot in found.slots):
            try:
                weight = layouts.read(found, own, name)
            except RuntimeError:
                weight = next(own[slot.own] for slot in found.slots if slot.contract == name)
            if weight is not None or not own:
                self._observe(f"state {name}", weight if own else returned)
        with suppress(RuntimeError):
            module.load_state_dict(own, strict=False)

    def _see_sentences(self, step: do.Sentences) -> None:
        """Observe sentences as rows of one tensor; "stacked" in the reply names it if they have several lengths."""
        sentences = self._value(step.of)
        rows, of_several_lengths = in_rows(sentences) or (sentences, False)
        self._observe(step.name, rows, stacked=of_several_lengths)

    def _see_weights(self, step: do.Weights) -> None:
        """Observe `.attention_weights`; "stacked" in the reply names it if there was a list per head or per step."""
        weights, stacked = attention_weights(self._value(step.of), step)
        self._observe(step.name, weights, stacked=stacked)

    def _see_gradients(self, step: do.Gradients) -> None:
        outs = [self._value(ref) for ref in step.of]
        total = sum((y * self.tensors[g]).sum() for y, g in zip(outs, step.upstream, strict=True))
        leaves = {f"grad {name}": self.leaves[name] for name in step.wrt}
        own, found = {}, None
        if step.module is not None:
            found = self.fits[step.module]
            own = modules.parameters(self.env[step.module])
        gradients = modules.gradients(total, [*leaves.values(), *own.values()])
        for name, gradient in zip(leaves, gradients, strict=False):  # those of parameters follow
            self._observe(name, gradient)
        if found is not None:
            mine = dict(zip(own, gradients[len(leaves) :], strict=True))
            for name in dict.fromkeys(slot.contract for slot in found.slots):
                self._observe(f"grad {name}", layouts.read(found, mine, name))

    def _report(self, name: str, value: float | None) -> None:
        self.reply.setdefault("values", {})[name] = value

    def _observe(self, name: str, value: Any, stacked: bool = False) -> None:
        """Record a plain copy of a tensor; for anything else, record what it is."""
        if stacked:
            self.reply.setdefault("stacked", []).append(name)
        copy = plain_copy(value, self.device)
        if isinstance(copy, Tensor):
            self.observed[name] = copy
        else:
            self.reply["odd"][name] = copy
