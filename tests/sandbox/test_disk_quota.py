"""How much disk space a worker can use in `strict` and `landlock`."""

import pytest

from grader.sandbox import disk_quota
from grader.sandbox.base import Limits

SMALL = 1 << 20
# The most that a worker can use, even if it hides or deletes files.
# SMALL: the bytes of all files together. `disk_quota.file_bytes`: those that one file may have.
MOST_BYTES = disk_quota.ENTRIES * disk_quota.file_bytes(Limits(file_bytes=SMALL))
# Functions for the sources below. `held` has open descriptors; `taken` returns the disk space of their files.
PRELUDE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
held = []
def attempt(act, *arguments):
    try:
        return act(*arguments)
    except OSError:
        return None
def make(name):
    return attempt(os.open, name, os.O_RDWR | os.O_CREAT, 0o600)
def fill(descriptor, size):
    while attempt(os.write, descriptor, bytes(1 << 16)) and os.fstat(descriptor).st_size < size: pass
def taken():
    return sum(os.fstat(d).st_blocks * 512 for d in held)
"""


def test_posix_fallocate_of_many_files_stays_within_the_quota(start):
    answer = start(file_bytes=SMALL).ask(
        PRELUDE
        + """
for n in range(64):
    d = make(f"file-{n}")
    if d is not None: held.append(d)
    if held: attempt(os.posix_fallocate, held[-1], 0, 1 << 20)
answer = taken()
"""
    )
    assert 0 < answer["answer"] <= SMALL + disk_quota.file_bytes(Limits(file_bytes=SMALL))


def test_space_cannot_be_reserved_past_the_end_of_a_file(start):
    answer = start(file_bytes=SMALL).ask(
        PRELUDE
        + """
held.append(make("file"))
keep_size = 1
libc.fallocate(held[0], keep_size, ctypes.c_long(0), ctypes.c_long(1 << 28))
answer = taken()
"""
    )
    assert answer == {"answer": 0}


@pytest.mark.parametrize("how", ["made first, filled later", "deleted while open", "O_TMPFILE"])
def test_files_that_grow_late_or_are_hidden_stay_bounded(start, how):
    answer = start(file_bytes=SMALL).ask(
        PRELUDE
        + f"how = {how!r}\n"
        + """
for n in range(100):
    d = attempt(os.open, ".", os.O_RDWR | os.O_TMPFILE, 0o600) if how == "O_TMPFILE" else make(f"file-{n}")
    if d is None: continue
    held.append(d)
    if how == "deleted while open": os.unlink(f"file-{n}")
    if how != "made first, filled later": fill(d, 1 << 22)
for d in held: fill(d, 1 << 22)
answer = taken()
"""
    )
    assert answer["answer"] <= MOST_BYTES


def test_folders_count_as_files(start, tier):
    reply = start(file_bytes=SMALL).ask(
        PRELUDE + "answer = sum(libc.mkdir(f'd{n}'.encode(), 0o700) == 0 for n in range(3000))"
    )
    # In strict the folder is a tmpfs with a limit of its own, `strict._SCRATCH_ENTRIES`.
    assert reply["answer"] <= (1024 if tier == "strict" else disk_quota.ENTRIES)


def test_honest_code_can_write_a_few_megabytes(start):
    answer = start().ask(
        """
import os, tempfile, threading
with open("weights", "wb") as file:
    file.write(bytes(6 << 20))
with tempfile.NamedTemporaryFile() as file:
    file.write(bytes(4 << 20))
    file.flush()
with tempfile.TemporaryDirectory() as folder:
    for n in range(4):
        with open(os.path.join(folder, f"part-{n}"), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 1 << 20)
sizes = []
def note():
    for n in range(5):
        with open("log.txt", "a") as log: log.write("line")
    sizes.append(os.path.getsize("log.txt"))
threads = [threading.Thread(target=note) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
answer = max(sizes)
"""
    )
    assert answer == {"answer": 80}  # bytes: 4 threads write "line" 5 times


def test_a_refused_file_is_an_exception_and_the_worker_goes_on(start, tier):
    worker = start(file_bytes=SMALL)
    source = "for n in range(2000): open(f'file-{n}', 'w').close()"
    assert worker.ask(source)["error"].startswith("OSError: [Errno ")
    assert worker.ask("answer = open('file-3').read()") == {"answer": ""}


def test_each_worker_has_its_own_quota(start):
    # 60 files are almost `disk_quota.ENTRIES`: two workers could not make as many with one quota.
    use_up = "import os\nfor n in range(60): open(f'f{n}', 'w').close()\nanswer = len(os.listdir('.'))"
    first, second = start(), start()
    assert first.ask(use_up) == second.ask(use_up) == {"answer": 60}
