"""Pages about mistakes are sections of a Markdown file."""

import pytest

from grader.authoring.content import read, read_pages
from grader.authoring.scaffold import scaffold
from grader.support.errors import UsageError

TEXT = """\
# Pages about mistakes in `f`

## one

A paragraph.

    >>> f(1)

## two, three

Shared by two.

[See it yourself](#see-it)

# Examples that several pages show

## see-it

```python
## a comment, no heading
f(2)
```

It should be 2.
"""


def test_each_id_has_the_section_of_its_name():
    pages = read_pages(TEXT)
    assert sorted(pages) == ["one", "three", "two"]
    assert pages["one"] == "A paragraph.\n\n    >>> f(1)\n"


def test_a_link_to_an_example_is_replaced_by_it():
    pages = read_pages(TEXT)
    assert pages["two"] == pages["three"]
    shared = "```python\n## a comment, no heading\nf(2)\n```\n\nIt should be 2.\n"
    assert pages["two"] == f"Shared by two.\n\n{shared}"


def test_a_link_to_a_missing_example_is_refused():
    with pytest.raises(KeyError):
        read_pages("## one\n\n[See it yourself](#nowhere)\n")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("## f-added", "## f-adds", "has no page about f-added"),
        ("# Pages", "## f-more\n\nMore.\n\n# Pages", "has pages about unknown mistakes: f-more"),
    ],
)
def test_pages_and_mistakes_go_together(tmp_path, old, new, sentence):
    scaffold(tmp_path, "12_normalising", "f")
    path = tmp_path / "12_normalising/mistakes/f.md"
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(UsageError, match=sentence):
        read(tmp_path / "12_normalising").mistakes()
