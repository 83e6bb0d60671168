"""The worker server's side of a confined tier. Linux only."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Protocol

from grader.sandbox.base import Limits
from grader.sandbox.disk_quota import DiskQuota
from grader.sandbox.tiers import row
from grader.sandbox.visible_paths import Layout, plan

if sys.platform != "linux":
    raise ImportError("this module needs Linux")


class Tier(Protocol):
    """The steps of a tier, in the order of their calls.

    A failed step raises SandboxError with its name, or OSError.
    """

    name: str
    leaves: str  # a folder on the machine that `leave` removes, or ""
    quota: DiskQuota | None  # `separate` makes it, the supervisor serves it

    @property
    def layout(self) -> Layout:
        """Return the paths that workers may see."""

    def separate(self) -> None:
        """In the supervisor, before it forks the server."""

    def enclose(self) -> None:
        """In the server, before it imports torch and the program."""

    def fork(self, number: int) -> int:
        """In the server: fork worker `number` and return its pid. No number is used twice."""

    def kept_descriptors(self) -> list[int]:
        """Return the descriptors that `confine` needs in the worker, besides the worker's pipes."""

    def confine(self, number: int, limits: Limits, kept: list[int]) -> None:
        """In the worker: every step except the filter of system calls."""

    def clean_up(self, number: int) -> None:
        """In the server, after worker `number` died."""

    def leave(self) -> None:
        """In the supervisor, after the server and its workers died."""


def make_tier(name: str, package: str, sites: Sequence[str], code: Sequence[str], temporary: str) -> Tier:
    """Make the worker server's side of a confined tier.

    package: folder of the `grader` package. sites: folders of installed packages. code: further folders
    that workers may import from. temporary: folder for temporary files.
    """
    tier: Tier = row(name).load()(plan(package, sites, code), temporary)
    return tier
