"""Edited versions of a file run one after the other, and no version affects the next."""

import pytest
import torch

from grader.worker.load import Files, load
from grader.worker.results import packed
from grader.worker.run_edits import Editor
from grader.worker.steps import Build, Call, Callee, Input, Load, Mode, Ref, Run, See

FORWARD = """    def forward(self, X):
        self.seen.append(1)
        return self.W.weight * X + len(self.seen)
"""
SOURCE = """import torch


class Scale(torch.nn.Module):
    def __init__(self, start):
        super().__init__()
        self.W = torch.nn.Linear(1, 1, bias=False)
        self.seen = []
        self.start = start

"""
SOURCE += FORWARD
CASE = Run(
    [
        Build("module", "Scale", {"start": 1}),
        Load("module", {"W.weight": "W.weight"}),
        Mode("module", train=False),
        Input("X"),
        Call("out", Callee(ref="module"), [Ref("X")], {}),
        See("out", Ref("out")),
    ],
    "float32",
)
BODY = packed({"X": torch.tensor([[2.0]]), "W.weight": torch.tensor([[3.0]])})
FIRST = SOURCE.splitlines().index("    def forward(self, X):") + 1  # the line number of `forward`


@pytest.fixture
def editor():
    return Editor(load(Files(units=[{"name": "answer.py", "source": SOURCE}], given={})), "cpu")


def forward(change: str, to: str) -> dict[str, str]:
    """Return an edit of `forward` as the parent sends it: its class with this method, on its lines."""
    source = "\n" * (FIRST - 2) + "class Scale:\n" + FORWARD.replace(change, to)
    return {"file": "answer.py", "source": source, "function": "Scale.forward"}


def whole(change: str, to: str) -> dict[str, str]:
    """Return an edit of the whole class."""
    source = SOURCE.replace("import torch\n", "\n").replace(change, to)
    return {"file": "answer.py", "source": source, "function": ""}


def results(editor: Editor, *edits: dict[str, str]) -> list:
    """Return the output of each edit, or the type of its exception. The unedited file gives 3 · 2 + 1."""
    # seconds: CPU time for all edits. each: for one. lines: whether to note the lines that run.
    request = {"case": CASE, "edits": list(edits), "seconds": 9.0, "each": 9.0, "lines": False}
    reply, body = editor.try_edits(request, BODY)
    found, start = [], 0
    for tried, size in zip(reply["replies"], reply["sizes"], strict=True):
        stop = start + size
        if "error" in tried:
            found.append(tried["error"]["type"])
        else:  # the last 4 bytes are the observed value
            found.append(torch.frombuffer(bytearray(body[stop - 4 : stop]), dtype=torch.float32).item())
        start = stop
    return found


SAME = forward("", "")


def test_an_edit_of_a_function_gives_the_same_as_of_its_class(editor):
    change = ("self.W.weight * X", "self.W.weight - X")
    assert results(editor, forward(*change), forward(*change)) == [2.0, 2.0]
    assert results(editor, whole(*change), whole(*change)) == [2.0, 2.0]


def test_the_next_edit_starts_with_the_submitted_function(editor):
    assert results(editor, forward("* X", "/ X"), SAME, whole("* X", "/ X"), SAME) == [2.5, 7.0, 2.5, 7.0]


def test_the_next_edit_starts_with_the_model_as_it_was_built(editor):
    zero = forward("self.seen.append(1)", "self.W.weight.data.zero_()")
    new = forward("self.seen.append(1)", "self.W.weight = torch.nn.Parameter(torch.ones(1, 1))")
    gone = forward("self.seen.append(1)", "del self.W, self.seen")
    assert results(editor, SAME, zero, SAME, new, gone, SAME) == [7.0, 0.0, 7.0, 2.0, "AttributeError", 7.0]


def test_the_next_edit_starts_with_the_original_inputs(editor):
    assert results(editor, forward("self.seen.append(1)", "X.zero_()"), SAME) == [0.0, 7.0]


def test_an_edit_of_a_constructor_gets_a_new_model(editor):
    build = whole("self.seen = []", "self.seen = [1]")
    constructor = SOURCE.split("    def forward")[0].split("    def __init__")[1].replace("[]", "[1]")
    above = "\n" * 3  # as in SOURCE, the class begins in line 4
    source = f"{above}class Scale:\n    def __init__{constructor}"
    method = {"file": "answer.py", "source": source, "function": "Scale.__init__"}
    assert results(editor, SAME, build, method, SAME) == [7.0, 8.0, 8.0, 7.0]


def test_the_next_edit_starts_with_lazy_layers_as_they_were_built():
    lazy = SOURCE.replace("Linear(1, 1, bias=False)", "LazyLinear(1, bias=False)")
    lazy = lazy.replace("self.W.weight * X", "self.W(X)")
    editor = Editor(load(Files(units=[{"name": "answer.py", "source": lazy}], given={})), "cpu")
    call = forward("self.W.weight * X", "self.W(X)")
    assert results(editor, call, call, SAME) == [7.0] * 3


def test_models_are_built_once_for_edits_that_do_not_build(editor, monkeypatch):
    built = []
    linear = torch.nn.Linear
    monkeypatch.setattr(torch.nn, "Linear", lambda *a, **k: built.append(1) or linear(*a, **k))
    assert results(editor, *[SAME] * 5) == [7.0] * 5
    assert results(editor, *[SAME] * 5) == [7.0] * 5
    assert len(built) == 1


def test_an_edit_of_a_missing_function_raises_lookup_error(editor):
    """The file has no function of this name, or none at this line."""
    assert results(editor, {**SAME, "function": "Scale.call"}, SAME) == ["LookupError", 7.0]
    assert results(editor, {**SAME, "source": "\n" + SAME["source"]}, SAME) == ["LookupError", 7.0]


def test_models_that_cannot_be_reused_are_built_for_each_edit():
    """A buffer whose entries share memory cannot be restored by a copy of its values."""
    wide = SOURCE.replace(
        "self.seen = []", 'self.seen = []; self.register_buffer("b", torch.ones(1).expand(4))'
    )
    editor = Editor(load(Files(units=[{"name": "answer.py", "source": wide}], given={})), "cpu")
    assert results(editor, SAME, SAME) == [7.0, 7.0]


def test_a_buffer_changed_in_place_is_a_leaf_again():
    held = SOURCE.replace("self.seen = []", 'self.seen = []; self.register_buffer("b", torch.ones(1))')
    editor = Editor(load(Files(units=[{"name": "answer.py", "source": held}], given={})), "cpu")
    leaf = forward("return", "assert self.b.is_leaf; self.b *= self.W.weight[0]; return")
    assert results(editor, leaf, leaf) == [7.0, 7.0]
