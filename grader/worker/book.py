"""What code from Dive into Deep Learning expects.

Its package offers the course's building blocks under the book's names, its base classes, and names for functions of
torch. The constructors of building blocks also accept the arguments of edition 1.x.
"""

from __future__ import annotations

import functools
import inspect
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import nn

from grader.worker.constructors import EDITION_1, edition_1


class HyperParameters:
    """A class whose constructor may store its arguments in one call."""

    def save_hyperparameters(self, ignore: Iterable[str] = ()) -> None:
        """Store the arguments of the calling constructor, and its other local variables, as attributes.

        Names in `ignore` and names that begin with an underscore are left out.
        """
        here = inspect.currentframe()
        caller = here.f_back if here is not None else None
        given = inspect.getargvalues(caller).locals if caller is not None else {}
        for name, value in dict(given).items():
            if name != "self" and name not in ignore and not name.startswith("_"):
                setattr(self, name, value)


class Module(nn.Module, HyperParameters):
    """The base class of models. It plots nothing, unlike the book's."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()


def add_to_class(owner: type) -> Callable[[Any], None]:
    """Return a decorator that makes a function a method of `owner`."""

    def add(method: Any) -> None:
        setattr(owner, method.__name__, method)

    return add


# The names of edition 1.x for blocks of the course.
_EDITION_1 = {"TransformerEncoderBlock": "EncoderBlock", "TransformerDecoderBlock": "DecoderBlock"}
# The functions and dtypes of torch that the book's package offers, under the same or another name.
_SAME_IN_TORCH = (
    "abs arange cos cosh exp eye float32 int32 int64 linspace log matmul meshgrid normal ones ones_like rand randn"
    " sigmoid sin sinh stack tanh tensor zeros zeros_like"
)
_NOT_BLOCKS: dict[str, Any] = {
    **{name: getattr(torch, name) for name in _SAME_IN_TORCH.split()},
    "argmax": torch.Tensor.argmax,
    "astype": torch.Tensor.type,
    "batch_matmul": torch.bmm,
    "concat": torch.cat,
    "expand_dims": torch.Tensor.unsqueeze,
    "reduce_mean": torch.Tensor.mean,
    "reduce_sum": torch.Tensor.sum,
    "repeat": torch.Tensor.repeat,
    "reshape": torch.Tensor.reshape,
    "size": torch.Tensor.numel,
    "swapaxes": torch.Tensor.swapaxes,
    "to": torch.Tensor.to,
    "transpose": torch.Tensor.t,
    "HyperParameters": HyperParameters,
    "Module": Module,
    "add_to_class": add_to_class,
}
_WITHOUT_EFFECT = ("logger", "Logger", "check_len", "check_shape", "init_seq2seq")


class _Silent:
    """Replace the book's logger, initialisers and checks: accept everything, do nothing."""

    def __init__(self, *args: Any, **kwargs: Any):
        pass

    def __getattr__(self, name: str) -> _Silent:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> _Silent:
        return self


class _Book(types.ModuleType):
    """A book's helper package: the allowed blocks, the base classes, functions of torch, a silent logger."""

    def __init__(self, name: str, given: types.ModuleType):
        super().__init__(name)
        self.__path__: list[str] = []
        self._given = given

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _WITHOUT_EFFECT:
            return _Silent if name[0].isupper() else _Silent()
        if name in _NOT_BLOCKS:
            return _NOT_BLOCKS[name]
        try:
            return getattr(self._given, _EDITION_1.get(name, name))
        except AttributeError:
            raise AttributeError(
                f"{self.__name__}.{name} is not available: the grader offers only this course's blocks, and some names of torch"
            ) from None


class _OtherFramework(types.ModuleType):
    """`d2l.mxnet` and the like: an import works, any use raises ImportError."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(f"{self.__name__} is not available: these exercises are graded in PyTorch only")


def packages(given: types.ModuleType) -> dict[str, types.ModuleType]:
    """Return the books' packages. They offer the blocks of `given`."""
    books = {name: _Book(name, given) for name in ("d2l", "d2l.torch", "d2lzh_pytorch")}
    others = {name: _OtherFramework(f"d2l.{name}") for name in ("mxnet", "tensorflow", "jax", "paddle")}
    books["d2l"].__dict__.update({"torch": books["d2l.torch"], **others})
    return {**books, **{one.__name__: one for one in others.values()}}


def accept_both(block: Any) -> Any:
    """Let the constructor of a building block accept the arguments of edition 1.x as well. Returns the block."""
    if getattr(block, "__name__", "") not in EDITION_1:
        return block
    build = block.__init__
    forms = edition_1(block.__name__)  # the parameter in edition 1.x → the course's parameter
    ours = inspect.signature(build)
    this = next(iter(ours.parameters.values()))
    theirs = inspect.Signature(
        [this, *(ours.parameters[ours_name].replace(name=name) for name, ours_name in forms.items())]
    )

    @functools.wraps(build)
    def either(self: Any, *args: Any, **kwargs: Any) -> None:
        given = None
        if _bound(ours, self, *args, **kwargs) is None:
            given = _bound(theirs, self, *args, **kwargs)
        if given is None:  # they fit `ours`, or neither signature: then `build` raises TypeError
            build(self, *args, **kwargs)
        else:
            _build_lazily(self, build, ours, {forms[name]: given[name] for name in given if name in forms})

    block.__init__ = either
    return block


def _bound(signature: inspect.Signature, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
    """Return the arguments by name; None if the signature does not accept them."""
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None


def _build_lazily(
    module: nn.Module, build: Callable[..., None], ours: inspect.Signature, given: Mapping[str, Any]
) -> None:
    """Build a block without the sizes of its inputs: 0 stands for them. Linear layers with this size become lazy, and
    take their size from the first input.

    given: the course's parameter → its argument. A `norm_shape` that is not given is `num_hiddens`, as in edition 1.x.
    """
    needed = [name for name, p in ours.parameters.items() if p.default is p.empty][1:]  # without `self`
    unknown = {
        name: given["num_hiddens"] if name == "norm_shape" else 0 for name in needed if name not in given
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of layers without inputs
        build(module, **unknown, **given)
    for owner in list(module.modules()):
        for name, layer in list(owner.named_children()):
            if isinstance(layer, nn.Linear) and layer.in_features == 0:
                setattr(owner, name, nn.LazyLinear(layer.out_features, bias=layer.bias is not None))
