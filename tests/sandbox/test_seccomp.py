"""The filters of system calls, run as the kernel runs them, for both processor families."""

import errno
import re
import struct
from pathlib import Path

import pytest

from grader.sandbox import seccomp, syscalls
from grader.sandbox.base import SandboxError
from grader.sandbox.syscalls import NUMBERS

ALLOW = 0x7FFF0000
KILL = 0x80000000
OWN = 7  # the pid of the worker
# The architecture in struct seccomp_data, and the numbers of the system calls.
TABLES = {"x86_64": (0xC000003E, NUMBERS["x86_64"]), "aarch64": (0xC00000B7, NUMBERS["aarch64"])}


def decide(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Run a classic BPF program on a struct seccomp_data, and return its action."""
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *padded)
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        if code == 0x06:  # return
            return value
        if code == 0x20:  # load a word
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif code == 0x54:  # and
            accumulator &= value
        else:  # jump if equal, if greater or equal
            holds = {0x15: accumulator == value, 0x35: accumulator >= value}
            at += if_true if holds[code] else if_false


@pytest.fixture(params=TABLES)
def machine(request, monkeypatch):
    monkeypatch.setattr(syscalls, "machine", lambda: request.param)
    return request.param


@pytest.fixture
def verdict(machine):
    """Return a function from a call to the action of the filter: "allow", "kill" or the name of an errno."""
    architecture, numbers = TABLES[machine]
    program = seccomp.program(OWN)

    def ask(name_or_number, *arguments, architecture=architecture):
        number = numbers[name_or_number] if isinstance(name_or_number, str) else name_or_number
        action = decide(program, architecture, number, *arguments)
        if action in (ALLOW, KILL):
            return "allow" if action == ALLOW else "kill"
        assert action & 0xFFFF0000 == 0x00050000  # SECCOMP_RET_ERRNO
        return errno.errorcode[action & 0xFFFF]

    return ask


def test_named_calls_are_allowed(machine, verdict):
    for name in syscalls.ALLOWED:
        # Whether `open` and `openat` are allowed depends on their flags.
        if name in TABLES[machine][1] and name not in ("open", "openat"):
            assert verdict(name) == "allow", name


# Calls that nothing needs, besides those that the canaries and the attacks in tests/attacks/machine.py try.
REFUSED = "vfork umount2 ptrace setuid keyctl chmod fchmodat mknod mknodat symlink symlinkat flock sethostname setpriority"


def test_all_other_numbers_are_refused(machine, verdict):
    numbers = TABLES[machine][1]
    decided = {numbers[name] for name in (*syscalls.ALLOWED, *(row[0] for row in DEPENDS)) if name in numbers}
    for number in set(range(600)) - decided:
        assert verdict(number) == "EPERM", number
    assert not set(REFUSED.split()) & set(syscalls.ALLOWED)


def test_a_call_of_another_architecture_kills_the_worker(machine, verdict):
    assert verdict(0, architecture=0x40000003) == "kill"  # i386
    if machine == "x86_64":
        assert verdict(0x40000000) == "kill"  # x32: 32-bit pointers on x86-64


# Calls whose verdict depends on their arguments; `clone3` is said not to exist, so that libc calls `clone`.
DEPENDS = [
    ("clone", [0x3D0F00], "allow"),  # the flags of pthread_create
    ("clone", [0x01200011], "EPERM"),  # the flags of fork
    *((name, [], "ENOSYS") for name in ("clone3", "openat2")),
    # Signals: only to itself.
    *((name, [OWN], "allow") for name in ("kill", "tgkill")),
    *((name, [pid], "EPERM") for name in ("kill", "tgkill") for pid in (OWN + 1, 0, 0xFFFFFFFF)),
    # A file opened for reading (0o0) cannot be truncated (0o1000), one opened for writing can.
    *(("openat", [0, 0, flags], "allow") for flags in (0o0, 0o1001, 0o1002)),
    *(("open", [0, flags], "allow") for flags in (0o0, 0o1001, 0o1002)),
    ("openat", [0, 0, 0o1000], "EPERM"),
    ("open", [0, 0o1000], "EPERM"),
    ("prctl", [15], "allow"),  # PR_SET_NAME
    ("prctl", [1], "EPERM"),  # PR_SET_PDEATHSIG
    ("ioctl", [0, 0x5401], "allow"),  # TCGETS
    ("ioctl", [0, 0x5412], "ENOTTY"),  # TIOCSTI
    ("fcntl", [0, 1030], "allow"),  # F_DUPFD_CLOEXEC
    ("fcntl", [0, 8], "EPERM"),  # F_SETOWN
    ("prlimit64", [0], "allow"),
    ("prlimit64", [OWN + 1], "EPERM"),
    ("fallocate", [3, 1, 0, 1 << 40], "ENOTSUP"),  # disk space without writing
    *((f"{which}{act}xattr", [], "ENOTSUP") for which in ("", "l", "f") for act in ("get", "list", "set")),
]


def test_some_calls_are_allowed_with_certain_arguments_only(machine, verdict):
    there = [row for row in DEPENDS if row[0] in TABLES[machine][1]]  # aarch64 has no `open`
    assert [(name, given, verdict(name, *given)) for name, given, _ in there] == there


def test_the_quota_filter_asks_only_about_calls_that_make_files(machine):
    architecture, numbers = TABLES[machine]
    program = seccomp.asking_program()

    def asks(name, *arguments):
        """Return whether the kernel asks the supervisor of disk_quota.py before the call."""
        action = decide(program, architecture, numbers[name], *arguments)
        assert action in (ALLOW, 0x7FC00000)  # SECCOMP_RET_USER_NOTIF
        return action != ALLOW

    for name, flags_at in (("openat", 2), ("open", 1)):
        if name in numbers:
            before = [0] * flags_at
            # O_CREAT | O_WRONLY; O_TMPFILE's own bit | O_RDWR
            assert asks(name, *before, 0o101) and asks(name, *before, 0o20000002)
            assert not asks(name, *before, 0) and not asks(name, *before, 0o200001)  # O_DIRECTORY
    assert all(asks(name) for name in ("mkdir", "mkdirat") if name in numbers)
    assert not asks("write") and not asks("clone3")


def test_the_filter_is_not_too_long_for_the_kernel(machine):
    assert len(seccomp.program(OWN)) // 8 < 4096  # instructions


@pytest.mark.parametrize(
    ("table", "file", "prefix"),
    [
        ("x86_64", "x86_64-linux-gnu/asm/unistd_64.h", "__NR_"),
        ("aarch64", "asm-generic/unistd.h", "__NR(?:3264)?_"),
    ],
)
def test_tables_agree_with_the_kernels_headers(table, file, prefix):
    headers = Path("/usr/include") / file
    if not headers.exists():
        pytest.skip("no kernel headers here")
    defined = dict(re.findall(rf"#define {prefix}(\w+) (\d+)\n", headers.read_text()))
    wrong = {
        name: number
        for name, number in NUMBERS[table].items()
        if defined.get(name, str(number)) != str(number)
    }
    assert wrong == {}
    assert len(NUMBERS[table].keys() & defined.keys()) > 100


def test_an_unsupported_cpu_raises_an_error_that_names_it(monkeypatch):
    syscalls.machine.cache_clear()
    monkeypatch.setattr(syscalls.platform, "machine", lambda: "riscv64")
    with pytest.raises(SandboxError, match="riscv64"):
        seccomp.program(OWN)
    monkeypatch.undo()
    syscalls.machine.cache_clear()
