"""Forbidden calls that a case makes are found under every name."""

from fnmatch import fnmatch

import torch
from torch import nn
from torch.nn import functional as F

from grader.worker.forbidden_calls import watching

# A Transformer layer of torch makes all these calls; its MultiheadAttention makes the first two.
CALLS = ["nn.MultiheadAttention", "scaled_dot_product_attention", "nn.Transformer*"]
X = torch.ones(1, 2, 4)


def seen(do, calls=CALLS):
    """Return those of `calls` that are made while `do()` runs."""
    found = set()
    with watching(calls, found):
        do()
    return sorted(found)


def function_modes(calls):
    """Return the modes that see functions of torch while `calls` are watched."""
    with watching(calls, set()):
        return torch.overrides._get_current_function_mode_stack()


def test_a_function_is_seen_under_any_name():
    hidden = getattr(F, "scaled_dot" + "_product_attention")
    assert seen(lambda: hidden(X, X, X)) == ["scaled_dot_product_attention"]
    assert seen(lambda: torch._C._nn.scaled_dot_product_attention(X, X, X)) == [
        "scaled_dot_product_attention"
    ]


def test_a_called_module_and_its_subclass_are_seen():
    module = type("Mine", (nn.MultiheadAttention,), {})(4, 2)
    assert "nn.MultiheadAttention" in seen(lambda: module(X, X, X))
    layer = nn.TransformerEncoderLayer(4, 2, batch_first=True)
    assert {"nn.MultiheadAttention", "nn.Transformer*"} <= set(seen(lambda: layer(X)))


def test_other_calls_are_not_seen():
    assert seen(lambda: nn.Linear(4, 4)(X).softmax(-1) @ X.mT) == []


def test_the_calls_of_a_building_block_do_not_count():
    space = {"F": F}
    exec(
        compile("def block(x): return F.scaled_dot_product_attention(x, x, x)", "given/block.py", "exec"),
        space,
    )
    exec(
        compile("def student(x): return F.scaled_dot_product_attention(x, x, x)", "answer.py", "exec"), space
    )
    assert seen(lambda: space["block"](X)) == []
    assert seen(lambda: (space["block"](X), space["student"](X))) == ["scaled_dot_product_attention"]


def test_nothing_is_left_on_torch_afterwards():
    seen(lambda: X + X)
    assert not nn.modules.module._global_forward_pre_hooks
    assert torch.overrides._get_current_function_mode_stack() == []


def test_functions_are_not_watched_if_only_layers_are_forbidden():
    assert function_modes([]) == function_modes(["nn.MultiheadAttention", "nn.Transformer*"]) == []
    assert len(function_modes(CALLS)) == 1


def test_no_function_of_torch_has_the_name_of_a_layer():
    known = [f.__name__ for fs in torch.overrides.get_overridable_functions().values() for f in fs]
    assert "scaled_dot_product_attention" in known
    assert [
        name for name in known for call in ("MultiheadAttention", "Transformer*") if fnmatch(name, call)
    ] == []
