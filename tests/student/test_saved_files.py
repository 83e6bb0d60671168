"""Saves are noticed with and without notifications of the system."""

import time
from contextlib import closing
from queue import Empty, SimpleQueue

import pytest

from grader.student import saved_files
from grader.student.saved_files import SavedFiles

watchfiles = pytest.importorskip("watchfiles")


def without_notifications(root, *, stop_event, rust_timeout, **options):
    while not stop_event.wait(rust_timeout / 1000):
        yield set()


@pytest.mark.parametrize("announced", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_save_is_noticed_once(tmp_path, monkeypatch, announced):
    """Without notifications of the system, by its time."""
    if not announced:
        monkeypatch.setattr(watchfiles, "watch", without_notifications)
    monkeypatch.setattr(saved_files, "OFTEN", 600_000 if announced else 200)
    file, notebook, other = (tmp_path / name for name in ("a.py", "a.ipynb", "other.py"))
    file.write_text("x = 1\n", "utf-8")
    noticed: SimpleQueue = SimpleQueue()
    listens: SimpleQueue = SimpleQueue()

    def send(path):
        (listens if path == other else noticed).put(path)

    with closing(SavedFiles(tmp_path, [file, notebook, other], send)):
        while announced and listens.empty():  # wait until the watcher listens
            other.write_text(f"x = {time.monotonic_ns()}\n", "utf-8")
            time.sleep(0.2)
        for saved in (file, notebook):
            saved.write_text("x = 22\n", "utf-8")
            assert noticed.get(timeout=120) == saved
            with pytest.raises(Empty):
                noticed.get(timeout=1.5)
