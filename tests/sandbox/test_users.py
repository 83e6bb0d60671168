"""The tiers confine for root and for an ordinary user, also if namespaces are refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command_line import HANGS_AFTER, ROOT

from grader.sandbox.launcher import site_folders

pytestmark = pytest.mark.slow

ENTRIES = Path(__file__).with_name("entries")
NOBODY = 65534
UNUSED = 60_123  # a user id without other processes


def run_as(user: int, python: str, *arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    as_user = {"user": user, "group": user, "extra_groups": []} if user != os.geteuid() else {}
    environment = {"PYTHONPATH": os.pathsep.join(site_folders()), "XDG_CACHE_HOME": str(cache), "PATH": ""}
    return subprocess.run(
        [python, "-B", *arguments],
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,
        env=environment,
        cwd="/",
        **as_user,
    )


def python_of(user: int, cache: Path) -> str:
    """Return a Python that `user` may run, and that can read the same torch. Skip the test if there is none.

    The Python of root may be in a private folder.
    """
    version = f"python3.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        paths = [ROOT / "grader" / "sandbox" / "base.py"]
        paths += [Path(site) / "torch" / "version.py" for site in site_folders()]
        source = "; ".join(f"open({str(path)!r})" for path in paths if path.exists()) + "; import numpy"
        try:
            if run_as(user, python, "-c", source, cache=cache).returncode == 0:
                return python
        except OSError:
            continue
    pytest.skip(f"user {user} can run no Python here that has torch")


@pytest.fixture(scope="module", params=["the user of the tests", "an ordinary user"])
def report(request, tmp_path_factory):
    """Return a function that runs `report.py` as this user."""
    user = os.geteuid() if request.param == "the user of the tests" else NOBODY
    if user != os.geteuid() and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    cache = tmp_path_factory.mktemp("cache")
    python = python_of(user, cache)

    def run(*options: str) -> dict[str, object]:
        done = run_as(
            user, python, str(ENTRIES / "report.py"), str(ROOT), str(ENTRIES), *options, cache=cache
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_strict_and_landlock_confine_for_the_user(report):
    reported = report()
    reports = {tier: (available, reason) for tier, available, reason in reported["reports"]}
    if not reports["strict"][0]:
        pytest.skip(f"no strict sandbox on this machine: {reports['strict'][1]}")
    assert reports["landlock"] == (True, "")
    assert reported["auto"] == "strict"
    # Per tier: user id, files in the worker's folder, a sum by torch, capabilities.
    assert reported["strict"][1:] == reported["landlock"][1:] == [[], 2.0, ["0" * 16]]
    assert reported["strict"][0] not in (0, NOBODY)


def test_without_namespaces_landlock_is_chosen(report):
    reported = report("refuse")
    (strict, landlock, basic) = reported["reports"]
    assert strict[:2] == ["strict", False]
    assert strict[2] == "make a user and a pid namespace: Operation not permitted"
    assert reported["strict"] == f"the strict sandbox does not work on this machine: {strict[2]}"
    if not landlock[1]:
        pytest.skip(f"no Landlock on this machine: {landlock[2]}")
    assert reported["auto"] == "landlock"
    assert reported["landlock"][1:] == [[], 2.0, ["0" * 16]]
    assert basic[1]


# Start more threads than the limit allows, as the canary does. `_attempt` returns None if the kernel refuses.
START_THREADS = """
import os, resource, sys
sys.path.insert(0, sys.argv[1])
from grader.sandbox import lockdown
from grader.sandbox.canaries.attacks import _attempt, start_many_threads
limit = lockdown.tasks_of(os.geteuid()) + 12 + 40  # 12: the limit of the self-test; 40: see the test
resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
print(_attempt(start_many_threads, {}))
"""


def test_the_limit_of_threads_holds_after_other_threads_exit(tmp_path):
    """The limit is set from the number of threads that the user has at that time, on the whole machine.

    Here it is 40 too high, as it would be if 40 of them had exited afterwards.
    """
    user = UNUSED if os.geteuid() == 0 else os.geteuid()
    python = python_of(user, tmp_path)
    done = run_as(user, python, "-c", START_THREADS, str(ROOT), cache=tmp_path)
    assert done.stdout.strip() == "None", done.stderr
