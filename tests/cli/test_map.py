"""`grader` without a command: the list of exercises, and what is next."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.command_line import RIGHT, run


def test_the_list_shows_outcomes_and_what_is_next(course):
    assert "Next: " in run(cwd=course).stdout
    (course / "04_heads" / "heads.py").write_text(RIGHT, "utf-8")
    assert run("check", "transpose_qkv", cwd=course).returncode == 0
    line = next(line for line in run(cwd=course).stdout.splitlines() if "transpose_qkv" in line)
    assert "passed" in line
    assert "3 / 3" in line


def test_a_terminal_gets_a_list_to_choose_from(course):
    pty = pytest.importorskip("pty")
    theirs, ours = pty.openpty()
    command = [str(Path(sys.executable).with_name("grader"))]
    opened = subprocess.Popen(
        command, cwd=course, stdin=ours, stdout=ours, stderr=ours, start_new_session=True
    )
    os.close(ours)
    shown, deadline = b"", time.monotonic() + 30
    while b"q: quit" not in shown and time.monotonic() < deadline:
        shown += os.read(theirs, 1 << 16)
    while opened.poll() is None and time.monotonic() < deadline:
        os.write(theirs, b"q")  # a key that comes before the list reads keys is dropped
        time.sleep(0.3)
    assert opened.poll() == 0
    os.close(theirs)
    assert "transpose_qkv" in shown.decode()
    assert "exercises passed" in shown.decode()


def test_the_plain_list_waits_for_no_key(course):
    pty = pytest.importorskip("pty")
    theirs, ours = pty.openpty()
    command = [str(Path(sys.executable).with_name("grader")), "--plain"]
    done = subprocess.run(command, cwd=course, stdin=ours, stdout=ours, stderr=ours, timeout=30)
    assert done.returncode == 0
    assert b"Next: " in os.read(theirs, 1 << 16)
    os.close(ours)
    os.close(theirs)
