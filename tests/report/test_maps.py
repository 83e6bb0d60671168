"""Pictures of attention weights: readable in a narrow terminal without colour, complete in HTML, with labelled axes."""

import io

import numpy as np
import pytest
import torch
from rich.cells import cell_len
from rich.console import Console

from grader.report.maps import draw, html, maps_of, show

WORDS = ["the", "cat", "sat"]
WEIGHTS = torch.tensor([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.04, 0.16, 0.8]])
MAPS = {"decoder": [WEIGHTS.expand(2, 2, 3, 3)], "cross": [torch.full((2, 2, 3, 4), 0.25)]}
SOURCE = ["die", "Katze", "<b>", "saß"]


def printed(maps, *args, width=80, **more):
    out = io.StringIO()
    show(maps, *args, console=Console(file=out, width=width, no_color=True, highlight=False), **more)
    return out.getvalue()


def test_every_head_has_labels_and_shades_without_colour():
    text = printed(MAPS, WORDS, SOURCE)
    for title in ("decoder · layer 0 · head 0", "decoder · layer 0 · head 1", "cross · layer 0 · head 1"):
        assert title in text
    lines = [line for line in text.splitlines() if "│" in line][:3]
    assert lines == ["the │███         │", "cat │▒▒▒ ▓▓▓     │", "sat │    ░░░ ███ │"]
    assert "\x1b" not in text


def test_long_sentences_and_words_stay_within_eighty_columns():
    words = [f"word-number-{i}" for i in range(60)]
    text = printed({"encoder": [torch.full((1, 1, 60, 60), 1 / 60)]}, words)
    assert max(map(cell_len, text.splitlines())) <= 80
    assert "keys" in text
    assert "the first 21 of 60 keys" in text


def test_html_has_every_weight_and_escapes_the_words():
    text = html(MAPS, WORDS, SOURCE)
    assert text.count("<caption>") == 4
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert text.count("<td") == 2 * 9 + 2 * 12
    assert '<td class="hw-7">0.70</td>' in text
    assert "style=" not in text


def test_a_figure_has_axes_with_the_words():
    figure = draw(MAPS, WORDS, SOURCE)
    assert len(figure.axes) == 4
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == WORDS
    assert [label.get_text() for label in figure.axes[3].get_xticklabels()] == SOURCE
    figure.savefig(io.BytesIO(), format="png")


def test_a_figure_has_one_row_per_layer_with_any_numbers_of_heads():
    maps = {"encoder": [torch.full((1, heads, 3, 3), 1 / 3) for heads in (1, 3, 2)]}
    boxes = [axes.get_subplotspec() for axes in draw(maps, WORDS).axes]
    assert [box.rowspan.start for box in boxes] == [0, 1, 1, 1, 2, 2]
    assert [box.colspan.start for box in boxes] == [0, 0, 1, 2, 0, 1]


def test_steps_without_words_are_numbered():
    assert [list(drawn.keys) for drawn in maps_of(MAPS, WORDS)][2] == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("maps", "words", "sentence", "says"),
    [
        ({"encoder": [torch.ones(2, 3, 3)]}, WORDS, 0, r"encoder, layer 0: wrong shape \(2, 3, 3\)"),
        (MAPS, WORDS, 2, "layer 0: no sentence 2 in a batch of 2"),
        (MAPS, ["two", "words"], 0, "decoder: got 2 words for 3 steps"),
    ],
)
def test_wrong_shapes_sentences_and_numbers_of_words_are_refused(maps, words, sentence, says):
    for render in (html, draw):
        with pytest.raises(ValueError, match=says):
            render(maps, words, SOURCE, sentence)


def test_maps_may_be_arrays_and_nan_is_drawn_as_zero():
    (drawn,) = maps_of({"encoder": [np.array([[[[np.nan, 1.0]]]])]}, (), sentence=0)
    assert drawn.weights.tolist() == [[0.0, 1.0]]
