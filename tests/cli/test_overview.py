"""`grader` without a command: the list of exercises, and what is next."""

import json
import os
import re
import subprocess
import time
from io import StringIO
from itertools import cycle
from pathlib import Path

import pytest
from helpers.command_line import GRADER, HANGS_AFTER, RIGHT, run
from rich.console import Console

from grader.cli.overview import list_screen
from grader.report.model import ExerciseResult
from grader.report.shared_sentences import LOOKS
from grader.student.exercise_list import ExerciseList, Row
from grader.student.progress import next_to_do, save, save_current, to_continue_with


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


def test_amounts_line_up_between_assignments(course):
    progress = {"sequence_mask": {"outcome": "failed", "score": 0.9}}
    (course / ".headway").mkdir()
    (course / ".headway" / "progress.json").write_text(json.dumps(progress), "utf-8")
    rows = [line for line in run(cwd=course, COLUMNS="60").stdout.splitlines() if line.startswith("  ")]
    assert len({len(line.rstrip()) for line in rows}) == 1
    assert any("0.9 / 3" in row for row in rows)


@pytest.mark.parametrize("columns", [40, 60])
def test_narrow_lists_break_no_word_and_lose_no_exercise(course, columns):
    done = run(cwd=course, COLUMNS=str(columns))
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    for name in ("kernel_attention_weights", "Seq2SeqAttentionDecoder", "TransparentSelfAttention"):
        assert any(name in line for line in lines)
    assert 0 < done.stdout.count("not started") == done.stdout.count(" min\n")


OUTCOMES = ("passed", "failed", "blocked", "other_interface", "could_not_grade", "not_checked", "not_started")


@pytest.mark.parametrize(("columns", "height"), [(80, 24), (40, 24), (100, 60)])
def test_the_chooser_fits_and_shows_the_cursor_and_every_outcome_without_colour(bundles, columns, height):
    exercises = [(bundle, exercise) for bundle in bundles for exercise in bundle.exercises]
    rows = [
        Row(f"{bundle.assignment} heading", Path("a.py"), exercise, outcome, None)
        for (bundle, exercise), outcome in zip(exercises, cycle(OUTCOMES), strict=False)
    ]
    for current in rows:
        console = Console(file=StringIO(), width=columns, height=height, color_system=None, highlight=False)
        console.print(list_screen(ExerciseList(rows, current.name), console))
        lines = console.file.getvalue().splitlines()
        assert len(lines) < height
        assert max(map(len, lines)) <= columns
        (here,) = (line for line in lines if line.startswith(">"))
        assert here[2:].startswith(f"{LOOKS[current.outcome].mark} {current.name}")
        assert re.search(r"  (– / [\d.]+|\d+ min)$", here)
        assert " ".join(current.exercise.title.split()) in " ".join(" ".join(lines).split())


def test_the_cursor_is_on_the_last_open_exercise_else_on_the_next_to_do(tmp_path):
    names = ["a", "b", "c"]
    results = [ExerciseResult(name, "", "passed", 1.0, 1.0) for name in names]
    assert to_continue_with(tmp_path, names) == "a"
    save(tmp_path, results[:1])
    assert to_continue_with(tmp_path, names) == "b"
    save_current(tmp_path, "c")
    assert to_continue_with(tmp_path, names) == "c"
    save(tmp_path, results[2:])
    assert to_continue_with(tmp_path, names) == next_to_do(tmp_path, names) == "b"
    save(tmp_path, results)
    assert to_continue_with(tmp_path, names) == "a"
    assert next_to_do(tmp_path, names) == ""


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
