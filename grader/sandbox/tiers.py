"""The tiers that the fork-server knows. To add one is to add a file and a row here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from grader.sandbox import visible_paths as layouts
from grader.sandbox.base import Limits, SandboxError
from grader.sandbox.landlock_tier import LandlockTier
from grader.sandbox.strict import Strict
from grader.sandbox.visible_paths import Layout


class Tier(Protocol):
    """What a tier does, in the order of its methods. All but `leave` raise SandboxError."""

    name: str
    leaves: str  # a folder on the machine that `leave` removes, or ""

    @property
    def layout(self) -> Layout:
        """What workers may see."""

    def separate(self) -> None:
        """In the guard, before the server is forked."""

    def enclose(self) -> None:
        """In the server, before it imports anything that is not Python's own."""

    def fork(self, number: int) -> int:
        """In the server: fork worker `number`; numbers are not used twice."""

    def kept_descriptors(self) -> list[int]:
        """In the worker: what `confine` needs beside the worker's pipes."""

    def confine(self, number: int, limits: Limits, kept: list[int]) -> None:
        """In the worker: everything but the filter of system calls."""

    def clean_up(self, number: int) -> None:
        """In the server, when worker `number` is dead."""

    def leave(self) -> None:
        """In the guard, when server and workers are dead."""


def make_tier(name: str, package: str, sites: Sequence[str], code: Sequence[str], temporary: str) -> Tier:
    layout = layouts.plan(package, sites, code)
    if name == Strict.name:
        return Strict(layout)
    if name == LandlockTier.name:
        return LandlockTier(layout, temporary)
    raise SandboxError(f"choose a tier: none is called {name}")
