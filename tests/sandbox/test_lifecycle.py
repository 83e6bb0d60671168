"""Servers and workers from start to end: workers are used once, dead servers are replaced, nothing is left."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pytest
from helpers.leftovers import left_since, traces
from helpers.waiting import runs, within

from grader.sandbox import packets
from grader.sandbox.base import Limits, Program, SandboxError
from grader.sandbox.launcher import SandboxLauncher, Server


def descendants(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def gone(processes: list[psutil.Process]) -> bool:
    """Wait, and return whether all end."""
    return within(60, lambda: not any(map(runs, processes)))


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Use a separate folder for temporary files, so that it only has those of the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_worker_is_used_once(own_launcher, start):
    first, second = start(own_launcher), start(own_launcher)
    where = first.ask("""
        import builtins, os
        builtins.mark, answer = 1, os.path.abspath("mark")
        open(answer, "w").close()
        """)["answer"]
    assert second.pid != first.pid
    looks = "import builtins, os; answer = [hasattr(builtins, 'mark'), os.listdir('.')]"
    for other in (second, start(own_launcher)):
        assert other.ask(looks) == {"answer": [False, []]}
        assert "error" in other.ask(f"open({where!r})")


def test_a_worker_ends_when_its_pipe_is_closed(own_launcher):
    process = own_launcher.start(Limits())
    os.close(process.to_worker)
    end = process.wait()
    process.to_worker = os.open("/dev/null", os.O_WRONLY)  # `close` closes it
    process.close()
    assert end == 0


def test_kill_and_close_may_be_repeated(own_launcher):
    process = own_launcher.start(Limits())
    process.kill()
    process.kill()
    assert process.wait() == -signal.SIGKILL
    process.close()
    process.close()
    own_launcher.close()
    own_launcher.close()
    with pytest.raises(SandboxError, match="launcher is closed"):
        own_launcher.start(Limits())


def test_waiting_for_a_running_worker_raises_an_error(own_launcher, start):
    with pytest.raises(SandboxError, match="still runs after"):
        start(own_launcher).process.wait(timeout=0.05)


def test_an_exception_of_the_program_is_in_the_log(tier, plain, start):
    broken = Program("standin:fail", code=plain.code)
    with SandboxLauncher(tier, broken, ahead=False) as launcher:
        worker = start(launcher)
        assert worker.process.wait() == 1
        assert "ValueError: on purpose" in worker.log


@pytest.mark.parametrize(
    ("entry", "prepare", "reason"),
    [
        ("nowhere:serve", "", "No module named 'nowhere'"),
        ("standin:serve", "standin:start_a_thread", "the server has 2 threads instead of one"),
        ("standin:serve", "standin:die", "the worker server exited 3 times; its last output: last words"),
    ],
)
def test_a_program_that_cannot_be_served_is_given_up(tier, plain, entry, prepare, reason):
    program = Program(entry, prepare=prepare, code=plain.code)
    with SandboxLauncher(tier, program) as launcher, pytest.raises(SandboxError, match=reason):
        launcher.start(Limits())


def test_preparation_runs_once_in_the_server(tier, plain, start):
    program = Program("standin:serve", prepare="standin:prepare", code=plain.code)
    with SandboxLauncher(tier, program) as launcher:
        for _ in range(2):
            worker = start(launcher)
            assert worker.ask("import standin; answer = standin.prepared") == {"answer": [1]}
            assert worker.ask("import os, tempfile; answer = tempfile.gettempdir() == os.getcwd()") == {
                "answer": True
            }


def test_limits_that_cannot_be_set_stop_the_start(own_launcher):
    with pytest.raises(SandboxError, match="RLIMIT_NPROC"):
        own_launcher.start(Limits(processes=-5))
    own_launcher.start(Limits()).close()


def test_workers_forked_ahead_have_the_requested_limits(own_launcher, start):
    source = "import resource; answer = resource.getrlimit(resource.RLIMIT_CPU)[0]"
    for seconds in (7, 7, 9, 7):
        assert start(own_launcher, cpu_seconds=seconds).ask(source) == {"answer": seconds}


def test_a_ready_worker_that_died_is_not_returned(own_launcher, start):
    start(own_launcher)
    ready = own_launcher._spare
    ready.wait_until_ready(time.monotonic() + 60)
    ready.kill()
    ready.wait()
    assert start(own_launcher).ask("answer = 1") == {"answer": 1}


def test_receive_raises_if_no_message_is_there():
    """Some versions of Python ignore the flags of `socket.recv_fds`; a thread would then hang if another took the message."""
    receiver, sender = packets.pair()
    with receiver, sender:
        with pytest.raises(TimeoutError):
            packets.receive(receiver, 0.0)
        packets.send(sender, {"a": 1}, [sender.fileno()])
        message, (descriptor,) = packets.receive(receiver, 0.0)
        assert message == {"a": 1}
        assert not os.get_inheritable(descriptor)
        os.close(descriptor)


def test_several_threads_can_start_workers_at_once(own_launcher, start):
    answers = []

    def run() -> None:
        for _ in range(3):
            answers.append(start(own_launcher).ask("answer = 6 * 7"))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [{"answer": 42}] * 12


def test_a_server_outlives_the_thread_that_made_it(tier, plain, start):
    made: list[SandboxLauncher] = []
    thread = threading.Thread(target=lambda: made.append(SandboxLauncher(tier, plain)))
    thread.start()
    thread.join()
    with made[0] as launcher:
        server = launcher._server._process.pid
        assert start(launcher).ask("answer = 1") == {"answer": 1}
        assert launcher._server._process.pid == server


@pytest.mark.parametrize("victim", ["server", "guard"])
def test_a_killed_server_is_replaced_and_its_workers_die(own_launcher, start, victim):
    busy = start(own_launcher)
    guard = psutil.Process(own_launcher._server._process.pid)
    (server,) = guard.children()
    old_processes = [guard, *guard.children(recursive=True)]
    (server if victim == "server" else guard).kill()
    assert gone(old_processes)
    assert start(own_launcher).ask("answer = 1") == {"answer": 1}
    with pytest.raises(SandboxError, match="the worker server exited while a worker ran"):
        busy.process.wait()


@pytest.fixture
def shared(tier, plain):
    """Return a server, and two launchers that ask it for workers as other processes do."""
    server = Server(tier, plain, warm="")
    first, second = (
        SandboxLauncher(tier, plain, shared=server.share().detach(), ahead=ahead) for ahead in (True, False)
    )
    yield server, first, second
    for one in (first, second, server):
        one.close()


def test_two_launchers_share_a_server(shared, start):
    server, first, second = shared
    workers = [start(launcher) for launcher in (first, second, first)]
    (process,) = psutil.Process(server._process.pid).children()
    assert {worker.pid for worker in workers} <= {child.pid for child in process.children()}
    assert [worker.ask("answer = 6 * 7") for worker in workers] == [{"answer": 42}] * 3
    users = {worker.status()["Uid"] for worker in workers}
    assert os.geteuid() != 0 or len(users) == 3  # under root, a worker shares its limits with no other


def test_what_leaves_a_shared_server_takes_its_own_workers_with_it(shared, start):
    _server, first, second = shared
    busy, other = start(first), start(second)
    source = b"import time; time.sleep(600)"
    os.write(busy.process.to_worker, len(source).to_bytes(4, "little") + source)
    before = psutil.Process(busy.pid)
    first._server.control.close()
    assert gone([before])
    assert other.ask("answer = 1") == {"answer": 1}
    assert start(second).ask("answer = 2") == {"answer": 2}


def test_without_the_shared_server_each_launcher_starts_its_own(shared, start):
    server, first, second = shared
    start(first)
    (process,) = psutil.Process(server._process.pid).children()
    process.kill()
    assert gone([process])
    assert [start(launcher).ask("answer = 1") for launcher in (first, second)] == [{"answer": 1}] * 2
    assert first._server._process.pid != second._server._process.pid


HOSTILE = """
import os, threading
memory, answer = bytearray(64 << 20), []
for act in ("fork", "thread", "file"):
    try:
        for n in range(5000):
            if act == "fork":
                os.fork()
            elif act == "thread":
                threading.Thread(target=threading.Event().wait, daemon=True).start()
            else:
                open(f"f{n}", "w").write("x" * (1 << 20))
    except BaseException as error:
        answer.append(type(error).__name__)
"""
HONEST = """
import threading
thread = threading.Thread(target=print)
thread.start(); thread.join()
answer = open("file", "w").write("x" * 1000)
"""


def test_a_hostile_worker_leaves_the_worker_of_another_launcher_alone(shared, start):
    _server, first, second = shared
    hostile, honest = start(first), start(second)
    assert len(hostile.ask(HOSTILE)["answer"]) == 3
    assert honest.ask(HONEST) == {"answer": 1000}
    assert start(second).ask(HONEST) == {"answer": 1000}


PARENT = """
import sys, time
from grader.sandbox import packets
from grader.sandbox.base import Limits, Program
from grader.sandbox.launcher import SandboxLauncher
tier, code, moment = sys.argv[1:]
prepare = "standin:import_torch" if moment == "importing" else ""
launcher = SandboxLauncher(tier, Program("standin:serve", prepare, (code,)))
if moment == "started":
    busy = launcher.start(Limits())
    import os, struct
    source = b"while True: pass"
    os.write(busy.to_worker, struct.pack("<I", len(source)) + source)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("moment", ["started", "importing"])
def test_a_killed_parent_takes_everything_with_it(tier, plain, moment, temporary):
    command = [sys.executable, "-c", PARENT, tier, plain.code[0], moment]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as parent:
        try:
            assert parent.stdout.read(5) == b"ready"
            # The guard and the server; if started, also the busy worker and one that is ready.
            assert within(60, lambda: len(descendants(parent.pid)) >= (4 if moment == "started" else 2))
            others = descendants(parent.pid)
        finally:
            parent.kill()
    assert gone(others)
    assert within(60, lambda: os.listdir(temporary) == [])


@pytest.mark.slow
def test_two_hundred_workers_leak_nothing(tier, plain):
    before, opened = traces(), os.listdir("/proc/self/fd")
    with SandboxLauncher(tier, plain) as launcher:
        launcher.start(Limits()).close()
        (server,) = psutil.Process(launcher._server._process.pid).children()
        descriptors, memory = len(os.listdir(f"/proc/{server.pid}/fd")), server.memory_info().rss
        for _ in range(200):
            process = launcher.start(Limits())
            os.write(process.to_worker, b"\2\0\0\0" + b"1\n")  # a source of 2 bytes, after its length
            process.close()
        assert len(os.listdir(f"/proc/{server.pid}/fd")) <= descriptors + 3  # a descriptor may be in transit
        assert server.memory_info().rss < memory + (4 << 20)
        # the server, a ready worker, and perhaps one that is ending
        assert len(descendants(launcher._server._process.pid)) <= 3
    assert not left_since(before)
    assert os.listdir("/proc/self/fd") == opened


def test_files_of_hostile_code_are_removed(tier, own_launcher, start, temporary):
    worker = start(own_launcher)
    reply = worker.ask("""
        import os
        for _ in range(30):
            os.mkdir("d", 0o700)
            os.chdir("d")
            open("f", "w").close()
        os.mkdir("closed", 0)
        answer = True
        """)
    assert reply == {"answer": True}
    # In strict, the worker's folder is a tmpfs in a mount namespace of its own.
    assert bool(os.listdir(temporary)) == (tier == "landlock")
    folder = Path(worker.ask("import os; answer = os.environ['HOME']")["answer"])
    worker.process.close()
    assert within(60, lambda: not folder.exists())
    own_launcher.close()
    assert os.listdir(temporary) == []
