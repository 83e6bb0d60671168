"""Landlock rule sets. Tests apply them in new processes, because a rule set cannot be removed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from grader.sandbox import landlock
from grader.sandbox.base import SandboxError


@pytest.fixture(autouse=True)
def _needs_landlock():
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")


PRELUDE = """
import os, sys
from grader.sandbox import kernel, landlock
def refused(act, *arguments):
    try:
        act(*arguments)
        return False
    except PermissionError:
        return True
folder = sys.argv[1]
rules = landlock.Ruleset()
"""


def test_what_is_not_granted_is_refused(run_python, tmp_path):
    for name in ("read", "write", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("text")
    source = """
rules.allow([folder + "/read"], landlock.READ)
rules.allow_all([folder + "/write"])
rules.allow([folder + "/not-there"], landlock.READ)
kernel.forbid_new_privileges()
rules.restrict()
print(refused(open, folder + "/read/file"), refused(open, folder + "/read/file", "w"))
print(refused(open, folder + "/write/file", "w"), refused(os.mkdir, folder + "/write/new"))
print(refused(open, folder + "/other/file"), refused(os.listdir, folder + "/other"))
print(refused(os.execv, "/bin/true", ["true"]), refused(os.unlink, folder + "/read/file"))
"""
    done = run_python(PRELUDE + source, str(tmp_path))
    assert done.stdout.split("\n")[:-1] == ["False True", "False False", "True True", "True True"], (
        done.stderr
    )


def test_two_layers_must_both_grant(run_python, tmp_path):
    for name in ("both", "one"):
        (tmp_path / name).write_text("text")
    source = """
rules.allow([folder], landlock.READ)
kernel.forbid_new_privileges()
rules.restrict()
second = landlock.Ruleset()
second.allow([folder + "/both"], landlock.READ)
second.restrict()
print(refused(open, folder + "/both"), refused(open, folder + "/one"))
"""
    done = run_python(PRELUDE + source, str(tmp_path))
    assert done.stdout == "False True\n", done.stderr


def test_listing_can_be_granted_without_reading(run_python, tmp_path):
    (tmp_path / "file").write_text("text")
    source = """
rules.allow([folder], landlock.LIST)
kernel.forbid_new_privileges()
rules.restrict()
print(refused(os.listdir, folder), refused(open, folder + "/file"))
"""
    assert run_python(PRELUDE + source, str(tmp_path)).stdout == "False True\n"


def test_landlock_alone_refuses_the_network(run_python, tmp_path):
    if landlock.version() < 4:
        pytest.skip("the Landlock of this kernel cannot restrict the network")
    source = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
kernel.forbid_new_privileges()
rules.restrict()
print(refused(socket.create_connection, listener.getsockname()))
"""
    assert run_python(PRELUDE + source, str(tmp_path)).stdout == "True\n"


def test_a_newer_landlock_version_has_all_older_rights():
    versions = [landlock.everything(abi) for abi in range(1, 8)]
    # A bit per right: 13 in version 1, 16 in version 7.
    assert versions[0] == (1 << 13) - 1
    assert versions[-1] == (1 << 16) - 1
    assert all(old & new == old for old, new in pairwise(versions))


def test_a_kernel_without_landlock_raises_a_sandbox_error(monkeypatch):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(SandboxError, match="no Landlock"):
        landlock.Ruleset()
