"""Frames on a pipe: two lengths, a JSON object, and safetensors (or nothing)."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

HEAD = struct.Struct("<II")  # bytes of JSON, bytes of tensors
END_OF_CASE = "\x1e"  # in what is printed: the end of what one case of several printed


def read_exactly(fd: int, size: int) -> bytes:
    """Read `size` bytes. Raises EOFError when the pipe closes first."""
    parts = bytearray()
    while len(parts) < size:
        chunk = os.read(fd, min(size - len(parts), 1 << 20))
        if not chunk:
            raise EOFError("the other side closed the pipe")
        parts += chunk
    return bytes(parts)


def read_frame(fd: int) -> tuple[dict[str, Any], bytes]:
    json_size, body_size = HEAD.unpack(read_exactly(fd, HEAD.size))
    return json.loads(read_exactly(fd, json_size)), read_exactly(fd, body_size)


def write_frame(fd: int, message: dict[str, Any], body: bytes = b"") -> None:
    head = json.dumps(message).encode()
    data = memoryview(HEAD.pack(len(head), len(body)) + head + body)
    while data:
        data = data[os.write(fd, data) :]
