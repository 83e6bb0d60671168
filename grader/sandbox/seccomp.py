"""The allow-list of system calls, as a classic BPF program.

A call that is not on the list gets an errno, usually EPERM, and does not kill the process: Python raises an
exception, so the student sees a traceback.
Calls with another numbering (another architecture, x32 on x86-64) kill the process, since they would bypass the
list.
"""

from __future__ import annotations

import errno
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.sandbox import kernel
from grader.sandbox.syscall_numbers import AARCH64, X86_64

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

# Frequent ones first: the program is read from the top at every call.
_ALLOWED = """
    read write futex mmap munmap madvise mprotect clock_gettime close openat fstat newfstatat lseek brk
    sched_yield getrandom gettid getpid rt_sigprocmask rt_sigaction rt_sigreturn
    readv writev pread64 pwrite64 stat lstat statx statfs fstatfs access faccessat faccessat2
    readlink readlinkat getdents64 getcwd chdir fchdir dup dup2 dup3 pipe pipe2 eventfd2
    poll ppoll select pselect6
    unlink unlinkat mkdir mkdirat rmdir rename renameat renameat2 ftruncate
    fadvise64 fsync fdatasync sendfile copy_file_range umask
    mremap msync mincore
    futex_wait futex_wake futex_waitv set_robust_list get_robust_list rseq set_tid_address
    arch_prctl membarrier sched_getaffinity sched_getparam sched_getscheduler
    sched_get_priority_max sched_get_priority_min getcpu
    getppid getuid geteuid getgid getegid getgroups getresuid getresgid getpgrp getpgid getsid
    uname sysinfo times getrusage getrlimit setrlimit
    exit exit_group rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack restart_syscall pause
    alarm setitimer getitimer clock_getres clock_nanosleep nanosleep gettimeofday time
"""
ALLOWED = tuple(_ALLOWED.split())

# Call → the errno after which the C library or Python continues without that call.
ANSWERED = {
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
_MAKES_A_FOLDER = ("mkdir", "mkdirat")
_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA = 15, 16, 0x53564D41
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5450, 0x5451)  # is it a terminal, its size, FIONREAD, FIO(N)CLEX
_FCNTLS = (0, 1, 2, 3, 4, 1030)  # duplicate, descriptor flags, status flags

_AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000
_ASK = 0x7FC00000  # SECCOMP_RET_USER_NOTIF; an errno of another filter has precedence

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_IF_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_IF_AT_LEAST = 0x35
_IF_ANY_BIT = 0x45
_RETURN = 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # struct seccomp_data


@dataclass(frozen=True)
class ArgumentRule:
    """Allow a call only if its argument number `argument` (from 0) has one of the values `equals`, or one of the bits
    `any_bit`. Otherwise it fails with `errno`.

    Only the low 32 bits are compared. The kernel, too, uses only these of C ints; the high half of clone's flags has
    nothing that is refused here.
    """

    name: str
    argument: int
    equals: Sequence[int] = ()
    any_bit: int = 0
    errno: int = field(default=errno.EPERM)


def argument_rules(own_pid: int) -> tuple[ArgumentRule, ...]:
    """Return the rules for calls that are allowed in part, for example `clone` for threads but not for processes."""
    return (
        ArgumentRule("clone", 0, any_bit=_CLONE_THREAD),
        ArgumentRule("kill", 0, equals=(own_pid,)),
        ArgumentRule("tgkill", 0, equals=(own_pid,)),
        ArgumentRule("prlimit64", 0, equals=(0, own_pid)),
        ArgumentRule("prctl", 0, equals=(_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA)),
        ArgumentRule("ioctl", 1, equals=_IOCTLS, errno=errno.ENOTTY),
        ArgumentRule("fcntl", 1, equals=_FCNTLS),
    )


def numbers_here() -> Mapping[str, int]:
    return X86_64 if kernel.machine() == "x86_64" else AARCH64


def program(own_pid: int) -> bytes:
    """Return the worker's filter. own_pid: the worker's pid in its own pid namespace."""
    return assemble(ALLOWED, argument_rules(own_pid), ANSWERED, default=errno.EPERM)


def asking_program() -> bytes:
    """Return a filter that asks the supervisor before each call that may make a file or folder, and allows the others.

    The supervisor limits their number, see `disk_quota.py`.
    """
    numbers = numbers_here()
    parts = [_guard_the_numbering()]
    parts += [_answer(numbers[name], _ASK) for name in _MAKES_A_FOLDER if name in numbers]
    for name, flags_at in (("openat", 2), ("open", 1)):
        if name in numbers:
            body = _do(_LOAD, _ARGUMENTS_AT + 8 * flags_at)
            body += _do(_IF_ANY_BIT, _MAKES_A_FILE, 0, 1) + _do(_RETURN, _ASK) + _do(_RETURN, _ALLOW)
            parts += [_do(_IF_EQUAL, numbers[name], 0, len(body) // 8) + body]
    return b"".join([*parts, _do(_RETURN, _ALLOW)])


def assemble(
    allowed: Iterable[str],
    rules: Iterable[ArgumentRule],
    answered: Mapping[str, int],
    default: int | None,
) -> bytes:
    """Build a program from `allowed` calls, argument rules, and `answered`: call → errno.

    `openat` and `open` are always allowed, except what `_open_rule` refuses. default: the errno of all other calls;
    None allows them.
    """
    numbers = numbers_here()
    parts = [_guard_the_numbering()]
    parts += [_answer(numbers[name], _ALLOW) for name in allowed if name in numbers and name != "openat"]
    parts += [_open_rule(numbers["openat"], 2)]
    if "open" in numbers:
        parts += [_open_rule(numbers["open"], 1)]
    parts += [_argument_rule(numbers[rule.name], rule) for rule in rules]
    parts += [_answer(numbers[name], _ERRNO | number) for name, number in answered.items()]
    parts += [_do(_RETURN, _ALLOW if default is None else _ERRNO | default)]
    return b"".join(parts)


def _do(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction, of 8 bytes. if_true, if_false: the number of instructions that a jump skips."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _guard_the_numbering() -> bytes:
    """Kill the process for a call with another numbering; otherwise load the number of the call for comparisons."""
    architecture = _AUDIT_ARCHITECTURE[kernel.machine()]
    code = _do(_LOAD, _ARCHITECTURE_AT) + _do(_IF_EQUAL, architecture, 1, 0) + _do(_RETURN, _KILL_PROCESS)
    code += _do(_LOAD, _NUMBER_AT)
    if kernel.machine() == "x86_64":
        code += _do(_IF_AT_LEAST, _X32_BIT, 0, 1) + _do(_RETURN, _KILL_PROCESS)
    return code


def _answer(number: int, action: int) -> bytes:
    """Return `action` if the loaded value, a call or an argument, is `number`."""
    return _do(_IF_EQUAL, number, 0, 1) + _do(_RETURN, action)


def _argument_rule(number: int, rule: ArgumentRule) -> bytes:
    if rule.any_bit:
        tests = _do(_IF_ANY_BIT, rule.any_bit, 0, 1) + _do(_RETURN, _ALLOW)
    else:
        tests = b"".join(_answer(value, _ALLOW) for value in rule.equals)
    body = _do(_LOAD, _ARGUMENTS_AT + 8 * rule.argument) + tests + _do(_RETURN, _ERRNO | rule.errno)
    return _do(_IF_EQUAL, number, 0, len(body) // 8) + body


def _open_rule(number: int, argument: int) -> bytes:
    """Refuse to truncate through a descriptor for reading: old Landlock versions let that pass. argument: of the flags."""
    body = _do(_LOAD, _ARGUMENTS_AT + 8 * argument)
    body += _do(_IF_ANY_BIT, _O_TRUNC, 0, 2)
    body += _do(_IF_ANY_BIT, _WRITING, 1, 0)
    body += _do(_RETURN, _ERRNO | errno.EPERM)
    body += _do(_RETURN, _ALLOW)
    return _do(_IF_EQUAL, number, 0, len(body) // 8) + body
