"""No file for students or graders shows a hidden number (as bytes or text), the seed or an answer.

The code of some students tries to show hidden numbers: it prints them, warns with them or raises them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from helpers.nbgrader_class.school import ASSIGNMENT, School
from helpers.nbgrader_class.students import CLASS, HOSTILE
from helpers.nbgrader_class.walk import Walk

from grader.authoring.content import read_all
from grader.bundle.files import load_all
from grader.release.leaks import Document, answers, documents, leaks, seeds
from grader.support.code import BEGIN, END

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.timeout(900),
]

ROOMS = ("release", "autograded", "feedback")
NO_ANSWER = [student for student, expected in CLASS.items() if expected.qkv == expected.output == 0]


@dataclass(frozen=True)
class Hidden:
    """All values of the hidden cases, a few of one array, and the bytes of each two neighbouring values.

    A single value proves nothing: of half a million float32 values some equal a public one by chance.
    """

    values: np.ndarray  # absolute values
    some: np.ndarray  # four neighbouring values
    singles: np.ndarray  # two float32 values in one word of 64 bits
    doubles: np.ndarray  # `joined` words of two float64 values

    def in_bytes(self, data: bytes) -> int:
        """Return how many pairs of neighbouring values in `data`, at any place, are hidden ones."""
        found = 0
        for start in range(8):
            rest = data[start:]
            words = np.frombuffer(rest[: len(rest) // 8 * 8], "<u8")
            found += _count(words, self.singles) + _count(joined(words), self.doubles)
        return found

    def in_text(self, text: str) -> list[str]:
        """Return numbers with at least seven digits that agree with a hidden value in all their digits."""
        found = []
        for number in re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", text):
            digits = len(number.replace(".", "").lstrip("0"))
            if digits < 7:
                continue
            last_digit = 10.0 ** -len(number.split(".")[1])  # its unit; rounding changes up to half of it
            if np.any(np.abs(self.values - float(number)) <= 0.51 * last_digit):
                found.append(number)
        return found


@pytest.fixture(scope="module")
def hidden(made: School) -> Hidden:
    folder = next(path.parent for path in (made.root / "cache" / "headway" / "hidden").glob("*/complete"))
    values, singles, doubles = [], [], []
    cases = [case for bundle in load_all(folder) for exercise in bundle.exercises for case in exercise.cases]
    for case in cases:
        for array in (*case.tensors.values(), *case.expected.values()):
            if array.dtype.kind == "f":
                flat = array.astype(np.float64).ravel()
                flat = flat[(flat * 1024 % 1 != 0) & np.isfinite(flat)]  # values such as 0.5 occur everywhere
                values.append(flat)
                differ = flat[:-1] != flat[1:]  # equal neighbours occur everywhere
                pairs = np.stack([flat[:-1], flat[1:]], 1)[differ]
                for order in "<>":
                    singles.append(np.frombuffer(pairs.astype(f"{order}f4").tobytes(), "<u8"))
                    doubles.append(joined(np.frombuffer(flat.astype(f"{order}f8").tobytes(), "<u8"))[differ])
    return Hidden(
        np.abs(np.concatenate(values)), max(values, key=len)[:4], _sorted(singles), _sorted(doubles)
    )


def joined(words: np.ndarray) -> np.ndarray:
    """Return a hash of each two neighbouring words."""
    return words[:-1] * np.uint64(0x9E3779B97F4A7C15) + words[1:]  # any large odd factor will do


def _sorted(parts: list[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate(parts))


def _count(words: np.ndarray, known: np.ndarray) -> int:
    nearest = np.searchsorted(known, words).clip(max=len(known) - 1)
    return int((known[nearest] == words).sum())


def files(walk: Walk) -> Iterator[Path]:
    """Yield the gradebook, the exported grades, and the files below 4 MiB that students or graders may read."""
    yield walk.course / "gradebook.db"
    yield walk.course / "grades.csv"
    for room in ROOMS:
        places = (walk.course / room).rglob("*")
        yield from (path for path in places if path.is_file() and path.stat().st_size < 4 << 20)


def test_the_search_finds_numbers_answers_and_the_seed(hidden, made, walk):
    """Put numbers, answers and the seed into texts and bytes, in forms in which a report could contain them."""
    for dtype in ("<f4", ">f4", "<f8", ">f8"):
        assert hidden.in_bytes(b"abc" + hidden.some.astype(dtype).tobytes() + b"d") > 0
    assert hidden.in_text(f"expected {hidden.some[0]:.7f}") or hidden.in_text(
        f"expected {hidden.some[0]:.9f}"
    )
    assert hidden.in_text(str(hidden.some.tolist()))
    source = documents(walk.course / "source" / ASSIGNMENT)
    assert list(leaks(source, answers(read_all(made.root / "solutions")), ()))
    seed = made.seed.read_text("utf-8").strip()
    assert list(seeds([Document("a.txt", seed.encode())], seed))
    (assignment,) = read_all(made.root / "solutions")
    page = f"<pre><span>{html.escape(assignment.source.replace(BEGIN, '').replace(END, ''))}</span></pre>"
    assert list(leaks([_code_of("page", page)], answers([assignment]), ()))


def test_no_file_has_a_number_of_a_hidden_case_or_the_seed(hidden, made, walk):
    seed = made.seed.read_text("utf-8").strip()
    for path in (found := list(files(walk))):
        data = path.read_bytes()
        assert not hidden.in_bytes(data), path
        if path.suffix != ".safetensors":
            assert hidden.in_text(data.decode("utf-8", "replace")) == [], path
        assert list(seeds([Document(path.name, data)], seed)) == []
    assert len(found) > 3 * len(CLASS)


def test_no_report_or_comment_shows_a_number_with_three_decimals(walk):
    """A report shows no values at all; points have at most two decimals."""
    for student in (*CLASS, *HOSTILE):
        reports = list(_reports(walk.school.feedback(student)))
        assert len(reports) == 2
        for report in reports:
            assert re.findall(r"\d\.\d{3,}", _text(report)) == []
    texts = {about: mark.comment for about, mark in walk.marks.items() if mark.comment}
    assert len(texts) > len(CLASS) / 2
    assert {about: text for about, text in texts.items() if re.search(r"\d\.\d{3,}", text)} == {}


def test_no_answer_is_released(made, walk):
    released = documents(walk.course / "release")
    assert {Path(document.name).name for document in released} >= {
        f"{ASSIGNMENT}.ipynb",
        "bundle.json",
        "memory.svg",
    }
    assert list(leaks(released, answers(read_all(made.root / "solutions")), ())) == []


def test_a_student_without_an_answer_sees_none(made, walk):
    """Search the graded notebooks and the pages for answers."""
    for student in NO_ANSWER:
        graded = documents(walk.course / "autograded" / student)
        seen = [*graded, _code_of(student, walk.school.feedback(student))]
        assert list(leaks(seen, answers(read_all(made.root / "solutions")), ())) == [], student


def _reports(page: str) -> Iterator[str]:
    """Yield each report of a page, from its <div> to the </div> that closes it."""
    for found in re.finditer('<div class="headway">', page):
        start, depth = found.start(), 0
        for tag in re.finditer(r"<div\b|</div>", page[start:]):
            depth += 1 if tag[0] == "<div" else -1
            if depth == 0:
                yield page[start : start + tag.end()]
                break


def _text(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def _code_of(name: str, page: str) -> Document:
    """Return a page as Markdown: its code cells as fenced code, and the rest as text."""
    code = "".join(
        f"```python\n{_text(block).strip()}\n```\n" for block in re.findall(r"<pre>(.*?)</pre>", page, re.S)
    )
    return Document(f"{name}.md", (code + _text(page.partition("</style>")[2])).encode())
