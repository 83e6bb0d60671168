"""A program for the workers of tests: run each received source, and send its variable `answer` back.

`serve` is this program; `fail` is a program that raises an exception. The other public functions are preparations.
A worker server runs one once before it forks. After `start_a_thread` or `die` it cannot fork.
"""

import json
import mmap
import os
import struct
import tempfile
import threading
import time
from typing import Any


def _read(descriptor: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = os.read(descriptor, count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def serve(request: int, reply: int) -> None:
    while True:
        try:
            (size,) = struct.unpack("<I", _read(request, 4))
        except EOFError:
            return
        output = json.dumps(_run(_read(request, size).decode())).encode()
        os.write(reply, struct.pack("<I", len(output)) + output)


def _run(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "submission"}
    try:
        exec(compile(source, "submission.py", "exec"), names)
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"answer": names.get("answer")}


prepared: list[Any] = []


def prepare() -> None:
    prepared.append(1)
    tempfile.gettempdir()  # this process now remembers its temporary folder; its workers must not


def fail(request: int, reply: int) -> None:
    raise ValueError("on purpose")


def import_torch() -> None:
    """Import what the real worker program imports before the fork."""
    import torch  # noqa: F401


def take_address_space() -> None:
    """Map 5 GiB, more than CUDA maps."""
    prepared.append(mmap.mmap(-1, 5 << 30, prot=mmap.PROT_READ))


def start_a_thread() -> None:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()


def die() -> None:
    os.write(2, b"last words\n")
    os._exit(3)
