"""No file for students or graders shows a hidden number (as bytes or text), the seed or an answer.

The code of some students tries to show hidden numbers: it prints them, warns with them or raises them.
"""

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
from grader.release.leaks import answers, documents, leaks, seeds
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
    """Numbers of the hidden cases that occur in no public one: all as values, and some as bytes.

    A single value proves nothing: of half a million some equal a public one by chance.
    """

    values: np.ndarray  # absolute values
    pieces: list[bytes]  # the first four values of each array

    def found_in(self, data: bytes) -> list[object]:
        """Return what `data` holds of them: pieces if it is no text, and numbers of at least seven digits."""
        text = data.decode("utf-8", "replace")
        found: list[object] = [piece for piece in self.pieces if "\ufffd" in text and piece in data]
        for number in re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", text):
            last_digit = 10.0 ** -len(number.split(".")[1])  # its unit; rounding changes up to half of it
            is_long = len(number.replace(".", "").lstrip("0")) >= 7
            if is_long and np.any(np.abs(self.values - float(number)) <= 0.51 * last_digit):
                found.append(number)
        return found


@pytest.fixture(scope="module")
def hidden(made: School) -> Hidden:
    folder = next(path.parent for path in (made.root / "cache" / "headway" / "hidden").glob("*/complete"))
    values, pieces = [], []
    for case in (
        case for bundle in load_all(folder) for exercise in bundle.exercises for case in exercise.cases
    ):
        for array in (*case.tensors.values(), *case.expected.values()):
            if array.dtype.kind == "f":
                flat = array.ravel()
                unusual = (flat * 1024 % 1 != 0) & np.isfinite(flat)  # values such as 0.5 occur everywhere
                values.append(np.abs(flat[unusual]).astype(np.float64))
                if flat.size >= 4 and unusual[:4].all():
                    pieces += [flat[:4].astype(dtype).tobytes() for dtype in ("<f4", "<f8")]
    return Hidden(np.concatenate(values), pieces)


def files(walk: Walk) -> Iterator[Path]:
    """Yield the gradebook, the exported grades, and the files below 4 MiB that students or graders may read."""
    yield walk.course / "gradebook.db"
    yield walk.course / "grades.csv"
    for room in ROOMS:
        places = (walk.course / room).rglob("*")
        yield from (path for path in places if path.is_file() and path.stat().st_size < 4 << 20)


def test_the_search_finds_numbers_answers_and_the_seed(hidden, made, walk):
    """Put numbers, answers and the seed into texts and bytes, in forms in which a report could contain them."""
    some = np.frombuffer(hidden.pieces[0], "<f4")
    for data in (b"\xff" + some.tobytes(), f"expected {some[0]:.9f}".encode(), str(some.tolist()).encode()):
        assert hidden.found_in(data)
    source = documents(walk.course / "source" / ASSIGNMENT)
    assert list(leaks(source, answers(read_all(made.root / "solutions")), ()))
    seed = made.seed.read_text("utf-8").strip()
    assert list(seeds({"a.txt": seed.encode()}, seed))
    (assignment,) = read_all(made.root / "solutions")
    page = f"<pre><span>{html.escape(assignment.source.replace(BEGIN, '').replace(END, ''))}</span></pre>"
    assert list(leaks(_code_of("page", page), answers([assignment]), ()))


def test_no_file_has_a_number_of_a_hidden_case_or_the_seed(hidden, made, walk):
    seed = made.seed.read_text("utf-8").strip()
    for path in (found := list(files(walk))):
        data = path.read_bytes()
        assert hidden.found_in(data) == [], path
        assert list(seeds({path.name: data}, seed)) == []
    assert len(found) > 3 * len(CLASS)


def test_no_report_or_comment_shows_a_number_with_three_decimals(walk):
    """A report shows no values at all; points have at most two decimals."""
    comments = [mark.comment for mark in walk.marks.values() if mark.comment]
    assert len(comments) > len(CLASS) / 2
    cells = (c for who in (*CLASS, *HOSTILE) for c in walk.school.autograded(who)["cells"])
    shown = (
        "".join(o["data"]["text/html"])
        for c in cells
        for o in c.get("outputs", ())
        if "text/html" in o.get("data", ())
    )
    reports = [_text(markup.partition("</style>")[2]) for markup in shown if 'class="headway"' in markup]
    assert len(reports) == 2 * len(CLASS | HOSTILE)
    assert [found for text in comments + reports for found in re.findall(r"\d\.\d{3,}", text)] == []


def test_no_answer_is_released(made, walk):
    released = documents(walk.course / "release")
    assert {Path(name).name for name in released} >= {
        f"{ASSIGNMENT}.ipynb",
        "bundle.json",
        "memory.svg",
    }
    assert list(leaks(released, answers(read_all(made.root / "solutions")), ())) == []


def test_a_student_without_an_answer_sees_none(made, walk):
    """Search the graded notebooks and the pages for answers."""
    for student in NO_ANSWER:
        graded = documents(walk.course / "autograded" / student)
        seen = graded | _code_of(student, walk.school.feedback(student))
        assert list(leaks(seen, answers(read_all(made.root / "solutions")), ())) == [], student


def _text(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def _code_of(name: str, page: str) -> dict[str, bytes]:
    """Return a page as Markdown: its code cells as fenced code, and the rest as text."""
    code = "".join(
        f"```python\n{_text(block).strip()}\n```\n" for block in re.findall(r"<pre>(.*?)</pre>", page, re.S)
    )
    return {f"{name}.md": (code + _text(page.partition("</style>")[2])).encode()}
