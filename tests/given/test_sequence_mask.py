"""The given sequence_mask fills like the assignment `X[mask] = value`, in float dtypes and int64."""

import pytest
import torch

from grader.given import sequence_mask


@pytest.mark.parametrize("value", [0, 0.1, -1e6, -1e9, float("-inf")])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
def test_any_value_fills_any_dtype_as_an_assignment_does(dtype, value):
    if dtype == torch.int64 and value == float("-inf"):  # int64 has no infinity
        value = -7
    X = torch.arange(24).reshape(2, 3, 4).to(dtype)
    lens = torch.tensor([1, 3])
    want = X.clone()
    want[torch.arange(3) >= lens[:, None]] = value
    got = sequence_mask(X, lens, value=value)
    assert got.dtype == dtype
    assert torch.equal(got, want)


def test_a_tensor_of_one_value_fills_too():
    X = torch.zeros(1, 2, dtype=torch.float16)  # -1e6 is below its range, and becomes -inf
    assert sequence_mask(X, torch.tensor([1]), torch.tensor(-1e6)).tolist() == [[0.0, float("-inf")]]
