"""Build a class of another school, and let it be called as the course does: an attention with queries, keys, values and
lengths.

What its mask means is tried out: the meaning counts that gives weight to the keys within the lengths and to no others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from grader.worker.steps import Form

LONGEST = 1000  # of a sequence, for classes that ask for it; the default of the course's PositionalEncoding
# Meaning of a mask → how it is made of the keys within the lengths, (B, T, S) of bool. The first that works is used.
MASKS: Mapping[str, Sequence[Callable[[Tensor], Tensor]]] = {
    "visible": (lambda keep: keep, lambda keep: keep.float()),
    "hidden": (lambda keep: ~keep, lambda keep: (~keep).float()),
    "added": (lambda keep: torch.zeros_like(keep, dtype=torch.float).masked_fill(~keep, -torch.inf),),
}
# The axes of a mask: as the scores of one head, or with an axis for the heads.
AXES: Sequence[Callable[[Tensor], Tensor]] = (lambda mask: mask, lambda mask: mask.unsqueeze(1))


def build(form: Form, made: Callable[..., nn.Module], kwargs: Mapping[str, Any]) -> nn.Module:
    """Build a class with the course's arguments, in evaluation mode and without biases.

    Raises TypeError if its mask has no meaning, or several.
    """
    mask = _mask(made, tuple(form.built.items()), tuple(form.called.items()), tuple(form.config.items()))
    return _called_as_course(_built(form, made, kwargs), form, mask)


def _built(form: Form, made: Callable[..., nn.Module], kwargs: Mapping[str, Any]) -> nn.Module:
    width = kwargs.get("num_hiddens", kwargs.get("d_model", kwargs.get("ffn_num_input")))
    values = {
        **dict.fromkeys(("width", "input", "output"), width),
        "heads": kwargs.get("num_heads", kwargs.get("n_head")),
        "inner": kwargs.get("ffn_num_hiddens"),
        "dropout": kwargs.get("dropout", 0.5),
        "length": kwargs.get("max_len", LONGEST),
        "bias": False,
    }
    config = type(
        "Config", (), {name: values[means] for name, means in form.config.items() if means in values}
    )()
    module = made(**{name: {**values, "config": config}[means] for name, means in form.built.items()})
    for name, parameter in module.named_parameters() if values["heads"] else ():
        if parameter.dim() == 1 and name.endswith("bias"):  # the cases of attention have none
            nn.init.zeros_(parameter).requires_grad_(False)
    return module.eval()


def _called_as_course(module: nn.Module, form: Form, mask: Callable[[Tensor], Tensor]) -> nn.Module:
    """Let the module accept (queries, keys, values, lengths), or only (x)."""
    own = module.forward

    def forward(queries: Tensor, keys: Any = None, values: Any = None, lens: Any = None) -> Any:
        given = {"query": queries, "key": keys, "value": values, "all": queries, "length": lens, "mask": None}
        if lens is not None and "mask" in form.called.values():
            made = mask(_within(lens, queries.shape[1], keys.shape[1]))
            given["mask"] = made.to(queries.dtype) if made.is_floating_point() else made
        out = own(**{name: given[means] for name, means in form.called.items()})
        return out[0] if isinstance(out, tuple) else out

    module.forward = forward
    return module


def _within(lens: Tensor, queries: int, keys: int) -> Tensor:
    """Return which keys are within the lengths (B,) or (B, T), as (B, T, S)."""
    return (torch.arange(keys, device=lens.device) < lens.reshape(len(lens), -1, 1)).expand(-1, queries, -1)


@lru_cache(maxsize=8)
def _mask(made: Callable[..., nn.Module], *form: tuple[tuple[str, str], ...]) -> Callable[[Tensor], Tensor]:
    """Return how the class wants its mask. Raises TypeError if that is not clear.

    It is clear if exactly one meaning fits. If none does, and the class attends to all keys without a mask, it has a
    mistake: then the meaning counts that fits best, or any if the mask has no effect.
    """
    built, called, config = map(dict, form)
    if "mask" not in called.values():
        return lambda keep: keep
    with torch.random.fork_rng(devices=()), torch.no_grad():
        torch.manual_seed(0)
        module = _built(Form(built, called, config), made, {"num_hiddens": 8, "num_heads": 2})
        own, form_ = module.forward, Form(built, called, config)
        lens, inputs = torch.tensor([1, 2, 3]), [torch.randn(3, steps, 8) for steps in (2, 3, 3)]
        tried: list[_Tried] = []
        for meaning, makers in MASKS.items():
            for way in (partial(_made, maker, axes) for maker in makers for axes in AXES):
                module.forward = own
                tried.append(
                    _Tried(meaning, way, *_agreement(_called_as_course(module, form_, way), inputs, lens))
                )
        module.forward = own
        sees_all, without = _attends_to_all(_called_as_course(module, form_, tried[0].way), inputs)
    best = max(tried, key=lambda one: one.agreement)
    equal = [one for one in tried if one.agreement == best.agreement]
    if best.agreement == ALL:
        is_clear = len({one.meaning for one in equal}) == 1
    elif best.agreement >= 0:
        same = all(isinstance(one.out, Tensor) and one.out.equal(best.out) for one in equal)
        is_clear = sees_all and (same or len({one.meaning for one in equal}) == 1)
    else:  # it raises; if it does so without a mask, too, the mask is not the reason
        is_clear = {one.out for one in tried} == {without}
    if not is_clear:
        raise TypeError("the meaning of its mask is not clear")
    return best.way


class _Tried(NamedTuple):
    """A way to make a mask. agreement: see `_agreement`. out: the output, or the exception as a text."""

    meaning: str
    way: Callable[[Tensor], Tensor]
    agreement: int
    out: Any


def _made(maker: Callable[[Tensor], Tensor], axes: Callable[[Tensor], Tensor], keep: Tensor) -> Tensor:
    return axes(maker(keep))


ALL = 18  # the largest agreement: of three sequences with three keys and three values


def _agreement(module: nn.Module, inputs: Sequence[Tensor], lens: Tensor) -> tuple[int, Any]:
    """Return for how many keys and values it is true that a sequence depends on them just if they are within its length;
    -1 if the class raises. And its output, or the exception as a text.

    lens: 1, 2 and 3. One key alone has the weight 1, whatever its features are.
    """
    count, (q, k, v) = 0, inputs
    try:
        before = _finite(module(q, k, v, lens), q)
        for key in range(3):
            k_changed, v_changed = (_changed_at(key, x) for x in (k, v))
            of_k, of_v = (
                _moved(before, module(q, k_changed, v, lens)),
                _moved(before, module(q, k, v_changed, lens)),
            )
            count += int((of_k == ((lens > key) & (lens > 1))).sum() + (of_v == (lens > key)).sum())
    except Exception as error:  # of the student's code
        return -1, f"{type(error).__name__}: {error}"
    return count, before


def _attends_to_all(module: nn.Module, inputs: Sequence[Tensor]) -> tuple[bool, str]:
    """Return whether the output depends on every key or its value, without a mask; and the exception as a text."""
    q, k, v = inputs
    try:
        before = _finite(module(q, k, v), q)
        moved = [_moved(before, module(q, _changed_at(key, k), _changed_at(key, v))) for key in range(3)]
        return bool(torch.stack(moved).all()), ""
    except Exception as error:  # of the student's code
        return False, f"{type(error).__name__}: {error}"


def _changed_at(key: int, x: Tensor) -> Tensor:
    return x.index_add(1, torch.tensor([key]), torch.randn(3, 1, 8))


def _moved(before: Tensor, after: Tensor) -> Tensor:
    return (after - before).abs().flatten(1).amax(1) > 1e-4


def _finite(out: Tensor, like: Tensor) -> Tensor:
    """Return the output. Raises ValueError if it has another shape, or numbers that are not finite."""
    if out.shape != like.shape or not out.isfinite().all():
        raise ValueError("not the output of an attention")
    return out
