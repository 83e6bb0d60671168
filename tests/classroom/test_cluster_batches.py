"""Grading on a cluster with a fake Dask client: batches per worker, refused and lost workers, a lost scheduler."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from distributed.comm import CommClosedError

from grader.bundle.files import load_all
from grader.classroom.cluster import ClusterError, ClusterGrading
from grader.classroom.cluster_worker import NAME, serves_another
from grader.classroom.grading_process import RunConfig, Task, TaskResult
from grader.classroom.store import StoreKey
from grader.report.model import ExerciseResult

HEADS = Path(__file__).resolve().parents[2] / "assignments" / "04_heads"


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    shutil.copytree(HEADS, tmp_path / "cases" / HEADS.name)
    return RunConfig(tmp_path / "cases", tmp_path / "store", StoreKey("cases", "grader", "basic"))


class Future:
    """A finished Dask future. answer: its result, or the exception that it raises."""

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
    """A fake Dask client.

    answers: makes the answer of a worker from the tasks that it gets. refusals: the address of a worker → why it
    is refused (a sentence or an exception); "" if it is accepted. sent: (address of the worker, numbers of the tasks)
    of each batch. others: address → whether that worker serves another run, or an exception. unregistered: the name
    of the plugin that was removed. lost: whether the scheduler does not answer. registered: how often the plugin was
    sent; the first `lost_registrations` calls fail.
    """

    status = "running"
    unregistered = ""
    lost = False

    def __init__(self, answers, refusals):
        self.answers, self.refusals, self.sent = answers, refusals, []
        self.others: dict[str, object] = {}
        self.registered, self.lost_registrations = 0, 0

    def scheduler_info(self, n_workers=5):
        shown = None if n_workers == -1 else n_workers  # as in Dask, -1 means all
        return {"workers": dict(list(self.refusals.items())[:shown])}

    def register_plugin(self, _plugin, _name):
        self.registered += 1
        if self.registered <= self.lost_registrations:
            raise CommClosedError("Stream is closed")

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
    """Grade `number` tasks. Return the results and the sent batches.

    Tasks have the same content if their numbers are equal modulo `equal`.
    """
    grading = ClusterGrading(load_all(config.bundles), config, "local:1", None, number)
    grading._client = Cluster(answers, refusals)
    # `bytes` stands for a function that reads the file: it returns b"".
    tasks = [Task(n, Path("a.py"), bytes, ("transpose_qkv",)) for n in range(number)]
    stored: set[str] = set()

    def look_up(task: Task) -> TaskResult:
        content = str(task.number % equal)
        if content in stored:
            return TaskResult((result("passed", 3.0),), content=content)
        return TaskResult((result("could_not_grade", None),), content=content, to_send=task)

    def one_ahead(tasks):
        """Look up each task before the previous one is yielded, as the real lookup process does."""
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
    losses = iter([RuntimeError("lost")])
    results, sent = run(
        config, monkeypatch, lambda tasks: next(losses, None) or graded(tasks), {"a": ""}, number=2
    )
    assert [found.results[0].outcome for found in results.values()] == ["passed", "passed"]
    assert len(sent) == 3  # two batches of one task each; the first is sent twice


def test_a_submission_that_loses_three_workers_gets_no_zero(config, monkeypatch):
    def answers(tasks):
        return RuntimeError("lost") if 1 in [task.number for task in tasks] else graded(tasks)

    results, sent = run(config, monkeypatch, answers, {"a": "", "b": ""}, number=8)
    assert [n for n, found in sorted(results.items()) if found.grader_failed] == [1]
    lost = results[1]
    assert [(r.outcome, r.score) for r in lost.results] == [("could_not_grade", None)]
    assert lost.new == ()
    assert "3 workers exited" in lost.problem
    assert [numbers for _address, numbers in sent].count([1]) == 3


@pytest.mark.parametrize(("lost", "succeeds"), [(0, True), (9, True), (10, False)])
def test_sending_the_course_is_tried_up_to_ten_times(config, monkeypatch, lost, succeeds):
    """A call that sends the course fails if a worker exits meanwhile."""
    monkeypatch.setattr("grader.classroom.cluster.TICK", 0)
    grading = ClusterGrading(load_all(config.bundles), config, "local:1", None, 1)
    grading._client = Cluster(graded, {"a": ""})
    grading._client.lost_registrations = lost
    failure = pytest.raises(ClusterError, match="the scheduler does not answer")
    with nullcontext() if succeeds else failure:
        grading._register()
    assert grading._client.registered == min(lost + 1, 10)


def test_of_equal_submissions_only_the_first_is_sent(config, monkeypatch):
    results, sent = run(config, monkeypatch, graded, {"a": ""}, number=40, equal=2)
    assert sent == [("a", [0, 1])]
    assert [results[n].results[0].outcome for n in range(40)] == ["passed"] * 40
    assert [len(results[n].new) for n in range(40)] == [1, 1] + [0] * 38


def test_a_task_is_not_sent_if_an_equal_one_was_graded_meanwhile(config, monkeypatch):
    results, sent = run(config, monkeypatch, graded, {"a": ""}, number=3, equal=1)
    assert sent == [("a", [0])]
    assert [results[n].results[0].outcome for n in range(3)] == ["passed"] * 3


def test_every_worker_of_a_large_cluster_grades(config, monkeypatch):
    _results, sent = run(config, monkeypatch, graded, dict.fromkeys("abcdefgh", ""), number=100)
    assert {address for address, _numbers in sent} == set("abcdefgh")


@pytest.mark.parametrize(
    ("others", "unregistered"),
    [({"a": False}, NAME), ({"a": False, "b": True}, ""), ({"a": OSError()}, NAME)],
)
def test_the_plugin_stays_only_if_a_worker_serves_another_run(config, others, unregistered):
    grading = ClusterGrading([], config, "local:1", None, 1)
    grading._client = Cluster(graded, {})
    grading._client.others = others
    grading._leave()
    assert grading._client.unregistered == unregistered


def test_a_lost_scheduler_raises_a_cluster_error(config, monkeypatch):
    monkeypatch.setattr(Cluster, "lost", True)
    with pytest.raises(ClusterError, match="the scheduler does not answer"):
        run(config, monkeypatch, graded, {"a": ""})


def test_workers_that_are_refused_get_no_batch(config, monkeypatch, capsys):
    refusals = {"good": "", "bad": "it is another machine", "bare": ModuleNotFoundError("grader")}
    _results, sent = run(config, monkeypatch, graded, refusals)
    assert {address for address, _numbers in sent} == {"good"}
    assert "The worker bad is not used: it is another machine." in capsys.readouterr().err
    with pytest.raises(ClusterError, match="no worker of this cluster"):
        run(config, monkeypatch, graded, {"bad": "it is another machine"})
