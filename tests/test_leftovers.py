"""The check for leftovers reports what a test's descendants left, and ignores other processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from helpers.leftovers import left_since, traces


def test_a_child_that_still_runs_is_reported():
    before = traces()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        left = left_since(before, seconds=0.0)
        assert child.stdin is not None
        child.stdin.close()
    assert [kind for kind, names in left.items() if str(child.pid) in names[0]] == ["processes"]
    assert not left_since(before)


def test_a_file_in_the_temporary_folder_is_reported():
    before = traces()
    descriptor, path = tempfile.mkstemp()
    os.close(descriptor)
    assert left_since(before, seconds=0.0) == {"temporary files": [os.path.basename(path)]}
    os.unlink(path)
