"""`grader` without a command: the list of exercises, and what is next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.command_line import HANGS_AFTER, RIGHT, run


def test_the_list_shows_outcomes_and_what_is_next(course):
    assert "Next: " in run(cwd=course).stdout
    (course / "04_heads" / "heads.py").write_text(RIGHT, "utf-8")
    assert run("check", "transpose_qkv", cwd=course).returncode == 0
    line = next(line for line in run(cwd=course).stdout.splitlines() if "transpose_qkv" in line)
    assert "passed" in line
    assert "3 / 3" in line


def test_an_answer_that_was_not_checked_is_listed_as_such(course):
    (course / "04_heads" / "heads.py").write_text(RIGHT, "utf-8")
    lines = run(cwd=course).stdout.splitlines()
    assert "not checked yet" in next(line for line in lines if "transpose_qkv" in line)
    assert "not started" in next(line for line in lines if "sequence_mask" in line)


def test_points_line_up_between_assignments(course):
    progress = {"sequence_mask": {"outcome": "failed", "score": 0.909}}
    (course / ".headway").mkdir()
    (course / ".headway" / "progress.json").write_text(json.dumps(progress), "utf-8")
    rows = [line for line in run(cwd=course, COLUMNS="60").stdout.splitlines() if line.startswith("  ")]
    assert len({len(line.rstrip()) for line in rows if line.rstrip()[-1].isdigit()}) == 1


@pytest.mark.parametrize("columns", [40, 60])
def test_narrow_lists_break_no_word_and_lose_no_points(course, columns):
    done = run(cwd=course, COLUMNS=str(columns))
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    for name in ("kernel_attention_weights", "Seq2SeqAttentionDecoder", "TransparentSelfAttention"):
        assert any(name in line for line in lines)
    # "0 / " is in the row of each exercise, and in the sum, beside the word "points".
    assert done.stdout.count("not started") == done.stdout.count("0 / ") - done.stdout.count("points")


def test_a_terminal_gets_a_list_to_choose_from(course):
    pty = pytest.importorskip("pty")
    our_end, child_end = pty.openpty()
    command = [str(Path(sys.executable).with_name("grader"))]
    process = subprocess.Popen(
        command, cwd=course, stdin=child_end, stdout=child_end, stderr=child_end, start_new_session=True
    )
    os.close(child_end)
    shown, deadline = b"", time.monotonic() + HANGS_AFTER
    while b"q: quit" not in shown and time.monotonic() < deadline:
        shown += os.read(our_end, 1 << 16)
    while process.poll() is None and time.monotonic() < deadline:
        os.write(our_end, b"q")  # the list drops keys that are pressed before it reads them
        time.sleep(0.3)
    assert process.poll() == 0
    os.close(our_end)
    assert "transpose_qkv" in shown.decode()
    assert "exercises passed" in shown.decode()


def test_the_plain_list_waits_for_no_key(course):
    pty = pytest.importorskip("pty")
    our_end, child_end = pty.openpty()
    command = [str(Path(sys.executable).with_name("grader")), "--plain"]
    done = subprocess.run(
        command, cwd=course, stdin=child_end, stdout=child_end, stderr=child_end, timeout=HANGS_AFTER
    )
    assert done.returncode == 0
    assert b"Next: " in os.read(our_end, 1 << 16)
    os.close(child_end)
    os.close(our_end)
