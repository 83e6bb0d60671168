"""The questions of a lesson, and `answers.md`: a section `## 1` for each question."""

from __future__ import annotations

import re

ANSWERS_FILE = "answers.md"
WRONG = "Often said: "  # begins the paragraph with the usual wrong answer


def questions(module: str) -> dict[int, str]:
    """Return the questions of a lesson by their numbers. module: its file, or its stub."""
    _before, _heading, rest = module.partition("# ## Questions to think about\n")
    text = re.sub(r"^# ?", "", re.split(r"^# ##|^$|^# %%", rest, maxsplit=1, flags=re.M)[0], flags=re.M)
    found = re.findall(r"^(\d+)\. (.+?)(?=^\d+\. |\Z)", text, flags=re.M | re.S)
    return {int(number): " ".join(question.split()) for number, question in found}


def answers(text: str) -> dict[int, str]:
    """Return the answers in the text of an `answers.md` by the numbers of their questions."""
    found = re.split(r"^## (\d+)\n", text, flags=re.M)[1:]
    return {int(number): answer.strip() for number, answer in zip(found[::2], found[1::2], strict=True)}
