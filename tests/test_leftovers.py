"""The check for leftovers reports what a test's descendants left."""

import os
import subprocess
import sys
import tempfile

from helpers.leftovers import left_since, traces


def test_a_child_that_still_runs_and_a_temporary_file_are_reported():
    before = traces()
    descriptor, path = tempfile.mkstemp()
    os.close(descriptor)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        left = left_since(before, seconds=0.0)
        child.communicate(b"\n")
    os.unlink(path)
    assert left.pop("temporary files") == [os.path.basename(path)]
    assert [kind for kind, names in left.items() if str(child.pid) in names[0]] == ["processes"]
    assert not left_since(before)
