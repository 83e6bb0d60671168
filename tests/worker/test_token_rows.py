"""Sentences of token numbers, as lists or tensors, become rows of one tensor; other values give None."""

import pytest
import torch

from grader.worker.results import MOST, in_rows


@pytest.mark.parametrize(
    "sentences",
    [
        [[5, 8], [], [7]],
        ((5, 8), (), (7,)),
        [torch.tensor([5, 8]), torch.tensor([], dtype=torch.int64), torch.tensor([7])],
        [[torch.tensor(5), torch.tensor([8])], [], [torch.tensor([[7]])]],
        torch.tensor([[5, 8], [-1, -1], [7, -1]]),
        torch.tensor([[5.0, 8.0], [-1.0, -1.0], [7.0, -1.0]]),
        [torch.tensor([[5, 8]]), [], torch.tensor([[7]])],
    ],
)
def test_each_form_becomes_the_same_rows(sentences):
    rows, of_several_lengths = in_rows(sentences)
    assert rows.tolist() == [[5, 8], [-1, -1], [7, -1]]
    assert of_several_lengths == (not isinstance(sentences, torch.Tensor))


@pytest.mark.parametrize(
    "value",
    [
        None, 7, "ab", ["ab"], [[1.5]], [[None]], [[[1]]], {1: 2}, torch.tensor(3), torch.rand(2, 2),
        [[1 << 70]], [[1e30]], [[float("nan")]], [[0]] * (MOST + 1), [[0] * (MOST + 1)], torch.zeros(2, 2, 2),
    ],
)  # fmt: skip
def test_other_values_give_none(value):
    assert in_rows(value) is None


def test_a_list_that_holds_itself_is_no_sentence():
    endless: list = []
    endless.append(endless)
    assert in_rows(endless) is None
