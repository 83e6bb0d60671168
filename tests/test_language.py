"""No message, help text, template, lesson or document contains a retired word. Names of tests are short.

Retired words are words that Headway does not use; CONTRIBUTING.md lists most of them. No text installs `headway` from
a package index.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Each pattern, and what to write instead.
RETIRED = {
    r"\b(tell|tells|told)\b(?! you| apart)": "say, show, report",
    r"\bdeparts?\b": "differs",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bhand(s|ed|ing)? (in|out|back|over|on)\b|\b(is|are|was|were|be|been) handed\b": "submit, return, pass",
    r"\b(nobody|whoever|somebody)\b": "name the actor",
    r"\bpatience\b|\btime ran out\b": "time limit",
    r"\bone (\w+ )?\w+ an? (query|head|sequence|batch|student|row|step|key|token|exercise|file|command|line)\b": "per",
    r"\bstands? in\b|\blies in\b|\bin its place stands\b": "is in",
    r"\b(bend|bends|bent|bending)\b": "non-linearity",
    r"\bmelt(s|ed|ing)?\b": "merge, reshape",
    r"\bnot looked at\b": "skipped",
    r"\bcame back\b|\bcomes back\b": "returned",
    r"\bpupils?\b": "student",
    r"\bbrought forth\b": "produced",
    r"\bas asked for\b": "as required",
    r"\bthe way around\b": "residual connection",
}


def retired(text: str) -> list[str]:
    """Return the retired words of a text, with the words to use instead."""
    return [
        f"{found[0]!r} (write: {instead})"
        for pattern, instead in RETIRED.items()
        if (found := re.search(pattern, text, re.I))
    ]


def strings(tree: ast.AST) -> Iterator[str]:
    """Yield the string constants of a syntax tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def messages(path: Path) -> Iterator[str]:
    """Yield the texts of a module that a user sees: what gettext translates, and what click shows as help."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("_", "ngettext", "pgettext"):
            for argument in node.args:
                yield from strings(argument)
        if isinstance(node, ast.keyword) and node.arg in ("help", "epilog", "short_help"):
            yield from strings(node.value)
    if path.is_relative_to(ROOT / "grader" / "cli"):
        functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.decorator_list)
        yield from (ast.get_docstring(n) or "" for n in functions)


SOURCES = sorted((ROOT / "grader").rglob("*.py")) + sorted((ROOT / "scripts").glob("*.py"))


def retired_by_file(paths, texts):
    """Return, per file, the texts with retired words and these words. `texts` returns the texts of a path."""
    found = {path: {text: words for text in texts(path) if (words := retired(text))} for path in paths}
    return {str(path.relative_to(ROOT)): words for path, words in found.items() if words}


def test_messages_use_plain_words():
    assert retired_by_file(SOURCES, messages) == {}


@pytest.mark.parametrize("path", sorted((ROOT / "grader").rglob("*.jinja")), ids=lambda p: p.name)
def test_templates_use_plain_words(path):
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}|<style>.*?</style>", "", path.read_text("utf-8"), flags=re.S)
    assert retired(text) == []


PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "student_template").rglob("*.md"),
    *(ROOT / "solutions").rglob("*.md"),
]


def prose(path: Path) -> str:
    """Return a Markdown text without code, indented output and the section about retired words."""
    text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.S)
    text = re.sub(r"^ {4,}.*$", "", text, flags=re.M)
    if path.name == "CONTRIBUTING.md":
        text = text.partition("## Plain English")[0]
    if path.parent.name == "mistakes":  # the headings are the ids of the mistakes
        text = re.sub(r"^## .*$", "", text, flags=re.M)
    return re.sub(r"`[^`]*`", "", text)


def test_documents_use_plain_words():
    assert retired_by_file(sorted(PAGES), lambda path: prose(path).splitlines()) == {}


LESSONS = sorted(p for p in ROOT.glob("solutions/*/*.py") if p.stem == p.parent.name.split("_", 1)[1])


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_lessons_use_plain_words(path):
    lines = [line[2:] for line in path.read_text("utf-8").splitlines() if line.startswith("# ")]
    docs = [
        ast.get_docstring(n) or ""
        for n in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(n, (ast.FunctionDef, ast.ClassDef))
    ]
    text = re.sub(r"\$[^$]*\$|`[^`]*`", "", "\n".join(lines + docs))
    assert {line: found for line in text.splitlines() if (found := retired(line))} == {}


@pytest.mark.parametrize("path", sorted(ROOT.glob("solutions/*/exercise.toml")), ids=lambda p: p.parent.name)
def test_titles_and_hints_use_plain_words(path):
    manifest = tomllib.loads(path.read_text("utf-8"))
    texts = [manifest["title"], manifest["summary"]]
    for exercise in manifest["exercise"]:
        texts += [exercise["title"], *exercise["hints"]]
    assert {text: found for text in texts if (found := retired(text))} == {}


def test_known_mistakes_use_plain_words():
    from grader.authoring.content import read_all

    texts = {
        text
        for assignment in read_all(ROOT / "solutions")
        for mistake in assignment.mistakes()
        for text in (mistake.says, mistake.asks)
    }
    assert {text: found for text in texts if (found := retired(text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "the result departs from the reference",
        "next: mend masked_softmax",
        "one length a query",
        "it is told loudly",
        "Nobody notices.",
        "not looked at",
    ],
)
def test_a_retired_word_is_found(text):
    assert retired(text)


def test_names_of_tests_have_at_most_60_letters():
    names = {
        node.name.removeprefix("test_"): path
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert len(names) > 1000
    assert [f"{path.name}: {name}" for name, path in names.items() if len(name) > 60] == []


def test_no_text_installs_the_name_headway_from_an_index():
    """The name is not registered on the package index, so a stranger could register it."""
    files = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("student_template/**/*"),
        *ROOT.glob("grader/**/*.py"),
    ]
    pattern = re.compile(r"pip install (?:--?\S+ )*['\"]?headway(?![-\w]*[-\w.…]*\.whl)")
    found = [
        path.name for path in files if path.is_file() and pattern.search(path.read_text("utf-8", "replace"))
    ]
    assert found == []
    assert pattern.search("pip install 'headway[cluster]'")
    assert not pattern.search("pip install headway-….whl")
