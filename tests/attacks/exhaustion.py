"""Attacks that use up time, memory, disk or processes.

`gated` makes an answer that is right only if the attempt succeeds; with `control`, it succeeds in the tier `basic`.
Some write into the reply pipe: descriptor 4 in `strict` and `landlock`; in `basic`, `sys.argv[2]` is its number.
"""

from functools import partial

from attacks.suite import WRONG, Attack, calling, control, wrong

FAMILY = "exhaustion"


def loaded(id: str, tries: str, statements: str) -> Attack:
    """Return an attack that uses up a resource when it is loaded."""
    return wrong(
        id, tries, statements, success="the grader waits, or the next submission suffers", exhausts=True
    )


def called(id: str, tries: str, body: str, **more: bool) -> Attack:
    """Return an attack that uses up a resource in the call."""
    success = "the grader waits, or the next submission suffers"
    return calling(id, tries, body, success=success, exhausts=True, **more)


source = partial(Attack, exhausts=True)
ATTACKS = (
    called(
        "stack-on-one-line",
        "prints 120 KB that look like the start of a stack, on one line, and exits",
        "os.write(2, b'Timeout (0:00:01)!' + b'File \"' * 20_000 + b'\\n')\nos._exit(1)",
    ),
    called("loop", "loops for ever", "while True: pass", every_tier=True),
    called("sleep", "sleeps for ever", "import time\ntime.sleep(1e6)"),
    called(
        "deadlock",
        "waits for a lock that no thread releases",
        "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    ),
    called(
        "regular-expression",
        "holds the interpreter inside a C call",
        "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    ),
    called("big-number", "computes a number of a billion digits", "10 ** 10 ** 9"),
    called(
        "ignored-signals",
        "ignores every signal and loops",
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: pass",
        every_tier=True,
    ),
    called(
        "no-watchdog",
        "ends the watchdog and loops",
        "import faulthandler\nfaulthandler.cancel_dump_traceback_later()\nwhile True: pass",
    ),
    loaded(
        "endless-top-level", "does not finish loading", "import itertools\nfor _ in itertools.count(): pass"
    ),
    loaded(
        "many-endless-statements",
        "has more endless statements than the grader skips",
        "while True: pass\nwhile True: pass\nwhile True: pass\nwhile True: pass\nwhile True: pass",
    ),
    called(
        "forks",
        "forks as often as it can",
        "for _ in range(500):\n    try:\n        if os.fork() == 0: os._exit(0)\n    except OSError: pass",
        every_tier=True,
    ),
    called(
        "threads",
        "starts threads until it fails",
        "import threading, time\nfor _ in range(5000): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
        every_tier=True,
    ),
    called(
        "memory",
        "takes memory until it fails",
        "kept = []\nwhile True: kept.append(torch.ones(1 << 24))",
        every_tier=True,
    ),
    called(
        "memory-in-small-pieces", "takes memory in small pieces", "kept = []\nwhile True: kept.append([kept])"
    ),
    called("memory-at-once", "asks for more memory than there is", "return torch.ones(1 << 44)"),
    called(
        "disk",
        "fills the disk",
        "with open('big', 'wb') as f:\n    while True: f.write(bytes(1 << 20))",
        every_tier=True,
    ),
    called("inodes", "makes files until it fails", "for n in range(100000): open(f'f{n}', 'w').close()"),
    called(
        "deep-folders",
        "makes folders within folders",
        "for _ in range(100000):\n    os.mkdir('d')\n    os.chdir('d')",
    ),
    control(
        "disk-reserved",
        "reserves disk for many files without writing",
        "held = [open(f'f{n}', 'wb') for n in range(8)]\n"
        "for f in held:\n"
        "    try: os.posix_fallocate(f.fileno(), 0, 16 << 20)\n"
        "    except OSError: pass\n"
        "return sum(os.fstat(f.fileno()).st_blocks for f in held) * 512 > 100 << 20",
        success="more disk than one submission may take",
    ),
    control(
        "disk-deleted-files",
        "fills files that it deletes and keeps open",
        "held = []\n"
        "for n in range(100):\n"
        "    with open(f'f{n}', 'wb', 0) as f:\n"
        "        held.append(os.dup(f.fileno()))\n"
        "        os.unlink(f.name)\n"
        "for d in held: os.posix_fallocate(d, 0, 8 << 20)\n"
        "return sum(os.fstat(d).st_blocks for d in held) * 512 > 520 << 20",
        success="more disk than one submission may take",
    ),
    called("output", "prints without end", "while True: print('x' * 4096)"),
    called("output-of-errors", "prints without end to stderr", "while True: os.write(2, b'x' * 4096)"),
    called(
        "closed-output", "closes stdout and stderr, and loops", "os.close(1)\nos.close(2)\nwhile True: pass"
    ),
    called(
        "huge-header",
        "announces a reply of four gigabytes",
        "import struct\nfor fd in range(3, 64):\n    try: os.write(fd, struct.pack('<II', 0xFFFFFFFF, 0xFFFFFFFF))\n    except OSError: pass\nwhile True: pass",
    ),
    called(
        "slow-reply",
        "sends its reply a byte at a time",
        "import struct, time\nfor byte in struct.pack('<II', 5000, 0) + b' ' * 5000:\n    for fd in (4, int(sys.argv[2]) if len(sys.argv) > 2 else 4):\n        os.write(fd, bytes([byte]))\n    time.sleep(0.01)",
    ),
    called(
        "reply-without-end",
        "writes into the reply pipe without end",
        "import struct\nfd = int(sys.argv[2]) if len(sys.argv) > 2 else 4\nos.write(fd, struct.pack('<II', 100, 60 << 20))\nwhile True: os.write(fd, b' ' * 65536)",
    ),
    called(
        "giant-view",
        "returns a giant tensor with one value in memory",
        "return torch.zeros(1).expand(1 << 40)",
    ),
    called("large-result", "returns a tensor of 16 million values", "return torch.zeros(1 << 24)"),
    called("many-axes", "returns a tensor of sixty axes", "return torch.zeros([1] * 60)"),
    called(
        "empty-with-huge-axes",
        "returns an empty tensor with huge axes",
        "return torch.empty(0, 1 << 40, 1 << 20)",
    ),
    called(
        "endless-words",
        "raises an exception whose `__str__` never returns",
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
    ),
    called("long-words", "raises an exception with a text of 100 MB", "raise ValueError('x' * 100_000_000)"),
    called(
        "long-name",
        "raises an exception with a name of 1 MB",
        "raise type('E' * 1_000_000, (Exception,), {})()",
    ),
    called(
        "endless-attribute",
        "returns an object whose `__getattr__` and `__class__` never return",
        "class A:\n    def __getattr__(self, n):\n        while True: pass\n    __class__ = property(lambda self: [1 for _ in iter(int, 1)])\nreturn A()",
    ),
    called(
        "endless-end",
        "deletes an object whose `__del__` never returns",
        "class D:\n    def __del__(self):\n        while True: pass\nD()",
    ),
    called("segfault", "crashes the interpreter", "import ctypes\nctypes.string_at(0)", every_tier=True),
    called("abort", "aborts", "os.abort()"),
    called("recursion", "calls itself for ever", "return masked_softmax(X, valid_lens)"),
    called(
        "recursion-without-limit",
        "calls itself for ever, without Python's limit",
        "sys.setrecursionlimit(1 << 30)\nreturn masked_softmax(X, valid_lens)",
    ),
    called(
        "warnings",
        "warns for ever",
        "import warnings\nwarnings.simplefilter('always')\nwhile True: warnings.warn('x' * 1000)",
    ),
    called(
        "inflated",
        "inflates a few bytes to gigabytes",
        "import zlib\ndata = zlib.compress(bytes(1 << 24))\nkept = [zlib.decompress(data) for _ in range(4096)]",
    ),
    called(
        "cpu-threads",
        "computes in many threads at once",
        "torch.set_num_threads(64)\nwhile True: torch.ones(900, 900) @ torch.ones(900, 900)",
    ),
    source(
        "deep-nesting",
        "is nested too deeply to be read",
        "x = " + "(" * 20000 + ")" * 20000 + "\nimport torch\n" + WRONG,
    ),
    source(
        "deep-minus",
        "is a chain that overflows the compiler's stack",
        "x = " + "-" * 50000 + "1\nimport torch\n" + WRONG,
    ),
    source(
        "constant-folding",
        "has the compiler fold a giant constant",
        "import torch\nx = ('x' * 4096) * 4096 * 4096\ny = 1 << 1 << 40\n" + WRONG,
    ),
    source("many-definitions", "defines the exercise ten thousand times", "import torch\n" + WRONG * 10_000),
)
