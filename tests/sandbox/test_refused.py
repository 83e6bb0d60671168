"""What a confined worker cannot do, besides what the canaries and the attacks in tests/attacks/ try."""

import os
import signal
from pathlib import Path

import pytest

from grader.sandbox import landlock
from grader.sandbox.base import Program
from grader.sandbox.launcher import SandboxLauncher
from grader.sandbox.visible_paths import DEVICES

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


@pytest.mark.parametrize("name", ["grader.sandbox.base", "grader.given"])
def test_modules_that_the_server_imported_cannot_be_imported(worker, name):
    assert worker.ask(f"import {name}")["error"].startswith("ModuleNotFoundError")


def test_strict_uses_landlock_too(worker):
    """Mounts and permissions allow writing to /dev/zero; landlock refuses it."""
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    assert worker.ask("open('/dev/zero', 'wb')")["error"].startswith("PermissionError")
    assert worker.ask("open('/dev/null', 'wb').write(b'x'); answer = 1") == {"answer": 1}


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
    assert worker.capabilities == ["0" * 16]
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


def test_cpu_time_is_bounded(start):
    end = start(cpu_seconds=1).ask("while True: pass")
    assert end == -signal.SIGKILL


def test_memory_that_libraries_map_does_not_count(tier, plain, start):
    """A torch that was built for CUDA maps three gigabytes, with a GPU or without."""
    program = Program("standin:serve", prepare="standin:take_address_space", code=plain.code)
    with SandboxLauncher(tier, program) as vast:
        assert start(vast, memory_bytes=1 << 30).ask("x = bytearray(15 << 26)") == {"answer": None}
        refused = start(vast, memory_bytes=1 << 30).ask("x = bytearray(17 << 26)")
        assert refused["error"].startswith("MemoryError")


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


def test_limits_cannot_be_raised(worker):
    names = ["AS", "CPU", "NPROC", "FSIZE", "NOFILE"]
    reply = worker.ask(f"""
        import resource
        answer = {{}}
        for name in {names}:
            limit = getattr(resource, "RLIMIT_" + name)
            soft, hard = resource.getrlimit(limit)
            try:
                resource.setrlimit(limit, (soft, hard + 1))
            except (ValueError, OSError):
                answer[name] = soft == hard
        """)
    assert reply == {"answer": dict.fromkeys(names, True)}
