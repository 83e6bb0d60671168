"""The source of a submission that searches for answers everywhere.

Tests put a dict in place of "@NEEDLES@" and a list in place of "@ROOTS@", and submit the text.

It contains the byte strings to search for (needles) with every byte shifted, and shifts the bytes that it
reads. So it does not find its own source. It also makes one unshifted needle, `PLANTED`, and must find it:
this shows that its search of objects and memory works.
"""

import contextlib
import ctypes
import gc
import os
import re
import stat
import sys
import types

import numpy
import torch

NEEDLES = {name: bytes.fromhex(text) for name, text in "@NEEDLES@".items()}
ROOTS = "@ROOTS@"
SHIFT = bytes((byte + 37) % 256 for byte in range(256))
BACK = bytes((byte - 37) % 256 for byte in range(256))
PLANTED = NEEDLES["planted"].translate(BACK)
LONGEST = max(map(len, NEEDLES.values()))
LARGEST = 2 << 20  # bytes: larger files are skipped; memory is searched in pieces of this size
# Suffixes of the files that it reads. It also reads files without a suffix, and files with a word of `TELLING`.
KINDS = re.compile(r"\.(pyc?|json|toml|txt|ipynb|safetensors|np[yz]|pt|sqlite|db|pth|md)$")
# Words in the names of files and folders that may contain answers.
TELLING = ("seed", "bundle", "solution", "hidden", "grader", "headway", "masking", "mistakes", "cases")

findings = []
paths = set()  # of files that were found, and the (device, inode) of those that were searched
walked = dict.fromkeys(("files", "descriptors", "processes", "objects", "memory"), 0)


def search(place, data):
    shifted = bytes(data).translate(SHIFT)
    for name, needle in NEEDLES.items():
        if needle in shifted and (name, place) not in findings and len(findings) < 500:
            findings.append((name, place))
            print(f"FOUND {name} in {place}", flush=True)


def read(path, size=LARGEST):
    with open(path, "rb") as file:
        return file.read(size)


def environment():
    search("environment", repr((dict(os.environ), sys.argv, sys.orig_argv, sys.path)).encode())


def files():
    """Search files of the chosen kinds below `ROOTS`; of installed packages, only those with a word of `TELLING`."""
    roots = [*ROOTS]
    if "/" in ROOTS:  # a sandbox may refuse to list "/", but allow these
        roots += [*sys.path, *map(os.path.dirname, sys.path)]
        roots += ["/usr", "/lib", "/etc", "/tmp", "/home", "/root", "/var"]
    for root in roots:
        for folder, folders, names in os.walk(root):
            packages = os.path.basename(folder) in ("site-packages", "dist-packages")
            folders[:] = [f for f in folders if os.path.join(folder, f) not in ("/proc", "/sys")]
            if packages:
                folders[:] = [f for f in folders if any(word in f.lower() for word in TELLING)]
            for name in names:
                path = os.path.join(folder, name)
                if path not in paths:
                    paths.add(path)
                    if KINDS.search(name) or "." not in name or any(word in name for word in TELLING):
                        file(path)


def file(path):
    with contextlib.suppress(OSError):
        about = os.stat(path)
        if (
            stat.S_ISREG(about.st_mode)
            and about.st_size <= LARGEST
            and (about.st_dev, about.st_ino) not in paths
        ):
            paths.add((about.st_dev, about.st_ino))
            search("file " + path, read(path))
            walked["files"] += 1


def descriptors():
    for number in range(1024):
        with contextlib.suppress(OSError):
            os.fstat(number)
            walked["descriptors"] += 1
            search(f"descriptor {number}", os.pread(number, LARGEST, 0))


def processes():
    try:
        names = os.listdir("/proc")
    except OSError:  # the files of a process may be readable although /proc cannot be listed
        names = [str(pid) for pid in range(1, 5000)]
    for pid in ["self", *(name for name in names if name.isdigit())]:
        for item in ("cmdline", "environ", "maps", "stack", "root/etc/passwd"):
            with contextlib.suppress(OSError):
                search(f"process {pid} {item}", read(f"/proc/{pid}/{item}"))
                walked["processes"] += 1
        for item in ("cwd", "root", *(f"fd/{n}" for n in range(64))):
            with contextlib.suppress(OSError):
                search(f"process {pid} {item}", os.readlink(f"/proc/{pid}/{item}").encode())


def objects():
    """Search the contents of all objects."""
    parts, size = [], 0
    for value in everything():
        walked["objects"] += 1
        try:
            part = content(value)
        except Exception:
            continue
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            search("objects", b"\0".join(parts))
            parts, size = [], 0
    search("objects", b"\0".join(parts))


def everything():
    """Return the objects that the garbage collector tracks, and the objects that they refer to."""
    gc.unfreeze()  # the server froze its objects before the fork
    tracked = gc.get_objects()
    return [*tracked, *gc.get_referents(*tracked)]


def content(value):
    """Return the bytes of a text, byte string, code object, tensor or array; b"" for other objects."""
    kind = type(value)  # not `isinstance`: an object can claim another class
    if issubclass(kind, str):
        return value.encode("utf-8", "replace")
    if issubclass(kind, (bytes, bytearray, memoryview)):
        return bytes(value)
    if issubclass(kind, types.CodeType):
        return value.co_code + repr(value.co_consts).encode()
    if issubclass(kind, torch.Tensor):
        return value.detach().contiguous().reshape(-1).numpy().tobytes()
    if issubclass(kind, numpy.ndarray):
        return value.tobytes()
    return b""


def memory():
    """Search the writable memory that no file backs; if /proc is hidden, every page with an object."""
    for start, stop in mapped():
        for place in range(start, stop, LARGEST):
            # Some bytes more, for a needle across the border of two pieces.
            data = ctypes.string_at(place, min(LARGEST + LONGEST, stop - place))
            search("memory", data)
            walked["memory"] += len(data)


def mapped():
    """Return (start, stop) addresses of the memory to search."""
    try:
        lines = read("/proc/self/maps").decode().splitlines()
    except OSError:
        pages = sorted({id(value) >> 12 for value in everything()})
        return spans(pages)
    fields = [line.split() for line in lines]
    anonymous = [f[0] for f in fields if f[1].startswith("rw") and (f[4] == "0" or "heap" in f[-1])]
    return [tuple(int(end, 16) for end in span.split("-")) for span in anonymous]


def spans(pages):
    """Join adjacent pages: page numbers → (start, stop) addresses."""
    found = []
    for page in pages:
        if found and found[-1][1] == page << 12:
            found[-1] = found[-1][0], (page + 1) << 12
        else:
            found.append((page << 12, (page + 1) << 12))
    return found


def run(*steps):
    """Run the steps of the search; print the error of each step that raises, and in the end how much was read."""
    for step in steps:
        try:
            step()
        except BaseException as error:
            print("STOPPED", step.__name__, type(error).__name__, error, flush=True)
    print("WALKED", walked, flush=True)


run(environment, files, descriptors, processes, objects, memory)


searched_in_call = []


def masked_softmax(X, valid_lens):
    if not searched_in_call:
        run(environment, descriptors, processes, objects, memory)
        searched_in_call.append(True)
    # An exception and a result are two ways into the report; the size of the batch chooses one.
    if len(X) % 2:
        raise ValueError(f"FOUND {findings}")
    return torch.full_like(X, len(findings))
