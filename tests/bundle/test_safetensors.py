"""The grader reads what the safetensors library writes, and refuses broken files and those beyond its limits."""

import json
import tracemalloc

import numpy as np
import pytest
import safetensors.torch
import torch

from grader.bundle.safetensors import MAX_EMPTY_AXIS, MAX_HEADER, decode, encode, read
from grader.support.errors import BadData

DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")


def frame(header, body=b""):
    """Return a file: the length of the header, the header, and the values."""
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + body


def one_tensor(dtype="F32", shape=(1,), offsets=(0, 4)):
    """Return the header of a file with one tensor, `a`."""
    return {"a": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}}


def some_tensors():
    torch.manual_seed(0)
    return {name: (torch.randn(2, 3) * 50).to(getattr(torch, name)) for name in DTYPES} | {
        "empty": torch.zeros(0, 4),
        "scalar": torch.tensor(2.5),
        "odd": torch.tensor([float("nan"), float("inf"), -0.0]),
    }


def as_numpy(tensor):
    return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()


def test_tensors_that_torch_writes_keep_their_values():
    written = some_tensors()
    arrays = decode(safetensors.torch.save(written))
    assert arrays.keys() == written.keys()
    for name, array in arrays.items():
        wanted = as_numpy(written[name])
        assert array.dtype == wanted.dtype
        np.testing.assert_array_equal(array, wanted)


def test_a_transposed_array_is_written_by_its_values():
    turned = np.arange(6.0).reshape(2, 3).T
    assert np.array_equal(decode(encode({"turned": turned}))["turned"], turned)


def test_equal_contents_give_equal_bytes_in_any_order():
    a, b = np.arange(3.0), np.arange(4)
    c = a + 1
    assert encode({"a": a, "b": b, "c": c}) == encode({"c": c, "b": b, "a": a})


def test_bfloat16_becomes_float32_with_the_same_values():
    numbers = torch.tensor([1.0, -3.140625, 1e-40, 3e38, float("inf")], dtype=torch.bfloat16)
    widened = decode(safetensors.torch.save({"x": numbers}))["x"]
    assert widened.dtype == np.float32
    assert np.array_equal(widened, numbers.float().numpy())


def test_a_byte_of_a_boolean_other_than_0_and_1_becomes_true():
    values = decode(frame(one_tensor("BOOL", (3,), (0, 3)), b"\0\1\2"))["a"]
    assert values.tolist() == [False, True, True]
    assert set(values.view("u1").tolist()) <= {0, 1}


def test_dtype_and_shape_are_known_without_the_values():
    tensor = read(safetensors.torch.save({"x": torch.zeros(2, 3, dtype=torch.bfloat16)}))["x"]
    assert (tensor.dtype, tensor.shape, len(tensor.data)) == ("bfloat16", (2, 3), 12)
    assert tensor.array().shape == (2, 3)


def empty(*shape, dtype="F32"):
    """Return the header of a file with one tensor without values."""
    return one_tensor(dtype, shape, (0, 0))


FOUR = b"\0" * 4  # the bytes of one number
BROKEN = {
    "nothing": b"",
    "a length beyond all memory": (1 << 63).to_bytes(8, "little"),
    "a header beyond its limit": frame(b"{}" + b" " * MAX_HEADER),
    "a header longer than the file": (100).to_bytes(8, "little") + b"{}",
    "not JSON": frame(b"["),
    "nested without end": frame(b"[" * 100_000),
    "half a character": frame(b'{"\\ud800":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'),
    "unknown dtype": frame(one_tensor("F31"), FOUR),
    "a dtype that numpy does not have": frame(one_tensor("F8_E4M3", (4,)), FOUR),
    "negative shape": frame(one_tensor(shape=(-1,)), FOUR),
    "seventeen axes": frame(one_tensor(shape=(1,) * 17), FOUR),
    "shape and bytes disagree": frame(one_tensor(shape=(2,)), FOUR),
    "a hole": frame(one_tensor(offsets=(4, 8)), 2 * FOUR),
    "bytes left over": frame(one_tensor(), FOUR + b"\0"),
    "bytes missing": frame(one_tensor(), FOUR[1:]),
    "two tensors on the same bytes": frame(one_tensor() | {"b": one_tensor()["a"]}, FOUR),
    "empty with huge axes": frame(empty(2**40, 2**40, 0)),
    "empty beyond the limit": frame(empty(0, MAX_EMPTY_AXIS + 1)),
    "a long name": frame({"x" * 401: empty(0)["a"]}),
    "too many": frame({str(i): empty(0, dtype="U8")["a"] for i in range(5000)}),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_broken_bytes_are_refused_with_a_sentence(data):
    with pytest.raises(BadData, match=r"\w"):
        decode(data)


def test_the_limit_of_an_empty_axis_is_allowed():
    assert read(frame(empty(0, MAX_EMPTY_AXIS)))["a"].array().size == 0


@pytest.mark.parametrize("shape", [(2**46,), (2**20, 2**20), (0, 2**47)])
def test_a_large_size_in_a_header_takes_no_memory(shape):
    count = int(np.prod(shape))
    data = frame(one_tensor(shape=shape, offsets=(0, 4 * count)))
    tracemalloc.start()
    try:
        decode(data)
    except BadData:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 1 << 20
