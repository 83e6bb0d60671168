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

ERROR = {"type": "KeyError", "message": "'d'", "where": None, "step": "", "near": ""}
SOFTMAX = "def masked_softmax(X, valid_lens): ...\n"


def name_found(engine, source: str, names: set[str], *notes: dict) -> str:
    """Return the name of `masked_softmax` in a file, as if a worker had loaded it and sent these names and notes."""
    submission = Submission(Path("a.py"), (Unit("a.py", source),))
    request = LoadRequest(submission, engine.exercises["masked_softmax"])
    loaded = Loaded(request, request.limits, frozenset(names), frozenset(), notes, reloaded=False)
    return defined_name(request, loaded, read_names(submission))


def test_a_name_that_the_worker_has_is_found(engine):
    assert name_found(engine, SOFTMAX, {"masked_softmax"}) == "masked_softmax"


@pytest.mark.parametrize(
    ("source", "notes", "sentence"),
    [
        ("x = 1\ny = (\n", (), "a.py, line 2: "),
        ("def masked_softmax(:\n", (), "Python cannot read masked_softmax: a.py, line 1: "),
        (SOFTMAX, ({"file": "a.py", "line": 1, "endless": True},), "a.py, line 1: this definition timed out"),
    ],
    ids=["a syntax error elsewhere", "a syntax error in it", "endless"],
)
def test_a_name_that_is_missing_has_a_reason(engine, source, notes, sentence):
    with pytest.raises(CannotLoad) as why:
        name_found(engine, source, set(), *notes)
    assert str(why.value).startswith(sentence)


def test_a_note_on_another_file_is_no_reason(engine):
    note = {"file": "b.py", "line": 1, "defines": ["masked_softmax"], "error": ERROR}
    with pytest.raises(CannotLoad) as why:
        name_found(engine, "x = 1\n", set(), note)
    assert str(why.value) == "masked_softmax is not defined in a.py"


def test_an_endless_statement_in_another_cell_is_no_reason(engine):
    submission = Submission(Path("a.ipynb"), (Unit("cell 1", "while True: pass\n"), Unit("cell 2", SOFTMAX)))
    request = LoadRequest(submission, engine.exercises["masked_softmax"])
    note = {"file": "cell 1", "line": 1, "endless": True}
    loaded = Loaded(request, request.limits, frozenset(), frozenset(), (note,), reloaded=False)
    with pytest.raises(CannotLoad) as why:
        defined_name(request, loaded, read_names(submission))
    assert "timed out" not in str(why.value)


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
