"""Canary attacks: the first things that hostile code would try, run inside a worker of the tested tier.

Some call the C library through ctypes, because the kernel must refuse them, not Python. Each returns a text about
what it achieved. If it was refused, it returns None or raises an exception. They import nothing of the project:
a worker sees only this folder and `grader/worker/` of it.
"""

import ctypes
import json
import os
import resource
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

_AF_INET, _SOCK_STREAM = 2, 1
_CLONE_NEWUSER = 0x10000000
_PTRACE_TRACEME = 0
_MS_BIND = 4096


def serve(request: int, reply: int) -> None:
    """Try every attack on the targets in the request. Reply with {attack: what it achieved, or null}."""
    (size,) = struct.unpack("<I", os.read(request, 4))
    targets = json.loads(os.read(request, size))
    results = {name: _attempt(attack, targets) for name, attack in ATTACKS.items()}
    os.write(reply, json.dumps(results).encode())


def _attempt(attack: Callable[[dict[str, Any]], str | None], targets: dict[str, Any]) -> str | None:
    try:
        return attack(targets)
    except (OSError, MemoryError, ValueError, RuntimeError):
        return None


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def read_a_file(targets: dict[str, Any]) -> str | None:
    with open(targets["file"]) as file:
        return f"read {file.read(8)!r}"


def write_a_file(targets: dict[str, Any]) -> str | None:
    with open(os.path.join(targets["folder"], "planted"), "w") as file:
        file.write("here")
    return "wrote a file"


def change_a_file(targets: dict[str, Any]) -> str | None:
    os.close(os.open(targets["file"], os.O_RDONLY | os.O_TRUNC))
    return "emptied a file"


def change_permissions(targets: dict[str, Any]) -> str | None:
    os.chmod(targets["file"], 0o600)
    return "changed a file's permissions"


def connect_out(targets: dict[str, Any]) -> str | None:
    made = _libc().socket(_AF_INET, _SOCK_STREAM, 0)
    if made < 0:
        return None
    address = struct.pack("=H", _AF_INET) + struct.pack("!H4s8x", targets["port"], b"\x7f\0\0\1")
    connected = _libc().connect(made, address, len(address))
    return "connected" if connected == 0 else "made a socket"


def signal_the_parent(targets: dict[str, Any]) -> str | None:
    os.kill(targets["parent"], 0)
    return "could signal the parent's pid"


def read_its_environment(targets: dict[str, Any]) -> str | None:
    with open(f"/proc/{targets['parent']}/environ", "rb") as file:
        return f"read {len(file.read())} bytes"


def trace(targets: dict[str, Any]) -> str | None:
    return "ptrace answered" if _libc().ptrace(_PTRACE_TRACEME, 0, 0, 0) == 0 else None


def fork(targets: dict[str, Any]) -> str | None:
    pid = _libc().fork()
    if pid == 0:
        os._exit(0)
    return "forked" if pid > 0 else None


def run_a_program(targets: dict[str, Any]) -> str | None:
    nothing = (ctypes.c_char_p * 1)(None)
    _libc().execve(targets["program"].encode(), nothing, nothing)
    return None  # execve failed; otherwise this process could not reply any more


def make_a_namespace(targets: dict[str, Any]) -> str | None:
    return "made a user namespace" if _libc().unshare(_CLONE_NEWUSER) == 0 else None


def mount(targets: dict[str, Any]) -> str | None:
    result = _libc().mount(b"/dev", b"/dev", None, ctypes.c_ulong(_MS_BIND), None)
    return "mounted" if result == 0 else None


def make_a_hidden_file(targets: dict[str, Any]) -> str | None:
    return "made a memory file" if _libc().memfd_create(b"canary", 0) >= 0 else None


def change_user(targets: dict[str, Any]) -> str | None:
    os.setresuid(0, 0, 0)
    return "became root" if os.getuid() == 0 else None


def raise_a_limit(targets: dict[str, Any]) -> str | None:
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (hard + 1, hard + 1))
    return "raised its processor time"


def take_memory(targets: dict[str, Any]) -> str | None:
    return f"took {len(bytearray(targets['memory_bytes']))} bytes"


def start_many_threads(targets: dict[str, Any]) -> str | None:
    """Start more threads than allowed. The kernel counts all threads of a user, so the limit includes the threads
    of the user's other processes; if some of them exit, this process may start more.
    """
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    if limit == resource.RLIM_INFINITY:
        return "has no limit on threads"
    go = threading.Event()
    threads: list[threading.Thread] = []
    try:
        for _ in range(limit + 1):
            thread = threading.Thread(target=go.wait)
            thread.start()
            threads.append(thread)
    finally:
        go.set()
        for thread in threads:
            thread.join()
    return f"started {len(threads)} threads"


def find_descriptors(targets: dict[str, Any]) -> str | None:
    """Only 0 to 4 may be open: standard streams, requests and replies."""
    extra = [number for number in range(5, 256) if _is_open(number)]
    return f"found descriptors {extra}" if extra else None


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def lists_outside(targets: dict[str, Any]) -> str | None:
    return f"listed {os.listdir(targets['folder'])}"


def fill_the_disk(targets: dict[str, Any]) -> str | None:
    names = [f"filler-{number}" for number in range(3)]
    try:
        for name in names:
            with open(name, "wb") as file:
                file.write(bytes(targets["file_bytes"] // 2))
    finally:
        for name in filter(os.path.exists, names):
            os.unlink(name)
    return "filled more than the limit"


def see_processes(targets: dict[str, Any]) -> str | None:
    """Only `strict` promises to refuse this."""
    os.stat(f"/proc/{targets['parent']}")
    return "saw the parent's pid"


def cannot_read_python(targets: dict[str, Any]) -> str | None:
    """Check the opposite: return a text if the worker cannot read a needed file, or cannot write to its own folder."""
    try:
        for path in targets["needed"]:
            with open(path, "rb") as file:
                file.read(1)
        with open("own", "w") as file:
            file.write("scratch")
    except OSError as error:
        return f"{error.strerror}: {error.filename}"
    return None


ATTACKS: dict[str, Callable[[dict[str, Any]], str | None]] = {
    function.__name__: function
    for function in (
        read_a_file, write_a_file, change_a_file, change_permissions, lists_outside, connect_out,
        signal_the_parent, read_its_environment, trace, fork, run_a_program, make_a_namespace, mount,
        make_a_hidden_file, change_user, raise_a_limit, take_memory, find_descriptors,
        fill_the_disk, see_processes, start_many_threads, cannot_read_python,
    )
}  # fmt: skip
