"""Build an attention of another school, and let it be called as the course does: with queries, keys, values and lengths.

What its mask means is tried out: only if exactly one meaning gives weight to the keys within the lengths and to no
others, the class can be called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from grader.worker.steps import Form

LONGEST = 64  # of a sequence, for classes that ask for it
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
    width = kwargs.get("num_hiddens", kwargs.get("d_model"))
    values = {
        **dict.fromkeys(("width", "input", "output"), width),
        "heads": kwargs.get("num_heads", kwargs.get("n_head")),
        "dropout": kwargs.get("dropout", 0.5),
        "length": LONGEST,
        "bias": False,
    }
    config = type(
        "Config", (), {name: values[means] for name, means in form.config.items() if means in values}
    )()
    module = made(**{name: {**values, "config": config}[means] for name, means in form.built.items()})
    for name, parameter in module.named_parameters():
        if parameter.dim() == 1 and name.endswith("bias"):  # the course's cases have none
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
    """Return how the class wants its mask. Raises TypeError if not exactly one meaning fits."""
    built, called, config = map(dict, form)
    if "mask" not in called.values():
        return lambda keep: keep
    with torch.random.fork_rng(devices=()), torch.no_grad():
        torch.manual_seed(0)
        module = _built(Form(built, called, config), made, {"num_hiddens": 8, "num_heads": 2})
        own = module.forward
        fitting: dict[str, Callable[[Tensor], Tensor]] = {}
        for meaning, makers in MASKS.items():
            ways = [partial(_made, maker, axes) for maker in makers for axes in AXES]
            for way in ways:
                module.forward = own
                if _fits(_called_as_course(module, Form(built, called, config), way)):
                    fitting.setdefault(meaning, way)
    if len(fitting) != 1:
        raise TypeError(f"its mask has {len(fitting)} meanings")
    return next(iter(fitting.values()))


def _made(maker: Callable[[Tensor], Tensor], axes: Callable[[Tensor], Tensor], keep: Tensor) -> Tensor:
    return axes(maker(keep))


def _fits(module: nn.Module) -> bool:
    """Whether each of three sequences with the lengths 1, 2 and 3 depends on the keys within its length, and no others.

    One key alone has the weight 1, whatever its features are.
    """
    lens, (q, k, v) = torch.tensor([1, 2, 3]), (torch.randn(3, steps, 8) for steps in (2, 3, 3))
    try:
        before = module(q, k, v, lens)
        for key in range(3):
            k_changed, v_changed = (x.index_add(1, torch.tensor([key]), torch.randn(3, 1, 8)) for x in (k, v))
            of_k, of_v = (module(q, k_changed, v, lens) - before, module(q, k, v_changed, lens) - before)
            moved = [change.abs().flatten(1).amax(1) > 1e-4 for change in (of_k, of_v)]
            if not moved[0].equal((lens > key) & (lens > 1)) or not moved[1].equal(lens > key):
                return False
    except Exception:  # of the student's code: the mask does not suit it
        return False
    return before.shape == q.shape and bool(before.isfinite().all())
