"""Edited versions of a file run one after the other, and no version affects the next."""

import torch

from grader.worker.load import Files, Loaded, load
from grader.worker.results import packed
from grader.worker.run_edits import try_edits
from grader.worker.steps import Asked, Build, Call, Callee, Input, Load, Mode, Ref, Run, See

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
TENSORS = packed({"X": torch.tensor([[2.0]]), "W.weight": torch.tensor([[3.0]])})


def loaded(source: str = SOURCE) -> Loaded:
    return load(Files(units=[{"name": "answer.py", "source": source}], given={}))


def edit(change: str, to: str, source: str = SOURCE) -> dict[str, str]:
    """Return an edit of the class as the parent sends it."""
    return {"file": "answer.py", "source": source.replace("import torch\n", "\n").replace(change, to)}


def results(file: Loaded, *edits: dict[str, str]) -> list:
    """Return the output of each edit, or the type of its exception. The unedited file gives 3 · 2 + 1."""
    # seconds: CPU time for all edits. each: for one.
    request = {"edits": list(edits), "seconds": 9.0, "each": 9.0}
    reply, body = try_edits(file, "cpu", request, Asked(CASE, TENSORS))
    found, start = [], 0
    for tried, size in zip(reply["replies"], reply["sizes"], strict=True):
        stop = start + size
        if "error" in tried:
            found.append(tried["error"]["type"])
        else:  # the last 4 bytes are the observed value
            found.append(torch.frombuffer(bytearray(body[stop - 4 : stop]), dtype=torch.float32).item())
        start = stop
    return found


SAME = edit("", "")
NOTHING = {"file": "", "source": ""}


def test_the_next_edit_starts_with_the_submitted_function():
    assert results(loaded(), edit("* X", "/ X"), SAME, edit("* X", "/ X")) == [2.5, 7.0, 2.5]


def test_an_edit_of_a_method_needs_no_other_code_of_its_class():
    method = {"file": "answer.py", "source": "class Scale:\n" + FORWARD.replace("* X", "/ X")}
    assert results(loaded(), method, SAME) == [2.5, 7.0]


def test_an_edit_reaches_what_holds_the_function():
    held = SOURCE.replace("self.W.weight * X", "TABLE[0](self.W.weight * X)")
    held += "\n\ndef double(X):\n    return 2 * X\n\n\nTABLE = [double]\n"
    threefold = {"file": "answer.py", "source": "def double(X):\n    return 3 * X\n"}
    assert results(loaded(held), threefold, NOTHING, threefold) == [19.0, 13.0, 19.0]


def test_the_next_edit_starts_with_the_model_as_it_was_built():
    zero = edit("self.seen.append(1)", "self.W.weight.data.zero_()")
    new = edit("self.seen.append(1)", "self.W.weight = torch.nn.Parameter(torch.ones(1, 1))")
    gone = edit("self.seen.append(1)", "del self.W, self.seen")
    assert results(loaded(), SAME, zero, SAME, new, gone, SAME) == [7.0, 0.0, 7.0, 2.0, "AttributeError", 7.0]


def test_the_next_edit_starts_with_the_original_inputs():
    assert results(loaded(), edit("self.seen.append(1)", "X.zero_()"), SAME) == [0.0, 7.0]


def test_an_edit_of_a_constructor_gets_a_new_model():
    assert results(loaded(), SAME, edit("self.seen = []", "self.seen = [1]"), SAME) == [7.0, 8.0, 7.0]
