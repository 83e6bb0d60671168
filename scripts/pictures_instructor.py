"""Make the pictures of docs/instructor.md from real pages: python scripts/pictures_instructor.py [FOLDER]

Runs the commands of the document, opens the resulting pages in Chromium, and writes docs/pictures/*.webp. With a
FOLDER, writes .png files there instead: every page light and dark, wide and narrow.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.browser import chrome, jupyter  # noqa: E402 (tests/ must be on the path first)
from helpers.browser.formgrader import Formgrader  # noqa: E402
from helpers.browser.walk import ASSIGNMENT, Walk  # noqa: E402

SHOWN = "masked_softmax"
Act = Callable[[], None]


def main(folder: Path | None) -> None:
    if why := chrome.missing():
        sys.exit(why)
    with tempfile.TemporaryDirectory() as place:
        walk = Walk(Path(place))
        walk.prepare()
        print("running the commands of the document …", flush=True)
        walk.go()
        with jupyter.server(walk.course, walk.environment) as (base, token), chrome.chromium() as window:
            pages = Formgrader(window, base, token, ASSIGNMENT)
            pages.enter()
            correct(pages, walk)
            for name, act in views(pages, walk).items():
                for path in take(window, name, act, folder):
                    print(path, path.stat().st_size, flush=True)


def correct(pages: Formgrader, walk: Walk) -> None:
    """Type an instructor's corrections into bob's submission, and generate his feedback again."""
    pages.window.look()
    pages.open_submission("bob")
    pages.type_into(pages.score(SHOWN), "2")
    pages.type_into(pages.comment(SHOWN), "Nearly. Which exponentials does the sum still hold when you mask?")
    walk.run("nbgrader", "generate_feedback", ASSIGNMENT, "--student", "bob", "--force")


def views(pages: Formgrader, walk: Walk) -> dict[str, Act]:
    """Return picture → the function that opens its page."""
    window = pages.window

    def submissions() -> None:
        pages.submissions()

    def submission() -> None:
        pages.open_submission("bob")
        window.show(pages.comment(SHOWN), above=330)

    def feedback() -> None:
        window.open((walk.course / "feedback" / "bob" / ASSIGNMENT / f"{ASSIGNMENT}.html").as_uri())
        window.show(window.all(".headway")[-1], above=420)

    return {
        "submissions": submissions,
        "submission": submission,
        "feedback": feedback,
        "class": lambda: window.open((walk.checkout / "class.html").as_uri()),
    }


def take(window: chrome.Window, name: str, act: Act, folder: Path | None) -> list[Path]:
    """Open a page with `act`, save its pictures, and return their paths."""
    if folder is None:
        window.look(height=640 if name == "submissions" else 900)
        act()
        return [window.picture(ROOT / "docs" / "pictures" / f"{name}.webp", quality=70)]
    paths = []
    for dark in (False, True):
        for width in (1280, 480):
            window.look(dark=dark, width=width, height=900)
            act()
            paths.append(window.picture(folder / f"{name}-{'dark' if dark else 'light'}-{width}.png"))
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the pictures of docs/instructor.md from real pages.")
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        help="write every page here instead, as .png, in light and dark, wide and narrow",
    )
    main(parser.parse_args().folder)
