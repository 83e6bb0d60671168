"""Tensors that leave a worker can be read as safetensors, and have the same values."""

import numpy as np
import pytest
import torch

from grader.bundle.safetensors import decode, read
from grader.worker.results import packed, plain_copy

CPU = torch.device("cpu")
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
    ("value", "what"),
    [
        (torch.ones(2).to(torch.complex64), "a torch.strided tensor on cpu"),
        (torch.ones(2).to_sparse(), "a torch.sparse_coo tensor on cpu"),
        (torch.ones(2, device="meta"), "a torch.strided tensor on meta"),
        (torch.ones(2).to(torch.float8_e4m3fn), "a tensor of torch.float8_e4m3fn"),
        ((1, 2), "a tuple of 2"),
    ],
)
def test_a_value_that_cannot_be_sent_is_described(value, what):
    assert plain_copy(value, CPU) == {"is": what}
