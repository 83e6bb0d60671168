"""Text in, outcome out: the cases in the files beside this one.

A file has named texts and cases:

    ## dot                           a named text: all lines up to the next heading
    ### what the case shows
    grade: DotProductAttention       the exercises; `key: value` gives a text its value in this case
    answer: <dot>                    the submitted file; `<dot>` stands for the text, and \\n for a new line
    change: old => new               in the submitted file
    | rate | says |                  a table: one case per row; its first row names the texts
    --- lib/masks.py                 a file, up to the next such line; `answer` with any ending is the submitted one
    === passed                       the outcomes in a course. `=== file passed`: with `--file`. `=== hidden failed`:
    says: words                      in the report (spaces and lines may differ); `never`: not in the report
    message: words                   all that is said about the first exercise; `remarks`, `file remarks`: how many

One worker grades them all.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.engine.engine import Engine
from grader.engine.grading import FOREIGN, HIDDEN, PUBLIC, GradingOptions
from grader.intake.read import read_submission, with_neighbours
from grader.report.model import Report
from grader.report.terminal import plain

MODES = {"course": PUBLIC, "file": FOREIGN, "hidden": HIDDEN}


@dataclass(frozen=True)
class Case:
    """files: name → text. answer: the name of the submitted one. expects: pairs of a key and words."""

    id: str
    mode: str
    files: Mapping[str, str]
    answer: str
    grade: list[str]
    outcomes: list[str]
    expects: list[tuple[str, str]]


def cases_of(path: Path) -> Iterator[Case]:
    texts: dict[str, str] = {}
    for part in re.split(r"^(?=###? )", path.read_text("utf-8"), flags=re.M)[1:]:
        title, _, body = part.partition("\n")
        if part.startswith("## "):
            texts[title[3:]] = body.strip("\n")
        else:
            yield from _cases(f"{path.stem}: {title[4:]}", body, texts)


def _cases(title: str, body: str, texts: Mapping[str, str]) -> Iterator[Case]:
    setup, *expected = re.split(r"^=== ", body, flags=re.M)
    head, *files = re.split(r"^--- ", setup, flags=re.M)
    lines = [line.replace("\\n", "\n") for line in head.splitlines() if line]
    changes = [line[8:].split(" => ") for line in lines if line.startswith("change: ")]
    own = dict(_pair(line) for line in lines if not line.startswith(("|", "change: ")))
    tables = [re.split(r"(?<= )\|(?= )", line[1:-1]) for line in lines if line.startswith("|")]
    rows = [[cell.strip(" ") for cell in row] for row in tables]
    for number, row in enumerate(rows[1:] or [[]], 1):
        known = {**texts, **own, **dict(zip(rows[0] if rows else (), row, strict=True))}
        given = dict(file.split("\n", 1) for file in files)
        if not any(name.startswith("answer.") for name in given):
            given = {"answer.py": "<answer>", **given}
        given = {_filled(name, known): _filled(text, known) for name, text in given.items()}
        answer = next(name for name in given if name.startswith("answer."))
        for old, new in changes:
            assert _filled(old, known) in given[answer], f"{title}: {old}"
            given[answer] = given[answer].replace(_filled(old, known), _filled(new, known))
        if answer.endswith(".ipynb"):
            cells = [{"cell_type": "code", "source": cell} for cell in given[answer].split("# %%\n")]
            given[answer] = json.dumps({"cells": cells, "nbformat": 4, "metadata": {}})
        for section in expected:
            first, *rest = _filled(section, known).strip().splitlines()
            found = re.fullmatch(r"(?:(any|course|file|hidden) )?([a-z_, ]+)", first)
            assert found, f"{title}: {first}"
            for mode in MODES if found[1] == "any" else [found[1] or "course"]:
                id = " ".join((title, *[f"row {number}"] * bool(row), *[mode] * (mode != "course")))
                grade = _filled("<grade>", known).split(", ")
                yield Case(id, mode, given, answer, grade, found[2].split(", "), [*map(_pair, rest)])


def _pair(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key, value.strip(" ")


def _filled(text: str, known: Mapping[str, str]) -> str:
    """Put the named texts into a text, and into these texts."""
    for _depth in range(5):
        text = re.sub(r"<(\w+)>", lambda found: known.get(found[1], found[0]), text)
    return text


ALL = [case for path in sorted(Path(__file__).parent.glob("*.md")) for case in cases_of(path)]
CASES = {case.id: case for case in ALL}
assert len(CASES) == len(ALL), "two cases have one title"


@pytest.fixture(scope="session")
def reports(engine: Engine, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest):
    """Grade the chosen cases. Return case → its report."""
    chosen = [
        CASES[item.callspec.params["id"]] for item in request.session.items if item.path == Path(__file__)
    ]
    options = GradingOptions(torch_version="tested", reuse_worker=True)
    with closing(Engine(engine.bundles, engine.launcher, options)) as grader:
        return {case.id: _graded(grader, case, tmp_path_factory.mktemp("case")) for case in chosen}


def _graded(engine: Engine, case: Case, folder: Path) -> tuple[Report, str]:
    for name, text in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    submission = with_neighbours(read_submission(folder / case.answer))
    report = engine.with_options(terms=MODES[case.mode]).grade(submission, case.grade)
    said = [fault.sentence() for fault in submission.faults]
    return report, " ".join(" ".join([*said, plain(report)]).split())


@pytest.mark.parametrize("id", CASES)
def test_case(reports, id):
    case, (report, text) = CASES[id], reports[id]
    results = {result.name: result for result in report.exercises}
    first = results[case.grade[0]]
    assert [results[name].outcome for name in case.grade] == case.outcomes, text
    counted = {"remarks": first.remarks, "file remarks": report.remarks}
    for key, words in case.expects:
        if key in counted:
            assert len(counted[key]) == int(words), text
        elif key == "message":
            assert first.message == words
        else:
            assert key in ("says", "never"), key
            assert not words or (words in text) == (key == "says"), text
