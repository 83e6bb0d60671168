"""`grader watch`, nearly always in a real terminal: every save is graded, the keys work, and no process is left."""

import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import click
import psutil
import pytest
from helpers.command_line import GRADER, HANGS_AFTER, make_course
from helpers.command_line import RIGHT as ANSWER

pytest.importorskip("watchfiles")
pty = pytest.importorskip("pty")

RIGHT = "\n\n" + ANSWER.partition("\n")[2]  # follows the stub, which imports torch
WRONG = RIGHT.replace(".transpose(1, 2)", "")
READY = "q quit"  # the last words after a grading
LIST = "q: quit"  # the last words of the list of exercises


def without_codes(text: str) -> str:
    """Return the text without colours."""
    return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", text)


class Watch:
    """A running `grader watch` and its terminal."""

    def __init__(self, course: Path):
        self.file = course / "04_heads" / "heads.py"
        self.stub = self.file.read_text("utf-8")
        self._end, child_end = pty.openpty()
        self.process = subprocess.Popen(
            [GRADER, "watch"],
            cwd=course,
            stdin=child_end,
            stdout=child_end,
            stderr=child_end,
            start_new_session=True,
        )
        os.close(child_end)

    def until(self, text: str) -> str:
        """Read the output until it contains `text`, and return it."""
        shown, deadline = b"", time.monotonic() + HANGS_AFTER
        while text.encode() not in shown:
            assert time.monotonic() < deadline, shown.decode("utf-8", "replace")
            if select.select([self._end], [], [], 0.1)[0]:
                shown += os.read(self._end, 1 << 16)
        return shown.decode("utf-8", "replace")

    def save(self, source: str) -> None:
        """Replace the file with a new one, as editors do."""
        new = self.file.with_name("heads.py.new")
        new.write_text(self.stub + source, "utf-8")
        new.replace(self.file)

    def press(self, key: str) -> None:
        os.write(self._end, key.encode())

    def quit(self) -> None:
        """Press q. It ends the command and all its processes."""
        offspring = psutil.Process(self.process.pid).children(recursive=True)
        assert offspring
        self.press("q")
        assert self.process.wait(60) == 0
        assert not psutil.wait_procs(offspring, timeout=60)[1]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._end)


@pytest.fixture
def course(tmp_path) -> Path:
    return make_course(tmp_path / "course", "04_heads")


@pytest.fixture
def watch(course) -> Iterator[Watch]:
    running = Watch(course)
    running.until(READY)
    yield running
    running.close()


def outcome(course: Path) -> str:
    return json.loads((course / ".headway" / "progress.json").read_text("utf-8"))["transpose_qkv"]["outcome"]


@pytest.mark.slow
def test_every_save_is_graded_and_q_leaves_no_process(watch, course):
    watch.save(WRONG)
    assert "known mistake" in watch.until(READY)
    watch.press("h")
    watch.until("more hint")
    watch.save(RIGHT)
    assert "passed  transpose_qkv" in without_codes(watch.until(READY))
    watch.press("n")
    assert "watching transpose_output in 04_heads/heads.py" in watch.until(READY)
    watch.press("p")
    assert "1 of 2 exercises passed" in watch.until(READY)
    watch.press("l")
    assert "> ✓ transpose_qkv" in without_codes(watch.until(LIST))
    watch.press("\x1b[B")
    assert "> ○ transpose_output" in without_codes(watch.until(LIST))
    watch.press("\n")
    assert "watching transpose_output in 04_heads/heads.py" in watch.until(READY)
    watch.quit()
    assert outcome(course) == "passed"


@pytest.mark.slow
def test_keys_explain_reset_and_check_all_and_the_next_run_continues(watch, course):
    watch.save(WRONG)
    watch.until(READY)
    watch.press("e")
    assert "heads-cut-straight" in watch.until("the same")  # words of the page about the mistake
    watch.press("r")
    watch.until("y: yes")
    watch.press("n")  # any key but y
    watch.until("Nothing was reset")
    watch.press("r")
    watch.until("y: yes")
    watch.press("y")
    assert "not started" in watch.until(READY)
    assert watch.file.read_text("utf-8").rstrip() == watch.stub.rstrip()
    watch.save(RIGHT)
    watch.until(READY)
    watch.press("a")
    assert "1 of 2 exercises passed" in watch.until(LIST)
    watch.press("l")
    assert "watching transpose_qkv" in watch.until(READY)
    watch.save(RIGHT + "\n\ndef transpose_output(X, num_heads):\n    return X\n")
    assert "watching transpose_output in 04_heads/heads.py" in watch.until(READY)
    offspring = psutil.Process(watch.process.pid).children(recursive=True)
    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait(60) == 0
    assert not psutil.wait_procs(offspring, timeout=60)[1]
    again = Watch(course)
    assert "watching transpose_output" in again.until(READY)
    again.close()


def test_without_watchfiles_the_error_says_how_to_install_it(course, monkeypatch):
    from grader.cli.watch import watch

    monkeypatch.setattr("grader.cli.watch.find_spec", lambda name: None)
    with pytest.raises(click.UsageError, match=r"python -m pip install watchfiles"):
        watch.main(["--course", str(course)], standalone_mode=False)


def test_without_a_save_the_command_to_use_instead_is_shown(monkeypatch):
    """QUIET: the seconds without a save after which the command is shown."""
    from queue import SimpleQueue
    from types import SimpleNamespace

    from grader.cli import watch

    shown: list[str] = []
    events: SimpleQueue[watch.Event] = SimpleQueue()
    monkeypatch.setattr(watch, "QUIET", 0.0)

    def show(text, **options):
        shown.append(text)
        events.put("q")

    watcher = SimpleNamespace(current="masked_softmax", save_current=lambda: None)
    jobs = SimpleNamespace(start=lambda job: None, seconds=None)
    watch._loop(watcher, events, jobs, SimpleNamespace(print=show))
    assert len(shown) == 1
    assert shown[0].endswith("run this instead: grader check masked_softmax")


ENDLESS = (
    "\n\ndef transpose_qkv(X, num_heads):\n    i = 0\n    while i < 3:\n        X = X * 1\n    return X\n"
)


@pytest.mark.slow
def test_hostile_saves_do_not_end_watch_and_a_save_or_q_ends_an_endless_loop(watch, course):
    watch.save(RIGHT.replace("    B, T", '    raise RuntimeError("\\ud800")\n    B, T'))
    assert "RuntimeError" in watch.until(READY)
    watch.save("a\n" * (4 << 20))
    assert "larger than 1 MiB" in " ".join(watch.until(READY).split())
    watch.save(ENDLESS)
    shown = watch.until("grading transpose_qkv, 2 s")  # what runs, and for how long
    assert "failed" not in shown
    watch.press("h")
    watch.until("more hint")
    watch.save(RIGHT)
    shown = watch.until(READY)
    assert "passed  transpose_qkv" in without_codes(shown)
    assert "stopped after" not in shown, "the save waited for the time limit of the old run"
    watch.save(ENDLESS)
    watch.until("grading transpose_qkv, 1 s")
    watch.quit()
    assert outcome(course) == "passed", "the loop ran until its time limit"
