"""Whatever a worker does, the exchange of messages with it ends in time, within limits, and with a reason.

The fixture `worker` starts a process that runs a few lines, often hostile, instead of the worker's program.
The fixture `real` starts a real worker, which runs student code.
"""

import os
import signal
import time
import tracemalloc
from contextlib import closing

import psutil
import pytest

from grader.engine.session import MAX_BODY, MAX_JSON, Session, Training, WorkerGone
from grader.sandbox import basic
from grader.sandbox.base import Limits, SandboxError
from grader.sandbox.basic import ColdLauncher
from grader.sandbox.channel import MAX_LOG, MAX_RECENT
from grader.worker.steps import Asked, Call, Callee, Run, to_body

# For these lines: `read` receives a request, `frame` makes a message, `send` sends bytes.
# A message has `words`, as JSON, and a `body`, the tensors.
PRELUDE = """
import json, os, struct, sys, time
request, reply = int(sys.argv[1]), int(sys.argv[2])
limits = os.read(request, 24)  # three integers of 8 bytes
token = ""
def frame(words, body=b""):
    if token and isinstance(words, dict):
        words = {**words, "token": token}
    if not isinstance(words, bytes):
        words = json.dumps(words).encode()
    return struct.pack("<II", len(words), len(body)) + words + body
def send(data):
    while data:
        data = data[os.write(reply, data):]
def read():
    def exactly(n):
        data = b""
        while len(data) < n:
            data += os.read(request, n - len(data))
        return data
    global token
    a, b = struct.unpack("<II", exactly(8))
    words, body = json.loads(exactly(a)), exactly(b)
    token = words["token"]
    return words, body
"""
HELLO = 'send(frame({"ready": "yes"}))\n'


@pytest.fixture
def worker(monkeypatch):
    """Return a function that starts a process with the given lines, and returns the session with it.

    hello: whether the process says that it is ready before it runs the lines.
    """
    sessions = []

    def started(script, hello=True, **limits):
        source = PRELUDE + (HELLO if hello else "") + script
        # `_START` is formatted, so its braces are doubled.
        template = source.replace("{", "{{").replace("}", "}}")
        monkeypatch.setattr(basic, "_START", template)
        sessions.append(Session(ColdLauncher(), Limits(**{"wall_seconds": 0.5, **limits})))
        sessions[-1].files = frozenset({"a.py"})
        return sessions[-1]

    yield started
    for session in sessions:
        session.close()


def gone(session, body=b"", seconds=None, request=None, tell=None):
    """Send a request that gets no valid reply, and return the exception."""
    with pytest.raises(WorkerGone) as caught:
        session.ask(request or {"op": "run"}, body, seconds, tell)
    return caught.value


def test_a_valid_reply_comes_back_as_it_was_sent(worker):
    session = worker(
        'while True:\n    words, body = read()\n    send(frame({"got": words["op"], "timeout": words["timeout"]}, body * 2))'
    )
    for _ in range(2):
        reply = session.ask({"op": "run"}, b"xy" * 100_000, seconds=60)
        # The worker prints its stack after this timeout, 5 % before the session's.
        assert reply.words == {"got": "run", "timeout": 57.0}
        assert reply.body == b"xy" * 200_000


def test_a_session_whose_server_has_exited_is_closed(worker, monkeypatch):
    """Otherwise the next case would get the same session, and could not be graded either."""
    session = worker("read()")

    def server_gone(*_until):
        raise SandboxError("the worker server exited while a worker ran")

    monkeypatch.setattr(session, "_reply", server_gone)
    with pytest.raises(SandboxError, match="server exited"):
        session.ask({"op": "run"})
    assert session.closed


UNANSWERED = {
    "sleeps": "time.sleep(60)",
    "loops": "while True: pass",
    "reads and sleeps": "read(); time.sleep(60)",
    "stops one byte before the end": "read(); send(frame({}, b'x' * 99)[:-1]); time.sleep(60)",
    "a byte at a time": "read(); send(struct.pack('<II', 1000, 0))\nwhile True: send(b' '); time.sleep(0.01)",
    "ignores signals": "import signal\nfor s in range(1, 32):\n  try: signal.signal(s, signal.SIG_IGN)\n  except OSError: pass\nwhile True: pass",
    "closes what it prints to": "os.close(1); os.close(2); time.sleep(60)",
}


@pytest.mark.slow
@pytest.mark.parametrize("script", UNANSWERED.values(), ids=UNANSWERED)
def test_a_worker_that_does_not_answer_is_stopped_in_time(worker, script):
    session = worker(script)
    started = time.monotonic()
    assert gone(session, body=b"x" * 1_000_000).why == "time"
    assert time.monotonic() - started < 30


def test_lone_surrogates_in_a_reply_are_replaced(worker):
    raw = """b'{"a": "\\\\ud800x", "token": "' + token.encode() + b'"}'"""
    session = worker(f"read()\nsend(frame({raw}))")
    assert session.ask({}, seconds=60).words == {"a": "?x"}


def test_the_stack_of_a_lost_worker_is_read_in_linear_time(worker):
    """A line that looks like many frames must not cost more than its length."""
    script = "read()\nos.write(1, (b'Timeout (' + b'File \"' * (21 << 10))[: 127 << 10])\nos._exit(1)"
    session = worker(script, output_bytes=1 << 20)
    before = time.thread_time()
    assert gone(session, seconds=60).why == "died"
    assert time.thread_time() - before < 1


def test_a_worker_that_only_writes_takes_no_cpu_time_of_the_parent(worker):
    session = worker("while True: send(b'x' * 65536)")
    session._await_ready()
    time.sleep(0.1)
    busy = time.process_time()
    time.sleep(0.5)
    assert gone(session, body=b"x" * 5_000_000, seconds=1.2).why == "reply"
    assert time.process_time() - busy < 0.3


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_endless_printing_is_stopped_before_the_timeout(worker, stream):
    session = worker(f"read()\nwhile True: sys.{stream}.write('spam' * 1000)")
    lost = gone(session, seconds=20)
    assert lost.why == "output"
    assert len(session.printed) <= 3 * MAX_LOG


def test_the_start_and_the_end_of_a_long_output_are_stored(worker):
    session = worker(
        "read()\nprint('first')\nfor i in range(40): print('x' * 10_000)\nprint('last', flush=True)\ntime.sleep(0.2)\nsend(frame({}))"
    )
    session.ask({}, seconds=60)
    assert session.printed.startswith("first\n")
    assert session.printed.rstrip().endswith("last")
    assert len(session.printed) <= 3 * MAX_LOG


@pytest.mark.parametrize("size", [MAX_RECENT - 20, MAX_RECENT - 7, MAX_RECENT, MAX_RECENT + 5])
def test_a_reply_has_the_output_since_its_request_up_to_a_limit(worker, size):
    session = worker(f"while read(): print('x' * {size}, end='', flush=True); send(frame({{}}))")
    for _ in range(2):
        assert session.ask({}, seconds=60).printed == "x" * min(size, MAX_RECENT)


IMPOSSIBLE = {
    "huge lengths": "struct.pack('<II', 2**32 - 1, 2**32 - 1)",
    "too many words": f"struct.pack('<II', {MAX_JSON + 1}, 0)",
    "too many tensors": f"struct.pack('<II', 2, {MAX_BODY + 1}) + b'{{}}'",
    "not JSON": "frame(b'not JSON')",
    "not UTF-8": "frame(b'\\xff\\xfe')",
    "half a character": 'frame(b\'{"a": "\\xed\\xa0\\x80"}\')',
    "not an object": "frame(b'[1]')",
    "nested without end": "frame(b'[' * 100000)",
    "a number of ten thousand digits": "frame(b'{\"a\": ' + b'1' * 10000 + b'}')",
}


@pytest.mark.parametrize("data", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_impossible_reply_ends_the_session_at_once(worker, data):
    session = worker(f"read(); send({data}); time.sleep(60)")
    session._await_ready()
    tracemalloc.start()
    lost = gone(session, seconds=20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lost.why == "reply"
    assert peak < 8 << 20


@pytest.mark.parametrize(
    ("script", "detail"),
    [
        ("read(); os._exit(3)", "exit 3"),
        ("sys.exit()", "exit 0"),
        ("read(); send(b'half'); os._exit(0)", "exit 0"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
        ("read(); os.kill(os.getpid(), 11)", "signal 11"),
        ("os.close(request); os.close(reply); time.sleep(60)", "signal 9"),
    ],
)
def test_a_worker_that_ends_is_reported_with_how_it_ended(worker, script, detail):
    lost = gone(worker(script), body=b"x" * 1_000_000, seconds=20)
    assert (lost.why, lost.detail) == ("died", detail)


def test_a_worker_that_is_killed_between_requests_is_reported(worker):
    session = worker("while True: read(); send(frame({}))")
    session.ask({}, seconds=60)
    os.kill(session._process._process.pid, signal.SIGKILL)
    time.sleep(0.2)
    lost = gone(session)
    assert (lost.why, lost.detail) == ("died", "signal 9")


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("print('no torch here'); sys.exit(1)", "the worker did not start.*no torch here"),
        ("os._exit(1)", "the worker did not start.*it printed nothing"),
        ("send(frame({'fault': 'x'})); time.sleep(60)", "it sent an unexpected first message"),
        ("send(b'x' * 100); time.sleep(60)", "the worker did not start"),
    ],
)
def test_a_worker_that_does_not_start_is_a_fault_of_the_sandbox(worker, script, sentence):
    with pytest.raises(SandboxError, match=sentence):
        worker(script, hello=False).ask({})


def test_a_closed_session_leaves_nothing_behind(worker):
    session = worker("time.sleep(60)")
    process = session._process
    pid, scratch = process._process.pid, process._scratch.name
    session._await_ready()
    session.close()
    session.close()
    assert not psutil.pid_exists(pid)
    assert not os.path.exists(scratch)
    for descriptor in (process.to_worker, process.from_worker, process.log):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


STACK = "Timeout (0:00:01)!"


@pytest.mark.parametrize(
    ("lines", "line", "statement"),
    [
        (['a.py", line ' + "9" * 5000], None, None),  # an impossible number
        (['a.py", line 3 in f', 't.py", line 9 in g', 'a.py", line 7 in <module>'], ("a.py", 3), ("a.py", 7)),
        (
            ['a.py", line 9', STACK, 'b.py", line 1', 'a.py", line 2'],
            ("a.py", 2),
            ("a.py", 2),
        ),  # the last stack
    ],
)
def test_a_timeout_names_its_line_and_the_top_level_statement(worker, lines, line, statement):
    """The grader skips the statement, such as a call of an endless function, and keeps the definition."""
    stack = "\n".join([STACK, *(one if one == STACK else f'  File "{one}' for one in lines), ""])
    lost = gone(worker(f"read(); sys.stderr.write({stack!r}); sys.stderr.flush(); time.sleep(60)"))
    assert (lost.why, lost.line, lost.statement) == ("time", line, statement)


# ---- real workers


@pytest.fixture
def real(engine):
    """Return a session with a real worker."""
    with closing(Session(engine.launcher, Limits(wall_seconds=1.0))) as session:
        yield session


def load(session, source, name="a.py"):
    """Return the request to load a file."""
    session.files = frozenset({name})
    message = {"units": [{"name": name, "source": source}], "given": {}, "withheld": [], "replace": {}}
    return {"op": "load", **message, "skip": [], "seconds": 30}


@pytest.mark.slow
def test_a_timeout_while_loading_names_the_students_line(real):
    name = "Übung „3“ (1).ipynb cell 4"
    lost = gone(real, request=load(real, "import time\n\n\nwhile True:\n    time.sleep(0.1)\n", name))
    assert lost.why == "time"
    assert lost.line in [(name, 4), (name, 5)]


@pytest.mark.slow
def test_a_timeout_within_torch_names_the_students_line(real):
    source = "import torch\n\n\ndef f(x):\n    while True:\n        x = torch.linalg.inv(torch.eye(300))\n"
    real.ask(load(real, source), seconds=60)
    call = Call("out", Callee("f"), [1], {})
    lost = gone(real, body=to_body([Asked(Run([call], "float32"))]))
    assert (lost.why, lost.line) == ("time", ("a.py", 6))


def test_a_reply_to_another_request_is_stale(worker):
    """A reply without the token of the request, or a second reply to the request before."""
    forged = worker("read(); token = ''; send(frame({'score': 100})); time.sleep(60)")
    twice = worker("while read(): send(frame({'score': 100})); send(frame({}))")
    assert twice.ask({}, seconds=60).words == {"score": 100}
    for session in (forged, twice):
        lost = gone(session, seconds=60)
        assert (lost.why, lost.detail) == ("stale", "a reply to another request")


# ---- the progress of a training


def test_training_messages_are_reported_and_the_reply_arrives(worker):
    session = worker(
        'read()\nfor n in (1, 2): send(frame({"progress": [n, 5, 0.5]}))\nsend(frame({"got": 1}, b"xyz"))'
    )
    reports = []
    reply = session.ask({}, seconds=5, tell=reports.append)
    assert reports == [Training(1, 5, 0.5), Training(2, 5, 0.5)]
    assert (reply.words, reply.body) == ({"got": 1}, b"xyz")


@pytest.mark.parametrize(
    "progress",
    [
        '"\\x1b[2J"', "[1, 2]", "[1, 2, 0.5, 4]", "[-1, 5, 0.5]", "[6, 5, 0.5]", "[True, 5, 0.5]", "[1.5, 5, 0.5]",
        "[1, 10**9, 0.5]", '["1", "5", "0.5"]', "[[], [], []]", "{}", "None",
    ],
)  # fmt: skip
def test_an_impossible_progress_message_ends_the_session(worker, progress):
    session = worker(f'read()\nsend(frame({{"progress": {progress}}}))\ntime.sleep(60)')
    reports = []
    assert gone(session, seconds=5, tell=reports.append).why == "reply"
    assert reports == []


@pytest.mark.parametrize("loss", ["float('nan')", "float('inf')", "1e300", "'<b>'", "[]", "True", "None"])
def test_an_impossible_loss_is_left_out(worker, loss):
    session = worker(f'read()\nsend(frame({{"progress": [1, 5, {loss}]}}))\nsend(frame({{}}))')
    reports = []
    session.ask({}, seconds=5, tell=reports.append)
    assert reports == [Training(1, 5, None)]


@pytest.mark.parametrize(
    "rest",
    ["while True: send(frame({'progress': [1, 5, 0.5]}))", "send(frame({'progress': [1, 5, 0.5]}, b'x'))"],
)
def test_endless_progress_and_tensors_in_it_end_the_session(worker, rest):
    assert gone(worker(f"read()\n{rest}\ntime.sleep(60)"), seconds=60).why == "reply"


def test_progress_messages_do_not_extend_the_timeout(worker):
    session = worker('read()\nwhile True:\n    send(frame({"progress": [1, 5, 0.5]})); time.sleep(0.05)')
    started = time.monotonic()
    assert gone(session).why == "time"
    assert time.monotonic() - started < 30
