"""The table of sandbox tiers. To add a tier, add a file for its class and a row here.

The command line imports this to list its options: keep it light.
"""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol

from grader.sandbox.base import Limits, SandboxError

if TYPE_CHECKING:
    from grader.sandbox.disk_quota import DiskQuota
    from grader.sandbox.visible_paths import Layout


class Tier(Protocol):
    """The worker server's side of a confined tier: its steps, in the order of their calls.

    A failed step raises SandboxError with its name, or OSError.
    """

    layout: Layout  # the paths that workers may see
    leaves: str  # a folder on the machine that `leave` removes, or ""
    quota: DiskQuota | None  # `separate` makes it, the supervisor serves it

    def separate(self) -> None:
        """In the supervisor, before it forks the server."""

    def enclose(self) -> None:
        """In the server, before it imports torch and the program."""

    def fork(self, number: int) -> int:
        """In the server: fork worker `number` and return its pid. No number is used twice."""

    def kept_descriptors(self) -> list[int]:
        """Return the descriptors that `confine` needs in the worker, besides the worker's pipes."""

    def confine(self, number: int, limits: Limits, kept: list[int]) -> None:
        """In the worker: every step except the filter of system calls, which comes last."""

    def clean_up(self, number: int) -> None:
        """In the server, after worker `number` died."""

    def leave(self) -> None:
        """In the supervisor, after the server and its workers died."""


@dataclass(frozen=True)
class TierRow:
    """One tier: its name, the class that implements it, and what it needs.

    implementation: "module:class"; a `Tier` if `confined`, else a `Launcher`. confined: the kernel
    confines the workers, so the tier also suits submissions that are not trusted.
    not_promised: attacks of the self-test that the tier may let through.
    """

    name: str
    implementation: str
    confined: bool
    needs: str
    not_promised: frozenset[str] = frozenset()

    def load(self) -> Any:
        """Import and return the class. Called late, because most processes need one tier or none."""
        return resolve_name(self.implementation)


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


def row(name: str) -> TierRow:
    """Find a tier by name. Raises SandboxError for a name that is not in the table."""
    for one in TIERS:
        if one.name == name:
            return one
    raise SandboxError(f"{name!r} is not a sandbox tier: choose one of {', '.join(CHOICES)}")
