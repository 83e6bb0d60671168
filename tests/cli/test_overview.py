"""`grader` without a command: the list of exercises, and what is next."""

import json
import os
import subprocess
import time

import pytest
from helpers.command_line import GRADER, HANGS_AFTER, RIGHT, run


def test_the_list_shows_outcomes_and_what_is_next(course):
    (course / "04_heads" / "heads.py").write_text(RIGHT, "utf-8")
    before = run(cwd=course).stdout.splitlines()
    assert run("check", "transpose_qkv", cwd=course).returncode == 0
    after = run(cwd=course).stdout.splitlines()
    for lines, words in (before, ["not", "checked", "yet"]), (after, ["passed", "3", "/", "3"]):
        row = next(line.split() for line in lines if "transpose_qkv" in line)
        assert [word for word in row if word in words] == words
        assert "not started" in next(line for line in lines if "sequence_mask" in line)
        assert any(line.startswith("Next: ") for line in lines)


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
    rows = done.stdout.count("not started")
    assert 0 < rows == done.stdout.count("0 / ") - done.stdout.count("points")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "last"), [((), b"q: quit"), (("--plain",), b"Next: ")], ids=["list", "plain"]
)
def test_a_terminal_gets_a_list_to_choose_from_unless_it_is_to_be_plain(course, options, last):
    pty = pytest.importorskip("pty")
    our_end, child_end = pty.openpty()
    process = subprocess.Popen(
        [GRADER, *options], cwd=course, stdin=child_end, stdout=child_end, stderr=child_end
    )
    shown, deadline = b"", time.monotonic() + HANGS_AFTER
    while last not in shown and time.monotonic() < deadline:
        shown += os.read(our_end, 1 << 16)
    while process.poll() is None and time.monotonic() < deadline:
        if not options:
            os.write(our_end, b"q")  # the list drops keys that are pressed before it reads them
        time.sleep(0.3)
    assert process.poll() == 0
    os.close(child_end)
    os.close(our_end)
    assert "transpose_qkv" in shown.decode()
