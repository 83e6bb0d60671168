"""Numbers of system calls, from the kernel's own headers: those that the filter names, and a few others.

A name that an architecture lacks is absent from its table: there the newer call (openat for open)
is the only one. The aarch64 table is written from asm-generic/unistd.h and has not been run.
"""

from __future__ import annotations

# fmt: off
X86_64: dict[str, int] = {
    "access": 21, "alarm": 37, "arch_prctl": 158, "brk": 12, "chdir": 80, "chmod": 90,
    "clock_getres": 229, "clock_gettime": 228, "clock_nanosleep": 230, "clone": 56, "clone3": 435,
    "close": 3, "copy_file_range": 326, "dup": 32, "dup2": 33, "dup3": 292, "eventfd2": 290,
    "exit": 60, "exit_group": 231, "faccessat": 269, "faccessat2": 439, "fadvise64": 221,
    "fallocate": 285, "fchdir": 81, "fchmod": 91, "fchmodat": 268, "fcntl": 72, "fdatasync": 75,
    "fgetxattr": 193, "flistxattr": 196, "fsetxattr": 190, "fstat": 5, "fstatfs": 138,
    "fsync": 74, "ftruncate": 77, "futex": 202, "futex_wait": 455, "futex_waitv": 449,
    "futex_wake": 454, "get_robust_list": 274, "getcpu": 309, "getcwd": 79, "getdents64": 217,
    "getegid": 108, "geteuid": 107, "getgid": 104, "getgroups": 115, "getitimer": 36,
    "getpgid": 121, "getpgrp": 111, "getpid": 39, "getppid": 110, "getrandom": 318,
    "getresgid": 120, "getresuid": 118, "getrlimit": 97, "getrusage": 98, "getsid": 124,
    "gettid": 186, "gettimeofday": 96, "getuid": 102, "getxattr": 191, "ioctl": 16, "kill": 62,
    "lgetxattr": 192, "listxattr": 194, "llistxattr": 195, "lseek": 8, "lsetxattr": 189,
    "lstat": 6, "madvise": 28, "membarrier": 324, "mincore": 27, "mkdir": 83, "mkdirat": 258,
    "mmap": 9, "mprotect": 10, "mremap": 25, "msync": 26, "munmap": 11, "nanosleep": 35,
    "newfstatat": 262, "open": 2, "openat": 257, "openat2": 437, "pause": 34, "pipe": 22,
    "pipe2": 293, "poll": 7, "ppoll": 271, "prctl": 157, "pread64": 17, "prlimit64": 302,
    "pselect6": 270, "pwrite64": 18, "read": 0, "readlink": 89, "readlinkat": 267, "readv": 19,
    "rename": 82, "renameat": 264, "renameat2": 316, "restart_syscall": 219, "rmdir": 84,
    "rseq": 334, "rt_sigaction": 13, "rt_sigpending": 127, "rt_sigprocmask": 14,
    "rt_sigreturn": 15, "rt_sigsuspend": 130, "rt_sigtimedwait": 128,
    "sched_get_priority_max": 146, "sched_get_priority_min": 147, "sched_getaffinity": 204,
    "sched_getparam": 143, "sched_getscheduler": 145, "sched_yield": 24, "select": 23,
    "sendfile": 40, "set_robust_list": 273, "set_tid_address": 218, "setitimer": 38,
    "setrlimit": 160, "setxattr": 188, "sigaltstack": 131, "stat": 4, "statfs": 137, "statx": 332,
    "sysinfo": 99, "tgkill": 234, "time": 201, "times": 100, "truncate": 76, "umask": 95,
    "uname": 63, "unlink": 87, "unshare": 272, "unlinkat": 263, "utimensat": 280, "write": 1, "writev": 20,
}

AARCH64: dict[str, int] = {
    "brk": 214, "chdir": 49, "clock_getres": 114, "clock_gettime": 113, "clock_nanosleep": 115,
    "clone": 220, "clone3": 435, "close": 57, "copy_file_range": 285, "dup": 23, "dup3": 24,
    "eventfd2": 19, "exit": 93, "exit_group": 94, "faccessat": 48, "faccessat2": 439,
    "fadvise64": 223, "fallocate": 47, "fchdir": 50, "fchmod": 52, "fchmodat": 53, "fcntl": 25,
    "fdatasync": 83, "fgetxattr": 10, "flistxattr": 13, "fsetxattr": 7, "fstat": 80,
    "fstatfs": 44, "fsync": 82, "ftruncate": 46, "futex": 98, "futex_wait": 455,
    "futex_waitv": 449, "futex_wake": 454, "get_robust_list": 100, "getcpu": 168, "getcwd": 17,
    "getdents64": 61, "getegid": 177, "geteuid": 175, "getgid": 176, "getgroups": 158,
    "getitimer": 102, "getpgid": 155, "getpid": 172, "getppid": 173, "getrandom": 278,
    "getresgid": 150, "getresuid": 148, "getrlimit": 163, "getrusage": 165, "getsid": 156,
    "gettid": 178, "gettimeofday": 169, "getuid": 174, "getxattr": 8, "ioctl": 29, "kill": 129,
    "lgetxattr": 9, "listxattr": 11, "llistxattr": 12, "lseek": 62, "lsetxattr": 6,
    "madvise": 233, "membarrier": 283, "mincore": 232, "mkdirat": 34, "mmap": 222,
    "mprotect": 226, "mremap": 216, "msync": 227, "munmap": 215, "nanosleep": 101,
    "newfstatat": 79, "openat": 56, "openat2": 437, "pipe2": 59, "ppoll": 73, "prctl": 167,
    "pread64": 67, "prlimit64": 261, "pselect6": 72, "pwrite64": 68, "read": 63, "readlinkat": 78,
    "readv": 65, "renameat": 38, "renameat2": 276, "restart_syscall": 128, "rseq": 293,
    "rt_sigaction": 134, "rt_sigpending": 136, "rt_sigprocmask": 135, "rt_sigreturn": 139,
    "rt_sigsuspend": 133, "rt_sigtimedwait": 137, "sched_get_priority_max": 125,
    "sched_get_priority_min": 126, "sched_getaffinity": 123, "sched_getparam": 121,
    "sched_getscheduler": 120, "sched_yield": 124, "sendfile": 71, "set_robust_list": 99,
    "set_tid_address": 96, "setitimer": 103, "setrlimit": 164, "setxattr": 5, "sigaltstack": 132,
    "statfs": 43, "statx": 291, "sysinfo": 179, "tgkill": 131, "times": 153, "truncate": 45,
    "umask": 166, "uname": 160, "unshare": 97, "unlinkat": 35, "utimensat": 88, "write": 64, "writev": 66,
}
