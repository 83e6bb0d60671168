"""A cluster grades as one machine does; what could read, forge or falsify results is refused with a sentence."""

from __future__ import annotations

import asyncio
import os
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

import pytest
from helpers.command_line import HANGS

from grader.bundle.files import load_all
from grader.classroom import cluster_worker
from grader.classroom.certificates import encrypted, require_trust, write_certificates
from grader.classroom.class_run import versions
from grader.classroom.cluster import ClusterError, ClusterGrading
from grader.classroom.cluster_worker import NAME, Course, GradingPlugin, grade_batch, refusal, serves_another
from grader.classroom.grading_process import RunConfig, Task, TaskResult
from grader.classroom.store import StoreKey
from grader.report.model import ExerciseResult
from grader.sandbox.base import SandboxError
from grader.support.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
GRADER = Path(sys.executable).with_name("grader")
SECRET = b"the secret of the store"


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    cases = tmp_path / "cases"
    shutil.copytree(ROOT / "assignments" / "04_heads", cases / "04_heads")
    key = StoreKey("cases", versions(), "basic", SECRET)
    return RunConfig(cases, tmp_path / "store", key)


def set_up(course: Course, folder: Path) -> GradingPlugin:
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


def test_a_worker_receives_neither_secret_nor_store(config):
    course = Course.of(config)
    import pickle

    assert SECRET not in pickle.dumps(GradingPlugin(course))
    assert str(config.store).encode() not in pickle.dumps(GradingPlugin(course))
    assert "bundle" not in repr(course)


def test_a_worker_of_a_lower_tier_is_refused(config, tmp_path, monkeypatch):
    def only_landlock(_asked):
        raise SandboxError("the strict sandbox does not work on this machine: user namespaces: not permitted")

    monkeypatch.setattr(cluster_worker, "best_tier", only_landlock)
    assert "strict sandbox does not work" in set_up(Course.of(config), tmp_path).refusal


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (lambda course: replace(course, code="another"), "another version of the course"),
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
    assert Course.of(config).id != plugin.course.id, "also a second run of the same class"
    assert "another run" in refusal("another", worker)
    assert "another run" in grade_batch("another", [])
    plugin.refusal = None
    assert "another run" in grade_batch("another", []), "also while the other one is set up"
    assert grade_batch(plugin.course.id, []) is None, "it is asked again when it is ready"
    worker.plugins.clear()
    assert "another run" in grade_batch(plugin.course.id, []), "the other run has ended"


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
    with pytest.raises(UsageError, match="is not encrypted"):
        encrypted(address)


def test_an_encrypted_address_needs_certificates(config):
    assert encrypted("host:8786") == "tls://host:8786"
    with pytest.raises(UsageError, match="needs --certificates"):
        ClusterGrading([], config, "host:8786", None, 1).__enter__()


@pytest.mark.parametrize("call", [["scheduler"], ["worker", "tls://127.0.0.1:8786"]])
def test_scheduler_and_worker_need_certificates_on_one_machine_too(call):
    done = subprocess.run([GRADER, "cluster", *call], capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 2
    assert "Missing option '--certificates'" in done.stderr


@contextmanager
def scheduler(keys: Path) -> Iterator[str]:
    command = [GRADER, "cluster", "scheduler", "--certificates", keys, "--port", "0"]
    environment = {**os.environ, "TMPDIR": str(keys.parent)}  # Dask keeps a folder there
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "Scheduler at:" in line)
        yield f"tls://127.0.0.1:{line.rpartition(':')[2].strip()}"
    finally:
        process.kill()
        process.communicate()


def test_only_certificates_of_one_authority_are_trusted(tmp_path):
    ours, theirs, mixed = tmp_path / "ours", tmp_path / "theirs", tmp_path / "mixed"
    for folder in (ours, theirs):
        write_certificates(folder, days=1)
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    with pytest.raises(UsageError, match="is not empty"):
        write_certificates(ours, days=1)
    shutil.copytree(theirs, mixed)
    shutil.copy(ours / "ca.pem", mixed)  # accepts the scheduler, and is not accepted
    with scheduler(ours) as address:
        require_trust(address, ours, "worker")
        for folder in (theirs, mixed):
            done = subprocess.run(
                [GRADER, "cluster", "worker", address, "--certificates", folder],
                capture_output=True,
                text=True,
                timeout=HANGS,
            )
            assert done.returncode == 2
            assert "do not trust each other's certificates" in done.stderr
            assert len(done.stderr.strip().splitlines()) == 1
    with pytest.raises(UsageError, match="nothing answers"):
        require_trust(address, ours, "worker")


# ---- real workers that are refused

NO_NAMESPACES = 'for kind in user pid; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done; exec "$@"'


@contextmanager
def worker(address: str, keys: Path, before: list[str] | None = None, **variables: str) -> Iterator[None]:
    """A worker in processes of its own, with an empty cache."""
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


def refused(config: RunConfig, address: str, keys: Path) -> None:
    """Require that the only worker of a cluster may not grade."""
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


@pytest.mark.skipif(not has_user_namespaces(), reason="NOT TESTED: this system makes no user namespaces")
def test_a_real_worker_without_the_tier_is_refused(config, keys, capfd):
    less = ["unshare", "--user", "--map-root-user", "sh", "-c", NO_NAMESPACES, "sh"]
    strict = replace(config, key=replace(config.key, sandbox="strict"))
    with scheduler(keys) as address, worker(address, keys, less):
        refused(strict, address, keys)
    assert "is not used: the strict sandbox does not work on this machine" in capfd.readouterr().err


def test_a_real_worker_with_another_course_is_refused(config, keys, tmp_path, capfd):
    shutil.copytree(ROOT / "grader", tmp_path / "other" / "grader")
    with (tmp_path / "other" / "grader" / "judge" / "tolerance.py").open("a") as file:
        file.write("# another version\n")
    with scheduler(keys) as address, worker(address, keys, PYTHONPATH=str(tmp_path / "other")):
        refused(config, address, keys)
    assert "is not used: it has another version of the course" in capfd.readouterr().err


# ---- batches


class Future:
    def __init__(self, answer: object):
        self.answer = answer

    def done(self) -> bool:
        return True

    def result(self, timeout: float) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def cancel(self) -> None: ...


class Cluster:
    """A client of Dask whose workers answer as the test says."""

    status = "running"
    unregistered = ""
    lost = False

    def __init__(self, answers, refusals):
        self.answers, self.refusals, self.sent = answers, refusals, []
        self.others: dict[str, object] = {}

    def scheduler_info(self, n_workers=5):
        return {"workers": dict(list(self.refusals.items())[: None if n_workers == -1 else n_workers])}

    def cancel(self, _futures): ...

    def unregister_worker_plugin(self, name):
        self.unregistered = name

    def run(self, _function, _course, workers=None, on_error=""):
        if _function is serves_another:
            return self.others
        if self.lost:
            raise OSError("Timed out")
        return {address: self.refusals[address] for address in workers}

    def submit(self, _function, _course, tasks, workers, allow_other_workers, pure):
        self.sent.append((workers[0], [task.number for task in tasks]))
        return Future(self.answers(tasks))


def result(outcome: str, score: float | None) -> ExerciseResult:
    return ExerciseResult("transpose_qkv", "04_heads", outcome, score, 3.0)


def graded(tasks: list[Task]) -> list[TaskResult]:
    return [TaskResult((result("passed", 3.0),), (result("passed", 3.0),)) for _task in tasks]


def run(config, monkeypatch, answers, refusals, number: int = 3, equal: int = 99):
    """Grade tasks, of which each `equal`-th has the same content; return the results and what was sent."""
    grading = ClusterGrading(load_all(config.bundles), config, "local:1", None, number)
    grading._client = Cluster(answers, refusals)
    tasks = [Task(n, Path("a.py"), bytes, ("transpose_qkv",)) for n in range(number)]
    stored: set[str] = set()

    def look_up(task: Task) -> TaskResult:
        content = str(task.number % equal)
        if content in stored:
            return TaskResult((result("passed", 3.0),), content=content)
        return TaskResult((result("could_not_grade", None),), content=content, to_send=task)

    def one_ahead(tasks):
        found = None
        for task in tasks:
            before, found = found, (task, look_up(task))
            if before:
                yield before
        if found:
            yield found

    grading._lookup = SimpleNamespace(run=one_ahead)
    monkeypatch.setattr("grader.classroom.cluster.wait", lambda *_a, **_k: None)
    results = {}
    for task, found in grading.run(tasks):
        results[task.number] = found
        stored.add(found.content)
    return results, grading._client.sent


def test_a_batch_whose_worker_is_lost_is_graded_again(config, monkeypatch):
    calls = iter([RuntimeError("lost"), None])
    results, sent = run(
        config, monkeypatch, lambda tasks: next(calls, None) or graded(tasks), {"a": ""}, number=2
    )
    assert [found.results[0].outcome for found in results.values()] == ["passed", "passed"]
    assert len(sent) == 3


def test_a_submission_whose_workers_are_lost_gets_no_zero(config, monkeypatch):
    def answers(tasks):
        return RuntimeError("lost") if 1 in [task.number for task in tasks] else graded(tasks)

    results, sent = run(config, monkeypatch, answers, {"a": "", "b": ""}, number=8)
    assert [n for n, found in sorted(results.items()) if found.grader_failed] == [1]
    lost = results[1]
    assert [(r.outcome, r.score) for r in lost.results] == [("could_not_grade", None)]
    assert lost.new == ()
    assert "were lost 3 times" in lost.problem
    assert [numbers for _address, numbers in sent].count([1]) == 3


def test_equal_submissions_are_sent_once_at_a_time(config, monkeypatch):
    results, sent = run(config, monkeypatch, graded, {"a": ""}, number=40, equal=2)
    assert sent[0] == ("a", [0, 1])
    assert [results[n].results[0].outcome for n in range(40)] == ["passed"] * 40
    assert [len(results[n].new) for n in range(20)] == [1, 1] + [0] * 18


def test_what_was_graded_since_it_was_looked_up_is_not_sent_again(config, monkeypatch):
    results, sent = run(config, monkeypatch, graded, {"a": ""}, number=3, equal=1)
    assert sent == [("a", [0])]
    assert [results[n].results[0].outcome for n in range(3)] == ["passed"] * 3


def test_every_worker_of_a_large_cluster_grades(config, monkeypatch):
    _results, sent = run(config, monkeypatch, graded, dict.fromkeys("abcdefgh", ""), number=100)
    assert {address for address, _numbers in sent} == set("abcdefgh")


@pytest.mark.parametrize(
    ("others", "name"), [({"a": False}, NAME), ({"a": False, "b": True}, ""), ({"a": OSError()}, NAME)]
)
def test_the_plugin_of_another_run_stays(config, others, name):
    grading = ClusterGrading([], config, "local:1", None, 1)
    grading._client = Cluster(graded, {})
    grading._client.others = others
    grading._leave()
    assert grading._client.unregistered == name


def test_a_scheduler_that_is_lost_is_one_sentence(config, monkeypatch):
    monkeypatch.setattr(Cluster, "lost", True)
    with pytest.raises(ClusterError, match="the scheduler does not answer"):
        run(config, monkeypatch, graded, {"a": ""})


def test_workers_that_are_refused_get_nothing(config, monkeypatch, capsys):
    refusals = {"good": "", "bad": "it is another machine", "bare": ModuleNotFoundError("grader")}
    _results, sent = run(config, monkeypatch, graded, refusals)
    assert {address for address, _numbers in sent} == {"good"}
    assert "The worker bad is not used: it is another machine." in capsys.readouterr().err
    with pytest.raises(ClusterError, match="no worker of this cluster"):
        run(config, monkeypatch, graded, {"bad": "it is another machine"})


# ---- all of it

ROOT_ONLY = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("ip"),
    reason="NOT TESTED: network namespaces need root and ip",
)


@ROOT_ONLY
def test_hosts_that_lose_workers_store_what_one_machine_does(tmp_path):
    private = ["unshare", "--mount", "--propagation", "private"]  # `ip netns` leaves a mount
    script = [sys.executable, ROOT / "scripts" / "cluster_hosts.py"]
    done = subprocess.run(
        [*private, *script, "--submissions", "30", "--kill-every", "10"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.stdout.splitlines()[-1] == "equal", done.stdout + done.stderr
    assert done.returncode == 0
    assert "host b killed" in done.stdout
