"""Start one browser per test file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers.browser import chrome


@pytest.fixture(scope="module")
def window() -> Iterator[chrome.Window]:
    with chrome.chromium() as opened:
        yield opened
