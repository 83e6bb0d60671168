"""Characters that could control a terminal, or hide or reorder a student's text, are shown as codes."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.support.sanitize import MAX_SHOWN, sanitize


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain (2, 3)\n\tGrößen √d 注意", "plain (2, 3)\n\tGrößen √d 注意"),
        ("\x1b[2J\x1b]0;title\x07", "\\u001b[2J\\u001b]0;title\\u0007"),
        ("\x9b31m", "\\u009b31m"),  # one character, which starts a terminal sequence as \x1b[ does
        ("over\rwritten\b\0\x7f", "over\\u000dwritten\\u0008\\u0000\\u007f"),
        ("a\u202eb\u2066c\u200f", "a\\u202eb\\u2066c\\u200f"),
        ("half \ud800 a character", "half \\ud800 a character"),
        ("two\u2028lines\u2029", "two\\u2028lines\\u2029"),
        ("private \ue000, unassigned \u0378", "private \\ue000, unassigned \\u0378"),
        (
            "x\n::error file=a::y\n ::STOP-commands::z ##[group]",
            "x\n: :error file=a::y\n : :STOP-commands::z # #[group]",
        ),
        ("c10::Half and c10::Error: no", "c10::Half and c10::Error: no"),
        # each output format escapes its own markup
        ("[/foo] [bold]x[/bold] <b>", "[/foo] [bold]x[/bold] <b>"),
    ],
)
def test_dangerous_characters_become_codes_other_text_stays(text, shown):
    assert sanitize(text) == shown


def test_long_text_is_cut_to_size():
    assert sanitize("x" * 10_000) == "x" * MAX_SHOWN + " …"
    assert sanitize("x" * 20, limit=10) == "x" * 10 + " …"
    assert sanitize("x" * 10, limit=10) == "x" * 10


@given(st.text(st.characters(), max_size=50))
def test_any_text_can_be_printed_and_has_no_control_characters(text):
    shown = sanitize(text)
    shown.encode("utf-8")
    assert not any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in shown)
    assert not any(
        unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        for c in shown
    )
