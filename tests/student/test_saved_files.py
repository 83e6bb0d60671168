"""Saves are noticed with and without notifications of the system."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest

from grader.student import saved_files
from grader.student.saved_files import SavedFiles

watchfiles = pytest.importorskip("watchfiles")


@pytest.fixture
def saves(tmp_path, monkeypatch):
    """Return a function that starts a watcher. It returns the watcher, a watched file and the queue of noticed files.

    announced: whether the system announces saves.
    """
    opened = []

    def start(announced: bool) -> tuple[SavedFiles, Path, SimpleQueue]:
        if not announced:
            monkeypatch.setattr(watchfiles, "watch", lambda *args, stop_event, **options: iter(()))
        monkeypatch.setattr(saved_files, "SELDOM", 0.2)
        file = tmp_path / "a.py"
        file.write_text("x = 1\n", "utf-8")
        noticed: SimpleQueue = SimpleQueue()
        listens, other = threading.Event(), tmp_path / "other.py"

        def send(path):
            if path == other:
                listens.set()
            else:
                noticed.put(path)

        # The system announces saves of all files in the folder; the files of the list are polled, too.
        opened.append(SavedFiles(tmp_path, [file, tmp_path / "a.ipynb"], send))
        while announced and not listens.wait(0.2):  # wait until the watcher listens
            other.write_text(f"x = {time.monotonic_ns()}\n", "utf-8")
        return opened[-1], file, noticed

    yield start
    for files in opened:
        files.close()


def test_an_announced_save_is_noticed_once(saves):
    files, file, noticed = saves(announced=True)
    file.write_text("x = 22\n", "utf-8")
    assert noticed.get(timeout=120) == file
    with pytest.raises(Empty):
        noticed.get(timeout=2.5)
    assert not files.polls


@pytest.mark.slow
def test_a_save_that_is_never_announced_is_noticed_by_its_time(saves):
    files, file, noticed = saves(announced=False)
    file.write_text("x = 22\n", "utf-8")
    assert noticed.get(timeout=120) == file
    assert files.polls
    file.with_suffix(".ipynb").write_text("{}", "utf-8")
    assert noticed.get(timeout=120) == file.with_suffix(".ipynb")
    with pytest.raises(Empty):
        noticed.get(timeout=1)
