"""A launcher that starts when the first worker is needed: never, if the store has every result."""

from __future__ import annotations

from grader.sandbox.base import Launcher, Limits, Process
from grader.sandbox.choose import choose


class LazyLauncher:
    """A launcher of one tier; it starts warm."""

    def __init__(self, tier: str) -> None:
        self.tier = tier
        self._launcher: Launcher | None = None

    def start(self, limits: Limits) -> Process:
        """Start a worker. Raises SandboxError if the tier is not available."""
        if self._launcher is None:
            self._launcher = choose(self.tier, warm="full")
        return self._launcher.start(limits)

    def warm(self, level: str) -> None:
        if self._launcher is not None:
            self._launcher.warm(level)

    def close(self) -> None:
        if self._launcher is not None:
            self._launcher.close()
