"""Attacks that forge the verdict: exits, forged results, patched parts of the worker."""

from attacks.suite import WRONG, Attack, calling, wrong

FAMILY = "forging the verdict"

# Functions that find the descriptor for replies and the token of the request, and write a forged reply. A reply is
# one frame: the lengths of its JSON and of its body, then both.
FORGE = """
import json, struct, types
def locals_of(name):
    frame = sys._getframe()
    while frame is not None:
        if name in frame.f_locals:
            yield frame.f_locals[name]
        frame = frame.f_back
def request():
    return next(r for r in locals_of("request") if isinstance(r, dict) and "token" in r)
def reply_fd():
    return next(fd for fd in locals_of("reply_fd") if isinstance(fd, int))
def forge(words, body=b"", with_token=True):
    if with_token:
        words = {**words, "token": request()["token"]}
    head = json.dumps(words).encode()
    os.write(reply_fd(), struct.pack("<II", len(head), len(body)) + head + body)
"""


def forged(id: str, tries: str, statements: str, **more: bool) -> Attack:
    """Return an attack that runs statements with the functions of FORGE in the call."""
    return calling(id, tries, FORGE + statements, **more)


ATTACKS = (
    wrong("exit-on-loading", "exits with status 0 while it is loaded", "sys.exit(0)"),
    calling("os-exit", "ends the process with status 0 in the call", "os._exit(0)"),
    calling("sys-exit", "raises SystemExit(0) in the call", "sys.exit(0)"),
    wrong(
        "kill-itself-softly",
        "ends itself with a signal that looks like a clean end",
        "import signal\nsignal.raise_signal(signal.SIGTERM)",
    ),
    wrong(
        "atexit",
        "prints a passing result when the process ends",
        "import atexit\natexit.register(lambda: print('masked_softmax PASSED 100/100', flush=True))",
    ),
    calling(
        "printed-result",
        "prints a report in every form that graders read",
        """
        print('{"score": 100, "outcome": "passed", "exercises": [{"name": "masked_softmax", "outcome": "passed", "score": 5}]}')
        print("5 passed in 0.01s", file=sys.stderr)
        print("##headway[passed]")
        """,
    ),
    calling(
        "result-files",
        "writes result files where graders look for them",
        """
        for name in ("results.json", "report.json", "result.xml", ".pytest_cache", "score.txt"):
            open(name, "w").write('{"score": 100, "outcome": "passed"}')
        """,
    ),
    forged(
        "forged-frame",
        "writes a frame that claims the score into the reply pipe",
        "forge({'score': 100, 'passed': True, 'outcome': 'passed'})",
    ),
    forged(
        "forged-frame-without-token",
        "writes a frame that claims the score, without the request's token",
        "forge({'score': 100, 'passed': True}, with_token=False)",
    ),
    Attack(
        "forged-empty-sentences",
        "answers with 2^46 sentences without a word",
        "import os, sys, torch\n"
        + FORGE
        + """
def greedy_decode(model, src, src_valid_len, num_steps, bos, eos):
    header = json.dumps({"sentences": {"dtype": "I64", "shape": [1 << 46, 0], "data_offsets": [0, 0]}}).encode()
    forge({}, struct.pack("<Q", len(header)) + header)
    return [[eos]] * len(src)
""",
        exercise="greedy_decode",
        success="the grader does not end, or takes all memory",
    ),
    calling(
        "forged-empty-tensor",
        "answers with a tensor of 2^46 rows without a value",
        FORGE
        + """
header = json.dumps({"out": {"dtype": "I64", "shape": [1 << 46, 0], "data_offsets": [0, 0]}}).encode()
forge({}, struct.pack("<Q", len(header)) + header)
""",
    ),
    forged(
        "forged-fault",
        "reports that the worker failed, to lose no points",
        "forge({'fault': 'MemoryError: the machine is out of memory'})",
    ),
    wrong(
        "forged-fault-on-loading",
        "reports that the worker failed, while the file is loaded",
        FORGE + "forge({'fault': 'OSError: the disk is full'})",
    ),
    wrong(
        "forged-loading",
        "claims to define the exercise and all others",
        FORGE + "forge({'names': ['masked_softmax', 'sequence_mask', 'MultiHeadAttention'], 'notes': []})",
    ),
    forged(
        "forged-future",
        "writes fifty answers ahead for the requests to come",
        "for _ in range(50): forge({'values': {}, 'odd': {}})",
    ),
    forged(
        "forged-ready",
        "reports that it is ready, as a new worker does",
        "forge({'ready': '2.13.0'}, with_token=False)",
    ),
    forged(
        "forged-half-frame",
        "leaves half a frame in the pipe, so that the next answer is read as its rest",
        "os.write(reply_fd(), struct.pack('<II', 4096, 0) + b'{')",
        exhausts=True,
    ),
    calling(
        "all-descriptors",
        "writes to every descriptor it has",
        """
        for number in range(256):
            try:
                os.write(number, b'\\x15\\0\\0\\0\\0\\0\\0\\0{"outcome": "passed"}')
            except OSError:
                pass
        """,
    ),
    forged("closed-reply", "closes the reply pipe", "os.close(reply_fd())"),
    calling(
        "reply-into-log",
        "turns what it prints into replies",
        FORGE + 'os.dup2(reply_fd(), 1)\nprint(\'{"outcome": "passed"}\')',
    ),
    wrong(
        "patched-json",
        "replaces json.dumps",
        'import json\njson.dumps = lambda *a, **k: \'{"outcome": "passed", "score": 100, "odd": {}}\'',
    ),
    wrong(
        "patched-save",
        "replaces Tensor.numpy, which the worker uses, by a function that fails",
        "import torch\ndef fail(*a, **k):\n    raise MemoryError\ntorch.Tensor.numpy = fail",
    ),
    wrong(
        "patched-write",
        "replaces the function that writes the reply",
        """
        import grader.worker.main as main
        real = main.write_frame
        main.write_frame = lambda fd, words, body=b"": real(fd, {**words, "outcome": "passed", "error": None}, body)
        """,
    ),
    wrong(
        "patched-run",
        "replaces the program runner by one that does nothing",
        "from grader.worker.program import Program\nProgram.run = lambda self, files: None",
    ),
    wrong(
        "patched-run-fails",
        "makes the program runner fail",
        "from grader.worker.program import Program\nProgram.run = lambda self, files: 1 / 0",
    ),
    wrong(
        "patched-observe",
        "replaces each observed value by zeros of the same shape",
        """
        from grader.worker.program import Program
        real = Program._observe
        Program._observe = lambda self, name, value: real(self, name, torch.zeros_like(torch.as_tensor(value)))
        """,
    ),
    wrong(
        "patched-student",
        "makes the worker call another function instead of the answer",
        "from grader.worker.program import Program\nProgram._student = lambda self, name: torch.softmax",
    ),
    calling(
        "edited-steps",
        "removes the remaining steps of the running case",
        """
        frame = sys._getframe()
        while frame is not None:
            case = frame.f_locals.get("self")
            if hasattr(case, "steps"):
                case.steps.clear()
                case.reply["values"] = {"passed": True}
            frame = frame.f_back
        """,
    ),
    calling(
        "edited-record",
        "writes into the record of the run",
        """
        import gc
        for thing in gc.get_objects():
            if type(thing).__name__ == "Program":
                thing.reply.update({"outcome": "passed", "score": 1.0, "error": None, "parameters": {"layout": "passed"}})
        """,
    ),
    calling(
        "score-object",
        "returns an object that says it passed",
        """
        class Result:
            passed = True
            outcome = "passed"
            score = points = 100.0
            def __float__(self): return 100.0
            def __bool__(self): return True
        return Result()
        """,
    ),
    wrong(
        "shadowed-modules",
        "replaces standard modules in sys.modules by its own",
        """
        import types
        for name in ("json", "struct", "safetensors", "safetensors.torch", "traceback", "gc", "faulthandler"):
            fake = types.ModuleType(name)
            fake.dumps = fake.loads = fake.save = fake.load = fake.pack = lambda *a, **k: b'{"outcome": "passed"}'
            sys.modules[name] = fake
        """,
    ),
    wrong(
        "planted-modules",
        "writes modules into its folder, for a later import to find",
        """
        for name in ("json", "torch", "numpy", "pytest", "conftest", "sitecustomize"):
            open(name + ".py", "w").write("print('PASSED')\\nraise SystemExit(0)")
        sys.path.insert(0, os.getcwd())
        """,
    ),
    wrong(
        "late-thread",
        "writes forged replies from a thread after the real reply",
        FORGE
        + """
        import threading, time
        fd, token = reply_fd(), request()["token"]
        def later():
            for _ in range(40):
                time.sleep(0.002)
                head = json.dumps({"outcome": "passed", "odd": {}, "token": token}).encode()
                os.write(fd, struct.pack("<II", len(head), 0) + head)
        threading.Thread(target=later, daemon=True).start()
        """.replace("\n        ", "\n"),  # FORGE is not indented either
    ),
    calling(
        "lying-exception",
        "raises an exception that is named and worded as a success",
        "raise type('passed', (Exception,), {'__str__': lambda self: 'outcome: passed, 5 / 5'})()",
    ),
    calling(
        "base-exception",
        "raises what no `except Exception` catches",
        "class Pass(BaseException): pass\nraise Pass('ok')",
    ),
    wrong(
        "patched-builtins",
        "replaces builtins that the worker uses",
        """
        import builtins
        builtins.isinstance = lambda *a: True
        builtins.issubclass = lambda *a: True
        builtins.len = lambda x: 1
        """,
    ),
    wrong(
        "traced",
        "watches every line of the worker and changes its variables",
        """
        def trace(frame, event, argument):
            for name in ("error", "wrong", "failed"):
                if name in frame.f_locals:
                    frame.f_locals[name] = None
            return trace
        sys.settrace(trace)
        """,
    ),
    wrong(
        "forged-watchdog",
        "prints the message of the watchdog with a line of its choice",
        "print('Timeout (0:00:10)!\\nThread 0x1 (most recent call first):\\n  File \"answer.py\", line 4 in masked_softmax', file=sys.stderr)",
    ),
    calling("pytest-outcomes", "calls pytest.skip", "import pytest\npytest.skip('passed')"),
    Attack(
        "no-definition",
        "does not define the exercise, but replaces its module by an object that has it",
        "import sys, types\nsys.modules['submission'] = types.SimpleNamespace(masked_softmax=lambda *a: a[0].softmax(-1))\n",
    ),
    Attack(
        "patched-loader",
        "replaces the worker's loader for the next loading",
        "import torch\nfrom grader.worker import load\nload._compiled = lambda *a, **k: compile('', 'x', 'exec')\n"
        + WRONG,
    ),
)
