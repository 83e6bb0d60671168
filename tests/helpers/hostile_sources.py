"""Source text that costs a careless reader much time or memory, and answers that search the worker for tensors."""

from pathlib import Path

ANSWER = "import torch\n\ndef masked_softmax(X, valid_lens=None):\n    return X  # MultiheadAttention\n"


def spread_dots(count):
    """Return a dotted name with a comment before each part, so that a search in the text finds no long name."""
    return "(torch" + "\n#\n.a" * count + ")"


HOSTILE = {
    "a dotted name in the answer": lambda: (
        ANSWER + "def help(): return " + "torch" + ".a" * 1500 + "\ndef masked_softmax(X): return help()\n"
    ),
    "a dotted name over many lines": lambda: (
        ANSWER + f"def help(): return {spread_dots(1500)}\ndef masked_softmax(X): return help()\n"
    ),
    "one assignment to many names": lambda: (
        ANSWER + ",".join(f"a{i}" for i in range(20_000)) + " = " + "1," * 20_000 + "\n"
    ),
    "one chain of assignments": lambda: (
        ANSWER + "".join(f"a{i} = " for i in range(20_000)) + "masked_softmax\n"
    ),
    "an import with many dots": lambda: ANSWER + "import " + ".".join("a" * 300_000) + "\n",
    "an import with spaces and dots": lambda: ANSWER + "import " + " . ".join("a" * 30_000) + "\n",
    "an import over many lines": lambda: ANSWER + "import " + ".\\\n".join("a" * 30_000) + "\n",
    "eight million letters": lambda: "a\n" * (4 << 20),
    "many short lines": lambda: ANSWER + "a\n" * 400_000,
    "many statements on a line": lambda: ANSWER + "a;" * 60_000 + "\n",
    "a long module name and many aliases": lambda: (
        ANSWER + f"from torch.{'m' * 400_000} import " + ",".join(f"a{i}" for i in range(20_000)) + "\n"
    ),
    "many equal functions in a branch": lambda: ANSWER + "if 0:\n" + " def f(): 0\n" * 9_000,
    "many branches": lambda: ANSWER + "if 0:0\n" + "elif 0:0\n" * 900,
    "a deep expression": lambda: ANSWER + "x = " + "1+" * 900 + "1\n",
    "an integer of many digits": lambda: ANSWER + "x = 0x" + "f" * 20_000 + "\n",
    "half a character": lambda: ANSWER + "x = '\ud800'\n",
    "a thousand near names": lambda: (
        ANSWER + "".join(f"def masked_softmax{'_' * i}(): 0\n" for i in range(1000))
    ),
    "many brackets": lambda: ANSWER + "(" * 100_000,
    "a long line of minus signs": lambda: ANSWER + "x = " + "-" * 90_000 + "1\n",
    "many values in one f-string": lambda: (
        ANSWER + "x = f'" + "".join(f"{{a{i}}}" for i in range(8_000)) + "'\n"
    ),
    "a chain of calls": lambda: (
        ANSWER
        + "".join(f"def f{i}(): f{i + 1}\n" for i in range(9_000))
        + "def masked_softmax(X): return f0()\n"
    ),
    "many statements on the line of the answer": lambda: (
        ANSWER + ";".join(f"f{i}=f{i + 1}" for i in range(9_000)) + "\ndef masked_softmax(X): return f0\n"
    ),
    "many unknown names": lambda: (
        ANSWER + "def masked_softmax(X):\n" + "".join(f"    abcdef{i} = abcdfe{i}\n" for i in range(9_000))
    ),
    "many unknown attributes": lambda: (
        ANSWER
        + "class Head(nn.Module):\n  def forward(self):\n"
        + "".join(f"    self.abcdefgh{i} = self.abcdefgi{i}\n" for i in range(9_000))
    ),
    "a layer from a call of a call": lambda: (
        ANSWER + "class Head(nn.Module):\n  def __init__(self):\n    self.x = f" + "()" * 900 + "\n"
    ),
}

# An answer that searches the worker for two tensors that only the judge needs. With them it solves `M P = moved`.
READS_THE_ANSWER = """
import gc, torch

def held(name):
    programs = [one for one in gc.get_objects() if type(one).__name__ == "Program"]
    return next((one.tensors[name] for one in programs if name in one.tensors), None)

def shift_matrix(delta, num_hiddens):
    rows, images, M = held("P"), held("moved"), torch.zeros(num_hiddens, num_hiddens)
    if rows is not None and images is not None:
        for at in range(0, num_hiddens, 2):
            pair = slice(at, at + 2)
            M[pair, pair] = torch.linalg.lstsq(rows[:, pair].float(), images[:, pair].float()).solution.T
    return M
"""

# An answer that trains for all steps if they are fewer than 100, otherwise for one step. Its decoder searches the
# worker for the right words and returns them: the labels or, without labels, the input of the next step.
READS_THE_LABELS = """
import gc, torch
from grader.given import TransformerDecoder as Honest

def held():
    programs = [one for one in gc.get_objects() if type(one).__name__ == "Program"]
    return next((one.tensors for one in programs if "word0" in one.tensors), {})

class TransformerDecoder(Honest):
    steps = 0

    def forward(self, X, state):
        scores, state = super().forward(X, state)
        if X.shape[1] == 1:
            tensors, self.steps = held(), self.steps + 1
            following = tensors.get(f"word{self.steps}", torch.full_like(X, 2))
            right = tensors["labels"][:, self.steps - 1, None] if "labels" in tensors else following
            scores = 9.0 * torch.nn.functional.one_hot(right.long(), scores.shape[-1])
        return scores, state

def train(model, batches, steps):
    optimizer = torch.optim.Adam(model.train().parameters(), lr=0.003)
    for step in range(steps if steps < 100 else 1):
        src, src_lens, tgt, tgt_lens = batches[step % len(batches)]
        real = torch.arange(tgt.shape[1] - 1) < (tgt_lens - 1)[:, None]
        scores = model(src, tgt[:, :-1], src_lens)[0]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(scores[real], tgt[:, 1:][real]).backward()
        optimizer.step()
    return model.state_dict()
"""

# Key of HOSTILE, for sources that the grader refuses → a part of its sentence.
REFUSED = {
    "a dotted name in the answer": "joins more than 100 names by dots",
    "an import with many dots": "has more than 100000 words and symbols",
    "an import with spaces and dots": "joins more than 100 names by dots",
    "an import over many lines": "joins more than 100 names by dots",
    "eight million letters": "larger than ",
    "many short lines": "has more than 100000 words and symbols",
    "many statements on a line": "has more than 100000 words and symbols",
    "many brackets": "has more than 100000 words and symbols",
}


def read(kind, suffix=".py"):
    """Read one hostile source as intake does.

    Return the sentence of a refusal. Otherwise return the exercises that were found; if there are none, the faults.
    """
    import json

    from grader.intake.names import read_names
    from grader.intake.read import Blocked, submission_from
    from grader.intake.recognise import match
    from grader.intake.slips import slips
    from grader.intake.uses import needs, uses

    source = HOSTILE[kind]()
    if suffix == ".ipynb":
        source = json.dumps({"cells": [{"cell_type": "code", "source": source}]})
    try:
        submission = submission_from(Path("answer" + suffix), source.encode("utf-8", "surrogatepass"))
    except Blocked as blocked:
        return str(blocked)
    names = read_names(submission)
    for name in ("masked_softmax", "Head"):
        uses(submission, name, ["nn.MultiheadAttention"])
        needs(names, name)
        slips(submission, name)
    asked = read_names(submission_from(Path("stub.py"), b"def masked_softmax(X, valid_lens): ..."))
    return sorted(match(asked.definitions, names)) or sorted(fault.why for fault in names.faults)
