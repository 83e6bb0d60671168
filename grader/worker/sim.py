"""A simulated accelerator: tensors that report another device, and compute on the CPU.

`register()` makes the device, once per process and before the first backward pass (autograd counts the devices
when it first runs). Afterwards `tensor.to(place())` returns a tensor with real values and real gradients. An
operation on it and a CPU tensor raises the error that CUDA raises. The rules are CUDA's:

- a zero-dimensional CPU tensor may take part in arithmetic, and a CPU tensor may index;
- `copy_`, `.to`, `.cpu()`, `.item()` and `.tolist()` copy from one device to the other; `.numpy()` raises;
- a tensor that is made without a device is on the CPU.

"cuda", wherever a device is named, means this device: `x.is_cuda`, `.cuda()` and `torch.cuda.is_available()`
return the same as on a machine with a GPU. Different results of a GPU's kernels (TF32, order of summation) are not
simulated.

This file uses these private parts of torch: `_setup_privateuseone_for_python_backend` (which uses `torch._C._acc`),
`Tensor._make_wrapper_subclass`, `torch._C._DisableTorchDispatch`, `torch._C._disabled_torch_function_impl`, the
`_schema` of operators, and the name of a class of torch.distributed. Tested with torch 2.13; see TESTED.
"""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

TESTED = ("2.13",)  # versions of torch that tests/worker/test_sim.py has passed with
NAME = "sim"
SAYS = "cuda:0"  # the name of the device in messages

_FREE = {"copy_", "_to_copy", "_has_compatible_shallow_copy_type"}  # may use tensors of both devices
_INDEXING = {"index", "_unsafe_index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put"}
_WITH_NUMBER = {"masked_fill", "masked_fill_", "fill", "fill_", "where"}  # take a number as a CPU tensor

_registered: list[Any] = []  # the fallback's library and the mode: they must stay alive


def place() -> torch.device:
    """Return the device, after `register`."""
    return torch.device(NAME, 0)


def register() -> None:
    """Make the device known to torch. Safe to call twice. Raises RuntimeError if torch does not support it."""
    if _registered:
        return
    try:
        from torch.utils.backend_registration import _setup_privateuseone_for_python_backend as set_up

        set_up(NAME)
        library = torch.library.Library("_", "IMPL")
        # Runs operations without a SimTensor among their arguments, such as `torch.empty(2, device=place())`.
        library.fallback(lambda func, *args, **kwargs: _compute(func, args, kwargs), "PrivateUse1")
    except (ImportError, AttributeError, TypeError, RuntimeError) as error:
        raise RuntimeError(
            f"torch {torch.__version__} has no way to make the simulated device "
            f"(it is tested with torch {', '.join(TESTED)}): {type(error).__name__}: {error}"
        ) from error
    _start_without_dtensor()
    torch.inference_mode = _nothing_recorded  # type: ignore[assignment,misc]
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.current_device = lambda: 0
    mode = _CudaIsHere()
    mode.__enter__()
    _registered.extend((library, mode))


def _nothing_recorded(mode: Any = True) -> Any:
    """Replace `torch.inference_mode`, whose tensors a SimTensor cannot hold: return `torch.no_grad()`.

    Unlike the original, this forbids no later use of the tensors. Code is graded on the CPU first, with the original.
    """
    if not isinstance(mode, bool):  # `@torch.inference_mode` without parentheses
        return torch.no_grad()(mode)
    return torch.no_grad() if mode else torch.set_grad_enabled(torch.is_grad_enabled())


def _start_without_dtensor() -> None:
    """Run the first operation, in which torch looks up a class of torch.distributed, with a stand-in for this class.

    The real class takes half a second to import, and no tensor here is of that class.
    """
    name = "torch.distributed.tensor"
    if name in sys.modules:
        return
    stand_in = types.ModuleType(name)
    stand_in.DTensor = type("DTensor", (), {})  # type: ignore[attr-defined]
    sys.modules[name] = stand_in
    try:
        torch.zeros(1).to(place())
    finally:
        del sys.modules[name]


class SimTensor(Tensor):
    """A tensor on the simulated device; `_numbers` has its values on the CPU."""

    _numbers: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> SimTensor:
        if inner.is_conj() or inner.is_neg():  # the wrapper would not show it
            inner = inner.resolve_conj().resolve_neg()
        made: SimTensor = Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=place(),
        )
        made._numbers = inner
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return _compute(func, args, kwargs or {})

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]
        return True

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        shown = repr(self._numbers)
        return f"{shown[:-1]}, device='{SAYS}')" if shown.endswith(")") else shown

    def data_ptr(self) -> int:
        return self._numbers.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        return self._numbers.untyped_storage()

    def tolist(self) -> Any:
        return self._numbers.tolist()

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.dim() == 0 else object.__format__(self, spec)

    def numpy(self, *, force: bool = False) -> Any:
        if force:
            return self.detach().cpu().numpy()
        raise TypeError(
            f"can't convert {SAYS} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def __array__(self, *_args: object, **_kwargs: object) -> Any:
        return self.numpy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            if not self.is_leaf:
                raise RuntimeError(
                    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment."
                )
            twin = self.detach().clone().requires_grad_(self.requires_grad)
            twin.__dict__.update(
                {k: copy.deepcopy(v, memo) for k, v in self.__dict__.items() if k != "_numbers"}
            )
            memo[id(self)] = twin
        return memo[id(self)]


class _CudaIsHere(TorchFunctionMode):
    """Treat "cuda", where a device is named, as the simulated device."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is Tensor.cuda:
            return args[0].to(place())
        # `x.data = y`
        if func == _SET_DATA and isinstance(args[0], SimTensor) and isinstance(args[1], SimTensor):
            args[0]._numbers = args[1]._numbers
        if kwargs.get("device") is not None:
            kwargs = {**kwargs, "device": _to_sim_device(kwargs["device"])}
        if func in _INDEXED:
            args = (args[0], _as_index(args[1]), *args[2:])
        if func is Tensor.to and is_lazy(args[0]):
            return args[0]  # has no values yet; `Program._do_load` fills it, then moves it
        if func is Tensor.to:
            args = (args[0], *map(_to_sim_device, args[1:]))
        if func is Tensor.new_tensor and isinstance(args[0], SimTensor):
            like, *args = args
            func, kwargs = torch.tensor, {"dtype": like.dtype, "device": place(), **kwargs}
        if func in _FROM_DATA and kwargs.get("device") == place():
            return _made(func, args, kwargs)
        if func in _FUSED and all(isinstance(t, SimTensor) for t in _tensors(args) if t.is_floating_point()):
            return _moved(func(*_moved(args, "cpu"), **kwargs), place())
        return func(*args, **kwargs)


_SET_DATA = Tensor.data.__set__  # type: ignore[attr-defined]
_INDEXED = (Tensor.__getitem__, Tensor.__setitem__)
_FROM_DATA = (torch.tensor, torch.as_tensor, torch.asarray, Tensor.new_tensor)
# Recurrent layers: on a GPU, torch calls fused steps, which it does not implement on the CPU.
_FUSED = (torch.gru, torch.lstm, torch.gru_cell, torch.lstm_cell)


def _moved(values: Any, device: torch.device | str) -> Any:
    """Move the tensors among some values, with their gradients."""
    if isinstance(values, (list, tuple)):
        return type(values)(_moved(value, device) for value in values)
    return values.to(device) if isinstance(values, Tensor) else values


def _as_index(index: Any) -> Any:
    """Turn lists and arrays in an index into tensors. torch itself would do it where SimTensor cannot intercept it."""
    if isinstance(index, tuple):
        return tuple(map(_as_index, index))
    if type(index).__name__ == "ndarray" or (
        isinstance(index, list) and all(type(i) in (int, bool) for i in index)
    ):
        return torch.as_tensor(index, dtype=None if len(index) else torch.long)
    return index


def _made(func: Any, args: Any, kwargs: Any) -> Tensor:
    """Make a tensor from data and move it. torch itself would do it where SimTensor cannot intercept it."""
    grad = kwargs.pop("requires_grad", False)
    made: Tensor = func(*args, **{**kwargs, "device": torch.device("cpu")}).to(place())
    return made.requires_grad_() if grad else made


def _to_sim_device(device: Any) -> Any:
    """Return the simulated device for a CUDA device or a device index, and everything else unchanged."""
    named = isinstance(device, (str, torch.device)) and str(device).split(":")[0] == "cuda"
    return place() if named or type(device) is int else device


def _compute(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Run one operation on the CPU values, if its tensors may be used together."""
    given = list(_tensors(args)) + list(_tensors(kwargs.values()))
    here = [t for t in given if isinstance(t, SimTensor)]
    name = func._schema.name.removeprefix("aten::")
    if len(here) < len(given):
        _require_one_device(func, name, args, given)
    asked = kwargs.get("device")
    # Whether the result is on the simulated device.
    stays = bool(here) if asked is None else torch.device(asked).type == NAME
    plain = {key: _inner(value) for key, value in kwargs.items()}
    if asked is not None:
        plain["device"] = torch.device("cpu")
    out = func(*map(_inner, args), **plain)
    if torch.Tag.inplace_view in func.tags and name != "resize_":  # `_reshape` below is for `resize_`
        with torch._C._DisableTorchDispatch():  # also change the shape that torch has stored for the tensor
            func(*args, **kwargs)
        return args[0]
    if func._schema.is_mutable:
        _reshape(here)
    if not stays:
        return out
    known = {id(t._numbers): t for t in here} if func._schema.is_mutable else {}
    return _wrapped(out, known)


def _reshape(tensors: Sequence[SimTensor]) -> None:
    """Update the shape that torch has stored for tensors whose values got a new shape from an operation.

    For example, `torch.arange` makes an empty tensor on the device and writes its result into it.
    """
    for tensor in tensors:
        if tensor.shape != tensor._numbers.shape:
            with torch._C._DisableTorchDispatch():
                _SET_DATA(tensor, SimTensor(tensor._numbers))


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _inner(value: Any) -> Any:
    if isinstance(value, SimTensor):
        return value._numbers
    if isinstance(value, (list, tuple)):
        return type(value)(map(_inner, value))
    return value


def _wrapped(out: Any, known: Mapping[int, SimTensor]) -> Any:
    """Put a result on the simulated device. known: id of the CPU values of an argument → the argument, for operations
    that may return it.
    """
    if isinstance(out, Tensor):
        return known[id(out)] if id(out) in known else SimTensor(out)
    if isinstance(out, (list, tuple)):
        return type(out)(_wrapped(item, known) for item in out)
    return out


# ---- which devices may be used together ------------------------------------------------------------


def _require_one_device(func: Any, name: str, args: Sequence[Any], given: Sequence[Tensor]) -> None:
    """Raise the RuntimeError that CUDA raises if an operation gets tensors of both devices but must not."""
    if name in _FREE or not any(isinstance(t, SimTensor) for t in given):
        return
    writes = func._schema.is_mutable
    if name in _INDEXING:
        _require_index(name, args)
        return
    is_pointwise = torch.Tag.pointwise in func.tags
    free = is_pointwise or name in _WITH_NUMBER

    def may_join(t: Tensor) -> bool:
        """Whether a CPU tensor may take part: it has no axes, and the operation takes numbers and reads it only."""
        return free and t.dim() == 0 and not (writes and t is given[0])

    if all(isinstance(t, SimTensor) or may_join(t) for t in given):
        return
    if name in ("masked_fill", "masked_fill_"):
        mine, mask = (_device(t) for t in given[:2])
        raise RuntimeError(
            f"expected self and mask to be on the same device, but got mask on {mask} and self on {mine}"
        )
    raise RuntimeError(_sentence(given, None if is_pointwise else func, name, args))


def _require_index(name: str, args: Sequence[Any]) -> None:
    """Raise RuntimeError if a CPU tensor gets an index on the device, or if the values are on another device than the
    tensor. A value without axes may be on either device.
    """
    indexed = args[0]
    if not isinstance(indexed, SimTensor) and any(isinstance(t, SimTensor) for t in _tensors([args[1]])):
        raise RuntimeError(
            "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
        )
    values = args[2] if "put" in name else None
    if (
        isinstance(values, Tensor)
        and values.dim() > 0
        and isinstance(values, SimTensor) != isinstance(indexed, SimTensor)
    ):
        raise RuntimeError(_sentence([indexed, values], None, name, args))


def _sentence(given: Sequence[Tensor], func: Any, name: str, args: Sequence[Any]) -> str:
    """Return the message of CUDA. func: the operation; None if CUDA's message for it names no argument."""
    text = "Expected all tensors to be on the same device, but"
    if func is None:
        return f"{text} found at least two devices, {SAYS} and cpu!"
    first = _device(given[0])
    other = next(d for d in map(_device, given) if d != first)
    arguments = zip(func._schema.arguments, args, strict=False)
    elsewhere = (a.name for a, value in arguments if any(_device(t) != first for t in _tensors([value])))
    return (
        f"{text} got {next(elsewhere, 'tensors')} is on {other}, different from other tensors on {first} "
        f"(when checking argument in method wrapper_CUDA_{name})"
    )


def _device(tensor: Tensor) -> str:
    return SAYS if isinstance(tensor, SimTensor) else "cpu"
