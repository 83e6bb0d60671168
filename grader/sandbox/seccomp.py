"""The filters of system calls, as classic BPF programs.

A call that the worker's filter does not allow gets an errno, usually EPERM, and does not kill the process: Python
raises an exception, so the student sees a traceback.
Calls with another numbering (another architecture, x32 on x86-64) kill the process, since they would bypass the
list.
"""

from __future__ import annotations

import errno
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.sandbox import syscalls

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

# What the kernel does with a call.
ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000  # and the errno in the low bits
_ASK = 0x7FC00000  # SECCOMP_RET_USER_NOTIF; an errno of another filter has precedence
REFUSE = _ERRNO | errno.EPERM

# The errno after which the C library or Python continues without the call.
_ANSWERED = {
    "clone3": errno.ENOSYS,  # the C library then uses clone, whose flags a filter can read
    "openat2": errno.ENOSYS,
    # It may reserve disk past every limit on the size of a file. posix_fallocate then writes instead.
    "fallocate": errno.EOPNOTSUPP,
    **{f"{which}{act}xattr": errno.ENOTSUP for which in ("", "l", "f") for act in ("get", "list", "set")},
}

_CLONE_THREAD = 0x00010000
_O_TRUNC = 0o1000
_WRITING = 0o3  # O_WRONLY or O_RDWR
_MAKES_A_FILE = 0o100 | 0o20000000  # O_CREAT, and the bit of O_TMPFILE that O_DIRECTORY lacks
_FLAGS_OF_OPEN = {"openat": 2, "open": 1}  # which argument they are
_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA = 15, 16, 0x53564D41
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5450, 0x5451)  # is it a terminal, its size, FIONREAD, FIO(N)CLEX
_FCNTLS = (0, 1, 2, 3, 4, 1030)  # duplicate, descriptor flags, status flags

_AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
_IF_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_IF_AT_LEAST = 0x35
_RETURN = 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # struct seccomp_data


@dataclass(frozen=True)
class Rule:
    """The action for a call depends on its argument number `argument` (from 0): `then` if its bits in `mask` are one
    of `values`, else `otherwise`.

    Only the low 32 bits are compared. The kernel, too, uses only these of C ints; the high half of clone's flags has
    nothing that is refused here.
    """

    name: str
    argument: int
    values: Sequence[int]
    mask: int = 0xFFFFFFFF
    then: int = ALLOW
    otherwise: int = REFUSE


def program(own_pid: int) -> bytes:
    """Return the worker's filter. own_pid: the worker's pid in its own pid namespace."""
    rules = [
        # No truncation through a descriptor for reading: old Landlock versions let that pass.
        *(
            Rule(name, flags, (_O_TRUNC,), mask=_O_TRUNC | _WRITING, then=REFUSE, otherwise=ALLOW)
            for name, flags in _FLAGS_OF_OPEN.items()
        ),
        Rule("clone", 0, (_CLONE_THREAD,), mask=_CLONE_THREAD),  # threads, no processes
        Rule("kill", 0, (own_pid,)),
        Rule("tgkill", 0, (own_pid,)),
        Rule("prlimit64", 0, (0, own_pid)),
        Rule("prctl", 0, (_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA)),
        Rule("ioctl", 1, _IOCTLS, otherwise=_ERRNO | errno.ENOTTY),
        Rule("fcntl", 1, _FCNTLS),
    ]
    allowed = dict.fromkeys(syscalls.ALLOWED, ALLOW)
    return assemble(allowed | {name: _ERRNO | number for name, number in _ANSWERED.items()}, rules, REFUSE)


def asking_program() -> bytes:
    """Return a filter that asks the supervisor before each call that may make a file or folder, and allows the others.

    The supervisor limits their number, see `disk_quota.py`.
    """
    rules = [
        Rule(name, flags, (0,), mask=_MAKES_A_FILE, otherwise=_ASK) for name, flags in _FLAGS_OF_OPEN.items()
    ]
    return assemble({"mkdir": _ASK, "mkdirat": _ASK}, rules, ALLOW)


def assemble(actions: Mapping[str, int], rules: Iterable[Rule], otherwise: int) -> bytes:
    """Return a program: the actions of calls with any arguments, then the rules; `otherwise` for all other calls.

    Calls that this machine does not have are left out.
    """
    numbers = syscalls.numbers()
    parts = [_guard_the_numbering()]
    parts += [_answer(numbers[name], action) for name, action in actions.items() if name in numbers]
    parts += [_ruled(numbers[rule.name], rule) for rule in rules if rule.name in numbers]
    return b"".join([*parts, _do(_RETURN, otherwise)])


def _do(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction, of 8 bytes. if_true, if_false: the number of instructions that a jump skips."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _guard_the_numbering() -> bytes:
    """Kill the process for a call with another numbering; otherwise load the number of the call for comparisons."""
    architecture = _AUDIT_ARCHITECTURE[syscalls.machine()]
    code = _do(_LOAD, _ARCHITECTURE_AT) + _do(_IF_EQUAL, architecture, 1, 0) + _do(_RETURN, _KILL_PROCESS)
    code += _do(_LOAD, _NUMBER_AT)
    if syscalls.machine() == "x86_64":
        code += _do(_IF_AT_LEAST, _X32_BIT, 0, 1) + _do(_RETURN, _KILL_PROCESS)
    return code


def _answer(number: int, action: int) -> bytes:
    """Return `action` if the loaded value, a call or an argument, is `number`."""
    return _do(_IF_EQUAL, number, 0, 1) + _do(_RETURN, action)


def _ruled(number: int, rule: Rule) -> bytes:
    body = _do(_LOAD, _ARGUMENTS_AT + 8 * rule.argument) + _do(_AND, rule.mask)
    body += b"".join(_answer(value, rule.then) for value in rule.values) + _do(_RETURN, rule.otherwise)
    return _do(_IF_EQUAL, number, 0, len(body) // 8) + body
