"""Read and write safetensors with the safetensors library, and limit the sizes in an untrusted file.

`read` is for a file that may be hostile; `stored_folders` is for one of the course, and decodes only what is asked for.

The library checks the format (https://github.com/huggingface/safetensors): the header is JSON, and the tensors
tile the bytes without a hole or an overlap. Worker replies come from untrusted code. So the length of the header
is checked before the library reads it, and names, counts and shapes before numpy does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any

import msgspec
import numpy as np
import safetensors
from safetensors.numpy import save

from grader.support.errors import BadData

Array = np.ndarray[Any, Any]

MAX_HEADER = 1 << 20  # bytes
MAX_TENSORS = 4096
MAX_NAME = 400  # characters
MAX_AXES = 16
MAX_EMPTY_AXIS = 1 << 16  # an empty tensor costs no bytes, so its other axes need a limit of their own
MAX_SIZE = 1 << 48  # product of all axes that are not zero; for far larger ones numpy raises

# The library's code of a dtype → its name in torch, and how numpy reads it.
_DTYPES: dict[str, tuple[str, np.dtype[Any]]] = {
    "F64": ("float64", np.dtype("<f8")),
    "F32": ("float32", np.dtype("<f4")),
    "F16": ("float16", np.dtype("<f2")),
    "BF16": ("bfloat16", np.dtype("<u2")),  # widened to float32 on reading
    "I64": ("int64", np.dtype("<i8")),
    "I32": ("int32", np.dtype("<i4")),
    "I16": ("int16", np.dtype("<i2")),
    "I8": ("int8", np.dtype("i1")),
    "U8": ("uint8", np.dtype("u1")),
    "BOOL": ("bool", np.dtype("u1")),  # read as bytes: a byte of 2 is not a valid bool
}


@dataclass(frozen=True)
class Tensor:
    """One tensor of a file: its dtype as torch names it, its shape, the library's code of its dtype, and its bytes."""

    dtype: str
    shape: tuple[int, ...]
    code: str
    data: bytes | bytearray | memoryview

    def array(self) -> Array:
        """Return the values. BF16 becomes float32 and BOOL becomes bool; values of other dtypes are not copied."""
        values = np.frombuffer(self.data, dtype=_DTYPES[self.code][1])
        if self.code == "BF16":
            values = (values.astype("<u4") << 16).view("<f4")
        elif self.code == "BOOL":
            values = values != 0
        return values.reshape(self.shape)


def encode(tensors: Mapping[str, Array]) -> bytes:
    """Write arrays as safetensors. Equal contents give equal bytes."""
    return save({name: np.asarray(array, order="C") for name, array in tensors.items()})


def read(data: bytes) -> dict[str, Tensor]:
    """Return every tensor of a safetensors file, by name. Raises BadData for a wrong format or an exceeded limit."""
    if int.from_bytes(data[:8], "little") > MAX_HEADER:
        raise BadData("the header is too long")
    try:
        found = safetensors.deserialize(data)
    except safetensors.SafetensorError as error:
        raise BadData(str(error)) from None
    if len(found) > MAX_TENSORS:
        raise BadData(f"{len(found)} tensors")
    return {name: _tensor(name, fields) for name, fields in found}


def _tensor(name: str, fields: Mapping[str, Any]) -> Tensor:
    code, shape = fields["dtype"], fields["shape"]
    if len(name) > MAX_NAME or code not in _DTYPES:
        raise BadData("a name is too long" if len(name) > MAX_NAME else f"{name!r}: dtype {code!r}")
    huge_and_empty = 0 in shape and max(shape) > MAX_EMPTY_AXIS
    if len(shape) > MAX_AXES or huge_and_empty or prod(n or 1 for n in shape) > MAX_SIZE:
        raise BadData(f"{name!r}: shape {shape[:MAX_AXES]!r}")
    return Tensor(_DTYPES[code][0], tuple(shape), code, fields["data"])


def decode(data: bytes) -> dict[str, Array]:
    """Return the values of every tensor of a safetensors file, by name. Raises BadData as `read` does."""
    return {name: tensor.array() for name, tensor in read(data).items()}


class Later(Mapping[str, Array]):
    """Arrays that are made when they are first asked for."""

    def __init__(self, make: Callable[[], Mapping[str, Array]]):
        self._make = make

    @cached_property
    def _made(self) -> Mapping[str, Array]:
        return self._make()

    def __getitem__(self, name: str) -> Array:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


class _Place(msgspec.Struct):
    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


def stored_folders(data: bytes) -> dict[str, Mapping[str, Array]]:
    """Return the arrays of a file of the course, decoded when asked for, by the folders in their names.

    In "exercise/case/in/X", all after the third slash is the name of the array in its folder. Raises BadData for a file
    that is cut off.
    """
    start = 8 + int.from_bytes(data[:8], "little")
    try:
        places = msgspec.json.decode(data[8:start], type=dict[str, _Place])
    except msgspec.MsgspecError as error:
        raise BadData(str(error)) from None
    if start + max((place.data_offsets[1] for place in places.values()), default=0) != len(data):
        raise BadData("tensors are missing")
    folders: defaultdict[str, dict[str, _Place]] = defaultdict(dict)
    for path, place in places.items():
        *folder, name = path.split("/", 3)
        folders["/".join(folder)][name] = place
    values = memoryview(data)[start:]
    return {folder: Later(partial(_decoded, found, values)) for folder, found in folders.items()}


def _decoded(places: Mapping[str, _Place], values: memoryview) -> dict[str, Array]:
    arrays = {}
    for name, place in places.items():
        arrays[name] = Tensor("", place.shape, place.dtype, values[slice(*place.data_offsets)]).array()
    return arrays
