"""Tensors that leave a worker arrive with their values; sentences of token numbers become rows of one tensor."""

import numpy as np
import pytest
import torch

from grader.bundle.safetensors import decode, read
from grader.worker.results import MOST, in_rows, packed

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
WHOLE = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]


@pytest.mark.parametrize("dtype", FLOATS + WHOLE)
def test_values_of_each_dtype_arrive(dtype):
    value = torch.tensor([[0, 1, 2], [3, 4, 100]]).to(dtype)
    data = packed({"other": torch.ones(3), "it": value})
    assert read(data)["it"].dtype == str(value.dtype).removeprefix("torch.")
    assert np.array_equal(decode(data)["it"], value.float().numpy())


def test_scalars_and_empty_tensors_arrive():
    found = decode(packed({"scalar": torch.tensor(2.5), "empty": torch.ones(0, 3)}))
    assert found["scalar"].shape == () and found["scalar"] == 2.5
    assert found["empty"].shape == (0, 3)


def test_names_may_hold_quotes_and_other_letters():
    assert list(decode(packed({'grad "é"\n': torch.ones(1)}))) == ['grad "é"\n']


@pytest.mark.parametrize(
    "sentences",
    [
        [[5, 8], [], [7]],
        ((5, 8), (), (7,)),
        [torch.tensor([5, 8]), torch.tensor([], dtype=torch.int64), torch.tensor([7])],
        [[torch.tensor(5), torch.tensor([8])], [], [torch.tensor([[7]])]],
        torch.tensor([[5, 8], [-1, -1], [7, -1]]),
        torch.tensor([[5.0, 8.0], [-1.0, -1.0], [7.0, -1.0]]),
        [torch.tensor([[5, 8]]), [], torch.tensor([[7]])],
    ],
)
def test_each_form_becomes_the_same_rows(sentences):
    rows, of_several_lengths = in_rows(sentences)
    assert rows.tolist() == [[5, 8], [-1, -1], [7, -1]]
    assert of_several_lengths == (not isinstance(sentences, torch.Tensor))


@pytest.mark.parametrize(
    "value",
    [
        None, 7, "ab", ["ab"], [[1.5]], [[None]], [[[1]]], {1: 2}, torch.tensor(3), torch.rand(2, 2),
        [[1 << 70]], [[1e30]], [[float("nan")]], [[0]] * (MOST + 1), [[0] * (MOST + 1)], torch.zeros(2, 2, 2),
    ],
)  # fmt: skip
def test_other_values_give_none(value):
    assert in_rows(value) is None


def test_a_list_that_holds_itself_is_no_sentence():
    endless: list = []
    endless.append(endless)
    assert in_rows(endless) is None
