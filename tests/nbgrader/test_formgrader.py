"""formgrader in a real browser: what its pages show. Manual scores stay when a submission is graded again."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import pytest
from helpers.browser import chrome, jupyter
from helpers.browser.formgrader import Formgrader
from helpers.browser.walk import ASSIGNMENT, CLASS, Walk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(chrome.missing()), reason=chrome.missing() or "there is a browser"),
    pytest.mark.timeout(900),
]

TYPED, COMMENT = "4.5", "Well *thought*: <b>see</b> the lesson."
EXERCISE = "masked_softmax"


@pytest.fixture(scope="module")
def pages(guide: Walk) -> Iterator[Formgrader]:
    with jupyter.server(guide.course, guide.environment) as (base, token), chrome.chromium() as window:
        window.look()
        found = Formgrader(window, base, token, ASSIGNMENT)
        found.enter()
        yield found


def facts(pages: Formgrader, student: str) -> dict[str, Any]:
    """Return what the page of a submission shows about EXERCISE."""
    pages.open_submission(student)
    return {
        "typed": pages.score(EXERCISE).get_attribute("value"),
        "auto": pages.score(EXERCISE).get_attribute("placeholder"),
        "comment": pages.comment(EXERCISE).get_attribute("value"),
        "auto_comment": pages.comment(EXERCISE).get_attribute("placeholder"),
        "report": pages.report(EXERCISE).text,
    }


@pytest.fixture(scope="module")
def seen(pages: Formgrader, guide: Walk) -> dict[str, dict[str, Any]]:
    """Return step → the facts of bob's submission and his row of the list, from the first grading on."""
    steps = {"graded": facts(pages, "bob") | {"row": pages.submissions()["bob"]}}
    pages.open_submission("bob")
    pages.type_into(pages.score(EXERCISE), TYPED)
    pages.type_into(pages.comment(EXERCISE), COMMENT)
    steps["typed"] = facts(pages, "bob") | {"row": pages.submissions()["bob"]}
    guide.run("nbgrader", "autograde", ASSIGNMENT, "--student", "bob", "--force")
    steps["again by command"] = facts(pages, "bob") | {"row": pages.submissions()["bob"]}
    status = pages.autograde("bob")
    steps["again by button"] = facts(pages, "bob") | {"row": pages.submissions()["bob"], "status": status}
    pages.open_submission("bob")
    pages.resolve(EXERCISE)
    steps["resolved"] = facts(pages, "bob") | {"row": pages.submissions()["bob"]}
    return steps


def test_the_list_shows_everybody_with_the_exported_score(pages, guide):
    with (guide.course / "grades.csv").open(encoding="utf-8", newline="") as file:
        exported = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    rows = pages.submissions()  # student → cells; 3 is the status, 4 the score
    assert sorted(rows) == sorted(CLASS)
    # Other tests of this file change what is shown of bob.
    assert {who: float(cells[4].split(" / ")[0]) for who, cells in rows.items() if who != "bob"} == {
        who: round(score, 2) for who, score in exported.items() if who != "bob"
    }
    assert {cells[3] for who, cells in rows.items() if who != "bob"} == {"graded"}
    assert rows["ada"][0] == "Lovelace, Ada"
    assert rows["ada"][4] == "8 / 8"


def test_a_graded_cell_shows_the_report_and_a_comment_the_reason(seen):
    graded = seen["graded"]
    assert "known mistake" in graded["report"]
    assert "✗ failed" in graded["report"]
    assert "known mistake" in graded["auto_comment"]
    assert 0 < float(graded["auto"]) < 5
    assert graded["typed"] == graded["comment"] == ""


def test_a_score_and_a_comment_typed_in_the_page_count(seen):
    assert (seen["typed"]["typed"], seen["typed"]["comment"]) == (TYPED, COMMENT)
    assert seen["typed"]["row"][4] == f"{3 + float(TYPED)} / 8"  # 3: the points of the other exercise


@pytest.mark.parametrize("again", ["again by command", "again by button"])
def test_overrides_stay_when_graded_again_and_are_flagged(seen, again):
    for part in ("typed", "comment", "auto", "auto_comment", "report"):
        assert seen[again][part] == seen["typed"][part]
    assert seen[again]["row"][3:5] == ["needs manual grading", seen["typed"]["row"][4]]


def test_one_click_marks_a_flagged_score_as_graded(seen):
    assert seen["resolved"]["row"] == seen["typed"]["row"]


def test_the_button_autograde_grades(seen):
    assert seen["again by button"]["status"] == "Success"


def test_feedback_shows_the_typed_score_and_comment(seen, pages, guide):
    guide.run("nbgrader", "generate_feedback", ASSIGNMENT, "--student", "bob", "--force")
    pages.window.open((guide.course / "feedback" / "bob" / ASSIGNMENT / f"{ASSIGNMENT}.html").as_uri())
    text = pages.window.text()
    assert "see the lesson" in text
    assert f"{float(TYPED)} / 5.0" in text
    assert "known mistake" in text


def test_markup_in_the_name_of_an_exception_does_not_run(pages):
    pages.open_submission("gus")
    shown = pages.report("sequence_mask")
    assert "raised an exception" in shown.text
    assert "onerror" not in shown.text
    assert pages.window.driver.title == ASSIGNMENT
    assert shown.find_elements("css selector", "img, script") == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 480])
def test_the_report_fits_and_is_light_even_in_dark_mode(pages, dark, width):
    pages.window.look(dark=dark, width=width)
    pages.open_submission("bob")
    report = pages.report(EXERCISE)
    box = report.rect
    assert box["height"] > 100
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    assert report.value_of_css_property("background-color") == "rgba(255, 255, 255, 1)"
    pages.window.look()
