"""What several scripts need: the answers in tests/, an engine for the course, and pages that are printed or written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from grader.bundle.files import load_all
from grader.engine.engine import Engine
from grader.engine.grading import GradingOptions
from grader.sandbox.choose import choose

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from helpers.answers import ANSWERS, Answer  # noqa: E402, F401 (tests/ must be on the path first)
from helpers.minimal import submission_of  # noqa: E402, F401


def parser(doc: str) -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of a script, with its lines as they are."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def print_page(doc: str, name: str, page: Callable[[], str]) -> None:
    """Run a script whose only option is `--write`: print a page; with the option, also write it to docs/."""
    options = parser(doc)
    options.add_argument("--write", action="store_true")
    write = options.parse_args().write
    text = page()
    print(text)
    if write:
        (ROOT / "docs" / name).write_text(text, "utf-8")


@contextmanager
def course_engine(**options: Any) -> Iterator[Engine]:
    """Yield an engine that grades with the public cases, without the longest trainings. options: of GradingOptions."""
    bundles, grading = load_all(ROOT / "assignments"), GradingOptions(quick=True, **options)
    with closing(choose(warm=True)) as launcher, closing(Engine(bundles, launcher, grading)) as engine:
        yield engine
