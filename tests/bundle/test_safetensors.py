"""The bounded reader against the safetensors library, on good frames and on broken ones."""

import json
import random
import tracemalloc

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

from grader.bundle.safetensors import MAX_HEADER, BadTensors, decode, encode, read_array, read_header

DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")


def frame(header, body=b""):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + body


def one(dtype="F32", shape=(1,), offsets=(0, 4)):
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


def same_numbers(mine, theirs):
    if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        return False
    if theirs.dtype == bool:
        return np.array_equal(mine, theirs.view("u1") != 0)
    return np.array_equal(mine, theirs, equal_nan=theirs.dtype.kind == "f")


def test_what_the_library_writes_is_read_as_the_library_reads_it():
    written = some_tensors()
    read = decode(safetensors.torch.save(written))
    assert read.keys() == written.keys()
    assert all(same_numbers(read[name], as_numpy(written[name])) for name in written)


def test_what_is_written_here_is_read_by_the_library():
    arrays = {name: as_numpy(t) for name, t in some_tensors().items()}
    read = safetensors.numpy.load(encode(arrays))
    assert read.keys() == arrays.keys()
    assert all(same_numbers(arrays[name], read[name]) for name in arrays)


def test_arrays_that_do_not_lie_in_order_in_memory_are_written_by_their_values():
    turned = np.arange(6.0).reshape(2, 3).T
    assert np.array_equal(decode(encode({"turned": turned}))["turned"], turned)


def test_equal_contents_give_equal_bytes_in_whatever_order_they_come():
    a, b = np.arange(3.0), np.arange(4)
    assert encode({"a": a, "b": b}) == encode({"b": b, "a": a})


def test_bfloat16_is_widened_to_the_very_same_numbers():
    numbers = torch.tensor([1.0, -3.140625, 1e-40, 3e38, float("inf")], dtype=torch.bfloat16)
    read = decode(safetensors.torch.save({"x": numbers}))["x"]
    assert read.dtype == np.float32
    assert np.array_equal(read, numbers.float().numpy())


def test_a_byte_that_is_no_truth_value_becomes_true():
    read = decode(frame(one("BOOL", (3,), (0, 3)), b"\0\1\2"))["a"]
    assert read.tolist() == [False, True, True]
    assert set(read.view("u1").tolist()) <= {0, 1}


def test_the_header_tells_names_dtypes_and_shapes_without_the_values():
    entries, body = read_header(safetensors.torch.save({"x": torch.zeros(2, 3, dtype=torch.bfloat16)}))
    assert (entries["x"].dtype, entries["x"].shape, len(body)) == ("bfloat16", (2, 3), 12)
    assert read_array(entries["x"], body).shape == (2, 3)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\0" * 7, id="shorter than its length"),
        pytest.param((1 << 63).to_bytes(8, "little"), id="a length beyond all memory"),
        pytest.param(frame(b"{}" + b" " * MAX_HEADER), id="a header beyond its limit"),
        pytest.param((100).to_bytes(8, "little") + b"{}", id="a header longer than the file"),
        pytest.param(frame(b"["), id="not JSON"),
        pytest.param(frame(b"[]"), id="a list"),
        pytest.param(frame(b"[" * 100_000), id="nested without end"),
        pytest.param(frame(b'{"a":' + b"1" * 10_000 + b"}"), id="a number of ten thousand digits"),
        pytest.param(frame(json.dumps(one(shape=(0,), offsets=(0, 0))).encode("utf-16")), id="UTF-16"),
        pytest.param(
            frame(b'{"\\ud800":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'), id="half a character"
        ),
        pytest.param(frame({"a": 5}), id="an entry that is no object"),
        pytest.param(frame(one() | {"a": {**one()["a"], "more": 1}}, b"\0" * 4), id="a field too many"),
        pytest.param(frame(one("F31"), b"\0" * 4), id="unknown dtype"),
        pytest.param(frame({"a": {**one()["a"], "dtype": ["F32"]}}, b"\0" * 4), id="a dtype that is a list"),
        pytest.param(frame(one(shape=(-1,)), b"\0" * 4), id="negative shape"),
        pytest.param(frame(one(shape=(1.0,)), b"\0" * 4), id="fractional shape"),
        pytest.param(frame(one(shape=(True,)), b"\0" * 4), id="a truth value as a shape"),
        pytest.param(frame(b'{"a":{"dtype":"F32","shape":[-0],"data_offsets":[0,0]}}'), id="minus zero"),
        pytest.param(frame(one(shape=(1,) * 17), b"\0" * 4), id="seventeen axes"),
        pytest.param(frame(one(shape=(2,)), b"\0" * 4), id="shape and bytes disagree"),
        pytest.param(frame(one(offsets=(0, 4, 4)), b"\0" * 4), id="three offsets"),
        pytest.param(frame(one(offsets=(4, 8)), b"\0" * 8), id="a hole"),
        pytest.param(frame(one(), b"\0" * 5), id="bytes left over"),
        pytest.param(frame(one(), b"\0" * 3), id="bytes missing"),
        pytest.param(frame(one() | {"b": one()["a"]}, b"\0" * 4), id="two tensors on the same bytes"),
        pytest.param(frame(one(shape=(0, 2**40, 2**40), offsets=(0, 0))), id="empty with huge axes"),
        pytest.param(frame(one(shape=(2**40, 2**40, 0), offsets=(0, 0))), id="empty with huge axes first"),
        pytest.param(frame({"__metadata__": 5}), id="metadata that is no object"),
        pytest.param(frame({"__metadata__": {"a": 5}}), id="metadata that is no text"),
        pytest.param(
            frame(b'{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},' * 2 + b'"b":1}'),
            id="a name twice",
        ),
        pytest.param(
            frame({str(i): {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for i in range(5000)}),
            id="too many",
        ),
    ],
)
def test_broken_bytes_are_refused_with_a_sentence(data):
    with pytest.raises(BadTensors, match=r"\w"):
        decode(data)


def mutated(rng, good):
    """One of the ways in which a frame goes wrong by accident or on purpose."""
    data = bytearray(good)
    head = int.from_bytes(data[:8], "little")
    how = rng.randrange(8)
    if how == 0:  # any byte
        data[rng.randrange(len(data))] = rng.randrange(256)
    elif how == 1:  # the header, by JSON's own letters
        for _ in range(rng.randrange(1, 4)):
            data[8 + rng.randrange(head)] = ord(rng.choice('0123456789,:[]{}"-.eE FU'))
    elif how == 2:
        del data[rng.randrange(len(data)) :]
    elif how == 3:
        data[rng.randrange(8)] = rng.randrange(256)
    elif how == 4:
        at = rng.randrange(len(data))
        data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
    elif how == 5:  # a number of the header by another one
        text = data[8 : 8 + head].decode()
        spots = [i for i, c in enumerate(text) if c.isdigit()]
        at = rng.choice(spots)
        text = (
            text[:at]
            + rng.choice(["", "0", "99", "4294967296", "18446744073709551616", "-1", "1e3", "-0"])
            + text[at + 1 :]
        )
        head_bytes = text.encode()
        data[:] = len(head_bytes).to_bytes(8, "little") + head_bytes + data[8 + head :]
    elif how == 6:  # fields of the entries by those of others
        words = json.loads(data[8 : 8 + head])
        a, b = rng.choice(sorted(words)), rng.choice(sorted(words))
        field = rng.choice(["dtype", "shape", "data_offsets"])
        words[a][field] = words[b][field]
        return frame(words, bytes(data[8 + head :]))
    else:  # bits of the body
        if len(data) > 8 + head:
            data[rng.randrange(8 + head, len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def test_mutated_frames_are_refused_or_read_exactly_as_the_library_reads_them():
    rng = random.Random(1)
    tensors = some_tensors()
    few = [
        safetensors.torch.save({n: tensors[n] for n in names})
        for names in (DTYPES[:2], ("bfloat16", "bool"), ("empty", "odd"), tensors)
    ]
    read = 0
    for _ in range(24_000):
        data = mutated(rng, rng.choice(few))
        try:
            mine = decode(data)
        except BadTensors:
            continue
        theirs = safetensors.torch.load(data)  # it reads what we read
        read += 1
        assert mine.keys() == theirs.keys(), data
        assert all(same_numbers(mine[name], as_numpy(theirs[name])) for name in mine), data
    assert read > 3000, "most of what is left whole must still be read"


@pytest.mark.parametrize("shape", [(2**46,), (2**20, 2**20), (0, 2**47)])
def test_no_memory_is_taken_by_the_size_that_a_header_claims(shape):
    count = int(np.prod(shape))
    data = frame(one(shape=shape, offsets=(0, 4 * count)))
    tracemalloc.start()
    try:
        decode(data)
    except BadTensors:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 1 << 20
