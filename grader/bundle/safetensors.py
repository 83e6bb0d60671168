"""Read and write safetensors on the trusted side: numpy only, bounded before anything is allocated.

The format (https://github.com/huggingface/safetensors): eight bytes of header length, little endian; a
JSON object `name -> {dtype, shape, data_offsets}`; the bytes. Worker replies come from untrusted code,
so every count is checked against the bytes that are really there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

MAX_HEADER = 1 << 20  # bytes
MAX_TENSORS = 4096
MAX_AXES = 16

_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),  # widened on reading
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
TORCH_NAMES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64",
    "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool",
}  # fmt: skip


class BadTensors(ValueError):
    """The bytes are not the safetensors that were promised."""


@dataclass(frozen=True)
class Entry:
    """One tensor as its header announces it; `start` and `stop` are byte offsets into the body."""

    dtype: str  # "float32", as torch names it
    shape: tuple[int, ...]
    code: str
    start: int
    stop: int


def encode(tensors: Mapping[str, Array]) -> bytes:
    """Write arrays as safetensors, names in sorted order, so that equal contents give equal bytes."""
    codes = {dtype: code for code, dtype in _DTYPES.items() if code != "BF16"}
    header: dict[str, Any] = {}
    body: list[bytes] = []
    at = 0
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        data = array.tobytes()
        header[name] = {
            "dtype": codes[array.dtype],
            "shape": list(np.shape(tensors[name])),
            "data_offsets": [at, at + len(data)],
        }
        body.append(data)
        at += len(data)
    head = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + b"".join(body)


def read_header(data: bytes | memoryview) -> tuple[dict[str, Entry], memoryview]:
    """Parse and check the header of a safetensors file. Returns its entries and its body.

    Raises BadTensors with a sentence for anything that is not exactly right; allocates nothing of the
    sizes that the header claims.
    """
    view = memoryview(data)
    if len(view) < 8:
        raise BadTensors("shorter than its own length field")
    size = int.from_bytes(view[:8], "little")
    if size > MAX_HEADER or size > len(view) - 8:
        raise BadTensors(f"a header of {size} bytes")
    try:
        text = bytes(view[8 : 8 + size]).decode("utf-8")
        raw = json.loads(text, object_pairs_hook=_no_repeats, parse_int=_unsigned)
    except (ValueError, RecursionError) as error:
        raise BadTensors(f"the header is not JSON ({type(error).__name__})") from None
    body = view[8 + size :]
    if not isinstance(raw, dict):
        raise BadTensors("the header is not an object")
    _check_texts(raw, raw.pop("__metadata__", {}))
    if len(raw) > MAX_TENSORS:
        raise BadTensors(f"{len(raw)} tensors")
    entries = {name: _entry(name, fields) for name, fields in raw.items()}
    _check_layout(entries, len(body))
    return entries, body


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a name stands twice")
    return out


def _unsigned(digits: str) -> int:
    if digits.startswith("-"):
        raise ValueError("a negative number")  # -0 too, which Python would take for a count
    return int(digits)


def _check_texts(names: Mapping[str, Any], metadata: object) -> None:
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise BadTensors("the metadata is not text")
    try:
        "\0".join((*names, *metadata, *metadata.values())).encode()
    except UnicodeEncodeError:
        raise BadTensors("a name is not Unicode text") from None


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 48


def _entry(name: str, fields: object) -> Entry:
    if not isinstance(fields, dict) or fields.keys() != {"dtype", "shape", "data_offsets"}:
        raise BadTensors(f"{name!r}: unexpected fields")
    code, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
    if not isinstance(code, str) or code not in _DTYPES:
        raise BadTensors(f"{name!r}: dtype {code!r}")
    if not isinstance(shape, list) or len(shape) > MAX_AXES or not all(map(_is_count, shape)):
        raise BadTensors(f"{name!r}: shape {shape!r}")
    if not _is_count(prod(n or 1 for n in shape)):  # numpy refuses such shapes even where they hold nothing
        raise BadTensors(f"{name!r}: shape {shape!r}")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_count, offsets)):
        raise BadTensors(f"{name!r}: offsets {offsets!r}")
    if offsets[1] - offsets[0] != prod(shape) * _DTYPES[code].itemsize:
        raise BadTensors(f"{name!r}: its shape and its bytes disagree")
    return Entry(TORCH_NAMES[code], tuple(shape), code, offsets[0], offsets[1])


def _check_layout(entries: Mapping[str, Entry], size: int) -> None:
    """Tensors must tile the body: no hole, no overlap, nothing after the last."""
    at = 0
    for entry in sorted(entries.values(), key=lambda e: (e.start, e.stop)):
        if entry.start != at:
            raise BadTensors("tensors overlap or leave a hole")
        at = entry.stop
    if at != size:
        raise BadTensors("bytes are missing or left over")


def read_array(entry: Entry, body: memoryview) -> Array:
    """The values of one entry; bfloat16 is widened to float32, all else keeps its dtype."""
    raw = np.frombuffer(body[entry.start : entry.stop], dtype=_DTYPES[entry.code])
    if entry.code == "BF16":
        raw = (raw.astype("<u4") << 16).view("<f4")
    elif entry.code == "BOOL":
        raw = raw.view("u1") != 0  # a byte of 2 is not a valid bool, and must not become one
    return raw.reshape(entry.shape)


def decode(data: bytes | memoryview) -> dict[str, Array]:
    """Every tensor of a safetensors file, by name."""
    entries, body = read_header(data)
    return {name: read_array(entry, body) for name, entry in entries.items()}
