"""Backward passes are reported during a training, and `backward` is restored afterwards."""

import pytest
import torch

from grader.worker import training_progress
from grader.worker.training_progress import report_progress


@pytest.fixture
def messages(monkeypatch):
    """Let every backward pass be reported, however soon it follows, and return a list for the messages."""
    monkeypatch.setattr(training_progress, "EVERY", 0.0)
    return []


def test_each_backward_pass_is_reported_with_its_loss(messages):
    w = torch.ones(2, requires_grad=True)
    with report_progress(lambda *message: messages.append(message), 3):
        for n in range(3):
            (w.sum() * n).backward()
        torch.autograd.backward(w.sum() * 7)
    # (passes so far, expected passes, loss); a fourth pass of three counts as the third
    assert messages == [(1, 3, 0.0), (2, 3, 2.0), (3, 3, 4.0), (3, 3, 14.0)]
    assert w.grad.tolist() == [10, 10]


def test_a_loss_that_is_not_finite_is_reported_as_none(messages):
    w = torch.ones(2, requires_grad=True)
    with report_progress(lambda *message: messages.append(message), 3):
        (w.sum() * float("nan")).backward()
        w.backward(torch.ones(2))
    assert messages == [(1, 3, None), (2, 3, None)]


def test_backward_is_restored_even_after_an_exception(messages):
    before = torch.autograd.backward
    with pytest.raises(ZeroDivisionError), report_progress(lambda *message: messages.append(message), 3):
        raise ZeroDivisionError
    assert torch.autograd.backward is before


def test_backward_passes_soon_after_a_message_are_not_reported(monkeypatch):
    messages, w = [], torch.ones(2, requires_grad=True)
    monkeypatch.setattr(training_progress, "EVERY", 60.0)
    with report_progress(lambda *message: messages.append(message), 100):
        for _ in range(100):
            w.sum().backward()
    assert len(messages) == 1
