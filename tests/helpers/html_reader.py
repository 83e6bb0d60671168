"""Read the tags, the attributes and the text of an HTML page."""

from html.parser import HTMLParser

VOID = {"meta", "br"}  # tags without an end
# Tags and attributes that fetch or run something.
FETCHING_TAGS = {"script", "img", "link", "iframe", "object"}
FETCHING_ATTRIBUTES = {"src", "href", "style", "onclick", "onerror"}


class HtmlReader(HTMLParser):
    """Parse a page. Raises AssertionError if its tags are not nested correctly.

    open: tags that are not closed. seen: all tags. attributes: all attribute names. text: without style sheets.
    pieces: each piece of text, with the tags and the classes around it.
    """

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.pieces: list[tuple[str, set[str]]] = []
        self._classes: list[list[str]] = []  # of each open tag
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes |= {name for name, _value in attrs}
        if tag not in VOID:
            self.open.append(tag)
            self._classes.append((dict(attrs).get("class") or "").split())

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self._classes.pop()
        if tag in ("td", "th"):
            self.text += " "

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data
            self.pieces.append((data, {*self.open, *(name for names in self._classes for name in names)}))

    def within(self, *names: str) -> str:
        """Return the text inside of tags or classes with all of these names, with single spaces."""
        found = "".join(text for text, around in self.pieces if {*names} <= around)
        return " ".join(found.split())


def assert_fetches_nothing(text: str) -> HtmlReader:
    """Assert that every tag is closed, and that nothing runs or is fetched. Return the reader of the page."""
    reader = HtmlReader(text)
    assert reader.open == []
    assert not reader.seen & FETCHING_TAGS
    assert not reader.attributes & FETCHING_ATTRIBUTES
    assert "url(" not in text
    assert "@import" not in text
    return reader
