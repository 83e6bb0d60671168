"""A cluster gives the results of one machine, also if workers are lost; it refuses workers that lie or do not fit."""

import gc
import http.client
import os
import re
import runpy
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import dask
import msgspec
import pytest
import yaml
from distributed import Client
from helpers.command_line import GRADER, HANGS_AFTER, ROOT, process
from helpers.files import fill
from helpers.school import ANSWER, WRONG, make_school, rows, run

from grader.bundle.files import load_all
from grader.classroom import cluster
from grader.classroom.class_run import versions
from grader.classroom.cluster import ClusterGrading, Reply, grade_sent, set_up, tear_down
from grader.classroom.cluster_connection import connect, write_certificate
from grader.classroom.grade import RunConfig, Task, TaskResult
from grader.classroom.store import Store, StoreKey
from grader.cli.instructor.grade import cluster as command
from grader.report.model import CheckResult, ExerciseResult, to_text
from grader.sandbox.base import SandboxError
from grader.support.errors import BadData, GraderError, UsageError

RECIPES = ROOT / "docs" / "recipes" / "cluster"
NAMES = ("transpose_qkv",)


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    shutil.copytree(ROOT / "assignments" / "04_heads", tmp_path / "cases" / "04_heads")
    return RunConfig(tmp_path / "cases", tmp_path / "store", StoreKey("cases", versions(), "basic"))


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    write_certificate(tmp_path / "cluster.pem")
    return tmp_path / "cluster.pem"


def grading(config: RunConfig, address: str = "local:2", certificate: Path | None = None) -> ClusterGrading:
    return ClusterGrading(load_all(config.bundles), config, address, certificate)


def tasks(*sources: str) -> list[Task]:
    return [
        Task(n, Path("heads.py"), partial(bytes, source.encode()), NAMES) for n, source in enumerate(sources)
    ]


# ---- a class


@pytest.mark.slow
def test_a_class_on_a_cluster_has_the_results_of_one_machine(tmp_path):
    school = make_school(tmp_path / "school")
    answers = {
        "ada.py": ANSWER,
        "bob.py": WRONG,
        "dee/heads.py": "from layers import transpose_qkv\n",
        "dee/layers.py": f"\ufeff{ANSWER}",
        "eve.py": "import os\ndef transpose_qkv(X, num_heads):\n    os._exit(0)\n",
        "gus.zip": "no archive",
    }
    fill(school / "class", answers)
    (school / "class" / "fay.py").write_bytes(b"\xff")
    call = ("grade", "class", "--format", "jsonl", "--store")
    here, there = run(school, *call, "here"), run(school, *call, "there", "--cluster", "local:2")
    assert here.returncode == there.returncode
    assert without_seconds(here) == without_seconds(there)
    stored = [sorted(row[:2] for row in rows(school / side)) for side in ("here", "there")]
    assert stored[0] == stored[1]


def without_seconds(done: subprocess.CompletedProcess[str]) -> str:
    return re.sub(r'"seconds": [\d.e-]+', "", done.stdout)


# ---- workers that are lost, or lie

# Dask runs this in each worker that it starts. {change} may use `first`, which is true in only one worker.
PRELOAD = """
import os
from dataclasses import replace
from grader.classroom.grade import BoundedGrading

if BoundedGrading.run.__module__ != __name__:  # Dask may load this file twice
    try:
        os.close(os.open({marker!r}, os.O_CREAT | os.O_EXCL))
        first = True
    except FileExistsError:
        first = False

    def run(self, tasks, honest=BoundedGrading.run):
        for task, result in honest(self, tasks):
            {change}
            yield task, result

    BoundedGrading.run = run
"""


@contextmanager
def changed_workers(folder: Path, change: str) -> Iterator[None]:
    file = folder / "preload.py"
    file.write_text(PRELOAD.format(marker=str(folder / "marker"), change=change), "utf-8")
    with dask.config.set({"distributed.worker.preload": [str(file)]}):
        yield


@pytest.mark.slow
def test_submissions_of_a_lost_worker_are_graded(config, tmp_path, monkeypatch):
    """One worker is killed by its first submission. WRONG kills each worker, so it is graded here."""
    kill = "if first or result.results[0].outcome == 'failed': os.kill(os.getpid(), 9)"
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # what is killed leaves files
    with changed_workers(tmp_path, kill), grading(config) as cluster_grading:
        results = dict(cluster_grading.run(tasks(*[ANSWER] * 5, WRONG)))
    outcomes = {task.number: result.results[0].outcome for task, result in results.items()}
    assert outcomes == {**dict.fromkeys(range(5), "passed"), 5: "failed"}
    assert not any(result.grader_failed for result in results.values())


@pytest.mark.slow
def test_a_worker_that_lies_is_refused_and_others_grade(config, tmp_path, capsys):
    lie = "result = replace(result, results=(replace(result.results[0], name='masked_softmax'),)) if first else result"
    with changed_workers(tmp_path, lie), grading(config) as cluster_grading:
        results = dict(cluster_grading.run(tasks(*[ANSWER] * 6)))
        with closing(Store(config.store, config.key)) as store:
            store.put([one for result in results.values() for one in result.new])
        again = dict(cluster_grading.run(tasks(ANSWER)))
    assert [result.results[0].outcome for result in (*results.values(), *again.values())] == ["passed"] * 7
    assert [len(result.new) for result in (*results.values(), *again.values())] == [1] * 6 + [0]
    assert capsys.readouterr().err.count("is not used: it sent something else than a result.") == 1


HONEST = ExerciseResult(
    "transpose_qkv", "04_heads", "passed", 3.0, 3.0, checks=(CheckResult("a", "values", "a", "passed"),)
)


@pytest.mark.parametrize(
    "lie",
    [
        replace(HONEST, name="transpose_output"),
        replace(HONEST, name="../../store"),
        replace(HONEST, assignment="/etc"),
        replace(HONEST, score=30.0, points=30.0),
        replace(HONEST, score=4.0),
        replace(HONEST, score=float("nan")),
        replace(HONEST, outcome="excellent"),
        replace(HONEST, seconds=float("inf")),
        replace(HONEST, title=3),
        replace(HONEST, checks=({"id": "a"},)),
    ],
)
def test_what_is_no_result_of_the_exercise_is_not_taken(config, lie):
    check = grading(config)._checked
    with pytest.raises((BadData, ValueError)):
        check(TaskResult(content="ada", wanted=NAMES), reply(lie))


def reply(*results: ExerciseResult) -> bytes:
    return msgspec.json.encode(Reply(tuple(map(to_text, results)), True, "", (), False))


@pytest.mark.parametrize(
    "answer",
    [
        reply(),
        reply(HONEST, HONEST),
        reply(HONEST)[:-1] + b',"content":"bob"}',
        reply(HONEST)[:-1],
        b"{}",
        b"[" * 100_000,
        HONEST,
    ],
)
def test_what_is_no_reply_is_not_taken(config, answer):
    check = grading(config)._checked
    with pytest.raises((ValueError, TypeError, RecursionError)):
        check(TaskResult(content="ada", wanted=NAMES), answer)


def test_a_result_is_stored_for_the_submission_that_was_sent(config):
    """A worker cannot name the file of another student, whatever it sends beside the results."""
    (sent,) = tasks(ANSWER)
    found = TaskResult(content="ada", size=9, tree="t", defines=NAMES, wanted=NAMES, to_send=sent)
    forged = replace(HONEST, content="bob")
    taken = grading(config)._checked(found, reply(forged))
    assert taken == replace(found, results=(replace(HONEST, content="ada"),), new=taken.results, to_send=None)


# ---- workers that do not fit


def worker(folder: Path) -> SimpleNamespace:
    return SimpleNamespace(local_directory=str(folder))


def test_a_worker_serves_the_last_two_classes_and_gets_no_store(config, tmp_path):
    (task,), courses = tasks(ANSWER), [grading(config)._course for _ in range(3)]
    assert courses[0].config.store is None
    assert "bundle" not in repr(courses[0]), "the repr, which Dask may log, holds no cases"
    place = tmp_path / "worker"
    place.mkdir()
    assert grade_sent(courses[0].run, task) is None, "the worker is not set up"
    for course in courses:
        set_up(course, worker(place))
        assert list(cluster._serving)[-1] == course.run
    assert list(cluster._serving) == [course.run for course in courses[1:]]
    assert grade_sent(courses[0].run, task) is None, "it was forgotten"
    for course in courses:
        tear_down(course.run)
    assert not list(place.iterdir()), "the cases are removed"


def test_a_worker_with_another_grader_or_without_the_tier_is_refused(config, tmp_path, monkeypatch):
    course = grading(config)._course
    of_another = replace(config, key=replace(config.key, grader="9.9 torch 9.9"))
    for another in (replace(course, code="another"), replace(course, config=of_another)):
        with pytest.raises(GraderError, match="another grader"):
            set_up(another, worker(tmp_path))

    def refuse_strict(_asked):
        raise SandboxError("the strict sandbox does not work on this machine")

    monkeypatch.setattr(cluster, "best_tier", refuse_strict)
    with pytest.raises(SandboxError, match="strict sandbox does not work"):
        set_up(course, worker(tmp_path))


# ---- connections


@contextmanager
def scheduler(certificate: Path) -> Iterator[tuple[str, int, subprocess.Popen[str]]]:
    """Run a scheduler. Yield its address, the port of its web pages, and its process."""
    call = [GRADER, "cluster", "scheduler", "--certificate", certificate]
    call += ["--", "--host", "tls://127.0.0.1:0", "--dashboard-address", "127.0.0.1:0"]
    environment = {**os.environ, "TMPDIR": str(certificate.parent)}
    with subprocess.Popen(call, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            address = next(line for line in process.stderr if "Scheduler at:" in line).split()[-1]
            pages = next(line for line in process.stderr if "dashboard at:" in line)
            yield address, int(pages.rpartition(":")[2].partition("/")[0]), process
        finally:
            process.kill()
            process.stderr.close()


@pytest.mark.slow
def test_a_scheduler_takes_its_certificate_alone_and_answers_its_probes(certificate, tmp_path):
    assert stat.S_IMODE(certificate.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="cannot be written: File exists"):
        write_certificate(certificate)
    write_certificate(tmp_path / "stranger.pem")
    with scheduler(certificate) as (address, port, _process), ExitStack() as opened:
        connect(address, certificate, opened).close()
        with pytest.raises(UsageError, match="certificate"):
            connect(address, tmp_path / "stranger.pem", opened)
        with pytest.raises(UsageError, match="encrypted address"):
            connect(address, None, opened)
        pages = {"/info/main/workers.html": 404, "/metrics": 404, **dict.fromkeys(probes(), 200)}
        for path, status in pages.items():
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS_AFTER)
            connection.request("GET", path)
            assert connection.getresponse().status == status, path
            connection.close()


@pytest.mark.slow
def test_a_run_without_workers_waits_and_ends_with_its_scheduler(certificate, config, monkeypatch):
    with (
        scheduler(certificate) as (address, _port, process),
        grading(config, address, certificate) as waiting,
    ):
        said = []
        monkeypatch.setattr(
            cluster, "print", lambda text, **_to: said.append(text) or process.kill(), raising=False
        )
        with pytest.raises(SandboxError, match="run the command again"):
            list(waiting.run(tasks(ANSWER)))
    assert "grading continues when a worker connects" in said[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("tcp://127.0.0.1:8786", "encryption required"),
        ("ucx://host:1", ""),
        ("tls://host", "port"),
        ("host", ""),
        ("local:x", "int"),
    ],
)
def test_an_address_without_encryption_or_port_is_refused(address, reason, certificate):
    with ExitStack() as opened, pytest.raises(UsageError, match=f"no connection to {address} .*{reason}"):
        connect(address, certificate, opened)
    left = [one for one in gc.get_objects() if type(one) is Client]
    assert not left  # it would end its thread at any time, and may wait for ever


def test_a_package_that_is_missing_is_named():
    code = "import sys; sys.modules['distributed'] = None; from grader.cli.main import main; main()"
    done = process(sys.executable, "-c", code, "cluster", "worker", "host:1", "--certificate", __file__)
    assert done.returncode == 2
    assert done.stderr == "grader: this needs the package distributed: python -m pip install distributed\n"


# ---- recipes


def probes() -> set[str]:
    scheduler_pod = manifest()["scheduler"]["spec"]["containers"][0]
    return {scheduler_pod[f"{kind}Probe"]["httpGet"]["path"] for kind in ("readiness", "liveness")}


def manifest() -> dict:
    return yaml.safe_load((RECIPES / "daskcluster.yaml").read_text("utf-8"))["spec"]


def test_the_recipes_use_options_that_exist(certificate, monkeypatch):
    from distributed.cli.dask_worker import main as dask_worker

    for role in ("scheduler", "worker"):
        (container,) = manifest()[role]["spec"]["containers"]
        name, role_, *arguments = container["args"]
        assert (name, role_) == ("cluster", role)
        (mount,) = container["volumeMounts"]
        file = certificate.name
        assert f"{mount['mountPath']}/{file}" in arguments
        given = [str(certificate) if word.endswith(file) else word for word in arguments]
        command.commands[role].make_context(role, given)
    stub = ModuleType("dask_jobqueue")
    stub.SLURMCluster = None
    with monkeypatch.context() as changed:
        changed.setitem(sys.modules, "dask_jobqueue", stub)
        changed.chdir(certificate.parent)
        changed.setattr(os, "environ", dict(os.environ))
        recipe = runpy.run_path(str(RECIPES / "slurm.py"))
        assert recipe["SECURITY"].get_connection_args("worker")["ssl_context"]
    dask.config.refresh()  # forget the settings of the recipe
    dask_worker.make_context("worker", ["tls://host:1", *recipe["OPTIONS"]["worker_extra_args"]])
