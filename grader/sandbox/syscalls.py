"""System calls: those that a worker may make, and the numbers of all that the sandbox names.

Each row has the name, the number on x86-64, and the number on aarch64, from the kernel's headers; "-": there the newer
call (openat for open) is the only one. The numbers of aarch64 have not been run.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache

from grader.sandbox.base import SandboxError

# A worker may make these with any arguments. Frequent ones first: the filter is read from the top at every call.
_ALLOWED = """
    read 0 63, write 1 64, futex 202 98, mmap 9 222, munmap 11 215, madvise 28 233, mprotect 10 226,
    clock_gettime 228 113, close 3 57, fstat 5 80, newfstatat 262 79, lseek 8 62, brk 12 214,
    sched_yield 24 124, getrandom 318 278, gettid 186 178, getpid 39 172, rt_sigprocmask 14 135,
    rt_sigaction 13 134, rt_sigreturn 15 139, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68,
    stat 4 -, lstat 6 -, statx 332 291, statfs 137 43, fstatfs 138 44, access 21 -, faccessat 269 48,
    faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents64 217 61, getcwd 79 17, chdir 80 49,
    fchdir 81 50, dup 32 23, dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59, eventfd2 290 19, poll 7 -,
    ppoll 271 73, select 23 -, pselect6 270 72, unlink 87 -, unlinkat 263 35, mkdir 83 -, mkdirat 258 34,
    rmdir 84 -, rename 82 -, renameat 264 38, renameat2 316 276, ftruncate 77 46, fadvise64 221 223,
    fsync 74 82, fdatasync 75 83, sendfile 40 71, copy_file_range 326 285, umask 95 166, mremap 25 216,
    msync 26 227, mincore 27 232, futex_wait 455 455, futex_wake 454 454, futex_waitv 449 449,
    set_robust_list 273 99, get_robust_list 274 100, rseq 334 293, set_tid_address 218 96, arch_prctl 158 -,
    membarrier 324 283, sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120,
    sched_get_priority_max 146 125, sched_get_priority_min 147 126, getcpu 309 168, getppid 110 173,
    getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177, getgroups 115 158, getresuid 118 148,
    getresgid 120 150, getpgrp 111 -, getpgid 121 155, getsid 124 156, uname 63 160, sysinfo 99 179,
    times 100 153, getrusage 98 165, getrlimit 97 163, setrlimit 160 164, exit 60 93, exit_group 231 94,
    rt_sigpending 127 136, rt_sigsuspend 130 133, rt_sigtimedwait 128 137, sigaltstack 131 132,
    restart_syscall 219 128, pause 34 -, alarm 37 -, setitimer 38 103, getitimer 36 102,
    clock_getres 229 114, clock_nanosleep 230 115, nanosleep 35 101, gettimeofday 96 169, time 201 -
"""

# Those that a rule of `seccomp.py` decides.
_RULED = """
    open 2 -, openat 257 56, clone 56 220, kill 62 129, tgkill 234 131, prlimit64 302 261, prctl 157 167,
    ioctl 16 29, fcntl 72 25, clone3 435 435, openat2 437 437, fallocate 285 47, getxattr 191 8,
    lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13,
    setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7
"""

# Those that only the sandbox makes; see `kernel.py`.
_CONFINING = """
    unshare 272 97, setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41, mount_setattr 442 442,
    capset 126 91, close_range 436 436, landlock_create_ruleset 444 444, landlock_add_rule 445 445,
    landlock_restrict_self 446 446, seccomp 317 277
"""


@cache
def machine() -> str:
    """Return the CPU architecture: "x86_64" or "aarch64". Raises SandboxError for any other."""
    name = platform.machine()
    if name not in NUMBERS:
        raise SandboxError(f"unsupported CPU {name}: system-call tables exist for x86_64 and aarch64")
    return name


def numbers() -> Mapping[str, int]:
    """Return the number of each call that this machine has. Raises SandboxError as `machine` does."""
    return NUMBERS[machine()]


def _numbers(column: int) -> Mapping[str, int]:
    rows = [row.split() for part in (_ALLOWED, _RULED, _CONFINING) for row in part.split(",")]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


NUMBERS = {"x86_64": _numbers(1), "aarch64": _numbers(2)}
ALLOWED = tuple(row.split()[0] for row in _ALLOWED.split(","))
