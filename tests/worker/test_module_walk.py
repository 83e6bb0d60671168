"""The functions of `module_walk` give the same as torch's slower methods, also for unusual modules."""

import pytest
import torch
from torch import nn

from grader.worker import module_walk


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.first = nn.Linear(2, 2)
        self.same, self.none = self.first, None
        self.register_parameter("empty", None)
        self.register_buffer("table", torch.zeros(3))
        self.rest = nn.Sequential(nn.Dropout(0.5), nn.ModuleList([nn.LayerNorm(2)]))


class Renamed(nn.Linear):
    def named_parameters(self, *args, **kwargs):
        return ((f"my_{name}", p) for name, p in super().named_parameters(*args, **kwargs))


class Hidden(nn.Linear):
    def named_modules(self, *args, **kwargs):
        return iter(())


class Counting(nn.Linear):
    calls = 0

    def train(self, mode=True):
        self.calls += 1
        return super().train(mode)


class Own(nn.Dropout):
    """Stores its mode under another name."""

    @property
    def training(self):
        return self.mode

    @training.setter
    def training(self, mode):
        self.__dict__["mode"] = mode


MODULES = [Nested, lambda: Renamed(2, 2), lambda: nn.Sequential(Hidden(2, 2), nn.Linear(2, 1)), nn.Identity]


@pytest.mark.parametrize("make", MODULES)
def test_parameters_have_the_names_and_order_of_torch(make):
    module = make()
    expected = list(module.named_parameters(remove_duplicate=False))
    found = list(module_walk.named_parameters(module).items())
    assert [name for name, _ in found] == [name for name, _ in expected]
    assert all(a is b for (_, a), (_, b) in zip(found, expected, strict=True))


def test_tensors_of_all_submodules_are_found():
    module = Nested()
    expected = {id(t) for t in (*module.parameters(), *module.buffers())}
    assert {id(t) for t in module_walk.tensors(module)} == expected


def test_the_tensors_of_a_module_that_contains_itself_are_found():
    module = Nested()
    module.rest.append(module)
    # scale, table, and a weight and a bias of the linear and of the norm layer
    assert len({id(t) for t in module_walk.tensors(module)}) == 6


def test_the_mode_of_every_submodule_is_set():
    module = nn.Sequential(Nested(), Own(), nn.Linear(2, 2))
    for train in (False, True, False):
        module_walk.set_mode(module, train)
        assert [m.training for m in module.modules()] == [train] * len(list(module.modules()))


def test_a_train_method_of_a_submodule_is_called():
    module = nn.Sequential(Counting(2, 2))
    module_walk.set_mode(module, False)
    assert (module[0].calls, module[0].training) == (1, False)


@pytest.mark.parametrize("call", [module_walk.named_parameters, lambda m: module_walk.set_mode(m, True)])
def test_an_object_that_is_no_module_raises_as_torch_s_method_does(call):
    with pytest.raises(
        AttributeError, match=r"^'object' object has no attribute '(named_parameters|train)'$"
    ):
        call(object())
