"""Attacks on the machine: network, other processes, files, privileges, unusual system calls.

`gated` makes an answer that is right only if the attempt succeeds; with `control`, it succeeds in the tier `basic`.
The numbers in `libc.syscall(…)` are those of x86-64.
"""

from attacks.suite import Attack, control, gated

FAMILY = "reaching the machine"

LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"


def call(id: str, tries: str, expression: str, **more: bool) -> Attack:
    """Return an attack by a raw system call. It succeeds if the call returns at least 0."""
    return gated(id, tries, f"{LIBC}return {expression} >= 0", success="the call succeeds", **more)


ATTACKS = (
    control(
        "connect",
        "connects to a port of the machine",
        "import socket\nsocket.create_connection(('127.0.0.1', @PORT@), 1).send(b'x')\nreturn True",
        "a connection arrives",
    ),
    control(
        "connect-raw",
        "connects by raw system calls",
        LIBC
        + """
import struct
made = libc.socket(2, 1, 0)
address = struct.pack("=H", 2) + struct.pack("!H4s8x", @PORT@, bytes([127, 0, 0, 1]))
return made >= 0 and libc.connect(made, address, 16) == 0
""",
        "a connection arrives",
    ),
    control(
        "datagram",
        "sends a datagram",
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))\nreturn True",
        "a socket is made",
    ),
    call("socket-ipv6", "makes an IPv6 socket", "libc.socket(10, 1, 0)"),
    call("socket-unix", "makes a local socket", "libc.socket(1, 1, 0)", control=True),
    call("socket-netlink", "makes a netlink socket", "libc.socket(16, 3, 0)"),
    call("socket-packet", "makes a packet socket", "libc.socket(17, 3, 768)"),
    call("socket-vsock", "makes a socket to the host of a virtual machine", "libc.socket(40, 1, 0)"),
    call(
        "socket-pair",
        "makes a pair of sockets",
        "libc.socketpair(1, 1, 0, (ctypes.c_int * 2)())",
        control=True,
    ),
    control(
        "resolve",
        "looks up the address of a name",
        "import socket\nreturn socket.getaddrinfo('localhost', 80)",
        "an address is found",
    ),
    gated(
        "download",
        "opens a web page",
        "import urllib.request\nreturn urllib.request.urlopen('http://127.0.0.1:@PORT@', timeout=0.2)",
        "a connection arrives",
    ),
    control(
        "signal-parent",
        "may send signals to the grader's process",
        "os.kill(@PARENT@, 0)\nreturn True",
        "the call succeeds",
    ),
    call("signal-all", "may send signals to every process", "libc.kill(-1, 0)", control=True),
    call("signal-group", "may send signals to its group", "libc.kill(0, 0)"),
    call(
        "signal-by-descriptor",
        "gets a descriptor of the grader's process",
        "libc.syscall(434, @PARENT@, 0)",
        control=True,
    ),
    gated(
        "stop-parent-by-limits",
        "sets a limit of the grader's process",
        "import resource\nresource.prlimit(@PARENT@, resource.RLIMIT_NOFILE, resource.prlimit(@PARENT@, resource.RLIMIT_NOFILE))\nreturn True",
        "the call succeeds",
    ),
    control("read-file", "reads a file of the machine", "return open('@SECRET@').read()", "the file is read"),
    gated(
        "read-ssh-keys",
        "reads keys below every home folder",
        """
        import glob
        return [open(p).read(1) for home in ("/root", *glob.glob("/home/*")) for p in glob.glob(home + "/.ssh/*") + [home + "/.bashrc", home + "/.profile"] if os.path.exists(p)]
        """,
        "a file is read",
    ),
    gated(
        "read-shadow",
        "reads the machine's password file",
        "return open('/etc/shadow').read()",
        "the file is read",
    ),
    control(
        "write-file",
        "plants a file",
        "open('@FOLDER@/planted', 'w').write('x')\nreturn True",
        "the file is there",
    ),
    control(
        "change-file",
        "changes a file of the machine",
        "open('@SECRET@', 'a').write('x')\nreturn True",
        "the file is not what it was",
    ),
    control(
        "empty-file",
        "empties a file that it may only read",
        "os.close(os.open('@SECRET@', os.O_RDONLY | os.O_TRUNC))\nreturn True",
        "the file is empty",
    ),
    control("remove-file", "removes a file", "os.remove('@SECRET@')\nreturn True", "the file is gone"),
    gated(
        "move-folder",
        "moves a folder away",
        "os.rename('@FOLDER@', '@FOLDER@.moved')\nreturn True",
        "the folder is gone",
    ),
    control(
        "plant-link",
        "plants a link that the next reader follows",
        "os.symlink('@SECRET@', 'answer.py')\nreturn True",
        "the link is there",
    ),
    control(
        "hard-link",
        "makes a second name for a file",
        "os.link('@SECRET@', 'copy')\nreturn True",
        "the name is there",
    ),
    gated(
        "site-packages",
        "plants a module among the installed packages",
        "open(os.path.join(os.path.dirname(torch.__file__), 'planted.py'), 'w').close()\nos.remove(os.path.join(os.path.dirname(torch.__file__), 'planted.py'))\nreturn True",
        "the module is there",
    ),
    gated(
        "standard-library",
        "plants a module in the standard library",
        "path = os.path.join(os.path.dirname(os.__file__), 'planted.py')\nopen(path, 'w').close()\nos.remove(path)\nreturn True",
        "the module is there",
    ),
    gated(
        "worker-code",
        "changes the worker's own code on disk",
        "import grader.worker.main as m\nopen(m.__file__, 'r+b').close()\nreturn True",
        "the file can be written",
    ),
    control(
        "run-program",
        "runs a program",
        "import subprocess\nreturn subprocess.run(['touch', '@FOLDER@/touched'], check=True)",
        "the program's file is there",
    ),
    control(
        "shell",
        "runs a shell",
        "return os.system('echo > @FOLDER@/touched') == 0",
        "the shell's file is there",
    ),
    call("raw-exec", "replaces itself by another program", "libc.execve(b'/bin/true', None, None)"),
    call("raw-fork", "forks by a raw call", "(libc.syscall(57) or os._exit(0))", control=True),
    control(
        "daemon",
        "leaves a process behind that writes later",
        """
        import time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for _ in range(50):
                    time.sleep(0.01)
                open("@FOLDER@/daemon", "w").write("still here")
            os._exit(0)
        os.wait()
        return True
        """,
        "the process writes its file",
    ),
    control(
        "multiprocessing",
        "starts a process by multiprocessing",
        "import multiprocessing\np = multiprocessing.get_context('fork').Process(target=int)\np.start()\np.join()\nreturn True",
        "the process runs",
    ),
    call("namespace-user", "makes a user namespace", "libc.unshare(0x10000000)"),
    call("namespace-mount", "makes a mount namespace", "libc.unshare(0x20000)"),
    call("join-namespace", "joins another namespace", "libc.setns(0, 0)"),
    call("mount", "mounts a file system", "libc.mount(b'none', b'.', b'tmpfs', 0, None)"),
    call("chroot", "changes its root", "libc.chroot(b'.')"),
    call("pivot-root", "swaps its root", "libc.syscall(155, b'.', b'.')"),
    call("set-user", "becomes root", "libc.setresuid(0, 0, 0)"),
    call("set-groups", "joins groups", "libc.setgroups(1, (ctypes.c_int * 1)(0))"),
    call("hidden-file", "makes a file that no folder shows", "libc.memfd_create(b'x', 0)", control=True),
    call("shared-memory", "makes shared memory", "libc.shmget(0x5EED, 4096, 0o1666)"),
    gated(
        "shared-memory-file",
        "makes a file in the machine's shared memory",
        "open('/dev/shm/headway-planted', 'w').close()\nreturn True",
        "the file is there",
    ),
    call("message-queue", "makes a message queue", "libc.msgget(0x5EED, 0o1666)"),
    call("bpf", "loads a program into the kernel", "libc.syscall(321, 0, None, 0)"),
    call(
        "io-uring",
        "sets up an io_uring, whose operations bypass the filter of system calls",
        "libc.syscall(425, 1, (ctypes.c_char * 120)())",
    ),
    call("userfaultfd", "asks to handle page faults", "libc.syscall(323, 0)"),
    call(
        "perf",
        "reads the performance counters of the machine",
        "libc.syscall(298, (ctypes.c_char * 128)(112), 0, -1, -1, 0)",
    ),
    call("keys", "adds a key to the kernel's keyring", "libc.syscall(248, b'user', b'x', b'x', 1, -3)"),
    call("open-by-handle", "opens a file by its handle", "libc.syscall(304, -100, b'\\0' * 16, 0)"),
    call("kernel-module", "loads a kernel module", "libc.syscall(313, 0, b'', 0)"),
    call("clock", "sets the clock", "libc.syscall(227, 0, (ctypes.c_long * 2)(-1, -1))"),
    call("second-filter", "replaces the filter of system calls", "libc.prctl(22, 2, 0, 0, 0)"),
    call("outlive-parent", "asks not to be killed when the grader ends", "libc.prctl(1, 0, 0, 0, 0)"),
    call("terminal-input", "types into the terminal", "libc.ioctl(0, 0x5412, b'x')"),
    gated(
        "raise-limits",
        "raises its own limits",
        "import resource\nsoft, hard = resource.getrlimit(resource.RLIMIT_AS)\nresource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)\nreturn True",
        "the limit is gone",
    ),
    gated("raw-memory", "opens the machine's memory", "return open('/dev/mem', 'rb').read(1)", "it is read"),
    gated(
        "raw-disk",
        "opens a disk",
        "return [open('/dev/' + d, 'rb').read(1) for d in os.listdir('/dev') if d.startswith(('sd', 'vd', 'nvme', 'loop'))]",
        "it is read",
    ),
    gated(
        "kernel-settings",
        "opens the kernel's settings for writing",
        "return os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
        "it is opened",
    ),
    gated(
        "other-workers-folders",
        "looks into the folders of other workers",
        """
        import glob
        return [p for p in glob.glob("/tmp/headway-*/*/*") + glob.glob("/var/tmp/headway-*/*") if not p.startswith(os.getcwd())]
        """,
        "a file is seen",
    ),
    control(
        "set-user-bit",
        "makes a program that runs as its owner",
        "open('program', 'w').close()\nos.chmod('program', 0o4777)\nreturn os.stat('program').st_mode & 0o4000",
        "the bit is set",
    ),
)
