"""A reader of a file gets the old content or the new one, whatever happens to the writer."""

import errno
import os
import random
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from helpers.targets import KINDS, target
from helpers.targets import OLD as BEFORE

import grader
from grader.support.errors import CannotWrite
from grader.support.files import write_atomically, write_own

ROOT = str(Path(grader.__file__).parents[1])
OLD, NEW = b"a" * 3_000_000, b"b" * 3_000_000
WRITER = """
import os, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from grader.support.files import write_atomically
path, n = Path({path!r}), {size}
print("ready", flush=True)
while True:
    write_atomically(path, b"a" * n)
    write_atomically(path, b"b" * n)
"""


def test_a_killed_writer_leaves_the_old_content_or_the_new(tmp_path):
    path = tmp_path / "progress.json"
    path.write_bytes(OLD)
    rng = random.Random(2)
    for _ in range(6):
        code = WRITER.format(root=ROOT, path=str(path), size=len(OLD))
        writer = subprocess.Popen([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE)
        writer.stdout.readline()
        for _ in range(5):
            time.sleep(rng.uniform(0.002, 0.02))
            assert path.read_bytes() in (OLD, NEW)
        writer.kill()
        writer.wait()
        writer.stdout.close()
        assert path.read_bytes() in (OLD, NEW)


def test_a_new_file_has_the_asked_mode_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "seed"
    write_atomically(path, b"1", mode=0o600)
    write_atomically(path, b"22", mode=0o600)
    assert path.read_bytes() == b"22"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_that_names_no_file_is_reported(tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="taken"):
        write_atomically(tmp_path / "taken", b"1")
    with pytest.raises(CannotWrite, match="a cannot be written: Too many levels of symbolic links"):
        write_atomically(tmp_path / "a", b"data")
    with pytest.raises(CannotWrite, match="there is no folder"):
        write_atomically(tmp_path / "gone" / "x", b"data")
    assert {path.name for path in tmp_path.iterdir()} == {"taken", "a", "b"}


@pytest.mark.parametrize(
    ("code", "says"), [(errno.EROFS, "Read-only file system"), (errno.ENOSPC, "No space left on device")]
)
def test_a_full_or_read_only_disk_is_reported_in_one_sentence(tmp_path, monkeypatch, code, says):
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise OSError(code, os.strerror(code), "x")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(CannotWrite) as refused:
        write_atomically(tmp_path / "x", b"data")
    assert str(refused.value) == f"{tmp_path / 'x'} cannot be written: {says}"
    assert isinstance(refused.value, OSError)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such things in folders")
@pytest.mark.parametrize("kind", KINDS)
def test_only_a_regular_file_is_replaced(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    with target(tmp_path / "there", kind) as (path, written):
        with (
            pytest.raises(CannotWrite, match="target cannot be written")
            if kind == "socket"
            else nullcontext()
        ):
            write_atomically(path, b"data", mode=0o600)
        assert written() in (b"data", None)
        if kind in ("new", "dangling link"):
            assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such things in folders")
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_the_grader_is_written_to_no_other_place(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    with target(tmp_path / "there", kind) as (path, written):
        if kind in ("new", "file"):
            write_own(path, b"data")
            assert written() == b"data"
            return
        before = path.lstat()
        with pytest.raises(CannotWrite, match="target cannot be written: it is not a regular file"):
            write_own(path, b"data")
        assert path.lstat() == before
        if kind == "link":
            assert written() == BEFORE


def test_what_the_standard_output_holds_already_stays(tmp_path):
    code = "import os; from pathlib import Path; from grader.support.files import write_atomically as w; "
    code += "os.write(1, b'before '); w(Path('stdout'), b'data'); w(Path('log'), b' twice')"
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")  # not /dev/stdout, which a fault would destroy
    with open(tmp_path / "log", "ab") as log:
        log.write(b"old ")
        log.flush()
        subprocess.run([sys.executable, "-c", code], stdout=log, cwd=tmp_path, check=True)
    assert (tmp_path / "log").read_bytes() == b"old before data twice"
