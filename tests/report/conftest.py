"""The option that accepts changed snapshots: `pytest tests/report --write-snapshots`, then look at the difference."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-snapshots", action="store_true", help="write tests/report/snapshots anew")
