"""Use nbgrader's pages for instructors as a person does: read, type, click."""

from __future__ import annotations

from dataclasses import dataclass

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from .chrome import Window

LOADED = "return !!(window.formgrader && formgrader.grades.loaded && formgrader.comments.loaded)"
IDLE = "return jQuery.active === 0 && jQuery(':animated').length === 0"


@dataclass
class Formgrader:
    """The pages of one assignment. base, token: the address of the Jupyter server, and the token for its login."""

    window: Window
    base: str
    token: str
    assignment: str

    def enter(self) -> None:
        self.window.open(f"{self.base}/login?token={self.token}")

    def submissions(self) -> dict[str, list[str]]:
        """Open the list of submissions. Return student → the texts of the cells of the student's row."""
        self.window.open(f"{self.base}/formgrader/manage_submissions/{self.assignment}")
        return self.rows()

    def rows(self) -> dict[str, list[str]]:
        self.window.until(lambda: self.window.run("return !!(window.models && models.loaded)"), "the list")
        cells = [row.find_elements("css selector", "td") for row in self.window.all("#main-table tr")]
        return {row[1].text: [cell.text for cell in row] for row in cells}

    def open_submission(self, student: str) -> None:
        self.window.open(f"{self.base}/formgrader/manage_students/{student}/{self.assignment}")
        self.window.one("#main-table td a[href*='/submissions/']").click()
        self.window.until(lambda: self.window.run(LOADED), "scores and comments")

    def report(self, exercise: str) -> WebElement:
        """Return the report below the graded cell of an exercise."""
        cell = f"//*[@id='check-{exercise}']/ancestor::*[contains(concat(' ', @class, ' '), ' cell ')]"
        below = "//*[contains(concat(' ', @class, ' '), ' headway ')]"
        return self.window.driver.find_element("xpath", cell + below)

    def score(self, exercise: str) -> WebElement:
        return self.window.one(f"#check-{exercise}")

    def comment(self, exercise: str) -> WebElement:
        return self.window.one(f"#{exercise}-comment")

    def type_into(self, field: WebElement, text: str) -> None:
        """Replace the text of a field and press Tab, which makes the page save it. Wait until it is saved."""
        field.clear()
        field.send_keys(text, Keys.TAB)
        self.window.until(lambda: self.window.run(IDLE), "what was typed is saved")

    def resolve(self, exercise: str) -> None:
        """Confirm a manual score if nbgrader asks for this. It does so after it has graded an answer again."""
        cell = self.score(exercise).find_element("xpath", "ancestor::*[contains(@class, 'nbgrader_cell')]")
        button = cell.find_element("css selector", ".mark-graded")
        if button.is_displayed():
            button.click()
        self.window.until(lambda: self.window.run(IDLE), "it is saved")

    def autograde(self, student: str) -> str:
        """Click the button (a lightning bolt) that grades a student's submission. Return the title of the dialog."""
        place = [*self.submissions()].index(student)
        self.window.all("#main-table tr")[place].find_element("css selector", ".autograde a").click()
        return self.window.until(lambda: self._dialog_title(), "autograding")

    def _dialog_title(self) -> str:
        titles = [e.text for e in self.window.all(".modal .modal-title") if e.is_displayed()]
        return titles[0] if titles else ""
