"""Read the pages about mistakes: one Markdown file per exercise, one section `## id, id, …` per family of mistakes.

A family is what a student learns as one thing. An example that several pages show is a section of its own; a line
`[See it yourself](#its-name)` is replaced by it.
"""

from __future__ import annotations

import re

LINK = re.compile(r"^\[See it yourself\]\(#(.+)\)$", re.M)


def read_pages(text: str) -> dict[str, str]:
    """Return the page of each id. Raises KeyError for a link to a section that is missing."""
    sections = _sections(text)
    linked = {name for body in sections.values() for name in LINK.findall(body)}
    return {
        id: LINK.sub(lambda link: sections[link[1]].strip("\n"), body).strip("\n") + "\n"
        for title, body in sections.items()
        if title not in linked
        for id in title.split(", ")
    }


def _sections(text: str) -> dict[str, str]:
    """Return the text below each heading of the second level; a line in a code block is no heading."""
    sections: dict[str, str] = {}
    title, in_code = "", False
    for line in text.splitlines(keepends=True):
        in_code ^= line.startswith("```")
        if not in_code and line.startswith(("# ", "## ")):
            title = line.removeprefix("## ").strip() if line.startswith("## ") else ""
        elif title:
            sections[title] = sections.get(title, "") + line
    return sections
