"""Run the steps of one case with a submission's names, and record what can be observed.

The steps are data (grader/cases/case.py writes them). An exception of the student's code becomes part of
the observation, together with everything seen before.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from grader.worker import layouts, random_seeds
from grader.worker.constructors import fitting_form
from grader.worker.errors import PROVIDED, definition, describe
from grader.worker.forbidden_calls import watching
from grader.worker.measures import Measures
from grader.worker.orientation import held_as_linear
from grader.worker.results import in_rows, kind_of, plain_copy
from grader.worker.stand_in_modules import Switch
from grader.worker.training_progress import Progress, ignore_progress, report_progress

Step = Mapping[str, Any]
_PLAIN = (Tensor, nn.Parameter)


class Program(Measures):
    """One run of one case. `observed` holds tensors by name, `reply` the fields that go with them.

    with_own: makes a context in which the student's parts replace the building blocks of the same names.
    removed: see `load.Loaded`.
    """

    def __init__(
        self,
        names: Mapping[str, Any],
        case: Mapping[str, Any],
        tensors: Mapping[str, Tensor],
        device: str = "cpu",
        with_own: Switch = nullcontext,
        progress: Progress = ignore_progress,
        removed: Mapping[str, tuple[str, int]] = MappingProxyType({}),
    ):
        self.names = names
        self.removed = removed
        self.aliases: Mapping[str, str] = case.get("aliases", {})  # exercise → its name in the submission
        # Exercise → the course's keyword → the submission's keyword.
        self.renamed: Mapping[str, Mapping[str, str]] = case.get("renamed", {})
        self.dtype: torch.dtype = getattr(torch, case["dtype"])
        self.device = torch.device(device)
        self.with_own, self.progress = with_own, progress
        self.tensors = {name: self._cast(tensor) for name, tensor in tensors.items()}
        self.env: dict[str, Any] = {}  # name in the case → inputs, modules and results so far
        self.called: object = None  # the student's function that was called last
        self.leaves: dict[str, Tensor] = {}  # name of an input → the tensor that gets its gradient
        self.fits: dict[str, layouts.Fit] = {}  # module → which parameters have which names of the contract
        self.as_linear: dict[str, Collection[str]] = {}  # see `held_as_linear`
        self.observed: dict[str, Tensor] = {}
        self.watched: dict[str, Tensor] = {}  # see `_do_stages`
        self.reply: dict[str, Any] = {"odd": {}}
        self.steps: list[Step] = case["steps"]
        self.about: list[str] = case.get("about", [])  # forbidden calls to watch for

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
                    getattr(self, f"_do_{step['do']}")(step)
                except BaseException as error:
                    self.reply["error"] = self._described(error, files) | {"step": step["do"]}
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

    # ---- what goes in

    def _cast(self, tensor: Tensor) -> Tensor:
        if tensor.dtype != self.dtype and tensor.is_floating_point():
            tensor = tensor.to(self.dtype)
        return tensor if self.device.type == "cpu" else tensor.to(self.device)

    def _do_input(self, step: Step) -> None:
        self._offer(step["name"], self.tensors[step["name"]].clone(), step["grad"])

    def _do_tokens(self, step: Step) -> None:
        self.env[step["name"]] = self.tensors[step["name"]].long()

    def _do_batches(self, step: Step) -> None:
        columns = [self.tensors[name].long().split(step["size"]) for name in step["of"]]
        self.env[step["name"]] = list(zip(*columns, strict=True))

    def _do_constant(self, step: Step) -> None:
        full = torch.full(step["shape"], step["value"], dtype=self.dtype, device=self.device)
        self._offer(step["name"], full, step["grad"])

    def _offer(self, name: str, tensor: Tensor, grad: bool) -> None:
        """Store an input under its name. With `grad`, store `leaf * 1`: code may change that in place."""
        if grad:
            self.leaves[name] = tensor.requires_grad_()
            tensor = tensor * 1
        self.env[name] = tensor

    def _do_value(self, step: Step) -> None:
        self.env[step["name"]] = self._value(step["value"])

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict) and "ref" in value:
            found = self.env[value["ref"]]
            for index in value.get("at", ()):
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

    def _do_build(self, step: Step) -> None:
        kwargs, build = self._value(step["kwargs"]), partial(self._built, step["of"])
        module = build(kwargs)
        if isinstance(module, nn.Module):
            self.as_linear[step["name"]] = held_as_linear(module, build, kwargs)
            self._move(module)
        self.env[step["name"]] = module

    def _built(self, of: str, kwargs: Mapping[str, Any]) -> Any:
        """Construct the student's class with the course's arguments, under the student's names for them."""
        build, renamed = self._student(of), self.renamed.get(of, {})
        fitting = fitting_form(of, build, kwargs, renamed)
        if fitting is None:
            fitting = {renamed.get(name, name): value for name, value in kwargs.items()}
        return build(**fitting)

    def _move(self, module: nn.Module) -> None:
        """Move a module to the case's device and dtype. Its parameters keep their hooks, as they do on a GPU.

        Tensors of the simulated device are a subclass: torch makes new parameters and leaves the hooks with the
        old ones. Most modules need no move; `module.to` would take time nevertheless, so it is not called for them.
        """
        dtype, device, before = self.dtype, self.device, dict(module.named_parameters())
        tensors = (*before.values(), *dict(module.named_buffers()).values())
        if all(type(t) in _PLAIN and t.dtype == dtype and t.device == device for t in tensors):
            return
        module.to(device=device, dtype=dtype)
        for name, parameter in module.named_parameters():
            if name in before and parameter is not before[name]:
                for hook in (before[name]._backward_hooks or {}).values():
                    parameter.register_hook(hook)

    def _do_load(self, step: Step) -> None:
        module, weights = self.env[step["module"]], step["weights"]
        wanted = {name: self._weight(key) for name, key in weights.items()}
        everything = _parameters(module)
        if any(map(is_lazy, everything.values())):
            layouts.fill_lazy_layers(module, wanted)
            self._move(module)  # the parameters that loading has just created
            everything = _parameters(module)
        # Still lazy, because no weight has this name.
        shapeless = [n for n, p in everything.items() if is_lazy(p)]
        # A parameter that is not trained counts only if it has a name of the contract.
        own = {n: p for n, p in everything.items() if (p.requires_grad or n in wanted) and n not in shapeless}
        shapes = {name: tuple(t.shape) for name, t in wanted.items()}
        found = layouts.fit(own, shapes, self.as_linear.get(step["module"], frozenset()))
        _fill_the_rest(own, found)
        layouts.write(found, own, wanted)
        self.fits[step["module"]] = found
        self.reply["parameters"] = {
            "missing": found.missing,
            "unexpected": found.unexpected + shapeless,
            "misshapen": found.misshapen,
            "shared": found.shared,
            "layout": found.layout,
            "shapes": {
                name: list(own[found.own_names.get(name, name)].shape)
                for name in found.unexpected + found.misshapen
            },
        }

    def _weight(self, recipe: Any) -> Tensor:
        """Return a stored tensor, or make one from a shape and a value: full, diagonal, or zero from row `rows` on."""
        if isinstance(recipe, str):
            return self.tensors[recipe]
        if recipe["diagonal"]:
            return torch.eye(*recipe["shape"], dtype=self.dtype, device=self.device) * recipe["value"]
        full = torch.full(recipe["shape"], recipe["value"], dtype=self.dtype, device=self.device)
        if recipe.get("rows") is not None:
            full[recipe["rows"] :] = 0
        return full

    def _do_provide(self, step: Step) -> None:
        """Construct a class whose source comes with the case; it may import torch and the allowed building blocks.

        With "own" in the step, the student's parts replace the blocks of the same names.
        """
        namespace: dict[str, Any] = {"__name__": PROVIDED}
        with self.with_own() if step.get("own") else nullcontext():
            exec(compile(step["source"], PROVIDED, "exec"), namespace)
            module = namespace[step["of"]](**self._value(step["kwargs"]))
        self.env[step["name"]] = module.to(device=self.device, dtype=self.dtype)

    def _do_grad(self, step: Step) -> None:
        torch.set_grad_enabled(step["on"])

    def _do_stages(self, step: Step) -> None:
        """Watch submodules with hooks; the first value of each is observed when the program ends.

        The value of a path is the submodule's output. With `.in0` at the end, it is the first positional argument.
        """
        parts = dict(self.env[step["module"]].named_modules())
        for path, _title in step["of"]:
            owner, _, argument = path.rpartition(".in")
            name = f"stage {path}"
            if argument.isdigit() and owner in parts:
                parts[owner].register_forward_pre_hook(partial(self._watch, name, int(argument)))
            elif path in parts:
                parts[path].register_forward_hook(partial(self._watch, name, 0))

    def _watch(self, name: str, index: int, _module: nn.Module, args: Sequence[Any], *result: Any) -> None:
        """Store the argument with this index; for a hook that gets a result, the part of the result."""
        if result:
            args = result[0] if isinstance(result[0], (tuple, list)) else result
        if index < len(args) and isinstance(args[index], Tensor):
            self.watched.setdefault(name, args[index].detach().clone())

    def _do_mode(self, step: Step) -> None:
        self.env[step["module"]].train(step["train"])

    def _do_seed(self, step: Step) -> None:
        random_seeds.start(step["number"], self.device.type)

    def _do_call(self, step: Step) -> None:
        on = step["on"]
        callee = self._student(on["function"]) if "function" in on else self._value(on)
        if "method" in on:
            callee = getattr(callee, on["method"])
        if "function" in on:
            self.called = callee
        renamed = self.renamed.get(on.get("function", ""), {})
        keywords = {renamed.get(name, name): value for name, value in self._value(step["kwargs"]).items()}
        with report_progress(self.progress, step["steps"]) if "steps" in step else nullcontext():
            self.env[step["name"]] = callee(*self._value(step["args"]), **keywords)

    def _do_join(self, step: Step) -> None:
        self.env[step["name"]] = torch.cat(list(self._value(step["parts"])), dim=step["dim"])

    def _do_part(self, step: Step) -> None:
        whole = self._value(step["of"])
        self.env[step["name"]] = whole[tuple(slice(start, stop) for start, stop in step["slices"])]

    # ---- what is observed

    def _do_see(self, step: Step) -> None:
        value = self._value(step["of"])
        if self._is_elsewhere(value):
            self.reply["odd"][step["name"]] = {"is": f"a tensor on the {value.device.type}"}
        else:
            self._observe(step["name"], value)

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

    def _do_see_value(self, step: Step) -> None:
        value = self._value(step["of"])
        if isinstance(value, Tensor) and value.numel() == 1:
            value = value.item()
        if isinstance(value, (bool, int, float)) or value is None:
            self.reply.setdefault("values", {})[step["name"]] = value
        else:
            self.reply["odd"][step["name"]] = {"is": kind_of(value)}

    def _do_none(self, step: Step) -> None:
        """Observe 1 if a value is None, else 0. Observe nothing if the value cannot be read."""
        with suppress(Exception):
            self._observe(step["name"], torch.tensor(float(self._value(step["of"]) is None)))

    def _do_state(self, step: Step) -> None:
        """Observe the weights of a state dict under the contract's names, then load it into the step's module.

        A returned module counts as its state dict. Any other value is itself observed, under each name.
        """
        returned, module = self._value(step["of"]), self.env[step["module"]]
        found = self.fits[step["module"]]
        if isinstance(returned, nn.Module):
            returned = returned.state_dict()
        own = returned if isinstance(returned, Mapping) else {}
        for name in dict.fromkeys(slot.contract for slot in found.slots):
            weight = layouts.read(found, own, name)
            if weight is not None or not own:
                self._observe(f"state {name}", weight if own else returned)
        if own:
            module.load_state_dict(own, strict=False)

    def _do_sentences(self, step: Step) -> None:
        """Observe sentences as rows of one tensor; "stacked" in the reply names it if they have several lengths."""
        found = in_rows(self._value(step["of"]))
        rows, of_several_lengths = found or (self._value(step["of"]), False)
        if of_several_lengths:
            self.reply.setdefault("stacked", []).append(step["name"])
        self._observe(step["name"], rows)

    def _do_after(self, step: Step) -> None:
        """Observe an input after the calls: they may have changed it."""
        self._observe(step["name"], self.env[step["of"]])

    def _do_weights(self, step: Step) -> None:
        """Observe `.attention_weights`: a tensor, such as (B, T, S), or a list of tensors of one shape.

        A list has one tensor per head or, if the step has "steps", one per decoding step. It is
        stacked along a new first axis, and "stacked" in the reply names it. If the step has "layers", the list has one
        entry per layer, and "stacked" names it if these entries are lists with one tensor per head.
        """
        owner = self._value(step["of"])
        if step.get("layers"):
            weights = _weights_of_layers(owner, step["part"])
            heads = weights[0] if isinstance(weights, (list, tuple)) and weights else None
        else:
            # Only the decoder itself collects one tensor per step; its attention holds the last one.
            one = step.get("steps") is None
            weights = heads = _first_weights(owner) if one else getattr(owner, "attention_weights", None)
        stacked = _stacked(weights, 2 if step.get("layers") else 1)
        if isinstance(heads, (list, tuple)) and isinstance(stacked, Tensor):
            self.reply.setdefault("stacked", []).append(step["name"])
        self._observe(step["name"], stacked)

    def _do_gradients(self, step: Step) -> None:
        outs = [self._value(ref) for ref in step["of"]]
        total = sum((y * self.tensors[g]).sum() for y, g in zip(outs, step["upstream"], strict=True))
        leaves = {f"grad {name}": self.leaves[name] for name in step["wrt"]}
        own, found = {}, None
        if step["module"] is not None:
            found = self.fits[step["module"]]
            own = _parameters(self.env[step["module"]])
        gradients = _gradients(total, [*leaves.values(), *own.values()])
        for name, gradient in zip(leaves, gradients, strict=False):  # those of parameters follow
            self._observe(name, gradient)
        if found is not None:
            mine = dict(zip(own, gradients[len(leaves) :], strict=True))
            for name in dict.fromkeys(slot.contract for slot in found.slots):
                self._observe(f"grad {name}", layouts.read(found, mine, name))

    def _observe(self, name: str, value: Any) -> None:
        """Record a plain copy of a tensor; for anything else, record what it is."""
        copy = plain_copy(value, self.device)
        if isinstance(copy, Tensor):
            self.observed[name] = copy
        else:
            self.reply["odd"][name] = copy


def _parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    return dict(module.named_parameters(remove_duplicate=False))


def _fill_the_rest(own: Mapping[str, Tensor], found: layouts.Fit) -> None:
    """Fill unexpected and misshapen parameters with fixed values, so that every run is the same."""
    with torch.no_grad():
        for name in (*found.unexpected, *found.misshapen):
            target = own[found.own_names.get(name, name)]
            numbers = torch.arange(target.numel(), dtype=torch.float64)
            target.copy_(torch.cos(numbers).reshape(target.shape) / 2)


def _gradients(total: Any, leaves: list[Tensor]) -> list[Tensor]:
    """Return gradients of a scalar with respect to each leaf; zeros where the scalar does not depend on it."""
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    if not wanted or not (isinstance(total, Tensor) and total.requires_grad):
        return [torch.zeros_like(leaf) for leaf in leaves]
    found = iter(torch.autograd.grad(total, wanted, allow_unused=True))
    out = [next(found) if leaf.requires_grad else None for leaf in leaves]
    return [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, out, strict=True)]


def _first_weights(module: Any) -> Any:
    """Return `.attention_weights` of the module, else of its first submodule that has some."""
    for part in module.modules() if isinstance(module, nn.Module) else (module,):
        weights = getattr(part, "attention_weights", None)
        if weights is not None:
            return weights
    return None


def _weights_of_layers(stack: Any, part: int | None) -> Any:
    """Return `.attention_weights` of a stack of layers, or one part of a pair; None if no tensor is stored there."""
    weights: Any = None
    with suppress(Exception):  # the property of a base class may only raise NotImplementedError
        weights = stack.attention_weights
    if not _holds_a_tensor(weights):
        return None
    return weights if part is None or len(weights) != 2 else weights[part]


def _holds_a_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or (
        isinstance(value, (list, tuple)) and any(map(_holds_a_tensor, value))
    )


def _stacked(value: Any, levels: int) -> Any:
    """Stack a list of tensors of one shape along a new first axis. levels: how many lists may be inside each other.

    Any other value is returned as it is.
    """
    if not levels or not isinstance(value, (list, tuple)):
        return value
    parts = [_stacked(part, levels - 1) for part in value]
    alike = all(isinstance(part, Tensor) for part in parts) and len({part.shape for part in parts}) == 1
    return torch.stack(parts) if alike else value
