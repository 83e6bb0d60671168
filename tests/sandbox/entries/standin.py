"""A program for the workers of tests: run each received source, and send its variable `answer` back.

`serve` is this program; `fail` is a program that raises an exception. The other public functions are preparations.
A worker server runs one once before it forks: `prepare` works; after `start_a_thread` or `die` it cannot fork.
"""

import json
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


prepared: list[int] = []


def prepare() -> None:
    prepared.append(1)
    tempfile.gettempdir()  # this process now remembers its temporary folder; its workers must not


def fail(request: int, reply: int) -> None:
    raise ValueError("on purpose")


def start_a_thread() -> None:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()


def die() -> None:
    os.write(2, b"last words\n")
    os._exit(3)
