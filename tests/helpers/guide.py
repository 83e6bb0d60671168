"""Run the commands of docs/instructor.md unchanged. In the middle, a small class submits."""

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from helpers.command_line import ROOT, process
from helpers.nbgrader_class.school import cell, environment
from helpers.school import make_school

GUIDE = ROOT / "docs" / "instructor.md"
ASSIGNMENT = "02_masking"

IMPORT = "nbgrader db student import students.csv"  # the class submits before this command
# Commands of the document that this walk does not run, and why.
ELSEWHERE = {
    "make install": "it is installed: the walk uses this environment",
    ". .venv/bin/activate": "the PATH of the walk has the environment's commands",
    "jupyter lab": "it opens a browser",
}

MASK = """\
def sequence_mask(X, valid_len, value=0):
    steps = torch.arange(X.shape[1], device=X.device)
    keep = steps[None, :] < valid_len[:, None]
    keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))
    return X.masked_fill(~keep, value)
"""
SOFTMAX = """\
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]
    keep = torch.arange(X.shape[-1], device=X.device) < valid_lens[:, :, None]
    return X.masked_fill(~keep, torch.finfo(X.dtype).min).softmax(dim=-1)
"""
# A wrong answer: it masks after the softmax.
TOO_LATE = """\
def masked_softmax(X, valid_lens):
    weights = X.softmax(dim=-1)
    if valid_lens is None:
        return weights
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]
    keep = torch.arange(X.shape[-1], device=X.device) < valid_lens[:, :, None]
    return weights * keep
"""
TENTH = MASK.replace("X.masked_fill", "0.9 * X.masked_fill")  # the group that gets a name
# Wrong for integers; the document removes integers from the cases.
AS_FLOATS = MASK.replace("X.masked_fill(~keep, value)", "X * keep.float() + value * (~keep).float()")

# student → answers for (sequence_mask, masked_softmax)
CLASS = {
    "ada": (MASK, SOFTMAX),
    "bob": (MASK, TOO_LATE),
    "dee": (TENTH, TOO_LATE),
    "hal": (TENTH, SOFTMAX),
    "ian": (AS_FLOATS, SOFTMAX),
    "zoe": (TENTH + "# her own\n", SOFTMAX),
}
ABSENT = "abe"  # is in the class list and submits nothing


def commands(guide: Path) -> list[str]:
    """Return the commands of a document, in order: the lines of its blocks marked `sh`, without their comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", guide.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = [re.sub(r"\s+#.*$", "", line) for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.strip() and not line.startswith("#")]


@dataclass
class Walk:
    """An instructor's checkout in a folder of its own, and what the commands printed there."""

    root: Path
    said: list[tuple[str, str]] = field(default_factory=list)  # (command, what it printed)

    @property
    def checkout(self) -> Path:
        return self.home / "headway"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def course(self) -> Path:
        return self.home / "attention-2027"

    def prepare(self) -> None:
        """Make a checkout with the grader and one assignment: recording all hidden cases would take minutes."""
        shutil.copytree(
            ROOT / "grader", self.checkout / "grader", ignore=shutil.ignore_patterns("__pycache__")
        )
        make_school(self.checkout, ASSIGNMENT)

    def go(self) -> None:
        """Run every command of the document, each in the folder where the one before ended.

        The students submit before the command `IMPORT`. GROUP is the group without a name that was printed last.
        """
        here = self.checkout
        for line in commands(GUIDE):
            if line in ELSEWHERE:
                continue
            if line == IMPORT:
                self.hand_in()
            here = self._typed(line, here)

    def _typed(self, line: str, here: Path) -> Path:
        """Run a line in the folder `here`. Return the working folder at its end.

        `grader grade` may exit with 1 (not all students passed), `grader regrade` too (points change).
        """
        groups = re.findall(r"sequence_mask:[0-9a-f]{16}", " ".join(printed for _line, printed in self.said))
        typed = line.replace("GROUP", groups[-1]) if groups else line
        script = f"{typed}\ncode=$?; echo; pwd; exit $code"
        from_here = {
            "PYTHONPATH": str(self.checkout),
            "COLUMNS": "100",
        }  # as if the grader were installed from there
        done = process(
            "bash", "-c", script, cwd=here, env=environment(self.home, self.root / "cache", **from_here)
        )
        allowed = (0, 1) if line.startswith(("grader grade", "grader regrade")) else (0,)
        assert done.returncode in allowed, (line, done.stdout, done.stderr)
        printed, _newline, place = done.stdout.rstrip("\n").rpartition("\n")
        self.said.append((line, printed + done.stderr))
        return Path(place)

    def hand_in(self) -> None:
        """Submit the notebook of every student, and write the class list `students.csv`."""
        released = self.course / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        for student, answers in CLASS.items():
            book = json.loads(released.read_text("utf-8"))
            for name, answer in zip(("sequence_mask", "masked_softmax"), answers, strict=True):
                cell(book, name)["source"] = answer
            path = self.course / "submitted" / student / ASSIGNMENT / released.name
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(book), "utf-8")
        rows = [f"{who},{who.title()},X,{'AB'[n % 2]}" for n, who in enumerate([*CLASS, ABSENT])]
        table = "\n".join(["id,first_name,last_name,section", *rows, ""])
        (self.course / "students.csv").write_text(table, "utf-8")
