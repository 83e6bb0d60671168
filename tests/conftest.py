"""Real parts, made once: the public bundles and one engine with one worker for the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.bundle import Bundle, load_all
from grader.engine import Engine
from grader.intake.read import Submission, Unit
from grader.report.model import ExerciseResult, Report
from grader.sandbox.choose import choose

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def bundles() -> list[Bundle]:
    found = load_all(ROOT / "assignments")
    assert found, "assignments/ is empty: run `grader build`"
    return found


@pytest.fixture(scope="session")
def engine(bundles: list[Bundle]) -> Iterator[Engine]:
    launcher = choose()
    engine = Engine(bundles, launcher, torch_version="tested")
    yield engine
    engine.close()
    launcher.close()


@pytest.fixture
def grade(engine: Engine) -> Callable[..., Report]:
    """Grade source text as a file of the given name."""

    def graded(source: str, wanted: list[str] | None = None, name: str = "answer.py") -> Report:
        return engine.grade(Submission(Path(name), (Unit(name, source),)), wanted)

    return graded


@pytest.fixture
def grade_one(grade: Callable[..., Report]) -> Callable[[str, str], ExerciseResult]:
    """Grade one exercise of a source text."""

    def graded(source: str, name: str) -> ExerciseResult:
        return grade(source, [name]).exercises[0]

    return graded
