"""A second module with other input sizes shows whether a bare square parameter is (in, out) or (out, in).

A bare parameter is in no layer of torch.
"""

import pytest
import torch
from torch import nn

from grader.worker.layouts import fit, write
from grader.worker.orientation import held_as_linear

SIZES = {"key_size": 4, "query_size": 4, "num_hiddens": 4}


class Own(nn.Module):
    """Bare parameters of shape (out, in) if `out_first`, otherwise (in, out)."""

    def __init__(self, out_first, key_size, query_size, num_hiddens):
        super().__init__()
        shapes = {"W_k": key_size, "W_q": query_size, "W_o": num_hiddens}
        for name, size in shapes.items():
            shape = (num_hiddens, size) if out_first else (size, num_hiddens)
            setattr(self, name, nn.Parameter(torch.zeros(shape)))


@pytest.mark.parametrize("out_first", [True, False])
@pytest.mark.parametrize("key_size", [4, 3])
def test_another_module_shows_the_orientation(out_first, key_size):
    sizes = {**SIZES, "key_size": key_size}
    found = held_as_linear(Own(out_first, **sizes), lambda kwargs: Own(out_first, **kwargs), sizes)
    square = {"W_q", "W_o"} | ({"W_k"} if key_size == 4 else set())
    assert found == (square if out_first else frozenset())


def test_nothing_is_built_without_a_bare_square_parameter():
    assert held_as_linear(nn.Linear(4, 4), lambda kwargs: pytest.fail("built"), SIZES) == frozenset()


def test_no_parameter_is_out_first_if_other_sizes_are_refused():
    def build(kwargs):
        raise ValueError(kwargs)

    assert held_as_linear(Own(True, **SIZES), build, SIZES) == frozenset()


def test_the_random_numbers_of_a_case_stay_the_same():
    module = Own(True, **SIZES)

    def build(kwargs):
        torch.rand(9)
        return Own(True, **kwargs)

    torch.manual_seed(3)
    held_as_linear(module, build, SIZES)
    after = torch.rand(1)
    torch.manual_seed(3)
    assert torch.equal(after, torch.rand(1))


@pytest.mark.parametrize("out_first", [True, False])
def test_weights_are_written_in_the_orientation_of_the_parameter(out_first):
    module = Own(out_first, **SIZES)
    own = dict(module.named_parameters())
    wanted = {f"{name}.weight": torch.randn(4, 4) for name in ("W_k", "W_q", "W_v", "W_o")}
    own["W_v"] = nn.Parameter(torch.zeros(4, 4))
    found = fit(own, dict.fromkeys(wanted, (4, 4)), frozenset(own) if out_first else ())
    assert found.complete
    write(found, own, wanted)
    expected = wanted["W_q.weight"] if out_first else wanted["W_q.weight"].T
    assert torch.equal(own["W_q"], expected)
