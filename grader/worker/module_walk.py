"""Read the parameters of a module, and set its mode, through its own tables (`_parameters`, `_modules`).

torch's methods pass each name through a generator per level of modules. Most cases read the parameters several
times, and with torch's methods this takes longer than the case's arithmetic. If a module overrides one of torch's
methods, `named_parameters` and `set_mode` call the module's methods instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

_NAMED_PARAMETERS = nn.Module.named_parameters
_NAMED_MEMBERS = nn.Module._named_members
_NAMED_MODULES = nn.Module.named_modules
_TRAIN = nn.Module.train
_CHILDREN = nn.Module.children, nn.Module.named_children
_SET = nn.Module.__setattr__


class _Overridden(Exception):
    """A module overrides one of torch's methods."""


def named_parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    """Return the items of `module.named_parameters(remove_duplicate=False)` as a dict."""
    out: dict[str, nn.Parameter] = {}
    kind = type(module)
    try:
        if (
            not issubclass(kind, nn.Module)
            or kind.named_parameters is not _NAMED_PARAMETERS
            or kind._named_members is not _NAMED_MEMBERS
        ):
            raise _Overridden
        _collect(module, "", out)
    except _Overridden:
        return dict(module.named_parameters(remove_duplicate=False))
    return out


def _collect(module: nn.Module, prefix: str, out: dict[str, nn.Parameter]) -> None:
    if type(module).named_modules is not _NAMED_MODULES:
        raise _Overridden
    for name, parameter in module._parameters.items():
        if parameter is not None:
            out[prefix + name] = parameter
    for name, child in module._modules.items():
        if child is not None:
            _collect(child, f"{prefix}{name}.", out)


def tensors(module: nn.Module) -> Iterator[Tensor]:
    """Yield the parameters and buffers of a module and of all its submodules, perhaps some of them twice."""
    seen, left = {id(module)}, [module]
    while left:
        one = left.pop()
        for table in (one._parameters, one._buffers):
            for tensor in table.values():
                if tensor is not None:
                    yield tensor
        for child in one._modules.values():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                left.append(child)


def set_mode(module: nn.Module, train: bool) -> None:
    """Do what `module.train(train)` does."""
    kind = type(module)
    usual = (
        issubclass(kind, nn.Module)
        and kind.train is _TRAIN
        and (kind.children, kind.named_children) == _CHILDREN
    )
    if not usual or kind.__setattr__ is not _SET or "training" not in module.__dict__:
        module.train(train)
        return
    module.__dict__["training"] = train
    for child in dict.fromkeys(module._modules.values()):
        if child is not None:
            set_mode(child, train)
