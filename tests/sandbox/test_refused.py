"""A confined worker cannot make these system calls, reach private files or the network, or exceed its limits."""

from __future__ import annotations

import os
import signal
import socket
import struct
from pathlib import Path

import pytest

from grader.sandbox import landlock
from grader.sandbox.launcher import SandboxLauncher
from grader.sandbox.server import Program
from grader.sandbox.visible_paths import DEVICES, site_folders

# These tests make raw system calls, because a Python function may refuse before the kernel does.
RAW = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def errno_of(result):
    return ctypes.get_errno() if result < 0 else 0
"""
EPERM, ENOTTY, ENOSYS = 1, 25, 38
RAW_CALLS = {
    "fork": "libc.fork()",
    "vfork by clone": "libc.syscall(56, 0x4000 | 17, 0, 0, 0, 0)",
    "exec": "libc.execve(b'/usr/bin/true', None, None)",
    "a network socket": "libc.socket(2, 1, 0)",
    "a local socket": "libc.socket(1, 1, 0)",
    "a netlink socket": "libc.socket(16, 3, 0)",
    "a pair of sockets": "libc.socketpair(1, 1, 0, (ctypes.c_int * 2)())",
    "unshare": "libc.unshare(0x10000000)",
    "setns": "libc.setns(0, 0)",
    "mount": "libc.mount(b'/dev', b'/dev', None, ctypes.c_ulong(4096), None)",
    "umount": "libc.umount2(b'/scratch', 2)",
    "chroot": "libc.chroot(b'.')",
    "memfd_create": "libc.memfd_create(b'x', 0)",
    "shared memory": "libc.shmget(0, 4096, 0o1600)",
    "a message queue": "libc.msgget(0, 0o1600)",
    "ptrace": "libc.ptrace(0, 0, 0, 0)",
    "memory of another process": "libc.process_vm_readv(1, None, 0, None, 0, 0)",
    "setuid": "libc.setuid(0)",
    "keys": "libc.syscall(250, 0, -3, 0, 0)",
    "bpf": "libc.syscall(321, 0, 0, 0)",
    "io_uring": "libc.syscall(425, 1, 0)",
    "userfaultfd": "libc.syscall(323, 0)",
    "perf events": "libc.syscall(298, 0, 0, 0, 0, 0)",
    "pidfd_open": "libc.syscall(434, 1, 0)",
    "open by handle": "libc.syscall(304, -100, 0, 0)",
    "the parent's death signal": "libc.prctl(1, 0, 0, 0, 0)",
    "being traceable": "libc.prctl(4, 1, 0, 0, 0)",
    "a second filter": "libc.prctl(22, 2, 0, 0, 0)",
    "signals to all": "libc.kill(-1, 0)",
    "signals to the group": "libc.kill(0, 0)",
    "limits of another process": "libc.prlimit(2, 7, None, None)",
    "chmod": "libc.chmod(b'.', 0o777)",
    "a named pipe": "libc.mkfifo(b'pipe', 0o600)",
    "a link": "libc.symlink(b'/etc', b'link')",
    "a file lock": "libc.flock(0, 2)",
    "the host name": "libc.sethostname(b'x', 1)",
    "priority": "libc.setpriority(0, 0, -5)",
    "terminal input": "libc.ioctl(0, 0x5412, b'x')",
}
NUMBERED = {name for name, call in RAW_CALLS.items() if "syscall(" in call}


@pytest.mark.parametrize("name", RAW_CALLS)
def test_system_call_is_refused(worker, name):
    if name in NUMBERED and os.uname().machine != "x86_64":
        pytest.skip("the numbers are those of x86-64")
    reply = worker.ask(RAW + f"answer = errno_of({RAW_CALLS[name]})")
    assert reply == {"answer": ENOTTY if name == "terminal input" else EPERM}


def test_clone3_falls_back_to_clone(worker):
    """The error says that clone3 does not exist, so libc calls clone."""
    assert worker.ask(RAW + "answer = errno_of(libc.syscall(435, None, 0))") == {"answer": ENOSYS}


# Honest code that the sandbox refuses → part of the message.
SENTENCES = {
    "import subprocess; subprocess.run(['ls'])": "starts no other programs",
    "import os; os.system('ls')": "starts no other programs",
    "import os; os.fork()": "starts no other programs",
    "import multiprocessing; multiprocessing.Process(target=print).start()": "starts no other programs",
    "import socket; socket.create_connection(('127.0.0.1', 1))": "no network",
    "import urllib.request; urllib.request.urlopen('http://127.0.0.1')": "no network",
    "import torch\nfrom torch.utils.data import *\n"
    "next(iter(DataLoader(TensorDataset(torch.ones(4)), num_workers=2)))": "num_workers=0",
}


@pytest.mark.parametrize("source", SENTENCES)
def test_a_refusal_of_honest_code_is_explained_in_a_sentence(worker, source):
    error = worker.ask(source)["error"]
    assert "sandbox" in error
    assert SENTENCES[source] in error


def test_files_of_the_machine_cannot_be_read(worker, tmp_path):
    secret = tmp_path / "seed"
    secret.write_text("17")
    tmp_path.chmod(0o755)
    root = Path(__file__).parents[2]
    paths = [secret, root / "pyproject.toml", root / "grader" / "sandbox" / "base.py", Path(__file__)]
    paths += [Path("/etc/shadow"), Path("/etc/group"), Path("/etc/hostname"), Path("/root/.bashrc")]
    paths += [Path(f"/proc/{os.getpid()}/environ"), Path("/proc/1/environ"), Path("/proc/self/environ")]
    for path in paths:
        error = worker.ask(f"answer = open({str(path)!r}, 'rb').read(4).hex()").get("error", "")
        assert error.startswith(("FileNotFoundError", "PermissionError")), f"{path} was read"


def test_home_folders_show_no_private_files(worker):
    for home in {"/home", "/root", os.path.expanduser("~")}:
        listed = worker.ask(f"import os; answer = os.listdir({home!r})").get("answer", [])
        assert not {".ssh", ".cache", ".config", ".bashrc", ".profile"} & set(listed), f"{home}: {listed}"


def test_only_the_workers_part_of_the_project_can_be_read(worker):
    package = Path(__file__).parents[2] / "grader"
    readable = worker.ask(f"""
        import os
        answer = []
        for folder, _, names in os.walk({str(package)!r}):
            for name in names:
                try:
                    open(os.path.join(folder, name)).close()
                    answer.append(os.path.relpath(folder, {str(package)!r}).split(os.sep)[0])
                except OSError:
                    pass
        """)["answer"]
    assert set(readable) <= {"worker"}
    reply = worker.ask(f"answer = open({str(package / 'worker' / '__init__.py')!r}).read(1)")
    assert "answer" in reply


def test_only_modules_of_the_worker_can_be_imported(worker):
    for name in (
        "grader.judge",
        "grader.sandbox",
        "grader.sandbox.base",
        "grader.bundle.model",
        "grader.given",
    ):
        assert worker.ask(f"import {name}")["error"].startswith("ModuleNotFoundError"), name


def test_nothing_outside_the_scratch_folder_can_be_written(worker, tmp_path):
    tmp_path.chmod(0o777)
    places = [tmp_path, Path(os.__file__).parent, Path("/usr/lib"), Path("/etc"), Path("/"), Path("/dev")]
    for place in places:
        reply = worker.ask(f"open({str(place / 'planted')!r}, 'w')")
        assert "error" in reply, f"{place} was written"
    assert not (tmp_path / "planted").exists()


def test_strict_uses_landlock_too(worker):
    """Mounts and permissions allow writing to /dev/zero; landlock refuses it."""
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    assert worker.ask("open('/dev/zero', 'wb')")["error"].startswith("PermissionError")
    assert worker.ask("open('/dev/null', 'wb').write(b'x'); answer = 1") == {"answer": 1}


def test_the_machines_network_cannot_be_reached(worker):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        address = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, bytes([127, 0, 0, 1]))
        worker.ask(RAW + f"libc.connect(libc.socket(2, 1, 0), {address!r}, 16)")
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_worker_has_only_its_own_descriptors(worker):
    found = worker.ask("""
        import os
        answer = []
        for number in range(1024):
            try:
                os.fstat(number)
                answer.append(number)
            except OSError:
                pass
        """)["answer"]
    assert found == [0, 1, 2, 3, 4]


def test_argv_variables_and_modules_show_no_trace_of_the_server(worker):
    arguments, original_arguments, environment, modules = worker.ask("""
        import os, sys
        answer = [sys.argv, sys.orig_argv, sorted(os.environ), [m for m in sys.modules if "sandbox" in m]]
        """)["answer"]
    assert arguments == original_arguments == ["worker"]
    assert environment == [
        "CUDA_VISIBLE_DEVICES",
        "HOME",
        "LC_ALL",
        "LOGNAME",
        "OMP_NUM_THREADS",
        "TMPDIR",
        "TORCHDYNAMO_DISABLE",
        "USER",
    ]
    assert modules == []


def test_a_worker_has_no_privileges_and_one_thread(worker):
    status = worker.status()
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert status["Threads"] == "1"
    if os.geteuid() == 0:
        assert status["Uid"].split()[0] != "0"


def test_strict_gives_a_worker_its_own_namespaces(tier, worker):
    if tier != "strict":
        pytest.skip("only strict has namespaces")
    assert worker.status()["NSpid"].split()[-1] == "1"
    assert worker.status()["CapBnd"] == "0" * 16
    assert worker.ask("import os; answer = [os.getpid(), os.getppid(), os.uname().nodename]") == {
        "answer": [1, 0, "headway"]
    }
    if os.geteuid() == 0:  # another user cannot read the links in /proc
        for kind in ("mnt", "net", "ipc", "uts", "pid"):
            assert os.readlink(f"/proc/{worker.pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}"), kind


def test_strict_mounts_only_the_scratch_folder_writable(tier, worker):
    if tier != "strict" or os.geteuid() != 0:
        pytest.skip("only strict has mounts, only root may see those of a confined process")
    lines = [line.split() for line in Path(f"/proc/{worker.pid}/mountinfo").read_text().splitlines()]
    writable = {line[4] for line in lines if "ro" not in line[5].split(",")}
    assert writable == {"/scratch", *DEVICES}
    assert all("nosuid" in line[5] for line in lines if line[4] not in DEVICES)


def test_no_process_may_trace_a_worker(worker):
    """The files in /proc of a process that cannot be traced belong to root."""
    assert os.stat(f"/proc/{worker.pid}/environ").st_uid == 0


def test_pth_files_cannot_be_read(worker):
    """They may contain the path of the project."""
    for site in site_folders():
        for path in Path(site).glob("*.pth"):
            reply = worker.ask(f"answer = open({str(path)!r}).read()")
            assert reply.get("answer", "") == "", path


def test_two_workers_share_no_folder(start):
    first, second = start(), start()
    first.ask("open('mine', 'w').write('answer')")
    where = first.ask("import os; answer = os.getcwd()")["answer"]
    assert second.ask("import os; answer = os.listdir('.')") == {"answer": []}
    assert "error" in second.ask(f"answer = open({where!r} + '/mine').read()")


def test_a_worker_can_signal_only_itself(worker):
    assert worker.ask("import os; os.kill(os.getpid(), 0); answer = 1") == {"answer": 1}
    assert worker.ask(f"import os; os.kill({os.getpid()}, 0)")["error"].startswith("PermissionError")


# 6 is SIGABRT, 11 is SIGSEGV. The first process of a pid namespace ignores SIGABRT; then `abort` ends with SIGSEGV.
@pytest.mark.parametrize(("source", "ended"), [("os.abort()", {6, 11}), ("ctypes.string_at(0)", {11})])
def test_a_crash_ends_only_its_own_worker(start, source, ended):
    crashed = start()
    assert crashed.ask("import ctypes, os, signal; " + source).signal in ended
    assert start().ask("answer = 1") == {"answer": 1}


def test_cpu_time_is_bounded(start):
    end = start(cpu_seconds=1).ask("while True: pass")
    assert end.signal == signal.SIGKILL


# The limit is 1 GiB; 15 << 26 is 0.94 GiB, 17 << 26 is 1.06 GiB.
def test_memory_is_bounded(start):
    assert start(memory_bytes=1 << 30).ask("x = bytearray(15 << 26)") == {"answer": None}
    assert start(memory_bytes=1 << 30).ask("x = bytearray(17 << 26)")["error"].startswith("MemoryError")


def test_memory_that_libraries_map_does_not_count(tier, start):
    """A torch that was built for CUDA maps three gigabytes, with a GPU or without."""
    with SandboxLauncher(
        tier, Program("standin_vast:serve", code=(str(Path(__file__).with_name("entries")),))
    ) as vast:
        assert start(vast, memory_bytes=1 << 30).ask("x = bytearray(15 << 26)") == {"answer": None}
        refused = start(vast, memory_bytes=1 << 30).ask("x = bytearray(17 << 26)")
        assert refused["error"].startswith("MemoryError")


def test_disk_space_and_files_are_bounded(tier, start):
    small = start(file_bytes=1 << 20)
    assert small.ask("open('a', 'wb').write(bytes(2 << 20))")["error"].startswith("OSError")
    if tier == "strict":
        filled = small.ask("for n in range(4): open(f'f{n}', 'wb').write(bytes(400 << 10))")
        assert "No space left" in filled["error"]
        entries = small.ask("for n in range(5000): open(f'e{n}', 'w').close()")
        assert "No space left" in entries["error"]


def test_threads_are_bounded_for_each_worker_alone(start):
    """The threads of the first worker, which still run, do not count for the second."""
    start_threads = """
        import threading
        go, n = threading.Event(), 0
        threads = []
        try:
            for n in range(200):
                threads.append(threading.Thread(target=go.wait))
                threads[-1].start()
        except RuntimeError:
            pass
        answer = n
        """
    first, second = start(processes=30), start(processes=30)
    assert first.ask(start_threads)["answer"] <= 30
    assert second.ask(start_threads)["answer"] >= 25


def test_limits_cannot_be_raised(start):
    for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_NOFILE"):
        reply = start().ask(f"""
            import resource
            soft, hard = resource.getrlimit(resource.{name})
            assert soft == hard, (soft, hard)
            resource.setrlimit(resource.{name}, (hard + 1, hard + 1))
            """)
        assert reply["error"].startswith(("ValueError", "PermissionError", "OSError")), name
