"""The sentences about known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

from grader.bundle.model import KnownMistake
from grader.support.i18n import _


def says_and_asks(mistakes: Sequence[KnownMistake]) -> tuple[str, str]:
    """Return the sentence about mistakes that occur together, and the question of the first."""
    says = _(" In addition: ").join(_(mistake.says) for mistake in mistakes)
    asks = mistakes[0].asks
    return says, _(asks) if asks else ""
