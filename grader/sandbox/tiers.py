"""The one table of sandbox tiers. To add a tier, add a file for its class and a row here.

The fork-server imports this before torch, and the command line imports it to list its options: keep it light.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from grader.sandbox.base import Limits, SandboxError
from grader.sandbox.disk_quota import DiskQuota
from grader.sandbox.visible_paths import Layout, plan


@dataclass(frozen=True)
class TierRow:
    """One tier: its name, the class that implements it, and what it needs.

    implementation: "module:class"; a `Tier` if `confined`, else a `Launcher`.
    not_promised: attacks of the self-test that the tier may let through.
    """

    name: str
    implementation: str
    confined: bool
    needs: str
    not_promised: frozenset[str] = frozenset()

    def load(self) -> Any:
        """Import the class. Kept late, because most processes need one tier or none."""
        module, _, name = self.implementation.partition(":")
        return getattr(import_module(module), name)


# The order is the rank: the best tier first. "basic" needs nothing and is always the last.
TIERS = (
    TierRow(
        "strict",
        "grader.sandbox.strict:Strict",
        confined=True,
        needs="Linux with namespaces, as root or as a user who may make user namespaces",
    ),
    TierRow(
        "landlock",
        "grader.sandbox.landlock_tier:LandlockTier",
        confined=True,
        needs="Linux 5.13 or newer with Landlock",
        not_promised=frozenset({"see_processes"}),
    ),
    TierRow("basic", "grader.sandbox.basic:ColdLauncher", confined=False, needs="nothing"),
)
NAMES = tuple(row.name for row in TIERS)
CONFINED = tuple(row.name for row in TIERS if row.confined)
AUTO = "auto"  # the best tier that works on this machine
CHOICES = (AUTO, *NAMES)


class Tier(Protocol):
    """The fork-server's side of a confined tier; methods in the order of their calls.

    Every method except `leave` raises SandboxError.
    """

    name: str
    leaves: str  # a folder on the machine that `leave` removes, or ""
    quota: DiskQuota | None  # what the supervisor serves, made by `separate`

    @property
    def layout(self) -> Layout:
        """What workers may see."""

    def separate(self) -> None:
        """In the supervisor, before it forks the server."""

    def enclose(self) -> None:
        """In the server, before it imports anything outside the standard library."""

    def fork(self, number: int) -> int:
        """In the server: fork worker `number` and return its pid. No number is used twice."""

    def kept_descriptors(self) -> list[int]:
        """In the worker: descriptors that `confine` needs beside the worker's pipes."""

    def confine(self, number: int, limits: Limits, kept: list[int]) -> None:
        """In the worker: every step except the filter of system calls."""

    def clean_up(self, number: int) -> None:
        """In the server, after worker `number` died."""

    def leave(self) -> None:
        """In the supervisor, after the server and its workers died."""


def row(name: str) -> TierRow:
    """Find a tier by name. Raises SandboxError for a name that is not in the table."""
    for one in TIERS:
        if one.name == name:
            return one
    raise SandboxError(f"{name!r} is not a sandbox tier: choose one of {', '.join(CHOICES)}")


def make_tier(name: str, package: str, sites: Sequence[str], code: Sequence[str], temporary: str) -> Tier:
    """Make the fork-server's side of a confined tier.

    package: folder of the `grader` package. sites: folders of installed packages. code: further folders
    that workers may import from. temporary: folder for temporary files.
    """
    tier: Tier = row(name).load()(plan(package, sites, code), temporary)
    return tier
