"""Attention maps, as the lesson on pruning shows them: in a terminal without colour, in words, and as HTML."""

import io

import IPython.display
import numpy as np
import pytest
import torch
from helpers.html_reader import assert_fetches_nothing
from rich.cells import cell_len
from rich.console import Console

from grader.report.maps import collecting, pictures, sentence, show

WORDS = ["the", "cat", "sat"]
WEIGHTS = torch.tensor([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.04, 0.16, 0.8]])
MAPS = {"decoder": [WEIGHTS.expand(2, 2, 3, 3)], "cross": [torch.full((2, 2, 3, 4), 0.25)]}
SOURCE = ["die", "Katze", "<b>", "saß"]
DECODER = """\
decoder · layer 0
      head 0            head 1
      the  cat  sat     the  cat  sat
the    ██                ██
cat    ▒▒   ▓▓           ▒▒   ▓▓
sat    ░░   ░░   ██      ░░   ░░   ██
blank: 0; a fuller block: a larger value
"""


def printed(maps, *args, width=80):
    out = io.StringIO()
    show(maps, *args, console=Console(file=out, width=width, force_terminal=True, color_system=None))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def test_every_head_has_labels_and_shades_without_colour_and_numbers_if_they_fit():
    assert printed({"decoder": MAPS["decoder"]}, WORDS, width=40) == DECODER
    assert "▒▒ 0.30  ▓▓ 0.70     0.00" in printed({"decoder": MAPS["decoder"]}, WORDS)
    assert "cross · layer 0" in printed(MAPS, WORDS, SOURCE)


def test_a_long_sentence_stays_within_eighty_columns():
    words = [f"a-long-word-number-{i}" for i in range(60)]
    text = printed({"encoder": [torch.full((1, 1, 60, 60), 1 / 60)]}, words)
    assert max(map(cell_len, text.splitlines())) <= 80
    assert "a-long-word…" in text


def test_a_terminal_that_cannot_draw_gets_words(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    text = printed({"decoder": MAPS["decoder"]}, WORDS)
    assert "the, cat: head 0 0.00, head 1 0.00." in text
    assert not set(text) & set("░▒▓█")


def test_a_notebook_gets_every_weight_as_html(monkeypatch):
    shown = []
    monkeypatch.setattr(IPython.display, "display", shown.append)
    show(MAPS, WORDS, SOURCE, console=Console(force_jupyter=True))
    (html,) = shown
    assert_fetches_nothing(html.data)
    assert html.data.count("<caption>head") == 4
    assert html.data.count("<td") == 2 * 9 + 2 * 12
    assert "0.70" in html.data
    assert "&lt;b&gt;" in html.data


@pytest.mark.parametrize(
    ("maps", "words", "sentence", "says"),
    [
        ({"encoder": [torch.ones(2, 3, 3)]}, WORDS, 0, r"encoder, layer 0: wrong shape \(2, 3, 3\)"),
        (MAPS, WORDS, 2, "layer 0: no sentence 2 in a batch of 2"),
        (MAPS, ["two", "words"], 0, "decoder: got 2 words for 3 steps"),
    ],
)
def test_wrong_shapes_sentences_and_numbers_of_words_are_refused(maps, words, sentence, says):
    with pytest.raises(ValueError, match=says):
        list(pictures(maps, words, SOURCE, sentence))


def test_maps_may_be_arrays_with_nan_and_without_words():
    (drawn,) = pictures({"encoder": [np.array([[[[np.nan, 1.0]]]])]}, ())
    assert [(cell.text, cell.shade) for cell in drawn.form.panels[0].rows[0]] == [("nan", 0.0), ("1.00", 1.0)]
    assert drawn.form.columns == ("0", "1")


def test_some_heads_keep_their_numbers_and_a_title_stands_first():
    maps = {"decoder": [torch.stack((WEIGHTS, WEIGHTS.flip(0), WEIGHTS))[None]]}
    (picture,) = pictures(maps, WORDS, title="trained", heads=[2, 1])
    assert picture.title == "trained · decoder · layer 0"
    assert [panel.title for panel in picture.form.panels] == ["head 2", "head 1"]
    assert picture.form.panels[1].rows[0][2].text == "0.80"


def test_pictures_are_collected_for_a_page_and_its_words_are_asked_for(capsys):
    with collecting(["a", "b", "c"]) as found:
        words = sentence("the cat sat")
        show(MAPS, words, SOURCE)
    assert words == ["a", "b", "c"]
    assert [picture.title for picture in found.pictures] == ["decoder · layer 0", "cross · layer 0"]
    assert capsys.readouterr().out == ""
    with collecting([]):
        assert sentence("the cat sat") == WORDS
    show(MAPS, WORDS, SOURCE)
    assert "cross" in capsys.readouterr().out
