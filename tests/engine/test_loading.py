"""A file that does not define an exercise, or whose worker is lost, has one sentence: which line, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.engine.load_request import LoadRequest
from grader.engine.one_try import defined_name
from grader.engine.session import WorkerGone
from grader.engine.worker_slot import CannotLoad, Loaded, how_loading_ended
from grader.intake.names import read_names
from grader.intake.read import Submission, Unit


@pytest.mark.parametrize(("cell", "times_out"), [("cell 1", False), ("cell 2", True)])
def test_only_an_endless_definition_is_a_reason(engine, cell, times_out):
    units = Unit("cell 1", "while True: pass\n"), Unit("cell 2", "def masked_softmax(X, valid_lens): ...\n")
    submission = Submission(Path("a.ipynb"), units)
    request = LoadRequest(submission, engine.exercises["masked_softmax"])
    note = {"file": cell, "line": 1, "endless": True}
    loaded = Loaded(request, frozenset(), frozenset(), (note,), reloaded=False)
    with pytest.raises(CannotLoad) as why:
        defined_name(request, loaded, read_names(submission))
    assert (str(why.value) == "cell 2, line 1: this definition timed out") == times_out


@pytest.mark.parametrize(
    ("why", "detail", "line", "sentence"),
    [
        ("time", "", ("a.py", 3), "its top-level code did not finish at a.py, line 3"),
        ("time", "", None, "its top-level code did not finish"),
        ("died", "signal 9", None, "the worker process ended twice while it ran your code (signal 9)"),
    ],
)
def test_a_worker_that_is_lost_while_it_loads_has_a_sentence(why, detail, line, sentence):
    gone = WorkerGone(why, detail)
    gone.line = line
    assert how_loading_ended(gone) == f"the file could not be loaded: {sentence}"
