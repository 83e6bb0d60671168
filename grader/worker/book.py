"""What code from Dive into Deep Learning expects.

Its package offers the course's building blocks under the book's names, its base classes, and names for functions of
torch. The constructors of building blocks also accept the arguments of edition 1.x.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import nn

from grader.worker.constructors import EDITION_1, named


class Asked:
    """An object that looks up each name when it is used, with `_find`, which may raise."""

    _find: Callable[[str], Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._find(name)


class StandIn(Asked, types.ModuleType):
    """A module whose names are found when they are used."""

    def __init__(self, name: str, find: Callable[[str], Any]):
        super().__init__(name)
        self.__path__: list[str] = []
        self._find = find


class HyperParameters:
    """A class whose constructor may store its arguments in one call."""

    def save_hyperparameters(self, ignore: Iterable[str] = ()) -> None:
        """Store the arguments of the calling constructor, and its other local variables, as attributes.

        Names in `ignore` and names that begin with an underscore are left out.
        """
        for name, value in dict(sys._getframe(1).f_locals).items():
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


class _Silent(Asked):
    """Replace the book's logger, initialisers and checks: accept everything, do nothing."""

    def __init__(self, *args: Any, **kwargs: Any):
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> _Silent:
        return self

    _find = __call__


# The names of the book's package: those of torch, those of a tensor's methods, and others.
_OF_TORCH = (
    "abs arange batch_matmul=bmm concat=cat cos cosh exp eye float32 int32 int64 linspace log matmul meshgrid normal"
    " ones ones_like rand randn sigmoid sin sinh stack tanh tensor zeros zeros_like"
)
_OF_TENSORS = (
    "argmax astype=type expand_dims=unsqueeze reduce_mean=mean reduce_sum=sum repeat reshape size=numel swapaxes to"
    " transpose=t"
)
_NAMES: Mapping[str, Any] = {
    **{name: getattr(torch, its) for name, its in named(_OF_TORCH).items()},
    **{name: getattr(torch.Tensor, its) for name, its in named(_OF_TENSORS).items()},
    "HyperParameters": HyperParameters,
    "Module": Module,
    "add_to_class": add_to_class,
    "Logger": _Silent,
    **dict.fromkeys(("logger", "check_len", "check_shape", "init_seq2seq"), _Silent()),
}
# The names of edition 1.x for blocks of the course.
_BLOCKS = named("TransformerEncoderBlock=EncoderBlock TransformerDecoderBlock=DecoderBlock")
_BOOKS = ("d2l", "d2l.torch", "d2lzh_pytorch")
_OTHER_FRAMEWORKS = ("mxnet", "tensorflow", "jax", "paddle")


def packages(given: StandIn) -> dict[str, types.ModuleType]:
    """Return the blocks, and the books' packages, which offer them, too."""

    def of_book(package: str, name: str) -> Any:
        try:
            return _NAMES[name] if name in _NAMES else getattr(given, _BLOCKS.get(name, name))
        except AttributeError:
            raise AttributeError(
                f"{package}.{name} is not available: the grader offers only this course's blocks, and some names of torch"
            ) from None

    def of_other(package: str, name: str) -> Any:
        raise ImportError(f"{package} is not available: these exercises are graded in PyTorch only")

    others = [f"d2l.{name}" for name in _OTHER_FRAMEWORKS]
    finders = dict.fromkeys(_BOOKS, of_book) | dict.fromkeys(others, of_other)
    made = {name: StandIn(name, functools.partial(find, name)) for name, find in finders.items()}
    made["d2l"].__dict__.update({name.removeprefix("d2l."): made[name] for name in ("d2l.torch", *others)})
    return {"grader.given": given, **made}


def accept_both(block: Any) -> Any:
    """Let the constructor of a building block accept the arguments of edition 1.x as well. Returns the block."""
    forms = EDITION_1.get(getattr(block, "__name__", ""))
    if forms is None:
        return block
    build = block.__init__
    ours = inspect.signature(build)
    this = ours.parameters["self"]
    theirs = inspect.Signature([this, *(ours.parameters[forms[name]].replace(name=name) for name in forms)])

    @functools.wraps(build)
    def either(self: Any, *args: Any, **kwargs: Any) -> None:
        given = None if _bound(ours, self, *args, **kwargs) else _bound(theirs, self, *args, **kwargs)
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
    sizes = {name: 0 for name, p in ours.parameters.items() if p.default is p.empty and name != "self"}
    if "norm_shape" in sizes:
        sizes["norm_shape"] = given["num_hiddens"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of layers without inputs
        build(module, **{**sizes, **given})
    for owner in list(module.modules()):
        for name, layer in list(owner.named_children()):
            if isinstance(layer, nn.Linear) and layer.in_features == 0:
                setattr(owner, name, nn.LazyLinear(layer.out_features, bias=layer.bias is not None))
