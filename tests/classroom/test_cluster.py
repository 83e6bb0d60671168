"""A cluster gives the same results as one machine.

A worker of another run, with another grader or certificate, or without the sandbox tier of the class, is refused.

How batches are sent to workers: test_cluster_batches.py.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import pickle
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
import yaml
from helpers.command_line import HANGS_AFTER

from grader.bundle.files import load_all
from grader.classroom import cluster_worker
from grader.classroom.certificates import encrypted, require_trust, write_certificates
from grader.classroom.class_run import versions
from grader.classroom.cluster import ClusterError, ClusterGrading
from grader.classroom.cluster_worker import NAME, Course, GradingPlugin, grade_batch, refusal
from grader.classroom.grading_process import RunConfig, Task
from grader.classroom.store import StoreKey
from grader.sandbox.base import SandboxError
from grader.support.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
GRADER = Path(sys.executable).with_name("grader")


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    cases = tmp_path / "cases"
    shutil.copytree(ROOT / "assignments" / "04_heads", cases / "04_heads")
    key = StoreKey("cases", versions(), "basic")
    return RunConfig(cases, tmp_path / "store", key)


def set_up(course: Course, folder: Path) -> GradingPlugin:
    """Set up the plugin of a worker with this local folder, and tear it down again."""
    plugin = GradingPlugin(course)
    asyncio.run(plugin.setup(SimpleNamespace(local_directory=str(folder))))
    asyncio.run(plugin.teardown(SimpleNamespace()))
    return plugin


# ---- which workers may grade


def test_a_worker_with_the_same_course_is_accepted(config, tmp_path):
    plugin = set_up(Course.of(config), tmp_path)
    assert plugin.refusal == ""
    assert refusal(plugin.course.id, SimpleNamespace(plugins={NAME: plugin})) == ""
    assert not list(tmp_path.glob("cases-*")), "the cases are removed"


def test_a_worker_does_not_receive_the_store(config):
    course = Course.of(config)
    assert str(config.store).encode() not in pickle.dumps(GradingPlugin(course))
    assert "bundle" not in repr(course), "the repr, which Dask may log, holds no cases"


def test_a_worker_without_the_tier_of_the_class_is_refused(config, tmp_path, monkeypatch):
    def refuse_strict(_asked):
        raise SandboxError("the strict sandbox does not work on this machine: user namespaces: not permitted")

    monkeypatch.setattr(cluster_worker, "best_tier", refuse_strict)
    assert "strict sandbox does not work" in set_up(Course.of(config), tmp_path).refusal


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (lambda course: replace(course, code="another"), "its grader has other code"),
        (
            lambda course: replace(
                course, config=replace(course.config, key=replace(course.config.key, grader="9.9 torch 9.9"))
            ),
            "this class is graded with 9.9 torch 9.9",
        ),
    ],
)
def test_a_worker_of_another_version_is_refused(config, tmp_path, changed, says):
    assert says in set_up(changed(Course.of(config)), tmp_path).refusal


def test_a_worker_that_serves_another_run_grades_no_batch(config, tmp_path, monkeypatch):
    plugin = set_up(Course.of(config), tmp_path)
    worker = SimpleNamespace(plugins={NAME: plugin})
    monkeypatch.setattr(cluster_worker, "get_worker", lambda: worker)
    assert Course.of(config).id != plugin.course.id, "each run of the same class has its own id"
    assert "another run" in refusal("another", worker)
    assert "another run" in grade_batch("another", [])
    plugin.refusal = None
    assert "another run" in grade_batch("another", []), "also while the worker is set up for its run"
    assert grade_batch(plugin.course.id, []) is None, "not set up yet: the scheduler asks again"
    worker.plugins.clear()
    assert "another run" in grade_batch(plugin.course.id, []), "its plugin was removed"


# ---- addresses and certificates


@pytest.mark.parametrize(
    "address",
    [
        "tcp://10.0.0.1:8786",
        "tcp://127.0.0.1:8786",
        "tcp://localhost:1",
        "ucx://host:1",
        "host",
        "tcp://127.0.0.1.example.org:1",
    ],
)
def test_an_address_without_encryption_is_refused(address):
    with pytest.raises(UsageError, match="is not an encrypted address"):
        encrypted(address)


def test_an_encrypted_address_needs_certificates(config):
    assert encrypted("host:8786") == "tls://host:8786"
    with pytest.raises(UsageError, match="needs --certificates"):
        ClusterGrading([], config, "host:8786", None, 1).__enter__()


@pytest.mark.parametrize("call", [["scheduler"], ["worker", "tls://127.0.0.1:8786"]])
def test_scheduler_and_worker_need_certificates_on_one_machine_too(call):
    done = subprocess.run([GRADER, "cluster", *call], capture_output=True, text=True, timeout=HANGS_AFTER)
    assert done.returncode == 2
    assert "Missing option '--certificates'" in done.stderr


@contextmanager
def scheduler(keys: Path) -> Iterator[tuple[str, int | None]]:
    """Run a scheduler with these certificates. Yield its address, and the port of its web pages."""
    command = [GRADER, "cluster", "scheduler", "--certificates", keys, "--port", "0", "--"]
    command += ["--dashboard-address", "127.0.0.1:0"]  # any free port
    environment = {**os.environ, "TMPDIR": str(keys.parent)}  # Dask makes a folder there
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "Scheduler at:" in line)
        served = next(line for line in process.stderr if "dashboard at:" in line)
        yield f"tls://127.0.0.1:{line.rpartition(':')[2].strip()}", urlsplit(served.split()[-1]).port
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_only_certificates_of_one_authority_are_trusted(tmp_path):
    ours, theirs, mixed = tmp_path / "ours", tmp_path / "theirs", tmp_path / "mixed"
    for folder in (ours, theirs):
        write_certificates(folder, days=1)
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    with pytest.raises(UsageError, match="is not empty"):
        write_certificates(ours, days=1)
    shutil.copytree(theirs, mixed)
    # A worker with these files trusts the scheduler, but the scheduler does not trust the worker.
    shutil.copy(ours / "ca.pem", mixed)
    with scheduler(ours) as (address, _):
        require_trust(address, ours, "worker")
        for folder in (theirs, mixed):
            done = subprocess.run(
                [GRADER, "cluster", "worker", address, "--certificates", folder],
                capture_output=True,
                text=True,
                timeout=HANGS_AFTER,
            )
            assert done.returncode == 2
            assert "do not trust each other's certificates" in done.stderr
            assert len(done.stderr.strip().splitlines()) == 1
    with pytest.raises(UsageError, match="nothing answers"):
        require_trust(address, ours, "worker")


def test_a_scheduler_answers_its_probes_and_no_other_page(tmp_path):
    write_certificates(tmp_path / "keys", days=1)
    manifest = yaml.safe_load((ROOT / "docs" / "recipes" / "cluster" / "daskcluster.yaml").read_text("utf-8"))
    (container,) = manifest["spec"]["scheduler"]["spec"]["containers"]
    probes = {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("readiness", "liveness")}
    with scheduler(tmp_path / "keys") as (_, port):
        for path, status in [
            *((probe, 200) for probe in probes),
            ("/info/main/workers.html", 404),
            ("/metrics", 404),
        ]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS_AFTER)
            connection.request("GET", path)
            assert connection.getresponse().status == status, path
            connection.close()


# ---- real workers that are refused

NO_NAMESPACES = 'for kind in user pid; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done; exec "$@"'


@contextmanager
def worker(address: str, keys: Path, before: list[str] | None = None, **variables: str) -> Iterator[None]:
    """Run a worker with an empty cache. before: the words of a command that starts it, such as `unshare`."""
    home = keys.parent / "worker"
    home.mkdir()
    grader = [sys.executable, "-c", "from grader.cli.main import main; main()"]
    process = subprocess.Popen(
        [*(before or []), *grader, "cluster", "worker", address, "--certificates", keys],
        env={**os.environ, "TMPDIR": str(home), "XDG_CACHE_HOME": str(home), **variables},
        cwd=home,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def require_refusal(config: RunConfig, address: str, keys: Path) -> None:
    """Require that a cluster refuses its only worker."""
    # `bytes` stands for a function that reads the file: it returns b"".
    task = Task(0, Path("a.py"), bytes, ("transpose_qkv",))
    grading = ClusterGrading(load_all(config.bundles), config, address, keys, 1)
    with grading, pytest.raises(ClusterError, match="no worker of this cluster may grade the class"):
        list(grading.run([task]))


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    write_certificates(tmp_path / "keys", days=1)
    return tmp_path / "keys"


def has_user_namespaces() -> bool:
    found = sys.platform == "linux" and shutil.which("unshare")
    return bool(found) and subprocess.run(["unshare", "--user", "true"], capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not has_user_namespaces(), reason="NOT TESTED: this system makes no user namespaces")
def test_a_real_worker_without_the_tier_is_refused(config, keys, capfd):
    without_namespaces = ["unshare", "--user", "--map-root-user", "sh", "-c", NO_NAMESPACES, "sh"]
    strict = replace(config, key=replace(config.key, sandbox="strict"))
    with scheduler(keys) as (address, _), worker(address, keys, without_namespaces):
        require_refusal(strict, address, keys)
    assert "is not used: the strict sandbox does not work on this machine" in capfd.readouterr().err


@pytest.mark.slow
def test_a_real_worker_with_another_grader_is_refused(config, keys, tmp_path, capfd):
    shutil.copytree(ROOT / "grader", tmp_path / "other" / "grader")
    with (tmp_path / "other" / "grader" / "judge" / "tolerance.py").open("a") as file:
        file.write("# another version\n")
    with scheduler(keys) as (address, _), worker(address, keys, PYTHONPATH=str(tmp_path / "other")):
        require_refusal(config, address, keys)
    assert "is not used: its grader has other code" in capfd.readouterr().err


# ---- lost workers

ROOT_ONLY = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("ip"),
    reason="NOT TESTED: network namespaces need root and ip",
)


@pytest.mark.slow
@ROOT_ONLY
def test_hosts_that_lose_workers_store_the_same_as_one_machine(tmp_path):
    private = ["unshare", "--mount", "--propagation", "private"]  # `ip netns` leaves a mount
    script = [sys.executable, ROOT / "scripts" / "cluster_hosts.py"]
    done = subprocess.run(
        [*private, *script, "--submissions", "30", "--kill-every", "10"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,
    )
    assert done.stdout.splitlines()[-1] == "equal", done.stdout + done.stderr
    assert done.returncode == 0
    assert "host b killed" in done.stdout
