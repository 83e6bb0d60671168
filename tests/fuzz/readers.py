"""Readers of the grader for data that students can write: submissions, archives, worker replies, stores, courses.

Each reader has `make`, which draws one input from a random generator, and `read`, which reads it as the grader does.
`read` returns if the grader refuses the input with a sentence. An exception of `read` is a fault.
"""

import io
import json
import random
import sqlite3
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import nbformat
import numpy as np

from grader.bundle.files import load_all
from grader.bundle.safetensors import encode
from grader.classroom.archives import members, read_member
from grader.classroom.purge import content_of
from grader.classroom.store import Store, StoreKey
from grader.diagnosis.match import diagnose
from grader.engine.draft import Draft
from grader.engine.engine import Engine
from grader.engine.interface import interface
from grader.engine.result import written
from grader.engine.schools import form_of
from grader.intake.course import read_course_file
from grader.intake.names import read_names
from grader.intake.own_code import restored
from grader.intake.read import Blocked, imported_modules, submission_from
from grader.intake.recognise import lost_exercises, match
from grader.intake.slips import slips
from grader.intake.uses import needs, units_to_run, uses
from grader.judge.compare import is_trivial
from grader.judge.observation import normalise_layouts, read_observation, read_observations
from grader.judge.verdict import judge_case
from grader.nbgrader.notebook_file import readable
from grader.nbgrader.preprocessors import exercise_of
from grader.report import formats
from grader.report.finding import Writer
from grader.report.model import CheckResult, ExerciseResult, Report, from_text
from grader.support.errors import BadData, UsageError

from .mutate import changed_bytes, changed_text, confused

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    "import torch\nfrom torch import nn\n\ndef masked_softmax(X, valid_lens=None):\n    return torch.softmax(X, -1)\n",
    "import torch.nn.functional as F\nclass MultiHeadAttention(nn.Module):\n    def __init__(self, num_hiddens, num_heads):\n"
    "        super().__init__()\n        self.W_q = getattr(nn, 'Linear')(num_hiddens, num_hiddens)\n    def forward(self, X):\n"
    "        return nn.MultiheadAttention(X)\n",
    "%matplotlib inline\n!pip install x\nx = !ls\ntransposed?\nif True:\n    def transpose_qkv(X, heads): ...\n",
    "# '''\nx, y = 1, [i for i in range(3)]\nz: int = f'{x!r:>{y[0]}}'\nmatch x:\n    case 1: pass\n",
]


@dataclass(frozen=True)
class Reader:
    """A reader under test, and the function that makes its inputs."""

    make: Callable[[random.Random], bytes]
    read: Callable[[bytes], None]
    inputs: int  # of the test


def make_source(rng):
    text = changed_text(rng, rng.choice(SOURCES))
    return text.encode("utf-8", rng.choice(["surrogatepass", "replace"]))


def read_source(data, name="answer.py"):
    """Read a submission, and run the analyses of its text."""
    try:
        submission = submission_from(Path(name), data)
    except Blocked:
        return
    names = read_names(submission)
    submission.content.encode()
    contracts, stubs = course()
    aliases = lost_exercises(contracts, names) | match(contracts, names)  # as in the engine: `match` wins
    for exercise in exercises():
        alias = aliases.get(exercise.name, exercise.name)
        interface(exercise, alias, names, stubs[exercise.assignment])
        form_of(exercise, alias, names)
        slips(submission, alias)
        needs(names, alias)
        uses(submission, alias, ["nn.MultiheadAttention", "softmax"])
    units_to_run(submission, ["masked_softmax"])
    list(imported_modules(submission.units))
    with suppress(UsageError):
        stub = "def masked_softmax(X): ...\n"
        restored(data.decode("utf-8-sig"), "masked_softmax", stub, notebook=name.endswith("ipynb"))


def make_notebook(rng):
    cells = [
        {"cell_type": "code", "source": source.splitlines(True), "metadata": {}} for source in SOURCES[:2]
    ]
    cells.append({"cell_type": "code", "source": changed_text(rng, rng.choice(SOURCES)), "outputs": []})
    book = {"cells": cells, "metadata": {"kernelspec": {"name": "x"}}, "nbformat": 4, "nbformat_minor": 5}
    if rng.random() < 0.2:
        book = {"worksheets": [{"cells": cells}], "nbformat": 3}
    for _ in range(rng.randrange(3)):
        book = confused(rng, book)
    text = json.dumps(book, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.3:
        text = changed_text(rng, text)
    return text.encode("utf-8", "surrogatepass")


def read_notebook(data):
    """Read a notebook as a submission, and as nbgrader's preprocessors read it before they write it."""
    read_source(data, "answer.ipynb")
    with tempfile.TemporaryDirectory() as folder, suppress(Blocked):
        path = Path(folder, "answer.ipynb")
        path.write_bytes(data)
        book, _remarks = readable(path, data)
        content_of(path, lambda: nbformat.writes(book).encode(), {})
        for cell in book.cells:
            exercise_of(cell.source)


def make_notes(rng):
    """Return notes in Markdown: prose, code between fences, and printed output."""
    parts = ["# My notes\n", "", "```\n", "```python\n", "~~~~\n", ">>> 1\n", "tensor([1., 2.])\n", *SOURCES]
    text = "".join(rng.choice(parts) for _ in range(rng.randrange(1, 12)))
    return changed_text(rng, text).encode("utf-8", "surrogatepass")


def read_notes(data):
    read_source(data, "answer.md")


@cache
def good_archives():
    """Return a valid archive of each kind: (suffix, bytes)."""
    out = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", method) as archive:
            for number, source in enumerate(SOURCES):
                archive.writestr(f"04_heads/a{number}.py", source)
        out.append((b"zip", data.getvalue()))
    for mode, kind in (("w:gz", tarfile.GNU_FORMAT), ("w", tarfile.PAX_FORMAT), ("w", tarfile.GNU_FORMAT)):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode=mode, format=kind) as archive:
            for number, source in enumerate(SOURCES):
                info = tarfile.TarInfo(f"04_heads/{'é' * 90 * (number % 2)}a{number}.py")
                info.size = len(source.encode())
                archive.addfile(info, io.BytesIO(source.encode()))
        out.append((b"tar", data.getvalue()))
    return out


def make_archive(rng):
    """Return "zip" or "tar", and directly after it the changed bytes of such an archive."""
    suffix, data = rng.choice(good_archives())
    return suffix + changed_bytes(rng, data)


def read_archive(data):
    """List the members of an archive, and read the first that has no problem."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a.{data[:3].decode()}")
        path.write_bytes(data[3:])
        with suppress(BadData):
            for place, problem in members(path).items():
                if not problem:
                    read_member(path, place)
                    break


@cache
def course():
    """Return the contracts of the exercises by name, and the stubs by assignment."""
    names = {e.name for e in exercises()}
    engine = Engine([b for b in bundles() if any(e.name in names for e in b.exercises)], launcher=None)
    return {name: engine.contracts[name] for name in names}, engine.context.course.stubs


@cache
def bundles():
    return load_all(ROOT / "assignments")


@cache
def exercises():
    wanted = {"sequence_mask", "masked_softmax", "MultiHeadAttention", "greedy_decode"}
    return [e for b in bundles() for e in b.exercises if e.name in wanted]


def drawn_array(rng):
    dtype = rng.choice(["f2", "f4", "f8", "i8", "i4", "u1", "?"])
    shape = rng.choice([(), (0,), (1,), (2, 3), (1, 1, 1), (0, 5, 2), (2, 2, 2, 2), (65536, 0), (2, 4, 6)])
    values = [0, 1, np.nan, np.inf, -3e4, 1e-7] if dtype[0] == "f" else [0, 1]
    return np.full(shape, rng.choice(values), dtype)


def drawn_reply(rng, case):
    """Return the fields (for JSON) and the encoded tensors of a reply about one case, perhaps changed."""
    fields = {
        "odd": {name: {"is": "a tuple of 2", "shape": [1, 2]} for name in sorted(case.asked)[:2]},
        "error": {"type": "ValueError", "message": "m", "where": {"file": "a.py", "line": 3, "text": "x"}, "step": "call"},
        "parameters": {"missing": ["W_q.weight"], "unexpected": ["a"], "misshapen": [], "shared": [["a", "b"]], "layout": "", "shapes": {"a": [1, 2]}},
        "values": dict.fromkeys(sorted(case.asked), 12345),
        "warnings": ["w"], "stacked": ["weights"], "used": ["x"],
    }  # fmt: skip
    for key in rng.sample(list(fields), rng.randrange(len(fields))):
        del fields[key]
    for _ in range(rng.randrange(3)):
        fields = confused(rng, fields)
    body = b""
    if rng.random() < 0.8:
        body = encode({n: drawn_array(rng) for n in sorted(case.asked) if rng.random() < 0.9})
        if rng.random() < 0.5:
            body = changed_bytes(rng, body)
    return fields, body


def make_reply(rng):
    exercise = rng.choice(exercises())
    case = rng.choice(exercise.cases)
    fields, body = drawn_reply(rng, case)
    return json.dumps([exercise.name, case.id, fields]).encode() + b"\n" + body


def make_replies(rng):
    """Return a reply about the first cases of an exercise, in one message."""
    exercise = rng.choice(exercises())
    drawn = [drawn_reply(rng, case) for case in exercise.cases[: rng.randrange(1, 6)]]
    words = {"replies": [fields for fields, _body in drawn], "sizes": [len(body) for _fields, body in drawn]}
    for _ in range(rng.randrange(3)):
        words = confused(rng, words)
    return (
        json.dumps([exercise.name, None, words]).encode() + b"\n" + b"".join(body for _fields, body in drawn)
    )


def read_reply(data):
    """Read a reply about one case or about several; judge, diagnose and report each of them."""
    head, _, body = data.partition(b"\n")
    name, case_id, words = json.loads(head)
    exercise = next(e for e in exercises() if e.name == name)
    cases = [c for c in exercise.cases if case_id in (None, c.id)]
    files = frozenset({"a.py"})
    if not isinstance(words, dict):  # the session refuses such a reply earlier
        return
    try:
        if case_id is None:
            seen = read_observations(words, body, cases, files)
        else:
            seen = [read_observation(words, body, cases[0].asked, files)]
    except BadData:
        return
    for case, observation in zip(cases, seen, strict=False):
        judge_and_report(exercise, case, observation)


def judge_and_report(exercise, case, observation):
    """Judge, diagnose and report one case. A random reply must not pass a case that checks more than shapes."""
    observation = normalise_layouts(observation, case.steps)
    judged = judge_case(case, observation)
    looks_at_values = {check.facet for check in case.checks} != {"shapes"}
    assert not (looks_at_values and all(check.outcome == "passed" for check in judged.checks))
    is_trivial([(case, observation)])
    diagnosed = diagnose(exercise, {case.id: judged}, judged.checks)
    draft = Draft("failed", checks=judged.checks, diagnosed=diagnosed)
    for hidden in (False, True):
        report = Report((written(draft, exercise, Writer(hidden, {"a.py": 9})),), "basic", "", "")
        for form in formats.FORMATS:
            formats.written(form, report).encode()


def store_key():
    return StoreKey("cases", "grader", "strict")


@cache
def good_store():
    """Return the bytes of a store with one result, and this result as a dictionary."""
    result = ExerciseResult(
        "masked_softmax",
        "01",
        "failed",
        1.0,
        4.0,
        checks=(CheckResult("a", "values", "failed", "b"),),
        content="c",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "grades.sqlite")
        with closing(Store(path, store_key())) as store:
            store.put([result])
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode = DELETE")
        return path.read_bytes(), asdict(result)


def make_row(rng):
    """Return a changed store file, or the changed text of one result in it. The first four bytes say which."""
    file, record = good_store()
    if rng.random() < 0.2:
        return b"file" + changed_bytes(rng, file)
    record = json.loads(json.dumps(record))
    for _ in range(rng.randrange(1, 3)):
        record = confused(rng, record)
    text = json.dumps(record)
    if rng.random() < 0.3:
        text = changed_text(rng, text)
    return b"text" + text.encode("utf-8", "surrogatepass")


def read_row(data):
    if data[:4] == b"text":
        with suppress(BadData):
            from_text(data[4:].decode("utf-8", "surrogatepass"))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "grades.sqlite")
        path.write_bytes(data[4:])
        path.chmod(0o600)
        with suppress(BadData), closing(Store(path, store_key())) as store:
            store.get("c", ["masked_softmax"])


COURSE_FILE = """course = "Attention 2027"
policies_that_count = ["precision"]
name_lines = false
level = 2
keep = "best"
[points]
masked_softmax = 4
[weights]
values = 1.5
[weights.masked_softmax]
masking = 0
"""
VALUES = ("[]", "[[1]]", "{a = 1}", "-1", "1e400", "nan", "0x" + "f" * 4000, "1979-05-27", '"x"', "true")


def make_course(rng):
    text = COURSE_FILE
    if rng.random() < 0.5:
        lines = text.splitlines()
        at = rng.choice([n for n, line in enumerate(lines) if "=" in line])
        lines[at] = f"{lines[at].split('=')[0]}= {rng.choice(VALUES)}"
        text = "\n".join(lines)
    if rng.random() < 0.7:
        text = changed_text(rng, text)
    data = text.encode("utf-8", "surrogatepass")
    return changed_bytes(rng, data) if rng.random() < 0.3 else data


def read_course(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "headway.toml")
        path.write_bytes(data)
        with suppress(UsageError):
            read_course_file(path)


READERS = {
    "source": Reader(make_source, read_source, inputs=500),
    "notebook": Reader(make_notebook, read_notebook, inputs=150),
    "notes": Reader(make_notes, read_notes, inputs=500),
    "archive": Reader(make_archive, read_archive, inputs=500),
    "reply": Reader(make_reply, read_reply, inputs=300),
    "replies": Reader(make_replies, read_reply, inputs=100),
    "store": Reader(make_row, read_row, inputs=1500),
    "course": Reader(make_course, read_course, inputs=300),
}


def read_seed(name, seed):
    """Make and read the input of one seed."""
    reader = READERS[name]
    reader.read(reader.make(random.Random(f"{name} {seed}")))
