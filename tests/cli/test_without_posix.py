"""The student's side runs in processes that lack the modules and names that only POSIX systems have.

The processes still run on Linux. So this shows that the grader imports and calls none of these modules and names; it
does not show that the grader runs on Windows.
"""

import json
import sys

import pytest
from helpers.command_line import RIGHT, ROOT, make_course, process

# The packages of others may use what is removed, so they are imported first.
REMOVE = """
import asyncio, ctypes, multiprocessing.connection, os, select, signal, subprocess, sys, sysconfig, types
import click, jinja2, numpy, rich.console, rich.live, rich.prompt, rich.table, torch
sysconfig.get_config_vars()
for name in "fcntl grp pty pwd resource syslog termios tty".split():
    sys.modules[name] = None
for module, names in {
    os: "chown fchmod fork forkpty getegid geteuid getgid getpgid getuid killpg mkfifo O_NOFOLLOW O_NONBLOCK O_TMPFILE "
    "pidfd_open pread sched_getaffinity set_blocking setsid statvfs uname",
    signal: "pthread_sigmask setitimer SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGUSR1 pidfd_send_signal",
    select: "epoll poll",
}.items():
    for name in names.split():
        delattr(module, name)

end, os.kill = os.kill, None  # on Windows, also os.kill(pid, 0) has an effect
sys.platform = "win32"
"""
# `windows_job` calls the kernel of Windows. Workers see the same lack of modules and names.
GRADE = """
class Tree:
    def __init__(self, leader): self.leader = leader
    def limit(self, limits): pass
    def kill(self): end(self.leader.pid, signal.SIGTERM)
    def close(self): pass

job = types.ModuleType("grader.sandbox.windows_job")
job.START_OPTIONS, job.ProcessTree, job.python = {}, Tree, lambda: sys.executable
sys.modules[job.__name__] = job
from grader.sandbox import basic
first, rest = basic._START.split("import runpy;")
basic._START = first + "exec(" + repr(REMOVE).replace("{", "{{").replace("}", "}}") + "); import runpy;" + rest
from grader.cli import run
run()
"""

CHECK = ("check", "--file", "answer.py", "--format", "json")


@pytest.mark.slow
def test_an_answer_is_graded_without_posix(tmp_path):
    course = make_course(tmp_path / "Übung eins", "04_heads")
    (course / "answer.py").write_text(RIGHT, "utf-8")
    program = f"REMOVE = {REMOVE!r}\nexec(REMOVE)\n{GRADE}"
    env = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": ""}
    done = process(sys.executable, "-P", "-c", program, *CHECK, cwd=course, env=env)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["sandbox"] == "basic"
    assert [(e["name"], e["outcome"]) for e in report["exercises"]] == [("transpose_qkv", "passed")]
